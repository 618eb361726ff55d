//! What each code means in a paragraph, and how a code is looked up by what somebody typed.

mod arrays;
mod bags;
mod container;
mod descriptions;
mod manifests;
mod names;
mod tar;
mod zip;

use std::fmt;
use std::str::FromStr;

use super::Code;
use crate::ndl::{self, Example, Explanation};

/// An explanation whose examples are layouts or commands.
const fn sketch(
    source: &'static str,
    text: &'static str,
    wrong: &'static str,
    right: &'static str,
) -> Explanation {
    Explanation { text, source, wrong: Example::Sketch(wrong), right: Example::Sketch(right) }
}

impl Code {
    /// Every code there is, the rules of the Ndarray Data Language first.
    pub fn all() -> impl Iterator<Item = Self> {
        ndl::Code::ALL.iter().copied().map(Self::Ndl).chain(Self::ALL.iter().copied())
    }

    /// What the code means and why, with a wrong and a right example.
    pub fn explanation(self) -> Explanation {
        match self {
            Self::Ndl(code) => code.explanation(),
            Self::InvalidName => names::INVALID_NAME,
            Self::DuplicateName => names::DUPLICATE_NAME,
            Self::FileAndDirectory => names::FILE_AND_DIRECTORY,
            Self::Link => names::LINK,
            Self::SpecialFile => names::SPECIAL_FILE,
            Self::CaseTwins => names::CASE_TWINS,
            Self::LegacyNameEncoding => names::LEGACY_NAME_ENCODING,
            Self::ControlInName => names::CONTROL_IN_NAME,
            Self::UnportableName => names::UNPORTABLE_NAME,
            Self::NormalizationTwins => names::NORMALIZATION_TWINS,
            Self::DecomposedName => names::DECOMPOSED_NAME,
            Self::NotAnArchive => container::NOT_AN_ARCHIVE,
            Self::StrayBytes => container::STRAY_BYTES,
            Self::BadDirectory => container::BAD_DIRECTORY,
            Self::HeadersDisagree => container::HEADERS_DISAGREE,
            Self::Overlap => container::OVERLAP,
            Self::BadChecksum => container::BAD_CHECKSUM,
            Self::BadMemberData => container::BAD_MEMBER_DATA,
            Self::Unsupported => container::UNSUPPORTED,
            Self::MissingEndMark => container::MISSING_END_MARK,
            Self::DirectoryWithData => container::DIRECTORY_WITH_DATA,
            Self::OddContainer => container::ODD_CONTAINER,
            Self::PrependedBytes => zip::PREPENDED_BYTES,
            Self::TrailingBytes => container::TRAILING_BYTES,
            Self::HiddenMember => container::HIDDEN_MEMBER,
            Self::Zip64Mismatch => zip::ZIP64_MISMATCH,
            Self::BadDescriptor => zip::BAD_DESCRIPTOR,
            Self::Encrypted => zip::ENCRYPTED,
            Self::UnknownMethod => zip::UNKNOWN_METHOD,
            Self::SplitArchive => zip::SPLIT_ARCHIVE,
            Self::SecondEndRecord => zip::SECOND_END_RECORD,
            Self::BadExtraField => zip::BAD_EXTRA_FIELD,
            Self::SignatureInComment => zip::SIGNATURE_IN_COMMENT,
            Self::DirtyPadding => container::DIRTY_PADDING,
            Self::TrailingCompressed => tar::TRAILING_COMPRESSED,
            Self::DamagedStream => tar::DAMAGED_STREAM,
            Self::BadTarHeader => tar::BAD_TAR_HEADER,
            Self::BadExtendedHeader => tar::BAD_EXTENDED_HEADER,
            Self::LesserFieldsDiffer => zip::LESSER_FIELDS_DIFFER,
            Self::UnknownExtraField => zip::UNKNOWN_EXTRA_FIELD,
            Self::TwoFormats => container::TWO_FORMATS,
            Self::NoManifest => manifests::NO_MANIFEST,
            Self::BadManifestLine => manifests::BAD_MANIFEST_LINE,
            Self::DigestMismatch => manifests::DIGEST_MISMATCH,
            Self::MissingMember => manifests::MISSING_MEMBER,
            Self::UnlistedMember => manifests::UNLISTED_MEMBER,
            Self::ManifestsDisagree => manifests::MANIFESTS_DISAGREE,
            Self::WeakDigest => manifests::WEAK_DIGEST,
            Self::ArchiveDigestMismatch => manifests::ARCHIVE_DIGEST_MISMATCH,
            Self::EmptyManifest => manifests::EMPTY_MANIFEST,
            Self::BadHeader => arrays::BAD_HEADER,
            Self::BadData => arrays::BAD_DATA,
            Self::TrailingMetadata => arrays::TRAILING_METADATA,
            Self::UnusualEncoding => arrays::UNUSUAL_ENCODING,
            Self::NoArrays => arrays::NO_ARRAYS,
            Self::Undescribed => descriptions::UNDESCRIBED,
            Self::DescribedTwice => descriptions::DESCRIBED_TWICE,
            Self::NoArrayDescribed => descriptions::NO_ARRAY_DESCRIBED,
            Self::ShapeMismatch => descriptions::SHAPE_MISMATCH,
            Self::TypeMismatch => descriptions::TYPE_MISMATCH,
            Self::StorageMismatch => descriptions::STORAGE_MISMATCH,
            Self::UnknownCoordinate => descriptions::UNKNOWN_COORDINATE,
            Self::CoordinateLength => descriptions::COORDINATE_LENGTH,
            Self::LooseDescription => descriptions::LOOSE_DESCRIPTION,
            Self::MissingArray => descriptions::MISSING_ARRAY,
            Self::BadPackDocument => descriptions::BAD_PACK_DOCUMENT,
            Self::PartialDocument => descriptions::PARTIAL_DOCUMENT,
            Self::ValueMismatch => descriptions::VALUE_MISMATCH,
            Self::BadBag => bags::BAD_BAG,
            Self::BadTagFile => bags::BAD_TAG_FILE,
            Self::UnknownTagEncoding => bags::UNKNOWN_TAG_ENCODING,
            Self::PayloadOxum => bags::PAYLOAD_OXUM,
            Self::NotFetched => bags::NOT_FETCHED,
            Self::BadFetchList => bags::BAD_FETCH_LIST,
            Self::WrongManifestEntry => bags::WRONG_MANIFEST_ENTRY,
            Self::UnlistedTagFile => bags::UNLISTED_TAG_FILE,
            Self::BesideBag => bags::BESIDE_BAG,
            Self::BagAtRoot => bags::BAG_AT_ROOT,
            Self::LegacyManifestLine => bags::LEGACY_MANIFEST_LINE,
            Self::NormalizedName => bags::NORMALIZED_NAME,
            Self::OddPercent => bags::ODD_PERCENT,
            Self::UnknownDigest => bags::UNKNOWN_DIGEST,
            Self::UnfitForBag => bags::UNFIT_FOR_BAG,
            Self::PartlyListed => bags::PARTLY_LISTED,
        }
    }
}

