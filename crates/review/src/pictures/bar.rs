//! One bar, a part for each category.

use maud::{Markup, html};

use super::px;
use crate::plain::units::{grouped, percent};

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 44.0;
/// Parts narrower than this have no room for a number.
const ROOM: f64 = 34.0;

/// Draws the parts, each a name and a count, in their order.
pub(crate) fn bar(parts: &[(&str, u64)]) -> Markup {
    let all: u64 = parts.iter().map(|(_, count)| count).sum();
    if all == 0 {
        return html! {};
    }
    let mut left = 0.0;
    let drawn: Vec<(f64, f64, &str, u64)> = parts
        .iter()
        .map(|&(name, count)| {
            let width = WIDTH * count as f64 / all as f64;
            left += width;
            (left - width, width, name, count)
        })
        .collect();
    let told: Vec<String> = parts
        .iter()
        .map(|(name, count)| format!("{name} {} ({})", grouped(*count), percent(*count, all)))
        .collect();
    html! {
        svg.picture.shares viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(format!("Messages by category: {}", told.join(", "))) {
            @for (x, width, name, count) in drawn {
                g {
                    title { (name) ": " (grouped(count)) " (" (percent(count, all)) ")" }
                    rect class=(format!("part fill-{name}")) x=(px(x)) y="0" width=(px(width)) height=(px(HEIGHT)) {}
                    @if width >= ROOM {
                        text.in-part x=(px(x + width / 2.0)) y=(px(HEIGHT / 2.0 + 5.0)) text-anchor="middle" { (grouped(count)) }
                    }
                }
            }
        }
    }
}
