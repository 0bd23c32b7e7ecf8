//! The settings of the HTTP transport, with the reason for each default.

use std::{sync::Arc, time::Duration};

use crate::{
    store::{EventStore, MemoryEventStore, SessionStore},
    transport::patience,
};

/// Path of the endpoint unless set otherwise.
pub const DEFAULT_PATH: &str = "/mcp";

/// Largest request body unless set otherwise, in bytes: 4 MiB, as other servers take.
pub const DEFAULT_MAX_BODY: usize = 4 << 20;

/// How long a request body may take to come in, unless set otherwise: 60 s.
pub const DEFAULT_BODY_TIMEOUT: Duration = Duration::from_secs(60);

/// Calls at work at once unless set otherwise. A call costs a few kilobytes and its tool's own needs.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 4096;

/// Legacy sessions open at once unless set otherwise. At most 4 KiB each while idle.
pub const DEFAULT_MAX_SESSIONS: usize = 65_536;

/// What all legacy sessions may keep together unless set otherwise, in bytes: 256 MiB, which is 4 KiB for each of
/// [`DEFAULT_MAX_SESSIONS`].
pub const DEFAULT_MAX_SESSION_BYTES: usize = 256 << 20;

/// How long a session lives without activity unless set otherwise: 30 minutes, longer than people's coffee breaks.
pub const DEFAULT_SESSION_IDLE: Duration = Duration::from_secs(30 * 60);

/// How long a call may be silent before its answer becomes an event stream, unless set otherwise: 500 ms. Proxies and
/// clients give up on answers whose head does not come; most calls are done by then and get plain JSON.
pub const DEFAULT_SSE_AFTER: Duration = Duration::from_millis(500);

/// Time between comments on a silent event stream unless set otherwise: 15 s, below the idle limits of usual proxies.
pub const DEFAULT_KEEP_ALIVE: Duration = Duration::from_secs(15);

/// How long a client is asked to wait before it resumes a stream, unless set otherwise: 1 s.
pub const DEFAULT_RETRY: Duration = Duration::from_secs(1);

/// How long calls may go on after the signal to stop, unless set otherwise: 8 s. Container runtimes kill after 10 s, and those that
/// are cut off are still answered.
pub const DEFAULT_DRAIN: Duration = Duration::from_secs(8);

/// Largest head of a request, request line and headers, unless set otherwise: 64 KiB.
pub const DEFAULT_MAX_HEAD: usize = 64 << 10;

/// How long a client may take to send the head of a request, unless set otherwise: 30 s.
pub const DEFAULT_HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections open at once unless set otherwise.
pub const DEFAULT_MAX_CONNECTIONS: usize = 10_000;

/// Streams open at once that only listen, unless set otherwise: half of [`DEFAULT_MAX_CONNECTIONS`].
pub const DEFAULT_MAX_LISTENERS: usize = 5_000;

/// How long a client may take nothing of what is written to it, unless set otherwise: 60 s.
pub const DEFAULT_WRITE_TIMEOUT: Duration = patience::DEFAULT_WRITE_TIMEOUT;

