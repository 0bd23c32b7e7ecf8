//! What a call costs at least: the same requests and answers, over the same libraries, without a protocol. The request is read into
//! borrowed types, the sum is computed, the answer is written. Nothing is checked.
//!
//! `limit` speaks on standard input and output, `limit --http ADDRESS` over HTTP, by hyper alone.

use std::{borrow::Cow, error::Error};

use http_body_util::{BodyExt, Full};
use hyper::{
    Request, Response, body::Bytes, body::Incoming, server::conn::http1, service::service_fn,
};
use hyper_util::rt::TokioIo;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, unix::pipe},
};

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow)]
    params: Option<Params<'a>>,
}

#[derive(Deserialize)]
struct Params<'a> {
    #[serde(borrow, default)]
    arguments: Arguments<'a>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Arguments<'a> {
    a: i64,
    b: i64,
    #[serde(borrow)]
    text: Option<Cow<'a, str>>,
}

#[derive(Serialize)]
struct Answer<'a> {
    jsonrpc: &'static str,
    id: Option<&'a RawValue>,
    result: Outcome<'a>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Outcome<'a> {
    result_type: &'static str,
    content: [Text<'a>; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    structured_content: Option<Sum>,
}

#[derive(Serialize)]
struct Text<'a> {
    r#type: &'static str,
    text: Cow<'a, str>,
}

#[derive(Serialize)]
struct Sum {
    sum: i64,
}

/// Writes the answer to `message` and a line feed, if it is a request. Returns whether it is `initialize`, which opens a session.
fn answer(message: &[u8], out: &mut Vec<u8>) -> serde_json::Result<bool> {
    let call: Call<'_> = serde_json::from_slice(message)?;
    if call.id.is_none() {
        return Ok(false);
    }
    let arguments = call
        .params
        .map(|params| params.arguments)
        .unwrap_or_default();
    let (text, structured_content) = match arguments.text {
        Some(text) => (text, None),
        None => {
            let sum = arguments.a + arguments.b;
            (format!("{{\"sum\":{sum}}}").into(), Some(Sum { sum }))
        }
    };
    let result = Outcome {
        result_type: "complete",
        content: [Text {
            r#type: "text",
            text,
        }],
        structured_content,
    };
    serde_json::to_writer(
        &mut *out,
        &Answer {
            jsonrpc: "2.0",
            id: call.id,
            result,
        },
    )?;
    out.push(b'\n');
    Ok(call.method == "initialize")
}

async fn http(address: &str) -> Result<(), Box<dyn Error>> {
    let listener = TcpListener::bind(address).await?;
    eprintln!("listening on http://{}/mcp", listener.local_addr()?);
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let service = service_fn(|request: Request<Incoming>| async {
            let body = request.into_body().collect().await?.to_bytes();
            let mut out = Vec::with_capacity(256);
            let opens = match answer(&body, &mut out) {
                Ok(opens) => opens,
                Err(problem) => {
                    out = problem.to_string().into_bytes();
                    false
                }
            };
            let mut response = Response::new(Full::new(Bytes::from(out)));
            let headers = response.headers_mut();
            headers.insert("content-type", "application/json".parse().expect("a value"));
            if opens {
                headers.insert("mcp-session-id", "0123456789".parse().expect("a value"));
            }
            Ok::<_, hyper::Error>(response)
        });
        tokio::spawn(async move {
            if let Err(problem) = http1::Builder::new()
                .serve_connection(TokioIo::new(socket), service)
                .await
            {
                eprintln!("{problem}");
            }
        });
    }
}

async fn stdio() -> Result<(), Box<dyn Error + Send + Sync>> {
    let reader = pipe::OpenOptions::new().open_receiver("/proc/self/fd/0")?;
    let mut writer = pipe::OpenOptions::new().open_sender("/proc/self/fd/1")?;
    let mut reader = BufReader::with_capacity(64 << 10, reader);
    let (mut line, mut out) = (Vec::new(), Vec::new());
    loop {
        line.clear();
        if reader.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        answer(&line, &mut out)?;
        // What has come already is answered in the same write.
        if !reader.buffer().contains(&b'\n') {
            writer.write_all(&out).await?;
            out.clear();
        }
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--http", address] => {
            // A server is stopped by a signal, and its exit status counts.
            let mut stop =
                tokio::signal::unix::signal(tokio::signal::unix::SignalKind::terminate())?;
            tokio::select! {
                ended = http(address) => ended,
                _ = stop.recv() => Ok(()),
            }
        }
        // The loop runs on a worker, as it does in a server, and not on the thread that waits for it.
        _ => Ok(tokio::spawn(stdio())
            .await?
            .map_err(|problem| problem.to_string())?),
    }
}
