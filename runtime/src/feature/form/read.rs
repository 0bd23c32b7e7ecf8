//! Reads the fields of a form from the schema of a Rust type.

mod options;

use serde_json::{Map, Number, Value};
use trueform_schema::StringSchemaFormat;

use self::options::name_options;
use super::{ANSWER, Field, Kind, Shape, Unsent, answer, wire};
use crate::check::{CompileOptions, Schema};

/// Most references and wrappers on the way to one schema. Derived schemas have two or three.
const MOST_STEPS: usize = 32;

/// What a form has fields for.
const FIELDS: &str =
    "a string, a number, a boolean, an enum of unit variants or a list of such an enum";

/// Keywords that restrict values. Those that a form cannot express are problems; unknown keywords restrict nothing.
const RESTRICTIONS: &[&str] = &[
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "dependentRequired",
    "dependentSchemas",
    "else",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "if",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "prefixItems",
    "properties",
    "propertyNames",
    "required",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "uniqueItems",
];

pub(super) struct Reader<'s> {
    root: &'s Value,
    purpose: Purpose,
}

/// What fields are read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// They are sent to clients.
    Send,
    /// Answers are checked against them.
    Hold,
}

/// A schema without references, and without `null` where that only means that a field may be left out.
struct Plain {
    members: Map<String, Value>,
    nullable: bool,
}

impl<'s> Reader<'s> {
    /// Reads the fields of the type with the schema `root`, and how they make up the type.
    ///
    /// # Errors
    /// Everything that no form can express.
    pub(super) fn read(
        root: &'s Value,
        purpose: Purpose,
    ) -> Result<(Shape, Vec<Field>), Vec<String>> {
        let this = Self { root, purpose };
        let plain = this.plain(root).map_err(|found| vec![found])?;
        match plain.members.get("type").and_then(Value::as_str) {
            Some("object") => this.object(&plain.members),
            Some("null") => Ok((Shape::Unit, Vec::new())),
            _ => {
                let field = this.field_of(ANSWER, &plain, true);
                let field = field.map_err(|problem| {
                    vec![format!(
                        "the type is not a struct, and as the one field of a form {problem}"
                    )]
                })?;
                Ok((Shape::Single, vec![field]))
            }
        }
    }

    fn object(&self, members: &Map<String, Value>) -> Result<(Shape, Vec<Field>), Vec<String>> {
        let mut problems = Vec::new();
        let open = match members.get("additionalProperties") {
            None | Some(Value::Bool(true)) => true,
            Some(Value::Bool(false)) => false,
            Some(_) => {
                problems.push("the type takes members of any name, as maps do; expected a struct with named fields".to_owned());
                true
            }
        };
        let handled = ["properties", "required", "additionalProperties"];
        problems.extend(unsaid(members, &handled).map(|keyword| {
            let why = match keyword {
                "oneOf" | "anyOf" => ", as enums with data and flattened enums have it",
                _ => "",
            };
            format!(
                "the schema of the type has `{keyword}`{why}; expected a struct with named fields"
            )
        }));
        let none = Map::new();
        let properties = members.get("properties").and_then(Value::as_object);
        let properties = properties.unwrap_or(&none);
        let required: Vec<&str> = members
            .get("required")
            .and_then(Value::as_array)
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let unknown = required
            .iter()
            .filter(|name| !properties.contains_key(**name));
        problems.extend(unknown.map(|name| {
            format!("field `{name}` is required and has no schema; expected {FIELDS}")
        }));
        let mut fields = Vec::with_capacity(properties.len());
        for (name, schema) in properties {
            let field = self
                .plain(schema)
                .and_then(|plain| self.field_of(name, &plain, required.contains(&name.as_str())));
            match field {
                Ok(field) => fields.push(field),
                Err(problem) => problems.push(format!("field `{name}` {problem}")),
            }
        }
        match problems.is_empty() {
            true => Ok((Shape::Struct { closed: !open }, fields)),
            false => Err(problems),
        }
    }

