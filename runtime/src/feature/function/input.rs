//! The input schema of a tool, collected parameter by parameter.

use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};
use trueform_schema::JsonObject;

use super::{
    arguments::ArgumentNames,
    injected::RequiredState,
    schema::{as_object, input_generator, with_bounds},
};
use crate::feature::form::{Forms, macro_support::AskedForm};

/// How arguments are checked.
#[derive(Debug)]
pub(crate) enum Enforced {
    /// Decoding the arguments enforces the input schema.
    Decoded,
    /// They are checked against the input schema.
    Advertised,
    /// They are checked against this schema: the input schema, and the bounds of the Rust types.
    Bounded(JsonObject),
}

impl Enforced {
    /// Returns whether arguments are checked.
    pub(crate) fn is_checked(&self) -> bool {
        !matches!(self, Self::Decoded)
    }
}

/// Collects the schemas of the parameters of a tool.
#[derive(Debug)]
pub struct InputSchema {
    generator: SchemaGenerator,
    /// Name and description of the current parameter.
    current: (&'static str, &'static str),
    names: ArgumentNames,
    /// The names of the parameters in the function.
    idents: Vec<&'static str>,
    properties: Map<String, Value>,
    required: Vec<Value>,
    /// Whether decoding enforces the complete schema of each argument.
    plain: bool,
    /// The schema of an `Args` parameter.
    whole: Option<Map<String, Value>>,
    states: Vec<RequiredState>,
    asks: Vec<fn() -> Option<AskedForm>>,
    problems: Vec<String>,
}

/// A finished input schema, and the data about it that calls need.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) schema: Map<String, Value>,
    pub(crate) names: ArgumentNames,
    pub(crate) enforced: Enforced,
    pub(crate) states: Vec<RequiredState>,
    /// What the function asks clients for.
    pub(crate) forms: Forms,
    pub(crate) problems: Vec<String>,
}

impl Default for InputSchema {
    fn default() -> Self {
        Self::new()
    }
}

