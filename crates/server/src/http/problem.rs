//! Answers that say what is wrong and what to do.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper::header::{ALLOW, CONNECTION, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use hyper::{Response, StatusCode};
use serde_json::json;
use twicetold_service::{SCHEMA, StateError};

use super::routes::plain;
use crate::shared::Failed;
use crate::work::Refused;

/// Why a request is not answered as was wished.
#[derive(Debug)]
pub(super) struct Problem {
    pub(super) status: StatusCode,
    pub(super) what: String,
    hint: &'static str,
    /// When it is worth trying again.
    pub(super) retry: Option<Duration>,
    /// Which limit was reached.
    pub(super) limit: Option<&'static str>,
    /// Which methods there are.
    pub(super) allow: Option<&'static str>,
    /// The rest of the request is not read.
    pub(super) close: bool,
}

impl Problem {
    pub(super) fn new(status: StatusCode, what: impl Into<String>, hint: &'static str) -> Self {
        Self {
            status,
            what: what.into(),
            hint,
            retry: None,
            limit: None,
            allow: None,
            close: false,
        }
    }

    /// Too much at once: a limit was reached, and it is worth trying again.
    pub(super) fn busy(limit: &'static str, what: &str, retry: Duration) -> Self {
        Self {
            retry: Some(retry),
            limit: Some(limit),
            ..Self::new(
                StatusCode::SERVICE_UNAVAILABLE,
                what,
                "try again a little later",
            )
        }
    }

    /// The rest of the request stays unread.
    pub(super) fn closing(mut self) -> Self {
        self.close = true;
        self
    }

    pub(super) fn response(self) -> Response<Full<Bytes>> {
        let body = json!({ "schema": SCHEMA, "error": self.what, "hint": self.hint });
        let mut response = plain(self.status, "application/json", body.to_string());
        let headers = response.headers_mut();
        if let Some(retry) = self.retry {
            let seconds = retry.as_secs_f64().ceil().max(1.0) as u64;
            headers.insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        if let Some(allow) = self.allow {
            headers.insert(ALLOW, HeaderValue::from_static(allow));
        }
        if self.close {
            headers.insert(CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}

impl From<Failed> for Problem {
    fn from(failed: Failed) -> Self {
        let second = Duration::from_secs(1);
        match failed {
            Failed::Refused(Refused::Full) => {
                Self::busy("queue", "too many requests are waiting", second)
            }
            Failed::Refused(Refused::Stopped) => Self::busy(
                "stopping",
                "the server could not finish this request",
                second,
            ),
            Failed::State(StateError::Contended { .. }) => Self::busy(
                "contended",
                "others kept changing the same campaigns",
                second,
            ),
            // Where campaigns are kept is nobody's business but the administrator's: it is in the log.
            Failed::State(_) => Self::busy(
                "state",
                "the campaigns cannot be read or changed at the moment",
                5 * second,
            ),
        }
    }
}
