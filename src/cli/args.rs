//! The commands, and the options that several of them share.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use ra_pack::Container;
use ra_pack::audit::Budget;
use ra_pack::convert::ArrayFormat;

use super::add::AddArgs;
use super::audit::AuditArgs;
use super::convert::ConvertArgs;
use super::create::CreateArgs;
use super::describe::{DescribeArgs, ReshapeArgs};
use super::diff::DiffArgs;
use super::get::{ExtractArgs, GetArgs};
use super::info::InfoArgs;
use super::list::ListArgs;
use super::plot::PlotArgs;
use super::progress;
use super::reference::{CompletionsArgs, ExplainArgs, ManArgs, SchemaArgs};
use super::refs::RefsArgs;
use super::report::ReportArgs;
use super::show::ShowArgs;
use super::verify::{ManifestArgs, ValidateArgs, VerifyArgs};

/// Longest time without an answer, in seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;

/// Help text after the options of every command.
pub(super) const SHARED: &str = "\
Exit status:
  0     success (warnings allowed, unless --strict)
  1     errors in the data: damage, a mismatch, a malformed file, a description that is not valid
  2     the command failed: usage, I/O, no such member, output exists, unsupported
  130   interrupted (Ctrl-C); 143: terminated. Unfinished files are removed

Environment:
  NO_COLOR            disable colours if not empty, unless --color is given
  CLICOLOR_FORCE      use colours without a terminal if neither empty nor 0
  COLUMNS             width of --help without a terminal
  TERM                disable the progress line and Unicode in pictures if dumb
  LC_ALL              show, plot: use Unicode in text if the locale is UTF-8;
                      LC_CTYPE, then LANG, is used if it is not set
  COLORTERM           plot: use 24-bit colours in the terminal if truecolor or 24bit
  SOURCE_DATE_EPOCH   create, add: modification time of all members, in seconds since 1970 UTC
  TMPDIR              diff, --download: directory for temporary files
  AWS_*, GOOGLE_*, AZURE_*
                      credentials and endpoints of s3:, gs: and az: URLs; see docs/remote.md

ra-pack reads no configuration files.";

/// The version of the program, and of the format that it writes.
const LONG_VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), "\npack format 1.0");

/// Pack arrays and their descriptions into one archive that can be read and verified for decades.
#[derive(Debug, Parser)]
#[command(name = "ra-pack", version, long_version = LONG_VERSION)]
#[command(max_term_width = 100, after_long_help = SHARED)]
#[command(after_help = "`ra-pack help COMMAND` shows details and examples of a command.")]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = false)]
#[command(disable_help_flag = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

/// Heading of the options that every command has.
const GLOBAL: &str = "Global options";

