//! How long clients may keep lists and resources.

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{
    Service,
    prelude::*,
    resource::{Caching, Variables},
    schema::{ReadResourceResult, TextResourceContents},
    visibility::OfferKind,
};

use super::{connected, server};
use crate::support::{conversation, initialize, joined, legacy, modern};

/// Copies of these may be kept.
#[resource("x:cached/{id}", ttl = "90s")]
fn cached(id: u8) -> String {
    id.to_string()
}

// V-1, V-8: nothing may be kept unless the author says so.
#[tokio::test]
async fn caching() {
    let minute = Caching::private(Duration::from_secs(60));
    let kept = DynamicResource::new("x:kept", "kept")
        .caching(minute)
        .handler(async |_| "kept");
    let own = DynamicResource::new("x:own", "own")
        .caching(minute)
        .handler(async |_| {
            let contents = TextResourceContents::new("own", "");
            ReadResourceResult::new(vec![contents.into()]).with_ttl_ms(5)
        });
    let template = DynamicTemplate::new("x:of/{id}", "of")
        .caching(Caching::public(Duration::from_secs(5)))
        .handler(async |_, variables: Variables| variables["id"].to_owned());
    let all = || server().tools(tools![]).prompts(prompts![]);
    let service = all()
        .resources(vec![kept, own])
        .resources(template)
        .resources(resources![cached])
        .build()
        .unwrap();
    let client = connected(&service, Revision::V2026_07_28).await;
    let raw = async |service: &Service, method: &str, params: &str| {
        let answers = conversation(service, joined([modern("1", method, params)])).await;
        let answer: Value = serde_json::from_str(&answers[0]).unwrap();
        let result = &answer["result"];
        (result["ttlMs"].clone(), result["cacheScope"].clone())
    };
    for (uri, ttl, scope) in [
        ("shop://readme", 0, "private"),
        ("shop://logo.png", 60_000, "public"),
        ("x:kept", 60_000, "private"),
        ("x:own", 5, "private"),
        // Of a template, for each of its resources.
        ("x:of/1", 5_000, "public"),
        ("x:cached/1", 90_000, "private"),
        ("shop://orders/7", 0, "private"),
    ] {
        let params = format!(r#","uri":"{uri}""#);
        let found = raw(&service, "resources/read", &params).await;
        assert_eq!(found, (json!(ttl), json!(scope)), "{uri}");
    }
    let read = client.read_resource("shop://logo.png").await.unwrap();
    assert_eq!(read.ttl_ms, Some(60_000));
    let hour = Caching::public(Duration::from_secs(3600));
    let listed = all().page_size(2).list_caching(hour).build().unwrap();
    for method in ["tools", "prompts", "resources", "resources/templates"] {
        let method = format!("{method}/list");
        let found = raw(&service, &method, "").await;
        assert_eq!(found, (json!(0), json!("private")), "{method}");
        let found = raw(&listed, &method, "").await;
        assert_eq!(found, (json!(3_600_000), json!("public")), "{method}");
    }
    // One list has its own, whichever is said first.
    let own = Caching::private(Duration::from_secs(7));
    let listed_apart = all()
        .list_caching_of(OfferKind::Prompt, own)
        .list_caching_of(OfferKind::ResourceTemplate, hour)
        .list_caching_of(OfferKind::ResourceTemplate, own)
        .list_caching(hour)
        .build()
        .unwrap();
    for (method, ttl, scope) in [
        ("tools/list", 3_600_000, "public"),
        ("prompts/list", 7000, "private"),
        ("resources/list", 3_600_000, "public"),
        ("resources/templates/list", 7000, "private"),
    ] {
        let found = raw(&listed_apart, method, "").await;
        assert_eq!(found, (json!(ttl), json!(scope)), "{method}");
    }
    // The second page too, and not before the revision that has it.
    let cursor = r#","cursor":"cmVzb3VyY2U6c2hvcDovL2FsbA""#;
    let found = raw(&listed, "resources/list", cursor).await;
    assert_eq!(found, (json!(3_600_000), json!("public")));
    let [open, confirm] = initialize("2025-11-25");
    let old = [open, confirm, legacy("1", "resources/list", "{}")];
    let answers = conversation(&listed, joined(old)).await;
    assert!(!answers[1].contains("ttlMs"), "{answers:?}");
}
