//! Which answers a form accepts.

use super::*;

#[derive(Debug, Deserialize, JsonSchema, PartialEq)]
struct Booking {
    #[schemars(length(min = 2, max = 3))]
    name: String,
    #[schemars(email)]
    mail: Option<String>,
    #[serde(default = "two")]
    people: u8,
    meal: Option<Meal>,
    #[serde(default)]
    ways: BTreeSet<Way>,
}

fn two() -> u8 {
    2
}

// R-5, DEC-6
#[test]
fn answers() {
    let booking = |people| Booking {
        name: "Åse".to_owned(),
        mail: None,
        people,
        meal: None,
        ways: BTreeSet::new(),
    };
    decoded(r#"{"name": "Åse"}"#, booking(2));
    decoded(
        r#"{"name": "Åse", "people": 5.0, "unknown": [{}], "mail": null, "meal": null}"#,
        booking(5),
    );
    decoded(
        r#"{"name": "𝒳y", "mail": "a@b.example", "people": 0, "meal": "full-board", "ways": ["Train", "Foot"]}"#,
        Booking {
            name: "𝒳y".to_owned(),
            mail: Some("a@b.example".to_owned()),
            people: 0,
            meal: Some(Meal::FullBoard),
            ways: BTreeSet::from([Way::Train, Way::Foot]),
        },
    );
    for (text, expected) in [
        (
            "{}",
            "/name: expected string of 2 to 3 characters, found nothing",
        ),
        (r#"{"name": null}"#, "/name: expected string, found null"),
        (r#"{"name": 5}"#, "/name: expected string, found integer"),
        (
            r#"{"name": "Åsel"}"#,
            "/name: expected at most 3 characters, found string of 4 characters",
        ),
        (
            r#"{"name": "𝒳"}"#,
            "/name: expected at least 2 characters, found string of 1 character",
        ),
        (
            r#"{"name": "Åse", "mail": "a"}"#,
            "/mail: expected an email address, found string of 1 character",
        ),
        (
            r#"{"name": "Åse", "people": 256}"#,
            "/people: expected at most 255, found integer",
        ),
        (
            r#"{"name": "Åse", "people": 1.5}"#,
            "/people: expected integer, found number",
        ),
        (
            r#"{"name": "Åse", "people": true}"#,
            "/people: expected integer, found boolean",
        ),
        (
            r#"{"name": "Åse", "meal": "Breakfast"}"#,
            r#"/meal: expected one of "full-board", "breakfast", found string of 9 characters"#,
        ),
        (
            r#"{"name": "Åse", "ways": ["Foot", "Car"]}"#,
            r#"/ways/1: expected one of "Foot", "Train", "Bus", found string of 3 characters"#,
        ),
        (
            r#"{"name": "Åse", "ways": "Foot"}"#,
            "/ways: expected array, found string of 4 characters",
        ),
        (
            r#"{"name": "Åse", "ways": ["Foot", "Foot"]}"#,
            "/ways/1: expected an item that differs from item 0, found string of 4 characters",
        ),
        (
            r#"{"name": "Åse", "name": "Åse"}"#,
            "/name: expected one such member, found two",
        ),
        ("3", "(root): expected object, found integer"),
    ] {
        refused::<Booking>(text, expected);
    }
    let fault = form::<Booking>().decode::<Booking>(None).unwrap_err();
    assert_eq!((&*fault.pointer, &*fault.found), ("/name", "nothing"));
}

// R-5: unknown members are refused if the type refuses them, and rules that are not sent apply.
#[test]
fn what_is_not_sent_holds() {
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    #[serde(deny_unknown_fields)]
    struct Closed {
        #[schemars(regex(pattern = "^0"), extend("format" = "uuid"))]
        id: Option<String>,
    }
    let id = "00000000-0000-0000-0000-000000000000";
    decoded(
        &json!({ "id": id }).to_string(),
        Closed {
            id: Some(id.to_owned()),
        },
    );
    refused::<Closed>(
        r#"{"ID": "x"}"#,
        "/ID: expected only `id`, found unknown property",
    );
    refused::<Closed>(
        r#"{"id": "0"}"#,
        "/id: expected a UUID, found string of 1 character",
    );
    let other = content(&json!({"id": id.replacen('0', "1", 1)}));
    let fault = form::<Closed>().decode::<Closed>(Some(&other)).unwrap_err();
    assert_eq!(fault.pointer, "/id");
    assert!(fault.expected.contains("^0"), "{fault}");
}

// R-5: numbers arrive as they were sent.
#[test]
fn exact_numbers() {
    decoded(r#"{"answer": 18446744073709551615}"#, u64::MAX);
    decoded(r#"{"answer": -9223372036854775808}"#, i64::MIN);
    decoded(r#"{"answer": 9007199254740993}"#, (1_u64 << 53) + 1);
    decoded(r#"{"answer": 9007199254740991.0}"#, (1_u64 << 53) - 1);
    decoded(
        r#"{"answer": 340282366920938463463374607431768211455}"#,
        u128::MAX,
    );
    decoded(r#"{"answer": 0.1e1}"#, 1_u8);
    decoded(
        r#"{"answer": 2.225073858507201e-308}"#,
        2.225_073_858_507_201e-308_f64,
    );
    decoded(
        r#"{"answer": 123456789012345680.0}"#,
        123_456_789_012_345_680.0_f64,
    );
    refused::<u64>(
        r#"{"answer": 18446744073709551616}"#,
        "/answer: expected at most 18446744073709551615, found number",
    );
    refused::<i64>(
        r#"{"answer": 9007199254740994.0}"#,
        "/answer: expected an integer written in digits alone, because floats from ±2^53 on are not exact, found number",
    );
    refused::<f32>(
        r#"{"answer": 1e39}"#,
        "/answer: expected a number within the range of its type, found number of 4 bytes",
    );
}

// R-5: a type may refuse more than its schema.
#[test]
fn stricter_types() {
    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(try_from = "u8")]
    struct Even(u8);
    impl TryFrom<u8> for Even {
        type Error = &'static str;
        fn try_from(number: u8) -> Result<Self, &'static str> {
            match number % 2 {
                0 => Ok(Self(number)),
                _ => Err("odd numbers do not go"),
            }
        }
    }
    impl JsonSchema for Even {
        fn schema_name() -> std::borrow::Cow<'static, str> {
            "Even".into()
        }
        fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
            u8::json_schema(generator)
        }
    }
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Pair {
        a: Option<u8>,
        b: Even,
    }
    decoded(
        r#"{"b": 2.0}"#,
        Pair {
            a: None,
            b: Even(2),
        },
    );
    let problem = "expected a value that its type takes (odd numbers do not go), found";
    // serde does not report which member it was.
    refused::<Pair>(
        r#"{"a": 1, "b": 3}"#,
        &format!("(root): {problem} object of 16 bytes"),
    );
    refused::<Even>(
        r#"{"answer": 3}"#,
        &format!("/answer: {problem} number of 1 byte"),
    );
}
