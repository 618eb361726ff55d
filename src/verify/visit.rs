//! Reading one file in a single pass: its digests, its header or description, and the text of a manifest.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::shard::Extent;
use crate::allowance::Allowance;
use crate::archive::{
    Archive, Copying, Fault, LARGE, Member, MemberKind, MemberReader, OpenContents, Revisit, Shown,
    Sink, copy, wait_for,
};
use crate::digest::{Algorithm, Digests, Hashers, Hashing, Lane, at_once, hash_side_by_side};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{self, BAG_DECLARATION, BLOCK_LIST, Content, Inspector, Interner};
use crate::path;
use crate::progress::Progress;
use crate::read::manifests;

/// A member after the scan, without the data for locating its bytes, which most members no longer need.
pub(super) struct Visited {
    pub(super) name: Arc<str>,
    pub(super) kind: MemberKind,
    pub(super) size: u64,
    /// The facts about a file that can be read.
    pub(super) read: Option<Read>,
}

/// The facts about a file, without its header or description.
pub(super) struct Read {
    pub(super) digests: Option<Digests>,
    /// Facts that few files have.
    pub(super) rare: Option<Box<Rare>>,
}

/// The facts that few files have.
#[derive(Default)]
pub(super) struct Rare {
    /// The text of a manifest or of a tag file of a bag.
    pub(super) text: Option<Vec<u8>>,
    /// One of the [`LargeFiles`] that have not been read.
    pub(super) large: Option<Member>,
    pub(super) fault: Option<Box<Finding>>,
    /// The system error when it was read.
    pub(super) refused: Option<Box<Error>>,
}

impl Visited {
    /// Returns the facts that few files have.
    pub(super) fn rare(&mut self) -> Option<&mut Rare> {
        self.read.as_mut()?.rare.as_deref_mut()
    }

    /// Drops a text that is too long.
    pub(super) fn forget_text(&mut self, longest: u64) {
        let name = Arc::clone(&self.name);
        if let Some(rare) = self.rare()
            && rare.text.take().is_some()
        {
            rare.fault.get_or_insert_with(|| Box::new(too_long(&name, longest)));
        }
    }

    /// Makes the member and its header or description.
    pub(super) fn new(member: &Member, read: Option<(Read, Content)>) -> (Self, Content) {
        let (read, content) = read.unzip();
        let Member { name, kind, size, .. } = member;
        let visited = Self { name: Arc::clone(name), kind: *kind, size: *size, read };
        (visited, content.unwrap_or(Content::Other))
    }
}

/// Reads files: each completely, or only headers and descriptions.
pub(super) struct Visitor {
    pub(super) algorithms: Vec<Algorithm>,
    /// Whether large files are left for [`LargeFiles`].
    leaves_large: bool,
    /// Bytes of manifests kept from all files together, and their limit.
    kept: AtomicU64,
    longest: u64,
    allowance: Allowance,
    interner: Interner,
}

impl Visitor {
    /// Makes a visitor for an archive. Some archives leave large files to be read together.
    pub(super) fn new(
        archive: &Archive,
        leaves_large: bool,
        algorithms: Vec<Algorithm>,
    ) -> Result<Self> {
        Ok(Self {
            algorithms,
            leaves_large,
            kept: AtomicU64::new(0),
            longest: manifests::longest(archive)?,
            allowance: archive.allowance()?,
            interner: Interner::default(),
        })
    }

    /// Returns the limit of the texts if it was exceeded.
    pub(super) fn exceeded(&self) -> Option<u64> {
        (self.kept.load(Ordering::Relaxed) > self.longest).then_some(self.longest)
    }

    /// Reads one file, or only its header or description. Leaves out a large file that is faster to read together with
    /// others, or that may be divided.
    pub(super) fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        extent: Extent,
        progress: &Progress,
    ) -> (Read, Content) {
        if !path::is_valid(&member.name) {
            return (Read { digests: None, rare: None }, Content::Other);
        }
        let is_large = self.leaves_large && extent != Extent::Header && member.packed_size > LARGE;
        if is_large && text_limit(&member.name).is_none() {
            let rare = Rare { large: Some(member.clone()), ..Rare::default() };
            return (Read { digests: None, rare: Some(Box::new(rare)) }, Content::Other);
        }
        Reading::new(self, member, extent == Extent::All, progress).read(content)
    }
}

