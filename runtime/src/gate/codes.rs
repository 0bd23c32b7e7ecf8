//! Which error codes are defined at which revision, and the data that they require. One table, for outgoing errors and for the checker of
//! recorded traffic.

use serde::Deserialize;
use trueform_schema::{
    ClientCapabilities, ElicitRequestURLParams, Era, ErrorObject, Json, Revision, conform, decode,
};

use crate::jsonrpc::code;

/// Who defines an error code at a revision.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// No specification defines it. An application may define it.
    Free,
    /// JSON-RPC or the revision defines it.
    Defined,
    /// Only other revisions define it.
    Elsewhere,
    /// No specification defines it. Only JSON-RPC or the MCP specification may define it.
    Reserved,
}

/// Returns the standing of `code` at `revision`.
//
pub(crate) fn standing(code: i64, revision: Revision) -> Standing {
    let is_defined = match code {
        code::PARSE_ERROR
        | code::INVALID_REQUEST
        | code::METHOD_NOT_FOUND
        | code::INVALID_PARAMS
        | code::INTERNAL_ERROR => true,
        code::HEADER_MISMATCH | code::MISSING_CLIENT_CAPABILITY | code::UNSUPPORTED_VERSION => {
            revision.era() == Era::Modern
        }
        code::URL_ELICITATION_REQUIRED => revision == Revision::V2025_11_25,
        code::RESOURCE_NOT_FOUND => revision.era() == Era::Legacy,
        -32768..=-32000 => return Standing::Reserved,
        _ => return Standing::Free,
    };
    match is_defined {
        true => Standing::Defined,
        false => Standing::Elsewhere,
    }
}

/// Returns the `data` that the code of `error` requires at `revision`, if `data` is missing or malformed.
// C-7, C-10, R-12
pub(crate) fn lacking(error: &ErrorObject, revision: Revision) -> Option<&'static str> {
    let data = error.data.as_ref().map_or("null", Json::get);
    let (is_there, promised) = match error.code {
        code::URL_ELICITATION_REQUIRED => {
            let is_there = decode::from_str::<Visits>(data).is_ok_and(|data| {
                data.elicitations
                    .iter()
                    .all(|url| conform(url, revision).is_ok())
            });
            (is_there, "`elicitations`")
        }
        code::MISSING_CLIENT_CAPABILITY => {
            let is_there = decode::from_str::<Missing>(data)
                .is_ok_and(|data| conform(&data.required_capabilities, revision).is_ok());
            (is_there, "`requiredCapabilities`")
        }
        code::UNSUPPORTED_VERSION => (
            decode::from_str::<Versions>(data).is_ok(),
            "`supported` and `requested`",
        ),
        _ => return None,
    };
    (!is_there).then_some(promised)
}

/// The data of [`code::URL_ELICITATION_REQUIRED`].
#[derive(Deserialize)]
struct Visits {
    elicitations: Vec<ElicitRequestURLParams>,
}

/// The data of [`code::MISSING_CLIENT_CAPABILITY`].
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Missing {
    required_capabilities: ClientCapabilities,
}

/// The data of [`code::UNSUPPORTED_VERSION`].
#[derive(Deserialize)]
#[expect(dead_code, reason = "only whether it can be read matters")]
struct Versions {
    supported: Vec<String>,
    requested: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_codes_promise() {
        let visit = serde_json::json!({ "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "e" });
        let capabilities = Some("`requiredCapabilities`");
        let versions = Some("`supported` and `requested`");
        for (code, data, expected) in [
            (-32602, serde_json::json!(null), None),
            (-32042, serde_json::json!({}), Some("`elicitations`")),
            (
                -32042,
                serde_json::json!({ "elicitations": {} }),
                Some("`elicitations`"),
            ),
            (
                -32042,
                serde_json::json!({ "elicitations": [{}] }),
                Some("`elicitations`"),
            ),
            (-32042, serde_json::json!({ "elicitations": [visit] }), None),
            (-32021, serde_json::json!(null), capabilities),
            (
                -32021,
                serde_json::json!({ "requiredCapabilities": "x" }),
                capabilities,
            ),
            (
                -32021,
                serde_json::json!({ "requiredCapabilities": {} }),
                None,
            ),
            (-32022, serde_json::json!({ "supported": [] }), versions),
            (-32022, serde_json::json!({ "requested": "x" }), versions),
            (
                -32022,
                serde_json::json!({ "supported": [], "requested": "x" }),
                None,
            ),
        ] {
            let revision = match code {
                -32042 => Revision::V2025_11_25,
                _ => Revision::V2026_07_28,
            };
            let error = ErrorObject::new(code, "m").with_data(Json::from(data.clone()));
            assert_eq!(lacking(&error, revision), expected, "{code} {data}");
        }
    }
}
