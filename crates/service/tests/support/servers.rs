//! Real Redis servers on loopback, on ports that the system chooses.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use super::Folder;

/// Servers that stop when the test ends.
pub(crate) struct Servers {
    children: Vec<Child>,
    pub(crate) address: String,
    _folder: Folder,
}

impl Drop for Servers {
    fn drop(&mut self) {
        for child in &mut self.children {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Whether Redis is installed. Where it must be (`TWICETOLD_NEED_REDIS=1`, as scripts/test sets it), its
/// absence is a failure; elsewhere the test says that it is skipped.
pub(crate) fn is_there() -> bool {
    let there = |name: &str| {
        Command::new(name)
            .arg("--version")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    };
    let both = there("redis-server") && there("redis-cli");
    assert!(
        both || std::env::var_os("TWICETOLD_NEED_REDIS").is_none(),
        "redis-server and redis-cli are missing"
    );
    if !both {
        println!("skipped: redis-server is not installed (apt-get install redis-server)");
    }
    both
}

fn free_port() -> u16 {
    TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port()
}

fn answers(port: u16, ask: &[&str], expected: &str) -> bool {
    let run = Command::new("redis-cli")
        .args(["-p", &port.to_string()])
        .args(ask)
        .output()
        .unwrap();
    String::from_utf8_lossy(&run.stdout).contains(expected)
}

fn wait_for(what: &str, mut is: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(
            began.elapsed() < Duration::from_secs(30),
            "no {what} after 30 s"
        );
        sleep(Duration::from_millis(50));
    }
}

/// Starts a server; another program may take the port first, so it tries again.
fn start(folder: &Path, more: &[&str]) -> (Child, u16) {
    for _ in 0..10 {
        let port = free_port();
        let place = folder.join(port.to_string());
        std::fs::create_dir_all(&place).unwrap();
        let mut child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args([
                "--save",
                "",
                "--appendonly",
                "no",
                "--dir",
                place.to_str().unwrap(),
            ])
            .args(more)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let began = Instant::now();
        while began.elapsed() < Duration::from_secs(10) {
            if child.try_wait().unwrap().is_some() {
                break;
            }
            if answers(port, &["ping"], "PONG") {
                return (child, port);
            }
            sleep(Duration::from_millis(20));
        }
        let _ = child.kill();
        let _ = child.wait();
    }
    panic!("redis-server does not start");
}

/// One server.
pub(crate) fn one(name: &str) -> Servers {
    let folder = Folder::new(name);
    let (child, port) = start(folder.path(), &[]);
    Servers {
        children: vec![child],
        address: format!("redis://127.0.0.1:{port}"),
        _folder: folder,
    }
}

/// A cluster of three masters.
pub(crate) fn cluster(name: &str) -> Servers {
    let folder = Folder::new(name);
    let mut servers = Servers {
        children: Vec::new(),
        address: String::new(),
        _folder: folder,
    };
    let mut ports = Vec::new();
    for _ in 0..3 {
        let bus = free_port().to_string();
        let more = ["--cluster-enabled", "yes", "--cluster-port", bus.as_str()];
        let (child, port) = start(servers._folder.path(), &more);
        servers.children.push(child);
        ports.push(port);
    }
    let nodes: Vec<String> = ports
        .iter()
        .map(|port| format!("127.0.0.1:{port}"))
        .collect();
    let run = Command::new("redis-cli")
        .args(["--cluster", "create"])
        .args(&nodes)
        .args(["--cluster-yes"])
        .output()
        .unwrap();
    assert!(
        run.status.success(),
        "{}",
        String::from_utf8_lossy(&run.stdout)
    );
    for &port in &ports {
        wait_for("cluster", || {
            answers(port, &["cluster", "info"], "cluster_state:ok")
        });
    }
    servers.address = format!("redis-cluster://{}", nodes.join(","));
    servers
}
