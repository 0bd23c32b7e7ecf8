//! A user that answers a server's questions from the script of a test.

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use serde::Serialize;
use serde_json::{Value, json};
use trueform_schema::{ClientCapabilities, ErrorObject, Json, Method, ext::tasks};

use crate::{
    client::{Answering, ClientHandler, ClientOptions},
    jsonrpc::{self, code},
};

/// A user that answers a server's questions from the script of a test, and keeps the questions.
///
/// Answers are used in the order of the script: each elicitation gets the first unused answer for elicitations, and each sampling request
/// the first unused answer for sampling. An answer after [`when`](Self::when) is for the question whose message contains the text, in any
/// order. The same script works in both eras.
///
/// When it is dropped, it panics if a question had no answer, or if an answer was not used, so that the script must match completely. It
/// does not panic if the test already panics. An error that the test returns with `?` is lost in this panic, because the user is dropped
/// before the error is shown: `unwrap` calls that may fail before the end of the script.
///
/// ```
/// use serde_json::json;
/// use trueform::{client::ClientOptions, prelude::*, testing::ScriptedUser};
///
/// /// A table.
/// #[derive(Deserialize, JsonSchema)]
/// struct Table {
///     people: u8,
/// }
///
/// /// Books a table, if the user wants it.
/// #[tool]
/// async fn book(context: Context) -> Result<String, ToolError> {
///     match context.ask::<Table>("table", "Which table?").await? {
///         Asked::Accepted(table) => Ok(format!("booked for {}", table.people)),
///         Asked::Declined | Asked::Cancelled => Ok("not booked".to_owned()),
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
///     let user = ScriptedUser::new().accept(json!({ "people": 4 })).decline();
///     let options = user.options(ClientOptions::at(revision));
///     let client = Server::new("tables", "1.0.0").tools(tools![book]).connect_as(options).await?;
///
///     assert_eq!(client.call_tool("book", ()).await?.text(), "booked for 4");
///     assert_eq!(client.call_tool("book", ()).await?.text(), "not booked");
///     assert_eq!(user.asked()[0].message(), Some("Which table?"));
/// }
/// # Ok(())
/// # }
/// ```
pub struct ScriptedUser {
    script: Arc<Script>,
}

/// A question that a [`ScriptedUser`] was asked.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Question {
    /// The method, such as `elicitation/create`.
    pub method: String,
    /// The unchanged params; `null` if there were none.
    pub params: Value,
}

/// The condition of the next answer of a script; [`ScriptedUser::when`] returns it.
#[must_use = "an answer follows"]
pub struct When {
    user: ScriptedUser,
    part: String,
}

#[derive(Debug, Default)]
struct Script(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    answers: Vec<Scripted>,
    /// `None`: the user has no roots.
    roots: Option<Vec<String>>,
    asked: Vec<Question>,
    /// The answers of the script.
    given: Vec<Given>,
    /// Descriptions of questions that had no answer.
    unanswered: Vec<String>,
}

/// An answer, and the question that got it.
#[derive(Debug)]
struct Given {
    method: String,
    message: Option<String>,
    text: String,
}

impl Given {
    fn is_to(&self, question: &Question) -> bool {
        self.method == question.method && self.message.as_deref() == question.message()
    }
}

#[derive(Debug)]
struct Scripted {
    method: Method,
    /// A part of the message that it answers; `None` for any.
    part: Option<String>,
    result: Result<Value, ErrorObject>,
}

impl ScriptedUser {
    /// Creates a user without answers.
    #[must_use]
    pub fn new() -> Self {
        Self {
            script: Arc::default(),
        }
    }

    /// Uses the next answer for the question whose message contains `part`: the `message` of an elicitation, the texts of a sampling
    /// request.
    pub fn when(self, part: impl Into<String>) -> When {
        When {
            user: self,
            part: part.into(),
        }
    }

    /// Accepts an elicitation with `content`, the user's input in the form. `()` accepts without content, which is correct in URL mode.
    ///
    /// # Panics
    /// If `content` cannot be written as JSON.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().accept(json!({ "people": 2 }));
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    #[must_use]
    pub fn accept(self, content: impl Serialize) -> Self {
        self.with(Method::Elicit, None, Ok(accepted(content)))
    }

    /// Declines an elicitation.
    ///
    /// ```
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().decline();
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    #[must_use]
    pub fn decline(self) -> Self {
        self.with(Method::Elicit, None, Ok(json!({ "action": "decline" })))
    }

    /// Closes an elicitation without a choice.
    ///
    /// ```
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().cancel();
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    #[must_use]
    pub fn cancel(self) -> Self {
        self.with(Method::Elicit, None, Ok(json!({ "action": "cancel" })))
    }

    /// Answers a sampling request with `text`, as from the model `scripted`.
    ///
    /// ```
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().says("It is a novel.");
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> Self {
        self.with(Method::CreateMessage, None, Ok(said(&text.into())))
    }

