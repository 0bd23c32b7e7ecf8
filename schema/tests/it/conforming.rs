//! Conform and rewrites: what authors can get wrong and decoded values cannot, and what older revisions see instead.

use std::ops::ControlFlow;

use serde_json::{Value, json};
use trueform_schema::conform::{Bounded, Path, Rule, Walk};
use trueform_schema::rewrite::error_code;
use trueform_schema::{
    Annotations, At, AudioContent, CallToolOutcome, CallToolResult, Conform, ContentBlock,
    CreateMessageRequestParams, CreateTaskResult, ElicitRequestParams, ElicitRequestedSchema,
    EmptyResult, GetPromptResult, Icon, InputRequiredResult, Json, JsonKind, JsonObject,
    ListToolsResult, PromptMessage, ResourceLink, Revision, Role, Tool, conform, decode,
    violations,
};

fn of<T: serde::de::DeserializeOwned>(value: &Value) -> T {
    decode::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{error}"))
}

/// Pointers and rules of all violations.
fn found<T: Conform>(value: &T, revision: Revision) -> Vec<(String, &'static str)> {
    let found = violations(value, revision);
    found
        .iter()
        .map(|violation| (violation.pointer().to_owned(), violation.rule().name()))
        .collect()
}

fn at<T: Conform>(value: &T, revision: Revision) -> Value {
    At::new(value, revision).to_json().to_value()
}

#[test]
fn what_json_cannot_carry() {
    for priority in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let annotations = Annotations::new().with_priority(priority);
        let violations = violations(&annotations, Revision::LATEST);
        assert_eq!(violations[0].rule(), &Rule::Finite);
        assert_eq!(violations[0].found(), Some((JsonKind::Number, 0)));
    }
    let mut result = CallToolResult::new(vec![]);
    result.extras_mut().insert("content", Json::null());
    result.extras_mut().insert("example.com/fine", Json::null());
    for revision in Revision::ALL {
        assert_eq!(
            found(&result, revision),
            [("/content".to_owned(), "shadows")]
        );
    }
}

#[test]
fn what_no_revision_has() {
    let block: ContentBlock = of(&json!({"type": "hologram", "data": "secret"}));
    let result = CallToolResult::new(vec![block]);
    let violation = conform(&result, Revision::LATEST).unwrap_err();
    assert_eq!(
        (violation.pointer(), violation.rule()),
        ("/content/0", &Rule::Unknown)
    );
    assert_eq!(violation.since(), None);
    let text = violation.to_string();
    assert!(
        text.contains("/content/0") && text.contains("2026-07-28") && !text.contains("secret"),
        "{text}"
    );

    let message = PromptMessage::new(
        trueform_schema::TextContent::new(""),
        Role::Other("system".into()),
    );
    assert_eq!(
        found(&message, Revision::V2024_11_05),
        [("/role".to_owned(), "unknown")]
    );
}

#[test]
fn pointers_are_escaped_and_reach_inside() {
    let mut tools = vec![Tool::new(JsonObject::empty(), "fine")];
    tools[0].input_schema = JsonObject::from_value(
        &json!({"type": "object", "properties": {"a/b~c": true, "d": false}}),
    )
    .unwrap();
    let list = ListToolsResult::new(tools);
    let wanted = [
        "/tools/0/inputSchema/properties/a~1b~0c",
        "/tools/0/inputSchema/properties/d",
    ];
    let wanted: Vec<_> = wanted
        .iter()
        .map(|pointer| ((*pointer).to_owned(), "type"))
        .collect();
    assert_eq!(found(&list, Revision::V2025_11_25), wanted);
    assert_eq!(found(&list, Revision::V2026_07_28), []);
    let violation = conform(&list, Revision::V2024_11_05).unwrap_err();
    assert_eq!(violation.since(), Some(Revision::V2026_07_28));
    assert_eq!(violation.found(), Some((JsonKind::Bool, 4)));
    assert_eq!(
        violation.under("/result").pointer(),
        "/result/tools/0/inputSchema/properties/a~1b~0c"
    );
}

#[test]
fn types_a_revision_does_not_have() {
    let task: CreateTaskResult = of(&json!({"task": {
        "taskId": "t", "status": "working", "createdAt": "", "lastUpdatedAt": "", "ttl": null,
    }}));
    let outcome = CallToolOutcome::from(task);
    let only = Revision::V2025_11_25;
    for revision in Revision::ALL {
        assert_eq!(
            conform(&outcome, revision).is_ok(),
            revision == only,
            "{revision}"
        );
    }
    let violation = conform(&outcome, Revision::V2025_06_18).unwrap_err();
    assert_eq!(
        (violation.rule(), violation.since()),
        (&Rule::Unavailable, Some(only))
    );
    let asking = CallToolOutcome::from(InputRequiredResult::new());
    assert!(conform(&asking, Revision::V2026_07_28).is_ok());
    assert_eq!(found(&asking, only), [(String::new(), "unavailable")]);
    assert!(
        Revision::ALL
            .iter()
            .all(|revision| conform(&EmptyResult::new(), *revision).is_ok())
    );
}

