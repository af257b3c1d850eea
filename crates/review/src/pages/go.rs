//! The last step: let go, and bring back.

use maud::{Markup, html};

use super::View;
use crate::catalogue::Kind;
use crate::doors::{PastRun, Told};
use crate::http::Response;
use crate::lists::Totals;
use crate::plain::escape::{MESSAGE, visible};
use crate::plain::units::{counted, grouped, moment_for_people, size};
use crate::query::Query;

pub(crate) fn letting_go(view: &View<'_>, runs: &Result<Vec<PastRun>, Told>) -> Response {
    let desk = view.desk;
    let totals = Totals::of(&desk.scanned.scan, &desk.catalogue, &desk.choices);
    let body = html! {
        h1 { "Let go" }
        (plan(view, &totals))
        section aria-labelledby="runs" {
            h2 #runs { "What was let go before" }
            @match runs {
                Ok(runs) => (past(view, runs)),
                Err(told) => p.notice.wrong { (visible(&told.what, MESSAGE)) "; " (visible(&told.next, MESSAGE)) },
            }
        }
        section aria-labelledby="again" {
            h2 #again { "New mail?" }
            p { "The page shows the mail as it was when it was scanned. Your choices to keep messages are remembered." }
            form method="post" action=(view.place.at("scan")) { button.plain { "Scan again" } }
        }
    };
    view.page("Let go", "go", &body)
}

fn plan(view: &View<'_>, totals: &Totals) -> Markup {
    let all = totals.all;
    let chosen = Query::default().with("choice", Some("go"));
    html! {
        @if all.going == 0 {
            p.lead { "Nothing is to go." }
        } @else {
            p.lead {
                a href=(view.link("messages", &chosen)) { (counted(all.going, "message", "messages")) }
                " (" (size(all.going_bytes)) ") will be moved to a trash folder beside their mailbox. "
                "Before each goes, it and the messages that hold what it says are read again, and the proof is checked again. "
                "Undo brings everything back."
            }
            table {
                thead { tr { th scope="col" { "By the scan" } th.number scope="col" { "To go" } th.number scope="col" { "Size" } } }
                tbody {
                    @for (kind, amount) in Kind::ALL.iter().zip(&totals.kinds) {
                        @if amount.going > 0 {
                            tr {
                                th scope="row" { span class=(format!("swatch fill-{}", kind.name())) aria-hidden="true" {} (kind.name()) }
                                td.number { (grouped(amount.going)) }
                                td.number { (size(amount.going_bytes)) }
                            }
                        }
                    }
                }
            }
            form.sure method="post" action=(view.place.at("apply")) {
                label { input type="checkbox" name="sure" value="yes" required; " Yes, move " (counted(all.going, "message", "messages")) " to the trash" }
                button.danger { "Let go" }
                a href=(view.place.at("plan.jsonl")) { "Save the plan instead" }
                span.quiet { "for " code { "twicetold apply" } }
            }
        }
    }
}

fn past(view: &View<'_>, runs: &[PastRun]) -> Markup {
    html! {
        @if runs.is_empty() {
            p { "Nothing yet." }
        } @else {
            div.scroll {
                table {
                    thead { tr {
                        th.number scope="col" { "Run" } th scope="col" { "When" } th scope="col" { "Action" }
                        th.number scope="col" { "Out" } th.number scope="col" { "Size" } th scope="col" { "State" } th scope="col" { "Undo" }
                    } }
                    tbody {
                        @for run in runs.iter().rev() {
                            tr {
                                th.number scope="row" { (run.number) }
                                td { (moment_for_people(run.began).unwrap_or_default()) }
                                td { (run.action) }
                                td.number { (grouped(run.out)) }
                                td.number { (size(run.bytes)) }
                                td { (run.state) }
                                td {
                                    @if run.undoable {
                                        form method="post" action=(view.place.at("undo")) {
                                            input type="hidden" name="run" value=(run.number);
                                            input type="hidden" name="out" value=(run.out);
                                            button.plain { "Undo" span.unseen { " run " (run.number) } }
                                        }
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}
