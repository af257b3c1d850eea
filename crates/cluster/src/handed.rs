//! What a row hands over, whatever it was written in.

use std::borrow::Cow;

use serde::Deserialize;
use twicetold_model::{Form, Location, RawMessage};

/// What is wanted of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// Messages or texts.
    Messages,
    /// Sketches of this method, which are handed over in the place of the message.
    Sketches(&'static str),
}

/// Whether a sketch was made by the method that is wanted; else what is wrong with it.
pub fn is_made_by(made_by: Option<&str>, method: &str) -> Result<(), Cow<'static, str>> {
    match made_by {
        Some(made_by) if made_by == method => Ok(()),
        Some(made_by) => Err(format!(
            "the sketch was made by {made_by}; what is wanted is twicetold sketch --method {method}"
        )
        .into()),
        None => Err("the row does not say by which method its sketch was made".into()),
    }
}

/// What a row hands over.
#[derive(Debug)]
pub struct Handed {
    /// The group it names.
    pub group: Option<String>,
    /// The id it names, or else where the message stands.
    pub id: String,
    /// Where the message stands.
    pub location: Location,
    /// The message, or what is wrong with the row.
    pub message: Result<RawMessage<'static>, Cow<'static, str>>,
    /// What is known of it from a larger collection of which the group is a part, if the row says so.
    pub whole: Option<Box<InPart>>,
}

/// What a row says about its message in a larger collection.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub struct InPart {
    /// How many are asked before it in the walk; of copies, before the one that stands for them.
    pub rank: u64,
    /// A number for its conversation.
    pub thread: u64,
    /// The name of its conversation, if it belongs to one with other messages.
    pub thread_name: Option<String>,
    /// The ranks of those that share fingerprints with it, the nearest first.
    pub near: Vec<u64>,
    /// Of its sentences, things and its conversation those that more than a few have: 64-bit numbers with a sign.
    pub common: Vec<i64>,
    /// Those that more than a few have and that lead to it.
    pub leading: Vec<i64>,
    /// It is judged elsewhere, and stands in this group only to be asked.
    pub context: bool,
}

/// What a row says about its message, before the message itself is looked at.
#[derive(Debug, Default)]
pub struct Named {
    /// The group.
    pub group: Option<String>,
    /// What the message is called.
    pub id: Option<String>,
    /// The file it stands in.
    pub path: Option<String>,
    /// And where in it.
    pub offset: Option<u64>,
    /// The first thing that is wrong with one of these.
    pub wrong: Option<Cow<'static, str>>,
}

impl Named {
    /// The row, which itself stands at `place`, with what `message` makes of it.
    pub fn handed(
        self,
        place: Location,
        message: impl FnOnce() -> Result<(Form, Vec<u8>), Cow<'static, str>>,
    ) -> Handed {
        // A message keeps its place whatever the order in which it is handed over.
        let location = match (self.path, &self.id) {
            (Some(path), _) => Location {
                path: path.into(),
                offset: self.offset,
            },
            (None, Some(id)) => Location {
                path: id.as_str().into(),
                offset: None,
            },
            (None, None) => place,
        };
        let message = match self.wrong {
            Some(wrong) => Err(wrong),
            None => message(),
        };
        Handed {
            whole: None,
            group: self.group,
            id: self.id.unwrap_or_else(|| location.to_string()),
            message: message.map(|(form, bytes)| RawMessage {
                location: location.clone(),
                form,
                bytes: Cow::Owned(bytes),
            }),
            location,
        }
    }
}

/// The name of a form in rows.
pub fn form_name(form: Form) -> &'static str {
    match form {
        Form::Mail => "mail",
        Form::Text => "text",
        Form::Json => "json",
        Form::Sgml => "sgml",
    }
}

/// The form of this name; else what is wrong with it.
pub fn form_named(name: &str) -> Result<Form, &'static str> {
    let forms = [Form::Mail, Form::Text, Form::Json, Form::Sgml];
    let found = forms.into_iter().find(|&form| form_name(form) == name);
    found.ok_or("the form is not known; there are mail, text, json and sgml")
}
