//! One file while its bytes pass: its digests, what it says of itself, and of a manifest its text.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::manifests;
use crate::allowance::Allowance;
use crate::archive::{
    Archive, Copying, Fault, LARGE, Member, MemberKind, MemberReader, OpenContents, Revisit, Shown,
    Sink, copy, wait_for,
};
use crate::digest::{Algorithm, Digests, Hashers, Hashing, Lane, at_once, hash_side_by_side};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{self, BAG_DECLARATION, Content, Inspector, Interner};
use crate::path;
use crate::progress::Progress;

/// A member after its container was scanned: without what it takes to reach its bytes, which most are done with.
pub(super) struct Visited {
    pub(super) name: Arc<str>,
    pub(super) kind: MemberKind,
    pub(super) size: u64,
    /// The facts about a file that can be read.
    pub(super) read: Option<Read>,
}

/// The facts about a file aside from its header or description.
pub(super) struct Read {
    pub(super) digests: Option<Digests>,
    /// What few files have.
    pub(super) rare: Option<Box<Rare>>,
}

/// The facts that few files have.
#[derive(Default)]
pub(super) struct Rare {
    /// The text of a manifest or of a bag's tag file.
    pub(super) text: Option<Vec<u8>>,
    /// One of the [`LargeFiles`], which nobody has read yet.
    pub(super) large: Option<Member>,
    pub(super) fault: Option<Box<Finding>>,
    /// Why the system did not let it be read.
    pub(super) refused: Option<Box<Error>>,
}

impl Rare {
    /// Takes away a text that must not be used.
    pub(super) fn forget_text(&mut self, member: &str, longest: u64) {
        if self.text.take().is_some() {
            self.fault.get_or_insert_with(|| Box::new(too_long(member, longest)));
        }
    }
}

impl Visited {
    /// The member, and the header or description that was read.
    pub(super) fn new(member: &Member, read: Option<(Read, Content)>) -> (Self, Content) {
        let (read, content) = read.unzip();
        let Member { name, kind, size, .. } = member;
        let visited = Self { name: Arc::clone(name), kind: *kind, size: *size, read };
        (visited, content.unwrap_or(Content::Other))
    }
}

/// Reads files: all of each, or as much as headers and descriptions take.
pub(super) struct Visitor {
    pub(super) fast: bool,
    pub(super) algorithms: Vec<Algorithm>,
    /// Whether large files are left to be read as [`LargeFiles`].
    leaves_large: bool,
    /// Bytes of manifests that are kept, of all files together, and the most there may be.
    kept: AtomicU64,
    longest: u64,
    allowance: Allowance,
    interner: Interner,
}

impl Visitor {
    /// Of an archive, some of which leave large files to be read together.
    pub(super) fn new(
        archive: &Archive,
        leaves_large: bool,
        fast: bool,
        algorithms: Vec<Algorithm>,
    ) -> Result<Self> {
        Ok(Self {
            fast,
            algorithms,
            leaves_large,
            kept: AtomicU64::new(0),
            longest: manifests::longest(archive)?,
            allowance: archive.allowance()?,
            interner: Interner::default(),
        })
    }

    /// The most bytes of texts that are kept, if there were more.
    pub(super) fn exceeded(&self) -> Option<u64> {
        (self.kept.load(Ordering::Relaxed) > self.longest).then_some(self.longest)
    }

    /// Reads one file, unless it is large and had better be read together with others like it.
    pub(super) fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        progress: &Progress,
    ) -> (Read, Content) {
        if !path::is_valid(&member.name) {
            return (Read { digests: None, rare: None }, Content::Other);
        }
        let is_large = self.leaves_large && !self.fast && member.packed_size > LARGE;
        if is_large && text_limit(&member.name).is_none() {
            let rare = Rare { large: Some(member.clone()), ..Rare::default() };
            return (Read { digests: None, rare: Some(Box::new(rare)) }, Content::Other);
        }
        Reading::new(self, member, progress).read(content)
    }
}

/// Large files, which are read after the others: several at once where that takes less time.
pub(super) struct LargeFiles<'v> {
    pub(super) visitor: &'v Visitor,
    pub(super) members: &'v [Member],
    pub(super) progress: &'v Progress,
}

impl LargeFiles<'_> {
    fn reading(&self, position: usize) -> Reading<'_> {
        let member = self.members.get(position).expect("what is shown is one of the members");
        Reading::new(self.visitor, member, self.progress)
    }
}

