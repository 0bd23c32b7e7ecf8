//! A server of its own on a socket: bounds, how bytes leave, and a graceful end.

use std::{net::SocketAddr, time::Duration};

use axum::{Router, http::Method, response::IntoResponse, routing::get};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use trueform::{HttpConfig, Principal, ServerHandle, Service};

use super::support::{Req, staged};
use crate::support::{Director, initialize, soon};

struct Served {
    address: SocketAddr,
    handle: ServerHandle,
    director: Director,
    serving: JoinHandle<trueform::Result>,
}

impl Served {
    async fn with(config: HttpConfig) -> Self {
        Self::by(config, |service, listener| async move {
            service.serve_http_on(listener).await
        })
        .await
    }

    /// Served by `serve`.
    async fn by<S>(config: HttpConfig, serve: impl FnOnce(Service, TcpListener) -> S) -> Self
    where
        S: Future<Output = trueform::Result> + Send + 'static,
    {
        let (service, director) = staged(config);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let handle = service.handle();
        let serving = tokio::spawn(serve(service, listener));
        Self {
            address,
            handle,
            director,
            serving,
        }
    }

    async fn connect(&self) -> Connection {
        Connection {
            stream: soon(TcpStream::connect(self.address))
                .await
                .expect("it listens"),
            read: Vec::new(),
        }
    }

    async fn ended(self) {
        soon(self.serving)
            .await
            .expect("no panic")
            .expect("no error");
    }
}

struct Connection {
    stream: TcpStream,
    read: Vec<u8>,
}

impl Connection {
    async fn send(&mut self, request: &Req) {
        self.stream
            .write_all(&request.wire())
            .await
            .expect("connected");
    }

    /// Everything up to and with `mark`.
    async fn until(&mut self, mark: &str) -> String {
        soon(async {
            loop {
                if let Some(at) = self
                    .read
                    .windows(mark.len())
                    .position(|window| window == mark.as_bytes())
                {
                    let rest = self.read.split_off(at + mark.len());
                    let found = std::mem::replace(&mut self.read, rest);
                    return String::from_utf8(found).expect("UTF-8");
                }
                let mut piece = [0; 4096];
                let count = self.stream.read(&mut piece).await.expect("connected");
                assert!(
                    0 < count,
                    "closed before `{mark}`: {}",
                    String::from_utf8_lossy(&self.read)
                );
                self.read.extend_from_slice(&piece[..count]);
            }
        })
        .await
    }

    /// The next `count` bytes.
    async fn take(&mut self, count: usize) -> String {
        soon(async {
            while self.read.len() < count {
                assert!(
                    0 < self
                        .stream
                        .read_buf(&mut self.read)
                        .await
                        .expect("connected"),
                    "closed early"
                );
            }
            let rest = self.read.split_off(count);
            String::from_utf8(std::mem::replace(&mut self.read, rest)).expect("UTF-8")
        })
        .await
    }

    /// The next response, which says how long it is.
    async fn whole(&mut self) -> String {
        let head = self.until("\r\n\r\n").await;
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "));
        let length = length.expect("a length").parse().expect("a number");
        head + &self.take(length).await
    }

    /// Everything up to the end.
    async fn rest(mut self) -> String {
        soon(async {
            let mut rest = std::mem::take(&mut self.read);
            // A connection that is reset has ended too.
            let _ = self.stream.read_to_end(&mut rest).await;
            String::from_utf8(rest).expect("UTF-8")
        })
        .await
    }

    async fn session(&mut self, revision: &str) -> String {
        let [initialize, initialized] = initialize(revision);
        self.send(&Req::post(initialize)).await;
        let head = self.until("\r\n\r\n").await.to_ascii_lowercase();
        let (_, rest) = head.split_once("mcp-session-id: ").expect("a session");
        let session = rest.lines().next().expect("a line").to_owned();
        self.until("}}").await;
        self.read.clear();
        self.send(&Req::post(initialized).session(&session)).await;
        self.until("\r\n\r\n").await;
        session
    }
}

fn add(id: u32) -> Req {
    Req::modern(
        &id.to_string(),
        "tools/call",
        r#","name":"add","arguments":{"a":2,"b":3}"#,
    )
}

