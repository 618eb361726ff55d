//! `ra-pack get` and `ra-pack extract`

use std::path::{Path, PathBuf};

use clap::Args;
use ra_pack::convert::ArrayFormat;
use ra_pack::extract::ExtractOptions;
use ra_pack::get::GetOptions;
use ra_pack::list::Patterns;
use ra_pack::path::escape_path;

use super::args::{Choices, Common, size, words};
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
  ra-pack get exp.zip run1/temperature.ra --slice '0:5,:' --format csv")]
pub(crate) struct GetArgs {
    /// An archive, a directory or an array file.
    #[arg(value_name = "TARGET")]
    archive: PathBuf,

    /// The member, as `list` shows it; its last part, without .ra, is enough where no other has the same. Not needed
    /// for an array file.
    #[arg(value_name = "MEMBER")]
    member: Option<String>,

    /// Where to write it; standard output when not given, or `-`.
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,

    /// A part of an array, like numpy's: `0:10,:,3`, in the order of its description's shape.
    #[arg(long, value_name = "SLICE", allow_hyphen_values = true)]
    slice: Option<String>,

    /// How to write an array: as ra, npy, png, csv (numbers of one or two dimensions) or json (nested
    /// lists); raw for its elements alone (little-endian, in file order). Otherwise what the name of the
    /// output ends in says it: .ra, .npy, .png, .csv, .json; a name without an ending is ra.
    #[arg(long, value_name = "FORMAT", value_parser = words(FORMATS))]
    format: Option<ArrayFormat>,

    /// Do not check the content against the manifest; of a slice, read only its own bytes.
    #[arg(long)]
    no_check: bool,

    /// Replace a file that is already there.
    #[arg(short, long)]
    force: bool,

    /// Stop when more bytes than this would be written; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    max_size: Option<u64>,

    /// Print a report as JSON; needs --output.
    #[arg(long, requires = "output")]
    json: bool,
}

const FORMATS: &Choices<ArrayFormat> = &[
    ("ra", ArrayFormat::Ra, "A RawArray file"),
    ("raw", ArrayFormat::Raw, "The elements alone"),
    ("npy", ArrayFormat::Npy, "An array of numpy"),
    ("png", ArrayFormat::Png, "A picture"),
    ("csv", ArrayFormat::Csv, "Numbers, a line for each first index"),
    ("json", ArrayFormat::Json, "Numbers in nested lists"),
];

impl GetArgs {
    /// Whether a member is written as bytes that nobody wants on a screen.
    fn is_binary(&self, member: &str) -> bool {
        let is_text = matches!(self.format, Some(ArrayFormat::Csv | ArrayFormat::Json));
        let extension = Path::new(member).extension();
        let is_array = extension.is_some_and(|end| end.eq_ignore_ascii_case("ra"));
        (is_array || self.slice.is_some() || self.format.is_some()) && !is_text
    }
}

pub(super) fn run(args: &GetArgs, output: &Output) -> Result<Ending, Failure> {
    let to_file = args.output.as_ref().filter(|path| path.as_os_str() != "-");
    // A name is completed here only where it decides something: opening a pack twice takes its time.
    let member = match &args.member {
        Some(member) if to_file.is_some() || !output.is_terminal() => member.clone(),
        member => array::open(&args.archive, member.as_deref(), &output.progress())?.1,
    };
    let mut options = GetOptions::default();
    options.slice.clone_from(&args.slice);
    options.format = args.format;
    options.unverified = args.no_check;
    options.force = args.force;
    options.max_size = args.max_size;
    options.progress = output.progress();
    let report = match to_file {
        Some(path) => ra_pack::get(&args.archive, &member, path, &options)
            .map_err(|error| with_plot(error, args, path))?,
        None if output.is_terminal() && args.is_binary(&member) => {
            let (archive, member) = (shell::path(&args.archive), shell::word(member.as_bytes()));
            return Err(Failure::unsupported(
                "an array is not written to a terminal; give --output FILE, or pipe it on",
            )
            .next(format!("`ra-pack show {archive} {member}` shows it")));
        }
        None => ra_pack::get::get_to(&args.archive, &member, &mut output.bytes(), &options)?,
    };
    diagnostics::show(&args.archive, &mut [], &report.leftovers, output);
    if !report.losses.is_empty() {
        let losses = report.losses.join("; ");
        output.note(&format!("warning: {}", ra_pack::path::escape(&losses)));
    }
    if args.json {
        output.json(&report)?;
    } else if let Some(path) = to_file {
        let how = if report.verified {
            "agrees with the manifest"
        } else {
            "not held against a manifest"
        };
        output.note(&format!("wrote {} ({}, {how})", escape_path(path), human_bytes(report.bytes)));
    } else if !report.verified && !args.no_check {
        output.note("ra-pack: no manifest vouches for this member");
    }
    Ok(Ending::Clean)
}

