//! Attributes: JSON on one side, values with a shape and a datatype on the other.

use super::header::Fact;
use super::json::{self, Json, Kind};
use crate::ndl::{Attribute, Datatype, Value};

/// The attribute that names the dimensions of an array which have no coordinates.
pub(super) const DIMS: &str = "_dims";

/// The attribute for a fact of `of`; what is neither number, text nor list of one kind becomes its JSON.
pub(super) fn read(fact: &Fact, of: &str, losses: &mut Vec<String>) -> Attribute {
    if let Some((shape, datatype, value)) = value_of(&fact.json) {
        let short = shape.is_empty();
        return Attribute { name: fact.name.clone(), shape, datatype, value, storage: None, short };
    }
    losses.push(format!(
        "the attribute {:?} of {of} is {} without a counterpart, and kept as the text of its JSON",
        fact.name,
        fact.json.describe()
    ));
    text(&fact.name, fact.text.clone())
}

fn text(name: &str, text: String) -> Attribute {
    Attribute {
        name: name.to_owned(),
        shape: Vec::new(),
        datatype: Datatype::String,
        value: Value::String(text),
        storage: None,
        short: true,
    }
}

/// The attribute that names dimensions.
pub(super) fn dims(names: &[String]) -> Attribute {
    Attribute {
        name: DIMS.to_owned(),
        shape: vec![u64::try_from(names.len()).unwrap_or(u64::MAX)],
        datatype: Datatype::String,
        value: Value::from(names.to_vec()),
        storage: None,
        short: false,
    }
}

fn value_of(json: &Json) -> Option<(Vec<u64>, Datatype, Value)> {
    let mut leaves = Vec::new();
    let mut shape = Vec::new();
    collect(json, 0, &mut shape, &mut leaves)?;
    let datatype = datatype_of(&leaves)?;
    let value = nest(json, &datatype)?;
    Some((shape, datatype, value))
}

/// The extents of nested lists and what is in them; `None` when they are ragged or hold anything else
/// than numbers and texts.
fn collect<'a>(
    json: &'a Json,
    axis: usize,
    shape: &mut Vec<u64>,
    leaves: &mut Vec<&'a Value>,
) -> Option<Leaf> {
    match &json.kind {
        Kind::List(list) => {
            let length = u64::try_from(list.len()).ok()?;
            if axis == shape.len() {
                shape.push(length);
            } else if shape.get(axis) != Some(&length) {
                return None;
            }
            let depth = axis.saturating_add(1);
            let mut kinds = list.iter().map(|json| collect(json, depth, shape, leaves));
            let Some(first) = kinds.next() else { return Some(Leaf::Empty) };
            let first = first?;
            for kind in kinds {
                if kind? != first {
                    return None;
                }
            }
            Some(Leaf::Nested(Box::new(first)))
        }
        Kind::Number(number) if axis == shape.len() => {
            leaves.push(number);
            Some(Leaf::Number)
        }
        Kind::Text(_) if axis == shape.len() => Some(Leaf::Text),
        _ => None,
    }
}

/// What lies in a list.
#[derive(PartialEq)]
enum Leaf {
    Empty,
    Number,
    Text,
    Nested(Box<Self>),
}

/// The datatype that holds all numbers exactly; without numbers they are texts.
fn datatype_of(numbers: &[&Value]) -> Option<Datatype> {
    if numbers.is_empty() {
        return Some(Datatype::String);
    }
    if numbers.iter().any(|number| matches!(number, Value::Float(_))) {
        let exact = |number: &&Value| super::fill::to_bits(number, &Datatype::Float64).is_some();
        return numbers.iter().all(exact).then_some(Datatype::Float64);
    }
    let is_large = |number: &&Value| matches!(number, Value::UInt(_));
    if numbers.iter().any(is_large) {
        let fits = |number: &&Value| number.as_integer().is_some_and(|number| number >= 0);
        return numbers.iter().all(fits).then_some(Datatype::UInt64);
    }
    Some(Datatype::Int64)
}

fn nest(json: &Json, datatype: &Datatype) -> Option<Value> {
    match &json.kind {
        Kind::List(list) => {
            list.iter().map(|json| nest(json, datatype)).collect::<Option<_>>().map(Value::List)
        }
        Kind::Number(number) if *datatype == Datatype::Float64 => {
            super::fill::to_bits(number, datatype).map(|bits| Value::Float(f64::from_bits(bits)))
        }
        Kind::Number(number) => Some(number.clone()),
        Kind::Text(text) => Some(Value::String(text.clone())),
        _ => None,
    }
}

/// The JSON of an attribute of `of`.
pub(super) fn write(attribute: &Attribute, of: &str, losses: &mut Vec<String>) -> String {
    let natural = match &attribute.datatype {
        Datatype::String | Datatype::Float64 | Datatype::Int64 => true,
        // What is above the range of `int64` is read as `uint64` again.
        Datatype::UInt64 => is_large(&attribute.value),
        _ => false,
    };
    if !natural {
        losses.push(format!(
            "the attribute {:?} of {of} is written without its datatype, `{}`",
            attribute.name, attribute.datatype
        ));
    }
    let mut out = String::new();
    if attribute.datatype == Datatype::Float64 {
        json::write(&mut out, &as_floats(&attribute.value));
    } else {
        json::write(&mut out, &attribute.value);
    }
    out
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
        Value::Int(_) | Value::UInt(_) => match super::fill::to_bits(value, &Datatype::Float64) {
            Some(bits) => Value::Float(f64::from_bits(bits)),
            None => value.clone(),
        },
        _ => value.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn attribute(text: &str) -> (Attribute, Vec<String>) {
        let json = json::parse(text.as_bytes(), 0).unwrap();
        let mut losses = Vec::new();
        let fact = Fact { name: "a".to_owned(), json, text: text.to_owned() };
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
}
