//! A plain directory, read by the same functions as the archives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data::{Blocks, MemberReader, Stretch};
use super::revisit::{Revisit, Shown, look_at_each};
use super::{Keep, Location, Member, MemberKind, Method, Scan, Visit};
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, File, Kind, Walked};
use crate::path::MemberPath;
use crate::pipeline;
use crate::progress::Progress;

/// Files that one job takes at a time.
const STEP: usize = 64;

/// A directory that was opened.
#[derive(Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    watch: Progress,
}

impl Directory {
    pub(super) fn open(root: &Path, progress: &Progress) -> Self {
        Self { root: root.to_owned(), watch: progress.clone() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.root
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.watch
    }

    pub(super) fn open_file(&self, name: &str) -> Result<File> {
        Ok(File::open(self.root.join(name))?.watched(&self.watch))
    }

    /// Every member; sizes are found when a file is opened.
    fn walk(&self) -> Result<Vec<Member>> {
        let walked = fs::walk(&self.root, false)?;
        Ok(walked
            .into_iter()
            .map(|walked| Member {
                name: match walked.path {
                    Ok(path) => path.into_text(),
                    Err(invalid) => invalid.path.into(),
                },
                kind: match walked.kind {
                    Kind::File => MemberKind::File,
                    Kind::Directory => MemberKind::Directory,
                    Kind::Link => MemberKind::Link,
                    Kind::Special => MemberKind::Special,
                },
                size: 0,
                packed_size: 0,
                method: Method::Stored,
                location: Location::Named,
            })
            .collect())
    }

    /// The names at the top, and those in the one directory that holds everything if there is one.
    pub(super) fn first_names(&self) -> Result<Vec<String>> {
        let names = |walked: Vec<Walked>| {
            walked.into_iter().filter_map(|entry| Some(entry.path.ok()?.as_str().to_owned()))
        };
        let top = fs::entries(&self.root)?;
        if let [Walked { path: Ok(path), kind: Kind::Directory }] = &top[..] {
            let inside = fs::entries(&self.root.join(path.as_str()))?;
            return Ok(names(inside).map(|name| format!("{path}/{name}")).collect());
        }
        Ok(names(top).collect())
    }

    pub(super) fn members(&self) -> Result<Vec<Member>> {
        let mut members = self.walk()?;
        for member in members.iter_mut().filter(|member| member.kind == MemberKind::File) {
            if MemberPath::new(&*member.name).is_ok() {
                member.size = self.open_file(&member.name)?.len()?;
                member.packed_size = member.size;
            }
        }
        Ok(members)
    }

    pub(super) fn scan<T, K: Send>(
        &self,
        jobs: usize,
        visit: &Visit<'_, T>,
        keep: &Keep<'_, T, K>,
    ) -> Result<Scan<K>> {
        let members = self.walk()?;
        self.watch.expect_files(members.len());
        look_at_each(jobs, members, STEP, Vec::new, |buffer: &mut Vec<u8>, member, findings| {
            let (member, result) = self.show(member, buffer, visit, findings)?;
            Ok(keep(member, result))
        })
    }

    fn show<T>(
        &self,
        mut member: Member,
        buffer: &mut Vec<u8>,
        visit: &Visit<'_, T>,
        findings: &mut Vec<Finding>,
    ) -> Result<(Member, Option<T>)> {
        if member.kind != MemberKind::File || MemberPath::new(&*member.name).is_err() {
            return Ok((member, None));
        }
        let opened = self.open_file(&member.name).and_then(|file| Ok((file.len()?, file)));
        match opened {
            Ok((len, file)) => {
                member.size = len;
                member.packed_size = len;
                let mut content = Blocks::new(file, buffer);
                let result = visit(&member, &mut content);
                Ok((member, Some(result)))
            }
            // That the system does not let it be read says nothing about the pack.
            Err(error @ Error::Io { .. }) if !error.is_not_found() => Err(error),
            Err(error) => {
                let finding =
                    Finding::new(Code::BadMemberData, format!("the file cannot be read: {error}"))
                        .in_member(&*member.name)
                        .hint("verify again: it was removed while the directory was looked at");
                findings.push(finding);
                Ok((member, None))
            }
        }
    }

    /// Looks at files again that a scan found; one that is gone is an error.
    pub(super) fn revisit<R: Revisit>(
        &self,
        members: &[Member],
        wanted: &[usize],
        jobs: usize,
        visit: &R,
    ) -> Result<Vec<R::Seen>> {
        let chunks = pipeline::share(
            jobs,
            pipeline::ranges(wanted.len(), STEP),
            || (Vec::new(), visit.state()),
            |(buffer, state), range| {
                let mut results = Vec::with_capacity(range.len());
                for position in range {
                    let member = wanted.get(position).and_then(|index| members.get(*index));
                    let Some(member) = member else { continue };
                    let content = &mut Blocks::new(self.open_file(&member.name)?, buffer);
                    let hashing = Hashing::Here;
                    results.push(visit.one(state, Shown { position, content, hashing }));
                }
                Ok::<_, Error>(results)
            },
        )?;
        Ok(chunks.into_iter().flatten().collect())
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<Member>> {
        let Ok(path) = MemberPath::new(name) else { return Ok(None) };
        // A link anywhere on the way could lead out of the directory.
        if !fs::is_plain_below(&self.root, path.as_str())? {
            return Ok(None);
        }
        let file = self.open_file(path.as_str())?;
        let size = file.len()?;
        Ok(Some(Member {
            name: path.into_text(),
            kind: MemberKind::File,
            size,
            packed_size: size,
            method: Method::Stored,
            location: Location::Named,
        }))
    }

    pub(super) fn read(&self, member: &Member) -> Result<MemberReader> {
        let file = self.open_file(&member.name)?;
        let len = file.len()?;
        Ok(MemberReader::new(Stretch::new(Arc::new(file), 0, len)))
    }
}
