//! One message, two transports, one answer and one span: code, `data`, message and what is traced are equal on a byte stream and
//! over HTTP.
//!
//! The rows are in `table.rs`. Where the specification demands a difference, the row has it, with the requirement.

mod table;

use std::collections::BTreeSet;

use axum::{body::Body, http::Request};
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;
use trueform::{
    Service,
    completion::CompletionQuery,
    prelude::*,
    schema::{Era, PromptMessage, Revision, Role, TextContent},
    transport::http::HttpService,
};

use crate::support::{
    Span, add, conversation, echo, initialize, keep_spans, modern, refusals_have_data, soon, spans,
};

/// Which revisions the server of a row serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Serves {
    All,
    Modern,
    Legacy,
    /// All, with prompts, resources and completion.
    Offers,
}

/// What the client did before, and what it says of its era.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// A session of 2025-11-25; over HTTP with its headers.
    Session,
    /// A session of 2025-03-26.
    OldSession,
    /// Nothing before; over HTTP the headers of 2026-07-28, made from the body.
    Stateless,
    /// Nothing before, and no headers of the protocol.
    Cold,
}

/// What a message is answered with.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Answer {
    Result,
    Silence,
    /// The code, and the pointer in `data` if it has one.
    Error(i64, Option<&'static str>),
}

/// One message and its answers.
struct Row {
    name: String,
    serves: Serves,
    door: Door,
    message: Vec<u8>,
    /// Headers of HTTP in place of those of the door; `None` leaves one out.
    headers: Vec<(&'static str, Option<&'static str>)>,
    /// The answer, on both transports unless `over_http` says otherwise.
    answer: Answer,
    /// The status over HTTP.
    status: u16,
    /// The answer over HTTP where the specification demands another one, and the requirement.
    over_http: Option<(Answer, &'static str)>,
}

/// What came back.
#[derive(Debug)]
struct Got {
    /// Over HTTP.
    status: Option<u16>,
    message: Option<Value>,
    /// Of the row's own message.
    spans: Vec<Span>,
}

/// The `data` of an error without what was expected, in which the row's difference shows.
fn data(got: &Got) -> Option<Value> {
    let mut data = got.message.as_ref()?["error"].get("data")?.clone();
    data.as_object_mut()?.remove("expected");
    Some(data)
}

/// Needs what no client of these tests declares.
#[tool(needs(sampling))]
fn needy() -> String {
    "not reached".to_owned()
}

/// Greets.
#[prompt]
fn greet(#[arg(complete = counts)] times: u8) -> Result<String, ToolError> {
    match times {
        0 => Err(ToolError::invalid_argument("times", "expected a greeting")),
        times => Ok("hello ".repeat(times.into())),
    }
}

fn counts(query: CompletionQuery) -> Result<[&'static str; 2], ToolError> {
    match query.value() {
        "" => Ok(["1", "2"]),
        _ => Err(ToolError::invalid_argument("times", "expected nothing")),
    }
}

/// Has a role that there is not.
#[prompt]
fn illegal() -> PromptMessage {
    PromptMessage::new(TextContent::new("x"), Role::from("robot"))
}

/// All notes.
#[resource("notes:all")]
fn all() -> &'static str {
    "notes"
}

/// One note.
#[resource("notes:one/{id}")]
fn one(id: u8) -> Option<String> {
    (id != 0).then(|| id.to_string())
}

fn service(serves: Serves) -> Service {
    let server = Server::new("test", "1.0.0").tools(tools![add, echo, needy]);
    let of = |era| {
        Revision::ALL
            .iter()
            .copied()
            .filter(move |revision| revision.era() == era)
    };
    let server = match serves {
        Serves::All => server,
        Serves::Modern => server.revisions(of(Era::Modern)),
        Serves::Legacy => server.revisions(of(Era::Legacy)),
        Serves::Offers => server
            .prompts(prompts![greet, illegal])
            .resources(resources![all, one]),
    };
    server.build().expect("the tools are fine")
}

impl Door {
    /// The revision of the session that is opened before.
    fn session(self) -> Option<&'static str> {
        match self {
            Self::Session => Some("2025-11-25"),
            Self::OldSession => Some("2025-03-26"),
            Self::Stateless | Self::Cold => None,
        }
    }
}

impl Row {
    /// What the stream writes for the message, which has the stream to itself.
    async fn on_a_stream(&self, service: &Service) -> Got {
        let before: Vec<String> = self
            .door
            .session()
            .map(initialize)
            .into_iter()
            .flatten()
            .collect();
        let mut input = before
            .iter()
            .flat_map(|line| [line.as_bytes(), b"\n"])
            .flatten()
            .copied()
            .collect::<Vec<u8>>();
        input.extend_from_slice(&self.message);
        input.push(b'\n');
        let answers = conversation(service, input).await;
        let mut spans = spans();
        // That of `initialize`.
        spans.drain(..usize::from(!before.is_empty()));
        let own = &answers[usize::from(!before.is_empty())..];
        assert!(own.len() <= 1, "{}: {own:?}", self.name);
        Got {
            status: None,
            spans,
            message: own.first().map(|line| serde_json::from_str(line).unwrap()),
        }
    }

