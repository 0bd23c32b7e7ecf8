//! The limit on steps applies wherever the work is done.

use serde_json::{Value, json};

use super::{super::Steps, CompileOptions, Schema, compiled};

/// Returns schemas of the member `x` of an object that streams, with a value that costs at least `count` steps, and whether it passes.
fn costly(count: usize) -> Vec<(Value, Value, bool)> {
    let integers: Vec<usize> = (0..count).collect();
    let members: serde_json::Map<String, Value> =
        (0..count).map(|i| (format!("m{i}"), json!(i))).collect();
    let all_integers = json!({"type": "array", "items": {"type": "integer"}});
    vec![
        // Each of these would turn a check that was stopped into a pass.
        (json!({"not": all_integers}), json!(integers), false),
        (
            json!({"contains": {"type": "integer"}, "minContains": 0, "maxContains": 3}),
            json!(integers),
            false,
        ),
        (
            json!({"if": all_integers, "then": false}),
            json!(integers),
            false,
        ),
        (
            json!({"oneOf": [all_integers, {"type": "array"}]}),
            json!(integers),
            false,
        ),
        (json!({"uniqueItems": true}), json!(integers), true),
        (
            json!({"uniqueItems": true}),
            json!([{"deep": integers}, {"deep": []}]),
            true,
        ),
        (all_integers.clone(), json!(integers), true),
        (json!({"not": {"not": all_integers}}), json!(integers), true),
        // Each item is a tree of its own, and all of them share one count.
        (
            json!({"items": {"not": {"type": "string"}}}),
            json!(integers),
            true,
        ),
        (
            json!({"items": {"uniqueItems": true}}),
            json!(vec![json!([1]); count]),
            true,
        ),
        (
            json!({"items": {"contains": {"type": "integer"}}}),
            json!(vec![json!([1]); count]),
            true,
        ),
        (
            json!({"additionalProperties": {"type": "integer"}}),
            json!(members),
            true,
        ),
        (
            json!({"propertyNames": {"maxLength": 9}}),
            json!(members),
            true,
        ),
        (
            json!({"patternProperties": {"^m": {"type": "integer"}}}),
            json!(members),
            true,
        ),
        (
            json!({"patternProperties": {"^x": {"type": "integer"}}}),
            json!({ "x".repeat(16 * count): 1 }),
            true,
        ),
        (
            json!({"enum": (0..16 * count).map(|i| i.to_string()).collect::<Vec<_>>()}),
            json!("0"),
            true,
        ),
        (
            json!({"type": "string", "pattern": "^x*$"}),
            json!("x".repeat(16 * count)),
            true,
        ),
        (
            json!({"not": {"pattern": "y"}}),
            json!("x".repeat(16 * count)),
            true,
        ),
    ]
}

fn limited(x: &Value, max_steps: u64) -> Schema {
    let schema = json!({"type": "object", "properties": {"x": x}});
    Schema::compile(&schema, CompileOptions::default().max_steps(max_steps))
        .unwrap_or_else(|errors| panic!("{schema}: {errors:?}"))
}

#[test]
fn a_limit_is_a_failure_wherever_it_is_met() {
    for (x, value, passes) in costly(400) {
        let text = json!({ "x": value }).to_string();
        let tree: Value = json!({ "x": value });
        let enough = limited(&x, 10_000);
        assert_eq!(enough.check_str(&text).is_ok(), passes, "{x}");
        assert_eq!(enough.accepts(&tree), passes, "{x}");

        let scarce = limited(&x, 200);
        let steps = Steps::new(200);
        assert_eq!(scarce.accepts_str_within(&text, &steps), None, "{x}");
        assert!(steps.are_spent(), "{x}");
        assert!(!scarce.accepts(&tree), "{x}");
        for violations in [scarce.check_str(&text), scarce.check(&tree)] {
            let violations = violations.expect_err("too much work").to_string();
            assert!(
                violations.starts_with(
                    "(root): expected a value that can be checked in 200 steps (send less, or simpler values), found "
                ),
                "{x}: {violations}"
            );
        }
    }
}

#[test]
fn one_count_for_several_checks() {
    let schema = limited(&json!({"items": {"type": "integer"}}), 10);
    let tree = json!({"x": [1, 2, 3, 4, 5]});
    let steps = Steps::new(21);
    for _ in 0..3 {
        // Seven steps each: the object, the array and its items.
        assert!(schema.check_within(&tree, &steps).is_ok());
        assert!(!steps.are_spent());
    }
    assert!(schema.check_within(&tree, &steps).is_err());
    assert!(steps.are_spent());
    assert_eq!(
        schema.accepts_str_within(&tree.to_string(), &Steps::new(6)),
        None
    );
    let streamed = schema.accepts_str_within(&tree.to_string(), &Steps::new(7));
    assert!(streamed.is_some_and(|passed| !passed.has_integral_floats()));
}

/// Branches within branches multiply the work of finding the intended branch.
#[test]
fn integral_floats_are_sought_within_the_limit() {
    let schema = compiled(
        r##"{"$ref":"#/$defs/n","$defs":{"n":{"anyOf":[
            {"type":"object","properties":{"c":{"$ref":"#/$defs/n"},"v":{"type":"integer"}},"required":["v"]},
            {"type":"object","properties":{"c":{"$ref":"#/$defs/n"},"w":{"type":"integer"}},"required":["w"]}]}}}"##,
    );
    let mut tree = json!({"w": 1.0});
    for _ in 0..30 {
        tree = json!({"c": tree, "w": 1.0});
    }
    let whole = schema.normalise_integral_floats(&mut tree.clone());
    assert_eq!(whole.len(), 31);
    let steps = Steps::new(100);
    let part = schema.normalise_integral_floats_within(&mut tree, &steps);
    assert!(part.len() < 31 && steps.are_spent(), "{part:?}");

    let list = compiled(r#"{"items":{"type":"integer"}}"#);
    let mut floats = json!([1.0, 2.0, 3.0, 4.0]);
    let steps = Steps::new(3);
    list.normalise_integral_floats_within(&mut floats, &steps);
    assert!(steps.are_spent());
    assert_eq!(floats.to_string(), "[1,2,3.0,4.0]");
}

/// Finding the violations costs more than the verdict if several branches are examined.
#[test]
fn no_words_within_the_limit() {
    let list = json!({"type": "array", "items": {"type": "integer"}});
    let schema =
        json!({"anyOf": [list, {"type": "array", "items": {"type": "integer"}, "minItems": 1}]});
    let schema = Schema::compile(&schema, CompileOptions::default())
        .unwrap_or_else(|errors| panic!("{errors:?}"));
    let mut items: Vec<Value> = vec![json!(1); 100];
    items.push(json!("x"));
    // The verdict checks two branches of an array and its items.
    let steps = Steps::new(1 + 2 * (1 + 101) + 20);
    let violations = schema
        .check_within(&json!(items), &steps)
        .expect_err("a string");
    assert!(steps.are_spent(), "{violations}");
    assert!(
        violations.to_string().contains("in 225 steps"),
        "{violations}"
    );
}
