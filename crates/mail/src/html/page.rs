//! Reads the stream of tags and text.

use std::convert::Infallible;

use html5gum::emitters::callback::{CallbackEmitter, CallbackEvent};
use html5gum::{Span, Tokenizer};

use super::Page;
use super::elements::Kind;
use super::link;
use super::open::{Element, Open};
use super::style::{self, Style};
use super::writer::Writer;

/// Reads a page; the flag tells whether something on it is hidden.
pub(super) fn read(source: &str, show_hidden: bool) -> (Page, bool) {
    let mut reader = Reader {
        open: Open::default(),
        writer: Writer::new(source.len() / 2),
        tag: Tag::default(),
        attribute: Attribute::Other,
        anchor: None,
        links: Vec::new(),
        show_hidden,
        concealed: false,
        fresh_pre: false,
    };
    let mut emitter = CallbackEmitter::new(|event: CallbackEvent<'_>, _: Span<()>| {
        reader.event(event);
        None::<Infallible>
    });
    emitter.naively_switch_states(true);
    let Ok(()) = Tokenizer::new_with_emitter(source, emitter).finish();
    reader.end_anchor();
    (
        Page {
            text: reader.writer.finish(),
            links: reader.links,
        },
        reader.concealed,
    )
}

/// The attributes that are read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Attribute {
    Style,
    Href,
    Alt,
    Class,
    Name,
    Size,
    Other,
}

/// A start tag while its attributes come in.
#[derive(Default)]
struct Tag {
    name: Vec<u8>,
    reading: bool,
    style: Style,
    hidden: bool,
    href: String,
    alt: String,
    /// `class="MsoNormal"`: Outlook's paragraphs have no space between them.
    tight: bool,
    /// `name="quote"`: how GMX marks quoted text.
    quote: bool,
    /// An image of at most one pixel.
    tiny: bool,
}

struct Reader {
    open: Open,
    writer: Writer,
    tag: Tag,
    attribute: Attribute,
    /// The open link: its target and where its text begins.
    anchor: Option<(String, usize)>,
    links: Vec<String>,
    show_hidden: bool,
    concealed: bool,
    /// The line end right behind `<pre>` does not count.
    fresh_pre: bool,
}

impl Reader {
    fn event(&mut self, event: CallbackEvent<'_>) {
        match event {
            CallbackEvent::OpenStartTag { name } => {
                let mut kept = std::mem::take(&mut self.tag.name);
                kept.clear();
                kept.extend_from_slice(name);
                self.tag = Tag {
                    name: kept,
                    reading: true,
                    ..Tag::default()
                };
            }
            CallbackEvent::AttributeName { name } => self.attribute_name(name),
            CallbackEvent::AttributeValue { value } => {
                if self.tag.reading {
                    self.attribute_value(&String::from_utf8_lossy(value));
                }
            }
            CallbackEvent::CloseStartTag { .. } => {
                self.tag.reading = false;
                self.start();
            }
            CallbackEvent::EndTag { name } => {
                self.tag.reading = false;
                self.end(name);
            }
            CallbackEvent::String { value } => match std::str::from_utf8(value) {
                Ok(text) => self.text(text),
                Err(_) => self.text(&String::from_utf8_lossy(value)),
            },
            CallbackEvent::Comment { .. }
            | CallbackEvent::Doctype { .. }
            | CallbackEvent::Error(_) => {}
        }
    }

    fn attribute_name(&mut self, name: &[u8]) {
        self.attribute = match name {
            b"style" => Attribute::Style,
            b"href" => Attribute::Href,
            b"alt" => Attribute::Alt,
            b"class" => Attribute::Class,
            b"name" => Attribute::Name,
            b"width" | b"height" => Attribute::Size,
            _ => Attribute::Other,
        };
        self.tag.hidden |= name == b"hidden";
    }

    fn attribute_value(&mut self, value: &str) {
        match self.attribute {
            Attribute::Style => self.tag.style = style::read(value),
            Attribute::Href => self.tag.href = value.trim().to_owned(),
            Attribute::Alt => self.tag.alt = value.to_owned(),
            Attribute::Class => {
                self.tag.tight = value
                    .split_ascii_whitespace()
                    .any(|class| class.trim_start_matches("x_").starts_with("Mso"));
            }
            Attribute::Name => self.tag.quote = value == "quote",
            Attribute::Size => self.tag.tiny |= matches!(value.trim(), "0" | "1" | "0px" | "1px"),
            Attribute::Other => {}
        }
    }

    fn hides(&self) -> bool {
        !self.show_hidden && self.open.hides()
    }

