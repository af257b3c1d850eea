//! What can be asked, and who may ask it.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Method, Request, Response, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::timeout;
use twicetold_service::{
    CampaignId, CampaignTold, CheckTold, ReceiptTold, SCHEMA, Sketches, Standing, short,
};

use super::body;
use super::export::{self, Told};
use super::problem::Problem;
use crate::settings::{LogLevel, is_reporter_name};
use crate::shared::{Caller, Given, Room, Shared};

/// The header by which a key with members says in whose name it reports.
pub(crate) const MEMBER: &str = "twicetold-reporter";
/// What a whole message is called.
pub(crate) const MAIL: &str = "message/rfc822";
/// What an export is called.
const LINES: &str = "application/jsonl";
/// The document that describes all this.
const OPENAPI: &str = include_str!("../openapi.json");
/// How long the state may take to answer a question after its health.
const HEALTH: Duration = Duration::from_secs(3);

/// What can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Route {
    Check,
    Report,
    Revoke,
    Campaign,
    Export,
    Health,
    Metrics,
    OpenApi,
}

/// All of it: method, path as the OpenAPI document has it, what is asked.
const ROUTES: [(&str, &str, Route); 8] = [
    ("POST", "/v1/check", Route::Check),
    ("POST", "/v1/report", Route::Report),
    ("POST", "/v1/revoke", Route::Revoke),
    ("GET", "/v1/campaigns/{id}", Route::Campaign),
    ("GET", "/v1/export", Route::Export),
    ("GET", "/healthz", Route::Health),
    ("GET", "/metrics", Route::Metrics),
    ("GET", "/openapi.json", Route::OpenApi),
];

