//! Export of one array or file from a pack.

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::foreign::write_array;
use super::format::ArrayFormat;
use super::item::lost_names;
use super::names::name_of;
use super::options::ConvertOptions;
use crate::error::{Error, Result};
use crate::fs::{self, PendingFile};
use crate::interchange::BlockReader;
use crate::message::Message;
use crate::ndl::{Datatype, Document, Extent, Order, Storage};
use crate::pack;
use crate::path::escape;
use crate::progress::Progress;
use crate::ra::{AnyArray, Header, ReadError, parse_slice, resolve_slice};
use crate::read::manifests::check_apart;
use crate::read::open::{Pack, PackedArray, WRITE_COPY};

/// Name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";

/// Bytes of elements that are processed at a time: a multiple of the size of every element type.
const ELEMENT_BYTES_AT_ONCE: u64 = 64 * 1024;

/// Options for [`get`] and [`get_to`]: the part of an array, the format, and the checks.
#[derive(Debug, Clone, Default)]
pub struct GetOptions {
    /// Part of the array, such as `0:10,:,3`, in the order of its description's shape.
    pub slice: Option<String>,
    /// Format of the array. If `None`, [`get`] uses the extension of the output's name; without an extension, and in
    /// [`get_to`], the member is copied unchanged.
    pub format: Option<ArrayFormat>,
    /// Whether text has the numbers as they are stored, without scale and offset, dates, names and missing values.
    pub raw: bool,
    /// Whether to skip the check against the manifest. For a slice, only its own bytes are then read. If the pack has
    /// block digests, the check of a slice reads only its blocks.
    pub unverified: bool,
    /// Whether to replace an existing file.
    pub force: bool,
    /// Maximum number of bytes to write; unlimited if `None`.
    pub max_size: Option<u64>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

impl GetOptions {
    fn check(&self) -> Result<()> {
        match self.format.filter(|format| format.holds_many()) {
            Some(many) => Err(Error::options(format!(
                "a .{many} file cannot be the output: it contains several arrays"
            ))),
            None => Ok(()),
        }
    }

    /// Returns the format in which a member is written to a file. A file that is not an array is copied unchanged for
    /// any name of the output.
    fn format_of(&self, member: &str, output: &Path) -> Result<Option<ArrayFormat>> {
        use ArrayFormat::{Csv, Json, Npy, Png, Ra};
        let is_array = self.slice.is_some() || pack::is_array(member);
        if self.format.is_some() || output.extension().is_none() || !is_array {
            return Ok(self.format);
        }
        match ArrayFormat::from_extension(output) {
            Some(Ra) => Ok(None),
            Some(format @ (Npy | Png | Csv | Json)) => Ok(Some(format)),
            _ => {
                let reason = "has no known extension; use .ra, .npy, .png, .csv or .json, or set ";
                Err(Error::wrong_target(output, Message::from(reason).option("format")))
            }
        }
    }
}

/// The array or file that was exported.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct GetReport {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// Name of the member.
    pub member: String,
    /// Number of bytes written.
    pub bytes: u64,
    /// Whether the manifest lists the content and confirms it.
    pub verified: bool,
    /// Number of blocks whose digests confirm a slice; absent if the whole file was checked, or nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// Size of the whole file in bytes, if all of it was read to check a slice; absent otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_bytes: Option<u64>,
    /// The description that was written next to a RawArray file; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description_file: Option<PathBuf>,
    /// Facts of the array that the output cannot express, one sentence each.
    pub losses: Vec<String>,
    /// Files next to the output that an interrupted run left. You can delete them. They are searched only if this run
    /// also needed a temporary name.
    pub leftovers: Vec<PathBuf>,
}

