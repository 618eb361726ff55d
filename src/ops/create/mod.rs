//! Packing a directory: decide what goes in, check all of it, write it, give it its name.

mod gather;
mod generated;
mod listed;
mod members;
mod outputs;

use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use self::gather::gather;
use self::generated::Generated;
use self::listed::{Lists, Origin, Payload};
use self::members::Members;
use self::outputs::{Companions, Outputs};
use super::bag::write as bag;
use super::describe::describe_missing;
use super::manifests;
use super::select::Patterns;
use super::signatures;
use super::survey::{self, Kept, SourceEntry, State, Survey};
use crate::archive::{
    ArchiveWriter, Buffers, Compression, Container, LaterFile, MemberKind, NewContent, NewMembers,
    StoredMembers, are_surely_portable, check_portable,
};
use crate::digest::{Algorithm, Digest, Digests, Hashing, at_once, time_at_once};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs::{self, File, PendingFile, Stamp};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::bag::{BAG_INFO, BagInfo, DECLARATION, PayloadOxum};
use crate::pack::{
    self, BAG_DECLARATION, Contents, DescriptionFacts, Layout, PACK_DOCUMENT, PackDocument,
    Placement,
};
use crate::parallel::{self, Turn};
use crate::path::MemberPath;
use crate::progress::Progress;

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
    /// Who is told how far it is.
    pub progress: Progress,
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
/// Every description is checked against its header before a large array is copied. The archive is
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
    let placement = match options.layout {
        Layout::Plain => Placement::plain(),
        Layout::BagIt => Placement::bag(&top_directory(archive)?),
    };
    let members = Members { placement: &placement, options };
    let follow = options.dereference;
    options.progress.stage("reading", 0, 0);
    let names = survey::names(source, &options.exclude, &own, follow, jobs)?;
    let writer =
        ArchiveWriter::new(container, options.compression, &pending.archive, archive, jobs)?;
    // What is made of the descriptions of all arrays is known too late to be written in its order, and
    // for what is going to be refused it is not worth to write anything.
    let stored = writer
        .stored(&algorithms)
        .filter(|_| !options.describe && count_errors(&names.findings) == 0);
    let survey = match &stored {
        Some(stored) => {
            options.progress.expect_files(names.entries.len());
            gather(source, names, stored, members, follow, jobs)?
        }
        None => {
            let compresses = match container {
                Container::Zip => options.compression != Compression::Stored,
                container => container != Container::Tar,
            };
            let keep =
                if compresses { survey::MAX_KEPT_BESIDE_COMPRESSORS } else { survey::MAX_KEPT };
            survey::survey(source, names, follow, jobs, keep, &options.progress)?
        }
    };
    let plan = Plan { algorithms: &algorithms, info, ..Plan::new(source, survey, members, jobs)? };
    let external = pending.manifest.as_ref().map(PendingFile::file);
    let packed = plan.write(writer, stored.as_ref(), external, jobs)?;
    options.progress.stage("finishing", 0, 0);
    let (archive_bytes, archive_sha256) = finish(archive, pending, jobs, options)?;
    let mut report = CreateReport {
        archive: archive.to_owned(),
        container,
        layout: options.layout,
        members: packed.members,
        arrays: packed.arrays,
        bytes: packed.bytes,
        archive_bytes,
        archive_sha256: archive_sha256.map(|digest| digest.to_string()),
        external_manifest: (!options.no_external_manifest).then(|| companions.manifest.clone()),
        signature: None,
        described: packed.described,
        leftovers: fs::leftovers(archive),
        findings: packed.findings,
    };
    if let Some(command) = &options.sign_with {
        report.signature = Some(signatures::sign(&companions.manifest, command)?);
    }
    Ok(report)
}

/// Checks a bag, writes the digest of the archive and gives everything its name; the archive's length and
/// digest.
fn finish(
    archive: &Path,
    outputs: Outputs,
    jobs: usize,
    options: &CreateOptions,
) -> Result<(u64, Option<Digest>)> {
    if options.layout == Layout::BagIt {
        outputs.check_bag(jobs, &options.progress)?;
    }
    let archive_bytes = outputs.archive.file().len()?;
    let archive_sha256 = options
        .archive_digest
        .then(|| {
            let name = archive.to_string_lossy();
            manifests::digest_file(outputs.archive.file(), &name, &options.progress)
        })
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
    outputs.persist(&Companions::new(archive), options.force)?;
    Ok((archive_bytes, archive_sha256))
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
    members: Members<'a>,
    contents: Contents,
    entries: Vec<SourceEntry>,
    /// The bytes of small files.
    kept: Kept,
    /// Descriptions made for arrays that have none, by payload name.
    described: BTreeMap<MemberPath, Vec<u8>>,
    /// A hand-written description of the pack.
    pack_document: Option<SourceEntry>,
    /// A manifest that the source already has.
    manifest: Option<SourceEntry>,
    algorithms: &'a [Algorithm],
    /// The metadata of a bag.
    info: BagInfo,
    findings: Vec<Finding>,
}

