//! Methods of one value that are marked `#[tool]`, `#[prompt]` and `#[resource]`, with parameters of each form, seen from a client.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use serde_json::{Value, json};
use trueform::{
    client::ClientError,
    completion::CompletionQuery,
    prelude::*,
    schema::{PromptReference, ResourceTemplateReference},
};

struct Library {
    visits: AtomicU64,
}

/// The variables of a page.
#[derive(Deserialize, JsonSchema)]
struct PageOf {
    book: String,
    /// From 1.
    number: u16,
}

/// The arguments of a summary.
#[derive(Deserialize, JsonSchema)]
struct SummaryOf {
    book: String,
    words: Option<u32>,
}

#[server]
impl Library {
    /// Counts the visits.
    #[tool]
    fn visits(&self) -> u64 {
        self.visits.load(Ordering::Relaxed)
    }

    /// A page.
    #[resource("book://{book}/{number}", mime_type = "text/markdown", blocking)]
    fn page(&self, Args(PageOf { book, number }): Args<PageOf>) -> Result<String, ToolError> {
        self.visits.fetch_add(1, Ordering::Relaxed);
        match number {
            0 => Err(ToolError::new("pages begin at 1")),
            number => Ok(format!("{book}, page {number}")),
        }
    }

    /// A folder of notes.
    #[resource("notes:///{+path}", file_like)]
    fn notes(
        #[arg(complete = Self::paths)]
        #[serde(rename = "path")]
        place: String,
    ) -> String {
        place
    }

    /// Never ends.
    #[resource("book://endless", timeout = "10ms")]
    async fn endless(&self) -> String {
        std::future::pending().await
    }

    /// Sums up a book.
    #[prompt(name = "sum-up", meta("com.example/level" = 2))]
    async fn summary(&self, Args(SummaryOf { book, words }): Args<SummaryOf>) -> String {
        self.visits.fetch_add(1, Ordering::Relaxed);
        format!("{book} in {words:?} words")
    }

    /// Never ends.
    #[prompt(timeout = "10ms")]
    async fn wait(#[arg(complete = ["long", "longer"])] how: String) -> String {
        drop(how);
        std::future::pending().await
    }

    async fn paths(query: CompletionQuery) -> [String; 1] {
        [format!("{}/today", query.value())]
    }
}

async fn client() -> Client {
    let library = Library {
        visits: AtomicU64::new(0),
    };
    let server = Server::new("library", "1.0.0").features(library);
    server.connect().await.unwrap()
}

fn code<T: std::fmt::Debug>(answer: Result<T, ClientError>) -> i64 {
    answer
        .unwrap_err()
        .remote()
        .expect("the server refuses")
        .code
}

/// Fails after `LIMIT`, so that a call that hangs ends the test.
async fn in_time<T>(test: impl Future<Output = T>) -> T {
    const LIMIT: Duration = Duration::from_secs(30);
    tokio::time::timeout(LIMIT, test).await.expect("in time")
}

// J-9, K-2
#[tokio::test]
async fn all_arguments_as_a_struct() {
    in_time(async {
        let client = client().await;
        let read = client.read_resource("book://Emma/12").await.unwrap();
        assert_eq!(
            serde_json::to_value(&read.contents).unwrap(),
            json!([{"uri": "book://Emma/12", "mimeType": "text/markdown", "text": "Emma, page 12"}])
        );
        assert_eq!(code(client.read_resource("book://Emma/last").await), -32602);
        assert_eq!(code(client.read_resource("book://Emma/0").await), -32603);

        let arguments = json!({"book": "Emma", "words": "50"});
        let result = client.get_prompt("sum-up", arguments).await.unwrap();
        let messages = serde_json::to_value(&result.messages).unwrap();
        assert_eq!(messages[0]["content"]["text"], "Emma in Some(50) words");
        let without = client.get_prompt("sum-up", json!({"words": "50"})).await;
        assert_eq!(code(without), -32602);

        // One value is behind all three.
        let visits = client.call_tool("visits", ()).await.unwrap();
        let visits = serde_json::to_value(visits).unwrap();
        assert_eq!(visits["content"][0]["text"], "3");
    })
    .await;
}

#[tokio::test]
async fn what_the_attributes_say_is_listed() {
    in_time(async {
        let client = client().await;
        let prompts = client.list_prompts().await.unwrap();
        let prompts = serde_json::to_value(prompts).unwrap();
        assert_eq!(
            prompts[0],
            json!({
                "name": "sum-up",
                "description": "Sums up a book.",
                "arguments": [{"name": "book", "required": true}, {"name": "words", "required": false}],
                "_meta": {"com.example/level": 2},
            })
        );
        let templates: Vec<Value> = client
            .list_resource_templates()
            .await
            .unwrap()
            .iter()
            .map(|template| serde_json::to_value(template).unwrap()["uriTemplate"].clone())
            .collect();
        assert_eq!(templates, ["book://{book}/{number}", "notes:///{+path}"]);
        let resources = client.list_resources().await.unwrap();
        assert_eq!(resources.len(), 1);
        assert_eq!(resources[0].uri, "book://endless");
    })
    .await;
}

// J-6, L-2: a parameter has another name than its variable.
#[tokio::test]
async fn a_renamed_variable() {
    in_time(async {
        let client = client().await;
        let read = client.read_resource("notes:///a/b%20c.txt").await.unwrap();
        let read = serde_json::to_value(&read.contents).unwrap();
        assert_eq!(read[0]["text"], "a/b c.txt");
        let outside = client.read_resource("notes:///a/..%2F..%2Fpasswd").await;
        assert_eq!(code(outside), -32602);
        let notes = ResourceTemplateReference::new("notes:///{+path}");
        let found = client.complete(notes, "path", "2026").await.unwrap();
        assert_eq!(found.values, ["2026/today"]);
        let wait = PromptReference::new("wait");
        let found = client.complete(wait, "how", "longe").await.unwrap();
        assert_eq!(found.values, ["longer"]);
    })
    .await;
}

#[tokio::test]
async fn time_limits() {
    in_time(async {
        let client = client().await;
        assert_eq!(code(client.read_resource("book://endless").await), -32603);
        let wait = client.get_prompt("wait", json!({"how": "long"})).await;
        assert_eq!(code(wait), -32603);
        let visits = client.call_tool("visits", ()).await.unwrap();
        assert_eq!(visits.is_error, None);
    })
    .await;
}
