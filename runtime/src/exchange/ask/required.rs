//! A result that asks for input, put together by the author.

use serde::Serialize;
use trueform_schema::{InputRequest, Json, Map};

/// A result that asks the client for input, for authors who manage the rounds themselves. [`Context::ask`](crate::Context::ask) manages
/// them automatically.
///
/// A tool, prompt or resource returns it in place of its result. The client sends the request again with the answers.
/// [`Context::input_responses`](crate::Context::input_responses) returns the unchecked answers, and
/// [`Context::request_state`](crate::Context::request_state) returns the state. The state is sealed: clients can neither read nor change
/// it. Only clients of 2026-07-28 can be asked in this way; others get an error.
///
/// ```
/// use trueform::{InputRequired, prelude::*, schema::ListRootsRequest, tool::IntoToolResult};
/// use trueform::schema::CallToolResult;
///
/// /// Says how many roots there are.
/// #[tool(needs(roots))]
/// fn count_roots(context: Context) -> Result<CallToolResult, ToolError> {
///     match context.input_responses().get("roots") {
///         Some(answer) => {
///             let roots = answer.to_value()["roots"].as_array().map_or(0, Vec::len);
///             format!("{roots} roots").into_tool_result()
///         }
///         None => InputRequired::new()
///             .question("roots", ListRootsRequest::default())
///             .state("asked for roots")
///             .into_tool_result(),
///     }
/// }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "nothing is asked unless it is returned"]
pub struct InputRequired {
    questions: Map<InputRequest>,
    state: Option<Json>,
}

impl InputRequired {
    /// Creates a result without questions. If it is sent without any, the client only sends the request again.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks `question` under `key`. A second question with the same key replaces the first.
    ///
    /// ```
    /// use trueform::{InputRequired, schema::ListRootsRequest};
    ///
    /// let asked = InputRequired::new().question("roots", ListRootsRequest::default());
    /// ```
    // T-3
    pub fn question(mut self, key: impl Into<Box<str>>, question: impl Into<InputRequest>) -> Self {
        self.questions.insert(key, question.into());
        self
    }

    /// Sets the value that [`Context::request_state`](crate::Context::request_state) returns when the client sends the request again. A
    /// value that serde cannot write as JSON is left out, and the log reports it.
    ///
    /// ```
    /// use trueform::{InputRequired, schema::ListRootsRequest};
    ///
    /// let asked = InputRequired::new()
    ///     .question("roots", ListRootsRequest::default())
    ///     .state("asked for roots");
    /// ```
    pub fn state(mut self, state: impl Serialize) -> Self {
        match Json::from_value(&state) {
            Ok(state) => self.state = Some(state),
            Err(error) => tracing::warn!(%error, "a state that is not JSON was left out"),
        }
        self
    }

    /// Returns the questions.
    pub(crate) fn questions(&self) -> impl Iterator<Item = &InputRequest> {
        self.questions.iter().map(|(_, question)| question)
    }

    pub(super) fn into_parts(self) -> (Map<InputRequest>, Option<Json>) {
        (self.questions, self.state)
    }
}
