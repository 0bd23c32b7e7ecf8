//! The contract, the resources, completion and the prompt.

use serde_json::{Value, json};
use trueform::schema::{
    CompletionReference, ContentBlock, PromptReference, ReadResourceResult, ResourceContents,
    ResourceTemplateReference,
};
use trueform_sqlite_explorer::server;

use crate::support::{REVISIONS, Shop, refused};

#[test]
fn contract() {
    let shop = Shop::new();
    let service = server(shop.database()).build().expect("it builds");
    trueform::testing::assert_contract(&service, "tests/contract.json");
    assert_eq!(service.lint(), [], "a client would reject a tool");
}

fn text_of(contents: &ResourceContents) -> (&str, Option<&str>, &str) {
    match contents {
        ResourceContents::Text(text) => (&text.uri, text.mime_type.as_deref(), &text.text),
        other => panic!("{other:?}"),
    }
}

pub(crate) fn json_of(read: &ReadResourceResult) -> Value {
    let [contents] = &read.contents[..] else {
        panic!("{read:?}");
    };
    let (_, mime_type, text) = text_of(contents);
    assert_eq!(mime_type, Some("application/json"));
    serde_json::from_str(text).expect("JSON")
}

#[tokio::test]
async fn the_schema() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        let read = reader
            .client
            .read_resource("sqlite://schema")
            .await
            .expect("a schema");
        let (uri, mime_type, schema) = text_of(&read.contents[0]);
        assert_eq!(
            (uri, mime_type),
            ("sqlite://schema", Some("application/sql"))
        );
        let tables = [
            "CREATE TABLE customers",
            "CREATE TABLE orders",
            "CREATE UNIQUE INDEX",
            "CREATE VIEW rich",
        ];
        for made in tables {
            assert!(schema.contains(made), "{schema}");
        }
        let shown = reader
            .client
            .call_tool("schema", ())
            .await
            .expect("a schema");
        let ContentBlock::Text(text) = &shown.content[0] else {
            panic!("{shown:?}");
        };
        assert_eq!(text.text, schema);
        reader.close().await;
    }
}

#[tokio::test]
async fn tables() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        let read = async |uri: &str| reader.client.read_resource(uri).await;
        let orders = json_of(&read("sqlite://tables/ORDERS").await.expect("a table"));
        let sql = orders["sql"].as_str().unwrap_or_default();
        assert!(sql.starts_with("CREATE TABLE orders"), "{sql}");
        let column = |name, kind, primary_key| json!({ "name": name, "type": kind, "not_null": false, "default": null, "primary_key": primary_key });
        assert_eq!(
            orders,
            json!({
                "name": "orders",
                "sql": sql,
                "columns": [
                    column("id", "INTEGER", true), column("customer", "INTEGER", false), column("total", "REAL", false),
                ],
                "indexes": [{ "name": "orders_by_customer", "unique": true, "columns": ["customer", "total"] }],
                "foreign_keys": [{ "column": "customer", "table": "customers", "references": "id" }],
                "rows": 2,
            })
        );
        let customers = json_of(&read("sqlite://tables/customers").await.expect("a table"));
        assert_eq!(
            customers["columns"][1],
            json!({ "name": "name", "type": "TEXT", "not_null": true, "default": "'nobody'", "primary_key": false })
        );
        let view = json_of(&read("sqlite://tables/rich").await.expect("a view"));
        assert_eq!(view["rows"], 1);
        let odd = json_of(
            &read("sqlite://tables/50%25%20%22off%22%2F%C3%A9")
                .await
                .expect("a table"),
        );
        assert_eq!(
            (&odd["name"], &odd["rows"]),
            (&json!("50% \"off\"/é"), &json!(0))
        );
        // What can be known of it is shown.
        let broken = json_of(&read("sqlite://tables/broken").await.expect("a view"));
        assert_eq!(broken["sql"], "CREATE VIEW broken AS SELECT * FROM gone");
        assert_eq!(
            broken["problems"].as_array().map(Vec::len),
            Some(2),
            "{broken}"
        );
        for missing in [
            "nothing",
            "orders_by_customer",
            "sqlite_sequence",
            "orders%22%3B",
        ] {
            let uri = format!("sqlite://tables/{missing}");
            let (code, _, data) = refused(read(&uri).await);
            let expected = if revision == REVISIONS[0] {
                -32002
            } else {
                -32602
            };
            assert_eq!((code, &data["uri"]), (expected, &json!(uri)));
        }
        reader.close().await;
    }
}

#[tokio::test]
async fn completion_of_tables() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        let template =
            CompletionReference::from(ResourceTemplateReference::new("sqlite://tables/{table}"));
        let prompt = CompletionReference::from(PromptReference::new("explain_table"));
        for reference in [template, prompt] {
            for (typed, names) in [
                (
                    "",
                    &["50% \"off\"/é", "broken", "customers", "orders", "rich"][..],
                ),
                ("OR", &["orders"]),
                ("%", &[]),
                ("'", &[]),
            ] {
                let found = reader
                    .client
                    .complete(reference.clone(), "table", typed)
                    .await;
                let found = found.expect(typed);
                assert_eq!(found.values, names, "{typed}");
                assert_eq!(found.total, i64::try_from(names.len()).ok());
            }
        }
        reader.close().await;
    }
}

#[tokio::test]
async fn a_prompt_about_a_table() {
    let shop = Shop::new();
    for revision in REVISIONS {
        let reader = shop.reader(revision).await;
        let arguments = json!({ "table": "50% \"off\"/é", "question": "What is x?" });
        let result = reader
            .client
            .get_prompt("explain_table", arguments)
            .await
            .expect("a prompt");
        let [table, question] = &result.messages[..] else {
            panic!("{result:?}");
        };
        let ContentBlock::EmbeddedResource(embedded) = &table.content else {
            panic!("{table:?}");
        };
        let (uri, mime_type, text) = text_of(&embedded.resource);
        assert_eq!(mime_type, Some("application/json"));
        // The URI is that of the resource, which has the same text.
        let read = reader.client.read_resource(uri).await.expect("a table");
        assert_eq!(text_of(&read.contents[0]), (uri, mime_type, text));
        let ContentBlock::Text(question) = &question.content else {
            panic!("{question:?}");
        };
        assert!(
            question.text.contains("`50% \"off\"/é`"),
            "{}",
            question.text
        );
        assert!(question.text.ends_with("What is x?"), "{}", question.text);

        let result = reader
            .client
            .get_prompt("explain_table", json!({ "table": "orders" }))
            .await;
        assert_eq!(result.expect("a prompt").messages.len(), 2);
        let answer = reader
            .client
            .get_prompt("explain_table", json!({ "table": "ordrs" }))
            .await;
        // K-2: the argument is wrong, not the server.
        let (code, message, data) = refused(answer);
        assert_eq!(
            (code, &data["pointer"]),
            (-32602, &json!("/params/arguments/table"))
        );
        assert!(
            message.ends_with("`table`: there is no table or view `ordrs`"),
            "{message}"
        );
        let (code, ..) = refused(reader.client.get_prompt("explain_table", ()).await);
        assert_eq!(code, -32602);
        reader.close().await;
    }
}
