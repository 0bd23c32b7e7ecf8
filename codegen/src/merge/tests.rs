//! Tests of the merge on made-up revisions: one method, one position, and the schemas of two or three revisions there.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::{
    inputs::Inputs,
    model::{Bits, Field, InVariants, Model, Rule, Shape, TypeRef},
    overlay::Overlay,
    problem::Problem,
};

/// Merges revisions in which `x/do` has the params `{"value": SCHEMA}`, with further definitions.
fn merge(overlay: &str, revisions: &[(&str, Value, Value)]) -> Result<Model, Problem> {
    let document = |(name, value, definitions): &(&str, Value, Value)| {
        let mut document = json!({"$defs": {
            "ClientRequest": {"$ref": "#/$defs/DoRequest"},
            "DoRequest": {"type": "object", "required": ["method", "params"], "properties": {
                "method": {"type": "string", "const": "x/do"},
                "params": {"type": "object", "properties": {"value": value}, "required": ["value"]},
            }},
            "EmptyResult": {"type": "object"},
        }});
        if let (Some(all), Some(more)) =
            (document["$defs"].as_object_mut(), definitions.as_object())
        {
            all.extend(more.clone());
        }
        ((*name).to_owned(), document)
    };
    let mut overlay: Overlay = toml::from_str(overlay).unwrap();
    overlay.modern_since = "9".to_owned();
    crate::model(&Inputs {
        revisions: revisions.iter().map(document).collect(),
        extensions: BTreeMap::new(),
        overlay,
        docs: BTreeMap::new(),
        files: BTreeMap::new(),
        fingerprint: 0,
    })
}

fn fields<'a>(model: &'a Model, name: &str) -> &'a [Field] {
    match &model.types[name].shape {
        Shape::Struct { fields } => fields,
        other => panic!("`{name}` is not a struct: {other:?}"),
    }
}

/// Returns the type that two revisions' schemas of the member `value` merge into.
fn pair(first: Value, second: Value) -> Result<TypeRef, Problem> {
    let model = merge("", &[("1", first, json!({})), ("2", second, json!({}))])?;
    Ok(fields(&model, "DoRequestParams")[0].ty.clone())
}

fn leaf(name: &str) -> TypeRef {
    TypeRef::Leaf(name.to_owned())
}

#[test]
fn scalars_widen() {
    let (integer, number) = (json!({"type": "integer"}), json!({"type": "number"}));
    assert_eq!(
        pair(integer.clone(), integer.clone()).unwrap(),
        TypeRef::Integer
    );
    assert_eq!(pair(integer, number).unwrap(), TypeRef::Number);
    let (a, b) = (
        json!({"type": "string", "const": "a"}),
        json!({"type": "string", "const": "b"}),
    );
    assert_eq!(
        pair(a.clone(), a.clone()).unwrap(),
        TypeRef::Constant("a".to_owned())
    );
    assert_eq!(
        pair(a.clone(), b).unwrap(),
        TypeRef::Named("DoRequestParamsValue".to_owned())
    );
    assert_eq!(pair(a, json!({"type": "string"})).unwrap(), TypeRef::String);
    let nullable = json!({"type": ["integer", "null"]});
    assert_eq!(
        pair(nullable, json!({"type": "integer"})).unwrap(),
        TypeRef::Nullable(Box::new(TypeRef::Integer))
    );
}

#[test]
fn objects_stay_as_free_as_all_revisions_leave_them() {
    let free = json!({"type": "object", "additionalProperties": {}});
    let strings = json!({"type": "object", "additionalProperties": {"type": "string"}});
    let known = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(
        pair(free.clone(), free.clone()).unwrap(),
        leaf("JsonObject")
    );
    assert_eq!(pair(json!({}), json!({})).unwrap(), leaf("Json"));
    assert_eq!(
        pair(strings.clone(), strings.clone()).unwrap(),
        TypeRef::Map(Box::new(TypeRef::String))
    );
    assert_eq!(
        pair(free, known).unwrap(),
        TypeRef::Named("DoRequestParamsValue".to_owned())
    );
}

#[test]
fn shapes_that_do_not_fit_name_position_file_and_pointer() {
    let problem = pair(
        json!({"type": "string"}),
        json!({"type": "array", "items": {}}),
    )
    .unwrap_err()
    .to_string();
    for part in [
        "`2`",
        "definition `DoRequest`",
        "/params/properties/value",
        "`DoRequestParams.value`",
        "overlay",
    ] {
        assert!(problem.contains(part), "{part}: {problem}");
    }
}

