//! Refusals of messages whose session header does not lead to an open session.

use trueform_schema::ErrorObject;

use crate::jsonrpc::{ErrorDetail, invalid_request};

const EXPECTED: &str = "an `Mcp-Session-Id` header with the id of an open session";

/// Returns the error for a message that needs a session but has no header.
// F-20
pub(crate) fn session_missing() -> ErrorObject {
    invalid_request(
        "the `Mcp-Session-Id` header is missing; send the one that `initialize` was answered with, or, without a session, \
         `params._meta` and headers as 2026-07-28 has them",
        &ErrorDetail::missing("", EXPECTED),
    )
}

/// Returns the error for a header that names a session that does not exist.
// F-21
pub(crate) fn session_unknown() -> ErrorObject {
    invalid_request(
        "there is no such session, or it has ended; `initialize` opens a new one",
        &ErrorDetail::new(
            "",
            "session",
            EXPECTED,
            "an id that is not that of an open session",
        ),
    )
}

/// Returns the error for a header that cannot be read.
pub(crate) fn session_header_unusable() -> ErrorObject {
    invalid_request(
        "the `Mcp-Session-Id` header occurs twice, or is not visible ASCII",
        &ErrorDetail::new("", "session", EXPECTED, "something else"),
    )
}

/// Returns the error for a request within a session whose version header names no possible version.
// F-23
pub(crate) fn session_version_unknown() -> ErrorObject {
    invalid_request(
        "`MCP-Protocol-Version` names no version that is served here",
        &ErrorDetail::new(
            "",
            "version",
            "an `MCP-Protocol-Version` header with the version of the session, or none",
            "another",
        ),
    )
}
