use trueform::prelude::*;

struct Add {
    a: i64,
    b: i64,
}

/// Adds.
#[tool]
fn add(add: Args<Add>) -> i64 {
    add.0.a + add.0.b
}

fn main() {}
