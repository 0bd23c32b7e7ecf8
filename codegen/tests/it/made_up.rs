//! A revision that does not exist: the newest real one with one change of each kind that a later revision could bring.

use serde_json::{Value, json};

use crate::support::committed;

/// Its date.
pub(crate) const REVISION: &str = "2027-01-31";

/// The official-looking file of the made-up revision, prose and all.
pub(crate) fn official() -> Value {
    let mut document = committed("2026-07-28");
    let definitions = &mut document["$defs"];
    definitions["Tool"]["description"] = "Prose that no committed file may hold.".into();

    new_method(definitions);
    new_union_member(definitions);
    removed_method(definitions);

    // A new required member, and a new value of an enumeration.
    definitions["Tool"]["properties"]["owner"] =
        json!({ "type": "string", "description": "Who answers for it." });
    list(&mut definitions["Tool"]["required"]).push("owner".into());
    list(&mut definitions["LoggingLevel"]["enum"]).push("trace".into());
    document
}

/// The same revision, with `tools/list` called `tools/enumerate` on the wire; its definitions keep their names.
pub(crate) fn with_a_renamed_method() -> Value {
    let mut document = official();
    document["$defs"]["ListToolsRequest"]["properties"]["method"]["const"] =
        "tools/enumerate".into();
    document
}

/// The exact report of `diff` from 2026-07-28 on.
pub(crate) const DIFF: &str = "\
5 breaking, 3 risky, 4 additive
breaking  completion/complete: method removed
additive  tools/describe: method added (ClientRequest)
breaking  CompleteRequestParams: type removed
breaking  CompleteResult: type removed
risky     ContentBlock: union member VideoContent added
additive  DescribeToolRequestParams: type added
additive  DescribeToolResult: type added
risky     LoggingLevel: value \"trace\" added
breaking  ServerResult: union member CompleteResult removed
risky     ServerResult: union member DescribeToolResult added
breaking  Tool.owner: required member added (string)
additive  VideoContent: type added
";

fn new_method(definitions: &mut Value) {
    definitions["DescribeToolRequest"] = json!({
        "type": "object",
        "description": "Asks what a tool does.",
        "properties": {
            "id": { "$ref": "#/$defs/RequestId" },
            "jsonrpc": { "const": "2.0", "type": "string" },
            "method": { "const": "tools/describe", "type": "string" },
            "params": { "$ref": "#/$defs/DescribeToolRequestParams" },
        },
        "required": ["id", "jsonrpc", "method", "params"],
    });
    definitions["DescribeToolRequestParams"] = json!({
        "type": "object",
        "properties": { "_meta": { "$ref": "#/$defs/RequestMetaObject" }, "name": { "type": "string" } },
        "required": ["_meta", "name"],
    });
    definitions["DescribeToolResult"] = json!({
        "type": "object",
        "properties": {
            "_meta": { "$ref": "#/$defs/ResultMetaObject" },
            "resultType": { "type": "string" },
            "text": { "type": "string" },
        },
        "required": ["resultType", "text"],
    });
    definitions["DescribeToolResultResponse"] = json!({
        "type": "object",
        "properties": {
            "id": { "$ref": "#/$defs/RequestId" },
            "jsonrpc": { "const": "2.0", "type": "string" },
            "result": { "$ref": "#/$defs/DescribeToolResult" },
        },
        "required": ["id", "jsonrpc", "result"],
    });
    list(&mut definitions["ClientRequest"]["anyOf"])
        .push(json!({ "$ref": "#/$defs/DescribeToolRequest" }));
    list(&mut definitions["ServerResult"]["anyOf"])
        .push(json!({ "$ref": "#/$defs/DescribeToolResult" }));
}

fn new_union_member(definitions: &mut Value) {
    definitions["VideoContent"] = json!({
        "type": "object",
        "properties": {
            "_meta": { "$ref": "#/$defs/MetaObject" },
            "annotations": { "$ref": "#/$defs/Annotations" },
            "data": { "type": "string", "format": "byte" },
            "mimeType": { "type": "string" },
            "type": { "const": "video", "type": "string" },
        },
        "required": ["data", "mimeType", "type"],
    });
    list(&mut definitions["ContentBlock"]["anyOf"]).push(json!({ "$ref": "#/$defs/VideoContent" }));
}

fn removed_method(definitions: &mut Value) {
    for union in ["ClientRequest", "ServerResult"] {
        list(&mut definitions[union]["anyOf"]).retain(|member| {
            !matches!(
                member["$ref"].as_str(),
                Some("#/$defs/CompleteRequest" | "#/$defs/CompleteResult")
            )
        });
    }
    let definitions = definitions
        .as_object_mut()
        .expect("definitions are an object");
    for name in [
        "CompleteRequest",
        "CompleteRequestParams",
        "CompleteResult",
        "CompleteResultResponse",
    ] {
        definitions
            .shift_remove(name)
            .expect("the newest revision has it");
    }
}

fn list(value: &mut Value) -> &mut Vec<Value> {
    value.as_array_mut().expect("it is an array")
}
