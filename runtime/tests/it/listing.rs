//! What is offered: pages of the list of tools, changes while the server runs, declared capabilities.

use trueform::{
    ServerHandle,
    client::ClientOptions,
    prelude::*,
    schema::{PaginatedRequestParams, methods},
};

use crate::support;

fn tool(name: &str) -> DynamicTool {
    DynamicTool::new(name, serde_json::json!({"type": "object"}))
        .handler(|_, _| async { Ok::<_, ToolError>("ok") })
}

fn five() -> Server {
    ["a", "b", "c", "d", "e"]
        .into_iter()
        .fold(Server::new("list", "1").page_size(2), |server, name| {
            server.tools(tool(name))
        })
}

async fn page(client: &Client, cursor: Option<&str>) -> Result<(Vec<String>, Option<String>), i64> {
    let mut params = PaginatedRequestParams::default();
    params.cursor = cursor.map(str::to_owned);
    match client.request::<methods::ListTools>(params).await {
        Ok(result) => Ok((
            result.tools.into_iter().map(|tool| tool.name).collect(),
            result.next_cursor,
        )),
        Err(error) => Err(error.code().expect("the server answers")),
    }
}

// P-1, TRAP-19: pages of two, in the order of registration, at every revision.
#[tokio::test]
async fn pages() {
    for revision in Revision::ALL {
        let client = five()
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        let (first, next) = page(&client, None).await.unwrap();
        let (second, next) = page(&client, next.as_deref()).await.unwrap();
        let (third, end) = page(&client, next.as_deref()).await.unwrap();
        assert_eq!(
            [first, second, third].concat(),
            ["a", "b", "c", "d", "e"],
            "{revision}"
        );
        assert_eq!(end, None);
        assert_eq!(client.list_tools().await.unwrap().len(), 5);
    }
}

// P-3: what was never given out is refused; what was given out stays good, even if its tool is gone.
#[tokio::test]
async fn cursors() {
    let service = five().build().unwrap();
    let client = service.connect().await.unwrap();
    for garbage in ["", "garbage", "////", "YQ=="] {
        assert_eq!(
            page(&client, Some(garbage)).await,
            Err(-32602),
            "{garbage:?}"
        );
    }
    let (_, next) = page(&client, None).await.unwrap();
    // One tool less before the place the cursor names: the page still begins there.
    assert!(service.handle().remove_tool("a"));
    assert_eq!(page(&client, next.as_deref()).await.unwrap().0, ["c", "d"]);
    assert!(service.handle().remove_tool("c"));
    // The tool itself is gone: the page begins where it stood.
    assert_eq!(page(&client, next.as_deref()).await.unwrap().0, ["d", "e"]);
}

/// One of the four lists, whose items have the names `x:…`.
#[derive(Clone, Copy, Debug)]
enum List {
    Tools,
    Prompts,
    Resources,
    Templates,
}

impl List {
    const ALL: [Self; 4] = [Self::Tools, Self::Prompts, Self::Resources, Self::Templates];

    fn with(self, server: Server, name: &str) -> Server {
        match self {
            Self::Tools => server.tools(tool(name)),
            Self::Prompts => server.prompts(prompt(name)),
            Self::Resources => server.resources(resource(name)),
            Self::Templates => server.resources(template(name)),
        }
    }

    fn add(self, handle: &ServerHandle, name: &str) {
        match self {
            Self::Tools => handle.add_tools(tool(name)),
            Self::Prompts => handle.add_prompts(prompt(name)),
            Self::Resources => handle.add_resources(resource(name)),
            Self::Templates => handle.add_resources(template(name)),
        }
        .unwrap();
    }

    fn remove(self, handle: &ServerHandle, name: &str) -> bool {
        match self {
            Self::Tools => handle.remove_tool(name),
            Self::Prompts => handle.remove_prompt(name),
            Self::Resources => handle.remove_resource(&format!("x:{name}")),
            Self::Templates => handle.remove_resource(&format!("x:{name}/{{id}}")),
        }
    }

    fn enable(self, handle: &ServerHandle, name: &str, enabled: bool) -> bool {
        match self {
            Self::Tools => handle.enable_tool(name, enabled),
            Self::Prompts => handle.enable_prompt(name, enabled),
            Self::Resources => handle.enable_resource(&format!("x:{name}"), enabled),
            Self::Templates => handle.enable_resource(&format!("x:{name}/{{id}}"), enabled),
        }
    }

    async fn page(self, client: &Client, cursor: Option<String>) -> (Vec<String>, Option<String>) {
        let mut params = PaginatedRequestParams::default();
        params.cursor = cursor;
        macro_rules! page {
            ($method:ident, $items:ident) => {{
                let page = client.request::<methods::$method>(params).await.unwrap();
                let names = page.$items.into_iter().map(|item| item.name).collect();
                (names, page.next_cursor)
            }};
        }
        match self {
            Self::Tools => page!(ListTools, tools),
            Self::Prompts => page!(ListPrompts, prompts),
            Self::Resources => page!(ListResources, resources),
            Self::Templates => page!(ListResourceTemplates, resource_templates),
        }
    }
}

