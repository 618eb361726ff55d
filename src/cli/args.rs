//! The command line: the commands, and the options that several of them take.

use std::ops::RangeInclusive;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

use ra_pack::Container;
use ra_pack::convert::ArrayFormat;

use super::add::AddArgs;
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
use super::report::ReportArgs;
use super::show::ShowArgs;
use super::verify::{ManifestArgs, ValidateArgs, VerifyArgs};

/// The help that every command shares, below its options.
pub(super) const SHARED: &str = "\
Exit status:
  0     done and clean (warnings allowed, unless --strict)
  1     findings: damage, a mismatch, a malformed file, a refused description
  2     could not be done: usage, I/O, no such member, target exists, unsupported
  130   interrupted (Ctrl-C); 143: terminated. Unfinished files are removed

Environment:
  NO_COLOR            no colours, if it is not empty and --color is not given
  CLICOLOR_FORCE      colours also where there is no terminal, if it is neither empty nor 0
  COLUMNS             how wide --help is where there is no terminal
  TERM                no line of progress and plain letters in pictures, if it is dumb
  LC_ALL              show, plot: blocks and other signs of Unicode in text, if it, or else
                      LC_CTYPE, or else LANG, says UTF-8
  COLORTERM           plot: 24-bit colours in the terminal, if it is truecolor or 24bit
  SOURCE_DATE_EPOCH   create, add: the time of every member, in seconds since 1970 UTC
  TMPDIR              diff: where an array that is encoded goes meanwhile

There are no configuration files.";

/// Pack arrays with their descriptions into one archive that can still be read and checked in decades.
#[derive(Debug, Parser)]
#[command(name = "ra-pack", version, max_term_width = 100, after_long_help = SHARED)]
#[command(after_help = "`ra-pack help COMMAND` says more about a command, with examples.")]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = false)]
#[command(disable_help_flag = true)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

/// The heading of the options that every command has.
const GLOBAL: &str = "Global options";

