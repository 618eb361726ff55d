//! What the manifests of a pack prove: in it and outside, of the files and of the archive itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::super::bag::{Bag, Listed, TagRules};
use super::super::manifest_text::ManifestText;
use super::super::manifests::{self, MAX_MANIFEST, NamedManifest, beside};
use super::super::present::Present;
use super::super::signatures;
use super::{VerifyOptions, VerifyReport};
use crate::archive::{Archive, Container};
use crate::digest::Algorithm;
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::fs::{self, File};
use crate::manifest::{self, Manifest, NameEncoding};
use crate::pack::{self, ARCHIVE_DIGEST_SUFFIX, EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};

/// A pack that is held against its manifests.
pub(super) struct Proof<'a> {
    pub(super) archive: &'a Archive,
    pub(super) options: &'a VerifyOptions,
    pub(super) jobs: usize,
    pub(super) placement: &'a Placement,
    pub(super) bag: Option<&'a Bag<'a>>,
    /// The texts of manifests and tag files by their names in the pack.
    pub(super) texts: &'a BTreeMap<&'a str, &'a [u8]>,
}

impl Proof<'_> {
    /// Holds the files against every manifest.
    pub(super) fn check(&self, present: &mut Present<'_>, report: &mut VerifyReport) -> Result<()> {
        let Self { placement, bag, texts, .. } = *self;
        report.signatures = self.signatures(present.names());
        self.check_archive_digest(&mut report.findings)?;
        if let Some(name) = self.is_proved(present)? {
            report.manifests.push(name);
            report.contents_read = true;
            return Ok(());
        }
        let mut payload = Vec::new();
        let mut tags = Vec::new();
        let rules = bag.map_or_else(|| TagRules::of(Layout::Plain, None), |bag| bag.rules);
        for (name, text) in texts {
            let findings = &mut report.findings;
            let mut parse = |algorithm| match bag {
                Some(bag) => bag.manifest(name, algorithm, text, findings),
                None => {
                    let text = ManifestText::decode(*name, algorithm, rules, *text).ok()?;
                    Some(text.parse(findings))
                }
            };
            if let Some(algorithm) = pack::manifest_algorithm(name) {
                payload.extend(parse(algorithm));
            } else if let Some(algorithm) = pack::tag_manifest_algorithm(name)
                && bag.is_some()
            {
                tags.extend(parse(algorithm));
            }
        }
        payload.extend(self.external_manifest(&payload, rules.names, &mut report.findings)?);
        // The manifest stands at the end.
        let is_cut_off = report
            .findings
            .iter()
            .any(|finding| matches!(finding.code, Code::NotAnArchive | Code::DamagedStream));
        let strongest = payload.iter().map(|named| named.manifest.algorithm()).max();
        match strongest {
            None => report.findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing can be proved")
                    .expected("`manifest-sha256.txt`", "none")
                    .hint(if is_cut_off {
                        "take the archive from another copy; what was cut off may have held it"
                    } else {
                        "make one where the files are known to be right: `ra-pack create`"
                    }),
            ),
            Some(algorithm) if algorithm.is_weak() => report.findings.push(
                Finding::new(
                    Code::WeakDigest,
                    format!("the strongest manifest is {}, which can be forged", algorithm.name()),
                )
                .hint("pack it anew: digests by SHA-256 or SHA-512 prove more"),
            ),
            Some(_) => {}
        }
        let is_payload = |name: &str| self.is_payload(name);
        // A bag may be without payload, and then its manifest lists nothing.
        let may_be_empty = present.is_empty()
            || placement.layout == Layout::BagIt && !present.names().any(is_payload);
        for named in payload.iter().filter(|_| !may_be_empty) {
            if named.manifest.entries().is_empty() {
                report.findings.push(
                    Finding::new(Code::EmptyManifest, "the manifest lists nothing")
                        .in_member(named.name.clone()),
                );
            }
        }
        let lists = payload.iter().chain(&tags);
        self.add_digests(lists, present, &mut report.findings)?;
        for named in payload.iter().chain(&tags) {
            report.manifests.push(named.name.clone());
            let algorithm = named.manifest.algorithm();
            let is_tag = tags.iter().any(|tag| std::ptr::eq(tag, named));
            // Only the strongest manifest of a plain pack has to be complete; a bag has its own rules.
            let complete = bag.is_none() && Some(algorithm) == strongest;
            let must_list = |name: &str| complete && !is_tag && is_payload(name);
            named.check(present, must_list, &mut report.findings);
        }
        if let Some(bag) = bag {
            let listed = Listed { payload: &payload, tags: &tags };
            bag.check(&listed, &mut report.findings);
        }
        report.contents_read = !self.options.fast && strongest.is_some();
        Ok(())
    }

    /// Whether the only manifest of a plain pack says of every file exactly what was found, as it is
    /// written by `create`, so that no line of it has to be read. Gives its name.
    fn is_proved(&self, present: &Present<'_>) -> Result<Option<String>> {
        let mut manifests =
            self.texts.keys().filter(|name| pack::manifest_algorithm(name).is_some());
        let name = pack::manifest_name(Algorithm::Sha256);
        let is_only = manifests.next() == Some(&&*name) && manifests.next().is_none();
        let Some(text) = self.texts.get(&*name).filter(|_| is_only && self.bag.is_none()) else {
            return Ok(None);
        };
        let files = present.by(Algorithm::Sha256).filter(|(name, _)| self.is_payload(name));
        let is_proved = !self.options.fast
            && !text.is_empty()
            && manifest::is_text_of(text, NameEncoding::Gnu, files)
            && match self.external_path() {
                Some((path, Algorithm::Sha256)) => fs::holds(&path, text)?,
                Some(_) => false,
                None => true,
            };
        Ok(is_proved.then_some(name))
    }

    /// Whether a manifest has to list the file.
    fn is_payload(&self, name: &str) -> bool {
        match self.placement.layout {
            Layout::Plain => pack::manifest_algorithm(name).is_none() && !pack::is_signature(name),
            Layout::BagIt => self.placement.payload(&self.placement.place_tag(name)).is_some(),
        }
    }

    /// Adds the digests by algorithms that were not known beforehand, by one more pass.
    fn add_digests<'m>(
        &self,
        manifests: impl Iterator<Item = &'m NamedManifest>,
        present: &mut Present<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let made = present.iter().find_map(|(_, digests)| digests).cloned().unwrap_or_default();
        let wanted: BTreeSet<_> = manifests.map(|named| named.manifest.algorithm()).collect();
        let wanted: Vec<_> =
            wanted.into_iter().filter(|algorithm| made.by(*algorithm).is_none()).collect();
        if self.options.fast || wanted.is_empty() {
            return Ok(());
        }
        let scan = self
            .archive
            .scan_files(self.jobs, &|_, content| manifests::digest_reader(content, &wanted))?;
        for (member, more) in scan.members {
            let Some(name) = self.placement.relative(&member.name) else { continue };
            // What could not be read before is a finding already.
            if !present.was_read(name) {
                continue;
            }
            match more {
                Some(Ok(more)) => present.add(name, &more),
                Some(Err(error)) => findings.push(manifests::unreadable(name, error)?),
                None => {}
            }
        }
        Ok(())
    }

    /// The manifest outside, if there is one: where the caller says, or beside the archive.
    fn external_path(&self) -> Option<(PathBuf, Algorithm)> {
        let path = self.wanted_external_path();
        if self.options.manifest.is_none() && !fs::exists(&path) {
            return None;
        }
        let algorithm = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.find("manifest-").and_then(|at| name.get(at..)))
            .and_then(pack::manifest_algorithm)
            .unwrap_or(Algorithm::Sha256);
        Some((path, algorithm))
    }

    fn wanted_external_path(&self) -> PathBuf {
        let beside = || beside(self.archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        self.options.manifest.clone().unwrap_or_else(beside)
    }

    /// The signatures in the pack and outside.
    fn signatures<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        let outside = signatures::of(&self.wanted_external_path());
        names
            .filter(|name| pack::is_signature(name))
            .map(str::to_owned)
            .chain(outside.iter().map(|path| path.to_string_lossy().into_owned()))
            .collect()
    }

    /// The manifest outside, unless it is of the algorithm of one inside: then the two must agree.
    fn external_manifest(
        &self,
        inner: &[NamedManifest],
        names: NameEncoding,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<NamedManifest>> {
        let Some((path, algorithm)) = self.external_path() else { return Ok(None) };
        let name = path.to_string_lossy().into_owned();
        // Byte for byte the manifest inside, it says nothing more.
        if inner.iter().any(|named| named.manifest.algorithm() == algorithm)
            && let Some(text) = self.texts.get(pack::manifest_name(algorithm).as_str())
            && fs::holds(&path, text)?
        {
            return Ok(None);
        }
        let text = fs::read_limited(&path, MAX_MANIFEST)?;
        let external = ManifestText::outside(name, algorithm, names, text).parse(findings);
        let same = inner.iter().find(|named| named.manifest.algorithm() == algorithm);
        match same {
            Some(inner) => {
                inner.compare(&external, findings);
                Ok(None)
            }
            None => Ok(Some(external)),
        }
    }

    fn check_archive_digest(&self, findings: &mut Vec<Finding>) -> Result<()> {
        if self.archive.container() == Container::Directory || self.options.fast {
            return Ok(());
        }
        let path = beside(self.archive.path(), ARCHIVE_DIGEST_SUFFIX);
        let Some(text) = manifests::read_beside(&path)? else { return Ok(()) };
        let name = path.to_string_lossy();
        let (manifest, faults) = Manifest::parse(Algorithm::Sha256, NameEncoding::Gnu, &text);
        findings.extend(faults.iter().map(|fault| manifests::fault_finding(&name, fault)));
        let Some(entry) = manifest.entries().first() else { return Ok(()) };
        let found = manifests::digest_file(&File::open(self.archive.path())?)?;
        if found != entry.digest {
            findings.push(
                Finding::new(
                    Code::ArchiveDigestMismatch,
                    format!("the archive differs from what `{name}` says"),
                )
                .expected(entry.digest.to_string(), found.to_string())
                .hint("take both from another copy; one of the two was changed or damaged"),
            );
        }
        Ok(())
    }
}
