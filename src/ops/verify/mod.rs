//! Verifying a pack: container, manifests, digests, headers, descriptions. Everything that is wrong
//! is reported, not only the first.

mod document;
mod exact;
mod outside;
mod proof;
mod report;
mod visit;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::time::Instant;

pub(super) use self::proof::is_payload;
pub use self::report::{VerifyOptions, VerifyReport};

use self::document::Document;
use self::exact::Found;
use self::outside::Outside;
use self::proof::Proof;
use self::visit::{Known, LargeFiles, Left, Outcome, Visitor};
use super::bag::Bag;
use super::glance::placed;
use super::inline;
use super::intact::Intact;
use super::manifests;
use super::present::Present;
use crate::archive::{self, Archive, Container, Member, MemberKind, NameTable};
use crate::digest::Algorithm;
use crate::error::{Error, Result};
use crate::finding::{self, Code, Finding, Severity};
use crate::fs;
use crate::pack::{self, Content, Contents, Layout, Placement};
use crate::pipeline;

/// Verifies one archive or directory.
///
/// Damage is not an error: it is in the report. An archive whose beginning or end is gone is damage too.
///
/// # Errors
///
/// When the target, or a manifest that was named, cannot be read at all or never was one: [`Error::NotAPack`].
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
    match Archive::open_watched(target, &options.progress) {
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
    finding::cut(&mut report.findings);
    report.seconds = start.elapsed().as_secs_f64();
    Ok(report)
}

struct Verification<'a> {
    archive: &'a Archive,
    options: &'a VerifyOptions,
    jobs: usize,
}

/// The members of the archive, and what was found out about those that are files.
type Members = [Known];

impl<'a> Verification<'a> {
    fn new(archive: &'a Archive, options: &'a VerifyOptions) -> Self {
        let jobs = pipeline::jobs(options.jobs);
        Self { archive, options, jobs }
    }