/// Writes one member of `archive`, or a part of an array, to the file `output`. [`Pack::resolve`] completes the name of
/// the member. The output appears under its name when it is complete and the content matches the manifest. The
/// description of an array is written next to a `.ra` file.
///
/// # Errors
///
/// As [`Pack::resolve`]; [`Error::Damaged`] if the member is damaged; [`Error::AlreadyExists`] if the output exists and
/// `force` is false; [`Error::Interchange`] if the format cannot express the array; [`Error::Limit`] if the output is
/// larger than `max_size`.
///
/// ```no_run
/// use ra_pack::convert::ArrayFormat;
/// use ra_pack::get;
/// use ra_pack::convert::GetOptions;
///
/// let options = GetOptions {
///     slice: Some("0:10, :".to_owned()),
///     format: Some(ArrayFormat::Npy),
///     ..GetOptions::default()
/// };
/// let report = get("exp.zip", "run1/t.ra", "t.npy", &options)?;
/// println!("{} bytes, lost: {:?}", report.bytes, report.losses);
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn get(
    archive: impl AsRef<Path>,
    member: &str,
    output: impl AsRef<Path>,
    options: &GetOptions,
) -> Result<GetReport> {
    let (archive, output) = (archive.as_ref(), output.as_ref());
    check_apart(archive, output)?;
    options.check()?;
    let pack = open(archive, member, options)?;
    let member = &*pack.resolve(member)?;
    let options = &GetOptions { format: options.format_of(member, output)?, ..options.clone() };
    let pending = PendingFile::begin(output, options.force)?;
    let mut out = LimitedWriter::new(pending.file(), options);
    let mut written = out.judge(|out| write(&pack, member, options, (output, output), out))?;
    let count = out.count;
    let description = description_of(&pack.array(member)?, &mut written, output, options)?;
    let mut report = report(archive, member, count, written);
    // An array without its description may be read in the wrong order.
    if let Some((path, description)) = description {
        description.complete()?;
        report.description_file = Some(path);
    }
    pending.complete()?;
    report.leftovers = fs::leftovers(output);
    Ok(report)
}

/// Writes the description of an array that was written to a `.ra` file next to it. Names of dimensions are lost, because
/// their coordinates are in the pack.
fn description_of(
    array: &PackedArray,
    written: &mut Written,
    output: &Path,
    options: &GetOptions,
) -> Result<Option<(PathBuf, PendingFile)>> {
    let is_array = output.extension().is_some_and(|end| end == pack::ARRAY_EXTENSION);
    let Some(header) = written.header.take().filter(|_| is_array) else { return Ok(None) };
    let mut ndarray = match array.description() {
        Ok(Some(ndarray)) => ndarray,
        Ok(None) => return Ok(None),
        Err(error @ (Error::Io { .. } | Error::Interrupted)) => return Err(error),
        Err(error) => {
            written.losses.push(format!("its description is not written: {error}"));
            return Ok(None);
        }
    };
    ndarray.name = name_of(output);
    if let Some(storage) = ndarray.storage.as_mut().filter(|_| options.slice.is_some()) {
        // A part is decoded, with the fastest index first.
        let order = if storage.order == Order::Column { Order::Column } else { Order::Row };
        *storage =
            Storage { order, endian: None, filter: Vec::new(), shape: None, ..storage.clone() };
    }
    written.losses.extend(lost_names(&ndarray.shape, |_| false));
    if ndarray.datatype != Datatype::String {
        let extents = pack::shape_of(header.dims(), ndarray.order());
        ndarray.shape = extents.into_iter().map(Extent::Fixed).collect();
    }
    let path = output.with_extension(pack::DESCRIPTION_EXTENSIONS[0]);
    let text = Document::of(ndarray, false).to_compared_yaml();
    let text = text.map_err(|misread| Error::misread(array.name(), &misread))?;
    let file = PendingFile::begin(&path, options.force)?;
    file.file().write_all_at(text.as_bytes(), 0)?;
    Ok(Some((path, file)))
}

/// Opens the pack, and announces a member that will be read completely.
fn open(archive: &Path, member: &str, options: &GetOptions) -> Result<Pack> {
    let pack = Pack::open_watched(archive, &options.progress)?;
    if options.slice.is_none() || !options.unverified {
        pack.announce(member)?;
    }
    Ok(pack)
}

fn report(archive: &Path, member: &str, bytes: u64, written: Written) -> GetReport {
    GetReport {
        target: archive.to_owned(),
        member: member.to_owned(),
        bytes,
        verified: written.verified,
        blocks: written.blocks,
        checked_bytes: written.checked_bytes,
        description_file: None,
        losses: written.losses,
        leftovers: Vec::new(),
    }
}

