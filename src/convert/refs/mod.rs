//! References that present a pack as a Zarr store, for readers that know Zarr and not packs.
//!
//! The format is version 1 of kerchunk's references: a JSON object of Zarr keys. Metadata is text; a chunk is an address
//! with an offset and a length. The elements stay in the pack.

mod array;
mod chunks;
mod dimensions;
mod store;

use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use self::array::Refusal;
use self::store::{Node, Store};
use crate::archive::{Archive, Container};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, PendingFile};
use crate::inspect::outline::Outline;
use crate::inspect::scan::PackScan;
use crate::message::{Message, listed};
use crate::path::{escape, escape_path};
use crate::pipeline;
use crate::progress::Progress;
use crate::read::manifests::check_apart;
use crate::read::open::Pack;

/// Name of standard output in messages.
const STANDARD_OUTPUT: &str = "standard output";

/// Size of the pieces in which references are written, in bytes.
const PIECE: usize = 256 * 1024;

/// Number of reasons in a message, and of arrays that it names for each.
const NAMED: usize = 5;

/// Options for [`write_refs`] and [`refs_to`]: the address of the pack, and arrays to leave out.
#[derive(Debug, Clone, Default)]
pub struct RefsOptions {
    /// Address of the archive or directory for readers, such as `https://example.org/exp.zip`; its absolute path if
    /// `None`. For an array file, the address of that file.
    pub url: Option<String>,
    /// Whether to leave out arrays that Zarr readers cannot read. Otherwise they are an error.
    pub skip: bool,
    /// Whether to replace an existing file.
    pub force: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The references that were written.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct RefsReport {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// Address of the archive or directory in the references.
    pub url: String,
    /// Number of arrays in the references.
    pub arrays: u64,
    /// Number of chunks of all arrays.
    pub chunks: u64,
    /// Arrays that were left out.
    pub skipped: Vec<SkippedArray>,
    /// Metadata that the references cannot express, one sentence each.
    pub losses: Vec<String>,
    /// Warnings about the container and names.
    pub findings: Vec<Finding>,
    /// Files next to the output that an interrupted run left. You can delete them.
    pub leftovers: Vec<PathBuf>,
}

/// An array that is not in the references.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedArray {
    /// Name of the member.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// Writes references to the arrays of a pack into the file `output`, which appears when it is complete. Programs that
/// read Zarr through fsspec, kerchunk or `VirtualiZarr` open the references as a store of the format Zarr 2.
///
/// Only headers and descriptions are read. Shapes and dimensions are those of the descriptions, reversed for arrays in
/// column-major order: the last index of a Zarr array is the fastest.
///
/// # Errors
///
/// [`Error::Unsupported`] if Zarr readers cannot read an array and `skip` is not set; [`Error::WrongTarget`] for a
/// compressed tar; [`Error::Array`] if an array is damaged and `skip` is not set; [`Error::Refused`] if the container has errors;
/// [`Error::AlreadyExists`] if the output exists and `force` is not set; [`Error::Io`] and [`Error::NotAPack`] as for
/// [`list`](crate::list()).
///
/// ```no_run
/// use ra_pack::convert::{RefsOptions, write_refs};
///
/// let options = RefsOptions { url: Some("https://example.org/exp.zip".to_owned()), ..RefsOptions::default() };
/// let report = write_refs("exp.zip", "exp.json", &options)?;
/// println!("{} arrays in {} chunks", report.arrays, report.chunks);
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn write_refs(
    target: impl AsRef<Path>,
    output: impl AsRef<Path>,
    options: &RefsOptions,
) -> Result<RefsReport> {
    let (target, output) = (target.as_ref(), output.as_ref());
    check_apart(target, output)?;
    let (store, mut report) = plan(target, options)?;
    let pending = PendingFile::begin(output, options.force)?;
    write(&store, &mut pending.file(), output)?;
    pending.complete()?;
    report.leftovers = fs::leftovers(output);
    Ok(report)
}

/// Writes references to the arrays of a pack to `out`. Errors of the pack are returned before anything is written.
///
/// # Errors
///
/// As [`write_refs`], and [`Error::Io`] for a broken pipe.
///
/// ```
/// use ra_pack::convert::refs_to;
///
/// let mut json = Vec::new();
/// let report = refs_to("examples/experiment", &mut json, &Default::default())?;
/// assert_eq!(report.arrays, 10);
/// assert!(json.starts_with(br#"{"version":1,"refs":{"#));
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn refs_to(
    target: impl AsRef<Path>,
    out: &mut dyn Write,
    options: &RefsOptions,
) -> Result<RefsReport> {
    let (store, report) = plan(target.as_ref(), options)?;
    write(&store, out, STANDARD_OUTPUT.as_ref())?;
    Ok(report)
}

fn write(store: &Store, out: &mut dyn Write, output: &Path) -> Result<()> {
    let mut out = BufWriter::with_capacity(PIECE, out);
    let written = store.write(&mut out, output);
    let flushed = written.and_then(|()| out.flush().map_err(Error::io("write", output)));
    // Drops the rest without writing it.
    drop(out.into_parts());
    flushed
}

/// Reads the structure of the pack, and decides which arrays the references contain.
fn plan(target: &Path, options: &RefsOptions) -> Result<(Store, RefsReport)> {
    let pack = Pack::open_watched(target, &options.progress)?;
    let archive = pack.archive();
    if matches!(archive.container(), Container::TarGz | Container::TarZst) {
        return Err(Error::wrong_target(
            target,
            "is a compressed tar, in which no array can be read by its offset; extract it, or pack it as .zip or \
             .tar",
        ));
    }
    let PackScan { placement, members, contents, findings, .. } =
        PackScan::new(archive, pipeline::jobs(options.jobs))?;
    if findings.iter().any(Finding::is_error) {
        return Err(Error::Refused { path: target.to_owned(), findings });
    }
    let outline = Outline::new(target, archive, (placement.layout, contents, findings), None);
    let url = address(&pack, archive, options.url.as_deref())?;
    let store = Store::new(outline, archive, (members, &placement), url)?;
    let mut report = RefsReport {
        target: target.to_owned(),
        url: store.url.clone(),
        arrays: 0,
        chunks: 0,
        skipped: Vec::new(),
        losses: Vec::new(),
        findings: store.outline.findings.clone(),
        leftovers: Vec::new(),
    };
    let mut damage = None;
    store.survey(|node| match node {
        Node::Group(path, _, notes) => report.losses.extend(of(&format!("/{path}"), notes)),
        Node::Array(array) => {
            report.arrays += 1;
            report.chunks += array.chunks.count();
            report.losses.extend(of(&array.path, array.notes));
        }
        Node::Refused(name, refusal) => {
            let reason = match refusal {
                Refusal::Inexpressible(reason) => reason,
                Refusal::Damaged(error) => {
                    let reason = format!("it is damaged: {error}");
                    damage.get_or_insert_with(|| Error::array(name.clone(), error));
                    reason
                }
            };
            report.skipped.push(SkippedArray { name, reason });
        }
    })?;
    if !report.skipped.is_empty() && !options.skip {
        return Err(damage.unwrap_or_else(|| refused(&report)));
    }
    if report.arrays == 0 && !report.skipped.is_empty() {
        return Err(refused(&report));
    }
    let stated = store.outline.values_in_descriptions().into_iter();
    report.losses.extend(
        stated.map(|path| {
            format!("`{}` is left out: its elements are in a description", escape(&path))
        }),
    );
    Ok((store, report))
}

/// Adds the name of the group or array to its notes.
fn of(path: &str, notes: Vec<String>) -> impl Iterator<Item = String> {
    let path = escape(path).to_string();
    notes.into_iter().map(move |note| format!("`{path}`: {}", escape(&note)))
}

/// Returns the error that names the arrays that cannot be in the references.
fn refused(report: &RefsReport) -> Error {
    let RefsReport { skipped, target, arrays, .. } = report;
    // Most packs have one reason for all arrays.
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for SkippedArray { name, reason } in skipped {
        let is_full = reasons.len() == NAMED;
        match reasons.iter_mut().find(|(known, _)| known == reason) {
            Some((_, names)) => names.push(name),
            None if is_full => {}
            None => reasons.push((reason, vec![name])),
        }
    }
    let explained: usize = reasons.iter().map(|(_, names)| names.len()).sum();
    let mut named: Vec<_> = reasons
        .into_iter()
        .map(|(why, names)| {
            let names = listed(names.iter().map(|name| format!("`{}`", escape(name))), NAMED);
            format!("{names}: {}", escape(why))
        })
        .collect();
    if skipped.len() > explained {
        named.push(format!("and {} more", skipped.len() - explained));
    }
    let (target, named) = (escape_path(target), named.join("; "));
    let count = if *arrays == 0 { "no array" } else { "not every array" };
    let advice = match skipped.len() {
        _ if *arrays == 0 => {
            "references need arrays that are not compressed, with elements of a Zarr type".into()
        }
        1 => Message::default().option("skip").text(" leaves it out"),
        _ => Message::default().option("skip").text(" leaves them out"),
    };
    let problem = format!("{count} of `{target}` can be in references: {named}; ");
    Error::unsupported(Message::from(problem).join(advice))
}

/// Returns the address of the pack for readers, from the given one or from its path.
fn address(pack: &Pack, archive: &Archive, given: Option<&str>) -> Result<String> {
    match (given, pack.lone()) {
        (Some(url), None) => Ok(url.to_owned()),
        // The address of the directory that contains the array file.
        (Some(url), Some((_, name))) => {
            let directory = url.strip_suffix(name).filter(|directory| directory.ends_with('/'));
            directory.map(str::to_owned).ok_or_else(|| {
                Error::options(format!(
                    "the address `{}` of the array does not end in `/{}`",
                    escape(url),
                    escape(name)
                ))
            })
        }
        (None, _) if pack.is_remote() => {
            let url = archive.path();
            if fs::target_name(url) == url.to_string_lossy() {
                return Ok(url.to_string_lossy().into_owned());
            }
            let problem = format!(
                "the URL of `{}` has a query, which may be secret, and readers of the references would need it; set ",
                escape_path(url)
            );
            let message = Message::from(problem).option("url");
            Err(Error::options(message.text(" to the address that the references shall have")))
        }
        (None, _) => {
            let path = archive.path();
            let absolute = std::path::absolute(path).map_err(Error::io("find", path))?;
            absolute.into_os_string().into_string().map_err(|path| {
                let path = escape_path(path.as_ref());
                let problem = format!("`{path}` is not UTF-8, so it cannot be in references; set ");
                Error::options(Message::from(problem).option("url"))
            })
        }
    }
}
