//! A survey of a source directory: its files, their headers and descriptions, and problems.
//!
//! Only headers and descriptions are read, so that problems are known before the first byte of a large array is copied.

use std::io::BufReader;
use std::num::NonZeroU64;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use crate::archive::{How, Member, MemberKind, Placed, Stretch};
use crate::digest::Digests;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, Below, File, Stamp, TEMPORARY_SUFFIX};
use crate::inspect::select::Patterns;
use crate::message::Message;
use crate::pack::{Content, Contents, Inspector, Interner};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;

/// Number of files that one job takes at a time.
const STEP: usize = 64;
/// Bytes to read at once: more than any header, and enough for most descriptions.
const HEAD_BYTES: usize = 8 * 1024;

/// The content of a source directory.
#[derive(Debug)]
pub(crate) struct Survey {
    /// Files and directories, sorted by name.
    pub(crate) entries: Vec<SourceEntry>,
    pub(crate) contents: Contents,
    /// Problems with the names and kinds of files.
    pub(crate) findings: Vec<Finding>,
}

/// A file or directory of the source.
#[derive(Debug)]
pub(crate) struct SourceEntry {
    pub(crate) path: MemberPath,
    pub(crate) source: EntrySource,
    /// Size of its header in bytes, if it is an array.
    pub(crate) header_len: Option<NonZeroU64>,
    /// The way in which it is written. `None` if it does not become a member, or before it was read.
    pub(crate) how: Option<How>,
    /// The written member.
    pub(crate) placed: Option<Placed>,
}

/// The source of an entry.
#[derive(Debug)]
pub(crate) enum EntrySource {
    Directory,
    /// A directory without a member of its own, because its files imply it or the layout has no place for it.
    Implied,
    /// A file, with its size and time when it was read.
    File(Option<Stamp>),
    /// A file in memory: a text that was generated for the archive, or a small file of a writer.
    InMemory(Arc<[u8]>),
    /// A member of an older archive.
    Kept(Box<KeptMember>),
    /// A member that the new archive has already.
    Written(Box<WrittenContent>),
}

/// The content of a member that was written before the other members were known.
#[derive(Debug)]
pub(crate) struct WrittenContent {
    pub(crate) archive: Arc<File>,
    pub(crate) range: Range<u64>,
}

impl WrittenContent {
    /// Returns a reader of the content.
    pub(crate) fn read(&self) -> Stretch {
        let Range { start, end } = self.range;
        Stretch::new(Arc::clone(&self.archive), start, end - start)
    }
}

/// A file that is copied from an older archive in its compressed form.
#[derive(Debug)]
pub(crate) struct KeptMember {
    pub(crate) member: Member,
    /// The digests in its manifests.
    pub(crate) digests: Digests,
}

impl SourceEntry {
    pub(crate) fn new(path: MemberPath, source: EntrySource) -> Self {
        Self { path, source, header_len: None, how: None, placed: None }
    }

    /// Returns the size and time of the file.
    pub(crate) fn stamp(&self) -> Option<&Stamp> {
        match &self.source {
            EntrySource::File(stamp) => stamp.as_ref(),
            _ => None,
        }
    }

    /// Returns whether the entry is a file.
    pub(crate) fn is_file(&self) -> bool {
        !matches!(self.source, EntrySource::Directory | EntrySource::Implied)
    }

    /// Returns the size of the content in bytes, as far as it is known.
    pub(crate) fn size(&self) -> u64 {
        match &self.source {
            EntrySource::InMemory(content) => content.len() as u64,
            EntrySource::Kept(kept) => kept.member.size,
            EntrySource::Written(written) => written.range.end - written.range.start,
            _ => self.stamp().map_or(0, Stamp::len),
        }
    }
}

/// Lists everything below `root` that is not excluded, sorted by name, and reports problems with names and kinds. `own`
/// contains the names of files in the source that the operation itself writes.
pub(crate) fn names(
    root: &Path,
    excluded: &Patterns,
    own: &[String],
    follow: bool,
    progress: &Progress,
) -> Result<(Vec<SourceEntry>, Vec<Finding>)> {
    let mut findings = Vec::new();
    let walked = fs::walk(root, follow, progress)?;
    let mut entries = Vec::with_capacity(walked.len());
    for walked in walked {
        let path = match walked.path {
            Ok(path) => path,
            Err(invalid) => {
                findings.push(
                    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
                        .in_member(invalid.path)
                        .hint(
                            Message::from("rename the file, or leave it out with ")
                                .option("exclude"),
                        ),
                );
                continue;
            }
        };
        if excluded.matches(path.as_str()) || own.iter().any(|own| own == path.as_str()) {
            continue;
        }
        let is_unfinished = |part: &str| part.ends_with(TEMPORARY_SUFFIX);
        if path.parent().is_some_and(|parent| parent.split('/').any(is_unfinished)) {
            continue;
        }
        match walked.kind {
            MemberKind::File | MemberKind::Directory if is_unfinished(path.as_str()) => findings
                .push(
                    Finding::new(
                        Code::OddContainer,
                        "an interrupted run left this file; it is not packed",
                    )
                    .in_member(path.as_str())
                    .hint("delete it"),
                ),
            MemberKind::File => entries.push(SourceEntry::new(path, EntrySource::File(None))),
            MemberKind::Directory => entries.push(SourceEntry::new(path, EntrySource::Directory)),
            MemberKind::Link => findings.push(link(path.as_str(), follow)),
            MemberKind::Special => findings.push(
                Finding::new(
                    Code::SpecialFile,
                    "the file is a device, a pipe or another special file",
                )
                .in_member(path.as_str())
                .hint(Message::from("leave it out with ").option("exclude")),
            ),
        }
    }
    Ok((entries, findings))
}

