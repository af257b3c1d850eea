//! One value of a table, and what the values of a row amount to.

use std::borrow::Cow;

use twicetold_model::{Form, Location};

use crate::handed::{Handed, InPart, Named, Wanted, form_named, is_made_by};
use crate::version::SCHEMA;

/// The members of a row that count; the columns have these names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Member {
    Schema,
    Group,
    Id,
    Path,
    Offset,
    Form,
    Message,
    MessageId,
    Text,
    Body,
    Content,
    Subject,
    Title,
    From,
    Author,
    Date,
    References,
    InReplyTo,
    Method,
    Sketch,
    WholeRank,
    WholeThread,
    WholeThreadName,
    WholeNear,
    WholeCommon,
    WholeLeading,
    WholeContext,
}

/// Those that make a row a text.
pub(crate) const TEXTS: [Member; 3] = [Member::Text, Member::Body, Member::Content];

impl Member {
    pub(crate) const ALL: [Self; 27] = [
        Self::Schema,
        Self::Group,
        Self::Id,
        Self::Path,
        Self::Offset,
        Self::Form,
        Self::Message,
        Self::MessageId,
        Self::Text,
        Self::Body,
        Self::Content,
        Self::Subject,
        Self::Title,
        Self::From,
        Self::Author,
        Self::Date,
        Self::References,
        Self::InReplyTo,
        Self::Method,
        Self::Sketch,
        Self::WholeRank,
        Self::WholeThread,
        Self::WholeThreadName,
        Self::WholeNear,
        Self::WholeCommon,
        Self::WholeLeading,
        Self::WholeContext,
    ];

    /// The name of the column.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Schema => "schema",
            Self::Group => "group",
            Self::Id => "id",
            Self::Path => "path",
            Self::Offset => "offset",
            Self::Form => "form",
            Self::Message => "message",
            Self::MessageId => "message_id",
            Self::Text => "text",
            Self::Body => "body",
            Self::Content => "content",
            Self::Subject => "subject",
            Self::Title => "title",
            Self::From => "from",
            Self::Author => "author",
            Self::Date => "date",
            Self::References => "references",
            Self::InReplyTo => "in_reply_to",
            Self::Method => "method",
            Self::Sketch => "sketch",
            Self::WholeRank => "whole_rank",
            Self::WholeThread => "whole_thread",
            Self::WholeThreadName => "whole_thread_name",
            Self::WholeNear => "whole_near",
            Self::WholeCommon => "whole_common",
            Self::WholeLeading => "whole_leading",
            Self::WholeContext => "whole_context",
        }
    }

    /// The member of a column, if it is wanted. A number called `schema` is the version of the row only in rows of our own, which
    /// name a method.
    pub(crate) fn of_column(name: &str, columns: &[&str], wanted: Wanted) -> Option<Self> {
        let found = Self::ALL.into_iter().find(|member| member.name() == name)?;
        let counts = match found {
            Self::Schema => columns.contains(&"method"),
            Self::Id | Self::Path | Self::Offset => true,
            Self::Method | Self::Sketch => wanted != Wanted::Messages,
            _ => wanted == Wanted::Messages,
        };
        counts.then_some(found)
    }

    /// Whether it is part of a line of JSON lines that is read as a text.
    fn is_of_a_text(self) -> bool {
        !matches!(
            self,
            Self::Schema
                | Self::Group
                | Self::Path
                | Self::Offset
                | Self::Form
                | Self::Message
                | Self::Method
                | Self::Sketch
                | Self::WholeRank
                | Self::WholeThread
                | Self::WholeThreadName
                | Self::WholeNear
                | Self::WholeCommon
                | Self::WholeLeading
                | Self::WholeContext
        )
    }
}

/// One value.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Cell<'a> {
    Nothing,
    /// What its column calls a text; whether it is UTF-8 is seen here, so that a bad one spoils one row.
    Text(&'a [u8]),
    Bytes(&'a [u8]),
    Whole(i128),
    Real(f64),
    List(Vec<Cell<'a>>),
    /// A value of a type that says nothing here.
    Strange,
}

/// The values of one row, in the order of their columns.
pub(crate) type Row<'a> = [(Member, Cell<'a>)];

