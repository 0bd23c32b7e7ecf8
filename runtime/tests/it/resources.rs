//! Resources: listed, read, found by templates, subscribed to, changed while the server runs.

mod caching;

use std::time::Duration;

use serde_json::{Value, json};
use trueform::{
    MAX_RESOURCE_SUBSCRIPTIONS, Policy, Service,
    client::{ClientError, ClientOptions},
    completion::CompletionQuery,
    prelude::*,
    resource::Variables,
    schema::{
        BlobResourceContents, CompletionReference, ReadResourceResult, ResourceContents,
        ResourceTemplateReference, SubscribeRequestParams, SubscriptionFilter,
        TextResourceContents, UnsubscribeRequestParams,
        methods::{ReadResource, ResourceListChanged, ResourceUpdated, Subscribe, Unsubscribe},
    },
};

use crate::support::{conversation, initialize, joined, legacy, modern, soon};

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// How to use the shop.
#[resource(
    "shop://readme",
    title = "Read me",
    mime_type = "text/markdown",
    size = 11,
    audience(user),
    priority = 0.5,
    last_modified = "2026-01-31T15:00:58Z",
    icons("data:,"),
    meta("com.example/tier" = "gold")
)]
fn readme() -> &'static str {
    "Buy things."
}

/// The logo.
#[resource("shop://logo.png", mime_type = "image/png", ttl = "60s", public)]
fn logo() -> &'static [u8] {
    b"\x89PNG"
}

/// An order.
#[resource("shop://orders/{id}")]
fn order(id: u64) -> Option<Json<Value>> {
    (id < 10).then(|| Json(json!({ "id": id })))
}

/// A file.
#[resource("file:///docs/{+path}")]
async fn file(path: String) -> String {
    format!("file {path}")
}

/// A row.
#[resource("db://{table}/{id}", mime_type = "text/x-row")]
fn row(#[arg(complete = tables)] table: String, id: String, context: Context) -> String {
    format!("row {id} of {table} at {}", context.revision())
}

fn tables(query: CompletionQuery) -> Vec<String> {
    vec![format!("{}s", query.value())]
}

/// Everything.
#[resource("shop://all", mime_type = "text/plain")]
fn all() -> Vec<ResourceContents> {
    vec![
        TextResourceContents::new("a", "shop://all/a").into(),
        TextResourceContents::new("b", "")
            .with_mime_type("text/x-b")
            .into(),
        BlobResourceContents::new("AAAA", "shop://all/c").into(),
    ]
}

fn server() -> Server {
    Server::new("shop", "1.0.0").resources(resources![readme, logo, order, file, row, all])
}

async fn connected(service: &Service, revision: Revision) -> Client {
    let options = ClientOptions::at(revision);
    service.connect_as(options).await.unwrap()
}

fn contents(result: &ReadResourceResult) -> Value {
    serde_json::to_value(&result.contents).unwrap()
}

/// The error of a request as code, pointer, `data.uri` and message.
fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (i64, String, Value, String) {
    let error = answer.unwrap_err();
    let error = error.remote().expect("the server refuses");
    let data = error.data.as_ref().map(|data| data.to_value());
    let data = data.unwrap_or_default();
    (
        error.code,
        data["pointer"].as_str().unwrap_or_default().to_owned(),
        data["uri"].clone(),
        error.message.clone(),
    )
}

