//! Where suggestions come from.

use std::{fmt, future::Future, sync::Arc};

use trueform_schema::Completion;

use super::{CompletionQuery, MAX_SUGGESTIONS};
use crate::feature::{
    callable::Step,
    failure::{IntoToolError, ToolError},
};

/// What a function may return that suggests values: the values, best first, or a whole [`Completion`] with the number of all there
/// are. Of more than [`MAX_SUGGESTIONS`] values the first are sent, and the client learns that there are more (L-2).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a list of suggestions",
    label = "no suggestions",
    note = "return a `Vec` or an array of strings, a `Completion`, or one of these in a `Result`"
)]
pub trait IntoCompletion {
    /// The suggestions.
    ///
    /// # Errors
    /// If there are none to be had. The client gets -32603.
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

/// A function that suggests values for an argument: it takes a [`CompletionQuery`] and returns what is [`IntoCompletion`], at once
/// or as a future.
///
/// `Kind` says which, and is always inferred. Not to be implemented elsewhere.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot complete an argument",
    label = "not a function that suggests values",
    note = "write `fn name(query: trueform::completion::CompletionQuery) -> Vec<String>`, or an `async` one",
    note = "it takes no `&self` and nothing injected: `query.context().state::<T>()` has what `Server::state` registered"
)]
pub trait CompletionFunction<Kind>: Send + Sync + 'static {
    #[doc(hidden)]
    fn suggest(&self, query: CompletionQuery) -> Step<Result<Completion, ToolError>>;
}

/// The kinds of such functions.
#[derive(Debug)]
pub struct SuggestsAtOnce<R>(std::marker::PhantomData<R>);
#[derive(Debug)]
pub struct SuggestsLater<F>(std::marker::PhantomData<F>);

#[diagnostic::do_not_recommend]
impl<F, R> CompletionFunction<SuggestsAtOnce<R>> for F
where
    F: Fn(CompletionQuery) -> R + Send + Sync + 'static,
    R: IntoCompletion,
{
    fn suggest(&self, query: CompletionQuery) -> Step<Result<Completion, ToolError>> {
        Step::Ready(self(query).into_completion())
    }
}

#[diagnostic::do_not_recommend]
impl<F, R> CompletionFunction<SuggestsLater<R>> for F
where
    F: Fn(CompletionQuery) -> R + Send + Sync + 'static,
    R: Future + Send + 'static,
    R::Output: IntoCompletion,
{
    fn suggest(&self, query: CompletionQuery) -> Step<Result<Completion, ToolError>> {
        let future = self(query);
        Step::Later(Box::pin(async move { future.await.into_completion() }))
    }
}

type Suggest = dyn Fn(CompletionQuery) -> Step<Result<Completion, ToolError>> + Send + Sync;

/// Where the suggestions for one argument come from.
#[derive(Clone)]
pub struct Completer(Kind);

#[derive(Clone)]
enum Kind {
    Function(Arc<Suggest>),
    Values(Arc<[String]>),
}

/// The suggestions of `function`.
#[must_use]
pub fn completer<K, F: CompletionFunction<K>>(function: F) -> Completer {
    Completer(Kind::Function(Arc::new(move |query| {
        function.suggest(query)
    })))
}

/// Those of `values` that begin with what was typed.
#[must_use]
pub fn values(values: &[&str]) -> Completer {
    Completer::of_values(values.iter().map(|&value| value.to_owned()))
}

impl Completer {
    pub(crate) fn of_values(values: impl Iterator<Item = String>) -> Self {
        Self(Kind::Values(values.collect()))
    }

    /// The same, of a list only those values that `keep` holds for.
    pub(crate) fn retaining(self, keep: impl Fn(&str) -> bool) -> Self {
        match self.0 {
            Kind::Function(_) => self,
            Kind::Values(values) => {
                Self::of_values(values.iter().filter(|value| keep(value)).cloned())
            }
        }
    }

    /// Begins to look for suggestions.
    pub(super) fn begin(&self, query: CompletionQuery) -> Step<Result<Completion, ToolError>> {
        match &self.0 {
            Kind::Function(function) => function(query),
            Kind::Values(values) => Step::Ready(matching(values, &query.value).into_completion()),
        }
    }
}

/// Those of `values` that begin with `typed`, whatever the case of its letters.
fn matching(values: &[String], typed: &str) -> Vec<String> {
    let typed = typed.to_lowercase();
    let begins = |value: &&String| value.to_lowercase().starts_with(&typed);
    values.iter().filter(begins).cloned().collect()
}

/// `completion` with at most [`MAX_SUGGESTIONS`] values; `hasMore` and `total` say what is left out.
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
        match &self.0 {
            Kind::Function(_) => f.write_str("Function"),
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
