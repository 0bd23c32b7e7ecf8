//! What a healthy server must do.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use serde_json::{Value, json};
use tokio::{sync::mpsc, time::timeout};
use trueform::{
    client::{Client, ClientError, ClientOptions, LocalError, StrayKind},
    schema::{
        CallToolResult, ContentBlock, Era, PromptReference, RequestParams, ResourceContents,
        SubscribeRequestParams, SubscriptionFilter,
        methods::{Ping, ResourceUpdated, Subscribe, ToolListChanged},
    },
};

use crate::{
    Failure,
    foreign::{CLOSE_WAIT, Foreign, Transport, children},
    plan::{Call, Waits},
    report::Report,
};

/// How long a check waits for an unsolicited message of a server, such as a notification.
const SOON: Duration = Duration::from_secs(10);
/// How many calls run at once.
const MANY: i64 = 32;

/// Connects, checks all that the plan has, and closes.
pub(crate) async fn all(
    report: &mut Report,
    foreign: &Foreign,
    in_era: Era,
    options: &ClientOptions,
) {
    let plan = &foreign.plan;
    let connecting = async { Ok(foreign.connect(options.clone()).await?) };
    let Some(client) = report.check("connect", connecting).await else {
        return;
    };
    let c = &client;
    report.note(&format!("speaks {}", c.revision()));
    report.check("era", era(c, in_era)).await;
    report.check("tools", tools(c, plan.tools)).await;
    for call in &plan.calls {
        let what = format!("call of {}", call.0);
        report.check(&what, answers(c, call)).await;
    }
    if let Some((tool, arguments, expected)) = &plan.typed {
        let typed = typed(c, tool, arguments, expected);
        report.check("typed output", typed).await;
        report
            .check("many at once", many(c, tool, arguments, expected))
            .await;
    }
    if let Some(call) = &plan.fails {
        report.check("a tool that fails", fails(c, call)).await;
    }
    if let Some(found) = report.check("an unknown tool", unknown_tool(c)).await {
        report.note(&format!("an unknown tool: {found}"));
    }
    if let Some((tool, arguments, expected)) = &plan.progress {
        report
            .check("progress", progress(c, tool, arguments, expected))
            .await;
    }
    if let Some(waits) = &plan.waits {
        report.check("cancelled by drop", dropped(c, waits)).await;
        report
            .check("cancelled by timeout", timed_out(c, waits))
            .await;
    }
    if let Some((uri, part)) = plan.resource {
        report.check("resource", resource(c, uri, part)).await;
    }
    if let Some((template, uri, part)) = plan.template {
        report
            .check("template", templated(c, template, uri, part))
            .await;
    }
    if let Some(prompt) = &plan.prompt {
        report.check("prompt", prompted(c, prompt)).await;
        if let Some((argument, typed, expected)) = &plan.completes {
            let completed = completed(c, prompt.0, argument, typed, expected);
            report.check("completion", completed).await;
        }
    }
    if let Some(tool) = plan.changes
        && let Some(how) = report.check("change of the list", changes(c, tool)).await
    {
        report.note(&how);
    }
    if let Some((uri, _)) = plan.resource.filter(|_| plan.subscribes) {
        report.check("subscription", subscription(c, uri)).await;
    }
    if let Some(call) = &plan.task {
        report.check("task", task(c, call)).await;
    }
    if c.revision().era() == Era::Legacy {
        let ping = async {
            Ok(c.request::<Ping>(RequestParams::default())
                .await
                .map(drop)?)
        };
        report.check("ping", ping).await;
    }
    for kind in [
        StrayKind::LateAnswer,
        StrayKind::UnknownId,
        StrayKind::Malformed,
        StrayKind::UnknownNotification,
        StrayKind::NotAllowed,
        StrayKind::UnknownSubscription,
        StrayKind::LateProgress,
        StrayKind::UnknownProgress,
    ] {
        let count = c.stray_count(kind);
        if count > 0 {
            report.note(&format!(
                "{count} messages that nothing waited for: {kind:?}"
            ));
        }
    }
    if let Some(took) = report
        .check("close", closed(client, foreign.transport))
        .await
        && took > CLOSE_WAIT
    {
        report.note("does not exit when its standard input is closed: it takes a SIGTERM");
    }
}

