//! The records of a zip file (APPNOTE 6.3.10 §4.3).

/// Signature of a local file header (§4.3.7).
pub(super) const LOCAL: u32 = 0x0403_4b50;
/// Signature of a directory record (§4.3.12).
pub(super) const CENTRAL: u32 = 0x0201_4b50;
/// Signature of the end record (§4.3.16).
pub(super) const END: u32 = 0x0605_4b50;
/// Signature of the zip64 end record (§4.3.14).
pub(super) const END64: u32 = 0x0606_4b50;
/// Signature of the zip64 end locator (§4.3.15).
pub(super) const LOCATOR64: u32 = 0x0706_4b50;
/// Optional signature of a data descriptor (§4.3.9).
pub(super) const DESCRIPTOR: u32 = 0x0807_4b50;

/// Length of a local header without name and extra field.
pub(super) const LOCAL_LEN: usize = 30;
/// Length of a directory record without name, extra field and comment.
pub(super) const CENTRAL_LEN: usize = 46;
/// Length of an end record without comment.
pub(super) const END_LEN: usize = 22;
/// Length of a zip64 end record without extensible data.
pub(super) const END64_LEN: usize = 56;
/// Length of a zip64 end locator.
pub(super) const LOCATOR64_LEN: usize = 20;

/// General purpose bit 0: the member is encrypted.
pub(super) const FLAG_ENCRYPTED: u16 = 1;
/// General purpose bit 3: sizes and checksum follow the data.
pub(super) const FLAG_DESCRIPTOR: u16 = 1 << 3;
/// General purpose bit 6: strong encryption.
pub(super) const FLAG_STRONG_ENCRYPTION: u16 = 1 << 6;
/// General purpose bit 11: name and comment are UTF-8.
pub(super) const FLAG_UTF8: u16 = 1 << 11;
/// General purpose bit 13: the directory is masked.
pub(super) const FLAG_MASKED: u16 = 1 << 13;

/// Compression method 0 (§4.4.5).
pub(super) const METHOD_STORED: u16 = 0;
/// Compression method 8.
pub(super) const METHOD_DEFLATE: u16 = 8;
/// Compression method 93.
pub(super) const METHOD_ZSTD: u16 = 93;

/// General purpose bit 5: the data is a patch for another file.
pub(super) const FLAG_PATCH: u16 = 1 << 5;
/// Extra field of zip64 sizes (§4.5.3).
pub(super) const EXTRA_ZIP64: u16 = 0x0001;
/// Extra field that pads stored data to an alignment, as in Android's zipalign: the alignment as u16, then zeros.
pub(super) const EXTRA_ALIGNMENT: u16 = 0xd935;
/// Extra field of Unix: a checksum, a mode, and the target of a link.
pub(super) const EXTRA_ASI_UNIX: u16 = 0x756e;
/// Extra field of libarchive. It repeats values of the directory in the local header.
pub(super) const EXTRA_LIBARCHIVE: u16 = 0x6c78;
/// Extra field of Info-ZIP with times, after a byte that lists them.
pub(super) const EXTRA_TIMES: u16 = 0x5455;
/// Extra field of Info-ZIP with a Unicode path (§4.6.9).
pub(super) const EXTRA_UNICODE_PATH: u16 = 0x7075;

/// The value of a 32-bit field whose actual value is in the zip64 extra field.
pub(super) const ESCAPE32: u32 = u32::MAX;

/// Reads little-endian numbers and byte strings from the beginning of a slice.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a [u8]);

impl<'a> Fields<'a> {
    pub(super) fn bytes(&mut self, length: usize) -> Option<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length)?;
        self.0 = tail;
        Some(head)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (head, tail) = self.0.split_first_chunk()?;
        self.0 = tail;
        Some(*head)
    }

    pub(super) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }
}

/// The values that both headers of a member contain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct MemberFacts {
    pub(super) version_needed: u16,
    pub(super) flags: u16,
    pub(super) method: u16,
    /// Time and date in DOS format.
    pub(super) modified: u32,
    pub(super) crc: u32,
    pub(super) packed_size: u64,
    pub(super) size: u64,
}

