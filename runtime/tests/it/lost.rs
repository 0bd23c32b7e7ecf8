//! What older revisions lose of results is told in the log: by the rules of the table, once each, and without values.

use serde_json::json;
use trueform::{
    client::ClientOptions,
    prelude::*,
    projection,
    prompt::user,
    schema::{
        Annotations, AudioContent, BlobResourceContents, EmbeddedResource, Icon, ImageContent,
        Implementation, Json as RawJson, Meta, PromptMessage, ResourceContents, ResourceLink,
        ResultMetaObject, TextContent, TextResourceContents, methods::CreateMessage,
        projection::Becomes,
    },
    schemars::JsonSchema,
};

use crate::{logged::assert_logged, support::log};

/// Returns everything that not all revisions have.
#[tool]
fn dressed() -> CallToolResult {
    let meta = || [("example.com/key", RawJson::from(json!("hunter2")))];
    let annotations = || Annotations::new().with_last_modified("2025-01-12T15:00:58Z");
    let text = TextContent::new("hunter2").with_meta(Meta::from_iter(meta()));
    let image = ImageContent::new("aGk=", "image/png").with_meta(Meta::from_iter(meta()));
    let audio = AudioContent::new("aGk=", "audio/wav").with_meta(Meta::from_iter(meta()));
    let link = ResourceLink::new("hunter2", "file:///hunter2")
        .with_icons([Icon::new("https://example.com/i.png")]);
    let notes = TextResourceContents::new("hunter2", "file:///hunter2");
    let notes = EmbeddedResource::new(notes.with_meta(Meta::from_iter(meta())));
    let bytes = BlobResourceContents::new("aGk=", "file:///hunter2");
    let bytes = EmbeddedResource::new(bytes.with_meta(Meta::from_iter(meta())));
    let blocks: [ContentBlock; 6] = [
        text.with_annotations(annotations()).into(),
        image.into(),
        audio.into(),
        link.with_annotations(annotations()).into(),
        notes.with_meta(Meta::from_iter(meta())).into(),
        bytes.into(),
    ];
    CallToolResult::new(blocks)
        .with_structured_content(RawJson::from(json!(["hunter2"])))
        .with_meta(ResultMetaObject::new().with_server_info(Implementation::new("me", "1")))
}

/// Asks with what not all revisions have.
#[prompt]
fn dressed_prompt() -> Vec<PromptMessage> {
    let blocks = dressed().content;
    blocks.into_iter().map(user).collect()
}

/// Holds what not all revisions have.
#[resource("dressed:one", ttl = "60s")]
fn dressed_resource() -> Vec<ResourceContents> {
    let meta = || Meta::from_iter([("example.com/key", RawJson::from(json!("hunter2")))]);
    let text = TextResourceContents::new("hunter2", "").with_meta(meta());
    let blob = BlobResourceContents::new("aGk=", "").with_meta(meta());
    vec![text.into(), blob.into()]
}

/// Returns a picture with malformed data, and members that not all revisions have.
#[tool]
fn broken_and_dressed() -> ContentBlock {
    let annotations = Annotations::new().with_last_modified("2025-01-12T15:00:58Z");
    let image = ImageContent::new("no base64!", "image/png");
    image.with_annotations(annotations).into()
}

/// The lines that say what an older revision loses of a result.
fn losses(told: &[String]) -> Vec<&String> {
    let is_loss = |line: &&String| line.contains("sees less of a result");
    told.iter().filter(is_loss).collect()
}

#[tokio::test]
async fn what_older_revisions_lose_of_results() {
    /// The rules for what `dressed` returns; what is always written is not the author's.
    const OF: [&str; 11] = [
        "Annotations",
        "AudioContent",
        "BlobResourceContents",
        "CallToolResult",
        "ContentBlock",
        "EmbeddedResource",
        "ImageContent",
        "ResourceLink",
        "ResultMetaObject",
        "TextContent",
        "TextResourceContents",
    ];
    let service = Server::new("t", "1")
        .tools(tools![dressed])
        .build()
        .unwrap();
    for revision in Revision::ALL {
        let rules: Vec<_> = projection::rules()
            .filter(|rule| OF.contains(&rule.of) && rule.item != "resultType")
            .filter(|rule| rule.at.contains(revision))
            .filter(|rule| matches!(rule.becomes, Becomes::LeftOut | Becomes::Rewritten(_)))
            .collect();
        assert_eq!(rules.is_empty(), revision == Revision::LATEST);
        let options = || ClientOptions::at(revision);
        let told = log();
        let client = service.connect_as(options()).await.unwrap();
        client.call_tool("dressed", json!({})).await.unwrap();
        let told_once = told.take();
        for rule in &rules {
            let parts = [
                "an older revision sees less of a result",
                r#"kind="tool""#,
                r#"name="dressed""#,
                &format!("revision={revision}"),
                &format!("rule={}: {}", rule.of, rule.item),
                &format!("becomes={}", rule.becomes),
            ];
            assert_logged(&told_once, "DEBUG", &parts);
        }
        assert_eq!(losses(&told_once).len(), rules.len(), "{told_once:#?}");
        assert!(!told_once.iter().any(|line| line.contains("hunter2")));

        // Once is enough, whoever calls.
        client.call_tool("dressed", json!({})).await.unwrap();
        let another = service.connect_as(options()).await.unwrap();
        another.call_tool("dressed", json!({})).await.unwrap();
        let told = told.take();
        assert!(losses(&told).is_empty(), "{told:#?}");
    }
}

