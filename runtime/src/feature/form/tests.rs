//! Which form a Rust type has at which revision, and which answers it takes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trueform_schema::{
    At, ElicitRequestFormParams, ElicitRequestedSchema, Json, Revision, violations,
};

use super::*;

const R3: Revision = Revision::V2025_06_18;
const R4: Revision = Revision::V2025_11_25;
const R5: Revision = Revision::V2026_07_28;

#[track_caller]
fn form<T: JsonSchema>() -> Form {
    Form::of::<T>().unwrap_or_else(|problems| panic!("{problems:#?}"))
}

/// The schema that is sent at `revision`.
#[track_caller]
fn sent(form: &Form, revision: Revision) -> Result<Value, String> {
    let schema = form.at(revision)?;
    let at = At::new(&schema, revision);
    Ok(serde_json::from_slice(&at.to_vec()).unwrap())
}

/// Checks the properties and the required fields of `T` at the newest revisions, and at 2025-06-18.
#[track_caller]
#[expect(clippy::needless_pass_by_value, reason = "literals are passed")]
fn check<T: JsonSchema>(full: Value, required: &[&str], r3: Result<Value, &str>) {
    let form = form::<T>();
    let whole = |properties: Value| match required {
        [] => json!({"type": "object", "properties": properties}),
        _ => json!({"type": "object", "properties": properties, "required": required}),
    };
    for revision in [R4, R5] {
        assert_eq!(sent(&form, revision), Ok(whole(full.clone())), "{revision}");
    }
    assert_eq!(sent(&form, R3), r3.map(whole).map_err(str::to_owned));
    for revision in [Revision::V2024_11_05, Revision::V2025_03_26] {
        let reason = format!("{revision} has no elicitation; expected 2025-06-18 or later");
        assert_eq!(sent(&form, revision), Err(reason));
    }
}

fn content(value: &Value) -> Json {
    Json::from_value(value).unwrap()
}

#[track_caller]
fn decoded<T: JsonSchema + DeserializeOwned + PartialEq + Debug>(text: &str, expected: T) {
    let content = Json::from_text(text).unwrap();
    assert_eq!(
        form::<T>().decode::<T>(Some(&content)),
        Ok(expected),
        "{text}"
    );
}

#[track_caller]
fn refused<T: JsonSchema + DeserializeOwned + Debug>(text: &str, expected: &str) {
    let content = Json::from_text(text).unwrap();
    let fault = form::<T>().decode::<T>(Some(&content)).unwrap_err();
    assert_eq!(fault.to_string(), expected, "{text}");
}

#[derive(Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Meal {
    FullBoard,
    Breakfast,
}

/// How to travel.
#[derive(Debug, Deserialize, Eq, JsonSchema, Ord, PartialEq, PartialOrd, Serialize)]
enum Way {
    /// By train,
    /// if there is one.
    ///
    /// Slow.
    Train,
    #[schemars(title = "By bus")]
    Bus,
    Foot,
}

fn titled_ways() -> Value {
    // schemars puts variants without a description first.
    json!([
        {"const": "Foot", "title": "Foot"},
        {"const": "Train", "title": "By train, if there is one."},
        {"const": "Bus", "title": "By bus"},
    ])
}

// R-4, R-15, GAP-10
#[test]
fn texts() {
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Texts {
        /// # Full name
        /// As in the passport.
        #[schemars(length(min = 1, max = 5))]
        name: String,
        #[schemars(email)]
        mail: String,
        #[schemars(url)]
        page: Option<String>,
        #[schemars(extend("format" = "date"))]
        #[serde(default = "day")]
        day: String,
        #[schemars(extend("format" = "date-time"))]
        time: String,
        #[schemars(extend("format" = "uuid"), regex(pattern = "^0"))]
        id: String,
        letter: char,
    }
    fn day() -> String {
        "2026-07-28".to_owned()
    }
    let mut full = json!({
        "name": {"type": "string", "title": "Full name", "description": "As in the passport.", "minLength": 1, "maxLength": 5},
        "mail": {"type": "string", "format": "email"},
        "page": {"type": "string", "format": "uri"},
        "day": {"type": "string", "format": "date", "default": "2026-07-28"},
        "time": {"type": "string", "format": "date-time"},
        "id": {"type": "string"},
        "letter": {"type": "string", "minLength": 1, "maxLength": 1},
    });
    let required = ["name", "mail", "time", "id", "letter"];
    let all = full.clone();
    full["day"] = json!({"type": "string", "format": "date"});
    check::<Texts>(all, &required, Ok(full));
}

