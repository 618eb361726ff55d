//! Conversions of values: attributes between JSON and typed values, numbers to bits, the choice of a number for missing
//! elements, and enums to flags.

#![expect(clippy::indexing_slicing, reason = "the counts have an entry for each value of 16 bits")]

use crate::interchange::literal::{Literal, LiteralKind};
use crate::interchange::values::single;
use crate::interchange::{FormatError, element_of_word};
use crate::ndl::{Attribute, Datatype, Ndarray, Value};
use crate::ra::ElementType;

/// The attribute with the names of dimensions without coordinates.
pub(super) const DIMS: &str = "_dims";

/// The attribute with the element that marks missing values.
pub(super) const FILL_VALUE: &str = "_FillValue";

/// Converts the JSON of the attribute `name` of `of`; `text` is its source. Anything except a number, a text or a list
/// of one kind becomes its JSON text.
pub(super) fn read(
    name: String,
    json: &Literal,
    text: &str,
    of: &str,
    losses: &mut Vec<String>,
) -> Attribute {
    let (shape, datatype, value) = value_of(json).unwrap_or_else(|| {
        losses.push(format!(
            "the attribute {name:?} of {of} has no counterpart, and is kept as its JSON text"
        ));
        (Vec::new(), Datatype::String, Value::from(text))
    });
    let short = shape.is_empty();
    Attribute { name, shape, datatype, value, storage: None, short }
}

/// Returns the attribute with the names of dimensions.
pub(super) fn dims(names: &[String]) -> Attribute {
    Attribute {
        name: DIMS.to_owned(),
        shape: vec![names.len() as u64],
        datatype: Datatype::String,
        value: Value::from(names.to_vec()),
        storage: None,
        short: false,
    }
}

/// Returns the shape, datatype and value of JSON; `None` if lists are ragged or mix kinds.
fn value_of(json: &Literal) -> Option<(Vec<u64>, Datatype, Value)> {
    let value = plain(json);
    let shape = extents(&value);
    let leaves = value.elements(&shape)?;
    let is_text = leaves.iter().all(|leaf| matches!(leaf, Value::String(_)));
    let datatype = if is_text { Datatype::String } else { datatype_of(&leaves)? };
    let value = if datatype == Datatype::Float64 { as_floats(&value) } else { value };
    Some((shape, datatype, value))
}

/// Converts JSON to a value without offsets; `Null` if an attribute cannot have it.
fn plain(json: &Literal) -> Value {
    match &json.kind {
        LiteralKind::List(list) => Value::List(list.iter().map(plain).collect()),
        LiteralKind::Number(number) => number.clone(),
        LiteralKind::Text(text) => Value::String(text.clone()),
        _ => Value::Null,
    }
}

/// Returns the lengths of nested lists, from the first list of each level.
pub(super) fn extents(value: &Value) -> Vec<u64> {
    let (mut extents, mut first) = (Vec::new(), Some(value));
    while let Some(Value::List(list)) = first {
        extents.push(list.len() as u64);
        first = list.first();
    }
    extents
}

/// Returns the datatype that represents all of the numbers exactly; `None` if any is not a number.
fn datatype_of(numbers: &[&Value]) -> Option<Datatype> {
    let has_float = numbers.iter().any(|number| matches!(number, Value::Float(_)));
    let integers = [Datatype::Int64, Datatype::UInt64];
    let known = if has_float { &[Datatype::Float64][..] } else { &integers };
    let fits = |known: &&Datatype| numbers.iter().all(|number| to_bits(number, known).is_some());
    known.iter().find(fits).cloned()
}

/// Converts an attribute of `of` to the value in the file.
pub(super) fn write(attribute: &Attribute, of: &str, losses: &mut Vec<String>) -> Value {
    let Attribute { name, datatype, value, .. } = attribute;
    match datatype {
        Datatype::Float64 => return as_floats(value),
        Datatype::String | Datatype::Int64 => {}
        // A number above the range of `int64` is read as `uint64`.
        Datatype::UInt64 if is_large(value) => {}
        _ => losses.push(format!(
            "the attribute {name:?} of {of} is written without its datatype, `{datatype}`"
        )),
    }
    value.clone()
}

fn is_large(value: &Value) -> bool {
    match value {
        Value::List(list) => list.iter().any(is_large),
        _ => matches!(value, Value::UInt(_)),
    }
}

/// Converts integers in a float attribute to floats, so that they are read back as floats.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::List(list) => Value::List(list.iter().map(as_floats).collect()),
        _ => to_bits(value, &Datatype::Float64)
            .map_or_else(|| value.clone(), |bits| Value::Float(f64::from_bits(bits))),
    }
}

