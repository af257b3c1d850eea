//! Lists every message below the paths given: form, bytes, location. `--check` reads each again.

#![allow(clippy::print_stdout, clippy::print_stderr)]

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use twicetold_source::Collection;

fn main() -> std::io::Result<()> {
    let (flags, paths): (Vec<_>, Vec<_>) = std::env::args_os()
        .skip(1)
        .partition(|argument| argument == "--check");
    let paths: Vec<PathBuf> = paths.into_iter().map(PathBuf::from).collect();
    let check = !flags.is_empty();

    let start = Instant::now();
    let collection = Collection::open(&paths);
    eprintln!(
        "listed {} bytes in {:.2?}",
        collection.total_bytes(),
        start.elapsed()
    );
    for mailbox in collection.mailboxes() {
        eprintln!(
            "{}: {}, {} files",
            mailbox.path, mailbox.kind, mailbox.files
        );
    }
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut troubles = collection.troubles().to_vec();
    let (mut messages, mut bytes, mut different) = (0_u64, 0_u64, 0_u64);
    let start = Instant::now();
    for task in collection.tasks() {
        task.run(
            &mut |message| {
                messages += 1;
                bytes += message.bytes.len() as u64;
                let _ = writeln!(
                    out,
                    "{:?}\t{}\t{}",
                    message.form,
                    message.bytes.len(),
                    message.location.to_string().escape_debug()
                );
                if check {
                    let again = collection.read(&message.location);
                    let same = again.is_ok_and(|again| {
                        again.bytes == message.bytes && again.form == message.form
                    });
                    different += u64::from(!same);
                }
            },
            &mut |trouble| troubles.push(trouble),
        );
    }
    out.flush()?;
    for trouble in troubles {
        eprintln!("{}: {}", trouble.path.escape_debug(), trouble.problem);
    }
    eprintln!(
        "{messages} messages, {bytes} bytes in {:.2?}",
        start.elapsed()
    );
    eprintln!(
        "{} files skipped, {different} messages different when read again",
        collection.skipped()
    );
    Ok(())
}
