//! A proxy between a client and a server that cuts the answer to a call at every byte, by an orderly end and by a reset.

use std::{
    future::IntoFuture,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::{AbortHandle, JoinSet},
};
use trueform::{
    client::{ClientError, ClientOptions, HttpEndpoint, HttpError, HttpErrorKind, LocalError},
    schema::methods::ResourceListChanged,
};

use super::{
    new, old,
    server::{Scripted, called, legacy, modern},
};
use crate::support::soon;

/// How the connection of an answer ends after the bytes that are let through.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Cut {
    Orderly,
    Reset,
}

/// How the server frames its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Framing {
    Length,
    Chunked,
    /// The end of the connection is the end of the body.
    Close,
}

/// What the server answers a call with.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Body {
    Json,
    Events,
    EventsWithIds,
}

/// Passes connections on. Of the answer to each call it lets `left` bytes through.
struct Proxy {
    url: String,
    accepting: AbortHandle,
    /// How many bytes of the answer to the next call come through.
    left: Arc<AtomicUsize>,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Proxy {
    async fn before(server: &Scripted, cut: Cut) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let upstream = server.url.replace("http://", "").replace("/mcp", "");
        let left = Arc::new(AtomicUsize::new(usize::MAX));
        let shared = left.clone();
        let accepting = tokio::spawn(async move {
            let mut passing = JoinSet::new();
            while let Ok((near, _)) = listener.accept().await {
                let far = TcpStream::connect(&upstream).await.unwrap();
                let left = shared.clone();
                passing.spawn(async move { pass(near, far, cut, &left).await });
            }
        });
        Self {
            url,
            accepting: accepting.abort_handle(),
            left,
        }
    }
}

/// Passes one request on, and its answer. Whether it is cut, the request says.
async fn pass(mut near: TcpStream, mut far: TcpStream, cut: Cut, left: &AtomicUsize) {
    let (mut sent, mut received) = ([0; 4096], [0; 4096]);
    let mut request = Vec::new();
    let (mut passed, mut is_call) = (0, false);
    loop {
        // The server answers when it has the whole request, and closes the connection after the answer.
        tokio::select! {
            read = near.read(&mut sent) => match read {
                Ok(read @ 1..) => {
                    request.extend_from_slice(&sent[..read]);
                    is_call |= String::from_utf8_lossy(&request).contains("tools/call");
                    if far.write_all(&sent[..read]).await.is_err() {
                        return;
                    }
                }
                _ => return,
            },
            read = far.read(&mut received) => {
                let Ok(read) = read else { return };
                let most = if is_call { left.load(Ordering::SeqCst) } else { usize::MAX };
                let through = read.min(most - passed);
                if near.write_all(&received[..through]).await.is_err() {
                    return;
                }
                passed += through;
                if read > 0 && passed < most {
                    continue;
                }
                if passed == most && cut == Cut::Reset {
                    near.set_zero_linger().unwrap();
                }
                return;
            }
        }
    }
}

/// The response to a call: two notifications, if the body is of events, and the result.
fn answered(framing: Framing, body: Body, id: &Value) -> String {
    let result = result(id);
    let (media, body) = match body {
        Body::Json => ("application/json", vec![result.to_string()]),
        _ => ("text/event-stream", events(body, &result, 0)),
    };
    let head = format!("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: {media}\r\n");
    match framing {
        Framing::Length => {
            let body = body.concat();
            format!("{head}content-length: {}\r\n\r\n{body}", body.len())
        }
        Framing::Close => format!("{head}\r\n{}", body.concat()),
        Framing::Chunked => {
            let chunk = |part: &String| format!("{:x}\r\n{part}\r\n", part.len());
            let chunks: String = body.iter().map(chunk).collect();
            format!("{head}transfer-encoding: chunked\r\n\r\n{chunks}0\r\n\r\n")
        }
    }
}

/// The events from the one with the number `from` on.
fn events(body: Body, result: &Value, from: usize) -> Vec<String> {
    let changed = json!({ "jsonrpc": "2.0", "method": "notifications/resources/list_changed" });
    let messages = [
        "".to_owned(),
        changed.to_string(),
        changed.to_string(),
        result.to_string(),
    ];
    let event = |(number, message): (usize, String)| match body {
        Body::EventsWithIds => format!("id: {number}\nretry: 0\ndata: {message}\n\n"),
        _ => format!("data: {message}\n\n"),
    };
    messages
        .into_iter()
        .enumerate()
        .skip(from)
        .map(event)
        .collect()
}

