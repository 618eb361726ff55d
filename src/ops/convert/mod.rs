//! Arrays from one form into another: one file, several in one, or a pack.
//!
//! Two things are decided before the first element is read: what everything will be called, and what has to
//! move. Elements then go from file to file, in pieces or as they lie, so that memory does not depend on how
//! many there are.

mod data;
mod foreign;
mod format;
mod names;
mod plan;
mod rawarray;
mod report;
mod sink;
mod text;
mod tree;

use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use self::data::{Arranged, ElementSource, Metadata};
pub use self::format::{ArrayFormat, UnknownFormat};
use self::plan::{ArrayItem, PlannedArray};
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

/// Converts the arrays at `input` to what `output` is to be. The output gets its name when it is complete,
/// and takes the place of what is there only with [`force`](ConvertOptions::force).
///
/// A directory is converted with everything below it: arrays in any format that is read, each under its name, and copies
/// of all other files. What cannot be converted is [reported](ConvertReport::failed) and keeps back nothing else. Arrays
/// are added to an output that is a directory.
///
/// Data with the last index fastest is transposed on the way to RawArray, unless
/// [`order`](ConvertOptions::order) says otherwise; the same index gives the same element before and after.
/// Files of any size are converted in some 50 MB of memory.
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
/// When the input is not what its format demands, which names the byte; when an array has no counterpart in
/// the other format, which names the nearest way out; when something is there already. Nothing is written then.
pub fn convert(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ConvertReport> {
    convert_all([input], output, options)
}

/// Converts the arrays of several inputs to one output, a directory or a file that holds several arrays.
///
/// An input that is a directory keeps its name in the output, a file that holds several arrays becomes a directory of
/// its name, and files that hold none are copied. A single input is converted as by [`convert`].
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
        return Err(Error::Unsupported("there is nothing to convert".to_owned()));
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
    // One file that cannot be converted keeps a tree back as little as one that cannot be copied.
    let goes_on = from == ArrayFormat::Pack(Container::Directory)
        && matches!(to, ArrayFormat::Pack(_))
        && options.member.is_none();
    let planned = match plan::plan(&mut source, input, &out) {
        // Nothing is left to be converted, for the reasons that are known.
        Err(error) if source.failed.is_empty() => return Err(error),
        Err(_) => return Err(first_of(source.failed)),
        Ok(_) if !goes_on && !source.failed.is_empty() => {
            let error = first_of(source.failed);
            return Err(if from == ArrayFormat::Npz { foreign::way_round(error) } else { error });
        }
        Ok(planned) => planned,
    };
    out.check_names(&planned, &source.others)?;

    let mut losses = std::mem::take(&mut source.losses);
    let mut failed = std::mem::take(&mut source.failed);
    let (mut sink, kept_metadata) = out.begin(planned.len())?;
    let progress = &options.progress;
    let sizes = planned.iter().filter_map(|planned| Some(planned.original.as_ref()?.data_len()));
    let all = sizes.fold(0, u64::saturating_add); // claims, which are shown
    // A compressed input has fewer bytes to read.
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
            Err(error) if is_of_input(&error) => failed.push((other.name.clone(), error)),
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

/// The error of an operation that goes on past none. Findings of one directory are reported together.
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

/// Options of [`convert`] and [`convert_all`]: formats, the order of elements, and the treatment of what a format cannot hold.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct ConvertOptions {
    /// The format of the input; by its name when not given.
    pub from: Option<ArrayFormat>,
    /// The format of the output; by its name when not given.
    pub to: Option<ArrayFormat>,
    /// The one array to convert.
    pub member: Option<String>,
    /// How the output is to hold its arrays: [`Order::Column`] with the first index fastest, [`Order::Row`]
    /// with the last. When not given, formats of others come into RawArray with the first index fastest,
    /// and everything else stays as it is where the output allows.
    pub order: Option<Order>,
    /// Leave big-endian numbers as they are and say so, instead of swapping them.
    pub keep_endian: bool,
    /// Leave out what follows the elements of a RawArray, instead of keeping it in another.
    pub drop_metadata: bool,
    /// Write what follows the elements of the one RawArray to this file.
    pub keep_metadata: Option<PathBuf>,
    /// Take elements for something that the formats have no word for.
    pub reinterpret: Option<Reinterpret>,
    /// Give the masks of a `.ds` as arrays `NAME.mask`, and make masks of the elements that stand for none on
    /// the way back.
    pub masks: bool,
    /// How the members of an `.npz` or of an archive are compressed; not at all when not given.
    pub compression: Option<Compression>,
    /// Make coordinates of 1-D arrays that have no description and the name of a coordinate, such as `time` or
    /// `lat`, and name the dimensions of other arrays that are as long.
    pub dimcoords: bool,
    /// Leave files of a directory that hold no arrays where they are, instead of copying them.
    pub arrays_only: bool,
    /// Replace files that are there already.
    pub force: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

/// Another meaning for elements that a format has no type for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reinterpret {
    /// Elements of two bytes without a type are brain floats: `ml_dtypes` saves them so.
    BFloat16,
    /// Elements that numpy has no type for are bytes without a type.
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

    /// That each option means something for these formats.
    fn check(&self, from: ArrayFormat, to: ArrayFormat) -> Result<()> {
        let is_numpy = |form| matches!(form, ArrayFormat::Npy | ArrayFormat::Npz);
        // It holds files of any format.
        let is_tree = from == ArrayFormat::Pack(Container::Directory);
        let is_zstd = matches!(self.compression, Some(Compression::Zstd { .. }));
        let reason = if self.order == Some(Order::RowUnreversed) {
            "`row-unreversed` is only read; give column or row".to_owned()
        } else if self.order == Some(Order::Column) && to.is_row_only() {
            format!("a .{to} always has the last index fastest; leave the option `order` out")
        } else if self.keep_endian && !to.is_rawarray() && !is_numpy(to) {
            format!("a .{to} does not keep the byte order; leave the option `keep_endian` out")
        } else if self.masks && from != ArrayFormat::Ds && to != ArrayFormat::Ds && !is_tree {
            "only a .ds has masks; leave the option `masks` out".to_owned()
        } else if self.compression.is_some()
            && !matches!(to, ArrayFormat::Npz | ArrayFormat::Pack(_))
        {
            format!("a .{to} has no compression to choose")
        } else if to == ArrayFormat::Npz && is_zstd {
            "numpy does not read zstd in an .npz; give stored or deflate".to_owned()
        } else if self.keep_metadata.is_some() && !from.is_rawarray() {
            format!("nothing follows the elements of a .{from}")
        } else if self.reinterpret == Some(Reinterpret::BFloat16) && !is_numpy(from) && !is_tree {
            "the option `reinterpret: bfloat16` is for what comes out of .npy and .npz".to_owned()
        } else if self.reinterpret == Some(Reinterpret::Void) && !is_numpy(to) {
            "the option `reinterpret: void` is for what becomes .npy and .npz".to_owned()
        } else if self.dimcoords && !to.is_rawarray() {
            format!(
                "the dimensions of a .{to} have no names to find; leave the option `dimcoords` out"
            )
        } else {
            return Ok(());
        };
        Err(Error::Unsupported(reason))
    }
}

