//! The scan of a pack that operations on whole files begin with: its members, its layout, and the digests in its
//! manifest.

use std::borrow::Cow;
use std::collections::HashMap;
use std::io::{self, BufRead, Read as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::scan::{ambiguous, stage};
use crate::archive::{Archive, Member, MemberKind};
use crate::digest::{Algorithm, DigestTable};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::fs;
use crate::manifest::BlockList;
use crate::pack::{
    self, BAG_DECLARATION, BLOCK_LIST, EXTERNAL_MANIFEST_SUFFIX, Layout, PACK_DOCUMENT, Placement,
};
use crate::path::MemberPath;
use crate::read::manifests::{
    self, BY_PREFERENCE, ManifestText, NamedManifest, RootFiles, beside_archive,
};

/// Number of bytes that show whether a file was generated: more than the first line.
const START: u64 = 256;

/// A pack after a scan for its manifests.
#[derive(Debug)]
pub(crate) struct ListedScan {
    path: PathBuf,
    /// Path of a manifest next to the archive.
    outside: Option<PathBuf>,
    pub(crate) placement: Placement,
    /// All members in the order of the container.
    pub(crate) members: Vec<Member>,
    /// Numbers of the files that can be read.
    pub(crate) files: Vec<usize>,
    /// Files at the root that determine how the pack is read, or an error for each that cannot be read.
    root_files: HashMap<Arc<str>, Result<Vec<u8>, Box<Finding>>>,
    /// Whether the description of the pack was generated from the others.
    pub(crate) has_generated_document: bool,
    /// Whether there is a list of block digests.
    pub(crate) has_block_list: bool,
    /// Errors and warnings about the container and names.
    pub(crate) findings: Vec<Finding>,
}

/// A file after the scan.
enum RootFile {
    Text(Box<io::Result<Vec<u8>>>),
    GeneratedDocument,
    BlockList,
    Nothing,
}

impl ListedScan {
    /// Reads the structure of an archive, its manifests, and the declaration of a bag.
    pub(crate) fn new(archive: &Archive, jobs: usize) -> Result<Self> {
        let progress = archive.progress();
        stage(archive);
        let outside = beside_archive(archive, EXTERNAL_MANIFEST_SUFFIX);
        let texts = RootTexts {
            longest: manifests::longest(archive)?,
            read: AtomicU64::new(0),
            // A manifest next to the archive has precedence over those inside.
            are_kept: !outside.as_ref().is_some_and(|outside| fs::exists(outside)),
        };
        let scan = archive.scan(jobs, |member, content| {
            progress.at(&member.name);
            let seen = texts.read(member, content);
            progress.done(1);
            seen
        })?;
        // Cancellation may have caused read errors.
        progress.check()?;
        let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
        let ambiguous = ambiguous(&scan.findings);
        let mut this = Self {
            path: archive.path().to_owned(),
            outside,
            placement,
            members: Vec::with_capacity(scan.members.len()),
            files: Vec::new(),
            root_files: HashMap::new(),
            has_generated_document: false,
            has_block_list: false,
            findings: scan.findings,
        };
        for (number, (member, seen)) in scan.members.into_iter().enumerate() {
            let (name, relative) = (&member.name, this.placement.relative(&member.name));
            if seen.is_some() && member.kind == MemberKind::File && !ambiguous.contains(&**name) {
                this.files.push(number);
            }
            match seen.unwrap_or(RootFile::Nothing) {
                RootFile::Text(text) => {
                    let unreadable = |error| {
                        manifests::unreadable(name, error).map(|found| Err(Box::new(found)))
                    };
                    let text = text.and_then(|text| texts.check().map(|()| text));
                    this.root_files.insert(Arc::clone(name), text.map(Ok).or_else(unreadable)?);
                }
                RootFile::GeneratedDocument => {
                    this.has_generated_document |= relative == Some(PACK_DOCUMENT);
                }
                RootFile::BlockList => this.has_block_list |= relative == Some(BLOCK_LIST),
                RootFile::Nothing => {}
            }
            this.members.push(member);
        }
        Ok(this)
    }

    /// Returns the digests in the manifest next to the archive, or else in those that the scan read: the preferred one,
    /// and others only while a file has no digest. A damaged manifest becomes a finding and is not used: the files can
    /// still be read, unchecked.
    pub(crate) fn listed(&mut self) -> Result<Vec<ListedDigests>> {
        let mut findings = std::mem::take(&mut self.findings);
        let mut listed = Vec::new();
        let outside = self.outside.take();
        let beside = outside.as_deref().map(manifests::read_beside).transpose()?.flatten();
        let outside = outside.zip(beside).map(|(path, text)| {
            let name = path.to_string_lossy();
            let rules = manifests::rules(self)?;
            Ok(Some(ManifestText::outside(name, Algorithm::Sha256, rules.names, text)))
        });
        let inside = if outside.is_none() { BY_PREFERENCE.as_slice() } else { &[] };
        let inside = inside.iter().map(|algorithm| self.manifest(*algorithm));
        for text in outside.into_iter().chain(inside) {
            match text {
                Err(Error::Damaged { finding, .. }) => findings.push(*finding),
                text => {
                    let Some(text) = text? else { continue };
                    let manifest = self.named(text, &mut findings);
                    listed.push(ListedDigests::new(manifest, &self.placement, &self.members));
                }
            }
            if self.unlisted(&listed).next().is_none() {
                break;
            }
        }
        self.findings = findings;
        self.root_files.clear();
        Ok(listed)
    }

    /// Returns the text of the manifest with an algorithm, if there is one.
    fn manifest(&self, algorithm: Algorithm) -> Result<Option<ManifestText<'_>>> {
        let name = pack::manifest_name(algorithm);
        let Some(text) = self.read(&name)? else { return Ok(None) };
        let text = ManifestText::decode(name, algorithm, manifests::rules(self)?, text);
        text.map(Some).map_err(|finding| self.damaged(*finding))
    }

    /// Parses a manifest. In a bag, names that differ only by normalization are the same.
    fn named(&self, text: ManifestText<'_>, findings: &mut Vec<Finding>) -> NamedManifest {
        let mut named = text.parse(findings);
        if self.placement.layout == Layout::BagIt {
            let files = self.members.iter().filter(|member| member.kind == MemberKind::File);
            let files = files.filter_map(|member| self.placement.relative(&member.name));
            named.rename_normalized(&files.collect(), findings);
        }
        named
    }

    /// Returns the numbers of the files that a manifest must list but none does.
    pub(crate) fn unlisted(&self, listed: &[ListedDigests]) -> impl Iterator<Item = usize> {
        let must_be_listed = |name: &str| match self.placement.relative(name) {
            Some(name) => self.placement.is_payload(name),
            None => self.placement.layout == Layout::Plain,
        };
        self.files.iter().copied().filter(move |number| {
            listed.iter().all(|listed| listed.digests.get(*number).is_none())
                && self.members.get(*number).is_some_and(|member| must_be_listed(&member.name))
        })
    }
}

