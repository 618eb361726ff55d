//! `ra-pack describe` and `ra-pack reshape`

use std::path::{Path, PathBuf};

use clap::{ArgGroup, Args};
use ra_pack::describe::{Change, DescribeOptions, MetadataEdits, UpdateReport};
use ra_pack::ndl::{self, Attribute, Value};
use ra_pack::path::{escape, escape_path};

use super::output::Output;
use super::text::counted;
use super::{Ending, Failure, diagnostics, files, shell};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack describe run1/temperature.ra
  ra-pack describe exp.zip
  ra-pack describe --write --dimcoords exp
  ra-pack describe --set temperature.units=degree_Celsius --dims temperature=depth,time exp
  ra-pack describe --set title='Mooring 7' exp.zip
  ra-pack describe --dims bart exp
  ra-pack describe --template exp > meta.csv
  ra-pack describe --apply meta.csv --dry-run exp
  ra-pack describe --update exp/run1/temperature.ra")]
#[command(group(ArgGroup::new("editing").multiple(true)))]
pub(crate) struct DescribeArgs {
    /// Array, directory or archive; a directory or archive gives one document.
    #[arg(value_name = "TARGET")]
    target: PathBuf,

    /// Write a description next to every array of a directory or archive that has none; change no other file.
    #[arg(long, group = "writing", conflicts_with = "editing")]
    write: bool,

    /// Update the description of an array, or all descriptions of a directory, to agree with the
    /// headers.
    #[arg(long, group = "writing", conflicts_with_all = ["dimcoords", "editing"])]
    update: bool,

    /// Set an attribute of an array, such as temperature.units=K, or of the pack, such as
    /// title='Mooring 7'. An empty VALUE removes it. Repeatable.
    #[arg(long, group = "editing", value_name = "NAME.ATTRIBUTE=VALUE", value_parser = assignment)]
    set: Vec<Assignment>,

    /// Name the dimensions of an array. A 1-D array of that name has the coordinates. With `bart`
    /// instead of names, use the dimensions of BART; without NAME=, for all arrays of complex64.
    /// Repeatable.
    #[arg(long, group = "editing", value_name = "NAME=DIM,DIM...")]
    dims: Vec<String>,

    /// Print a CSV table of all arrays with their dimensions, units and names, to fill in.
    #[arg(long, group = "writing", conflicts_with = "editing")]
    template: bool,

    /// Apply a filled-in CSV table; `-` reads standard input. Empty cells change nothing.
    #[arg(long, group = "editing", value_name = "FILE")]
    apply: Option<PathBuf>,

    /// Turn undescribed 1-D arrays named like a coordinate (time, lat, lon, x, y, z, depth,
    /// frequency, ...) into coordinates. Other undescribed arrays refer to a coordinate if it is the
    /// only one of that length.
    #[arg(long)]
    dimcoords: bool,

    /// Show what would be written or changed, without changing any file.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Use N threads [default: one per core].
    #[arg(short, long, value_name = "N", value_parser = super::common::jobs)]
    jobs: Option<usize>,

    /// Print the description, or the changes, as JSON.
    #[arg(long, conflicts_with = "template")]
    json: bool,
}

/// Key and value of an assignment.
type Assignment = (String, Value);

fn assignment(text: &str) -> Result<Assignment, String> {
    let Some((key, value)) = text.split_once('=').filter(|(key, _)| !key.is_empty()) else {
        return Err("expected NAME.ATTRIBUTE=VALUE, such as temperature.units=K".to_owned());
    };
    let name = key.rsplit('.').next().unwrap_or(key);
    let value = if value.is_empty() { Value::Null } else { Attribute::read(name, value).value };
    Ok((key.to_owned(), value))
}

