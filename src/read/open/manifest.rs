//! Lookups in the manifest of an open pack.
//!
//! If a manifest is long and sorted, a line is found with binary search, which reads little of it. Any other manifest
//! is read once and kept as an index.

use std::io::Read as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::state::{Pack, PackManifest, once};
use crate::archive::Member;
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::manifest::{ManifestFault, ManifestIndex, NameEncoding, bisect, find_near, ranges_near};
use crate::pack;
use crate::path::MemberPath;
use crate::read::manifests::{self, BY_PREFERENCE, ManifestText, RootFiles as _, longest, rules};

/// Number of binary searches after which an index costs less.
const SEARCHES: usize = 32;

/// Size in bytes from which a manifest is searched and not read whole. It has some hundreds of lines; reading fewer
/// costs as little.
pub(super) const SEARCHED_FROM: u64 = 64 * 1024;

/// Returns the name of a manifest and the length of a line in it without the name of the file.
pub(super) fn line_of(manifest: &str, algorithm: Algorithm) -> (&str, usize) {
    (manifest, 2 * algorithm.digest_len() + 3)
}

/// The digest that the manifest lists for a file, or the problem with its line.
type ListedDigest = Result<Option<Digest>, ManifestFault>;

impl PackManifest {
    /// Returns whether all lines were read.
    pub(super) fn is_indexed(&self) -> bool {
        self.index.get().is_some()
    }

    /// Finds the manifest to check single files against.
    pub(super) fn find(pack: &Pack) -> Result<Option<Self>> {
        for algorithm in BY_PREFERENCE {
            let name = pack::manifest_name(algorithm);
            let Some(member) = pack.find_tag(&name)? else { continue };
            pack.longest_text(&member, &name)?;
            let (searches, index) = (AtomicUsize::new(0), OnceLock::new());
            let rules = rules(pack)?;
            return Ok(Some(Self { name, algorithm, member, rules, searches, index }));
        }
        Ok(None)
    }

    /// Looks up one file. If the search finds lines out of order, all lines are read, because another line may list the
    /// file with another digest.
    pub(super) fn look_up(&self, pack: &Pack, path: &MemberPath) -> Result<ListedDigest> {
        match self.search(pack, path) {
            Some(digest) => Ok(Ok(Some(digest))),
            None => Ok(self.index(pack)?.look_up(path)),
        }
    }

    /// Returns the index of all lines.
    pub(super) fn index(&self, pack: &Pack) -> Result<&ManifestIndex> {
        once(&self.index, || {
            let text = pack.text(&self.member, &self.name)?;
            let text = ManifestText::decode(self.name.as_str(), self.algorithm, self.rules, text);
            Ok(text.map_err(|finding| pack.damaged(*finding))?.index())
        })
    }

    /// Searches for the digest of one file; `None` if the whole manifest must be read.
    fn search(&self, pack: &Pack, path: &MemberPath) -> Option<Digest> {
        let is_worth_it = self.member.size >= SEARCHED_FROM
            && self.rules.names == NameEncoding::Gnu
            && self.index.get().is_none()
            && self.searches.fetch_add(1, Ordering::Relaxed) < SEARCHES;
        if !is_worth_it {
            return None;
        }
        // Reading all of it reports the error.
        let (file, offset) = pack.state.archive.stored(&self.member).ok().flatten()?;
        let read = |bytes: &mut [u8], at: u64| file.read_exact_at(bytes, offset + at).ok();
        let len = self.member.size;
        if file.costly_seek() {
            // Each step of a search would be a request. Lines and members have the same order.
            let own = line_of(&self.member.name, self.algorithm);
            let guess = pack.state.archive.lines_before(path.as_str(), own).ok()??;
            let ranges =
                ranges_near(len, guess).map(|range| range.start + offset..range.end + offset);
            file.fetch(&ranges, 0).ok()?;
            return find_near(self.algorithm, len, read, path, guess);
        }
        bisect(self.algorithm, len, read, path)
    }
}

impl Pack {
    /// Returns the manifest, which is searched once.
    pub(super) fn manifest(&self) -> Result<Option<&PackManifest>> {
        Ok(once(&self.state.known.manifest, || PackManifest::find(self))?.as_ref())
    }

