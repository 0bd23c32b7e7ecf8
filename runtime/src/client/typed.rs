//! Calls of tools whose results are values of a type, held to the output schemas that the server lists.

use std::{
    fmt,
    future::{Future, IntoFuture},
    marker::PhantomData,
    pin::Pin,
};

use serde::de::DeserializeOwned;
use trueform_schema::CallToolResult;

use super::{
    Client, ToolCall,
    error::{ClientError, LocalError},
};
use crate::gate::Policy;

/// A call of a tool that returns a `T`; made by [`ToolCall::output`], sent when it is awaited.
#[must_use = "a call is sent when it is awaited"]
pub struct TypedCall<T> {
    call: ToolCall,
    output: PhantomData<fn() -> T>,
}

impl ToolCall {
    /// Makes the call return its structured content as a `T`.
    ///
    /// The client checks the structured content against the output schema that the server lists for the tool. It reads the list before
    /// the first such call, and keeps it until the server reports that its tools have changed. If a result does not fit the schema, the
    /// client reads the list again and repeats the check. [`incoming`](super::ClientOptions::incoming) decides what happens to a result
    /// that does not fit. A schema that cannot be compiled is reported in the log, and its results are not checked.
    ///
    /// ```
    /// # use trueform::prelude::*;
    /// # use schemars::JsonSchema;
    /// # use serde::{Deserialize, Serialize};
    /// #[derive(Serialize, Deserialize, JsonSchema)]
    /// struct Sum {
    ///     sum: i64,
    /// }
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i64, b: i64) -> Json<Sum> {
    ///     Json(Sum { sum: a + b })
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let client = Server::new("calc", "1.0.0").tools(tools![add]).connect().await?;
    /// let five: Sum = client.call_tool("add", serde_json::json!({ "a": 2, "b": 3 })).output().await?;
    /// assert_eq!(five.sum, 5);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// The call ends with [`LocalError::ToolFailed`] if the tool fails, [`LocalError::Output`] if the structured content does not fit the
    /// output schema, [`LocalError::OutputType`] if it is not a `T`; otherwise as any call.
    // I-8
    pub fn output<T: DeserializeOwned>(self) -> TypedCall<T> {
        TypedCall {
            call: self,
            output: PhantomData,
        }
    }
}

impl<T: DeserializeOwned> TypedCall<T> {
    async fn run(self) -> Result<T, ClientError> {
        let client = self.call.client().clone();
        let name = self.call.tool().map(str::to_owned);
        let tools = client.known_tools().await?;
        let result = self.call.await?;
        if result.is_error == Some(true) {
            return Err(LocalError::ToolFailed(Box::new(result)).into());
        }
        if let Some(tool) = &name
            && let Err(problem) = tools.check(tool, &result)
        {
            client
                .explain(&tools, tool.clone(), &result, problem)
                .await?;
        }
        result.structured().map_err(|error| {
            let error = match result.structured_content {
                Some(_) => error.under("/structuredContent"),
                None => error,
            };
            LocalError::OutputType {
                tool: name.unwrap_or_default(),
                expected: std::any::type_name::<T>(),
                error,
            }
            .into()
        })
    }
}

impl Client {
    /// Checks a result again that does not fit the output schema of its tool, which may have changed.
    #[cold]
    async fn explain(
        &self,
        tools: &std::sync::Arc<super::catalog::KnownTools>,
        tool: String,
        result: &CallToolResult,
        problem: String,
    ) -> Result<(), ClientError> {
        let problem = match self.tools_after(tools).await {
            Ok(tools) => tools.check(&tool, result).err(),
            Err(error) => {
                tracing::debug!(%error, "the tools were not listed again");
                Some(problem)
            }
        };
        let Some(problem) = problem else {
            return Ok(());
        };
        let policy = self.inner.link.gate.inbound.policy;
        let error = LocalError::Output { tool, problem };
        if policy == Policy::Enforce {
            return Err(error.into());
        }
        if policy == Policy::Warn {
            tracing::warn!(%error, "a result is let in");
        }
        Ok(())
    }
}

impl<T: DeserializeOwned + Send + 'static> IntoFuture for TypedCall<T> {
    type Output = Result<T, ClientError>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for TypedCall<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("TypedCall")
            .field("call", &self.call)
            .finish_non_exhaustive()
    }
}
