//! The header: what it says of each variable, with the places of it.

use std::collections::{HashMap, HashSet};

use super::json::{self, Json, Kind};
use crate::interchange::Error;
use crate::ndl::{Datatype, Endian, Value};

/// The first line of a file.
pub(super) const VERSION_LINE: &[u8] = b"ds-1.0\n";

/// A whole header.
#[derive(Debug)]
pub(super) struct Header {
    /// The variables in the order of the text, which is the order of the body.
    pub(super) variables: Vec<Entry>,
    /// What is known about the dataset.
    pub(super) attributes: Vec<Fact>,
    /// What is not understood.
    pub(super) losses: Vec<String>,
}

/// An attribute as it stands.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fact {
    pub(super) name: String,
    pub(super) json: Json,
    /// The text of the value.
    pub(super) text: String,
}

/// A variable.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The byte of the file at which it stands in the header.
    pub(super) at: u64,
    pub(super) dims: Option<Vec<String>>,
    /// The extents; `None` when there is no data.
    pub(super) size: Option<Vec<u64>>,
    /// From the beginning of the body.
    pub(super) offset: u64,
    pub(super) len: Option<u64>,
    pub(super) element: Element,
    /// Whether a mask stands before the data.
    pub(super) missing: bool,
    pub(super) endian: Endian,
    pub(super) attributes: Vec<Fact>,
}

/// What the elements are.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Element {
    /// A number, and its bytes.
    Number(Datatype, u64),
    Bool,
    /// Bytes.
    Str,
    /// UTF-8.
    Unicode,
}

/// The types of numbers.
const NUMBERS: [(&str, Datatype, u64); 10] = [
    ("int8", Datatype::Int8, 1),
    ("int16", Datatype::Int16, 2),
    ("int32", Datatype::Int32, 4),
    ("int64", Datatype::Int64, 8),
    ("uint8", Datatype::UInt8, 1),
    ("uint16", Datatype::UInt16, 2),
    ("uint32", Datatype::UInt32, 4),
    ("uint64", Datatype::UInt64, 8),
    ("float32", Datatype::Float32, 4),
    ("float64", Datatype::Float64, 8),
];

impl Element {
    fn from_word(word: &str) -> Option<Self> {
        match word {
            "bool" => Some(Self::Bool),
            "str" => Some(Self::Str),
            "unicode" => Some(Self::Unicode),
            _ => {
                let (_, datatype, width) = NUMBERS.iter().find(|(known, ..)| *known == word)?;
                Some(Self::Number(datatype.clone(), *width))
            }
        }
    }

    pub(super) fn word(&self) -> &'static str {
        match self {
            Self::Bool => "bool",
            Self::Str => "str",
            Self::Unicode => "unicode",
            Self::Number(datatype, _) => datatype.word().unwrap_or_default(),
        }
    }
}