    /// Reads the field `name` of the schema `plain`. Problems begin with a verb.
    fn field_of(&self, name: &str, plain: &Plain, required: bool) -> Result<Field, String> {
        let members = &plain.members;
        let text = |keyword| {
            members
                .get(keyword)
                .and_then(Value::as_str)
                .map(str::to_owned)
        };
        let mut field = Field {
            name: name.to_owned(),
            title: text("title"),
            description: text("description"),
            required: required && !plain.nullable,
            kind: self.kind(members)?,
        };
        field.kind.check_range()?;
        let default = members.get("default").filter(|default| !default.is_null());
        if let Some(default) = default {
            checked(&field, default)?;
            field.kind = field.kind.with_default(default);
        }
        if self.purpose == Purpose::Send {
            wire::check_numbers(&field.kind)?;
        }
        Ok(field)
    }

    fn kind(&self, members: &Map<String, Value>) -> Result<Kind, String> {
        let ty = members.get("type").and_then(Value::as_str);
        let says = |keyword| members.contains_key(keyword);
        match ty {
            Some("string") | None if ["enum", "const", "oneOf", "anyOf"].into_iter().any(says) => {
                refuse_unsaid(members, &["enum", "const", "oneOf", "anyOf"])?;
                let mut options = self.options(members)?;
                let legacy = members.get("enumNames");
                if let Some(names) = legacy {
                    name_options(&mut options, names)?;
                }
                Ok(Kind::Choice {
                    options,
                    default: None,
                    legacy: legacy.is_some(),
                })
            }
            Some("string") => self::text(members),
            Some(ty @ ("integer" | "number")) => {
                refuse_unsaid(members, &["minimum", "maximum"])?;
                let number = |keyword| members.get(keyword).and_then(Value::as_number).cloned();
                Ok(Kind::Number {
                    integer: ty == "integer",
                    minimum: number("minimum"),
                    maximum: number("maximum"),
                    default: None,
                })
            }
            Some("boolean") => {
                refuse_unsaid(members, &[])?;
                Ok(Kind::Boolean { default: None })
            }
            Some("array") => self.choices(members),
            Some("object") => Err(format!(
                "is an object; expected {FIELDS}, because a form is flat: make its members fields of the form"
            )),
            Some("null") => Err(format!("can only be null; expected {FIELDS}")),
            _ => Err(format!("has values of several types; expected {FIELDS}")),
        }
    }

    fn choices(&self, members: &Map<String, Value>) -> Result<Kind, String> {
        let only_enums = |problem: &str| {
            format!("is a list {problem}; expected a list of an enum of unit variants")
        };
        let items = members
            .get("items")
            .filter(|_| !members.contains_key("prefixItems"))
            .ok_or_else(|| only_enums("without one type for all items"))?;
        let items = self
            .plain(items)
            .map_err(|found| only_enums(&format!("of which an item {found}")))?;
        if items.nullable {
            return Err(only_enums("whose items may be null"));
        }
        let options = match self.kind(&items.members) {
            Ok(Kind::Choice { options, .. }) => options,
            _ => return Err(only_enums("of other values")),
        };
        refuse_unsaid(members, &["items", "minItems", "maxItems", "uniqueItems"])?;
        Ok(Kind::Choices {
            options,
            min_items: length(members, "minItems")?,
            max_items: length(members, "maxItems")?,
            default: None,
            distinct: members.get("uniqueItems") == Some(&Value::Bool(true)),
        })
    }

    /// Returns `schema` without references and null.
    fn plain(&self, schema: &Value) -> Result<Plain, String> {
        let mut plain = Plain {
            members: object(schema)?,
            nullable: false,
        };
        for _ in 0..MOST_STEPS {
            let inner = if let Some(target) = plain.members.shift_remove("$ref") {
                self.target(&target)?
            } else if let Some(inner) = plain.without_null() {
                inner
            } else {
                return Ok(plain);
            };
            plain.members = merged(object(&inner)?, std::mem::take(&mut plain.members));
        }
        Err(format!("refers to itself without end; expected {FIELDS}"))
    }

