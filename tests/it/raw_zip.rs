//! Support: zip files written by hand, with control over each field.

const LOCAL: u32 = 0x0403_4b50;
const CENTRAL: u32 = 0x0201_4b50;
const DESCRIPTOR: u32 = 0x0807_4b50;
const END: u32 = 0x0605_4b50;
const END64: u32 = 0x0606_4b50;
const LOCATOR64: u32 = 0x0706_4b50;

pub(crate) const STORED: u16 = 0;
pub(crate) const DEFLATE: u16 = 8;
/// Flag bit 3: sizes and checksum follow the data.
pub(crate) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// Flag bit 11: the name is UTF-8.
pub(crate) const FLAG_UTF8: u16 = 1 << 11;
/// The mode of a regular file, in the upper half of the external attributes.
pub(crate) const REGULAR: u32 = 0o100_644 << 16;

/// Fields that both headers of a member have.
#[derive(Debug, Clone)]
pub(crate) struct Header {
    /// Version needed to read the member, times ten.
    pub(crate) version: u16,
    pub(crate) time: u16,
    pub(crate) date: u16,
    pub(crate) flags: u16,
    pub(crate) method: u16,
    pub(crate) crc: u32,
    pub(crate) packed_size: u32,
    pub(crate) size: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) extra: Vec<u8>,
}

impl Header {
    fn write(&self, out: &mut Vec<u8>) {
        for number in [self.version, self.flags, self.method, self.time, self.date] {
            out.extend(number.to_le_bytes());
        }
        for number in [self.crc, self.packed_size, self.size] {
            out.extend(number.to_le_bytes());
        }
        for length in [self.name.len(), self.extra.len()] {
            out.extend(u16::try_from(length).unwrap().to_le_bytes());
        }
    }
}

/// A member: two headers and the data.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) local: Header,
    pub(crate) central: Header,
    /// Packed bytes.
    pub(crate) data: Vec<u8>,
    /// Bytes before the local header that belong to no record.
    pub(crate) gap: Vec<u8>,
    pub(crate) descriptor: Vec<u8>,
    pub(crate) comment: Vec<u8>,
    pub(crate) made_by: u16,
    pub(crate) internal: u16,
    pub(crate) external: u32,
    pub(crate) disk: u16,
    /// Offset of the local header in the directory; the correct one by default.
    pub(crate) offset: Option<u32>,
    /// Whether to write the local header with the data, and the record of the directory.
    pub(crate) has_local: bool,
    pub(crate) has_central: bool,
}

impl Entry {
    pub(crate) fn stored(name: impl AsRef<[u8]>, content: &[u8]) -> Self {
        Self::packed(name, STORED, content.to_vec(), content)
    }

    /// Returns a member with packed bytes `data` that decode to `content`.
    pub(crate) fn packed(
        name: impl AsRef<[u8]>,
        method: u16,
        data: Vec<u8>,
        content: &[u8],
    ) -> Self {
        let name = name.as_ref().to_vec();
        let header = Header {
            version: 20,
            time: 0,
            date: 0x21, // 1980-01-01
            flags: if name.is_ascii() { 0 } else { FLAG_UTF8 },
            method,
            crc: crc32(content),
            packed_size: u32::try_from(data.len()).unwrap(),
            size: u32::try_from(content.len()).unwrap(),
            name,
            extra: Vec::new(),
        };
        Self {
            local: header.clone(),
            central: header,
            data,
            gap: Vec::new(),
            descriptor: Vec::new(),
            comment: Vec::new(),
            made_by: (3 << 8) + 20,
            internal: 0,
            external: REGULAR,
            disk: 0,
            offset: None,
            has_local: true,
            has_central: true,
        }
    }

    /// Changes both headers.
    pub(crate) fn both(&mut self, change: impl Fn(&mut Header)) {
        change(&mut self.local);
        change(&mut self.central);
    }

    /// Moves sizes and checksum after the data, as in archives written to a pipe.
    pub(crate) fn with_descriptor(&mut self) {
        self.descriptor =
            [DESCRIPTOR, self.central.crc, self.central.packed_size, self.central.size]
                .into_iter()
                .flat_map(u32::to_le_bytes)
                .collect();
        self.both(|header| header.flags |= FLAG_DESCRIPTOR);
        (self.local.crc, self.local.packed_size, self.local.size) = (0, 0, 0);
    }

    /// Returns the local part: header, data, descriptor.
    pub(crate) fn local_bytes(&self) -> Vec<u8> {
        let mut out = LOCAL.to_le_bytes().to_vec();
        self.local.write(&mut out);
        for part in [&self.local.name, &self.local.extra, &self.data, &self.descriptor] {
            out.extend(part);
        }
        out
    }
}

/// Values that replace the correct ones in the records at the end.
#[derive(Debug, Clone, Default)]
pub(crate) struct End {
    pub(crate) disk: u16,
    pub(crate) directory_disk: u16,
    pub(crate) disk_entries: Option<u16>,
    pub(crate) entries: Option<u16>,
    pub(crate) directory_len: Option<u32>,
    pub(crate) directory_offset: Option<u32>,
    pub(crate) comment_len: Option<u16>,
    pub(crate) comment: Vec<u8>,
    /// Adds a zip64 end record and its locator before the end record.
    pub(crate) zip64: Option<End64>,
}