impl Entry {
    /// Elements, missing ones too; 0 without data.
    pub(super) fn count(&self) -> u64 {
        // The product was checked.
        self.size.as_ref().map_or(0, |size| product(size).unwrap_or(u64::MAX))
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
pub(super) fn parse(line: &[u8], base: u64) -> Result<Header, Error> {
    let root = json::parse(line, base)?;
    let at = root.at;
    let Kind::Map(entries) = root.kind else {
        return Err(unexpected("an object", at, root.describe()));
    };
    let source = Source { line, base };
    let mut header = Header { variables: Vec::new(), attributes: Vec::new(), losses: Vec::new() };
    let mut names = HashSet::new();
    for (at, key, value) in entries {
        let found = value.describe();
        let Kind::Map(members) = value.kind else {
            return Err(unexpected(&format!("an object for {key:?}"), value.at, found));
        };
        if key == "." {
            header.attributes = source.facts(members, "the dataset", &mut header.losses)?;
        } else if key.starts_with('.') {
            header.losses.push(format!("the key {key:?} of the header is not known"));
        } else {
            let name = unescape(&key).to_owned();
            if !names.insert(name.clone()) {
                let reason = format!("expected each variable once, found {name:?} again");
                return Err(Error::malformed(at, reason));
            }
            header.variables.push(source.entry(name, at, members, &mut header.losses)?);
        }
    }
    header.check_dims()?;
    Ok(header)
}

impl Header {
    /// That each dimension has one length.
    fn check_dims(&self) -> Result<(), Error> {
        let mut lengths: HashMap<&str, (u64, &str)> = HashMap::new();
        for entry in &self.variables {
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
}

fn unexpected(expected: &str, at: u64, found: &str) -> Error {
    Error::malformed(at, format!("expected {expected}, found {found}"))
}

/// The text that the values come from.
struct Source<'a> {
    line: &'a [u8],
    base: u64,
}

impl Source<'_> {
    fn text(&self, json: &Json) -> String {
        let place = |at: u64| usize::try_from(at.saturating_sub(self.base)).unwrap_or(usize::MAX);
        let text = self.line.get(place(json.at)..place(json.end)).unwrap_or_default();
        String::from_utf8_lossy(text).into_owned()
    }

    fn facts(
        &self,
        members: Vec<(u64, String, Json)>,
        of: &str,
        losses: &mut Vec<String>,
    ) -> Result<Vec<Fact>, Error> {
        let mut names = HashSet::new();
        let mut facts = Vec::new();
        for (at, key, json) in members {
            if key.starts_with('.') {
                losses.push(format!("the key {key:?} of {of} is not known"));
                continue;
            }
            let name = unescape(&key).to_owned();
            if !names.insert(name.clone()) {
                let reason = format!("expected each attribute once, found {name:?} again");
                return Err(Error::malformed(at, reason));
            }
            facts.push(Fact { name, text: self.text(&json), json });
        }
        Ok(facts)
    }

    /// A variable; what is not said is what version 5 of the reference implementation takes.
    fn entry(
        &self,
        name: String,
        at: u64,
        members: Vec<(u64, String, Json)>,
        losses: &mut Vec<String>,
    ) -> Result<Entry, Error> {
        let mut entry = Entry {
            name,
            at,
            dims: None,
            size: Some(Vec::new()),
            offset: 0,
            len: None,
            element: Element::Number(Datatype::Float64, 8),
            missing: false,
            endian: Endian::Big,
            attributes: Vec::new(),
        };
        let mut others = Vec::new();
        let (mut size_at, mut dims_at) = (at, at);
        let mut kind = None;
        for (at, key, json) in members {
            match key.as_str() {
                ".dims" => {
                    dims_at = json.at;
                    entry.dims = dims(&json)?;
                }
                ".size" => {
                    size_at = json.at;
                    entry.size = size(&json)?;
                }
                ".offset" => entry.offset = count(&json, "`.offset`")?,
                ".len" => entry.len = Some(count(&json, "`.len`")?),
                ".type" => kind = Some(json),
                ".missing" => match json.kind {
                    Kind::Bool(missing) => entry.missing = missing,
                    _ => {
                        let found = json.describe();
                        return Err(unexpected("a boolean for `.missing`", json.at, found));
                    }
                },
                ".endian" => entry.endian = endian(&json)?,
                _ => others.push((at, key, json)),
            }
        }
        // Without data there may be no type either.
        if let (Some(json), Some(_)) = (&kind, &entry.size) {
            entry.element = element(json)?;
        }
        if let Some(size) = &entry.size {
            check_size(size, &entry.element, size_at)?;
            if let Some(dims) = &entry.dims
                && dims.len() != size.len()
            {
                let (wanted, found) = (size.len(), dims.len());
                let reason = format!("expected {wanted} names in `.dims`, found {found}");
                return Err(Error::malformed(dims_at, reason));
            }
        }
        entry.attributes = self.facts(others, &format!("{:?}", entry.name), losses)?;
        Ok(entry)
    }
}

fn check_size(size: &[u64], element: &Element, at: u64) -> Result<(), Error> {
    let width = match element {
        Element::Number(_, width) => *width,
        Element::Bool => 1,
        Element::Str | Element::Unicode => 8,
    };
    match product(size).and_then(|count| count.checked_mul(width)) {
        Some(_) => Ok(()),
        None => {
            let reason = format!("expected extents whose data 64 bits can count, found {size:?}");
            Err(Error::malformed(at, reason))
        }
    }
}

fn dims(json: &Json) -> Result<Option<Vec<String>>, Error> {
    match &json.kind {
        Kind::Null => Ok(None),
        // A name alone is taken for a list of one.
        Kind::Text(name) => Ok(Some(vec![name.clone()])),
        Kind::List(list) => list
            .iter()
            .map(|json| match &json.kind {
                Kind::Text(name) => Ok(name.clone()),
                _ => Err(unexpected("a name in `.dims`", json.at, json.describe())),
            })
            .collect::<Result<_, _>>()
            .map(Some),
        _ => Err(unexpected("a list for `.dims`", json.at, json.describe())),
    }
}

fn size(json: &Json) -> Result<Option<Vec<u64>>, Error> {
    match &json.kind {
        Kind::Null => Ok(None),
        Kind::List(list) => {
            list.iter().map(|json| count(json, "`.size`")).collect::<Result<_, _>>().map(Some)
        }
        _ => Err(unexpected("a list or null for `.size`", json.at, json.describe())),
    }
}

fn count(json: &Json, key: &str) -> Result<u64, Error> {
    let number = match &json.kind {
        Kind::Number(number) => number.as_integer().and_then(|number| u64::try_from(number).ok()),
        _ => None,
    };
    number.ok_or_else(|| {
        let found = match &json.kind {
            Kind::Number(Value::Int(number)) => number.to_string(),
            _ => json.describe().to_owned(),
        };
        unexpected(&format!("an integer of at least 0 for {key}"), json.at, &found)
    })
}

fn element(json: &Json) -> Result<Element, Error> {
    let Kind::Text(word) = &json.kind else {
        return Err(unexpected("a text for `.type`", json.at, json.describe()));
    };
    Element::from_word(word).ok_or_else(|| {
        let reason = format!(
            "expected int8 to int64, uint8 to uint64, float32, float64, bool, str or unicode for `.type`, \
             found {word:?}"
        );
        Error::malformed(json.at, reason)
    })
}

fn endian(json: &Json) -> Result<Endian, Error> {
    match &json.kind {
        Kind::Text(word) if word == "l" => Ok(Endian::Little),
        Kind::Text(word) if word == "b" => Ok(Endian::Big),
        Kind::Text(word) => {
            Err(unexpected("`l` or `b` for `.endian`", json.at, &format!("{word:?}")))
        }
        _ => Err(unexpected("`l` or `b` for `.endian`", json.at, json.describe())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Header {
        parse(text.as_bytes(), 7).unwrap()
    }

    fn fault(text: &str) -> String {
        parse(text.as_bytes(), 7).unwrap_err().to_string()
    }

    #[test]
    fn a_variable_without_keys_has_the_defaults_of_version_5() {
        let header = header(r#"{"x": {}}"#);
        let entry = &header.variables[0];
        assert_eq!(entry.element, Element::Number(Datatype::Float64, 8));
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
