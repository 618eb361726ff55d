//! The header: the properties of each variable and the dataset, with offsets for errors.

#![expect(clippy::indexing_slicing, reason = "the JSON parser returns offsets within the line")]

use std::collections::{HashMap, HashSet};

use super::values::{self, is_number};
use crate::interchange::FormatError;
use crate::interchange::literal::{self, Language, Literal, LiteralKind};
use crate::ndl::{Attribute, Datatype, Endian};

/// Length of the longest header in bytes.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// The first line of a file.
pub(super) const VERSION_LINE: &[u8] = b"ds-1.0\n";

/// The content of a header.
#[derive(Debug)]
pub(super) struct DsHeader {
    /// The variables in the order of the text, which is the order of the body.
    pub(super) variables: Vec<VariableEntry>,
    /// The attributes of the dataset.
    pub(super) attributes: Vec<Attribute>,
    /// Messages about unknown keys.
    pub(super) losses: Vec<String>,
}

/// A variable.
#[derive(Debug, Clone)]
pub(super) struct VariableEntry {
    pub(super) name: String,
    /// The offset of its entry in the file.
    pub(super) at: u64,
    pub(super) dims: Option<Vec<String>>,
    /// The lengths of its dimensions; `None` if there is no data.
    pub(super) size: Option<Vec<u64>>,
    /// The offset in the body; corrected once the body is read.
    pub(super) offset: u64,
    pub(super) len: Option<u64>,
    pub(super) element: DsElement,
    /// Whether a mask precedes the data.
    pub(super) missing: bool,
    pub(super) endian: Endian,
    pub(super) attributes: Vec<Attribute>,
    /// Messages about metadata that the attributes do not contain.
    pub(super) losses: Vec<String>,
}

/// The element type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DsElement {
    /// A number, and its size in bytes.
    Number(Datatype, u64),
    Bool,
    /// Byte strings.
    Str,
    /// Strings in UTF-8.
    Unicode,
}

impl DsElement {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "bool" => Some(Self::Bool),
            "str" => Some(Self::Str),
            "unicode" => Some(Self::Unicode),
            _ => {
                let datatype = Datatype::from_word(word).filter(is_number)?;
                let width = datatype.packed_size()?;
                Some(Self::Number(datatype, width))
            }
        }
    }

    /// Returns the number of bytes of `count` elements, without the bytes of texts; `None` if 64 bits cannot count them.
    pub(super) fn stored_len(&self, count: u64) -> Option<u64> {
        match self {
            Self::Number(_, width) => count.checked_mul(*width),
            Self::Bool => Some(packed_len(count)),
            Self::Str | Self::Unicode => count.checked_mul(8),
        }
    }

    /// Returns whether elements are texts, stored as lengths followed by bytes.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Str | Self::Unicode)
    }
}

impl VariableEntry {
    /// Returns the number of elements, including missing ones; 0 without data.
    pub(super) fn count(&self) -> u64 {
        let size = self.size.as_ref();
        size.map_or(0, |size| product(size).expect("checked when the header is read"))
    }

    /// Returns the length of a text in bytes.
    pub(super) fn length(&self, bytes: [u8; 8]) -> u64 {
        match self.endian {
            Endian::Little => u64::from_le_bytes(bytes),
            Endian::Big => u64::from_be_bytes(bytes),
        }
    }

    /// Returns the length of the mask before the data in bytes.
    pub(super) fn mask_len(&self) -> u64 {
        if self.missing { packed_len(self.count()) } else { 0 }
    }

    /// Returns whether it is a coordinate: its only dimension has its own name.
    ///
    /// A variable without elements cannot be one, nor can one whose name would be a path.
    pub(super) fn is_coordinate(&self) -> bool {
        let is_alone = self.dims.as_deref() == Some(std::slice::from_ref(&self.name));
        let is_sound = !self.name.is_empty() && !self.name.contains('/');
        is_alone && is_sound && matches!(self.size.as_deref(), Some([length]) if *length > 0)
    }
}

/// Returns the product of the lengths: 0 if any is 0, even if the product of the others overflows.
pub(super) fn product(size: &[u64]) -> Option<u64> {
    if size.contains(&0) {
        return Some(0);
    }
    size.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))
}

