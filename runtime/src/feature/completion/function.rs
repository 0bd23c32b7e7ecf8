//! The functions that suggest values, distinguished by their parameters and by how they run.

use std::{future::Future, marker::PhantomData, sync::Arc};

use trueform_schema::Completion;

use super::{CompletionQuery, IntoCompletion};
use crate::feature::{
    callable::Step,
    failure::ToolError,
    function::{FromContext, RequiredState},
};

/// A function that suggests values for an argument: it takes a [`CompletionQuery`], then up to four values that are injected as for tools,
/// such as [`State<T>`](crate::State), and returns an [`IntoCompletion`], directly or as a future. Wrap a function that blocks its thread
/// in [`Blocking`].
///
/// `Kind` distinguishes the kinds, and is always inferred. Do not implement this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot complete an argument",
    label = "not a function that suggests values",
    note = "write `fn name(query: trueform::completion::CompletionQuery) -> Vec<String>`, or an `async` one",
    note = "it returns a `Vec` or an array of strings, a `Completion`, or one of these in a `Result`",
    note = "after the query it may take up to four injected values, such as `State<T>` and `Context`; a method that takes `&self` is named `Self::name` and stands in the same `#[server] impl`"
)]
pub trait CompletionFunction<Kind>: Send + Sync + 'static {
    #[doc(hidden)]
    fn suggest(self: &Arc<Self>, query: CompletionQuery) -> Step<Result<Completion, ToolError>>;

    /// Adds the state that the server must have, so that a server without it does not start.
    #[doc(hidden)]
    fn require(needed: &mut Vec<RequiredState>);
}

/// A function that suggests values and blocks its thread. It runs on the threads of `blocking` tools.
///
/// ```
/// use trueform::{completion::{Blocking, CompletionQuery}, prelude::*};
///
/// fn files(query: CompletionQuery) -> std::io::Result<Vec<String>> {
///     let names = std::fs::read_dir(".")?.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned()));
///     let names: std::io::Result<Vec<String>> = names.collect();
///     Ok(names?.into_iter().filter(|name| name.starts_with(query.value())).collect())
/// }
///
/// let prompt = DynamicPrompt::new("review")
///     .argument("file", "The file to review.", true)
///     .complete("file", Blocking(files))
///     .handler(|_, arguments| async move { format!("Review {:?}.", arguments.get("file")) });
/// # let _ = prompt;
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Blocking<F>(pub F);

/// The kinds of such functions, by their parameters after the query and their return type.
#[derive(Debug)]
pub struct SuggestsAtOnce<P>(PhantomData<P>);
#[derive(Debug)]
pub struct SuggestsLater<P>(PhantomData<P>);
#[derive(Debug)]
pub struct SuggestsOnThread<P>(PhantomData<P>);

/// Takes the injected parameters from the query, or returns the error.
macro_rules! injected {
    ($query:ident: $($P:ident)*) => {
        $(
            #[expect(non_snake_case, reason = "a parameter is named as its type")]
            let $P = match $P::from_context($query.context()) {
                Ok(value) => value,
                Err(error) => return Step::Ready(Err(error)),
            };
        )*
    };
}

macro_rules! completion_functions {
    ($($P:ident)*) => {
        #[diagnostic::do_not_recommend]
        impl<F, R, $($P,)*> CompletionFunction<SuggestsAtOnce<($($P,)* R,)>> for F
        where
            F: Fn(CompletionQuery, $($P),*) -> R + Send + Sync + 'static,
            R: IntoCompletion,
            $($P: FromContext,)*
        {
            fn suggest(
                self: &Arc<Self>,
                query: CompletionQuery,
            ) -> Step<Result<Completion, ToolError>> {
                injected!(query: $($P)*);
                Step::Ready(self(query, $($P),*).into_completion())
            }

            fn require(_needed: &mut Vec<RequiredState>) {
                $($P::require(_needed);)*
            }
        }

        #[diagnostic::do_not_recommend]
        impl<F, R, $($P,)*> CompletionFunction<SuggestsLater<($($P,)* R,)>> for F
        where
            F: Fn(CompletionQuery, $($P),*) -> R + Send + Sync + 'static,
            R: Future + Send + 'static,
            R::Output: IntoCompletion,
            $($P: FromContext,)*
        {
            fn suggest(
                self: &Arc<Self>,
                query: CompletionQuery,
            ) -> Step<Result<Completion, ToolError>> {
                injected!(query: $($P)*);
                let future = self(query, $($P),*);
                Step::Later(Box::pin(async move { future.await.into_completion() }))
            }

            fn require(_needed: &mut Vec<RequiredState>) {
                $($P::require(_needed);)*
            }
        }

        #[diagnostic::do_not_recommend]
        impl<F, R, $($P,)*> CompletionFunction<SuggestsOnThread<($($P,)* R,)>> for Blocking<F>
        where
            F: Fn(CompletionQuery, $($P),*) -> R + Send + Sync + 'static,
            R: IntoCompletion,
            $($P: FromContext + Send + 'static,)*
        {
            fn suggest(
                self: &Arc<Self>,
                query: CompletionQuery,
            ) -> Step<Result<Completion, ToolError>> {
                injected!(query: $($P)*);
                let this = self.clone();
                Step::Blocking(Box::new(move || (this.0)(query, $($P),*).into_completion()))
            }

            fn require(_needed: &mut Vec<RequiredState>) {
                $($P::require(_needed);)*
            }
        }
    };
}

completion_functions!();
completion_functions!(A);
completion_functions!(A B);
completion_functions!(A B C);
completion_functions!(A B C D);
