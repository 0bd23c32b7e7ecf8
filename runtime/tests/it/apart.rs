//! Requests stand for themselves: what one says, where it comes from, and what its headers claim change no other.

use serde_json::{Value, json};
use trueform::{
    Leniencies,
    prelude::*,
    schema::{ErrorObject, JsonObject},
};

use crate::{
    extended::{Own, WAYS, headers_of},
    parity::post,
    support::{
        add, conversation, echo, initialize, joined, legacy, modern, raw, service, soon, stage,
    },
};

// I-2: the list is the same for every connection, and after whatever was called and declared on one.
#[tokio::test]
async fn lists_do_not_depend_on_who_asks() {
    let service = service();
    let list = |id: &str| modern(id, "tools/list", "");
    let lists = |lines: Vec<String>| {
        lines
            .into_iter()
            .map(|line| serde_json::from_str::<Value>(&line).unwrap())
            .filter(|answer| answer["result"]["tools"].is_array())
            .map(|answer| answer["result"]["tools"].clone())
            .collect::<Vec<_>>()
    };
    let fresh = lists(conversation(&service, list("1")).await);
    assert_eq!(fresh.len(), 1);
    let call = modern(
        "2",
        "tools/call",
        r#","name":"add","arguments":{"a":1,"b":2}"#,
    );
    let failing = modern("3", "tools/call", r#","name":"panics","arguments":{}"#);
    let declaring = list("4").replace(
        r#"clientCapabilities":{}"#,
        r#"clientCapabilities":{"sampling":{},"roots":{}}"#,
    );
    // One after the other: a list within the same read could be answered first.
    let client = raw(&service).await;
    let mut said = Vec::new();
    for line in [call, failing, declaring, list("5"), list("6")] {
        client.send_raw(line).unwrap();
        said.push(soon(client.next_message()).await.unwrap());
    }
    let used = lists(said);
    assert_eq!(used.len(), 3);
    for list in used {
        assert_eq!(list, fresh[0]);
    }
}

/// Says which region it was called for.
#[tool]
fn locate(
    principal: Option<Principal>,
    #[schemars(extend("x-mcp-header" = "Region"))] region: String,
) -> String {
    let subject = principal.map_or("nobody".to_owned(), |one| one.subject().to_owned());
    format!("{region} for {subject}")
}

// Y-4, F-28: headers that mirror a request decide nothing: what they claim must be what the body says, and they make nobody a
// principal.
#[tokio::test]
async fn mirrored_headers_grant_nothing() {
    let server = Server::new("t", "1").tools(tools![locate]);
    let http = server.build().unwrap().into_http_service().unwrap();
    let message = modern(
        "1",
        "tools/call",
        r#","name":"locate","arguments":{"region":"eu"}"#,
    );
    for (region, more, expected) in [
        ("eu", None, Ok("eu for nobody")),
        ("admin", None, Err(-32020)),
        ("EU", None, Err(-32020)),
        // F-29: names of parameters that the tool does not have.
        ("eu", Some("mcp-param-principal"), Ok("eu for nobody")),
        ("eu", Some("mcp-param-subject"), Ok("eu for nobody")),
        // A header that comes twice, whatever else it says.
        ("eu", Some("mcp-param-region"), Err(-32020)),
        ("e\u{f9}", None, Err(-32020)),
        ("=?base64?ZXU=?=", None, Ok("eu for nobody")),
        ("=?base64?ZXU?=", None, Err(-32020)),
    ] {
        let mut headers = headers_of(&message);
        headers.push(("mcp-param-region".to_owned(), region.to_owned()));
        headers.extend(more.map(|name| (name.to_owned(), "root".to_owned())));
        let (_, _, answer) = soon(post(&http, &headers, message.clone().into_bytes())).await;
        let answer = answer.unwrap();
        match expected {
            Ok(text) => assert_eq!(answer["result"]["content"][0]["text"], text, "{answer}"),
            Err(code) => assert_eq!(answer["error"]["code"], code, "{answer}"),
        }
    }
}

// DEC-12, GAP-12: params of an extension are held to what they say, and `_meta` is open.
#[tokio::test]
async fn params_of_an_extension() {
    for leniencies in [Leniencies::NONE, Leniencies::ALL] {
        let server = Server::new("t", "1").extension(Own).lenient(leniencies);
        let service = server.build().unwrap();
        for way in WAYS {
            let any = r#""_meta":{"any":{"at":1.0}"#;
            let open = match way.modern {
                true => {
                    way.request("1", "own/ok", "")
                        .replacen(r#""_meta":{"#, &format!("{any},"), 1)
                }
                false => way.request("1", "own/ok", &format!("{any}}}")),
            };
            let answers = way
                .answers(
                    &service,
                    &[open.clone(), way.request("2", "own/ok", r#""x":1"#)],
                )
                .await;
            assert_eq!(
                answers[0].get("error"),
                None,
                "{way:?}: {open}: {}",
                answers[0]
            );
            let data = &answers[1]["error"]["data"];
            match leniencies == Leniencies::ALL {
                true => assert_eq!(*data, Value::Null, "{way:?}"),
                false => assert_eq!(
                    (&data["pointer"], &data["rule"]),
                    (&json!("/params/x"), &json!("unknown-members")),
                    "{way:?}: {}",
                    answers[1]
                ),
            }
        }
    }
}

// C-14, GAP-12: an extension is declared in both eras that can have one, and served to those who declared it too.
#[tokio::test]
async fn extensions_need_both_sides() {
    for (served, declared) in [(true, true), (true, false), (false, true)] {
        let (stage, _director) = stage();
        let mut server = Server::new("t", "1").tools(tools![add, echo]).state(stage);
        if served {
            server = server.extension(Own);
        }
        let service = server.build().unwrap();
        for way in WAYS {
            let what = format!("{way:?}, served: {served}, declared: {declared}");
            if !way.http && !way.modern && !declared {
                let mut lines = initialize(way.revision()).to_vec();
                lines.push(legacy("1", "own/ok", "{}"));
                let said = conversation(&service, joined(lines)).await;
                let opened: Value = serde_json::from_str(&said[0]).unwrap();
                let named = &opened["result"]["capabilities"]["extensions"]["com.example/own"];
                assert_eq!(*named, json!({}), "{what}");
                let refused: Value = serde_json::from_str(&said[1]).unwrap();
                assert_eq!(refused["error"]["code"], -32602, "{what}: {refused}");
                // DEC-9
                let required = json!({ "extensions": { "com.example/own": {} } });
                let data = &refused["error"]["data"];
                assert_eq!(data["requiredCapabilities"], required, "{what}");
                assert_eq!(data["pointer"], "/method", "{what}");
                continue;
            }
            if !way.modern && !declared {
                continue;
            }
            let mut messages = [
                way.request("1", "own/ok", ""),
                way.request(
                    "2",
                    "tools/call",
                    r#""name":"add","arguments":{"a":1,"b":2}"#,
                ),
            ];
            if !declared {
                messages[0] = modern("1", "own/ok", "");
            }
            let answers = way.answers(&service, &messages).await;
            let expected = match (served, declared) {
                (true, true) => Value::Null,
                (true, false) => json!(-32021),
                (false, _) => json!(-32601),
            };
            assert_eq!(answers[0]["error"]["code"], expected, "{what}: {answers:?}");
            // The core is served whatever is declared.
            assert_eq!(answers[1]["result"]["content"][0]["text"], "3", "{what}");
        }
    }
}

// C-14: a name without a prefix would be taken by the next revision.
#[test]
fn identifiers_of_extensions_have_a_prefix() {
    struct Bare;
    impl trueform::schema::methods::Methods<Context> for Bare {
        fn identifier(&self) -> Option<&'static str> {
            Some("own")
        }
        fn names(&self) -> &'static [&'static str] {
            &[]
        }
        fn rules(&self, _: &str, _: Revision) -> Option<&'static trueform::schema::methods::Rules> {
            None
        }
        fn request(
            self: std::sync::Arc<Self>,
            _: Revision,
            _: &str,
            _: Option<&str>,
        ) -> Result<
            trueform::schema::methods::Decoded<Context, trueform::schema::methods::Response>,
            trueform::schema::DecodeError,
        > {
            unreachable!("there is no method")
        }
        fn notification(
            self: std::sync::Arc<Self>,
            _: Revision,
            _: &str,
            _: Option<&str>,
        ) -> Result<trueform::schema::methods::Decoded<Context, ()>, trueform::schema::DecodeError>
        {
            unreachable!("there is no method")
        }
    }
    let error = Server::new("t", "1")
        .extension_with(Bare, JsonObject::empty())
        .build()
        .unwrap_err();
    assert!(error.problems()[0].contains("`own`"), "{error}");
}

/// Fails with a code of a draft.
#[tool]
fn drafted(code: i64) -> Result<(), ToolError> {
    Err(ToolError::protocol(ErrorObject::new(code, "no")))
}

// TRAP-07: the numbers of the drafts are not sent, for any refusal that they were once for.
#[tokio::test]
async fn codes_of_drafts_are_not_sent() {
    const DRAFTS: [i64; 3] = [-32001, -32003, -32004];
    let server = Server::new("t", "1").tools(tools![add, drafted, needy]);
    let service = server.build().unwrap();
    let http = service.clone().into_http_service().unwrap();
    let named = |params: &str| modern("1", "tools/call", params);
    let mut codes = Vec::new();
    for (message, leave, expected) in [
        // A header that differs: -32001 in drafts.
        (named(r#","name":"add""#), Some("mcp-name"), -32020),
        (named(r#","name":"add""#), Some("mcp-method"), -32020),
        // A capability that is missing: -32003 in drafts.
        (named(r#","name":"needy","arguments":{}"#), None, -32021),
        // A version that is not there: -32004 in drafts.
        (
            modern("1", "server/discover", "").replace("2026-07-28", "1900-01-01"),
            None,
            -32022,
        ),
    ] {
        let mut headers = headers_of(&message);
        headers.retain(|(name, _)| Some(name.as_str()) != leave);
        if expected == -32022 {
            headers.retain(|(name, _)| name != "mcp-protocol-version");
            headers.push(("mcp-protocol-version".to_owned(), "1900-01-01".to_owned()));
        }
        let (_, _, answer) = soon(post(&http, &headers, message.into_bytes())).await;
        let answer = answer.unwrap();
        codes.push(answer["error"]["code"].as_i64().unwrap());
        assert_eq!(codes.last(), Some(&expected), "{answer}");
    }
    // Nor can an author bring them back: the code is the protocol's to give.
    for code in DRAFTS {
        let call = named(&format!(
            r#","name":"drafted","arguments":{{"code":{code}}}"#
        ));
        let said = conversation(&service, call).await;
        let answer: Value = serde_json::from_str(&said[0]).unwrap();
        codes.push(answer["error"]["code"].as_i64().unwrap_or_default());
    }
    assert!(!codes.iter().any(|code| DRAFTS.contains(code)), "{codes:?}");
}

/// Needs what no client of these tests declares.
#[tool(needs(sampling))]
fn needy() {}
