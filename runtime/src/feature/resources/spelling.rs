//! URIs that differ in their percent-encoding alone, so that what is hidden under one of them is not found under another.

use std::{collections::HashSet, iter};

use super::{items::StaticResource, template::digit};
use crate::feature::{
    listing::{Entry, Item, Listing, sees},
    visibility::Sight,
};

/// The bytes that `uri` stands for. A malformed escape stands for itself.
fn bytes(uri: &str) -> impl Iterator<Item = u8> {
    let mut rest = uri.as_bytes();
    iter::from_fn(move || {
        let [first, after @ ..] = rest else {
            return None;
        };
        let escaped = match (first, after) {
            (b'%', [high, low, after @ ..]) => {
                let digits = digit(*high).zip(digit(*low));
                digits.map(|(high, low)| (high << 4 | low, after))
            }
            _ => None,
        };
        let (byte, after) = escaped.unwrap_or((*first, after));
        rest = after;
        Some(byte)
    })
}

/// The text that `uri` stands for; `None` if it encodes nothing, or bytes that are not UTF-8.
pub(super) fn decoded_uri(uri: &str) -> Option<String> {
    let bytes = uri.contains('%').then(|| bytes(uri).collect())?;
    String::from_utf8(bytes).ok()
}

fn is_hidden(entry: &Entry<StaticResource>, sight: Option<&Sight<'_>>) -> bool {
    !entry.mark.enabled || sight.is_some_and(|sight| !sees(sight, &entry.item))
}

/// Whether everyone with `sight` reads all of `listing`.
fn is_open(listing: &Listing<StaticResource>, sight: Option<&Sight<'_>>) -> bool {
    sight.is_none() && !listing.has_disabled()
}

/// Whether `listing` has a resource of the URI `uri`, however either is encoded, that a caller with `sight` does not see. Takes time
/// in proportion to the number of resources if some are hidden from somebody.
pub(super) fn hides(
    listing: &Listing<StaticResource>,
    uri: &str,
    sight: Option<&Sight<'_>>,
) -> bool {
    let is_meant = |entry: &&Entry<StaticResource>| bytes(entry.item.name()).eq(bytes(uri));
    let mut meant = listing.entries().iter().filter(is_meant);
    !is_open(listing, sight) && meant.any(|entry| is_hidden(entry, sight))
}

/// The URIs of the resources that a caller does not see.
pub(super) struct Hidden(HashSet<Vec<u8>>);

impl Hidden {
    /// Those of `listing`; `None` if the caller sees all of them.
    pub(super) fn of(listing: &Listing<StaticResource>, sight: Option<&Sight<'_>>) -> Option<Self> {
        if is_open(listing, sight) {
            return None;
        }
        let hidden = listing.entries().iter();
        let hidden = hidden.filter(|entry| is_hidden(entry, sight));
        let hidden: HashSet<_> = hidden
            .map(|entry| bytes(entry.item.name()).collect())
            .collect();
        (!hidden.is_empty()).then_some(Self(hidden))
    }

    /// Whether `uri` is one of them, however it is encoded.
    pub(super) fn contains(&self, uri: &str) -> bool {
        self.0.contains(&bytes(uri).collect::<Vec<_>>())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // J-6
    #[test]
    fn encodings_of_one_uri() {
        for (one, other, same) in [
            ("x:/a", "x:/a", true),
            ("x:/a", "x:/%61", true),
            ("x:/%2c", "x:/,", true),
            ("x:/%C3%A9", "x:/%c3%a9", true),
            ("x:/%2561", "x:/%61", false),
            ("x:/%2561", "x:/a", false),
            ("x:/a", "x:/A", false),
            ("x:/%ZZ", "x:/%ZZ", true),
            ("x:/%", "x:/%25", true),
            ("x:/a", "x:/ab", false),
        ] {
            assert_eq!(bytes(one).eq(bytes(other)), same, "{one} {other}");
        }
    }
}
