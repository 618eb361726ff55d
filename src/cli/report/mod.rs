//! `ra-pack report`: a self-contained HTML page about a pack.

mod audit_page;
mod card;
mod head;
mod page;
mod picture;
pub(crate) mod viewer;

use std::borrow::Cow;
use std::fmt::{self, Display as _, Write as _};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::thread;

use clap::Args;
use ra_pack::archive::Method;
use ra_pack::finding::count_errors;
use ra_pack::path::escape_path;
use ra_pack::verify::{Verdict, VerifyOptions};
use ra_pack::{Code, Error, Finding};
use serde::Serialize;

use super::common::Common;
use super::output::Output;
use super::plot::Markup;
use super::text::{self, grouped, human_bytes};
use super::{Ending, Failure, diagnostics, files};

pub(super) use self::audit_page::write_audit;

/// Style of all pages.
const CSS: &str = include_str!("report.css");

/// Size of the pieces in which the page is written, in bytes.
const PIECE: usize = 256 * 1024;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack report exp.zip -o exp.html
  ra-pack report exp.zip -o exp.html --no-stats --no-verify
  ra-pack report exp.zip -o exp.html --viewer
  ra-pack report exp.zip -o - | gzip > exp.html.gz")]
pub(crate) struct ReportArgs {
    /// Archive, directory or array (.ra).
    #[arg(value_name = "TARGET")]
    archive: PathBuf,

    /// Write the page to this file; `-` is standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Do not verify the pack; the page says "Not verified".
    #[arg(long)]
    no_verify: bool,

    /// Read no data; omit statistics and pictures.
    #[arg(long = "no-stats", alias = "no-statistics")]
    no_statistics: bool,

    /// Write the viewer with the pack inside instead: a page that shows all values, and verifies
    /// the pack in the browser of its reader. The pack has at most 50 MiB.
    #[arg(long, conflicts_with_all = ["no_verify", "no_statistics", "json"])]
    viewer: bool,

    /// Replace an existing file.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

/// The page that was written, and the findings of the pack.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WrittenPage {
    /// The path of the archive or directory, as given.
    target: PathBuf,
    /// The path of the page, as given.
    output: PathBuf,
    /// The size of the page in bytes.
    bytes: u64,
    /// Number of arrays in the page.
    arrays: u64,
    /// Number of files in the page, including arrays and descriptions.
    files: u64,
    /// Whether the pack was verified; false with `--no-verify`.
    verified: bool,
    /// Whether the contents were checked against a manifest.
    #[serde(skip)]
    contents_read: bool,
    /// Arrays that cannot be read completely.
    unreadable: Vec<String>,
    /// The findings, in the order of members. The target is valid if none is an error.
    #[cfg_attr(test, schemars(schema_with = "super::reference::tests::findings"))]
    findings: Vec<Finding>,
}

pub(super) fn run(args: &ReportArgs, output: &Output) -> Result<Ending, Failure> {
    let to_file = args.output.as_os_str() != "-";
    if !to_file && args.common.json {
        return Err(Failure::options(
            "the page and --json cannot both go to standard output; give --output FILE".to_owned(),
        ));
    }
    if to_file {
        ra_pack::files::check_apart(&args.archive, &args.output)?;
    }
    if let Some(extension) = args.output.extension().filter(|_| to_file)
        && !["html", "htm"].iter().any(|html| extension.eq_ignore_ascii_case(html))
    {
        return Err(Failure::options(format!(
            "the extension of `{}` must be .html or .htm",
            escape_path(&args.output)
        )));
    }
    if args.viewer {
        return viewer::write(args, output);
    }
    let mut made = Ok(WrittenPage::default());
    let mut put = |out: &mut dyn Write| -> io::Result<()> {
        let mut out = BufWriter::with_capacity(PIECE, out);
        made = match gather(args, output, &mut out) {
            // The caller adds the name of the page.
            Err(Failure::Output(error)) => return Err(error),
            made => made,
        };
        out.flush()?;
        // Keeps an incomplete page from being renamed to its final name. The error is returned below.
        if made.is_err() { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    };
    let written = if to_file {
        ra_pack::files::write_new(&args.output, args.force, put).map_err(Failure::from)
    } else {
        put(&mut output.bytes()).map_err(Failure::from)
    };
    let mut page = made?;
    written?;
    page.findings.retain(|found| found.code != Code::UnportableName);
    if to_file {
        page.bytes = files::size(&args.output)?;
    }
    if args.common.json {
        output.json(&page)?;
    } else {
        print_summary(&mut page, to_file, output);
    }
    let is_bad = count_errors(&page.findings) > 0 || !page.unreadable.is_empty();
    Ok(if is_bad { Ending::Findings } else { Ending::Clean })
}

/// Verifies the pack if requested, and writes the page.
fn gather(args: &ReportArgs, output: &Output, out: &mut dyn Write) -> Result<WrittenPage, Failure> {
    let (jobs, progress) = (args.common.jobs, output.progress());
    let options = VerifyOptions { jobs, progress, ..VerifyOptions::default() };
    let verify = || ra_pack::verify(&args.archive, &options);
    let verified = (!args.no_verify).then(verify).transpose()?;
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    page::write(args, verified.as_ref(), jobs, out)
}

fn print_summary(page: &mut WrittenPage, to_file: bool, output: &Output) {
    diagnostics::show(&page.target, &page.findings, &[], output);
    let errors = count_errors(&page.findings);
    if errors == 0 {
        for name in &page.unreadable {
            output.message(&format!("ra-pack: `{}` cannot be read", ra_pack::path::escape(name)));
        }
    }
    if to_file {
        let verdict = match Verdict::of(&page.findings, page.contents_read) {
            Verdict::NotValid => "NOT VALID",
            Verdict::Valid => "valid",
            _ => "not verified",
        };
        output.note(&format!(
            "wrote {} ({}, {}, {verdict})",
            escape_path(&page.output),
            human_bytes(page.bytes),
            text::counted(page.arrays, "array"),
        ));
    }
}

/// Returns an error in the pack as a value, because the page shows it. Other errors, such as failing reads, end the
/// report.
fn shown<T>(result: Result<T, Error>) -> Result<Result<T, Error>, Error> {
    match result {
        Err(error @ (Error::Io { .. } | Error::Changed { .. } | Error::Interrupted)) => Err(error),
        shown => Ok(shown),
    }
}

/// Piece of HTML.
#[derive(Debug, Default)]
struct Html(String);

/// Formats markup. Each `{}` is replaced by an escaped text or by a piece of markup. The format comes from `concat!`,
/// so it cannot name variables.
macro_rules! html {
    ($markup:literal $(, $piece:expr)* $(,)?) => {
        $crate::cli::report::Html(
            format!(concat!($markup) $(, $crate::cli::report::Slot(&$piece))*)
        )
    };
}
use html;

/// Argument of [`html!`].
trait Piece {
    fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result;
}

/// Adapter that writes an argument.
struct Slot<'a, T: ?Sized>(&'a T);

