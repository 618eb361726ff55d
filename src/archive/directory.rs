//! A directory, with the same interface as the archives.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data::{MemberReader, Stretch};
use super::revisit::look_at_each;
use super::{Location, Member, MemberKind, Method, Scan, Visit};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, File, Walked};
use crate::path::MemberPath;
use crate::progress::Progress;

/// Number of files that one job takes at a time.
const STEP: usize = 64;

/// An opened directory.
#[derive(Debug)]
pub(crate) struct Directory {
    root: PathBuf,
    /// The names of the files that are members, sorted; `None` for all files.
    only: Option<Vec<MemberPath>>,
    /// Whether links are read as what they lead to.
    follow: bool,
    watch: Progress,
}

impl Directory {
    pub(super) fn new(root: &Path, progress: &Progress) -> Self {
        Self { root: root.to_owned(), only: None, follow: false, watch: progress.clone() }
    }

    /// Reads links as what they lead to.
    #[cfg(feature = "full")]
    pub(super) fn following(self) -> Self {
        Self { follow: true, ..self }
    }

    /// Opens only these files.
    pub(super) fn of_files(root: &Path, only: Vec<MemberPath>, progress: &Progress) -> Self {
        Self { only: Some(only), ..Self::new(root, progress) }
    }

    pub(super) fn path(&self) -> &Path {
        &self.root
    }

    pub(super) fn progress(&self) -> &Progress {
        &self.watch
    }

    pub(super) fn open_file(&self, name: &str) -> Result<File> {
        self.watch.check()?;
        Ok(File::open(self.root.join(name))?.watched(&self.watch))
    }

    /// Opens a file and returns its length and content.
    fn open(&self, name: &str) -> Result<(u64, Stretch)> {
        let file = self.open_file(name)?;
        let len = file.len()?;
        Ok((len, Stretch::new(Arc::new(file), 0, len)))
    }

    /// Lists all members. Sizes are determined when a file is opened.
    fn walk(&self) -> Result<Vec<Member>> {
        if let Some(only) = &self.only {
            let file = |path: &MemberPath| member(path.clone().into_text(), MemberKind::File, 0);
            return Ok(only.iter().map(file).collect());
        }
        let walked = fs::walk(&self.root, self.follow, &self.watch)?;
        Ok(walked
            .into_iter()
            .map(|walked| match walked.path {
                Ok(path) => member(path.into_text(), walked.kind, 0),
                Err(invalid) => member(invalid.path.into(), walked.kind, 0),
            })
            .collect())
    }

    /// Returns the names at the top level. If it has only one directory, also the names in that directory.
    pub(super) fn first_names(&self) -> Result<Vec<String>> {
        let names = |walked: Vec<Walked>| {
            walked.into_iter().filter_map(|entry| Some(entry.path.ok()?.as_str().to_owned()))
        };
        let top = fs::entries(&self.root)?;
        if let [Walked { path: Ok(path), kind: MemberKind::Directory }] = &top[..] {
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

    pub(super) fn scan<K: Send>(&self, jobs: usize, visit: &Visit<'_, K>) -> Result<Scan<K>> {
        let members = self.walk()?;
        self.watch.expect_files(members.len());
        let look = |(): &mut (), member, findings: &mut Vec<_>| self.show(member, visit, findings);
        look_at_each(jobs, members, STEP, || (), look)
    }

    fn show<K>(
        &self,
        mut member: Member,
        visit: &Visit<'_, K>,
        findings: &mut Vec<Finding>,
    ) -> Result<K> {
        if member.kind != MemberKind::File || MemberPath::new(&*member.name).is_err() {
            return Ok(visit(&member, None));
        }
        match self.open(&member.name) {
            Ok((len, mut content)) => {
                member.size = len;
                member.packed_size = len;
                Ok(visit(&member, Some(&mut content)))
            }
            // A system error that prevents reading says nothing about the pack.
            Err(error @ (Error::Io { .. } | Error::Interrupted)) if !error.is_not_found() => {
                Err(error)
            }
            Err(error) => {
                let finding =
                    Finding::new(Code::BadMemberData, format!("the file cannot be read: {error}"))
                        .in_member(&*member.name)
                        .hint(
                            "verify again: the file was removed while ra-pack read the directory",
                        );
                findings.push(finding);
                Ok(visit(&member, None))
            }
        }
    }

    pub(super) fn find(&self, name: &str) -> Result<Option<Member>> {
        let Ok(path) = MemberPath::new(name) else { return Ok(None) };
        // A link in any part of the path could lead out of the directory.
        let is_there = if self.follow {
            self.root.join(path.as_str()).is_file()
        } else {
            fs::is_plain_below(&self.root, path.as_str())?
        };
        if !is_there {
            return Ok(None);
        }
        let file = self.open_file(path.as_str())?;
        Ok(Some(member(path.into_text(), MemberKind::File, file.len()?)))
    }

    pub(super) fn read(&self, member: &Member) -> Result<MemberReader> {
        Ok(Box::new(self.open(&member.name)?.1))
    }
}

fn member(name: Arc<str>, kind: MemberKind, size: u64) -> Member {
    let (method, location) = (Method::Stored, Location::Named);
    Member { name, kind, size, packed_size: size, method, location }
}