/// Writes a value as Python's `json` does, in ASCII.
pub(super) fn to_json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "NaN".to_owned(),
        Value::Float(f64::INFINITY) => "Infinity".to_owned(),
        Value::Float(f64::NEG_INFINITY) => "-Infinity".to_owned(),
        // Writes the shortest number that reads back the same, with a point or an exponent, so that it stays a float.
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => json_text(text),
        Value::List(list) => {
            format!("[{}]", list.iter().map(to_json).collect::<Vec<_>>().join(", "))
        }
        Value::Map(map) => {
            let member =
                |(key, value): &(String, Value)| format!("{}: {}", json_text(key), to_json(value));
            format!("{{{}}}", map.iter().map(member).collect::<Vec<_>>().join(", "))
        }
    }
}

/// Returns a text in quotes.
fn json_text(text: &str) -> String {
    let mut out = "\"".to_owned();
    for character in text.chars() {
        match character {
            '"' | '\\' => out.extend(['\\', character]),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            ' '..='~' => out.push(character),
            _ => {
                let units = character.encode_utf16(&mut [0; 2]).to_vec();
                out.extend(units.iter().map(|unit| format!("\\u{unit:04x}")));
            }
        }
    }
    out.push('"');
    out
}

/// Returns whether a datatype is a number of the format.
pub(super) fn is_number(datatype: &Datatype) -> bool {
    datatype.integer().is_some() || matches!(datatype, Datatype::Float32 | Datatype::Float64)
}

/// Returns the bits of a number of a type; `None` if the type does not represent it exactly.
#[expect(clippy::float_cmp, reason = "a rounded number is not the same number")]
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
            // Through its text, because 0.1 as `float32` is written as 0.1.
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
    reason = "a number that does not convert back is refused"
)]
fn exact_float(number: i128) -> Option<f64> {
    let float = number as f64;
    (float as i128 == number).then_some(float)
}

/// Returns whether two elements are the same number; all NaNs are the same, and so are 0.0 and -0.0.
#[expect(clippy::float_cmp, reason = "nearly equal numbers are not the same")]
pub(super) fn is_same(a: u64, b: u64, datatype: &Datatype) -> bool {
    let (a, b) = match datatype {
        Datatype::Float32 => (f64::from(single(a)), f64::from(single(b))),
        Datatype::Float64 => (f64::from_bits(a), f64::from_bits(b)),
        _ => return a == b,
    };
    a == b || (a.is_nan() && b.is_nan())
}

/// Returns the usual number for missing elements of a type.
fn usual(datatype: &Datatype) -> Option<u64> {
    let number = match datatype.integer() {
        Some(integer) => {
            // For integers, the end of the range: the smallest, or the largest if unsigned.
            let (low, high) = integer.range();
            Value::of_integer(if low < 0 { low } else { high })?
        }
        None => Value::Float(f64::NAN),
    };
    to_bits(&number, datatype)
}

/// Chooses the bits of a number of `width` bytes that does not occur in the data: `wanted` if there is one, the usual
/// number of the type, or any other. Each call of `pass` passes all numbers of the data to its argument.
pub(super) fn choose_unused(
    datatype: &Datatype,
    width: usize,
    wanted: Option<u64>,
    mut pass: impl FnMut(&mut dyn FnMut(u64)) -> Result<(), FormatError>,
) -> Result<Option<u64>, FormatError> {
    let mut candidates: Vec<u64> = wanted.into_iter().chain(usual(datatype)).collect();
    // For 16 bits at a time, take the part of the range with the fewest numbers. In the end, one number is unused,
    // unless the data has as many numbers as the type.
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

/// Returns whether numbers with these upper 16 bits are neither NaN, infinite, nor so small that some programs read
/// them as zero.
fn is_plain(part: u64, datatype: &Datatype) -> bool {
    let exponent = match datatype {
        Datatype::Float32 => 0x7F80,
        Datatype::Float64 => 0x7FF0,
        _ => return true,
    };
    part & exponent != exponent && part & exponent != 0
}

/// The number type that stores the elements of a described array.
pub(super) struct NumberType<'d> {
    pub(super) datatype: Datatype,
    /// Size of an element in bytes.
    pub(super) width: usize,
    /// The names of an enum and their numbers.
    members: Option<&'d [(String, i128)]>,
}