/// Returns the number of bytes for this number of bits; the first bit is the most significant one of the first byte.
pub(super) fn packed_len(bits: u64) -> u64 {
    bits.div_ceil(8)
}

/// Removes the escape before a leading dot or backslash of a name. The name must not be in `names`.
fn unescape(key: &Literal, names: &mut HashSet<String>, kind: &str) -> Result<String, FormatError> {
    let name = match key.text("a key")? {
        escaped if escaped.starts_with("\\.") || escaped.starts_with("\\\\") => &escaped[1..],
        name => name,
    };
    if names.insert(name.to_owned()) {
        return Ok(name.to_owned());
    }
    let reason = format!("expected each {kind} once, found {name:?} again");
    Err(FormatError::malformed(key.offset, reason))
}

/// Escapes a leading dot or backslash of a name.
pub(super) fn escape(name: &str) -> String {
    let escape = if name.starts_with(['.', '\\']) { "\\" } else { "" };
    format!("{escape}{name}")
}

/// Reads the header line, which begins at the offset `base`.
pub(super) fn parse(line: &[u8], base: u64) -> Result<DsHeader, FormatError> {
    let root = literal::parse(line, base, Language::Json)?;
    let mut header = HeaderReader { line, base, losses: Vec::new() };
    let (mut variables, mut attributes) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for (key, value) in root.entries("an object")? {
        let name = key.text("a key")?;
        let members = value.entries(&format!("an object for {name:?}"))?.iter();
        if name == "." {
            let mut losses = Vec::new();
            attributes = header.attributes(members, "the dataset", &mut losses)?;
            header.losses.append(&mut losses);
        } else if name.starts_with('.') {
            header.losses.push(format!("the key {name:?} of the header is unknown"));
        } else {
            let name = unescape(key, &mut names, "variable")?;
            variables.push(header.entry(name, key.offset, members)?);
        }
    }
    check_dims(&variables)?;
    Ok(DsHeader { variables, attributes, losses: header.losses })
}

/// Checks that each dimension has only one length.
fn check_dims(variables: &[VariableEntry]) -> Result<(), FormatError> {
    let mut lengths: HashMap<&str, (u64, &str)> = HashMap::new();
    for entry in variables {
        let (Some(dims), Some(size)) = (&entry.dims, &entry.size) else { continue };
        for (dim, &length) in dims.iter().zip(size) {
            let &mut (known, first) = lengths.entry(dim).or_insert((length, &entry.name));
            if known != length {
                let name = &entry.name;
                let reason = format!(
                    "expected the dimension {dim:?} of {name:?} to have {known} elements, as in {first:?}, found \
                     {length}"
                );
                return Err(FormatError::malformed(entry.at, reason));
            }
        }
    }
    Ok(())
}

/// The source text of the values, and the messages about unknown keys.
struct HeaderReader<'a> {
    line: &'a [u8],
    base: u64,
    losses: Vec<String>,
}

