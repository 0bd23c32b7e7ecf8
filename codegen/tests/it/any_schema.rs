//! Made-up schemas of extensions: nasty names, cycles, unions, `allOf`, recursion, limits, and keywords that the bindings lack.
//!
//! Seeded: the same seed makes the same schema. Nothing here knows what `bind` accepts.

use serde_json::{Map, Value, json};

use crate::values::Choices;

/// The struct that holds a value of each definition; the type that the tests read and write.
pub(crate) const PROBE: &str = "Probe";

/// Names that are not Rust names, are taken, or clash with each other once they are.
const NAMES: [&str; 52] = [
    "Self",
    "self",
    "Option",
    "Vec",
    "Result",
    "String",
    "Box",
    "Some",
    "None",
    "A",
    "a",
    "H",
    "S",
    "T",
    "foo-bar",
    "fooBar",
    "FooBar",
    "1x",
    "<=",
    ">=",
    "",
    " ",
    "_",
    "größe",
    "日本",
    "a/b",
    "b",
    "a~b",
    "a%b",
    "a b",
    "a.b",
    "a#b",
    "@a",
    "Note",
    "Note2",
    "note",
    "type",
    "fn",
    "mut",
    "gen",
    "crate",
    "extras",
    "members",
    "key",
    "new",
    "Other",
    "Unknown",
    "Icon",
    "RequestId",
    "Server",
    "new\nline",
    "quote\"d\\",
];

/// One extension: its schema and its facts.
pub(crate) struct AnySchema {
    pub(crate) schema: Value,
    pub(crate) facts: String,
}

/// The schema of `seed`. A `wild` one has keywords and cycles that no bindings can have.
pub(crate) fn made(seed: u64, wild: bool) -> AnySchema {
    let mut maker = Maker {
        choices: Choices::new(seed),
        definitions: Vec::new(),
        wild,
    };
    let count = 1 + maker.choices.below(5);
    for _ in 0..count {
        let name = maker.name();
        if !maker.definitions.contains(&name) {
            maker.definitions.push(name);
        }
    }
    let mut definitions = Map::new();
    for name in maker.definitions.clone() {
        let schema = maker.definition();
        definitions.insert(name, schema);
    }
    let members = maker.definitions.iter().enumerate();
    let members: Map<String, Value> = members
        .map(|(i, name)| (format!("p{i}"), refer(name)))
        .collect();
    definitions.insert(
        PROBE.to_owned(),
        json!({ "type": "object", "properties": members }),
    );
    let mut facts = format!(
        "identifier = \"com.example/any\"\nrevision = \"2026-07-28\"\nroots.{PROBE} = [{PROBE:?}]\n"
    );
    for i in 0..maker.choices.below(4) {
        maker.method(i, &mut definitions, &mut facts);
    }
    let draft = match maker.wild && maker.choices.one_in(20) {
        true => "http://json-schema.org/draft-07/schema#",
        false => "https://json-schema.org/draft/2020-12/schema",
    };
    AnySchema {
        schema: json!({ "$schema": draft, "$defs": definitions }),
        facts,
    }
}

/// A reference to the definition `name`.
fn refer(name: &str) -> Value {
    let token = name.replace('~', "~0").replace('/', "~1");
    let encoded: String = token
        .bytes()
        .map(
            |byte| match byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                true => char::from(byte).to_string(),
                false => format!("%{byte:02X}"),
            },
        )
        .collect();
    json!({ "$ref": format!("#/$defs/{encoded}") })
}

struct Maker {
    choices: Choices,
    definitions: Vec<String>,
    wild: bool,
}

impl Maker {
    fn name(&mut self) -> String {
        (*self.choices.of(&NAMES)).to_owned()
    }

    fn reference(&mut self) -> Value {
        let name = self.choices.of(&self.definitions).clone();
        refer(&name)
    }

    fn definition(&mut self) -> Value {
        match self.choices.below(12) {
            0..6 => self.object(0),
            6 => self.union(0),
            7 => self.tagged(0),
            8 => self.text(),
            9 if self.wild => json!({ "allOf": [self.reference(), self.object(1)] }),
            10 if self.wild => self.reference(),
            _ => self.schema(0),
        }
    }

    fn schema(&mut self, depth: usize) -> Value {
        if self.wild && self.choices.one_in(12) {
            return self.strange(depth);
        }
        if 3 < depth {
            return self.scalar();
        }
        match self.choices.below(16) {
            0..4 => self.reference(),
            4..6 => self.object(depth),
            6 => {
                json!({ "type": "array", "items": self.schema(depth + 1), "minItems": self.choices.below(2) })
            }
            7 => {
                json!({ "type": "array", "items": self.schema(depth + 1), "maxItems": 1 + self.choices.below(3) })
            }
            8 => json!({ "type": "object", "additionalProperties": self.schema(depth + 1) }),
            9 => self.union(depth),
            10 => json!({ "anyOf": [{ "type": "null" }, self.schema(depth + 1)] }),
            11 => self.text(),
            _ => self.scalar(),
        }
    }