impl RootFiles for ListedScan {
    fn layout(&self) -> Result<Layout> {
        Ok(self.placement.layout)
    }

    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>> {
        match self.root_files.get(&*self.placement.place_tag(name)) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(Cow::Borrowed(text))),
            Some(Err(finding)) => Err(self.damaged((**finding).clone())),
        }
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(&self.path, finding)
    }
}

/// Reads the files that may be manifests or declare a bag.
struct RootTexts {
    /// Maximum number of bytes of all these files, and the number read so far.
    longest: u64,
    read: AtomicU64,
    /// Whether to keep manifests; otherwise they are read only to detect system errors.
    are_kept: bool,
}

impl RootTexts {
    fn read(&self, member: &Member, content: &mut dyn BufRead) -> RootFile {
        // The name at the root, or in a single directory that contains the whole pack.
        let name = member.name.split_once('/').map_or(&*member.name, |(_, last)| last);
        let is_manifest = pack::manifest_algorithm(name).is_some();
        let limit = self.longest.saturating_add(1);
        let last = name.rsplit('/').next();
        if matches!(last, Some(PACK_DOCUMENT | BLOCK_LIST)) {
            let mut start = Vec::new();
            // A file that cannot be read is reported by the comparison.
            let _ = content.take(START).read_to_end(&mut start);
            return match last {
                Some(PACK_DOCUMENT) if pack::is_generated(&start) => RootFile::GeneratedDocument,
                Some(BLOCK_LIST) if BlockList::is_begun_by(&start) => RootFile::BlockList,
                _ => RootFile::Nothing,
            };
        }
        if is_manifest && !self.are_kept {
            let read = io::copy(&mut content.take(limit), &mut io::sink());
            return read
                .err()
                .map_or(RootFile::Nothing, |error| RootFile::Text(Box::new(Err(error))));
        }
        if !is_manifest && name.rsplit('/').next() != Some(BAG_DECLARATION) {
            return RootFile::Nothing;
        }
        let mut text = Vec::new();
        let read = content.take(limit).read_to_end(&mut text);
        self.read.fetch_add(text.len() as u64, Ordering::Relaxed);
        RootFile::Text(Box::new(read.and_then(|_| self.check()).map(|()| text)))
    }

