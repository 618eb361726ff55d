//! Conversion of arrays between formats: one file, several files to one, or a pack.
//!
//! The names of all outputs and the elements to reorder are determined before the first element is read. Elements are
//! then copied in blocks, so memory does not depend on their number.

mod data;
mod foreign;
mod format;
mod get;
mod names;
mod plan;
mod rawarray;
mod refs;
mod report;
mod sink;
mod text;
mod tree;

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use self::data::{Arranged, ElementSource, Metadata};
pub use self::format::{ArrayFormat, UnknownFormat};
pub use self::get::{GetOptions, GetReport, get, get_to};
use self::plan::{ArrayItem, PlannedArray};
pub use self::refs::{RefsOptions, RefsReport, SkippedArray, refs_to, write_refs};
pub use self::report::{ConvertReport, Converted, Unconverted};
use crate::archive::{Compression, Container};
use crate::error::{Error, Result};
use crate::fs::{self, PendingFile};
use crate::interchange::{self, ExportOptions, ImportOptions};
use crate::ndl::{Datatype, Extent, Ndarray, Order};
use crate::pack::{ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS, EXTERNAL_MANIFEST_SUFFIX};
use crate::path::{escape, escape_path};
use crate::progress::Progress;
use crate::ra::Header;

/// Converts the arrays at `input` to the format of `output`. The output appears under its name when it is complete, and
/// replaces an existing one only with [`force`](ConvertOptions::force).
///
/// A directory is converted with everything below it: arrays in any format that can be read keep their names, and other
/// files are copied. Files that cannot be converted are [reported](ConvertReport::failed); the others are converted. If
/// the output is an existing directory, arrays are added to it.
///
/// Row-major data is transposed to column-major RawArray unless [`order`](ConvertOptions::order) is set. Indexing does
/// not change: the same index selects the same element. Conversion takes about 50 MB of memory for files of any size.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ra_pack::convert;
/// use ra_pack::convert::ConvertOptions;
///
/// # let directory = tempfile::tempdir()?;
/// # let out = directory.path().join("velocity");
/// let report = convert("examples/experiment", &out, &ConvertOptions::default())?;
/// assert!(report.arrays.iter().any(|array| array.to == "currents/velocity.ra"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// [`Error::Array`] or [`Error::Interchange`] if the input is not valid in its format, or if the output format cannot
/// express an array; [`Error::AlreadyExists`] if the output exists; [`Error::Refused`] if descriptions are not valid;
/// [`Error::Unsupported`] for options that do not fit the formats. Nothing is written in case of an error.
pub fn convert(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ConvertReport> {
    convert_all([input], output, options)
}

/// Converts several inputs to one output, which is a directory or a file format for several arrays.
///
/// In the output, a directory keeps its name, a file with several arrays becomes a directory with its name, and files
/// without arrays are copied. A single input is converted as by [`convert`].
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ra_pack::convert::{ConvertOptions, convert_all};
///
/// # let directory = tempfile::tempdir()?;
/// # let out = directory.path().join("mine");
/// let arrays = ["depth.ra", "temperature.ra"].map(|name| format!("examples/experiment/thermistors/{name}"));
/// let report = convert_all(arrays, &out, &ConvertOptions::default())?;
/// assert_eq!(report.arrays.len(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// As [`convert`].
pub fn convert_all<P: AsRef<Path>>(
    inputs: impl IntoIterator<Item = P>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ConvertReport> {
    let inputs: Vec<_> = inputs.into_iter().collect();
    let inputs: Vec<_> = inputs.iter().map(AsRef::as_ref).collect();
    let output = output.as_ref();
    let [input, more @ ..] = &inputs[..] else {
        return Err(Error::Unsupported("no input to convert".to_owned()));
    };
    let from = match options.from {
        _ if !more.is_empty() => ArrayFormat::Pack(Container::Directory),
        Some(from) => from,
        None => ArrayFormat::of_input(input)?,
    };
    let to = options.to.map_or_else(|| ArrayFormat::of_output(output), Ok)?;
    options.check(from, to)?;
    let out = Destination { path: output, from, to, options };
    out.check_inputs(&inputs)?;
    let mut source = if more.is_empty() {
        from.open(input, options)?
    } else {
        tree::open_all(&inputs, options)?
    };
    // In a directory, a file that cannot be converted or copied does not stop the others.
    let goes_on = from == ArrayFormat::Pack(Container::Directory)
        && matches!(to, ArrayFormat::Pack(_))
        && options.member.is_none();
    let planned = match plan::plan(&mut source, input, &out) {
        // No array is left; the report lists the reasons.
        Err(error) if source.failed.is_empty() => return Err(error),
        Err(_) => return Err(first_of(source.failed)),
        Ok(_) if !goes_on && !source.failed.is_empty() => {
            let error = first_of(source.failed);
            return Err(if from == ArrayFormat::Npz {
                foreign::suggest_member(error)
            } else {
                error
            });
        }
        Ok(planned) => planned,
    };
    out.check_names(&planned, &source.others)?;

    let mut losses = std::mem::take(&mut source.losses);
    let mut failed = std::mem::take(&mut source.failed);
    let (mut sink, kept_metadata) = out.begin(planned.len())?;
    sink.announce(&planned)?;
    let progress = &options.progress;
    let sizes = planned.iter().filter_map(|planned| Some(planned.original.as_ref()?.data_len()));
    let all = sizes.fold(0, u64::saturating_add); // sizes from headers, used only for progress
    // Fewer bytes are read of a compressed input.
    let most = fs::file_len(input).filter(|_| more.is_empty()).unwrap_or(u64::MAX);
    progress.stage("converting", all.min(most), (planned.len() + source.others.len()) as u64);
    let is_of_input = |error: &Error| match error {
        Error::Interrupted | Error::AlreadyExists { .. } => false,
        Error::Io { path, .. } => inputs.iter().any(|input| path.starts_with(input)),
        _ => true,
    };
    let mut arrays = Vec::with_capacity(planned.len());
    for planned in planned {
        progress.at(&planned.name);
        let name = planned.converted.from.clone();
        match out.convert_one(planned, &mut source, &mut *sink, kept_metadata.as_ref()) {
            Ok(converted) => arrays.push(converted),
            Err(error) if goes_on && is_of_input(&error) => failed.push((name, error)),
            Err(error) => return Err(error),
        }
        progress.done(1);
    }
    if arrays.is_empty() && !failed.is_empty() {
        return Err(first_of(failed));
    }
    let mut copied = Vec::new();
    for other in &source.others {
        progress.at(&other.name);
        match sink.other(other) {
            Ok(()) if other.copy.is_some() => copied.push(other.name.clone()),
            Ok(()) => {}
            Err(error) if goes_on && is_of_input(&error) => {
                failed.push((other.name.clone(), error));
            }
            Err(error) => return Err(error),
        }
        progress.done(1);
    }
    if let Some(file) = kept_metadata {
        settle(file)?;
    }
    progress.check()?;
    let bytes = sink.finish(&mut losses)?;
    let failed = failed.into_iter().map(|(name, error)| Unconverted::new(name, error)).collect();
    let (input, output, leftovers) = ((*input).to_owned(), output.to_owned(), out.leftovers());
    Ok(ConvertReport { input, from, output, to, arrays, copied, failed, losses, bytes, leftovers })
}

/// Returns the error of a conversion that stops at the first one. Problems of one directory are joined.
fn first_of(failed: Vec<(String, Error)>) -> Error {
    let mut errors = failed.into_iter().map(|(_, error)| error);
    let mut first = errors.next().expect("something failed");
    for error in errors {
        if let (Error::Refused { path, findings }, Error::Refused { path: at, findings: more }) =
            (&mut first, error)
            && *path == at
        {
            findings.extend(more);
        }
    }
    first
}

/// Options for [`convert`] and [`convert_all`]: formats, the order of elements, and metadata that a format cannot
/// express.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// Format of the input; determined by its name if `None`.
    pub from: Option<ArrayFormat>,
    /// Format of the output; determined by its name if `None`.
    pub to: Option<ArrayFormat>,
    /// The only array to convert; all arrays if `None`.
    pub member: Option<String>,
    /// Order of the elements in the output: [`Order::Column`] (first index fastest) or [`Order::Row`] (last index
    /// fastest). If `None`, arrays in other formats become column-major RawArray, and other arrays keep their order if
    /// the output format allows.
    pub order: Option<Order>,
    /// Whether to keep big-endian numbers and describe them as such. By default their bytes are swapped.
    pub keep_endian: bool,
    /// Whether to drop the bytes that follow the elements of a RawArray. By default another RawArray keeps them.
    pub drop_metadata: bool,
    /// File for the bytes that follow the elements, if a single RawArray is converted.
    pub keep_metadata: Option<PathBuf>,
    /// Another meaning for elements of types that a format does not have.
    pub reinterpret: Option<Reinterpret>,
    /// Whether to convert the masks of a `.ds` to arrays `NAME.mask`, and missing elements back to masks.
    pub masks: bool,
    /// Compression of the members of an `.npz` or of an archive; stored if `None`.
    pub compression: Option<Compression>,
    /// Whether to turn 1-D arrays without a description whose name is that of a coordinate, such as `time` or `lat`,
    /// into coordinates. Dimensions of other arrays with the same length get their names.
    pub dimcoords: bool,
    /// Whether to leave out the files of a directory that contain no arrays. By default they are copied.
    pub arrays_only: bool,
    /// Whether to replace existing files.
    pub force: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// Another meaning for elements of types that a format does not have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reinterpret {
    /// Reads NumPy's `V2`, as saved by `ml_dtypes`, as bfloat16.
    BFloat16,
    /// Writes elements of types that NumPy does not have as untyped bytes (`Vn`).
    Void,
}

impl ConvertOptions {
    fn read(&self) -> ImportOptions {
        let bfloat16 = self.reinterpret == Some(Reinterpret::BFloat16);
        ImportOptions { keep_endian: self.keep_endian, bfloat16, masks: self.masks }
    }

    fn write(&self) -> ExportOptions {
        let as_void = self.reinterpret == Some(Reinterpret::Void);
        ExportOptions { as_void, mask_fill: self.masks }
    }

    /// Checks that each option is meaningful for these formats.
    fn check(&self, from: ArrayFormat, to: ArrayFormat) -> Result<()> {
        let is_numpy = |form| matches!(form, ArrayFormat::Npy | ArrayFormat::Npz);
        // A directory may contain files of any format.
        let is_tree = from == ArrayFormat::Pack(Container::Directory);
        let is_zstd = matches!(self.compression, Some(Compression::Zstd { .. }));
        let reason = if self.order == Some(Order::RowUnreversed) {
            "the order `row-unreversed` can be read but not written; use column or row".to_owned()
        } else if self.order == Some(Order::Column) && to.is_row_only() {
            format!("a .{to} is always row-major; remove the option `order`")
        } else if self.keep_endian && !to.is_rawarray() && !is_numpy(to) {
            format!("a .{to} cannot be big-endian; remove the option `keep_endian`")
        } else if self.masks && from != ArrayFormat::Ds && to != ArrayFormat::Ds && !is_tree {
            "only a .ds has masks; remove the option `masks`".to_owned()
        } else if self.compression.is_some()
            && !matches!(to, ArrayFormat::Npz | ArrayFormat::Pack(_))
        {
            format!("a .{to} cannot be compressed; remove the option `compression`")
        } else if to == ArrayFormat::Npz && is_zstd {
            "NumPy cannot read Zstandard in an .npz; use stored or deflate".to_owned()
        } else if self.keep_metadata.is_some() && !from.is_rawarray() {
            format!("a .{from} has no trailing metadata to keep")
        } else if self.reinterpret == Some(Reinterpret::BFloat16) && !is_numpy(from) && !is_tree {
            "the option `reinterpret: bfloat16` requires .npy or .npz as input".to_owned()
        } else if self.reinterpret == Some(Reinterpret::Void) && !is_numpy(to) {
            "the option `reinterpret: void` requires .npy or .npz as output".to_owned()
        } else if self.dimcoords && !to.is_rawarray() {
            format!("a .{to} has no dimension names; remove the option `dimcoords`")
        } else {
            return Ok(());
        };
        Err(Error::Unsupported(reason))
    }
}

/// The arrays of a source: first their headers, then the elements of one after the other.
struct SourceArrays {
    /// The arrays; their order is always row-major or column-major.
    items: Vec<ArrayItem>,
    /// Files to copy if the output has files.
    others: Vec<OtherFile>,
    /// Files and arrays that cannot be converted.
    failed: Vec<(String, Error)>,
    /// Other contents that are left out, one sentence each.
    losses: Vec<String>,
    give: Box<GiveElements>,
}

/// A file without arrays.
struct OtherFile {
    /// Its name in the output.
    name: String,
    /// Writes the content; `None` for a directory.
    copy: Option<Box<CopyContent>>,
}

type CopyContent = dyn Fn(&mut dyn Write) -> Result<u64>;

/// Passes the elements of the array at an index to a function. Elements that must be copied to be checked are staged
/// next to the path.
type GiveElements = dyn FnMut(usize, &Path, &mut TakeElements<'_>) -> Result<()>;

/// Takes elements, the bytes after them, and whether a manifest confirms them.
type TakeElements<'t> = dyn FnMut(ElementSource<'_>, Metadata, bool) -> Result<()> + 't;

impl SourceArrays {
    /// Makes a source whose elements `give` provides.
    fn new(items: Vec<ArrayItem>, losses: Vec<String>, give: Box<GiveElements>) -> Self {
        let (others, failed) = <_>::default();
        Self { items, others, failed, losses, give }
    }

    /// Makes a source of a file with a single array, whose elements `read` provides.
    fn single(
        item: ArrayItem,
        read: impl FnOnce() -> Result<(ElementSource<'static>, Metadata)> + 'static,
    ) -> Self {
        let mut read = Some(read);
        let give = Box::new(move |_: usize, _: &Path, take: &mut TakeElements<'_>| {
            let (data, metadata) = read.take().expect("each array is converted once")()?;
            take(data, metadata, false)
        });
        Self::new(vec![item], Vec::new(), give)
    }
}

/// The output of a conversion.
#[derive(Clone, Copy)]
struct Destination<'o> {
    path: &'o Path,
    from: ArrayFormat,
    to: ArrayFormat,
    options: &'o ConvertOptions,
}

