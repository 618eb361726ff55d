//! Formats of other tools: NumPy's `.npy` and `.npz`, ds-format, PNG.

use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use super::data::{ElementSource, Metadata, PlacedElements, failed};
use super::names::NAMELESS;
use super::plan::{ArrayItem, is_wanted, name_of, no_such_array, stem};
use super::text::{write_csv, write_json};
use super::{
    ArrayFormat, ArraySink, ConvertOptions, Destination, OutgoingArray, SourceArrays, TakeElements,
    WriteArrays, settle,
};
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingFile};
#[cfg(feature = "full")]
use crate::interchange::png;
use crate::interchange::{self, ExportOptions, ImportOptions, Variable, ds, npy, npz};
use crate::path::escape;

/// Number of bytes read at once.
const READ: usize = 64 * 1024;

/// Number of bytes written at once.
const WRITTEN: usize = 256 * 1024;

fn watched(path: &Path, options: &ConvertOptions) -> Result<File> {
    Ok(File::open(path)?.watched(&options.progress))
}

/// Makes a stream of elements from the file at `path`.
fn passing<'s>(path: &Path, data: impl Read + 's) -> ElementSource<'s> {
    ElementSource::Passing(Box::new(data), path.to_string_lossy().into_owned())
}

fn lose_trailing(item: &mut ArrayItem, bytes: u64) {
    if bytes > 0 {
        item.losses.push(format!("{bytes} bytes after its elements are lost"));
    }
}

pub(super) fn open_npy(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let file = watched(path, options)?;
    let stamp = file.stamp()?;
    let refused = |error| failed(error, "read", path);
    let reader = npy::NpyReader::new(file, options.read()).map_err(refused)?;
    let name = name_of(path);
    let variable = reader.variable(&name).map_err(refused)?;
    let (offset, len) = (reader.header().len, variable.header.data_len());
    let before = offset.checked_add(len);
    let trailing = before.and_then(|before| stamp.len().checked_sub(before));
    let mut item = ArrayItem::foreign(ArrayFormat::Npy, name, variable);
    lose_trailing(&mut item, trailing.unwrap_or(0));
    let path = path.to_owned();
    Ok(SourceArrays::single(item, move || {
        // The reader reports a truncated file with the offset.
        if reader.is_verbatim() && trailing.is_some() {
            let placed = PlacedElements::new(reader.into_inner(), offset, len, stamp);
            return Ok((ElementSource::Placed(placed), Metadata::default()));
        }
        Ok((passing(&path, reader), Metadata::default()))
    }))
}

pub(super) fn open_npz(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let refused = |error| failed(error, "read", path);
    let file = BufReader::with_capacity(READ, watched(path, options)?);
    let mut reader = npz::NpzReader::new(file).map_err(refused)?;
    let read = options.read();
    let (mut items, mut members) = (Vec::new(), Vec::new());
    let (mut losses, mut unread) = (Vec::new(), Vec::new());
    let all = reader.members().to_vec();
    for (index, member) in all.iter().enumerate() {
        let Some(key) = member.key() else {
            losses.push(format!("the member `{}` is not an array", escape(&member.name)));
            continue;
        };
        if !is_wanted(key, options) {
            continue;
        }
        // An array without a name needs one here.
        let name = Some(stem(key)).filter(|name| !name.is_empty()).unwrap_or(NAMELESS);
        match npz_item(&mut reader, (index, member), (key, name), read) {
            Ok(item) => {
                items.push(item);
                members.push(index);
            }
            Err(error) => unread.push((key.to_owned(), refused(error))),
        }
    }
    if let (true, true, Some(member)) = (items.is_empty(), unread.is_empty(), &options.member) {
        let keys: Vec<_> = all.iter().filter_map(|one| Some(one.key()?.to_owned())).collect();
        return Err(no_such_array(path, member, keys.iter()));
    }
    let path = path.to_owned();
    let give = Box::new(move |index: usize, _: &Path, take: &mut TakeElements<'_>| {
        let member = *members.get(index).expect("each item comes from a member");
        let opened = reader.open(member, read).map_err(|error| failed(error, "read", &path))?;
        take(passing(&path, opened), Metadata::default(), false)
    });
    Ok(SourceArrays { failed: unread, ..SourceArrays::new(items, losses, give) })
}

