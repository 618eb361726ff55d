//! The tar format: reading and writing entries, with every byte checked.
//!
//! ra-pack writes POSIX ustar, with a PAX header where ustar is not enough. It reads the same, GNU tars, and old tars
//! without a magic. The crate `tar` writes the header block and reads back the result. The reader is our own, because
//! it must detect errors that a lenient reader skips.

mod header;
mod pax;
mod read;
#[cfg(test)]
mod tests;
#[cfg(feature = "full")]
mod write;

use std::fmt;

pub(crate) use self::header::passes_for_header;
pub(crate) use self::read::{Skip, Streaming, TarReader};
pub(in crate::archive) use self::read::{TarEntries, read_buffered};
#[cfg(feature = "full")]
pub(crate) use self::write::{each_entry, end_mark, entry_header, padding};

use super::MemberKind;
use crate::finding::{Code, Finding, Place};
use crate::path::escape;

/// Size of a block. All parts of a tar are multiples of it.
const BLOCK: usize = 512;

/// The first size, or time in seconds, that does not fit the 11 octal digits of a ustar field: 8 GiB.
const OCTAL_END: u64 = 1 << 33;

/// The first rejected time, in seconds since 1970: the year 10000. Python fails on later ones, in some cases already
/// when listing, and no reader accepts the last ones.
const TIME_END: u64 = 253_402_300_800;

fn is_zero(bytes: &[u8]) -> bool {
    bytes.iter().all(|&byte| byte == 0)
}

/// Returns the number of padding bytes after `size` bytes of data.
fn padding_after(size: u64) -> u64 {
    size.wrapping_neg() % 512
}

/// An entry as found. The name is not checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TarEntry {
    /// The name as found, including the `/` at the end of a directory's name.
    pub(crate) name: Vec<u8>,
    pub(crate) kind: MemberKind,
    /// Length of the data in bytes.
    pub(crate) size: u64,
    /// Offset of the first header of the entry, including extended headers.
    pub(crate) header_offset: u64,
    /// Offset of the data.
    pub(crate) data_offset: u64,
}

/// A problem of a header or of the bytes after it: its code, and a message with the expected and found values.
type Fault = (Code, String);

/// A fault that ends reading a tar or a member, as an error.
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

/// Returns `bytes` as printable text.
fn printable(bytes: &[u8]) -> String {
    escape(&String::from_utf8_lossy(bytes)).to_string()
}
