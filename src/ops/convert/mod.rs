//! Arrays from one form into another: one file, several in one, or a pack.
//!
//! Two things are decided before the first element is read: what everything will be called, and what has to
//! move. Elements then go from file to file, in pieces or as they lie, so that memory does not depend on how
//! many there are.

mod data;
mod foreign;
mod format;
mod item;
mod plan;
mod rawarray;

pub use self::format::{Form, UnknownForm};
pub(super) use self::item::{Described, Item};
pub(super) use self::plan::member_name;

use std::path::{Path, PathBuf};

use serde::Serialize;

use self::data::{Arranged, Metadata};
use self::format::{Elements, OutgoingArray, Output, Source, settle};
use self::plan::PlannedArray;
use crate::archive::Compression;
use crate::error::{Error, Result};
use crate::fs;
use crate::ndl::Order;
use crate::pipeline;
use crate::progress::Progress;

/// Converts the arrays at `input` to what `output` is to be. The output gets its name when it is complete,
/// and takes the place of what is there only with [`force`](ConvertOptions::force).
///
/// Data with the last index fastest is transposed on the way to RawArray, unless
/// [`order`](ConvertOptions::order) says otherwise; the same index gives the same element before and after.
/// Files of any size are converted in some 50 MB of memory.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use ra_pack::{ConvertOptions, convert};
///
/// # let directory = tempfile::tempdir()?;
/// # let out = directory.path().join("velocity");
/// let report = convert("examples/experiment".as_ref(), &out, &ConvertOptions::default())?;
/// assert!(report.arrays.iter().any(|array| array.to == "currents/velocity.ra"));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
///
/// When the input is not what its form demands, which names the byte; when an array has no counterpart in
/// the other form, which names the nearest way out; when something is there already. Nothing is written then.
pub fn convert(input: &Path, output: &Path, options: &ConvertOptions) -> Result<ConvertReport> {
    let from = options.from.map_or_else(|| Form::of_input(input), Ok)?;
    let to = options.to.map_or_else(|| Form::of_output(output), Ok)?;
    options.check(from, to)?;

    let out = Output { path: output, from, to, options };
    let mut source = Source::open(input, from, options)?;
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
    let jobs = pipeline::jobs(options.jobs);
    for PlannedArray { index, reverse, original, mut converted, item, name } in planned {
        if let Some(original) = original {
            progress.begin(&name, original.data_len());
            let Elements { data, metadata, verified } = source.elements(index, output)?;
            (converted.verified, converted.trailing) = (verified, metadata.len());
            let data = Arranged::new(data, &original, reverse, output, jobs);
            if let Some(file) = &kept_metadata {
                metadata.write_at(file.file(), 0)?;
            } else if !to.is_rawarray() && !options.drop_metadata && converted.trailing > 0 {
                converted.losses.push(format!(
                    "{} bytes follow its elements; the option `keep_metadata: FILE` writes them to a file",
                    converted.trailing
                ));
            }
            let metadata = if options.drop_metadata { Metadata::None } else { metadata };
            let lost = sink.array(OutgoingArray { name: &name, item: &item, data, metadata })?;
            converted.losses.extend(lost);
        } else {
            sink.inline(&name, &item)?;
        }
        progress.done(1);
        arrays.push(converted);
    }
    if let Some(file) = kept_metadata {
        settle(file)?;
    }
    let bytes = sink.finish(&mut losses)?;
    let (input, output) = (input.to_owned(), output.to_owned());
    Ok(ConvertReport { input, from, output, to, arrays, losses, bytes, leftovers: out.leftovers() })
}

/// How to convert.
#[derive(Debug, Clone, Default)]
pub struct ConvertOptions {
    /// The form of the input; by its name when not given.
    pub from: Option<Form>,
    /// The form of the output; by its name when not given.
    pub to: Option<Form>,
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

/// What elements are taken for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reinterpret {
    /// Elements of two bytes without a type are brain floats: `ml_dtypes` saves them so.
    BFloat16,
    /// Elements that numpy has no type for are bytes without a type.
    Void,
}

impl ConvertOptions {
    /// That each option means something for these forms.
    fn check(&self, from: Form, to: Form) -> Result<()> {
        let is_numpy = |form| matches!(form, Form::Npy | Form::Npz);
        let is_zstd = matches!(self.compression, Some(Compression::Zstd { .. }));
        let reason = if self.order == Some(Order::RowUnreversed) {
            "`row-unreversed` is only read; give column or row".to_owned()
        } else if self.order == Some(Order::Column) && matches!(to, Form::Ds | Form::Png) {
            format!("a .{to} always has the last index fastest; leave the option `order` out")
        } else if self.keep_endian && !to.is_rawarray() && !is_numpy(to) {
            format!("a .{to} does not keep the byte order; leave the option `keep_endian` out")
        } else if self.masks && from != Form::Ds && to != Form::Ds {
            "only a .ds has masks; leave the option `masks` out".to_owned()
        } else if self.compression.is_some() && !matches!(to, Form::Npz | Form::Pack(_)) {
            format!("a .{to} has no compression to choose")
        } else if to == Form::Npz && is_zstd {
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
pub struct ConvertReport {
    /// The input, by its path as given.
    pub input: PathBuf,
    /// The format of the input.
    pub from: Form,
    /// The output, by its path as given.
    pub output: PathBuf,
    /// The format of the output.
    pub to: Form,
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
pub struct Converted {
    /// The name of the array in the input.
    pub from: String,
    /// The name of the array in the output.
    pub to: String,
    /// Whether it has another name than it would have had: no file may have that, or something has it already.
    pub renamed: bool,
    /// The type of its elements, such as `float32`.
    #[serde(rename = "type")]
    pub element: String,
    /// Extents in the order of indices.
    pub shape: Vec<u64>,
    /// The index that is the fastest in the output.
    #[cfg_attr(test, schemars(with = "crate::ndl::Order"))]
    pub order: &'static str,
    /// Whether its elements were reordered.
    pub reordered: bool,
    /// Whether the manifest of the input vouches for it.
    pub verified: bool,
    /// Bytes that follow its elements in the input.
    pub trailing: u64,
    /// The facts of the array that the output does not have, one sentence each.
    pub losses: Vec<String>,
}
