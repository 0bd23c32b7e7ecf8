//! The server, on standard input and output.

#[tokio::main]
async fn main() -> trueform::Result {
    trueform_outside::server().run().await
}