// F-6: a plain answer has a length, and the connection is used again.
#[tokio::test]
async fn one_connection_many_requests() {
    let served = Served::with(HttpConfig::default()).await;
    let mut connection = served.connect().await;
    for id in 0..3 {
        connection.send(&add(id)).await;
        let head = connection.until("\r\n\r\n").await.to_ascii_lowercase();
        assert!(
            head.starts_with("http/1.1 200 ok") && head.contains("content-length: "),
            "{head}"
        );
        let length = head
            .split("content-length: ")
            .nth(1)
            .and_then(|rest| rest.lines().next())
            .expect("a length");
        let body = connection.take(length.parse().expect("a number")).await;
        assert!(body.contains(&format!("\"id\":{id}")), "{body}");
    }
    served.handle.shut_down();
    served.ended().await;
}

// Issue 8: where there is no endpoint, the answer says where it is.
#[tokio::test]
async fn other_paths_name_the_endpoint() {
    let served = Served::with(HttpConfig::default().path("/tools")).await;
    let mut connection = served.connect().await;
    for (method, path) in [
        (axum::http::Method::POST, "/mcp"),
        (
            axum::http::Method::GET,
            "/.well-known/oauth-protected-resource",
        ),
        (axum::http::Method::DELETE, "/"),
        (axum::http::Method::POST, "/tools/x"),
    ] {
        let mut request = add(1).method(method);
        request.path = path.to_owned();
        connection.send(&request).await;
        let head = connection.until("\r\n\r\n").await.to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 404"), "{path}: {head}");
        assert!(head.contains("content-type: application/json"), "{head}");
        let body: serde_json::Value =
            serde_json::from_str(&connection.until("}}").await).expect("JSON");
        let error = &body["error"];
        assert_eq!(
            (&error["code"], &error["data"]["rule"]),
            (&(-32600).into(), &"path".into())
        );
        assert!(
            error["message"]
                .as_str()
                .expect("text")
                .contains("`/tools`"),
            "{body}"
        );
    }
    for path in ["/tools", "/tools/"] {
        let mut request = add(1);
        request.path = path.to_owned();
        connection.send(&request).await;
        assert!(
            connection
                .until("\r\n\r\n")
                .await
                .starts_with("HTTP/1.1 200")
        );
        connection.until("}}").await;
        connection.read.clear();
    }
    served.handle.shut_down();
    served.ended().await;
}

