//! Arrays from one form into another: one file, several in one, or a pack.
//!
//! Two things are decided before the first element is read: what everything will be called, and what has to
//! move. Elements then go from file to file, in pieces or as they lie, so that memory does not depend on how
//! many there are.

mod data;
mod foreign;
mod plan;
mod rawarray;
mod text;

use std::fmt;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Serialize, Serializer};

use self::data::{Arranged, ElementSource, Metadata};
use self::foreign::WriteOne;
use self::plan::{ArrayItem, PlannedArray};
use crate::archive::{Compression, Container};
use crate::error::{Error, Result};
use crate::file_kind::FileKind;
use crate::fs::{self, PendingFile};
use crate::interchange::{self, ExportOptions, ImportOptions};
use crate::ndl::{Datatype, Extent, Ndarray, Order};
use crate::pack::{DESCRIPTION_EXTENSIONS, EXTERNAL_MANIFEST_SUFFIX};
use crate::path::escape;
use crate::progress::Progress;
use crate::ra::{ElementType, Header};

/// Converts the arrays at `input` to what `output` is to be. The output gets its name when it is complete,
/// and takes the place of what is there only with [`force`](ConvertOptions::force).
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
/// When the input is not what its form demands, which names the byte; when an array has no counterpart in
/// the other form, which names the nearest way out; when something is there already. Nothing is written then.
pub fn convert(
    input: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &ConvertOptions,
) -> Result<ConvertReport> {
    let (input, output) = (input.as_ref(), output.as_ref());
    let from = options.from.map_or_else(|| ArrayFormat::of_input(input), Ok)?;
    let to = options.to.map_or_else(|| ArrayFormat::of_output(output), Ok)?;
    options.check(from, to)?;

    let out = Destination { path: output, from, to, options };
    let open = from.row().open.ok_or_else(|| {
        Error::Unsupported(format!("a .{from} is only written, and cannot be read"))
    })?;
    let mut source = open(input, options)?;
    let planned = plan::plan(&source.items, input, &out)?;

    let mut losses = std::mem::take(&mut source.losses);
    let mut arrays = Vec::with_capacity(planned.len());
    let (mut sink, kept_metadata) = out.begin(planned.len())?;
    let progress = &options.progress;
    let sizes = planned.iter().filter_map(|planned| Some(planned.original.as_ref()?.data_len()));
    let all = sizes.fold(0, u64::saturating_add); // claims, which are shown
    // A compressed input has fewer bytes to read.
    let most = fs::file_len(input).unwrap_or(u64::MAX);
    progress.stage("converting", all.min(most), planned.len() as u64);
    for PlannedArray { index, reverse, original, mut converted, item, name } in planned {
        if let Some(original) = original {
            progress.at(&name);
            let from = converted.from.clone();
            (source.give)(index, &from, output, &mut |data, metadata, verified| {
                (converted.verified, converted.trailing) = (verified, metadata.len);
                let data = Arranged::new(data, &original, reverse, output, options);
                if let Some(file) = &kept_metadata {
                    metadata.write_at(file.file(), 0)?;
                } else if !to.is_rawarray() && !options.drop_metadata && converted.trailing > 0 {
                    converted.losses.push(format!(
                        "{} bytes follow its elements; the option `keep_metadata: FILE` writes them to a file",
                        converted.trailing
                    ));
                }
                let metadata = if options.drop_metadata { Metadata::default() } else { metadata };
                let lost =
                    sink.array(OutgoingArray { name: &name, item: &item, data, metadata })?;
                converted.losses.extend(lost);
                Ok(())
            })?;
        } else {
            sink.inline(&name, &item)?;
        }
        progress.done(1);
        arrays.push(converted);
    }
    if let Some(file) = kept_metadata {
        settle(file)?;
    }
    progress.check()?;
    let bytes = sink.finish(&mut losses)?;
    let (input, output) = (input.to_owned(), output.to_owned());
    Ok(ConvertReport { input, from, output, to, arrays, losses, bytes, leftovers: out.leftovers() })
}

