//! The server: whatever the newest revision lets a server say, it says.

use serde_json::{Value, json};
use trueform::{
    RequiredCapabilities, Service,
    prelude::*,
    schema::{
        Annotations, AudioContent, BlobResourceContents, EmbeddedResource, Icon, ImageContent,
        Implementation, Meta, ResourceLink, Role, TextContent, TextResourceContents,
        ToolAnnotations,
    },
};

use super::{asking, failing, offers};

pub(super) fn icon() -> Icon {
    Icon::new("https://example.com/i.png")
        .with_mime_type("image/png")
        .with_sizes(vec!["48x48".to_owned(), "any".to_owned()])
        .with_theme("dark")
}

pub(super) fn meta() -> Meta {
    [("example.com/key", json!({"any": [1, null]}).into())]
        .into_iter()
        .collect()
}

pub(super) fn annotations() -> Annotations {
    Annotations::new()
        .with_audience(vec![Role::User, Role::Assistant])
        .with_priority(0.5)
        .with_last_modified("2026-01-02T03:04:05Z")
}

/// Every kind of content with everything on it.
pub(super) fn content() -> Vec<ContentBlock> {
    let text = TextContent::new("text");
    let image = ImageContent::new("iVBORw==", "image/png");
    let audio = AudioContent::new("UklGRg==", "audio/wav");
    let link = ResourceLink::new("notes", "file:///notes.txt")
        .with_title("Notes")
        .with_description("What was noted.")
        .with_icons(vec![icon()])
        .with_mime_type("text/plain")
        .with_size(7);
    let inner = TextResourceContents::new("inner", "file:///inner.txt").with_meta(meta());
    let blob = BlobResourceContents::new("aGk=", "file:///blob").with_mime_type("x/y");
    vec![
        text.with_annotations(annotations())
            .with_meta(meta())
            .into(),
        image
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        audio
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        link.with_annotations(annotations())
            .with_meta(meta())
            .into(),
        EmbeddedResource::new(inner)
            .with_annotations(annotations())
            .with_meta(meta())
            .into(),
        EmbeddedResource::new(blob).into(),
    ]
}

/// Who either side is.
pub(super) fn implementation() -> Implementation {
    Implementation::new("newest", "1.0.0")
        .with_title("Newest")
        .with_description("Uses what there is.")
        .with_website_url("https://example.com")
        .with_icons(vec![icon()])
}

/// A tool with all that a tool may have, and this schema of its result.
fn dressed(name: &str, output: Value, result: Value) -> DynamicTool {
    let input = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {"any": true, "none": false, "some": {"type": ["string", "null"]}, "own": {"$ref": "#/$defs/Own"}},
        "patternProperties": {"^x-": true},
        "$defs": {"Own": {"properties": {"any": true}}},
    });
    DynamicTool::new(name, input)
        .title("Dressed")
        .description("Has everything that a tool may have.")
        .icons([icon()])
        .annotations(
            ToolAnnotations::new()
                .with_title("Hint")
                .with_read_only_hint(true)
                .with_destructive_hint(false)
                .with_idempotent_hint(true)
                .with_open_world_hint(false),
        )
        .meta("example.com/key", json!(1))
        .output_schema(output)
        .handler(move |_, _| {
            let result = result.clone();
            async move { Json(result) }
        })
}

/// Results that are structured, of any kind, and the schemas of their tools.
pub(super) fn structured() -> Vec<(&'static str, Value, Value)> {
    vec![
        (
            "object",
            json!({"type": "object", "properties": {"a": true}}),
            json!({"a": 1}),
        ),
        (
            "array",
            json!({"type": "array", "items": {"$ref": "#/$defs/N"}, "$defs": {"N": {"type": "integer"}}}),
            json!([1, 2]),
        ),
        ("null", json!({"type": "null"}), Value::Null),
        ("string", json!({"type": "string"}), json!("s")),
        ("number", json!({"type": "number"}), json!(1.5)),
        ("boolean", json!({"enum": [true]}), json!(true)),
        (
            "either",
            json!({"anyOf": [{"type": "object"}, {"type": "null"}]}),
            json!({"b": 2}),
        ),
        (
            "tree",
            json!({"type": ["array", "null"], "items": {"$ref": "#"}}),
            json!([[null], null]),
        ),
        (
            "anything",
            json!({"title": "Anything"}),
            json!({"result": {"result": []}}),
        ),
    ]
}

pub(super) fn service() -> Service {
    let plain = || json!({"type": "object"});
    let everything = DynamicTool::new("content", plain()).handler(|_, _| async {
        let mut result = CallToolResult::new(content())
            .with_structured_content(json!([null]))
            .with_is_error(false);
        result.meta = Some(serde_json::from_value(json!({"example.com/key": "v"})).unwrap());
        result
    });
    let fails = DynamicTool::new("fails", plain()).handler(|_, _| async {
        let error =
            ToolError::new("it failed").with_content(AudioContent::new("UklGRg==", "audio/wav"));
        Err::<(), _>(error)
    });
    let tells = DynamicTool::new("tells", plain()).handler(|context, _| async move {
        for step in 1..=3 {
            context.progress(f64::from(step), Some(3.0), Some("on it"));
            context.log(LoggingLevel::Warning, json!({"step": step, "of": [3]}));
            tokio::task::yield_now().await;
        }
        "told"
    });
    let needy = DynamicTool::new("needy", plain())
        .needs(RequiredCapabilities::SAMPLING)
        .handler(|_, _| async { "served" });
    let mut server = Server::new("newest", "1.0.0")
        .title("Newest")
        .description("Uses what there is.")
        .icons([icon()])
        .website_url("https://example.com")
        .instructions("Use it.")
        .page_size(5)
        .tools(everything)
        .tools(fails)
        .tools(tells)
        .tools(needy)
        .tools(asking::tools())
        .tools(failing::tools());
    for (name, output, result) in structured() {
        server = server.tools(dressed(name, output, result));
    }
    offers::added(server).build().unwrap()
}
