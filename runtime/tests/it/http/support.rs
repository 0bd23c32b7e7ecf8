//! Requests to a router in this process, and streams read event by event.

use axum::{
    Router,
    body::Body,
    http::{HeaderMap, Method, Request, request::Parts},
};
use http_body_util::BodyExt;
use tower::ServiceExt;
use trueform::{HttpConfig, prelude::*};

use crate::support::{self as common, Director, initialize, soon};

/// Says who calls.
#[tool]
pub(crate) fn whoami(principal: Option<Principal>) -> String {
    principal.map_or_else(
        || "nobody".to_owned(),
        |principal| principal.subject().to_owned(),
    )
}

/// Says what the request's header `x-test` was, and the path.
#[tool]
fn header(context: Context) -> String {
    let parts = context
        .extension::<Parts>()
        .expect("over HTTP there are parts");
    let value = parts
        .headers
        .get("x-test")
        .and_then(|value| value.to_str().ok())
        .unwrap_or("none");
    format!("{value} at {}", parts.uri.path())
}

/// Ends its stream early, then waits until the test lets it go on.
#[tool]
async fn part(context: Context, stage: State<common::Stage>) -> String {
    context.close_stream();
    context.progress(1.0, None, None);
    stage.hold("part").await;
    "back".to_owned()
}

/// Reports progress once, waits until the test lets it go on, and reports again.
#[tool]
async fn talk(context: Context, stage: State<common::Stage>) -> String {
    context.progress(1.0, None, None);
    stage.hold("talk").await;
    context.progress(2.0, None, None);
    "done".to_owned()
}

/// Waits until the test lets it go on, and panics.
#[tool]
async fn fall(stage: State<common::Stage>) -> String {
    stage.hold("fall").await;
    panic!("meant to")
}

/// Reports progress `count` times at once.
#[tool]
fn flood(context: Context, count: u32) -> u32 {
    for step in 1..=count {
        context.progress(f64::from(step), None, Some(&"x".repeat(1000)));
    }
    count
}

/// Reports progress without a pause until the test lets it end, or for long enough to fail.
#[tool]
async fn chatter(context: Context, stage: State<common::Stage>) -> &'static str {
    let begun = std::time::Instant::now();
    let mut step = 0.0;
    while !stage.is_open() {
        if 15 < begun.elapsed().as_secs() {
            return "alone";
        }
        step += 1.0;
        context.progress(step, None, None);
        tokio::task::yield_now().await;
    }
    "heard"
}

/// Waits until the test lets it go on, within a second.
#[tool(timeout = "1s")]
async fn stall(stage: State<common::Stage>) -> String {
    stage.hold("stall").await;
    "done".to_owned()
}

/// A server over HTTP in this process, and who directs its stage. What passes is recorded, and held to the rules of the
/// specification in the end.
pub(crate) struct App {
    pub(crate) router: Router,
    pub(crate) director: Director,
    pub(crate) handle: trueform::ServerHandle,
    #[cfg(feature = "testing")]
    pub(crate) recorder: Recorder,
}

#[cfg(feature = "testing")]
pub(crate) use trueform::testing::Recorder;

/// Stands for the one that there is with the feature `testing`.
#[cfg(not(feature = "testing"))]
pub(crate) struct Recorder;

#[cfg(not(feature = "testing"))]
impl Recorder {
    pub(crate) const fn new() -> Self {
        Self
    }
}

/// What clients do wrong in tests is meant; a server that does is not.
#[cfg(feature = "testing")]
impl Drop for App {
    fn drop(&mut self) {
        use trueform::testing::{Checker, Side};

        if std::thread::panicking() {
            return;
        }
        // A busy machine is not a fault of the server.
        let checker = Checker::http().crossing(std::time::Duration::from_secs(20));
        let transcript = self.recorder.transcript();
        let findings = checker.check(&transcript).expect("it was just written");
        let findings: Vec<_> = findings
            .iter()
            .filter(|finding| finding.side == Side::Server)
            .map(ToString::to_string)
            .collect();
        assert!(
            findings.is_empty(),
            "{}\n\n{transcript}",
            findings.join("\n")
        );
    }
}

impl App {
    pub(crate) fn new() -> Self {
        Self::with(HttpConfig::default())
    }

    pub(crate) fn with(config: HttpConfig) -> Self {
        Self::of(staged(config))
    }

    /// The same where nothing is let in that the specification does not allow.
    pub(crate) fn strict() -> Self {
        Self::strict_with(HttpConfig::default())
    }

    /// The same with `config`.
    pub(crate) fn strict_with(config: HttpConfig) -> Self {
        Self::lenient_with(trueform::Leniencies::NONE, config)
    }

    /// The same where `leniencies` say what is let in.
    #[cfg(feature = "testing")]
    pub(crate) fn lenient(leniencies: trueform::Leniencies) -> Self {
        Self::lenient_with(leniencies, HttpConfig::default())
    }

