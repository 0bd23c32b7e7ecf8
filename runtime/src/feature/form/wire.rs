//! Converts the fields of a form to the schema that a revision sends.

use serde_json::Number;
use trueform_schema::{
    BooleanSchema, ElicitRequestedSchema, EnumOption, LegacyTitledEnumSchema, Map, NumberSchema,
    NumberSchemaType, PrimitiveSchemaDefinition, Revision, Revisions, StringSchema,
    TitledMultiSelectEnumSchema, TitledMultiSelectEnumSchemaItems, TitledSingleSelectEnumSchema,
    UntitledMultiSelectEnumSchema, UntitledMultiSelectEnumSchemaItems,
    UntitledSingleSelectEnumSchema,
};

use super::{Choice, Field, Form, Kind};

/// The revisions with elicitation.
pub(super) const WITH_FORMS: Revisions = Revisions::since(Revision::V2025_06_18);
/// The revisions with defaults of all fields, titled options and multiple choices.
const FULL: Revisions = Revisions::since(Revision::V2025_11_25);

impl Form {
    /// Returns the form as `revision` expresses it.
    ///
    /// # Errors
    /// The reason why it cannot, with the name of the field.
    pub(crate) fn at(&self, revision: Revision) -> Result<ElicitRequestedSchema, String> {
        if !WITH_FORMS.contains(revision) {
            return Err(format!(
                "{revision} has no elicitation; expected {} or later",
                Revision::V2025_06_18
            ));
        }
        let mut properties = Map::new();
        for field in &self.fields {
            properties.insert(&*field.name, field.at(revision)?);
        }
        let mut schema = ElicitRequestedSchema::new(properties);
        let required = self.fields.iter().filter(|field| field.required);
        let required: Vec<String> = required.map(|field| field.name.clone()).collect();
        if !required.is_empty() {
            schema.required = Some(required);
        }
        Ok(schema)
    }
}

impl Field {
    fn at(&self, revision: Revision) -> Result<PrimitiveSchemaDefinition, String> {
        let full = FULL.contains(revision);
        let (title, description) = (self.title.clone(), self.description.clone());
        Ok(match &self.kind {
            Kind::Text {
                format,
                min_length,
                max_length,
                default,
                unsent: _,
            } => {
                let mut text = StringSchema::new();
                text.format.clone_from(format);
                (text.min_length, text.max_length) = (*min_length, *max_length);
                text.default = default.clone().filter(|_| full);
                (text.title, text.description) = (title, description);
                text.into()
            }
            Kind::Number {
                integer,
                minimum,
                maximum,
                default,
            } => {
                let mut number = NumberSchema::new(match integer {
                    true => NumberSchemaType::Integer,
                    false => NumberSchemaType::Number,
                });
                let double = |number: &Option<Number>| number.as_ref().and_then(exact);
                (number.minimum, number.maximum) = (double(minimum), double(maximum));
                number.default = double(default).filter(|_| full);
                (number.title, number.description) = (title, description);
                number.into()
            }
            Kind::Boolean { default } => {
                let mut boolean = BooleanSchema::new();
                boolean.default = *default;
                (boolean.title, boolean.description) = (title, description);
                boolean.into()
            }
            Kind::Choice {
                options,
                default,
                legacy,
            } => match titled(options) {
                None => {
                    let mut choice = UntitledSingleSelectEnumSchema::new(values(options));
                    choice.default = default.clone().filter(|_| full);
                    (choice.title, choice.description) = (title, description);
                    choice.into()
                }
                Some(titled) if full && !legacy => {
                    let mut choice = TitledSingleSelectEnumSchema::new(titled);
                    choice.default.clone_from(default);
                    (choice.title, choice.description) = (title, description);
                    choice.into()
                }
                Some(titled) => {
                    let names: Vec<String> =
                        titled.into_iter().map(|option| option.title).collect();
                    let mut choice =
                        LegacyTitledEnumSchema::new(values(options)).with_enum_names(names);
                    choice.default = default.clone().filter(|_| full);
                    (choice.title, choice.description) = (title, description);
                    choice.into()
                }
            },
            Kind::Choices { .. } if !full => {
                return Err(format!(
                    "{revision} has no field for several choices, as field `{}` is; expected {} or later",
                    self.name,
                    Revision::V2025_11_25
                ));
            }
            Kind::Choices {
                options,
                min_items,
                max_items,
                default,
                distinct: _,
            } => match titled(options) {
                None => {
                    let items = UntitledMultiSelectEnumSchemaItems::new(values(options));
                    let mut choices = UntitledMultiSelectEnumSchema::new(items);
                    (choices.min_items, choices.max_items) = (*min_items, *max_items);
                    choices.default.clone_from(default);
                    (choices.title, choices.description) = (title, description);
                    choices.into()
                }
                Some(titled) => {
                    let items = TitledMultiSelectEnumSchemaItems::new(titled);
                    let mut choices = TitledMultiSelectEnumSchema::new(items);
                    (choices.min_items, choices.max_items) = (*min_items, *max_items);
                    choices.default.clone_from(default);
                    (choices.title, choices.description) = (title, description);
                    choices.into()
                }
            },
        })
    }
}

fn values(options: &[Choice]) -> Vec<String> {
    options.iter().map(|option| option.value.clone()).collect()
}

/// Returns the options with display names, if at least one has its own.
fn titled(options: &[Choice]) -> Option<Vec<EnumOption>> {
    let named = |option: &Choice| {
        let title = option.title.as_ref().unwrap_or(&option.value);
        EnumOption::new(&*option.value, &**title)
    };
    let any = options.iter().any(|option| option.title.is_some());
    any.then(|| options.iter().map(named).collect())
}

/// Returns the double that is exactly `number`.
fn exact(number: &Number) -> Option<f64> {
    /// Up to here every integer is a double.
    const EXACT: u64 = 1 << 53;
    match (number.as_i64(), number.as_u64()) {
        (Some(integer), _) if EXACT < integer.unsigned_abs() => None,
        (None, Some(integer)) if EXACT < integer => None,
        _ => number.as_f64(),
    }
}

/// Refuses numbers that would change when they are sent: numbers of a form are doubles. The problem begins with a verb.
pub(super) fn check_numbers(kind: &Kind) -> Result<(), String> {
    let Kind::Number {
        minimum,
        maximum,
        default,
        ..
    } = kind
    else {
        return Ok(());
    };
    for (what, number) in [
        ("minimum", minimum),
        ("maximum", maximum),
        ("default", default),
    ] {
        if let Some(number) = number.as_ref().filter(|number| exact(number).is_none()) {
            return Err(format!(
                "has the {what} {number}; expected an integer from -2^53 to 2^53, because numbers of forms are doubles"
            ));
        }
    }
    Ok(())
}