// Options that are valid before and after the name of the command. clap would show a doc comment as the help of every
// command.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Use colours: auto, always or never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Color,

    /// Print only errors, warnings and requested data, no other results and no progress.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,

    /// Give up a request after this time without an answer, in seconds, for a URL.
    #[arg(long, global = true, value_name = "SECONDS", default_value = "30", help_heading = GLOBAL)]
    #[arg(value_parser = seconds)]
    pub(crate) timeout: Duration,

    /// Download a URL completely to a temporary file first.
    #[arg(long, global = true, help_heading = GLOBAL)]
    pub(crate) download: bool,

    /// Print the number of requests and bytes that URLs took.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) verbose: bool,

    /// Show progress on standard error: auto, json or never.
    #[arg(long, global = true, value_name = "HOW", default_value = "auto", help_heading = GLOBAL)]
    #[arg(hide_possible_values = true)]
    pub(crate) progress: progress::When,

    /// Print help; --help adds details and examples.
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = GLOBAL)]
    help: Option<bool>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set; everywhere if `CLICOLOR_FORCE` is.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pack a directory into an archive, after checking every description.
    ///
    /// Every array (X.ra) needs a description: X.yaml next to it, or an entry in the directory's manifest.yaml. Each
    /// description is compared with the header of its array. Nothing is written if a description is not valid or two
    /// contradict each other. ARCHIVE appears only when it is complete. The directory is never changed.
    ///
    /// The same files give the same bytes, with any number of threads.
    Create(CreateArgs),
    /// Add, replace or remove files in an archive.
    ///
    /// Files and directories are added under their paths relative to the working directory, or to -C DIR. The new
    /// archive passes the same checks as in `create`. Other members are copied without compressing them again, except
    /// in a .tar.gz or .tar.zst. The old archive stays until the new one replaces it.
    Add(AddArgs),
    /// Convert arrays between .ra, .npy, .npz, .ds, .png, directories and archives.
    ///
    /// Formats are inferred from the names: OUT is a directory if it exists as one, ends in a slash or has no
    /// extension. A directory is converted with its subdirectories: arrays keep their names, and all other files are
    /// copied. An .npz or .ds among several inputs becomes a directory. To convert one array out of several, choose it
    /// with --member. Files that cannot be converted are listed at the end, and the exit status is 1.
    ///
    /// Indexing does not change: a[i, j] before is a[i, j] after. Row-major data, as in most .npy files, is
    /// transposed when converted to RawArray; --order row keeps the bytes and records the order in the description.
    /// An array that the other format cannot store is rejected; metadata that it cannot store is reported.
    Convert(ConvertArgs),
    /// Check every byte of a pack: container, manifests, digests, headers and descriptions.
    ///
    /// Use `verify` for a pack that you received or stored: it reads everything. Use `validate` while you write
    /// descriptions: it reads no data. Use `manifest --check` to check only digests, like `sha256sum -c`.
    ///
    /// Several small targets are verified at once, and large ones with all threads. The results are in the order of the
    /// targets. --log keeps them for `audit`.
    Verify(VerifyArgs),
    /// Summarize logs of `verify --log`: packs that are bad, missing, or verified too long ago.
    ///
    /// Logs may be joined in any way and given in any order. A pack is good if its last verification read every byte
    /// without errors; if it was verified in shards, all of them must have checked the same manifest in the same way.
    /// Lines that cannot be read are reported and skipped.
    ///
    /// Exit status: 0 all packs are good; 1 a pack needs attention, or the logs are empty; 2 a log cannot be read.
    Audit(AuditArgs),
    /// Print, write or check the digests of a pack, like sha256sum.
    ///
    /// Prints one `sha256sum -c` line per file, except manifests and their signatures. Headers and descriptions are
    /// not checked: use `verify` for these.
    Manifest(ManifestArgs),
    /// List the arrays and files of a pack with type, shape, size and title.
    ///
    /// The table omits descriptions of arrays, manifests and tag files unless --all is given or a GLOB matches nothing
    /// else. --names, --null and --json list every member. On a terminal the table is cut to the width of the screen;
    /// in a pipe it is not.
    List(ListArgs),
    /// Show the header, offsets and description of an array, or a summary of a pack.
    ///
    /// Reads only the directory, headers, descriptions and manifests. For an array: each field of its header, the
    /// offsets of header and data in the archive, `od` and `dd` commands that read them, its description and its
    /// digest. For a pack: numbers of files and types, coordinates, manifests, and errors that can be found without
    /// reading data.
    Info(InfoArgs),
    /// Show the structure of a pack, like `ncdump -h`, or the values of an array, like NumPy.
    ///
    /// For a pack or a group: attributes, dimensions, coordinates and variables, from headers and descriptions. For
    /// an array: its values, abbreviated if there are many; only those shown are read. --stats reads all values, in
    /// bounded memory, and checks them against the manifest. Missing values are counted separately:
    /// `storage.fillvalue`, the attributes `_FillValue` and `missing_value`, and values outside `valid_range` or
    /// `valid_min` and `valid_max`.
    Show(ShowArgs),
    /// Draw an array: one dimension as a line, two as an image.
    ///
    /// Axis labels, units and colours follow the description; missing values are marked. If an array has more than two
    /// dimensions, choose two with --slice. Without --output, a preview is drawn in the terminal.
    Plot(PlotArgs),
    /// Read one array or file from a pack, and check it against the manifest.
    Get(GetArgs),
    /// Unpack an archive safely, and check its digests.
    ///
    /// Without -C, the files go to a directory named after the archive: exp.zip to exp/. It may exist. An archive with
    /// all files in one directory, such as a bag, is unpacked in the working directory.
    Extract(ExtractArgs),
    /// Print, write or change descriptions: units, names, dimensions, a title.
    ///
    /// Without options, prints the description that the headers imply. --set, --dims and --apply change metadata in the
    /// descriptions of a directory or of one array, and create missing descriptions. Comments and formatting stay.
    ///
    /// --update makes the shape, type and `storage` in descriptions agree with the headers, and changes no other byte.
    /// A document that cannot be updated safely is reported and not changed.
    Describe(DescribeArgs),
    /// Compare two packs or two arrays: added, removed and renamed members, changed elements.
    ///
    /// Packs may be archives of any kind or directories. Members are matched by name. Members with the same digest in
    /// both manifests count as equal without being read, unless --verify is given. Manifests are not compared.
    ///
    /// Elements with the same index are compared, in their own type. Two NaN are equal. Byte order, encoding and
    /// row-major or column-major order may differ. --l1, --l2 and --max print one number: the distance over all
    /// elements of two arrays.
    ///
    /// Exit status: 0 no differences beyond the tolerance; 1 differences; 2 the targets could not be compared.
    Diff(DiffArgs),
    /// Write references that present a pack as a Zarr store, for xarray and other readers.
    ///
    /// The references are a JSON file in the format of kerchunk, version 1. They contain metadata, and the offset of
    /// each chunk in the pack. Data is not copied: readers need the pack at its address. Without --output, the
    /// references go to standard output.
    ///
    /// Each array must be stored, not compressed, with elements of a Zarr type. Other arrays are an error unless --skip
    /// is given. A compressed tar cannot have references.
    ///
    /// Dimensions of arrays in column-major order are reversed: the last index is the fastest in Zarr.
    Refs(RefsArgs),
    /// Write an HTML page about a pack, with statistics and a picture of every array.
    ///
    /// The page is a single file and needs no network. The same pack gives the same page. If an array cannot be read,
    /// the page is written without its values and the exit status is 1.
    Report(ReportArgs),
    /// Change an array's dimensions in place, and update its description.
    ///
    /// Data and trailing metadata are not touched. The new shape must have the same number of elements. One length may
    /// be -1: it is computed from the others. Lengths are in the order of the description's shape, which is the order
    /// of the header's dims unless the description says `storage: {order: row}`.
    ///
    /// Each file is replaced atomically, the array first. Nothing is changed if the description cannot be updated.
    Reshape(ReshapeArgs),
    /// Explain the code of an error or warning, with a wrong and a correct example.
    Explain(ExplainArgs),
    /// Print the JSON Schema of descriptions or of a command's JSON output.
    Schema(SchemaArgs),
    /// Check descriptions and their arrays, without reading data.
    ///
    /// Use `validate` while you write descriptions. A single description is checked with the array of the same name
    /// next to it, and an array with its description. In a directory or archive, `validate` checks everything that
    /// `verify` does except digests. --metadata also reads coordinates. Coordinates that a single file refers to are
    /// searched for in its directory and the directories above it, up to the working directory.
    Validate(ValidateArgs),
    /// Print a completion script for a shell.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Use N threads [default: one per core].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Values of an option, each with its help text.