    fn lenient_with(leniencies: trueform::Leniencies, config: HttpConfig) -> Self {
        let (server, director) = server(config);
        let server = server.lenient(leniencies);
        Self::of((server.build().expect("the tools are fine"), director))
    }

    /// A server of the test's own; its director has nothing to direct.
    pub(crate) fn serving(server: Server) -> Self {
        let (_, director) = common::stage();
        Self::of((server.build().expect("the tools are fine"), director))
    }

    fn of((service, director): (trueform::Service, Director)) -> Self {
        Self::recorded((service, director), &Recorder::new())
    }

    /// Records into what others record into as well.
    pub(crate) fn recorded(
        (service, director): (trueform::Service, Director),
        recorder: &Recorder,
    ) -> Self {
        let handle = service.handle();
        let router = service.into_router().expect("the settings are fine");
        Self::over(router, director, handle, recorder)
    }

    /// What a router of the test's own serves.
    #[cfg_attr(
        not(feature = "testing"),
        expect(unused_variables, reason = "nothing is recorded")
    )]
    pub(crate) fn over(
        router: Router,
        director: Director,
        handle: trueform::ServerHandle,
        recorder: &Recorder,
    ) -> Self {
        #[cfg(feature = "testing")]
        let router = router.layer(recorder.layer());
        Self {
            router,
            director,
            handle,
            #[cfg(feature = "testing")]
            recorder: recorder.clone(),
        }
    }

    /// The whole response.
    pub(crate) async fn send(&self, request: Req) -> Got {
        soon(async {
            let opened = self.open(request).await;
            let got = opened.whole().await;
            if let Ok(message) = serde_json::from_str(&got.body) {
                common::refusals_have_data(&message);
            }
            got
        })
        .await
    }

    /// The response as it comes.
    pub(crate) async fn open(&self, request: Req) -> Opened {
        let response = soon(self.router.clone().oneshot(request.build())).await;
        let (parts, body) = response.expect("a router does not fail").into_parts();
        Opened {
            status: parts.status.as_u16(),
            headers: parts.headers,
            body,
            rest: String::new(),
        }
    }

    /// A session at `revision`, and its id.
    pub(crate) async fn session(&self, revision: &str) -> String {
        self.session_as(revision, None).await
    }

    pub(crate) async fn session_as(&self, revision: &str, principal: Option<&str>) -> String {
        let [initialize, initialized] = initialize(revision);
        let opened = self.send(Req::post(initialize).principal(principal)).await;
        assert_eq!(opened.status, 200, "{}", opened.body);
        let id = opened
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let confirmed = self
            .send(Req::post(initialized).session(&id).principal(principal))
            .await;
        assert_eq!((confirmed.status, &*confirmed.body), (202, ""));
        id
    }
}

/// The server of these tests, not yet served.
pub(crate) fn staged(config: HttpConfig) -> (trueform::Service, Director) {
    let (server, director) = server(config);
    (server.build().expect("the tools are fine"), director)
}

fn server(config: HttpConfig) -> (Server, Director) {
    let (stage, director) = common::stage();
    let tools = tools![
        common::add,
        common::echo,
        common::wait,
        whoami,
        header,
        part,
        talk,
        fall,
        flood,
        chatter,
        stall
    ];
    let server = Server::new("test", "1.0.0")
        .tools(tools)
        .state(stage)
        .http(config);
    (server, director)
}

/// A request in the making, with the headers that clients send.
#[derive(Clone, Debug)]
pub(crate) struct Req {
    pub(crate) method: Method,
    pub(crate) path: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
    pub(crate) principal: Option<Principal>,
}

impl Req {
    fn new(method: Method, body: Vec<u8>) -> Self {
        Self {
            method,
            path: "/mcp".to_owned(),
            headers: Vec::new(),
            body,
            principal: None,
        }
    }

    pub(crate) fn post(body: impl Into<Vec<u8>>) -> Self {
        Self::new(Method::POST, body.into())
            .header("host", "localhost")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
    }

