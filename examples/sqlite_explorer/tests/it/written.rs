//! Writes: what the user is asked, what an answer does, and what is not asked.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use serde_json::json;
use trueform::{
    client::{Answering, ClientHandler, ClientOptions},
    schema::Json as RawJson,
    testing::ScriptedUser,
};
use trueform_sqlite_explorer::MAX_ROWS;

use crate::support::{Checked, REVISIONS, Shop};

const INSERT: &str = "INSERT INTO customers (name) VALUES (?), ('Eve') RETURNING id, name";

fn customers(shop: &Shop) -> i64 {
    let count = "SELECT count(*) FROM customers";
    let count = shop.direct().query_row(count, (), |row| row.get(0));
    count.expect("a count")
}

//
#[tokio::test]
async fn the_user_sees_the_statement_and_decides() {
    for revision in REVISIONS {
        let shop = Shop::new();
        let user = ScriptedUser::new().decline().cancel().accept(());
        let writer = shop.writer(revision, &user).await;
        let arguments = json!({ "sql": INSERT, "parameters": ["Dan\n\nDELETE"] });
        for outcome in ["declined", "cancelled"] {
            let answer = writer.call("execute", arguments.clone()).await;
            assert_eq!(answer, json!({ "outcome": outcome, "changed_rows": 0 }));
            assert_eq!(customers(&shop), 3, "{outcome}");
        }
        let answer = writer.call("execute", arguments).await;
        let rows = json!([[4, "Dan\n\nDELETE"], [5, "Eve"]]);
        assert_eq!(
            answer,
            json!({
                "outcome": "executed",
                "changed_rows": 2,
                "returned": { "columns": ["id", "name"], "rows": rows, "more": false },
            })
        );
        assert_eq!(customers(&shop), 5, "{revision}: it ran once");
        let question = "This statement writes to the database. Run it?\n\nParameters: [\"Dan\\n\\nDELETE\"]\n\n";
        for asked in user.asked() {
            assert_eq!(asked.message(), Some(&*format!("{question}{INSERT}")));
        }
        assert_eq!(user.asked().len(), 3);
        writer.close().await;
    }
}

/// What is written is what SQLite itself would write, also where a text is not UTF-8.
#[tokio::test]
async fn texts_that_are_not_utf_8_stay_as_they_are() {
    let shop = Shop::new();
    let latin = "INSERT INTO customers (id, name) VALUES (9, CAST(x'4de4726b20' AS TEXT))";
    shop.direct().execute(latin, ()).expect("good SQL");
    let user = ScriptedUser::new().accept(());
    let writer = shop.writer(REVISIONS[1], &user).await;
    let update = "UPDATE customers SET name = trim(name, ' ') WHERE id = 9";
    writer.call("execute", json!({ "sql": update })).await;
    let found = writer
        .query("SELECT hex(name) FROM customers WHERE id = 9")
        .await;
    assert_eq!(found["rows"], json!([["4DE4726B"]]));
    writer.close().await;
}

/// The longest statement, as a whole.
#[tokio::test]
async fn a_long_statement_is_shown_whole() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let user = ScriptedUser::new().decline();
        let writer = shop.writer(revision, &user).await;
        let start = "DELETE FROM customers WHERE name = '";
        let sql = format!("{start}{}'", "é".repeat(99_999 - start.len()));
        assert!(
            sql.chars().count() <= 100_000 && sql.len() > 100_000,
            "{}",
            sql.len()
        );
        // The schema counts characters, and SQLite bytes.
        let failure = writer.failure("execute", json!({ "sql": sql })).await;
        assert!(failure.contains("statement too long"), "{failure}");
        let sql = format!("{start}{}'", "x".repeat(99_999 - start.len()));
        writer.call("execute", json!({ "sql": sql })).await;
        let asked = user.asked();
        let message = asked[0].message().unwrap_or_default();
        assert!(message.ends_with(&sql), "{} bytes", message.len());
        assert!(message.contains("Parameters: none"), "{}", &message[..100]);
        writer.close().await;
    }
}

#[tokio::test]
async fn writes_are_whole() {
    for revision in REVISIONS {
        let shop = Shop::new();
        let user = ScriptedUser::new().accept(()).accept(()).accept(());
        let writer = shop.writer(revision, &user).await;
        // More rows than are returned: all are written.
        let many = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 1500)";
        let sql =
            format!("{many} INSERT INTO customers (name) SELECT x FROM c WHERE 1 RETURNING id");
        let added = writer.call("execute", json!({ "sql": sql })).await;
        assert_eq!(added["changed_rows"], 1500);
        assert_eq!(added["returned"]["more"], true);
        let rows = added["returned"]["rows"].as_array().map(Vec::len);
        assert_eq!(rows, Some(MAX_ROWS as usize));
        assert_eq!(customers(&shop), 1503);

        // A constraint that is checked at the end: the statement fails, also after the last row that is returned.
        let sql = format!(
            "{many} INSERT INTO orders (customer, total) SELECT 9999, x FROM c WHERE 1 RETURNING id"
        );
        let failure = writer.failure("execute", json!({ "sql": sql })).await;
        assert!(
            failure.contains("FOREIGN KEY constraint failed"),
            "{failure}"
        );
        let orders = writer.query("SELECT count(*) FROM orders").await;
        assert_eq!(orders["rows"], json!([[2]]));
        let made = writer
            .call("execute", json!({ "sql": "CREATE TABLE t (x)" }))
            .await;
        assert_eq!(made["changed_rows"], 0);
        writer.close().await;
    }
}

