//! Elements that a description gives as its `value` although there is an array: both have to be the same.

use half::{bf16, f16};

use super::contents::{Contents, Described};
use super::coordinates::join_groups;
use super::facts::Sources;
use super::{ArrayFacts, group_of, shape_of};
use crate::finding::{Code, Finding};
use crate::ndl::{Datatype, Order, Step, Value, entity_path, enum_number};
use crate::path::MemberPath;
use crate::ra::{self, ElementKind, ElementType, Header};

/// Elements in a document, and the array that holds them as well.
#[derive(Debug)]
pub(crate) struct Inlined<'a> {
    pub(crate) array: &'a MemberPath,
    pub(crate) header: &'a Header,
    described: Described<'a>,
    value: &'a Value,
}

impl Contents {
    /// All elements that are in a document and in an array. Most packs have none.
    pub(crate) fn inlined(&self) -> Vec<Inlined<'_>> {
        let mut found = Vec::new();
        let documents = self.descriptions.iter().filter(|(_, facts)| !facts.is_plain());
        let beside =
            documents.map(|(path, facts)| (group_of(path), path.as_str(), &**facts, false));
        // The document of a whole pack is long, and is not read for nothing: an escape may spell any word.
        let may_have = |text: &str| text.contains("value:") || text.contains(['\\', '"', '\'']);
        let of_pack = self.pack_document.iter().filter(|(_, facts)| may_have(facts.text()));
        let of_pack =
            of_pack.map(|(member, facts)| ("/".to_owned(), member.as_str(), &**facts, true));
        for (base, member, facts, of_pack) in beside.chain(of_pack) {
            let Some(document) = facts.document() else { continue };
            for (group, entity) in document.entities() {
                let Some(value) = &entity.array().value else { continue };
                let described = Described { member, facts, group, entity, of_pack };
                let path = entity_path(&join_groups(&base, &group.path), &entity.array().name);
                let own = self.array_that_is(&described);
                let array = own.or_else(|| self.array_at(&path));
                if let Some((array, facts)) = array
                    && let Ok(header) = &facts.header
                {
                    found.push(Inlined { array, header, described, value });
                }
            }
        }
        found
    }

    /// The array beside a document, when the document means this entity by it.
    fn array_that_is(&self, described: &Described<'_>) -> Option<(&MemberPath, &ArrayFacts)> {
        let (array, facts) = self.arrays.get_key_value(self.array_of(described.member)?)?;
        let meant = self.description(array, &mut Vec::new())?;
        let is_it = meant.member == described.member
            && meant.entity.array().name == described.entity.array().name
            && meant.group.path == described.group.path;
        is_it.then_some((array, facts))
    }
}

