//! Converts the errors of `jsonschema` to violations with the wording of `walk`.
//!
//! `jsonschema` determines the verdict and the place. The wording comes from the outline if it has the place, so that both
//! engines report alike, and from the error itself otherwise. Values appear only in a `Found`.

use std::collections::VecDeque;

use jsonschema::{
    JsonType, ValidationError,
    error::{TypeKind, ValidationErrorKind as Kind},
};
use serde_json::Value;

use super::{
    super::{
        describe::{describe, names as quoted, or_list},
        equal::first_repeat,
        format::Format,
        node::{ArrayRules, NodeId, ObjectRules, Rules, TypeSet},
        path::{Path, cut, push_escaped},
        suggest::closest,
        violation::{Found, MAX_VIOLATIONS, Violation, Violations, counted},
        walk::{
            leaf::{format_violation, literal_violation},
            members::unknown_member,
        },
    },
    Full, branches,
};

/// Returns all violations of `value`, which is invalid.
pub(super) fn violations(full: &Full, value: &Value) -> Violations {
    let mut all = Vec::new();
    let mut more = 0;
    for error in full.validator.iter_errors(value) {
        if MAX_VIOLATIONS <= all.len() {
            more += 1;
        } else {
            report(full, value, &error, &mut all);
        }
    }
    let mut kept = plain(all);
    if MAX_VIOLATIONS < kept.len() {
        more += kept.len() - MAX_VIOLATIONS;
        kept.truncate(MAX_VIOLATIONS);
    }
    if kept.is_empty() {
        // Not known to happen: an invalid value without an error.
        kept.push(at_root(value));
    }
    Violations::new(kept, more)
}

/// Removes repeats. A wrong literal of a wrong type counts once, not twice.
pub(super) fn plain(all: Vec<Violation>) -> Vec<Violation> {
    let mut kept: Vec<Violation> = Vec::with_capacity(all.len());
    for violation in all {
        if !kept.contains(&violation) {
            kept.push(violation);
        }
    }
    let literals: Vec<String> = kept
        .iter()
        .filter(|violation| is_literal(violation))
        .map(|violation| violation.pointer.clone())
        .collect();
    kept.retain(|violation| violation.keyword != "type" || !literals.contains(&violation.pointer));
    // A subschema that fails evaluates nothing, so its properties are reported as unevaluated too; that adds no information.
    let out_of_place = |violation: &Violation| violation.expected == OUT_OF_PLACE;
    if !kept.iter().all(out_of_place) {
        kept.retain(|violation| !out_of_place(violation));
    }
    kept
}

/// Expectation for a property that the schema describes in some branch, but not beside the other properties.
const OUT_OF_PLACE: &str = "no such property beside the others";

pub(super) fn is_literal(violation: &Violation) -> bool {
    matches!(violation.keyword, "const" | "enum")
}

fn at_root(value: &Value) -> Violation {
    Violation {
        pointer: String::new(),
        keyword: "false",
        expected: "a value that its schema allows".to_owned(),
        found: Found::value(value),
        suggestion: None,
    }
}

/// One error and its place.
pub(super) struct Located<'a> {
    pub(super) full: &'a Full,
    /// The value that is checked.
    pub(super) root: &'a Value,
    error: &'a ValidationError<'a>,
    /// Pointer of the offending value.
    pub(super) at: &'a str,
    pub(super) value: &'a Value,
}

/// Adds the violations of `error`, which concerns a part of `root`.
pub(super) fn report(
    full: &Full,
    root: &Value,
    error: &ValidationError<'_>,
    out: &mut Vec<Violation>,
) {
    let located = Located {
        full,
        root,
        error,
        at: error.instance_path().as_str(),
        value: error.instance(),
    };
    match error.kind() {
        Kind::AnyOf { context } => branches::explain(&located, "anyOf", context, out),
        Kind::OneOfNotValid { context } => branches::explain(&located, "oneOf", context, out),
        Kind::AdditionalProperties { unexpected } => {
            out.extend(unexpected.iter().map(|name| located.additional(name)));
        }
        Kind::UnevaluatedProperties { unexpected } => {
            let known = located.known_names();
            out.extend(
                unexpected
                    .iter()
                    .map(|name| located.unevaluated(name, &known)),
            );
        }
        // `jsonschema` reports it at the object, without naming the member.
        Kind::FalseSchema if located.keyword() == "additionalProperties" => {
            let members = root.pointer(located.at).and_then(Value::as_object);
            let known = located.known_names();
            let unknown = members
                .into_iter()
                .flatten()
                .filter(|(name, _)| !known.contains(&&***name));
            out.extend(unknown.map(|(name, _)| located.additional(name)));
        }
        _ => out.push(located.simple()),
    }
}

