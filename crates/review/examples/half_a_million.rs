//! How long the pages take over half a million messages.
//!
//! usage: cargo run --release -p twicetold-review --example half_a_million [MESSAGES]

#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use twicetold_detect::{Options, Progress, Scan, ScannedMessage};
use twicetold_model::{Category, Form, Location, Standing, Verdict, Witness};
use twicetold_review::{Doors, Outcome, Page, PastRun, Scanned, Told};
use twicetold_source::{Collection, Plan};

struct Made(u32);

impl Doors for Made {
    fn scan(&self, _: &dyn Progress) -> Result<Scanned, Told> {
        Ok(Scanned {
            collection: Collection::open(&[]),
            scan: Scan {
                messages: (0..self.0).map(message).collect(),
                ..Scan::default()
            },
            options: Options::default(),
            folder: PathBuf::from("/"),
            roots: Vec::new(),
        })
    }

    fn apply(&self, _: &Plan, _: &dyn Fn(u64)) -> Result<Outcome, Told> {
        Ok(Outcome::default())
    }

    fn undo(&self, _: u32, _: &dyn Fn(u64)) -> Result<Outcome, Told> {
        Ok(Outcome::default())
    }

    fn runs(&self) -> Result<Vec<PastRun>, Told> {
        Ok(Vec::new())
    }
}

fn message(n: u32) -> ScannedMessage {
    let mixed = u64::from(n).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 20;
    let redundant = n % 3 == 2;
    ScannedMessage {
        location: Location {
            path: format!("mail/.Folder.{}/cur/{n:07}.host:2,S", mixed % 400).into(),
            offset: None,
        },
        form: Form::Mail,
        bytes: 500 + mixed % 40_000,
        message_id: Some(format!("<{n}.{mixed:x}@mail.example.org>")),
        subject: format!(
            "Re: the {} of the {} in week {}",
            mixed % 997,
            mixed % 89,
            mixed % 53
        ),
        from: format!("person{}@example.org", mixed % 20_000),
        date: Some(900_000_000 + (mixed % 800_000_000) as i64),
        thread: (!n.is_multiple_of(4)).then(|| format!("<{}@mail.example.org>", n / 8).into()),
        verdict: Verdict {
            standing: match redundant {
                true => Standing::Redundant(Category::ALL[(mixed % 6) as usize]),
                false if n.is_multiple_of(50) => Standing::Version,
                false => Standing::Unique,
            },
            witnesses: match redundant {
                true => vec![Witness {
                    message: n - 1,
                    containment: 1.0,
                }],
                false => Vec::new(),
            },
            residue: Vec::new(),
        },
        residue: Vec::new(),
        problems: Vec::new(),
    }
}

fn ask(address: &str, method: &str, page: &str, form: &str) -> (Duration, usize) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, root) = rest.split_once('/').unwrap();
    let start = Instant::now();
    let mut stream = TcpStream::connect(host).unwrap();
    write!(stream, "{method} /{root}{page} HTTP/1.1\r\nHost: {host}\r\nOrigin: http://{host}\r\nContent-Length: {}\r\n\r\n{form}", form.len()).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    (start.elapsed(), answer.len())
}

fn main() {
    let count = std::env::args()
        .nth(1)
        .and_then(|n| n.parse().ok())
        .unwrap_or(500_000);
    let page = Page::open(0).unwrap();
    let address = page.address();
    let start = Instant::now();
    std::thread::spawn(move || page.serve(Box::new(Made(count))));
    while ask(&address, "GET", "progress", "").1 > 800 || ask(&address, "GET", "go", "").1 < 2_500 {
        std::thread::sleep(Duration::from_millis(20));
    }
    println!(
        "{count} messages made and catalogued in {:.1} s",
        start.elapsed().as_secs_f64()
    );
    for (method, page, form) in [
        ("GET", "", ""),
        ("GET", "messages", ""),
        ("GET", "messages?at=2500", ""),
        ("GET", "messages?q=week+17+person1", ""),
        ("GET", "messages?kind=quoted&sort=largest&year=2010", ""),
        ("GET", "messages?folder=mail/.Folder.7&sort=subject", ""),
        ("GET", "message/100001?kind=redundant", ""),
        ("POST", "choose", "what=keep&message=100001&page=messages"),
        ("POST", "choose", "what=keep-all&kind=quoted&page=messages"),
        (
            "POST",
            "choose",
            "what=remove-all&kind=quoted&page=messages",
        ),
        ("GET", "go", ""),
        ("GET", "export/twicetold.csv", ""),
    ] {
        // A choice changes something only once.
        let rounds = if method == "POST" { 1 } else { 5 };
        let mut times: Vec<(Duration, usize)> = (0..rounds)
            .map(|_| ask(&address, method, page, form))
            .collect();
        times.sort();
        let (median, bytes) = times[rounds / 2];
        println!(
            "{:>8.1} ms  {:>9} bytes  {method} {page} {form}",
            median.as_secs_f64() * 1000.0,
            bytes
        );
    }
}
