//! What can be typed.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand, ValueEnum};

use super::diff::Diff;
use super::reshape::Reshape;

const EXIT_STATUS: &str = "\
Exit status: 0 done and clean (warnings allowed, unless --strict); 1 findings: damage, mismatch,
a malformed archive, a refused description; 2 could not be done: usage, I/O, no such member,
target exists, unsupported.";

/// Packs a directory of RawArray data and its descriptions into one archive that can be read,
/// understood and audited decades from now.
#[derive(Debug, Parser)]
#[command(name = "ra-pack", version, max_term_width = 100, after_help = EXIT_STATUS)]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Print nothing but findings and what was asked for.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Create(Create),
    Convert(Convert),
    Verify(Verify),
    List(List),
    Info(Info),
    Get(Get),
    Extract(Extract),
    Describe(Describe),
    Diff(Diff),
    Reshape(Reshape),
    Explain(Explain),
    Schema(Schema),
    Validate(Validate),
}

/// Check every description, pack, and write both manifests.
///
/// Every array (X.ra) needs a description: X.yaml beside it, or an entry in the directory's own
/// manifest.yaml. Each is compared with the header of its array, and no archive is made when one
/// is wrong. The archive gets its name when it is complete; the directory is never changed.
///
/// The same content gives the same bytes, whatever the number of jobs.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack create exp -o exp.zip
  ra-pack create exp -o exp.tar.zst --exclude '*.tmp' --exclude scratch
  ra-pack create exp -o exp.zip --describe --compression zstd:9
  ra-pack create exp -o exp.zip --sign-with 'minisign -Sm'
  ra-pack create exp -o exp.zip --layout bagit --bag-info 'Contact-Name=A. Scientist'

Environment:
  SOURCE_DATE_EPOCH   the time of every member, in seconds since 1970 UTC; otherwise 1980-01-01")]
pub(crate) struct Create {
    /// The directory to pack.
    #[arg(value_name = "DIR")]
    pub(crate) source: PathBuf,

    /// The archive to make: .zip, .tar, .tar.gz, .tgz, .tar.zst or .tzst.
    #[arg(short, long, value_name = "ARCHIVE")]
    pub(crate) output: PathBuf,

    /// How to lay out the pack.
    #[arg(long, value_name = "LAYOUT", default_value = "plain")]
    pub(crate) layout: LayoutArg,

    /// Say this in bag-info.txt of a bag, such as 'Contact-Name=A. Scientist'. Repeatable.
    #[arg(long, value_name = "LABEL=VALUE", value_parser = bag_info)]
    pub(crate) bag_info: Vec<(String, String)>,

    /// The digests of the manifests, sha256 among them: sha256, sha512.
    #[arg(long, value_name = "ALGORITHMS", value_delimiter = ',', default_value = "sha256")]
    pub(crate) digest: Vec<ra_pack::Algorithm>,

    /// Compress members of a zip, or set the level of a compressed tar: stored, deflate[:LEVEL]
    /// (2-9), zstd[:LEVEL] (1-19).
    #[arg(long, value_name = "METHOD", default_value = "stored", value_parser = compression)]
    pub(crate) compression: ra_pack::Compression,

    /// Describe arrays without a description by their headers, in the archive only.
    #[arg(long)]
    pub(crate) describe: bool,

    /// Leave out what matches; `*.tmp` in every directory, `run1/raw` from the top. Repeatable.
    #[arg(long, value_name = "GLOB")]
    pub(crate) exclude: Vec<String>,

    /// Pack what symbolic links lead to, instead of refusing them.
    #[arg(long)]
    pub(crate) dereference: bool,

    /// Replace an archive that is already there.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Refuse warnings, and words that are extensions of the language.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Refuse names that Windows, macOS or a common file system cannot write or tells apart otherwise.
    #[arg(long)]
    pub(crate) portable: bool,

    /// Write no manifest beside the archive.
    #[arg(long)]
    pub(crate) no_external_manifest: bool,

    /// Also write ARCHIVE.sha256, the digest of the archive file itself.
    #[arg(long)]
    pub(crate) archive_digest: bool,

    /// Sign the manifest beside the archive: a shell command that takes its path as last argument.
    #[arg(long, value_name = "COMMAND", conflicts_with = "no_external_manifest")]
    pub(crate) sign_with: Option<String>,

