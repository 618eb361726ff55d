//! A look at the headers and descriptions of a pack, without its data.

use std::collections::HashSet;
use std::io::BufRead;
use std::sync::Arc;

use crate::allowance::Allowance;
use crate::archive::{Archive, Member};
use crate::error::Result;
use crate::finding::Finding;
use crate::pack::{AlikeOfJobs, Content, Contents, Inspector, Placement};
use crate::path::{self, MemberPath};

/// What a glance shows.
#[derive(Debug)]
pub(super) struct Glance {
    pub(super) placement: Placement,
    /// Every member, in the order of the container.
    pub(super) members: Vec<Member>,
    pub(super) contents: Contents,
    /// What is wrong with the container or with names.
    pub(super) findings: Vec<Finding>,
}

/// Reads the headers of arrays and the descriptions, nothing else.
pub(super) fn glance(archive: &Archive, jobs: usize) -> Result<Glance> {
    let progress = archive.progress();
    // Of what is no stream, little is read, and nobody knows how much.
    progress.stage("reading", if archive.is_stream() { archive.bytes_to_read() } else { 0 }, 0);
    let (alike, allowance) = (AlikeOfJobs::new(jobs), archive.allowance()?);
    let mut scan = archive.scan(jobs, &|member, content| {
        progress.at(&member.name);
        let content = look(member, content, &alike, &allowance);
        progress.done(1);
        content
    })?;
    let placement = Placement::detect(&scan.members.iter().map(|(member, _)| &*member.name));
    let ambiguous = ambiguous(&scan.findings);
    let contents = Contents::collect(scan.members.iter_mut().filter_map(|(member, content)| {
        // What one header says of it would be nonsense by another.
        let content = content.take().filter(|_| !ambiguous.contains(&*member.name))?;
        Some((placed(&placement, &member.name)?, content))
    }));
    let mut members: Vec<_> = scan.members.into_iter().map(|(member, _)| member).collect();
    // They took the room of what was seen of them.
    members.shrink_to_fit();
    Ok(Glance { placement, members, contents, findings: scan.findings })
}

/// The members of which it is open what they are, so that none of them is to be shown or written.
pub(super) fn ambiguous(findings: &[Finding]) -> HashSet<String> {
    let about = findings.iter().filter(|finding| finding.forbids_reading());
    about.filter_map(|finding| finding.member.clone()).collect()
}

fn look(
    member: &Member,
    content: &mut dyn BufRead,
    alike: &AlikeOfJobs,
    allowance: &Allowance,
) -> Content {
    if !path::is_sound(&member.name) {
        return Content::Other;
    }
    let mut inspector = Inspector::within(&member.name, allowance);
    // A member that cannot be read is shown as far as it can.
    let _ = inspector.read(content);
    alike.finish(inspector, &member.name, member.size)
}

/// The name under which a file belongs to the contents of the pack.
pub(super) fn placed(placement: &Placement, name: &Arc<str>) -> Option<MemberPath> {
    let payload = placement.payload(name);
    if payload == Some(&**name) {
        return MemberPath::new(Arc::clone(name)).ok();
    }
    // The pack's own description is a tag file in a bag, and a payload file elsewhere.
    let relative = || placement.relative(name).filter(|name| *name == crate::pack::PACK_DOCUMENT);
    MemberPath::new(payload.or_else(relative)?).ok()
}