    fn target(&self, target: &Value) -> Result<Value, String> {
        let pointer = target.as_str().and_then(|target| target.strip_prefix('#'));
        let found = pointer.and_then(|pointer| self.root.pointer(pointer));
        found.cloned().ok_or_else(|| {
            format!("refers to {target}, which is not in its schema; expected {FIELDS}")
        })
    }
}

impl Plain {
    /// Removes `null` from the allowed values. If the schema is a choice between another schema and null, returns the other schema.
    fn without_null(&mut self) -> Option<Value> {
        if let Some(Value::Array(types)) = self.members.get_mut("type") {
            let before = types.len();
            types.retain(|ty| ty != "null");
            self.nullable |= types.len() < before;
            if let [only] = &mut types[..] {
                let only = only.take();
                self.members.insert("type".to_owned(), only);
            }
        }
        if let Some(Value::Array(values)) = self.members.get_mut("enum") {
            let before = values.len();
            values.retain(|value| !value.is_null());
            self.nullable |= values.len() < before;
        }
        for keyword in ["anyOf", "oneOf"] {
            let Some(Value::Array(branches)) = self.members.get_mut(keyword) else {
                continue;
            };
            let before = branches.len();
            branches.retain(|branch| branch.get("type").is_none_or(|ty| ty != "null"));
            self.nullable |= branches.len() < before;
            if branches.len() < before && branches.len() == 1 {
                let only = branches.pop();
                self.members.shift_remove(keyword);
                return only;
            }
        }
        None
    }
}

fn text(members: &Map<String, Value>) -> Result<Kind, String> {
    refuse_unsaid(members, &["minLength", "maxLength", "pattern"])?;
    let text = |keyword| members.get(keyword).and_then(Value::as_str);
    let mut unsent = Unsent {
        format: None,
        pattern: text("pattern").map(str::to_owned),
    };
    let format = text("format").map(StringSchemaFormat::from);
    let format = match format {
        Some(StringSchemaFormat::Other(other)) => {
            unsent.format = Some(other.into());
            None
        }
        format => format,
    };
    Ok(Kind::Text {
        format,
        min_length: length(members, "minLength")?,
        max_length: length(members, "maxLength")?,
        default: None,
        unsent,
    })
}

fn object(schema: &Value) -> Result<Map<String, Value>, String> {
    match schema {
        Value::Object(members) => Ok(members.clone()),
        Value::Bool(false) => Err(format!("has no value; expected {FIELDS}")),
        _ => Err(format!("may be any value; expected {FIELDS}")),
    }
}

/// Merges `base` with `outer`, the keywords beside the reference to `base`. Of two limits, the tighter one applies.
fn merged(mut base: Map<String, Value>, outer: Map<String, Value>) -> Map<String, Value> {
    for (keyword, value) in outer {
        let known = base.get(&keyword).and_then(Value::as_f64);
        let tighter = |is_lower: bool| match (known, value.as_f64()) {
            (Some(known), Some(value)) => (value < known) != is_lower,
            _ => true,
        };
        let replaces = match &*keyword {
            "minimum" | "minLength" | "minItems" => tighter(true),
            "maximum" | "maxLength" | "maxItems" => tighter(false),
            _ => true,
        };
        if replaces {
            base.insert(keyword, value);
        }
    }
    base
}

/// Returns the keywords that restrict values, without those in `said`.
fn unsaid<'m>(members: &'m Map<String, Value>, said: &[&str]) -> impl Iterator<Item = &'m str> {
    let keywords = members.keys().map(String::as_str);
    keywords.filter(|keyword| RESTRICTIONS.contains(keyword) && !said.contains(keyword))
}

