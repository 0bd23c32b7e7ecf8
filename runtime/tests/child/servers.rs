//! Servers of all kinds of behaviour.

use std::{
    io::{BufRead, Write},
    process::Command,
    time::Duration,
};

use serde_json::{Value, json};
use trueform::prelude::*;

/// The variable of the environment that says how to behave.
pub(crate) const BEHAVIOUR: &str = "TRUEFORM_TEST_CHILD";

pub(crate) fn run(behaviour: &str) {
    match behaviour {
        "serves" => serves(),
        "legacy" => legacy(|_| {}),
        "prints a banner" => {
            println!("*** my server 1.0, token secret-banner ***\n");
            println!("listening");
            legacy(|_| println!("a request came"));
        }
        "dies on discover" => legacy(|request| {
            if request["method"] == "server/discover" {
                eprintln!("what is {}?", request["method"]);
                std::process::exit(7);
            }
        }),
        "exits" => {
            eprintln!("no key\nset MY_KEY \u{1b}[31mnow");
            std::process::exit(3);
        }
        "never answers" => {
            eprintln!("thinking");
            println!("hello");
            for line in std::io::stdin().lines() {
                drop(line);
            }
        }
        #[cfg(unix)]
        "closes its output" => legacy(|request| {
            if request["method"] == "tools/call" {
                eprintln!("output closes");
                let null = std::fs::File::options().write(true).open("/dev/null");
                rustix::stdio::dup2_stdout(null.unwrap()).unwrap();
                std::thread::sleep(Duration::from_secs(3600));
            }
        }),
        "floods its log" => legacy(|request| {
            if request["method"] == "tools/call" {
                let mut stderr = std::io::stderr().lock();
                let line = format!("{}\n", "flood ".repeat(20));
                for _ in 0..200_000 {
                    stderr.write_all(line.as_bytes()).unwrap();
                }
                stderr.write_all(b"the last line\n").unwrap();
            }
        }),
        "endless line" => endless_line(),
        "endless line on a call" => legacy(|request| {
            if request["method"] == "tools/call" {
                endless_line();
            }
        }),
        "means harm" => legacy(harm),
        "holds calls" => holds_calls(),
        "stops reading" => legacy(|request| {
            if request["method"] == "tools/call" {
                std::thread::sleep(Duration::from_secs(3600));
            }
        }),
        #[cfg(unix)]
        "closes its input" => legacy(|request| {
            if request["method"] == "tools/call" {
                let null = std::fs::File::open("/dev/null");
                rustix::stdio::dup2_stdin(null.unwrap()).unwrap();
                std::thread::sleep(Duration::from_secs(3600));
            }
        }),
        #[cfg(unix)]
        "leaves a process behind" => legacy(|request| {
            if request["method"] == "tools/call" {
                let mut command = sleeper();
                // Not in the group, and with the output.
                std::os::unix::process::CommandExt::process_group(&mut command, 0);
                eprintln!("{}", command.spawn().unwrap().id());
                std::process::exit(5);
            }
        }),
        "leaves a writer behind" => legacy(|request| {
            if request["method"] == "tools/call" {
                let mut command = Command::new(std::env::current_exe().unwrap());
                command.env(BEHAVIOUR, "writes without a pause");
                std::os::unix::process::CommandExt::process_group(&mut command, 0);
                eprintln!("{}", command.spawn().unwrap().id());
                std::process::exit(5);
            }
        }),
        "floods its output" => legacy(|request| {
            if request["method"] == "tools/call" {
                write_noise();
            }
        }),
        "writes without a pause" => write_noise(),
        "sleeps" => std::thread::sleep(Duration::from_secs(3600)),
        other => panic!("no behaviour {other:?}"),
    }
}

/// A server of the legacy era, without the library. `before` runs before each request is answered.
fn legacy(before: impl Fn(&Value)) {
    for line in std::io::stdin().lock().lines() {
        let request: Value = serde_json::from_str(&line.unwrap()).unwrap();
        before(&request);
        let result = match request["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": request["params"]["protocolVersion"],
                "capabilities": { "tools": {} },
                "serverInfo": { "name": "legacy", "version": "1" },
            }),
            Some("tools/call") => json!({ "content": [{ "type": "text", "text": "called" }] }),
            _ => Value::Null,
        };
        let answer = match (request.get("id"), result) {
            (None, _) => continue,
            (Some(id), Value::Null) => {
                json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32601, "message": "no such method" } })
            }
            (Some(id), result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        };
        println!("{answer}");
    }
}