#[tokio::test]
async fn what_older_revisions_lose_of_prompts_and_resources() {
    const OF_PROMPT: [(&str, &str); 10] = [
        ("Annotations", "lastModified"),
        ("AudioContent", "_meta"),
        ("BlobResourceContents", "_meta"),
        ("ContentBlock", "Audio"),
        ("ContentBlock", "ResourceLink"),
        ("EmbeddedResource", "_meta"),
        ("ImageContent", "_meta"),
        ("ResourceLink", "icons"),
        ("TextContent", "_meta"),
        ("TextResourceContents", "_meta"),
    ];
    const OF_RESOURCE: [(&str, &str); 4] = [
        ("BlobResourceContents", "_meta"),
        ("ReadResourceResult", "cacheScope"),
        ("ReadResourceResult", "ttlMs"),
        ("TextResourceContents", "_meta"),
    ];
    let lost = |of: &'static [(&str, &str)], revision| {
        let rules = projection::rules().filter(move |rule| {
            of.contains(&(rule.of, rule.item))
                && rule.at.contains(revision)
                && matches!(rule.becomes, Becomes::LeftOut | Becomes::Rewritten(_))
        });
        rules.collect::<Vec<_>>()
    };
    let service = Server::new("t", "1")
        .prompts(prompts![dressed_prompt])
        .resources(resources![dressed_resource])
        .build()
        .unwrap();
    for revision in Revision::ALL {
        let of_prompt = lost(&OF_PROMPT, revision);
        let of_resource = lost(&OF_RESOURCE, revision);
        assert_eq!(of_prompt.is_empty(), revision >= Revision::V2025_11_25);
        assert_eq!(of_resource.is_empty(), revision == Revision::LATEST);
        let told = log();
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        client.get_prompt("dressed_prompt", ()).await.unwrap();
        client.read_resource("dressed:one").await.unwrap();
        let lines = told.take();
        for (kind, name, rules) in [
            ("prompt", "dressed_prompt", &of_prompt),
            ("resource", "dressed:one", &of_resource),
        ] {
            for rule in rules {
                let parts = [
                    "an older revision sees less of a result",
                    &format!("kind={kind:?}"),
                    &format!("name={name:?}"),
                    &format!("revision={revision}"),
                    &format!("rule={}: {}", rule.of, rule.item),
                    &format!("becomes={}", rule.becomes),
                ];
                assert_logged(&lines, "DEBUG", &parts);
            }
        }
        let expected = of_prompt.len() + of_resource.len();
        assert_eq!(losses(&lines).len(), expected, "{revision}: {lines:#?}");
        assert!(!lines.iter().any(|line| line.contains("hunter2")));

        // Once is enough, whoever asks.
        let another = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        another.get_prompt("dressed_prompt", ()).await.unwrap();
        another.read_resource("dressed:one").await.unwrap();
        let lines = told.take();
        assert!(losses(&lines).is_empty(), "{lines:#?}");
    }
}

