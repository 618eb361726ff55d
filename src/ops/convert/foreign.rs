//! Formats of other tools: numpy's `.npy` and `.npz`, ds-format, PNG.

use std::io::{BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use super::data::{Data, PlacedElements, failed};
use super::format::{
    ArraySink, ArraySource, Elements, Form, OutgoingArray, Output, Source, settle,
};
use super::item::{Item, stem};
use super::plan::{is_wanted, no_such_array};
use super::{ConvertOptions, Reinterpret};
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs::{self, File, PendingFile};
use crate::interchange::{self, ds, npy, npz, png};
use crate::ndl::Attribute;
use crate::path::escape;

/// Bytes that are read at once.
const READ: usize = 64 * 1024;

/// Bytes that are written at once.
const WRITTEN: usize = 256 * 1024;

fn watched(path: &Path, options: &ConvertOptions) -> Result<File> {
    Ok(File::open(path)?.watched(&options.progress))
}

/// The array in a file by itself has the file's name.
fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Elements that pass by once, out of the file at `path`.
fn passing<'s>(path: &Path, data: impl Read + 's) -> Elements<'s> {
    Data::Passing(Box::new(data), path.to_string_lossy().into_owned()).into()
}

fn lose_trailing(item: &mut Item, bytes: u64) {
    if bytes > 0 {
        item.losses.push(format!("{bytes} bytes follow its elements"));
    }
}

fn npy_options(options: &ConvertOptions) -> npy::ReadOptions {
    npy::ReadOptions::new()
        .keep_endian(options.keep_endian)
        .bfloat16(options.reinterpret == Some(Reinterpret::BFloat16))
}

pub(super) fn open_npy(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let file = watched(path, options)?;
    let stamp = file.stamp()?;
    let refused = |error| failed(error, "read", path);
    let reader = npy::Reader::with_options(file, &npy_options(options)).map_err(refused)?;
    let name = name_of(path);
    let variable = reader.variable(&name).map_err(refused)?;
    let offset = reader.header().len();
    let before = offset.checked_add(variable.header.data_len());
    let trailing = before.and_then(|before| stamp.len().checked_sub(before));
    let mut item = Item::foreign(name, variable);
    lose_trailing(&mut item, trailing.unwrap_or(0));
    let path = path.to_owned();
    Ok(Source::single(item, move || {
        // A file that is cut off is refused by the reader, with the place.
        if reader.is_verbatim() && trailing.is_some() {
            let placed = PlacedElements::new(reader.into_inner(), offset, Some(stamp));
            return Ok(Data::Placed(placed).into());
        }
        Ok(passing(&path, reader))
    }))
}

struct NpzSource {
    path: PathBuf,
    reader: npz::Reader<BufReader<File>>,
    options: npy::ReadOptions,
    /// The member of each item.
    members: Vec<usize>,
}

pub(super) fn open_npz(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let refused = |error| failed(error, "read", path);
    let file = BufReader::with_capacity(READ, watched(path, options)?);
    let mut reader = npz::Reader::new(file).map_err(refused)?;
    let read = npy_options(options);
    let (mut items, mut members, mut losses) = (Vec::new(), Vec::new(), Vec::new());
    let all = reader.members().to_vec();
    for (index, member) in all.iter().enumerate() {
        let Some(key) = member.key() else {
            losses.push(format!("the member `{}` is no array", escape(member.name())));
            continue;
        };
        if !is_wanted(key, options) {
            continue;
        }
        // Of an array without a name one has to be made up.
        let name = match stem(key) {
            "" => "unnamed",
            name => name,
        };
        let opened = reader.open(index, &read);
        let is_one_of_many = all.len() > 1 && options.member.is_none();
        let array = opened.map_err(|error| refused(way_round(error, is_one_of_many)))?;
        let variable = array.variable(name).map_err(refused)?;
        let end = array.header().len().saturating_add(variable.header.data_len());
        drop(array);
        let mut item = Item::foreign(key.to_owned(), variable);
        // A member that is cut off is refused by its reader.
        lose_trailing(&mut item, member.size().saturating_sub(end));
        items.push(item);
        members.push(index);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        let keys: Vec<_> = all.iter().filter_map(|one| Some(one.key()?.to_owned())).collect();
        return Err(no_such_array(path, member, keys.iter()));
    }
    let reads = Box::new(NpzSource { path: path.to_owned(), reader, options: read, members });
    Ok(Source { items, losses, reads })
}

/// The error with the way to the other arrays, which one that has no counterpart keeps back.
fn way_round(error: interchange::Error, is_one_of_many: bool) -> interchange::Error {
    match error {
        interchange::Error::NoCounterpart { reason, instead } if is_one_of_many => {
            let others =
                "the other arrays can be converted one by one with the option `member: NAME`";
            interchange::Error::no_counterpart(reason, format!("{instead}; {others}"))
        }
        error => error,
    }
}

