//! The model of a dtype: what the `descr` of a header says, and how numpy writes it.

use std::collections::HashSet;
use std::fmt;

use super::literal::{Kind as Literally, Literal, quoted, repr};
use super::time::TimeUnit;
use crate::interchange::Error;

/// How deep structures and subarrays may nest: deeper, a description of them could not be read.
const MAX_DEPTH: usize = 16;

/// Most bytes of an element, and most of anything inside it: numpy counts them in a C `int`.
pub(super) const MAX_ITEM: u64 = 2_147_483_647;

/// What the elements of an `.npy` file are: the dtype, as its `descr` has it.
///
/// Displays as numpy writes it: `'<f8'`, or `[('a', '<i4'), ('', '|V4'), ('b', '<f8', (3,))]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descr {
    /// One value.
    Scalar(Scalar),
    /// Named fields, one after the other.
    Struct(Vec<Field>),
    /// A small array with the last index fastest; only inside of structures.
    Subarray {
        /// Its elements.
        base: Box<Self>,
        /// Its shape.
        shape: Vec<u64>,
    },
}

/// A dtype without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Scalar {
    /// What it is.
    pub kind: Kind,
    /// The order of its bytes.
    pub order: ByteOrder,
    /// Its bytes.
    pub size: u64,
}

/// What a value is: the letter of a dtype.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `b`: a truth value.
    Bool,
    /// `i`: a signed integer.
    Int,
    /// `u`: an unsigned integer.
    UInt,
    /// `f`: a float.
    Float,
    /// `c`: a complex number.
    Complex,
    /// `S`: text of single bytes, filled up with NUL.
    Bytes,
    /// `U`: text of UTF-32, filled up with NUL.
    Text,
    /// `V`: bytes.
    Void,
    /// `M`: a date, counted from the beginning of 1970.
    Date(TimeUnit),
    /// `m`: a duration.
    Duration(TimeUnit),
    /// `O`: a Python object, of which the file holds a pickle.
    Object,
}

/// The order of bytes in a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// `<`
    Little,
    /// `>`
    Big,
    /// `|`: there is none.
    None,
}

/// A part of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// A second name, which numpy calls title.
    pub title: Option<String>,
    /// The name; empty for padding.
    pub name: String,
    /// What it is.
    pub descr: Descr,
}

impl Scalar {
    /// A little-endian value, or one without byte order.
    pub fn new(kind: Kind, size: u64) -> Self {
        let order = match kind {
            Kind::Bool | Kind::Bytes | Kind::Void | Kind::Object => ByteOrder::None,
            _ if size == 1 => ByteOrder::None,
            _ => ByteOrder::Little,
        };
        Self { kind, order, size }
    }

    /// How many bytes reverse together when the byte order changes.
    pub(super) fn swap_width(self) -> u64 {
        match self.kind {
            Kind::Bool | Kind::Bytes | Kind::Void | Kind::Object => 1,
            Kind::Text => 4,
            Kind::Complex => self.size.wrapping_div(2),
            Kind::Int | Kind::UInt | Kind::Float | Kind::Date(_) | Kind::Duration(_) => self.size,
        }
    }