#[test]
fn a_member_is_there_if_any_revision_has_it_and_plain_if_all_require_it() {
    let thing = |schema: Value| json!({"Thing": schema});
    let reference = json!({"$ref": "#/$defs/Thing"});
    let model = merge(
        "",
        &[
            (
                "1",
                // Inline first and named later: the same position, so the same type.
                json!({"type": "object", "required": ["a", "b"], "properties": {
                    "a": {"type": "string"}, "b": {"type": "string"},
                }}),
                json!({}),
            ),
            (
                "2",
                reference.clone(),
                thing(json!({"type": "object", "required": ["a"], "properties": {
                    "a": {"type": "string"}, "b": {"type": "string"}, "c": {"type": "boolean"},
                }})),
            ),
            (
                "3",
                reference,
                thing(
                    json!({"type": "object", "required": ["a", "c"], "properties": {
                        "a": {"type": "string"}, "c": {"type": "boolean"},
                    }}),
                ),
            ),
        ],
    )
    .unwrap();
    let found: Vec<(&str, Bits, Bits, bool)> = fields(&model, "Thing")
        .iter()
        .map(|field| (&*field.json_name, field.known, field.required, field.always))
        .collect();
    assert_eq!(
        found,
        [
            ("a", Bits(0b111), Bits(0b111), true),
            ("b", Bits(0b011), Bits(0b001), false),
            ("c", Bits(0b110), Bits(0b100), false),
        ]
    );
    assert_eq!(
        model.definitions[&(1, "Thing".to_owned())],
        TypeRef::Named("Thing".to_owned())
    );
}

const KINDS: &str = "[unions.Kinds]\ntag = 'kind'\n";

fn kind(name: &str) -> Value {
    json!({"type": "object", "required": ["kind"], "properties": {"kind": {"type": "string", "const": name}}})
}

#[test]
fn a_lone_member_joins_the_union_of_later_revisions() {
    let union = json!({"anyOf": [{"$ref": "#/$defs/B"}, {"$ref": "#/$defs/A"}]});
    let model = merge(
        &format!("{KINDS}[names]\n'DoRequestParams.value' = 'Kinds'\n"),
        &[
            ("1", json!({"$ref": "#/$defs/A"}), json!({"A": kind("a")})),
            ("2", union, json!({"A": kind("a"), "B": kind("b")})),
        ],
    )
    .unwrap();
    let Shape::Union { variants, rule } = &model.types["Kinds"].shape else {
        panic!()
    };
    let found: Vec<(&str, Bits)> = variants
        .iter()
        .map(|variant| (&*variant.name, variant.known))
        .collect();
    assert_eq!(found, [("B", Bits(0b10)), ("A", Bits(0b11))]);
    assert!(matches!(rule, Rule::Tag { values, .. } if values["a"] == 1 && values["b"] == 0));
}

#[test]
fn unions_need_a_rule_that_distinguishes_their_members() {
    let union = json!({"anyOf": [{"$ref": "#/$defs/A"}, {"$ref": "#/$defs/B"}]});
    let definitions = |b: Value| json!({"A": kind("a"), "B": b, "Kinds": union});
    let merged = |overlay: &str, b: Value| {
        merge(
            overlay,
            &[("1", json!({"$ref": "#/$defs/Kinds"}), definitions(b))],
        )
    };
    let problem = merged("", kind("b")).unwrap_err().to_string();
    assert!(problem.contains("union `Kinds`"), "{problem}");
    let problem = merged(KINDS, json!({"type": "object", "properties": {"x": {}}}))
        .unwrap_err()
        .to_string();
    assert!(problem.contains("`B` has no constant `kind`"), "{problem}");
    let problem = merged("[unions.Kinds]\npresent = { x = 'A' }\n", kind("b"))
        .unwrap_err()
        .to_string();
    assert!(problem.contains("how `B` is recognised"), "{problem}");
    assert!(merged(KINDS, kind("b")).is_ok());
}

// DEC-12: a member that one form may have is unknown to the others, even if no form requires it.
#[test]
fn a_collapsed_union_knows_which_form_has_a_member() {
    let form = |name: &str, member: &str, required: &[&str]| {
        let mut form = kind(name);
        form["properties"][member] = json!({"type": "string"});
        form["properties"]["all"] = json!({"type": "string"});
        form["required"] = json!([&["kind"], required].concat());
        form
    };
    let union =
        json!({"anyOf": [form("a", "x", &[]), form("b", "y", &["y"]), form("c", "x", &["x"])]});
    let overlay = "[unions.Kinds]\ncollapse = true\n[names]\n'DoRequestParams.value' = 'Kinds'\n'Kinds.kind' = 'Kind'\n";
    let model = merge(overlay, &[("1", union, json!({}))]).unwrap();
    let found = |which: fn(&Field) -> &Option<InVariants>| -> Vec<(&str, Vec<&str>)> {
        fields(&model, "Kinds")
            .iter()
            .filter_map(|field| Some((&*field.json_name, which(field).as_ref()?)))
            .map(|(name, of)| (name, of.values.iter().map(String::as_str).collect()))
            .collect()
    };
    let known = found(|field| &field.known_if);
    assert_eq!(known, [("x", vec!["a", "c"]), ("y", vec!["b"])]);
    let required = found(|field| &field.required_if);
    assert_eq!(required, [("x", vec!["c"]), ("y", vec!["b"])]);
}

#[test]
fn what_no_method_reaches_is_not_generated_but_listed() {
    let model = merge(
        "",
        &[(
            "1",
            json!({"type": "string"}),
            json!({"Spare": {"type": "object"}}),
        )],
    )
    .unwrap();
    assert!(!model.types.contains_key("Spare"));
    assert_eq!(model.unreached.keys().collect::<Vec<_>>(), ["Spare"]);
}
