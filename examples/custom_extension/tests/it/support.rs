//! One client on each transport: the typed client over a stream in memory, and the same client over real HTTP.

use std::{future::Future, net::SocketAddr, sync::Arc, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::{Request, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, WriteHalf},
    net::{TcpListener, TcpStream},
    sync::Mutex,
};
use trueform::{
    Client, Service,
    client::{ClientOptions, Negotiation},
    schema::{ClientCapabilities, Revision},
};

/// The output of `future`; panics if it takes too long.
pub(crate) async fn soon<F: Future>(future: F) -> F::Output {
    let limited = tokio::time::timeout(Duration::from_secs(20), future);
    limited.await.expect("took too long")
}

/// Transport between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    Stream,
    Http,
}

pub(crate) const BOTH: [Over; 2] = [Over::Stream, Over::Http];

/// The options of a client of `revision` that declares `extensions`.
pub(crate) fn options(revision: Revision, extensions: &[&str]) -> ClientOptions {
    let mut declared = serde_json::Map::new();
    for extension in extensions {
        declared.insert((*extension).to_owned(), json!({}));
    }
    let capabilities: ClientCapabilities =
        serde_json::from_value(json!({ "extensions": declared })).unwrap();
    ClientOptions::at(revision).capabilities(capabilities)
}

/// A client that sends nothing on its own.
pub(crate) fn raw() -> ClientOptions {
    ClientOptions::new().negotiation(Negotiation::Nothing)
}

/// A request of 2026-07-28 of a client that declared `extensions`; `params` are members after `_meta`.
pub(crate) fn modern(id: u32, method: &str, extensions: &str, params: &str) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}","params":{{"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{{"extensions":{extensions}}}}}{params}}}}}"#
    )
}

/// A client of `service`.
pub(crate) async fn connect(service: &Service, over: Over, options: ClientOptions) -> Client {
    match over {
        Over::Stream => soon(service.connect_as(options)).await.unwrap(),
        Over::Http => {
            let address = serve_http(service).await;
            let (near, far) = tokio::io::duplex(1 << 16);
            tokio::spawn(bridge(address, far));
            let (reader, writer) = tokio::io::split(near);
            soon(Client::over(reader, writer, options)).await.unwrap()
        }
    }
}

/// The next message that no typed request waits for.
pub(crate) async fn next(client: &Client) -> Value {
    let line = soon(client.next_message()).await;
    serde_json::from_str(&line.expect("the server goes on")).unwrap()
}

/// Serves `service` over HTTP on a free port of the loopback address, as long as the test runs.
pub(crate) async fn serve_http(service: &Service) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let service = service.clone();
    tokio::spawn(async move {
        let served = service.serve_http_on(listener).await;
        served.expect("the settings are fine");
    });
    address
}

/// Posts each line of `far` to the server at `address`, and writes the responses, one message per line. Requests run side by
/// side, except for the one that opens a session; notifications go one after another.
async fn bridge(address: SocketAddr, far: DuplexStream) {
    let (reader, writer) = tokio::io::split(far);
    let writer = Arc::new(Mutex::new(writer));
    let mut lines = BufReader::new(reader).lines();
    let mut session = None;
    while let Ok(Some(line)) = lines.next_line().await {
        let is_opening = line.contains(r#""initialize""#);
        let is_notification = !line.contains(r#""id":"#) || line.contains(r#""notifications/"#);
        let posted = post(address, line, session.clone(), writer.clone());
        if is_opening {
            session = posted.await;
        } else if is_notification {
            posted.await;
        } else {
            tokio::spawn(posted);
        }
    }
}

/// Posts `line`, hands its answers to `out` and returns the session that the server opened. The connection is the request's own.
async fn post(
    address: SocketAddr,
    line: String,
    session: Option<String>,
    out: Arc<Mutex<WriteHalf<DuplexStream>>>,
) -> Option<String> {
    let message: Value = serde_json::from_str(&line).expect("clients write JSON");
    let meta = &message["params"]["_meta"];
    let mut request = Request::post(format!("http://{address}/mcp"))
        .header(header::HOST, address.to_string())
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "application/json, text/event-stream");
    let version = &meta["io.modelcontextprotocol/protocolVersion"];
    match (&session, message["method"].as_str()) {
        (Some(session), _) => request = request.header("mcp-session-id", session),
        (None, Some(method)) if method != "initialize" => {
            request = request
                .header(
                    "mcp-protocol-version",
                    version.as_str().unwrap_or("2026-07-28"),
                )
                .header("mcp-method", method);
        }
        (None, _) => {}
    }
    let request = request.body(Full::new(Bytes::from(line))).unwrap();
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream))
        .await
        .unwrap();
    tokio::spawn(connection);
    let response = sender.send_request(request).await.unwrap();
    let opened = response.headers().get("mcp-session-id");
    let opened = opened.map(|id| id.to_str().unwrap().to_owned());
    let is_events = response.headers().get(header::CONTENT_TYPE);
    let is_events = is_events.is_some_and(|kind| kind == "text/event-stream");
    let mut body = response.into_body();
    let mut text = Vec::new();
    while let Some(Ok(frame)) = body.frame().await {
        text.extend_from_slice(frame.data_ref().map_or(&[][..], |data| data));
        if !is_events {
            continue;
        }
        while let Some(end) = text.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = text.drain(..=end).collect();
            if let Some(data) = line.strip_prefix(b"data: ").filter(|data| data.len() > 1) {
                out.lock().await.write_all(data).await.unwrap();
            }
        }
    }
    if !is_events && !text.is_empty() {
        text.push(b'\n');
        out.lock().await.write_all(&text).await.unwrap();
    }
    opened
}
