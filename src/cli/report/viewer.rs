//! `ra-pack report --viewer`: the viewer with a pack inside.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use ra_pack::Error;
use ra_pack::path::escape_path;

use super::super::output::Output;
use super::super::text::human_bytes;
use super::super::{Ending, Failure, files};
use super::ReportArgs;
use crate::cli::plot::Markup;

/// Largest pack in a page: a browser reads the whole page before it shows anything.
const MOST: u64 = 50 << 20;

/// Largest viewer.
const MOST_VIEWER: u64 = 16 << 20;

/// The mark in the viewer where a pack has its place.
const MARK: &str = "<!-- pack -->";

/// Where packages put the viewer, relative to the directory of the program; the last one is that of `viewer/build`.
const PLACES: [&str; 3] = ["viewer.html", "../share/ra-pack/viewer.html", "../viewer/viewer.html"];

/// The viewer of the Python package, whose program is the interpreter.
pub(crate) static OF_PACKAGE: OnceLock<PathBuf> = OnceLock::new();

/// Writes the viewer with the pack inside.
pub(super) fn write(args: &ReportArgs, output: &Output) -> Result<Ending, Failure> {
    let (target, shown) = (&args.archive, escape_path(&args.archive));
    if target.is_dir() || ra_pack::remote::is_url(target) {
        return Err(Failure::options(format!(
            "--viewer needs an archive or an array, not `{shown}`"
        )));
    }
    let size = files::size(target)?;
    if size > MOST {
        return Err(Failure::options(format!(
            "`{shown}` has {}; a page has room for {}: open the pack with the viewer instead",
            human_bytes(size),
            human_bytes(MOST)
        )));
    }
    if ra_pack::files::is_pack(target)? {
        // Fails with the reason for a file that only looks like a pack.
        ra_pack::Pack::open(target)?;
    }
    let viewer = String::from_utf8_lossy(&files::bytes(&viewer()?, MOST_VIEWER)?).into_owned();
    let pack = BASE64_STANDARD.encode(files::bytes(target, MOST)?);
    let name = target.file_name().unwrap_or_default().to_string_lossy();
    let Some((before, after)) = viewer.split_once(MARK) else {
        return Err(Failure::options("the viewer is of another version of ra-pack".to_owned()));
    };
    let put = |out: &mut dyn Write| {
        write!(
            out,
            "{before}<script type=\"text/plain\" id=\"pack\" data-name=\"{}\">",
            Markup(name)
        )?;
        write!(out, "{pack}</script>{after}")
    };
    if args.output.as_os_str() == "-" {
        put(&mut output.bytes())?;
        return Ok(Ending::Clean);
    }
    ra_pack::files::write_new(&args.output, args.force, put)?;
    let (page, bytes) = (escape_path(&args.output), human_bytes(files::size(&args.output)?));
    output.note(&format!("wrote {page} ({bytes}, the viewer with {shown} inside)"));
    Ok(Ending::Clean)
}

/// Returns the path of the viewer that is installed with the program.
fn viewer() -> Result<PathBuf, Failure> {
    let program = std::env::current_exe().unwrap_or_default();
    let beside = |place: &str| program.parent().unwrap_or(Path::new("")).join(place);
    let mut places = OF_PACKAGE.get().cloned().into_iter().chain(PLACES.into_iter().map(beside));
    let found = places.find(|path| path.is_file());
    found.ok_or_else(|| {
        let reason =
            "the viewer is not installed with this program; packages for Linux and Python have it";
        Failure::from(Error::Unsupported(reason.into()))
    })
}
