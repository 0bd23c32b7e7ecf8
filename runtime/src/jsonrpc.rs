//! JSON-RPC: the codes of errors, and the bounds of every message.

// The envelope: which of the three kinds a message is, and how responses are written. Works on borrowed bytes and leaves `params`,
// `result` and `error` as raw JSON. Knows no method, no revision's types and no transport.

mod error;
mod error_detail;
mod message;
mod quick;
mod read;
mod scan;
mod shown;

#[cfg(feature = "testing")]
pub(crate) use self::read::{is_too_deep, readable_id};
pub use self::{error::code, shown::MAX_REPEATED};
pub(crate) use self::{
    error::{
        capability_missing, header_mismatch, internal, invalid_params, invalid_request,
        method_not_found, not_a_request_of_client, params_error, unsupported_version,
    },
    error_detail::{ErrorDetail, NOTHING, described, sized},
    message::{EarlyParams, Incoming, Kind, Malformed, Message},
    quick::{Cursor, NotedObject, QuickRequest, plain_length, quick},
    read::{malformed_from, parse, parse_early},
    scan::end_of_string,
    shown::{ShortRequestId, WholeMessage, one_line, sentence, shortened},
};
/// The gate's name for it.
pub(crate) use trueform_schema::pointer::escape as escaped;

/// The UTF-8 form of the byte order mark, which some peers write before a text.
pub(crate) const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// `text` without a byte order mark at its start (DEC-10).
#[cfg_attr(
    not(any(feature = "http", feature = "testing", feature = "client-http")),
    allow(dead_code, reason = "streams look for it in pieces")
)]
pub(crate) fn without_mark(text: &[u8]) -> &[u8] {
    text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text)
}

/// Whether JSON allows `byte` between values. A form feed, which [`u8::is_ascii_whitespace`] takes for white space, is not JSON.
pub(crate) const fn is_white_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// `text` without what JSON allows around a value.
#[cfg(any(feature = "testing", feature = "client-http"))]
pub(crate) fn trimmed(mut text: &[u8]) -> &[u8] {
    while let [first, rest @ ..] = text
        && is_white_space(*first)
    {
        text = rest;
    }
    while let [rest @ .., last] = text
        && is_white_space(*last)
    {
        text = rest;
    }
    text
}

/// Deepest nesting of arrays and objects in a message. Same as the limit of `serde_json`, which holds only where a value
/// is decoded; this one holds for raw members too.
pub const MAX_DEPTH: usize = 128;

/// Most messages in one batch (2025-03-26).
pub const MAX_BATCH: usize = 64;
