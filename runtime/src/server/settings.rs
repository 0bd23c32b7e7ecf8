//! The settings of a server, apart from its identity and its features.

use std::time::Duration;

use trueform_schema::Revision;

use super::Server;
use crate::{
    feature::{caching::Caching, tasks::TaskSettings, visibility::OfferKind},
    gate::{Leniencies, Policy},
    lint::Profile,
};

/// How long clients may cache each list.
#[derive(Debug, Default)]
pub(super) struct ListCaching {
    /// For the lists without their own setting.
    usual: Caching,
    own: Vec<(OfferKind, Caching)>,
}

impl ListCaching {
    pub(super) fn of(&self, list: OfferKind) -> Caching {
        let own = self.own.iter().find(|(kind, _)| *kind == list);
        own.map_or(self.usual, |(_, caching)| *caching)
    }

    /// Returns the problems with public lists of a server that does not show everything to every caller (V-10).
    pub(super) fn public(&self) -> impl Iterator<Item = String> {
        let usual = self.usual.is_public().then(|| "`list_caching`".to_owned());
        let own = self.own.iter().filter(|(_, caching)| caching.is_public());
        let own = own.map(|(list, _)| format!("`list_caching_of({list:?}, …)`"));
        usual.into_iter().chain(own).map(|what| {
            format!("{what} is public, but `Server::visible` limits who sees what is listed")
        })
    }
}

