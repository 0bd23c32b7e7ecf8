//! Pass 2: one normal-form document as parsed definitions.
//!
//! Flattens `allOf`, folds unions of constants into enumerations, and refuses every keyword it does not know, so that a
//! schema that starts to use one is noticed. Descriptions are not read. Inline objects stay inline: the merge names them
//! by position.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::problem::{Problem, child};

/// The definitions of one file, by name.
pub type Definitions = BTreeMap<String, Schema>;

/// The values that a schema allows.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Schema {
    /// Anything.
    Any,
    /// Nothing.
    Never,
    /// The values that another definition of the file allows.
    Ref(String),
    /// `null`.
    Null,
    /// A boolean.
    Bool,
    /// An integer.
    Integer(Bounds),
    /// A number.
    Number(Bounds),
    /// A string.
    String(Text),
    /// An array.
    Array(Box<Array>),
    /// An object.
    Object(Box<Object>),
    /// One of several.
    Union(Vec<Schema>),
}

/// Bounds of a number, as JSON numbers.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Bounds {
    /// Smallest value.
    pub minimum: Option<serde_json::Number>,
    /// Largest value.
    pub maximum: Option<serde_json::Number>,
}

/// Constraints on a string.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Text {
    /// `format`.
    pub format: Option<String>,
    /// The values of `enum` or `const`.
    pub values: Option<Vec<String>>,
}

/// Constraints on an array.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Array {
    /// Every item.
    pub items: Schema,
    /// `minItems`.
    pub min_items: Option<u64>,
    /// `maxItems`.
    pub max_items: Option<u64>,
}

/// Constraints on an object.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Object {
    /// Known members.
    pub properties: BTreeMap<String, Schema>,
    /// Members that must be present.
    pub required: BTreeSet<String>,
    /// Schema of the other members.
    pub additional: Schema,
}

impl Object {
    /// Whether the members are unconstrained.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.properties.is_empty() && self.additional == Schema::Any
    }
}

impl Schema {
    /// The value of a string constant.
    #[must_use]
    pub fn constant(&self) -> Option<&str> {
        match self {
            Self::String(Text {
                values: Some(values),
                ..
            }) if values.len() == 1 => Some(&values[0]),
            _ => None,
        }
    }
}

/// The definitions of a normal-form document.
///
/// # Errors
/// The document has no `$defs`, or a schema uses a keyword that the generator does not know.
pub fn definitions(document: &Value) -> Result<Definitions, Problem> {
    let Some(raw) = document.get("$defs").and_then(Value::as_object) else {
        return Err(Problem::at(
            "",
            "no `$defs` object: not the normal form that `import` writes",
        ));
    };
    let reader = Reader { raw };
    raw.iter()
        .map(|(name, value)| Ok((name.clone(), reader.read(value, &child("/$defs", name))?)))
        .collect()
}

const ANNOTATIONS: &[&str] = &[
    "$comment",
    "$id",
    "$schema",
    "default",
    "deprecated",
    "description",
    "examples",
    "propertyNames",
    "title",
];

struct Reader<'a> {
    raw: &'a Map<String, Value>,
}

