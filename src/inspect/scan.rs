//! The first scan of a pack, which most operations begin with: its members, its layout, its headers and descriptions.

use std::collections::HashSet;
use std::sync::Arc;

use crate::archive::{Archive, Member};
use crate::error::Result;
use crate::finding::Finding;
use crate::inspect::visit::Visitor;
use crate::pack::{Contents, PACK_DOCUMENT, Placement};
use crate::path::MemberPath;

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
        let visitor = Visitor::new(archive, Vec::new())?;
        let mut scan = archive.scan(jobs, |member, content| {
            let (read, content) = visitor.visit(member, content, false);
            // A damaged member is described as far as possible. A system error says nothing about the file.
            match read.extras.and_then(|extras| extras.refused) {
                Some(error) => Err(error),
                None => Ok(content),
            }
        })?;
        // Cancellation may have caused read errors.
        progress.check()?;
        let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
        let ambiguous = ambiguous(&scan.findings);
        let mut failed = None;
        let contents = scan.members.iter_mut().filter_map(|(member, content)| {
            let content = content.take()?.map_err(|error| failed = Some(error)).ok()?;
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