    /// Keep the files' times of modification; the archive then depends on them.
    #[arg(long)]
    pub(crate) preserve_mtime: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Convert arrays from one form into another: .ra, .npy, .npz, .ds, .png, directories and archives.
///
/// The forms are what the names of both files say: OUT is a directory when it ends in a slash or has no
/// extension. One array becomes several by being the only one; of several, --member chooses.
///
/// The same index gives the same element before and after. What is stored with the last index fastest, as
/// most .npy files are, is transposed on the way to RawArray, unless --order row keeps its bytes in their
/// order and says so in the description. What has no counterpart is refused; what is lost is told.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack convert temperature.npy temperature.ra
  ra-pack convert --order row big.npy big.ra
  ra-pack convert results.npz results/
  ra-pack convert results.npz results.zip
  ra-pack convert exp.zip exp.npz --compression deflate
  ra-pack convert exp.zip t.npy --member run1/temperature
  ra-pack convert lz4.ra plain.ra")]
pub(crate) struct Convert {
    /// What to read.
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,

    /// What to write.
    #[arg(value_name = "OUT")]
    pub(crate) output: PathBuf,

    /// The form of IN: ra, npy, npz, ds, png, directory, zip, tar, tar.gz or tar.zst.
    #[arg(long, value_name = "FORM")]
    pub(crate) from: Option<ra_pack::Form>,

    /// The form of OUT.
    #[arg(long, value_name = "FORM")]
    pub(crate) to: Option<ra_pack::Form>,

    /// The one array to convert, such as run1/temperature.
    #[arg(long, value_name = "NAME")]
    pub(crate) member: Option<String>,

    /// How OUT holds its arrays. Formats of others become column in RawArray; otherwise everything stays as
    /// it is where OUT allows.
    #[arg(long, value_name = "ORDER")]
    pub(crate) order: Option<OrderArg>,

    /// Leave big-endian numbers as they are and say so, instead of swapping them.
    #[arg(long)]
    pub(crate) keep_endian: bool,

    /// Leave out what follows the elements of a .ra, which otherwise stays in another .ra.
    #[arg(long)]
    pub(crate) drop_metadata: bool,

    /// Write what follows the elements of a .ra to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "drop_metadata")]
    pub(crate) keep_metadata: Option<PathBuf>,

    /// What elements without a counterpart are: bfloat16 takes two bytes without a type in .npy for brain
    /// floats; void writes what numpy has no type for as bytes.
    #[arg(long = "as", value_name = "TYPE")]
    pub(crate) reinterpret: Option<AsArg>,

    /// Also give the masks of a .ds, as NAME.mask; to .ds, make masks of the elements that stand for none.
    #[arg(long)]
    pub(crate) masks: bool,

    /// How members of an .npz or a zip are compressed: stored, deflate[:LEVEL]; of a zip also
    /// zstd[:LEVEL].
    #[arg(long, value_name = "METHOD", value_parser = compression)]
    pub(crate) compression: Option<ra_pack::Compression>,

