//! Any text, cut into segments: every line that says something belongs to one.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twicetold_fuzz::check_segments;
use twicetold_mail::segment::segment;
use twicetold_model::Envelope;

fuzz_target!(|text: &str| {
    // Names in the envelope decide what is a closing or a signature, so they are fuzzed too.
    let (name, text) = text.split_once('\u{1}').unwrap_or(("", text));
    let envelope = Envelope {
        from_name: name.to_owned(),
        recipients: name.to_owned(),
        ..Envelope::default()
    };
    check_segments(text, &segment(text, &envelope));
});