impl Revisit for LargeFiles<'_> {
    type State = ();
    type Seen = (Read, Content);

    fn state(&self) {}

    fn one(&self, (): &mut (), shown: Shown<'_>) -> (Read, Content) {
        self.reading(shown.position).read(shown.content)
    }

    fn at_once(&self) -> &'static [usize] {
        at_once(&self.visitor.algorithms)
    }

    fn several(
        &self,
        (): &mut (),
        width: usize,
        contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, (Read, Content))>> {
        let begin = |opened: Result<(usize, MemberReader)>| {
            let (label, mut content) = opened?;
            let sink = self.reading(label);
            // Of several at once it would be too much.
            Ok(if sink.keeps_much() {
                Err((label, sink.read(&mut content)))
            } else {
                let hashers = Hashers::new(&self.visitor.algorithms);
                Ok(Lane { label, content: Copying { content, sink }, hashers })
            })
        };
        hash_side_by_side(width, None, contents.map(begin), |position, copying, digests| {
            let Copying { sink: reading, .. } = copying;
            Ok((position, reading.finish(digests.map(Some))))
        })
    }
}

/// A file while it is read.
struct Reading<'r> {
    visitor: &'r Visitor,
    member: &'r Member,
    progress: &'r Progress,
    inspector: Inspector,
    limit: Option<u64>,
    text: Option<Vec<u8>>,
    len: u64,
    fault: Option<Box<Finding>>,
}

impl<'r> Reading<'r> {
    fn new(visitor: &'r Visitor, member: &'r Member, progress: &'r Progress) -> Self {
        let limit = text_limit(&member.name);
        let (text, len, fault) = (limit.map(|_| Vec::new()), 0, None);
        let inspector = Inspector::within(&member.name, &visitor.allowance);
        Self { visitor, member, progress, inspector, limit, text, len, fault }
    }

    /// Reads all of it, or as much as is needed.
    fn read(mut self, content: &mut dyn BufRead) -> (Read, Content) {
        let digests = if self.visitor.fast {
            self.look(content).map(|()| None)
        } else {
            copy(content, &self.visitor.algorithms, Hashing::Here, |block| self.take(block))
                .map(Some)
        };
        self.finish(digests)
    }

    /// Whether more of it is kept until its end than a header.
    fn keeps_much(&self) -> bool {
        self.text.is_some() || self.inspector.keeps_much()
    }

    /// Reads as much as is needed to know what the file says of itself.
    fn look(&mut self, content: &mut dyn BufRead) -> Result<(), Fault> {
        while (self.text.is_some() || self.inspector.wants_more())
            && wait_for(content).map_err(Fault::Source)?
        {
            let block = content.fill_buf().map_err(Fault::Source)?;
            let count = block.len();
            self.take(block).map_err(Fault::Sink)?;
            content.consume(count);
        }
        Ok(())
    }

    /// What was found, when all was read that should be.
    fn finish(self, read: Result<Option<Digests>, Fault>) -> (Read, Content) {
        let Self { visitor, member, progress, inspector, text, len, mut fault, .. } = self;
        let mut refused = None;
        let digests = read.unwrap_or_else(|error| {
            let found = match error {
                Fault::Source(error) => manifests::unreadable(&member.name, error),
                Fault::Sink(error) => Err(error),
            };
            match found {
                Ok(finding) => fault = Some(Box::new(finding)),
                Err(error) => refused = Some(Box::new(error)),
            }
            None
        });
        progress.done(1);
        let file_len = if visitor.fast || fault.is_some() { member.size } else { len };
        let is_rare = text.is_some() || fault.is_some() || refused.is_some();
        let content = inspector.finish_interned(&member.name, file_len, &visitor.interner);
        let rare = || Box::new(Rare { text, large: None, fault, refused });
        (Read { digests, rare: is_rare.then(rare) }, content)
    }
}

impl Sink for Reading<'_> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.progress.at(&self.member.name);
        let count = block.len() as u64;
        self.inspector.update(block);
        self.len += count;
        if self.limit.is_some_and(|limit| self.len > limit) {
            // What is longer is missed only in a bag, whose rules say so.
            self.text = None;
        }
        if let Some(kept) = &mut self.text {
            let before = self.visitor.kept.fetch_add(count, Ordering::Relaxed);
            let longest = self.visitor.longest;
            if before.saturating_add(count) > longest {
                self.fault = Some(Box::new(too_long(&self.member.name, longest)));
                self.text = None;
            } else {
                kept.extend_from_slice(block);
            }
        }
        Ok(())
    }
}

fn too_long(member: &str, longest: u64) -> Finding {
    Finding::new(
        Code::BadManifestLine,
        format!("the manifests are longer than the {longest} bytes that are read"),
    )
    .in_member(member)
}

/// The name at the top, or in the one directory that may hold everything.
fn below_top(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, rest)| rest)
}

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