impl<T: Piece + ?Sized> fmt::Display for Slot<'_, T> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.put(out)
    }
}

impl Piece for Html {
    fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl<T: Piece + ?Sized> Piece for &T {
    fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        (*self).put(out)
    }
}

impl<T: Piece> Piece for Option<T> {
    fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|piece| piece.put(out))
    }
}

impl<T: Piece> Piece for Vec<T> {
    fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|piece| piece.put(out))
    }
}

macro_rules! texts {
    ($($text:ty)+) => {
        $(impl Piece for $text {
            fn put(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                Markup(self).fmt(out)
            }
        })+
    };
}

texts! { str String Cow<'_, str> Method u64 u128 i128 usize Id<'_> }

/// Returns the beginning of a page that may load only from these sources.
fn page_head(sources: &str, title: &str, css: &str) -> Html {
    html!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none';{} base-uri 'none'; form-action \
         'none'\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\
         <meta name=\"color-scheme\" content=\"light dark\">\
         <meta name=\"referrer\" content=\"no-referrer\">\
         <meta name=\"generator\" content=\"ra-pack {}\"><title>{}</title><style>{}</style></head>\n<body>",
        Html(sources.to_owned()),
        env!("CARGO_PKG_VERSION"),
        title,
        Html(css.to_owned())
    )
}

/// Returns the lines of a text, with line breaks.
fn lines(text: &str) -> Vec<Html> {
    let text = text.trim_end_matches(['\n', '\r']).replace("\r\n", "\n");
    let piece = |piece: &str| {
        let text = piece.trim_end_matches(['\n', '\t']);
        Html(html!("{}", text).0 + piece.strip_prefix(text).unwrap_or_default())
    };
    text.split_inclusive(['\n', '\t']).map(piece).collect()
}

/// Id of an element, escaped so that a browser finds it by its link and by the plain name after a `#`.
struct Id<'a>(&'a str);

impl fmt::Display for Id<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.0.bytes() {
            match byte {
                b'!'..=b'~' if !b"%&<>\"'`".contains(&byte) => out.write_char(char::from(byte))?,
                _ => write!(out, "%{byte:02X}")?,
            }
        }
        Ok(())
    }
}

/// Formats a count with separated thousands and its noun.
fn counted(count: impl TryInto<u64>, noun: &str) -> String {
    let count = grouped(count);
    format!("{count} {noun}{}", if count == "1" { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_cannot_become_markup() {
        let html = html!("<p title=\"{}\">{}</p>", "\"'", "</script><b a='1'>&amp;");
        let expected =
            "<p title=\"&quot;&#39;\">&lt;/script&gt;&lt;b a=&#39;1&#39;&gt;&amp;amp;</p>";
        assert_eq!(html.0, expected);
    }

    #[test]
    fn line_breaks_stay_and_bidirectional_controls_are_escaped() {
        let html = html!("{}", lines("one\r\ntwo\u{202e}<\tthree\n\n"));
        assert_eq!(html.0, "one\ntwo\\u{202e}&lt;\tthree");
    }

    #[test]
    fn names_become_ids() {
        let html = html!("{} {}", Id("run1/a_b-c.d"), Id("a ä<%\"'\u{202e}"));
        assert_eq!(html.0, "run1/a_b-c.d a%20%C3%A4%3C%25%22%27%E2%80%AE");
    }
}