/// A server of both eras whose calls are answered so. A GET that names an event gets what follows it.
async fn server(framing: Framing, body: Body) -> Scripted {
    let last_call = Arc::new(Mutex::new(Value::Null));
    Scripted::start(move |asked, answer| {
        let last_call = last_call.clone();
        async move {
            let Some((asked, answer)) = modern(asked, answer).await else {
                return;
            };
            let Some((asked, mut answer)) = legacy(asked, answer, "s").await else {
                return;
            };
            match (asked.what(), asked.header("last-event-id")) {
                ("tools/call", _) => {
                    *last_call.lock().unwrap() = asked.id().clone();
                    answer.write(answered(framing, body, asked.id())).await;
                }
                ("GET", Some(last)) => {
                    let id = last_call.lock().unwrap().clone();
                    let result = result(&id);
                    let next = last.parse::<usize>().unwrap() + 1;
                    answer.events().await;
                    answer.write(events(body, &result, next).concat()).await;
                }
                ("GET", None) => answer.reply("405 Method Not Allowed", "", "").await,
                _ => answer.reply("202 Accepted", "", "").await,
            }
        }
    })
    .await
}

/// Cuts the answer at every byte, and hands each outcome on: the position, the length of the whole, the result or error, and how many
/// notifications came. A call is made once each time.
async fn each_cut(
    options: ClientOptions,
    framing: Framing,
    body: Body,
    cut: Cut,
    judge: impl Fn(usize, usize, Result<String, HttpError>, usize),
) {
    let server = server(framing, body).await;
    let proxy = Proxy::before(&server, cut).await;
    let options = options.timeout(Duration::from_secs(20));
    let client = soon(HttpEndpoint::new(&*proxy.url).connect_as(options))
        .await
        .unwrap();
    let mut notifications = client.notifications();
    let call = async |left: usize| {
        proxy.left.store(left, Ordering::SeqCst);
        let outcome = soon(client.call_tool("x", ()).into_future()).await;
        outcome.map(|result| result.text())
    };
    let mut changes = || {
        let mut changes = 0;
        while let Some(notified) = notifications.try_next() {
            assert!(notified.is::<ResourceListChanged>(), "{notified:?}");
            changes += 1;
        }
        changes
    };
    // Once whole, and the length of that.
    assert_eq!(call(usize::MAX).await.unwrap(), "done");
    assert_eq!(changes(), if body == Body::Json { 0 } else { 2 });
    let whole = answered(framing, body, &json!(1)).len();
    for at in 0..=whole {
        let outcome = match call(at).await {
            Ok(text) => Ok(text),
            Err(ClientError::Local(LocalError::Http(error))) => Err(*error),
            // A body without a length looks whole, with an id if there is one.
            Err(ClientError::Local(LocalError::Decode(error)))
                if (framing, body) == (Framing::Close, Body::Json) && at < whole =>
            {
                assert!(error.message().contains("EOF"), "{at}: {error}");
                continue;
            }
            Err(other) => panic!("{framing:?} {body:?} {cut:?} at {at}: {other:?}"),
        };
        judge(at, whole, outcome, changes());
    }
    assert_eq!(
        server.all("tools/call").len(),
        whole + 2,
        "a call is made once"
    );
    drop(proxy);
}

/// What is said of a call whose answer was cut.
#[track_caller]
fn is_clear(error: &HttpError, context: &str) {
    let text = error.to_string();
    let expected = match error.kind() {
        HttpErrorKind::Broken => "whether the server acted on the request is not known",
        HttpErrorKind::StreamEnded => "call",
        // A body without a length looks whole.
        HttpErrorKind::NotAnAnswer if text.contains("no body") => "the response has no body",
        HttpErrorKind::NotAnAnswer => "no answer: ",
        other => panic!("{context}: {other:?}: {text}"),
    };
    assert!(
        text.starts_with("POST http://127.0.0.1:"),
        "{context}: {text}"
    );
    assert!(text.contains(expected), "{context}: {text}");
}

