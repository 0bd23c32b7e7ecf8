use serde_json::json;

use super::*;
use crate::prelude::*;

#[test]
fn schemas_of_tools() {
    let tool = |unit: Value, city: Value| {
        json!({ "tools": { "f": {
            "inputSchema": { "type": "object", "properties": { "unit": unit } },
            "outputSchema": { "properties": { "cities": { "items": { "properties": { "name": city } } } } },
        } } })
    };
    let mut before = tool(json!({ "type": "string" }), json!({ "description": "a" }));
    let mut after = tool(json!({ "type": "integer" }), json!({ "description": "b" }));
    before["tools"]["f"]["outputSchema"]["type"] = json!("object");
    after["tools"]["f"]["inputSchema"]["additionalProperties"] = json!(false);
    let list: String = changes(&before, &after)
        .iter()
        .map(|change| format!("{change}\n"))
        .collect();
    expect_test::expect![[r#"
        breaking  tool `f`, arguments: unknown members are now refused
        breaking  tool `f`, argument `unit`: type changed from string to integer
        risky     tool `f`, result: type changed from object to any JSON
        risky     tool `f`, result `cities[].name`: `description` changed from "a" to "b"
    "#]]
    .assert_eq(&list);
}

/// Gone tomorrow.
#[tool]
fn gone() {}

mod first {
    /// Converts a temperature.
    #[crate::tool(needs(elicitation, roots))]
    pub(super) fn convert(celsius: f64, digits: Option<u8>) -> f64 {
        let _ = digits;
        celsius
    }
}

mod second {
    /// Converts a temperature to Fahrenheit.
    #[crate::tool(read_only, needs(sampling, roots))]
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
        breaking  tool `convert`, needs: "sampling" is new
        breaking  tool `convert`, argument `digits`: became required
        breaking  tool `gone`: it is gone
        risky     the server: `instructions` is gone
        risky     tool `convert`: `description` was "Converts a temperature.", is "Converts a temperature to Fahrenheit."
        risky     tool `convert`, annotations: `readOnlyHint` is new: true
        additive  the server: `title` is gone
        additive  tool `convert`, needs: "elicitation" is gone
        additive  tool `convert`, argument `name`: optional member added (string)
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
            .contains("is not a contract")
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
                "properties": {},
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
                    "type": "string"
                  }
                },
                "required": [
                  "celsius",
                  "digits"
                ],
                "type": "object"
              },
              "needs": [
                "sampling",
                "roots"
              ]
            }
          }
        }
    "#]]
    .assert_eq(&format!("{:#}\n", contract(&after())));
}

mod prompts_before {
    /// Reviews code.
    #[crate::prompt]
    pub(super) fn review(code: String, level: Option<String>, style: Option<String>) -> String {
        let _ = (level, style);
        code
    }

    /// Gone tomorrow.
    #[crate::prompt]
    pub(super) fn gone() -> &'static str {
        ""
    }
}

mod prompts_after {
    /// Reviews code strictly.
    #[crate::prompt(title = "Review", needs(sampling))]
    pub(super) fn review(
        /// The code.
        code: Option<String>,
        level: String,
        lines: u8,
        tone: Option<String>,
    ) -> String {
        let _ = (lines, tone, code);
        level
    }

    /// New today.
    #[crate::prompt]
    pub(super) fn fresh() -> &'static str {
        ""
    }
}

#[test]
fn changes_of_prompts() {
    let server = || Server::new("reviews", "1.0.0");
    let contract_of = |server: Server| contract(&server.build().unwrap());
    let before =
        contract_of(server().prompts(prompts![prompts_before::review, prompts_before::gone]));
    let after =
        contract_of(server().prompts(prompts![prompts_after::review, prompts_after::fresh]));
    assert_eq!(changes(&before, &before), []);
    let list: String = changes(&before, &after)
        .iter()
        .map(|change| format!("{change}\n"))
        .collect();
    expect_test::expect![[r#"
        breaking  prompt `gone`: it is gone
        breaking  prompt `review`, needs: "sampling" is new
        breaking  prompt `review`, argument `level`: it is required now
        breaking  prompt `review`, argument `style`: it is gone
        breaking  prompt `review`, argument `lines`: it is new and required
        additive  prompt `review`: `description` was "Reviews code.", is "Reviews code strictly."
        additive  prompt `review`: `title` is new: "Review"
        additive  prompt `review`, argument `code`: it is optional now
        additive  prompt `review`, argument `code`: `description` is new: "The code."
        additive  prompt `review`, argument `tone`: it is new
        additive  prompt `fresh`: it is new
    "#]]
    .assert_eq(&list);
}

mod resources_before {
    /// About the shop.
    #[crate::resource("shop://about")]
    pub(super) fn about() -> &'static str {
        ""
    }

    /// An article.
    #[crate::resource("shop://articles/{id}")]
    pub(super) fn article(id: u32) -> String {
        id.to_string()
    }

    /// A customer.
    #[crate::resource("shop://customers/{id}")]
    pub(super) fn customer(id: u32) -> String {
        id.to_string()
    }
}

mod resources_after {
    /// All about the shop.
    #[crate::resource("shop://about", mime_type = "text/markdown", needs(roots))]
    pub(super) fn about() -> &'static str {
        ""
    }

    /// An article.
    #[crate::resource("shop://articles/{id}", title = "Article", needs(sampling))]
    pub(super) fn article(id: u32) -> String {
        id.to_string()
    }

    /// When it is open.
    #[crate::resource("shop://hours")]
    pub(super) fn hours() -> &'static str {
        ""
    }
}

#[test]
fn changes_of_resources() {
    use resources_after as after;
    use resources_before as before;
    let server = || Server::new("shop", "1.0.0");
    let contract_of = |server: Server| contract(&server.build().unwrap());
    let before = contract_of(server().resources(resources![
        before::about,
        before::article,
        before::customer
    ]));
    let after =
        contract_of(server().resources(resources![after::about, after::article, after::hours]));
    assert_eq!(changes(&before, &before), []);
    let list: String = changes(&before, &after)
        .iter()
        .map(|change| format!("{change}\n"))
        .collect();
    expect_test::expect![[r#"
        breaking  resource `shop://about`, needs: "roots" is new
        breaking  resource template `shop://articles/{id}`, needs: "sampling" is new
        breaking  resource template `shop://customers/{id}`: it is gone
        additive  resource `shop://about`: `description` was "About the shop.", is "All about the shop."
        additive  resource `shop://about`: `mimeType` is new: "text/markdown"
        additive  resource `shop://hours`: it is new
        additive  resource template `shop://articles/{id}`: `title` is new: "Article"
    "#]]
    .assert_eq(&list);
}