impl HeaderReader<'_> {
    fn attributes<'m>(
        &mut self,
        members: impl Iterator<Item = &'m (Literal, Literal)>,
        of: &str,
        losses: &mut Vec<String>,
    ) -> Result<Vec<Attribute>, FormatError> {
        let mut names = HashSet::new();
        let mut attributes = Vec::new();
        for (key, json) in members {
            let name = key.text("a key")?;
            if name.starts_with('.') {
                self.losses.push(format!("the key {name:?} of {of} is unknown"));
                continue;
            }
            let name = unescape(key, &mut names, "attribute")?;
            let [begin, end] = [json.offset, json.end]
                .map(|at| usize::try_from(at - self.base).expect("the line is in memory"));
            let text = String::from_utf8_lossy(&self.line[begin..end]);
            attributes.push(values::read(name, json, &text, of, losses));
        }
        Ok(attributes)
    }

    /// Reads a variable. Missing keys have the defaults of version 5 of the reference implementation.
    fn entry<'m>(
        &mut self,
        name: String,
        at: u64,
        members: impl Iterator<Item = &'m (Literal, Literal)>,
    ) -> Result<VariableEntry, FormatError> {
        let mut entry = VariableEntry {
            name,
            at,
            dims: None,
            size: Some(Vec::new()),
            offset: 0,
            len: None,
            element: DsElement::Number(Datatype::Float64, 8),
            missing: false,
            endian: Endian::Big,
            attributes: Vec::new(),
            losses: Vec::new(),
        };
        let mut others = Vec::new();
        let (mut size_at, mut dims_at) = (at, at);
        let mut kind = None;
        for member in members {
            let (key, json) = member;
            let name = key.text("a key")?;
            let count =
                |json: &Literal| json.count(&format!("an integer of at least 0 for `{name}`"));
            match name {
                ".dims" => (dims_at, entry.dims) = (json.offset, dims(json)?),
                ".size" => {
                    size_at = json.offset;
                    entry.size = list(json, "a list or null for `.size`", count)?;
                }
                ".offset" => entry.offset = count(json)?,
                ".len" => entry.len = Some(count(json)?),
                ".type" => kind = Some(json),
                ".missing" => entry.missing = json.truth("a boolean for `.missing`")?,
                ".endian" => entry.endian = endian(json)?,
                _ => others.push(member),
            }
        }
        if let Some(size) = &entry.size {
            // Without data, the type is optional.
            if let Some(json) = kind {
                entry.element = element(json)?;
            }
            if product(size).and_then(|count| entry.element.stored_len(count)).is_none() {
                let reason = format!("expected dimensions whose data fits 64 bits, found {size:?}");
                return Err(FormatError::malformed(size_at, reason));
            }
            if let Some(dims) = entry.dims.as_ref().filter(|dims| dims.len() != size.len()) {
                let (wanted, found) = (size.len(), dims.len());
                let reason = format!("expected {wanted} names in `.dims`, found {found}");
                return Err(FormatError::malformed(dims_at, reason));
            }
        }
        let of = format!("{:?}", entry.name);
        entry.attributes = self.attributes(others.into_iter(), &of, &mut entry.losses)?;
        Ok(entry)
    }
}

fn list<T>(
    json: &Literal,
    expected: &str,
    item: impl Fn(&Literal) -> Result<T, FormatError>,
) -> Result<Option<Vec<T>>, FormatError> {
    match &json.kind {
        LiteralKind::Null => Ok(None),
        LiteralKind::List(list) => list.iter().map(item).collect::<Result<_, _>>().map(Some),
        _ => Err(json.unexpected(expected)),
    }
}

fn dims(json: &Literal) -> Result<Option<Vec<String>>, FormatError> {
    match &json.kind {
        // A single name is accepted as a list of one.
        LiteralKind::Text(name) => Ok(Some(vec![name.clone()])),
        _ => list(json, "a list for `.dims`", |json| {
            json.text("a name in `.dims`").map(str::to_owned)
        }),
    }
}

fn element(json: &Literal) -> Result<DsElement, FormatError> {
    let expected =
        "int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode for `.type`";
    DsElement::from_word(json.text(expected)?).ok_or_else(|| json.unexpected(expected))
}

