//! The client that is measured. `bench_client CALLS COMMAND [ARGUMENT]…` starts a server and calls its tool `add` CALLS times, one call
//! after the other.

use std::process::ExitCode;

use trueform::client::{Client, ClientOptions, ServerCommand};

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
    const USAGE: &str = "usage: bench_client CALLS COMMAND [ARGUMENT]…";
    let mut words = std::env::args().skip(1);
    let calls: u64 = words.next().ok_or(USAGE)?.parse()?;
    let command = ServerCommand::new(words.next().ok_or(USAGE)?).args(words);
    let client = Client::spawn(&command, ClientOptions::new()).await?;
    for _ in 0..calls {
        let arguments = serde_json::json!({ "a": 2, "b": 3 });
        let result = client.call_tool("add", arguments).await?;
        // A refusal costs less than a call.
        let sum = result.structured_content.as_ref();
        if sum.is_none_or(|sum| sum.to_string() != r#"{"sum":5}"#) {
            return Err(format!("not the sum: {result:?}").into());
        }
    }
    client.close().await;
    Ok(())
}