/// An answer, and what the log may know about it.
struct Answered {
    response: Response<Told>,
    noted: Vec<(&'static str, Value)>,
}

/// Answers one request.
pub(super) async fn answer(
    shared: &Arc<Shared>,
    from: Option<IpAddr>,
    stopping: bool,
    request: Request<Incoming>,
) -> Response<Told> {
    let began = Instant::now();
    let route = find(request.method(), request.uri().path());
    let (name, outcome) = match route {
        Err(problem) => ("other", Err(problem)),
        Ok((name, route)) => (name, take(shared, from, stopping, route, request).await),
    };
    let (response, mut noted, what) = match outcome {
        Ok(answered) => (answered.response, answered.noted, None),
        Err(problem) => {
            if let Some(limit) = problem.limit {
                shared.metrics.refused(limit);
            }
            let what = problem.what.clone();
            (problem.response().map(Told::Whole), Vec::new(), Some(what))
        }
    };
    let (status, took) = (response.status().as_u16(), began.elapsed());
    shared.metrics.answered(name, status, took);
    let changes = matches!(name, "/v1/report" | "/v1/revoke" | "/v1/export")
        || matches!(status, 401 | 403 | 429);
    let level = match status {
        500.. => LogLevel::Problems,
        _ if changes => LogLevel::Changes,
        _ => LogLevel::Requests,
    };
    if shared.current().settings.log >= level {
        noted.push(("route", name.into()));
        noted.push(("status", status.into()));
        noted.push(("ms", (took.as_micros() as f64 / 1000.0).into()));
        noted.push(("from", from.map(|from| from.to_string()).into()));
        noted.push(("what", what.into()));
        let grave = if status >= 500 { "warning" } else { "info" };
        shared.log.line(grave, "request", &noted);
    }
    response
}

/// The route, and its name for those who count.
fn find(method: &Method, path: &str) -> Result<(&'static str, Route), Problem> {
    let fits = |pattern: &str| match pattern.strip_suffix("{id}") {
        Some(start) => path
            .strip_prefix(start)
            .is_some_and(|id| !id.is_empty() && !id.contains('/')),
        None => pattern == path,
    };
    let Some((wanted, name, route)) = ROUTES.iter().find(|(_, pattern, _)| fits(pattern)) else {
        return Err(Problem::new(
            StatusCode::NOT_FOUND,
            "there is nothing under this path",
            "GET /openapi.json tells what there is",
        ));
    };
    if *wanted != method.as_str() && !(*wanted == "GET" && method == Method::HEAD) {
        let mut problem = Problem::new(
            StatusCode::METHOD_NOT_ALLOWED,
            format!("this path is asked with {wanted}"),
            "GET /openapi.json tells what there is",
        );
        problem.allow = Some(if *wanted == "GET" {
            "GET, HEAD"
        } else {
            wanted
        });
        return Err(problem);
    }
    Ok((name, *route))
}

async fn take(
    shared: &Arc<Shared>,
    from: Option<IpAddr>,
    stopping: bool,
    route: Route,
    request: Request<Incoming>,
) -> Result<Answered, Problem> {
    match route {
        Route::OpenApi => {
            let document = Full::new(Bytes::from_static(OPENAPI.as_bytes()));
            return Ok(told(dress(StatusCode::OK, "application/json", document)));
        }
        Route::Health => return Ok(told(health(shared, stopping).await)),
        _ => {}
    }
    let caller = admit(shared, from, route, request.headers()).await?;
    match route {
        Route::Metrics => {
            let text = shared.metrics.text(&shared.now());
            let response = plain(StatusCode::OK, "text/plain; version=0.0.4", text);
            Ok(told(response))
        }
        Route::Campaign => campaign(shared, request.uri().path()).await,
        Route::Check => {
            let (given, room) = message(shared, request).await?;
            let answer = shared.check(given, room).await?;
            // There are many checks, and few logs that want to know of each.
            let noted = if shared.current().settings.log >= LogLevel::Requests {
                let campaign = answer.campaign.as_ref().map(|one| one.id);
                vec![
                    ("class", json!(answer.class)),
                    ("score", json!(short(answer.score))),
                    ("campaign", json!(campaign)),
                    ("reporter", json!(caller.map(|caller| caller.name))),
                ]
            } else {
                Vec::new()
            };
            let response = row(&CheckTold::from(&answer)).map(Told::Whole);
            Ok(Answered { response, noted })
        }
        Route::Report | Route::Revoke => {
            let caller = caller.ok_or_else(no_key)?;
            let (name, introduce) = in_whose_name(&caller, request.headers())?;
            let (given, room) = message(shared, request).await?;
            let revoke = route == Route::Revoke;
            let receipt = shared
                .change(given, room, name.clone(), introduce, revoke)
                .await?;
            let noted = vec![
                ("outcome", json!(receipt.outcome)),
                (
                    "campaign",
                    json!(receipt.campaign.as_ref().map(|one| one.id)),
                ),
                ("reporter", json!(name)),
            ];
            let response = row(&ReceiptTold::from(&receipt)).map(Told::Whole);
            Ok(Answered { response, noted })
        }
        Route::Export => {
            let caller = caller.ok_or_else(no_key)?;
            if !caller.known.export {
                return Err(Problem::new(
                    StatusCode::FORBIDDEN,
                    "this key may not take an export",
                    "ask the administrator for export = true",
                ));
            }
            let response = dress(StatusCode::OK, LINES, export::begin(shared).await?);
            let noted = vec![("reporter", json!(caller.name))];
            Ok(Answered { response, noted })
        }
        Route::OpenApi | Route::Health => Err(no_key()),
    }
}

/// Who asks, if that one may.
async fn admit(
    shared: &Shared,
    from: Option<IpAddr>,
    route: Route,
    headers: &HeaderMap,
) -> Result<Option<Caller>, Problem> {
    let current = shared.current();
    let http = &current.settings.http;
    let caller = match headers.get(AUTHORIZATION) {
        None => None,
        Some(value) => {
            let key = value.to_str().ok().and_then(|value| {
                let (scheme, key) = value.split_once(' ')?;
                scheme.eq_ignore_ascii_case("bearer").then_some(key.trim())
            });
            let caller = match key {
                Some(key) => shared.caller(key).await?,
                None => None,
            };
            if caller.is_none() {
                return Err(Problem::new(
                    StatusCode::UNAUTHORIZED,
                    "this key is not known here",
                    "ask the administrator for a key (twicetold spam key NAME)",
                ));
            }
            caller
        }
    };
    let needs_key = matches!(route, Route::Report | Route::Revoke | Route::Export);
    if caller.is_none() && (needs_key || http.checks_need_key) {
        return Err(no_key());
    }
    let now = Instant::now();
    let asked = match &caller {
        // A name of a reporter has no control characters: it is never mistaken for an address.
        Some(caller) => shared.rates.ask(&caller.name, caller.known.per_minute, now),
        None => match from {
            Some(from) if http.checks_per_minute > 0 => {
                let name = format!("\0{from}");
                shared.rates.ask(&name, http.checks_per_minute, now)
            }
            _ => Ok(()),
        },
    };
    asked.map_err(|wait| {
        let mut problem = Problem::busy("rate", "this is more often than agreed", wait);
        problem.status = StatusCode::TOO_MANY_REQUESTS;
        problem
    })?;
    Ok(caller)
}

fn no_key() -> Problem {
    Problem::new(
        StatusCode::UNAUTHORIZED,
        "this needs a key",
        "send Authorization: Bearer KEY; the administrator makes keys (twicetold spam key NAME)",
    )
}

/// The reporter that is meant, and how to regard one who is not known yet.
fn in_whose_name(
    caller: &Caller,
    headers: &HeaderMap,
) -> Result<(String, Option<Standing>), Problem> {
    let Some(member) = headers.get(MEMBER) else {
        return Ok((caller.name.clone(), None));
    };
    if !caller.known.members {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "this key may report in its own name only",
            "leave Twicetold-Reporter out, or ask for members = true",
        ));
    }
    let name = std::str::from_utf8(member.as_bytes())
        .ok()
        .map(|member| format!("{}/{member}", caller.name))
        .filter(|name| is_reporter_name(name) && !name.ends_with('/'))
        .ok_or_else(|| {
            Problem::new(
                StatusCode::BAD_REQUEST,
                "this is no name of a reporter",
                "names are at most 200 bytes of UTF-8 without control characters",
            )
        })?;
    Ok((name, caller.known.members_standing))
}