/// Options of [`convert`]: formats, the order of elements, and the treatment of what a format cannot hold.
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
    /// Replace what is there already, but never a directory with something in it.
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
        let is_zstd = matches!(self.compression, Some(Compression::Zstd { .. }));
        let reason = if self.order == Some(Order::RowUnreversed) {
            "`row-unreversed` is only read; give column or row".to_owned()
        } else if self.order == Some(Order::Column) && to.is_row_only() {
            format!("a .{to} always has the last index fastest; leave the option `order` out")
        } else if self.keep_endian && !to.is_rawarray() && !is_numpy(to) {
            format!("a .{to} does not keep the byte order; leave the option `keep_endian` out")
        } else if self.masks && from != ArrayFormat::Ds && to != ArrayFormat::Ds {
            "only a .ds has masks; leave the option `masks` out".to_owned()
        } else if self.compression.is_some()
            && !matches!(to, ArrayFormat::Npz | ArrayFormat::Pack(_))
        {
            format!("a .{to} has no compression to choose")
        } else if to == ArrayFormat::Npz && is_zstd {
            "numpy does not read zstd in an .npz; give stored or deflate".to_owned()
        } else if self.keep_metadata.is_some() && !from.is_rawarray() {
            format!("nothing follows the elements of a .{from}")
        } else if self.reinterpret == Some(Reinterpret::BFloat16) && !is_numpy(from) {
            "the option `reinterpret: bfloat16` is for what comes out of .npy and .npz".to_owned()
        } else if self.reinterpret == Some(Reinterpret::Void) && !is_numpy(to) {
            "the option `reinterpret: void` is for what becomes .npy and .npz".to_owned()
        } else {
            return Ok(());
        };
        Err(Error::Unsupported(reason))
    }
}

/// The arrays that were converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ConvertReport {
    /// The input, by its path as given.
    pub input: PathBuf,
    /// The format of the input.
    pub from: ArrayFormat,
    /// The output, by its path as given.
    pub output: PathBuf,
    /// The format of the output.
    pub to: ArrayFormat,
    /// Each array, in the order of the output.
    pub arrays: Vec<Converted>,
    /// The other contents of the input that the output does not have, one sentence each.
    pub losses: Vec<String>,
    /// Bytes of everything that was written.
    pub bytes: u64,
    /// Files beside the output that an interrupted run left; they can be deleted.
    pub leftovers: Vec<PathBuf>,
}

/// One array that was converted.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Converted {
    /// The name of the array in the input.
    pub from: String,
    /// The name of the array in the output.
    pub to: String,
    /// Whether it has another name than it would have had: no file may have that, or something has it already.
    pub renamed: bool,
    /// The type of its elements, such as `float32`; for text, which has none, `string`.
    #[cfg_attr(test, schemars(with = "String"))]
    #[serde(rename = "type", serialize_with = "element_or_string")]
    pub element: Option<ElementType>,
    /// Extents in the order of indices.
    pub shape: Vec<u64>,
    /// The index that is the fastest in the output.
    pub order: Order,
    /// Whether its elements were reordered.
    pub reordered: bool,
    /// Whether the manifest of the input vouches for it.
    pub verified: bool,
    /// Bytes that follow its elements in the input.
    pub trailing: u64,
    /// The facts of the array that the output does not have, one sentence each.
    pub losses: Vec<String>,
}

#[expect(clippy::ref_option, reason = "serde gives a reference to the field")]
fn element_or_string<S: Serializer>(
    element: &Option<ElementType>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    match element {
        Some(element) => element.serialize(serializer),
        None => serializer.serialize_str("string"),
    }
}

impl Converted {
    /// The name of the type of its elements.
    pub fn type_name(&self) -> String {
        self.element.map_or("string".to_owned(), |element| element.to_string())
    }
}

/// A form that arrays come in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ArrayFormat {
    /// One RawArray file, with its description beside it.
    Ra,
    /// One array of numpy.
    Npy,
    /// Several arrays of numpy in a zip.
    Npz,
    /// The variables of one file of ds-format.
    Ds,
    /// A picture.
    Png,
    /// The elements of one array alone, little-endian, in the order of the file; only written.
    Raw,
    /// Numbers of one or two dimensions as text: a line for each first index. Not a number and the infinities
    /// are `nan`, `inf` and `-inf`. Only written.
    Csv,
    /// Numbers as nested lists, the outermost for the first index. Not a number and the infinities are the
    /// strings `"NaN"`, `"Infinity"` and `"-Infinity"`, and integers of 16 bytes are strings. Only written.
    Json,
    /// A directory of RawArray files and descriptions, or an archive of one.
    Pack(Container),
}

type OpenSource = fn(&Path, &ConvertOptions) -> Result<SourceArrays>;
type Begin = for<'o> fn(&Destination<'o>) -> Result<ArraySink<'o>>;