impl Visitor {
    /// Reads only the header of a file that was left out. `fault` is what the comparison of its blocks showed.
    pub(super) fn look_at_header(
        &self,
        member: &Member,
        fault: Option<Finding>,
        archive: &Archive,
    ) -> (Read, Content) {
        let mut reading = Reading::new(self, member, false, archive.progress());
        let looked = match archive.read(member) {
            Ok(mut content) => reading.look(&mut content),
            Err(error) => Err(Fault::Sink(error)),
        };
        reading.len = member.size;
        reading.fault = fault.map(Box::new);
        reading.finish(looked.map(|()| None))
    }
}

/// Large files, which are read after the others, several at once if that is faster.
pub(super) struct LargeFiles<'v> {
    pub(super) visitor: &'v Visitor,
    pub(super) members: &'v [Member],
    pub(super) progress: &'v Progress,
}

impl LargeFiles<'_> {
    fn reading(&self, position: usize) -> Reading<'_> {
        let member = self.members.get(position).expect("the position is that of a member");
        Reading::new(self.visitor, member, true, self.progress)
    }
}

impl Revisit for LargeFiles<'_> {
    type State = ();
    type Seen = (Read, Content);

    fn state(&self) {}

    fn one(&self, (): &mut (), shown: Shown<'_>) -> Result<(Read, Content)> {
        Ok(self.reading(shown.position).read(shown.content))
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
            // Several such files at once would take too much memory.
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

/// A file that is being read.
struct Reading<'r> {
    visitor: &'r Visitor,
    member: &'r Member,
    reads_all: bool,
    progress: &'r Progress,
    inspector: Inspector,
    limit: Option<u64>,
    text: Option<Vec<u8>>,
    len: u64,
    fault: Option<Box<Finding>>,
}

impl<'r> Reading<'r> {
    fn new(
        visitor: &'r Visitor,
        member: &'r Member,
        reads_all: bool,
        progress: &'r Progress,
    ) -> Self {
        let limit = text_limit(&member.name);
        let (text, len, fault) = (limit.map(|_| Vec::new()), 0, None);
        let inspector = Inspector::within(&member.name, &visitor.allowance);
        Self { visitor, member, reads_all, progress, inspector, limit, text, len, fault }
    }

    /// Reads the whole file, or as much as is needed.
    fn read(mut self, content: &mut dyn BufRead) -> (Read, Content) {
        let digests = if self.reads_all {
            copy(content, &self.visitor.algorithms, Hashing::Here, |block| self.take(block))
                .map(Some)
        } else {
            self.look(content).map(|()| None)
        };
        self.finish(digests)
    }

    /// Returns whether more than the header must be kept until the end of the file.
    fn keeps_much(&self) -> bool {
        self.text.is_some() || self.inspector.keeps_much()
    }

    /// Reads the header or the description.
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

    /// Returns the results after reading.
    fn finish(self, read: Result<Option<Digests>, Fault>) -> (Read, Content) {
        let Self { visitor, member, reads_all, progress, inspector, text, len, mut fault, .. } =
            self;
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
        let file_len = if !reads_all || fault.is_some() { member.size } else { len };
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
            // Only bags need texts this long, and the rules of bags report that it is missing.
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
        format!("the manifests are longer than the limit of {longest} bytes"),
    )
    .in_member(member)
}

/// Returns the name without the single directory that may contain the whole pack.
fn below_top(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, rest)| rest)
}

/// Maximum size in bytes of the metadata or fetch list of a bag: a million lines.
const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Returns the maximum number of bytes to keep of a file whose text is needed: lists of digests and tag files of a bag.
fn text_limit(path: &str) -> Option<u64> {
    let name = below_top(path);
    if name.contains('/') {
        return None;
    }
    let is_list = name == BLOCK_LIST
        || pack::manifest_algorithm(name).is_some()
        || pack::tag_manifest_algorithm(name).is_some();
    if is_list {
        return Some(u64::MAX);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}
