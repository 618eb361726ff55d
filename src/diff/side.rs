//! One of two packs that are compared: its members, and the bytes that are needed.

use std::collections::{BTreeMap, HashMap};
use std::io::Read as _;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::blob::{self, Blob};
use super::report::DiffSide;
use crate::allowance::Allowance;
use crate::archive::{Archive, Container, Fault, Member, Shown};
use crate::digest::{Algorithm, Digest, DigestTable, Digests};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::inspect::listed::ListedScan;
use crate::inspect::scan::PackScan;
use crate::pack::{
    self, BLOCK_LIST, Content, Contents, DescriptionFacts, Inspector, PACK_DOCUMENT, Placement,
};
use crate::progress::Progress;
use crate::read::manifests;
use crate::read::open::once;

/// One of two packs, open.
pub(super) struct PackSide {
    /// The pack in the report, with the errors found so far.
    pub(super) report: DiffSide,
    placement: Placement,
    members: Vec<Member>,
    archive: Archive,
    /// Numbers of the files that can be read, sorted by the names shown.
    files: Vec<usize>,
    /// The manifest to check the files against.
    manifest: Option<String>,
    /// Digests by the numbers of files: computed for files that were read, and otherwise from the manifest.
    digests: DigestTable,
    /// The files that were read, and whether each is damaged.
    readings: HashMap<usize, bool>,
    /// Bytes of files of a stream that are needed.
    kept: HashMap<usize, Blob>,
    /// Whether the description of the pack was generated.
    pub(super) has_generated_document: bool,
    has_block_list: bool,
    /// The description of the pack, read when it is first needed.
    document: OnceLock<Contents>,
    allowance: Allowance,
}

/// A file to read in a pass.
#[derive(Debug, Clone, Copy)]
struct Reading {
    /// Whether to read and hash the whole file.
    is_hashed: bool,
    /// Maximum number of bytes to keep.
    kept: u64,
}

impl PackSide {
    /// Reads the structure of a pack and its manifest.
    pub(super) fn open(target: &Path, jobs: usize, progress: &Progress) -> Result<Self> {
        let mut archive = Archive::open_watched(target, progress)?;
        let container = archive.container();
        let allowance = archive.allowance()?;
        let mut scan = ListedScan::new(&archive, jobs)?;
        archive.forget_members();
        // The files of a directory may have been edited after its manifest was written.
        let listed = if container == Container::Directory { Vec::new() } else { scan.listed()? }
            .into_iter()
            .next();
        let (manifest, digests) = listed.map(|listed| (listed.name, listed.digests)).unzip();
        let ListedScan {
            placement,
            members,
            mut files,
            has_generated_document,
            has_block_list,
            mut findings,
            ..
        } = scan;
        let digests = digests.unwrap_or_else(|| DigestTable::new(Algorithm::Sha256, members.len()));
        findings.retain(Finding::is_error);
        files.sort_by_key(|file| members.get(*file).map(|member| placement.shown(&member.name)));
        let layout = placement.layout;
        Ok(Self {
            report: DiffSide { target: target.to_owned(), container, layout, findings },
            placement,
            members,
            archive,
            files,
            manifest,
            digests,
            readings: HashMap::new(),
            kept: HashMap::new(),
            has_generated_document,
            has_block_list,
            document: OnceLock::new(),
            allowance,
        })
    }

    /// Returns the description that packing a directory makes of the hand-written one; `None` if it is complete.
    pub(super) fn packed_document(&self, jobs: usize) -> Result<Option<String>> {
        if self.archive.container() != Container::Directory || self.has_generated_document {
            return Ok(None);
        }
        let archive = Archive::open_watched(&self.report.target, self.archive.progress())?;
        Ok(PackScan::of_contents(&archive, jobs)?.contents.packed_document())
    }

    /// Replaces the description of the pack.
    pub(super) fn set_document(&mut self, text: &str) -> Result<()> {
        let Some(file) = self.find(PACK_DOCUMENT) else { return Ok(()) };
        let scratch = blob::scratch(self.archive.progress())?;
        scratch.write_all_at(text.as_bytes(), 0)?;
        let blob = Blob::whole(scratch)?;
        let algorithm = self.digests.algorithm();
        let digest = Digests::of(&[algorithm][..], text.as_bytes()).by(algorithm);
        self.digests.set(file, &digest.expect("it was computed"));
        self.members.get_mut(file).expect("the number is that of a file").size = blob.len;
        self.readings.insert(file, false);
        self.kept.insert(file, blob);
        self.has_generated_document = pack::is_generated(text.as_bytes());
        Ok(())
    }

