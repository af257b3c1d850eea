//! `twicetold judge`.

use std::io;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use twicetold_cluster::{Handed, InPart, VerdictColumns, VerdictRow, Wanted};
use twicetold_detect::{Crew, InWhole, Options, Progress, Stage, Statistics, Whole};
use twicetold_model::Location;
use twicetold_source::{Collection, Pile};

use super::TalkArgs;
use super::engine::{DecidingArgs, parse_size, use_threads};
use super::scan::would_overwrite;
use super::statistics;
use crate::failure::Exit;
use crate::feed::{Feed, From, Piece, size_of, warn_of_loss};
use crate::output::Output;
use crate::report::judged::{rows, unread};
use crate::report::units;
use crate::sheet::{Ready, RowFormat, Sheet, refuse_terminal};
use crate::terminal::{Bar, talk};

/// Judge groups of messages that another program hands over
///
/// Reads rows, each with a group, an id and a message (or a text), the rows of a group one after
/// the other, and judges every group on its own: the verdicts are those that scan would give if the
/// group were the whole mailbox. One row is written for each message, as scan writes it, with group and ids
/// behind. One group is held in memory at a time, or several small ones.
///
/// Rows are JSON lines (the message in base64), an Arrow stream, or Parquet files: the first bytes tell.
///
/// A message is only called redundant if others of its group say everything it says, and those are
/// kept. So a message has to be in one group only: else two groups could each rely on what the other
/// lets go.
#[derive(Debug, Args)]
#[command(after_long_help = AFTER_HELP)]
pub(super) struct JudgeArgs {
    /// Files of rows, read one after the other; - is stdin
    #[arg(value_name = "FILE", default_value = "-")]
    files: Vec<PathBuf>,

    /// How large a group may be; the messages of a larger one stay, unjudged
    #[arg(long, value_name = "SIZE", default_value = "16G", value_parser = parse_size)]
    largest: u64,

    /// Write to this file instead of stdout; it appears when it is complete
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Read the files as rows of this kind [default: by their first bytes]
    #[arg(long, value_enum, value_name = "KIND")]
    from: Option<From>,

    /// How to write the verdicts
    #[arg(long, short, value_enum, default_value_t)]
    format: RowFormat,

    /// The statistics of a larger collection of which the groups are parts; rows say where in it their messages stand
    #[arg(long, value_name = "FILE")]
    statistics: Option<PathBuf>,

    /// Write the lines that scan writes, without group and ids
    #[arg(long, conflicts_with = "format")]
    as_scan: bool,

    #[command(flatten)]
    deciding: DecidingArgs,
}

const AFTER_HELP: &str = "\
Examples:
  twicetold judge groups.jsonl
  producer | twicetold judge | consumer
  twicetold judge --keep newest --output verdicts.jsonl part-*.jsonl
  twicetold judge --format arrow --output verdicts.arrow part-*.parquet

Exit codes: 0 done, 1 error, 2 wrong usage, 3 done but some rows could not be judged,
130 interrupted.

More: docs/scale.md (the rows, and how to make groups), docs/output.md (the verdicts),
docs/exit-codes.md";

/// Groups are judged together until they have so many bytes.
const BATCH_BYTES: u64 = 32 << 20;
/// And so many things are written together at the most.
const BATCH_ITEMS: usize = 4096;
/// Of a group so many bytes wait in memory; of a larger one the rest waits in a file.
const ROOM: u64 = 64 << 20;