pub(super) fn run(args: &DescribeArgs, output: &Output) -> Result<Ending, Failure> {
    let options = DescribeOptions {
        dimcoords: args.dimcoords,
        dry_run: args.dry_run,
        jobs: args.jobs,
        progress: output.progress(),
    };
    let target = &args.target;
    if args.template {
        let table = ra_pack::describe::metadata_table(target, &options)?;
        output.file(table.as_bytes())?;
        return Ok(Ending::Clean);
    }
    if !args.set.is_empty() || !args.dims.is_empty() || args.apply.is_some() {
        let edits = edits(args)?;
        let report = ra_pack::describe::edit_descriptions(target, &edits, &options)?;
        return changed(args, &report, output);
    }
    if args.update {
        let report = ra_pack::describe::update_descriptions(target, &options)?;
        return changed(args, &report, output);
    }
    if !args.write {
        let text = ra_pack::describe::describe_target(target, &options)?;
        if args.json {
            output.json(&ndl::parse(text.as_bytes()).document)?;
        } else {
            output.file(text.as_bytes())?;
        }
        return Ok(Ending::Clean);
    }
    let report = ra_pack::describe::write_descriptions(target, &options)?;
    diagnostics::show(target, &report.findings, &report.leftovers, output);
    if args.json {
        output.json(&report)?;
        return Ok(Ending::of(&report.findings));
    }
    for name in &report.written {
        written(&target.join(name), args.dry_run, output);
    }
    if report.written.is_empty() {
        output.note(&format!("{} already described", counted(report.described, "array")));
    }
    Ok(Ending::of(&report.findings))
}

/// The word for the dimension names of BART.
const BART: &str = "bart";

/// Collects the edits from the table, then those from the command line.
fn edits(args: &DescribeArgs) -> Result<MetadataEdits, Failure> {
    let table = args.apply.as_deref().map(files::text).transpose()?;
    let mut edits = match table {
        Some(text) => MetadataEdits::of_table(&text)?,
        None => MetadataEdits::default(),
    };
    for (key, value) in &args.set {
        edits.set(key.as_str(), value.clone());
    }
    for text in &args.dims {
        let (array, names) = match text.split_once('=') {
            Some(named) => named,
            None if text == BART => ("", BART),
            None if args.target.is_dir()
                || ra_pack::Container::from_extension(&args.target).is_some() =>
            {
                return Err(Failure::options(format!(
                    "--dims {}: expected NAME=DIM,DIM, such as --dims temperature=time,lat,lon",
                    escape(text)
                )));
            }
            None => ("", text.as_str()),
        };
        match names {
            BART => edits.bart_dims(array),
            names => edits.dims(array, names.split(',').map(str::trim)),
        }
    }
    Ok(edits)
}

/// Prints the changes.
fn changed(args: &DescribeArgs, report: &UpdateReport, output: &Output) -> Result<Ending, Failure> {
    diagnostics::show(&args.target, &report.findings, &[], output);
    if args.json {
        output.json(&report)?;
        return Ok(Ending::of(&report.findings));
    }
    for document in &report.written {
        written(document, args.dry_run, output);
    }
    let of_one = |one: &Change, other: &Change| {
        (&one.document, &one.array, &one.key) == (&other.document, &other.array, &other.key)
    };
    for changes in report.changes.chunk_by(of_one) {
        output.note(&change_text(changes));
    }
    for (key, value) in &args.set {
        if let Some(value) = value.as_str() {
            misspelt(args, key, value, output);
        }
    }
    if report.changes.is_empty() && report.is_clean() {
        let count = counted(report.unchanged, "description");
        output.note(&format!("{count} already up to date"));
    } else if args.dry_run {
        output.note("dry run: nothing was changed");
    } else if args.target.join(MANIFEST).is_file() && !report.changes.is_empty() {
        let target = shell::path(&args.target);
        output.note(&format!(
            "{} is out of date; `ra-pack manifest --write --force {target}` updates it",
            escape_path(&args.target.join(MANIFEST))
        ));
    }
    Ok(Ending::of(&report.findings))
}

