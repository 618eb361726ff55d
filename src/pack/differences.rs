//! The differences between two descriptions of one array or coordinate.

use std::collections::BTreeMap;

use super::describe::{Fit, fit};
use super::described::Described;
use crate::interchange::element_of_word;
use crate::ndl::{Attribute, Datatype, Step, Storage, Value};

/// Maximum number of characters of a text that a message shows.
const MAX_TEXT_SHOWN: usize = 80;

/// How two statements differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Contrast {
    /// They contradict each other.
    Contradiction,
    /// They mean the same but are written differently, such as 1 and 1.0.
    Form,
    /// Only one of the two descriptions has it.
    Silence,
}

/// One difference between two descriptions.
#[derive(Debug)]
pub(super) struct Difference<'a> {
    pub(super) contrast: Contrast,
    pub(super) what: String,
    /// The position in either description.
    pub(super) place: Vec<Step<'a>>,
    pub(super) one: String,
    pub(super) other: String,
}

/// Returns all differences between two descriptions, except in shapes. With `shared`, attributes of their groups count
/// as attributes of the arrays.
pub(super) fn differences<'a>(
    one: &Described<'a>,
    other: &Described<'a>,
    shared: bool,
) -> Vec<Difference<'a>> {
    let mut found = Vec::new();
    let arrays = [one, other].map(|side| side.entity.array());
    let (types, key) = (arrays.map(|array| &array.datatype), Step::Key);
    let contrast = compare_types(types[0], types[1]);
    let shown = types.map(|datatype| short(datatype.to_flow()));
    push(&mut found, contrast, "the type", vec![key("type")], shown);
    let values = (arrays[0].value.as_ref(), arrays[1].value.as_ref());
    compare_stated(&mut found, values, "the value", vec![key("value")]);
    compare_attributes(&mut found, one, other, shared);
    compare_storage(&mut found, arrays[0].storage.as_ref(), arrays[1].storage.as_ref());
    found
}

pub(super) fn push<'a>(
    found: &mut Vec<Difference<'a>>,
    contrast: Option<Contrast>,
    what: &str,
    place: Vec<Step<'a>>,
    [one, other]: [String; 2],
) {
    let what = what.to_owned();
    found.extend(contrast.map(|contrast| Difference { contrast, what, place, one, other }));
}

fn compare_stated<'a>(
    found: &mut Vec<Difference<'a>>,
    (one, other): (Option<&Value>, Option<&Value>),
    what: &str,
    place: Vec<Step<'a>>,
) {
    let contrast = match (one, other) {
        (Some(one), Some(other)) => compare_values(one, other),
        (None, None) => None,
        _ => Some(Contrast::Silence),
    };
    let shown = |value: Option<&Value>| value.map_or_else(|| "nothing".to_owned(), line);
    push(found, contrast, what, place, [shown(one), shown(other)]);
}

fn compare_attributes<'a>(
    found: &mut Vec<Difference<'a>>,
    one: &Described<'a>,
    other: &Described<'a>,
    shared: bool,
) {
    // An array's own attributes override those of its group.
    let all = |side: &Described<'a>| {
        let of_group = side.group.attributes.iter().filter(|_| shared);
        let facts = of_group.chain(&side.entity.array().attributes);
        facts.map(|fact| (fact.name.as_str(), fact)).collect::<BTreeMap<_, _>>()
    };
    let (ones, others) = (all(one), all(other));
    // Other attributes of the other's group describe that group.
    let more = other.entity.array().attributes.iter().map(|fact| fact.name.as_str());
    let more = more.filter(|name| !ones.contains_key(name));
    for name in ones.keys().copied().chain(more) {
        let facts = [ones.get(name), others.get(name)];
        let contrast = match facts {
            [Some(one), Some(other)] => compare_facts(one, other),
            _ => Some(Contrast::Silence),
        };
        let shown = facts.map(|fact| fact.map_or("nothing".to_owned(), |fact| line(&fact.value)));
        let place = vec![Step::Key("attributes"), Step::Key(name)];
        push(found, contrast, &format!("`{name}`"), place, shown);
    }
}

fn compare_facts(one: &Attribute, other: &Attribute) -> Option<Contrast> {
    if one.shape != other.shape {
        return Some(Contrast::Contradiction);
    }
    let form = one.datatype != other.datatype || one.storage != other.storage;
    compare_values(&one.value, &other.value).or(form.then_some(Contrast::Form))
}

fn compare_storage<'a>(
    found: &mut Vec<Difference<'a>>,
    one: Option<&'a Storage>,
    other: Option<&'a Storage>,
) {
    let none = Storage::default();
    let (one, other) = [one, other].map(|storage| storage.unwrap_or(&none)).into();
    let unknown =
        |storage: &Storage| (!storage.other.is_empty()).then(|| Value::Map(storage.other.clone()));
    let stated = |storage: &Storage, key: &str| match key {
        "storage" => unknown(storage),
        _ => storage.get(key),
    };
    // Shape and order are compared with the header.
    for key in ["chunk", "filter", "endian", "charset", "fillvalue", "storage"] {
        let place = vec![Step::Key("storage"), Step::Key(key)];
        let values = (stated(one, key), stated(other, key));
        let what = format!("`storage.{key}`");
        compare_stated(found, (values.0.as_ref(), values.1.as_ref()), &what, place);
    }
}

