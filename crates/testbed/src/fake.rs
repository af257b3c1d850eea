//! A server that says whatever a test wants.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// What the other side sent: the line as it is, and its first two words.
#[derive(Clone, Debug)]
pub struct Line {
    /// The whole line, without its end.
    pub text: String,
    /// The first word: the tag, in IMAP.
    pub tag: String,
    /// The rest.
    pub rest: String,
}

/// A server that answers each line as a function says.
#[derive(Debug)]
pub struct Fake {
    /// Where it listens.
    pub port: u16,
    heard: Arc<Mutex<Vec<String>>>,
}

impl Fake {
    /// Begins to listen: says `greeting`, then answers each line; `None` hangs up.
    pub fn start(
        greeting: &'static str,
        answer: impl Fn(&Line) -> Option<Vec<u8>> + Send + Sync + 'static,
    ) -> Self {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let noted = Arc::clone(&heard);
        let answer = Arc::new(answer);
        let port = listen(move |client| {
            let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
            thread::spawn(move || converse(client, greeting, &*answer, &noted));
        });
        Self { port, heard }
    }

    /// Begins to listen: does with each connection what the function does.
    pub fn raw(serve: impl Fn(TcpStream) + Send + Sync + 'static) -> Self {
        let serve = Arc::new(serve);
        let port = listen(move |client| {
            let serve = Arc::clone(&serve);
            thread::spawn(move || serve(client));
        });
        Self {
            port,
            heard: Arc::default(),
        }
    }

    /// The lines that were sent to it.
    pub fn heard(&self) -> Vec<String> {
        self.heard.lock().unwrap().clone()
    }
}

fn listen(each: impl Fn(TcpStream) + Send + 'static) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || listener.incoming().flatten().for_each(each));
    port
}

fn converse(
    mut client: TcpStream,
    greeting: &str,
    answer: &dyn Fn(&Line) -> Option<Vec<u8>>,
    heard: &Mutex<Vec<String>>,
) {
    let lines = BufReader::new(client.try_clone().unwrap()).lines();
    if client.write_all(greeting.as_bytes()).is_err() {
        return;
    }
    for text in lines {
        let Ok(text) = text else { return };
        heard.lock().unwrap().push(text.clone());
        let (tag, rest) = text.split_once(' ').unwrap_or((&text, ""));
        let line = Line {
            tag: tag.to_owned(),
            rest: rest.to_owned(),
            text: text.clone(),
        };
        match answer(&line) {
            Some(bytes) if client.write_all(&bytes).is_ok() => {}
            _ => return,
        }
    }
}
