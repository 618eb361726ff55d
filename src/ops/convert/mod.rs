//! Arrays from one form into another: one file, several in one, or a pack.
//!
//! Two things are decided before the first element is read: what everything will be called, and what has to
//! move. Elements then go from file to file, in pieces or as they lie, so that memory does not depend on how
//! many there are.

mod data;
mod foreign;
mod format;
mod item;
mod names;
mod options;
mod plan;
mod rawarray;

use std::path::Path;

pub use self::format::{Form, UnknownForm};
pub use self::options::{ConvertOptions, ConvertReport, Converted, Reinterpret};

pub(super) use self::item::{Described, Item};
pub(super) use self::plan::member_name;

use self::data::{Arranged, Metadata};
use self::format::{Elements, OutgoingArray, Output, Source, settle};
use self::plan::PlannedArray;
use crate::error::Result;
use crate::fs;
use crate::pipeline;

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
                    "{} bytes follow its elements; --keep-metadata FILE writes them to a file",
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
