//! The types of arguments that need no check, because decoding refuses everything that their schema refuses.
//!
//! The list is closed, because another type cannot be recognised as plain: its schema and its `Deserialize` may be written by hand, and
//! what serde derives is less strict than the schema in many places. For example, it accepts arrays for structs, and a flattened `Option`
//! drops what it cannot read.

use std::any::TypeId;

/// Returns whether `T` is on the list: `bool`, the integers of 8 to 64 bits, `String`, and `Option` and `Vec` of one of them.
pub(crate) fn is_plain<T: 'static>() -> bool {
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

#[cfg(test)]
mod tests {
    use std::{cell::Cell, fmt::Debug};

    use proptest::{
        prelude::*,
        sample::select,
        test_runner::{Config, RngSeed, TestRunner},
    };
    use schemars::JsonSchema;
    use serde::{Serialize, de::DeserializeOwned};
    use serde_json::Value;

    use super::{
        super::{
            input::{Enforced, InputSchema},
            parameter::Parameter,
        },
        *,
    };
    use crate::{
        check::{CompileOptions, Schema},
        lint::{Position, Profile},
    };

    const CASES: u32 = 600;

    /// JSON texts of the kinds that matter here: numbers in all spellings around all bounds, and values that are not numbers.
    fn scalar() -> impl Strategy<Value = String> {
        let bounds = select(vec![
            0,
            1 << 7,
            1 << 8,
            1 << 15,
            1 << 16,
            1 << 31,
            1 << 32,
            1 << 53,
            1 << 63,
            1_i128 << 64,
        ]);
        let near = (bounds, -2..=2_i128, any::<bool>()).prop_map(|(bound, off, negative)| {
            let number = bound + off;
            if negative { -number } else { number }
        });
        let integer =
            prop_oneof![4 => near, 2 => any::<i64>().prop_map(i128::from), 2 => -300..300_i128];
        let spelled = (integer, 0..6_u8).prop_map(|(number, spelling)| match spelling {
            0 => format!("{number}.0"),
            1 => format!("{number}e0"),
            2 => format!("{number}.5"),
            3 => format!("{number}0E-1"),
            _ => number.to_string(),
        });
        let double = any::<f64>()
            .prop_filter("JSON has only finite numbers", |double| double.is_finite())
            .prop_map(|double| format!("{double:?}"));
        prop_oneof![
            6 => spelled,
            1 => double,
            3 => select(vec!["true", "false", "null", "\"text\""]).prop_map(str::to_owned),
            2 => select(vec![
                "null", "true", "false", "-0", "-0.0", "1e400", "{}", "[]", r#"{"a":1}"#, r#""3""#, r#""true""#,
                r#""""#, r#""\u00e9\n""#, r#""\ud83d\ude00""#,
            ])
            .prop_map(str::to_owned),
            1 => "[ -~]{0,8}".prop_map(|text| Value::from(text).to_string()),
        ]
    }

    fn text() -> impl Strategy<Value = String> {
        let list = proptest::collection::vec(scalar(), 0..4)
            .prop_map(|items| format!("[{}]", items.join(",")));
        prop_oneof![3 => scalar(), 1 => list]
    }

    /// Returns whether `value` has a number that JSON Schema calls an integer and that may not fit into 64 bits: an integral float from
    /// ±2^53 on, or an integer beyond `least` to `greatest`.
    fn is_an_exception(value: &Value, least: i128, greatest: i128) -> bool {
        match value {
            Value::Array(items) => items
                .iter()
                .any(|item| is_an_exception(item, least, greatest)),
            Value::Number(number) => match number.as_i128() {
                Some(integer) => !(least..=greatest).contains(&integer),
                None => number.as_f64().is_some_and(|double| {
                    double.fract() == 0.0 && 9_007_199_254_740_992.0 <= double.abs()
                }),
            },
            _ => false,
        }
    }

    fn decoded<T: DeserializeOwned + Serialize>(text: &str) -> Option<Value> {
        let value: T = serde_json::from_str(text).ok()?;
        Some(serde_json::to_value(value).expect("plain types are JSON"))
    }

