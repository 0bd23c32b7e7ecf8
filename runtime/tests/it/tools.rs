//! Tools as their authors write them: what they take, what they return, how they fail, how they are registered.

use std::{borrow::Cow, fmt, sync::Arc};

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use trueform::{
    client::ClientError,
    prelude::*,
    schema::{ErrorObject, TextContent, Tool, ToolAnnotations},
    tool::{Audio, Blob, Extension, FromContext, Image, IntoToolResult, IntoTools, ToolSet},
};

/// The tools of `set` as a client sees them.
async fn listed(set: impl IntoTools) -> Vec<Tool> {
    Server::new("test", "1")
        .tools(set)
        .connect()
        .await
        .unwrap()
        .list_tools()
        .await
        .unwrap()
}

/// What a call of the tool `name` of `set` gives.
async fn called(set: impl IntoTools, name: &str, arguments: Value) -> CallToolResult {
    let server = Server::new("test", "1").tools(set).state(Greeting("hello"));
    server
        .connect()
        .await
        .unwrap()
        .call_tool(name, arguments)
        .await
        .unwrap()
}

fn text(result: &CallToolResult) -> &str {
    match &result.content[..] {
        [ContentBlock::Text(block)] => &block.text,
        other => panic!("not one text block: {other:?}"),
    }
}

#[track_caller]
fn check(schema: &trueform::schema::JsonObject, expected: Expect) {
    expected.assert_eq(&serde_json::to_string_pretty(&schema.to_value()).unwrap());
}

// ---- Arguments ----

/// A unit of temperature.
#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Deserialize, JsonSchema)]
struct Place {
    latitude: f64,
    longitude: f64,
    /// Places nearby.
    #[serde(default)]
    near: Vec<Place>,
}

type Aliased<T> = Option<T>;

/// Says how warm it is.
#[tool]
#[expect(clippy::too_many_arguments, reason = "one of each form")]
fn weather(
    /// Where.
    place: Place,
    unit: Unit,
    /// For how many days.
    #[schemars(range(min = 1, max = 7))]
    #[serde(default = "one")]
    days: u8,
    #[schemars(length(min = 2), regex(pattern = "^[a-z]+$"))] language: Option<String>,
    #[serde(rename = "sortBy")] sort_by: Aliased<String>,
    r#type: Aliased<bool>,
    context: Context,
    Greet(greeting): Greet,
) -> String {
    let unit = match unit {
        Unit::Celsius => "C",
        Unit::Fahrenheit => "F",
    };
    let Place {
        latitude,
        longitude,
        near,
    } = place;
    let near = near.len();
    let revision = context.revision();
    format!(
        "{greeting} {latitude} {longitude} {near} {unit} {days} {language:?} {sort_by:?} {type:?} {revision}"
    )
}

fn one() -> u8 {
    1
}

