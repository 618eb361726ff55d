//! The meaning of elements: numbers after scale and offset, dates, names, text, structures.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use super::names_of;
use super::numbers::{
    Number, ReadNumber, ReadPresent, Scaling, meant_type, read_number, read_present, real_type,
    scaled,
};
use crate::interchange::{NUMPY_CALENDAR, element_of_word, member_path, units_name};
use crate::ndl::{Datatype, Integer, Ndarray};
use crate::ra::{ElementKind, ElementType};
use crate::time::TimeUnits;

/// The meaning of one element.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Decoded {
    /// A missing value (see [`NumberStatistics::missing`](crate::read::NumberStatistics::missing)).
    Missing,
    /// A missing date, or one that is not a number.
    NotATime,
    /// A boolean.
    Bool(bool),
    /// A number, after scale and offset.
    Number(Number),
    /// The real and the imaginary part.
    Complex(Number, Number),
    /// A date, as [`TimeUnits::text`] writes it. Whole days from midnight have no time of day.
    Date(String),
    /// The name of a number: a member of an enum, or one of `flag_meanings`.
    Name(Arc<str>),
    /// Text, without the zeros at its end.
    Text(String),
    /// Bytes without a meaning.
    Bytes(Vec<u8>),
    /// The members of a compound, with their names.
    Struct(Vec<(Arc<str>, Self)>),
    /// The elements of a small array.
    List(Vec<Self>),
}

/// Longest list that is written whole, and number of bytes without a meaning that are written.
const MOST_WRITTEN: usize = 16;

/// Writes a value on one line: text in quotes, complex numbers with `j`, a structure as `(1, 2)`, a missing value
/// as `--`, like a masked array of NumPy. Long lists and bytes are cut.
impl fmt::Display for Decoded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut list =
            |open: &str, values: &mut dyn ExactSizeIterator<Item = &Self>, close: &str| {
                let is_cut = values.len() > MOST_WRITTEN;
                f.write_str(open)?;
                for (nth, value) in values.take(MOST_WRITTEN).enumerate() {
                    write!(f, "{}{value}", if nth > 0 { ", " } else { "" })?;
                }
                write!(f, "{}{close}", if is_cut { ", …" } else { "" })
            };
        match self {
            Self::Missing => f.write_str("--"),
            Self::NotATime => f.write_str("NaT"),
            Self::Bool(truth) => truth.fmt(f),
            // Short numbers are easier to read without an exponent.
            Self::Number(Number::Float32(number)) if matches!(number.abs(), 1e-5..1e-4) => {
                number.fmt(f)
            }
            Self::Number(Number::Float64(number)) if matches!(number.abs(), 1e-5..1e-4) => {
                number.fmt(f)
            }
            Self::Number(number) => number.fmt(f),
            Self::Complex(re, im) => {
                let sign = if im.to_f64().is_sign_negative() { "" } else { "+" };
                write!(f, "{re}{sign}{im}j")
            }
            Self::Date(date) => f.write_str(date),
            Self::Name(name) => f.write_str(name),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Bytes(bytes) => {
                f.write_str("0x")?;
                bytes.iter().take(MOST_WRITTEN).try_for_each(|byte| write!(f, "{byte:02x}"))?;
                f.write_str(if bytes.len() > MOST_WRITTEN { "…" } else { "" })
            }
            Self::Struct(members) => list("(", &mut members.iter().map(|(_, value)| value), ")"),
            Self::List(values) => list("[", &mut values.iter(), "]"),
        }
    }
}

/// Decodes elements of one type, in the byte order of this machine.
///
/// ```
/// use ra_pack::ElementType;
/// use ra_pack::read::{Decoded, Decoder};
///
/// let text = "ndarrays: {t: {shape: [1], type: int16, attributes: {units: hours since 2024-06-03}}}";
/// let document = ra_pack::ndl::parse(text.as_bytes()).document.expect("it is valid");
/// let decoder = Decoder::new(ElementType::INT16, document.groups[0].ndarrays.first(), false);
/// assert_eq!(decoder.decode(&26_i16.to_ne_bytes()), Decoded::Date("2024-06-04T02:00:00".into()));
/// ```
pub struct Decoder {
    width: usize,
    kind: Kind,
}

