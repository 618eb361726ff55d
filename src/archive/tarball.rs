//! A tar file, plain or compressed.

use std::io::{self, Read as _};
use std::sync::{Arc, OnceLock};

#[cfg(feature = "full")]
use super::Take;
use super::data::{MemberReader, Stretch, Window, open};
use super::revisit::{self, Revisit, Shown, look_at_each};
use super::stream::{Oddity, StreamCompression, StreamDecoder, StreamFault};
use super::stream_contents::StreamContents;
use super::tar::{Skip, Streaming, TarEntries, TarEntry, TarFault, TarReader};
use super::{
    Container, Location, Member, MemberKind, Method, Scan, Visit, file_and_directory, twice,
};
use crate::allowance::Allowance;
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, SNIFFED};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::message::Message;
use crate::path::{MemberPath, PathFault, escape};
use crate::pipeline;

/// Length in bytes from which a path takes more memory than its bytes.
const MAX_PATH: u64 = 4096;

/// Bytes of memory for a member without its name.
const MEMBER_MEMORY: u64 = 400;

/// The header of an array of 64 dimensions, rounded up.
const HEADER_MEMORY: u64 = 600;

/// Reserves memory for a member with this name and size, and for its problems. The name is stored twice, once for
/// sorting; the header of an array in about three ways. Names longer than a path count more, because they are also
/// printed.
fn is_room(allowance: &Allowance, name: &[u8], size: u64) -> bool {
    let len = name.len() as u64;
    let name =
        len.saturating_mul(2).saturating_add(len.saturating_sub(MAX_PATH).saturating_mul(16));
    allowance.take(
        name.saturating_add(MEMBER_MEMORY)
            .saturating_add(size.min(HEADER_MEMORY).saturating_mul(3)),
    )
}

/// Number of members that one job takes at a time.
const STEP: usize = 32;

/// Bytes per read when looking for headers in a plain tar. The headers of small members are close together.
const HEADERS: usize = 16 << 10;

/// Starts reading the tar in a file. The second value receives an oddity of the stream, once it is read.
fn entries(
    file: &Arc<File>,
    len: u64,
    (compression, is_stream): (StreamCompression, bool),
) -> (TarEntries, Option<Arc<OnceLock<Oddity>>>) {
    let source = whole(file, len);
    let extensions = Allowance::of_file(len);
    if !is_stream {
        let source: Box<dyn Skip + Send> = Box::new(source.in_blocks_of(HEADERS));
        return (TarReader::new(source, Some(len), extensions), None);
    }
    let decoder = StreamDecoder::new(source, compression);
    let oddity = decoder.oddity();
    let progress = file.progress().clone();
    let blocks = decoder.blocks().map(move |block| {
        // One block may decode to gigabytes, so check for cancellation.
        progress.check().map_err(Error::from)?;
        block
    });
    let source = Streaming::new(pipeline::ahead(AHEAD, blocks));
    (TarReader::new(Box::new(source), None, extensions), Some(oddity))
}

fn whole(file: &Arc<File>, len: u64) -> Stretch {
    Stretch::new(Arc::clone(file), 0, len)
}

/// Number of blocks that are decoded ahead.
const AHEAD: usize = 4;

/// An opened tar.
#[derive(Debug)]
pub(crate) struct Tarball {
    file: Arc<File>,
    len: u64,
    compression: StreamCompression,
    /// Whether it is read once from beginning to end: the headers are between the contents.
    is_stream: bool,
    /// All members sorted by name, created for the first lookup.
    pub(super) index: OnceLock<Vec<Member>>,
    contents: StreamContents,
}

impl Tarball {
    pub(super) fn open(file: File, compression: StreamCompression) -> Result<Self> {
        let len = file.len()?;
        let file = Arc::new(file);
        let again = Arc::clone(&file);
        let is_stream = compression != StreamCompression::None || file.costly_seek();
        let way = (compression, is_stream);
        let contents = StreamContents::new(move || entries(&again, len, way).0);
        Ok(Self { file, len, compression, is_stream, index: OnceLock::new(), contents })
    }

