//! Attributes: JSON on one side, values with a shape and a datatype on the other.

use super::header::{JsonAttribute, describe};
use super::numbers::to_bits;
use crate::interchange::literal::{Literal, LiteralKind};
use crate::ndl::{Attribute, Datatype, Value};

/// The attribute that names the dimensions of an array which have no coordinates.
pub(super) const DIMS: &str = "_dims";

/// The attribute that names the element for what is missing.
pub(super) const FILL_VALUE: &str = "_FillValue";

/// The attribute `found` of `of`; what is neither number, text nor list of one kind becomes its JSON.
pub(super) fn read(found: &JsonAttribute, of: &str, losses: &mut Vec<String>) -> Attribute {
    let JsonAttribute { name, json, text } = found;
    let (shape, datatype, value) = value_of(json).unwrap_or_else(|| {
        losses.push(format!(
            "the attribute {name:?} of {of} is {} without a counterpart, and kept as the text of its JSON",
            describe(json)
        ));
        (Vec::new(), Datatype::String, Value::String(text.clone()))
    });
    let short = shape.is_empty();
    Attribute { name: name.clone(), shape, datatype, value, storage: None, short }
}

/// The attribute that names dimensions.
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

/// The shape, datatype and value of JSON; nothing when lists are ragged or hold anything else than numbers of
/// one datatype or texts.
fn value_of<'a>(json: &'a Literal) -> Option<(Vec<u64>, Datatype, Value)> {
    let (mut shape, mut first) = (Vec::new(), Some(json));
    while let Some(LiteralKind::List(list)) = first.map(|json| &json.kind) {
        shape.push(list.len() as u64);
        first = list.first();
    }
    let list = |json: &'a Literal| match &json.kind {
        LiteralKind::List(list) => Some(list.as_slice()),
        _ => None,
    };
    let mut leaves = Vec::new();
    collect(json, &shape, &list, &mut leaves)?;
    let leaves: Vec<_> = leaves.into_iter().map(|leaf| &leaf.kind).collect();
    let numbers = leaves.iter().filter_map(|leaf| match leaf {
        LiteralKind::Number(number) => Some(number),
        _ => None,
    });
    let numbers: Vec<_> = numbers.collect();
    let datatype = match numbers.len() {
        0 => Datatype::String,
        count if count == leaves.len() => datatype_of(&numbers)?,
        _ => return None,
    };
    let values = leaves.into_iter().map(|leaf| match leaf {
        LiteralKind::Number(number) if datatype == Datatype::Float64 => to_float(number),
        LiteralKind::Number(number) => Some(number.clone()),
        LiteralKind::Text(text) => Some(Value::String(text.clone())),
        _ => None,
    });
    let values: Vec<_> = values.collect::<Option<_>>()?;
    let value = nest(&shape, &mut values.into_iter());
    Some((shape, datatype, value))
}

/// Adds everything in nested lists of this shape to `leaves`; nothing when they are of another.
pub(super) fn collect<'a, T>(
    item: &'a T,
    shape: &[u64],
    list: &impl Fn(&'a T) -> Option<&'a [T]>,
    leaves: &mut Vec<&'a T>,
) -> Option<()> {
    let Some((length, rest)) = shape.split_first() else {
        leaves.push(item);
        return Some(());
    };
    let items = list(item).filter(|items| items.len() as u64 == *length)?;
    items.iter().try_for_each(|item| collect(item, rest, list, leaves))
}

/// Lists nested as deep as there are extents.
pub(super) fn nest(shape: &[u64], leaves: &mut impl Iterator<Item = Value>) -> Value {
    match shape.split_first() {
        None => leaves.next().expect("there are as many as the extents say"),
        Some((extent, rest)) => Value::List((0..*extent).map(|_| nest(rest, leaves)).collect()),
    }
}

/// The datatype that holds all of the numbers exactly.
fn datatype_of(numbers: &[&Value]) -> Option<Datatype> {
    let mut all = numbers.iter();
    if all.clone().any(|number| matches!(number, Value::Float(_))) {
        return all.all(|number| to_float(number).is_some()).then_some(Datatype::Float64);
    }
    if all.clone().any(|number| matches!(number, Value::UInt(_))) {
        let fits = |number: &&Value| to_bits(number, &Datatype::UInt64).is_some();
        return all.all(fits).then_some(Datatype::UInt64);
    }
    Some(Datatype::Int64)
}

/// A number as a float, when that is exact.
fn to_float(number: &Value) -> Option<Value> {
    to_bits(number, &Datatype::Float64).map(|bits| Value::Float(f64::from_bits(bits)))
}

