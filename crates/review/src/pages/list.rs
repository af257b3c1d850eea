//! Which messages, and what becomes of each?

use maud::{Markup, html};

use super::overview::means;
use super::{Choose, View, sender, subject};
use crate::catalogue::{Kind, Sort};
use crate::http::Response;
use crate::lists::{PAGE, WISHES, Wish};
use crate::plain::escape::visible_path;
use crate::plain::units::{counted, grouped, moment_for_people, size};

/// More folders than this are typed, not chosen from a list.
const FOLDERS: usize = 300;

pub(crate) fn list(view: &View<'_>) -> Response {
    let desk = view.desk;
    let wish = Wish::of(view.query);
    let found = wish.find(&desk.scanned.scan, &desk.catalogue, &desk.choices);
    let pages = found.len().div_ceil(PAGE).max(1);
    let at = view.query.number("at").unwrap_or(1).clamp(1, pages);
    let shown = &found[(at - 1) * PAGE..(at * PAGE).min(found.len())];
    let bytes: u64 = found
        .iter()
        .filter_map(|&m| desk.message(m))
        .map(|m| m.bytes)
        .sum();
    let going = found.iter().filter(|&&m| desk.choices.goes(m)).count() as u64;
    let body = html! {
        h1 { "Messages" }
        (filters(view, &wish))
        div.summary {
            p role="status" {
                (counted(found.len() as u64, "message", "messages")) ", " (size(bytes)) "; "
                (grouped(going)) (if going == 1 { " of them goes" } else { " of them go" })
            }
            @if !found.is_empty() { (bulk(view, found.len() as u64, going)) }
            @if desk.choices.steps() > 0 {
                (view.choose("messages", Choose {
                    what: "back",
                    message: None,
                    label: html! { "Take back the last choice" },
                    key: Some("u"),
                    class: "plain",
                hint: None,
                }))
            }
        }
        @if found.is_empty() {
            p { "No message is like that. " a href=(view.place.at("messages")) { "Show all messages" } }
        } @else {
            (table(view, shown))
            (pager(view, at, pages))
        }
    };
    view.page("Messages", "messages", &body)
}

/// The choices of a `select`: value, words.
fn options(chosen: Option<&str>, all: &[(String, String)]) -> Markup {
    html! {
        @for (value, words) in all {
            option value=(value) selected[chosen.unwrap_or_default() == value] { (words) }
        }
    }
}

fn filters(view: &View<'_>, wish: &Wish) -> Markup {
    let catalogue = &view.desk.catalogue;
    let pair = |value: &str, words: &str| (value.to_owned(), words.to_owned());
    let mut kinds = vec![
        pair("", "Any verdict"),
        pair("redundant", "May go, by the scan"),
    ];
    kinds.extend(
        Kind::ALL
            .iter()
            .map(|k| pair(k.name(), &format!("– {}", k.name()))),
    );
    kinds.push(pair("problems", "With problems"));
    let choices = [
        pair("", "Goes or stays"),
        pair("go", "Goes"),
        pair("stay", "Stays"),
        pair("changed", "Changed by you"),
    ];
    let mut years: Vec<i16> = catalogue.years.iter().flatten().copied().collect();
    years.sort_unstable();
    years.dedup();
    let mut year_options = vec![pair("", "Any year")];
    year_options.extend(
        years
            .iter()
            .rev()
            .map(|y| pair(&y.to_string(), &y.to_string())),
    );
    let sorts: Vec<_> = Sort::ALL
        .iter()
        .map(|(_, n, words)| pair(n, words))
        .collect();
    let sort = Sort::ALL
        .iter()
        .find(|(s, ..)| *s == wish.sort)
        .map(|(_, n, _)| *n);
    let mut folders = vec![pair("", "Any folder")];
    let folder = wish.folder.as_deref();
    if catalogue.folders.names.len() <= FOLDERS {
        folders.extend(
            catalogue
                .folders
                .names
                .iter()
                .map(|f| pair(f, &visible_path(f))),
        );
    }
    // A folder above the ones with messages may have been chosen in the overview.
    if let Some(folder) = folder.filter(|f| folders.iter().all(|(v, _)| v != f)) {
        folders.push(pair(folder, &visible_path(folder)));
    }
    let year = wish.year.map(|y| y.to_string());
    html! {
        form.filters method="get" action=(view.place.at("messages")) role="search" {
            label { span { "Search" }
                input #search type="search" name="q" value=(wish.words) placeholder="subject, sender, folder, Message-ID";
            }
            label { span { "Verdict" } select name="kind" { (options(wish.kind.as_deref(), &kinds)) } }
            label { span { "Choice" } select name="choice" { (options(wish.choice.as_deref(), &choices)) } }
            label { span { "Folder" } select name="folder" { (options(folder, &folders)) } }
            label { span { "Year" } select name="year" { (options(year.as_deref(), &year_options)) } }
            label { span { "Sort" } select name="sort" { (options(sort, &sorts)) } }
            @if let Some(from) = &wish.sender {
                label { span { "Sender" } input name="sender" value=(from); }
            }
            button { "Show" }
            @if view.query.pairs().next().is_some() {
                a href=(view.place.at("messages")) { "Show all" }
            }
        }
    }
}