    /// Returns the maximum length to which a text is read. A longer text is an error: a part of it would list too few
    /// files.
    fn longest_text(&self, member: &Member, name: &str) -> Result<u64> {
        let longest = longest(&self.state.archive)?;
        if member.size <= longest {
            return Ok(longest);
        }
        Err(Error::Limit(
            format!("`{}` is longer than the limit of {longest} bytes", crate::path::escape(name))
                .into(),
        ))
    }

    pub(super) fn text(&self, member: &Member, name: &str) -> Result<Vec<u8>> {
        let (longest, mut text) = (self.longest_text(member, name)?, Vec::new());
        let read = self.state.archive.read(member)?.take(longest).read_to_end(&mut text);
        read.map_err(|error| self.unreadable(name, error))?;
        Ok(text)
    }

    /// Returns the name of a member in the manifest.
    pub(super) fn listed_name<'m>(&self, member: &'m Member) -> &'m str {
        let placement = self.state.placement.get();
        placement.and_then(|placement| placement.relative(&member.name)).unwrap_or(&member.name)
    }

    /// Looks up a member before its content is read, because the manifest determines the algorithm of the digest.
    pub(super) fn expected_digest(&self, member: &Member) -> Result<ExpectedDigest> {
        let manifest = self.manifest()?;
        let listing = match manifest {
            Some(manifest) => {
                manifest.look_up(self, &MemberPath::new(self.listed_name(member))?)?
            }
            None => Ok(None),
        };
        let algorithm = manifest.map_or(Algorithm::Sha256, |manifest| manifest.algorithm);
        Ok(ExpectedDigest { algorithm, listing })
    }

    /// Returns the digest that the manifest lists for a member.
    pub(super) fn listed_digest(&self, member: &Member) -> Result<Option<Digest>> {
        let listing = self.expected_digest(member)?.listing;
        self.listed_in(self.manifest()?, listing)
    }

    /// Returns the listed digest, or `None` if the line is not valid.
    pub(crate) fn digest_if_listed(&self, member: &Member) -> Result<Option<Digest>> {
        Ok(self.expected_digest(member)?.listing.ok().flatten())
    }

    fn listed_in(
        &self,
        manifest: Option<&PackManifest>,
        listing: ListedDigest,
    ) -> Result<Option<Digest>> {
        let name = manifest.map_or("", |manifest| &manifest.name);
        listing.map_err(|fault| self.damaged(manifests::fault_finding(name, &fault)))
    }

    /// Returns an error if the manifest does not list the member.
    pub(super) fn must_be_listed(&self, member: &Member, is_listed: bool) -> Result<()> {
        match self.manifest()? {
            Some(manifest) if !is_listed => {
                Err(self.damaged(manifests::unlisted(self.listed_name(member), &manifest.name)))
            }
            _ => Ok(()),
        }
    }

    /// Checks the digest of a member against the manifest. Returns false if the manifest does not list it.
    pub(super) fn check_digest(
        &self,
        member: &Member,
        ExpectedDigest { listing, .. }: ExpectedDigest,
        found: &Digest,
    ) -> Result<bool> {
        let manifest = self.manifest()?;
        let expected = self.listed_in(manifest, listing)?;
        if expected == Some(*found) {
            return Ok(true);
        }
        // Binary search found the line and the member, so other members of this name were not seen.
        self.must_be_alone(member)?;
        let Some((expected, manifest)) = expected.zip(manifest) else { return Ok(false) };
        let name = self.listed_name(member);
        let listing = manifest.index(self)?.look_up(&MemberPath::new(name)?);
        self.listed_in(Some(manifest), listing)?;
        Err(self.damaged(manifests::mismatch(name, &manifest.name, &expected, found)))
    }
}

/// The expected digest of a member, known before its content is read.
#[derive(Debug)]
pub(super) struct ExpectedDigest {
    /// The digest algorithm of the manifest.
    pub(super) algorithm: Algorithm,
    pub(super) listing: ListedDigest,
}
