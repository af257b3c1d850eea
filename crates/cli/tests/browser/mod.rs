//! A real browser, driven over the plain WebDriver protocol by a chromedriver of its own.

#![allow(dead_code, clippy::unwrap_used, clippy::print_stderr)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

/// How long a page may take to show what is waited for. The machine may be busy.
const PATIENCE: Duration = Duration::from_secs(60);
/// What the protocol calls an element.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// A headless Chromium with one window.
pub(crate) struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: String,
}

/// Starts a driver; `None` if it ended before it told its port.
fn driver() -> std::io::Result<Option<(Child, u16)>> {
    let mut driver = Command::new("chromedriver")
        .arg("--port=0")
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
    let port = lines.find_map(|line| {
        let line = line.unwrap();
        let (_, port) = line.split_once("started successfully on port ")?;
        port.trim_end_matches('.').parse().ok()
    });
    let Some(port) = port else {
        driver.wait()?;
        return Ok(None);
    };
    // Whoever writes into a pipe that nobody reads stops.
    std::thread::spawn(move || lines.for_each(drop));
    Ok(Some((driver, port)))
}

impl Browser {
    /// Starts it; `None`, and a word about it, if there is none on this machine and none is demanded.
    pub(crate) fn start(profile: String, width: u32, height: u32) -> Option<Self> {
        // The driver draws one port for two networks and gives up if it is taken in one of them: then it draws again.
        let mut tries = (0..8).map(|_| driver());
        let (driver, port) = loop {
            match tries.next().expect("chromedriver finds no port") {
                Ok(Some(started)) => break started,
                Ok(None) => {}
                Err(error) => {
                    let needed = std::env::var_os("TWICETOLD_NEED_BROWSER").is_some();
                    assert!(!needed, "chromedriver cannot be started: {error}");
                    eprintln!(
                        "skipped: there is no chromedriver (Debian: chromium-driver); scripts/test installs it"
                    );
                    return None;
                }
            }
        };
        let mut browser = Self {
            driver,
            port,
            session: String::new(),
            profile,
        };
        let args = [
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-dev-shm-usage",
            "--force-device-scale-factor=1",
            "--hide-scrollbars",
        ];
        let mut args: Vec<String> = args.iter().map(|a| (*a).to_owned()).collect();
        args.push(format!("--user-data-dir={}", browser.profile));
        args.push(format!("--window-size={width},{height}"));
        let wish = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": args },
            "goog:loggingPrefs": { "browser": "ALL" },
            "unhandledPromptBehavior": "ignore",
        } } });
        let session = browser.send("POST", "/session", Some(&wish));
        browser.session = session["sessionId"].as_str().unwrap().to_owned();
        Some(browser)
    }

    fn send(&self, method: &str, path: &str, body: Option<&Value>) -> Value {
        self.try_send(method, path, body)
            .unwrap_or_else(|error| panic!("{method} {path}: {error}"))
    }

    fn try_send(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, String> {
        let path = match self.session.as_str() {
            "" => path.to_owned(),
            session => format!("/session/{session}{path}"),
        };
        let body = body.map(Value::to_string).unwrap_or_default();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(PATIENCE * 2)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
            self.port,
            body.len()
        )
        .unwrap();
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).unwrap();
            if line.trim().is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':')
                && name.eq_ignore_ascii_case("content-length")
            {
                length = value.trim().parse().unwrap();
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer).unwrap();
        let answer: Value = serde_json::from_slice(&answer).unwrap();
        match answer["value"]["error"].as_str() {
            Some(error) => Err(format!("{error}: {}", answer["value"]["message"])),
            None => Ok(answer["value"].clone()),
        }
    }

    /// Opens an address.
    pub(crate) fn go(&self, address: &str) {
        self.send("POST", "/url", Some(&json!({ "url": address })));
    }

    /// The address of the page.
    pub(crate) fn address(&self) -> String {
        self.send("GET", "/url", None).as_str().unwrap().to_owned()
    }

    /// Runs a script on the page.
    pub(crate) fn run(&self, script: &str) -> Value {
        self.send(
            "POST",
            "/execute/sync",
            Some(&json!({ "script": script, "args": [] })),
        )
    }

    fn find(&self, selector: &str) -> Option<String> {
        let wish = json!({ "using": "css selector", "value": selector });
        let found = self.try_send("POST", "/element", Some(&wish)).ok()?;
        Some(found[ELEMENT].as_str()?.to_owned())
    }

    /// Waits for an element and returns its text.
    pub(crate) fn text(&self, selector: &str) -> String {
        let element = self.wait(selector);
        let text = self.send("GET", &format!("/element/{element}/text"), None);
        text.as_str().unwrap().to_owned()
    }

    fn wait(&self, selector: &str) -> String {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.find(selector) {
                Some(element) => return element,
                None if Instant::now() > until => {
                    panic!("{selector} is not on {}:\n{}", self.address(), self.page());
                }
                None => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }

    /// Waits until an element has this text in it.
    pub(crate) fn wait_for(&self, selector: &str, part: &str) -> String {
        let until = Instant::now() + PATIENCE;
        let script = format!(
            "return Array.from(document.querySelectorAll({}), e => e.innerText).join('\\n')",
            json!(selector)
        );
        loop {
            let text = self.run(&script).as_str().unwrap_or_default().to_owned();
            if text.contains(part) {
                return text;
            }
            assert!(
                Instant::now() < until,
                "{selector} never said {part:?}, but {text:?} on {}:\n{}",
                self.address(),
                self.page()
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn page(&self) -> String {
        let text = self.run("return document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Clicks on an element.
    pub(crate) fn click(&self, selector: &str) {
        let element = self.wait(selector);
        self.send(
            "POST",
            &format!("/element/{element}/click"),
            Some(&json!({})),
        );
    }

    /// Types into an element.
    pub(crate) fn type_into(&self, selector: &str, text: &str) {
        let element = self.wait(selector);
        self.send(
            "POST",
            &format!("/element/{element}/value"),
            Some(&json!({ "text": text })),
        );
    }

    /// Presses a key, wherever the focus is.
    pub(crate) fn press(&self, key: &str) {
        let actions = json!({ "actions": [ { "type": "key", "id": "keys", "actions": [
            { "type": "keyDown", "value": key }, { "type": "keyUp", "value": key }
        ] } ] });
        self.send("POST", "/actions", Some(&actions));
    }

    /// What stands in an open dialog of the page's script, if there is one.
    pub(crate) fn alert(&self) -> Option<String> {
        let text = self.try_send("GET", "/alert/text", None).ok()?;
        text.as_str().map(str::to_owned)
    }

    /// What the page wrote to the console: refused scripts and loads among it.
    pub(crate) fn console(&self) -> Vec<String> {
        let log = self.send("POST", "/se/log", Some(&json!({ "type": "browser" })));
        let lines = log.as_array().unwrap().iter();
        lines.map(|line| line["message"].to_string()).collect()
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let _ = self.try_send("DELETE", "", None);
        }
        let _ = self.driver.kill();
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}