    /// Returns whether the first bytes, decompressed if necessary, are those of a tar.
    pub(super) fn begins_as_tar(&self) -> Result<bool> {
        let mut start = [0; SNIFFED];
        match StreamDecoder::new(whole(&self.file, self.len), self.compression)
            .read_exact(&mut start)
        {
            Ok(()) => Ok(FileKind::of(&start) == FileKind::Tar),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            // Data that cannot be decompressed is not a tar. A system error is returned.
            Err(error) => self.stream_finding(error).map(|_| false),
        }
    }

    /// Creates the error for members that need too much memory. It reports no problems of the members seen so far,
    /// because members not seen could hide them.
    fn too_many(&self, allowance: &Allowance) -> Error {
        let path = self.file.path().to_string_lossy();
        let (path, limit) = (escape(&path), allowance.limit());
        Error::Limit(format!(
            "listing the members of `{path}` needs more than the limit of {limit} bytes for an archive of this size; \
             list them with `tar -tf {path}`"
        ).into())
    }

    pub(super) fn file(&self) -> &Arc<File> {
        &self.file
    }

    pub(super) fn container(&self) -> Container {
        match self.compression {
            StreamCompression::None => Container::Tar,
            StreamCompression::Gzip => Container::TarGz,
            StreamCompression::Zstd => Container::TarZst,
        }
    }

    pub(super) fn is_stream(&self) -> bool {
        self.is_stream
    }

    /// Returns an error for a remote tar that will not be read from its beginning to its end, because its members are
    /// not found in another way.
    fn check_reachable(&self) -> Result<()> {
        if self.file.is_read_whole() {
            return Ok(());
        }
        let problem =
            format!("is a {}, which must be read from its beginning; give ", self.container());
        let message = Message::from(problem).option("download");
        Err(Error::wrong_target(
            self.file.path(),
            message.text(" to read a temporary copy of it, or pack it as a zip"),
        ))
    }

    /// Starts reading the tar. The second value receives an oddity of the stream, once it is read.
    fn entries(&self) -> (TarEntries, Option<Arc<OnceLock<Oddity>>>) {
        entries(&self.file, self.len, (self.compression, self.is_stream))
    }

    pub(super) fn scan<K: Send>(&self, jobs: usize, visit: &Visit<'_, K>) -> Result<Scan<K>> {
        self.check_reachable()?;
        let (mut members, mut kept) = (Vec::new(), Vec::new());
        let mut findings = Vec::new();
        let (entries, oddity) = self.entries();
        let faults = self.walk(entries, |entries, entry| {
            findings.extend(unreadable_name(&entry));
            match self.member(&entry) {
                Some(member) if oddity.is_none() => members.push(member),
                Some(member) if is_readable(&member) => kept.push(visit(&member, Some(entries))),
                Some(member) => kept.push(visit(&member, None)),
                None => {}
            }
            Ok(())
        })?;
        findings.extend(faults);
        let Some(oddity) = oddity else {
            // One thread read all headers; all jobs read the contents.
            self.file.progress().expect_files(members.len());
            let window = || Window::new(Arc::clone(&self.file));
            let look = |window: &mut Window, member: Member, _: &mut _| {
                if is_readable(&member) {
                    window.show(&member, |content| visit(&member, Some(content)))
                } else {
                    Ok(visit(&member, None))
                }
            };
            let Scan { members, .. } = look_at_each(jobs, members, STEP, window, look)?;
            return Ok(Scan { members, findings });
        };
        findings.extend(oddity.get().map(|oddity| {
            Finding::new(Code::OddContainer, oddity.what).at_byte(oddity.offset).hint(
                "pack the files again to remove it; no manifest covers it, and no file is affected",
            )
        }));
        Ok(Scan { members: kept, findings })
    }

    /// Reads the complete tar and returns its problems. Running out of allowed memory is an error.
    fn walk(
        &self,
        mut entries: TarEntries,
        mut visit: impl FnMut(&mut TarEntries, TarEntry) -> Result<()>,
    ) -> Result<Vec<Finding>> {
        let allowance = Allowance::of_file(self.len);
        loop {
            match entries.next_entry() {
                Ok(Some(entry)) if is_room(&allowance, &entry.name, entry.size) => {
                    visit(&mut entries, entry)?;
                }
                Ok(Some(_)) => return Err(self.too_many(&allowance)),
                Ok(None) => break,
                Err(error) => {
                    let mut findings = entries.faults().to_vec();
                    findings.push(self.stream_finding(error)?);
                    return Ok(findings);
                }
            }
        }
        entries.finish().or_else(|error| Ok(vec![self.stream_finding(error)?]))
    }