/// Compares two values: integers as integers, and integers with floats exactly.
pub(super) fn compare_values(one: &Value, other: &Value) -> Option<Contrast> {
    let worst = |all: &mut dyn Iterator<Item = Option<Contrast>>| {
        all.fold(None, |worst, next| match (worst, next) {
            (Some(Contrast::Contradiction), _) | (_, Some(Contrast::Contradiction)) => {
                Some(Contrast::Contradiction)
            }
            (worst, next) => worst.or(next),
        })
    };
    match (one, other) {
        _ if one == other => None,
        (Value::List(a), Value::List(b)) if a.len() == b.len() => {
            worst(&mut a.iter().zip(b).map(|(a, b)| compare_values(a, b)))
        }
        (Value::Map(a), Value::Map(b)) if a.len() == b.len() => {
            let others: BTreeMap<_, _> = b.iter().map(|(key, value)| (key, value)).collect();
            worst(&mut a.iter().map(|(key, value)| match others.get(key) {
                Some(other) => compare_values(value, other),
                None => Some(Contrast::Contradiction),
            }))
        }
        (Value::Float(a), Value::Float(b)) if *a == 0.0 && *b == 0.0 => Some(Contrast::Form),
        (number, float @ Value::Float(_)) | (float @ Value::Float(_), number)
            if number.as_integer().is_some_and(|integer| float.to_integer() == Some(integer)) =>
        {
            Some(Contrast::Form)
        }
        _ => Some(Contrast::Contradiction),
    }
}

fn line(value: &Value) -> String {
    short(value.to_line())
}

/// Shortens a text to fit one line of a message.
pub(super) fn short(text: String) -> String {
    match text.char_indices().nth(MAX_TEXT_SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

/// Compares two types for the same element; `None` if they mean the same.
pub(super) fn compare_types(one: &Datatype, other: &Datatype) -> Option<Contrast> {
    let members = |members: &[(String, i128)]| members.iter().cloned().collect::<BTreeMap<_, _>>();
    match (one, other) {
        _ if one == other => None,
        (Datatype::Enum { members: a, .. }, Datatype::Enum { members: b, .. })
            if one.resolved_base() == other.resolved_base() && members(a) == members(b) =>
        {
            None
        }
        (Datatype::Enum { .. }, Datatype::Enum { .. }) => Some(Contrast::Contradiction),
        // Names for numbers, text or the parts of an element give more information than a size.
        (Datatype::Enum { .. } | Datatype::String, _)
        | (_, Datatype::Enum { .. } | Datatype::String) => Some(Contrast::Silence),
        _ => {
            let element = element_of_word(one).or_else(|| element_of_word(other));
            let is_both =
                |element| [one, other].iter().all(|datatype| fit(datatype, element) == Fit::Exact);
            match (element, one, other) {
                (Some(element), ..) if is_both(element) => None,
                (_, Datatype::Opaque { .. }, _) | (_, _, Datatype::Opaque { .. }) => {
                    Some(Contrast::Silence)
                }
                _ => Some(Contrast::Contradiction),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_values() {
        let compare = |one: Value, other: Value| compare_values(&one, &other);
        assert_eq!(compare(Value::Int(1), Value::Float(1.0)), Some(Contrast::Form));
        assert_eq!(compare(Value::Float(f64::NAN), Value::Float(f64::NAN)), None);
        assert_eq!(compare(Value::Int(1), Value::from("1")), Some(Contrast::Contradiction));
        // Above 2^53, floats do not represent every integer.
        let (exact, near) = (9_007_199_254_740_992_i64, 9_007_199_254_740_993_i64);
        let float = Value::Float(9_007_199_254_740_992.0);
        assert_eq!(compare(Value::Int(exact), float.clone()), Some(Contrast::Form));
        assert_eq!(compare(Value::Int(near), float), Some(Contrast::Contradiction));
        let lists = (Value::from(vec![1_i64, 2]), Value::from(vec![1.0_f64, 2.5]));
        assert_eq!(compare(lists.0, lists.1), Some(Contrast::Contradiction));
    }

    #[test]
    fn two_words_for_one_type_are_the_same() {
        let pair = |part: Datatype| {
            Datatype::Compound(vec![("r".to_owned(), part.clone()), ("i".to_owned(), part)])
        };
        let tagged = Datatype::Opaque { size: 2, tag: Some("float16".to_owned()) };
        assert_eq!(compare_types(&Datatype::Complex64, &pair(Datatype::Float32)), None);
        assert_eq!(compare_types(&tagged, &Datatype::Float16), None);
        let other = compare_types(&Datatype::Complex64, &pair(Datatype::Float64));
        assert_eq!(other, Some(Contrast::Contradiction));
        let names = |first: &str| Datatype::Enum {
            base: None,
            members: vec![(first.to_owned(), 0), ("on".to_owned(), 1)],
        };
        assert_eq!(compare_types(&names("off"), &names("no")), Some(Contrast::Contradiction));
        assert_eq!(compare_types(&names("off"), &Datatype::UInt8), Some(Contrast::Silence));
    }
}
