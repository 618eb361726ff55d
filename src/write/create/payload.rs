//! Members of the payload, made from files and directories of the source.
//!
//! One pass over the source reads every file and writes small files at once: opening a small file takes longer than
//! reading it, and the bytes that are checked are then the bytes that are packed. If members are stored, the pass only
//! reserves space for large files. If they are compressed, it stops writing at the first large file. The rest is
//! written after all checks.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{BufReader, Cursor};
use std::iter;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{CreateOptions, FIXED_TIME};
use crate::archive::{
    Archive, ArchiveWriter, Batch, Container, MemberKind, MemberReader, NewContent, NewMember,
    Packer, ReservedMember, SMALL,
};
use crate::digest::{Algorithm, Hashing, at_once, width};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, File, Stamp};
use crate::pack::{self, BAG_DECLARATION, BLOCK_LIST, Content, Layout, PACK_DOCUMENT, Placement};
use crate::path::{self, MemberPath};
use crate::pipeline;
use crate::read::manifests::MAX_MANIFEST;
use crate::write::survey::{EntrySource, Looker, SourceEntry, Survey, append_all};

/// Number of files that one worker takes at a time.
const FILES: usize = 32;
/// Maximum size in bytes of files that are written in the first pass.
const SHORT: u64 = 32 * 1024;
/// Bytes of files that one worker takes at a time.
const BYTES: u64 = 1024 * 1024;

const _: () = assert!(FILES as u64 * SHORT <= BYTES);

/// Makes members from files.
#[derive(Debug, Clone, Copy)]
pub(super) struct PayloadMembers<'a> {
    pub(super) source: &'a Path,
    /// Whether the source exists only until the archive is complete.
    pub(super) is_staged: bool,
    pub(super) placement: &'a Placement,
    pub(super) options: &'a CreateOptions,
    pub(super) container: Container,
    /// The archive from which members are copied.
    pub(super) old: Option<&'a Archive>,
}

/// Returns whether a file of the source is not part of the payload: it is generated, or written elsewhere in the
/// archive.
fn is_aside(name: &str) -> bool {
    name == BAG_DECLARATION
        || name == PACK_DOCUMENT
        || name == BLOCK_LIST
        || pack::is_signature(name)
        || pack::manifest_algorithm(name).is_some()
}

