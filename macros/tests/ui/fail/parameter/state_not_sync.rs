use std::cell::Cell;

use trueform::prelude::*;

struct Visits(Cell<u64>);

/// Counts a visit.
#[tool]
fn visit(visits: State<Visits>) -> u64 {
    visits.0.0.get()
}

fn main() {}
