//! A tar file, plain or compressed as a whole.

use std::io::{self, Read as _};
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use super::data::{Blocks, MemberReader, Positioned, Stretch};
use super::names;
use super::revisit::{self, Revisit, Shown, look_at_each};
use super::stream::{Decoder, StreamCompression, StreamFault};
use super::stream_contents::{Entries, StreamContents, entries};
use super::tar::{Seeking, TarEntry, TarFault, TarFaultKind, TarKind, TarReader};
use super::{Container, Keep, Location, Member, MemberKind, Method, Scan, Visit};
use crate::allowance::Allowance;
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::file_kind::{FileKind, SNIFFED};
use crate::finding::{Code, Finding};
use crate::fs::File;
use crate::path::{MemberPath, PathFault, escape};

/// Takes memory for a member with such a name and so much content, and for what may be wrong with it. The name is kept
/// twice, once in order, and what the header of an array says in some three forms. The end of a name that is longer
/// than a path may be counts for more: it is printed, too.
fn is_room(allowance: &Allowance, name: &[u8], size: u64) -> bool {
    const LONGEST_PATH: u64 = 4096;
    const MEMBER: u64 = 400;
    /// The header of an array of 64 dimensions, or a little more.
    const HEADER: u64 = 600;
    let len = name.len() as u64;
    let name =
        len.saturating_mul(2).saturating_add(len.saturating_sub(LONGEST_PATH).saturating_mul(16));
    allowance.take(name.saturating_add(MEMBER).saturating_add(size.min(HEADER).saturating_mul(3)))
}

/// Members that one job takes at a time.
const STEP: usize = 32;

/// A tar that was opened.
#[derive(Debug)]
pub(crate) struct Tarball {
    file: Arc<File>,
    len: u64,
    compression: StreamCompression,
    /// Every member in the order of the names, or why the tar cannot be walked to its end; found with the first
    /// member that is looked for.
    index: OnceLock<Result<Vec<Member>, Box<Finding>>>,
    /// Held by whoever makes the index.
    indexing: Mutex<()>,
    contents: StreamContents,
}

impl Tarball {
    pub(super) fn open(file: File, compression: StreamCompression) -> Result<Self> {
        let len = file.len()?;
        let file = Arc::new(file);
        let contents = StreamContents::new(Arc::clone(&file), len, compression);
        let (index, indexing) = (OnceLock::new(), Mutex::new(()));
        Ok(Self { file, len, compression, index, indexing, contents })
    }

    /// The memory that its members may take.
    fn allowance(&self) -> Allowance {
        Allowance::of_file(self.len)
    }

    /// Whether the first bytes, once they are decompressed, are those of a tar.
    pub(super) fn begins_as_tar(&self) -> Result<bool> {
        let mut start = [0; SNIFFED];
        match self.decoder().read_exact(&mut start) {
            Ok(()) => Ok(FileKind::of(&start) == FileKind::Tar),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
            // What cannot be decompressed is no tar; what the system refuses says nothing about that.
            Err(error) => self.stream_finding(error).map(|_| false),
        }
    }

    /// The error of more members than memory is taken for. What is wrong with those that were seen may be hidden by
    /// one that was not, so that nothing is said of any.
    fn too_many(&self, allowance: &Allowance) -> Error {
        Error::Unsupported(format!(
            "the members of `{}` take more memory than the {} bytes that an archive of this size may make it \
             take; look into it by `tar`",
            escape(&self.path().to_string_lossy()),
            allowance.limit()
        ))
    }

    pub(super) fn path(&self) -> &Path {
        self.file.path()
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

    fn plain(&self) -> Result<TarReader<Seeking<Positioned>>> {
        let source = Seeking::new(Positioned::new(Arc::clone(&self.file), self.len))
            .map_err(Error::io("read", self.path()))?;
        Ok(TarReader::new(source, Some(self.len)))
    }

    fn stream(&self) -> Entries {
        entries(self.decoder())
    }

    fn decoder(&self) -> Decoder<Positioned> {
        let source = Positioned::new(Arc::clone(&self.file), self.len);
        Decoder::new(source, self.compression)
    }

    pub(super) fn scan<T, K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, T>,
        keep: &Keep<'_, T, K>,
    ) -> Result<Scan<K>> {
        match self.compression {
            StreamCompression::None => self.scan_plain(jobs, visit, keep),
            StreamCompression::Gzip | StreamCompression::Zstd => self.scan_stream(visit, keep),
        }
    }