impl PayloadMembers<'_> {
    /// Marks the directories that do not become members.
    pub(super) fn mark_implied(self, entries: &mut [SourceEntry]) {
        let mut occupied = HashSet::new();
        let mut last = None;
        for entry in &*entries {
            let parent = entry.path.parent();
            if parent != last {
                occupied.extend(parent.map(Box::<str>::from));
                last = parent;
            }
        }
        let has_directories = self.options.layout != Layout::BagIt;
        for SourceEntry { path, source, .. } in entries {
            let name = path.as_str();
            let is_member = || has_directories && !is_aside(name) && !occupied.contains(name);
            if matches!(source, EntrySource::Directory) && !is_member() {
                *source = EntrySource::Implied;
            }
        }
    }

    /// Returns the time of members that have no time of their own.
    pub(super) fn time(self) -> u64 {
        self.options.timestamp.unwrap_or(FIXED_TIME)
    }

    /// Returns the payload directory of a bag, which exists even if it is empty.
    pub(super) fn payload_directory(self) -> Option<NewMember<'static>> {
        Some(NewMember {
            path: self.placement.payload_directory()?.into(),
            kind: MemberKind::Directory,
            size: 0,
            modified: self.time(),
            align_at: None,
        })
    }

    /// Returns the member for an entry that was read.
    pub(super) fn of(self, entry: &SourceEntry) -> Option<NewMember<'_>> {
        let own_time = entry.stamp().filter(|_| self.options.preserve_mtime).map(Stamp::modified);
        Some(NewMember {
            path: self.placement.placed(entry.path.as_str()),
            kind: match entry.source {
                EntrySource::Directory => MemberKind::Directory,
                EntrySource::File(Some(_)) | EntrySource::InMemory(_) | EntrySource::Kept(_) => {
                    MemberKind::File
                }
                EntrySource::Implied | EntrySource::File(None) => return None,
            },
            size: entry.size(),
            modified: own_time.unwrap_or_else(|| self.time()),
            align_at: entry.header_len.map(u64::from),
        })
    }

    /// Returns the content of an entry that was read.
    fn content(self, entry: &SourceEntry) -> Result<NewContent<'_>> {
        Ok(match &entry.source {
            EntrySource::File(Some(stamp)) => {
                let file = File::open(self.source.join(entry.path.as_str()))?;
                let progress = self.options.progress.of_file(entry.path.as_str());
                NewContent::File(file.watched(&progress), *stamp)
            }
            EntrySource::InMemory(content) => NewContent::Bytes(content),
            _ => NewContent::Bytes(b""),
        })
    }

    /// Opens a file of the source or of the older archive at its beginning.
    pub(super) fn open(self, entries: &[SourceEntry], name: &str) -> Result<MemberReader> {
        let at = entries.binary_search_by(|entry| entry.path.as_str().cmp(name)).ok();
        match (at.and_then(|at| entries.get(at)).map(|entry| &entry.source), self.old) {
            (Some(EntrySource::Kept(kept)), Some(old)) => old.read(&kept.member),
            (Some(EntrySource::InMemory(content)), _) => {
                Ok(Box::new(Cursor::new(Arc::clone(content))))
            }
            _ => Ok(Box::new(BufReader::new(File::open(self.source.join(name))?))),
        }
    }

    /// Reads a whole small file of the source.
    pub(super) fn read(self, entry: &SourceEntry) -> Result<Vec<u8>> {
        if let EntrySource::InMemory(content) = &entry.source {
            return Ok(content.to_vec());
        }
        let path = self.source.join(entry.path.as_str());
        let bytes = fs::read_limited(&path, MAX_MANIFEST)?;
        let now = File::open(&path)?.stamp()?;
        if entry.stamp() == Some(&now) && now.len() == bytes.len() as u64 {
            return Ok(bytes);
        }
        Err(Error::Changed { path, what: "another program wrote to it".to_owned() })
    }

    /// Reads all entries, and writes the small ones if there is a `writer`.
    pub(super) fn look(
        self,
        mut entries: Vec<SourceEntry>,
        findings: Vec<Finding>,
        writer: &mut ArchiveWriter<'_>,
        is_written: bool,
    ) -> Result<Survey> {
        self.options.progress.expect_files(entries.len());
        let runs = entries.chunks_mut(FILES);
        let mode = if is_written { WriteMode::WhileShort } else { WriteMode::Nothing };
        let looked = self.write_in_order(runs, writer, mode)?;
        Ok(Survey::collect(entries, looked, findings))
    }

    /// Writes the entries that the first pass left, or reserves space for them.
    pub(super) fn write_rest(
        self,
        entries: &mut [SourceEntry],
        writer: &mut ArchiveWriter<'_>,
    ) -> Result<()> {
        let is_left = |entry: &SourceEntry| entry.placed.is_none() && self.of(entry).is_some();
        let Some(first) = entries.iter().position(is_left) else { return Ok(()) };
        let mut left = entries.split_at_mut(first).1;
        let bytes = left.iter().map(SourceEntry::size).fold(0, u64::saturating_add);
        let files = left.iter().filter(|entry| !matches!(entry.source, EntrySource::Directory));
        self.options.progress.stage("packing", bytes, files.count() as u64);
        let runs = iter::from_fn(|| {
            let (mut count, mut bytes) = (0, 0_u64);
            for entry in &*left {
                bytes = bytes.saturating_add(entry.size());
                // Each large file is a run of its own.
                if count > 0 && (count == FILES || bytes > BYTES || entry.size() > SMALL) {
                    break;
                }
                count += 1;
                if entry.size() > SMALL {
                    break;
                }
            }
            let run;
            (run, left) = std::mem::take(&mut left).split_at_mut(count);
            (count > 0).then_some(run)
        });
        self.write_in_order(runs, writer, WriteMode::All).map(drop)
    }

    /// Reads and packs runs of entries with workers, and writes them in their order.
    fn write_in_order<'e>(
        self,
        runs: impl Iterator<Item = &'e mut [SourceEntry]>,
        writer: &mut ArchiveWriter<'_>,
        mode: WriteMode,
    ) -> Result<Vec<Vec<Content>>> {
        let is_over = AtomicBool::new(mode == WriteMode::Nothing);
        let (packers, largest) = (writer.packers(), writer.largest_for_workers());
        let follow = self.options.dereference;
        let worker = || Worker {
            members: self,
            looker: Looker::new(self.source, follow, &self.options.progress),
            packer: packers(),
            is_second: mode == WriteMode::All,
            room: Vec::new(),
            most: if mode == WriteMode::All { SMALL } else { SHORT },
            largest: if mode == WriteMode::All { largest } else { SHORT },
        };
        let work = |worker: &mut Worker<'_, '_>, entries| {
            worker.pack(entries, !is_over.load(Ordering::Relaxed))
        };
        let mut contents = Vec::new();
        let is_checked = mode == WriteMode::All;
        let workers = writer.workers(is_checked);
        let take = |Run { entries, held, batch, looked }: Run<'e>| {
            contents.push(looked);
            let mut packed = batch.members();
            for (entry, is_held) in entries.iter_mut().zip(held) {
                let packed = if is_held { packed.next() } else { None };
                let is_to_write = entry.placed.is_none() && !is_aside(entry.path.as_str());
                if is_over.load(Ordering::Relaxed) || !is_to_write {
                    continue;
                }
                let Some(member) = self.of(entry) else { continue };
                if !path::is_valid(&member.path) {
                    MemberPath::new(&*member.path)?;
                }
                let placed = match (packed, &entry.source) {
                    (Some(packed), _) => writer.append(&member, packed)?,
                    (None, EntrySource::Kept(kept)) => {
                        let file = self
                            .old
                            .and_then(Archive::file)
                            .expect("kept members are in an archive");
                        self.options.progress.done(usize::from(is_checked));
                        writer.copy(&member, &kept.member, file, kept.digests.clone())?
                    }
                    (None, _) if writer.is_stored() => writer.reserve(&member)?,
                    (None, _) if is_checked => {
                        self.options.progress.done(1);
                        writer.write(&member, self.content(entry)?)?
                    }
                    (None, _) => {
                        is_over.store(true, Ordering::Relaxed);
                        continue;
                    }
                };
                entry.placed = Some(placed);
            }
            Ok(())
        };
        pipeline::ordered(workers, runs, worker, work, take)?;
        Ok(contents)
    }

    /// Copies the files for which space is reserved, the longest first, so that no job is left with a long file at the
    /// end.
    pub(super) fn write_reserved(
        self,
        entries: &mut [SourceEntry],
        writer: &ArchiveWriter<'_>,
        algorithms: &[Algorithm],
        jobs: usize,
    ) -> Result<()> {
        let mut reserved: Vec<_> = entries
            .iter()
            .enumerate()
            .filter_map(|(number, entry)| {
                let placed = entry.placed.as_ref().filter(|placed| !placed.is_written())?;
                Some((number, entry, *entry.stamp()?, placed.record.at))
            })
            .collect();
        reserved.sort_by_key(|(_, _, stamp, _)| Reverse(stamp.len()));
        let bytes = reserved.iter().map(|(_, _, stamp, _)| stamp.len());
        let bytes = bytes.fold(0, u64::saturating_add);
        if reserved.is_empty() {
            return Ok(());
        }
        let progress = &self.options.progress;
        progress.stage("packing", bytes, reserved.len() as u64);
        let width = width(at_once(algorithms), reserved.len(), jobs);
        let writer = writer.reserved();
        let written = pipeline::lanes(jobs, reserved.into_iter(), |reserved| {
            let files = reserved.map(|(number, entry, stamp, at)| {
                progress.at(entry.path.as_str());
                let member = self.of(entry).expect("space is reserved only for members");
                let file = File::open(self.source.join(entry.path.as_str()))?.watched(progress);
                Ok((ReservedMember { number, member, at, stamp }, file))
            });
            if width > 1 {
                return writer.write_side_by_side(width, files);
            }
            let write = |file: Result<_>| {
                let (member, file): (ReservedMember<'_>, File) = file?;
                // The other jobs would finish before this file.
                let is_longest = jobs > 1 && member.stamp.len().saturating_mul(jobs as u64) > bytes;
                let hashing = if is_longest { Hashing::Beside } else { Hashing::Here };
                writer.write((member, file), hashing)
            };
            files.map(write).collect()
        })?;
        for (number, placed) in written {
            let entry = entries.get_mut(number).expect("the number is that of an entry");
            entry.placed = Some(placed);
        }
        Ok(())
    }
}

