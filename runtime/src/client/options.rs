//! How a client introduces itself, which revisions it speaks and how long it waits.

use std::{fmt, sync::Arc, time::Duration};

use trueform_schema::{ClientCapabilities, Implementation, JsonObject, Revision};

use super::{
    cache::CacheLimits, handler::ClientHandler, profile::ServerProfile, retry::RetryPolicy,
};
use crate::{
    gate::{Inbound, Leniencies, Policy},
    principal::Principal,
};

/// How a [`Client`](super::Client) connects.
///
/// A bound or a time of zero keeps the client from connecting ([`LocalError::Settings`](super::LocalError::Settings)), except where a
/// setting says what zero means.
///
/// ```
/// use std::time::Duration;
/// use trueform::client::{ClientOptions, Negotiation};
/// use trueform::schema::Revision;
///
/// let old = ClientOptions::new()
///     .negotiation(Negotiation::Exactly(Revision::V2025_06_18))
///     .timeout(Duration::from_secs(5));
/// # let _ = old;
/// ```
#[derive(Clone)]
pub struct ClientOptions {
    pub(super) info: Implementation,
    pub(super) capabilities: ClientCapabilities,
    pub(super) negotiation: Negotiation,
    pub(super) profile: Option<ServerProfile>,
    pub(super) timeout: Duration,
    pub(super) longest: Duration,
    pub(super) reset_by_progress: bool,
    pub(super) probe_timeout: Duration,
    pub(super) max_message: usize,
    pub(super) write_timeout: Duration,
    pub(super) max_in_flight: usize,
    pub(super) max_queued: usize,
    pub(super) retry: Option<RetryPolicy>,
    pub(super) cache: Option<CacheLimits>,
    pub(super) outgoing: Policy,
    pub(super) incoming: Inbound,
    pub(super) handler: Arc<dyn ClientHandler>,
    pub(super) has_handler: bool,
    pub(super) principal: Option<Principal>,
}

/// How the revision of a connection is found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Negotiation {
    /// Sends `server/discover`. If the server does not know this method, the client uses the legacy era.
    #[default]
    Automatic,
    /// Speaks only this revision. If the server answers with another one, the client does not connect.
    Exactly(Revision),
    /// Offers this legacy revision by `initialize` and takes whichever legacy revision the server answers with.
    Offer(Revision),
    /// Sends nothing at all on its own: no handshake, no `_meta`, no answers to the server's requests. For tests that write
    /// every message themselves. Typed requests are encoded at the latest revision.
    Nothing,
}

impl ClientOptions {
    /// Longest wait for an answer by default.
    pub const DEFAULT_TIMEOUT: Duration = Duration::from_secs(60);
    /// Longest wait by default for a request whose progress keeps resetting the clock.
    pub const DEFAULT_LONGEST: Duration = Duration::from_secs(600);
    /// Longest wait by default for the answer to `server/discover` before the server is taken for a legacy one.
    pub const DEFAULT_PROBE_TIMEOUT: Duration = Duration::from_secs(5);
    /// How long the server may take nothing of what is written to it by default: 60 s.
    pub const DEFAULT_WRITE_TIMEOUT: Duration = crate::transport::patience::DEFAULT_WRITE_TIMEOUT;
    /// Longest message that is taken from the server by default, in bytes: 64 MiB.
    pub const DEFAULT_MAX_MESSAGE: usize = 64 << 20;
    /// Most requests that wait for their answers at once by default: 1,024.
    pub const DEFAULT_MAX_IN_FLIGHT: usize = 1024;
    /// Most requests that wait to be sent by default: 16,384.
    pub const DEFAULT_MAX_QUEUED: usize = 16_384;
    /// Most requests of a server that the [handler](Self::handler) works on at once; further ones are refused (-32603).
    pub const MOST_QUESTIONS: usize = 64;

    /// The defaults: automatic negotiation, no capabilities, the timeouts above.
    #[must_use]
    pub fn new() -> Self {
        Self {
            info: Implementation::new("trueform-client", env!("CARGO_PKG_VERSION")),
            capabilities: ClientCapabilities::default(),
            negotiation: Negotiation::Automatic,
            profile: None,
            timeout: Self::DEFAULT_TIMEOUT,
            longest: Self::DEFAULT_LONGEST,
            reset_by_progress: false,
            probe_timeout: Self::DEFAULT_PROBE_TIMEOUT,
            max_message: Self::DEFAULT_MAX_MESSAGE,
            write_timeout: Self::DEFAULT_WRITE_TIMEOUT,
            max_in_flight: Self::DEFAULT_MAX_IN_FLIGHT,
            max_queued: Self::DEFAULT_MAX_QUEUED,
            retry: None,
            cache: None,
            outgoing: Policy::Enforce,
            incoming: Inbound::default(),
            handler: Arc::new(super::handler::NoHandler),
            has_handler: false,
            principal: None,
        }
    }

    /// Defaults, speaking `revision` and no other.
    #[must_use]
    pub fn at(revision: Revision) -> Self {
        Self::new().negotiation(Negotiation::Exactly(revision))
    }

