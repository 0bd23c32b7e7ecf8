use trueform::prelude::*;

/// Books a table.
#[tool(asks(bool, Option<u8>, bool))]
fn book() -> String {
    String::new()
}

fn main() {
    let _ = book();
}
