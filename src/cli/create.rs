//! `ra-pack create`

use std::io;
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::inspect::MetadataCounts;
use ra_pack::inspect::Patterns;
use ra_pack::manifest::BlockList;
use ra_pack::ndl::Attribute;
use ra_pack::path::escape_path;
use ra_pack::remote::is_url;
use ra_pack::verify::{Shard, store_checksums};
use ra_pack::write::{CreateOptions, CreateReport, Layout, ShardReport, create_shard, join_shards};
use ra_pack::{Container, Error};

use super::common::{Choices, Common, compression, size, words};
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, shell};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack create exp -o exp.zip
  ra-pack create exp -o exp.zip --attribute title='Mooring 7' --attribute licence=CC-BY-4.0
  ra-pack create exp -o exp.tar.zst --exclude '*.tmp' --exclude scratch
  ra-pack create exp -o exp.zip --describe --compression zstd:9
  ra-pack create exp -o exp.zip --sign-with 'minisign -Sm'
  ra-pack create exp -o exp.zip --layout bagit --bag-info 'Contact-Name=A. Scientist'
  ra-pack create exp -o - --container tar.zst --manifest exp.sha256 > exp.tar.zst
  ra-pack create exp -o exp.zip --shard 2/8

Environment:
  SOURCE_DATE_EPOCH   modification time of all members, seconds since 1970 UTC; default 1980-01-01")]
pub(crate) struct CreateArgs {
    /// Directory to pack.
    #[arg(value_name = "DIR")]
    source: PathBuf,

    /// Archive to write: .zip, .tar, .tar.gz, .tgz, .tar.zst or .tzst; a file, the URL of an object in a
    /// bucket, or `-`.
    #[arg(short, long, display_order = 0, value_name = "ARCHIVE")]
    output: PathBuf,

    /// Container, if the archive has no extension.
    #[arg(long, display_order = 1, value_name = "CONTAINER", value_parser = words(CONTAINERS))]
    container: Option<Container>,

    /// Lay out the pack as plain files or as a bag.
    #[arg(long, display_order = 1, value_name = "LAYOUT", default_value = "plain", value_parser = words(LAYOUTS))]
    layout: Layout,

    /// Add a line to the bag's bag-info.txt, such as 'Contact-Name=A. Scientist'. Repeatable.
    #[arg(long, display_order = 2, value_name = "LABEL=VALUE", value_parser = bag_info)]
    bag_info: Vec<(String, String)>,

    /// Refuse a bag that breaks the rules of this BagIt profile (JSON).
    #[arg(long, display_order = 2, value_name = "FILE")]
    profile: Option<PathBuf>,

    /// Add ro-crate-metadata.json, which repositories read.
    ///
    /// The pack needs the attributes title, summary, license and `date_issued`.
    #[arg(long, display_order = 3)]
    ro_crate: bool,

    /// Manifests to write: sha256, or sha256,sha512.
    #[arg(
        long,
        display_order = 4,
        value_name = "ALGORITHMS",
        value_delimiter = ',',
        default_value = "sha256"
    )]
    digest: Vec<ra_pack::digest::Algorithm>,

    /// List the digest of each block of files longer than SIZE [default: 8M], from 4K to 64M.
    ///
    /// A slice is then verified by reading only its blocks, and `verify` uses all cores for one large file.
    #[arg(
        long,
        display_order = 5,
        value_name = "SIZE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "8M",
        value_parser = block_size
    )]
    block_digests: Option<u64>,

    /// Write the manifest to FILE instead of next to the archive.
    #[arg(long, display_order = 13, value_name = "FILE")]
    manifest: Option<PathBuf>,

    /// Do not write a manifest next to the archive.
    #[arg(long, display_order = 13, conflicts_with_all = ["manifest", "sign_with", "time_with"])]
    no_external_manifest: bool,

    /// Also write ARCHIVE.sha256, the digest of the archive file itself.
    #[arg(long, display_order = 14)]
    archive_digest: bool,

    /// Print the checksums of the archive as S3 will show them.
    ///
    /// These are CRC64NVME, and SHA-256 as `aws s3 cp` makes it with parts of 8 MiB. The archive is read once more.
    #[arg(long, display_order = 14, hide_short_help = true, conflicts_with = "shard")]
    store_checksums: bool,

    /// Store the times of the files, on which the archive then depends.
    #[arg(long, display_order = 16, hide_short_help = true)]
    preserve_mtime: bool,

    /// Share disk blocks with the files, where the file system can.
    ///
    /// On btrfs and XFS, a zip without compression then takes no space for files above 32 KiB. Array data in it is
    /// aligned to 8 bytes instead of 64.
    #[arg(long, display_order = 16, hide_short_help = true)]
    clone: bool,

    /// Pack only shard I of N of the large files, so that several machines pack one directory.
    ///
    /// Files larger than 32 KiB are shared by their sizes. Every shard needs the same files and options.
    /// ARCHIVE.unfinished and ARCHIVE.shards exist until --join.
    #[arg(long, display_order = 17, hide_short_help = true, value_name = "I/N")]
    #[arg(conflicts_with_all = ["archive_digest", "sign_with", "time_with", "parity_with"])]
    shard: Option<Shard>,

    /// Complete an archive after all its shards were packed with --shard.
    #[arg(long, display_order = 17, hide_short_help = true, conflicts_with = "shard")]
    join: bool,

    #[command(flatten)]
    shared: SharedArgs,
}

