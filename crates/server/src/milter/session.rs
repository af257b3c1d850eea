//! One session: a mail server hands over messages, one after the other, and hears what to do.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::time::timeout;
use twicetold_service::{Answer, Class, short};

use super::message::Arriving;
use super::packet::{Offer, Packet, action, put, step};
use crate::settings::{Action, LogLevel, Milter};
use crate::shared::{Current, Given, Shared};

/// How long a packet that has begun may take, and an answer to be taken.
const PACKET: Duration = Duration::from_secs(30);
/// The newest version there is.
const VERSION: u32 = 6;
/// Most headers of others that are removed.
const MOST_FORGED: usize = 100;

const CONTINUE: u8 = b'c';
const ACCEPT: u8 = b'a';

/// What was agreed upon.
#[derive(Clone, Copy, Debug, Default)]
struct Agreed {
    actions: u32,
    steps: u32,
}

impl Agreed {
    fn may(&self, action: u32) -> bool {
        self.actions & action != 0
    }
}

/// Serves one session until the mail server has enough, or says nothing for too long. A busy one lets
/// everything through.
pub(crate) async fn serve(
    stream: impl AsyncRead + AsyncWrite + Unpin,
    shared: &Arc<Shared>,
    busy: bool,
) -> io::Result<()> {
    let mut stream = BufReader::with_capacity(32 << 10, stream);
    let mut agreed = Agreed::default();
    let mut message = Arriving::default();
    loop {
        let current = shared.current();
        let milter = &current.settings.milter;
        let idle = Duration::from_secs(milter.idle_seconds);
        // Waiting for a packet may take long; waiting for the rest of one may not.
        let waited = timeout(idle, tokio::io::AsyncBufReadExt::fill_buf(&mut stream)).await;
        if waited.map_err(|_| io::ErrorKind::TimedOut)??.is_empty() {
            return Ok(());
        }
        let packet = timeout(PACKET.min(idle), Packet::read(&mut stream)).await;
        let Some(packet) = packet.map_err(|_| io::ErrorKind::TimedOut)?? else {
            return Ok(());
        };
        let mut out = Vec::new();
        let most = current.settings.limits.message_bytes;
        let mut reply = |unless: u32, kind: u8| {
            if agreed.steps & unless == 0 {
                put(&mut out, kind, &[]);
            }
        };
        match packet.kind {
            b'O' => {
                agreed = negotiate(&packet, milter, &mut out)?;
                message = Arriving::default();
            }
            b'D' => macros(&packet, &mut message),
            b'C' => {
                message = Arriving::default();
                // Accepted here, all messages of the connection go through.
                if busy && agreed.steps & step::NO_ANSWER_CONNECT == 0 {
                    put(&mut out, ACCEPT, &[]);
                } else {
                    reply(step::NO_ANSWER_CONNECT, CONTINUE);
                }
            }
            b'H' => reply(step::NO_ANSWER_HELO, CONTINUE),
            b'M' => {
                // What was told before this message (who has logged in) belongs to it.
                let told = (message.authenticated, message.queue_id.take());
                message = Arriving::default();
                (message.authenticated, message.queue_id) = told;
                reply(step::NO_ANSWER_MAIL, CONTINUE);
            }
            b'R' => reply(step::NO_ANSWER_RECIPIENT, CONTINUE),
            b'T' => reply(step::NO_ANSWER_DATA, CONTINUE),
            b'U' => reply(step::NO_ANSWER_UNKNOWN, CONTINUE),
            b'L' => {
                let mut texts = packet.texts();
                let (name, value) = (texts.next(), texts.next());
                message.header(
                    shared,
                    most,
                    name.unwrap_or_default(),
                    value.unwrap_or_default(),
                    agreed.steps & step::LEADING_SPACE != 0,
                    milter.spam_flag,
                );
                reply(step::NO_ANSWER_HEADER, CONTINUE);
            }
            b'N' => {
                message.end_of_headers(shared, most);
                reply(step::NO_ANSWER_END_OF_HEADERS, CONTINUE);
            }
            b'B' => {
                message.body(shared, most, &packet.data);
                let skip = message.is_enough() && agreed.steps & step::SKIP != 0;
                reply(step::NO_ANSWER_BODY, if skip { b's' } else { CONTINUE });
            }
            b'E' => {
                message.body(shared, most, &packet.data);
                finish(shared, &current, &agreed, &mut message, busy, &mut out).await;
                message = Arriving::default();
            }
            b'A' => message = Arriving::default(),
            // A new connection follows on the same session, without a new negotiation.
            b'K' => message = Arriving::default(),
            b'Q' => return Ok(()),
            other => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!(
                        "{:?} is no milter command",
                        other.escape_ascii().to_string()
                    ),
                ));
            }
        }
        if !out.is_empty() {
            let write = async {
                stream.get_mut().write_all(&out).await?;
                stream.get_mut().flush().await
            };
            timeout(PACKET, write)
                .await
                .map_err(|_| io::ErrorKind::TimedOut)??;
        }
    }
}

