//! Reads a large file of messages once, from front to back, in blocks.
//!
//! A block ends where a message ends; the rest of the buffer moves to the front of the next one.
//! Memory is that of a few blocks, or of the largest message.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::at::append_at;
use crate::container::Splitter;
use crate::listing::Container;
use crate::mbox::{Span, Step};
use crate::task::Task;
use crate::trouble::Trouble;

/// How much is done at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Bytes read before messages are handed out.
    pub(crate) block: usize,
    /// Bytes of messages in one task, more or less.
    pub(crate) task: usize,
    /// Messages in one task.
    pub(crate) messages: usize,
    /// Bytes of a message that are held in memory at the most.
    pub(crate) message: usize,
}

impl Limits {
    pub(crate) const USUAL: Self = Self {
        block: 4 << 20,
        task: 1 << 20,
        messages: 512,
        message: 512 << 20,
    };
}

#[derive(Debug)]
pub(crate) struct Stream {
    file: File,
    path: Arc<str>,
    container: Container,
    limits: Limits,
    /// Made when the first bytes are known.
    splitter: Option<Splitter>,
    buffer: Vec<u8>,
    /// Where the buffer begins in the file.
    base: u64,
    /// How long the buffer is to be before it is split again.
    target: usize,
    /// The file, as it was when it was read, ends with the buffer.
    at_end: bool,
    /// Trouble was told about the message that is being given up.
    told: bool,
    done: bool,
    /// Messages that begin here or behind it are somebody else's.
    end: u64,
    ready: VecDeque<Task>,
    /// Blocks that tasks have, or had: what nobody has any more is filled again.
    lent: Vec<Arc<Vec<u8>>>,
}

impl Stream {
    pub(crate) fn open(
        path: &Path,
        shown: &str,
        container: Container,
        limits: Limits,
    ) -> io::Result<Self> {
        Ok(Self {
            file: File::open(path)?,
            path: shown.into(),
            container,
            limits,
            splitter: None,
            buffer: Vec::new(),
            base: 0,
            target: limits.block,
            at_end: false,
            told: false,
            done: false,
            end: u64::MAX,
            ready: VecDeque::new(),
            lent: Vec::new(),
        })
    }

    /// Only the messages that begin in a stretch of the file. The stretch begins where a message, or the file, begins.
    pub(crate) fn between(mut self, range: Option<Range<u64>>) -> io::Result<Self> {
        if let Some(range) = range {
            self.end = range.end;
            if range.start > 0 {
                self.file.seek(SeekFrom::Start(range.start))?;
                self.base = range.start;
                self.splitter = Some(Splitter::at(self.container, 0));
            }
        }
        Ok(self)
    }

    fn advance(&mut self) -> io::Result<()> {
        self.fill()?;
        let spans = self.split();
        if spans.is_empty() && !self.done {
            self.grow();
        } else {
            self.cut(spans);
        }
        Ok(())
    }

    fn fill(&mut self) -> io::Result<()> {
        let missing = self.target.saturating_sub(self.buffer.len());
        if !self.at_end && missing > 0 {
            // One more, so that reading to the end need not grow the buffer to notice it.
            self.buffer.reserve(missing + 1);
            let read = (&mut self.file)
                .take(missing as u64)
                .read_to_end(&mut self.buffer)?;
            self.at_end = read < missing;
        }
        Ok(())
    }

    /// The messages that are complete.
    fn split(&mut self) -> Vec<Span> {
        let splitter = self
            .splitter
            .get_or_insert_with(|| Splitter::at_front(self.container, &self.buffer));
        let (file, base, end) = (
            &mut self.file,
            self.base,
            self.base + self.buffer.len() as u64,
        );
        let mut peek = |distance: u64, length: usize| {
            let bytes = peek(file, base.checked_add(distance)?, length);
            // Where reading at a place moves the place, as on Windows, it goes back.
            file.seek(SeekFrom::Start(end)).ok()?;
            bytes
        };
        let mut spans = Vec::new();
        loop {
            match splitter.step(&self.buffer, self.at_end, &mut peek) {
                Step::Message(span) if base + span.start as u64 >= self.end => {
                    self.done = true;
                    break;
                }
                Step::Message(span) => spans.push(span),
                Step::GivenUp => self.told = false,
                Step::More => break,
                Step::End => {
                    self.done = true;
                    break;
                }
            }
        }
        spans
    }