    /// What a POST of the message is answered with.
    async fn as_a_post(&self, service: &Service) -> Got {
        let http = service
            .clone()
            .into_http_service()
            .expect("the settings are fine");
        let mut headers: Vec<(String, String)> = Vec::new();
        if let Some(revision) = self.door.session() {
            let [initialize, initialized] = initialize(revision);
            let (_, opened, _) = post(&http, &[], initialize.into_bytes()).await;
            headers.push(("mcp-session-id".to_owned(), opened.expect("a session")));
            headers.push(("mcp-protocol-version".to_owned(), revision.to_owned()));
            post(&http, &headers, initialized.into_bytes()).await;
        }
        if self.door == Door::Stateless {
            headers.extend(headers_of(&self.message));
        }
        for (name, value) in &self.headers {
            headers.retain(|(known, _)| known != name);
            headers.extend(value.map(|value| ((*name).to_owned(), value.to_owned())));
        }
        spans();
        let (status, _, body) = post(&http, &headers, self.message.clone()).await;
        Got {
            status: Some(status),
            spans: spans(),
            message: body,
        }
    }

    /// What is wrong with the answers.
    fn problems(&self, stream: &Got, http: &Got) -> Vec<String> {
        let mut problems = Vec::new();
        let wanted_over_http = self
            .over_http
            .as_ref()
            .map_or(&self.answer, |(answer, _)| answer);
        for (transport, got, wanted) in [
            ("stream", stream, &self.answer),
            ("HTTP", http, wanted_over_http),
        ] {
            let found = answer_of(got.message.as_ref());
            if found != wanted.shown() {
                problems.push(format!(
                    "{transport}: wanted {}, got {found}",
                    wanted.shown()
                ));
            }
            let incomplete = without_header(got.message.as_ref());
            problems.extend(incomplete.map(|problem| format!("{transport}: {problem}")));
            problems.extend(
                self.span_problem(got)
                    .map(|problem| format!("{transport}: {problem}")),
            );
        }
        if http.status != Some(self.status) {
            problems.push(format!(
                "HTTP: wanted status {}, got {:?}",
                self.status, http.status
            ));
        }
        match &self.over_http {
            None if stream.message != http.message => {
                problems.push("the answers differ".to_owned());
            }
            None if stream.spans != http.spans => problems.push("the spans differ".to_owned()),
            // The text names another cure; whatever is for programs is the same.
            Some((answer, _)) if *answer == self.answer && data(stream) != data(http) => {
                problems.push("the data differs".to_owned());
            }
            _ => {}
        }
        problems
    }

    /// What is wrong with the span of the request. A message that is not a request has no span.
    fn span_problem(&self, got: &Got) -> Option<String> {
        let message: Value = serde_json::from_slice(&self.message).unwrap_or_default();
        let is_request = message["jsonrpc"] == "2.0"
            && message["method"].is_string()
            && (message["id"].is_string() || message["id"].is_i64());
        // What cannot be read as a message has no span either.
        let was_read = !matches!(&got.message, Some(answer) if answer["error"]["code"] == -32700);
        let answered = got.message.as_ref();
        let outcome = match answered {
            None => return (!got.spans.is_empty()).then(|| format!("{:?}", got.spans)),
            Some(answer) if answer["error"].is_object() => answer["error"]["code"].to_string(),
            Some(answer) if answer["result"]["isError"] == true => "tool error".to_owned(),
            Some(_) => "ok".to_owned(),
        };
        let span = match &got.spans[..] {
            [] if !is_request || !was_read || self.is_malformed() => return None,
            [span] => span,
            spans => return Some(format!("one span was expected, not {spans:?}")),
        };
        let field = |name| span.get(name).map(String::as_str);
        let wanted = [
            ("method", message["method"].as_str()),
            ("id", Some("1")),
            ("outcome", Some(&*outcome)),
            ("revision", self.revision(&message, answered)),
        ];
        let wrong = wanted.iter().find(|(name, value)| field(name) != *value)?;
        Some(format!("{wrong:?} was expected in {span:?}"))
    }

    /// Whether the row is about an envelope that a tree does not show to be wrong.
    fn is_malformed(&self) -> bool {
        ["two ids", "two methods", "two params", "too deep"]
            .iter()
            .any(|name| self.name.starts_with(name))
    }

