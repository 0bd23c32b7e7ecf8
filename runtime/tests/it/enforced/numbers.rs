//! Numbers that their types do not hold, and what else is answered with its cure.

#![allow(dead_code, reason = "fields are read by `Debug`")]

use expect_test::expect;
use trueform::prelude::*;

use super::check;

// The listed exceptions: numbers that JSON Schema calls integers and the type does not hold.
#[tokio::test]
async fn messages_say_the_cure() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Numbers {
        small: Option<u64>,
        wide: Option<u128>,
        list: Option<Vec<i128>>,
    }

    /// Takes numbers.
    #[tool]
    fn plain(small: u64) -> String {
        format!("{small}")
    }

    /// Takes numbers.
    #[tool]
    fn numbers(Args(numbers): Args<Numbers>) -> String {
        format!("{numbers:?}")
    }

    /// Takes a number.
    #[tool]
    fn wide(wide: u128, small: Option<u8>, #[serde(default)] days: u8) -> String {
        format!("{wide} {small:?} {days}")
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(tag = "op")]
    enum Tagged {
        Wide { n: u128 },
    }

    /// Takes a number that serde cannot read there.
    #[tool]
    fn tagged(Args(tagged): Args<Tagged>) -> String {
        format!("{tagged:?}")
    }

    /// Fetches.
    #[tool]
    fn fetch(#[schemars(extend("format" = "uri"))] uri: String) -> String {
        uri
    }

    check(
        || tools![plain],
        &[
            r#"{"small":18446744073709551615}"#,
            r#"{"small":1e19}"#,
            r#"{"small":18446744073709551616}"#,
        ],
        expect![[r#"
            {"small":18446744073709551615}
                18446744073709551615
            {"small":1e19}
                /small: expected an integer from 0 to 18446744073709551615, written in digits alone from ±2^53 on, found 1e+19
            {"small":18446744073709551616}
                /small: expected an integer from 0 to 18446744073709551615, written in digits alone from ±2^53 on, found 1.8446744073709552e+19
        "#]],
    )
    .await;
    check(
        || tools![numbers],
        &[
            r#"{"small":1e19}"#,
            r#"{"small":18446744073709551616}"#,
            r#"{"small":1e3,"wide":1e3,"list":[1e3]}"#,
            r#"{"wide":340282366920938463463374607431768211455,"list":[-18446744073709551617]}"#,
            r#"{"wide":1e19}"#,
            r#"{"wide":1e40}"#,
            r#"{"wide":340282366920938463463374607431768211456}"#,
            r#"{"list":[1,-1e19]}"#,
        ],
        expect![[r#"
            {"small":1e19}
                /small: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number 1e+19
            {"small":18446744073709551616}
                /small: expected at most 18446744073709551615, found number 1.8446744073709552e+19
            {"small":1e3,"wide":1e3,"list":[1e3]}
                Numbers { small: Some(1000), wide: Some(1000), list: Some([1000]) }
            {"wide":340282366920938463463374607431768211455,"list":[-18446744073709551617]}
                Numbers { small: None, wide: Some(340282366920938463463374607431768211455), list: Some([-18446744073709551617]) }
            {"wide":1e19}
                /wide: expected an integer of at most 128 bits, written in digits alone: no fraction, no exponent
            {"wide":1e40}
                /wide: expected at most 3.402823669209385e38, found number 1e+40
            {"wide":340282366920938463463374607431768211456}
                /wide: expected a number within the range of its type: an `f32` holds up to ±3.4028235e38, and an integer of 128 bits is written in digits alone
            {"list":[1,-1e19]}
                /list/1: expected an integer of at most 128 bits, written in digits alone: no fraction, no exponent
        "#]],
    )
    .await;
    check(
        || tools![wide],
        &[
            r#"{"wide":18446744073709551616}"#,
            r#"{"wide":18446744073709551617,"small":3.0}"#,
            r#"{"wide":18446744073709551617,"days":null}"#,
            r#"{"wide":1,"small":3,"small":3.0}"#,
            r#"{"wide":3.0}"#,
            r#"{"wide":1e19}"#,
            r#"{"wide":-1}"#,
        ],
        expect![[r#"
            {"wide":18446744073709551616}
                18446744073709551616 None 0
            {"wide":18446744073709551617,"small":3.0}
                18446744073709551617 Some(3) 0
            {"wide":18446744073709551617,"days":null}
                18446744073709551617 None 0
            {"wide":1,"small":3,"small":3.0}
                `small` is given twice
            {"wide":3.0}
                3 None 0
            {"wide":1e19}
                /wide: expected an integer of at most 128 bits, written in digits alone: no fraction, no exponent
            {"wide":-1}
                /wide: expected at least 0, found integer -1
        "#]],
    )
    .await;
    check(
        || tools![tagged],
        &[r#"{"op":"Wide","n":3}"#],
        expect![[r#"
            {"op":"Wide","n":3}
                no integer of 128 bits can be read here, whatever is sent, because of how the tool is written; its author can use 64 bits or a string
        "#]],
    )
    .await;
    check(
        || tools![fetch],
        &[
            r#"{"uri":"https://example.com/a%20b"}"#,
            r#"{"uri":"https://example.com/a b"}"#,
            r#"{"uri":"https://example.com/ü"}"#,
            r#"{"uri":"example.com"}"#,
        ],
        expect![[r#"
            {"uri":"https://example.com/a%20b"}
                https://example.com/a%20b
            {"uri":"https://example.com/a b"}
                /uri: expected an absolute URI with spaces and non-ASCII letters percent-encoded, found string "https://example.com/a b"; did you mean "https://example.com/a%20b"?
            {"uri":"https://example.com/ü"}
                /uri: expected an absolute URI with spaces and non-ASCII letters percent-encoded, found string "https://example.com/ü"; did you mean "https://example.com/%C3%BC"?
            {"uri":"example.com"}
                /uri: expected an absolute URI, found string "example.com"
        "#]],
    )
    .await;
}

// A float is made an integer only where no fraction may stand.
#[tokio::test]
async fn an_untagged_number_stays_what_it_was() {
    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(untagged)]
    enum Either {
        Whole(i64),
        Part(f64),
        Text(String),
    }

    /// Takes either.
    #[tool]
    fn either(n: Either, whole: Option<u8>) -> String {
        format!("{n:?} {whole:?}")
    }

    check(
        || tools![either],
        &[
            r#"{"n":3}"#,
            r#"{"n":3.0,"whole":2.0}"#,
            r#"{"n":3.5}"#,
            r#"{"n":1e19}"#,
            r#"{"n":"3"}"#,
            r#"{"n":true}"#,
        ],
        expect![[r#"
            {"n":3}
                Whole(3) None
            {"n":3.0,"whole":2.0}
                Part(3.0) Some(2)
            {"n":3.5}
                Part(3.5) None
            {"n":1e19}
                Part(1e19) None
            {"n":"3"}
                Text("3") None
            {"n":true}
                /n: expected integer, number or string, found boolean true
        "#]],
    )
    .await;
}

// Messages say what is wrong, where, and what is expected, wherever the number is.
#[tokio::test]
async fn numbers_that_no_double_holds() {
    #[derive(Debug, Deserialize, JsonSchema)]
    struct Point {
        x: f64,
        list: Option<Vec<i64>>,
    }

    /// Takes numbers.
    #[tool]
    fn each(whole: Option<i64>, number: Option<f64>, point: Option<Point>) -> String {
        format!("{whole:?} {number:?} {point:?}")
    }

    check(
        || tools![each],
        &[
            r#"{"whole":1e400}"#,
            r#"{"number":-1e400}"#,
            r#"{"point":{"x":1E+309}}"#,
            r#"{"point":{"x":1,"list":[1,2e308]}}"#,
            r#"{"number":1e308}"#,
        ],
        expect![[r#"
            {"whole":1e400}
                /whole: expected a number that a double holds, up to ±1.7976931348623157e308, found number `1e400`
            {"number":-1e400}
                /number: expected a number that a double holds, up to ±1.7976931348623157e308, found number `-1e400`
            {"point":{"x":1E+309}}
                /point/x: expected a number that a double holds, up to ±1.7976931348623157e308, found number `1E+309`
            {"point":{"x":1,"list":[1,2e308]}}
                /point/list/1: expected a number that a double holds, up to ±1.7976931348623157e308, found number `2e308`
            {"number":1e308}
                None Some(1e308) None
        "#]],
    )
    .await;
}

// 2^53 as a float is what the text of the integer after it is read as: neither may run with the other.
#[tokio::test]
async fn floats_at_the_bound_of_exactness() {
    /// Takes an integer.
    #[tool]
    fn plain(whole: i64) -> String {
        format!("{whole}")
    }

    /// Takes an integer by a checked schema.
    #[tool]
    fn checked(#[schemars(range(min = -10000000000000000_i64))] whole: i64) -> String {
        format!("{whole}")
    }

    let texts = [
        r#"{"whole":9007199254740991.0}"#,
        r#"{"whole":9007199254740992.0}"#,
        r#"{"whole":9007199254740993.0}"#,
        r#"{"whole":-9007199254740993.0}"#,
        r#"{"whole":9007199254740993}"#,
    ];
    check(
        || tools![plain],
        &texts,
        expect![[r#"
            {"whole":9007199254740991.0}
                9007199254740991
            {"whole":9007199254740992.0}
                /whole: expected an integer from -9223372036854775808 to 9223372036854775807, written in digits alone from ±2^53 on, found 9007199254740992.0
            {"whole":9007199254740993.0}
                /whole: expected an integer from -9223372036854775808 to 9223372036854775807, written in digits alone from ±2^53 on, found 9007199254740992.0
            {"whole":-9007199254740993.0}
                /whole: expected an integer from -9223372036854775808 to 9223372036854775807, written in digits alone from ±2^53 on, found -9007199254740992.0
            {"whole":9007199254740993}
                9007199254740993
        "#]],
    )
    .await;
    check(
        || tools![checked],
        &texts,
        expect![[r#"
            {"whole":9007199254740991.0}
                9007199254740991
            {"whole":9007199254740992.0}
                /whole: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number 9007199254740992.0
            {"whole":9007199254740993.0}
                /whole: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number 9007199254740992.0
            {"whole":-9007199254740993.0}
                /whole: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number -9007199254740992.0
            {"whole":9007199254740993}
                9007199254740993
        "#]],
    )
    .await;
}

/// Takes a small float.
#[tool]
fn small_float(f: f32) -> String {
    f.to_string()
}

/// Takes an integer or a text, or neither.
#[tool]
fn either(v: Option<Either>) -> String {
    format!("{v:?}")
}

#[derive(Debug, serde::Deserialize, trueform::schemars::JsonSchema)]
#[serde(untagged)]
enum Either {
    Integer(i64),
    Text(String),
}

// A number that its type cannot hold is not called an integer; an integral float is one also within nested unions.
#[tokio::test]
async fn floats_of_other_types() {
    let server = Server::new("t", "1").tools(tools![small_float, either]);
    let client = server.connect().await.unwrap();
    for number in ["1e300", "-3.5e38"] {
        let arguments: serde_json::Value =
            serde_json::from_str(&format!(r#"{{"f":{number}}}"#)).unwrap();
        let text = client
            .call_tool("small_float", arguments)
            .await
            .unwrap()
            .text();
        let expected = "/f: expected a number within the range of its type: an `f32` holds up to";
        assert!(text.contains(expected), "{text}");
    }
    let arguments: serde_json::Value = serde_json::from_str(r#"{"v":1.0}"#).unwrap();
    let text = client.call_tool("either", arguments).await.unwrap().text();
    assert_eq!(text, "Some(Integer(1))");
}
