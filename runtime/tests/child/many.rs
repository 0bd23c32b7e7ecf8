//! More calls at once than the bounds of a client allow, over pipes.

use std::{
    future::{IntoFuture, poll_fn},
    task::Poll,
};

use trueform::client::{ClientError, LocalError};

use crate::support::{connected, legacy};

/// 10,000 calls begin at once. The server is sent as many as may be in flight, and the others wait. One more finds no place in the queue.
/// All others are answered.
pub(crate) async fn ten_thousand_calls_keep_the_bounds() {
    const CALLS: usize = 10_000;
    const IN_FLIGHT: usize = 64;
    let options = legacy()
        .max_in_flight(IN_FLIGHT)
        .max_queued(CALLS - IN_FLIGHT);
    let client = connected("holds calls", options).await;
    let call = || client.call_tool("any", ()).into_future();
    let mut calls: Vec<_> = (0..CALLS).map(|_| call()).collect();
    let mut excess = call();
    // The runtime has one thread, so nothing is answered in between.
    let error = poll_fn(|cx| {
        for call in &mut calls {
            assert!(call.as_mut().poll(cx).is_pending());
        }
        match excess.as_mut().poll(cx) {
            Poll::Ready(outcome) => Poll::Ready(outcome.unwrap_err()),
            Poll::Pending => panic!("the call beyond the bounds waits"),
        }
    });
    match error.await {
        ClientError::Local(LocalError::QueueFull { in_flight, waiting }) => {
            assert_eq!((in_flight, waiting), (IN_FLIGHT, CALLS - IN_FLIGHT));
        }
        other => panic!("{other:?}"),
    }
    let release = r#"{"jsonrpc":"2.0","method":"notifications/test/release"}"#;
    client.send_raw(release).unwrap();
    // Every answer says how many calls the server had before the release.
    let calls: Vec<_> = calls.into_iter().map(tokio::spawn).collect();
    for call in calls {
        let result = call.await.unwrap().unwrap();
        assert_eq!(result.text(), IN_FLIGHT.to_string());
    }
    client.close().await;
}
