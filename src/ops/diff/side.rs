//! One of two packs: its files by name, their digests, and the bytes of those that are looked at.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use super::blob::{self, Blob};
use super::report::DiffSide;
use crate::allowance::Allowance;
use crate::archive::{Archive, Container, Member};
use crate::digest::{Algorithm, Digest, DigestTable, Hasher};
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::ops::manifests;
use crate::ops::scan::{PackScan, ScanFor};
use crate::pack::{
    self, Content, Contents, DescriptionFacts, Inspector, Interner, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::progress::Progress;

/// One of two packs, opened.
pub(super) struct PackSide {
    target: PathBuf,
    container: Container,
    pub(super) placement: Placement,
    members: Vec<Member>,
    archive: Archive,
    /// The numbers of the files that can be read, sorted by the names that they are shown under.
    files: Vec<usize>,
    /// The manifest that the files are held against.
    manifest: Option<String>,
    /// Digests by the numbers of files: of those that were read what they are, of others what is listed.
    digests: DigestTable,
    /// Whether each of the files that were read is damaged, so that it was read only as far as it goes.
    readings: HashMap<usize, bool>,
    /// The bytes of files of a stream that are looked at.
    kept: HashMap<usize, Blob>,
    /// Whether the document of the pack was made of its descriptions.
    pub(super) has_generated_document: bool,
    /// Arrays and descriptions that stand in this pack alone.
    inspected: Contents,
    /// The document of the pack, once somebody asks.
    document: OnceLock<Contents>,
    findings: Vec<Finding>,
    progress: Progress,
    allowance: Allowance,
}

/// A task with a file in a pass.
#[derive(Debug, Clone, Copy)]
enum Task {
    /// Read the header or the description that it is.
    Inspect,
    /// Read it to its end, make its digest, and keep its bytes where they can be reached.
    Read { digest: bool, keep: bool },
}

/// The result of a task.
enum TaskResult {
    Content(Content),
    Read { digest: Option<Digest>, kept: Option<Blob> },
    Unreadable(io::Error),
}

impl PackSide {
    /// Looks at the structure of a pack and at its manifest.
    pub(super) fn open(target: &Path, jobs: usize, progress: &Progress) -> Result<Self> {
        let mut archive = Archive::open_watched(target, progress)?;
        let container = archive.container();
        let allowance = archive.allowance()?;
        let mut scan = PackScan::new(&archive, jobs, ScanFor::Manifests)?;
        archive.forget_members();
        // The files of a directory may have been edited since its manifest was made.
        let listed = if container == Container::Directory { None } else { scan.listed()? };
        let (manifest, digests) = listed.map(|listed| (listed.name, listed.digests)).unzip();
        let PackScan {
            placement, members, mut files, has_generated_document, mut findings, ..
        } = scan;
        let digests = digests.unwrap_or_else(|| DigestTable::new(Algorithm::Sha256, members.len()));
        findings.retain(Finding::is_error);
        files.sort_by_key(|file| members.get(*file).map(|member| placement.shown(&member.name)));
        Ok(Self {
            target: target.to_owned(),
            container,
            placement,
            members,
            archive,
            files,
            manifest,
            digests,
            readings: HashMap::new(),
            kept: HashMap::new(),
            has_generated_document,
            inspected: Contents::default(),
            document: OnceLock::new(),
            findings,
            progress: progress.clone(),
            allowance,
        })
    }

    /// The numbers of the files that can be read, sorted by their names.
    pub(super) fn files(&self) -> impl Iterator<Item = usize> {
        self.files.iter().copied()
    }

    /// The name of a file towards people.
    pub(super) fn name(&self, file: usize) -> &str {
        self.members.get(file).map_or("", |member| self.placement.shown(&member.name))
    }

    /// Its name in the container.
    pub(super) fn whole_name(&self, file: usize) -> &str {
        self.members.get(file).map_or("", |member| &member.name)
    }

    pub(super) fn size(&self, file: usize) -> u64 {
        self.members.get(file).map_or(0, |member| member.size)
    }

    /// The file of that name.
    pub(super) fn find(&self, name: &str) -> Option<usize> {
        let at = self.files.binary_search_by(|file| self.name(*file).cmp(name)).ok()?;
        self.files.get(at).copied()
    }

    /// Whether packing generates a file.
    pub(super) fn is_generated(&self, file: usize) -> bool {
        let name = self.whole_name(file);
        let Some(relative) = self.placement.relative(name) else { return false };
        if relative == PACK_DOCUMENT {
            return self.has_generated_document;
        }
        match self.placement.payload(name) {
            None => true,
            Some(payload) => {
                pack::manifest_algorithm(payload).is_some() || pack::is_signature(payload)
            }
        }
    }

    /// The algorithm of the manifest, if that is one to be trusted.
    pub(super) fn algorithm(&self) -> Option<Algorithm> {
        let algorithm = self.manifest.as_ref().map(|_| self.digests.algorithm());
        algorithm.filter(|algorithm| !algorithm.is_weak())
    }

    /// Has digests be made by `algorithm`. Those that the manifest gives by another are of no use then.
    pub(super) fn use_algorithm(&mut self, algorithm: Algorithm) {
        if self.digests.algorithm() != algorithm {
            self.digests = DigestTable::new(algorithm, self.members.len());
        }
    }

    /// The digest of a file: its own when it was read, otherwise what the manifest says; none of what is
    /// damaged.
    pub(super) fn digest(&self, file: usize) -> Option<Digest> {
        self.digests.get(file).filter(|_| !self.is_damaged(file))
    }

    /// Whether a file could not be read.
    pub(super) fn is_damaged(&self, file: usize) -> bool {
        self.readings.get(&file) == Some(&true)
    }

    /// Whether a file was read to its end, or as far as it goes.
    pub(super) fn is_read(&self, file: usize) -> bool {
        self.readings.contains_key(&file)
    }

    /// Reads files to their ends, and checks them against the container and the manifest.
    pub(super) fn read_files(&mut self, files: Vec<usize>, jobs: usize) -> Result<()> {
        let read = Task::Read { digest: true, keep: false };
        let files = files.into_iter().filter(|file| !self.is_read(*file));
        let tasks = files.map(|file| (file, read)).collect();
        self.run(tasks, jobs).map(|_| ())
    }

    /// Looks at the differences in one pass: `alone` are files of members of this pack alone, which are described by
    /// their headers, `both` those of members that the other has too, and `differing` those of the latter that differ
    /// and have to be the packed bytes.
    pub(super) fn look_closely(
        &mut self,
        alone: Vec<usize>,
        both: Vec<usize>,
        differing: Vec<usize>,
        jobs: usize,
    ) -> Result<()> {
        let is_stream = self.archive.is_stream();
        let mut tasks: Vec<_> = alone.into_iter().map(|file| (file, Task::Inspect)).collect();
        if is_stream {
            let keep = Task::Read { digest: false, keep: true };
            // It may describe arrays that have no other description.
            let document =
                self.find(PACK_DOCUMENT).filter(|_| !tasks.is_empty() || !both.is_empty());
            tasks.extend(both.into_iter().chain(document).map(|file| (file, keep)));
        }
        let read = Task::Read { digest: true, keep: is_stream };
        let differing = differing.into_iter().filter(|file| !self.is_read(*file));
        tasks.extend(differing.map(|file| (file, read)));
        let inspected = self.run(tasks, jobs)?.into_iter();
        let inspected = inspected
            .filter_map(|(file, content)| Some((MemberPath::new(self.name(file)).ok()?, content)));
        self.inspected = Contents::collect(inspected);
        Ok(())
    }

    /// Runs tasks in one pass over their files, of several tasks of one file the last; gives what was inspected. A
    /// compressed stream is decoded for every pass.
    fn run(&mut self, mut tasks: Vec<(usize, Task)>, jobs: usize) -> Result<Vec<(usize, Content)>> {
        tasks.reverse();
        tasks.sort_by_key(|(file, _)| *file);
        tasks.dedup_by_key(|(file, _)| *file);
        let mut inspected = Vec::new();
        if tasks.is_empty() {
            return Ok(inspected);
        }
        let bytes = tasks.iter().map(|(file, _)| self.size(*file)).fold(0, u64::saturating_add);
        self.progress.stage("checking", bytes, tasks.len() as u64);
        let keeps = tasks.iter().any(|(_, task)| matches!(task, Task::Read { keep: true, .. }));
        let scratch = if keeps { Some(Arc::new(blob::scratch()?)) } else { None };
        // The files of a stream are kept one after the other.
        let end = AtomicU64::new(0);
        let files: Vec<usize> = tasks.iter().map(|(file, _)| *file).collect();
        let visit = |interner: &mut Interner, at: usize, content: &mut dyn BufRead| {
            let Some((file, task)) = tasks.get(at) else {
                unreachable!("what is shown is one of the files");
            };
            let (name, size) = (self.name(*file), self.size(*file));
            self.progress.begin(name, size);
            self.progress.done(1);
            let Task::Read { digest, keep } = *task else {
                let mut inspector = Inspector::within(name, &self.allowance);
                // A file that cannot be read is reported by its name.
                let _ = inspector.read(content);
                return TaskResult::Content(inspector.finish_interned(name, size, interner));
            };
            let mut hasher = digest.then(|| Hasher::new(self.digests.algorithm()));
            let start = end.load(Ordering::Relaxed);
            let sink = scratch.as_ref().filter(|_| keep);
            let read = blob::read_all(content, |block, at| {
                if let Some(hasher) = &mut hasher {
                    hasher.update(block);
                }
                Ok(sink.map_or(Ok(()), |file| file.write_all_at(block, start + at))?)
            });
            match read {
                Ok(len) => {
                    end.fetch_add(if keep { len } else { 0 }, Ordering::Relaxed);
                    let kept = sink.map(|file| Blob { file: Arc::clone(file), start, len });
                    TaskResult::Read { digest: hasher.map(Hasher::finish), kept }
                }
                Err(error) => TaskResult::Unreadable(error),
            }
        };
        let outcomes =
            self.archive.revisit(&self.members, &files, jobs, Interner::default, visit)?;
        for ((file, task), outcome) in tasks.into_iter().zip(outcomes) {
            match outcome {
                TaskResult::Content(content) => inspected.push((file, content)),
                TaskResult::Read { digest, kept } => {
                    self.kept.extend(kept.map(|blob| (file, blob)));
                    let Some(found) = digest else { continue };
                    let listed = self.digests.get(file).filter(|listed| *listed != found);
                    if let Some((listed, manifest)) = listed.zip(self.manifest.as_ref()) {
                        let name = self.name(file);
                        let finding = manifests::mismatch(name, manifest, &listed, &found);
                        self.findings.push(finding);
                    }
                    self.digests.set(file, &found);
                    self.readings.insert(file, false);
                }
                TaskResult::Unreadable(error) => {
                    if let Task::Read { digest: true, .. } = task {
                        self.findings.push(manifests::unreadable(self.name(file), error)?);
                        self.readings.insert(file, true);
                    }
                }
            }
        }
        Ok(inspected)
    }

    /// The headers and descriptions of members of this pack alone, after [`PackSide::look_closely`].
    pub(super) fn inspected(&self) -> &Contents {
        &self.inspected
    }

    /// The bytes of a file.
    pub(super) fn blob(&self, file: usize) -> Result<Blob> {
        if let Some(blob) = self.kept.get(&file) {
            return Ok(blob.clone());
        }
        let stored = self.members.get(file).map(|member| self.archive.stored(member));
        if let Some((stored, start)) = stored.transpose()?.flatten() {
            return Ok(Blob { file: stored, start, len: self.size(file) });
        }
        let scratch = blob::scratch()?;
        let read = self.archive.revisit(
            &self.members,
            &[file],
            1,
            || (),
            |(), _, content| {
                blob::read_all(content, |block, at| Ok(scratch.write_all_at(block, at)?))
            },
        )?;
        if let Some(Err(error)) = read.into_iter().next() {
            let finding = manifests::unreadable(self.name(file), error)?;
            return Err(Error::damaged(&self.target, finding));
        }
        Blob::whole(scratch)
    }

    /// What is known of a description.
    pub(super) fn facts(&self, name: &str, file: usize) -> Result<DescriptionFacts> {
        let mut inspector = Inspector::within(name, &self.allowance);
        let blob = self.blob(file)?;
        inspector
            .read(&mut BufReader::new(blob.reader_from(0)))
            .map_err(Error::io("read", name))?;
        match inspector.finish(name, blob.len) {
            Content::Description(facts) => Ok(*facts),
            Content::Array(_) | Content::Other => unreachable!("it is called as descriptions are"),
        }
    }

    /// The document of the pack, and nothing else.
    pub(super) fn document(&self) -> Result<&Contents> {
        if let Some(document) = self.document.get() {
            return Ok(document);
        }
        let mut contents = Contents::default();
        if let Some(file) = self.find(PACK_DOCUMENT) {
            let facts = self.facts(PACK_DOCUMENT, file)?;
            contents.pack_document = Some(Arc::new(facts));
        }
        Ok(self.document.get_or_init(|| contents))
    }

    pub(super) fn target(&self) -> &Path {
        &self.target
    }

    /// Notes what a closer look found.
    pub(super) fn note(&mut self, finding: Finding) {
        self.findings.push(finding);
    }

    pub(super) fn finish(mut self) -> DiffSide {
        finding::cut(&mut self.findings);
        DiffSide {
            target: self.target,
            container: self.container,
            layout: self.placement.layout,
            findings: self.findings,
        }
    }
}