// J-1, J-5, J-9: at each revision, declared, listed and read.
#[tokio::test]
async fn at_every_revision() {
    let service = server().build().unwrap();
    for revision in Revision::ALL {
        let client = connected(&service, revision).await;
        let declared = client.server_capabilities().resources.as_ref().unwrap();
        assert_eq!(
            (declared.subscribe, declared.list_changed),
            (Some(true), Some(true))
        );
        let resources = client.list_resources().await.unwrap();
        let uris: Vec<_> = resources.iter().map(|resource| &*resource.uri).collect();
        assert_eq!(uris, ["shop://readme", "shop://logo.png", "shop://all"]);
        let first = serde_json::to_value(&resources[0]).unwrap();
        let mut expected = json!({
            "uri": "shop://readme", "name": "readme", "description": "How to use the shop.",
            "mimeType": "text/markdown", "size": 11,
            "annotations": {"audience": ["user"], "priority": 0.5},
        });
        if Revision::V2025_06_18 <= revision {
            expected["title"] = json!("Read me");
            expected["annotations"]["lastModified"] = json!("2026-01-31T15:00:58Z");
            expected["_meta"] = json!({"com.example/tier": "gold"});
        }
        if Revision::V2025_11_25 <= revision {
            expected["icons"] = json!([{"src": "data:,"}]);
        }
        assert_eq!(first, expected, "{revision}");
        let templates = client.list_resource_templates().await.unwrap();
        let uris: Vec<_> = templates.iter().map(|one| &*one.uri_template).collect();
        assert_eq!(
            uris,
            [
                "shop://orders/{id}",
                "file:///docs/{+path}",
                "db://{table}/{id}"
            ]
        );

        let read = async |uri: &str| contents(&client.read_resource(uri).await.unwrap());
        assert_eq!(
            read("shop://readme").await,
            json!([{"uri": "shop://readme", "mimeType": "text/markdown", "text": "Buy things."}])
        );
        assert_eq!(
            read("shop://logo.png").await,
            json!([{"uri": "shop://logo.png", "mimeType": "image/png", "blob": "iVBORw=="}])
        );
        assert_eq!(
            read("shop://orders/7").await,
            json!([{"uri": "shop://orders/7", "mimeType": "application/json", "text": "{\"id\":7}"}])
        );
        assert_eq!(
            read("file:///docs/a/b%20c.md").await,
            json!([{"uri": "file:///docs/a/b%20c.md", "mimeType": "text/plain", "text": "file a/b c.md"}])
        );
        assert_eq!(
            read("db://user%2Fs/%C3%A9").await,
            json!([{"uri": "db://user%2Fs/%C3%A9", "mimeType": "text/x-row",
                "text": format!("row é of user/s at {revision}")}])
        );
        assert_eq!(
            read("shop://all").await,
            json!([
                {"uri": "shop://all/a", "mimeType": "text/plain", "text": "a"},
                {"uri": "shop://all", "mimeType": "text/x-b", "text": "b"},
                {"uri": "shop://all/c", "mimeType": "text/plain", "blob": "AAAA"},
            ])
        );
    }
}

