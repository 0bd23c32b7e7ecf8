//! The official conformance suite starts `conformance_client URL` for each of its client scenarios. Environment variables name the
//! scenario and the revision; see the documentation of the suite.

mod scenarios;
mod user;

use std::{env, process::ExitCode, time::Duration};

use serde_json::Value;
use trueform::{
    client::{Client, ClientOptions, HttpEndpoint, Negotiation},
    schema::{ClientCapabilities, Era, Implementation, Revision},
};

/// Longest run, a little shorter than the timeout of the suite.
const LONGEST: Duration = Duration::from_secs(25);

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let outcome = tokio::time::timeout(LONGEST, run()).await;
    let outcome = outcome.unwrap_or_else(|_| Err(format!("not done after {LONGEST:?}").into()));
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<(), Failure> {
    let url = env::args().nth(1).ok_or("usage: conformance_client URL")?;
    let scenario = env::var("MCP_CONFORMANCE_SCENARIO")?;
    let version = env::var("MCP_CONFORMANCE_PROTOCOL_VERSION")?;
    let revision = Revision::from_wire(&version)
        .ok_or_else(|| format!("the revision `{version}` is not known"))?;
    let context: Value = match env::var("MCP_CONFORMANCE_CONTEXT") {
        Ok(text) => serde_json::from_str(&text)?,
        Err(_) => Value::Null,
    };

    let user = user::User::default();
    let negotiation = match revision.era() {
        // The probe of a client of both eras: some scenarios test how it reacts to the answer.
        Era::Modern => Negotiation::Automatic,
        Era::Legacy => Negotiation::Exactly(revision),
    };
    let declared = serde_json::json!({ "elicitation": {}, "roots": {}, "sampling": {} });
    let capabilities: ClientCapabilities = serde_json::from_value(declared)?;
    let options = ClientOptions::new()
        .info(Implementation::new(
            "conformance_client",
            env!("CARGO_PKG_VERSION"),
        ))
        .negotiation(negotiation)
        .capabilities(capabilities)
        .handler(user.clone());
    let client = HttpEndpoint::new(url).connect_as(options).await?;
    if client.revision() != revision {
        return Err(format!("expected {revision}, found {}", client.revision()).into());
    }
    user.knows(&client);
    let played = scenarios::play(&client, &scenario, &context).await;
    user.forget();
    Client::close(client).await;
    played
}
