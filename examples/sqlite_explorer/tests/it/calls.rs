//! Queries that succeed, and how much of their rows is shown.

use serde_json::json;
use trueform::testing::ScriptedUser;
use trueform_sqlite_explorer::{MAX_ANSWER_BYTES, MAX_CELL_BYTES, MAX_ROWS};

use crate::support::{REVISIONS, Shop};

#[tokio::test]
async fn each_type_of_value() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        let found = reader
            .query(
                "SELECT NULL AS n, -7 AS i, 9007199254740992 AS exact, 9007199254740993 AS big, 0.5 AS r,
                 -9e999 AS inf, 'é' AS t, x'00ff' AS b, zeroblob(20) AS z",
            )
            .await;
        assert_eq!(
            found,
            json!({
                "columns": ["n", "i", "exact", "big", "r", "inf", "t", "b", "z"],
                "rows": [[
                    null, -7, 9007199254740992_i64, "9007199254740993", 0.5, "-inf", "é",
                    { "begins_hex": "00ff", "blob_bytes": 2 },
                    { "begins_hex": "0".repeat(32), "blob_bytes": 20 },
                ]],
                "more": false,
            })
        );
        reader.close().await;
    }
}

#[tokio::test]
async fn pages() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    let sql = "SELECT id FROM customers ORDER BY id";
    for (offset, limit, ids, more) in [
        (0, 2, json!([[1], [2]]), true),
        (2, 2, json!([[3]]), false),
        (0, 3, json!([[1], [2], [3]]), false),
        (3, 1, json!([]), false),
        (1000, 1, json!([]), false),
    ] {
        let arguments = json!({ "sql": sql, "offset": offset, "limit": limit });
        let found = reader.call("query", arguments).await;
        assert_eq!(
            (&found["rows"], &found["more"]),
            (&ids, &json!(more)),
            "{offset} {limit}"
        );
    }
    // Without `limit` it is 100.
    let endless = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT x FROM c";
    let found = reader.query(endless).await;
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(100));
    assert_eq!(found["more"], true);
    reader.close().await;
}

#[tokio::test]
async fn parameters_are_data() {
    let shop = Shop::new();
    let before = shop.state();
    let reader = shop.reader(REVISIONS[1]).await;
    let hostile = "'); DROP TABLE customers; --";
    let found = reader
        .call(
            "query",
            json!({
                "sql": "SELECT ?1, typeof(?1), typeof(?2), typeof(?3), ?4, ?3",
                "parameters": [hostile, 3, 0.25, true],
            }),
        )
        .await;
    assert_eq!(
        found["rows"],
        json!([[hostile, "text", "integer", "real", 1, 0.25]])
    );
    // Names of columns and tables are not parameters.
    let sql = "SELECT count(*) FROM customers WHERE name = ?";
    let arguments = json!({ "sql": sql, "parameters": ["' OR 1=1 --"] });
    assert_eq!(reader.call("query", arguments).await["rows"], json!([[0]]));
    reader.close().await;
    assert_eq!(shop.state(), before);
}

#[tokio::test]
async fn long_texts_and_long_answers_are_cut() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    let characters = MAX_CELL_BYTES; // of two bytes each
    let sql = format!("SELECT 'x' || replace(hex(zeroblob({characters} / 2)), '0', 'é') AS t");
    let found = reader.query(&sql).await;
    // After the `x` half a character would fit.
    let shown = format!("x{}", "é".repeat(MAX_CELL_BYTES / 2 - 1));
    assert_eq!(
        found["rows"],
        json!([[{ "begins": shown, "text_bytes": 1 + 2 * characters }]])
    );

    let row = "SELECT replace(hex(zeroblob(1000)), '0', 'y') AS t";
    let sql = format!(
        "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 500) SELECT ({row}) FROM c"
    );
    let arguments = json!({ "sql": sql, "limit": MAX_ROWS });
    let found = reader.call("query", arguments).await;
    let rows = found["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(rows, MAX_ANSWER_BYTES / 2000);
    assert_eq!(found["more"], true);
    let arguments = json!({ "sql": sql, "offset": 400, "limit": MAX_ROWS });
    let found = reader.call("query", arguments).await;
    assert_eq!(found["rows"].as_array().map(Vec::len), Some(100));
    assert_eq!(found["more"], false);

    // One row may have more than an answer: the texts in what is left of it are cut short, and none is left out.
    let all = ["t.*"; 2000].join(", ");
    let sql = format!("SELECT {all} FROM ({row}) AS t");
    let found = reader.query(&sql).await;
    let cells = found["rows"][0].as_array().expect("a row");
    assert_eq!(cells.len(), 2000);
    let whole = MAX_ANSWER_BYTES / 2000;
    assert_eq!(cells[whole - 1], "y".repeat(2000));
    let cut = json!({ "begins": "y".repeat(64), "text_bytes": 2000 });
    assert!(cells[whole..].iter().all(|cell| *cell == cut), "{found}");
    reader.close().await;
}

/// Cells cost something even where they are empty.
#[tokio::test]
async fn empty_cells_end_an_answer_too() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    for cell in ["''", "'a'", "NULL"] {
        let cells = vec![cell; 300].join(", ");
        let sql = format!(
            "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1000) SELECT {cells} FROM c"
        );
        let found = reader
            .call("query", json!({ "sql": sql, "limit": MAX_ROWS }))
            .await;
        assert_eq!(found["more"], true, "{cell}");
        let bytes = found.to_string().len();
        assert!(bytes < 2 * MAX_ANSWER_BYTES, "{cell}: {bytes}");
    }
    reader.close().await;
}

// Such a file has others beside it, which readers take part in.
#[tokio::test]
async fn a_file_with_a_write_ahead_log() {
    let shop = Shop::new();
    let direct = shop.direct();
    direct
        .pragma_update(None, "journal_mode", "wal")
        .expect("a setting");
    let reader = shop.reader(REVISIONS[1]).await;
    let insert = "INSERT INTO customers (name) VALUES ('Dan')";
    direct.execute(insert, ()).expect("good SQL");
    let count = "SELECT count(*) FROM customers";
    assert_eq!(reader.query(count).await["rows"], json!([[4]]));
    drop(direct);
    assert_eq!(reader.query(count).await["rows"], json!([[4]]));
    reader.close().await;
    let user = ScriptedUser::new().accept(());
    let writer = shop.writer(REVISIONS[1], &user).await;
    writer.call("execute", json!({ "sql": insert })).await;
    assert_eq!(writer.query(count).await["rows"], json!([[5]]));
    writer.close().await;
}