    /// No message was complete: more must be read, or the message is too large to be held.
    fn grow(&mut self) {
        let Some(splitter) = &mut self.splitter else {
            return;
        };
        if self.buffer.len() - splitter.start() > self.limits.message || self.told {
            if !self.told {
                self.told = true;
                self.ready
                    .push_back(Task::trouble(Trouble::too_large(&self.path)));
            }
            let needless = splitter.give_up(self.buffer.len());
            self.buffer.drain(..needless);
            splitter.shift(needless);
            self.base += needless as u64;
        }
        let most = splitter.start() + self.limits.message + 1;
        let larger = splitter.wanted().max(self.buffer.len() * 2).min(most);
        self.target = larger.max(self.buffer.len() + self.limits.block);
    }

    /// Hands the messages out, and keeps what is behind them.
    fn cut(&mut self, spans: Vec<Span>) {
        let Some(splitter) = &mut self.splitter else {
            return;
        };
        let end = splitter.start();
        let spare = returned(&mut self.lent);
        let rest = &self.buffer[end..];
        self.target = rest.len() + self.limits.block;
        // What is left of one block is longer than what is left of another: a little more room serves for all.
        let (room, more) = match self.at_end {
            true => (rest.len(), 0),
            false => (self.target + 1, self.limits.block / 4),
        };
        let mut next = spare
            .filter(|spare| spare.capacity() >= room)
            .unwrap_or_else(|| Vec::with_capacity(room + more));
        next.clear();
        next.extend_from_slice(rest);
        let block = Arc::new(std::mem::replace(&mut self.buffer, next));
        // One that had to hold a huge message is not held on to.
        if block.capacity() <= self.limits.block * 4 {
            self.lent.push(Arc::clone(&block));
        }
        let mut group = Vec::new();
        let mut bytes = 0;
        for span in spans {
            bytes += span.content.len();
            group.push(span);
            if bytes >= self.limits.task || group.len() >= self.limits.messages {
                let spans = std::mem::take(&mut group);
                self.ready.push_back(self.task(&block, spans));
                bytes = 0;
            }
        }
        if !group.is_empty() {
            self.ready.push_back(self.task(&block, group));
        }
        if let Some(splitter) = &mut self.splitter {
            splitter.shift(end);
        }
        self.base += end as u64;
    }

    fn task(&self, block: &Arc<Vec<u8>>, spans: Vec<Span>) -> Task {
        Task::block(
            Arc::clone(block),
            self.base,
            Arc::clone(&self.path),
            self.container.form(),
            spans,
        )
    }
}

impl Iterator for Stream {
    type Item = Task;

    fn next(&mut self) -> Option<Task> {
        loop {
            if let Some(task) = self.ready.pop_front() {
                return Some(task);
            }
            if self.done {
                return None;
            }
            if let Err(error) = self.advance() {
                self.done = true;
                self.ready
                    .push_back(Task::trouble(Trouble::reading(&self.path, &error)));
            }
        }
    }
}

/// A block that no task has any more.
fn returned(lent: &mut Vec<Arc<Vec<u8>>>) -> Option<Vec<u8>> {
    let free = lent
        .iter()
        .position(|block| Arc::strong_count(block) == 1)?;
    Arc::into_inner(lent.swap_remove(free))
}

