//! Two messages, with a NUL between them: their sketches compare to shares between none and all.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twicetold_fuzz::check_document;
use twicetold_mail::read;
use twicetold_methods::winnow::Winnow;
use twicetold_model::{Form, Method};

fuzz_target!(|bytes: &[u8]| {
    let middle = bytes.iter().position(|&byte| byte == 0);
    let (first, second) = match middle {
        Some(at) => (&bytes[..at], &bytes[at + 1..]),
        None => bytes.split_at(bytes.len() / 2),
    };
    let documents = [first, second].map(|half| read(Form::Mail, half));
    documents.iter().for_each(check_document);
    for window in [1, 3, 64] {
        let winnow = Winnow { window };
        let [Some(a), Some(b)] = documents.each_ref().map(|document| winnow.sketch(document))
        else {
            continue;
        };
        for sketch in [&a, &b] {
            assert!(
                sketch.keys.is_sorted_by(|x, y| x < y),
                "keys are sorted, each once"
            );
            let with_itself = winnow.compare(sketch, sketch);
            assert_eq!(
                (with_itself.containment, with_itself.resemblance),
                (1.0, 1.0)
            );
        }
        let (there, back) = (winnow.compare(&a, &b), winnow.compare(&b, &a));
        for share in [there, back]
            .iter()
            .flat_map(|e| [e.containment, e.resemblance])
        {
            assert!((0.0..=1.0).contains(&share), "{share} is no share");
        }
        assert_eq!(
            there.resemblance, back.resemblance,
            "likeness has no direction"
        );
    }
});
