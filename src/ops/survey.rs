//! A first look at a source directory: what is there, what it says about itself, what is wrong.
//!
//! Only headers and descriptions are read, so that everything is known to be right before the first
//! byte of a large array is copied. Small files are read whole on the way and kept, as far as there is
//! room for them: opening a small file takes longer than reading it, and what is checked is then what
//! is packed.

use std::io::Read;
use std::num::NonZeroU64;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::select::Patterns;
use crate::archive::{MemberKind, Placed};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, Below, File, Kind, Stamp, TEMPORARY_SUFFIX};
use crate::pack::{Content, Contents, Inspector, Interner};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;

/// Files that one job takes at a time.
const STEP: usize = 64;
/// Bytes that are asked for at once: more than any header, as much as most descriptions.
pub(super) const BLOCK: usize = 8 * 1024;
/// Longest file that is kept.
const SMALL: u64 = 4 * 1024;
/// Most bytes that are kept of all files together.
pub(super) const MAX_KEPT: u64 = 24 * 1024 * 1024;
/// The same where compressors need the memory; what is not kept is read again, which is little beside what
/// they do.
pub(super) const MAX_KEPT_BESIDE_COMPRESSORS: u64 = 6 * 1024 * 1024;

/// What lies in a source directory, by name.
#[derive(Debug)]
pub(super) struct Names {
    /// Files and directories, sorted by name. Nobody has looked at any.
    pub(super) entries: Vec<SourceEntry>,
    /// What is wrong with the names and kinds of files.
    pub(super) findings: Vec<Finding>,
}

/// What lies in a source directory.
#[derive(Debug)]
pub(super) struct Survey {
    /// Files and directories, sorted by name.
    pub(super) entries: Vec<SourceEntry>,
    pub(super) kept: Kept,
    pub(super) contents: Contents,
    /// What is wrong with the names and kinds of files.
    pub(super) findings: Vec<Finding>,
}

/// A file or directory of the source.
#[derive(Debug)]
pub(super) struct SourceEntry {
    pub(super) path: MemberPath,
    /// The length of its header, when it is an array.
    pub(super) header_len: Option<NonZeroU64>,
    pub(super) state: State,
}

/// The bytes of files that were read whole, those of neighbours in one block: a block for each would take
/// as much room as what is in it.
#[derive(Debug, Default)]
pub(super) struct Kept(Vec<Box<[u8]>>);

/// Where the bytes of one file are kept.
#[derive(Debug, Clone, Copy)]
pub(super) struct KeptAt {
    block: u32,
    at: u32,
}

impl Kept {
    /// The bytes of a file of that length.
    pub(super) fn get(&self, place: KeptAt, len: u64) -> Option<&[u8]> {
        let block = self.0.get(usize::try_from(place.block).ok()?)?;
        block.get(usize::try_from(place.at).ok()?..)?.get(..usize::try_from(len).ok()?)
    }
}

/// How far a file or directory of the source is packed.
#[derive(Debug)]
pub(super) enum State {
    Directory,
    /// A directory that is no member: what is in it says that it is there, or the layout has no place for it.
    Implied,
    /// A file that nobody has looked at.
    Unseen,
    /// A file that was looked at, and what it looked like.
    Seen(Stamp),
    /// A file that was read whole, and where its bytes are kept.
    Kept(Stamp, KeptAt),
    /// A file of the archive that is made, and what is in it.
    Made(Box<[u8]>),
    /// A file that was looked at, and its place in the archive.
    Reserved(Stamp, u64),
    /// A member of the archive; its length and time of modification.
    Written(MemberKind, u64, u64, Placed),
}

impl State {
    /// What the file looked like.
    pub(super) fn stamp(&self) -> Option<&Stamp> {
        match self {
            Self::Seen(stamp) | Self::Kept(stamp, _) | Self::Reserved(stamp, _) => Some(stamp),
            Self::Directory | Self::Implied | Self::Unseen | Self::Made(_) | Self::Written(..) => {
                None
            }
        }
    }
}

/// Everything below `root` that is not excluded. `own` are the names of files that the operation itself
/// writes, when they lie in the source.
pub(super) fn names(
    root: &Path,
    excluded: &Patterns,
    own: &[String],
    follow: bool,
) -> Result<Names> {
    let mut findings = Vec::new();
    let walked = fs::walk(root, follow)?;
    let mut entries = Vec::with_capacity(walked.len());
    for walked in walked {
        let path = match walked.path {
            Ok(path) => path,
            Err(invalid) => {
                findings.push(
                    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
                        .in_member(invalid.path)
                        .hint("rename the file, or leave it out with --exclude"),
                );
                continue;
            }
        };
        if excluded.matches(path.as_str()) || own.iter().any(|own| own == path.as_str()) {
            continue;
        }
        match walked.kind {
            Kind::File if path.as_str().ends_with(TEMPORARY_SUFFIX) => findings.push(
                Finding::new(
                    Code::OddContainer,
                    "the file was left by an interrupted run and is not packed",
                )
                .in_member(path.as_str())
                .hint("delete it"),
            ),
            Kind::File => {
                entries.push(SourceEntry { path, header_len: None, state: State::Unseen });
            }
            Kind::Directory => {
                entries.push(SourceEntry { path, header_len: None, state: State::Directory });
            }
            Kind::Link => findings.push(
                Finding::new(Code::Link, "the file is a symbolic link")
                    .in_member(path.as_str())
                    .hint("--dereference packs what it leads to, --exclude leaves it out"),
            ),
            Kind::Special => findings.push(
                Finding::new(
                    Code::SpecialFile,
                    "the file is a device, a pipe or another special file",
                )
                .in_member(path.as_str())
                .hint("leave it out with --exclude"),
            ),
        }
    }
    Ok(Names { entries, findings })
}