/// An array to write.
struct OutgoingArray<'a> {
    name: &'a str,
    item: &'a ArrayItem,
    data: Arranged<'a>,
    /// The bytes that follow the elements, if the format has room for them.
    metadata: Metadata,
}

type ArraySink<'o> = Box<dyn WriteArrays + 'o>;

/// An output for arrays. It appears under its name when it is complete.
trait WriteArrays {
    /// Prepares for all arrays that will be written.
    fn announce(&mut self, _planned: &[PlannedArray]) -> Result<()> {
        Ok(())
    }

    /// Writes one array, and returns the facts that the output cannot express, one sentence each.
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>>;

    /// Writes an array whose elements are all in its description.
    fn inline(&mut self, _name: &str, item: &ArrayItem) -> Result<()> {
        item.to_variable().map(drop)
    }

    /// Writes a file that is not an array, if the format has room for it.
    fn other(&mut self, _other: &OtherFile) -> Result<()> {
        Ok(())
    }

    /// Renames all files, and returns their size in bytes.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

impl<'o> Destination<'o> {
    /// Rejects several inputs for one array, and an output inside an input, which the next run would convert again.
    fn check_inputs(&self, inputs: &[&Path]) -> Result<()> {
        let Self { path, to, .. } = *self;
        let shown = escape_path(path);
        if inputs.len() > 1 && !to.holds_many() {
            return Err(Error::Unsupported(format!(
                "{} inputs require a directory or an archive as output, but `{shown}` is a .{to}; name \
                 the output last, such as `arrays/`",
                inputs.len()
            )));
        }
        let is_within = |input: &&&Path| {
            let is_same = || fs::real_path(input).ok() == fs::real_path(path).ok();
            fs::is_directory(input).is_ok_and(|is| is)
                && (fs::name_below(input, path).is_some() || fs::exists(path) && is_same())
        };
        let around = inputs.iter().find(is_within).filter(|_| matches!(to, ArrayFormat::Pack(_)));
        around.map_or(Ok(()), |input| {
            let place = match path.file_name() {
                Some(name) if input.as_os_str() == "." => {
                    format!(", such as `{}`", escape_path(&Path::new("..").join(name)))
                }
                _ => String::new(),
            };
            Err(Error::Unsupported(format!(
                "`{shown}` would be inside `{}`, where the next run would convert it again; write it \
                 elsewhere{place}",
                escape_path(input)
            )))
        })
    }

