//! Arrays from one form into another: one file, several in one, or a pack.
//!
//! Two things are decided before the first element is read: what everything will be called, and what has to
//! move. Elements then go from file to file, in pieces or as they lie, so that memory does not depend on how
//! many there are.

mod choice;
mod data;
mod form;
mod item;
mod names;
mod options;
mod plan;
mod rawarray;
mod report;
mod sink;
mod source;

use std::path::Path;

pub use self::form::{Form, UnknownForm};
pub use self::options::{ConvertOptions, Reinterpret};
pub use self::report::{ConvertReport, Converted};

pub(super) use self::choice::member_name;
pub(super) use self::item::{Described, Item};

use self::data::Arranged;
use self::plan::Planned;
use self::sink::Sink;
use self::source::Source;
use crate::error::Result;
use crate::fs;

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

    let mut source = Source::open(input, from, options)?;
    let chosen = choice::choose(&source.items, input, to, options)?;
    let carries_names = plan::carries_names(input, output, from, to, options);
    let planned = plan::plan(&source.items, &chosen, output, from, to, options, carries_names)?;

    let mut report = ConvertReport::new(input, output, from, to);
    report.losses.append(&mut source.losses);
    let mut sink = Sink::begin(output, from, to, &planned, options)?;
    let progress = &options.progress;
    let sizes = || planned.iter().filter_map(|planned| Some(planned.original.as_ref()?.data_len()));
    let all = sizes().fold(0, u64::saturating_add);
    // What is compressed takes fewer bytes to read.
    let most = fs::file_len(input).unwrap_or(u64::MAX);
    progress.stage("converting", all.min(most), u64::try_from(planned.len()).unwrap_or(u64::MAX));
    for Planned { index, reverse, original, mut converted, item, name } in planned {
        if let Some(original) = original {
            progress.begin(&name, original.data_len());
            let elements = source.elements(index, output)?;
            converted.verified = elements.verified;
            converted.trailing = elements.metadata.len();
            let data = Arranged::new(elements.data, &original, reverse);
            sink.write(&name, &item, data, &elements.metadata, &mut converted)?;
        } else {
            sink.write_inline(&name, &item)?;
        }
        progress.done(1);
        report.add(converted);
    }
    report.bytes = sink.finish(&mut report.losses)?;
    report.leftovers =
        sink::places(output, to, options).flat_map(|path| fs::leftovers(&path)).collect();
    Ok(report)
}