/// Settings of the HTTP transport.
///
/// Most servers need these three, and the defaults of the rest:
///
/// | setting | when |
/// | --- | --- |
/// | [`allowed_hosts`](Self::allowed_hosts) | the server is reached by a name: behind a proxy, in a container, from another machine |
/// | [`allowed_origins`](Self::allowed_origins) | pages of other sites call it |
/// | [`path`](Self::path) | the endpoint is not `/mcp` |
///
/// The others limit requests (`max_body`, `body_timeout`, `max_head`, `head_timeout`), connections and calls (`max_connections`,
/// `max_listeners`, `max_in_flight`, `write_timeout`) and sessions (`max_sessions`, `max_session_bytes`, `session_idle`), or set how calls
/// are answered (`streams`, `sse_after`, `keep_alive`, `retry`), how the server stops (`drain`), and where sessions and events are kept
/// (`session_store`, `event_store`).
///
/// ```
/// use std::time::Duration;
/// use trueform::HttpConfig;
///
/// let config = HttpConfig::default()
///     .allowed_hosts(["tools.example.com"])
///     .allowed_origins(["https://app.example.com"])
///     .session_idle(Duration::from_secs(3600));
/// assert_eq!(config.path, "/mcp");
/// ```
///
/// Every setter replaces what an earlier call set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HttpConfig {
    /// Path of the endpoint. Default: [`DEFAULT_PATH`].
    pub path: String,
    /// Names that the `Host` header may have, in addition to those that follow from the listening address: loopback names for a loopback
    /// address, any IP address for an unspecified one. `example.com` permits all its ports, `example.com:8080` one port, `*` every host.
    pub allowed_hosts: Vec<String>,
    /// Origins of web pages that may call, such as `https://app.example.com`, in addition to the endpoint's own origin and pages on
    /// loopback names. `*` permits every origin except `null`.
    pub allowed_origins: Vec<String>,
    /// Largest request body, in bytes. Default: [`DEFAULT_MAX_BODY`].
    pub max_body: usize,
    /// How long a request body may take to arrive. A longer one is answered with 408. Default: [`DEFAULT_BODY_TIMEOUT`].
    pub body_timeout: Duration,
    /// Maximum number of calls that run at once. Further calls are answered with 503, in a batch with an error of their own. Requests that
    /// only look something up, `ping`, notifications, responses, and streams that only listen do not count. Default:
    /// [`DEFAULT_MAX_IN_FLIGHT`].
    pub max_in_flight: usize,
    /// Maximum number of legacy sessions that are open at once. A further session ends those that sent no message after `initialize` for
    /// [`UNPROVEN_KEPT`](super::UNPROVEN_KEPT); if there are none, it is answered with 503. A session that sent such a message is not ended
    /// for another. Default: [`DEFAULT_MAX_SESSIONS`].
    pub max_sessions: usize,
    /// Maximum number of bytes that all legacy sessions keep together. Beyond it, a further session is treated as beyond `max_sessions`. An
    /// idle session keeps at most 4 KiB ([`MAX_SESSION_FACTS`](crate::MAX_SESSION_FACTS)), in addition to its resumable events, the name of
    /// its principal, and its subscriptions to resources, which have a bound of their own
    /// ([`MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL`](crate::MAX_RESOURCE_SUBSCRIPTION_BYTES_IN_ALL)). Default: [`DEFAULT_MAX_SESSION_BYTES`].
    pub max_session_bytes: usize,
    /// How long a session lives without activity. A running call and an open stream are activity. Default: [`DEFAULT_SESSION_IDLE`].
    pub session_idle: Duration,
    /// How long a call may be silent before its answer becomes an event stream. Zero: as soon as a call has to wait. Default:
    /// [`DEFAULT_SSE_AFTER`].
    pub sse_after: Duration,
    /// Time between comments on a silent event stream. Zero: no comments. Default: [`DEFAULT_KEEP_ALIVE`].
    pub keep_alive: Duration,
    /// How long a client is asked to wait before it resumes a stream. Default: [`DEFAULT_RETRY`].
    pub retry: Duration,
    /// How long calls may continue after the signal to stop. Calls that have not ended by then are answered with -32603. Default:
    /// [`DEFAULT_DRAIN`].
    pub drain: Duration,
    /// Maximum size of the head of a request, in bytes: request line and headers with the empty line after them. A larger head is answered
    /// with 431, and its connection is closed. Default: [`DEFAULT_MAX_HEAD`]. Not for [`into_router`](crate::Server::into_router).
    pub max_head: usize,
    /// How long a client may take to send the head of a request. Default: [`DEFAULT_HEAD_TIMEOUT`]. Not for
    /// [`into_router`](crate::Server::into_router).
    pub head_timeout: Duration,
    /// Maximum number of connections that are open at once; further ones wait to be accepted. Default: [`DEFAULT_MAX_CONNECTIONS`]. Not for
    /// [`into_router`](crate::Server::into_router).
    pub max_connections: usize,
    /// Maximum number of open streams that only listen: the own streams of sessions, and subscriptions. They hold connections for long. If
    /// the maximum is below `max_connections`, some connections are left for calls; [`serve_http`](crate::Server::serve_http) leaves at
    /// least one. A further stream is answered with 503. Default: [`DEFAULT_MAX_LISTENERS`].
    pub max_listeners: usize,
    /// How long a client may read nothing of what is written to it. After that, its connection is closed. Zero: no limit. Default:
    /// [`DEFAULT_WRITE_TIMEOUT`]. Not for [`into_router`](crate::Server::into_router).
    pub write_timeout: Duration,
    /// When answers may be event streams. Default: [`Streams::WhereAccepted`].
    pub streams: Streams,
    /// Stores events so that clients of 2025-11-25 can resume a broken stream. `None`: streams cannot be resumed. Default: a
    /// [`MemoryEventStore`].
    pub event_store: Option<Arc<dyn EventStore>>,
    /// Shares sessions with other processes. `None`, the default: only this process serves a session.
    pub session_store: Option<Arc<dyn SessionStore>>,
}