    /// Returns the numbers of the files that can be read, sorted by name.
    pub(super) fn files(&self) -> impl Iterator<Item = usize> {
        self.files.iter().copied()
    }

    fn member(&self, file: usize) -> &Member {
        self.members.get(file).expect("the number is that of a file")
    }

    /// Returns the name of a file for reports.
    pub(super) fn name(&self, file: usize) -> &str {
        self.placement.shown(&self.member(file).name)
    }

    /// Returns the name of a file in the container.
    pub(super) fn whole_name(&self, file: usize) -> &str {
        &self.member(file).name
    }

    pub(super) fn size(&self, file: usize) -> u64 {
        self.member(file).size
    }

    /// Returns the file with this name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let at = self.files.binary_search_by(|file| self.name(*file).cmp(name)).ok()?;
        self.files.get(at).copied()
    }

    /// Returns whether a file is generated by packing.
    pub(super) fn is_generated(&self, file: usize) -> bool {
        let name = self.whole_name(file);
        let Some(relative) = self.placement.relative(name) else { return false };
        if relative == PACK_DOCUMENT {
            return self.has_generated_document;
        }
        if relative == BLOCK_LIST {
            return self.has_block_list;
        }
        match self.placement.payload(name) {
            None => true,
            Some(payload) => {
                pack::manifest_algorithm(payload).is_some() || pack::is_signature(payload)
            }
        }
    }

    /// Returns the algorithm of the manifest, if it is strong enough.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        let algorithm = self.manifest.as_ref().map(|_| self.digests.algorithm());
        algorithm.filter(|algorithm| !algorithm.is_weak())
    }

    /// Sets the algorithm of digests. Listed digests with another algorithm are then not used.
    pub(super) fn use_algorithm(&mut self, algorithm: Algorithm) {
        if self.digests.algorithm() != algorithm {
            self.digests = DigestTable::new(algorithm, self.members.len());
        }
    }

    /// Returns the digest of a file: computed if it was read, and otherwise from the manifest; `None` for a damaged
    /// file.
    pub(super) fn digest(&self, file: usize) -> Option<Digest> {
        self.digests.get(file).filter(|_| !self.is_damaged(file))
    }

    /// Returns whether a file could not be read completely.
    pub(super) fn is_damaged(&self, file: usize) -> bool {
        self.readings.get(&file) == Some(&true)
    }

    /// Returns whether a file was read, completely or up to the damage.
    pub(super) fn is_read(&self, file: usize) -> bool {
        self.readings.contains_key(&file)
    }

    /// Reads `checked` files completely and checks them against the manifest. Keeps as many bytes as requested of
    /// `looked_at` files.
    pub(super) fn read_closely(
        &mut self,
        looked_at: &[(usize, u64)],
        checked: Vec<usize>,
        jobs: usize,
    ) -> Result<()> {
        let is_stream = self.archive.is_stream();
        let mut readings = BTreeMap::new();
        if is_stream && !looked_at.is_empty() {
            // The description of the pack may describe arrays without one of their own.
            let document = self.find(PACK_DOCUMENT).map(|file| (file, u64::MAX));
            let looked_at = looked_at.iter().copied().chain(document);
            readings
                .extend(looked_at.map(|(file, kept)| (file, Reading { is_hashed: false, kept })));
        }
        let checked = checked.into_iter().filter(|file| !self.is_read(*file));
        let kept = if is_stream && !looked_at.is_empty() { u64::MAX } else { 0 };
        readings.extend(checked.map(|file| (file, Reading { is_hashed: true, kept })));
        self.read(readings, jobs)
    }

    /// Reads files in one pass. A compressed stream is decoded again for every pass.
    fn read(&mut self, readings: BTreeMap<usize, Reading>, jobs: usize) -> Result<()> {
        if readings.is_empty() {
            return Ok(());
        }
        let keeps = readings.values().any(|reading| reading.kept > 0);
        let (files, readings): (Vec<_>, Vec<_>) = readings.into_iter().unzip();
        let bytes = files.iter().map(|file| self.size(*file)).fold(0, u64::saturating_add);
        let progress = self.archive.progress();
        progress.stage("checking", bytes, files.len() as u64);
        let scratch = if keeps { Some(Arc::new(blob::scratch(progress)?)) } else { None };
        let algorithm = self.digests.algorithm();
        // The files of a stream are kept one after the other in the scratch file.
        let end = AtomicU64::new(0);
        let visit = |(): &mut (), Shown { position, content, .. }: Shown<'_>| {
            let file = *files.get(position).expect("the position is that of a file");
            let reading = readings.get(position).expect("each file has a reading");
            let Reading { is_hashed, kept } = *reading;
            progress.at(self.name(file));
            progress.done(1);
            let start = end.load(Ordering::Relaxed);
            let place = scratch.as_deref().filter(|_| kept > 0).map(|file| (file, start));
            let made_by = is_hashed.then_some(algorithm);
            let most = if is_hashed { u64::MAX } else { kept };
            let (digests, len) = blob::keep(&mut content.take(most), made_by.as_slice(), place)?;
            if place.is_some() {
                end.fetch_add(len, Ordering::Relaxed);
            }
            Ok((digests.by(algorithm), start, len))
        };
        let visit = |state: &mut (), shown: Shown<'_>| Ok(visit(state, shown));
        let read = self.archive.revisit(&self.members, &files, jobs, || (), visit)?;
        for ((file, Reading { is_hashed, kept }), read) in files.into_iter().zip(readings).zip(read)
        {
            match read {
                Ok((digest, start, len)) => {
                    if let Some(scratch) = scratch.as_ref().filter(|_| kept > 0) {
                        self.kept.insert(file, Blob { file: Arc::clone(scratch), start, len });
                    }
                    let Some(found) = digest else { continue };
                    let listed = self.digests.get(file).filter(|listed| *listed != found);
                    if let Some((listed, manifest)) = listed.zip(self.manifest.as_ref()) {
                        let name = self.name(file);
                        let finding = manifests::mismatch(name, manifest, &listed, &found);
                        self.report.findings.push(finding);
                    }
                    self.digests.set(file, &found);
                    self.readings.insert(file, false);
                }
                Err(Fault::Sink(error)) => return Err(error),
                Err(Fault::Source(error)) if is_hashed => {
                    let finding = manifests::unreadable(self.name(file), error)?;
                    self.report.findings.push(finding);
                    self.readings.insert(file, true);
                }
                // A later request for the bytes returns the error.
                Err(Fault::Source(_)) => {}
            }
        }
        Ok(self.archive.progress().check()?)
    }

    /// Returns the bytes of a file, or at most `most` of them if they must be decompressed.
    pub(super) fn blob(&self, file: usize, most: u64) -> Result<Blob> {
        if let Some(blob) = self.kept.get(&file) {
            return Ok(blob.clone());
        }
        if let Some((stored, start)) = self.archive.stored(self.member(file))? {
            return Ok(Blob { file: stored, start, len: self.size(file) });
        }
        let scratch = blob::scratch(self.archive.progress())?;
        let keep = |(): &mut (), shown: Shown<'_>| {
            Ok(blob::keep(&mut shown.content.take(most), &[], Some((&scratch, 0))))
        };
        let read = self.archive.revisit(&self.members, &[file], 1, || (), keep)?;
        match read.into_iter().next() {
            Some(Err(Fault::Source(error))) => {
                let finding = manifests::unreadable(self.name(file), error)?;
                Err(Error::damaged(&self.report.target, finding))
            }
            Some(Err(Fault::Sink(error))) => Err(error),
            _ => Blob::whole(scratch),
        }
    }

    /// Returns the facts of a description.
    pub(super) fn facts(&self, file: usize) -> Result<Arc<DescriptionFacts>> {
        let name = self.name(file);
        let mut inspector = Inspector::within(name, &self.allowance);
        let blob = self.blob(file, u64::MAX)?;
        inspector.read(&mut blob.reader()).map_err(Error::io("read", name))?;
        match inspector.finish(name, blob.len) {
            Content::Description(facts) => Ok(facts),
            Content::Array(_) | Content::Crate(_) | Content::Other => {
                unreachable!("its name is that of a description")
            }
        }
    }

    /// Returns the description of the pack.
    pub(super) fn document(&self) -> Result<&Contents> {
        once(&self.document, || {
            let mut contents = Contents::default();
            let file = self.find(PACK_DOCUMENT);
            contents.pack_document = file.map(|file| self.facts(file)).transpose()?;
            Ok(contents)
        })
    }
}

/// Returns whether two files are known to have the same bytes.
pub(super) fn is_same(a: &PackSide, b: &PackSide, one: usize, other: usize) -> bool {
    let digest = a.digest(one);
    a.size(one) == b.size(other) && digest.is_some() && digest == b.digest(other)
}
