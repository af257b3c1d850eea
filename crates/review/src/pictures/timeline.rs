//! A column for each year.

use maud::{Markup, html};

use super::px;
use crate::plain::units::grouped;

const WIDTH: f64 = 1000.0;
const HEIGHT: f64 = 170.0;
const FOOT: f64 = 22.0;
const HEAD: f64 = 18.0;
/// More columns than this would be lines; then only the latest are drawn.
const MOST: usize = 60;

/// A year, or what has none.
#[derive(Clone, Debug)]
pub(crate) struct Year {
    pub(crate) name: String,
    pub(crate) messages: u64,
    pub(crate) going: u64,
    /// Where its messages are listed.
    pub(crate) address: Option<String>,
}

/// Draws the years, each column with what goes at its foot.
pub(crate) fn timeline(years: &[Year]) -> Markup {
    let years = &years[years.len().saturating_sub(MOST)..];
    let most = years.iter().map(|y| y.messages).max().unwrap_or(0);
    if most == 0 {
        return html! {};
    }
    let step = WIDTH / years.len() as f64;
    let width = (step * 0.8).min(90.0);
    let room = HEIGHT - FOOT - HEAD;
    let high = |count: u64| room * count as f64 / most as f64;
    // Names of neighbouring years must not run into each other.
    let every = (40.0 / step).ceil().max(1.0) as usize;
    html! {
        svg.picture.timeline viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label="Messages by year; the table below has the numbers" {
            @for (n, year) in years.iter().enumerate() {
                @let middle = step * (n as f64 + 0.5);
                @let x = middle - width / 2.0;
                @let foot = HEIGHT - FOOT;
                g {
                    title { (year.name) ": " (grouped(year.messages)) " messages, " (grouped(year.going)) " to go" }
                    rect.stays x=(px(x)) y=(px(foot - high(year.messages))) width=(px(width)) height=(px(high(year.messages - year.going))) {}
                    rect.goes x=(px(x)) y=(px(foot - high(year.going))) width=(px(width)) height=(px(high(year.going))) {}
                    @if step >= 40.0 {
                        text.on-top x=(px(middle)) y=(px(foot - high(year.messages) - 5.0)) text-anchor="middle" { (grouped(year.messages)) }
                    }
                    @if n % every == 0 {
                        text.below x=(px(middle)) y=(px(HEIGHT - 5.0)) text-anchor="middle" { (year.name) }
                    }
                }
            }
        }
        p.key { span.swatch.stays aria-hidden="true" {} "stays " span.swatch.goes aria-hidden="true" {} "can go" }
    }
}
