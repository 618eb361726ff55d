//! The model of a dtype: the `descr` of a header, parsed and written like NumPy.

use std::collections::HashSet;
use std::fmt;

use crate::interchange::FormatError;
use crate::interchange::literal::{Literal, LiteralKind, quoted};

/// Deepest nesting of structures and subarrays: the description of a deeper one could not be read.
const MAX_DEPTH: usize = 16;

/// Largest element in bytes, and largest part of one: NumPy counts them in a C `int`.
pub(super) const MAX_ITEM: u64 = 2_147_483_647;

/// The dtype of an `.npy` file, in the structure of its `descr`.
///
/// Displays as NumPy writes it: `'<f8'`, or `[('a', '<i4'), ('', '|V4'), ('b', '<f8', (3,))]`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descr {
    /// A single value.
    Scalar(DtypeScalar),
    /// Named fields, one after the other.
    Struct(Vec<Field>),
    /// A small row-major array; only inside structures.
    Subarray {
        /// The dtype of its elements.
        base: Box<Self>,
        /// The length of each dimension.
        shape: Vec<u64>,
    },
}

/// A dtype without parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DtypeScalar {
    /// The kind.
    pub kind: DtypeKind,
    /// The byte order.
    pub order: ByteOrder,
    /// The size in bytes.
    pub size: u64,
}

/// The kind of a dtype, which is a letter in the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DtypeKind {
    /// `b`: a boolean.
    Bool,
    /// `i`: a signed integer.
    Int,
    /// `u`: an unsigned integer.
    UInt,
    /// `f`: a float.
    Float,
    /// `c`: a complex number.
    Complex,
    /// `S`: text of single bytes, padded with NUL.
    Bytes,
    /// `U`: text in UTF-32, padded with NUL.
    Text,
    /// `V`: bytes.
    Void,
    /// `M`: a date, counted from the beginning of 1970.
    Date(TimeUnit),
    /// `m`: a duration.
    Duration(TimeUnit),
    /// `O`: a Python object, which the file stores as a pickle.
    Object,
}

/// A letter, its kind, its sizes (none if it has any size), and a function from the size to the number of bytes that
/// are reversed together to change the byte order.
type KindRow = (&'static str, DtypeKind, &'static [u64], fn(u64) -> u64);

/// Every kind.
const KINDS: [KindRow; 11] = [
    ("b", DtypeKind::Bool, &[1], |_| 1),
    ("i", DtypeKind::Int, &[1, 2, 4, 8, 12, 16], |size| size),
    ("u", DtypeKind::UInt, &[1, 2, 4, 8, 12, 16], |size| size),
    ("f", DtypeKind::Float, &[1, 2, 4, 8, 12, 16], |size| size),
    ("c", DtypeKind::Complex, &[8, 16, 24, 32], |size| size / 2),
    ("S", DtypeKind::Bytes, &[], |_| 1),
    ("U", DtypeKind::Text, &[], |_| 4),
    ("V", DtypeKind::Void, &[], |_| 1),
    ("M", DtypeKind::Date(TimeUnit::GENERIC), &[8], |size| size),
    ("m", DtypeKind::Duration(TimeUnit::GENERIC), &[8], |size| size),
    ("O", DtypeKind::Object, &[], |_| 1),
];

/// The byte order of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ByteOrder {
    /// `<`: little-endian.
    Little,
    /// `>`: big-endian.
    Big,
    /// `|`: not applicable.
    None,
}

/// A field of a structure.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// A second name, which NumPy calls the title.
    pub title: Option<String>,
    /// The name; empty for padding.
    pub name: String,
    /// The dtype.
    pub descr: Descr,
}

impl DtypeKind {
    fn row(self) -> &'static KindRow {
        let same = std::mem::discriminant(&self);
        let row = KINDS.iter().find(|row| std::mem::discriminant(&row.1) == same);
        row.expect("the table has every kind")
    }

    /// Returns whether it is a date or a duration.
    pub(super) fn is_time(self) -> bool {
        matches!(self, Self::Date(_) | Self::Duration(_))
    }
}