impl MemberFacts {
    fn read(fields: &mut Fields<'_>) -> Option<Self> {
        Some(Self {
            version_needed: fields.u16()?,
            flags: fields.u16()?,
            method: fields.u16()?,
            modified: fields.u32()?,
            crc: fields.u32()?,
            packed_size: u64::from(fields.u32()?),
            size: u64::from(fields.u32()?),
        })
    }
}

/// A local file header (§4.3.7).
#[derive(Debug, Clone, Copy)]
pub(super) struct LocalHeader<'a> {
    pub(super) facts: MemberFacts,
    /// Whether the zip64 field agrees with the 32-bit fields and has nothing else.
    pub(super) zip64_agrees: bool,
    pub(super) name: &'a [u8],
    pub(super) extra: &'a [u8],
}

impl<'a> LocalHeader<'a> {
    /// Returns the length of a header from its first [`LOCAL_LEN`] bytes.
    pub(super) fn full_len(start: &[u8]) -> Option<usize> {
        let mut lengths = Fields(start.get(26..LOCAL_LEN)?);
        let (name, extra) = (lengths.u16()?, lengths.u16()?);
        Some(LOCAL_LEN + usize::from(name) + usize::from(extra))
    }

    /// Parses a header. Returns `None` if the bytes are not one.
    pub(super) fn read(bytes: &'a [u8]) -> Option<Self> {
        let mut fields = Fields(bytes);
        if fields.u32()? != LOCAL {
            return None;
        }
        let mut facts = MemberFacts::read(&mut fields)?;
        let (name_len, extra_len) = (fields.u16()?, fields.u16()?);
        let name = fields.bytes(usize::from(name_len))?;
        let extra = fields.bytes(usize::from(extra_len))?;
        let mut wide = Zip64::find(extra);
        let narrow = [facts.size, facts.packed_size];
        facts.size = wide.resolve(facts.size)?;
        facts.packed_size = wide.resolve(facts.packed_size)?;
        let zip64_agrees = zip64_agrees(extra, &narrow, &[facts.size, facts.packed_size]);
        Some(Self { facts, zip64_agrees, name, extra })
    }
}

/// A record of the directory (§4.3.12).
#[derive(Debug, Clone, Copy)]
pub(super) struct CentralHeader<'a> {
    pub(super) version_made_by: u16,
    pub(super) facts: MemberFacts,
    pub(super) disk: u16,
    pub(super) internal_attributes: u16,
    pub(super) external_attributes: u32,
    /// Offset of the local header.
    pub(super) local: u64,
    /// Whether the zip64 field agrees with the 32-bit fields and has nothing else.
    pub(super) zip64_agrees: bool,
    pub(super) name: &'a [u8],
    pub(super) extra: &'a [u8],
    pub(super) comment: &'a [u8],
}

impl<'a> CentralHeader<'a> {
    /// Parses one record at the beginning of `bytes`. Also returns the rest.
    pub(super) fn split(bytes: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let mut fields = Fields(bytes);
        if fields.u32()? != CENTRAL {
            return None;
        }
        let version_made_by = fields.u16()?;
        let mut facts = MemberFacts::read(&mut fields)?;
        let (name_len, extra_len, comment_len) = (fields.u16()?, fields.u16()?, fields.u16()?);
        let disk = fields.u16()?;
        let internal_attributes = fields.u16()?;
        let external_attributes = fields.u32()?;
        let local = u64::from(fields.u32()?);
        let name = fields.bytes(usize::from(name_len))?;
        let extra = fields.bytes(usize::from(extra_len))?;
        let comment = fields.bytes(usize::from(comment_len))?;
        let mut wide = Zip64::find(extra);
        let narrow = [facts.size, facts.packed_size, local];
        facts.size = wide.resolve(facts.size)?;
        facts.packed_size = wide.resolve(facts.packed_size)?;
        let local = wide.resolve(local)?;
        let zip64_agrees = zip64_agrees(extra, &narrow, &[facts.size, facts.packed_size, local]);
        let record = Self {
            version_made_by,
            facts,
            disk,
            internal_attributes,
            external_attributes,
            local,
            zip64_agrees,
            name,
            extra,
            comment,
        };
        Some((record, fields.0))
    }

    /// Returns the length of the record in bytes.
    pub(super) fn len(&self) -> usize {
        CENTRAL_LEN + self.name.len() + self.extra.len() + self.comment.len()
    }

