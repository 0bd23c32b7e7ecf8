//! Statements that would never end.

use std::time::{Duration, Instant};

use rusqlite::ErrorCode;
use serde_json::json;

use crate::support::{Checked, REVISIONS, Shop};

/// Reads a table, and so holds a lock on the file, and then counts for ever.
const ENDLESS: &str =
    "WITH RECURSIVE c(x) AS (SELECT count(*) FROM customers UNION ALL SELECT x + 1 FROM c)
    SELECT max(x) FROM c";

/// Waits until a write gets through, or does not, which says whether a statement reads.
async fn until_locked(shop: &Shop, locked: bool) {
    let direct = shop.direct();
    direct.busy_timeout(Duration::ZERO).expect("a setting");
    let deadline = Instant::now() + Duration::from_secs(10);
    loop {
        let written = direct.execute("UPDATE orders SET total = total + 1", ());
        let refused = match written {
            Ok(_) => false,
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => true,
            Err(error) => panic!("{error}"),
        };
        if refused == locked {
            return;
        }
        assert!(Instant::now() < deadline, "locked: {refused}");
        // The writes lock the file too, and must leave the statement time to begin.
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test]
async fn by_the_time_limit() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let limit = Duration::from_millis(1500);
        let reader = Checked::of(shop.database().timeout(limit), revision).await;
        let slow = async {
            let began = Instant::now();
            let failure = reader.failure("query", json!({ "sql": ENDLESS })).await;
            assert!(failure.contains("did not finish within 1.5s"), "{failure}");
            // Without the limit it would never end.
            assert!(began.elapsed() < limit * 12, "{:?}", began.elapsed());
            Instant::now()
        };
        let others = async {
            until_locked(&shop, true).await;
            for _ in 0..3 {
                assert_eq!(reader.query("SELECT 7").await["rows"], json!([[7]]));
            }
            Instant::now()
        };
        let (stopped, answered) = tokio::join!(slow, others);
        assert!(answered < stopped, "the other calls waited");
        until_locked(&shop, false).await;
        reader.close().await;
    }
}

#[tokio::test]
async fn by_cancellation() {
    let shop = Shop::new();
    for revision in REVISIONS {
        // Only cancellation can end it.
        let database = shop.database().timeout(Duration::from_secs(3600));
        let reader = Checked::of(database, revision).await;
        let call = reader.client.call_tool("query", json!({ "sql": ENDLESS }));
        tokio::select! {
            result = call => panic!("{result:?}"),
            () = until_locked(&shop, true) => {}
        }
        // Dropping the call cancelled it.
        until_locked(&shop, false).await;
        assert_eq!(reader.query("SELECT 7").await["rows"], json!([[7]]));
        reader.close().await;
    }
}

/// Rows that are skipped count too, and so do those that are counted for a resource.
#[tokio::test]
async fn while_rows_are_skipped_or_counted() {
    let shop = Shop::new();
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let view = format!("CREATE VIEW endless AS {endless}");
    shop.direct().execute(&view, ()).expect("good SQL");
    let database = shop.database().timeout(Duration::from_millis(200));
    let reader = Checked::of(database, REVISIONS[1]).await;
    let arguments = json!({ "sql": endless, "offset": 1_000_000_000_000_u64 });
    let failure = reader.failure("query", arguments).await;
    assert!(failure.contains("did not finish within 200ms"), "{failure}");
    let read = reader.client.read_resource("sqlite://tables/endless");
    let table = crate::offered::json_of(&read.await.expect("a table"));
    assert_eq!(table["rows"], json!(null));
    let problem = table["problems"][0].as_str().unwrap_or_default();
    assert!(
        problem.starts_with("the rows were not counted: "),
        "{problem}"
    );
    assert_eq!(table["columns"][0]["name"], "x");
    reader.close().await;
}