#[tokio::test]
async fn what_older_revisions_lose_of_definitions() {
    let told = log();
    let tool = DynamicTool::new("dressed", json!({ "type": "object" }))
        .title("Dressed")
        .output_schema(json!({ "type": "array" }))
        .handler(|_, _| async { Json(["hunter2"]) });
    let service = Server::new("t", "1").tools(tool).build().unwrap();
    let lines = told.take();
    for (rule, members) in [
        ("unknown", "/title (until 2025-03-26)"),
        ("wrapped", "/outputSchema (until 2025-11-25)"),
    ] {
        let parts = [
            "older revisions see less",
            r#"tool="dressed""#,
            rule,
            members,
        ];
        assert_logged(&lines, "DEBUG", &parts);
    }
    // Of what is added later too, and only of that.
    let prompt = |name: &str| {
        DynamicPrompt::new(name)
            .title("Dressed")
            .handler(|_, _| async { "" })
    };
    let resource = |uri: &str| {
        DynamicResource::new(uri, "dressed")
            .title("Dressed")
            .handler(|_| async { "" })
    };
    let template = DynamicTemplate::new("dressed:{name}", "dressed")
        .title("Dressed")
        .handler(|_, _| async { "" });
    let others = Server::new("t", "1")
        .prompts(prompt("first"))
        .resources(resource("first:one"))
        .build()
        .unwrap();
    let first = told.take();
    others.handle().add_prompts(prompt("dressed")).unwrap();
    others
        .handle()
        .add_resources(resource("dressed:one"))
        .unwrap();
    others.handle().add_resources(template).unwrap();
    let later = told.take();
    for (lines, fields) in [
        (
            &first,
            &[r#"prompt="first""#, r#"resource="first:one""#][..],
        ),
        (
            &later,
            &[
                r#"prompt="dressed""#,
                r#"resource="dressed:one""#,
                r#"resource="dressed:{name}""#,
            ],
        ),
    ] {
        for field in fields {
            let parts = [
                "older revisions see less",
                field,
                "unknown",
                "/title (until 2025-03-26)",
            ];
            assert_logged(lines, "DEBUG", &parts);
        }
        let count = lines.iter().filter(|line| line.contains("see less"));
        assert_eq!(count.count(), fields.len(), "{lines:#?}");
    }

    // Once each, whoever connects.
    service
        .connect_as(ClientOptions::at(Revision::V2024_11_05))
        .await
        .unwrap();
    assert!(!told.take().iter().any(|line| line.contains("see less")));
}

#[derive(serde::Serialize, JsonSchema)]
struct Reading {
    level: i64,
}

/// Returns a list, which its schema says.
#[tool]
fn listed() -> Json<Vec<i64>> {
    Json(vec![1])
}

/// Returns an object, which its schema says.
#[tool]
fn object() -> Json<Reading> {
    Json(Reading { level: 1 })
}

#[tokio::test]
async fn what_loses_nothing_is_not_told() {
    for revision in Revision::ALL {
        for (tool, loses) in [
            ("listed", revision < Revision::LATEST),
            // Before that there was no structured content at all.
            ("object", revision < Revision::V2025_06_18),
            ("broken_and_dressed", false),
        ] {
            let told = log();
            let server = Server::new("t", "1").tools(tools![listed, object, broken_and_dressed]);
            let client = server
                .connect_as(ClientOptions::at(revision))
                .await
                .unwrap();
            // What does not leave loses nothing.
            let _ = client.call_tool(tool, json!({})).await;
            let told = told.take();
            assert_eq!(losses(&told).len(), usize::from(loses), "{tool}: {told:#?}");
        }
    }
}

/// Asks for what not all revisions can ask, and reports in words.
#[tool]
async fn asks(context: Context) -> String {
    context.progress(1.0, None, Some("hunter2"));
    context.progress(2.0, None, Some("hunter2"));
    let params = json!({
        "maxTokens": 1,
        "messages": [{
            "role": "user",
            "content": [{ "type": "text", "text": "hunter2", "_meta": { "example.com/key": "hunter2" } }],
            "_meta": {},
        }],
    });
    let params = serde_json::from_value(params).expect("params of the method");
    match context.request::<CreateMessage>(params).await {
        Ok(_) => "answered".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn what_older_revisions_lose_of_messages() {
    for (revision, progress, question) in [
        (
            Revision::V2024_11_05,
            Some("/message"),
            Some("/messages/0/_meta, /messages/0/content"),
        ),
        (
            Revision::V2025_03_26,
            None,
            Some("/messages/0/_meta, /messages/0/content"),
        ),
        (
            Revision::V2025_06_18,
            None,
            Some("/messages/0/_meta, /messages/0/content"),
        ),
        (Revision::V2025_11_25, None, None),
    ] {
        let told = log();
        let capabilities = serde_json::from_value(json!({ "sampling": {} })).unwrap();
        let options = ClientOptions::at(revision).capabilities(capabilities);
        let client = Server::new("t", "1")
            .tools(tools![asks])
            .connect_as(options)
            .await
            .unwrap();
        client
            .call_tool("asks", ())
            .on_progress(|_| {})
            .await
            .unwrap();
        let told = told.take();
        let lost: Vec<_> = told
            .iter()
            .filter(|line| line.contains("sees less of a message"))
            .collect();
        let expected = [
            ("notifications/progress", progress),
            ("sampling/createMessage", question),
        ];
        let expected = expected
            .iter()
            .filter_map(|(what, lost)| Some((what, (*lost)?)));
        assert_eq!(
            lost.len(),
            expected.clone().count(),
            "{revision}: {lost:#?}"
        );
        for (line, (what, places)) in lost.iter().zip(expected) {
            assert!(line.starts_with("DEBUG") && line.contains(what), "{line}");
            assert!(
                line.contains(&format!("lost={places:?}")),
                "{revision}: {line}"
            );
            assert!(!line.contains("hunter2"), "{line}");
        }
    }
}
