//! How the tag files of a bag are read, and the rules of RFC 8493 that lie between its parts: what has to be there, what has to be
//! listed where, and what may not lie beside it.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use unicode_normalization::UnicodeNormalization;

use super::manifests::{self, ManifestText, NamedManifest, TagRules};
use crate::archive::{Container, MemberKind};
use crate::digest::Algorithm;
use crate::finding::{Code, Finding, Severity};
use crate::pack::bag::{
    BagDeclaration, BagInfo, BagVersion, FETCH, FetchEntry, PAYLOAD_OXUM, PayloadOxum, fault,
    manifest_notes, parse_fetch_list,
};
use crate::pack::{self, BAG_DECLARATION, Placement};
use crate::path::MemberPath;

/// What lies below this in a bag is payload.
const PAYLOAD: &str = "data/";

/// A bag by the words of RFC 8493, section 3.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct BagReport {
    /// The version of BagIt that it declares; absent when it declares none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Whether everything is there that has to be, and nothing else; when contents were not read, as
    /// far as names and sizes tell.
    pub complete: bool,
    /// Whether it is complete, and every digest of every manifest was recomputed and is right.
    pub valid: bool,
}

/// The manifests of a bag.
#[derive(Debug)]
pub(super) struct BagManifests<'a> {
    pub(super) payload: &'a [NamedManifest],
    pub(super) tags: &'a [NamedManifest],
}

/// A bag that is checked.
#[derive(Debug)]
pub(super) struct Bag<'a> {
    declaration: BagDeclaration,
    pub(super) rules: TagRules,
    /// Every file by its name in the bag, with its size.
    files: BTreeMap<&'a str, u64>,
    /// Whether there is a directory for the payload.
    has_payload_directory: bool,
    texts: &'a BTreeMap<&'a str, &'a [u8]>,
}