// J-2, J-3, J-6, P-3: bad input gets its code, its pointer and, for what is not found, the URI; other calls go on.
#[tokio::test]
async fn bad_input() {
    let panics =
        DynamicResource::new("x:panics", "panics").handler(|_| async { panic!("no") as String });
    let slow = DynamicResource::new("x:slow", "slow")
        .timeout(Duration::from_millis(1))
        .handler(|_| std::future::pending::<String>());
    let nothing = DynamicResource::new("x:nothing", "nothing")
        .handler(async |_| Vec::<ResourceContents>::new());
    let gone =
        DynamicResource::new("x:gone", "gone").handler(async |_| -> Result<String, ToolError> {
            Err(ToolError::not_found("it is sold"))
        });
    let fails = DynamicResource::new("x:fails", "fails").handler(
        async |_| -> Result<String, std::io::Error> { Err(std::io::Error::other("no disk")) },
    );
    let illegal = DynamicResource::new("x:illegal", "illegal")
        .handler(async |_| TextResourceContents::new("x", "not a uri"));
    let not_base64 = DynamicResource::new("x:not-base64", "not base64")
        .handler(async |_| BlobResourceContents::new("!", ""));
    let key = DynamicResource::new("x:key", "key").handler(async |context: Context| {
        context.set_result_meta("io.modelcontextprotocol/x", json!(1));
        "x"
    });
    let service = server()
        .resources(vec![
            panics, slow, nothing, gone, fails, illegal, not_base64, key,
        ])
        .build()
        .unwrap();
    for revision in ERAS {
        let not_found = match revision {
            Revision::V2026_07_28 => -32602,
            _ => -32002,
        };
        let long = format!("shop://{}", "x".repeat(5000));
        // The client would not send what is not a URI.
        let options = ClientOptions::at(revision).outgoing(Policy::Off);
        let client = service.connect_as(options).await.unwrap();
        for (uri, code, says) in [
            (
                "shop://unknown",
                not_found,
                "unknown resource `shop://unknown`",
            ),
            ("shop://orders/7/8", not_found, "unknown resource"),
            ("shop://orders/", not_found, "unknown resource"),
            (
                "shop://orders/10",
                not_found,
                "unknown resource `shop://orders/10`",
            ),
            ("SHOP://readme", not_found, "unknown resource"),
            (&long, not_found, "unknown resource"),
            ("x:nothing", not_found, "unknown resource `x:nothing`"),
            ("x:gone", not_found, "it is sold"),
            ("", -32602, "is not a URI"),
            ("readme", -32602, "is not a URI"),
            ("shop://a b", -32602, "is not a URI"),
            ("shop://orders/%ZZ", -32602, "is not a URI"),
            (
                "shop://orders/%FF",
                -32602,
                "the value of `id` is not UTF-8",
            ),
            ("shop://orders/seven", -32602, "expected integer"),
            ("shop://orders/-1", -32602, "/id"),
            ("file:///docs/../secret", -32602, "could leave its folder"),
            (
                "file:///docs/%2e%2e/secret",
                -32602,
                "could leave its folder",
            ),
            (
                "file:///docs/a%2F..%2Fsecret",
                -32602,
                "could leave its folder",
            ),
            ("file:///docs//etc/passwd", -32602, "could leave its folder"),
            ("file:///docs/a%5Cb", -32602, "could leave its folder"),
            ("file:///docs/a%00", -32602, "could leave its folder"),
            ("x:panics", -32603, "internal error"),
            ("x:slow", -32603, "`x:slow` did not finish within 1ms"),
            ("x:fails", -32603, "no disk"),
            ("x:illegal", -32603, ""),
            ("x:not-base64", -32603, ""),
            (
                "x:key",
                -32603,
                "resource `x:key` returned a result that cannot be sent",
            ),
        ] {
            let (found, pointer, at, message) = refused(client.read_resource(uri).await);
            assert_eq!(found, code, "{uri} at {revision}: {message}");
            assert!(message.contains(says), "{uri}: {message}");
            assert!(message.len() < 1000, "{uri}: {message}");
            let (expected, place) = match code {
                -32603 => (Value::Null, ""),
                _ if code == not_found
                    && !message.contains("not a URI")
                    && !message.contains("`id`")
                    && !message.contains("/id")
                    && !message.contains("expected")
                    && !message.contains("folder") =>
                {
                    (json!(uri), "/params/uri")
                }
                _ => (Value::Null, "/params/uri"),
            };
            match uri.len() {
                ..=2048 => assert_eq!(at, expected, "{uri}"),
                _ => assert!(at.as_str().unwrap().len() < 1000, "{at}"),
            }
            assert_eq!(pointer, place, "{uri}");
            // Other calls go on.
            client.read_resource("shop://readme").await.unwrap();
        }
        // Text that is not a cursor. Cursors of other lists: `listing.rs`.
        let templates = "cmVzb3VyY2UgdGVtcGxhdGU6c2hvcDovL29yZGVycy97aWR9";
        for (method, cursor, is_fine) in [
            ("resources/list", "???", false),
            ("resources/list", templates, false),
            (
                "resources/templates/list",
                "cmVzb3VyY2U6c2hvcDovL3JlYWRtZQ",
                false,
            ),
            ("resources/templates/list", templates, true),
        ] {
            let request = match revision {
                Revision::V2026_07_28 => modern("7", method, &format!(r#","cursor":"{cursor}""#)),
                _ => legacy("7", method, &json!({ "cursor": cursor }).to_string()),
            };
            let opening = match revision {
                Revision::V2026_07_28 => vec![],
                _ => initialize("2025-11-25").to_vec(),
            };
            let lines = opening.into_iter().chain([request]);
            let answers = conversation(&service, joined(lines)).await;
            let answer: Value = serde_json::from_str(answers.last().unwrap()).unwrap();
            assert_eq!(answer["error"].is_null(), is_fine, "{method} {cursor}");
            if !is_fine {
                assert_eq!(answer["error"]["code"], -32602);
                assert_eq!(answer["error"]["data"]["pointer"], "/params/cursor");
            }
        }
    }
}

// A blob of 50 MB is sent whole, and other calls go on meanwhile.
#[tokio::test(flavor = "multi_thread")]
async fn a_large_blob() {
    const BYTES: usize = 50_000_000;
    let large = DynamicResource::new("x:large", "large").handler(async |_| vec![7_u8; BYTES]);
    let service = server().resources(large).build().unwrap();
    let options = ClientOptions::at(Revision::V2026_07_28).max_message(128 << 20);
    let client = service.connect_as(options).await.unwrap();
    let other = connected(&service, Revision::V2025_11_25).await;
    let small = async {
        for _ in 0..100 {
            other.read_resource("shop://readme").await.unwrap();
        }
    };
    let (large, ()) = soon(async { tokio::join!(client.read_resource("x:large"), small) }).await;
    match &large.unwrap().contents[0] {
        ResourceContents::Blob(blob) => assert_eq!(blob.blob.len(), BYTES.div_ceil(3) * 4),
        other => panic!("{other:?}"),
    }
}

// J-9: the documented order, whatever the order of registration is.
#[tokio::test]
async fn the_most_specific_template_is_read() {
    let template = |uri: &'static str| {
        DynamicTemplate::new(uri, uri).handler(move |_, variables: Variables| async move {
            let values: Vec<_> = variables.iter().map(|(_, value)| value).collect();
            format!("{uri} {}", values.join("|"))
        })
    };
    let mut uris = [
        "x:a/{b}/c",
        "x:a/{b}/{c}",
        "x:a/{+b}",
        "x:{a}.txt",
        "x:{a}",
        "x:{+all}",
        "x:p{/q,r}",
        "x:{a,b}/list",
    ];
    let fixed = || DynamicResource::new("x:a/fixed/c", "fixed").handler(async |_| "fixed");
    for _ in 0..2 {
        uris.reverse();
        let templates: Vec<_> = uris.iter().map(|uri| template(uri)).collect();
        let server = Server::new("t", "1")
            .resources(templates)
            .resources(fixed());
        let client = server.connect().await.unwrap();
        for (uri, expected) in [
            ("x:a/fixed/c", "fixed"),
            ("x:a/1/c", "x:a/{b}/c 1"),
            ("x:a/1/2", "x:a/{b}/{c} 1|2"),
            ("x:a/1/2/3", "x:a/{+b} 1/2/3"),
            ("x:b.txt", "x:{a}.txt b"),
            ("x:b", "x:{a} b"),
            ("x:b/c", "x:{+all} b/c"),
            ("x:p/1/2", "x:p{/q,r} 1|2"),
            ("x:1,2/list", "x:{a,b}/list 1|2"),
        ] {
            let read = client.read_resource(uri).await.unwrap();
            assert_eq!(contents(&read)[0]["text"], expected, "{uri}");
        }
    }
}

#[test]
fn what_is_wrong_is_reported_at_once() {
    /// Again.
    #[resource("shop://readme")]
    fn again() -> &'static str {
        ""
    }
    /// Orders.
    #[resource("shop://orders/{number}")]
    fn orders(number: u64) -> String {
        number.to_string()
    }
    /// With state.
    #[resource("shop://stateful")]
    fn stateful(State(state): State<u8>) -> String {
        state.to_string()
    }
    let ready = |resource: DynamicResource| resource.handler(async |_| "");
    let broken = vec![
        DynamicResource::new("shop://handlerless", "handlerless"),
        ready(DynamicResource::new("not a uri", "a")),
        ready(DynamicResource::new("shop://{a}", "b")),
        ready(DynamicResource::new("shop://size", "c").size(u64::MAX)),
        ready(DynamicResource::new("shop://meta", "d").meta("io.modelcontextprotocol/x", json!(1))),
    ];
    let templates = vec![
        DynamicTemplate::new("shop://plain", "e").handler(async |_, _| ""),
        DynamicTemplate::new("shop://{a", "f").handler(async |_, _| ""),
        DynamicTemplate::new("shop://{?a}", "g").handler(async |_, _| ""),
        DynamicTemplate::new("shop://h/{a}", "h")
            .complete("b", |_| [""])
            .handler(async |_, _| ""),
    ];
    let problem = server()
        .resources(resources![again, orders, stateful])
        .resources(broken)
        .resources(templates)
        .build()
        .unwrap_err()
        .to_string();
    for expected in [
        "two resources have the URI `shop://readme`: fn `readme` at ",
        "and fn `again` at ",
        "the resource templates `shop://orders/{id}` (fn `order` at ",
        "and `shop://orders/{number}` (fn `orders` at ",
        "resource `shop://stateful` (fn `stateful` at ",
        "takes `State<u8>`, but no such value was registered",
        "resource `shop://handlerless` (the dynamic resource at ",
        "has no handler",
        "resource `not a uri` (the dynamic resource at ",
        "is not a URI of RFC 3986",
        "has variables in braces; a `DynamicTemplate` takes them",
        "has a size beyond 2^63 - 1",
        "`io.modelcontextprotocol/x` in the `_meta` of resource `shop://meta`",
        "is reserved for the protocol",
        "resource `shop://plain` (the dynamic resource template at ",
        "has no variables in braces",
        "has a `{` that no `}` closes",
        "whose operator `?` is not supported",
        "completes `b`, which is not a variable of it",
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
    assert!(!problem.contains("cannot be listed"), "{problem}");
}

// L-1, L-3
#[tokio::test]
async fn completion_of_variables() {
    let service = server().build().unwrap();
    for revision in ERAS {
        let client = connected(&service, revision).await;
        let complete = async |template: &str, variable: &str| {
            let reference = CompletionReference::from(ResourceTemplateReference::new(template));
            client.complete(reference, variable, "user").await
        };
        let found = complete("db://{table}/{id}", "table").await.unwrap();
        assert_eq!(found.values, ["users"]);
        let found = complete("db://{table}/{id}", "id").await.unwrap();
        assert_eq!(found.values.len(), 0);
        let (code, pointer, ..) = refused(complete("db://{table}/{id}", "row").await);
        assert_eq!((code, &*pointer), (-32602, "/params/argument/name"));
        let (code, pointer, ..) = refused(complete("db://users/7", "id").await);
        assert_eq!((code, &*pointer), (-32602, "/params/ref/uri"));
    }
}

// J-7, J-8: who asked for a resource hears of its changes, and nobody else.
#[tokio::test]
async fn updates() {
    let service = server().build().unwrap();
    let handle = service.handle();
    let old = connected(&service, Revision::V2025_11_25).await;
    let other = connected(&service, Revision::V2025_11_25).await;
    let new = connected(&service, Revision::V2026_07_28).await;
    let (mut of_old, mut of_other) = (old.notifications(), other.notifications());
    for uri in ["shop://readme", "shop://orders/7"] {
        old.request::<Subscribe>(SubscribeRequestParams::new(uri))
            .await
            .unwrap();
    }
    let filter = SubscriptionFilter::default().with_resource_subscriptions(vec![
        "shop://readme".to_owned(),
        "not a uri".to_owned(),
        "shop://readme".to_owned(),
        "shop://later".to_owned(),
        "shop://orders/8".to_owned(),
    ]);
    let mut listening = new.listen(filter).await.unwrap();
    assert_eq!(
        listening.honoured().resource_subscriptions.as_deref(),
        Some(&["shop://readme".to_owned(), "shop://orders/8".to_owned()][..])
    );
    assert!(!handle.resource_updated("not a uri"));
    for uri in [
        "shop://logo.png",
        "shop://readme",
        "shop://orders/7",
        "shop://later",
        "shop://orders/8",
    ] {
        assert!(handle.resource_updated(uri));
    }
    let updated = soon(of_old.next_of::<ResourceUpdated>()).await.unwrap();
    assert_eq!(updated.uri, "shop://readme");
    let updated = soon(of_old.next_of::<ResourceUpdated>()).await.unwrap();
    assert_eq!(updated.uri, "shop://orders/7");
    for expected in ["shop://readme", "shop://orders/8"] {
        let heard = soon(listening.next()).await.unwrap();
        let updated = heard.get::<ResourceUpdated>().unwrap().unwrap();
        assert_eq!(updated.uri, expected);
        assert!(updated.meta.unwrap().subscription_id.is_some());
    }
    old.request::<Unsubscribe>(UnsubscribeRequestParams::new("shop://readme"))
        .await
        .unwrap();
    handle.resource_updated("shop://readme");
    // The list comes after what was not sent.
    handle.notify_resources_changed();
    let next = soon(of_old.next()).await.unwrap();
    assert!(next.is::<ResourceListChanged>(), "{next:?}");
    let next = soon(of_other.next()).await.unwrap();
    assert!(next.is::<ResourceListChanged>(), "{next:?}");

    let (code, _, uri, _) = refused(
        old.request::<Subscribe>(SubscribeRequestParams::new("shop://unknown"))
            .await,
    );
    assert_eq!((code, uri), (-32002, json!("shop://unknown")));
    for at in 0..MAX_RESOURCE_SUBSCRIPTIONS - 1 {
        let params = SubscribeRequestParams::new(format!("db://t/{at}"));
        old.request::<Subscribe>(params).await.unwrap();
    }
    let (code, .., message) = refused(
        old.request::<Subscribe>(SubscribeRequestParams::new("db://t/more"))
            .await,
    );
    assert_eq!(code, -32603, "{message}");
    other
        .request::<Subscribe>(SubscribeRequestParams::new("db://t/more"))
        .await
        .unwrap();
}

// J-7: the results have no members, and the modern era does not have the methods.
#[tokio::test]
async fn subscribing_over_bytes() {
    let service = server().build().unwrap();
    let [open, confirm] = initialize("2024-11-05");
    let params = r#"{"uri":"shop://readme"}"#;
    let lines = [
        open,
        confirm,
        legacy("1", "resources/subscribe", params),
        legacy("2", "resources/unsubscribe", params),
        legacy("3", "resources/unsubscribe", params),
        legacy("4", "resources/subscribe", r#"{"uri":"readme"}"#),
        modern("5", "resources/subscribe", r#","uri":"shop://readme""#),
    ];
    let answers = conversation(&service, joined(lines)).await;
    let answers: Vec<Value> = answers
        .iter()
        .map(|answer| serde_json::from_str(answer).unwrap())
        .collect();
    for id in 1..=3 {
        let answer = answers.iter().find(|answer| answer["id"] == id).unwrap();
        assert_eq!(answer["result"], json!({}), "{answer}");
    }
    for (id, code, pointer) in [(4, -32602, json!("/params/uri")), (5, -32601, Value::Null)] {
        let answer = answers.iter().find(|answer| answer["id"] == id).unwrap();
        assert_eq!(answer["error"]["code"], code, "{answer}");
        assert_eq!(answer["error"]["data"]["pointer"], pointer, "{answer}");
    }
}

// The macros find these; the builder does not rely on it.
#[test]
fn variables_and_parameters_have_the_same_names() {
    use trueform::{__private as expansion, resource::ResourceSet};
    let spec = |uri: &'static str| {
        expansion::resource(uri, "n", "", "f", "f.rs", 1)
            .input("a", "", <String as expansion::Parameter<_>>::describe)
            .input(
                "b",
                "",
                <Option<String> as expansion::Parameter<_>>::describe,
            )
            .call(|_| expansion::ready(Err(ToolError::new("not called"))))
    };
    let specs = vec![spec("x:{a}"), spec("y:{a}/{b}/{c}"), spec("z:static")];
    let problem = Server::new("t", "1")
        .resources(ResourceSet::from_specs(specs))
        .build()
        .unwrap_err()
        .to_string();
    for expected in [
        "the function of resource template `x:{a}` (fn `f` at f.rs:1) takes `b`, and the template has no variable of that name",
        "resource template `y:{a}/{b}/{c}` (fn `f` at f.rs:1) has the variable `c`, and its function has no parameter of that name",
        "the function of resource `z:static` (fn `f` at f.rs:1) takes `a`, and the URI has no variables",
    ] {
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}

// J-1
#[tokio::test]
async fn changes_at_run_time() {
    let service = server().build().unwrap();
    let handle = service.handle();
    let old = connected(&service, Revision::V2025_11_25).await;
    let new = connected(&service, Revision::V2026_07_28).await;
    let mut of_old = old.notifications();
    let filter = SubscriptionFilter::default().with_resources_list_changed(true);
    let mut listening = new.listen(filter).await.unwrap();
    let mut heard = async || {
        soon(of_old.next_of::<ResourceListChanged>()).await.unwrap();
        let heard = soon(listening.next()).await.unwrap();
        assert!(heard.is::<ResourceListChanged>(), "{heard:?}");
    };
    let reads = async |uri: &str| new.read_resource(uri).await.is_ok();
    let added = || {
        let mut set = trueform::resource::ResourceSet::new();
        set.extend(DynamicResource::new("x:one", "one").handler(async |_| "one"));
        set.extend(DynamicTemplate::new("y:{a}", "y").handler(async |_, _| "y"));
        set
    };
    assert!(!reads("x:one").await && !reads("y:1").await);
    handle.add_resources(added()).unwrap();
    heard().await;
    assert!(reads("x:one").await && reads("y:1").await);
    // All or nothing.
    let mut mixed = added();
    mixed.extend(DynamicResource::new("x:two", "two").handler(async |_| "two"));
    let problem = handle.add_resources(mixed).unwrap_err().to_string();
    assert!(
        problem.contains("two resources have the URI `x:one`"),
        "{problem}"
    );
    assert!(
        problem.contains("`y:{a}`") && problem.contains("match the same URIs"),
        "{problem}"
    );
    assert!(!reads("x:two").await);

    assert!(handle.enable_resource("y:{a}", false));
    heard().await;
    assert!(!handle.enable_resource("y:{a}", false));
    assert!(!reads("y:1").await);
    assert!(handle.enable_resource("y:{a}", true));
    heard().await;
    assert!(reads("y:1").await);
    assert!(handle.remove_resource("y:{a}") && !handle.remove_resource("y:{a}"));
    heard().await;
    assert!(!reads("y:1").await);
    assert_eq!(
        handle.resource_uris(),
        [
            "shop://readme",
            "shop://logo.png",
            "shop://all",
            "x:one",
            "shop://orders/{id}",
            "file:///docs/{+path}",
            "db://{table}/{id}"
        ]
    );
    // What is hidden is not read by way of a template either.
    let hidden = DynamicResource::new("shop://orders/1", "first").handler(async |_| "first");
    handle.add_resources(hidden).unwrap();
    heard().await;
    let first = new.read_resource("shop://orders/1").await.unwrap();
    assert_eq!(contents(&first)[0]["text"], "first");
    assert!(handle.enable_resource("shop://orders/1", false));
    heard().await;
    assert!(!reads("shop://orders/1").await && reads("shop://orders/2").await);
    assert!(handle.remove_resource("shop://orders/1"));
    assert!(reads("shop://orders/1").await);

    let without = Server::new("t", "1").build().unwrap().handle();
    let problem = without.add_resources(added()).unwrap_err().to_string();
    assert!(problem.contains("built without resources"), "{problem}");
    assert!(!without.remove_resource("x:one") && without.resource_uris().is_empty());
    // A template with a completion at a server that did not declare it.
    let bare = Server::new("t", "1").resources(resources![readme]).build();
    let completing = DynamicTemplate::new("z:{a}", "z")
        .complete("a", |_| [""])
        .handler(async |_, _| "");
    let problem = bare.unwrap().handle().add_resources(completing);
    assert!(
        problem
            .unwrap_err()
            .to_string()
            .contains("completes a variable")
    );
}

// C-10, DEC-9
#[tokio::test]
async fn needed_capabilities() {
    /// Asks.
    #[resource("x:asks", needs(sampling))]
    fn asks() -> &'static str {
        "asked"
    }
    let service = Server::new("t", "1").resources(resources![asks]).build();
    let service = service.unwrap();
    for (revision, code) in [
        (Revision::V2025_11_25, -32602),
        (Revision::V2026_07_28, -32021),
    ] {
        let client = connected(&service, revision).await;
        let answer = client
            .request::<ReadResource>(trueform::schema::ReadResourceRequestParams::new("x:asks"))
            .await;
        let error = answer.unwrap_err();
        let error = error.remote().unwrap();
        assert_eq!(error.code, code, "{}", error.message);
        let data = error.data.as_ref().unwrap().to_value();
        assert_eq!(data["requiredCapabilities"], json!({"sampling": {}}));
    }
    let old = Server::new("t", "1").resources(resources![asks]);
    let needs = DynamicResource::new("x:elicits", "elicits")
        .needs(trueform::RequiredCapabilities::ELICITATION)
        .handler(async |_| "");
    let problem = old
        .resources(needs)
        .revisions([Revision::V2024_11_05])
        .build()
        .unwrap_err()
        .to_string();
    assert!(problem.contains("resource `x:elicits`"), "{problem}");
    assert!(problem.contains("which no client can declare"), "{problem}");
}

struct Shop {
    orders: Vec<&'static str>,
}

#[server]
impl Shop {
    /// All orders.
    #[resource("shop://orders")]
    fn orders(&self) -> String {
        self.orders.join("\n")
    }

    /// One order.
    #[resource("shop://orders/{at}")]
    async fn order(&self, at: usize) -> Option<&'static str> {
        self.orders.get(at).copied()
    }
}

#[tokio::test]
async fn methods_and_composition() {
    let shop = Shop {
        orders: vec!["tea", "cups"],
    };
    let inner = Server::new("inner", "1").resources(shop);
    let server = Server::new("outer", "1").nest("inner", inner);
    let client = server.connect().await.unwrap();
    let read = client.read_resource("shop://orders").await.unwrap();
    assert_eq!(contents(&read)[0]["text"], "tea\ncups");
    let read = client.read_resource("shop://orders/1").await.unwrap();
    assert_eq!(contents(&read)[0]["text"], "cups");
    assert!(client.read_resource("shop://orders/2").await.is_err());
    // A server without resources does not declare them.
    let without = Server::new("t", "1").build().unwrap();
    let client = without.connect().await.unwrap();
    assert!(client.server_capabilities().resources.is_none());
    let request = modern("1", "resources/read", r#","uri":"shop://orders""#);
    let answers = conversation(&without, joined([request])).await;
    let answer: Value = serde_json::from_str(&answers[0]).unwrap();
    assert_eq!(answer["error"]["code"], -32601);
}

// V-10, J-8: what a caller does not see is not there for it, whichever request names it.
#[tokio::test]
async fn what_a_caller_does_not_see() {
    let is_secret = |uri: &str| uri == "shop://logo.png" || uri.starts_with("db://");
    let service = server()
        .visible(move |viewer, offer| viewer.principal().is_some() || !is_secret(offer.name()));
    // A public copy would be shared with those who do not see it.
    let problem = service.build().unwrap_err().to_string();
    assert!(problem.contains("shop://logo.png"), "{problem}");
    let service = Server::new("shop", "1.0.0")
        .resources(resources![readme, row])
        .resources(DynamicResource::new("shop://logo.png", "logo").handler(async |_| "logo"))
        .visible(move |viewer, offer| viewer.principal().is_some() || !is_secret(offer.name()))
        .build()
        .unwrap();
    for revision in ERAS {
        let not_found = match revision {
            Revision::V2026_07_28 => -32602,
            _ => -32002,
        };
        let anyone = connected(&service, revision).await;
        let options = ClientOptions::at(revision).principal(Principal::new("ann"));
        let ann = service.connect_as(options).await.unwrap();
        assert_eq!(anyone.list_resources().await.unwrap().len(), 1);
        assert_eq!(ann.list_resources().await.unwrap().len(), 2);
        assert_eq!(anyone.list_resource_templates().await.unwrap().len(), 0);
        assert_eq!(ann.list_resource_templates().await.unwrap().len(), 1);
        for uri in ["shop://logo.png", "db://users/7"] {
            let (code, pointer, at, _) = refused(anyone.read_resource(uri).await);
            assert_eq!(
                (code, &*pointer, at),
                (not_found, "/params/uri", json!(uri))
            );
            ann.read_resource(uri).await.unwrap();
        }
        let of = CompletionReference::from(ResourceTemplateReference::new("db://{table}/{id}"));
        let (code, ..) = refused(anyone.complete(of.clone(), "table", "").await);
        assert_eq!(code, -32602);
        ann.complete(of, "table", "").await.unwrap();
        if revision == Revision::V2026_07_28 {
            let named = [
                "shop://readme",
                "shop://logo.png",
                "db://users/7",
                "shop://unknown",
            ];
            let filter = || {
                let named = named.map(str::to_owned).to_vec();
                SubscriptionFilter::default().with_resource_subscriptions(named)
            };
            let heard = anyone.listen(filter()).await.unwrap();
            let honoured = heard.honoured().resource_subscriptions.clone();
            assert_eq!(honoured.unwrap(), named[..1]);
            let heard = ann.listen(filter()).await.unwrap();
            let honoured = heard.honoured().resource_subscriptions.clone();
            assert_eq!(honoured.unwrap(), named[..3]);
        } else {
            for uri in ["shop://logo.png", "db://users/7"] {
                let subscribe = || SubscribeRequestParams::new(uri);
                let (code, ..) = refused(anyone.request::<Subscribe>(subscribe()).await);
                assert_eq!(code, not_found);
                ann.request::<Subscribe>(subscribe()).await.unwrap();
            }
        }
    }
}
