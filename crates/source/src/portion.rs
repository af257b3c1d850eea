//! A file, or a stretch of one, that somebody else is to read: on another machine, under another name.
//!
//! A [`Collection`](crate::Collection) is cut into [`Portion`]s on one machine and read on others. A stretch begins where a message begins and ends where one
//! begins, so that every message is read once, by the rule by which the whole file would have been split.

use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use twicetold_model::RawMessage;

use crate::STREAM_ABOVE;
use crate::listing::{Container, Entry, Folder, Listing, Place};
use crate::stamp::Stamp;
use crate::stream::{Limits, Stream};
use crate::task;
use crate::trouble::Trouble;

/// A file, or a stretch of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Portion {
    /// What the file is called, here and everywhere.
    pub path: String,
    /// The file.
    pub file: PathBuf,
    /// How many bytes are to be read.
    pub bytes: u64,
    /// Where the file stands, and what it is known to hold: a word for [`Portion::read`] on another machine.
    pub kind: String,
    /// Where the stretch begins and ends; `None` for the whole file.
    pub range: Option<Range<u64>>,
}

impl Portion {
    /// A file that is called `path` and of which nothing else is known.
    pub fn named(path: String, file: PathBuf, bytes: u64) -> Self {
        Self {
            path,
            file,
            bytes,
            kind: kind(Place::Named, None),
            range: None,
        }
    }

