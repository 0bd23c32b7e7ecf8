/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

/// Says hello.
#[tool]
pub async fn hello() -> &'static str {
    "hello"
}
