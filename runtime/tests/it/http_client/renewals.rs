//! Sessions that are opened in place of others while requests, streams and cancellations are on their way. The test answers each request
//! itself, in the order that it chooses.

use std::{
    future::IntoFuture,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
};

use serde_json::{Value, json};
use tokio::sync::mpsc;
use trueform::{
    Client,
    client::{HttpEndpoint, HttpErrorKind},
};

use super::{
    call, failed, old,
    server::{Answer, Asked, Scripted, called, event, initialized},
};
use crate::support::soon;

/// A server whose requests the test answers.
struct Driven {
    server: Scripted,
    came: mpsc::UnboundedReceiver<(Asked, Answer)>,
    /// Requests that came while the test waited for another.
    kept: Vec<(Asked, Answer)>,
    /// How often the client reported a new session.
    reported: Arc<AtomicUsize>,
}

/// What a request is: the method, the tool or the event that it names, and its session.
fn label(asked: &Asked) -> String {
    let mut label = asked.what().to_owned();
    if let Some(name) = asked.body["params"]["name"].as_str() {
        label += &format!(" {name}");
    }
    if let Some(event) = asked.header("last-event-id") {
        label += &format!(" {event}");
    }
    match asked.header("mcp-session-id") {
        Some(session) => format!("{label} @{session}"),
        None => label,
    }
}

async fn gone(answer: Answer) {
    answer.reply("404 Not Found", "", "").await;
}

async fn opens(asked: &Asked, answer: Answer, session: &str, result: Value) {
    let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": result });
    let headers = format!("content-type: application/json\r\nmcp-session-id: {session}\r\n");
    answer.reply("200 OK", &headers, body.to_string()).await;
}

impl Driven {
    async fn start() -> Self {
        let (come, came) = mpsc::unbounded_channel();
        let server = Scripted::start(move |asked, answer| {
            let come = come.clone();
            // The test may have ended.
            async move { drop(come.send((asked, answer))) }
        })
        .await;
        Self {
            server,
            came,
            kept: Vec::new(),
            reported: Arc::default(),
        }
    }

    /// The request `wanted`, once it has come.
    async fn next(&mut self, wanted: &str) -> (Asked, Answer) {
        let is_wanted = |(asked, _): &(Asked, Answer)| label(asked) == wanted;
        if let Some(at) = self.kept.iter().position(is_wanted) {
            return self.kept.remove(at);
        }
        let waiting = async {
            loop {
                let came = self.came.recv().await.expect("the server runs");
                if is_wanted(&came) {
                    return came;
                }
                self.kept.push(came);
            }
        };
        match tokio::time::timeout(std::time::Duration::from_secs(20), waiting).await {
            Ok(came) => came,
            Err(_) => panic!("no `{wanted}`; the server was asked {:?}", self.labels()),
        }
    }

    /// Everything that was asked.
    fn labels(&self) -> Vec<String> {
        self.server
            .asked
            .lock()
            .unwrap()
            .iter()
            .map(label)
            .collect()
    }

    fn count(&self, label: &str) -> usize {
        self.labels().iter().filter(|found| *found == label).count()
    }

    /// A client in the session `s-1`.
    async fn connect(&mut self) -> Client {
        let report = self.reported.clone();
        let endpoint = HttpEndpoint::new(&*self.server.url).on_new_session(move || {
            report.fetch_add(1, Ordering::SeqCst);
        });
        let connecting = tokio::spawn(async move { endpoint.connect_as(old()).await });
        let (asked, answer) = self.next("initialize").await;
        opens(&asked, answer, "s-1", initialized()).await;
        self.accept("notifications/initialized @s-1").await;
        soon(connecting).await.unwrap().unwrap()
    }

    /// A client in the session `s-1`, without the session's own stream.
    async fn connect_without_stream(&mut self) -> Client {
        let client = self.connect().await;
        self.refuse_stream("GET @s-1").await;
        client
    }

    async fn refuse_stream(&mut self, label: &str) {
        let (_, answer) = self.next(label).await;
        answer.reply("405 Method Not Allowed", "", "").await;
    }

    async fn accept(&mut self, label: &str) {
        let (_, answer) = self.next(label).await;
        answer.reply("202 Accepted", "", "").await;
    }

    /// Opens the session `s-2`, for which the client has asked.
    async fn renew(&mut self) {
        let (asked, answer) = self.next("initialize").await;
        opens(&asked, answer, "s-2", initialized()).await;
        self.accept("notifications/initialized @s-2").await;
    }

    async fn result(&mut self, label: &str) {
        let (asked, answer) = self.next(label).await;
        answer.result(&asked, called("done")).await;
    }