/// Arrays of some format: first what is there, from headers only, then the elements of one after the other.
struct SourceArrays {
    /// Each of them; never with an order other than row and column.
    items: Vec<ArrayItem>,
    /// Files that are copied where arrays become files.
    others: Vec<OtherFile>,
    /// Files and arrays that cannot be converted.
    failed: Vec<(String, Error)>,
    /// What else is there and is left where it is, one sentence each.
    losses: Vec<String>,
    give: Box<GiveElements>,
}

/// A file without arrays.
struct OtherFile {
    /// Its name in the output.
    name: String,
    /// Writes its content; nothing of a directory.
    copy: Option<Box<CopyContent>>,
}

type CopyContent = dyn Fn(&mut dyn Write) -> Result<u64>;

/// Gives the elements of the array at an index to a function. Elements that have to be copied to be checked are copied
/// beside the path.
type GiveElements = dyn FnMut(usize, &Path, &mut TakeElements<'_>) -> Result<()>;

/// Takes elements, what follows them, and whether a manifest vouches for them.
type TakeElements<'t> = dyn FnMut(ElementSource<'_>, Metadata, bool) -> Result<()> + 't;

impl SourceArrays {
    /// Arrays whose elements `give` gives.
    fn new(items: Vec<ArrayItem>, losses: Vec<String>, give: Box<GiveElements>) -> Self {
        let (others, failed) = <_>::default();
        Self { items, others, failed, losses, give }
    }

    /// A file with a single array, whose elements `read` gives.
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

/// What is to be written where.
#[derive(Clone, Copy)]
struct Destination<'o> {
    path: &'o Path,
    from: ArrayFormat,
    to: ArrayFormat,
    options: &'o ConvertOptions,
}

/// An array that is to be written.
struct OutgoingArray<'a> {
    name: &'a str,
    item: &'a ArrayItem,
    data: Arranged<'a>,
    /// What follows its elements where the format has room for it.
    metadata: Metadata,
}

type ArraySink<'o> = Box<dyn WriteArrays + 'o>;

