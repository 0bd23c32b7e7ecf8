use trueform::prelude::*;

#[derive(JsonSchema)]
struct Sum(i64);

/// Adds.
#[tool]
fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum(a + b))
}

fn main() {}
