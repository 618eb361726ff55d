//! The header: what it says of each variable, with the places of it.

#![expect(clippy::indexing_slicing, reason = "the reader of JSON gives places in the line")]

use std::collections::{HashMap, HashSet};

use super::body::packed_len;
use super::values::is_number;
use crate::interchange::Error;
use crate::interchange::literal::{self, Language, Literal, LiteralKind};
use crate::ndl::{Datatype, Endian, Value};

/// Most bytes of a header.
pub(super) const MAX_LEN: u64 = 16 << 20;

/// The first line of a file.
pub(super) const VERSION_LINE: &[u8] = b"ds-1.0\n";

/// A whole header.
#[derive(Debug)]
pub(super) struct DsHeader {
    /// The variables in the order of the text, which is the order of the body.
    pub(super) variables: Vec<VariableEntry>,
    /// What is known about the dataset.
    pub(super) attributes: Vec<JsonAttribute>,
    /// What is not understood.
    pub(super) losses: Vec<String>,
}

/// An attribute as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct JsonAttribute {
    pub(super) name: String,
    pub(super) json: Literal,
    /// The text of the value.
    pub(super) text: String,
}

/// A variable.
#[derive(Debug, Clone)]
pub(super) struct VariableEntry {
    pub(super) name: String,
    /// The byte of the file at which it stands in the header.
    pub(super) at: u64,
    pub(super) dims: Option<Vec<String>>,
    /// The extents; `None` when there is no data.
    pub(super) size: Option<Vec<u64>>,
    /// From the beginning of the body; the true place once the body was looked at.
    pub(super) offset: u64,
    pub(super) len: Option<u64>,
    pub(super) element: DsElement,
    /// Whether a mask stands before the data.
    pub(super) missing: bool,
    pub(super) endian: Endian,
    pub(super) attributes: Vec<JsonAttribute>,
}

/// What the elements are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum DsElement {
    /// A number, and its bytes.
    Number(Datatype, u64),
    Bool,
    /// Bytes.
    Str,
    /// UTF-8.
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

    /// Whether elements are texts, of which the body holds lengths and then bytes.
    pub(super) fn is_text(&self) -> bool {
        matches!(self, Self::Str | Self::Unicode)
    }
}

impl VariableEntry {
    /// Elements, missing ones too; 0 without data.
    pub(super) fn count(&self) -> u64 {
        let size = self.size.as_ref();
        size.map_or(0, |size| product(size).expect("it is checked when the header is read"))
    }

    /// Bytes of the mask before the data.
    pub(super) fn mask_len(&self) -> u64 {
        if self.missing { packed_len(self.count()) } else { 0 }
    }

    /// Whether it is the coordinate of a dimension: it alone runs along the dimension of its name.
    ///
    /// Without elements it can be none, and neither can a name be that means a path.
    pub(super) fn is_coordinate(&self) -> bool {
        let is_alone = self.dims.as_deref() == Some(std::slice::from_ref(&self.name));
        let is_sound = !self.name.is_empty() && !self.name.contains('/');
        is_alone && is_sound && matches!(self.size.as_deref(), Some([length]) if *length > 0)
    }
}

/// The product of extents: 0 when one of them is, whatever the others are.
pub(super) fn product(size: &[u64]) -> Option<u64> {
    if size.contains(&0) {
        return Some(0);
    }
    size.iter().try_fold(1_u64, |product, extent| product.checked_mul(*extent))
}

/// A name without the escape before its dot or backslash.
fn unescape(name: &str) -> &str {
    match name.strip_prefix('\\') {
        Some(rest) if rest.starts_with(['.', '\\']) => rest,
        _ => name,
    }
}

/// A name with the escape that its dot or backslash needs.
pub(super) fn escape(name: &str) -> String {
    let escape = if name.starts_with(['.', '\\']) { "\\" } else { "" };
    format!("{escape}{name}")
}

