//! The YAML front matter of a `SKILL.md`, as JSON.

use saphyr::{LoadableYamlNode, MarkedYaml, Scalar, YamlData};
use saphyr_parser::{Event, Parser};
use serde_json::{Map, Number, Value};

/// Largest front matter, in bytes: 64 KiB.
pub const MAX_FRONT_MATTER: usize = 64 << 10;

/// Longest name of a skill, in characters.
pub const MAX_NAME: usize = 64;

/// Longest description of a skill, in characters.
pub const MAX_DESCRIPTION: usize = 1024;

/// Longest `compatibility` of a skill, in characters.
const MAX_COMPATIBILITY: usize = 500;

/// Deepest nesting of lists and maps in front matter.
const MAX_DEPTH: usize = 32;

/// Keys of `metadata` that extensions of the protocol define begin with this.
const RESERVED: &str = "io.modelcontextprotocol/";

/// The front matter of a skill.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct FrontMatter {
    pub(crate) name: String,
    pub(crate) description: String,
    /// The other fields, in the author's order.
    pub(crate) others: Map<String, Value>,
}

/// A fault of a `SKILL.md`, and its line, counted from 1.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Unfit {
    pub(crate) line: usize,
    pub(crate) problem: String,
}

impl Unfit {
    fn at(line: usize, problem: impl Into<String>) -> Self {
        let problem = problem.into();
        Self { line, problem }
    }
}

impl FrontMatter {
    /// Parses the front matter at the beginning of `text`, the content of a `SKILL.md`.
    ///
    /// # Errors
    /// The text does not begin with front matter, the front matter is not YAML 1.2, or a field does not conform to the Agent Skills
    /// specification.
    pub(crate) fn parse(text: &str) -> Result<Self, Unfit> {
        let yaml = block(text)?;
        let mut fields = object(yaml)?;
        let line_of = |field: &str| line_of(yaml, field);
        let mut text_field = |field: &str| match fields.shift_remove(field) {
            Some(Value::String(text)) => Ok(text),
            Some(_) => Err(Unfit::at(
                line_of(field),
                format!("`{field}` is not a string"),
            )),
            None => Err(Unfit::at(1, format!("the front matter has no `{field}`"))),
        };
        let (name, description) = (text_field("name")?, text_field("description")?);
        if let Some(problem) = unfit_name(&name) {
            return Err(Unfit::at(line_of("name"), problem));
        }
        let length = description.chars().count();
        if description.trim().is_empty() || MAX_DESCRIPTION < length {
            let problem = format!(
                "`description` has {length} characters, and 1 to {MAX_DESCRIPTION} are allowed that are not all spaces"
            );
            return Err(Unfit::at(line_of("description"), problem));
        }
        match fields.get("compatibility") {
            None | Some(Value::Null) => {}
            Some(Value::String(text))
                if (1..=MAX_COMPATIBILITY).contains(&text.chars().count()) => {}
            Some(_) => {
                let problem = format!(
                    "`compatibility` is not a string of 1 to {MAX_COMPATIBILITY} characters"
                );
                return Err(Unfit::at(line_of("compatibility"), problem));
            }
        }
        if let Some(Value::Object(metadata)) = fields.get("metadata")
            && let Some(key) = metadata.keys().find(|key| key.starts_with(RESERVED))
        {
            let problem = format!(
                "`metadata` has the key `{key}`, and those that begin with `{RESERVED}` are reserved"
            );
            return Err(Unfit::at(line_of("metadata"), problem));
        }
        Ok(Self {
            name,
            description,
            others: fields,
        })
    }
}

