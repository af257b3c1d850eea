//! The pages, made on the server. A page works without script; script adds the keyboard.

mod go;
mod list;
mod message;
mod notice;
mod overview;
mod problems;
mod text;
mod thread;

use maud::{DOCTYPE, Markup, html};

use crate::doors::Told;
use crate::http::Response;
use crate::plain::escape::{PATH, visible};
use crate::plain::units::{grouped, size};
use crate::query::Query;
use crate::session::{Desk, Notice};

pub(crate) use go::letting_go;
pub(crate) use list::list;
pub(crate) use message::message;
pub(crate) use overview::overview;
pub(crate) use problems::problems;
pub(crate) use thread::thread;

/// Where the pages are: below the secret.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    root: String,
}

impl Place {
    pub(crate) fn new(token: &str) -> Self {
        Self {
            root: format!("/{token}/"),
        }
    }

    /// The address of a page.
    pub(crate) fn at(&self, page: &str) -> String {
        format!("{}{page}", self.root)
    }
}

/// What a page is made of.
pub(crate) struct View<'v> {
    pub(crate) place: &'v Place,
    pub(crate) desk: &'v Desk,
    pub(crate) query: &'v Query,
    pub(crate) notices: &'v [Notice],
}

impl View<'_> {
    /// The frame around every page, with what is to be told once.
    pub(crate) fn page(&self, title: &str, here: &str, body: &Markup) -> Response {
        let content = html! {
            (notice::notices(self))
            (body)
        };
        let going = self.desk.choices.count() as u64;
        Response::html(
            200,
            whole(self.place, title, here, Some(going), false, &content),
        )
    }

    /// The address of a page with a query.
    pub(crate) fn link(&self, page: &str, query: &Query) -> String {
        query.to(&self.place.at(page))
    }
}

/// The pages in the bar at the top: address, name.
const BAR: [(&str, &str); 4] = [
    ("", "Overview"),
    ("messages", "Messages"),
    ("problems", "Problems"),
    ("go", "Let go"),
];

fn whole(
    place: &Place,
    title: &str,
    here: &str,
    going: Option<u64>,
    waits: bool,
    body: &Markup,
) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) " – Twicetold" }
                link rel="stylesheet" href=(place.at("style.css"));
                link rel="icon" href="data:,";
                script src=(place.at("script.js")) defer {}
                @if waits { noscript { meta http-equiv="refresh" content="2"; } }
            }
            body data-root=(place.at("")) {
                a.skip href="#main" { "To the content" }
                header.bar {
                    a.brand href=(place.at("")) { "Twicetold" }
                    nav aria-label="Pages" {
                        @for (address, name) in BAR {
                            a href=(place.at(address)) aria-current=[(address == here).then_some("page")] {
                                (name)
                                @if let ("go", Some(going)) = (address, going) {
                                    " " span.count { (grouped(going)) span.unseen { " messages" } }
                                }
                            }
                        }
                    }
                    button.help type="button" data-help hidden { "Keys " kbd { "?" } }
                }
                main #main tabindex="-1" { (body) }
                (keys())
            }
        }
    };
    harmless(&page.into_string())
}

/// What the keys do; opened by `?`.
fn keys() -> Markup {
    let keys = [
        ("j / k", "next and previous message"),
        ("Enter or o", "open the message"),
        ("x", "let it go, or keep it again"),
        ("s", "keep this one instead of the one that holds it"),
        ("u", "take the last choice back"),
        ("n / p", "next and previous passage"),
        ("t", "the conversation"),
        ("/", "search"),
        ("g", "back to the list"),
        ("?", "this list"),
    ];
    html! {
        dialog #keys aria-labelledby="keys-title" {
            h2 #keys-title { "Keys" }
            dl {
                @for (key, what) in keys { dt { kbd { (key) } } dd { (what) } }
            }
            form method="dialog" { button { "Close" } }
        }
    }
}