impl Inlined<'_> {
    /// As many bytes of the array's file as are needed, when the elements can be compared: the document is about
    /// as long.
    pub(crate) fn len(&self) -> Option<u64> {
        let stored = self.header.stored_len();
        let fits = match self.text() {
            Some(text) => Ok(self.header.data_len()) == u64::try_from(text.len()),
            None => self.elements_fit(),
        };
        // What is encoded is hardly longer for it.
        let is_short = stored / 2 <= self.header.data_len().saturating_add(4096);
        (fits && is_short).then(|| self.header.header_len().saturating_add(stored))
    }

    /// The text, where it is all that there is.
    fn text(&self) -> Option<&str> {
        let is_text = self.described.entity.array().datatype == Datatype::String;
        self.value.as_str().filter(|_| is_text)
    }

    fn elements_fit(&self) -> bool {
        let (given, element) = (leaves(self.value), self.header.element());
        let is_pair = element.kind() == ElementKind::Complex && given % 2 == 0;
        let given = if is_pair && given != self.header.elements() { given / 2 } else { given };
        given == self.header.elements() && is_number(element)
    }

    /// What is wrong, when these are the first [`Inlined::len`] bytes of the array.
    pub(crate) fn compare(&self, file: &[u8]) -> Option<Finding> {
        // What is wrong with the array is said elsewhere.
        let decoded = ra::decode(file).ok()?;
        let mut walk = Walk {
            inlined: self,
            data: &decoded.data,
            steps: self.steps(),
            index: Vec::new(),
            wrong: 0,
            first: None,
        };
        if let Some(text) = self.text() {
            walk.element(self.value, text.as_bytes() == walk.data);
        } else if matches!(self.value, Value::List(_)) || self.header.elements() != 1 {
            walk.level(self.value, 0)?;
        } else {
            walk.at(self.value, 0)?;
        }
        let Walk { wrong, first, .. } = walk;
        let (index, found) = first?;
        let shown: Vec<_> = index.iter().map(u64::to_string).collect();
        let more = if wrong > 1 { format!(" and {} more", wrong - 1) } else { String::new() };
        let message = format!(
            "the value is not what `{}` holds, at [{}]{more}",
            self.array,
            shown.join(", ")
        );
        let expected = self.shown_element(&decoded.data, &index);
        let finding = Finding::new(Code::ValueMismatch, message)
            .expected(format!("{expected}, from the array"), found)
            .about_array(self.array.as_str());
        Some(self.place(finding, &index))
    }

    /// What is wrong where there is no [`Inlined::len`].
    pub(crate) fn incomparable(&self) -> Option<Finding> {
        if let Some(text) = self.text() {
            let (stored, given) = (self.header.data_len(), text.len());
            let message = format!("the value is not what `{}` holds", self.array);
            let finding = Finding::new(Code::ValueMismatch, message)
                .expected(format!("{stored} bytes, from the array"), format!("{given} bytes"))
                .about_array(self.array.as_str());
            return Some(self.place(finding, &[]));
        }
        // Of another number of elements, the shape is wrong.
        if is_number(self.header.element()) {
            return None;
        }
        let message = format!(
            "the value is not compared with `{}`: the language does not say how an element of `{}` is written",
            self.array,
            self.described.entity.array().datatype
        );
        let finding = Finding::new(Code::LooseDescription, message)
            .hint("leave the value out: the array has it")
            .about_array(self.array.as_str());
        Some(self.place(finding, &[]))
    }

    fn place(&self, finding: Finding, index: &[u64]) -> Finding {
        let index = index.iter().map(|at| Step::Index(usize::try_from(*at).unwrap_or(usize::MAX)));
        let place: Vec<_> = std::iter::once(Step::Key("value")).chain(index).collect();
        Sources::default().at(&self.described, finding, &place)
    }

    /// For each index of the shape, the elements that lie between two of its values, and how many it has.
    fn steps(&self) -> Vec<(u64, u64)> {
        let order = self.described.order();
        let extents = shape_of(self.header.dims(), order);
        let mut step = 1_u64;
        let mut add = |extent: &u64| {
            let this = (step, *extent);
            step = step.saturating_mul(*extent);
            this
        };
        match order {
            Order::Column => extents.iter().map(add).collect(),
            Order::Row | Order::RowUnreversed => {
                let mut steps: Vec<_> = extents.iter().rev().map(&mut add).collect();
                steps.reverse();
                steps
            }
        }
    }

    fn shown_element(&self, data: &[u8], index: &[u64]) -> String {
        if self.text().is_some() {
            return format!(
                "{:?}",
                String::from_utf8_lossy(data).chars().take(80).collect::<String>()
            );
        }
        let pairs = index.iter().zip(self.steps());
        let at =
            pairs.fold(0_u64, |sum, (at, (step, _))| sum.saturating_add(at.saturating_mul(step)));
        let bytes = element_bytes(data, self.header.element(), at).unwrap_or_default();
        let parts = numbers(self.header.element(), bytes).unwrap_or_default();
        let parts: Vec<_> = parts.iter().map(StoredNumber::to_string).collect();
        match &parts[..] {
            [one] => one.clone(),
            parts => format!("[{}]", parts.join(", ")),
        }
    }
}

/// The scalars in a value.
fn leaves(value: &Value) -> u64 {
    match value {
        Value::List(list) => list.iter().map(leaves).sum(),
        Value::Map(map) => map.iter().map(|(_, value)| leaves(value)).sum(),
        _ => 1,
    }
}

