//! Conversion of arrays between formats: one file, several files to one, or a pack.
//!
//! The names of all outputs and the elements to reorder are determined before the first element is read. Elements are
//! then copied in blocks, so memory does not depend on their number.

mod archive;
mod content;
mod data;
mod destination;
mod foreign;
mod format;
mod get;
mod grouped;
mod into_pack;
mod item;
mod names;
mod options;
mod plan;
mod rawarray;
mod refs;
mod report;
mod single;
mod sink;
mod source;
mod temporary;
mod tree;

use std::path::Path;

pub use self::content::{
    ComparedArray, ContentComparison, ContentReport, compare_content, content_digests,
};
use self::data::{Arranged, Metadata};
use self::destination::Destination;
pub use self::format::{ArrayFormat, UnknownFormat};
pub use self::get::{GetOptions, GetReport, get, get_to};
pub use self::into_pack::add_converted;
pub use self::options::{ConvertOptions, Reinterpret};
use self::plan::PlannedArray;
pub use self::refs::{RefsOptions, RefsReport, SkippedArray, refs_to, write_refs};
pub use self::report::{ConvertReport, Converted, Unconverted};
use self::sink::{ArraySink, WriteArrays, settle};
use self::source::SourceArrays;
pub use self::temporary::TemporaryPack;
use crate::archive::Container;
use crate::error::{Error, Result};
use crate::fs::{self, PendingFile};
use crate::message::Message;
use crate::path::escape;

/// Converts the arrays at `input` to the format of `output`. The output appears under its name when it is complete, and
/// replaces an existing one only with [`force`](ConvertOptions::force).
///
/// A directory is converted with everything below it: arrays in any format that can be read keep their names, and other
/// files are copied. Files that cannot be converted are [reported](ConvertReport::failed); the others are converted. An
/// I/O error ends the conversion. If the output is an existing directory, arrays are added to it.
///
/// Row-major data is transposed to column-major RawArray unless [`order`](ConvertOptions::order) is set. Indexing does
/// not change: the same index selects the same element. Conversion takes about 50 MB of memory for files of any size;
/// from HDF5 it takes up to 300 MB, and a chunk can have 256 MiB.
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
/// [`Error::Options`] for options that do not fit the formats. Nothing is written in case of an error.
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
        return Err(Error::options("no input to convert".to_owned()));
    };
    let from = match options.from {
        _ if !more.is_empty() => ArrayFormat::Pack(Container::Directory),
        Some(from) => from,
        None => ArrayFormat::of_input(input)?,
    };
    let has_many = !more.is_empty() || from.holds_many() && options.member.is_none();
    let (to, single) = match options.to {
        Some(single) if single.is_single() && ArrayFormat::is_directory(output, has_many) => {
            (ArrayFormat::Pack(Container::Directory), Some(single))
        }
        to => (to.map_or_else(|| ArrayFormat::of_output(output), Ok)?, None),
    };
    options.check(from, single.unwrap_or(to))?;
    let out = Destination { path: output, from, to, single, options };
    out.check_inputs(&inputs)?;
    let mut source = if more.is_empty() {
        open(from, input, options)?
    } else {
        tree::open_all(&inputs, options, open)?
    };
    out.add_groups(&mut source)?;
    // In a directory, a file that cannot be converted does not stop the others. A failing disk does.
    if let Some(at) = source.failed.iter().position(|(_, error)| matches!(error, Error::Io { .. }))
    {
        return Err(source.failed.swap_remove(at).1);
    }
    let goes_on = (from == ArrayFormat::Pack(Container::Directory) || single.is_some())
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
    let goes_on = |error: &Error| {
        goes_on
            && !matches!(error, Error::Interrupted | Error::AlreadyExists { .. } | Error::Io { .. })
    };
    let mut arrays = Vec::with_capacity(planned.len());
    for planned in planned {
        progress.at(&planned.name);
        let name = planned.converted.from.clone();
        match out.convert_one(planned, &mut source, &mut *sink, kept_metadata.as_ref()) {
            Ok(converted) => arrays.push(converted),
            Err(error) if goes_on(&error) => failed.push((name, error)),
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
            Err(error) if goes_on(&error) => failed.push((other.name.clone(), error)),
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
    let (target, output, leftovers) = ((*input).to_owned(), output.to_owned(), out.leftovers());
    Ok(ConvertReport { target, from, output, to, arrays, copied, failed, losses, bytes, leftovers })
}

/// Opens the arrays at `path` without reading their elements.
fn open(from: ArrayFormat, path: &Path, options: &ConvertOptions) -> Result<SourceArrays> {
    match from {
        ArrayFormat::Ra => rawarray::open_file(path, options),
        ArrayFormat::Npy => foreign::open_npy(path, options),
        ArrayFormat::Npz => foreign::open_npz(path, options),
        ArrayFormat::Ds => foreign::open_ds(path, options),
        ArrayFormat::Png => foreign::open_png(path, options),
        ArrayFormat::NetCdf | ArrayFormat::Hdf5 => grouped::open(from, path, options),
        ArrayFormat::Pack(Container::Directory) => tree::open_directory(path, options, open),
        ArrayFormat::Pack(_) => rawarray::open_pack(path, options),
        ArrayFormat::Raw | ArrayFormat::Csv | ArrayFormat::Json => {
            Err(Error::unsupported(format!("the format `{from}` can be written but not read")))
        }
    }
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

impl<'o> Destination<'o> {
    /// Converts one array.
    fn convert_one(
        &self,
        planned: PlannedArray,
        source: &mut SourceArrays,
        sink: &mut dyn WriteArrays,
        kept_metadata: Option<&PendingFile>,
    ) -> Result<Converted> {
        let (output, to, options) = (self.path, self.of_arrays(), self.options);
        let PlannedArray { index, reverse, original, mut converted, item, name } = planned;
        let Some(original) = original else {
            sink.inline(&name, &item)?;
            return Ok(converted);
        };
        (source.give)(index, output, &mut |mut data, verified| {
            (converted.verified, converted.trailing) = (verified, data.metadata.len);
            if let Some(file) = kept_metadata {
                data.metadata.write_at(file.file(), 0)?;
            } else if !to.is_rawarray() && !options.drop_metadata && converted.trailing > 0 {
                let lost = format!("{} bytes after its elements are lost", converted.trailing);
                let save = Message::from(lost).text("; save them with ");
                converted.losses.push(save.option(("keep_metadata", "FILE")));
            }
            if options.drop_metadata || !to.is_rawarray() {
                data.metadata = Metadata::default();
            }
            let data = Arranged::new(data, &original, reverse, output, options);
            converted.losses.extend(sink.array(&name, &item, data)?.into_iter().map(Message::from));
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
                let message = Message::default().option("keep_metadata");
                let message = message.text(" requires a single array; choose one with ");
                return Err(Error::options(message.option("member")));
            }
            Some(path) if self.files().iter().any(|other| fs::is_same_name(path, other)) => {
                let path = escape(&path.to_string_lossy()).to_string();
                let both = format!("`{path}` cannot be both the output and the file of ");
                return Err(Error::options(Message::from(both).option("keep_metadata")));
            }
            Some(path) => Some(PendingFile::create(path, options.force)?),
        };
        let begin = match to {
            ArrayFormat::Ra => sink::begin_file,
            ArrayFormat::Pack(Container::Directory) => sink::begin_directory,
            ArrayFormat::Pack(_) => archive::begin,
            _ => foreign::begin,
        };
        Ok((begin(self)?, metadata))
    }
}
