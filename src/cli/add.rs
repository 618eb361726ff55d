//! `ra-pack add`

use std::path::PathBuf;

use clap::Args;
use ra_pack::PackWriter;
use ra_pack::inspect::Patterns;
use ra_pack::ndl::Attribute;
use ra_pack::write::CreateOptions;

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
  SOURCE_DATE_EPOCH   modification time of all members, seconds since 1970 UTC; default 1980-01-01")]
pub(crate) struct AddArgs {
    /// Archive to change.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// Files and directories to add, named by their paths relative to DIR.
    #[arg(value_name = "FILE", required_unless_present_any = ["remove", "attribute"])]
    files: Vec<String>,

    /// Resolve FILE relative to this directory.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Remove a file, an array with its description, or a directory. Repeatable.
    #[arg(long, value_name = "NAME")]
    remove: Vec<String>,

    /// Set an attribute of the pack, such as title='Mooring 7'. Repeatable.
    #[arg(long, value_name = "NAME=VALUE", value_parser = attribute)]
    attribute: Vec<Attribute>,

    /// Replace files that are already in the pack.
    #[arg(short, long)]
    force: bool,

    /// Compress added members of a zip: stored, deflate[:LEVEL] (2-9), zstd[:LEVEL] (1-19).
    #[arg(long, value_name = "METHOD", default_value = "stored", value_parser = compression)]
    compression: ra_pack::archive::Compression,

    /// Generate descriptions from headers for arrays that have none.
    #[arg(long)]
    describe: bool,

    /// Exclude files that match: `*.tmp` in every directory, `run1/raw` from the top. Repeatable.
    #[arg(long, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Follow symbolic links instead of rejecting them.
    #[arg(long)]
    dereference: bool,

    /// Treat warnings as errors and reject ra-pack's extensions to NDL.
    #[arg(long)]
    strict: bool,

    /// Reject names that Windows, macOS or common file systems cannot store or would confuse.
    #[arg(long)]
    portable: bool,

    /// Sign the manifest next to the archive with this shell command; its path is appended as last argument.
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
        // Shell completion gives `./run1/` for `run1`.
        let parts: Vec<_> = name.split('/').filter(|part| *part != ".").collect();
        let name = parts.join("/");
        let name = name.trim_end_matches('/');
        pack.add(&args.directory, if name.is_empty() { "." } else { name })?;
    }
    let report = pack.finish()?;
    show(&args.archive, &report, args.common.json, output)
}
