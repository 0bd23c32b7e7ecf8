//! How tools are advertised: profiles, what the lint says of them, what older revisions lose (design §3.4, issue of schemas).

use serde_json::{Value, json};
use trueform::{
    Loss, LossRule, Profile,
    client::ClientOptions,
    prelude::*,
    schema::{Icon, ToolAnnotations},
};

use crate::{logged::assert_logged, support::log};

/// A node of a tree.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
#[schemars(crate = "trueform::schemars")]
struct Leaf {
    /// Its size.
    size: u32,
    color: Option<Color>,
}

/// A color.
#[derive(Deserialize, Serialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
#[schemars(crate = "trueform::schemars")]
enum Color {
    Red,
    Green,
}

/// Grows a leaf.
#[tool]
fn grow(leaf: Leaf, deep: Option<Leaf>) -> Json<Leaf> {
    let _ = deep;
    Json(leaf)
}

fn dynamic() -> DynamicTool {
    let schema = json!({
        "type": "object",
        "properties": {"size": {"$ref": "#/$defs/Size"}, "any": true},
        "required": ["size"],
        "$defs": {"Size": {"type": "integer", "format": "uint8", "minimum": 0, "maximum": 255}},
    });
    DynamicTool::new("dynamic", schema)
        .description("Takes a size.")
        .handler(|_, arguments| async move { arguments.to_string() })
}

async fn listed(service: &trueform::Service, name: &str) -> Value {
    let client = service.connect().await.unwrap();
    let tool = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .find(|tool| tool.name == name)
        .unwrap();
    serde_json::to_value(&tool).unwrap()
}

/// Nothing.
#[derive(Deserialize, JsonSchema)]
#[serde(crate = "trueform::serde")]
#[schemars(crate = "trueform::schemars")]
struct Nothing {}

/// Takes nothing.
#[tool]
fn without_parameters() {}

/// Takes a context.
#[tool]
fn injected_only(_context: Context) {}

/// Takes an empty struct.
#[tool]
fn empty_struct(Args(Nothing {}): Args<Nothing>) {}

// Z-5: some clients refuse a tool whose input schema has no `properties`. At every revision, in both profiles.
#[tokio::test]
async fn every_input_schema_has_properties() {
    let dynamic = |name: &str, schema: Value| {
        DynamicTool::new(name, schema).handler(|_, arguments| async move { arguments.to_string() })
    };
    let open = json!({"title": "T", "type": "object", "minProperties": 1});
    let last = json!({"additionalProperties": false, "type": "object"});
    for profile in [Profile::AsWritten, Profile::Portable] {
        let service = Server::new("s", "1")
            .tools(tools![without_parameters, injected_only, empty_struct])
            .tools(dynamic("open", open.clone()))
            .tools(dynamic("last", last.clone()))
            .profile(profile)
            .build()
            .unwrap();
        for revision in Revision::ALL {
            let client = service
                .connect_as(ClientOptions::at(revision))
                .await
                .unwrap();
            let tools = client.list_tools().await.unwrap();
            let schemas: Vec<_> = tools
                .iter()
                .map(|tool| format!("{} {}", tool.name, tool.input_schema))
                .collect();
            let closed = r#"{"type":"object","properties":{},"additionalProperties":false}"#;
            assert_eq!(
                schemas,
                [
                    format!("without_parameters {closed}"),
                    format!("injected_only {closed}"),
                    format!("empty_struct {closed}"),
                    r#"open {"title":"T","type":"object","properties":{},"minProperties":1}"#
                        .to_owned(),
                    r#"last {"additionalProperties":false,"type":"object","properties":{}}"#
                        .to_owned(),
                ],
                "{profile:?} {revision}"
            );
            for (name, arguments, accepted) in [
                ("empty_struct", json!({}), true),
                ("empty_struct", json!({"a": 1}), false),
                ("open", json!({"a": 1}), true),
                ("open", json!({}), false),
                ("last", json!({}), true),
                ("last", json!({"a": 1}), false),
            ] {
                let result = client.call_tool(name, arguments.clone()).await.unwrap();
                assert_eq!(
                    result.is_error != Some(true),
                    accepted,
                    "{name} {arguments}"
                );
            }
        }
    }
}

