//! A message beside the messages that hold what it says.

use maud::{Markup, html};
use twicetold_detect::{Aligned, ScannedMessage, ShownText, SideBySide, side_by_side};
use twicetold_model::{ResidueKind, Standing};

use super::list::toggle;
use super::text::{Mark, Tag, draw, spots, tidy};
use super::{Choose, View, sender, subject};
use crate::catalogue::Kind;
use crate::choices::Basis;
use crate::http::Response;
use crate::lists::{WISHES, Wish};
use crate::plain::escape::{MESSAGE, visible, visible_path};
use crate::plain::units::{counted, grouped, moment_for_people, size};
use crate::plain::words::leftover;

/// How many messages that rest on one are named.
const RESTING: usize = 20;

pub(crate) fn message(view: &View<'_>, number: u32) -> Response {
    let desk = view.desk;
    let Some(message) = desk.message(number) else {
        return super::not_found(view);
    };
    let scan = &desk.scanned.scan;
    let basis = desk.choices.basis(scan, number);
    let beside: Vec<u32> = match &basis {
        Some(basis) => basis.witnesses.iter().map(|w| w.message).collect(),
        None => message
            .verdict
            .witnesses
            .iter()
            .map(|w| w.message)
            .collect(),
    };
    let shown = side_by_side(&desk.scanned.collection, scan, number, &beside);
    let page = format!("message/{number}");
    let body = html! {
        (way(view, number))
        h1 { bdi { (subject(&message.subject)) } }
        (verdict(view, number, message, basis.as_ref()))
        div.actions {
            (toggle(view, &page, number, basis.is_some()))
            @if basis.is_some() {
                (view.choose(&page, Choose {
                    what: "survive",
                    message: Some(number),
                    label: html! { "Keep this one instead" },
                    key: Some("s"),
                    class: "plain",
                hint: None,
                }))
            }
            @if desk.choices.steps() > 0 {
                (view.choose(&page, Choose {
                    what: "back",
                    message: None,
                    label: html! { "Take back the last choice" },
                    key: Some("u"),
                    class: "plain",
                hint: None,
                }))
            }
            @if !desk.catalogue.thread(number).is_empty() {
                a.button.plain data-key="t" href=(view.place.at(&format!("thread/{number}"))) {
                    "Conversation (" (grouped(desk.catalogue.thread(number).len() as u64)) ")"
                }
            }
        }
        @for problem in &message.problems {
            p.quiet { "Problem: " (visible(&problem.what, MESSAGE)) }
        }
        @match &shown {
            Some(shown) => (columns(view, message, basis.as_ref(), shown)),
            None => p.notice.wrong { "The message can no longer be read as it was scanned. Scan again to see how things are now." },
        }
        (resting(view, number))
    };
    let title = subject(&message.subject);
    view.page(&title, "messages", &body)
}

/// The way to the messages before and after it in the list it was opened from.
fn way(view: &View<'_>, number: u32) -> Markup {
    let desk = view.desk;
    let wishes = view.query.only(&WISHES);
    let found = Wish::of(view.query).find(&desk.scanned.scan, &desk.catalogue, &desk.choices);
    let at = found.iter().position(|&m| m == number);
    let link = |m: u32| view.link(&format!("message/{m}"), &wishes);
    let before = at.and_then(|at| at.checked_sub(1)).map(|at| found[at]);
    let after = at.and_then(|at| found.get(at + 1)).copied();
    html! {
        nav.way aria-label="Neighbours in the list" {
            a data-key="g" href=(format!("{}#m{number}", view.link("messages", &wishes))) { "To the list" }
            @if let Some(m) = before { a rel="prev" data-key="k" href=(link(m)) { "Previous" } }
            @if let Some(m) = after { a rel="next" data-key="j" href=(link(m)) { "Next" } }
            @if let Some(at) = at { span.quiet { (grouped(at as u64 + 1)) " of " (grouped(found.len() as u64)) } }
        }
    }
}

fn verdict(
    view: &View<'_>,
    number: u32,
    message: &ScannedMessage,
    basis: Option<&Basis>,
) -> Markup {
    let kind = Kind::of(message.verdict.standing);
    let resting = view.desk.choices.resting_on(number).count() as u64;
    html! {
        p.lead {
            @match (basis, message.verdict.standing) {
                (Some(basis), _) => {
                    strong { "Goes. " }
                    span class=(format!("badge fill-{}", basis.category.name())) { (basis.category.name()) }
                    " Everything it says stands in "
                    @if basis.witnesses.len() == 1 { "the message beside it, which stays." }
                    @else { "the " (grouped(basis.witnesses.len() as u64)) " messages beside it, which stay." }
                }
                (None, Standing::Redundant(_)) => {
                    strong { "Stays, by your choice. " }
                    span class=(format!("badge fill-{}", kind.name())) { (kind.name()) }
                    " It says nothing new, and could go."
                }
                (None, Standing::Version) => {
                    strong { "Stays. " } span.badge.fill-version { "version" }
                    " It is nearly the same as the message beside it, but something differs."
                }
                (None, Standing::Unreadable) => {
                    strong { "Stays. " } span.badge.fill-unreadable { "unreadable" }
                    " What cannot be read is never removed."
                }
                (None, Standing::Unique) => {
                    strong { "Stays. " } span.badge.fill-unique { "unique" }
                    @if resting > 0 {
                        " " (counted(resting, "message that goes rests", "messages that go rest")) " on it."
                    } @else {
                        " It says something that no other message here says."
                    }
                }
            }
        }
    }
}

