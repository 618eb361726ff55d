//! Numbers as bits, the number that stands for what is missing, and enums, whose members have names for numbers.

#![expect(
    clippy::indexing_slicing,
    reason = "there is a count for each value of the bits that are looked at"
)]

use crate::interchange::{Error, element_of_word};
use crate::ndl::{Datatype, Ndarray, Value};
use crate::ra::ElementType;

/// Whether a datatype is one of the numbers of the format.
pub(super) fn is_number(datatype: &Datatype) -> bool {
    datatype.integer().is_some() || matches!(datatype, Datatype::Float32 | Datatype::Float64)
}

/// The bits of a number of a type; `None` when the type does not hold it exactly.
#[expect(clippy::float_cmp, reason = "a number that changes by rounding is another one")]
pub(super) fn to_bits(value: &Value, datatype: &Datatype) -> Option<u64> {
    if let Some(integer) = datatype.integer() {
        let number = value.as_integer().filter(|number| integer.holds(*number))?;
        let low = *number.to_le_bytes().first_chunk::<8>().expect("16 bytes are more than 8");
        return Some(u64::from_le_bytes(low) & (u64::MAX >> (64 - 8 * integer.size())));
    }
    let number = match value {
        Value::Float(number) => *number,
        _ => exact_float(value.as_integer()?)?,
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

#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    reason = "a number that does not come back is none"
)]
fn exact_float(number: i128) -> Option<f64> {
    let float = number as f64;
    (float as i128 == number).then_some(float)
}

/// The number that bits are.
pub(super) fn to_value(bits: u64, datatype: &Datatype) -> Value {
    match (datatype, datatype.integer()) {
        (_, Some(integer)) => {
            let (low, high) = integer.range();
            let number = i128::from(bits);
            let number = if number > high { number - (high - low + 1) } else { number };
            integer_value(number).expect("no integer has more bits")
        }
        (Datatype::Float32, _) => Value::from(single(bits)),
        _ => Value::Float(f64::from_bits(bits)),
    }
}

fn single(bits: u64) -> f32 {
    f32::from_bits(u32::try_from(bits).expect("it is a number of 32 bits"))
}

/// A number of 64 bits.
fn integer_value(number: i128) -> Option<Value> {
    let unsigned = || u64::try_from(number).map(Value::from);
    i64::try_from(number).map(Value::Int).or_else(|_| unsigned()).ok()
}

/// Whether two elements are the same number: any NaN is any other, and 0.0 is -0.0.
#[expect(clippy::float_cmp, reason = "a number that is nearly the same is another one")]
pub(super) fn is_same(a: u64, b: u64, datatype: &Datatype) -> bool {
    let (a, b) = match datatype {
        Datatype::Float32 => (f64::from(single(a)), f64::from(single(b))),
        Datatype::Float64 => (f64::from_bits(a), f64::from_bits(b)),
        _ => return a == b,
    };
    a == b || (a.is_nan() && b.is_nan())
}

/// The number that is taken for what is missing when the data do not have it.
fn usual(datatype: &Datatype) -> Option<u64> {
    let number = match datatype.integer() {
        Some(integer) => {
            // NaN of the integers is at the end: the smallest, or for unsigned ones the largest.
            let (low, high) = integer.range();
            integer_value(if low < 0 { low } else { high })?
        }
        None => Value::Float(f64::NAN),
    };
    to_bits(&number, datatype)
}

