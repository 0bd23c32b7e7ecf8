//! One connection: serves HTTP/1.1 on it, and ends it when the server stops.
//!
//! A connection knows only whether a request is in flight.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use http::Request;
use http_body::{Frame, SizeHint};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    sync::watch,
};

use super::{
    config::HttpConfig,
    head_timer::HeadTimer,
    message_body::ResponseBody,
    site::Site,
    under_way::{AnsweredBody, Arriving, ConnectionState, WholeBody},
};
use crate::transport::patience::Patience;

/// Least size of the buffer for heads; hyper accepts no smaller one.
const LEAST_BUFFER: usize = 8 << 10;

/// Serves the connection until the client ends it or the server stops.
pub(super) async fn connection(
    stream: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
    site: Site,
    config: Arc<HttpConfig>,
    mut stopping: watch::Receiver<()>,
) {
    let state = Arc::new(ConnectionState::new());
    let watched = WatchedBody {
        stream,
        state: state.clone(),
        head: HeadTimer::new(config.head_timeout),
        patience: Patience::new(config.write_timeout),
    };
    let seen = state.clone();
    let service = hyper::service::service_fn(move |request: Request<Incoming>| {
        seen.begin();
        let whole = WholeBody::new(seen.clone(), request.body());
        let answered = AnsweredBody(seen.clone());
        let response = site.serve(request.map(|body| Arriving { body, whole }));
        async move {
            Ok::<_, Infallible>(response.await.map(|body| Leaving {
                body,
                _answered: answered,
            }))
        }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        // `WatchedBody` measures it.
        .header_read_timeout(None)
        // Exact, unlike the size of the buffer: a read beyond that size may still complete a head.
        .max_header_size(config.max_head)
        .max_buf_size(config.max_head.max(LEAST_BUFFER))
        .serve_connection(TokioIo::new(watched), service);
    let mut connection = std::pin::pin!(connection);
    let served = tokio::select! {
        served = connection.as_mut() => served,
        // The sender is dropped when the server stops.
        _ = stopping.changed() => {
            connection.as_mut().graceful_shutdown();
            tokio::select! {
                served = connection => served,
                () = state.unused() => Ok(()),
            }
        }
    };
    if let Err(error) = served {
        tracing::debug!(%error, "a connection broke");
    }
}

/// The body of a response.
struct Leaving {
    body: ResponseBody,
    _answered: AnsweredBody,
}

impl http_body::Body for Leaving {
    type Data = bytes::Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<bytes::Bytes>, axum::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// The bytes of a connection. Notes whether the client reads what is written. Fails if it reads nothing for too long, or sends no head of a
/// request for too long.
struct WatchedBody<S> {
    stream: S,
    state: Arc<ConnectionState>,
    head: HeadTimer,
    patience: Patience,
}

impl<S: AsyncRead + Unpin> AsyncRead for WatchedBody<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let read = Pin::new(&mut self.stream).poll_read(cx, buf);
        if read.is_pending()
            && let Some(since) = self.state.awaits_head()
        {
            return self.head.poll_over(since, cx).map(Err);
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> WatchedBody<S> {
    /// Returns the outcome of writing. It fails if the client reads nothing for too long.
    fn written<T>(
        &mut self,
        written: Poll<io::Result<T>>,
        cx: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        self.state.note_write(written.is_pending());
        match written {
            Poll::Pending => self.patience.poll_over(cx).map(Err),
            ready @ Poll::Ready(_) => {
                self.patience.renew();
                ready
            }
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WatchedBody<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(cx, buf);
        self.written(written, cx)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(cx, bufs);
        self.written(written, cx)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use axum::{Router, routing::get};
    use tokio::{
        io::{AsyncReadExt, AsyncWriteExt, DuplexStream},
        time::Instant,
    };

    use super::*;

    const BODY: usize = 10_000;

    /// Creates a client that has asked for a body that does not fit into the pipe, and the connection that serves it.
    async fn asked(config: HttpConfig) -> (DuplexStream, tokio::task::JoinHandle<()>) {
        let (mut near, far) = tokio::io::duplex(1000);
        let router = Router::new().route("/", get(|| async { "x".repeat(BODY) }));
        let serving = tokio::spawn(async move {
            let (_stop, stopping) = watch::channel(());
            connection(far, Site::App(router), Arc::new(config), stopping).await;
        });
        near.write_all(b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n")
            .await
            .unwrap();
        (near, serving)
    }

    // Y-6: the connection of a client that reads nothing for the write timeout is closed; that of a client that reads a little now and then
    // is not.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_does_not_read() {
        let limit = HttpConfig::default().write_timeout;
        assert_eq!(limit, Duration::from_secs(60));
        let begun = Instant::now();
        let (_unread, serving) = asked(HttpConfig::default()).await;
        let served = tokio::time::timeout(limit * 2, serving).await;
        served.expect("the client is given up").unwrap();
        assert_eq!(begun.elapsed(), limit);

        let (mut near, serving) = asked(HttpConfig::default()).await;
        let mut read = Vec::new();
        while !serving.is_finished() {
            tokio::time::sleep(limit - Duration::from_secs(1)).await;
            near.read_buf(&mut read).await.unwrap();
        }
        near.read_to_end(&mut read).await.unwrap();
        assert!(read.ends_with("x".repeat(BODY).as_bytes()));

        let (_unread, serving) = asked(HttpConfig::default().write_timeout(Duration::ZERO)).await;
        tokio::time::sleep(limit * 100).await;
        assert!(!serving.is_finished(), "no limit");
        serving.abort();
    }

    // Y-6: a client has this time for each head, from the end of the answer before it. The time of slow answers does not count.
    #[tokio::test(start_paused = true)]
    async fn a_client_that_sends_no_head() {
        let limit = HttpConfig::default().head_timeout;
        assert_eq!(limit, Duration::from_secs(30));
        let slow = limit * 3;
        let (mut near, far) = tokio::io::duplex(1000);
        let answer = move || async move {
            tokio::time::sleep(slow).await;
            "late"
        };
        let router = Router::new().route("/", get(answer));
        let serving = tokio::spawn(async move {
            let (_stop, stopping) = watch::channel(());
            connection(far, Site::App(router), Arc::default(), stopping).await;
        });
        let begun = Instant::now();
        for turn in 1..=2 {
            // Just in time, in two parts.
            tokio::time::sleep(limit - Duration::from_secs(1)).await;
            near.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
            tokio::time::sleep(Duration::from_millis(900)).await;
            near.write_all(b"host: a\r\n\r\n").await.unwrap();
            let mut answer = Vec::new();
            while !answer.ends_with(b"late") {
                assert_ne!(near.read_buf(&mut answer).await.unwrap(), 0, "turn {turn}");
            }
        }
        let answered = begun.elapsed();
        assert_eq!(answered, (limit + slow - Duration::from_millis(100)) * 2);
        near.write_all(b"GET / HTTP/1.1\r\n").await.unwrap();
        let mut rest = Vec::new();
        let ended = tokio::time::timeout(limit * 2, near.read_to_end(&mut rest)).await;
        ended.expect("the client is given up").unwrap();
        assert_eq!(begun.elapsed() - answered, limit);
        serving.await.unwrap();
    }
}
