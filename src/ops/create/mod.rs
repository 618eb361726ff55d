//! Packing a directory: decide what goes in, check all of it, write it, give it its name.

mod generated;
mod outputs;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::generated::Generated;
use self::outputs::{Companions, Outputs};
use super::bag::write as bag;
use super::describe::describe_missing;
use super::manifests;
use super::select::Patterns;
use super::signatures;
use super::survey::{SourceEntry, Survey, survey};
use crate::archive::{
    ArchiveWriter, Compression, Container, MemberKind, NewContent, NewMember, NewMembers,
    check_portable,
};
use crate::digest::{Algorithm, Digest, Digests};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, File};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::bag::{BAG_INFO, BagInfo, DECLARATION, PayloadOxum};
use crate::pack::{
    self, BAG_DECLARATION, Contents, DescriptionFacts, Layout, PACK_DOCUMENT, Placement,
};
use crate::parallel;
use crate::path::MemberPath;
use crate::ra::Header;

/// 1980-01-01 00:00:00 UTC in seconds since 1970: the earliest time that a zip can hold, and the time
/// of every member unless another is asked for.
const FIXED_TIME: u64 = 315_532_800;

/// How to pack.
#[derive(Debug, Clone, Default)]
pub struct CreateOptions {
    /// The container; by the extension of the archive's name when not given.
    pub container: Option<Container>,
    /// How the pack is laid out.
    pub layout: Layout,
    /// What `bag-info.txt` says of a bag: labels and values in their order.
    pub bag_info: Vec<(String, String)>,
    /// The algorithms of the manifests, SHA-256 among them; SHA-256 alone when there are none.
    pub digests: Vec<Algorithm>,
    /// How members of a zip are compressed, or how hard a compressed tar is.
    pub compression: Compression,
    /// Describe arrays that have no description by what their headers say, in the archive only.
    pub describe: bool,
    /// What to leave out.
    pub exclude: Patterns,
    /// Pack what symbolic links lead to, instead of refusing them.
    pub dereference: bool,
    /// Replace an archive that is already there.
    pub force: bool,
    /// Refuse warnings and extension words too.
    pub strict: bool,
    /// Refuse names that cannot be used on every system, instead of warning of them.
    pub portable: bool,
    /// Threads; one for each core when not given.
    pub jobs: Option<usize>,
    /// Write no manifest beside the archive.
    pub no_external_manifest: bool,
    /// Also write the SHA-256 digest of the archive file itself beside it.
    pub archive_digest: bool,
    /// A shell command that signs the manifest beside the archive, once everything is written. The
    /// path of the manifest is put behind it, and it has to leave the signature beside the manifest.
    pub sign_with: Option<String>,
    /// Keep the files' own times of modification, which makes the archive depend on them.
    pub preserve_mtime: bool,
    /// The time of every member, in seconds since 1970 UTC; 1980-01-01 when not given.
    pub timestamp: Option<u64>,
}

/// What was packed.
#[derive(Debug, Clone, Serialize)]
pub struct CreateReport {
    /// The archive.
    pub archive: PathBuf,
    /// Its container.
    pub container: Container,
    /// Its layout.
    pub layout: Layout,
    /// Members, the generated ones among them; directories are not counted.
    pub members: u64,
    /// Arrays among them.
    pub arrays: u64,
    /// Bytes of all members.
    pub bytes: u64,
    /// Bytes of the archive.
    pub archive_bytes: u64,
    /// The SHA-256 digest of the archive, when it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archive_sha256: Option<String>,
    /// The manifest beside the archive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub external_manifest: Option<PathBuf>,
    /// The signature of that manifest, when one was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<PathBuf>,
    /// Descriptions that were made from headers.
    pub described: Vec<String>,
    /// Files beside the archive that an interrupted run left.
    pub leftovers: Vec<PathBuf>,
    /// Warnings.
    pub findings: Vec<Finding>,
}

