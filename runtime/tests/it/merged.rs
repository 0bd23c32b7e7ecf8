//! Servers made of servers: everything that one offers is offered by the other, and clashes are named at the start.

use serde_json::json;
use trueform::{
    client::ClientOptions,
    layer::ConcurrencyLimit,
    prelude::*,
    schema::{
        SubscriptionFilter,
        methods::{PromptListChanged, ToolListChanged},
    },
};

use crate::support::soon;

/// Says where it is.
#[tool]
fn place() -> &'static str {
    "inside"
}

/// Asks for a place.
#[prompt]
fn ask_place(
    /// The town.
    #[arg(complete = ["Oslo", "Rome"])]
    town: String,
) -> String {
    format!("Where is {town}?")
}

/// The map.
#[resource("map://all")]
fn map() -> &'static str {
    "map"
}

/// A map of a town.
#[resource("map://towns/{town}")]
fn town(town: String) -> String {
    format!("map of {town}")
}

fn inner() -> Server {
    Server::new("inner", "1")
        .tools(tools![place])
        .prompts(prompts![ask_place])
        .resources(resources![map, town])
}

#[tokio::test]
async fn nested_under_a_prefix() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let outer = Server::new("outer", "1")
            .tools(tools![place])
            .prompts(prompts![ask_place])
            .nest("sub", inner());
        let client = outer.connect_as(ClientOptions::at(revision)).await.unwrap();
        let tools = client.list_tools().await.unwrap();
        let tools: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
        assert_eq!(tools, ["place", "sub_place"]);
        let prompts = client.list_prompts().await.unwrap();
        let prompts: Vec<_> = prompts.iter().map(|prompt| &*prompt.name).collect();
        assert_eq!(prompts, ["ask_place", "sub_ask_place"]);
        let asked = client
            .get_prompt("sub_ask_place", json!({ "town": "Oslo" }))
            .await
            .unwrap();
        assert_eq!(asked.text(), "Where is Oslo?");
        let reference = trueform::schema::PromptReference::new("sub_ask_place");
        let completed = client.complete(reference, "town", "R").await.unwrap();
        assert_eq!(completed.values, ["Rome"]);
        // URIs stay as they are.
        for (uri, expected) in [("map://all", "map"), ("map://towns/Oslo", "map of Oslo")] {
            let read = client.read_resource(uri).await.unwrap();
            assert_eq!(read.text(), expected);
        }
    }
}

#[test]
fn clashes_are_named_at_the_start() {
    let problem = |server: Server| server.build().unwrap_err().to_string();
    let merged = problem(inner().merge(inner()));
    for expected in [
        "two tools are named `place`: fn `place` at ",
        "two prompts are named `ask_place`: fn `ask_place` at ",
        "two resources have the URI `map://all`",
        "match the same URIs",
    ] {
        assert!(merged.contains(expected), "{expected}: {merged}");
    }
    let twice = inner().nest("sub", inner()).nest("sub", inner());
    let nested = problem(twice);
    for expected in [
        "two tools are named `sub_place`",
        "two prompts are named `sub_ask_place`",
        "two resources have the URI `map://all`",
    ] {
        assert!(nested.contains(expected), "{expected}: {nested}");
    }
}

// A layer that refuses calls would refuse none of the merged ones, and nobody would notice.
#[test]
fn layers_of_a_merged_server_are_an_error() {
    let limited = || inner().layer(ConcurrencyLimit::new(1));
    for server in [
        inner().merge(limited()),
        Server::new("outer", "1").nest("sub", limited()),
    ] {
        let problem = server.build().unwrap_err().to_string();
        assert!(
            problem.contains("the merged server `inner` has call layers, which would not see its calls; call `layer` on the server that it is merged into"),
            "{problem}"
        );
    }
}

#[test]
fn state_goes_along_and_clashes_by_its_type() {
    struct Db;
    let part = || Server::new("part", "1").state(Db);
    assert!(Server::new("outer", "1").merge(part()).build().is_ok());
    let twice = Server::new("outer", "1").merge(part()).merge(part());
    let problem = twice.build().unwrap_err().to_string();
    let expected = format!(
        "two values of `{}` were registered as state",
        std::any::type_name::<Db>()
    );
    assert!(problem.contains(&expected), "{problem}");
}

/// Clients of both eras hear of tools and prompts that come and go.
#[tokio::test]
async fn changes_reach_both_eras() {
    let service = inner().build().unwrap();
    let handle = service.handle();
    let connect = |revision| service.connect_as(ClientOptions::at(revision));
    let old = connect(Revision::V2025_11_25).await.unwrap();
    let new = connect(Revision::V2026_07_28).await.unwrap();
    let mut of_old = old.notifications();
    let filter = SubscriptionFilter::default()
        .with_prompts_list_changed(true)
        .with_tools_list_changed(true);
    let mut listening = new.listen(filter).await.unwrap();
    let mut prompts_heard = async || {
        soon(of_old.next_of::<PromptListChanged>()).await.unwrap();
        let heard = soon(listening.next()).await.unwrap();
        assert!(heard.is::<PromptListChanged>(), "{heard:?}");
    };
    let poem = || DynamicPrompt::new("poem").handler(|_, _| async { "" });
    handle.add_prompts(poem()).unwrap();
    prompts_heard().await;
    assert!(handle.enable_prompt("poem", false));
    prompts_heard().await;
    assert!(handle.enable_prompt("poem", true));
    prompts_heard().await;
    assert!(handle.remove_prompt("poem"));
    prompts_heard().await;

    let mut tools_heard = async || {
        soon(of_old.next_of::<ToolListChanged>()).await.unwrap();
        let heard = soon(listening.next()).await.unwrap();
        assert!(heard.is::<ToolListChanged>(), "{heard:?}");
    };
    let search =
        || DynamicTool::new("search", json!({"type": "object"})).handler(|_, _| async { "found" });
    let has = async |name: &str| {
        let mut found = Vec::new();
        for client in [&old, &new] {
            let tools = client.list_tools().await.unwrap();
            found.push(tools.iter().any(|tool| tool.name == name));
            assert_eq!(
                client.call_tool(name, ()).await.is_ok(),
                found[found.len() - 1]
            );
        }
        assert_eq!(found[0], found[1]);
        found[0]
    };
    handle.add_tools(search()).unwrap();
    tools_heard().await;
    assert!(has("search").await);
    assert!(handle.enable_tool("place", false));
    tools_heard().await;
    assert!(!has("place").await);
    assert!(handle.enable_tool("place", true));
    tools_heard().await;
    assert!(has("place").await);
    assert!(handle.remove_tool("search"));
    tools_heard().await;
    assert!(!has("search").await);
}
