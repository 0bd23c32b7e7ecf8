use trueform::prelude::*;

#[server]
struct Calculator;

fn main() {}
