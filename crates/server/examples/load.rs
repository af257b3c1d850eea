//! How many messages a second does the server check, and how long does each take?
//! `load FOLDER CAMPAIGNS CONNECTIONS SECONDS [RATE | wrk]`
//!
//! Fills a store in FOLDER (empty, or left by an earlier run with the same number) with invented campaigns, serves it
//! on the loopback interface and asks it over kept connections, each message a whole one of its own: half of them
//! variants of stored ones. Without RATE each connection asks again as soon as it has an answer; with RATE
//! requests are due at fixed times, and a request that begins late counts from when it was due. The CPU time of
//! the server's threads is told apart from that of those who ask. With `wrk` that program asks (Debian: `wrk`), from
//! another process, the same messages by `messages.lua`.

use std::error::Error;
use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use twicetold_model::Form;
use twicetold_server::{Log, Place, Server, Settings};
use twicetold_service::{Embedded, Engine, Sketches, Trust};

/// A message of invented words; some of them are common to all, as in real mail.
fn message(number: u64, changed: u64) -> String {
    const SYLLABLES: [&str; 16] = [
        "ba", "ce", "di", "fo", "gu", "ha", "je", "ki", "lo", "mu", "na", "pe", "ro", "su", "ta",
        "ve",
    ];
    let mut seed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = move |below: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % below
    };
    let words = 60 + next(200);
    let mut text = String::with_capacity(3000);
    text += "Received: from mail.example.net by mx.example.org; Mon, 16 Nov 2026 03:00:00 +0000\r\n\
        From: Offers <offers@example.net>\r\nTo: somebody@example.org\r\nSubject: An offer\r\n\
        Date: Mon, 16 Nov 2026 03:00:00 +0000\r\nMIME-Version: 1.0\r\n\
        Content-Type: text/plain; charset=utf-8\r\n\r\n";
    for word in 0..words {
        let rare = next(3) == 0;
        let mut number = if rare {
            10_000 + next(2_000_000)
        } else {
            next(3_000)
        };
        if changed > 0 && word % changed == 0 {
            number += 77;
        }
        let mut length = 0;
        while number > 0 || length < 2 {
            text += SYLLABLES[(number % 16) as usize];
            number /= 16;
            length += 1;
        }
        text += if next(12) == 0 { "\r\n" } else { " " };
    }
    text
}

fn fill(folder: &Path, campaigns: u64) -> Result<Engine, Box<dyn Error>> {
    let engine = Engine::new(Box::new(Embedded::open(folder, Duration::ZERO)?));
    engine.introduce("anna")?;
    // What an earlier run left counts, and what the example `scale` of the service left: its campaigns are the same.
    let stored = engine.state().names(None, usize::MAX)?.len() as u64;
    let numbers: Vec<u64> = (stored..campaigns).collect();
    for some in numbers.chunks(2_000) {
        let sketches: Vec<Sketches> = some
            .iter()
            .map(|&n| Sketches::of(Form::Mail, message(n, 0).as_bytes(), &Trust::default()))
            .collect();
        engine.report_all(&sketches, "anna", 1_800_000_000)?;
    }
    Ok(engine)
}

/// The CPU time that threads with one of these names have used, in clock ticks of 10 ms.
fn ticks(names: &[&str]) -> u64 {
    let mut sum = 0;
    for thread in fs::read_dir("/proc/self/task")
        .into_iter()
        .flatten()
        .flatten()
    {
        let stat = fs::read_to_string(thread.path().join("stat")).unwrap_or_default();
        let Some((before, after)) = stat.rsplit_once(')') else {
            continue;
        };
        let name = before.split_once('(').map_or("", |(_, name)| name);
        if names.contains(&name) {
            let fields: Vec<u64> = after
                .split_whitespace()
                .skip(11)
                .take(2)
                .filter_map(|field| field.parse().ok())
                .collect();
            sum += fields.iter().sum::<u64>();
        }
    }
    sum
}

/// Asks until the end, and returns how long each answer took.
fn ask(
    address: (&str, u16),
    messages: &[Vec<u8>],
    from: usize,
    until: Instant,
    pace: Option<Duration>,
) -> std::io::Result<Vec<Duration>> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut buffer = vec![0; 16 << 10];
    let mut times = Vec::new();
    let mut due = Instant::now();
    for request in messages.iter().cycle().skip(from) {
        if let Some(pace) = pace {
            due += pace;
            thread::sleep(due.saturating_duration_since(Instant::now()));
        } else {
            due = Instant::now();
        }
        if due >= until {
            break;
        }
        stream.write_all(request)?;
        let mut got = 0;
        loop {
            let count = stream.read(&mut buffer[got..])?;
            got += count;
            let text = String::from_utf8_lossy(&buffer[..got]);
            if count == 0 || (text.contains("\r\n\r\n") && text.ends_with("}")) {
                if !text.starts_with("HTTP/1.1 200") {
                    return Err(std::io::Error::other(text.into_owned()));
                }
                break;
            }
        }
        times.push(due.elapsed());
    }
    Ok(times)
}

/// The threads of the server that answer.
const SERVERS: [&str; 2] = ["network", "check"];

