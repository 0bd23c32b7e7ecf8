//! The completion feature: finds the argument, and calls the code that suggests values for it.

use std::{fmt::Display, sync::Arc};

use trueform_schema::{
    CompleteRequestParams, CompleteResult, Completion, ErrorObject, JsonObject, Revision,
    ServerCapabilities, pointer,
};

use super::{
    CompletionQuery,
    source::{Completer, limited},
};
use crate::{
    exchange::{Context, Exchange},
    feature::{
        Room,
        call::{Conditions, run},
        callable::{Callable, Step, wrong_argument},
        failure::ToolError,
        function::Place,
        job::Called,
    },
    gate::Outgoing,
    jsonrpc::{self, ErrorDetail},
};

/// The capability to complete arguments. The features of prompts and resources hold the arguments.
#[derive(Debug)]
pub(crate) struct Completions;

impl Room for Completions {
    fn declare(&self, _: Revision, capabilities: &mut ServerCapabilities) {
        capabilities.completions = Some(JsonObject::empty());
    }
}

/// An argument whose values are suggested.
#[derive(Debug)]
pub(crate) struct Argument {
    /// The prompt or template that has the argument, for the log.
    pub(crate) owner: String,
    pub(crate) argument: String,
    pub(crate) place: Place,
    /// `None` if nothing suggests values for it.
    pub(crate) completer: Option<Completer>,
}

/// Returns the error for an argument `name` that the `kind` called `owner` does not have (L-3). `names` are its arguments.
#[cold]
pub(crate) fn unknown_argument<'a>(
    kind: &str,
    owner: &str,
    name: &str,
    names: impl Iterator<Item = &'a str>,
) -> ErrorObject {
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    let has = match names.is_empty() {
        true => "it takes none".to_owned(),
        false => format!("it takes {}", names.join(", ")),
    };
    let detail = ErrorDetail::new(
        "/params/argument/name",
        "known-argument",
        "the name of an argument",
        format!("string of {} bytes", name.len() + 2),
    );
    let (owner, name) = (jsonrpc::shortened(owner), jsonrpc::shortened(name));
    jsonrpc::invalid_params(
        format!("{kind} `{owner}` has no argument `{name}`; {has}"),
        &detail,
    )
}

impl Completions {
    /// Answers `completion/complete` for `argument`.
    pub(crate) fn complete(
        argument: Argument,
        params: CompleteRequestParams,
        exchange: Arc<Exchange>,
        conditions: &Conditions<'_>,
    ) -> Called {
        let cx = Context(exchange);
        let arguments = params.context.and_then(|context| context.arguments);
        let query = CompletionQuery {
            value: params.argument.value,
            arguments: arguments.unwrap_or_default(),
            context: cx.clone(),
        };
        run(&Arc::new(argument), cx, query, conditions)
    }
}

impl Callable for Argument {
    type Params = CompletionQuery;
    type Output = Completion;

    fn name(&self) -> &str {
        &self.owner
    }

    fn place(&self) -> &dyn Display {
        &self.place
    }

    fn call(
        self: &Arc<Self>,
        _: &Context,
        query: CompletionQuery,
    ) -> Step<Result<Completion, ToolError>> {
        match &self.completer {
            Some(completer) => completer.begin(query),
            None => Step::Ready(Ok(Completion::new(Vec::new()))),
        }
    }

    fn wrong_argument(&self, argument: &str, problem: &str) -> ErrorObject {
        let pointer = match argument == self.argument {
            true => "/params/argument/value".to_owned(),
            false => format!("/params/context/arguments/{}", pointer::escape(argument)),
        };
        wrong_argument(pointer, argument, problem)
    }

    fn respond(
        &self,
        cx: &Context,
        outcome: Result<Completion, ToolError>,
    ) -> Result<Outgoing, ErrorObject> {
        let completion = outcome.map_err(|error| self.error(error))?;
        let result = CompleteResult::new(limited(completion));
        cx.0.result("completion/complete", &result)
    }
}
