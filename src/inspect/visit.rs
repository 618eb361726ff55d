//! Reading one file in a single pass: its digests, its header or description, and the text of a manifest.

use std::io::BufRead;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::allowance::Allowance;
use crate::archive::{Archive, Fault, Member, MemberKind, Sink, copy, wait_for};
use crate::digest::{Algorithm, Digests, Hashing};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::pack::{Content, Inspector, Interner};
use crate::path;
use crate::progress::Progress;
use crate::read::manifests;

/// A member after the scan, without the data for locating its bytes, which most members no longer need.
pub(crate) struct Visited {
    pub(crate) name: Arc<str>,
    pub(crate) kind: MemberKind,
    pub(crate) size: u64,
    /// The facts about a file that can be read.
    pub(crate) read: Option<Read>,
}

/// The facts about a file, without its header or description.
#[derive(Default)]
pub(crate) struct Read {
    pub(crate) digests: Option<Digests>,
    /// Facts that few files have.
    pub(crate) extras: Option<Box<Extras>>,
}

/// The facts that few files have.
#[derive(Default)]
pub(crate) struct Extras {
    /// The text of a manifest or of a tag file of a bag.
    pub(crate) text: Option<Vec<u8>>,
    /// A large file that has not been read.
    pub(crate) large: Option<Member>,
    pub(crate) fault: Option<Box<Finding>>,
    /// The system error when it was read.
    pub(crate) refused: Option<Box<Error>>,
}

impl Visited {
    /// Returns the facts that few files have.
    pub(crate) fn extras(&mut self) -> Option<&mut Extras> {
        self.read.as_mut()?.extras.as_deref_mut()
    }

    /// Drops a text that is too long.
    pub(crate) fn forget_text(&mut self, longest: u64) {
        let name = Arc::clone(&self.name);
        if let Some(extras) = self.extras()
            && extras.text.take().is_some()
        {
            extras.fault.get_or_insert_with(|| Box::new(too_long(&name, longest)));
        }
    }

    /// Makes the member and its header or description.
    pub(crate) fn new(member: &Member, read: Option<(Read, Content)>) -> (Self, Content) {
        let (read, content) = read.unzip();
        let Member { name, kind, size, .. } = member;
        let visited = Self { name: Arc::clone(name), kind: *kind, size: *size, read };
        (visited, content.unwrap_or(Content::Other))
    }
}

/// Reads files: each completely, or only headers and descriptions.
pub(crate) struct Visitor {
    /// The digests to compute of files that are read completely.
    pub(crate) algorithms: Vec<Algorithm>,
    /// Returns the maximum number of bytes to keep of a file whose text is needed, by its name.
    text_limit: fn(&str) -> Option<u64>,
    /// Whether headers and descriptions are kept.
    looks: bool,
    /// Bytes of texts kept from all files together, and their limit.
    kept: AtomicU64,
    longest: u64,
    allowance: Allowance,
    interner: Interner,
    progress: Progress,
}

impl Visitor {
    /// Makes a visitor for an archive that keeps headers and descriptions.
    pub(crate) fn new(archive: &Archive, algorithms: Vec<Algorithm>) -> Result<Self> {
        Ok(Self {
            algorithms,
            text_limit: |_| None,
            looks: true,
            kept: AtomicU64::new(0),
            longest: manifests::longest(archive)?,
            allowance: archive.allowance()?,
            interner: Interner::default(),
            progress: archive.progress().clone(),
        })
    }

    /// Also keeps some texts.
    pub(crate) fn with_texts(self, text_limit: fn(&str) -> Option<u64>) -> Self {
        Self { text_limit, ..self }
    }

    /// Keeps only digests.
    #[cfg(feature = "full")]
    pub(crate) fn without_headers(self) -> Self {
        Self { looks: false, ..self }
    }

    /// Returns the limit of the texts if it was exceeded.
    pub(crate) fn exceeded(&self) -> Option<u64> {
        (self.kept.load(Ordering::Relaxed) > self.longest).then_some(self.longest)
    }

    /// Reads one file, or only its header or description.
    pub(crate) fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        reads_all: bool,
    ) -> (Read, Content) {
        if path::is_valid(&member.name) {
            return Reading::new(self, member, reads_all).read(content);
        }
        (Read::default(), Content::Other)
    }
}

/// A file that is being read.
pub(crate) struct Reading<'r> {
    visitor: &'r Visitor,
    member: &'r Member,
    reads_all: bool,
    inspector: Inspector,
    limit: Option<u64>,
    text: Option<Vec<u8>>,
    pub(crate) len: u64,
    pub(crate) fault: Option<Box<Finding>>,
}

impl<'r> Reading<'r> {
    pub(crate) fn new(visitor: &'r Visitor, member: &'r Member, reads_all: bool) -> Self {
        let limit = (visitor.text_limit)(&member.name);
        let (text, len, fault) = (limit.map(|_| Vec::new()), 0, None);
        let name = if visitor.looks { &*member.name } else { "" };
        let inspector = Inspector::within(name, &visitor.allowance);
        Self { visitor, member, reads_all, inspector, limit, text, len, fault }
    }

    /// Reads the whole file, or as much as is needed.
    pub(crate) fn read(mut self, content: &mut dyn BufRead) -> (Read, Content) {
        let digests = if self.reads_all {
            copy(content, &self.visitor.algorithms, Hashing::Here, |block| self.take(block))
                .map(Some)
        } else {
            self.read_member(content).map(|()| None)
        };
        self.finish(digests)
    }

    /// Returns whether more than the header must be kept until the end of the file.
    pub(crate) fn keeps_much(&self) -> bool {
        self.text.is_some() || self.inspector.keeps_much()
    }

    /// Reads the header or the description.
    pub(crate) fn read_member(&mut self, content: &mut dyn BufRead) -> Result<(), Fault> {
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
    pub(crate) fn finish(self, read: Result<Option<Digests>, Fault>) -> (Read, Content) {
        let Self { visitor, member, reads_all, inspector, text, len, mut fault, .. } = self;
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
        visitor.progress.done(1);
        let file_len = if !reads_all || fault.is_some() { member.size } else { len };
        let has_extras = text.is_some() || fault.is_some() || refused.is_some();
        let content = inspector.finish_interned(&member.name, file_len, &visitor.interner);
        let extras = || Box::new(Extras { text, large: None, fault, refused });
        (Read { digests, extras: has_extras.then(extras) }, content)
    }
}

impl Sink for Reading<'_> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.visitor.progress.at(&self.member.name);
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
