//! `ra-pack get` and `ra-pack extract`

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::Container;
use ra_pack::convert::ArrayFormat;
use ra_pack::convert::GetOptions;
use ra_pack::inspect::Patterns;
use ra_pack::path::escape_path;
use ra_pack::remote::is_url;
use ra_pack::write::ExtractOptions;

use super::array::{ByCoordinate, Stored};
use super::common::{ARRAY_FORMATS, Common, size, with_description, words};
use super::files::FilesFrom;
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, array, diagnostics, shell};

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack get exp.zip run1/temperature.ra -o temperature.ra
  ra-pack get exp.zip run1/velocity.ra --slice '0:10,:,3' -o part.ra
  ra-pack get exp.zip notes.txt
  ra-pack get exp.zip run1/time.ra --format raw | od -A n -t f8
  ra-pack get exp.zip run1/temperature.ra --slice '0:5,:' --format csv
  ra-pack get exp.zip run1/temperature.ra --sel time=2024-06-03 -o day.npy")]
pub(crate) struct GetArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    pub(super) archive: PathBuf,

    /// Array or file of the pack, as shown by `list`, or the last part of its name; not needed for an array file.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Write to this file; `-` is standard output (default). The description of an array is written next to a .ra file.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// Write a part of the array, in NumPy syntax: `0:10,:,3`. As in NumPy, a range is
    /// cut at the ends of its dimension, and an index out of range is an error.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    #[command(flatten)]
    by_coordinate: ByCoordinate,

    /// Write an array in this format [default: inferred from FILE, otherwise ra]. `csv` and `json` have values as they
    /// are meant, the others as they are stored.
    #[arg(long, alias = "to", value_name = "FORMAT", value_parser = words(ARRAY_FORMATS))]
    format: Option<ArrayFormat>,

    #[command(flatten)]
    stored: Stored,

    /// Do not check the content against the manifest; for a slice, read only its own bytes. In a pack
    /// with block digests, a slice is checked by reading only its blocks.
    #[arg(long, alias = "no-check")]
    pub(super) no_verify: bool,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    /// Stop before writing more than BYTES; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    max_size: Option<u64>,

    /// Print a report as JSON; needs --output.
    #[arg(long, requires = "output")]
    json: bool,
}

impl GetArgs {
    /// Whether a member is written as binary data, which does not belong on a terminal.
    fn is_binary(&self, member: &str) -> bool {
        let is_text = matches!(self.format, Some(ArrayFormat::Csv | ArrayFormat::Json));
        let extension = Path::new(member).extension();
        let is_array = extension.is_some_and(|end| end.eq_ignore_ascii_case("ra"));
        (is_array || self.slice.is_some() || self.by_coordinate.is_given() || self.format.is_some())
            && !is_text
    }
}

/// Size in bytes from which checking a whole array for a slice takes a noticeable time.
const LONG_CHECK: u64 = 64 << 20;

