//! Who gets in, and which page answers.

use std::sync::Arc;

use crate::choices::Refusal;
use crate::export;
use crate::http::{Body, Method, Request, Response};
use crate::lists::{WISHES, Wish};
use crate::pages::{self, Place};
use crate::plain::escape::SafeJson;
use crate::plain::units::counted;
use crate::query::Query;
use crate::session::{Desk, Notice, Phase, Session};

const STYLE: &str = include_str!("../assets/style.css");
const SCRIPT: &str = include_str!("../assets/script.js");

/// How many messages of one choice are looked at one by one, because the scan has no proof for them.
const MOST_ASKED: usize = 500;

/// The server's own name, and what a browser has to know to get in.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) port: u16,
    pub(crate) token: String,
}

impl Gate {
    /// What is wrong with a request; the path behind the token if nothing is.
    fn check<'r>(&self, request: &'r Request) -> Result<&'r str, Response> {
        let mine = |host: &str| {
            let (name, port) = host.rsplit_once(':').unwrap_or((host, "80"));
            matches!(name, "127.0.0.1" | "localhost") && port.parse() == Ok(self.port)
        };
        // Another name for this address is how a foreign page would try to get in.
        if !request.host.as_deref().is_some_and(mine) {
            return Err(Response::plain(
                421,
                "This server answers to 127.0.0.1 only.",
            ));
        }
        let path = request.path.strip_prefix('/').unwrap_or_default();
        let (token, rest) = path.split_once('/').unwrap_or((path, ""));
        if !same(token.as_bytes(), self.token.as_bytes()) {
            let text = "Please use the whole address that twicetold review printed; it changes with every start.";
            return Err(Response::plain(403, text));
        }
        if request.method == Method::Post {
            // Forms of a page that tells nobody where it came from say "null"; then the browser itself says whose page it was.
            let from_here = match request.origin.as_deref() {
                Some("null") => request.site.as_deref() == Some("same-origin"),
                Some(origin) => origin.strip_prefix("http://").is_some_and(mine),
                None => false,
            };
            if !from_here {
                return Err(Response::plain(
                    403,
                    "Only pages of this server may change something.",
                ));
            }
        }
        Ok(rest)
    }
}

/// Compares without telling by its time where a difference is.
fn same(a: &[u8], b: &[u8]) -> bool {
    let differ = a.iter().zip(b).fold(0, |sum, (x, y)| sum | (x ^ y));
    a.len() == b.len() && differ == 0
}

/// Answers a request.
pub(crate) fn answer(session: &Arc<Session>, gate: &Gate, request: &Request) -> Response {
    let path = match gate.check(request) {
        Ok(path) => path,
        Err(response) => return response,
    };
    let place = Place::new(&gate.token);
    match (request.method, path) {
        (Method::Post, _) => post(session, &place, request, path),
        (_, "style.css") => asset("text/css; charset=utf-8", STYLE),
        (_, "script.js") => asset("text/javascript; charset=utf-8", SCRIPT),
        (_, "progress") => progress(session),
        _ => get(session, &place, request, path),
    }
}

fn asset(kind: &'static str, text: &str) -> Response {
    Response::new(200, kind, Body::Whole(text.as_bytes().to_vec()))
}

fn progress(session: &Session) -> Response {
    let (what, done, total) = match &*session.look() {
        Phase::Busy(meter) => meter.read(),
        _ => ("", 0, 0),
    };
    let json =
        serde_json::json!({ "busy": !what.is_empty(), "what": what, "done": done, "total": total });
    let body = Body::Whole(json.to_string().into_bytes());
    Response::new(200, "application/json", body)
}

fn get(session: &Arc<Session>, place: &Place, request: &Request, path: &str) -> Response {
    let phase = session.look();
    let desk = match &*phase {
        Phase::Busy(meter) => return pages::busy(place, meter.read()),
        Phase::Failed(told) => return pages::failed(place, told),
        Phase::Ready(desk) => desk,
    };
    let number = |text: &str| {
        text.parse::<u32>()
            .ok()
            .filter(|&n| desk.message(n).is_some())
    };
    match path.split_once('/').unwrap_or((path, "")) {
        ("export", file) => {
            drop(phase);
            return export_file(session, file);
        }
        ("plan.jsonl", "") => {
            let plan = desk.plan();
            let write = move |out: &mut dyn std::io::Write| plan.write(out, SafeJson);
            return Response::file("application/jsonl", "twicetold.plan", Box::new(write));
        }
        _ => {}
    }
    let notices = session.notices();
    let view = pages::View {
        place,
        desk,
        query: &request.query,
        notices: &notices,
    };
    match path.split_once('/').unwrap_or((path, "")) {
        ("", "") => pages::overview(&view),
        ("messages", "") => pages::list(&view),
        ("problems", "") => pages::problems(&view),
        ("go", "") => pages::letting_go(&view, &session.doors.runs()),
        ("message", n) if number(n).is_some() => pages::message(&view, number(n).unwrap_or(0)),
        ("thread", n) if number(n).is_some() => pages::thread(&view, number(n).unwrap_or(0)),
        _ => {
            notices
                .iter()
                .cloned()
                .for_each(|notice| session.tell(notice));
            pages::not_found(&view)
        }
    }
}

