//! The server of the benchmarks, by rmcp in its cheapest shape: one router for all calls, `TCP_NODELAY`, pipes that do not block.
//!
//! `rmcp` speaks on standard input and output, `rmcp --http ADDRESS` over HTTP: sessions up to 2025-11-25, JSON answers since.
//! `TOOLS` adds as many tools, `MAX_BODY` raises the limit of a request body.

use std::{error::Error, sync::Arc, time::Duration};

use axum::serve::ListenerExt;
use rmcp::{
    Json, RoleServer, ServerHandler, ServiceExt,
    handler::server::{
        router::tool::{ToolRoute, ToolRouter},
        tool::ToolCallContext,
        wrapper::Parameters,
    },
    model::*,
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

#[derive(Deserialize, JsonSchema)]
struct Echo {
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Count {
    to: u32,
}

#[derive(Deserialize, JsonSchema)]
struct Wait {
    milliseconds: u64,
}

#[derive(Clone)]
struct Bench {
    router: Arc<ToolRouter<Self>>,
}

#[tool_router]
impl Bench {
    #[tool(description = "Add two numbers")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Echo the text")]
    async fn echo(&self, Parameters(Echo { text }): Parameters<Echo>) -> String {
        text
    }

    #[tool(description = "Count, and report each number")]
    async fn count(
        &self,
        Parameters(Count { to }): Parameters<Count>,
        context: RequestContext<RoleServer>,
    ) -> String {
        for number in 1..=to {
            let Some(token) = context.meta.get_progress_token() else {
                break;
            };
            let mut params = ProgressNotificationParam::new(token, number.into());
            params.total = Some(to.into());
            if context.peer.notify_progress(params).await.is_err() {
                break;
            }
        }
        to.to_string()
    }

    #[tool(description = "Wait")]
    async fn wait(&self, Parameters(Wait { milliseconds }): Parameters<Wait>) -> String {
        tokio::time::sleep(Duration::from_millis(milliseconds)).await;
        milliseconds.to_string()
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Bench {}

fn number(variable: &str) -> Option<usize> {
    std::env::var(variable).ok()?.parse().ok()
}

fn bench() -> Bench {
    let mut router = Bench::tool_router();
    let add = router
        .get("add")
        .expect("it is one of the tools above")
        .clone();
    for i in 0..number("TOOLS").unwrap_or(0) {
        let mut tool = add.clone();
        tool.name = format!("tool_{i:04}").into();
        router.add_route(ToolRoute::new_dyn(tool, |_: ToolCallContext<'_, Bench>| {
            Box::pin(async { Ok(CallToolResult::success(vec![ContentBlock::text("ok")]).into()) })
        }));
    }
    Bench {
        router: Arc::new(router),
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let bench = bench();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let ["--http", address] = arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] else {
        let running = bench.serve(rmcp::transport::stdio_pipes()).await?;
        running.waiting().await?;
        return Ok(());
    };
    let mut config = StreamableHttpServerConfig::default().with_json_response(true);
    if let Some(bytes) = number("MAX_BODY") {
        config = config.with_max_request_body_bytes(bytes);
    }
    let service = StreamableHttpService::new(
        move || Ok(bench.clone()),
        LocalSessionManager::default().into(),
        config,
    );
    let app = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    let listener = listener.tap_io(|socket| {
        if let Err(problem) = socket.set_nodelay(true) {
            eprintln!("{problem}");
        }
    });
    let mut stop = tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
    tokio::select! {
        ended = axum::serve(listener, app).into_future() => ended?,
        _ = stop.recv() => {}
    }
    Ok(())
}
