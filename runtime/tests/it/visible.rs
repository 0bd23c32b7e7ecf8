//! Per-caller visibility: what a caller does not see does not exist for it.

mod public;

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::Value;
use trueform::{
    RequiredCapabilities, Service,
    client::ClientOptions,
    prelude::*,
    prompt::DynamicPrompt,
    schema::{PaginatedRequestParams, methods},
    visibility::{Offer, OfferKind, Viewer},
};

use crate::{
    extended::{WAYS, Way, headers_of},
    logged::assert_logged,
    parity::post,
    support::{Collected, log},
};

fn tool(name: &str) -> DynamicTool {
    DynamicTool::new(name, serde_json::json!({"type": "object"}))
        .handler(|_, _| async { Ok::<_, ToolError>("ok") })
}

fn prompt(name: &str) -> DynamicPrompt {
    DynamicPrompt::new(name)
        .argument("form", "Its form.", false)
        .complete("form", |_| ["sonnet"])
        .handler(|_, _| async { "ok" })
}

fn resource(uri: &str) -> DynamicResource {
    DynamicResource::new(uri, "r").handler(async |_| "ok")
}

fn template(uri: &str) -> DynamicTemplate {
    DynamicTemplate::new(uri, "t")
        .complete("id", |_| ["1"])
        .handler(async |_, _| "ok")
}

/// What everyone sees. `secret_tools` and `secret_poem` are near to names of it.
fn open() -> Server {
    Server::new("safe", "1")
        .page_size(2)
        .tools(tool("tools_a"))
        .prompts(prompt("poem"))
        .resources(resource("note://a"))
        .resources(template("note://of/{id}"))
}

/// The same with secrets, which nobody sees but those for whom `sees` holds.
fn guarded(sees: impl Fn(&Viewer<'_>, &Offer<'_>) -> bool + Send + Sync + 'static) -> Server {
    Server::new("safe", "1")
        .page_size(2)
        .tools(tool("secret_1"))
        .tools(tool("tools_a"))
        .tools(tool("secret_2").needs(RequiredCapabilities::ROOTS))
        .tools(tool("secret_3"))
        .prompts(prompt("secret_poem"))
        .prompts(prompt("poem"))
        .resources(resource("secret://a"))
        .resources(resource("note://a"))
        .resources(template("secret://of/{id}"))
        .resources(template("note://of/{id}"))
        .visible(move |viewer, offer| !offer.name().starts_with("secret") || sees(viewer, offer))
}

fn is_trusted(viewer: &Viewer<'_>) -> bool {
    let is_ann = |principal: &Principal| principal.subject() == "ann";
    viewer.principal().is_some_and(is_ann) || viewer.header("Authorization") == Some("Bearer x")
}