/// The input schema that is advertised is the one that is enforced.
#[tokio::test]
async fn what_is_advertised_is_enforced() {
    let calls = [
        ("grow", json!({"leaf": {"size": 1, "color": "Red"}}), true),
        (
            "grow",
            json!({"leaf": {"size": 1, "color": null}, "deep": {"size": 2}}),
            true,
        ),
        ("grow", json!({"leaf": {"size": -1}}), false),
        ("grow", json!({"leaf": {"size": 1, "color": "Blue"}}), false),
        ("dynamic", json!({"size": 255, "any": [1]}), true),
        ("dynamic", json!({"size": 256}), false),
        ("dynamic", json!({}), false),
    ];
    for profile in [Profile::AsWritten, Profile::Portable] {
        let service = Server::new("s", "1")
            .tools(tools![grow])
            .tools(dynamic())
            .profile(profile)
            .build()
            .unwrap();
        let client = service.connect().await.unwrap();
        for (name, arguments, is_right) in &calls {
            let input = listed(&service, name).await["inputSchema"].clone();
            let is_plain =
                !input.to_string().contains("$ref") && !input.to_string().contains("uint");
            assert!(is_plain || profile == Profile::AsWritten, "{input}");
            // Null in place of an optional argument is accepted, and not advertised.
            let is_advertised =
                profile == Profile::AsWritten || !arguments.to_string().contains("null");
            assert_eq!(
                jsonschema::is_valid(&input, arguments),
                *is_right && is_advertised,
                "{profile:?} {name} {arguments}: {input}"
            );
            let result = client.call_tool(*name, arguments.clone()).await.unwrap();
            assert_eq!(
                result.is_error.is_none(),
                *is_right,
                "{profile:?} {name} {arguments}: {result:?}"
            );
        }
    }
}

/// Grows a leaf, for clients that read little.
#[tool(profile = portable)]
fn grow_plainly(leaf: Leaf, deep: Option<Leaf>) -> Json<Leaf> {
    let _ = deep;
    Json(leaf)
}

struct Garden;

#[server]
impl Garden {
    /// Grows a leaf, for clients that read all of the specification.
    #[tool(profile = as_written)]
    fn grow_fully(&self, leaf: Leaf, deep: Option<Leaf>) -> Json<Leaf> {
        let _ = deep;
        Json(leaf)
    }

    /// Grows a leaf as the server says.
    #[tool]
    fn grow_usually(&self, leaf: Leaf, deep: Option<Leaf>) -> Json<Leaf> {
        let _ = deep;
        Json(leaf)
    }
}

/// The profile in the attribute wins, and what it advertises is what is enforced.
#[tokio::test]
async fn a_function_has_its_own_profile() {
    for (profile, with_references) in [
        (
            Profile::AsWritten,
            ["grow_fully", "grow_usually"].as_slice(),
        ),
        (Profile::Portable, ["grow_fully"].as_slice()),
    ] {
        let service = Server::new("s", "1")
            .tools(tools![grow_plainly])
            .tools(Garden)
            .profile(profile)
            .build()
            .unwrap();
        let client = service.connect().await.unwrap();
        for name in ["grow_plainly", "grow_fully", "grow_usually"] {
            let tool = listed(&service, name).await;
            assert_eq!(
                tool.to_string().contains("$ref"),
                with_references.contains(&name),
                "{profile:?} {name}: {tool}"
            );
            for (arguments, is_right) in [
                (json!({"leaf": {"size": 1, "color": "Red"}}), true),
                (json!({"leaf": {"size": 1, "color": "Blue"}}), false),
                (json!({"leaf": {"size": 1}, "deep": {}}), false),
            ] {
                assert_eq!(
                    jsonschema::is_valid(&tool["inputSchema"], &arguments),
                    is_right
                );
                let result = client.call_tool(name, arguments).await.unwrap();
                assert_eq!(
                    result.is_error.is_none(),
                    is_right,
                    "{profile:?} {name}: {result:?}"
                );
            }
        }
    }
}

#[tokio::test]
async fn a_tool_has_its_own_profile() {
    let has_reference = async |service: &trueform::Service| {
        listed(service, "dynamic")
            .await
            .to_string()
            .contains("$ref")
    };
    let server = || Server::new("s", "1");
    assert!(has_reference(&server().tools(dynamic()).build().unwrap()).await);
    assert!(
        !has_reference(
            &server()
                .tools(dynamic().profile(Profile::Portable))
                .build()
                .unwrap()
        )
        .await
    );
    let portable = server().profile(Profile::Portable);
    assert!(
        has_reference(
            &portable
                .tools(dynamic().profile(Profile::AsWritten))
                .build()
                .unwrap()
        )
        .await
    );
    // Tools that come later are like those from the start.
    let service = server()
        .tools(tools![grow])
        .profile(Profile::Portable)
        .build()
        .unwrap();
    service.handle().add_tools(dynamic()).unwrap();
    assert!(!has_reference(&service).await);
}