/// A row of the table of formats.
struct FormatRow {
    format: ArrayFormat,
    /// Its word, which is also the extension of a file.
    word: &'static str,
    /// How it is read, unless it is only written.
    open: Option<OpenSource>,
    begin: Begin,
    /// How a single array is written to a stream.
    write: Option<WriteOne>,
}

/// Every format.
const FORMATS: [FormatRow; 13] = [
    row(ArrayFormat::Ra, "ra", Some(rawarray::open_file), rawarray::begin_file, None),
    row(ArrayFormat::Npy, "npy", Some(foreign::open_npy), SINGLE, Some(foreign::WRITE_NPY)),
    row(ArrayFormat::Npz, "npz", Some(foreign::open_npz), foreign::begin_npz, None),
    row(ArrayFormat::Ds, "ds", Some(foreign::open_ds), foreign::begin_ds, None),
    row(ArrayFormat::Png, "png", Some(foreign::open_png), SINGLE, Some(foreign::WRITE_PNG)),
    row(ArrayFormat::Raw, "raw", None, SINGLE, Some(foreign::WRITE_RAW)),
    row(ArrayFormat::Csv, "csv", None, SINGLE, Some(foreign::WRITE_CSV)),
    row(ArrayFormat::Json, "json", None, SINGLE, Some(foreign::WRITE_JSON)),
    pack("directory", Container::Directory),
    pack("zip", Container::Zip),
    pack("tar", Container::Tar),
    pack("tar.gz", Container::TarGz),
    pack("tar.zst", Container::TarZst),
];

const SINGLE: Begin = foreign::begin_single;

const fn row(
    format: ArrayFormat,
    word: &'static str,
    open: Option<OpenSource>,
    begin: Begin,
    write: Option<WriteOne>,
) -> FormatRow {
    FormatRow { format, word, open, begin, write }
}

const fn pack(word: &'static str, container: Container) -> FormatRow {
    row(ArrayFormat::Pack(container), word, Some(rawarray::open_pack), rawarray::begin_pack, None)
}

impl ArrayFormat {
    fn row(self) -> &'static FormatRow {
        FORMATS.iter().find(|row| row.format == self).expect("the table has every format")
    }

    /// How a single array is written to a stream.
    fn writer(self) -> WriteOne {
        self.row().write.expect("only formats of one array are written so")
    }

    /// The words of all formats.
    pub fn words() -> impl Iterator<Item = &'static str> {
        FORMATS.iter().map(|row| row.word)
    }

    /// Its word.
    pub fn word(self) -> &'static str {
        self.row().word
    }

    /// The format that the extension of a file's name stands for.
    pub fn from_extension(path: &Path) -> Option<Self> {
        if let Some(container) = Container::from_extension(path) {
            return Some(Self::Pack(container));
        }
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        let mut files =
            FORMATS.iter().filter(|row| !matches!(row.format, Self::Pack(_) | Self::Raw));
        files.find(|row| row.word == extension).map(|row| row.format)
    }

    /// The format of the input at `path`.
    fn of_input(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        if fs::is_directory(path)? {
            return Ok(Self::Pack(Container::Directory));
        }
        if let Some(format) =
            Self::from_extension(path).filter(|format| format.row().open.is_some())
        {
            return Ok(format);
        }
        // A file with a format may have any name.
        let kind = fs::kind_of(path)?;
        let has_format =
            [FileKind::RawArray, FileKind::Npy, FileKind::Ds, FileKind::Png, FileKind::Unknown];
        if !has_format.contains(&kind) && !kind.may_hold_a_pack() {
            return Err(Error::Unsupported(format!(
                "`{}` is {kind}, which ra-pack cannot read; make an .npy or .npz of its arrays",
                escape(&path.to_string_lossy())
            )));
        }
        Err(unknown(path, "from", |row| row.open.is_some()))
    }

    /// The format of the output at `path`: a directory when it ends in a slash or has no extension.
    fn of_output(path: &Path) -> Result<Self> {
        refuse_stream(path)?;
        let last = path.as_os_str().as_encoded_bytes().last();
        let ends_in_slash = last.is_some_and(|last| std::path::is_separator(char::from(*last)));
        if ends_in_slash || path.extension().is_none() {
            return Ok(Self::Pack(Container::Directory));
        }
        Self::from_extension(path).ok_or_else(|| unknown(path, "to", |_| true))
    }

    /// Whether its arrays are RawArray files.
    fn is_rawarray(self) -> bool {
        matches!(self, Self::Ra | Self::Pack(_))
    }

    /// Whether it holds any number of arrays, by name.
    pub(super) fn holds_many(self) -> bool {
        matches!(self, Self::Npz | Self::Ds | Self::Pack(_))
    }

    /// Whether it always has the last index fastest.
    fn is_row_only(self) -> bool {
        matches!(self, Self::Ds | Self::Png | Self::Csv | Self::Json)
    }
}

