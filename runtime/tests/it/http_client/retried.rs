//! Requests without an effect are sent again where a server is busy or a connection broke, if the options say so; no others, and not
//! earlier than the server asks.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use trueform::client::{ClientError, ClientOptions, HttpErrorKind, RetryPolicy};

use super::{
    call, connect, failed, new,
    server::{Answer, Asked, Scripted, modern},
};
use crate::support::soon;

fn retrying() -> ClientOptions {
    let policy = RetryPolicy::attempts(3)
        .wait(Duration::from_millis(10))
        .longest_wait(Duration::from_secs(5));
    new().retry(policy)
}

/// A server whose `times` first answers to what opens no connection are `answer`.
async fn busy<F>(
    times: usize,
    answer: impl Fn(Asked, Answer) -> F + Clone + Send + Sync + 'static,
) -> Scripted
where
    F: Future<Output = ()> + Send + 'static,
{
    let count = Arc::new(AtomicUsize::new(0));
    Scripted::start(move |asked, socket| {
        let (answer, count) = (answer.clone(), count.clone());
        async move {
            let Some((asked, socket)) = modern(asked, socket).await else {
                return;
            };
            if count.fetch_add(1, Ordering::SeqCst) < times {
                return answer(asked, socket).await;
            }
            let result = json!({ "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
            socket.result(&asked, result).await;
        }
    })
    .await
}

#[tokio::test]
async fn a_busy_server_is_asked_again_when_it_says() {
    let dates =
        "date: Sun, 06 Nov 1994 08:49:37 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:38 GMT\r\n";
    for (status, headers, by_protocol, shortest) in [
        ("429 Too Many Requests", "retry-after: 1\r\n", false, 1000),
        ("503 Service Unavailable", dates, false, 1000),
        // As servers of this crate do it.
        ("503 Service Unavailable", "retry-after: 1\r\n", true, 1000),
        ("503 Service Unavailable", "", true, 5),
        ("502 Bad Gateway", "", false, 5),
        ("408 Request Timeout", "retry-after: soon\r\n", false, 5),
    ] {
        let server = busy(1, move |asked, answer| async move {
            let error = json!({ "code": -32603, "message": "no room" });
            let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "error": error });
            let headers = format!("content-type: application/json\r\n{headers}");
            let body = if by_protocol {
                body.to_string()
            } else {
                String::new()
            };
            answer.reply(status, &headers, body).await;
        })
        .await;
        let client = connect(&server, retrying()).await;
        let begun = Instant::now();
        soon(client.list_tools()).await.expect(status);
        let waited = begun.elapsed();
        assert!(
            Duration::from_millis(shortest) <= waited,
            "{status}: {waited:?}"
        );
        // Loose, for a machine under load.
        assert!(
            waited < Duration::from_millis(shortest) + Duration::from_secs(10),
            "{status}: {waited:?}"
        );
        assert_eq!(server.all("tools/list").len(), 2, "{status}");
    }
}

// The connection ends before the head of the response, and within its body.
#[tokio::test]
async fn a_connection_that_breaks() {
    for begins in [false, true] {
        let server = busy(2, move |_, mut answer| async move {
            if begins {
                let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{";
                answer.write(head).await;
            }
        })
        .await;
        let client = connect(&server, retrying()).await;
        soon(client.list_tools()).await.unwrap();
        assert_eq!(server.all("tools/list").len(), 3, "{begins}");
    }
}

#[tokio::test]
async fn what_is_not_sent_again() {
    let refused = |status: &'static str, headers: &'static str| {
        busy(usize::MAX, move |_, answer| {
            answer.reply(status, headers, "")
        })
    };
    // As often as the policy says, and after the last attempt the error is the server's.
    let server = refused("503 Service Unavailable", "retry-after: 0\r\n").await;
    let client = connect(&server, retrying()).await;
    let error = failed(soon(client.list_tools()).await);
    assert_eq!(
        (error.status(), error.kind()),
        (Some(503), HttpErrorKind::Status)
    );
    assert_eq!(server.all("tools/list").len(), 3);
    // What may have an effect: the tool is not listed as one without.
    let server = refused("503 Service Unavailable", "").await;
    let client = connect(&server, retrying().retry(RetryPolicy::attempts(2))).await;
    failed(call(&client, "x").await);
    assert_eq!(server.all("tools/call").len(), 1);
    // Other failures.
    for status in [
        "400 Bad Request",
        "401 Unauthorized",
        "404 Not Found",
        "500 Internal Server Error",
    ] {
        let server = refused(status, "").await;
        let client = connect(&server, retrying()).await;
        failed(soon(client.list_tools()).await);
        assert_eq!(server.all("tools/list").len(), 1, "{status}");
    }
    // A longer wait than the policy allows.
    for headers in [
        "retry-after: 6\r\n",
        "retry-after: 99999999999999999999999\r\n",
    ] {
        let server = refused("429 Too Many Requests", headers).await;
        let client = connect(&server, retrying()).await;
        let error = failed(soon(client.list_tools()).await);
        assert!(
            error.retry_after() >= Some(Duration::from_secs(6)),
            "{error:?}"
        );
        assert_eq!(server.all("tools/list").len(), 1, "{headers}");
    }
    // Without a policy.
    let server = refused("503 Service Unavailable", "retry-after: 0\r\n").await;
    let client = connect(&server, new()).await;
    failed(soon(client.list_tools()).await);
    assert_eq!(server.all("tools/list").len(), 1);
    // An error of the protocol that has nothing to do with how busy the server is.
    let server = busy(usize::MAX, |asked, answer| async move {
        let error = json!({ "code": -32603, "message": "no" });
        let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "error": error });
        answer.json("200 OK", body).await;
    })
    .await;
    let client = connect(&server, retrying()).await;
    let error = soon(client.list_tools()).await.unwrap_err();
    assert!(matches!(error, ClientError::Remote(_)), "{error}");
    assert_eq!(server.all("tools/list").len(), 1);
}
