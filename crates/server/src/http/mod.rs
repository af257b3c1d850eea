//! HTTP: connections and their limits.

mod body;
mod export;
mod problem;
mod routes;

use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::timeout;

use crate::listen::{Listener, Stream};
use crate::patient::Patient;
use crate::server::told_to_stop;
use crate::shared::{Counted, Shared};

/// What a connection may have in its buffers.
const BUFFER: usize = 64 << 10;
/// How long TLS may take to begin.
const HANDSHAKE: Duration = Duration::from_secs(10);
/// Connections that are being told that there are too many.
const TURNED_AWAY: usize = 256;
/// What they are told.
const TOO_MANY: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\n\
    content-type: application/json\r\ncontent-length: 74\r\n\r\n\
    {\"schema\":1,\"error\":\"too many connections\",\"hint\":\"try again in a second\"}";

/// Takes connections until it is told to stop, and then finishes those that are being answered.
pub(crate) async fn serve(
    listener: Listener,
    shared: Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) {
    let mut tasks = JoinSet::new();
    let turned_away = Arc::new(AtomicUsize::new(0));
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = tasks.join_next() => continue,
            () = told_to_stop(&mut stop) => break,
        };
        let (stream, from) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, or a connection that was gone before it was taken.
                shared.problem("accept", &error.to_string());
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        let current = shared.current();
        let encrypted = current.tls.clone().filter(|_| from.is_some());
        if shared.connections.load(Ordering::Relaxed) >= current.settings.http.connections {
            shared.metrics.refused("connections");
            // Nobody can be told before TLS has begun, and that is work.
            if encrypted.is_none() && turned_away.load(Ordering::Relaxed) < TURNED_AWAY {
                let counter = Arc::clone(&turned_away);
                tasks.spawn(async move {
                    let _counted = Counted::new(&counter);
                    turn_away(stream).await;
                });
            }
            continue;
        }
        let (shared, stop) = (Arc::clone(&shared), stop.clone());
        // Counted here, so that the next one is counted against it.
        shared.connections.fetch_add(1, Ordering::Relaxed);
        tasks.spawn(async move {
            let counted = Counted(&shared.connections);
            let patience = current.settings.http.patience();
            match encrypted {
                None => converse(Patient::new(stream, patience), from, &shared, stop).await,
                Some(tls) => {
                    if let Ok(Ok(stream)) = timeout(HANDSHAKE, tls.accept(stream)).await {
                        converse(Patient::new(stream, patience), from, &shared, stop).await;
                    } else {
                        shared.metrics.refused("tls");
                    }
                }
            }
            drop(counted);
        });
    }
    drop(listener);
    let patience = Duration::from_secs(shared.current().settings.limits.stop_seconds);
    let all = async { while tasks.join_next().await.is_some() {} };
    // Whoever has not finished by then is cut off.
    let _ = timeout(patience, all).await;
    tasks.abort_all();
}

async fn turn_away(mut stream: Stream) {
    let told = async {
        stream.write_all(TOO_MANY).await?;
        stream.shutdown().await?;
        // A connection closed with unread bytes in it is reset before the answer is read.
        let mut rest = [0; 4096];
        while stream.read(&mut rest).await? > 0 {}
        Ok::<(), std::io::Error>(())
    };
    let _ = timeout(Duration::from_millis(500), told).await;
}

async fn converse<S>(
    stream: S,
    from: Option<IpAddr>,
    shared: &Arc<Shared>,
    mut stop: watch::Receiver<bool>,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let answering = stop.clone();
    let service = service_fn(move |request| {
        let (shared, stopping) = (Arc::clone(shared), *answering.borrow());
        async move { Ok::<_, Infallible>(routes::answer(&shared, from, stopping, request).await) }
    });
    let idle = shared.current().settings.http.idle();
    let mut builder = http1::Builder::new();
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(idle)
        .max_buf_size(BUFFER);
    let mut connection = std::pin::pin!(builder.serve_connection(TokioIo::new(stream), service));
    // Who hangs up, or says something that is no HTTP, is not worth a line: anybody can do that.
    let _ = tokio::select! {
        ended = connection.as_mut() => ended,
        () = told_to_stop(&mut stop) => {
            connection.as_mut().graceful_shutdown();
            connection.as_mut().await
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_is_turned_away_gets_a_whole_answer() {
        let text = std::str::from_utf8(TOO_MANY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.contains(&format!("content-length: {}", body.len())));
        assert!(serde_json::from_str::<serde_json::Value>(body).is_ok());
    }
}