/// Packs the directory `source` into `archive`.
///
/// Every description is checked against its header before anything is written. The archive is
/// written under a temporary name, read back, synced, and renamed: at any moment there is either no
/// archive of that name or a whole one. The source is never changed.
///
/// The same content gives the same bytes, whatever the number of jobs.
///
/// # Errors
///
/// [`Error::Refused`] with every finding when the source is not sound; [`Error::AlreadyExists`];
/// [`Error::Changed`] when a file changes while it is read; what the system says.
///
/// ```no_run
/// use ra_pack::{CreateOptions, create};
///
/// let report = create("exp".as_ref(), "exp.zip".as_ref(), &CreateOptions::default())?;
/// println!("{} arrays in {} bytes", report.arrays, report.archive_bytes);
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn create(source: &Path, archive: &Path, options: &CreateOptions) -> Result<CreateReport> {
    let container = container(archive, options)?;
    let (algorithms, info) = (bag::algorithms(options)?, bag::info(options)?);
    if !fs::is_directory(source)? {
        return Err(Error::Unsupported(format!("`{}` is not a directory", source.display())));
    }
    let companions = Companions::new(archive);
    if options.sign_with.is_some() && options.no_external_manifest {
        return Err(Error::Unsupported(
            "what is signed is the manifest beside the archive, and none is to be written"
                .to_owned(),
        ));
    }
    let pending = Outputs::begin(&companions, options)?;
    let own: Vec<_> = companions
        .all()
        .map(PathBuf::as_path)
        .chain(pending.temporaries())
        .filter_map(|path| fs::name_below(source, path))
        .collect();
    let jobs = options.jobs.unwrap_or_else(parallel::default_jobs);
    let survey = survey(source, &options.exclude, &own, options.dereference, jobs)?;
    let plan = Plan { algorithms, info, ..Plan::new(source, archive, survey, options)? };
    let mut report = plan.write(archive, container, jobs, options, pending)?;
    report.leftovers = fs::leftovers(archive);
    if let Some(command) = &options.sign_with {
        report.signature = Some(signatures::sign(&companions.manifest, command)?);
    }
    Ok(report)
}

fn container(archive: &Path, options: &CreateOptions) -> Result<Container> {
    let container = options.container.or_else(|| Container::from_extension(archive));
    match container {
        None | Some(Container::Directory) => Err(Error::Unsupported(format!(
            "`{}` does not say which kind of archive to make; let it end in .zip, .tar, .tar.gz, \
             .tgz, .tar.zst or .tzst",
            archive.display()
        ))),
        Some(container) => Ok(container),
    }
}

/// What goes into the archive.
struct Plan<'a> {
    source: &'a Path,
    placement: Placement,
    contents: Contents,
    entries: Vec<SourceEntry>,
    /// Descriptions made for arrays that have none, by payload name.
    described: BTreeMap<MemberPath, Vec<u8>>,
    /// A hand-written description of the pack.
    pack_document: Option<SourceEntry>,
    /// A manifest that the source already has.
    manifest: Option<SourceEntry>,
    algorithms: Vec<Algorithm>,
    /// The metadata of a bag.
    info: BagInfo,
    findings: Vec<Finding>,
}

