//! Creation of a manifest from an existing pack or directory, to print or to save.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Serialize, Serializer};

use crate::archive::{Archive, Container};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::fs::{self, PendingFile, Turn};
use crate::inspect::visit::{Read, Visitor};
use crate::manifest::{Manifest, NameEncoding};
use crate::message::Message;
use crate::pack::{self, Layout, Placement};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::read::manifests::{check_apart, rules, signatures_of};
use crate::read::open::Pack;

/// Options for [`manifest_of`] and [`write_manifest`]: the algorithm, and whether to replace a file.
#[derive(Debug, Clone)]
pub struct ManifestOptions {
    /// Algorithm of the digests: SHA-256 or SHA-512.
    pub algorithm: Algorithm,
    /// Whether to replace an existing file. The signatures of a replaced manifest are deleted.
    pub force: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

impl Default for ManifestOptions {
    fn default() -> Self {
        let (algorithm, progress) = (Algorithm::Sha256, Progress::default());
        Self { algorithm, force: false, jobs: None, progress }
    }
}

/// The manifest that was created.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManifestReport {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// Path of the output; absent if nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// Size of the listed files in bytes.
    pub bytes: u64,
    /// Duration of the operation in seconds.
    pub seconds: f64,
    /// Warnings about names and the container. There are no errors: a damaged pack gets no manifest.
    pub findings: Vec<Finding>,
    /// Files next to the output that interrupted runs left. You can delete them.
    pub leftovers: Vec<PathBuf>,
    /// Algorithm of the digests.
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["sha256", "sha512"])))]
    pub algorithm: Algorithm,
    /// Number of listed files.
    pub files: usize,
    /// The lines of the manifest in their order.
    #[cfg_attr(test, schemars(with = "Vec<ListedFile<'static>>"))]
    #[serde(rename = "digests", serialize_with = "listed")]
    pub manifest: Manifest,
    /// The encoding of names in the text.
    #[serde(skip)]
    names: NameEncoding,
    /// The name of the manifest in the pack.
    #[serde(skip)]
    place: String,
}

impl ManifestReport {
    /// Returns the text with a line for each file, as `sha256sum -c` or, for a bag, BagIt tools read it.
    pub fn text(&self) -> Vec<u8> {
        self.manifest.to_text(self.names)
    }
}

/// Reads every file of an archive or directory, and returns a manifest of their digests.
///
/// # Errors
///
/// [`Error::Io`] if the target cannot be read; [`Error::Refused`] or [`Error::Damaged`] if it is not valid;
/// [`Error::Options`] for algorithms whose manifests can only be read.
///
/// ```
/// use ra_pack::write::{ManifestOptions, manifest_of};
///
/// let made = manifest_of("examples/experiment", &ManifestOptions::default())?;
/// assert!(made.manifest.get("time.ra").is_some());
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn manifest_of(target: impl AsRef<Path>, options: &ManifestOptions) -> Result<ManifestReport> {
    let target = target.as_ref();
    let start = Instant::now();
    let algorithm = options.algorithm;
    if !algorithm.is_written() {
        let name = algorithm.name();
        let why =
            format!("manifests with {name} can be read but not written; use sha256 or sha512");
        return Err(Error::options(why));
    }
    let progress = &options.progress;
    let archive = Archive::open_watched(target, progress)?;
    progress.stage("reading", archive.bytes_to_read(), 0);
    let jobs = pipeline::jobs(options.jobs);
    let visitor = Visitor::new(&archive, vec![algorithm])?.without_headers();
    let scan = archive.scan(jobs, |member, content| visitor.visit(member, content, true).0)?;
    let mut findings = scan.findings;
    let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
    let mut bytes = 0_u64;
    let mut digests = Vec::new();
    for (member, read) in scan.members {
        let Some(Read { digests: found, extras }) = read else { continue };
        let extras = extras.map(|extras| *extras).unwrap_or_default();
        if let Some(error) = extras.refused {
            return Err(*error);
        }
        findings.extend(extras.fault.map(|finding| *finding));
        let name = placement.relative(&member.name).filter(|name| placement.is_payload(name));
        // Names that are not valid have been reported.
        if let (Some(digests_of), Some(Ok(path))) = (found, name.map(MemberPath::new)) {
            bytes = bytes.saturating_add(member.size);
            digests.push((path, digests_of.made_by(algorithm)));
        }
    }
    finding::rename(&mut findings, |name| placement.shown(name));
    finding::sort(&mut findings);
    let findings = Error::refuse_bad(target, findings)?;
    Ok(ManifestReport {
        target: target.to_owned(),
        container: archive.container(),
        layout: placement.layout,
        output: None,
        bytes,
        seconds: start.elapsed().as_secs_f64(),
        findings,
        leftovers: Vec::new(),
        algorithm,
        files: digests.len(),
        manifest: Manifest::new(algorithm, digests),
        place: placement.place_tag(&pack::manifest_name(algorithm)),
        names: rules(&Pack::of_archive(archive, placement))?.names,
    })
}

