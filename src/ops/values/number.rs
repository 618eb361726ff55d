//! A number out of an array, as exact as it stands there.

use std::fmt;

use serde::{Serialize, Serializer};

/// A number out of an array, exact.
///
/// It is shown and serialized with the fewest digits that tell it from all others of its type; integers
/// beyond 64 bits are serialized as text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// A signed integer.
    Int(i128),
    /// An unsigned integer.
    UInt(u128),
    /// A float of 4 bytes or fewer.
    Float32(f32),
    /// A float of 8 bytes, or the magnitude of a complex number.
    Float64(f64),
}

impl Number {
    /// The nearest float.
    #[expect(
        clippy::cast_precision_loss,
        reason = "the nearest float of an integer is what is asked for"
    )]
    pub fn to_f64(self) -> f64 {
        match self {
            Self::Int(number) => number as f64,
            Self::UInt(number) => number as f64,
            Self::Float32(number) => number.into(),
            Self::Float64(number) => number,
        }
    }

    /// The lesser of two of one type.
    pub(super) fn least(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.min(b)),
            (Self::UInt(a), Self::UInt(b)) => Self::UInt(a.min(b)),
            (a, b) => {
                if b.to_f64() < a.to_f64() {
                    b
                } else {
                    a
                }
            }
        }
    }

    /// The greater of two of one type.
    pub(super) fn greatest(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a), Self::Int(b)) => Self::Int(a.max(b)),
            (Self::UInt(a), Self::UInt(b)) => Self::UInt(a.max(b)),
            (a, b) => {
                if b.to_f64() > a.to_f64() {
                    b
                } else {
                    a
                }
            }
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::UInt(number) => number.fmt(f),
            // Debug changes to exponents where Display would write hundreds of digits.
            Self::Float32(number) => f.pad(&short(&format!("{number:?}"))),
            Self::Float64(number) => f.pad(&short(&format!("{number:?}"))),
        }
    }
}

/// Without the `.0` of whole numbers.
fn short(text: &str) -> String {
    text.strip_suffix(".0").unwrap_or(text).to_owned()
}

impl Serialize for Number {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Int(number) => match i64::try_from(*number) {
                Ok(number) => serializer.serialize_i64(number),
                Err(_) => serializer.collect_str(number),
            },
            Self::UInt(number) => match u64::try_from(*number) {
                Ok(number) => serializer.serialize_u64(number),
                Err(_) => serializer.collect_str(number),
            },
            // The shortest digits, as a float that has them too.
            Self::Float32(number) => {
                let short = number.to_string().parse().unwrap_or_else(|_| f64::from(*number));
                serializer.serialize_f64(short)
            }
            Self::Float64(number) => serializer.serialize_f64(*number),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_as_short_as_they_can_be() {
        let cases = [
            (Number::Float32(0.1), "0.1"),
            (Number::Float64(0.1 + 0.2), "0.30000000000000004"),
            (Number::Float64(5.0), "5"),
            (Number::Float64(-1e300), "-1e300"),
            (Number::Int(i128::MIN), "-170141183460469231731687303715884105728"),
            (Number::UInt(7), "7"),
        ];
        for (number, text) in cases {
            assert_eq!(number.to_string(), text);
        }
    }
}
