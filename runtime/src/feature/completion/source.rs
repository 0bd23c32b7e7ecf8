//! Where suggestions come from.

use std::{any::Any, fmt, sync::Arc};

use trueform_schema::Completion;

use super::{CompletionFunction, CompletionQuery, MAX_SUGGESTIONS};
use crate::feature::{
    callable::Step,
    failure::{IntoToolError, ToolError},
    function::{
        FromContext, MethodReceiver, RequiredState,
        invocation::{Begun, ParameterError, Reason},
    },
    offered::Named,
};
use crate::host::States;

/// What a function may return that suggests values: the values, best first, or a complete [`Completion`] with the total number of values.
/// If there are more than [`MAX_SUGGESTIONS`] values, only the first are sent, and the client learns that there are more.
// L-2
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a list of suggestions",
    label = "no suggestions",
    note = "return a `Vec` or an array of strings, a `Completion`, or one of these in a `Result`"
)]
pub trait IntoCompletion {
    /// Converts the value into suggestions.
    ///
    /// # Errors
    /// If the suggestions could not be looked up. The client gets -32603.
    fn into_completion(self) -> Result<Completion, ToolError>;
}

impl<T: Into<String>> IntoCompletion for Vec<T> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        let values: Vec<String> = self.into_iter().map(Into::into).collect();
        let total = i64::try_from(values.len()).ok();
        let mut completion = Completion::new(values);
        completion.total = total;
        Ok(completion)
    }
}

impl<T: Into<String>, const N: usize> IntoCompletion for [T; N] {
    fn into_completion(self) -> Result<Completion, ToolError> {
        Vec::from(self).into_completion()
    }
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Result<Completion, ToolError> {
        Ok(self)
    }
}

impl<T: IntoCompletion, E: IntoToolError> IntoCompletion for Result<T, E> {
    fn into_completion(self) -> Result<Completion, ToolError> {
        self.map_err(Into::into)?.into_completion()
    }
}

type Suggest = dyn Fn(CompletionQuery) -> Step<Result<Completion, ToolError>> + Send + Sync;

/// A method that suggests values: its parameters are the receiver, then the typed text.
type SuggestMethod = fn(&MethodReceiver, CompletionQuery) -> Begun<Completion>;

/// Where the suggestions for one argument come from.
#[derive(Clone)]
pub struct Completer {
    kind: Kind,
    /// State that a function requires.
    states: Vec<RequiredState>,
}

#[derive(Clone)]
enum Kind {
    Function(Arc<Suggest>),
    /// A method whose receiver is not known yet.
    Method(SuggestMethod),
    Values(Arc<[String]>),
}

/// Returns the suggestions of `function`.
#[must_use]
pub fn completer<K, F: CompletionFunction<K>>(function: F) -> Completer {
    let function = Arc::new(function);
    let mut states = Vec::new();
    F::require(&mut states);
    Completer {
        kind: Kind::Function(Arc::new(move |query| function.suggest(query))),
        states,
    }
}

/// Creates the completer of a method, whose injected parameters `require` describes.
#[must_use]
pub fn method_completer(
    method: fn(&MethodReceiver, CompletionQuery) -> Begun<Completion>,
    require: fn(&mut Vec<RequiredState>),
) -> Completer {
    let mut states = Vec::new();
    require(&mut states);
    Completer {
        kind: Kind::Method(method),
        states,
    }
}

/// Returns the value whose method suggests.
///
/// # Panics
/// Never if the macros call it: the method is bound to a value of the type that defines it.
#[must_use]
pub fn completing_server<S: Any + Send + Sync>(receiver: &MethodReceiver) -> Arc<S> {
    let server = receiver.clone().downcast();
    server.expect("a method is bound to the value whose type its code names")
}

/// Returns a parameter besides the query.
///
/// # Errors
/// The context does not have it.
pub fn injected<P: FromContext>(query: &CompletionQuery) -> Result<P, ParameterError> {
    P::from_context(query.context()).map_err(ParameterError::injected)
}

/// Returns the states that are missing in `states` and that `completer` needs, for the argument `argument` of `named`.
pub(crate) fn missing_states<'a>(
    named: Named<'a>,
    argument: &'a str,
    completer: &'a Completer,
    states: &'a States,
) -> impl Iterator<Item = String> + 'a {
    let missing = named.missing_states(&completer.states, states);
    missing.map(move |problem| format!("the completion of `{argument}`: {problem}"))
}

