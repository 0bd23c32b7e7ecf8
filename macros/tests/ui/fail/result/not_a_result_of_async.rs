use trueform::prelude::*;

struct Sum(i64);

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> Result<Sum, ToolError> {
    Ok(Sum(a + b))
}

fn main() {}
