//! The first scan of a pack, which most operations begin with: its members, its layout, its headers and descriptions.

use std::collections::{BTreeMap, HashSet};
use std::io::{BufRead, Read as _};
use std::sync::Arc;

use crate::archive::{Archive, Member, MemberReader};
use crate::error::Result;
use crate::finding::Finding;
use crate::inspect::inlined::Inlined;
use crate::pack::{Contents, Inspector, Interner, PACK_DOCUMENT, Placement};
use crate::path::{self, MemberPath};
use crate::read::manifests;

/// A pack after the first scan.
#[derive(Debug)]
pub(crate) struct PackScan {
    pub(crate) placement: Placement,
    /// All members in the order of the container.
    pub(crate) members: Vec<Member>,
    /// Headers and descriptions.
    pub(crate) contents: Contents,
    /// Errors and warnings about the container and names.
    pub(crate) findings: Vec<Finding>,
}

impl PackScan {
    /// Reads the structure of an archive, headers of arrays, and descriptions.
    pub(crate) fn new(archive: &Archive, jobs: usize) -> Result<Self> {
        let progress = archive.progress();
        stage(archive);
        let (interner, allowance) = (Interner::default(), archive.allowance()?);
        let mut scan = archive.scan(jobs, |member, content| {
            progress.at(&member.name);
            let content = path::is_valid(&member.name).then(|| {
                let mut inspector = Inspector::within(&member.name, &allowance);
                // A damaged member is described as far as possible. A system error says nothing about the file.
                let read = inspector.read(content);
                match read.map_err(|error| manifests::unreadable(&member.name, error)) {
                    Err(Err(error)) => Err(Box::new(error)),
                    Ok(()) | Err(Ok(_)) => {
                        Ok(inspector.finish_interned(&member.name, member.size, &interner))
                    }
                }
            });
            progress.done(1);
            content
        })?;
        // Cancellation may have caused read errors.
        progress.check()?;
        let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
        let ambiguous = ambiguous(&scan.findings);
        let mut failed = None;
        let contents = scan.members.iter_mut().filter_map(|(member, content)| {
            let content = content.take()??.map_err(|error| failed = Some(error)).ok()?;
            // If a member has two headers, neither determines its content.
            let path = placed(&placement, &member.name)?;
            (!ambiguous.contains(&*member.name)).then_some((path, content))
        });
        let contents = Contents::collect(contents);
        if let Some(error) = failed {
            return Err(*error);
        }
        let mut members: Vec<_> = scan.members.into_iter().map(|(member, _)| member).collect();
        // The vector had room for the contents as well.
        members.shrink_to_fit();
        Ok(Self { placement, members, contents, findings: scan.findings })
    }

    /// Makes a scan of members whose contents were not read.
    pub(crate) fn listed_only(
        placement: Placement,
        members: Vec<Member>,
        findings: Vec<Finding>,
    ) -> Self {
        Self { placement, members, contents: Contents::default(), findings }
    }
}

/// Reports the stage of a scan. The number of bytes to read is known only for a stream.
pub(super) fn stage(archive: &Archive) {
    let bytes = if archive.is_stream() { archive.bytes_to_read() } else { 0 };
    archive.progress().stage("reading", bytes, 0);
}

/// Returns the members with ambiguous kind or content, which must not be shown or written.
pub(crate) fn ambiguous(findings: &[Finding]) -> HashSet<String> {
    let about = findings.iter().filter(|finding| finding.forbids_reading());
    about.filter_map(|finding| finding.member.clone()).collect()
}

/// Returns the name of a file in the contents of the pack.
pub(crate) fn placed(placement: &Placement, name: &Arc<str>) -> Option<MemberPath> {
    let payload = placement.payload(name);
    if payload == Some(&**name) {
        return MemberPath::new(Arc::clone(name)).ok();
    }
    // The description of the pack is a tag file in a bag, and otherwise part of the payload.
    let relative = || placement.relative(name).filter(|name| *name == PACK_DOCUMENT);
    MemberPath::new(payload.or_else(relative)?).ok()
}

/// How arrays are read again.
pub(crate) enum Arrays<'a> {
    /// In one pass over an archive, with this number of threads.
    InPass(&'a Archive, &'a Placement, usize),
    /// One by one.
    ByName(&'a dyn Fn(&str) -> Result<MemberReader>),
}

impl Arrays<'_> {
    /// Passes the content of each array in `wanted` to `look`, and returns what it finds.
    pub(crate) fn look<T: Sync>(
        &self,
        wanted: &BTreeMap<&str, T>,
        look: impl Fn(&T, &mut dyn BufRead) -> Vec<Finding> + Sync,
    ) -> Result<Vec<Finding>> {
        match self {
            _ if wanted.is_empty() => Ok(Vec::new()),
            Self::InPass(archive, placement, jobs) => {
                let scan = archive.scan_files(*jobs, |member, content| {
                    let path = placed(placement, &member.name)?;
                    Some(look(wanted.get(path.as_str())?, content))
                })?;
                archive.progress().check()?;
                let found = scan.members.into_iter().filter_map(|(_, found)| found.flatten());
                Ok(found.flatten().collect())
            }
            Self::ByName(open) => {
                let found = wanted.iter().map(|(path, it)| Ok(look(it, &mut open(path)?)));
                Ok(found.collect::<Result<Vec<_>>>()?.concat())
            }
        }
    }
}

/// Compares elements that descriptions repeat with the arrays. These elements are known only after all descriptions are
/// read, so the few arrays are read again.
pub(crate) fn check_values(contents: &Contents, arrays: &Arrays<'_>) -> Result<Vec<Finding>> {
    let (mut wanted, mut findings) = (BTreeMap::<_, Vec<_>>::new(), Vec::new());
    for inlined in contents.inlined() {
        match inlined.len() {
            Some(_) => wanted.entry(inlined.array.as_str()).or_default().push(inlined),
            None => findings.extend(inlined.incomparable()),
        }
    }
    findings.extend(arrays.look(&wanted, |wanted, content| compare_values(wanted, content))?);
    Ok(findings)
}

fn compare_values(wanted: &[Inlined<'_>], content: &mut dyn BufRead) -> Vec<Finding> {
    let len = wanted.iter().filter_map(Inlined::len).max().unwrap_or_default();
    let mut file = Vec::new();
    // Damage is reported by the pass that checks contents.
    if content.take(len).read_to_end(&mut file).is_err() {
        return Vec::new();
    }
    wanted.iter().filter_map(|inlined| inlined.compare(&file)).collect()
}
