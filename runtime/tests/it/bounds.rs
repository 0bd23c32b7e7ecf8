//! Bounds of arguments that have no effect, and bounds that contradict each other: a server with them does not start.

use std::collections::HashSet;

use expect_test::{Expect, expect};
use serde_json::{Value, json};
use trueform::prelude::*;

/// `problem` with its places cut to the functions.
fn without_places(problem: &str) -> String {
    let mut pieces = problem.split(" at runtime/tests/it/bounds.rs:");
    let mut out = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        out.push_str(piece.trim_start_matches(|c: char| c.is_ascii_digit() || c == ':'));
    }
    out
}

#[track_caller]
fn refused(server: Server, expected: &Expect) {
    let error = server.build().expect_err("its bounds are wrong");
    let problems: Vec<_> = error
        .problems()
        .iter()
        .map(|one| without_places(one))
        .collect();
    expected.assert_eq(&problems.join("\n"));
}

/// A name that says nothing of strings.
type Word = String;

#[expect(dead_code, reason = "only its schema is used")]
#[derive(Deserialize, JsonSchema)]
struct Point {
    x: i64,
}

#[expect(dead_code, reason = "only its schema is used")]
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
struct Amount(u32);

/// Moves.
#[tool(name = "move_it")]
fn moved(
    #[schemars(range(min = 1))] word: Word,
    #[schemars(length(max = 5))] _point: Point,
    #[schemars(inner(pattern("^a")))] _list: Vec<Amount>,
    #[schemars(email)] _amount: Amount,
    #[serde(rename = "other")]
    #[schemars(range(min = 1, max = 3))]
    _maybe: Option<Point>,
) -> String {
    word
}

/// Says it.
#[prompt]
fn said(#[schemars(range(max = 9))] word: Word) -> String {
    word
}

/// One word.
#[resource("words://{word}")]
fn one(#[schemars(range(min = 1))] word: Word) -> String {
    word
}

#[test]
fn a_bound_without_effect_is_refused_at_the_start() {
    let server = Server::new("test", "1")
        .tools(tools![moved])
        .prompts(prompts![said])
        .resources(resources![one]);
    refused(
        server,
        &expect![[r#"
        fn `moved` has the argument `word` with the attribute `range`, which has no effect, because the schema of its type has `"type": "string"`; set the bound where that type is defined, or take a type that it applies to
        fn `moved` has the argument `_point` with the attribute `length`, which has no effect, because the schema of its type has no `type` that has such a bound; set the bound where that type is defined, or take a type that it applies to
        fn `moved` has the argument `_list` with the attribute `inner(pattern)`, which has no effect, because the schema of its type has `"type": "integer"`; set the bound where that type is defined, or take a type that it applies to
        fn `moved` has the argument `_amount` with the attribute `email`, which has no effect, because the schema of its type has `"type": "integer"`; set the bound where that type is defined, or take a type that it applies to
        fn `moved` has the argument `other` with the attribute `range`, which has no effect, because the schema of its type has no `type` that has such a bound; set the bound where that type is defined, or take a type that it applies to
        fn `said` has the argument `word` with the attribute `range`, which has no effect, because the schema of its type has `"type": "string"`; set the bound where that type is defined, or take a type that it applies to
        fn `one` has the argument `word` with the attribute `range`, which has no effect, because the schema of its type has `"type": "string"`; set the bound where that type is defined, or take a type that it applies to"#]],
    );
}

/// Takes all that has an effect.
#[tool]
#[expect(
    clippy::boxed_local,
    clippy::too_many_arguments,
    reason = "one for each kind of bound and of type"
)]
fn bounded(
    #[schemars(length(min = 1, max = 9))] word: Word,
    #[schemars(length(equal = 2))] _pair: Vec<u8>,
    #[schemars(inner(length(max = 3), pattern("^a")))] _set: Option<HashSet<Word>>,
    #[schemars(range(max = 3))] _amount: Amount,
    #[schemars(regex(pattern = "^a"))] _letters: Option<Word>,
    #[schemars(contains(pattern = "a"))] _with: Box<str>,
    #[schemars(url)] _at: Word,
    #[schemars(with = "u8", range(min = 3))] _replaced: Word,
) -> String {
    word
}

#[test]
fn bounds_with_an_effect_start() {
    let service = Server::new("test", "1").tools(tools![bounded]).build();
    assert!(service.is_ok(), "{:?}", service.err());
}

#[derive(Serialize, JsonSchema)]
struct Answer {
    #[schemars(length(min = 5, max = 2))]
    text: String,
}

#[derive(Deserialize, JsonSchema)]
struct Query {
    #[schemars(inner(length(min = 3, max = 1)))]
    words: Vec<String>,
}

/// Asks.
#[tool]
fn ask(
    #[schemars(range(min = 10, max = 1))] _a: i64,
    #[schemars(range(min = 256))] _byte: u8,
    query: Query,
) -> Json<Answer> {
    let text = query.words.concat();
    Json(Answer { text })
}

/// Asks for it.
#[prompt]
fn asked(#[schemars(length(min = 5, max = 2))] word: String) -> String {
    word
}

fn dynamic(input: Value, output: Value) -> DynamicTool {
    DynamicTool::new("dynamic", input)
        .description("Takes what its schema says.")
        .output_schema(output)
        .handler(|_, _| async { Json(json!({})) })
}

#[test]
fn bounds_that_contradict_each_other_are_refused_at_the_start() {
    let server = Server::new("test", "1")
        .tools(tools![ask])
        .prompts(prompts![asked]);
    refused(
        server,
        &expect![[r#"
        the input schema of tool `ask` (fn `ask`): /properties/_a: `"minimum": 10` and `"maximum": 1` contradict each other: no number meets both
        the input schema of tool `ask` (fn `ask`): /properties/_byte: `"minimum": 256` and `"maximum": 255` contradict each other: no number meets both
        the input schema of tool `ask` (fn `ask`): /$defs/Query/properties/words/items: `"minLength": 3` and `"maxLength": 1` contradict each other: no string meets both
        the output schema of tool `ask` (fn `ask`): /properties/text: `"minLength": 5` and `"maxLength": 2` contradict each other: no string meets both
        the arguments of prompt `asked` (fn `asked`): /properties/word: `"minLength": 5` and `"maxLength": 2` contradict each other: no string meets both"#]],
    );
}

// The schema of a dynamic tool may come from elsewhere: it is legal.
#[test]
fn a_dynamic_tool_may_have_bounds_that_contradict_each_other() {
    let list = json!({ "type": "array", "minItems": 3, "maxItems": 2 });
    let input = json!({
        "type": "object",
        "properties": { "list": { "$ref": "#/$defs/List" } },
        "$defs": { "List": list },
        "minProperties": 2,
        "maxProperties": 1,
    });
    let number = json!({ "type": "number", "exclusiveMinimum": 1, "maximum": 1 });
    let output = json!({ "type": "object", "properties": { "n": number } });
    let server = Server::new("test", "1").tools(dynamic(input, output));
    assert!(server.build().is_ok());
}