pub(super) type Choices<T> = [(&'static str, T, &'static str)];

/// Returns a parser for one of these words.
pub(super) fn words<T: Copy + Send + Sync>(
    words: &'static Choices<T>,
) -> impl TypedValueParser<Value = T> {
    let known = words.iter().map(|(word, _, help)| PossibleValue::new(*word).help(*help));
    PossibleValuesParser::new(known).try_map(|typed| {
        words
            .iter()
            .find(|(word, ..)| word.eq_ignore_ascii_case(&typed))
            .map(|(_, value, _)| *value)
            .ok_or("unknown")
    })
}

/// All formats, those for a single array first.
pub(super) const FORMATS: &Choices<ArrayFormat> = &[
    ("ra", ArrayFormat::Ra, "A RawArray file, with its description next to it"),
    ("raw", ArrayFormat::Raw, "Only the elements, little-endian, in file order"),
    ("npy", ArrayFormat::Npy, "A NumPy array"),
    ("png", ArrayFormat::Png, "A PNG image"),
    ("csv", ArrayFormat::Csv, "Numbers in one or two dimensions, one line per first index"),
    ("json", ArrayFormat::Json, "Numbers in nested lists"),
    ("npz", ArrayFormat::Npz, "NumPy arrays in a zip"),
    ("ds", ArrayFormat::Ds, "A ds-format file"),
    ("nc", ArrayFormat::NetCdf, "A NetCDF file"),
    ("h5", ArrayFormat::Hdf5, "An HDF5 file"),
    ("directory", ArrayFormat::Pack(Container::Directory), "A directory of RawArray files"),
    ("zip", ArrayFormat::Pack(Container::Zip), "A zip of RawArray files"),
    ("tar", ArrayFormat::Pack(Container::Tar), "A tar of RawArray files"),
    ("tar.gz", ArrayFormat::Pack(Container::TarGz), "A tar compressed with gzip"),
    ("tar.zst", ArrayFormat::Pack(Container::TarZst), "A tar compressed with Zstandard"),
];