#[test]
fn sinks_take_all_or_stop() {
    let icons: Vec<Icon> = (0..300).map(|_| Icon::new("no address")).collect();
    let tool = Tool::new(
        JsonObject::from_value(&json!({"type": "object"})).unwrap(),
        "t",
    )
    .with_icons(icons);
    assert_eq!(violations(&tool, Revision::LATEST).len(), Bounded::MOST);
    let mut count = 0;
    let mut third = |_| {
        count += 1;
        if count == 3 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let checked: &dyn Conform = &tool;
    assert!(
        checked
            .conform(&mut Walk::new(Revision::LATEST, &mut third), &Path::ROOT)
            .is_break()
    );
    assert_eq!(count, 3);
    // Icons are not written there at all.
    assert!(At::new(&tool, Revision::V2025_06_18).conform().is_ok());
}

// K-5, TRAP-11
#[test]
fn content_of_later_revisions() {
    let audio = AudioContent::new("UklGRg==", "audio/wav");
    let link = ResourceLink::new("notes", "file:///notes.txt").with_title("My notes");
    let messages = vec![
        PromptMessage::new(audio, Role::User),
        PromptMessage::new(link, Role::User),
    ];
    let prompt = GetPromptResult::new(messages);
    let kinds = |revision| {
        assert_eq!(found(&prompt, revision), []);
        let value = at(&prompt, revision);
        [0, 1].map(|i| {
            value["messages"][i]["content"]["type"]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        })
    };
    assert_eq!(kinds(Revision::V2024_11_05), ["resource", "text"]);
    assert_eq!(kinds(Revision::V2025_03_26), ["audio", "text"]);
    assert_eq!(kinds(Revision::V2025_06_18), ["audio", "resource_link"]);
    let oldest = at(&prompt, Revision::V2024_11_05);
    assert_eq!(
        oldest["messages"][0]["content"]["resource"]["blob"],
        "UklGRg=="
    );
    assert_eq!(
        oldest["messages"][1]["content"]["text"],
        "My notes: file:///notes.txt"
    );
}

// Q-9, TRAP-11
#[test]
fn sampling_content_stands_alone_until_it_may_be_listed() {
    let params = |content: Value| -> CreateMessageRequestParams {
        of(&json!({"maxTokens": 1, "messages": [{"role": "user", "content": content}]}))
    };
    let text = json!({"type": "text", "text": "hi"});
    let one = params(json!([text]));
    for revision in [
        Revision::V2024_11_05,
        Revision::V2025_03_26,
        Revision::V2025_06_18,
    ] {
        assert_eq!(found(&one, revision), []);
        assert_eq!(at(&one, revision)["messages"][0]["content"], text);
        for several in [json!([]), json!([text, text])] {
            let violation = conform(&params(several), revision).unwrap_err();
            assert_eq!(violation.pointer(), "/messages/0/content");
            assert_eq!(violation.since(), Some(Revision::V2025_11_25));
        }
    }
    assert_eq!(
        at(&one, Revision::V2025_11_25)["messages"][0]["content"],
        json!([text])
    );
}

//
#[test]
fn forms_for_those_who_had_them_first() {
    let schema: ElicitRequestedSchema = of(&json!({"type": "object", "properties": {
        "size": {
            "type": "string", "title": "Size", "default": "s",
            "oneOf": [{"const": "s", "title": "Small"}, {"const": "l", "title": "Large"}],
        },
        "name": {"type": "string", "default": "me"},
        "news": {"type": "boolean", "default": true},
    }}));
    let form =
        ElicitRequestParams::from(trueform_schema::ElicitRequestFormParams::new("?", schema));
    assert_eq!(found(&form, Revision::V2025_06_18), []);
    assert_eq!(
        at(&form, Revision::V2025_06_18),
        json!({"message": "?", "requestedSchema": {"type": "object", "properties": {
            "size": {"type": "string", "title": "Size", "enum": ["s", "l"], "enumNames": ["Small", "Large"]},
            "name": {"type": "string"},
            "news": {"type": "boolean", "default": true},
        }}})
    );
    assert_eq!(at(&form, Revision::V2025_11_25)["mode"], "form");

    let many: ElicitRequestedSchema = of(&json!({"type": "object", "properties": {
        "sizes": {"type": "array", "items": {"type": "string", "enum": ["s"]}},
    }}));
    let form = ElicitRequestParams::from(trueform_schema::ElicitRequestFormParams::new("?", many));
    assert_eq!(
        found(&form, Revision::V2025_06_18),
        [(
            "/requestedSchema/properties/sizes".to_owned(),
            "unavailable"
        )]
    );
    let page: ElicitRequestParams = of(
        &json!({"mode": "url", "message": "?", "url": "https://example.com", "elicitationId": "1"}),
    );
    assert_eq!(
        found(&page, Revision::V2025_06_18),
        [(String::new(), "unavailable")]
    );
    assert_eq!(found(&page, Revision::V2025_11_25), []);
}

//
#[test]
fn error_codes() {
    for (code, legacy, modern) in [
        (-32002, -32002, -32602),
        (-32042, -32042, -32603),
        (-32602, -32602, -32602),
        (7, 7, 7),
    ] {
        assert_eq!(error_code(code, Revision::V2025_11_25), legacy);
        assert_eq!(error_code(code, Revision::V2026_07_28), modern);
    }
}
