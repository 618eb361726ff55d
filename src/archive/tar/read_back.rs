//! Entries as the crate tar reads them: an implementation that is not ours.

use std::io::{self, Read};

/// Shows each entry, its name, size and content, until `look` has seen enough.
pub(crate) fn each_entry(
    tar: impl Read,
    mut look: impl FnMut(&[u8], u64, &mut dyn Read) -> bool,
) -> io::Result<()> {
    for entry in tar::Archive::new(tar).entries()? {
        let mut entry = entry?;
        let (name, size) = (entry.path_bytes().into_owned(), entry.size());
        if !look(&name, size, &mut entry) {
            break;
        }
    }
    Ok(())
}
