//! Options that several commands have, and their values.

use std::ops::RangeInclusive;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};

use ra_pack::Container;
use ra_pack::audit::Budget;
use ra_pack::convert::ArrayFormat;

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
  PAGER               list, show, info, diff, explain: program that shows results on a terminal
  LESS                options of less as the pager; default FRX
  TERM                disable the progress line and Unicode in pictures if dumb
  LC_ALL              show, plot: use Unicode in text if the locale is UTF-8;
                      LC_CTYPE, then LANG, is used if it is not set
  COLORTERM           plot: use 24-bit colours in the terminal if truecolor or 24bit
  SOURCE_DATE_EPOCH   create, add: modification time of all members, in seconds since 1970 UTC
  TMPDIR              diff, --download: directory for temporary files
  AWS_*, GOOGLE_*, AZURE_*
                      credentials and endpoints of s3:, gs: and az: URLs; see docs/remote.md

ra-pack reads no configuration files.";

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Color {
    /// On a terminal, unless `NO_COLOR` is set; everywhere if `CLICOLOR_FORCE` is.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
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
    words_but(words, &[])
}

/// Returns a parser for one of these words, which names those that it takes only to explain them.
pub(super) fn words_but<T: Copy + Send + Sync>(
    words: &'static Choices<T>,
    unnamed: &[&str],
) -> impl TypedValueParser<Value = T> {
    let value = |word| PossibleValue::new(word).hide(unnamed.contains(&word));
    let known = words.iter().map(|(word, _, help)| value(*word).help(*help));
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

/// Returns a pattern; for the name of an array, also with its extension and that of its description.
pub(crate) fn with_description(pattern: &str) -> Vec<String> {
    let stem = pattern.strip_suffix(".ra").unwrap_or(pattern);
    let mut all = vec![pattern.to_owned()];
    if !pattern.contains(['*', '?', '[']) && !pattern.ends_with('/') {
        all.extend(["ra", "yaml", "yml"].map(|end| format!("{stem}.{end}")));
    }
    all
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
    use super::*;

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