/// A text that is no code.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownCode {
    /// The code that is written most like it.
    pub nearest: Option<Code>,
}

impl fmt::Display for UnknownCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("there is no such code")?;
        match self.nearest {
            Some(code) => write!(f, "; the nearest is `{}`, {}", code.id(), code.title()),
            None => Ok(()),
        }
    }
}

impl std::error::Error for UnknownCode {}

/// Reads an id such as `NDL021` or `desc004`.
impl FromStr for Code {
    type Err = UnknownCode;

    fn from_str(text: &str) -> Result<Self, UnknownCode> {
        let id = text.trim().to_ascii_uppercase();
        let exact = Self::all().find(|code| code.id() == id);
        exact.ok_or_else(|| UnknownCode {
            nearest: Self::all().min_by_key(|code| distance(code.id(), &id)),
        })
    }
}

/// How far two ids are apart: other letters first, then how far the numbers are.
fn distance(id: &str, typed: &str) -> (usize, u32) {
    let split = |id: &str| {
        let at = id.find(|character: char| character.is_ascii_digit()).unwrap_or(id.len());
        let (family, number) = id.split_at(at);
        (family.to_owned(), number.parse::<u32>().unwrap_or(0))
    };
    let ((family, number), (other, wanted)) = (split(id), split(typed));
    let common = family.chars().zip(other.chars()).filter(|(a, b)| a == b).count();
    let longest = family.len().max(other.chars().count());
    (longest.saturating_sub(common), number.abs_diff(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_explained_in_its_own_words() {
        let mut texts: Vec<_> = Code::all().map(|code| code.explanation().text).collect();
        let thin: Vec<_> =
            texts.iter().filter(|text| text.len() < 50 || !text.ends_with('.')).collect();
        assert!(thin.is_empty(), "{thin:?}");
        let all = texts.len();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!((texts.len(), all), (all, ndl::Code::ALL.len() + Code::ALL.len()));
        for code in Code::all() {
            let Explanation { wrong, right, source, .. } = code.explanation();
            assert_ne!(wrong.text(), right.text(), "{}", code.id());
            assert!(!source.is_empty() && wrong.text().ends_with('\n'), "{}", code.id());
        }
    }

    #[test]
    fn every_id_is_found_whatever_its_case() {
        for code in Code::all() {
            assert_eq!(code.id().parse(), Ok(code));
            assert_eq!(code.id().to_lowercase().parse(), Ok(code));
        }
    }

    #[test]
    fn what_is_no_code_gets_the_nearest() {
        let nearest = |text: &str| text.parse::<Code>().unwrap_err().nearest.unwrap().id();
        assert_eq!(nearest("NDL088"), "NDL087");
        assert_eq!(nearest("DESC099"), "DESC014");
        assert_eq!(nearest("ND021"), "NDL021");
        assert_eq!(nearest("mam003"), "MAN003");
        assert_eq!(nearest("NDL99999999999999"), "NDL001");
        assert!(!nearest("\u{e9}").is_empty() && !nearest("").is_empty());
    }
}
