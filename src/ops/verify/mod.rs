//! Verifying a pack: container, manifests, digests, headers, descriptions. Everything that is wrong
//! is reported, not only the first.

mod report;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

pub use self::report::{VerifyOptions, VerifyReport};

use super::bag::{Bag, Listed, TagRules};
use super::glance::placed;
use super::intact::Intact;
use super::manifest_text::ManifestText;
use super::manifests::{self, MAX_MANIFEST, NamedManifest, Present, beside};
use super::signatures;
use crate::archive::{Archive, Container, Member, MemberKind};
use crate::digest::{Algorithm, Digests, Hashers};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity};
use crate::fs::{self, File};
use crate::manifest::{Manifest, NameEncoding};
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{
    self, ARCHIVE_DIGEST_SUFFIX, BAG_DECLARATION, Content, Contents, EXTERNAL_MANIFEST_SUFFIX,
    Inspector, Layout, Placement,
};
use crate::parallel;
use crate::path::MemberPath;

/// Verifies one archive or directory.
///
/// Damage is not an error: it is in the report. An archive that cannot even be opened as one is
/// damage too.
///
/// # Errors
///
/// When the target, or a manifest that was named, cannot be read at all.
///
/// ```no_run
/// use ra_pack::{VerifyOptions, verify};
///
/// let report = verify("exp.zip".as_ref(), &VerifyOptions::default())?;
/// for finding in &report.findings {
///     println!("{finding}");
/// }
/// assert!(report.is_sound());
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn verify(target: &Path, options: &VerifyOptions) -> Result<VerifyReport> {
    let start = Instant::now();
    let mut report = VerifyReport::new(target);
    match Archive::open(target) {
        Ok(archive) => Verification::new(&archive, options).run(&mut report)?,
        Err(Error::Damaged { finding, .. }) => report.findings.push(*finding),
        Err(error) => return Err(error),
    }
    if options.strict {
        for finding in &mut report.findings {
            finding.severity = Severity::Error;
        }
    }
    finding::sort(&mut report.findings);
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

struct Verification<'a> {
    archive: &'a Archive,
    options: &'a VerifyOptions,
    jobs: usize,
    /// Bytes of manifests that are kept, of all files together.
    kept: AtomicU64,
}

/// What one file was found to be.
struct Visited {
    digests: Option<Digests>,
    content: Content,
    /// The text of a manifest or of a bag's tag file.
    text: Option<Vec<u8>>,
    fault: Option<Box<Finding>>,
    /// Why the system did not let it be read.
    refused: Option<Box<Error>>,
}

impl<'a> Verification<'a> {
    fn new(archive: &'a Archive, options: &'a VerifyOptions) -> Self {
        let jobs = options.jobs.unwrap_or_else(parallel::default_jobs);
        Self { archive, options, jobs, kept: AtomicU64::new(0) }
    }

    fn run(&self, report: &mut VerifyReport) -> Result<()> {
        let algorithms = self.algorithms();
        let visit =
            |member: &Member, content: &mut dyn BufRead| self.visit(member, content, &algorithms);
        let mut scan = self.archive.scan(self.jobs, &visit)?;
        let mut visited = scan.members.iter_mut().filter_map(|(_, visited)| visited.as_mut());
        if let Some(refused) = visited.find_map(|visited| visited.refused.take()) {
            return Err(*refused);
        }
        let findings = &mut report.findings;
        findings.append(&mut scan.findings);
        report.container = Some(self.archive.container());

        let names = || scan.members.iter().map(|(member, _)| member.name.as_str());
        let placement = Placement::detect(&names());
        report.layout = placement.layout;
        let mut digests = Vec::with_capacity(scan.members.len());
        let mut texts: BTreeMap<&str, &[u8]> = BTreeMap::new();
        for (member, visited) in &scan.members {
            if member.kind == MemberKind::File {
                report.members = report.members.saturating_add(1);
                report.bytes = report.bytes.saturating_add(member.size);
            }
            let name = placement.relative(&member.name);
            let Some(visited) = visited else { continue };
            findings.extend(visited.fault.as_deref().cloned());
            match name {
                Some(name) => {
                    digests.push((name, visited.digests.as_ref().map(Cow::Borrowed)));
                    if let Some(text) = &visited.text {
                        texts.insert(name, text);
                    }
                }
                // What lies beside a bag is for its rules to say.
                None if placement.layout == Layout::BagIt => {}
                None => findings.push(
                    Finding::new(
                        Code::UnlistedMember,
                        "the file lies outside of the pack's directory",
                    )
                    .in_member(member.name.clone()),
                ),
            }
        }
        let mut digests: Present<'_> = digests.into_iter().collect();
        finding::rename(findings, |name| placement.shown(name));
        let before = findings.len();
        let bag = (placement.layout == Layout::BagIt).then(|| {
            let members = scan.members.iter().map(|(member, _)| member);
            Bag::new(&placement, self.archive.container(), members, &texts, findings)
        });
        report.ro_crate = ro_crate(&placement, names());
        self.check_manifests(&placement, bag.as_ref(), &mut digests, &texts, report)?;
        report.bag = bag.map(|bag| bag.report(report.contents_read, &report.findings));
        let of_manifests = report.findings.get_mut(before..).unwrap_or_default();
        finding::rename(of_manifests, |name| placement.shown_relative(name));
        let mut contents =
            Contents::collect(scan.members.iter_mut().filter_map(|(member, visited)| {
                let path = placed(&placement, member)?;
                Some((path, visited.take()?.content))
            }));
        report.arrays = u64::try_from(contents.arrays.len()).unwrap_or(u64::MAX);
        contents.forget_repetition();
        report.findings.extend(contents.findings());
        name_arrays(&mut report.findings, &contents);
        if report.contents_read {
            let files = scan.members.iter().filter(|(member, _)| member.kind == MemberKind::File);
            let files = files.map(|(member, _)| (placement.shown(&member.name), member.size));
            report.intact = Some(Intact::count(files, &contents, &report.findings));
        }
        // What strictness alone objects to is none the less whole.
        if self.options.strict {
            report.findings.extend(contents.extension_words());
            name_arrays(&mut report.findings, &contents);
        }
        Ok(())
    }