    /// The revision that the span of the request names: the one that it is served at, or that it was refused at if it
    /// named one.
    fn revision<'a>(&self, message: &'a Value, answered: Option<&'a Value>) -> Option<&'a str> {
        let version =
            message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
        match (version, self.door.session()) {
            (Some("2026-07-28"), _) => version.filter(|_| self.serves != Serves::Legacy),
            (Some(_), _) => None,
            (None, Some(session)) => Some(session),
            (None, None) => answered?["result"]["protocolVersion"].as_str(),
        }
    }
}

impl Answer {
    fn shown(&self) -> String {
        match self {
            Self::Result => "a result".to_owned(),
            Self::Silence => "silence".to_owned(),
            Self::Error(code, None) => code.to_string(),
            Self::Error(code, Some(pointer)) => format!("{code} at `{pointer}`"),
        }
    }
}

/// An answer as [`Answer::shown`] shows it.
fn answer_of(message: Option<&Value>) -> String {
    match message {
        None => "silence".to_owned(),
        Some(Value::Array(_)) => "a batch".to_owned(),
        Some(message) => match (
            &message["error"]["code"],
            &message["error"]["data"]["pointer"],
        ) {
            (Value::Null, _) if message["result"].is_object() => "a result".to_owned(),
            (code, Value::String(pointer)) => format!("{code} at `{pointer}`"),
            (code, _) => code.to_string(),
        },
    }
}

/// Whether a refusal of headers says nothing of which.
fn without_header(message: Option<&Value>) -> Option<String> {
    let error = message?.get("error")?;
    let told = error["message"].as_str().unwrap_or_default();
    (error["code"] == -32020 && !told.contains("MCP-Protocol-Version"))
        .then(|| format!("{error} does not name the header"))
}

/// The headers that repeat a modern message.
fn headers_of(message: &[u8]) -> Vec<(String, String)> {
    let message: Value = serde_json::from_slice(message).unwrap_or_default();
    let version = message["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"].as_str();
    let mut headers = vec![("mcp-protocol-version", version.unwrap_or("2026-07-28"))];
    headers.extend(
        message["method"]
            .as_str()
            .map(|method| ("mcp-method", method)),
    );
    headers.extend(
        message["params"]["name"]
            .as_str()
            .map(|name| ("mcp-name", name)),
    );
    headers.extend(
        message["params"]["uri"]
            .as_str()
            .map(|uri| ("mcp-name", uri)),
    );
    headers
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The status, the session that was opened, and the message.
pub(crate) async fn post(
    http: &HttpService,
    headers: &[(String, String)],
    body: Vec<u8>,
) -> (u16, Option<String>, Option<Value>) {
    let mut request = Request::post("/mcp")
        .header("host", "localhost")
        .header("content-type", "application/json")
        .header("accept", "application/json, text/event-stream");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let request = request.body(Body::from(body)).unwrap();
    let response = soon(http.clone().oneshot(request)).await.unwrap();
    let status = response.status().as_u16();
    let session = response
        .headers()
        .get("mcp-session-id")
        .map(|id| id.to_str().unwrap().to_owned());
    let is_stream = response
        .headers()
        .get("content-type")
        .is_some_and(|kind| kind == "text/event-stream");
    let body = soon(response.into_body().collect())
        .await
        .unwrap()
        .to_bytes();
    let text = std::str::from_utf8(&body).unwrap();
    // The last message of a stream is the response.
    let mut events = text
        .lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| !data.is_empty());
    let last = match is_stream {
        true => events.next_back(),
        false => (!text.is_empty()).then_some(text),
    };
    let message = last.map(|text| serde_json::from_str(text).unwrap());
    message.as_ref().into_iter().for_each(refusals_have_data);
    (status, session, message)
}

// D-3, D-4, F-5, F-20, F-24, F-25, F-32, GAP-2, GAP-13
#[tokio::test]
async fn the_same_answer_on_both_transports() {
    let rows = table::rows();
    assert!(60 <= rows.len(), "{} rows", rows.len());
    let names: BTreeSet<_> = rows.iter().map(|row| &row.name).collect();
    assert_eq!(names.len(), rows.len(), "names are unique");

    let services = [Serves::All, Serves::Modern, Serves::Legacy, Serves::Offers]
        .map(|serves| (serves, service(serves)));
    keep_spans();
    let mut failures = String::new();
    for row in &rows {
        let (_, service) = services
            .iter()
            .find(|(serves, _)| *serves == row.serves)
            .unwrap();
        let (stream, http) = (row.on_a_stream(service).await, row.as_a_post(service).await);
        let problems = row.problems(&stream, &http);
        if !problems.is_empty() {
            failures += &format!(
                "{}: {problems:#?}\n  stream {stream:?}\n  HTTP {http:?}\n",
                row.name
            );
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
