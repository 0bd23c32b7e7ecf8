//! Serves the bookmarks extension. `cargo run -p custom-extension` serves standard input and output; with `-- --http 127.0.0.1:8000` it
//! serves `http://127.0.0.1:8000/mcp`.

#[tokio::main]
async fn main() -> trueform::Result {
    let arguments = std::env::args().skip(1);
    custom_extension::server().run_with(arguments).await
}
