//! Checks of the manifests inside and outside a pack against its files, of signatures, and of the digest of the
//! archive.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::shard::Chosen;
use super::{VerifyOptions, VerifyReport};
use crate::archive::{Archive, Container, MemberKind, NameTable, check_names};
use crate::digest::{Algorithm, Digest};
use crate::error::Result;
use crate::finding::{self, Code, Finding, Severity};
use crate::fs;
use crate::inspect::late::LateFile;
use crate::inspect::visit::Visited;
use crate::manifest::{ManifestEntry, NameEncoding, is_written};
use crate::message::{Message, listed};
use crate::pack::bag::{DECLARATION, FETCH};
use crate::pack::{self, BAG_DECLARATION, Layout, Placement};
use crate::path::escape_path;
use crate::read::manifests::{
    self, MAX_MANIFEST, ManifestText, NamedManifest, PresentFiles, TagRules, signatures_of,
};
use crate::signature::{Signature, SignatureState};
use crate::verify::bag::{Bag, BagManifests};

/// Maximum number of archives that a hint names.
const MAX_ARCHIVES: usize = 3;

/// A pack to check against its manifests.
pub(super) struct Proof<'a> {
    pub(super) archive: &'a Archive,
    pub(super) options: &'a VerifyOptions,
    /// The files whose contents were read.
    pub(super) chosen: &'a Chosen,
    pub(super) placement: &'a Placement,
    pub(super) members: &'a [Visited],
    pub(super) names: &'a NameTable,
    /// Texts of manifests and tag files by their names in the pack.
    pub(super) texts: BTreeMap<&'a str, &'a [u8]>,
    /// The manifest that the caller named, if it was read from a pipe.
    pub(super) piped: Option<Vec<u8>>,
}

/// The manifests of a pack, which the files are compared with.
pub(super) struct Lists<'p> {
    /// The payload manifest if it has exactly the text for these files.
    exact: Option<String>,
    bag: Option<Bag<'p>>,
    payload: Vec<NamedManifest>,
    tags: Vec<NamedManifest>,
    /// Number of findings before those of the manifests.
    before: usize,
}

impl Lists<'_> {
    fn all(&self) -> impl Iterator<Item = &NamedManifest> {
        self.payload.iter().chain(&self.tags)
    }
}