/// Requests that name what may be secret, with its name or one like it.
fn requests() -> Vec<(&'static str, String)> {
    let mut all = vec![
        ("tools/list", String::new()),
        ("prompts/list", String::new()),
        ("resources/list", String::new()),
        ("resources/templates/list", String::new()),
    ];
    for uri in [
        "secret://a",
        "secret://b",
        "secret://of/1",
        "secret://of/%ZZ",
        "note://of/2",
    ] {
        all.push(("resources/read", format!(r#""uri":"{uri}""#)));
        // In the modern era both servers do not know the method.
        all.push(("resources/subscribe", format!(r#""uri":"{uri}""#)));
    }
    for argument in ["id", "shape"] {
        let reference = r#""ref":{"type":"ref/resource","uri":"secret://of/{id}"}"#;
        let argument = format!(r#""argument":{{"name":"{argument}","value":""}}"#);
        all.push(("completion/complete", format!("{reference},{argument}")));
    }
    for name in ["secret_1", "secret_2", "secret_3", "secret_"] {
        all.push(("tools/call", format!(r#""name":"{name}""#)));
        // GAP-2: the capability that a tool needs comes before the params.
        all.push(("tools/call", format!(r#""name":"{name}","arguments":5"#)));
        let level = r#""io.modelcontextprotocol/logLevel":"loud","#;
        all.push((
            "tools/call",
            format!(r#""name":"{name}","_meta":{{{level}"#),
        ));
    }
    for name in ["secret_poem", "secret_poet"] {
        all.push(("prompts/get", format!(r#""name":"{name}""#)));
        let reference = format!(r#""ref":{{"type":"ref/prompt","name":"{name}"}}"#);
        for argument in ["form", "shape"] {
            let argument = format!(r#""argument":{{"name":"{argument}","value":""}}"#);
            all.push(("completion/complete", format!("{reference},{argument}")));
        }
    }
    for (method, item) in [
        ("tools/list", "tool:secret_1"),
        ("tools/list", "tool:secret_3"),
        ("tools/list", "tool:tools_a"),
        ("prompts/list", "prompt:secret_poem"),
        ("resources/list", "resource:secret://a"),
        (
            "resources/templates/list",
            "resource template:secret://of/{id}",
        ),
    ] {
        let cursor = URL_SAFE_NO_PAD.encode(item);
        all.push((method, format!(r#""cursor":"{cursor}""#)));
    }
    all
}

/// The messages of [`requests`]. A modern one has its members of `_meta` beside those that it needs.
fn messages(way: Way) -> Vec<String> {
    let requests = requests().into_iter().enumerate();
    let messages = requests.map(|(at, (method, params))| {
        let id = (at + 1).to_string();
        let Some((params, meta)) = params.split_once(r#","_meta":{"#) else {
            return way.request(&id, method, &params);
        };
        way.request(&id, method, params).replacen(
            r#""_meta":{"#,
            &format!(r#""_meta":{{{meta}"#),
            1,
        )
    });
    messages.collect()
}

// I-2, V-10: to a caller that does not see it, a server answers everything as one would that does not have it.
#[tokio::test]
async fn hidden_is_unknown() {
    let hiding = guarded(|viewer, _| is_trusted(viewer)).build().unwrap();
    let without = open().build().unwrap();
    for way in WAYS {
        let messages = messages(way);
        let hidden = way.answers(&hiding, &messages).await;
        let unknown = way.answers(&without, &messages).await;
        assert_eq!(hidden.len(), messages.len(), "{way:?}");
        for ((message, hidden), unknown) in messages.iter().zip(&hidden).zip(&unknown) {
            assert_eq!(hidden, unknown, "{way:?} {message}");
        }
    }
}

fn code(answer: &Value) -> Option<i64> {
    answer["error"]["code"].as_i64()
}

/// The names in the list of an answer.
fn names(answer: &Value) -> Vec<&str> {
    let result = &answer["result"];
    let list = result["tools"].as_array().or(result["prompts"].as_array());
    let items = list.expect("a list").iter();
    items.map(|item| item["name"].as_str().unwrap()).collect()
}

// The same server, asked by somebody who sees everything: a header over HTTP, a principal in this process.
#[tokio::test]
async fn seen_by_those_who_may() {
    let service = guarded(|viewer, _| is_trusted(viewer)).build().unwrap();
    let http = service.clone().into_http_service().unwrap();
    let way = WAYS[3];
    let ask = async |token: &str, method: &str, params: &str| {
        let message = way.request("1", method, params);
        let mut headers = headers_of(&message);
        headers.push(("authorization".to_owned(), token.to_owned()));
        post(&http, &headers, message.into_bytes()).await.2.unwrap()
    };
    for (token, tools, prompts) in [
        (
            "Bearer x",
            vec!["secret_1", "tools_a"],
            vec!["secret_poem", "poem"],
        ),
        ("Bearer y", vec!["tools_a"], vec!["poem"]),
        (
            "Bearer x",
            vec!["secret_1", "tools_a"],
            vec!["secret_poem", "poem"],
        ),
    ] {
        assert_eq!(names(&ask(token, "tools/list", "").await), tools, "{token}");
        assert_eq!(
            names(&ask(token, "prompts/list", "").await),
            prompts,
            "{token}"
        );
    }
    let answer = ask("Bearer x", "tools/call", r#""name":"secret_1""#).await;
    assert_eq!(answer["result"]["content"][0]["text"], "ok", "{answer}");
    // C-10: the capability that the tool needs is asked for where the tool is seen, malformed params or not.
    for params in [r#""name":"secret_2""#, r#""name":"secret_2","arguments":5"#] {
        assert_eq!(
            code(&ask("Bearer x", "tools/call", params).await),
            Some(-32021)
        );
        assert_eq!(
            code(&ask("Bearer y", "tools/call", params).await),
            Some(-32602)
        );
    }

    for revision in Revision::ALL {
        let options = ClientOptions::at(revision).principal(Principal::new("ann"));
        let ann = service.connect_as(options).await.unwrap();
        assert_eq!(ann.list_tools().await.unwrap().len(), 4, "{revision}");
        assert!(ann.call_tool("secret_3", ()).await.is_ok(), "{revision}");
        assert!(
            ann.get_prompt("secret_poem", ()).await.is_ok(),
            "{revision}"
        );
        for (uri, listed) in [("secret://a", 2), ("secret://of/1", 2)] {
            assert!(ann.read_resource(uri).await.is_ok(), "{revision} {uri}");
            assert_eq!(ann.list_resources().await.unwrap().len(), listed);
            assert_eq!(ann.list_resource_templates().await.unwrap().len(), listed);
        }
        let options = ClientOptions::at(revision).principal(Principal::new("bob"));
        let bob = service.connect_as(options).await.unwrap();
        assert_eq!(bob.list_tools().await.unwrap().len(), 1, "{revision}");
        assert!(bob.call_tool("secret_3", ()).await.is_err(), "{revision}");
        for uri in ["secret://a", "secret://of/1"] {
            assert!(bob.read_resource(uri).await.is_err(), "{revision} {uri}");
            assert_eq!(bob.list_resources().await.unwrap().len(), 1);
            assert_eq!(bob.list_resource_templates().await.unwrap().len(), 1);
        }
    }
}

async fn pages(service: &Service, caller: &str) -> Vec<Vec<String>> {
    let options = ClientOptions::new().principal(Principal::new(caller.to_owned()));
    let client = service.connect_as(options).await.unwrap();
    let mut params = PaginatedRequestParams::default();
    let mut pages = Vec::new();
    loop {
        let page = client
            .request::<methods::ListTools>(params.clone())
            .await
            .unwrap();
        pages.push(page.tools.into_iter().map(|tool| tool.name).collect());
        params.cursor = page.next_cursor;
        if params.cursor.is_none() {
            return pages;
        }
    }
}

// P-1, P-3: each caller has full pages of what it sees, and cursors that lead through them.
#[tokio::test]
async fn pages_of_each_caller() {
    let names = [
        "own_bob",
        "a",
        "own_ann",
        "b",
        "own_bob_2",
        "own_ann_2",
        "c",
        "d",
    ];
    let server = names
        .into_iter()
        .fold(Server::new("shelves", "1").page_size(2), |server, name| {
            server.tools(tool(name))
        })
        .visible(|viewer, offer| {
            let caller = viewer.principal().map_or("", Principal::subject);
            !offer.name().starts_with("own_") || offer.name()[4..].starts_with(caller)
        });
    let service = server.build().unwrap();
    for _ in 0..2 {
        let ann = [vec!["a", "own_ann"], vec!["b", "own_ann_2"], vec!["c", "d"]];
        assert_eq!(pages(&service, "ann").await, ann);
        let bob = [vec!["own_bob", "a"], vec!["b", "own_bob_2"], vec!["c", "d"]];
        assert_eq!(pages(&service, "bob").await, bob);
        let carl = [vec!["a", "b"], vec!["c", "d"]];
        assert_eq!(pages(&service, "carl").await, carl);
    }
    // What is disabled is left out for everyone.
    assert!(service.handle().enable_tool("a", false));
    let carl = [vec!["b", "c"], vec!["d"]];
    assert_eq!(pages(&service, "carl").await, carl);
}

// Y-4, I-2: headers that the client mirrors from its message, and its session, do not make it show something.
#[tokio::test]
async fn mirrored_headers_are_not_shown() {
    let seen = Arc::<Collected<String>>::default();
    let service = guarded({
        let seen = seen.clone();
        move |viewer, offer| {
            for name in [
                "Mcp-Name",
                "mcp-method",
                "MCP-Protocol-Version",
                "mcp-param-x",
                "mcp-session-id",
                "accept-language",
                "x-twice",
                "x-none",
            ] {
                if let Some(value) = viewer.header(name) {
                    seen.push(format!(
                        "{:?} {}: {name}: {value}",
                        offer.kind(),
                        offer.name()
                    ));
                }
            }
            assert!(matches!(offer.kind(), OfferKind::Tool | OfferKind::Prompt));
            assert!(!format!("{viewer:?}").contains("language"), "may be secret");
            true
        }
    });
    let http = service.build().unwrap().into_http_service().unwrap();
    let message = WAYS[3].request("1", "tools/call", r#""name":"secret_1""#);
    let mut headers = headers_of(&message);
    for (name, value) in [
        ("mcp-param-x", "1"),
        ("accept-language", "  de "),
        ("x-twice", "1"),
        ("x-twice", "2"),
    ] {
        headers.push((name.to_owned(), value.to_owned()));
    }
    let answer = post(&http, &headers, message.into_bytes()).await.2.unwrap();
    assert_eq!(answer["result"]["content"][0]["text"], "ok", "{answer}");
    assert_eq!(seen.take(), ["Tool secret_1: accept-language: de"]);
}

// A predicate that panics hides the item, and the server goes on.
#[tokio::test]
async fn a_predicate_that_panics() {
    let service = guarded(|_, _| panic!("meant to")).build().unwrap();
    let told = log();
    let client = service.connect().await.unwrap();
    assert_eq!(client.list_tools().await.unwrap().len(), 1);
    told.take();
    assert!(client.call_tool("secret_1", ()).await.is_err());
    let told = told.take();
    // One for the name, and one for each that the message could have listed.
    let errors = told.iter().filter(|line| line.starts_with("ERROR"));
    assert_eq!(errors.count(), 4, "{told:#?}");
    let parts = ["a predicate of `Server::visible` panicked", "meant to"];
    assert_logged(&told[..1], "ERROR", &parts);
    assert!(client.call_tool("tools_a", ()).await.is_ok());
}

// Each predicate must hold, and one of a merged server is not dropped without a word.
#[tokio::test]
async fn several_predicates() {
    let calls = Arc::new(AtomicUsize::new(0));
    let server = guarded(|_, offer| offer.name() != "secret_1").visible({
        let calls = calls.clone();
        move |_, offer| {
            calls.fetch_add(1, Ordering::Relaxed);
            offer.name() != "secret_3"
        }
    });
    let client = server.connect().await.unwrap();
    let tools = client.list_tools().await.unwrap();
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["tools_a", "secret_2"]);
    assert_eq!(
        calls.load(Ordering::Relaxed),
        3,
        "not for what is hidden already"
    );

    for nested in [false, true] {
        let inner = guarded(|_, _| true);
        let server = match nested {
            true => open().nest("in", inner),
            false => open().merge(inner),
        };
        let problem = server.build().unwrap_err().to_string();
        assert!(
            problem.contains("the merged server `safe` limits what callers see; call `visible`"),
            "{problem}"
        );
    }
}