impl DtypeScalar {
    /// Returns a value that is little-endian or without byte order.
    pub fn new(kind: DtypeKind, size: u64) -> Self {
        let made = Self { kind, order: ByteOrder::Little, size };
        Self { order: if made.swap_width() == 1 { ByteOrder::None } else { made.order }, ..made }
    }

    /// Returns the number of bytes that are reversed together to change the byte order.
    pub(super) fn swap_width(self) -> u64 {
        let (.., reversed) = self.kind.row();
        reversed(self.size)
    }

    fn parse(text: &str, offset: u64) -> Result<Self, FormatError> {
        let wrong = |expected: &str| {
            let found = quoted(text);
            FormatError::malformed(offset, format!("expected {expected}, found the dtype {found}"))
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
        let (letter, rest) = match (letter, rest) {
            ("?", "") => ("b", "1"),
            ("a", _) => ("S", rest),
            _ => (letter, rest),
        };
        let Some(&(_, mut kind, widths, _)) = KINDS.iter().find(|row| row.0 == letter) else {
            return Err(wrong("a dtype of one of the kinds b i u f c S U V M m O"));
        };
        let after = rest.trim_start_matches(|digit: char| digit.is_ascii_digit());
        let digits = rest.strip_suffix(after).expect("the suffix was found before");
        if let DtypeKind::Date(unit) | DtypeKind::Duration(unit) = &mut kind {
            *unit = TimeUnit::parse(after).ok_or_else(|| wrong("a unit such as `[ns]`"))?;
        } else if !after.is_empty() {
            return Err(wrong("a kind and a width, such as `<f8`"));
        }
        let size: u64 = match (kind, digits) {
            (DtypeKind::Object, "") => 8,
            (DtypeKind::Bytes | DtypeKind::Text | DtypeKind::Void, "") => 0,
            _ => digits.parse().map_err(|_| wrong("a width"))?,
        };
        let size = size.checked_mul(if kind == DtypeKind::Text { 4 } else { 1 });
        let Some(size) = size.filter(|size| *size <= MAX_ITEM) else {
            return Err(wrong(&format!("elements of at most {MAX_ITEM} bytes")));
        };
        if !widths.is_empty() && !widths.contains(&size) {
            return Err(wrong("a dtype of a size that NumPy has"));
        }
        let made = Self::new(kind, size);
        // Without a sign, the order is that of the machine, which was almost always little-endian.
        let order = match (made.order, order, kind) {
            (ByteOrder::None, order, DtypeKind::Void) => order,
            (ByteOrder::None, ..) => ByteOrder::None,
            (_, ByteOrder::Big, _) => ByteOrder::Big,
            _ => ByteOrder::Little,
        };
        Ok(Self { order, ..made })
    }
}

impl fmt::Display for DtypeScalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = match self.order {
            ByteOrder::Little => "<",
            ByteOrder::Big => ">",
            ByteOrder::None => "|",
        };
        write!(f, "{order}{}", self.kind.row().0)?;
        match self.kind {
            DtypeKind::Object => Ok(()),
            DtypeKind::Text => write!(f, "{}", self.size / 4),
            DtypeKind::Date(unit) | DtypeKind::Duration(unit) => write!(f, "{}{unit}", self.size),
            _ => write!(f, "{}", self.size),
        }
    }
}

impl Field {
    /// Returns whether NumPy treats it as padding: a void without a name.
    pub fn is_padding(&self) -> bool {
        // NumPy treats any subarray as a void.
        let is_void = match &self.descr {
            Descr::Scalar(scalar) => scalar.kind == DtypeKind::Void,
            Descr::Struct(_) => false,
            Descr::Subarray { .. } => true,
        };
        self.name.is_empty() && self.title.is_none() && is_void
    }
}

impl Descr {
    /// Returns a value that is little-endian or without byte order.
    pub(super) fn scalar(kind: DtypeKind, size: u64) -> Self {
        Self::Scalar(DtypeScalar::new(kind, size))
    }

    /// Returns the size of an element in bytes; `None` if it does not fit 64 bits, which is impossible in a header that
    /// was read.
    pub fn size(&self) -> Option<u64> {
        match self {
            Self::Scalar(scalar) => Some(scalar.size),
            Self::Struct(fields) => {
                fields.iter().try_fold(0_u64, |sum, field| sum.checked_add(field.descr.size()?))
            }
            Self::Subarray { shape, .. } if shape.contains(&0) => Some(0),
            Self::Subarray { base, shape } => {
                shape.iter().try_fold(base.size()?, |size, extent| size.checked_mul(*extent))
            }
        }
    }