/// Chooses the bits of a number that the data do not have, of `width` bytes: `wanted` when there is one, the usual
/// one of the type, or any other. `pass` gives all numbers of the data to its argument, each time that it is called.
pub(super) fn choose_unused(
    datatype: &Datatype,
    width: usize,
    wanted: Option<u64>,
    mut pass: impl FnMut(&mut dyn FnMut(u64)) -> Result<(), Error>,
) -> Result<Option<u64>, Error> {
    let mut candidates: Vec<u64> = wanted.into_iter().chain(usual(datatype)).collect();
    // Of each half of the range, of a quarter of that and so on the part with the fewest numbers: in
    // the end there is one that none is, unless there are as many numbers as the type has.
    let bits = 8 * width;
    let step = bits.min(16);
    let mut shift = bits - step;
    let mut counts = vec![0_u64; 1 << step];
    let part = |number: u64| usize::try_from(number & 0xFFFF).expect("16 bits fit");
    pass(&mut |number| {
        candidates.retain(|candidate| !is_same(*candidate, number, datatype));
        counts[part(number >> shift)] += 1;
    })?;
    if let Some(unused) = candidates.first() {
        return Ok(Some(*unused));
    }
    let mut prefix = 0_u64;
    loop {
        let is_top = shift + step == bits;
        let parts = (0..).zip(&counts).filter(|(part, _)| !is_top || is_plain(*part, datatype));
        let Some((part_of_fewest, &count)) = parts.min_by_key(|(_, count)| **count) else {
            return Ok(None);
        };
        prefix = (prefix << step) | part_of_fewest;
        if shift == 0 {
            return Ok((count == 0).then_some(prefix));
        }
        let above = shift;
        shift -= step;
        counts.fill(0);
        pass(&mut |number| {
            if number >> above == prefix {
                counts[part(number >> shift)] += 1;
            }
        })?;
    }
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

/// The number that the elements of an array of a description are in a file.
pub(super) struct NumberType<'d> {
    pub(super) datatype: Datatype,
    element: ElementType,
    /// The names of an enum and their numbers.
    members: Option<Vec<(&'d str, Value)>>,
}

impl<'d> NumberType<'d> {
    /// That of `description`, with data of `element` when it has any.
    pub(super) fn of(
        description: &'d Ndarray,
        element: Option<ElementType>,
    ) -> Result<Self, Error> {
        let name = &description.name;
        let (mut datatype, mut named) = (description.datatype.clone(), None);
        if let Datatype::Enum { members, .. } = &description.datatype {
            datatype = datatype.resolved_base().ok_or_else(|| disagree(name))?.datatype();
            let values = members
                .iter()
                .map(|(name, number)| Some((name.as_str(), integer_value(*number)?)))
                .collect::<Option<Vec<_>>>();
            named = Some(values.ok_or_else(|| disagree(name))?);
        }
        let known = if is_number(&datatype) { element_of_word(&datatype) } else { None };
        let known = known.ok_or_else(|| no_number(name, &description.datatype))?;
        // Truth values of other writers, of one byte all the same.
        let is_truth = known.elbyte() == 1 && named.is_some();
        if element.is_some_and(|element| element != known && !(is_truth && element.elbyte() == 1)) {
            return Err(disagree(name));
        }
        Ok(Self { datatype, element: known, members: named })
    }

    /// Bytes of an element.
    pub(super) fn width(&self) -> usize {
        usize::try_from(self.element.elbyte()).expect("no number of the format has more than 8")
    }

    /// A value of the description, in bits.
    pub(super) fn bits(&self, value: &Value) -> Option<u64> {
        let named = value.as_str().and_then(|name| {
            let (_, number) = self.members.as_ref()?.iter().find(|(known, _)| *known == name)?;
            Some(number)
        });
        to_bits(named.unwrap_or(value), &self.datatype)
    }

    /// Whether there are just the members true, which is 1, and false, which is 0: another one may stand for
    /// what is missing and is masked.
    pub(super) fn is_truth(&self, masked: Option<u64>) -> bool {
        let Some(members) = self.members.as_ref().filter(|_| self.element.elbyte() == 1) else {
            return false;
        };
        let has = |wanted: &str, bits: u64| {
            members.iter().any(|member| self.is_member(member, wanted, bits))
        };
        let is_expected = |member: &(&str, Value)| {
            let bits = to_bits(&member.1, &self.datatype);
            let is_masked = bits.is_some() && bits == masked;
            is_masked || self.is_member(member, "false", 0) || self.is_member(member, "true", 1)
        };
        has("false", 0) && has("true", 1) && members.iter().all(is_expected)
    }

    fn is_member(&self, (name, number): &(&str, Value), wanted: &str, bits: u64) -> bool {
        name.eq_ignore_ascii_case(wanted) && to_bits(number, &self.datatype) == Some(bits)
    }

    /// The members of an enum, as attributes: their numbers and their names, in which blanks are `_`; and
    /// whether there are any blanks.
    pub(super) fn flags(&self) -> Option<(Value, String, bool)> {
        let members = self.members.as_ref()?;
        let numbers = members.iter().map(|(_, number)| number.clone()).collect();
        let names: Vec<_> = members.iter().map(|(name, _)| *name).collect();
        let words = names.iter().map(|name| name.replace(char::is_whitespace, "_"));
        let words: Vec<_> = words.collect();
        Some((Value::List(numbers), words.join(" "), words != names))
    }
}

/// Why elements are no numbers of the format, and the nearest way out.
fn no_number(name: &str, datatype: &Datatype) -> Error {
    let instead = match datatype {
        Datatype::Float16 | Datatype::BFloat16 => "convert its elements to `float32`",
        Datatype::Float128 => "convert its elements to `float64`",
        Datatype::Int128 => "convert its elements to `int64`",
        Datatype::UInt128 => "convert its elements to `uint64`",
        Datatype::Complex64 | Datatype::Complex128 => {
            "write real and imaginary parts as two arrays of floats"
        }
        Datatype::Compound(_) => "write each member as an array of its own",
        Datatype::Opaque { .. } => "describe its bytes as `uint8` with one dimension more",
        Datatype::Array { .. } => "describe its elements with more dimensions",
        Datatype::String => "give the texts as `value` in the description",
        _ => "leave it out",
    };
    let reason = format!("ds has no elements of `{datatype}`, which {name:?} has");
    Error::no_counterpart(reason, instead)
}

/// The refusal of a description that does not fit.
pub(super) fn disagree(name: &str) -> Error {
    Error::no_counterpart(
        format!("the description of {name:?} does not fit its header or value"),
        "make shape and datatype those of the data",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn choose_for(datatype: &Datatype, wanted: Option<Value>, data: &[u64]) -> Option<Value> {
        let width = usize::try_from(datatype.packed_size().unwrap()).unwrap();
        let wanted = wanted.and_then(|wanted| to_bits(&wanted, datatype));
        let pass = |each: &mut dyn FnMut(u64)| {
            for number in data {
                each(*number);
            }
            Ok(())
        };
        let bits = choose_unused(datatype, width, wanted, pass).unwrap()?;
        assert!(!data.iter().any(|number| is_same(*number, bits, datatype)));
        let value = to_value(bits, datatype);
        assert_eq!(to_bits(&value, datatype), Some(bits));
        Some(value)
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
