//! A server of rmcp: both eras. `interop-rmcp [--http PORT]`. It offers what `servers/offered.mjs` does, as far as rmcp has it.

use std::sync::atomic::{AtomicU32, Ordering};

use rmcp::{
    ErrorData, Json, RoleServer, ServerHandler, ServiceExt,
    handler::server::{tool::InputResponses, wrapper::Parameters},
    model::*,
    service::RequestContext,
    tool, tool_handler, tool_router,
    transport::streamable_http_server::{
        StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
    },
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

const NAMES: [&str; 3] = ["Ada", "Alan", "Grace"];

static CANCELLED: AtomicU32 = AtomicU32::new(0);

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
struct Count {
    to: u32,
}

#[derive(Clone)]
struct Offered;

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

async fn progress(context: &RequestContext<RoleServer>, progress: f64, total: Option<f64>) {
    let Some(token) = context.meta.get_progress_token() else {
        return;
    };
    let mut params = ProgressNotificationParam::new(token, progress);
    params.total = total;
    // The client may have gone.
    let _ = context.peer.notify_progress(params).await;
}

fn question() -> ElicitRequestParams {
    let schema = json!({ "type": "object", "properties": { "name": { "type": "string" } }, "required": ["name"] });
    ElicitRequestParams::FormElicitationParams {
        meta: None,
        message: "Who are you?".to_owned(),
        requested_schema: serde_json::from_value(schema).expect("this is a schema"),
    }
}

#[allow(deprecated)]
fn sampling() -> CreateMessageRequestParams {
    CreateMessageRequestParams::new(vec![SamplingMessage::user_text("Say something.")], 10)
}

fn is_legacy(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version() < Some(ProtocolVersion::V_2026_07_28)
}

fn internal(error: impl std::fmt::Display) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

#[tool_router]
impl Offered {
    #[tool(description = "Add two numbers.")]
    async fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> Json<Sum> {
        Json(Sum { sum: a + b })
    }

    #[tool(description = "Fail.")]
    async fn fail(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("failed on purpose")])
    }

    #[tool(description = "Count, and say how far it is.")]
    async fn count(
        &self,
        Parameters(Count { to }): Parameters<Count>,
        context: RequestContext<RoleServer>,
    ) -> String {
        for number in 1..=to {
            progress(&context, number.into(), Some(to.into())).await;
        }
        "counted".to_owned()
    }

    #[tool(description = "Wait until the call is cancelled.")]
    async fn wait(&self, context: RequestContext<RoleServer>) -> String {
        progress(&context, 1.0, None).await;
        context.ct.cancelled().await;
        CANCELLED.fetch_add(1, Ordering::Relaxed);
        "cancelled".to_owned()
    }

    #[tool(description = "How many calls of `wait` were cancelled.")]
    async fn cancelled(&self) -> String {
        CANCELLED.load(Ordering::Relaxed).to_string()
    }

    #[tool(description = "Ask the user for a name.")]
    async fn ask(
        &self,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let content = if is_legacy(&context) {
            let result = context.peer.create_elicitation(question()).await;
            serde_json::to_value(result.map_err(internal)?).map_err(internal)?
        } else if let Some(answer) = responses.as_ref().and_then(|all| all.get("name")) {
            serde_json::to_value(answer).map_err(internal)?
        } else {
            let mut requests = InputRequests::new();
            let asked = InputRequest::Elicitation(ElicitRequest::new(question()));
            requests.insert("name".to_owned(), asked);
            return Ok(InputRequiredResult::new(Some(requests), None).into());
        };
        let name = content["content"]["name"].as_str().unwrap_or("nobody");
        Ok(text(format!("You are {name}.")).into())
    }

    #[allow(deprecated)]
    #[tool(description = "Have the model say something.")]
    async fn sample(
        &self,
        InputResponses(responses): InputResponses,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let said = if is_legacy(&context) {
            let result = context.peer.create_message(sampling()).await;
            serde_json::to_value(result.map_err(internal)?).map_err(internal)?
        } else if let Some(answer) = responses.as_ref().and_then(|all| all.get("said")) {
            serde_json::to_value(answer).map_err(internal)?
        } else {
            let mut requests = InputRequests::new();
            let asked = InputRequest::CreateMessage(CreateMessageRequest::new(sampling()));
            requests.insert("said".to_owned(), asked);
            return Ok(InputRequiredResult::new(Some(requests), None).into());
        };
        let model = said["model"].as_str().unwrap_or_default();
        let words = said["content"]["text"].as_str().unwrap_or_default();
        Ok(text(format!("{model} says: {words}")).into())
    }

    #[tool(description = "Say that the tools have changed.")]
    async fn change(&self, context: RequestContext<RoleServer>) -> Result<String, ErrorData> {
        let sent = context.peer.notify_tool_list_changed().await;
        sent.map_err(internal)?;
        Ok("changed".to_owned())
    }
}

#[tool_handler]
impl ServerHandler for Offered {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            .enable_prompts()
            .enable_completions()
            .build();
        ServerConfig::new(capabilities)
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let note = Resource::new("note://one", "note");
        Ok(ListResourcesResult::with_all_items(vec![note]))
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let notes = ResourceTemplate::new("notes://{name}", "notes");
        Ok(ListResourceTemplatesResult::with_all_items(vec![notes]))
    }

    async fn read_resource(
        &self,
        params: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = params.uri;
        let text = match uri.strip_prefix("notes://") {
            Some(name) => format!("The note of {name}."),
            None if uri == "note://one" => "The note.".to_owned(),
            None => return Err(ErrorData::resource_not_found("no such note", None)),
        };
        Ok(ReadResourceResult::new(vec![ResourceContents::text(text, uri)]).into())
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        let name = PromptArgument::new("name").with_required(true);
        let greet = Prompt::new("greet", Some("Greet somebody."), Some(vec![name]));
        Ok(ListPromptsResult::with_all_items(vec![greet]))
    }

    async fn get_prompt(
        &self,
        params: GetPromptRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let arguments = params.arguments.unwrap_or_default();
        let name = arguments.get("name").and_then(|name| name.as_str());
        let message = format!("Greet {}.", name.unwrap_or("nobody"));
        let message = PromptMessage::new_text(Role::User, message);
        Ok(GetPromptResult::new(vec![message]).into())
    }

    async fn complete(
        &self,
        params: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        let typed = params.argument.value;
        let names = NAMES.iter().filter(|name| name.starts_with(&typed));
        let values = names.map(|name| (*name).to_owned()).collect();
        let completion = CompletionInfo::new(values).map_err(internal)?;
        Ok(CompleteResult::new(completion))
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => {
            let serving = Offered.serve(rmcp::transport::stdio()).await?;
            serving.waiting().await?;
        }
        ["--http", port] => {
            let service = StreamableHttpService::new(
                || Ok(Offered),
                LocalSessionManager::default().into(),
                StreamableHttpServerConfig::default(),
            );
            let app = axum::Router::new().nest_service("/mcp", service);
            let address = ("127.0.0.1", port.parse::<u16>()?);
            axum::serve(tokio::net::TcpListener::bind(address).await?, app).await?;
        }
        _ => return Err("usage: interop-rmcp [--http PORT]".into()),
    }
    Ok(())
}
