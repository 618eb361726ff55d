//! Support: tar files written block by block, with control over each field.

/// An entry: a header of 512 bytes, the data, and its padding.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) name: Vec<u8>,
    pub(crate) typeflag: u8,
    pub(crate) link: Vec<u8>,
    /// Size field, 12 bytes; the length of the data by default.
    pub(crate) size: Option<[u8; 12]>,
    pub(crate) data: Vec<u8>,
    pub(crate) magic: [u8; 8],
    /// Replaces the checksum of the header, if given.
    pub(crate) checksum: Option<[u8; 8]>,
}

impl Entry {
    pub(crate) fn file(name: impl AsRef<[u8]>, data: &[u8]) -> Self {
        Self {
            name: name.as_ref().to_vec(),
            typeflag: b'0',
            link: Vec::new(),
            size: None,
            data: data.to_vec(),
            magic: *b"ustar\x0000",
            checksum: None,
        }
    }

    /// Returns an entry of another type, without data.
    pub(crate) fn typed(name: impl AsRef<[u8]>, typeflag: u8, link: &str) -> Self {
        Self { typeflag, link: link.as_bytes().to_vec(), ..Self::file(name, b"") }
    }

    /// Returns a PAX header for the next entry.
    pub(crate) fn pax(records: &[u8]) -> Self {
        Self { typeflag: b'x', ..Self::file("PaxHeaders/x", records) }
    }

    fn write(&self, out: &mut Vec<u8>) {
        let mut header = [0_u8; 512];
        let mut put = |at: usize, bytes: &[u8]| header[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, &self.name);
        put(100, b"0000644\0");
        put(108, b"0000000\0");
        put(116, b"0000000\0");
        let size: [u8; 12] = format!("{:011o}\0", self.data.len()).into_bytes().try_into().unwrap();
        put(124, &self.size.unwrap_or(size));
        put(136, b"02263264000\0");
        put(148, b"        ");
        put(156, &[self.typeflag]);
        put(157, &self.link);
        put(257, &self.magic);
        let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
        let sum: [u8; 8] = format!("{sum:06o}\0 ").into_bytes().try_into().unwrap();
        header[148..156].copy_from_slice(&self.checksum.unwrap_or(sum));
        out.extend(header);
        out.extend(&self.data);
        out.resize(out.len().next_multiple_of(512), 0);
    }
}

/// Returns a record `LENGTH KEY=VALUE\n` of a PAX header, with the correct length.
pub(crate) fn pax_record(key: &str, value: &str) -> Vec<u8> {
    let rest = format!(" {key}={value}\n");
    let mut length = rest.len() + 1;
    while length != rest.len() + length.to_string().len() {
        length += 1;
    }
    format!("{length}{rest}").into_bytes()
}

/// Returns entries without an end mark.
pub(crate) fn unended(entries: &[Entry]) -> Vec<u8> {
    let mut out = Vec::new();
    for entry in entries {
        entry.write(&mut out);
    }
    out
}

/// Returns a complete tar.
pub(crate) fn tar(entries: &[Entry]) -> Vec<u8> {
    let mut out = unended(entries);
    out.extend([0; 1024]);
    out
}

pub(crate) fn files<'a>(files: impl IntoIterator<Item = &'a (String, Vec<u8>)>) -> Vec<Entry> {
    files.into_iter().map(|(name, bytes)| Entry::file(name, bytes)).collect()
}
