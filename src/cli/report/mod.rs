//! `ra-pack report`: a pack as one page that a browser shows without anything else.

mod card;
mod head;
mod html;
mod page;
mod picture;

use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::thread;

use clap::Args;
use ra_pack::{Finding, VerifyOptions, count_errors, escape_path};
use serde::Serialize;

use self::page::PageContent;
use super::args::Common;
use super::output::Output;
use super::text::{counted, human_bytes};
use super::{Ending, Failure, diagnostics, files};

/// Bytes that are written at once.
const PIECE: usize = 256 * 1024;

#[derive(Debug, Args)]
#[command(after_long_help = "\
Examples:
  ra-pack report exp.zip -o exp.html
  ra-pack report exp.zip -o exp.html --no-statistics --no-verify
  ra-pack report exp.zip -o - | gzip > exp.html.gz")]
pub(crate) struct ReportArgs {
    /// The archive or directory.
    #[arg(value_name = "ARCHIVE")]
    archive: PathBuf,

    /// Where to write the page; `-` for standard output.
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Do not verify the pack; the page then says that it was not.
    #[arg(long)]
    no_verify: bool,

    /// Read headers and descriptions, but no data: no statistics and no pictures.
    #[arg(long)]
    no_statistics: bool,

    /// Replace a file that is already there.
    #[arg(short, long)]
    force: bool,

    #[command(flatten)]
    common: Common,
}

/// The page that was written, and what is wrong with the pack.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(super) struct WrittenPage<'a> {
    /// The archive or directory, by its path as given.
    target: &'a PathBuf,
    /// The page, by its path as given.
    output: &'a PathBuf,
    /// Bytes of the page.
    bytes: u64,
    /// Arrays in the page.
    arrays: u64,
    /// Other files in the page, descriptions among them.
    files: u64,
    /// Whether the pack was verified; false with `--no-verify`.
    verified: bool,
    /// Arrays that cannot be read as far as the page needs them.
    unreadable: &'a [String],
    /// The findings, in the order of members. The target is valid when none is an error.
    #[cfg_attr(test, schemars(schema_with = "super::reference::tests::findings"))]
    findings: &'a [Finding],
}

pub(super) fn run(args: &ReportArgs, output: &Output) -> Result<Ending, Failure> {
    let to_file = args.output.as_os_str() != "-";
    if !to_file && args.common.json {
        return Err(Failure::unsupported(
            "the page and --json cannot both go to standard output; give --output FILE".to_owned(),
        ));
    }
    if to_file {
        ra_pack::check_apart(&args.archive, &args.output)?;
    }
    if let Some(extension) = args.output.extension().filter(|_| to_file)
        && !["html", "htm"].iter().any(|html| extension.eq_ignore_ascii_case(html))
    {
        return Err(Failure::unsupported(format!(
            "a page is written as HTML, and `{}` says otherwise; let it end in .html",
            escape_path(&args.output)
        )));
    }
    let mut made = Ok(PageContent::default());
    let mut put = |out: &mut dyn Write| -> io::Result<()> {
        let mut out = BufWriter::with_capacity(PIECE, out);
        made = gather(args, output, &mut out);
        out.flush()?;
        // Nothing is to get its name that is not whole; the reason is given below.
        if made.is_err() { Err(io::ErrorKind::Other.into()) } else { Ok(()) }
    };
    let written = if to_file {
        ra_pack::write_new(&args.output, args.force, put).map_err(Failure::from)
    } else {
        put(&mut output.bytes()).map_err(Failure::from)
    };
    let mut made = match (made, written) {
        (Err(failure), _) | (Ok(_), Err(failure)) => return Err(failure),
        (Ok(made), Ok(())) => made,
    };
    let bytes = if to_file { files::size(&args.output)? } else { 0 };
    if args.common.json {
        output.json(&WrittenPage {
            target: &args.archive,
            output: &args.output,
            bytes,
            arrays: made.arrays,
            files: made.files,
            verified: !args.no_verify,
            unreadable: &made.unreadable,
            findings: &made.findings,
        })?;
    } else {
        tell(args, &mut made, bytes, to_file, output);
    }
    let is_bad = count_errors(&made.findings) > 0 || !made.unreadable.is_empty();
    Ok(if is_bad { Ending::Findings } else { Ending::Clean })
}

/// Verifies the pack where that is wanted, and makes the page.
fn gather(args: &ReportArgs, output: &Output, out: &mut dyn Write) -> Result<PageContent, Failure> {
    let (jobs, progress) = (args.common.jobs, output.progress());
    let options = VerifyOptions { jobs, progress, ..VerifyOptions::default() };
    let verify = || ra_pack::verify(&args.archive, &options);
    let mut verified = (!args.no_verify).then(verify).transpose()?;
    if let Some(report) = &mut verified {
        diagnostics::say(&mut report.findings);
    }
    let jobs = jobs.unwrap_or_else(|| thread::available_parallelism().map_or(1, usize::from));
    page::write(&args.archive, verified.as_ref(), !args.no_statistics, jobs, out)
}

fn tell(args: &ReportArgs, made: &mut PageContent, bytes: u64, to_file: bool, output: &Output) {
    diagnostics::show(&args.archive, &mut made.findings, &[], output);
    if count_errors(&made.findings) == 0 {
        for name in &made.unreadable {
            output.message(&format!("ra-pack: `{}` cannot be read", ra_pack::escape(name)));
        }
    }
    if to_file {
        let verdict = match (args.no_verify, count_errors(&made.findings)) {
            (_, 1..) => "NOT VALID",
            (true, 0) => "not verified",
            (false, 0) => "valid",
        };
        output.note(&format!(
            "wrote {} ({}, {}, {verdict})",
            escape_path(&args.output),
            human_bytes(bytes),
            counted(made.arrays, "array"),
        ));
    }
}
