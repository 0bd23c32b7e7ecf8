//! `interop_client SERVER stdio|http COMMAND [ARGUMENT]…` tests the client against a server of another library. It connects in each era
//! that the server has, uses everything that the server offers, kills it in the middle of a call, starts it again, and pauses it for a
//! while.
//!
//! SERVER names what the server offers: see [`plan`]. COMMAND starts it; `{dir}` in an argument stands for a temporary folder. The
//! program prints one line for each check, and `N passed, N failed` at the end. The exit code is 0 if there were checks and none failed.

#![allow(clippy::print_stdout, reason = "the report is what the program is for")]

mod checks;
mod faults;
mod foreign;
mod plan;
mod report;
mod user;

use std::{env, process::ExitCode};

use trueform::{
    client::{ClientOptions, Negotiation},
    schema::{ClientCapabilities, Era, Implementation, Revision},
};

use crate::{
    foreign::{Foreign, Transport},
    plan::Plan,
    report::Report,
    user::User,
};

type Failure = Box<dyn std::error::Error + Send + Sync>;

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .with_max_level(tracing_subscriber::filter::LevelFilter::WARN)
        .init();
    match run().await {
        Ok(report) => report.end(),
        Err(failure) => {
            eprintln!("{failure}");
            ExitCode::FAILURE
        }
    }
}

async fn run() -> Result<Report, Failure> {
    const USAGE: &str = "usage: interop_client SERVER stdio|http COMMAND [ARGUMENT]…";
    let mut words = env::args().skip(1);
    let name = words.next().ok_or(USAGE)?;
    let transport = match words.next().as_deref() {
        Some("stdio") => Transport::Stdio,
        Some("http") => Transport::Http,
        _ => return Err(USAGE.into()),
    };
    let command: Vec<String> = words.collect();
    if command.is_empty() {
        return Err(USAGE.into());
    }
    let folder = foreign::Folder::new(&name)?;
    let plan = Plan::of(&name, folder.path()).ok_or_else(|| {
        format!(
            "no plan for the server `{name}`; there are {}",
            plan::NAMES.join(", ")
        )
    })?;

    let mut report = Report::new(&name, transport);
    let mut foreign = Foreign::new(plan, transport, command, &folder)?;
    for &era in foreign.plan.eras {
        report.of(era);
        foreign.start().await?;
        let options = options(era, &foreign);
        checks::all(&mut report, &foreign, era, &options).await;
        faults::all(&mut report, &mut foreign, &options).await;
        foreign.end().await?;
    }
    Ok(report)
}

/// How the client connects. The first era of a server is the one that the client must find out.
fn options(era: Era, foreign: &Foreign) -> ClientOptions {
    let declared = serde_json::json!({
        "elicitation": { "form": {}, "url": {} },
        "roots": {},
        "sampling": {},
    });
    let capabilities: ClientCapabilities =
        serde_json::from_value(declared).expect("these are capabilities");
    let negotiation = match foreign.plan.eras.first() == Some(&era) {
        true => Negotiation::Automatic,
        false => Negotiation::Offer(Revision::LATEST_LEGACY),
    };
    ClientOptions::new()
        .info(Implementation::new(
            "interop_client",
            env!("CARGO_PKG_VERSION"),
        ))
        .negotiation(negotiation)
        .capabilities(capabilities)
        // Python takes its time on a busy machine.
        .probe_timeout(foreign::START)
        .timeout(foreign::START)
        .handler(User::new(foreign.root()))
}
