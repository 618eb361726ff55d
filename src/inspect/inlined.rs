//! Comparison of the `value` of a description with the array that stores the same elements.

use crate::finding::{Code, Finding};
use crate::ndl::{Datatype, Order, Step, Value, enum_number};
use crate::pack::{ArrayFacts, Contents, Described, PACK_DOCUMENT, Sources, entity_path, shape_of};
use crate::path::MemberPath;
use crate::ra::{self, ElementKind, ElementType, Header};
use crate::read::values::{ReadNumber, is_number, read_number, real_type};

/// Elements in a document, and the array that also stores them.
#[derive(Debug)]
pub(crate) struct Inlined<'a> {
    pub(crate) array: &'a MemberPath,
    pub(crate) header: &'a Header,
    described: Described<'a>,
    value: &'a Value,
}

impl Contents {
    /// Returns all elements that are in a document and in an array. Most packs have none.
    pub(crate) fn inlined(&self) -> Vec<Inlined<'_>> {
        let mut found = Vec::new();
        let neighbours = self.descriptions.iter().filter(|(_, facts)| !facts.is_plain());
        let neighbours = neighbours.map(|(path, facts)| (path.as_str(), &**facts));
        // The document of a whole pack is long and is parsed only if it may contain the word, which escapes can hide.
        let may_have = |text: &str| text.contains("value:") || text.contains(['\\', '"', '\'']);
        let of_pack = self.pack_document.iter().filter(|facts| may_have(facts.text()));
        let of_pack = of_pack.map(|facts| (PACK_DOCUMENT, &**facts));
        for (member, facts) in neighbours.chain(of_pack) {
            let Some(document) = facts.document() else { continue };
            for (group, entity) in document.entities() {
                let Some(value) = &entity.array().value else { continue };
                let described = Described { member, facts, group, entity };
                let path = entity_path(&described.home(), &entity.array().name);
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

    /// Returns the array next to a document, if the document describes it as this entity.
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
    /// Returns the number of bytes of the array file that are needed, if the elements can be compared. The document is
    /// about as long.
    pub(crate) fn len(&self) -> Option<u64> {
        let stored = self.header.stored_len();
        let fits = match self.text() {
            Some(text) => Ok(self.header.data_len()) == u64::try_from(text.len()),
            None => self.elements_fit(),
        };
        // Encoded data is rarely longer than decoded data.
        let is_short = stored / 2 <= self.header.data_len().saturating_add(4096);
        (fits && is_short).then(|| self.header.header_len().saturating_add(stored))
    }

    /// Returns the text, if the value is one text.
    fn text(&self) -> Option<&str> {
        let is_text = self.described.entity.array().datatype == Datatype::String;
        self.value.as_str().filter(|_| is_text)
    }

    fn elements_fit(&self) -> bool {
        let (given, element) = (leaves(self.value), self.header.element());
        let is_pair = element.kind() == ElementKind::Complex && given % 2 == 0;
        let given = if is_pair && given != self.header.elements() { given / 2 } else { given };
        given == self.header.elements() && reader(element).is_some()
    }

    /// Compares the value with the first [`Inlined::len`] bytes of the array file.
    pub(crate) fn compare(&self, file: &[u8]) -> Option<Finding> {
        // Errors of the array are reported elsewhere.
        let data = ra::decode(file).ok()?.data;
        let (entity, element) = (self.described.entity, self.header.element());
        let is_list = matches!(self.value, Value::List(_)) || self.header.elements() != 1;
        let dims = if is_list && self.text().is_none() { self.header.dims() } else { &[] };
        let extents = shape_of(dims, self.described.order());
        // Errors of the shape are reported elsewhere.
        let values = self.value.elements(&extents)?;
        let mut first = None;
        let mut wrong = 0_u64;
        for (number, value) in (0..).zip(values) {
            let index = index_of(number, &extents);
            let bytes = match self.text() {
                Some(_) => &data[..],
                None => element_bytes(&data, element, self.position(&index, &extents))?,
            };
            let is_it = match self.text() {
                Some(text) => text.as_bytes() == bytes,
                None => is_said(value, &entity.array().datatype, element, bytes)?,
            };
            if !is_it {
                wrong += 1;
                first.get_or_insert((index, value, bytes));
            }
        }
        let (index, value, bytes) = first?;
        let shown: Vec<_> = index.iter().map(u64::to_string).collect();
        let more = if wrong > 1 { format!(" and {} more", wrong - 1) } else { String::new() };
        let message = format!(
            "the value differs from the elements of `{}` at [{}]{more}",
            self.array,
            shown.join(", ")
        );
        let expected = match self.text() {
            Some(_) => format!("{:?}", short(&String::from_utf8_lossy(bytes))),
            None => shown_element(element, bytes),
        };
        let finding = Finding::new(Code::ValueMismatch, message)
            .expected(format!("{expected} in the array"), short(&value.to_line()))
            .about_array(self.array.as_str());
        Some(self.place(finding, &index))
    }

    /// Returns the position in the file of the element at an index.
    fn position(&self, index: &[u64], extents: &[u64]) -> u64 {
        let pairs = index.iter().zip(extents);
        let next = |number, (at, extent): (&u64, &u64)| number * extent + at;
        match self.described.order() {
            Order::Column => pairs.rev().fold(0, next),
            Order::Row | Order::RowUnreversed => pairs.fold(0, next),
        }
    }

    /// Returns the problem if [`Inlined::len`] is `None`.
    pub(crate) fn incomparable(&self) -> Option<Finding> {
        if let Some(text) = self.text() {
            let (stored, given) = (self.header.data_len(), text.len());
            let message = format!("the value differs from the elements of `{}`", self.array);
            let finding = Finding::new(Code::ValueMismatch, message)
                .expected(format!("{stored} bytes in the array"), format!("{given} bytes"))
                .about_array(self.array.as_str());
            return Some(self.place(finding, &[]));
        }
        // The number of elements differs, which is an error of the shape.
        if reader(self.header.element()).is_some() {
            return None;
        }
        let message = format!(
            "the value cannot be compared with `{}`: NDL does not define how to write an element of type `{}`",
            self.array,
            self.described.entity.array().datatype
        );
        let finding = Finding::new(Code::LooseDescription, message)
            .hint("delete the value; the array contains it")
            .about_array(self.array.as_str());
        Some(self.place(finding, &[]))
    }

    fn place(&self, finding: Finding, index: &[u64]) -> Finding {
        let index = index.iter().map(|at| Step::Index(usize::try_from(*at).unwrap_or(usize::MAX)));
        let place: Vec<_> = std::iter::once(Step::Key("value")).chain(index).collect();
        Sources::default().at(&self.described, finding, &place)
    }
}

fn shown_element(element: ElementType, bytes: &[u8]) -> String {
    let number = |bytes| reader(element).map(|read| read(bytes).to_string());
    let parts: Option<Vec<_>> = parts(element, bytes).map(number).collect();
    match parts.as_deref() {
        Some([one]) => one.clone(),
        parts => format!("[{}]", parts.unwrap_or_default().join(", ")),
    }
}

/// Shortens a text for a message.
fn short(text: &str) -> String {
    text.chars().take(80).collect()
}

/// Returns the number of scalars in a value.
fn leaves(value: &Value) -> u64 {
    match value {
        Value::List(list) => list.iter().map(leaves).sum(),
        Value::Map(map) => map.iter().map(|(_, value)| leaves(value)).sum(),
        _ => 1,
    }
}

/// Returns the index of an element from its position, the last index fastest.
fn index_of(mut number: u64, extents: &[u64]) -> Vec<u64> {
    let mut index = extents.to_vec();
    for extent in index.iter_mut().rev() {
        (number, *extent) = (number / *extent, number % *extent);
    }
    index
}

fn element_bytes(data: &[u8], element: ElementType, position: u64) -> Option<&[u8]> {
    let start = usize::try_from(position.checked_mul(element.elbyte())?).ok()?;
    data.get(start..start.checked_add(usize::try_from(element.elbyte()).ok()?)?)
}

/// Returns the type of the number, or of both parts of a complex number.
fn part_of(element: ElementType) -> ElementType {
    // Booleans of other programs are single bytes.
    let is_byte = element != ElementType::BITS && element.reads_as::<u8>();
    if is_byte { ElementType::UINT8 } else { real_type(element) }
}

/// Returns the function that reads a number of the element; `None` if it is not a number.
fn reader(element: ElementType) -> Option<ReadNumber> {
    read_number(part_of(element))
}

/// Splits the bytes of an element into its numbers.
fn parts(element: ElementType, bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let count = if element.kind() == ElementKind::Complex { 2 } else { 1 };
    bytes.chunks((bytes.len() / count).max(1))
}

/// Returns whether a value equals the element; `None` for elements that are not numbers.
fn is_said(value: &Value, datatype: &Datatype, element: ElementType, bytes: &[u8]) -> Option<bool> {
    let read = reader(element)?;
    let is = |value: &Value, bytes: &[u8]| is_number(part_of(element), bytes, value);
    if element.kind() == ElementKind::Complex {
        let values: Vec<_> = match value {
            Value::List(values) => values.iter().collect(),
            Value::Map(values) => values.iter().map(|(_, value)| value).collect(),
            _ => Vec::new(),
        };
        let pairs = values.iter().zip(parts(element, bytes));
        return Some(values.len() == 2 && pairs.into_iter().all(|(value, bytes)| is(value, bytes)));
    }
    let Datatype::Enum { members, .. } = datatype else { return Some(is(value, bytes)) };
    let number = enum_number(value, members);
    Some(number.is_some() && read(bytes).to_integer() == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_compared_as_values_of_their_type() {
        fn is<T: ra::Element>(element: T, value: &Value) -> bool {
            let bytes = bytemuck::bytes_of(&element);
            is_said(value, &Datatype::Int8, ElementType::of::<T>(), bytes).unwrap()
        }
        let next = 9_007_199_254_740_993_i64;
        assert!(is(next, &Value::Int(next)));
        assert!(!is(next - 1, &Value::Int(next)));
        assert!(is(9_007_199_254_740_992.0_f64, &Value::Int(next)));
        assert!(is(0.1_f32, &Value::Float(0.1)));
        assert!(!is(f64::from(0.1_f32), &Value::Float(0.1)));
        assert!(is(f32::NAN, &Value::Float(f64::NAN)));
        assert!(!is(f32::NAN, &Value::from("x")));
        assert!(is(half::f16::from_f32(0.1), &Value::Float(0.1)));
        assert!(is(u64::MAX, &Value::UInt(u64::MAX)));
        assert!(!is(1_u8, &Value::Float(1.0)));
        let members = [("no".to_owned(), 0), ("true".to_owned(), 1)];
        assert_eq!(enum_number(&Value::Bool(true), &members), Some(1));
        assert_eq!(enum_number(&Value::from("no"), &members), Some(0));
    }
}
