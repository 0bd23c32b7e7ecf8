//! The one place every message passes on its way out: what its revision does not allow does not leave.

use serde_json::Value;
use trueform_schema::{Conform, Era, ErrorObject, Revision, View, Violation, conform, rewrite};

use super::codes::{self, Standing};
use crate::jsonrpc;

/// What is done about a message that its revision does not allow, on its way out or in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// It goes no further, and the log says what was wrong. On the way out a request is answered with -32603 and a
    /// notification is dropped; on the way in a request is refused with -32600 or -32602, a notification is dropped, an answer
    /// fails what waits for it.
    #[default]
    Enforce,
    /// It goes on, and the log says what was wrong. What cannot be decoded is refused all the same, and a result that the tool's
    /// own output schema forbids is held back.
    Warn,
    /// Nothing is checked but what [`Warn`](Self::Warn) refuses too.
    Off,
}

/// Checks `value`, which is about to be sent as `what` at `revision`.
///
/// # Errors
/// What the peer is told instead: that this cannot be expressed at its revision. Pointer and rule are for the log.
pub(crate) fn check<T: Conform + ?Sized>(
    policy: Policy,
    value: &T,
    revision: Revision,
    what: &str,
) -> Result<(), ErrorObject> {
    if policy == Policy::Off {
        return Ok(());
    }
    match conform(value, revision) {
        Err(violation) if holds_back(policy, &violation, what) => Err(jsonrpc::internal(format!(
            "`{what}` cannot be expressed at revision {revision}"
        ))),
        _ => Ok(()),
    }
}

/// Logs what is wrong with a message that is about to be sent as `what`; whether that keeps it back.
pub(crate) fn holds_back(policy: Policy, violation: &Violation, what: &str) -> bool {
    let held_back = policy == Policy::Enforce;
    tracing::error!(
        what,
        revision = %violation.revision(),
        pointer = violation.pointer(),
        rule = violation.rule().name(),
        %violation,
        held_back,
        "a message that its revision does not allow"
    );
    held_back
}

/// Logs what `revision` does not see of `written`, which was sent as `what` in the form `sent`: places, never values.
pub(crate) fn tell_loss(written: &dyn Conform, sent: &dyn Conform, revision: Revision, what: &str) {
    if revision.era() == Era::Modern || !tracing::enabled!(tracing::Level::DEBUG) {
        return;
    }
    let at = |value: &dyn Conform, view| {
        let mut text = Vec::new();
        value.encode(view, &mut text);
        serde_json::from_slice(&text).unwrap_or_default()
    };
    let mut lost = Vec::new();
    differences(
        &at(written, View::ALL),
        &at(sent, View::at(revision)),
        String::new(),
        &mut lost,
    );
    if !lost.is_empty() {
        tracing::debug!(
            what,
            %revision,
            lost = lost.join(", "),
            "an older revision sees less of a message"
        );
    }
}

/// The places of `written` that `sent` does not have, or has otherwise.
fn differences(written: &Value, sent: &Value, pointer: String, found: &mut Vec<String>) {
    match (written, sent) {
        (Value::Object(written), Value::Object(sent)) => {
            for (name, value) in written {
                let pointer = format!("{pointer}/{}", jsonrpc::escaped(name));
                match sent.get(name) {
                    Some(sent) => differences(value, sent, pointer, found),
                    None => found.push(pointer),
                }
            }
        }
        (Value::Array(written), Value::Array(sent)) if written.len() == sent.len() => {
            for (index, (written, sent)) in written.iter().zip(sent).enumerate() {
                differences(written, sent, format!("{pointer}/{index}"), found);
            }
        }
        _ if written != sent => found.push(pointer),
        _ => {}
    }
}

