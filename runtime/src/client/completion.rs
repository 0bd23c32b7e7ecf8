//! Asking for suggestions.

use std::{
    fmt,
    future::{Future, IntoFuture},
    pin::Pin,
};

use trueform_schema::{
    CompleteRequestParams, Completion, CompletionArgument, CompletionContext, CompletionReference,
    Map, methods,
};

use super::{
    Client,
    call_options::{RequestOptions, call_options},
    error::ClientError,
    request::Request,
};

/// A request for suggestions that is sent when awaited.
#[must_use = "a request is sent when it is awaited"]
pub struct CompletionCall {
    client: Client,
    params: CompleteRequestParams,
    plan: RequestOptions,
}

call_options!(impl[] CompletionCall);

impl CompletionCall {
    pub(super) fn new(
        client: Client,
        reference: CompletionReference,
        argument: CompletionArgument,
    ) -> Self {
        let params = CompleteRequestParams::new(argument, reference);
        Self {
            client,
            params,
            plan: RequestOptions::default(),
        }
    }

    /// Adds the value of another argument that is filled in. Servers get it since 2025-06-18.
    ///
    /// ```no_run
    /// use trueform::{client::Client, schema::PromptReference};
    ///
    /// # async fn complete(client: &Client) -> Result<(), Box<dyn std::error::Error>> {
    /// let prompt = PromptReference::new("trip");
    /// let suggested = client.complete(prompt, "city", "R").with("country", "Italy").await?;
    /// println!("{:?}", suggested.values);
    /// # Ok(())
    /// # }
    /// ```
    pub fn with(mut self, argument: impl Into<String>, value: impl Into<String>) -> Self {
        let context = self
            .params
            .context
            .get_or_insert_with(CompletionContext::default);
        let arguments = context.arguments.get_or_insert_with(Map::new);
        arguments.insert(argument.into(), value.into());
        self
    }
}

impl IntoFuture for CompletionCall {
    type Output = Result<Completion, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let request = Request::<methods::Complete>::with(self.client, self.params, self.plan);
            Ok(request.await?.completion)
        })
    }
}

impl fmt::Debug for CompletionCall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompletionCall")
            .field("params", &self.params)
            .finish_non_exhaustive()
    }
}
