//! The prompts of a server: collects, declares, lists and calls them.

use std::{fmt::Display, sync::Arc};

use trueform_schema::{
    Era, ErrorObject, GetPromptRequestParams, ListPromptsResult, Method, Prompt, Revision,
    Revisions, ServerCapabilities, ServerCapabilitiesPrompts, View,
};

use super::{route::PromptRoute, set::PromptSet};
use crate::{
    check::CompileOptions,
    error::Result,
    exchange::{Context, Exchange},
    feature::{
        Room,
        caching::Caching,
        call::{Conditions, run},
        completion::{Argument, missing_states},
        form::Forms,
        job::Called,
        listing::{Item, Listed, Listing, unlistable},
        offered::Named,
        subscriptions::Topic,
        undeclared,
        visibility::Sight,
    },
    host::States,
    needs::RequiredCapabilities,
};

/// Changes to the list of prompts.
pub(crate) static TOPIC: Topic = Topic {
    method: Method::PromptListChanged,
    is_in: |filter| filter.prompts_list_changed == Some(true),
    honour: |filter| filter.prompts_list_changed = Some(true),
};

/// The prompts of a server.
#[derive(Debug)]
pub(crate) struct Prompts {
    listed: Listed<PromptRoute>,
    options: CompileOptions,
}

impl Prompts {
    /// Builds the prompts of `set`. All their problems are appended to `problems`.
    pub(crate) fn build(
        set: PromptSet,
        options: CompileOptions,
        (page_size, caching): (usize, Caching),
        states: &States,
        revisions: Revisions,
        problems: &mut Vec<String>,
    ) -> Self {
        let routes = checked(set, options, states, revisions, problems);
        Self {
            listed: Listed::new(routes, page_size).with_caching(caching),
            options,
        }
    }

    /// Returns the current prompts.
    pub(crate) fn now(&self) -> Arc<Listing<PromptRoute>> {
        self.listed.now()
    }

    /// Returns whether anything suggests values for an argument of a prompt.
    pub(crate) fn completes(&self) -> bool {
        let listing = self.now();
        let entries = listing.entries();
        entries.iter().any(|entry| entry.item.completes())
    }

    /// Adds the prompts of `set`; `completes` says whether the server declared that it completes arguments.
    ///
    /// # Errors
    /// All problems of the prompts; then nothing is added.
    pub(crate) fn add(
        &self,
        set: PromptSet,
        completes: bool,
        states: &States,
        revisions: Revisions,
    ) -> Result<()> {
        let mut problems = Vec::new();
        let routes = checked(set, self.options, states, revisions, &mut problems);
        for route in routes
            .iter()
            .filter(|route| route.completes() && !completes)
        {
            problems.push(format!(
                "prompt `{}` ({}) completes an argument, but the server was built without anything to complete, so it did not declare the capability to clients",
                route.name(),
                route.place()
            ));
        }
        self.listed.add(routes, problems)
    }

    /// Removes the prompt `name`. Returns `false` if there is no such prompt.
    pub(crate) fn remove(&self, name: &str) -> bool {
        self.listed.remove(name)
    }

    /// Lists the prompt `name`, or hides it. Returns `false` if there is no such prompt, or if nothing changed.
    pub(crate) fn enable(&self, name: &str, enabled: bool) -> bool {
        self.listed.enable(name, enabled)
    }

    /// Answers `prompts/get`.
    ///
    /// # Errors
    /// The prompt is unknown (K-2), or the client lacks a capability that it needs (DEC-9).
    pub(crate) fn get(
        &self,
        mut params: Box<GetPromptRequestParams>,
        exchange: impl FnOnce(&mut GetPromptRequestParams) -> Arc<Exchange>,
        conditions: &Conditions<'_>,
    ) -> std::result::Result<Called, ErrorObject> {
        let listing = self.now();
        let prompt = listing.find(&params.name, conditions.sight.as_ref())?;
        let exchange = exchange(&mut params);
        let missing = prompt.needs().missing_from(&exchange.peer().capabilities);
        if !missing.is_empty() {
            let era: Era = exchange.revision().era();
            return Err(undeclared(era, missing));
        }
        if params.input_responses.is_some() || params.request_state.is_some() {
            exchange.resume(conditions.message)?;
        }
        let arguments = params.arguments.take();
        Ok(run(prompt, Context(exchange), arguments, conditions))
    }

    /// Returns the argument `argument` of the prompt `name`, for completion.
    ///
    /// # Errors
    /// -32602 if there is no such prompt or argument (L-3).
    pub(crate) fn argument(
        &self,
        name: &str,
        argument: &str,
        sight: Option<&Sight<'_>>,
    ) -> std::result::Result<Argument, ErrorObject> {
        let listing = self.now();
        let prompt = listing.find_at(name, "/params/ref/name", sight)?;
        prompt.argument(argument)
    }
}

impl Room for Prompts {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        capabilities.prompts = Some(ServerCapabilitiesPrompts::default().with_list_changed(true));
    }

    fn topics(&self) -> &'static [Topic] {
        std::slice::from_ref(&TOPIC)
    }

    fn needs(&self, method: Method, name: &str, sight: Option<&Sight<'_>>) -> RequiredCapabilities {
        if method != Method::GetPrompt {
            return RequiredCapabilities::NONE;
        }
        let listing = self.now();
        listing
            .get(name, sight)
            .map_or(RequiredCapabilities::NONE, |prompt| prompt.needs())
    }
}

fn checked(
    set: PromptSet,
    options: CompileOptions,
    states: &States,
    revisions: Revisions,
    problems: &mut Vec<String>,
) -> Vec<PromptRoute> {
    let routes = set.finished(options, problems);
    for route in &routes {
        let (kind, name, place) = (PromptRoute::KIND, route.name(), route.place());
        let named = Named { kind, name, place };
        problems.extend(named.missing_states(route.required_states(), states));
        for (argument, completer) in route.completers() {
            problems.extend(missing_states(named, argument, completer, states));
        }
        problems.extend(named.undeclarable(route.needs(), revisions));
        problems.extend(named.inexpressible(route.forms(), revisions));
    }
    problems.extend(unlistable(routes.iter(), revisions));
    routes
}

impl Item for PromptRoute {
    const KIND: &'static str = "prompt";
    const RULE: &'static str = "known-prompt";
    const POINTER: &'static str = "/params/name";
    const METHOD: Method = Method::ListPrompts;
    type Page = ListPromptsResult;
    type Shown = Prompt;

    fn name(&self) -> &str {
        self.name()
    }

    fn place(&self) -> &dyn Display {
        self.place()
    }

    fn forms(&self) -> Option<&Forms> {
        Some(self.forms())
    }

    fn shown(&self, _: View<'_>) -> Prompt {
        self.prompt().clone()
    }

    fn page(shown: Vec<Prompt>, next_cursor: Option<String>) -> ListPromptsResult {
        let mut result = ListPromptsResult::new(shown);
        result.next_cursor = next_cursor;
        result
    }

    fn cache(page: &mut ListPromptsResult, caching: Caching) {
        if let Some((ttl, scope)) = caching.members() {
            (page.ttl_ms, page.cache_scope) = (Some(ttl), Some(scope));
        }
    }
}
