//! The files at the root of a pack that say how to read it, kept from a first look at an archive: its
//! manifests, and what declares a bag.

use std::borrow::Cow;
use std::io::{self, BufRead, Read as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use super::bag::is_declaration;
use super::manifest_text::RootFiles;
use super::manifests;
use crate::archive::{Archive, Member};
use crate::error::{Error, Result};
use crate::finding::Finding;
use crate::pack::{self, Layout, Placement};

/// The text of a member that may be the manifest, when it was read; of others nothing is.
pub(super) type Text = Option<Box<io::Result<Vec<u8>>>>;

/// The name at the top, or in the one directory that may hold everything.
fn last(name: &str) -> &str {
    name.split_once('/').map_or(name, |(_, last)| last)
}

fn is_manifest(name: &str) -> bool {
    pack::manifest_algorithm(last(name)).is_some()
}

/// Counts the bytes of all that is kept.
pub(super) struct Kept {
    count: AtomicU64,
    longest: u64,
}

impl Kept {
    pub(super) fn of(archive: &Archive) -> Result<Self> {
        Ok(Self { count: AtomicU64::new(0), longest: manifests::longest(archive)? })
    }

    fn check(&self) -> io::Result<()> {
        let longest = self.longest;
        if self.count.load(Ordering::Relaxed) <= longest {
            return Ok(());
        }
        Err(io::Error::other(format!(
            "the manifests are longer than the {longest} bytes that are read"
        )))
    }
}

/// Reads a member that may be one of them.
pub(super) fn look(kept: &Kept, member: &Member, content: &mut dyn BufRead) -> Text {
    if !is_manifest(&member.name) && !is_declaration(last(&member.name)) {
        return None;
    }
    let mut text = Vec::new();
    let read = content.take(kept.longest.saturating_add(1)).read_to_end(&mut text);
    kept.count.fetch_add(text.len() as u64, Ordering::Relaxed);
    Some(Box::new(read.and_then(|_| kept.check()).map(|()| text)))
}

/// The same where another manifest counts, which lies beside the archive: of those inside is only seen whether the
/// system lets them be read.
pub(super) fn look_with_outside(kept: &Kept, member: &Member, content: &mut dyn BufRead) -> Text {
    if !is_manifest(&member.name) {
        return look(kept, member, content);
    }
    let read = io::copy(&mut content.take(kept.longest.saturating_add(1)), &mut io::sink());
    read.err().map(|error| Box::new(Err(error)))
}

/// A file that was kept: its text, or what is wrong with it.
pub(super) struct KeptText {
    name: String,
    text: Result<Vec<u8>, Box<Finding>>,
}

impl KeptText {
    /// Tells damage from a refusal of the system, which is an error. When all are too long together, none is read:
    /// which of them came first is chance.
    pub(super) fn new(kept: &Kept, member: &Member, text: io::Result<Vec<u8>>) -> Result<Self> {
        let text = match text.and_then(|text| kept.check().map(|()| text)) {
            Ok(text) => Ok(text),
            Err(error) => Err(Box::new(manifests::unreadable(&member.name, error)?)),
        };
        Ok(Self { name: member.name.to_string(), text })
    }
}

/// The files at the root of the pack that were kept on the first look.
pub(super) struct RootTexts<'a> {
    pub(super) archive: &'a Path,
    pub(super) placement: &'a Placement,
    pub(super) texts: Vec<KeptText>,
}

impl RootFiles for RootTexts<'_> {
    fn layout(&self) -> Result<Layout> {
        Ok(self.placement.layout)
    }

    fn read(&self, name: &str) -> Result<Option<Cow<'_, [u8]>>> {
        let placed = self.placement.place_tag(name);
        match self.texts.iter().find(|kept| kept.name == placed).map(|kept| &kept.text) {
            None => Ok(None),
            Some(Ok(text)) => Ok(Some(Cow::Borrowed(text))),
            Some(Err(finding)) => Err(self.damaged((**finding).clone())),
        }
    }

    fn damaged(&self, finding: Finding) -> Error {
        Error::damaged(self.archive, finding)
    }
}