/// Some bytes of a file; `None` if it ends before the first of them.
pub(crate) fn peek(file: &File, at: u64, length: usize) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = append_at(file, &mut bytes, at, length).ok()?;
    (read > 0).then_some(bytes)
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use proptest::prelude::*;

    use super::*;
    use crate::container::split_whole;
    use crate::reread::message_at;
    use crate::task::content;

    type Handed = Vec<(u64, Vec<u8>)>;

    fn whole(file: &[u8], container: Container) -> Handed {
        let mut handed = Handed::new();
        split_whole(file, container, &mut |span| {
            handed.push((span.start as u64, content(file, &span).into_owned()));
        });
        handed
    }

    fn streamed(file: &[u8], container: Container, limits: Limits) -> (Handed, Vec<Trouble>) {
        let mut temporary = tempfile::NamedTempFile::new().unwrap();
        temporary.write_all(file).unwrap();
        let (mut handed, mut troubles) = (Handed::new(), Vec::new());
        for task in Stream::open(temporary.path(), "a", container, limits).unwrap() {
            task.run(
                &mut |message| {
                    assert_eq!(message.form, container.form());
                    handed.push((message.location.offset.unwrap(), message.bytes.into_owned()));
                },
                &mut |trouble| troubles.push(trouble),
            );
        }
        if troubles.is_empty() {
            let again = File::open(temporary.path()).unwrap();
            for (offset, message) in &handed {
                assert_eq!(&message_at(&again, *offset, container).unwrap(), message);
            }
        }
        (handed, troubles)
    }

    fn small(block: usize) -> Limits {
        Limits {
            block,
            task: 100,
            messages: 3,
            message: usize::MAX / 4,
        }
    }

    const FROM: &str = "From a@b Thu Jan  1 00:00:00 1970\n";

    /// Lines that are hard to split at.
    fn line() -> impl Strategy<Value = String> {
        let line = prop_oneof![
            Just(String::new()),
            Just("From here".to_owned()),
            Just(">From there".to_owned()),
            Just(">>From both".to_owned()),
            Just(FROM.trim_end().to_owned()),
            Just("From a@b".to_owned()),
            Just("Subject: x".to_owned()),
            (0..400_usize).prop_map(|length| format!("Content-Length: {length}")),
            (0..3000_usize).prop_map(|length| "x".repeat(length)),
            "[ -~]{0,20}",
        ];
        (line, prop::bool::weighted(0.2)).prop_map(|(line, dos)| {
            if dos {
                format!("{line}\r\n")
            } else {
                format!("{line}\n")
            }
        })
    }

    fn message(with_length: bool) -> impl Strategy<Value = String> {
        (prop::collection::vec(line(), 0..12), any::<bool>()).prop_map(move |(lines, cut)| {
            let mut message: String = lines
                .into_iter()
                .filter(|line| with_length || !line.starts_with("Content-Length"))
                .collect();
            if cut {
                message.truncate(message.trim_end_matches('\n').len());
            }
            message
        })
    }

    /// The message as an mboxrd can hold it: with a line end at its end.
    fn ended(message: &str, end: &str) -> String {
        let missing = if message.is_empty() || message.ends_with('\n') {
            ""
        } else {
            end
        };
        format!("{message}{missing}")
    }

    fn stuffed(message: &str) -> String {
        message
            .split_inclusive('\n')
            .map(|line| {
                let stuff = line.trim_start_matches('>').starts_with("From ");
                format!("{}{line}", if stuff { ">" } else { "" })
            })
            .collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        #[test]
        fn an_mboxrd_gives_back_what_was_put_in(
            messages in prop::collection::vec(message(false), 1..8),
            block in 1..5000_usize,
            dos: bool,
        ) {
            let end = if dos { "\r\n" } else { "\n" };
            let mut file = String::new();
            let mut expected = Handed::new();
            for message in &messages {
                let message = ended(message, end);
                expected.push((file.len() as u64, message.clone().into_bytes()));
                file += &format!("{}{end}{}{end}", FROM.trim_end(), stuffed(&message));
            }
            let (handed, troubles) = streamed(file.as_bytes(), Container::Mbox, small(block));
            prop_assert_eq!(troubles, []);
            prop_assert_eq!(handed, expected);
        }

        #[test]
        fn blocks_make_no_difference(
            lines in prop::collection::vec(line(), 0..60),
            block in 1..5000_usize,
        ) {
            let file = format!("{FROM}{}", lines.concat());
            for container in [Container::Mbox, Container::JsonLines, Container::Sgml] {
                let (handed, troubles) = streamed(file.as_bytes(), container, small(block));
                prop_assert_eq!(troubles, []);
                prop_assert_eq!(handed, whole(file.as_bytes(), container));
            }
        }

        #[test]
        fn any_bytes_can_be_split(
            bytes in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'\r'), any::<u8>()], 0..300),
            block in 1..200_usize,
        ) {
            let file = [FROM.as_bytes(), &bytes].concat();
            let (handed, _) = streamed(&file, Container::Mbox, small(block));
            prop_assert_eq!(handed, whole(&file, Container::Mbox));
        }

        #[test]
        fn what_is_too_large_is_passed_over(
            sizes in prop::collection::vec(0..9000_usize, 1..8),
            with_length: bool,
        ) {
            let limits = Limits { block: 700, task: 100, messages: 3, message: 5000 };
            let mut file = String::new();
            let mut small = Handed::new();
            for size in sizes {
                let header = if with_length { format!("Content-Length: {size}\n\n") } else { "Subject: x\n\n".into() };
                let body = if size == 0 { String::new() } else { format!("{}\n", "x".repeat(size - 1)) };
                if size < 2000 {
                    small.push((file.len() as u64, format!("{header}{body}").into_bytes()));
                }
                file += &format!("{FROM}{header}{body}\n");
            }
            let (handed, troubles) = streamed(file.as_bytes(), Container::Mbox, limits);
            for message in &small {
                prop_assert!(handed.contains(message));
            }
            let count = whole(file.as_bytes(), Container::Mbox).len();
            prop_assert_eq!(handed.len() + troubles.len(), count);
            prop_assert!(handed.iter().all(|(_, message)| message.len() < 7000));
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(300))]

        #[test]
        fn sgml_in_blocks_is_split_as_a_whole(
            pieces in prop::collection::vec(prop::sample::select(vec![
                "<REUTERS NEWID=\"1\">", "<REUTERS>", "</REUTERS>", "REUTERS", "<", "</", "x\n", "\n",
                "<BODY>a long enough text &lt;b</BODY>",
            ]), 0..60),
            block in 1..60_usize,
        ) {
            let file = pieces.concat();
            let (handed, troubles) = streamed(file.as_bytes(), Container::Sgml, small(block));
            prop_assert_eq!(troubles, []);
            prop_assert_eq!(handed, whole(file.as_bytes(), Container::Sgml));
        }
    }

    #[test]
    fn an_sgml_text_that_is_too_large_is_passed_over() {
        let limits = Limits {
            block: 10,
            task: 100,
            messages: 3,
            message: 100,
        };
        let (one, two) = (
            "<REUTERS NEWID=1>a</REUTERS>",
            "<REUTERS NEWID=3>c</REUTERS>",
        );
        let large = format!("<REUTERS NEWID=2>{}</REUTERS>", "x".repeat(1000));
        let file = format!("{one}\n{large}\n{two}\n");
        let (handed, troubles) = streamed(file.as_bytes(), Container::Sgml, limits);
        let at = (one.len() + large.len() + 2) as u64;
        assert_eq!(
            handed,
            [(0, one.as_bytes().to_vec()), (at, two.as_bytes().to_vec())]
        );
        assert_eq!(troubles, [Trouble::too_large("a")]);
    }

    #[test]
    fn a_line_that_is_too_large_is_passed_over() {
        let limits = Limits {
            block: 10,
            task: 100,
            messages: 3,
            message: 100,
        };
        let file = format!("{{1}}\n{}\n{{2}}", "x".repeat(1000));
        let (handed, troubles) = streamed(file.as_bytes(), Container::JsonLines, limits);
        assert_eq!(handed, [(0, b"{1}".to_vec()), (1005, b"{2}".to_vec())]);
        assert_eq!(troubles, [Trouble::too_large("a")]);
    }

    #[test]
    fn a_length_far_behind_the_block_is_looked_up() {
        let inner = format!("x\n\n{FROM}Subject: inner\n\n{}\n", "y".repeat(10_000));
        let file = format!(
            "{FROM}Content-Length: {}\n\n{inner}\n{FROM}A: b\n\n",
            inner.len()
        );
        let (handed, _) = streamed(file.as_bytes(), Container::Mbox, small(64));
        assert_eq!(handed.len(), 2);
        assert_eq!(handed, whole(file.as_bytes(), Container::Mbox));
    }

    #[test]
    fn tasks_are_small() {
        let file = format!("{FROM}Subject: x\n\n{}\n\n", "y".repeat(60)).repeat(20);
        let mut temporary = tempfile::NamedTempFile::new().unwrap();
        temporary.write_all(file.as_bytes()).unwrap();
        let stream = Stream::open(temporary.path(), "a", Container::Mbox, small(1 << 20)).unwrap();
        assert_eq!(stream.count(), 10);
    }
}
