//! What is told once.

use maud::{Markup, html};

use super::{View, subject};
use crate::plain::escape::{MESSAGE, PASSAGE, visible, visible_path};
use crate::plain::units::{counted, size};
use crate::routes::not_asked;
use crate::session::Notice;

/// How many messages that stay are told one by one.
const STAYING: usize = 20;

pub(super) fn notices(view: &View<'_>) -> Markup {
    html! { @for notice in view.notices { (one(view, notice)) } }
}

fn one(view: &View<'_>, notice: &Notice) -> Markup {
    match notice {
        Notice::Done(text) => html! { div.notice.done role="status" { p { (text) } } },
        Notice::Wrong(told) => html! {
            div.notice.wrong role="alert" {
                p { strong { (visible(&told.what, MESSAGE)) } }
                p { (visible(&told.next, MESSAGE)) }
            }
        },
        Notice::Refused(refusal, more, unasked) => {
            let name = |m: u32| {
                let found = view.desk.message(m);
                found.map(|m| subject(&m.subject)).unwrap_or_default()
            };
            let (chosen, lost) = (refusal.chosen, &refusal.lost);
            html! {
                div.notice.refused role="alert" {
                    p { strong { "Not let go: content would be lost." } }
                    p {
                        bdi { a href=(view.place.at(&format!("message/{chosen}"))) { (name(chosen)) } }
                        @if lost.message == chosen {
                            " stays: "
                        } @else {
                            " stays, because "
                            bdi { a href=(view.place.at(&format!("message/{}", lost.message))) { (name(lost.message)) } }
                            " goes and rests on it: "
                        }
                        (visible(&lost.why, MESSAGE)) "."
                    }
                    @for passage in &lost.passages {
                        blockquote.lost dir="auto" { (visible(passage, PASSAGE)) }
                    }
                    @if *more > 0 {
                        p { (counted(*more as u64, "more message stays", "more messages stay")) " for the like reason." }
                    }
                    @if *unasked > 0 {
                        p { (not_asked(*unasked)) }
                    }
                }
            }
        }
        Notice::Outcome(outcome, undone) => {
            let messages = counted(outcome.done, "message", "messages");
            html! {
                div.notice.done role="status" {
                    p {
                        strong {
                            (messages) " (" (size(outcome.bytes)) ") "
                            @if outcome.done == 1 { "was " } @else { "were " }
                            @if *undone { "put back" } @else { "moved to the trash" }
                            "."
                        }
                        @if !undone && outcome.done > 0 { " Undo brings back run " (outcome.run) " below." }
                    }
                    @if !outcome.stayed.is_empty() {
                        p { (counted(outcome.stayed.len() as u64, "message stays", "messages stay")) " as before:" }
                        ul {
                            @for (place, told) in outcome.stayed.iter().take(STAYING) {
                                li { bdi { (visible_path(place)) } ": " (visible(&told.what, MESSAGE)) "; " (visible(&told.next, MESSAGE)) }
                            }
                            @if outcome.stayed.len() > STAYING { li { "and more; twicetold history tells of this run" } }
                        }
                    }
                    @for line in &outcome.told { p { (visible(line, MESSAGE)) } }
                }
            }
        }
    }
}
