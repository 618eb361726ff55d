//! A manifest by itself: made from what is read of a pack, to look at, to keep elsewhere, or for a directory
//! that has none.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::{Serialize, Serializer};

use super::manifests::{self, check_apart, rules, signatures_of};
use super::open::Pack;
use super::verify::is_payload;
use crate::archive::{Archive, Container};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::finding::{self, Finding, count_errors};
use crate::fs::{self, Turn};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::{self, Layout, Placement};
use crate::path::{MemberPath, escape};
use crate::pipeline;
use crate::progress::Progress;

/// Options of [`manifest_of`] and [`write_manifest`]: the algorithm, and whether a file is replaced.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ManifestOptions {
    /// The digests: by SHA-256 or SHA-512.
    pub algorithm: Algorithm,
    /// Replace a file that is already there, and remove the signatures of the manifest that is replaced.
    pub force: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Who is told how far it is.
    pub progress: Progress,
}

impl Default for ManifestOptions {
    fn default() -> Self {
        let (algorithm, progress) = (Algorithm::Sha256, Progress::default());
        Self { algorithm, force: false, jobs: None, progress }
    }
}

/// The manifest that was made.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ManifestReport {
    /// The archive or directory, by its path as given.
    pub target: PathBuf,
    /// The container of the target.
    pub container: Container,
    /// The layout of the pack.
    pub layout: Layout,
    /// The path that it was written to; absent when it was not written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<PathBuf>,
    /// Bytes of the files that it lists.
    pub bytes: u64,
    /// Seconds that it took.
    pub seconds: f64,
    /// Warnings about names or the container. None is an error: a damaged pack gets no manifest.
    pub findings: Vec<Finding>,
    /// Files that interrupted runs left where it was written; they can be deleted.
    pub leftovers: Vec<PathBuf>,
    /// The algorithm of the digests.
    #[cfg_attr(test, schemars(with = "String", extend("enum" = ["sha256", "sha512"])))]
    pub algorithm: Algorithm,
    /// Files that it lists.
    pub members: usize,
    /// Its lines, in their order.
    #[cfg_attr(test, schemars(with = "Vec<ListedFile<'static>>"))]
    #[serde(rename = "files", serialize_with = "listed")]
    pub manifest: Manifest,
    /// How its text writes names.
    #[serde(skip)]
    names: NameEncoding,
    /// Its place in the pack.
    #[serde(skip)]
    place: String,
}

impl ManifestReport {
    /// The text, a line for each file: what `sha256sum -c` reads, or in a bag its tools.
    pub fn text(&self) -> Vec<u8> {
        self.manifest.to_text(self.names)
    }
}

/// Reads every file of an archive or directory, and lists the digests of what a pack's manifest lists.
///
/// # Errors
///
/// When it cannot be read, or something in it is damaged or forbids reading, and by algorithms whose manifests are
/// only read.
///
/// ```
/// use ra_pack::create::{ManifestOptions, manifest_of};
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
        let why = format!("a manifest by {name} is only read; make it by sha256 or sha512");
        return Err(Error::Unsupported(why));
    }
    let progress = &options.progress;
    let archive = Archive::open_watched(target, progress)?;
    progress.stage("reading", archive.bytes_to_read(), 0);
    let jobs = pipeline::jobs(options.jobs);
    let scan = archive.scan(jobs, |member, content| {
        let passed = || progress.at(&member.name);
        let digests = manifests::digest_reader(content, &[algorithm], passed);
        progress.done(1);
        digests.map(|digests| digests.made_by(algorithm))
    })?;
    let mut findings = scan.findings;
    let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
    let mut bytes = 0_u64;
    let mut digests = Vec::new();
    for (member, digest) in scan.members {
        let Some(digest) = digest else { continue };
        let name = placement.relative(&member.name);
        match (digest, name.filter(|name| is_payload(&placement, name))) {
            (Ok(digest), Some(name)) => {
                // What no member may be called is a finding already.
                let Ok(path) = MemberPath::new(name) else { continue };
                bytes = bytes.saturating_add(member.size);
                digests.push((path, digest));
            }
            (Ok(_), None) => {}
            (Err(error), _) => findings.push(manifests::unreadable(&member.name, error)?),
        }
    }
    finding::rename(&mut findings, |name| placement.shown(name));
    finding::sort(&mut findings);
    finding::cut(&mut findings);
    if count_errors(&findings) > 0 {
        return Err(Error::Refused { path: target.to_owned(), findings });
    }
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
        members: digests.len(),
        manifest: Manifest::new(algorithm, digests),
        place: placement.place_tag(&pack::manifest_name(algorithm)),
        names: rules(&Pack::of_archive(archive, placement))?.names,
    })
}

