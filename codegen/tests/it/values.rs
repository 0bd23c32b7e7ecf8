//! Values for a schema: the smallest, full ones, and a stream of random and deliberately damaged ones.
//!
//! Works on JSON schemas alone, so that it shares nothing with the code it tests. Seeded: the same seed gives the same values.

use serde_json::{Map, Number, Value, json};

/// Below this depth only required members are generated.
const DEPTH: usize = 6;

/// A small, seeded source of choices (SplitMix64).
#[derive(Clone)]
pub(crate) struct Choices(u64);

impl Choices {
    pub(crate) fn new(seed: u64) -> Self {
        Choices(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(crate) fn of<'a, T>(&mut self, list: &'a [T]) -> &'a T {
        &list[self.below(list.len())]
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// A finite double: of any magnitude, with up to 17 digits, subnormal, or near the limit up to which doubles hold every integer.
    pub(crate) fn double(&mut self) -> f64 {
        const EDGES: [f64; 12] = [
            0.5,
            0.0,
            -1.25,
            1e300,
            1e-7,
            3.0,
            959.508_203_747_186_3,
            1_816_189_213_876_457.0,
            7_243_816_442_868_929.0,
            1e16,
            9_223_372_036_854_775_808.0,
            5e-324,
        ];
        match self.below(4) {
            0 => *self.of(&EDGES),
            1 => Some(f64::from_bits(self.next()))
                .filter(|double| double.is_finite())
                .unwrap_or(f64::MAX),
            2 => {
                let fraction = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
                fraction * 10_f64.powi(self.below(20) as i32)
            }
            _ => f64::from_bits(self.next() & 0x000f_ffff_ffff_ffff),
        }
    }

    /// An integer of 64 bits, most of them with 16 or 17 digits.
    pub(crate) fn wide(&mut self) -> i64 {
        match self.below(4) {
            0 => *self.of(&[i64::MAX, i64::MIN, 10_000_000_000_000_000, (1 << 53) + 1]),
            _ => self.next().cast_signed() % 100_000_000_000_000_000,
        }
    }
}

/// How much to generate.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Size {
    Smallest,
    Fullest,
    Random,
}

/// Generates values of the definitions of one document.
pub(crate) struct Values<'a> {
    document: &'a Value,
    choices: Choices,
}

impl<'a> Values<'a> {
    pub(crate) fn new(document: &'a Value, seed: u64) -> Self {
        Values {
            document,
            choices: Choices::new(seed),
        }
    }

    /// The smallest legal value.
    pub(crate) fn smallest(&mut self, definition: &str) -> Value {
        self.of_definition(definition, Size::Smallest)
    }

    /// Every alternative of the definition with every member it can have.
    pub(crate) fn fullest(&mut self, definition: &str) -> Vec<Value> {
        let schema = self.definition(definition);
        let alternatives = match alternatives(schema) {
            Some(list) if schema.get("properties").is_none() => list.iter().collect(),
            _ => vec![schema],
        };
        // Nested unions cycle through their alternatives.
        (0..6)
            .flat_map(|_| alternatives.clone())
            .map(|schema| self.value(schema, Size::Fullest, 0))
            .collect()
    }

    /// A random legal value, or nearly so.
    pub(crate) fn random(&mut self, definition: &str) -> Value {
        self.of_definition(definition, Size::Random)
    }

    /// `value` with one thing changed somewhere, which may or may not make it illegal.
    pub(crate) fn damaged(&mut self, mut value: Value) -> Value {
        damage(&mut value, &mut self.choices);
        value
    }

