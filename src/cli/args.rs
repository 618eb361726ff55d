//! The commands, and the options that several of them share.

use std::time::Duration;

use clap::{ArgAction, Args, Parser, Subcommand};

use super::add::AddArgs;
use super::audit::AuditArgs;
use super::common::{Color, SHARED};
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
use super::salvage::SalvageArgs;
use super::show::ShowArgs;
use super::verify::{ManifestArgs, ValidateArgs, VerifyArgs};

/// Longest time without an answer, in seconds: a day.
const MAX_SECONDS: f64 = 86_400.0;

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

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Pack a directory into an archive, after checking every description.
    ///
    /// Every array (X.ra) needs a description: X.yaml next to it, or an entry in the directory's manifest.yaml. Each
    /// description is compared with the header of its array. Nothing is written if a description is not valid or two
    /// contradict each other. ARCHIVE appears only when it is complete. The directory is never changed.
    ///
    /// The same files give the same bytes, with any number of threads: every file has mode 0644 and the same time, so
    /// programs are not executable after unpacking.
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
    /// Make a valid archive of what is left of a damaged one.
    ///
    /// Headers are searched in the whole file, so its end, its directory and any member may be missing. The new archive
    /// has every file whose name and digest a manifest lists: a manifest in the archive, the one next to it, or the one
    /// given. Each other file is reported as lost, with the damaged ranges if the pack has block digests. Manifests and
    /// the description of the pack are generated again, and so are lost descriptions of arrays.
    ///
    /// Exit status: 0 nothing is lost; 1 a file is lost; 2 the archive could not be read or written.
    Salvage(SalvageArgs),
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

/// Parses a time in seconds, such as `0.5`.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.parse().ok().filter(|number| *number > 0.0 && *number <= MAX_SECONDS);
    number
        .and_then(|number| Duration::try_from_secs_f64(number).ok())
        .ok_or_else(|| format!("expected a number of seconds up to {MAX_SECONDS}"))
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
}
