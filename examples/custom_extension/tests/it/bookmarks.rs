//! The bookmarks extension, served to typed clients over both transports.

use custom_extension::{
    KEPT_FOR, READER,
    bookmarks::{
        AddBookmarkRequestParams, Bookmark, BookmarkVisitedNotificationParams, IDENTIFIER,
        ListBookmarksRequestParams, Shelf,
        methods::{AddBookmark, BookmarkAdded, BookmarkVisited, ListBookmarks},
    },
    server,
};
use serde_json::json;
use trueform::{
    Leniencies, Leniency,
    client::{ClientError, LocalError},
    schema::{Json, JsonObject, Revision},
};

use crate::support::{BOTH, Over, connect, modern, next, options, raw, soon};

const NOW: Revision = Revision::V2026_07_28;

fn example() -> AddBookmarkRequestParams {
    AddBookmarkRequestParams::new(Bookmark::new("A", "https://a.example").with_shelf(Shelf::Later))
}

#[tokio::test]
async fn typed_messages_go_both_ways() {
    for over in BOTH {
        let service = server().build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;
        let mut notifications = client.notifications();

        let added = soon(client.request::<AddBookmark>(example()).into_future()).await;
        assert_eq!(added.unwrap().id, "1", "{over:?}");
        let heard = soon(notifications.next_of::<BookmarkAdded>())
            .await
            .unwrap();
        assert_eq!((&*heard.id, &*heard.bookmark.title), ("1", "A"), "{over:?}");

        client
            .notify::<BookmarkVisited>(&BookmarkVisitedNotificationParams::new("1"))
            .unwrap();
        // Over HTTP a notification may be overtaken.
        let visits = soon(async {
            loop {
                let asked = ListBookmarksRequestParams::new().with_shelf(Shelf::Later);
                let listed = client.request::<ListBookmarks>(asked).await.unwrap();
                if let Some(visits) = listed.bookmarks[0].visits {
                    break visits;
                }
                tokio::task::yield_now().await;
            }
        });
        assert_eq!(visits.await, 1, "{over:?}");
        let asked = ListBookmarksRequestParams::new().with_shelf(Shelf::Reference);
        let listed = soon(client.request::<ListBookmarks>(asked).into_future()).await;
        assert!(listed.unwrap().bookmarks.is_empty(), "{over:?}");
    }
}

#[tokio::test]
async fn meta_goes_in_and_out() {
    for over in BOTH {
        let service = server().build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;
        let mut params = example();
        let meta = Json::from(json!({ READER: { "name": "Ada" } }));
        params.extras_mut().insert("_meta", meta);
        let added = soon(client.request::<AddBookmark>(params).into_future())
            .await
            .unwrap();
        let meta = added.extras().get("_meta").map(Json::to_value);
        assert_eq!(
            meta.unwrap()[KEPT_FOR],
            json!({ "name": "Ada" }),
            "{over:?}"
        );

        let added = soon(client.request::<AddBookmark>(example()).into_future())
            .await
            .unwrap();
        assert_eq!(added.extras().get("_meta"), None, "{over:?}");
    }
}

#[tokio::test]
async fn the_bytes_are_those_of_the_schema() {
    for over in BOTH {
        let service = server().build().unwrap();
        let client = connect(&service, over, raw()).await;
        let declared = r#"{"com.example/bookmarks":{}}"#;
        let params = r#","bookmark":{"uri":"https://a.example","title":"A"}"#;
        client
            .send_raw(modern(7, "bookmarks/add", declared, params))
            .unwrap();
        let lines = [
            soon(client.next_message()).await,
            soon(client.next_message()).await,
        ];
        let expected = [
            r#"{"jsonrpc":"2.0","method":"notifications/bookmarks/added","params":{"bookmark":{"title":"A","uri":"https://a.example"},"id":"1"}}"#,
            r#"{"jsonrpc":"2.0","id":7,"result":{"resultType":"complete","id":"1"}}"#,
        ];
        assert_eq!(lines.map(Option::unwrap), expected, "{over:?}");
    }
}

#[tokio::test]
async fn the_extension_is_announced_with_its_settings() {
    use custom_extension::{Shelves, bookmarks::handler};
    for over in BOTH {
        let settings: JsonObject = serde_json::from_value(json!({ "shelves": 3 })).unwrap();
        let server = trueform::Server::new("bookmarks", "1")
            .extension_with(handler::Server(Shelves::default()), settings);
        let service = server.build().unwrap();
        let client = connect(&service, over, options(NOW, &[])).await;
        let declared = serde_json::to_value(client.server_capabilities()).unwrap();
        let expected = json!({ IDENTIFIER: { "shelves": 3 } });
        assert_eq!(declared["extensions"], expected, "{over:?}");
    }
}

