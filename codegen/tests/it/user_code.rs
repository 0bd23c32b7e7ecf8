//! Code of a user of the bindings, written before any later revision. It is compiled here against the committed bindings and,
//! by the test of regeneration, against those that know the made-up revision: neither may break it.

use std::sync::Arc;

use trueform_schema::handler::{Server, ServerHandler};
use trueform_schema::methods::Methods;
use trueform_schema::{
    At, CallToolOutcome, CallToolRequestParams, CallToolResult, CompleteRequestParams,
    CompleteResult, Completion, ContentBlock, DecodeError, ErrorObject, JsonObject,
    ListToolsResult, LoggingLevel, PaginatedRequestParams, Revision, Role, TextContent, Tool,
    decode,
};

/// A server of one tool, which also completes.
pub struct Echo;

impl ServerHandler for Echo {
    type Context = ();

    async fn list_tools(
        &self,
        (): &(),
        _: PaginatedRequestParams,
    ) -> Result<ListToolsResult, ErrorObject> {
        let tool = Tool::new(JsonObject::empty(), "echo")
            .with_title("Echo")
            .with_description("Says it again.");
        Ok(ListToolsResult::new(vec![tool]))
    }

    async fn call_tool(
        &self,
        (): &(),
        params: CallToolRequestParams,
    ) -> Result<CallToolOutcome, ErrorObject> {
        match params.name.as_str() {
            "echo" => Ok(CallToolResult::new(vec![TextContent::new("again").into()]).into()),
            other => Err(ErrorObject::new(-32602, format!("unknown tool `{other}`"))),
        }
    }

    // The made-up revision no longer has this method; earlier ones still do.
    async fn complete(
        &self,
        (): &(),
        _: CompleteRequestParams,
    ) -> Result<CompleteResult, ErrorObject> {
        Ok(CompleteResult::new(Completion::new(vec![
            "echo".to_owned(),
        ])))
    }
}

/// Answers one request at one revision.
pub async fn answer(
    revision: Revision,
    method: &str,
    params: Option<&str>,
) -> Result<String, ErrorObject> {
    let server: Arc<dyn Methods<()>> = Arc::new(Server(Echo));
    if server.rules(method, revision).is_none() {
        return Err(ErrorObject::new(-32601, "method not found"));
    }
    let request = server
        .request(revision, method, params)
        .map_err(|error| ErrorObject::new(-32602, error.to_string()))?;
    let result = request.call(()).await?;
    Ok(At::new(&*result, revision).to_string())
}

/// The kind of a content block.
pub fn kind(content: &ContentBlock) -> &'static str {
    match content {
        ContentBlock::Text(_) => "text",
        ContentBlock::Image(_) => "image",
        ContentBlock::Audio(_) => "audio",
        _ => "something else",
    }
}

/// Whether a level needs immediate attention.
pub fn is_urgent(level: &LoggingLevel) -> bool {
    matches!(level, LoggingLevel::Emergency | LoggingLevel::Alert)
}

/// Reads a tool and writes it for an older peer.
pub fn older(tool: &str) -> Result<String, DecodeError> {
    let tool: Tool = decode::from_str(tool)?;
    Ok(At::new(&tool, Revision::V2024_11_05).to_string())
}

/// The other role.
pub fn other(role: &Role) -> Role {
    match role {
        Role::User => Role::Assistant,
        _ => Role::User,
    }
}
