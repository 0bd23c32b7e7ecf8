use trueform::prelude::*;

/// Adds.
#[tool]
async fn add(a: i64, b: i64) -> i64 {
    let sum = std::rc::Rc::new(a + b);
    std::future::ready(()).await;
    *sum
}

fn main() {}
