use trueform::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Add {
    a: i64,
    b: i64,
}

/// Adds.
#[tool]
fn add(#[schemars(extend("x" = 1))] Args(Add { a, b }): Args<Add>) -> i64 {
    a + b
}

fn main() {}