    /// Checks that existing files of a directory can be replaced and may be replaced.
    fn check_names(&self, planned: &[PlannedArray], others: &[OtherFile]) -> Result<()> {
        let Self { path, to, options, .. } = *self;
        if to != ArrayFormat::Pack(Container::Directory) || !fs::exists(path) {
            return Ok(());
        }
        if !fs::is_directory(path)? {
            return Err(Error::Unsupported(format!(
                "`{}` exists and is not a directory; choose another name",
                escape_path(path)
            )));
        }
        let [first, second] = DESCRIPTION_EXTENSIONS;
        let arrays = planned.iter().flat_map(|planned| {
            [ARRAY_EXTENSION, first, second].map(|end| format!("{}.{end}", planned.name))
        });
        let others = others.iter().filter(|other| other.copy.is_some());
        let names: Vec<_> = arrays.chain(others.map(|other| other.name.clone())).collect();
        let parents: BTreeSet<_> =
            names.iter().filter_map(|name| Some(name.rsplit_once('/')?.0)).collect();
        if let Some(parent) = parents.into_iter().find(|parent| fs::is_blocked(path, parent)) {
            return Err(Error::Unsupported(format!(
                "`{}` cannot be created in `{}`: it exists and is not a directory",
                escape(parent),
                escape_path(path)
            )));
        }
        let is_directory = |name: &&String| fs::is_directory(&path.join(name)).is_ok_and(|is| is);
        if let Some(name) = names.iter().find(is_directory) {
            return Err(Error::AlreadyExists { path: path.join(name) });
        }
        let is_there = |name: &&String| !options.force && fs::exists(&path.join(name));
        let there: Vec<_> = names.iter().filter(is_there).collect();
        match &there[..] {
            [] => Ok(()),
            [only] => Err(Error::AlreadyExists { path: path.join(only) }),
            all => Err(Error::Unsupported(format!(
                "{} files exist in `{}`; use the option `force` to replace them: {}",
                all.len(),
                escape_path(path),
                plan::listed(all.iter(), plan::MAX_LISTED, |name| format!("`{name}`"))
            ))),
        }
    }

