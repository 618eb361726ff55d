//! The element that stands for what is missing: one that the data do not have.

use crate::interchange::Error;
use crate::ndl::{Datatype, Value};

/// A number that the data do not have.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fill {
    /// Its bits, in the lowest bytes.
    pub(super) bits: u64,
    /// What it is.
    pub(super) value: Value,
}

/// What a number of a type is in bits; `None` when the type does not hold it exactly.
#[expect(clippy::float_cmp, reason = "a number that changes by rounding is another one")]
pub(super) fn to_bits(value: &Value, datatype: &Datatype) -> Option<u64> {
    if let Some(integer) = datatype.integer() {
        let number = value.as_integer().filter(|number| integer.holds(*number))?;
        let low = number.to_le_bytes().first_chunk::<8>().copied()?;
        return Some(u64::from_le_bytes(low) & mask(integer.size()));
    }
    let number = match value {
        Value::Float(number) => *number,
        // Both directions of the decimal text are exact.
        _ => {
            let text = value.as_integer()?.to_string();
            let number: f64 = text.parse().ok()?;
            (format!("{number:.0}") == text).then_some(number)?
        }
    };
    match datatype {
        Datatype::Float64 => Some(number.to_bits()),
        Datatype::Float32 => {
            // By the text, since 0.1 as `float32` is written as 0.1.
            let short: f32 = number.to_string().parse().ok()?;
            let exact = f64::from(short) == number || Value::from(short) == Value::Float(number);
            (exact || number.is_nan()).then_some(u64::from(short.to_bits()))
        }
        _ => None,
    }
}

/// The number that bits are.
pub(super) fn to_value(bits: u64, datatype: &Datatype) -> Value {
    let [a, b, c, d, ..] = bits.to_le_bytes();
    match datatype {
        Datatype::Int8 => Value::Int(i64::from(i8::from_le_bytes([a]))),
        Datatype::Int16 => Value::Int(i64::from(i16::from_le_bytes([a, b]))),
        Datatype::Int32 => Value::Int(i64::from(i32::from_le_bytes([a, b, c, d]))),
        Datatype::Int64 => Value::Int(i64::from_le_bytes(bits.to_le_bytes())),
        Datatype::Float32 => Value::from(f32::from_le_bytes([a, b, c, d])),
        Datatype::Float64 => Value::Float(f64::from_bits(bits)),
        _ => Value::from(bits),
    }
}

