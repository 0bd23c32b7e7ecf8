use trueform::prelude::*;

struct Booking;

/// Books a table.
#[tool(asks(Booking))]
fn book() -> String {
    String::new()
}

fn main() {
    let _ = book();
}
