//! A reader of the caller that panics: the connection ends, and nobody waits for it.

use std::{
    future::IntoFuture,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, ReadBuf};
use trueform::{
    Client,
    client::{ClientError, ClientOptions, LocalError, Negotiation},
};

use crate::support::soon;

/// Panics when it is polled.
struct Panicking;

impl AsyncRead for Panicking {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        panic!("on purpose");
    }
}

/// Calls end because the connection is closed, and so does the client.
#[tokio::test]
async fn a_reader_that_panics() {
    let (writer, _far) = tokio::io::duplex(100);
    let by_hand = ClientOptions::new().negotiation(Negotiation::Nothing);
    let client = Client::over(Panicking, writer, by_hand).await.unwrap();
    for _ in 0..2 {
        match soon(client.call_tool("x", ()).into_future()).await {
            Err(ClientError::Local(LocalError::Closed)) => {}
            other => panic!("expected a closed connection, found {other:?}"),
        }
    }
    assert_eq!(soon(client.next_message()).await, None);
    soon(client.close()).await;
}