#[test]
fn lint_names_tool_schema_and_clients() {
    let service = Server::new("s", "1")
        .tools(tools![grow])
        .tools(dynamic())
        .profile(Profile::AsWritten)
        .build()
        .unwrap();
    let found: Vec<String> = service
        .lint()
        .iter()
        .map(|found| {
            format!(
                "{} {:?} {} {} {}",
                found.subject.name().unwrap(),
                found.position.unwrap(),
                found.revision,
                found.finding.code,
                found.finding.pointer
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            "grow Input 2026-07-28 reference /properties/leaf/$ref",
            "grow Input 2026-07-28 null /properties/deep/anyOf",
            "grow Input 2026-07-28 reference /properties/deep/anyOf/0/$ref",
            "grow Input 2026-07-28 null /$defs/Leaf/properties/color/anyOf",
            "grow Input 2026-07-28 reference /$defs/Leaf/properties/color/anyOf/0/$ref",
            "grow Output 2026-07-28 reference /properties/color/anyOf/0/$ref",
            "dynamic Input 2026-07-28 reference /properties/size/$ref",
            "dynamic Input 2026-07-28 boolean-subschema /properties/any",
            "dynamic Input 2026-07-28 unknown-format /$defs/Size/format",
        ],
        "{found:#?}"
    );
    let line = service.lint()[6].to_string();
    assert!(
        line.starts_with("tool `dynamic` (the dynamic tool at "),
        "{line}"
    );
    assert!(
        line.contains("input schema at 2026-07-28: /properties/size/$ref: ")
            && line.contains("Claude Code"),
        "{line}"
    );
    let portable = Server::new("s", "1")
        .tools(tools![grow])
        .tools(dynamic())
        .profile(Profile::Portable);
    assert_eq!(portable.build().unwrap().lint(), []);
    // A list as result is legal at the newest revision and wrapped for others.
    let lists = dynamic()
        .profile(Profile::Portable)
        .output_schema(json!({"type": "array"}));
    assert_eq!(
        Server::new("s", "1").tools(lists).build().unwrap().lint(),
        []
    );
}

// J-10
#[test]
fn lint_names_prompts_resources_and_templates() {
    let told = log();
    let prompt = |name: &str| {
        DynamicPrompt::new(name)
            .argument("level", "How strict.", false)
            .argument("code", "The code.", true)
            .handler(|_, _| async { "" })
    };
    let fetched = DynamicResource::new("https://example.com/a", "a")
        .size(2_000_000)
        .handler(|_| async { "" });
    let template = |uri: &str| DynamicTemplate::new(uri, "b").handler(|_, _| async { "" });
    let service = Server::new("s", "1")
        .prompts(prompt("Review it").description("Reviews."))
        .resources(fetched)
        .resources(template("Notes:{a}"))
        .build()
        .unwrap();
    let found = || {
        let found = service.lint();
        let shown = found.iter().map(|found| {
            assert_eq!(found.position, None);
            let (subject, finding) = (&found.subject, &found.finding);
            format!("{subject}: {} {}", finding.code, finding.pointer)
        });
        shown.collect::<Vec<String>>()
    };
    let at_first = [
        "prompt `Review it`: prompt-name /name",
        "prompt `Review it`: argument-order /arguments/1",
        "resource `https://example.com/a`: web-uri /uri",
        "resource `https://example.com/a`: large-content /size",
        "resource template `Notes:{a}`: uri-case /uriTemplate",
        "resource template `Notes:{a}`: no-description /description",
    ];
    assert_eq!(found(), at_first);
    let line = service.lint()[0].to_string();
    assert!(
        line.starts_with("prompt `Review it` (the dynamic prompt at ")
            && line.contains(" at 2026-07-28: /name: ")
            && line.contains("Claude Code"),
        "{line}"
    );
    let parts = [
        "some clients have 6 problems with 3 prompts and resources",
        "may fail to use them",
    ];
    assert_logged(&told.take(), "WARN", &parts);

    // What comes later is linted too, and the log counts that alone.
    service.handle().add_prompts(prompt("later")).unwrap();
    assert!(found().contains(&"prompt `later`: no-description /description".to_owned()));
    let parts = ["some clients have 2 problems with 1 prompt or resource"];
    assert_logged(&told.take(), "WARN", &parts);
    // What is not listed is not linted.
    service.handle().enable_prompt("Review it", false);
    assert!(!found().iter().any(|line| line.contains("Review it")));
}

/// Who wrote a schema decides how it is advertised, if neither the tool nor the server says it.
#[tokio::test]
async fn the_usual_profiles() {
    let service = Server::new("s", "1")
        .tools(tools![grow])
        .tools(dynamic())
        .build()
        .unwrap();
    let grow = listed(&service, "grow").await;
    assert!(
        !grow.to_string().contains("$ref") && !grow["inputSchema"].to_string().contains("null"),
        "{grow}"
    );
    // A result says null where it has no color.
    assert!(grow["outputSchema"].to_string().contains("null"), "{grow}");
    let dynamic = listed(&service, "dynamic").await["inputSchema"].clone();
    assert_eq!(dynamic["properties"]["size"]["$ref"], "#/$defs/Size");
    assert_eq!(dynamic["$defs"]["Size"]["format"], "uint8");
}

#[test]
fn the_start_says_in_one_line_that_there_are_problems() {
    let about_lint = |server: Server| {
        let told = crate::support::log();
        server.build().unwrap();
        let mut lines = told.take();
        lines.retain(|line| line.contains("Service::lint"));
        lines
    };
    let lines = about_lint(Server::new("s", "1").tools(dynamic()));
    assert_eq!(lines.len(), 1, "{lines:#?}");
    assert!(
        lines[0].contains(
            "3 problems with the schemas of 1 tool, and may drop all tools of the server"
        ),
        "{lines:#?}"
    );
    let none: [String; 0] = [];
    assert_eq!(about_lint(Server::new("s", "1").tools(tools![grow])), none);
}

#[tokio::test]
async fn the_limit_of_patterns_is_a_setting_of_the_server() {
    let schema = json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^([a-z]{99}){99}$"}}});
    let tool = || DynamicTool::new("large", schema.clone()).handler(|_, _| async {});
    let error = Server::new("s", "1").tools(tool()).build().unwrap_err();
    assert!(
        error.to_string().contains(
            "/properties/a/pattern: the pattern compiles to more than 262144 bytes, the limit that `max_pattern_size` sets"
        ),
        "{error}"
    );
    let server = Server::new("s", "1").max_pattern_size(16 << 20);
    let service = server.tools(tool()).build().unwrap();
    service
        .handle()
        .add_tools(DynamicTool::new("later", schema.clone()).handler(|_, _| async {}))
        .unwrap();
}

#[tokio::test]
async fn losses_are_told_and_true() {
    let icon = || Icon::new("https://example.com/i.png");
    let dressed = dynamic()
        .title("Dressed")
        .icons([icon()])
        .annotations(ToolAnnotations::default().with_read_only_hint(true))
        .meta("example.com/key", json!(1))
        .output_schema(json!({"type": "array"}));
    let service = Server::new("s", "1")
        .title("S")
        .icons([icon()])
        .tools(dressed)
        .build()
        .unwrap();
    let losses = service.projections();
    let told = |revision: Revision, tool: Option<&str>| {
        let of = losses
            .iter()
            .filter(|loss| loss.revision == revision && loss.subject.name() == tool);
        of.map(|loss| format!("{} {}", loss.rule.as_str(), loss.pointer))
            .collect::<Vec<_>>()
    };
    assert!(
        told(Revision::V2026_07_28, None).is_empty()
            && told(Revision::V2026_07_28, Some("dynamic")).is_empty()
    );
    assert!(told(Revision::V2025_11_25, None).is_empty());
    assert_eq!(told(Revision::V2025_06_18, None), ["unknown-member /icons"]);
    let sorted = |revision| {
        let mut told = told(revision, Some("dynamic"));
        told.sort();
        told
    };
    assert_eq!(
        sorted(Revision::V2025_11_25),
        [
            "rewritten-schema /inputSchema",
            "wrapped-result /outputSchema"
        ]
    );
    assert_eq!(
        sorted(Revision::V2024_11_05),
        [
            "no-structured-result /outputSchema",
            "rewritten-schema /inputSchema",
            "unknown-member /_meta",
            "unknown-member /annotations",
            "unknown-member /icons",
            "unknown-member /title",
        ]
    );
    // What is told to be left out is, on the wire.
    for revision in Revision::ALL {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        let tool = serde_json::to_value(&client.list_tools().await.unwrap()[0]).unwrap();
        for member in ["title", "icons", "annotations", "_meta", "outputSchema"] {
            let is_out =
                |loss: &Loss| matches!(loss.rule, LossRule::Unknown | LossRule::NoStructuredResult);
            let mut of = losses.iter().filter(|loss| {
                loss.revision == revision && loss.subject.name().is_some() && is_out(loss)
            });
            assert_eq!(
                of.any(|loss| loss.pointer == format!("/{member}")),
                tool.get(member).is_none(),
                "{revision} {member}: {tool}"
            );
        }
    }
}