impl InputSchema {
    pub(crate) fn new() -> Self {
        Self {
            generator: input_generator(),
            current: ("", ""),
            names: ArgumentNames::default(),
            idents: Vec::new(),
            properties: Map::new(),
            required: Vec::new(),
            plain: true,
            whole: None,
            states: Vec::new(),
            asks: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Adds the next parameter, which describes itself.
    pub(crate) fn parameter(
        &mut self,
        name: &'static str,
        description: &'static str,
        describe: fn(&mut Self),
    ) {
        self.current = (name, description);
        self.idents.push(name);
        let before = self.names.parameters.len();
        describe(self);
        if self.names.parameters.len() == before {
            self.names.parameters.push("".into());
        }
    }

    /// Reports a problem unless the schema of the parameter that was just described has a value at one of `pointers`: the attribute
    /// `attribute` sets it there. schemars ignores an attribute that the type of the schema does not support.
    pub(crate) fn constrained(&mut self, attribute: &str, pointers: &[&str]) {
        let name = self.names.parameters.last();
        let Some((name, schema)) =
            name.and_then(|name| Some((name, self.properties.get(&**name)?)))
        else {
            return; // It is not an argument. Another check reports this.
        };
        if pointers.iter().any(|pointer| has_effect(schema, pointer)) {
            return;
        }
        let at = pointers
            .first()
            .and_then(|pointer| pointer.rsplit_once('/'));
        let bounded = schema.pointer(at.map_or("", |(parent, _)| parent));
        let what = match bounded.and_then(|bounded| bounded.get("type")) {
            Some(ty) => format!("`\"type\": {ty}`"),
            None => "no `type` that has such a bound".to_owned(),
        };
        self.problems.push(format!(
            "has the argument `{name}` with the attribute `{attribute}`, which has no effect, because the schema of its type has {what}; \
             set the bound where that type is defined, or take a type that it applies to"
        ));
    }

    /// Returns the argument name of the parameter `ident` of the function. Attributes may rename it.
    pub(crate) fn argument_of(&self, ident: &'static str) -> &str {
        let at = self.idents.iter().position(|name| *name == ident);
        let renamed = at.and_then(|at| self.names.parameters.get(at));
        renamed
            .filter(|name| !name.is_empty())
            .map_or(ident, |name| name)
    }

    /// Records that the function asks clients for `form`.
    pub(crate) fn asks(&mut self, form: fn() -> Option<AskedForm>) {
        self.asks.push(form);
    }

    pub(super) fn generator(&mut self) -> &mut SchemaGenerator {
        &mut self.generator
    }

    pub(super) fn injected(&mut self) -> &mut Vec<RequiredState> {
        &mut self.states
    }

    /// Adds the parameter as an argument. `plain` means that decoding enforces its schema.
    pub(super) fn argument(&mut self, schema: Schema, required: bool, plain: bool) {
        self.plain &= plain;
        self.property(self.current.0, schema.to_value(), required);
    }

    /// Adds the parameter as an argument with attributes: the only property of `schema`.
    pub(super) fn field(&mut self, schema: Schema) {
        self.plain = false;
        let mut object = as_object(schema.to_value());
        let properties = object
            .get_mut("properties")
            .and_then(Value::as_object_mut)
            .map(std::mem::take);
        let Some((name, schema)) = properties.into_iter().flatten().next() else {
            self.problems.push(format!(
                "the schema of parameter `{}` has no property",
                self.current.0
            ));
            return;
        };
        let required = object
            .get("required")
            .and_then(Value::as_array)
            .is_some_and(|names| !names.is_empty());
        self.property(&name, schema, required);
    }

    /// Uses the parameter as all arguments.
    pub(super) fn whole(&mut self, schema: Schema, type_name: &str) {
        self.plain = false;
        if self.whole.is_some() {
            self.problems
                .push("takes two `Args`: each would be all arguments".to_owned());
        }
        let schema = as_object(schema.to_value());
        if !is_object_schema(&schema) {
            self.problems.push(format!(
                "takes `Args<{type_name}>`, whose schema is not that of an object"
            ));
        }
        self.whole = Some(schema);
    }

    fn property(&mut self, name: &str, schema: Value, required: bool) {
        let mut schema = as_object(schema);
        let (_, description) = self.current;
        if !description.trim().is_empty() {
            // The description at the parameter is more specific than the description of its type.
            schema.shift_remove("description");
            schema.insert("description".to_owned(), description.trim().into());
        }
        if required {
            self.required.push(name.into());
        }
        self.names.parameters.push(name.into());
        if self
            .properties
            .insert(name.to_owned(), Value::Object(schema))
            .is_some()
        {
            self.problems
                .push(format!("has two parameters named `{name}`"));
        }
    }

    pub(crate) fn finish(mut self) -> Input {
        let schema = match self.whole.take() {
            Some(_) if !self.properties.is_empty() => {
                let names: Vec<_> = self
                    .properties
                    .keys()
                    .map(|name| format!("`{name}`"))
                    .collect();
                let names = names.join(", ");
                self.problems.push(format!("takes `Args`, which is all arguments, and {names}; move {names} into its struct"));
                Map::new()
            }
            Some(whole) => self.close(whole),
            None => self.of_properties(),
        };
        let (schema, bounded) = with_bounds(Value::Object(schema), &mut self.generator);
        let forms = Forms::of(&self.asks, &mut self.problems);
        Input {
            schema: as_object(schema),
            names: self.names,
            enforced: match self.plain {
                true => Enforced::Decoded,
                false => Enforced::Bounded(as_object(bounded).into()),
            },
            states: self.states,
            forms,
            problems: self.problems,
        }
    }

    fn of_properties(&mut self) -> Map<String, Value> {
        self.names.closed = true;
        let mut schema = Map::new();
        schema.insert("type".to_owned(), "object".into());
        schema.insert(
            "properties".to_owned(),
            Value::Object(std::mem::take(&mut self.properties)),
        );
        if !self.required.is_empty() {
            schema.insert(
                "required".to_owned(),
                Value::Array(std::mem::take(&mut self.required)),
            );
        }
        schema.insert("additionalProperties".to_owned(), json!(false));
        schema
    }

    /// Returns the schema of a struct as an input schema: of type `object`, and closed unless the schema itself decides about other
    /// members.
    fn close(&mut self, mut schema: Map<String, Value>) -> Map<String, Value> {
        schema.shift_remove("description");
        let mut closed = Map::new();
        closed.insert("type".to_owned(), "object".into());
        let combined = ["allOf", "anyOf", "oneOf", "$ref", "if", "patternProperties"]
            .iter()
            .any(|keyword| schema.contains_key(*keyword));
        if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
            for property in properties
                .values_mut()
                .filter(|property| property.is_boolean())
            {
                // Some revisions allow only objects here.
                *property = Value::Object(as_object(property.take()));
            }
            self.names.others = properties.keys().map(|name| name.as_str().into()).collect();
        }
        for (keyword, value) in schema {
            closed.insert(keyword, value);
        }
        if !combined {
            self.names.closed =
                *closed.entry("additionalProperties").or_insert(json!(false)) == json!(false);
        }
        closed
    }
}

/// Whether `schema` has a keyword at `pointer` that applies to its values.
fn has_effect(schema: &Value, pointer: &str) -> bool {
    if schema.pointer(pointer).is_none() {
        return false;
    }
    // schemars writes the others for values of their type only.
    let Some(parent) = pointer.strip_suffix("/format") else {
        return true;
    };
    let types = schema.pointer(parent).and_then(|parent| parent.get("type"));
    types.is_none_or(|types| match types {
        Value::Array(types) => types.iter().any(|ty| ty == "string"),
        ty => ty == "string",
    })
}

fn is_object_schema(schema: &Map<String, Value>) -> bool {
    match schema.get("type") {
        Some(ty) => ty == "object",
        // An enum or a flattened struct is an object if its parts are objects.
        None => ["allOf", "anyOf", "oneOf", "$ref"]
            .iter()
            .any(|keyword| schema.contains_key(*keyword)),
    }
}
