//! The headers of a modern HTTP request, which repeat parts of its body for the sake of intermediaries.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, value::RawValue};
use trueform_schema::{ErrorObject, Json};

use super::{METHOD_HEADER, NAME_HEADER, PARAM_HEADER_PREFIX, VERSION_HEADER};
use crate::{
    engine::Look,
    jsonrpc::{Fault, described, header_mismatch, invalid_params},
    tool::{HeaderKind, HeaderParam},
};

/// The headers of a request, whatever carries them.
pub(crate) trait Headers {
    /// The value of `name`, which is lower case.
    fn get(&self, name: &str) -> HeaderValue<'_>;
}

/// What is known of one header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "what HTTP adds; tests make them")
)]
pub(crate) enum HeaderValue<'a> {
    Absent,
    /// One value, without the white space around it.
    One(&'a str),
    /// Several values, or one that is not visible ASCII and spaces.
    Bad,
}

/// Compares the headers that every modern request has with its body (F-24, F-25, F-26, F-27).
pub(crate) fn check_standard_headers(
    headers: &dyn Headers,
    method: &str,
    name_member: Option<&'static str>,
    look: &Look<'_>,
) -> Result<(), ErrorObject> {
    let version = required(headers, VERSION_HEADER, "MCP-Protocol-Version")?;
    match look.version() {
        Some(in_body) if in_body == version => {}
        Some(in_body) => {
            return Err(header_mismatch(format!(
                "`MCP-Protocol-Version` is `{version}`, the body says `{in_body}`"
            )));
        }
        // GAP-2: the header is there, so what is missing is the member.
        None => return Err(missing_version(look)),
    }
    let named = required(headers, METHOD_HEADER, "Mcp-Method")?;
    if named != method {
        return Err(header_mismatch(format!(
            "`Mcp-Method` is `{named}`, the body says `{method}`"
        )));
    }
    let Some(member) = name_member else {
        return Ok(());
    };
    let Some(in_body) = look.name() else {
        return Ok(());
    }; // decoding the params will say that it is missing
    let named = decode(required(headers, NAME_HEADER, "Mcp-Name")?)
        .map_err(|problem| header_mismatch(format!("`Mcp-Name` {problem}")))?;
    if named != in_body {
        return Err(header_mismatch(format!(
            "`Mcp-Name` is `{named}`, `params.{member}` is `{in_body}`"
        )));
    }
    Ok(())
}

/// -32602 for a required member of `params._meta` that is missing, or not what is `expected` (C-2).
pub(crate) fn missing_meta(
    member: &str,
    expected: &'static str,
    found: Option<&RawValue>,
) -> ErrorObject {
    let pointer = format!("/params/_meta/io.modelcontextprotocol~1{member}");
    let member = format!("`io.modelcontextprotocol/{member}`");
    match found {
        None => invalid_params(
            format!("`params._meta` lacks {member}"),
            &Fault::missing(pointer, expected),
        ),
        Some(found) => invalid_params(
            format!("{member} of `params._meta` must be {expected}"),
            &Fault::new(pointer, "type", expected, described(found.get())),
        ),
    }
}

/// -32602 for a request that should name its protocol version and does not.
pub(crate) fn missing_version(look: &Look<'_>) -> ErrorObject {
    missing_meta("protocolVersion", "a string", look.raw_version())
}

/// Compares the headers that repeat arguments with them (F-28, GAP-9).
pub(crate) fn check_param_headers(
    headers: &dyn Headers,
    params: &[HeaderParam],
    arguments: Option<&Json>,
) -> Result<(), ErrorObject> {
    if params.is_empty() {
        return Ok(());
    }
    let arguments = arguments.map_or(Value::Null, Json::to_value);
    for param in params {
        let value = param
            .path
            .iter()
            .try_fold(&arguments, |value, key| value.get(&**key))
            .filter(|value| !value.is_null());
        let name = format!("{PARAM_HEADER_PREFIX}{}", param.name.to_ascii_lowercase());
        let complain = |problem: String| {
            Err(header_mismatch(format!(
                "`Mcp-Param-{}` {problem}",
                param.name
            )))
        };
        let sent = match (headers.get(&name), value) {
            (HeaderValue::Absent, None) => continue,
            (HeaderValue::Absent, Some(_)) => {
                return complain("is missing, and the argument it repeats is there".to_owned());
            }
            (HeaderValue::Bad, _) => {
                return complain("is repeated or has illegal characters".to_owned());
            }
            (HeaderValue::One(_), None) => {
                return complain("is there, and the argument it repeats is not".to_owned());
            }
            (HeaderValue::One(sent), Some(_)) => sent,
        };
        let sent = match decode(sent) {
            Ok(sent) => sent,
            Err(problem) => return complain(problem),
        };
        if !value.is_some_and(|value| agrees(&sent, value, param.kind)) {
            return complain("differs from the argument it repeats".to_owned());
        }
    }
    Ok(())
}

fn agrees(sent: &str, value: &Value, kind: HeaderKind) -> bool {
    match (kind, value) {
        (HeaderKind::String, Value::String(text)) => sent == text,
        (HeaderKind::Boolean, Value::Bool(flag)) => sent == if *flag { "true" } else { "false" },
        (HeaderKind::Integer, Value::Number(number)) => {
            let float = sent.parse::<f64>().ok();
            // 42.0 and 42 are the same integer, however either side wrote it.
            let sent = sent.parse().ok().or(float.and_then(whole));
            let found = number.as_i128().or(number.as_f64().and_then(whole));
            match (sent, found) {
                (None, None) => float.is_some() && float == number.as_f64(),
                (sent, found) => sent == found,
            }
        }
        // The argument has a type that its schema forbids: the argument check tells that better than a header error.
        _ => true,
    }
}

