//! Which form a Rust type has at which revision, and which answers it accepts.

mod answers;
mod page;
mod problems;

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Debug,
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use trueform_schema::{At, Json, Revision};

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

// R-4: limits that no value can meet are a mistake of the author, which is reported at the start.
#[test]
fn limits_that_nothing_is_within() {
    let problems = |field: serde_json::Value| {
        let schema = json!({ "type": "object", "properties": { "f": field }, "required": ["f"] });
        Form::of_schemas(&schema, &schema).err().unwrap_or_default()
    };
    for (field, reason) in [
        (
            json!({ "type": "string", "minLength": 5, "maxLength": 4 }),
            "has `minLength` 5, which is above its `maxLength` 4",
        ),
        (
            json!({ "type": "integer", "minimum": 3, "maximum": 2 }),
            "has `minimum` 3, which is above its `maximum` 2",
        ),
        (
            json!({ "type": "number", "minimum": 0.5, "maximum": 0.25 }),
            "has `minimum` 0.5, which is above its `maximum` 0.25",
        ),
        // These are equal as floats.
        (
            json!({ "type": "integer", "minimum": 9_007_199_254_740_993_u64, "maximum": 9_007_199_254_740_992_u64 }),
            "has `minimum` 9007199254740993, which is above its `maximum` 9007199254740992",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 2, "maxItems": 1 }),
            "has `minItems` 2, which is above its `maxItems` 1",
        ),
        (
            json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 3, "uniqueItems": true }),
            "has `minItems` 3 and 2 different options",
        ),
    ] {
        let found = problems(field.clone());
        let named = found
            .iter()
            .any(|problem| problem.starts_with(&format!("field `f` {reason}")));
        assert!(named, "{field}: {found:?}");
    }
    for field in [
        json!({ "type": "string", "minLength": 5, "maxLength": 5 }),
        json!({ "type": "integer", "minimum": -2, "maximum": -2 }),
        json!({ "type": "number", "minimum": 0, "maximum": 0.5 }),
        json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 2, "maxItems": 2, "uniqueItems": true }),
        json!({ "type": "array", "items": { "enum": ["a", "b"] }, "minItems": 3 }),
    ] {
        assert_eq!(problems(field.clone()), Vec::<String>::new(), "{field}");
    }
}

// A form is made once for each type, and types with equal names have forms of their own.
#[test]
fn forms_are_kept() {
    #[expect(dead_code, reason = "only its form is used")]
    #[derive(Deserialize, JsonSchema)]
    struct Same {
        one: String,
    }
    mod other {
        use super::*;

        #[expect(dead_code, reason = "only its form is used")]
        #[derive(Deserialize, JsonSchema)]
        pub(super) struct Same {
            two: bool,
        }
    }
    let first = Form::kept::<Same>();
    assert!(Arc::ptr_eq(&first, &Form::kept::<Same>()));
    let second = Form::kept::<other::Same>();
    assert!(!Arc::ptr_eq(&first, &second));
    let names = |form: &Arc<Result<Form, Vec<String>>>| -> Vec<String> {
        let fields = form.as_ref().as_ref().unwrap().fields().iter();
        fields.map(|field| field.name.clone()).collect()
    };
    assert_eq!(
        (names(&first), names(&second)),
        (vec!["one".to_owned()], vec!["two".to_owned()])
    );
    // The failure of a type without a form is kept too.
    let failed = Form::kept::<Vec<u8>>();
    assert!(failed.is_err() && Arc::ptr_eq(&failed, &Form::kept::<Vec<u8>>()));
}

// Types within blocks of the same function have the same path, by which schemars distinguishes types.
#[test]
fn types_of_the_same_path_have_their_own_forms() {
    let first = {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its form matters")]
        struct Answer {
            name: String,
        }
        Form::kept::<Answer>()
    };
    let second = {
        #[derive(JsonSchema)]
        #[expect(dead_code, reason = "only its form matters")]
        struct Answer {
            age: u8,
        }
        Form::kept::<Answer>()
    };
    let fields = |made: &Result<Form, Vec<String>>| format!("{:?}", made.as_ref().unwrap().fields);
    assert!(fields(&first).contains("name"), "{}", fields(&first));
    assert!(fields(&second).contains("age"), "{}", fields(&second));
}