    /// Answers a sampling request with `result`, a complete `CreateMessageResult`.
    ///
    /// # Panics
    /// If `result` cannot be written as JSON.
    ///
    /// ```
    /// use serde_json::json;
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().samples(json!({
    ///     "role": "assistant",
    ///     "model": "tiny",
    ///     "content": { "type": "text", "text": "It is a novel." },
    /// }));
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    #[must_use]
    pub fn samples(self, result: impl Serialize) -> Self {
        self.with(Method::CreateMessage, None, Ok(written(result)))
    }

    /// Rejects a sampling request (error -1). At 2026-07-28, there is no such answer: the call ends on the client's side.
    ///
    /// ```
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().rejects_sampling();
    /// assert_eq!(user.unmet().len(), 1); // nothing asked yet
    /// # std::mem::forget(user);
    /// ```
    // Q-8
    #[must_use]
    pub fn rejects_sampling(self) -> Self {
        let error = ErrorObject::new(-1, "the user rejected the sampling request");
        self.with(Method::CreateMessage, None, Err(error))
    }

    /// Answers each request for roots with `uris`. It does not have to be used.
    ///
    /// ```
    /// use trueform::testing::ScriptedUser;
    ///
    /// let user = ScriptedUser::new().roots(["file:///srv/repository"]);
    /// assert!(user.unmet().is_empty());
    /// ```
    #[must_use]
    pub fn roots<T: Into<String>>(self, uris: impl IntoIterator<Item = T>) -> Self {
        self.script.lock().roots = Some(uris.into_iter().map(Into::into).collect());
        self
    }

    /// Returns `options` with this user: its handler, all capabilities that questions may need, and the extension
    /// `io.modelcontextprotocol/tasks`, so that tasks can ask too. Call [`ClientOptions::capabilities`] afterwards to declare less.
    #[must_use]
    pub fn options(&self, options: ClientOptions) -> ClientOptions {
        let capabilities: ClientCapabilities = serde_json::from_value(json!({
            "elicitation": { "form": {}, "url": {} },
            "sampling": { "tools": {}, "context": {} },
            "roots": {},
            "extensions": { tasks::IDENTIFIER: {} },
        }))
        .expect("they have the form of capabilities");
        options.capabilities(capabilities).handler(self.handler())
    }

    /// Returns the handler of this user, for [`ClientOptions::handler`].
    #[must_use]
    pub fn handler(&self) -> impl ClientHandler + 'static {
        Handler(self.script.clone())
    }

    /// Returns all questions so far, in the order in which they arrived.
    #[must_use]
    pub fn asked(&self) -> Vec<Question> {
        self.script.lock().asked.clone()
    }

    /// Describes what does not match the script so far: questions without an answer, and unused answers. Empty if everything matches.
    /// [`drop`] panics with this text.
    #[must_use]
    pub fn unmet(&self) -> Vec<String> {
        let state = self.script.lock();
        let left = state.answers.iter().map(|answer| {
            let what = match &answer.result {
                Ok(result) => result.to_string(),
                Err(error) => format!("error {}", error.code),
            };
            match &answer.part {
                None => format!(
                    "nothing asked for the answer to `{}`: {what}",
                    answer.method
                ),
                Some(part) => format!(
                    "nothing asked for the answer to `{}` with {part:?} in its message: {what}",
                    answer.method
                ),
            }
        });
        state.unanswered.iter().cloned().chain(left).collect()
    }

    fn with(
        self,
        method: Method,
        part: Option<String>,
        result: Result<Value, ErrorObject>,
    ) -> Self {
        self.script.lock().answers.push(Scripted {
            method,
            part,
            result,
        });
        self
    }
}

impl When {
    /// Works like [`ScriptedUser::accept`].
    ///
    /// # Panics
    /// As [`ScriptedUser::accept`].
    #[must_use]
    pub fn accept(self, content: impl Serialize) -> ScriptedUser {
        self.answer(Method::Elicit, Ok(accepted(content)))
    }

    /// Works like [`ScriptedUser::decline`].
    #[must_use]
    pub fn decline(self) -> ScriptedUser {
        self.answer(Method::Elicit, Ok(json!({ "action": "decline" })))
    }

    /// Works like [`ScriptedUser::cancel`].
    #[must_use]
    pub fn cancel(self) -> ScriptedUser {
        self.answer(Method::Elicit, Ok(json!({ "action": "cancel" })))
    }

    /// Works like [`ScriptedUser::says`].
    #[must_use]
    pub fn says(self, text: impl Into<String>) -> ScriptedUser {
        self.answer(Method::CreateMessage, Ok(said(&text.into())))
    }

    /// Works like [`ScriptedUser::samples`].
    ///
    /// # Panics
    /// As [`ScriptedUser::samples`].
    #[must_use]
    pub fn samples(self, result: impl Serialize) -> ScriptedUser {
        self.answer(Method::CreateMessage, Ok(written(result)))
    }

    fn answer(self, method: Method, result: Result<Value, ErrorObject>) -> ScriptedUser {
        self.user.with(method, Some(self.part), result)
    }
}

fn written(value: impl Serialize) -> Value {
    serde_json::to_value(value).expect("the answer of a scripted user can be written as JSON")
}

fn accepted(content: impl Serialize) -> Value {
    match written(content) {
        Value::Null => json!({ "action": "accept" }),
        content => json!({ "action": "accept", "content": content }),
    }
}

fn said(text: &str) -> Value {
    json!({
        "role": "assistant",
        "model": "scripted",
        "stopReason": "endTurn",
        "content": { "type": "text", "text": text },
    })
}

impl Question {
    /// Returns the `message` of an elicitation.
    #[must_use]
    pub fn message(&self) -> Option<&str> {
        self.params["message"].as_str()
    }

    fn in_words(&self) -> String {
        let method = jsonrpc::shortened(&self.method);
        match self.message() {
            None => format!("`{method}`"),
            Some(message) => format!("`{method}` with the message {message:?}"),
        }
    }

    /// Returns whether one of the texts that [`ScriptedUser::when`] searches contains `part`.
    fn contains(&self, part: &str) -> bool {
        fn texts<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
            match value {
                Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
                Value::Object(members) => {
                    found.extend(members.get("text").and_then(Value::as_str));
                    members
                        .get("content")
                        .into_iter()
                        .for_each(|content| texts(content, found));
                }
                _ => {}
            }
        }
        let mut found = Vec::from_iter(self.message());
        texts(&self.params["messages"], &mut found);
        found.iter().any(|text| text.contains(part))
    }
}

impl Script {
    fn lock(&self) -> MutexGuard<'_, State> {
        // No code that can panic runs under the lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, question: Question) -> Result<Value, ErrorObject> {
        let mut state = self.lock();
        let method = Method::from_wire(&question.method);
        let found = state.answers.iter().position(|answer| {
            let part = answer.part.as_deref();
            Some(answer.method) == method && part.is_none_or(|part| question.contains(part))
        });
        // An answer for this specific question has precedence over one for any question.
        let special = state.answers.iter().position(|answer| {
            let part = answer.part.as_deref();
            Some(answer.method) == method && part.is_some_and(|part| question.contains(part))
        });
        let result = match (special.or(found), &state.roots) {
            (Some(at), _) => {
                let result = state.answers.remove(at).result;
                if let Ok(result) = &result {
                    state.given.push(Given {
                        method: question.method.clone(),
                        message: question.message().map(str::to_owned),
                        text: result.to_string(),
                    });
                }
                result
            }
            (None, Some(uris)) if method == Some(Method::ListRoots) => {
                let roots: Vec<_> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
                Ok(json!({ "roots": roots }))
            }
            (None, _) => {
                let mut problem =
                    format!("the script has no answer left for {}", question.in_words());
                if let Some(answer) = state
                    .given
                    .iter()
                    .rev()
                    .find(|given| given.is_to(&question))
                {
                    // One answer is wrong, or one is missing: only the author of the script can decide this.
                    problem.push_str(&format!(
                        "; the same question was answered with {}, and an answer that does not fit its form is asked for again",
                        answer.text
                    ));
                }
                state.unanswered.push(problem.clone());
                Err(ErrorObject::new(code::INTERNAL_ERROR, problem))
            }
        };
        state.asked.push(question);
        result
    }
}

