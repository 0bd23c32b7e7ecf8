//! Rules for requests of servers to clients that no schema states: the order of the messages of a sampling request (Q-4, Q-5), and which
//! roots are allowed (S-1). They apply to servers and to clients.

use std::{borrow::Cow, collections::HashSet, fmt};

use serde::Deserialize;
use serde_json::value::RawValue;
use trueform_schema::{DecodeError, Method};

use super::Policy;
use crate::jsonrpc;

/// What is wrong with a question to a client, or with the answer to it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct QuestionFault {
    /// The place within the params or the result.
    pointer: String,
    rule: &'static str,
    expected: &'static str,
    found: String,
}

/// Checks the params of `method`, as JSON text, against the rules that their schema does not state. Decoding reports malformed params.
///
/// # Errors
/// The first fault, in the order of the messages.
pub(crate) fn check_question(method: Method, params: &str) -> Result<(), QuestionFault> {
    match method {
        Method::CreateMessage => check_sampling(params),
        _ => Ok(()),
    }
}

/// Checks the result of `method`, as JSON text, against the rules that its schema does not state. Decoding reports a malformed result.
///
/// # Errors
/// The first fault.
pub(crate) fn check_answer(method: Method, result: &str) -> Result<(), QuestionFault> {
    match method {
        Method::ListRoots => check_roots(result),
        _ => Ok(()),
    }
}

/// Checks a question that is about to be sent against these rules, as `policy` says.
///
/// # Errors
/// The question may not be sent; contains the reason.
pub(crate) fn let_question_out(policy: Policy, method: Method, params: &str) -> Result<(), String> {
    if policy == Policy::Off {
        return Ok(());
    }
    let Err(fault) = check_question(method, params) else {
        return Ok(());
    };
    let held_back = policy == Policy::Enforce;
    let fault = fault.to_string();
    tracing::error!(%method, fault = &*jsonrpc::sentence(&fault), held_back, "a question that the specification does not allow");
    match held_back {
        true => Err(format!("`{method}`: {fault}")),
        false => Ok(()),
    }
}

#[derive(Deserialize)]
struct Sampling<'a> {
    #[serde(borrow)]
    messages: Vec<Message<'a>>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    role: Cow<'a, str>,
    /// One block, or from 2025-11-25 on an array of them.
    #[serde(borrow)]
    content: &'a RawValue,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "toolUseId")]
    tool_use_id: Option<Cow<'a, str>>,
}

impl<'a> Message<'a> {
    /// Returns the blocks, and whether they are in an array.
    fn blocks(&self) -> (Vec<Block<'a>>, bool) {
        let text = self.content.get();
        match text.starts_with('[') {
            true => (serde_json::from_str(text).unwrap_or_default(), true),
            false => (serde_json::from_str(text).into_iter().collect(), false),
        }
    }
}

/// A tool use that was not answered yet.
struct Use<'a> {
    id: Cow<'a, str>,
    pointer: String,
}

fn check_sampling(params: &str) -> Result<(), QuestionFault> {
    let Ok(Sampling { messages }) = serde_json::from_str(params) else {
        return Ok(());
    };
    // The tool uses of the previous message.
    let mut open: Vec<Use<'_>> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let (blocks, in_array) = message.blocks();
        let pointer = |block: usize| match in_array {
            true => format!("/messages/{at}/content/{block}"),
            false => format!("/messages/{at}/content"),
        };
        let mut results = HashSet::new();
        let is_result = |block: &Block<'_>| block.kind == "tool_result";
        if message.role == "user" && blocks.iter().any(is_result) {
            let other = blocks.iter().position(|block| !is_result(block));
            if let Some(other) = other {
                return Err(mixed(pointer(other), &blocks[other].kind));
            }
        }
        for (at, block) in blocks.iter().enumerate().filter(|(_, it)| is_result(it)) {
            let id = block.tool_use_id.as_deref().unwrap_or_default();
            if !open.iter().any(|used| used.id == id) {
                return Err(orphan(format!("{}/toolUseId", pointer(at)), id));
            }
            results.insert(id.to_owned());
        }
        if let Some(unanswered) = open.iter().find(|used| !results.contains(&*used.id)) {
            return Err(unmatched(unanswered));
        }
        let uses = blocks.into_iter().enumerate();
        let uses = uses.filter(|(_, block)| block.kind == "tool_use");
        open = uses
            .map(|(at, block)| Use {
                id: block.id.unwrap_or_default(),
                pointer: pointer(at),
            })
            .collect();
    }
    open.first().map_or(Ok(()), |last| Err(unmatched(last)))
}

// Q-4
#[cold]
fn mixed(pointer: String, kind: &str) -> QuestionFault {
    QuestionFault {
        pointer,
        rule: "tool-results",
        expected: "only blocks of the type `tool_result` in a user message that holds one",
        found: format!("`{}`", jsonrpc::shortened(kind)),
    }
}

// Q-5
#[cold]
fn unmatched(used: &Use<'_>) -> QuestionFault {
    QuestionFault {
        pointer: used.pointer.clone(),
        rule: "tool-results",
        expected: "a `tool_result` for each `tool_use` in the message after it",
        found: format!("none for `{}`", jsonrpc::shortened(&used.id)),
    }
}

// Q-5
#[cold]
fn orphan(pointer: String, id: &str) -> QuestionFault {
    QuestionFault {
        pointer,
        rule: "tool-results",
        expected: "the `id` of a `tool_use` in the message before",
        found: format!("`{}`", jsonrpc::shortened(id)),
    }
}