/// Makes the item for a member of an `.npz`, which has a key and a name.
fn npz_item<R: Read + Seek>(
    reader: &mut npz::NpzReader<R>,
    (index, member): (usize, &npz::NpzMember),
    (key, name): (&str, &str),
    read: ImportOptions,
) -> Result<ArrayItem, interchange::FormatError> {
    let array = reader.open(index, read)?;
    let variable = array.variable(name)?;
    let end = array.header().len.saturating_add(variable.header.data_len());
    let mut item = ArrayItem::foreign(ArrayFormat::Npz, key.to_owned(), variable);
    // The reader reports a truncated member.
    lose_trailing(&mut item, member.size.saturating_sub(end));
    Ok(item)
}

/// Adds a hint to the error of an array in an `.npz` that cannot be converted.
pub(super) fn suggest_member(error: Error) -> Error {
    match error {
        Error::Interchange {
            name,
            source: interchange::FormatError::NoCounterpart { reason, instead },
        } => {
            let others = "convert other arrays one by one with the option `member: NAME`";
            let source =
                interchange::FormatError::no_counterpart(reason, format!("{instead}; {others}"));
            Error::Interchange { name, source }
        }
        error => error,
    }
}

pub(super) fn open_ds(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let refused = |error| failed(error, "read", path);
    let mut reader =
        ds::DsReader::open(watched(path, options)?, options.read()).map_err(refused)?;
    let names: Vec<_> = reader.names().map(str::to_owned).collect();
    let shared = reader.attributes().to_vec();
    let losses = reader.losses().to_vec();
    let no_top = names.iter().all(|name| name.contains('/'));
    let (mut items, mut arrays) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name, options)) {
        let array = reader.array(index).map_err(refused)?;
        let mut item = ArrayItem {
            header: array.header.clone(),
            is_coordinate: array.is_coordinate,
            losses: array.losses.clone(),
            ..ArrayItem::inline(ArrayFormat::Ds, name.clone(), array.description.clone())
        };
        // Attributes of the file belong to the root group, if it has arrays.
        if no_top || !name.contains('/') {
            item.shared.clone_from(&shared);
        }
        items.push(item);
        arrays.push(array);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        return Err(no_such_array(path, member, names.iter()));
    }
    let path = path.to_owned();
    let give = Box::new(move |index: usize, _: &Path, take: &mut TakeElements<'_>| {
        let array = arrays.get(index).expect("each item comes from an array");
        take(passing(&path, reader.data(array)), Metadata::default(), false)
    });
    Ok(SourceArrays::new(items, losses, give))
}

pub(super) fn open_png(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let file = BufReader::new(watched(path, options)?);
    let reader = png::PngReader::open(file, &name_of(path));
    let reader = reader.map_err(|error| failed(error, "read", path))?;
    let item = ArrayItem::foreign(ArrayFormat::Png, name_of(path), reader.variable().clone());
    let path = path.to_owned();
    Ok(SourceArrays::single(item, move || Ok((passing(&path, reader), Metadata::default()))))
}

/// Makes the error for an array that cannot be written in another format, or to the file at `path`.
fn unwritable(item: &ArrayItem, path: &Path, error: interchange::FormatError) -> Error {
    let is_io = matches!(error, interchange::FormatError::Io(_));
    failed(error, "write", if is_io { path } else { item.name.as_ref() })
}

/// Writes the elements of an array in order, and returns the facts that the output cannot express.
pub(super) type WriteOne = fn(&Variable, &mut dyn Read, &mut dyn Write, &ConvertOptions) -> Losses;

type Losses = Result<Vec<String>, interchange::FormatError>;

/// A sink for a file with a single array.
struct SingleSink<'o> {
    file: PendingFile,
    options: &'o ConvertOptions,
    write: WriteOne,
}

pub(super) fn begin_single<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let file = PendingFile::create(out.path, out.options.force)?;
    let write = out.to.writer();
    Ok(Box::new(SingleSink { file, options: out.options, write }))
}

