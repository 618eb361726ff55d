//! Comparison of large files with the digests of their blocks.
//!
//! The blocks of one file are hashed on all cores, several at once on each. If every manifest that is used confirms the
//! list, the blocks prove their file, and the digest of the whole file is not computed.

use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::sync::Arc;

use serde::Serialize;

use super::VerifyOptions;
use super::shard::Chosen;
use crate::archive::{
    Archive, Copying, DataFault, Fault, Location, Member, MemberKind, Method, Sink, Stretch,
};
use crate::digest::{Algorithm, Digests, Hashers, Lane, at_once, hash_side_by_side, width};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs;
use crate::inspect::late::LateFile;
use crate::inspect::visit::Visited;
use crate::manifest::{BlockList, ManifestFault, bisect};
use crate::pack::{self, BAG_DECLARATION, BLOCK_LIST, Content, Layout, PACK_DOCUMENT, Placement};
use crate::path::MemberPath;
use crate::pipeline;
use crate::read::blocks::{self, FileBlocks};
use crate::read::manifests::{self, MAX_MANIFEST, ManifestText, TagRules};

/// Maximum number of findings about files that do not fit the list. A hostile list must not cause millions.
const MOST_FINDINGS: usize = 1000;

/// Files that the digests of their blocks prove.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct ProvedByBlocks {
    /// Bytes per block.
    pub block_size: u64,
    /// Number of files whose blocks were compared with their digests.
    pub files: u64,
    /// Size of these blocks in bytes: of all blocks of the files, or of those in the shard.
    pub bytes: u64,
    /// Number of digests of whole files that were not computed, because the blocks of the file were compared. The option
    /// `full` compares these, too.
    pub unchecked_digests: u64,
}

/// The list of block digests of a pack, and the files that it fits.
pub(super) struct ListedBlocks {
    list: BlockList,
    placement: Placement,
    /// The sizes of the listed files that the list fits, by their names in the container.
    sizes: HashMap<String, u64>,
    /// Whether every manifest that is used confirms the list, so that it can replace the digests of whole files.
    is_proof: bool,
    /// The members that were compared, and how many bytes of each.
    proved: HashMap<Arc<str>, u64>,
}

/// Texts of the pack, by their names there.
type Texts<'a> = HashMap<&'a str, &'a [u8]>;

impl ListedBlocks {
    /// Returns the list among the members that were read, if there is one. Problems become findings.
    pub(super) fn find(
        archive: &Archive,
        options: &VerifyOptions,
        (placement, piped): (&Placement, Option<&[u8]>),
        members: &[(Visited, Content)],
        findings: &mut Vec<Finding>,
    ) -> Result<Option<Self>> {
        let mut texts = Texts::new();
        for (member, _) in members {
            let Some(read) = &member.read else { continue };
            let text = read.extras.as_ref().and_then(|extras| extras.text.as_deref());
            if let Some((name, text)) = placement.relative(&member.name).zip(text) {
                // If there are two, neither is certain; the scan reports them.
                if texts.insert(name, text).is_some() {
                    return Ok(None);
                }
            }
        }
        let Some(text) = texts.get(BLOCK_LIST).copied() else { return Ok(None) };
        let declaration = texts.get(BAG_DECLARATION).copied();
        let rules = TagRules::of(placement.layout, declaration);
        let list = match BlockList::parse(rules.names, text) {
            None => return Ok(None),
            Some(Err(fault)) => {
                findings.push(blocks::bad_line(&fault));
                return Ok(None);
            }
            Some(Ok(list)) => list,
        };
        // A bag is valid only if the digests of whole files are compared (RFC 8493, section 3).
        let is_proof = !options.full
            && placement.layout == Layout::Plain
            && is_confirmed(&texts, rules, text)
            && match options.outside_manifest(archive) {
                None => true,
                Some((path, algorithm)) => {
                    let manifest = match piped {
                        Some(piped) => piped.to_vec(),
                        None => fs::read_limited(&path, MAX_MANIFEST)?,
                    };
                    confirms(&ManifestText::outside("", algorithm, rules.names, manifest), text)
                }
            };
        let (placement, sizes, proved) = (placement.clone(), HashMap::new(), HashMap::new());
        let mut this = Self { list, placement, sizes, is_proof, proved };
        this.fit(members, findings);
        Ok(Some(this))
    }