/// Answers for a [`ScriptedUser`].
struct Handler(Arc<Script>);

impl ClientHandler for Handler {
    fn answer(&self, method: &str, params: Option<Json>) -> Answering<'_> {
        let answer = self.0.answer(Question {
            method: method.to_owned(),
            params: params.map_or(Value::Null, |params| params.to_value()),
        });
        Box::pin(std::future::ready(answer.map(Json::from)))
    }
}

impl Drop for ScriptedUser {
    fn drop(&mut self) {
        let unmet = self.unmet();
        // A second panic would hide the first.
        if !unmet.is_empty() && !std::thread::panicking() {
            let asked = self.asked();
            let asked = match &asked[..] {
                [] => "it was not asked anything".to_owned(),
                some => {
                    let lines: Vec<String> = some.iter().map(Question::in_words).collect();
                    format!("it was asked:\n  {}", lines.join("\n  "))
                }
            };
            panic!(
                "a scripted user was not asked as its script says:\n  {}\n{asked}\nif the test ended before, with `?`, its error is not \
                 shown here; use `unwrap` instead",
                unmet.join("\n  ")
            );
        }
    }
}

impl Default for ScriptedUser {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for ScriptedUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.script.lock();
        f.debug_struct("ScriptedUser")
            .field("asked", &state.asked)
            .field("answers", &state.answers)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("When")
            .field("part", &self.part)
            .finish_non_exhaustive()
    }
}
