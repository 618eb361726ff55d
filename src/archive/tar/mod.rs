//! The tar format: entries to bytes and bytes to entries, with every byte accounted for.
//!
//! What is written is POSIX ustar, preceded by a PAX header where ustar cannot say it. What is read is
//! that, the GNU form and the old form without a magic. The `tar` crate is the codec of the header block;
//! the walk from block to block is our own, because it has to notice what a lenient reader skips.

mod entry;
mod extensions;
mod fault;
mod header;
mod pax;
mod read;
mod read_back;
mod source;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use self::entry::{TarEntry, TarKind};
pub(crate) use self::fault::{TarFault, TarFaultKind};
pub(crate) use self::header::passes_for_header;
pub(crate) use self::read::TarReader;
pub(crate) use self::read_back::each_entry;
pub(crate) use self::source::{Seeking, Skip, Streaming};
pub(crate) use self::write::{EntryKind, NewEntry, end_mark, entry_header, padding, padding_after};

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
