//! The code of one resource or template, and one read of it.

use std::{
    fmt::{self, Display},
    sync::Arc,
};

use trueform_schema::{CacheScope, Era, ErrorObject, Json, Revision};

use super::contents::ResourceOutput;
use crate::{
    exchange::Context,
    feature::{
        caching::Caching,
        callable::{Callable, Step, Timeout},
        completion::Completer,
        failure::ToolError,
        form::Forms,
        function::{Place, TextFunction, Wording},
        lost::ReportedLosses,
        offered::Named,
    },
    gate::Outgoing,
    jsonrpc::{self, ErrorDetail, code},
    needs::RequiredCapabilities,
};

/// JSON pointer to the URI in the params of requests that have one.
pub(super) const POINTER: &str = "/params/uri";

pub(super) type ResourceOutcome = Result<ResourceOutput, ToolError>;

/// The code behind a resource or a template.
pub(super) enum Code {
    Function(TextFunction<ResourceOutput>),
    Dynamic(DynamicCode),
}

/// Code that takes the URI and the unconverted values of the variables.
pub(super) type DynamicCode =
    Arc<dyn Fn(&Context, &Reading) -> Step<ResourceOutcome> + Send + Sync>;

/// What a read of a URI calls.
pub(crate) struct Reader {
    /// The URI, or the template as it was written.
    pub(super) uri: Box<str>,
    pub(super) place: Place,
    pub(super) timeout: Option<Timeout>,
    pub(super) needs: RequiredCapabilities,
    /// The forms that its function asks clients for.
    pub(super) forms: Forms,
    pub(super) caching: Caching,
    /// Whether some callers do not see everything.
    pub(super) is_limited: bool,
    pub(super) mime_type: Option<Box<str>>,
    pub(super) code: Code,
    /// The names of the variables of a template.
    pub(super) variables: Vec<Box<str>>,
    /// The completers of the variables.
    pub(super) completers: Vec<Option<Completer>>,
    pub(super) reported: ReportedLosses,
}

/// One read: what is called for `resources/read`.
pub(crate) struct Reading {
    pub(super) reader: Arc<Reader>,
    /// The requested URI.
    pub(super) uri: String,
    /// The values of the variables, in order.
    pub(super) values: Vec<String>,
}

impl Reading {
    /// Returns the variables and their values.
    pub(super) fn variables(&self) -> impl Iterator<Item = (&str, &str)> {
        let names = self.reader.variables.iter().map(|name| &**name);
        names.zip(self.values.iter().map(|value| &**value))
    }

    fn wording(&self) -> Wording<'_> {
        Wording {
            kind: "resource",
            name: &self.uri,
            pointer: POINTER,
            in_one_string: true,
        }
    }
}

impl Callable for Reading {
    type Params = ();
    type Output = ResourceOutput;

    fn name(&self) -> &str {
        &self.reader.uri
    }

    fn place(&self) -> &dyn Display {
        &self.reader.place
    }

    fn timeout(&self) -> Option<Timeout> {
        self.reader.timeout
    }

    #[inline]
    fn call(self: &Arc<Self>, cx: &Context, (): ()) -> Step<ResourceOutcome> {
        match &self.reader.code {
            Code::Function(function) => function.call(cx, self.variables(), self.wording()),
            Code::Dynamic(code) => code(cx, self),
        }
    }

    fn wrong_argument(&self, argument: &str, problem: &str) -> ErrorObject {
        self.wording().wrong_argument(argument, problem)
    }

    fn respond(&self, cx: &Context, outcome: ResourceOutcome) -> Result<Outgoing, ErrorObject> {
        let exchange = &cx.0;
        let output = match outcome {
            Ok(output) if !output.result.contents.is_empty() => output,
            // J-3
            Ok(_) => return Err(not_found(exchange.revision(), &self.uri, None)),
            Err(error) if error.is_not_found() => {
                let message = Some(error.message()).filter(|message| !message.is_empty());
                return Err(not_found(exchange.revision(), &self.uri, message));
            }
            Err(error) => return Err(self.error(error)),
        };
        let mut result = output.filled(&self.uri, self.reader.mime_type.as_deref());
        if let Some((ttl, scope)) = self.reader.caching.members() {
            result.ttl_ms.get_or_insert(ttl);
            result.cache_scope.get_or_insert(scope);
        }
        if self.reader.is_limited && result.cache_scope == Some(CacheScope::Public) {
            // V-10
            tracing::warn!(
                resource = self.name(),
                place = %self.place(),
                "a result says that anyone may share it, but `Server::visible` limits who sees it: it is sent as private"
            );
            result.cache_scope = Some(CacheScope::Private);
        }
        let (kind, name, place) = ("resource", self.name(), self.place());
        let named = Named { kind, name, place };
        named.finish_meta(exchange, &mut result, |result| &mut result.meta)?;
        let response = exchange.result(name, &result)?;
        let reported = &self.reader.reported;
        reported.log((kind, name), &result, None, exchange.revision());
        Ok(response)
    }
}

/// Longest URI that the error for an unknown one repeats, in bytes.
const MAX_REPEATED_URI: usize = 2048;

/// Returns the error for a URI without a resource, with the URI as `data.uri` (J-2, J-3). `message` is the author's text.
#[cold]
pub(super) fn not_found(revision: Revision, uri: &str, message: Option<&str>) -> ErrorObject {
    let found = format!("string of {} bytes", uri.len() + 2);
    let detail = ErrorDetail::new(POINTER, "known-resource", "the URI of a resource", found);
    let mut data = detail.data().to_value();
    data["uri"] = match uri.len() {
        ..=MAX_REPEATED_URI => uri.into(),
        _ => jsonrpc::shortened(uri).into(),
    };
    let code = match revision.era() {
        Era::Legacy => code::RESOURCE_NOT_FOUND,
        Era::Modern => code::INVALID_PARAMS,
    };
    let message = match message {
        Some(message) => message.to_owned(),
        None => format!("unknown resource `{}`", jsonrpc::shortened(uri)),
    };
    ErrorObject::new(code, message).with_data(Json::from(data))
}

impl fmt::Debug for Reader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader")
            .field("uri", &self.uri)
            .field("place", &self.place)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reading")
            .field("uri", &self.uri)
            .field("values", &self.values)
            .finish_non_exhaustive()
    }
}
