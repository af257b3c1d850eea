//! How is an HTML message laid out?
//!
//! [`read`] keeps the tags of what can be seen: names without attributes, every stretch of text as one
//! `<mytext/>`, nesting mended, every element closed. Comments, scripts, styles, unknown elements,
//! elements that are hidden or have no size, and elements with nothing in them are noise that costs a
//! spammer nothing, and leave no trace; nor does `<span>`, which shows nothing by itself.
//!
//! Only the layout method asks for this, so reading a message does not pay for it: whoever needs it
//! calls [`layout_of`] and puts the answer into the document.

mod part;

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};
use twicetold_model::{Form, Layout, Tag, TagName};

use super::elements::Kind;
use super::open::{Element, Open};
use super::style::{self, Style};

/// More tags than this say nothing more about a layout.
const MOST_TAGS: usize = 1 << 16;
/// More hosts than this are a list of links, not a layout.
const MOST_HOSTS: usize = 1 << 10;
/// Elements deeper than this are flattened.
const DEEPEST: usize = 1 << 12;

/// The layout of a message; `None` if it has no HTML, or HTML that shows nothing.
///
/// ```
/// use twicetold_model::Form;
/// let mail = b"Content-Type: text/html\n\n<p>See <a href='http://www.example.org/x'>this</a></p>";
/// let mut document = twicetold_mail::read(Form::Mail, mail);
/// document.layout = twicetold_mail::html::tags::layout_of(Form::Mail, mail).map(Box::new);
/// assert_eq!(document.layout.unwrap().hosts, ["www.example.org"]);
/// ```
pub fn layout_of(form: Form, bytes: &[u8]) -> Option<Layout> {
    if form != Form::Mail {
        return None;
    }
    let mut whole = Layout::default();
    for page in part::pages(bytes) {
        let mut layout = read(&page);
        whole.tags.append(&mut layout.tags);
        whole.hosts.append(&mut layout.hosts);
    }
    whole.hosts.sort_unstable();
    whole.hosts.dedup();
    (!whole.tags.is_empty()).then_some(whole)
}

/// The layout of an HTML page, or any piece of one, in time proportional to its length.
///
/// ```
/// let layout = twicetold_mail::html::tags::read(b"<b></b><p class=x>Hello<i hidden>!</i> you<hr>");
/// let names: Vec<_> = layout.tags.iter().map(|tag| (tag.name.as_str(), tag.end)).collect();
/// assert_eq!(names, [("p", false), ("mytext", false), ("p", true), ("hr", false)]);
/// ```
pub fn read(source: &[u8]) -> Layout {
    let mut reader = Reader::default();
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        reader.event(event);
        None::<Infallible>
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(source, emitter).finish();
    reader.finish()
}

/// The attributes that decide whether an element shows and where it leads.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Attribute {
    Style,
    Target,
    Size,
    Type,
    #[default]
    Other,
}

/// A start tag while its attributes come in.
#[derive(Default)]
struct Start {
    name: Vec<u8>,
    reading: bool,
    style: Style,
    hidden: bool,
    target: Vec<u8>,
    /// How many of width and height are zero.
    flat: u8,
    /// It has a size of at most one pixel each way: a counter, not a picture.
    dots: u8,
}

/// An open element that left a start tag.
struct Shown {
    /// Its number among the open elements.
    depth: usize,
    /// Where its start tag stands.
    at: usize,
    name: TagName,
}

#[derive(Default)]
struct Reader {
    open: Open,
    start: Start,
    attribute: Attribute,
    tags: Vec<Tag>,
    shown: Vec<Shown>,
    hosts: Vec<String>,
}