fn columns(
    view: &View<'_>,
    message: &ScannedMessage,
    basis: Option<&Basis>,
    shown: &SideBySide,
) -> Markup {
    let version = message.verdict.standing == Standing::Version && basis.is_none();
    let labels = labels(shown);
    let here = here_marks(&shown.passages, &labels);
    let there: Vec<Vec<Mark>> = (0..shown.witnesses.len())
        .map(|w| there_marks(&shown.passages, &labels, w, &shown.witnesses[w], version))
        .collect();
    let only_there = there.iter().flatten().any(|mark| mark.class == "only");
    let changed_here = shown
        .passages
        .iter()
        .flat_map(|p| p.changed_here.iter().cloned());
    html! {
        (key(shown, only_there))
        div class=(if shown.witnesses.is_empty() { "columns alone" } else { "columns" }) {
            article.column aria-label="The message" {
                (head(view, &shown.message, "The message", None))
                (draw(&shown.message, &here, &spots(&shown.message.facts, changed_here)))
                (attachments(shown))
            }
            @if !shown.witnesses.is_empty() {
                div.column {
                    @for (w, witness) in shown.witnesses.iter().enumerate() {
                        @let changed = shown.passages.iter()
                            .filter(|p| p.there.as_ref().is_some_and(|t| t.0 == w))
                            .flat_map(|p| p.changed_there.iter().cloned());
                        article aria-label=(format!("Witness {}", letter(w))) {
                            (head(view, witness, if version { "The other version" } else { "Holds it" }, Some(w)))
                            (draw(witness, &there[w], &spots(&witness.facts, changed)))
                        }
                    }
                }
            }
        }
    }
}

/// What the marks mean.
fn key(shown: &SideBySide, only_there: bool) -> Markup {
    let has = |want: &dyn Fn(&Aligned) -> bool| shown.passages.iter().any(want);
    html! {
        p.key aria-label="What the marks mean" {
            @for (w, _) in shown.witnesses.iter().enumerate() {
                mark class=(format!("held w{}", w % 8)) { span.tag { (letter(w)) } "stands in " (letter(w)) }
            }
            @if has(&|p| p.residue == Some(ResidueKind::Fact)) {
                mark.differs { span.tag { "≠" } "says something else there" }
            }
            @if has(&|p| p.residue == Some(ResidueKind::Content)) {
                mark.only { span.tag { "new" } "stands only here" }
            }
            @if only_there {
                mark.only { span.tag { "only" } "stands only there" }
            }
            @if has(&|p| !p.changed_here.is_empty() || !p.changed_there.is_empty()) {
                em.changed { "differs" }
            }
            b.fact { "a fact" }
            span.dim { "packaging" }
        }
    }
}

/// A witness's name on the page.
fn letter(witness: usize) -> String {
    let letter = char::from(b'A' + (witness % 26) as u8);
    match witness / 26 {
        0 => letter.to_string(),
        round => format!("{letter}{round}"),
    }
}

/// What each passage is called; packaging has no name.
fn labels(shown: &SideBySide) -> Vec<Option<String>> {
    let mut counts = std::collections::BTreeMap::new();
    let mut next = |name: String| {
        let count = counts.entry(name.clone()).or_insert(0_u32);
        *count += 1;
        Some(format!("{name}{count}"))
    };
    let content = |p: &Aligned| {
        let sentences = &shown.message.sentences;
        sentences
            .binary_search_by_key(&p.here.start, |s| s.start)
            .is_ok()
    };
    shown
        .passages
        .iter()
        .map(|p| match (&p.there, p.residue) {
            _ if !content(p) => None,
            (Some(_), Some(_)) => next("≠".to_owned()),
            (Some((w, _)), None) => next(letter(*w)),
            (None, Some(ResidueKind::Content | ResidueKind::Fact)) => Some("new".to_owned()),
            _ => None,
        })
        .collect()
}

