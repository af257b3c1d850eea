//! The log: one JSON object a line, without anything of a message.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{SyncSender, TrySendError, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};
use twicetold_model::moment;

/// Lines that wait to be written. If the log cannot be written as fast as things happen, lines are left
/// out and counted; nobody waits for a log.
const WAITING: usize = 4096;

/// Where things are written down.
#[derive(Debug)]
pub struct Log {
    lines: Option<SyncSender<String>>,
    writer: Option<JoinHandle<()>>,
    left_out: AtomicU64,
}

impl Log {
    /// A log that is written to `out` by a thread of its own.
    pub fn to(mut out: impl Write + Send + 'static) -> std::io::Result<Self> {
        let (lines, receive) = sync_channel::<String>(WAITING);
        let writer = thread::Builder::new()
            .name("log".to_owned())
            .spawn(move || {
                while let Ok(line) = receive.recv() {
                    let mut text = line;
                    while let Ok(next) = receive.try_recv() {
                        text += &next;
                        if text.len() > 1 << 16 {
                            break;
                        }
                    }
                    // There is nowhere else to say that the log cannot be written.
                    let _ = out.write_all(text.as_bytes());
                    let _ = out.flush();
                }
            })?;
        Ok(Self {
            lines: Some(lines),
            writer: Some(writer),
            left_out: AtomicU64::new(0),
        })
    }

    /// Writes a line: when, how bad, what happened, and more about it.
    pub(crate) fn line(&self, level: &str, event: &str, more: &[(&str, Value)]) {
        let mut object = Map::new();
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        let seconds = now.map_or(0, |since| since.as_secs());
        let time = moment(i64::try_from(seconds).unwrap_or(i64::MAX));
        object.insert("time".to_owned(), time.map_or(Value::Null, Value::from));
        object.insert("level".to_owned(), level.into());
        object.insert("event".to_owned(), event.into());
        for (name, value) in more {
            if !value.is_null() {
                object.insert((*name).to_owned(), value.clone());
            }
        }
        let mut line = Value::Object(object).to_string();
        line.push('\n');
        let sent = self.lines.as_ref().map(|lines| lines.try_send(line));
        if let Some(Err(TrySendError::Full(_))) = sent {
            self.left_out.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// How many lines were left out because nobody could write them fast enough.
    pub(crate) fn left_out(&self) -> u64 {
        self.left_out.load(Ordering::Relaxed)
    }
}

impl Drop for Log {
    fn drop(&mut self) {
        // What was said last is often what is looked for: it is written before the program ends.
        self.lines = None;
        if let Some(writer) = self.writer.take() {
            let _ = writer.join();
        }
    }
}
