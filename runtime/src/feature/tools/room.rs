//! The tools of a server: gathered, declared, listed, called.

use std::{fmt::Display, sync::Arc};

use trueform_schema::{
    CallToolResult, Era, ErrorObject, ListToolsResult, Method, Revision, Revisions,
    ServerCapabilities, ServerCapabilitiesTools, TaskMetadata, Tool, View, rewrite::Wrapped,
};

use super::{
    draft::SchemaSettings,
    failed,
    route::ToolRoute,
    set::{GatheredTools, ToolSet},
};
use crate::{
    error::Result,
    exchange::{Context, Exchange},
    feature::{
        Room,
        caching::Caching,
        call::{Conditions, Given, run},
        callable::{Callable, Failure, Step, Timeout, stopped, too_large},
        failure::ToolError,
        form::Forms,
        function::Place,
        job::Called,
        listing::{Item, Listed, Listing, unlistable},
        offered::Named,
        subscriptions::Topic,
        tasks::{self, Tasks},
        undeclared,
        visibility::Sight,
    },
    gate::{Headers, Outgoing},
    host::States,
    jsonrpc::NotedObject,
    needs::RequiredCapabilities,
};

/// Changes to the list of tools.
pub(crate) static TOPIC: Topic = Topic {
    method: Method::ToolListChanged,
    is_in: |filter| filter.tools_list_changed == Some(true),
    honour: |filter| filter.tools_list_changed = Some(true),
};

/// The tools of a server.
#[derive(Debug)]
pub(crate) struct Tools {
    listed: Listed<ToolRoute>,
    schemas: SchemaSettings,
}

impl Tools {
    /// The tools of `set`; everything that is wrong with them is appended to `problems`.
    pub(crate) fn build(
        set: ToolSet,
        schemas: SchemaSettings,
        (page_size, caching): (usize, Caching),
        states: &States,
        revisions: Revisions,
        problems: &mut Vec<String>,
    ) -> Self {
        let gathered = gathered(set, schemas, states, revisions, problems);
        Self {
            listed: Listed::new(gathered.routes, page_size).with_caching(caching),
            schemas,
        }
    }

    /// Whether a call of one of them may become a task.
    pub(crate) fn have_tasks(&self) -> bool {
        let now = self.now();
        now.entries()
            .iter()
            .any(|entry| entry.item.task().is_some())
    }

    /// The tools as they are now.
    pub(crate) fn now(&self) -> Arc<Listing<ToolRoute>> {
        self.listed.now()
    }

    /// Adds the tools of `set`. The names of those that were added.
    ///
    /// # Errors
    /// Everything that is wrong with them; then nothing is added.
    pub(crate) fn add(
        &self,
        set: ToolSet,
        states: &States,
        revisions: Revisions,
        has_tasks: bool,
    ) -> Result<Vec<String>> {
        let mut problems = Vec::new();
        let gathered = gathered(set, self.schemas, states, revisions, &mut problems);
        let as_tasks = gathered.routes.iter().filter(|tool| tool.task().is_some());
        for tool in as_tasks.filter(|_| !has_tasks) {
            problems.push(format!(
                "tool `{}` ({}) runs as a task, and the server was built without tasks, so it did not declare them to clients; call `Server::tasks` first",
                tool.name(),
                tool.place()
            ));
        }
        let routes = gathered.routes;
        let added = routes.iter().map(|route| route.name().to_owned()).collect();
        self.listed.add(routes, problems)?;
        Ok(added)
    }

