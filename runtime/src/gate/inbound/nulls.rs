//! Members that are null although they may not be, read as if they were absent (DEC-6).
//!
//! Nothing is looked for in advance: only where decoding stopped at a null, the text is written again without that member and
//! decoded once more. So members that may be null keep it, and messages without such nulls cost nothing.

use serde_json::value::RawValue;
use trueform_schema::{Conform, DecodeError, JsonKind, RawMembers, Revision, pointer};

use super::{Inbound, unfit};
use crate::{gate::Leniency, jsonrpc::ErrorDetail};

/// Most members, by their place in the message, that are left out of one text because they are null. The items of an array
/// count as one place. Each place costs one more decoding, so this bounds what one message can cost.
const MOST_PLACES: usize = 24;

impl Inbound {
    /// What `text`, for which `error` was given, is without members that are null although they may not be at `revision`. Whether
    /// they are let in is the caller's to ask.
    ///
    /// # Errors
    /// What else is wrong.
    #[cold]
    #[inline(never)]
    pub(super) fn without_nulls<T: Conform>(
        self,
        text: &str,
        error: DecodeError,
        revision: Revision,
        mut decode: impl FnMut(&str) -> Result<T, DecodeError>,
    ) -> Result<WithoutNulls<T>, DecodeError> {
        let attempt = |text: &str| {
            let decoded = decode(text)?;
            // What a later revision lets be null.
            match self.look(&decoded, revision, text, "") {
                Some(fault) if is_null(&fault) => Err(unfit(&fault)),
                _ => Ok(decoded),
            }
        };
        read_without(text, error, attempt)
    }

    /// Whether `null`, which stands in place of a member that may not be null at `prefix`, is let in.
    ///
    /// # Errors
    /// It is not.
    #[cold]
    pub(super) fn admit_null(
        self,
        mut null: ErrorDetail,
        prefix: &str,
        method: &str,
        revision: Revision,
    ) -> Result<(), ErrorDetail> {
        if !self.forbids(Leniency::NullMembers) {
            return Ok(());
        }
        null.pointer = format!("{prefix}{}", null.pointer).into();
        self.judge(Some(null), method, revision)
    }
}

/// Whether a null of a decoded value is all that is wrong at its place: a later revision lets it be null.
pub(super) fn is_null(fault: &ErrorDetail) -> bool {
    let name = fault.pointer.rsplit('/').next();
    let is_member = name.is_some_and(|name| !is_index(name));
    fault.rule == "type" && fault.found == JsonKind::Null.as_str() && is_member
}

/// What was decoded from a text without the members that may not be null.
pub(super) struct WithoutNulls<T> {
    pub(super) value: T,
    /// What the value was decoded from.
    pub(super) text: String,
    /// The first such member; its pointer is relative to the text.
    pub(super) first: ErrorDetail,
}

/// Decodes `text`, for which `decode` gave `error`, without the members that are null and may not be.
///
/// # Errors
/// What else is wrong with the text, or `error` where a null stands for what is required.
#[cold]
#[inline(never)]
pub(super) fn read_without<T>(
    text: &str,
    error: DecodeError,
    mut decode: impl FnMut(&str) -> Result<T, DecodeError>,
) -> Result<WithoutNulls<T>, DecodeError> {
    let mut value = None;
    let mut read = |text: &str| decode(text).map(|decoded| value = Some(decoded));
    let (text, first) = shortened(text, error, &mut read)?;
    let value = value.unwrap_or_else(|| unreachable!("`shortened` ends with a text that was read"));
    Ok(WithoutNulls { value, text, first })
}

/// The text that `read` accepts, and the first null that was left out. Apart from the value, so that it is compiled once.
///
/// # Errors
/// Those of [`read_without`].
fn shortened(
    text: &str,
    mut error: DecodeError,
    read: &mut dyn FnMut(&str) -> Result<(), DecodeError>,
) -> Result<(String, ErrorDetail), DecodeError> {
    let name = Leniency::NullMembers.name();
    let mut first = None;
    let mut text = text.to_owned();
    for _ in 0..MOST_PLACES {
        let Some(shorter) = without(&text, &error) else {
            return Err(error);
        };
        first.get_or_insert_with(|| {
            let expected = format!("{}, or no such member", expected(&error));
            ErrorDetail::new(error.pointer().to_owned(), name, expected, "null")
        });
        match read(&shorter) {
            Ok(()) => {
                let first = first.unwrap_or_else(|| unreachable!("set above"));
                return Ok((shorter, first));
            }
            Err(next) if lacks_what_was_null(&error, &next) => return Err(error),
            Err(next) => (error, text) = (next, shorter),
        }
    }
    Err(error)
}

