//! Formats of other tools: NumPy's `.npy` and `.npz`, ds-format, PNG.

use std::io::{BufReader, BufWriter, Read, Seek, Write};
use std::path::Path;

use super::data::{Arranged, ElementSource, failed};
use super::destination::Destination;
use super::format::ArrayFormat;
use super::item::ArrayItem;
use super::names::{NAMELESS, member_name, name_of};
use super::options::ConvertOptions;
use super::single::{WRITTEN, unwritable, write_file, write_single};
use super::sink::{ArraySink, WriteArrays, settle};
use super::source::{SourceArrays, TakeElements, is_wanted, no_such_array};
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingFile};
#[cfg(feature = "full")]
use crate::interchange::png;
use crate::interchange::{self, ExportOptions, ImportOptions, ds, npy, npz};
use crate::ndl::{Datatype, Extent, Ndarray, Order};
use crate::path::{escape, file_name};
use crate::ra::Header;

/// Number of bytes read at once.
const READ: usize = 64 * 1024;

fn watched(path: &Path, options: &ConvertOptions) -> Result<File> {
    Ok(File::open(path)?.watched(&options.progress))
}

/// Makes a stream of elements from the file at `path`.
fn passing<'s>(path: &Path, data: impl Read + 's) -> ElementSource<'s> {
    ElementSource::passing(data, &path.to_string_lossy())
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
        Ok(if reader.is_verbatim() && trailing.is_some() {
            ElementSource::placed(reader.into_inner(), offset, len, stamp)
        } else {
            passing(&path, reader)
        })
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
        let name = Some(file_name(key)).filter(|name| !name.is_empty()).unwrap_or(NAMELESS);
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
        take(passing(&path, opened), false)
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
            let instead = instead.text("; convert other arrays one by one with ");
            let instead = instead.option(("member", "NAME"));
            let source = interchange::FormatError::no_counterpart(reason, instead);
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
        take(passing(&path, reader.data(array)), false)
    });
    Ok(SourceArrays::new(items, losses, give))
}

pub(super) fn open_png(path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    let file = BufReader::new(watched(path, options)?);
    let reader = png::PngReader::open(file, &name_of(path));
    let reader = reader.map_err(|error| failed(error, "read", path))?;
    let item = ArrayItem::foreign(ArrayFormat::Png, name_of(path), reader.variable().clone());
    let path = path.to_owned();
    Ok(SourceArrays::single(item, move || Ok(passing(&path, reader))))
}

/// A sink for a file of another tool.
struct ForeignSink<'o> {
    file: PendingFile,
    options: &'o ConvertOptions,
    writer: Writer,
}

/// The writer of a format.
enum Writer {
    /// The format is for a single array.
    Single(ArrayFormat),
    Npz(Box<npz::NpzWriter<BufWriter<File>>>),
    Ds(Box<ds::DsWriter<File>>),
}

pub(super) fn begin<'o>(out: &Destination<'o>) -> Result<ArraySink<'o>> {
    let Destination { path, from, to, options, .. } = *out;
    let file = PendingFile::create(path, options.force)?;
    let writer = match to {
        ArrayFormat::Npz => {
            let is_deflated = !matches!(options.compression, None | Some(Compression::Stored));
            let inner = BufWriter::with_capacity(WRITTEN, file.file().try_clone()?);
            Writer::Npz(Box::new(npz::NpzWriter::new(inner, is_deflated)))
        }
        ArrayFormat::Ds => {
            // Elements that are missing in a `.ds` file stay missing: their fill value was made up by the conversion.
            let mask_fill = options.masks || from == ArrayFormat::Ds;
            let write = ExportOptions { mask_fill, ..options.write() };
            let scratch = fs::scratch_file(path, &options.progress)?;
            Writer::Ds(Box::new(ds::DsWriter::new(scratch, write)))
        }
        single => Writer::Single(single),
    };
    Ok(Box::new(ForeignSink { file, options, writer }))
}

impl WriteArrays for ForeignSink<'_> {
    fn array(&mut self, name: &str, item: &ArrayItem, data: Arranged<'_>) -> Result<Vec<String>> {
        let (out, options) = (self.file.file(), self.options);
        let written = match &mut self.writer {
            Writer::Single(to) => return write_file(*to, item, data, out, options),
            Writer::Npz(writer) => {
                let variable = item.to_variable()?;
                data.read_by(|data| Ok(writer.add(name, &variable, data, options.write())?.losses))?
            }
            Writer::Ds(writer) => {
                let variable = item.to_variable()?;
                data.read_by(|data| {
                    writer.attributes(&item.shared, &item.name);
                    writer.array(&variable, item.is_coordinate, data).map(|()| Vec::new())
                })?
            }
        };
        written.map_err(|error| unwritable(item, out.path(), error))
    }

    fn inline(&mut self, _: &str, item: &ArrayItem) -> Result<()> {
        let Writer::Ds(writer) = &mut self.writer else { return item.to_variable().map(drop) };
        writer.attributes(&item.shared, &item.name);
        let added = writer.inline(&item.description, item.is_coordinate);
        added.map_err(|error| unwritable(item, self.file.file().path(), error))
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { file, writer, .. } = *self;
        let written = match writer {
            Writer::Single(_) => Ok(()),
            Writer::Npz(writer) => writer.finish().and_then(|mut out| Ok(out.flush()?)),
            Writer::Ds(writer) => {
                losses.extend_from_slice(writer.losses());
                let mut out = BufWriter::with_capacity(WRITTEN, file.file());
                writer.write_to(&mut out).and_then(|()| Ok(out.flush()?))
            }
        };
        written.map_err(|error| failed(error, "write", file.file().path()))?;
        settle(file)
    }
}

/// Writes the elements of an array with this header, decoded and little-endian, to `out`, and returns the facts that
/// the output cannot express. Errors use the name `output`. Elements that must be reordered are staged in a file next
/// to the second path.
pub(crate) fn write_array(
    format: ArrayFormat,
    (member, header, description, data): (&str, &Header, Option<Ndarray>, &mut dyn Read),
    out: &mut dyn Write,
    (output, beside): (&Path, &Path),
    options: &ConvertOptions,
) -> Result<Vec<String>> {
    let mut item = ArrayItem::rawarray(member_name(member).to_owned(), header, description, false)?;
    // Text and raw elements are not expected to contain metadata.
    let is_file_of_arrays = matches!(format, ArrayFormat::Npy | ArrayFormat::Png);
    let losses = item.fix_extents(|_| false).filter(|_| is_file_of_arrays);
    let is_text = item.description.datatype == Datatype::String;
    if !(is_text && item.description.shape.is_empty()) {
        item.description.shape = item.extents().into_iter().map(Extent::Fixed).collect();
        if let Some(storage) = &mut item.description.storage {
            storage.shape = None;
        }
    }
    let before = item.to_variable()?.header;
    let reverse = format.is_row_only() && item.put_in(Order::Row);
    let data = ElementSource::passing(data, member);
    let data = Arranged::new(data, &before, reverse, beside, options);
    let variable = item.to_variable()?;
    let written = data.read_by(|data| write_single(format, &variable, data, out, options))?;
    let written = written.map_err(|source| match source {
        interchange::FormatError::Io(error) => Error::io("write", output)(error),
        source => Error::Interchange { name: member.to_owned(), source },
    })?;
    Ok(losses.into_iter().chain(written).collect())
}
