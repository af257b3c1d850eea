//! A report in one file: no script, nothing loaded, to be read by whoever gets it.

use std::io::{self, Write};

use maud::{DOCTYPE, PreEscaped, html};
use twicetold_model::Standing;

use crate::catalogue::Kind;
use crate::lists::{Amount, Totals};
use crate::pages::{harmless, sender, subject};
use crate::pictures;
use crate::plain::escape::{RESIDUE, visible, visible_path};
use crate::plain::units::{counted, grouped, moment_for_people, percent, size};
use crate::plain::words::meaning;
use crate::session::Desk;

const STYLE: &str = include_str!("../../assets/style.css");
/// The report may be styled from within, and nothing else.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'";
/// How many messages are listed in each part; the table has them all.
const MOST: usize = 5_000;

pub(super) fn write(desk: &Desk, out: &mut dyn Write) -> io::Result<()> {
    let scan = &desk.scanned.scan;
    let totals = Totals::of(scan, &desk.catalogue, &desk.choices);
    let all = totals.all;
    let shown: Vec<(Kind, Amount)> = Kind::ALL
        .into_iter()
        .zip(totals.kinds)
        .filter(|(_, amount)| amount.messages > 0)
        .collect();
    let parts: Vec<(&str, u64)> = shown.iter().map(|(k, a)| (k.name(), a.messages)).collect();
    let years: Vec<pictures::Year> = totals
        .years
        .iter()
        .map(|(year, amount)| pictures::Year {
            name: year.map_or_else(|| "no date".to_owned(), |y| y.to_string()),
            messages: amount.messages,
            going: amount.going,
            address: None,
        })
        .collect();
    let head = html! {
        (DOCTYPE)
        (PreEscaped("<html lang=\"en\">"))
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            title { "Twicetold report" }
            style { (PreEscaped(STYLE)) }
        }
        (PreEscaped("<body><main>"))
        h1 { (grouped(all.going)) " of " (counted(all.messages, "message", "messages")) " say nothing new" }
        p.lead {
            (size(all.going_bytes)) " of " (size(all.bytes)) " (" (percent(all.going_bytes, all.bytes))
            "). Everything they say can be read in messages that stay."
        }
        p.quiet { "Scanned: " @for (n, root) in desk.scanned.roots.iter().enumerate() { @if n > 0 { ", " } (visible_path(&root.to_string_lossy())) } }
        (pictures::bar(&parts))
        table {
            thead { tr { th scope="col" { "Category" } th.number scope="col" { "Messages" } th.number scope="col" { "Size" } th.number scope="col" { "To go" } } }
            tbody {
                @for (kind, amount) in &shown {
                    tr {
                        th scope="row" { span class=(format!("swatch fill-{}", kind.name())) aria-hidden="true" {} (kind.name()) }
                        td.number { (grouped(amount.messages)) } td.number { (size(amount.bytes)) } td.number { (grouped(amount.going)) }
                    }
                }
            }
        }
        (pictures::timeline(&years))
    };
    put(out, &head.into_string())?;
    let going = |m: &u32| desk.choices.goes(*m);
    let versions = |m: &u32| {
        let version = scan.messages[*m as usize].verdict.standing == Standing::Version;
        version && !desk.choices.goes(*m)
    };
    list(desk, out, "Messages that can go", &going)?;
    list(
        desk,
        out,
        "Versions: near copies in which a fact differs, which stay",
        &versions,
    )?;
    put(out, "</main></body></html>\n")
}

fn put(out: &mut dyn Write, page: &str) -> io::Result<()> {
    out.write_all(harmless(page).as_bytes())
}

fn list(
    desk: &Desk,
    out: &mut dyn Write,
    title: &str,
    wanted: &dyn Fn(&u32) -> bool,
) -> io::Result<()> {
    let all = (0..desk.catalogue.len() as u32).filter(|m| wanted(m));
    let count = all.clone().count();
    if count == 0 {
        return Ok(());
    }
    let head = html! {
        h2 { (title) " (" (grouped(count as u64)) ")" }
        @if count > MOST { p { "The first " (grouped(MOST as u64)) " are listed; the table has them all." } }
        (PreEscaped("<div class=\"scroll\"><table class=\"messages\">"))
        thead { tr {
            th scope="col" { "Subject" } th scope="col" { "From" } th scope="col" { "Date" }
            th scope="col" { "Place" } th scope="col" { "Why" } th scope="col" { "Read it in" }
        } }
        (PreEscaped("<tbody>"))
    };
    put(out, &head.into_string())?;
    let scan = &desk.scanned.scan;
    for m in all.take(MOST) {
        let Some(message) = desk.message(m) else {
            continue;
        };
        let basis = desk.choices.basis(scan, m);
        let witnesses = basis
            .as_ref()
            .map_or(&message.verdict.witnesses, |b| &b.witnesses);
        let row = html! {
            tr {
                td { bdi { (subject(&message.subject)) } }
                td { bdi { (sender(&message.from)) } }
                td.date { (message.date.and_then(moment_for_people).unwrap_or_default()) }
                td.folder { bdi { (visible_path(&message.location.to_string())) } }
                td {
                    @match &basis {
                        Some(basis) => {
                            span class=(format!("badge fill-{}", basis.category.name())) { (basis.category.name()) }
                            " " (meaning(basis.category))
                        }
                        None => @for text in message.residue.iter().take(3) { p { bdi { (visible(text, RESIDUE)) } } },
                    }
                }
                td.folder {
                    @for witness in witnesses {
                        @if let Some(w) = desk.message(witness.message) { p { bdi { (visible_path(&w.location.to_string())) } } }
                    }
                }
            }
        };
        put(out, &row.into_string())?;
    }
    put(out, "</tbody></table></div>")
}
