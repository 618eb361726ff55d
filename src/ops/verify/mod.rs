//! Verification of packs: container, manifests, digests, headers and descriptions. All problems are reported.

mod blocks;
mod lone;
mod proof;
mod visit;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde::Serialize;

pub use self::blocks::ProvedByBlocks;
pub(super) use self::proof::is_payload;

use self::blocks::ListedBlocks;
use self::proof::Proof;
use self::visit::{LargeFiles, Visited, Visitor};
use super::bag::BagReport;
use super::manifests::MAX_MANIFEST;
use super::open::Pack;
use super::scan::{check_values, placed};
use super::single_file::is_array_file;
use crate::archive::{Archive, Container, Member, MemberKind, NameTable};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity, count_errors};
use crate::fs;
use crate::pack::{self, BLOCK_LIST, Content, Contents, Layout, MetadataCounts, Placement};
use crate::pipeline;
use crate::progress::Progress;

/// Options for [`verify`]: how much to read, and where the manifest is.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct VerifyOptions {
    /// Whether to read only headers and descriptions. Digests are not checked, so damaged data is not found.
    pub fast: bool,
    /// Whether to compute the digest of every whole file. By default it is not computed for a file that block digests
    /// prove. The blocks of all other files are then also compared with their digests.
    pub full: bool,
    /// Whether to check only the container, names and digests, without headers and descriptions.
    pub only_manifests: bool,
    /// Whether to treat warnings and extension words in descriptions as errors.
    pub strict: bool,
    /// Number of threads; one per core if `None`.
    pub jobs: Option<usize>,
    /// Path of a manifest that is not next to the archive.
    pub manifest: Option<PathBuf>,
    /// Receives progress reports and cancels the operation.
    pub progress: Progress,
}

/// The problems of one target, and counts of its files.
#[derive(Debug, Clone, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct VerifyReport {
    /// Path of the archive or directory, as given.
    pub target: PathBuf,
    /// The container of the target; absent for an array file, and if it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container: Option<Container>,
    /// The layout of the pack.
    pub layout: Layout,
    /// The checks of RFC 8493, section 3; absent if the target is not a bag. They ignore arrays and descriptions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bag: Option<BagReport>,
    /// Name of the metadata file of an RO-Crate at the root of the pack or of a bag's payload; absent if there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ro_crate: Option<String>,
    /// Whether every byte of every file was hashed and checked against a manifest, or against block digests that the
    /// manifest confirms.
    pub contents_read: bool,
    /// Number of files.
    pub members: u64,
    /// Number of files that are arrays.
    pub arrays: u64,
    /// Size of all files in bytes.
    pub bytes: u64,
    /// Manifests that the files were checked against: names in the target, or paths outside it.
    pub manifests: Vec<String>,
    /// Signatures of the manifests: names in the target, or paths outside it. ra-pack does not check them; use the
    /// program that made them.
    pub signatures: Vec<String>,
    /// Files that were compared with the digests of their blocks instead of the digest of the whole file; absent if there
    /// are none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blocks: Option<ProvedByBlocks>,
    /// Files that are intact; absent if contents were not read, or there is no manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub intact: Option<Intact>,
    /// Number of arrays without units or names; absent if descriptions were not read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metadata: Option<MetadataCounts>,
    /// Duration of the verification in seconds.
    pub seconds: f64,
    /// Errors and warnings, in the order of the members. The target is valid if none is an error.
    pub findings: Vec<Finding>,
}

impl VerifyReport {
    /// Returns whether there is no error. Warnings do not count.
    pub fn is_valid(&self) -> bool {
        count_errors(&self.findings) == 0
    }
}

/// Files that agree with a manifest and have no error. They can be used even if the pack is not valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub struct Intact {
    /// Number of files, including descriptions and manifests.
    pub members: u64,
    /// Number of arrays among them whose header and description are also valid.
    pub arrays: u64,
    /// Size of these files in bytes.
    pub bytes: u64,
}

