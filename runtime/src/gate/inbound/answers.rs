//! Malformed answers to questions of the server, in the params of a request (T-10, W-16).
//!
//! Only the call knows whether an answer belongs to one of its questions: until it asks, the answer belongs to none, and answers to
//! questions that were not asked are ignored. So nothing is searched in advance: only if decoding stopped at such an answer, the text is
//! rewritten.

use serde_json::value::RawValue;
use trueform_schema::{DecodeError, InputResponse, RawMembers, decode};

use super::nulls;

/// The member that contains the answers.
const RESPONSES: &str = "inputResponses";

/// Returns the params `text` with an empty object in place of each malformed answer, or `None` if no answer is malformed. A null stays:
/// if nulls are accepted, it counts as no answer.
#[cold]
#[inline(never)]
pub(super) fn without_malformed(text: &str) -> Option<String> {
    rewritten(text, |name, value| {
        if name != RESPONSES {
            return None;
        }
        rewritten(value.get(), |_, answer| {
            let answer = answer.get();
            (answer != "null" && unfit(answer).is_some()).then(|| "{}".to_owned())
        })
    })
}

/// Returns the object `text` with each value replaced by the result of `change`. `None` if it is not an object, or if nothing changes.
/// Members that occur twice stay; they are refused later.
fn rewritten(text: &str, change: impl Fn(&str, &RawValue) -> Option<String>) -> Option<String> {
    let RawMembers(members) = serde_json::from_str(text).ok()?;
    let mut out = String::with_capacity(text.len());
    let mut has_changed = false;
    out.push('{');
    for (at, (name, value)) in members.iter().enumerate() {
        out.push_str(if at == 0 { "" } else { "," });
        out.push_str(&serde_json::to_string(name).ok()?);
        out.push(':');
        let changed = change(name, value);
        has_changed |= changed.is_some();
        out.push_str(changed.as_deref().unwrap_or(value.get()));
    }
    out.push('}');
    has_changed.then_some(out)
}

/// Returns why `answer` does not have the form of an answer to any question; `None` if it has. A null in place of a member that may not be
/// null is accepted here (DEC-6): if nulls are not accepted, the params were refused before.
#[cold]
pub(crate) fn unfit(answer: &str) -> Option<DecodeError> {
    let error = decode::from_str::<InputResponse>(answer).err()?;
    nulls::read_without(answer, error, |text| {
        decode::from_str::<InputResponse>(text)
    })
    .err()
}

#[cfg(test)]
mod tests {
    use trueform_schema::CallToolRequestParams;

    use super::*;

    // T-10
    #[test]
    fn malformed_answers_are_left_out() {
        for (answers, expected) in [
            (r#"{"a":5}"#, Some(r#"{"a":{}}"#)),
            (
                r#"{"a":[],"b/c":{"action":5},"d":{"roots":[]},"e":{"x":1}}"#,
                Some(r#"{"a":{},"b/c":{},"d":{"roots":[]},"e":{"x":1}}"#),
            ),
            // DEC-6: its null is removed later.
            (
                r#"{"a":{"action":"accept","content":null},"b":""}"#,
                Some(r#"{"a":{"action":"accept","content":null},"b":{}}"#),
            ),
            (r#"{"":true}"#, Some(r#"{"":{}}"#)),
            (r#"{"a":null,"b":5}"#, Some(r#"{"a":null,"b":{}}"#)),
            (r#"{"a":null}"#, None),
            ("5", None),
            ("[]", None),
        ] {
            let text = format!(r#"{{"name":"n","inputResponses":{answers}}}"#);
            let expected =
                expected.map(|answers| format!(r#"{{"name":"n","inputResponses":{answers}}}"#));
            assert_eq!(without_malformed(&text), expected, "{text}");
        }
        assert_eq!(without_malformed(r#"{"arguments":{"a":5}}"#), None);
        // Still twice, so still refused.
        let twice =
            without_malformed(r#"{"name":"n","inputResponses":{"a":5},"inputResponses":{}}"#)
                .unwrap();
        assert!(
            decode::from_str::<CallToolRequestParams>(&twice).is_err(),
            "{twice}"
        );
    }
}
