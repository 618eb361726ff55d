//! Elements that descriptions repeat, compared with the arrays. They are known when all descriptions are, so that
//! the few arrays that they are of are read once more.

use std::collections::HashMap;
use std::io::{BufRead, Read};
use std::path::Path;

use super::glance::placed;
use crate::archive::Archive;
use crate::error::Result;
use crate::finding::Finding;
use crate::fs::File;
use crate::pack::{Contents, Inlined, Placement};

/// Compares the arrays of an archive.
pub(super) fn in_archive(
    archive: &Archive,
    placement: &Placement,
    contents: &Contents,
    jobs: usize,
) -> Result<Vec<Finding>> {
    let (wanted, mut findings) = wanted(contents);
    if wanted.is_empty() {
        return Ok(findings);
    }
    // A scan shows each content where it lies, so that a stream is read once for all.
    let scan = archive.scan_files(jobs, &|member, content| {
        let path = placed(placement, &member.name)?;
        let wanted = wanted.get(path.as_str())?;
        Some(compare(wanted, content))
    })?;
    let found = scan.members.into_iter().filter_map(|(_, found)| found.flatten());
    findings.extend(found.flatten());
    Ok(findings)
}

/// Compares arrays of a directory.
pub(super) fn below(root: &Path, contents: &Contents) -> Result<Vec<Finding>> {
    let (wanted, mut findings) = wanted(contents);
    for (path, wanted) in wanted {
        let mut file = File::open(root.join(path))?;
        findings.extend(compare(&wanted, &mut std::io::BufReader::new(&mut file)));
    }
    Ok(findings)
}

type Wanted<'c> = HashMap<&'c str, Vec<Inlined<'c>>>;

/// What is to be read, by the names of the arrays, and what is known without.
fn wanted(contents: &Contents) -> (Wanted<'_>, Vec<Finding>) {
    let (mut wanted, mut findings) = (Wanted::new(), Vec::new());
    for inlined in contents.inlined() {
        match inlined.len() {
            Some(_) => wanted.entry(inlined.array.as_str()).or_default().push(inlined),
            None => findings.extend(inlined.incomparable()),
        }
    }
    (wanted, findings)
}

fn compare(wanted: &[Inlined<'_>], content: &mut dyn BufRead) -> Vec<Finding> {
    let len = wanted.iter().filter_map(Inlined::len).max().unwrap_or_default();
    let mut file = Vec::new();
    // Damage is found by those who look for it.
    if content.take(len).read_to_end(&mut file).is_err() {
        return Vec::new();
    }
    wanted.iter().filter_map(|inlined| inlined.compare(&file)).collect()
}
