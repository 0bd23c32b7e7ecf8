//! Layers around calls: what they see, what they may do, and that they harm nothing but the call they are around.

use std::{
    fmt::Write,
    future::{Future, IntoFuture},
    pin::Pin,
    sync::Arc,
    task::{Context as Task, Poll},
    time::Duration,
};

use expect_test::expect;
use tokio::sync::{AcquireError, OwnedSemaphorePermit, Semaphore};
use trueform::{
    Service,
    layer::{CallEnd, CallInfo, CallLayer, CallMetrics, CallOutcome, CallScope},
    prelude::*,
    schema::ErrorObject,
};

use crate::{
    extended::{Own, WAYS, Way, headers_of},
    logged::assert_logged,
    parity::post,
    support::{
        self, Collected, Director, add, block, initialize, legacy, overruns, panics, panics_later,
        raw, soon, wait,
    },
};

/// Fails with an error of its own.
#[tool(read_only)]
fn refuses() -> Result<(), ToolError> {
    Err(ToolError::protocol(ErrorObject::new(5, "no")))
}

pub(crate) fn server() -> (Server, Director) {
    let (stage, director) = support::stage();
    let tools = tools![add, refuses, panics, panics_later, overruns, wait, block];
    let server = Server::new("test", "1.0.0")
        .tools(tools)
        .extension(Own)
        .state(stage);
    (server, director)
}

pub(crate) fn built(server: Server) -> Service {
    server.build().expect("the tools are fine")
}

