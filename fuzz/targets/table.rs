//! Any bytes, as an Arrow stream, an Arrow file or a Parquet file: its rows come, or it is told what is lost, and twice the same.
#![no_main]

use std::cell::RefCell;
use std::fs::File;
use std::io::{Cursor, Seek, Write};

use libfuzzer_sys::fuzz_target;
use twicetold_cluster::{Kind, Next, Table, Wanted};

/// A table of a few bytes can say that a row stands in it very often; whoever reads on gets no further.
const ENOUGH: usize = 10_000;

thread_local! {
    /// The file that a table of Parquet is read from.
    static FILE: RefCell<File> = RefCell::new(nameless());
}

fn nameless() -> File {
    let path = std::env::temp_dir().join(format!("fuzz-table-{}", std::process::id()));
    let options = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(&path);
    let _ = std::fs::remove_file(&path);
    options.expect("a file in the folder for such files")
}

fn parquet(bytes: &[u8]) -> Table {
    FILE.with_borrow_mut(|file| {
        let mut put = || {
            file.set_len(0)?;
            file.rewind()?;
            file.write_all(bytes)?;
            file.rewind()?;
            file.try_clone()
        };
        Table::parquet("x", put().expect("room for it"), Wanted::Messages)
    })
}

/// What a table gives: the names of its rows and how many bytes each has, and what is lost.
fn read(mut table: Table) -> Result<Vec<String>, String> {
    let mut told = Vec::new();
    while told.len() < ENOUGH {
        match table.next_row().map_err(|refused| refused.to_string())? {
            Next::Row(row) => {
                let bytes = row.message.map(|raw| raw.bytes.len());
                told.push(format!("{} {bytes:?}", row.id));
            }
            Next::Lost(why) => told.push(why),
            Next::End => break,
        }
    }
    Ok(told)
}

fuzz_target!(|bytes: &[u8]| {
    let _ = Kind::of_beginning(bytes);
    let stream = || Table::stream("x", Box::new(Cursor::new(bytes.to_vec())), Wanted::Messages);
    assert_eq!(read(stream()), read(stream()));
    assert_eq!(read(parquet(bytes)), read(parquet(bytes)));
});