impl<'a> Plan<'a> {
    /// Decides what goes in, and refuses what is not sound.
    fn new(source: &'a Path, survey: Survey, members: Members<'a>, jobs: usize) -> Result<Self> {
        let Members { placement, options } = members;
        let Survey { mut entries, kept, mut contents, mut findings } = survey;
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
        let (of_names, of_contents) = parallel::join(
            jobs,
            || {
                let portable = options.portable;
                let mut found = unportable_names(&entries, &described, placement, portable);
                if options.layout == Layout::BagIt {
                    found.extend(bag::unfit_names(entries.iter().map(|entry| &entry.path)));
                }
                found
            },
            || contents.findings(),
        );
        findings.extend(of_contents);
        findings.extend(of_names);
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
            members,
            contents,
            entries,
            kept,
            described,
            pack_document,
            manifest,
            algorithms: &[],
            info: BagInfo::default(),
            findings,
        })
    }

    fn write(
        mut self,
        mut writer: ArchiveWriter<'_>,
        stored: Option<&StoredMembers<'_>>,
        external: Option<&File>,
        jobs: usize,
    ) -> Result<Packed> {
        let Members { placement, options } = self.members;
        if let Some(stored) = stored {
            self.write_reserved(stored, jobs)?;
        }
        let mut contents = std::mem::take(&mut self.contents);
        let arrays = wide(contents.arrays.len());
        let mut document = None;
        if stored.is_none() && self.pack_document.is_none() {
            // Nothing can be made of it beside the writing, so that its descriptions need not be kept.
            document = Some(pack::pack_document(&contents, None));
            contents = Contents::default();
        }
        let kept = std::mem::take(&mut self.kept);
        let payload = match stored {
            Some(stored) => {
                writer.go_on_behind(stored);
                Payload::Found(&self.entries)
            }
            None => self.write_listed(&mut writer, &kept)?,
        };
        drop(kept);
        self.check_existing_manifest(&payload)?;
        let names = match options.layout {
            Layout::Plain => NameEncoding::Gnu,
            Layout::BagIt => NameEncoding::Percent,
        };
        let text = match (&self.pack_document, document) {
            (Some(entry), _) => PackText::Whole(self.read(entry)?),
            (None, Some(document)) => PackText::Whole(document.into_bytes()),
            (None, None) => PackText::Made(PackDocument::new(&contents, None)),
        };
        let mut lists = Lists::new(&payload, self.members, names);
        let is_empty = || self.entries.iter().all(|entry| self.members.of(entry).is_none());
        if let Some(directory) =
            self.members.payload_directory().filter(|_| stored.is_some() && is_empty())
        {
            writer.write_bytes(&directory, b"")?;
        }

        let algorithms = self.algorithms;
        let (members, bytes, files) = (self.members, 0, 0);
        let mut generated = Generated { writer, members, algorithms, external, bytes, files };
        let mut packed = Packed {
            members: lists.files,
            arrays,
            bytes: lists.bytes,
            described: self.described.keys().map(|path| path.as_str().to_owned()).collect(),
            findings: Vec::new(),
        };
        match options.layout {
            Layout::Plain => {
                let (_, digests) = text.add_to(&mut generated)?;
                drop(text);
                drop(contents);
                lists.own = Some((PACK_DOCUMENT, digests));
                generated.add_payload_manifests(&lists)?;
            }
            // A bag lists what is not payload elsewhere.
            Layout::BagIt => {
                let relative = |(path, digests): (MemberPath, Digests)| {
                    let name = placement.relative(path.as_str()).unwrap_or(path.as_str());
                    MemberPath::new(name).map(|path| (path, digests))
                };
                let mut info = self.info.clone();
                info.set_payload(PayloadOxum { bytes: lists.bytes, files: lists.files });
                let mut tags = vec![
                    generated.add(BAG_DECLARATION, DECLARATION.as_bytes())?,
                    generated.add(BAG_INFO, info.to_text().as_bytes())?,
                    text.add_to(&mut generated)?,
                ];
                drop(text);
                drop(contents);
                tags.extend(generated.add_payload_manifests(&lists)?);
                let tags = tags.into_iter().map(relative).collect::<Result<Vec<_>, _>>()?;
                generated.add_tag_manifests(&tags)?;
            }
        }
        packed.bytes = packed.bytes.saturating_add(generated.bytes);
        packed.members = packed.members.saturating_add(generated.files);
        generated.writer.finish(&|| payload.records(members))?;
        packed.findings = std::mem::take(&mut self.findings);
        Ok(packed)
    }

    /// Copies the files that have their places, the longest first, so that no job is left alone with
    /// one at the end.
    fn write_reserved(&mut self, stored: &StoredMembers<'_>, jobs: usize) -> Result<()> {
        let mut reserved: Vec<_> = self
            .entries
            .iter()
            .enumerate()
            .filter_map(|(index, entry)| match &entry.state {
                State::Reserved(stamp, at) => {
                    Some((index, &entry.path, self.members.of(entry)?, *stamp, *at))
                }
                _ => None,
            })
            .collect();
        reserved.sort_by_key(|(.., stamp, _)| std::cmp::Reverse(stamp.len()));
        let sizes: Vec<u64> = reserved.iter().map(|(.., stamp, _)| stamp.len()).collect();
        let large = sizes.partition_point(|size| StoredMembers::is_large(*size));
        let (large, small) = sizes.split_at_checked(large).unwrap_or((&sizes, &[]));
        let rest = small.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        let ways = at_once(self.algorithms);
        let mut turns = parallel::turns(jobs, large, rest, ways, time_at_once);
        turns.extend((large.len()..sizes.len()).map(|piece| Turn::One { piece, outlasts: false }));
        let progress = &self.members.options.progress;
        let open = |piece: usize| {
            let Some((_, path, member, stamp, at)) = reserved.get(piece).cloned() else {
                unreachable!("each turn is of pieces that there are")
            };
            progress.begin(path.as_str(), stamp.len());
            let file = File::open(self.source.join(path.as_str()))?.watched(progress);
            Ok::<_, Error>(LaterFile { member, at, file, stamp })
        };
        let write = |buffers: &mut Buffers, range: std::ops::Range<usize>| {
            let mut written = Vec::new();
            for turn in turns.get(range).unwrap_or_default() {
                match turn {
                    Turn::One { piece, outlasts } => {
                        let hashing = if *outlasts { Hashing::Beside } else { Hashing::Here };
                        let placed = stored.write_file_later(open(*piece)?, hashing, buffers)?;
                        written.push((*piece, placed));
                        progress.done(1);
                    }
                    Turn::Several(hand) => {
                        let mut files = hand.pieces().map(|piece| Ok((piece, open(piece)?)));
                        let mut placed = |piece, placed| {
                            written.push((piece, placed));
                            progress.done(1);
                        };
                        let width = hand.width();
                        stored.write_files_later(width, &mut files, &mut placed, buffers)?;
                    }
                }
            }
            Ok::<_, Error>(written)
        };
        let bytes = sizes.iter().fold(0, |sum: u64, size| sum.saturating_add(*size));
        progress.stage("packing", bytes, wide(reserved.len()));
        let written = parallel::map_ranges(jobs, turns.len(), 1, Buffers::default, write)?;
        let states = written.into_iter().flatten().filter_map(|(piece, placed)| {
            let (index, .., stamp, _) = reserved.get(piece)?;
            let state = State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed);
            Some((*index, state))
        });
        let states: Vec<_> = states.collect();
        for (index, state) in states {
            if let Some(entry) = self.entries.get_mut(index) {
                entry.state = state;
            }
        }
        Ok(())
    }

    /// Writes everything in its order.
    fn write_listed(&self, writer: &mut ArchiveWriter<'_>, kept: &Kept) -> Result<Payload<'_>> {
        let origins = self.listed()?;
        let progress = &self.members.options.progress;
        let sizes = self.entries.iter().filter_map(|entry| Some(entry.state.stamp()?.len()));
        progress.stage("packing", sizes.fold(0, u64::saturating_add), wide(origins.len()));
        let written = {
            let member = |index: usize| origins.get(index)?.member(self.members);
            let source = |index: usize| self.content(origins.get(index), kept);
            writer.write(NewMembers {
                count: origins.len(),
                member: &member,
                source: &source,
                algorithms: self.algorithms,
            })?
        };
        Ok(Payload::Listed(origins, written))
    }

    /// Where every payload member comes from, in the order of their names.
    fn listed(&self) -> Result<Vec<Origin<'_>>> {
        let mut origins =
            Vec::with_capacity(self.entries.len().saturating_add(self.described.len()));
        let mut occupied = HashSet::new();
        let mut last = None;
        for entry in &self.entries {
            let stamp = entry.state.stamp();
            if stamp.is_some() || self.members.has_directory(&entry.path) {
                self.members.member(&entry.path, stamp, None)?;
                origins.push(Origin::Source(entry));
                let parent = entry.path.parent();
                if parent != last {
                    occupied.extend(parent);
                    last = parent;
                }
            }
        }
        // A directory that holds something needs no entry of its own.
        origins.retain(|origin| match origin {
            Origin::Source(SourceEntry { path, state, .. }) => {
                state.stamp().is_some() || !occupied.contains(path.as_str())
            }
            Origin::Made(..) | Origin::PayloadDirectory => true,
        });
        for (path, text) in &self.described {
            MemberPath::new(&*self.members.made(path, wide(text.len())).path)?;
            origins.push(Origin::Made(path, text));
        }
        if origins.is_empty() && self.members.payload_directory().is_some() {
            origins.push(Origin::PayloadDirectory);
        }
        // They are all placed below one directory, which does not change their order.
        origins.sort_by_key(Origin::name);
        Ok(origins)
    }

    fn content<'s>(
        &'s self,
        origin: Option<&Origin<'s>>,
        kept: &'s Kept,
    ) -> Result<NewContent<'s>> {
        let Some(Origin::Source(SourceEntry { path, state, .. })) = origin else {
            return Ok(NewContent::Bytes(match origin {
                Some(Origin::Made(_, bytes)) => bytes,
                _ => b"",
            }));
        };
        let progress = &self.members.options.progress;
        progress.begin(path.as_str(), state.stamp().map_or(0, Stamp::len));
        progress.done(1);
        match (state, state.stamp()) {
            (State::Kept(stamp, place), _) => {
                let bytes = kept.get(*place, stamp.len()).unwrap_or_default();
                progress.add(bytes.len());
                Ok(NewContent::Bytes(bytes))
            }
            (_, Some(stamp)) => {
                let file = File::open(self.source.join(path.as_str()))?.watched(progress);
                Ok(NewContent::File(file, *stamp))
            }
            (_, None) => Ok(NewContent::Bytes(b"")),
        }
    }

    /// Reads a small file of the source whole.
    fn read(&self, entry: &SourceEntry) -> Result<Vec<u8>> {
        let path = self.source.join(entry.path.as_str());
        let bytes = fs::read_limited(&path, manifests::MAX_MANIFEST)?;
        let now = File::open(&path)?.stamp()?;
        if entry.state.stamp() == Some(&now) && now.len() == wide(bytes.len()) {
            return Ok(bytes);
        }
        Err(Error::Changed { path, what: "it was written to".to_owned() })
    }

    /// Holds what was packed against the manifest that the source came with.
    fn check_existing_manifest(&self, packed: &Payload<'_>) -> Result<()> {
        let Some(entry) = &self.manifest else { return Ok(()) };
        let text = self.read(entry)?;
        let name = entry.path.as_str();
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        let mut findings: Vec<Finding> =
            faults.iter().map(|fault| manifests::fault_finding(name, fault)).collect();
        let payload: BTreeMap<String, Digest> = packed
            .files(self.members)
            .filter_map(|(name, _, digests)| {
                let name = self.members.placement.payload(&name)?.to_owned();
                Some((name, digests.by(Algorithm::Sha256)?))
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
    let payload = || entries.iter().map(|entry| &entry.path).chain(described.keys());
    let names = || payload().map(|path| placement.placed(path.as_str()));
    if are_surely_portable(names()) {
        return Vec::new();
    }
    let names: Vec<_> = names().collect();
    let mut findings = Vec::new();
    check_portable(names.iter().map(|name| &**name), &mut findings);
    finding::rename(&mut findings, |name| placement.shown(name));
    if portable {
        for finding in &mut findings {
            finding.severity = Severity::Error;
        }
    }
    findings
}

/// The description of the pack.
enum PackText<'c> {
    Whole(Vec<u8>),
    /// Made as it is written.
    Made(PackDocument<'c>),
}

impl PackText<'_> {
    fn add_to(&self, generated: &mut Generated<'_, '_>) -> Result<(MemberPath, Digests)> {
        match self {
            Self::Whole(text) => generated.add(PACK_DOCUMENT, text),
            Self::Made(document) => generated.add_document(document),
        }
    }
}

/// What was packed.
struct Packed {
    members: u64,
    arrays: u64,
    bytes: u64,
    described: Vec<String>,
    findings: Vec<Finding>,
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
