//! The tag files of BagIt bags (RFC 8493, and the drafts from 0.93 on): parsed, held to their rules, and
//! written.
//!
//! Each parser takes bytes or text and gives what could be read together with every [`BagFault`]; none
//! opens a file, and none fetches anything.

mod declaration;
mod lists;

pub(crate) use self::declaration::DECLARATION;
pub use self::declaration::{BagDeclaration, BagVersion, TagEncoding};
pub(crate) use self::lists::{BAGGING_DATE, PAYLOAD_OXUM, date_of};
pub use self::lists::{
    BagField, BagInfo, FetchEntry, FetchList, InvalidField, ManifestNote, ManifestNoteKind,
    PayloadOxum, manifest_notes,
};

use crate::finding::{Code, Finding};
use crate::manifest::beginning;
use crate::path::{InvalidPath, escape};

/// The metadata of a bag (§2.2.2).
pub(crate) const BAG_INFO: &str = "bag-info.txt";
/// What it was called before 0.96.
pub(crate) const PACKAGE_INFO: &str = "package-info.txt";
/// The list of payload that is still to be fetched (§2.2.3).
pub(crate) const FETCH: &str = "fetch.txt";

/// Most faults that one tag file gives: a hostile one must not turn every line into a report.
const MAX_FAULTS: usize = 1000;

/// Something wrong with a tag file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {kind}")]
pub struct BagFault {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub kind: BagFaultKind,
}

/// What can be wrong with a line of a tag file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BagFaultKind {
    /// The file begins with a byte order mark.
    #[error("the file begins with a byte order mark, which a tag file in UTF-8 must not have")]
    ByteOrderMark,
    /// Bytes that are no text in the declared encoding.
    #[error("the file is not text in {encoding}")]
    NotText {
        /// The encoding.
        encoding: &'static str,
    },
    /// `bagit.txt` does not consist of two lines.
    #[error("the declaration of a bag has two lines, found {found}")]
    DeclarationLength {
        /// Lines that there are.
        found: usize,
    },
    /// A line of `bagit.txt` is not what stands there in every bag.
    #[error("expected `{label}: `, found `{}`", escape(.found))]
    DeclarationLine {
        /// What the line begins with.
        label: &'static str,
        /// The line.
        found: String,
    },
    /// A version that is not known, so that its rules are not either.
    #[error("the version is `{}`, known are 0.93 to 0.97 and 1.0", escape(.0))]
    UnknownVersion(String),
    /// Tag files in an encoding that is not read here.
    #[error(
        "the encoding is `{}`, which is not supported; read are UTF-8, UTF-16, UTF-16LE, UTF-16BE, \
         ISO-8859-1 and US-ASCII",
        escape(.0)
    )]
    UnknownEncoding(String),
    /// A line of metadata that is no `Label: value`.
    #[error("expected `Label: value`, found `{}`", escape(.0))]
    InfoLine(String),
    /// `Payload-Oxum` is not two numbers.
    #[error("expected `Payload-Oxum: <bytes>.<files>`, found `{}`", escape(.0))]
    OxumForm(String),
    /// `Payload-Oxum` more than once.
    #[error("`Payload-Oxum` stands on line {first} already")]
    OxumRepeated {
        /// The other line.
        first: u64,
    },
    /// `Bagging-Date` is no day.
    #[error("expected `Bagging-Date: YYYY-MM-DD`, found `{}`", escape(.0))]
    DateForm(String),
    /// A line of `fetch.txt` that is no URL, length and path.
    #[error("expected `<url> <length> <path>`, found `{}`", escape(.0))]
    FetchLine(String),
    /// A URL that is not absolute.
    #[error("expected an absolute URL, found `{}`", escape(.0))]
    FetchUrl(String),
    /// A URL by which only some programs fetch, or something else than a file of the web.
    #[error("the URL is neither http nor https: `{}`", escape(.0))]
    FetchScheme(String),
    /// A length that is neither a number nor `-`.
    #[error("expected a number of bytes or `-`, found `{}`", escape(.0))]
    FetchLength(String),
    /// A path that no file of the payload may have.
    #[error(transparent)]
    FetchPath(#[from] InvalidPath),
    /// A path that is not below `data/`.
    #[error("`{}` is not below `data/`; only payload may be fetched", escape(.0))]
    FetchOutside(String),
    /// A path that an earlier line has.
    #[error("`{}` stands on line {first} already", escape(.found))]
    FetchRepeated {
        /// The path.
        found: String,
        /// The other line.
        first: u64,
    },
    /// So many faults that the rest was not read.
    #[error("so many lines before this one are at fault that the rest was not read")]
    TooMany,
}

impl BagFault {
    /// Whether the bag says as much as it would without this fault.
    pub fn is_warning(&self) -> bool {
        matches!(self.kind, BagFaultKind::DateForm { .. } | BagFaultKind::FetchScheme { .. })
    }

    /// The finding that it makes in the tag file `member`.
    pub(crate) fn finding(&self, member: &str) -> Finding {
        use BagFaultKind as Kind;
        let code = match self.kind {
            Kind::DeclarationLength { .. }
            | Kind::DeclarationLine { .. }
            | Kind::UnknownVersion { .. } => Code::BadBag,
            Kind::UnknownEncoding { .. } => Code::UnknownTagEncoding,
            Kind::ByteOrderMark
            | Kind::NotText { .. }
            | Kind::InfoLine { .. }
            | Kind::DateForm { .. }
            | Kind::TooMany => Code::BadTagFile,
            Kind::OxumForm { .. } | Kind::OxumRepeated { .. } => Code::PayloadOxum,
            Kind::FetchLine { .. }
            | Kind::FetchUrl { .. }
            | Kind::FetchScheme { .. }
            | Kind::FetchLength { .. }
            | Kind::FetchPath(_)
            | Kind::FetchOutside { .. }
            | Kind::FetchRepeated { .. } => Code::BadFetchList,
        };
        let finding =
            Finding::new(code, self.kind.to_string()).in_member(member).at_line(self.line);
        if self.is_warning() { finding.warning() } else { finding }
    }
}