    fn parse(text: &str, offset: u64) -> Result<Self, Error> {
        let wrong = |expected: &str| {
            let found = quoted(text);
            Error::malformed(offset, format!("expected {expected}, found the dtype {found}"))
        };
        let (order, rest) = match text.split_at_checked(1) {
            Some(("<" | "=", rest)) => (ByteOrder::Little, rest),
            Some((">", rest)) => (ByteOrder::Big, rest),
            Some(("|", rest)) => (ByteOrder::None, rest),
            _ => (ByteOrder::None, text),
        };
        let Some((letter, rest)) = rest.split_at_checked(1) else {
            return Err(wrong("a dtype such as `<f8`"));
        };
        if letter == "?" && rest.is_empty() {
            return Ok(Self::new(Kind::Bool, 1));
        }
        let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let digits = rest.strip_suffix(after).unwrap_or_default();
        let unit = || TimeUnit::parse(after).ok_or_else(|| wrong("a unit such as `[ns]`"));
        let kind = match letter {
            "b" => Kind::Bool,
            "i" => Kind::Int,
            "u" => Kind::UInt,
            "f" => Kind::Float,
            "c" => Kind::Complex,
            "S" | "a" => Kind::Bytes,
            "U" => Kind::Text,
            "V" => Kind::Void,
            "M" => Kind::Date(unit()?),
            "m" => Kind::Duration(unit()?),
            "O" => Kind::Object,
            _ => return Err(wrong("a dtype of one of the kinds b i u f c S U V M m O")),
        };
        let has_unit = matches!(kind, Kind::Date(_) | Kind::Duration(_));
        if !after.is_empty() && !has_unit {
            return Err(wrong("a kind and a width, such as `<f8`"));
        }
        let size: u64 = match (kind, digits) {
            (Kind::Object, "") => 8,
            (Kind::Bytes | Kind::Text | Kind::Void, "") => 0,
            _ => digits.parse().map_err(|_| wrong("a width"))?,
        };
        let size = if kind == Kind::Text { size.checked_mul(4) } else { Some(size) };
        let Some(size) = size.filter(|size| *size <= MAX_ITEM) else {
            return Err(wrong(&format!("elements of at most {MAX_ITEM} bytes")));
        };
        let exists = match kind {
            Kind::Bool => size == 1,
            Kind::Date(_) | Kind::Duration(_) => size == 8,
            Kind::Int | Kind::UInt | Kind::Float => {
                matches!(size, 1 | 2 | 4 | 8 | 12 | 16)
            }
            Kind::Complex => matches!(size, 8 | 16 | 24 | 32),
            _ => true,
        };
        if !exists {
            return Err(wrong("a dtype of a width that numpy has"));
        }
        let made = Self::new(kind, size);
        // Without a sign a value is in the order of the machine, which has been this one for long.
        let order = match (made.order, order, kind) {
            (ByteOrder::None, order, Kind::Void) => order,
            (ByteOrder::None, ..) => ByteOrder::None,
            (_, ByteOrder::Big, _) => ByteOrder::Big,
            _ => ByteOrder::Little,
        };
        Ok(Self { order, ..made })
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.order {
            ByteOrder::Little => "<",
            ByteOrder::Big => ">",
            ByteOrder::None => "|",
        })?;
        match self.kind {
            Kind::Bool => write!(f, "b{}", self.size),
            Kind::Int => write!(f, "i{}", self.size),
            Kind::UInt => write!(f, "u{}", self.size),
            Kind::Float => write!(f, "f{}", self.size),
            Kind::Complex => write!(f, "c{}", self.size),
            Kind::Bytes => write!(f, "S{}", self.size),
            Kind::Text => write!(f, "U{}", self.size.wrapping_div(4)),
            Kind::Void => write!(f, "V{}", self.size),
            Kind::Date(unit) => write!(f, "M8{unit}"),
            Kind::Duration(unit) => write!(f, "m8{unit}"),
            Kind::Object => f.write_str("O"),
        }
    }
}

impl Field {
    /// Whether it only keeps the next field in its place, as numpy sees it: a void without a name.
    pub fn is_padding(&self) -> bool {
        self.name.is_empty() && self.title.is_none() && self.descr.is_void()
    }
}

impl Descr {
    /// A little-endian value, or one without byte order.
    pub(super) fn scalar(kind: Kind, size: u64) -> Self {
        Self::Scalar(Scalar::new(kind, size))
    }

