//! The superset model: the output of the passes and the only input of the emitters.
//!
//! Contains, for each type, member, variant, enum value and method, the revisions that have it and that require it. Every collection is
//! ordered, so that the same input produces the same bytes.

use std::{collections::BTreeMap, fmt};

use crate::overlay::Case;

/// A set of revisions: bit *n* is the *n*-th revision, oldest first.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bits(pub u8);

impl Bits {
    /// Returns the set that contains only the revision with index `revision`.
    #[must_use]
    pub fn of(revision: usize) -> Self {
        Self(1 << revision)
    }

    /// Adds the revision with index `revision`.
    pub fn add(&mut self, revision: usize) {
        self.0 |= 1 << revision;
    }

    /// Returns whether the revision with index `revision` is in the set.
    #[must_use]
    pub fn has(self, revision: usize) -> bool {
        self.0 & (1 << revision) != 0
    }

    /// Returns whether all of `other` is in the set.
    #[must_use]
    pub fn covers(self, other: Self) -> bool {
        other.0 & !self.0 == 0
    }

    /// Returns whether no revision is in the set.
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }
}

impl fmt::Debug for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#b}", self.0)
    }
}

/// One module of bindings: the core, or one extension.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Model {
    /// The revisions, oldest first.
    pub revisions: Vec<String>,
    /// Generated types by Rust name.
    pub types: BTreeMap<String, TypeDef>,
    /// Methods by wire name.
    pub methods: BTreeMap<String, MethodDef>,
    /// The type that each definition of each revision (by index) was merged into.
    pub definitions: BTreeMap<(usize, String), TypeRef>,
    /// Definitions that no method reaches, by name, with the revisions that have them.
    pub unreached: BTreeMap<String, Bits>,
    /// Types of the core that an extension uses.
    pub external: BTreeMap<String, TypeDef>,
    /// The decisions on differences between revisions, in order.
    pub decisions: Vec<String>,
    /// Models of the extensions, by name; empty for an extension.
    pub extensions: BTreeMap<String, Model>,
}

/// One generated type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct TypeDef {
    /// Rust name.
    pub name: String,
    /// Revisions in which a method reaches it.
    pub known: Bits,
    /// Its shape.
    pub shape: Shape,
    /// Revisions that refuse members which a struct does not name.
    pub closed: Bits,
    /// Where it is defined: (revision index, JSON pointer).
    pub sources: Vec<(usize, String)>,
}

/// The shape of a type.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Shape {
    /// An object with known members.
    Struct {
        /// The members by JSON name, in order.
        fields: Vec<Field>,
    },
    /// One of several types.
    Union {
        /// The variants in order.
        variants: Vec<Variant>,
        /// How they are distinguished.
        rule: Rule,
    },
    /// A string with known values.
    Enum {
        /// The values in order.
        values: Vec<EnumValue>,
    },
}

/// One member of a struct.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Field {
    /// Name on the wire.
    pub json_name: String,
    /// Name in Rust.
    pub rust_name: String,
    /// Its type.
    pub ty: TypeRef,
    /// Revisions that have it.
    pub known: Bits,
    /// Revisions that require it.
    pub required: Bits,
    /// Raw JSON to write at a revision that requires the member, if it is absent.
    pub default: Option<String>,
    /// Constraints by revision index.
    pub constraints: BTreeMap<usize, Constraints>,
    /// Whether it is non-optional: required by every revision that has the type.
    pub always: bool,
    /// Constraints of revisions on a value, beyond its type.
    pub needs: Needs,
    /// The variants that require the member, if the struct is collapsed from several variants and not all of them do.
    pub required_if: Option<InVariants>,
    /// The variants that have the member, if the struct is collapsed from several variants and not all of them do.
    pub known_if: Option<InVariants>,
}

/// Some of the variants that a struct is collapsed from, by their tag.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct InVariants {
    /// The revisions that have the variants.
    pub revisions: Bits,
    /// The member with a constant in each variant.
    pub tag: String,
    /// Its values in these variants.
    pub values: Vec<String>,
}

/// Constraints on a value beyond its type, each with the revisions that have it.
pub type Needs = Vec<(Bits, Need)>;

/// One constraint on a value; numbers keep the notation of the schema.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Need {
    /// No fraction.
    Integral,
    /// At least this.
    Minimum(String),
    /// At most this.
    Maximum(String),
    /// At least this many items.
    MinItems(u64),
    /// At most this many items.
    MaxItems(u64),
    /// At least this many characters.
    MinLength(u64),
    /// At most this many characters.
    MaxLength(u64),
    /// A string of this format: `uri`, `uri-template`, `byte`.
    Format(String),
    /// One of these strings.
    OneOf(Vec<String>),
    /// Raw JSON of this form.
    Form(Form),
    /// These constraints, on every item of a list or value of a map.
    Each(Needs),
}

/// The form of raw JSON.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Form {
    /// Anything.
    Any,
    /// A JSON type, as `JsonKind` spells it.
    Kind(&'static str),
    /// A number without a fraction.
    Integer,
    /// One of these strings.
    OneOf(Vec<String>),
    /// An array of such items.
    Array(Box<Form>),
    /// An object: name, whether it is required, and form of each known member, and the form of all others.
    Object(Vec<(String, bool, Form)>, Box<Form>),
}

impl Form {
    /// Returns the form of any object.
    #[must_use]
    pub fn object() -> Self {
        Self::Object(Vec::new(), Box::new(Self::Any))
    }
}