/// What a row hands over that stands at `place`.
pub(crate) fn handed(row: &Row<'_>, place: Location, wanted: Wanted) -> Handed {
    let cell = |wanted: Member| {
        let found = row.iter().find(|(member, _)| *member == wanted);
        found.map_or(&Cell::Nothing, |(_, cell)| cell)
    };
    let mut named = Named::default();
    let mut scalar = |member: Member, what: &'static str| match cell(member).scalar() {
        Ok(said) => said.map(Cow::into_owned),
        Err(()) => {
            named.wrong.get_or_insert(Cow::Borrowed(what));
            None
        }
    };
    let group = scalar(
        Member::Group,
        "the group is neither a text nor a number, or no UTF-8",
    );
    let id = scalar(
        Member::Id,
        "the id is neither a text nor a number, or no UTF-8",
    );
    let path = scalar(Member::Path, "the path is no text, or no UTF-8");
    (named.group, named.id, named.path) = (group, id, path);
    match cell(Member::Offset).whole() {
        Ok(offset) => named.offset = offset,
        Err(()) => {
            (named.wrong).get_or_insert(Cow::Borrowed("the offset is no whole number"));
        }
    }
    if let Cell::Whole(version) = cell(Member::Schema)
        && *version > i128::from(SCHEMA)
    {
        let what = format!("the row has schema {version}; this program reads schema {SCHEMA}");
        named.wrong.get_or_insert(what.into());
    }
    let whole = whole(cell).unwrap_or_else(|()| {
        let what = "what the row says of the whole is of another type";
        named.wrong.get_or_insert(Cow::Borrowed(what));
        None
    });
    let handed = named.handed(place, || match wanted {
        Wanted::Messages => message(cell(Member::Message), cell(Member::Form), row),
        Wanted::Sketches(method) => sketch(cell(Member::Sketch), cell(Member::Method), method),
    });
    Handed { whole, ..handed }
}

/// What a row says about its message in a larger collection, if it says anything.
fn whole<'r, 'a: 'r>(cell: impl Fn(Member) -> &'r Cell<'a>) -> Result<Option<Box<InPart>>, ()> {
    let rank = cell(Member::WholeRank).whole()?;
    let thread = cell(Member::WholeThread).whole()?;
    let thread_name = cell(Member::WholeThreadName).scalar()?;
    let context = cell(Member::WholeContext).whole()?;
    if rank.is_none() && thread.is_none() && thread_name.is_none() && context.is_none() {
        return Ok(None);
    }
    let numbers = |member: Member| cell(member).numbers();
    let near = numbers(Member::WholeNear)?.into_iter();
    let near: Result<Vec<u64>, _> = near.map(u64::try_from).collect();
    Ok(Some(Box::new(InPart {
        rank: rank.unwrap_or(0),
        near: near.map_err(drop)?,
        common: numbers(Member::WholeCommon)?,
        leading: numbers(Member::WholeLeading)?,
        thread: thread.unwrap_or(0),
        thread_name: thread_name.map(Cow::into_owned),
        context: context.is_some_and(|context| context != 0),
    })))
}

/// The sketch, if it is one of this method.
fn sketch(
    sketch: &Cell<'_>,
    made_by: &Cell<'_>,
    method: &'static str,
) -> Result<(Form, Vec<u8>), Cow<'static, str>> {
    let made_by = made_by.scalar().map_err(|()| "the method is no text")?;
    is_made_by(made_by.as_deref(), method)?;
    match sketch {
        Cell::Bytes(bytes) => Ok((Form::Text, bytes.to_vec())),
        Cell::Nothing => Err("the row has no sketch".into()),
        _ => Err("the sketch is not bytes".into()),
    }
}

/// The message itself, or else the row as a line of JSON lines, if there is a text in it.
fn message(
    message: &Cell<'_>,
    form: &Cell<'_>,
    row: &Row<'_>,
) -> Result<(Form, Vec<u8>), Cow<'static, str>> {
    let (bytes, is_text) = match message {
        Cell::Bytes(bytes) => (*bytes, false),
        Cell::Text(bytes) => (*bytes, true),
        Cell::Nothing => return text(row),
        _ => return Err("the message is neither bytes nor a text".into()),
    };
    let form = match form.scalar() {
        Ok(None) => Form::Mail,
        Ok(Some(name)) => form_named(&name)?,
        Err(()) => return Err("the form is no text".into()),
    };
    if is_text && form == Form::Mail && looks_like_base64(bytes) {
        return Err(
            "the message is base64 in a column of texts; make bytes of it (unbase64)".into(),
        );
    }
    Ok((form, bytes.to_vec()))
}

