//! What a request can call, whatever it is: a tool, a method of an extension.

use std::{
    borrow::Cow,
    fmt::{self, Display},
    future::Future,
    pin::Pin,
    sync::Arc,
    time::Duration,
};

use trueform_schema::{Era, ErrorObject, ToolAnnotations};

use super::{
    failure::{Chain, Instead, ToolError},
    undeclared,
};
use crate::{
    contained::Panic,
    exchange::Context,
    gate::Outgoing,
    jsonrpc::{self, ErrorDetail},
};

/// How far an author's code came when it was called.
pub enum Step<R> {
    /// It is done.
    Ready(R),
    /// It goes on as a future.
    Later(Pin<Box<dyn Future<Output = R> + Send>>),
    /// It is work that holds its thread.
    Blocking(Box<dyn FnOnce() -> R + Send>),
    /// Before it can begin, there is work that holds its thread.
    Preparing(Box<dyn FnOnce() -> Prepared<R> + Send>),
}

/// How a call begins after the work before it, where it would have begun without that work.
pub(crate) type Prepared<R> = Box<dyn FnOnce() -> Step<R> + Send>;

impl<R> fmt::Debug for Step<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ready(_) => "Ready",
            Self::Later(_) => "Later",
            Self::Blocking(_) => "Blocking",
            Self::Preparing(_) => "Preparing",
        })
    }
}

/// Something that a request can call.
pub(crate) trait Callable: Send + Sync + 'static {
    /// The decoded params.
    type Params: Send + 'static;
    /// What a call that succeeds returns.
    type Output: Send + 'static;

    fn name(&self) -> &str;

    /// Where it was written, for the log.
    fn place(&self) -> &dyn Display;

    /// The hints for clients, which layers may see.
    fn annotations(&self) -> Option<&ToolAnnotations> {
        None
    }

    fn timeout(&self) -> Option<Timeout> {
        None
    }

    /// Runs the author's code as far as it goes without waiting.
    fn call(
        self: &Arc<Self>,
        cx: &Context,
        params: Self::Params,
    ) -> Step<Result<Self::Output, ToolError>>;

    /// The error for the `error` that the author's code returned: the author's message with -32603 unless the author chose a
    /// code. For what has no results that say so.
    fn error(&self, mut error: ToolError) -> ErrorObject {
        if let Some(error) = instead(self.name(), self.place(), &mut error) {
            return error;
        }
        if let Some(argument) = error.argument() {
            return self.wrong_argument(argument, error.message());
        }
        let (message, _, protocol) = error.into_parts();
        protocol.unwrap_or_else(|| jsonrpc::internal(message))
    }

    /// The error for the value of `argument`, which the author's code refused: -32602. `problem` is the author's.
    fn wrong_argument(&self, argument: &str, problem: &str) -> ErrorObject {
        wrong_argument("/params", argument, problem)
    }

    /// What the call returns if the author's code did not finish: -32603. The log has the reason already.
    ///
    /// # Errors
    /// The error that the client gets.
    fn failed(&self, failure: &Failure) -> Result<Self::Output, ErrorObject> {
        Err(unfinished(self.name(), failure))
    }

    /// The response to a call that ended with `outcome`.
    ///
    /// # Errors
    /// The error that the client gets, also if its revision does not allow the output.
    fn respond(
        &self,
        cx: &Context,
        outcome: Result<Self::Output, ToolError>,
    ) -> Result<Outgoing, ErrorObject>;
}

/// The error for a call that ends with something else than an `error` of the author's; `None` if it is the author's, whose source is
/// logged.
#[cold]
fn instead(name: &str, place: &dyn Display, error: &mut ToolError) -> Option<ErrorObject> {
    // DEC-9
    match error.take_instead() {
        Some(Instead::Undeclared(missing)) => return Some(undeclared(Era::Legacy, missing)),
        Some(Instead::NoForm(revision)) => {
            let found = format!("a request at {revision}");
            return Some(inexpressible(error.message(), found));
        }
        // Only clients of the legacy era get here.
        Some(Instead::Required(_)) => {
            return Some(inexpressible(
                error.message(),
                "a request at an older revision",
            ));
        }
        Some(Instead::Questions | Instead::Malformed(_)) | None => {}
    }
    if let Some(source) = error.source() {
        tracing::warn!(name, %place, error = %Chain(source), "a call failed");
    }
    None
}

/// The error of what has no result that could say so, for a request at a revision that cannot express what it asks the client: -32602
/// (DEC-9).
#[cold]
fn inexpressible(problem: &str, found: impl Into<Cow<'static, str>>) -> ErrorObject {
    let expected = "a request at a revision that can express what it asks the client";
    jsonrpc::invalid_params(
        problem,
        &ErrorDetail::new("/method", "revision", expected, found),
    )
}

/// The error for the value of `argument` at `pointer`, which the author's code refused.
#[cold]
pub(crate) fn wrong_argument(
    pointer: impl Into<Cow<'static, str>>,
    argument: &str,
    problem: &str,
) -> ErrorObject {
    let detail = ErrorDetail::new(pointer, "argument", problem.to_owned(), "another value");
    jsonrpc::invalid_params(format!("`{argument}`: {problem}"), &detail)
}

/// The error for a call of `name`, whose author's code did not finish: -32603.
#[cold]
fn unfinished(name: &str, failure: &Failure) -> ErrorObject {
    match failure {
        Failure::Panicked(_) | Failure::LayerPanicked(_) => jsonrpc::internal("internal error"),
        Failure::TimedOut(limit) => {
            jsonrpc::internal(format!("`{name}` did not finish within {limit:?}"))
        }
        Failure::NoThread => jsonrpc::internal(format!(
            "`{name}` did not run: the server is busy; try again later"
        )),
        Failure::Stopped => stopped(),
        Failure::TooLarge { bytes, limit } => jsonrpc::internal(too_large(name, *bytes, *limit)),
    }
}

/// The error for a request that the server stopped before it was answered (DEC-11).
pub(crate) fn stopped() -> ErrorObject {
    jsonrpc::internal("the server stopped before the request was answered")
}

/// Says that the response of `what` is larger than a layer allows.
pub(crate) fn too_large(what: &str, bytes: usize, limit: usize) -> String {
    format!("the response of `{what}` has {bytes} bytes; at most {limit} are allowed")
}

/// How long a call may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Timeout {
    /// From the start, or from the last report of progress.
    pub(crate) limit: Duration,
    /// Whether a report of progress starts the time anew.
    pub(crate) reset_by_progress: bool,
    /// From the start, whatever is reported.
    pub(crate) hard_limit: Option<Duration>,
}

impl Timeout {
    /// `limit` from the start, whatever is reported.
    pub(crate) fn of(limit: Duration) -> Self {
        Self {
            limit,
            reset_by_progress: false,
            hard_limit: None,
        }
    }
}

/// Why an author's code did not finish.
#[derive(Debug)]
pub(crate) enum Failure {
    Panicked(Panic),
    /// A call layer panicked before the call was admitted: the author's code never ran.
    LayerPanicked(Panic),
    TimedOut(Duration),
    /// No thread was left for code that blocks.
    NoThread,
    /// The server stopped before the code ended (DEC-11).
    Stopped,
    /// The response has more bytes than a layer allows.
    TooLarge {
        bytes: usize,
        limit: usize,
    },
}
