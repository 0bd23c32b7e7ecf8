//! The HTTP server of `serve_http`: accepts connections within bounds, and drains them when asked to stop.

use std::{
    io,
    net::SocketAddr,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
};

use super::{config::HttpConfig, connection::connection, endpoint::Endpoint, site::Site};
use crate::{
    engine::Shared,
    gate::{HOSTS_VARIABLE, ORIGINS_VARIABLE},
    signal::Fired,
    transport::asked_to_end,
};

/// How long accepting pauses when the process is out of sockets.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long writing the answers to calls that are cut off may take: 1 s.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Least time between two reports of such failures in the log.
const ACCEPT_REPORTS: Duration = Duration::from_secs(30);

/// Writes one line for people and scripts that wait for it. It uses standard error, because standard output may contain data.
pub(crate) fn announce(address: SocketAddr, config: &HttpConfig) {
    tracing::info!(%address, path = config.path, "listening");
    eprintln!("listening on http://{address}{}", config.path);
    if address.ip().is_unspecified() && config.allowed_hosts.is_empty() {
        tracing::warn!(
            "callers must use an IP address: no host name is allowed; see the `allowed_hosts` setting and {HOSTS_VARIABLE}"
        );
    }
}

pub(crate) fn with_environment(config: &Arc<HttpConfig>) -> Arc<HttpConfig> {
    let (hosts, origins) = (entries(HOSTS_VARIABLE), entries(ORIGINS_VARIABLE));
    if hosts.is_empty() && origins.is_empty() {
        return config.clone();
    }
    let mut config = HttpConfig::clone(config);
    config.allowed_hosts.extend(hosts);
    config.allowed_origins.extend(origins);
    Arc::new(config)
}

fn entries(variable: &str) -> Vec<String> {
    let value = std::env::var(variable).unwrap_or_default();
    value
        .split(',')
        .map(str::trim)
        .filter(|entry| !entry.is_empty())
        .map(str::to_owned)
        .collect()
}

/// Serves until the process or the server is asked to stop, and the running calls have ended or their time is over.
pub(crate) async fn serve(
    listener: TcpListener,
    site: Site,
    endpoint: &Arc<Endpoint>,
    asked: impl Future<Output = ()>,
) {
    let (stop, stopping) = watch::channel(());
    let mut connections = JoinSet::new();
    accept(listener, site, endpoint, asked, &stopping, &mut connections).await;
    let asked_again = asked_to_end();
    let at_once = Fired::new(endpoint.engine.shared(), |shared: &Shared| {
        &shared.host.at_once
    });
    tracing::info!(connections = connections.len(), "stopping");
    endpoint.engine.host.shutdown.fire();
    drop((stop, stopping));
    let drained = async {
        while connections.join_next().await.is_some() {}
        endpoint.at_work.empty().await;
    };
    let drained = tokio::select! {
        drained = tokio::time::timeout(endpoint.config.drain, drained) => drained.is_ok(),
        () = asked_again => false,
        () = at_once => false,
    };
    if drained {
        return;
    }
    tracing::warn!("calls that did not end in time are cut off");
    endpoint.cut.fire();
    let ended = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(LAST_WORDS, ended).await.is_err() {
        tracing::debug!("clients that do not read their last answers are left");
    }
    endpoint.sessions.close_all();
    connections.shutdown().await;
}