/// Returns why `name` cannot be the name of a skill.
pub(crate) fn unfit_name(name: &str) -> Option<String> {
    let is_allowed =
        |letter: char| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '-';
    let length = name.chars().count();
    let problem = match () {
        () if name.is_empty() => "is empty".to_owned(),
        () if MAX_NAME < length => {
            format!("has {length} characters, and at most {MAX_NAME} are allowed")
        }
        () if !name.chars().all(is_allowed) => {
            "has other characters than a-z, 0-9 and hyphens".to_owned()
        }
        () if name.starts_with('-') || name.ends_with('-') => {
            "begins or ends with a hyphen".to_owned()
        }
        () if name.contains("--") => "has two hyphens in a row".to_owned(),
        () => return None,
    };
    Some(format!(
        "the name `{}` {problem}",
        name.chars().take(MAX_NAME).collect::<String>()
    ))
}

/// Returns the lines between the first two lines `---`.
fn block(text: &str) -> Result<&str, Unfit> {
    // A byte order mark is not part of the first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let none = || {
        Unfit::at(
            1,
            "the file does not begin with YAML front matter: a line `---`, the fields, a line `---`",
        )
    };
    let begun = text
        .strip_prefix("---\n")
        .or_else(|| text.strip_prefix("---\r\n"));
    let begun = begun.ok_or_else(none)?;
    let mut at = 0;
    for line in begun.split_inclusive('\n') {
        if line
            .strip_prefix("---")
            .is_some_and(|rest| rest.trim().is_empty())
        {
            return match at <= MAX_FRONT_MATTER {
                true => Ok(&begun[..at]),
                false => Err(Unfit::at(
                    1,
                    format!(
                        "the front matter has {at} bytes, and at most {MAX_FRONT_MATTER} are allowed"
                    ),
                )),
            };
        }
        at += line.len();
    }
    Err(Unfit::at(
        1,
        "the front matter has no end: a second line `---`",
    ))
}

/// Returns the fields of `yaml`, which begins in the second line of its file.
fn object(yaml: &str) -> Result<Map<String, Value>, Unfit> {
    check_shape(yaml)?;
    let documents = MarkedYaml::load_from_str(yaml)
        .map_err(|error| Unfit::at(error.marker().line() + 1, error.info()))?;
    if let Some(second) = documents.get(1) {
        return Err(Unfit::at(
            second.span.start.line() + 1,
            "the front matter has more than one YAML document",
        ));
    }
    match documents.first().map(json).transpose()? {
        Some(Value::Object(fields)) => Ok(fields),
        _ => Err(Unfit::at(2, "the front matter is not a map of fields")),
    }
}

/// Refuses input that would take more memory than its text, or more stack than is available, before it is loaded.
fn check_shape(yaml: &str) -> Result<(), Unfit> {
    let mut depth = 0;
    for event in Parser::new_from_str(yaml) {
        let (event, span) =
            event.map_err(|error| Unfit::at(error.marker().line() + 1, error.info()))?;
        let line = span.start.line() + 1;
        match event {
            Event::Alias(_) => {
                return Err(Unfit::at(
                    line,
                    "aliases (`*name`) are not supported in front matter",
                ));
            }
            Event::MappingStart(..) | Event::SequenceStart(..) => depth += 1,
            Event::MappingEnd | Event::SequenceEnd => depth -= 1,
            _ => {}
        }
        if MAX_DEPTH < depth {
            return Err(Unfit::at(
                line,
                format!("lists and maps are nested more than {MAX_DEPTH} deep"),
            ));
        }
    }
    Ok(())
}

