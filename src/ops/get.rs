//! One array or file out of a pack.

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::open::{Pack, PackedArray};
use crate::error::{Error, Result};
use crate::fs::PendingFile;
use crate::ra::{AnyArray, parse_slice};

/// How to write an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ArrayFormat {
    /// A RawArray file.
    #[default]
    Ra,
    /// The elements alone, little-endian, first index of the file fastest.
    Raw,
}

/// What to get, and how.
#[derive(Debug, Clone, Default)]
pub struct GetOptions {
    /// The part of an array, as in `0:10,:,3`, in the order of its description's shape.
    pub slice: Option<String>,
    /// How to write an array; the member as it stands when not given.
    pub format: Option<ArrayFormat>,
    /// Do not hold the content against the manifest; of a slice, read only its own bytes.
    pub unverified: bool,
    /// Replace a file that is there already.
    pub force: bool,
}

/// What was got.
#[derive(Debug, Clone, Serialize)]
pub struct GetReport {
    /// The archive.
    pub archive: PathBuf,
    /// The member.
    pub member: String,
    /// Bytes that were written.
    pub bytes: u64,
    /// Whether the manifest vouches for the content.
    pub verified: bool,
}

/// Writes one member of `archive`, or a part of an array, to the file `output`. The file gets its
/// name when it is complete and the content agrees with the manifest.
///
/// # Errors
///
/// When there is no such member, it is damaged, or the file is there already.
pub fn get(archive: &Path, member: &str, output: &Path, options: &GetOptions) -> Result<GetReport> {
    let pack = Pack::open(archive)?;
    let pending = PendingFile::create(output, options.force)?;
    let mut report = GetReport {
        archive: archive.to_owned(),
        member: member.to_owned(),
        bytes: 0,
        verified: false,
    };
    let mut out = Counting { inner: pending.writer()?, count: 0 };
    report.verified = write(&pack, member, options, &mut out)?;
    report.bytes = out.count;
    drop(out);
    pending.sync()?;
    pending.persist()?;
    Ok(report)
}

/// Writes one member of `archive`, or a part of an array, to `out`. The content is held against the
/// manifest before the first byte is written, so that nothing damaged goes down a pipe.
///
/// # Errors
///
/// As [`get`]; a broken pipe too.
pub fn get_to(
    archive: &Path,
    member: &str,
    out: &mut dyn Write,
    options: &GetOptions,
) -> Result<GetReport> {
    let pack = Pack::open(archive)?;
    let whole = options.slice.is_none() && options.format.is_none();
    if whole && !options.unverified {
        pack.copy_to(member, &mut std::io::sink())?;
    }
    let mut out = Counting { inner: out, count: 0 };
    let verified = write(&pack, member, options, &mut out)?;
    let bytes = out.count;
    Ok(GetReport { archive: archive.to_owned(), member: member.to_owned(), bytes, verified })
}

fn write(pack: &Pack, member: &str, options: &GetOptions, out: &mut dyn Write) -> Result<bool> {
    if options.slice.is_none() && options.format.is_none() {
        if options.unverified {
            return pack.copy_unverified_to(member, out).map(|_| false);
        }
        return pack.copy_to(member, out).map(|(_, vouched)| vouched);
    }
    let mut array = pack.array(member)?;
    if options.unverified {
        array = array.unverified();
    }
    let (part, verified) = match &options.slice {
        None => (array.read_any()?, !options.unverified),
        Some(text) => slice(pack, array, text, options.unverified)?,
    };
    let failed = |source| Error::Io { action: "write", path: PathBuf::from(member), source };
    match options.format.unwrap_or_default() {
        ArrayFormat::Ra => part.write_to(&mut *out).map_err(failed)?,
        ArrayFormat::Raw => {
            let mut bytes = Vec::new();
            part.write_to(&mut bytes).map_err(failed)?;
            let header = crate::ra::Header::parse(&bytes).map_or(0, |header| header.header_len());
            let start = usize::try_from(header).unwrap_or(0);
            out.write_all(bytes.get(start..).unwrap_or_default()).map_err(failed)?;
        }
    }
    Ok(verified)
}

/// A slice reads its own bytes only, so the member is checked as a whole beforehand.
fn slice(
    pack: &Pack,
    array: PackedArray<'_>,
    text: &str,
    unverified: bool,
) -> Result<(AnyArray, bool)> {
    let verified = !unverified && pack.copy_to(array.name(), &mut std::io::sink())?.1;
    let array = array.in_shape_order()?;
    let elements = parse_slice(text, &array.shape()?)
        .map_err(|error| Error::Unsupported(format!("the slice `{text}`: {error}")))?;
    Ok((array.slice_any(elements)?, verified))
}

struct Counting<W> {
    inner: W,
    count: u64,
}

impl<W: Write> Write for Counting<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.inner.write(bytes)?;
        self.count = self.count.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}