    /// What the client calls itself.
    ///
    /// ```
    /// use trueform::{client::ClientOptions, schema::Implementation};
    ///
    /// let options = ClientOptions::new().info(Implementation::new("editor", "2.1.0"));
    /// ```
    #[must_use]
    pub fn info(mut self, info: Implementation) -> Self {
        self.info = info;
        self
    }

    /// Who the client is for a server in the same process ([`Server::connect_as`](crate::Server::connect_as)), as if a layer had
    /// authenticated it. Over [other streams](super::Client::over) the server's side says who its peer is.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// use trueform::client::ClientOptions;
    ///
    /// /// Greets the caller.
    /// #[tool]
    /// fn greet(caller: Principal) -> String {
    ///     format!("Hello, {}", caller.subject())
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let ada = ClientOptions::new().principal(Principal::new("ada"));
    /// let client = Server::new("hello", "1.0.0").tools(tools![greet]).connect_as(ada).await?;
    /// assert_eq!(client.call_tool("greet", ()).await?.text(), "Hello, ada");
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn principal(mut self, principal: Principal) -> Self {
        self.principal = Some(principal);
        self
    }

    /// What the client declares it can do. Goes with a [`handler`](Self::handler) that does it.
    ///
    /// What the revision does not have is left out: extensions before 2025-11-25, and `io.modelcontextprotocol/tasks` in the
    /// whole legacy era.
    ///
    /// ```
    /// use trueform::{client::ClientOptions, schema::ClientCapabilities};
    ///
    /// # fn main() -> Result<(), serde_json::Error> {
    /// let capabilities: ClientCapabilities = serde_json::from_str(r#"{"roots":{}}"#)?;
    /// let options = ClientOptions::new().capabilities(capabilities);
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn capabilities(mut self, capabilities: ClientCapabilities) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// Declares the extension `identifier`, without settings, beside the [`capabilities`](Self::capabilities) that are set already.
    ///
    /// ```
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().extension("io.modelcontextprotocol/tasks");
    /// # let _ = options;
    /// ```
    #[must_use]
    pub fn extension(mut self, identifier: impl Into<String>) -> Self {
        let extensions = self.capabilities.extensions.get_or_insert_default();
        extensions.insert(identifier.into(), JsonObject::empty());
        self
    }

    /// How the revision is found.
    ///
    /// ```
    /// use trueform::{client::{ClientOptions, Negotiation}, schema::Revision};
    ///
    /// let options = ClientOptions::new().negotiation(Negotiation::Offer(Revision::V2025_06_18));
    /// ```
    #[must_use]
    pub fn negotiation(mut self, negotiation: Negotiation) -> Self {
        self.negotiation = negotiation;
        self
    }

    /// What an earlier connection to the server found out: [`Client::profile`](super::Client::profile). With [`Negotiation::Automatic`],
    /// the client offers a legacy revision of the profile in `initialize`, without a probe. If the server refuses it, the client sends
    /// the probe after all. A server of the modern era always gets `server/discover`, because the result has its capabilities.
    ///
    /// ```
    /// use trueform::{client::{ClientOptions, ServerProfile}, schema::Revision};
    ///
    /// let options = ClientOptions::new().profile(ServerProfile::new(Revision::V2025_11_25));
    /// ```
    // D-10
    #[must_use]
    pub fn profile(mut self, profile: ServerProfile) -> Self {
        self.profile = Some(profile);
        self
    }

    /// Longest wait for an answer. A call can set its own.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().timeout(Duration::from_secs(5));
    /// ```
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Starts the clock of a request anew whenever its progress is reported, up to `longest` in all.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().reset_by_progress(Duration::from_secs(600));
    /// ```
    #[must_use]
    pub fn reset_by_progress(mut self, longest: Duration) -> Self {
        self.reset_by_progress = true;
        self.longest = longest;
        self
    }

    /// Longest wait for the answer to `server/discover` before the server is taken for a legacy one.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().probe_timeout(Duration::from_secs(1));
    /// ```
    #[must_use]
    pub fn probe_timeout(mut self, timeout: Duration) -> Self {
        self.probe_timeout = timeout;
        self
    }

    /// Longest message taken from the server, in bytes; longer ones are skipped and logged.
    /// [`DEFAULT_MAX_MESSAGE`](Self::DEFAULT_MAX_MESSAGE) unless this is called.
    ///
    /// ```
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().max_message(1 << 20);
    /// ```
    #[must_use]
    pub fn max_message(mut self, bytes: usize) -> Self {
        self.max_message = bytes;
        self
    }

