//! Run-time information on each generated type: the revisions that have it and its members, and those that require the
//! members. The table is generated: [`TYPES`](crate::TYPES).

use crate::Revisions;

/// One generated type.
///
/// ```
/// use trueform_schema::{Revision, TYPES, types};
///
/// let tool = types::find(TYPES, "Tool").unwrap();
/// let title = tool.member("title").unwrap();
/// assert!(!title.known.contains(Revision::V2025_03_26));
/// assert!(title.known.contains(Revision::V2025_06_18));
/// assert!(title.required.is_empty());
/// ```
#[derive(Clone, Copy, Debug)]
pub struct TypeInfo {
    name: &'static str,
    kind: TypeKind,
    known: u8,
    members: &'static [(&'static str, u8, u8)],
}

/// Kind of a generated type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TypeKind {
    /// An object; its members are those of the object.
    Struct,
    /// One of several types; its members are the variants, by their Rust names.
    Union,
    /// A string; its members are the values.
    Enum,
}

/// A member of an object, a variant of a union, or a value of an enumeration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct MemberInfo {
    /// The name on the wire, or the Rust name of a variant.
    pub name: &'static str,
    /// The revisions that have it.
    pub known: Revisions,
    /// The revisions that require it.
    pub required: Revisions,
}

impl TypeInfo {
    /// Used by generated code.
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        name: &'static str,
        kind: TypeKind,
        known: u8,
        members: &'static [(&'static str, u8, u8)],
    ) -> Self {
        Self {
            name,
            kind,
            known,
            members,
        }
    }

    /// Returns the name, which is that of the Rust type.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the kind of the type.
    #[must_use]
    pub const fn kind(&self) -> TypeKind {
        self.kind
    }

    /// Returns the revisions in which a message can contain it.
    #[must_use]
    pub const fn known(&self) -> Revisions {
        Revisions::from_bits(self.known)
    }

    /// Its members in order.
    #[must_use]
    pub fn members(&self) -> impl ExactSizeIterator<Item = MemberInfo> + use<> {
        self.members
            .iter()
            .map(|(name, known, required)| MemberInfo {
                name,
                known: Revisions::from_bits(*known),
                required: Revisions::from_bits(*required),
            })
    }

    /// Returns the member `name`.
    #[must_use]
    pub fn member(&self, name: &str) -> Option<MemberInfo> {
        self.members().find(|member| member.name == name)
    }
}

/// Finds the type `name` in a table such as [`TYPES`](crate::TYPES), which is sorted by name.
#[must_use]
pub fn find<'a>(table: &'a [TypeInfo], name: &str) -> Option<&'a TypeInfo> {
    let at = table.binary_search_by(|ty| ty.name.cmp(name)).ok()?;
    table.get(at)
}
