//! The command line: the commands, and the options that several of them take.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};

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

/// Packs a directory of RawArray data and its descriptions into one archive that can be read,
/// understood and audited decades from now.
#[derive(Debug, Parser)]
#[command(name = "ra-pack", version, max_term_width = 100, after_help = SHARED)]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = false)]
pub(crate) struct Cli {
    #[command(subcommand)]
    pub(crate) command: Command,

    #[command(flatten)]
    pub(crate) shared: Shared,
}

// The options that may be given before the command or among its own. A doc comment would be taken for that of each
// command.
#[derive(Debug, Args)]
pub(crate) struct Shared {
    /// When to use colour.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub(crate) color: Color,

    /// Print nothing but findings and what was asked for.
    #[arg(short, long, global = true)]
    pub(crate) quiet: bool,

    /// How to show on standard error how far it is.
    #[arg(long, global = true, value_name = "HOW", default_value = "auto")]
    pub(crate) progress: progress::When,
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
    /// Check every description, pack, and write both manifests.
    ///
    /// Every array (X.ra) needs a description: X.yaml beside it, or an entry in the directory's own
    /// manifest.yaml. Each is compared with the header of its array, and no archive is made when one
    /// is wrong or two contradict each other. The archive gets its name when it is complete; the directory is never changed.
    ///
    /// The same content gives the same bytes, whatever the number of jobs.
    Create(CreateArgs),
    /// Add files to an archive, replace or remove some, and check and describe it again.
    ///
    /// Files and directories are added under their names below the working directory, or below -C DIR. The archive
    /// is written again next to the old one and checked as `create` does. Members that stay are copied as they are
    /// packed, with the digests of the manifest; those of a .tar.gz or .tar.zst are packed again. The old archive
    /// stays until the new one takes its place.
    Add(AddArgs),
    /// Convert arrays from one format into another: .ra, .npy, .npz, .ds, .png, directories and archives.
    ///
    /// Formats are inferred from the names: OUT is a directory when it is one, ends in a slash or has no extension. A
    /// directory is converted with everything below it, each array under its name, and all other files are copied. An
    /// .npz or .ds among several files becomes a directory of its name. To convert one array out of several, choose it
    /// with --member. Files that cannot be converted are named at the end, and the exit status is 1.
    ///
    /// The same index gives the same element before and after. What is stored with the last index fastest, as
    /// most .npy files are, is transposed on the way to RawArray, unless --order row keeps its bytes in their
    /// order and says so in the description. What has no counterpart is refused; what is lost is told.
    Convert(ConvertArgs),
    /// Check container, manifests, digests, headers and descriptions, and report everything wrong.
    Verify(VerifyArgs),
    /// Print, write or check the manifest of a pack by itself, from what is read of every file.
    ///
    /// What is printed is what `sha256sum -c` reads in the unpacked directory: a line for each file, but for
    /// manifests and their signatures. Descriptions and headers of arrays are not looked at; verify does that.
    Manifest(ManifestArgs),
    /// Show members with type, shape, order, size and description.
    ///
    /// On a terminal the table has a heading and a line with the totals, and is as wide as the screen; in a pipe
    /// it is the rows alone, and nothing is cut.
    List(ListArgs),
    /// Show everything about one array or one pack.
    ///
    /// Only the directory, headers, descriptions and manifests are read. Of an array: each field of its header with
    /// its byte, where header and data lie in the file and in the archive, the lines of `od` and `dd` that read them,
    /// its description and its digest. Of a pack: what there is of everything, its coordinates, its manifests, and
    /// where it contradicts itself as far as that can be known without reading contents.
    Info(InfoArgs),
    /// Show what an array is and its values, summarized as numpy does.
    ///
    /// Of a stored array only the values that are shown are read. --stats looks at all of them, in bounded memory,
    /// and holds them against the manifest. Values that the description calls missing are counted apart:
    /// `storage.fillvalue`, the attributes `_FillValue` and `missing_value`, and what lies outside `valid_range` or
    /// `valid_min` and `valid_max`.
    Show(ShowArgs),
    /// Draw an array: of one dimension as a line, of two as an image.
    ///
    /// Axes, units and colours are named as the description names them, and what has no value by it is shown as
    /// such. Of an array with more dimensions, --slice chooses two. Without --output there is a preview in
    /// the terminal.
    Plot(PlotArgs),
    /// Get one array or file out, checked against the manifest.
    Get(GetArgs),
    /// Unpack safely, checking digests while writing.
    Extract(ExtractArgs),
    /// Print, write or change descriptions: units, names, dimensions, a title.
    ///
    /// Without options, the description that headers imply is printed. --set, --dims and --apply put metadata into the
    /// descriptions of a directory, or of one array; a missing description is made. Comments and formatting of
    /// everything else stay.
    ///
    /// --update brings the shape and type that descriptions state, and `storage` where they state it, in
    /// line with the headers, and changes no other byte. A document in which that cannot be done safely is
    /// left as it is and reported.
    Describe(DescribeArgs),
    /// Compare two arrays or two packs: what was added, removed, renamed, and what changed in each array.
    ///
    /// Packs may lie in any container and layout, or be directories. Their members are matched by name; what the
    /// manifests of both archives give one digest is taken as the same without being read. Manifests and tag files of
    /// bags do not count.
    ///
    /// Elements are compared in their own type. Two that are not numbers (NaN) are equal. Byte order, encoding and,
    /// where descriptions tell of it, the order of dimensions may differ: elements with the same index are
    /// compared. With --l1, --l2 or --max one number is printed, the distance over all elements of two arrays.
    ///
    /// Exit status: 0 nothing differs by more than is tolerated; 1 something does; 2 they could not be compared.
    Diff(DiffArgs),
    /// Write a pack as one page of HTML: every array with statistics and a picture, and whether all is whole.
    ///
    /// The page needs nothing else, not even a network: any browser shows it, on a screen, a phone or paper.
    /// The same pack gives the same page. An array that cannot be read does not keep the page from being
    /// written; the exit status is then 1.
    Report(ReportArgs),
    /// Give an array other dims, in place, and its description with it.
    ///
    /// The elements stay as they are, and so does what stands behind them; the new extents must make as many
    /// elements. One of them may be -1: it follows from the others. They are in the order of the description's
    /// shape, which is that of the header's dims unless it says `storage: {order: row}`.
    ///
    /// Each file is replaced in one step, the array first. Nothing is changed when the description cannot be
    /// brought in line.
    Reshape(ReshapeArgs),
    /// Say what a code of a finding means, with a wrong and a right example.
    Explain(ExplainArgs),
    /// Print the JSON Schema of descriptions or of a command's --json, or list the names.
    Schema(SchemaArgs),
    /// Check descriptions by themselves, and against the arrays beside them.
    ///
    /// A file that is named is taken for a description, with the array of its name beside it; an array
    /// with its description. Of a directory or archive, everything is checked that `verify` checks
    /// except digests. No data is read, except that of coordinates with --metadata. Coordinates that a single file names are looked for in its directory and in those
    /// above it, up to the working directory.
    Validate(ValidateArgs),
    /// Print what makes a shell complete commands and options.
    Completions(CompletionsArgs),
    /// Print a manual page, or write all of them.
    Man(ManArgs),
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

/// More threads than this help nobody, and each takes memory.
const MAX_JOBS: usize = 256;

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    number(text, 1..=MAX_JOBS)
}

/// Reads a whole number of a range.
pub(super) fn number<N>(text: &str, range: std::ops::RangeInclusive<N>) -> Result<N, String>
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
