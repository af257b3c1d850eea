//! A place in the bytes of a response, and the steps that lead on from it.

use crate::uids::UidSet;

use super::response::{Streamed, literal};

/// The bytes are not what IMAP allows here; what was expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// A value of any kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    Nil,
    Text(Vec<u8>),
    /// A list, which was skipped.
    List,
    /// A literal whose bytes are elsewhere.
    Streamed(u64),
}

impl Value {
    pub(crate) fn into_text(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text),
            Self::Nil | Self::List | Self::Streamed(_) => None,
        }
    }
}

#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
    streamed: Option<Streamed>,
}

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8], streamed: Option<Streamed>) -> Self {
        Self {
            bytes,
            at: 0,
            streamed,
        }
    }

    fn rest(&self) -> &'a [u8] {
        &self.bytes[self.at..]
    }

    /// Steps over these bytes if they are here.
    pub(crate) fn eat(&mut self, bytes: &[u8]) -> bool {
        let here = self.rest().starts_with(bytes);
        if here {
            self.at += bytes.len();
        }
        here
    }

    pub(crate) fn eat_no_case(&mut self, bytes: &[u8]) -> bool {
        let here = self
            .rest()
            .get(..bytes.len())
            .is_some_and(|rest| rest.eq_ignore_ascii_case(bytes));
        if here {
            self.at += bytes.len();
        }
        here
    }

    pub(crate) fn expect(&mut self, bytes: &'static [u8]) -> Result<(), Malformed> {
        if self.eat(bytes) {
            return Ok(());
        }
        Err(Malformed(match bytes {
            b" " => "a space",
            b"(" | b" (" => "a list",
            _ => "something else",
        }))
    }

    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.rest().is_empty() {
            Ok(())
        } else {
            Err(Malformed("the end of the response"))
        }
    }

    fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'a [u8] {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|&byte| !wanted(byte))
            .unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    /// What stands before the next space.
    pub(crate) fn word(&mut self) -> Result<&'a [u8], Malformed> {
        match self.take_while(|byte| byte != b' ') {
            [] => Err(Malformed("a word")),
            word => Ok(word),
        }
    }

    /// The name of an item of FETCH, with its brackets: `BODY[HEADER.FIELDS (DATE)]<0>`.
    pub(crate) fn item_name(&mut self) -> Result<&'a [u8], Malformed> {
        let from = self.at;
        self.take_while(|byte| !matches!(byte, b' ' | b'[' | b'(' | b')'));
        if self.eat(b"[") {
            self.until(b']')?;
            self.take_while(|byte| !matches!(byte, b' ' | b'(' | b')'));
        }
        match &self.bytes[from..self.at] {
            [] => Err(Malformed("the name of an item")),
            name => Ok(name),
        }
    }

    /// What stands before the next `end`, which is stepped over.
    pub(crate) fn until(&mut self, end: u8) -> Result<&'a [u8], Malformed> {
        let inside = self.take_while(|byte| byte != end);
        if self.rest().is_empty() {
            return Err(Malformed("a closing bracket"));
        }
        self.at += 1;
        Ok(inside)
    }

    pub(crate) fn number(&mut self) -> Result<u32, Malformed> {
        u32::try_from(self.large_number()?).map_err(|_| Malformed("a smaller number"))
    }

    pub(crate) fn large_number(&mut self) -> Result<u64, Malformed> {
        let digits = self.take_while(|byte| byte.is_ascii_digit());
        std::str::from_utf8(digits)
            .ok()
            .and_then(|digits| digits.parse().ok())
            .ok_or(Malformed("a number"))
    }

    pub(crate) fn uid_set(&mut self) -> Result<UidSet, Malformed> {
        let set = self.take_while(|byte| matches!(byte, b'0'..=b'9' | b':' | b','));
        std::str::from_utf8(set)
            .ok()
            .and_then(|set| set.parse().ok())
            .filter(|set: &UidSet| !set.is_empty())
            .ok_or(Malformed("a set of UIDs"))
    }

    pub(crate) fn rest_as_text(&mut self) -> String {
        let rest = self.rest();
        self.at = self.bytes.len();
        String::from_utf8_lossy(rest).into_owned()
    }

    /// The atoms of a list that was opened already.
    pub(crate) fn atoms_until_closed(&mut self) -> Result<Vec<String>, Malformed> {
        let inside = self.until(b')')?;
        let text = String::from_utf8_lossy(inside);
        Ok(text
            .split(' ')
            .filter(|atom| !atom.is_empty())
            .map(str::to_owned)
            .collect())
    }

    /// The strings of a list that was opened already.
    pub(crate) fn texts_until_closed(&mut self) -> Result<Vec<String>, Malformed> {
        let mut texts = Vec::new();
        loop {
            if self.eat(b")") {
                return Ok(texts);
            }
            self.eat(b" ");
            if let Some(text) = self.value()?.into_text() {
                texts.push(String::from_utf8_lossy(&text).into_owned());
            }
        }
    }

    /// Any value: NIL, an atom, a string, a literal, a list.
    pub(crate) fn value(&mut self) -> Result<Value, Malformed> {
        match self.rest().first() {
            Some(b'"') => self.quoted().map(Value::Text),
            Some(b'{' | b'~') => self.literal(),
            Some(b'(') => {
                self.at += 1;
                self.skip_list()?;
                Ok(Value::List)
            }
            _ => {
                let atom = self.take_while(|byte| !matches!(byte, b' ' | b'(' | b')'));
                if atom.is_empty() {
                    Err(Malformed("a value"))
                } else if atom.eq_ignore_ascii_case(b"NIL") {
                    Ok(Value::Nil)
                } else {
                    Ok(Value::Text(atom.to_vec()))
                }
            }
        }
    }

    /// Steps over the rest of a list that was opened already, however deep it is.
    pub(crate) fn skip_list(&mut self) -> Result<(), Malformed> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.rest().first() {
                None => return Err(Malformed("the end of a list")),
                Some(b'(') => {
                    depth += 1;
                    self.at += 1;
                }
                Some(b')') => {
                    depth -= 1;
                    self.at += 1;
                }
                Some(b' ') => self.at += 1,
                Some(_) => {
                    self.value()?;
                }
            }
        }
        Ok(())
    }

    fn quoted(&mut self) -> Result<Vec<u8>, Malformed> {
        let mut text = Vec::new();
        let mut escaped = false;
        for (place, &byte) in self.rest().iter().enumerate().skip(1) {
            match byte {
                _ if escaped => {
                    text.push(byte);
                    escaped = false;
                }
                b'\\' => escaped = true,
                b'"' => {
                    self.at += place + 1;
                    return Ok(text);
                }
                _ => text.push(byte),
            }
        }
        Err(Malformed("a closing quotation mark"))
    }

    fn literal(&mut self) -> Result<Value, Malformed> {
        let bad = Malformed("a literal");
        self.eat(b"~");
        let rest = self.rest();
        let head = rest
            .windows(2)
            .position(|pair| pair == b"\r\n")
            .ok_or(bad)?;
        let size = literal(&rest[..head]).ok_or(bad)?;
        self.at += head + 2;
        if let Some(streamed) = self.streamed
            && streamed.at == self.at
        {
            return Ok(Value::Streamed(streamed.size));
        }
        let size = usize::try_from(size).map_err(|_| bad)?;
        let text = self.rest().get(..size).ok_or(bad)?;
        self.at += size;
        Ok(Value::Text(text.to_vec()))
    }
}
