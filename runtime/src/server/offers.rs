//! The methods that add features to a server, their state, and visibility.

use std::{
    any::{Any, TypeId},
    sync::Arc,
};

use trueform_schema::{JsonObject, methods::Methods};

use super::Server;
use crate::{
    exchange::Context,
    feature::{
        extension::RegisteredExtension,
        function::Shared,
        layer::CallLayer,
        methods::{FeatureSets, IntoFeatures},
        prompts::IntoPrompts,
        resources::IntoResources,
        tools::IntoTools,
        visibility::{Offer, Viewer},
    },
};

impl Server {
    /// Adds tools: a [`tools!`](crate::tools) list, a value whose `impl` is marked `#[server]`, a
    /// [`DynamicTool`](crate::DynamicTool). The capability is declared even for an empty set.
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
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
    /// let sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).await?;
    /// assert_eq!(sum.text(), "5");
    /// # Ok(())
    /// # }
    /// ```
    pub fn tools(mut self, tools: impl IntoTools) -> Self {
        self.tools.extend(tools.into_tools());
        self.has_tools = true;
        self
    }

    /// Adds all tools, prompts and resources of `methods`, a value whose `impl` block is marked `#[server]`. The capability of each kind
    /// that the block has is declared.
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
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Review a piece of code.
    /// #[prompt]
    /// fn review(code: String) -> String {
    ///     format!("Review this:\n\n{code}")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Server::new("reviewer", "1.0.0").prompts(prompts![review]).connect().await?;
    /// assert_eq!(client.list_prompts().await?[0].name, "review");
    /// # Ok(())
    /// # }
    /// ```
    pub fn prompts(mut self, prompts: impl IntoPrompts) -> Self {
        self.prompts.extend(prompts.into_prompts());
        self.has_prompts = true;
        self
    }

    /// Adds resources and templates of resources: a [`resources!`](crate::resources) list, a value whose `impl` is marked `#[server]`,
    /// a [`DynamicResource`](crate::DynamicResource), a [`DynamicTemplate`](crate::DynamicTemplate), a
    /// [`Folder`](crate::resource::Folder). The capability is declared even
    /// for an empty set.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// How to write code here.
    /// #[resource("docs://style")]
    /// fn style() -> &'static str {
    ///     "Short functions."
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Server::new("docs", "1.0.0").resources(resources![style]).connect().await?;
    /// assert_eq!(client.read_resource("docs://style").await?.text(), "Short functions.");
    /// # Ok(())
    /// # }
    /// ```
    pub fn resources(mut self, resources: impl IntoResources) -> Self {
        self.resources.extend(resources);
        self.has_resources = true;
        self
    }

    /// Serves an extension: announces it, and answers its methods to clients that declared it.
    ///
    /// `methods` is the adapter in the bindings of the extension, which wraps your handler. The handler gets a
    /// [`Context`], like a tool, and the call [layers](Self::layer) see its calls. A build script generates the bindings from a schema,
    /// with [`trueform_codegen::bind`](https://docs.rs/trueform-codegen); `examples/custom_extension` shows it. The extension
    /// `io.modelcontextprotocol/tasks` has its bindings in [`schema::ext`](crate::schema::ext).
    ///
    /// An extension exists only at the revisions of its bindings: the server's capabilities declare it there, and at other revisions its
    /// methods are unknown (-32601). At 2026-07-28 a client that did not declare the extension with its request gets -32021. In the legacy
    /// era a client declares it at `initialize`, and gets -32602 if it did not; before 2025-11-25 the server's own capabilities cannot name
    /// an extension. If the facts of the bindings have `client_declares = false`, every client is served. Params that the schema does not
    /// allow are refused with -32602, a result that it does not allow is not sent (-32603), and a panic of a handler fails only its own
    /// request (-32603). Notifications of a client are also passed to the handler, in a session only if the client declared the extension;
    /// notifications of 2026-07-28 have no capabilities that could be checked. At most [`max_in_flight`](Self::max_in_flight) of those
    /// handlers run on one stream, and further notifications are dropped.
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

    /// Like [`Server::extension`], with the settings that the extension defines for its place in the server's capabilities.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::JsonObject};
    /// use trueform::schema::{
    ///     ErrorObject,
    ///     ext::tasks::{GetTaskRequestParams, GetTaskResult, handler},
    /// };
    ///
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
    /// let server = Server::new("idle", "1.0.0").extension_with(handler::Server(NoTasks), JsonObject::empty());
    /// # assert!(server.build().is_ok());
    /// ```
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

    /// Wraps `layer` around every call of a tool, a prompt, a resource, a completion or an extension's method, inside the layers that were
    /// added before. See [`layer`](crate::layer).
    ///
    /// ```
    /// use std::time::Duration;
    /// use trueform::{layer::TimeLimit, prelude::*};
    ///
    /// // A call may take ten seconds.
    /// let server = Server::new("calc", "1.0.0").layer(TimeLimit::new(Duration::from_secs(10)));
    /// # assert!(server.build().is_ok());
    /// ```
    pub fn layer(mut self, layer: impl CallLayer) -> Self {
        self.layers.push(Arc::new(layer));
        self
    }

