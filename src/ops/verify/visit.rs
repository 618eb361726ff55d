//! One file while its bytes pass: its digests, what it says of itself, and of a manifest its text.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::manifests::{self, MAX_MANIFEST};
use crate::archive::{Container, Member, MemberKind, Method, Revisit, Shown};
use crate::digest::{Algorithm, Blocks, Digests, Hashers, hash, hash_both};
use crate::error::Error;
use crate::finding::{Code, Finding};
use crate::ops::copy::wait_for;
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{self, AlikeOfJobs, BAG_DECLARATION, Content, Inspector};
use crate::path;
use crate::progress::Progress;

/// What is kept of a member when its container was read and its file visited: less than what it takes to
/// reach its bytes, for of most that is done.
pub(super) struct Known {
    pub(super) name: Arc<str>,
    pub(super) kind: MemberKind,
    pub(super) size: u64,
    /// Nothing of what is no file that can be read.
    pub(super) visited: Option<Outcome>,
}

/// What was found out about a file beside what it says of itself.
pub(super) struct Outcome {
    pub(super) digests: Option<Digests>,
    pub(super) rare: Option<Box<Rare>>,
}

impl Known {
    /// It, and what the file says of itself.
    pub(super) fn new(member: Member, visited: Option<Visited>) -> (Self, Content) {
        let (name, kind, size) = (Arc::clone(&member.name), member.kind, member.size);
        let Some(Visited { digests, content, mut rare }) = visited else {
            return (Self { name, kind, size, visited: None }, Content::Other);
        };
        if let Some(rare) = rare.as_mut().filter(|rare| rare.is_left || rare.is_later) {
            rare.left = Some(member);
        }
        let visited = Some(Outcome { digests, rare });
        (Self { name, kind, size, visited }, content)
    }
}

/// What one file was found to be.
pub(super) struct Visited {
    pub(super) digests: Option<Digests>,
    pub(super) content: Content,
    /// What few files have.
    pub(super) rare: Option<Box<Rare>>,
}

/// What of a file is worth a word beside its digests.
#[derive(Default)]
pub(super) struct Rare {
    /// The text of a manifest or of a bag's tag file.
    pub(super) text: Option<Vec<u8>>,
    /// Whether it is such a text, left in the archive: it can be read again.
    pub(super) is_left: bool,
    /// Whether it is still to be read, as one of the [`LargeFiles`].
    pub(super) is_later: bool,
    /// Where it is, in both cases.
    pub(super) left: Option<Member>,
    pub(super) fault: Option<Finding>,
    /// Why the system did not let it be read.
    pub(super) refused: Option<Error>,
}

/// Reads files: all of each, or as much as headers and descriptions take.
pub(super) struct Visitor {
    pub(super) fast: bool,
    pub(super) algorithms: Vec<Algorithm>,
    /// Whether a file can be read again without reading all others.
    rereads: bool,
    /// Whether large files are left to be read as [`LargeFiles`].
    leaves_large: bool,
    /// Bytes of manifests that are kept, of all files together.
    kept: AtomicU64,
    /// Bytes that room was made for beforehand.
    reserved: AtomicU64,
    alike: AlikeOfJobs,
}

impl Visitor {
    /// Of an archive of this kind.
    pub(super) fn new(
        container: Container,
        fast: bool,
        algorithms: Vec<Algorithm>,
        jobs: usize,
    ) -> Self {
        Self {
            fast,
            algorithms,
            rereads: rereads(container),
            // A file of a directory may be another one when it is looked for again.
            leaves_large: matches!(container, Container::Zip | Container::Tar),
            kept: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            alike: AlikeOfJobs::new(jobs),
        }
    }

    /// Room for the whole text of a manifest, as far as there is any for all of them, and unless it is
    /// compressed: then its size says little.
    fn room_for(&self, member: &Member) -> usize {
        if member.method != Method::Stored || member.size != member.packed_size {
            return 0;
        }
        let take = |reserved: u64| {
            reserved.checked_add(member.size).filter(|reserved| *reserved <= MAX_MANIFEST)
        };
        let is_room =
            self.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        usize::try_from(member.size).ok().filter(|_| is_room).unwrap_or(0)
    }

    /// Reads one file, unless it is large and had better be read together with others like it.
    pub(super) fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        progress: &Progress,
    ) -> Visited {
        if !path::is_sound(&member.name) {
            return Visited { digests: None, content: Content::Other, rare: None };
        }
        let is_later = self.leaves_large && !self.fast && member.size > LARGE;
        if is_later && text_limit(&member.name).is_none() {
            let rare = Some(Box::new(Rare { is_later, ..Rare::default() }));
            return Visited { digests: None, content: Content::Other, rare };
        }
        Reading::new(self, member, content, progress).read()
    }
}

/// Large files, which are read after the others: two at once where that takes less time.
pub(super) struct LargeFiles<'v> {
    pub(super) visitor: &'v Visitor,
    pub(super) members: &'v [Member],
    pub(super) progress: &'v Progress,
}

impl LargeFiles<'_> {
    fn reading<'c>(&self, Shown { position, content, .. }: Shown<'c>) -> Reading<'_, 'c> {
        match self.members.get(position) {
            Some(member) => Reading::new(self.visitor, member, content, self.progress),
            None => unreachable!("what is shown is one of the members"),
        }
    }
}

