//! Members of the payload, made from files and directories of the source.
//!
//! One pass over the source reads every file and writes small files at once: opening a small file takes longer than
//! reading it, and the bytes that are checked are then the bytes that are packed. The pass also decides how each entry is
//! written. If members are stored, it only reserves space for large files. If they are compressed, it stops writing at
//! the first large file. The rest is written after all checks.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::io::{BufReader, Cursor};
use std::iter;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::options::{CreateOptions, FIXED_TIME};
use crate::archive::{
    Alignment, Archive, ArchiveWriter, Batch, Container, How, MemberKind, MemberReader, NewContent,
    NewMember, PackedMember, Packer, ReservedMember, SHORT, SMALL,
};
use crate::digest::{Algorithm, Hashing, at_once, width};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs::{self, File, Stamp};
use crate::pack::{self, Content, Layout, PACK_DOCUMENT, Placement};
use crate::path::{self, MemberPath};
use crate::pipeline;
use crate::read::manifests::MAX_MANIFEST;
use crate::verify::Shard;
use crate::write::survey::{EntryReader, EntrySource, SourceEntry, Survey};

/// Number of files that one worker takes at a time.
const FILES: usize = 32;
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
    name == PACK_DOCUMENT || pack::is_reserved(name)
}

impl<'a> PayloadMembers<'a> {
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
            align: None,
        })
    }

    /// Decides how an entry that was read is written.
    pub(super) fn how(self, entry: &SourceEntry) -> Option<How> {
        let is_file = match entry.source {
            EntrySource::Implied | EntrySource::File(None) | EntrySource::Written(_) => {
                return None;
            }
            _ if is_aside(entry.path.as_str()) => return None,
            EntrySource::Kept(_) => return Some(How::Kept),
            EntrySource::File(Some(_)) => true,
            EntrySource::Directory | EntrySource::InMemory(_) => false,
        };
        Some(How::of(entry.size(), is_file, self.container, self.options.compression))
    }

    /// Returns the entry for a text that was generated.
    pub(super) fn in_memory(self, path: MemberPath, text: String) -> SourceEntry {
        let mut entry = SourceEntry::new(path, EntrySource::InMemory(text.into_bytes().into()));
        entry.how = self.how(&entry);
        entry
    }

    /// Returns the member for an entry.
    pub(super) fn of(self, entry: &SourceEntry) -> NewMember<'_> {
        let own_time = entry.stamp().filter(|_| self.options.preserve_mtime).map(Stamp::modified);
        let is_directory = matches!(entry.source, EntrySource::Directory);
        NewMember {
            path: self.placement.placed(entry.path.as_str()),
            kind: if is_directory { MemberKind::Directory } else { MemberKind::File },
            size: entry.size(),
            modified: own_time.unwrap_or_else(|| self.time()),
            align: match entry.how {
                Some(How::Reserved) if self.options.clone => Some(Alignment::BLOCKS),
                _ => entry.header_len.map(|len| Alignment::of_data(len.into())),
            },
        }
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
            (Some(EntrySource::Written(written)), _) => Ok(Box::new(written.read())),
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

    /// Reads all entries, and decides how each is written. If `is_written`, they are also written, up to the first that
    /// is packed after all checks.
    pub(super) fn survey(
        self,
        mut entries: Vec<SourceEntry>,
        findings: Vec<Finding>,
        writer: &mut ArchiveWriter<'_>,
        is_written: bool,
    ) -> Result<Survey> {
        self.options.progress.expect_files(entries.len());
        let is_over = AtomicBool::new(!is_written);
        let mut contents = Vec::new();
        let look = |worker: &mut Worker<'_, '_>, entries| {
            worker.read_run(entries, !is_over.load(Ordering::Relaxed))
        };
        let (workers, worker) = (writer.workers(false), self.worker(writer));
        let take = |(entries, batch, looked): (&mut [SourceEntry], Batch, Vec<Content>)| {
            contents.push(looked);
            let mut packed = batch.members();
            for entry in entries {
                if !entry.how.is_none_or(How::is_early) {
                    is_over.store(true, Ordering::Relaxed);
                }
                if is_over.load(Ordering::Relaxed) {
                    break;
                }
                self.add(entry, &mut packed, writer)?;
            }
            Ok(())
        };
        pipeline::ordered(workers, entries.chunks_mut(FILES), worker, look, take)?;
        Ok(Survey::collect(entries, contents, findings))
    }

    /// Writes the entries that were not written while all were read, or reserves space for them.
    pub(super) fn write_rest(
        self,
        entries: &mut [SourceEntry],
        writer: &mut ArchiveWriter<'_>,
    ) -> Result<()> {
        let is_left = |entry: &SourceEntry| entry.placed.is_none() && entry.how.is_some();
        let Some(first) = entries.iter().position(is_left) else { return Ok(()) };
        let mut left = entries.split_at_mut(first).1;
        let bytes = left.iter().map(SourceEntry::size).fold(0, u64::saturating_add);
        let files = left.iter().filter(|entry| !matches!(entry.source, EntrySource::Directory));
        self.options.progress.stage("packing", bytes, files.count() as u64);
        let runs = iter::from_fn(|| {
            let mut bytes = 0_u64;
            let fits = |entry: &&SourceEntry| {
                bytes = bytes.saturating_add(entry.size());
                bytes <= BYTES && entry.size() <= SMALL
            };
            // Each large file is a run of its own.
            let count = left.iter().take(FILES).take_while(fits).count().max(1).min(left.len());
            let run;
            (run, left) = std::mem::take(&mut left).split_at_mut(count);
            (count > 0).then_some(run)
        });
        let (workers, worker) = (writer.workers(true), self.worker(writer));
        let take = |(entries, batch): (&mut [SourceEntry], Batch)| {
            let mut packed = batch.members();
            entries.iter_mut().try_for_each(|entry| self.add(entry, &mut packed, writer))
        };
        pipeline::ordered(workers, runs, worker, Worker::pack, take)
    }

    /// Returns a constructor of workers.
    fn worker<'w>(
        self,
        writer: &ArchiveWriter<'w>,
    ) -> impl Fn() -> Worker<'a, 'w> + Sync + use<'a, 'w> {
        let packers = writer.packers();
        move || Worker {
            members: self,
            reader: EntryReader::new(self.source, self.options.dereference, &self.options.progress),
            packer: packers(),
            room: Vec::new(),
        }
    }

    /// Adds an entry in its turn. If a worker packed it, it is the next of `packed`.
    fn add<'p>(
        self,
        entry: &mut SourceEntry,
        packed: &mut impl Iterator<Item = PackedMember<'p>>,
        writer: &mut ArchiveWriter<'_>,
    ) -> Result<()> {
        let Some(how) = entry.how else { return Ok(()) };
        let member = self.of(entry);
        if !path::is_valid(&member.path) {
            MemberPath::new(&*member.path)?;
        }
        let placed = match how {
            How::AtOnce | How::Batch | How::Alone => {
                writer.append(&member, packed.next().expect("a worker packed it"))?
            }
            How::Shared => writer.write(&member, self.content(entry)?)?,
            How::Reserved => writer.reserve(&member)?,
            How::Kept => {
                let EntrySource::Kept(kept) = &entry.source else {
                    unreachable!("only members of an older archive are kept");
                };
                let file = self.old.and_then(Archive::file);
                let file = file.expect("kept members are in an archive");
                writer.copy(&member, &kept.member, file, kept.digests.clone())?
            }
        };
        entry.placed = Some(placed);
        Ok(())
    }

    /// Finds the place of each entry in the archive, keeps the files with reserved space that belong to `shard`, and
    /// copies these.
    pub(super) fn write_shard(
        self,
        entries: &mut Vec<SourceEntry>,
        writer: &mut ArchiveWriter<'_>,
        algorithms: &[Algorithm],
        shard: Shard,
        jobs: usize,
    ) -> Result<()> {
        for entry in entries.iter_mut().filter(|entry| entry.how.is_some()) {
            entry.placed = Some(writer.reserve(&self.of(entry))?);
        }
        writer.grow()?;
        entries.retain(|entry| entry.how == Some(How::Reserved));
        let sizes: Vec<_> = entries.iter().map(SourceEntry::size).collect();
        let own = shard.of_items(&sizes);
        entries.truncate(own.end);
        entries.drain(..own.start);
        self.write_reserved(entries, writer, algorithms, jobs)
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
        let mut reserved = Vec::new();
        for (number, entry) in entries.iter().enumerate() {
            if let (Some(How::Reserved), Some(stamp)) = (entry.how, entry.stamp()) {
                let placed = entry.placed.as_ref().expect("its space was reserved");
                reserved.push((number, entry, *stamp, placed.record.at));
            }
        }
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
                let member = self.of(entry);
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

/// Reads entries and packs them.
struct Worker<'a, 'w> {
    members: PayloadMembers<'a>,
    reader: EntryReader<'a>,
    packer: Packer<'w>,
    /// The contents of one run.
    room: Vec<u8>,
}

impl Worker<'_, '_> {
    /// Reads the entries of a run, and packs the short ones if `is_packed`.
    fn read_run<'e>(
        &mut self,
        entries: &'e mut [SourceEntry],
        is_packed: bool,
    ) -> Result<(&'e mut [SourceEntry], Batch, Vec<Content>)> {
        let (mut batch, mut looked, mut ranges) = (Batch::default(), Vec::new(), Vec::new());
        self.room.clear();
        for entry in &mut *entries {
            let start = self.room.len();
            let most = if is_packed && !is_aside(entry.path.as_str()) { SHORT } else { 0 };
            looked.push(self.reader.read_entry(entry, most, &mut self.room)?);
            entry.how = self.members.how(entry);
            if is_packed && entry.how == Some(How::AtOnce) {
                ranges.push(start..self.room.len());
            }
        }
        self.pack_room(ranges, &mut batch)?;
        self.members.options.progress.done(entries.len());
        Ok((entries, batch, looked))
    }

    /// Packs the entries of a run that were read before.
    fn pack<'e>(
        &mut self,
        entries: &'e mut [SourceEntry],
    ) -> Result<(&'e mut [SourceEntry], Batch)> {
        let (mut batch, mut ranges) = (Batch::default(), Vec::new());
        let progress = &self.members.options.progress;
        self.room.clear();
        for entry in &*entries {
            let Some(how) = entry.how.filter(|how| *how != How::Reserved) else { continue };
            if !matches!(entry.source, EntrySource::Directory) {
                progress.at(entry.path.as_str());
                progress.done(1);
            }
            let start = self.room.len();
            match how {
                How::AtOnce | How::Batch => {
                    self.reader.read_again(entry, &mut self.room)?;
                    ranges.push(start..self.room.len());
                }
                How::Alone => self.packer.pack_large(self.members.content(entry)?, &mut batch)?,
                How::Shared | How::Reserved | How::Kept => {}
            }
        }
        self.pack_room(ranges, &mut batch)?;
        Ok((entries, batch))
    }

    /// Packs the contents at these ranges of the room.
    fn pack_room(&mut self, ranges: Vec<Range<usize>>, batch: &mut Batch) -> Result<()> {
        let content = |range| self.room.get(range).expect("the range was filled");
        let contents: Vec<&[u8]> = ranges.into_iter().map(content).collect();
        self.packer.pack(&contents, batch)
    }
}
