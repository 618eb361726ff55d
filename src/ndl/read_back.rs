//! Compares written text with the reading of another YAML reader, which shares no code with this one and its writer.
//!
//! The comparison is exact: the writer quotes every text that readers of YAML 1.1 and 1.2 read in two ways. An edited
//! document may have such texts by hand, so only its edited values are compared.

use std::collections::HashMap;
use std::fmt;

use super::edit::change::ValueChange;
use super::model::Document;
use super::node::Step;
use super::source::BOM;
use super::value::Value;
use super::{scalar, write};

/// Length of the longest text that is read in one piece, in bytes. The other reader takes about ten times as much memory.
const MAX_PIECE: usize = 8 << 20;

/// A value that the other reader reads in another way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Misread {
    /// The keys and indices of the value, joined by points; empty for the whole text.
    pub(crate) key: String,
    pub(crate) expected: String,
    pub(crate) found: String,
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { key, expected, found } = self;
        write!(f, "another YAML reader finds {found} instead of {expected} at `{key}`")
    }
}

impl Document {
    /// Returns the canonical text like [`Document::to_yaml`], after comparing it.
    pub(crate) fn to_compared_yaml(&self) -> Result<String, Misread> {
        let value = self.to_value();
        let text = write::to_yaml(&value);
        compare(&text, &value).map(|()| text)
    }
}

/// Compares a text with the value that it must mean. A text of more than 8 MiB is not compared.
pub(crate) fn compare(text: &str, expected: &Value) -> Result<(), Misread> {
    if text.len() > MAX_PIECE {
        return Ok(());
    }
    let found = read(text).map_err(|error| misread(&[], expected.describe(), error))?;
    compare_values(expected, &found, &mut Vec::new())
}

/// Compares the changed values of an edited text with those of the document that it must mean. A text that the other
/// reader could not read before the edit is not compared.
pub(super) fn compare_changes(
    (old, new): (&str, &str),
    wanted: &Document,
    changes: &[ValueChange],
) -> Result<(), (usize, Misread)> {
    let is_compared = new.len() <= MAX_PIECE && !changes.is_empty();
    let found = match read(new) {
        _ if !is_compared => return Ok(()),
        Ok(found) => found,
        Err(_) if read(old).is_err() => return Ok(()),
        Err(error) => return Err((0, misread(&[], wanted.to_value().describe(), error))),
    };
    let (expected, mut in_expected, mut in_found) =
        (wanted.to_value(), <_>::default(), <_>::default());
    for (at, change) in changes.iter().enumerate() {
        let mut keys = change.path.clone();
        let place = change.place(wanted.form);
        // A removed value, and a default that is written out, are not in the value of the document.
        let Some(expected) = Places::find(&mut in_expected, &expected, &place) else { continue };
        let Some(found) = Places::find(&mut in_found, &found, &place) else {
            return Err((at, misread(&keys, expected.describe(), "nothing")));
        };
        compare_values(expected, found, &mut keys).map_err(|found| (at, found))?;
    }
    Ok(())
}

/// Reads a text. To the other reader, a byte order mark in a string is a part of the first key.
fn read(text: &str) -> Result<Value, serde_yaml::Error> {
    serde_yaml::from_str(text.strip_prefix(BOM).unwrap_or(text))
}

/// Finds values by their keys. A mapping may have any number of keys, and any number of them may have changed.
#[derive(Default)]
struct Places<'v>(HashMap<*const (String, Value), HashMap<&'v str, &'v Value>>);

impl<'v> Places<'v> {
    /// Returns the value at the keys of mappings and indices of lists.
    fn find(&mut self, value: &'v Value, place: &[Step<'_>]) -> Option<&'v Value> {
        place.iter().try_fold(value, |value, step| match (value, step) {
            (Value::Map(map), Step::Key(key)) => {
                let index = || map.iter().map(|(key, value)| (&**key, value)).collect();
                self.0.entry(map.as_ptr()).or_insert_with(index).get(key).copied()
            }
            (Value::List(list), Step::Index(at)) => list.get(*at),
            _ => None,
        })
    }
}