/// The message of a request.
async fn message(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<(Given, Option<Room>), Problem> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or(MAIL);
    let kind = kind.split(';').next().unwrap_or_default().trim();
    let is_sketch = kind.eq_ignore_ascii_case(Sketches::MEDIA_TYPE);
    if !is_sketch && !kind.eq_ignore_ascii_case(MAIL) {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "a message is sent as message/rfc822 or application/x-twicetold-sketch",
            "set the header Content-Type",
        )
        .closing());
    }
    let current = shared.current();
    let most = current.settings.limits.message_bytes;
    let patience = current.settings.http.patience();
    let (bytes, room) = body::read(shared, request.into_body(), most, patience).await?;
    if !is_sketch {
        return Ok((Given::Mail(bytes), Some(room)));
    }
    let sketches = Sketches::from_bytes(&bytes).ok_or_else(|| {
        Problem::new(
            StatusCode::BAD_REQUEST,
            "this is no sketch, or one of another version",
            "use the same version of twicetold on both sides",
        )
    })?;
    Ok((Given::Sketch(Box::new(sketches)), None))
}

async fn campaign(shared: &Shared, path: &str) -> Result<Answered, Problem> {
    let name = path.rsplit('/').next().unwrap_or_default();
    let unknown = || {
        Problem::new(
            StatusCode::NOT_FOUND,
            "there is no campaign of this name",
            "a name has sixteen hexadecimal digits, as checks and reports tell it",
        )
    };
    let is_name = name.len() == 16 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
    let id: CampaignId = name.parse().ok().filter(|_| is_name).ok_or_else(unknown)?;
    let found = shared.campaign(id).await?.ok_or_else(unknown)?;
    #[derive(Serialize)]
    struct Row {
        belief: f64,
        #[serde(flatten)]
        campaign: CampaignTold,
    }
    Ok(told(row(&Row {
        belief: short(found.belief),
        campaign: CampaignTold::new(Some(&found)),
    })))
}

/// Whether it is worth sending requests here.
async fn health(shared: &Shared, stopping: bool) -> Response<Full<Bytes>> {
    let (status, word) = if stopping {
        (StatusCode::SERVICE_UNAVAILABLE, "stopping")
    } else {
        match timeout(HEALTH, shared.campaign(CampaignId(0))).await {
            // It answers, but others that are warm answer sooner.
            Ok(Ok(_)) if !shared.is_warm() => (StatusCode::SERVICE_UNAVAILABLE, "warming"),
            Ok(Ok(_)) => (StatusCode::OK, "ok"),
            Ok(Err(crate::shared::Failed::Refused(_))) => (StatusCode::SERVICE_UNAVAILABLE, "busy"),
            _ => (StatusCode::SERVICE_UNAVAILABLE, "campaigns unreachable"),
        }
    };
    let body = json!({ "status": word, "version": env!("CARGO_PKG_VERSION") });
    plain(status, "application/json", body.to_string())
}

fn told(response: Response<Full<Bytes>>) -> Answered {
    Answered {
        response: response.map(Told::Whole),
        noted: Vec::new(),
    }
}