pub(super) fn run(args: &JudgeArgs, how: TalkArgs) -> Result<Exit> {
    let output = Output::open(args.output.as_deref())?;
    if let Some(path) = args.files.iter().find(|path| output.replaces(path)) {
        return Err(would_overwrite(path));
    }
    if args.format == RowFormat::Arrow {
        refuse_terminal(&output, "an Arrow stream")?;
    }
    let mut feed = Feed::open(&args.files, args.from, Wanted::Messages)?;
    let statistics = args
        .statistics
        .as_deref()
        .map(statistics::read)
        .transpose()?;
    use_threads(args.deciding.threads())?;
    let start = Instant::now();
    let bar = Bar::new(how.quiet);
    bar.begin(Stage::Reading, size_of(&args.files));
    let mut desk = Desk {
        options: args.deciding.options(),
        statistics,
        largest: args.largest,
        format: args.format,
        as_scan: args.as_scan,
        crew: Crew::new(),
        open: None,
        gap: false,
        ready: Vec::new(),
        ready_bytes: 0,
        messages: 0,
        groups: 0,
        unread: 0,
        lost: Vec::new(),
    };
    let written = output.pass_on(|out| {
        let mut sheet = Sheet::new(args.format, out, VerdictColumns::default())?;
        while let Some(piece) = feed.next()? {
            bar.advance(1, piece.len());
            desk.take(piece);
            if desk.ready_bytes >= BATCH_BYTES || desk.ready.len() >= BATCH_ITEMS {
                desk.judge(&mut sheet)?;
            }
        }
        desk.close();
        desk.judge(&mut sheet)?;
        Ok(sheet.finish()?)
    });
    bar.finish();
    written?;
    if !how.quiet {
        desk.lost.iter().for_each(|what| warn_of_loss(what));
        if desk.unread > 0 {
            let rows = units::counted(desk.unread, "row", "rows");
            talk(&format!(
                "warning: {rows} could not be judged; the problems in them say why"
            ));
        }
        let messages = units::counted(desk.messages, "message", "messages");
        let groups = units::counted(desk.groups, "group", "groups");
        let took = start.elapsed().as_secs_f64();
        talk(&format!("{messages} in {groups} in {took:.1} s"));
    }
    Ok(match desk.unread == 0 && desk.lost.is_empty() {
        true => Exit::Done,
        false => Exit::Partly,
    })
}

/// What has been handed over and is not yet written.
struct Desk {
    options: Options,
    statistics: Option<Statistics>,
    largest: u64,
    format: RowFormat,
    /// Rows do not say what they were handed over with.
    as_scan: bool,
    crew: Crew,
    open: Option<Group>,
    /// Whether rows are missing just before: the beginning of the next group may be among them.
    gap: bool,
    ready: Vec<Item>,
    ready_bytes: u64,
    messages: u64,
    groups: u64,
    unread: u64,
    /// Where tables have lost rows.
    lost: Vec<String>,
}

/// A group whose rows are still coming.
struct Group {
    name: String,
    placed: Vec<Placed>,
    messages: Pile,
    bytes: u64,
    /// Why it is not judged: its messages stay.
    spoilt: Option<&'static str>,
}

const TOO_LARGE: &str = "the group is larger than --largest allows, so it was not judged; \
     make smaller groups, or raise --largest";
const INCOMPLETE: &str = "rows are missing where the group begins or ends, so it was not judged; \
     hand the whole group over once more";

/// Where a message stands, what it is called, and what is known of it from the whole.
struct Placed {
    id: String,
    location: Location,
    whole: Box<InPart>,
}

/// Something to be written.
enum Item {
    Group(Judgeable),
    Unread(VerdictRow),
}

/// A group that is complete.
struct Judgeable {
    name: String,
    /// What the messages are called, sorted by location.
    ids: Vec<(Location, String)>,
    /// Taken when it is judged.
    messages: Option<Pile>,
    /// What is known of each from the whole; taken when it is judged.
    wholes: Vec<(Location, InWhole)>,
    /// Those judged elsewhere, sorted.
    context: Vec<Location>,
}

/// Engines know no 64-bit numbers without a sign.
fn unsigned(numbers: Vec<i64>) -> Vec<u64> {
    numbers.into_iter().map(i64::cast_unsigned).collect()
}

impl Desk {
    /// Takes what is handed over.
    fn take(&mut self, piece: Piece) {
        let lost = match &piece {
            Piece::Lost(_, what) => Some(what.clone()),
            _ => None,
        };
        let Handed {
            group,
            id,
            location,
            message,
            whole,
        } = piece.handed();
        if let Some(what) = lost {
            if let Some(open) = &mut self.open {
                open.spoilt = Some(INCOMPLETE);
            }
            self.refuse_if_spoilt();
            self.gap = true;
            let row = unread(group, id, location, what.clone());
            self.ready.push(Item::Unread(row));
            self.lost.push(what);
            return;
        }
        let (name, raw) = match (group, message) {
            (Some(group), Ok(raw)) => (group, raw),
            (group, Err(problem)) => return self.refuse(group, id, location, &problem),
            (None, Ok(_)) => return self.refuse(None, id, location, "the row has no group"),
        };
        if self.open.as_ref().is_none_or(|open| open.name != name) {
            self.close();
        }
        let gap = std::mem::take(&mut self.gap);
        let open = self.open.get_or_insert_with(|| Group {
            name,
            placed: Vec::new(),
            messages: Pile::with_room_for(ROOM),
            bytes: 0,
            spoilt: gap.then_some(INCOMPLETE),
        });
        open.bytes += raw.bytes.len() as u64;
        open.placed.push(Placed {
            id,
            location: raw.location.clone(),
            whole: whole.unwrap_or_default(),
        });
        open.messages.push(raw);
        if open.bytes > self.largest {
            open.spoilt = open.spoilt.or(Some(TOO_LARGE));
        }
        self.refuse_if_spoilt();
    }