    fn scalar(&mut self) -> Value {
        match self.choices.below(12) {
            0 => json!({ "type": "boolean" }),
            1 => json!({ "type": "integer" }),
            2 => json!({ "type": "integer", "minimum": 2, "maximum": 9 }),
            3 => json!({ "type": "number", "minimum": -0.5 }),
            4 => json!({ "type": "number", "maximum": 1e3 }),
            5 => json!({ "type": "string", "minLength": 2 }),
            6 => json!({ "type": "string", "maxLength": 3, "x-note": "an annotation" }),
            7 => json!({ "type": ["string", "null"], "maxLength": 5 }),
            8 => json!({ "type": "integer", "const": 4 }),
            9 => json!({}),
            10 => json!({ "type": "object" }),
            _ => json!({ "type": "string" }),
        }
    }

    fn text(&mut self) -> Value {
        let mut values: Vec<String> = (0..1 + self.choices.below(5))
            .map(|_| self.name())
            .collect();
        values.sort();
        values.dedup();
        match values.len() {
            1 => json!({ "type": "string", "const": values[0] }),
            _ => json!({ "type": "string", "enum": values }),
        }
    }

    fn object(&mut self, depth: usize) -> Value {
        let mut properties = Map::new();
        let mut required = Vec::new();
        for _ in 0..self.choices.below(5) {
            let name = self.name();
            if self.choices.one_in(4) {
                required.push(name.clone());
            }
            let schema = self.schema(depth + 1);
            properties.insert(name, schema);
        }
        if self.wild && self.choices.one_in(10) {
            required.push(self.name());
        }
        required.sort();
        required.dedup();
        let mut object =
            json!({ "type": "object", "properties": properties, "required": required });
        if self.choices.one_in(3) {
            object["additionalProperties"] = false.into();
        }
        object
    }

    /// A union whose members differ in their JSON types, or, now and then, in nothing.
    fn union(&mut self, depth: usize) -> Value {
        let mut members = vec![
            self.object(depth + 1),
            json!({ "type": "array", "items": self.schema(depth + 1) }),
            json!({ "type": "integer" }),
            json!({ "type": "boolean" }),
            self.text(),
        ];
        while 2 < members.len() {
            let at = self.choices.below(members.len());
            members.swap_remove(at);
        }
        if self.choices.one_in(3) {
            members.push(json!({ "type": "null" }));
        }
        if self.wild && self.choices.one_in(2) {
            members.push(self.reference());
        }
        let keyword = *self.choices.of(&["anyOf", "oneOf"]);
        json!({ keyword: members })
    }

    /// A union of objects that differ in a constant.
    fn tagged(&mut self, depth: usize) -> Value {
        let tag = self.name();
        let mut members: Vec<Value> = Vec::new();
        for i in 0..2 + self.choices.below(2) {
            let mut member = self.object(depth + 1);
            let value = match self.wild {
                true => self.name(),
                false => format!("{}{i}", self.name()),
            };
            member["properties"][&tag] = json!({ "const": value });
            let required = member["required"].as_array_mut().expect("it is an array");
            if !required.contains(&json!(tag)) {
                required.push(json!(tag));
            }
            members.push(member);
        }
        json!({ "oneOf": members })
    }

    /// What bindings cannot have, or hardly.
    fn strange(&mut self, depth: usize) -> Value {
        match self.choices.below(18) {
            0 => json!({ "type": "string", "pattern": "^a" }),
            1 => json!({ "type": "array", "uniqueItems": true }),
            2 => json!({ "if": {}, "then": {} }),
            3 => json!(false),
            4 => json!({ "not": { "type": "string" } }),
            5 => json!({ "not": {} }),
            6 => json!({ "type": [] }),
            7 => json!({ "type": "string", "enum": [] }),
            8 => json!({ "anyOf": [] }),
            9 => json!({ "$ref": "https://example.com/other.json" }),
            10 => json!({ "allOf": [self.reference(), self.reference()] }),
            11 => json!({ "type": "string", "minLength": -1 }),
            12 => json!({ "type": "null" }),
            13 => json!({ "type": "object", "required": [1] }),
            14 => {
                json!({ "allOf": [self.reference(), { "type": "object", "properties": { "a": self.reference() } }] })
            }
            15 => json!({ "enum": [1, "a", null] }),
            16 => {
                // Deeper than any bindings.
                let mut deep = json!({ "type": "string" });
                for _ in 0..40 {
                    deep = json!({ "type": "array", "items": deep });
                }
                deep
            }
            _ => {
                let member = self.schema(depth + 1);
                json!({ "anyOf": [self.reference(), member, self.reference()] })
            }
        }
    }