async fn era(client: &Client, expected: Era) -> Result<(), Failure> {
    let found = client.revision().era();
    if found != expected {
        return Err(format!("{expected:?} expected, found {found:?}").into());
    }
    match client.server_info() {
        Some(info) if !info.name.is_empty() => Ok(()),
        _ => Err("the server has no name".into()),
    }
}

async fn tools(client: &Client, expected: &[&str]) -> Result<(), Failure> {
    let listed = client.list_tools().await?;
    for name in expected {
        if !listed.iter().any(|tool| tool.name == *name) {
            return Err(format!("`{name}` is not listed").into());
        }
    }
    Ok(())
}

/// Fails unless `text` has `part`.
pub(crate) fn has(text: &str, part: &str) -> Result<(), Failure> {
    match text.contains(part) {
        true => Ok(()),
        false => Err(format!("`{part}` expected, found {text:?}").into()),
    }
}

/// Until the answer is there: some servers ask for roots after they are connected.
async fn answers(client: &Client, (tool, arguments, part): &Call) -> Result<(), Failure> {
    let until = Instant::now() + SOON;
    loop {
        let result = client.call_tool(*tool, arguments).await?;
        let checked = match result.is_error {
            Some(true) => Err(format!("{tool} failed: {}", result.text()).into()),
            _ => has(&all_text(&result), part),
        };
        if checked.is_ok() || Instant::now() > until {
            return checked;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

fn all_text(result: &CallToolResult) -> String {
    let texts = result.content.iter().map(|block| match block {
        ContentBlock::Text(text) => &*text.text,
        _ => "",
    });
    texts.collect::<Vec<_>>().join("\n")
}

async fn typed(
    client: &Client,
    tool: &str,
    arguments: &Value,
    expected: &Value,
) -> Result<(), Failure> {
    let found: Value = client.call_tool(tool, arguments).output().await?;
    match found == *expected {
        true => Ok(()),
        false => Err(format!("{expected} expected, found {found}").into()),
    }
}

async fn many(
    client: &Client,
    tool: &str,
    arguments: &Value,
    expected: &Value,
) -> Result<(), Failure> {
    // Each with another sum, where the tool adds.
    let calls = (0..MANY).map(|number| {
        let (client, tool) = (client.clone(), tool.to_owned());
        let (mut arguments, mut expected) = (arguments.clone(), expected.clone());
        if arguments.get("a").is_some() {
            arguments = json!({ "a": number, "b": 1000 });
            expected = json!({ "sum": number + 1000 });
        }
        tokio::spawn(async move { self::typed(&client, &tool, &arguments, &expected).await })
    });
    for call in calls.collect::<Vec<_>>() {
        call.await??;
    }
    Ok(())
}

async fn fails(client: &Client, (tool, arguments, part): &Call) -> Result<(), Failure> {
    let result = client.call_tool(*tool, arguments).await?;
    match result.is_error {
        Some(true) => has(&all_text(&result), part),
        _ => Err(format!("a failure expected, found {:?}", all_text(&result)).into()),
    }
}

/// How the server answers a call of an unknown tool.
async fn unknown_tool(client: &Client) -> Result<String, Failure> {
    match client.call_tool("no_such_tool", ()).await {
        Ok(result) if result.is_error == Some(true) => Ok("a result with `isError`".to_owned()),
        Ok(result) => Err(format!("it answered {:?}", all_text(&result)).into()),
        Err(ClientError::Remote(error)) => Ok(format!("error {}", error.code)),
        Err(error) => Err(error.into()),
    }
}

async fn progress(
    client: &Client,
    tool: &str,
    arguments: &Value,
    expected: &[f64],
) -> Result<(), Failure> {
    let reports = Arc::new(Mutex::new(Vec::new()));
    let kept = reports.clone();
    client
        .call_tool(tool, arguments)
        .on_progress(move |report| {
            let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push(report.progress);
        })
        .await?;
    let found = reports.lock().unwrap_or_else(PoisonError::into_inner);
    match *found == expected {
        true => Ok(()),
        false => Err(format!("{expected:?} expected, found {found:?}").into()),
    }
}

/// A running call, whose first progress report has arrived.
pub(crate) async fn running(
    client: &Client,
    waits: &Waits,
    limit: Option<Duration>,
) -> Result<tokio::task::JoinHandle<Result<CallToolResult, ClientError>>, Failure> {
    let (reported, mut reports) = mpsc::unbounded_channel();
    let mut call = client
        .call_tool(waits.tool, &waits.arguments)
        .on_progress(move |_| {
            // Nothing reads further reports.
            let _ = reported.send(());
        });
    if let Some(limit) = limit {
        call = call.timeout(limit);
    }
    let running = tokio::spawn(async move { call.await });
    match timeout(SOON, reports.recv()).await {
        Ok(Some(())) => Ok(running),
        _ if running.is_finished() => match running.await? {
            Ok(result) => Err(format!("it has ended: {:?}", all_text(&result)).into()),
            Err(error) => Err(error.into()),
        },
        _ => Err("it reports no progress".into()),
    }
}

async fn dropped(client: &Client, waits: &Waits) -> Result<(), Failure> {
    let before = cancelled(client, waits).await?;
    running(client, waits, None).await?.abort();
    one_more_cancelled(client, waits, before).await
}

async fn timed_out(client: &Client, waits: &Waits) -> Result<(), Failure> {
    let before = cancelled(client, waits).await?;
    let limit = Duration::from_secs(2);
    let ended = running(client, waits, Some(limit)).await?.await?;
    if !matches!(ended, Err(ClientError::Local(LocalError::TimedOut(_)))) {
        return Err(format!("no answer expected, found {ended:?}").into());
    }
    one_more_cancelled(client, waits, before).await
}

/// How many calls the server has seen cancelled.
async fn cancelled(client: &Client, waits: &Waits) -> Result<u32, Failure> {
    let Some(tool) = waits.count else {
        return Ok(0);
    };
    Ok(client.call_tool(tool, ()).await?.text().parse()?)
}

async fn one_more_cancelled(client: &Client, waits: &Waits, before: u32) -> Result<(), Failure> {
    if waits.count.is_none() {
        // The server does not show the cancellation, but the connection must still work.
        return Ok(client.list_tools().await.map(drop)?);
    }
    let until = Instant::now() + SOON;
    while cancelled(client, waits).await? != before + 1 {
        if Instant::now() > until {
            return Err("the server has not seen the cancellation".into());
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    Ok(())
}

async fn resource(client: &Client, uri: &str, part: &str) -> Result<(), Failure> {
    let listed = client.list_resources().await?;
    if !listed.iter().any(|resource| resource.uri == uri) {
        return Err(format!("`{uri}` is not listed").into());
    }
    reads(client, uri, part).await
}

async fn reads(client: &Client, uri: &str, part: &str) -> Result<(), Failure> {
    let read = client.read_resource(uri).await?;
    let text = read.contents.iter().find_map(|content| match content {
        ResourceContents::Text(text) => Some(&*text.text),
        _ => None,
    });
    has(text.unwrap_or_default(), part)
}

async fn templated(client: &Client, template: &str, uri: &str, part: &str) -> Result<(), Failure> {
    let listed = client.list_resource_templates().await?;
    if !listed.iter().any(|listed| listed.uri_template == template) {
        return Err(format!("`{template}` is not listed").into());
    }
    reads(client, uri, part).await
}

async fn prompted(client: &Client, (name, arguments, part): &Call) -> Result<(), Failure> {
    let listed = client.list_prompts().await?;
    if !listed.iter().any(|prompt| prompt.name == *name) {
        return Err(format!("`{name}` is not listed").into());
    }
    let got = client.get_prompt(*name, arguments).await?;
    let text = got
        .messages
        .first()
        .and_then(|message| match &message.content {
            ContentBlock::Text(text) => Some(&*text.text),
            _ => None,
        });
    has(text.unwrap_or_default(), part)
}

async fn completed(
    client: &Client,
    prompt: &str,
    argument: &str,
    typed: &str,
    expected: &[&str],
) -> Result<(), Failure> {
    let completed = client
        .complete(PromptReference::new(prompt), argument, typed)
        .await?;
    match completed.values == expected {
        true => Ok(()),
        false => Err(format!("{expected:?} expected, found {:?}", completed.values).into()),
    }
}

/// How the client learned of the change.
async fn changes(client: &Client, tool: &str) -> Result<String, Failure> {
    let mut others = client.notifications();
    let mut subscription = None;
    if client.revision().era() == Era::Modern {
        let filter = SubscriptionFilter::new().with_tools_list_changed(true);
        match client.listen(filter).await {
            Ok(listening) if listening.honoured().tools_list_changed == Some(true) => {
                subscription = Some(listening);
            }
            // Some have no subscriptions, although the revision does.
            Ok(_) => {}
            Err(ClientError::Remote(error)) if error.code == -32601 => {}
            Err(error) => return Err(error.into()),
        }
    }
    let until = Instant::now() + SOON;
    // Again, because over HTTP the stream of the notification may not be open yet.
    while Instant::now() < until {
        client.call_tool(tool, ()).await?;
        let heard = async {
            match &mut subscription {
                Some(subscription) => {
                    let changed = subscription.next().await;
                    changed.is_some_and(|changed| changed.is::<ToolListChanged>())
                }
                None => others.next_of::<ToolListChanged>().await.is_some(),
            }
        };
        match timeout(Duration::from_secs(1), heard).await {
            Ok(true) if subscription.is_some() => {
                return Ok("a change comes by the subscription".to_owned());
            }
            Ok(true) => return Ok("a change comes without a subscription".to_owned()),
            Ok(false) => return Err("the notifications have ended".into()),
            Err(_) => {}
        }
    }
    Err("nothing was heard of the change".into())
}

async fn subscription(client: &Client, uri: &str) -> Result<(), Failure> {
    let mut notifications = client.notifications();
    client
        .request::<Subscribe>(SubscribeRequestParams::new(uri))
        .await?;
    // A tool of the server `everything`.
    client.call_tool("toggle-subscriber-updates", ()).await?;
    let updated = timeout(SOON, notifications.next_of::<ResourceUpdated>()).await;
    client.call_tool("toggle-subscriber-updates", ()).await?;
    match updated {
        Ok(Some(params)) if params.uri == uri => Ok(()),
        other => Err(format!("an update of {uri} expected, found {other:?}").into()),
    }
}

async fn task(client: &Client, (tool, arguments, part): &Call) -> Result<(), Failure> {
    let task = client.call_tool(*tool, arguments).as_task().await?;
    if task.id().is_none() {
        return Err("it did not become a task".into());
    }
    has(&all_text(&task.result().await?), part)
}

/// How long it took. A child process must have ended by then.
async fn closed(client: Client, transport: Transport) -> Result<Duration, Failure> {
    let start = Instant::now();
    client.close().await;
    let took = start.elapsed();
    match (transport, children()?.as_slice()) {
        (Transport::Stdio, [pid, ..]) => Err(format!("the process {pid} still runs").into()),
        _ => Ok(took),
    }
}