struct Walk<'w> {
    inlined: &'w Inlined<'w>,
    data: &'w [u8],
    steps: Vec<(u64, u64)>,
    index: Vec<u64>,
    wrong: u64,
    first: Option<(Vec<u64>, String)>,
}

impl Walk<'_> {
    /// Goes through the lists of one index; nothing when the value has another shape, which is said elsewhere.
    fn level(&mut self, value: &Value, position: u64) -> Option<()> {
        let Some(&(step, extent)) = self.steps.get(self.index.len()) else {
            return self.at(value, position);
        };
        let Value::List(list) = value else { return None };
        if u64::try_from(list.len()) != Ok(extent) {
            return None;
        }
        for (at, value) in (0..extent).zip(list) {
            self.index.push(at);
            self.level(value, position.checked_add(at.checked_mul(step)?)?)?;
            self.index.pop();
        }
        Some(())
    }

    fn at(&mut self, value: &Value, position: u64) -> Option<()> {
        let element = self.inlined.header.element();
        let stored = numbers(element, element_bytes(self.data, element, position)?)?;
        let is_it = is_said(value, &self.inlined.described.entity.array().datatype, &stored);
        self.element(value, is_it);
        Some(())
    }

    fn element(&mut self, value: &Value, is_it: bool) {
        if !is_it {
            self.wrong += 1;
            let index = &self.index;
            self.first
                .get_or_insert_with(|| (index.clone(), value.to_line().chars().take(80).collect()));
        }
    }
}

fn element_bytes(data: &[u8], element: ElementType, position: u64) -> Option<&[u8]> {
    let start = usize::try_from(position.checked_mul(element.elbyte())?).ok()?;
    data.get(start..start.checked_add(usize::try_from(element.elbyte()).ok()?)?)
}

/// A number as the array holds it.
#[derive(Debug, Clone, Copy, PartialEq)]
enum StoredNumber {
    Int(i128),
    UInt(u128),
    Half(f16),
    Brain(bf16),
    Single(f32),
    Double(f64),
}

impl std::fmt::Display for StoredNumber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Int(number) => number.fmt(f),
            Self::UInt(number) => number.fmt(f),
            Self::Half(number) => number.fmt(f),
            Self::Brain(number) => number.fmt(f),
            Self::Single(number) => write!(f, "{number:?}"),
            Self::Double(number) => write!(f, "{number:?}"),
        }
    }
}

impl StoredNumber {
    /// Whether a number of a document, read as the type of this one, is this one.
    fn is(self, value: &Value) -> bool {
        let text = match value {
            Value::Int(number) => number.to_string(),
            Value::UInt(number) => number.to_string(),
            Value::Float(number) => format!("{number:?}"),
            _ => return false,
        };
        let double = || text.parse().unwrap_or(f64::NAN);
        // By way of a float of 64 bits there are two roundings, which change nothing here: each half has a
        // fifth of its digits.
        match self {
            Self::Int(stored) => text.parse() == Ok(stored),
            Self::UInt(stored) => text.parse() == Ok(stored),
            Self::Half(stored) => same(stored, f16::from_f64(double()), f16::is_nan),
            Self::Brain(stored) => same(stored, bf16::from_f64(double()), bf16::is_nan),
            Self::Single(stored) => same(stored, text.parse().unwrap_or(f32::NAN), f32::is_nan),
            Self::Double(stored) => same(stored, double(), f64::is_nan),
        }
    }
}

/// Not a number is not a number.
fn same<T: PartialEq + Copy>(one: T, other: T, is_nan: impl Fn(T) -> bool) -> bool {
    one == other || (is_nan(one) && is_nan(other))
}

fn is_number(element: ElementType) -> bool {
    let size = usize::try_from(element.elbyte()).unwrap_or(usize::MAX);
    size <= 16 && numbers(element, [0; 16].get(..size).unwrap_or_default()).is_some()
}

