use std::cell::Cell;

use trueform::prelude::*;

fn main() {
    let _ = Server::new("shop", "1.0.0").state(Cell::new(0));
}