fn prompt(name: &str) -> DynamicPrompt {
    DynamicPrompt::new(name).handler(async |_, _| "hello")
}

fn resource(name: &str) -> DynamicResource {
    DynamicResource::new(format!("x:{name}"), name).handler(async |_| "hello")
}

fn template(name: &str) -> DynamicTemplate {
    DynamicTemplate::new(format!("x:{name}/{{id}}"), name).handler(async |_, _| "hello")
}

// P-1, P-3: while other items come, go and come again, each item that is there all the time is on exactly one page.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_while_the_list_changes() {
    const WALKS: usize = 20;
    /// More than a client needs; how often the list may change during a walk is bounded with it.
    const MAX_PAGES: usize = 100;
    let stays: Vec<String> = (0..30).map(|at| format!("stays_{at:02}")).collect();
    let moves: Vec<String> = (0..10).map(|at| format!("moves_{at}")).collect();
    let walks = async |list: List| {
        let mut server = Server::new("list", "1").page_size(3);
        for (at, name) in stays.iter().enumerate() {
            server = list.with(server, name);
            if at % 3 == 0 {
                server = list.with(server, &moves[at / 3]);
            }
        }
        let service = server.build().unwrap();
        let client = service.connect().await.unwrap();
        let (permits, permitted) = std::sync::mpsc::channel::<()>();
        let (handle, names) = (service.handle(), moves.clone());
        // Changes the list twice while each page is asked for.
        let changes = std::thread::spawn(move || {
            for ((), name) in permitted.into_iter().zip(names.iter().cycle()) {
                match name.ends_with(['2', '6']) {
                    true => {
                        assert!(list.enable(&handle, name, false));
                        assert!(list.enable(&handle, name, true));
                    }
                    false => {
                        assert!(list.remove(&handle, name));
                        list.add(&handle, name);
                    }
                }
            }
        });
        for walk in 0..WALKS {
            let (mut seen, mut cursor) = (Vec::new(), None);
            for page in 0.. {
                assert!(page < MAX_PAGES, "{list:?}, walk {walk}: {seen:?}");
                permits.send(()).unwrap();
                let (names, next) = list.page(&client, cursor).await;
                seen.extend(names.into_iter().filter(|name| name.starts_with("stays")));
                cursor = next;
                if cursor.is_none() {
                    break;
                }
            }
            assert_eq!(seen, stays, "{list:?}, walk {walk}");
        }
        drop(permits);
        changes.join().unwrap();
    };
    for list in List::ALL {
        let within = std::time::Duration::from_secs(30);
        tokio::time::timeout(within, walks(list))
            .await
            .expect("in time");
    }
}

// P-3: an item that comes again is another one, at the end. The cursor of the first one leads to what came after it.
#[tokio::test]
async fn cursors_of_what_comes_again() {
    for list in List::ALL {
        let names = ["a", "b", "c", "d", "e"];
        let server = Server::new("list", "1").page_size(2);
        let server = names
            .into_iter()
            .fold(server, |server, name| list.with(server, name));
        let service = server.build().unwrap();
        let client = service.connect().await.unwrap();
        let (first, next) = list.page(&client, None).await;
        assert_eq!(first, ["a", "b"], "{list:?}");
        assert!(list.remove(&service.handle(), "c"));
        list.add(&service.handle(), "c");
        let (second, next) = list.page(&client, next).await;
        assert_eq!(second, ["d", "e"], "{list:?}");
        assert_eq!(
            list.page(&client, next).await,
            (vec!["c".to_owned()], None),
            "{list:?}"
        );
    }
}

// P-3: a cursor leads through the list that gave it out only, also where another list has an item of the same name.
#[tokio::test]
async fn cursors_of_other_lists() {
    let mut server = Server::new("lists", "1").page_size(1);
    for uri in ["x:a", "x:b", "x:c"] {
        server = server
            .tools(tool(&uri.replace(':', "_")))
            .prompts(DynamicPrompt::new(uri.replace(':', "_")).handler(async |_, _| "hello"))
            .resources(DynamicResource::new(uri, uri).handler(async |_| "hello"))
            .resources(
                DynamicTemplate::new(format!("{uri}/{{id}}"), uri).handler(async |_, _| "hello"),
            );
    }
    let service = server.build().unwrap();
    const LISTS: [&str; 4] = [
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
    ];
    let answer = async |method: &str, params: serde_json::Value| {
        let request = support::legacy("7", method, &params.to_string());
        let opening = support::initialize("2025-11-25").into_iter();
        let lines = support::joined(opening.chain([request]));
        let answers = support::conversation(&service, lines).await;
        serde_json::from_str::<serde_json::Value>(answers.last().unwrap()).unwrap()
    };
    for from in LISTS {
        let first = answer(from, serde_json::json!({})).await;
        let params = serde_json::json!({"cursor": first["result"]["nextCursor"]});
        assert!(params["cursor"].is_string(), "{first}");
        for to in LISTS {
            let answer = answer(to, params.clone()).await;
            if from == to {
                assert!(answer["error"].is_null(), "{from}: {answer}");
                continue;
            }
            let error = &answer["error"];
            assert_eq!(error["code"], -32602, "{from} to {to}: {answer}");
            assert_eq!(error["data"]["pointer"], "/params/cursor");
            assert_eq!(error["message"], "invalid cursor");
        }
    }
}

