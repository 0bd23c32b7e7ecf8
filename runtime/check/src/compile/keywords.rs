//! The keywords of one schema object, group by group.

use serde_json::{Map, Value};

use super::{
    super::{
        CompileOptions, Formats,
        SchemaErrorKind::{Dialect as UnknownDialect, Malformed, TooLarge, Unsupported},
        format::Format,
        node::{
            Applicators, ArrayRules, Condition, Contains, Dependent, Member, NodeId, NumberRules,
            ObjectRules, Rules, StringRules, TypeSet,
        },
        number::Num,
        pattern::{Pattern, PatternError},
    },
    Compiler, Dialect, Extent, Place, other_dialect,
};

impl<'v> Compiler<'v> {
    pub(super) fn rules(&mut self, at: Place<'v, '_>) -> Rules {
        if self.dialect == Dialect::Draft07 && at.get("$ref").is_some() {
            // Draft-07 ignores all keywords beside a reference.
            let apply = Applicators {
                reference: self.reference(at, "$ref"),
                ..Applicators::default()
            };
            return Rules {
                apply: Some(Box::new(apply)),
                ..Rules::default()
            };
        }
        self.refuse_unsupported(at);
        self.definitions(at);
        let types = self.types(at);
        Rules {
            types,
            constant: at.get("const").cloned(),
            options: self.options(at),
            number: self.number(at, types),
            string: self.string(at),
            array: self.array(at),
            object: self.object(at),
            apply: self.applicators(at),
            ..Rules::default()
        }
    }

    /// Refuses keywords whose meaning would be lost if they were skipped like an unknown keyword.
    fn refuse_unsupported(&mut self, at: Place<'v, '_>) {
        if self.dialect == Dialect::Draft2020 {
            self.refuse_unevaluated(at);
            self.refuse_dynamic(at);
        }
        if at.pointer.is_empty() {
            return;
        }
        if at
            .get("$id")
            .and_then(Value::as_str)
            .is_some_and(|id| !id.starts_with('#'))
        {
            let reason = "an `$id` below the root needs the feature `json-schema`";
            self.error(&at.below("$id"), Unsupported, reason);
        }
        let Some(named) = at.get("$schema") else {
            return;
        };
        if Dialect::named(named).is_none() && other_dialect(named).is_none() {
            let reason = format!("dialect {named} is not supported");
            self.error(&at.below("$schema"), UnknownDialect, reason);
        } else if Dialect::named(named) != Some(self.dialect) {
            let reason = "a second dialect inside of a schema needs the feature `json-schema`";
            self.error(&at.below("$schema"), Unsupported, reason);
        }
    }

    fn refuse_unevaluated(&mut self, at: Place<'v, '_>) {
        for keyword in ["unevaluatedProperties", "unevaluatedItems"] {
            match at.get(keyword) {
                None | Some(Value::Bool(true)) => {}
                Some(Value::Object(schema)) if schema.is_empty() => {}
                Some(Value::Object(_) | Value::Bool(false)) => {
                    let reason = format!("`{keyword}` needs the feature `json-schema`");
                    self.error(&at.below(keyword), Unsupported, reason);
                }
                Some(value) if self.extent == Extent::Whole => {
                    let reason = format!("a schema is an object or a boolean, not {value}");
                    self.error(&at.below(keyword), Malformed, reason);
                }
                // Enqueued with the others, and refused later.
                Some(_) => {}
            }
        }
    }

    /// Refuses dynamic references. One whose target does not exist is refused for that reason, because the other engine refuses it too.
    fn refuse_dynamic(&mut self, at: Place<'v, '_>) {
        let is_whole = self.extent == Extent::Whole;
        if at.get("$recursiveRef").is_some() && (is_whole || self.is_outline_2020()) {
            let reason = "`$recursiveRef` is of 2019-09; name that dialect in `$schema`";
            self.error(&at.below("$recursiveRef"), Malformed, reason);
        }
        let keyword = "$dynamicRef";
        match at.get(keyword) {
            None => {}
            Some(Value::String(target)) => {
                let fault = match is_whole {
                    true => self.fault_of_target(target),
                    false => None,
                };
                let (kind, reason) = fault.unwrap_or_else(|| {
                    let reason = "`$dynamicRef` needs the feature `json-schema`";
                    (Unsupported, reason.to_owned())
                });
                self.error(&at.below(keyword), kind, reason);
            }
            Some(value) => {
                self.malformed::<()>(at, keyword, "a string", value);
            }
        }
    }