/// An object of the schema.
fn row(value: &impl Serialize) -> Response<Full<Bytes>> {
    #[derive(Serialize)]
    struct Row<'v, T> {
        schema: u32,
        #[serde(flatten)]
        value: &'v T,
    }
    let row = Row {
        schema: SCHEMA,
        value,
    };
    // Writing numbers and words to memory does not fail.
    let text = serde_json::to_string(&row).unwrap_or_default();
    plain(StatusCode::OK, "application/json", text)
}

/// An answer with a body.
pub(super) fn plain(status: StatusCode, kind: &'static str, text: String) -> Response<Full<Bytes>> {
    dress(status, kind, Full::new(Bytes::from(text)))
}

fn dress<B>(status: StatusCode, kind: &'static str, body: B) -> Response<B> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_describes_the_routes() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut described: Vec<(String, String)> = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                described.push((method.to_uppercase(), path.clone()));
                let answers = operation["responses"].as_object().unwrap();
                assert!(answers.contains_key("200"), "{path}");
                let takes_message = operation.get("requestBody").is_some();
                for (status, when) in [
                    ("400", takes_message),
                    ("408", takes_message),
                    ("413", takes_message),
                    ("415", takes_message),
                    ("401", path.starts_with("/v1/") || path == "/metrics"),
                    ("429", path.starts_with("/v1/") || path == "/metrics"),
                    ("503", path.starts_with("/v1/") || path == "/healthz"),
                    ("404", path.ends_with("{id}")),
                    (
                        "403",
                        matches!(path.as_str(), "/v1/report" | "/v1/revoke" | "/v1/export"),
                    ),
                ] {
                    assert_eq!(answers.contains_key(status), when, "{path} {status}");
                }
            }
        }
        described.sort();
        let mut served: Vec<(String, String)> = ROUTES
            .iter()
            .map(|(method, path, _)| ((*method).to_owned(), (*path).to_owned()))
            .collect();
        served.sort();
        assert_eq!(described, served);
        assert_eq!(document["info"]["version"], env!("CARGO_PKG_VERSION"));
    }

    #[test]
    fn the_document_describes_the_answers() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let keys = |schema: &str| -> Vec<String> {
            let schema = &document["components"]["schemas"][schema];
            let mut keys: Vec<String> = schema["properties"]
                .as_object()
                .unwrap()
                .keys()
                .cloned()
                .collect();
            let mut needed: Vec<String> = schema["required"]
                .as_array()
                .unwrap()
                .iter()
                .map(|key| key.as_str().unwrap().to_owned())
                .collect();
            keys.sort();
            needed.sort();
            assert_eq!(keys, needed);
            keys
        };
        let written = |value: Value| -> Vec<String> {
            let mut keys: Vec<String> = value.as_object().unwrap().keys().cloned().collect();
            keys.push("schema".to_owned());
            keys.sort();
            keys
        };
        let campaign = serde_json::to_value(CampaignTold::new(None)).unwrap();
        let check = twicetold_service::Answer {
            class: twicetold_service::Class::Unknown,
            score: 0.0,
            campaign: None,
            evidence: twicetold_service::Evidence::default(),
        };
        let receipt = twicetold_service::Receipt {
            outcome: twicetold_service::Outcome::Nothing,
            campaign: None,
        };
        let check = serde_json::to_value(CheckTold::from(&check)).unwrap();
        let receipt = serde_json::to_value(ReceiptTold::from(&receipt)).unwrap();
        assert_eq!(keys("Check"), written(check));
        assert_eq!(keys("Receipt"), written(receipt));
        let mut campaign = written(campaign);
        campaign.push("belief".to_owned());
        campaign.sort();
        assert_eq!(keys("Campaign"), campaign);
    }

    #[test]
    fn paths_are_found_or_refused() {
        let status = |method: Method, path: &str| match find(&method, path) {
            Ok((_, route)) => Ok(route),
            Err(problem) => Err(problem.status.as_u16()),
        };
        assert_eq!(status(Method::POST, "/v1/check"), Ok(Route::Check));
        assert_eq!(status(Method::GET, "/v1/check"), Err(405));
        assert_eq!(status(Method::HEAD, "/healthz"), Ok(Route::Health));
        assert_eq!(status(Method::GET, "/v1/campaigns/ab"), Ok(Route::Campaign));
        for path in ["/", "", "/v1/campaigns/", "/v1/campaigns/a/b", "/v2/check"] {
            assert_eq!(status(Method::GET, path), Err(404), "{path}");
        }
    }
}
