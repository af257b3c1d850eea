//! A proxy that cuts connections, makes them slow, or keeps a word from the client.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Passes everything on, until so many bytes have come from the server; then it hangs up.
#[derive(Debug)]
pub struct Proxy {
    /// Where it listens.
    pub port: u16,
    connections: Arc<AtomicUsize>,
}

impl Proxy {
    /// Begins to listen. `limit` says how many bytes the n-th connection (from 0) may bring; `None`
    /// is all.
    pub fn start(server: u16, limit: impl Fn(usize) -> Option<u64> + Send + 'static) -> Self {
        Self::between(server, move |number, client, server| {
            let limit = limit(number).unwrap_or(u64::MAX);
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(from, to, u64::MAX));
            thread::spawn(move || pass(server, client, limit));
        })
    }

    /// Begins to listen. Everything arrives later by this much, in both directions, as if the server were far away; each connection
    /// brings no more than so many bytes a second.
    pub fn far(server: u16, delay: Duration, bytes_per_second: u64) -> Self {
        Self::between(server, move |_, client, server| {
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass_late(from, to, delay, u64::MAX));
            thread::spawn(move || pass_late(server, client, delay, bytes_per_second));
        })
    }

    /// Begins to listen. Wherever the server says `word`, the client hears something else of the same length.
    pub fn hiding(server: u16, word: &'static str) -> Self {
        Self::between(server, move |_, client, server| {
            let (from, to) = (client.try_clone().unwrap(), server.try_clone().unwrap());
            thread::spawn(move || pass(from, to, u64::MAX));
            thread::spawn(move || pass_without(server, client, word.as_bytes()));
        })
    }

    /// Hands over the two ends of each connection, with its number.
    fn between(server: u16, pass: impl Fn(usize, TcpStream, TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let connections = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&connections);
        // The thread ends with the test's process.
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let number = counted.fetch_add(1, Ordering::SeqCst);
                if let Ok(server) = TcpStream::connect(("127.0.0.1", server)) {
                    pass(number, client, server);
                }
            }
        });
        Self { port, connections }
    }

    /// How many connections there were.
    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }
}

/// Passes everything on, later, and no faster than so many bytes a second.
fn pass_late(mut from: TcpStream, mut to: TcpStream, delay: Duration, bytes_per_second: u64) {
    let (send, receive) = mpsc::sync_channel::<(Instant, Vec<u8>)>(64);
    let _ = to.set_nodelay(true);
    let out = to.try_clone().unwrap();
    let writer = thread::spawn(move || {
        for (due, bytes) in receive {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                break;
            }
        }
    });
    let mut block = vec![0; 16 * 1024];
    let mut free = Instant::now();
    while let Ok(got @ 1..) = from.read(&mut block) {
        let taken = Duration::from_secs_f64(got as f64 / bytes_per_second as f64);
        free = free.max(Instant::now()) + taken;
        if send.send((free + delay, block[..got].to_vec())).is_err() {
            break;
        }
    }
    drop(send);
    let _ = writer.join();
    let _ = from.shutdown(Shutdown::Both);
    let _ = out.shutdown(Shutdown::Both);
}

/// Passes lines on, without a word: whatever they are parts of, their lengths stay.
fn pass_without(from: TcpStream, mut to: TcpStream, word: &[u8]) {
    let mut lines = BufReader::new(from.try_clone().unwrap());
    let mut line = Vec::new();
    while let Ok(1..) = lines.read_until(b'\n', &mut line) {
        for at in 0..(line.len() + 1).saturating_sub(word.len()) {
            if line[at..].starts_with(word) {
                line[at..at + word.len()].fill(b'X');
            }
        }
        if to.write_all(&line).is_err() {
            break;
        }
        line.clear();
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

fn pass(mut from: TcpStream, mut to: TcpStream, mut left: u64) {
    let mut block = vec![0; 16 * 1024];
    while left > 0 {
        let most = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        match from.read(&mut block[..most]) {
            Ok(got @ 1..) if to.write_all(&block[..got]).is_ok() => left -= got as u64,
            _ => break,
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}
