//! `agent COMMAND [ARGUMENT]…` starts an MCP server, and `agent URL` connects to one. It lists the tools, and calls one for each line of
//! standard input: its name, and its arguments as JSON. What the server writes to standard error is shown on standard error.

#![allow(clippy::print_stdout, reason = "this is what the user sees")]

use std::process::ExitCode;

use agent::Agent;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use trueform::{client::ServerCommand, schema::ProgressNotificationParams};

#[tokio::main]
async fn main() -> ExitCode {
    tracing_subscriber::fmt()
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .init();
    let mut words = std::env::args_os().skip(1);
    let Some(program) = words.next() else {
        eprintln!("usage: agent COMMAND [ARGUMENT]…, or agent URL");
        return ExitCode::from(2);
    };
    let url = program
        .to_str()
        .filter(|word| word.starts_with("http://") || word.starts_with("https://"));
    let mut agent = match url {
        Some(url) => Agent::at(url),
        None => Agent::new(ServerCommand::new(program).args(words)),
    };
    match agent.tools().await {
        Ok(tools) => {
            for tool in tools {
                let description = tool.description.unwrap_or_default();
                println!("{}: {description}", tool.name);
            }
        }
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    }
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    loop {
        match lines.next_line().await {
            Ok(Some(line)) if line.trim().is_empty() => {}
            Ok(Some(line)) => println!("{}", answer(&mut agent, line.trim()).await),
            Ok(None) => break,
            Err(error) => {
                eprintln!("standard input cannot be read: {error}");
                break;
            }
        }
    }
    agent.close().await;
    ExitCode::SUCCESS
}

/// Makes the call that `line` names, such as `add {"a":2,"b":3}`.
async fn answer(agent: &mut Agent, line: &str) -> String {
    let (name, arguments) = line.split_once(char::is_whitespace).unwrap_or((line, "{}"));
    let arguments: Value = match serde_json::from_str(arguments) {
        Ok(arguments) => arguments,
        Err(error) => return format!("the arguments of `{name}` are not JSON: {error}"),
    };
    match agent.call(name, &arguments, show).await {
        Ok(result) if result.is_error == Some(true) => format!("{name} failed: {}", result.text()),
        Ok(result) => format!("{name}: {}", result.text()),
        Err(error) => format!("{name}: {error}"),
    }
}

fn show(report: ProgressNotificationParams) {
    let of = report
        .total
        .map_or_else(String::new, |total| format!(" of {total}"));
    let message = report.message.unwrap_or_default();
    println!("… {}{of} {message}", report.progress);
}
