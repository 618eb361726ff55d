//! One file while its bytes pass: its digests, what it says of itself, and of a manifest its text.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::manifests;
use crate::allowance::Allowance;
use crate::archive::{
    Archive, Container, LARGE, Member, MemberKind, Method, OpenContents, Revisit, Shown, wait_for,
};
use crate::digest::{
    Algorithm, Blocks, Digests, Hashers, Lane, LaneOf, SideBySide, at_once, hash, hash_side_by_side,
};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::ndl::MAX_TEXT;
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{self, AlikeOfJobs, BAG_DECLARATION, Content, Inspector, PACK_DOCUMENT};
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
        let (visited, content) = match visited {
            Some(visited) => {
                let (outcome, content) = Outcome::new(member, visited);
                (Some(outcome), content)
            }
            None => (None, Content::Other),
        };
        (Self { name, kind, size, visited }, content)
    }
}

impl Outcome {
    /// The same of a file that was visited.
    pub(super) fn new(member: Member, visited: Visited) -> (Self, Content) {
        let Visited { digests, content, mut rare } = visited;
        if let Some(rare) = rare.as_mut().filter(|rare| rare.left.is_some()) {
            rare.place = Some(member);
        }
        (Self { digests, rare }, content)
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
    /// Why it is still to be read, or once more.
    left: Option<Left>,
    /// Where it is, then.
    place: Option<Member>,
    pub(super) fault: Option<Box<Finding>>,
    /// Why the system did not let it be read.
    pub(super) refused: Option<Box<Error>>,
}

/// What is left in the archive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Left {
    /// A text that is needed and not kept.
    Text,
    /// What may be the document of the pack.
    Document,
    /// One of the [`LargeFiles`], which nobody has read yet.
    Large,
}

impl Rare {
    /// The member that is left for this reason.
    pub(super) fn left_as(&self, left: Left) -> Option<&Member> {
        self.place.as_ref().filter(|_| self.left == Some(left))
    }
}

/// Reads files: all of each, or as much as headers and descriptions take.
pub(super) struct Visitor {
    pub(super) fast: bool,
    pub(super) algorithms: Vec<Algorithm>,
    /// Whether a file can be read again without reading all others.
    rereads: bool,
    /// Whether large files are left to be read as [`LargeFiles`].
    leaves_large: bool,
    /// Bytes of manifests that are kept, of all files together, and the most there may be.
    kept: AtomicU64,
    longest: u64,
    allowance: Allowance,
    /// Bytes that room was made for beforehand.
    reserved: AtomicU64,
    alike: AlikeOfJobs,
}

impl Visitor {
    /// Of an archive, some of which leave large files to be read together.
    pub(super) fn new(
        archive: &Archive,
        leaves_large: bool,
        fast: bool,
        algorithms: Vec<Algorithm>,
        jobs: usize,
    ) -> Result<Self> {
        Ok(Self {
            fast,
            algorithms,
            rereads: rereads(archive.container()),
            leaves_large,
            kept: AtomicU64::new(0),
            longest: manifests::longest(archive)?,
            allowance: archive.allowance()?,
            reserved: AtomicU64::new(0),
            alike: AlikeOfJobs::new(jobs),
        })
    }

    /// Room for the whole text of a manifest, as far as there is any for all of them, and unless it is
    /// compressed: then its size says little.
    fn room_for(&self, member: &Member) -> usize {
        if member.method != Method::Stored || member.size != member.packed_size {
            return 0;
        }
        let take = |reserved: u64| {
            reserved.checked_add(member.size).filter(|reserved| *reserved <= self.longest)
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
        let is_large = self.leaves_large && !self.fast && member.packed_size > LARGE;
        if is_large && text_limit(&member.name).is_none() {
            let rare = Some(Box::new(Rare { left: Some(Left::Large), ..Rare::default() }));
            return Visited { digests: None, content: Content::Other, rare };
        }
        Reading::new(self, member, content, progress).read()
    }
}

/// Large files, which are read after the others: several at once where that takes less time.
pub(super) struct LargeFiles<'v> {
    pub(super) visitor: &'v Visitor,
    pub(super) members: &'v [Member],
    pub(super) progress: &'v Progress,
}

impl LargeFiles<'_> {
    fn reading<C: BufRead>(&self, position: usize, content: C) -> Reading<'_, C> {
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
        self.reading(shown.position, shown.content).read()
    }

    fn at_once(&self) -> &'static [usize] {
        at_once(&self.visitor.algorithms)
    }

    fn several(
        &self,
        (): &mut (),
        width: usize,
        contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, Visited)>> {
        let mut several = Several { files: self, contents, visited: Vec::new() };
        hash_side_by_side(&mut several, width, None)?;
        Ok(several.visited)
    }
}

/// Files that one job reads side by side.
struct Several<'r, 's, 'c> {
    files: &'r LargeFiles<'r>,
    contents: &'s mut OpenContents<'c>,
    visited: Vec<(usize, Visited)>,
}

impl<'r> SideBySide for Several<'r, '_, '_> {
    type Label = usize;
    type Content = Reading<'r, Box<dyn BufRead>>;
    type Error = Error;

    fn next(&mut self) -> Result<Option<LaneOf<Self>>> {
        for opened in &mut *self.contents {
            let (position, content) = opened?;
            let reading = self.files.reading(position, content);
            if !reading.keeps_much() {
                let hashers = Hashers::new(&self.files.visitor.algorithms);
                return Ok(Some(Lane { label: position, content: reading, hashers }));
            }
            // Of several at once it would be too much.
            self.visited.push((position, reading.read()));
        }
        Ok(None)
    }