impl ArraySource for NpzSource {
    fn elements(&mut self, index: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let member = self.members.get(index).expect("each item has a member");
        let opened = self.reader.open(*member, &self.options);
        Ok(passing(&self.path, opened.map_err(|error| failed(error, "read", &self.path))?))
    }
}

struct DsSource {
    path: PathBuf,
    reader: ds::Reader<File>,
    /// The array of each item.
    arrays: Vec<ds::Array>,
}

pub(super) fn open_ds(path: &Path, options: &ConvertOptions) -> Result<Source> {
    let refused = |error| failed(error, "read", path);
    let read = ds::ReadOptions { masks: options.masks };
    let mut reader = ds::Reader::open(watched(path, options)?, read).map_err(refused)?;
    let names: Vec<_> = reader.names().map(str::to_owned).collect();
    let shared = reader.attributes().to_vec();
    let losses = reader.losses().to_vec();
    let no_top = names.iter().all(|name| name.contains('/'));
    let (mut items, mut arrays) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate().filter(|(_, name)| is_wanted(name, options)) {
        let array = reader.array(index).map_err(refused)?;
        let mut item = match array.content.clone() {
            ds::Content::Data(variable) => Item::foreign(name.clone(), variable),
            ds::Content::Inline { description, losses } => {
                Item { losses, ..Item::inline(name.clone(), description, Vec::new()) }
            }
        };
        item.is_coordinate = array.is_coordinate;
        // Attributes of the whole are those of the group at the top, if there is anything in it.
        if no_top || !name.contains('/') {
            item.shared.clone_from(&shared);
        }
        items.push(item);
        arrays.push(array);
    }
    if let (true, Some(member)) = (items.is_empty(), &options.member) {
        return Err(no_such_array(path, member, names.iter()));
    }
    let reads = Box::new(DsSource { path: path.to_owned(), reader, arrays });
    Ok(Source { items, losses, reads })
}

impl ArraySource for DsSource {
    fn elements(&mut self, index: usize, _: &Item, _: &Path) -> Result<Elements<'_>> {
        let array = self.arrays.get(index).expect("each item has an array");
        Ok(passing(&self.path, self.reader.data(array)))
    }
}

pub(super) fn open_png(path: &Path, _: &ConvertOptions) -> Result<Source> {
    let file = BufReader::new(File::open(path)?);
    let reader = png::Reader::open(file, &name_of(path));
    let reader = reader.map_err(|error| failed(error, "read", path))?;
    let item = Item::foreign(name_of(path), reader.variable().clone());
    let path = path.to_owned();
    Ok(Source::single(item, move || Ok(passing(&path, reader))))
}

/// Why an array cannot be written in another format, or not to the file at `path`.
fn unwritable(item: &Item, path: &Path, error: interchange::Error) -> Error {
    let is_io = matches!(error, interchange::Error::Io(_));
    failed(error, "write", if is_io { path } else { item.name.as_ref() })
}

/// A file for a single array, which `write` writes.
struct SingleSink<'o> {
    file: PendingFile,
    options: &'o ConvertOptions,
    write: fn(&File, OutgoingArray<'_>, &ConvertOptions) -> Result<Vec<String>>,
}

impl ArraySink for SingleSink<'_> {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        (self.write)(self.file.file(), array, self.options)
    }

    fn finish(self: Box<Self>, _: &mut Vec<String>) -> Result<u64> {
        settle(self.file)
    }
}

fn npy_write_options(options: &ConvertOptions) -> npy::WriteOptions {
    npy::WriteOptions::new().as_void(options.reinterpret == Some(Reinterpret::Void))
}

pub(super) fn begin_npy<'o>(out: &Output<'o>) -> Result<Box<dyn ArraySink + 'o>> {
    let file = PendingFile::create(out.path, out.options.force)?;
    Ok(Box::new(SingleSink { file, options: out.options, write: write_npy }))
}

fn write_npy(
    out: &File,
    array: OutgoingArray<'_>,
    options: &ConvertOptions,
) -> Result<Vec<String>> {
    let plan = npy::Plan::new(&array.item.to_variable()?, &npy_write_options(options));
    let plan = plan.map_err(|error| unwritable(array.item, out.path(), error))?;
    out.write_all_at(&plan.header.encode(), 0)?;
    let end = plan.header.len() + array.data.len;
    array.data.write_at(out, plan.header.len())?;
    if plan.file_len() > end {
        out.write_all_at(&[0], end)?; // an empty text takes a byte
    }
    Ok(plan.losses)
}

