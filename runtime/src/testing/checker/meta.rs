//! The keys of `_meta`: their form, and the reserved ones.

use serde_json::Value;
use trueform_schema::Revision;

use super::Report;
use crate::gate::is_meta_key;

/// The keys that the protocol defines in `_meta`, at any revision.
const OWN: [&str; 8] = [
    "io.modelcontextprotocol/clientCapabilities",
    "io.modelcontextprotocol/clientInfo",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/model-immediate-response",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/related-task",
    "io.modelcontextprotocol/serverInfo",
    "io.modelcontextprotocol/subscriptionId",
];

/// Members with values of the peer's choice, in which `_meta` has no special meaning.
const FREE: [&str; 10] = [
    "_meta",
    "arguments",
    "data",
    "experimental",
    "extensions",
    "inputSchema",
    "metadata",
    "outputSchema",
    "requestedSchema",
    "structuredContent",
];

/// Checks the keys of each `_meta` in params or a result, called `what` (Z-10, Z-11).
pub(super) fn check_keys(report: &mut Report<'_>, revision: Revision, what: &str, value: &Value) {
    // Earlier revisions have no rules for them.
    if revision < Revision::V2025_06_18 {
        return;
    }
    match value {
        Value::Object(members) => {
            let keys = members.get("_meta").and_then(Value::as_object);
            for key in keys.into_iter().flat_map(|meta| meta.keys()) {
                check_key(report, revision, what, key);
            }
            let mut rest = members.iter();
            while let Some((_, value)) = rest.find(|(name, _)| !FREE.contains(&name.as_str())) {
                check_keys(report, revision, what, value);
            }
        }
        Value::Array(items) => {
            for item in items {
                check_keys(report, revision, what, item);
            }
        }
        _ => {}
    }
}

fn check_key(report: &mut Report<'_>, revision: Revision, what: &str, key: &str) {
    if !is_meta_key(key) {
        let message = format!(
            "`{key}` in the `_meta` of {what} is not a key: expected a name, or a prefix of dotted labels, a slash and a name"
        );
        report.error(&["Z-10"], message);
    } else if is_reserved(key, revision) && !OWN.contains(&key) {
        // An extension of the protocol may have defined it.
        let message = format!(
            "`{key}` in the `_meta` of {what} is reserved for the protocol, which has no such key"
        );
        report.warning(&["Z-10", "Z-11"], message);
    }
}

/// Returns whether the prefix of `key` is reserved by the protocol: by its second label, at 2025-06-18 by its last but one.
fn is_reserved(key: &str, revision: Revision) -> bool {
    let Some((prefix, _)) = key.split_once('/') else {
        return false;
    };
    let mut labels = prefix.split('.');
    let label = match revision {
        Revision::V2025_06_18 => labels.nth_back(1),
        _ => labels.nth(1),
    };
    matches!(label, Some("mcp" | "modelcontextprotocol"))
}
