//! The pack as it most often is: its only manifest says exactly what was found, to the byte as `create` writes
//! it, so that no line of it has to be read.

use std::collections::BTreeMap;
use std::io::BufRead;

use super::super::manifests;
use super::Members;
use super::outside::Outside;
use super::proof::is_payload;
use crate::archive::{Member, NameTable};
use crate::digest::Algorithm;
use crate::error::Result;
use crate::fs;
use crate::manifest::{self, NameEncoding};
use crate::pack::{self, Layout, Placement};

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
    /// The name of the manifest, when it is the only one and says exactly this.
    pub(super) fn is_listed_exactly(&self) -> Result<Option<String>> {
        if self.placement.layout != Layout::Plain || self.outside.options.fast {
            return Ok(None);
        }
        let name = pack::manifest_name(Algorithm::Sha256);
        let named = self.texts.keys().chain(self.left.iter().map(|(name, _)| name));
        let mut manifests = named.filter(|name| pack::manifest_algorithm(name).is_some());
        if manifests.next() != Some(&&*name) || manifests.next().is_some() {
            return Ok(None);
        }
        if !self.names_in_order().any(|name| is_payload(self.placement, name)) {
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
                Some((path, Algorithm::Sha256)) => fs::is_file_of(&path, |text| self.is_in(text))?,
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
        let files = self.names.iter().filter_map(|named| {
            let (_, visited) = self.members.get(named.member)?;
            let name = self.placement.relative(named.name)?;
            let digests = visited.as_ref()?.digests.as_ref();
            let digest = digests.and_then(|digests| digests.by(Algorithm::Sha256));
            is_payload(self.placement, name).then_some((name, digest))
        });
        manifest::is_text_of(text, NameEncoding::Gnu, files)
    }

    fn names_in_order(&self) -> impl Iterator<Item = &str> {
        self.names.names().filter_map(|name| self.placement.relative(name))
    }
}
