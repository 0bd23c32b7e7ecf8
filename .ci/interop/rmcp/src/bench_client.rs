//! `rmcp-bench-client CALLS COMMAND [ARGUMENT]…` does with rmcp's client what the example `bench_client` does with Trueform's.

use rmcp::{
    ServiceExt,
    model::{CallToolRequestParams, ClientInfo},
    transport::TokioChildProcess,
};
use serde_json::json;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    const USAGE: &str = "usage: rmcp-bench-client CALLS COMMAND [ARGUMENT]…";
    let mut words = std::env::args().skip(1);
    let calls: u64 = words.next().ok_or(USAGE)?.parse()?;
    let mut command = tokio::process::Command::new(words.next().ok_or(USAGE)?);
    command.args(words);
    let client = ClientInfo::default()
        .serve(TokioChildProcess::new(command)?)
        .await?;
    for _ in 0..calls {
        let arguments = json!({ "a": 2, "b": 3 });
        let mut params = CallToolRequestParams::new("add");
        params.arguments = arguments.as_object().cloned();
        let result = client.call_tool(params).await?;
        if result.structured_content != Some(json!({ "sum": 5 })) {
            return Err(format!("not the sum: {result:?}").into());
        }
    }
    client.cancel().await?;
    Ok(())
}
