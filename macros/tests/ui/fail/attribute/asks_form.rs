use trueform::prelude::*;

/// Books a table.
#[tool(asks)]
fn book() -> String {
    String::new()
}

/// Books a table.
#[tool(asks())]
fn nothing() -> String {
    String::new()
}

/// Books a table.
#[prompt(asks(bool, "Booking"))]
fn text() -> String {
    String::new()
}

/// Books a table.
#[resource("tables://one", asks(Vec<_>))]
fn hole() -> String {
    String::new()
}

fn main() {
    let _ = (book(), nothing(), text(), hole());
}
