//! Servers that ask their clients over HTTP, each in a process of its own: two behind a load balancer, one that is sent bad answers and
//! whose memory is measured, one that is asked to stop while a question is open.

#![allow(
    clippy::needless_pass_by_value,
    reason = "messages and expectations read better inline"
)]

use std::{
    collections::BTreeMap,
    io::{BufRead, BufReader, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use trueform::{HttpConfig, prelude::*};

use crate::Listening;

/// Says that this program is such a server, and how it is set up: JSON.
pub(crate) const VARIABLE: &str = "TRUEFORM_TEST_ASKS";

/// The longest wait for a server.
const LIMIT: Duration = Duration::from_secs(20);

const MIB: u64 = 1 << 20;

/// Where finished steps are noted, a line each: the process and the step.
struct Journal(PathBuf);

impl Journal {
    /// Notes that this process has done `step`, and returns how many lines there are.
    fn note(&self, step: &str) -> usize {
        let mut options = std::fs::File::options();
        let file = options.append(true).create(true).open(&self.0);
        let noted = file.and_then(|mut file| writeln!(file, "{} {step}", std::process::id()));
        noted.expect("the journal can be written");
        let text = std::fs::read_to_string(&self.0).expect("it was written");
        text.lines().count()
    }
}

/// Takes an order in several steps, and asks between them.
#[tool]
async fn order(
    context: Context,
    journal: State<Journal>,
    what: String,
) -> Result<String, ToolError> {
    let step = |name: &str| journal.0.note(&format!("{what} {name}"));
    let number = context.once("number", async { step("number") }).await?;
    let size = context.ask::<String>("size", "Which size?").await?;
    context.once("bake", async { step("bake") }).await?;
    let pieces = context.ask::<u32>("pieces", "In how many pieces?").await?;
    let sure = context.ask::<bool>("sure", "Shall I send it?").await?;
    context.once("send", async { step("send") }).await?;
    let heard = (size.accepted(), pieces.accepted(), sure.accepted());
    Ok(format!("{} {what} {heard:?}", number.min(1)))
}

/// Asks what it is about.
#[prompt]
async fn topic(context: Context) -> Result<String, ToolError> {
    let topic = context.ask::<String>("topic", "About what?").await?;
    Ok(topic.accepted().unwrap_or_default())
}

/// Asks which page.
#[resource("book://page")]
async fn page(context: Context) -> Result<String, ToolError> {
    let page = context.ask::<u32>("page", "Which page?").await?;
    Ok(format!("page {}", page.accepted().unwrap_or_default()))
}

/// Asks for a text.
#[tool]
async fn essay(context: Context) -> Result<String, ToolError> {
    let essay = context.ask::<String>("essay", "Write.").await?;
    Ok(format!(
        "{} characters",
        essay.accepted().map_or(0, |essay| essay.len())
    ))
}

/// Asks for a number.
#[tool]
async fn number(context: Context) -> Result<String, ToolError> {
    let number = context.ask::<u32>("number", "How many?").await?;
    Ok(format!("{:?}", number.accepted()))
}

/// Uses a key twice.
#[tool]
async fn twice(context: Context) -> Result<String, ToolError> {
    let first = context.ask::<bool>("same", "A?").await?;
    let second = context.ask::<bool>("same", "B?").await?;
    Ok(format!("{first:?} {second:?}"))
}

/// Says how its question ended.
#[tool]
async fn ends(context: Context) -> String {
    match context.ask::<bool>("sure", "Sure?").await {
        Ok(answer) => format!("{answer:?}"),
        Err(error) => error.to_string(),
    }
}

/// Never asks.
#[tool]
fn silent() -> &'static str {
    "goes on"
}

/// The server that `setup` describes.
#[tokio::main]
pub(crate) async fn serve(setup: &str) -> trueform::Result {
    let setup: Value = serde_json::from_str(setup).expect("the tests write JSON");
    let mut config = HttpConfig::default();
    if let Some(bytes) = setup["max_body"].as_u64() {
        config = config.max_body(bytes.try_into().expect("it fits"));
    }
    if let Some(time) = setup["body_timeout"].as_u64() {
        config = config.body_timeout(Duration::from_millis(time));
    }
    if let Some(time) = setup["drain"].as_u64() {
        config = config.drain(Duration::from_millis(time));
    }
    let text = |name: &str| setup[name].as_str().unwrap_or_default().to_owned();
    let mut server = Server::new(text("name"), "1")
        .tools(tools![order, essay, number, twice, ends, silent])
        .prompts(prompts![topic])
        .resources(resources![page])
        .state(Journal(text("journal").into()))
        .ask_rounds(4)
        .http(config);
    if let Some(keys) = setup["keys"].as_array() {
        let byte = |key: &Value| key.as_u64().and_then(|byte| byte.try_into().ok());
        let keys = keys.iter().map(|key| [byte(key).expect("a byte"); 32]);
        server = server.ask_keys(keys);
    }
    server.run_with(std::env::args().skip(1)).await
}

/// A server with `setup`.
fn start(setup: &Value) -> Listening {
    let setup = setup.to_string();
    Listening::start(&["--http", "127.0.0.1:0"], &[(VARIABLE, &setup)])
}

/// A response as it comes.
struct Response {
    status: u16,
    head: String,
    body: BufReader<TcpStream>,
}

/// Sends the head of a POST and leaves the body to the caller. `length` is the header that says how long it is.
fn post_head(address: &str, headers: &[(&str, &str)], length: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
    stream.set_write_timeout(Some(LIMIT)).expect("a time limit");
    let mut head = "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
                    accept: application/json, text/event-stream\r\nconnection: close\r\n"
        .to_owned();
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    write!(stream, "{head}{length}\r\n\r\n").expect("it reads");
    stream
}

fn post(address: &str, headers: &[(&str, &str)], body: &str) -> Response {
    let length = format!("content-length: {}", body.len());
    let mut stream = post_head(address, headers, &length);
    // A body that is too long is not read to its end.
    let _ = stream.write_all(body.as_bytes());
    Response::of(stream)
}

impl Response {
    fn of(stream: TcpStream) -> Self {
        let mut body = BufReader::new(stream);
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let read = body.read_line(&mut head).expect("the server answers");
            assert_ne!(read, 0, "{head:?}");
        }
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        let status = status.unwrap_or_else(|| panic!("{head}"));
        Self { status, head, body }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(": "));
        lines
            .find(|(known, _)| *known == name)
            .map(|(_, value)| value)
    }

    /// The next message: the body, or an event of the stream. Sizes of chunks and comments are passed over.
    fn message(&mut self) -> Value {
        loop {
            let mut line = String::new();
            let read = self.body.read_line(&mut line).expect("UTF-8, in time");
            assert_ne!(read, 0, "the response ended: {}", self.head);
            let text = line.strip_prefix("data:").unwrap_or(&line).trim();
            if text.starts_with('{') {
                return serde_json::from_str(text)
                    .unwrap_or_else(|error| panic!("{error}: {line}"));
            }
        }
    }
}