/// Formats for a single array.
pub(super) const ARRAY_FORMATS: &Choices<ArrayFormat> = FORMATS.split_at(6).0;

/// Largest number of threads. More would not be faster, and each takes memory.
const MAX_JOBS: usize = 256;

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    number(text, 1..=MAX_JOBS)
}

/// Parses a whole number within a range.
pub(super) fn number<N>(text: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    text.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
}

/// Parses a time in seconds, such as `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| *number > 0.0 && *number <= MAX_SECONDS);
    number
        .and_then(|number| Duration::try_from_secs_f64(number).ok())
        .ok_or_else(|| format!("expected a number of seconds up to {MAX_SECONDS}"))
}

/// Parses a whole number with one of these units.
fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let (_, factor) = units.iter().find(|(known, _)| unit == *known)?;
    digits.parse::<u64>().ok()?.checked_mul(*factor)
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    let units = [("", 1), ("K", 1 << 10), ("M", 1 << 20), ("G", 1 << 30), ("T", 1 << 40)];
    with_unit(&text.to_ascii_uppercase(), &units)
        .ok_or_else(|| "expected a number of bytes, such as 500M".to_owned())
}

/// Parses a duration such as `90d`.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let units = [("s", 1), ("min", 60), ("h", 3600), ("d", 86_400), ("w", 7 * 86_400)];
    let seconds = with_unit(text, &units).map(Duration::from_secs);
    seconds.ok_or_else(|| "expected a duration in s, min, h, d or w, such as 90d".to_owned())
}

/// Parses a limit of an audit: a duration, a size or a percentage.
pub(crate) fn budget(text: &str) -> Result<Budget, String> {
    let percent = |text: &str| text.parse().ok().filter(|percent| (0.0..=100.0).contains(percent));
    // `size` also takes small letters, but `m` could be meant as minutes.
    let bytes = |text: &str| {
        let unit = text.trim_start_matches(|character: char| character.is_ascii_digit());
        let is_known = ["K", "M", "G", "T"].contains(&unit);
        Some(text).filter(|_| is_known).and_then(|text| size(text).ok())
    };
    match text.strip_suffix('%') {
        Some(number) => percent(number).map(Budget::Percent),
        None => bytes(text.strip_suffix('B').unwrap_or(text))
            .map(Budget::Bytes)
            .or_else(|| duration(text).ok().map(Budget::Time)),
    }
    .ok_or_else(|| "expected a time, a size or a percentage, such as 2h, 5T or 10%".to_owned())
}

