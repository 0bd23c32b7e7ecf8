//! The builder of a server: its name, its features, and its settings.

mod asks;
mod definition_name;
mod handle;
#[cfg(feature = "http")]
mod http;
mod lint;
mod loss;
mod offers;
mod plugin;
mod run;
mod settings;
mod stream;
mod tasks;
mod unusable;
#[cfg(not(feature = "http"))]
mod without_http;

use std::{any::Any, any::TypeId, collections::HashMap, fmt, sync::Arc, time::Duration};

use trueform_schema::{Icon, Implementation, Revisions, violations};

use crate::{
    engine::Engine,
    error::{Error, Result},
    feature::{
        Features,
        completion::Completions,
        extension::{Extensions, RegisteredExtension},
        layer::CallLayer,
        prompts::{PromptSet, Prompts},
        resources::{ResourceSet, Resources},
        tasks::{TaskSettings, Tasks, registered},
        tools::{SchemaSettings, ToolSet, Tools},
        visibility::{OfferKind, Visibility},
    },
    gate::{Inbound, Policy},
    host::{AskSettings, Settings},
    seal::{KEY_BYTES, Keys},
};

use self::settings::ListCaching;
pub use self::{
    asks::{
        DEFAULT_ASK_EXPIRY, DEFAULT_ASK_ROUNDS, DEFAULT_ASK_STATE, DEFAULT_ASK_TIMEOUT,
        DEFAULT_MAX_ASKS, DEFAULT_MAX_SESSION_ASKS,
    },
    definition_name::DefinitionName,
    handle::ServerHandle,
    lint::LintFinding,
    loss::{Loss, LossRule},
    plugin::Plugin,
};

/// Items per page of a list, such as `tools/list`, unless [`Server::page_size`] sets another number. Few clients ask for a second
/// page, so it is large.
pub const DEFAULT_PAGE_SIZE: usize = 1000;

/// Maximum number of calls that one session or stdio connection may run at once, unless [`Server::max_in_flight`] sets another.
pub const DEFAULT_MAX_IN_FLIGHT: usize = 1024;

/// Most work of one check against the schema of a tool, in [steps](crate::check::Steps), unless [`Server::max_check_steps`] says
/// otherwise.
pub const DEFAULT_MAX_CHECK_STEPS: u64 = crate::check::MAX_STEPS;

/// Bytes of messages that may wait for their clients to read them before calls are refused, unless [`Server::max_unread`] sets
/// another number: 256 MiB.
pub const DEFAULT_MAX_UNREAD: usize = 256 << 20;

/// Builder of a server.
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
/// # async fn run() -> trueform::Result {
/// let server = Server::new("calc", "1.0.0").tools(tools![add]);
/// server.run().await
/// # }
/// ```
#[must_use = "a server does nothing until it is run"]
pub struct Server {
    info: Implementation,
    instructions: Option<String>,
    tools: ToolSet,
    has_tools: bool,
    prompts: PromptSet,
    has_prompts: bool,
    resources: ResourceSet,
    has_resources: bool,
    extensions: Vec<RegisteredExtension>,
    layers: Vec<Arc<dyn CallLayer>>,
    visibility: Visibility,
    states: HashMap<TypeId, Arc<dyn Any + Send + Sync>>,
    /// The names of the types of `states`, for messages.
    state_names: HashMap<TypeId, &'static str>,
    revisions: Revisions,
    schemas: SchemaSettings,
    page_size: usize,
    list_caching: ListCaching,
    max_in_flight: usize,
    ask: AskSettings,
    /// `None` for a random key.
    ask_keys: Option<Vec<[u8; KEY_BYTES]>>,
    max_unread: usize,
    max_check_steps: u64,
    outgoing: Policy,
    incoming: Inbound,
    progress_interval: Duration,
    tasks: Option<TaskSettings>,
    #[cfg(feature = "http")]
    http: crate::transport::http::HttpConfig,
    problems: Vec<String>,
}

