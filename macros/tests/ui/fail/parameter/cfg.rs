use trueform::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, #[cfg(unix)] b: i64) -> i64 {
    a + b
}

fn main() {}