/// The numbers that an element is: two for a complex one.
fn numbers(element: ElementType, bytes: &[u8]) -> Option<Vec<StoredNumber>> {
    fn array<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
        bytes.try_into().ok()
    }
    if element.kind() == ElementKind::Complex {
        let (real, imaginary) = bytes.split_at_checked(bytes.len() / 2)?;
        let part = |bytes: &[u8]| float(bytes);
        return Some(vec![part(real)?, part(imaginary)?]);
    }
    if element == ElementType::BFLOAT16 {
        return Some(vec![StoredNumber::Brain(bf16::from_ne_bytes(array(bytes)?))]);
    }
    // Truth values of other programs are single bytes.
    let is_byte = element == ElementType::BOOL
        || (element.kind() == ElementKind::User && element.elbyte() == 1);
    let number = match (element.kind(), bytes.len()) {
        _ if is_byte => StoredNumber::UInt(u8::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::Int, 1) => StoredNumber::Int(i8::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::Int, 2) => StoredNumber::Int(i16::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::Int, 4) => StoredNumber::Int(i32::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::Int, 8) => StoredNumber::Int(i64::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::Int, 16) => StoredNumber::Int(i128::from_ne_bytes(array(bytes)?)),
        (ElementKind::UInt, 1) => StoredNumber::UInt(u8::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::UInt, 2) => StoredNumber::UInt(u16::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::UInt, 4) => StoredNumber::UInt(u32::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::UInt, 8) => StoredNumber::UInt(u64::from_ne_bytes(array(bytes)?).into()),
        (ElementKind::UInt, 16) => StoredNumber::UInt(u128::from_ne_bytes(array(bytes)?)),
        (ElementKind::Float, _) => float(bytes)?,
        _ => return None,
    };
    Some(vec![number])
}

fn float(bytes: &[u8]) -> Option<StoredNumber> {
    Some(match bytes.len() {
        2 => StoredNumber::Half(f16::from_ne_bytes(bytes.try_into().ok()?)),
        4 => StoredNumber::Single(f32::from_ne_bytes(bytes.try_into().ok()?)),
        8 => StoredNumber::Double(f64::from_ne_bytes(bytes.try_into().ok()?)),
        _ => return None,
    })
}

/// Whether a value means these numbers.
fn is_said(value: &Value, datatype: &Datatype, stored: &[StoredNumber]) -> bool {
    match (value, stored) {
        (Value::List(parts), [_, _]) if parts.len() == 2 => {
            parts.iter().zip(stored).all(|(part, stored)| stored.is(part))
        }
        (Value::Map(parts), [_, _]) if parts.len() == 2 => {
            parts.iter().zip(stored).all(|((_, part), stored)| stored.is(part))
        }
        (_, [stored]) => match datatype {
            Datatype::Enum { members, .. } => {
                let number = enum_number(value, members);
                number.is_some_and(|number| stored.is_integer(number))
            }
            _ => stored.is(value),
        },
        _ => false,
    }
}

impl StoredNumber {
    fn is_integer(self, number: i128) -> bool {
        match self {
            Self::Int(stored) => stored == number,
            Self::UInt(stored) => Ok(stored) == number.try_into(),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_what_their_type_makes_of_them() {
        let next = 9_007_199_254_740_993_i64;
        assert!(StoredNumber::Int(next.into()).is(&Value::Int(next)));
        assert!(!StoredNumber::Int(i128::from(next) - 1).is(&Value::Int(next)));
        assert!(StoredNumber::Double(9_007_199_254_740_992.0).is(&Value::Int(next)));
        assert!(StoredNumber::Single(0.1).is(&Value::Float(0.1)));
        assert!(!StoredNumber::Double(0.1_f32.into()).is(&Value::Float(0.1)));
        assert!(StoredNumber::Single(f32::NAN).is(&Value::Float(f64::NAN)));
        assert!(!StoredNumber::Single(f32::NAN).is(&Value::from("x")));
        assert!(StoredNumber::Half(f16::from_f32(0.1)).is(&Value::Float(0.1)));
        assert!(StoredNumber::UInt(u64::MAX.into()).is(&Value::UInt(u64::MAX)));
        assert!(!StoredNumber::UInt(1).is(&Value::Float(1.0)));
        let members = [("no".to_owned(), 0), ("true".to_owned(), 1)];
        assert_eq!(enum_number(&Value::Bool(true), &members), Some(1));
        assert_eq!(enum_number(&Value::from("no"), &members), Some(0));
    }
}
