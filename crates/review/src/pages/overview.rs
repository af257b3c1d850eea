//! How much says nothing new?

use maud::{Markup, html};

use super::{View, sender};
use crate::catalogue::Kind;
use crate::http::Response;
use crate::lists::{Amount, Totals};
use crate::pictures;
use crate::plain::escape::visible_path;
use crate::plain::units::{counted, grouped, percent, size};
use crate::plain::words::meaning;
use crate::query::Query;

/// How many folders and senders are named.
const NAMED: usize = 12;

pub(crate) fn overview(view: &View<'_>) -> Response {
    let desk = view.desk;
    let totals = Totals::of(&desk.scanned.scan, &desk.catalogue, &desk.choices);
    let body = html! {
        (headline(view, &totals))
        section aria-labelledby="by-category" {
            h2 #by-category { "By category" }
            (categories(view, &totals))
        }
        div.pair {
            section aria-labelledby="by-folder" {
                h2 #by-folder { "By folder" }
                (folders(view, &totals))
            }
            section aria-labelledby="by-sender" {
                h2 #by-sender { "By sender" }
                (senders(view, &totals))
            }
        }
        section aria-labelledby="by-year" {
            h2 #by-year { "By year" }
            (years(view, &totals))
        }
        (apart(view, &totals))
    };
    view.page("Overview", "", &body)
}

fn with(name: &str, value: &str) -> Query {
    Query::default().with(name, Some(value))
}

fn headline(view: &View<'_>, totals: &Totals) -> Markup {
    let all = totals.all;
    html! {
        h1 {
            @if all.messages == 0 { "There are no messages here" }
            @else if all.going == 0 { "Every message says something new" }
            @else { (grouped(all.going)) " of " (counted(all.messages, "message", "messages")) " can go" }
        }
        @if all.messages > 0 {
            p.lead {
                @if all.going > 0 {
                    "They take " (size(all.going_bytes)) " of " (size(all.bytes)) " ("
                    (percent(all.going_bytes, all.bytes)) "), and everything they say can be read in messages that stay. "
                } @else {
                    (counted(all.messages, "message", "messages")) ", " (size(all.bytes)) ". "
                }
                @if totals.changed > 0 {
                    a href=(view.link("messages", &with("choice", "changed"))) {
                        (counted(totals.changed, "choice of yours", "choices of yours"))
                    }
                    " differ from the scan."
                }
            }
            @if all.going > 0 {
                p.actions {
                    a.button href=(view.link("messages", &with("choice", "go"))) { "Look at them" }
                    a.button.plain href=(view.place.at("go")) { "Let go…" }
                }
            }
        }
    }
}

fn categories(view: &View<'_>, totals: &Totals) -> Markup {
    let shown: Vec<(Kind, Amount)> = Kind::ALL
        .into_iter()
        .zip(totals.kinds)
        .filter(|(_, amount)| amount.messages > 0)
        .collect();
    let parts: Vec<(&str, u64)> = shown.iter().map(|(k, a)| (k.name(), a.messages)).collect();
    html! {
        (pictures::bar(&parts))
        div.scroll {
            table {
                thead { tr {
                    th scope="col" { "Category" }
                    th scope="col" { "What it means" }
                    th.number scope="col" { "Messages" }
                    th.number scope="col" { "Size" }
                    th.number scope="col" { "To go" }
                } }
                tbody {
                    @for (kind, amount) in &shown {
                        tr {
                            th scope="row" {
                                span class=(format!("swatch fill-{}", kind.name())) aria-hidden="true" {}
                                a href=(view.link("messages", &with("kind", kind.name()))) { (kind.name()) }
                            }
                            td { (means(*kind)) }
                            td.number { (grouped(amount.messages)) }
                            td.number { (size(amount.bytes)) }
                            td.number { (grouped(amount.going)) }
                        }
                    }
                }
            }
        }
    }
}

/// What a verdict means.
pub(super) fn means(kind: Kind) -> &'static str {
    match kind {
        Kind::Redundant(category) => meaning(category),
        Kind::Unique => "says something new, or is the copy that stays",
        Kind::Version => "nearly the same, but a fact differs: stays",
        Kind::Unreadable => "could not be read: stays",
    }
}