pub(super) fn run(args: &GetArgs, output: &Output) -> Result<Ending, Failure> {
    let to_file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    // Completes the name only if it decides the output: opening a pack twice takes time.
    let member = match &args.member {
        Some(member) if to_file.is_some() || !output.is_terminal() => member.clone(),
        member => array::open(&args.archive, member.as_deref(), &output.progress())?.1,
    };
    let slice = if args.by_coordinate.is_given() {
        let (pack, name) = array::open(&args.archive, Some(&member), &output.progress())?;
        args.by_coordinate.slice(&pack.array(&name)?.in_shape_order()?, None)?
    } else {
        args.slice.clone()
    };
    let options = GetOptions {
        slice,
        format: args.format,
        raw: args.stored.raw,
        unverified: args.no_verify,
        force: args.force,
        max_size: args.max_size,
        progress: output.progress(),
    };
    let report = match to_file {
        Some(path) => ra_pack::get(&args.archive, &member, path, &options)
            .map_err(|error| with_plot(error, args, path))?,
        None if output.is_terminal() && args.is_binary(&member) => {
            let (archive, member) = (shell::path(&args.archive), shell::word(member.as_bytes()));
            return Err(Failure::options(
                "an array is not written to a terminal; give --output FILE or use a pipe",
            )
            .next(format!("`ra-pack show {archive} {member}` shows its values")));
        }
        None if output.is_terminal() && args.format == Some(ArrayFormat::Csv) => {
            let mut out = Escaping(output.bytes());
            ra_pack::convert::get_to(&args.archive, &member, &mut out, &options)?
        }
        None => ra_pack::convert::get_to(&args.archive, &member, &mut output.bytes(), &options)?,
    };
    diagnostics::show(&args.archive, &[], &report.leftovers, output);
    if !report.losses.is_empty() {
        let losses = report.losses.join("; ");
        output.message(&format!("warning: {}", ra_pack::path::escape(&losses)));
    }
    if let Some(bytes) = report.checked_bytes.filter(|bytes| *bytes >= LONG_CHECK) {
        output.note(&format!(
            "note: all {} of the array were read to check the slice; --no-verify reads only the slice, and \
             `create --block-digests` makes packs in which only its blocks are read",
            human_bytes(bytes)
        ));
    }
    if args.json {
        output.json(&report)?;
    } else if let Some(path) = to_file {
        let how = match report.blocks {
            Some(blocks) => format!("verified: {}", counted(blocks, "block")),
            None if report.verified => "verified".to_owned(),
            None if args.no_verify => "not verified".to_owned(),
            None => "not verified: not in a manifest".to_owned(),
        };
        let description = report.description_file.as_deref();
        let description = description.map(|path| format!(" and {}", escape_path(path)));
        output.note(&format!(
            "wrote {}{} ({}, {how})",
            escape_path(path),
            description.unwrap_or_default(),
            human_bytes(report.bytes)
        ));
    } else if args.no_verify && is_url(&args.archive) {
        output.note(array::NOT_VERIFIED);
    } else if !report.verified && !args.no_verify {
        let member = ra_pack::path::escape(&member);
        output.note(&format!("ra-pack: not verified: `{member}` is not in a manifest"));
    }
    Ok(Ending::Clean)
}

/// A writer of lines of text to a terminal, which escapes their control characters.
struct Escaping<W>(W);