    /// Returns the size of an element of a header that was read, which is at most [`MAX_ITEM`] in every part.
    pub(super) fn checked_size(&self) -> u64 {
        self.size().expect("checked when the header is read")
    }

    /// Returns whether any part that takes bytes matches.
    pub(super) fn any(&self, is_such: fn(DtypeScalar) -> bool) -> bool {
        match self {
            Self::Scalar(scalar) => is_such(*scalar),
            Self::Struct(fields) => fields.iter().any(|field| field.descr.any(is_such)),
            Self::Subarray { base, shape } => !shape.contains(&0) && base.any(is_such),
        }
    }

    /// Reads the value of the key `descr`.
    pub(super) fn parse(literal: &Literal) -> Result<Self, FormatError> {
        Self::nested(literal, MAX_DEPTH)
    }

    fn nested(literal: &Literal, depth: usize) -> Result<Self, FormatError> {
        let Some(depth) = depth.checked_sub(1) else {
            let reason = format!("expected a dtype nested at most {MAX_DEPTH} deep, found more");
            return Err(FormatError::malformed(literal.offset, reason));
        };
        let descr = match &literal.kind {
            LiteralKind::Text(text) => Self::Scalar(DtypeScalar::parse(text, literal.offset)?),
            LiteralKind::Tuple(parts) => {
                let [base, shape] = parts.as_slice() else {
                    return Err(literal.unexpected("a dtype and a shape"));
                };
                Self::subarray(Self::nested(base, depth)?, shape)?
            }
            LiteralKind::List(fields) => Self::structure(fields, depth)?,
            _ => return Err(literal.unexpected("a dtype: a text, a list of fields or a tuple")),
        };
        if descr.size().is_none_or(|size| size > MAX_ITEM) {
            let reason =
                format!("expected elements of at most {MAX_ITEM} bytes, found larger ones");
            return Err(FormatError::malformed(literal.offset, reason));
        }
        Ok(descr)
    }

    fn subarray(base: Self, shape: &Literal) -> Result<Self, FormatError> {
        let shape = match &shape.kind {
            LiteralKind::Number(_) => vec![extent(shape)?],
            _ => extents(shape)?,
        };
        Ok(if shape.is_empty() { base } else { Self::Subarray { base: Box::new(base), shape } })
    }

    fn structure(literals: &[Literal], depth: usize) -> Result<Self, FormatError> {
        let mut names = HashSet::new();
        let mut fields = Vec::with_capacity(literals.len());
        for literal in literals {
            let field = Self::field(literal, depth)?;
            if !field.is_padding() && !names.insert(field.name.clone()) {
                let name = quoted(&field.name);
                let reason = format!("expected a name for each field, found {name} twice");
                return Err(FormatError::malformed(literal.offset, reason));
            }
            fields.push(field);
        }
        Ok(Self::Struct(fields))
    }

    fn field(literal: &Literal, depth: usize) -> Result<Field, FormatError> {
        let LiteralKind::Tuple(parts) = &literal.kind else {
            return Err(literal.unexpected("a field: a tuple of name and dtype"));
        };
        let (name, descr) = match parts.as_slice() {
            [name, descr] => (name, Self::nested(descr, depth)?),
            [name, descr, shape] => (name, Self::subarray(Self::nested(descr, depth)?, shape)?),
            _ => return Err(literal.unexpected("a field of two or three parts")),
        };
        let text = |literal: &Literal, expected| literal.text(expected).map(str::to_owned);
        let (title, name) = match &name.kind {
            LiteralKind::Tuple(names) => {
                let expected = "a title and a name";
                let [title, own] = names.as_slice() else { return Err(name.unexpected(expected)) };
                (Some(text(title, expected)?), text(own, expected)?)
            }
            _ => (None, text(name, "the name of a field")?),
        };
        Ok(Field { title, name, descr })
    }
}

