//! Answers that peers do not read, on byte streams: all of them together are bounded (issue 8, Y-6).

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, duplex},
    task::JoinHandle,
};
use trueform::{Service, prelude::*};

use crate::support::{modern, soon};

/// A text of that many bytes.
#[tool]
pub(crate) fn large(bytes: usize) -> String {
    "x".repeat(bytes)
}

/// The same, after others had their turn.
#[tool]
async fn later(bytes: usize) -> String {
    tokio::task::yield_now().await;
    "x".repeat(bytes)
}

const LARGE: usize = 1 << 20;

/// One connection, of which nothing is read that is not asked for.
struct Peer {
    stream: BufReader<DuplexStream>,
    serving: JoinHandle<trueform::Result>,
}

impl Peer {
    fn of(service: &Service) -> Self {
        let (near, far) = duplex(16 << 10);
        let (read, write) = tokio::io::split(far);
        let service = service.clone();
        Self {
            stream: BufReader::new(near),
            serving: tokio::spawn(async move { service.serve_stream(read, write).await }),
        }
    }

    async fn send(&mut self, line: &str) {
        let line = format!("{line}\n");
        soon(self.stream.write_all(line.as_bytes())).await.unwrap();
    }

    async fn call(&mut self, tool: &str, bytes: usize) {
        let params = format!(r#","name":"{tool}","arguments":{{"bytes":{bytes}}}"#);
        self.send(&modern("7", "tools/call", &params)).await;
    }

    async fn answer(&mut self) -> Value {
        let mut line = String::new();
        soon(self.stream.read_line(&mut line)).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn asked(&mut self, tool: &str, bytes: usize) -> Value {
        self.call(tool, bytes).await;
        self.answer().await
    }
}

// A handshake is answered whatever waits: refused after it opened the session, it would leave one that hears of no change.
#[tokio::test]
async fn a_handshake_beyond_the_bound() {
    let server = Server::new("t", "1").tools(tools![large]);
    let server = server.instructions("i".repeat(5000)).max_unread(LARGE);
    let service = server.build().unwrap();
    let mut slow = Peer::of(&service);
    slow.call("large", LARGE).await;
    let mut other = Peer::of(&service);
    soon(async { while other.asked("large", 1).await["error"].is_null() {} }).await;
    let mut peer = Peer::of(&service);
    let [initialize, initialized] = crate::support::initialize("2025-06-18");
    peer.send(&initialize).await;
    assert!(peer.answer().await["result"].is_object());
    peer.send(&initialized).await;
    peer.send(&crate::support::legacy("1", "ping", "{}")).await;
    assert!(peer.answer().await["result"].is_object());
    service.handle().notify_tools_changed();
    let changed = peer.answer().await;
    assert_eq!(changed["method"], "notifications/tools/list_changed");
}

#[tokio::test]
async fn of_all_connections() {
    let server = Server::new("t", "1").tools(tools![large, later]);
    let service = server.max_unread(LARGE).build().unwrap();
    for tool in ["large", "later"] {
        let mut other = Peer::of(&service);
        assert_eq!(
            other.asked("large", 1).await["result"]["content"][0]["text"],
            "x"
        );
        let mut slow = Peer::of(&service);
        slow.call(tool, LARGE).await;
        // It may not have been asked yet.
        let refused = soon(async {
            loop {
                let got = other.asked("large", 1).await;
                if got["error"].is_object() {
                    return got;
                }
            }
        })
        .await;
        assert_eq!(
            (&refused["id"], &refused["error"]["code"]),
            (&7.into(), &(-32603).into())
        );
        let message = refused["error"]["message"].as_str().unwrap();
        assert!(message.contains("`max_unread`"), "{message}");
        other.send(&modern("8", "server/discover", "")).await;
        assert!(other.answer().await["result"].is_object());

        let text = slow.answer().await["result"]["content"][0]["text"]
            .as_str()
            .unwrap()
            .len();
        assert_eq!(text, LARGE);
        assert_eq!(
            other.asked("large", 1).await["result"]["content"][0]["text"],
            "x"
        );
        // One that goes away makes room as well.
        slow.call(tool, LARGE).await;
        soon(async { while other.asked("large", 1).await["error"].is_null() {} }).await;
        let Peer { stream, serving } = slow;
        drop(stream);
        soon(serving).await.unwrap().unwrap();
        assert_eq!(
            other.asked("large", 1).await["result"]["content"][0]["text"],
            "x"
        );
    }
}
