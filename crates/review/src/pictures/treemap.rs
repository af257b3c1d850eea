//! Folders as boxes as large as what is in them.
//!
//! Squarified, after Bruls, Huizing and van Wijk (2000): boxes are laid in rows along the shorter side of what is left, and a row takes
//! boxes as long as that makes its worst box more like a square.

use maud::{Markup, html};

use super::px;
use crate::plain::escape::{visible, visible_path};
use crate::plain::units::{percent, size};

const WIDTH: f64 = 600.0;
const HEIGHT: f64 = 300.0;
/// How many folders have a box of their own.
const MOST: usize = 60;

/// A folder.
#[derive(Clone, Debug)]
pub(crate) struct Tile<'t> {
    pub(crate) name: &'t str,
    pub(crate) bytes: u64,
    /// Which part of it goes, 0 to 1.
    pub(crate) share: f64,
    pub(crate) address: String,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Area {
    x: f64,
    y: f64,
    width: f64,
    height: f64,
}

/// Draws the folders, the largest first.
pub(crate) fn treemap(mut tiles: Vec<Tile<'_>>) -> Markup {
    tiles.retain(|tile| tile.bytes > 0);
    tiles.sort_by(|a, b| b.bytes.cmp(&a.bytes).then(a.name.cmp(b.name)));
    tiles.truncate(MOST);
    if tiles.is_empty() {
        return html! {};
    }
    let sizes: Vec<f64> = tiles.iter().map(|tile| tile.bytes as f64).collect();
    let whole = Area {
        x: 0.0,
        y: 0.0,
        width: WIDTH,
        height: HEIGHT,
    };
    let areas = squarified(&sizes, whole);
    html! {
        svg.picture.treemap viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="group" aria-label="Folders by size; the table below has the numbers" {
            @for (tile, area) in tiles.iter().zip(areas) {
                @let goes = area.height * tile.share;
                a href=(tile.address) aria-label=(format!("{}, {}, {} to go", visible_path(tile.name), size(tile.bytes), going(tile))) {
                    title { (visible_path(tile.name)) ": " (size(tile.bytes)) ", " (going(tile)) " to go" }
                    rect.stays x=(px(area.x)) y=(px(area.y)) width=(px(area.width)) height=(px(area.height)) {}
                    rect.goes x=(px(area.x)) y=(px(area.y + area.height - goes)) width=(px(area.width)) height=(px(goes)) {}
                    rect.edge x=(px(area.x)) y=(px(area.y)) width=(px(area.width)) height=(px(area.height)) {}
                    @if area.width > 70.0 && area.height > 30.0 {
                        text x=(px(area.x + 8.0)) y=(px(area.y + 19.0)) { (last_part(tile.name, area.width)) }
                        @if area.height > 48.0 {
                            text.small x=(px(area.x + 8.0)) y=(px(area.y + 36.0)) { (size(tile.bytes)) }
                        }
                    }
                }
            }
        }
    }
}

fn going(tile: &Tile<'_>) -> String {
    percent((tile.share * tile.bytes as f64).round() as u64, tile.bytes)
}

/// The last part of a path, as much of it as fits.
fn last_part(name: &str, width: f64) -> String {
    let last = name.rsplit('/').next().unwrap_or(name);
    visible(last, ((width - 16.0) / 7.8).max(1.0) as usize)
}

/// Areas in proportion to the sizes, which fall.
fn squarified(sizes: &[f64], whole: Area) -> Vec<Area> {
    let total: f64 = sizes.iter().sum();
    let scale = whole.width * whole.height / total;
    let mut areas = Vec::with_capacity(sizes.len());
    let (mut left, mut rest) = (whole, sizes);
    while !rest.is_empty() {
        let side = left.width.min(left.height).max(f64::EPSILON);
        let worst = |count: usize| {
            let row: f64 = rest[..count].iter().sum::<f64>() * scale;
            let (large, small) = (rest[0] * scale, rest[count - 1] * scale);
            (side * side * large / (row * row)).max(row * row / (side * side * small))
        };
        let mut count = 1;
        while count < rest.len() && worst(count + 1) <= worst(count) {
            count += 1;
        }
        let row: f64 = rest[..count].iter().sum::<f64>() * scale;
        let thick = row / side;
        let mut at = 0.0;
        for size in &rest[..count] {
            let long = size * scale / thick;
            areas.push(if left.width >= left.height {
                Area {
                    x: left.x,
                    y: left.y + at,
                    width: thick,
                    height: long,
                }
            } else {
                Area {
                    x: left.x + at,
                    y: left.y,
                    width: long,
                    height: thick,
                }
            });
            at += long;
        }
        if left.width >= left.height {
            left.x += thick;
            left.width = (left.width - thick).max(0.0);
        } else {
            left.y += thick;
            left.height = (left.height - thick).max(0.0);
        }
        rest = &rest[count..];
    }
    areas
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn areas_fill_the_whole_in_proportion() {
        // The example of the paper.
        let sizes = [6.0, 6.0, 4.0, 3.0, 2.0, 2.0, 1.0];
        let whole = Area {
            x: 0.0,
            y: 0.0,
            width: 6.0,
            height: 4.0,
        };
        let areas = squarified(&sizes, whole);
        for (area, size) in areas.iter().zip(sizes) {
            assert!((area.width * area.height - size).abs() < 1e-9);
            let inside = area.x >= -1e-9 && area.x + area.width <= 6.0 + 1e-9;
            assert!(inside && area.y >= -1e-9 && area.y + area.height <= 4.0 + 1e-9);
        }
        assert_eq!((areas[0].width, areas[0].height), (3.0, 2.0));
    }
}
