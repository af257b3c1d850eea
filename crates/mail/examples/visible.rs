//! Prints what a reader sees of messages: `visible FILE…`, or with `--time` only how fast they are read.

use std::io::Write;
use std::time::Instant;

use twicetold_mail::mime;

fn main() -> std::io::Result<()> {
    let (options, files): (Vec<_>, Vec<_>) =
        std::env::args().skip(1).partition(|a| a.starts_with("--"));
    let mut out = std::io::stdout().lock();
    if options.iter().any(|o| o == "--time") {
        return time(&files, &mut out);
    }
    for file in files {
        let visible = mime::open(&std::fs::read(&file)?);
        writeln!(out, "# {file}\n{:#?}", visible.envelope)?;
        for attachment in &visible.attachments {
            let name = attachment.name.as_deref().unwrap_or("(no name)");
            writeln!(
                out,
                "attached: {name}, {}, {} bytes",
                attachment.media_type, attachment.size
            )?;
        }
        for problem in &visible.problems {
            writeln!(out, "problem: {problem}")?;
        }
        writeln!(
            out,
            "hidden links: {}\n\n{}",
            visible.links.len(),
            visible.text
        )?;
    }
    Ok(())
}

/// Reads all files first, then opens each three times and tells the best rate.
fn time(files: &[String], out: &mut impl Write) -> std::io::Result<()> {
    let mails = files
        .iter()
        .map(std::fs::read)
        .collect::<Result<Vec<_>, _>>()?;
    let bytes: usize = mails.iter().map(Vec::len).sum();
    let mut best = f64::MAX;
    for _ in 0..3 {
        let start = Instant::now();
        let text: usize = mails.iter().map(|mail| mime::open(mail).text.len()).sum();
        best = best.min(start.elapsed().as_secs_f64());
        std::hint::black_box(text);
    }
    let rate = bytes as f64 / best / 1e6;
    writeln!(
        out,
        "{} messages, {bytes} bytes, {rate:.0} MB/s",
        mails.len()
    )
}