// R-4, R-15
#[test]
fn numbers_and_booleans() {
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Numbers {
        small: u8,
        #[schemars(range(min = 2, max = 10))]
        ranged: i64,
        large: u64,
        #[serde(default = "score")]
        score: f64,
        #[serde(default)]
        yes: bool,
        no: Option<bool>,
    }
    fn score() -> f64 {
        95.5
    }
    let mut full = json!({
        "small": {"type": "integer", "minimum": 0, "maximum": 255},
        "ranged": {"type": "integer", "minimum": 2, "maximum": 10},
        "large": {"type": "integer", "minimum": 0},
        "score": {"type": "number", "default": 95.5},
        "yes": {"type": "boolean", "default": false},
        "no": {"type": "boolean"},
    });
    let all = full.clone();
    full["score"] = json!({"type": "number"});
    check::<Numbers>(all, &["small", "ranged", "large"], Ok(full));
}

// R-4, R-15
#[test]
fn single_choices() {
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Choices {
        meal: Meal,
        /// The way there.
        way: Option<Way>,
        #[serde(default = "breakfast")]
        usual: BoxedMeal,
    }
    type BoxedMeal = Box<Meal>;
    fn breakfast() -> BoxedMeal {
        Box::new(Meal::Breakfast)
    }
    check::<Choices>(
        json!({
            "meal": {"type": "string", "enum": ["full-board", "breakfast"]},
            "way": {"type": "string", "description": "The way there.", "oneOf": titled_ways()},
            "usual": {"type": "string", "enum": ["full-board", "breakfast"], "default": "breakfast"},
        }),
        &["meal"],
        Ok(json!({
            "meal": {"type": "string", "enum": ["full-board", "breakfast"]},
            "way": {"type": "string", "description": "The way there.", "enum": ["Foot", "Train", "Bus"],
                "enumNames": ["Foot", "By train, if there is one.", "By bus"]},
            "usual": {"type": "string", "enum": ["full-board", "breakfast"]},
        })),
    );
}

// R-4, R-15
#[test]
fn several_choices() {
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Lists {
        #[schemars(length(min = 1, max = 2))]
        meals: Vec<Meal>,
        ways: Option<BTreeSet<Way>>,
        #[serde(default)]
        none: Vec<Meal>,
    }
    let meals = json!({"type": "string", "enum": ["full-board", "breakfast"]});
    check::<Lists>(
        json!({
            "meals": {"type": "array", "items": meals, "minItems": 1, "maxItems": 2},
            "ways": {"type": "array", "items": {"anyOf": titled_ways()}},
            "none": {"type": "array", "items": meals, "default": []},
        }),
        &["meals"],
        Err(
            "2025-06-18 has no field for several choices, as field `meals` is; expected 2025-11-25 or later",
        ),
    );
}

