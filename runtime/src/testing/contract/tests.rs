use serde_json::json;

use super::*;
use crate::prelude::*;

/// Checks what changes between two input schemas, then between two output schemas, of which the letters are the impacts.
#[track_caller]
fn check(before: &Value, after: &Value, expected: &str) {
    let mut found = String::new();
    for flow in [Flow::In, Flow::Out] {
        let changes = schema::changes(before, after, flow, "t");
        found.extend(changes.iter().map(|change| format!("{change}\n")));
    }
    let expected: String = expected
        .trim()
        .lines()
        .map(|line| format!("{}\n", line.trim()))
        .collect();
    assert_eq!(found, expected, "{before}\n{after}");
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "what `json!` makes is passed on"
)]
fn object(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

#[test]
fn schemas() {
    let text = json!({ "type": "string" });
    check(
        &object(json!({ "a": text }), &[]),
        &object(json!({ "a": text }), &[]),
        "",
    );
    check(
        &object(json!({}), &[]),
        &object(json!({ "a": text, "b": text }), &["b"]),
        "additive  t, argument `a`: it is new, and optional
         breaking  t, argument `b`: it is new, and required
         additive  t, result `a`: it is new, and optional
         additive  t, result `b`: it is new, and always there",
    );
    check(
        &object(json!({ "a": text, "b": text }), &["b"]),
        &object(json!({}), &[]),
        "risky     t, argument `a`: it is gone
         risky     t, argument `b`: it is gone
         breaking  t, result `a`: it is gone
         breaking  t, result `b`: it is gone",
    );
    check(
        &json!({ "properties": { "a": text }, "additionalProperties": false }),
        &json!({ "properties": {}, "additionalProperties": false }),
        "breaking  t, argument `a`: it is gone, and refused
         breaking  t, result `a`: it is gone",
    );
    check(
        &object(json!({ "a": text }), &[]),
        &object(json!({ "a": text }), &["a"]),
        "breaking  t, argument `a`: it is now required
         additive  t, result `a`: it is now required",
    );
    check(
        &object(json!({ "a": text }), &["a"]),
        &object(json!({ "a": text }), &[]),
        "additive  t, argument `a`: it is no longer required
         breaking  t, result `a`: it is no longer required",
    );
    check(
        &json!({ "type": ["string", "null"] }),
        &json!({ "type": "string" }),
        "breaking  t, arguments: the type is narrowed from `null | string` to `string`
         additive  t, result: the type is narrowed from `null | string` to `string`",
    );
    check(
        &json!({ "type": "integer" }),
        &json!({ "type": "number" }),
        "additive  t, arguments: the type is widened from `integer` to `number`
         risky     t, result: the type is widened from `integer` to `number`",
    );
    check(
        &json!({ "type": "integer" }),
        &json!({ "type": "string" }),
        "breaking  t, arguments: the type is changed from `integer` to `string`
         breaking  t, result: the type is changed from `integer` to `string`",
    );
    check(
        &object(json!({ "a": { "enum": [1, 2] } }), &[]),
        &object(json!({ "a": { "enum": [2, 3] } }), &[]),
        "breaking  t, argument `a`: the value 1 is gone
         additive  t, argument `a`: the value 3 is new
         additive  t, result `a`: the value 1 is gone
         risky     t, result `a`: the value 3 is new",
    );
    check(
        &json!({ "minimum": 1, "maxLength": 9, "pattern": "a" }),
        &json!({ "minimum": 2, "pattern": "b" }),
        "additive  t, arguments: `maxLength` was 9, is absent
         breaking  t, arguments: `minimum` was 1, is 2
         breaking  t, arguments: `pattern` was \"a\", is \"b\"
         risky     t, result: `maxLength` was 9, is absent
         additive  t, result: `minimum` was 1, is 2
         breaking  t, result: `pattern` was \"a\", is \"b\"",
    );
    check(
        &json!({ "description": "one", "title": "One", "default": 1 }),
        &json!({ "description": "two" }),
        "risky     t, arguments: `default` was 1, is absent
         risky     t, arguments: `description` was \"one\", is \"two\"
         additive  t, arguments: `title` was \"One\", is absent
         risky     t, result: `default` was 1, is absent
         risky     t, result: `description` was \"one\", is \"two\"
         additive  t, result: `title` was \"One\", is absent",
    );
    check(
        &json!({ "anyOf": [{ "type": "string" }], "additionalProperties": {} }),
        &json!({ "anyOf": [{ "type": "string" }, { "type": "null" }], "additionalProperties": false }),
        "breaking  t, argument `{}`: it is no longer allowed
         additive  t, arguments: `anyOf` now has {\"type\":\"null\"}
         additive  t, result `{}`: it is no longer allowed
         risky     t, result: `anyOf` now has {\"type\":\"null\"}",
    );
    // Below references and lists; recursion ends.
    let tree = |leaf: &str| {
        let node = json!({ "properties": { "leaf": { "type": leaf }, "children": { "items": { "$ref": "#/$defs/node" } } } });
        json!({ "properties": { "root": { "$ref": "#/$defs/node" } }, "$defs": { "node": node } })
    };
    check(
        &tree("string"),
        &tree("integer"),
        "breaking  t, argument `root.leaf`: the type is changed from `string` to `integer`
         breaking  t, result `root.leaf`: the type is changed from `string` to `integer`",
    );
    // The same thing written out is no change.
    check(
        &json!({ "properties": { "a": { "$ref": "#/$defs/A" } }, "$defs": { "A": text } }),
        &json!({ "properties": { "a": text } }),
        "",
    );
}

/// Gone tomorrow.
#[tool]
fn gone() {}

mod first {
    /// Converts a temperature.
    #[crate::tool]
    pub(super) fn convert(celsius: f64, digits: Option<u8>) -> f64 {
        let _ = digits;
        celsius
    }
}

mod second {
    /// Converts a temperature to Fahrenheit.
    #[crate::tool(read_only)]
    pub(super) fn convert(celsius: f64, digits: u8, name: Option<String>) -> f64 {
        let _ = (digits, name);
        celsius
    }
}

fn before() -> Service {
    Server::new("weather", "1.0.0")
        .title("Weather")
        .instructions("Ask.")
        .tools(tools![gone, first::convert])
        .build()
        .unwrap()
}

fn after() -> Service {
    /// Comes tomorrow.
    #[tool]
    fn comes() {}
    let server =
        Server::new("weather", "2.0.0").revisions([Revision::V2025_11_25, Revision::V2026_07_28]);
    server
        .tools(tools![comes, second::convert])
        .build()
        .unwrap()
}

#[test]
fn whole_servers() {
    let list: String = changes(&contract(&before()), &contract(&after()))
        .iter()
        .map(|change| format!("{change}\n"))
        .collect();
    expect_test::expect![[r#"
        breaking  the revisions: "2024-11-05" is gone
        breaking  the revisions: "2025-03-26" is gone
        breaking  the revisions: "2025-06-18" is gone
        breaking  tool `convert`, argument `digits`: the type is narrowed from `integer | null` to `integer`
        breaking  tool `convert`, argument `digits`: it is now required
        breaking  tool `gone`: it is gone
        risky     the server: `instructions` is gone
        risky     tool `convert`: `description` was "Converts a temperature.", is "Converts a temperature to Fahrenheit."
        risky     tool `convert`, annotations: `readOnlyHint` is new: true
        additive  the server: `title` is gone
        additive  tool `convert`, argument `name`: it is new, and optional
        additive  tool `comes`: it is new
    "#]].assert_eq(&list);
}

#[test]
fn files() {
    let folder = std::env::temp_dir().join(format!("trueform-contract-{}", std::process::id()));
    let path = folder.join("deep/contract.json");
    let missing = compare(&contract(&before()), &path, false).unwrap_err();
    assert!(missing.contains("UPDATE_EXPECT=1"), "{missing}");
    compare(&contract(&before()), &path, true).unwrap();
    compare(&contract(&before()), &path, false).unwrap();
    let changed = compare(&contract(&after()), &path, false).unwrap_err();
    assert!(
        changed.contains("(breaking):\n  breaking  ")
            && changed.contains("  tool `gone`: it is gone\n"),
        "{changed}"
    );
    fs::write(&path, "{").unwrap();
    assert!(
        compare(&contract(&before()), &path, false)
            .unwrap_err()
            .contains("is no contract")
    );
    fs::remove_dir_all(folder).unwrap();
}

/// The golden form.
#[test]
fn the_contract_reads_well() {
    expect_test::expect![[r#"
        {
          "capabilities": {
            "logging": {},
            "tools": {
              "listChanged": true
            }
          },
          "revisions": [
            "2025-11-25",
            "2026-07-28"
          ],
          "server": {
            "name": "weather"
          },
          "tools": {
            "comes": {
              "description": "Comes tomorrow.",
              "inputSchema": {
                "additionalProperties": false,
                "type": "object"
              }
            },
            "convert": {
              "annotations": {
                "readOnlyHint": true
              },
              "description": "Converts a temperature to Fahrenheit.",
              "inputSchema": {
                "additionalProperties": false,
                "properties": {
                  "celsius": {
                    "type": "number"
                  },
                  "digits": {
                    "maximum": 255,
                    "minimum": 0,
                    "type": "integer"
                  },
                  "name": {
                    "type": [
                      "string",
                      "null"
                    ]
                  }
                },
                "required": [
                  "celsius",
                  "digits"
                ],
                "type": "object"
              }
            }
          }
        }
    "#]]
    .assert_eq(&format!("{:#}\n", contract(&after())));
}