impl<'d> NumberType<'d> {
    /// Returns the number type for `description`, whose data, if any, has the type `element`.
    pub(super) fn of(
        description: &'d Ndarray,
        element: Option<ElementType>,
    ) -> Result<Self, FormatError> {
        let name = &description.name;
        let (mut datatype, mut named) = (description.datatype.clone(), None);
        if let Datatype::Enum { members, .. } = &description.datatype {
            datatype = datatype.resolved_base().ok_or_else(|| disagree(name))?.datatype();
            named = Some(members.as_slice());
            if members.iter().any(|(_, number)| Value::of_integer(*number).is_none()) {
                return Err(disagree(name));
            }
        }
        let known = if is_number(&datatype) { element_of_word(&datatype) } else { None };
        let known = known.ok_or_else(|| no_number(name, &description.datatype))?;
        // Booleans of other programs, which also have one byte.
        let is_truth = known.elbyte() == 1 && named.is_some();
        if element.is_some_and(|element| element != known && !(is_truth && element.elbyte() == 1)) {
            return Err(disagree(name));
        }
        let width =
            usize::try_from(known.elbyte()).expect("no number of the format has more than 8 bytes");
        Ok(Self { datatype, width, members: named })
    }

    /// Returns the bits of a value in the description.
    pub(super) fn bits(&self, value: &Value) -> Option<u64> {
        let named = value.as_str().and_then(|name| {
            Value::of_integer(self.members?.iter().find(|(known, _)| known == name)?.1)
        });
        to_bits(named.as_ref().unwrap_or(value), &self.datatype)
    }

    /// Returns the members of an enum as attributes: their numbers, and their names with `_` for spaces; and whether
    /// any name has a space.
    pub(super) fn flags(&self) -> Option<(Value, String, bool)> {
        let (names, numbers): (Vec<_>, Vec<_>) = self.members?.iter().cloned().unzip();
        let words: Vec<_> =
            names.iter().map(|name| name.replace(char::is_whitespace, "_")).collect();
        let numbers = numbers.into_iter().filter_map(Value::of_integer).collect();
        Some((Value::List(numbers), words.join(" "), words != names))
    }
}

/// Returns the error for elements that the format cannot store, with advice.
fn no_number(name: &str, datatype: &Datatype) -> FormatError {
    let instead = match datatype {
        Datatype::Float16 | Datatype::BFloat16 => "convert its elements to `float32`",
        Datatype::Float128 => "convert its elements to `float64`",
        Datatype::Int128 => "convert its elements to `int64`",
        Datatype::UInt128 => "convert its elements to `uint64`",
        Datatype::Complex64 | Datatype::Complex128 => {
            "write real and imaginary parts as two arrays of floats"
        }
        Datatype::Compound(_) => "write each member as a separate array",
        Datatype::Opaque { .. } => "describe its bytes as `uint8` with one more dimension",
        Datatype::Array { .. } => "describe its elements with more dimensions",
        Datatype::String => "give the strings as `value` in the description",
        _ => "leave it out",
    };
    let reason = format!("the ds format cannot store elements of `{datatype}`, which {name:?} has");
    FormatError::no_counterpart(reason, instead)
}