    /// Removes the tool `name`. Returns `false` if there is no such tool.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.listed.remove(name)
    }

    /// Lists the tool `name`, or hides it. Returns `false` if there is no such tool, or if it was so already.
    pub(crate) fn enable(&self, name: &str, enabled: bool) -> bool {
        self.listed.enable(name, enabled)
    }

    /// Answers `tools/call`. `headers` are those of a stateless HTTP request.
    ///
    /// # Errors
    /// The tool is unknown, headers that repeat arguments differ from them, or the client lacks a capability that the tool
    /// needs.
    pub(crate) fn call(
        &self,
        call: ToolCall<'_>,
        headers: Option<&dyn Headers>,
        exchange: impl FnOnce() -> Arc<Exchange>,
        tasks: Option<&Arc<Tasks>>,
        conditions: &Conditions<'_>,
    ) -> std::result::Result<Called, ErrorObject> {
        let listing = self.now();
        let tool = listing.find(call.name, conditions.sight.as_ref())?;
        if let Some(headers) = headers {
            super::header_params::check(headers, tool.header_params(), call.arguments)?;
        }
        let exchange = exchange();
        let missing = tool.needs().missing_from(&exchange.peer().capabilities);
        if !missing.is_empty() {
            return lacking(tool, missing, &Context(exchange));
        }
        if call.resumes {
            exchange.resume(conditions.message)?;
        }
        if let Some(tasks) = tasks
            && (tool.task().is_some() || call.task.is_some())
        {
            let asked = tasks::Asked {
                tool,
                task: call.task,
                exchange,
                arguments: call.arguments.map(Box::from),
            };
            return tasks::call(asked, tasks, conditions);
        }
        let arguments = Arguments {
            text: call.arguments,
            noted: call.noted,
        };
        Ok(run(tool, Context(exchange), arguments, conditions))
    }
}

/// A call of a tool, as its params say.
pub(crate) struct ToolCall<'a> {
    pub(crate) name: &'a str,
    /// The text of an object.
    pub(crate) arguments: Option<&'a str>,
    /// The same, if it was noted where its members are.
    pub(crate) noted: Option<&'a NotedObject<'a>>,
    /// Whether it brings what an earlier call asked for.
    pub(crate) resumes: bool,
    pub(crate) task: Option<TaskMetadata>,
}

impl<'a> ToolCall<'a> {
    /// A call with nothing but a name and arguments.
    pub(crate) fn plain(name: &'a str, noted: Option<&'a NotedObject<'a>>) -> Self {
        Self {
            name,
            arguments: noted.map(NotedObject::text),
            noted,
            resumes: false,
            task: None,
        }
    }
}

/// Arguments that are copied only if the call has to wait before it begins.
struct Arguments<'a> {
    text: Option<&'a str>,
    noted: Option<&'a NotedObject<'a>>,
}

impl Given<ToolRoute> for Arguments<'_> {
    #[inline(always)]
    fn call(self, tool: &Arc<ToolRoute>, cx: &Context) -> Step<Result<CallToolResult, ToolError>> {
        tool.invoke(cx, self.text, self.noted)
    }

    fn kept(self) -> Option<Box<str>> {
        self.text.map(Box::from)
    }
}

impl Room for Tools {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        let mut tools = ServerCapabilitiesTools::default();
        tools.list_changed = Some(true);
        capabilities.tools = Some(tools);
    }

    fn topics(&self) -> &'static [Topic] {
        std::slice::from_ref(&TOPIC)
    }

    fn needs(&self, method: Method, name: &str, sight: Option<&Sight<'_>>) -> RequiredCapabilities {
        if method != Method::CallTool {
            return RequiredCapabilities::NONE;
        }
        let listing = self.now();
        listing
            .get(name, sight)
            .map_or(RequiredCapabilities::NONE, |tool| tool.needs())
    }
}

/// What a client gets that lacks capabilities which `tool` needs: -32021 where the revision has it (C-10), else a result that
/// says so, because frameworks turn protocol errors into exceptions and models read `isError` (DEC-9).
#[cold]
fn lacking(
    tool: &ToolRoute,
    missing: RequiredCapabilities,
    cx: &Context,
) -> std::result::Result<Called, ErrorObject> {
    if cx.0.revision().era() == Era::Modern {
        return Err(undeclared(Era::Modern, missing));
    }
    let text = format!(
        "tool `{}` needs the client capability {missing}, which this client did not declare",
        tool.name()
    );
    refused_in_result(tool, cx, &text)
}

/// Answers a call of `tool`, which does not run, with a result that says so in `text`.
///
/// # Errors
/// The revision of the call does not allow the result.
fn refused_in_result(
    tool: &ToolRoute,
    cx: &Context,
    text: &str,
) -> std::result::Result<Called, ErrorObject> {
    cx.0.finish();
    Callable::respond(tool, cx, Ok(failed(text))).map(Called::Ready)
}