/// A page on which no character hides or turns what stands beside it. Whoever wrote a subject does not get to lay out the page.
///
/// Joiners stay: they shape letters of many scripts, and can neither hide nor turn anything.
pub(crate) fn harmless(page: &str) -> String {
    let mut shown = String::with_capacity(page.len());
    for c in page.chars() {
        let joins = matches!(c, '\u{200c}' | '\u{200d}' | '\n' | '\t' | '\u{ad}');
        if joins || !crate::plain::escape::is_tricky(c) {
            shown.push(c);
        } else {
            shown.push_str(&visible(c.encode_utf8(&mut [0; 4]), 1));
        }
    }
    shown
}

/// The page while something takes its time.
pub(crate) fn busy(place: &Place, (what, done, total): (&'static str, u64, u64)) -> Response {
    let amount = |n: u64| {
        if what == "Reading" {
            size(n)
        } else {
            grouped(n)
        }
    };
    let body = html! {
        section.busy data-busy {
            h1 { "One moment" }
            p #what role="status" { (what) }
            @if total > 0 {
                progress #progress max=(total) value=(done.min(total)) aria-label=(what) {}
                p #amount { (amount(done)) " of " (amount(total)) }
            } @else {
                progress #progress aria-label=(what) {}
                p #amount {}
            }
            p.quiet { "The page goes on by itself." }
        }
    };
    Response::html(200, whole(place, what, "busy", None, true, &body))
}

/// The page if there is nothing to show.
pub(crate) fn failed(place: &Place, told: &Told) -> Response {
    let body = html! {
        section.notice.wrong role="alert" {
            h1 { "The mail could not be scanned" }
            p { (visible(&told.what, PATH)) }
            p { (visible(&told.next, PATH)) }
            form method="post" action=(place.at("scan")) { button { "Try again" } }
        }
    };
    Response::html(200, whole(place, "Not scanned", "", None, false, &body))
}

/// The page that is not there.
pub(crate) fn not_found(view: &View<'_>) -> Response {
    let body = html! {
        h1 { "There is no such page" }
        p { a href=(view.place.at("")) { "To the overview" } }
    };
    let page = whole(view.place, "Not found", "none", None, false, &body);
    Response::html(404, page)
}

/// A form of one button that chooses something, and comes back to where it was.
pub(crate) struct Choose<'c> {
    pub(crate) what: &'c str,
    pub(crate) message: Option<u32>,
    pub(crate) label: Markup,
    /// The key that presses it.
    pub(crate) key: Option<&'c str>,
    pub(crate) class: &'c str,
    /// What pressing it does, if the label does not say.
    pub(crate) hint: Option<&'c str>,
}

impl View<'_> {
    /// Draws it on `page`.
    pub(crate) fn choose(&self, page: &str, choose: Choose<'_>) -> Markup {
        let mut names = crate::lists::WISHES.to_vec();
        names.push("at");
        let wishes = self.query.only(&names);
        html! {
            form.choose method="post" action=(self.place.at("choose")) {
                input type="hidden" name="what" value=(choose.what);
                input type="hidden" name="page" value=(page);
                @if let Some(message) = choose.message {
                    input type="hidden" name="message" value=(message);
                }
                @for (name, value) in wishes.pairs() {
                    input type="hidden" name=(name) value=(value);
                }
                button class=(choose.class) data-key=[choose.key] title=[choose.hint] { (choose.label) }
            }
        }
    }
}

/// A subject, or words for its absence.
pub(crate) fn subject(text: &str) -> String {
    match text.trim() {
        "" => "(no subject)".to_owned(),
        text => visible(text, 160),
    }
}

/// A sender, or words for their absence.
pub(crate) fn sender(text: &str) -> String {
    match text {
        "" => "(unknown)".to_owned(),
        text => visible(text, 80),
    }
}

#[cfg(test)]
mod tests {
    use super::harmless;

    #[test]
    fn nothing_on_a_page_hides_or_turns_its_neighbours() {
        let page = "<p title=\"a\u{202e}b\">\u{2066}c\u{200b}\u{1b}[2J\r\n\u{feff}d</p>";
        let shown = "<p title=\"a\\u{202e}b\">\\u{2066}c\\u{200b}\\x1b[2J\\r\n\\u{feff}d</p>";
        assert_eq!(harmless(page), shown);
        let letters = "שלום می\u{200c}خواهم 👩\u{200d}🚀 日本";
        assert_eq!(harmless(letters), letters);
    }
}
