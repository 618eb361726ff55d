//! One of two packs: its files by name, their digests, and the bytes of those that are looked at.

use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use super::super::blob::Blob;
use super::gather::{Gathered, Kept, Task, gather};
use super::report::DiffSide;
use crate::allowance::Allowance;
use crate::archive::{self, Archive, Container, Member};
use crate::digest::{Algorithm, Digest, DigestTable};
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::ops::manifests;
use crate::ops::scan::{Look, PackScan};
use crate::pack::{self, Content, Contents, DescriptionFacts, Inspector, PACK_DOCUMENT, Placement};
use crate::path::MemberPath;
use crate::progress::Progress;

/// One of two packs, opened.
pub(super) struct Half {
    target: PathBuf,
    container: Container,
    pub(super) placement: Placement,
    members: Vec<Member>,
    contents: archive::Contents,
    /// The numbers of the files that can be read, sorted by the names that they are shown under.
    files: Vec<usize>,
    /// The manifest that the files are held against.
    manifest: Option<String>,
    /// Digests by the numbers of files: of those that were read what they are, of others what is listed.
    digests: DigestTable,
    /// What became of reading each file, once any was.
    readings: Vec<Reading>,
    /// What a stream holds of the files that are looked at.
    kept: Option<Kept>,
    /// Whether the document of the pack was made of its descriptions.
    pub(super) has_generated_document: bool,
    /// Arrays and descriptions that stand in this pack alone.
    glanced: Contents,
    /// The document of the pack, once somebody asks.
    document: OnceLock<Contents>,
    findings: Vec<Finding>,
    progress: Progress,
    allowance: Allowance,
}

/// What became of reading a file to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    NotYet,
    Damaged,
    Done,
}

impl Half {
    /// Looks at the structure of a pack and at its manifest.
    pub(super) fn open(target: &Path, jobs: usize, progress: &Progress) -> Result<Self> {
        let archive = Archive::open_watched(target, progress)?;
        let container = archive.container();
        let allowance = archive.allowance()?;
        let mut scan = PackScan::new(&archive, jobs, Look::Manifests)?;
        let contents = archive.into_contents();
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
            contents,
            files,
            manifest,
            digests,
            readings: Vec::new(),
            kept: None,
            has_generated_document,
            glanced: Contents::default(),
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
        self.reading(file) == Reading::Damaged
    }

    /// Whether a file was read to its end, or as far as it goes.
    pub(super) fn is_read(&self, file: usize) -> bool {
        self.reading(file) != Reading::NotYet
    }

    fn reading(&self, file: usize) -> Reading {
        self.readings.get(file).copied().unwrap_or(Reading::NotYet)
    }

    /// Reads files to their ends, and holds them against the container and the manifest.
    pub(super) fn read_files(&mut self, files: Vec<usize>, jobs: usize) -> Result<()> {
        let read = Task::Read { digest: true, keep: false };
        let files = files.into_iter().filter(|file| !self.is_read(*file));
        let tasks = files.map(|file| (file, read)).collect();
        self.gather(tasks, jobs).map(|_| ())
    }

    /// Looks at what is not the same, in one pass: `alone` are files of members of this pack alone, which are
    /// told of by their headers, `both` those of members that the other has too, and `differing` those of
    /// the latter that differ and have to be what was packed.
    pub(super) fn look_closely(
        &mut self,
        alone: Vec<usize>,
        both: Vec<usize>,
        differing: Vec<usize>,
        jobs: usize,
    ) -> Result<()> {
        let is_stream = self.contents.is_stream();
        let mut tasks: Vec<_> = alone.into_iter().map(|file| (file, Task::Glance)).collect();
        if is_stream {
            let keep = Task::Read { digest: false, keep: true };
            // It may say what nothing beside an array does.
            let document =
                self.find(PACK_DOCUMENT).filter(|_| !tasks.is_empty() || !both.is_empty());
            tasks.extend(both.into_iter().chain(document).map(|file| (file, keep)));
        }
        let read = Task::Read { digest: true, keep: is_stream };
        let differing = differing.into_iter().filter(|file| !self.is_read(*file));
        tasks.extend(differing.map(|file| (file, read)));
        let gathered = self.gather(tasks, jobs)?;
        let glanced = gathered.glanced.into_iter();
        let glanced = glanced
            .filter_map(|(file, content)| Some((MemberPath::new(self.name(file)).ok()?, content)));
        self.glanced = Contents::collect(glanced);
        self.kept = gathered.kept;
        Ok(())
    }