    /// Compares the list with the names and sizes of the files.
    fn fit(&mut self, members: &[(Visited, Content)], findings: &mut Vec<Finding>) {
        let Self { list, placement, sizes, .. } = self;
        let mut found: HashMap<&str, Option<u64>> = HashMap::new();
        let files = members.iter().filter(|(member, _)| member.kind == MemberKind::File);
        for (member, _) in files {
            let Some(name) = placement.relative(&member.name) else { continue };
            // A name that two members have does not tell the file.
            let size = if found.contains_key(name) { None } else { Some(member.size) };
            found.insert(name, size);
        }
        let mut wrong = Vec::new();
        for path in list.paths().map(MemberPath::as_str) {
            match found.get(path) {
                Some(Some(size)) => {
                    let name = placement.place_tag(path);
                    match FileBlocks::of(list, path, *size, &name) {
                        Ok(_) => drop(sizes.insert(name, *size)),
                        Err(finding) => wrong.push(*finding),
                    }
                }
                // The scan reports names that several members have.
                Some(None) => {}
                None => wrong.push(
                    Finding::new(Code::BadBlockList, "the file has block digests but is missing")
                        .in_member(placement.place_tag(path))
                        .expected("a file", "nothing"),
                ),
            }
        }
        let is_payload = |name: &str| {
            placement.payload(&placement.place_tag(name)).is_some()
                && !matches!(name, PACK_DOCUMENT | BLOCK_LIST)
                && pack::manifest_algorithm(name).is_none()
                && !pack::is_signature(name)
        };
        let mut unlisted: Vec<_> = found
            .iter()
            .filter_map(|(name, size)| {
                Some((*name, size.filter(|size| *size > list.block_size())?))
            })
            .filter(|(name, _)| list.count(name) == 0 && is_payload(name))
            .collect();
        unlisted.sort_unstable();
        wrong.extend(unlisted.into_iter().filter_map(|(name, size)| {
            FileBlocks::of(list, name, size, &placement.place_tag(name))
                .err()
                .map(|finding| *finding)
        }));
        wrong.truncate(MOST_FINDINGS);
        findings.extend(wrong);
    }

    /// Returns whether the blocks of a member prove it, so that the digest of the whole member is not needed.
    pub(super) fn prove(&self, member: &Member) -> bool {
        self.is_proof
            && member.method == Method::Stored
            && member.packed_size == member.size
            && self.sizes.get(&*member.name) == Some(&member.size)
    }

    pub(super) fn block_size(&self) -> u64 {
        self.list.block_size()
    }

    /// Returns the digests of a file that the list fits.
    fn file<'a>(&'a self, name: &'a str) -> FileBlocks<'a> {
        let listed = self.placement.relative(name).unwrap_or(name);
        let blocks = self.sizes.get(name).map(|len| FileBlocks::of(&self.list, listed, *len, name));
        blocks.and_then(Result::ok).expect("the list fits the file")
    }

    /// Returns the numbers of the blocks of a member that are read.
    fn chosen(&self, member: &Member, chosen: &Chosen) -> Range<usize> {
        chosen.blocks(member, self.list.block_size(), self.file(&member.name).digests().len())
    }

    /// Returns the number of bytes per block if files are divided by their blocks.
    pub(super) fn divides(&self) -> Option<u64> {
        self.is_proof.then(|| self.list.block_size())
    }

    /// Adds members whose chosen blocks were compared.
    pub(super) fn count(&mut self, members: &[Member], chosen: &Chosen) {
        for member in members {
            let bytes = self.file(&member.name).bytes(self.chosen(member, chosen));
            self.proved.insert(Arc::clone(&member.name), bytes.end - bytes.start);
        }
    }

    /// Returns the number and size of the members that were compared; `None` if there are none.
    pub(super) fn proved(&self) -> Option<ProvedByBlocks> {
        let sizes = self.proved.values().copied().filter(|bytes| *bytes > 0);
        let (files, bytes) =
            sizes.fold((0, 0_u64), |(files, sum), bytes| (files + 1, sum.saturating_add(bytes)));
        let block_size = self.list.block_size();
        let unchecked_digests = files;
        (files > 0).then_some(ProvedByBlocks { block_size, files, bytes, unchecked_digests })
    }