fn here_marks(passages: &[Aligned], labels: &[Option<String>]) -> Vec<Mark> {
    let marks = passages
        .iter()
        .zip(labels)
        .enumerate()
        .map(|(n, (p, label))| {
            let tag = |told: String, to: Option<String>| Tag {
                id: format!("h{n}"),
                label: label.clone().unwrap_or_default(),
                to,
                told,
            };
            let name = label.as_deref().unwrap_or_default();
            let (class, tags) = match (&p.there, p.residue) {
                _ if label.is_none() => ("dim".to_owned(), Vec::new()),
                (Some(_), Some(_)) => {
                    let told = format!(
                        "Passage {name} says something else in the other message; go there"
                    );
                    ("differs".to_owned(), vec![tag(told, Some(format!("t{n}")))])
                }
                (Some((w, _)), None) => {
                    let told = format!("Passage {name} stands in {}; go there", letter(*w));
                    (
                        format!("held w{}", w % 8),
                        vec![tag(told, Some(format!("t{n}")))],
                    )
                }
                (None, Some(kind @ (ResidueKind::Content | ResidueKind::Fact))) => (
                    "only".to_owned(),
                    vec![tag(leftover(kind).to_owned(), None)],
                ),
                _ => ("dim".to_owned(), Vec::new()),
            };
            Mark {
                range: p.here.clone(),
                class,
                tags,
            }
        });
    tidy(marks.collect())
}

fn there_marks(
    passages: &[Aligned],
    labels: &[Option<String>],
    witness: usize,
    text: &ShownText,
    version: bool,
) -> Vec<Mark> {
    let mut marks: Vec<Mark> = Vec::new();
    for (n, (p, label)) in passages.iter().zip(labels).enumerate() {
        let held = p.there.as_ref().filter(|t| t.0 == witness);
        let (Some((w, range)), Some(name)) = (held, label.clone()) else {
            continue;
        };
        marks.push(Mark {
            range: range.clone(),
            class: match p.residue {
                Some(_) => "differs".to_owned(),
                None => format!("held w{}", w % 8),
            },
            tags: vec![Tag {
                id: format!("t{n}"),
                told: format!("Passage {name}; back to the message"),
                label: name,
                to: Some(format!("h{n}")),
            }],
        });
    }
    let mut marks = tidy(marks);
    if version {
        let free = |s: &&std::ops::Range<u32>| {
            let after = marks.partition_point(|m| m.range.end <= s.start);
            marks.get(after).is_none_or(|m| m.range.start >= s.end)
        };
        let only: Vec<Mark> = text
            .sentences
            .iter()
            .filter(free)
            .enumerate()
            .map(|(n, s)| Mark {
                range: s.clone(),
                class: "only".to_owned(),
                tags: vec![Tag {
                    id: format!("o{witness}-{n}"),
                    label: "only".to_owned(),
                    to: None,
                    told: "stands only in this version".to_owned(),
                }],
            })
            .collect();
        marks.extend(only);
        marks = tidy(marks);
    }
    marks
}

/// Who wrote it, when, and where it is.
fn head(view: &View<'_>, text: &ShownText, what: &str, witness: Option<usize>) -> Markup {
    let Some(message) = view.desk.message(text.message) else {
        return html! {};
    };
    let link = view.place.at(&format!("message/{}", text.message));
    html! {
        header class=(witness.map_or_else(|| "head".to_owned(), |w| format!("head w{}", w % 8))) {
            h2 {
                @if let Some(w) = witness { span.letter { (letter(w)) } " " }
                (what)
                @if witness.is_some() { ": " bdi { a href=(link) { (subject(&message.subject)) } } }
            }
            dl {
                dt { "From" } dd { bdi { (sender(&message.from)) } }
                @if !text.recipients.is_empty() { dt { "To" } dd { bdi { (visible(&text.recipients, MESSAGE)) } } }
                dt { "Date" } dd { (message.date.and_then(moment_for_people).unwrap_or_else(|| "none".to_owned())) }
                dt { "Place" } dd { bdi { (visible_path(&message.location.to_string())) } ", " (size(message.bytes)) }
            }
        }
    }
}

fn attachments(shown: &SideBySide) -> Markup {
    html! {
        @if !shown.message.attachments.is_empty() {
            h3 { "Attached" }
            ul {
                @for (attachment, holder) in shown.message.attachments.iter().zip(&shown.attachments) {
                    li {
                        bdi { (visible(attachment.name.as_deref().unwrap_or("(no name)"), 120)) } ", " (size(attachment.size))
                        @match holder {
                            Some(w) => { ": " mark class=(format!("held w{}", w % 8)) { "also in " (letter(*w)) } }
                            None if shown.witnesses.is_empty() => {}
                            None => { ": " mark.only { "only here" } }
                        }
                    }
                }
            }
        }
    }
}

/// The messages that go because this one stays.
fn resting(view: &View<'_>, number: u32) -> Markup {
    let all: Vec<u32> = view.desk.choices.resting_on(number).collect();
    html! {
        @if !all.is_empty() {
            section aria-labelledby="resting" {
                h2 #resting { (counted(all.len() as u64, "message goes", "messages go")) " because this one stays" }
                ul {
                    @for &m in all.iter().take(RESTING) {
                        @if let Some(message) = view.desk.message(m) {
                            li {
                                bdi { a href=(view.place.at(&format!("message/{m}"))) { (subject(&message.subject)) } }
                                ", " bdi { (sender(&message.from)) } ", "
                                bdi { (visible_path(&message.location.to_string())) }
                            }
                        }
                    }
                    @if all.len() > RESTING { li { "and " (grouped((all.len() - RESTING) as u64)) " more" } }
                }
            }
        }
    }
}
