//! Requests for several parts of a remote pack at once.

use super::Pack;
use super::manifest::{LARGE, PackManifest, line_of};
use crate::digest::Algorithm;
use crate::error::Result;
use crate::manifest::ranges_near;
use crate::pack::{self, ARRAY_EXTENSION, DESCRIPTION_EXTENSIONS};

impl Pack {
    /// Announces that a whole member will be read and compared with the manifest, so that a remote one needs few requests.
    /// A name that is not found is not announced.
    ///
    /// # Errors
    ///
    /// As [`Pack::open`].
    pub fn announce(&self, name: &str) -> Result<()> {
        let array = format!("{name}.{ARRAY_EXTENSION}");
        for name in [name, &array] {
            if self.state.archive.range_of(name)?.is_some() {
                self.state.archive.announce(name)?;
                return self.fetch_with_line(name);
            }
        }
        Ok(())
    }

    /// Returns whether the archive is at a URL or in an object store, so that reads may wait for a server.
    pub fn is_remote(&self) -> bool {
        self.state.archive.is_remote()
    }

    /// Requests the beginning of a remote array and its description at once, before they are read one after the other.
    pub(super) fn fetch_start(&self, name: &str) -> Result<()> {
        if !self.is_remote() {
            return Ok(());
        }
        let stem = name.strip_suffix(&format!(".{ARRAY_EXTENSION}")).unwrap_or(name);
        let extensions = DESCRIPTION_EXTENSIONS.iter().copied().chain([ARRAY_EXTENSION]);
        let names: Vec<_> = extensions.map(|extension| format!("{stem}.{extension}")).collect();
        self.state.archive.fetch_starts(&names)
    }

    /// Requests a member of a remote zip at once with the part of the manifest that probably lists it. These would be
    /// several requests, one after the other.
    pub(super) fn fetch_with_line(&self, member: &str) -> Result<()> {
        /// Number of bytes requested of a member. The rest of a longer one is requested while these are read.
        const FIRST: u64 = 8 * 1024 * 1024;
        /// Number of bytes that contain a local header.
        const HEADER: u64 = 512;
        let (archive, algorithm) = (&self.state.archive, Algorithm::Sha256);
        let is_indexed = || {
            let manifest = self.state.known.manifest.get().and_then(Option::as_ref);
            manifest.is_some_and(PackManifest::is_indexed)
        };
        if !archive.is_remote() || is_indexed() {
            return Ok(());
        }
        let name = pack::manifest_name(algorithm);
        let Some((content, _)) = archive.range_of(member)? else { return Ok(()) };
        let Some((range, len)) = archive.range_of(&name)? else { return Ok(()) };
        let end = content.end.min(content.start.saturating_add(FIRST));
        let mut ranges: Vec<_> = std::iter::once(content.start..end).collect();
        if len < LARGE {
            ranges.push(range);
        } else if let Some(guess) = archive.lines_before(member, line_of(&name, algorithm))? {
            // The content ends where the next member begins.
            let start = range.end.saturating_sub(len);
            ranges.push(range.start..range.end.min(range.start + HEADER));
            ranges.extend(ranges_near(len, guess).map(|near| near.start + start..near.end + start));
        }
        archive.fetch(ranges)
    }
}