/// Reads the header line, which begins at byte `base`.
pub(super) fn parse(line: &[u8], base: u64) -> Result<DsHeader, Error> {
    let root = literal::parse(line, base, Language::Json)?;
    let LiteralKind::Map(entries) = root.kind else { return Err(unexpected(&root, "an object")) };
    let mut header = HeaderReader { line, base, losses: Vec::new() };
    let (mut variables, mut attributes) = (Vec::new(), Vec::new());
    let mut names = HashSet::new();
    for (at, key, value) in members(entries) {
        let LiteralKind::Map(map) = value.kind else {
            return Err(unexpected(&value, &format!("an object for {key:?}")));
        };
        let members = members(map);
        if key == "." {
            attributes = header.attributes(members, "the dataset")?;
        } else if key.starts_with('.') {
            header.losses.push(format!("the key {key:?} of the header is not known"));
        } else {
            let name = unescape(&key).to_owned();
            if !names.insert(name.clone()) {
                let reason = format!("expected each variable once, found {name:?} again");
                return Err(Error::malformed(at, reason));
            }
            variables.push(header.entry(name, at, members)?);
        }
    }
    check_dims(&variables)?;
    Ok(DsHeader { variables, attributes, losses: header.losses })
}

/// The keys of an object, with the place of each, and its values.
type KeyedLiterals = Vec<(u64, String, Literal)>;

fn members(map: Vec<(Literal, Literal)>) -> KeyedLiterals {
    let member = |(key, value): (Literal, Literal)| match key.kind {
        LiteralKind::Text(text) => (key.offset, text, value),
        _ => unreachable!("the keys of JSON are texts"),
    };
    map.into_iter().map(member).collect()
}

/// That something else than a value was expected.
fn unexpected(json: &Literal, expected: &str) -> Error {
    Error::malformed(json.offset, format!("expected {expected}, found {}", describe(json)))
}

/// A value in a message.
pub(super) fn describe(json: &Literal) -> &'static str {
    match &json.kind {
        LiteralKind::Null => "null",
        LiteralKind::Bool(_) => "a boolean",
        LiteralKind::Number(Value::Float(_)) => "a float",
        LiteralKind::Number(_) | LiteralKind::Huge => "an integer",
        LiteralKind::Text(_) => "a text",
        LiteralKind::List(_) | LiteralKind::Tuple(_) => "a list",
        LiteralKind::Map(_) => "an object",
    }
}

/// That each dimension has one length.
fn check_dims(variables: &[VariableEntry]) -> Result<(), Error> {
    let mut lengths: HashMap<&str, (u64, &str)> = HashMap::new();
    for entry in variables {
        let (Some(dims), Some(size)) = (&entry.dims, &entry.size) else { continue };
        for (dim, &length) in dims.iter().zip(size) {
            let &mut (known, first) = lengths.entry(dim).or_insert((length, &entry.name));
            if known != length {
                let name = &entry.name;
                let reason = format!(
                    "expected the dimension {dim:?} of {name:?} to have the {known} elements that it \
                     has in {first:?}, found {length}"
                );
                return Err(Error::malformed(entry.at, reason));
            }
        }
    }
    Ok(())
}

/// The text that the values come from, and what in it is not understood.
struct HeaderReader<'a> {
    line: &'a [u8],
    base: u64,
    losses: Vec<String>,
}

