//! Statements that are refused, and what the model reads of that.

use serde_json::json;

use trueform::testing::ScriptedUser;
use trueform_sqlite_explorer::Database;

use crate::support::{REVISIONS, Shop};

/// What neither tool runs.
const NEVER: [(&str, &str); 18] = [
    ("ATTACH 'other.db' AS other", "ATTACH"),
    ("ATTACH ':memory:' AS other", "ATTACH"),
    ("DETACH main", "ATTACH"),
    ("VACUUM", "VACUUM"),
    ("VACUUM INTO 'other.db'", "VACUUM"),
    ("SELECT load_extension('x')", "load_extension"),
    ("SELECT json_patch('{}', '{}')", "json_patch"),
    ("PRAGMA database_list", "PRAGMA database_list"),
    ("PRAGMA query_only = off", "PRAGMA query_only"),
    ("PRAGMA writable_schema = on", "PRAGMA writable_schema"),
    ("PRAGMA user_version = 7", "PRAGMA user_version"),
    ("PRAGMA hard_heap_limit = 0", "PRAGMA hard_heap_limit"),
    ("SELECT * FROM pragma_database_list", "PRAGMA database_list"),
    ("BEGIN", "transactions"),
    ("SAVEPOINT s", "transactions"),
    ("SELECT 1; DROP TABLE customers", "more than one statement"),
    (" -- nothing\n;", "no statement"),
    // SQLite would run what is before the NUL, and the user is shown all.
    ("DELETE FROM customers\0 WHERE id = 7", "the character NUL"),
];

/// What only `execute` runs.
const WRITES: [&str; 12] = [
    "INSERT INTO customers (name) VALUES ('x')",
    "UPDATE customers SET name = 'x'",
    "DELETE FROM customers",
    "REPLACE INTO customers (id, name) VALUES (1, 'x')",
    "WITH x AS (SELECT 1) DELETE FROM customers WHERE id IN x RETURNING id",
    "CREATE TABLE t (x)",
    "CREATE TEMP TABLE t (x)",
    "CREATE VIRTUAL TABLE t USING fts5(x)",
    "DROP TABLE orders",
    "ALTER TABLE orders RENAME TO x",
    "REINDEX",
    "ANALYZE",
];

#[tokio::test]
async fn writes_and_other_files() {
    let shop = Shop::new();
    let before = shop.state();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        for (sql, says) in NEVER {
            let failure = reader.failure("query", json!({ "sql": sql })).await;
            assert!(failure.contains(says), "{sql}: {failure}");
        }
        for sql in WRITES {
            let failure = reader.failure("query", json!({ "sql": sql })).await;
            assert!(failure.contains("this tool only reads"), "{sql}: {failure}");
        }
        assert_eq!(shop.state(), before);
        reader.close().await;
    }
}

#[tokio::test]
async fn writers_stay_in_their_file() {
    let shop = Shop::new();
    let before = shop.state();
    let nobody = ScriptedUser::new();
    let writer = shop.writer(REVISIONS[1], &nobody).await;
    for (sql, says) in NEVER {
        let failure = writer.failure("execute", json!({ "sql": sql })).await;
        let refused = failure.contains(says) || failure.contains("the statement only reads");
        assert!(refused, "{sql}: {failure}");
    }
    for sql in WRITES {
        let failure = writer.failure("query", json!({ "sql": sql })).await;
        assert!(failure.contains("this tool only reads"), "{sql}: {failure}");
    }
    assert_eq!(shop.state(), before);
    assert_eq!(nobody.asked(), []);
    writer.close().await;
}