impl Reader<'_> {
    fn read(&self, value: &Value, at: &str) -> Result<Schema, Problem> {
        let map = match value {
            Value::Bool(true) => return Ok(Schema::Any),
            Value::Bool(false) => return Ok(Schema::Never),
            Value::Object(map) => map,
            _ => return Err(Problem::at(at, "a schema must be an object or a boolean")),
        };
        let keywords: BTreeSet<&str> = map
            .keys()
            .map(String::as_str)
            .filter(|keyword| !ANNOTATIONS.contains(keyword))
            .collect();
        let allow = |allowed: &[&str]| match keywords.iter().find(|k| !allowed.contains(*k)) {
            Some(keyword) => Err(Problem::at(
                child(at, keyword),
                format!("keyword `{keyword}` is not supported here"),
            )),
            None => Ok(()),
        };
        if keywords.is_empty() {
            return Ok(Schema::Any);
        }
        if let Some(target) = map.get("$ref") {
            allow(&["$ref"])?;
            return self.reference(target, at);
        }
        if let Some(not) = map.get("not") {
            allow(&["not"])?;
            return match self.read(not, &child(at, "not"))? {
                Schema::Any => Ok(Schema::Never),
                _ => Err(Problem::at(child(at, "not"), "only `not: {}` is supported")),
            };
        }
        if let Some(parts) = map.get("allOf") {
            allow(&["allOf"])?;
            let at = child(at, "allOf");
            let mut all = Schema::Any;
            for (i, part) in array(parts, &at)?.iter().enumerate() {
                let at = child(&at, i);
                let part = self.read(part, &at)?;
                all = self.intersect(all, part, &at)?;
            }
            return Ok(all);
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(members) = map.get(keyword) {
                allow(&[keyword])?;
                let at = child(at, keyword);
                let members = array(members, &at)?
                    .iter()
                    .enumerate()
                    .map(|(i, member)| self.read(member, &child(&at, i)))
                    .collect::<Result<_, _>>()?;
                return Ok(union(members));
            }
        }
        let types: Vec<&str> = match map.get("type") {
            Some(Value::String(one)) => vec![one],
            Some(Value::Array(several)) => several.iter().filter_map(Value::as_str).collect(),
            None if map.contains_key("properties") => vec!["object"],
            None if map.contains_key("const") || map.contains_key("enum") => vec!["string"],
            _ => return Err(Problem::at(at, "a schema needs `type`, `$ref` or a union")),
        };
        if types.len() != 1 {
            allow(&["type"])?;
        }
        let mut members = Vec::new();
        for ty in types {
            members.push(match ty {
                "null" => {
                    allow(&["type"])?;
                    Schema::Null
                }
                "boolean" => {
                    allow(&["type"])?;
                    Schema::Bool
                }
                "integer" => {
                    allow(&["type", "minimum", "maximum", "const"])?;
                    Schema::Integer(bounds(map))
                }
                "number" => {
                    allow(&["type", "minimum", "maximum"])?;
                    Schema::Number(bounds(map))
                }
                "string" => {
                    allow(&[
                        "type",
                        "format",
                        "const",
                        "enum",
                        "minLength",
                        "maxLength",
                        "pattern",
                    ])?;
                    Schema::String(text(map, at)?)
                }
                "array" => {
                    allow(&["type", "items", "minItems", "maxItems"])?;
                    let items = match map.get("items") {
                        Some(items) => self.read(items, &child(at, "items"))?,
                        None => Schema::Any,
                    };
                    Schema::Array(Box::new(Array {
                        items,
                        min_items: map.get("minItems").and_then(Value::as_u64),
                        max_items: map.get("maxItems").and_then(Value::as_u64),
                    }))
                }
                "object" => {
                    allow(&["type", "properties", "required", "additionalProperties"])?;
                    Schema::Object(Box::new(self.object(map, at)?))
                }
                other => {
                    return Err(Problem::at(
                        child(at, "type"),
                        format!("unknown type `{other}`"),
                    ));
                }
            });
        }
        Ok(union(members))
    }

    fn reference(&self, target: &Value, at: &str) -> Result<Schema, Problem> {
        let at = child(at, "$ref");
        let name = target
            .as_str()
            .and_then(|target| target.strip_prefix("#/$defs/"))
            .ok_or_else(|| Problem::at(&*at, "only references to `#/$defs/NAME` are supported"))?;
        if !self.raw.contains_key(name) {
            return Err(Problem::at(at, format!("there is no definition `{name}`")));
        }
        Ok(Schema::Ref(name.to_owned()))
    }

    fn object(&self, map: &Map<String, Value>, at: &str) -> Result<Object, Problem> {
        let mut properties = BTreeMap::new();
        if let Some(raw) = map.get("properties") {
            let at = child(at, "properties");
            let raw = raw
                .as_object()
                .ok_or_else(|| Problem::at(&*at, "`properties` must be an object"))?;
            for (name, value) in raw {
                properties.insert(name.clone(), self.read(value, &child(&at, name))?);
            }
        }
        let required = match map.get("required") {
            Some(names) => array(names, &child(at, "required"))?
                .iter()
                .filter_map(|name| name.as_str().map(str::to_owned))
                .collect(),
            None => BTreeSet::new(),
        };
        let additional = match map.get("additionalProperties") {
            Some(schema) => self.read(schema, &child(at, "additionalProperties"))?,
            None => Schema::Any,
        };
        if !properties.is_empty() && !matches!(additional, Schema::Any | Schema::Never) {
            let message = "typed `additionalProperties` beside `properties` is not supported";
            return Err(Problem::at(child(at, "additionalProperties"), message));
        }
        Ok(Object {
            properties,
            required,
            additional,
        })
    }

    /// The intersection of both, with references resolved.
    fn intersect(&self, a: Schema, b: Schema, at: &str) -> Result<Schema, Problem> {
        Ok(match (self.open(a)?, self.open(b)?) {
            (Schema::Any, other) | (other, Schema::Any) => other,
            (Schema::Union(members), other) | (other, Schema::Union(members)) => Schema::Union(
                members
                    .into_iter()
                    .map(|member| self.intersect(member, other.clone(), at))
                    .collect::<Result<_, _>>()?,
            ),
            (Schema::Object(mut a), Schema::Object(b)) => {
                for (name, schema) in b.properties {
                    let both = match a.properties.remove(&name) {
                        Some(first) => self.intersect_member(first, schema, at)?,
                        None => schema,
                    };
                    a.properties.insert(name, both);
                }
                a.required.extend(b.required);
                if a.additional == Schema::Any {
                    a.additional = b.additional;
                }
                Schema::Object(a)
            }
            (a, b) => narrower(a, b)
                .ok_or_else(|| Problem::at(at, "these parts of `allOf` cannot be combined"))?,
        })
    }

    /// Like `intersect`, keeping the reference where one side is a free object.
    fn intersect_member(&self, a: Schema, b: Schema, at: &str) -> Result<Schema, Problem> {
        match (&a, &b) {
            (Schema::Object(free), _) if free.is_free() => Ok(b),
            (_, Schema::Object(free)) if free.is_free() => Ok(a),
            _ if a == b => Ok(a),
            _ => self.intersect(a, b, at),
        }
    }

    fn open(&self, schema: Schema) -> Result<Schema, Problem> {
        match schema {
            Schema::Ref(name) => {
                let inner = self.read(&self.raw[&name], &child("/$defs", &name))?;
                self.open(inner)
            }
            other => Ok(other),
        }
    }
}