/// Warns of the name of an attribute that is spelt in another way than in the CF conventions.
fn misspelt(args: &DescribeArgs, key: &str, value: &str, output: &Output) {
    let (start, name) = key.split_at(key.rfind('.').map_or(0, |dot| dot + 1));
    let meant = match &*name.to_lowercase().replace(['_', '-', ' '], "") {
        "unit" | "units" => "units",
        "longname" => "long_name",
        "standardname" => "standard_name",
        _ => return,
    };
    if name != meant {
        let right = format!("{start}{meant}");
        let [old, new, value] = [key, &right, value].map(|text| shell::word(text.as_bytes()));
        output.message(&format!(
            "warning: programs know the attribute `{meant}`, not `{}`\n  next: `ra-pack describe --set {old}= --set {new}={value} {}`",
            escape(name), shell::path(&args.target)
        ));
    }
}

/// Name of the manifest of a directory.
const MANIFEST: &str = "manifest-sha256.txt";

fn written(document: &Path, dry_run: bool, output: &Output) {
    let done = if dry_run { "would write" } else { "wrote" };
    output.note(&format!("{done} {}", escape_path(document)));
}

/// Formats a change as `exp/temperature.yaml:7: units of temperature.ra: m is now K`, or the changes to one shape.
fn change_text(changes: &[Change]) -> String {
    let Some(change @ Change { document, line, key, .. }) = changes.first() else {
        return String::new();
    };
    let of = match (&change.array, key.split_once('.')) {
        (Some(array), Some(("attributes", name))) => {
            format!("{} of {}", escape(name), escape(array))
        }
        (Some(array), _) => format!("{} of {}", escape(key), escape(array)),
        (None, Some(("attributes", name))) => format!("{} of the pack", escape(name)),
        (None, Some(("dimcoords", name))) => format!("dimension {}", escape(name)),
        (None, _) => escape(key).to_string(),
    };
    let text = |value: fn(&Change) -> Option<&String>| {
        let all: Option<Vec<_>> =
            changes.iter().map(|change| Some(value(change)?.as_str())).collect();
        all.map(|all| escape(&all.join(", ")).to_string())
    };
    let change = match (text(|change| change.from.as_ref()), text(|change| change.to.as_ref())) {
        (Some(from), Some(to)) => format!("{from} is now {to}"),
        (None, Some(to)) => to,
        (Some(from), None) => format!("{from} was removed"),
        (None, None) => String::new(),
    };
    format!("{}:{line}: {of}: {change}", escape_path(document))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack reshape run1/frames.ra 512 512 200
  ra-pack reshape run1/frames.ra 512 -1 --dry-run
  ra-pack reshape run1/frames.ra 512 -1")]
pub(crate) struct ReshapeArgs {
    /// Array (.ra).
    #[arg(value_name = "FILE")]
    file: PathBuf,

    /// New length of each dimension; none for a single element.
    #[arg(value_name = "N", value_parser = extent, allow_negative_numbers = true)]
    shape: Vec<Option<u64>>,

    /// Show what would be changed, without changing any file.
    #[arg(short = 'n', long)]
    dry_run: bool,

    /// Print a report as JSON.
    #[arg(long)]
    json: bool,
}

/// Parses a length. Returns `None` for -1, which is computed from the others.
fn extent(text: &str) -> Result<Option<u64>, String> {
    match text {
        "-1" => Ok(None),
        _ => text.parse().map(Some).map_err(|_| {
            "expected a length such as 149, or -1 to compute it from the others".to_owned()
        }),
    }
}

pub(super) fn reshape(args: &ReshapeArgs, output: &Output) -> Result<Ending, Failure> {
    let options = DescribeOptions { dry_run: args.dry_run, ..DescribeOptions::default() };
    let report = ra_pack::describe::reshape(&args.file, &args.shape, &options)?;
    if args.json {
        output.json(&report)?;
        return Ok(Ending::Clean);
    }
    let name = escape_path(&report.target).to_string();
    output.note(&format!("{name}: {:?} is now {:?}", report.from, report.to));
    for document in &report.documents {
        output.note(&format!("{}: updated", escape_path(document)));
    }
    if args.dry_run {
        output.note("dry run: nothing was changed");
    }
    Ok(Ending::Clean)
}
