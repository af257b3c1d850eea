//! An Arrow stream cut into its messages.
//!
//! A message is a mark (four bytes, all ones; older writers leave it out), the length of its header, the header, and its body,
//! whose length stands in the header. All lengths are checked before anything is made room for, and room is made as bytes come.

use std::io::{self, Read};

use arrow_buffer::Buffer;
use arrow_ipc::root_as_message;

/// A header may be so long.
const LONGEST_HEADER: u32 = 32 << 20;
/// And a body; it has to be held as a whole.
const LONGEST_BODY: u64 = 2 << 30;
/// Room for so much is made at once; for more, as it comes.
const AT_ONCE: u64 = 16 << 20;

const MARK: [u8; 4] = [0xFF; 4];
/// How an Arrow file begins, with two bytes to fill up; then comes a stream.
const FILE: [u8; 4] = *b"ARRO";
const REST_OF_FILE: [u8; 2] = *b"W1";

/// A message.
pub(super) struct Frame {
    pub(super) header: Vec<u8>,
    pub(super) body: Buffer,
}

/// A stream.
pub(super) struct Frames {
    reader: Box<dyn Read>,
    begun: bool,
    ended: bool,
}

impl Frames {
    pub(super) fn new(reader: Box<dyn Read>) -> Self {
        Self {
            reader,
            begun: false,
            ended: false,
        }
    }

    /// The next message, or why there is none; nothing after that.
    pub(super) fn next(&mut self) -> Result<Option<Frame>, String> {
        if self.ended {
            return Ok(None);
        }
        let frame = self.frame();
        self.ended = !matches!(frame, Ok(Some(_)));
        frame
    }

    fn frame(&mut self) -> Result<Option<Frame>, String> {
        let mut word = self.word("without the mark of its end")?;
        if !self.begun && word == FILE {
            let [a, b, ..] = self.word("in its first bytes")?;
            if [a, b] != REST_OF_FILE {
                return Err("it is no Arrow stream".to_owned());
            }
            word = self.word("before its schema")?;
        }
        self.begun = true;
        if word == MARK {
            word = self.word("inside the header of a batch")?;
        }
        let length = u32::from_le_bytes(word);
        if length == 0 {
            return Ok(None);
        }
        if length > LONGEST_HEADER {
            return Err("it is damaged, or no Arrow stream".to_owned());
        }
        let header = self.bytes(u64::from(length), "inside the header of a batch")?;
        let message = root_as_message(&header).map_err(|_| "the header of a batch is damaged")?;
        let length = u64::try_from(message.bodyLength())
            .map_err(|_| "the header of a batch is damaged".to_owned())?;
        if length > LONGEST_BODY {
            return Err(format!(
                "a batch of {} MB is more than can be held; write batches of fewer rows",
                length >> 20
            ));
        }
        let body = Buffer::from_vec(self.bytes(length, "in the middle of a batch")?);
        Ok(Some(Frame { header, body }))
    }

    fn word(&mut self, place: &str) -> Result<[u8; 4], String> {
        let mut word = [0; 4];
        let read = self.reader.read_exact(&mut word);
        read.map(|()| word).map_err(|error| cut(&error, place))
    }

    fn bytes(&mut self, length: u64, place: &str) -> Result<Vec<u8>, String> {
        let mut bytes = Vec::with_capacity(length.min(AT_ONCE) as usize);
        let read = (&mut self.reader).take(length).read_to_end(&mut bytes);
        match read {
            Ok(read) if read as u64 == length => Ok(bytes),
            Ok(_) => Err(cut(&io::ErrorKind::UnexpectedEof.into(), place)),
            Err(error) => Err(cut(&error, place)),
        }
    }
}

fn cut(error: &io::Error, place: &str) -> String {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => format!("it ends {place}"),
        _ => format!("it cannot be read on: {error}"),
    }
}