    /// Hashes the chosen blocks of stored members on all jobs. Returns a finding for each member that is damaged, in
    /// their order.
    pub(super) fn check(
        &self,
        archive: &Archive,
        members: &[Member],
        chosen: &Chosen,
        jobs: usize,
    ) -> Result<Vec<Option<Finding>>> {
        let chosen = members.iter().map(|member| self.chosen(member, chosen));
        let total = chosen.clone().map(|blocks| blocks.len()).sum();
        let blocks =
            chosen.enumerate().flat_map(|(number, blocks)| blocks.map(move |at| (number, at)));
        let width = width(at_once(&[Algorithm::Sha256]), total, jobs);
        let mut hashed = pipeline::lanes(jobs, blocks, |blocks| {
            let contents = blocks.map(|(number, at)| {
                let member = members.get(number).expect("the number is that of a member");
                self.lane(archive, member, (number, at))
            });
            hash_side_by_side(width, None, contents, |label, copying, digests| {
                self.judge(members, label, copying, digests)
            })
        })?;
        hashed.sort_unstable_by_key(|hashed| hashed.label);
        let mut hashed = hashed.into_iter().peekable();
        let findings = members.iter().enumerate().map(|(number, member)| {
            let of_member =
                std::iter::from_fn(|| hashed.next_if(|hashed| hashed.label.0 == number));
            self.finding(member, of_member)
        });
        Ok(findings.collect())
    }

    /// Opens one block.
    fn lane(
        &self,
        archive: &Archive,
        member: &Member,
        label: Label,
    ) -> Result<Result<BlockLane, Hashed>> {
        let progress = archive.progress();
        progress.check()?;
        progress.at(&member.name);
        let stored = archive.stored(member)?;
        let (file, start) = stored.ok_or_else(|| {
            Error::unsupported(format!("`{}` is not stored", crate::path::escape(&member.name)))
        })?;
        let bytes = self.file(&member.name).bytes(label.1..label.1 + 1);
        let content =
            Stretch::new(file, start.saturating_add(bytes.start), bytes.end - bytes.start);
        let content = Copying { content, sink: Checksum::default() };
        Ok(Ok(Lane { label, content, hashers: Hashers::new(&[Algorithm::Sha256]) }))
    }

    /// Compares one block with its digest.
    fn judge(
        &self,
        members: &[Member],
        label: Label,
        copying: Copying<Stretch, Checksum>,
        digests: Result<Digests, Fault>,
    ) -> Result<Hashed> {
        let member = members.get(label.0).expect("the number is that of a member");
        let state = match digests {
            Ok(found) if self.file(&member.name).confirms(label.1, &found) => BlockState::Intact,
            Ok(_) => BlockState::Damaged,
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => {
                BlockState::Unreadable(Box::new(manifests::unreadable(&member.name, error)?))
            }
        };
        Ok(Hashed { label, state, checksum: copying.sink.0 })
    }

    /// Returns the finding about the blocks of one member.
    fn finding(&self, member: &Member, hashed: impl Iterator<Item = Hashed>) -> Option<Finding> {
        let (mut damaged, mut unreadable, mut count) = (Vec::new(), None, 0_usize);
        let mut checksum = crc32fast::Hasher::new();
        for Hashed { label, state, checksum: of_block } in hashed {
            checksum.combine(&of_block);
            count += 1;
            match state {
                BlockState::Intact => {}
                BlockState::Damaged => damaged.push(label.1),
                BlockState::Unreadable(finding) => unreadable = unreadable.or(Some(*finding)),
            }
        }
        if unreadable.is_some() {
            return unreadable;
        }
        let file = self.file(&member.name);
        if let Some(finding) = file.damaged(damaged) {
            return Some(finding);
        }
        let found = checksum.finalize();
        match member.location {
            // The blocks of a divided file are not all here.
            _ if count < file.digests().len() => None,
            Location::Packed { crc: expected, .. } if expected != found => {
                let fault = DataFault::Checksum { expected, found };
                Some(manifests::data_finding(&member.name, &fault.into()))
            }
            _ => None,
        }
    }

