//! PAX extended headers: the records `LENGTH KEY=VALUE\n` that say what a ustar header cannot.

/// The records of one extended header that change how the entry is read; all others are ignored.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct PaxRecords {
    pub(super) path: Option<Vec<u8>>,
    pub(super) link_path: Option<Vec<u8>>,
    /// Length of the data in bytes.
    pub(super) size: Option<u64>,
    /// Whole seconds; a fraction, and a time before 1970, is dropped.
    pub(super) mtime: Option<u64>,
    /// A record of the `GNU.sparse` family is there: the data is not the file.
    pub(super) sparse: bool,
}

/// What is wrong with a record, and where it begins in the extended header.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record at byte {at} of the PAX header {kind}")]
pub(crate) struct PaxFault {
    pub(crate) at: usize,
    pub(crate) kind: PaxFaultKind,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum PaxFaultKind {
    #[error("does not begin with its length in decimal digits and a space")]
    Length,
    #[error("claims {claimed} bytes, of which {available} are there")]
    TooLong { claimed: usize, available: usize },
    #[error("does not end in a line feed where its length says")]
    End,
    #[error("has no `KEY=VALUE` with a UTF-8 key")]
    Key,
    #[error("gives `{0}` no value")]
    Empty(&'static str),
    #[error("gives `{0}` a second time")]
    Repeated(&'static str),
    #[error("gives a `size` that is no decimal number of bytes")]
    Size,
}

impl PaxRecords {
    /// Reads the whole extended header `payload`.
    pub(super) fn parse(payload: &[u8]) -> Result<Self, PaxFault> {
        let mut records = Self::default();
        let mut rest = payload;
        while !rest.is_empty() {
            let at = payload.len().saturating_sub(rest.len());
            let (key, value, after) = split_record(rest).map_err(|kind| PaxFault { at, kind })?;
            records.set(key, value).map_err(|kind| PaxFault { at, kind })?;
            rest = after;
        }
        Ok(records)
    }

    /// The key of a record that says which bytes are the member, if there is one.
    pub(super) fn structural_key(&self) -> Option<&'static str> {
        match self {
            Self { path: Some(_), .. } => Some("path"),
            Self { link_path: Some(_), .. } => Some("linkpath"),
            Self { size: Some(_), .. } => Some("size"),
            Self { sparse: true, .. } => Some("GNU.sparse"),
            _ => None,
        }
    }

    fn set(&mut self, key: &str, value: &[u8]) -> Result<(), PaxFaultKind> {
        match key {
            "path" => set_once(&mut self.path, "path", value, |value| Ok(value.to_vec())),
            "linkpath" => {
                set_once(&mut self.link_path, "linkpath", value, |value| Ok(value.to_vec()))
            }
            "size" => set_once(&mut self.size, "size", value, |value| {
                decimal(value).ok_or(PaxFaultKind::Size)
            }),
            "mtime" => {
                let seconds = value.split(|&byte| byte == b'.').next();
                self.mtime = seconds.and_then(decimal);
                Ok(())
            }
            _ => {
                self.sparse |= key.starts_with("GNU.sparse.");
                Ok(())
            }
        }
    }
}

/// Readers disagree on which of two records holds, and on what an empty value undoes.
fn set_once<T>(
    slot: &mut Option<T>,
    key: &'static str,
    value: &[u8],
    read: impl FnOnce(&[u8]) -> Result<T, PaxFaultKind>,
) -> Result<(), PaxFaultKind> {
    if slot.is_some() {
        return Err(PaxFaultKind::Repeated(key));
    }
    if value.is_empty() {
        return Err(PaxFaultKind::Empty(key));
    }
    *slot = Some(read(value)?);
    Ok(())
}

type Record<'a> = (&'a str, &'a [u8], &'a [u8]);

fn split_record(bytes: &[u8]) -> Result<Record<'_>, PaxFaultKind> {
    let space = bytes.iter().position(|&byte| byte == b' ').ok_or(PaxFaultKind::Length)?;
    let (digits, _) = bytes.split_at_checked(space).ok_or(PaxFaultKind::Length)?;
    let length = decimal(digits).ok_or(PaxFaultKind::Length)?;
    let claimed = usize::try_from(length).unwrap_or(usize::MAX);
    let (record, after) = bytes
        .split_at_checked(claimed)
        .ok_or(PaxFaultKind::TooLong { claimed, available: bytes.len() })?;
    // A length that ends before its own space leaves nothing to take the body from.
    let body = record.get(space.saturating_add(1)..).ok_or(PaxFaultKind::End)?;
    let body = body.strip_suffix(b"\n").ok_or(PaxFaultKind::End)?;
    let equals = body.iter().position(|&byte| byte == b'=').ok_or(PaxFaultKind::Key)?;
    let (key, value) = body.split_at_checked(equals).ok_or(PaxFaultKind::Key)?;
    let key = std::str::from_utf8(key).map_err(|_| PaxFaultKind::Key)?;
    let value = value.strip_prefix(b"=").ok_or(PaxFaultKind::Key)?;
    // Readers that take a line end or a NUL for the end of something see other records.
    if key.is_empty() || key.contains(['\0', '\n']) {
        return Err(PaxFaultKind::Key);
    }
    Ok((key, value, after))
}