    /// Returns the minimum end offset of the member. The length of the extra field is only in the local header.
    pub(super) fn least_end(&self) -> u64 {
        let fixed = (LOCAL_LEN + self.name.len()) as u64;
        self.local.saturating_add(fixed).saturating_add(self.facts.packed_size)
    }
}

/// The zip64 field of a header. Its values replace the escaped ones, in order.
struct Zip64<'a>(Option<Fields<'a>>);

impl<'a> Zip64<'a> {
    fn find(extra: &'a [u8]) -> Self {
        Self(ExtraFields(extra).find_map(|field| match field {
            Some((EXTRA_ZIP64, content)) => Some(Fields(content)),
            _ => None,
        }))
    }

    /// Returns the value, or the next value of the field if it is the escape. Without a zip64 field, the escape is an
    /// ordinary number.
    fn resolve(&mut self, value: u64) -> Option<u64> {
        match &mut self.0 {
            Some(fields) if value == u64::from(ESCAPE32) => fields.u64(),
            _ => Some(value),
        }
    }
}

/// Returns whether a zip64 field contains exactly the escaped values or, as some programs write it, all values from the
/// first; a disk number may follow. `narrow` are the 32-bit values and `resolved` the actual ones.
fn zip64_agrees(extra: &[u8], narrow: &[u64], resolved: &[u64]) -> bool {
    let Zip64(Some(Fields(content))) = Zip64::find(extra) else { return true };
    let values = |escaped: bool| -> Vec<u8> {
        let pairs = narrow.iter().zip(resolved);
        let chosen = pairs.filter(|(narrow, _)| !escaped || **narrow == u64::from(ESCAPE32));
        chosen.flat_map(|(_, value)| value.to_le_bytes()).collect()
    };
    let is_whole = |values: &[u8]| {
        let rest = content.strip_prefix(values);
        rest.is_some_and(|rest| rest.is_empty() || rest == [0; 4])
    };
    let all = values(false);
    is_whole(&values(true)) || is_whole(all.get(..content.len() / 8 * 8).unwrap_or(&all))
}

/// Iterates over the fields of an extra field: identifier and content, or `None` for malformed bytes.
pub(super) struct ExtraFields<'a>(pub(super) &'a [u8]);

impl<'a> Iterator for ExtraFields<'a> {
    type Item = Option<(u16, &'a [u8])>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut fields = Fields(self.0);
        let field = (|| {
            let (id, length) = (fields.u16()?, fields.u16()?);
            Some((id, fields.bytes(usize::from(length))?))
        })();
        self.0 = if field.is_some() { fields.0 } else { &[] };
        Some(field)
    }
}

