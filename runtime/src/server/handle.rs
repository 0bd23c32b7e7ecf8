//! A running server: its features can be changed, and it can be shut down.

use std::collections::HashSet;

use trueform_schema::conform::is_uri;

use crate::{
    engine::Engine,
    error::{Error, Result},
    exchange::Context,
    feature::{
        prompts::{self, IntoPrompts},
        resources::{self, IntoResources, Resources},
        subscriptions::Topic,
        tools::{self, IntoTools},
    },
};

use super::{definition_name::DefinitionName, lint, loss};

/// A running server: its features can be changed, and clients that ask for changes are notified.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    engine: Engine,
}

impl ServerHandle {
    pub(crate) fn new(engine: Engine) -> Self {
        Self { engine }
    }

    /// Adds tools.
    ///
    /// # Errors
    /// The errors of [`Server::build`](crate::Server::build); then nothing is added. Also if the server was built without tools.
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
    /// let handle = Server::new("calc", "1.0.0").tools(tools![]).build().unwrap().handle();
    /// handle.add_tools(tools![add]).unwrap();
    /// assert_eq!(handle.tool_names(), ["add"]);
    /// assert!(handle.add_tools(tools![add]).is_err());
    /// ```
    pub fn add_tools(&self, tools: impl IntoTools) -> Result {
        let Some(room) = &self.engine.features.tools else {
            return Err(Error::registration(vec![
                "the server was built without tools, so it did not declare the capability to clients; call `Server::tools` first".to_owned(),
            ]));
        };
        let host = &self.engine.host;
        let has_tasks = self.engine.features.tasks.is_some();
        let revisions = host.settings.revisions;
        let added = room.add(tools.into_tools(), host.states(), revisions, has_tasks)?;
        self.engine.notify(&tools::TOPIC);
        self.report(
            |subject| matches!(subject, DefinitionName::Tool(name) if added.contains(name)),
        );
        Ok(())
    }

    /// Removes the tool `name`. Returns `false` if there is no such tool. Running calls continue.
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
    /// let handle = Server::new("calc", "1.0.0").tools(tools![add]).build().unwrap().handle();
    /// assert!(handle.remove_tool("add"));
    /// assert!(!handle.remove_tool("add"));
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn remove_tool(&self, name: &str) -> bool {
        let tools = self.engine.features.tools.as_ref();
        self.changed(tools.is_some_and(|tools| tools.remove(name)), &tools::TOPIC)
    }