    /// A request or notification, with or without params, a result and a direction.
    fn method(&mut self, i: usize, definitions: &mut Map<String, Value>, facts: &mut String) {
        let is_notification = self.choices.one_in(3);
        let stem = match self.choices.one_in(4) {
            true => self.name(),
            false => format!("Do{i}"),
        };
        let wire = format!("any/do-{i}");
        let mut envelope = json!({
            "type": "object",
            "properties": { "method": { "type": "string", "const": wire } },
            "required": ["method"],
        });
        let none = self.choices.one_in(4);
        if !none {
            envelope["properties"]["params"] = match self.wild && self.choices.one_in(6) {
                true => self.schema(1),
                false => self.object(1),
            };
        }
        let kind = if is_notification {
            "Notification"
        } else {
            "Request"
        };
        definitions.insert(format!("{stem}{kind}"), envelope);
        if !is_notification && !self.choices.one_in(3) {
            let result = match self.wild && self.choices.one_in(6) {
                true => self.schema(1),
                false => self.object(1),
            };
            definitions.insert(format!("{stem}Result"), result);
        }
        if !(self.wild && self.choices.one_in(6)) {
            let direction = *self
                .choices
                .of(&["client-to-server", "server-to-client", "both"]);
            facts.push_str(&format!("methods.{wire:?}.direction = {direction:?}\n"));
        }
    }
}

/// A value of `schema`, or nearly so; `None` if it does not end soon.
pub(crate) fn value(
    document: &Value,
    schema: &Value,
    choices: &mut Choices,
    depth: usize,
) -> Option<Value> {
    if 12 < depth {
        return None;
    }
    let mut inner = |schema: &Value| value(document, schema, choices, depth + 1);
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        let name = trueform_codegen::problem::referred(target)?;
        return inner(document["$defs"].get(name)?);
    }
    if let Some(value) = schema.get("const") {
        return Some(value.clone());
    }
    for keyword in ["enum", "anyOf", "oneOf", "allOf"] {
        let Some(list) = schema.get(keyword).and_then(Value::as_array) else {
            continue;
        };
        if keyword == "allOf" {
            let mut all = Map::new();
            for part in list {
                all.extend(inner(part)?.as_object()?.clone());
            }
            return Some(Value::Object(all));
        }
        // Another one, if the first leads too deep.
        for _ in 0..3 {
            let chosen = choices.of(list).clone();
            match keyword {
                "enum" => return Some(chosen),
                _ => {
                    if let Some(value) = value(document, &chosen, choices, depth + 1) {
                        return Some(value);
                    }
                }
            }
        }
        return None;
    }
    let ty = match schema.get("type") {
        Some(Value::Array(types)) => choices.of(types).as_str()?.to_owned(),
        Some(Value::String(ty)) => ty.clone(),
        _ => {
            return Some(
                choices
                    .of(&[json!(null), json!([1]), json!({ "a": 1 })])
                    .clone(),
            );
        }
    };
    Some(match ty.as_str() {
        "null" => Value::Null,
        "boolean" => choices.one_in(2).into(),
        "integer" => json!(choices.below(12)),
        "number" => json!(choices.below(8) as f64 / 2.0 - 1.0),
        "string" => (*choices.of(&["", "é\u{1F600}", "ab", "abc", "abcdef"])).into(),
        "array" => {
            let any = json!(true);
            let items = schema.get("items").unwrap_or(&any);
            let count = choices.below(3);
            let items = (0..count).filter_map(|_| value(document, items, choices, depth + 1));
            Value::Array(items.collect())
        }
        _ => {
            let mut object = Map::new();
            let is_required = |name: &str| {
                let names = schema.get("required").and_then(Value::as_array);
                names.is_some_and(|names| names.iter().any(|other| other == name))
            };
            let members = schema.get("properties").and_then(Value::as_object);
            for (name, schema) in members.into_iter().flatten() {
                if !is_required(name) && (4 < depth || choices.one_in(2)) {
                    continue;
                }
                match value(document, schema, choices, depth + 1) {
                    Some(member) => _ = object.insert(name.clone(), member),
                    None if is_required(name) => return None,
                    None => {}
                }
            }
            if choices.one_in(4) {
                let more = match schema.get("additionalProperties") {
                    Some(Value::Object(more)) => {
                        value(document, &Value::Object(more.clone()), choices, depth + 1)?
                    }
                    _ => json!(1),
                };
                object.insert("more".to_owned(), more);
            }
            Value::Object(object)
        }
    })
}
