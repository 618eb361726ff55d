//! The manifest that the files of an opened pack are checked against, one after the other.
//!
//! A long one that is in order is bisected for the line of a file, which reads little of it. Any other is read whole,
//! once, and kept as an index.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::bag::TagRules;
use super::super::manifest_text::{
    BY_PREFERENCE, ManifestText, RootFiles as _, rules, undecodable,
};
use super::super::manifests::longest;
use super::Pack;
use crate::archive::Member;
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::manifest::{ManifestFault, ManifestIndex, NameEncoding, bisect};
use crate::pack;
use crate::path::MemberPath;

/// How often a line is searched by bisection before the index costs less.
const SEARCHES: usize = 32;

/// Texts from this size on, which is some hundreds of lines, are bisected. Reading a smaller one costs as little.
const LARGE: u64 = 64 * 1024;

/// A manifest of an opened pack.
#[derive(Debug)]
pub(super) struct PackManifest {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    member: Member,
    rules: TagRules,
    searches: AtomicUsize,
    index: OnceLock<ManifestIndex>,
}

/// What the manifest says of one file, or what is wrong with its line.
pub(super) type Listing = Result<Option<Digest>, ManifestFault>;

impl PackManifest {
    /// Finds the manifest that a single file is checked against.
    pub(super) fn find(pack: &Pack) -> Result<Option<Self>> {
        for algorithm in BY_PREFERENCE {
            let name = pack::manifest_name(algorithm);
            let Some(member) = pack.find_tag(&name)? else { continue };
            // A part of it would seem to list less than it does.
            let longest = longest(&pack.archive)?;
            if member.size > longest {
                return Err(too_long(&name, longest));
            }
            let (searches, index) = (AtomicUsize::new(0), OnceLock::new());
            return Ok(Some(Self {
                name,
                algorithm,
                member,
                rules: rules(pack)?,
                searches,
                index,
            }));
        }
        Ok(None)
    }

    /// What it says of one file. Where lines are seen that are not in order, all of them are read: another line may
    /// say otherwise.
    pub(super) fn look_up(&self, pack: &Pack, path: &MemberPath) -> Result<Listing> {
        match self.search(pack, path) {
            Some(digest) => Ok(Ok(Some(digest))),
            None => Ok(self.index(pack)?.look_up(path)),
        }
    }

    /// All of its lines.
    pub(super) fn index(&self, pack: &Pack) -> Result<&ManifestIndex> {
        if let Some(index) = self.index.get() {
            return Ok(index);
        }
        let text = pack.text(&self.member, &self.name)?;
        let text = ManifestText::decode(self.name.as_str(), self.algorithm, self.rules, text);
        let text = text.map_err(|finding| pack.damaged(undecodable(finding)))?;
        Ok(self.index.get_or_init(|| text.index()))
    }

    /// The digest of one file, when little has to be read of the text to find it.
    fn search(&self, pack: &Pack, path: &MemberPath) -> Option<Digest> {
        let is_worth_it = self.member.size >= LARGE
            && self.rules.names == NameEncoding::Gnu
            && self.index.get().is_none()
            && self.searches.fetch_add(1, Ordering::Relaxed) < SEARCHES;
        if !is_worth_it {
            return None;
        }
        // What is wrong with it, reading all of it says.
        let (file, offset) = pack.archive.stored(&self.member).ok().flatten()?;
        let read =
            |bytes: &mut [u8], at: u64| file.read_exact_at(bytes, offset.saturating_add(at)).ok();
        bisect(self.algorithm, self.member.size, read, path)
    }
}

/// The error of a text that is longer than what is read.
pub(super) fn too_long(name: &str, longest: u64) -> Error {
    Error::Unsupported(format!(
        "`{}` is longer than the {longest} bytes that are read",
        crate::path::escape(name)
    ))
}
