//! Pass 2: parses one normal-form document into definitions.
//!
//! Flattens `allOf`, folds unions of constants into enumerations, and refuses every keyword that it does not know, so that a new keyword in
//! a schema is noticed. Descriptions are not read. Inline objects stay inline: the merge names them by position.

mod combine;
mod limits;
mod read;

use std::{
    cell::{Cell, RefCell},
    collections::{BTreeMap, BTreeSet},
};

use serde_json::Value;

pub(crate) use self::read::MAY_BE_UNCHECKED;
use self::read::Reader;
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
    /// The values of `enum` or `const`, without those that the limits refuse.
    pub values: Option<Vec<String>>,
    /// `minLength`, in Unicode scalar values.
    pub min_length: Option<u64>,
    /// `maxLength`, in Unicode scalar values.
    pub max_length: Option<u64>,
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

/// Constraints on an object; no constraints by default.
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

impl Default for Object {
    fn default() -> Self {
        Self {
            properties: BTreeMap::new(),
            required: BTreeSet::new(),
            additional: Schema::Any,
        }
    }
}

impl Object {
    /// Returns whether the members are unconstrained.
    #[must_use]
    pub fn is_free(&self) -> bool {
        self.properties.is_empty() && self.additional == Schema::Any
    }
}

impl Schema {
    /// Returns the value of a string constant.
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

/// Most schemas that the definitions of one file may expand to, counted with every copy that `allOf` makes of what it refers to.
pub const MOST_SCHEMAS: usize = 5_000;

/// Most bytes of names and strings in the definitions of one file, such as names of members and the values of `enum`, with 32 more
/// for each of them, counted with every copy that `allOf` makes: 1 MiB.
pub const MOST_TEXT: usize = 1 << 20;

/// Most definitions and schemas that may lie inside each other, with those that `allOf` refers to.
pub const DEEPEST: usize = 64;

/// Returns the definitions of a normal-form document.
///
/// # Errors
/// The document has no `$defs`, or a schema uses a keyword that the generator does not know, allows no value, refers to itself with nothing
/// in between, or is larger than [`MOST_SCHEMAS`] and [`MOST_TEXT`] or deeper than [`DEEPEST`].
pub fn definitions(document: &Value) -> Result<Definitions, Problem> {
    definitions_without(document, &[])
}

/// Like [`definitions`], but reads the keywords `unchecked` as annotations.
///
/// # Errors
/// As for [`definitions`].
pub fn definitions_without(document: &Value, unchecked: &[String]) -> Result<Definitions, Problem> {
    let Some(raw) = document.get("$defs").and_then(Value::as_object) else {
        return Err(Problem::at(
            "",
            "no `$defs` object: not the normal form that `import` writes",
        ));
    };
    let reader = Reader {
        raw,
        unchecked,
        left: Cell::new(MOST_SCHEMAS),
        text_left: Cell::new(MOST_TEXT),
        depth: Cell::new(0),
        opened: RefCell::default(),
    };
    let definitions: Definitions = raw
        .iter()
        .map(|(name, value)| Ok((name.clone(), reader.read(value, &child("/$defs", name))?)))
        .collect::<Result<_, Problem>>()?;
    grounded(&definitions)?;
    Ok(definitions)
}

/// Checks that no definition is defined only by itself, through references and unions: such a schema does not restrict values.
fn grounded(definitions: &Definitions) -> Result<(), Problem> {
    fn targets<'a>(schema: &'a Schema, out: &mut Vec<&'a str>) {
        match schema {
            Schema::Ref(name) => out.push(name),
            Schema::Union(members) => members.iter().for_each(|member| targets(member, out)),
            _ => {}
        }
    }
    let mut done: BTreeSet<&str> = BTreeSet::new();
    for start in definitions.keys() {
        // The definitions on the path to here, each with those that are still to be checked.
        let mut path: Vec<(&str, Vec<&str>)> = Vec::new();
        let mut next = Some(start.as_str());
        loop {
            if let Some(name) = next.take() {
                if let Some(first) = path.iter().position(|(before, _)| *before == name) {
                    let names: Vec<String> = path[first..]
                        .iter()
                        .map(|(name, _)| format!("`{name}`"))
                        .collect();
                    let message = format!(
                        "refers to itself with nothing in between ({} → `{name}`), so it describes no value",
                        names.join(" → ")
                    );
                    return Err(Problem::at(child("/$defs", name), message));
                }
                if !done.contains(name) {
                    let mut open = Vec::new();
                    if let Some(schema) = definitions.get(name) {
                        targets(schema, &mut open);
                    }
                    path.push((name, open));
                }
            }
            let Some((name, open)) = path.last_mut() else {
                break;
            };
            match open.pop() {
                Some(target) => next = Some(target),
                None => {
                    done.insert(name);
                    path.pop();
                }
            }
        }
    }
    Ok(())
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