    /// Compiles definitions even if nothing refers to them, so that their faults are found when the schema is registered.
    fn definitions(&mut self, at: Place<'v, '_>) {
        let keywords: &[&str] = match self.dialect {
            Dialect::Draft2020 => &["$defs", "definitions"],
            Dialect::Draft07 => &["definitions"],
        };
        for keyword in keywords {
            for (name, schema) in self.members(at, keyword).into_iter().flatten() {
                self.enqueue(schema, at.below2(keyword, name));
            }
        }
    }

    fn types(&mut self, at: Place<'v, '_>) -> TypeSet {
        let Some(value) = at.get("type") else {
            return TypeSet::ALL;
        };
        let set = match value {
            Value::String(name) => TypeSet::named(name),
            Value::Array(names) if !names.is_empty() => {
                names.iter().try_fold(TypeSet::NONE, |set, name| {
                    Some(set.union(TypeSet::named(name.as_str()?)?))
                })
            }
            _ => None,
        };
        set.unwrap_or_else(|| {
            let known = "`null`, `boolean`, `integer`, `number`, `string`, `array`, `object`";
            self.error(
                &at.below("type"),
                Malformed,
                format!("`type` is one of {known} or a list of them, not {value}"),
            );
            TypeSet::ALL
        })
    }

    fn options(&mut self, at: Place<'v, '_>) -> Option<Box<[Value]>> {
        match at.get("enum")? {
            Value::Array(options) => Some(options.as_slice().into()),
            value => self.malformed(at, "enum", "an array", value),
        }
    }

    fn number(&mut self, at: Place<'v, '_>, types: TypeSet) -> Option<Box<NumberRules>> {
        let mut rules = NumberRules {
            minimum: self.bound(at, "minimum"),
            maximum: self.bound(at, "maximum"),
            exclusive_minimum: self.bound(at, "exclusiveMinimum"),
            exclusive_maximum: self.bound(at, "exclusiveMaximum"),
            multiple_of: self.bound(at, "multipleOf"),
            exact: false,
        };
        rules.exact =
            self.options.exact_integers && types.is_integral() && !rules.is_beyond_64_bits();
        if rules
            .multiple_of
            .is_some_and(|divisor| divisor.order(Num::Int(0)).is_le())
        {
            self.error(
                &at.below("multipleOf"),
                Malformed,
                "`multipleOf` is greater than 0",
            );
        }
        let bounds = [
            rules.minimum,
            rules.maximum,
            rules.exclusive_minimum,
            rules.exclusive_maximum,
            rules.multiple_of,
        ];
        let any = rules.exact || bounds.iter().any(|bound| bound.is_some());
        any.then(|| Box::new(rules))
    }

    fn string(&mut self, at: Place<'v, '_>) -> Option<Box<StringRules>> {
        let rules = StringRules {
            min: self.count(at, "minLength").unwrap_or(0),
            max: self.count(at, "maxLength"),
            pattern: match at.get("pattern") {
                Some(Value::String(source)) => self.pattern(source, &at.below("pattern")),
                Some(value) => self.malformed(at, "pattern", "a string", value),
                None => None,
            },
            format: match at.get("format") {
                Some(Value::String(name)) => asserted(self.options, name),
                Some(value) => self.malformed(at, "format", "a string", value),
                None => None,
            },
        };
        let StringRules {
            min,
            max,
            pattern,
            format,
        } = &rules;
        let any = 0 < *min || max.is_some() || pattern.is_some() || format.is_some();
        any.then(|| Box::new(rules))
    }

    fn array(&mut self, at: Place<'v, '_>) -> Option<Box<ArrayRules>> {
        let modern = self.dialect == Dialect::Draft2020;
        let mut prefix = Vec::new();
        let mut items = NodeId::ANY;
        match at.get("items") {
            // Before 2020-12, an array here meant what `prefixItems` means now.
            Some(Value::Array(list)) => {
                prefix = self.list(at, "items", list);
                items = self.child(at, "additionalItems").unwrap_or(NodeId::ANY);
            }
            Some(_) => items = self.child(at, "items").unwrap_or(NodeId::ANY),
            None => {}
        }
        if modern && let Some(list) = self.children(at, "prefixItems") {
            prefix = list.into();
        }
        let contains = self.child(at, "contains").map(|item| Contains {
            item,
            min: if modern {
                self.count(at, "minContains").unwrap_or(1)
            } else {
                1
            },
            max: if modern {
                self.count(at, "maxContains")
            } else {
                None
            },
        });
        let rules = ArrayRules {
            prefix: prefix.into(),
            items,
            min: self.count(at, "minItems").unwrap_or(0),
            max: self.count(at, "maxItems"),
            unique: match at.get("uniqueItems") {
                Some(Value::Bool(unique)) => *unique,
                Some(value) => self
                    .malformed(at, "uniqueItems", "a boolean", value)
                    .unwrap_or(false),
                None => false,
            },
            contains,
        };
        let any = !rules.prefix.is_empty()
            || rules.items != NodeId::ANY
            || 0 < rules.min
            || rules.max.is_some()
            || rules.unique
            || rules.contains.is_some();
        any.then(|| Box::new(rules))
    }

