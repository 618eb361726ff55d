//! One of two packs: its files by name, their digests, and the bytes of those that are looked at.

use std::io::{self, BufRead, Read as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, OnceLock};

use super::super::blob::{self, Blob};
use super::report::DiffSide;
use crate::archive::{self, Archive, Container, Member, MemberKind};
use crate::digest::{Algorithm, Digest, Hasher};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::File;
use crate::ndl::MAX_TEXT;
use crate::ops::glance::ambiguous;
use crate::ops::known::{Expected, Known};
use crate::ops::manifests;
use crate::ops::root_texts::{self, KeptText, RootTexts};
use crate::pack::{self, Alike, Contents, DescriptionFacts, Inspector, PACK_DOCUMENT, Placement};
use crate::path::MemberPath;

/// One of two packs, opened.
pub(super) struct Half {
    target: PathBuf,
    container: Container,
    pub(super) placement: Placement,
    members: Vec<Member>,
    contents: archive::Contents,
    /// The numbers of the files that can be read, sorted by the names that they are shown under.
    pub(super) files: Vec<usize>,
    expected: Option<Expected>,
    /// Digests that were made of what was read, by the number of the file; none of what cannot be read.
    read: Vec<(usize, Option<Digest>)>,
    /// What a stream holds of the files that are looked at, and where each begins.
    spooled: Option<Spooled>,
    /// Whether the document of the pack was made of its descriptions.
    pub(super) has_generated_document: bool,
    /// Arrays and descriptions that stand in this pack alone.
    glanced: Contents,
    /// The document of the pack, once somebody asks.
    document: OnceLock<Contents>,
    findings: Vec<Finding>,
}

/// Files of a stream, put where each can be reached.
struct Spooled {
    scratch: Arc<File>,
    /// Where each begins, by its number.
    places: Vec<(usize, u64)>,
}

/// What became of reading a file to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reading {
    NotYet,
    Damaged,
    Digest(Digest),
}

/// What is kept of a member on the first look.
enum Seen {
    Nothing,
    Text(Box<io::Result<Vec<u8>>>),
    GeneratedDocument,
}

impl Half {
    /// Looks at the structure of a pack and at its manifest.
    pub(super) fn open(target: &Path, jobs: usize) -> Result<Self> {
        let archive = Archive::open(target)?;
        let container = archive.container();
        let kept = AtomicU64::new(0);
        let mut scan = archive.scan(jobs, &|member, content| look(&kept, member, content))?;
        let contents = archive.into_contents();
        let (mut texts, mut files) = (Vec::new(), Vec::new());
        let mut documents = Vec::new();
        let ambiguous = ambiguous(&scan.findings);
        for (number, (member, seen)) in scan.members.iter_mut().enumerate() {
            let Some(seen) = seen.take() else { continue };
            match seen {
                Seen::Nothing => {}
                Seen::Text(text) => texts.push(KeptText::new(member, *text)?),
                Seen::GeneratedDocument => documents.push(Arc::clone(&member.name)),
            }
            if member.kind == MemberKind::File && !ambiguous.contains(&*member.name) {
                files.push(number);
            }
        }
        let members: Vec<Member> = scan.members.into_iter().map(|(member, _)| member).collect();
        let placement = Placement::detect(&members.iter().map(|member| &*member.name));
        let mut findings = scan.findings;
        let has_generated_document =
            documents.iter().any(|name| placement.relative(name) == Some(PACK_DOCUMENT));
        let expected = {
            let texts = RootTexts { archive: target, placement: &placement, texts };
            Known::find(target, &texts, &placement, &members, &mut findings)?.map(Expected::of)
        };
        findings.retain(Finding::is_error);
        let name =
            |number: &usize| members.get(*number).map(|member| placement.shown(&member.name));
        if !files.is_sorted_by_key(name) {
            files.sort_by_key(name);
        }
        Ok(Self {
            target: target.to_owned(),
            container,
            placement,
            members,
            contents,
            files,
            expected,
            read: Vec::new(),
            spooled: None,
            has_generated_document,
            glanced: Contents::default(),
            document: OnceLock::new(),
            findings,
        })
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
        self.expected
            .as_ref()
            .map(|expected| expected.algorithm)
            .filter(|algorithm| !algorithm.is_weak())
    }

    /// The digest that the manifest gives a file.
    pub(super) fn listed(&self, file: usize, algorithm: Algorithm) -> Option<Digest> {
        self.expected.as_ref()?.digest(file).filter(|digest| digest.algorithm() == algorithm)
    }

    /// What became of reading a file.
    pub(super) fn read(&self, file: usize) -> Reading {
        let at = self.read.binary_search_by_key(&file, |(file, _)| *file).ok();
        match at.and_then(|at| self.read.get(at)) {
            None => Reading::NotYet,
            Some((_, None)) => Reading::Damaged,
            Some((_, Some(digest))) => Reading::Digest(*digest),
        }
    }

    /// Reads files to their ends, and holds them against the container and the manifest.
    pub(super) fn read_files(
        &mut self,
        mut files: Vec<usize>,
        algorithm: Algorithm,
        jobs: usize,
    ) -> Result<()> {
        files.sort_unstable();
        files.dedup();
        files.retain(|file| self.read(*file) == Reading::NotYet);
        if files.is_empty() {
            return Ok(());
        }
        let digests =
            self.contents.revisit(&self.members, &files, jobs, &|| (), &|(), at, content| {
                match digest(content, algorithm) {
                    Ok(digest) => Ok(Ok(digest)),
                    Err(error) => {
                        let name = files.get(at).map_or("", |file| self.name(*file));
                        manifests::unreadable(name, error).map(Err)
                    }
                }
            })?;
        for (file, digest) in files.into_iter().zip(digests) {
            let digest = match digest? {
                Ok(digest) => Some(digest),
                Err(finding) => {
                    self.findings.push(finding);
                    None
                }
            };
            if let (Some(manifest), Some(digest)) = (&self.expected, &digest)
                && let Some(expected) = manifest.digest(file)
                && expected.algorithm() == digest.algorithm()
                && expected != *digest
            {
                self.findings.push(manifest.mismatch(self.name(file), &expected, digest));
            }
            self.read.push((file, digest));
        }
        self.read.sort_unstable_by_key(|(file, _)| *file);
        Ok(())
    }

