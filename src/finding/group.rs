//! Many findings of one kind as one.

use std::collections::{BTreeSet, HashMap};

use super::Finding;
use crate::message::{counted, listed};

/// Number of findings of one kind above which they are one message.
pub const MANY: usize = 20;
/// Number of files that such a message names.
const NAMED: usize = 3;

/// Returns the findings, those of one kind as one if there are more than `limit`.
pub fn grouped(findings: &[Finding], limit: usize) -> impl Iterator<Item = Finding> {
    let kind = |one: &Finding| (one.code, one.severity);
    let mut kinds: HashMap<_, Vec<&Finding>> = HashMap::new();
    for one in findings {
        kinds.entry(kind(one)).or_default().push(one);
    }
    findings.iter().filter_map(move |one| match kinds.get_mut(&kind(one)) {
        Some(all) if all.len() > limit => Some(group(one, &std::mem::take(all))),
        Some(all) if all.is_empty() => None,
        _ => Some(one.clone()),
    })
}

/// Makes one finding of all that are of the kind of the first: "… in 34 files: a, b, c and 31 more".
fn group(first: &Finding, all: &[&Finding]) -> Finding {
    let name = |one: &&Finding| one.array.clone().or(one.member.clone());
    let names: BTreeSet<_> = all.iter().filter_map(name).collect();
    // A count of findings that are not listed has no name.
    let others: u64 = all.iter().filter(|one| name(one).is_none()).map(|one| one.count).sum();
    let files = counted(names.len() as u64 + others, "file");
    let names = listed(names.iter().map(String::as_str).chain((0..others).map(|_| "…")), NAMED);
    let (start, title) = first.code.title().trim_end_matches('.').split_at(1);
    let start = start.to_ascii_lowercase();
    let mut group = Finding::new(first.code, format!("{start}{title} in {files}: {names}"));
    group.severity = first.severity;
    group
}