enum Kind {
    Number { read: ReadPresent, scaling: Option<Scaling>, units: Option<TimeUnits> },
    Names { read: ReadPresent, names: HashMap<i128, Decoded> },
    Complex(ReadNumber),
    Utf32,
    Utf8,
    Struct(Vec<(Arc<str>, Decoder)>),
    List(Box<Decoder>),
    Bytes,
}

impl fmt::Debug for Decoder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Decoder").field("width", &self.width).finish_non_exhaustive()
    }
}

impl Decoder {
    /// Makes a decoder for the elements of an array. With `raw`, numbers are those that are stored: without scale and
    /// offset, dates, names and missing values.
    pub fn new(element: ElementType, description: Option<&Ndarray>, raw: bool) -> Self {
        let datatype = description.map(|description| &description.datatype);
        let is_packed = |datatype: &&Datatype| datatype.packed_size() == Some(element.elbyte());
        if let (ElementKind::User, Some(datatype)) = (element.kind(), datatype.filter(is_packed)) {
            return Self::of_datatype(datatype, description.filter(|_| !raw), "");
        }
        let described = description.filter(|_| !raw);
        let element = meant_type(element, described);
        let number = if element.reads_as::<u8>() { ElementType::UINT8 } else { element };
        let kind = if let Some(read) = read_present(number, described) {
            match names_of(element, description).filter(|_| !raw || element == ElementType::BOOL) {
                Some(names) => Kind::Names { read, names: by_number(&names) },
                None => Kind::Number {
                    read,
                    scaling: Scaling::of(element, described),
                    units: described.and_then(time_units),
                },
            }
        } else {
            match read_number(real_type(element)) {
                Some(read) => Kind::Complex(read),
                None => Kind::Bytes,
            }
        };
        let width = usize::try_from(element.elbyte()).unwrap_or(usize::MAX);
        Self { width, kind }
    }

    /// Makes a decoder for a type that is packed without gaps, at a path in the elements of an array. Without its
    /// description, it decodes stored numbers.
    fn of_datatype(datatype: &Datatype, description: Option<&Ndarray>, path: &str) -> Self {
        let raw = description.is_none();
        let size = datatype.packed_size().and_then(|size| usize::try_from(size).ok());
        let width = size.unwrap_or(usize::MAX);
        let kind = match datatype {
            Datatype::Compound(members) => {
                if let Some(read) = part_of_complex(members).and_then(read_number) {
                    return Self { width, kind: Kind::Complex(read) };
                }
                let member = |(name, datatype): &(String, Datatype)| {
                    let path = member_path(path, name);
                    (Arc::from(name.as_str()), Self::of_datatype(datatype, description, &path))
                };
                Kind::Struct(members.iter().map(member).collect())
            }
            Datatype::Array { base, shape } if shape.len() <= MAX_NESTED => {
                let nest = |base: Self, extent: &u64| {
                    let extent = usize::try_from(*extent).unwrap_or(usize::MAX);
                    let width = base.width.saturating_mul(extent);
                    Self { width, kind: Kind::List(Box::new(base)) }
                };
                return shape.iter().rev().fold(Self::of_datatype(base, description, path), nest);
            }
            Datatype::Opaque { size, tag: Some(tag) } if tag == UTF_32 && size % 4 == 0 => {
                Kind::Utf32
            }
            Datatype::Opaque { tag: Some(tag), .. } if tag == TEXT => Kind::Utf8,
            Datatype::Enum { members, .. } => {
                let base = datatype.resolved_base().map(Integer::datatype);
                let read = base.and_then(|base| read_present(element_of_word(&base)?, None));
                match read {
                    Some(read) if raw => Kind::Number { read, scaling: None, units: None },
                    Some(read) => Kind::Names { read, names: by_number(members) },
                    None => Kind::Bytes,
                }
            }
            _ => match element_of_word(datatype) {
                Some(element) => {
                    let mut decoder = Self::new(element, None, raw);
                    let is_time = |found: &Ndarray| found.attribute(&units_name(path)).is_some();
                    if let Kind::Number { units, read, .. } = &mut decoder.kind
                        && let Some(found) = description.filter(|found| is_time(found))
                    {
                        *units = member_units(found, path);
                        if element == ElementType::INT64 {
                            *read = Box::new(|bytes| {
                                let number = i64::from_ne_bytes(bytes.try_into().expect("8 bytes"));
                                let number = Number::Int(number.into());
                                (number, number == NOT_A_TIME)
                            });
                        }
                    }
                    return decoder;
                }
                None => Kind::Bytes,
            },
        };
        Self { width, kind }
    }

