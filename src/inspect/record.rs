//! Records for repositories about a pack. Only headers, descriptions and manifests are read.

use std::io::Write;
use std::path::Path;

use crate::archive::{Archive, Container};
use crate::deposit::{About, ArchiveFile, record};
use crate::error::{Error, Result};
use crate::inspect::info::InfoOptions;
use crate::inspect::scan::PackScan;
use crate::message::{Message, Part};
use crate::pipeline;
use crate::read::manifests;

pub use crate::deposit::RecordFormat;

/// Writes what a pack says about itself in the format of a repository, from its attributes, its descriptions and its
/// manifest.
///
/// A dataset of Croissant has the digest of the archive. It is read from the file next to the archive, if there is one;
/// otherwise the archive is read.
///
/// # Errors
///
/// [`Error::Refused`] if the pack lacks attributes that the record must have; [`Error::Io`] if the target cannot be
/// read; and [`Error::NotAPack`] if it is not a pack.
///
/// ```
/// use ra_pack::inspect::{RecordFormat, write_record};
///
/// let mut record = Vec::new();
/// let options = Default::default();
/// let written = write_record("examples/experiment", RecordFormat::RoCrate, &options, &mut record);
/// assert!(written.is_err()); // the attributes lack a summary and a date
/// ```
pub fn write_record(
    target: impl AsRef<Path>,
    format: RecordFormat,
    options: &InfoOptions,
    out: &mut dyn Write,
) -> Result<()> {
    let archive = Archive::open_watched(target.as_ref(), &options.progress)?;
    let scan = PackScan::of_contents(&archive, pipeline::jobs(options.jobs))?;
    let PackScan { contents, findings, .. } = scan;
    let path = archive.path().to_owned();
    Error::refuse_bad(&path, findings)?;
    let about = About::new(&contents.own_attributes());
    let hint = |set: &str| {
        let target = Some(Box::new(Part::File(String::new())));
        let call = Part::Call { operation: "describe", option: ("set", set).into(), target };
        let mut hint = Message::from("set it: ");
        hint.parts.push(call);
        hint
    };
    Error::refuse_bad(&path, about.lacking(format, hint))?;
    let file = archive_file(&archive, format)?;
    let text = record(format, &about, &contents, file.as_ref());
    out.write_all(text.as_bytes()).map_err(Error::io("write", "the record"))
}

/// Returns what a record says about an archive file, with its digest if the format needs it.
fn archive_file(archive: &Archive, format: RecordFormat) -> Result<Option<ArchiveFile>> {
    let is_croissant = format == RecordFormat::Croissant;
    let Some(file) = archive.file() else {
        let why = "is a directory; a dataset of Croissant describes an archive, so pack it first";
        return if is_croissant { Err(Error::wrong_target(archive.path(), why)) } else { Ok(None) };
    };
    let sha256 = is_croissant.then(|| manifests::archive_digest(archive)).transpose()?;
    Ok(Some(ArchiveFile {
        name: archive.path().file_name().unwrap_or_default().to_string_lossy().into_owned(),
        media_type: match archive.container() {
            Container::Tar => "application/x-tar",
            Container::TarGz => "application/gzip",
            Container::TarZst => "application/zstd",
            Container::Zip | Container::Directory => "application/zip",
        },
        size: file.len()?,
        sha256: sha256.map(|digest| digest.to_string()),
    }))
}
