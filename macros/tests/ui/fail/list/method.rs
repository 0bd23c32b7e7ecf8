use trueform::prelude::*;

struct Calculator;

#[server]
impl Calculator {
    /// Adds.
    #[tool]
    fn add(&self, a: i64, b: i64) -> i64 {
        a + b
    }
}

fn main() {
    let _ = tools![Calculator::add];
}