fn endian(json: &Literal) -> Result<Endian, FormatError> {
    let expected = "`l` or `b` for `.endian`";
    match json.text(expected)? {
        "l" => Ok(Endian::Little),
        "b" => Ok(Endian::Big),
        _ => Err(json.unexpected(expected)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> DsHeader {
        parse(text.as_bytes(), 7).unwrap()
    }

    fn fault(text: &str) -> String {
        parse(text.as_bytes(), 7).unwrap_err().to_string()
    }

    #[test]
    fn a_variable_without_keys_has_the_defaults_of_version_5() {
        let header = header(r#"{"x": {}}"#);
        let entry = &header.variables[0];
        assert_eq!(entry.element, DsElement::Number(Datatype::Float64, 8));
        assert_eq!((entry.offset, entry.len, entry.missing), (0, None, false));
        assert_eq!((entry.size.clone(), entry.dims.clone()), (Some(vec![]), None));
        assert_eq!(entry.endian, Endian::Big);
        assert_eq!(header.attributes, []);
    }

    #[test]
    fn escapes_are_removed_from_names() {
        let header = header(
            r#"{"\\.x": {"\\.a": 1, "\\\\b": 2, "\\c": [3, 4]}, "\\\\y": {}, ".": {"\\.t": 1}}"#,
        );
        let names: Vec<_> = header.variables.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, [".x", "\\y"]);
        let attributes = header.variables[0].attributes.iter();
        let facts: Vec<_> = attributes.map(|fact| (&*fact.name, fact.value.to_line())).collect();
        let facts: Vec<_> = facts.iter().map(|(name, value)| (*name, &**value)).collect();
        assert_eq!(facts, [(".a", "1"), ("\\b", "2"), ("\\c", "[3, 4]")]);
        assert_eq!(header.attributes[0].name, ".t");
        for name in [".x", "\\y", "a.b", "\\.x", "", "é"] {
            let kind = LiteralKind::Text(escape(name));
            let key = Literal { offset: 0, end: 0, kind };
            assert_eq!(unescape(&key, &mut HashSet::new(), "variable").unwrap(), name);
        }
    }

    #[test]
    fn unknown_dotted_keys_are_reported() {
        let header = header(r#"{"x": {".new": 1}, ".other": {}, ".": {".z": 2}}"#);
        assert_eq!(
            header.losses,
            [
                "the key \".new\" of \"x\" is unknown",
                "the key \".other\" of the header is unknown",
                "the key \".z\" of the dataset is unknown"
            ]
        );
    }

    #[test]
    fn without_data_no_type_is_needed() {
        let header = header(r#"{"x": {".size": null, ".type": null, ".dims": ["a", "b"]}}"#);
        assert_eq!(header.variables[0].size, None);
        assert_eq!(header.variables[0].count(), 0);
    }

    #[test]
    fn every_error_has_its_offset() {
        let cases = [
            ("[]", "byte 7: expected an object, found a list"),
            (r#"{"x": 1}"#, "byte 13: expected an object for \"x\", found the number 1"),
            (
                r#"{"\\a": {}, "\\\\a": {}}"#,
                "byte 19: expected each variable once, found \"\\\\a\" again",
            ),
            (
                r#"{"x": {"\\a": 1, "\\\\a": 2}}"#,
                "byte 24: expected each attribute once, found \"\\\\a\" again",
            ),
            (r#"{"x": {".dims": [1]}}"#, "byte 24: expected a name in `.dims`, found the number 1"),
            (r#"{"x": {".dims": 1}}"#, "byte 23: expected a list for `.dims`, found the number 1"),
            (r#"{"x": {".dims": ["n"]}}"#, "byte 23: expected 0 names in `.dims`, found 1"),
            (
                r#"{"x": {".size": [-1]}}"#,
                "byte 24: expected an integer of at least 0 for `.size`, found the number -1",
            ),
            (
                r#"{"x": {".size": [1.0]}}"#,
                "byte 24: expected an integer of at least 0 for `.size`, found the number 1.0",
            ),
            (
                r#"{"x": {".size": 3}}"#,
                "byte 23: expected a list or null for `.size`, found the number 3",
            ),
            (
                r#"{"x": {".size": [4294967296, 4294967296]}}"#,
                "byte 23: expected dimensions whose data fits 64 bits, found [4294967296, 4294967296]",
            ),
            (
                r#"{"x": {".type": "float16"}}"#,
                "byte 23: expected int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode \
                 for `.type`, found the text `float16`",
            ),
            (
                r#"{"x": {".type": 1}}"#,
                "byte 23: expected int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode \
                 for `.type`, found the number 1",
            ),
            (
                r#"{"x": {".endian": "x"}}"#,
                "byte 25: expected `l` or `b` for `.endian`, found the text `x`",
            ),
            (
                r#"{"x": {".missing": 0}}"#,
                "byte 26: expected a boolean for `.missing`, found the number 0",
            ),
            (
                r#"{"x": {".offset": null}}"#,
                "byte 25: expected an integer of at least 0 for `.offset`, found no value",
            ),
            (
                r#"{"x": {".dims": ["n"], ".size": [2]}, "y": {".dims": ["n"], ".size": [3]}}"#,
                "byte 45: expected the dimension \"n\" of \"y\" to have 2 elements, as in \"x\", found 3",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(fault(text), message);
        }
    }
}
