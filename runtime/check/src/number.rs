//! Exact arithmetic on JSON numbers: order, integrality and divisibility without losing integers above 2^53.
//!
//! Knows only `serde_json::Number`. Integral floats and integers are one kind of number here, as in JSON Schema.

use std::{cmp::Ordering, fmt};

use serde_json::Number;

/// A JSON number with one representation per value: integral values below 10^38 are `Int`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Num {
    Int(i128),
    Float(f64),
}

/// 2^53. A float of a smaller magnitude represents only one integer. This float is also read from the text `9007199254740993.0`.
pub(super) const EXACT: f64 = 9_007_199_254_740_992.0;

/// Integral floats below this fit an `i128`; those above stay floats.
const LARGEST_INT: f64 = 1e38;

impl Num {
    pub(super) fn of(number: &Number) -> Self {
        if let Some(int) = number.as_i64() {
            return Self::Int(i128::from(int));
        }
        if let Some(int) = number.as_u64() {
            return Self::Int(i128::from(int));
        }
        // `None` needs serde_json's `arbitrary_precision` and a number beyond f64. It is treated as larger than all numbers.
        Self::of_f64(number.as_f64().unwrap_or(f64::MAX))
    }

    pub(super) fn of_f64(float: f64) -> Self {
        if float.fract() == 0.0 && float.abs() < LARGEST_INT {
            return Self::Int(float as i128);
        }
        Self::Float(float)
    }

    pub(super) fn is_integral(self) -> bool {
        match self {
            Self::Int(_) => true,
            Self::Float(float) => float.fract() == 0.0,
        }
    }

    pub(super) fn order(self, other: Self) -> Ordering {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => a.cmp(&b),
            (Self::Float(a), Self::Float(b)) => a.partial_cmp(&b).unwrap_or(Ordering::Equal),
            (Self::Int(a), Self::Float(b)) => int_against_float(a, b),
            (Self::Float(a), Self::Int(b)) => int_against_float(b, a).reverse(),
        }
    }

    /// Checks divisibility in decimal, so that 0.3 is a multiple of 0.1.
    pub(super) fn is_multiple_of(self, divisor: Self) -> bool {
        if let (Self::Int(value), Self::Int(divisor)) = (self, divisor) {
            return value.checked_rem(divisor) == Some(0);
        }
        let value = Decimal::of(self);
        let divisor = Decimal::of(divisor);
        if value.digits == 0 || divisor.digits == 0 {
            return divisor.digits != 0;
        }
        match value.exponent.checked_sub(divisor.exponent) {
            Some(up) if 0 <= up => {
                let mut rest = value.digits % divisor.digits;
                for _ in 0..up {
                    match rest.checked_mul(10) {
                        Some(0) => return true,
                        Some(wide) => rest = wide % divisor.digits,
                        // Only a divisor above 10^37 gets here; it has no exact decimal meaning as a float.
                        None => return false,
                    }
                }
                rest == 0
            }
            Some(down) => power_of_ten(down.unsigned_abs())
                .and_then(|scale| divisor.digits.checked_mul(scale))
                .is_some_and(|scaled| value.digits.is_multiple_of(scaled)),
            None => false,
        }
    }
}

impl fmt::Display for Num {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(int) => int.fmt(f),
            Self::Float(float) => write!(f, "{float:?}"),
        }
    }
}

/// Compares an integer with a float. `float` is not integral or beyond `LARGEST_INT`, so equality is impossible.
fn int_against_float(int: i128, float: f64) -> Ordering {
    if LARGEST_INT <= float.abs() {
        return if 0.0 < float {
            Ordering::Less
        } else {
            Ordering::Greater
        };
    }
    if int <= float.floor() as i128 {
        Ordering::Less
    } else {
        Ordering::Greater
    }
}

fn power_of_ten(exponent: u32) -> Option<u128> {
    10_u128.checked_pow(exponent)
}

/// The magnitude `digits * 10^exponent`.
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn of(num: Num) -> Self {
        match num {
            Num::Int(int) => Self {
                digits: int.unsigned_abs(),
                exponent: 0,
            },
            Num::Float(float) => Self::of_float(float.abs()),
        }
    }

    /// Uses `{:e}`, which prints the shortest digits that parse to the same float. These are the digits that the author wrote.
    fn of_float(float: f64) -> Self {
        let text = format!("{float:e}");
        let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
        let digits = format!("{whole}{fraction}").parse().unwrap_or(0);
        let shift = i32::try_from(fraction.len()).unwrap_or(0);
        Self {
            digits,
            exponent: exponent.parse::<i32>().unwrap_or(0) - shift,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn num(text: &str) -> Num {
        Num::of(&text.parse::<Number>().expect("a number"))
    }

    #[test]
    fn order_is_exact() {
        let sorted = [
            "-1e300",
            "-9223372036854775808",
            "-2.5",
            "-2",
            "-0.5",
            "0",
            "0.5",
            "1",
            "1.5",
            "9007199254740992",
            "9007199254740993",
            "9223372036854775807",
            "9223372036854775808",
            "18446744073709551615",
            "1e30",
            "1e300",
        ];
        for (i, a) in sorted.iter().enumerate() {
            for (j, b) in sorted.iter().enumerate() {
                assert_eq!(num(a).order(num(b)), i.cmp(&j), "{a} against {b}");
            }
        }
        assert_eq!(num("-0.0"), num("0"));
        assert_eq!(num("1.0"), num("1"));
    }

    #[test]
    fn divisibility_is_decimal() {
        for (value, divisor, expected) in [
            ("0.3", "0.1", true),
            ("4.02", "0.01", true),
            ("1.05", "0.1", false),
            ("0", "0.1", true),
            ("0.0", "3", true),
            ("7", "2", false),
            ("8", "2", true),
            ("4.5", "1.5", true),
            ("3", "1.5", true),
            ("1e300", "0.1", true),
            ("1e-300", "0.1", false),
            ("0.1", "1e-300", true),
            ("1e308", "0.123456789", false),
            ("9007199254740993", "2", false),
            ("18446744073709551615", "5", true),
            ("-0.75", "0.25", true),
        ] {
            assert_eq!(
                num(value).is_multiple_of(num(divisor)),
                expected,
                "{value} by {divisor}"
            );
        }
    }
}
