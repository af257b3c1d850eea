//! Where no room is left for the file, memory is used all the same.

#![cfg(target_os = "linux")]

use std::io::ErrorKind;

use rustix::process::{Resource, Rlimit, setrlimit};
use twicetold_memory::{Bounded, in_file, is_full, keep_to};

#[global_allocator]
static MEMORY: Bounded = Bounded;

const LIMIT: usize = 32 << 20;

/// One test: there is one allocator, and it has one limit.
#[test]
fn without_room_for_the_file_memory_is_used() {
    // A file of this process can have room for one step, and not for two.
    let most = Some(48 << 20);
    let limit = Rlimit {
        current: most,
        maximum: most,
    };
    setrlimit(Resource::Fsize, limit).expect("a lower limit");
    match keep_to(LIMIT as u64, &std::env::temp_dir()) {
        Err(error) if error.kind() == ErrorKind::Unsupported => {
            eprintln!("skipped: no memory can stand in files here: {error}");
            return;
        }
        made => made.expect("a temporary file"),
    }
    // One large piece that finds no room says nothing about smaller ones.
    let large = vec![7_u8; LIMIT * 2];
    assert!(!is_full());
    let pieces: Vec<Vec<u8>> = (0..2 * LIMIT / 5000).map(|n| vec![n as u8; 5000]).collect();
    assert!(is_full());
    assert_eq!(in_file(), 32 << 20, "what there is room for is used");
    let mut growing: Vec<u32> = Vec::new();
    growing.extend(0..LIMIT as u32);
    assert!(large.iter().all(|&byte| byte == 7));
    for (n, piece) in pieces.iter().enumerate() {
        assert!(piece.iter().all(|&byte| byte == n as u8), "{n}");
    }
    assert!(growing.iter().zip(0..).all(|(&number, n)| number == n));
}
