use trueform::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

async fn serve() -> trueform::Result {
    Server::new("calc", "1").tools(tools![add]).serve_http("127.0.0.1:8000").await
}

fn router() {
    let _ = Server::new("calc", "1").build().unwrap().into_router();
}

fn main() {}