/// Agrees on what is needed, as far as it is offered.
fn negotiate(packet: &Packet, milter: &Milter, out: &mut Vec<u8>) -> io::Result<Agreed> {
    let offer = Offer::parse(&packet.data)
        .filter(|offer| offer.version >= 2)
        .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "no milter speaks like that"))?;
    let mut actions = action::ADD_HEADERS | action::CHANGE_HEADERS;
    if milter.spam == Action::Quarantine {
        actions |= action::QUARANTINE;
    }
    let mut steps = step::NO_HELO | step::NO_RECIPIENTS;
    // Version 2 knows no more than which steps to leave out.
    if offer.version > 2 {
        steps |= step::NO_UNKNOWN
            | step::NO_DATA
            | step::NO_ANSWER_HEADER
            | step::NO_ANSWER_MAIL
            | step::NO_ANSWER_END_OF_HEADERS
            | step::SKIP
            | step::LEADING_SPACE;
    }
    let agreed = Agreed {
        actions: actions & offer.actions,
        steps: steps & offer.steps,
    };
    put(
        out,
        b'O',
        &[
            &offer.version.min(VERSION).to_be_bytes(),
            &agreed.actions.to_be_bytes(),
            &agreed.steps.to_be_bytes(),
        ],
    );
    Ok(agreed)
}

/// What the mail server knows about the message: names and values.
fn macros(packet: &Packet, message: &mut Arriving) {
    let Some((_, pairs)) = packet.data.split_first() else {
        return;
    };
    let mut texts = pairs.split(|byte| *byte == 0);
    while let (Some(name), Some(value)) = (texts.next(), texts.next()) {
        match name {
            b"{auth_authen}" | b"auth_authen" => message.authenticated = !value.is_empty(),
            b"i" => {
                let id = value
                    .iter()
                    .take(64)
                    .filter(|byte| byte.is_ascii_alphanumeric());
                message.queue_id = Some(id.map(|byte| char::from(*byte)).collect());
            }
            _ => {}
        }
    }
}

/// Decides about a message.
async fn finish(
    shared: &Arc<Shared>,
    current: &Current,
    agreed: &Agreed,
    message: &mut Arriving,
    busy: bool,
    out: &mut Vec<u8>,
) {
    let milter = &current.settings.milter;
    if agreed.may(action::CHANGE_HEADERS) {
        for (name, number) in message.forged().take(MOST_FORGED) {
            put(out, b'm', &[&number.to_be_bytes(), name, b"\0\0"]);
        }
    }
    let answer = if busy {
        Err("sessions")
    } else if message.authenticated && !milter.check_authenticated {
        Err("authenticated")
    } else {
        ask(shared, milter, message).await
    };
    let (did, answer) = match answer {
        Ok(answer) => {
            let did = act(milter, agreed, &answer, out);
            (did, Some(answer))
        }
        // Whatever fails, mail goes on.
        Err(why) => {
            put(out, ACCEPT, &[]);
            (why, None)
        }
    };
    shared.metrics.milter(did);
    let failed = matches!(did, "sessions" | "slow" | "memory" | "failed");
    let level = match &answer {
        _ if failed => LogLevel::Problems,
        Some(answer) if answer.class != Class::Unknown => LogLevel::Changes,
        _ => LogLevel::Requests,
    };
    if current.settings.log >= level {
        shared.log.line(
            if failed { "warning" } else { "info" },
            "milter",
            &[
                ("did", did.into()),
                ("queue_id", json!(message.queue_id)),
                ("class", json!(answer.as_ref().map(|answer| answer.class))),
                (
                    "score",
                    json!(answer.as_ref().map(|answer| short(answer.score))),
                ),
                (
                    "campaign",
                    json!(answer.and_then(|answer| answer.campaign).map(|one| one.id)),
                ),
            ],
        );
    }
}

/// Asks the engine, but not for long.
async fn ask(
    shared: &Arc<Shared>,
    milter: &Milter,
    message: &mut Arriving,
) -> Result<Answer, &'static str> {
    let (bytes, room) = message.take().ok_or("memory")?;
    let patience = Duration::from_secs(milter.check_seconds);
    match timeout(patience, shared.check(Given::Mail(bytes), room)).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(_)) => Err("failed"),
        Err(_) => Err("slow"),
    }
}

/// Says what is to be done with a message, and how that is called.
fn act(milter: &Milter, agreed: &Agreed, answer: &Answer, out: &mut Vec<u8>) -> &'static str {
    let spam = answer.class == Class::Spam;
    if spam && milter.spam == Action::Reject {
        out.clear();
        // In such an answer a percent sign begins a format.
        let text = format!("550 5.7.1 {}\0", milter.reject_text.replace('%', "%%"));
        put(out, b'y', &[text.as_bytes()]);
        return "reject";
    }
    if agreed.may(action::ADD_HEADERS) {
        // Whoever agreed to tell values with the space before them adds none.
        let space: &[u8] = if agreed.steps & step::LEADING_SPACE != 0 {
            b" "
        } else {
            b""
        };
        let mut add = |name: &str, value: &str| {
            let parts = [name.as_bytes(), b"\0", space, value.as_bytes(), b"\0"];
            put(out, b'h', &parts);
        };
        add(
            "X-Twicetold-Class",
            match answer.class {
                Class::Spam => "spam",
                Class::Unsure => "unsure",
                Class::Unknown => "unknown",
            },
        );
        if let Some(campaign) = &answer.campaign {
            add("X-Twicetold-Score", &format!("{:.2}", answer.score));
            add("X-Twicetold-Campaign", &campaign.id.to_string());
        }
        if spam && milter.spam_flag {
            add("X-Spam-Flag", "YES");
        }
    }
    if spam && milter.spam == Action::Quarantine && agreed.may(action::QUARANTINE) {
        put(out, b'q', &[b"Variant of reported spam (twicetold)\0"]);
        put(out, ACCEPT, &[]);
        return "quarantine";
    }
    put(out, ACCEPT, &[]);
    match answer.class {
        Class::Spam => "tag-spam",
        Class::Unsure => "tag-unsure",
        Class::Unknown => "tag-unknown",
    }
}