/// When answers may be event streams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Streams {
    /// A call that sends messages while it runs, or takes long, is answered with an event stream, if the client accepts one.
    #[default]
    WhereAccepted,
    /// Calls are always answered with one JSON object; messages that they send before are dropped. Streams that a client requests are still
    /// served.
    Never,
}

impl Default for HttpConfig {
    fn default() -> Self {
        Self {
            path: DEFAULT_PATH.to_owned(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            max_body: DEFAULT_MAX_BODY,
            body_timeout: DEFAULT_BODY_TIMEOUT,
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            max_sessions: DEFAULT_MAX_SESSIONS,
            max_session_bytes: DEFAULT_MAX_SESSION_BYTES,
            session_idle: DEFAULT_SESSION_IDLE,
            sse_after: DEFAULT_SSE_AFTER,
            keep_alive: DEFAULT_KEEP_ALIVE,
            retry: DEFAULT_RETRY,
            drain: DEFAULT_DRAIN,
            max_head: DEFAULT_MAX_HEAD,
            head_timeout: DEFAULT_HEAD_TIMEOUT,
            max_connections: DEFAULT_MAX_CONNECTIONS,
            max_listeners: DEFAULT_MAX_LISTENERS,
            write_timeout: DEFAULT_WRITE_TIMEOUT,
            streams: Streams::default(),
            event_store: Some(Arc::new(MemoryEventStore::new())),
            session_store: None,
        }
    }
}

impl HttpConfig {
    /// Sets [`path`](Self::path).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().path("/v1/mcp");
    /// assert_eq!(config.path, "/v1/mcp");
    /// ```
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.path = path.into();
        self
    }

    /// Sets [`allowed_hosts`](Self::allowed_hosts).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().allowed_hosts(["tools.example.com"]);
    /// assert_eq!(config.allowed_hosts, ["tools.example.com"]);
    /// ```
    #[must_use]
    pub fn allowed_hosts<I: IntoIterator<Item: Into<String>>>(mut self, hosts: I) -> Self {
        self.allowed_hosts = hosts.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`allowed_origins`](Self::allowed_origins).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().allowed_origins(["https://app.example.com"]);
    /// assert_eq!(config.allowed_origins, ["https://app.example.com"]);
    /// ```
    #[must_use]
    pub fn allowed_origins<I: IntoIterator<Item: Into<String>>>(mut self, origins: I) -> Self {
        self.allowed_origins = origins.into_iter().map(Into::into).collect();
        self
    }

    /// Sets [`max_body`](Self::max_body).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_body(1 << 20);
    /// assert_eq!(config.max_body, 1 << 20);
    /// ```
    #[must_use]
    pub fn max_body(mut self, bytes: usize) -> Self {
        self.max_body = bytes;
        self
    }

