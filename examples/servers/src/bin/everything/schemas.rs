//! Tools whose input schemas contain more than Rust types express: the name of a header, and rare vocabulary of JSON Schema.

use serde_json::json;
use trueform::{DynamicTool, prelude::*};

/// Takes an argument that HTTP clients repeat in the header `Mcp-Param-Region`.
#[tool(read_only)]
pub(crate) fn test_header(
    /// Where the request should be served.
    #[schemars(extend("x-mcp-header" = "Region"))]
    region: String,
) -> String {
    format!("Served in {region}.")
}

/// A tool whose schema cannot be derived from the types of a function.
pub(crate) fn json_schema_2020_12_tool() -> DynamicTool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    });
    DynamicTool::new("json_schema_2020_12_tool", schema)
        .description("Takes a person that can be reached, by phone or by mail.")
        .handler(|_context, person| async move { format!("Reached: {person}") })
}
