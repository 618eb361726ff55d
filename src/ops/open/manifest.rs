//! The manifest that the files of an opened pack are held against, one after the other.
//!
//! Of a long one that is in order little is read to find the line of a file. Otherwise, whoever asks about one or
//! two files has the text pass by; with the third it is kept, and an index of it.

use std::io::{self, BufRead};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::super::bag::TagRules;
use super::super::manifest_text::{
    BY_PREFERENCE, ManifestText, RootFiles as _, rules, undecodable,
};
use super::super::manifests::longest;
use super::Pack;
use crate::archive::{Archive, Member, Method};
use crate::digest::{Algorithm, Digest};
use crate::error::{Error, Result};
use crate::manifest::{ManifestFault, NameEncoding};
use crate::manifest_bisect;
use crate::manifest_lookup::{ManifestIndex, Passing, Unclear};
use crate::pack;
use crate::path::MemberPath;

/// How often the text passes by before it is worth an index.
const PASSES: usize = 2;

/// How often a line is looked for where it must stand, before the index.
const SEARCHES: usize = 32;

/// Texts from this size on are worth it, which is some thousands of lines; a smaller one is looked through.
const LARGE: u64 = 256 * 1024;

/// A manifest of an opened pack.
#[derive(Debug)]
pub(super) struct PackManifest {
    pub(super) name: String,
    pub(super) algorithm: Algorithm,
    member: Member,
    rules: TagRules,
    passes: AtomicUsize,
    searches: AtomicUsize,
    text: OnceLock<ManifestText<'static>>,
    index: OnceLock<Option<ManifestIndex>>,
}

/// What the manifest says of one file, or what is wrong with its line.
pub(super) type Listing = Result<Option<Digest>, ManifestFault>;

impl PackManifest {
    /// Finds the manifest that a single file is held against.
    pub(super) fn find(pack: &Pack) -> Result<Option<Self>> {
        for algorithm in BY_PREFERENCE {
            let name = pack::manifest_name(algorithm);
            let Some(member) = pack.find_tag(&name)? else { continue };
            // A part of it would seem to list less than it does.
            let longest = longest(&pack.archive)?;
            if member.size > longest {
                return Err(too_long(&name, longest));
            }
            return Ok(Some(Self {
                name,
                algorithm,
                member,
                rules: rules(pack)?,
                passes: AtomicUsize::new(0),
                searches: AtomicUsize::new(0),
                text: OnceLock::new(),
                index: OnceLock::new(),
            }));
        }
        Ok(None)
    }

    /// What it says of one file. Where lines are seen that are not in order, all of it is looked through: another
    /// line may say otherwise.
    pub(super) fn look_up(&self, pack: &Pack, path: &MemberPath) -> Result<Listing> {
        match self.search(pack, path) {
            Some(digest) => Ok(Ok(Some(digest))),
            None => self.look_up_in_all(pack, path),
        }
    }

    /// The same, whatever the order of the lines.
    pub(super) fn look_up_in_all(&self, pack: &Pack, path: &MemberPath) -> Result<Listing> {
        let is_first = self.passes.fetch_add(1, Ordering::Relaxed) < PASSES;
        if is_first
            && self.text.get().is_none()
            && self.may_pass()
            && let Ok(found) = self.pass(pack, path)?
        {
            return Ok(Ok(found));
        }
        let text = self.text(pack)?;
        if is_first {
            return Ok(text.look_up(path));
        }
        let index = self.index.get_or_init(|| text.index());
        Ok(match index {
            Some(index) => index.look_up(text.text(), path),
            None => text.look_up(path),
        })
    }

    /// Has all of the text looked through from here on.
    pub(super) fn expect_many(&self) {
        self.searches.store(SEARCHES, Ordering::Relaxed);
    }

    /// The digest of one file, when little has to be read of the text to find it.
    fn search(&self, pack: &Pack, path: &MemberPath) -> Option<Digest> {
        let is_worth_it = self.member.size >= LARGE
            && self.text.get().is_none()
            && self.may_pass()
            && self.searches.load(Ordering::Relaxed) < SEARCHES;
        if !is_worth_it {
            return None;
        }
        // What is wrong with it, the whole text says.
        let (file, offset) = pack.archive.stored(&self.member).ok().flatten()?;
        self.searches.fetch_add(1, Ordering::Relaxed);
        let read = |bytes: &mut [u8], at: u64| file.read_exact_at(bytes, offset.saturating_add(at));
        let found =
            manifest_bisect::find(self.algorithm, self.rules.names, self.member.size, read, path);
        found.ok().flatten()
    }

    /// Whether the text can be looked through as it stands, and more than once.
    fn may_pass(&self) -> bool {
        self.rules.names == NameEncoding::Gnu && self.member.method != Method::Solid
    }

    fn pass(&self, pack: &Pack, path: &MemberPath) -> Result<Passed> {
        let passed = pass(&pack.archive, &self.member, self.algorithm, self.rules.names, path)?;
        passed.map_err(|error| pack.unreadable(&self.name, error))
    }

    fn text(&self, pack: &Pack) -> Result<&ManifestText<'static>> {
        if let Some(text) = self.text.get() {
            return Ok(text);
        }
        let text = pack.text(&self.member, &self.name)?;
        let text = ManifestText::decode(self.name.as_str(), self.algorithm, self.rules, text);
        let text = text.map_err(|finding| pack.damaged(undecodable(finding)))?;
        Ok(self.text.get_or_init(|| text))
    }
}

/// What a text says of a file when it passes by.
type Passed = Result<Option<Digest>, Unclear>;

/// Has a manifest pass by.
fn pass(
    archive: &Archive,
    manifest: &Member,
    algorithm: Algorithm,
    names: NameEncoding,
    path: &MemberPath,
) -> Result<io::Result<Passed>> {
    let new = || Passing::new(algorithm, names, path);
    let parts = archive.by_lines(manifest, new, Passing::take);
    if let Some(whole) = parts.and_then(|parts| parts.into_iter().reduce(Passing::followed_by)) {
        return Ok(Ok(whole.finish()));
    }
    let mut passing = new();
    let mut reader = archive.read(manifest)?;
    loop {
        let block = match reader.fill_buf() {
            Ok([]) => return Ok(Ok(passing.finish())),
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Ok(Err(error)),
        };
        passing.take(block);
        let count = block.len();
        reader.consume(count);
    }
}

/// The error of a text that is longer than what is read.
pub(super) fn too_long(name: &str, longest: u64) -> Error {
    Error::Unsupported(format!(
        "`{}` is longer than the {longest} bytes that are read",
        crate::path::escape(name)
    ))
}
