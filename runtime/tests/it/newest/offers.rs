//! Prompts, resources, templates and completion with everything that they may have, and a client that uses all of them.

use serde_json::json;
use trueform::{
    Service,
    client::Client,
    completion::CompletionQuery,
    prelude::*,
    prompt::user,
    schema::{
        AudioContent, BlobResourceContents, ContentBlock, Era, GetPromptResult, PromptMessage,
        PromptReference, ReadResourceResult, ResourceContents, ResourceTemplateReference, Role,
        SubscribeRequestParams, SubscriptionFilter, TextResourceContents, UnsubscribeRequestParams,
        methods::{Subscribe, Unsubscribe},
    },
};

use super::server::{annotations, content, icon, meta};
use crate::support::soon;

/// How many prompts, resources and templates the server has; more than a page holds of none of them.
const EACH: usize = 2;

/// One message of each kind of content, by both roles, with `_meta`.
#[prompt(
    title = "Dressed",
    icons(icon(src = "https://example.com/i.png", mime_type = "image/png", sizes = "48x48 any", theme = "dark")),
    meta("example.com/key" = 1)
)]
fn dressed(
    /// What it is about.
    #[schemars(title = "About")]
    #[arg(complete = ["a", "b"])]
    about: String,
    /// How long it is.
    length: Option<u8>,
) -> GetPromptResult {
    let messages = content().into_iter().enumerate().map(|(at, content)| {
        let role = [Role::User, Role::Assistant][at % 2].clone();
        PromptMessage::new(content, role)
    });
    let mut result = GetPromptResult::new(messages.collect::<Vec<_>>());
    result.description = Some(format!("About {about}, {length:?}."));
    result.meta = Some(serde_json::from_value(json!({"example.com/key": "v"})).unwrap());
    result
}

/// Says little.
#[prompt]
fn plain() -> PromptMessage {
    user(ContentBlock::from(AudioContent::new(
        "UklGRg==",
        "audio/wav",
    )))
}

/// Text and bytes, with `_meta`.
#[resource(
    "file:///all",
    title = "All",
    mime_type = "text/markdown",
    size = 3,
    audience(user, assistant),
    priority = 0.5,
    last_modified = "2026-01-02T03:04:05Z",
    ttl = "60s",
    public,
    icons(icon(src = "https://example.com/i.png", mime_type = "image/png", sizes = "48x48 any", theme = "dark")),
    meta("example.com/key" = 1)
)]
fn all() -> ReadResourceResult {
    let text = TextResourceContents::new("all", "file:///all").with_mime_type("text/markdown");
    let blob = BlobResourceContents::new("aGk=", "file:///all/blob").with_mime_type("x/y");
    let contents = vec![
        ResourceContents::from(text.with_meta(meta())),
        ResourceContents::from(blob.with_meta(meta())),
    ];
    let mut result = ReadResourceResult::new(contents);
    result.meta = Some(serde_json::from_value(json!({"example.com/key": "v"})).unwrap());
    result
}

/// Bytes.
#[resource("file:///bytes")]
fn bytes() -> Vec<u8> {
    vec![0, 255]
}

/// One of many.
#[resource(
    "file:///many/{id}",
    title = "Many",
    mime_type = "application/json",
    audience = user,
    priority = 1,
    last_modified = "2026-01-02",
    icons("https://example.com/i.png"),
    meta("example.com/key" = 1)
)]
fn many(#[arg(complete = ids)] id: u8) -> Option<Json<u8>> {
    (id < 10).then_some(Json(id))
}

fn ids(query: CompletionQuery) -> Vec<String> {
    (0..200)
        .map(|id| format!("{}{id}", query.value()))
        .collect()
}

/// `server` with the prompts and resources.
pub(super) fn added(server: Server) -> Server {
    let by_hand = DynamicTemplate::new("x:{+rest}", "rest")
        .annotations(annotations())
        .icons([icon()])
        .handler(async |_, _| TextResourceContents::new("rest", ""));
    server
        .prompts(prompts![dressed, plain])
        .resources(resources![all, bytes, many])
        .resources(by_hand)
}

/// Uses all of it: lists, calls, completes, is refused, and hears of changes.
pub(super) async fn used(client: &Client, service: &Service) {
    let revision = client.revision();
    assert_eq!(client.list_prompts().await.unwrap().len(), EACH);
    assert_eq!(client.list_resources().await.unwrap().len(), EACH);
    let templates = client.list_resource_templates().await.unwrap();
    assert_eq!(templates.len(), EACH);

    let arguments = json!({"about": "a", "length": 7});
    let got = client.get_prompt("dressed", arguments).await.unwrap();
    assert_eq!(got.messages.len(), content().len(), "{revision}");
    client.get_prompt("plain", ()).await.unwrap();
    assert!(client.get_prompt("dressed", ()).await.is_err());
    assert!(client.get_prompt("unknown", ()).await.is_err());

    let read = client.read_resource("file:///all").await.unwrap();
    assert_eq!(read.contents.len(), 2, "{revision}");
    for uri in ["file:///bytes", "file:///many/7", "x:a/b"] {
        client.read_resource(uri).await.unwrap();
    }
    for uri in ["file:///unknown", "file:///many/11", "file:///many/x"] {
        assert!(client.read_resource(uri).await.is_err(), "{revision} {uri}");
    }

    let prompt = PromptReference::new("dressed");
    let found = client.complete(prompt, "about", "").await.unwrap();
    assert_eq!(found.values, ["a", "b"], "{revision}");
    let template = || ResourceTemplateReference::new("file:///many/{id}");
    let found = client.complete(template(), "id", "1").await.unwrap();
    assert_eq!((found.values.len(), found.total), (100, Some(200)));
    assert!(client.complete(template(), "unknown", "").await.is_err());

    let handle = service.handle();
    let changes = || {
        handle.notify_prompts_changed();
        handle.notify_resources_changed();
        assert!(handle.resource_updated("file:///all"));
    };
    if revision.era() == Era::Modern {
        let filter = SubscriptionFilter::default()
            .with_prompts_list_changed(true)
            .with_resources_list_changed(true)
            .with_resource_subscriptions(vec!["file:///all".to_owned()]);
        let mut subscription = client.listen(filter).await.unwrap();
        changes();
        for _ in 0..3 {
            assert!(soon(subscription.next()).await.is_some());
        }
    } else {
        let params = SubscribeRequestParams::new("file:///all");
        client.request::<Subscribe>(params).await.unwrap();
        let mut notifications = client.notifications();
        changes();
        for _ in 0..3 {
            assert!(soon(notifications.next()).await.is_some());
        }
        let params = UnsubscribeRequestParams::new("file:///all");
        client.request::<Unsubscribe>(params).await.unwrap();
    }
}
