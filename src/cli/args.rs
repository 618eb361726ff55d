//! What can be typed: the commands, and the options that several of them take.

use clap::{Args, Parser, Subcommand, ValueEnum};

use super::completions::Completions;
use super::convert::Convert;
use super::create::Create;
use super::describe::Describe;
use super::diff::Diff;
use super::explain::Explain;
use super::extract::Extract;
use super::get::Get;
use super::info::Info;
use super::list::List;
use super::man::Man;
use super::manifest::Manifest;
use super::plot::Plot;
use super::progress;
use super::report::Report;
use super::reshape::Reshape;
use super::schema::Schema;
use super::show::Show;
use super::validate::Validate;
use super::verify::Verify;

/// What holds for every command, below its options.
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
  SOURCE_DATE_EPOCH   create: the time of every member, in seconds since 1970 UTC
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
    Create(Create),
    Convert(Convert),
    Verify(Verify),
    Manifest(Manifest),
    List(List),
    Info(Info),
    Show(Show),
    Plot(Plot),
    Get(Get),
    Extract(Extract),
    Describe(Describe),
    Diff(Diff),
    Report(Report),
    Reshape(Reshape),
    Explain(Explain),
    Schema(Schema),
    Validate(Validate),
    Completions(Completions),
    Man(Man),
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

/// More threads than this help nobody, and each takes memory.
const MAX_JOBS: usize = 256;

pub(super) fn jobs(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(jobs) if (1..=MAX_JOBS).contains(&jobs) => Ok(jobs),
        _ => Err(format!("expected a number from 1 to {MAX_JOBS}")),
    }
}

pub(super) fn size(text: &str) -> Result<u64, String> {
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

pub(super) fn compression(text: &str) -> Result<ra_pack::Compression, String> {
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
