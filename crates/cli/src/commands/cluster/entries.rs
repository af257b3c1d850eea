//! `twicetold cluster entries`: the first door of `cluster scan` and `cluster pairs` on an executor.

use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Deserialize;
use twicetold_cluster::{
    Entry, EntryColumns, EntryRow, OutlineColumns, Sheet as Table, Wanted, WholeFiles,
};
use twicetold_detect::{Entering, Options};
use twicetold_model::{Location, RawMessage};
use twicetold_source::{Portion, Trouble, messages_in, path_of};

use crate::commands::engine::Outlining;
use crate::commands::pairs::MethodArgs;
use crate::commands::sketch::Purpose;
use crate::failure::{Advice, Exit};
use crate::feed::{Feed, From, Piece};
use crate::output::Output;
use crate::report::jsonl::write_line;
use crate::report::outlines;
use crate::sheet::refuse_terminal;

/// Write what an engine has to know of messages to judge them or to find pairs
///
/// Reads on stdin which files to read, or the files or rows themselves, and writes an Arrow stream with a row for each text. For
/// pairs: what it is called, and for each method a class (the same for equal sketches), keys, a body, and how many keys a
/// partner must share. For scan: outlines, as sketch --for scan --with-message writes them. cluster calls it on the executors.
#[derive(Debug, Args)]
pub(super) struct EntriesArgs {
    /// What the rows are for
    #[arg(long = "for", value_name = "WHAT", value_enum, default_value = "pairs")]
    purpose: Purpose,

    #[command(flatten)]
    methods: MethodArgs,

    #[command(flatten)]
    outlining: Outlining,

    /// What stdin has
    #[arg(long, value_enum, default_value_t)]
    from: Given,
}

/// What is handed over on stdin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Given {
    /// JSON lines that name files, or stretches of files
    #[default]
    Portions,
    /// An Arrow stream of whole files: path and content
    Files,
    /// An Arrow stream of rows, each a message or a text
    Rows,
}

/// A line that names a file.
#[derive(Deserialize)]
struct Line {
    path: String,
    file: String,
    #[serde(default)]
    bytes: u64,
    kind: String,
    start: Option<u64>,
    end: Option<u64>,
}

/// The kind of a file that is a table of messages.
pub(super) const TABLE: &str = "table";

pub(super) fn run(args: &EntriesArgs) -> Result<Exit> {
    let sought = args.methods.sought()?;
    refuse_terminal(&Output::Stdout, "an Arrow stream")?;
    let mut all_read = true;
    Output::Stdout.pass_on(|out| {
        let rows: Box<dyn Rows + '_> = match args.purpose {
            Purpose::Pairs => Box::new(Entries {
                entering: Entering::new(&sought),
                table: Table::new(out, EntryColumns::new(sought.len()))?,
            }),
            Purpose::Scan => Box::new(Outlines {
                options: args.outlining.options(),
                table: Table::new(out, OutlineColumns::new(true))?,
            }),
        };
        let mut writer = Writer {
            rows,
            outcome: Ok(()),
            all_read: true,
        };
        match args.from {
            Given::Portions => writer.portions()?,
            Given::Files => writer.files()?,
            Given::Rows => writer.rows(Path::new("-"), None)?,
        }
        all_read = writer.all_read;
        writer.outcome?;
        Ok(writer.rows.finish()?)
    })?;
    Ok(if all_read { Exit::Done } else { Exit::Partly })
}

/// Rows about what is read.
trait Rows {
    /// Writes the row of a message that is called `id`, or as it calls itself.
    fn text(&mut self, id: Option<&str>, raw: &RawMessage<'_>) -> io::Result<()>;
    /// Writes the row of what could not be read, or was read to its end if there is no problem.
    fn unread(&mut self, called: &str, place: &Location, problem: &str) -> io::Result<()>;
    /// Whether a warning about a file is a row.
    fn warns(&self) -> bool;
    /// Writes what is left.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// What `cluster pairs` needs.
struct Entries<'s, 'o> {
    entering: Entering<'s>,
    table: Table<&'o mut dyn Write, EntryColumns>,
}

impl Rows for Entries<'_, '_> {
    fn text(&mut self, id: Option<&str>, raw: &RawMessage<'_>) -> io::Result<()> {
        let (own, entries) = self.entering.enter(raw);
        let name = id.map(str::to_owned).or(own);
        let name = name.unwrap_or_else(|| raw.location.to_string());
        let entries = entries.into_iter().map(|entered| {
            entered.map(|entered| Entry {
                class: entered.class,
                keys: entered.keys,
                body: entered.body,
                least: u32::try_from(entered.least).unwrap_or(u32::MAX),
            })
        });
        self.table.push(EntryRow {
            name: json(&name),
            path: json(&raw.location.path),
            offset: raw.location.offset,
            problem: None,
            entries: entries.collect(),
        })
    }

    fn unread(&mut self, called: &str, _place: &Location, problem: &str) -> io::Result<()> {
        self.table.push(EntryRow {
            name: json(called),
            path: json(called),
            problem: Some(problem.to_owned()),
            ..EntryRow::default()
        })
    }

    fn warns(&self) -> bool {
        false
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.table.finish()
    }
}

/// What `cluster scan` needs.
struct Outlines<'o> {
    options: Options,
    table: Table<&'o mut dyn Write, OutlineColumns>,
}

impl Rows for Outlines<'_> {
    fn text(&mut self, id: Option<&str>, raw: &RawMessage<'_>) -> io::Result<()> {
        self.table.push(outlines::row(id, raw, &self.options, true))
    }

