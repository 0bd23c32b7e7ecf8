//! Reading the answer to a call that may be of several kinds.

use serde::de::DeserializeOwned;
use trueform_schema::{DecodeError, Json, decode};

use super::{Client, Repeatable, error::ClientError};

/// The outcome `text`, of which `R` is the kind that the call is made for.
///
/// Most are of that kind, and those are read in one pass. As an outcome of unknown kind a text is read twice, because the members
/// that decide may come last. What is read as an `R` is of that kind as an outcome, too: it has the member that only an `R` has, and no
/// other `resultType`.
pub(super) fn complete_first<R, O>(text: &str) -> Result<O, DecodeError>
where
    R: DeserializeOwned,
    O: DeserializeOwned + From<R>,
{
    match serde_json::from_str::<R>(text) {
        Ok(result) => Ok(result.into()),
        // It may be of another kind, which this error says nothing of.
        Err(_) => decode::from_str(text),
    }
}

impl Client {
    /// The outcome `text` of a request of `M`, as the revision allows it.
    pub(super) fn outcome<M: Repeatable + ?Sized>(
        &self,
        text: &Json,
    ) -> Result<M::Result, ClientError> {
        let gate = &self.inner.link.gate;
        let method = M::METHOD.as_str();
        Ok(gate.result_by(method, self.revision(), text, M::decode)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Debug;

    use proptest::prelude::*;
    use trueform_schema::{
        CallToolOutcome, CallToolResult, GetPromptOutcome, GetPromptResult, ReadResourceOutcome,
        ReadResourceResult,
    };

    use super::*;

    /// Reads `text` in both ways. The results must be the same, including their errors. Returns the kind.
    #[track_caller]
    fn read<R, O>(text: &str, kind: fn(&O) -> &'static str) -> &'static str
    where
        R: DeserializeOwned,
        O: DeserializeOwned + From<R> + Debug + PartialEq,
    {
        let fast = complete_first::<R, O>(text);
        assert_eq!(fast, decode::from_str::<O>(text), "{text}");
        match &fast {
            Ok(outcome) => kind(outcome),
            Err(_) => "error",
        }
    }

    #[test]
    fn of_a_tool() {
        let kind = |outcome: &CallToolOutcome| match outcome {
            CallToolOutcome::Complete(_) => "complete",
            CallToolOutcome::InputRequired(_) => "input required",
            CallToolOutcome::Task(_) => "task",
            _ => "unknown",
        };
        for (text, expected) in [
            (r#"{"content":[]}"#, "complete"),
            (
                r#"{"content":[],"resultType":"complete","x":1}"#,
                "complete",
            ),
            (r#"{"resultType":"complete","content":[]}"#, "complete"),
            // The last member decides, however it is written.
            (
                r#"{"content":[],"inputRequests":{},"resultType":"input_required"}"#,
                "input required",
            ),
            (
                r#"{"content":[],"requestState":"s","resultType":"input\u005frequired"}"#,
                "input required",
            ),
            (r#"{"resultType":"new","more":1}"#, "unknown"),
            (
                r#"{"task":{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}}"#,
                "task",
            ),
            ("{}", "error"),
            (r#"{"content":[],"resultType":"new"}"#, "error"),
            (r#"{"content":[{"type":"text","text":5}]}"#, "error"),
            (r#"{"content":[],"content":[]}"#, "error"),
            (r#"{"content":[],"x":1,"x":1}"#, "error"),
            ("null", "error"),
        ] {
            assert_eq!(read::<CallToolResult, _>(text, kind), expected, "{text}");
        }
    }

    #[test]
    fn of_a_prompt_and_of_a_resource() {
        let prompt = |outcome: &GetPromptOutcome| match outcome {
            GetPromptOutcome::Complete(_) => "complete",
            GetPromptOutcome::InputRequired(_) => "input required",
            _ => "unknown",
        };
        let resource = |outcome: &ReadResourceOutcome| match outcome {
            ReadResourceOutcome::Complete(_) => "complete",
            ReadResourceOutcome::InputRequired(_) => "input required",
            _ => "unknown",
        };
        for (members, expected) in [
            ("", "complete"),
            (r#","resultType":"complete""#, "complete"),
            (
                r#","requestState":"s","resultType":"input_required""#,
                "input required",
            ),
        ] {
            let text = format!(r#"{{"messages":[]{members}}}"#);
            assert_eq!(read::<GetPromptResult, _>(&text, prompt), expected);
            let text = format!(r#"{{"contents":[],"ttlMs":1{members}}}"#);
            assert_eq!(read::<ReadResourceResult, _>(&text, resource), expected);
        }
        for text in ["{}", r#"{"resultType":"new"}"#, r#"{"messages":5}"#, "[]"] {
            read::<GetPromptResult, _>(text, prompt);
            read::<ReadResourceResult, _>(text, resource);
        }
    }
    /// A member of an answer: its name, perhaps with an escape, and its value.
    fn any_member() -> impl Strategy<Value = String> {
        let name = prop::sample::select(vec![
            "content",
            "structuredContent",
            "isError",
            "resultType",
            "result\\u0054ype",
            "_meta",
            "messages",
            "description",
            "contents",
            "conten\\u0074s",
            "ttlMs",
            "cacheScope",
            "inputRequests",
            "requestState",
            "task",
            "x",
        ]);
        let value = prop::sample::select(vec![
            "[]",
            "{}",
            "null",
            "true",
            "5",
            "1.0",
            "12345678901234567890123",
            r#""complete""#,
            r#""complet\u0065""#,
            r#""input_required""#,
            r#""input\u005frequired""#,
            r#""task""#,
            r#""new""#,
            r#""private""#,
            r#"[{"type":"text","text":"a\u00e9"}]"#,
            r#"[{"text":"a","type":"text"}]"#,
            r#"[{"uri":"a://b","text":"c"}]"#,
            r#"[{"role":"user","content":{"type":"text","text":"a"}}]"#,
            r#"{"taskId":"t","status":"working","createdAt":"2026-01-01T00:00:00Z","lastUpdatedAt":"2026-01-01T00:00:00Z","ttl":null}"#,
        ]);
        (name, value, "[ \t\r\n]{0,2}").prop_map(|(name, value, space)| {
            format!("{space}\"{name}\"{space}:{space}{value}{space}")
        })
    }

    proptest! {
        /// Members in any order, twice, with escapes, of several kinds at once.
        #[test]
        fn one_pass_reads_what_two_do(members in prop::collection::vec(any_member(), 0..5)) {
            let text = format!("{{{}}}", members.join(","));
            read::<CallToolResult, CallToolOutcome>(&text, |_| "");
            read::<GetPromptResult, GetPromptOutcome>(&text, |_| "");
            read::<ReadResourceResult, ReadResourceOutcome>(&text, |_| "");
        }
    }
}