    /// Returns the number of bytes of an element.
    pub fn elbyte(&self) -> usize {
        self.width
    }

    /// Returns the names of the cells of a structure in a table; none for other elements. The elements of small arrays
    /// have their numbers: `position[0]`.
    pub fn columns(&self) -> Vec<String> {
        let mut all = Vec::new();
        if matches!(self.kind, Kind::Struct(_)) {
            self.add_columns("", &mut all);
        }
        all
    }

    fn add_columns(&self, name: &str, all: &mut Vec<String>) {
        match &self.kind {
            Kind::Struct(members) => {
                let dot = if name.is_empty() { "" } else { "." };
                for (member, decoder) in members {
                    decoder.add_columns(&format!("{name}{dot}{member}"), all);
                }
            }
            Kind::List(base) => {
                for nth in 0..self.width / base.width.max(1) {
                    base.add_columns(&format!("{name}[{nth}]"), all);
                }
            }
            _ => all.push(name.to_owned()),
        }
    }

    /// Decodes an element.
    ///
    /// # Panics
    ///
    /// If the element has not [`elbyte`](Self::elbyte) bytes.
    pub fn decode(&self, element: &[u8]) -> Decoded {
        assert_eq!(element.len(), self.width, "the element has another type");
        match &self.kind {
            Kind::Number { read, scaling, units } => {
                let (number, is_missing) = read(element);
                if is_missing && units.is_none() {
                    return Decoded::Missing;
                }
                let number = scaled(number, *scaling);
                match units {
                    Some(_) if is_missing || number.to_f64().is_nan() => Decoded::NotATime,
                    units => units
                        .and_then(|units| date(units, number))
                        .map_or(Decoded::Number(number), Decoded::Date),
                }
            }
            Kind::Names { read, names } => {
                let (number, is_missing) = read(element);
                let name = number.to_integer().and_then(|number| names.get(&number).cloned());
                name.unwrap_or(if is_missing { Decoded::Missing } else { Decoded::Number(number) })
            }
            Kind::Complex(read) => {
                let (re, im) = element.split_at(self.width / 2);
                Decoded::Complex(read(re), read(im))
            }
            Kind::Utf32 => {
                let letters = element.chunks_exact(4).map(|letter| {
                    char::from_u32(u32::from_le_bytes(letter.try_into().expect("4 bytes")))
                });
                let text: Option<String> = letters.collect();
                text.map_or_else(|| Decoded::Bytes(element.to_vec()), |text| of_text(&text))
            }
            Kind::Utf8 => match str::from_utf8(element) {
                Ok(text) => of_text(text),
                Err(_) => Decoded::Bytes(element.to_vec()),
            },
            Kind::Struct(members) => {
                let mut rest = element;
                let part = |(name, member): &(Arc<str>, Self)| {
                    let (own, more) = rest.split_at(member.width);
                    rest = more;
                    (Arc::clone(name), member.decode(own))
                };
                Decoded::Struct(members.iter().map(part).collect())
            }
            Kind::List(base) => {
                let parts = element.chunks_exact(base.width.max(1));
                Decoded::List(parts.map(|part| base.decode(part)).collect())
            }
            Kind::Bytes => Decoded::Bytes(element.to_vec()),
        }
    }
}

/// The number of NumPy's `NaT`.
const NOT_A_TIME: Number = Number::Int(i64::MIN as i128);

/// Most dimensions of a small array that is decoded.
const MAX_NESTED: usize = 64;

/// The tags of opaque elements that are text: of four bytes for each character, and of any encoding.
const UTF_32: &str = "utf-32le";
const TEXT: &str = "text";

fn of_text(text: &str) -> Decoded {
    Decoded::Text(text.trim_end_matches('\0').to_owned())
}

