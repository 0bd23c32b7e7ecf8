use rmcp::{
    ServerHandler, ServiceExt, handler::server::wrapper::Parameters, tool, tool_handler,
    tool_router,
};
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

struct Calc;

#[tool_router]
impl Calc {
    /// Add two numbers.
    #[tool]
    fn add(&self, Parameters(Add { a, b }): Parameters<Add>) -> String {
        (a + b).to_string()
    }
}

#[tool_handler(name = "calc", version = "1.0.0")]
impl ServerHandler for Calc {}

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    Calc.serve(rmcp::transport::stdio())
        .await?
        .waiting()
        .await?;
    Ok(())
}