#[tokio::test]
async fn what_is_wrong_is_said() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    let many = "SELECT 1;".repeat(10_000);
    let long = "x".repeat(90_000);
    let all = ["t.*"; 100].join(", ");
    let names = format!("SELECT {all} FROM (SELECT 1 AS {long}) AS t");
    let unknown = format!("SELECT * FROM {long}");
    let pattern = format!("SELECT 'y' LIKE '{}'", &long[..257]);
    for (arguments, says) in [
        (
            json!({ "sql": "SELECT nme FROM customers" }),
            "no such column: nme, at byte 7 of `sql`",
        ),
        (json!({ "sql": "SELEC 1" }), "near \"SELEC\": syntax error"),
        (
            json!({ "sql": "SELECT ?, ?", "parameters": [1] }),
            "takes 2 parameters, and `parameters` has 1",
        ),
        (
            json!({ "sql": "SELECT 1", "parameters": [1] }),
            "takes 0 parameters",
        ),
        (
            json!({ "sql": "SELECT abs(-9223372036854775808)" }),
            "integer overflow",
        ),
        (json!({ "sql": "SELECT zeroblob(100000000)" }), "too big"),
        (json!({ "sql": many }), "more than one statement"),
        (
            json!({ "sql": names }),
            "the names of the columns have 9000000 bytes, and at most 200000",
        ),
        (json!({ "sql": unknown }), "no such table: xxx"),
        (json!({ "sql": pattern }), "pattern too complex"),
        (
            json!({ "sql": "SELECT 1; SELEC" }),
            "more than one statement",
        ),
        // The next ones the framework refuses, before the tool is called.
        (json!({ "sql": "x".repeat(100_001) }), "/sql"),
        (json!({ "sql": "" }), "/sql"),
        (
            json!({ "sql": "SELECT ?", "parameters": [{ "x": 1 }] }),
            "/parameters/0",
        ),
        (json!({ "sql": "SELECT ?", "parameters": 1 }), "/parameters"),
        (json!({ "sql": "SELECT 1", "limit": 1001 }), "/limit"),
        (json!({ "sql": "SELECT 1", "limit": 0 }), "/limit"),
        (json!({ "sql": "SELECT 1", "offset": -1 }), "/offset"),
        (json!({ "sq": "SELECT 1" }), "did you mean `sql`"),
    ] {
        let failure = reader.failure("query", arguments.clone()).await;
        assert!(failure.contains(says), "{arguments}: {failure}");
        assert!(failure.len() < 2000, "{arguments}: {failure}");
        // Other calls go on.
        assert_eq!(reader.query("SELECT 1").await["rows"], json!([[1]]));
    }
    reader.close().await;
}

/// As many bytes as several values of the largest size take.
#[tokio::test]
async fn memory_is_bounded() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    let value = "hex(randomblob(500000))";
    let values = [value; 400].join(", ");
    let failure = reader
        .failure("query", json!({ "sql": format!("SELECT {values}") }))
        .await;
    assert!(failure.contains("out of memory"), "{failure}");
    assert_eq!(reader.query("SELECT 1").await["rows"], json!([[1]]));
    reader.close().await;
}

/// In such a file SQLite reads BLOBs as UTF-16 where it wants a text.
#[test]
fn a_file_with_texts_in_utf_16() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("wide.db");
    let direct = rusqlite::Connection::open(&file).expect("a file");
    direct
        .execute_batch("PRAGMA encoding = 'UTF-16le'; CREATE TABLE t (x)")
        .expect("good SQL");
    let problem = Database::open(file).expect_err("it is refused");
    assert_eq!(
        problem.to_string(),
        "the database has texts in UTF-16, and this server works with UTF-8 only"
    );
}

// A path could say where the server runs.
#[tokio::test]
async fn no_path_is_shown() {
    let shop = Shop::new();
    let reader = shop.reader(REVISIONS[1]).await;
    std::fs::remove_file(shop.file()).expect("a file");
    let failure = reader.failure("query", json!({ "sql": "SELECT 1" })).await;
    assert_eq!(failure, "the database file cannot be opened");
    std::fs::write(shop.file(), "not a database, but text that is long enough").expect("a file");
    let failure = reader
        .failure("query", json!({ "sql": "SELECT * FROM customers" }))
        .await;
    assert_eq!(failure, "file is not a database");
    reader.close().await;
}