impl WriteArrays for SingleSink<'_> {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let (out, item, options) = (self.file.file(), array.item, self.options);
        let variable = item.to_variable()?;
        let unwritable = |error| unwritable(item, out.path(), error);
        let mut buffered = BufWriter::with_capacity(WRITTEN, out);
        let write = |data: &mut dyn Read| (self.write)(&variable, data, &mut buffered, options);
        let written = array.data.read_by(write)?;
        buffered.flush().map_err(Error::io("write", out.path()))?;
        written.map_err(unwritable)
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        settle(self.file)
    }
}

pub(super) const WRITE_NPY: WriteOne =
    |variable, data, out, options| Ok(npy::write(out, variable, data, options.write())?.losses);
pub(super) const WRITE_PNG: WriteOne = |variable, data, out, _| png::write(variable, data, out);
pub(super) const WRITE_RAW: WriteOne =
    |_, data, out, _| Ok(std::io::copy(data, out).map(|_| Vec::new())?);
pub(super) const WRITE_CSV: WriteOne =
    |variable, data, out, _| write_csv(variable, data, out).map(|()| Vec::new());
pub(super) const WRITE_JSON: WriteOne =
    |variable, data, out, _| write_json(variable, data, out).map(|()| Vec::new());

/// A sink for an `.npz` file.
struct NpzSink {
    file: PendingFile,
    writer: npz::NpzWriter<BufWriter<File>>,
    options: ExportOptions,
}

pub(super) fn begin_npz<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let file = PendingFile::create(out.path, out.options.force)?;
    let is_deflated = !matches!(out.options.compression, None | Some(Compression::Stored));
    let inner = BufWriter::with_capacity(WRITTEN, file.file().try_clone()?);
    let writer = npz::NpzWriter::new(inner, is_deflated);
    Ok(Box::new(NpzSink { file, writer, options: out.options.write() }))
}

impl WriteArrays for NpzSink {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let OutgoingArray { name, item, data, .. } = array;
        let variable = item.to_variable()?;
        let Self { file, writer, options } = self;
        let added = data.read_by(|data| writer.add(name, &variable, data, *options))?;
        let plan = added.map_err(|error| unwritable(item, file.file().path(), error))?;
        Ok(plan.losses)
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        let Self { file, writer, .. } = *self;
        let path = file.file().path();
        let mut out = writer.finish().map_err(|error| failed(error, "write", path))?;
        out.flush().map_err(Error::io("write", path))?;
        drop(out);
        settle(file)
    }
}

/// A sink for a `.ds` file.
struct DsSink {
    file: PendingFile,
    writer: ds::DsWriter<File>,
}

pub(super) fn begin_ds<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    // Elements that are missing in a `.ds` file stay missing: their fill value was made up by the conversion.
    let mask_fill = out.options.masks || out.from == ArrayFormat::Ds;
    let write = ExportOptions { mask_fill, ..out.options.write() };
    let file = PendingFile::create(out.path, out.options.force)?;
    let writer = ds::DsWriter::new(fs::scratch_file(out.path, &out.options.progress)?, write);
    Ok(Box::new(DsSink { file, writer }))
}

impl WriteArrays for DsSink {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let OutgoingArray { item, data, .. } = array;
        self.writer.attributes(&item.shared, &item.name);
        let variable = item.to_variable()?;
        let added = data.read_by(|data| self.writer.array(&variable, item.is_coordinate, data))?;
        added.map_err(|error| unwritable(item, self.file.file().path(), error))?;
        Ok(Vec::new())
    }

    fn inline(&mut self, _: &str, item: &ArrayItem) -> Result<()> {
        self.writer.attributes(&item.shared, &item.name);
        let added = self.writer.inline(&item.description, item.is_coordinate);
        added.map_err(|error| unwritable(item, self.file.file().path(), error))
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { file, writer } = *self;
        let path = file.file().path();
        losses.extend_from_slice(writer.losses());
        let mut out = BufWriter::with_capacity(WRITTEN, file.file());
        writer.write_to(&mut out).map_err(|error| failed(error, "write", path))?;
        out.flush().map_err(Error::io("write", path))?;
        drop(out);
        settle(file)
    }
}