struct Greeting(&'static str);

/// Injected, and no argument, because of its trait.
struct Greet(&'static str);

impl FromContext for Greet {
    fn from_context(context: &Context) -> Result<Self, ToolError> {
        let State(greeting) = State::<Greeting>::from_context(context)?;
        Ok(Self(greeting.0))
    }
}

#[tokio::test]
async fn the_signature_is_the_schema() {
    let tools = listed(tools![weather]).await;
    assert_eq!(
        tools[0].description.as_deref(),
        Some("Says how warm it is.")
    );
    check(
        &tools[0].input_schema,
        expect![[r##"
            {
              "type": "object",
              "properties": {
                "place": {
                  "description": "Where.",
                  "$ref": "#/$defs/Place"
                },
                "unit": {
                  "type": "string",
                  "enum": [
                    "celsius",
                    "fahrenheit"
                  ],
                  "description": "A unit of temperature."
                },
                "days": {
                  "type": "integer",
                  "description": "For how many days.",
                  "minimum": 1,
                  "maximum": 7,
                  "default": 1
                },
                "language": {
                  "type": "string",
                  "minLength": 2,
                  "pattern": "^[a-z]+$"
                },
                "sortBy": {
                  "type": "string"
                },
                "type": {
                  "type": "boolean"
                }
              },
              "required": [
                "place",
                "unit"
              ],
              "additionalProperties": false,
              "$defs": {
                "Place": {
                  "type": "object",
                  "properties": {
                    "latitude": {
                      "type": "number"
                    },
                    "longitude": {
                      "type": "number"
                    },
                    "near": {
                      "type": "array",
                      "items": {
                        "$ref": "#/$defs/Place"
                      },
                      "description": "Places nearby."
                    }
                  },
                  "required": [
                    "latitude",
                    "longitude"
                  ]
                }
              }
            }"##]],
    );
}

#[tokio::test]
async fn arguments_arrive() {
    let place =
        json!({"latitude": 1, "longitude": 2.5, "near": [{"latitude": 0.5, "longitude": 0}]});
    let result = called(
        tools![weather],
        "weather",
        json!({"place": place, "unit": "celsius"}),
    )
    .await;
    assert_eq!(text(&result), "hello 1 2.5 1 C 1 None None None 2026-07-28");
    let all = json!({"type": true, "sortBy": "x", "language": "en", "days": 7, "unit": "fahrenheit", "place": place});
    let result = called(tools![weather], "weather", all).await;
    assert_eq!(
        text(&result),
        r#"hello 1 2.5 1 F 7 Some("en") Some("x") Some(true) 2026-07-28"#
    );
    let null = json!({"place": place, "unit": "celsius", "sortBy": null, "type": null});
    assert_eq!(
        text(&called(tools![weather], "weather", null).await),
        "hello 1 2.5 1 C 1 None None None 2026-07-28"
    );
}

/// Adds two numbers.
#[tool]
fn add(a: i64, b: i64) -> Json<Sum> {
    Json(Sum { sum: a + b })
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: i64,
}

// TRAP-09, GAP-13, I-6: everything that is wrong, in one answer, as a result that the model reads.
#[tokio::test]
async fn all_that_is_wrong_is_told() {
    for (arguments, problems) in [
        (
            json!({}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /a: expected integer, found nothing
            /b: expected integer, found nothing"#]],
        ),
        (
            json!({"a": "1", "b": null}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /a: expected integer, found string "1"
            /b: expected integer, found null"#]],
        ),
        (
            json!({"a": 1, "B": 2}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /b: expected integer, found nothing
            /B: expected only `a`, `b`, found unknown property `B`; did you mean `b`?"#]],
        ),
        (
            json!({"a": 1.5, "b": 1}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /a: expected integer, found number 1.5"#]],
        ),
        (
            json!({"a": 1e300, "b": 1}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /a: expected an integer from -9223372036854775808 to 9223372036854775807, written in digits alone from ±2^53 on, found 1e+300"#]],
        ),
        (
            json!({"a": 30.0, "b": u64::MAX}),
            expect![[r#"
            the arguments of tool `add` do not fit:
            /b: expected an integer from -9223372036854775808 to 9223372036854775807, found 18446744073709551615"#]],
        ),
    ] {
        let result = called(tools![add], "add", arguments).await;
        assert_eq!(
            (result.is_error, &result.structured_content),
            (Some(true), &None)
        );
        problems.assert_eq(text(&result));
    }
    let result = called(
        tools![weather],
        "weather",
        json!({"days": 9, "language": "A", "place": {"latitude": "x"}, "type": 1}),
    )
    .await;
    expect![[r#"
        the arguments of tool `weather` do not fit:
        /unit: expected one of "celsius", "fahrenheit", found nothing
        /days: expected at most 7, found integer 9
        /language: expected at least 2 characters, found string of 1 character
        /language: expected string matching `^[a-z]+$`, found string "A"
        /place/longitude: expected number, found nothing
        /place/latitude: expected number, found string "x"
        /type: expected boolean or null, found integer 1"#]]
    .assert_eq(text(&result));
}

// Models write 30.0 for 30.
#[tokio::test]
async fn integral_floats_are_integers() {
    let result = called(tools![add], "add", json!({"a": 30.0, "b": -2e1})).await;
    assert_eq!(result.structured_content.unwrap().get(), r#"{"sum":10}"#);
}

// `arguments` may be absent where nothing is required.
#[tokio::test]
async fn no_arguments() {
    /// Says nothing.
    #[tool]
    fn nothing(_note: Option<String>) {}

    /// Says nothing.
    #[tool]
    fn at_all() {}

    let client = Server::new("test", "1")
        .tools(tools![nothing, at_all])
        .connect()
        .await
        .unwrap();
    // Z-5
    let tools = client.list_tools().await.unwrap();
    assert_eq!(
        tools[1].input_schema.get(),
        r#"{"type":"object","properties":{},"additionalProperties":false}"#
    );
    for name in ["nothing", "at_all"] {
        // `null` is sent as no `arguments` at all.
        assert_eq!(
            client.call_tool(name, Value::Null).await.unwrap().content,
            []
        );
    }
    let result = client.call_tool("at_all", json!({"x": 1})).await.unwrap();
    expect![[r#"
        the arguments of tool `at_all` do not fit:
        /x: expected no properties, found unknown property `x`"#]]
    .assert_eq(text(&result));
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Query {
    /// Words.
    search_text: String,
    #[serde(default)]
    limit: Option<u32>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "op", rename_all = "snake_case")]
enum Operation {
    Get { key: String },
    Put { key: String, value: i64 },
}

#[tokio::test]
async fn all_arguments_as_one_struct() {
    /// Finds.
    #[tool]
    fn find(Args(Query { search_text, limit }): Args<Query>, _context: Context) -> String {
        format!("{search_text} {limit:?}")
    }

    /// Operates.
    #[tool]
    async fn operate(operation: Args<Operation>) -> String {
        match operation.0 {
            Operation::Get { key } => key,
            Operation::Put { key, value } => format!("{key}={value}"),
        }
    }

    let set = || tools![find, operate];
    let tools = listed(set()).await;
    check(
        &tools[0].input_schema,
        expect![[r#"
            {
              "type": "object",
              "properties": {
                "searchText": {
                  "type": "string",
                  "description": "Words."
                },
                "limit": {
                  "type": "integer",
                  "minimum": 0,
                  "maximum": 4294967295
                }
              },
              "required": [
                "searchText"
              ],
              "additionalProperties": false
            }"#]],
    );
    check(
        &tools[1].input_schema,
        expect![[r#"
            {
              "type": "object",
              "properties": {},
              "oneOf": [
                {
                  "type": "object",
                  "properties": {
                    "op": {
                      "type": "string",
                      "const": "get"
                    },
                    "key": {
                      "type": "string"
                    }
                  },
                  "required": [
                    "op",
                    "key"
                  ]
                },
                {
                  "type": "object",
                  "properties": {
                    "op": {
                      "type": "string",
                      "const": "put"
                    },
                    "key": {
                      "type": "string"
                    },
                    "value": {
                      "type": "integer"
                    }
                  },
                  "required": [
                    "op",
                    "key",
                    "value"
                  ]
                }
              ]
            }"#]],
    );
    assert_eq!(
        text(&called(set(), "find", json!({"searchText": "x", "limit": 3})).await),
        "x Some(3)"
    );
    assert_eq!(
        text(
            &called(
                set(),
                "operate",
                json!({"op": "put", "key": "k", "value": 1})
            )
            .await
        ),
        "k=1"
    );
    let result = called(set(), "find", json!({"search_text": "x", "limit": -1})).await;
    expect![[r#"
        the arguments of tool `find` do not fit:
        /searchText: expected string, found nothing
        /search_text: expected only `searchText`, `limit`, found unknown property `search_text`; did you mean `searchText`?
        /limit: expected at least 0, found integer -1"#]].assert_eq(text(&result));
    let result = called(set(), "operate", json!({"op": "put", "key": "k"})).await;
    expect![[r#"
        the arguments of tool `operate` do not fit:
        /value: expected integer, found nothing"#]]
    .assert_eq(text(&result));
}

// A type that is stricter than its schema: serde's own words, with the place.
#[tokio::test]
async fn what_only_the_type_refuses() {
    #[derive(Deserialize, JsonSchema)]
    struct Even(#[serde(deserialize_with = "even")] u32);

    fn even<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let number = u32::deserialize(deserializer)?;
        if number % 2 == 1 {
            return Err(serde::de::Error::custom(format!("{number} is odd")));
        }
        Ok(number)
    }

    /// Halves.
    #[tool]
    fn halve(numbers: Vec<Even>) -> u32 {
        numbers.iter().map(|Even(number)| number / 2).sum()
    }

    assert_eq!(
        text(&called(tools![halve], "halve", json!({"numbers": [2, 4]})).await),
        "3"
    );
    let result = called(tools![halve], "halve", json!({"numbers": [2, 3]})).await;
    expect![[r#"
        the arguments of tool `halve` do not fit:
        /numbers/1: 3 is odd"#]]
    .assert_eq(text(&result));
    let result = called(tools![halve], "halve", json!({"numbers": [4294967296_u64]})).await;
    expect![[r#"
        the arguments of tool `halve` do not fit:
        /numbers/0: expected at most 4294967295, found integer 4294967296"#]]
    .assert_eq(text(&result));
}

// ---- Injection ----

#[tokio::test]
async fn injected_parameters() {
    type Shared = State<Greeting>;

    /// Greets.
    #[tool]
    fn greet(
        name: String,
        state: Shared,
        State(again): State<Greeting>,
        principal: Option<Principal>,
        extension: Option<Extension<u32>>,
    ) -> String {
        format!(
            "{} {} {name} {} {}",
            state.0.0,
            again.0,
            principal.is_none(),
            extension.is_none()
        )
    }

    let tools = listed_with_state(tools![greet]).await;
    assert_eq!(
        tools[0].input_schema.to_value()["properties"],
        json!({"name": {"type": "string"}})
    );
    assert_eq!(
        text(&called(tools![greet], "greet", json!({"name": "you"})).await),
        "hello hello you true true"
    );
}

async fn listed_with_state(set: impl IntoTools) -> Vec<Tool> {
    let server = Server::new("test", "1").tools(set).state(Greeting("hello"));
    server.connect().await.unwrap().list_tools().await.unwrap()
}

#[tokio::test]
async fn what_cannot_be_injected_fails_the_call() {
    /// For members.
    #[tool]
    fn members_only(_caller: Principal) {}

    let result = called(tools![members_only], "members_only", json!({})).await;
    assert_eq!(
        (text(&result), result.is_error),
        ("this tool is for authenticated callers only", Some(true))
    );
}

#[test]
fn missing_state_is_a_start_error() {
    /// Needs state.
    #[tool]
    fn needs_state(_greeting: State<Greeting>) {}

    let error = Server::new("test", "1")
        .tools(tools![needs_state])
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("Greeting") && error.to_string().contains("needs_state"),
        "{error}"
    );
}

// ---- Results ----

#[tokio::test]
async fn results() {
    struct Warm(f64);

    impl IntoToolResult for Warm {
        fn into_tool_result(self) -> Result<CallToolResult, ToolError> {
            format!("{} degrees", self.0).into_tool_result()
        }
    }

    macro_rules! returning {
        ($($name:ident: $ty:ty = $value:expr => $content:tt)*) => {$(
            {
                /// Returns.
                #[tool]
                fn $name() -> $ty {
                    $value
                }
                let result = called(tools![$name], stringify!($name), json!({})).await;
                assert_eq!(serde_json::to_value(&result.content).unwrap(), json!($content), stringify!($name));
                assert_eq!((result.is_error.unwrap_or(false), result.structured_content), (false, None));
            }
        )*};
    }

    returning! {
        string: String = "a".to_owned() => [{"type": "text", "text": "a"}]
        literal: &'static str = "a" => [{"type": "text", "text": "a"}]
        cow: Cow<'static, str> = "a".into() => [{"type": "text", "text": "a"}]
        character: char = 'a' => [{"type": "text", "text": "a"}]
        integer: u128 = u128::MAX => [{"type": "text", "text": "340282366920938463463374607431768211455"}]
        float: f64 = 1.5 => [{"type": "text", "text": "1.5"}]
        boolean: bool = true => [{"type": "text", "text": "true"}]
        unit: () = () => []
        own: Warm = Warm(3.0) => [{"type": "text", "text": "3 degrees"}]
        image: Image = Image::png([1, 2, 3]) => [{"type": "image", "data": "AQID", "mimeType": "image/png"}]
        audio: Audio = Audio::wav([1]) => [{"type": "audio", "data": "AQ==", "mimeType": "audio/wav"}]
        blob: Blob = Blob::new("file:///a", "application/x-a", [1]) =>
            [{"type": "resource", "resource": {"uri": "file:///a", "mimeType": "application/x-a", "blob": "AQ=="}}]
        none: Option<String> = None => []
        some: Option<i8> = Some(1) => [{"type": "text", "text": "1"}]
        many: Vec<&'static str> = vec!["a", "b"] => [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
        mixed: Vec<ContentBlock> = vec![TextContent::new("a").into(), Image::svg("<svg/>").into()] =>
            [{"type": "text", "text": "a"}, {"type": "image", "data": "PHN2Zy8+", "mimeType": "image/svg+xml"}]
        whole: CallToolResult = CallToolResult::new(vec![]) => []
        fine: Result<Option<bool>, fmt::Error> = Ok(Some(true)) => [{"type": "text", "text": "true"}]
    }
}

#[derive(Serialize, JsonSchema)]
struct Tree {
    name: String,
    size: u64,
    children: Vec<Tree>,
}

fn leaf() -> Tree {
    Tree {
        name: "leaf".to_owned(),
        size: 1,
        children: Vec::new(),
    }
}

// I-7, I-9
#[tokio::test]
async fn structured_results() {
    /// Grows a tree.
    #[tool]
    fn grow(tall: bool) -> Option<Json<Tree>> {
        tall.then(|| Json(leaf()))
    }

    /// Grows trees.
    #[tool]
    async fn forest() -> Result<Json<Vec<Tree>>, ToolError> {
        Ok(Json(vec![leaf()]))
    }

    let set = || tools![add, grow, forest];
    let tools = listed(set()).await;
    check(
        tools[0].output_schema.as_ref().unwrap(),
        expect![[r#"
        {
          "type": "object",
          "properties": {
            "sum": {
              "type": "integer"
            }
          },
          "required": [
            "sum"
          ]
        }"#]],
    );
    check(
        tools[1].output_schema.as_ref().unwrap(),
        expect![[r##"
            {
              "type": [
                "object",
                "null"
              ],
              "properties": {
                "name": {
                  "type": "string"
                },
                "size": {
                  "type": "integer",
                  "minimum": 0
                },
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Tree"
                  }
                }
              },
              "required": [
                "name",
                "size",
                "children"
              ],
              "$defs": {
                "Tree": {
                  "type": "object",
                  "properties": {
                    "name": {
                      "type": "string"
                    },
                    "size": {
                      "type": "integer",
                      "minimum": 0
                    },
                    "children": {
                      "type": "array",
                      "items": {
                        "$ref": "#/$defs/Tree"
                      }
                    }
                  },
                  "required": [
                    "name",
                    "size",
                    "children"
                  ]
                }
              }
            }"##]],
    );
    check(
        tools[2].output_schema.as_ref().unwrap(),
        expect![[r##"
        {
          "type": "array",
          "items": {
            "$ref": "#/$defs/Tree"
          },
          "$defs": {
            "Tree": {
              "type": "object",
              "properties": {
                "name": {
                  "type": "string"
                },
                "size": {
                  "type": "integer",
                  "minimum": 0
                },
                "children": {
                  "type": "array",
                  "items": {
                    "$ref": "#/$defs/Tree"
                  }
                }
              },
              "required": [
                "name",
                "size",
                "children"
              ]
            }
          }
        }"##]],
    );
    for (name, arguments, structured) in [
        ("add", json!({"a": 1, "b": 2}), r#"{"sum":3}"#),
        (
            "grow",
            json!({"tall": true}),
            r#"{"name":"leaf","size":1,"children":[]}"#,
        ),
        ("grow", json!({"tall": false}), "null"),
        (
            "forest",
            json!({}),
            r#"[{"name":"leaf","size":1,"children":[]}]"#,
        ),
    ] {
        let result = called(set(), name, arguments).await;
        assert_eq!(
            result.structured_content.as_ref().unwrap().get(),
            structured
        );
        assert_eq!(text(&result), structured);
    }
}

// I-7: nothing leaves that the output schema forbids.
#[tokio::test]
async fn results_that_break_their_schema_are_held_back() {
    #[derive(Serialize, JsonSchema)]
    struct Share {
        #[schemars(range(min = 0.0, max = 1.0))]
        share: f64,
    }

    /// Says which share it is.
    #[tool]
    fn share(of: f64) -> Json<Share> {
        Json(Share { share: of })
    }

    let client = Server::new("test", "1")
        .tools(tools![share])
        .connect()
        .await
        .unwrap();
    assert!(client.call_tool("share", json!({"of": 0.5})).await.is_ok());
    let error = client
        .call_tool("share", json!({"of": 1.5}))
        .await
        .unwrap_err();
    assert_eq!(error.code(), Some(-32603));
    assert!(!error.to_string().contains("1.5"), "{error}");
}

// ---- Errors ----

#[derive(Debug)]
struct Broken(std::num::ParseIntError);

impl fmt::Display for Broken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("broken")
    }
}

impl std::error::Error for Broken {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.0)
    }
}

#[tokio::test]
async fn errors() {
    fn parsed() -> Result<u8, std::num::ParseIntError> {
        "x".parse()
    }

    macro_rules! failing {
        ($($name:ident: $error:ty = $body:expr => $message:literal)*) => {$(
            {
                /// Fails.
                #[tool]
                async fn $name() -> Result<Json<Sum>, $error> {
                    $body
                }
                let result = called(tools![$name], stringify!($name), json!({})).await;
                assert_eq!((text(&result), result.is_error), ($message, Some(true)));
                assert_eq!(result.structured_content, None);
            }
        )*};
    }

    failing! {
        own: Broken = Err(Broken(parsed().unwrap_err())) => "broken"
        boxed: Box<dyn std::error::Error + Send + Sync> = Err("boxed".into()) => "boxed"
        any: anyhow::Error = Err(anyhow::Error::new(parsed().unwrap_err()).context("no number")) => "no number"
        string: String = Err("text".to_owned()) => "text"
        literal: &'static str = Err("text") => "text"
        tool_error: ToolError = Err(ToolError::new("try another")) => "try another"
        question_mark: ToolError = {
            parsed()?;
            unreachable!()
        } => "invalid digit found in string"
        hidden: ToolError = Err(ToolError::internal(Broken(parsed().unwrap_err()))) => "internal error"
    }
}

#[tokio::test]
async fn errors_of_more_than_text() {
    /// Fails with a picture.
    #[tool]
    fn picture() -> Result<(), ToolError> {
        Err(ToolError::new("see").with_content(Image::png([1])))
    }

    /// Fails as JSON-RPC does.
    #[tool]
    fn protocol() -> Result<(), ToolError> {
        Err(ToolError::protocol(ErrorObject::new(4000, "not today")))
    }

    assert_eq!(
        called(tools![picture], "picture", json!({}))
            .await
            .content
            .len(),
        2
    );
    let client = Server::new("test", "1")
        .tools(tools![protocol])
        .connect()
        .await
        .unwrap();
    match client.call_tool("protocol", json!({})).await.unwrap_err() {
        ClientError::Remote(error) => {
            assert_eq!((error.code, &*error.message), (4000, "not today"))
        }
        other => panic!("{other}"),
    }
}

// ---- Servers ----

struct Notes<S> {
    store: S,
}

#[server]
impl<S> Notes<S>
where
    S: AsRef<[&'static str]> + Send + Sync + 'static,
{
    const FIRST: usize = 1;

    /// Reads a note.
    #[tool(read_only, title = "Read")]
    async fn read(&self, number: usize) -> Result<&str, String> {
        self.store
            .as_ref()
            .get(number - Self::FIRST)
            .copied()
            .ok_or_else(|| format!("there is no note {number}"))
    }

    /// Counts the notes.
    #[tool(name = "notes.count")]
    fn count(&self) -> usize {
        self.len()
    }

    /// Counts the notes, slowly.
    #[tool(blocking)]
    fn slow_count(&self) -> usize {
        self.len()
    }

    /// Says which version it is.
    #[tool]
    fn version() -> &'static str {
        "1"
    }

    /// Only in builds that nobody makes.
    #[cfg(any())]
    #[tool]
    fn gone(&self, _no_such_type: Missing) {}

    fn len(&self) -> usize {
        self.store.as_ref().len()
    }
}

#[tokio::test]
async fn methods_of_a_server() {
    let notes = Arc::new(Notes {
        store: vec!["first", "second"],
    });
    let tools = listed(notes.clone()).await;
    let names: Vec<_> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["read", "notes.count", "slow_count", "version"]);
    for (name, arguments, expected) in [
        ("read", json!({"number": 2}), "second"),
        ("read", json!({"number": 3}), "there is no note 3"),
        ("notes.count", json!({}), "2"),
        ("slow_count", json!({}), "2"),
        ("version", json!({}), "1"),
    ] {
        assert_eq!(
            text(&called(notes.clone(), name, arguments).await),
            expected
        );
    }
    // They stay methods.
    assert_eq!((notes.count(), notes.read(1).await), (2, Ok("first")));
}

// ---- Attributes ----

#[tokio::test]
async fn everything_an_attribute_says() {
    #[tool(
        name = "files.remove",
        title = "Remove a file",
        description = "Removes a file for good.",
        destructive,
        idempotent = false,
        open_world = false,
        icons("https://example.com/a.png", icon(src = "data:,", mime_type = "image/png", sizes = "48x48 any", theme = "dark")),
        meta("com.example/tier" = "gold", level = -3, ratio = 0.5, on = true),
        timeout("30s", reset_by_progress, hard_limit = "10m")
    )]
    async fn remove(path: String) {
        drop(path);
    }

    let tools = listed(tools![remove]).await;
    expect![[r#"{"_meta":{"com.example/tier":"gold","level":-3,"ratio":0.5,"on":true},"annotations":{"destructiveHint":true,"idempotentHint":false,"openWorldHint":false},"description":"Removes a file for good.","icons":[{"src":"https://example.com/a.png"},{"mimeType":"image/png","sizes":["48x48","any"],"src":"data:,","theme":"dark"}],"inputSchema":{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false},"name":"files.remove","title":"Remove a file"}"#]].assert_eq(&serde_json::to_string_pretty(&tools[0]).unwrap());
}

#[test]
fn a_function_stays_a_function() {
    assert_eq!(add(1, 2).0.sum, 3);
}

// ---- Registration ----

#[tokio::test]
async fn dynamic_tools() {
    let schema = json!({"type": "object", "properties": {"n": {"type": "integer", "minimum": 1}}, "required": ["n"]});
    let tool = || {
        DynamicTool::new("twice", schema.clone())
            .description("Doubles.")
            .annotations(ToolAnnotations::default().with_read_only_hint(true))
            .output_schema(json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}))
            .handler(|_context, arguments| async move {
                let n = arguments.to_value()["n"].as_i64().unwrap_or_default();
                if n == 13 { Err("not thirteen") } else { Ok(Json(json!({"n": 2 * n}))) }
            })
    };
    let listed = listed(tool()).await;
    assert_eq!(listed[0].input_schema.to_value(), schema);
    let result = called(tool(), "twice", json!({"n": 4, "more": true})).await;
    assert_eq!(result.structured_content.unwrap().get(), r#"{"n":8}"#);
    assert_eq!(
        text(&called(tool(), "twice", json!({"n": 13})).await),
        "not thirteen"
    );
    expect![[r#"
        the arguments of tool `twice` do not fit:
        /n: expected at least 1, found integer 0"#]]
    .assert_eq(text(&called(tool(), "twice", json!({"n": 0})).await));
}

#[test]
fn problems_are_told_all_at_once() {
    /// Doubles.
    #[tool(name = "one")]
    fn first(Args(_): Args<i64>) {}

    /// Doubles.
    #[tool]
    fn both(_all: Args<Query>, _one: String) {}

    /// Doubles.
    #[tool]
    fn reserved(#[schemars(extend("x-mcp-header" = "no token"))] _region: String) {}

    #[tool(name = "add", description = "Also adds.", meta("io.modelcontextprotocol/x" = 1))]
    fn other_add() {}

    /// Greets.
    #[tool(name = "bad")]
    fn greet(_greeting: State<Greeting>, #[schemars(regex(pattern = "("))] _name: String) {}

    /// Greets too.
    #[tool(name = "add")]
    fn greet_again(_greeting: State<Greeting>) {}

    let set = tools![first, both, reserved, add, other_add, greet, greet_again];
    let mut dynamic = ToolSet::new();
    dynamic.extend(DynamicTool::new("no handler", json!({"type": "object"})));
    dynamic.extend(DynamicTool::new("a b", json!({"type": "object"})).handler(async |_, _| ()));
    dynamic.extend(DynamicTool::new("bad", json!({"type": "objekt"})).handler(async |_, _| ()));
    dynamic.extend(DynamicTool::new("worse", json!(true)).handler(async |_, _| ()));
    dynamic.extend(DynamicTool::new("add", json!({"type": "object"})).handler(async |_, _| ()));
    let error = Server::new("test", "1")
        .tools(set)
        .tools(dynamic)
        .revisions([])
        .build()
        .unwrap_err();
    let told: Vec<String> = error
        .problems()
        .iter()
        .map(|problem| without_lines(problem))
        .collect();
    expect![[r#"
        fn `first` at runtime/tests/it/tools.rs:LINE takes `Args<i64>`, whose schema is not that of an object
        fn `both` at runtime/tests/it/tools.rs:LINE takes `Args`, which is all arguments, and `_one`; move `_one` into its struct
        the input schema of tool `reserved` (fn `reserved` at runtime/tests/it/tools.rs:LINE): /properties/_region/x-mcp-header: `no token` is not a header name: use letters, digits and `!#$%&'*+-.^_`|~`
        `io.modelcontextprotocol/x` in the `_meta` of tool `add` (fn `other_add` at runtime/tests/it/tools.rs:LINE) is reserved for the protocol
        two tools are named `add`: fn `add` at runtime/tests/it/tools.rs:LINE and fn `other_add` at runtime/tests/it/tools.rs:LINE
        the input schema of tool `bad` (fn `greet` at runtime/tests/it/tools.rs:LINE): /properties/_name/pattern: `(` is not a usable pattern: found open group without closing ')'
        two tools are named `add`: fn `add` at runtime/tests/it/tools.rs:LINE and fn `greet_again` at runtime/tests/it/tools.rs:LINE
        tool `no handler` (the dynamic tool at runtime/tests/it/tools.rs:LINE) has no handler
        `a b` (the dynamic tool at runtime/tests/it/tools.rs:LINE) is not a tool name: it has 1 to 128 of the characters `A`-`Z`, `a`-`z`, `0`-`9`, `_`, `-` and `.`
        the input schema of tool `bad` (the dynamic tool at runtime/tests/it/tools.rs:LINE) needs `"type": "object"` at its root
        the input schema of tool `bad` (the dynamic tool at runtime/tests/it/tools.rs:LINE): /type: `type` is one of `null`, `boolean`, `integer`, `number`, `string`, `array`, `object` or a list of them, not "objekt"
        two tools are named `bad`: fn `greet` at runtime/tests/it/tools.rs:LINE and the dynamic tool at runtime/tests/it/tools.rs:LINE
        the input schema of tool `worse` (the dynamic tool at runtime/tests/it/tools.rs:LINE) is not an object
        two tools are named `add`: fn `add` at runtime/tests/it/tools.rs:LINE and the dynamic tool at runtime/tests/it/tools.rs:LINE
        tool `add` (fn `greet_again` at runtime/tests/it/tools.rs:LINE) takes `State<it::tools::Greeting>`, but no such value was registered; call `Server::state` with one of exactly that type: it needs no `Arc`
        tool `bad` (fn `greet` at runtime/tests/it/tools.rs:LINE) takes `State<it::tools::Greeting>`, but no such value was registered; call `Server::state` with one of exactly that type: it needs no `Arc`
        `revisions` leaves no revision to serve"#]].assert_eq(&told.join("\n"));
}

/// `text` with `LINE` for the numbers that move with each edit of this file.
fn without_lines(text: &str) -> String {
    let mut pieces = text.split("tools.rs:");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str("tools.rs:LINE");
        out.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    }
    out
}

#[tokio::test]
async fn merged_and_nested() {
    /// Says where it is.
    #[tool]
    fn inner() -> &'static str {
        "inside"
    }

    let nested = Server::new("inner", "1").tools(tools![inner, add]);
    let client = Server::new("outer", "1")
        .tools(tools![add])
        .nest("sub", nested)
        .connect()
        .await
        .unwrap();
    let names: Vec<_> = client
        .list_tools()
        .await
        .unwrap()
        .into_iter()
        .map(|tool| tool.name)
        .collect();
    assert_eq!(names, ["add", "sub_inner", "sub_add"]);
    assert_eq!(
        text(&client.call_tool("sub_inner", json!({})).await.unwrap()),
        "inside"
    );
}