    /// Replace what is there already, but never a directory with something in it.
    #[arg(short, long)]
    pub(crate) force: bool,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Check container, manifests, digests, headers and descriptions, and report everything wrong.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack verify exp.zip
  ra-pack verify --json packs/*.zip | jq -r 'select(.findings != []) | .target'
  ra-pack verify exp.zip --manifest /safe/exp.zip.manifest-sha256.txt")]
pub(crate) struct Verify {
    /// Archives and directories.
    #[arg(value_name = "TARGET", required = true)]
    pub(crate) targets: Vec<PathBuf>,

    /// Do not read the contents: digests are not checked.
    #[arg(long)]
    pub(crate) fast: bool,

    /// Count warnings as errors, and words that are extensions of the language.
    #[arg(long)]
    pub(crate) strict: bool,

    /// A manifest kept elsewhere; the one inside must agree with it.
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Show members with type, shape, order, size and description.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack list exp.zip
  ra-pack list exp.zip 'run1/*.ra'
  ra-pack list --json exp.zip | jq '.members[].array.shape'")]
pub(crate) struct List {
    /// The archive or directory.
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// What to show; everything when there are none.
    #[arg(value_name = "GLOB")]
    pub(crate) patterns: Vec<String>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Show everything about one array or one pack.
///
/// The text form is YAML. Only the directory, headers and descriptions are read.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack info exp.zip
  ra-pack info exp.zip run1/temperature.ra
  ra-pack info temperature.ra --field dims")]
pub(crate) struct Info {
    /// An array, an archive or a directory.
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// An array of the archive.
    #[arg(value_name = "MEMBER")]
    pub(crate) member: Option<String>,

    /// Print the value of one field alone, a list on one line.
    #[arg(long, value_name = "FIELD")]
    pub(crate) field: Option<String>,

    /// Print the result as JSON on standard output.
    #[arg(long, conflicts_with = "field")]
    pub(crate) json: bool,
}

/// Get one array or file out, checked against the manifest.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack get exp.zip run1/temperature.ra -o temperature.ra
  ra-pack get exp.zip run1/temperature.ra --slice '0:10,:,3' -o part.ra
  ra-pack get exp.zip notes.txt
  ra-pack get exp.zip run1/time.ra --format raw | od -A n -t f8
  ra-pack get exp.zip run1/temperature.ra --slice '0:5,:' --format csv")]
pub(crate) struct Get {
    /// The archive or directory.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,

    /// The member, as `list` shows it.
    #[arg(value_name = "MEMBER")]
    pub(crate) member: String,

    /// Where to write it; standard output when not given, or `-`.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// A part of an array, like numpy's: `0:10,:,3`, in the order of its description's shape.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    pub(crate) slice: Option<String>,

    /// How to write an array: as ra, npy, png, csv (numbers of one or two dimensions) or json (nested
    /// lists); raw for its elements alone (little-endian, in file order).
    #[arg(long, value_name = "FORMAT")]
    pub(crate) format: Option<FormatArg>,

    /// Do not check the content against the manifest; of a slice, read only its own bytes.
    #[arg(long)]
    pub(crate) no_check: bool,

    /// Replace a file that is already there.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Stop when more bytes than this would be written; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) max_size: Option<u64>,

    /// Print a report as JSON; needs --output.
    #[arg(long, requires = "output")]
    pub(crate) json: bool,
}

/// Unpack safely, checking digests while writing.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack extract exp.zip -C exp
  ra-pack extract exp.zip 'run1/*'")]
pub(crate) struct Extract {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    pub(crate) archive: PathBuf,

    /// What to unpack; everything when there are none.
    #[arg(value_name = "GLOB")]
    pub(crate) patterns: Vec<String>,

    /// Where to; made when it is not there.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    pub(crate) directory: PathBuf,

    /// Replace files that are already there.
    #[arg(short, long)]
    pub(crate) force: bool,

    /// Stop when more bytes than this would be written; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    pub(crate) max_size: Option<u64>,

    #[command(flatten)]
    pub(crate) common: Common,
}

/// Print the description that headers imply, write the missing ones, or update those that are there.
///
/// --update brings the shape and type that descriptions state, and `storage` where they state it, in
/// line with the headers, and changes no other byte. A document in which that cannot be done safely is
/// left as it is and reported.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack describe run1/temperature.ra
  ra-pack describe --write --dimcoords exp
  ra-pack describe --update exp/run1/temperature.ra
  ra-pack describe exp.zip")]
pub(crate) struct Describe {
    /// An array, a directory or an archive; the last two give one document.
    #[arg(value_name = "TARGET")]
    pub(crate) target: PathBuf,

    /// Write a description beside every array of a directory that has none; touch nothing else.
    #[arg(long, group = "writing")]
    pub(crate) write: bool,

    /// Bring the description of an array, or every description of a directory, in line with the
    /// header.
    #[arg(long, group = "writing", conflicts_with = "dimcoords")]
    pub(crate) update: bool,

    /// Turn undescribed 1-D arrays with the name of a coordinate (time, lat, lon, x, y, z, depth,
    /// frequency, ...) into dimension coordinates, and let other undescribed arrays name them where
    /// exactly one is as long as the axis.
    #[arg(long)]
    pub(crate) dimcoords: bool,

    /// Print what was written or changed as JSON; needs --write or --update.
    #[arg(long, requires = "writing")]
    pub(crate) json: bool,
}

/// Say what a code of a finding means, with a wrong and a right example.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack explain DESC004
  ra-pack explain")]
pub(crate) struct Explain {
    /// The code, as findings show it in brackets; all codes when there is none.
    #[arg(value_name = "CODE")]
    pub(crate) code: Option<ra_pack::Code>,

    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Print the JSON Schema of descriptions or of a command's --json, or list the names.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack schema
  ra-pack schema ndl > ndl.schema.json
  ra-pack schema verify | jq .properties")]
pub(crate) struct Schema {
    /// Which one.
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(super::schema::names()))]
    pub(crate) name: Option<String>,
}

/// Check descriptions by themselves, and against the arrays beside them; no data is read.
///
/// A file that is named is taken for a description, with the array of its name beside it; an array
/// with its description. Of a directory or archive, everything is checked that `verify` checks
/// except digests. Coordinates that a single file names are looked for in its directory and in those
/// above it, up to the working directory.
#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack validate run1/temperature.yaml
  ra-pack validate --strict exp exp.zip
  ra-pack validate --allow DESC001 --allow DESC010 exp
  ra-pack validate --json exp | jq -r '.findings[] | [.member, .place.line, .code] | @tsv'
  ra-pack describe temperature.ra | ra-pack validate -")]
pub(crate) struct Validate {
    /// Documents, arrays, directories and archives; `-` is standard input.
    #[arg(value_name = "PATH", required = true)]
    pub(crate) paths: Vec<PathBuf>,

    /// Count warnings as errors, and words that are extensions of the language.
    #[arg(long)]
    pub(crate) strict: bool,

    /// Drop findings of this code. Repeatable.
    #[arg(long, value_name = "CODE", value_parser = code)]
    pub(crate) allow: Vec<ra_pack::Code>,

    /// The top of the pack that single files belong to.
    #[arg(long, value_name = "DIR")]
    pub(crate) root: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) common: Common,
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Threads to use [default: one for each core].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Print the result as JSON on standard output.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LayoutArg {
    /// The files as they lie, and the manifests beside them.
    Plain,
    /// A BagIt 1.0 bag (RFC 8493).
    Bagit,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum OrderArg {
    /// The first index runs fastest, as RawArray has it.
    Column,
    /// The last index runs fastest, as most other formats have it.
    Row,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum AsArg {
    /// Brain floats.
    Bfloat16,
    /// Bytes without a type.
    Void,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum FormatArg {
    /// A RawArray file.
    Ra,
    /// The elements alone.
    Raw,
    /// An array of numpy.
    Npy,
    /// A picture.
    Png,
    /// Numbers, a line for each first index.
    Csv,
    /// Numbers in nested lists.
    Json,
}

/// More threads than this help nobody, and each takes memory.
const MAX_JOBS: usize = 256;

fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=MAX_JOBS).contains(&jobs) => Ok(jobs),
        _ => Err(format!("expected a number from 1 to {MAX_JOBS}")),
    }
}

fn code(text: &str) -> Result<ra_pack::Code, String> {
    use ra_pack::Code;
    let of_language = ra_pack::ndl::Code::ALL.iter().copied().map(Code::Ndl);
    Code::ALL
        .iter()
        .copied()
        .chain(of_language)
        .find(|code| code.id().eq_ignore_ascii_case(text))
        .ok_or_else(|| "expected the code of a finding, such as NDL063 or DESC001".to_owned())
}

fn bag_info(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((label, value)) => Ok((label.to_owned(), value.to_owned())),
        None => Err("expected LABEL=VALUE".to_owned()),
    }
}

fn size(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes, such as 500M".to_owned();
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let shift = match unit.to_ascii_uppercase().as_str() {
        "" => 0,
        "K" => 10,
        "M" => 20,
        "G" => 30,
        "T" => 40,
        _ => return Err(expected()),
    };
    let number: u64 = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(expected)
}

fn compression(text: &str) -> Result<ra_pack::Compression, String> {
    use ra_pack::Compression;
    let (method, level) = match text.split_once(':') {
        Some((method, level)) => (method, Some(level)),
        None => (text, None),
    };
    let level_in = |range: std::ops::RangeInclusive<u32>| match level {
        None => Ok(None),
        Some(level) => match level.parse() {
            Ok(level) if range.contains(&level) => Ok(Some(level)),
            _ => Err(format!(
                "expected a level from {} to {} for {method}, found `{level}`",
                range.start(),
                range.end()
            )),
        },
    };
    match method {
        "stored" if level.is_none() => Ok(Compression::Stored),
        "stored" => Err("`stored` has no level".to_owned()),
        // Level 1 of the library in use makes many arrays larger than they were.
        "deflate" => Ok(Compression::Deflate { level: level_in(2..=9)? }),
        "zstd" => {
            Ok(Compression::Zstd { level: level_in(1..=19)?.and_then(|n| n.try_into().ok()) })
        }
        _ => Err("expected stored, deflate[:LEVEL] or zstd[:LEVEL]".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes_and_compressions_are_read() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("3k"), Ok(3072));
        assert_eq!(size("2T"), Ok(2 << 40));
        assert!(size("99999999999T").is_err());
        assert!(size("M").is_err());
        assert_eq!(compression("deflate:9"), Ok(ra_pack::Compression::Deflate { level: Some(9) }));
        assert_eq!(compression("zstd"), Ok(ra_pack::Compression::Zstd { level: None }));
        assert!(compression("deflate:1").is_err());
        assert!(compression("stored:3").is_err());
        assert!(compression("lzma").is_err());
    }
}
