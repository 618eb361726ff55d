//! The pack as it most often is: its only manifest says exactly what was found, to the byte as `create` writes
//! it, so that no line of it has to be read.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::super::manifests;
use super::Members;
use super::outside::Outside;
use super::proof::is_payload;
use crate::archive::{Member, MemberKind, NameTable};
use crate::digest::Algorithm;
use crate::error::Result;
use crate::manifest::{NameEncoding, each_as_written};
use crate::pack::bag::{DECLARATION, FETCH};
use crate::pack::{self, BAG_DECLARATION, Layout, Placement};

/// What was found of a pack.
pub(super) struct Found<'a> {
    pub(super) outside: Outside<'a>,
    pub(super) members: &'a Members,
    pub(super) names: &'a NameTable,
    pub(super) placement: &'a Placement,
    /// The texts of manifests and tag files by their names in the pack.
    pub(super) texts: &'a BTreeMap<&'a str, &'a [u8]>,
    /// Those that were left in the archive.
    pub(super) left: &'a [(&'a str, &'a Member)],
}

impl Found<'_> {
    /// The name of the manifest of the payload, when it is the only one and says exactly this. No line of it
    /// is at fault then, and none of the rules of a bag that are about its lines is broken.
    pub(super) fn is_listed_exactly(&self) -> Result<Option<String>> {
        if self.outside.options.fast || !self.may_be_exact() {
            return Ok(None);
        }
        let name = pack::manifest_name(Algorithm::Sha256);
        let named = self.texts.keys().chain(self.left.iter().map(|(name, _)| name));
        let mut manifests = named.filter(|name| pack::manifest_algorithm(name).is_some());
        if manifests.next() != Some(&&*name) || manifests.next().is_some() {
            return Ok(None);
        }
        if !self.names.names().any(|name| self.is_payload(name)) {
            return Ok(None);
        }
        let inner = match self.left.iter().find(|(left, _)| *left == name) {
            Some((_, member)) => self.is_text(member)?,
            None => {
                let text = self.texts.get(&*name).copied().unwrap_or_default();
                self.is_in(&mut &*text).unwrap_or(false)
            }
        };
        let is_exact = inner
            && match self.outside.manifest() {
                Some((path, Algorithm::Sha256)) => {
                    self.outside.is_manifest_of(&path, |text| self.is_in(text))?
                }
                Some(_) => false,
                None => true,
            };
        Ok(is_exact.then_some(name))
    }

    /// Whether the text of a member that was left in the archive is it.
    fn is_text(&self, member: &Member) -> Result<bool> {
        let mut text = self.outside.archive.read(member)?;
        match self.is_in(&mut text) {
            Ok(is_it) => Ok(is_it),
            // Damage is known from the first reading.
            Err(error) => manifests::unreadable(&member.name, error).map(|_| false),
        }
    }

    fn is_in(&self, text: &mut dyn BufRead) -> std::io::Result<bool> {
        let is_bag = self.placement.layout == Layout::BagIt;
        let names = if is_bag { NameEncoding::Percent } else { NameEncoding::Gnu };
        let files = self.names.iter().filter(|named| self.is_payload(named.name));
        let mut files = files.filter_map(|named| {
            let visited = &self.members.get(named.member)?.visited;
            let name = self.placement.relative(named.name)?;
            match visited {
                Some(visited) => {
                    let digests = visited.digests.as_ref();
                    Some((name, digests.and_then(|digests| digests.by(Algorithm::Sha256))))
                }
                // A bag counts among its files what nobody can read.
                None => (is_bag && named.kind == MemberKind::File).then_some((name, None)),
            }
        });
        let is_listed = each_as_written(Algorithm::Sha256, names, text, |path, digest| {
            files.next() == Some((path.as_str(), Some(*digest)))
        })?;
        Ok(is_listed && files.next().is_none())
    }

    /// Whether nothing but the manifest of the payload speaks of it. Of a bag, the declaration has to be the one
    /// that is written, for it says how the manifest is to be read.
    fn may_be_exact(&self) -> bool {
        if self.placement.layout == Layout::Plain {
            return true;
        }
        let is_left = |wanted: &str| self.left.iter().any(|(name, _)| *name == wanted);
        let names = || self.names.names();
        self.texts.get(BAG_DECLARATION).copied() == Some(DECLARATION.as_bytes())
            && !self.texts.contains_key(FETCH)
            && !is_left(FETCH)
            && names().zip(names().skip(1)).all(|(one, other)| one != other)
    }

    /// Whether a member is one that the manifest has to list, as [`is_payload`] of its name in the pack.
    fn is_payload(&self, name: &str) -> bool {
        match self.placement.layout {
            Layout::Plain => {
                self.placement.relative(name).is_some_and(|name| is_payload(self.placement, name))
            }
            Layout::BagIt => self.placement.payload(name).is_some(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::bag::TagRules;
    use crate::digest::{Algorithm, Digest};
    use crate::manifest::{Manifest, NameEncoding, each_as_written};
    use crate::pack::Layout;
    use crate::pack::bag::{BagVersion, DECLARATION, manifest_notes};
    use crate::path::MemberPath;

    proptest! {
        /// Of what is written of a bag's payload, reading every line would tell nothing else.
        #[test]
        fn what_is_exact_has_no_fault_when_it_is_read(
            names in proptest::collection::btree_set("data/([a-c~*#%$ .()=\\n\\r\\t0-9ADé\u{85}]|SHA256 \\(|\\./|%HOME%){1,8}", 1..6),
        ) {
            let files = names.iter().filter_map(|name| MemberPath::new(name.as_str()).ok());
            let files: Vec<_> =
                files.map(|path| (path.clone(), Digest::sha256(path.as_str().as_bytes()))).collect();
            let text = Manifest::new(Algorithm::Sha256, files.clone()).to_text(NameEncoding::Percent);
            let every = |_: &MemberPath, _: &Digest| true;
            let rules = NameEncoding::Percent;
            prop_assert!(each_as_written(Algorithm::Sha256, rules, &text[..], every).unwrap());
            let rules = TagRules::of(Layout::BagIt, Some(DECLARATION.as_bytes()));
            prop_assert_eq!(rules.names, NameEncoding::Percent);
            prop_assert_eq!(&*rules.decode("", &text).unwrap(), &text[..]);
            let (read, faults) = Manifest::parse(Algorithm::Sha256, rules.names, &text);
            prop_assert_eq!(faults, []);
            prop_assert_eq!(manifest_notes(BagVersion::V1_0, &text), []);
            let read = read.entries().iter().map(|entry| (entry.path.clone(), entry.digest));
            prop_assert!(read.eq(files));
        }
    }
}