/// Options of `create` and `add`. Help lists them between those that only one of the two commands has.
#[derive(Debug, Args)]
pub(super) struct SharedArgs {
    /// Set an attribute of the pack, such as title='Mooring 7'. Repeatable.
    #[arg(long, display_order = 3, value_name = "NAME=VALUE", value_parser = attribute)]
    attribute: Vec<Attribute>,

    /// Compress members of a zip, or set the level of a compressed tar: stored, deflate[:LEVEL]
    /// (2-9), zstd[:LEVEL] (1-19).
    #[arg(long, display_order = 6, value_name = "METHOD", default_value = "stored")]
    #[arg(value_parser = compression)]
    compression: ra_pack::archive::Compression,

    /// Add descriptions, made from headers, of arrays that have none.
    #[arg(long, display_order = 7)]
    describe: bool,

    /// Exclude files that match: `*.tmp` in every directory, `run1/raw` from the top. Repeatable.
    #[arg(long, display_order = 8, value_name = "GLOB")]
    exclude: Vec<String>,

    /// Follow symbolic links instead of rejecting them.
    #[arg(long, display_order = 9)]
    dereference: bool,

    /// Replace an existing archive.
    #[arg(short, long, display_order = 10)]
    force: bool,

    /// Treat warnings as errors and reject ra-pack's extensions to NDL.
    #[arg(long, display_order = 11)]
    strict: bool,

    /// Reject names that some systems cannot store or would confuse.
    #[arg(long, display_order = 12)]
    portable: bool,

    /// Sign the manifest next to the archive with this shell command; its path is appended as last argument.
    #[arg(long, display_order = 15, value_name = "COMMAND")]
    sign_with: Option<String>,

    /// Get a time-stamp (.tsr) of the manifest with this shell command, as --sign-with does.
    #[arg(long, display_order = 15, hide_short_help = true, value_name = "COMMAND")]
    time_with: Option<String>,

    /// Make parity files (.par2) with this command, which gets the path.
    #[arg(long, display_order = 15, hide_short_help = true, value_name = "COMMAND")]
    parity_with: Option<String>,

    #[command(flatten, next_display_order = 20)]
    pub(super) common: Common,
}

impl SharedArgs {
    /// Returns the options of the library.
    pub(super) fn options(&self, output: &Output) -> Result<CreateOptions, Failure> {
        Ok(CreateOptions {
            attributes: self.attribute.clone(),
            compression: self.compression,
            describe: self.describe,
            exclude: Patterns::new(&self.exclude)?,
            dereference: self.dereference,
            force: self.force,
            strict: self.strict,
            portable: self.portable,
            sign_with: self.sign_with.clone(),
            time_with: self.time_with.clone(),
            parity_with: self.parity_with.clone(),
            jobs: self.common.jobs,
            timestamp: timestamp()?,
            progress: output.progress(),
            ..CreateOptions::default()
        })
    }
}