/// What stands in place of a null, as far as the error says it.
fn expected(error: &DecodeError) -> &str {
    match error.rule() {
        "type" | "form" | "value" => error.expected(),
        _ => "a value",
    }
}

/// Whether `next` is that the member is missing whose null `error` was about.
fn lacks_what_was_null(error: &DecodeError, next: &DecodeError) -> bool {
    let Some((around, name)) = error.pointer().rsplit_once('/') else {
        return false;
    };
    let is_same = |(one, other): (&str, &str)| one == other || is_index(one) && is_index(other);
    next.missing() == Some(&*pointer::unescape(name))
        && around.split('/').count() == next.pointer().split('/').count()
        && around
            .split('/')
            .zip(next.pointer().split('/'))
            .all(is_same)
}

fn is_index(token: &str) -> bool {
    token.bytes().all(|byte| byte.is_ascii_digit())
}

/// `text` without the null that `error` is about, and without those at the same place in the other items of an array. `None` if
/// it is about something else, or the null is not a member.
fn without(text: &str, error: &DecodeError) -> Option<String> {
    if error
        .found()
        .is_some_and(|(kind, _)| kind != JsonKind::Null)
    {
        return None;
    }
    let tokens: Vec<_> = error
        .pointer()
        .split('/')
        .skip(1)
        .map(pointer::unescape)
        .collect();
    let tokens: Vec<&str> = tokens.iter().map(|token| &**token).collect();
    let mut out = String::with_capacity(text.len());
    // `None` where the null is an item of an array, or the whole.
    (copy(text, &tokens, &mut out)? > 0).then_some(out)
}

