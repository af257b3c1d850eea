//! What must hold for every document, whatever bytes it was made of.

use twicetold_model::{Document, Segment};

/// Panics if anything about this document is not as [`Document`] promises.
pub fn check_document(document: &Document) {
    check_segments(&document.text, &document.segments);
    check_words(document);
    check_sentences(document);
    assert!(
        document.links.is_sorted_by(|a, b| a < b),
        "links are sorted, each once: {:?}",
        document.links
    );
    assert!(!document.text.contains('\r'), "lines are ended by LF alone");
}

/// Segments stand in order, do not overlap, and begin and end where lines do.
pub fn check_segments(text: &str, segments: &[Segment]) {
    let mut before = 0;
    for segment in segments {
        let (start, end) = (segment.start as usize, segment.end as usize);
        assert!(
            before <= start && start < end && end <= text.len(),
            "{segment:?} stands after {before} in a text of {} bytes",
            text.len()
        );
        assert!(
            start == 0 || text.as_bytes()[start - 1] == b'\n',
            "{segment:?} begins inside a line"
        );
        let tail = text[end..].split('\n').next().unwrap_or_default();
        assert!(
            text[..end].ends_with('\n') || tail.trim().is_empty(),
            "{segment:?} ends inside a line, before {tail:?}"
        );
        before = end;
    }
    let mut outside = 0;
    for segment in segments {
        check_wordless(text, outside, segment.start as usize);
        outside = segment.end as usize;
    }
    check_wordless(text, outside, text.len());
}

/// What belongs to no segment holds no word: nothing that somebody wrote is passed over.
fn check_wordless(text: &str, start: usize, end: usize) {
    let outside = &text[start..end];
    assert!(
        !outside.contains(char::is_alphanumeric),
        "outside of all segments: {outside:?}"
    );
}

/// Words stand in the text, in order, on the boundaries of characters.
fn check_words(document: &Document) {
    let mut before = 0;
    for word in &document.words {
        assert!(
            before <= word.start && word.start < word.end,
            "{word:?} stands after {before}"
        );
        assert!(
            document.text.get(word.range()).is_some(),
            "{word:?} is no part of a text of {} bytes",
            document.text.len()
        );
        before = word.end;
    }
}

/// Every word is in exactly one sentence, and every sentence in one segment.
fn check_sentences(document: &Document) {
    let mut before = 0;
    for sentence in &document.sentences {
        assert_eq!(
            sentence.words.start, before,
            "{sentence:?} follows the one before it"
        );
        let words = document.sentence_words(sentence);
        assert!(!words.is_empty(), "{sentence:?} has words");
        let segment = &document.segments[sentence.segment as usize];
        assert!(
            words
                .iter()
                .all(|word| segment.start <= word.start && word.end <= segment.end),
            "{sentence:?} is inside {segment:?}"
        );
        before = sentence.words.end;
    }
    assert_eq!(
        before as usize,
        document.words.len(),
        "every word is in a sentence"
    );
}