/// Whether a mail is none, but what JSON lines have in its place: a mail has a colon in its first line.
fn looks_like_base64(bytes: &[u8]) -> bool {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"+/=".contains(byte);
    bytes.len() >= 16 && bytes.trim_ascii_end().iter().all(plain)
}

/// The row as a line of JSON lines, which is what a file of such lines is made of.
fn text(row: &Row<'_>) -> Result<(Form, Vec<u8>), Cow<'static, str>> {
    let there = |(member, cell): &(Member, Cell<'_>)| {
        TEXTS.contains(member) && !matches!(cell, Cell::Nothing)
    };
    if !row.iter().any(there) {
        return Err("the row has neither a message nor a text".into());
    }
    let mut line = b"{".to_vec();
    for (member, cell) in row.iter().filter(|(member, _)| member.is_of_a_text()) {
        if matches!(cell, Cell::Nothing) {
            continue;
        }
        if line.len() > 1 {
            line.push(b',');
        }
        line.extend(format!("\"{}\":", member.name()).into_bytes());
        cell.write(&mut line)
            .map_err(|()| format!("the {} is no text, or no UTF-8", member.name()))?;
    }
    line.push(b'}');
    Ok((Form::Json, line))
}

impl Cell<'_> {
    /// A text, or a number as JSON writes it. A number that is none, as pandas has in place of nothing, is nothing.
    fn scalar(&self) -> Result<Option<Cow<'_, str>>, ()> {
        match self {
            Self::Nothing => Ok(None),
            Self::Text(bytes) | Self::Bytes(bytes) => {
                let text = std::str::from_utf8(bytes).map_err(drop)?;
                Ok(Some(text.into()))
            }
            Self::Whole(number) => Ok(Some(number.to_string().into())),
            Self::Real(number) if number.is_nan() => Ok(None),
            Self::Real(number) => {
                let number = serde_json::Number::from_f64(*number).ok_or(())?;
                Ok(Some(number.to_string().into()))
            }
            Self::List(_) | Self::Strange => Err(()),
        }
    }

    /// A whole number that is not negative.
    fn whole(&self) -> Result<Option<u64>, ()> {
        match self {
            Self::Nothing => Ok(None),
            Self::Whole(number) => u64::try_from(*number).map(Some).map_err(drop),
            Self::Real(number) if number.is_nan() => Ok(None),
            // pandas makes such numbers of whole ones if one of them is missing.
            Self::Real(number) if number.fract() == 0.0 && (0.0..9e15).contains(number) => {
                Ok(Some(*number as u64))
            }
            _ => Err(()),
        }
    }

    /// A list of whole numbers; nothing is none of them.
    fn numbers(&self) -> Result<Vec<i64>, ()> {
        let number = |cell: &Cell<'_>| match cell {
            Cell::Whole(number) => i64::try_from(*number).map_err(drop),
            _ => Err(()),
        };
        match self {
            Self::Nothing => Ok(Vec::new()),
            Self::List(cells) => cells.iter().map(number).collect(),
            _ => Err(()),
        }
    }

    /// Writes it as JSON.
    fn write(&self, line: &mut Vec<u8>) -> Result<(), ()> {
        match self {
            Self::Text(_) | Self::Bytes(_) => {
                let text = self.scalar()?.unwrap_or_default();
                serde_json::to_writer(line, &text).map_err(drop)
            }
            Self::Whole(_) | Self::Real(_) => {
                line.extend(self.scalar()?.as_deref().unwrap_or("null").bytes());
                Ok(())
            }
            Self::Nothing => {
                line.extend(b"null");
                Ok(())
            }
            Self::List(cells) => {
                line.push(b'[');
                for (n, cell) in cells.iter().enumerate() {
                    if n > 0 {
                        line.push(b',');
                    }
                    cell.write(line)?;
                }
                line.push(b']');
                Ok(())
            }
            Self::Strange => Err(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cells: &[(Member, Cell<'_>)]) -> Handed {
        let place = Location {
            path: "x.arrow".into(),
            offset: Some(4),
        };
        handed(cells, place, Wanted::Messages)
    }

    fn problem(cells: &[(Member, Cell<'_>)]) -> String {
        row(cells).message.unwrap_err().into_owned()
    }

    #[test]
    fn messages_and_texts_are_handed_over() {
        let mail = row(&[
            (Member::Group, Cell::Whole(3)),
            (Member::Id, Cell::Text(b"a")),
            (Member::Message, Cell::Bytes(b"Hi")),
        ]);
        assert_eq!(mail.group.as_deref(), Some("3"));
        assert_eq!((mail.id.as_str(), &*mail.location.path), ("a", "a"));
        let raw = mail.message.unwrap();
        assert_eq!((raw.form, &*raw.bytes), (Form::Mail, b"Hi".as_slice()));
        let text = row(&[
            (Member::Id, Cell::Real(5.0)),
            (Member::Path, Cell::Nothing),
            (Member::Text, Cell::Text("Hi \"ü\"".as_bytes())),
            (Member::Date, Cell::Whole(7)),
            (
                Member::References,
                Cell::List(vec![Cell::Text(b"r"), Cell::Nothing]),
            ),
        ]);
        let raw = text.message.unwrap();
        assert_eq!((text.id.as_str(), raw.form), ("5.0", Form::Json));
        assert_eq!(
            std::str::from_utf8(&raw.bytes).unwrap(),
            r#"{"id":5.0,"text":"Hi \"ü\"","date":7,"references":["r",null]}"#
        );
        let placed = row(&[
            (Member::Path, Cell::Bytes(b"in.mbox")),
            (Member::Offset, Cell::Real(9.0)),
            (Member::Form, Cell::Text(b"text")),
            (Member::Message, Cell::Text(b"From: a\n\nHi")),
        ]);
        assert_eq!(placed.location.to_string(), "in.mbox@9");
        assert_eq!(placed.message.unwrap().form, Form::Text);
        assert_eq!(raw.form, Form::Json);
        assert_eq!(text.whole, None);
        let known = row(&[
            (Member::WholeRank, Cell::Whole(3)),
            (
                Member::WholeNear,
                Cell::List(vec![Cell::Whole(5), Cell::Whole(1)]),
            ),
            (Member::WholeCommon, Cell::List(vec![Cell::Whole(-7)])),
            (Member::WholeThread, Cell::Whole(1 << 40)),
            (Member::WholeThreadName, Cell::Text(b"<a@b>")),
            (Member::WholeContext, Cell::Whole(1)),
            (Member::Text, Cell::Text(b"Hi")),
        ]);
        let whole = InPart {
            rank: 3,
            thread: 1 << 40,
            thread_name: Some("<a@b>".to_owned()),
            near: vec![5, 1],
            common: vec![-7],
            leading: Vec::new(),
            context: true,
        };
        assert_eq!(known.whole, Some(Box::new(whole)));
        let bytes = known.message.unwrap().bytes;
        assert_eq!(&*bytes, br#"{"text":"Hi"}"#);
        let nameless = row(&[
            (Member::Id, Cell::Real(f64::NAN)),
            (Member::Text, Cell::Text(b"")),
        ]);
        assert_eq!(nameless.id, "x.arrow@4");
    }

    #[test]
    fn what_is_wrong_is_told() {
        let message = (Member::Message, Cell::Bytes(b"Hi"));
        for (cells, told) in [
            (vec![], "neither a message nor a text"),
            (vec![(Member::Text, Cell::Nothing)], "neither a message"),
            (vec![(Member::Text, Cell::Text(b"\xFF"))], "no UTF-8"),
            (vec![(Member::Message, Cell::Whole(7))], "neither bytes"),
            (
                vec![(Member::Message, Cell::Text(b"RnJvbTogYQoKSGkg"))],
                "base64",
            ),
            (
                vec![(Member::Form, Cell::Text(b"fax")), message.clone()],
                "form is not known",
            ),
            (
                vec![(Member::Group, Cell::Strange), message.clone()],
                "group",
            ),
            (
                vec![(Member::Id, Cell::Text(b"\xFF")), message.clone()],
                "UTF-8",
            ),
            (
                vec![(Member::Offset, Cell::Whole(-1)), message.clone()],
                "offset",
            ),
            (
                vec![(Member::WholeRank, Cell::Text(b"7")), message.clone()],
                "of the whole",
            ),
            (
                vec![(Member::Schema, Cell::Whole(2)), message],
                "schema 2; this program reads schema 1",
            ),
        ] {
            assert!(problem(&cells).contains(told), "{}", problem(&cells));
        }
    }
}
