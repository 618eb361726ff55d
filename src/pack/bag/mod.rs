//! The tag files of BagIt bags (RFC 8493, and the drafts from 0.93 on): parsed, held to their rules, and
//! written.
//!
//! Each parser takes bytes or text and gives what could be read together with every [`BagFault`]; none
//! opens a file, and none fetches anything.

mod date;
mod declaration;
mod fault;
mod fetch;
mod info;
mod lines;
mod tag_text;

pub use self::declaration::{BagDeclaration, BagVersion};
pub use self::fault::{BagFault, BagFaultKind};
pub use self::fetch::{FetchEntry, FetchList};
pub use self::info::{BagField, BagInfo, InvalidField, PayloadOxum};
pub use self::lines::{ManifestNote, ManifestNoteKind, manifest_notes};
pub use self::tag_text::TagEncoding;

pub(crate) use self::date::date_of;
pub(crate) use self::declaration::DECLARATION;
pub(crate) use self::info::{BAGGING_DATE, PAYLOAD_OXUM};

/// The metadata of a bag (§2.2.2).
pub(crate) const BAG_INFO: &str = "bag-info.txt";
/// What it was called before 0.96.
pub(crate) const PACKAGE_INFO: &str = "package-info.txt";
/// The list of payload that is still to be fetched (§2.2.3).
pub(crate) const FETCH: &str = "fetch.txt";

/// Most faults that one tag file gives: a hostile one must not turn every line into a report.
const MAX_FAULTS: usize = 1000;
