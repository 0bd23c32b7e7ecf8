use trueform::prelude::*;

/// Adds.
#[tool]
unsafe extern "C" fn add(a: i64, _more: ...) -> i64 {
    a
}

fn main() {}
