//! Tools without the prelude: derives as the compiler's messages advise them, with nothing but `trueform`.

// Tools own their arguments, so this lint of clippy's has nothing to say about them.
#![deny(clippy::needless_pass_by_value)]

/// A place.
#[derive(trueform::serde::Deserialize, trueform::schemars::JsonSchema)]
#[serde(crate = "trueform::serde")]
#[schemars(crate = "trueform::schemars")]
struct Point {
    x: i64,
    y: i64,
}

/// How far it is.
#[derive(trueform::serde::Serialize, trueform::schemars::JsonSchema)]
#[serde(crate = "trueform::serde")]
#[schemars(crate = "trueform::schemars")]
struct Distance {
    far: i64,
}

/// Measures the way to a point.
#[trueform::tool]
fn measure(to: Point, _via: Vec<String>) -> trueform::Json<Distance> {
    let far = to.x.abs() + to.y.abs();
    trueform::Json(Distance { far })
}

/// Measures the way to a point.
#[trueform::tool]
fn measure_whole(trueform::Args(to): trueform::Args<Point>) -> i64 {
    to.x.abs() + to.y.abs()
}

struct Origin(Point);

#[trueform::server]
impl Origin {
    /// Measures the way from the origin.
    #[tool]
    fn from_origin(&self, to: Point, _via: Vec<String>) -> i64 {
        (to.x - self.0.x).abs() + (to.y - self.0.y).abs()
    }
}

#[tokio::test]
async fn the_advised_derives_serve() {
    let tools = trueform::tools![measure, measure_whole];
    let server = trueform::Server::new("ways", "1.0.0")
        .tools(tools)
        .tools(Origin(Point { x: 1, y: 1 }));
    let client = server.connect().await.expect("the tools are right");
    let to = serde_json::json!({ "to": { "x": 3, "y": -4 }, "_via": [] });
    let far = client.call_tool("measure", &to).await.expect("a result");
    assert_eq!(
        far.structured_content.expect("a value").get(),
        r#"{"far":7}"#
    );
    let to = serde_json::json!({ "x": 3, "y": -4 });
    let far = client.call_tool("measure_whole", &to).await;
    assert_eq!(far.expect("a result").text(), "7");
}
