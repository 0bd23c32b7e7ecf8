//! The client of rmcp that is measured beside `bench_client`, with the same command line: `rmcp_client CALLS COMMAND [ARGUMENT]…` starts a
//! server and calls its tool `add` so many times, one call after the other, at 2026-07-28.

use std::process::ExitCode;

use rmcp::{
    model::{CallToolRequestParams, ProtocolVersion},
    service::{ClientLifecycleMode, ClientServiceExt},
    transport::TokioChildProcess,
};

type Failure = Box<dyn std::error::Error>;

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    const USAGE: &str = "usage: rmcp_client CALLS COMMAND [ARGUMENT]…";
    let mut words = std::env::args().skip(1);
    let calls: u64 = words.next().ok_or(USAGE)?.parse()?;
    let mut command = tokio::process::Command::new(words.next().ok_or(USAGE)?);
    command.args(words);
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = ClientLifecycleMode::Discover { preferred_versions };
    let client = ().serve_with_lifecycle(TokioChildProcess::new(command)?, lifecycle).await?;
    for _ in 0..calls {
        let serde_json::Value::Object(arguments) = serde_json::json!({ "a": 2, "b": 3 }) else {
            unreachable!("it is written as an object");
        };
        let params = CallToolRequestParams::new("add").with_arguments(arguments);
        let result = client.call_tool(params).await?;
        // A refusal costs less than a call.
        let sum = result.structured_content.as_ref();
        if sum.is_none_or(|sum| sum.to_string() != r#"{"sum":5}"#) {
            return Err(format!("not the sum: {result:?}").into());
        }
    }
    client.cancel().await?;
    Ok(())
}