impl HeaderReader<'_> {
    fn attributes(
        &mut self,
        members: KeyedLiterals,
        of: &str,
    ) -> Result<Vec<JsonAttribute>, Error> {
        let mut names = HashSet::new();
        let mut attributes = Vec::new();
        for (at, key, json) in members {
            if key.starts_with('.') {
                self.losses.push(format!("the key {key:?} of {of} is not known"));
                continue;
            }
            let name = unescape(&key).to_owned();
            if !names.insert(name.clone()) {
                let reason = format!("expected each attribute once, found {name:?} again");
                return Err(Error::malformed(at, reason));
            }
            let [begin, end] = [json.offset, json.end]
                .map(|at| usize::try_from(at - self.base).expect("the line is in memory"));
            let text = String::from_utf8_lossy(&self.line[begin..end]).into_owned();
            attributes.push(JsonAttribute { name, json, text });
        }
        Ok(attributes)
    }

    /// A variable; what is not said is what version 5 of the reference implementation takes.
    fn entry(
        &mut self,
        name: String,
        at: u64,
        members: KeyedLiterals,
    ) -> Result<VariableEntry, Error> {
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
        };
        let mut others = Vec::new();
        let (mut size_at, mut dims_at) = (at, at);
        let mut kind = None;
        for (at, key, json) in members {
            match key.as_str() {
                ".dims" => (dims_at, entry.dims) = (json.offset, dims(&json)?),
                ".size" => {
                    let count = |json: &Literal| count(json, "`.size`");
                    (size_at, entry.size) =
                        (json.offset, list(&json, "a list or null for `.size`", count)?);
                }
                ".offset" => entry.offset = count(&json, "`.offset`")?,
                ".len" => entry.len = Some(count(&json, "`.len`")?),
                ".type" => kind = Some(json),
                ".missing" => match json.kind {
                    LiteralKind::Bool(missing) => entry.missing = missing,
                    _ => return Err(unexpected(&json, "a boolean for `.missing`")),
                },
                ".endian" => entry.endian = endian(&json)?,
                _ => others.push((at, key, json)),
            }
        }
        if let Some(size) = &entry.size {
            // Without data there may be no type either.
            if let Some(json) = &kind {
                entry.element = element(json)?;
            }
            let width = match &entry.element {
                DsElement::Number(_, width) => *width,
                DsElement::Bool => 1,
                DsElement::Str | DsElement::Unicode => 8,
            };
            if product(size).and_then(|count| count.checked_mul(width)).is_none() {
                let reason =
                    format!("expected extents whose data 64 bits can count, found {size:?}");
                return Err(Error::malformed(size_at, reason));
            }
            if let Some(dims) = entry.dims.as_ref().filter(|dims| dims.len() != size.len()) {
                let (wanted, found) = (size.len(), dims.len());
                let reason = format!("expected {wanted} names in `.dims`, found {found}");
                return Err(Error::malformed(dims_at, reason));
            }
        }
        entry.attributes = self.attributes(others, &format!("{:?}", entry.name))?;
        Ok(entry)
    }
}

fn list<T>(
    json: &Literal,
    expected: &str,
    item: impl Fn(&Literal) -> Result<T, Error>,
) -> Result<Option<Vec<T>>, Error> {
    match &json.kind {
        LiteralKind::Null => Ok(None),
        LiteralKind::List(list) => list.iter().map(item).collect::<Result<_, _>>().map(Some),
        _ => Err(unexpected(json, expected)),
    }
}

fn dims(json: &Literal) -> Result<Option<Vec<String>>, Error> {
    let name = |json: &Literal| match &json.kind {
        LiteralKind::Text(name) => Ok(name.clone()),
        _ => Err(unexpected(json, "a name in `.dims`")),
    };
    match &json.kind {
        // A name alone is taken for a list of one.
        LiteralKind::Text(_) => Ok(Some(vec![name(json)?])),
        _ => list(json, "a list for `.dims`", name),
    }
}

fn count(json: &Literal, key: &str) -> Result<u64, Error> {
    let expected = format!("an integer of at least 0 for {key}");
    match &json.kind {
        LiteralKind::Number(number @ (Value::Int(_) | Value::UInt(_))) => {
            let found = number.as_integer().expect("it is one");
            u64::try_from(found).map_err(|_| {
                Error::malformed(json.offset, format!("expected {expected}, found {found}"))
            })
        }
        _ => Err(unexpected(json, &expected)),
    }
}

fn element(json: &Literal) -> Result<DsElement, Error> {
    let LiteralKind::Text(word) = &json.kind else {
        return Err(unexpected(json, "a text for `.type`"));
    };
    DsElement::from_word(word).ok_or_else(|| {
        let reason = format!(
            "expected int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode for `.type`, \
             found {word:?}"
        );
        Error::malformed(json.offset, reason)
    })
}

