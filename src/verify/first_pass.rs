//! Which files the first pass over a pack keeps as texts, and which it leaves out.

use super::signed::MAX_SIGNATURE;
use crate::archive::{Member, OPENED_FROM};
use crate::inspect::visit::{Extras, Read};
use crate::pack::bag::{BAG_INFO, FETCH, MAX_TAG_FILE, PACKAGE_INFO};
use crate::pack::{self, BAG_DECLARATION, BLOCK_LIST, Content};

/// Leaves out a large file that is faster to read together with others, or that may be divided.
pub(super) fn left_out(member: &Member) -> Option<(Read, Content)> {
    if member.packed_size <= OPENED_FROM || text_limit(&member.name).is_some() {
        return None;
    }
    let extras = Extras { large: Some(member.clone()), ..Extras::default() };
    Some((Read { digests: None, extras: Some(Box::new(extras)) }, Content::Other))
}

/// Returns the maximum number of bytes to keep of a file whose text is needed: lists of digests and tag files of a bag.
pub(super) fn text_limit(path: &str) -> Option<u64> {
    let name = below_top(path);
    if name.contains('/') {
        return None;
    }
    let is_list = name == BLOCK_LIST
        || pack::manifest_algorithm(name).is_some()
        || pack::tag_manifest_algorithm(name).is_some();
    if is_list {
        return Some(u64::MAX);
    }
    if pack::is_signature(name) {
        return Some(MAX_SIGNATURE as u64);
    }
    [BAG_DECLARATION, BAG_INFO, PACKAGE_INFO, FETCH].contains(&name).then_some(MAX_TAG_FILE)
}

/// Returns the name without the single directory that may contain the whole pack.
fn below_top(path: &str) -> &str {
    path.split_once('/').map_or(path, |(_, rest)| rest)
}
