use trueform::prelude::*;

struct Sum(i64);

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Vec<Sum> {
    vec![Sum(a + b)]
}

fn main() {}
