use trueform::prelude::*;

trait Calculate {
    fn add(&self, a: i64, b: i64) -> i64;
}

struct Calculator;

#[server]
impl Calculate for Calculator {
    /// Adds.
    #[tool]
    fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

fn main() {}
