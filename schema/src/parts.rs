//! Visits every part of a value, for checks that must also cover the parts that a later revision adds.
//!
//! A hand-written match over the kinds of content could miss a new kind. The visits are generated, so they reach every kind.

use crate::Map;

/// A part of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Part<'a> {
    /// A member that is set, or an alternative, that some revision of the type lacks. The names are those of the
    /// [`projection`](crate::projection).
    Item {
        /// The type: `ResourceLink`.
        of: &'static str,
        /// The member by its name on the wire, or the variant by its Rust name: `icons`.
        item: &'static str,
    },
    /// A key of a `_meta` that the protocol does not define.
    MetaKey(&'a str),
}

/// A value whose parts can be visited. Generated for the types that results hold, if they have such parts.
///
/// ```
/// use trueform_schema::{ContentBlock, Json, Meta, TextContent, parts::{Part, Parts}};
///
/// let mut meta = Meta::new();
/// meta.insert("com.example/shade", Json::null());
/// let block = ContentBlock::Text(TextContent::new("5").with_meta(meta));
/// let mut found = Vec::new();
/// block.each_part(&mut |part| found.push(part));
/// assert_eq!(
///     found,
///     [Part::Item { of: "TextContent", item: "_meta" }, Part::MetaKey("com.example/shade")]
/// );
/// ```
pub trait Parts {
    /// Calls `visit` with every part of the value and of the values inside it.
    fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>));
}

impl<T: Parts> Parts for Option<T> {
    fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        self.iter().for_each(|value| value.each_part(visit));
    }
}

impl<T: Parts + ?Sized> Parts for Box<T> {
    fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        (**self).each_part(visit);
    }
}

impl<T: Parts> Parts for Vec<T> {
    fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        self.iter().for_each(|value| value.each_part(visit));
    }
}

impl<T: Parts> Parts for Map<T> {
    fn each_part<'a>(&'a self, visit: &mut dyn FnMut(Part<'a>)) {
        self.iter().for_each(|(_, value)| value.each_part(visit));
    }
}
