//! The body of a request: bounded in length, in time, and in memory over all requests.

use std::time::Duration;

use http_body_util::BodyExt;
use hyper::StatusCode;
use hyper::body::{Body, Incoming};
use tokio::time::timeout;

use super::problem::Problem;
use crate::shared::{Room, Shared};

/// How long the rest of a body that is too long is thrown away, so that the other side hears why.
const POLITE: Duration = Duration::from_secs(5);
/// What is longer than so many messages would not be thrown away in time.
const HOPELESS: usize = 4;

/// Reads a body of at most `most` bytes, with the room it takes.
pub(super) async fn read(
    shared: &Shared,
    mut body: Incoming,
    most: usize,
    patience: Duration,
) -> Result<(Vec<u8>, Room), Problem> {
    let told = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if told > most {
        shared.metrics.refused("message-bytes");
        if told / HOPELESS <= most {
            throw_away(body).await;
        }
        return Err(too_long(most));
    }
    let Some(mut room) = shared.room(told) else {
        throw_away(body).await;
        return Err(no_room());
    };
    let mut bytes = Vec::with_capacity(told);
    let reading = async {
        while let Some(frame) = body.frame().await {
            let Ok(frame) = frame else {
                return Err(Problem::new(
                    StatusCode::BAD_REQUEST,
                    "the request ended in the middle",
                    "send the whole message",
                )
                .closing());
            };
            let Ok(piece) = frame.into_data() else {
                continue;
            };
            if bytes.len() + piece.len() > most {
                return Err(too_long(most));
            }
            if !shared.grow(&mut room, bytes.len() + piece.len()) {
                return Err(no_room());
            }
            bytes.extend_from_slice(&piece);
        }
        Ok(())
    };
    let outcome = timeout(patience, reading).await;
    match outcome {
        Ok(Ok(())) => Ok((bytes, room)),
        Ok(Err(problem)) => {
            drop((bytes, room));
            if problem.status == StatusCode::PAYLOAD_TOO_LARGE {
                shared.metrics.refused("message-bytes");
                throw_away(body).await;
            }
            Err(problem)
        }
        Err(_) => {
            shared.metrics.refused("request-seconds");
            Err(Problem::new(
                StatusCode::REQUEST_TIMEOUT,
                "the message did not arrive in time",
                "send it faster, or ask for more http.request-seconds",
            )
            .closing())
        }
    }
}

async fn throw_away(mut body: Incoming) {
    let reading = async { while let Some(Ok(_)) = body.frame().await {} };
    let _ = timeout(POLITE, reading).await;
}

fn too_long(most: usize) -> Problem {
    Problem::new(
        StatusCode::PAYLOAD_TOO_LARGE,
        format!("the message has more than {most} bytes"),
        "send a sketch of it, or ask for more limits.message-bytes",
    )
    .closing()
}

fn no_room() -> Problem {
    Problem::busy(
        "memory",
        "too many messages are being read",
        Duration::from_secs(1),
    )
    .closing()
}
