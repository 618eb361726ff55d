//! Zips for tests, put together by hand: also those that nobody should have made.

use super::record::{Facts, NewHeader, write_central, write_end, write_local};

/// A stored member, and what is wrong with it.
#[derive(Debug, Clone)]
pub(super) struct Odd {
    pub(super) name: Vec<u8>,
    pub(super) content: Vec<u8>,
    /// Whether the checksum is that of another content.
    pub(super) is_damaged: bool,
    /// What the directory says otherwise: about the place, and about the size.
    pub(super) local: i64,
    pub(super) packed: i64,
    /// Where its record is put.
    pub(super) order: u8,
}

impl Odd {
    /// One with which nothing is wrong.
    pub(super) fn new(name: impl Into<Vec<u8>>, content: impl Into<Vec<u8>>) -> Self {
        let (name, content) = (name.into(), content.into());
        Self { name, content, is_damaged: false, local: 0, packed: 0, order: 0 }
    }
}

/// A zip of these members, which claims to have so many more, with one bit of its directory flipped.
pub(super) fn zip_of(members: &[Odd], claimed: i64, broken: Option<u8>) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut records = Vec::new();
    for member in members {
        let size = u64::try_from(member.content.len()).unwrap();
        let at = u64::try_from(bytes.len()).unwrap();
        let facts = Facts {
            version_needed: 20,
            flags: 0,
            method: 0,
            modified: 0,
            crc: crc32fast::hash(&member.content) ^ u32::from(member.is_damaged),
            packed_size: size,
            size,
        };
        let header =
            NewHeader { name: &member.name, facts, align_at: None, external_attributes: 0 };
        write_local(&mut bytes, &header, at);
        bytes.extend(&member.content);
        let facts = Facts { packed_size: size.saturating_add_signed(member.packed), ..facts };
        let mut record = Vec::new();
        write_central(
            &mut record,
            &NewHeader { facts, ..header },
            at.saturating_add_signed(member.local),
        );
        records.push((member.order, record));
    }
    records.sort_by_key(|(order, _)| *order);
    let mut directory: Vec<u8> = records.into_iter().flat_map(|(_, record)| record).collect();
    if let Some(at) = broken
        && let Some(byte) = directory.get_mut(usize::from(at))
    {
        *byte ^= 1;
    }
    let offset = u64::try_from(bytes.len()).unwrap();
    let len = u64::try_from(directory.len()).unwrap();
    bytes.extend(directory);
    let entries = u64::try_from(members.len()).unwrap().saturating_add_signed(claimed);
    write_end(&mut bytes, entries, offset, len);
    bytes
}