    /// Checks that serde and the schema check agree on texts for `T`; `range` is the range of integers whose schema has no bounds.
    fn same_verdict<T>(range: Option<(i128, i128)>)
    where
        T: DeserializeOwned + Serialize + JsonSchema + Debug + 'static,
    {
        let mut input = InputSchema::new();
        input.parameter("a", "", <T as Parameter<_>>::describe);
        let input = input.finish();
        assert!(matches!(input.enforced, Enforced::Decoded));
        let advertised = Value::Object(input.schema);
        let counts = [Cell::new(0_u32), Cell::new(0)];
        for profile in [Profile::AsWritten, Profile::Portable] {
            // Null in place of an optional argument is accepted, and not advertised.
            let checked = profile.apply(&advertised, Position::Output);
            let property = checked["properties"]["a"].clone();
            let schema = Schema::compile(&property, CompileOptions::default()).expect("a schema");
            let mut runner = TestRunner::new(Config {
                cases: CASES,
                failure_persistence: None,
                rng_seed: RngSeed::Fixed(8),
                ..Config::default()
            });
            let run = runner.run(&text(), |text| {
                let checked = schema.check_str(&text).is_ok();
                // As in a call: integral floats become integers if the schema requires integers.
                let mended = || {
                    let mut value: Value = serde_json::from_str(&text).ok()?;
                    schema.normalise_integral_floats(&mut value);
                    decoded::<T>(&value.to_string())
                };
                let read = decoded::<T>(&text).or_else(mended);
                counts[usize::from(checked)].update(|count| count + 1);
                let expected = checked
                    && !range.is_some_and(|(least, greatest)| {
                        let value = serde_json::from_str(&text).expect("it was checked");
                        is_an_exception(&value, least, greatest)
                    });
                prop_assert_eq!(read.is_some(), expected, "{} against {}", text, property);
                if let Some(read) = read {
                    let sent: Value = serde_json::from_str(&text).expect("it was read");
                    let same = Schema::compile(
                        &serde_json::json!({ "const": sent }),
                        CompileOptions::default(),
                    );
                    prop_assert!(
                        same.expect("a schema").accepts(&read),
                        "{} became {}",
                        text,
                        read
                    );
                }
                Ok(())
            });
            run.unwrap_or_else(|error| panic!("{}: {error}", std::any::type_name::<T>()));
        }
        let [refused, accepted] = counts.map(|count| count.get());
        assert!(
            20 < refused && 20 < accepted,
            "one-sided: {refused} {accepted}"
        );
    }

    /// The requirement of the issue on typed arguments: the listed exceptions are integral floats from 2^53 on, and integers beyond the
    /// type of the field.
    #[test]
    fn serde_and_check_agree_on_the_list() {
        macro_rules! agree {
            ($($plain:ty: $range:expr),* $(,)?) => {$(
                same_verdict::<$plain>($range);
                same_verdict::<Option<$plain>>($range);
                same_verdict::<Vec<$plain>>($range);
            )*};
        }
        agree! {
            bool: None,
            i8: None,
            i16: None,
            i32: None,
            i64: Some((i64::MIN.into(), i64::MAX.into())),
            u8: None,
            u16: None,
            u32: None,
            u64: Some((0, u64::MAX.into())),
            String: None,
        }
    }

    #[test]
    fn nothing_else_is_on_the_list() {
        #[expect(dead_code, reason = "only its type is used")]
        struct Alike(String);

        type Alias = i64;
        assert!(is_plain::<Alias>() && is_plain::<Option<Alias>>() && is_plain::<Vec<String>>());
        let others = [
            is_plain::<Alike>(),
            is_plain::<Option<Alike>>(),
            is_plain::<f32>(),
            is_plain::<f64>(),
            is_plain::<i128>(),
            is_plain::<u128>(),
            is_plain::<isize>(),
            is_plain::<usize>(),
            is_plain::<char>(),
            is_plain::<Box<str>>(),
            is_plain::<Value>(),
            is_plain::<(i64, i64)>(),
            is_plain::<[i64; 2]>(),
            is_plain::<Vec<Vec<i64>>>(),
            is_plain::<Option<Vec<i64>>>(),
            is_plain::<Vec<Option<i64>>>(),
        ];
        assert_eq!(others, [false; 16]);
    }
}