/// Has wrk ask, and prints what it says.
fn wrk(
    folder: &Path,
    texts: &[String],
    port: u16,
    connections: usize,
    seconds: f64,
) -> Result<(), Box<dyn Error>> {
    let (script, messages) = (folder.join("messages.lua"), folder.join("messages.txt"));
    fs::write(&script, include_str!("messages.lua"))?;
    fs::write(&messages, texts.concat())?;
    let output = Command::new("wrk")
        .args(["--threads=1", "--latency"])
        .arg(format!("--connections={connections}"))
        .arg(format!("--duration={seconds:.0}s"))
        .arg("--script")
        .arg(&script)
        .arg(format!("http://127.0.0.1:{port}/"))
        .env("MESSAGES", &messages)
        .output()
        .map_err(|error| format!("wrk cannot be started (Debian: apt-get install wrk): {error}"))?;
    let text = [output.stdout, output.stderr].concat();
    std::io::stdout().lock().write_all(&text)?;
    if !output.status.success() {
        return Err("wrk failed".into());
    }
    Ok(())
}

/// Whether it says that it is worth sending requests.
fn is_ready(address: (&str, u16)) -> std::io::Result<bool> {
    let mut stream = TcpStream::connect(address)?;
    stream.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer.starts_with("HTTP/1.1 200"))
}

fn main() -> Result<(), Box<dyn Error>> {
    let usage = "usage: load FOLDER CAMPAIGNS CONNECTIONS SECONDS [RATE | wrk]";
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [folder, campaigns, connections, seconds, rest @ ..] = arguments.as_slice() else {
        return Err(usage.into());
    };
    let (campaigns, connections): (u64, usize) = (campaigns.parse()?, connections.parse()?);
    let seconds: f64 = seconds.parse()?;
    let with_wrk = rest.first().is_some_and(|rate| rate == "wrk");
    let rate = rest.first().filter(|_| !with_wrk);
    let rate: Option<f64> = rate.map(|rate| rate.parse()).transpose()?;
    let engine = fill(&PathBuf::from(folder), campaigns)?;
    let mut settings = Settings::default();
    settings.http.listen = vec![Place::Tcp("127.0.0.1".to_owned(), 0)];
    let began = Instant::now();
    let server = Server::start(settings, engine, Log::to(std::io::sink())?, false)?;
    let starting = began.elapsed();
    let Some(Place::Tcp(host, port)) = server.http().first().cloned() else {
        return Err("nothing is served".into());
    };
    let mut bytes = 0;
    let mut texts: Vec<String> = Vec::new();
    let messages: Vec<Vec<u8>> = (0..4_000_u64)
        .map(|n| {
            // Variants of stored ones, and strangers.
            let text = if n % 2 == 0 {
                message(n * (campaigns / 4_000).max(1) % campaigns, 9)
            } else {
                message(n + (1 << 40), 0)
            };
            bytes += text.len();
            if with_wrk {
                texts.push(format!("{}\n{text}", text.len()));
            }
            let head = format!(
                "POST /v1/check HTTP/1.1\r\nHost: localhost\r\nContent-Type: message/rfc822\r\nContent-Length: {}\r\n\r\n",
                text.len()
            );
            [head.as_bytes(), text.as_bytes()].concat()
        })
        .collect();
    let (count, messages) = (messages.len(), Arc::new(messages));
    let run =
        |seconds: f64, rate: Option<f64>| -> Result<(Vec<Duration>, f64, u64), Box<dyn Error>> {
            let (began, used) = (Instant::now(), ticks(&SERVERS));
            let until = began + Duration::from_secs_f64(seconds);
            let pace = rate.map(|rate| Duration::from_secs_f64(connections as f64 / rate));
            let threads: Vec<_> = (0..connections)
                .map(|lane| {
                    let (messages, host) = (Arc::clone(&messages), host.clone());
                    let from = lane * count / connections;
                    thread::spawn(move || ask((&host, port), &messages, from, until, pace))
                })
                .collect();
            let mut times = Vec::new();
            for thread in threads {
                times.extend(thread.join().map_err(|_| "a client ended badly")??);
            }
            times.sort_unstable();
            Ok((times, began.elapsed().as_secs_f64(), ticks(&SERVERS) - used))
        };
    let began = Instant::now();
    while !is_ready((&host, port))? {
        thread::sleep(Duration::from_millis(20));
    }
    let waited = began.elapsed();
    // Once to warm up.
    run(1.0, rate)?;
    if with_wrk {
        let (began, used) = (Instant::now(), ticks(&SERVERS));
        wrk(Path::new(folder), &texts, port, connections, seconds)?;
        let used = (ticks(&SERVERS) - used) as f64 / 100.0;
        writeln!(
            std::io::stdout().lock(),
            "{campaigns} campaigns: the server used {used:.2} s of CPU time in {:.1} s",
            began.elapsed().as_secs_f64()
        )?;
        server.stop()?;
        return Ok(());
    }
    let (times, took, used) = run(seconds, rate)?;
    let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
    let rate = times.len() as f64 / took;
    let per_core = times.len() as f64 / (used as f64 / 100.0).max(0.01);
    writeln!(
        std::io::stdout().lock(),
        "{campaigns} campaigns, messages of {} bytes, {connections} connections: {rate:.0} a second, {per_core:.0} per second of the \
         server's CPU time; median {:?}, 99 % {:?}, 99.9 % {:?}; ready after {:.1} s",
        bytes / count,
        at(0.5),
        at(0.99),
        at(0.999),
        (starting + waited).as_secs_f64()
    )?;
    server.stop()?;
    Ok(())
}
