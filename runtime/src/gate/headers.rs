//! The headers of a modern HTTP request. They repeat parts of its body so that intermediaries need not read the body.

use std::borrow::Cow;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::value::RawValue;
use trueform_schema::ErrorObject;

use super::{Claims, METHOD_HEADER, NAME_HEADER, VERSION_HEADER};
use crate::jsonrpc::{ErrorDetail, described, header_mismatch, invalid_params, shortened};

/// The headers of a request, independent of their representation.
pub(crate) trait Headers {
    /// Returns the value of `name`, which is lower case.
    fn get(&self, name: &str) -> HeaderValue<'_>;
}

/// The value of one header.
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
    name: Option<(&'static str, Option<Cow<'_, str>>)>,
    claims: &Claims<'_>,
) -> Result<(), ErrorObject> {
    let version = required(headers, VERSION_HEADER, "MCP-Protocol-Version")?;
    match claims.version() {
        Some(in_body) if in_body == version => {}
        Some(in_body) => {
            return Err(header_mismatch(format!(
                "`MCP-Protocol-Version` is `{}`, the body says `{}`",
                shortened(version),
                shortened(&in_body)
            )));
        }
        // GAP-2: the header is present, so the member is missing.
        None => return Err(missing_version(claims)),
    }
    let named = required(headers, METHOD_HEADER, "Mcp-Method")?;
    if named != method {
        return Err(header_mismatch(format!(
            "`Mcp-Method` is `{}`, the body says `{}`",
            shortened(named),
            shortened(method)
        )));
    }
    // Decoding the params will report that it is missing.
    let Some((member, Some(in_body))) = name else {
        return Ok(());
    };
    let named = decode_header(required(headers, NAME_HEADER, "Mcp-Name")?)
        .map_err(|problem| header_mismatch(format!("`Mcp-Name` {problem}")))?;
    if named != in_body {
        return Err(header_mismatch(format!(
            "`Mcp-Name` is `{}`, `params.{member}` is `{}`",
            shortened(&named),
            shortened(&in_body)
        )));
    }
    Ok(())
}

/// Returns -32602 for a required member of `params._meta` that is missing, or not what is `expected` (C-2).
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
            &ErrorDetail::missing(pointer, expected),
        ),
        Some(found) => invalid_params(
            format!("{member} of `params._meta` must be {expected}"),
            &ErrorDetail::new(pointer, "type", expected, described(found.get())),
        ),
    }
}

/// Returns -32602 for a request that does not name its protocol version although it must.
pub(crate) fn missing_version(claims: &Claims<'_>) -> ErrorObject {
    missing_meta("protocolVersion", "a string", claims.raw_version())
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

/// Decodes the Base64 sentinel (TRAP-16): `=?base64?…?=` in exactly that form. Any other value is literal.
pub(crate) fn decode_header(value: &str) -> Result<Cow<'_, str>, String> {
    let Some(encoded) = value
        .strip_prefix("=?base64?")
        .and_then(|rest| rest.strip_suffix("?="))
    else {
        return Ok(Cow::Borrowed(value));
    };
    let bytes = STANDARD
        .decode(encoded)
        .map_err(|problem| format!("is not Base64: {problem}"))?;
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
            assert_eq!(
                decode_header(value).as_deref().map_err(|_| ()),
                decoded,
                "{value}"
            );
        }
    }
}
