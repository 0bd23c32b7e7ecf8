//! The types of arguments that need no check, because decoding them refuses whatever their schema does.
//!
//! A closed list of types, because nothing that can be seen of another type says so: its schema and its `Deserialize` may be
//! written by hand, and what serde derives is laxer than the schema in many places. It takes arrays for structs, and a flattened
//! `Option` drops what it cannot read.

use std::any::TypeId;

/// Whether `T` is on the list: `bool`, the integers of 8 to 64 bits, `String`, and `Option` and `Vec` of one of them.
pub(super) fn is_plain<T: 'static>() -> bool {
    macro_rules! listed {
        ($($plain:ty)*) => {
            [$(
                TypeId::of::<$plain>(),
                TypeId::of::<Option<$plain>>(),
                TypeId::of::<Vec<$plain>>(),
            )*]
        };
    }
    let list = listed!(bool i8 i16 i32 i64 u8 u16 u32 u64 String);
    list.contains(&TypeId::of::<T>())
}