/// The name of standard output in reports and errors.
const STANDARD_OUTPUT: &str = "standard output";

const CONTAINERS: &Choices<Container> = &[
    ("zip", Container::Zip, "A zip, in which one array can be read alone"),
    ("tar", Container::Tar, "A tar without compression"),
    ("tar.gz", Container::TarGz, "A tar compressed with gzip"),
    ("tar.zst", Container::TarZst, "A tar compressed with Zstandard"),
];

const LAYOUTS: &Choices<Layout> = &[
    ("plain", Layout::Plain, "The files as they are, with manifests next to them"),
    ("bagit", Layout::BagIt, "A BagIt 1.0 bag (RFC 8493)"),
];

/// Parses an attribute of a pack.
fn attribute(text: &str) -> Result<Attribute, String> {
    match text.split_once('=') {
        Some((name, value)) if !name.is_empty() => Ok(Attribute::read(name, value)),
        _ => Err("expected NAME=VALUE, such as title='Mooring 7'".to_owned()),
    }
}

fn block_size(text: &str) -> Result<u64, String> {
    // `8MiB` is as usual as `8M`.
    let number = text.strip_suffix("iB").unwrap_or(text);
    let bytes = size(number).ok().filter(|bytes| BlockList::BLOCK_SIZES.contains(bytes));
    bytes.ok_or_else(|| "expected a number of bytes from 4K to 64M".to_owned())
}

fn bag_info(text: &str) -> Result<(String, String), String> {
    let (label, value) = text.split_once('=').ok_or("expected LABEL=VALUE")?;
    Ok((label.to_owned(), value.to_owned()))
}

pub(super) fn run(args: &CreateArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = args.shared.options(output)?;
    options.container = args.container;
    options.layout = args.layout;
    options.manifest.clone_from(&args.manifest);
    options.bag_info.clone_from(&args.bag_info);
    options.profile.clone_from(&args.profile);
    options.digests.clone_from(&args.digest);
    options.block_digests = args.block_digests;
    options.ro_crate = args.ro_crate;
    options.no_external_manifest = args.no_external_manifest;
    options.archive_digest = args.archive_digest;
    options.preserve_mtime = args.preserve_mtime;
    options.clone = args.clone;
    let (source, archive) = (&args.source, &args.output);
    if args.store_checksums && (archive.as_os_str() == "-" || is_url(archive)) {
        return Err(Failure::options("--store-checksums needs an archive that is a file"));
    }
    let mut report = match args.shard {
        _ if archive.as_os_str() == "-" => to_standard_output(args, &options, output)?,
        Some(shard) => {
            let report = create_shard(source, archive, shard, &options)?;
            return show_shard(source, &report, args.shared.common.json, output);
        }
        None if args.join => join_shards(source, archive, &options)?,
        None => ra_pack::create(source, archive, &options)?,
    };
    if args.store_checksums {
        report.store_checksums = Some(store_checksums(&report.target, &output.progress())?);
    }
    show(source, &report, args.shared.common.json, output)
}

/// Prints a summary of a shard that was packed.
fn show_shard(
    source: &Path,
    report: &ShardReport,
    json: bool,
    output: &Output,
) -> Result<Ending, Failure> {
    diagnostics::show(source, &report.findings, &[], output);
    if json {
        output.json(report)?;
        return Ok(Ending::Clean);
    }
    output.note(&format!(
        "packed shard {} of {} ({}, {}); `--join` completes it when all shards are packed",
        report.shard,
        escape_path(&report.target),
        counted(report.files, "file"),
        human_bytes(report.bytes),
    ));
    Ok(Ending::Clean)
}