    fn definition(&self, name: &str) -> &'a Value {
        let holder = super::support::holder(self.document);
        self.document[holder]
            .get(name)
            .unwrap_or_else(|| panic!("no definition `{name}`"))
    }

    fn of_definition(&mut self, name: &str, size: Size) -> Value {
        self.value(self.definition(name), size, 0)
    }

    fn value(&mut self, schema: &'a Value, size: Size, depth: usize) -> Value {
        let size = if depth > DEPTH { Size::Smallest } else { size };
        assert!(depth < 64, "a value of this schema cannot end: {schema}");
        if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
            let name = target
                .rsplit('/')
                .next()
                .expect("a reference has a last token");
            return self.value(self.definition(name), size, depth + 1);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        if let Some(values) = schema.get("enum").and_then(Value::as_array) {
            return if size == Size::Smallest {
                values[0].clone()
            } else {
                self.choices.of(values).clone()
            };
        }
        if let Some(parts) = schema.get("allOf").and_then(Value::as_array) {
            let mut parts: Vec<Value> = parts
                .iter()
                .map(|part| self.value(part, size, depth + 1))
                .collect();
            parts.push(self.plain(schema, size, depth));
            return parts.into_iter().fold(Value::Null, merge);
        }
        match alternatives(schema) {
            Some(list) => {
                let chosen = match size {
                    Size::Smallest => self.smallest_of(list, depth),
                    _ => {
                        let schema = self.choices.of(list);
                        self.value(schema, size, depth + 1)
                    }
                };
                match schema.get("properties") {
                    Some(_) => merge(self.plain(schema, size, depth), chosen),
                    None => chosen,
                }
            }
            None => self.plain(schema, size, depth),
        }
    }

    fn smallest_of(&mut self, list: &'a [Value], depth: usize) -> Value {
        // Recursive definitions end in the alternative that does not lead back to them; leaves come first.
        let leaf = |schema: &&Value| schema.get("$ref").is_none();
        let first = list
            .iter()
            .find(leaf)
            .filter(|_| depth > DEPTH)
            .unwrap_or(&list[0]);
        self.value(first, Size::Smallest, depth + 1)
    }

    fn plain(&mut self, schema: &'a Value, size: Size, depth: usize) -> Value {
        let types: Vec<&str> = match schema.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            _ if schema.get("properties").is_some() => vec!["object"],
            _ if schema.get("allOf").is_some() => return Value::Null,
            _ => {
                return anything(
                    &mut self.choices,
                    if size == Size::Smallest { 9 } else { depth },
                );
            }
        };
        let ty = if size == Size::Smallest {
            types[0]
        } else {
            self.choices.of(&types)
        };
        match ty {
            "object" => self.object(schema, size, depth),
            "array" => self.array(schema, size, depth),
            "string" => self.string(schema, size).into(),
            "integer" => self.integer(schema, size),
            "number" => self.number(schema, size),
            "boolean" => (size != Size::Smallest && self.choices.one_in(2)).into(),
            _ => Value::Null,
        }
    }

    fn object(&mut self, schema: &'a Value, size: Size, depth: usize) -> Value {
        let required: Vec<&str> = strings(schema.get("required"));
        let asks_for_input = schema.pointer("/properties/inputRequests").is_some();
        let mut out = Map::new();
        for (name, schema) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            let wanted = match size {
                Size::Smallest => false,
                Size::Fullest => true,
                Size::Random => self.choices.one_in(2),
            };
            if wanted || required.contains(&name.as_str()) {
                // The schema allows any string; the specification fixes the result for each one.
                let value = match (name.as_str(), schema.get("const")) {
                    ("resultType", None) if asks_for_input => json!("input_required"),
                    ("resultType", None) => json!("complete"),
                    _ => self.value(schema, size, depth + 1),
                };
                out.insert(name.clone(), value);
            }
        }
        for name in required {
            out.entry(name).or_insert_with(|| json!("required"));
        }
        if size != Size::Smallest {
            self.unknown_members(schema, size, depth, &mut out);
        }
        Value::Object(out)
    }

    fn unknown_members(
        &mut self,
        schema: &'a Value,
        size: Size,
        depth: usize,
        out: &mut Map<String, Value>,
    ) {
        const NAMES: [&str; 5] = ["example.com/unknown", "x", "", "a/b~c", "\u{e9}\u{1F600}"];
        let wanted = if size == Size::Fullest {
            1
        } else {
            self.choices.below(3)
        };
        for _ in 0..wanted {
            let name = *self.choices.of(&NAMES);
            let value = match schema.get("additionalProperties") {
                Some(Value::Bool(false)) => continue,
                Some(schema) if schema.get("not").is_some() => continue,
                Some(schema) => self.value(schema, size, depth + 1),
                None => anything(&mut self.choices, depth),
            };
            out.insert(name.to_owned(), value);
        }
    }

    fn array(&mut self, schema: &'a Value, size: Size, depth: usize) -> Value {
        let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(0) as usize;
        let count = match size {
            Size::Smallest => least,
            Size::Fullest => least.max(2),
            Size::Random => least + self.choices.below(3),
        };
        const ANY: &Value = &Value::Bool(true);
        let items = schema.get("items").unwrap_or(ANY);
        (0..count)
            .map(|_| self.value(items, size, depth + 1))
            .collect()
    }

    fn string(&mut self, schema: &Value, size: Size) -> String {
        const TEXTS: [&str; 7] = [
            "text",
            "",
            "\"\\\n",
            "\u{0}\u{7f}",
            "\u{e9}",
            "\u{1F600}",
            "2.0",
        ];
        const URIS: [&str; 3] = [
            "https://example.com/a?b=c#d",
            "urn:x:y",
            "file:///tmp/a%20b",
        ];
        const BYTES: [&str; 4] = ["", "AA==", "aGVsbG8=", "////"];
        let text = |list: &[&'static str], choices: &mut Choices| match size {
            Size::Smallest => list[0],
            _ => *choices.of(list),
        };
        match schema.get("format").and_then(Value::as_str) {
            Some("uri") => text(&URIS, &mut self.choices).into(),
            Some("uri-template") => "https://example.com/{id}".into(),
            Some("byte") => text(&BYTES, &mut self.choices).into(),
            Some("date-time") => "2026-07-28T00:00:00Z".into(),
            Some("date") => "2026-07-28".into(),
            Some("email") => "a@example.com".into(),
            _ => {
                let least = schema.get("minLength").and_then(Value::as_u64).unwrap_or(0) as usize;
                let text = text(&TEXTS, &mut self.choices);
                if text.chars().count() < least {
                    "x".repeat(least)
                } else {
                    text.into()
                }
            }
        }
    }

    fn integer(&mut self, schema: &Value, size: Size) -> Value {
        const NUMBERS: [i64; 8] = [
            0,
            1,
            -1,
            7,
            100,
            -32700,
            9_007_199_254_740_991,
            -9_007_199_254_740_991,
        ];
        let wanted = match size {
            Size::Smallest => 0,
            _ if self.choices.one_in(3) => self.choices.wide(),
            _ => *self.choices.of(&NUMBERS),
        };
        // A limit may be written as a float.
        let limit = |keyword| {
            schema
                .get(keyword)
                .and_then(Value::as_f64)
                .map(|limit| limit as i64)
        };
        wanted
            .max(limit("minimum").unwrap_or(i64::MIN))
            .min(limit("maximum").unwrap_or(i64::MAX))
            .into()
    }

    fn number(&mut self, schema: &Value, size: Size) -> Value {
        /// A double does not hold all integers beyond this.
        const EXACT: u64 = 1 << 53;
        if size == Size::Smallest || self.choices.one_in(2) {
            let integer = self.integer(schema, size);
            if integer
                .as_i64()
                .is_some_and(|integer| integer.unsigned_abs() <= EXACT)
            {
                return integer;
            }
        }
        let limit = |keyword| schema.get(keyword).and_then(Value::as_f64);
        let wanted = self.choices.double();
        let number = wanted
            .max(limit("minimum").unwrap_or(f64::MIN))
            .min(limit("maximum").unwrap_or(f64::MAX));
        Number::from_f64(number).map_or(Value::Null, Value::Number)
    }
}

