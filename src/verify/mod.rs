//! Verification of packs: container, manifests, digests, headers and descriptions. All problems are reported.

pub(crate) mod bag;
mod blocks;
mod each;
mod first_pass;
mod large;
mod lone;
mod options;
mod proof;
mod report;
mod shard;
mod share;
mod signed;
#[cfg(feature = "remote")]
mod store;
mod store_word;
#[cfg(feature = "display")]
pub mod summary;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

pub use self::bag::BagReport;
pub use self::blocks::ProvedByBlocks;
pub use self::each::{Verified, verify_each};
pub use self::options::{KnownFiles, VerifyOptions};
pub use self::report::{Intact, TargetError, TargetErrorKind, Verdict, VerifyReport};
pub use self::shard::{InvalidShard, Shard};
#[cfg(feature = "remote")]
pub use self::store::{check_store, store_checksums};
pub use self::store_word::{StoreChecksums, StoreOutcome, StoreWord};

use self::blocks::{ListedBlocks, OtherFiles};
use self::first_pass::{left_out, text_limit};
use self::proof::Proof;
use self::report::Start;
use self::shard::{Chosen, Extent};
use self::share::Share;
use crate::archive::{Archive, Container, Member, MemberKind, NameTable};
use crate::deposit::check_crate;
use crate::digest::{Algorithm, Wanted};
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, count_errors};
use crate::fs;
use crate::inspect::late::{LateArrays, LateFile};
use crate::inspect::scan::placed;
use crate::inspect::visit::{Visited, Visitor};
use crate::pack::{self, BLOCK_LIST, Content, Contents, Placement};
use crate::path;
use crate::pipeline;
use crate::read::manifests::MAX_MANIFEST;
use crate::read::open::Pack;
use crate::read::single_file::is_array_file;

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
    verify_from(target.as_ref(), options, Start::now())
}

fn verify_from(target: &Path, options: &VerifyOptions, start: Start) -> Result<VerifyReport> {
    beside_store(target, options, start, || verify_alone(target, options, start))
}

/// Verifies a target, and compares it with an object in a store, if that is asked for. The store is asked before, because
/// it may not answer.
#[cfg_attr(not(feature = "remote"), expect(unused_variables, reason = "there are no stores"))]
fn beside_store(
    target: &Path,
    options: &VerifyOptions,
    start: Start,
    verify: impl FnOnce() -> Result<VerifyReport>,
) -> Result<VerifyReport> {
    #[cfg(feature = "remote")]
    if let Some(store) = &options.store {
        let asked = store::ask(store, target, options)?;
        let mut report = verify()?;
        let (word, found) = asked.compare(target, &report.noted_version(), &options.progress)?;
        report.store = Some(word);
        report.findings.extend(found);
        report.conclude(start);
        return Ok(report);
    }
    verify()
}