fn to_standard_output(
    args: &CreateArgs,
    options: &CreateOptions,
    output: &Output,
) -> Result<CreateReport, Failure> {
    let refused = [
        (output.is_terminal(), "an archive is not written to a terminal; use a pipe"),
        (args.shard.is_some() || args.join, "shards need a file; `-o -` has none"),
        (options.container.is_none(), "`-o -` has no extension; give --container, such as tar.zst"),
        (args.shared.common.json, "`-o -` and --json both use standard output"),
        (
            args.archive_digest,
            "--archive-digest writes a file next to the archive; `-o -` has none",
        ),
        (
            (options.sign_with.is_some() || options.time_with.is_some())
                && options.manifest.is_none(),
            "--sign-with and --time-with need the external manifest; with `-o -`, give --manifest FILE",
        ),
    ];
    if let Some((_, why)) = refused.into_iter().find(|(is_refused, _)| *is_refused) {
        return Err(Failure::options(why));
    }
    let created = ra_pack::write::create_to(&args.source, Output::pipe(), options);
    let mut report = created.map_err(|error| match error {
        Error::Io { action: "copy", source, .. } => {
            // The reader of a pipe that ended early has a part of the archive.
            let source = if source.kind() == io::ErrorKind::BrokenPipe {
                io::Error::other("its reader ended before the archive was complete")
            } else {
                source
            };
            Error::Io { action: "write", path: STANDARD_OUTPUT.into(), source }
        }
        other => other,
    })?;
    report.target = STANDARD_OUTPUT.into();
    Ok(report)
}

/// Prints a summary of what was packed from `source`.
pub(super) fn show(
    source: &Path,
    report: &CreateReport,
    json: bool,
    output: &Output,
) -> Result<Ending, Failure> {
    diagnostics::show(source, &report.findings, &report.leftovers, output);
    if json {
        output.json(report)?;
        return Ok(Ending::Clean);
    }
    let described = report.described.len() as u64;
    if described > 0 {
        output.note(&format!(
            "generated descriptions of {} from headers",
            counted(described, "array")
        ));
    }
    output.note(&format!(
        "packed {} and {} into {} ({}, {})",
        counted(report.arrays, "array"),
        counted(report.files - report.arrays, "other file"),
        escape_path(&report.target),
        report.container,
        human_bytes(report.archive_bytes),
    ));
    if let Some(manifest) = &report.external_manifest {
        output.note(&format!(
            "store {} apart from the archive; `verify --manifest` uses it to detect any change",
            escape_path(manifest)
        ));
    }
    let made = [("signature", &report.signature), ("time-stamp", &report.time_stamp)];
    let made = made.into_iter().filter_map(|(what, path)| Some((what, path.as_ref()?)));
    let parity = report.parity.iter().map(|path| ("parity", path));
    for (what, path) in made.chain(parity) {
        output.note(&format!("{what}: {}", escape_path(path)));
    }
    if let Some(sums) = &report.store_checksums {
        output.note(&format!("S3 shows CRC64NVME {} or SHA-256 {}", sums.crc64nvme, sums.sha256));
    }
    if let Some(lacks) = lacks(&report.metadata, source) {
        output.note(&lacks);
    }
    Ok(Ending::Clean)
}

/// Returns a message about missing units and long names, with the command that lists them.
pub(super) fn lacks(counts: &MetadataCounts, target: &Path) -> Option<String> {
    if counts.is_complete() {
        return None;
    }
    let of = |lacking: u64| match counts.arrays {
        1 => "the array".to_owned(),
        all if lacking == all => format!("all {all} arrays"),
        all => format!("{lacking} of {all} arrays"),
    };
    let verb = |lacking: u64| if lacking == 1 { "lacks" } else { "lack" };
    let (units, names) = (counts.without_units, counts.without_name);
    let lacking = match (units, names) {
        (0, _) => format!("{} {} a long name", of(names), verb(names)),
        (_, 0) => format!("{} {} units", of(units), verb(units)),
        _ if units == names => format!("{} {} units and a long name", of(units), verb(units)),
        _ => format!("{} {} units, and {} a long name", of(units), verb(units), of(names)),
    };
    let target = shell::path(target);
    Some(format!("{lacking}; `ra-pack validate --metadata {target}` lists them"))
}

/// Returns the time in `SOURCE_DATE_EPOCH`, by the convention of reproducible builds.
fn timestamp() -> Result<Option<u64>, Failure> {
    let Some(value) = std::env::var_os("SOURCE_DATE_EPOCH") else { return Ok(None) };
    let seconds = value.to_str().and_then(|value| value.parse().ok());
    seconds.map(Some).ok_or_else(|| {
        let value = escape_path(value.as_ref());
        Failure::options(format!("SOURCE_DATE_EPOCH: expected seconds since 1970, found `{value}`"))
    })
}