/// Writes one member of `archive`, or a part of an array, to `out`. The content is checked against the manifest before
/// the first byte is written, so damaged data never reaches a pipe.
///
/// ```
/// use ra_pack::convert::get_to;
///
/// let mut text = Vec::new();
/// get_to("examples/experiment", "README.md", &mut text, &Default::default())?;
/// assert!(text.starts_with(b"# "));
/// # Ok::<(), ra_pack::Error>(())
/// ```
///
/// # Errors
///
/// As [`get`], and [`Error::Io`] for a broken pipe.
pub fn get_to(
    archive: impl AsRef<Path>,
    member: &str,
    out: &mut dyn Write,
    options: &GetOptions,
) -> Result<GetReport> {
    let archive = archive.as_ref();
    options.check()?;
    let pack = open(archive, member, options)?;
    let member = &*pack.resolve(member)?;
    let names = (STANDARD_OUTPUT.as_ref(), &*std::env::temp_dir().join("get"));
    let write_to = |out: &mut dyn Write| write(&pack, member, options, names, out);
    let mut out = LimitedWriter::new(out, options);
    if options.slice.is_none() && !options.unverified {
        let mut sink = LimitedWriter::new(std::io::sink(), options);
        if passes(options) {
            sink.judge(write_to)?;
        } else {
            sink.judge(|sink| pack.copy_to(member, sink))?;
        }
    }
    let written = out.judge(write_to)?;
    out.flush().map_err(Error::io("write", STANDARD_OUTPUT))?;
    Ok(report(archive, member, out.count, written))
}

fn write(
    pack: &Pack,
    member: &str,
    options: &GetOptions,
    (output, beside): (&Path, &Path),
    out: &mut dyn Write,
) -> Result<Written> {
    if let Some(limit) = options.max_size
        && options.slice.is_none()
        && pack.array(member)?.file_size() > limit
    {
        return Err(too_large(limit));
    }
    if options.slice.is_none() && options.format.is_none() {
        let copied = if options.unverified {
            pack.copy_unverified_to(member, out).map(|_| false)
        } else {
            pack.copy_to(member, out).map(|(_, verified)| verified)
        };
        let verified = copied.map_err(|error| match error {
            Error::Io { action: WRITE_COPY, source, .. } => Error::io("write", output)(source),
            error => error,
        })?;
        let header = || pack.array(member)?.header().cloned();
        let header = match pack::is_array(member).then(header) {
            Some(Err(error @ (Error::Io { .. } | Error::Interrupted))) => return Err(error),
            // An array that cannot be read is copied as it is.
            header => header.and_then(Result::ok),
        };
        return Ok(Written { verified, header, ..Written::default() });
    }
    let mut array = pack.array(member)?;
    if options.unverified {
        array = array.unverified();
    }
    let mut description = if passes(options) { None } else { array.description()? };
    // The part has the fastest index first, for any order of the file.
    if options.slice.is_some()
        && let Some(storage) = description.as_mut().and_then(|ndarray| ndarray.storage.as_mut())
        && storage.order == Order::RowUnreversed
    {
        storage.order = Order::Row;
    }
    let mut write = |header: &Header, data: &mut dyn Read| {
        let failed = |error| Error::io("write", output)(error);
        match options.format {
            None | Some(ArrayFormat::Ra) => out.write_all(&header.encode()).map_err(failed)?,
            Some(ArrayFormat::Raw) => {}
            Some(format) => {
                let description = description.take();
                let names = (output, beside);
                let (raw, progress) = (options.raw, options.progress.clone());
                let options = ConvertOptions { raw, progress, ..ConvertOptions::default() };
                let array = (member, header, description, data);
                return write_array(format, array, out, names, &options);
            }
        }
        std::io::copy(data, out).map_err(failed)?;
        Ok(Vec::new())
    };
    if let Some(text) = &options.slice {
        let (part, written) = slice(pack, array, text, options.unverified)?;
        let mut file = Vec::new();
        part.write_to(&mut file).map_err(Error::io("write", output))?;
        let header = Header::parse(&file);
        let header = header.map_err(|source| Error::array(member.to_owned(), source))?;
        let start = usize::try_from(header.header_len()).expect("the file is in memory");
        let losses = write(&header, &mut file.split_off(start).as_slice())?;
        let header = Some(header).filter(|_| passes(options));
        return Ok(Written { losses, header, ..written });
    }
    write_whole(&array, write)
}

/// Passes all elements, decoded and little-endian, to `write`, which returns the facts that the output cannot express.
fn write_whole(
    array: &PackedArray,
    write: impl FnOnce(&Header, &mut dyn Read) -> Result<Vec<String>>,
) -> Result<Written> {
    let (mut written, mut fault) = (Ok(Vec::new()), None);
    let ((), verified) = array.with_data(true, |header, read_at| {
        let plain = header.decoded();
        let mut at = 0;
        let mut read = |block: &mut Vec<u8>| {
            let left = (plain.data_len() - at).min(ELEMENT_BYTES_AT_ONCE);
            block.resize(usize::try_from(left).expect("a block at most"), 0);
            read_at(at, block)?;
            header.swap_to_native(block)?;
            plain.swap_to_native(block)?;
            at += left;
            Ok(())
        };
        let mut data = BlockReader::new(|block| {
            read(block).map_err(|error: ReadError| {
                fault = Some(error);
                std::io::ErrorKind::Other.into()
            })
        });
        written = write(&plain, &mut data);
        fault.map_or(Ok(()), Err)
    })?;
    Ok(Written { verified, losses: written?, ..Written::default() })
}