/// Suggests those of `values` that begin with the typed text.
#[must_use]
pub fn values(values: &[&str]) -> Completer {
    Completer::of_values(values.iter().map(|&value| value.to_owned()))
}

impl Completer {
    pub(crate) fn of_values(values: impl Iterator<Item = String>) -> Self {
        Self {
            kind: Kind::Values(values.collect()),
            states: Vec::new(),
        }
    }

    /// Binds a method to `receiver`.
    #[must_use]
    pub(crate) fn bound(self, receiver: &MethodReceiver) -> Self {
        let Kind::Method(method) = self.kind else {
            return self;
        };
        let receiver = receiver.clone();
        let suggest = move |query: CompletionQuery| match method(&receiver, query) {
            Ok(step) => step,
            Err(error) => Step::Ready(Err(match error.into_reason() {
                Reason::Injected(error) => error,
                // No argument is decoded here.
                Reason::Argument { error, .. } | Reason::Arguments(error) => {
                    ToolError::internal(error)
                }
            })),
        };
        Self {
            kind: Kind::Function(Arc::new(suggest)),
            ..self
        }
    }

    /// Removes the values of a list for which `keep` returns `false`.
    pub(crate) fn retaining(self, keep: impl Fn(&str) -> bool) -> Self {
        match self.kind {
            Kind::Function(_) | Kind::Method(_) => self,
            Kind::Values(values) => {
                Self::of_values(values.iter().filter(|value| keep(value)).cloned())
            }
        }
    }

    /// Begins to look for suggestions.
    pub(super) fn begin(&self, query: CompletionQuery) -> Step<Result<Completion, ToolError>> {
        match &self.kind {
            Kind::Function(function) => function(query),
            // Methods are bound when a spec becomes a draft.
            Kind::Method(_) => Step::Ready(Err(ToolError::internal("an unbound method"))),
            Kind::Values(values) => Step::Ready(matching(values, &query.value).into_completion()),
        }
    }
}

/// Returns those of `values` that begin with `typed`, ignoring case.
fn matching(values: &[String], typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let begins = |value: &&String| value.to_lowercase().starts_with(&typed);
    values.iter().filter(begins).cloned().collect()
}

/// Returns `completion` with at most [`MAX_SUGGESTIONS`] values; `hasMore` and `total` say what is left out.
pub(super) fn limited(mut completion: Completion) -> Completion {
    let found = completion.values.len();
    if MAX_SUGGESTIONS < found {
        completion.values.truncate(MAX_SUGGESTIONS);
        completion.has_more = Some(true);
        let found = i64::try_from(found).unwrap_or(i64::MAX);
        completion.total = Some(completion.total.unwrap_or(found).max(found));
    } else if completion.has_more.is_none()
        && let Some(total) = completion.total
    {
        completion.has_more = usize::try_from(total).ok().map(|total| found < total);
    }
    completion
}

impl fmt::Debug for Completer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.kind {
            Kind::Function(_) => f.write_str("Function"),
            Kind::Method(_) => f.write_str("Method"),
            Kind::Values(values) => f.debug_tuple("Values").field(values).finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(count: usize) -> Vec<String> {
        (0..count).map(|number| format!("n{number}")).collect()
    }

    // L-2
    #[test]
    fn limits() {
        for (found, total, sent, expected_total, more) in [
            (0, None, 0, 0, false),
            (100, None, 100, 100, false),
            (101, None, 100, 101, true),
            (250, Some(1000), 100, 1000, true),
            (250, Some(3), 100, 250, true),
            (3, Some(7), 3, 7, true),
            (3, Some(3), 3, 3, false),
        ] {
            let mut completion = numbers(found).into_completion().unwrap();
            completion.total = total.or(completion.total);
            let limited = limited(completion);
            assert_eq!(limited.values.len(), sent, "{found} {total:?}");
            assert_eq!(limited.total, Some(expected_total), "{found} {total:?}");
            assert_eq!(limited.has_more, Some(more), "{found} {total:?}");
        }
        let unknown = limited(Completion::new(numbers(3)));
        assert_eq!((unknown.total, unknown.has_more), (None, None));
    }

    #[test]
    fn lists_match_by_their_beginning() {
        let values = ["Paris".to_owned(), "PARMA".to_owned(), "Rome".to_owned()];
        for (typed, expected) in [
            ("", &["Paris", "PARMA", "Rome"][..]),
            ("par", &["Paris", "PARMA"]),
            ("paris", &["Paris"]),
            ("me", &[]),
        ] {
            assert_eq!(matching(&values, typed), expected, "{typed}");
        }
    }
}