    /// One thread walks from header to header; the content is then read by all jobs.
    fn scan_plain<T, K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, T>,
        keep: &Keep<'_, T, K>,
    ) -> Result<Scan<K>> {
        let mut reader = self.plain()?;
        let mut members = Vec::new();
        let mut findings = Vec::new();
        // Each entry takes 512 bytes of the file, so that it bounds itself how many there are.
        while let Some(entry) = reader.next_entry().map_err(Error::io("read", self.path()))? {
            findings.extend(unreadable_name(&entry));
            members.extend(self.member(&entry));
        }
        let faults = reader.finish().map_err(Error::io("read", self.path()))?;
        findings.extend(faults.iter().map(finding));
        self.file.progress().expect_files(members.len());
        let looked = look_at_each(
            jobs,
            members,
            STEP,
            || (),
            |(), member, _| {
                let result =
                    is_readable(&member).then(|| visit(&member, &mut self.stretch(&member)));
                Ok(keep(member, result))
            },
        )?;
        Ok(Scan { members: looked.members, findings })
    }

    fn stretch(&self, member: &Member) -> Stretch {
        let start = match member.location {
            Location::At { data } => data,
            _ => self.len,
        };
        Stretch::new(Arc::clone(&self.file), start, member.size)
    }

    fn scan_stream<T, K>(&self, visit: &Visit<'_, T>, keep: &Keep<'_, T, K>) -> Result<Scan<K>> {
        let decoder = self.decoder();
        let oddity = decoder.oddity();
        let mut reader = entries(decoder);
        let mut scan = Scan { members: Vec::new(), findings: Vec::new() };
        let mut buffer = Vec::new();
        let allowance = self.allowance();
        let failed = loop {
            match reader.next_entry() {
                Ok(Some(entry)) => {
                    if !is_room(&allowance, &entry.name, entry.size) {
                        return Err(self.too_many(&allowance));
                    }
                    scan.findings.extend(unreadable_name(&entry));
                    let Some(member) = self.member(&entry) else { continue };
                    let result = is_readable(&member)
                        .then(|| visit(&member, &mut Blocks::new(&mut reader, &mut buffer)));
                    scan.members.push(keep(member, result));
                }
                Ok(None) => break None,
                Err(error) => break Some(error),
            }
        };
        let faults = match failed {
            Some(error) => {
                scan.findings.extend(reader.faults().iter().map(finding));
                Err(error)
            }
            None => reader.finish(),
        };
        match faults {
            Ok(faults) => scan.findings.extend(faults.iter().map(finding)),
            Err(error) => scan.findings.push(self.stream_finding(error)?),
        }
        scan.findings.extend(oddity.get().map(|oddity| {
            Finding::new(Code::OddContainer, oddity.what).at_byte(oddity.offset).hint(
                "pack anew to be rid of it; no manifest covers it, and no content depends on it",
            )
        }));
        Ok(scan)
    }

    /// A stream is decoded again from its beginning to its end, so that no read that the system refuses
    /// goes unnoticed.
    pub(super) fn revisit<R: Revisit>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        visit: &R,
    ) -> Result<Vec<R::Seen>> {
        let changed = || {
            let source = io::Error::other("its members are others than they were before");
            Error::io("read", self.path())(source)
        };
        let mut state = visit.state();
        let mut reader = self.stream();
        let mut buffer = Vec::new();
        let mut results = Vec::with_capacity(wanted.len());
        let mut found = 0..;
        let ended = loop {
            let entry = match reader.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break reader.finish().map(|_| ()),
                Err(error) => break Err(error),
            };
            let Some(member) = self.member(&entry) else { continue };
            let number: Option<usize> = found.next();
            let Some(index) = wanted.get(results.len()).filter(|index| number == Some(**index))
            else {
                continue;
            };
            let before = members.get(*index);
            if before.is_none_or(|before| !is_same(before, &member)) {
                return Err(changed());
            }
            let position = results.len();
            let content = &mut Blocks::new(&mut reader, &mut buffer);
            // One job shows all contents, and none of the others ever has anything to do.
            let is_beside = jobs > 1 && member.size > revisit::BYTES;
            let hashing = if is_beside { Hashing::Beside } else { Hashing::Here };
            results.push(visit.one(&mut state, Shown { position, content, hashing }));
        };
        // What is damaged behind the last member that is wanted, the scan has told.
        let damage = ended.err().map(|error| self.stream_finding(error)).transpose()?;
        match damage {
            _ if results.len() == wanted.len() => Ok(results),
            Some(finding) => Err(Error::damaged(self.path(), finding)),
            None => Err(changed()),
        }
    }

    /// What a fault of the compressed stream says; an error of the file itself is an error.
    fn stream_finding(&self, error: io::Error) -> Result<Finding> {
        let error = match error.downcast::<Error>() {
            Ok(Error::Unsupported(why)) => {
                let path = self.path().to_string_lossy();
                return Err(Error::Unsupported(format!("`{}`: {why}", escape(&path))));
            }
            Ok(refused) => return Err(refused),
            Err(error) => error,
        };
        match error.get_ref().and_then(|inner| inner.downcast_ref::<StreamFault>()) {
            Some(fault) => {
                let (code, offset) = match fault {
                    StreamFault::CutOff { offset, .. } => (Code::NotAnArchive, *offset),
                    StreamFault::Damaged { offset, .. } => (Code::DamagedStream, *offset),
                    StreamFault::Trailing { offset, .. } => (Code::TrailingCompressed, *offset),
                };
                Ok(Finding::new(code, fault.to_string())
                    .at_byte(offset)
                    .hint("compare it with another copy; members before that place may be whole"))
            }
            None => Err(Error::io("read", self.path())(error)),
        }
    }

    /// The member that an entry is: none for the directory that was packed itself, and none for a name
    /// that is not UTF-8, which [`unreadable_name`] reports.
    fn member(&self, entry: &TarEntry) -> Option<Member> {
        // Tars made from `.` name everything below `./`.
        let name = entry.name.strip_prefix(b"./").unwrap_or(&entry.name);
        let name = std::str::from_utf8(name.strip_suffix(b"/").unwrap_or(name)).ok()?;
        let kind = match entry.kind {
            TarKind::File => MemberKind::File,
            TarKind::Directory => MemberKind::Directory,
            TarKind::Symlink { .. } | TarKind::HardLink { .. } => MemberKind::Link,
            TarKind::Special(_) => MemberKind::Special,
        };
        // Other readers make something else of an empty name.
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

    /// Every member in the order of the tar.
    pub(super) fn members(&self) -> Result<Vec<Member>> {
        let mut members = self.index()?.to_vec();
        members.sort_unstable_by_key(begin);
        Ok(members)
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<Member>> {
        let members = self.index()?;
        let from = |name: &str| {
            let before = members.partition_point(|member| &*member.name < name);
            members.iter().skip(before)
        };
        let mut same = from(name).take_while(|member| &*member.name == name);
        let found = same.next();
        if same.next().is_some() {
            return Err(Error::damaged(self.path(), names::twice(name)));
        }
        let inside = format!("{name}/");
        let is_inside = |member: &&Member| member.name.starts_with(&inside);
        if found.is_some_and(|member| member.kind == MemberKind::File)
            && from(&inside).take_while(is_inside).any(|member| *member.name != *inside)
        {
            return Err(Error::damaged(self.path(), names::file_and_directory(name)));
        }
        Ok(found.cloned())
    }

    /// The members by their names.
    fn index(&self) -> Result<&[Member]> {
        let _one = self.indexing.lock().unwrap_or_else(PoisonError::into_inner);
        let index = match self.index.get() {
            Some(index) => index,
            None => {
                let index = match self.walk() {
                    Err(Error::Damaged { finding, .. }) => Err(finding),
                    walked => Ok(walked?),
                };
                self.index.get_or_init(|| index)
            }
        };
        match index {
            Ok(members) => Ok(members),
            Err(finding) => Err(Error::damaged(self.path(), (**finding).clone())),
        }
    }

    /// Looks at every member once. A tar that cannot be walked to its end is an error.
    fn walk(&self) -> Result<Vec<Member>> {
        fn run<S: super::tar::Skip>(
            mut reader: TarReader<S>,
            mut visit: impl FnMut(TarEntry) -> Result<()>,
        ) -> Result<io::Result<Vec<TarFault>>> {
            loop {
                match reader.next_entry() {
                    Ok(Some(entry)) => visit(entry)?,
                    Ok(None) => return Ok(reader.finish()),
                    Err(error) => return Ok(Err(error)),
                }
            }
        }
        let allowance = self.allowance();
        let mut members = Vec::new();
        let visit = |entry: TarEntry| {
            members.extend(self.member(&entry));
            let is_room = is_room(&allowance, &entry.name, entry.size);
            if is_room { Ok(()) } else { Err(self.too_many(&allowance)) }
        };
        let faults = match self.compression {
            StreamCompression::None => run(self.plain()?, visit),
            StreamCompression::Gzip | StreamCompression::Zstd => run(self.stream(), visit),
        }?;
        let worst = match faults {
            Ok(faults) => faults.iter().find(|fault| !fault.is_warning()).map(finding),
            Err(error) => Some(self.stream_finding(error)?),
        };
        if let Some(finding) = worst {
            return Err(Error::damaged(self.path(), finding));
        }
        members.sort_by(|one, other| one.name.cmp(&other.name));
        members.shrink_to_fit();
        Ok(members)
    }

    /// Bytes of a compressed tar that were decoded to reach the contents that were asked for.
    pub(super) fn decoded(&self) -> u64 {
        self.contents.decoded()
    }

    pub(super) fn read(&self, member: &Member) -> Result<MemberReader> {
        let Location::Stream { data } = member.location else {
            return Ok(MemberReader::new(self.stretch(member)));
        };
        match self.contents.read(data, member.size) {
            Ok(Some(reader)) => Ok(reader),
            Ok(None) => Err(Error::NoSuchMember {
                archive: self.path().to_owned(),
                member: member.name.to_string(),
                suggestion: None,
            }),
            Err(error) => Err(Error::damaged(self.path(), self.stream_finding(error)?)),
        }
    }
}

/// Where the content of a member of a tar begins.
fn begin(member: &Member) -> u64 {
    match member.location {
        Location::At { data } | Location::Stream { data } => data,
        Location::Named | Location::Packed { .. } | Location::Listed => u64::MAX,
    }
}

/// Whether two looks at a member saw the same.
fn is_same(one: &Member, other: &Member) -> bool {
    (&one.name, one.kind, one.size) == (&other.name, other.kind, other.size)
}

fn is_readable(member: &Member) -> bool {
    member.kind == MemberKind::File && MemberPath::new(&*member.name).is_ok()
}

/// A name that is not UTF-8. Shown with replaced bytes, it could be taken for another member's.
fn unreadable_name(entry: &TarEntry) -> Option<Finding> {
    let invalid = MemberPath::from_bytes(&entry.name).err()?;
    (invalid.kind == PathFault::NotUtf8).then(|| {
        Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
            .in_member(invalid.path)
            .at_byte(entry.header_offset)
            .hint("rename the file and make the archive anew; the member was not looked at")
    })
}

fn finding(fault: &TarFault) -> Finding {
    use TarFaultKind as Kind;
    let code = match fault.kind {
        Kind::NoEndMark | Kind::LoneZeroBlock => Code::MissingEndMark,
        Kind::Padding => Code::DirtyPadding,
        Kind::AfterEnd => Code::TrailingBytes,
        Kind::SecondArchive => Code::HiddenMember,
        Kind::Checksum { .. } => Code::BadChecksum,
        Kind::BlockCutOff { .. } | Kind::DataCutOff { .. } | Kind::PaddingCutOff { .. } => {
            Code::NotAnArchive
        }
        Kind::Sparse => Code::Unsupported,
        Kind::UnexpectedData { .. } => Code::DirectoryWithData,
        Kind::PaxSize { .. } | Kind::NameConflict { .. } | Kind::SizeBeforeLongName => {
            Code::HeadersDisagree
        }
        Kind::Magic { .. }
        | Kind::Size(_)
        | Kind::LesserNumber { .. }
        | Kind::AfterNul { .. }
        | Kind::UnusedBytes { .. }
        | Kind::LinkNameOfFile
        | Kind::OneNameOfDirectory
        | Kind::FileNamedAsDirectory => Code::BadTarHeader,
        Kind::OldExtension { .. }
        | Kind::ExtensionTooLong { .. }
        | Kind::ExtensionRepeated { .. }
        | Kind::ExtensionDangling { .. }
        | Kind::Pax(_)
        | Kind::LesserRecord(_)
        | Kind::GlobalRecord { .. } => Code::BadExtendedHeader,
    };
    let finding = Finding::new(code, fault.kind.to_string()).at_byte(fault.offset);
    let finding = match &fault.member {
        Some(member) => finding.in_member(member.clone()),
        None => finding,
    };
    if fault.is_warning() { finding.warning() } else { finding }
}
