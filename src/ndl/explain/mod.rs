//! Each rule in a paragraph, with the text that it comes from and with a wrong and a right example.

mod datatype;
mod frame;
mod storage;
mod text;
mod value;

use serde::Serialize;

use super::Code;

/// What a code means and how to get rid of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Explanation {
    /// What the rule is, and why there is one.
    pub text: &'static str,
    /// Where the rule comes from.
    pub source: &'static str,
    /// What breaks it.
    pub wrong: Example,
    /// The same, put right.
    pub right: Example,
}

/// An example of an [`Explanation`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Example {
    /// A whole description, as it stands in a file.
    Document(&'static str),
    /// What cannot be shown as a document: a layout of files, a command, a few words.
    Sketch(&'static str),
}

impl Example {
    /// The text of the example.
    pub fn text(self) -> &'static str {
        match self {
            Self::Document(text) | Self::Sketch(text) => text,
        }
    }
}

/// Where the rules come from.
const NDL: &str = "NDL 0.6.1";
const YAML: &str = "YAML 1.2";
const OURS: &str = "ra-pack, where NDL 0.6.1 is silent";

/// An explanation whose examples are documents.
const fn explanation(
    source: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { text, source, wrong: Example::Document(wrong), right: Example::Document(right) }
}

impl Code {
    /// The rule in a paragraph, with a wrong and a right example.
    pub fn explanation(self) -> Explanation {
        match self {
            Self::NotUtf8 => text::NOT_UTF8,
            Self::TooLarge => text::TOO_LARGE,
            Self::Syntax => text::SYNTAX,
            Self::ManyDocuments => text::MANY_DOCUMENTS,
            Self::DuplicateKey => text::DUPLICATE_KEY,
            Self::Tag => text::TAG,
            Self::MergeKey => text::MERGE_KEY,
            Self::Alias => text::ALIAS,
            Self::TooDeep => text::TOO_DEEP,
            Self::KeyNotText => text::KEY_NOT_TEXT,
            Self::NumberRange => text::NUMBER_RANGE,
            Self::TooManyFindings => text::TOO_MANY_FINDINGS,
            Self::UnknownKey => frame::UNKNOWN_KEY,
            Self::MissingKey => frame::MISSING_KEY,
            Self::WrongKind => frame::WRONG_KIND,
            Self::MixedForms => frame::MIXED_FORMS,
            Self::GroupPath => frame::GROUP_PATH,
            Self::Name => frame::NAME,
            Self::NameTwice => frame::NAME_TWICE,
            Self::ShortList => frame::SHORT_LIST,
            Self::ShortNotScalar => frame::SHORT_NOT_SCALAR,
            Self::UnknownDatatype => datatype::UNKNOWN_DATATYPE,
            Self::DatatypeForm => datatype::DATATYPE_FORM,
            Self::OpaqueSize => datatype::OPAQUE_SIZE,
            Self::EnumMembers => datatype::ENUM_MEMBERS,
            Self::EnumTwice => datatype::ENUM_TWICE,
            Self::EnumRange => datatype::ENUM_RANGE,
            Self::EnumBase => datatype::ENUM_BASE,
            Self::Selection => datatype::SELECTION,
            Self::CompoundMember => datatype::COMPOUND_MEMBER,
            Self::CompoundTwice => datatype::COMPOUND_TWICE,
            Self::DatatypeSize => datatype::DATATYPE_SIZE,
            Self::Extension => datatype::EXTENSION,
            Self::Extent => value::EXTENT,
            Self::ExtentKind => value::EXTENT_KIND,
            Self::CoordPath => value::COORD_PATH,
            Self::UnresolvedCoord => value::UNRESOLVED_COORD,
            Self::CoordSize => value::COORD_SIZE,
            Self::ShapeSize => value::SHAPE_SIZE,
            Self::ValueShape => value::VALUE_SHAPE,
            Self::ValueType => value::VALUE_TYPE,
            Self::ValueRange => value::VALUE_RANGE,
            Self::EnumValue => value::ENUM_VALUE,
            Self::UnresolvedTarget => value::UNRESOLVED_TARGET,
            Self::RegionBounds => value::REGION_BOUNDS,
            Self::StorageRank => storage::STORAGE_RANK,
            Self::StorageBound => storage::STORAGE_BOUND,
            Self::StoragePlace => storage::STORAGE_PLACE,
            Self::StorageKey => storage::STORAGE_KEY,
            Self::Endian => storage::ENDIAN,
            Self::Order => storage::ORDER,
            Self::FillValue => storage::FILL_VALUE,
            Self::Filter => storage::FILTER,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ndl::{ParseOptions, parse, parse_with};

    fn codes(text: &str, strict: bool) -> Vec<Code> {
        let parsed = parse_with(text.as_bytes(), &ParseOptions { strict });
        let unresolved = parsed.unresolved_diagnostics();
        parsed.diagnostics.iter().chain(&unresolved).map(|finding| finding.code).collect()
    }

    #[test]
    fn wrong_examples_break_their_rule_alone_and_right_ones_none() {
        for code in Code::ALL {
            let Explanation { wrong, right, .. } = code.explanation();
            if let Example::Document(text) = wrong {
                let strict = *code == Code::Extension;
                assert_eq!(codes(text, strict), [*code], "{code}\n{text}");
            }
            if let Example::Document(text) = right {
                assert_eq!(codes(text, true), [], "{code}\n{text}");
            }
        }
    }

    #[test]
    fn only_what_no_small_text_can_break_has_a_sketch() {
        let sketched: Vec<_> = Code::ALL
            .iter()
            .filter(|code| matches!(code.explanation().wrong, Example::Sketch(_)))
            .collect();
        assert_eq!(sketched, [&Code::NotUtf8, &Code::TooLarge, &Code::TooManyFindings]);
        // What the sketches say.
        assert_eq!(parse(b"attributes: {site: Troms\xf8}").diagnostics[0].code, Code::NotUtf8);
    }

    #[test]
    fn no_two_rules_are_explained_alike() {
        let texts: std::collections::HashSet<_> =
            Code::ALL.iter().map(|code| code.explanation().text).collect();
        assert_eq!(texts.len(), Code::ALL.len());
    }
}
