//! Pictures that say it at a glance, drawn on the server. Colours come from the style sheet, so that they follow light and dark; what a
//! picture says stands in a table beside it as well.

mod bar;
mod timeline;
mod treemap;

pub(crate) use bar::bar;
pub(crate) use timeline::{Year, timeline};
pub(crate) use treemap::{Tile, treemap};

/// A length with as many digits as a screen can show.
fn px(length: f64) -> String {
    format!("{length:.1}")
}
