//! Rules of RFC 8493 that concern several files of a bag: required files, lists of files, and files outside the bag.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use crate::archive::{Container, MemberKind};
use crate::digest::Algorithm;
use crate::finding::{Code, Finding, Severity};
use crate::pack::bag::{
    BagDeclaration, BagInfo, BagVersion, FETCH, FetchEntry, PAYLOAD_OXUM, PayloadOxum, fault,
    manifest_notes, parse_fetch_list,
};
use crate::pack::{self, BAG_DECLARATION, Placement};
use crate::read::manifests::{self, ManifestText, NamedManifest, TagRules};

/// The directory of the payload in a bag.
const PAYLOAD: &str = "data/";

/// The result of the checks of RFC 8493, section 3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BagReport {
    /// The BagIt version that the bag declares; absent if it declares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether all required files exist and there are no others. If contents were not read, this is based on names and
    /// sizes.
    pub complete: bool,
    /// Whether the bag is complete, and every digest of every manifest was recomputed and matches.
    pub valid: bool,
}

/// The manifests of a bag.
#[derive(Debug)]
pub(crate) struct BagManifests<'a> {
    pub(crate) payload: &'a [NamedManifest],
    pub(crate) tags: &'a [NamedManifest],
}

/// A bag to check.
#[derive(Debug)]
pub(crate) struct Bag<'a> {
    declaration: BagDeclaration,
    pub(crate) rules: TagRules,
    /// Sizes of all files by their names in the bag.
    files: BTreeMap<&'a str, u64>,
    /// Whether the bag has a payload directory.
    has_payload_directory: bool,
    texts: &'a BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Bag<'a> {
    /// Reads the declaration, and checks the files in the bag and outside it.
    pub(crate) fn new(
        placement: &'a Placement,
        container: Container,
        members: impl Iterator<Item = (&'a str, MemberKind, u64)>,
        texts: &'a BTreeMap<&'a str, &'a [u8]>,
        findings: &mut Vec<Finding>,
    ) -> Self {
        let text = texts.get(BAG_DECLARATION).copied().unwrap_or_default();
        let (declaration, mut faults) = BagDeclaration::parse(text);
        findings.append(&mut faults);
        let rules = TagRules::declared(&declaration);
        let mut files = BTreeMap::new();
        let mut has_payload_directory = false;
        for (whole, kind, size) in members {
            match (placement.relative(whole), kind) {
                (Some(name), MemberKind::File) => {
                    has_payload_directory |= name.starts_with(PAYLOAD);
                    files.insert(name, size);
                }
                (Some(name), _) => {
                    has_payload_directory |=
                        name == PAYLOAD.trim_end_matches('/') || name.starts_with(PAYLOAD);
                }
                (None, _) if placement.is_top(whole) => {}
                (None, _) => findings.push(
                    Finding::new(Code::BesideBag, "the file is outside the bag").in_member(whole),
                ),
            }
        }
        if container != Container::Directory && placement.is_at_root() {
            let message = "the archive has no top directory for the bag";
            findings.push(Finding::new(Code::BagAtRoot, message));
        }
        Self { declaration, rules, files, has_payload_directory, texts }
    }

    fn version(&self) -> BagVersion {
        self.declaration.rules()
    }

    /// Reads a manifest; `None` if its text cannot be read.
    pub(crate) fn manifest(
        &self,
        name: &str,
        algorithm: Algorithm,
        text: &[u8],
        findings: &mut Vec<Finding>,
    ) -> Option<NamedManifest> {
        let text = ManifestText::decode(name, algorithm, self.rules, text);
        let text = text.map_err(|finding| findings.extend(not_of_declaration(*finding))).ok()?;
        let mut notes = manifest_notes(self.version(), name, text.text());
        let before = findings.len();
        let mut named = text.parse(findings);
        if self.version() == BagVersion::V1_0 {
            // A path must not be listed twice, even with the same digest.
            for finding in findings.iter_mut().skip(before) {
                finding.severity = Severity::Error;
            }
        }
        findings.append(&mut notes);
        named.rename_normalized(&self.files.keys().copied().collect(), findings);
        Some(named)
    }

    /// Checks everything except digests.
    pub(crate) fn check(&self, listed: &BagManifests<'_>, findings: &mut Vec<Finding>) {
        if !self.has_payload_directory {
            findings.push(
                Finding::new(
                    Code::MissingMember,
                    "the bag has no directory `data`, which may be empty",
                )
                .in_member(PAYLOAD.trim_end_matches('/')),
            );
        }
        self.check_unknown_manifests(findings);
        self.check_payload_lists(listed.payload, findings);
        self.check_tag_lists(listed.tags, findings);
        let unfetched = self.check_fetch(listed.payload, findings);
        self.check_info(unfetched.is_empty(), findings);
        findings.retain(|finding| {
            let member = finding.member.as_deref().unwrap_or_default();
            finding.code != Code::MissingMember || !unfetched.contains(member)
        });
    }

    fn is_any_manifest(name: &str) -> bool {
        let algorithm = name.strip_prefix("manifest-").and_then(|rest| rest.strip_suffix(".txt"));
        algorithm.is_some_and(|algorithm| !algorithm.contains('/'))
    }

    fn is_any_tag_manifest(name: &str) -> bool {
        name.strip_prefix("tag").is_some_and(Self::is_any_manifest)
    }

    fn check_unknown_manifests(&self, findings: &mut Vec<Finding>) {
        for name in self.files.keys() {
            let known = pack::manifest_algorithm(name).or(pack::tag_manifest_algorithm(name));
            if (Self::is_any_manifest(name) || Self::is_any_tag_manifest(name)) && known.is_none() {
                findings.push(
                    Finding::new(
                        Code::UnknownDigest,
                        "the algorithm of the manifest is unknown, so it was not checked",
                    )
                    .in_member(*name)
                    .expected("md5, sha1, sha224, sha256, sha384 or sha512", *name),
                );
            }
        }
    }

    fn check_payload_lists(&self, payload: &[NamedManifest], findings: &mut Vec<Finding>) {
        for NamedManifest { name, manifest } in payload {
            let entries = manifest.entries().iter();
            let astray = entries.filter(|entry| !entry.path.as_str().starts_with(PAYLOAD));
            findings.extend(astray.map(|entry| {
                let message = format!("`{}` is not part of the payload in `data/`", entry.path);
                fault(Code::WrongManifestEntry, name, entry.line, message)
            }));
        }
        let Some(first) = payload.first() else { return };
        for name in self.files.keys().filter(|name| name.starts_with(PAYLOAD)) {
            let lacking: Vec<_> =
                payload.iter().filter(|named| named.manifest.get(name).is_none()).collect();
            if lacking.len() == payload.len() {
                findings.push(manifests::unlisted(name, &first.name));
            } else if self.version() == BagVersion::V1_0 {
                findings.extend(lacking.iter().map(|named| {
                    Finding::new(
                        Code::PartlyListed,
                        format!("the file is listed in another manifest but not in `{}`", named.name),
                    )
                    .in_member(*name)
                    .hint("add its line there; since BagIt 1.0 every manifest must list the whole payload")
                }));
            }
        }
    }

    fn check_tag_lists(&self, tags: &[NamedManifest], findings: &mut Vec<Finding>) {
        // A tag manifest that cannot be read has been reported.
        if !self.files.keys().any(|name| Self::is_any_tag_manifest(name)) {
            findings.push(
                Finding::new(
                    Code::UnlistedTagFile,
                    "the bag has no tag manifest to verify the files outside its payload",
                )
                .in_member(BAG_DECLARATION)
                .hint("restore the tag manifest from another copy, or create a new bag with `ra-pack create`"),
            );
        }
        let mut unlisted = BTreeSet::new();
        for named in tags {
            for entry in named.manifest.entries() {
                let what = match entry.path.as_str() {
                    path if path.starts_with(PAYLOAD) => "payload",
                    path if Self::is_any_tag_manifest(path) => "a tag manifest",
                    _ => continue,
                };
                let path = &entry.path;
                let message = format!("`{path}` is {what}, which a tag manifest must not list");
                findings.push(fault(Code::WrongManifestEntry, &named.name, entry.line, message));
            }
            for name in self.files.keys() {
                if name.starts_with(PAYLOAD)
                    || Self::is_any_tag_manifest(name)
                    || named.manifest.get(name).is_some()
                {
                    continue;
                }
                if Self::is_any_manifest(name) {
                    let finding = Finding::new(
                        Code::WrongManifestEntry,
                        format!("the tag manifest does not list `{name}`"),
                    )
                    .in_member(named.name.clone())
                    .hint("add its line; a tag manifest must list every payload manifest");
                    let is_rule = self.version() == BagVersion::V1_0;
                    findings.push(if is_rule { finding } else { finding.warning() });
                } else {
                    unlisted.insert(*name);
                }
            }
        }
        findings.extend(unlisted.into_iter().map(|name| {
            Finding::new(Code::UnlistedTagFile, "a tag manifest does not list the file")
                .in_member(name)
        }));
    }

    /// Returns the decoded text of a tag file, if it exists.
    fn text(&self, name: &str, findings: &mut Vec<Finding>) -> Option<Cow<'a, [u8]>> {
        let Some(text) = self.texts.get(name).copied() else {
            if self.files.contains_key(name) {
                findings.push(
                    Finding::new(Code::BadTagFile, "the file cannot be read or is too long")
                        .in_member(name),
                );
            }
            return None;
        };
        let text = self.rules.decode(name, text);
        text.map_err(|finding| findings.extend(not_of_declaration(*finding))).ok()
    }

    /// Checks `fetch.txt`, and returns the listed files that are missing.
    fn check_fetch(
        &self,
        payload: &[NamedManifest],
        findings: &mut Vec<Finding>,
    ) -> BTreeSet<String> {
        let mut unfetched = BTreeSet::new();
        let Some(text) = self.text(FETCH, findings) else { return unfetched };
        let (list, mut faults) = parse_fetch_list(self.rules.names, &text);
        findings.append(&mut faults);
        for FetchEntry { url, path, line, .. } in &list {
            let name = path.as_str();
            for named in payload.iter().filter(|named| named.manifest.get(name).is_none()) {
                let message = format!("`{path}` is not listed in `{}`", named.name);
                let hint = "add its line there, so that it can be verified after fetching";
                findings.push(fault(Code::BadFetchList, FETCH, *line, message).hint(hint));
            }
            if !self.files.contains_key(name) && unfetched.insert(name.to_owned()) {
                findings.push(
                    Finding::new(Code::NotFetched, "the file has not been fetched yet")
                        .in_member(name)
                        .hint(format!("fetch it from {url}")),
                );
            }
        }
        unfetched
    }

    fn check_info(&self, whole: bool, findings: &mut Vec<Finding>) {
        let name = BagInfo::file(self.version());
        let Some(text) = self.text(name, findings) else { return };
        let (info, mut faults) = BagInfo::parse(self.version(), &text);
        findings.append(&mut faults);
        let stated = info
            .get(PAYLOAD_OXUM)
            .and_then(|field| Some((field.line, PayloadOxum::parse(&field.value)?)));
        let (Some((line, stated)), true) = (stated, whole) else { return };
        let mut found = PayloadOxum { bytes: 0, files: 0 };
        for (_, size) in self.files.iter().filter(|(name, _)| name.starts_with(PAYLOAD)) {
            found.bytes = found.bytes.saturating_add(*size);
            found.files += 1;
        }
        if stated != found {
            let hint = "compare the payload with another copy; the numbers are bytes and files";
            let message = "the size of the payload does not match `Payload-Oxum`";
            findings.push(
                fault(Code::PayloadOxum, name, line, message)
                    .expected(stated.to_string(), found.to_string())
                    .hint(hint),
            );
        }
    }

    /// Returns the result of all checks.
    pub(crate) fn report(&self, contents_read: bool, findings: &[Finding]) -> BagReport {
        let errors = || findings.iter().filter(|finding| finding.is_error());
        let complete =
            !errors().any(|finding| is_of_bag(finding.code) && !is_content(finding.code));
        let valid = contents_read && !errors().any(|finding| is_of_bag(finding.code));
        let version = self.declaration.stated_version.clone();
        BagReport { version, complete, valid }
    }
}

/// Drops a finding that repeats one about the declaration.
fn not_of_declaration(finding: Finding) -> Option<Finding> {
    Some(finding).filter(|finding| finding.code != Code::UnknownTagEncoding)
}

/// Returns whether a code concerns the rules of bags, as opposed to arrays and descriptions.
fn is_of_bag(code: Code) -> bool {
    ["NAME", "ARC", "MAN", "BAG"].iter().any(|family| code.id().starts_with(family))
}

/// Returns whether a code concerns the content of an existing file.
fn is_content(code: Code) -> bool {
    matches!(
        code,
        Code::ArchiveDigestMismatch
            | Code::BadChecksum
            | Code::BadMemberData
            | Code::DamagedBlock
            | Code::DigestMismatch
            | Code::ManifestsDisagree
    )
}
