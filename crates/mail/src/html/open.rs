//! The elements that are open at a place of the page.
//!
//! Real pages close what they never opened and forget to close what they did. Every element knows
//! its place, and for every name the places where it is open are kept, so that an end tag finds its
//! element at once however many are open.

use foldhash::HashMap;
use xxhash_rust::xxh3::xxh3_64;

use super::elements::Kind;

/// An element that was opened.
#[derive(Clone, Copy)]
pub(super) struct Element {
    name: u64,
    pub(super) kind: Kind,
    /// It hides all inside it.
    pub(super) hidden: bool,
    /// It adds a level of quoting.
    pub(super) quote: bool,
    /// Line ends around it.
    pub(super) breaks: u32,
    /// Letters have no size inside it, as far as it or those around it say.
    pub(super) sizeless: bool,
    /// Letters are not drawn.
    pub(super) invisible: bool,
    /// Line ends stay.
    pub(super) preformatted: bool,
    /// Its end tag came while elements inside it stayed open.
    closed: bool,
}

impl Element {
    /// An element inside another one (or none), which passes on how letters look.
    pub(super) fn new(name: &[u8], kind: Kind, parent: Option<&Element>) -> Self {
        Self {
            name: key(name),
            kind,
            hidden: false,
            quote: false,
            breaks: kind.breaks(),
            sizeless: parent.is_some_and(|p| p.sizeless),
            invisible: parent.is_some_and(|p| p.invisible),
            preformatted: parent.is_some_and(|p| p.preformatted),
            closed: false,
        }
    }
}

/// The open elements, outermost first.
#[derive(Default)]
pub(super) struct Open {
    elements: Vec<Element>,
    by_name: HashMap<u64, Vec<usize>>,
    blocks: Vec<usize>,
    walls: Vec<usize>,
    tables: Vec<usize>,
    lists: Vec<usize>,
    hidden: usize,
    quotes: usize,
}

impl Open {
    pub(super) fn top(&self) -> Option<&Element> {
        self.elements.last()
    }

    /// Whether nothing can be seen here.
    pub(super) fn hides(&self) -> bool {
        self.hidden > 0 || self.top().is_some_and(|top| top.sizeless || top.invisible)
    }

    /// How many quotes are open.
    pub(super) fn quotes(&self) -> usize {
        self.quotes
    }

    pub(super) fn push(&mut self, element: Element) {
        let at = self.elements.len();
        self.by_name.entry(element.name).or_default().push(at);
        for (holds, list) in [
            (element.kind.is_block(), &mut self.blocks),
            (element.kind.is_wall(), &mut self.walls),
            (element.kind == Kind::Table, &mut self.tables),
            (element.kind == Kind::List, &mut self.lists),
        ] {
            if holds {
                list.push(at);
            }
        }
        self.hidden += usize::from(element.hidden);
        self.quotes += usize::from(element.quote);
        self.elements.push(element);
    }

    /// Which elements the start of this one ends without an end tag: all from this place on.
    pub(super) fn ended_by_start(&self, kind: Kind) -> Option<usize> {
        let above = |at: Option<usize>, wall: &[usize]| {
            at.filter(|at| wall.last().is_none_or(|wall| wall < at))
        };
        match kind {
            Kind::Item => above(self.last(b"li"), &self.lists),
            Kind::Definition => above(self.last(b"dt").max(self.last(b"dd")), &self.lists),
            Kind::Cell => above(self.last(b"td").max(self.last(b"th")), &self.tables),
            Kind::Row | Kind::Section => {
                let row = above(self.last(b"tr"), &self.tables);
                row.or_else(|| above(self.last(b"td").max(self.last(b"th")), &self.tables))
            }
            kind if kind.ends_paragraph() => above(self.last(b"p"), &self.walls),
            _ => None,
        }
    }

    /// Which elements an end tag ends: all from this place on.
    pub(super) fn ended_by_end(&mut self, name: &[u8], kind: Kind) -> Option<usize> {
        let at = self.last(name)?;
        let wall = match kind {
            Kind::Table => None,
            Kind::Cell | Kind::Row | Kind::Section => self.tables.last(),
            Kind::Inline | Kind::Anchor | Kind::Dropped => self.blocks.last(),
            _ => self.walls.last(),
        };
        if wall.is_none_or(|wall| *wall <= at) {
            return Some(at);
        }
        if !kind.is_block() {
            self.close_in_place(at);
        }
        None
    }

    /// Ends a part of a line although a block inside it is still open.
    fn close_in_place(&mut self, at: usize) {
        let Some(element) = self.elements.get_mut(at) else {
            return;
        };
        element.closed = true;
        self.hidden -= usize::from(element.hidden);
        self.quotes -= usize::from(element.quote);
        if let Some(places) = self.by_name.get_mut(&element.name) {
            places.pop();
        }
    }

    /// Takes off the innermost element.
    pub(super) fn pop(&mut self) -> Option<Element> {
        let element = self.elements.pop()?;
        let at = self.elements.len();
        for list in [
            &mut self.blocks,
            &mut self.walls,
            &mut self.tables,
            &mut self.lists,
        ] {
            list.pop_if(|place| *place == at);
        }
        if !element.closed {
            if let Some(places) = self.by_name.get_mut(&element.name) {
                places.pop();
            }
            self.hidden -= usize::from(element.hidden);
            self.quotes -= usize::from(element.quote);
        }
        Some(element)
    }

    /// How many elements are open.
    pub(super) fn len(&self) -> usize {
        self.elements.len()
    }

    fn last(&self, name: &[u8]) -> Option<usize> {
        self.by_name
            .get(&key(name))
            .and_then(|places| places.last())
            .copied()
    }
}

fn key(name: &[u8]) -> u64 {
    xxh3_64(name)
}