    /// Closes the client, which ends the session `s-2` and no other.
    async fn close(&mut self, client: Client) {
        let closing = tokio::spawn(client.clone().close());
        self.accept("DELETE @s-2").await;
        soon(closing).await.unwrap();
        let ended = self.server.all("DELETE");
        assert_eq!(ended.len(), 1, "{:?}", self.labels());
        assert!(client.http_session().is_none());
    }
}

/// What meets a 404.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meets {
    CallA,
    CallB,
    /// The session's own stream.
    Stream,
}

// G-3: two calls and the session's own stream meet 404 in each order, during the handshake or after it: it is made once.
#[tokio::test]
async fn one_session_for_all_that_meet_404() {
    use Meets::{CallA, CallB, Stream};
    for order in [
        [CallA, CallB, Stream],
        [CallA, Stream, CallB],
        [Stream, CallA, CallB],
        [CallB, Stream, CallA],
    ] {
        for last_is_late in [false, true] {
            race(order, last_is_late).await;
        }
    }
}

async fn race(order: [Meets; 3], last_is_late: bool) {
    let mut to = Driven::start().await;
    let client = to.connect().await;
    // The stream was open, so that 404 is about the session.
    let (_, mut stream) = to.next("GET @s-1").await;
    stream.events().await;
    stream.write("retry: 0\n\n").await;
    drop(stream);
    let stream = to.next("GET @s-1").await.1;
    let calls = ["a", "b"].map(|name| tokio::spawn(client.call_tool(name, ()).into_future()));
    let (a, b) = (
        to.next("tools/call a @s-1").await.1,
        to.next("tools/call b @s-1").await.1,
    );
    let mut refused = [Some(a), Some(b), Some(stream)];
    let mut refuse = |meets: Meets| gone(refused[meets as usize].take().unwrap());

    refuse(order[0]).await;
    let (asked, opening) = to.next("initialize").await;
    refuse(order[1]).await;
    if !last_is_late {
        refuse(order[2]).await;
    }
    opens(&asked, opening, "s-2", initialized()).await;
    let (_, accepting) = to.next("notifications/initialized @s-2").await;
    // Servers refuse requests that come before it is answered.
    let third = tokio::spawn(client.call_tool("c", ()).into_future());
    gone(to.next("tools/call c @s-1").await.1).await;
    accepting.reply("202 Accepted", "", "").await;

    to.result("tools/call c @s-2").await;
    for met in [CALL_A, CALL_B] {
        let is_late = last_is_late && order[2] == met.0;
        if is_late {
            refuse(met.0).await;
        }
        to.result(met.1).await;
    }
    to.refuse_stream("GET @s-2").await;
    for call in calls.into_iter().chain([third]) {
        assert_eq!(soon(call).await.unwrap().unwrap().text(), "done");
    }
    let order = format!("{order:?} {last_is_late}: {:?}", to.labels());
    assert_eq!(to.count("initialize"), 2, "{order}");
    assert_eq!(to.reported.load(Ordering::SeqCst), 1, "{order}");
    to.close(client).await;
    assert_eq!(to.count("initialize"), 2, "{order}");
    assert_eq!(to.reported.load(Ordering::SeqCst), 1, "{order}");
}

const CALL_A: (Meets, &str) = (Meets::CallA, "tools/call a @s-2");
const CALL_B: (Meets, &str) = (Meets::CallB, "tools/call b @s-2");

/// A session that is opened and cannot be used is ended.
#[tokio::test]
async fn a_session_of_another_revision() {
    let mut to = Driven::start().await;
    let client = to.connect_without_stream().await;
    let calling = tokio::spawn(async move { (call(&client, "a").await, client) });
    gone(to.next("tools/call a @s-1").await.1).await;
    let (asked, answer) = to.next("initialize").await;
    let mut other = initialized();
    other["protocolVersion"] = "2025-06-18".into();
    opens(&asked, answer, "s-2", other).await;
    to.accept("DELETE @s-2").await;
    let (outcome, client) = soon(calling).await.unwrap();
    let error = failed(outcome);
    assert_eq!(error.kind(), HttpErrorKind::SessionLost);
    let text = error.to_string();
    assert!(
        text.contains("the server chose the revision 2025-06-18"),
        "{text}"
    );
    assert_eq!(to.reported.load(Ordering::SeqCst), 0);
    assert_eq!(client.http_session().unwrap().session_id, "s-1");
}