impl Revisit for LargeFiles<'_> {
    type State = ();
    type Seen = Visited;

    fn state(&self) {}

    fn one(&self, (): &mut (), shown: Shown<'_>) -> Visited {
        self.reading(shown).read()
    }

    fn two(&self, (): &mut (), shown: [Shown<'_>; 2]) -> [Visited; 2] {
        let mut readings = shown.map(|shown| self.reading(shown));
        let algorithms = &self.visitor.algorithms;
        let mut hashers = [Hashers::new(algorithms), Hashers::new(algorithms)];
        let [read, other_read] = hash_both(readings.each_mut(), hashers.each_mut());
        let ([one, other], [digests, other_digests]) = (readings, hashers);
        [
            one.finish(read.map(|()| Some(digests.finish()))),
            other.finish(other_read.map(|()| Some(other_digests.finish()))),
        ]
    }
}

/// A file while it is read.
struct Reading<'r, 'c> {
    visitor: &'r Visitor,
    member: &'r Member,
    content: &'c mut dyn BufRead,
    progress: &'r Progress,
    inspector: Inspector,
    limit: Option<u64>,
    is_left: bool,
    text: Option<Vec<u8>>,
    len: u64,
    fault: Option<Finding>,
}

impl<'r, 'c> Reading<'r, 'c> {
    fn new(
        visitor: &'r Visitor,
        member: &'r Member,
        content: &'c mut dyn BufRead,
        progress: &'r Progress,
    ) -> Self {
        let limit = text_limit(&member.name);
        let is_left = limit.is_some() && visitor.rereads && member.size > LONG;
        let room = || if is_left { 0 } else { visitor.room_for(member) };
        Self {
            visitor,
            member,
            content,
            progress,
            inspector: Inspector::new(&member.name),
            limit,
            is_left,
            text: limit.map(|_| Vec::with_capacity(room())),
            len: 0,
            fault: None,
        }
    }

    /// Reads all of it, or as much as is needed.
    fn read(mut self) -> Visited {
        if self.visitor.fast {
            let read = self.look();
            return self.finish(read.map(|()| None));
        }
        let mut hashers = Hashers::new(&self.visitor.algorithms);
        let read = hash(&mut self, &mut hashers);
        self.finish(read.map(|()| Some(hashers.finish())))
    }

    /// Reads as much as is needed to know what the file says of itself.
    fn look(&mut self) -> io::Result<()> {
        while self.text.is_some() || self.inspector.wants_more() {
            match self.wait()? {
                0 => break,
                count => self.pass_on(count)?,
            }
        }
        Ok(())
    }

    /// What was found, when all was read that should be.
    fn finish(self, read: io::Result<Option<Digests>>) -> Visited {
        let Self { visitor, member, progress, inspector, is_left, text, len, mut fault, .. } = self;
        let mut refused = None;
        let digests = read.unwrap_or_else(|error| {
            match manifests::unreadable(&member.name, error) {
                Ok(finding) => fault = Some(finding),
                Err(error) => refused = Some(error),
            }
            None
        });
        progress.done(1);
        let file_len = if visitor.fast || fault.is_some() { member.size } else { len };
        let is_rare = text.is_some() || fault.is_some() || refused.is_some();
        let is_left = is_left && text.is_some();
        let text = text.filter(|_| !is_left);
        let content = visitor.alike.finish(inspector, &member.name, file_len);
        let rare = || Box::new(Rare { text, is_left, fault, refused, ..Rare::default() });
        Visited { digests, content, rare: is_rare.then(rare) }
    }
}

impl Blocks for Reading<'_, '_> {
    type Error = io::Error;

    fn wait(&mut self) -> io::Result<usize> {
        wait_for(self.content)
    }

    fn ready(&mut self) -> &[u8] {
        // They are in a buffer, and to ask for them again reads nothing.
        self.content.fill_buf().unwrap_or_default()
    }

    fn pass_on(&mut self, count: usize) -> io::Result<()> {
        self.progress.at(&self.member.name);
        let block = self.content.fill_buf()?;
        let block = block.get(..count).unwrap_or(block);
        self.inspector.update(block);
        let wide = u64::try_from(block.len()).unwrap_or(u64::MAX);
        self.len = self.len.saturating_add(wide);
        if self.limit.is_some_and(|limit| self.len > limit) {
            // What is longer is missed only in a bag, whose rules say so.
            self.text = None;
        }
        if let Some(kept) = &mut self.text {
            let before = self.visitor.kept.fetch_add(wide, Ordering::Relaxed);
            if before.saturating_add(wide) > MAX_MANIFEST {
                self.fault = Some(too_long(&self.member.name));
                self.text = None;
            } else if !self.is_left {
                kept.extend_from_slice(block);
            }
        }
        self.content.consume(count);
        Ok(())
    }
}

/// Whether one file can be read again without reading all others.
fn rereads(container: Container) -> bool {
    match container {
        Container::Directory | Container::Zip | Container::Tar => true,
        Container::TarGz | Container::TarZst => false,
    }
}

fn too_long(member: &str) -> Finding {
    Finding::new(
        Code::BadManifestLine,
        format!("the manifests are longer than the {MAX_MANIFEST} bytes that are read"),
    )
    .in_member(member)
}

/// Files up to this size are read as they are found.
const LARGE: u64 = 4 * 1024 * 1024;

/// Texts up to this length are kept; longer ones are most often as expected and need not be.
const LONG: u64 = 64 * 1024;

/// Longest metadata or fetch list of a bag that is read: a million lines.
const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Most bytes that are kept of a file whose text is needed: manifests and tag files of a bag.
fn text_limit(path: &str) -> Option<u64> {
    // At the top, or in the one directory that may hold everything.
    let name = path.split_once('/').map_or(path, |(_, rest)| rest);
    if name.contains('/') {
        return None;
    }
    if pack::manifest_algorithm(name).is_some() || pack::tag_manifest_algorithm(name).is_some() {
        return Some(u64::MAX);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}
