//! Splits what was read of a file that holds many messages.

use twicetold_model::Form;

use crate::judge::blank_start;
use crate::lines::{LineCursor, LineStep};
use crate::listing::Container;
use crate::mbox::{Cursor, Peek, Span, Step};
use crate::sgml::{SgmlCursor, SgmlStep};

/// How far a buffer is split, whatever the container.
#[derive(Clone, Debug)]
pub(crate) enum Splitter {
    Mbox(Cursor),
    Lines(LineCursor),
    Sgml(SgmlCursor),
}

impl Splitter {
    /// Begins at the start of a file of which `head` are the first bytes.
    pub(crate) fn at_front(container: Container, head: &[u8]) -> Self {
        Self::at(container, blank_start(head))
    }

    /// Begins at the start of a message.
    pub(crate) fn at(container: Container, start: usize) -> Self {
        match container {
            Container::Mbox => Self::Mbox(Cursor::new(start)),
            Container::JsonLines => Self::Lines(LineCursor::new(start)),
            Container::Sgml => Self::Sgml(SgmlCursor::new(start)),
        }
    }

    pub(crate) fn step(&mut self, buffer: &[u8], at_end: bool, peek: &mut Peek<'_>) -> Step {
        match self {
            Self::Mbox(cursor) => cursor.step(buffer, at_end, peek),
            Self::Lines(cursor) => match cursor.step(buffer, at_end) {
                LineStep::Line(line) => whole(line),
                LineStep::GivenUp => Step::GivenUp,
                LineStep::More => Step::More,
                LineStep::End => Step::End,
            },
            Self::Sgml(cursor) => match cursor.step(buffer, at_end) {
                SgmlStep::Text(text) => whole(text),
                SgmlStep::GivenUp => Step::GivenUp,
                SgmlStep::More => Step::More,
                SgmlStep::End => Step::End,
            },
        }
    }

    pub(crate) fn start(&self) -> usize {
        match self {
            Self::Mbox(cursor) => cursor.start(),
            Self::Lines(cursor) => cursor.start(),
            Self::Sgml(cursor) => cursor.start(),
        }
    }

    pub(crate) fn wanted(&self) -> usize {
        match self {
            Self::Mbox(cursor) => cursor.wanted(),
            Self::Lines(_) | Self::Sgml(_) => 0,
        }
    }

    pub(crate) fn shift(&mut self, by: usize) {
        match self {
            Self::Mbox(cursor) => cursor.shift(by),
            Self::Lines(cursor) => cursor.shift(by),
            Self::Sgml(cursor) => cursor.shift(by),
        }
    }

    pub(crate) fn give_up(&mut self, length: usize) -> usize {
        match self {
            Self::Mbox(cursor) => cursor.give_up(length),
            Self::Lines(cursor) => cursor.give_up(),
            Self::Sgml(cursor) => cursor.give_up(),
        }
    }
}

/// A message that is all of its place in the file.
fn whole(content: std::ops::Range<usize>) -> Step {
    Step::Message(Span {
        start: content.start,
        content,
        stuffed: false,
    })
}

/// Splits a file that is in memory as a whole.
pub(crate) fn split_whole(file: &[u8], container: Container, each: &mut dyn FnMut(Span)) {
    let mut splitter = Splitter::at_front(container, file);
    while let Step::Message(span) = splitter.step(file, true, &mut |_, _| None) {
        each(span);
    }
}

impl Container {
    /// How its messages are to be understood.
    pub(crate) fn form(self) -> Form {
        match self {
            Self::Mbox => Form::Mail,
            Self::JsonLines => Form::Json,
            Self::Sgml => Form::Sgml,
        }
    }
}