/// SQLite looks at the time only between its steps. No function of one step may take the product of the sizes of two values, which
/// would be minutes here, and hours with the largest ones.
#[tokio::test]
async fn no_function_takes_forever() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    let long = |bytes: u32, of: char| format!("replace(hex(zeroblob({bytes})), '00', '{of}')");
    let (whole, part) = (long(500_000, 'a'), long(200_000, 'a'));
    let set = long(200_000, 'b');
    let calls = [
        (format!("instr({whole}, {part} || 'b')"), 0),
        (
            format!("length(replace({whole}, {part} || 'b', 'c'))"),
            500_000,
        ),
        (format!("length(trim({whole}, {set} || 'a'))"), 0),
        (
            format!("length(unhex({}, {set} || 'z'))", long(400_000, 'z')),
            0,
        ),
    ];
    for (call, expected) in calls {
        let found = reader.query(&format!("SELECT {call}")).await;
        assert_eq!(found["rows"], json!([[expected]]), "{call}");
    }
    let failure = reader
        .failure(
            "query",
            json!({ "sql": format!("SELECT replace({whole}, 'a', {part})") }),
        )
        .await;
    assert!(failure.contains("too big"), "{failure}");
    reader.close().await;
}

/// One row may compare many texts, and SQLite looks at the time between rows only.
#[tokio::test]
async fn within_a_row() {
    let shop = Shop::new();
    let limit = Duration::from_millis(200);
    let reader = Checked::of(shop.database().timeout(limit), REVISIONS[1]).await;
    let text = "replace(hex(zeroblob(200000)), '00', 'a')";
    for (compared, pattern) in [
        ("LIKE", format!("'%{}b'", "a".repeat(250))),
        ("GLOB", format!("'*{}b'", "a".repeat(250))),
    ] {
        let columns = vec![format!("x {compared} {pattern}"); 200].join(", ");
        let sql = format!("SELECT {columns} FROM (SELECT {text} AS x)");
        let begun = std::time::Instant::now();
        let failure = reader.failure("query", json!({ "sql": sql })).await;
        assert!(failure.contains("did not finish within 200ms"), "{failure}");
        // A machine that is busy, and a build that is not optimised.
        let took = begun.elapsed();
        assert!(took < 100 * limit, "{took:?}");
    }
    reader.close().await;
}

/// Many functions in one row, each of which is quick, and characters that are as long as their text.
#[tokio::test]
async fn many_functions_in_a_row() {
    let shop = Shop::new();
    let limit = Duration::from_millis(200);
    let reader = Checked::of(shop.database().timeout(limit), REVISIONS[1]).await;
    let many = |call: &str| {
        let sum = vec![call; 900].join(" + ");
        format!("WITH y AS MATERIALIZED (SELECT hex(zeroblob(400000)) AS x) SELECT {sum} FROM y")
    };
    let long = "CAST(unhex('c0' || replace(hex(zeroblob(300000)), '00', '80')) AS TEXT)";
    let set = "(WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 1000)
        SELECT group_concat(CAST(unhex('c0' || replace(hex(zeroblob(n)), '00', '80')) AS TEXT), '') FROM c)";
    for sql in [
        many("length(replace(x, '0', '1'))"),
        many("length(unhex(x, '-'))"),
        many("instr(x, '1')"),
        format!("SELECT length(trim(replace(hex(zeroblob(500000)), '0', 'a'), 'a' || {set}))"),
        format!(
            "SELECT (replace(hex(zeroblob(125)), '0', 'a') || {long}) LIKE '%{}b' FROM customers, customers AS b, customers AS c",
            "a".repeat(250)
        ),
    ] {
        let begun = std::time::Instant::now();
        let failure = reader.failure("query", json!({ "sql": sql })).await;
        assert!(failure.contains("did not finish within 200ms"), "{failure}");
        let took = begun.elapsed();
        assert!(took < 100 * limit, "{took:?}: {sql:.100}");
    }
    reader.close().await;
}
