//! Certificates that a client does not trust, and one that it does. What it trusts is set for a whole process, so each case is one:
//! this program starts itself, and `SSL_CERT_FILE` says what is trusted.

use std::{future::IntoFuture, process::Command, time::Duration};

use trueform::client::{Client, ClientError, HttpError, HttpErrorKind, LocalError};
use trueform_tls::{CERTIFICATE, start};

/// Longest that a case may take.
const LIMIT: Duration = Duration::from_secs(60);

/// Runs the test `name`, which is ignored otherwise, with the certificates in the file `trusted`.
fn run(name: &str, trusted: &str) {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--ignored", "--exact", name, "--nocapture"])
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    let more = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}{more}");
    assert!(text.contains("1 passed"), "{text}{more}");
}

async fn connect(host: &str) -> Result<Client, ClientError> {
    let url = format!("https://{host}:{}/mcp", start().await);
    let connecting = Client::connect(url);
    tokio::time::timeout(LIMIT, connecting)
        .await
        .expect("in time")
}

#[track_caller]
fn refused(outcome: Result<Client, ClientError>) -> HttpError {
    match outcome {
        Err(ClientError::Local(LocalError::Http(error))) => *error,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn assert_says(error: &HttpError, host: &str, why: &str) {
    assert_eq!(
        (error.kind(), error.status()),
        (HttpErrorKind::Connect, None)
    );
    let text = error.to_string();
    assert!(text.starts_with(&format!("POST https://{host}:")), "{text}");
    assert!(text.contains(why), "{text}");
    let advice = "; check the address, that the server speaks TLS there, and that the system trusts its certificate";
    assert!(text.ends_with(advice), "{text}");
}

// A TLS error says why, and what to check.
#[test]
fn a_certificate_that_nobody_signed() {
    // Another certificate, so that there is one to trust.
    run(
        "untrusted",
        concat!(env!("CARGO_MANIFEST_DIR"), "/certificates/other.pem"),
    );
}

#[tokio::test]
#[ignore = "started by `a_certificate_that_nobody_signed`"]
async fn untrusted() {
    let error = refused(connect("localhost").await);
    assert_says(
        &error,
        "localhost",
        "invalid peer certificate: UnknownIssuer",
    );
}

#[test]
fn a_certificate_that_is_trusted() {
    run("trusted", CERTIFICATE);
}

#[tokio::test]
#[ignore = "started by `a_certificate_that_is_trusted`"]
async fn trusted() {
    let client = connect("localhost").await.unwrap();
    let calling = client.call_tool("x", ()).into_future();
    let result = tokio::time::timeout(LIMIT, calling).await.expect("in time");
    assert_eq!(result.unwrap().text(), "over TLS");
    client.close().await;
    // It is for another name.
    let error = refused(connect("127.0.0.1").await);
    assert_says(&error, "127.0.0.1", "invalid peer certificate");
}
