//! From lines to words.

use std::ops::Range;

use twicetold_model::{Segment, Word};

use super::ascii::is_space;
use super::strange::Strange;
use super::token::{Commons, Tokens};
use crate::segment::marks_length;

/// Finds every word of the segments without their quote marks, and tells which are common.
pub(super) fn split(text: &str, segments: &[Segment]) -> (Vec<Word>, Commons) {
    // Mail has a word for every six or seven bytes.
    let mut tokens = Tokens::new(text, text.len() / 6);
    let mut strange = Strange::new(text);
    let mut lines = Vec::with_capacity(64);
    let ascii = text.is_ascii();
    for segment in segments {
        let all = segment.start as usize..segment.end as usize;
        if ascii && (segment.depth == 0 || has_mere_marks(&text.as_bytes()[all.clone()])) {
            // No marks that could be taken for words, and no word that runs over a line end: its lines are read together.
            read_line(&mut tokens, &mut strange, all, &[]);
            continue;
        }
        content_lines(text, segment, &mut lines);
        // Where the last word ended that ran over a line end; it may have taken whole lines.
        let mut taken = 0;
        for (n, line) in lines
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.is_empty())
        {
            if taken >= line.end {
                continue;
            }
            let start = line.start.max(taken);
            let rest = lines.get(n + 1..).unwrap_or_default();
            let on = read_line(&mut tokens, &mut strange, start..line.end, rest);
            taken = on.unwrap_or(taken);
        }
    }
    tokens.finish()
}

/// Whether all quote marks before lines are of the usual form, which no word can begin with: initials before a mark would be words. An ampersand right behind
/// a mark stands alone only without it.
fn has_mere_marks(lines: &[u8]) -> bool {
    let is_marked = |line: &[u8]| {
        let blank = |byte: &&u8| matches!(byte, b' ' | b'\t' | 0x0b | 0x0c | b'\r');
        let first = line.iter().find(|byte| !blank(byte));
        first.is_none_or(|first| matches!(first, b'>' | b'\n'))
    };
    let ends = memchr::memchr_iter(b'\n', lines).map(|end| end + 1);
    let mut starts = std::iter::once(0).chain(ends);
    starts.all(|start| is_marked(&lines[start..])) && memchr::memmem::find(lines, b">&").is_none()
}

/// The lines of a segment, each without its quote marks and line end.
fn content_lines(text: &str, segment: &Segment, lines: &mut Vec<Range<usize>>) {
    lines.clear();
    let (mut at, end) = (segment.start as usize, segment.end as usize);
    let bytes = text.as_bytes();
    while at < end {
        let stop = memchr::memchr(b'\n', &bytes[at..end]).map_or(end, |n| at + n);
        let line = text.get(at..stop).unwrap_or_default();
        // Most lines start with a letter and are not quoted: then there are no marks to look for.
        let plain =
            segment.depth == 0 && line.as_bytes().first().is_some_and(u8::is_ascii_alphabetic);
        let marks = if plain {
            0
        } else {
            marks_length(line, segment.depth)
        };
        lines.push(at + marks.min(line.len())..stop);
        at = stop + 1;
    }
}

/// Reads the words of one line, or of several of nothing but ASCII. Returns where to go on in the next line if a word ran over the line end.
fn read_line(
    tokens: &mut Tokens<'_>,
    strange: &mut Strange<'_>,
    line: Range<usize>,
    rest: &[Range<usize>],
) -> Option<usize> {
    let bytes = &tokens.text.as_bytes()[..line.end];
    let mut at = line.start;
    while let Some(place) = strange.next(at).filter(|place| *place < line.end) {
        let chunk = run_around(bytes, at, place);
        tokens.ascii_runs(at..chunk.start);
        at = chunk.end;
        if bytes[chunk.clone()].is_ascii() {
            tokens.ascii_run(chunk);
        } else if let Some(on) = tokens.unicode(chunk.clone(), chunk.end == line.end, rest) {
            return Some(on);
        }
    }
    tokens.ascii_runs(at..line.end);
    None
}

/// The run without spaces around a place, not before `from`.
fn run_around(line: &[u8], from: usize, place: usize) -> Range<usize> {
    let before = line[from..place].iter().rposition(is_space);
    let behind = line[place..].iter().position(is_space);
    before.map_or(from, |n| from + n + 1)..behind.map_or(line.len(), |n| place + n)
}

#[cfg(test)]
mod tests {
    use twicetold_model::SegmentKind;

    use super::*;

    #[test]
    fn marks_of_the_usual_form_need_not_be_left_out() {
        for (lines, mere) in [
            ("> a\n> > b\n", true),
            ("  > a\n\n \t\n>b", true),
            ("> a\nJD> b\n", false),
            ("> a\n| b\n", false),
            (">&b\n", false),
            ("", true),
        ] {
            assert_eq!(has_mere_marks(lines.as_bytes()), mere, "{lines:?}");
        }
    }

    #[test]
    fn lines_read_together_are_read_like_one_after_the_other() {
        let text = "> one (2) a@b.example,\n>3. -4 & x's\n\n> > http://c.example/d\n  >cannot\n> <e@f.example>\n>$5\n";
        let segment = Segment {
            kind: SegmentKind::Quoted,
            depth: 1,
            start: 0,
            end: text.len() as u32,
        };
        assert!(has_mere_marks(text.as_bytes()));
        let together = split(text, &[segment]).0;
        // A word beyond ASCII, in a segment of its own, has all others read line by line.
        let longer = format!("{text}ö\n");
        let apart = split(&longer, &[segment]).0;
        assert_eq!(together, apart);
        assert!(together.len() > 10);
    }
}