/// Returns `node` as JSON.
fn json(node: &MarkedYaml<'_>) -> Result<Value, Unfit> {
    let unfit = |problem: &str| Unfit::at(node.span.start.line() + 1, problem);
    Ok(match &node.data {
        YamlData::Value(Scalar::Null) => Value::Null,
        YamlData::Value(Scalar::Boolean(value)) => Value::Bool(*value),
        YamlData::Value(Scalar::Integer(value)) => Value::from(*value),
        YamlData::Value(Scalar::FloatingPoint(value)) => {
            let number = Number::from_f64(value.into_inner());
            Value::Number(
                number.ok_or_else(|| {
                    unfit("a number that is not finite cannot be written as JSON")
                })?,
            )
        }
        YamlData::Value(Scalar::String(value)) => Value::String(value.to_string()),
        YamlData::Sequence(items) => items.iter().map(json).collect::<Result<_, _>>()?,
        YamlData::Mapping(members) => {
            let mut object = Map::new();
            for (key, value) in members {
                let YamlData::Value(Scalar::String(name)) = &key.data else {
                    return Err(Unfit::at(
                        key.span.start.line() + 1,
                        "a key that is not a string cannot be written as JSON",
                    ));
                };
                object.insert(name.to_string(), json(value)?);
            }
            Value::Object(object)
        }
        YamlData::Tagged(..) | YamlData::BadValue => {
            return Err(unfit("a value with a tag cannot be written as JSON"));
        }
        YamlData::Alias(_) | YamlData::Representation(..) => {
            return Err(unfit("a value that is not supported in front matter"));
        }
    })
}

