//! Reads an `.npz` file: which members it has, and each of them as an `.npy` file.

use std::collections::HashMap;
use std::fmt;
use std::io::{self, Read, Seek, SeekFrom};

use zip::CompressionMethod;
use zip::ZipReadOptions;
use zip::read::{ArchiveOffset, Config, OwnedZipFileEntry, ZipFile};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::SUFFIX;
use crate::interchange::{Error, npy};
use crate::path::escape;

/// An `.npz` file.
///
/// Members are read where they lie, in any order, each as often as wanted. The whole directory is looked
/// through first: names that are there twice are an error, since readers differ in which one they mean. That
/// takes many small reads, so give it a [`BufReader`](io::BufReader) of a file.
///
/// ```
/// use std::io::{Cursor, Read};
/// use ra_pack::interchange::{Variable, npy, npz};
/// use ra_pack::{describe, ra};
///
/// let header = ra::Header::new(ra::ElementType::UINT8, vec![3])?;
/// let description = describe("x", &header, ra::Encoding::Raw);
/// let x = Variable { header, description, losses: Vec::new() };
/// let mut writer = npz::Writer::new(Cursor::new(Vec::new()), npz::Compression::Deflated);
/// writer.add("run/x", &x, &[1, 2, 3][..], &npy::WriteOptions::new())?;
/// let file = writer.finish()?;
///
/// let mut reader = npz::Reader::new(file)?;
/// assert_eq!(reader.members()[0].key(), Some("run/x"));
/// let mut array = reader.open(0, &npy::ReadOptions::new())?;
/// assert_eq!(array.variable("x")?, x);
/// let mut data = Vec::new();
/// array.read_to_end(&mut data)?; // to the end, where the checksum is
/// assert_eq!(data, [1, 2, 3]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Reader<R> {
    zip: ZipIterable<R>,
    members: Vec<Member>,
    entries: Vec<OwnedZipFileEntry>,
}

impl<R> fmt::Debug for Reader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reader").field("members", &self.members).finish_non_exhaustive()
    }
}

/// A member of an `.npz` file, as its directory has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Member {
    name: String,
    offset: u64,
    size: u64,
}

impl Member {
    /// Its whole name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its name without `.npy`; nothing for a member that is no array.
    pub fn key(&self) -> Option<&str> {
        self.name.strip_suffix(SUFFIX)
    }

    /// Where in the file its header is.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the `.npy` file, by what the directory says.
    pub fn size(&self) -> u64 {
        self.size
    }
}

impl<R: Read + Seek> Reader<R> {
    /// Looks through the directory.
    ///
    /// # Errors
    ///
    /// When the reader fails; when it gives no zip; when the headers of a member contradict each other or a
    /// name is there twice.
    pub fn new(mut input: R) -> Result<Self, Error> {
        let len = input.seek(SeekFrom::End(0))?;
        let config = Config { archive_offset: ArchiveOffset::Known(0) };
        let zip = ZipIterable::try_new(input, config)
            .map_err(|error| fault(len, "expected the directory of a zip before the end", error))?;
        let mut zip = zip.enforce_header_consistency(true);
        let files = zip.files().map_err(|error| fault(len, "expected a directory", error))?;
        let (mut members, mut entries) = (Vec::new(), Vec::new());
        let mut seen: HashMap<String, u64> = HashMap::new();
        loop {
            let entry = match files.next() {
                None => break,
                Some(Ok(entry)) => entry,
                Some(Err(error)) => {
                    let at = files.reader_mut().stream_position()?;
                    return Err(fault(at, "expected a member and its record", error));
                }
            };
            let offset = entry.header_start();
            let name = match entry.name() {
                Ok(name) => name.into_owned(),
                Err(error) => return Err(fault(offset, "expected the name of a member", error)),
            };
            if let Some(first) = seen.insert(name.clone(), offset) {
                let reason = format!(
                    "expected each name once, found the member `{}` again, which is at byte {first} already",
                    escape(&name)
                );
                return Err(Error::malformed(offset, reason));
            }
            members.push(Member { name, offset, size: entry.size() });
            entries.push(OwnedZipFileEntry::from(entry));
        }
        Ok(Self { zip, members, entries })
    }

