//! Any bytes, read as mail, as text and as JSON: never a panic, always a sound document.
#![no_main]

use libfuzzer_sys::fuzz_target;
use twicetold_fuzz::check_document;
use twicetold_model::Form;

fuzz_target!(|bytes: &[u8]| {
    for form in [Form::Mail, Form::Text, Form::Json, Form::Sgml] {
        check_document(&twicetold_mail::read(form, bytes));
    }
});
