//! Everything that is known, for a backup: lines that are made while they are sent.

use std::io::{self, Write};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use http_body_util::Full;
use hyper::body::{Body, Frame, SizeHint};
use tokio::sync::mpsc::{Receiver, Sender, channel};
use tokio::sync::{OwnedSemaphorePermit, TryAcquireError};

use super::problem::Problem;
use crate::shared::Shared;

/// Bytes that are sent together, and how many such pieces wait for the network.
const PIECE: usize = 64 << 10;
const WAITING: usize = 4;

/// The body of an answer.
pub(crate) enum Told {
    /// All of it is there.
    Whole(Full<Bytes>),
    /// It is being made.
    Pieces(Option<Bytes>, Receiver<io::Result<Bytes>>),
}

impl Body for Told {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        match self.get_mut() {
            Self::Whole(whole) => Pin::new(whole)
                .poll_frame(cx)
                .map_err(|never| match never {}),
            Self::Pieces(first, rest) => match first.take() {
                Some(first) => Poll::Ready(Some(Ok(Frame::data(first)))),
                None => rest
                    .poll_recv(cx)
                    .map(|piece| piece.map(|piece| piece.map(Frame::data))),
            },
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Self::Whole(whole) if whole.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Whole(whole) => whole.size_hint(),
            Self::Pieces(..) => SizeHint::default(),
        }
    }
}

/// Begins an export. Only one is made at a time: each takes a core for as long as it lasts.
pub(super) async fn begin(shared: &Arc<Shared>) -> Result<Told, Problem> {
    let busy = |what: &str| Problem::busy("export", what, Duration::from_secs(5));
    let permit = match Arc::clone(&shared.exports).try_acquire_owned() {
        Ok(permit) => permit,
        Err(TryAcquireError::NoPermits) => return Err(busy("another export is being made")),
        Err(TryAcquireError::Closed) => return Err(busy("the server is stopping")),
    };
    let (send, mut receive) = channel(WAITING);
    let worker = Arc::clone(shared);
    let started = thread::Builder::new()
        .name("export".to_owned())
        .spawn(move || export(&worker, send, permit));
    if let Err(error) = started {
        shared.problem("export", &error.to_string());
        return Err(busy("there is no thread to be had"));
    }
    // What goes wrong at once can still be told.
    match receive.recv().await {
        Some(Ok(first)) => Ok(Told::Pieces(Some(first), receive)),
        _ => Err(busy("the campaigns cannot be read at the moment")),
    }
}

fn export(shared: &Shared, send: Sender<io::Result<Bytes>>, permit: OwnedSemaphorePermit) {
    let mut lines = Lines {
        piece: BytesMut::with_capacity(PIECE),
        send,
    };
    let outcome = shared
        .engine()
        .export(&mut lines)
        .map_err(io::Error::other)
        .and_then(|_| lines.flush());
    if let Err(error) = outcome
        && !lines.send.is_closed()
    {
        shared.problem("export", &error.to_string());
        // The connection is cut, so that nobody takes half of it for the whole.
        let _ = lines.send.blocking_send(Err(error));
    }
    drop(permit);
}

/// Lines on their way to the network.
struct Lines {
    piece: BytesMut,
    send: Sender<io::Result<Bytes>>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.piece.extend_from_slice(bytes);
        if self.piece.len() >= PIECE {
            self.flush()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        if self.piece.is_empty() {
            return Ok(());
        }
        let piece = self.piece.split().freeze();
        // Waits while the other side is slow, and ends when it has gone.
        self.send
            .blocking_send(Ok(piece))
            .map_err(|_| io::ErrorKind::BrokenPipe.into())
    }
}
