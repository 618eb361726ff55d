//! What the manifests of a pack prove: in it and outside, of the files and of the archive itself.

use std::collections::{BTreeMap, BTreeSet};

use super::super::bag::{Bag, Listed, TagRules};
use super::super::manifest_text::ManifestText;
use super::super::manifests::{self, MAX_MANIFEST, NamedManifest};
use super::super::present::Present;
use super::VerifyReport;
use super::outside::Outside;
use crate::archive::Container;
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding, Place};
use crate::fs;
use crate::manifest::NameEncoding;
use crate::pack::{self, Layout, Placement};
use crate::path::{escape, escape_path};

/// A pack that is held against its manifests.
pub(super) struct Proof<'a> {
    pub(super) outside: Outside<'a>,
    pub(super) jobs: usize,
    pub(super) placement: &'a Placement,
    pub(super) bag: Option<&'a Bag<'a>>,
    /// The texts of manifests and tag files by their names in the pack.
    pub(super) texts: &'a BTreeMap<&'a str, &'a [u8]>,
    /// The only manifest of the payload, by SHA-256, when it is known already to say exactly what was found.
    pub(super) exact: Option<&'a str>,
}

impl Proof<'_> {
    /// Holds the files against every manifest.
    pub(super) fn check(&self, present: &mut Present<'_>, report: &mut VerifyReport) -> Result<()> {
        let Self { placement, bag, texts, .. } = *self;
        let mut payload = Vec::new();
        let mut tags = Vec::new();
        let rules = bag.map_or_else(|| TagRules::of(Layout::Plain, None), |bag| bag.rules);
        for (name, text) in texts.iter().filter(|(name, _)| self.exact != Some(**name)) {
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
        if self.exact.is_none() {
            payload.extend(self.external_manifest(&payload, rules.names, &mut report.findings)?);
        }
        // The manifest stands at the end.
        let is_cut_off = report
            .findings
            .iter()
            .any(|finding| matches!(finding.code, Code::NotAnArchive | Code::DamagedStream));
        let exact = self.exact.map(|_| Algorithm::Sha256);
        let strongest = payload.iter().map(|named| named.manifest.algorithm()).max().or(exact);
        match strongest {
            None => report.findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing can be proved")
                    .expected("`manifest-sha256.txt`", "none")
                    .hint(match (self.outside.archive.container(), is_cut_off) {
                        (Container::Directory, _) => format!(
                            "make one while the files are known to be right: `ra-pack manifest --write {}`",
                            escape_path(self.outside.archive.path())
                        ),
                        (_, true) => "take the archive from another copy; what was cut off may have held it"
                            .to_owned(),
                        (_, false) => "pack the files again where they are known to be right: `ra-pack create`"
                            .to_owned(),
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
        let is_payload = |name: &str| is_payload(placement, name);
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
        report.manifests.extend(self.exact.map(str::to_owned));
        for named in payload.iter().chain(&tags) {
            report.manifests.push(named.name.clone());
            let algorithm = named.manifest.algorithm();
            let is_tag = tags.iter().any(|tag| std::ptr::eq(tag, named));
            // Only the strongest manifest of a plain pack has to be complete; a bag has its own rules.
            let complete = bag.is_none() && Some(algorithm) == strongest;
            let must_list = |name: &str| complete && !is_tag && is_payload(name);
            named.check(present, must_list, &mut report.findings);
            if bag.is_none() && !complete && !is_tag && !algorithm.is_weak() {
                let payload = present.names().filter(|name| is_payload(name));
                report.findings.extend(named.lists_less_than(payload));
            }
        }
        if let Some(bag) = bag {
            let listed = Listed { payload: &payload, tags: &tags };
            bag.check(&listed, &mut report.findings);
        }
        report.contents_read = !self.outside.options.fast && strongest.is_some();
        Ok(())
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
        if self.outside.options.fast || wanted.is_empty() {
            return Ok(());
        }
        let scan = self
            .outside
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

    /// The manifest outside, unless it is of the algorithm of one inside: then the two must agree.
    fn external_manifest(
        &self,
        inner: &[NamedManifest],
        names: NameEncoding,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<NamedManifest>> {
        let Some((path, algorithm)) = self.outside.manifest() else { return Ok(None) };
        let name = path.to_string_lossy().into_owned();
        // Byte for byte the manifest inside, it says nothing more.
        if inner.iter().any(|named| named.manifest.algorithm() == algorithm)
            && let Some(text) = self.texts.get(pack::manifest_name(algorithm).as_str())
            && match self.outside.piped {
                Some(piped) => piped == *text,
                None => fs::holds(&path, text)?,
            }
        {
            return Ok(None);
        }
        let text = match self.outside.piped {
            Some(piped) => piped.to_vec(),
            None => fs::read_limited(&path, MAX_MANIFEST)?,
        };
        let before = findings.len();
        let external = ManifestText::outside(name, algorithm, names, text).parse(findings);
        // The caller named another file by mistake, and nothing is wrong with the pack.
        if self.outside.options.manifest.is_some()
            && external.manifest.entries().is_empty()
            && let Some(Finding { message, place: Some(Place::Line { line }), .. }) =
                findings.get(before..).and_then(<[Finding]>::first)
        {
            return Err(Error::Unsupported(format!(
                "`{}` is not a manifest (line {line}: {message})",
                escape(&external.name)
            )));
        }
        let same = inner.iter().find(|named| named.manifest.algorithm() == algorithm);
        match same {
            Some(inner) => {
                inner.compare(&external, findings);
                Ok(None)
            }
            None => Ok(Some(external)),
        }
    }
}

/// Whether a manifest has to list the file.
pub(in super::super) fn is_payload(placement: &Placement, name: &str) -> bool {
    match placement.layout {
        Layout::Plain => pack::manifest_algorithm(name).is_none() && !pack::is_signature(name),
        Layout::BagIt => placement.payload(&placement.place_tag(name)).is_some(),
    }
}