/// The JSON of an attribute of `of`.
pub(super) fn write(attribute: &Attribute, of: &str, losses: &mut Vec<String>) -> String {
    let Attribute { name, datatype, value, .. } = attribute;
    let is_natural = match datatype {
        Datatype::String | Datatype::Float64 | Datatype::Int64 => true,
        // A number above the range of `int64` is read as `uint64` again.
        Datatype::UInt64 => is_large(value),
        _ => false,
    };
    if !is_natural {
        losses.push(format!(
            "the attribute {name:?} of {of} is written without its datatype, `{datatype}`"
        ));
    }
    match datatype {
        Datatype::Float64 => to_json(&as_floats(value)),
        _ => to_json(value),
    }
}

fn is_large(value: &Value) -> bool {
    match value {
        Value::List(list) => list.iter().any(is_large),
        _ => matches!(value, Value::UInt(_)),
    }
}

/// Integers that stand for floats, as floats, so that they are read as such.
fn as_floats(value: &Value) -> Value {
    match value {
        Value::List(list) => Value::List(list.iter().map(as_floats).collect()),
        _ => to_float(value).unwrap_or_else(|| value.clone()),
    }
}

/// A value as Python's `json` writes it, in ASCII.
pub(super) fn to_json(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(truth) => truth.to_string(),
        Value::Int(number) => number.to_string(),
        Value::UInt(number) => number.to_string(),
        Value::Float(number) if number.is_nan() => "NaN".to_owned(),
        Value::Float(f64::INFINITY) => "Infinity".to_owned(),
        Value::Float(f64::NEG_INFINITY) => "-Infinity".to_owned(),
        // The shortest that reads back the same, with a point or an exponent, so that it stays a float.
        Value::Float(number) => format!("{number:?}"),
        Value::String(text) => json_text(text),
        Value::List(list) => json_list(list.iter().map(to_json)),
        Value::Map(map) => json_map(map.iter().map(|(key, value)| (&**key, to_json(value)))),
    }
}

/// A list of values that are JSON already.
pub(super) fn json_list(list: impl Iterator<Item = String>) -> String {
    format!("[{}]", list.collect::<Vec<_>>().join(", "))
}

/// An object of values that are JSON already.
pub(super) fn json_map(map: impl Iterator<Item = (impl AsRef<str>, String)>) -> String {
    let entries = map.map(|(key, json)| format!("{}: {json}", json_text(key.as_ref())));
    format!("{{{}}}", entries.collect::<Vec<_>>().join(", "))
}

/// A text in quotes.
pub(super) fn json_text(text: &str) -> String {
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::literal::{Language, parse};

    fn attribute(text: &str) -> (Attribute, Vec<String>) {
        let json = parse(text.as_bytes(), 0, Language::Json).unwrap();
        let mut losses = Vec::new();
        let fact = JsonAttribute { name: "a".to_owned(), json, text: text.to_owned() };
        let attribute = read(&fact, "`x`", &mut losses);
        (attribute, losses)
    }

    #[test]
    fn what_has_a_counterpart_comes_and_goes() {
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
            assert_eq!(write(&attribute, "`x`", &mut losses), text);
            assert_eq!(losses, [""; 0]);
        }
        // Lists have one datatype, so that an integer among floats becomes one.
        assert_eq!(attribute("[1, 2.5]").0.value, Value::from(vec![1.0, 2.5]));
    }

    #[test]
    fn what_has_none_is_kept_as_json_and_told() {
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
            assert!(losses[0].starts_with("the attribute \"a\" of `x` is "), "{}", losses[0]);
        }
    }

    #[test]
    fn a_datatype_that_is_not_written_is_told() {
        let mut losses = Vec::new();
        let mut attribute = attribute("1").0;
        attribute.datatype = Datatype::Int8;
        attribute.short = false;
        assert_eq!(write(&attribute, "`x`", &mut losses), "1");
        assert_eq!(losses, ["the attribute \"a\" of `x` is written without its datatype, `int8`"]);
        attribute.datatype = Datatype::Float64;
        assert_eq!(write(&attribute, "`x`", &mut losses), "1.0");
        assert_eq!(losses.len(), 1);
    }

    fn kind(text: &str) -> LiteralKind {
        parse(text.as_bytes(), 7, Language::Json).unwrap().kind
    }

    #[test]
    fn it_is_written_in_ascii_as_python_does() {
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
        fn numbers_and_texts_come_back(number: f64, integer: i64, large: u64, text: String) {
            for value in [number.into(), integer.into(), large.into()] {
                prop_assert_eq!(kind(&to_json(&value)), LiteralKind::Number(value));
            }
            let written = json_text(&text);
            prop_assert!(written.is_ascii());
            prop_assert_eq!(kind(&written), LiteralKind::Text(text));
        }
    }
}
