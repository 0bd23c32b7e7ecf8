use trueform::prelude::*;

/// Adds.
#[tool]
fn añadir(a: i64, b: i64) -> i64 {
    a + b
}

fn main() {}