    /// All members in the order of the directory, those that are no arrays too.
    pub fn members(&self) -> &[Member] {
        &self.members
    }

    /// Opens a member as an array, by its place in [`members`](Self::members).
    ///
    /// What the array reader gives is checked: with the last byte of data the rest of the member is read too,
    /// and its checksum compared. Offsets in its errors count from the beginning of the member.
    ///
    /// # Errors
    ///
    /// As [`npy::Reader::new`]; when the member is encrypted, or compressed by another method than deflate;
    /// when there is no such member.
    pub fn open(
        &mut self,
        index: usize,
        options: &npy::ReadOptions,
    ) -> Result<npy::Reader<Opened<'_, R>>, Error> {
        let name = self.members.get(index).map(|member| escape(&member.name).to_string());
        let opened = self.raw(index)?;
        match npy::Reader::with_options(opened, options) {
            Ok(reader) => Ok(reader.checked_to_the_end()),
            Err(error) => Err(in_member(&name.unwrap_or_default(), error)),
        }
    }

    /// Opens a member as the bytes that it holds, whatever they are.
    ///
    /// # Errors
    ///
    /// As [`Reader::open`], but for what an array is to be.
    pub fn raw(&mut self, index: usize) -> Result<Opened<'_, R>, Error> {
        let (Some(member), Some(entry)) = (self.members.get(index), self.entries.get(index)) else {
            let count = self.members.len();
            return Err(Error::no_counterpart(
                format!("there is no member {index}, counted from 0"),
                format!("there are {count}"),
            ));
        };
        let name = escape(&member.name);
        if entry.as_ref().encrypted() {
            return Err(Error::no_counterpart(
                format!("the member `{name}` is encrypted"),
                "decrypt the file with the tool that made it",
            ));
        }
        let method = entry.as_ref().compression();
        if !matches!(method, CompressionMethod::Stored | CompressionMethod::Deflated) {
            return Err(Error::no_counterpart(
                format!("the member `{name}` is compressed by the method {method}"),
                "unpack the file and zip it with deflate, which is what numpy writes",
            ));
        }
        let offset = member.offset;
        let what = "expected a member";
        let files = self.zip.files().map_err(|error| fault(offset, what, error))?;
        let file = entry
            .as_ref()
            .with_reader(files.reader_mut(), ZipReadOptions::new())
            .map_err(|error| fault(offset, what, error))?;
        Ok(Opened { file, offset, name: name.to_string() })
    }
}

/// How the reason begins of a fault that is not counted from the beginning of the file.
const IN_MEMBER: &str = "in the member ";

/// The error with the member that it is about.
fn in_member(name: &str, error: Error) -> Error {
    match error {
        Error::Malformed { offset, reason } if !reason.starts_with(IN_MEMBER) => {
            Error::malformed(offset, format!("{IN_MEMBER}`{name}`: {reason}"))
        }
        Error::NoCounterpart { reason, instead } => {
            Error::no_counterpart(format!("{IN_MEMBER}`{name}`: {reason}"), instead)
        }
        error => error,
    }
}

/// What the zip crate says, at a place that it does not tell.
fn fault(offset: u64, expected: &str, error: ZipError) -> Error {
    match error {
        ZipError::Io(error) => damage(offset, expected, error),
        error => Error::malformed(offset, format!("{expected}, found: {error}")),
    }
}

/// An error that the system has no number for is one of the file: a wrong checksum, an end too early.
fn damage(offset: u64, expected: &str, error: io::Error) -> Error {
    let is_of_file = matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::UnexpectedEof
    ) || (error.kind() == io::ErrorKind::Other && error.get_ref().is_some());
    match error.raw_os_error() {
        None if is_of_file => Error::malformed(offset, format!("{expected}, found: {error}")),
        _ => Error::Io(error),
    }
}

/// The bytes of a member.
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
                Error::Io(error) => error,
                error => io::Error::new(io::ErrorKind::InvalidData, error),
            }
        })
    }
}