// The options that may be given before the command or among its own. A doc comment would be taken for that of each
// command.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// Use colours: auto, always or never.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", help_heading = GLOBAL)]
    #[arg(hide_possible_values = true)]
    pub(crate) color: Color,

    /// Print only findings and results.
    #[arg(short, long, global = true, help_heading = GLOBAL)]
    pub(crate) quiet: bool,

    /// Show progress on standard error: auto, json or never.
    #[arg(long, global = true, value_name = "HOW", default_value = "auto", help_heading = GLOBAL)]
    #[arg(hide_possible_values = true)]
    pub(crate) progress: progress::When,

    /// Print help; --help has more, with examples.
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
    /// Pack a directory, after checking every description in it.
    ///
    /// Every array (X.ra) needs a description: X.yaml beside it, or an entry in the directory's manifest.yaml. Each
    /// is compared with the header of its array. Nothing is written if one is wrong or two contradict each other.
    /// The archive appears when it is complete. The directory is never changed.
    ///
    /// The same content gives the same bytes, whatever the number of jobs.
    Create(CreateArgs),
    /// Add, replace or remove files of an archive.
    ///
    /// Files and directories are added under their names below the working directory, or below -C DIR. The archive
    /// is checked as `create` does. Members that stay are copied as they are packed; those of a .tar.gz or .tar.zst
    /// are packed again. The old archive stays until the new one takes its place.
    Add(AddArgs),
    /// Convert arrays between .ra, .npy, .npz, .ds, .png, directories and archives.
    ///
    /// Formats are inferred from the names: OUT is a directory when it is one, ends in a slash or has no extension. A
    /// directory is converted with everything below it, each array under its name, and all other files are copied. An
    /// .npz or .ds among several files becomes a directory of its name. To convert one array out of several, choose it
    /// with --member. Files that cannot be converted are named at the end, and the exit status is 1.
    ///
    /// Indexing does not change: a[i, j] before is a[i, j] after. Row-major data, as in most .npy files, is
    /// transposed on the way to RawArray, unless --order row keeps its bytes and says so in the description. An
    /// array without a counterpart in the other format is refused; metadata without one is reported.
    Convert(ConvertArgs),
    /// Check every byte of a pack: container, manifests, digests, headers and descriptions.
    ///
    /// Use `verify` for a pack that you received or kept: it reads everything. Use `validate` while you write
    /// descriptions: it reads no data. Use `manifest --check` for digests alone, as `sha256sum -c`.
    Verify(VerifyArgs),
    /// Print, write or check the digests of a pack alone, as sha256sum does.
    ///
    /// The output is what `sha256sum -c` reads in the unpacked directory: a line for each file except manifests and
    /// their signatures. Descriptions and headers are not checked: use `verify` for these.
    Manifest(ManifestArgs),
    /// List the arrays and files of a pack with type, shape, size and title.
    ///
    /// Descriptions of arrays, manifests and the like are left out of the table unless --all is given or a GLOB
    /// matches nothing else. --names, --null and --json always have every member. On a terminal the table is as wide
    /// as the screen; in a pipe nothing is cut.
    List(ListArgs),
    /// Show the facts of one array or one pack, with the bytes where they are.
    ///
    /// Only the directory, headers, descriptions and manifests are read. For an array: each field of its header with
    /// its offset, where header and data are in the archive, the `od` and `dd` commands that read them, its
    /// description and its digest. For a pack: numbers of files and types, coordinates, manifests, and errors that
    /// can be found without reading data.
    Info(InfoArgs),
    /// Show what is in a pack, as `ncdump -h` does, or the values of an array, as NumPy does.
    ///
    /// For a pack or a group of it: attributes, dimensions, coordinates and variables, from headers and descriptions
    /// alone. For an array: only the values that are shown are read. --stats reads all of them, in bounded memory,
    /// and checks them against the manifest. Missing values are counted apart: `storage.fillvalue`, the attributes
    /// `_FillValue` and `missing_value`, and values outside `valid_range` or `valid_min` and `valid_max`.
    Show(ShowArgs),
    /// Draw an array: one dimension as a line, two as an image.
    ///
    /// Axes, units and colours follow the description, and missing values are marked. For an array with more
    /// dimensions, --slice chooses two. Without --output, a preview is drawn in the terminal.
    Plot(PlotArgs),
    /// Read one array or file out of a pack, checked against the manifest.
    Get(GetArgs),
    /// Unpack an archive safely, checking digests while writing.
    ///
    /// Without -C, the files go to a new directory named after the archive: exp.zip to exp/. An archive whose files
    /// are all in one directory, such as a bag, is unpacked where you are.
    Extract(ExtractArgs),
    /// Print, write or change descriptions: units, names, dimensions, a title.
    ///
    /// Without options, the description that headers imply is printed. --set, --dims and --apply put metadata into the
    /// descriptions of a directory, or of one array; a missing description is made. Comments and formatting of
    /// everything else stay.
    ///
    /// --update brings the shape and type in descriptions, and `storage` where it is given, in line with the headers,
    /// and changes no other byte. A document in which that cannot be done safely is left unchanged and reported.
    Describe(DescribeArgs),
    /// Compare two packs or two arrays: added, removed and renamed members, changed elements.
    ///
    /// Packs may be archives of any kind or directories. Members are matched by name. Members with the same digest in
    /// both manifests count as equal without being read, unless --verify is given. Manifests do not count.
    ///
    /// Elements are compared in their own type. Two NaN are equal. Byte order, encoding and, where descriptions say
    /// so, the order of dimensions may differ: elements with the same index are compared. With --l1, --l2 or --max
    /// one number is printed, the distance over all elements of two arrays.
    ///
    /// Exit status: 0 nothing differs by more than is tolerated; 1 something does; 2 they could not be compared.
    Diff(DiffArgs),
    /// Write a pack as one HTML page, with statistics and a picture of every array.
    ///
    /// The page needs nothing else, not even a network. The same pack gives the same page. The page is written even
    /// if an array cannot be read; the exit status is then 1.
    Report(ReportArgs),
    /// Give an array another shape, in place, and its description with it.
    ///
    /// The elements stay as they are, and so does what follows them; the new extents must make as many elements. One
    /// of them may be -1: it follows from the others. They are in the order of the description's shape, which is that
    /// of the header's dims unless it says `storage: {order: row}`.
    ///
    /// Each file is replaced in one step, the array first. Nothing is changed if the description cannot be updated.
    Reshape(ReshapeArgs),
    /// Explain the code of a finding, with a wrong and a right example.
    Explain(ExplainArgs),
    /// Print the JSON Schema of descriptions or of a command's --json.
    Schema(SchemaArgs),
    /// Check descriptions, and the arrays that they are of, without reading data.
    ///
    /// Use `validate` while you write descriptions. A file that is named is taken as a description, with the array of
    /// its name beside it; an array with its description. In a directory or archive, everything is checked that
    /// `verify` checks except digests. --metadata also reads coordinates. Coordinates that a single file names are looked for in its directory and in
    /// those above it, up to the working directory.
    Validate(ValidateArgs),
    /// Print completions for a shell.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them.
    Man(ManArgs),
}