    fn object(&mut self, at: Place<'v, '_>) -> Option<Box<ObjectRules>> {
        let properties = self.members(at, "properties");
        let mut members: Vec<Member> = Vec::new();
        for (name, schema) in properties.into_iter().flatten() {
            let schema = Some(self.enqueue(schema, at.below2("properties", name)));
            members.push(Member {
                name: name.as_str().into(),
                schema,
                required: None,
            });
        }
        members.sort_by(|a, b| a.name.cmp(&b.name));
        let required = match at.get("required") {
            Some(value) => self.names(&at.below("required"), value),
            None => Box::default(),
        };
        for (place, name) in (0_u32..).zip(&required) {
            match members.binary_search_by(|member| member.name.cmp(name)) {
                Ok(found) => members[found].required = Some(place),
                Err(gap) => members.insert(
                    gap,
                    Member {
                        name: name.clone(),
                        schema: None,
                        required: Some(place),
                    },
                ),
            }
        }
        let rules = ObjectRules {
            members: members.into(),
            names: properties
                .into_iter()
                .flatten()
                .map(|(name, _)| name.as_str().into())
                .collect(),
            required,
            patterns: self.patterns(at),
            additional: self
                .child(at, "additionalProperties")
                .unwrap_or(NodeId::ANY),
            property_names: self.child(at, "propertyNames"),
            min: self.count(at, "minProperties").unwrap_or(0),
            max: self.count(at, "maxProperties"),
            dependent: self.dependent_names(at),
        };
        let any = !rules.members.is_empty()
            || !rules.patterns.is_empty()
            || rules.additional != NodeId::ANY
            || rules.property_names.is_some()
            || 0 < rules.min
            || rules.max.is_some()
            || !rules.dependent.is_empty();
        any.then(|| Box::new(rules))
    }

    fn patterns(&mut self, at: Place<'v, '_>) -> Box<[(Pattern, NodeId)]> {
        let mut out = Vec::new();
        for (source, schema) in self.members(at, "patternProperties").into_iter().flatten() {
            let pointer = at.below2("patternProperties", source);
            let pattern = self.pattern(source, &pointer);
            let schema = self.enqueue(schema, pointer);
            out.extend(pattern.map(|pattern| (pattern, schema)));
        }
        out.into()
    }

    /// Reads `dependentRequired`, and the name lists of the older `dependencies`.
    fn dependent_names(&mut self, at: Place<'v, '_>) -> Box<[Dependent]> {
        let mut out = Vec::new();
        for (keyword, name, value) in self.dependencies(at, "dependentRequired") {
            if keyword == "dependentRequired" || value.is_array() {
                out.push((name.into(), self.names(&at.below2(keyword, name), value)));
            }
        }
        out.into()
    }

    fn dependencies(
        &mut self,
        at: Place<'v, '_>,
        modern: &'static str,
    ) -> Vec<(&'static str, &'v str, &'v Value)> {
        let keywords: &[&'static str] = match self.dialect {
            Dialect::Draft2020 => &[modern, "dependencies"],
            Dialect::Draft07 => &["dependencies"],
        };
        let mut out = Vec::new();
        for &keyword in keywords {
            let members = self.members(at, keyword).into_iter().flatten();
            out.extend(members.map(|(name, value)| (keyword, name.as_str(), value)));
        }
        out
    }

    fn applicators(&mut self, at: Place<'v, '_>) -> Option<Box<Applicators>> {
        let mut dependent = Vec::new();
        for (keyword, name, value) in self.dependencies(at, "dependentSchemas") {
            if keyword == "dependentSchemas" || !value.is_array() {
                dependent.push((name.into(), self.enqueue(value, at.below2(keyword, name))));
            }
        }
        let test = self.child(at, "if");
        let then = self.child(at, "then").unwrap_or(NodeId::ANY);
        let otherwise = self.child(at, "else").unwrap_or(NodeId::ANY);
        let decides = then != NodeId::ANY || otherwise != NodeId::ANY;
        let dynamic = match self.extent {
            Extent::Whole => None,
            #[cfg(feature = "json-schema")]
            Extent::Outline { .. } => self.below_outline(at),
        };
        let apply = Applicators {
            reference: self.reference(at, "$ref").or(dynamic),
            all: self.children(at, "allOf").unwrap_or_default(),
            any: self.children(at, "anyOf"),
            one: self.children(at, "oneOf"),
            not: self.child(at, "not"),
            condition: test.filter(|_| decides).map(|test| Condition {
                test,
                then,
                otherwise,
            }),
            dependent: dependent.into(),
        };
        let any = apply.in_place().next().is_some();
        any.then(|| Box::new(apply))
    }

