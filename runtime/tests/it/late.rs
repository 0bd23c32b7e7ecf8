//! What a call has left behind says nothing after the answer.

use std::{sync::Arc, time::Duration};

use serde_json::Value;
use tokio::sync::{Notify, mpsc};
use trueform::prelude::*;

use crate::support::{initialize, legacy, modern, raw, soon};

/// Lets what was spawned go on, and hears when it has reported.
#[derive(Clone)]
struct Late(Arc<Notify>, mpsc::UnboundedSender<()>);

/// Reports, and leaves a task that reports later.
#[tool]
async fn leaves(context: Context, late: State<Late>) -> &'static str {
    context.progress(1.0, Some(9.0), None);
    // With a limit on reports it waits until it may be sent.
    context.progress(2.0, Some(9.0), None);
    let Late(go, reported) = (*late).clone();
    tokio::spawn(async move {
        go.notified().await;
        // One that waits for the client, one that may have to wait for the limit, and the end, which never has to.
        context.progress(3.0, Some(9.0), None).await;
        context.progress(4.0, Some(9.0), None);
        context.progress(9.0, Some(9.0), None);
        context.log(LoggingLevel::Emergency, "late");
        reported.send(()).unwrap();
    });
    "left"
}

// N-2, N-3, M-4: from a task that outlives its call, with and without a limit on reports.
#[tokio::test(start_paused = true)]
async fn reports_of_what_was_spawned() {
    const INTERVAL: Duration = Duration::from_secs(1);
    for interval in [Duration::ZERO, INTERVAL] {
        let (reported, mut has_reported) = mpsc::unbounded_channel();
        let go = Arc::new(Notify::new());
        let service = Server::new("late", "1")
            .tools(tools![leaves])
            .progress_interval(interval)
            .state(Late(go.clone(), reported))
            .build()
            .unwrap();
        for revision in ["2024-11-05", "2025-11-25", "2026-07-28"] {
            let client = raw(&service).await;
            let next = async || -> Value {
                let line = soon(client.next_message()).await;
                serde_json::from_str(&line.expect("the server goes on")).unwrap()
            };
            let is_modern = revision == "2026-07-28";
            let (call, list) = match is_modern {
                true => {
                    let params = r#","name":"leaves","arguments":{}"#;
                    let call = modern("1", "tools/call", params);
                    let meta =
                        r#"{},"progressToken":"t","io.modelcontextprotocol/logLevel":"debug"}"#;
                    (call.replace("{}}", meta), modern("2", "tools/list", ""))
                }
                false => {
                    for line in initialize(revision) {
                        client.send_raw(line).unwrap();
                    }
                    next().await;
                    let params =
                        r#"{"name":"leaves","arguments":{},"_meta":{"progressToken":"t"}}"#;
                    (
                        legacy("1", "tools/call", params),
                        legacy("2", "tools/list", "{}"),
                    )
                }
            };
            client.send_raw(call).unwrap();
            let mut seen = Vec::new();
            loop {
                let message = next().await;
                let is_answer = message["id"] == 1;
                seen.push(message);
                if is_answer {
                    break;
                }
            }
            let values: Vec<_> = seen
                .iter()
                .map(|message| message["params"]["progress"].as_f64())
                .collect();
            assert_eq!(
                values,
                [Some(1.0), Some(2.0), None],
                "{revision} {interval:?}: {seen:?}"
            );
            go.notify_one();
            soon(has_reported.recv()).await.unwrap();
            // So would a timer.
            tokio::time::advance(3 * INTERVAL).await;
            client.send_raw(list).unwrap();
            assert_eq!(next().await["id"], 2, "{revision} {interval:?}");
        }
    }
}