// R-4
#[test]
fn types_that_are_not_structs() {
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Age(#[schemars(range(max = 120))] u8);
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Confirmed {}
    #[derive(Debug, Deserialize, JsonSchema, PartialEq)]
    struct Unit;

    let one = |field: Value| json!({ "answer": field });
    let boolean = one(json!({"type": "boolean"}));
    check::<bool>(boolean.clone(), &["answer"], Ok(boolean.clone()));
    check::<Option<bool>>(boolean.clone(), &[], Ok(boolean));
    let age = one(json!({"type": "integer", "minimum": 0, "maximum": 120}));
    check::<Age>(age.clone(), &["answer"], Ok(age));
    let text = one(json!({"type": "string"}));
    check::<String>(text.clone(), &["answer"], Ok(text));
    let (description, names) = (
        "How to travel.",
        ["Foot", "By train, if there is one.", "By bus"],
    );
    check::<Way>(
        one(json!({"type": "string", "description": description, "oneOf": titled_ways()})),
        &["answer"],
        Ok(one(
            json!({"type": "string", "description": description, "enum": ["Foot", "Train", "Bus"], "enumNames": names}),
        )),
    );
    let bare = || Ok(json!({}));
    check::<Confirmed>(json!({}), &[], bare());
    check::<Unit>(json!({}), &[], bare());
    check::<()>(json!({}), &[], bare());

    decoded(r#"{"answer": true}"#, true);
    decoded(r#"{"answer": 120.0}"#, Age(120));
    decoded("{}", None::<bool>);
    decoded(r#"{"answer": null}"#, None::<bool>);
    decoded(r#"{"answer": "Bus", "more": 1}"#, Way::Bus);
    decoded("{}", Confirmed {});
    decoded("{}", Unit);
    assert_eq!(form::<()>().decode::<()>(None), Ok(()));
    refused::<bool>("{}", "/answer: expected boolean, found nothing");
    refused::<bool>(
        r#"{"answer": 1}"#,
        "/answer: expected boolean, found integer",
    );
    refused::<Age>(
        r#"{"answer": 121}"#,
        "/answer: expected at most 120, found integer",
    );
    refused::<()>("[]", "(root): expected object, found array of 0 items");
}

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

// R-5: unknown members are refused where the type says so, and rules that are not sent hold.
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
    // serde does not say which member it was.
    refused::<Pair>(
        r#"{"a": 1, "b": 3}"#,
        &format!("(root): {problem} object of 16 bytes"),
    );
    refused::<Even>(
        r#"{"answer": 3}"#,
        &format!("/answer: {problem} number of 1 byte"),
    );
}

// R-4: what no form can express.
#[test]
fn problems() {
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Nested {
        x: u8,
    }
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    enum Data {
        Empty,
        Full(u8),
    }
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Tree {
        left: Option<Box<Tree>>,
    }
    #[derive(Deserialize, JsonSchema)]
    enum Never {}
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    #[serde(tag = "kind")]
    enum Tagged {
        One { x: u8 },
    }
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Flattened {
        #[serde(flatten)]
        rest: BTreeMap<String, u8>,
    }
    #[expect(dead_code, reason = "only its schema is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Wrong {
        good: u8,
        nested: Nested,
        data: Data,
        list: Vec<String>,
        maybe: Vec<Option<Meal>>,
        pair: (u8, u8),
        map: BTreeMap<String, u8>,
        any: Value,
        unit: (),
        never: Never,
        #[schemars(extend("exclusiveMinimum" = 0))]
        positive: f64,
        #[schemars(extend("multipleOf" = 5))]
        step: u8,
        #[schemars(range(max = 9_007_199_254_740_993_u64))]
        wide: u64,
        #[serde(default)]
        #[schemars(email)]
        mail: String,
        #[schemars(extend("enum" = [1, 2]))]
        numbers: u8,
        #[schemars(extend("enumNames" = ["One"]))]
        names: Meal,
    }
    const FIELDS: &str = "expected a string, a number, a boolean, an enum of unit variants or a list of such an enum";
    let flat = "because a form is flat: make its members fields of the form";
    let problems = |problems: Result<Form, Vec<String>>| problems.map(drop).unwrap_err();
    let expected = [
        format!("field `nested` is an object; {FIELDS}, {flat}"),
        format!("field `data` is an enum with values other than strings, as variants with data have them; {FIELDS}"),
        "field `list` is a list of other values; expected a list of an enum of unit variants".to_owned(),
        "field `maybe` is a list whose items may be null; expected a list of an enum of unit variants".to_owned(),
        "field `pair` is a list without one type for all items; expected a list of an enum of unit variants".to_owned(),
        format!("field `map` is an object; {FIELDS}, {flat}"),
        format!("field `any` may be any value; {FIELDS}"),
        format!("field `unit` can only be null; {FIELDS}"),
        format!("field `never` has no value; {FIELDS}"),
        "field `positive` is restricted by `exclusiveMinimum`, which forms cannot say; expected `minimum`, which includes the bound".to_owned(),
        "field `step` is restricted by `multipleOf`, which forms cannot say".to_owned(),
        "field `wide` has the maximum 9007199254740993; expected an integer from -2^53 to 2^53, because numbers of forms are doubles".to_owned(),
        "field `mail` has the default \"\", which it does not allow; expected an email address".to_owned(),
        "field `numbers` is restricted by `enum`, which forms cannot say".to_owned(),
        r#"field `names` has `enumNames` ["One"]; expected a list of 2 strings, one for each value"#.to_owned(),
    ];
    assert_eq!(problems(Form::of::<Wrong>()), expected);
    assert_eq!(
        problems(Form::of::<Tree>()),
        [format!("field `left` is an object; {FIELDS}, {flat}")]
    );
    let single = "the type is not a struct, and as the one field of a form";
    assert_eq!(
        problems(Form::of::<Tagged>()),
        [format!(
            "{single} is an enum with values other than strings, as variants with data have them; {FIELDS}"
        )]
    );
    assert_eq!(
        problems(Form::of::<Vec<u8>>()),
        [format!(
            "{single} is a list of other values; expected a list of an enum of unit variants"
        )]
    );
    let map = "the type takes members of any name, as maps do; expected a struct with named fields";
    assert_eq!(problems(Form::of::<Flattened>()), [map]);
    assert_eq!(problems(Form::of::<BTreeMap<String, bool>>()), [map]);
}

/// The table of the page is what the code does.
#[test]
fn the_page() {
    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Size {
        Small,
        Large,
    }
    #[derive(Deserialize, JsonSchema, Serialize)]
    #[serde(rename_all = "snake_case")]
    enum Titled {
        /// Up to 2
        Small,
        #[schemars(title = "Up to 8")]
        Large,
    }
    fn score() -> f64 {
        95.5
    }
    macro_rules! rows {
        ($($name:literal: #[$attribute:meta] $ty:ty;)*) => {
            [$({
                #[expect(dead_code, reason = "only its schema is used")]
                #[derive(Deserialize, JsonSchema)]
                struct One {
                    #[$attribute]
                    field: $ty,
                }
                row($name, &form::<One>())
            }),*]
        };
    }
    fn row(name: &str, form: &Form) -> String {
        let field = |revision| -> Result<String, String> {
            let schema = form.at(revision)?;
            let field = schema.properties.get("field").unwrap();
            Ok(String::from_utf8(At::new(field, revision).to_vec()).unwrap())
        };
        let full = field(R4).unwrap();
        assert_eq!(field(R5).as_ref(), Ok(&full));
        let older = match field(R3) {
            Ok(older) if older == full => String::new(),
            Ok(older) => format!("`{older}` "),
            Err(_) => "cannot be asked for ".to_owned(),
        };
        format!("| {name} | `{full}` | {older}|")
    }
    let rows = rows! {
        "`String`": #[serde()] String;
        "`char`": #[serde()] char;
        "`String` with `#[schemars(length(min = 1, max = 5))]`": #[schemars(length(min = 1, max = 5))] String;
        "`String` with `#[schemars(email)]`": #[schemars(email)] String;
        "`String` with `#[schemars(url)]`": #[schemars(url)] String;
        "`String` with `#[schemars(extend(\"format\" = \"date\"))]`, or `\"date-time\"`": #[schemars(extend("format" = "date"))] String;
        "`String` with another format or a pattern": #[schemars(regex(pattern = "^a"), extend("format" = "uuid"))] String;
        "`u8`": #[serde()] u8;
        "`i64` with `#[schemars(range(min = 1, max = 10))]`": #[schemars(range(min = 1, max = 10))] i64;
        "`f64`": #[serde()] f64;
        "`bool`": #[serde()] bool;
        "`f64` with `#[serde(default = \"…\")]`": #[serde(default = "score")] f64;
        "`bool` with `#[serde(default)]`": #[serde(default)] bool;
        "an enum of unit variants": #[serde()] Size;
        "an enum whose variants have descriptions or titles": #[serde()] Titled;
        "an enum with `#[schemars(extend(\"enumNames\" = [\"S\", \"L\"]))]`": #[schemars(extend("enumNames" = ["S", "L"]))] Size;
        "a list or set of an enum": #[serde()] Vec<Size>;
        "a list or set of an enum with titles": #[serde()] Vec<Titled>;
    };
    let page = include_str!("askable.md");
    let table: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| "))
        .skip(2)
        .collect();
    assert_eq!(table, rows);
}

/// What is wrong with a form that was put together by hand.
fn by_hand(field: &Value, revision: Revision) -> Vec<String> {
    let schema = json!({"type": "object", "properties": {"a": field}});
    let params = json!({"message": "?", "requestedSchema": schema});
    let params: ElicitRequestFormParams = serde_json::from_value(params).unwrap();
    let found = violations(&params, revision);
    found
        .iter()
        .map(|one| format!("{} {}", one.pointer(), one.rule().name()))
        .collect()
}

// R-4, R-15: what leaves by hand is held to the forms of the revision too.
#[test]
fn forms_by_hand() {
    let at = "/requestedSchema/properties/a";
    let meals = json!({"type": "array", "items": {"type": "string", "enum": ["a"]}});
    let titled = json!({"type": "array", "items": {"anyOf": [{"const": "a", "title": "A"}]}});
    for revision in [R3, R4, R5] {
        for field in [
            json!({"type": "string", "format": "uri", "minLength": 1}),
            json!({"type": "integer", "maximum": 5}),
            json!({"type": "boolean", "default": true}),
            json!({"type": "string", "enum": ["a"], "enumNames": ["A"]}),
            // Rewritten for the older one.
            json!({"type": "string", "oneOf": [{"const": "a", "title": "A"}]}),
        ] {
            assert_eq!(by_hand(&field, revision), [""; 0], "{revision} {field}");
        }
        for (field, place) in [
            (json!({"type": "object", "properties": {}}), ""),
            (json!({"type": "null"}), ""),
            (json!({"$ref": "#/$defs/a"}), ""),
            (json!({"anyOf": [{"type": "string"}, {"type": "null"}]}), ""),
            (json!({"type": "string", "format": "uuid"}), "/format"),
        ] {
            let found = by_hand(&field, revision);
            let place = format!("{at}{place} ");
            assert!(
                found.len() == 1 && found[0].starts_with(&place),
                "{revision} {field}: {found:?}"
            );
        }
        for field in [&meals, &titled] {
            let found = by_hand(field, revision);
            assert_eq!(
                found.is_empty(),
                revision != R3,
                "{revision} {field}: {found:?}"
            );
        }
    }
    // Items of other types are not even a form to the bindings.
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"a": numbers}});
    assert!(serde_json::from_value::<ElicitRequestedSchema>(schema).is_err());
}
