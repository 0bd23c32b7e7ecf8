use trueform::prelude::*;

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a + b
}

fn subtract(a: i64, b: i64) -> i64 {
    a - b
}

fn main() {
    subtract(1, 2);
    let _ = tools![add, add];
}