impl Reader {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                let mut kept = std::mem::take(&mut self.start.name);
                kept.clear();
                kept.extend_from_slice(name);
                self.start = Start {
                    name: kept,
                    reading: true,
                    ..Start::default()
                };
            }
            CallbackEvent::AttributeName { name } => self.attribute_name(name),
            CallbackEvent::AttributeValue { value } => {
                if self.start.reading {
                    self.attribute_value(value);
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                self.start.reading = false;
                self.begin();
            }
            CallbackEvent::EndTag { name } => {
                self.start.reading = false;
                self.end(name);
            }
            CallbackEvent::String { value } => self.text(value),
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn attribute_name(&mut self, name: &[u8]) {
        self.attribute = match name {
            b"style" => Attribute::Style,
            b"href" | b"action" => Attribute::Target,
            b"width" | b"height" => Attribute::Size,
            b"type" => Attribute::Type,
            _ => Attribute::Other,
        };
        self.start.hidden |= name == b"hidden";
    }

    fn attribute_value(&mut self, value: &[u8]) {
        match self.attribute {
            Attribute::Style => self.start.style = style::read(&String::from_utf8_lossy(value)),
            Attribute::Target => self.start.target = value.to_vec(),
            Attribute::Size => {
                let size = value.trim_ascii();
                let size = size.strip_suffix(b"px").unwrap_or(size);
                self.start.flat += u8::from(size == b"0");
                self.start.dots += u8::from(matches!(size, b"0" | b"1"));
            }
            Attribute::Type => {
                let hidden = self.start.name == b"input" && value.eq_ignore_ascii_case(b"hidden");
                self.start.hidden |= hidden;
            }
            Attribute::Other => {}
        }
    }

    fn begin(&mut self) {
        let start = std::mem::take(&mut self.start);
        let kind = Kind::of(&start.name);
        if kind == Kind::Void {
            self.void(&start);
        } else {
            if let Some(at) = self.open.ended_by_start(kind) {
                self.close_to(at);
            }
            self.element(&start, kind);
        }
        // Its memory serves the next tag.
        self.start.name = start.name;
    }

    fn element(&mut self, start: &Start, kind: Kind) {
        if self.open.len() >= DEEPEST {
            return;
        }
        let mut element = Element::new(&start.name, kind, self.open.top());
        element.hidden = kind == Kind::Dropped
            || is_head(&start.name)
            || start.hidden
            || start.style.hidden
            || start.flat > 1;
        element.sizeless = start.style.sizeless.unwrap_or(element.sizeless);
        element.invisible = start.style.invisible.unwrap_or(element.invisible);
        let depth = self.open.len();
        self.open.push(element);
        if self.open.hides() {
            return;
        }
        self.link(start);
        if let Some(name) = TagName::of(&start.name).filter(|_| !is_transparent(&start.name)) {
            let at = self.tags.len();
            if self.add(Tag { name, end: false }) {
                self.shown.push(Shown { depth, at, name });
            }
        }
    }

    fn void(&mut self, start: &Start) {
        if start.name == b"hr"
            && let Some(at) = self.open.ended_by_start(Kind::Block)
        {
            self.close_to(at);
        }
        let unseen = start.hidden || start.style.hidden || start.flat > 0 || start.dots > 1;
        let shows = matches!(
            start.name.as_slice(),
            b"br" | b"hr" | b"img" | b"input" | b"embed" | b"frame" | b"area" | b"keygen"
        );
        if self.open.hides() || unseen || !shows {
            return;
        }
        self.link(start);
        if let Some(name) = TagName::of(&start.name) {
            self.add(Tag { name, end: false });
        }
    }

    fn end(&mut self, name: &[u8]) {
        let kind = Kind::of(name);
        if kind == Kind::Void {
            // Browsers read `</br>` as `<br>`.
            if let (b"br", Some(name), false) = (name, TagName::of(name), self.open.hides()) {
                self.add(Tag { name, end: false });
            }
        } else if let Some(at) = self.open.ended_by_end(name, kind) {
            self.close_to(at);
        }
    }

    /// Ends all open elements from this place on.
    fn close_to(&mut self, depth: usize) {
        while self.open.len() > depth && self.open.pop().is_some() {}
        while let Some(shown) = self.shown.pop_if(|shown| shown.depth >= depth) {
            if self.tags.len() == shown.at + 1 {
                // Nothing stands in it.
                self.tags.pop();
            } else {
                self.tags.push(Tag {
                    name: shown.name,
                    end: true,
                });
            }
        }
    }

    fn text(&mut self, text: &[u8]) {
        if !self.open.hides() && !is_blank(text) && self.tags.last() != Some(&Tag::TEXT) {
            self.add(Tag::TEXT);
        }
    }

    /// Adds a tag, unless there are enough.
    fn add(&mut self, tag: Tag) -> bool {
        let room = self.tags.len() < MOST_TAGS;
        if room {
            self.tags.push(tag);
        }
        room
    }

    fn link(&mut self, start: &Start) {
        if self.hosts.len() < MOST_HOSTS
            && let Some(host) = host(&start.target)
        {
            self.hosts.push(host);
        }
    }

    fn finish(mut self) -> Layout {
        self.close_to(0);
        self.hosts.sort_unstable();
        self.hosts.dedup();
        Layout {
            tags: self.tags,
            hosts: self.hosts,
        }
    }
}

/// Elements that stand in the head of a page and show nothing.
fn is_head(name: &[u8]) -> bool {
    matches!(
        name,
        b"head" | b"object" | b"applet" | b"audio" | b"svg" | b"math" | b"map"
    )
}

/// Elements that show nothing by themselves, or that a browser adds where they are missing.
fn is_transparent(name: &[u8]) -> bool {
    matches!(name, b"span" | b"html" | b"body" | b"tbody")
}

/// Blanks of every width, and characters without one, in UTF-8 or in a single-byte set.
fn is_blank(text: &[u8]) -> bool {
    match std::str::from_utf8(text) {
        Ok(text) => text.chars().all(|c| {
            c.is_whitespace()
                || c.is_control()
                || matches!(
                    c,
                    '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}'
                )
        }),
        Err(_) => text.iter().all(|b| b.is_ascii_whitespace() || *b == 0xa0),
    }
}

/// The host that a link leads to, in lower case; for an e-mail address its domain.
fn host(url: &[u8]) -> Option<String> {
    // Browsers skip line ends and tabs anywhere in an address.
    let url: Vec<u8> = url
        .iter()
        .copied()
        .filter(|b| !matches!(b, b'\t' | b'\r' | b'\n'))
        .collect();
    let url = url.trim_ascii();
    let colon = memchr::memchr(b':', url)?;
    let (scheme, rest) = url.split_at(colon);
    let rest = &rest[1..];
    let authority = if scheme.eq_ignore_ascii_case(b"mailto") {
        rest.split(|b| *b == b'?').next()?
    } else if [&b"http"[..], b"https", b"ftp"]
        .iter()
        .any(|s| scheme.eq_ignore_ascii_case(s))
    {
        let begin = rest.iter().position(|b| !matches!(b, b'/' | b'\\'))?;
        rest[begin..]
            .split(|b| matches!(b, b'/' | b'\\' | b'?' | b'#'))
            .next()?
    } else {
        return None;
    };
    let host = authority.rsplit(|b| *b == b'@').next()?;
    let host = host.split(|b| *b == b':').next()?;
    let host = String::from_utf8_lossy(host)
        .trim()
        .trim_matches('.')
        .to_lowercase();
    (!host.is_empty() && host.len() <= 253).then_some(host)
}

#[cfg(test)]
mod tests;
