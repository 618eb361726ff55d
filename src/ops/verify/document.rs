//! The document of the whole pack, which is long and most often says once more what other descriptions say: it
//! is left in the archive, and compared with them while it is read a second time.

use std::io;

use super::super::glance::placed;
use super::super::manifests;
use crate::archive::{Archive, Member};
use crate::error::Result;
use crate::pack::{Content, Contents, Inspector, PACK_DOCUMENT, Placement};

/// The document of the pack, or what may be it.
pub(super) struct Document<'a> {
    pub(super) archive: &'a Archive,
    pub(super) placement: &'a Placement,
    pub(super) member: &'a Member,
    pub(super) jobs: usize,
}

impl Document<'_> {
    /// Whether it is the one of the pack: in a directory it is a description as others are.
    pub(super) fn is_of_pack(&self) -> bool {
        placed(self.placement, &self.member.name).is_some_and(|path| path.as_str() == PACK_DOCUMENT)
    }

    /// Adds what it says, unless that is what the other descriptions say: then nothing in it has to be checked.
    pub(super) fn add_to(&self, contents: &mut Contents) -> Result<()> {
        let Some(path) = placed(self.placement, &self.member.name) else { return Ok(()) };
        if self.is_of_pack() {
            contents.pack_document = None;
            let mut text = self.archive.read(self.member)?;
            if self.unless_damaged(contents.makes_text(&mut text, self.jobs))?.unwrap_or(false) {
                return Ok(());
            }
        }
        let content = self.inspect()?;
        contents.add(path, content);
        Ok(())
    }

    /// What the text is found to be, as far as it can be read.
    fn inspect(&self) -> Result<Content> {
        let allowance = self.archive.allowance()?;
        let mut inspector = Inspector::within(&self.member.name, &allowance);
        let mut text = self.archive.read(self.member)?;
        self.unless_damaged(inspector.read(&mut text))?;
        Ok(inspector.finish(&self.member.name, self.member.size))
    }

    /// What was read, if it could be: damage is known from the first reading.
    fn unless_damaged<T>(&self, read: io::Result<T>) -> Result<Option<T>> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(error) => manifests::unreadable(&self.member.name, error).map(|_| None),
        }
    }
}
