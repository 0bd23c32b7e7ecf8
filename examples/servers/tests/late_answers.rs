//! Answers that the executable `everything` no longer waits for, that come twice, or that nobody asked for.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
    process::{Child, ChildStdin, Command, Stdio},
    sync::mpsc::{Receiver, channel},
    time::Duration,
};

use serde_json::{Value, json};

/// The longest wait for the server.
const LIMIT: Duration = Duration::from_secs(20);

/// Ends the server that a failed test leaves.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn start(arguments: &[&str]) -> Running {
    let mut command = Command::new(env!("CARGO_BIN_EXE_everything"));
    let command = command.args(arguments).env_remove("TRUEFORM_HTTP");
    let piped = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    Running(piped.spawn().expect("it can be run"))
}

/// The lines of `stream`, each as it comes.
fn lines(stream: impl Read + Send + 'static) -> Receiver<String> {
    let (sender, lines) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stream).lines() {
            let line = line.expect("UTF-8");
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    lines
}

fn initialize() -> Value {
    let params = json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "elicitation": {} },
        "clientInfo": { "name": "t", "version": "1" },
    });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": method, "params": params })
}

fn call(id: u32) -> Value {
    let params = json!({ "name": "test_input_required_result_elicitation", "arguments": {} });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn answer(id: &Value) -> Value {
    let result = json!({ "action": "accept", "content": { "name": "Ann" } });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

/// The id of the question `asked`.
#[track_caller]
fn question(asked: &Value) -> Value {
    assert_eq!(asked["method"], "elicitation/create", "{asked}");
    asked["id"].clone()
}

#[track_caller]
fn greets(done: &Value, id: u32) {
    assert_eq!(done["id"], id, "{done}");
    let text = &done["result"]["content"][0]["text"];
    assert_eq!(text, "Hello, Ann!", "{done}");
}

// DEC-8, O-5
#[test]
fn over_standard_input_and_output() {
    let mut server = start(&[]);
    let mut input: Option<ChildStdin> = server.0.stdin.take();
    let mut send = |message: Value| {
        let input = input.as_mut().expect("it is open");
        writeln!(input, "{message}").expect("it reads");
    };
    let output = lines(server.0.stdout.take().expect("it is piped"));
    let log = lines(server.0.stderr.take().expect("it is piped"));
    let next = || -> Value {
        let line = output.recv_timeout(LIMIT).expect("it answers");
        serde_json::from_str(&line).expect("JSON")
    };
    send(initialize());
    assert_eq!(next()["id"], 0);
    send(notification("notifications/initialized", &json!({})));

    // After the call was cancelled, which takes its question with it, and under ids that no question had.
    send(call(1));
    let first = question(&next());
    send(notification(
        "notifications/cancelled",
        &json!({ "requestId": 1 }),
    ));
    for id in [first, json!(999), json!("a"), json!(0)] {
        send(answer(&id));
    }
    // Twice, and once more after the call has ended.
    send(call(2));
    let second = question(&next());
    send(answer(&second));
    send(answer(&second));
    greets(&next(), 2);
    send(answer(&second));
    send(call(3));
    let third = question(&next());
    assert_ne!(third, second);
    send(answer(&third));
    greets(&next(), 3);
    drop(input.take());
    assert!(output.recv_timeout(LIMIT).is_err(), "it says nothing more");
    assert!(server.0.wait().expect("it ends").success());
    let log: Vec<String> = log.iter().collect();
    assert!(
        !log.iter().any(|line| line.contains("panicked")),
        "{log:#?}"
    );
}

/// Sends `message` to the server at `address`. Returns the head of the response, and what comes of the body.
fn post(address: &str, session: &str, message: &Value) -> (String, BufReader<TcpStream>) {
    let mut stream = TcpStream::connect(address).expect("it listens");
    stream.set_read_timeout(Some(LIMIT)).expect("a time limit");
    let body = message.to_string();
    write!(
        stream,
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n\
         accept: application/json, text/event-stream\r\n{session}connection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    )
    .expect("it reads");
    let mut stream = BufReader::new(stream);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        let read = stream.read_line(&mut head).expect("it answers");
        assert_ne!(read, 0, "{head}");
    }
    (head, stream)
}

/// The next message of a body, which is a stream of events.
fn event(body: &mut BufReader<TcpStream>) -> Value {
    loop {
        let mut line = String::new();
        let read = body.read_line(&mut line).expect("it answers");
        assert_ne!(read, 0, "the stream ended");
        let data = line.strip_prefix("data:").map(str::trim);
        if let Some(data) = data.filter(|data| !data.is_empty()) {
            return serde_json::from_str(data).expect("JSON");
        }
    }
}

// DEC-8, F-5: an answer that comes too late or twice is taken; one to a question that was never asked is refused.
#[test]
fn over_http() {
    let mut server = start(&["--http", "127.0.0.1:0"]);
    let log = lines(server.0.stderr.take().expect("it is piped"));
    let address = loop {
        let line = log.recv_timeout(LIMIT).expect("it says where it listens");
        let address = line.strip_prefix("listening on http://");
        if let Some(address) = address.and_then(|rest| rest.strip_suffix("/mcp")) {
            break address.to_owned();
        }
    };
    let (opened, _) = post(&address, "", &initialize());
    let session = opened
        .lines()
        .find_map(|line| line.strip_prefix("mcp-session-id: "));
    let session = format!("mcp-session-id: {}\r\n", session.expect("a session"));
    let status = |message: &Value| -> u16 {
        let (head, _) = post(&address, &session, message);
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        status.unwrap_or_else(|| panic!("{head}"))
    };
    let initialized = notification("notifications/initialized", &json!({}));
    assert_eq!(status(&initialized), 202);

    let (_, mut stream) = post(&address, &session, &call(1));
    let first = question(&event(&mut stream));
    let cancelled = notification("notifications/cancelled", &json!({ "requestId": 1 }));
    assert_eq!(status(&cancelled), 202);
    for (id, expected) in [
        (first, 202),
        (json!(999), 400),
        (json!("a"), 400),
        (json!(0), 400),
    ] {
        assert_eq!(status(&answer(&id)), expected, "{id}");
    }
    let (_, mut stream) = post(&address, &session, &call(2));
    let second = question(&event(&mut stream));
    for _ in 0..2 {
        assert_eq!(status(&answer(&second)), 202);
    }
    greets(&event(&mut stream), 2);
    assert_eq!(status(&answer(&second)), 202);
    let (_, mut stream) = post(&address, &session, &call(3));
    let third = question(&event(&mut stream));
    assert_eq!(status(&answer(&third)), 202);
    greets(&event(&mut stream), 3);
    server.0.kill().expect("it runs");
    let log: Vec<String> = log.iter().collect();
    assert!(
        !log.iter().any(|line| line.contains("panicked")),
        "{log:#?}"
    );
}