/// Holds all calls until it is sent any notification but that of the handshake, and answers then. The text of each answer is how many
/// calls were held.
fn holds_calls() {
    let mut held = Some(Vec::new());
    let mut holds = 0;
    for line in std::io::stdin().lock().lines() {
        let message: Value = serde_json::from_str(&line.unwrap()).unwrap();
        let id = message.get("id").cloned();
        match (message["method"].as_str(), id) {
            (Some("initialize"), Some(id)) => println!(
                "{}",
                json!({ "jsonrpc": "2.0", "id": id, "result": {
                    "protocolVersion": message["params"]["protocolVersion"],
                    "capabilities": { "tools": {} },
                    "serverInfo": { "name": "holds", "version": "1" },
                }})
            ),
            (Some("notifications/initialized"), _) => {}
            (_, Some(id)) => match &mut held {
                Some(held) => held.push(id),
                None => answer_call(&id, holds),
            },
            (_, None) => {
                let held = held.take().unwrap_or_default();
                holds = held.len();
                for id in held {
                    answer_call(&id, holds);
                }
            }
        }
    }
}

fn answer_call(id: &Value, holds: usize) {
    let result = json!({ "content": [{ "type": "text", "text": holds.to_string() }] });
    println!(
        "{}",
        json!({ "jsonrpc": "2.0", "id": id, "result": result })
    );
}

/// What comes before the answer to a call; the name of the tool says it.
fn harm(request: &Value) {
    let answer = |id: &Value, text: &str| {
        let result = json!({ "content": [{ "type": "text", "text": text }] });
        json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
    };
    let id = &request["id"];
    let mut stdout = std::io::stdout();
    match request["params"]["name"].as_str() {
        Some("drips") => {
            while stdout.write_all(b"{").and_then(|()| stdout.flush()).is_ok() {
                std::thread::sleep(Duration::from_millis(5));
            }
        }
        Some("slow") => {
            for byte in answer(id, "byte by byte").bytes().chain([b'\n']) {
                stdout.write_all(&[byte]).unwrap();
                stdout.flush().unwrap();
            }
        }
        Some("twice") => println!("{}\n{0}", answer(id, "first")),
        Some("others") => {
            for other in [json!(id.to_string()), json!(9999), Value::Null] {
                println!("{}", answer(&other, "of others"));
            }
        }
        Some("many") => {
            let token = &request["params"]["_meta"]["progressToken"];
            for number in 1..=MANY {
                let params = json!({ "progressToken": token, "progress": number });
                let method = "notifications/progress";
                println!(
                    "{}",
                    json!({ "jsonrpc": "2.0", "method": method, "params": params })
                );
                // 10,000 a second.
                if number % 100 == 0 {
                    std::thread::sleep(Duration::from_millis(10));
                }
            }
        }
        Some("dies") => {
            let answer = answer(id, "cut");
            stdout
                .write_all(&answer.as_bytes()[..answer.len() / 2])
                .unwrap();
            stdout.flush().unwrap();
            std::process::exit(9);
        }
        _ => {}
    }
}

/// How many notifications [`harm`] sends before the answer to the tool `many`.
pub(crate) const MANY: u32 = 20_000;

/// Short lines that are not messages, until nobody reads them.
fn write_noise() {
    let part = b"y\n".repeat(1 << 15);
    let mut stdout = std::io::stdout().lock();
    while stdout.write_all(&part).is_ok() {}
}

fn endless_line() {
    let part = [b'a'; 1 << 16];
    let mut stdout = std::io::stdout().lock();
    while stdout.write_all(&part).is_ok() {}
}

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// The id of the process.
#[tool]
fn pid() -> u32 {
    std::process::id()
}

/// Where the process is, and what it was given.
#[tool]
fn surroundings() -> String {
    let mut all = vec![std::env::current_dir().unwrap().display().to_string()];
    all.extend(std::env::args().skip(1));
    all.extend(["MINE", "REMOVED"].map(|name| std::env::var(name).unwrap_or_default()));
    all.join("\n")
}

/// Begins, and does not end.
#[tool]
async fn hold(context: Context) {
    context.progress(1.0, None, None);
    std::future::pending::<()>().await;
}

/// Starts a process that goes on, with all streams of this one, and returns its id.
#[tool]
fn start() -> u32 {
    sleeper().spawn().unwrap().id()
}

fn sleeper() -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.env(BEHAVIOUR, "sleeps");
    command
}

/// From now on neither SIGTERM nor the end of the input ends the process.
#[cfg(unix)]
#[tool]
async fn be_stubborn() {
    use tokio::signal::unix::{SignalKind, signal};
    let mut asked = signal(SignalKind::terminate()).unwrap();
    STUBBORN.store(true, std::sync::atomic::Ordering::SeqCst);
    tokio::spawn(async move { while asked.recv().await.is_some() {} });
}

static STUBBORN: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

#[tokio::main]
async fn serves() {
    let server = Server::new("child", "1").tools(tools![add, pid, surroundings, hold, start]);
    #[cfg(unix)]
    let server = server.tools(tools![be_stubborn]);
    server.build().unwrap().serve_stdio().await.unwrap();
    if STUBBORN.load(std::sync::atomic::Ordering::SeqCst) {
        std::future::pending::<()>().await;
    }
}