fn verify_alone(target: &Path, options: &VerifyOptions, start: Start) -> Result<VerifyReport> {
    if is_array_file(target)? {
        return lone::verify(target, options, start);
    }
    match Pack::open_watched(target, &options.progress) {
        Ok(pack) => pack.verify_from(options, start),
        Err(Error::Damaged { finding, .. }) => {
            let mut report = VerifyReport::begin(target, options, start);
            report.note_version(fs::version(target).unwrap_or_default());
            report.findings.push(*finding);
            Ok(report.finish(options, start))
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
    /// [`Error::Io`] if the archive or a manifest that was named cannot be read, and [`Error::WrongTarget`] for a shard
    /// of a compressed tar.
    pub fn verify(&self, options: &VerifyOptions) -> Result<VerifyReport> {
        let target = self.lone().map_or_else(|| self.archive().path(), |(path, _)| path);
        let start = Start::now();
        beside_store(target, options, start, || self.verify_from(options, start))
    }

    fn verify_from(&self, options: &VerifyOptions, start: Start) -> Result<VerifyReport> {
        if let Some((path, _)) = self.lone() {
            return lone::verify(path, options, start);
        }
        let archive = self.archive();
        let mut report = VerifyReport::begin(archive.path(), options, start);
        if let Some(file) = archive.file() {
            report.note_version(file.version()?);
        }
        let jobs = pipeline::jobs(options.jobs);
        match archive.check_start() {
            Err(Error::Damaged { finding, .. }) => {
                report.findings.push(*finding);
                return Ok(report.finish(options, start));
            }
            checked => checked?,
        }
        let chosen = Chosen::of(archive, options.shard)?;
        Verification { archive, options, jobs, chosen: &chosen, share: None }.run(&mut report)?;
        Ok(report.finish(options, start))
    }
}

impl Pack {
    /// Reads the large files in the share of worker number `nth`, from 0, of `count`. Returns those without a fault, for
    /// [`VerifyOptions::known`]; none if reading them alone takes as long.
    ///
    /// # Errors
    ///
    /// As [`Pack::verify`](Pack::verify).
    #[doc(hidden)]
    pub fn read_share(
        &self,
        nth: usize,
        count: usize,
        options: &VerifyOptions,
    ) -> Result<KnownFiles> {
        let archive = self.archive();
        if archive.is_stream() || self.lone().is_some() {
            return Ok(KnownFiles::new());
        }
        let share = Share::new(archive.members()?, nth, count);
        if !share.is_empty() {
            let mut report = VerifyReport::begin(archive.path(), options, Start::now());
            let (jobs, chosen) = (pipeline::jobs(options.jobs), &Chosen::All);
            let share = Some(&share);
            Verification { archive, options, jobs, chosen, share }.run(&mut report)?;
        }
        Ok(share.into_known())
    }
}

struct Verification<'a> {
    archive: &'a Archive,
    options: &'a VerifyOptions,
    jobs: usize,
    chosen: &'a Chosen,
    /// The share of one of several workers, if only its large files are read.
    share: Option<&'a Share>,
}

impl Verification<'_> {
    fn run(&self, report: &mut VerifyReport) -> Result<()> {
        let progress = self.archive.progress();
        let reads_all = !self.options.fast && self.chosen.is_all();
        let bytes = if reads_all { self.archive.bytes_to_read() } else { 0 };
        progress.stage("checking", bytes, 0);
        let container = self.archive.container();
        let fast = self.options.fast;
        // All of an archive on a server is read once, in its order.
        let reads_in_order = self.archive.costly_seek() && self.chosen.is_all();
        let (algorithms, has_block_list) = self.first_names();
        let leaves_large = !self.archive.is_stream()
            && !reads_in_order
            && (container != Container::Directory || has_block_list);
        let visitor = Visitor::new(self.archive, algorithms)?.with_texts(text_limit);
        if !fast {
            self.archive.announce_range(self.chosen.range(self.archive.bytes_to_read()));
        }
        let mut scan = self.archive.scan_keeping(self.jobs, &|member, content| {
            let extent = if fast { Extent::Header } else { self.chosen.extent(member) };
            let is_large = leaves_large && extent != Extent::Header && path::is_valid(&member.name);
            let left_out = || left_out(member).filter(|_| is_large);
            let reads_all = extent == Extent::All && self.share.is_none();
            let read =
                |content| left_out().unwrap_or_else(|| visitor.visit(member, content, reads_all));
            Visited::new(member, content.map(read))
        })?;
        let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
        let piped = self.options.manifest.as_deref().map(|path| fs::read_once(path, MAX_MANIFEST));
        let piped = piped.transpose()?.flatten().or_else(|| self.options.manifest_text.clone());
        let piped = match piped {
            Some(piped) => Some(piped),
            None => signed::manifest_text(self.options, self.archive)?,
        };
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
        if let Some(share) = self.share {
            share.keep(&scan.members);
            return Ok(());
        }
        progress.stage("finishing", 0, 0);
        report.findings.append(&mut scan.findings);
        report.container = Some(container);
        let mut members = scan.members.iter_mut();
        if let Some(refused) = members.find_map(|(member, _)| member.extras()?.refused.take()) {
            return Err(*refused);
        }
        if let Some(longest) = visitor.exceeded() {
            // The order in which threads read the texts is random, so all are dropped.
            for (member, _) in &mut scan.members {
                member.forget_text(longest);
            }
        }
        report.layout = placement.layout;
        let said = scan.members.iter_mut().filter_map(|(member, content)| {
            let content = std::mem::replace(content, Content::Other);
            Some((placed(&placement, &member.name)?, content))
        });
        let contents = Contents::collect(said);
        let mut members: Vec<Visited> =
            scan.members.into_iter().map(|(member, _)| member).collect();
        // The vector had room for contents as well.
        members.shrink_to_fit();
        let members = &members[..];
        progress.check()?;
        let names = NameTable::new(members.iter().map(|member| (&*member.name, member.kind)));
        let Self { archive, options, chosen, .. } = *self;
        let (placement, names, texts) = (&placement, &names, BTreeMap::new());
        let proof = Proof { archive, options, chosen, placement, members, names, texts, piped };
        self.compare(proof, contents, blocks.as_ref(), report)
    }

    /// Compares the files with the manifests and descriptions, and reads again what this shows to be needed.
    fn compare(
        &self,
        mut proof: Proof<'_>,
        mut contents: Contents,
        blocks: Option<&ListedBlocks>,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let Self { archive, options, chosen, .. } = *self;
        let (placement, members) = (proof.placement, proof.members);
        proof.begin(report)?;
        let lists = proof.lists(report)?;
        archive.progress().check()?;
        contents.forget_repetition();
        let mut of_contents = contents.findings();
        of_contents.extend(contents.document_of_all(&of_contents));
        let mut again = Again { algorithms: proof.late_algorithms(&lists), ..Again::default() };
        if !options.fast && !options.only_manifests {
            again.arrays = LateArrays::of_values(&contents, &mut of_contents);
        }
        // Another pass over an archive on a server is made only to find the blocks of damage.
        let is_later = archive.costly_seek() && !options.full;
        let now = blocks.filter(|_| !is_later);
        let mut others = now.map(|blocks| blocks.others(archive, chosen)).transpose()?;
        again.blocks = now.zip(others.as_ref());
        let mut late = self.read_again(placement, &again)?;
        of_contents.extend(late.iter_mut().flat_map(|file| std::mem::take(&mut file.findings)));
        proof.compare(lists, &mut late, report)?;
        if let Some(blocks) = blocks {
            report.blocks = blocks.proved();
            report.shard_block_size = blocks.divides().filter(|_| !chosen.is_all());
            let damaged = damaged(&report.findings);
            if is_later && !damaged.is_empty() {
                let files = others.insert(blocks.others(archive, chosen)?);
                let again = Again { blocks: Some((blocks, files)), ..Again::default() };
                late = self.read_again(placement, &again)?;
            }
            if let Some(files) = &others {
                let found = (files, &*late);
                let mut found = blocks.compare_others(archive, self.jobs, found, &damaged)?;
                finding::rename(&mut found, |name| placement.shown(name));
                report.findings.append(&mut found);
            }
        }
        report.arrays = contents.arrays.len() as u64;
        if !self.options.only_manifests {
            report.metadata = Some(contents.metadata_counts());
            drop_consequences(&mut of_contents, &report.findings, &contents);
            // Other problems of the files may be why the crate differs.
            if count_errors(&report.findings) + count_errors(&of_contents) == 0 {
                of_contents.extend(check_crate(&contents));
            }
            report.findings.append(&mut of_contents);
        }
        if archive.is_stream() {
            // The tar ends where its compressed stream is damaged.
            let unread = report.findings.iter().filter(|it| it.code == Code::BadMemberData);
            let unread: Vec<_> = unread.map(|finding| finding.member.clone()).collect();
            let is_said =
                |it: &Finding| it.code == Code::NotAnArchive && unread.contains(&it.member);
            report.findings.retain(|finding| !is_said(finding));
        }
        name_arrays(&mut report.findings, &contents);
        if report.contents_read && self.chosen.is_all() {
            let files = members.iter().filter(|member| member.kind == MemberKind::File);
            let files = files.map(|member| (placement.shown(&member.name), member.size));
            let all = Intact { files: report.files, arrays: report.arrays, bytes: report.bytes };
            report.intact = Some(Intact::count(all, files, &contents, &report.findings));
        }
        // Extension words are added after the count: files that contain them are intact.
        if self.options.strict && !self.options.only_manifests {
            report.findings.extend(contents.extension_words());
            name_arrays(&mut report.findings, &contents);
        }
        Ok(())
    }

    /// Reads again what only the first pass showed to be needed.
    fn read_again(&self, placement: &Placement, again: &Again<'_>) -> Result<Vec<LateFile>> {
        let Again { arrays, algorithms, blocks } = again;
        let hashed = |member: &Member| {
            let algorithms = if self.chosen.has(member) { &**algorithms } else { &[] };
            let packed = blocks.filter(|(_, files)| files.packed.contains(&member.name));
            let block_size = packed.map(|(blocks, _)| blocks.block_size());
            let is_hashed = !algorithms.is_empty() || block_size.is_some();
            is_hashed.then_some(Wanted { algorithms, block_size })
        };
        let has_packed = blocks.is_some_and(|(_, files)| !files.packed.is_empty());
        let is_hashed = !algorithms.is_empty() || has_packed;
        arrays.check_in(self.archive, placement, self.jobs, is_hashed.then_some(&hashed))
    }

    /// Returns the algorithms of the manifests, and whether there is a list of block digests, if the names can be read
    /// before the contents.
    fn first_names(&self) -> (Vec<Algorithm>, bool) {
        let mut algorithms = BTreeSet::from([Algorithm::Sha256]);
        let mut has_block_list = false;
        let mut take = |name: &str| {
            // At the top, or in a single directory that contains the whole pack.
            let last = name.split_once('/').map_or(name, |(_, last)| last);
            let of_manifest = pack::manifest_algorithm(last);
            algorithms.extend(of_manifest.or_else(|| pack::tag_manifest_algorithm(last)));
            has_block_list |= last == BLOCK_LIST;
        };
        // The scan reports why names cannot be read.
        if self.archive.is_stream() || self.archive.each_first_name(&mut take).is_err() {
            return (vec![Algorithm::Sha256], false);
        }
        (algorithms.into_iter().collect(), has_block_list)
    }
}