    /// Returns the listed files that were hashed as a whole.
    pub(super) fn others(&self, archive: &Archive, chosen: &Chosen) -> Result<OtherFiles> {
        let mut others = OtherFiles::default();
        let mut names: Vec<&str> = self.sizes.keys().map(String::as_str).collect();
        names.retain(|name| !self.proved.contains_key(*name));
        if archive.is_stream() {
            others.packed.extend(names.into_iter().map(Arc::from));
            return Ok(others);
        }
        names.sort_unstable();
        for name in names {
            // A member that cannot be found has been reported.
            let Ok(Some(member)) = archive.find(name) else { continue };
            let fits =
                member.kind == MemberKind::File && self.sizes.get(name) == Some(&member.size);
            if !fits || !chosen.has(&member) {
                continue;
            }
            if member.method == Method::Stored && archive.stored(&member)?.is_some() {
                others.stored.push(member);
            } else {
                others.packed.insert(member.name);
            }
        }
        Ok(others)
    }

    /// Compares the blocks of files that were hashed as a whole, and of which some were read again. The names of those
    /// that do not match their manifest are given as they are shown.
    pub(super) fn compare_others(
        &self,
        archive: &Archive,
        jobs: usize,
        (others, late): (&OtherFiles, &[LateFile]),
        mismatched: &HashSet<String>,
    ) -> Result<Vec<Finding>> {
        let stored = self.check(archive, &others.stored, &Chosen::All, jobs)?;
        let packed = late.iter().filter(|file| others.packed.contains(&file.name));
        let packed = packed.map(|LateFile { name, hashed, .. }| {
            let found = hashed.as_ref().map_or(&[][..], |(digests, _)| digests.blocks());
            self.file(name).compare(found)
        });
        let found = stored.into_iter().chain(packed).flatten();
        let found = found.filter(|finding| finding.code == Code::DamagedBlock);
        Ok(found
            .map(|finding| {
                let name = finding.member.as_deref().unwrap_or_default();
                if mismatched.contains(self.placement.shown(name)) {
                    return finding;
                }
                let message =
                    format!("`{BLOCK_LIST}` does not fit the file, which matches its manifest");
                Finding::new(Code::BadBlockList, message).in_member(name)
            })
            .collect())
    }
}

/// Listed files whose digests were computed.
#[derive(Default)]
pub(super) struct OtherFiles {
    stored: Vec<Member>,
    /// The names of those that can only be read from their beginning.
    pub(super) packed: HashSet<Arc<str>>,
}

/// Returns whether all manifests in a plain pack confirm the list, and at least one of them cannot be forged.
fn is_confirmed(texts: &Texts<'_>, rules: TagRules, list: &[u8]) -> bool {
    let mut is_strong = false;
    for (name, text) in texts {
        let Some(algorithm) = pack::manifest_algorithm(name) else { continue };
        match ManifestText::decode(*name, algorithm, rules, *text) {
            Ok(text) if confirms(&text, list) => is_strong |= !algorithm.is_weak(),
            _ => return false,
        }
    }
    is_strong
}

/// Returns whether a manifest lists the list of block digests with the digest of this text.
fn confirms(text: &ManifestText<'_>, list: &[u8]) -> bool {
    let Ok(path) = MemberPath::new(BLOCK_LIST) else { return false };
    let bytes = text.text();
    let read = |out: &mut [u8], at: u64| {
        let at = usize::try_from(at).ok()?;
        out.copy_from_slice(bytes.get(at..at.checked_add(out.len())?)?);
        Some(())
    };
    let found = Digests::of(&[text.algorithm], list).made_by(text.algorithm);
    let by_search = || bisect(text.algorithm, bytes.len() as u64, read, &path);
    let listed: Result<_, ManifestFault> = match by_search() {
        Some(digest) => Ok(Some(digest)),
        None => text.index().look_up(&path),
    };
    listed.is_ok_and(|listed| listed == Some(found))
}

/// The number of a member and of one of its blocks.
type Label = (usize, usize);

type BlockLane = Lane<Label, Copying<Stretch, Checksum>>;

/// A block that was hashed.
struct Hashed {
    label: Label,
    state: BlockState,
    checksum: crc32fast::Hasher,
}

enum BlockState {
    Intact,
    Damaged,
    Unreadable(Box<Finding>),
}

/// Computes the CRC-32 of a block. Those of all blocks together give the one of the file.
#[derive(Default)]
struct Checksum(crc32fast::Hasher);

impl Sink for Checksum {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.0.update(block);
        Ok(())
    }
}