/// A request of a client of 2026-07-28 that fills in forms.
fn modern(address: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
    });
    let name = params["name"].as_str().or(params["uri"].as_str());
    let name = name.expect("a name").to_owned();
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", method),
        ("mcp-name", &name),
    ];
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut response = post(address, &headers, &body.to_string());
    assert_eq!(response.status, 200, "{}", response.head);
    response.message()
}

fn accept(content: Value) -> Value {
    json!({ "action": "accept", "content": content })
}

/// Sends the request again with answers to all that `asked` asks, from `answers`.
fn again(address: &str, method: &str, mut params: Value, asked: &Value, answers: &Value) -> Value {
    let result = &asked["result"];
    assert_eq!(result["resultType"], "input_required", "{asked}");
    let questions = result["inputRequests"].as_object().expect("questions");
    let given = questions.keys().map(|key| {
        let answer = answers.get(key).unwrap_or_else(|| panic!("{key} is asked"));
        (key.clone(), accept(json!({ "answer": answer })))
    });
    params["inputResponses"] = given.collect::<serde_json::Map<_, _>>().into();
    params["requestState"] = result["requestState"].clone();
    modern(address, method, params)
}

/// Sends what comes in to the servers at `addresses` in turn, a connection each. Returns where it listens.
fn balancer(addresses: Vec<String>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("an address").to_string();
    let turn = AtomicUsize::new(0);
    std::thread::spawn(move || {
        for client in listener.incoming() {
            let client = client.expect("a connection");
            let next = turn.fetch_add(1, Ordering::Relaxed) % addresses.len();
            let server = TcpStream::connect(&addresses[next]).expect("it listens");
            for (mut from, mut to) in [
                (client.try_clone(), server.try_clone()),
                (Ok(server), Ok(client)),
            ]
            .map(|(from, to)| (from.expect("a socket"), to.expect("a socket")))
            {
                std::thread::spawn(move || {
                    // Who closes first ends both.
                    let _ = std::io::copy(&mut from, &mut to);
                    let _ = to.shutdown(Shutdown::Write);
                });
            }
        }
    });
    address
}

