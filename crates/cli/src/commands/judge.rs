//! `twicetold judge`.

use std::io::{self, Write};
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use twicetold_detect::{Crew, Options, Progress, Stage};
use twicetold_model::{Location, RawMessage};
use twicetold_source::Collection;

use super::TalkArgs;
use super::engine::{DecidingArgs, parse_size, use_threads};
use super::scan::would_overwrite;
use crate::failure::Exit;
use crate::feed::{Feed, Handed, is_stdin};
use crate::output::Output;
use crate::report::judged::{write, write_unread};
use crate::report::units;
use crate::terminal::{Bar, talk};

/// Judge groups of messages that another program hands over
///
/// Reads JSON lines, each with a group, an id and a message (or a text), the lines of a group one after
/// the other, and judges every group on its own: the verdicts are those that scan would give if the
/// group were the whole mailbox. One line is written for each message, as scan writes it, with group and ids
/// behind. One group is held in memory at a time, or several small ones.
///
/// A message is only called redundant if others of its group say everything it says, and those are
/// kept. So a message has to be in one group only: else two groups could each rely on what the other
/// lets go.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct JudgeArgs {
    /// Files of JSON lines, read one after the other; - is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,

    /// How large a group may be; the messages of a larger one stay, unjudged
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = parse_size)]
    largest: u64,

    /// Write to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    #[command(flatten)]
    deciding: DecidingArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold judge groups.jsonl
  producer | twicetold judge | consumer
  twicetold judge --keep newest --output verdicts.jsonl part-*.jsonl

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but some lines could not be judged,
130 interrupted.

More: docs/scale.md (the lines, and how to make groups), docs/output.md (the verdicts),
docs/exit-codes.md";

/// Groups are judged together until they have so many bytes.
const BATCH_BYTES: u64 = 32 << 20;
/// And so many things are written together at the most.
const BATCH_ITEMS: usize = 4096;

pub(super) fn run(args: &JudgeArgs, how: TalkArgs) -> Result<Exit> {
    let output = Output::open(args.output.as_deref())?;
    if let Some(path) = args.files.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    let mut feed = Feed::open(&args.files)?;
    use_threads(args.deciding.threads())?;
    let start = Instant::now();
    let bar = Bar::new(how.quiet);
    bar.begin(Stage::Reading, total(&args.files));
    let mut desk = Desk {
        options: args.deciding.options(),
        largest: args.largest,
        crew: Crew::new(),
        open: None,
        ready: Vec::new(),
        ready_bytes: 0,
        messages: 0,
        groups: 0,
        unread: 0,
    };
    let mut failed = None;
    let written = output.write(|out| {
        loop {
            let line = match feed.next() {
                Ok(Some(line)) => line,
                Ok(None) => break,
                Err(error) => {
                    failed = Some(error);
                    return Err(io::ErrorKind::Other.into());
                }
            };
            bar.advance(1, line.len());
            desk.take(line.handed());
            if desk.ready_bytes >= BATCH_BYTES || desk.ready.len() >= BATCH_ITEMS {
                desk.judge(out)?;
            }
        }
        desk.close();
        desk.judge(out)
    });
    bar.finish();
    if let Some(error) = failed {
        return Err(error);
    }
    written?;
    if !how.quiet {
        if desk.unread > 0 {
            let lines = units::counted(desk.unread, "line", "lines");
            talk(&format!(
                "warning: {lines} could not be judged; the problems in their rows say why"
            ));
        }
        let messages = units::counted(desk.messages, "message", "messages");
        let groups = units::counted(desk.groups, "group", "groups");
        let took = start.elapsed().as_secs_f64();
        talk(&format!("{messages} in {groups} in {took:.1} s"));
    }
    Ok(match desk.unread {
        0 => Exit::Done,
        _ => Exit::Partly,
    })
}

/// How many bytes there are to read, if that is known.
fn total(files: &[PathBuf]) -> u64 {
    let sizes = files.iter().map(|file| match is_stdin(file) {
        true => None,
        false => Some(file.metadata().ok()?.len()),
    });
    sizes.sum::<Option<u64>>().unwrap_or(0)
}

/// What has been handed over and is not yet written.
struct Desk {
    options: Options,
    largest: u64,
    crew: Crew,
    open: Option<Group>,
    ready: Vec<Item>,
    ready_bytes: u64,
    messages: u64,
    groups: u64,
    unread: u64,
}