    /// Limits what callers see: `predicate` says whether a caller sees a tool, a prompt, a resource or a resource template. If this is
    /// called more than once, every predicate must return `true`. See [`visibility`](crate::visibility).
    ///
    /// Items that a caller does not see do not exist for it: a list leaves them out, and a request with their name gets the same answer as
    /// for an unknown name. The predicate is called for every item of a requested list, so it must be quick. It must return the same answer
    /// until the authorization of the caller changes. If its answers change, call
    /// [`ServerHandle::notify_tools_changed`](crate::ServerHandle::notify_tools_changed) and similar methods. A predicate that panics hides
    /// the item, and the log reports it.
    ///
    /// Without a predicate, a list is written once and copied for every caller; with one, every page is written for its caller. Methods for
    /// the author, such as [`ServerHandle::tool_names`](crate::ServerHandle::tool_names), return the names for all callers.
    ///
    /// The predicate does not apply to what the methods of an [extension](Self::extension) list, such as the skills of `skills/list`.
    ///
    /// With a predicate, nothing may be cached publicly: public [`list_caching`](Self::list_caching) and public resources are errors at the
    /// start, and a resource result that is marked public is sent as private.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Deletes everything.
    /// #[tool]
    /// fn wipe() {}
    ///
    /// // Only an authenticated caller finds it.
    /// let server = Server::new("disk", "1.0.0")
    ///     .tools(tools![wipe])
    ///     .visible(|viewer, offer| offer.name() != "wipe" || viewer.principal().is_some());
    /// # assert!(server.build().is_ok());
    /// ```
    // I-2, V-10
    pub fn visible(
        mut self,
        predicate: impl Fn(&Viewer<'_>, &Offer<'_>) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.visibility.limit(predicate);
        self
    }

    /// Makes `value` available to tools, as `State<T>` or from [`Context::state`](crate::Context::state). One value per type.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// The name of the database.
    /// #[tool]
    /// fn database(State(name): State<String>) -> String {
    ///     name.as_str().to_owned()
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new("db", "1.0.0").state("orders".to_owned()).tools(tools![database]);
    /// let client = server.connect().await?;
    /// assert_eq!(client.call_tool("database", ()).await?.text(), "orders");
    /// # Ok(())
    /// # }
    /// ```
    pub fn state<T: Shared>(mut self, value: T) -> Self {
        self.add_state(
            TypeId::of::<T>(),
            std::any::type_name::<T>(),
            Arc::new(value),
        );
        self
    }

    /// Adds all features of `other` and its [state](Self::state), which all functions of the server then share. Its name, version,
    /// instructions and settings are dropped.
    ///
    /// [`build`](Self::build) fails if `other` limits [what callers see](Self::visible) or has [call layers](Self::layer): without them,
    /// hidden items would be visible and refused calls would run. It also fails if both have the same tool, prompt, resource or type of
    /// state.
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
    /// /// The time of day in seconds.
    /// #[tool]
    /// fn now() -> u64 {
    ///     7
    /// }
    ///
    /// let clock = Server::new("clock", "1.0.0").tools(tools![now]);
    /// let both = Server::new("both", "1.0.0").tools(tools![add]).merge(clock).build().unwrap();
    /// assert_eq!(both.handle().tool_names(), ["add", "now"]);
    /// ```
    pub fn merge(mut self, other: Self) -> Self {
        if !other.visibility.is_unlimited() {
            let name = &other.info.name;
            self.problems.push(format!(
                "the merged server `{name}` limits what callers see; call `visible` on the server that it is merged into"
            ));
        }
        if !other.layers.is_empty() {
            let name = &other.info.name;
            self.problems.push(format!(
                "the merged server `{name}` has call layers, which would not see its calls; call `layer` on the server that it is merged into"
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
            let type_name = other.state_names[&type_id];
            self.add_state(type_id, type_name, value);
        }
        self
    }

    /// Like [`merge`](Self::merge), with the tools and prompts of `other` renamed to `prefix_name`. The URIs of its resources do not
    /// change. Layers and [`visible`](Self::visible) see the names with the prefix.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// The time of day in seconds.
    /// #[tool]
    /// fn now() -> u64 {
    ///     7
    /// }
    ///
    /// let clock = Server::new("clock", "1.0.0").tools(tools![now]);
    /// let server = Server::new("all", "1.0.0").nest("clock", clock).build().unwrap();
    /// assert_eq!(server.handle().tool_names(), ["clock_now"]);
    /// ```
    pub fn nest(self, prefix: &str, mut other: Self) -> Self {
        if prefix.is_empty() {
            let problem =
                "`nest` was given an empty prefix; `merge` adds a server under its own names";
            other.problems.push(problem.to_owned());
        }
        other.tools = other.tools.prefixed(prefix);
        other.prompts = other.prompts.prefixed(prefix);
        self.merge(other)
    }

    fn add_state(
        &mut self,
        type_id: TypeId,
        type_name: &'static str,
        value: Arc<dyn Any + Send + Sync>,
    ) {
        self.state_names.insert(type_id, type_name);
        if self.states.insert(type_id, value).is_some() {
            self.problems.push(format!(
                "two values of `{type_name}` were registered as state"
            ));
        }
    }
}
