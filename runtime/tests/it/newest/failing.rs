//! Tools that fail by an error of the protocol, one with each code that some revision gives a meaning.

use serde_json::{Value, json};
use trueform::{
    prelude::*,
    schema::{ErrorObject, Json as RawJson},
    tool::ToolSet,
};

/// The code a tool fails with, the data that goes with it, and the code that each revision is told.
pub(super) fn told() -> Vec<(&'static str, i64, Value, [i64; 5])> {
    let elicitation = json!({
        "mode": "url",
        "elicitationId": "e1",
        "message": "Please sign in.",
        "url": "https://example.com/sign-in",
    });
    let internal = -32603;
    vec![
        ("own", 4000, json!({ "any": [null] }), [4000; 5]),
        ("params", -32602, Value::Null, [-32602; 5]),
        (
            "resource",
            -32002,
            json!({ "uri": "file:///x" }),
            [-32002, -32002, -32002, -32002, -32602],
        ),
        (
            "sign_in",
            -32042,
            json!({ "elicitations": [elicitation] }),
            [internal, internal, internal, -32042, internal],
        ),
        (
            "sign_in_nowhere",
            -32042,
            json!({ "elicitations": [{}] }),
            [internal; 5],
        ),
        (
            "capability",
            -32021,
            json!({ "requiredCapabilities": { "sampling": {} } }),
            [internal, internal, internal, internal, -32021],
        ),
        (
            "capability_of_none",
            -32021,
            json!({ "requiredCapabilities": 5 }),
            [internal; 5],
        ),
        (
            "version",
            -32022,
            json!({ "supported": ["2026-07-28"], "requested": "1999-01-01" }),
            [internal, internal, internal, internal, -32022],
        ),
        (
            "version_of_none",
            -32022,
            json!({ "supported": [1], "requested": "x" }),
            [internal; 5],
        ),
        ("reserved", -32050, Value::Null, [internal; 5]),
    ]
}

pub(super) fn tools() -> ToolSet {
    let mut tools = ToolSet::new();
    for (name, code, data, _) in told() {
        let tool = DynamicTool::new(name, json!({ "type": "object" })).handler(move |_, _| {
            let mut error = ErrorObject::new(code, "it cannot be done");
            if !data.is_null() {
                error = error.with_data(RawJson::from(data.clone()));
            }
            async move { Err::<(), _>(ToolError::protocol(error)) }
        });
        tools.extend(tool);
    }
    tools
}