/// Values that replace the correct ones in the zip64 records.
#[derive(Debug, Clone, Default)]
pub(crate) struct End64 {
    pub(crate) entries: Option<u64>,
    pub(crate) directory_offset: Option<u64>,
    /// Offset of the record in the locator.
    pub(crate) located: Option<u64>,
    /// Bytes after the fields of the record.
    pub(crate) more: Vec<u8>,
}

/// Zip file.
#[derive(Debug, Clone, Default)]
pub(crate) struct Zip {
    pub(crate) prefix: Vec<u8>,
    pub(crate) entries: Vec<Entry>,
    /// Bytes between the last member and the directory.
    pub(crate) before_directory: Vec<u8>,
    pub(crate) end: End,
    pub(crate) suffix: Vec<u8>,
}

impl Zip {
    pub(crate) fn of<'a>(files: impl IntoIterator<Item = &'a (String, Vec<u8>)>) -> Self {
        let entries = files.into_iter().map(|(name, bytes)| Entry::stored(name, bytes)).collect();
        Self { entries, ..Self::default() }
    }

    /// Returns the first member of this name.
    pub(crate) fn entry(&mut self, name: &str) -> &mut Entry {
        self.entries.iter_mut().find(|entry| entry.central.name == name.as_bytes()).unwrap()
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let mut directory = Vec::new();
        let mut count = 0_u16;
        for entry in &self.entries {
            if entry.has_local {
                out.extend(&entry.gap);
            }
            let at = entry.offset.unwrap_or_else(|| u32::try_from(out.len()).unwrap());
            if entry.has_local {
                out.extend(entry.local_bytes());
            }
            if !entry.has_central {
                continue;
            }
            count += 1;
            directory.extend(CENTRAL.to_le_bytes());
            directory.extend(entry.made_by.to_le_bytes());
            entry.central.write(&mut directory);
            directory.extend(u16::try_from(entry.comment.len()).unwrap().to_le_bytes());
            directory.extend(entry.disk.to_le_bytes());
            directory.extend(entry.internal.to_le_bytes());
            directory.extend(entry.external.to_le_bytes());
            directory.extend(at.to_le_bytes());
            for part in [&entry.central.name, &entry.central.extra, &entry.comment] {
                directory.extend(part);
            }
        }
        out.extend(&self.before_directory);
        let offset = u32::try_from(out.len()).unwrap();
        let length = u32::try_from(directory.len()).unwrap();
        out.extend(directory);
        if let Some(zip64) = &self.end.zip64 {
            let at = u64::try_from(out.len()).unwrap();
            out.extend(END64.to_le_bytes());
            out.extend((44 + u64::try_from(zip64.more.len()).unwrap()).to_le_bytes());
            out.extend([45, 3, 45, 0]);
            out.extend([0; 8]); // disks
            let entries = zip64.entries.unwrap_or_else(|| u64::from(count));
            for number in [
                entries,
                entries,
                u64::from(length),
                zip64.directory_offset.unwrap_or_else(|| u64::from(offset)),
            ] {
                out.extend(number.to_le_bytes());
            }
            out.extend(&zip64.more);
            out.extend(LOCATOR64.to_le_bytes());
            out.extend(0_u32.to_le_bytes());
            out.extend(zip64.located.unwrap_or(at).to_le_bytes());
            out.extend(1_u32.to_le_bytes());
        }
        let end = &self.end;
        out.extend(END.to_le_bytes());
        let comment_len = u16::try_from(end.comment.len()).unwrap();
        for number in [
            end.disk,
            end.directory_disk,
            end.disk_entries.or(end.entries).unwrap_or(count),
            end.entries.unwrap_or(count),
        ] {
            out.extend(number.to_le_bytes());
        }
        out.extend(end.directory_len.unwrap_or(length).to_le_bytes());
        out.extend(end.directory_offset.unwrap_or(offset).to_le_bytes());
        out.extend(end.comment_len.unwrap_or(comment_len).to_le_bytes());
        out.extend(&end.comment);
        out.extend(&self.suffix);
        out
    }
}

/// Returns one record of an extra field.
pub(crate) fn extra_field(id: u16, content: &[u8]) -> Vec<u8> {
    let mut out = id.to_le_bytes().to_vec();
    out.extend(u16::try_from(content.len()).unwrap().to_le_bytes());
    out.extend(content);
    out
}

/// Returns a deflate stream of one stored block, of at most 65535 bytes.
pub(crate) fn deflate_stored(content: &[u8]) -> Vec<u8> {
    let length = u16::try_from(content.len()).unwrap();
    let mut out = vec![1];
    out.extend(length.to_le_bytes());
    out.extend((!length).to_le_bytes());
    out.extend(content);
    out
}

/// Returns the CRC-32 of zip and gzip.
pub(crate) fn crc32(bytes: &[u8]) -> u32 {
    let mut sum = flate2::Crc::new();
    sum.update(bytes);
    sum.sum()
}

#[test]
fn the_checksum_matches_the_published_value() {
    assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
}