impl Proof<'_> {
    /// Checks the names of the files and what is next to the archive, and takes the texts of the manifests.
    pub(super) fn begin(&mut self, report: &mut VerifyReport) -> Result<()> {
        let Self { archive, placement, members, names, .. } = *self;
        let findings = &mut report.findings;
        check_names(names, archive.container(), findings);
        for member in members {
            if member.kind == MemberKind::File {
                report.files += 1;
                report.bytes = report.bytes.saturating_add(member.size);
            }
            let Some(read) = &member.read else { continue };
            let name = placement.relative(&member.name);
            if let Some(extras) = &read.extras {
                findings.extend(extras.fault.as_deref().cloned());
                self.texts.extend(name.zip(extras.text.as_deref()));
            }
            // Files outside a bag are checked by the rules of bags.
            if name.is_none() && placement.layout == Layout::Plain {
                findings.push(
                    Finding::new(Code::UnlistedMember, "the file is outside the pack's directory")
                        .in_member(&*member.name),
                );
            }
        }
        finding::rename(findings, |name| placement.shown(name));
        report.ro_crate = self.ro_crate();
        let of_pack = names.names().filter_map(|name| placement.relative(name));
        report.signatures = self.signatures(&of_pack, findings)?;
        self.check_archive_digest(findings)?;
        report.manifest_digest = self.manifest_digest();
        Ok(())
    }

    /// Reads the manifests inside and outside the pack.
    pub(super) fn lists(&self, report: &mut VerifyReport) -> Result<Lists<'_>> {
        let Self { archive, placement, members, texts, .. } = self;
        let (exact, before) = (self.exact_manifest()?, report.findings.len());
        let mut lists = Lists { exact, bag: None, payload: Vec::new(), tags: Vec::new(), before };
        if lists.exact.is_some() && placement.layout == Layout::Plain {
            return Ok(lists);
        }
        let findings = &mut report.findings;
        lists.bag = (placement.layout == Layout::BagIt).then(|| {
            let members = members.iter().map(|member| (&*member.name, member.kind, member.size));
            Bag::new(placement, archive.container(), members, texts, findings)
        });
        let bag = lists.bag.as_ref();
        let rules = bag.map_or_else(|| TagRules::of(Layout::Plain, None), |bag| bag.rules);
        for (name, text) in texts.iter().filter(|(name, _)| lists.exact.as_deref() != Some(**name))
        {
            let mut parse = |algorithm| match bag {
                Some(bag) => bag.manifest(name, algorithm, text, findings),
                None => {
                    let text = ManifestText::decode(*name, algorithm, rules, *text).ok()?;
                    Some(text.parse(findings))
                }
            };
            if let Some(algorithm) = pack::manifest_algorithm(name) {
                lists.payload.extend(parse(algorithm));
            } else if let Some(algorithm) = pack::tag_manifest_algorithm(name)
                && bag.is_some()
            {
                lists.tags.extend(parse(algorithm));
            }
        }
        if lists.exact.is_none() {
            let outside = self.external_manifest(&lists.payload, rules.names, report)?;
            lists.payload.extend(outside);
        }
        Ok(lists)
    }

    /// Returns the algorithms that were not known before the files were read.
    pub(super) fn late_algorithms(&self, lists: &Lists<'_>) -> Vec<Algorithm> {
        let mut digests = self.members.iter().filter_map(|it| it.read.as_ref()?.digests.as_ref());
        let Some(made) = digests.next().filter(|_| !self.options.fast) else { return Vec::new() };
        let wanted: BTreeSet<_> = lists.all().map(|named| named.manifest.algorithm()).collect();
        wanted.into_iter().filter(|by| made.by(*by).is_none()).collect()
    }

    /// Returns the SHA-256 of the strongest manifest in the pack.
    fn manifest_digest(&self) -> Option<Digest> {
        let manifests = self.texts.iter().filter_map(|(name, text)| {
            let algorithm = pack::manifest_algorithm(name)?;
            Some((algorithm, *text))
        });
        let strongest = manifests.max_by_key(|(algorithm, _)| *algorithm);
        strongest.map(|(_, text)| Digest::sha256(text))
    }

    /// Returns the name of the metadata file of an RO-Crate at the root of the pack or of a bag's payload.
    fn ro_crate(&self) -> Option<String> {
        let Self { placement, names, .. } = self;
        let is_it = |name: &&str| {
            name.ends_with(pack::RO_CRATE)
                && (placement.relative(name) == Some(pack::RO_CRATE)
                    || placement.payload(name) == Some(pack::RO_CRATE))
        };
        names.names().find(is_it).map(str::to_owned)
    }

    /// Returns the name of the payload manifest if it is the only one and has exactly the text that `create` would
    /// write for these files. Such a manifest has no invalid lines and breaks no rule of bags, so its entries, of which
    /// there may be millions, need not be parsed.
    fn exact_manifest(&self) -> Result<Option<String>> {
        let Self { placement, texts, .. } = self;
        let is_bag = placement.layout == Layout::BagIt;
        let name = pack::manifest_name(Algorithm::Sha256);
        let mut manifests = texts.keys().filter(|name| pack::manifest_algorithm(name).is_some());
        let (true, None) = (manifests.next() == Some(&&*name), manifests.next()) else {
            return Ok(None);
        };
        let text = texts.get(&*name).copied().unwrap_or_default();
        let names = || self.names.names();
        // The declaration of a bag determines how its manifest is read.
        let is_usual = !is_bag
            || texts.get(BAG_DECLARATION).copied() == Some(DECLARATION.as_bytes())
                && !texts.contains_key(FETCH)
                && names().zip(names().skip(1)).all(|(one, other)| one != other);
        let is_payload = |name: &str| {
            let name = placement.relative(name);
            name.is_some_and(|name| placement.is_payload(name))
        };
        if self.options.fast || !self.chosen.is_all() || !is_usual || !names().any(is_payload) {
            return Ok(None);
        }
        let encoding = if is_bag { NameEncoding::Percent } else { NameEncoding::Gnu };
        let files = self.names.iter().filter(|named| is_payload(named.name));
        let files = files.filter_map(|named| {
            let name = placement.relative(named.name)?;
            match &self.members.get(named.member)?.read {
                Some(read) => {
                    Some((name, read.digests.as_ref().and_then(|all| all.by(Algorithm::Sha256))))
                }
                // A bag counts files that cannot be read.
                None => (is_bag && named.kind == MemberKind::File).then_some((name, None)),
            }
        });
        let is_exact = is_written(encoding, text, files)
            && match self.options.outside_manifest(self.archive) {
                Some((path, algorithm)) => {
                    algorithm == Algorithm::Sha256 && self.is_outside_text(&path, text)?
                }
                None => true,
            };
        Ok(is_exact.then_some(name))
    }

    /// Returns whether the external manifest at `path` has this text.
    fn is_outside_text(&self, path: &Path, text: &[u8]) -> Result<bool> {
        match &self.piped {
            Some(piped) => Ok(piped == text),
            None => fs::holds(path, text),
        }
    }

    /// Returns the signatures outside the pack and in it, whose files have these `names`. A signature of a missing
    /// file becomes a finding.
    fn signatures<'n>(
        &self,
        names: &(impl Iterator<Item = &'n str> + Clone),
        findings: &mut Vec<Finding>,
    ) -> Result<Vec<Signature>> {
        let manifest = self.options.manifest_path(self.archive);
        let outside = manifest.iter().flat_map(|manifest| {
            let is_there = fs::exists(manifest);
            signatures_of(manifest).into_iter().map(move |path| (path, is_there))
        });
        let outside = outside
            .map(|(path, is_there)| (path.to_string_lossy().into_owned(), is_there, Some(path)));
        let inside = names.clone().filter_map(|name| {
            let signed = pack::signed_by(name)?;
            Some((name.to_owned(), names.clone().any(|name| name == signed), None))
        });
        let (of_files, of_nothing): (Vec<_>, Vec<_>) =
            inside.chain(outside).partition(|(_, is_there, _)| *is_there);
        findings.extend(of_nothing.into_iter().map(|(name, ..)| {
            Finding::new(Code::OddContainer, "the manifest of this signature does not exist")
                .in_member(name)
                .hint("restore the manifest from another copy, or delete the signature")
        }));
        let of_files = of_files.into_iter().map(|(name, _, path)| (name, path));
        self.checked(of_files, findings)
    }

    /// Checks the archive file against its digest, if there is one. A shard of the files does not need the whole
    /// archive, which may take hours to read.
    fn check_archive_digest(&self, findings: &mut Vec<Finding>) -> Result<()> {
        let reads_all = !self.options.fast && self.chosen.is_all();
        if self.archive.container() == Container::Directory || !reads_all {
            return Ok(());
        }
        manifests::check_archive_digest(self.archive, findings).map(drop)
    }

    /// Compares the files with the manifests. `late` are the files that were read again, with the digests by
    /// `late_algorithms`.
    pub(super) fn compare(
        &self,
        lists: Lists<'_>,
        late: &mut [LateFile],
        report: &mut VerifyReport,
    ) -> Result<()> {
        let Self { placement, .. } = self;
        if let (Some(name), Layout::Plain) = (&lists.exact, placement.layout) {
            report.manifests.push(name.clone());
            report.contents_read = true;
            return Ok(());
        }
        self.check(&lists, late, report)?;
        report.bag = lists.bag.map(|bag| bag.report(report.contents_read, &report.findings));
        let of_manifests = report.findings.get_mut(lists.before..).unwrap_or_default();
        finding::rename(of_manifests, |name| placement.shown_relative(name));
        Ok(())
    }

    /// Checks the files against every manifest except the exact one.
    fn check(
        &self,
        lists: &Lists<'_>,
        late: &mut [LateFile],
        report: &mut VerifyReport,
    ) -> Result<()> {
        let Self { placement, .. } = self;
        let Lists { exact, bag, payload, tags, .. } = lists;
        // If several files have one name, the last counts.
        let present = self.names.iter().filter_map(|named| {
            let read = self.members.get(named.member)?.read.as_ref()?;
            Some((placement.relative(named.name)?, read.digests.as_ref().map(Cow::Borrowed)))
        });
        let mut present: PresentFiles<'_> = present.collect();
        let is_cut_off = super::is_cut_off(&report.findings);
        let of_exact = exact.as_ref().map(|_| Algorithm::Sha256);
        let is_archive = |name: &&str| Container::from_extension(Path::new(name)).is_some();
        let archives: Vec<_> = self.names.names().filter(is_archive).collect();
        let strongest = payload.iter().map(|named| named.manifest.algorithm()).max().or(of_exact);
        match strongest {
            None => report.findings.push(
                Finding::new(Code::NoManifest, "there is no manifest to verify the files against")
                    .expected("`manifest-sha256.txt`", "none")
                    .hint(match (self.archive.container(), is_cut_off) {
                        (Container::Directory, _) if !archives.is_empty() => {
                            let names = listed(&archives, MAX_ARCHIVES);
                            Message::from(format!("to verify the archives in it ({names}): "))
                                .call_on_pack("verify", "recursive")
                        }
                        (Container::Directory, _) => {
                            let path = escape_path(self.archive.path()).to_string();
                            Message::from("create one while you know that the files are intact: ")
                                .call("manifest", ("write", path))
                        }
                        (_, true) => "restore the archive from another copy; its end is missing, and the manifest may be there"
                            .into(),
                        (_, false) => "pack the original files again with `ra-pack create`".into(),
                    }),
            ),
            Some(algorithm) if algorithm.is_weak() => report.findings.push(
                Finding::new(
                    Code::WeakDigest,
                    format!("the strongest manifest uses {}, which can be forged", algorithm.name()),
                )
                .hint("pack the files again with SHA-256 or SHA-512 digests"),
            ),
            Some(_) => {}
        }
        let is_payload = |name: &str| placement.is_payload(name);
        // The manifest of a bag without payload is empty.
        let may_be_empty = present.is_empty()
            || placement.layout == Layout::BagIt && !present.keys().copied().any(is_payload);
        for named in payload.iter().filter(|_| !may_be_empty) {
            if named.manifest.entries().is_empty() {
                report.findings.push(
                    Finding::new(Code::EmptyManifest, "the manifest is empty")
                        .in_member(named.name.clone()),
                );
            }
        }
        if !self.late_algorithms(lists).is_empty() {
            self.add_digests(late, &mut present, &mut report.findings)?;
        }
        report.manifests.extend(exact.clone());
        let is_signed = report.signatures.iter().any(|it| it.state == SignatureState::Good);
        for named in lists.all() {
            report.manifests.push(named.name.clone());
            let algorithm = named.manifest.algorithm();
            let is_tag = tags.iter().any(|tag| std::ptr::eq(tag, named));
            // Only the strongest manifest of a plain pack must be complete; a bag has its own rules.
            let complete = bag.is_none() && Some(algorithm) == strongest;
            let must_list = |name: &str| complete && !is_tag && is_payload(name);
            named.check(&present, must_list, &mut report.findings);
            if bag.is_none() && !complete && !is_tag && !algorithm.is_weak() {
                let payload = present.keys().copied().filter(|name| is_payload(name));
                let mut less = named.lists_less_than(payload);
                // The files that only the other manifest lists are not signed.
                if let Some(less) = less.as_mut().filter(|_| is_signed) {
                    less.severity = Severity::Error;
                }
                report.findings.extend(less);
            }
        }
        if let Some(bag) = bag {
            let listed = BagManifests { payload, tags };
            bag.check(&listed, &mut report.findings);
        }
        report.contents_read = !self.options.fast && strongest.is_some();
        Ok(())
    }

    /// Adds the digests of the files that were read again.
    fn add_digests(
        &self,
        late: &mut [LateFile],
        present: &mut PresentFiles<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        for LateFile { name, hashed, .. } in late {
            let Some(name) = self.placement.relative(name) else { continue };
            // A file that could not be read has been reported.
            let Some(Some(digests)) = present.get_mut(name) else { continue };
            match hashed {
                Some((more, None)) => *digests = Cow::Owned(digests.and(more)),
                Some((_, error)) => findings.extend(
                    error.take().map(|error| manifests::unreadable(name, error)).transpose()?,
                ),
                None => {}
            }
        }
        Ok(())
    }

    /// Returns the external manifest, unless the pack has a manifest with this algorithm: then the two are compared.
    fn external_manifest(
        &self,
        inner: &[NamedManifest],
        names: NameEncoding,
        report: &mut VerifyReport,
    ) -> Result<Option<NamedManifest>> {
        let findings = &mut report.findings;
        let Some((path, algorithm)) = self.options.outside_manifest(self.archive) else {
            return Ok(None);
        };
        let name = path.to_string_lossy().into_owned();
        // An exact copy of the manifest inside adds nothing.
        if inner.iter().any(|named| named.manifest.algorithm() == algorithm)
            && let Some(text) = self.texts.get(pack::manifest_name(algorithm).as_str())
            && self.is_outside_text(&path, text)?
        {
            return Ok(None);
        }
        let text = match &self.piped {
            Some(piped) => piped.clone(),
            None => fs::read_limited(&path, MAX_MANIFEST)?,
        };
        report.manifest_digest.get_or_insert_with(|| Digest::sha256(&text));
        let before = findings.len();
        let external = ManifestText::outside(name, algorithm, names, text).parse(findings);
        if self.options.manifest.is_some() {
            manifests::must_be_one(&external, findings.get(before..).unwrap_or_default())?;
        }
        let same = inner.iter().find(|named| named.manifest.algorithm() == algorithm);
        let names = self.names.names().filter_map(|name| self.placement.relative(name));
        let names: BTreeSet<_> = names.collect();
        let is_of_this = |entry: &&ManifestEntry| match same.map(|own| &own.manifest) {
            Some(own) => own.get(entry.path.as_str()).is_some_and(|own| own.digest == entry.digest),
            None => names.contains(entry.path.as_str()),
        };
        let entries = external.manifest.entries();
        let ours = entries.iter().filter(is_of_this).count();
        // Each entry would be a finding.
        if ours * 2 < entries.len() && ours * 2 <= names.len() {
            let message = format!("`{}` belongs to another pack or version", external.name);
            findings.push(
                Finding::new(Code::ManifestsDisagree, message)
                    .expected(
                        "the files of this pack",
                        format!("{ours} of {} entries", entries.len()),
                    )
                    .hint("give the manifest that was made with this pack"),
            );
            return Ok(None);
        }
        match same {
            Some(inner) => {
                inner.compare(&external, findings);
                Ok(None)
            }
            None => Ok(Some(external)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use crate::digest::{Algorithm, Digest};
    use crate::manifest::{Manifest, NameEncoding, is_written};
    use crate::pack::Layout;
    use crate::pack::bag::{BagVersion, DECLARATION, manifest_notes};
    use crate::path::MemberPath;
    use crate::read::manifests::TagRules;

    proptest! {
        /// Parsing the text that is written for the payload of a bag gives no errors.
        #[test]
        fn an_exact_manifest_is_parsed_without_errors(
            names in proptest::collection::btree_set("data/([a-c~*#%$ .()=\\n\\r\\t0-9ADé\u{85}]|SHA256 \\(|\\./|%HOME%){1,8}", 1..6),
        ) {
            let files = names.iter().filter_map(|name| MemberPath::new(name.as_str()).ok());
            let files: Vec<_> =
                files.map(|path| (path.clone(), Digest::sha256(path.as_str().as_bytes()))).collect();
            let text = Manifest::new(Algorithm::Sha256, files.clone()).to_text(NameEncoding::Percent);
            let digests = files.iter().map(|(path, digest)| (path.as_str(), Some(*digest)));
            prop_assert!(is_written(NameEncoding::Percent, &text, digests));
            let rules = TagRules::of(Layout::BagIt, Some(DECLARATION.as_bytes()));
            prop_assert_eq!(rules.names, NameEncoding::Percent);
            prop_assert_eq!(&*rules.decode("", &text).unwrap(), &text[..]);
            let (read, faults) = Manifest::parse(Algorithm::Sha256, rules.names, &text);
            prop_assert_eq!(faults, []);
            prop_assert_eq!(manifest_notes(BagVersion::V1_0, "", &text), []);
            let read = read.entries().iter().map(|entry| (entry.path.clone(), entry.digest));
            prop_assert!(read.eq(files));
        }
    }
}