    /// Returns whether the output is a directory that contains an array of this name.
    fn has_array(&self, name: &str) -> bool {
        self.to == ArrayFormat::Pack(Container::Directory)
            && fs::exists(&self.path.join(format!("{name}.{ARRAY_EXTENSION}")))
    }

    /// Converts one array.
    fn convert_one(
        &self,
        planned: PlannedArray,
        source: &mut SourceArrays,
        sink: &mut dyn WriteArrays,
        kept_metadata: Option<&PendingFile>,
    ) -> Result<Converted> {
        let Self { path: output, to, options, .. } = *self;
        let PlannedArray { index, reverse, original, mut converted, item, name } = planned;
        let Some(original) = original else {
            sink.inline(&name, &item)?;
            return Ok(converted);
        };
        (source.give)(index, output, &mut |data, metadata, verified| {
            (converted.verified, converted.trailing) = (verified, metadata.len);
            let data = Arranged::new(data, &original, reverse, output, options);
            if let Some(file) = kept_metadata {
                metadata.write_at(file.file(), 0)?;
            } else if !to.is_rawarray() && !options.drop_metadata && converted.trailing > 0 {
                converted.losses.push(format!(
                    "{} bytes after its elements are lost; save them with the option `keep_metadata: FILE`",
                    converted.trailing
                ));
            }
            let metadata = if options.drop_metadata { Metadata::default() } else { metadata };
            let lost = sink.array(OutgoingArray { name: &name, item: &item, data, metadata })?;
            converted.losses.extend(lost);
            Ok(())
        })?;
        Ok(converted)
    }

