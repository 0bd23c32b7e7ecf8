struct Point {
    x: i64,
}

/// Shows a point.
#[trueform::tool]
fn show(point: Point) -> i64 {
    point.x
}

fn main() {}