    fn unread(&mut self, called: &str, place: &Location, problem: &str) -> io::Result<()> {
        let problems = vec![problem.to_owned()];
        self.table
            .push(outlines::unread(Some(called), place, problems))
    }

    fn warns(&self) -> bool {
        true
    }

    fn finish(self: Box<Self>) -> io::Result<()> {
        self.table.finish()
    }
}

struct Writer<'r> {
    rows: Box<dyn Rows + 'r>,
    /// What writing came to.
    outcome: io::Result<()>,
    all_read: bool,
}

impl Writer<'_> {
    fn portions(&mut self) -> Result<()> {
        for line in io::stdin().lock().lines() {
            let line = line.context("cannot read which files to read")?;
            let line: Line = serde_json::from_str(&line).with_context(|| {
                Advice::new(
                    "a line does not name a file to read",
                    "it needs path, file and kind; see docs/scale.md",
                )
            })?;
            let file = path_of(&Location {
                path: line.file.into(),
                offset: None,
            });
            if !file.exists() {
                let what = format!(
                    "the executor finds no {}; put it where every host can read it",
                    file.display()
                );
                self.all_read = false;
                self.unread(&line.path, &whole(&line.path), &what);
                continue;
            }
            if line.kind == TABLE {
                self.rows(&file, Some(&line.path))?;
                continue;
            }
            let portion = Portion {
                path: line.path,
                file,
                bytes: line.bytes,
                kind: line.kind,
                range: line.start.zip(line.end).map(|(start, end)| start..end),
            };
            let mut troubles = Vec::new();
            portion.read(&mut |raw| self.text(None, &raw), &mut |trouble| {
                troubles.push(trouble);
            });
            troubles.iter().for_each(|trouble| self.trouble(trouble));
        }
        Ok(())
    }

    fn files(&mut self) -> Result<()> {
        let mut files = WholeFiles::new(Box::new(io::stdin().lock()));
        loop {
            let some = files.next_files().map_err(|why| broken(&why))?;
            let Some(some) = some else { return Ok(()) };
            for file in some {
                let mut troubles = Vec::new();
                messages_in(
                    &file.path,
                    &file.content,
                    &mut |raw| self.text(None, &raw),
                    &mut |trouble| troubles.push(trouble),
                );
                troubles.iter().for_each(|trouble| self.trouble(trouble));
                // An engine that passes over what it cannot read is to know that this was read.
                self.unread(&file.path, &whole(&file.path), "");
            }
        }
    }

    /// The rows of a table, which is called `called` instead of by its own path.
    fn rows(&mut self, file: &Path, called: Option<&str>) -> Result<()> {
        let from = called.is_none().then_some(From::Arrow);
        let mut feed = match Feed::open(&[file.to_path_buf()], from, Wanted::Messages) {
            Ok(feed) => feed,
            Err(error) => {
                let path = called.map_or_else(|| file.display().to_string(), str::to_owned);
                self.all_read = false;
                self.unread(&path, &whole(&path), &format!("{error:#}"));
                return Ok(());
            }
        };
        let own = file.to_string_lossy().into_owned();
        let named = |path: String| match called {
            Some(called) if path == own => called.to_owned(),
            _ => path,
        };
        loop {
            let piece = match feed.next() {
                Ok(Some(piece)) => piece,
                Ok(None) => return Ok(()),
                Err(error) if called.is_some() => {
                    self.all_read = false;
                    let path = named(own.clone());
                    self.unread(&path, &whole(&path), &format!("{error:#}"));
                    return Ok(());
                }
                Err(error) => return Err(error),
            };
            let lost = matches!(piece, Piece::Lost(..));
            let mut handed = piece.handed();
            let by_place = handed.id == handed.location.to_string();
            handed.location.path = named(handed.location.path.to_string()).into();
            match handed.message {
                Ok(mut raw) => {
                    raw.location.path = handed.location.path;
                    let id = (!by_place).then_some(handed.id);
                    self.text(id.as_deref(), &raw);
                }
                Err(what) => {
                    self.all_read = false;
                    let name = match lost || by_place {
                        true => handed.location.to_string(),
                        false => handed.id,
                    };
                    self.unread(&name, &handed.location, &what);
                }
            }
        }
    }

    fn text(&mut self, id: Option<&str>, raw: &RawMessage<'_>) {
        if self.outcome.is_ok() {
            self.outcome = self.rows.text(id, raw);
        }
    }

    fn trouble(&mut self, trouble: &Trouble) {
        let unread = !trouble.is_note();
        self.all_read &= !unread;
        if unread || self.rows.warns() {
            let what = &trouble.problem.what;
            self.unread(&trouble.path, &whole(&trouble.path), what);
        }
    }

    fn unread(&mut self, called: &str, place: &Location, problem: &str) {
        if self.outcome.is_ok() {
            self.outcome = self.rows.unread(called, place, problem);
        }
    }
}

/// A file as a whole.
fn whole(path: &str) -> Location {
    Location {
        path: path.into(),
        offset: None,
    }
}

/// A text as it stands in the rows of `pairs`.
fn json(text: &str) -> String {
    let mut line = Vec::new();
    // Writing to memory does not fail.
    let _ = write_line(&mut line, &text);
    String::from_utf8_lossy(line.trim_ascii_end()).into_owned()
}

/// A stream that cannot be read on.
pub(super) fn broken(why: &str) -> anyhow::Error {
    Advice::new(
        format!("cannot read the Arrow stream on stdin: {why}"),
        "see docs/scale.md for its columns",
    )
    .into_error()
}