    /// A modern request; `params` are members after `_meta`.
    pub(crate) fn modern(id: &str, method: &str, params: &str) -> Self {
        let request = Self::post(common::modern(id, method, params))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        match params
            .split_once(r#""name":""#)
            .and_then(|(_, rest)| rest.split_once('"'))
        {
            Some((name, _)) => request.header("mcp-name", name),
            None => request,
        }
    }

    /// A legacy request in a session.
    pub(crate) fn legacy(session: &str, id: &str, method: &str, params: &str) -> Self {
        Self::post(common::legacy(id, method, params)).session(session)
    }

    /// A legacy call in a session.
    pub(crate) fn call(session: &str, id: &str, tool: &str, arguments: &str) -> Self {
        let params = format!(
            r#"{{"name":"{tool}","arguments":{arguments},"_meta":{{"progressToken":"p{id}"}}}}"#
        );
        Self::legacy(session, id, "tools/call", &params)
    }

    pub(crate) fn get(session: &str) -> Self {
        Self::new(Method::GET, Vec::new())
            .header("host", "localhost")
            .header("accept", "text/event-stream")
            .session(session)
    }

    pub(crate) fn delete(session: &str) -> Self {
        Self::new(Method::DELETE, Vec::new())
            .header("host", "localhost")
            .session(session)
    }

    pub(crate) fn method(mut self, method: Method) -> Self {
        self.method = method;
        self
    }

    /// Sets a header, in place of any of that name.
    pub(crate) fn header(self, name: &str, value: &str) -> Self {
        self.without(name).also(name, value)
    }

    /// Adds a header beside any of that name.
    pub(crate) fn also(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.headers.retain(|(known, _)| known != name);
        self
    }

    pub(crate) fn session(self, id: &str) -> Self {
        self.header("mcp-session-id", id)
    }

    pub(crate) fn principal(mut self, subject: Option<&str>) -> Self {
        self.principal = subject.map(|subject| Principal::new(subject.to_owned()));
        self
    }

    fn build(self) -> Request<Body> {
        let mut request = Request::builder().method(self.method).uri(self.path);
        for (name, value) in self.headers {
            request = request.header(name, value);
        }
        let mut request = request.body(Body::from(self.body)).expect("a good request");
        if let Some(principal) = self.principal {
            request.extensions_mut().insert(principal);
        }
        request
    }

    /// As bytes for a socket.
    pub(crate) fn wire(&self) -> Vec<u8> {
        let mut out = format!("{} {} HTTP/1.1\r\n", self.method, self.path);
        for (name, value) in &self.headers {
            out.push_str(&format!("{name}: {value}\r\n"));
        }
        out.push_str(&format!("content-length: {}\r\n\r\n", self.body.len()));
        let mut out = out.into_bytes();
        out.extend_from_slice(&self.body);
        out
    }
}

/// A whole response.
#[derive(Debug)]
pub(crate) struct Got {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: String,
}

impl Got {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The code of the error, 0 for a result.
    pub(crate) fn code(&self) -> i64 {
        self.json()["error"]["code"].as_i64().unwrap_or_default()
    }

    /// The text of a tool's result.
    pub(crate) fn text(&self) -> String {
        self.json()["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_else(|| panic!("no text: {self:?}"))
            .to_owned()
    }
}

/// A response whose body is read as it comes. Dropping it is the client's going away.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Body,
    rest: String,
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) id: Option<String>,
    pub(crate) retry: Option<u64>,
    pub(crate) data: String,
}

impl Event {
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.data).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn method(&self) -> String {
        self.json()["method"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    }

    fn parse(text: &str) -> Option<Self> {
        let mut event = Self::default();
        let mut known = false;
        let mut name = None;
        for line in text.lines() {
            let (field, value) = line.split_once(':').expect("a field or a comment");
            let value = value.strip_prefix(' ').unwrap_or(value).to_owned();
            match field {
                "" => continue,
                "id" => event.id = Some(value),
                "retry" => event.retry = value.parse().ok(),
                "event" => name = Some(value),
                "data" => event.data = value,
                other => panic!("unexpected field `{other}`"),
            }
            known = true;
        }
        // DEC-7: messages are named, and nothing else is.
        let expected = (!event.data.is_empty()).then_some("message");
        assert_eq!(name.as_deref(), expected, "the name of {text:?}");
        known.then_some(event)
    }
}

impl Opened {
    pub(crate) fn is_stream(&self) -> bool {
        self.status == 200
            && self
                .headers
                .get("content-type")
                .is_some_and(|kind| kind == "text/event-stream")
    }

    /// The next event, `None` at the end of the stream.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        soon(async {
            loop {
                while let Some((event, rest)) = self.rest.split_once("\n\n") {
                    let event = Event::parse(event);
                    self.rest = rest.to_owned();
                    if event.is_some() {
                        return event;
                    }
                }
                let Some(frame) = self.body.frame().await else {
                    assert_eq!(self.rest, "", "a stream ends after an event");
                    return None;
                };
                let data = frame
                    .expect("the body does not fail")
                    .into_data()
                    .expect("no trailers");
                self.rest
                    .push_str(std::str::from_utf8(&data).expect("UTF-8"));
            }
        })
        .await
    }

    /// All events to the end.
    pub(crate) async fn events(mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while let Some(event) = self.event().await {
            events.push(event);
        }
        events
    }

    pub(crate) async fn whole(self) -> Got {
        let body = self
            .body
            .collect()
            .await
            .expect("the body does not fail")
            .to_bytes();
        let body = String::from_utf8(body.to_vec()).expect("UTF-8");
        Got {
            status: self.status,
            headers: self.headers,
            body,
        }
    }
}