/// Makes the finding about a link that is not followed, or cannot be followed.
pub(crate) fn link(name: &str, follow: bool) -> Finding {
    let (message, hint) = if follow {
        (
            "the link leads to nothing that can be read, or to a directory that contains it",
            Message::from("correct or delete it"),
        )
    } else {
        let hint = Message::from("follow it with ").option("dereference");
        ("the file is a symbolic link", hint)
    };
    let hint = hint.text(", or leave it out with ").option("exclude");
    Finding::new(Code::Link, message).in_member(name).hint(hint)
}

/// Surveys everything below `root`.
pub(crate) fn survey(root: &Path, jobs: usize, progress: &Progress) -> Result<Survey> {
    progress.stage("reading", 0, 0);
    let (mut entries, findings) = names(root, &Patterns::default(), &[], false, progress)?;
    progress.expect_files(entries.len());
    let looked = pipeline::share(
        jobs,
        entries.chunks_mut(STEP),
        || EntryReader::new(root, false, progress),
        |reader, entries| {
            let looked =
                entries.iter_mut().map(|entry| reader.read_entry(entry, 0, &mut Vec::new()));
            let looked = looked.collect::<Result<Vec<_>>>()?;
            progress.done(looked.len());
            Ok::<_, Error>(looked)
        },
    )?;
    Ok(Survey::collect(entries, looked, findings))
}

impl Survey {
    /// Collects the contents of `entries`, given in the same order.
    pub(crate) fn collect(
        mut entries: Vec<SourceEntry>,
        looked: Vec<Vec<Content>>,
        findings: Vec<Finding>,
    ) -> Self {
        let found = entries.iter_mut().zip(looked.into_iter().flatten());
        let contents = Contents::collect(found.filter_map(|(entry, what)| {
            (!matches!(what, Content::Other)).then(|| (entry.path.clone(), what))
        }));
        Self { entries, contents, findings }
    }
}

/// Reads files one after the other.
pub(crate) struct EntryReader<'p> {
    below: Below,
    progress: &'p Progress,
    interner: Interner,
}

impl<'p> EntryReader<'p> {
    /// Makes a reader of files below `root`, which follows links if `follow` is true.
    pub(crate) fn new(root: &Path, follow: bool, progress: &'p Progress) -> Self {
        let below = Below::new(root, follow);
        Self { below, progress, interner: Interner::default() }
    }

    /// Appends the content of an entry that was read before to `room`.
    pub(crate) fn read_again(&mut self, entry: &SourceEntry, room: &mut Vec<u8>) -> Result<()> {
        match &entry.source {
            EntrySource::File(Some(stamp)) => {
                let mut file = self.below.open(&entry.path)?.watched(self.progress);
                append_all(&mut file, stamp, room)?;
            }
            EntrySource::InMemory(content) => room.extend_from_slice(content),
            _ => {}
        }
        Ok(())
    }

    /// Reads an entry. Content of up to `most` bytes is appended to `room`. If it is longer, only the header or
    /// description of a file is read.
    pub(crate) fn read_entry(
        &mut self,
        entry: &mut SourceEntry,
        most: u64,
        room: &mut Vec<u8>,
    ) -> Result<Content> {
        let SourceEntry { path, source, header_len, .. } = entry;
        let name = path.as_str();
        let mut inspector = Inspector::new(name);
        let len = match source {
            EntrySource::File(seen @ None) => {
                self.progress.at(name);
                let mut file = self.below.open(path)?.watched(self.progress);
                let stamp = file.stamp()?;
                if stamp.len() <= most {
                    inspector.update(append_all(&mut file, &stamp, room)?);
                } else {
                    let read = inspector.read(&mut BufReader::with_capacity(HEAD_BYTES, &mut file));
                    read.map_err(|error| Error::io("read", file.path())(error))?;
                }
                *seen = Some(stamp);
                stamp.len()
            }
            EntrySource::InMemory(content) => {
                inspector.update(content);
                if content.len() as u64 <= most {
                    room.extend_from_slice(content);
                }
                content.len() as u64
            }
            EntrySource::Written(written) => {
                let read = inspector.read(&mut written.read().in_blocks_of(HEAD_BYTES));
                read.map_err(|error| Error::io("read", written.archive.path())(error))?;
                written.range.end - written.range.start
            }
            _ => return Ok(Content::Other),
        };
        let what = inspector.finish_interned(name, len, &self.interner);
        *header_len = match &what {
            Content::Array(facts) => facts.header.as_ref().ok().map(Header::header_len),
            Content::Description(_) | Content::Crate(_) | Content::Other => None,
        }
        .and_then(NonZeroU64::new);
        Ok(what)
    }
}

/// Appends a whole small file to `room`, and returns it. The file must not change while it is read.
fn append_all<'r>(file: &mut File, stamp: &Stamp, room: &'r mut Vec<u8>) -> Result<&'r [u8]> {
    let start = room.len();
    let len = usize::try_from(stamp.len()).map_err(|_| file.changed("it grew"))?;
    room.resize(start + len, 0);
    let content = room.split_at_mut(start).1;
    file.read_unchanged(content, stamp)?;
    Ok(content)
}