    /// Sets how long the server may take nothing of what is written to it; zero: for ever. Then the connection ends, and what waits
    /// for an answer ends with [`LocalError::Closed`](super::LocalError::Closed). [`DEFAULT_WRITE_TIMEOUT`](Self::DEFAULT_WRITE_TIMEOUT)
    /// unless this is called.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().write_timeout(Duration::from_secs(10));
    /// ```
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.write_timeout = timeout;
        self
    }

    /// Sets how many requests may wait for their answers at once. Further ones wait to be sent, in order, which counts as part of
    /// their time; one that runs out of it ends with [`LocalError::NotSent`](super::LocalError::NotSent). Subscriptions, the
    /// handshake and notifications are not counted. [`DEFAULT_MAX_IN_FLIGHT`](Self::DEFAULT_MAX_IN_FLIGHT) unless this is called.
    ///
    /// ```
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().max_in_flight(16);
    /// ```
    #[must_use]
    pub fn max_in_flight(mut self, requests: usize) -> Self {
        self.max_in_flight = requests;
        self
    }

    /// Sets how many requests may wait to be sent because [`max_in_flight`](Self::max_in_flight) of them wait for answers; zero: none.
    /// Further ones end at once with [`LocalError::QueueFull`](super::LocalError::QueueFull).
    /// [`DEFAULT_MAX_QUEUED`](Self::DEFAULT_MAX_QUEUED) unless this is called.
    ///
    /// ```
    /// use trueform::client::ClientOptions;
    ///
    /// let options = ClientOptions::new().max_in_flight(16).max_queued(256);
    /// ```
    #[must_use]
    pub fn max_queued(mut self, requests: usize) -> Self {
        self.max_queued = requests;
        self
    }

    /// Sends requests that have no effect again if they got no response. Off unless this is called.
    ///
    /// ```
    /// use trueform::client::{ClientOptions, RetryPolicy};
    ///
    /// let options = ClientOptions::new().retry(RetryPolicy::attempts(3));
    /// ```
    #[must_use]
    pub fn retry(mut self, policy: RetryPolicy) -> Self {
        self.retry = Some(policy);
        self
    }

    /// Keeps results of lists and of `resources/read` for as long as the server says (`ttlMs`, since 2026-07-28), or until it says that they have
    /// changed, and answers the same request with them. Results of calls that answered questions are not kept. What is kept is this
    /// client's alone, whatever its `cacheScope`: a client has one authorization context.
    ///
    /// Off unless this is called, because a client that does not [`listen`](super::Client::listen) for changes may then see what was
    /// true up to `ttlMs` ago.
    ///
    /// ```
    /// use trueform::client::{CacheLimits, ClientOptions};
    ///
    /// let options = ClientOptions::new().cache(CacheLimits::new().entries(64).bytes(1 << 20));
    /// # let _ = options;
    /// ```
    // V-1 to V-6, V-9
    #[must_use]
    pub fn cache(mut self, limits: CacheLimits) -> Self {
        self.cache = Some(limits);
        self
    }

    /// How to treat messages to the server that the revision does not allow. [`Policy::Enforce`] by default: they fail
    /// with [`LocalError::NotAllowed`](super::LocalError::NotAllowed) and do not leave. Off with [`Negotiation::Nothing`].
    ///
    /// ```
    /// use trueform::{Policy, client::ClientOptions};
    ///
    /// let options = ClientOptions::new().outgoing(Policy::Warn);
    /// ```
    #[must_use]
    pub fn outgoing(mut self, policy: Policy) -> Self {
        self.outgoing = policy;
        self
    }

    /// How to treat messages from the server that the revision does not allow, apart from the [accepted deviations](Self::lenient).
    /// [`Policy::Enforce`] by default.
    ///
    /// ```
    /// use trueform::{Policy, client::ClientOptions};
    ///
    /// let options = ClientOptions::new().incoming(Policy::Warn);
    /// ```
    #[must_use]
    pub fn incoming(mut self, policy: Policy) -> Self {
        self.incoming.policy = policy;
        self
    }

    /// The deviations from the specification that the client accepts. [`Leniencies::ALL`] by default.
    ///
    /// ```
    /// use trueform::{Leniencies, Leniency, client::ClientOptions};
    ///
    /// let strict = Leniencies::ALL.without(Leniency::UnknownMembers);
    /// let options = ClientOptions::new().lenient(strict);
    /// ```
    #[must_use]
    pub fn lenient(mut self, leniencies: Leniencies) -> Self {
        self.incoming.leniencies = leniencies;
        self
    }

    /// Sets the handler that answers the server's questions. A server asks only what the [`capabilities`](Self::capabilities) declare:
    /// if they are empty, the log has a warning when the client connects.
    ///
    /// ```
    /// use trueform::{client::{Answering, ClientHandler, ClientOptions}, schema::Json};
    ///
    /// /// Has no roots.
    /// struct NoRoots;
    ///
    /// impl ClientHandler for NoRoots {
    ///     fn answer(&self, _method: &str, _params: Option<Json>) -> Answering<'_> {
    ///         let roots = serde_json::json!({ "roots": [] });
    ///         Box::pin(std::future::ready(Ok(Json::from(roots))))
    ///     }
    /// }
    ///
    /// let options = ClientOptions::new().handler(NoRoots);
    /// ```
    #[must_use]
    pub fn handler(mut self, handler: impl ClientHandler + 'static) -> Self {
        self.handler = Arc::new(handler);
        self.has_handler = true;
        self
    }
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ClientOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientOptions")
            .field("info", &self.info)
            .field("capabilities", &self.capabilities)
            .field("negotiation", &self.negotiation)
            .field("timeout", &self.timeout)
            .finish_non_exhaustive()
    }
}
