//! The packets of the milter protocol: a length of four bytes, a letter, and what belongs to it.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// No mail server sends longer packets: bodies come in pieces of 64 kB, headers are shorter.
const LONGEST: usize = 2 << 20;

/// What a mail server says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Packet {
    pub(crate) kind: u8,
    pub(crate) data: Vec<u8>,
}

impl Packet {
    /// Reads one; `None` at the end of the connection.
    pub(crate) async fn read(from: &mut (impl AsyncRead + Unpin)) -> io::Result<Option<Self>> {
        let length = match from.read_u32().await {
            Ok(length) => length as usize,
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            Err(error) => return Err(error),
        };
        if length == 0 || length > LONGEST {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                format!("a packet of {length} bytes is no milter packet"),
            ));
        }
        let kind = from.read_u8().await?;
        let mut data = Vec::new();
        from.take(length as u64 - 1).read_to_end(&mut data).await?;
        if data.len() + 1 < length {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(Some(Self { kind, data }))
    }

    /// Texts that end with a zero byte each.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &[u8]> {
        let data = self.data.strip_suffix(&[0]).unwrap_or(&self.data);
        data.split(|byte| *byte == 0)
    }
}

/// Puts an answer into a buffer.
pub(crate) fn put(out: &mut Vec<u8>, kind: u8, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let length = u32::try_from(length + 1).unwrap_or(u32::MAX);
    out.extend(length.to_be_bytes());
    out.push(kind);
    for part in parts {
        out.extend_from_slice(part);
    }
}

/// What both sides can do, as the negotiation tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    pub(crate) version: u32,
    pub(crate) actions: u32,
    pub(crate) steps: u32,
}

impl Offer {
    pub(crate) fn parse(data: &[u8]) -> Option<Self> {
        let number = |at: usize| {
            let bytes = data.get(at..at + 4)?;
            Some(u32::from_be_bytes(bytes.try_into().ok()?))
        };
        Some(Self {
            version: number(0)?,
            actions: number(4)?,
            steps: number(8)?,
        })
    }
}

/// Changes a milter may make.
pub(crate) mod action {
    pub(crate) const ADD_HEADERS: u32 = 0x01;
    pub(crate) const CHANGE_HEADERS: u32 = 0x10;
    pub(crate) const QUARANTINE: u32 = 0x20;
}

/// Steps that can be left out, and answers that need not be given.
pub(crate) mod step {
    pub(crate) const NO_HELO: u32 = 0x02;
    pub(crate) const NO_RECIPIENTS: u32 = 0x08;
    pub(crate) const NO_ANSWER_HEADER: u32 = 0x80;
    pub(crate) const NO_UNKNOWN: u32 = 0x100;
    pub(crate) const NO_DATA: u32 = 0x200;
    pub(crate) const SKIP: u32 = 0x400;
    pub(crate) const NO_ANSWER_CONNECT: u32 = 0x1000;
    pub(crate) const NO_ANSWER_HELO: u32 = 0x2000;
    pub(crate) const NO_ANSWER_MAIL: u32 = 0x4000;
    pub(crate) const NO_ANSWER_RECIPIENT: u32 = 0x8000;
    pub(crate) const NO_ANSWER_DATA: u32 = 0x10000;
    pub(crate) const NO_ANSWER_UNKNOWN: u32 = 0x20000;
    pub(crate) const NO_ANSWER_END_OF_HEADERS: u32 = 0x40000;
    pub(crate) const NO_ANSWER_BODY: u32 = 0x80000;
    pub(crate) const LEADING_SPACE: u32 = 0x100000;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(bytes: &[u8]) -> io::Result<Option<Packet>> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(Packet::read(&mut &*bytes))
    }

    #[test]
    fn packets_are_read_or_refused() {
        let mut out = Vec::new();
        put(&mut out, b'L', &[b"Subject\0", b"hello\0"]);
        let packet = read(&out).unwrap().unwrap();
        assert_eq!(packet.kind, b'L');
        let texts: Vec<&[u8]> = packet.texts().collect();
        assert_eq!(texts, [&b"Subject"[..], b"hello"]);
        assert!(read(&[]).unwrap().is_none());
        assert!(read(&[0, 0]).unwrap().is_none());
        for wrong in [
            &b"\0\0\0\0"[..],
            b"\xff\xff\xff\xffL",
            b"\0\0\0\x09Labc",
            b"GET / HTTP/1.1\r\n\r\n",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
        assert_eq!(Offer::parse(&[0; 11]), None);
    }
}