    /// Visits every file whose header is found, also after damage. Returns the problems of the tar.
    #[cfg(feature = "full")]
    pub(super) fn each_remaining(&self, take: &mut Take<'_>) -> Result<Vec<Finding>> {
        let (allowance, mut entries) = (Allowance::of_file(self.len), self.entries().0.lenient());
        let failed = loop {
            match entries.next_entry() {
                Ok(Some(entry)) if !is_room(&allowance, &entry.name, 0) => {
                    return Err(self.too_many(&allowance));
                }
                Ok(Some(entry)) => {
                    let member = self.member(&entry);
                    if let Some(member) = member.filter(|member| member.kind == MemberKind::File) {
                        take(&member, &mut entries)?;
                    }
                }
                Ok(None) => match entries.resume() {
                    Ok(true) => {}
                    ended => break ended.err(),
                },
                Err(error) => break Some(error),
            }
        };
        let mut findings = entries.faults().to_vec();
        findings.extend(failed.map(|error| self.stream_finding(error)).transpose()?);
        Ok(findings)
    }

    /// Reads contents at known locations. A compressed tar is decoded again from beginning to end, so that every read
    /// error is noticed.
    pub(super) fn revisit<R: Revisit>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        visit: &R,
    ) -> Result<Vec<R::Output>> {
        let changed = || {
            let source = io::Error::other("its members changed since it was first read");
            Error::io("read", self.file.path())(source)
        };
        let mut state = visit.worker();
        let mut results = Vec::with_capacity(wanted.len());
        let mut found = 0_usize..;
        let findings = self.walk(self.entries().0, |content, entry| {
            let Some(member) = self.member(&entry) else { return Ok(()) };
            let (number, position) = (found.next(), results.len());
            let Some(index) = wanted.get(position).filter(|index| number == Some(**index)) else {
                return Ok(());
            };
            if !members.get(*index).is_some_and(|before| is_same(before, &member)) {
                return Err(changed());
            }
            // One job visits all contents, and the others would be idle.
            let is_beside = jobs > 1 && member.size > revisit::BYTES;
            let hashing = if is_beside { Hashing::Beside } else { Hashing::Here };
            results.push(visit.one(&mut state, Shown { position, content, hashing })?);
            Ok(())
        })?;
        // The scan has reported damage after the last wanted member.
        match findings.into_iter().find(Finding::is_error) {
            _ if results.len() == wanted.len() => Ok(results),
            Some(finding) => Err(Error::damaged(self.file.path(), finding)),
            None => Err(changed()),
        }
    }

    /// Converts a fault of the compressed stream to a finding. Errors of the file itself are returned as errors.
    fn stream_finding(&self, error: io::Error) -> Result<Finding> {
        let error = match error.downcast::<Error>() {
            Ok(Error::Unsupported(why)) => {
                let path = self.file.path().to_string_lossy();
                return Err(Error::unsupported(format!("`{}`: {why}", escape(&path))));
            }
            Ok(refused) => return Err(refused),
            Err(error) => error,
        };
        let fault = error.downcast();
        fault.map(|StreamFault(finding)| finding).map_err(Error::io("read", self.file.path()))
    }

    /// Converts an entry to a member. Returns `None` for the root directory and for a name that is not UTF-8, which
    /// [`unreadable_name`] reports.
    fn member(&self, entry: &TarEntry) -> Option<Member> {
        // Tars made from `.` prefix every name with `./`.
        let name = entry.name.strip_prefix(b"./").unwrap_or(&entry.name);
        let name = std::str::from_utf8(name.strip_suffix(b"/").unwrap_or(name)).ok()?;
        let kind = entry.kind;
        // Other readers handle an empty name differently.
        if kind == MemberKind::Directory && matches!(&*entry.name, b"." | b"./") {
            return None;
        }
        let plain = self.compression == StreamCompression::None;
        Some(Member {
            name: name.into(),
            kind,
            size: entry.size,
            packed_size: entry.size,
            method: if plain { Method::Stored } else { Method::Solid },
            location: if plain {
                Location::At { data: entry.data_offset }
            } else {
                Location::Stream { data: entry.data_offset }
            },
        })
    }

    /// Lists all members in the order of the tar.
    pub(super) fn members(&self) -> Result<Vec<Member>> {
        self.check_reachable()?;
        let mut members = self.index()?.to_vec();
        members.sort_unstable_by_key(Member::start);
        Ok(members)
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<Member>> {
        self.check_reachable()?;
        let members = self.index()?;
        let from = |name: &str| {
            let before = members.partition_point(|member| &*member.name < name);
            members.iter().skip(before)
        };
        let mut same = from(name).take_while(|member| &*member.name == name);
        let found = same.next();
        if same.next().is_some() {
            return Err(Error::damaged(self.file.path(), twice(name)));
        }
        let inside = format!("{name}/");
        let is_inside = |member: &&Member| member.name.starts_with(&inside);
        if found.is_some_and(|member| member.kind == MemberKind::File)
            && from(&inside).take_while(is_inside).any(|member| *member.name != *inside)
        {
            return Err(Error::damaged(self.file.path(), file_and_directory(name)));
        }
        Ok(found.cloned())
    }

    /// Returns the members sorted by name.
    fn index(&self) -> Result<&[Member]> {
        match self.index.get() {
            Some(index) => Ok(index),
            None => self.make_index().map(|index| &**self.index.get_or_init(|| index)),
        }
    }

    /// Reads all headers once. An error in the tar is returned.
    fn make_index(&self) -> Result<Vec<Member>> {
        let (mut members, mut end) = (Vec::new(), 0);
        let is_stream = self.compression != StreamCompression::None;
        let findings = self.walk(self.entries().0, |content, entry| {
            members.extend(self.member(&entry));
            if !is_stream {
                return Ok(());
            }
            end = entry.data_offset.saturating_add(entry.size);
            match self.contents.keep(entry.data_offset, entry.size, content) {
                Err(error)
                    if !error
                        .get_ref()
                        .is_some_and(<dyn std::error::Error + Send + Sync>::is::<TarFault>) =>
                {
                    Err(Error::damaged(self.file.path(), self.stream_finding(error)?))
                }
                // A fault of the tar is among the findings.
                _ => Ok(()),
            }
        })?;
        self.contents.note_decoded(end);
        if let Some(finding) = findings.into_iter().find(Finding::is_error) {
            return Err(Error::damaged(self.file.path(), finding));
        }
        members.sort_by(|one, other| one.name.cmp(&other.name));
        members.shrink_to_fit();
        Ok(members)
    }

    /// Returns the number of bytes of a compressed tar that were decoded to list its members and to reach contents.
    pub(super) fn decoded(&self) -> u64 {
        self.contents.decoded()
    }

    pub(super) fn read(&self, member: &Member) -> Result<MemberReader> {
        let Location::Stream { data } = member.location else {
            return open(member, Stretch::of(&self.file, member));
        };
        match self.contents.read(data, member.size) {
            Ok(Some(reader)) => Ok(reader),
            Ok(None) => Err(Error::NoSuchMember {
                archive: self.file.path().to_owned(),
                member: member.name.to_string(),
                suggestion: None,
            }),
            Err(error) => Err(Error::damaged(self.file.path(), self.stream_finding(error)?)),
        }
    }
}

/// Returns whether two reads of a member gave the same values.
fn is_same(one: &Member, other: &Member) -> bool {
    (&one.name, one.kind, one.size) == (&other.name, other.kind, other.size)
}

fn is_readable(member: &Member) -> bool {
    member.kind == MemberKind::File && MemberPath::new(&*member.name).is_ok()
}

/// Reports a name that is not UTF-8. With replaced bytes, it could be mistaken for another name.
fn unreadable_name(entry: &TarEntry) -> Option<Finding> {
    let invalid = MemberPath::from_bytes(&entry.name).err()?;
    (invalid.kind == PathFault::NotUtf8).then(|| {
        Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
            .in_member(invalid.path)
            .at_byte(entry.header_offset)
            .hint("rename the file and make the archive again; the member was not checked")
    })
}
