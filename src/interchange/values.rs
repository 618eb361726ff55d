//! Elements as values of descriptions.

use crate::ndl::{Datatype, Value};

/// Returns the little-endian numbers of `width` bytes, extended to 64 bits.
pub(super) fn numbers(bytes: &[u8], width: usize) -> impl Iterator<Item = u64> {
    bytes
        .chunks_exact(width)
        .map(|number| number.iter().rev().fold(0_u64, |bits, byte| (bits << 8) | u64::from(*byte)))
}

/// Converts bits to a number. Floats of two bytes become those of four.
pub(super) fn to_value(bits: u64, datatype: &Datatype) -> Value {
    match (datatype, datatype.integer()) {
        (_, Some(integer)) => {
            let (low, high) = integer.range();
            let number = i128::from(bits);
            let number = if number > high { number - (high - low + 1) } else { number };
            Value::of_integer(number).expect("no integer type has more bits")
        }
        (Datatype::Float16, _) => {
            let bits = u16::try_from(bits).expect("the type has 16 bits");
            Value::from(half::f16::from_bits(bits).to_f32())
        }
        (Datatype::Float32, _) => Value::from(single(bits)),
        _ => Value::Float(f64::from_bits(bits)),
    }
}

/// Returns the float with these bits.
pub(super) fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("the type has 32 bits"))
}

/// Nests values in lists of this shape.
pub(super) fn nest(shape: &[u64], leaves: &mut impl Iterator<Item = Value>) -> Value {
    match shape.split_first() {
        None => leaves.next().expect("the shape has as many elements"),
        Some((extent, rest)) => Value::List((0..*extent).map(|_| nest(rest, leaves)).collect()),
    }
}