// I-3: a change is seen by the next list and the next call, and a name is free again once its tool is gone.
#[tokio::test]
async fn changes_while_it_runs() {
    let service = five().build().unwrap();
    let client = service.connect().await.unwrap();
    let handle = service.handle();
    assert!(handle.enable_tool("b", false));
    assert!(!handle.enable_tool("b", false), "it was so already");
    assert_eq!(handle.tool_names(), ["a", "c", "d", "e"]);
    let error = client
        .call_tool("b", serde_json::json!({}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(-32602), "hidden means unreachable");
    assert!(handle.enable_tool("b", true));
    assert!(client.call_tool("b", serde_json::json!({})).await.is_ok());
    let taken = handle.add_tools(tool("e")).unwrap_err();
    assert!(
        taken.to_string().contains("two tools are named `e`"),
        "{taken}"
    );
    assert!(handle.remove_tool("e") && !handle.remove_tool("e"));
    handle.add_tools(tool("e")).unwrap();
    assert_eq!(handle.tool_names(), ["a", "b", "c", "d", "e"]);

    /// Takes what nobody registered.
    #[tool]
    fn counts(count: State<u8>) -> u8 {
        *count
    }
    let lacking = handle.add_tools(tools![counts]).unwrap_err();
    assert!(lacking.to_string().contains("`State<u8>`"), "{lacking}");
    assert_eq!(handle.tool_names().len(), 5);
}

// B-9, I-1: what is declared is what is served.
#[tokio::test]
async fn capabilities_follow_from_what_is_registered() {
    for revision in [Revision::V2025_06_18, Revision::V2026_07_28] {
        // A client of ours would not ask.
        let asks = ClientOptions::at(revision).outgoing(trueform::Policy::Warn);
        let none = Server::new("none", "1").connect_as(asks).await.unwrap();
        assert!(none.server_capabilities().tools.is_none());
        assert_eq!(page(&none, None).await, Err(-32601));
        let some = five()
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        assert_eq!(
            some.server_capabilities()
                .tools
                .as_ref()
                .unwrap()
                .list_changed,
            Some(true)
        );
    }
}

// B-8: a notification whose capability was not declared is not sent.
#[tokio::test]
async fn a_server_without_tools_does_not_say_that_they_changed() {
    for (server, hears) in [(Server::new("none", "1"), false), (five(), true)] {
        let service = server.build().unwrap();
        let legacy = ClientOptions::at(Revision::V2025_11_25);
        let client = service.connect_as(legacy).await.unwrap();
        let ping = || client.request::<methods::Ping>(Default::default());
        // The server has read `notifications/initialized` when it answers.
        ping().await.unwrap();
        let mut heard = client.notifications();
        service.handle().notify_tools_changed();
        // What was sent before the answer has arrived with it.
        ping().await.unwrap();
        let method = heard
            .try_next()
            .map(|notified| notified.method().to_owned());
        let sent = hears.then(|| "notifications/tools/list_changed".to_owned());
        assert_eq!(method, sent);
    }
}

// C-12, B-3: a server that serves one era says what it speaks to clients of the other.
#[tokio::test]
async fn narrowed_to_one_era() {
    let modern = five().revisions([Revision::V2026_07_28]).build().unwrap();
    let answers =
        support::conversation(&modern, support::initialize("2025-11-25").join("\n")).await;
    assert!(
        answers[0].contains("-32022") && answers[0].contains(r#""supported":["2026-07-28"]"#),
        "{answers:?}"
    );

    let legacy = five()
        .revisions([Revision::V2025_03_26, Revision::V2025_06_18])
        .build()
        .unwrap();
    let answers = support::conversation(&legacy, support::modern("1", "tools/list", "")).await;
    assert!(
        answers[0].contains("-32022") && answers[0].contains("2025-06-18"),
        "{answers:?}"
    );
    let answers =
        support::conversation(&legacy, support::initialize("2025-11-25").join("\n")).await;
    assert!(
        answers[0].contains(r#""protocolVersion":"2025-06-18""#),
        "{answers:?}"
    );
}

#[test]
fn no_revision_to_serve() {
    let error = five().revisions([]).build().unwrap_err();
    assert!(error.to_string().contains("no revision"), "{error}");
}
