//! Checks of uploads to repositories: the files of a directory, or an archive with the files next to it. The rules are in
//! `repositories.txt`.

use std::path::{Path, PathBuf};

use crate::archive::{Container, Member, MemberKind};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs;
use crate::message::counted;
use crate::read::manifests::companions;

const ONE_ARCHIVE: &str = "upload one archive, as `ra-pack create` makes it";
const TABLE: &str = include_str!("repositories.txt");

/// A rule of a repository.
struct Rule {
    repository: &'static str,
    name: &'static str,
    value: &'static str,
    source: &'static str,
    date: &'static str,
}

/// Returns the rules of all repositories, by the names of repositories.
fn rules() -> impl Iterator<Item = Rule> {
    TABLE.lines().filter(|line| !line.starts_with('#')).map(|line| {
        let mut words = line.split(' ');
        let mut next = || words.next().expect("each line has five words");
        let [repository, name, value, source, date] = [next(), next(), next(), next(), next()];
        Rule { repository, name, value, source, date }
    })
}

/// Returns the names of the repositories that [`ValidateOptions::repositories`](super::ValidateOptions) can have.
///
/// ```
/// assert!(ra_pack::inspect::repositories().contains(&"zenodo"));
/// ```
pub fn repositories() -> Vec<&'static str> {
    let mut names: Vec<_> = rules().map(|rule| rule.repository).collect();
    names.dedup();
    names
}

/// The files that are uploaded: names and sizes.
struct Upload<'a> {
    files: Vec<(String, u64)>,
    /// The files in a zip, which some repositories unpack.
    zipped: Option<&'a [Member]>,
    is_directory: bool,
}

/// Checks what is uploaded of a target against the rules of repositories.
pub(super) fn check(
    target: &Path,
    container: Option<Container>,
    members: &[Member],
    repositories: &[String],
) -> Result<Vec<Finding>> {
    if repositories.is_empty() {
        return Ok(Vec::new());
    }
    let known = self::repositories();
    if let Some(unknown) = repositories.iter().find(|name| !known.contains(&name.as_str())) {
        let expected = known.join(", ");
        return Err(Error::options(format!(
            "expected the repository {expected}, found `{unknown}`"
        )));
    }
    let is_directory = container == Some(Container::Directory);
    let files = if is_directory {
        let files = members.iter().filter(|member| member.kind == MemberKind::File);
        files.map(|file| (file.name.to_string(), file.size)).collect()
    } else {
        let paths = [target.to_owned()].into_iter().chain(companions(target));
        let name =
            |path: &PathBuf| path.file_name().map(|name| name.to_string_lossy().into_owned());
        let file = |path: PathBuf| Some((name(&path)?, fs::file_len(&path)?));
        paths.filter_map(file).collect()
    };
    let zipped = (container == Some(Container::Zip)).then_some(members);
    let upload = Upload { files, zipped, is_directory };
    let wanted = rules().filter(|rule| repositories.iter().any(|name| name == rule.repository));
    Ok(wanted.flat_map(|rule| upload.check(&rule)).collect())
}

impl Upload<'_> {
    /// Returns the names of files that the repository gets, also from a zip.
    fn names(&self) -> impl Iterator<Item = &str> {
        let inside = self.zipped.into_iter().flatten().map(|member| &*member.name);
        self.files.iter().map(|(name, _)| name.as_str()).chain(inside)
    }

    /// Returns the findings about one rule.
    fn check(&self, rule: &Rule) -> Vec<Finding> {
        let Rule { repository, source, date, .. } = rule;
        let make = |code, what: &str| {
            Finding::new(code, format!("{repository} {what} ({source}, read on {date})"))
        };
        let limit = rule.value.parse::<u64>().unwrap_or(u64::MAX);
        let size = |bytes: u64| counted(bytes, "byte");
        let count = self.files.len() as u64;
        let total = self.files.iter().fold(0_u64, |sum, (_, size)| sum.saturating_add(*size));
        let large = |what: &str| {
            let large = self.files.iter().filter(|(_, bytes)| *bytes > limit);
            let found = large.map(|(name, bytes)| {
                let expected = format!("at most {}", size(limit));
                make(Code::TooMuch, what).in_member(name).expected(expected, size(*bytes))
            });
            found.collect::<Vec<_>>()
        };
        match rule.name {
            "files" if count > limit => {
                let finding = make(Code::TooMuch, "takes fewer files");
                let found = counted(count, "file");
                vec![finding.expected(format!("at most {limit} files"), found).hint(ONE_ARCHIVE)]
            }
            "total" if total > limit => {
                let finding = make(Code::TooMuch, "takes less data");
                vec![finding.expected(format!("at most {}", size(limit)), size(total))]
            }
            "bytes" => large("takes only smaller files"),
            "advised" => large("advises smaller files").into_iter().map(Finding::warning).collect(),
            "flat"
                if self.is_directory && self.files.iter().any(|(name, _)| name.contains('/')) =>
            {
                vec![make(Code::ChangedUpload, "does not keep directories").hint(ONE_ARCHIVE)]
            }
            "unzips" => {
                let files = self.zipped.map_or(0, count_files);
                let is_unpacked = self.zipped.is_some() && files <= limit;
                let found = format!("a zip of {}", counted(files, "file"));
                let finding = || {
                    make(
                        Code::ChangedUpload,
                        "unpacks the zip, so that no archive is left to verify",
                    )
                };
                is_unpacked
                    .then(|| finding().expected("a tar, or a zip in a zip", found))
                    .into_iter()
                    .collect()
            }
            "characters" => {
                let is_bad = |name: &&str| split(name).1.contains(|it| rule.value.contains(it));
                let bad = self.names().filter(is_bad).map(|name| {
                    let finding =
                        make(Code::UnfitForRepository, "does not take the name of the file");
                    let expected = format!("a name without {}", rule.value);
                    finding.in_member(name).expected(expected, name)
                });
                bad.collect()
            }
            "folders" => {
                let is_kept =
                    |it: char| it.is_ascii_alphanumeric() || it == '/' || rule.value.contains(it);
                let mut names = self.names().map(|name| (split(name).0, name));
                let bad =
                    names.find(|(folder, _)| !folder.chars().all(|it| it == ' ' || is_kept(it)));
                let finding = bad.map(|(folder, name)| {
                    let finding = make(Code::ChangedUpload, "changes the name of the directory");
                    let expected = format!("letters a-z, digits, spaces and {}", rule.value);
                    finding.in_member(name).expected(expected, folder).hint("rename the directory")
                });
                finding.into_iter().collect()
            }
            _ => Vec::new(),
        }
    }
}

/// Returns the directory and the last part of a name.
fn split(name: &str) -> (&str, &str) {
    name.rsplit_once('/').unwrap_or(("", name))
}

fn count_files(members: &[Member]) -> u64 {
    members.iter().filter(|member| member.kind == MemberKind::File).count() as u64
}