impl Located<'_> {
    fn simple(&self) -> Violation {
        match self.error.kind() {
            Kind::Type { kind } => self.value("type", self.type_words(kind)),
            Kind::Constant { expected_value } => self.literal("const", &[&**expected_value]),
            Kind::Enum { options } => match options.as_array() {
                Some(options) => self.literal("enum", &options.iter().collect::<Vec<_>>()),
                None => self.other("enum"),
            },
            Kind::Minimum { limit } => self.value("minimum", format!("at least {limit}")),
            Kind::Maximum { limit } => self.value("maximum", format!("at most {limit}")),
            Kind::ExclusiveMinimum { limit } => {
                self.value("exclusiveMinimum", format!("more than {limit}"))
            }
            Kind::ExclusiveMaximum { limit } => {
                self.value("exclusiveMaximum", format!("less than {limit}"))
            }
            Kind::MultipleOf { multiple_of } => {
                self.value("multipleOf", format!("a multiple of {multiple_of}"))
            }
            Kind::MinLength { limit } => self.size("minLength", "at least", *limit, "character"),
            Kind::MaxLength { limit } => self.size("maxLength", "at most", *limit, "character"),
            Kind::MinItems { limit } => self.size("minItems", "at least", *limit, "item"),
            Kind::MaxItems { limit } => self.size("maxItems", "at most", *limit, "item"),
            Kind::MinProperties { limit } => self.properties("minProperties", "at least", *limit),
            Kind::MaxProperties { limit } => self.properties("maxProperties", "at most", *limit),
            Kind::Pattern { pattern } => {
                self.value("pattern", format!("string matching `{pattern}`"))
            }
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => self.sized(
                "limit",
                "a string whose pattern can be matched within the limit of work".to_owned(),
            ),
            Kind::Format { format } => match (Format::named(format), self.value.as_str()) {
                (Some(format), Some(text)) => Violation {
                    pointer: cut(self.at.to_owned()),
                    ..format_violation(format, text, self.value, &Path::Root)
                },
                _ => self.value("format", "another format".to_owned()),
            },
            Kind::Required { property } => self.missing(property.as_str().unwrap_or_default()),
            Kind::PropertyNames { error } => self.bad_name(error),
            Kind::AdditionalItems { limit } => {
                let limit = u64::try_from(*limit).unwrap_or(u64::MAX);
                self.size("items", "at most", limit, "item")
            }
            Kind::UnevaluatedItems { .. } => self.sized(
                "unevaluatedItems",
                "only items that its schema describes".to_owned(),
            ),
            Kind::UniqueItems => self.repeat(),
            Kind::Contains => self.contains(),
            Kind::FalseSchema => self.forbidden(),
            Kind::Not { .. } => {
                let apply = self.rules().and_then(|rules| rules.apply.as_ref());
                let id = apply.and_then(|apply| apply.not);
                let words = id.map_or_else(
                    || "a value that `not` does not describe".to_owned(),
                    |id| format!("anything but {}", self.describe(id)),
                );
                self.value("not", words)
            }
            Kind::OneOfMultipleValid { context } => {
                let count = context.len();
                let mut matching = (1..).zip(context).filter(|(_, errors)| errors.is_empty());
                let both = match (matching.next(), matching.next()) {
                    (Some((first, _)), Some((second, _))) => {
                        format!(" ({first} and {second} both do)")
                    }
                    _ => String::new(),
                };
                let words = format!("a value that only one of {count} alternatives accepts{both}");
                self.value("oneOf", words)
            }
            // Switched off, or reported above.
            Kind::ContentEncoding { .. } | Kind::FromUtf8 { .. } => self.other("contentEncoding"),
            Kind::ContentMediaType { .. } => self.other("contentMediaType"),
            Kind::Custom { .. } => self.other("false"),
            Kind::Referencing(_) => self.other("$ref"),
            Kind::AnyOf { .. } => self.other("anyOf"),
            Kind::OneOfNotValid { .. } => self.other("oneOf"),
            Kind::AdditionalProperties { .. } => self.other("additionalProperties"),
            Kind::UnevaluatedProperties { .. } => self.other("unevaluatedProperties"),
        }
    }

    fn violation(&self, keyword: &'static str, expected: String, found: Found) -> Violation {
        Violation {
            pointer: cut(self.at.to_owned()),
            keyword,
            expected,
            found,
            suggestion: None,
        }
    }

    pub(super) fn value(&self, keyword: &'static str, expected: String) -> Violation {
        self.violation(keyword, expected, Found::value(self.value))
    }

    fn sized(&self, keyword: &'static str, expected: String) -> Violation {
        self.violation(keyword, expected, Found::size(self.value))
    }

    fn other(&self, keyword: &'static str) -> Violation {
        self.value(keyword, "a value that its schema allows".to_owned())
    }

    fn size(&self, keyword: &'static str, bound: &str, limit: u64, noun: &str) -> Violation {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        self.sized(keyword, format!("{bound} {}", counted(limit, noun)))
    }

    fn properties(&self, keyword: &'static str, bound: &str, limit: u64) -> Violation {
        let noun = if limit == 1 { "property" } else { "properties" };
        self.sized(keyword, format!("{bound} {limit} {noun}"))
    }

    fn literal(&self, keyword: &'static str, allowed: &[&Value]) -> Violation {
        let allowed = allowed.iter().copied();
        Violation {
            pointer: cut(self.at.to_owned()),
            ..literal_violation(keyword, allowed, self.value, &Path::Root)
        }
    }

    fn type_words(&self, kind: &TypeKind) -> String {
        let named = |ty: JsonType| TypeSet::named(&ty.to_string()).unwrap_or(TypeSet::NONE);
        let types = match kind {
            TypeKind::Single(ty) => named(*ty),
            TypeKind::Multiple(set) => set
                .iter()
                .fold(TypeSet::NONE, |types, ty| types.union(named(ty))),
        };
        let string = self.rules().and_then(|rules| rules.string.as_ref());
        let format = string.and_then(|string| string.format);
        match format.filter(|_| types == TypeSet::STRING) {
            Some(format) => format.words().to_owned(),
            None => types.words(),
        }
    }

    fn missing(&self, name: &str) -> Violation {
        let (keyword, words) = match self.keyword() {
            "required" => {
                let member = self.object().and_then(|object| object.member(name));
                let schema = member.and_then(|member| member.schema);
                let words =
                    schema.map_or_else(|| "a value".to_owned(), |schema| self.describe(schema));
                ("required", words)
            }
            _ => ("dependentRequired", self.dependent_words(name)),
        };
        self.at_member(name, keyword, words, Found::NOTHING)
    }

    fn dependent_words(&self, missing: &str) -> String {
        let dependent = self.object().map_or(&[][..], |object| &*object.dependent);
        let present = dependent.iter().find(|(name, wanted)| {
            self.value.get(&**name).is_some() && wanted.iter().any(|name| **name == *missing)
        });
        match present {
            Some((name, _)) => format!("a value, since `{name}` is present"),
            None => "a value, since another property is present".to_owned(),
        }
    }

    /// Returns a violation of the schema `false`: no value, or no further item.
    fn forbidden(&self) -> Violation {
        let prefix = self.array().map_or(0, |array| array.prefix.len());
        match self.at.rsplit_once('/') {
            Some((array, _)) if 0 < prefix && self.keyword() == "items" => Violation {
                pointer: cut(array.to_owned()),
                keyword: "items",
                expected: format!("at most {}", counted(prefix, "item")),
                found: Found::size(self.root.pointer(array).unwrap_or(self.value)),
                suggestion: None,
            },
            _ => self.value("false", "no value".to_owned()),
        }
    }

    fn additional(&self, name: &str) -> Violation {
        let members = self.root.pointer(self.at).and_then(Value::as_object);
        match (self.object(), members) {
            (Some(rules), Some(members)) => Violation {
                pointer: self.below(name),
                ..unknown_member(rules, members, name, &Path::Root)
            },
            _ => {
                let words = "only properties that its schema names".to_owned();
                let found = Found::unknown_property(name);
                self.at_member(name, "additionalProperties", words, found)
            }
        }
    }

    fn unevaluated(&self, name: &str, known: &[&str]) -> Violation {
        let words = match known {
            [] => "only properties that its schema describes".to_owned(),
            _ => format!("only {}", quoted(known.iter().copied())),
        };
        if known.contains(&name) {
            let found = Found::unknown_property(name);
            return self.at_member(
                name,
                "unevaluatedProperties",
                OUT_OF_PLACE.to_owned(),
                found,
            );
        }
        let absent = known
            .iter()
            .copied()
            .filter(|name| self.value.get(*name).is_none());
        let meant = closest(name, absent).map(|meant| format!("`{meant}`"));
        let found = Found::unknown_property(name);
        Violation {
            suggestion: meant,
            ..self.at_member(name, "unevaluatedProperties", words, found)
        }
    }

    fn bad_name(&self, error: &ValidationError<'_>) -> Violation {
        let instance = error.instance();
        let name = instance.as_str().unwrap_or_default();
        let id = self.place();
        let words = match (error.kind(), id) {
            (Kind::Pattern { pattern }, _) => format!("string matching `{pattern}`"),
            (_, Some(id)) => self.describe(id),
            (_, None) => "name that its schema allows".to_owned(),
        };
        let words = format!("a property name that is a {words}");
        self.at_member(name, "propertyNames", words, Found::unknown_property(name))
    }

    fn repeat(&self) -> Violation {
        let items = self.value.as_array().map_or(&[][..], Vec::as_slice);
        match first_repeat(items) {
            Some((earlier, later)) => {
                let words = format!("an item that differs from item {earlier}");
                let found = Found::value(&items[later]);
                self.at_member(&later.to_string(), "uniqueItems", words, found)
            }
            None => self.sized("uniqueItems", "items that all differ".to_owned()),
        }
    }

    fn contains(&self) -> Violation {
        let keyword = match self.keyword() {
            "maxContains" => "maxContains",
            _ => "contains",
        };
        let contains = self.array().and_then(|array| array.contains.as_ref());
        let words = match contains {
            Some(contains) => {
                let (bound, limit) = match contains.max.filter(|_| keyword == "maxContains") {
                    Some(max) => ("at most", max),
                    None => ("at least", contains.min),
                };
                let item = self.describe(contains.item);
                format!("{bound} {} ({item})", counted(limit, "matching item"))
            }
            None => format!("as many matching items as `{keyword}` says"),
        };
        self.sized(keyword, words)
    }

    fn at_member(
        &self,
        name: &str,
        keyword: &'static str,
        expected: String,
        found: Found,
    ) -> Violation {
        Violation {
            pointer: self.below(name),
            ..self.violation(keyword, expected, found)
        }
    }

    fn below(&self, name: &str) -> String {
        let mut pointer = self.at.to_owned();
        push_escaped(&mut pointer, name);
        cut(pointer)
    }

    /// Returns the last segment of the broken keyword's place.
    fn keyword(&self) -> &str {
        let place = self.error.schema_path().as_str();
        place.rsplit('/').next().unwrap_or_default()
    }

    /// Returns the schema that has the broken keyword, if the outline has it.
    fn place(&self) -> Option<NodeId> {
        let place = self.error.schema_path().as_str();
        let (parent, _) = place.rsplit_once('/')?;
        self.full.outline.places.get(parent).copied()
    }

    fn rules(&self) -> Option<&Rules> {
        self.full.outline.nodes.rules(self.place()?)
    }

    fn object(&self) -> Option<&ObjectRules> {
        self.rules()?.object.as_deref()
    }

    fn array(&self) -> Option<&ArrayRules> {
        self.rules()?.array.as_deref()
    }

    fn describe(&self, id: NodeId) -> String {
        describe(&self.full.outline.nodes, id)
    }

    /// Description of the values that these branches of the broken keyword allow, if the outline has the branches.
    pub(super) fn alternatives(&self, chosen: impl Iterator<Item = usize>) -> Option<String> {
        let apply = self.rules()?.apply.as_ref()?;
        let branches = match self.keyword() {
            "anyOf" => apply.any.as_ref()?,
            _ => apply.one.as_ref()?,
        };
        let mut words: Vec<String> = Vec::new();
        for branch in chosen {
            let one = self.describe(*branches.get(branch)?);
            if !words.contains(&one) {
                words.push(one);
            }
        }
        Some(or_list(&words))
    }

    /// Returns the names known to the schema and to the subschemas that it applies to the same value.
    fn known_names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        let Some(rules) = self.rules() else {
            return names;
        };
        let mut seen: Vec<NodeId> = Vec::new();
        let mut todo = VecDeque::from([rules]);
        while let Some(rules) = todo.pop_front() {
            for name in rules.object.iter().flat_map(|object| &object.names) {
                if !names.contains(&&**name) {
                    names.push(name);
                }
            }
            for id in rules.apply.iter().flat_map(|apply| apply.in_place()) {
                if !seen.contains(&id) {
                    seen.push(id);
                    todo.extend(self.full.outline.nodes.rules(id));
                }
            }
        }
        names
    }
}