    /// Sets [`body_timeout`](Self::body_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().body_timeout(Duration::from_secs(10));
    /// assert_eq!(config.body_timeout, Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.body_timeout = timeout;
        self
    }

    /// Sets [`max_in_flight`](Self::max_in_flight).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_in_flight(256);
    /// assert_eq!(config.max_in_flight, 256);
    /// ```
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets [`max_sessions`](Self::max_sessions).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_sessions(1000);
    /// assert_eq!(config.max_sessions, 1000);
    /// ```
    #[must_use]
    pub fn max_sessions(mut self, sessions: usize) -> Self {
        self.max_sessions = sessions;
        self
    }

    /// Sets [`max_session_bytes`](Self::max_session_bytes).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_session_bytes(16 << 20);
    /// assert_eq!(config.max_session_bytes, 16 << 20);
    /// ```
    #[must_use]
    pub fn max_session_bytes(mut self, bytes: usize) -> Self {
        self.max_session_bytes = bytes;
        self
    }

    /// Sets [`session_idle`](Self::session_idle).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().session_idle(Duration::from_secs(3600));
    /// assert_eq!(config.session_idle, Duration::from_secs(3600));
    /// ```
    #[must_use]
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = idle;
        self
    }

    /// Sets [`sse_after`](Self::sse_after).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().sse_after(Duration::from_millis(100));
    /// assert_eq!(config.sse_after, Duration::from_millis(100));
    /// ```
    #[must_use]
    pub fn sse_after(mut self, delay: Duration) -> Self {
        self.sse_after = delay;
        self
    }

    /// Sets [`keep_alive`](Self::keep_alive).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().keep_alive(Duration::from_secs(5));
    /// assert_eq!(config.keep_alive, Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn keep_alive(mut self, interval: Duration) -> Self {
        self.keep_alive = interval;
        self
    }

    /// Sets [`retry`](Self::retry).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().retry(Duration::from_secs(2));
    /// assert_eq!(config.retry, Duration::from_secs(2));
    /// ```
    #[must_use]
    pub fn retry(mut self, delay: Duration) -> Self {
        self.retry = delay;
        self
    }

    /// Sets [`drain`](Self::drain).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().drain(Duration::from_secs(25));
    /// assert_eq!(config.drain, Duration::from_secs(25));
    /// ```
    #[must_use]
    pub fn drain(mut self, deadline: Duration) -> Self {
        self.drain = deadline;
        self
    }

    /// Sets [`max_head`](Self::max_head).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_head(16 << 10);
    /// assert_eq!(config.max_head, 16 << 10);
    /// ```
    #[must_use]
    pub fn max_head(mut self, bytes: usize) -> Self {
        self.max_head = bytes;
        self
    }

    /// Sets [`head_timeout`](Self::head_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().head_timeout(Duration::from_secs(5));
    /// assert_eq!(config.head_timeout, Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn head_timeout(mut self, timeout: Duration) -> Self {
        self.head_timeout = timeout;
        self
    }

    /// Sets [`max_connections`](Self::max_connections).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_connections(1000);
    /// assert_eq!(config.max_connections, 1000);
    /// ```
    #[must_use]
    pub fn max_connections(mut self, connections: usize) -> Self {
        self.max_connections = connections;
        self
    }

    /// Sets [`max_listeners`](Self::max_listeners).
    ///
    /// ```
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().max_listeners(500);
    /// assert_eq!(config.max_listeners, 500);
    /// ```
    #[must_use]
    pub fn max_listeners(mut self, streams: usize) -> Self {
        self.max_listeners = streams;
        self
    }

    /// Sets [`write_timeout`](Self::write_timeout).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::HttpConfig;
    ///
    /// let config = HttpConfig::default().write_timeout(Duration::from_secs(10));
    /// assert_eq!(config.write_timeout, Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets [`streams`](Self::streams).
    ///
    /// ```
    /// use trueform::{HttpConfig, transport::http::Streams};
    ///
    /// let config = HttpConfig::default().streams(Streams::Never);
    /// assert_eq!(config.streams, Streams::Never);
    /// ```
    #[must_use]
    pub fn streams(mut self, streams: Streams) -> Self {
        self.streams = streams;
        self
    }

    /// Sets [`event_store`](Self::event_store).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use trueform::{HttpConfig, store::MemoryEventStore};
    ///
    /// let store = MemoryEventStore::new().total_bytes(16 << 20);
    /// let config = HttpConfig::default().event_store(Some(Arc::new(store)));
    /// assert!(config.event_store.is_some());
    /// ```
    #[must_use]
    pub fn event_store(mut self, store: Option<Arc<dyn EventStore>>) -> Self {
        self.event_store = store;
        self
    }

    /// Sets [`session_store`](Self::session_store).
    ///
    /// ```
    /// use std::sync::Arc;
    /// use trueform::{HttpConfig, store::MemorySessionStore};
    ///
    /// let config = HttpConfig::default().session_store(Some(Arc::new(MemorySessionStore::new())));
    /// assert!(config.session_store.is_some());
    /// ```
    #[must_use]
    pub fn session_store(mut self, store: Option<Arc<dyn SessionStore>>) -> Self {
        self.session_store = store;
        self
    }

    /// Returns the settings with which no request could be served. For the other settings, zero has a meaning.
    pub(crate) fn problems(&self) -> impl Iterator<Item = String> {
        let bounds = [
            ("max_body", self.max_body),
            ("max_in_flight", self.max_in_flight),
            ("max_sessions", self.max_sessions),
            ("max_session_bytes", self.max_session_bytes),
            ("max_head", self.max_head),
            ("max_connections", self.max_connections),
        ];
        let times = [
            ("body_timeout", self.body_timeout),
            ("session_idle", self.session_idle),
            ("head_timeout", self.head_timeout),
        ];
        let bounds = bounds.into_iter().filter(|(_, bound)| *bound == 0);
        let bounds = bounds.map(|(setting, _)| (setting, "at least 1"));
        let times = times.into_iter().filter(|(_, time)| time.is_zero());
        let times = times.map(|(setting, _)| (setting, "a longer time"));
        bounds.chain(times).map(|(setting, expected)| {
            format!("`HttpConfig::{setting}` is zero; expected {expected}")
        })
    }
}