/// Writes a manifest to `output`, or into a directory, which thereby becomes a pack. The file appears under its name
/// when it is complete.
///
/// # Errors
///
/// As [`manifest_of`]; [`Error::AlreadyExists`] if the file exists and `force` is false; [`Error::Io`] if it cannot be
/// written; [`Error::WrongTarget`] for an archive or a bag without `output`.
pub fn write_manifest(
    target: impl AsRef<Path>,
    output: Option<&Path>,
    options: &ManifestOptions,
) -> Result<ManifestReport> {
    let target = target.as_ref();
    if output.is_none() && !fs::is_directory(target)? {
        Archive::open_watched(target, &options.progress)?;
        let problem = Message::from("is an archive and cannot be changed; set ");
        return Err(Error::wrong_target(target, problem.option(("output", "FILE"))));
    }
    if let Some(output) = output
        && !is_manifest(output)
    {
        check_apart(target, output)?;
    }
    // Checks for an existing file before the long work.
    let usual = target.join(pack::manifest_name(options.algorithm));
    free(output.unwrap_or(&usual), options)?;
    let mut made = manifest_of(target, options)?;
    if output.is_none() && made.layout == Layout::BagIt {
        let message = Message::from(
            "is a bag, whose tag manifests list its manifest; create the bag again: ",
        )
        .call("create", ("layout", "bagit"));
        return Err(Error::wrong_target(target, message));
    }
    let path = output.map_or_else(|| target.join(&made.place), Path::to_owned);
    let _turn = Turn::beside(&path, &options.progress)?;
    let stale = free(&path, options)?;
    made.leftovers = fs::leftovers(&path);
    options.progress.stage("finishing", 0, 0);
    let pending = PendingFile::create(&path, options.force)?;
    pending.file().write_all_at(&made.text(), 0)?;
    pending.sync()?;
    // An old signature would not match the new manifest.
    pending.persist_over(&stale)?;
    made.output = Some(path);
    Ok(made)
}

/// Returns whether a file has the name of a manifest, which a manifest may replace.
fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    pack::manifest_algorithm(&name).is_some() || name.ends_with(pack::EXTERNAL_MANIFEST_SUFFIX)
}

/// Returns the signatures to delete with a replaced file, or an error if it must not be replaced.
fn free(path: &Path, options: &ManifestOptions) -> Result<Vec<PathBuf>> {
    let stale = signatures_of(path);
    let taken = fs::exists(path).then_some(path).or(stale.first().map(PathBuf::as_path));
    match taken.filter(|_| !options.force) {
        Some(path) => Err(Error::AlreadyExists { path: path.to_owned() }),
        None => Ok(stale),
    }
}

/// A file in the manifest, or an array.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub(crate) struct ListedFile<'a> {
    /// Name of the file as in the manifest, without escapes; for content digests, that of the array.
    name: &'a str,
    /// Its digest in lower-case hexadecimal digits.
    #[cfg_attr(test, schemars(with = "String", regex(pattern = "^([0-9a-f]{64}|[0-9a-f]{128})$")))]
    digest: Digest,
}

pub(crate) fn listed<S: Serializer>(manifest: &Manifest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        manifest
            .entries()
            .iter()
            .map(|entry| ListedFile { name: entry.path.as_str(), digest: entry.digest }),
    )
}
