//! A first look at a source directory: what is there, what it says about itself, what is wrong.
//!
//! Only headers and descriptions are read, so that everything is known to be right before the first
//! byte of a large array is copied. Small files are read whole on the way and kept, as far as there is
//! room for them: opening a small file takes longer than reading it, and what is checked is then what
//! is packed.

use std::io::Read;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::select::Patterns;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, File, Kind, Stamp, TEMPORARY_SUFFIX};
use crate::pack::{Content, Contents, Inspector};
use crate::parallel;
use crate::path::MemberPath;

/// Files that one job takes at a time.
const STEP: usize = 64;
/// Bytes that are asked for at once: more than any header, as much as most descriptions.
const BLOCK: usize = 8 * 1024;
/// Longest file that is kept.
const SMALL: u64 = 4 * 1024;
/// Most bytes that are kept of all files together, with what it takes to keep each.
const MAX_KEPT: u64 = 24 * 1024 * 1024;
/// What it takes to keep a file, beside its bytes.
const PER_FILE: u64 = 48;

/// What lies in a source directory.
#[derive(Debug)]
pub(super) struct Survey {
    /// Files and directories, sorted by name.
    pub(super) entries: Vec<SourceEntry>,
    pub(super) contents: Contents,
    /// What is wrong with the names and kinds of files.
    pub(super) findings: Vec<Finding>,
}

/// A file or directory of the source.
#[derive(Debug)]
pub(super) struct SourceEntry {
    pub(super) path: MemberPath,
    /// What the file looked like; nothing for a directory.
    pub(super) stamp: Option<Stamp>,
    /// All of it, when it was read and kept.
    pub(super) content: Option<Box<[u8]>>,
}

/// Looks at everything below `root` that is not excluded. `own` are the names of files that the
/// operation itself writes, when they lie in the source.
pub(super) fn survey(
    root: &Path,
    excluded: &Patterns,
    own: &[String],
    follow: bool,
    jobs: usize,
) -> Result<Survey> {
    let mut findings = Vec::new();
    let mut names = Vec::new();
    for walked in fs::walk(root, follow)? {
        let path = match walked.path {
            Ok(path) => path,
            Err(invalid) => {
                findings.push(
                    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
                        .in_member(invalid.path)
                        .hint("rename the file, or leave it out with --exclude"),
                );
                continue;
            }
        };
        if excluded.matches(path.as_str()) || own.iter().any(|own| own == path.as_str()) {
            continue;
        }
        match walked.kind {
            Kind::File if path.as_str().ends_with(TEMPORARY_SUFFIX) => findings.push(
                Finding::new(
                    Code::OddContainer,
                    "the file was left by an interrupted run and is not packed",
                )
                .in_member(path.as_str())
                .hint("delete it"),
            ),
            Kind::File => names.push((path, true)),
            Kind::Directory => names.push((path, false)),
            Kind::Link => findings.push(
                Finding::new(Code::Link, "the file is a symbolic link")
                    .in_member(path.as_str())
                    .hint("--dereference packs what it leads to, --exclude leaves it out"),
            ),
            Kind::Special => findings.push(
                Finding::new(
                    Code::SpecialFile,
                    "the file is a device, a pipe or another special file",
                )
                .in_member(path.as_str())
                .hint("leave it out with --exclude"),
            ),
        }
    }
    let budget = AtomicU64::new(MAX_KEPT);
    let looked = parallel::map_ranges(
        jobs,
        names.len(),
        STEP,
        || vec![0; BLOCK],
        |buffer, range| {
            names
                .get(range)
                .unwrap_or_default()
                .iter()
                .map(|(path, is_file)| look_at(root, path, *is_file, &budget, buffer))
                .collect::<Result<Vec<_>>>()
        },
    )?;
    let mut entries = Vec::with_capacity(names.len());
    let found = names.into_iter().zip(looked.into_iter().flatten());
    let contents =
        Contents::collect(found.filter_map(|((path, _), Looked { stamp, kept, what })| {
            let known = (!matches!(what, Content::Other)).then(|| (path.clone(), what));
            entries.push(SourceEntry { path, stamp, content: kept });
            known
        }));
    Ok(Survey { entries, contents, findings })
}

/// What one look at a file or directory told.
struct Looked {
    stamp: Option<Stamp>,
    kept: Option<Box<[u8]>>,
    what: Content,
}

fn look_at(
    root: &Path,
    path: &MemberPath,
    is_file: bool,
    budget: &AtomicU64,
    buffer: &mut [u8],
) -> Result<Looked> {
    if !is_file {
        return Ok(Looked { stamp: None, kept: None, what: Content::Other });
    }
    let mut file = File::open(root.join(path.as_str()))?;
    let stamp = file.stamp()?;
    let mut inspector = Inspector::new(path.as_str());
    let kept = if stamp.len() <= SMALL && takes_room(budget, stamp.len()) {
        let content = read_whole(&mut file, &stamp, buffer)?;
        inspector.update(content);
        Some(content.into())
    } else {
        while inspector.wants_more() {
            match file.read(buffer) {
                Ok(0) => break,
                Ok(count) => inspector.update(buffer.get(..count).unwrap_or_default()),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("read", file.path())(error)),
            }
        }
        None
    };
    Ok(Looked { stamp: Some(stamp), kept, what: inspector.finish(path.as_str(), stamp.len()) })
}

/// Takes room for a file, if there is any.
fn takes_room(budget: &AtomicU64, len: u64) -> bool {
    let wanted = len.saturating_add(PER_FILE);
    let take = |room: u64| room.checked_sub(wanted);
    budget.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
}

/// Reads a small file, which has to be what it was from beginning to end.
fn read_whole<'b>(file: &mut File, stamp: &Stamp, buffer: &'b mut [u8]) -> Result<&'b [u8]> {
    let len = usize::try_from(stamp.len()).unwrap_or(usize::MAX).min(buffer.len());
    let content = buffer.get_mut(..len).unwrap_or_default();
    file.read_unchanged(content, stamp)?;
    Ok(content)
}