    /// Looks at the headers and descriptions of files that are told of by these alone.
    pub(super) fn glance(&mut self, mut files: Vec<usize>, jobs: usize) -> Result<()> {
        files.sort_unstable();
        if files.is_empty() {
            return Ok(());
        }
        let look = |alike: &mut Alike, at: usize, content: &mut dyn BufRead| {
            let file = files.get(at).copied().unwrap_or(usize::MAX);
            let mut inspector = Inspector::new(self.name(file));
            // One that cannot be read is told of by its name.
            let _ = inspector.read(content);
            inspector.finish_among(self.name(file), self.size(file), alike)
        };
        let seen = self.contents.revisit(&self.members, &files, jobs, &Alike::default, &look)?;
        let seen = files
            .iter()
            .zip(seen)
            .filter_map(|(file, content)| Some((MemberPath::new(self.name(*file)).ok()?, content)));
        self.glanced = Contents::collect(seen);
        Ok(())
    }

    /// What [`Half::glance`] saw of a file.
    pub(super) fn glanced(&self) -> &Contents {
        &self.glanced
    }

    /// Puts files of a stream, which are looked at one by one, where each can be reached.
    pub(super) fn spool(&mut self, mut files: Vec<usize>) -> Result<()> {
        files.sort_unstable();
        files.dedup();
        if !self.contents.is_stream() || files.is_empty() {
            return Ok(());
        }
        let scratch = blob::scratch()?;
        let end = AtomicU64::new(0);
        let places =
            self.contents.revisit(&self.members, &files, 1, &|| (), &|(), _, content| {
                let start = end.load(std::sync::atomic::Ordering::Relaxed);
                let len = blob::append(content, &scratch, start)??;
                end.store(start.saturating_add(len), std::sync::atomic::Ordering::Relaxed);
                Ok::<_, io::Error>(start)
            })?;
        let places = files.into_iter().zip(places);
        // What cannot be read was told when its digest was made.
        let places = places.filter_map(|(file, start)| Some((file, start.ok()?))).collect();
        self.spooled = Some(Spooled { scratch: Arc::new(scratch), places });
        Ok(())
    }

    /// The bytes of a file.
    pub(super) fn blob(&self, file: usize) -> Result<Blob> {
        let member = self.members.get(file).ok_or_else(super::super::ends_early)?;
        if let Some(Spooled { scratch, places }) = &self.spooled {
            let at = places.binary_search_by_key(&file, |(file, _)| *file);
            if let Some((_, start)) = at.ok().and_then(|at| places.get(at)) {
                let file = Arc::clone(scratch);
                return Ok(Blob::File { file, start: *start, len: member.size });
            }
        }
        if let Some((file, start)) = self.contents.stored(member)? {
            return Ok(Blob::File { file, start, len: member.size });
        }
        let kept =
            self.contents.revisit(&self.members, &[file], 1, &|| (), &|(), _, content| {
                Blob::keep(content, member.size)
            })?;
        let kept = kept.into_iter().next().ok_or_else(super::super::ends_early)??;
        kept.or_else(|error| {
            let finding = manifests::unreadable(self.name(file), error)?;
            Err(Error::damaged(&self.target, finding))
        })
    }

    /// The text of a description, or so much of it that it is known to be too long.
    pub(super) fn text(&self, file: usize) -> Result<Vec<u8>> {
        let most = u64::try_from(MAX_TEXT).unwrap_or(u64::MAX).saturating_add(1);
        self.blob(file)?.read(most)
    }

    /// The document of the pack, and nothing else.
    pub(super) fn document(&self) -> Result<&Contents> {
        if let Some(document) = self.document.get() {
            return Ok(document);
        }
        let mut contents = Contents::default();
        if let Some(file) = self.find(PACK_DOCUMENT) {
            let facts = DescriptionFacts::parse(PACK_DOCUMENT, self.text(file)?);
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

    pub(super) fn finish(self) -> DiffSide {
        DiffSide {
            target: self.target,
            container: self.container,
            layout: self.placement.layout,
            findings: self.findings,
        }
    }
}

fn look(kept: &AtomicU64, member: &Member, content: &mut dyn BufRead) -> Seen {
    /// More than the first line of a generated document.
    const START: u64 = 256;
    let last = member.name.rsplit_once('/').map_or(&*member.name, |(_, last)| last);
    if last == PACK_DOCUMENT {
        let mut start = Vec::new();
        // One that cannot be read is told of when it is compared.
        let _ = content.take(START).read_to_end(&mut start);
        return if pack::is_generated(&start) { Seen::GeneratedDocument } else { Seen::Nothing };
    }
    root_texts::look(kept, member, content).map_or(Seen::Nothing, Seen::Text)
}

fn digest(content: &mut dyn BufRead, algorithm: Algorithm) -> io::Result<Digest> {
    let mut hasher = Hasher::new(algorithm);
    loop {
        let block = match content.fill_buf() {
            Ok([]) => return Ok(hasher.finish()),
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        hasher.update(block);
        let count = block.len();
        content.consume(count);
    }
}