    /// Enables or disables the tool `name`; a disabled tool is neither listed nor callable. Returns `false` if there is no such
    /// tool, or if nothing changed.
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
    /// let handle = Server::new("calc", "1.0.0").tools(tools![add]).build().unwrap().handle();
    /// assert!(handle.enable_tool("add", false));
    /// assert!(handle.tool_names().is_empty());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn enable_tool(&self, name: &str, enabled: bool) -> bool {
        let tools = self.engine.features.tools.as_ref();
        self.changed(
            tools.is_some_and(|tools| tools.enable(name, enabled)),
            &tools::TOPIC,
        )
    }

    /// Returns the names of the enabled tools, in the order of the list.
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
    /// let handle = Server::new("calc", "1.0.0").tools(tools![add]).build().unwrap().handle();
    /// assert_eq!(handle.tool_names(), ["add"]);
    /// ```
    #[must_use]
    pub fn tool_names(&self) -> Vec<String> {
        let tools = self.engine.tools_now();
        tools.iter().map(|tool| tool.name().to_owned()).collect()
    }

    /// Notifies clients that the list of tools changed, for changes that the library cannot detect.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let handle = Server::new("shop", "1.0.0").tools(tools![]).build().unwrap().handle();
    /// handle.notify_tools_changed();
    /// ```
    pub fn notify_tools_changed(&self) {
        self.engine.notify(&tools::TOPIC);
    }

    /// Adds prompts.
    ///
    /// # Errors
    /// The errors of [`Server::build`](crate::Server::build); then nothing is added. Also if the server was built without prompts, or if it
    /// was built without completions and a new prompt has an argument with completions.
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
    /// let handle = Server::new("docs", "1.0.0").prompts(prompts![]).build().unwrap().handle();
    /// handle.add_prompts(prompts![review]).unwrap();
    /// assert!(handle.add_prompts(prompts![review]).is_err());
    /// ```
    pub fn add_prompts(&self, prompts: impl IntoPrompts) -> Result {
        let features = &self.engine.features;
        let Some(room) = &features.prompts else {
            return Err(Error::registration(vec![
                "the server was built without prompts, so it did not declare the capability to clients; call `Server::prompts` first".to_owned(),
            ]));
        };
        let host = &self.engine.host;
        let prompts = prompts.into_prompts();
        let added: HashSet<String> = prompts.names().map(str::to_owned).collect();
        room.add(
            prompts,
            features.completions.is_some(),
            host.states(),
            host.settings.revisions,
        )?;
        self.engine.notify(&prompts::TOPIC);
        self.report(
            |subject| matches!(subject, DefinitionName::Prompt(name) if added.contains(name)),
        );
        Ok(())
    }

    /// Removes the prompt `name`. Returns `false` if there is no such prompt. Running calls continue.
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
    /// let handle = Server::new("docs", "1.0.0").prompts(prompts![review]).build().unwrap().handle();
    /// assert!(handle.remove_prompt("review"));
    /// assert!(!handle.remove_prompt("review"));
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn remove_prompt(&self, name: &str) -> bool {
        let room = self.engine.features.prompts.as_ref();
        self.changed(room.is_some_and(|room| room.remove(name)), &prompts::TOPIC)
    }

    /// Enables or disables the prompt `name`; a disabled prompt is neither listed nor callable. Returns `false` if there is no such
    /// prompt, or if nothing changed.
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
    /// let handle = Server::new("docs", "1.0.0").prompts(prompts![review]).build().unwrap().handle();
    /// assert!(handle.enable_prompt("review", false));
    /// assert!(!handle.enable_prompt("review", false));
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn enable_prompt(&self, name: &str, enabled: bool) -> bool {
        let room = self.engine.features.prompts.as_ref();
        self.changed(
            room.is_some_and(|room| room.enable(name, enabled)),
            &prompts::TOPIC,
        )
    }

    /// Notifies clients that the list of prompts changed, for changes that the library cannot detect.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let handle = Server::new("shop", "1.0.0").prompts(prompts![]).build().unwrap().handle();
    /// handle.notify_prompts_changed();
    /// ```
    pub fn notify_prompts_changed(&self) {
        self.engine.notify(&prompts::TOPIC);
    }

    /// Adds resources and templates of resources. The template of a [`Folder`](crate::resource::Folder) suggests no paths if the server
    /// was built without completions.
    ///
    /// # Errors
    /// The errors of [`Server::build`](crate::Server::build); then nothing is added. Also if the server was built without resources, or if
    /// it was built without completions and a new template has a variable with completions.
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
    /// let handle = Server::new("docs", "1.0.0").resources(resources![]).build().unwrap().handle();
    /// handle.add_resources(resources![style]).unwrap();
    /// assert_eq!(handle.resource_uris(), ["docs://style"]);
    /// ```
    pub fn add_resources(&self, resources: impl IntoResources) -> Result {
        let features = &self.engine.features;
        let Some(room) = &features.resources else {
            return Err(Error::registration(vec![
                "the server was built without resources, so it did not declare the capability to clients; call `Server::resources` first".to_owned(),
            ]));
        };
        let host = &self.engine.host;
        let resources = resources.into_resources();
        let added: HashSet<String> = resources.uris().map(str::to_owned).collect();
        room.add(
            resources,
            features.completions.is_some(),
            host.states(),
            host.settings.revisions,
        )?;
        self.engine.notify(resources::TOPIC);
        self.report(|subject| match subject {
            DefinitionName::Resource(uri) | DefinitionName::ResourceTemplate(uri) => {
                added.contains(uri)
            }
            _ => false,
        });
        Ok(())
    }

    /// Removes the resource with the URI `uri`, or the template `uri`. Returns `false` if it does not exist. Running calls continue.
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
    /// let handle = Server::new("docs", "1.0.0").resources(resources![style]).build().unwrap().handle();
    /// assert!(handle.remove_resource("docs://style"));
    /// assert!(handle.resource_uris().is_empty());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn remove_resource(&self, uri: &str) -> bool {
        let room = self.engine.features.resources.as_ref();
        let removed = room.is_some_and(|room| room.remove(uri));
        self.changed(removed, resources::TOPIC)
    }

    /// Enables or disables the resource with the URI `uri`, or the template `uri`. A disabled one is neither listed nor readable; a
    /// disabled resource cannot be read through a template either. Returns `false` if it does not exist, or if nothing changed.
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
    /// let handle = Server::new("docs", "1.0.0").resources(resources![style]).build().unwrap().handle();
    /// assert!(handle.enable_resource("docs://style", false));
    /// assert!(handle.resource_uris().is_empty());
    /// ```
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn enable_resource(&self, uri: &str, enabled: bool) -> bool {
        let room = self.engine.features.resources.as_ref();
        let changed = room.is_some_and(|room| room.enable(uri, enabled));
        self.changed(changed, resources::TOPIC)
    }

    /// Returns the URIs of the enabled resources, then the enabled templates, each in the order of its list.
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
    /// let handle = Server::new("docs", "1.0.0").resources(resources![style]).build().unwrap().handle();
    /// assert_eq!(handle.resource_uris(), ["docs://style"]);
    /// ```
    #[must_use]
    pub fn resource_uris(&self) -> Vec<String> {
        let room = self.engine.features.resources.iter();
        room.flat_map(Resources::uris).collect()
    }

    /// Notifies clients that the list of resources changed, for changes that the library cannot detect.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// let handle = Server::new("shop", "1.0.0").resources(resources![]).build().unwrap().handle();
    /// handle.notify_resources_changed();
    /// ```
    pub fn notify_resources_changed(&self) {
        self.engine.notify(resources::TOPIC);
    }

    /// Notifies clients that the content of the resource `uri` has changed: until 2025-11-25 those that subscribed to exactly this URI,
    /// since 2026-07-28 those that listen to it. If `uri` is not a URI, returns `false` and notifies no client.
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
    /// let handle = Server::new("docs", "1.0.0").resources(resources![style]).build().unwrap().handle();
    /// assert!(handle.resource_updated("docs://style"));
    /// assert!(!handle.resource_updated("not a URI"));
    /// ```
    // J-7, J-8
    #[expect(clippy::must_use_candidate, reason = "called for what it does")]
    pub fn resource_updated(&self, uri: &str) -> bool {
        let is_uri = is_uri(uri);
        if is_uri {
            self.engine.subscriptions.notify_updated(uri);
        }
        is_uri
    }

    /// Ends open subscriptions and asks the transports to drain and stop. The second call ends the drain, as it would after a
    /// signal or, on a byte stream, the end of its input: calls that still run are dropped, and their response is -32603.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> trueform::Result {
    /// let service = Server::new("calc", "1.0.0").build()?;
    /// let handle = service.handle();
    /// let (client, server) = tokio::io::duplex(1024);
    /// let (reader, writer) = tokio::io::split(server);
    /// let served = tokio::spawn(async move { service.serve_stream(reader, writer).await });
    /// handle.shut_down();
    /// served.await.unwrap()?;
    /// # drop(client);
    /// # Ok(())
    /// # }
    /// ```
    pub fn shut_down(&self) {
        self.engine.shut_down();
    }

    /// Logs the lint findings about the definitions that `select` accepts, and what older revisions lose of them.
    fn report(&self, select: impl Fn(&DefinitionName) -> bool) {
        lint::log_lint(&self.engine, &select);
        loss::log_losses(&self.engine, &select);
    }

    /// Notifies clients of a change of `topic` if something `changed`. Returns `changed`.
    fn changed(&self, changed: bool, topic: &'static Topic) -> bool {
        if changed {
            self.engine.notify(topic);
        }
        changed
    }
}

impl Context {
    /// Returns the handle of the running server, for example to change its tools.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Lets the model write.
    /// #[tool]
    /// fn unlock(context: Context) -> &'static str {
    ///     context.server().enable_tool("write", true);
    ///     "unlocked"
    /// }
    /// ```
    #[must_use]
    pub fn server(&self) -> ServerHandle {
        ServerHandle::new(Engine::of(&self.0.host))
    }
}