/// `error` as `revision` may be told it. Codes that the protocol keeps for itself are no author's to send: an error with one
/// is told as an internal error, and the log has the rest.
pub(crate) fn error_at(mut error: ErrorObject, revision: Revision) -> ErrorObject {
    let code = rewrite::error_code(error.code, revision);
    let standing = codes::standing(code, revision);
    let says_something = code == error.code || code != jsonrpc::code::INTERNAL_ERROR;
    if says_something
        && matches!(standing, Standing::Free | Standing::Defined)
        && codes::lacking(&error, revision).is_none()
    {
        error.code = code;
        return error;
    }
    tracing::error!(
        code = error.code,
        %revision,
        problem = %error.message,
        "an error was held back: its code is reserved or of another revision, or its data is not what goes with the code"
    );
    jsonrpc::internal("internal error")
}

#[cfg(test)]
mod tests {
    use trueform_schema::Json;

    use super::*;

    //
    #[test]
    fn codes() {
        let told = |code, revision| error_at(ErrorObject::new(code, "m"), revision).code;
        for revision in Revision::ALL {
            assert_eq!(told(-32602, revision), -32602);
            assert_eq!(told(4000, revision), 4000);
            for reserved in [-32000, -32019, -32023, -32099, -32100, -32768] {
                assert_eq!(told(reserved, revision), -32603, "{reserved} at {revision}");
            }
        }
        assert_eq!(told(-32002, Revision::V2025_11_25), -32002);
        assert_eq!(told(-32002, Revision::V2026_07_28), -32602);
        // What a code of another revision says means nothing without it.
        let visit = ErrorObject::new(-32042, "m")
            .with_data(Json::from(serde_json::json!({ "elicitations": [] })));
        let told = error_at(visit, Revision::V2026_07_28);
        assert_eq!(
            (told.code, &*told.message, told.data),
            (-32603, "internal error", None)
        );
        for (code, data, allowed) in [
            (
                -32042,
                serde_json::json!({ "elicitations": [] }),
                Revision::V2025_11_25,
            ),
            (
                -32021,
                serde_json::json!({ "requiredCapabilities": {} }),
                Revision::V2026_07_28,
            ),
            (
                -32022,
                serde_json::json!({ "supported": [], "requested": "x" }),
                Revision::V2026_07_28,
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            for revision in Revision::ALL {
                let expected = if revision == allowed { code } else { -32603 };
                assert_eq!(
                    error_at(error.clone(), revision).code,
                    expected,
                    "{code} at {revision}"
                );
            }
        }
    }

    // C-7, C-10, R-12
    #[test]
    fn data_that_does_not_go_with_its_code() {
        let url = serde_json::json!({ "mode": "url", "elicitationId": "e", "message": "m", "url": "https://example.com" });
        let with = |name: &str, value: serde_json::Value| {
            let mut url = url.clone();
            url[name] = value;
            serde_json::json!({ "elicitations": [url] })
        };
        let right = ErrorObject::new(-32042, "m").with_data(Json::from(with("mode", "url".into())));
        assert_eq!(error_at(right, Revision::V2025_11_25).code, -32042);
        for (code, revision, data) in [
            (-32042, Revision::V2025_11_25, serde_json::json!(null)),
            (
                -32042,
                Revision::V2025_11_25,
                serde_json::json!({ "elicitations": [{}] }),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("url", "no address".into()),
            ),
            (
                -32042,
                Revision::V2025_11_25,
                with("elicitationId", 1.into()),
            ),
            (-32021, Revision::V2026_07_28, serde_json::json!({})),
            (
                -32021,
                Revision::V2026_07_28,
                serde_json::json!({ "requiredCapabilities": [] }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": "x", "requested": "x" }),
            ),
            (
                -32022,
                Revision::V2026_07_28,
                serde_json::json!({ "supported": [] }),
            ),
        ] {
            let error = ErrorObject::new(code, "m").with_data(Json::from(data));
            assert_eq!(error_at(error.clone(), revision).code, -32603, "{error:?}");
            assert_eq!(
                error_at(ErrorObject::new(code, "m"), revision).code,
                -32603,
                "none at all"
            );
        }
    }
}