    /// Reads the messages of the portion, in order.
    pub fn read(&self, each: &mut dyn FnMut(RawMessage<'_>), trouble: &mut dyn FnMut(Trouble)) {
        let Some((place, container)) = parse(&self.kind) else {
            let what =
                "a kind of file that this program does not know; use the same version everywhere";
            trouble(Trouble::new(self.path.clone(), what));
            return;
        };
        if let Some(container) = container
            && (self.range.is_some() || self.bytes > STREAM_ABOVE)
        {
            match Stream::open(&self.file, &self.path, container, Limits::USUAL)
                .and_then(|stream| stream.between(self.range.clone()))
            {
                Ok(stream) => stream.for_each(|task| task.run(each, trouble)),
                Err(error) => trouble(Trouble::reading(&self.path, &error)),
            }
            return;
        }
        let entry = Entry {
            folder: 0,
            name: self.file.clone().into_os_string(),
            stamp: Stamp {
                size: self.bytes,
                ..Stamp::default()
            },
            place,
            container,
        };
        let listing = Listing::new(vec![Folder::nowhere()], Vec::new());
        let (shown, mut buffer) = (self.path.as_str().into(), Vec::new());
        task::file(
            &listing,
            &entry,
            shown,
            &self.file,
            &mut buffer,
            each,
            trouble,
        );
    }
}

/// The messages in the bytes of a file that somebody has read. It is judged by its name and by what is in it, as a file in a folder is.
pub fn messages_in(
    path: &str,
    file: &[u8],
    each: &mut dyn FnMut(RawMessage<'_>),
    trouble: &mut dyn FnMut(Trouble),
) {
    let mut parts = path.rsplit('/');
    let (name, folder) = (parts.next().unwrap_or(path), parts.next());
    let entry = Entry {
        folder: 0,
        name: name.into(),
        stamp: Stamp::default(),
        place: match folder {
            Some("cur" | "new") => Place::Maildir,
            _ => Place::Tree,
        },
        container: None,
    };
    let listing = Listing::new(vec![Folder::nowhere()], Vec::new());
    task::hand_out(&listing, &entry, path.into(), file, each, trouble);
}

/// Cuts what is listed into portions, in the order of the paths; none of a file of many messages is much longer than `room`. A file that cannot be read
/// here is handed on as a whole: whoever is to read it will say why it cannot be, or has better luck.
pub(crate) fn portions(listing: &Arc<Listing>, room: u64) -> Vec<Portion> {
    let mut portions = Vec::new();
    for entry in &listing.entries {
        let whole = Portion {
            path: listing.shown(entry),
            file: listing.path(entry),
            bytes: entry.stamp.size,
            kind: kind(entry.place, entry.container),
            range: None,
        };
        let large = entry.container.filter(|_| entry.stamp.size > room);
        let starts = large.and_then(|container| cuts(&whole, container, room).ok());
        match starts {
            None => portions.push(whole),
            Some(starts) => {
                let ends = starts.iter().skip(1).copied().chain([whole.bytes]);
                let ranges = starts.iter().copied().zip(ends);
                portions.extend(ranges.map(|(start, end)| Portion {
                    bytes: end.saturating_sub(start),
                    range: Some(start..end),
                    ..whole.clone()
                }));
            }
        }
    }
    portions
}

/// Where messages begin, about every `room` bytes. Where one begins depends on how the one before it ends: the file is skimmed from its front.
fn cuts(whole: &Portion, container: Container, room: u64) -> io::Result<Vec<u64>> {
    let mut starts = vec![0];
    let mut next = room;
    for task in Stream::open(&whole.file, &whole.path, container, Limits::USUAL)? {
        for start in task.starts() {
            if start >= next {
                starts.push(start);
                next = start + room;
            }
        }
    }
    Ok(starts)
}

fn kind(place: Place, container: Option<Container>) -> String {
    let place = match place {
        Place::Maildir => "maildir",
        Place::BesideMaildir => "beside",
        Place::Tree => "tree",
        Place::Named => "named",
    };
    let container = match container {
        None => "",
        Some(Container::Mbox) => "-mbox",
        Some(Container::JsonLines) => "-lines",
        Some(Container::Sgml) => "-sgml",
    };
    format!("{place}{container}")
}

fn parse(kind: &str) -> Option<(Place, Option<Container>)> {
    let (place, container) = match kind.split_once('-') {
        None => (kind, None),
        Some((place, container)) => (place, Some(container)),
    };
    let place = match place {
        "maildir" => Place::Maildir,
        "beside" => Place::BesideMaildir,
        "tree" => Place::Tree,
        "named" => Place::Named,
        _ => return None,
    };
    let container = match container {
        None => None,
        Some("mbox") => Some(Container::Mbox),
        Some("lines") => Some(Container::JsonLines),
        Some("sgml") => Some(Container::Sgml),
        Some(_) => return None,
    };
    Some((place, container))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    const FROM: &str = "From a@b Thu Jan  1 00:00:00 1970\n";

    fn listed(path: &Path, size: u64, container: Container) -> Arc<Listing> {
        let entry = Entry {
            folder: 0,
            name: path.as_os_str().to_owned(),
            stamp: Stamp {
                size,
                ..Stamp::default()
            },
            place: Place::Named,
            container: Some(container),
        };
        Arc::new(Listing::new(vec![Folder::nowhere()], vec![entry]))
    }

    type Read = Vec<(Option<u64>, Vec<u8>)>;

    fn read(portion: &Portion) -> Read {
        let mut all = Read::new();
        portion.read(
            &mut |raw| {
                assert_eq!(*raw.location.path, *portion.path);
                all.push((raw.location.offset, raw.bytes.into_owned()));
            },
            &mut |trouble| panic!("{trouble:?}"),
        );
        all
    }

    fn check(file: &str, room: u64, container: Container) -> usize {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        std::fs::write(&path, file).unwrap();
        let cut = portions(&listed(&path, file.len() as u64, container), room);
        let whole = Portion {
            range: Some(0..file.len() as u64),
            ..cut[0].clone()
        };
        let parts: Read = cut.iter().flat_map(read).collect();
        assert_eq!(parts, read(&whole));
        cut.len()
    }

    #[test]
    fn an_mbox_is_cut_where_messages_begin() {
        let mut file = String::new();
        for n in 0..200 {
            let inner = format!("Hello {n}\n\n{FROM}Subject: quoted\n\nas it was\n>From here\n");
            let length = match n % 3 {
                // The length says that the From line inside is none.
                0 => format!("Content-Length: {}\n", inner.len()),
                // A wrong one is ignored.
                1 => "Content-Length: 7\n".to_owned(),
                _ => String::new(),
            };
            file += &format!("{FROM}Subject: {n}\n{length}\n{inner}\n");
        }
        for room in [1, 100, 777, 5000, 1 << 20] {
            let portions = check(&file, room, Container::Mbox);
            assert!(portions > 1 || room > 5000, "{room}");
        }
    }

    #[test]
    fn a_file_that_cannot_be_read_is_handed_on_and_says_why() {
        let gone = Path::new("/nowhere/gone.mbox");
        for size in [500, STREAM_ABOVE + 1] {
            let cut = portions(&listed(gone, size, Container::Mbox), 100);
            assert_eq!((cut.len(), &cut[0].range), (1, &None));
            let mut told = Vec::new();
            cut[0].read(&mut |_| panic!(), &mut |trouble| told.push(trouble));
            assert_eq!(told.len(), 1);
            assert!(told[0].problem.what.contains("gone since"), "{:?}", told[0]);
        }
    }

    #[test]
    fn lines_and_stories_are_cut_likewise() {
        let lines = "{\"id\":1,\"text\":\"x\"}\n\n".repeat(50);
        assert!(check(&lines, 100, Container::JsonLines) > 5);
        let stories = "<REUTERS NEWID=\"1\"><BODY>x</BODY></REUTERS>\n".repeat(50);
        assert!(check(&stories, 100, Container::Sgml) > 5);
    }

    #[test]
    fn kinds_are_understood_elsewhere() {
        for place in [
            Place::Maildir,
            Place::BesideMaildir,
            Place::Tree,
            Place::Named,
        ] {
            for container in [
                None,
                Some(Container::Mbox),
                Some(Container::JsonLines),
                Some(Container::Sgml),
            ] {
                assert_eq!(parse(&kind(place, container)), Some((place, container)));
            }
        }
        assert_eq!(parse("tree-fax"), None);
        let strange = Portion {
            kind: "fax".to_owned(),
            ..Portion::named("a".to_owned(), Path::new("a").to_owned(), 1)
        };
        let mut told = Vec::new();
        strange.read(&mut |_| panic!(), &mut |trouble| told.push(trouble));
        assert_eq!(told.len(), 1);
    }

    #[test]
    fn bytes_that_came_otherwise_are_judged_as_files_are() {
        let count = |path: &str, bytes: &[u8]| {
            let mut found = Vec::new();
            messages_in(
                path,
                bytes,
                &mut |raw| found.push((raw.form, raw.location.offset)),
                &mut |_| {},
            );
            found
        };
        use twicetold_model::Form;
        let mail = b"Subject: x\nFrom: a@b\nDate: now\n\nHello\n";
        assert_eq!(count("hdfs://a/b/1.eml", mail), [(Form::Mail, None)]);
        assert_eq!(count("s3a://a/cur/1:2,S", b"x"), [(Form::Mail, None)]);
        let mbox = format!("{FROM}Subject: x\n\ny\n\n{FROM}Subject: z\n\ny\n");
        let two = [(Form::Mail, Some(0)), (Form::Mail, Some(49))];
        assert_eq!(count("file:///in.mbox", mbox.as_bytes()), two);
        assert_eq!(count("file:///a.png", b"\x89PNG\0\0"), []);
    }
}