fn alternatives(schema: &Value) -> Option<&[Value]> {
    schema
        .get("anyOf")
        .or_else(|| schema.get("oneOf"))?
        .as_array()
        .map(Vec::as_slice)
}

fn strings(value: Option<&Value>) -> Vec<&str> {
    value
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect()
}

fn merge(left: Value, right: Value) -> Value {
    match (left, right) {
        (Value::Object(mut left), Value::Object(right)) => {
            left.extend(right);
            Value::Object(left)
        }
        (left, Value::Null) => left,
        (_, right) => right,
    }
}

/// Any JSON.
fn anything(choices: &mut Choices, depth: usize) -> Value {
    match choices.below(if depth > DEPTH { 6 } else { 9 }) {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-3),
        3 => match choices.one_in(2) {
            true => choices.double().into(),
            false => choices.next().into(),
        },
        4 => json!("any \u{1F600}"),
        5 => json!({}),
        6 => json!([]),
        7 => (0..choices.below(3))
            .map(|_| anything(choices, depth + 2))
            .collect(),
        _ => {
            json!({ "z": anything(choices, depth + 2), "a": anything(choices, depth + 2), "type": "any" })
        }
    }
}

/// Changes one thing at a random place of `value`.
fn damage(value: &mut Value, choices: &mut Choices) {
    let descend = !choices.one_in(3);
    match value {
        Value::Object(members) if descend && !members.is_empty() => {
            let at = choices.below(members.len());
            if let Some(member) = members.values_mut().nth(at) {
                damage(member, choices);
            }
        }
        Value::Array(elements) if descend && !elements.is_empty() => {
            let at = choices.below(elements.len());
            damage(&mut elements[at], choices);
        }
        Value::Object(members) if !members.is_empty() && choices.one_in(2) => {
            let name = members
                .keys()
                .nth(choices.below(members.len()))
                .cloned()
                .expect("it is not empty");
            members.shift_remove(&name);
        }
        Value::Array(elements) if choices.one_in(2) => elements.push(anything(choices, DEPTH)),
        Value::String(text) if choices.one_in(2) => text.push_str("\u{20}!"),
        Value::Number(number) if choices.one_in(2) => {
            // Beyond 2^53 integers have no exact float, and are refused as floats.
            let damaged = number.as_f64().filter(|number| number.abs() < 1e15);
            let damaged = damaged.map_or(0.5, |number| number * -1.5 + 0.25);
            *value = Number::from_f64(damaged).map_or(Value::Null, Value::Number);
        }
        _ => *value = anything(choices, DEPTH),
    }
}