/// Appends `text` without the member at `tokens`, if that is null. Returns how many members were left out.
fn copy(text: &str, tokens: &[&str], out: &mut String) -> Option<usize> {
    let Some((token, rest)) = tokens.split_first() else {
        out.push_str(text);
        return Some(0);
    };
    let mut left_out = 0;
    match JsonKind::of(text) {
        JsonKind::Object => {
            let RawMembers(members) = serde_json::from_str(text).ok()?;
            // One that occurs twice is refused for that.
            if members.iter().filter(|(name, _)| name == token).count() > 1 {
                return None;
            }
            let is_left_out = |name: &str, value: &RawValue| {
                name == *token && rest.is_empty() && value.get() == "null"
            };
            out.push('{');
            let mut comma = "";
            for (name, value) in &members {
                if is_left_out(name, value) {
                    left_out += 1;
                    continue;
                }
                out.push_str(std::mem::replace(&mut comma, ","));
                out.push_str(&serde_json::to_string(name).ok()?);
                out.push(':');
                match name == token {
                    true => left_out += copy(value.get(), rest, out)?,
                    false => out.push_str(value.get()),
                }
            }
            out.push('}');
        }
        JsonKind::Array => {
            let items: Vec<&RawValue> = serde_json::from_str(text).ok()?;
            out.push('[');
            for (at, item) in items.iter().enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                left_out += copy(item.get(), rest, out)?;
            }
            out.push(']');
        }
        _ => out.push_str(text),
    }
    Some(left_out)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use trueform_schema::{
        CallToolRequestParams, CallToolResult, ListToolsResult, Method, ServerRequest, decode,
    };

    use super::*;
    use crate::gate::{Leniencies, Policy};

    fn read<T: for<'de> Deserialize<'de>>(text: &str) -> Result<WithoutNulls<T>, DecodeError> {
        let error = decode::from_str::<T>(text)
            .err()
            .expect("a null is refused at first");
        read_without(text, error, |text| decode::from_str(text))
    }

    // DEC-6
    #[test]
    fn nulls_are_left_out_where_they_may_not_be() {
        let text = r#"{ "name": "add", "arguments" : null, "_meta": {"progressToken":null,"a/b":null}, "x":[null] }"#;
        let read = read::<CallToolRequestParams>(text).unwrap();
        assert_eq!(
            read.text,
            r#"{"name":"add","_meta":{"a/b":null},"x":[null]}"#
        );
        assert_eq!(
            (&*read.first.pointer, read.first.rule),
            ("/arguments", "null-members")
        );
        assert_eq!(read.value.arguments, None);
    }

    // DEC-6
    #[test]
    fn a_place_in_an_array_is_one_place() {
        let tool = r#"{"name":"a","title":null,"inputSchema":{"type":"object"},"annotations":{"title":null},"_meta":null}"#;
        let titled = tool.replacen("null", r#""T""#, 1);
        let text = format!(
            r#"{{"tools":[{}]}}"#,
            vec![format!("{tool},{titled}"); 500].join(",")
        );
        let read = read::<ListToolsResult>(&text).unwrap();
        assert!(!read.text.contains("null"));
        let titles = read.value.tools.iter().map(|tool| tool.title.as_deref());
        let expected = [None, Some("T")].into_iter().cycle().take(1_000);
        assert!(titles.eq(expected));
        assert_eq!(
            (&*read.first.pointer, &*read.first.expected),
            ("/tools/0/title", "a string, or no such member")
        );
    }

    // DEC-6: what 2026-07-28 lets be null, and 2025-11-25 does not.
    #[test]
    fn nulls_of_a_later_revision() {
        let params = r#"{"maxTokens":1,"messages":[{"role":"user","content":{"type":"tool_result","toolUseId":"a","content":[],"structuredContent":null}}]}"#;
        let raw: Box<RawValue> = serde_json::from_str(params).unwrap();
        let message = |leniencies| {
            let inbound = Inbound {
                leniencies,
                policy: Policy::Enforce,
                is_careful: true,
            };
            let (method, revision) = (Method::CreateMessage, Revision::V2025_11_25);
            inbound.message(method, revision, Some(&*raw), ServerRequest::decode)
        };
        let (_, shorter) = message(Leniencies::ALL).unwrap();
        assert!(!shorter.unwrap().contains("null"));
        let error = message(Leniencies::ALL.without(Leniency::NullMembers))
            .err()
            .unwrap();
        let data = error.data.unwrap().to_value();
        assert_eq!(
            data["pointer"],
            "/params/messages/0/content/structuredContent"
        );
        assert_eq!(data["rule"], "null-members");
    }

    // DEC-6: what else is wrong is judged as if the null were not there.
    #[test]
    fn another_fault_beside_a_null() {
        let request = r#"{"maxTokens":1,"messages":[],"stopSequences":null,"modelPreferences":{"speedPriority":2}}"#;
        let request: Box<RawValue> = serde_json::from_str(request).unwrap();
        let result = r#"{"content":[{"type":"text","text":"a","annotations":{"priority":2}}],"isError":null}"#;
        for (policy, is_let_in) in [
            (Policy::Enforce, false),
            (Policy::Warn, true),
            (Policy::Off, true),
        ] {
            let inbound = Inbound {
                leniencies: Leniencies::ALL,
                policy,
                is_careful: true,
            };
            let revision = Revision::V2025_11_25;
            let read = inbound.message(
                Method::CreateMessage,
                revision,
                Some(&request),
                ServerRequest::decode,
            );
            match read {
                Ok((_, text)) => assert!(is_let_in && !text.unwrap().contains("null")),
                Err(error) => {
                    let data = error.data.unwrap().to_value();
                    let pointer = "/params/modelPreferences/speedPriority";
                    assert!(!is_let_in && data["pointer"] == pointer, "{data}");
                    assert_eq!(data["rule"], "maximum");
                }
            }
            let read = inbound.result::<CallToolResult>("tools/call", revision, result);
            assert_eq!(read.is_ok(), is_let_in);
            if let Err(error) = read {
                assert_eq!(error.pointer(), "/content/0/annotations/priority");
            }
        }
    }

    // DEC-6
    #[test]
    fn what_is_still_refused() {
        for (text, place, rule) in [
            // Required, so it is not left out.
            (r#"{"name":null}"#, "/name", "type"),
            (r#"{"name":null,"arguments":null}"#, "", "missing"),
            (
                r#"{"name":"a","inputResponses":{"k":{"role":null,"content":[],"model":"m"}}}"#,
                "/inputResponses/k/role",
                "type",
            ),
            // What else is wrong is said.
            (r#"{"arguments":null,"name":5}"#, "/name", "type"),
            ("null", "", "type"),
            (
                r#"{"name":"a","arguments":null,"arguments":{}}"#,
                "/arguments",
                "type",
            ),
            (
                r#"{"name":"a","_meta":{},"_meta":null}"#,
                "/_meta",
                "duplicate",
            ),
        ] {
            let error = decode::from_str::<CallToolRequestParams>(text).unwrap_err();
            let last = read_without(text, error, |text| {
                decode::from_str::<CallToolRequestParams>(text)
            });
            let last = last.err().unwrap_or_else(|| panic!("{text}"));
            assert_eq!((last.pointer(), last.rule()), (place, rule), "{text}");
        }
        let with = |places: usize| {
            let nulls: Vec<String> = (0..places).map(|at| format!(r#""m{at}":null"#)).collect();
            let text = format!(r#"{{"name":"a","inputResponses":{{{}}}}}"#, nulls.join(","));
            read::<CallToolRequestParams>(&text)
        };
        assert!(with(MOST_PLACES).is_ok());
        assert!(with(MOST_PLACES + 1).is_err(), "bounded");
    }
}