#[tokio::test]
async fn revisions_without_the_extension_do_not_have_its_methods() {
    for revision in Revision::ALL
        .into_iter()
        .filter(|revision| *revision != NOW)
    {
        for over in BOTH {
            let service = server().build().unwrap();
            let client = connect(&service, over, options(revision, &[IDENTIFIER])).await;
            let unavailable = soon(client.request::<AddBookmark>(example()).into_future()).await;
            assert!(
                matches!(
                    unavailable,
                    Err(ClientError::Local(LocalError::Unavailable("bookmarks/add", at))) if at == revision
                ),
                "{unavailable:?}"
            );
            // A client that does not check gets the error from the server.
            let options = options(revision, &[IDENTIFIER]).outgoing(trueform::Policy::Off);
            let client = connect(&service, over, options).await;
            let unknown = soon(client.request::<AddBookmark>(example()).into_future()).await;
            assert_eq!(
                unknown.unwrap_err().code(),
                Some(-32601),
                "{revision} {over:?}"
            );
        }
    }
}

#[tokio::test]
async fn a_client_that_did_not_declare_the_extension_is_refused() {
    for over in BOTH {
        let service = server().build().unwrap();
        let client = connect(&service, over, options(NOW, &["com.example/another"])).await;
        let refused = soon(client.request::<AddBookmark>(example()).into_future()).await;
        let error = refused.unwrap_err();
        let error = error.remote().unwrap();
        assert_eq!(error.code, -32021, "{over:?}");
        let data = error.data.as_ref().unwrap().to_value();
        let required = json!({ "requiredCapabilities": { "extensions": { IDENTIFIER: {} } } });
        assert_eq!(data, required, "{over:?}");
    }
}

#[tokio::test]
async fn a_server_without_the_extension_is_not_asked() {
    let service = trueform::Server::new("plain", "1").build().unwrap();
    let client = connect(&service, Over::Stream, options(NOW, &[IDENTIFIER])).await;
    let refused = soon(client.request::<AddBookmark>(example()).into_future()).await;
    assert!(
        matches!(
            refused,
            Err(ClientError::Local(LocalError::NotDeclared(IDENTIFIER)))
        ),
        "{refused:?}"
    );
}

