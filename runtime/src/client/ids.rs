//! A hasher for the ids of a client's own requests. The client numbers them itself, so no peer can make ids collide on purpose.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps whose keys are ids that this client has made.
pub(super) type OwnIds = BuildHasherDefault<IdHasher>;

/// Spreads numbers over all bits.
#[derive(Debug, Default)]
pub(super) struct IdHasher(u64);

/// 2^64 divided by the golden ratio.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for IdHasher {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64((*byte).into());
        }
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(SPREAD);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn write_i64(&mut self, number: i64) {
        self.write_u64(number.cast_unsigned());
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use trueform_schema::RequestId;

    use super::*;

    #[test]
    fn equal_ids_hash_alike_and_others_differ() {
        let hash = |id: &RequestId| OwnIds::default().hash_one(id);
        let one: RequestId = serde_json::from_str("1.0").unwrap();
        assert_eq!(hash(&one), hash(&RequestId::from(1)));
        let ids = (1..1000)
            .map(RequestId::from)
            .chain(["1", "x"].map(RequestId::from));
        let hashes: Vec<u64> = ids.map(|id| hash(&id)).collect();
        // A table takes both ends of a hash.
        let distinct = |shift: u32, mask: u64| {
            let parts: std::collections::HashSet<_> =
                hashes.iter().map(|hash| (hash >> shift) & mask).collect();
            parts.len()
        };
        assert_eq!(distinct(0, u64::MAX), hashes.len());
        assert!(distinct(0, 0xfff) > 700, "{}", distinct(0, 0xfff));
        assert_eq!(distinct(57, 0x7f), 128);
    }
}
