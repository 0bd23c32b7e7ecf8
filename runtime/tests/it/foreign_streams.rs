//! Readers and writers of the caller that panic: the connection ends, and nobody waits for it.

use std::{
    future::IntoFuture,
    io,
    pin::Pin,
    task::{Context, Poll},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use trueform::{
    Client,
    client::{ClientError, ClientOptions, LocalError, Negotiation},
};

use crate::support::soon;

/// Panics when it is polled.
struct Panicking;

impl AsyncWrite for Panicking {
    fn poll_write(self: Pin<&mut Self>, _: &mut Context<'_>, _: &[u8]) -> Poll<io::Result<usize>> {
        panic!("on purpose");
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        panic!("on purpose");
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        panic!("on purpose");
    }
}

impl AsyncRead for Panicking {
    fn poll_read(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        _: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        panic!("on purpose");
    }
}

/// The calls of `client` end because the connection is closed, and so does the client.
async fn ends(client: Client) {
    for _ in 0..2 {
        match soon(client.call_tool("x", ()).into_future()).await {
            Err(ClientError::Local(LocalError::Closed)) => {}
            other => panic!("expected a closed connection, found {other:?}"),
        }
    }
    assert_eq!(soon(client.next_message()).await, None);
    soon(client.close()).await;
}

fn by_hand() -> ClientOptions {
    ClientOptions::new().negotiation(Negotiation::Nothing)
}

/// The server never ends its side.
#[tokio::test]
async fn a_writer_that_panics() {
    let (reader, _far) = tokio::io::duplex(100);
    let client = Client::over(reader, Panicking, by_hand()).await.unwrap();
    ends(client).await;
}

#[tokio::test]
async fn a_reader_that_panics() {
    let (writer, _far) = tokio::io::duplex(100);
    let client = Client::over(Panicking, writer, by_hand()).await.unwrap();
    ends(client).await;
}
