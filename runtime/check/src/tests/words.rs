//! The report of an invalid value, keyword by keyword.

use super::{compiled, json, verdict};

#[track_caller]
fn check(schema: &str, value: &str, expected: &str) {
    assert_eq!(verdict(schema, value), expected, "{schema} on {value}");
}

#[test]
fn types_and_literals() {
    check(
        r#"{"type":"integer"}"#,
        r#""x""#,
        r#"(root): expected integer, found string "x""#,
    );
    check(r#"{"type":"integer"}"#, "1.0", "");
    check(
        r#"{"type":"integer"}"#,
        "1.5",
        "(root): expected integer, found number 1.5",
    );
    check(
        r#"{"type":["integer","null"]}"#,
        "true",
        "(root): expected integer or null, found boolean true",
    );
    check(
        r#"{"type":"number"}"#,
        "[1,2]",
        "(root): expected number, found array of 2 items",
    );
    check(
        r#"{"type":"string"}"#,
        r#"{"a":1}"#,
        "(root): expected string, found object with 1 property",
    );
    check(r#"{"const":1}"#, "1.0", "");
    check(
        r#"{"const":"on"}"#,
        "null",
        r#"(root): expected "on", found null"#,
    );
    check(
        r#"{"enum":["red","green"]}"#,
        r#""gren""#,
        r#"(root): expected one of "red", "green", found string "gren"; did you mean "green"?"#,
    );
    // One mistake gives one line, although `type` and `enum` are both violated.
    check(
        r#"{"type":"string","enum":["a","b"]}"#,
        "1",
        r#"(root): expected one of "a", "b", found integer 1"#,
    );
    check("false", "1", "(root): expected no value, found integer 1");
    check("true", "1", "");
    check(r#"{"enum":[{"a":[1]}]}"#, r#"{"a":[1.0]}"#, "");
}

#[test]
fn numbers() {
    check(
        r#"{"minimum":0}"#,
        "-1",
        "(root): expected at least 0, found integer -1",
    );
    check(
        r#"{"maximum":10.5}"#,
        "11",
        "(root): expected at most 10.5, found integer 11",
    );
    check(
        r#"{"exclusiveMinimum":0}"#,
        "0",
        "(root): expected more than 0, found integer 0",
    );
    check(
        r#"{"exclusiveMaximum":1}"#,
        "1.0",
        "(root): expected less than 1, found number 1.0",
    );
    check(r#"{"multipleOf":0.1}"#, "0.3", "");
    check(
        r#"{"multipleOf":0.1}"#,
        "0.35",
        "(root): expected a multiple of 0.1, found number 0.35",
    );
    check(
        r#"{"maximum":9007199254740992}"#,
        "9007199254740993",
        "(root): expected at most 9007199254740992, found integer 9007199254740993",
    );
    check(
        r#"{"minimum":18446744073709551615}"#,
        "18446744073709551614",
        "(root): expected at least 18446744073709551615, found integer 18446744073709551614",
    );
    check(r#"{"format":"int32","type":"integer"}"#, "99999999999", "");
}

#[test]
fn strings() {
    check(
        r#"{"minLength":2}"#,
        r#""ü""#,
        "(root): expected at least 2 characters, found string of 1 character",
    );
    check(
        r#"{"maxLength":2}"#,
        r#""äöü""#,
        "(root): expected at most 2 characters, found string of 3 characters",
    );
    check(r#"{"maxLength":3}"#, r#""äöü""#, "");
    check(r#"{"minLength":3}"#, r#""äöü""#, "");
    check(
        r#"{"pattern":"^a+$"}"#,
        r#""b""#,
        r#"(root): expected string matching `^a+$`, found string "b""#,
    );
    check(
        r#"{"format":"date"}"#,
        r#""2026-02-30""#,
        r#"(root): expected a date like `2026-07-28`, found string "2026-02-30""#,
    );
    check(r#"{"format":"unheard-of"}"#, r#""x""#, "");
    check(
        r#"{"maxLength":1}"#,
        r#""\u0041\u0042""#,
        "(root): expected at most 1 character, found string of 2 characters",
    );
}

#[test]
fn objects() {
    let schema = r#"{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"string"}},"required":["a","z"]}"#;
    check(
        schema,
        "{}",
        "/a: expected integer, found nothing\n/z: expected a value, found nothing",
    );
    check(
        schema,
        r#"{"a":"x","b":1,"z":null}"#,
        "/a: expected integer, found string \"x\"\n/b: expected string, found integer 1",
    );
    let closed = r#"{"properties":{"token_budget":{},"path":{}},"additionalProperties":false}"#;
    check(
        closed,
        r#"{"tokenBudget":1}"#,
        "/tokenBudget: expected only `token_budget`, `path`, found unknown property `tokenBudget`; did you mean `token_budget`?",
    );
    // A property that is already present is not suggested.
    check(
        closed,
        r#"{"path":1,"paths":1}"#,
        "/paths: expected only `token_budget`, `path`, found unknown property `paths`",
    );
    check(
        r#"{"additionalProperties":false}"#,
        r#"{"a/b~":1}"#,
        "/a~1b~0: expected no properties, found unknown property `a/b~`",
    );
    check(
        r#"{"additionalProperties":{"type":"null"}}"#,
        r#"{"x":1}"#,
        "/x: expected null, found integer 1",
    );
    check(
        r#"{"patternProperties":{"^x-":{"type":"string"}},"additionalProperties":false}"#,
        r#"{"x-a":1,"y":2}"#,
        "/x-a: expected string, found integer 1\n/y: expected only properties whose name matches `^x-`, found unknown property `y`",
    );
    check(
        r#"{"propertyNames":{"maxLength":1}}"#,
        r#"{"ab":1}"#,
        "/ab: expected a property name that is a string of at most 1 character, found unknown property `ab`",
    );
    check(
        r#"{"minProperties":2}"#,
        r#"{"a":1,"a":2}"#,
        "(root): expected at least 2 properties, found object with 1 property",
    );
    check(
        r#"{"maxProperties":1}"#,
        r#"{"a":1,"b":2}"#,
        "(root): expected at most 1 property, found object with 2 properties",
    );
    check(
        r#"{"dependentRequired":{"a":["b"]}}"#,
        r#"{"a":1}"#,
        "/b: expected a value, since `a` is present, found nothing",
    );
    check(
        r#"{"dependentSchemas":{"a":{"required":["b"]}}}"#,
        r#"{"a":1}"#,
        "/b: expected a value, found nothing",
    );
}

#[test]
fn arrays() {
    check(
        r#"{"items":{"type":"integer"}}"#,
        r#"[1,"x",2,null]"#,
        "/1: expected integer, found string \"x\"\n/3: expected integer, found null",
    );
    check(
        r#"{"prefixItems":[{"type":"integer"}],"items":false}"#,
        "[1,2]",
        "(root): expected at most 1 item, found array of 2 items",
    );
    check(
        r#"{"prefixItems":[{"type":"integer"},{"type":"string"}]}"#,
        "[1,2,3]",
        "/1: expected string, found integer 2",
    );
    check(
        r#"{"minItems":1}"#,
        "[]",
        "(root): expected at least 1 item, found array of 0 items",
    );
    check(
        r#"{"maxItems":1}"#,
        "[1,2]",
        "(root): expected at most 1 item, found array of 2 items",
    );
    check(
        r#"{"uniqueItems":true}"#,
        "[1,2,1.0]",
        "/2: expected an item that differs from item 0, found number 1.0",
    );
    check(
        r#"{"contains":{"type":"null"}}"#,
        "[1]",
        "(root): expected at least 1 matching item (null), found array of 1 item",
    );
    check(
        r#"{"contains":{"type":"null"},"minContains":0,"maxContains":1}"#,
        "[null,null]",
        "(root): expected at most 1 matching item (null), found array of 2 items",
    );
}

#[test]
fn combinations() {
    check(
        r#"{"allOf":[{"type":"integer"},{"minimum":5}]}"#,
        "3",
        "(root): expected at least 5, found integer 3",
    );
    check(
        r#"{"allOf":[{"type":"integer"},{"type":"integer"}]}"#,
        "null",
        "(root): expected integer, found null",
    );
    check(
        r#"{"anyOf":[{"type":"integer"},{"type":"null"}]}"#,
        r#""x""#,
        r#"(root): expected integer or null, found string "x""#,
    );
    check(
        r#"{"oneOf":[{"const":"a"},{"const":"bcd"}]}"#,
        r#""bxd""#,
        r#"(root): expected one of "a", "bcd", found string "bxd"; did you mean "bcd"?"#,
    );
    check(
        r#"{"oneOf":[{"type":"integer"},{"minimum":5}]}"#,
        "7",
        "(root): expected a value that only one of 2 alternatives accepts (1 and 2 both do), found integer 7",
    );
    check(
        r#"{"not":{"type":"null"}}"#,
        "null",
        "(root): expected anything but null, found null",
    );
    check(
        r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}"#,
        r#"{"a":1}"#,
        "/b: expected a value, found nothing",
    );
    check(
        r#"{"if":{"required":["a"]},"then":{"required":["b"]},"else":{"required":["c"]}}"#,
        "{}",
        "/c: expected a value, found nothing",
    );
    // The branch of the right type is explained, but not the other branches.
    check(
        r#"{"anyOf":[{"type":"object","properties":{"a":{"type":"integer"}}},{"type":"null"}]}"#,
        r#"{"a":"x"}"#,
        r#"/a: expected integer, found string "x""#,
    );
}

#[test]
fn tagged_unions() {
    let schema = r##"{"oneOf":[{"$ref":"#/$defs/Circle"},{"$ref":"#/$defs/Square"}],"$defs":{
        "Circle":{"type":"object","properties":{"kind":{"const":"circle"},"radius":{"type":"number"}},"required":["kind","radius"]},
        "Square":{"type":"object","properties":{"kind":{"enum":["square"]},"side":{"type":"number"}},"required":["kind","side"]}}}"##;
    check(
        schema,
        r#"{"kind":"circle","radius":"big"}"#,
        r#"/radius: expected number, found string "big""#,
    );
    check(
        schema,
        r#"{"kind":"square"}"#,
        "/side: expected number, found nothing",
    );
    check(
        schema,
        r#"{"kind":"sqare","side":1}"#,
        r#"/kind: expected one of "circle", "square", found string "sqare"; did you mean "square"?"#,
    );
    check(
        schema,
        r#"{"radius":1}"#,
        r#"/kind: expected one of "circle", "square", found nothing"#,
    );
    // Externally tagged: the branch with the fewest violations.
    let external = r#"{"oneOf":[
        {"type":"object","properties":{"Move":{"type":"object","properties":{"x":{"type":"integer"}},"required":["x"]}},"required":["Move"],"additionalProperties":false},
        {"type":"object","properties":{"Say":{"type":"string"}},"required":["Say"],"additionalProperties":false},
        {"const":"Quit"}]}"#;
    check(
        external,
        r#"{"Move":{"x":"y"}}"#,
        r#"/Move/x: expected integer, found string "y""#,
    );
    check(
        external,
        r#"{"Jump":1}"#,
        "(root): expected object with `Move` or object with `Say`, found object with 1 property",
    );
    check(
        external,
        "5",
        "(root): expected object with `Move`, object with `Say` or \"Quit\", found integer 5",
    );
}

#[test]
fn draft_07_idioms() {
    check(
        r#"{"$schema":"http://json-schema.org/draft-07/schema#","items":[{"type":"integer"}],"additionalItems":false}"#,
        "[1,2]",
        "(root): expected at most 1 item, found array of 2 items",
    );
    check(
        r##"{"definitions":{"a":{"type":"null"}},"properties":{"x":{"$ref":"#/definitions/a"}}}"##,
        r#"{"x":1}"#,
        "/x: expected null, found integer 1",
    );
    check(
        r#"{"dependencies":{"a":["b"],"c":{"required":["d"]}}}"#,
        r#"{"a":1,"c":1}"#,
        "/b: expected a value, since `a` is present, found nothing\n/d: expected a value, found nothing",
    );
    // Draft-07 ignores all keywords beside a reference; 2020-12 does not.
    let both = |schema: &str| {
        format!(
            r##"{{{schema}"definitions":{{"a":{{}}}},"properties":{{"x":{{"$ref":"#/definitions/a","type":"null"}}}}}}"##
        )
    };
    check(
        &both(r#""$schema":"http://json-schema.org/draft-07/schema","#),
        r#"{"x":1}"#,
        "",
    );
    check(
        &both(r#""$schema":"https://json-schema.org/draft/2020-12/schema","#),
        r#"{"x":1}"#,
        "/x: expected null, found integer 1",
    );
}

#[test]
fn references() {
    let list = r##"{"$ref":"#/$defs/Node","$defs":{"Node":{"type":"object","properties":{"next":{"anyOf":[{"$ref":"#/$defs/Node"},{"type":"null"}]}},"required":["next"]}}}"##;
    check(list, r#"{"next":{"next":null}}"#, "");
    check(
        list,
        r#"{"next":{"next":{}}}"#,
        "/next/next/next: expected object with `next` or null, found nothing",
    );
    check(
        r##"{"properties":{"a":{"$ref":"#"}},"additionalProperties":false}"##,
        r#"{"a":{"a":{"b":1}}}"#,
        "/a/a/b: expected only `a`, found unknown property `b`",
    );
    check(
        r##"{"$ref":"#here","$defs":{"x":{"$anchor":"here","type":"null"}}}"##,
        "1",
        "(root): expected null, found integer 1",
    );
    check(
        r##"{"$ref":"#/$defs/a~1b%25","$defs":{"a/b%":{"type":"null"}}}"##,
        "1",
        "(root): expected null, found integer 1",
    );
    check(
        r##"{"$id":"https://example.com/s.json","$ref":"s.json#/$defs/a","$defs":{"a":{"type":"null"}}}"##,
        "1",
        "(root): expected null, found integer 1",
    );
}

#[test]
fn logs_show_no_values() {
    let schema = compiled(
        r#"{"properties":{"a":{"enum":["x"]},"b":{"type":"null"}},"additionalProperties":false}"#,
    );
    let value = json(r#"{"a":"secret","b":12345,"c":"hidden"}"#);
    let violations = schema.check(&value).expect_err("three violations");
    assert_eq!(
        violations.for_log().to_string(),
        "/a: expected \"x\", found string of 6 characters\n\
         /b: expected null, found integer\n\
         /c: expected only `a`, `b`, found unknown property"
    );
    assert_eq!(violations.total(), 3);
    let first = violations.iter().next().expect("a violation");
    assert_eq!(
        serde_json::to_value(first).expect("JSON"),
        serde_json::json!({"pointer": "/a", "rule": "enum", "expected": "\"x\"", "found": "string \"secret\""})
    );
}

#[test]
fn reports_are_bounded() {
    let schema = compiled(r#"{"items":{"type":"null"}}"#);
    let value = serde_json::json!(vec!["x".repeat(10_000); 100]);
    let violations = schema.check(&value).expect_err("a hundred violations");
    assert_eq!((violations.iter().count(), violations.total()), (32, 100));
    assert!(violations.to_string().ends_with("\nand 68 more"));
    assert!(violations.to_string().len() < 4096);
    let text = violations.to_string();
    assert!(
        text.starts_with("/0: expected null, found string of 10000 characters\n"),
        "{text}"
    );
}

#[test]
fn integral_floats_become_integers_where_the_schema_says_so() {
    let schema = compiled(
        r##"{"properties":{"n":{"type":"integer"},"f":{"type":"number"},"o":{"anyOf":[{"$ref":"#/$defs/I"},{"type":"null"}]},
        "l":{"items":{"type":["integer","null"]}}},"additionalProperties":{"type":"integer"},"$defs":{"I":{"type":"integer"}}}"##,
    );
    let mut value =
        json(r#"{"n":30.0,"f":30.0,"o":2.0,"l":[1.0,1.5,9007199254740994.0,null],"x/y":-0.0}"#);
    let changed = schema.normalise_integral_floats(&mut value);
    assert_eq!(
        value.to_string(),
        r#"{"n":30,"f":30.0,"o":2,"l":[1,1.5,9007199254740994.0,null],"x/y":0}"#
    );
    assert_eq!(changed, ["/n", "/o", "/l/0", "/x~1y"]);
}

#[test]
fn text_that_is_not_json() {
    let violations = compiled("true").check_str("{").expect_err("not JSON");
    assert_eq!(
        violations.iter().next().map(|violation| violation.keyword),
        Some("json")
    );
    // A number that no rule checks need not be representable.
    let text = r#"{"a":[1,-1e400]}"#;
    assert!(compiled("true").check_str(text).is_ok());
    let numbers = r#"{"properties":{"a":{"items":{"type":"number"}}}}"#;
    let violations = compiled(numbers).check_str(text);
    assert_eq!(
        violations.expect_err("no double").to_string(),
        "/a/1: expected a number that a double holds, up to ±1.7976931348623157e308, found number"
    );
}