/// A group whose lines are still coming.
struct Group {
    name: String,
    messages: Vec<(String, RawMessage<'static>)>,
    bytes: u64,
    too_large: bool,
}

/// Something to be written.
enum Item {
    Group(Judgeable),
    Unread {
        group: Option<String>,
        id: String,
        location: Location,
        problem: String,
    },
}

/// A group that is complete.
struct Judgeable {
    name: String,
    /// What the messages are called, sorted by location.
    ids: Vec<(Location, String)>,
    /// Taken when it is judged.
    messages: Vec<RawMessage<'static>>,
}

impl Desk {
    /// Takes what a line hands over.
    fn take(&mut self, handed: Handed) {
        let Handed {
            group,
            id,
            location,
            message,
        } = handed;
        let (name, raw) = match (group, message) {
            (Some(group), Ok(raw)) => (group, raw),
            (group, Err(problem)) => return self.refuse(group, id, location, &problem),
            (None, Ok(_)) => return self.refuse(None, id, location, "the line has no group"),
        };
        if self.open.as_ref().is_none_or(|open| open.name != name) {
            self.close();
        }
        let open = self.open.get_or_insert_with(|| Group {
            name,
            messages: Vec::new(),
            bytes: 0,
            too_large: false,
        });
        open.bytes += raw.bytes.len() as u64;
        open.messages.push((id, raw));
        if open.bytes > self.largest {
            open.too_large = true;
        }
        if open.too_large {
            let name = open.name.clone();
            for (id, raw) in std::mem::take(&mut open.messages) {
                let problem = "the group is larger than --largest allows, so it was not judged; \
                     make smaller groups, or raise --largest";
                self.refuse(Some(name.clone()), id, raw.location, problem);
            }
        }
    }

    fn refuse(&mut self, group: Option<String>, id: String, location: Location, problem: &str) {
        self.unread += 1;
        self.ready.push(Item::Unread {
            group,
            id,
            location,
            problem: problem.to_owned(),
        });
    }

    /// The group that was open is complete.
    fn close(&mut self) {
        let Some(group) = self.open.take().filter(|group| !group.messages.is_empty()) else {
            return;
        };
        let mut messages = group.messages;
        messages.sort_by(|(_, a), (_, b)| a.location.cmp(&b.location));
        let mut whole = Judgeable {
            name: group.name,
            ids: Vec::with_capacity(messages.len()),
            messages: Vec::with_capacity(messages.len()),
        };
        for (id, raw) in messages {
            if whole
                .ids
                .last()
                .is_some_and(|(before, _)| *before == raw.location)
            {
                let problem = "another message of the group has the same path and offset, or the same id; only one was judged";
                self.refuse(Some(whole.name.clone()), id, raw.location, problem);
                continue;
            }
            whole.ids.push((raw.location.clone(), id));
            whole.messages.push(raw);
        }
        self.ready_bytes += group.bytes;
        self.messages += whole.messages.len() as u64;
        self.groups += 1;
        self.ready.push(Item::Group(whole));
    }

    /// Judges the groups that are complete and writes everything in the order in which it came.
    fn judge(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        self.ready_bytes = 0;
        let collections: Vec<Collection> = ready
            .iter_mut()
            .filter_map(|item| match item {
                Item::Group(group) => Some(std::mem::take(&mut group.messages)),
                Item::Unread { .. } => None,
            })
            .map(Collection::of_messages)
            .collect();
        let groups: Vec<&Judgeable> = ready
            .iter()
            .filter_map(|item| match item {
                Item::Group(group) => Some(group),
                Item::Unread { .. } => None,
            })
            .collect();
        let judged = self.crew.scan_each(&collections, &self.options, |n, scan| {
            let mut rows = Vec::new();
            let group = groups[n];
            write(&mut rows, &group.name, scan, |place| group.id(place)).map(|()| rows)
        });
        let mut judged = judged.into_iter();
        for item in &ready {
            match item {
                Item::Group(_) => {
                    if let Some(rows) = judged.next() {
                        out.write_all(&rows?)?;
                    }
                }
                Item::Unread {
                    group,
                    id,
                    location,
                    problem,
                } => write_unread(out, group.as_deref(), id, location, problem)?,
            }
        }
        out.flush()
    }
}

impl Judgeable {
    fn id(&self, location: &Location) -> Option<&str> {
        let found = self.ids.binary_search_by(|(place, _)| place.cmp(location));
        self.ids.get(found.ok()?).map(|(_, id)| id.as_str())
    }
}