/// Compares two values at the same keys.
fn compare_values(expected: &Value, found: &Value, keys: &mut Vec<String>) -> Result<(), Misread> {
    let pairs: Vec<_> = match (expected, found) {
        (Value::List(expected), Value::List(found)) if expected.len() == found.len() => {
            let keys = (0..).map(|at: u64| at.to_string());
            keys.zip(expected.iter().zip(found.iter().map(Some))).collect()
        }
        (Value::Map(expected), Value::Map(found)) if expected.len() == found.len() => {
            // Usually in the same order.
            let value_of = |nth: usize, key: &str| {
                let same = found.get(nth).filter(|(known, _)| known == key);
                let same = same.or_else(|| found.iter().find(|(known, _)| known == key));
                same.map(|(_, value)| value)
            };
            let keys = expected.iter().map(|(key, _)| key.clone());
            let values = expected.iter().enumerate();
            keys.zip(values.map(|(nth, (key, value))| (value, value_of(nth, key)))).collect()
        }
        _ if expected == found || is_octal(expected, found) => return Ok(()),
        _ => {
            let count = |value: &Value| match value {
                Value::List(list) => format!("a list of {}", list.len()),
                Value::Map(map) => format!("a mapping of {}", map.len()),
                scalar => scalar.describe(),
            };
            return Err(misread(keys, count(expected), count(found)));
        }
    };
    for (key, (expected, found)) in pairs {
        keys.push(key);
        let Some(found) = found else {
            return Err(misread(keys, expected.describe(), "nothing"));
        };
        compare_values(expected, found, keys)?;
        keys.pop();
    }
    Ok(())
}

/// Returns whether this is a plain number with zeros before it, such as `010`. It is ten by YAML 1.2 and eight by 1.1, so
/// the other reader leaves it text. Only people write it, as an element of a list in which another element changed.
fn is_octal(expected: &Value, found: &Value) -> bool {
    let Value::String(text) = found else { return false };
    let digits = text.trim_start_matches(['+', '-']);
    digits.starts_with('0') && scalar::resolve(text).as_ref() == Ok(&Some(expected.clone()))
}

#[expect(clippy::needless_pass_by_value, reason = "callers pass texts that they no longer need")]
fn misread(keys: &[String], expected: String, found: impl ToString) -> Misread {
    Misread { key: keys.join("."), expected, found: found.to_string() }
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, Form, parse, revise};
    use super::*;

    /// Returns a value of each kind.
    fn value() -> Value {
        let scalars = [
            ("null", Value::Null),
            ("bool", Value::Bool(true)),
            ("int", Value::Int(-5)),
            ("uint", Value::UInt(u64::MAX)),
            ("float", Value::Float(0.5)),
            ("nan", Value::Float(f64::NAN)),
            ("no", Value::from("no")),
            ("text", Value::from("a: b\nc\n")),
        ];
        let map = scalars.map(|(key, value)| (key.to_owned(), value)).to_vec();
        let list = vec![Value::Map(map.clone()), Value::from(vec![1, 2])];
        Value::Map([map, vec![("list".to_owned(), Value::List(list))]].concat())
    }

    #[test]
    fn a_fault_in_the_text_of_each_kind_of_value_is_found() {
        let text = write::to_yaml(&value());
        assert_eq!(compare(&text, &value()), Ok(()));
        for (from, to, key) in [
            ("\"null\": null", "\"null\": 0", "null"),
            ("bool: true", "bool: \"true\"", "bool"),
            ("int: -5", "int: 5", "int"),
            ("uint: 18446744073709551615", "uint: 18446744073709551614", "uint"),
            ("float: 0.5", "float: 0.25", "float"),
            ("nan: .nan", "nan: nan", "nan"),
            ("\"no\": \"no\"", "\"no\": false", "no"),
            ("  c\n", "  d\n", "text"),
            ("[1, 2]", "[1, 3]", "list.1.1"),
            ("[1, 2]", "[1, 2, 3]", "list.1"),
            ("[1, 2]", "{a: 1}", "list.1"),
            ("int: -5", "integer: -5", "int"),
            ("int: -5\n", "", ""),
            ("[1, 2]", "[1, 2", ""),
        ] {
            let wrong = text.replacen(from, to, 1);
            assert_ne!(wrong, text, "{from}");
            // Some keys are quoted, and some are at two places.
            let found = compare(&wrong, &value()).unwrap_err();
            assert_eq!(found.key, key, "{found}");
        }
    }

    #[test]
    fn only_edited_values_of_a_text_by_hand_are_compared() {
        let old =
            "# mine\nattributes: {n: 010, a: 1, b: {shape: [2], type: int8, value: [010, 5]}}\n";
        let mut wanted = parse(old.as_bytes()).document.unwrap();
        assert_eq!(wanted.form, Form::Flat);
        let root = &mut wanted.groups[0].attributes;
        root[1] = Attribute::short("a", "no").unwrap();
        root[2].value = Value::from(vec![10, 6]);
        let revision = revise(old, &wanted).unwrap();
        let compare = |new: &str| compare_changes((old, new), &wanted, &revision.changes);
        assert_eq!(compare(&revision.text), Ok(()));
        let (at, found) = compare(&revision.text.replace("\"no\"", "no way")).unwrap_err();
        assert_eq!((at, &*found.key), (0, "/.attributes.a"));
        assert_eq!(compare(&revision.text.replace(", 6]", ", 7]")).unwrap_err().0, 1);
        // Texts that only this reader reads.
        let unread = "a: 99999999999999999999\n";
        assert_eq!(compare_changes((unread, unread), &wanted, &revision.changes), Ok(()));
    }
}