fn call(way: Way, id: &str, tool: &str, arguments: &str) -> String {
    way.request(
        id,
        "tools/call",
        &format!(r#""name":"{tool}","arguments":{arguments}"#),
    )
}

/// Notes what it is asked.
struct Notes {
    name: &'static str,
    notes: Arc<Collected<String>>,
    refuses: Option<fn() -> ToolError>,
}

struct Note(&'static str, Arc<Collected<String>>);

impl CallLayer for Notes {
    fn begin(&self, call: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        let hint = call.annotations().and_then(|hints| hints.read_only_hint);
        let (name, method, tool) = (self.name, call.method(), call.name());
        let revision = call.context().revision();
        self.notes.push(format!(
            "{name} begins {method} {tool} {hint:?} at {revision}"
        ));
        match self.refuses {
            Some(refusal) => Err(refusal()),
            None => Ok(Some(Box::new(Note(name, self.notes.clone())))),
        }
    }
}

impl CallScope for Note {
    fn poll_admitted(&mut self, _: &mut Task<'_>) -> Poll<()> {
        self.1.push(format!("{} admits", self.0));
        Poll::Ready(())
    }

    fn ended(self: Box<Self>, end: &CallEnd) {
        assert!(0 < end.response_bytes);
        self.1.push(format!("{} sees {}", self.0, end.outcome));
    }
}

/// Why a layer refuses calls.
type Refusal = fn() -> ToolError;

fn notes(names: &[(&'static str, Option<Refusal>)]) -> (Server, Arc<Collected<String>>) {
    let notes = Arc::<Collected<String>>::default();
    let mut server = server().0;
    for &(name, refuses) in names {
        server = server.layer(Notes {
            name,
            notes: notes.clone(),
            refuses,
        });
    }
    (server, notes)
}

#[tokio::test]
async fn the_first_is_the_outermost() {
    let (server, notes) = notes(&[("outer", None), ("inner", None)]);
    let service = built(server);
    for way in WAYS {
        let revision = way.revision();
        way.answers(&service, &[call(way, "1", "refuses", "{}")])
            .await;
        let expected = [
            format!("outer begins tools/call refuses Some(true) at {revision}"),
            format!("inner begins tools/call refuses Some(true) at {revision}"),
            "outer admits".to_owned(),
            "inner admits".to_owned(),
            "inner sees error 5".to_owned(),
            "outer sees error 5".to_owned(),
        ];
        assert_eq!(notes.take(), expected, "{way:?}");
        way.answers(&service, &[way.request("1", "own/ok", "")])
            .await;
        let begun = format!("outer begins own/ok own/ok None at {revision}");
        assert_eq!(notes.take()[0], begun, "{way:?}");
    }
}

#[tokio::test]
async fn a_layer_refuses() {
    let told: fn() -> ToolError = || ToolError::new("not today");
    let protocol: fn() -> ToolError = || ToolError::protocol(ErrorObject::new(9, "not today"));
    for (refusal, outcome) in [(told, "tool error"), (protocol, "error 9")] {
        let (server, notes) = notes(&[("outer", None), ("middle", Some(refusal)), ("inner", None)]);
        let service = built(server);
        for way in WAYS {
            // A call that would never end.
            let message = call(way, "1", "wait", r#"{"label":"x"}"#);
            let answers = way.answers(&service, &[message]).await;
            let answer = &answers[0];
            let text = match outcome {
                "tool error" => {
                    assert_eq!(answer["result"]["isError"], true, "{answer}");
                    &answer["result"]["content"][0]["text"]
                }
                _ => {
                    assert_eq!(answer["error"]["code"], 9, "{answer}");
                    &answer["error"]["message"]
                }
            };
            assert_eq!(text, "not today");
            let notes = notes.take();
            assert_eq!(notes.len(), 3, "{notes:?}");
            assert!(notes[1].starts_with("middle begins"), "{notes:?}");
            assert_eq!(notes[2], format!("outer sees {outcome}"));
        }
        // A method of an extension has no `isError`.
        let way = WAYS[1];
        let answers = way
            .answers(&service, &[way.request("1", "own/waits", "")])
            .await;
        let code = if outcome == "tool error" { -32603 } else { 9 };
        assert_eq!(answers[0]["error"]["code"], code, "{answers:?}");
    }
}

fn counts(metrics: &CallMetrics) -> String {
    let mut out = String::new();
    for row in metrics.snapshot() {
        let outcome = row
            .outcome
            .map_or("given up".to_owned(), |outcome| outcome.to_string());
        writeln!(out, "{} {outcome}: {}", row.name, row.count).unwrap();
        assert!(row.longest <= row.total, "{row:?}");
        assert!(row.count != 1 || row.longest == row.total, "{row:?}");
    }
    out
}

// Each call of a registered tool is counted once, on both transports and in both eras. Other requests are not counted.
#[tokio::test(start_paused = true)]
async fn metrics_count_each_call_once() {
    for way in WAYS {
        let metrics = CallMetrics::new();
        let (server, _director) = server();
        let service = built(server.layer(metrics.clone()));
        let asks = [
            ("tools/list", ""),
            ("tools/call", r#""name":"add","arguments":{"a":1,"b":2}"#),
            ("tools/call", r#""name":"add","arguments":{"a":1,"b":3}"#),
            ("tools/call", r#""name":"add","arguments":{"a":"x"}"#),
            ("tools/call", r#""name":"refuses""#),
            ("tools/call", r#""name":"panics""#),
            ("tools/call", r#""name":"panics_later""#),
            ("tools/call", r#""name":"overruns""#),
            ("tools/call", r#""name":"nope""#),
            ("own/ok", ""),
            ("own/fails", ""),
            ("own/panics", ""),
            ("own/unknown", ""),
            ("ping", ""),
        ];
        let asks = asks.iter().enumerate();
        let messages: Vec<_> = asks
            .map(|(at, (method, params))| way.request(&(at + 1).to_string(), method, params))
            .collect();
        assert_eq!(way.answers(&service, &messages).await.len(), 14, "{way:?}");
        expect![[r#"
            add ok: 2
            add tool error: 1
            overruns tool error: 1
            own/fails error 7: 1
            own/ok ok: 1
            own/panics error -32603: 1
            panics tool error: 1
            panics_later tool error: 1
            refuses error 5: 1
        "#]]
        .assert_eq(&counts(&metrics));
    }
}

// E-9, O-2: cancelled on a stream in both eras, by a client of HTTP that goes away, and by the end of the link.
#[tokio::test]
async fn metrics_count_calls_that_are_given_up() {
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    for way in WAYS {
        for tool in ["wait", "block", "own/waits"] {
            let metrics = CallMetrics::new();
            let (server, director) = server();
            let service = built(server.layer(metrics.clone()));
            let message = match tool {
                "own/waits" => way.request("1", tool, ""),
                _ => call(way, "1", tool, r#"{"label":"x"}"#),
            };
            if way.http && way.modern {
                let http = service.clone().into_http_service().unwrap();
                let headers = headers_of(&message);
                let body = message.into_bytes();
                let request = tokio::spawn(async move { post(&http, &headers, body).await });
                director.begun().await;
                request.abort();
                assert!(soon(request).await.is_err());
                director.begun().await;
            } else if way.http {
                let http = service.clone().into_http_service().unwrap();
                let mut headers = Vec::new();
                for opening in way.opening() {
                    let (_, session, _) = post(&http, &headers, opening.into_bytes()).await;
                    headers.extend(session.map(|session| ("mcp-session-id".to_owned(), session)));
                }
                let request = tokio::spawn({
                    let (http, headers) = (http.clone(), headers.clone());
                    async move { post(&http, &headers, message.into_bytes()).await }
                });
                director.begun().await;
                let (status, _, _) = post(&http, &headers, cancelled.as_bytes().to_vec()).await;
                assert_eq!(status, 202);
                assert_eq!(soon(request).await.unwrap().2, None, "{tool}");
            } else {
                let client = raw(&service).await;
                for opening in way.opening() {
                    client.send_raw(opening).unwrap();
                }
                client.send_raw(message).unwrap();
                director.begun().await;
                client.send_raw(cancelled).unwrap();
                director.begun().await;
            }
            // Of a blocking function only the waiting is dropped at once, and on a stream by another task.
            soon(async {
                while counts(&metrics).is_empty() {
                    tokio::task::yield_now().await;
                }
            })
            .await;
            assert_eq!(counts(&metrics), format!("{tool} given up: 1\n"), "{way:?}");
        }
    }
}

/// At most so many calls at once, each within a time.
struct Limit(Arc<Semaphore>, Option<Duration>);

struct Waiting {
    acquiring: Pin<Box<dyn Future<Output = Result<OwnedSemaphorePermit, AcquireError>> + Send>>,
    permit: Option<OwnedSemaphorePermit>,
    limit: Option<Duration>,
}

impl CallLayer for Limit {
    fn begin(&self, _: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        Ok(Some(Box::new(Waiting {
            acquiring: Box::pin(self.0.clone().acquire_owned()),
            permit: None,
            limit: self.1,
        })))
    }
}

impl CallScope for Waiting {
    fn poll_admitted(&mut self, cx: &mut Task<'_>) -> Poll<()> {
        let acquired = self.acquiring.as_mut().poll(cx);
        acquired.map(|permit| self.permit = Some(permit.expect("it is never closed")))
    }

    fn time_limit(&self) -> Option<Duration> {
        self.limit
    }
}

fn waits(id: &str) -> String {
    legacy(
        id,
        "tools/call",
        &format!(r#"{{"name":"wait","arguments":{{"label":"{id}"}}}}"#),
    )
}

// A call that waits for its turn can be cancelled, and one that is cancelled lets the next one in.
#[tokio::test]
async fn limits_on_concurrency() {
    let metrics = CallMetrics::new();
    let (server, director) = server();
    let limit = Limit(Arc::new(Semaphore::new(1)), None);
    let service = built(server.layer(metrics.clone()).layer(limit));
    let client = raw(&service).await;
    for line in initialize("2025-11-25") {
        client.send_raw(line).unwrap();
    }
    client.next_message().await.unwrap();
    for id in ["1", "2", "3"] {
        client.send_raw(waits(id)).unwrap();
    }
    assert_eq!(director.begun().await, "1");
    for id in ["2", "1"] {
        let params = format!(r#"{{"requestId":{id}}}"#);
        let method = "notifications/cancelled";
        let line = format!(r#"{{"jsonrpc":"2.0","method":"{method}","params":{params}}}"#);
        client.send_raw(line).unwrap();
    }
    assert_eq!(director.begun().await, "dropped 1");
    // The second never began.
    assert_eq!(director.begun().await, "3");
    director.open();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(
        answer.contains(r#""id":3"#) && answer.contains("result"),
        "{answer}"
    );
    assert_eq!(counts(&metrics), "wait ok: 1\nwait given up: 2\n");
}

// The time limit of a layer counts from the beginning, its waiting included, and the shortest of all counts.
#[tokio::test(start_paused = true)]
async fn time_limits() {
    for (permits, limit, expected) in [
        (1, Some(Duration::from_millis(20)), "20ms"),
        (0, Some(Duration::from_millis(20)), "20ms"),
        (1, Some(Duration::from_secs(5)), "1s"),
        (0, Some(Duration::from_secs(5)), "1s"),
        (0, None, "1s"),
    ] {
        let metrics = CallMetrics::new();
        let (server, _director) = server();
        let inner = Limit(Arc::new(Semaphore::new(permits)), limit);
        let outer = Limit(Arc::new(Semaphore::new(1)), Some(Duration::from_secs(7)));
        let service = built(server.layer(metrics.clone()).layer(outer).layer(inner));
        for way in WAYS {
            let answers = way
                .answers(&service, &[call(way, "1", "overruns", "{}")])
                .await;
            let text = &answers[0]["result"]["content"][0]["text"];
            let wanted = format!("tool `overruns` did not finish within {expected}");
            assert_eq!(*text, wanted, "{way:?} {permits} {limit:?}");
        }
        assert_eq!(counts(&metrics), "overruns tool error: 4\n");
    }
}

/// Panics at one point.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Panics {
    Begin,
    Admission,
    TimeLimit,
    ResponseLimit,
    Ended,
    Drop,
}

struct Falls(Panics);

struct Falling(Panics);

impl Panics {
    fn at(self, point: Self) {
        assert!(self != point, "meant to");
    }
}

impl CallLayer for Falls {
    fn begin(&self, _: &CallInfo<'_>) -> Result<Option<Box<dyn CallScope>>, ToolError> {
        self.0.at(Panics::Begin);
        Ok(Some(Box::new(Falling(self.0))))
    }
}

impl CallScope for Falling {
    fn poll_admitted(&mut self, _: &mut Task<'_>) -> Poll<()> {
        self.0.at(Panics::Admission);
        Poll::Ready(())
    }

    fn time_limit(&self) -> Option<Duration> {
        self.0.at(Panics::TimeLimit);
        None
    }

    fn max_response_bytes(&self) -> Option<usize> {
        self.0.at(Panics::ResponseLimit);
        None
    }

    fn ended(self: Box<Self>, _: &CallEnd) {
        self.0.at(Panics::Ended);
    }
}

impl Drop for Falling {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.0.at(Panics::Drop);
        }
    }
}

// A layer that panics fails at most the call that it is around: others go on, and the other layers still see the end.
#[tokio::test]
async fn layers_that_panic() {
    for point in [
        Panics::Begin,
        Panics::Admission,
        Panics::TimeLimit,
        Panics::ResponseLimit,
        Panics::Ended,
        Panics::Drop,
    ] {
        let outer = CallMetrics::new();
        let (server, director) = server();
        director.open();
        let service = built(server.layer(outer.clone()).layer(Falls(point)));
        for way in WAYS {
            // Ready at once, and after some waiting.
            for message in [
                call(way, "1", "add", r#"{"a":1,"b":2}"#),
                call(way, "1", "wait", r#"{"label":"x"}"#),
                call(way, "1", "block", r#"{"label":"x"}"#),
            ] {
                let answers = way.answers(&service, &[message]).await;
                let failed = matches!(point, Panics::Begin | Panics::Admission);
                let is_error = &answers[0]["result"]["isError"];
                assert_eq!(*is_error == true, failed, "{point:?} {way:?}: {answers:?}");
            }
        }
        let ended: u64 = outer.snapshot().iter().map(|row| row.count).sum();
        assert_eq!(ended, 12, "{point:?}: {}", counts(&outer));
        assert!(!counts(&outer).contains("given up"), "{}", counts(&outer));
    }
}

// The log does not blame the tool, or the extension, for what a layer did.
#[tokio::test]
async fn layers_that_panic_in_the_log() {
    for point in [Panics::Begin, Panics::Admission] {
        let (server, _director) = server();
        let service = built(server.layer(Falls(point)));
        for (name, message) in [
            ("add", call(WAYS[0], "1", "add", r#"{"a":1,"b":2}"#)),
            ("own/ok", WAYS[0].request("1", "own/ok", "")),
        ] {
            let told = support::log();
            soon(WAYS[0].answers(&service, &[message])).await;
            let told = told.take();
            let parts = [
                "a call layer panicked",
                &format!(r#"name="{name}""#),
                "meant to",
            ];
            assert_logged(&told, "ERROR", &parts);
            let errors = told.iter().filter(|line| line.starts_with("ERROR"));
            assert_eq!(errors.count(), 1, "{told:#?}");
        }
    }
}

// The same for a call that is cancelled.
#[tokio::test]
async fn a_scope_that_panics_when_its_call_is_cancelled() {
    let outer = CallMetrics::new();
    let (server, director) = server();
    let service = built(server.layer(outer.clone()).layer(Falls(Panics::Drop)));
    let client = raw(&service).await;
    for line in initialize("2025-11-25") {
        client.send_raw(line).unwrap();
    }
    client.next_message().await.unwrap();
    client.send_raw(waits("1")).unwrap();
    assert_eq!(director.begun().await, "1");
    let cancelled =
        r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
    client.send_raw(cancelled).unwrap();
    client.send_raw(legacy("2", "ping", "{}")).unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains(r#""id":2"#), "{answer}");
    assert_eq!(director.begun().await, "dropped 1");
    soon(async {
        while counts(&outer).is_empty() {
            tokio::task::yield_now().await;
        }
    })
    .await;
    assert_eq!(counts(&outer), "wait given up: 1\n");
    // The link goes on.
    client.send_raw(legacy("3", "ping", "{}")).unwrap();
    let answer = soon(client.next_message()).await.unwrap();
    assert!(answer.contains(r#""id":3"#), "{answer}");
}

#[test]
fn outcomes_are_shown() {
    let shown = [
        CallOutcome::Result,
        CallOutcome::ToolError,
        CallOutcome::Error(-7),
    ];
    assert_eq!(
        shown.map(|outcome| outcome.to_string()),
        ["ok", "tool error", "error -7"]
    );
}

/// Reports progress.
#[tool(timeout("5s", reset_by_progress))]
async fn reports(context: Context) -> &'static str {
    context.progress(1.0, None, None).await;
    // So that the time is looked at again.
    for _ in 0..3 {
        tokio::task::yield_now().await;
    }
    "done"
}

// A limit that ends after any instant has no effect, and does not panic when progress sets the clock anew.
#[tokio::test]
async fn an_endless_limit() {
    let limit = trueform::layer::TimeLimit::new(Duration::MAX);
    let server = Server::new("t", "1").tools(tools![reports]).layer(limit);
    let client = server.connect().await.unwrap();
    let call = client.call_tool("reports", ()).on_progress(|_| {});
    let result = soon(call.into_future()).await.unwrap();
    assert_eq!(result.text(), "done");
}