/// The file of a journal, removed at the end.
struct Noted(PathBuf);

impl Noted {
    fn new(name: &str) -> Self {
        let name = format!("trueform-asks-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let _ = std::fs::remove_file(&path);
        Self(path)
    }

    fn path(&self) -> &Path {
        &self.0
    }

    /// Which processes have done each step.
    fn steps(&self) -> BTreeMap<String, Vec<String>> {
        let text = std::fs::read_to_string(&self.0).expect("it was written");
        let mut steps = BTreeMap::<String, Vec<String>>::new();
        for line in text.lines() {
            let (process, step) = line.split_once(' ').expect("a process and a step");
            let of_step = steps.entry(step.to_owned()).or_default();
            of_step.push(process.to_owned());
        }
        steps
    }
}

impl Drop for Noted {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// What a refusal says: its code, the pointer and the rule.
fn refusal(response: &Value) -> (i64, &str, &str) {
    let error = &response["error"];
    let text = |name: &str| error["data"][name].as_str().unwrap_or_default();
    (
        error["code"].as_i64().unwrap_or_default(),
        text("pointer"),
        text("rule"),
    )
}

// T-8, T-9: two processes with one key behind a load balancer go on with each other's calls, each step is done once, and
// a process that takes the place of another goes on with what that one has asked. One with another key or another name does not.
pub(crate) fn processes_in_turn() {
    let noted = Noted::new("turns");
    let of =
        |keys: &[u8], name: &str| json!({ "keys": keys, "name": name, "journal": noted.path() });
    let setup = of(&[1], "pizza");
    let (first, second) = (start(&setup), start(&setup));
    let (pid_of_first, pid_of_second) = (first.child.id(), second.child.id());
    let balancer = balancer(vec![first.address.clone(), second.address.clone()]);
    let answers = json!({ "size": "large", "pieces": 8, "sure": true, "topic": "rust", "page": 7 });
    let call = |what: &str| json!({ "name": "order", "arguments": { "what": what } });

    // Four requests each, so that without the one between them all would begin at the same process.
    for what in ["ham", "cheese", "tuna"] {
        let mut last = modern(&balancer, "tools/call", call(what));
        for question in ["size", "pieces", "sure"] {
            let asked = last["result"]["inputRequests"].as_object();
            let asked: Vec<_> = asked.into_iter().flat_map(serde_json::Map::keys).collect();
            assert_eq!(asked, [question], "{last}");
            last = again(&balancer, "tools/call", call(what), &last, &answers);
        }
        let text = format!(r#"1 {what} (Some("large"), Some(8), Some(true))"#);
        assert_eq!(last["result"]["content"][0]["text"], text, "{last}");
        modern(&balancer, "tools/call", json!({ "name": "silent" }));
    }
    for (method, params, expected) in [
        (
            "prompts/get",
            json!({ "name": "topic" }),
            r#""text":"rust""#,
        ),
        (
            "resources/read",
            json!({ "uri": "book://page" }),
            r#""text":"page 7""#,
        ),
    ] {
        let asked = modern(&balancer, method, params.clone());
        let done = again(&balancer, method, params, &asked, &answers);
        assert!(done.to_string().contains(expected), "{done}");
    }
    let steps = noted.steps();
    let by = |what: &str| -> Vec<String> {
        ["number", "bake", "send"]
            .map(|step| {
                let by = &steps[&format!("{what} {step}")];
                assert_eq!(by.len(), 1, "{what} {step}: once: {steps:?}");
                by[0].clone()
            })
            .into()
    };
    let (a, b) = (pid_of_first.to_string(), pid_of_second.to_string());
    assert_eq!(by("ham"), [a.clone(), b.clone(), b.clone()]);
    assert_eq!(by("cheese"), [b.clone(), a.clone(), a.clone()]);
    assert_eq!(by("tuna"), [a, b.clone(), b]);
    assert_eq!(steps.len(), 9, "{steps:?}");

    // A deploy: both end, and others come.
    let asked = modern(&second.address, "tools/call", call("late"));
    drop((first, second));
    for (row, setup) in [
        ("another key", of(&[2], "pizza")),
        ("another name", of(&[1], "pasta")),
    ] {
        let other = start(&setup);
        let refused = again(&other.address, "tools/call", call("late"), &asked, &answers);
        let expected = (-32602, "/params/requestState", "sealed");
        assert_eq!(refusal(&refused), expected, "{row}: {refused}");
    }
    // The key was changed as the documentation says: the new one first.
    let third = start(&of(&[2, 1], "pizza"));
    let mut last = asked;
    for _ in 0..3 {
        last = again(&third.address, "tools/call", call("late"), &last, &answers);
    }
    assert!(last.to_string().contains("1 late"), "{last}");
    let steps = noted.steps();
    for step in ["number", "bake", "send"] {
        assert_eq!(steps[&format!("late {step}")].len(), 1, "{steps:?}");
    }
}

/// A session of a client of 2025-11-25.
struct Session<'s> {
    server: &'s Listening,
    id: String,
}

impl<'s> Session<'s> {
    fn open(server: &'s Listening, capabilities: &Value) -> Self {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": capabilities,
            "clientInfo": { "name": "t", "version": "1" },
        });
        let opening =
            json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params });
        let opened = post(&server.address, &[], &opening.to_string());
        let id = opened
            .header("mcp-session-id")
            .expect("a session")
            .to_owned();
        let session = Self { server, id };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(session.post(&initialized).status, 202);
        session
    }

    fn post(&self, message: &Value) -> Response {
        self.post_text(&message.to_string())
    }

    fn post_text(&self, text: &str) -> Response {
        let headers = [("mcp-session-id", &*self.id)];
        post(&self.server.address, &headers, text)
    }

    fn send(&self, method: &str, params: Value) -> Response {
        self.post(&json!({ "jsonrpc": "2.0", "id": 9, "method": method, "params": params }))
    }

    fn call(&self, tool: &str) -> Response {
        self.send("tools/call", json!({ "name": tool, "arguments": {} }))
    }

    /// Answers the question `asked`.
    fn answer(&self, asked: &Value, content: Value) -> Response {
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        let result = json!({ "action": "accept", "content": { "answer": content } });
        self.post(&json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }))
    }
}