fn endian(json: &Literal) -> Result<Endian, Error> {
    let expected = "`l` or `b` for `.endian`";
    match &json.kind {
        LiteralKind::Text(word) if word == "l" => Ok(Endian::Little),
        LiteralKind::Text(word) if word == "b" => Ok(Endian::Big),
        LiteralKind::Text(word) => {
            Err(Error::malformed(json.offset, format!("expected {expected}, found {word:?}")))
        }
        _ => Err(unexpected(json, expected)),
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
    fn names_lose_their_escapes() {
        let header = header(
            r#"{"\\.x": {"\\.a": 1, "\\\\b": 2, "\\c": [3, 4]}, "\\\\y": {}, ".": {"\\.t": 1}}"#,
        );
        let names: Vec<_> = header.variables.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, [".x", "\\y"]);
        let facts: Vec<_> =
            header.variables[0].attributes.iter().map(|fact| (&*fact.name, &*fact.text)).collect();
        assert_eq!(facts, [(".a", "1"), ("\\b", "2"), ("\\c", "[3, 4]")]);
        assert_eq!(header.attributes[0].name, ".t");
        for name in [".x", "\\y", "a.b", "\\.x", "", "é"] {
            assert_eq!(unescape(&escape(name)), name);
        }
    }

    #[test]
    fn unknown_dotted_keys_are_told() {
        let header = header(r#"{"x": {".new": 1}, ".other": {}, ".": {".z": 2}}"#);
        assert_eq!(
            header.losses,
            [
                "the key \".new\" of \"x\" is not known",
                "the key \".other\" of the header is not known",
                "the key \".z\" of the dataset is not known"
            ]
        );
    }

    #[test]
    fn no_data_needs_no_type() {
        let header = header(r#"{"x": {".size": null, ".type": null, ".dims": ["a", "b"]}}"#);
        assert_eq!(header.variables[0].size, None);
        assert_eq!(header.variables[0].count(), 0);
    }

    #[test]
    fn every_fault_has_its_place() {
        let cases = [
            ("[]", "byte 7: expected an object, found a list"),
            (r#"{"x": 1}"#, "byte 13: expected an object for \"x\", found an integer"),
            (
                r#"{"\\a": {}, "\\\\a": {}}"#,
                "byte 19: expected each variable once, found \"\\\\a\" again",
            ),
            (
                r#"{"x": {"\\a": 1, "\\\\a": 2}}"#,
                "byte 24: expected each attribute once, found \"\\\\a\" again",
            ),
            (r#"{"x": {".dims": [1]}}"#, "byte 24: expected a name in `.dims`, found an integer"),
            (r#"{"x": {".dims": 1}}"#, "byte 23: expected a list for `.dims`, found an integer"),
            (r#"{"x": {".dims": ["n"]}}"#, "byte 23: expected 0 names in `.dims`, found 1"),
            (
                r#"{"x": {".size": [-1]}}"#,
                "byte 24: expected an integer of at least 0 for `.size`, found -1",
            ),
            (
                r#"{"x": {".size": [1.0]}}"#,
                "byte 24: expected an integer of at least 0 for `.size`, found a float",
            ),
            (
                r#"{"x": {".size": 3}}"#,
                "byte 23: expected a list or null for `.size`, found an integer",
            ),
            (
                r#"{"x": {".size": [4294967296, 4294967296]}}"#,
                "byte 23: expected extents whose data 64 bits can count, found [4294967296, 4294967296]",
            ),
            (
                r#"{"x": {".type": "float16"}}"#,
                "byte 23: expected int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode \
                 for `.type`, found \"float16\"",
            ),
            (r#"{"x": {".type": 1}}"#, "byte 23: expected a text for `.type`, found an integer"),
            (
                r#"{"x": {".endian": "x"}}"#,
                "byte 25: expected `l` or `b` for `.endian`, found \"x\"",
            ),
            (
                r#"{"x": {".missing": 0}}"#,
                "byte 26: expected a boolean for `.missing`, found an integer",
            ),
            (
                r#"{"x": {".offset": null}}"#,
                "byte 25: expected an integer of at least 0 for `.offset`, found null",
            ),
            (
                r#"{"x": {".dims": ["n"], ".size": [2]}, "y": {".dims": ["n"], ".size": [3]}}"#,
                "byte 45: expected the dimension \"n\" of \"y\" to have the 2 elements that it has in \
                 \"x\", found 3",
            ),
        ];
        for (text, message) in cases {
            assert_eq!(fault(text), message);
        }
    }
}