// Y-6: one connection more than the limit waits until another ends.
#[tokio::test]
async fn connections_are_bounded() {
    let served = Served::with(HttpConfig::default().max_connections(1)).await;
    let wait = |label: &str| {
        Req::modern(
            "1",
            "tools/call",
            &format!(r#","name":"wait","arguments":{{"label":"{label}"}}"#),
        )
    };
    let mut first = served.connect().await;
    first.send(&wait("first")).await;
    assert_eq!(served.director.begun().await, "first");
    // The system takes the connection and what is sent on it; the server does not.
    let mut second = served.connect().await;
    second.send(&wait("second")).await;
    tokio::time::timeout(Duration::from_millis(200), served.director.begun())
        .await
        .expect_err("one connection is served");
    drop(first);
    assert_eq!(served.director.begun().await, "dropped first");
    assert_eq!(served.director.begun().await, "second");
    served.director.open();
    assert!(second.until("\r\n").await.starts_with("HTTP/1.1 200"));
    served.handle.shut_down();
    served.ended().await;
}

// Issue 8: streams that only listen leave a connection for calls, whatever the settings say.
#[tokio::test]
async fn listening_streams_do_not_fill_the_connections() {
    let served = Served::with(HttpConfig::default().max_connections(2)).await;
    let mut listening = served.connect().await;
    let session = listening.session("2025-06-18").await;
    listening.send(&Req::get(&session)).await;
    assert!(
        listening
            .until("\r\n\r\n")
            .await
            .starts_with("HTTP/1.1 200")
    );
    let mut other = served.connect().await;
    let session = other.session("2025-06-18").await;
    other.send(&Req::get(&session)).await;
    assert!(other.until("\r\n\r\n").await.starts_with("HTTP/1.1 503"));
    other.until("}}").await;
    other.read.clear();
    other.send(&add(1)).await;
    assert!(other.until("\r\n").await.starts_with("HTTP/1.1 200"));
    served.handle.shut_down();
    served.ended().await;
}

// F-14: a modern client that closes its connection cancels its call; F-13: a legacy one does not.
#[tokio::test]
async fn a_client_that_goes_away() {
    let served = Served::with(HttpConfig::default()).await;
    let mut connection = served.connect().await;
    connection
        .send(&Req::modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"modern"}"#,
        ))
        .await;
    assert_eq!(served.director.begun().await, "modern");
    drop(connection);
    assert_eq!(served.director.begun().await, "dropped modern");

    let mut connection = served.connect().await;
    let session = connection.session("2025-06-18").await;
    connection
        .send(&Req::call(&session, "1", "wait", r#"{"label":"legacy"}"#))
        .await;
    assert_eq!(served.director.begun().await, "legacy");
    drop(connection);
    // It is waited for at the end, and so has not been dropped.
    served.handle.shut_down();
    let Served {
        director, serving, ..
    } = served;
    director.open();
    soon(serving).await.expect("no panic").expect("no error");
    director.none_dropped().await;
}

// Peers 35: calls are drained, streams that only listen end, and new connections are refused.
#[tokio::test]
async fn shutting_down_drains() {
    let served = Served::with(HttpConfig::default()).await;
    let mut calling = served.connect().await;
    calling
        .send(&Req::modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"x"}"#,
        ))
        .await;
    let mut listening = served.connect().await;
    let session = listening.session("2025-06-18").await;
    listening.send(&Req::get(&session)).await;
    listening.until("\r\n\r\n").await;
    let mut subscribed = served.connect().await;
    subscribed
        .send(&Req::modern(
            "7",
            "subscriptions/listen",
            r#","notifications":{}"#,
        ))
        .await;
    subscribed.until("acknowledged").await;
    let idle = served.connect().await;
    assert_eq!(served.director.begun().await, "x");

    served.handle.shut_down();
    assert_eq!(listening.rest().await, "0\r\n\r\n");
    assert!(subscribed.rest().await.contains("\"id\":7,\"result\""));
    assert_eq!(idle.rest().await, "");
    assert!(!served.serving.is_finished(), "a call is at work");
    served.director.open();
    let answer = calling.rest().await;
    assert!(answer.contains("\"text\":\"x\""), "{answer}");
    let address = served.address;
    served.ended().await;
    TcpStream::connect(address)
        .await
        .expect_err("nobody listens");
}

/// Lets in callers with a token.
async fn authenticated(
    mut request: axum::extract::Request,
    next: axum::middleware::Next,
) -> axum::response::Response {
    let token = request.headers().get("authorization");
    if token.is_none_or(|token| token != "Bearer secret") {
        return axum::http::StatusCode::UNAUTHORIZED.into_response();
    }
    request.extensions_mut().insert(Principal::new("ada"));
    next.run(request).await
}

// Issue 9: the routes and layers of an application, with the drain and the host rule of a server of its own.
#[tokio::test]
async fn an_application() {
    let served = Served::by(HttpConfig::default(), |service, listener| async move {
        let app = |endpoint: Router| {
            endpoint
                .layer(axum::middleware::from_fn(authenticated))
                .route("/health", get(|| async { "well" }))
                .fallback(|| async { "the app's own" })
        };
        service.serve_http_with(listener, app).await
    })
    .await;
    let whoami = || Req::modern("1", "tools/call", r#","name":"whoami","arguments":{}"#);
    let at = |path: &str| Req {
        path: path.to_owned(),
        ..whoami().method(Method::GET)
    };
    for (request, status, body) in [
        (whoami(), "401", ""),
        (
            whoami().header("authorization", "Bearer secret"),
            "200",
            "ada",
        ),
        (
            whoami()
                .header("authorization", "Bearer secret")
                .header("host", "evil.example.com"),
            "403",
            "allowed_hosts",
        ),
        (at("/health"), "200", "well"),
        (at("/other"), "200", "the app's own"),
    ] {
        let mut connection = served.connect().await;
        connection
            .send(&request.clone().header("connection", "close"))
            .await;
        let answer = connection.rest().await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status}")),
            "{answer}"
        );
        assert!(answer.contains(body), "{answer}");
    }
    let mut calling = served.connect().await;
    let wait = Req::modern(
        "1",
        "tools/call",
        r#","name":"wait","arguments":{"label":"x"}"#,
    );
    calling
        .send(&wait.header("authorization", "Bearer secret"))
        .await;
    assert_eq!(served.director.begun().await, "x");
    served.handle.shut_down();
    served.director.open();
    let answer = calling.rest().await;
    assert!(answer.contains("\"text\":\"x\""), "{answer}");
    served.ended().await;
}