/// Returns whether elements are written as they are stored.
fn passes(options: &GetOptions) -> bool {
    matches!(options.format, None | Some(ArrayFormat::Ra | ArrayFormat::Raw))
}

/// The result of writing a member.
#[derive(Default)]
struct Written {
    /// Whether the manifest confirms the elements.
    verified: bool,
    /// Number of blocks whose digests do.
    blocks: Option<u64>,
    /// Size of the whole file in bytes, if it was read to check a slice.
    checked_bytes: Option<u64>,
    /// Facts that the output cannot express.
    losses: Vec<String>,
    /// The header of an array that was written as RawArray.
    header: Option<Header>,
}

/// Reads a slice. Only its own bytes are read, so the whole member is checked before, unless block digests prove it.
fn slice(
    pack: &Pack,
    array: PackedArray,
    text: &str,
    unverified: bool,
) -> Result<(AnyArray, Written)> {
    let is_whole = !unverified && array.block_size()?.is_none();
    let checked = is_whole.then(|| pack.copy_to(array.name(), &mut std::io::sink())).transpose()?;
    let verified = !unverified && checked.is_none_or(|(_, is_listed)| is_listed);
    let checked_bytes = checked.map(|(bytes, _)| bytes);
    let array = array.in_shape_order()?;
    let (header, shape) = (array.header()?, array.shape()?);
    let refused = |error| array.with_dimensions(Error::slice_text(text)(error));
    let elements = parse_slice(text, &shape).map_err(refused)?;
    let taken = resolve_slice(&shape, &elements).map_err(refused)?;
    let width = header.decoded().element().elbyte();
    let counts = taken.iter().map(|axis| u64::try_from(axis.count).unwrap_or(u64::MAX));
    check_memory(&array, counts.fold(width, u64::saturating_mul))?;
    let (part, blocks) = array.part_for_file(&elements)?;
    Ok((part, Written { verified, blocks, checked_bytes, ..Written::default() }))
}

fn too_large(limit: u64) -> Error {
    let problem = format!("the output is larger than {limit} bytes, the limit set by ");
    Error::Limit(Message::from(problem).option("max_size"))
}

/// A writer that stops at the limit or when the operation is cancelled. It counts the bytes itself, because a declared
/// size may be wrong.
struct LimitedWriter<'o, W> {
    inner: W,
    count: u64,
    options: &'o GetOptions,
    is_full: bool,
}

impl<'o, W: Write> LimitedWriter<'o, W> {
    fn new(inner: W, options: &'o GetOptions) -> Self {
        Self { inner, count: 0, options, is_full: false }
    }

    /// Writes with `write`, and returns the error of the limit if that was the cause.
    fn judge<T>(&mut self, write: impl FnOnce(&mut dyn Write) -> Result<T>) -> Result<T> {
        let result = write(self);
        match self.options.max_size.filter(|_| self.is_full) {
            Some(limit) => Err(too_large(limit)),
            None => result,
        }
    }
}

impl<W: Write> Write for LimitedWriter<'_, W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.options.progress.check().map_err(Error::from)?;
        let after = self.count.saturating_add(bytes.len() as u64);
        if self.options.max_size.is_some_and(|limit| after > limit) {
            self.is_full = true;
            return Err(std::io::ErrorKind::FileTooLarge.into());
        }
        let count = self.inner.write(bytes)?;
        self.count = self.count.saturating_add(count as u64);
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

/// Checks that `bytes` bytes of an array may be kept in memory at once.
fn check_memory(array: &PackedArray, bytes: u64) -> Result<()> {
    let limit = array.memory_limit()?;
    if bytes <= limit {
        return Ok(());
    }
    let problem = format!(
        "`{}` needs {bytes} bytes of memory in this format; the limit for an archive of this size is \
         {limit}; choose a part with ",
        escape(array.name())
    );
    let message = Message::from(problem).option("slice");
    Err(Error::Limit(message.text(", or extract it unchanged with `ra-pack extract`")))
}
