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

use super::MemberKind;
use crate::finding::{Code, Finding, Place};
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

/// What is wrong with a header or with what follows it: its code, and what was expected and found.
type Fault = (Code, String);

/// A fault of a tar that ends the walk over it, or the reading of a member, as an error.
#[derive(Debug)]
pub(super) struct TarFault(Finding);

impl fmt::Display for TarFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { place, member, message, .. } = &self.0;
        if let Some(Place::Byte { offset }) = place {
            write!(f, "byte {offset} of the tar")?;
        }
        if let Some(name) = member {
            write!(f, ", member `{}`", escape(name))?;
        }
        write!(f, ": {message}")
    }
}

impl std::error::Error for TarFault {}

/// `bytes` as text that can be printed.
fn printable(bytes: &[u8]) -> String {
    escape(&String::from_utf8_lossy(bytes)).to_string()
}