// S-1
fn check_roots(result: &str) -> Result<(), QuestionFault> {
    #[derive(Deserialize)]
    struct Roots<'a> {
        #[serde(borrow)]
        roots: Vec<Root<'a>>,
    }
    #[derive(Deserialize)]
    struct Root<'a> {
        #[serde(borrow)]
        uri: Cow<'a, str>,
    }
    let Ok(Roots { roots }) = serde_json::from_str(result) else {
        return Ok(());
    };
    const SCHEME: &str = "file://";
    // RFC 3986: schemes are compared without regard to case.
    let is_file = |uri: &str| {
        uri.get(..SCHEME.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(SCHEME))
    };
    match roots.iter().position(|root| !is_file(&root.uri)) {
        None => Ok(()),
        Some(at) => Err(QuestionFault {
            pointer: format!("/roots/{at}/uri"),
            rule: "root-scheme",
            expected: "a URI that begins with `file://`",
            found: format!("`{}`", jsonrpc::shortened(&roots[at].uri)),
        }),
    }
}

impl QuestionFault {
    /// Returns the error that answers a request of `method` with this fault in its params.
    #[cfg(feature = "client")]
    pub(crate) fn into_invalid_params(self, method: &str) -> trueform_schema::ErrorObject {
        let Self {
            rule,
            expected,
            found,
            ..
        } = self;
        let pointer = format!("/params{}", self.pointer);
        let problem = format!("`{method}`: `{pointer}`: expected {expected}, found {found}");
        let detail = jsonrpc::ErrorDetail::new(pointer, rule, expected, found);
        jsonrpc::invalid_params(problem, &detail)
    }
}

impl From<QuestionFault> for DecodeError {
    fn from(fault: QuestionFault) -> Self {
        let problem = format!("expected {}, found {}", fault.expected, fault.found);
        Self::new(fault.pointer, problem)
    }
}

impl fmt::Display for QuestionFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            pointer,
            expected,
            found,
            ..
        } = self;
        write!(f, "`{pointer}`: expected {expected}, found {found}")
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn result(id: &str) -> Value {
        json!({ "type": "tool_result", "toolUseId": id, "content": [] })
    }

    fn used(id: &str) -> Value {
        json!({ "type": "tool_use", "id": id, "name": "f", "input": {} })
    }

    fn said() -> Value {
        json!({ "type": "text", "text": "hello" })
    }

    // Q-4, Q-5
    #[test]
    fn messages_with_tools() {
        let cases: [(Value, Option<&str>); 13] = [
            (json!([]), None),
            (json!([["user", said()]]), None),
            (
                json!([["assistant", [said(), used("a")]], ["user", [result("a")]]]),
                None,
            ),
            (
                json!([
                    ["assistant", used("a")],
                    ["user", result("a")],
                    ["assistant", said()]
                ]),
                None,
            ),
            (
                json!([
                    ["assistant", [used("a"), used("b")]],
                    ["user", [result("b"), result("a")]]
                ]),
                None,
            ),
            // Q-4
            (
                json!([["assistant", used("a")], ["user", [result("a"), said()]]]),
                Some("/messages/1/content/1"),
            ),
            (
                json!([["assistant", used("a")], ["user", [said(), result("a")]]]),
                Some("/messages/1/content/0"),
            ),
            // Q-5
            (
                json!([
                    ["assistant", [used("a"), used("b")]],
                    ["user", [result("b")]]
                ]),
                Some("/messages/0/content/0"),
            ),
            (
                json!([["assistant", used("a")], ["user", said()]]),
                Some("/messages/0/content"),
            ),
            (
                json!([["user", said()], ["assistant", used("a")]]),
                Some("/messages/1/content"),
            ),
            (
                json!([["user", [result("a")]]]),
                Some("/messages/0/content/0/toolUseId"),
            ),
            (
                json!([["assistant", used("a")], ["user", result("A")]]),
                Some("/messages/1/content/toolUseId"),
            ),
            // Not in the message after it.
            (
                json!([
                    ["assistant", used("a")],
                    ["user", said()],
                    ["user", result("a")]
                ]),
                Some("/messages/0/content"),
            ),
        ];
        for (messages, expected) in cases {
            let messages: Vec<Value> = messages
                .as_array()
                .unwrap()
                .iter()
                .map(|message| json!({ "role": message[0], "content": message[1] }))
                .collect();
            let params = json!({ "messages": messages, "maxTokens": 1 }).to_string();
            let found = check_question(Method::CreateMessage, &params);
            let pointer = found.as_ref().err().map(|fault| &*fault.pointer);
            assert_eq!(pointer, expected, "{params}: {found:?}");
            if let Err(fault) = found {
                let error = fault.into_invalid_params("sampling/createMessage");
                assert_eq!(error.code, -32602);
                let data = error.data.unwrap().to_value();
                assert_eq!(data["pointer"], format!("/params{}", expected.unwrap()));
            }
        }
        // Malformed params are reported elsewhere.
        assert_eq!(check_question(Method::CreateMessage, "[]"), Ok(()));
        assert_eq!(
            check_question(Method::CreateMessage, r#"{"messages":[{}]}"#),
            Ok(())
        );
    }

    // S-1
    #[test]
    fn roots_are_files() {
        for (uris, expected) in [
            (&[][..], None),
            (&["file:///a", "FILE://host/b"], None),
            (&["file:///a", "https://example.com"], Some("/roots/1/uri")),
            (&["file:"], Some("/roots/0/uri")),
            (&["ü"], Some("/roots/0/uri")),
        ] {
            let roots: Vec<_> = uris.iter().map(|uri| json!({ "uri": uri })).collect();
            let found = check_answer(Method::ListRoots, &json!({ "roots": roots }).to_string());
            let pointer = found.as_ref().err().map(|fault| &*fault.pointer);
            assert_eq!(pointer, expected, "{uris:?}");
        }
    }
}
