//! The builder of a server: its name, its features, and its settings.

mod asks;
mod definition_name;
mod handle;
#[cfg(feature = "http")]
mod http;
mod lint;
mod loss;
mod plugin;
mod run;
mod settings;
mod stream;
mod tasks;
#[cfg(not(feature = "http"))]
mod without_http;

use std::{any::Any, any::TypeId, collections::HashMap, fmt, sync::Arc, time::Duration};

use trueform_schema::{Icon, Implementation, JsonObject, Revisions, methods::Methods, violations};

use crate::{
    engine::Engine,
    error::{Error, Result},
    exchange::Context,
    feature::{
        Features,
        caching::Caching,
        completion::Completions,
        extension::{Extensions, RegisteredExtension},
        layer::CallLayer,
        methods::{FeatureSets, IntoFeatures},
        prompts::{IntoPrompts, PromptSet, Prompts},
        resources::{IntoResources, ResourceSet, Resources},
        tasks::{TaskSettings, Tasks, registered},
        tools::{IntoTools, SchemaSettings, ToolSet, Tools},
        visibility::{Offer, Viewer, Visibility},
    },
    gate::{Inbound, Policy},
    host::{AskSettings, Settings},
    seal::{KEY_BYTES, Keys},
};

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
    revisions: Revisions,
    schemas: SchemaSettings,
    page_size: usize,
    list_caching: Caching,
    max_in_flight: usize,
    ask: AskSettings,
    /// `None` for one that is drawn.
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
    /// A server called `name`, with its own `version`. Both are sent to every client.
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
            revisions: Revisions::ALL,
            schemas: SchemaSettings::default(),
            page_size: DEFAULT_PAGE_SIZE,
            list_caching: Caching::default(),
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
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.info.title = Some(title.into());
        self
    }

    /// Sets the description of the server, a sentence for users.
    pub fn description(mut self, description: impl Into<String>) -> Self {
        self.info.description = Some(description.into());
        self
    }

    /// Sets the instructions on how to use the server, for the model.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the URL of a page about the server.
    pub fn website_url(mut self, url: impl Into<String>) -> Self {
        self.info.website_url = Some(url.into());
        self
    }

    /// Sets the icons of the server.
    pub fn icons(mut self, icons: impl IntoIterator<Item = Icon>) -> Self {
        self.info.icons = Some(icons.into_iter().collect());
        self
    }

    /// Adds tools: a [`tools!`](crate::tools) list, a value whose `impl` is marked `#[server]`, a
    /// [`DynamicTool`](crate::DynamicTool). The capability is declared even for an empty set.
    pub fn tools(mut self, tools: impl IntoTools) -> Self {
        self.tools.extend(tools.into_tools());
        self.has_tools = true;
        self
    }

    /// Adds all that `methods` offers, a value whose `impl` block is marked `#[server]`: its tools, prompts and resources. The
    /// capability of each kind that the block has is declared.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// struct Notes(Vec<String>);
    ///
    /// #[server]
    /// impl Notes {
    ///     /// Counts the notes.
    ///     #[tool]
    ///     fn count(&self) -> usize {
    ///         self.0.len()
    ///     }
    ///
    ///     /// A note.
    ///     #[resource("notes://{number}")]
    ///     fn note(&self, number: usize) -> Option<String> {
    ///         self.0.get(number).cloned()
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let notes = Notes(vec!["Buy milk.".to_owned()]);
    /// let client = Server::new("notes", "1.0.0").features(notes).connect().await?;
    /// assert_eq!(client.list_tools().await?.len(), 1);
    /// client.read_resource("notes://0").await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn features(mut self, methods: impl IntoFeatures) -> Self {
        let FeatureSets {
            tools,
            prompts,
            resources,
        } = methods.into_features();
        if let Some(tools) = tools {
            self = self.tools(tools);
        }
        if let Some(prompts) = prompts {
            self = self.prompts(prompts);
        }
        if let Some(resources) = resources {
            self = self.resources(resources);
        }
        self
    }

    /// Adds prompts: a [`prompts!`](crate::prompts) list, a value whose `impl` is marked `#[server]`, a
    /// [`DynamicPrompt`](crate::prompt::DynamicPrompt). The capability is declared even for an empty set.
    pub fn prompts(mut self, prompts: impl IntoPrompts) -> Self {
        self.prompts.extend(prompts.into_prompts());
        self.has_prompts = true;
        self
    }

    /// Adds resources and templates of resources: a [`resources!`](crate::resources) list, a value whose `impl` is marked `#[server]`,
    /// a [`DynamicResource`](crate::DynamicResource), a [`DynamicTemplate`](crate::DynamicTemplate), a
    /// [`Folder`](crate::resource::Folder). The capability is declared even
    /// for an empty set.
    pub fn resources(mut self, resources: impl IntoResources) -> Self {
        self.resources.extend(resources);
        self.has_resources = true;
        self
    }

    /// Serves an extension: announces it, and answers its methods to clients that declared it.
    ///
    /// `methods` is the adapter in the bindings of the extension, which wraps your handler. The handler gets a
    /// [`Context`], as a tool does, and the call [layers](Self::layer) see its calls. Bindings are made from a schema by a build
    /// script, with [`trueform_codegen::bind`](https://docs.rs/trueform-codegen); `examples/custom_extension` shows it. The
    /// extension `io.modelcontextprotocol/tasks` has its bindings in [`schema::ext`](crate::schema::ext).
    ///
    /// An extension exists at the revisions of its bindings only: the server's capabilities declare it there, and at other revisions
    /// its methods are unknown (-32601). At 2026-07-28 a client that did not declare the extension with its request gets -32021. In
    /// the legacy era a client declares it at `initialize`, and gets -32602 if it did not; before 2025-11-25 the server's own
    /// capabilities cannot name an extension. Where the facts of the bindings say `client_declares = false`, every client is served. Params that the schema does not allow are refused with -32602, a result that it does
    /// not allow is not sent (-32603), and a panic of a handler fails only its own request (-32603). Notifications of a client are passed to
    /// the handler too, in a session if the client declared the extension; those of 2026-07-28 carry no capabilities that could be
    /// checked. At most [`max_in_flight`](Self::max_in_flight) of those handlers run on one stream, and further notifications are
    /// dropped.
    ///
    /// [`build`](Self::build) refuses an extension whose identifier has no prefix or is already registered, and one that has a method
    /// of another extension, or of the core at the same revision.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::{client::ClientOptions, prelude::*};
    /// use trueform::schema::{
    ///     ErrorObject,
    ///     ext::tasks::{GetTaskRequestParams, GetTaskResult, handler, methods::GetTask},
    /// };
    ///
    /// /// Serves `tasks/get`, and has no tasks.
    /// struct NoTasks;
    ///
    /// impl handler::ServerHandler for NoTasks {
    ///     type Context = Context;
    ///
    ///     async fn get_task(&self, _: &Context, params: GetTaskRequestParams) -> Result<GetTaskResult, ErrorObject> {
    ///         Err(ErrorObject::new(-32602, format!("there is no task `{}`", params.task_id)))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let declared = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    /// let options = ClientOptions::new().capabilities(serde_json::from_value(declared)?);
    /// let server = Server::new("idle", "1.0.0").extension(handler::Server(NoTasks));
    /// let client = server.connect_as(options).await?;
    ///
    /// let answer = client.request::<GetTask>(GetTaskRequestParams::new("7")).await;
    /// assert_eq!(answer.unwrap_err().remote().unwrap().message, "there is no task `7`");
    /// # Ok(())
    /// # }
    /// ```
    // C-14, GAP-12
    pub fn extension(self, methods: impl Methods<Context> + 'static) -> Self {
        self.extension_with(methods, JsonObject::empty())
    }

    /// As [`Server::extension`], with the settings that the extension defines for its place in the server's capabilities.
    pub fn extension_with(
        mut self,
        methods: impl Methods<Context> + 'static,
        settings: JsonObject,
    ) -> Self {
        match RegisteredExtension::new(Arc::new(methods), settings) {
            Ok(extension) => self.extensions.push(extension),
            Err(problem) => self.problems.push(problem),
        }
        self
    }

    /// Wraps `layer` around every call of a tool, a prompt, a resource, a completion or an extension's method, inside of the layers added before. See
    /// [`layer`](crate::layer).
    pub fn layer(mut self, layer: impl CallLayer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Limits what callers see: `predicate` says whether a caller sees a tool, a prompt, a resource or a resource template. Every
    /// predicate must hold if this is called more than once. See [`visibility`](crate::visibility).
    ///
    /// What a caller does not see does not exist for it: a list leaves it out, and a request that names it gets the answer that an
    /// unknown name gets. The predicate is called for every item of a list that is asked for, so it must be quick; it must give
    /// the same answer until the authorization of the caller changes. If its answers change, call
    /// [`ServerHandle::notify_tools_changed`] and the like. A predicate that panics hides the item, and the log says so.
    ///
    /// Without a predicate a list is written once and copied for every caller; with one, every page is written for its caller. The
    /// names that a running server gives to its author, such as [`ServerHandle::tool_names`], are those of all callers.
    // I-2, V-10
    pub fn visible(
        mut self,
        predicate: impl Fn(&Viewer<'_>, &Offer<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visibility.limit(predicate);
        self
    }

    /// Makes `value` available to tools, as `State<T>` or by [`Context::state`](crate::Context::state). One value per type.
    pub fn state<T: Any + Send + Sync>(mut self, value: T) -> Self {
        self.add_state(
            TypeId::of::<T>(),
            std::any::type_name::<T>(),
            Arc::new(value),
        );
        self
    }

    /// Adds all features of `other`. Its name, version, settings and layers are dropped. If `other` limits [what callers
    /// see](Self::visible), [`build`](Self::build) fails: dropped as well, the limit would show what it hides.
    pub fn merge(mut self, other: Self) -> Self {
        if !other.visibility.is_unlimited() {
            let name = &other.info.name;
            self.problems.push(format!(
                "the merged server `{name}` limits what callers see; call `visible` on the server that it is merged into"
            ));
        }
        self.tools.extend(other.tools);
        self.has_tools |= other.has_tools;
        self.prompts.extend(other.prompts);
        self.has_prompts |= other.has_prompts;
        self.resources.extend(other.resources);
        self.has_resources |= other.has_resources;
        self.extensions.extend(other.extensions);
        self.problems.extend(other.problems);
        for (type_id, value) in other.states {
            self.add_state(type_id, "a type of the merged server", value);
        }
        self
    }

    /// Adds all features of `other`, with its tools and prompts renamed to `prefix_name`. The URIs of its resources stay as they are.
    pub fn nest(self, prefix: &str, mut other: Self) -> Self {
        other.tools = other.tools.prefixed(prefix);
        other.prompts = other.prompts.prefixed(prefix);
        self.merge(other)
    }

    /// Checks everything that was registered.
    ///
    /// # Errors
    /// All problems together: duplicate or illegal names, schemas that no client would understand,
    /// state that a function needs and that is not registered, what a revision cannot list, URI templates that match the same URIs or
    /// differ from the parameters of their function, values of one type registered twice, no revision to serve.
    pub fn build(mut self) -> Result<Service> {
        let mut problems = self.problems;
        let tools = Tools::build(
            self.tools,
            self.schemas,
            (self.page_size, self.list_caching),
            &self.states,
            self.revisions,
            &mut problems,
        );
        let prompts = Prompts::build(
            self.prompts,
            self.schemas.compile,
            (self.page_size, self.list_caching),
            &self.states,
            self.revisions,
            &mut problems,
        );
        let resources = Resources::build(
            self.resources,
            self.schemas.compile,
            (self.page_size, self.list_caching),
            !self.visibility.is_unlimited(),
            &self.states,
            self.revisions,
            &mut problems,
        );
        if self.list_caching.is_public() && !self.visibility.is_unlimited() {
            // V-10
            problems.push(
                "`list_caching` is public, but `Server::visible` limits who sees what is listed"
                    .to_owned(),
            );
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

    fn add_state(&mut self, type_id: TypeId, type_name: &str, value: Arc<dyn Any + Send + Sync>) {
        if self.states.insert(type_id, value).is_some() {
            self.problems.push(format!(
                "two values of `{type_name}` were registered as state"
            ));
        }
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
    /// A handle to the running server, to change what it offers.
    #[must_use]
    pub fn handle(&self) -> ServerHandle {
        ServerHandle::new(self.engine.clone())
    }
}

/// The part of `info`, which is sent with the handshake or with every result, that one of `revisions` does not allow.
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