pub(super) fn compression(text: &str) -> Result<ra_pack::archive::Compression, String> {
    use ra_pack::archive::Compression;
    let (method, level) = match text.split_once(':') {
        Some((method, level)) => (method, Some(level)),
        None => (text, None),
    };
    let level_in = |range: RangeInclusive<u32>| match level {
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
        // Level 1 of the compressor makes many arrays larger.
        "deflate" => Ok(Compression::Deflate { level: level_in(2..=9)? }),
        "zstd" => {
            Ok(Compression::Zstd { level: level_in(1..=19)?.and_then(|n| n.try_into().ok()) })
        }
        _ => Err("expected stored, deflate[:LEVEL] or zstd[:LEVEL]".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn help_of_a_command_is_the_doc_comment_of_its_variant() {
        let about = |command: &clap::Command| {
            let of = |command: &clap::Command| {
                format!("{:?} {:?}", command.get_about(), command.get_long_about())
            };
            let ours = command.get_subcommands().filter(|sub| sub.get_name() != "help");
            ours.map(of).collect::<Vec<_>>()
        };
        let mut command = Cli::command();
        let before = about(&command);
        command.build();
        assert_eq!(about(&command), before);
        assert!(before.iter().all(|about| about.starts_with("Some(")), "{before:?}");
    }

    #[test]
    fn shared_options_are_valid_before_and_after_the_command() {
        let read = |typed: &[&str]| {
            let shared = Cli::try_parse_from([&["ra-pack"], typed].concat()).unwrap().shared;
            (shared.color, shared.quiet, shared.progress)
        };
        let (auto, never) = (progress::When::Auto, progress::When::Never);
        assert_eq!(read(&["list", "x"]), (Color::Auto, false, auto));
        assert_eq!(read(&["-q", "--color", "never", "list", "x"]), (Color::Never, true, auto));
        let after = ["--color", "always", "list", "-q", "x", "--color=never", "--progress=never"];
        assert_eq!(read(&after), (Color::Never, true, never));
    }

    #[test]
    fn every_format_is_in_the_table() {
        let mut known: Vec<_> = ArrayFormat::words().collect();
        let mut listed: Vec<_> = FORMATS.iter().map(|(word, ..)| *word).collect();
        known.sort_unstable();
        listed.sort_unstable();
        assert_eq!(listed, known);
        assert!(FORMATS.iter().all(|(word, format, _)| format.word() == *word));
    }

    #[test]
    fn older_spellings_are_accepted_and_hidden() {
        for line in [
            "get x.zip a.ra --no-check --to csv",
            "convert x y --to npy",
            "report x.zip -o x.html --no-statistics",
            "diff a.zip b.zip --read --stats",
            "extract x.zip -d out",
            "extract x.zip -o out",
            "extract x.zip --output out",
        ] {
            let words = || line.split(' ');
            assert!(Cli::try_parse_from(["ra-pack"].into_iter().chain(words())).is_ok(), "{line}");
            let mut command = Cli::command();
            let command = words().next().and_then(|name| command.find_subcommand_mut(name));
            let help = command.unwrap().render_long_help().to_string();
            for older in words().filter(|word| word.starts_with("--")) {
                let is_shown = help.split_whitespace().any(|word| word == older);
                assert!(!is_shown || older == "--stats", "{line}: {older}");
            }
        }
    }

    #[test]
    fn sizes_and_compressions_are_parsed() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("3k"), Ok(3072));
        assert_eq!(size("2T"), Ok(2 << 40));
        assert!(size("99999999999T").is_err());
        assert!(size("M").is_err());
        assert_eq!(duration("90d"), Ok(Duration::from_secs(90 * 86_400)));
        assert_eq!(duration("5min"), Ok(Duration::from_secs(300)));
        for text in
            ["90", "d", "-1d", "1m", "1.5h", "99999999999999999999d", "9999999999999999999w"]
        {
            assert!(duration(text).is_err(), "{text}");
        }
        assert_eq!(budget("2h"), Ok(Budget::Time(Duration::from_secs(7200))));
        assert_eq!(budget("5TB"), Ok(Budget::Bytes(5 << 40)));
        assert_eq!(budget("5T"), Ok(Budget::Bytes(5 << 40)));
        assert_eq!(budget("0.5%"), Ok(Budget::Percent(0.5)));
        for text in ["5", "5m", "5B", "%", "101%", "-1%", "NaN%", "inf%", "5 T"] {
            assert!(budget(text).is_err(), "{text}");
        }
        assert_eq!(
            compression("deflate:9"),
            Ok(ra_pack::archive::Compression::Deflate { level: Some(9) })
        );
        assert_eq!(compression("zstd"), Ok(ra_pack::archive::Compression::Zstd { level: None }));
        assert!(compression("deflate:1").is_err());
        assert!(compression("stored:3").is_err());
        assert!(compression("lzma").is_err());
    }
}