    /// The messages of a group that cannot be judged need not wait for the rest of it.
    fn refuse_if_spoilt(&mut self) {
        let Some(open) = &mut self.open else {
            return;
        };
        let Some(problem) = open.spoilt else {
            return;
        };
        let name = open.name.clone();
        open.messages = Pile::with_room_for(ROOM);
        let placed = std::mem::take(&mut open.placed);
        for one in placed.into_iter().filter(|one| !one.whole.context) {
            self.refuse(Some(name.clone()), one.id, one.location, problem);
        }
    }

    fn refuse(&mut self, group: Option<String>, id: String, location: Location, problem: &str) {
        self.unread += 1;
        let row = unread(group, id, location, problem.to_owned());
        self.ready.push(Item::Unread(row));
    }

    /// The group that was open is complete.
    fn close(&mut self) {
        let Some(group) = self.open.take().filter(|group| !group.placed.is_empty()) else {
            return;
        };
        let mut placed = group.placed;
        placed.sort_by(|a, b| a.location.cmp(&b.location));
        let mut whole = Judgeable {
            wholes: Vec::with_capacity(placed.len()),
            context: Vec::new(),
            name: group.name,
            ids: Vec::with_capacity(placed.len()),
            messages: Some(group.messages),
        };
        for one in placed {
            let (id, location, known) = (one.id, one.location, *one.whole);
            if whole
                .ids
                .last()
                .is_some_and(|(before, _)| *before == location)
            {
                let problem = "another message of the group has the same path and offset, or the same id; only one was judged";
                self.refuse(Some(whole.name.clone()), id, location, problem);
                continue;
            }
            if known.context {
                whole.context.push(location.clone());
            }
            let known = InWhole {
                rank: known.rank,
                thread: known.thread,
                thread_name: known.thread_name,
                near: known.near,
                common: unsigned(known.common),
                leading: unsigned(known.leading),
            };
            whole.wholes.push((location.clone(), known));
            whole.ids.push((location, id));
        }
        self.ready_bytes += group.bytes;
        self.messages += whole.ids.len() as u64;
        self.groups += 1;
        self.ready.push(Item::Group(whole));
    }

    /// Judges the groups that are complete and writes everything in the order in which it came.
    fn judge(&mut self, sheet: &mut Sheet<'_, VerdictColumns>) -> io::Result<()> {
        let mut ready = std::mem::take(&mut self.ready);
        self.ready_bytes = 0;
        let mut collections = Vec::new();
        let mut wholes = Vec::new();
        for item in &mut ready {
            if let Item::Group(group) = item {
                collections.extend(group.messages.take().map(Collection::of_pile));
                let known = std::mem::take(&mut group.wholes);
                wholes.extend(self.statistics.as_ref().map(|all| Whole::new(all, known)));
            }
        }
        let groups: Vec<&Judgeable> = ready
            .iter()
            .filter_map(|item| match item {
                Item::Group(group) => Some(group),
                Item::Unread(_) => None,
            })
            .collect();
        let (format, as_scan) = (self.format, self.as_scan);
        let (crew, options) = (&self.crew, &self.options);
        let judged = crew.scan_each(&collections, &wholes, options, |n, scan| {
            let group = groups[n];
            let own = |place: &Location| group.context.binary_search(place).is_err();
            let mut rows = rows(&group.name, scan, own, |place| group.id(place));
            if as_scan {
                rows.iter_mut().for_each(|row| row.given = None);
            }
            format.ready(rows)
        });
        let mut judged: std::vec::IntoIter<io::Result<Ready<VerdictRow>>> = judged.into_iter();
        for item in ready {
            match item {
                Item::Group(_) => {
                    if let Some(rows) = judged.next() {
                        sheet.put(rows?)?;
                    }
                }
                Item::Unread(mut row) => {
                    row.given = row.given.filter(|_| !as_scan);
                    sheet.put(format.ready(vec![row])?)?;
                }
            }
        }
        sheet.flush()
    }
}

impl Judgeable {
    fn id(&self, location: &Location) -> Option<&str> {
        let found = self.ids.binary_search_by(|(place, _)| place.cmp(location));
        self.ids.get(found.ok()?).map(|(_, id)| id.as_str())
    }
}