/// A file or pack that arrays are written into. It gets its name when all of it is there.
trait WriteArrays {
    /// Writes one array. The answer is what the output does not say of it, one sentence each.
    fn array(&mut self, array: OutgoingArray<'_>) -> Result<Vec<String>>;

    /// Writes one whose elements are all in its description.
    fn inline(&mut self, _name: &str, item: &ArrayItem) -> Result<()> {
        item.to_variable().map(drop)
    }

    /// Writes a file that is not an array, where there is a place for it.
    fn other(&mut self, _other: &OtherFile) -> Result<()> {
        Ok(())
    }

    /// Gives everything its name, and answers how many bytes that are.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

impl<'o> Destination<'o> {
    /// Refuses several inputs for one array, and an output in an input, which the next run would convert again.
    fn check_inputs(&self, inputs: &[&Path]) -> Result<()> {
        let Self { path, to, .. } = *self;
        let shown = escape_path(path);
        if inputs.len() > 1 && !to.holds_many() {
            return Err(Error::Unsupported(format!(
                "{} inputs are converted to a directory or an archive, and `{shown}` is a .{to}; name \
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
                "`{shown}` would be inside of `{}`, and the next run would convert it again; write it \
                 elsewhere{place}",
                escape_path(input)
            )))
        })
    }

    /// Refuses to replace files of a directory without being told to.
    fn check_names(&self, planned: &[PlannedArray], others: &[OtherFile]) -> Result<()> {
        let Self { path, to, options, .. } = *self;
        if to != ArrayFormat::Pack(Container::Directory) || options.force || !fs::exists(path) {
            return Ok(());
        }
        if !fs::is_directory(path)? {
            return Err(Error::Unsupported(format!(
                "`{}` is not a directory, and a directory would take its place; choose another name",
                escape_path(path)
            )));
        }
        let [first, second] = DESCRIPTION_EXTENSIONS;
        let arrays = planned.iter().flat_map(|planned| {
            [ARRAY_EXTENSION, first, second].map(|end| format!("{}.{end}", planned.name))
        });
        let others = others.iter().filter(|other| other.copy.is_some());
        let names = arrays.chain(others.map(|other| other.name.clone()));
        let there: Vec<_> = names.filter(|name| fs::exists(&path.join(name))).collect();
        match &there[..] {
            [] => Ok(()),
            [only] => Err(Error::AlreadyExists { path: path.join(only) }),
            all => Err(Error::Unsupported(format!(
                "{} files are in `{}` already; use the option `force` to replace them: {}",
                all.len(),
                escape_path(path),
                plan::listed(all.iter(), plan::MAX_LISTED, |name| format!("`{name}`"))
            ))),
        }
    }

    /// Whether the output is a directory that has an array of this name.
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
                    "{} bytes follow its elements; the option `keep_metadata: FILE` writes them to a file",
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

    /// Begins what arrays are written into, and the file for what follows the elements of the one array.
    fn begin(&self, arrays: usize) -> Result<(ArraySink<'o>, Option<PendingFile>)> {
        let Self { to, options, .. } = self;
        let metadata = match &options.keep_metadata {
            None => None,
            Some(_) if arrays != 1 => {
                return Err(Error::Unsupported(
                    "the option `keep_metadata` is for one array; choose it by the option `member`"
                        .to_owned(),
                ));
            }
            Some(path) if self.files().iter().any(|other| fs::is_same_name(path, other)) => {
                return Err(Error::Unsupported(format!(
                    "`{}` cannot be both what is converted to and the file of the option `keep_metadata`",
                    escape(&path.to_string_lossy())
                )));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        Ok(((to.row().begin)(self)?, metadata))
    }

    /// The output and the files beside it that belong to it.
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

    /// Files that an interrupted run left beside what is written.
    fn leftovers(&self) -> Vec<PathBuf> {
        let files = self.files().into_iter().chain(self.options.keep_metadata.clone());
        files.flat_map(|path| fs::leftovers(&path)).collect()
    }
}

/// Writes a file to the disk and gives it its name; answers how many bytes it has.
fn settle(file: PendingFile) -> Result<u64> {
    let bytes = file.file().len()?;
    file.complete()?;
    Ok(bytes)
}

/// Writes the elements of an array with this header, decoded and little-endian, to `out`; answers what the output does
/// not say. Errors call that `output`, and elements that have to be reordered are written to a file beside `beside`.
pub(super) fn write_array(
    format: ArrayFormat,
    (member, header, description, data): (&str, &Header, Option<Ndarray>, &mut dyn Read),
    out: &mut dyn Write,
    (output, beside): (&Path, &Path),
    progress: Progress,
) -> Result<Vec<String>> {
    let mut item =
        ArrayItem::rawarray(plan::member_name(member).to_owned(), header, description, false)?;
    // Text and bare elements are not expected to say more.
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
