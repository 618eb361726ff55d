//! The extended headers before an entry, and what the entry is when all of them agree.

use super::OCTAL_END;
use super::entry::{TarEntry, TarKind};
use super::fault::{TarFaultKind, printable};
use super::header::Header;
use super::pax::{PaxFault, PaxRecords};

/// What the headers before an entry say about it.
#[derive(Debug, Default)]
pub(super) struct Extensions {
    offset: Option<u64>,
    pax: Option<PaxRecords>,
    long_name: Option<Vec<u8>>,
    long_link: Option<Vec<u8>>,
}

impl Extensions {
    /// Takes the extended header of type `typeflag`, whose first block is at `offset`, and gives the first record
    /// to be warned of.
    pub(super) fn add(
        &mut self,
        typeflag: u8,
        offset: u64,
        payload: Vec<u8>,
    ) -> Result<Option<PaxFault>, TarFaultKind> {
        if typeflag == b'g' {
            self.must_be_empty("a global PAX header")?;
            let records = PaxRecords::parse(&payload)?;
            return match records.structural_key() {
                // It would give every entry after it the same name or size.
                Some(key) => Err(TarFaultKind::GlobalRecord { key }),
                None => Ok(records.odd),
            };
        }
        let mut odd = None;
        let repeated = match typeflag {
            b'x' => {
                let mut records = PaxRecords::parse(&payload)?;
                odd = records.odd.take();
                self.pax.replace(records).is_some()
            }
            b'L' => self.long_name.replace(without_nul(payload)).is_some(),
            _ => self.long_link.replace(without_nul(payload)).is_some(),
        };
        if repeated {
            return Err(TarFaultKind::ExtensionRepeated { typeflag: typeflag.into() });
        }
        let sized = self.pax.as_ref().is_some_and(|pax| pax.size.is_some());
        if typeflag != b'x' && sized {
            // Some readers apply the size to the long name instead, and then see other entries.
            return Err(TarFaultKind::SizeBeforeLongName);
        }
        self.offset.get_or_insert(offset);
        Ok(odd)
    }

    /// Refuses `found` where an extended header still waits for its entry.
    pub(super) fn must_be_empty(&self, found: &'static str) -> Result<(), TarFaultKind> {
        match self.offset {
            Some(_) => Err(TarFaultKind::ExtensionDangling { found }),
            None => Ok(()),
        }
    }

    /// The entry that `header`, read at `offset`, begins; an error names it as far as it can.
    pub(super) fn resolve(
        self,
        header: Header,
        offset: u64,
        data_offset: u64,
    ) -> Result<TarEntry, (Option<String>, TarFaultKind)> {
        let pax = self.pax.unwrap_or_default();
        let is_short_directory = header.name.ends_with(b"/");
        let name = one_name(pax.path, self.long_name, header.name).map_err(|kind| (None, kind))?;
        let fault = |kind| (Some(String::from_utf8_lossy(&name).into_owned()), kind);
        let target = one_name(pax.link_path, self.long_link, header.link).map_err(&fault)?;
        if header.typeflag == b'S' || pax.sparse.is_some() {
            return Err(fault(TarFaultKind::Sparse));
        }
        let size = one_size(pax.size, header.size).map_err(&fault)?;
        let is_named_directory = name.ends_with(b"/");
        let is_link_name = !target.is_empty();
        let kind = match header.typeflag {
            b'0' | b'7' | 0 if is_named_directory => TarKind::Directory,
            b'0' | b'7' | 0 => TarKind::File,
            b'1' => TarKind::HardLink { target },
            b'2' => TarKind::Symlink { target },
            b'5' => TarKind::Directory,
            other => TarKind::Special(other),
        };
        // Some readers pass over data here and others take it for headers.
        let without_data = match kind {
            TarKind::Directory => Some("directory"),
            TarKind::HardLink { .. } | TarKind::Symlink { .. } => Some("link"),
            TarKind::Special(b'3' | b'4' | b'6') => Some("device or FIFO"),
            TarKind::File | TarKind::Special(_) => None,
        };
        if let Some(kind) = without_data.filter(|_| size > 0) {
            return Err(fault(TarFaultKind::UnexpectedData { kind, size }));
        }
        if is_link_name && matches!(kind, TarKind::File | TarKind::Directory) {
            return Err(fault(TarFaultKind::LinkNameOfFile));
        }
        // Without a type, and only then, a directory may be known by its name: by some readers by the one in its header.
        if matches!(header.typeflag, b'0' | b'7') && is_named_directory {
            return Err(fault(TarFaultKind::FileNamedAsDirectory));
        }
        if header.typeflag != b'5' && is_short_directory != is_named_directory {
            return Err(fault(TarFaultKind::OneNameOfDirectory));
        }
        Ok(TarEntry {
            kind,
            size,
            header_offset: self.offset.unwrap_or(offset),
            data_offset,
            mode: header.mode,
            mtime: pax.mtime.unwrap_or(header.mtime),
            name,
        })
    }
}

/// The name that holds: readers differ in which extension they believe, so both must agree.
fn one_name(
    pax: Option<Vec<u8>>,
    gnu: Option<Vec<u8>>,
    header: Vec<u8>,
) -> Result<Vec<u8>, TarFaultKind> {
    match (pax, gnu) {
        (Some(pax), Some(gnu)) if pax != gnu => {
            Err(TarFaultKind::NameConflict { pax: printable(&pax), gnu: printable(&gnu) })
        }
        (Some(name), _) | (None, Some(name)) => Ok(name),
        (None, None) => Ok(header),
    }
}

/// The size that holds: below 8 GiB the header can say it, and not every reader looks further.
fn one_size(pax: Option<u64>, ustar: u64) -> Result<u64, TarFaultKind> {
    match pax {
        Some(pax) if pax != ustar && pax < OCTAL_END => Err(TarFaultKind::PaxSize { pax, ustar }),
        Some(pax) => Ok(pax),
        None => Ok(ustar),
    }
}

/// A GNU long name without the NUL that ends it. Any other NUL stays, for the caller to refuse.
fn without_nul(mut name: Vec<u8>) -> Vec<u8> {
    if name.last() == Some(&0) {
        name.pop();
    }
    name
}