/// Returns whether these are the names of booleans.
fn is_truth(names: &[(String, i128)]) -> bool {
    let is =
        |(name, number): &(String, i128)| [("false", 0), ("true", 1)].contains(&(name, *number));
    names.len() == 2 && names.iter().all(is)
}

/// Returns the names of numbers; the first of several. Those of a boolean are its values.
fn by_number(names: &[(String, i128)]) -> HashMap<i128, Decoded> {
    let is_truth = is_truth(names);
    let meaning = |(name, number): &(String, i128)| {
        let name = if is_truth {
            Decoded::Bool(*number == 1)
        } else {
            Decoded::Name(Arc::from(name.as_str()))
        };
        (*number, name)
    };
    names.iter().rev().map(meaning).collect()
}

/// Returns the units of time of a description, after scale and offset.
pub fn time_units(description: &Ndarray) -> Option<TimeUnits> {
    let text = |name| description.attribute(name)?.as_str();
    TimeUnits::parse(text("units")?, text("calendar"))
}

/// Returns the units of time of the member of a structure, which the conversion from NumPy states.
fn member_units(description: &Ndarray, path: &str) -> Option<TimeUnits> {
    let units = description.attribute(&units_name(path))?.as_str()?;
    TimeUnits::parse(units, Some(NUMPY_CALENDAR))
}

/// Returns the date that a number of an array means, after scale and offset; `None` if its units are not those of time,
/// or if no calendar has the date.
pub fn date_of(description: &Ndarray, number: Number) -> Option<String> {
    date(time_units(description)?, number)
}

/// Returns the time of a number; `None` if it is not finite or out of range.
pub(crate) fn time_of(units: TimeUnits, number: Number) -> Option<i128> {
    match number.to_integer() {
        Some(whole) => units.of_integer(whole),
        None => units.of_float(number.to_f64()),
    }
}

fn date(units: TimeUnits, number: Number) -> Option<String> {
    let mut text = units.text(time_of(units, number)?)?;
    if number.to_integer().is_some() && units.is_of_whole_days() {
        text.truncate(text.find('T').unwrap_or(text.len()));
    }
    Some(text)
}

/// Returns the type of both parts of a complex number, if these are its members.
fn part_of_complex(members: &[(String, Datatype)]) -> Option<ElementType> {
    let [(re, part), (im, other)] = members else { return None };
    ((re.as_str(), im.as_str(), part) == ("r", "i", other)).then(|| element_of_word(part))?
}

/// Returns the name of the type of a member of a structure, as [`type_name`].
pub fn member_type_name(datatype: &Datatype) -> String {
    let element = ElementType::new(
        ElementKind::User.eltype(),
        datatype.packed_size().filter(|_| datatype.word().is_none()).unwrap_or_default(),
    );
    element.map_or_else(|_| datatype.to_string(), |element| type_name(element, Some(datatype)))
}

/// Returns the name of a type for people: `int16`, `text[7]`, `struct`.
pub fn type_name(element: ElementType, datatype: Option<&Datatype>) -> String {
    match datatype {
        Some(Datatype::Enum { base, members }) => match base {
            _ if is_truth(members) => "bool".to_owned(),
            Some(base) => format!("enum of {}", base.word()),
            None => "enum".to_owned(),
        },
        Some(Datatype::String) => "string".to_owned(),
        Some(Datatype::Compound(members)) if element.kind() == ElementKind::User => {
            match part_of_complex(members) {
                Some(part) => format!("complex{}", 16 * part.elbyte()),
                None => "struct".to_owned(),
            }
        }
        Some(Datatype::Array { base, shape }) if element.kind() == ElementKind::User => {
            let lengths: Vec<_> = shape.iter().map(u64::to_string).collect();
            format!("{}[{}]", member_type_name(base), lengths.join(", "))
        }
        Some(Datatype::Opaque { size, tag }) if element.elbyte() == *size => match tag.as_deref() {
            Some(UTF_32) => format!("text[{}]", size / 4),
            Some(TEXT) => format!("text[{size}]"),
            _ => format!("bytes[{size}]"),
        },
        _ => element.to_string(),
    }
}