fn narrower(a: Schema, b: Schema) -> Option<Schema> {
    match (a, b) {
        (Schema::String(a), Schema::String(b)) => Some(Schema::String(Text {
            format: a.format.or(b.format),
            values: match (a.values, b.values) {
                (Some(a), Some(b)) => {
                    Some(a.into_iter().filter(|value| b.contains(value)).collect())
                }
                (a, b) => a.or(b),
            },
        })),
        (Schema::Integer(a), Schema::Integer(b)) => Some(Schema::Integer(Bounds {
            minimum: a.minimum.or(b.minimum),
            maximum: a.maximum.or(b.maximum),
        })),
        (a, b) if a == b => Some(a),
        _ => None,
    }
}

/// A union with nested unions flattened and constants folded into one enumeration.
fn union(members: Vec<Schema>) -> Schema {
    let mut flat: Vec<Schema> = Vec::new();
    for member in members {
        match member {
            Schema::Union(inner) => flat.extend(inner),
            other => flat.push(other),
        }
    }
    if let [_] = &*flat {
        return flat.remove(0);
    }
    let constants: Vec<String> = flat
        .iter()
        .filter_map(|member| member.constant().map(str::to_owned))
        .collect();
    if constants.len() == flat.len() {
        return Schema::String(Text {
            format: None,
            values: Some(constants),
        });
    }
    Schema::Union(flat)
}

fn bounds(map: &Map<String, Value>) -> Bounds {
    let number = |keyword: &str| match map.get(keyword) {
        Some(Value::Number(number)) => Some(number.clone()),
        _ => None,
    };
    Bounds {
        minimum: number("minimum"),
        maximum: number("maximum"),
    }
}

fn text(map: &Map<String, Value>, at: &str) -> Result<Text, Problem> {
    let one = |value: &Value, keyword: &str| {
        value.as_str().map(str::to_owned).ok_or_else(|| {
            Problem::at(
                child(at, keyword),
                format!("`{keyword}` of a string must be strings"),
            )
        })
    };
    let values = match (map.get("const"), map.get("enum")) {
        (Some(value), _) => Some(vec![one(value, "const")?]),
        (None, Some(values)) => Some(
            array(values, &child(at, "enum"))?
                .iter()
                .map(|value| one(value, "enum"))
                .collect::<Result<_, _>>()?,
        ),
        (None, None) => None,
    };
    let format = map.get("format").and_then(Value::as_str).map(str::to_owned);
    Ok(Text { format, values })
}

fn array<'a>(value: &'a Value, at: &str) -> Result<&'a Vec<Value>, Problem> {
    value
        .as_array()
        .ok_or_else(|| Problem::at(at, "must be an array"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[expect(clippy::needless_pass_by_value, reason = "built anew for each case")]
    fn one(schema: Value) -> Result<Schema, Problem> {
        let document = json!({"$defs": {
            "X": schema,
            "Base": {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]},
        }});
        definitions(&document).map(|mut all| all.remove("X").unwrap())
    }

    #[test]
    fn all_of_is_flattened_and_narrowed() {
        let schema = one(json!({"allOf": [
            {"$ref": "#/$defs/Base"},
            {"type": "object", "properties": {"kind": {"const": "a", "type": "string"}}},
        ]}))
        .unwrap();
        let Schema::Object(object) = schema else {
            panic!("{schema:?}")
        };
        assert_eq!(object.properties["kind"].constant(), Some("a"));
        assert!(object.required.contains("kind"));
    }

    #[test]
    fn all_of_a_union_is_a_union() {
        let schema = one(json!({"allOf": [
            {"$ref": "#/$defs/Base"},
            {"anyOf": [
                {"type": "object", "properties": {"a": {"type": "string"}}},
                {"type": "object", "properties": {"b": {"type": "string"}}},
            ]},
        ]}))
        .unwrap();
        let Schema::Union(members) = schema else {
            panic!("{schema:?}")
        };
        assert!(members.iter().all(|member| matches!(
            member,
            Schema::Object(object) if object.properties.contains_key("kind")
        )));
    }

    #[test]
    fn a_member_named_const_is_no_constant() {
        let schema =
            one(json!({"type": "object", "properties": {"const": {"type": "string"}}})).unwrap();
        assert!(matches!(schema, Schema::Object(_)));
    }

    #[test]
    fn unknown_keywords_are_refused_with_their_place() {
        let problem = one(json!({"type": "string", "if": {}})).unwrap_err();
        assert_eq!(problem.pointer, "/$defs/X/if");
        let problem = one(json!({"$ref": "#/$defs/Nope"})).unwrap_err();
        assert!(problem.to_string().contains("`Nope`"), "{problem}");
    }
}