impl<'a> Bag<'a> {
    /// Reads the declaration, and looks at what lies in the bag and beside it.
    pub(super) fn new(
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
                    Finding::new(Code::BesideBag, "this lies beside the bag, not in it")
                        .in_member(whole),
                ),
            }
        }
        if container != Container::Directory && placement.is_at_root() {
            let message = "the bag has no directory of its own in the archive";
            findings.push(Finding::new(Code::BagAtRoot, message));
        }
        Self { declaration, rules, files, has_payload_directory, texts }
    }

    fn version(&self) -> BagVersion {
        self.declaration.rules()
    }

    /// Reads a manifest; nothing when its text cannot be read.
    pub(super) fn manifest(
        &self,
        name: &str,
        algorithm: Algorithm,
        text: &[u8],
        findings: &mut Vec<Finding>,
    ) -> Option<NamedManifest> {
        let text = match ManifestText::decode(name, algorithm, self.rules, text) {
            Ok(text) => text,
            Err(finding) => {
                findings.extend(not_of_declaration(*finding));
                return None;
            }
        };
        let mut notes = manifest_notes(self.version(), name, text.text());
        let before = findings.len();
        let mut named = text.parse(findings);
        if self.version() == BagVersion::V1_0 {
            // A path may be there once only, whatever the digests.
            for finding in findings.iter_mut().skip(before) {
                finding.severity = Severity::Error;
            }
        }
        findings.append(&mut notes);
        self.rename_normalized(&mut named, findings);
        Some(named)
    }

    /// Takes files for those that are listed where the two differ only by normalisation.
    fn rename_normalized(&self, named: &mut NamedManifest, findings: &mut Vec<Finding>) {
        let is_there = |path: &MemberPath| self.files.contains_key(path.as_str());
        if named.manifest.entries().iter().all(|entry| is_there(&entry.path)) {
            return;
        }
        let mut normalized: HashMap<String, Option<&str>> = HashMap::new();
        for name in self.files.keys().filter(|name| named.manifest.get(name).is_none()) {
            // Of two that are one after normalisation, neither can be said to be meant.
            normalized
                .entry(name.nfc().collect())
                .and_modify(|one| *one = None)
                .or_insert(Some(name));
        }
        let NamedManifest { name: manifest, manifest: list } = named;
        list.rename(|entry| {
            if is_there(&entry.path) {
                return None;
            }
            let path: String = entry.path.as_str().nfc().collect();
            let there = (*normalized.get(&path)?)?;
            findings.push(
                Finding::new(
                    Code::NormalizedName,
                    format!("the name is the one in `{manifest}` only after normalisation"),
                )
                .in_member(there)
                .expected(format!("the name as line {} lists it", entry.line), "another form of it")
                .hint("write the name alike in both; other readers may not find the file"),
            );
            MemberPath::new(there).ok()
        });
    }

    /// Checks everything but digests.
    pub(super) fn check(&self, listed: &BagManifests<'_>, findings: &mut Vec<Finding>) {
        if !self.has_payload_directory {
            findings.push(
                Finding::new(
                    Code::MissingMember,
                    "a bag has a directory `data`, even an empty one",
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
                        "the manifest is by an algorithm that is not known, and was not checked",
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
                let message = format!("`{}` is no payload; it is not below `data/`", entry.path);
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
                        format!("another manifest lists the file, `{}` does not", named.name),
                    )
                    .in_member(*name)
                    .hint("list it there too: from BagIt 1.0 on every manifest lists all of the payload")
                }));
            }
        }
    }

    fn check_tag_lists(&self, tags: &[NamedManifest], findings: &mut Vec<Finding>) {
        // One that is there and cannot be read is a finding already.
        if !self.files.keys().any(|name| Self::is_any_tag_manifest(name)) {
            findings.push(
                Finding::new(
                    Code::UnlistedTagFile,
                    "the bag has no tag manifest, so nothing vouches for the files beside its payload",
                )
                .in_member(BAG_DECLARATION)
                .hint("take the bag from another copy if it had one; `ra-pack create` writes one"),
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
                    .hint("add its line: a tag manifest lists every manifest of the payload");
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

    /// The decoded text of a tag file that is there.
    fn text(&self, name: &str, findings: &mut Vec<Finding>) -> Option<Cow<'a, [u8]>> {
        let Some(text) = self.texts.get(name).copied() else {
            if self.files.contains_key(name) {
                findings.push(
                    Finding::new(Code::BadTagFile, "the file could not be read, or is too long")
                        .in_member(name),
                );
            }
            return None;
        };
        match self.rules.decode(name, text) {
            Ok(text) => Some(text),
            Err(finding) => {
                findings.extend(not_of_declaration(*finding));
                None
            }
        }
    }

    /// Checks `fetch.txt`, and gives what it lists that is not there.
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
                let hint = "list it there too, or it could not be checked once fetched";
                findings.push(fault(Code::BadFetchList, FETCH, *line, message).hint(hint));
            }
            if !self.files.contains_key(name) && unfetched.insert(name.to_owned()) {
                findings.push(
                    Finding::new(Code::NotFetched, "the file has not been fetched yet")
                        .in_member(name)
                        .hint(format!("get it from {url} and put it in its place")),
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
            let hint =
                "compare the payload with another copy; the numbers are its bytes and its files";
            let message = "the payload is of another size than stated";
            findings.push(
                fault(Code::PayloadOxum, name, line, message)
                    .expected(stated.to_string(), found.to_string())
                    .hint(hint),
            );
        }
    }

    /// The verdict, by everything that was found.
    pub(super) fn report(&self, contents_read: bool, findings: &[Finding]) -> BagReport {
        let errors = || findings.iter().filter(|finding| finding.is_error());
        let complete =
            !errors().any(|finding| is_of_bag(finding.code) && !is_content(finding.code));
        let valid = contents_read && !errors().any(|finding| is_of_bag(finding.code));
        let version = self.declaration.stated_version.clone();
        BagReport { version, complete, valid }
    }
}

/// A finding about a tag file, unless it is a finding of the declaration already.
fn not_of_declaration(finding: Finding) -> Option<Finding> {
    Some(finding).filter(|finding| finding.code != Code::UnknownTagEncoding)
}

/// Whether a code is about what a bag is; arrays and their descriptions are the pack's matter.
fn is_of_bag(code: Code) -> bool {
    ["NAME", "ARC", "MAN", "BAG"].iter().any(|family| code.id().starts_with(family))
}

/// Whether a code is about bytes of a file that is there.
fn is_content(code: Code) -> bool {
    use Code::{
        ArchiveDigestMismatch, BadChecksum, BadMemberData, DigestMismatch, ManifestsDisagree,
    };
    matches!(
        code,
        ArchiveDigestMismatch | BadChecksum | BadMemberData | DigestMismatch | ManifestsDisagree
    )
}