/// Looks at everything below `root`.
pub(super) fn survey_all(root: &Path, jobs: usize, progress: &Progress) -> Result<Survey> {
    progress.stage("reading", 0, 0);
    survey(root, names(root, &Patterns::default(), &[], false)?, false, jobs, 0, progress)
}

/// Looks at all of it, and keeps `keep` bytes of small files.
pub(super) fn survey(
    root: &Path,
    names: Names,
    follow: bool,
    jobs: usize,
    keep: u64,
    progress: &Progress,
) -> Result<Survey> {
    progress.expect_files(names.entries.len());
    let Names { mut entries, findings } = names;
    let budget = AtomicU64::new(keep);
    let looked = pipeline::share(
        jobs,
        entries.chunks_mut(STEP).enumerate(),
        || (Below::new(root, follow), vec![0; BLOCK], Vec::new(), Interner::default()),
        |(below, buffer, room, interner), (block, entries)| {
            room.clear();
            let mut look = Look { below, buffer, room, block, budget: &budget, progress };
            let seen = entries
                .iter_mut()
                .map(|entry| look.at(entry, interner))
                .collect::<Result<Vec<_>>>()?;
            progress.done(seen.len());
            Ok::<_, Error>((seen, Box::from(room.as_slice())))
        },
    )?;
    let (looked, kept): (Vec<_>, Vec<_>) = looked.into_iter().unzip();
    Ok(Survey { kept: Kept(kept), ..Survey::collect(entries, looked, findings) })
}

impl Survey {
    /// What the looks at `entries` told, which are in the same order.
    pub(super) fn collect(
        mut entries: Vec<SourceEntry>,
        looked: Vec<Vec<Content>>,
        findings: Vec<Finding>,
    ) -> Self {
        let found = entries.iter_mut().zip(looked.into_iter().flatten());
        let contents = Contents::collect(found.filter_map(|(entry, what)| {
            entry.header_len =
                header_of(&what).and_then(|header| NonZeroU64::new(header.header_len()));
            (!matches!(what, Content::Other)).then(|| (entry.path.clone(), what))
        }));
        Self { entries, kept: Kept::default(), contents, findings }
    }
}

/// The header of an array.
pub(super) fn header_of(what: &Content) -> Option<&Header> {
    match what {
        Content::Array(facts) => facts.header.as_ref().ok(),
        Content::Description(_) | Content::Other => None,
    }
}

/// What looks at one file after the other.
struct Look<'a> {
    below: &'a mut Below,
    buffer: &'a mut [u8],
    /// The bytes that are kept of these files, and the number of the block that they will be.
    room: &'a mut Vec<u8>,
    block: usize,
    budget: &'a AtomicU64,
    progress: &'a Progress,
}

impl Look<'_> {
    fn at(&mut self, entry: &mut SourceEntry, interner: &Interner) -> Result<Content> {
        let SourceEntry { path, state, .. } = entry;
        if !matches!(state, State::Unseen) {
            return Ok(Content::Other);
        }
        self.progress.at(path.as_str());
        let mut file = self.below.open(path)?.watched(self.progress);
        let stamp = file.stamp()?;
        if stamp.len() <= SMALL
            && let Some(place) = self.take_room(stamp.len())
        {
            let len = usize::try_from(stamp.len()).unwrap_or(usize::MAX).min(self.buffer.len());
            let room = self.buffer.get_mut(..len);
            let (what, content) = read_whole(&mut file, path, &stamp, room, interner)?;
            self.room.extend_from_slice(content);
            *state = State::Kept(stamp, place);
            return Ok(what);
        }
        let what = read_beginning(&mut file, path, &stamp, self.buffer, interner)?;
        *state = State::Seen(stamp);
        Ok(what)
    }

    /// Takes room for a file, if there is any.
    fn take_room(&self, len: u64) -> Option<KeptAt> {
        let take = |room: u64| room.checked_sub(len);
        self.budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).ok()?;
        let block = u32::try_from(self.block).ok()?;
        Some(KeptAt { block, at: u32::try_from(self.room.len()).ok()? })
    }
}

/// Reads as much of a file as tells what it is.
pub(super) fn read_beginning(
    file: &mut File,
    path: &MemberPath,
    stamp: &Stamp,
    buffer: &mut [u8],
    interner: &Interner,
) -> Result<Content> {
    let mut inspector = Inspector::new(path.as_str());
    while inspector.wants_more() {
        match file.read(buffer) {
            Ok(0) => break,
            Ok(count) => inspector.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io("read", file.path())(error)),
        }
    }
    Ok(inspector.finish_interned(path.as_str(), stamp.len(), interner))
}

/// Reads a small file into `content`, which is as long as the file; it has to be what it was from
/// beginning to end.
pub(super) fn read_whole<'b>(
    file: &mut File,
    path: &MemberPath,
    stamp: &Stamp,
    content: Option<&'b mut [u8]>,
    interner: &Interner,
) -> Result<(Content, &'b [u8])> {
    let content = content.unwrap_or_default();
    file.read_unchanged(content, stamp)?;
    let mut inspector = Inspector::new(path.as_str());
    inspector.update(content);
    Ok((inspector.finish_interned(path.as_str(), stamp.len(), interner), content))
}