impl Server {
    /// Creates a server called `name`, with its own `version`. Both are sent to every client.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            info: Implementation::new(name, version),
            instructions: None,
            tools: ToolSet::new(),
            has_tools: false,
            prompts: PromptSet::new(),
            has_prompts: false,
            resources: ResourceSet::new(),
            has_resources: false,
            extensions: Vec::new(),
            layers: Vec::new(),
            visibility: Visibility::default(),
            states: HashMap::new(),
            state_names: HashMap::new(),
            revisions: Revisions::ALL,
            schemas: SchemaSettings::default(),
            page_size: DEFAULT_PAGE_SIZE,
            list_caching: ListCaching::default(),
            max_in_flight: DEFAULT_MAX_IN_FLIGHT,
            ask: asks::usual(),
            ask_keys: None,
            max_unread: DEFAULT_MAX_UNREAD,
            max_check_steps: DEFAULT_MAX_CHECK_STEPS,
            outgoing: Policy::Enforce,
            incoming: Inbound::default(),
            progress_interval: Duration::ZERO,
            tasks: None,
            #[cfg(feature = "http")]
            http: crate::transport::http::HttpConfig::default(),
            problems: Vec::new(),
        }
    }

    /// Sets the display name. A second call replaces the first, as for the other settings here.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").title("Calculator");
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Sets the description of the server, a sentence for users.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").description("Adds and subtracts.");
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the instructions on how to use the server, for the model.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").instructions("Call `add` for sums; numbers are integers of 64 bits.");
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the URL of a page about the server.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let server = Server::new("calc", "1.0.0").website_url("https://calc.example.com");
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Sets the icons of the server.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::Icon};
    ///
    /// let server = Server::new("calc", "1.0.0").icons([Icon::new("https://calc.example.com/icon.png")]);
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = Some(icons.into_iter().collect());
        self
    }

    /// Checks everything that was registered.
    ///
    /// # Errors
    /// All problems together: duplicate or illegal names, schemas that no client would understand, missing state of a function, items that
    /// a revision cannot list, URI templates that match the same URIs or differ from the parameters of their function, two registered
    /// values of the same type, no revision to serve, and settings of zero or empty texts with which nothing could be served.
    pub fn build(mut self) -> Result<Service> {
        let mut problems = std::mem::take(&mut self.problems);
        problems.extend(unusable::problems(&self));
        let caching = |list| self.list_caching.of(list);
        let tools = Tools::build(
            self.tools,
            self.schemas,
            (self.page_size, caching(OfferKind::Tool)),
            &self.states,
            self.revisions,
            &mut problems,
        );
        let prompts = Prompts::build(
            self.prompts,
            self.schemas.compile,
            (self.page_size, caching(OfferKind::Prompt)),
            &self.states,
            self.revisions,
            &mut problems,
        );
        let resources = Resources::build(
            self.resources,
            self.schemas.compile,
            (
                self.page_size,
                [OfferKind::Resource, OfferKind::ResourceTemplate].map(caching),
            ),
            !self.visibility.is_unlimited(),
            &self.states,
            self.revisions,
            &mut problems,
        );
        if !self.visibility.is_unlimited() {
            problems.extend(self.list_caching.public());
        }
        let has_tasks = self.tasks.is_some() || (self.has_tools && tools.have_tasks());
        let tasks = has_tasks.then(|| Tasks::new(self.tasks.unwrap_or_default(), self.page_size));
        match tasks.as_ref().map(registered) {
            Some(Ok(extension)) => self.extensions.push(extension),
            Some(Err(problem)) => problems.push(problem),
            None => {}
        }
        let extensions = Extensions::build(self.extensions, &mut problems);
        problems.extend(unfit_info(&self.info, self.revisions));
        if self.ask_keys.as_ref().is_some_and(Vec::is_empty) {
            problems.push("`ask_keys` needs at least one key".to_owned());
        }
        if self.revisions.is_empty() {
            problems.push("`revisions` leaves no revision to serve".to_owned());
        }
        if !problems.is_empty() {
            return Err(Error::registration(problems));
        }
        if cfg!(panic = "abort") {
            tracing::warn!(
                "built with `panic = \"abort\"`: a tool that panics ends the whole server"
            );
        }
        let settings = Settings {
            info: self.info,
            instructions: self.instructions,
            revisions: self.revisions,
            max_in_flight: self.max_in_flight,
            ask: match &self.ask_keys {
                None => self.ask,
                Some(keys) => AskSettings {
                    keys: Keys::new(keys),
                    ..self.ask
                },
            },
            max_unread: self.max_unread,
            max_check_steps: self.max_check_steps,
            outgoing: self.outgoing,
            incoming: self.incoming,
            progress_interval: self.progress_interval,
        };
        let completes = prompts.completes() || resources.completes();
        let features = Features {
            tools: self.has_tools.then_some(tools),
            completions: completes.then_some(Completions),
            prompts: self.has_prompts.then_some(prompts),
            resources: self.has_resources.then_some(resources),
            tasks,
            extensions,
        };
        let service = Service {
            engine: Engine::new(
                settings,
                self.states,
                features,
                self.layers,
                self.visibility,
            ),
            #[cfg(feature = "http")]
            http: Arc::new(self.http),
        };
        lint::log_lint(&service.engine, |_| true);
        loss::log_losses(&service.engine, |_| true);
        Ok(service)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.info)
            .finish_non_exhaustive()
    }
}

/// A checked server, which can be served on several transports at once. Clones refer to the same server.
#[derive(Clone, Debug)]
pub struct Service {
    pub(crate) engine: Engine,
    #[cfg(feature = "http")]
    pub(crate) http: Arc<crate::transport::http::HttpConfig>,
}

impl Service {
    /// Returns a handle to the running server, to change its features.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        ServerHandle::new(self.engine.clone())
    }
}

/// Returns the problems of `info`, which is sent with the handshake or with every result, at `revisions` that do not allow a part of it.
fn unfit_info(info: &Implementation, revisions: Revisions) -> Vec<String> {
    let found = revisions
        .iter()
        .flat_map(|revision| violations(info, revision));
    found
        .map(|violation| {
            let revision = violation.revision();
            format!("the identity of the server cannot be sent at {revision}: {violation}")
        })
        .collect()
}
