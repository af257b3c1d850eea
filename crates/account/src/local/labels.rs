//! What a Maildir's file names have no room for: keywords, and Gmail's labels and ids. One JSON object a
//! line; of several lines about a message the last one counts.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::fault::Fault;

const FILE: &str = ".twicetold-labels.jsonl";

/// What is noted of a message.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Label {
    pub(crate) validity: u32,
    pub(crate) uid: u32,
    /// The number under which Gmail knows the message, in all its folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) gmail_id: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) labels: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) keywords: Vec<String>,
}

impl Label {
    pub(crate) fn says_nothing(&self) -> bool {
        self.gmail_id.is_none() && self.labels.is_empty() && self.keywords.is_empty()
    }
}

fn path(maildir: &Path) -> PathBuf {
    maildir.join(FILE)
}

/// The notes of a folder, by UID. A line that was cut by a crash is passed over.
pub(crate) fn read(maildir: &Path, validity: u32) -> Result<BTreeMap<u32, Label>, Fault> {
    let path = path(maildir);
    let file = match fs::File::open(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeMap::new()),
        Err(error) => return Err(Fault::local("read", &path, error)),
    };
    let mut labels = BTreeMap::new();
    for line in BufReader::new(file).split(b'\n') {
        let line = line.map_err(|error| Fault::local("read", &path, error))?;
        if let Ok(label) = serde_json::from_slice::<Label>(&line)
            && label.validity == validity
        {
            labels.insert(label.uid, label);
        }
    }
    Ok(labels)
}

/// Adds notes at the end.
pub(crate) fn add(maildir: &Path, labels: &[Label]) -> Result<(), Fault> {
    if labels.is_empty() {
        return Ok(());
    }
    let path = path(maildir);
    let mut text = Vec::new();
    for label in labels {
        // A line cut by a crash ends before the next one begins.
        text.push(b'\n');
        if let Ok(line) = serde_json::to_vec(label) {
            text.extend_from_slice(&line);
        }
    }
    text.push(b'\n');
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(&path)
        .and_then(|mut file| file.write_all(&text))
        .map_err(|error| Fault::local("write", &path, error))
}