/// The script has no answer: a question would fail the test.
#[tokio::test]
async fn what_cannot_run_is_not_asked() {
    let shop = Shop::new();
    let before = shop.state();
    let insert = "INSERT INTO customers (name) VALUES (?)";
    for revision in REVISIONS {
        let nobody = ScriptedUser::new();
        let writer = shop.writer(revision, &nobody).await;
        for (arguments, says) in [
            (
                json!({ "sql": "DELETE FROM custmers" }),
                "no such table: custmers",
            ),
            (json!({ "sql": "DELETE customers" }), "syntax error"),
            (
                json!({ "sql": insert }),
                "takes 1 parameters, and `parameters` has 0",
            ),
            (
                json!({ "sql": insert, "parameters": ["x", 2] }),
                "takes 1 parameters, and `parameters` has 2",
            ),
            (
                json!({ "sql": "DELETE FROM orders; DELETE FROM customers" }),
                "more than one statement",
            ),
            (json!({ "sql": "ATTACH 'x' AS x" }), "ATTACH"),
            (
                json!({ "sql": "SELECT 1" }),
                "only reads; run it with the tool `query`",
            ),
        ] {
            let failure = writer.failure("execute", arguments.clone()).await;
            assert!(failure.contains(says), "{arguments}: {failure}");
        }
        writer.close().await;

        // Opened for reading only, as without `--write`.
        let options = nobody.options(ClientOptions::at(revision));
        let reader = Checked::with(shop.database(), options).await;
        let failure = reader
            .failure("execute", json!({ "sql": "DELETE FROM customers" }))
            .await;
        assert!(failure.contains("opened for reading only"), "{failure}");
        assert!(failure.contains("`--write`"), "{failure}");
        reader.close().await;
        assert_eq!(nobody.asked(), []);
    }
    assert_eq!(shop.state(), before);
}

/// Also with `--write` the file decides. Some users, such as root, may write to it all the same, and are asked.
#[tokio::test]
async fn a_file_that_is_write_protected() {
    let shop = Shop::new();
    let mut permissions = std::fs::metadata(shop.file())
        .expect("a file")
        .permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(shop.file(), permissions).expect("permissions");
    let may_write = std::fs::OpenOptions::new()
        .append(true)
        .open(shop.file())
        .is_ok();
    for revision in REVISIONS {
        let user = match may_write {
            true => ScriptedUser::new().decline(),
            false => ScriptedUser::new(),
        };
        let writer = shop.writer(revision, &user).await;
        let arguments = json!({ "sql": "DELETE FROM customers" });
        match may_write {
            true => {
                assert_eq!(
                    writer.call("execute", arguments).await["outcome"],
                    "declined"
                );
            }
            false => {
                let failure = writer.failure("execute", arguments).await;
                assert_eq!(failure, "the database file is write-protected");
            }
        }
        writer.close().await;
    }
}

/// How long a statement may run in this test.
const LIMIT: Duration = Duration::from_millis(100);

/// Takes time to answer, and looks into the database meanwhile.
struct Thinks {
    shop: Arc<Shop>,
    seen: Arc<Mutex<Vec<bool>>>,
}

impl ClientHandler for Thinks {
    fn answer(&self, _: &str, _: Option<RawJson>) -> Answering<'_> {
        Box::pin(async {
            tokio::time::advance(Duration::from_secs(60)).await;
            // SQLite looks at the real time.
            std::thread::sleep(2 * LIMIT);
            let direct = self.shop.direct();
            let written = direct.execute("UPDATE orders SET total = 1", ());
            self.seen.lock().expect("a lock").push(written.is_ok());
            Ok(RawJson::from(json!({ "action": "accept" })))
        })
    }
}

/// Neither the limit of a statement nor a lock goes on while the user thinks.
#[tokio::test]
async fn the_user_may_think() {
    for revision in REVISIONS {
        let shop = Arc::new(Shop::new());
        let seen = Arc::default();
        let user = Thinks {
            shop: shop.clone(),
            seen: Arc::clone(&seen),
        };
        let options = ScriptedUser::new()
            .options(ClientOptions::at(revision))
            .timeout(Duration::from_secs(600))
            .handler(user);
        let database = shop.database().writable().timeout(LIMIT);
        let writer = Checked::with(database, options).await;
        tokio::time::pause();
        // It takes some thousand steps, so SQLite looks at the time.
        let sql = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c WHERE x < 2000)
            DELETE FROM customers WHERE id = ? AND (SELECT count(*) FROM c) = 2000";
        let answer = writer
            .call("execute", json!({ "sql": sql, "parameters": [3] }))
            .await;
        tokio::time::resume();
        assert_eq!(answer["outcome"], "executed");
        assert_eq!(*seen.lock().expect("a lock"), [true]);
        assert_eq!(customers(&shop), 2);
        writer.close().await;
    }
}