impl Intact {
    /// Counts the files without an error, which are `all` if there is no error. `files` are given by the names that
    /// findings use. Their contents must have been read and checked against complete manifests.
    fn count<'a>(
        all: Self,
        files: impl Iterator<Item = (&'a str, u64)>,
        contents: &Contents,
        findings: &[Finding],
    ) -> Self {
        let errors = || findings.iter().filter(|finding| finding.is_error());
        if errors().next().is_none() {
            return all;
        }
        let files_with_errors: HashSet<&str> =
            errors().filter_map(|finding| finding.member.as_deref()).collect();
        let arrays_with_errors: HashSet<&str> =
            errors().filter_map(|finding| finding.array.as_deref()).collect();
        let mut intact = Self::default();
        for (name, size) in files.filter(|(name, _)| !files_with_errors.contains(name)) {
            let is_intact = pack::is_array(name)
                && contents.is_array(name)
                && !arrays_with_errors.contains(name);
            intact.members += 1;
            intact.arrays += u64::from(is_intact);
            intact.bytes = intact.bytes.saturating_add(size);
        }
        intact
    }
}

/// Verifies an archive, a directory or an array file. An array file is verified with its description, and with the
/// nearest manifest in its directory or above that lists it.
///
/// Damage is not an error: the report lists it. This includes an archive whose beginning or end is missing.
///
/// # Errors
///
/// [`Error::Io`] if the target or a manifest that was named cannot be read, and [`Error::NotAPack`] if the target is
/// another kind of file.
///
/// ```no_run
/// use ra_pack::verify;
/// use ra_pack::verify::VerifyOptions;
///
/// let report = verify("exp.zip", &VerifyOptions::default())?;
/// for finding in &report.findings {
///     println!("{finding}");
/// }
/// assert!(report.is_valid());
/// # Ok::<(), ra_pack::Error>(())
/// ```
pub fn verify(target: impl AsRef<Path>, options: &VerifyOptions) -> Result<VerifyReport> {
    let target = target.as_ref();
    let start = Instant::now();
    if is_array_file(target)? {
        return lone::verify(target, options);
    }
    match Pack::open_watched(target, &options.progress) {
        Ok(pack) => pack.verify(options),
        Err(Error::Damaged { finding, .. }) => {
            let mut report = VerifyReport { target: target.to_owned(), ..VerifyReport::default() };
            report.findings.push(*finding);
            Ok(finished(report, options, start))
        }
        Err(error) => Err(error),
    }
}

impl Pack {
    /// Verifies an open pack: the file that was opened, even if it was renamed or replaced since. Reads are reported to
    /// the progress that the pack was opened with.
    ///
    /// # Errors
    ///
    /// [`Error::Io`] if the archive or a manifest that was named cannot be read.
    pub fn verify(&self, options: &VerifyOptions) -> Result<VerifyReport> {
        if let Some((path, _)) = self.lone() {
            return lone::verify(path, options);
        }
        let (start, archive) = (Instant::now(), self.archive());
        let target = archive.path().to_owned();
        let mut report = VerifyReport { target, ..VerifyReport::default() };
        let jobs = pipeline::jobs(options.jobs);
        Verification { archive, options, jobs }.run(&mut report)?;
        Ok(finished(report, options, start))
    }
}

fn finished(mut report: VerifyReport, options: &VerifyOptions, start: Instant) -> VerifyReport {
    if options.strict {
        for finding in &mut report.findings {
            finding.severity = Severity::Error;
        }
    }
    finding::sort(&mut report.findings);
    finding::cut(&mut report.findings);
    report.seconds = start.elapsed().as_secs_f64();
    report
}

struct Verification<'a> {
    archive: &'a Archive,
    options: &'a VerifyOptions,
    jobs: usize,
}

