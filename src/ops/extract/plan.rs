//! The first look: what is to be written, and what forbids it.

use std::path::Path;

use super::ExtractOptions;
use crate::archive::{Archive, Contents, Member, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs;
use crate::ops::glance::ambiguous;
use crate::ops::known::Known;
use crate::ops::manifests;
use crate::ops::root_texts::{Kept, KeptText, RootTexts, look, look_with_outside};
use crate::ops::verify::is_payload;
use crate::pack::{EXTERNAL_MANIFEST_SUFFIX, Layout, Placement};
use crate::path;

/// What is to be written, and what is known of it.
pub(super) struct Plan {
    /// Every member of the archive.
    pub(super) members: Vec<Member>,
    /// The numbers of the files to write.
    pub(super) files: Vec<usize>,
    /// The numbers of the directories to make.
    pub(super) directories: Vec<usize>,
    pub(super) known: Option<Known>,
    pub(super) findings: Vec<Finding>,
}

impl Plan {
    /// Looks at the archive, of which only the contents are kept for the second look.
    pub(super) fn new(
        archive: Archive,
        jobs: usize,
        options: &ExtractOptions,
    ) -> Result<(Self, Contents)> {
        let kept = Kept::of(&archive)?;
        let outside = manifests::beside(archive.path(), EXTERNAL_MANIFEST_SUFFIX);
        let look = if fs::exists(&outside) { look_with_outside } else { look };
        let mut scan = archive.scan(jobs, &|member, content| look(&kept, member, content))?;
        let archive_path = archive.path().to_owned();
        // What is no longer needed of a large archive makes room for its manifest.
        let contents = archive.into_contents();
        let mut findings = scan.findings;
        let mut texts = Vec::new();
        // Those that the container lets be read, which have names that a file may have.
        let mut readable = Vec::new();
        for (number, (member, text)) in scan.members.iter_mut().enumerate() {
            let Some(text) = text else { continue };
            readable.push(number);
            if let Some(text) = text.take() {
                texts.push(KeptText::new(&kept, member, *text)?);
            }
        }
        let mut members: Vec<Member> = scan.members.into_iter().map(|(member, _)| member).collect();
        // They took the room of what was seen of them.
        members.shrink_to_fit();
        if let Some(name) = options.patterns.missing(members.iter().map(|member| &*member.name)) {
            return Err(Error::NoSuchMember {
                archive: archive_path,
                member: name.to_owned(),
                suggestion: None,
            });
        }
        let placement = Placement::detect(&members.iter().map(|member| &*member.name));
        let kept = RootTexts { archive: &archive_path, placement: &placement, texts };
        let known = Known::find(&archive_path, &kept, &placement, &members, &mut findings)?;
        drop(kept);
        if known.is_none() {
            findings.push(
                Finding::new(Code::NoManifest, "there is no manifest, so nothing was checked")
                    .warning(),
            );
        }
        let ambiguous = ambiguous(&findings);
        let is_wanted = |member: &Member| {
            (options.patterns.is_empty() || options.patterns.matches(&member.name))
                && !ambiguous.contains(&*member.name)
        };
        let is_named = |member: &Member| path::is_sound(&member.name);
        let of_kind = |number: &usize, kind: MemberKind| {
            members.get(*number).is_some_and(|member| member.kind == kind && is_wanted(member))
        };
        // A declared size is kept to while the content is read.
        let sizes = members.iter().filter(|member| member.kind == MemberKind::File);
        let sizes =
            sizes.filter(|member| is_wanted(member) && is_named(member)).map(|member| member.size);
        if let Some(limit) = options.max_size {
            let bytes = sizes.fold(0_u64, u64::saturating_add);
            if bytes > limit {
                return Err(Error::Unsupported(format!(
                    "the archive unpacks to {bytes} bytes, more than the {limit} that --max-size \
                     allows"
                )));
            }
        }
        readable.retain(|number| of_kind(number, MemberKind::File));
        if let Some(known) = &known {
            findings.extend(readable.iter().filter_map(|number| {
                let name = &*members.get(*number)?.name;
                let must_be_listed = match placement.relative(name) {
                    Some(name) => is_payload(&placement, name),
                    None => placement.layout == Layout::Plain,
                };
                (must_be_listed && known.digest(*number).is_none()).then(|| known.unlisted(name))
            }));
        }
        let directories = 0..members.len();
        let directories = directories.filter(|number| {
            of_kind(number, MemberKind::Directory) && members.get(*number).is_some_and(is_named)
        });
        let directories = directories.collect();
        Ok((Self { files: readable, directories, members, known, findings }, contents))
    }

    /// The members of these numbers.
    pub(super) fn members(&self, numbers: &[usize]) -> impl Iterator<Item = &Member> {
        numbers.iter().filter_map(|number| self.members.get(*number))
    }

    /// Whether there is nothing to write.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty() && self.directories.is_empty()
    }

    /// Refuses before anything is written.
    pub(super) fn refuse_existing(&self, target: &Path) -> Result<()> {
        if fs::is_empty_directory(target)? {
            return Ok(());
        }
        let paths = self.members(&self.files).map(|member| target.join(&*member.name));
        match paths.filter(|path| fs::exists(path)).min() {
            Some(path) => Err(Error::AlreadyExists { path }),
            None => Ok(()),
        }
    }
}
