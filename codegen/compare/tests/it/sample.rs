//! Values that are legal or nearly legal; a validator decides which.

use serde_json::{Map, Value, json};

/// Small numbers in no particular order, the same ones for the same seed.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Dice {
        Dice(seed | 1)
    }

    /// One of the first `sides` numbers.
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        let high = usize::try_from(self.0 >> 33).unwrap_or_default();
        high % sides
    }

    fn one_of<'v, T>(&mut self, list: &'v [T]) -> Option<&'v T> {
        let index = (!list.is_empty()).then(|| self.roll(list.len()))?;
        list.get(index)
    }
}

const NAMES: [&str; 3] = ["a", "b", "c"];

/// A value after the wishes of a schema.
pub(crate) fn sample(document: &Value, schema: &Value, dice: &mut Dice, depth: usize) -> Value {
    if depth == 0 {
        return scalar(dice);
    }
    let mut wishes = Wishes::default();
    wishes.collect(document, schema, dice, 4);
    if dice.roll(4) > 0
        && let Some(value) = dice.one_of(&wishes.values)
    {
        return (*value).clone();
    }
    match dice.one_of(&wishes.types).copied() {
        Some("object") => object(document, &wishes, dice, depth),
        Some("array") => array(document, &wishes, dice, depth),
        Some("string") => ["", "a", "b", "ab", "abc"][dice.roll(5)].into(),
        Some("integer" | "number") => json!([0, 1, 2, 3, 1.5])[dice.roll(5)].clone(),
        Some("boolean") => (dice.roll(2) == 0).into(),
        Some("null") => Value::Null,
        _ => scalar(dice),
    }
}

fn scalar(dice: &mut Dice) -> Value {
    json!([null, true, 1, "a", [], {}])[dice.roll(6)].clone()
}

/// The names and constants in a schema and in everything that it refers to.
#[derive(Default)]
struct Wishes<'a> {
    types: Vec<&'a str>,
    values: Vec<&'a Value>,
    members: Vec<(&'a str, &'a Value)>,
    required: Vec<&'a str>,
    elements: Vec<&'a Value>,
}

impl<'a> Wishes<'a> {
    fn collect(&mut self, document: &'a Value, schema: &'a Value, dice: &mut Dice, depth: usize) {
        let Some(below) = depth.checked_sub(1) else {
            return;
        };
        for (keyword, value) in schema.as_object().into_iter().flatten() {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(target)) => {
                    if let Some(target) = document.pointer(target.trim_start_matches('#')) {
                        self.collect(document, target, dice, below);
                    }
                }
                ("allOf", Value::Array(parts)) => {
                    for part in parts {
                        self.collect(document, part, dice, below);
                    }
                }
                ("anyOf" | "oneOf", Value::Array(parts)) => {
                    if let Some(part) = dice.one_of(parts) {
                        self.collect(document, part, dice, below);
                    }
                }
                ("not" | "if" | "then" | "else", part) => {
                    if dice.roll(2) == 0 {
                        self.collect(document, part, dice, below);
                    }
                }
                (keyword, value) => self.keyword(keyword, value, dice),
            }
        }
    }

    fn keyword(&mut self, keyword: &'a str, value: &'a Value, dice: &mut Dice) {
        match (keyword, value) {
            ("type", Value::Array(types)) => {
                self.types.extend(types.iter().filter_map(Value::as_str));
            }
            ("type", Value::String(ty)) => self.types.extend([ty.as_str(); 3]),
            ("const", one) => self.values.push(one),
            ("enum", Value::Array(values)) => self.values.extend(values),
            ("properties", Value::Object(members)) => {
                let members = members.iter().map(|(name, member)| (name.as_str(), member));
                self.members.extend(members);
            }
            ("required", Value::Array(names)) => {
                self.required.extend(names.iter().filter_map(Value::as_str));
            }
            ("patternProperties", Value::Object(members)) => {
                self.members.extend(NAMES.into_iter().zip(members.values()));
            }
            ("additionalProperties", member) => {
                self.members.push((NAMES[dice.roll(3)], member));
            }
            ("items" | "contains", element) => self.elements.extend([element; 2]),
            ("prefixItems", Value::Array(elements)) => self.elements.extend(elements),
            _ => {}
        }
        self.types.extend(match keyword {
            "properties"
            | "required"
            | "patternProperties"
            | "additionalProperties"
            | "minProperties"
            | "maxProperties"
            | "propertyNames"
            | "unevaluatedProperties" => Some("object"),
            "items" | "contains" | "prefixItems" | "minItems" | "maxItems" | "uniqueItems"
            | "unevaluatedItems" => Some("array"),
            "minLength" | "maxLength" | "pattern" => Some("string"),
            "minimum" | "maximum" | "exclusiveMinimum" | "exclusiveMaximum" | "multipleOf" => {
                Some("number")
            }
            _ => None,
        });
    }
}

fn object(document: &Value, wishes: &Wishes<'_>, dice: &mut Dice, depth: usize) -> Value {
    let mut members = Map::new();
    for (name, member) in &wishes.members {
        if dice.roll(3) > 0 {
            let value = sample(document, member, dice, depth - 1);
            members.insert((*name).to_owned(), value);
        }
    }
    for name in &wishes.required {
        if !members.contains_key(*name) && dice.roll(4) > 0 {
            let member = wishes.members.iter().find(|(known, _)| known == name);
            let value = match member {
                Some((_, member)) => sample(document, member, dice, depth - 1),
                None => scalar(dice),
            };
            members.insert((*name).to_owned(), value);
        }
    }
    if dice.roll(4) == 0 {
        members.insert(NAMES[dice.roll(3)].to_owned(), scalar(dice));
    }
    Value::Object(members)
}

fn array(document: &Value, wishes: &Wishes<'_>, dice: &mut Dice, depth: usize) -> Value {
    let mut items = Vec::new();
    for element in &wishes.elements {
        if dice.roll(4) > 0 {
            items.push(sample(document, element, dice, depth - 1));
        }
    }
    if dice.roll(3) == 0 {
        items.push(scalar(dice));
    }
    Value::Array(items)
}
