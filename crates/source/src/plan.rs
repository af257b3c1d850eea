//! The plan: which messages are to go, and on what each of these decisions rests.
//!
//! A scan writes it, a person may read it, and [`act`](crate::act) carries it out, perhaps days later. So it names
//! every message by its place *and* a checksum, and the messages that hold what it says likewise; whoever
//! carries it out reads them again. JSON lines:
//!
//! 1. a [`Head`]: the version of the format, the folder in which relative paths begin, the paths scanned, the options, counts;
//! 2. a [`Removal`] per message, in the order of locations;
//! 3. a seal: how many lines there are, and a checksum over all of them. A plan that was cut short or edited is refused:
//!    what stands in a plan was proved, and what somebody types into it was not.

use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::ser::Formatter;
use twicetold_model::{Category, Form, Location};

use crate::checksum::Checksum;
use crate::listing::real_path;

/// The version of the format. It changes when a field changes its meaning or goes away.
pub const PLAN_VERSION: u32 = 1;

/// What holds for the whole plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Head {
    /// The version of the format, under a name that tells what kind of file this is.
    pub twicetold_plan: u32,
    /// The version of the program that wrote it.
    pub program: String,
    /// The folder in which relative paths begin.
    pub folder: String,
    /// The paths that were scanned, as the user wrote them.
    pub roots: Vec<String>,
    /// The rules that decided which copy stays.
    pub keep: Vec<String>,
    /// Texts with fewer content words than this are judged inside their thread only.
    pub short: usize,
    /// How many messages were scanned.
    pub scanned: u64,
    /// How many of them may go.
    pub removals: u64,
    /// How many bytes those have.
    pub bytes: u64,
}

/// A message, so that it can be found and recognised again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Named {
    /// Where it was.
    #[serde(flatten)]
    pub location: Location,
    /// How its bytes are to be understood.
    pub form: Form,
    /// How many bytes it had.
    pub bytes: u64,
    /// The checksum of its bytes.
    pub checksum: Checksum,
    /// Its `Message-ID`, for people.
    pub message_id: Option<String>,
    /// Its subject, for people.
    pub subject: String,
    /// A name for its conversation.
    pub thread: Option<String>,
    /// On a server: what the UIDs of its folder are valid for. The path is `account:NAME/FOLDER` then, and the offset is the UID.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uid_validity: Option<u32>,
}

impl Named {
    /// Whether it lies on a server.
    pub fn is_on_server(&self) -> bool {
        self.uid_validity.is_some()
    }
}

/// A message that may go, and the messages that hold what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Removal {
    /// The message.
    #[serde(flatten)]
    pub message: Named,
    /// In which way the others hold it.
    pub category: Category,
    /// The messages that hold it: those that say it first, then those that have its attachments and links.
    pub witnesses: Vec<Named>,
}

/// A plan as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What holds for all of it.
    pub head: Head,
    /// What is to go.
    pub removals: Vec<Removal>,
    /// The checksum of the plan itself, which names it in journals; set when it is written or read.
    pub seal: Checksum,
}

#[derive(Serialize, Deserialize)]
struct Seal {
    lines: u64,
    checksum: Checksum,
}

/// Why a file is not a plan that can be carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanError {
    /// It was never a plan.
    NotAPlan,
    /// It was written by a program of another time.
    Version(u32),
    /// Its end is missing.
    CutShort,
    /// It is not what was written.
    Changed,
    /// A line of it cannot be understood, though the checksum is right.
    Line(usize, String),
}

impl fmt::Display for PlanError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAPlan => write!(f, "it is not a plan"),
            Self::Version(version) => write!(
                f,
                "it is a plan of version {version}, and this program knows version {PLAN_VERSION}"
            ),
            Self::CutShort => write!(f, "its end is missing"),
            Self::Changed => write!(
                f,
                "it was changed after it was written: its checksum is wrong"
            ),
            Self::Line(line, why) => write!(f, "line {line} cannot be understood: {why}"),
        }
    }
}

impl std::error::Error for PlanError {}

impl Plan {
    /// Writes the plan, line by line, in the way of `formatter`.
    pub fn write<F: Formatter + Clone>(&self, out: &mut dyn Write, formatter: F) -> io::Result<()> {
        let mut hasher = blake3::Hasher::new();
        let mut line = Vec::new();
        put(&mut line, &self.head, formatter.clone())?;
        hasher.update(&line);
        out.write_all(&line)?;
        for removal in &self.removals {
            line.clear();
            put(&mut line, removal, formatter.clone())?;
            hasher.update(&line);
            out.write_all(&line)?;
        }
        let seal = Seal {
            lines: self.removals.len() as u64 + 1,
            checksum: Checksum::from(hasher.finalize()),
        };
        line.clear();
        put(&mut line, &seal, formatter)?;
        out.write_all(&line)
    }

