//! What the tests of tasks share: tools that run as tasks, and connections on which every message is seen.

use std::{collections::VecDeque, future::pending};

use serde_json::{Value, json};
use trueform::{
    Service,
    client::{Client, ClientOptions, Negotiation},
    prelude::*,
    task::TaskSettings,
};

use crate::support::{self, Director, Stage, soon};

/// The identifier of the extension.
pub(crate) const EXTENSION: &str = "io.modelcontextprotocol/tasks";

/// The member of `_meta` that names a task.
pub(crate) const RELATED: &str = "io.modelcontextprotocol/related-task";

/// Waits until the test lets it go on; says which label it had.
#[tool(task = optional)]
async fn work(context: Context, stage: State<Stage>, label: String) -> String {
    context.set_result_meta("com.example/made", "yes");
    stage.0.hold(&label).await;
    format!("did {label}")
}

/// Answers at once, and only as a task.
#[tool(task = required)]
fn hurry(label: String) -> String {
    format!("did {label}")
}

/// Fails in a way that the model reads.
#[tool(task = optional)]
async fn fails() -> Result<String, ToolError> {
    Err(ToolError::new("no luck"))
}

/// Fails with an error of the protocol.
#[tool(task = optional)]
async fn errs() -> Result<String, ToolError> {
    Err(ToolError::protocol(ErrorObject::new(-31_000, "no way")))
}

/// Panics after an await.
#[tool(task = optional)]
async fn panics() -> String {
    tokio::task::yield_now().await;
    panic!("meant to")
}

/// Has a time limit, and never ends.
#[tool(task = optional, timeout = "1s")]
async fn overruns() -> String {
    pending().await
}

/// Holds a thread until it is given up.
#[tool(task = optional, blocking)]
fn holds(context: Context) -> String {
    while !context.is_cancelled() {
        std::thread::yield_now();
    }
    "given up".to_owned()
}

/// Reports progress and logs, waits, and does so again.
#[tool(task = optional)]
async fn talks(context: Context, stage: State<Stage>) -> String {
    context.progress(1.0, Some(2.0), None);
    stage.0.hold("talks").await;
    context.progress(2.0, Some(2.0), Some("nearly"));
    context.log(LoggingLevel::Error, "loud");
    "talked".to_owned()
}

/// Never a task.
#[tool]
fn plain(label: String) -> String {
    format!("plain {label}")
}

use trueform::schema::ErrorObject;

/// The tools above.
pub(crate) fn server() -> (Server, Director) {
    let (stage, director) = support::stage();
    let tools = tools![
        work, hurry, fails, errs, panics, overruns, holds, talks, plain
    ];
    (
        Server::new("tasks", "1.0.0").tools(tools).state(stage),
        director,
    )
}

/// The same, with settings, built.
pub(crate) fn service_with(settings: TaskSettings) -> (Service, Director) {
    let (server, director) = server();
    let service = server.tasks(settings).build().expect("the tools are fine");
    (service, director)
}

pub(crate) fn service() -> (Service, Director) {
    service_with(TaskSettings::new())
}

/// A connection: answers by id, and everything else in the order in which it came.
pub(crate) struct Peer {
    client: Client,
    /// Members of `_meta`, for a peer of the modern era.
    meta: Option<Value>,
    last_id: i64,
    answers: VecDeque<Value>,
    others: VecDeque<Value>,
}

impl Peer {
    async fn over(service: &Service, options: ClientOptions, meta: Option<Value>) -> Self {
        let options = options.negotiation(Negotiation::Nothing);
        let client = service
            .connect_as(options)
            .await
            .expect("nothing is negotiated");
        Self {
            client,
            meta,
            last_id: 0,
            answers: VecDeque::new(),
            others: VecDeque::new(),
        }
    }

    /// A session at `revision`.
    pub(crate) async fn legacy(service: &Service, revision: &str) -> Self {
        Self::legacy_as(service, revision, ClientOptions::new()).await
    }

    pub(crate) async fn legacy_as(
        service: &Service,
        revision: &str,
        as_whom: ClientOptions,
    ) -> Self {
        let mut peer = Self::over(service, as_whom, None).await;
        for line in support::initialize(revision) {
            peer.client.send_raw(line).expect("the server reads");
        }
        assert!(peer.answer(0).await["result"]["capabilities"].is_object());
        peer
    }

    /// A session of 2025-11-25 whose client declares `capabilities`.
    pub(crate) async fn legacy_with(service: &Service, capabilities: &Value) -> Self {
        Self::legacy_with_as(service, ClientOptions::new(), capabilities).await
    }