pub(super) fn begin_png<'o>(out: &Output<'o>) -> Result<Box<dyn ArraySink + 'o>> {
    let file = PendingFile::create(out.path, out.options.force)?;
    Ok(Box::new(SingleSink { file, options: out.options, write: write_png }))
}

fn write_png(out: &File, array: OutgoingArray<'_>, _: &ConvertOptions) -> Result<Vec<String>> {
    let variable = array.item.to_variable()?;
    let mut buffered = BufWriter::new(out.writer());
    let written = array.data.read_by(|data| png::write(&variable, data, &mut buffered))?;
    let losses = written.map_err(|error| unwritable(array.item, out.path(), error))?;
    buffered.flush().map_err(Error::io("write", out.path()))?;
    Ok(losses)
}

/// An `.npz` file that is being written.
struct NpzSink {
    file: PendingFile,
    writer: npz::Writer<BufWriter<File>>,
    options: npy::WriteOptions,
}

pub(super) fn begin_npz<'o>(out: &Output<'o>) -> Result<Box<dyn ArraySink + 'o>> {
    let file = PendingFile::create(out.path, out.options.force)?;
    let compression = match out.options.compression {
        None | Some(Compression::Stored) => npz::Compression::Stored,
        Some(_) => npz::Compression::Deflated,
    };
    let inner = BufWriter::with_capacity(WRITTEN, file.file().try_clone()?);
    let writer = npz::Writer::new(inner, compression);
    Ok(Box::new(NpzSink { file, writer, options: npy_write_options(out.options) }))
}

impl ArraySink for NpzSink {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let OutgoingArray { name, item, data, .. } = array;
        let variable = item.to_variable()?;
        let Self { file, writer, options } = self;
        let added = data.read_by(|data| writer.add(name, &variable, data, options))?;
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

/// A `.ds` file that is being written.
///
/// Its header stands before the data and tells how long each of them is, so that everything has to be there
/// before anything is written: it waits in one file without a name.
struct DsSink {
    file: PendingFile,
    writer: ds::Writer<'static>,
    /// The elements of all arrays, one after the other, and where they end.
    scratch: File,
    end: u64,
    /// What is said of the whole.
    shared: Vec<Attribute>,
    losses: Vec<String>,
}

pub(super) fn begin_ds<'o>(out: &Output<'o>) -> Result<Box<dyn ArraySink + 'o>> {
    // Elements that are missing in such a file stay missing: the fill was made up on the way.
    let write = ds::WriteOptions { mask_fill: out.options.masks || out.from == Form::Ds };
    Ok(Box::new(DsSink {
        file: PendingFile::create(out.path, out.options.force)?,
        writer: ds::Writer::new(write),
        scratch: fs::scratch_file(out.path)?,
        end: 0,
        shared: Vec::new(),
        losses: Vec::new(),
    }))
}

impl DsSink {
    /// Takes over what is said of a whole group: there is only one here.
    fn share(&mut self, item: &Item) {
        for attribute in &item.shared {
            match self.shared.iter().find(|other| other.name == attribute.name) {
                None => self.shared.push(attribute.clone()),
                Some(same) if same == attribute => {}
                Some(_) => self.losses.push(format!(
                    "the attribute `{}` of the group of `{}` is said otherwise of another group",
                    escape(&attribute.name),
                    escape(&item.name)
                )),
            }
        }
    }
}

impl ArraySink for DsSink {
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>> {
        let OutgoingArray { item, data, .. } = array;
        self.share(item);
        let (variable, len, at) = (item.to_variable()?, data.len, self.end);
        data.write_at(&self.scratch, at)?;
        self.end = at + len;
        let scratch = self.scratch.try_clone()?;
        let open = move || {
            let elements = PlacedElements::new(scratch.try_clone()?, at, None);
            Ok(Box::new(elements.into_reader(len)) as Box<dyn Read>)
        };
        let announced = self.writer.array(&variable, item.is_coordinate, open);
        announced.map_err(|error| unwritable(item, self.file.file().path(), error))?;
        Ok(Vec::new())
    }

    fn inline(&mut self, _: &str, item: &Item) -> Result<()> {
        self.share(item);
        let announced = self.writer.inline(&item.description, item.is_coordinate);
        announced.map_err(|error| unwritable(item, self.file.file().path(), error))
    }

    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64> {
        let Self { file, mut writer, shared, losses: mut lost, .. } = *self;
        let path = file.file().path();
        let failed = |error| failed(error, "write", path);
        writer.attributes(&shared).map_err(failed)?;
        losses.append(&mut lost);
        losses.extend_from_slice(writer.losses());
        let mut out = BufWriter::with_capacity(WRITTEN, file.file().writer());
        writer.write_to(&mut out).map_err(failed)?;
        out.flush().map_err(Error::io("write", path))?;
        drop(out);
        settle(file)
    }
}
