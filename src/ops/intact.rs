//! What of a pack is still whole when something is wrong with it.

use std::collections::HashSet;

use serde::Serialize;

use crate::finding::Finding;
use crate::pack::{self, Contents};

/// Files that agree with a manifest and that no error names. Whatever else is wrong with the pack, they
/// can be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Intact {
    /// Files, descriptions and manifests among them.
    pub members: u64,
    /// Arrays among them whose header and description are sound too.
    pub arrays: u64,
    /// Bytes of these files.
    pub bytes: u64,
}

impl Intact {
    /// Counts the `files`, given by the names that findings call them, that no error is about; they are
    /// `all` where there is none. Their contents must have been read, and held against manifests that
    /// have to list them all.
    pub(super) fn count<'a>(
        all: Self,
        files: impl Iterator<Item = (&'a str, u64)>,
        contents: &Contents,
        findings: &[Finding],
    ) -> Self {
        let errors = || findings.iter().filter(|finding| finding.is_error());
        if errors().next().is_none() {
            return all;
        }
        let files_at_fault: HashSet<&str> =
            errors().filter_map(|finding| finding.member.as_deref()).collect();
        let arrays_at_fault: HashSet<&str> =
            errors().filter_map(|finding| finding.array.as_deref()).collect();
        let mut intact = Self::default();
        for (name, size) in files.filter(|(name, _)| !files_at_fault.contains(name)) {
            let whole =
                pack::is_array(name) && contents.is_array(name) && !arrays_at_fault.contains(name);
            intact.members = intact.members.saturating_add(1);
            intact.arrays = intact.arrays.saturating_add(u64::from(whole));
            intact.bytes = intact.bytes.saturating_add(size);
        }
        intact
    }
}