fn bulk(view: &View<'_>, all: u64, going: u64) -> Markup {
    let number = |n: u64| {
        if n == 1 {
            "1".to_owned()
        } else {
            format!("all {}", grouped(n))
        }
    };
    html! {
        @if going < all {
            (view.choose("messages", Choose {
                what: "remove-all",
                message: None,
                label: html! { "Let go of " (number(all)) },
                key: None,
                class: "plain",
                hint: None,
            }))
        }
        @if going > 0 {
            (view.choose("messages", Choose {
                what: "keep-all",
                message: None,
                label: html! { "Keep " (number(all)) },
                key: None,
                class: "plain",
                hint: None,
            }))
        }
    }
}

fn table(view: &View<'_>, shown: &[u32]) -> Markup {
    let desk = view.desk;
    let wishes = view.query.only(&WISHES);
    html! {
        div.scroll {
            table.messages {
                thead { tr {
                    th scope="col" { "Choice" }
                    th scope="col" { "Subject" }
                    th scope="col" { "From" }
                    th scope="col" { "Date" }
                    th scope="col" { "Folder" }
                    th.number scope="col" { "Size" }
                    th scope="col" { "Verdict" }
                } }
                tbody {
                    @for &m in shown {
                        @if let Some(message) = desk.message(m) {
                            @let goes = desk.choices.goes(m);
                            @let kind = desk.catalogue.kinds[m as usize];
                            tr id=(format!("m{m}")) data-row class=[goes.then_some("goes")] {
                                td { (toggle(view, "messages", m, goes)) }
                                td.subject { bdi { a data-open href=(view.link(&format!("message/{m}"), &wishes)) { (subject(&message.subject)) } } }
                                td { bdi { (sender(&message.from)) } }
                                td.date { (message.date.and_then(moment_for_people).and_then(|d| d.get(..16).map(str::to_owned)).unwrap_or_default()) }
                                td.folder { bdi { (visible_path(desk.catalogue.folders.name(m))) } }
                                td.number { (size(message.bytes)) }
                                td {
                                    span class=(format!("badge fill-{}", kind.name())) title=(means(kind)) { (kind.name()) }
                                    @if desk.choices.differs(&desk.scanned.scan, m) { " " span.badge.yours { "your choice" } }
                                    @if !message.problems.is_empty() { " " span.badge.problem { "problem" } }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The button that lets a message go, or keeps it again.
pub(super) fn toggle(view: &View<'_>, page: &str, message: u32, goes: bool) -> Markup {
    let of = view.desk.message(message).map(|m| subject(&m.subject));
    let of = of.unwrap_or_default();
    let (what, label, class, hint) = if goes {
        (
            "keep",
            html! { "Goes" span.unseen { " – keep " (of) } },
            "toggle goes",
            "Goes: press to keep it",
        )
    } else {
        (
            "remove",
            html! { "Stays" span.unseen { " – let go of " (of) } },
            "toggle stays",
            "Stays: press to let it go",
        )
    };
    view.choose(
        page,
        Choose {
            what,
            message: Some(message),
            label,
            key: Some("x"),
            class,
            hint: Some(hint),
        },
    )
}

fn pager(view: &View<'_>, at: usize, pages: usize) -> Markup {
    let page = |n: usize| {
        let query = view.query.only(&WISHES).with("at", Some(&n.to_string()));
        view.link("messages", &query)
    };
    html! {
        @if pages > 1 {
            nav.pager aria-label="Pages of the list" {
                @if at > 1 {
                    a href=(page(1)) { "First" }
                    a rel="prev" href=(page(at - 1)) { "Previous" }
                }
                span { "Page " (grouped(at as u64)) " of " (grouped(pages as u64)) }
                @if at < pages {
                    a rel="next" href=(page(at + 1)) { "Next" }
                    a href=(page(pages)) { "Last" }
                }
            }
        }
    }
}