    fn done(
        &mut self,
        position: usize,
        reading: Self::Content,
        digests: io::Result<Digests>,
    ) -> Result<()> {
        self.visited.push((position, reading.finish(digests.map(Some))));
        Ok(())
    }
}

/// A file while it is read.
struct Reading<'r, C> {
    visitor: &'r Visitor,
    member: &'r Member,
    content: C,
    progress: &'r Progress,
    inspector: Inspector,
    limit: Option<u64>,
    left: Option<Left>,
    text: Option<Vec<u8>>,
    len: u64,
    fault: Option<Box<Finding>>,
}

impl<'r, C: BufRead> Reading<'r, C> {
    fn new(visitor: &'r Visitor, member: &'r Member, content: C, progress: &'r Progress) -> Self {
        let limit = text_limit(&member.name);
        let is_long = visitor.rereads && member.size > LONG;
        let left = if is_long && limit.is_some() {
            Some(Left::Text)
        } else if is_long && !visitor.fast && may_be_document(member) {
            Some(Left::Document)
        } else {
            None
        };
        let room = || if left.is_some() { 0 } else { visitor.room_for(member) };
        let inspector = match left {
            Some(Left::Document) => Inspector::of_nothing(),
            _ => Inspector::within(&member.name, &visitor.allowance),
        };
        Self {
            visitor,
            member,
            content,
            progress,
            inspector,
            limit,
            left,
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

    /// Whether more of it is kept until its end than a header.
    fn keeps_much(&self) -> bool {
        self.text.is_some() || self.inspector.keeps_much()
    }

    /// Reads as much as is needed to know what the file says of itself.
    fn look(&mut self) -> io::Result<()> {
        while self.text.is_some() || self.inspector.wants_more() {
            if !self.wait()? {
                break;
            }
            self.pass_on()?;
        }
        Ok(())
    }

    /// What was found, when all was read that should be.
    fn finish(self, read: io::Result<Option<Digests>>) -> Visited {
        let Self {
            visitor, member, progress, inspector, mut left, mut text, len, mut fault, ..
        } = self;
        let mut refused = None;
        let digests = read.unwrap_or_else(|error| {
            match manifests::unreadable(&member.name, error) {
                Ok(finding) => fault = Some(Box::new(finding)),
                Err(error) => refused = Some(Box::new(error)),
            }
            None
        });
        progress.done(1);
        let file_len = if visitor.fast || fault.is_some() { member.size } else { len };
        if left == Some(Left::Text) {
            // That it may be kept is all that is left of one.
            left = text.take().and(left);
        }
        let is_rare = text.is_some() || left.is_some() || fault.is_some() || refused.is_some();
        let content = visitor.alike.finish(inspector, &member.name, file_len);
        let rare = || Box::new(Rare { text, left, place: None, fault, refused });
        Visited { digests, content, rare: is_rare.then(rare) }
    }
}

impl<C: BufRead> Blocks for Reading<'_, C> {
    type Error = io::Error;

    fn wait(&mut self) -> io::Result<bool> {
        wait_for(&mut self.content)
    }

    fn ready(&mut self) -> &[u8] {
        // They are in a buffer, and to ask for them again reads nothing.
        self.content.fill_buf().unwrap_or_default()
    }

    fn pass_on(&mut self) -> io::Result<()> {
        self.progress.at(&self.member.name);
        let block = self.content.fill_buf()?;
        let count = block.len();
        self.inspector.update(block);
        let wide = u64::try_from(block.len()).unwrap_or(u64::MAX);
        self.len = self.len.saturating_add(wide);
        if self.limit.is_some_and(|limit| self.len > limit) {
            // What is longer is missed only in a bag, whose rules say so.
            self.text = None;
        }
        if let Some(kept) = &mut self.text {
            let before = self.visitor.kept.fetch_add(wide, Ordering::Relaxed);
            let longest = self.visitor.longest;
            if before.saturating_add(wide) > longest {
                self.fault = Some(Box::new(too_long(&self.member.name, longest)));
                self.text = None;
            } else if self.left.is_none() {
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

fn too_long(member: &str, longest: u64) -> Finding {
    Finding::new(
        Code::BadManifestLine,
        format!("the manifests are longer than the {longest} bytes that are read"),
    )
    .in_member(member)
}

/// Whether a member may be the document of the whole pack; one that is too long is not read to its end.
fn may_be_document(member: &Member) -> bool {
    below_top(&member.name) == PACK_DOCUMENT
        && usize::try_from(member.size).is_ok_and(|size| size <= MAX_TEXT)
}

/// The name at the top, or in the one directory that may hold everything.
fn below_top(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, rest)| rest)
}

/// Texts up to this length are kept; longer ones are most often as expected and need not be.
const LONG: u64 = 64 * 1024;

/// Longest metadata or fetch list of a bag that is read: a million lines.
const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Most bytes that are kept of a file whose text is needed: manifests and tag files of a bag.
fn text_limit(path: &str) -> Option<u64> {
    let name = below_top(path);
    if name.contains('/') {
        return None;
    }
    if pack::manifest_algorithm(name).is_some() || pack::tag_manifest_algorithm(name).is_some() {
        return Some(u64::MAX);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}