/// Whether two elements are the same number: any NaN is any other, and 0.0 is -0.0.
#[expect(clippy::float_cmp, reason = "what is nearly the same number is another one")]
pub(super) fn is_same(a: u64, b: u64, datatype: &Datatype) -> bool {
    match (float(a, datatype), float(b, datatype)) {
        (Some(a), Some(b)) => a == b || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

fn float(bits: u64, datatype: &Datatype) -> Option<f64> {
    match datatype {
        Datatype::Float32 => {
            let [a, b, c, d, ..] = bits.to_le_bytes();
            Some(f64::from(f32::from_le_bytes([a, b, c, d])))
        }
        Datatype::Float64 => Some(f64::from_bits(bits)),
        _ => None,
    }
}

fn mask(width: u64) -> u64 {
    match width {
        1 => 0xFF,
        2 => 0xFFFF,
        4 => 0xFFFF_FFFF,
        _ => u64::MAX,
    }
}

/// The number that is taken when the data do not have it.
fn usual(datatype: &Datatype) -> Option<u64> {
    let number = match (datatype.integer(), datatype) {
        (Some(integer), _) => {
            // NaN of the integers is at the end: the smallest, or for unsigned ones the largest.
            let (low, high) = integer.range();
            let end = if low < 0 { low } else { high };
            i64::try_from(end).map_or(Value::UInt(u64::MAX), Value::Int)
        }
        _ => Value::Float(f64::NAN),
    };
    to_bits(&number, datatype)
}

/// Chooses a number that the data do not have: `wanted` when there is one, the usual one of the type, or
/// any other. `pass` gives all numbers of the data to what it is given, each time that it is called.
pub(super) fn choose(
    datatype: &Datatype,
    width: u64,
    wanted: Option<u64>,
    mut pass: impl FnMut(&mut dyn FnMut(u64)) -> Result<(), Error>,
) -> Result<Option<Fill>, Error> {
    let found = |bits| Some(Fill { bits, value: to_value(bits, datatype) });
    let candidates: Vec<u64> = wanted.into_iter().chain(usual(datatype)).collect();
    let mut is_used = vec![false; candidates.len()];
    // Of each half of the range, of a quarter of that and so on the part with the fewest numbers: in
    // the end there is one that none is, unless there are as many numbers as the type has.
    let bits = width.saturating_mul(8);
    let step = bits.min(16);
    let mut shift = bits.saturating_sub(step);
    let mut counts = histogram(step);
    pass(&mut |number| {
        for (candidate, is_used) in candidates.iter().zip(&mut is_used) {
            *is_used |= is_same(*candidate, number, datatype);
        }
        add(&mut counts, number.checked_shr(u32::try_from(shift).unwrap_or(0)).unwrap_or(0));
    })?;
    if let Some((candidate, _)) = candidates.iter().zip(&is_used).find(|(_, is_used)| !**is_used) {
        return Ok(found(*candidate));
    }
    let mut prefix = 0_u64;
    loop {
        let at_top = shift.saturating_add(step) == bits;
        let Some((part, count)) = fewest(&counts, |part| at_top && !is_plain(part, datatype))
        else {
            return Ok(None);
        };
        prefix = prefix.checked_shl(u32::try_from(step).unwrap_or(0)).unwrap_or(0) | part;
        if shift == 0 {
            return Ok(if count == 0 { found(prefix) } else { None });
        }
        let above = u32::try_from(shift).unwrap_or(0);
        shift = shift.saturating_sub(step);
        let below = u32::try_from(shift).unwrap_or(0);
        counts = histogram(step);
        pass(&mut |number| {
            if number.checked_shr(above).unwrap_or(0) == prefix {
                add(&mut counts, number.checked_shr(below).unwrap_or(0) & 0xFFFF);
            }
        })?;
    }
}

fn histogram(bits: u64) -> Vec<u64> {
    vec![0; if bits == 8 { 0x100 } else { 0x1_0000 }]
}

fn add(counts: &mut [u64], part: u64) {
    let count = usize::try_from(part).ok().and_then(|part| counts.get_mut(part));
    if let Some(count) = count {
        *count = count.saturating_add(1);
    }
}

fn fewest(counts: &[u64], is_excluded: impl Fn(u64) -> bool) -> Option<(u64, u64)> {
    let parts = (0..).zip(counts.iter().copied());
    parts.filter(|(part, _)| !is_excluded(*part)).min_by_key(|(_, count)| *count)
}

/// Whether numbers of these upper 16 bits are neither NaN nor infinite, nor so small that they are zeros
/// to some.
fn is_plain(part: u64, datatype: &Datatype) -> bool {
    let exponent = match datatype {
        Datatype::Float32 => 0x7F80,
        Datatype::Float64 => 0x7FF0,
        _ => return true,
    };
    part & exponent != exponent && part & exponent != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_for(datatype: &Datatype, wanted: Option<Value>, data: &[u64]) -> Option<Value> {
        let width = datatype.packed_size().unwrap();
        let wanted = wanted.and_then(|wanted| to_bits(&wanted, datatype));
        let pass = |each: &mut dyn FnMut(u64)| {
            for number in data {
                each(*number);
            }
            Ok(())
        };
        let fill = choose(datatype, width, wanted, pass).unwrap()?;
        assert!(!data.iter().any(|number| is_same(*number, fill.bits, datatype)));
        assert_eq!(to_bits(&fill.value, datatype), Some(fill.bits));
        Some(fill.value)
    }

    #[test]
    fn the_wanted_number_comes_first_then_the_usual_one() {
        let wanted = Some(Value::Int(7));
        assert_eq!(choose_for(&Datatype::Int8, wanted.clone(), &[1, 2]), Some(Value::Int(7)));
        assert_eq!(choose_for(&Datatype::Int8, wanted, &[1, 7]), Some(Value::Int(-128)));
        assert_eq!(choose_for(&Datatype::Int8, Some(Value::Int(300)), &[]), Some(Value::Int(-128)));
        assert_eq!(choose_for(&Datatype::UInt64, None, &[]), Some(Value::UInt(u64::MAX)));
        assert_eq!(choose_for(&Datatype::Int64, None, &[]), Some(Value::Int(i64::MIN)));
        assert_eq!(choose_for(&Datatype::Float32, None, &[]), Some(Value::Float(f64::NAN)));
        let text = Some(Value::from("x"));
        assert_eq!(choose_for(&Datatype::Float64, text, &[]), Some(Value::Float(f64::NAN)));
        // -0.0 is 0.0, and any NaN is NaN.
        let zero = Some(Value::Float(0.0));
        let minus = (-0.0_f64).to_bits();
        assert_eq!(choose_for(&Datatype::Float64, zero, &[minus]), Some(Value::Float(f64::NAN)));
    }

    #[test]
    fn any_other_is_found_when_both_are_there() {
        let all: Vec<u64> = (0..256).collect();
        assert_eq!(choose_for(&Datatype::UInt8, None, &all), None);
        let but_one: Vec<u64> = (0..256).filter(|number| *number != 77).collect();
        assert_eq!(choose_for(&Datatype::UInt8, None, &but_one), Some(Value::Int(77)));
        let but_one: Vec<u64> = (0..65536).filter(|number| *number != 40000).collect();
        assert_eq!(choose_for(&Datatype::Int16, None, &but_one), Some(Value::Int(40000 - 65536)));
        let lowest: Vec<u64> = (0..65537).chain([1 << 31]).collect();
        assert!(choose_for(&Datatype::Int32, None, &lowest).is_some());
        assert!(choose_for(&Datatype::UInt64, None, &[u64::MAX, 0]).is_some());
        let nan = [f64::NAN.to_bits(), f64::INFINITY.to_bits(), 0];
        let Some(Value::Float(fill)) = choose_for(&Datatype::Float64, None, &nan) else { panic!() };
        assert!(fill.is_normal());
        let nan = [u64::from(f32::NAN.to_bits())];
        let Some(Value::Float(fill)) = choose_for(&Datatype::Float32, None, &nan) else { panic!() };
        assert!(fill.is_normal());
    }

    #[test]
    fn only_what_a_type_holds_has_bits() {
        let cases = [
            (Value::Int(-1), Datatype::Int16, Some(0xFFFF)),
            (Value::Int(-1), Datatype::UInt16, None),
            (Value::Float(1.0), Datatype::Int16, None),
            (Value::Int(1), Datatype::Float64, Some(0x3FF0_0000_0000_0000)),
            (Value::Int((1 << 53) + 1), Datatype::Float64, None),
            (Value::Float(0.1), Datatype::Float32, Some(0x3DCC_CCCD)),
            (Value::Float(0.123_456_789_012), Datatype::Float32, None),
            (Value::Float(f64::INFINITY), Datatype::Float32, Some(0x7F80_0000)),
            (Value::Float(1e300), Datatype::Float32, None),
        ];
        for (value, datatype, bits) in cases {
            assert_eq!(to_bits(&value, &datatype), bits, "{value:?} as {datatype}");
        }
    }
}
