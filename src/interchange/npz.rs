//! NumPy `.npz` files: zips of [`.npy`](super::npy) files.
//!
//! The member `a/b/x.npy` is the array with the key `a/b/x`. [`convert`](crate::convert()) chooses file names for keys
//! that cannot be file names. The crate `zip` reads the container. Every member is read to its end to verify its
//! checksum.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom, Write};

use zip::read::{ArchiveOffset, Config, OwnedZipFileEntry, ZipFile};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, DateTime, System, ZipReadOptions, ZipWriter};

use super::{ExportOptions, FormatError, ImportOptions, Variable, npy};
use crate::path::{MAX_PATH_BYTES, escape};

/// The suffix that the key gets in the name of a member.
const SUFFIX: &str = ".npy";

/// An `.npz` file opened for reading.
///
/// Members can be read in any order and more than once. Opening reads the complete directory, because a duplicate name
/// is an error: readers differ in which member they return. This takes many small reads, so pass a
/// [`BufReader`](io::BufReader) for a file.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{ImportOptions, Variable, ExportOptions, npz};
/// use ra_pack::{describe, ra};
///
/// let header = ra::Header::new(ra::ElementType::UINT8, vec![3])?;
/// let description = describe("x", &header, ra::Encoding::Raw);
/// let x = Variable { header, description, losses: Vec::new() };
/// let mut writer = npz::NpzWriter::new(Cursor::new(Vec::new()), true);
/// writer.add("run/x", &x, &[1, 2, 3][..], ExportOptions::default())?;
/// let file = writer.finish()?;
///
/// let mut reader = npz::NpzReader::new(file)?;
/// assert_eq!(reader.members()[0].key(), Some("run/x"));
/// let mut array = reader.open(0, ImportOptions::default())?;
/// assert_eq!(array.variable("x")?, x);
/// let mut data = Vec::new();
/// array.read_to_end(&mut data)?; // verifies the checksum at the end
/// assert_eq!(data, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct NpzReader<R> {
    zip: ZipIterable<R>,
    members: Vec<NpzMember>,
    entries: Vec<OwnedZipFileEntry>,
}

impl<R> fmt::Debug for NpzReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpzReader").field("members", &self.members).finish_non_exhaustive()
    }
}

/// A member of an `.npz` file, according to its directory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct NpzMember {
    /// The name with its extension.
    pub name: String,
    /// The offset of its header in the file.
    pub offset: u64,
    /// The length of the `.npy` file in bytes, according to the directory.
    pub size: u64,
}

impl NpzMember {
    /// Returns the name without `.npy`; `None` for a member that is not an array.
    pub fn key(&self) -> Option<&str> {
        self.name.strip_suffix(SUFFIX)
    }
}

impl<R: Read + Seek> NpzReader<R> {
    /// Opens a file and reads its directory.
    ///
    /// # Errors
    ///
    /// - [`FormatError::Io`] if the reader fails.
    /// - [`FormatError::Malformed`] if it is not a zip, the headers of a member contradict each other, or two members
    ///   have the same name.
    pub fn new(mut input: R) -> Result<Self, FormatError> {
        let len = input.seek(SeekFrom::End(0))?;
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let zip = ZipIterable::try_new(input, config)
            .map_err(|error| fault(len, "expected the directory of a zip before the end", error))?;
        let mut zip = zip.enforce_header_consistency(true);
        let files = zip.files().map_err(|error| fault(len, "expected a directory", error))?;
        let (mut members, mut entries) = (Vec::new(), Vec::new());
        let mut seen: HashMap<String, u64> = HashMap::new();
        while let Some(entry) = files.next() {
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let at = files.reader_mut().stream_position()?;
                    return Err(fault(at, "expected a member and its record", error));
                }
            };
            let offset = entry.header_start();
            let name = entry.name().map(Cow::into_owned);
            let name =
                name.map_err(|error| fault(offset, "expected the name of a member", error))?;
            if let Some(first) = seen.insert(name.clone(), offset) {
                let reason = format!(
                    "expected each name once, found the member `{}` again, first at byte {first}",
                    escape(&name)
                );
                return Err(FormatError::malformed(offset, reason));
            }
            members.push(NpzMember { name, offset, size: entry.size() });
            entries.push(OwnedZipFileEntry::from(entry));
        }
        Ok(Self { zip, members, entries })
    }

    /// Returns all members in the order of the directory, including those that are not arrays.
    pub fn members(&self) -> &[NpzMember] {
        &self.members
    }

    /// Opens a member as an array, by its index in [`members`](Self::members).
    ///
    /// The data is verified: reading its last byte also reads the rest of the member and compares the checksum. Offsets
    /// in errors count from the beginning of the member.
    ///
    /// # Errors
    ///
    /// - The errors of [`npy::NpyReader::new`].
    /// - [`FormatError::NoCounterpart`] if the member is encrypted, is compressed with a method other than deflate, or
    ///   does not exist.
    pub fn open(
        &mut self,
        index: usize,
        options: ImportOptions,
    ) -> Result<npy::NpyReader<Opened<'_, R>>, FormatError> {
        let (Some(member), Some(entry)) = (self.members.get(index), self.entries.get(index)) else {
            let count = self.members.len();
            return Err(FormatError::no_counterpart(
                format!("there is no member {index}, counted from 0"),
                format!("there are {count}"),
            ));
        };
        let name = escape(&member.name);
        if entry.as_ref().encrypted() {
            return Err(FormatError::no_counterpart(
                format!("the member `{name}` is encrypted"),
                "decrypt the file with the tool that made it",
            ));
        }
        let method = entry.as_ref().compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(FormatError::no_counterpart(
                format!("the member `{name}` is compressed with method {method}"),
                "unpack the file and zip it with deflate, as NumPy does",
            ));
        }
        let offset = member.offset;
        let opened = self.zip.files().and_then(|files| {
            entry.as_ref().with_reader(files.reader_mut(), ZipReadOptions::default())
        });
        let file = opened.map_err(|error| fault(offset, "expected a member", error))?;
        let name = name.to_string();
        let opened = Opened { file, offset, name: name.clone() };
        match npy::NpyReader::new(opened, options) {
            Ok(reader) => Ok(reader.checked_to_the_end()),
            Err(error) => Err(in_member(&name, error)),
        }
    }
}

