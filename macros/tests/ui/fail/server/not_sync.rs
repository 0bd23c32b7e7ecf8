use trueform::prelude::*;

struct Calculator(std::cell::Cell<i64>);

#[server]
impl Calculator {
    /// Adds.
    #[tool]
    fn add(&self, a: i64) -> i64 {
        self.0.set(self.0.get() + a);
        self.0.get()
    }
}

fn main() {}
