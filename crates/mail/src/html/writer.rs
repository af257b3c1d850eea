//! Puts words on lines: blanks folded, line ends asked for and paid later, quote marks in front.

/// Marks for more levels than this are not written: nobody reads them, and they would grow without
/// bound on hostile pages.
const DEEPEST_QUOTE: usize = 32;
/// More blank lines than one less than this say nothing.
const MOST_BREAKS: u32 = 3;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Blank {
    None,
    Space,
    Tab,
}

/// A text under construction.
pub(super) struct Writer {
    out: String,
    /// How many quotes are open now.
    pub(super) level: usize,
    /// How many quote marks the last line has.
    line_level: usize,
    /// Where the last line begins, behind its quote marks.
    line_start: usize,
    breaks: u32,
    blank: Blank,
    /// The line being asked for holds a blank that was meant to be seen.
    spacer: bool,
    /// A list item begins with the next word.
    item: bool,
}

impl Writer {
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            out: String::with_capacity(capacity),
            level: 0,
            line_level: 0,
            line_start: 0,
            breaks: 0,
            blank: Blank::None,
            spacer: false,
            item: false,
        }
    }

    /// What was written, ended by a line end.
    pub(super) fn finish(mut self) -> String {
        if !self.out.is_empty() {
            self.keep_signature_mark();
            self.out.push('\n');
        }
        self.out
    }

    /// How much has been written.
    pub(super) fn len(&self) -> usize {
        self.out.len()
    }

    /// What has been written since.
    pub(super) fn since(&self, start: usize) -> &str {
        self.out.get(start..).unwrap_or_default()
    }

    /// Asks for at least so many line ends before the next word.
    pub(super) fn break_lines(&mut self, count: u32) {
        if self.spacer && count > 0 {
            self.spacer = false;
            self.breaks += 1;
        }
        self.breaks = self.breaks.max(count).min(MOST_BREAKS);
    }

    /// Asks for one more line end.
    pub(super) fn add_break(&mut self) {
        self.spacer = false;
        self.breaks = (self.breaks + 1).min(MOST_BREAKS);
    }

    /// Begins a cell of a table.
    pub(super) fn cell(&mut self) {
        self.blank = Blank::Tab;
    }

    /// Begins an item of a list.
    pub(super) fn item(&mut self) {
        self.item = true;
    }

    /// Writes text whose blanks and line ends mean nothing.
    pub(super) fn folded(&mut self, text: &str) {
        let mut start = None;
        for (at, c) in text.char_indices() {
            if is_blank(c) {
                if let Some(from) = start.take() {
                    self.word(&text[from..at]);
                }
                self.spacer |= c == '\u{a0}' && (self.breaks > 0 || self.out.is_empty());
                if self.blank == Blank::None {
                    self.blank = Blank::Space;
                }
            } else if start.is_none() {
                start = Some(at);
            }
        }
        if let Some(from) = start {
            self.word(&text[from..]);
        }
    }

    /// Writes text whose blanks and line ends stay.
    pub(super) fn preformatted(&mut self, text: &str) {
        for (i, line) in text.split('\n').enumerate() {
            if i > 0 {
                self.add_break();
            }
            let line = line.trim_end_matches('\r');
            if line.trim().is_empty() {
                if !line.is_empty() && self.blank == Blank::None {
                    self.blank = Blank::Space;
                }
                continue;
            }
            self.begin();
            self.out.push_str(line);
        }
    }

    fn word(&mut self, word: &str) {
        // Rows of joiners and the like only pad the preview of a message.
        if !word.is_ascii() && word.chars().all(is_zero_width) {
            return;
        }
        self.begin();
        self.out.push_str(word);
    }

    /// Pays the line ends and blanks asked for.
    fn begin(&mut self) {
        if self.out.is_empty() {
            self.new_line();
        } else if self.breaks > 0 {
            self.keep_signature_mark();
            self.out.push('\n');
            let between = self.line_level.min(self.level);
            for _ in 1..self.breaks {
                self.marks(between);
                self.out.truncate(self.out.trim_end_matches(' ').len());
                self.out.push('\n');
            }
            self.new_line();
        } else {
            match self.blank {
                Blank::None => {}
                Blank::Space => self.out.push(' '),
                Blank::Tab => self.out.push('\t'),
            }
        }
        if self.item {
            self.out.push_str("- ");
            self.item = false;
        }
        self.breaks = 0;
        self.blank = Blank::None;
        self.spacer = false;
    }

    fn new_line(&mut self) {
        self.marks(self.level);
        self.line_level = self.level;
        self.line_start = self.out.len();
    }

    fn marks(&mut self, level: usize) {
        for _ in 0..level.min(DEEPEST_QUOTE) {
            self.out.push_str("> ");
        }
    }

    /// The blank of "-- " is what makes it the mark before a signature.
    fn keep_signature_mark(&mut self) {
        if self.blank == Blank::Space && self.out.get(self.line_start..) == Some("--") {
            self.out.push(' ');
        }
    }
}

fn is_blank(c: char) -> bool {
    matches!(
        c,
        ' ' | '\n' | '\t' | '\r' | '\u{c}' | '\u{a0}' | '\u{2007}' | '\u{202f}' | '\u{3000}'
    ) || ('\u{2000}'..='\u{200a}').contains(&c)
}

fn is_zero_width(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}