/// The beginning of the reason of an error whose offset counts from the beginning of a member.
const IN_MEMBER: &str = "in the member ";

/// Adds the name of the member to an error.
fn in_member(name: &str, error: FormatError) -> FormatError {
    match error {
        FormatError::Malformed { offset, reason } if !reason.starts_with(IN_MEMBER) => {
            FormatError::malformed(offset, format!("{IN_MEMBER}`{name}`: {reason}"))
        }
        FormatError::NoCounterpart { reason, instead } => {
            FormatError::no_counterpart(format!("{IN_MEMBER}`{name}`: {reason}"), instead)
        }
        error => error,
    }
}

/// Returns the message of the crate `zip`, which has no offset, as an error at `offset`.
fn fault(offset: u64, expected: &str, error: ZipError) -> FormatError {
    match error {
        ZipError::Io(error) => damage(offset, expected, error),
        error => FormatError::malformed(offset, format!("{expected}, found: {error}")),
    }
}

/// Classifies an error: one without a system error number is about the file, such as a wrong checksum or an early end.
fn damage(offset: u64, expected: &str, error: io::Error) -> FormatError {
    let is_of_file = matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
    ) || (error.kind() == io::ErrorKind::Other && error.get_ref().is_some());
    match error.raw_os_error() {
        None if is_of_file => FormatError::malformed(offset, format!("{expected}, found: {error}")),
        _ => FormatError::Io(error),
    }
}

/// A reader for the bytes of a member.
pub struct Opened<'r, R: Read> {
    file: ZipFile<'r, R>,
    offset: u64,
    name: String,
}

impl<R: Read> fmt::Debug for Opened<'_, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened").field("name", &self.name).finish_non_exhaustive()
    }
}

impl<R: Read> Read for Opened<'_, R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.file.read(out).map_err(|error| {
            if error.kind() == io::ErrorKind::Interrupted {
                return error;
            }
            let expected =
                format!("{IN_MEMBER}`{}`, whose header is here: expected its data", self.name);
            match damage(self.offset, &expected, error) {
                FormatError::Io(error) => error,
                error => io::Error::new(io::ErrorKind::InvalidData, error),
            }
        })
    }
}

/// The size from which a member needs 64-bit fields. It is far below the limit, because deflate makes incompressible
/// data slightly larger.
const ZIP64_FROM: u64 = 0xfff0_0000;

/// A writer for an `.npz` file.
///
/// The same arrays give the same file: members are in the order of the calls and have the date 1980-01-01. Only the
/// directory is kept in memory. After an error, or without [`finish`](Self::finish), the output is not a valid file.
///
/// See [`NpzReader`] for an example.
pub struct NpzWriter<W: Write + Seek> {
    zip: ZipWriter<Unfailing<W>>,
    is_deflated: bool,
    keys: HashSet<String>,
}

impl<W: Write + Seek> fmt::Debug for NpzWriter<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("NpzWriter").field("keys", &self.keys.len()).finish_non_exhaustive()
    }
}

impl<W: Write + Seek> NpzWriter<W> {
    /// Begins an `.npz` file at the position of `out`, which must be its beginning. Members are deflated at level 6, as
    /// by `numpy.savez_compressed`, or stored, as by `numpy.savez`.
    pub fn new(out: W, is_deflated: bool) -> Self {
        let inner =
            Unfailing { inner: out, error: Cell::default(), has_failed: false, at: 0, len: 0 };
        Self { zip: ZipWriter::new(inner), is_deflated, keys: HashSet::new() }
    }

