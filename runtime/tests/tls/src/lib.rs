//! A server over TLS, with the certificate of the tests, for one name.

use std::sync::Arc;

use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::TcpListener,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
    },
};

/// The certificate, which signs itself. It is for the name `localhost` only.
pub const CERTIFICATE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/certificates/localhost.pem");

/// Starts the server. Returns its port.
pub async fn start() -> u16 {
    let certificate = include_bytes!("../certificates/localhost.pem");
    let certificate = CertificateDer::from_pem_slice(certificate).expect("a certificate");
    let key = include_bytes!("../certificates/key.pem");
    let key = PrivateKeyDer::from_pem_slice(key).expect("a key");
    let config = ServerConfig::builder()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a configuration");
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((socket, _)) = listener.accept().await {
            let acceptor = acceptor.clone();
            tokio::spawn(async move {
                // A client that does not trust the certificate ends the handshake.
                if let Ok(mut socket) = acceptor.accept(socket).await {
                    while answer(&mut socket).await.is_some() {}
                }
            });
        }
    });
    port
}

/// Reads a request and answers it; `None` at the end of the connection.
async fn answer(socket: &mut (impl AsyncRead + AsyncWrite + Unpin)) -> Option<()> {
    let mut text = Vec::new();
    let body = loop {
        if let Some(body) = body_of(&text) {
            break body;
        }
        if socket.read_buf(&mut text).await.ok()? == 0 {
            return None;
        }
    };
    let result = match body["method"].as_str() {
        Some("server/discover") => json!({
            "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
            "capabilities": { "tools": {} },
        }),
        _ => {
            json!({ "resultType": "complete", "content": [{ "type": "text", "text": "over TLS" }] })
        }
    };
    let body = json!({ "jsonrpc": "2.0", "id": body["id"], "result": result }).to_string();
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
        body.len()
    );
    socket.write_all((head + &body).as_bytes()).await.ok()?;
    socket.flush().await.ok()
}

/// The message in a request, once it is whole.
fn body_of(request: &[u8]) -> Option<Value> {
    let end = request.windows(4).position(|bytes| bytes == b"\r\n\r\n")? + 4;
    serde_json::from_slice(&request[end..]).ok()
}