    /// Bytes of an element; `None` when it does not fit 64 bits, which no header that was read has.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Scalar(scalar) => Some(scalar.size),
            Self::Struct(fields) => {
                fields.iter().try_fold(0_u64, |sum, field| sum.checked_add(field.descr.size()?))
            }
            Self::Subarray { base, shape } => {
                if shape.contains(&0) {
                    return Some(0);
                }
                shape.iter().try_fold(base.size()?, |size, extent| size.checked_mul(*extent))
            }
        }
    }

    /// Whether there is a Python object anywhere in it: then the data is a pickle.
    pub fn has_object(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.kind == Kind::Object,
            Self::Struct(fields) => fields.iter().any(|field| field.descr.has_object()),
            Self::Subarray { base, .. } => base.has_object(),
        }
    }

    /// Any subarray is a void for numpy.
    fn is_void(&self) -> bool {
        match self {
            Self::Scalar(scalar) => scalar.kind == Kind::Void,
            Self::Struct(_) => false,
            Self::Subarray { .. } => true,
        }
    }

    /// Reads the value of the key `descr`.
    pub(super) fn parse(literal: &Literal) -> Result<Self, Error> {
        Self::nested(literal, MAX_DEPTH)
    }

    fn nested(literal: &Literal, depth: usize) -> Result<Self, Error> {
        let Some(depth) = depth.checked_sub(1) else {
            let reason = format!("expected a dtype nested at most {MAX_DEPTH} deep, found more");
            return Err(Error::malformed(literal.offset, reason));
        };
        let descr = match &literal.kind {
            Literally::Text(text) => Self::Scalar(Scalar::parse(text, literal.offset)?),
            Literally::Tuple(parts) => {
                let [base, shape] = parts.as_slice() else {
                    return Err(literal.unexpected("a dtype and a shape"));
                };
                Self::subarray(Self::nested(base, depth)?, shape)?
            }
            Literally::List(fields) => {
                let fields: Vec<_> = fields
                    .iter()
                    .map(|field| Self::field(field, depth))
                    .collect::<Result<_, _>>()?;
                Self::Struct(fields)
            }
            _ => return Err(literal.unexpected("a dtype: a text, a list of fields or a tuple")),
        };
        if descr.size().is_none_or(|size| size > MAX_ITEM) {
            let reason =
                format!("expected elements of at most {MAX_ITEM} bytes, found larger ones");
            return Err(Error::malformed(literal.offset, reason));
        }
        if let (Self::Struct(fields), Literally::List(literals)) = (&descr, &literal.kind) {
            once(fields, literals)?;
        }
        Ok(descr)
    }

    fn subarray(base: Self, shape: &Literal) -> Result<Self, Error> {
        let shape = match &shape.kind {
            Literally::Integer(_) => vec![extent(shape)?],
            _ => extents(shape)?,
        };
        Ok(if shape.is_empty() { base } else { Self::Subarray { base: Box::new(base), shape } })
    }

    fn field(literal: &Literal, depth: usize) -> Result<Field, Error> {
        let Literally::Tuple(parts) = &literal.kind else {
            return Err(literal.unexpected("a field: a tuple of name and dtype"));
        };
        let (name, descr) = match parts.as_slice() {
            [name, descr] => (name, Self::nested(descr, depth)?),
            [name, descr, shape] => (name, Self::subarray(Self::nested(descr, depth)?, shape)?),
            _ => return Err(literal.unexpected("a field of two or three parts")),
        };
        let (title, name) = match &name.kind {
            Literally::Text(name) => (None, name),
            Literally::Tuple(names) => match names.as_slice() {
                [
                    Literal { kind: Literally::Text(title), .. },
                    Literal { kind: Literally::Text(name), .. },
                ] => (Some(title), name),
                _ => return Err(name.unexpected("a title and a name")),
            },
            _ => return Err(name.unexpected("the name of a field")),
        };
        Ok(Field { title: title.cloned(), name: name.clone(), descr })
    }
}

/// That no name is there twice.
fn once(fields: &[Field], literals: &[Literal]) -> Result<(), Error> {
    let mut names = HashSet::new();
    for (field, literal) in fields.iter().zip(literals) {
        if !field.is_padding() && !names.insert(field.name.as_str()) {
            let name = quoted(&field.name);
            let reason = format!("expected a name for each field, found {name} twice");
            return Err(Error::malformed(literal.offset, reason));
        }
    }
    Ok(())
}

/// A tuple of extents.
pub(super) fn extents(literal: &Literal) -> Result<Vec<u64>, Error> {
    match &literal.kind {
        Literally::Tuple(extents) => extents.iter().map(extent).collect(),
        _ => Err(literal.unexpected("a tuple of integers")),
    }
}

/// An extent. `True` is 1 in Python, and numpy takes it for that.
fn extent(literal: &Literal) -> Result<u64, Error> {
    let number = match literal.kind {
        Literally::Integer(number) => number,
        Literally::Bool(truth) => i128::from(truth),
        _ => return Err(literal.unexpected("an integer")),
    };
    let limit = i128::from(i64::MAX);
    match u64::try_from(number) {
        Ok(extent) if number <= limit => Ok(extent),
        _ => Err(literal.unexpected(&format!("an extent from 0 to {limit}"))),
    }
}

/// A shape as Python writes a tuple.
pub(super) fn tuple(extents: &[u64]) -> String {
    match extents {
        [one] => format!("({one},)"),
        _ => {
            let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
            format!("({})", extents.join(", "))
        }
    }
}

