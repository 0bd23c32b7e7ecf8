use trueform::prelude::*;

/// Adds.
#[tool(mime_type = "text/plain")]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {
    add(1, 2);
}
