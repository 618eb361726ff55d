//! The Ndarray Data Language (NDL) 0.6.1, which describes arrays, their coordinates, groups and attributes in YAML: the
//! model, a reader with exact positions, the rules, and a canonical writer.
//!
//! ```
//! use ra_pack::ndl;
//!
//! let parsed = ndl::parse(b"ndarrays:\n  z:\n    shape: [10, 20]\n    type: flaot64\n");
//! let finding = &parsed.findings[0];
//! assert_eq!(finding.code.id(), "NDL040");
//! assert!(matches!(finding.place, Some(ra_pack::finding::Place::Text { line: 4, column: 11, .. })));
//! assert_eq!(finding.hint, Some("did you mean `float64`?".into()));
//! ```
//!
//! ra-pack decides where the language leaves a choice:
//!
//! - Scalars follow the core schema of YAML 1.2: `no`, dates and `12:30:00` are strings, and `010` is ten. A file is
//!   one document without duplicate keys, merge keys or custom tags. The expansion of aliases is limited.
//! - The long form of an attribute is a mapping. The short form is a scalar of type `int64` (`uint64` above its range),
//!   `float64` or `string`. Lists, booleans and null have no short form.
//! - A bare name in a shape is a dimcoord of the same group or of the nearest group above; a path begins with `/`. If
//!   the dimcoord is not in the document, it may be elsewhere in the pack: see [`Parsed::unresolved`].
//! - A length in a shape may be 0; the size of a dimcoord may not.
//! - A value has the shape `storage.shape` if that is given, and the shape of the array otherwise.
//! - An enum without a base has the smallest type that holds all members, unsigned if none is negative. Its values are
//!   names or numbers.
//! - Compounds are packed without gaps; each member is a mapping with one key.
//! - Unknown keys are errors, except under `storage`, where they are kept with a warning.
//! - The words `float16`, `bfloat16`, `float128`, `complex64`, `complex128`, `int128` and `uint128` and the key
//!   `storage.order` are extensions by ra-pack; [`ParseOptions::strict`] refuses the types.

/// The version of the language.
pub const VERSION: &str = "0.6.1";

mod datatype;
mod deserialize;
#[cfg(feature = "full")]
mod edit;
mod load;
mod model;
mod node;
mod parse;
mod plain;
#[cfg(feature = "full")]
mod read_back;
mod read_value;
mod report;
mod scalar;
mod source;
mod source_map;
mod validate;
mod value;
pub(crate) mod write;

#[cfg(test)]
pub(crate) mod strategies;
#[cfg(test)]
mod tests;

use std::borrow::Cow;

pub use self::datatype::{Datatype, Integer, RegionSelection};
#[cfg(feature = "full")]
pub(crate) use self::edit::{Refusal, Revision, ValueChange, complete, revise};
pub(crate) use self::load::memory_for;
pub use self::load::{MAX_ALIASED, MAX_DEPTH, MAX_NODES, MAX_TEXT};
pub use self::model::{
    Attribute, Document, Endian, Entity, Extent, Form, Group, Index, Ndarray, Order, Storage,
};
pub use self::node::Step;
pub use self::plain::PlainDescription;
#[cfg(feature = "full")]
pub(crate) use self::read_back::{Misread, compare};
pub use self::report::MAX_FINDINGS;
pub(crate) use self::report::{nearest, nearest_of};
pub use self::source_map::SourceMap;
pub(crate) use self::validate::enum_number;
pub use self::validate::{Referrer, UnresolvedReference};
pub use self::value::Value;

pub(crate) use self::model::{Positions, ancestors, candidates, entity_path, split_path};
use self::parse::DocumentReader;
use self::report::Reporter;
use self::source::{Range, SourceText};
use crate::finding::{Code, Finding};

impl Document {
    /// Checks the document that [`to_yaml`](Self::to_yaml) writes, and reports problems such as two arrays with the
    /// same name.
    pub fn validate(&self) -> Vec<Finding> {
        parse(self.to_yaml().as_bytes()).findings
    }
}

/// Serializes attributes as the mapping that a document contains.
pub(crate) fn by_name_in_ndl<S: serde::Serializer>(
    attributes: &[Attribute],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let value = write::attributes(attributes).pop().map_or(Value::Map(Vec::new()), |(_, map)| map);
    serde::Serialize::serialize(&value, serializer)
}

/// Options for [`parse_with`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ParseOptions {
    /// Refuse the datatypes that NDL 0.6.1 does not have.
    pub strict: bool,
}

/// The result of reading a description.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct Parsed {
    /// The content of the document, without the entities that have errors; `None` if it cannot be read at all.
    pub document: Option<Document>,
    /// The problems, in the order of the text.
    pub findings: Vec<Finding>,
    /// The text and the positions in it.
    pub source: SourceMap,
    /// References to things that are not in the document. They are errors unless they are found elsewhere, such as in
    /// the other documents of a pack.
    pub unresolved: Vec<UnresolvedReference>,
}

impl Parsed {
    /// Returns whether a rule is broken; warnings and unresolved references do not count.
    pub fn has_errors(&self) -> bool {
        self.findings.iter().any(Finding::is_error)
    }
}

/// Reads a document. Never fails: problems are in [`Parsed::findings`].
pub fn parse(text: &[u8]) -> Parsed {
    parse_with(text, &ParseOptions::default())
}

/// Reads a document with options, like [`parse`].
pub fn parse_with(text: &[u8], options: &ParseOptions) -> Parsed {
    let (is_too_large, checked) = (text.len() > MAX_TEXT, str::from_utf8(text));
    let shown = if is_too_large { Cow::default() } else { String::from_utf8_lossy(text) };
    let source = SourceText::new(shown.into_owned());
    let mut sink = Reporter::new(&source);
    let root = match checked {
        _ if is_too_large => {
            let expected = format!("at most {MAX_TEXT} bytes");
            let at = Range::new(0, 0);
            sink.report(Code::TooLarge, at, "the document is too large").expected(expected);
            None
        }
        Err(error) => {
            let at = error.valid_up_to() - source.mark;
            let at = Range::new(at, at + char::REPLACEMENT_CHARACTER.len_utf8());
            let is_utf16 = matches!(text, [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..]);
            let expected = if is_utf16 { "UTF-8, not UTF-16" } else { "UTF-8" };
            sink.report(Code::NotUtf8, at, "the text is not UTF-8").expected(expected);
            None
        }
        Ok(_) => load::load(&mut sink),
    };
    let read = root.as_ref().and_then(|root| {
        let mut reader = DocumentReader::new(&mut sink, options.strict);
        let document = reader.document(root)?;
        let unresolved = validate::whole(&document, reader);
        Some((document, unresolved))
    });
    let findings = sink.finish();
    let (document, unresolved) = read.unzip();
    let source = SourceMap { source, root };
    Parsed { document, findings, source, unresolved: unresolved.unwrap_or_default() }
}