// Issue 9: streams that only listen do not hold up an application that shuts down, once the server's handle does.
#[tokio::test]
async fn the_shutdown_of_an_application_ends_streams() {
    let (stop, stopping) = tokio::sync::oneshot::channel::<()>();
    let served = Served::by(HttpConfig::default(), |service, listener| async move {
        let handle = service.handle();
        let stopping = async move {
            let _ = stopping.await;
            handle.shut_down();
        };
        axum::serve(listener, service.into_router()?)
            .with_graceful_shutdown(stopping)
            .await?;
        Ok(())
    })
    .await;
    let mut listening = served.connect().await;
    let session = listening.session("2025-06-18").await;
    listening.send(&Req::get(&session)).await;
    listening.until("text/event-stream").await;
    let mut subscribed = served.connect().await;
    let listen = r#","notifications":{}"#;
    subscribed
        .send(&Req::modern("7", "subscriptions/listen", listen))
        .await;
    subscribed.until("acknowledged").await;
    stop.send(()).expect("it serves");
    assert!(listening.rest().await.ends_with("0\r\n\r\n"));
    assert!(subscribed.rest().await.contains("\"id\":7,\"result\""));
    served.ended().await;
}

// The drain has an end.
#[tokio::test]
async fn draining_has_a_deadline() {
    let served = Served::with(HttpConfig::default().drain(Duration::from_millis(50))).await;
    let mut modern = served.connect().await;
    modern
        .send(&Req::modern(
            "1",
            "tools/call",
            r#","name":"wait","arguments":{"label":"modern"}"#,
        ))
        .await;
    let mut legacy = served.connect().await;
    let session = legacy.session("2025-06-18").await;
    legacy
        .send(&Req::call(&session, "1", "wait", r#"{"label":"legacy"}"#))
        .await;
    let mut begun = [served.director.begun().await, served.director.begun().await];
    begun.sort();
    assert_eq!(begun, ["legacy", "modern"]);
    served.handle.shut_down();
    // DEC-11
    for connection in [modern, legacy] {
        let answer = connection.rest().await;
        assert!(answer.contains(CUT_OFF), "{answer}");
    }
    let Served {
        director, serving, ..
    } = served;
    soon(serving).await.expect("no panic").expect("no error");
    let mut dropped = [director.begun().await, director.begun().await];
    dropped.sort();
    assert_eq!(dropped, ["dropped legacy", "dropped modern"]);
}

/// How a call is answered that is cut off.
const CUT_OFF: &str = r#""id":1,"error":{"code":-32603,"message":"the server stopped"#;

// DEC-11: streams end with an answer and a last chunk, those that only listen too; the second request to end ends the drain.
#[tokio::test]
async fn a_second_request_ends_the_drain_with_answers() {
    assert_eq!(HttpConfig::default().drain, Duration::from_secs(8));
    let config = HttpConfig::default()
        .drain(Duration::from_secs(3600))
        .sse_after(Duration::ZERO);
    let served = Served::with(config).await;
    let mut streams = Vec::new();
    for revision in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let mut connection = served.connect().await;
        let call = match revision {
            "2026-07-28" => Req::modern(
                "1",
                "tools/call",
                r#","name":"wait","arguments":{"label":"x"}"#,
            ),
            _ => {
                let session = connection.session(revision).await;
                let mut listening = served.connect().await;
                listening.send(&Req::get(&session)).await;
                listening.until("text/event-stream").await;
                streams.push((listening, ""));
                Req::call(&session, "1", "wait", r#"{"label":"x"}"#)
            }
        };
        connection.send(&call).await;
        connection.until("text/event-stream").await;
        streams.push((connection, CUT_OFF));
        assert_eq!(served.director.begun().await, "x");
    }
    served.handle.shut_down();
    for _ in 0..100 {
        tokio::task::yield_now().await;
    }
    assert!(!served.serving.is_finished());
    served.handle.shut_down();
    for (stream, answer) in streams {
        let rest = stream.rest().await;
        assert!(rest.contains(answer), "{rest}");
        assert!(rest.ends_with("0\r\n\r\n"), "{rest}");
    }
    for _ in 0..3 {
        assert_eq!(served.director.begun().await, "dropped x");
    }
    served.ended().await;
}

// Y-6: heads are bounded in size and in time.
#[tokio::test]
async fn heads_are_bounded() {
    let served = Served::with(
        HttpConfig::default()
            .max_head(1 << 10)
            .head_timeout(Duration::from_millis(50)),
    )
    .await;
    let mut large = served.connect().await;
    large
        .send(&add(1).header("x-large", &"x".repeat(20_000)))
        .await;
    assert!(large.until("\r\n").await.starts_with("HTTP/1.1 431"));
    let mut slow = served.connect().await;
    slow.stream
        .write_all(b"POST /mcp HTTP/1.1\r\nhost:")
        .await
        .expect("connected");
    let answer = slow.rest().await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 408"),
        "{answer}"
    );
    served.handle.shut_down();
    served.ended().await;
}

// Y-6: the bound of a head holds to the byte.
#[tokio::test]
async fn heads_at_their_bound() {
    for limit in [1 << 10, 8 << 10, 64 << 10] {
        let served = Served::with(HttpConfig::default().max_head(limit)).await;
        let length = |padding: usize| {
            let wire = add(1).header("x-pad", &"x".repeat(padding)).wire();
            let head = wire.windows(4).position(|four| four == b"\r\n\r\n");
            head.expect("a head") + 4
        };
        let fitting = limit - length(0);
        assert_eq!(length(fitting), limit);
        let mut used = served.connect().await;
        used.send(&add(1)).await;
        assert!(used.whole().await.starts_with("HTTP/1.1 200"));
        // On a connection that was used before, and on one that was not.
        for mut connection in [used, served.connect().await] {
            connection
                .send(&add(1).header("x-pad", &"x".repeat(fitting)))
                .await;
            let answer = connection.whole().await;
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            for over in [fitting + 1, fitting + limit / 8] {
                let mut larger = served.connect().await;
                larger
                    .send(&add(1).header("x-pad", &"x".repeat(over)))
                    .await;
                let answer = larger.rest().await;
                assert!(answer.starts_with("HTTP/1.1 431"), "{over}: {answer}");
                assert!(answer.contains("connection: close\r\n"), "{answer}");
            }
            connection
                .send(&add(1).header("x-pad", &"x".repeat(fitting + 1)))
                .await;
            let answer = connection.rest().await;
            assert!(answer.starts_with("HTTP/1.1 431"), "{answer}");
        }
        served.handle.shut_down();
        served.ended().await;
    }
}

// Y-6: a body that ends early, is too large or too slow spoils only its own connection.
#[tokio::test]
async fn broken_bodies() {
    let served = Served::with(
        HttpConfig::default()
            .max_body(1000)
            .body_timeout(Duration::from_millis(200)),
    )
    .await;
    let mut broken = served.connect().await;
    let wire = add(1).wire();
    broken
        .stream
        .write_all(&wire[..wire.len() - 10])
        .await
        .expect("connected");
    broken.stream.shutdown().await.expect("connected");
    let answer = broken.rest().await;
    assert!(
        answer.is_empty() || answer.starts_with("HTTP/1.1 400"),
        "{answer}"
    );

    let mut large = served.connect().await;
    let text = "x".repeat(5000);
    large
        .send(&Req::modern(
            "1",
            "tools/call",
            &format!(r#","name":"echo","arguments":{{"text":"{text}"}}"#),
        ))
        .await;
    assert!(large.until("\r\n").await.starts_with("HTTP/1.1 413"));

    let mut slow = served.connect().await;
    slow.stream
        .write_all(&wire[..wire.len() - 10])
        .await
        .expect("connected");
    assert!(slow.until("\r\n").await.starts_with("HTTP/1.1 408"));

    let mut good = served.connect().await;
    good.send(&add(1)).await;
    assert!(good.until("\r\n").await.starts_with("HTTP/1.1 200"));
    served.handle.shut_down();
    served.ended().await;
}

// Y-6: whoever holds back a body has no place among the requests at work.
#[tokio::test]
async fn bodies_that_are_held_back() {
    let served = Served::with(HttpConfig::default().max_in_flight(1)).await;
    let wire = add(1).wire();
    let mut stalled = served.connect().await;
    stalled
        .stream
        .write_all(&wire[..wire.len() - 10])
        .await
        .expect("connected");
    let mut good = served.connect().await;
    for _ in 0..50 {
        good.send(&add(2)).await;
        assert!(good.until("\r\n").await.starts_with("HTTP/1.1 200"));
        good.until("}}").await;
        good.read.clear();
    }
    stalled
        .stream
        .write_all(&wire[wire.len() - 10..])
        .await
        .expect("connected");
    assert!(stalled.until("\r\n").await.starts_with("HTTP/1.1 200"));
    served.handle.shut_down();
    served.ended().await;
}

// Peers 35: only calls are waited for, not what may become one.
#[tokio::test]
async fn stopping_waits_for_no_half_request() {
    let served = Served::with(HttpConfig::default().drain(Duration::from_secs(3600))).await;
    let wire = add(1).wire();
    let head = wire
        .windows(4)
        .position(|four| four == b"\r\n\r\n")
        .expect("a head");
    let mut halves = Vec::new();
    for sent in [head / 2, head + 10] {
        for used in [false, true] {
            let mut half = served.connect().await;
            if used {
                half.send(&add(1)).await;
                half.until("}}").await;
            }
            half.stream
                .write_all(&wire[..sent])
                .await
                .expect("connected");
            halves.push(half);
        }
    }
    served.handle.shut_down();
    served.ended().await;
}

// F-13: a client that closes its side of the connection does not cancel; F-14: at the modern version it does.
#[tokio::test]
async fn closing_the_sending_side() {
    let served = Served::with(HttpConfig::default()).await;
    let wait = |label: &str| format!(r#"{{"label":"{label}"}}"#);
    let mut legacy = served.connect().await;
    let session = legacy.session("2025-06-18").await;
    legacy
        .send(&Req::call(&session, "1", "wait", &wait("legacy")))
        .await;
    assert_eq!(served.director.begun().await, "legacy");
    legacy.stream.shutdown().await.expect("connected");

    let mut modern = served.connect().await;
    let params = format!(r#","name":"wait","arguments":{}"#, wait("modern"));
    modern.send(&Req::modern("1", "tools/call", &params)).await;
    modern.stream.shutdown().await.expect("connected");
    assert_eq!(served.director.begun().await, "modern");
    // The next thing heard of either: `dropped legacy` would come first.
    assert_eq!(served.director.begun().await, "dropped modern");
    served.director.open();
    served.handle.shut_down();
    served.ended().await;
}

// A signal that comes as soon as anybody can know of the server ends it as any other does.
#[cfg(unix)]
#[test]
fn a_signal_at_the_very_beginning() {
    const CHILD: &str = "TRUEFORM_TEST_SIGNALLED";
    if std::env::var_os(CHILD).is_some() {
        return signalled_at_the_very_beginning();
    }
    let status = std::process::Command::new(std::env::current_exe().expect("a path"))
        .args(["--exact", "http::serve::a_signal_at_the_very_beginning"])
        .env(CHILD, "")
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .status();
    let status = status.expect("the tests can be run");
    assert!(status.success(), "{status}");
}

#[cfg(unix)]
fn signalled_at_the_very_beginning() {
    /// Sends the signal when the server tells that it listens.
    struct Signals;

    impl tracing::Subscriber for Signals {
        fn enabled(&self, _: &tracing::Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, _: &tracing::span::Attributes<'_>) -> tracing::span::Id {
            tracing::span::Id::from_u64(1)
        }

        fn record(&self, _: &tracing::span::Id, _: &tracing::span::Record<'_>) {}

        fn record_follows_from(&self, _: &tracing::span::Id, _: &tracing::span::Id) {}

        fn event(&self, event: &tracing::Event<'_>) {
            if event.metadata().fields().field("address").is_some() {
                let pid = std::process::id().to_string();
                let sent = std::process::Command::new("kill")
                    .args(["-TERM", &pid])
                    .status();
                assert!(sent.expect("there is `kill`").success());
            }
        }

        fn enter(&self, _: &tracing::span::Id) {}

        fn exit(&self, _: &tracing::span::Id) {}
    }

    tracing::subscriber::set_global_default(Signals).expect("nobody else sets one");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let served = Served::with(HttpConfig::default()).await;
        served.ended().await;
    });
}