impl Server {
    /// Sets the served revisions of the specification. Default: all of them.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::Revision};
    ///
    /// let server = Server::new("calc", "1.0.0").revisions([Revision::V2025_11_25, Revision::V2026_07_28]);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.revisions = revisions.into_iter().collect();
        self
    }

    /// Sets how the schemas of tools without their own profile are advertised. The advertised schema is the one that is
    /// enforced, except for `null` in place of optional arguments, which is accepted in each profile. Default:
    /// [`Profile::Portable`] for functions marked `#[tool]`, [`Profile::AsWritten`] for every [`DynamicTool`](crate::DynamicTool).
    ///
    /// ```
    /// use trueform::{Profile, prelude::*};
    ///
    /// let server = Server::new("calc", "1.0.0").profile(Profile::AsWritten);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn profile(mut self, profile: Profile) -> Self {
        self.schemas.profile = Some(profile);
        self
    }

    /// Sets the maximum size of each compiled `pattern` in the schemas of tools, in bytes of memory. A larger one is an error of
    /// [`build`](Self::build). Default: [`DEFAULT_MAX_PATTERN_SIZE`](crate::check::DEFAULT_MAX_PATTERN_SIZE).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").max_pattern_size(64 << 10);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn max_pattern_size(mut self, bytes: usize) -> Self {
        self.schemas.compile = self.schemas.compile.max_pattern_size(bytes);
        self
    }

    /// Sets the number of items on a page of each list, such as `tools/list`, at least 1. Default: [`DEFAULT_PAGE_SIZE`](crate::DEFAULT_PAGE_SIZE).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> i64 {
    ///     a + b
    /// }
    ///
    /// /// Subtract two numbers.
    /// #[tool]
    /// fn subtract(a: i64, b: i64) -> i64 {
    ///     a - b
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new("calc", "1.0.0").tools(tools![add, subtract]).page_size(1);
    /// // The typed client follows the pages.
    /// assert_eq!(server.connect().await?.list_tools().await?.len(), 2);
    /// # Ok(())
    /// # }
    /// ```
    pub fn page_size(mut self, items: usize) -> Self {
        self.page_size = items;
        self
    }

    /// Sets how long clients of 2026-07-28 may cache the server's lists. A notification that a list has changed ends this time earlier.
    /// Default: not at all.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::{prelude::*, resource::Caching};
    ///
    /// let server = Server::new("calc", "1.0.0").list_caching(Caching::private(Duration::from_secs(60)));
    /// # assert!(server.build().is_ok());
    /// ```
    // V-1, V-8
    pub fn list_caching(mut self, caching: Caching) -> Self {
        self.list_caching.usual = caching;
        self
    }

    /// Sets the same only for the list of `kind`. It has precedence over [`list_caching`](Self::list_caching), whichever is called first.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::{prelude::*, resource::Caching, visibility::OfferKind};
    ///
    /// let server = Server::new("shop", "1.0.0")
    ///     .list_caching(Caching::private(Duration::from_secs(60)))
    ///     .list_caching_of(OfferKind::Tool, Caching::public(Duration::from_secs(3600)));
    /// # server.build().unwrap();
    /// ```
    // V-1, V-8
    pub fn list_caching_of(mut self, kind: OfferKind, caching: Caching) -> Self {
        let own = &mut self.list_caching.own;
        own.retain(|(list, _)| *list != kind);
        own.push((kind, caching));
        self
    }

    /// Sets the maximum number of calls that one session or stdio connection may run at once, at least 1. Default:
    /// [`DEFAULT_MAX_IN_FLIGHT`](crate::DEFAULT_MAX_IN_FLIGHT).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").max_in_flight(64);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn max_in_flight(mut self, calls: usize) -> Self {
        self.max_in_flight = calls;
        self
    }

    /// Sets how many bytes of messages may wait for their clients to read them, over all connections and transports, at least 1.
    /// While this limit is reached, calls are refused, and so are requests whose responses would be counted: -32603, over HTTP with status
    /// 503 and `Retry-After`. Responses, notifications, `ping` and other short messages are still accepted.
    ///
    /// A message of at least 4 KiB counts from the moment at which it is passed to a transport until all of its bytes are written or its
    /// connection has ended. Calls that already run still get their responses, so the memory of responses is limited by this number and one
    /// response for each call that may run. Default: [`DEFAULT_MAX_UNREAD`](crate::DEFAULT_MAX_UNREAD).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").max_unread(64 << 20);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn max_unread(mut self, bytes: usize) -> Self {
        self.max_unread = bytes;
        self
    }

    /// Sets the maximum work of the check of one call's arguments against the input schema of its tool, and of its result against the
    /// output schema, in [steps](crate::check::Steps): about one for each value and each schema that is applied to it. If arguments need
    /// more, the response is a result with `isError`; a result that needs more is not sent (-32603). The message about invalid arguments
    /// may take the same work again. The part of a check of arguments beyond 50,000 steps runs on a thread for blocking work. For schemas
    /// that need the feature `json-schema`, only the number of values is limited. Default:
    /// [`DEFAULT_MAX_CHECK_STEPS`](crate::DEFAULT_MAX_CHECK_STEPS).
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").max_check_steps(100_000);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn max_check_steps(mut self, steps: u64) -> Self {
        self.max_check_steps = steps;
        self
    }

    /// Sets the shortest time between two progress reports of one call. Of earlier reports, only the last is kept: it is sent when the time
    /// is over, and always before the response. A report that reaches its total is sent at once. Default: no limit.
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").progress_interval(Duration::from_millis(200));
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn progress_interval(mut self, interval: Duration) -> Self {
        self.progress_interval = interval;
        self
    }

    /// Sets how tasks are kept and limited. Without this, a server has the defaults if one of its tools is marked `#[tool(task = …)]`,
    /// otherwise it has no tasks. Call this if you add such tools later. See [`task`](crate::task).
    ///
    /// ```
    /// use trueform::{prelude::*, task::TaskSettings};
    ///
    /// let server = Server::new("calc", "1.0.0").tasks(TaskSettings::new().max_running(100, 10));
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn tasks(mut self, settings: TaskSettings) -> Self {
        self.tasks = Some(settings);
        self
    }

    /// Sets the treatment of messages to a client that its revision does not allow. Default: [`Policy::Enforce`].
    ///
    /// ```
    /// use trueform::{Policy, prelude::*};
    ///
    /// let server = Server::new("calc", "1.0.0").outgoing(Policy::Warn);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn outgoing(mut self, policy: Policy) -> Self {
        self.outgoing = policy;
        self
    }

    /// Sets the treatment of messages from a client that its revision does not allow, apart from [allowed
    /// deviations](Self::lenient). Default: [`Policy::Enforce`].
    ///
    /// ```
    /// use trueform::{Policy, prelude::*};
    ///
    /// let server = Server::new("calc", "1.0.0").incoming(Policy::Warn);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn incoming(mut self, policy: Policy) -> Self {
        self.incoming.policy = policy;
        self
    }

    /// Sets the deviations from the specification that clients may have. Default: [`Leniencies::ALL`].
    ///
    /// ```
    /// use trueform::{Leniencies, Leniency, prelude::*};
    ///
    /// let strict = Server::new("calc", "1.0.0").lenient(Leniencies::ALL.without(Leniency::UnknownMembers));
    /// # let _ = strict;
    /// ```
    pub fn lenient(mut self, leniencies: Leniencies) -> Self {
        self.incoming.leniencies = leniencies;
        self
    }

    /// Sets whether every message is read by the careful reader.
    #[cfg(feature = "testing")]
    pub(crate) fn carefully(mut self, is_careful: bool) -> Self {
        self.incoming.is_careful = is_careful;
        self
    }

    /// Sets how the server is served over HTTP.
    ///
    /// ```
    /// use trueform::{HttpConfig, prelude::*};
    ///
    /// let config = HttpConfig::default().allowed_hosts(["tools.example.com"]);
    /// let server = Server::new("calc", "1.0.0").http(config);
    /// # assert!(server.build().is_ok());
    /// ```
    #[cfg(feature = "http")]
    pub fn http(mut self, config: crate::transport::http::HttpConfig) -> Self {
        self.http = config;
        self
    }
}