    /// The same as a principal.
    pub(crate) async fn legacy_with_as(
        service: &Service,
        as_whom: ClientOptions,
        capabilities: &Value,
    ) -> Self {
        let mut peer = Self::over(service, as_whom, None).await;
        let declared = format!(r#""capabilities":{capabilities}"#);
        for line in support::initialize("2025-11-25") {
            let line = line.replace(r#""capabilities":{}"#, &declared);
            peer.client.send_raw(line).expect("the server reads");
        }
        assert!(peer.answer(0).await["result"]["capabilities"].is_object());
        peer
    }

    /// A peer of the modern era that declares the extension with every request.
    pub(crate) async fn modern(service: &Service) -> Self {
        Self::modern_as(
            service,
            ClientOptions::new(),
            &json!({ "extensions": { EXTENSION: {} } }),
        )
        .await
    }

    /// One with other capabilities, and as a principal.
    pub(crate) async fn modern_as(
        service: &Service,
        as_whom: ClientOptions,
        capabilities: &Value,
    ) -> Self {
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        Self::over(service, as_whom, Some(meta)).await
    }

    /// Sends a request. Returns its id.
    pub(crate) fn send(&mut self, method: &str, mut params: Value) -> i64 {
        self.last_id += 1;
        if let Some(meta) = &self.meta {
            let own = params["_meta"].take();
            params["_meta"] = meta.clone();
            for (key, value) in own.as_object().into_iter().flatten() {
                params["_meta"][key] = value.clone();
            }
        }
        let request =
            json!({ "jsonrpc": "2.0", "id": self.last_id, "method": method, "params": params });
        self.client
            .send_raw(request.to_string())
            .expect("the server reads");
        self.last_id
    }

    pub(crate) fn notify(&self, method: &str, params: &Value) {
        let notification = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        self.client
            .send_raw(notification.to_string())
            .expect("the server reads");
    }

    async fn read(&mut self) {
        let message = soon(self.client.next_message())
            .await
            .expect("the server goes on");
        let message: Value = serde_json::from_str(&message).expect("JSON");
        support::refusals_have_data(&message);
        match message.get("method") {
            None => self.answers.push_back(message),
            Some(_) => self.others.push_back(message),
        }
    }

    /// The answer to the request `id`.
    pub(crate) async fn answer(&mut self, id: i64) -> Value {
        loop {
            if let Some(at) = self.answers.iter().position(|answer| answer["id"] == id) {
                return self.answers.remove(at).expect("it is there");
            }
            self.read().await;
        }
    }

    /// Whether the answer to the request `id` has come, once the server has answered a later one.
    pub(crate) async fn has_answered(&mut self, id: i64) -> bool {
        let later = self.send("tools/list", json!({}));
        self.answer(later).await;
        self.answers.iter().any(|answer| answer["id"] == id)
    }

    /// The next message that is not a response.
    pub(crate) async fn other(&mut self) -> Value {
        loop {
            if let Some(other) = self.others.pop_front() {
                return other;
            }
            self.read().await;
        }
    }

    /// The next message of `method`. Others that came before it are left out.
    pub(crate) async fn other_of(&mut self, method: &str) -> Value {
        loop {
            let other = self.other().await;
            if other["method"] == method {
                return other;
            }
        }
    }

    /// Answers a request of the server.
    pub(crate) fn respond(&self, id: &Value, result: Value) {
        let response = json!({ "jsonrpc": "2.0", "id": id, "result": result });
        self.client
            .send_raw(response.to_string())
            .expect("the server reads");
    }

    /// The messages so far that are not responses.
    pub(crate) fn others(&mut self) -> Vec<Value> {
        self.others.drain(..).collect()
    }

    /// The answer to a request.
    pub(crate) async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id).await
    }

    /// Calls a tool, as a task at 2025-11-25.
    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let mut params = json!({ "name": tool, "arguments": arguments });
        if self.meta.is_none() {
            params["task"] = json!({});
        }
        self.request("tools/call", params).await
    }

    /// As [`call`](Self::call). Returns the id of the task.
    pub(crate) async fn start(&mut self, tool: &str, arguments: Value) -> String {
        let answer = self.call(tool, arguments).await;
        let result = &answer["result"];
        let id = match self.meta {
            Some(_) => &result["taskId"],
            None => &result["task"]["taskId"],
        };
        id.as_str()
            .unwrap_or_else(|| panic!("no task: {answer}"))
            .to_owned()
    }

    /// A request about the task `id`.
    pub(crate) async fn about(&mut self, method: &str, id: &str) -> Value {
        self.request(method, json!({ "taskId": id })).await
    }

    /// The task `id`.
    pub(crate) async fn get(&mut self, id: &str) -> Value {
        let answer = self.about("tasks/get", id).await;
        match answer.get("result") {
            Some(result) => result.clone(),
            None => panic!("no task: {answer}"),
        }
    }

    /// The task `id` once its status is `status`.
    pub(crate) async fn until(&mut self, id: &str, status: &str) -> Value {
        soon(async {
            loop {
                let task = self.get(id).await;
                if task["status"] == status {
                    return task;
                }
                let is_end = ["completed", "failed", "cancelled"]
                    .contains(&task["status"].as_str().unwrap());
                assert!(!is_end, "waited for {status}: {task}");
                tokio::task::yield_now().await;
            }
        })
        .await
    }

    pub(crate) async fn close(self) {
        self.client.close().await;
    }
}

/// The code of an error answer.
pub(crate) fn code(answer: &Value) -> i64 {
    answer["error"]["code"]
        .as_i64()
        .unwrap_or_else(|| panic!("no error: {answer}"))
}

/// The text of a result.
pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {result}"))
}
