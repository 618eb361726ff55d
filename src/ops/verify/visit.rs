//! One file while its bytes pass: its digests, what it says of itself, and of a manifest its text.

use std::io::{self, BufRead};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::manifests::{self, MAX_MANIFEST};
use crate::archive::{Member, MemberKind, Method};
use crate::digest::{Algorithm, Digests, Hashers};
use crate::error::Error;
use crate::finding::{Code, Finding};
use crate::pack::bag::{BAG_INFO, FETCH, PACKAGE_INFO};
use crate::pack::{self, AlikeOfJobs, BAG_DECLARATION, Content, Inspector};
use crate::path;
use crate::progress::Progress;

/// What is kept of a member when its container was read and its file visited: less than what it takes to
/// reach its bytes, for of most that is done.
pub(super) struct Known {
    pub(super) name: Arc<str>,
    pub(super) kind: MemberKind,
    pub(super) size: u64,
    /// Nothing of what is no file that can be read.
    pub(super) visited: Option<Outcome>,
}

/// What was found out about a file beside what it says of itself.
pub(super) struct Outcome {
    pub(super) digests: Option<Digests>,
    pub(super) rare: Option<Box<Rare>>,
}

impl Known {
    pub(super) fn new(member: Member, visited: Option<Visited>) -> Self {
        let (name, kind, size) = (Arc::clone(&member.name), member.kind, member.size);
        let visited = visited.map(|Visited { digests, mut rare, .. }| {
            if let Some(rare) = rare.as_mut().filter(|rare| rare.is_left) {
                rare.left = Some(member);
            }
            Outcome { digests, rare }
        });
        Self { name, kind, size, visited }
    }
}

/// What one file was found to be.
pub(super) struct Visited {
    pub(super) digests: Option<Digests>,
    pub(super) content: Content,
    /// What few files have.
    pub(super) rare: Option<Box<Rare>>,
}

/// What of a file is worth a word beside its digests.
#[derive(Default)]
pub(super) struct Rare {
    /// The text of a manifest or of a bag's tag file.
    pub(super) text: Option<Vec<u8>>,
    /// Whether it is such a text, left in the archive: it can be read again.
    pub(super) is_left: bool,
    /// Where it is, then.
    pub(super) left: Option<Member>,
    pub(super) fault: Option<Finding>,
    /// Why the system did not let it be read.
    pub(super) refused: Option<Error>,
}

/// Reads files: all of each, or as much as headers and descriptions take.
pub(super) struct Visitor {
    pub(super) fast: bool,
    pub(super) algorithms: Vec<Algorithm>,
    /// Whether a file can be read again without reading all others.
    rereads: bool,
    /// Bytes of manifests that are kept, of all files together.
    kept: AtomicU64,
    /// Bytes that room was made for beforehand.
    reserved: AtomicU64,
    alike: AlikeOfJobs,
}

impl Visitor {
    pub(super) fn new(fast: bool, algorithms: Vec<Algorithm>, rereads: bool, jobs: usize) -> Self {
        Self {
            fast,
            algorithms,
            rereads,
            kept: AtomicU64::new(0),
            reserved: AtomicU64::new(0),
            alike: AlikeOfJobs::new(jobs),
        }
    }

    /// Room for the whole text of a manifest, as far as there is any for all of them, and unless it is
    /// compressed: then its size says little.
    fn room_for(&self, member: &Member) -> usize {
        if member.method != Method::Stored || member.size != member.packed_size {
            return 0;
        }
        let take = |reserved: u64| {
            reserved.checked_add(member.size).filter(|reserved| *reserved <= MAX_MANIFEST)
        };
        let is_room =
            self.reserved.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok();
        usize::try_from(member.size).ok().filter(|_| is_room).unwrap_or(0)
    }

    /// Reads one file.
    pub(super) fn visit(
        &self,
        member: &Member,
        content: &mut dyn BufRead,
        progress: &Progress,
    ) -> Visited {
        if !path::is_sound(&member.name) {
            return Visited { digests: None, content: Content::Other, rare: None };
        }
        let mut inspector = Inspector::new(&member.name);
        let mut hashers = (!self.fast).then(|| Hashers::new(&self.algorithms));
        let limit = text_limit(&member.name);
        let is_left = limit.is_some() && self.rereads && member.size > LONG;
        let mut text =
            limit.map(|_| Vec::with_capacity(if is_left { 0 } else { self.room_for(member) }));
        let mut len = 0_u64;
        let (mut fault, mut refused) = (None, None);
        while hashers.is_some() || text.is_some() || inspector.wants_more() {
            match content.fill_buf() {
                Ok([]) => break,
                Ok(block) => {
                    progress.at(&member.name);
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
                            fault = Some(too_long(&member.name));
                            text = None;
                        } else if !is_left {
                            kept.extend_from_slice(block);
                        }
                    }
                    content.consume(count);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    match manifests::unreadable(&member.name, error) {
                        Ok(finding) => fault = Some(finding),
                        Err(error) => refused = Some(error),
                    }
                    hashers = None;
                    break;
                }
            }
        }
        progress.done(1);
        let file_len = if self.fast || fault.is_some() { member.size } else { len };
        let is_rare = text.is_some() || fault.is_some() || refused.is_some();
        let is_left = is_left && text.is_some();
        text = text.filter(|_| !is_left);
        let content = self.alike.finish(inspector, &member.name, file_len);
        Visited {
            digests: hashers.map(Hashers::finish),
            content,
            rare: is_rare.then(|| Box::new(Rare { text, is_left, left: None, fault, refused })),
        }
    }
}

fn too_long(member: &str) -> Finding {
    Finding::new(
        Code::BadManifestLine,
        format!("the manifests are longer than the {MAX_MANIFEST} bytes that are read"),
    )
    .in_member(member)
}

/// Texts up to this length are kept; longer ones are most often as expected and need not be.
const LONG: u64 = 64 * 1024;

/// Longest metadata or fetch list of a bag that is read: a million lines.
const MAX_TAG_FILE: u64 = 256 * 1024 * 1024;

/// Most bytes that are kept of a file whose text is needed: manifests and tag files of a bag.
fn text_limit(path: &str) -> Option<u64> {
    // At the top, or in the one directory that may hold everything.
    let name = path.split_once('/').map_or(path, |(_, rest)| rest);
    if name.contains('/') {
        return None;
    }
    if pack::manifest_algorithm(name).is_some() || pack::tag_manifest_algorithm(name).is_some() {
        return Some(u64::MAX);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}