/// The needs of a second pass.
#[derive(Default)]
struct Again<'a> {
    arrays: LateArrays<'a>,
    algorithms: Vec<Algorithm>,
    /// Files to compare with the digests of their blocks.
    blocks: Option<(&'a ListedBlocks, &'a OtherFiles)>,
}

/// Returns the files that differ from a digest or checksum.
fn damaged(findings: &[Finding]) -> HashSet<String> {
    let is_damage = |finding: &&Finding| {
        matches!(finding.code, Code::DigestMismatch | Code::BadChecksum | Code::BadMemberData)
    };
    findings.iter().filter(is_damage).filter_map(|finding| finding.member.clone()).collect()
}

/// Returns whether the end of the archive is missing, where the manifest is.
fn is_cut_off(findings: &[Finding]) -> bool {
    findings.iter().any(|it| matches!(it.code, Code::NotAnArchive | Code::DamagedStream))
}

/// Drops findings about arrays and descriptions whose files could not be read, because they follow from that. An archive
/// that is cut off lacks files, so what refers to files that are not there follows from that as well.
fn drop_consequences(findings: &mut Vec<Finding>, causes: &[Finding], contents: &Contents) {
    let is_cause =
        |finding: &&Finding| matches!(finding.code, Code::BadChecksum | Code::BadMemberData);
    let refers = |code| {
        matches!(code, Code::UnknownCoordinate | Code::UnresolvedCoord | Code::UnresolvedTarget)
            || matches!(code, Code::Undescribed | Code::MissingArray | Code::PartialDocument)
    };
    if is_cut_off(causes) {
        findings.retain(|finding| !refers(finding.code));
    }
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