/// Returns the line of the file in which the root of `yaml` has `field`; the first line if it is written in another form.
fn line_of(yaml: &str, field: &str) -> usize {
    let is_field = |line: &str| {
        line.strip_prefix(field)
            .is_some_and(|rest| rest.trim_start().starts_with(':'))
    };
    yaml.lines().position(is_field).map_or(1, |at| at + 2)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// Returns the fields of a skill `a` with `more` fields, which begin in the fourth line.
    fn with(more: &str) -> Result<Value, Unfit> {
        let text = format!("---\nname: a\ndescription: b\n{more}---\nText.\n");
        FrontMatter::parse(&text).map(|found| Value::Object(found.others))
    }

    #[test]
    fn values_are_those_of_yaml_1_2() {
        for (yaml, expected) in [
            ("", json!({})),
            (
                "x: text\ny: 'quoted: text'\n",
                json!({ "x": "text", "y": "quoted: text" }),
            ),
            (
                "x: 1\ny: -1.5\nz: 0x1F\no: 0o17\n",
                json!({ "x": 1, "y": -1.5, "z": 31, "o": 15 }),
            ),
            (
                "x: yes\ny: on\nz: true\nt: 1_000\n",
                json!({ "x": "yes", "y": "on", "z": true, "t": "1_000" }),
            ),
            (
                "x: ~\ny:\nz: null\n",
                json!({ "x": null, "y": null, "z": null }),
            ),
            ("x: 2026-07-28\n", json!({ "x": "2026-07-28" })),
            (
                "x: |\n  a\n  b\ny: >-\n  a\n  b\n",
                json!({ "x": "a\nb\n", "y": "a b" }),
            ),
            (
                "x: [a, {b: c}]\ny:\n  - 1\n",
                json!({ "x": ["a", { "b": "c" }], "y": [1] }),
            ),
            ("x: !!str 5\n# A comment.\n", json!({ "x": "5" })),
            (
                "allowed-tools: Read Write\n",
                json!({ "allowed-tools": "Read Write" }),
            ),
        ] {
            assert_eq!(with(yaml), Ok(expected), "{yaml}");
        }
        // In the author's order.
        let fields = with("z: 1\na: 2\nm: 3\n").unwrap();
        assert_eq!(
            fields.as_object().unwrap().keys().collect::<Vec<_>>(),
            ["z", "a", "m"]
        );
    }

    #[test]
    fn ends_and_marks_of_the_file() {
        for text in [
            "---\nname: a\ndescription: b\n---\n",
            "---\nname: a\ndescription: b\n---",
            "---\r\nname: a\r\ndescription: b\r\n---\r\nText.",
            "\u{feff}---\nname: a\ndescription: b\n--- \t\n---\n",
        ] {
            let found = FrontMatter::parse(text).unwrap();
            assert_eq!((&*found.name, &*found.description), ("a", "b"), "{text:?}");
        }
    }

    #[test]
    fn what_is_wrong_is_named_with_its_line() {
        let alias = "x: &x [1]\ny: *x\n";
        let deep = format!("x: {}{}\n", "[".repeat(32), "]".repeat(32));
        for (yaml, line, expected) in [
            ("x: [\n", 5, ""),
            ("x: a: b\n", 4, "mapping values are not allowed"),
            ("x: 1\nx: 2\n", 5, "duplicate"),
            (alias, 5, "aliases"),
            (&deep, 4, "more than 32 deep"),
            ("x: .inf\n", 4, "not finite"),
            ("1: x\n", 4, "a key that is not a string"),
            ("x: !mine y\n", 4, "a value with a tag"),
            ("metadata:\n  io.modelcontextprotocol/x: 1\n", 4, "reserved"),
            ("--- {y: 1}\n", 4, "more than one YAML document"),
            ("...\ny: 1\n", 5, "more than one YAML document"),
            ("compatibility: 5\n", 4, "`compatibility` is not a string"),
            ("compatibility: ''\n", 4, "`compatibility` is not a string"),
        ] {
            let found = with(yaml).unwrap_err();
            assert_eq!(found.line, line, "{yaml}: {found:?}");
            assert!(found.problem.contains(expected), "{yaml}: {found:?}");
        }
        for (text, line, expected) in [
            ("", 1, "does not begin"),
            ("\n---\nname: a\n---\n", 1, "does not begin"),
            ("--- \nname: a\n---\n", 1, "does not begin"),
            ("---\nname: a\n", 1, "has no end"),
            ("---\n---\n", 2, "not a map"),
            ("---\n- a\n---\n", 2, "not a map"),
            ("---\ndescription: b\n---\n", 1, "has no `name`"),
            ("---\nname: a\n---\n", 1, "has no `description`"),
            (
                "---\ndescription: b\nname: 5\n---\n",
                3,
                "`name` is not a string",
            ),
            (
                "---\nname: a\ndescription:\n---\n",
                3,
                "`description` is not a string",
            ),
            (
                "---\nname: a\ndescription: ' '\n---\n",
                3,
                "`description` has 1 characters",
            ),
        ] {
            let found = FrontMatter::parse(text).unwrap_err();
            assert_eq!(found.line, line, "{text:?}: {found:?}");
            assert!(found.problem.contains(expected), "{text:?}: {found:?}");
        }
    }

    #[test]
    fn limits() {
        let text = |description: usize, padding: usize| {
            let (description, padding) = ("é".repeat(description), "x".repeat(padding));
            FrontMatter::parse(&format!(
                "---\nname: a\ndescription: {description}\n# {padding}\n---\n"
            ))
        };
        assert!(text(MAX_DESCRIPTION, 0).is_ok());
        assert!(text(MAX_DESCRIPTION + 1, 0).is_err());
        let rest = MAX_FRONT_MATTER - "name: a\ndescription: \u{e9}\n# \n".len();
        assert!(text(1, rest).is_ok());
        assert!(
            text(1, rest + 1)
                .unwrap_err()
                .problem
                .contains("65537 bytes")
        );
        let compatible = |length: usize| with(&format!("compatibility: {}\n", "x".repeat(length)));
        assert!(
            compatible(MAX_COMPATIBILITY).is_ok() && compatible(MAX_COMPATIBILITY + 1).is_err()
        );
        assert!(with(&format!("x: {}{}\n", "[".repeat(31), "]".repeat(31))).is_ok());
        // Far beyond the capacity of a stack.
        assert!(with(&format!("x: {}\n", "[".repeat(60_000))).is_err());
    }

    #[test]
    fn names() {
        for (name, is_fit) in [
            ("a", true),
            ("pdf-processing", true),
            ("0a", true),
            (&*"a".repeat(64), true),
            (&*"a".repeat(65), false),
            ("", false),
            ("-a", false),
            ("a-", false),
            ("a--b", false),
            ("A", false),
            ("é", false),
            ("a_b", false),
        ] {
            assert_eq!(
                unfit_name(name).is_none(),
                is_fit,
                "{name}: {:?}",
                unfit_name(name)
            );
        }
    }
}
