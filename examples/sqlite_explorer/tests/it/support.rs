//! A file to look into, and clients whose traffic is checked.

use std::path::PathBuf;

use serde_json::{Value, json};
use tempfile::TempDir;
use trueform::{
    client::{ClientError, ClientOptions},
    prelude::*,
    testing::{Checker, Recorder, ScriptedUser},
};
use trueform_sqlite_explorer::{Database, server};

/// One revision of each era.
pub(crate) const REVISIONS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

const SHOP: &str = "
    CREATE TABLE customers (id INTEGER PRIMARY KEY, name TEXT NOT NULL DEFAULT 'nobody', photo BLOB);
    CREATE TABLE orders (
        id INTEGER PRIMARY KEY,
        customer INTEGER REFERENCES customers (id) DEFERRABLE INITIALLY DEFERRED,
        total REAL
    );
    CREATE UNIQUE INDEX orders_by_customer ON orders (customer, total);
    CREATE VIEW rich AS SELECT name FROM customers JOIN orders ON customers.id = customer WHERE total > 100;
    CREATE VIEW broken AS SELECT * FROM gone;
    CREATE TABLE \"50% \"\"off\"\"/é\" (x);
    INSERT INTO customers VALUES (1, 'Ada', x'89504e47'), (2, 'Bob', NULL), (3, 'Cyd', NULL);
    INSERT INTO orders VALUES (1, 1, 120.5), (2, 2, 3);
";

/// A shop in a file of its own.
pub(crate) struct Shop {
    folder: TempDir,
}

impl Shop {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let this = Self { folder };
        this.direct().execute_batch(SHOP).expect("good SQL");
        this
    }

    pub(crate) fn file(&self) -> PathBuf {
        self.folder.path().join("shop.db")
    }

    /// A connection beside the server.
    pub(crate) fn direct(&self) -> rusqlite::Connection {
        rusqlite::Connection::open(self.file()).expect("it opens")
    }

    pub(crate) fn database(&self) -> Database {
        Database::open(self.file()).expect("it opens")
    }

    /// The names of the files beside the database, and its bytes.
    pub(crate) fn state(&self) -> (Vec<String>, Vec<u8>) {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        let name = |entry: std::io::Result<std::fs::DirEntry>| {
            entry.expect("an entry").file_name().into_string()
        };
        let mut names: Vec<String> = entries.map(|entry| name(entry).expect("UTF-8")).collect();
        names.sort();
        (names, std::fs::read(self.file()).expect("a file"))
    }

    pub(crate) async fn reader(&self, revision: Revision) -> Checked {
        Checked::of(self.database(), revision).await
    }

    /// Its user answers as `user` says.
    pub(crate) async fn writer(&self, revision: Revision, user: &ScriptedUser) -> Checked {
        let options = user.options(ClientOptions::at(revision));
        Checked::with(self.database().writable(), options).await
    }
}

/// A client in the same process whose traffic is recorded.
pub(crate) struct Checked {
    pub(crate) client: Client,
    recorder: Recorder,
}

impl Checked {
    pub(crate) async fn of(database: Database, revision: Revision) -> Self {
        Self::with(database, ClientOptions::at(revision)).await
    }

    pub(crate) async fn with(database: Database, options: ClientOptions) -> Self {
        let service = server(database).build().expect("it builds");
        let recorder = Recorder::new();
        let client = recorder.connect_as(&service, options).await;
        Self {
            client: client.expect("it connects"),
            recorder,
        }
    }

    /// The structured content of a call that succeeds.
    pub(crate) async fn call(&self, tool: &str, arguments: Value) -> Value {
        let shown = arguments.to_string();
        let result = self.client.call_tool(tool, arguments).await.expect(&shown);
        assert_ne!(result.is_error, Some(true), "{shown}: {result:?}");
        let content = result.structured_content.expect("structured content");
        content.to_value()
    }

    pub(crate) async fn query(&self, sql: &str) -> Value {
        self.call("query", json!({ "sql": sql })).await
    }

    /// What the model reads of a call that fails.
    pub(crate) async fn failure(&self, tool: &str, arguments: Value) -> String {
        let shown = arguments.to_string();
        let result = self.client.call_tool(tool, arguments).await.expect(&shown);
        assert_eq!(result.is_error, Some(true), "{shown}: {result:?}");
        match &result.content[..] {
            [ContentBlock::Text(text)] => text.text.clone(),
            other => panic!("{other:?}"),
        }
    }

    /// Ends the connection. Nothing of its traffic may be against the specification.
    pub(crate) async fn close(self) {
        self.client.close().await;
        let findings = Checker::new().check(&self.recorder.transcript());
        assert_eq!(findings.expect("a transcript"), []);
    }
}

/// The error of a request as code, message and `data`.
pub(crate) fn refused<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> (i64, String, Value) {
    let error = answer.expect_err("it is refused");
    let error = error.remote().expect("the server refuses");
    let data = error.data.as_ref().map(|data| data.to_value());
    (error.code, error.message.clone(), data.unwrap_or_default())
}
