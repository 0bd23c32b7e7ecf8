//! `overlay.toml` as typed data: the facts that a JSON schema cannot express.
//!
//! A position is written `Type.member`; `[]` stands for the items of an array and `{}` for the values of a map at it.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Overlay {
    /// The first revision of the modern era.
    pub modern_since: String,
    /// Faults of official files.
    pub correct: Vec<Correction>,
    /// Definitions that hand-written types replace: `Json`, `JsonObject`, `RequestId`.
    pub definitions: BTreeMap<String, String>,
    /// Positions that hand-written types replace.
    pub leaves: BTreeMap<String, String>,
    /// Rust names of types that have no usable name in the schemas, by position.
    pub names: BTreeMap<String, String>,
    /// Definitions that older revisions name differently: `Name@revision` to the names they are merged as.
    pub aliases: BTreeMap<String, Vec<String>>,
    /// Positions left out of the model, each with the reason.
    pub drop: BTreeMap<String, String>,
    /// Rust names of members, by JSON name.
    pub fields: BTreeMap<String, String>,
    /// Members that are constants although the schema says only `string`: JSON name to value, `*` for any type.
    pub constants: BTreeMap<String, BTreeMap<String, String>>,
    /// Raw JSON written at a revision that requires the member when the author set none, by JSON name.
    pub defaults: BTreeMap<String, String>,
    /// How the variants of a union are distinguished, by type name.
    pub unions: BTreeMap<String, UnionRule>,
    /// Types to generate although no method reaches them: name to definition pointers.
    pub roots: BTreeMap<String, Vec<String>>,
    /// Facts about methods that the schemas lack, by wire name.
    pub methods: BTreeMap<String, MethodFacts>,
    /// The same for each extension.
    pub extensions: BTreeMap<String, Extension>,
}

/// A fault of official files and its correction. It replaces a value, or adds a missing member. A correction that does not apply is an error.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Correction {
    /// The reason, in the words of this project.
    pub why: String,
    /// The revisions or `extension:NAME` that have the fault.
    pub files: Vec<String>,
    /// JSON pointer to the wrong or missing value.
    pub pointer: String,
    /// The value that must be there. `None` if `pointer` names a member to add to an object.
    pub expect: Option<Value>,
    /// The corrected value.
    pub set: Value,
}

/// How the variants of one union are distinguished.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct UnionRule {
    /// By the constant value of this member.
    pub tag: Option<String>,
    /// The member type if the tag is absent.
    pub absent: Option<String>,
    /// By the first of these members to be present.
    pub present: BTreeMap<String, String>,
    /// By the JSON type of the value.
    pub json: bool,
    /// One item of this union, or an array of them.
    pub many: Option<String>,
    /// All members as one struct, because the variants differ only in their required members.
    pub collapse: bool,
    /// By the first case that holds.
    pub cases: Vec<Case>,
    /// Suffix to strip from member type names for variant names.
    pub strip: String,
    /// Variant names by member type.
    pub variants: BTreeMap<String, String>,
    /// Member types that are written in another form at revisions that lack them; each has a hand-written `Rewrite`.
    pub rewritten: Vec<String>,
}

/// One case of [`UnionRule::cases`]; a case without conditions always holds.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Case {
    /// The member type.
    pub variant: String,
    /// Members that must have one of these string values.
    pub tags: BTreeMap<String, Vec<String>>,
    /// Members that must be present.
    pub has: Vec<String>,
}

/// Facts about one method.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct MethodFacts {
    /// Marker name, if the name of the definition is taken or unsuitable.
    pub name: Option<String>,
    /// Capability that gates it; `name@revision` limits it to the revision and later ones.
    pub capability: Option<String>,
    /// Params member that the modern HTTP transport mirrors in `Mcp-Name`.
    pub header_name: Option<String>,
    /// `client-to-server`, `server-to-client` or `both`, if no union of the schema determines it.
    pub direction: Option<String>,
    /// Further results by revision.
    pub results: BTreeMap<String, Vec<String>>,
}

/// An extension: its own module over the types of one revision.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Extension {
    /// Identifier in `capabilities.extensions`.
    pub identifier: String,
    /// The revision it extends.
    pub revision: String,
    /// Older revisions that have it too.
    pub older: Vec<String>,
    /// Whether clients declare it, and are served only if they did; the default is that they do.
    pub client_declares: Option<bool>,
    /// As in [`Overlay::names`].
    pub names: BTreeMap<String, String>,
    /// As in [`Overlay::unions`].
    pub unions: BTreeMap<String, UnionRule>,
    /// As in [`Overlay::roots`].
    pub roots: BTreeMap<String, Vec<String>>,
    /// As in [`Overlay::methods`].
    pub methods: BTreeMap<String, MethodFacts>,
    /// Results of core methods that the extension adds to: union name to the definitions it may be.
    pub outcomes: BTreeMap<String, Vec<String>>,
    /// Keywords of the schema that the bindings cannot check and that are read as annotations, such as `pattern`.
    pub unchecked: Vec<String>,
}