/// Refuses `-`, the standard input or output, where nobody can go back.
fn refuse_stream(path: &Path) -> Result<()> {
    if path.as_os_str() != "-" {
        return Ok(());
    }
    Err(Error::Unsupported(
        "arrays are converted from file to file, and `-` is none; give a path, or `./-` for a file that is called so".to_owned(),
    ))
}

fn unknown(path: &Path, option: &str, is_meant: fn(&FormatRow) -> bool) -> Error {
    let words: Vec<_> = FORMATS.iter().filter(|row| is_meant(row)).map(|row| row.word).collect();
    Error::Unsupported(format!(
        "the name of `{}` does not say what form it has; give the option `{option}` with one of {}",
        escape(&path.to_string_lossy()),
        words.join(", ")
    ))
}

impl fmt::Display for ArrayFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.word())
    }
}

impl Serialize for ArrayFormat {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// A word that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected one of {}", ArrayFormat::words().collect::<Vec<_>>().join(", "))]
pub struct UnknownFormat;

impl FromStr for ArrayFormat {
    type Err = UnknownFormat;

    fn from_str(word: &str) -> Result<Self, UnknownFormat> {
        let row = FORMATS.iter().find(|row| row.word == word);
        row.map(|row| row.format).ok_or(UnknownFormat)
    }
}

/// Arrays of some format: first what is there, from headers only, then the elements of one after the other.
struct SourceArrays {
    /// Each of them; never with an order other than row and column.
    items: Vec<ArrayItem>,
    /// What else is there and is left where it is, one sentence each.
    losses: Vec<String>,
    give: Box<GiveElements>,
}

/// Gives the elements of the array at an index, which has that name, to a function. Elements that have to be copied to
/// be checked are copied beside the path.
type GiveElements = dyn FnMut(usize, &str, &Path, &mut TakeElements<'_>) -> Result<()>;

/// Takes elements, what follows them, and whether a manifest vouches for them.
type TakeElements<'t> = dyn FnMut(ElementSource<'_>, Metadata, bool) -> Result<()> + 't;

impl SourceArrays {
    /// A file with a single array, whose elements `read` gives.
    fn single(
        item: ArrayItem,
        read: impl FnOnce() -> Result<(ElementSource<'static>, Metadata)> + 'static,
    ) -> Self {
        let mut read = Some(read);
        let give = Box::new(move |_: usize, _: &str, _: &Path, take: &mut TakeElements<'_>| {
            let (data, metadata) = read.take().expect("each array is converted once")()?;
            take(data, metadata, false)
        });
        Self { items: vec![item], losses: Vec::new(), give }
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

    /// Gives everything its name, and answers how many bytes that are.
    fn finish(self: Box<Self>, losses: &mut Vec<String>) -> Result<u64>;
}

impl<'o> Destination<'o> {
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
    let losses = item.fix_extents().filter(|_| is_file_of_arrays);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_the_form() {
        let output = |path: &str| ArrayFormat::of_output(path.as_ref()).ok();
        for (path, form) in [
            ("a.ra", "ra"),
            ("x/a.NPY", "npy"),
            ("a.npz", "npz"),
            ("a.b.ds", "ds"),
            ("a.png", "png"),
            ("a.tar.gz", "tar.gz"),
            ("a.tzst", "tar.zst"),
            ("a", "directory"),
            ("a.npy/", "directory"),
            ("a.b/c", "directory"),
        ] {
            assert_eq!(output(path), form.parse().ok(), "{path}");
        }
        assert_eq!(output("a.jpeg"), None);
        assert_eq!(output("-"), None);
        assert_eq!(output("./-"), "directory".parse().ok());
        assert!(ArrayFormat::of_input("-".as_ref()).is_err());
        assert!("zap".parse::<ArrayFormat>().is_err());
    }
}