    /// Adds an array with a key, which may contain slashes.
    ///
    /// # Errors
    ///
    /// - The errors of [`npy::write`].
    /// - [`FormatError::NoCounterpart`] if the key already exists, contains a NUL or is too long for a zip, or NumPy
    ///   has no dtype for the elements. Nothing is written in this case.
    pub fn add(
        &mut self,
        key: &str,
        variable: &Variable,
        data: impl Read,
        options: ExportOptions,
    ) -> Result<npy::NpyPlan, FormatError> {
        let plan = npy::NpyPlan::new(variable, options)?;
        let name = format!("{key}{SUFFIX}");
        let refuse = |why: &str| {
            let reason = format!("the key `{}` {why}", escape(key));
            Err(FormatError::no_counterpart(reason, "give the array another name"))
        };
        if name.len() > MAX_PATH_BYTES {
            return refuse("is too long for a zip");
        }
        if key.contains('\0') {
            return refuse("contains a NUL, where Python would end the name");
        }
        if !self.keys.insert(key.to_owned()) {
            return refuse("already exists");
        }
        let (method, level) = if self.is_deflated {
            (CompressionMethod::Deflated, Some(6))
        } else {
            (CompressionMethod::Stored, None)
        };
        let file = SimpleFileOptions::DEFAULT
            .compression_method(method)
            .compression_level(level)
            .last_modified_time(DateTime::DEFAULT)
            .unix_permissions(0o644)
            .system(System::Unix)
            .large_file(plan.file_len() >= ZIP64_FROM);
        self.zip.start_file(name, file).map_err(failed)?;
        plan.write(&mut self.zip, data)?;
        self.zip.get_ref().map_or(Ok(()), Unfailing::check)?;
        Ok(plan)
    }

    /// Writes the directory and returns the output.
    ///
    /// # Errors
    ///
    /// [`FormatError::Io`] if writing fails.
    pub fn finish(self) -> Result<W, FormatError> {
        let out = self.zip.finish().map_err(failed)?;
        out.check()?;
        Ok(out.inner)
    }
}

fn failed(error: ZipError) -> FormatError {
    match error {
        ZipError::Io(error) => FormatError::from(error),
        error => FormatError::Io(io::Error::other(error)),
    }
}

/// A writer that keeps its first error and writes nothing after it. The crate `zip` tries to complete the file after an
/// error, which would panic.
struct Unfailing<W> {
    inner: W,
    error: Cell<Option<io::Error>>,
    has_failed: bool,
    /// The position, and the end of the written bytes.
    at: u64,
    len: u64,
}

impl<W> Unfailing<W> {
    /// Calls `work` unless an earlier call failed.
    fn attempt(&mut self, work: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.has_failed {
            return;
        }
        if let Err(error) = work(&mut self.inner) {
            self.has_failed = true;
            self.error.set(Some(error));
        }
    }

    /// Takes the error, so that it is reported once.
    fn check(&self) -> io::Result<()> {
        self.error.take().map_or(Ok(()), Err)
    }
}

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.attempt(|inner| inner.write_all(bytes));
        self.at += bytes.len() as u64;
        self.len = self.len.max(self.at);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt(W::flush);
        Ok(())
    }
}

impl<W: Seek> Seek for Unfailing<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let at = match to {
            SeekFrom::Start(at) => Some(at),
            SeekFrom::End(by) => self.len.checked_add_signed(by),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
        };
        let at = at.ok_or(io::ErrorKind::InvalidInput)?;
        self.attempt(|inner| inner.seek(SeekFrom::Start(at)).map(drop));
        self.at = at;
        Ok(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A writer that fails after a number of bytes.
    struct Full(io::Cursor<Vec<u8>>, usize);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.0.get_ref().len() + bytes.len() > self.1 {
                return Err(io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Seek for Full {
        fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
            self.0.seek(to)
        }
    }

    #[test]
    fn a_full_disk_is_an_error_and_no_panic() {
        let mut file = Vec::new();
        let written = npy::NpyReader::new(
            &b"\x93NUMPY\x01\x00\x37\x00{'descr': '|u1', 'fortran_order': False, 'shape': (3,)}abc"
                [..],
            ImportOptions::default(),
        );
        let variable: Variable = written.unwrap().variable("x").unwrap();
        let mut write = |is_deflated, limit| {
            let mut writer = NpzWriter::new(Full(io::Cursor::new(Vec::new()), limit), is_deflated);
            let options = ExportOptions::default();
            writer.add("x", &variable, &b"abc"[..], options)?;
            file = writer.finish()?.0.into_inner();
            Ok::<_, FormatError>(file.len())
        };
        for is_deflated in [false, true] {
            let whole = write(is_deflated, usize::MAX).unwrap();
            for limit in 0..whole {
                assert!(write(is_deflated, limit).is_err(), "{limit} of {whole}");
            }
        }
    }
}