/// Constraints of one revision on a value, beyond its type.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Constraints {
    /// Smallest number.
    pub minimum: Option<String>,
    /// Largest number.
    pub maximum: Option<String>,
    /// Fewest items.
    pub min_items: Option<u64>,
    /// Most items.
    pub max_items: Option<u64>,
    /// Format of a string.
    pub format: Option<String>,
    /// JSON type that this revision requires if the merged type is wider: `object`, `integer`.
    pub json_type: Option<String>,
}

/// One variant of a union.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Variant {
    /// Rust name.
    pub name: String,
    /// The type of its value.
    pub ty: TypeRef,
    /// Revisions that have it.
    pub known: Bits,
    /// Constraints of revisions on the value, beyond its type.
    pub needs: Needs,
    /// How it is written at a revision that lacks it.
    pub older: Older,
}

/// How a variant of a union is written at a revision that lacks it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Older {
    /// It is not written, and must not be sent.
    Nothing,
    /// As its only item, if it is a list of one.
    Item,
    /// In the form that its hand-written `Rewrite` writes.
    Rewritten,
}

/// How the variants of a union are distinguished.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Rule {
    /// By the string value of a member.
    Tag {
        /// The member.
        member: String,
        /// Variant (index) by value.
        values: BTreeMap<String, usize>,
        /// Variant if the member is absent.
        absent: Option<usize>,
    },
    /// By the first of these members to be present.
    Present(BTreeMap<String, usize>),
    /// By JSON type: `string`, `number`, `boolean`, `array`, `object`.
    Json(BTreeMap<String, usize>),
    /// By the first case that holds.
    Cases(Vec<(Case, usize)>),
}

/// One value of an open enumeration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct EnumValue {
    /// The value on the wire.
    pub value: String,
    /// The name in Rust.
    pub name: String,
    /// Revisions that have it.
    pub known: Bits,
}

/// A use of a type.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum TypeRef {
    /// `bool`.
    Bool,
    /// `i64`, accepting integral floats.
    Integer,
    /// `f64`.
    Number,
    /// `String`.
    String,
    /// A string that is always the same; never a field.
    Constant(String),
    /// A hand-written type of the schema crate: `Json`, `JsonObject`, `RequestId`, `Meta`.
    Leaf(String),
    /// A generated type.
    Named(String),
    /// `Vec`.
    Vec(Box<TypeRef>),
    /// `Map`.
    Map(Box<TypeRef>),
    /// A value or null.
    Nullable(Box<TypeRef>),
}

/// One method.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MethodDef {
    /// The name on the wire.
    pub wire: String,
    /// Marker and variant name.
    pub name: String,
    /// Whether it is a notification.
    pub notification: bool,
    /// Type of the params.
    pub params: TypeRef,
    /// Type of the result, an outcome union if there are several; `None` for notifications.
    pub result: Option<TypeRef>,
    /// The rules of each revision that has the method, by index.
    pub rules: BTreeMap<usize, MethodRules>,
}

/// The rules for a method at one revision.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MethodRules {
    /// The client may send it.
    pub from_client: bool,
    /// The server may send it.
    pub from_server: bool,
    /// The capability that it requires.
    pub capability: Option<String>,
    /// Params member mirrored in a header.
    pub header_name: Option<String>,
    /// Whether the result may be a request for input.
    pub input_required: bool,
    /// Whether `params` must be present.
    pub params_required: bool,
    /// The definitions of the possible results.
    pub results: Vec<String>,
}

impl Model {
    /// Returns `known` as text: `Since 2025-06-18.`, `Only in 2025-11-25.`; empty if all revisions have it.
    #[must_use]
    pub fn period(&self, known: Bits) -> String {
        let last = self.revisions.len() - 1;
        let first = (0..=last).find(|r| known.has(*r)).unwrap_or(0);
        let end = (0..=last).rev().find(|r| known.has(*r)).unwrap_or(last);
        let gap = (first..=end).any(|r| !known.has(r));
        let name = |r: usize| &self.revisions[r];
        match (first, end) {
            _ if gap => format!(
                "In {}.",
                (0..=last)
                    .filter(|r| known.has(*r))
                    .map(|r| name(r).clone())
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            (0, end) if end == last => String::new(),
            (first, end) if first == end => format!("Only in {}.", name(first)),
            (0, end) => format!("Until {}.", name(end)),
            (first, end) if end == last => format!("Since {}.", name(first)),
            (first, end) => format!("From {} to {}.", name(first), name(end)),
        }
    }

    /// Returns the type `name`, of this module or used from the core.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&TypeDef> {
        self.types.get(name).or_else(|| self.external.get(name))
    }
}

impl TypeDef {
    /// Calls `visit` with every use of a type in this one.
    pub fn each_ref(&self, visit: &mut dyn FnMut(&TypeRef)) {
        match &self.shape {
            Shape::Struct { fields } => fields.iter().for_each(|field| visit(&field.ty)),
            Shape::Union { variants, .. } => variants.iter().for_each(|variant| visit(&variant.ty)),
            Shape::Enum { .. } => {}
        }
    }
}

impl TypeRef {
    /// Returns the generated type inside, if there is one.
    #[must_use]
    pub fn named(&self) -> Option<&str> {
        match self {
            Self::Named(name) => Some(name),
            Self::Vec(inner) | Self::Map(inner) | Self::Nullable(inner) => inner.named(),
            Self::Bool
            | Self::Integer
            | Self::Number
            | Self::String
            | Self::Constant(_)
            | Self::Leaf(_) => None,
        }
    }
}
