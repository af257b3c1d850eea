//! Reading and sketching messages on all threads, batch by batch, in the order of the paths.

use std::borrow::Cow;
use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context, Result};
use clap::Args;
use rayon::prelude::*;
use twicetold_cluster::Wanted;
use twicetold_detect::{Progress, Stage};
use twicetold_model::{Form, Location};
use twicetold_service::{Sketches, Trust};
use twicetold_source::{Collection, Trouble};

use super::super::TalkArgs;
use super::super::scan::warn_of_troubles;
use crate::failure::{Advice, Exit};
use crate::feed::{Feed, Piece, size_of};
use crate::report::escape::{self, visible, visible_path};
use crate::report::sketches::SPAM;
use crate::terminal::{Bar, talk};

/// Tasks that make a batch: some hundreds of messages.
const BATCH: usize = 8;
/// Sketches that make a batch.
const SKETCHES: usize = 512;
/// A message on stdin may have so many bytes.
const LONGEST: u64 = 512 << 20;

/// Which messages.
#[derive(Debug, Args)]
pub(super) struct MailArgs {
    /// Messages, mailboxes and folders; - reads one message from stdin. With --sketches, files of rows
    #[arg(required = true, value_name = "FILE|DIR|-")]
    paths: Vec<PathBuf>,

    /// Read sketches that were made elsewhere, with twicetold sketch --method spam
    ///
    /// The files are its rows: JSON lines, Arrow streams or Parquet files; - is stdin.
    #[arg(long, conflicts_with = "authserv")]
    sketches: bool,

    /// The name your own mail server gives itself in Authentication-Results
    ///
    /// Bulk mail that this server found to be authentic is not blocked while several people keep it.
    /// Without the option no message counts as authentic: anybody can write such a header.
    #[arg(long, value_name = "NAME")]
    authserv: Option<String>,
}

/// A message that was read.
pub(super) struct Sketched {
    pub(super) location: Location,
    pub(super) sketches: Sketches,
    /// The message itself, if it was asked for.
    pub(super) bytes: Option<Vec<u8>>,
}

impl MailArgs {
    /// Hands all messages to `each`, batch by batch, and says how it went. With `whole` the messages
    /// themselves are there, too.
    pub(super) fn read(
        &self,
        how: TalkArgs,
        whole: bool,
        mut each: impl FnMut(&mut [Sketched]) -> Result<()>,
    ) -> Result<Exit> {
        if self.sketches {
            return self.read_sketches(how, whole, each);
        }
        let trust = Trust {
            authentication_server: self.authserv.clone(),
        };
        let (stdin, paths): (Vec<&Path>, Vec<&Path>) = self
            .paths
            .iter()
            .map(PathBuf::as_path)
            .partition(|path| *path == Path::new("-"));
        if !stdin.is_empty() {
            each(&mut [from_stdin(&trust, whole)?])?;
        }
        if paths.is_empty() {
            return Ok(Exit::Done);
        }
        refuse_if_nothing_is_there(&paths)?;
        let collection = Collection::open(&paths.iter().map(PathBuf::from).collect::<Vec<_>>());
        let bar = Bar::new(how.quiet);
        bar.begin(Stage::Reading, collection.total_bytes());
        let troubles: Mutex<Vec<Trouble>> = Mutex::new(collection.troubles().to_vec());
        let mut tasks = collection.tasks();
        loop {
            let batch: Vec<_> = tasks.by_ref().take(BATCH).collect();
            if batch.is_empty() {
                break;
            }
            let sketched: Vec<Vec<Sketched>> = batch
                .into_par_iter()
                .map(|task| {
                    let mut out = Vec::new();
                    task.run(
                        &mut |raw| {
                            bar.advance(1, raw.bytes.len() as u64);
                            out.push(Sketched {
                                sketches: Sketches::of(raw.form, &raw.bytes, &trust),
                                location: raw.location,
                                bytes: whole.then(|| as_mail(raw.form, raw.bytes)).flatten(),
                            });
                        },
                        &mut |trouble| lock(&troubles).push(trouble),
                    );
                    out
                })
                .collect();
            let mut sketched: Vec<Sketched> = sketched.into_iter().flatten().collect();
            if let Err(error) = each(&mut sketched) {
                bar.finish();
                return Err(error);
            }
        }
        bar.finish();
        let mut troubles = troubles
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner);
        troubles.sort();
        if !how.quiet {
            warn_of_troubles(&troubles);
        }
        Ok(Exit::after(&troubles))
    }
}

