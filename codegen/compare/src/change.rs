//! One change, as data and as a line of text. The wording is always the same, so that it can be searched and compared.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::effect::Impact;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Change {
    /// Place: the name given to the schema, and the path from there. `.name` is a member, `.*` are members without a name of their own,
    /// `./pattern/` those that match a pattern, `[]` elements, `[0]` one of them, ` = "a"` a constant.
    pub place: String,
    /// Kind of the change.
    #[serde(flatten)]
    pub what: What,
    /// Severity of the change.
    pub impact: Impact,
}

impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:<8}  {}: {}", self.impact, self.place, self.what)
    }
}

/// Kind of a change.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(
    tag = "change",
    rename_all = "kebab-case",
    rename_all_fields = "camelCase"
)]
#[non_exhaustive]
pub enum What {
    /// An object has one more member.
    MemberAdded {
        /// Whether it must be present.
        required: bool,
        /// Its type.
        #[serde(rename = "type")]
        ty: String,
    },
    /// An object no longer has a member.
    MemberRemoved {
        /// Whether it had to be present.
        required: bool,
        /// Its type.
        #[serde(rename = "type")]
        ty: String,
        /// Whether the member is now refused, not just unknown.
        #[serde(skip_serializing_if = "is_false")]
        refused: bool,
    },
    /// A member must now be present.
    BecameRequired,
    /// A member may now be absent.
    BecameOptional,
    /// A union has one more alternative.
    VariantAdded {
        /// Its type.
        variant: String,
    },
    /// A union lost an alternative.
    VariantRemoved {
        /// Its type.
        variant: String,
    },
    /// Values that meet more than one alternative of a union are now refused.
    BecameExclusive,
    /// Values that meet more than one alternative of a union are now allowed.
    BecameInclusive,
    /// One more constant is legal.
    ValueAdded {
        /// The constant.
        value: Value,
    },
    /// A constant is no longer legal.
    ValueRemoved {
        /// The constant.
        value: Value,
    },
    /// The type changed.
    TypeChanged {
        /// Before.
        from: String,
        /// After.
        to: String,
    },
    /// A bound, format or other restriction changed.
    LimitChanged {
        /// The keyword of JSON Schema.
        keyword: String,
        /// Before; absent if it was not limited.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<Value>,
        /// After; absent if it is not limited.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<Value>,
    },
    /// An annotation changed, such as the description or the default, but not the set of legal values.
    WordsChanged {
        /// The keyword of JSON Schema.
        keyword: String,
        /// Before.
        #[serde(skip_serializing_if = "Option::is_none")]
        from: Option<Value>,
        /// After.
        #[serde(skip_serializing_if = "Option::is_none")]
        to: Option<Value>,
    },
    /// The change depends on a keyword that the comparison does not analyse.
    Unclear {
        /// The keyword of JSON Schema.
        keyword: String,
    },
    /// Unknown members are now refused.
    Closed,
    /// Unknown members are now allowed.
    Opened,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes references")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let presence = |required: &bool| if *required { "required" } else { "optional" };
        match self {
            Self::MemberAdded { required, ty } => {
                write!(f, "{} member added ({ty})", presence(required))
            }
            Self::MemberRemoved {
                required,
                ty,
                refused,
            } => {
                let refused = if *refused { ", and is refused now" } else { "" };
                write!(f, "{} member removed ({ty}){refused}", presence(required))
            }
            Self::BecameRequired => write!(f, "became required"),
            Self::BecameOptional => write!(f, "became optional"),
            Self::VariantAdded { variant } => write!(f, "union member {variant} added"),
            Self::VariantRemoved { variant } => write!(f, "union member {variant} removed"),
            Self::BecameExclusive => write!(f, "may now meet one member of the union only"),
            Self::BecameInclusive => write!(f, "may now meet several members of the union"),
            Self::ValueAdded { value } => write!(f, "value {} added", shortened(value)),
            Self::ValueRemoved { value } => write!(f, "value {} removed", shortened(value)),
            Self::TypeChanged { from, to } => write!(f, "type changed from {from} to {to}"),
            Self::LimitChanged { keyword, from, to } | Self::WordsChanged { keyword, from, to } => {
                let show = |value: &Option<Value>| {
                    value.as_ref().map_or_else(|| "none".to_owned(), shortened)
                };
                write!(f, "`{keyword}` changed from {} to {}", show(from), show(to))
            }
            Self::Unclear { keyword } => {
                write!(
                    f,
                    "changed, in ways that cannot be classified because of `{keyword}`"
                )
            }
            Self::Closed => write!(f, "unknown members are now refused"),
            Self::Opened => write!(f, "unknown members are now allowed"),
        }
    }
}

/// Returns a value as shown in the line of a change: its JSON text, cut off after 60 characters.
#[must_use]
pub fn shortened(value: &Value) -> String {
    /// Longest value shown, in characters.
    const LONGEST: usize = 60;
    let text = value.to_string();
    match text.char_indices().nth(LONGEST) {
        None => text,
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}
