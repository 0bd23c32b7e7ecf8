use trueform::prelude::*;

struct Db;

/// Counts the rows.
#[tool]
fn rows(db: Db) -> u64 {
    let _ = db;
    0
}

fn main() {
    let _ = Server::new("shop", "1.0.0").tools(tools![rows]).state(Db);
}