/// Digits only: `parse` alone would take a sign.
fn decimal(digits: &[u8]) -> Option<u64> {
    if !digits.iter().all(u8::is_ascii_digit) {
        return None;
    }
    std::str::from_utf8(digits).ok()?.parse().ok()
}

/// Appends the record of `key` and `value`, whose length counts its own digits.
pub(super) fn push_record(payload: &mut Vec<u8>, key: &str, value: &[u8]) {
    let without_digits = key.len().saturating_add(value.len()).saturating_add(" =\n".len());
    let mut length = without_digits;
    loop {
        let digits = length.to_string().len();
        let with_digits = without_digits.saturating_add(digits);
        if with_digits == length {
            break;
        }
        length = with_digits;
    }
    payload.extend_from_slice(format!("{length} {key}=").as_bytes());
    payload.extend_from_slice(value);
    payload.push(b'\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(payload: &[u8]) -> PaxFaultKind {
        PaxRecords::parse(payload).unwrap_err().kind
    }

    #[test]
    fn a_keyword_holds_no_end_of_a_line() {
        for key in ["a\nb", "\0", "%\0%\n\n"] {
            let mut payload = Vec::new();
            push_record(&mut payload, key, b"value");
            assert_eq!(kind(&payload), PaxFaultKind::Key, "{key:?}");
        }
    }

    #[test]
    fn a_record_counts_the_digits_of_its_own_length() {
        for value in 0..1200 {
            let mut payload = Vec::new();
            push_record(&mut payload, "path", &vec![b'a'; value]);
            let digits = payload.split(|&byte| byte == b' ').next().unwrap();
            assert_eq!(decimal(digits), u64::try_from(payload.len()).ok());
        }
    }

    #[test]
    fn reads_what_changes_the_entry_and_ignores_the_rest() {
        let mut payload = Vec::new();
        push_record(&mut payload, "comment", b"a=b\nc");
        push_record(&mut payload, "path", "größe/a=b\n.ra".as_bytes());
        push_record(&mut payload, "size", b"18446744073709551615");
        push_record(&mut payload, "mtime", b"315532800.25");
        let records = PaxRecords::parse(&payload).unwrap();
        assert_eq!(records.path.as_deref(), Some("größe/a=b\n.ra".as_bytes()));
        assert_eq!(records.size, Some(u64::MAX));
        assert_eq!(records.mtime, Some(315_532_800));
        assert!(!records.sparse);
    }

    #[test]
    fn refuses_every_lie_about_a_length() {
        assert_eq!(kind(b"path=a\n"), PaxFaultKind::Length);
        assert_eq!(kind(b"+10 path=a\n"), PaxFaultKind::Length);
        assert_eq!(kind(b" path=a\n"), PaxFaultKind::Length);
        assert_eq!(kind(b"99999999999999999999999 path=a\n"), PaxFaultKind::Length);
        assert_eq!(kind(b"11 path=a\n"), PaxFaultKind::TooLong { claimed: 11, available: 10 });
        assert_eq!(kind(b"8 path=a\n"), PaxFaultKind::End);
        assert_eq!(kind(b"0 path=a\n"), PaxFaultKind::End);
        assert_eq!(kind(b"2 path=a\n"), PaxFaultKind::End);
        // The rest after the last record is not ignored either.
        assert_eq!(PaxRecords::parse(b"10 path=a\n\0").unwrap_err().at, 10);
    }

    #[test]
    fn refuses_records_that_readers_understand_differently() {
        assert_eq!(kind(b"8 path=\n"), PaxFaultKind::Empty("path"));
        assert_eq!(kind(b"10 path=a\n10 path=b\n"), PaxFaultKind::Repeated("path"));
        assert_eq!(kind(b"11 size=-1\n"), PaxFaultKind::Size);
        assert_eq!(kind(b"11 size=+1\n"), PaxFaultKind::Size);
        assert_eq!(
            kind(b"28 size=18446744073709551616\n").to_string(),
            PaxFaultKind::End.to_string()
        );
        assert_eq!(kind(b"29 size=18446744073709551616\n"), PaxFaultKind::Size);
        assert_eq!(kind(b"5 =a\n"), PaxFaultKind::Key);
        assert_eq!(kind(b"7 \xff\xff=a\n"), PaxFaultKind::Key);
        assert_eq!(kind(b"5 ab\n"), PaxFaultKind::Key);
    }
}