    fn start(&mut self) {
        let tag = std::mem::take(&mut self.tag);
        let kind = Kind::of(&tag.name);
        self.fresh_pre = false;
        if kind == Kind::Void {
            self.void(&tag);
        } else {
            if let Some(at) = self.open.ended_by_start(kind) {
                self.pop_to(at);
            }
            self.open_element(&tag, kind);
        }
        // Its memory serves the next tag.
        self.tag.name = tag.name;
    }

    fn open_element(&mut self, tag: &Tag, kind: Kind) {
        let mut element = Element::new(&tag.name, kind, self.open.top());
        element.hidden =
            kind == Kind::Dropped || (!self.show_hidden && (tag.hidden || tag.style.hidden));
        element.sizeless = tag.style.sizeless.unwrap_or(element.sizeless);
        element.invisible = tag.style.invisible.unwrap_or(element.invisible);
        element.preformatted = (kind == Kind::Preformatted || element.preformatted)
            && tag.style.preformatted.unwrap_or(true)
            || tag.style.preformatted == Some(true);
        element.quote =
            kind == Kind::Quote || (kind == Kind::Block && (tag.quote || tag.style.quote_bar));
        if kind == Kind::Paragraph && (tag.tight || tag.style.tight) {
            element.breaks = 1;
        }
        if kind == Kind::Block && tag.style.ruled {
            element.breaks = 2;
        }
        self.fresh_pre = kind == Kind::Preformatted;
        if !self.hides() {
            self.writer.break_lines(element.breaks);
        }
        self.open.push(element);
        self.writer.level = self.open.quotes();
        if self.open.hides() && kind != Kind::Dropped {
            self.concealed = true;
        }
        if self.hides() || element.hidden {
            return;
        }
        match kind {
            Kind::Item => self.writer.item(),
            Kind::Cell => self.writer.cell(),
            Kind::Anchor => {
                self.end_anchor();
                if link::is_web(&tag.href) {
                    self.anchor = Some((tag.href.clone(), self.writer.len()));
                }
            }
            _ => {}
        }
    }

    fn void(&mut self, tag: &Tag) {
        if matches!(tag.name.as_slice(), b"hr")
            && let Some(at) = self.open.ended_by_start(Kind::Block)
        {
            self.pop_to(at);
        }
        if self.hides() {
            return;
        }
        match tag.name.as_slice() {
            b"br" => self.writer.add_break(),
            b"hr" if !tag.style.hidden => {
                self.writer.break_lines(1);
                self.writer.folded("-----");
                self.writer.break_lines(1);
            }
            b"img" => {
                let alt = tag.alt.trim();
                let shown = !tag.tiny && !tag.hidden && !tag.style.hidden;
                let says = !alt.starts_with("cid:")
                    && !alt.starts_with("data:")
                    && !alt.eq_ignore_ascii_case("spacer");
                if shown && says {
                    self.writer.folded(alt);
                }
            }
            b"area" if link::is_web(&tag.href) => self.links.push(tag.href.clone()),
            _ => {}
        }
    }

    fn end(&mut self, name: &[u8]) {
        self.fresh_pre = false;
        let kind = Kind::of(name);
        if kind == Kind::Void {
            if name == b"br" && !self.hides() {
                self.writer.add_break();
            }
            return;
        }
        match self.open.ended_by_end(name, kind) {
            Some(at) => self.pop_to(at),
            None if kind == Kind::Anchor => self.end_anchor(),
            // The end of a paragraph that was never begun is an empty paragraph.
            None if name == b"p" && !self.hides() => self.writer.break_lines(kind.breaks()),
            None => {}
        }
        self.writer.level = self.open.quotes();
    }

    /// Ends all elements from this place on.
    fn pop_to(&mut self, at: usize) {
        while self.open.len() > at {
            let Some(element) = self.open.pop() else {
                break;
            };
            if element.kind == Kind::Anchor {
                self.end_anchor();
            }
            if !self.hides() && !element.hidden {
                self.writer.break_lines(element.breaks);
            }
        }
        self.writer.level = self.open.quotes();
    }

    /// Notes the target of the open link, unless its text is that target.
    fn end_anchor(&mut self) {
        if let Some((url, start)) = self.anchor.take()
            && !link::spells_out(self.writer.since(start), &url)
        {
            self.links.push(url);
        }
    }

    fn text(&mut self, text: &str) {
        let fresh = std::mem::take(&mut self.fresh_pre);
        if self.hides() {
            return;
        }
        if self.open.top().is_some_and(|top| top.preformatted) {
            let text = if fresh {
                text.strip_prefix('\n').unwrap_or(text)
            } else {
                text
            };
            self.writer.preformatted(text);
        } else {
            self.writer.folded(text);
        }
    }
}
