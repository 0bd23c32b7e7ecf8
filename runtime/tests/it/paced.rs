//! Progress that comes no faster than the server allows.

use std::time::Duration;

use tokio::time::{Instant, sleep};
use trueform::{client::ClientOptions, prelude::*};

use crate::support::{Collected, soon};

const INTERVAL: Duration = Duration::from_secs(1);

/// Reports what `script` says: numbers, `wN` to wait N tenths of the interval, `/` before a report that is the total as well.
#[tool]
async fn reports(context: Context, script: String) -> &'static str {
    for word in script.split_whitespace() {
        if let Some(tenths) = word.strip_prefix('w') {
            sleep(INTERVAL / 10 * tenths.parse().unwrap()).await;
        } else if let Some(total) = word.strip_prefix('/') {
            let total = total.parse().unwrap();
            context.progress(total, Some(total), None);
        } else {
            context.progress(word.parse().unwrap(), Some(100.0), Some(word));
        }
    }
    "done"
}

// N-2, N-3: reports that come too soon are coalesced; the last of them is not lost, comes when it may, rises, and never follows the
// answer.
#[tokio::test(start_paused = true)]
async fn reports_are_coalesced() {
    let service = Server::new("paced", "1")
        .tools(tools![reports])
        .progress_interval(INTERVAL)
        .build()
        .unwrap();
    // Progress, and the tenths of the interval after which it came.
    let cases: [(&str, &[(f64, u128)]); 8] = [
        ("1", &[(1.0, 0)]),
        ("1 2 3", &[(1.0, 0), (3.0, 0)]),
        // By the timer, while the tool works on.
        ("1 2 3 w30", &[(1.0, 0), (3.0, 10)]),
        (
            "1 w3 2 w3 3 w30 4 w5 5",
            &[(1.0, 0), (3.0, 10), (4.0, 36), (5.0, 41)],
        ),
        // The interval counts from what was sent last.
        ("1 2 w12 3 w30", &[(1.0, 0), (2.0, 10), (3.0, 20)]),
        // A value below one that waits is below what was reported.
        ("5 9 7 w30 8", &[(5.0, 0), (9.0, 10)]),
        // The end is reported at once, and what waited before it is not.
        ("1 50 /100 w30", &[(1.0, 0), (100.0, 0)]),
        ("1 w10 2 w10 3", &[(1.0, 0), (2.0, 10), (3.0, 20)]),
    ];
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = service
            .connect_as(ClientOptions::at(revision))
            .await
            .unwrap();
        for (script, expected) in cases {
            let seen = std::sync::Arc::new(Collected::default());
            let sink = seen.clone();
            let begun = Instant::now();
            let call = client
                .call_tool("reports", serde_json::json!({ "script": script }))
                .on_progress(move |report| {
                    let after = begun.elapsed().as_millis() * 10 / INTERVAL.as_millis();
                    sink.push((report.progress, after));
                });
            soon(call.into_future()).await.unwrap();
            assert_eq!(seen.take(), expected, "{script} at {revision}");
        }
    }
}