    /// Reads a plan that [`Plan::write`] wrote, and nothing else.
    pub fn parse(file: &[u8]) -> Result<Self, PlanError> {
        let first = file
            .split_inclusive(|&byte| byte == b'\n')
            .next()
            .unwrap_or_default();
        let version = serde_json::from_slice::<serde_json::Value>(first)
            .ok()
            .and_then(|head| head.get("twicetold_plan")?.as_u64());
        match version {
            None => return Err(PlanError::NotAPlan),
            Some(version) if version != u64::from(PLAN_VERSION) => {
                return Err(PlanError::Version(
                    u32::try_from(version).unwrap_or(u32::MAX),
                ));
            }
            Some(_) => {}
        }
        let body = file.strip_suffix(b"\n").ok_or(PlanError::CutShort)?;
        let last = memchr::memrchr(b'\n', body).ok_or(PlanError::CutShort)? + 1;
        let seal: Seal = serde_json::from_slice(&body[last..]).map_err(|_| PlanError::CutShort)?;
        let lines = &file[..last];
        let checksum = Checksum::from(blake3::hash(lines));
        if checksum != seal.checksum {
            return Err(PlanError::Changed);
        }
        let head = parse_line(first, 1)?;
        let removals: Vec<Removal> = lines[first.len()..]
            .split_inclusive(|&byte| byte == b'\n')
            .enumerate()
            .map(|(n, line)| parse_line(line, n + 2))
            .collect::<Result<_, _>>()?;
        if seal.lines != removals.len() as u64 + 1 {
            return Err(PlanError::Changed);
        }
        Ok(Self {
            head,
            removals,
            seal: checksum,
        })
    }

    /// The folder in which relative paths begin.
    pub fn folder(&self) -> PathBuf {
        real_path(&self.head.folder)
    }

    /// The file in which a message of this plan was.
    pub fn path(&self, location: &Location) -> PathBuf {
        tidy(&self.folder().join(real_path(&location.path)))
    }

    /// The paths that were scanned.
    pub fn roots(&self) -> Vec<PathBuf> {
        let folder = self.folder();
        self.head
            .roots
            .iter()
            .map(|root| tidy(&folder.join(real_path(root))))
            .collect()
    }
}

/// A path as it stands in a plan: every path can be written so, and read back.
pub fn plan_path(path: &Path) -> String {
    crate::listing::shown_path(path)
}

/// The path without the `.` that users put before their paths.
fn tidy(path: &Path) -> PathBuf {
    path.components().collect()
}

fn put<F: Formatter>(line: &mut Vec<u8>, value: &impl Serialize, formatter: F) -> io::Result<()> {
    value.serialize(&mut serde_json::Serializer::with_formatter(
        &mut *line, formatter,
    ))?;
    line.push(b'\n');
    Ok(())
}

fn parse_line<'l, T: Deserialize<'l>>(line: &'l [u8], number: usize) -> Result<T, PlanError> {
    serde_json::from_slice(line).map_err(|error| PlanError::Line(number, error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan() -> Plan {
        let named = |path: &str, offset| Named {
            location: Location {
                path: path.into(),
                offset,
            },
            form: Form::Mail,
            bytes: 7,
            checksum: Checksum::of(b"abc"),
            message_id: Some("<1@x>".to_owned()),
            subject: "caf\u{e9} \u{1b}".to_owned(),
            thread: None,
            uid_validity: None,
        };
        Plan {
            head: Head {
                twicetold_plan: PLAN_VERSION,
                program: "0".to_owned(),
                folder: "/home/caf\u{FFFD}E9".to_owned(),
                roots: vec!["a".to_owned()],
                keep: vec![],
                short: 8,
                scanned: 3,
                removals: 1,
                bytes: 7,
            },
            removals: vec![Removal {
                message: named("a/b", None),
                category: Category::Quoted,
                witnesses: vec![named("a/c", Some(17))],
            }],
            seal: Checksum::of(b""),
        }
    }

    fn written(plan: &Plan) -> Vec<u8> {
        let mut file = Vec::new();
        plan.write(&mut file, serde_json::ser::CompactFormatter)
            .unwrap();
        file
    }

    #[test]
    fn what_was_written_is_read() {
        let read = Plan::parse(&written(&plan())).unwrap();
        assert_eq!(
            Plan {
                seal: plan().seal,
                ..read.clone()
            },
            plan()
        );
        assert_ne!(read.seal, plan().seal);
    }

    #[cfg(unix)]
    #[test]
    fn paths_that_are_not_utf8_come_back() {
        use std::os::unix::ffi::OsStrExt;
        assert_eq!(
            plan().path(&plan().removals[0].message.location),
            Path::new(std::ffi::OsStr::from_bytes(b"/home/caf\xE9/a/b"))
        );
    }

    #[test]
    fn every_cut_and_every_changed_byte_is_noticed() {
        let file = written(&plan());
        for end in 0..file.len() {
            assert!(Plan::parse(&file[..end]).is_err(), "cut at {end}");
        }
        for at in 0..file.len() {
            let mut other = file.clone();
            other[at] ^= 1;
            assert!(Plan::parse(&other).is_err(), "changed at {at}");
        }
        let without_a_line: Vec<u8> = file
            .split_inclusive(|&b| b == b'\n')
            .enumerate()
            .filter(|(n, _)| *n != 1)
            .flat_map(|(_, line)| line.to_vec())
            .collect();
        assert_eq!(Plan::parse(&without_a_line), Err(PlanError::Changed));
    }

    #[test]
    fn other_files_are_told_apart() {
        assert_eq!(Plan::parse(b""), Err(PlanError::NotAPlan));
        assert_eq!(Plan::parse(b"Subject: x\n\ny"), Err(PlanError::NotAPlan));
        assert_eq!(
            Plan::parse(b"{\"twicetold_plan\":9}\n{}\n"),
            Err(PlanError::Version(9))
        );
    }
}