impl MailArgs {
    /// The same for sketches that were made elsewhere.
    fn read_sketches(
        &self,
        how: TalkArgs,
        whole: bool,
        mut each: impl FnMut(&mut [Sketched]) -> Result<()>,
    ) -> Result<Exit> {
        if whole {
            return Err(Advice::new(
                "--sketches has no messages to send",
                "leave --send message out: the sketches are sent",
            )
            .usage()
            .into_error());
        }
        let mut feed = Feed::open(&self.paths, None, Wanted::Sketches(SPAM))?;
        let bar = Bar::new(how.quiet);
        bar.begin(Stage::Reading, size_of(&self.paths));
        let (mut exit, mut batch) = (Exit::Done, Vec::new());
        let told = loop {
            let piece = match feed.next() {
                Ok(piece) => piece,
                Err(error) => break Err(error),
            };
            let last = piece.is_none();
            if let Some(piece) = piece {
                bar.advance(1, piece.len());
                match sketched(piece) {
                    Ok(one) => batch.push(one),
                    Err((location, what)) => {
                        exit = Exit::Partly;
                        not_taken(&location, &what);
                    }
                }
            }
            if batch.len() >= SKETCHES || last && !batch.is_empty() {
                if let Err(error) = each(&mut batch) {
                    break Err(error);
                }
                batch.clear();
            }
            if last {
                break Ok(exit);
            }
        };
        bar.finish();
        told
    }
}

/// The sketch that a row hands over; else where it stands, and what is wrong with it.
fn sketched(piece: Piece) -> std::result::Result<Sketched, (Location, String)> {
    let handed = piece.handed();
    let bytes = match handed.message {
        Ok(raw) => raw.bytes,
        Err(what) => return Err((handed.location, what.into_owned())),
    };
    match Sketches::from_bytes(&bytes) {
        Some(sketches) => Ok(Sketched {
            location: handed.location,
            sketches,
            bytes: None,
        }),
        None => {
            let what = format!(
                "the sketch is damaged, or of another version than {}",
                Sketches::VERSION
            );
            Err((handed.location, what))
        }
    }
}

/// Says that a server did not take a message.
pub(super) fn not_taken(location: &Location, what: &str) {
    talk(&format!(
        "warning: {}: {}",
        visible_path(&location.to_string()),
        visible(what, escape::MESSAGE)
    ));
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn from_stdin(trust: &Trust, whole: bool) -> Result<Sketched> {
    let mut bytes = Vec::new();
    std::io::stdin()
        .lock()
        .take(LONGEST)
        .read_to_end(&mut bytes)
        .context("cannot read the message from stdin")?;
    Ok(Sketched {
        location: Location {
            path: "-".into(),
            offset: None,
        },
        sketches: Sketches::of(Form::Mail, &bytes, trust),
        bytes: whole.then_some(bytes),
    })
}

/// The message as mail: a text gets the header it lacks. What is neither is not sent as a whole.
fn as_mail(form: Form, bytes: Cow<'_, [u8]>) -> Option<Vec<u8>> {
    match form {
        Form::Mail => Some(bytes.into_owned()),
        Form::Text => {
            let head = b"Content-Type: text/plain; charset=utf-8\n\n".as_slice();
            Some([head, &bytes].concat())
        }
        _ => None,
    }
}

/// One missing path among others is reported with the result; if all are missing, it is a mistake.
fn refuse_if_nothing_is_there(paths: &[&Path]) -> Result<()> {
    let missing =
        |path: &&Path| fs::metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound);
    match paths.first() {
        Some(path) if paths.iter().all(missing) => Err(Advice::new(
            format!("there is no file or folder {}", path.display()),
            "check the spelling, and the folder you are in",
        )
        .into_error()),
        _ => Ok(()),
    }
}
