//! What an element does to the lines of a page.

/// The sorts of elements that matter here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Has no content and no end tag.
    Void,
    /// Part of a line; also every element that is not known.
    Inline,
    Anchor,
    /// Stands on lines of its own.
    Block,
    /// Stands on lines of its own, with a blank line around it.
    Paragraph,
    Quote,
    List,
    Item,
    /// A term or its explanation.
    Definition,
    Table,
    /// The head, body or foot of a table.
    Section,
    Row,
    Cell,
    Preformatted,
    /// Never seen by a reader.
    Dropped,
}

impl Kind {
    /// The sort of an element by its lower-case name.
    pub(super) fn of(name: &[u8]) -> Self {
        match name {
            b"area" | b"base" | b"basefont" | b"bgsound" | b"br" | b"col" | b"embed" | b"frame"
            | b"hr" | b"img" | b"input" | b"keygen" | b"link" | b"meta" | b"param" | b"source"
            | b"track" | b"wbr" => Self::Void,
            b"a" => Self::Anchor,
            b"p" | b"h1" | b"h2" | b"h3" | b"h4" | b"h5" | b"h6" => Self::Paragraph,
            b"div" | b"body" | b"html" | b"center" | b"address" | b"article" | b"aside"
            | b"details" | b"dialog" | b"fieldset" | b"figcaption" | b"figure" | b"footer"
            | b"form" | b"header" | b"hgroup" | b"legend" | b"main" | b"nav" | b"section"
            | b"summary" | b"option" | b"optgroup" | b"caption" | b"search" => Self::Block,
            b"blockquote" => Self::Quote,
            b"ul" | b"ol" | b"menu" | b"dir" | b"dl" => Self::List,
            b"li" => Self::Item,
            b"dt" | b"dd" => Self::Definition,
            b"table" => Self::Table,
            b"thead" | b"tbody" | b"tfoot" => Self::Section,
            b"tr" => Self::Row,
            b"td" | b"th" => Self::Cell,
            b"pre" | b"listing" | b"xmp" | b"plaintext" | b"textarea" => Self::Preformatted,
            b"script" | b"style" | b"title" | b"template" | b"noscript" | b"iframe"
            | b"noembed" | b"noframes" | b"datalist" => Self::Dropped,
            _ => Self::Inline,
        }
    }

    /// How many line ends stand around it at least.
    pub(super) fn breaks(self) -> u32 {
        match self {
            Self::Void | Self::Inline | Self::Anchor | Self::Dropped | Self::Cell => 0,
            Self::Paragraph => 2,
            _ => 1,
        }
    }

    /// Whether it ends an open paragraph.
    pub(super) fn ends_paragraph(self) -> bool {
        !matches!(
            self,
            Self::Void
                | Self::Inline
                | Self::Anchor
                | Self::Dropped
                | Self::Section
                | Self::Row
                | Self::Cell
        )
    }

    /// Whether end tags of parts of lines stop at it.
    pub(super) fn is_block(self) -> bool {
        self.breaks() > 0 || self == Self::Cell
    }

    /// Whether no end tag of another sort reaches beyond it.
    pub(super) fn is_wall(self) -> bool {
        matches!(self, Self::Table | Self::Cell)
    }
}
