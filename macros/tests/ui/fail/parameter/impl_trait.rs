use trueform::prelude::*;

/// Says hello.
#[tool]
fn hello(name: impl Into<String>) -> String {
    name.into()
}

fn main() {}
