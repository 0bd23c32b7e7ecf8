//! Whether a capability is declared: the one reading of a capabilities object, for servers and for clients.

use serde_json::Value;

/// Whether `declared`, a written capabilities object, has `capability`, as the method table names it: `tools`,
/// `resources.subscribe`.
pub(crate) fn declares(declared: &Value, capability: &str) -> bool {
    let found = capability
        .split('.')
        .try_fold(declared, |value, name| value.get(name));
    found.is_some_and(|value| *value != Value::Bool(false))
}
