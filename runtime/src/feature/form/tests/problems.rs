//! What no form can express, and forms that are written by hand.

use trueform_schema::{ElicitRequestFormParams, ElicitRequestedSchema, violations};

use super::*;

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

/// The problems of a form that was written by hand.
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

// R-4, R-15: forms written by hand are checked against the revision too.
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
    // The bindings do not accept items of other types as a form.
    let numbers = json!({"type": "array", "items": {"type": "integer"}});
    let schema = json!({"type": "object", "properties": {"a": numbers}});
    assert!(serde_json::from_value::<ElicitRequestedSchema>(schema).is_err());
}
