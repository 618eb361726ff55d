//! The manifests of a pack, and what they list beside what is there.

use std::io::{self, BufRead, Read};
use std::path::Path;
use std::sync::Arc;

use super::super::manifest_text::{ManifestText, RootFiles, rules};
use super::super::manifests::{MAX_MANIFEST, NamedManifest, beside};
use super::super::open::Pack;
use super::super::present::Present;
use super::super::verify::is_payload;
use super::pack::ManifestInfo;
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{self, Finding};
use crate::fs;
use crate::manifest::{each_as_written, goes_on_with};
use crate::pack::{self, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};

/// The manifests of a pack, and the files that they have to list.
pub(super) struct Lists<'a> {
    pub(super) target: &'a Path,
    pub(super) placement: &'a Placement,
    /// Every file by its whole name.
    pub(super) files: &'a [Arc<str>],
    pub(super) pack: &'a Pack,
}

/// A manifest in the pack.
struct Inside {
    algorithm: Algorithm,
    info: ManifestInfo,
    /// Its lines, unless they are known to list exactly the files that are there.
    read: Option<NamedManifest>,
}

impl Lists<'_> {
    /// Holds every manifest against the names of the files, and the one outside against its like inside.
    pub(super) fn check(&self, findings: &mut Vec<Finding>) -> Result<Vec<ManifestInfo>> {
        let beside = beside(self.target, EXTERNAL_MANIFEST_SUFFIX);
        let outside = fs::exists(&beside).then_some(&*beside);
        let mut is_same = false;
        let mut inside = Vec::new();
        for name in self.names() {
            let Some(algorithm) = pack::manifest_algorithm(name) else { continue };
            let like = outside.filter(|_| algorithm == Algorithm::Sha256);
            if let Some(entries) = self.lists_exactly(name, algorithm, like) {
                is_same |= like.is_some();
                let info = described(name, algorithm, entries);
                inside.push(Inside { algorithm, info, read: None });
                continue;
            }
            let text = match RootFiles::read(self.pack, name) {
                Ok(text) => text.unwrap_or_default(),
                Err(Error::Damaged { finding, .. }) => {
                    findings.push(*finding);
                    continue;
                }
                Err(error) => return Err(error),
            };
            // The same text is not parsed twice.
            is_same |= like.map(|path| fs::holds(path, &text)).transpose()?.unwrap_or(false);
            if let Ok(text) = ManifestText::decode(name, algorithm, rules(self.pack)?, text) {
                let read = text.parse(findings);
                let info = described_as_read(&read);
                inside.push(Inside { algorithm, info, read: Some(read) });
            }
        }
        let strongest = inside.iter().map(|inside| inside.algorithm).max();
        let no_digests = || self.names().map(|name| (name, None));
        let before = findings.len();
        for named in inside.iter().filter_map(|inside| inside.read.as_ref()) {
            // Of several, only the strongest of a plain pack has to be complete; a bag has rules of its own.
            let is_complete = Some(named.manifest.algorithm()) == strongest
                && (self.placement.layout == Layout::Plain || inside.len() == 1);
            let must_list = |name: &str| is_complete && is_payload(self.placement, name);
            named.check(&Present::new(no_digests()), must_list, findings);
        }
        let mut all: Vec<_> = inside.iter().map(|inside| inside.info.clone()).collect();
        if let Some(path) = outside {
            let like = inside.iter().find(|inside| inside.algorithm == Algorithm::Sha256);
            all.push(self.outside(path, like, is_same, findings)?);
        }
        let of_manifests = findings.get_mut(before..).unwrap_or_default();
        finding::rename(of_manifests, |name| self.placement.shown_relative(name));
        Ok(all)
    }

    /// Every file by its name in the pack.
    fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.files.iter().filter_map(|name| self.placement.relative(name))
    }

    /// How many lines a manifest has that lists the files of the payload and nothing else, and that says the
    /// same as the one outside if there is one. It is compared while it is read, and no line of it is kept.
    /// What keeps it from being read is for those to say who read it as it is.
    fn lists_exactly(
        &self,
        name: &str,
        algorithm: Algorithm,
        outside: Option<&Path>,
    ) -> Option<u64> {
        let rules = rules(self.pack).ok().filter(|rules| rules.are_usual())?;
        let payload = self.names().filter(|name| is_payload(self.placement, name));
        let mut payload: Vec<_> = payload.collect();
        payload.sort_unstable();
        let count = |text: &mut dyn BufRead| -> io::Result<Option<u64>> {
            let mut left = payload.iter();
            let is_it = each_as_written(algorithm, rules.names, text, |path, _| {
                left.next().is_some_and(|name| *name == path.as_str())
            })?;
            Ok((is_it && left.next().is_none()).then_some(payload.len() as u64))
        };
        let mut text = self.pack.text_of_tag(name).ok()??;
        let Some(outside) = outside else { return count(&mut text).ok()? };
        let mut lines = None;
        let is_same = |file: &mut dyn BufRead| {
            let mut text = Compared { text, file, is_same: true };
            lines = count(&mut text)?;
            Ok(text.is_same && text.file.fill_buf()?.is_empty())
        };
        fs::is_file_of(outside, is_same).ok()?.then_some(lines)?
    }

    /// The manifest beside the archive, which is known to say the same as its like inside, or has to be read.
    fn outside(
        &self,
        path: &Path,
        like: Option<&Inside>,
        is_same: bool,
        findings: &mut Vec<Finding>,
    ) -> Result<ManifestInfo> {
        let name = path.to_string_lossy().into_owned();
        if let Some(like) = like.filter(|_| is_same) {
            let info = like.info.clone();
            return Ok(ManifestInfo { name, outside: true, agrees: Some(true), ..info });
        }
        let text = fs::read_limited(path, MAX_MANIFEST)?;
        let names = rules(self.pack)?.names;
        let outside = ManifestText::outside(name, Algorithm::Sha256, names, text).parse(findings);
        let before = findings.len();
        let like = like.and_then(|like| like.read.as_ref());
        if let Some(like) = like {
            like.compare(&outside, findings);
        }
        let agrees = like.map(|_| findings.len() == before);
        Ok(ManifestInfo { outside: true, agrees, ..described_as_read(&outside) })
    }
}

/// A text that is compared with a file while it is read.
struct Compared<'f, R> {
    text: R,
    file: &'f mut dyn BufRead,
    is_same: bool,
}

impl<R: BufRead> Read for Compared<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Compared<'_, R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.text.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        // What was filled is there without another read.
        let passed = self.text.fill_buf().ok().and_then(|block| block.get(..count));
        let goes_on = passed.is_some_and(|passed| goes_on_with(self.file, passed).unwrap_or(false));
        self.is_same &= goes_on;
        self.text.consume(count);
    }
}

fn described(name: &str, algorithm: Algorithm, entries: u64) -> ManifestInfo {
    let (name, algorithm) = (name.to_owned(), algorithm.name());
    ManifestInfo { name, algorithm, entries, outside: false, agrees: None }
}

fn described_as_read(read: &NamedManifest) -> ManifestInfo {
    let entries = u64::try_from(read.manifest.entries().len()).unwrap_or(u64::MAX);
    described(&read.name, read.manifest.algorithm(), entries)
}