const CUTS: [Cut; 2] = [Cut::Orderly, Cut::Reset];

// G-7: with ids no message is lost and none comes twice, from the first id on. A reset may take bytes along that were sent before.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn events_with_ids_are_resumed() {
    let each = [Framing::Close, Framing::Chunked].map(|framing| CUTS.map(|cut| (framing, cut)));
    let each = each.as_flattened().iter().map(async |&(framing, cut)| {
        let resumed = AtomicUsize::new(0);
        let judge = |at, whole: usize, outcome: Result<String, HttpError>, changes| {
            let context = format!("{framing:?} {cut:?}, {at} of {whole}");
            // The end of the first event, or a little behind it.
            let rest = events(Body::EventsWithIds, &result(&json!(1)), 1).concat();
            let first = whole - rest.len();
            match outcome {
                Ok(text) => {
                    assert_eq!((&*text, changes), ("done", 2), "{context}");
                    resumed.fetch_add(1, Ordering::SeqCst);
                }
                Err(error) => {
                    is_clear(&error, &context);
                    assert!(cut == Cut::Reset || at < first, "{context}: {error}");
                    assert_eq!(changes, 0, "{context}");
                }
            }
        };
        each_cut(old(), framing, Body::EventsWithIds, cut, judge).await;
        assert!(resumed.into_inner() > 100, "{framing:?} {cut:?}");
    });
    join_all(each).await;
}

/// How many notifications are in the first `at` bytes of an answer of `whole` bytes, which has no chunks.
fn came_before(body: Body, at: usize, whole: usize) -> usize {
    let events = events(body, &result(&json!(1)), 0);
    let head = whole - events.concat().len();
    let ends = [2, 3].map(|count| head + events[..count].concat().len());
    ends.into_iter().filter(|end| *end <= at).count()
}

/// Cuts answers that cannot be resumed: what is cut before its end is an error, which says `why`, and what came before is not lost.
async fn is_not_resumed(options: fn() -> ClientOptions, body: Body, why: &str) {
    let framings = [Framing::Length, Framing::Chunked, Framing::Close];
    let each = framings.map(|framing| CUTS.map(|cut| (framing, cut)));
    let each = each.as_flattened().iter().map(async |&(framing, cut)| {
        let judge = |at, whole, outcome: Result<String, HttpError>, changes: usize| {
            let context = format!("{framing:?} {body:?} {cut:?}, {at} of {whole}");
            match outcome {
                Ok(text) => {
                    assert_eq!(text, "done", "{context}");
                    let expected = if body == Body::Json { 0 } else { 2 };
                    assert_eq!(changes, expected, "{context}");
                    // At most the end of the last chunk, and the empty one, are missing.
                    assert!(whole <= at + "\r\n0\r\n\r\n".len(), "{context}");
                }
                Err(error) => {
                    is_clear(&error, &context);
                    if error.kind() == HttpErrorKind::StreamEnded {
                        let text = error.to_string();
                        assert!(text.contains(why), "{context}: {text}");
                    }
                    assert!(cut == Cut::Reset || at < whole, "{context}: {error}");
                    assert!(changes <= 2, "{context}");
                    if cut == Cut::Orderly && framing != Framing::Chunked && body != Body::Json {
                        assert_eq!(changes, came_before(body, at, whole), "{context}");
                    }
                }
            }
        };
        each_cut(options(), framing, body, cut, judge).await;
    });
    join_all(each).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_json_is_an_error() {
    is_not_resumed(old, Body::Json, "").await;
    is_not_resumed(new, Body::Json, "").await;
}

// G-7
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_events_without_ids_are_an_error() {
    is_not_resumed(old, Body::Events, "the server gave no event id").await;
}

// G-12: the modern era does not resume, whatever ids there are.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn cut_events_of_the_modern_era_are_an_error() {
    let why = "make the call again, if it may be made twice";
    is_not_resumed(new, Body::Events, why).await;
    is_not_resumed(new, Body::EventsWithIds, why).await;
}

/// The answer to the call `id`, always of the same length.
fn result(id: &Value) -> Value {
    let mut result = called("done");
    result["_meta"] = json!({ "pad": "x".repeat(8 - id.to_string().len()) });
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}
