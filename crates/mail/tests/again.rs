//! A message that is read again, with what is known of its lines, reads as it did.

use std::fs;
use std::path::{Path, PathBuf};

use twicetold_mail::{read, read_again};
use twicetold_model::{Document, Envelope, Form, Segment};

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => files(&path, found),
            false => found.push(path),
        }
    }
}

/// The mails of this project.
fn mails() -> Vec<Vec<u8>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = Vec::new();
    files(&root.join("corpus/cases"), &mut found);
    found.sort();
    let mails = found.iter().filter(|path| {
        let name = path.extension().and_then(|name| name.to_str());
        name == Some("eml")
    });
    mails.map(|path| fs::read(path).expect("a mail")).collect()
}

fn assert_same(again: &Document, first: &Document, what: &str) {
    assert_eq!(again.segments, first.segments, "{what}: {}", first.text);
    assert_eq!(again.words, first.words, "{what}: {}", first.text);
    assert_eq!(again.sentences, first.sentences, "{what}: {}", first.text);
    assert_eq!(again.language, first.language, "{what}: {}", first.text);
    assert_eq!(again.links, first.links, "{what}: {}", first.text);
    assert_eq!(
        again.attachments, first.attachments,
        "{what}: {}",
        first.text
    );
    let about = |document: &Document| {
        let Envelope {
            from,
            from_name,
            subject,
            ..
        } = document.envelope.clone();
        [from, from_name, subject]
    };
    assert_eq!(about(again), about(first), "{what}: {}", first.text);
}

#[test]
fn what_is_known_of_the_lines_is_taken() {
    let mails = mails();
    assert!(mails.len() > 100, "{}", mails.len());
    for mail in &mails {
        let first = read(Form::Mail, mail);
        let again = read_again(Form::Mail, mail, first.segments.clone());
        assert_same(&again, &first, "as it was");
        // It is taken indeed: a segment of another kind makes another document.
        let mut other = first.segments.clone();
        if let Some(one) = other.first_mut() {
            one.depth += 1;
            let again = read_again(Form::Mail, mail, other.clone());
            assert_eq!(again.segments, other);
        }
    }
}

#[test]
fn what_cannot_be_of_this_text_is_found_out_again() {
    let mails = mails();
    for mail in &mails {
        let first = read(Form::Mail, mail);
        let all = &first.segments;
        let Some(last) = all.last() else {
            continue;
        };
        let moved = |by: i32| -> Vec<Segment> {
            let by = |at: u32| at.wrapping_add_signed(by);
            let each = all.iter().map(|segment| Segment {
                start: by(segment.start),
                end: by(segment.end),
                ..*segment
            });
            each.collect()
        };
        let mut turned = all.clone();
        turned.reverse();
        turned.push(*last);
        let wrong = [
            (Vec::new(), "nothing"),
            (moved(1), "moved on"),
            (moved(-1), "moved back"),
            (moved(1 << 30), "far away"),
            (all[..all.len() - 1].to_vec(), "without the last"),
            (all[1..].to_vec(), "without the first"),
            (turned, "in another order"),
        ];
        let holds_words = |segment: &Segment| {
            let text = first.text.get(segment.start as usize..segment.end as usize);
            text.is_some_and(|text| text.contains(char::is_alphanumeric))
        };
        if !all.iter().all(holds_words) {
            continue;
        }
        for (segments, what) in wrong {
            let again = read_again(Form::Mail, mail, segments);
            assert_same(&again, &first, what);
            assert_eq!(again.envelope, first.envelope, "{what}");
        }
    }
}
