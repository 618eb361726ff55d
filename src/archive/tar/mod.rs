//! The tar format: entries to bytes and bytes to entries, with every byte accounted for.
//!
//! What is written is POSIX ustar, preceded by a PAX header where ustar cannot say it. What is read is
//! that, the GNU form and the old form without a magic. The `tar` crate writes the header block, and
//! reads back what was written; the reader is our own, because it has to notice what a lenient one skips.

mod header;
mod pax;
mod read;
#[cfg(test)]
mod tests;
#[cfg(feature = "write")]
mod write;

use std::fmt;

pub(crate) use self::header::passes_for_header;
pub(crate) use self::read::{Skip, Streaming, TarReader};
#[cfg(feature = "write")]
pub(crate) use self::write::{each_entry, end_mark, entry_header, padding};

use self::header::NumberFault;
use self::pax::PaxFault;
use super::MemberKind;
use crate::path::escape;

/// Everything in a tar is laid out in blocks of this many bytes.
const BLOCK: usize = 512;

/// The first size, or time in seconds, that the 11 octal digits of a ustar field cannot hold: 8 GiB.
const OCTAL_END: u64 = 1 << 33;

/// The first time, in seconds since 1970, that is neither read nor written: the year 10000. Python stops at later ones,
/// some as it lists them, and the last ones no reader takes.
const TIME_END: u64 = 253_402_300_800;

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// How many zeros follow `size` bytes of data, up to the next block.
fn padding_after(size: u64) -> u64 {
    size.wrapping_neg() % 512
}

/// An entry as found: the name is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TarEntry {
    /// As found, with the `/` at the end of a directory if there is one.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: MemberKind,
    /// Length of the data in bytes.
    pub(crate) size: u64,
    /// Where the first header of the entry begins, an extended one included.
    pub(crate) header_offset: u64,
    /// Where the data begins.
    pub(crate) data_offset: u64,
}

/// Something wrong with the structure of a tar, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TarFault {
    /// Where in the tar; for a compressed one, in the decompressed bytes.
    pub(crate) offset: u64,
    /// The member it concerns, when that is known; bytes that are not UTF-8 are replaced.
    pub(crate) member: Option<String>,
    pub(crate) kind: TarFaultKind,
}

impl TarFault {
    /// Whether the entries are whole and beyond doubt all the same.
    pub(crate) fn is_warning(&self) -> bool {
        use TarFaultKind as Kind;
        matches!(
            self.kind,
            Kind::NoEndMark
                | Kind::LoneZeroBlock
                | Kind::Padding
                | Kind::LesserNumber { .. }
                | Kind::LesserRecord(_)
        )
    }
}

impl fmt::Display for TarFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { offset, member, kind } = self;
        match member {
            Some(name) => write!(f, "byte {offset} of the tar, member `{}`: {kind}", escape(name)),
            None => write!(f, "byte {offset} of the tar: {kind}"),
        }
    }
}

impl std::error::Error for TarFault {}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TarFaultKind {
    #[error("expected a block of 512 bytes, found {found} before the end")]
    BlockCutOff { found: usize },
    #[error("expected a header with the checksum {expected:o}, found {found}")]
    Checksum { expected: u64, found: String },
    #[error("expected the magic of a ustar, GNU or old tar header, found `{found}`")]
    Magic { found: String },
    #[error("the size field {0}")]
    Size(NumberFault),
    #[error("the {field} field {reason}, with which other readers stop")]
    LesserNumber { field: &'static str, reason: NumberFault },
    #[error(
        "expected zeros after the NUL that ends the {field} of a header, found other bytes, by which \
         other readers see another entry"
    )]
    AfterNul { field: &'static str },
    #[error(
        "expected zeros from byte {first} to byte {after} of a header, found other bytes, by which \
         other readers see another entry"
    )]
    UnusedBytes { first: usize, after: usize },
    #[error(
        "expected a link name only in the headers of a link, found one by which other readers make \
         this a link"
    )]
    LinkNameOfFile,
    #[error("expected {expected} bytes of data, found {found} before the end")]
    DataCutOff { expected: u64, found: u64 },
    #[error("expected {expected} zeros after the data, found the end after {found} bytes")]
    PaddingCutOff { expected: u64, found: u64 },
    #[error("expected zeros between the data and the next header, found other bytes")]
    Padding,
    #[error("expected a {kind} without data, found a size of {size} bytes")]
    UnexpectedData { kind: &'static str, size: u64 },
    #[error(
        "expected the type of a directory with a name that ends in `/`, found that of a file, which \
         other readers believe"
    )]
    FileNamedAsDirectory,
    #[error("expected the magic of ustar or GNU in a header of type `{typeflag}`, found none")]
    OldExtension { typeflag: char },
    #[error("a sparse file is not supported")]
    Sparse,
    #[error("expected an extended header of at most {limit} bytes, found {size}")]
    ExtensionTooLong { size: u64, limit: u64 },
    #[error("expected one header of type `{typeflag}` before an entry, found a second")]
    ExtensionRepeated { typeflag: char },
    #[error("expected the entry that the headers before it describe, found {found}")]
    ExtensionDangling { found: &'static str },
    #[error("{0}")]
    Pax(#[from] PaxFault),
    #[error("{0}")]
    LesserRecord(PaxFault),
    #[error("expected the size {ustar} of the header in its PAX header too, found {pax}")]
    PaxSize { pax: u64, ustar: u64 },
    #[error(
        "expected a PAX header with a size just before its entry, found a GNU long name between"
    )]
    SizeBeforeLongName,
    #[error("expected a global PAX header to describe no single entry, found `{key}`")]
    GlobalRecord { key: &'static str },
    #[error(
        "expected a `/` at the end of both names of an entry or of none, found it at the end of one, by \
         which other readers make it a directory"
    )]
    OneNameOfDirectory,
    #[error("expected one name, found `{pax}` in the PAX header and `{gnu}` in the GNU long name")]
    NameConflict { pax: String, gnu: String },
    #[error("expected two blocks of zeros at the end, found none")]
    NoEndMark,
    #[error("expected two blocks of zeros at the end, found one")]
    LoneZeroBlock,
    #[error("expected only zeros after the end mark, found other bytes")]
    AfterEnd,
    #[error(
        "expected only zeros after the end mark, found another archive, which other readers may show"
    )]
    SecondArchive,
}

/// `bytes` as text that can be printed.
fn printable(bytes: &[u8]) -> String {
    escape(&String::from_utf8_lossy(bytes)).to_string()
}