impl<'a> Plan<'a> {
    /// Decides what goes in, and refuses what is not sound.
    fn new(
        source: &'a Path,
        archive: &Path,
        survey: Survey,
        options: &CreateOptions,
    ) -> Result<Self> {
        let Survey { mut entries, mut contents, mut findings } = survey;
        entries.retain(|entry| {
            let is_signature = pack::is_signature(entry.path.as_str());
            if is_signature {
                let message = "the signature is not packed: it is of a manifest that is made anew";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint("sign the new manifest: `ra-pack create --sign-with`"),
                );
            }
            !is_signature
        });
        let mut take = |name: &str| {
            let index = entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).ok()?;
            Some(entries.remove(index))
        };
        if take(BAG_DECLARATION).is_some() {
            return Err(Error::Unsupported(format!(
                "`{}` is a bag already; `ra-pack verify` checks it, and its `data` directory can be \
                 packed",
                source.display()
            )));
        }
        let manifest = take(&pack::manifest_name(Algorithm::Sha256));
        for algorithm in Algorithm::ALL {
            // It would not list what is added here, and nobody has held the files against it.
            if let Some(entry) = take(&pack::manifest_name(algorithm)) {
                let message = "the manifest is not packed: the archive has one of its own";
                findings.push(
                    Finding::new(Code::OddContainer, message)
                        .in_member(entry.path.as_str())
                        .hint(format!("check the files with `{}sum -c` first", algorithm.name())),
                );
            }
        }
        let pack_document = take(PACK_DOCUMENT);
        let mut described = BTreeMap::new();
        if options.describe {
            described = describe_missing(&contents, false);
            contents.descriptions.extend(described.iter().map(|(path, text)| {
                let facts = DescriptionFacts::parse(path.as_str(), text.as_slice());
                (path.clone(), Box::new(facts))
            }));
        }
        contents.forget_repetition();
        findings.extend(contents.findings());
        let placement = match options.layout {
            Layout::Plain => Placement::plain(),
            Layout::BagIt => Placement::bag(&top_directory(archive)?),
        };
        findings.extend(unportable_names(&entries, &described, &placement, options.portable));
        if options.layout == Layout::BagIt {
            findings.extend(bag::unfit_names(entries.iter().map(|entry| &entry.path)));
        }
        if options.strict {
            findings.extend(contents.extension_words());
            for finding in &mut findings {
                finding.severity = Severity::Error;
            }
        }
        if count_errors(&findings) > 0 {
            return Err(Error::Refused { path: source.to_owned(), findings });
        }
        Ok(Self {
            source,
            placement,
            contents,
            entries,
            described,
            pack_document,
            manifest,
            algorithms: Vec::new(),
            info: BagInfo::default(),
            findings,
        })
    }

    fn write(
        self,
        archive: &Path,
        container: Container,
        jobs: usize,
        options: &CreateOptions,
        outputs: Outputs,
    ) -> Result<CreateReport> {
        let members = self.members(options)?;
        let source = |index: usize| self.content(members.get(index));
        let new: Vec<NewMember> = members.iter().map(|(member, _)| member.clone()).collect();
        let mut writer =
            ArchiveWriter::new(container, options.compression, &outputs.archive, archive, jobs)?;
        let algorithms = &self.algorithms;
        let digests = writer.write(NewMembers { members: &new, source: &source, algorithms })?;
        let mut listed: Vec<(MemberPath, Digests)> = new
            .iter()
            .zip(digests)
            .filter(|(member, _)| member.kind == MemberKind::File)
            .map(|(member, digest)| (member.path.clone(), digest))
            .collect();
        let payload_bytes: u64 = new.iter().map(|member| member.size).sum();
        let payload_files = listed.len();
        self.check_existing_manifest(&listed)?;

        let mut generated = Generated { writer, plan: &self, options, bytes: 0, files: 0 };
        let text = match &self.pack_document {
            Some(entry) => self.read(entry)?,
            None => pack::pack_document(&self.contents, None).into_bytes(),
        };
        let manifest = match options.layout {
            Layout::Plain => {
                listed.push(generated.add(PACK_DOCUMENT, &text)?);
                generated.add_manifests("", NameEncoding::Gnu, &listed)?.sha256
            }
            Layout::BagIt => {
                // In a bag, manifests name files relative to its own directory.
                let relative = |(path, digests): (MemberPath, Digests)| {
                    let name = self.placement.relative(path.as_str()).unwrap_or(path.as_str());
                    MemberPath::new(name).map(|path| (path, digests))
                };
                let payload = listed.into_iter().map(relative).collect::<Result<Vec<_>, _>>()?;
                let mut info = self.info.clone();
                info.set_payload(PayloadOxum { bytes: payload_bytes, files: wide(payload_files) });
                let mut tags = vec![
                    generated.add(BAG_DECLARATION, DECLARATION.as_bytes())?,
                    generated.add(BAG_INFO, info.to_text().as_bytes())?,
                    generated.add(PACK_DOCUMENT, &text)?,
                ];
                let manifests = generated.add_manifests("", NameEncoding::Percent, &payload)?;
                tags.extend(manifests.added);
                let tags = tags.into_iter().map(relative).collect::<Result<Vec<_>, _>>()?;
                generated.add_manifests("tag", NameEncoding::Percent, &tags)?;
                manifests.sha256
            }
        };
        let (bytes, files) = (generated.bytes, generated.files);
        generated.writer.finish()?;
        if options.layout == Layout::BagIt {
            outputs.check_bag(jobs)?;
        }

        let archive_bytes = outputs.archive.file().len()?;
        let archive_sha256 = options
            .archive_digest
            .then(|| manifests::digest_file(outputs.archive.file()))
            .transpose()?;
        if let (Some(file), Some(digest)) = (&outputs.digest, &archive_sha256) {
            let name = archive.file_name().unwrap_or_default().to_string_lossy();
            let line = match MemberPath::new(name.as_ref()) {
                Ok(path) => {
                    Manifest::new(Algorithm::Sha256, [(path, *digest)]).to_text(NameEncoding::Gnu)
                }
                Err(invalid) => return Err(invalid.into()),
            };
            file.file().write_all_at(&line, 0)?;
        }
        let companions = Companions::new(archive);
        if let Some(file) = &outputs.manifest {
            file.file().write_all_at(&manifest, 0)?;
        }
        let external_manifest = outputs.manifest.as_ref().map(|_| companions.manifest.clone());
        outputs.persist(&companions, options.force)?;
        Ok(CreateReport {
            archive: archive.to_owned(),
            container,
            layout: options.layout,
            members: wide(payload_files).saturating_add(files),
            arrays: wide(self.contents.arrays.len()),
            bytes: payload_bytes.saturating_add(bytes),
            archive_bytes,
            archive_sha256: archive_sha256.map(|digest| digest.to_string()),
            external_manifest,
            signature: None,
            described: self.described.keys().map(|path| path.as_str().to_owned()).collect(),
            leftovers: Vec::new(),
            findings: self.findings,
        })
    }

    /// Every payload member in its order, with the file or bytes that it comes from.
    fn members(&self, options: &CreateOptions) -> Result<Vec<(NewMember, Origin<'_>)>> {
        let fixed = options.timestamp.unwrap_or(FIXED_TIME);
        let mut members = Vec::with_capacity(self.entries.len());
        for entry in &self.entries {
            let path = MemberPath::new(self.placement.place_payload(entry.path.as_str()))?;
            let (kind, size, modified) = match &entry.stamp {
                Some(stamp) => (MemberKind::File, stamp.len(), stamp.modified()),
                None if options.layout == Layout::BagIt => continue,
                None => (MemberKind::Directory, 0, fixed),
            };
            let header = self
                .contents
                .arrays
                .get(entry.path.as_str())
                .and_then(|facts| facts.header.as_ref().ok());
            let member = NewMember {
                path,
                kind,
                size,
                modified: if options.preserve_mtime { modified } else { fixed },
                align_at: header.map(Header::header_len),
            };
            members.push((member, Origin::Source(entry)));
        }
        // A directory that holds something needs no entry of its own.
        let mut occupied = BTreeSet::new();
        for (member, _) in &members {
            if let Some(parent) = member.path.parent() {
                occupied.insert(parent.to_owned());
            }
        }
        members.retain(|(member, _)| {
            member.kind == MemberKind::File || !occupied.contains(member.path.as_str())
        });
        for (path, text) in &self.described {
            let member = NewMember {
                path: MemberPath::new(self.placement.place_payload(path.as_str()))?,
                kind: MemberKind::File,
                size: wide(text.len()),
                modified: fixed,
                align_at: None,
            };
            members.push((member, Origin::Made(text)));
        }
        if members.is_empty()
            && let Some(path) = self.placement.payload_directory()
        {
            // A bag has this directory, even when there is nothing in it.
            let (kind, size, modified) = (MemberKind::Directory, 0, fixed);
            let path = MemberPath::new(path)?;
            let member = NewMember { path, kind, size, modified, align_at: None };
            members.push((member, Origin::Made(b"")));
        }
        members.sort_by(|(a, _), (b, _)| a.path.cmp(&b.path));
        Ok(members)
    }

    fn content(&self, member: Option<&(NewMember, Origin<'a>)>) -> Result<NewContent<'_>>
    where
        Self: 'a,
    {
        match member {
            Some((_, Origin::Source(SourceEntry { content: Some(bytes), .. }))) => {
                Ok(NewContent::Bytes(bytes))
            }
            Some((_, Origin::Source(SourceEntry { path, stamp: Some(stamp), .. }))) => {
                let file = File::open(self.source.join(path.as_str()))?;
                Ok(NewContent::File(file, *stamp))
            }
            Some((_, Origin::Made(bytes))) => Ok(NewContent::Bytes(bytes)),
            _ => Ok(NewContent::Bytes(b"")),
        }
    }

    /// Reads a small file of the source whole.
    fn read(&self, entry: &SourceEntry) -> Result<Vec<u8>> {
        let path = self.source.join(entry.path.as_str());
        let bytes = fs::read_limited(&path, manifests::MAX_MANIFEST)?;
        let now = File::open(&path)?.stamp()?;
        if entry.stamp == Some(now) && now.len() == wide(bytes.len()) {
            return Ok(bytes);
        }
        Err(Error::Changed { path, what: "it was written to".to_owned() })
    }

    /// Holds what was packed against the manifest that the source came with.
    fn check_existing_manifest(&self, packed: &[(MemberPath, Digests)]) -> Result<()> {
        let Some(entry) = &self.manifest else { return Ok(()) };
        let text = self.read(entry)?;
        let name = entry.path.as_str();
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        let mut findings: Vec<Finding> =
            faults.iter().map(|fault| manifests::fault_finding(name, fault)).collect();
        let payload: BTreeMap<&str, Digest> = packed
            .iter()
            .filter_map(|(path, digests)| {
                Some((self.placement.payload(path.as_str())?, digests.by(Algorithm::Sha256)?))
            })
            .collect();
        for entry in manifest.entries() {
            let path = entry.path.as_str();
            // These are written anew; what was left out was left out on purpose.
            let skipped = path == PACK_DOCUMENT || !self.covers(path);
            match payload.get(path) {
                Some(digest) if *digest == entry.digest => {}
                Some(digest) => {
                    findings.push(manifests::mismatch(path, name, &entry.digest, digest));
                }
                None if skipped => {}
                None => findings.push(manifests::missing(path, name, entry.line)),
            }
        }
        if count_errors(&findings) > 0 {
            return Err(Error::Refused { path: self.source.to_owned(), findings });
        }
        Ok(())
    }

    /// Whether a file that is there would have been packed under this name.
    fn covers(&self, path: &str) -> bool {
        !fs::exists(&self.source.join(path))
            || self.entries.binary_search_by(|entry| entry.path.as_str().cmp(path)).is_ok()
    }
}

/// What is wrong with the names that the payload will have in the archive; errors when they have to be
/// portable.
fn unportable_names(
    entries: &[SourceEntry],
    described: &BTreeMap<MemberPath, Vec<u8>>,
    placement: &Placement,
    portable: bool,
) -> Vec<Finding> {
    let payload = entries.iter().map(|entry| &entry.path).chain(described.keys());
    let names: Vec<String> = payload.map(|path| placement.place_payload(path.as_str())).collect();
    let mut findings = Vec::new();
    check_portable(names.iter().map(String::as_str), &mut findings);
    finding::rename(&mut findings, |name| placement.shown(name));
    if portable {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    findings
}

/// Where a member comes from.
enum Origin<'a> {
    Source(&'a SourceEntry),
    Made(&'a [u8]),
}

fn wide(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}

/// The top directory of a bag: the archive's name without its extension.
fn top_directory(archive: &Path) -> Result<String> {
    let name = archive.file_name().unwrap_or_default().to_string_lossy();
    let extension = Container::from_extension(archive).map_or("", Container::extension);
    let stem = name.strip_suffix(extension).unwrap_or(&name);
    let stem = stem
        .rsplit_once('.')
        .filter(|(_, rest)| matches!(*rest, "tgz" | "tzst"))
        .map_or(stem, |(stem, _)| stem);
    Ok(MemberPath::new(stem)?.as_str().to_owned())
}
