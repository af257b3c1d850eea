//! The text of a message, with its passages marked. Text only: whatever a message contains, it is shown as letters.

use std::ops::Range;

use maud::{Markup, PreEscaped, html};
use twicetold_detect::ShownText;
use twicetold_model::SegmentKind;

/// A marked stretch of a text.
#[derive(Clone, Debug)]
pub(super) struct Mark {
    pub(super) range: Range<u32>,
    pub(super) class: String,
    /// What is said of it: its name, its own place on the page, and the place of its counterpart.
    pub(super) tags: Vec<Tag>,
}

/// A label at a mark, by which one gets to the other side.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) id: String,
    pub(super) label: String,
    pub(super) to: Option<String>,
    /// What a screen reader says.
    pub(super) told: String,
}

/// A word that is marked inside a stretch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Spot {
    pub(super) range: Range<u32>,
    pub(super) changed: bool,
    pub(super) fact: bool,
}

/// Facts and changed words, each word once, in order.
pub(super) fn spots(facts: &[Range<u32>], changed: impl Iterator<Item = Range<u32>>) -> Vec<Spot> {
    let mut all: Vec<(Range<u32>, bool)> = facts.iter().map(|r| (r.clone(), false)).collect();
    all.extend(changed.map(|r| (r, true)));
    all.sort_by_key(|(r, changed)| (r.start, r.end, *changed));
    let mut spots: Vec<Spot> = Vec::new();
    for (range, changed) in all {
        match spots.last_mut() {
            Some(last) if last.range == range => {
                last.changed |= changed;
                last.fact |= !changed;
            }
            Some(last) if range.start < last.range.end => {}
            _ => spots.push(Spot {
                range,
                changed,
                fact: !changed,
            }),
        }
    }
    spots
}

/// Marks in the order of the text; one that lies across an earlier one gives its tags to that.
pub(super) fn tidy(mut marks: Vec<Mark>) -> Vec<Mark> {
    marks.sort_by_key(|m| (m.range.start, m.range.end));
    let mut kept: Vec<Mark> = Vec::new();
    for mark in marks {
        match kept.last_mut() {
            Some(last) if mark.range.start < last.range.end => last.tags.extend(mark.tags),
            _ => kept.push(mark),
        }
    }
    kept
}

/// Draws a text. Marks and spots are in order and do not overlap.
pub(super) fn draw(text: &ShownText, marks: &[Mark], spots: &[Spot]) -> Markup {
    let mut out = String::with_capacity(text.text.len() * 2);
    let mut at = 0;
    for mark in marks {
        plain(text, at..mark.range.start, spots, &mut out);
        let inner = {
            let mut inner = String::new();
            stretch(text, mark.range.clone(), spots, &mut inner);
            inner
        };
        let drawn = html! {
            mark class=(mark.class) {
                @for tag in &mark.tags {
                    @match &tag.to {
                        Some(to) => a.tag id=(tag.id) href=(format!("#{to}")) data-pair=(to) aria-label=(tag.told) { (tag.label) },
                        None => span.tag id=(tag.id) aria-label=(tag.told) { (tag.label) },
                    }
                }
                (PreEscaped(inner))
            }
        };
        out.push_str(&drawn.into_string());
        at = mark.range.end;
    }
    plain(text, at..text.text.len() as u32, spots, &mut out);
    html! {
        pre.mail dir="auto" tabindex="0" { (PreEscaped(out)) }
        @if text.cut { p.quiet { "The text goes on; this page shows the beginning of it." } }
    }
}

/// Text without a mark; what is packaging is dimmed.
fn plain(text: &ShownText, range: Range<u32>, spots: &[Spot], out: &mut String) {
    let mut at = range.start;
    for segment in &text.segments {
        let (start, end) = (segment.start.max(at), segment.end.min(range.end));
        if start >= end {
            continue;
        }
        stretch(text, at..start, spots, out);
        let dim = match segment.kind {
            SegmentKind::Own | SegmentKind::Quoted => None,
            SegmentKind::Attribution => Some("who wrote what follows"),
            SegmentKind::Greeting => Some("greeting"),
            SegmentKind::Closing => Some("closing"),
            SegmentKind::Signature => Some("signature"),
            SegmentKind::Boilerplate => Some("footer or disclaimer"),
        };
        match dim {
            None => stretch(text, start..end, spots, out),
            Some(what) => {
                let mut inner = String::new();
                stretch(text, start..end, spots, &mut inner);
                let drawn = html! { span.dim title=(what) { (PreEscaped(inner)) } };
                out.push_str(&drawn.into_string());
            }
        }
        at = end;
    }
    stretch(text, at..range.end, spots, out);
}

/// Letters, with the words among them that are marked.
fn stretch(text: &ShownText, range: Range<u32>, spots: &[Spot], out: &mut String) {
    let slice = |r: Range<u32>| {
        text.text
            .get(r.start as usize..r.end as usize)
            .unwrap_or_default()
    };
    let first = spots.partition_point(|s| s.range.start < range.start);
    let mut at = range.start;
    for spot in &spots[first..] {
        if spot.range.end > range.end {
            break;
        }
        let class = match (spot.changed, spot.fact) {
            (true, true) => "changed fact",
            (true, false) => "changed",
            _ => "fact",
        };
        let drawn = html! {
            (slice(at..spot.range.start))
            @if spot.changed { em class=(class) title="differs" { (slice(spot.range.clone())) } }
            @else { b class=(class) { (slice(spot.range.clone())) } }
        };
        out.push_str(&drawn.into_string());
        at = spot.range.end;
    }
    if at < range.end {
        out.push_str(&html! { (slice(at..range.end)) }.into_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(words: &str) -> ShownText {
        ShownText {
            text: words.to_owned(),
            ..ShownText::default()
        }
    }

    #[test]
    fn everything_is_drawn_once_and_escaped() {
        let words = "Dear <b>all</b>, pay 5 & \"go\" on";
        let at = |part: &str| {
            let start = words.find(part).unwrap() as u32;
            start..start + part.len() as u32
        };
        let marks = tidy(vec![
            Mark {
                range: at("pay 5 &"),
                class: "held w0".to_owned(),
                tags: vec![Tag {
                    id: "h0".to_owned(),
                    label: "A1".to_owned(),
                    to: Some("t0".to_owned()),
                    told: "A1".to_owned(),
                }],
            },
            Mark {
                range: at("5 &"),
                class: "held w1".to_owned(),
                tags: Vec::new(),
            },
        ]);
        assert_eq!(marks.len(), 1);
        let drawn = draw(
            &text(words),
            &marks,
            &spots(&[at("5")], [at("go")].into_iter()),
        );
        let drawn = drawn.into_string();
        assert!(
            drawn.contains("Dear &lt;b&gt;all&lt;/b&gt;, <mark class=\"held w0\">"),
            "{drawn}"
        );
        assert!(
            drawn.contains("pay <b class=\"fact\">5</b> &amp;</mark>"),
            "{drawn}"
        );
        assert!(
            drawn.contains("<em class=\"changed\" title=\"differs\">go</em>"),
            "{drawn}"
        );
        assert!(!drawn.contains("<b>"), "{drawn}");
    }

    #[test]
    fn a_word_is_marked_once() {
        assert_eq!(
            spots(&[3..5, 8..9], [3..5, 4..6].into_iter()),
            [
                Spot {
                    range: 3..5,
                    changed: true,
                    fact: true
                },
                Spot {
                    range: 8..9,
                    changed: false,
                    fact: true
                }
            ]
        );
    }
}
