//! What is advertised is enforced, whatever serde would take.

#![allow(dead_code, reason = "fields are read by `Debug`")]

mod limits;
mod numbers;

use expect_test::{Expect, expect};
use serde_json::Value;
use trueform::{Profile, prelude::*, schema::JsonObject, tool::ToolSet};

/// Text of the result of a call, without the line that all refusals begin with.
async fn called(client: &trueform::client::Client, name: &str, arguments: &str) -> String {
    let arguments: JsonObject = serde_json::from_str(arguments).unwrap();
    let result = client.call_tool(name, arguments).await.unwrap();
    let text = match &result.content[..] {
        [ContentBlock::Text(block)] => &*block.text,
        other => panic!("not one text block: {other:?}"),
    };
    let first = format!("the arguments of tool `{name}` do not fit:\n");
    match text.strip_prefix(&first) {
        Some(problems) => {
            assert_eq!(result.is_error, Some(true), "{text}");
            problems.to_owned()
        }
        None => {
            assert_eq!(result.is_error, None, "{text}");
            text.to_owned()
        }
    }
}

/// Holds the answers of one tool to `expected`, in both profiles: a line with the arguments, and the answer.
async fn check(set: impl Fn() -> ToolSet, arguments: &[&str], expected: Expect) {
    for profile in [Profile::AsWritten, Profile::Portable] {
        let tools = set();
        let name = tools.names().next().unwrap().to_owned();
        let server = Server::new("test", "1").tools(tools).profile(profile);
        let client = server.connect().await.unwrap();
        let mut answers = String::new();
        for arguments in arguments {
            let answer = called(&client, &name, arguments).await;
            answers.push_str(&format!(
                "{arguments}\n    {}\n",
                answer.replace('\n', "\n    ")
            ));
        }
        expected.assert_eq(&answers);
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
struct Paging {
    limit: u64,
    offset: Option<i64>,
}

// serde drops what a flattened `Option` cannot read, and a float is not an integer to it.
#[tokio::test]
async fn a_flattened_option_drops_nothing() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Query {
        word: String,
        #[serde(flatten)]
        paging: Option<Paging>,
    }

    /// Finds.
    #[tool]
    fn find(Args(query): Args<Query>) -> String {
        format!("{query:?}")
    }

    /// Finds.
    #[tool]
    fn find_by(query: Query) -> String {
        format!("{query:?}")
    }

    check(
        || tools![find],
        &[
            r#"{"word":"a"}"#,
            r#"{"word":"a","limit":3}"#,
            r#"{"word":"a","limit":3.0,"offset":-2e1}"#,
            r#"{"word":"a","limit":"3"}"#,
            r#"{"word":"a","limit":3.5}"#,
            r#"{"word":"a","limit":-1}"#,
            r#"{"word":"a","limit":1e19}"#,
            r#"{"word":"a","limit":10000000000000000000}"#,
            r#"{"word":"a","limit":18446744073709551616}"#,
            r#"{"word":"a","limit":1,"offset":9223372036854775808}"#,
            r#"{"word":"a","limit":1,"offset":"x"}"#,
            r#"{"word":"a","limit":null}"#,
        ],
        expect![[r#"
            {"word":"a"}
                Query { word: "a", paging: None }
            {"word":"a","limit":3}
                Query { word: "a", paging: Some(Paging { limit: 3, offset: None }) }
            {"word":"a","limit":3.0,"offset":-2e1}
                Query { word: "a", paging: Some(Paging { limit: 3, offset: Some(-20) }) }
            {"word":"a","limit":"3"}
                /limit: expected integer, found string "3"
            {"word":"a","limit":3.5}
                /limit: expected integer, found number 3.5
            {"word":"a","limit":-1}
                /limit: expected at least 0, found integer -1
            {"word":"a","limit":1e19}
                /limit: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number 1e+19
            {"word":"a","limit":10000000000000000000}
                Query { word: "a", paging: Some(Paging { limit: 10000000000000000000, offset: None }) }
            {"word":"a","limit":18446744073709551616}
                /limit: expected at most 18446744073709551615, found number 1.8446744073709552e+19
            {"word":"a","limit":1,"offset":9223372036854775808}
                /offset: expected at most 9223372036854775807, found integer 9223372036854775808
            {"word":"a","limit":1,"offset":"x"}
                /offset: expected integer or null, found string "x"
            {"word":"a","limit":null}
                Query { word: "a", paging: None }
        "#]],
    )
    .await;
    check(
        || tools![find_by],
        &[
            r#"{"query":{"word":"a","limit":3.0}}"#,
            r#"{"query":{"word":"a","limit":"3"}}"#,
        ],
        expect![[r#"
            {"query":{"word":"a","limit":3.0}}
                Query { word: "a", paging: Some(Paging { limit: 3, offset: None }) }
            {"query":{"word":"a","limit":"3"}}
                /query/limit: expected integer, found string "3"
        "#]],
    )
    .await;
}

// serde takes an array for a struct.
#[tokio::test]
async fn structs_are_objects() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Point {
        x: i64,
        y: i64,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Pair(i64, i64);

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Nothing;

    /// Moves.
    #[tool]
    fn go(
        at: Point,
        by: Option<Vec<Point>>,
        pair: Option<Pair>,
        nothing: Option<Nothing>,
    ) -> String {
        format!("{at:?} {by:?} {pair:?} {nothing:?}")
    }

    check(
        || tools![go],
        &[
            r#"{"at":{"x":1,"y":2},"by":[{"y":3.0,"x":4}],"pair":[1,2]}"#,
            r#"{"at":[1,2]}"#,
            r#"{"at":{"x":1,"y":2},"by":[[3,4]]}"#,
            r#"{"at":{"x":1,"y":2},"pair":[1,2,3]}"#,
            r#"{"at":{"x":1,"y":2,"z":3}}"#,
        ],
        expect![[r#"
            {"at":{"x":1,"y":2},"by":[{"y":3.0,"x":4}],"pair":[1,2]}
                Point { x: 1, y: 2 } Some([Point { x: 4, y: 3 }]) Some(Pair(1, 2)) None
            {"at":[1,2]}
                /at: expected object, found array of 2 items
            {"at":{"x":1,"y":2},"by":[[3,4]]}
                /by/0: expected object, found array of 2 items
            {"at":{"x":1,"y":2},"pair":[1,2,3]}
                /pair: expected at most 2 items, found array of 3 items
            {"at":{"x":1,"y":2,"z":3}}
                Point { x: 1, y: 2 } None None None
        "#]],
    )
    .await;
}

// What a function of the author's reads is not what is advertised.
#[tokio::test]
async fn deserialize_with_takes_no_more_than_the_schema() {
    /// A number, or text that is one.
    fn lax<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
        let value = Value::deserialize(deserializer)?;
        match &value {
            Value::String(text) => text.parse().map_err(serde::de::Error::custom),
            _ => value
                .as_u64()
                .and_then(|number| u32::try_from(number).ok())
                .ok_or_else(|| serde::de::Error::custom("neither number nor text")),
        }
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Lax {
        #[serde(deserialize_with = "lax")]
        n: u32,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Wrapped(#[serde(deserialize_with = "lax")] u32);

    /// Looks like an integer to clients.
    #[derive(Debug)]
    struct ByHand(u32);

    impl<'de> Deserialize<'de> for ByHand {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            lax(deserializer).map(Self)
        }
    }

    impl JsonSchema for ByHand {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            u32::schema_name()
        }

        fn inline_schema() -> bool {
            true
        }

        fn json_schema(
            generator: &mut trueform::schemars::SchemaGenerator,
        ) -> trueform::schemars::Schema {
            u32::json_schema(generator)
        }
    }

    /// Counts.
    #[tool]
    fn count(
        #[serde(deserialize_with = "lax")] n: u32,
        lax: Option<Lax>,
        wrapped: Option<Wrapped>,
        by_hand: Option<ByHand>,
        list: Option<Vec<ByHand>>,
    ) -> String {
        format!("{n} {lax:?} {wrapped:?} {by_hand:?} {list:?}")
    }

    check(
        || tools![count],
        &[
            r#"{"n":3,"lax":{"n":4.0},"wrapped":5.0,"by_hand":6.0,"list":[7e0]}"#,
            r#"{"n":"3"}"#,
            r#"{"n":3,"lax":{"n":"4"},"wrapped":"5","by_hand":"6","list":["7"]}"#,
        ],
        expect![[r#"
            {"n":3,"lax":{"n":4.0},"wrapped":5.0,"by_hand":6.0,"list":[7e0]}
                3 Some(Lax { n: 4 }) Some(Wrapped(5)) Some(ByHand(6)) Some([ByHand(7)])
            {"n":"3"}
                /n: expected integer, found string "3"
            {"n":3,"lax":{"n":"4"},"wrapped":"5","by_hand":"6","list":["7"]}
                /lax/n: expected integer, found string "4"
                /wrapped: expected integer or null, found string "5"
                /by_hand: expected integer or null, found string "6"
                /list/0: expected integer, found string "7"
        "#]],
    )
    .await;
}

// An argument that is `null` where only its absence is allowed, as many clients send it (DEC-6).
#[tokio::test]
async fn null_counts_as_absent() {
    fn five() -> u8 {
        5
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Settings {
        #[serde(default)]
        words: Vec<String>,
        #[serde(default = "five")]
        days: u8,
        limit: Option<u8>,
    }

    /// Plans.
    #[tool]
    fn plan(
        name: String,
        #[serde(default = "five")] days: u8,
        #[serde(default)] settings: Option<Settings>,
        #[serde(rename = "a/b", default)] slash: Vec<u8>,
    ) -> String {
        format!("{name} {days} {settings:?} {slash:?}")
    }

    /// Plans.
    #[tool]
    fn plan_all(Args(settings): Args<Settings>) -> String {
        format!("{settings:?}")
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(tag = "op")]
    enum Step {
        Wait {
            #[serde(default)]
            seconds: u8,
        },
        Go {
            to: String,
        },
    }

    /// Steps.
    #[tool]
    fn step(Args(step): Args<Step>) -> String {
        format!("{step:?}")
    }

    check(
        || tools![plan],
        &[
            r#"{"name":"n"}"#,
            r#"{"name":"n","days":null,"settings":null,"a/b":null}"#,
            r#"{"name":"n","days":null,"a/b":[1.0]}"#,
            // Not where it is required, or no argument at all.
            r#"{"name":null,"days":null}"#,
            r#"{"name":"n","days":null,"other":null}"#,
            r#"{"name":"n","days":null,"a/b":["x"]}"#,
            // Members of an argument are not arguments.
            r#"{"name":"n","settings":{"days":null}}"#,
        ],
        expect![[r#"
            {"name":"n"}
                n 5 None []
            {"name":"n","days":null,"settings":null,"a/b":null}
                n 5 None []
            {"name":"n","days":null,"a/b":[1.0]}
                n 5 None [1]
            {"name":null,"days":null}
                /name: expected string, found null
            {"name":"n","days":null,"other":null}
                /other: expected only `name`, `days`, `settings`, `a/b`, found unknown property `other`
            {"name":"n","days":null,"a/b":["x"]}
                /a~1b/0: expected integer, found string "x"
            {"name":"n","settings":{"days":null}}
                /settings/days: expected integer, found null
        "#]],
    )
    .await;
    check(
        || tools![plan_all],
        &[
            r#"{"words":null,"days":null,"limit":null}"#,
            r#"{"words":null,"days":"x"}"#,
            r#"{"words":[],"more":null}"#,
        ],
        expect![[r#"
            {"words":null,"days":null,"limit":null}
                Settings { words: [], days: 5, limit: None }
            {"words":null,"days":"x"}
                /days: expected integer, found string "x"
            {"words":[],"more":null}
                /more: expected only `words`, `days`, `limit`, found unknown property `more`
        "#]],
    )
    .await;
    check(
        || tools![step],
        &[
            r#"{"op":"Wait","seconds":null}"#,
            r#"{"op":"Go","to":null}"#,
            r#"{"op":null}"#,
        ],
        expect![[r#"
            {"op":"Wait","seconds":null}
                Wait { seconds: 0 }
            {"op":"Go","to":null}
                /to: expected string, found null
            {"op":null}
                /op: expected one of "Wait", "Go", found null
        "#]],
    )
    .await;
}

// What is advertised is enforced: arguments are closed, and objects inside of them are as open as their schemas say.
#[tokio::test]
async fn unknown_members() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Open {
        x: i64,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields)]
    struct Closed {
        x: i64,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    struct Place {
        open: Option<Open>,
        closed: Option<Closed>,
        list: Option<Vec<Closed>>,
    }

    /// Takes all arguments in one struct.
    #[tool]
    fn whole(Args(place): Args<Place>) -> String {
        format!("{place:?}")
    }

    /// Takes structs.
    #[tool]
    fn each(open: Option<Open>, closed: Option<Closed>, list: Option<Vec<Closed>>) -> String {
        format!("{:?}", Place { open, closed, list })
    }

    for set in [|| tools![whole], || tools![each]] {
        let server = Server::new("test", "1").tools(set());
        let client = server.connect().await.unwrap();
        let tool = client.list_tools().await.unwrap().remove(0);
        let schema = serde_json::to_value(&tool.input_schema).unwrap();
        assert_eq!(schema["additionalProperties"], false, "{schema}");
        let of = |name: &str| &schema["properties"][name]["additionalProperties"];
        assert_eq!(of("open"), &Value::Null, "{schema}");
        assert_eq!(of("closed"), false, "{schema}");
        check(
            set,
            &[
                r#"{"open":{"x":1},"y":2}"#,
                r#"{"open":{"x":1,"y":2}}"#,
                r#"{"closed":{"x":1,"y":2}}"#,
                r#"{"list":[{"x":1},{"x":1,"y":2}]}"#,
            ],
            expect![[r#"
                {"open":{"x":1},"y":2}
                    /y: expected only `open`, `closed`, `list`, found unknown property `y`
                {"open":{"x":1,"y":2}}
                    Place { open: Some(Open { x: 1 }), closed: None, list: None }
                {"closed":{"x":1,"y":2}}
                    /closed/y: expected only `x`, found unknown property `y`
                {"list":[{"x":1},{"x":1,"y":2}]}
                    /list/1/y: expected only `x`, found unknown property `y`
            "#]],
        )
        .await;
    }
}
