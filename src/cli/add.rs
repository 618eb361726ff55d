//! `ra-pack add`

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Arg, Args};
use ra_pack::convert::{ConvertOptions, add_converted};
use ra_pack::{Error, PackWriter};

use super::create::{SharedArgs, show};
use super::output::Output;
use super::{Ending, Failure, convert, shell};

#[derive(Debug, Args)]
#[command(mut_args(of_update))]
#[command(after_long_help = "\
Examples:
  ra-pack add exp.zip results.npz
  ra-pack add exp.zip run1/velocity.ra --force
  ra-pack add exp.zip --remove notes.txt
  ra-pack add exp.zip --convert temperature.npy

Environment:
  SOURCE_DATE_EPOCH   modification time of all members, seconds since 1970 UTC; default 1980-01-01")]
pub(crate) struct AddArgs {
    /// Archive to change.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// Files and directories to add, named by their paths relative to DIR. An array brings its description.
    #[arg(value_name = "FILE", required_unless_present_any = ["remove", "attribute"])]
    files: Vec<String>,

    /// Resolve FILE relative to this directory.
    #[arg(short = 'C', long, display_order = 1, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Remove a file, an array with its description, or a directory. Repeatable.
    #[arg(long, display_order = 2, value_name = "NAME")]
    remove: Vec<String>,

    /// Convert files of other formats, such as .npy, to arrays. With --force, descriptions that still fit stay.
    #[arg(long, display_order = 3)]
    convert: bool,

    #[command(flatten)]
    shared: SharedArgs,
}

/// Adapts options of `create` to an archive that exists.
fn of_update(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "force" => arg.help("Replace files that are already in the pack").display_order(4),
        "compression" => arg.help(
            "Compress added members of a zip: stored, deflate[:LEVEL] (2-9), zstd[:LEVEL] (1-19)",
        ),
        "describe" => arg.help("Generate descriptions from headers for arrays that have none"),
        _ => arg,
    }
}

/// Adds the command for a file outside the directory to the error about its name.
fn elsewhere(error: Error, args: &AddArgs, name: &str) -> Failure {
    let path = args.directory.join(name);
    let path = path.strip_prefix(".").unwrap_or(&path);
    let is_outside = matches!(error, Error::InvalidPath(_));
    let Some((parent, last)) = path.parent().zip(path.file_name()).filter(|_| is_outside) else {
        return error.into();
    };
    let [archive, parent] = [&args.archive, parent].map(shell::path);
    let last = shell::word(last.as_encoded_bytes());
    let next = format!("`ra-pack add {archive} -C {parent} {last}` adds it as `{last}`");
    Failure::from(error).next(next)
}

/// Returns a name without `.` and slashes at its end: shell completion gives `./run1/` for `run1`.
fn normalized(name: &str) -> String {
    let parts: Vec<_> = name.split('/').filter(|part| *part != ".").collect();
    let name = parts.join("/");
    let name = name.trim_end_matches('/');
    if name.is_empty() { ".".to_owned() } else { name.to_owned() }
}

/// Returns the description next to an array, which is added with it.
fn description_of(args: &AddArgs, name: &str) -> Option<String> {
    let stem = name.strip_suffix(".ra")?;
    let names = [".yaml", ".yml"].map(|end| format!("{stem}{end}"));
    names.into_iter().find(|name| args.directory.join(name).is_file())
}

pub(super) fn run(args: &AddArgs, output: &Output) -> Result<Ending, Failure> {
    let options = args.shared.options(output)?;
    let converting = ConvertOptions {
        dereference: options.dereference,
        exclude: options.exclude.clone(),
        jobs: options.jobs,
        progress: options.progress.clone(),
        ..ConvertOptions::default()
    };
    let mut pack = PackWriter::update(&args.archive, options)?;
    for name in &args.remove {
        pack.remove(name)?;
    }
    let mut converted = Vec::new();
    let mut names: BTreeSet<String> = args.files.iter().map(|name| normalized(name)).collect();
    names.extend(names.iter().filter_map(|name| description_of(args, name)).collect::<Vec<_>>());
    for name in &names {
        let added = if args.convert {
            add_converted(&mut pack, &args.directory, name, &converting)
        } else {
            pack.add(&args.directory, name).map(|()| None)
        };
        converted.extend(added.map_err(|error| elsewhere(error, args, name))?);
    }
    let report = pack.finish()?;
    for report in &converted {
        convert::show_lines(report, output);
    }
    let ending = show(&args.archive, &report, args.shared.common.json, output)?;
    for report in &converted {
        convert::show_failed(report, output);
    }
    Ok(converted.iter().map(convert::ending).find(|ended| *ended != ending).unwrap_or(ending))
}
