//! Where a report goes: stdout, or a file that is there as a whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::failure::Advice;

/// Where a report goes.
#[derive(Debug)]
pub(crate) enum Output {
    /// Data for the next program, or text for the person at the terminal.
    Stdout,
    /// A file that is replaced in one step once the report is complete.
    File(PathBuf),
    /// A device or pipe, which cannot be replaced and is written straight.
    Device(PathBuf),
}

impl Output {
    /// Looks at the place before the work starts, so that a long scan is not lost to a wrong name.
    pub(crate) fn open(path: Option<&Path>) -> Result<Self> {
        let Some(path) = path else {
            return Ok(Self::Stdout);
        };
        // A link keeps pointing where it points: what is replaced is the file behind it.
        let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
        match fs::metadata(&path) {
            Ok(found) if found.is_dir() => Err(Advice::new(
                format!("cannot write to {}: it is a folder", path.display()),
                "name a file, for example with --output report.jsonl",
            )
            .into_error()),
            Ok(found) if !found.is_file() => Ok(Self::Device(path)),
            _ => {
                let draft = Draft::create(&path).with_context(|| cannot_write(&path))?;
                drop(draft);
                Ok(Self::File(path))
            }
        }
    }

    /// Whether the report would replace this file.
    pub(crate) fn replaces(&self, path: &Path) -> bool {
        let Self::File(target) = self else {
            return false;
        };
        target.file_name() == path.file_name()
            && fs::canonicalize(path).is_ok_and(|path| path == *target)
    }

    /// Writes what `render` makes. A file appears only if all of it could be written.
    pub(crate) fn write(
        &self,
        render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        match self {
            Self::Stdout => {
                buffered(io::stdout().lock(), render)
                    .map(drop)
                    .context("cannot write to stdout")?;
            }
            Self::Device(path) => OpenOptions::new()
                .write(true)
                .open(path)
                .and_then(|file| buffered(file, render).map(drop))
                .with_context(|| cannot_write(path))?,
            Self::File(path) => Draft::create(path)
                .and_then(|draft| draft.fill(render))
                .with_context(|| cannot_write(path))?,
        }
        Ok(())
    }

    /// The same for a program in a pipe, which reads while it writes. What goes wrong with the reading is told as it is.
    pub(crate) fn pass_on(
        &self,
        work: impl FnOnce(&mut dyn Write) -> Result<(), Broken>,
    ) -> Result<()> {
        let mut failed = None;
        let written = self.write(|out| {
            work(out).map_err(|broken| match broken {
                Broken::Writing(error) => error,
                Broken::Reading(error) => {
                    failed = Some(error);
                    io::ErrorKind::Other.into()
                }
            })
        });
        failed.map_or(written, Err)
    }
}

/// Why a program in a pipe stops.
#[derive(Debug)]
pub(crate) enum Broken {
    /// What it reads is not what it should be.
    Reading(anyhow::Error),
    /// What it writes finds no place.
    Writing(io::Error),
}

impl From<anyhow::Error> for Broken {
    fn from(error: anyhow::Error) -> Self {
        Self::Reading(error)
    }
}

impl From<io::Error> for Broken {
    fn from(error: io::Error) -> Self {
        Self::Writing(error)
    }
}

fn cannot_write(path: &Path) -> Advice {
    Advice::new(
        format!("cannot write to {}", path.display()),
        "check that the folder exists, that you may write there and that the disk is not full; \
         or name another file",
    )
}

fn buffered<W: Write>(
    inner: W,
    render: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<W> {
    let mut writer = BufWriter::with_capacity(1 << 16, inner);
    render(&mut writer)?;
    let mut inner = writer
        .into_inner()
        .map_err(io::IntoInnerError::into_error)?;
    inner.flush()?;
    Ok(inner)
}

/// A file beside the target that takes its name when it is complete, and else goes away.
struct Draft<'a> {
    target: &'a Path,
    path: PathBuf,
    file: Option<File>,
}

impl<'a> Draft<'a> {
    fn create(target: &'a Path) -> io::Result<Self> {
        let name = target.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let mut last = io::Error::from(io::ErrorKind::AlreadyExists);
        // A draft left behind by a killed run must not stop this one.
        for attempt in 0..16_u32 {
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.part", std::process::id()));
            let path = target.with_file_name(hidden);
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(file) => {
                    return Ok(Self {
                        target,
                        path,
                        file: Some(file),
                    });
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => last = error,
                Err(error) => return Err(error),
            }
        }
        Err(last)
    }

    fn fill(mut self, render: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
        let Some(file) = self.file.take() else {
            return Err(io::ErrorKind::NotFound.into());
        };
        // A report that was private stays private.
        if let Ok(before) = fs::metadata(self.target) {
            file.set_permissions(before.permissions())?;
        }
        buffered(file, render)?.sync_all()?;
        fs::rename(&self.path, self.target)
    }
}

impl Drop for Draft<'_> {
    fn drop(&mut self) {
        // After the rename there is nothing left under this name, and that is fine.
        let _ = fs::remove_file(&self.path);
    }
}
