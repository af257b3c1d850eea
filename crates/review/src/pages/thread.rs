//! A conversation as a tree: who answers whom, who holds whom, what has to be read.

use maud::{Markup, html};
use twicetold_detect::{Turn, conversation};

use super::list::toggle;
use super::{View, sender, subject};
use crate::http::Response;
use crate::plain::units::{counted, grouped, moment_for_people, size};

/// How many messages of a conversation are shown.
const MOST: usize = 500;
/// Answers deeper than this are drawn no further to the right.
const DEEPEST: u32 = 12;
/// How many messages are named where one holds others.
const NAMED: usize = 5;

pub(crate) fn thread(view: &View<'_>, number: u32) -> Response {
    let desk = view.desk;
    let members = match desk.catalogue.thread(number) {
        [] => std::slice::from_ref(&number),
        members => members,
    };
    let shown = &members[..members.len().min(MOST)];
    let turns = conversation(&desk.scanned.collection, &desk.scanned.scan, shown);
    let going = members.iter().filter(|&&m| desk.choices.goes(m)).count() as u64;
    let title = turns.first().and_then(|t| desk.message(t.message));
    let title = title.map(|m| subject(&m.subject)).unwrap_or_default();
    let staying = members.len() as u64 - going;
    let body = html! {
        nav.way aria-label="Way back" {
            a data-key="g" href=(view.place.at(&format!("message/{number}"))) { "Back to the message" }
        }
        h1 { bdi { (title) } }
        p.lead {
            (counted(members.len() as u64, "message", "messages")) " in this conversation. To know everything that was said in it, read "
            strong { (grouped(staying)) } "; " (grouped(going)) " can go."
        }
        @if members.len() > MOST { p.quiet { "The first " (MOST) " are shown." } }
        (tree(view, &turns, number))
    };
    view.page(&title, "messages", &body)
}

fn tree(view: &View<'_>, turns: &[Turn], number: u32) -> Markup {
    let desk = view.desk;
    let place = |m: u32| turns.iter().position(|t| t.message == m);
    let name = |m: u32| match place(m) {
        Some(n) => format!("#{}", n + 1),
        None => "another conversation".to_owned(),
    };
    html! {
        ol.tree {
            @for (n, turn) in turns.iter().enumerate() {
                @if let Some(message) = desk.message(turn.message) {
                    @let m = turn.message;
                    @let basis = desk.choices.basis(&desk.scanned.scan, m);
                    @let holds: Vec<u32> = desk.choices.resting_on(m).collect();
                    li id=(format!("m{m}")) data-row class=(format!("depth-{} {}", turn.depth.min(DEEPEST), if basis.is_some() { "goes" } else { "stays" }))
                        aria-current=[(m == number).then_some("true")] {
                        span.turn { "#" (n + 1) }
                        div.what {
                            p {
                                bdi { strong { (sender(&message.from)) } }
                                " " span.quiet { (message.date.and_then(moment_for_people).unwrap_or_default()) " · " (size(message.bytes)) }
                                @if turn.depth > 0 { span.unseen { ", an answer at depth " (turn.depth) } }
                            }
                            p { bdi { a data-open href=(view.place.at(&format!("message/{m}"))) { (subject(&message.subject)) } } }
                            p {
                                @match &basis {
                                    Some(basis) => {
                                        span class=(format!("badge fill-{}", basis.category.name())) { (basis.category.name()) }
                                        " can go: held by "
                                        @for (i, w) in basis.witnesses.iter().take(NAMED).enumerate() {
                                            @if i > 0 { ", " }
                                            a href=(match place(w.message) { Some(_) => format!("#m{}", w.message), None => view.place.at(&format!("message/{}", w.message)) }) { (name(w.message)) }
                                        }
                                    }
                                    None => {
                                        span.badge.inclusive { "inclusive" }
                                        @if holds.is_empty() { " says something that no other message says" }
                                        @else {
                                            " holds "
                                            @for (i, &h) in holds.iter().take(NAMED).enumerate() {
                                                @if i > 0 { ", " }
                                                a href=(match place(h) { Some(_) => format!("#m{h}"), None => view.place.at(&format!("message/{h}")) }) { (name(h)) }
                                            }
                                            @if holds.len() > NAMED { " and " (grouped((holds.len() - NAMED) as u64)) " more" }
                                        }
                                    }
                                }
                            }
                        }
                        (toggle(view, &format!("thread/{number}"), m, basis.is_some()))
                    }
                }
            }
        }
    }
}
