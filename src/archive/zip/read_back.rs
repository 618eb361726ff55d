//! Reads back the zip that was just written, with an implementation that is not ours, before it gets
//! its name. There is no way to skip this: an archive that only its writer can read is lost.

use std::io::{self, Read, Seek, SeekFrom};

use zip::read::{ArchiveOffset, Config};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::super::data::moved;
use super::super::write::AllRecords;
use super::directory;
use super::write::ZipLayout;
use crate::error::{Error, Result};
use crate::fs::File;

/// Bytes that are read around a header: many headers of small members, little of a large one.
const WINDOW: usize = 16 * 1024;

/// Compares every member, as the other implementation reads it from the file, with what was meant:
/// name, sizes, checksum, offset; and that its local header says the same as the directory.
pub(in crate::archive) fn check(
    file: &File,
    layout: &ZipLayout,
    directory_at: u64,
    records: &AllRecords<'_, '_>,
) -> Result<()> {
    let failed = |what: String| Error::Io {
        action: "read back",
        path: file.path().to_owned(),
        source: io::Error::other(format!(
            "{what}; nothing was kept. The disk or the memory of this machine may be failing"
        )),
    };
    // What the system says has to be said as it is, not as a fault of what was written.
    let refused = |error: ZipError| match error {
        ZipError::Io(error) => {
            error.downcast::<Error>().unwrap_or_else(|error| failed(error.to_string()))
        }
        other => failed(other.to_string()),
    };
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let archive = ZipIterable::try_new(Windows::new(file)?, config).map_err(refused)?;
    let mut archive = archive.enforce_header_consistency(true);
    let read = archive.files().map_err(refused)?;
    layout.each_block(records, |block| {
        for meant in directory::headers(block, directory_at) {
            let meant = meant.map_err(|finding| failed(finding.to_string()))?;
            let name = || String::from_utf8_lossy(meant.name).into_owned();
            let entry = match read.next() {
                Some(Ok(entry)) => entry,
                Some(Err(error @ ZipError::Io(_))) => return Err(refused(error)),
                Some(Err(error)) => return Err(failed(format!("`{}`: {error}", name()))),
                None => return Err(failed(format!("`{}` is not there", name()))),
            };
            let same = entry.name_raw() == meant.name
                && entry.size() == meant.facts.size
                && entry.compressed_size() == meant.facts.packed_size
                && entry.crc32() == meant.facts.crc
                && entry.header_start() == meant.local;
            if !same {
                return Err(failed(format!("`{}` is not as it was written", name())));
            }
        }
        Ok(())
    })?;
    match read.next() {
        None => Ok(()),
        Some(_) => Err(failed("there are more members than were written".to_owned())),
    }
}

/// A file seen through two windows, since the reader goes to and fro between two places that both
/// move forward: the directory and the members' headers.
struct Windows<'a> {
    file: &'a File,
    len: u64,
    position: u64,
    blocks: [(u64, Vec<u8>); 2],
}

impl<'a> Windows<'a> {
    fn new(file: &'a File) -> Result<Self> {
        Ok(Self { file, len: file.len()?, position: 0, blocks: [(0, Vec::new()), (0, Vec::new())] })
    }

    fn ready(&self) -> Option<&[u8]> {
        self.blocks.iter().find_map(|(start, bytes)| {
            let skip = usize::try_from(self.position.checked_sub(*start)?).ok()?;
            bytes.get(skip..).filter(|ready| !ready.is_empty())
        })
    }
}

impl Read for Windows<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.ready().is_none() {
            // The window used last becomes the first; the other one is refilled.
            self.blocks.swap(0, 1);
            let [(start, bytes), _] = &mut self.blocks;
            *start = self.position;
            bytes.resize(WINDOW, 0);
            let count = self.file.read_at(bytes, self.position)?;
            bytes.truncate(count);
        }
        let mut ready = self.ready().unwrap_or_default();
        let count = ready.read(out)?;
        self.position = self.position.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }
}

impl Seek for Windows<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.position = moved(self.position, self.len, to)?;
        Ok(self.position)
    }
}