/// A session that is opened after the client has ended, which waits 5 s for it, is ended too.
#[tokio::test]
async fn a_session_that_comes_too_late() {
    let mut to = Driven::start().await;
    let client = to.connect_without_stream().await;
    let calling = tokio::spawn(client.call_tool("a", ()).into_future());
    gone(to.next("tools/call a @s-1").await.1).await;
    let (asked, answer) = to.next("initialize").await;
    let left = soon(client.leave()).await.unwrap();
    assert_eq!(left.session_id, "s-1");
    soon(calling).await.unwrap().unwrap_err();
    opens(&asked, answer, "s-2", initialized()).await;
    to.accept("notifications/initialized @s-2").await;
    to.accept("DELETE @s-2").await;
    assert_eq!(to.reported.load(Ordering::SeqCst), 0);
}

// F-17, G-7: a stream is resumed in the session that it is of, and not in another.
#[tokio::test]
async fn streams_and_the_session_that_they_are_of() {
    const FIRST: &str = "id: e-1\nretry: 0\ndata: \n\n";
    let mut to = Driven::start().await;
    let client = to.connect_without_stream().await;
    let [first, second] =
        ["a", "b"].map(|name| tokio::spawn(client.call_tool(name, ()).into_future()));
    let (_, mut stream) = to.next("tools/call a @s-1").await;
    stream.events().await;
    stream.write(FIRST).await;
    gone(to.next("tools/call b @s-1").await.1).await;
    to.renew().await;
    // The stream of a call that was made again is of the new session.
    let (asked, mut other) = to.next("tools/call b @s-2").await;
    other.events().await;
    other.write(FIRST).await;
    drop(other);
    let (_, mut rest) = to.next("GET e-1 @s-2").await;
    rest.events().await;
    let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": called("done") });
    rest.write(event(body)).await;
    assert_eq!(soon(second).await.unwrap().unwrap().text(), "done");
    // That of the other is gone with its session.
    drop(stream);
    let error = failed(soon(first).await.unwrap());
    assert_eq!(error.kind(), HttpErrorKind::StreamEnded);
    let text = error.to_string();
    assert!(
        text.contains("the stream ended before the answer, and its session has ended"),
        "{text}"
    );
    assert_eq!(to.count("GET e-1 @s-2"), 1, "{:?}", to.labels());
    assert_eq!(to.count("GET e-1 @s-1"), 0, "{:?}", to.labels());
    to.close(client).await;
}

// G-7: the session that `initialize` opens is the one of its own stream.
#[tokio::test]
async fn the_stream_that_opens_a_session() {
    let mut to = Driven::start().await;
    let endpoint = HttpEndpoint::new(&*to.server.url);
    let connecting = tokio::spawn(async move { endpoint.connect_as(old()).await });
    let (asked, mut answer) = to.next("initialize").await;
    let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\nmcp-session-id: s-1\r\n\r\n";
    answer.write(head).await;
    answer.write("id: e-1\nretry: 0\ndata: \n\n").await;
    drop(answer);
    let (_, mut rest) = to.next("GET e-1 @s-1").await;
    rest.events().await;
    let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": initialized() });
    rest.write(event(body)).await;
    to.accept("notifications/initialized @s-1").await;
    let client = soon(connecting).await.unwrap().unwrap();
    assert_eq!(client.http_session().unwrap().session_id, "s-1");
}

// O-1: only what the session has is cancelled.
#[tokio::test]
async fn cancellations_and_the_session_that_has_the_request() {
    let mut to = Driven::start().await;
    let client = to.connect_without_stream().await;
    let [old, refused] =
        ["a", "b"].map(|name| tokio::spawn(client.call_tool(name, ()).into_future()));
    let _waiting = to.next("tools/call a @s-1").await;
    gone(to.next("tools/call b @s-1").await.1).await;
    let (asked, opening) = to.next("initialize").await;
    // Refused, and not yet made again.
    refused.abort();
    soon(refused).await.unwrap_err();
    opens(&asked, opening, "s-2", initialized()).await;
    to.accept("notifications/initialized @s-2").await;
    let next = tokio::spawn(client.call_tool("c", ()).into_future());
    // It may have begun before the new session was there.
    let has = loop {
        match soon(to.came.recv()).await.unwrap() {
            (asked, answer) if label(&asked) == "tools/call c @s-1" => gone(answer).await,
            has => break has,
        }
    };
    assert_eq!(label(&has.0), "tools/call c @s-2");
    // Made in the session that ended.
    old.abort();
    soon(old).await.unwrap_err();
    next.abort();
    soon(next).await.unwrap_err();
    let (cancelled, answer) = to.next("notifications/cancelled @s-2").await;
    answer.reply("202 Accepted", "", "").await;
    assert_eq!(&cancelled.body["params"]["requestId"], has.0.id());
    to.close(client).await;
    assert_eq!(to.server.all("notifications/cancelled").len(), 1);
}
