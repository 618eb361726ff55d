//! `ra-pack add`

use std::path::PathBuf;

use clap::Args;
use ra_pack::PackWriter;
use ra_pack::create::CreateOptions;
use ra_pack::list::Patterns;
use ra_pack::ndl::Attribute;

use super::args::{Common, compression};
use super::create::{attribute, show, timestamp};
use super::output::Output;
use super::{Ending, Failure};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack add exp.zip results.npz
  ra-pack add exp.zip run1/velocity.ra run1/velocity.yaml --force
  ra-pack add exp.zip --remove notes.txt

Environment:
  SOURCE_DATE_EPOCH   the time of every member, in seconds since 1970 UTC; otherwise 1980-01-01")]
pub(crate) struct AddArgs {
    /// The archive to add to.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// Files and directories to add, by their names below DIR.
    #[arg(value_name = "FILE", required_unless_present_any = ["remove", "attribute"])]
    files: Vec<String>,

    /// Take files from this directory.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Remove a file, an array with its description, or a directory from the pack. Repeatable.
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,

    /// Give the pack an attribute, or change it, such as title='Mooring 7'. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = attribute)]
    attribute: Vec<Attribute>,

    /// Replace files that are in the pack already.
    #[arg(short, long)]
    force: bool,

    /// Compress added members of a zip: stored, deflate[:LEVEL] (2-9), zstd[:LEVEL] (1-19).
    #[arg(long, value_name = "METHOD", default_value = "stored", value_parser = compression)]
    compression: ra_pack::archive::Compression,

    /// Describe arrays without a description by their headers.
    #[arg(long)]
    describe: bool,

    /// Leave out what matches; `*.tmp` in every directory, `run1/raw` from the top. Repeatable.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Add what symbolic links lead to, instead of refusing them.
    #[arg(long)]
    dereference: bool,

    /// Refuse warnings, and words that are extensions of the language.
    #[arg(long)]
    strict: bool,

    /// Refuse names that Windows, macOS or a common file system cannot write or tells apart otherwise.
    #[arg(long)]
    portable: bool,

    /// Sign the manifest beside the archive: a shell command that takes its path as last argument.
    #[arg(long, value_name = "COMMAND")]
    sign_with: Option<String>,

    #[command(flatten)]
    common: Common,
}

pub(super) fn run(args: &AddArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = CreateOptions::default();
    options.compression = args.compression;
    options.attributes.clone_from(&args.attribute);
    options.describe = args.describe;
    options.exclude = Patterns::new(&args.exclude)?;
    options.dereference = args.dereference;
    options.force = args.force;
    options.strict = args.strict;
    options.portable = args.portable;
    options.jobs = args.common.jobs;
    options.sign_with.clone_from(&args.sign_with);
    options.timestamp = timestamp()?;
    options.progress = output.progress();
    let mut pack = PackWriter::update(&args.archive, options)?;
    for name in &args.remove {
        pack.remove(name)?;
    }
    for name in &args.files {
        // As a shell completes it: `./run1/` is `run1`.
        let parts: Vec<_> = name.split('/').filter(|part| *part != ".").collect();
        let name = parts.join("/");
        let name = name.trim_end_matches('/');
        pack.add(&args.directory, if name.is_empty() { "." } else { name })?;
    }
    let report = pack.finish()?;
    show(&args.archive, report, args.common.json, output)
}