/// Says what makes a picture of elements that are no samples of one.
fn with_plot(error: ra_pack::Error, args: &GetArgs, output: &Path) -> Failure {
    let is_picture = ArrayFormat::from_extension(output) == Some(ArrayFormat::Png);
    if !is_picture || !matches!(error, ra_pack::Error::Interchange { .. }) {
        return error.into();
    }
    let mut words = vec![shell::path(&args.archive)];
    words.extend(args.member.iter().map(|member| shell::word(member.as_bytes())));
    words.extend(
        args.slice.iter().map(|slice| format!("--slice {}", shell::word(slice.as_bytes()))),
    );
    words.push(format!("-o {}", shell::path(output)));
    Failure::from(error).next(format!("`ra-pack plot {}` draws it", words.join(" ")))
}

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack extract exp.zip -C exp
  ra-pack extract exp.zip 'run1/*' -C part
  ra-pack list --json exp.zip | jq -r '.members[].name | select(test(\"time\"))' |
    ra-pack extract exp.zip --files-from - -C times")]
pub(crate) struct ExtractArgs {
    /// The archive.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// What to unpack; everything when there are none.
    #[arg(value_name = "GLOB")]
    patterns: Vec<String>,

    /// Where to; made when it is not there.
    #[arg(short = 'C', long, value_name = "DIR", default_value = ".")]
    directory: PathBuf,

    /// Replace files that are already there.
    #[arg(short, long)]
    force: bool,

    /// Stop when more bytes than this would be written; K, M, G and T are powers of 1024.
    #[arg(long, value_name = "BYTES", value_parser = size)]
    max_size: Option<u64>,

    #[command(flatten)]
    more: FilesFrom,

    #[command(flatten)]
    common: Common,
}

pub(super) fn extract(args: &ExtractArgs, output: &Output) -> Result<Ending, Failure> {
    let mut options = ExtractOptions::default();
    options.patterns = patterns(args)?;
    options.force = args.force;
    options.jobs = args.common.jobs;
    options.max_size = args.max_size;
    options.progress = output.progress();
    let mut report = ra_pack::extract(&args.archive, &args.directory, &options)?;
    diagnostics::show(&args.archive, &mut report.findings, &report.leftovers, output);
    let is_nothing = report.members == 0 && !args.patterns.is_empty() && report.is_sound();
    if args.common.json {
        output.json(&report)?;
    } else if !is_nothing {
        output.note(&format!(
            "unpacked {} ({}) into {}, {} agree with the manifest",
            counted(report.members, "file"),
            human_bytes(report.bytes),
            escape_path(&args.directory),
            report.verified,
        ));
    }
    if is_nothing {
        output.message(&diagnostics::nothing_matches(&args.archive, "member", &args.patterns));
        return Ok(Ending::Failed);
    }
    Ok(if report.is_sound() { Ending::Clean } else { Ending::Findings })
}

/// The members that match a pattern, and those that the list names.
fn patterns(args: &ExtractArgs) -> Result<Patterns, Failure> {
    let patterns = Patterns::new(&args.patterns)?;
    if !args.more.is_given() {
        return Ok(patterns);
    }
    let names = args.more.names()?.map(|name| {
        name?.into_os_string().into_string().map_err(|name| {
            let name = escape_path(name.as_ref()).to_string();
            ra_pack::Error::Unsupported(format!("`{name}` is not UTF-8, as names of members are"))
        })
    });
    Ok(patterns.and_names(names.collect::<ra_pack::Result<Vec<_>>>()?))
}