    fn run(&self, report: &mut VerifyReport) -> Result<()> {
        let progress = &self.options.progress;
        let bytes = if self.options.fast { 0 } else { self.archive.bytes_to_read() };
        progress.stage("checking", bytes, 0);
        let container = self.archive.container();
        let in_file = self.archive.contents_in_file();
        let (leaves_large, fast) = (in_file.is_some(), self.options.fast);
        let visitor = Visitor::new(self.archive, leaves_large, fast, self.algorithms(), self.jobs)?;
        let mut scan = self.archive.scan_keeping(
            self.jobs,
            &|member, content| visitor.visit(member, content, progress),
            &Known::new,
        )?;
        if let Some(contents) = in_file {
            self.read_large(&contents, &visitor, &mut scan.members)?;
        }
        progress.stage("finishing", 0, 0);
        report.findings.append(&mut scan.findings);
        report.container = Some(container);
        let mut rare =
            scan.members.iter_mut().filter_map(|(known, _)| known.visited.as_mut()?.rare.as_mut());
        if let Some(refused) = rare.find_map(|rare| rare.refused.take()) {
            return Err(*refused);
        }
        let placement = Placement::detect(&scan.members.iter().map(|(known, _)| &*known.name));
        report.layout = placement.layout;
        let mut documents: Vec<Member> = Vec::new();
        let said = scan.members.iter_mut().filter_map(|(known, content)| {
            let rare = known.visited.as_ref().and_then(|visited| visited.rare.as_ref());
            documents.extend(rare.and_then(|rare| rare.left_as(Left::Document)).cloned());
            match std::mem::replace(content, Content::Other) {
                Content::Other => None,
                content => {
                    // Of several of one name, the last counts.
                    documents.retain(|member| member.name != known.name);
                    Some((placed(&placement, &known.name)?, content))
                }
            }
        });
        let mut contents = Contents::collect(said);
        let mut members: Vec<Known> = scan.members.into_iter().map(|(known, _)| known).collect();
        // They took the room of what their files say, too.
        members.shrink_to_fit();
        let members = &members[..];
        let names = NameTable::new(members.iter().map(|member| (&*member.name, member.kind)));
        // What files say of themselves is judged beside what manifests say of them.
        let (proved, said) = pipeline::join(
            self.jobs,
            || self.prove(members, &names, &placement, report),
            || {
                self.read_documents(&placement, &documents, &mut contents)?;
                contents.forget_repetition(self.jobs);
                let mut findings = contents.findings_by(self.jobs);
                findings.extend(contents.document_of_all(&findings));
                if !self.options.fast {
                    let (archive, jobs) = (self.archive, self.jobs);
                    findings.extend(inline::in_archive(archive, &placement, &contents, jobs)?);
                }
                Ok::<_, Error>((contents, findings))
            },
        );
        proved?;
        let (contents, mut of_contents) = said?;
        report.arrays = u64::try_from(contents.arrays.len()).unwrap_or(u64::MAX);
        if !self.options.only_manifests {
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
        // What strictness alone objects to is none the less whole.
        if self.options.strict && !self.options.only_manifests {
            report.findings.extend(contents.extension_words());
            name_arrays(&mut report.findings, &contents);
        }
        Ok(())
    }

    /// Reads the large files that the scan passed over.
    fn read_large(
        &self,
        contents: &archive::Contents,
        visitor: &Visitor,
        scanned: &mut [(Known, Content)],
    ) -> Result<()> {
        /// So many at a time, since what it takes to reach them is more than what is kept of each.
        const TOGETHER: usize = 1 << 16;
        for scanned in scanned.chunks_mut(TOGETHER) {
            let (members, large): (Vec<Member>, Vec<_>) = scanned
                .iter_mut()
                .filter_map(|(known, content)| {
                    let visited = known.visited.as_mut()?;
                    let member = visited.rare.as_ref()?.left_as(Left::Large)?.clone();
                    Some((member, (visited, content)))
                })
                .unzip();
            let wanted: Vec<usize> = (0..members.len()).collect();
            let progress = &self.options.progress;
            let visit = LargeFiles { visitor, members: &members, progress };
            let read = contents.revisit_by(&members, &wanted, self.jobs, &visit)?;
            for ((member, (visited, content)), read) in members.into_iter().zip(large).zip(read) {
                (*visited, *content) = Outcome::new(member, read);
            }
        }
        Ok(())
    }

    /// Checks everything but what files say of themselves: their names, and that they are what the
    /// manifests list.
    fn prove(
        &self,
        members: &Members,
        names: &NameTable,
        placement: &Placement,
        report: &mut VerifyReport,
    ) -> Result<()> {
        let findings = &mut report.findings;
        archive::check_names(names, self.archive.container(), findings);
        let mut texts: BTreeMap<&str, &[u8]> = BTreeMap::new();
        let mut left = Vec::new();
        for member in members {
            if member.kind == MemberKind::File {
                report.members = report.members.saturating_add(1);
                report.bytes = report.bytes.saturating_add(member.size);
            }
            let Some(visited) = &member.visited else { continue };
            let name = placement.relative(&member.name);
            if let Some(rare) = &visited.rare {
                findings.extend(rare.fault.as_deref().cloned());
                if let (Some(name), Some(text)) = (name, &rare.text) {
                    texts.insert(name, text);
                } else if let (Some(name), Some(member)) = (name, rare.left_as(Left::Text)) {
                    left.push((name, member));
                }
            }
            // What lies beside a bag is for its rules to say.
            if name.is_none() && placement.layout == Layout::Plain {
                findings.push(
                    Finding::new(
                        Code::UnlistedMember,
                        "the file lies outside of the pack's directory",
                    )
                    .in_member(&*member.name),
                );
            }
        }
        finding::rename(findings, |name| placement.shown(name));
        report.ro_crate = ro_crate(placement, names);
        let given = self.options.manifest.as_deref();
        let piped =
            given.map(|path| fs::read_once(path, manifests::MAX_MANIFEST)).transpose()?.flatten();
        let piped = piped.as_deref();
        let outside = Outside { archive: self.archive, options: self.options, piped };
        let of_pack = names.names().filter_map(|name| placement.relative(name));
        report.signatures = outside.signatures(&of_pack, findings);
        outside.check_archive_digest(findings)?;
        let found = Found { outside, members, names, placement, texts: &texts, left: &left };
        let exact = found.is_listed_exactly()?;
        if let Some(name) = exact.as_ref().filter(|_| placement.layout == Layout::Plain) {
            report.manifests.push(name.clone());
            report.contents_read = true;
            return Ok(());
        }
        let read = left.iter().filter(|(name, _)| exact.as_deref() != Some(name));
        let read = read.map(|(name, member)| Ok((*name, self.reread(member)?)));
        let read = read.collect::<Result<Vec<_>>>()?;
        texts.extend(read.iter().map(|(name, text)| (*name, text.as_slice())));
        let mut present = Present::new(names.iter().filter_map(|named| {
            let visited = members.get(named.member)?.visited.as_ref()?;
            Some((placement.relative(named.name)?, visited.digests.as_ref()))
        }));
        let before = findings.len();
        let bag = (placement.layout == Layout::BagIt).then(|| {
            let members = members.iter().map(|member| (&*member.name, member.kind, member.size));
            Bag::new(placement, self.archive.container(), members, &texts, findings)
        });
        let (jobs, exact) = (self.jobs, exact.as_deref());
        let proof = Proof { outside, jobs, placement, bag: bag.as_ref(), texts: &texts, exact };
        proof.check(&mut present, report)?;
        report.bag = bag.map(|bag| bag.report(report.contents_read, &report.findings));
        let of_manifests = report.findings.get_mut(before..).unwrap_or_default();
        finding::rename(of_manifests, |name| placement.shown_relative(name));
        Ok(())
    }

    /// Reads what may be the document of the pack and was left in the archive.
    fn read_documents(
        &self,
        placement: &Placement,
        documents: &[Member],
        contents: &mut Contents,
    ) -> Result<()> {
        let document =
            |member| Document { archive: self.archive, placement, member, jobs: self.jobs };
        // That of the pack is held against all others.
        let (of_pack, others): (Vec<_>, Vec<_>) =
            documents.iter().map(document).partition(Document::is_of_pack);
        others.iter().chain(of_pack.last()).try_for_each(|document| document.add_to(contents))
    }

    /// Reads a text that was left in the archive.
    fn reread(&self, member: &Member) -> Result<Vec<u8>> {
        let mut text = Vec::new();
        let mut reader = self.archive.read(member)?.take(manifests::longest(self.archive)?);
        match reader.read_to_end(&mut text) {
            Ok(_) => {}
            // Damage is known from the first reading; what stands before it can be read.
            Err(error) => drop(manifests::unreadable(&member.name, error)?),
        }
        Ok(text)
    }

    /// The algorithms of the manifests, where names are known before contents are read.
    fn algorithms(&self) -> Vec<Algorithm> {
        let mut algorithms = BTreeSet::from([Algorithm::Sha256]);
        if self.archive.container() != Container::TarGz
            && self.archive.container() != Container::TarZst
        {
            let known = self.archive.each_first_name(&mut |name| {
                // At the top, or in the one directory that may hold everything.
                let last = name.split_once('/').map_or(name, |(_, last)| last);
                let of_manifest = pack::manifest_algorithm(last);
                algorithms.extend(of_manifest.or_else(|| pack::tag_manifest_algorithm(last)));
            });
            // What keeps names from being known is reported by the pass over contents.
            if known.is_err() {
                algorithms = BTreeSet::from([Algorithm::Sha256]);
            }
        }
        algorithms.into_iter().collect()
    }
}

/// Names the array that each finding concerns, where it concerns one.
fn name_arrays(findings: &mut [Finding], contents: &Contents) {
    for finding in findings.iter_mut().filter(|finding| finding.array.is_none()) {
        let array = finding.member.as_deref().and_then(|member| contents.array_of(member));
        finding.array = array.map(str::to_owned);
    }
}

/// The metadata file of an RO-Crate, at the root of the pack or of a bag's payload.
fn ro_crate(placement: &Placement, names: &NameTable) -> Option<String> {
    const METADATA: &str = "ro-crate-metadata.json";
    let is_it = |name: &&str| {
        name.ends_with(METADATA)
            && (placement.relative(name) == Some(METADATA)
                || placement.payload(name) == Some(METADATA))
    };
    names.names().find(is_it).map(str::to_owned)
}