    /// Reads one file: all of it, or as much as its header or description takes.
    fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        algorithms: &[Algorithm],
    ) -> Visited {
        let Ok(path) = MemberPath::new(member.name.as_str()) else { return Visited::nothing() };
        let mut inspector = Inspector::new(&path);
        let mut hashers = (!self.options.fast).then(|| Hashers::new(algorithms));
        let limit = text_limit(&path);
        let mut text = limit.is_some().then(Vec::new);
        let mut len = 0_u64;
        let (mut fault, mut refused) = (None, None);
        loop {
            let wanted = hashers.is_some() || text.is_some() || inspector.wants_more();
            if !wanted {
                break;
            }
            match content.fill_buf() {
                Ok([]) => break,
                Ok(block) => {
                    if let Some(hashers) = &mut hashers {
                        hashers.update(block);
                    }
                    inspector.update(block);
                    let count = block.len();
                    let wide = u64::try_from(count).unwrap_or(u64::MAX);
                    len = len.saturating_add(wide);
                    if limit.is_some_and(|limit| len > limit) {
                        // What is longer is missed only in a bag, whose rules say so.
                        text = None;
                    }
                    if let Some(kept) = &mut text {
                        let before = self.kept.fetch_add(wide, Ordering::Relaxed);
                        if before.saturating_add(wide) > MAX_MANIFEST {
                            fault = Some(Box::new(too_long(&member.name)));
                            text = None;
                        } else {
                            kept.extend_from_slice(block);
                        }
                    }
                    content.consume(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    match manifests::unreadable(&member.name, error) {
                        Ok(finding) => fault = Some(Box::new(finding)),
                        Err(error) => refused = Some(Box::new(error)),
                    }
                    hashers = None;
                    break;
                }
            }
        }
        let file_len = if self.options.fast || fault.is_some() { member.size } else { len };
        Visited {
            digests: hashers.map(Hashers::finish),
            content: inspector.finish(&path, file_len),
            text,
            fault,
            refused,
        }
    }

    fn check_manifests(
        &self,
        placement: &Placement,
        bag: Option<&Bag<'_>>,
        digests: &mut Present<'_>,
        texts: &BTreeMap<&str, &[u8]>,
        report: &mut VerifyReport,
    ) -> Result<()> {
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
        report.signatures = self.signatures(digests.keys().copied());
        payload.extend(self.external_manifest(
            &payload,
            texts,
            rules.names,
            &mut report.findings,
        )?);
        self.check_archive_digest(&mut report.findings)?;
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
        let is_payload = |name: &str| match placement.layout {
            Layout::Plain => pack::manifest_algorithm(name).is_none() && !pack::is_signature(name),
            Layout::BagIt => placement.payload(&placement.place_tag(name)).is_some(),
        };
        // A bag may be without payload, and then its manifest lists nothing.
        let may_be_empty = digests.is_empty()
            || placement.layout == Layout::BagIt && !digests.keys().any(|name| is_payload(name));
        for named in payload.iter().filter(|_| !may_be_empty) {
            if named.manifest.entries().is_empty() {
                report.findings.push(
                    Finding::new(Code::EmptyManifest, "the manifest lists nothing")
                        .in_member(named.name.clone()),
                );
            }
        }
        let lists = payload.iter().chain(&tags);
        self.add_digests(placement, lists, digests, &mut report.findings)?;
        for named in payload.iter().chain(&tags) {
            report.manifests.push(named.name.clone());
            let algorithm = named.manifest.algorithm();
            let is_tag = tags.iter().any(|tag| std::ptr::eq(tag, named));
            // Only the strongest manifest of a plain pack has to be complete; a bag has its own rules.
            let complete = bag.is_none() && Some(algorithm) == strongest;
            let must_list = |name: &str| complete && !is_tag && is_payload(name);
            named.check(digests, must_list, &mut report.findings);
        }
        if let Some(bag) = bag {
            let listed = Listed { payload: &payload, tags: &tags };
            bag.check(&listed, &mut report.findings);
        }
        report.contents_read = !self.options.fast && strongest.is_some();
        Ok(())
    }

    /// The algorithms of the manifests, where names are known before contents are read.
    fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = BTreeSet::from([Algorithm::Sha256]);
        if self.archive.container() != Container::TarGz
            && self.archive.container() != Container::TarZst
            && let Ok(names) = self.archive.first_names()
        {
            // At the top, or in the one directory that may hold everything.
            let last = |name: &str| {
                let last = name.split_once('/').map_or(name, |(_, last)| last);
                pack::manifest_algorithm(last).or(pack::tag_manifest_algorithm(last))
            };
            algorithms.extend(names.iter().filter_map(|name| last(name)));
        }
        algorithms.into_iter().collect()
    }

    /// Adds the digests by algorithms that were not known beforehand, by one more pass.
    fn add_digests<'m>(
        &self,
        placement: &Placement,
        manifests: impl Iterator<Item = &'m NamedManifest>,
        digests: &mut Present<'_>,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let made = digests.values().flatten().next().cloned().unwrap_or_default();
        let wanted: BTreeSet<_> = manifests.map(|named| named.manifest.algorithm()).collect();
        let wanted: Vec<_> =
            wanted.into_iter().filter(|algorithm| made.by(*algorithm).is_none()).collect();
        if self.options.fast || wanted.is_empty() {
            return Ok(());
        }
        let scan = self
            .archive
            .scan(self.jobs, &|_, content| manifests::digest_reader(content, &wanted))?;
        for (member, more) in scan.members {
            let Some(name) = placement.relative(&member.name) else { continue };
            // What could not be read before is a finding already.
            let Some(Some(known)) = digests.get_mut(name) else { continue };
            match more {
                Some(Ok(more)) => *known = Cow::Owned(known.and(&more)),
                Some(Err(error)) => findings.push(manifests::unreadable(name, error)?),
                None => {}
            }
        }
        Ok(())
    }

    /// Where the manifest outside lies, if there is one: where the caller says, or beside the archive.
    fn external_path(&self) -> PathBuf {
        let beside = || beside(self.archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        self.options.manifest.clone().unwrap_or_else(beside)
    }

    /// The signatures in the pack and outside.
    fn signatures<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<String> {
        let outside = signatures::of(&self.external_path());
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
        texts: &BTreeMap<&str, &[u8]>,
        names: NameEncoding,
        findings: &mut Vec<Finding>,
    ) -> Result<Option<NamedManifest>> {
        let path = self.external_path();
        if self.options.manifest.is_none() && !fs::exists(&path) {
            return Ok(None);
        }
        let name = path.to_string_lossy().into_owned();
        let algorithm = path
            .file_name()
            .and_then(|name| name.to_str())
            .and_then(|name| name.find("manifest-").and_then(|at| name.get(at..)))
            .and_then(pack::manifest_algorithm)
            .unwrap_or(Algorithm::Sha256);
        // Byte for byte the manifest inside, it says nothing more.
        if inner.iter().any(|named| named.manifest.algorithm() == algorithm)
            && let Some(text) = texts.get(pack::manifest_name(algorithm).as_str())
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

impl Visited {
    fn nothing() -> Self {
        Self { digests: None, content: Content::Other, text: None, fault: None, refused: None }
    }
}

/// Names the array that each finding concerns, where it concerns one.
fn name_arrays(findings: &mut [Finding], contents: &Contents) {
    for finding in findings.iter_mut().filter(|finding| finding.array.is_none()) {
        let array = finding.member.as_deref().and_then(|member| contents.array_of(member));
        finding.array = array.map(str::to_owned);
    }
}

fn too_long(member: &str) -> Finding {
    Finding::new(
        Code::BadManifestLine,
        format!("the manifests are longer than the {MAX_MANIFEST} bytes that are read"),
    )
    .in_member(member)
}

/// Longest metadata or fetch list of a bag that is read: a million lines.
const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Most bytes that are kept of a file whose text is needed: manifests and tag files of a bag.
fn text_limit(path: &MemberPath) -> Option<u64> {
    // At the top, or in the one directory that may hold everything.
    if path.parent().is_some_and(|parent| parent.contains('/')) {
        return None;
    }
    let name = path.file_name();
    if pack::manifest_algorithm(name).is_some() || pack::tag_manifest_algorithm(name).is_some() {
        return Some(u64::MAX);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}

/// The metadata file of an RO-Crate, at the root of the pack or of a bag's payload.
fn ro_crate<'a>(placement: &Placement, mut names: impl Iterator<Item = &'a str>) -> Option<String> {
    const METADATA: &str = "ro-crate-metadata.json";
    let is_it = |name: &&str| {
        placement.relative(name) == Some(METADATA) || placement.payload(name) == Some(METADATA)
    };
    names.find(is_it).map(str::to_owned)
}