#[tokio::test]
async fn malformed_params_are_refused_with_a_pointer() {
    const DECLARED: &str = r#"{"com.example/bookmarks":{}}"#;
    for over in BOTH {
        let strict = Leniencies::ALL.without(Leniency::Formats);
        let service = server().lenient(strict).build().unwrap();
        let client = connect(&service, over, raw()).await;
        for (params, pointer) in [
            ("", "/params/bookmark"),
            (
                r#","bookmark":{"uri":"https://a.example"}"#,
                "/params/bookmark/title",
            ),
            (r#","bookmark":7"#, "/params/bookmark"),
            // The core's types are checked as well: an icon's source is a URI.
            (
                r#","bookmark":{"uri":"https://a.example","title":"A","icons":[{"src":"no uri"}]}"#,
                "/params/bookmark/icons/0/src",
            ),
            (
                r#","bookmark":{"uri":"https://a.example","title":"A","visits":-1}"#,
                "/params/bookmark/visits",
            ),
        ] {
            client
                .send_raw(modern(1, "bookmarks/add", DECLARED, params))
                .unwrap();
            let answer = next(&client).await;
            assert_eq!(
                answer["error"]["code"], -32602,
                "{over:?} {params}: {answer}"
            );
            assert_eq!(
                answer["error"]["data"]["pointer"], pointer,
                "{over:?} {params}: {answer}"
            );
        }
        // The `_meta` is checked too, although no type of the extension describes it.
        for (meta, pointer) in [
            (r#""progressToken":{}"#, "/params/_meta/progressToken"),
            (
                r#""io.modelcontextprotocol/logLevel":"loud""#,
                "/params/_meta/io.modelcontextprotocol~1logLevel",
            ),
        ] {
            let request = modern(1, "bookmarks/list", DECLARED, "");
            let request = request.replacen(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#), 1);
            client.send_raw(request).unwrap();
            let answer = next(&client).await;
            assert_eq!(answer["error"]["code"], -32602, "{over:?} {meta}: {answer}");
            assert_eq!(
                answer["error"]["data"]["pointer"], pointer,
                "{over:?} {meta}: {answer}"
            );
        }
        // GAP-2: the capability comes before the `_meta`.
        let loud = modern(1, "bookmarks/list", "{}", "");
        let loud = loud.replacen(
            r#""_meta":{"#,
            r#""_meta":{"io.modelcontextprotocol/logLevel":"loud","#,
            1,
        );
        client.send_raw(loud).unwrap();
        let answer = next(&client).await;
        assert_eq!(answer["error"]["code"], -32021, "{over:?}: {answer}");
        // The method is checked before its params. A method that only the server sends is unknown as a request.
        for method in [
            "bookmarks/burn",
            "notifications/bookmarks/added",
            "notifications/bookmarks/visited",
        ] {
            client
                .send_raw(modern(1, method, DECLARED, r#","x":1"#))
                .unwrap();
            assert_eq!(
                next(&client).await["error"]["code"],
                -32601,
                "{over:?} {method}"
            );
        }
    }
}

#[tokio::test]
async fn a_strict_server_serves_the_extension() {
    for over in BOTH {
        let strict = Leniencies::ALL.without(Leniency::UnknownMembers);
        let service = server().lenient(strict).build().unwrap();
        let client = connect(&service, over, options(NOW, &[IDENTIFIER])).await;
        let added = soon(client.request::<AddBookmark>(example()).into_future()).await;
        assert_eq!(added.unwrap().id, "1", "{over:?}");

        let mut params = example();
        params
            .extras_mut()
            .insert("colour", Json::from(json!("red")));
        let refused = soon(client.request::<AddBookmark>(params).into_future()).await;
        assert_eq!(refused.unwrap_err().code(), Some(-32602), "{over:?}");
    }
}

// DEC-6, DEC-12: nulls count as absent in what an extension defines too, and `_meta` is open where nothing else is.
#[tokio::test]
async fn nulls_and_an_open_meta() {
    const DECLARED: &str = r#"{"com.example/bookmarks":{}}"#;
    let bookmark = r#","bookmark":{"uri":"https://a.example","title":"A","icons":null}"#;
    let plain = r#","bookmark":{"uri":"https://a.example","title":"A"}"#;
    for over in BOTH {
        for (leniencies, params, meta, refused) in [
            (Leniencies::ALL, bookmark, r#""progressToken":null"#, None),
            (Leniencies::NONE, plain, r#""a/b":{"c":1.0}"#, None),
            (
                Leniencies::ALL.without(Leniency::NullMembers),
                bookmark,
                r#""a":null"#,
                Some("/params/bookmark/icons"),
            ),
            (
                Leniencies::ALL.without(Leniency::NullMembers),
                plain,
                r#""progressToken":null"#,
                Some("/params/_meta/progressToken"),
            ),
        ] {
            let service = server().lenient(leniencies).build().unwrap();
            let client = connect(&service, over, raw()).await;
            let request = modern(1, "bookmarks/add", DECLARED, params);
            let request = request.replacen(r#""_meta":{"#, &format!(r#""_meta":{{{meta},"#), 1);
            client.send_raw(request).unwrap();
            let answer = next(&client).await;
            let data = answer["error"].get("data");
            let pointer = data.and_then(|data| data["pointer"].as_str());
            assert_eq!(pointer, refused, "{over:?} {meta}: {answer}");
            if refused.is_some() {
                assert_eq!(answer["error"]["data"]["rule"], "null-members");
            }
        }
    }
}

#[tokio::test]
async fn unknown_and_malformed_notifications_are_ignored() {
    for over in BOTH {
        let service = server().build().unwrap();
        let client = connect(&service, over, raw()).await;
        for notification in [
            r#"{"jsonrpc":"2.0","method":"notifications/bookmarks/burnt","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/bookmarks/visited","params":{"id":7}}"#,
            r#"{"jsonrpc":"2.0","method":"notifications/bookmarks/added","params":{}}"#,
            r#"{"jsonrpc":"2.0","method":"bookmarks/list","params":{}}"#,
        ] {
            client.send_raw(notification).unwrap();
        }
        client
            .send_raw(modern(
                1,
                "bookmarks/list",
                r#"{"com.example/bookmarks":{}}"#,
                "",
            ))
            .unwrap();
        let answer = next(&client).await;
        assert_eq!(
            answer["result"]["bookmarks"],
            json!([]),
            "{over:?}: {answer}"
        );
    }
}