/// The integer that a float without a fraction is.
fn whole(float: f64) -> Option<i128> {
    /// Below this they fit.
    const LARGEST: f64 = 1e38;
    (float.fract() == 0.0 && float.abs() < LARGEST).then_some(float as i128)
}

fn required<'h>(
    headers: &'h dyn Headers,
    name: &str,
    spelling: &str,
) -> Result<&'h str, ErrorObject> {
    match headers.get(name) {
        HeaderValue::One(value) => Ok(value),
        HeaderValue::Absent => Err(header_mismatch(format!("`{spelling}` is missing"))),
        HeaderValue::Bad => Err(header_mismatch(format!(
            "`{spelling}` is repeated or has illegal characters"
        ))),
    }
}

/// Undoes the Base64 sentinel (TRAP-16): `=?base64?…?=` in exactly that form, anything else is literal.
fn decode(value: &str) -> Result<Cow<'_, str>, String> {
    let Some(encoded) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD
        .decode(encoded)
        .map_err(|problem| format!("is no Base64: {problem}"))?;
    String::from_utf8(bytes)
        .map(Cow::Owned)
        .map_err(|_| "does not decode to UTF-8".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    // F-27, TRAP-16
    #[test]
    fn sentinel() {
        for (value, decoded) in [
            ("Hello", Ok("Hello")),
            ("=?base64?SGVsbG8=?=", Ok("Hello")),
            ("=?base64?SGVsbG8=", Ok("=?base64?SGVsbG8=")),
            ("=?BASE64?SGVsbG8=?=", Ok("=?BASE64?SGVsbG8=?=")),
            ("SGVsbG8=", Ok("SGVsbG8=")),
            ("=?base64??=", Ok("")),
            ("=?base64?SGVsbG8?=", Err(())),
            ("=?base64?SGVs!!!bG8=?=", Err(())),
            ("=?base64?/w==?=", Err(())),
        ] {
            assert_eq!(decode(value).as_deref().map_err(|_| ()), decoded, "{value}");
        }
    }

    struct One(&'static str, &'static str);

    impl Headers for One {
        fn get(&self, name: &str) -> HeaderValue<'_> {
            if name == self.0 {
                HeaderValue::One(self.1)
            } else {
                HeaderValue::Absent
            }
        }
    }

    // F-28, GAP-9
    #[test]
    fn params() {
        let param = |kind| HeaderParam {
            name: "Region".into(),
            path: vec!["where".into(), "region".into()],
            kind,
        };
        let check = |header: Option<&'static str>, kind, arguments: &str| {
            let headers = header.map_or(One("", ""), |value| One("mcp-param-region", value));
            let arguments = Json::from_text(arguments).unwrap();
            check_param_headers(&headers, &[param(kind)], Some(&arguments))
                .map_err(|error| error.code)
        };
        assert_eq!(
            check(
                Some("eu"),
                HeaderKind::String,
                r#"{"where":{"region":"eu"}}"#
            ),
            Ok(())
        );
        assert_eq!(
            check(
                Some("us"),
                HeaderKind::String,
                r#"{"where":{"region":"eu"}}"#
            ),
            Err(-32020)
        );
        assert_eq!(
            check(None, HeaderKind::String, r#"{"where":{"region":"eu"}}"#),
            Err(-32020)
        );
        assert_eq!(
            check(
                Some("eu"),
                HeaderKind::String,
                r#"{"where":{"region":null}}"#
            ),
            Err(-32020)
        );
        assert_eq!(check(None, HeaderKind::String, "{}"), Ok(()));
        assert_eq!(
            check(
                Some("42.0"),
                HeaderKind::Integer,
                r#"{"where":{"region":42}}"#
            ),
            Ok(())
        );
        // 42.0 and 42 are one integer, and two large ones are not one because their doubles are.
        for (header, argument, agrees) in [
            ("42", "42.0", true),
            ("1816189213876457", "1816189213876457.0", true),
            ("9007199254740993", "9007199254740993", true),
            ("9007199254740993", "9007199254740992.0", false),
            ("18446744073709551615", "18446744073709551615", true),
            ("18446744073709551615", "18446744073709551614", false),
            ("10000000000000000", "1e16", true),
            ("9.5", "9.5", true),
            ("9", "9.5", false),
            ("x", "9", false),
        ] {
            let arguments = format!(r#"{{"where":{{"region":{argument}}}}}"#);
            let got = check(Some(header), HeaderKind::Integer, &arguments);
            assert_eq!(got.is_ok(), agrees, "{header} and {argument}");
        }
        assert_eq!(
            check(
                Some("43"),
                HeaderKind::Integer,
                r#"{"where":{"region":42}}"#
            ),
            Err(-32020)
        );
        assert_eq!(
            check(
                Some("true"),
                HeaderKind::Boolean,
                r#"{"where":{"region":true}}"#
            ),
            Ok(())
        );
        assert_eq!(
            check(
                Some("True"),
                HeaderKind::Boolean,
                r#"{"where":{"region":true}}"#
            ),
            Err(-32020)
        );
    }
}