    fn child(&mut self, at: Place<'v, '_>, keyword: &str) -> Option<NodeId> {
        let schema = at.get(keyword)?;
        Some(self.enqueue(schema, at.below(keyword)))
    }

    fn children(&mut self, at: Place<'v, '_>, keyword: &'static str) -> Option<Box<[NodeId]>> {
        match at.get(keyword)? {
            Value::Array(list) if !list.is_empty() => Some(self.list(at, keyword, list).into()),
            value => self.malformed(at, keyword, "a non-empty array of schemas", value),
        }
    }

    fn list(&mut self, at: Place<'v, '_>, keyword: &str, list: &'v [Value]) -> Vec<NodeId> {
        let places = (0..).zip(list);
        places
            .map(|(i, schema): (usize, _)| self.enqueue(schema, at.below2(keyword, &i.to_string())))
            .collect()
    }

    fn members(
        &mut self,
        at: Place<'v, '_>,
        keyword: &'static str,
    ) -> Option<&'v Map<String, Value>> {
        match at.get(keyword)? {
            Value::Object(members) => Some(members),
            value => self.malformed(at, keyword, "an object", value),
        }
    }

    fn names(&mut self, pointer: &str, value: &Value) -> Box<[Box<str>]> {
        let names = value.as_array().and_then(|names| {
            names
                .iter()
                .map(|name| name.as_str().map(Into::into))
                .collect::<Option<Vec<Box<str>>>>()
        });
        match names {
            Some(mut names) => {
                let mut seen = std::collections::HashSet::new();
                names.retain(|name| seen.insert(name.clone()));
                names.into()
            }
            None => {
                self.error(
                    pointer,
                    Malformed,
                    format!("an array of property names is needed, not {value}"),
                );
                Box::default()
            }
        }
    }

    fn bound(&mut self, at: Place<'v, '_>, keyword: &'static str) -> Option<Num> {
        match at.get(keyword)? {
            Value::Number(number) => Some(Num::of(number)),
            value => self.malformed(at, keyword, "a number", value),
        }
    }

    fn count(&mut self, at: Place<'v, '_>, keyword: &'static str) -> Option<usize> {
        let value = at.get(keyword)?;
        let count = match value {
            Value::Number(number) => match Num::of(number) {
                // Counts beyond `usize` are clamped, because no value in memory can exceed them.
                Num::Int(count) if 0 <= count => Some(usize::try_from(count).unwrap_or(usize::MAX)),
                _ => None,
            },
            _ => None,
        };
        count.or_else(|| self.malformed(at, keyword, "an integer of at least 0", value))
    }

    fn pattern(&mut self, source: &str, pointer: &str) -> Option<Pattern> {
        let max_size = self.options.max_pattern_size;
        match Pattern::compile(source, max_size) {
            Ok(pattern) => Some(pattern),
            Err(PatternError::Unsupported(what)) => {
                self.error(
                    pointer,
                    Unsupported,
                    format!("patterns with {what} need the feature `json-schema`"),
                );
                None
            }
            Err(PatternError::TooLarge) => {
                let reason = format!(
                    "the pattern compiles to more than {max_size} bytes, the limit that `max_pattern_size` sets"
                );
                self.error(pointer, TooLarge, reason);
                None
            }
            Err(PatternError::Invalid(reason)) => {
                let reason = reason.replace('\n', " ");
                self.error(
                    pointer,
                    Malformed,
                    format!("`{source}` is not a usable pattern: {reason}"),
                );
                None
            }
        }
    }

    fn malformed<T>(
        &mut self,
        at: Place<'v, '_>,
        keyword: &str,
        allowed: &str,
        value: &Value,
    ) -> Option<T> {
        self.error(
            &at.below(keyword),
            Malformed,
            format!("`{keyword}` is {allowed}, not {value}"),
        );
        None
    }
}

fn asserted(options: &CompileOptions, name: &str) -> Option<Format> {
    match options.formats {
        Formats::Assert => Format::named(name),
        Formats::Annotate => None,
    }
}