/// Reads a tuple of lengths.
pub(super) fn extents(literal: &Literal) -> Result<Vec<u64>, FormatError> {
    match &literal.kind {
        LiteralKind::Tuple(extents) => extents.iter().map(extent).collect(),
        _ => Err(literal.unexpected("a tuple of integers")),
    }
}

/// Reads a length. `True` is 1 in Python, and NumPy accepts it.
fn extent(literal: &Literal) -> Result<u64, FormatError> {
    if let LiteralKind::Bool(truth) = literal.kind {
        return Ok(u64::from(truth));
    }
    let expected = format!("a length from 0 to {}", i64::MAX);
    let extent = literal.count(&expected)?;
    if i64::try_from(extent).is_ok() { Ok(extent) } else { Err(literal.unexpected(&expected)) }
}

/// Returns a shape as Python writes a tuple.
pub(super) fn tuple(extents: &[u64]) -> String {
    let comma = if extents.len() == 1 { "," } else { "" };
    let extents: Vec<_> = extents.iter().map(u64::to_string).collect();
    format!("({}{comma})", extents.join(", "))
}

impl fmt::Display for Descr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scalar(scalar) => write!(f, "'{scalar}'"),
            Self::Struct(fields) => {
                let fields: Vec<_> = fields.iter().map(Field::to_string).collect();
                write!(f, "[{}]", fields.join(", "))
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

/// Returns a text in quotes as Python writes it.
fn repr(text: &str) -> String {
    let quote = if text.contains('\'') && !text.contains('"') { '"' } else { '\'' };
    let written = text.chars().map(|letter| match (letter, u32::from(letter)) {
        ('\\', _) => "\\\\".to_owned(),
        ('\n', _) => "\\n".to_owned(),
        ('\r', _) => "\\r".to_owned(),
        ('\t', _) => "\\t".to_owned(),
        _ if letter == quote => format!("\\{quote}"),
        _ if is_printable(letter) => letter.to_string(),
        (_, code @ 0..=0xff) => format!("\\x{code:02x}"),
        (_, code @ 0..=0xffff) => format!("\\u{code:04x}"),
        (_, code) => format!("\\U{code:08x}"),
    });
    format!("{quote}{}{quote}", written.collect::<String>())
}

/// Returns whether Python prints a character unescaped: all except control and format characters, white space other
/// than the space, private use and unassigned code points. Rust's `escape_debug` uses the same classes.
fn is_printable(letter: char) -> bool {
    // After another letter, a combining accent is not escaped.
    matches!(letter, '\'' | '"' | '\\') || format!("a{letter}").escape_debug().count() == 2
}

/// NumPy's codes and their words, coarsest first.
const UNITS: [(&str, &str); 13] = [
    ("Y", "years"),
    ("M", "months"),
    ("W", "weeks"),
    ("D", "days"),
    ("h", "hours"),
    ("m", "minutes"),
    ("s", "seconds"),
    ("ms", "milliseconds"),
    ("us", "microseconds"),
    ("ns", "nanoseconds"),
    ("ps", "picoseconds"),
    ("fs", "femtoseconds"),
    ("as", "attoseconds"),
];

/// The words for times without a unit.
const GENERIC: &str = "generic units";

/// The date from which a datetime counts.
const EPOCH: &str = " since 1970-01-01";

/// The unit of a date or duration: a multiple of a time unit.
///
/// Displays as NumPy writes it, with brackets: `[25s]`; empty for times without a unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TimeUnit {
    /// The multiple; at least 1, and 1 for times without a unit.
    multiple: u32,
    /// The code and the word of the unit, if there is one.
    unit: Option<(&'static str, &'static str)>,
}

impl TimeUnit {
    /// Times without a unit.
    pub const GENERIC: Self = Self { multiple: 1, unit: None };

    /// Parses the text after `M8` or `m8`, such as `[25s]`; empty for times without a unit.
    pub fn parse(text: &str) -> Option<Self> {
        if text.is_empty() || text == "[generic]" {
            return Some(Self::GENERIC);
        }
        let inner = text.strip_prefix('[')?.strip_suffix(']')?;
        let code = inner.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let digits = inner.strip_suffix(code)?;
        let multiple: i32 = if digits.is_empty() { 1 } else { digits.parse().ok()? };
        let unit = UNITS.into_iter().find(|(known, _)| *known == code)?;
        // NumPy stores it as a signed integer of 32 bits.
        let multiple = u32::try_from(multiple).ok().filter(|multiple| *multiple > 0)?;
        Some(Self { multiple, unit: Some(unit) })
    }

