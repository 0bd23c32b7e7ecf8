//! How often a server writes to a byte stream: once for all that is ready, not once for each message.

use std::{
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use tokio::io::{AsyncWrite, AsyncWriteExt};

use crate::support::{Collected, initialize, joined, legacy, modern, service, soon, staged};

/// Keeps what it is written, write by write.
#[derive(Clone, Default)]
struct Counting(Arc<Collected<String>>);

impl AsyncWrite for Counting {
    fn poll_write(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.0.push(String::from_utf8(buf.to_vec()).unwrap());
        Poll::Ready(Ok(buf.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

fn lines(writes: &[String]) -> usize {
    writes.iter().map(|write| write.matches('\n').count()).sum()
}

#[tokio::test]
async fn answers_that_are_ready_together_are_one_write() {
    let add = r#","name":"add","arguments":{"a":2,"b":3}"#;
    let [initialize, initialized] = initialize("2025-06-18");
    let mut input = vec![initialize, initialized];
    for id in 1..=10 {
        input.push(legacy(&id.to_string(), "ping", "{}"));
        input.push(modern(&format!(r#""{id}""#), "tools/call", add));
    }
    let writes = Counting::default();
    let input = io::Cursor::new(joined(input));
    soon(service().serve_stream(input, writes.clone()))
        .await
        .unwrap();
    let writes = writes.0.take();
    assert_eq!(lines(&writes), 21, "{writes:?}");
    assert_eq!(writes.len(), 1, "{writes:?}");
}

// What a call says while it works goes with its answer, where both are ready.
#[tokio::test]
async fn messages_go_with_their_answer() {
    let mut input = initialize("2025-06-18").to_vec();
    let params = r#"{"name":"tells","arguments":{},"_meta":{"progressToken":1}}"#;
    input.push(legacy("1", "tools/call", params));
    let service = trueform::Server::new("t", "1")
        .tools(trueform::prelude::tools![tells])
        .build()
        .unwrap();
    let writes = Counting::default();
    soon(service.serve_stream(io::Cursor::new(joined(input)), writes.clone()))
        .await
        .unwrap();
    let writes = writes.0.take();
    assert_eq!((lines(&writes), writes.len()), (5, 1), "{writes:?}");
}

/// Reports progress three times at once.
#[trueform::tool]
fn tells(context: trueform::Context) {
    for step in 1..=3 {
        context.progress(f64::from(step), None, None);
    }
}

// Calls that end at the same time, on tasks of their own.
#[tokio::test]
async fn calls_that_end_together() {
    const CALLS: usize = 100;
    let (service, director) = staged();
    let writes = Counting::default();
    let (mut near, far) = tokio::io::duplex(1 << 16);
    let output = writes.clone();
    let serving = tokio::spawn(async move { service.serve_stream(far, output).await });
    let wait = |id: usize| {
        modern(
            &id.to_string(),
            "tools/call",
            r#","name":"wait","arguments":{"label":"x"}"#,
        )
    };
    near.write_all(joined((0..CALLS).map(wait)).as_bytes())
        .await
        .unwrap();
    for _ in 0..CALLS {
        director.begun().await;
    }
    assert_eq!(writes.0.take(), Vec::<String>::new());
    director.open();
    drop(near);
    soon(serving).await.unwrap().unwrap();
    let writes = writes.0.take();
    assert_eq!(lines(&writes), CALLS);
    assert!(writes.len() <= CALLS / 10, "{} writes", writes.len());
}

// A peer is not kept waiting for the end of much output.
#[tokio::test]
async fn much_output_is_written_as_it_comes() {
    let text = "x".repeat(10_000);
    let echo = |id: usize| {
        modern(
            &id.to_string(),
            "tools/call",
            &format!(r#","name":"echo","arguments":{{"text":"{text}"}}"#),
        )
    };
    let input = joined((0..100).map(echo));
    let size = input.len();
    let writes = Counting::default();
    soon(service().serve_stream(io::Cursor::new(input), writes.clone()))
        .await
        .unwrap();
    let writes = writes.0.take();
    assert_eq!(lines(&writes), 100);
    let longest = writes.iter().map(String::len).max().unwrap();
    assert!(longest < size / 4, "{longest} bytes in one write");
    assert!(writes.len() < 50, "{} writes", writes.len());
}
