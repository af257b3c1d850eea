//! What could not be read, or not all of it.

use maud::html;

use super::{View, subject};
use crate::catalogue::Kind;
use crate::http::Response;
use crate::plain::escape::{MESSAGE, visible, visible_path};
use crate::plain::units::{counted, grouped};
use crate::query::Query;

/// How many of each are named.
const MOST: usize = 200;

pub(crate) fn problems(view: &View<'_>) -> Response {
    let desk = view.desk;
    let troubles = &desk.scanned.scan.troubles;
    let troubled: Vec<u32> = (0..desk.catalogue.len() as u32)
        .filter(|&m| {
            let n = m as usize;
            desk.catalogue.troubled[n] || desk.catalogue.kinds[n] == Kind::Unreadable
        })
        .collect();
    let query = Query::default().with("kind", Some("problems"));
    let body = html! {
        h1 { "Problems" }
        p.lead { "A message that could not be read stays. One that could be read in part is judged by that part, and its problems are told." }
        section aria-labelledby="files" {
            h2 #files { (counted(troubles.len() as u64, "file or folder", "files and folders")) }
            @if troubles.is_empty() { p { "Every file and folder could be used." } }
            ul {
                @for trouble in troubles.iter().take(MOST) {
                    li { bdi { (visible_path(&trouble.path)) } ": " (visible(&trouble.problem.what, MESSAGE)) }
                }
                @if troubles.len() > MOST { li { "and " (grouped((troubles.len() - MOST) as u64)) " more" } }
            }
        }
        section aria-labelledby="messages" {
            h2 #messages { (counted(troubled.len() as u64, "message", "messages")) }
            @if troubled.is_empty() { p { "Every message could be read." } }
            ul {
                @for &m in troubled.iter().take(MOST) {
                    @if let Some(message) = desk.message(m) {
                        li {
                            bdi { a href=(view.place.at(&format!("message/{m}"))) { (subject(&message.subject)) } }
                            ", " bdi { (visible_path(&message.location.to_string())) }
                            @for problem in &message.problems { ": " (visible(&problem.what, MESSAGE)) }
                        }
                    }
                }
            }
            @if troubled.len() > MOST { p { a href=(view.link("messages", &query)) { "All of them" } } }
        }
    };
    view.page("Problems", "problems", &body)
}
