//! Typed questions: a form, a web page, the client's model, its roots.

use trueform_schema::{
    CreateMessageRequest, CreateMessageRequestParams, CreateMessageResult, DecodeError,
    ElicitRequest, ElicitRequestFormParams, ElicitRequestURLParams, InputRequest, InputResponse,
    ListRootsRequest, ListRootsResult, Method, Root,
};

use super::form::{Askable, Form, FormFault};
use crate::exchange::{AskError, Asked, Context, FormSchema};

mod url;

pub use self::url::VisitedUrl;

/// Converts a fault in the content of a form to the error of any other answer.
fn unfit(fault: FormFault) -> DecodeError {
    let problem = format!("expected {}, found {}", fault.expected, fault.found);
    DecodeError::new(fault.pointer, problem)
}

impl Context {
    /// Asks the user of the client for a value of type `T`, with the text `message`. A struct of strings, numbers, booleans and
    /// enumerations is a form with these fields; one such value alone is a form with one field. [`Askable`] has the details.
    ///
    /// `key` names the question within the call. The answer is checked against the form, by the schema of the client's revision and
    /// by the bounds of the Rust types. If it does not fit, the client is asked again, within the rounds that
    /// [`Server::ask_rounds`](crate::Server::ask_rounds) allows. A refusal is an answer: see [`Asked`]. Do not ask for secrets in this way;
    /// use [`ask_url`](Self::ask_url) for them.
    ///
    /// The future does nothing unless it is awaited, so only `async` functions can ask. rustc warns about a future that is not awaited
    /// (`unused_must_use`).
    ///
    /// Clients until 2025-11-25 get a request, and the function waits for the answer. **A client of 2026-07-28 is asked within the result
    /// of the call, and the function runs again with the answer: what it does before the question is repeated.** Use [`once`](Self::once)
    /// to avoid this. All questions that wait at the same time, such as under `tokio::join!`, are asked together. In tests,
    /// `testing::ScriptedUser` answers (feature `testing`).
    ///
    /// ```
    /// use serde::Deserialize;
    /// use serde_json::json;
    /// use trueform::client::{Answering, ClientHandler, ClientOptions};
    /// use trueform::{prelude::*, schemars::JsonSchema};
    /// use trueform::schema::{ClientCapabilities, Json as RawJson};
    ///
    /// /// A table.
    /// #[derive(Deserialize, JsonSchema)]
    /// struct Table {
    ///     /// How many people come.
    ///     people: u8,
    ///     outside: Option<bool>,
    /// }
    ///
    /// /// Books a table.
    /// #[tool]
    /// async fn book(context: Context) -> Result<String, ToolError> {
    ///     Ok(match context.ask::<Table>("table", "Which table?").await? {
    ///         Asked::Accepted(table) => format!("booked for {}", table.people),
    ///         Asked::Declined | Asked::Cancelled => "not booked".to_owned(),
    ///     })
    /// }
    ///
    /// struct Four;
    ///
    /// impl ClientHandler for Four {
    ///     fn answer(&self, _: &str, _: Option<RawJson>) -> Answering<'_> {
    ///         let answer = json!({ "action": "accept", "content": { "people": 4 } });
    ///         Box::pin(std::future::ready(Ok(RawJson::from(answer))))
    ///     }
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// // The same in both eras.
    /// for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
    ///     let capabilities: ClientCapabilities = serde_json::from_value(json!({ "elicitation": {} }))?;
    ///     let asked = ClientOptions::at(revision).capabilities(capabilities).handler(Four);
    ///     let client = Server::new("tables", "1.0.0").tools(tools![book]).connect_as(asked).await?;
    ///     let booked = client.call_tool("book", ()).await?;
    ///     assert!(serde_json::to_string(&booked)?.contains("booked for 4"));
    /// }
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`AskError::NotDeclared`] if the client cannot be asked. Passed on by `?`, it becomes -32021 at 2026-07-28; before that, a tool
    /// returns a result with `isError`, and everything else -32602. [`AskError::NoForm`] if `T` has no form at the client's revision; by
    /// `?` it also becomes such a result of a tool, or -32602. [`AskError::NotAllowed`] if `T` has no form at any revision,
    /// [`AskError::TooManyRounds`] if the call has reached its limit of rounds, [`AskError::Misused`] for a mistake of the author, and
    /// before 2026-07-28 the errors of [`request`](Self::request).
    // R-4, R-5, R-7
    pub async fn ask<T: Askable>(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
    ) -> Result<Asked<T>, AskError> {
        let (key, message) = (key.into(), message.into());
        let form = Form::kept::<T>();
        let form = match &*form {
            Ok(form) => form,
            Err(problems) => return Err(AskError::NotAllowed(problems.join("; "))),
        };
        let shown = form.at(self.revision());
        let shown = match shown {
            Ok(shown) => shown,
            Err(problem) => {
                // A missing capability of the client is reported before a limit of its revision (DEC-9).
                let revision = self.revision();
                return Err(self
                    .undeclared_form()
                    .unwrap_or(AskError::NoForm { revision, problem }));
            }
        };
        let params = ElicitRequestFormParams::new(message, shown);
        let question = ElicitRequest::new(params).into();
        let exchange = &self.0;
        self.put(&key, question, |text| {
            exchange.elicited(text, |content| form.decode(content).map_err(unfit))
        })
        .await
    }

    /// Returns the error for a client that supports no forms.
    fn undeclared_form(&self) -> Option<AskError> {
        let form = trueform_schema::ElicitRequestedSchema::new(trueform_schema::Map::new());
        let question = ElicitRequest::new(ElicitRequestFormParams::new("", form));
        match self.0.check_question(&question.into()) {
            Err(error @ AskError::NotDeclared(_)) => Some(error),
            _ => None,
        }
    }

    /// Asks the client's model for a message, as `params` describe. The answer comes from the model, or from the user who changed it: do
    /// not trust it. See [`ask`](Self::ask) for `key`, and for what runs again.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::{CreateMessageRequestParams, Role, SamplingMessage, SamplingMessageContentBlock, TextContent}};
    ///
    /// /// Says something nice.
    /// #[tool(needs(sampling))]
    /// async fn greet(context: Context) -> Result<String, ToolError> {
    ///     let text = SamplingMessageContentBlock::Text(TextContent::new("Say something nice."));
    ///     let params = CreateMessageRequestParams::new(100, [SamplingMessage::new(text, Role::User)]);
    ///     let message = context.sample("greeting", params).await?;
    ///     Ok(format!("{} says: {}", message.model, message.text()))
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`ask`](Self::ask). If the user refuses, the error is [`AskError::Refused`] before 2026-07-28; at 2026-07-28, the client does not
    /// send the call again.
    // Q-1, GAP-8
    pub async fn sample(
        &self,
        key: impl Into<String>,
        params: CreateMessageRequestParams,
    ) -> Result<CreateMessageResult, AskError> {
        let question = CreateMessageRequest::new(params).into();
        self.put(&key.into(), question, |text| {
            let method = Method::CreateMessage.as_str();
            let held_to = self.0.answers_held_to();
            held_to.result(method, self.revision(), text)
        })
        .await
    }

    /// Asks the client for its roots: the places in its file system in which the server may work. They are advice, not access control, and
    /// may not exist any more when they are used.
    ///
    /// The key of the question is `roots`; use [`question`](Self::question) for another key.
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Lists the roots.
    /// #[tool(needs(roots))]
    /// async fn list_roots(context: Context) -> Result<String, ToolError> {
    ///     let roots = context.roots().await?;
    ///     Ok(roots.iter().map(|root| format!("{}\n", root.uri)).collect())
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`ask`](Self::ask).
    // S-3, S-5
    pub async fn roots(&self) -> Result<Vec<Root>, AskError> {
        let question = ListRootsRequest::default().into();
        let result = self.put("roots", question, |text| self.read_roots(text));
        Ok(result.await?.roots)
    }

    fn read_roots(&self, text: &str) -> Result<ListRootsResult, DecodeError> {
        let held_to = self.0.answers_held_to();
        held_to.result(Method::ListRoots.as_str(), self.revision(), text)
    }

    /// Asks `question` under `key`: the low-level form of [`ask`](Self::ask), [`sample`](Self::sample) and [`roots`](Self::roots). The
    /// answer has the form of the client's revision, and the content of a form is checked against its `requestedSchema`.
    ///
    /// ```
    /// use trueform::{prelude::*, schema::{InputResponse, ListRootsRequest}};
    ///
    /// /// Counts the roots.
    /// #[tool(needs(roots))]
    /// async fn count_roots(context: Context) -> Result<usize, ToolError> {
    ///     match context.question("where", ListRootsRequest::default()).await? {
    ///         InputResponse::ListRoots(result) => Ok(result.roots.len()),
    ///         _ => unreachable!("an answer is of the kind of its question"),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`ask`](Self::ask). [`AskError::NotAllowed`] for a `requestedSchema` that answers cannot be checked against.
    // T-12: the question determines how its answer is read.
    pub async fn question(
        &self,
        key: impl Into<String>,
        question: impl Into<InputRequest>,
    ) -> Result<InputResponse, AskError> {
        let question = question.into();
        let kind = std::mem::discriminant(&question);
        let sample = std::mem::discriminant(&InputRequest::CreateMessage(
            CreateMessageRequest::new(CreateMessageRequestParams::new(0, [])),
        ));
        let roots = std::mem::discriminant(&InputRequest::ListRoots(ListRootsRequest::default()));
        let (exchange, revision) = (&self.0, self.revision());
        let form = match &question {
            InputRequest::Elicit(elicit) => FormSchema::of(&elicit.params, revision)?,
            _ => None,
        };
        self.put(&key.into(), question, |text| {
            let held_to = exchange.answers_held_to();
            if kind == roots {
                return self.read_roots(text).map(InputResponse::ListRoots);
            }
            if kind == sample {
                let method = Method::CreateMessage.as_str();
                let result: CreateMessageResult = held_to.result(method, revision, text)?;
                return Ok(InputResponse::CreateMessage(result));
            }
            exchange
                .elicit_result(text, form.as_ref())
                .map(InputResponse::Elicit)
        })
        .await
    }

    /// Asks the user of the client to visit `url`, a web page for data that must not pass through the client: secrets, payments, consent to
    /// another service. `message` gives the reason.
    ///
    /// The answer says whether the user agrees to open the page, not whether anything was done there. The page must make sure that the
    /// visitor is the user who was asked, and `url` must neither contain secrets nor grant access by itself. Use `https`. When the user is
    /// done, notify the client with [`VisitedUrl::complete`].
    ///
    /// ```
    /// use trueform::prelude::*;
    ///
    /// /// Connects the calendar.
    /// #[tool(needs(elicitation_url))]
    /// async fn connect(context: Context) -> Result<&'static str, ToolError> {
    ///     let page = "https://calendar.example/connect?flow=4711";
    ///     match context.ask_url("connect", "Sign in to your calendar.", page).await? {
    ///         Asked::Accepted(visited) => {
    ///             // Wait until the page was used, then:
    ///             visited.complete()?;
    ///             Ok("connected")
    ///         }
    ///         Asked::Declined | Asked::Cancelled => Ok("not connected"),
    ///     }
    /// }
    /// ```
    ///
    /// # Errors
    /// As [`ask`](Self::ask). [`AskError::NotAllowed`] if `url` is not a URL; only clients since 2025-11-25 can declare that they can open
    /// pages.
    // R-9, R-13, R-10, R-14
    pub async fn ask_url(
        &self,
        key: impl Into<String>,
        message: impl Into<String>,
        url: impl Into<String>,
    ) -> Result<Asked<VisitedUrl>, AskError> {
        let (key, id) = (key.into(), url::unique_id());
        let mut params = ElicitRequestURLParams::new(message, url);
        params.elicitation_id = Some(id.clone());
        let question = ElicitRequest::new(params).into();
        let asked = self.put(&key, question, |text| self.0.elicited(text, |_| Ok(())));
        Ok(asked.await?.map(|()| VisitedUrl::new(self, id)))
    }
}
