//! Equality of JSON values as JSON Schema defines it: numbers are compared by value, and the order of members is ignored. Also finds equal
//! items.

use std::hash::{BuildHasher, Hash, Hasher, RandomState};

use serde_json::Value;

use super::number::Num;

/// Below this, comparing all pairs is cheaper than hashing.
const PAIRWISE: usize = 12;

pub(super) fn equal(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Null, Value::Null) => true,
        (Value::Bool(a), Value::Bool(b)) => a == b,
        (Value::Number(a), Value::Number(b)) => Num::of(a) == Num::of(b),
        (Value::String(a), Value::String(b)) => a == b,
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| equal(a, b))
        }
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len()
                && a.iter()
                    .all(|(name, a)| b.get(name).is_some_and(|b| equal(a, b)))
        }
        _ => false,
    }
}

/// Returns the number of values in `value`, including itself.
pub(super) fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.values().map(size).sum::<u64>(),
        _ => 1,
    }
}

/// Returns the first item that equals an earlier one, as (earlier, later).
pub(super) fn first_repeat(items: &[Value]) -> Option<(usize, usize)> {
    if items.len() <= PAIRWISE {
        return items.iter().enumerate().find_map(|(later, item)| {
            let earlier = items[..later].iter().position(|other| equal(other, item))?;
            Some((earlier, later))
        });
    }
    // The hash has a key, so a peer cannot choose items that collide.
    let keys = RandomState::new();
    let mut hashes: Vec<(u64, usize)> = (0..)
        .zip(items)
        .map(|(i, item)| (hash_of(&keys, item), i))
        .collect();
    hashes.sort_unstable();
    let same_hash = hashes
        .chunk_by(|a, b| a.0 == b.0)
        .filter(|run| 1 < run.len());
    same_hash
        .filter_map(|run| {
            (1..run.len()).find_map(|later| {
                let later_item = run[later].1;
                let mut earlier = run[..later].iter().map(|&(_, i)| i);
                let earlier =
                    earlier.find(|&earlier| equal(&items[earlier], &items[later_item]))?;
                Some((earlier, later_item))
            })
        })
        .min_by_key(|&(_, later)| later)
}

fn hash_of(keys: &RandomState, value: &Value) -> u64 {
    let mut hasher = keys.build_hasher();
    match value {
        Value::Null => 0_u8.hash(&mut hasher),
        Value::Bool(value) => value.hash(&mut hasher),
        Value::Number(number) => match Num::of(number) {
            Num::Int(int) => int.hash(&mut hasher),
            Num::Float(float) => float.to_bits().hash(&mut hasher),
        },
        Value::String(text) => text.hash(&mut hasher),
        Value::Array(items) => {
            items.len().hash(&mut hasher);
            for item in items {
                hash_of(keys, item).hash(&mut hasher);
            }
        }
        Value::Object(members) => {
            let sum = members.iter().fold(0_u64, |sum, (name, value)| {
                sum.wrapping_add(keys.hash_one((name, hash_of(keys, value))))
            });
            sum.hash(&mut hasher);
        }
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_by_value_and_members_in_any_order() {
        assert!(equal(
            &json!({"a": 1, "b": [2.0]}),
            &json!({"b": [2], "a": 1.0})
        ));
        assert!(!equal(
            &json!(9_007_199_254_740_993_u64),
            &json!(9_007_199_254_740_992_u64)
        ));
        assert!(!equal(&json!(0), &json!(false)));
        assert!(!equal(&json!({"a": null}), &json!({"b": null})));
    }

    #[test]
    fn repeats_in_short_and_long_arrays() {
        assert_eq!(
            first_repeat(&[json!(1), json!("1"), json!(1.0)]),
            Some((0, 2))
        );
        let mut items: Vec<Value> = (0..1000).map(|i| json!({"i": i, "x": [i]})).collect();
        assert_eq!(first_repeat(&items), None);
        items.push(json!({"x": [500.0], "i": 500}));
        assert_eq!(first_repeat(&items), Some((500, 1000)));
    }
}