    /// Returns the words for a duration, such as `25 seconds`.
    pub(super) fn words(self) -> String {
        match self.unit {
            None => GENERIC.to_owned(),
            Some((_, word)) if self.multiple == 1 => word.to_owned(),
            Some((_, word)) => format!("{} {word}", self.multiple),
        }
    }

    /// Returns the words for a date, such as `days since 1970-01-01`.
    pub(super) fn words_since_epoch(self) -> String {
        format!("{}{EPOCH}", self.words())
    }

    /// Returns the unit that the words mean, and whether they are those of a date.
    pub(super) fn from_words(words: &str) -> Option<(Self, bool)> {
        let (duration, is_date) = match words.strip_suffix(EPOCH) {
            Some(duration) => (duration, true),
            None => (words, false),
        };
        if duration == GENERIC {
            return Some((Self::GENERIC, is_date));
        }
        let (multiple, word) = duration.split_once(' ').unwrap_or(("1", duration));
        let (code, _) = UNITS.iter().find(|(_, known)| *known == word)?;
        let unit = Self::parse(&format!("[{multiple}{code}]"))?;
        // Only canonical words are accepted: not `1 days`, not `01 days`.
        (unit.words() == duration).then_some((unit, is_date))
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.unit {
            None => Ok(()),
            Some((code, _)) if self.multiple == 1 => write!(f, "[{code}]"),
            Some((code, _)) => write!(f, "[{}{code}]", self.multiple),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::interchange::literal::{Language, parse};

    fn descr(text: &str) -> Result<Descr, FormatError> {
        Descr::parse(&parse(text.as_bytes(), 0, Language::PythonUtf8).unwrap())
    }

    #[test]
    fn dtypes_of_numpy_are_written_back() {
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
    fn other_texts_are_not_dtypes() {
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
            assert!(matches!(error, FormatError::Malformed { .. }), "{text}: {error}");
        }
        let deep = format!("{}'<f8'{}", "[('a', ".repeat(20), ")]".repeat(20));
        assert!(descr(&deep).unwrap_err().to_string().contains("nested at most 16 deep"));
    }

    #[test]
    fn padding_is_recognized_as_by_numpy() {
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

    #[test]
    fn every_unit_has_words_that_are_read_back() {
        for (code, word) in UNITS {
            for multiple in ["", "2", "25", "2147483647"] {
                let text = format!("[{multiple}{code}]");
                let unit = TimeUnit::parse(&text).unwrap();
                assert_eq!(unit.to_string(), text);
                assert_eq!(unit.words(), format!("{multiple} {word}").trim_start());
                assert_eq!(TimeUnit::from_words(&unit.words()), Some((unit, false)));
                assert_eq!(TimeUnit::from_words(&unit.words_since_epoch()), Some((unit, true)));
            }
        }
        let generic = TimeUnit::parse("").unwrap();
        assert_eq!(generic.to_string(), "");
        assert_eq!(TimeUnit::from_words(&generic.words_since_epoch()), Some((generic, true)));
    }

    #[test]
    fn other_units_are_refused() {
        for text in ["[x]", "[0s]", "[2147483648s]", "[s", "s", "[]", "[5]", "[s/2]", "[-1s]"] {
            assert_eq!(TimeUnit::parse(text), None, "{text}");
        }
        for words in ["metres", "1 days", "days since 1900-01-01", "", "02 days", "+2 days"] {
            assert_eq!(TimeUnit::from_words(words), None, "{words}");
        }
    }

    proptest! {
        #[test]
        fn a_written_text_is_read_back(text in ".*", escaped in any::<char>()) {
            let text = format!("{text}{escaped}");
            let read = parse(repr(&text).as_bytes(), 0, Language::PythonUtf8).unwrap();
            prop_assert_eq!(read.kind, LiteralKind::Text(text));
        }
    }
}