fn export_file(session: &Arc<Session>, file: &str) -> Response {
    let found = export::Format::ALL.iter().find(|f| f.file_name() == file);
    let Some(&format) = found else {
        return Response::plain(404, "There is no such file.");
    };
    let session = Arc::clone(session);
    let write = move |out: &mut dyn std::io::Write| match &*session.look() {
        Phase::Ready(desk) => export::write(format, desk, out),
        _ => Ok(()),
    };
    Response::file(format.media_type(), format.file_name(), Box::new(write))
}

fn post(session: &Arc<Session>, place: &Place, request: &Request, path: &str) -> Response {
    let form = &request.form;
    let began = match path {
        "choose" => {
            let mut phase = session.change();
            let Phase::Ready(desk) = &mut *phase else {
                return busy_now();
            };
            if let Some(notice) = choose(desk, form) {
                session.tell(notice);
            }
            return Response::see_other(&back(place, form));
        }
        "apply" if form.get("sure") == Some("yes") => session.apply(),
        "apply" => {
            session.tell(Notice::Wrong(crate::Told {
                what: "nothing was changed".to_owned(),
                next: "tick the box to say that you are sure".to_owned(),
            }));
            return Response::see_other(&place.at("go"));
        }
        "undo" => match form.number("run") {
            Some(run) => session.undo(run, form.number("out").unwrap_or(0)),
            None => return Response::plain(400, "Which run?"),
        },
        "scan" => session.scan_again(),
        _ => return Response::plain(404, "There is no such page."),
    };
    match began {
        true => Response::see_other(&place.at(if path == "scan" { "" } else { "go" })),
        false => busy_now(),
    }
}

fn busy_now() -> Response {
    Response::plain(
        409,
        "Something else is going on; please wait until it is done.",
    )
}

/// Where the user was: a page of this server, by name and wishes.
fn back(place: &Place, form: &Query) -> String {
    let page = form.get("page").unwrap_or_default();
    let known = |page: &str| {
        let (name, number) = page.split_once('/').unwrap_or((page, ""));
        matches!(name, "" | "messages" | "go" | "message" | "thread")
            && number.bytes().all(|b| b.is_ascii_digit())
    };
    let page = if known(page) { page } else { "" };
    let mut names = WISHES.to_vec();
    names.push("at");
    let address = form.only(&names).to(&place.at(page));
    match form.number::<u32>("message").filter(|_| page == "messages") {
        Some(message) => format!("{address}#m{message}"),
        None => address,
    }
}

/// Does what the user chose; what there is to tell about it.
fn choose(desk: &mut Desk, form: &Query) -> Option<Notice> {
    let what = form.get("what")?;
    let one = form
        .number::<u32>("message")
        .filter(|&m| desk.message(m).is_some());
    match (what, one) {
        ("back", _) => {
            let count = desk.choose(|choices, scanned, _, _| choices.take_back(&scanned.scan));
            Some(Notice::Done(match count {
                Some(count) => {
                    let messages = counted(count as u64, "message", "messages");
                    format!("Taken back: the last choice, about {messages}.")
                }
                None => "There is no choice to take back.".to_owned(),
            }))
        }
        ("keep", Some(m)) => {
            desk.choose(|choices, scanned, _, _| choices.keep(&scanned.scan, [m]));
            None
        }
        ("remove" | "survive", Some(m)) => desk
            .choose(|choices, scanned, catalogue, ask| match what {
                "remove" => choices.remove(&scanned.scan, catalogue, m, ask),
                _ => choices.survive(&scanned.scan, catalogue, m, ask),
            })
            .err()
            .map(|refusal| Notice::Refused(refusal, 0, 0)),
        ("keep-all", None) => {
            let wanted = wanted(desk, form);
            let count = desk.choose(|choices, scanned, _, _| choices.keep(&scanned.scan, wanted));
            let messages = counted(count as u64, "message stays now", "messages stay now");
            Some(Notice::Done(format!("{messages} that went before.")))
        }
        ("remove-all", None) => Some(remove_all(desk, form)),
        _ => None,
    }
}

fn wanted(desk: &Desk, form: &Query) -> Vec<u32> {
    let wish = Wish::of(form);
    wish.find(&desk.scanned.scan, &desk.catalogue, &desk.choices)
}

/// What is said of messages that were too many to be asked about at once.
pub(crate) fn not_asked(messages: usize) -> String {
    let messages = counted(messages as u64, "message was", "messages were");
    format!(
        "{messages} not asked about and stay. Choose fewer at a time: a folder, a sender, a category."
    )
}

fn remove_all(desk: &mut Desk, form: &Query) -> Notice {
    let wanted = wanted(desk, form);
    let mut refused: Vec<Refusal> = Vec::new();
    let (mut count, open) =
        desk.choose(|choices, scanned, _, _| choices.remove_proved(&scanned.scan, &wanted));
    let unasked = open.len().saturating_sub(MOST_ASKED);
    for &m in open.iter().take(MOST_ASKED) {
        let done = desk.choose(|choices, scanned, catalogue, ask| {
            choices.remove(&scanned.scan, catalogue, m, ask)
        });
        match done {
            Ok(()) => count += 1,
            Err(refusal) => refused.push(refusal),
        }
    }
    let more = refused.len().saturating_sub(1);
    match refused.into_iter().next() {
        Some(first) => Notice::Refused(first, more, unasked),
        None => {
            let messages = counted(count as u64, "more message goes", "more messages go");
            let rest = match unasked {
                0 => String::new(),
                some => format!(" {}", not_asked(some)),
            };
            Notice::Done(format!("{messages} now.{rest}"))
        }
    }
}