#[derive(Debug, Args)]
pub(crate) struct Common {
    /// Threads to use [default: one per core].
    #[arg(short, long, value_name = "N", value_parser = jobs)]
    pub(crate) jobs: Option<usize>,

    /// Print the result as JSON.
    #[arg(long)]
    pub(crate) json: bool,
}

/// Choices for the values of an option, each with what `--help` says of it.
pub(super) type Choices<T> = [(&'static str, T, &'static str)];

/// Reads one of these words.
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

/// Every format, those of a single array first.
pub(super) const FORMATS: &Choices<ArrayFormat> = &[
    ("ra", ArrayFormat::Ra, "A RawArray file, with its description beside it"),
    ("raw", ArrayFormat::Raw, "The elements alone, little-endian, in file order"),
    ("npy", ArrayFormat::Npy, "A NumPy array"),
    ("png", ArrayFormat::Png, "A picture"),
    ("csv", ArrayFormat::Csv, "Numbers of one or two dimensions, a line for each first index"),
    ("json", ArrayFormat::Json, "Numbers in nested lists"),
    ("npz", ArrayFormat::Npz, "NumPy arrays in a zip"),
    ("ds", ArrayFormat::Ds, "Variables of ds-format"),
    ("directory", ArrayFormat::Pack(Container::Directory), "A directory of RawArray files"),
    ("zip", ArrayFormat::Pack(Container::Zip), "A zip of RawArray files"),
    ("tar", ArrayFormat::Pack(Container::Tar), "A tar of RawArray files"),
    ("tar.gz", ArrayFormat::Pack(Container::TarGz), "A tar compressed with gzip"),
    ("tar.zst", ArrayFormat::Pack(Container::TarZst), "A tar compressed with Zstandard"),
];

/// The formats of a single array.
pub(super) const ARRAY_FORMATS: &Choices<ArrayFormat> = FORMATS.split_at(6).0;

/// More threads than this help nobody, and each takes memory.
const MAX_JOBS: usize = 256;

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    number(text, 1..=MAX_JOBS)
}

/// Reads a whole number of a range.
pub(super) fn number<N>(text: &str, range: RangeInclusive<N>) -> Result<N, String>
where
    N: std::str::FromStr + PartialOrd + std::fmt::Display,
{
    text.parse()
        .ok()
        .filter(|number| range.contains(number))
        .ok_or_else(|| format!("expected a number from {} to {}", range.start(), range.end()))
}

pub(super) fn size(text: &str) -> Result<u64, String> {
    let expected = || "expected a number of bytes, such as 500M".to_owned();
    let split = text.find(|character: char| !character.is_ascii_digit()).unwrap_or(text.len());
    let (digits, unit) = text.split_at(split);
    let mut units = [("", 0), ("K", 10), ("M", 20), ("G", 30), ("T", 40)].into_iter();
    let known = units.find(|(known, _)| unit.eq_ignore_ascii_case(known));
    let (_, shift) = known.ok_or_else(expected)?;
    let number: u64 = digits.parse().map_err(|_| expected())?;
    number.checked_mul(1 << shift).ok_or_else(expected)
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
    use clap::CommandFactory as _;

    use super::*;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_command_is_about_what_its_variant_says() {
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
    fn shared_options_stand_before_the_command_or_behind_it() {
        let read = |typed: &[&str]| {
            let shared = Cli::try_parse_from([&["ra-pack"], typed].concat()).unwrap().shared;
            (shared.color, shared.quiet, shared.progress)
        };
        let (auto, never) = (progress::When::Auto, progress::When::Never);
        assert_eq!(read(&["list", "x"]), (Color::Auto, false, auto));
        assert_eq!(read(&["-q", "--color", "never", "list", "x"]), (Color::Never, true, auto));
        let behind = ["--color", "always", "list", "-q", "x", "--color=never", "--progress=never"];
        assert_eq!(read(&behind), (Color::Never, true, never));
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
    fn older_spellings_are_read_and_not_shown() {
        for line in [
            "get x.zip a.ra --no-check --to csv",
            "convert x y --to npy",
            "report x.zip -o x.html --no-statistics",
            "diff a.zip b.zip --read -v --stats",
            "diff a.zip b.zip --verbose",
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
    fn sizes_and_compressions_are_read() {
        assert_eq!(size("0"), Ok(0));
        assert_eq!(size("3k"), Ok(3072));
        assert_eq!(size("2T"), Ok(2 << 40));
        assert!(size("99999999999T").is_err());
        assert!(size("M").is_err());
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