impl fmt::Display for Descr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => write!(f, "'{scalar}'"),
            Self::Struct(fields) => {
                f.write_str("[")?;
                for (index, field) in fields.iter().enumerate() {
                    let comma = if index == 0 { "" } else { ", " };
                    write!(f, "{comma}{field}")?;
                }
                f.write_str("]")
            }
            Self::Subarray { base, shape } => write!(f, "({base}, {})", tuple(shape)),
        }
    }
}

impl fmt::Display for Field {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.title {
            Some(title) => write!(f, "(({}, {}), ", repr(title), repr(&self.name))?,
            None => write!(f, "({}, ", repr(&self.name))?,
        }
        match &self.descr {
            Descr::Subarray { base, shape } => write!(f, "{base}, {})", tuple(shape)),
            descr => write!(f, "{descr})"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::interchange::npy::literal::{Encoding, parse};

    fn descr(text: &str) -> Result<Descr, Error> {
        Descr::parse(&parse(text.as_bytes(), 0, Encoding::Utf8).unwrap())
    }

    #[test]
    fn what_numpy_writes_is_written_again() {
        for text in [
            "'|b1'",
            "'|i1'",
            "'<i8'",
            "'>u2'",
            "'<f2'",
            "'<f16'",
            "'<c32'",
            "'|S5'",
            "'<U4'",
            "'>U0'",
            "'|V6'",
            "'<V2'",
            "'|O'",
            "'<M8'",
            "'<m8[25s]'",
            "'>M8[ns]'",
            "[('a', '|i1'), ('', '|V7'), ('b', '<f8')]",
            "[(('T', 'a'), '<f4'), ('b', '<f4', (3,)), ('c', ('<f4', (2,)), (3, 1))]",
            "[('a', [('x', '<f4'), ('y', '>i2')], (2, 2))]",
            r#"[("a'b", '<f4'), ('\u200b\x00\\', '<i2')]"#,
            "[]",
        ] {
            assert_eq!(descr(text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_spellings_mean_the_same() {
        for (text, same) in [
            ("'f8'", "'<f8'"),
            ("'=f8'", "'<f8'"),
            ("'|f8'", "'<f8'"),
            ("'<b1'", "'|b1'"),
            ("'?'", "'|b1'"),
            ("'>i1'", "'|i1'"),
            ("'a5'", "'|S5'"),
            ("'<S5'", "'|S5'"),
            ("'S'", "'|S0'"),
            ("'|O8'", "'|O'"),
            ("[('a', '<f4', 3)]", "[('a', '<f4', (3,))]"),
            ("[('a', '<f4', ())]", "[('a', '<f4')]"),
        ] {
            assert_eq!(descr(text).unwrap().to_string(), same);
        }
    }

    #[test]
    fn other_texts_are_no_dtypes() {
        for text in [
            "''",
            "'<'",
            "'<x4'",
            "'<f'",
            "'<f3'",
            "'<f8x'",
            "'b2'",
            "'M4'",
            "'M8[x]'",
            "'V3000000000'",
            "'U600000000'",
            "'S99999999999999999999'",
            "'é'",
            "5",
            "None",
            "{}",
            "['<f8']",
            "[('a',)]",
            "[(5, '<f8')]",
            "[('a', '<f8', 'x')]",
            "[('a', '<f8', (-1,))]",
            "[('a', '<f8', (1,), 2)]",
            "[('a', '<f8'), ('a', '<f4')]",
            "[('a', '<f8', (1000000000,))]",
            "[(('a', 'b', 'c'), '<f8')]",
            "('<f8',)",
        ] {
            let error = descr(text).unwrap_err();
            assert!(matches!(error, Error::Malformed { .. }), "{text}: {error}");
        }
        let deep = format!("{}'<f8'{}", "[('a', ".repeat(20), ")]".repeat(20));
        assert!(descr(&deep).unwrap_err().to_string().contains("nested at most 16 deep"));
    }

    #[test]
    fn padding_is_what_numpy_takes_for_it() {
        let padding = |text: &str| match descr(text).unwrap() {
            Descr::Struct(fields) => fields[0].is_padding(),
            _ => panic!(),
        };
        assert!(padding("[('', '|V3')]"));
        assert!(padding("[('', '<f4', (2,))]"));
        assert!(!padding("[('', '<f4')]"));
        assert!(!padding("[('a', '|V3')]"));
        assert!(!padding("[('', [('a', '|V3')])]"));
    }
}