fn refuse_unsaid(members: &Map<String, Value>, said: &[&str]) -> Result<(), String> {
    let Some(keyword) = unsaid(members, said).next() else {
        return Ok(());
    };
    let cure = match keyword {
        "exclusiveMinimum" => "; expected `minimum`, which includes the bound",
        "exclusiveMaximum" => "; expected `maximum`, which includes the bound",
        _ => "",
    };
    Err(format!(
        "is restricted by `{keyword}`, which forms cannot say{cure}"
    ))
}

fn length(members: &Map<String, Value>, keyword: &str) -> Result<Option<i64>, String> {
    let Some(length) = members.get(keyword) else {
        return Ok(None);
    };
    let valid = length.as_i64().filter(|length| 0 <= *length);
    valid.map(Some).ok_or_else(|| {
        format!(
            "has `{keyword}` {length}; expected an integer from 0 to {}",
            i64::MAX
        )
    })
}

/// Returns whether `one` is less than `other`. Integers are compared as integers, other numbers as floats.
fn is_below(one: &Number, other: &Number) -> bool {
    match (integer(one), integer(other)) {
        (Some(one), Some(other)) => one < other,
        _ => one.as_f64() < other.as_f64(),
    }
}

fn integer(number: &Number) -> Option<i128> {
    let unsigned = || number.as_u64().map(i128::from);
    number.as_i64().map(i128::from).or_else(unsigned)
}

/// Refuses a default that the field itself does not allow.
fn checked(field: &Field, default: &Value) -> Result<(), String> {
    let schema = answer::field_schema(&field.kind);
    let schema =
        Schema::compile(&schema, CompileOptions::default()).map_err(|errors| {
            match errors.first() {
                Some(error) => format!("has a schema that cannot be checked: {error}"),
                None => "has a schema that cannot be checked".to_owned(),
            }
        })?;
    schema.check(default).map_err(|violations| {
        let expected = violations
            .iter()
            .next()
            .map_or("another value", |first| &first.expected);
        format!("has the default {default}, which it does not allow; expected {expected}")
    })
}

impl Kind {
    /// Refuses a lower limit above the upper one: no answer could fit. Problems begin with a verb.
    fn check_range(&self) -> Result<(), String> {
        let contradiction = match self {
            Self::Text {
                min_length: Some(min),
                max_length: Some(max),
                ..
            } if max < min => Some(("minLength", min.to_string(), "maxLength", max.to_string())),
            Self::Choices {
                min_items: Some(min),
                max_items: Some(max),
                ..
            } if max < min => Some(("minItems", min.to_string(), "maxItems", max.to_string())),
            Self::Choices {
                options,
                min_items: Some(min),
                distinct: true,
                ..
            } if usize::try_from(*min).is_ok_and(|min| options.len() < min) => {
                let options = format!("{} different options", options.len());
                return Err(format!(
                    "has `minItems` {min} and {options}, so that no answer fits"
                ));
            }
            Self::Number {
                minimum: Some(min),
                maximum: Some(max),
                ..
            } if is_below(max, min) => {
                Some(("minimum", min.to_string(), "maximum", max.to_string()))
            }
            _ => None,
        };
        match contradiction {
            None => Ok(()),
            Some((lower, min, upper, max)) => Err(format!(
                "has `{lower}` {min}, which is above its `{upper}` {max}, so that no answer fits; expected a `{lower}` up to {max}"
            )),
        }
    }

    /// Returns the kind with `value`, which it allows, as default.
    fn with_default(mut self, value: &Value) -> Self {
        let text = |value: &Value| value.as_str().map(str::to_owned);
        match &mut self {
            Self::Text { default, .. } | Self::Choice { default, .. } => *default = text(value),
            Self::Number { default, .. } => *default = value.as_number().cloned(),
            Self::Boolean { default } => *default = value.as_bool(),
            Self::Choices { default, .. } => {
                *default = value
                    .as_array()
                    .map(|values| values.iter().filter_map(text).collect());
            }
        }
        self
    }
}