fn named<'a>(name: &'a str, place: &'a Place) -> Named<'a> {
    let kind = ToolRoute::KIND;
    Named { kind, name, place }
}

fn gathered(
    set: ToolSet,
    schemas: SchemaSettings,
    states: &States,
    revisions: Revisions,
    problems: &mut Vec<String>,
) -> GatheredTools {
    let mut gathered = set.gathered(schemas);
    problems.append(&mut gathered.problems);
    for (name, place, needed) in gathered.required_states() {
        problems.extend(named(name, place).missing_states(needed, states));
    }
    for tool in &gathered.routes {
        let named = named(tool.name(), tool.place());
        problems.extend(named.undeclarable(tool.needs(), revisions));
        problems.extend(named.inexpressible(tool.forms(), revisions));
    }
    problems.extend(unlistable(gathered.listable(), revisions));
    gathered
}

impl Item for ToolRoute {
    const KIND: &'static str = "tool";
    const RULE: &'static str = "known-tool";
    const POINTER: &'static str = "/params/name";
    const METHOD: Method = Method::ListTools;
    type Page = ListToolsResult;
    type Shown = Tool;

    fn name(&self) -> &str {
        self.name()
    }

    fn place(&self) -> &dyn Display {
        self.place()
    }

    fn forms(&self) -> Option<&Forms> {
        Some(self.forms())
    }

    fn shown(&self, view: View<'_>) -> Tool {
        self.definition_at(view)
    }

    fn page(shown: Vec<Tool>, next_cursor: Option<String>) -> ListToolsResult {
        let mut result = ListToolsResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }

    fn cache(page: &mut ListToolsResult, caching: Caching) {
        if let Some((ttl, scope)) = caching.members() {
            (page.ttl_ms, page.cache_scope) = (Some(ttl), Some(scope));
        }
    }
}

impl Callable for ToolRoute {
    type Params = Option<Box<str>>;
    type Output = CallToolResult;

    fn name(&self) -> &str {
        self.name()
    }

    fn place(&self) -> &dyn Display {
        self.place()
    }

    fn annotations(&self) -> Option<&trueform_schema::ToolAnnotations> {
        self.annotations()
    }

    fn timeout(&self) -> Option<Timeout> {
        self.timeout()
    }

    #[inline(always)]
    fn call(
        self: &Arc<Self>,
        cx: &Context,
        arguments: Option<Box<str>>,
    ) -> Step<Result<CallToolResult, ToolError>> {
        self.invoke(cx, arguments.as_deref(), None)
    }

    fn failed(&self, failure: &Failure) -> std::result::Result<CallToolResult, ErrorObject> {
        Ok(match failure {
            Failure::Panicked(_) | Failure::LayerPanicked(_) => {
                failed(&format!("tool `{}` failed: internal error", self.name()))
            }
            Failure::TimedOut(limit) => failed(&format!(
                "tool `{}` did not finish within {limit:?}",
                self.name()
            )),
            Failure::NoThread => failed(&format!(
                "tool `{}` did not run: the server is busy; try again later",
                self.name()
            )),
            // What the model reads is the author's or about the tool; this is about the server.
            Failure::Stopped => return Err(stopped()),
            Failure::TooLarge { bytes, limit } => failed(&too_large(self.name(), *bytes, *limit)),
        })
    }

    fn respond(
        &self,
        cx: &Context,
        outcome: Result<CallToolResult, ToolError>,
    ) -> std::result::Result<Outgoing, ErrorObject> {
        let mut result = match outcome {
            Ok(result) => result,
            Err(error) => self.failure(error)?,
        };
        self.complete(cx, &mut result)?;
        let exchange = &cx.0;
        let revision = exchange.revision();
        // The result is not moved: it is large. Nor is it changed for older revisions.
        let wraps = self.wraps(&result, revision);
        let response = if wraps {
            let wrapped = Wrapped::new(&result);
            exchange.result(self.name(), &wrapped)?
        } else {
            exchange.result(self.name(), &result)?
        };
        let is_error = result.is_error.unwrap_or(false);
        tracing::debug!(tool = self.name(), is_error, "answered");
        self.log_losses(&result, wraps, revision);
        Ok(match is_error {
            true => response.with_tool_error(),
            false => response,
        })
    }
}