    /// Begins the output, and the file for the trailing metadata of a single array.
    fn begin(&self, arrays: usize) -> Result<(ArraySink<'o>, Option<PendingFile>)> {
        let Self { to, options, .. } = self;
        let metadata = match &options.keep_metadata {
            None => None,
            Some(_) if arrays != 1 => {
                return Err(Error::Unsupported(
                    "the option `keep_metadata` requires a single array; choose one with the option `member`"
                        .to_owned(),
                ));
            }
            Some(path) if self.files().iter().any(|other| fs::is_same_name(path, other)) => {
                return Err(Error::Unsupported(format!(
                    "`{}` cannot be both the output and the file of the option `keep_metadata`",
                    escape(&path.to_string_lossy())
                )));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        Ok(((to.row().begin)(self)?, metadata))
    }

    /// Returns the output and the files that belong to it.
    fn files(&self) -> Vec<PathBuf> {
        let mut files = vec![self.path.to_owned()];
        match self.to {
            ArrayFormat::Ra => {
                files.extend(DESCRIPTION_EXTENSIONS.map(|end| self.path.with_extension(end)));
            }
            ArrayFormat::Pack(container) if container != Container::Directory => {
                let mut manifest = self.path.as_os_str().to_owned();
                manifest.push(EXTERNAL_MANIFEST_SUFFIX);
                files.push(manifest.into());
            }
            ArrayFormat::Pack(_) if fs::exists(self.path) => {
                files.push(self.path.join(fs::STAGED));
            }
            _ => {}
        }
        files
    }

    /// Returns the files that an interrupted run left next to the output.
    fn leftovers(&self) -> Vec<PathBuf> {
        let files = self.files().into_iter().chain(self.options.keep_metadata.clone());
        files.flat_map(|path| fs::leftovers(&path)).collect()
    }
}

/// Syncs and renames a file, and returns its size in bytes.
fn settle(file: PendingFile) -> Result<u64> {
    let bytes = file.file().len()?;
    file.complete()?;
    Ok(bytes)
}

/// Writes the elements of an array with this header, decoded and little-endian, to `out`, and returns the facts that
/// the output cannot express. Errors use the name `output`. Elements that must be reordered are staged in a file next
/// to the second path.
pub(crate) fn write_array(
    format: ArrayFormat,
    (member, header, description, data): (&str, &Header, Option<Ndarray>, &mut dyn Read),
    out: &mut dyn Write,
    (output, beside): (&Path, &Path),
    progress: Progress,
) -> Result<Vec<String>> {
    let mut item =
        ArrayItem::rawarray(plan::member_name(member).to_owned(), header, description, false)?;
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
    let options = ConvertOptions { progress, ..ConvertOptions::default() };
    let data = ElementSource::Passing(Box::new(data), member.to_owned());
    let data = Arranged::new(data, &before, reverse, beside, &options);
    let (variable, write) = (item.to_variable()?, format.writer());
    let written = data.read_by(|data| write(&variable, data, out, &options))?;
    let written = written.map_err(|source| match source {
        interchange::FormatError::Io(error) => Error::io("write", output)(error),
        source => Error::Interchange { name: member.to_owned(), source },
    })?;
    Ok(losses.into_iter().chain(written).collect())
}