/// Makes a manifest and writes it to `output`, or to its place in a directory, which is a pack from then on.
/// Either gets its name when it is complete.
///
/// # Errors
///
/// As [`manifest_of`]; when the file is there and may not be replaced, or cannot be written; and without
/// `output` for an archive or a bag.
pub fn write_manifest(
    target: impl AsRef<Path>,
    output: Option<&Path>,
    options: &ManifestOptions,
) -> Result<ManifestReport> {
    let target = target.as_ref();
    if output.is_none() && !fs::is_directory(target)? {
        Archive::open_watched(target, &options.progress)?;
        return Err(Error::Unsupported(format!(
            "`{}` is an archive, in which nothing is changed; give the option `output: FILE`",
            escape(&target.to_string_lossy())
        )));
    }
    if let Some(output) = output
        && !is_manifest(output)
    {
        check_apart(target, output)?;
    }
    // What is in the way is noticed before a long work, where it is known.
    let usual = target.join(pack::manifest_name(options.algorithm));
    free(output.unwrap_or(&usual), options)?;
    let mut made = manifest_of(target, options)?;
    if output.is_none() && made.layout == Layout::BagIt {
        return Err(Error::Unsupported(format!(
            "`{}` is a bag, whose tag manifests list its manifest; make the bag anew: \
             `create` with the option `layout: bagit`",
            escape(&target.to_string_lossy())
        )));
    }
    let path = output.map_or_else(|| target.join(&made.place), Path::to_owned);
    let _turn = Turn::beside(&path, &options.progress)?;
    let stale = free(&path, options)?;
    made.leftovers = fs::leftovers(&path);
    options.progress.stage("finishing", 0, 0);
    // A signature that is left would say that the new one was signed.
    for signature in stale {
        fs::remove(&signature)?;
    }
    fs::write_new(&path, options.force, |out| out.write_all(&made.text()))?;
    made.output = Some(path);
    Ok(made)
}

/// Whether a file is called as a manifest is, which a manifest may replace.
fn is_manifest(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    pack::manifest_algorithm(&name).is_some() || name.ends_with(pack::EXTERNAL_MANIFEST_SUFFIX)
}

/// The signatures that go with a file when it is replaced; an error when it may not be.
fn free(path: &Path, options: &ManifestOptions) -> Result<Vec<PathBuf>> {
    let stale = signatures_of(path);
    let taken = fs::exists(path).then_some(path).or(stale.first().map(PathBuf::as_path));
    match taken.filter(|_| !options.force) {
        Some(path) => Err(Error::AlreadyExists { path: path.to_owned() }),
        None => Ok(stale),
    }
}

/// One file of the pack.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
struct ListedFile<'a> {
    /// The name of the file, as the manifest has it, but without the escapes of lines.
    name: &'a str,
    /// Its digest, in lower-case hexadecimal digits.
    #[cfg_attr(test, schemars(with = "String", regex(pattern = "^([0-9a-f]{64}|[0-9a-f]{128})$")))]
    digest: Digest,
}

fn listed<S: Serializer>(manifest: &Manifest, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(
        manifest
            .entries()
            .iter()
            .map(|entry| ListedFile { name: entry.path.as_str(), digest: entry.digest }),
    )
}