/// The entries that are written in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WriteMode {
    /// No entries: they are only read.
    Nothing,
    /// Short files, up to the first long file without reserved space.
    WhileShort,
    /// All entries.
    All,
}

/// Reads entries and packs them.
struct Worker<'a, 'w> {
    members: PayloadMembers<'a>,
    looker: Looker<'a>,
    packer: Packer<'w>,
    /// Whether this is the second pass.
    is_second: bool,
    /// Buffer for the files of one run.
    room: Vec<u8>,
    /// Maximum size of files that are read as a whole.
    most: u64,
    /// Maximum size of files that are packed here.
    largest: u64,
}

/// Entries that were read.
struct Run<'e> {
    entries: &'e mut [SourceEntry],
    /// Whether each entry is in the batch.
    held: Vec<bool>,
    batch: Batch,
    looked: Vec<Content>,
}

impl Worker<'_, '_> {
    fn progress(&self, entry: &SourceEntry) {
        let progress = &self.members.options.progress;
        progress.at(entry.path.as_str());
        progress.done(1);
    }

    fn pack<'e>(&mut self, entries: &'e mut [SourceEntry], is_packed: bool) -> Result<Run<'e>> {
        let mut batch = Batch::default();
        self.room.clear();
        let (mut held, mut ranges, mut looked) = (Vec::new(), Vec::new(), Vec::new());
        for entry in &mut *entries {
            let start = self.room.len();
            let is_packed = is_packed && entry.placed.is_none() && !is_aside(entry.path.as_str());
            let was_seen = entry.stamp().is_some();
            let most = if is_packed { self.most } else { 0 };
            looked.push(self.looker.look(entry, most, &mut self.room)?);
            let is_held = is_packed
                && match &entry.source {
                    EntrySource::Implied | EntrySource::Kept(_) => false,
                    _ if entry.size() > self.largest => false,
                    _ if entry.size() > self.most => {
                        self.progress(entry);
                        self.packer.pack_large(self.members.content(entry)?, &mut batch)?;
                        held.push(true);
                        continue;
                    }
                    EntrySource::File(Some(stamp)) if was_seen => {
                        append_all(&mut self.looker.open(&entry.path)?, stamp, &mut self.room)?;
                        true
                    }
                    EntrySource::InMemory(content) => {
                        self.room.extend_from_slice(content);
                        true
                    }
                    EntrySource::Directory | EntrySource::File(_) => true,
                };
            held.push(is_held);
            if is_held && self.is_second && !matches!(entry.source, EntrySource::Directory) {
                self.progress(entry);
            }
            if is_held {
                ranges.push(start..self.room.len());
            }
        }
        let content = |range| self.room.get(range).expect("the range was filled");
        let contents: Vec<&[u8]> = ranges.into_iter().map(content).collect();
        self.packer.pack(&contents, &mut batch)?;
        if !self.is_second {
            self.members.options.progress.done(entries.len());
        }
        Ok(Run { entries, held, batch, looked })
    }
}