/// Returns the error for a description that does not match the data.
pub(super) fn disagree(name: &str) -> FormatError {
    FormatError::no_counterpart(
        format!("the description of {name:?} does not match its header or value"),
        "correct its shape and type",
    )
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::literal::{Language, parse};
    use crate::interchange::values::to_value;

    fn attribute(text: &str) -> (Attribute, Vec<String>) {
        let json = parse(text.as_bytes(), 0, Language::Json).unwrap();
        let mut losses = Vec::new();
        let attribute = read("a".to_owned(), &json, text, "`x`", &mut losses);
        (attribute, losses)
    }

    #[test]
    fn values_with_a_counterpart_are_converted_both_ways() {
        let cases = [
            ("1", vec![], Datatype::Int64, true),
            ("1.0", vec![], Datatype::Float64, true),
            ("NaN", vec![], Datatype::Float64, true),
            ("18446744073709551615", vec![], Datatype::UInt64, true),
            ("\"m\"", vec![], Datatype::String, true),
            ("[1, 2]", vec![2], Datatype::Int64, false),
            ("[1, 18446744073709551615]", vec![2], Datatype::UInt64, false),
            ("[1.5, NaN, -Infinity]", vec![3], Datatype::Float64, false),
            ("[\"a\", \"b\"]", vec![2], Datatype::String, false),
            ("[[1, 2, 3], [4, 5, 6]]", vec![2, 3], Datatype::Int64, false),
            ("[]", vec![0], Datatype::String, false),
            ("[[], []]", vec![2, 0], Datatype::String, false),
        ];
        for (text, shape, datatype, short) in cases {
            let (attribute, mut losses) = attribute(text);
            assert_eq!((&attribute.shape, &attribute.datatype), (&shape, &datatype), "{text}");
            assert_eq!(attribute.short, short);
            assert_eq!(to_json(&write(&attribute, "`x`", &mut losses)), text);
            assert_eq!(losses, [""; 0]);
        }
        // Lists have one datatype, so an integer among floats becomes a float.
        assert_eq!(attribute("[1, 2.5]").0.value, Value::from(vec![1.0, 2.5]));
    }

    #[test]
    fn other_values_are_kept_as_json_and_reported() {
        let texts = [
            "null",
            "true",
            "{\"b\": 1}",
            "[1, \"a\"]",
            "[[1], [2, 3]]",
            "[[1], 2]",
            "[1, [2]]",
            "[[], [[]]]",
            "[null]",
            "[true]",
            "99999999999999999999",
            "[-1, 18446744073709551615]",
            "[9007199254740993, 0.5]",
        ];
        for text in texts {
            let (attribute, losses) = attribute(text);
            assert_eq!(attribute.value, Value::from(text));
            assert!(attribute.short);
            assert_eq!(losses.len(), 1);
            assert!(losses[0].starts_with("the attribute \"a\" of `x` has "), "{}", losses[0]);
        }
    }

    #[test]
    fn a_dropped_datatype_is_reported() {
        let mut losses = Vec::new();
        let mut attribute = attribute("1").0;
        attribute.datatype = Datatype::Int8;
        attribute.short = false;
        assert_eq!(to_json(&write(&attribute, "`x`", &mut losses)), "1");
        assert_eq!(losses, ["the attribute \"a\" of `x` is written without its datatype, `int8`"]);
        attribute.datatype = Datatype::Float64;
        assert_eq!(to_json(&write(&attribute, "`x`", &mut losses)), "1.0");
        assert_eq!(losses.len(), 1);
    }

    fn kind(text: &str) -> LiteralKind {
        parse(text.as_bytes(), 7, Language::Json).unwrap().kind
    }

    #[test]
    fn json_is_written_in_ascii_as_by_python() {
        let list = vec![
            Value::Float(1.0),
            Value::Float(f64::NAN),
            Value::Float(f64::NEG_INFINITY),
            Value::Float(1e300),
            Value::from("é😀\"\\\u{7f}\u{1}"),
            Value::Map(vec![("k".to_owned(), Value::Null), ("l".to_owned(), Value::Bool(false))]),
        ];
        assert_eq!(
            to_json(&Value::List(list)),
            "[1.0, NaN, -Infinity, 1e300, \"\\u00e9\\ud83d\\ude00\\\"\\\\\\u007f\\u0001\", \
             {\"k\": null, \"l\": false}]"
        );
    }

    proptest! {
        #[test]
        fn numbers_and_texts_are_read_back(number: f64, integer: i64, large: u64, text: String) {
            for value in [number.into(), integer.into(), large.into()] {
                prop_assert_eq!(kind(&to_json(&value)), LiteralKind::Number(value));
            }
            let written = json_text(&text);
            prop_assert!(written.is_ascii());
            prop_assert_eq!(kind(&written), LiteralKind::Text(text));
        }
    }

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
    fn the_wanted_number_is_tried_first_and_the_usual_one_second() {
        let wanted = Some(Value::Int(7));
        assert_eq!(choose_for(&Datatype::Int8, wanted.clone(), &[1, 2]), Some(Value::Int(7)));
        assert_eq!(choose_for(&Datatype::Int8, wanted, &[1, 7]), Some(Value::Int(-128)));
        assert_eq!(choose_for(&Datatype::Int8, Some(Value::Int(300)), &[]), Some(Value::Int(-128)));
        assert_eq!(choose_for(&Datatype::UInt64, None, &[]), Some(Value::UInt(u64::MAX)));
        assert_eq!(choose_for(&Datatype::Int64, None, &[]), Some(Value::Int(i64::MIN)));
        assert_eq!(choose_for(&Datatype::Float32, None, &[]), Some(Value::Float(f64::NAN)));
        let text = Some(Value::from("x"));
        assert_eq!(choose_for(&Datatype::Float64, text, &[]), Some(Value::Float(f64::NAN)));
        // -0.0 equals 0.0, and all NaNs are equal.
        let zero = Some(Value::Float(0.0));
        let minus = (-0.0_f64).to_bits();
        assert_eq!(choose_for(&Datatype::Float64, zero, &[minus]), Some(Value::Float(f64::NAN)));
    }

    #[test]
    fn another_number_is_found_if_both_occur() {
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
    fn only_numbers_in_the_range_of_a_type_have_bits() {
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