impl Verification<'_> {
    fn run(&self, report: &mut VerifyReport) -> Result<()> {
        let progress = self.archive.progress();
        let bytes = if self.options.fast { 0 } else { self.archive.bytes_to_read() };
        progress.stage("checking", bytes, 0);
        let container = self.archive.container();
        let leaves_large = !self.archive.is_stream()
            && (container != Container::Directory || self.may_have_block_list());
        let fast = self.options.fast;
        let visitor = Visitor::new(self.archive, leaves_large, fast, self.algorithms())?;
        let mut scan = self.archive.scan_keeping(self.jobs, &|member, content| {
            Visited::new(member, content.map(|content| visitor.visit(member, content, progress)))
        })?;
        let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
        let piped = self.options.manifest.as_deref().map(|path| fs::read_once(path, MAX_MANIFEST));
        let piped = piped.transpose()?.flatten();
        let mut blocks = None;
        if !fast && visitor.exceeded().is_none() {
            let outside = (&placement, piped.as_deref());
            let findings = &mut report.findings;
            blocks =
                ListedBlocks::find(self.archive, self.options, outside, &scan.members, findings)?;
        }
        if leaves_large {
            self.read_large(&visitor, blocks.as_mut(), &mut scan.members)?;
        }
        progress.check()?;
        progress.stage("finishing", 0, 0);
        report.findings.append(&mut scan.findings);
        report.container = Some(container);
        let mut rare =
            scan.members.iter_mut().filter_map(|(member, _)| member.read.as_mut()?.rare.as_mut());
        if let Some(refused) = rare.find_map(|rare| rare.refused.take()) {
            return Err(*refused);
        }
        if let Some(longest) = visitor.exceeded() {
            // The order in which threads read the texts is random, so all are dropped.
            for (member, _) in &mut scan.members {
                if let Some(rare) = member.read.as_mut().and_then(|read| read.rare.as_mut()) {
                    rare.forget_text(&member.name, longest);
                }
            }
        }
        report.layout = placement.layout;
        let said = scan.members.iter_mut().filter_map(|(member, content)| {
            let content = std::mem::replace(content, Content::Other);
            Some((placed(&placement, &member.name)?, content))
        });
        let mut contents = Contents::collect(said);
        let mut members: Vec<Visited> =
            scan.members.into_iter().map(|(member, _)| member).collect();
        // The vector had room for contents as well.
        members.shrink_to_fit();
        let members = &members[..];
        progress.check()?;
        let names = NameTable::new(members.iter().map(|member| (&*member.name, member.kind)));
        let Self { archive, options, jobs } = *self;
        let (placement, names, texts) = (&placement, &names, BTreeMap::new());
        Proof { archive, options, jobs, placement, members, names, texts, piped }.run(report)?;
        progress.check()?;
        if let Some(blocks) = &blocks {
            report.blocks = blocks.proved();
            self.compare_other_blocks(blocks, placement, &mut report.findings)?;
        }
        contents.forget_repetition();
        let mut of_contents = contents.findings();
        of_contents.extend(contents.document_of_all(&of_contents));
        if !options.fast {
            of_contents.extend(check_values(archive, placement, &contents, jobs)?);
        }
        report.arrays = contents.arrays.len() as u64;
        if !self.options.only_manifests {
            report.metadata = Some(contents.metadata_counts());
            drop_consequences(&mut of_contents, &report.findings, &contents);
            report.findings.append(&mut of_contents);
        }
        name_arrays(&mut report.findings, &contents);
        if report.contents_read {
            let files = members.iter().filter(|member| member.kind == MemberKind::File);
            let files = files.map(|member| (placement.shown(&member.name), member.size));
            let all =
                Intact { members: report.members, arrays: report.arrays, bytes: report.bytes };
            report.intact = Some(Intact::count(all, files, &contents, &report.findings));
        }
        // Extension words are added after the count: files that contain them are intact.
        if self.options.strict && !self.options.only_manifests {
            report.findings.extend(contents.extension_words());
            name_arrays(&mut report.findings, &contents);
        }
        Ok(())
    }

    /// Reads the large files that the scan left out.
    fn read_large(
        &self,
        visitor: &Visitor,
        mut blocks: Option<&mut ListedBlocks>,
        scanned: &mut [(Visited, Content)],
    ) -> Result<()> {
        /// Number of files to read at once: the data for locating them takes more memory than their results.
        const TOGETHER: usize = 1 << 16;
        for scanned in scanned.chunks_mut(TOGETHER) {
            let (members, large): (Vec<Member>, Vec<_>) = scanned
                .iter_mut()
                .filter_map(|(member, content)| {
                    let read = member.read.as_mut()?;
                    Some((read.rare.as_mut()?.large.take()?, (read, content)))
                })
                .unzip();
            let proved = |member: &Member| blocks.as_ref().is_some_and(|all| all.prove(member));
            let (of_blocks, wanted): (Vec<usize>, Vec<usize>) =
                (0..members.len()).partition(|at| members.get(*at).is_some_and(proved));
            let progress = self.archive.progress();
            let visit = LargeFiles { visitor, members: &members, progress };
            let found = self.archive.revisit_by(&members, &wanted, self.jobs, &visit)?;
            let mut found: Vec<_> = wanted.into_iter().zip(found).collect();
            if let Some(blocks) = &mut blocks {
                let proved = of_blocks.iter().filter_map(|at| members.get(*at).cloned());
                let proved: Vec<Member> = proved.collect();
                let faults = blocks.check(self.archive, &proved, self.jobs)?;
                let looked = proved.iter().zip(faults);
                let looked = looked
                    .map(|(member, fault)| visitor.look_at_header(member, fault, self.archive));
                found.extend(of_blocks.into_iter().zip(looked));
                blocks.count(&proved);
                found.sort_unstable_by_key(|(at, _)| *at);
            }
            for ((read, content), (_, found)) in large.into_iter().zip(found) {
                (*read, *content) = found;
            }
        }
        Ok(())
    }

    /// Compares the blocks of files that were hashed as a whole: to tell which bytes are damaged, or of all files if the
    /// option `full` is set.
    fn compare_other_blocks(
        &self,
        blocks: &ListedBlocks,
        placement: &Placement,
        findings: &mut Vec<Finding>,
    ) -> Result<()> {
        let is_damage = |finding: &&Finding| {
            matches!(finding.code, Code::DigestMismatch | Code::BadChecksum | Code::BadMemberData)
        };
        let damaged =
            findings.iter().filter(is_damage).filter_map(|finding| finding.member.clone());
        let damaged: HashSet<String> = damaged.collect();
        let how = (self.options.full, self.jobs);
        let mut found = blocks.compare_others(self.archive, how, &damaged)?;
        finding::rename(&mut found, |name| placement.shown(name));
        findings.append(&mut found);
        Ok(())
    }

    /// Returns whether a directory has a file with the name of a list of block digests.
    fn may_have_block_list(&self) -> bool {
        let mut is_there = false;
        let named = self.archive.each_first_name(&mut |name| {
            is_there |= name.rsplit('/').next() == Some(BLOCK_LIST);
        });
        named.is_ok() && is_there
    }

    /// Returns the algorithms of the manifests, if the names can be read before the contents.
    fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = BTreeSet::from([Algorithm::Sha256]);
        if !self.archive.is_stream() {
            let known = self.archive.each_first_name(&mut |name| {
                // At the top, or in a single directory that contains the whole pack.
                let last = name.split_once('/').map_or(name, |(_, last)| last);
                let of_manifest = pack::manifest_algorithm(last);
                algorithms.extend(of_manifest.or_else(|| pack::tag_manifest_algorithm(last)));
            });
            // The scan reports why names cannot be read.
            if known.is_err() {
                algorithms = BTreeSet::from([Algorithm::Sha256]);
            }
        }
        algorithms.into_iter().collect()
    }
}

/// Drops findings about arrays and descriptions whose files could not be read, because they follow from that.
fn drop_consequences(findings: &mut Vec<Finding>, causes: &[Finding], contents: &Contents) {
    let is_cause =
        |finding: &&Finding| matches!(finding.code, Code::BadChecksum | Code::BadMemberData);
    let members = causes.iter().filter(is_cause).filter_map(|finding| finding.member.as_deref());
    let mut unread: HashSet<&str> = members.collect();
    if unread.is_empty() {
        return;
    }
    let arrays: Vec<_> = unread.iter().filter_map(|member| contents.array_of(member)).collect();
    unread.extend(arrays);
    findings.retain(|finding| {
        let about = [finding.member.as_deref(), finding.array.as_deref()];
        !about.into_iter().flatten().any(|name| unread.contains(name))
    });
}

/// Adds the name of the array to the findings about it.
fn name_arrays(findings: &mut [Finding], contents: &Contents) {
    for finding in findings.iter_mut().filter(|finding| finding.array.is_none()) {
        let array = finding.member.as_deref().and_then(|member| contents.array_of(member));
        finding.array = array.map(str::to_owned);
    }
}
