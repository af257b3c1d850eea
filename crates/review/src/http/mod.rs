//! Just enough of HTTP/1.1 for one browser on the same machine.
//!
//! One thread and one request per connection, small limits on everything. Nothing of a request is ever logged.

mod request;
mod response;

use std::io::{self, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub(crate) use request::{Method, Request};
pub(crate) use response::{Body, Response};

use request::Wrong;

/// How many connections are served at the same time.
const CONNECTIONS: usize = 64;
/// How long a request may take to arrive, and an answer to be taken.
const PATIENCE: Duration = Duration::from_secs(15);

/// Serves until the listener fails, which it does not while the program runs.
pub(crate) fn serve<H>(listener: &TcpListener, handle: Arc<H>)
where
    H: Fn(&Request) -> Response + Send + Sync + 'static,
{
    let open = Arc::new(AtomicUsize::new(0));
    for stream in listener.incoming() {
        let Ok(stream) = stream else {
            // Out of file descriptors, or a connection that was gone before it was taken.
            std::thread::sleep(Duration::from_millis(10));
            continue;
        };
        if open.load(Ordering::Acquire) >= CONNECTIONS {
            continue;
        }
        open.fetch_add(1, Ordering::AcqRel);
        let (handle, done) = (Arc::clone(&handle), Counted(Arc::clone(&open)));
        let started = std::thread::Builder::new()
            .name("page".to_owned())
            .spawn(move || {
                // Who hangs up early does not want to know.
                let _ = converse(stream, handle.as_ref());
                drop(done);
            });
        // Without a thread there is nobody to count down.
        drop(started);
    }
}

/// Counts a connection down, whatever ends it.
struct Counted(Arc<AtomicUsize>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

fn converse(mut stream: TcpStream, handle: &dyn Fn(&Request) -> Response) -> io::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let response = match request::read(&mut stream, Instant::now() + PATIENCE) {
        Ok(request) => {
            let response = handle(&request);
            if request.method == Method::Head {
                response.without_body()
            } else {
                response
            }
        }
        Err(Wrong::Gone) => return Ok(()),
        Err(Wrong::Status(status)) => Response::plain(status, "This request was not understood."),
    };
    response.write(&mut stream)?;
    stream.flush()?;
    // A connection closed with unread bytes in it would be reset before the answer is read.
    stream.shutdown(Shutdown::Write)?;
    stream.set_read_timeout(Some(Duration::from_millis(200)))?;
    let mut rest = [0; 4096];
    for _ in 0..64 {
        if matches!(io::Read::read(&mut stream, &mut rest), Ok(0) | Err(_)) {
            break;
        }
    }
    Ok(())
}