fn folders(view: &View<'_>, totals: &Totals) -> Markup {
    let names = &view.desk.catalogue.folders.names;
    let boxes: Vec<pictures::Tile<'_>> = names
        .iter()
        .zip(&totals.folders)
        .map(|(name, amount)| pictures::Tile {
            name,
            bytes: amount.bytes,
            share: share(amount.going_bytes, amount.bytes),
            address: view.link("messages", &with("folder", name)),
        })
        .collect();
    html! {
        (pictures::treemap(boxes))
        p.quiet { "Size of a box: bytes in the folder. The coloured part at its bottom: what can go." }
        (ranking(view, "folder", names, &totals.folders, &|name| visible_path(name)))
    }
}

fn senders(view: &View<'_>, totals: &Totals) -> Markup {
    let names = &view.desk.catalogue.senders.names;
    ranking(view, "sender", names, &totals.senders, &|name| sender(name))
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}

/// The names with most bytes to go; where nothing goes, with most bytes.
fn ranking(
    view: &View<'_>,
    what: &str,
    names: &[String],
    amounts: &[Amount],
    shown: &dyn Fn(&str) -> String,
) -> Markup {
    let mut order: Vec<usize> = (0..names.len()).collect();
    order.sort_by_key(|&n| {
        let amount = amounts[n];
        (std::cmp::Reverse((amount.going_bytes, amount.bytes)), n)
    });
    html! {
        div.scroll {
            table.ranking {
                thead { tr {
                    th scope="col" { (if what == "folder" { "Folder" } else { "Sender" }) }
                    th.number scope="col" { "Messages" }
                    th.number scope="col" { "To go" }
                    th.number scope="col" { "Size to go" }
                } }
                tbody {
                    @for &n in order.iter().take(NAMED) {
                        tr {
                            th scope="row" { bdi { a href=(view.link("messages", &with(what, &names[n]))) { (shown(&names[n])) } } }
                            td.number { (grouped(amounts[n].messages)) }
                            td.number { (grouped(amounts[n].going)) }
                            td.number { (size(amounts[n].going_bytes)) }
                        }
                    }
                }
            }
        }
        @if names.len() > NAMED {
            p.quiet { "and " (grouped((names.len() - NAMED) as u64)) " more" }
        }
    }
}

fn years(view: &View<'_>, totals: &Totals) -> Markup {
    let bars: Vec<pictures::Year> = totals
        .years
        .iter()
        .map(|(year, amount)| pictures::Year {
            name: year.map_or_else(|| "no date".to_owned(), |y| y.to_string()),
            messages: amount.messages,
            going: amount.going,
            address: year.map(|y| view.link("messages", &with("year", &y.to_string()))),
        })
        .collect();
    html! {
        (pictures::timeline(&bars))
        details {
            summary { "The same as a table" }
            table {
                thead { tr {
                    th scope="col" { "Year" } th.number scope="col" { "Messages" }
                    th.number scope="col" { "To go" } th.number scope="col" { "Size to go" }
                } }
                tbody {
                    @for (bar, (_, amount)) in bars.iter().zip(&totals.years) {
                        tr {
                            th scope="row" {
                                @match &bar.address { Some(a) => { a href=(a) { (bar.name) } } None => { (bar.name) } }
                            }
                            td.number { (grouped(bar.messages)) }
                            td.number { (grouped(bar.going)) }
                            td.number { (size(amount.going_bytes)) }
                        }
                    }
                }
            }
        }
    }
}

/// What stands apart: versions, problems, files to take away.
fn apart(view: &View<'_>, totals: &Totals) -> Markup {
    let versions = Kind::ALL.iter().position(|&k| k == Kind::Version);
    let versions = versions.map_or(0, |n| totals.kinds[n].messages);
    let troubles = view.desk.scanned.scan.troubles.len() as u64;
    html! {
        section.cards aria-label="More" {
            a.card href=(view.link("messages", &with("kind", "version"))) {
                strong { (counted(versions, "version", "versions")) }
                span { "Near copies in which a fact differs. They always stay." }
            }
            a.card href=(view.place.at("problems")) {
                strong { (counted(totals.troubled + troubles, "problem", "problems")) }
                span { "What could not be read, or not all of it. It always stays." }
            }
            div.card {
                strong { "Take it with you" }
                span {
                    a href=(view.place.at("export/twicetold.csv")) { "Table (CSV)" } ", "
                    a href=(view.place.at("export/twicetold.jsonl")) { "JSON lines" } ", "
                    a href=(view.place.at("export/twicetold.html")) { "report (HTML)" }
                }
            }
        }
    }
}
