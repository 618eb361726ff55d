//! A file as memory.

use super::File;
use crate::error::{Error, Result};

impl File {
    /// Maps the file into memory.
    ///
    /// # Safety
    ///
    /// Nobody may change or shorten the file while the map lives: its bytes would change under
    /// shared references, and touching pages beyond a shortened end stops the process.
    #[expect(
        unsafe_code,
        reason = "a memory map is only as stable as its file; callers promise that"
    )]
    pub(crate) unsafe fn map(&self) -> Result<Map> {
        // SAFETY: the caller promises what `Mmap::map` asks for, that the file does not change.
        let map = unsafe { memmap2::Mmap::map(&self.inner) };
        map.map(Map).map_err(Error::io("map", &self.path))
    }
}

/// A file as bytes in memory.
#[derive(Debug)]
pub(crate) struct Map(memmap2::Mmap);

impl Map {
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}
