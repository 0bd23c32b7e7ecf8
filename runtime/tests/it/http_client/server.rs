//! An HTTP server that does what a test says, byte by byte, on a loopback socket.

use std::{
    collections::HashMap,
    future::Future,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    task::AbortHandle,
};

/// A request as it arrived.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) method: String,
    pub(crate) path: String,
    pub(crate) headers: HashMap<String, String>,
    pub(crate) body: Value,
}

impl Asked {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The method of the message, or that of HTTP if there is none.
    pub(crate) fn what(&self) -> &str {
        self.body["method"].as_str().unwrap_or(&self.method)
    }

    pub(crate) fn id(&self) -> &Value {
        &self.body["id"]
    }
}

/// The socket of a request.
pub(crate) struct Answer(TcpStream);

impl Answer {
    pub(crate) async fn write(&mut self, bytes: impl AsRef<[u8]>) -> bool {
        self.0.write_all(bytes.as_ref()).await.is_ok()
    }

    /// A whole response.
    pub(crate) async fn reply(mut self, status: &str, headers: &str, body: impl AsRef<[u8]>) {
        let length = body.as_ref().len();
        let head = format!(
            "HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n"
        );
        if self.write(head).await {
            self.write(body).await;
        }
    }

    pub(crate) async fn json(self, status: &str, body: Value) {
        let headers = "content-type: application/json\r\n";
        self.reply(status, headers, body.to_string()).await;
    }

    pub(crate) async fn result(self, asked: &Asked, result: Value) {
        let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": result });
        self.json("200 OK", body).await;
    }

    /// The head of an event stream that ends with the connection.
    pub(crate) async fn events(&mut self) -> bool {
        let head =
            "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n";
        self.write(head).await
    }

    /// Completes when the client has closed the connection.
    pub(crate) async fn closed(&mut self) {
        let mut rest = [0; 64];
        while self.0.read(&mut rest).await.is_ok_and(|read| read != 0) {}
    }
}

/// A running server. It ends when this is dropped.
pub(crate) struct Scripted {
    pub(crate) url: String,
    pub(crate) asked: Arc<Mutex<Vec<Asked>>>,
    accepting: AbortHandle,
}

impl Scripted {
    /// Answers every request by `answer`.
    pub(crate) async fn start<F>(
        answer: impl Fn(Asked, Answer) -> F + Clone + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/mcp", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let log = asked.clone();
        let accepting = tokio::spawn(async move {
            let mut serving = tokio::task::JoinSet::new();
            while let Ok((socket, _)) = listener.accept().await {
                let (answer, log) = (answer.clone(), log.clone());
                serving.spawn(async move {
                    if let Some((asked, socket)) = read(socket).await {
                        log.lock().unwrap().push(asked.clone());
                        answer(asked, socket).await;
                    }
                });
            }
        });
        Self {
            url,
            asked,
            accepting: accepting.abort_handle(),
        }
    }

    /// What was asked, in the order of arrival.
    pub(crate) fn whats(&self) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().map(|asked| asked.what().to_owned()).collect()
    }

    /// The requests of one kind.
    pub(crate) fn all(&self, what: &str) -> Vec<Asked> {
        let asked = self.asked.lock().unwrap();
        asked
            .iter()
            .filter(|asked| asked.what() == what)
            .cloned()
            .collect()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

/// Reads one request; `None` if the client goes away before its end.
pub(crate) async fn read(mut socket: TcpStream) -> Option<(Asked, Answer)> {
    let mut text = Vec::new();
    let end = loop {
        if let Some(end) = text.windows(4).position(|window| window == b"\r\n\r\n") {
            break end + 4;
        }
        if socket.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    };
    let head = String::from_utf8(text[..end].to_vec()).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next()?.split(' ');
    let (method, path) = (first.next()?.to_owned(), first.next()?.to_owned());
    let headers: HashMap<_, _> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = headers
        .get("content-length")
        .map_or(0, |length| length.parse().unwrap());
    while text.len() < end + length {
        if socket.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&text[end..]).unwrap_or(Value::Null);
    Some((
        Asked {
            method,
            path,
            headers,
            body,
        },
        Answer(socket),
    ))
}

/// The result of `initialize` at 2025-11-25.
pub(crate) fn initialized() -> Value {
    json!({
        "protocolVersion": "2025-11-25",
        "capabilities": { "tools": {}, "resources": {} },
        "serverInfo": { "name": "s", "version": "1" },
    })
}

/// Answers what opens a legacy connection, in the session `session`. Returns what it does not.
pub(crate) async fn legacy(asked: Asked, answer: Answer, session: &str) -> Option<(Asked, Answer)> {
    match asked.what() {
        "initialize" => {
            let body = json!({ "jsonrpc": "2.0", "id": asked.id(), "result": initialized() });
            let headers =
                format!("content-type: application/json\r\nmcp-session-id: {session}\r\n");
            answer.reply("200 OK", &headers, body.to_string()).await;
        }
        "notifications/initialized" => answer.reply("202 Accepted", "", "").await,
        "DELETE" => answer.reply("204 No Content", "", "").await,
        _ => return Some((asked, answer)),
    }
    None
}

/// Answers `server/discover`. Returns what is not that.
pub(crate) async fn modern(asked: Asked, answer: Answer) -> Option<(Asked, Answer)> {
    if asked.what() != "server/discover" {
        return Some((asked, answer));
    }
    let result = json!({
        "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": { "tools": {}, "resources": {}, "prompts": {} },
    });
    answer.result(&asked, result).await;
    None
}

pub(crate) fn called(text: &str) -> Value {
    json!({ "content": [{ "type": "text", "text": text }], "resultType": "complete" })
}

pub(crate) fn event(message: Value) -> String {
    format!("data: {message}\n\n")
}
