//! What a client over HTTP sends while a server leaves some of it unanswered: nothing waits that need not, cancellations least.

use std::{
    future::{IntoFuture, poll_fn},
    pin::Pin,
    sync::Arc,
    task::Poll,
};

use serde_json::{Value, json};
use tokio::sync::{Semaphore, mpsc};
use trueform::{
    Client, Policy,
    client::HttpEndpoint,
    schema::{
        CancelledNotificationParams, RequestId,
        methods::{Cancelled, RootsListChanged},
    },
};

use super::{
    call, old,
    server::{Answer, Asked, Scripted, called, initialized},
};
use crate::support::soon;

/// A legacy server without a stream of the session's own, which leaves the requests of one method unanswered, and calls of the tool
/// `hangs`.
struct Leaving {
    server: Scripted,
    /// What was asked, as it arrives.
    seen: mpsc::UnboundedReceiver<String>,
    /// Each permit lets the server answer one request that it leaves.
    answers: Arc<Semaphore>,
}

async fn leaving(leaves: &'static str) -> Leaving {
    let (see, seen) = mpsc::unbounded_channel();
    let answers = Arc::new(Semaphore::new(0));
    let permits = answers.clone();
    let server = Scripted::start(move |asked, answer| {
        let (see, permits) = (see.clone(), permits.clone());
        async move {
            see.send(name(&asked)).unwrap();
            if asked.what() == leaves {
                permits.acquire().await.unwrap().forget();
            }
            respond(asked, answer).await;
        }
    })
    .await;
    Leaving {
        server,
        seen,
        answers,
    }
}

async fn respond(asked: Asked, mut answer: Answer) {
    match (asked.what(), asked.body["params"]["name"].as_str()) {
        ("initialize", _) => answer.result(&asked, initialized()).await,
        ("tools/call", Some("hangs")) => answer.closed().await,
        ("tools/call", _) => answer.result(&asked, called("done")).await,
        ("GET", _) => answer.reply("405 Method Not Allowed", "", "").await,
        _ => answer.reply("202 Accepted", "", "").await,
    }
}

/// The method, with the tool of a call and the id of what is cancelled.
fn name(asked: &Asked) -> String {
    let what = asked.what();
    let params = &asked.body["params"];
    match (&params["name"], &params["requestId"]) {
        (Value::String(tool), _) => format!("{what} {tool}"),
        (_, Value::Null) => what.to_owned(),
        (_, id) => format!("{what} {id}"),
    }
}

async fn connected(to: &Leaving) -> Client {
    let connecting = HttpEndpoint::new(&*to.server.url).connect_as(old().outgoing(Policy::Off));
    soon(connecting).await.expect("a connection")
}

impl Leaving {
    /// Waits until `what` was asked so many times.
    async fn sees(&mut self, what: &str, times: usize) {
        for _ in 0..times {
            while soon(self.seen.recv()).await.unwrap() != what {}
        }
    }
}

async fn poll_once<F: Future + Unpin>(future: &mut F) -> Poll<F::Output> {
    poll_fn(|cx| Poll::Ready(Pin::new(&mut *future).poll(cx))).await
}

fn cancelled(client: &Client, id: RequestId) {
    let mut params = CancelledNotificationParams::default();
    params.request_id = Some(id);
    client.notify::<Cancelled>(&params).unwrap();
}

// O-1: while `notifications/initialized` has no response, requests wait; one that is cancelled meanwhile is never sent.
#[tokio::test]
async fn a_server_that_is_slow_to_take_initialized() {
    let mut to = leaving("notifications/initialized").await;
    let client = connected(&to).await;
    to.sees("notifications/initialized", 1).await;
    let mut aborted = Box::pin(client.call_tool("a", ()).into_future());
    assert!(poll_once(&mut aborted).await.is_pending());
    let mut waiting = Box::pin(call(&client, "b"));
    assert!(poll_once(&mut waiting).await.is_pending());
    drop(aborted);
    // Cancellations overtake what waits: this one shows that the one of the call has been taken before.
    cancelled(&client, RequestId::Integer(999));
    to.sees("notifications/cancelled 999", 1).await;
    assert!(!to.server.whats().contains(&"tools/call".to_owned()));
    to.answers.add_permits(1);
    assert_eq!(soon(waiting).await.unwrap(), "done");
    let calls = to.server.all("tools/call");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0].body["params"]["name"], json!("b"));
    assert_eq!(to.server.all("notifications/cancelled").len(), 1);
    soon(client.close()).await;
}

// O-1: 64 notifications are without a response; the others wait, but neither calls nor cancellations do.
#[tokio::test]
async fn a_server_that_leaves_notifications_unanswered() {
    const MOST: usize = 64;
    const MORE: usize = 6;
    let changed = "notifications/roots/list_changed";
    let mut to = leaving(changed).await;
    let client = connected(&to).await;
    let hanging = tokio::spawn(client.call_tool("hangs", ()).into_future());
    to.sees("tools/call hangs", 1).await;
    for _ in 0..MOST + MORE {
        client
            .notify::<RootsListChanged>(&Default::default())
            .unwrap();
    }
    to.sees(changed, MOST).await;
    assert_eq!(call(&client, "x").await.unwrap(), "done");
    hanging.abort();
    let id = to.server.all("tools/call")[0].id().clone();
    to.sees(&format!("notifications/cancelled {id}"), 1).await;
    assert_eq!(to.server.all(changed).len(), MOST);
    to.answers.add_permits(MOST + MORE);
    to.sees(changed, MORE).await;
    soon(client.close()).await;
}

// O-1: each cancellation is sent at once, however many are without a response.
#[tokio::test]
async fn a_server_that_leaves_cancellations_unanswered() {
    const CALLS: usize = 70;
    let mut to = leaving("notifications/cancelled").await;
    let client = connected(&to).await;
    let mut calls = tokio::task::JoinSet::new();
    for _ in 0..CALLS {
        calls.spawn(client.call_tool("hangs", ()).into_future());
    }
    to.sees("tools/call hangs", CALLS).await;
    calls.shutdown().await;
    let all_are_seen = async {
        while to.server.all("notifications/cancelled").len() < CALLS {
            tokio::task::yield_now().await;
        }
    };
    soon(all_are_seen).await;
    assert_eq!(call(&client, "x").await.unwrap(), "done");
}
