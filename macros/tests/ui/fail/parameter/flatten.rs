use trueform::prelude::*;

#[derive(Deserialize, JsonSchema)]
struct Numbers {
    a: i64,
    b: i64,
}

/// Adds.
#[tool]
fn add(#[serde(flatten)] numbers: Numbers) -> i64 {
    numbers.a + numbers.b
}

fn main() {}