/// Accepts connections until the server is asked to stop.
async fn accept(
    listener: TcpListener,
    site: Site,
    endpoint: &Arc<Endpoint>,
    asked: impl Future<Output = ()>,
    stopping: &watch::Receiver<()>,
    connections: &mut JoinSet<()>,
) {
    let shut_down = endpoint.stopping();
    let mut asked = std::pin::pin!(async {
        tokio::select! {
            () = asked => {}
            () = shut_down => {}
        }
    });
    let mut failures = AcceptFailures::default();
    loop {
        let accepted = tokio::select! {
            () = &mut asked => return,
            Some(_) = connections.join_next() => continue,
            accepted = accepted(&listener), if connections.len() < endpoint.config.max_connections => accepted,
        };
        match accepted {
            Ok(stream) => {
                connections.spawn(connection(
                    stream,
                    site.clone(),
                    endpoint.config.clone(),
                    stopping.clone(),
                ));
            }
            Err(error) if is_of_one_connection(&error) => {}
            Err(error) => {
                if let Some(left_out) = failures.report(Instant::now()) {
                    tracing::error!(%error, left_out, "no connection can be taken");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Decides which failures to accept connections are logged: a persistent failure occurs ten times a second.
#[derive(Debug, Default)]
struct AcceptFailures {
    reported: Option<Instant>,
    left_out: u64,
}

impl AcceptFailures {
    /// Records a failure at `now`. If it is to be logged, returns how many failures since the last log entry were not.
    fn report(&mut self, now: Instant) -> Option<u64> {
        if self
            .reported
            .is_some_and(|reported| now.duration_since(reported) < ACCEPT_REPORTS)
        {
            self.left_out += 1;
            return None;
        }
        self.reported = Some(now);
        Some(std::mem::take(&mut self.left_out))
    }
}

/// Accepts the next connection. No connection is lost if this is dropped.
async fn accepted(listener: &TcpListener) -> io::Result<TcpStream> {
    let (stream, _) = listener.accept().await?;
    // Events are small writes. Without this, each would wait for the acknowledgement of the one before.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection without TCP_NODELAY");
    }
    Ok(stream)
}

/// Returns whether accepting failed because of the connection that was to be accepted.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
    )
}

#[cfg(test)]
mod tests {
    use std::{
        collections::VecDeque,
        pin::Pin,
        task::{Context, Poll},
    };

    use axum::{Router, routing::get};
    use tokio::{
        io::{AsyncRead, AsyncWrite, AsyncWriteExt, DuplexStream, ReadBuf},
        sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel},
    };

    use super::*;
    use crate::{
        gate::Outgoing,
        transport::http::{
            body::{Piped, event_stream},
            pipe::Pipe,
            sse,
        },
    };

    // Issue 8: a failure that lasts for minutes is only a few lines in the log.
    #[test]
    fn failures_to_accept_are_summed_up() {
        let begun = Instant::now();
        let mut failures = AcceptFailures::default();
        let reports: Vec<_> = (0..900)
            .filter_map(|turn| failures.report(begun + ACCEPT_PAUSE * turn))
            .collect();
        assert_eq!(reports, [0, 299, 299]);
    }

    // Findings 1
    #[tokio::test]
    async fn accepted_sockets_do_not_wait_to_collect_bytes() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let connecting = tokio::spawn(TcpStream::connect(address));
        assert!(accepted(&listener).await.unwrap().nodelay().unwrap());
        connecting.await.unwrap().unwrap();
    }

    /// Reports each write, as a socket would send it.
    struct ReportedWrites {
        stream: DuplexStream,
        writes: UnboundedSender<String>,
    }

    impl ReportedWrites {
        fn tell<'a>(&self, parts: impl IntoIterator<Item = &'a [u8]>) -> usize {
            let write = parts.into_iter().collect::<Vec<_>>().concat();
            let _ = self
                .writes
                .send(String::from_utf8_lossy(&write).into_owned());
            write.len()
        }
    }

    impl AsyncRead for ReportedWrites {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            Pin::new(&mut self.stream).poll_read(cx, buf)
        }
    }

    impl AsyncWrite for ReportedWrites {
        fn poll_write(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            buf: &[u8],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(self.tell([buf])))
        }

        fn poll_write_vectored(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
            bufs: &[io::IoSlice<'_>],
        ) -> Poll<io::Result<usize>> {
            Poll::Ready(Ok(self.tell(bufs.iter().map(|buf| &**buf))))
        }

        fn is_write_vectored(&self) -> bool {
            true
        }

        fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }

        fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
            Poll::Ready(Ok(()))
        }
    }

    /// Creates a stream of events over a connection that reports its writes.
    async fn streaming(
        keep_alive: Duration,
    ) -> (Arc<Pipe>, DuplexStream, UnboundedReceiver<String>) {
        let pipe = Arc::new(Pipe::default());
        let piped = pipe.clone();
        let router = Router::new().route(
            "/",
            get(move || {
                let pipe = piped.clone();
                async move {
                    event_stream(
                        VecDeque::new(),
                        Piped {
                            pipe,
                            _active: None,
                        },
                        keep_alive,
                    )
                }
            }),
        );
        let (mut near, stream) = tokio::io::duplex(1024);
        let (writes, mut told) = unbounded_channel();
        let (stop, stopping) = watch::channel(());
        tokio::spawn(async move {
            connection(
                ReportedWrites { stream, writes },
                Site::App(router),
                Arc::default(),
                stopping,
            )
            .await;
            drop(stop);
        });
        near.write_all(b"GET / HTTP/1.1\r\nhost: a\r\n\r\n")
            .await
            .unwrap();
        let head = told.recv().await.unwrap();
        assert!(
            head.ends_with("\r\n\r\n"),
            "nothing waits for a first event: {head}"
        );
        (pipe, near, told)
    }

    // Findings 1: an event is sent as soon as it exists, in one write.
    #[tokio::test]
    async fn one_event_is_one_write() {
        let (pipe, _near, mut told) = streaming(Duration::ZERO).await;
        for message in ["{}", r#"{"a":1}"#, &format!(r#""{}""#, "x".repeat(30_000))] {
            let event = sse::event(None, &Outgoing::unchecked(message.as_bytes().to_vec()));
            let expected = format!(
                "{:X}\r\nevent: message\ndata: {message}\n\n\r\n",
                event.len()
            );
            pipe.push(event).unwrap();
            assert_eq!(told.recv().await.unwrap(), expected);
        }
        pipe.end();
        assert_eq!(told.recv().await.unwrap(), "0\r\n\r\n");
        assert!(told.try_recv().is_err());
    }

    // F-31: a silent stream has keep-alive comments, and a stream that is not silent has none.
    #[tokio::test(start_paused = true)]
    async fn signs_of_life() {
        let (pipe, _near, mut told) = streaming(Duration::from_secs(15)).await;
        let begun = tokio::time::Instant::now();
        let seconds = || begun.elapsed().as_secs();
        for second in [15, 30] {
            assert_eq!(told.recv().await.unwrap(), "3\r\n:\n\n\r\n");
            assert_eq!(seconds(), second);
        }
        tokio::time::sleep(Duration::from_secs(10)).await;
        pipe.push(sse::event(None, &Outgoing::unchecked(b"{}".to_vec())))
            .unwrap();
        assert_eq!(
            told.recv().await.unwrap(),
            "19\r\nevent: message\ndata: {}\n\n\r\n"
        );
        assert_eq!(told.recv().await.unwrap(), "3\r\n:\n\n\r\n");
        assert_eq!(seconds(), 40 + 15, "the silence began with the event");
    }
}