fn text(response: &Value) -> &str {
    let text = response["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("{response}"))
}

/// A number that Linux keeps of a process, in bytes.
#[cfg(target_os = "linux")]
fn memory(server: &Listening, name: &str) -> u64 {
    let path = format!("/proc/{}/status", server.child.id());
    let status = std::fs::read_to_string(path).expect("it runs");
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let size = line.and_then(|rest| rest.split_whitespace().nth(1)?.parse::<u64>().ok());
    size.unwrap_or_else(|| panic!("{name}: {status}")) << 10
}

/// Runs `attack`. The server's memory grows meanwhile by `most` bytes at most, and other calls go on after it.
#[cfg(target_os = "linux")]
#[track_caller]
fn within(server: &Listening, row: &str, most: u64, attack: impl FnOnce()) {
    // What is noted as the peak becomes what is used now.
    let reset = format!("/proc/{}/clear_refs", server.child.id());
    std::fs::write(reset, "5").expect("it is a process of this user");
    let before = memory(server, "VmRSS");
    attack();
    let grown = memory(server, "VmHWM").saturating_sub(before);
    assert!(grown <= most, "{row}: {grown} bytes, at most {most}");
    if std::env::var_os("TRUEFORM_TEST_SHOW").is_some() {
        println!("{row}: {grown} bytes");
    }
    let other = modern(&server.address, "tools/call", json!({ "name": "silent" }));
    assert_eq!(text(&other), "goes on", "{row}");
}

/// The bytes of a body in chunks that has no end, for as long as the server takes them.
#[cfg(target_os = "linux")]
fn endless(session: &Session<'_>, asked: &Value, pause: Duration) -> Response {
    let headers = [("mcp-session-id", &*session.id)];
    let address = &session.server.address;
    let mut stream = post_head(address, &headers, "transfer-encoding: chunked");
    let mut chunk =
        |text: &str| -> std::io::Result<()> { write!(stream, "{:x}\r\n{text}\r\n", text.len()) };
    let begin = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "action": "accept" } });
    let begin = begin.to_string();
    let begin = begin.trim_end_matches('}');
    let begun = Instant::now();
    let mut sent = chunk(&format!(r#"{begin},"content":{{"answer":""#));
    let more = "x".repeat(1 << 16);
    while sent.is_ok() && begun.elapsed() < LIMIT {
        sent = chunk(match pause.is_zero() {
            true => &more,
            false => "x",
        });
        std::thread::sleep(pause);
    }
    Response::of(stream)
}

// R-3, R-5, Y-6, engine.md §6: what clients of the legacy era do wrong when they are asked over HTTP. Each has its status and
// its outcome, within its bound of memory, while other calls go on.
#[cfg(target_os = "linux")]
pub(crate) fn bad_answers_and_their_memory() {
    let able = json!({ "elicitation": {} });
    let server = start(&json!({ "name": "old" }));
    let roomy = start(&json!({ "name": "old", "max_body": 16 * MIB, "body_timeout": 300 }));
    let session = Session::open(&server, &able);
    let roomy_session = Session::open(&roomy, &able);
    // The first use of anything takes memory that is kept.
    for (server, session) in [(&server, &session), (&roomy, &roomy_session)] {
        modern(&server.address, "tools/call", json!({ "name": "silent" }));
        let mut call = session.call("essay");
        let asked = call.message();
        assert_eq!(session.answer(&asked, json!("abc")).status, 202);
        assert_eq!(text(&call.message()), "3 characters");
    }

    let unable = Session::open(&server, &json!({}));
    within(&server, "an undeclared capability", MIB, || {
        let refused = unable.call("essay").message();
        assert_eq!(refused["result"]["isError"], true, "{refused}");
        assert_eq!(text(&refused), "the client did not declare `elicitation`");
        for (method, params) in [
            ("prompts/get", json!({ "name": "topic" })),
            ("resources/read", json!({ "uri": "book://page" })),
        ] {
            let mut refused = unable.send(method, params);
            assert_eq!(refused.status, 200, "{method}");
            let refused = refused.message();
            assert_eq!(refused["error"]["code"], -32602, "{refused}");
            let missing = &refused["error"]["data"]["requiredCapabilities"];
            assert_eq!(*missing, json!({ "elicitation": {} }), "{refused}");
        }
    });

    within(&server, "answers of the wrong form", MIB, || {
        let mut call = session.call("number");
        for wrong in [json!("x"), json!(-1), json!(1.5), json!(null)] {
            let asked = call.message();
            assert_eq!(session.answer(&asked, wrong).status, 202);
        }
        let given_up = call.message();
        assert_eq!(given_up["result"]["isError"], true, "{given_up}");
        assert!(text(&given_up).contains("asked 4 times"), "{given_up}");
    });

    within(&server, "a malformed answer", MIB, || {
        let mut call = session.call("number");
        let asked = call.message();
        let id = &asked["id"];
        let deep = format!("{}1{}", "[".repeat(200), "]".repeat(200));
        for malformed in [
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#),
            format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{deep}}}"#),
        ] {
            let mut refused = session.post_text(&malformed);
            assert_eq!(refused.status, 400, "{malformed}");
            assert!(refused.message().get("id").is_none());
        }
        // What it says cannot be read, so that it is asked again.
        let again = call.message();
        assert_ne!(again["id"], asked["id"], "{again}");
        assert_eq!(session.answer(&again, json!(5)).status, 202);
        assert_eq!(text(&call.message()), "Some(5)");
    });

    let long = || json!("x".repeat(10 << 20));
    within(
        &server,
        "10 MiB, more than a body may have",
        2 * MIB,
        || {
            let mut call = session.call("essay");
            let asked = call.message();
            let mut refused = session.answer(&asked, long());
            assert_eq!(refused.status, 413);
            assert!(refused.message()["error"]["code"].is_i64());
            // It may still answer.
            assert_eq!(session.answer(&asked, json!("abc")).status, 202);
            assert_eq!(text(&call.message()), "3 characters");
        },
    );

    // A buffer that grows has up to twice the 4 MiB that a body may have; the rest is what the process needs besides.
    within(&server, "an answer without an end", 9 * MIB, || {
        let mut call = session.call("essay");
        let asked = call.message();
        assert_eq!(endless(&session, &asked, Duration::ZERO).status, 413);
        assert_eq!(session.answer(&asked, json!("abc")).status, 202);
        assert_eq!(text(&call.message()), "3 characters");
    });

    within(
        &roomy,
        "an answer without an end, byte by byte",
        MIB,
        || {
            let mut call = roomy_session.call("essay");
            let asked = call.message();
            let slow = Duration::from_millis(10);
            assert_eq!(endless(&roomy_session, &asked, slow).status, 408);
            assert_eq!(roomy_session.answer(&asked, json!("abc")).status, 202);
            assert_eq!(text(&call.message()), "3 characters");
        },
    );

    within(&roomy, "10 MiB where there is room", 96 * MIB, || {
        let mut call = roomy_session.call("essay");
        let asked = call.message();
        assert_eq!(roomy_session.answer(&asked, long()).status, 202);
        assert_eq!(text(&call.message()), "10485760 characters");
    });

    within(
        &roomy,
        "10 MiB of the wrong form, four times",
        96 * MIB,
        || {
            let mut call = roomy_session.call("number");
            for _ in 0..4 {
                let asked = call.message();
                assert_eq!(roomy_session.answer(&asked, long()).status, 202);
            }
            let given_up = call.message();
            assert!(text(&given_up).contains("asked 4 times"), "{given_up}");
        },
    );

    within(&roomy, "an error of 10 MiB", 96 * MIB, || {
        let mut call = roomy_session.call("number");
        let asked = call.message();
        let error = json!({ "code": -1, "message": long() });
        let refused = json!({ "jsonrpc": "2.0", "id": asked["id"], "error": error });
        assert_eq!(roomy_session.post(&refused).status, 202);
        let failed = call.message();
        assert_eq!(failed["result"]["isError"], true);
        let said = text(&failed).len();
        assert!(said < 2048, "{said} bytes of it are repeated");
    });

    within(&server, "a key that is used twice", MIB, || {
        let mut call = session.call("twice");
        let asked = call.message();
        assert_eq!(session.answer(&asked, json!(true)).status, 202);
        let failed = call.message();
        assert_eq!(failed["result"]["isError"], true, "{failed}");
        assert!(
            text(&failed).contains("the key `same` is used twice"),
            "{failed}"
        );
    });

    // What clients of 2026-07-28 bring comes with a request.
    within(
        &roomy,
        "10 MiB in a request of 2026-07-28",
        96 * MIB,
        || {
            let mut params = json!({ "name": "essay", "arguments": {} });
            let asked = modern(&roomy.address, "tools/call", params.clone());
            params["requestState"] = asked["result"]["requestState"].clone();
            params["inputResponses"] = json!({ "essay": accept(json!({ "answer": long() })) });
            let written = modern(&roomy.address, "tools/call", params);
            assert_eq!(text(&written), "10485760 characters");
        },
    );
    within(&server, "a state of 1 MiB", 8 * MIB, || {
        let params =
            json!({ "name": "essay", "arguments": {}, "requestState": "A".repeat(1 << 20) });
        let refused = modern(&server.address, "tools/call", params);
        assert_eq!(
            refusal(&refused),
            (-32602, "/params/requestState", "sealed"),
            "{refused}"
        );
    });
}

// DEC-11: a server that stops takes no more connections, so no answer can come: a call that waits for one hears so and ends as
// it wants to, and the process does not wait until its time is up.
#[cfg(unix)]
pub(crate) fn a_signal_while_a_question_is_open() {
    const DRAIN: u64 = 60_000;
    let mut server = start(&json!({ "name": "stopping", "drain": DRAIN }));
    let session = Session::open(&server, &json!({ "elicitation": {} }));
    let mut call = session.call("ends");
    let asked = call.message();
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    let begun = Instant::now();
    crate::send_signal("-TERM", &server.child);
    let cancelled = call.message();
    assert_eq!(
        cancelled["method"], "notifications/cancelled",
        "{cancelled}"
    );
    assert_eq!(cancelled["params"]["requestId"], asked["id"]);
    let ended = call.message();
    assert!(
        text(&ended).starts_with("the client cannot be reached"),
        "{ended}"
    );
    drop(session);
    assert!(crate::wait(&mut server.child).success());
    assert!(
        begun.elapsed() < Duration::from_millis(DRAIN / 2),
        "{:?}",
        begun.elapsed()
    );
}
