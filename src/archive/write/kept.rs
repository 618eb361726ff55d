//! Copying of packed members from an older archive.

use super::{ArchiveWriter, NewMember, Placed, Record, SMALL, push_header};
use crate::archive::{Location, Member};
use crate::digest::Digests;
use crate::error::Result;
use crate::fs::File;

impl ArchiveWriter<'_> {
    /// Copies a member without recompressing it from an older archive in the same container.
    pub(crate) fn copy(
        &mut self,
        member: &NewMember<'_>,
        old: &Member,
        file: &File,
        digests: Digests,
    ) -> Result<Placed> {
        let crc = match old.location {
            Location::Packed { crc, .. } => crc,
            _ => 0,
        };
        let (at, packed_size, method) = (self.at(), old.packed_size, old.method);
        let record = Record { at, crc, packed_size, method };
        push_header(self.container, &mut self.image, member, &record)?;
        let start = self.image.len();
        match usize::try_from(packed_size) {
            Ok(length) if packed_size <= SMALL => {
                self.image.resize(start + length, 0);
                file.read_exact_at(self.image.split_at_mut(start).1, old.start())?;
            }
            _ => {
                self.flush()?;
                file.copy_to(old.start(), packed_size, self.pending.file(), self.start)?;
                self.start += packed_size;
            }
        }
        self.pad(member)?;
        Ok(Placed { digests, record })
    }
}