/// Defines a record by its signature and its fields, in file order.
macro_rules! record {
    ($(#[$doc:meta])* $name:ident = $signature:expr; $($field:ident: $number:ident,)+) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
        pub(super) struct $name {
            $(pub(super) $field: $number,)+
        }

        impl $name {
            pub(super) fn read(bytes: &[u8]) -> Option<Self> {
                let mut fields = Fields(bytes);
                if fields.u32()? != $signature {
                    return None;
                }
                Some(Self { $($field: fields.$number()?,)+ })
            }

        }
    };
}

record! {
    /// The end record (§4.3.16).
    EndRecord = END;
    disk: u16,
    directory_disk: u16,
    disk_entries: u16,
    entries: u16,
    directory_len: u32,
    directory_offset: u32,
    comment_len: u16,
}

record! {
    /// The zip64 end record (§4.3.14). Its length field does not count the first 12 bytes.
    EndRecord64 = END64;
    record_len: u64,
    version_made_by: u16,
    version_needed: u16,
    disk: u32,
    directory_disk: u32,
    disk_entries: u64,
    entries: u64,
    directory_len: u64,
    directory_offset: u64,
}

record! {
    /// The zip64 end locator (§4.3.15).
    Locator64 = LOCATOR64;
    disk: u32,
    end64_offset: u64,
    disks: u32,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::write::*;
    use super::*;
    use crate::archive::Alignment;

    fn facts(size: u64, packed_size: u64) -> MemberFacts {
        MemberFacts {
            version_needed: 45,
            flags: FLAG_UTF8,
            method: METHOD_DEFLATE,
            modified: 0x0021_0000,
            crc: 0x1234_5678,
            packed_size,
            size,
        }
    }

    #[test]
    fn a_zip64_field_that_differs_is_detected() {
        let field = |values: &[u64], rest: &[u8]| {
            let content: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            let mut extra = vec![1, 0, u8::try_from(content.len() + rest.len()).unwrap(), 0];
            extra.extend(content);
            extra.extend(rest);
            extra
        };
        let escape = u64::from(ESCAPE32);
        for (narrow, values, rest, agrees) in [
            ([5, 6, 7], &[][..], &[][..], true),
            // All values although none is needed, as some programs write.
            ([5, 6, 7], &[5, 6], &[], true),
            ([5, 6, 7], &[5, 6, 7], &[0; 4], true),
            ([5, 6, 7], &[5, 9], &[], false),
            ([5, 6, 7], &[5, 6, 7, 8], &[], false),
            ([5, 6, 7], &[5, 6, 7], &[1, 0, 0, 0], false),
            // Only the offset is needed.
            ([5, 6, escape], &[7], &[], true),
            ([5, 6, escape], &[7, 8], &[], false),
            ([5, 6, escape], &[7], &[0; 3], false),
            // Both sizes are needed, and the offset is also present.
            ([escape, escape, 7], &[5, 6], &[0; 4], true),
            ([escape, escape, 7], &[5, 6, 7], &[], true),
            ([escape, escape, 7], &[5, 6, 9], &[], false),
        ] {
            let found = zip64_agrees(&field(values, rest), &narrow, &[5, 6, 7]);
            assert_eq!(found, agrees, "{narrow:?} {values:?} {rest:?}");
        }
        assert!(zip64_agrees(&[], &[5, 6, 7], &[5, 6, 7]));
    }

    proptest! {
        #[test]
        fn headers_are_read_back_and_data_is_aligned(
            name in "[a-z/é]{1,40}",
            size in prop_oneof![0..10_u64, 0xFFFF_FFF0..0x1_0000_0010_u64],
            packed in prop_oneof![0..10_u64, 0xFFFF_FFF0..0x1_0000_0010_u64],
            at in prop_oneof![0..300_u64, 0xFFFF_FFF0..0x1_0000_0100_u64],
            align in proptest::option::of((0..200_u64, proptest::sample::select(vec![64, 4096]))),
        ) {
            let align = align.map(|(at, to)| Alignment { at, to });
            let member = NewHeader {
                name: name.as_bytes(), facts: facts(size, packed), align, external_attributes: 7,
            };
            let mut bytes = Vec::new();
            write_local(&mut bytes, &member, at);
            prop_assert_eq!(LocalHeader::full_len(&bytes), Some(bytes.len()));
            let read = LocalHeader::read(&bytes).unwrap();
            prop_assert_eq!(read.facts, member.facts);
            prop_assert_eq!(read.name, member.name);
            prop_assert!(read.zip64_agrees);
            prop_assert!(ExtraFields(read.extra).all(|field| field.is_some()));
            if let Some(Alignment { at: aligned, to }) = align {
                prop_assert_eq!((at + bytes.len() as u64 + aligned) % to, 0);
                prop_assert!((bytes.len() as u64) < (LOCAL_LEN + name.len() + 26) as u64 + to);
            }
            let mut bytes = Vec::new();
            write_central(&mut bytes, &member, at);
            let (read, after) = CentralHeader::split(&bytes).unwrap();
            prop_assert!(after.is_empty());
            prop_assert!(read.zip64_agrees);
            prop_assert_eq!(read.facts, member.facts);
            prop_assert_eq!((read.local, read.name), (at, member.name));
        }

        #[test]
        fn no_bytes_cause_a_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            for signature in [LOCAL, CENTRAL, END, END64, LOCATOR64] {
                let mut signed = signature.to_le_bytes().to_vec();
                signed.extend_from_slice(&bytes);
                let _ = LocalHeader::read(&signed);
                let _ = CentralHeader::split(&signed);
                let _ = (EndRecord::read(&signed), EndRecord64::read(&signed), Locator64::read(&signed));
            }
            ExtraFields(&bytes).for_each(drop);
        }
    }
}