    /// Returns an error if the texts are too long together. Their order is random, so none of them is used.
    fn check(&self) -> io::Result<()> {
        let longest = self.longest;
        if self.read.load(Ordering::Relaxed) <= longest {
            return Ok(());
        }
        let why = format!("the manifests are longer than the limit of {longest} bytes");
        Err(io::Error::other(why))
    }
}

/// The digests that a manifest lists for the members of an archive. Entries of the manifest are not kept, because they
/// take more memory than members.
pub(crate) struct ListedDigests {
    /// Name of the manifest.
    pub(crate) name: String,
    /// Digests by the numbers of the members.
    pub(crate) digests: DigestTable,
    /// Listed paths that are not in the archive, with their lines.
    missing: Vec<(MemberPath, u64)>,
}

impl ListedDigests {
    fn new(named: NamedManifest, placement: &Placement, members: &[Member]) -> Self {
        let NamedManifest { name, manifest } = named;
        let mut digests = DigestTable::new(manifest.algorithm(), members.len());
        let mut missing: Vec<_> = manifest.entries().iter().map(Some).collect();
        for (number, member) in members.iter().enumerate() {
            let relative = placement.relative(&member.name);
            // A member outside the pack may be listed with its full name.
            let path = relative.unwrap_or(&member.name);
            let at = manifest.entries().binary_search_by(|entry| entry.path.as_str().cmp(path));
            if let Some((entry, missing)) =
                at.ok().and_then(|at| manifest.entries().get(at).zip(missing.get_mut(at)))
            {
                digests.set(number, &entry.digest);
                *missing = missing.filter(|_| relative.is_none());
            }
        }
        let missing = missing.into_iter().flatten();
        let missing = missing.map(|entry| (entry.path.clone(), entry.line)).collect();
        Self { name, digests, missing }
    }

    /// Returns a finding for each listed file that is not in the archive.
    pub(crate) fn missing(&self) -> impl Iterator<Item = Finding> {
        let missing = self.missing.iter();
        missing.map(|(path, line)| manifests::missing(path.as_str(), &self.name, *line))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use proptest::prelude::*;

    use super::*;
    use crate::archive::{Location, Method};
    use crate::digest::Digest;
    use crate::manifest::Manifest;

    /// Makes a member with only a name.
    fn member(name: String) -> Member {
        Member {
            name: name.into(),
            kind: MemberKind::File,
            size: 0,
            packed_size: 0,
            method: Method::Stored,
            location: Location::Listed,
        }
    }

    proptest! {
        #[test]
        fn members_get_the_digests_that_looking_up_each_finds(
            listed in proptest::collection::btree_set("[ab]{1,2}(/[ab!]{1,2})?", 0..20),
            names in proptest::collection::vec("(x/)?[ab]{0,2}(/[ab!]{1,2})?", 0..20),
            in_directory in any::<bool>(),
        ) {
            let paths = listed.iter().map(|path| MemberPath::new(path.as_str()).unwrap());
            let digests = paths.map(|path| (path.clone(), Digest::sha256(path.as_str().as_bytes())));
            let manifest = Manifest::new(Algorithm::Sha256, digests);
            let members: Vec<_> = names.into_iter().map(member).collect();
            let placement = if in_directory { Placement::bag("x") } else { Placement::plain() };
            let named = NamedManifest { name: "m".to_owned(), manifest: manifest.clone() };
            let found = ListedDigests::new(named, &placement, &members);
            for (number, member) in members.iter().enumerate() {
                let listed_as = placement.relative(&member.name).unwrap_or(&member.name);
                let expected = manifest.get(listed_as).map(|entry| entry.digest);
                prop_assert_eq!(found.digests.get(number), expected);
            }
            let there: HashSet<&str> =
                members.iter().filter_map(|member| placement.relative(&member.name)).collect();
            let expected = manifest.entries().iter().map(|entry| entry.path.as_str());
            let expected: Vec<_> = expected.filter(|path| !there.contains(path)).collect();
            let missing: Vec<_> = found.missing.iter().map(|(path, _)| path.as_str()).collect();
            prop_assert_eq!(missing, expected);
        }
    }
}