impl<W: Write> Write for Escaping<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for line in String::from_utf8_lossy(bytes).split_inclusive('\n') {
            let text = line.trim_end_matches('\n');
            let end = if text.len() < line.len() { "\n" } else { "" };
            write!(self.0, "{}{end}", ra_pack::path::escape(text))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Adds the `plot` command to the error for an array that cannot be written as a PNG of its elements.
fn with_plot(error: ra_pack::Error, args: &GetArgs, output: &Path) -> Failure {
    let is_picture = ArrayFormat::from_extension(output) == Some(ArrayFormat::Png);
    if !is_picture || !matches!(error, ra_pack::Error::Interchange { .. }) {
        return error.into();
    }
    let array = shell::array(&args.archive, args.member.as_deref(), args.slice.as_deref());
    let output = shell::path(output);
    Failure::from(error).next(format!("`ra-pack plot {array} -o {output}` draws a picture of it"))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack extract exp.zip -C copy
  ra-pack extract exp.zip 'run1/*' -C part
  ra-pack list --json exp.zip | jq -r '.members[].name | select(test(\"time\"))' |
    ra-pack extract exp.zip --files-from - -C times")]
pub(crate) struct ExtractArgs {
    /// Archive or directory.
    #[arg(value_name = "TARGET")]
    pub(super) archive: PathBuf,

    /// Unpack members that match [default: all]. The name of an array also means its description; its coordinates are
    /// members of their own.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Unpack into this directory [default: named after the archive]. Existing directories keep their other files.
    #[arg(short = 'C', long, short_aliases = ['d', 'o'], alias = "output", value_name = "DIR")]
    directory: Option<PathBuf>,

    /// Replace existing files.
    #[arg(short, long)]
    force: bool,

    /// Stop before writing more than BYTES; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    max_size: Option<u64>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn extract(args: &ExtractArgs, output: &Output) -> Result<Ending, Failure> {
    let options = ExtractOptions {
        patterns: patterns(args)?,
        force: args.force,
        jobs: args.common.jobs,
        max_size: args.max_size,
        progress: output.progress(),
        own_directory: args.directory.is_none(),
    };
    if options.own_directory {
        refuse_unnamed(&args.archive)?;
    }
    let here = Path::new(".");
    let directory = args.directory.as_deref().unwrap_or(here);
    let report = ra_pack::extract(&args.archive, directory, &options)
        .map_err(|error| elsewhere(error, &args.archive))?;
    diagnostics::show(&args.archive, &report.findings, &report.leftovers, output);
    let is_nothing = report.files == 0 && !args.patterns.is_empty() && report.is_valid();
    if args.common.json {
        output.json(&report)?;
    } else if !is_nothing {
        // A manifest does not list itself.
        let is_all = report.verified + 1 >= report.files && report.findings.is_empty();
        let verified = match report.verified {
            0 => "not verified: no manifest".to_owned(),
            _ if is_all => "all verified".to_owned(),
            some => format!("{some} verified"),
        };
        output.note(&format!(
            "unpacked {} ({}) into {}; {verified}",
            counted(report.files, "file"),
            human_bytes(report.bytes),
            escape_path(&report.output),
        ));
    }
    if is_nothing {
        output.message(&diagnostics::nothing_matches(&args.archive, "member", &args.patterns));
        return Ok(Ending::Failed);
    }
    Ok(if report.is_valid() { Ending::Clean } else { Ending::Findings })
}

/// Adds a command that unpacks into another directory.
fn elsewhere(error: ra_pack::Error, archive: &Path) -> Failure {
    if !matches!(error, ra_pack::Error::AlreadyExists { .. }) {
        return error.into();
    }
    let archive = shell::path(archive);
    Failure::from(error).next(format!("`ra-pack extract {archive} -C DIR` unpacks elsewhere"))
}

/// Rejects an archive without an extension, which gives no name for a new directory.
fn refuse_unnamed(archive: &Path) -> Result<(), Failure> {
    if !ra_pack::files::is_pack(archive)? {
        // The operation reports this.
        return Ok(());
    }
    let (shown, word) = (escape_path(archive), shell::path(archive));
    let what = if archive.is_dir() {
        format!("`{shown}` is a directory, not an archive")
    } else if Container::from_extension(archive).is_none() {
        format!("`{shown}` has no extension such as .zip to derive a directory name from")
    } else {
        return Ok(());
    };
    Err(Failure::options(format!("{what}; `ra-pack extract {word} -C DIR` unpacks into DIR")))
}

/// Collects the members that match a pattern and those in the list.
fn patterns(args: &ExtractArgs) -> Result<Patterns, Failure> {
    let patterns = args.patterns.iter().flat_map(|pattern| with_description(pattern));
    let patterns = Patterns::new(patterns)?;
    if !args.more.is_given() {
        return Ok(patterns);
    }
    let names = args.more.names()?.map(|name| {
        name?.into_os_string().into_string().map_err(|name| {
            let name = escape_path(name.as_ref()).to_string();
            ra_pack::Error::Options(
                format!("`{name}` is not UTF-8, so it cannot be the name of a member").into(),
            )
        })
    });
    Ok(patterns.and_names(names.collect::<ra_pack::Result<Vec<_>>>()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_on_a_terminal_has_no_control_characters() {
        let mut out = Escaping(Vec::new());
        out.write_all("a\u{1b}[31m,1\n\u{202e}b\n".as_bytes()).unwrap();
        let text = String::from_utf8(out.0).unwrap();
        assert_eq!(text.lines().count(), 2);
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("[31m,1\n"), "{text}");
    }
}