    /// Does something with each of some files; of several tasks that one file has, the last.
    fn gather(&mut self, mut tasks: Vec<(usize, Task)>, jobs: usize) -> Result<Gathered> {
        // What is to be done most with a file was said last of it.
        tasks.reverse();
        tasks.sort_by_key(|(file, _)| *file);
        tasks.dedup_by_key(|(file, _)| *file);
        if tasks.is_empty() {
            return Ok(Gathered::default());
        }
        let of = (&*self.members, &self.placement);
        let sizes = tasks.iter().map(|(file, _)| self.size(*file));
        let (bytes, count) = (sizes.fold(0, u64::saturating_add), tasks.len());
        let (progress, allowance) = (&self.progress, &self.allowance);
        progress.stage("checking", bytes, u64::try_from(count).unwrap_or(u64::MAX));
        let mut gathered =
            gather(&self.contents, of, &tasks, &mut self.digests, allowance, jobs, progress)?;
        if self.readings.is_empty() {
            self.readings.resize(self.members.len(), Reading::NotYet);
        }
        let mut unreadable = std::mem::take(&mut gathered.unreadable).into_iter().peekable();
        let mut mismatched = std::mem::take(&mut gathered.mismatched).into_iter().peekable();
        for (file, task) in tasks {
            let error = unreadable.next_if(|(other, _)| *other == file);
            let mismatch = mismatched.next_if(|(other, ..)| *other == file);
            let Task::Read { digest: true, .. } = task else { continue };
            let is_damaged = error.is_some();
            if let Some((_, error)) = error {
                self.findings.push(manifests::unreadable(self.name(file), error)?);
            }
            if let (Some((_, listed, found)), Some(manifest)) = (mismatch, &self.manifest) {
                let name = self.name(file);
                self.findings.push(manifests::mismatch(name, manifest, &listed, &found));
            }
            if let Some(reading) = self.readings.get_mut(file) {
                *reading = if is_damaged { Reading::Damaged } else { Reading::Done };
            }
        }
        Ok(gathered)
    }

    /// What [`Half::look_closely`] saw of the files of members that stand in this pack alone.
    pub(super) fn glanced(&self) -> &Contents {
        &self.glanced
    }

    /// The bytes of a file.
    pub(super) fn blob(&self, file: usize) -> Result<Blob> {
        let member = self.members.get(file).ok_or_else(super::super::ends_early)?;
        if let Some(blob) = self.kept.as_ref().and_then(|kept| kept.blob(file)) {
            return Ok(blob);
        }
        if let Some((file, start)) = self.contents.stored(member)? {
            return Ok(Blob::File { file, start, len: member.size });
        }
        let kept = self.contents.revisit(
            &self.members,
            &[file],
            1,
            || (),
            |(), _, content| Blob::keep(content, member.size),
        )?;
        let kept = kept.into_iter().next().ok_or_else(super::super::ends_early)??;
        kept.or_else(|error| {
            let finding = manifests::unreadable(self.name(file), error)?;
            Err(Error::damaged(&self.target, finding))
        })
    }

    /// What is known of a description.
    pub(super) fn facts(&self, name: &str, file: usize) -> Result<DescriptionFacts> {
        let mut inspector = Inspector::within(name, &self.allowance);
        let blob = self.blob(file)?;
        inspector.read(&mut BufReader::new(blob.reader())).map_err(Error::io("read", name))?;
        match inspector.finish(name, blob.len()) {
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
            contents.pack_document = Some((PACK_DOCUMENT.to_owned(), Arc::new(facts)));
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
