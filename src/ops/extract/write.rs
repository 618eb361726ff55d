//! The second look: contents become files.

use std::io::{self, BufRead};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ExtractOptions;
use super::plan::Plan;
use crate::archive::Contents;
use crate::digest::Hasher;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, Target, TargetWriter};
use crate::ops::manifests;

/// What became of one member.
pub(super) enum Outcome {
    Written {
        bytes: u64,
        verified: bool,
    },
    /// Another member failed before.
    Skipped,
    Finding(Box<Finding>),
    Failed(Box<Error>),
}

pub(super) struct Extraction<'a> {
    target: Target,
    options: &'a ExtractOptions,
    plan: &'a Plan,
    /// Bytes of all files so far, where there is a limit.
    written: AtomicU64,
    failed: AtomicBool,
}

impl<'a> Extraction<'a> {
    pub(super) fn new(target: &Path, options: &'a ExtractOptions, plan: &'a Plan) -> Result<Self> {
        let target = Target::open(target)?;
        let (written, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { target, options, plan, written, failed })
    }

    /// Makes the directories that the archive names, so that empty ones are there too.
    pub(super) fn make_directories(&self, findings: &mut Vec<Finding>) -> Result<()> {
        for member in self.plan.members(&self.plan.directories) {
            match self.target.make_directory(&member.name) {
                // Something else is in the way; whatever else the system says is no fault of the archive.
                Err(error @ Error::Io { .. }) if error.is_not_a_directory() => {
                    let finding = Finding::new(Code::FileAndDirectory, error.to_string());
                    let hint = "move what is there out of the way, or unpack elsewhere";
                    findings.push(finding.in_member(&*member.name).hint(hint));
                }
                other => other?,
            }
        }
        Ok(())
    }

    /// Writes every file of the plan.
    pub(super) fn write_all(&self, contents: &Contents, jobs: usize) -> Result<Vec<Outcome>> {
        let Plan { members, files, .. } = self.plan;
        contents.revisit(
            members,
            files,
            jobs,
            &|| self.target.writer(),
            &|writer, position, content| self.write(writer, position, content),
        )
    }

    /// What is listed and not there, where everything was unpacked.
    pub(super) fn missing(&self) -> Vec<Finding> {
        let known = self.plan.known.as_ref().filter(|_| self.options.patterns.is_empty());
        known.map_or_else(Vec::new, |known| known.missing().collect())
    }

    /// What an interrupted run left in the directories that were written to.
    pub(super) fn leftovers(&self) -> Vec<PathBuf> {
        let directories = self.target.older_directories();
        let mut leftovers: Vec<_> =
            directories.iter().flat_map(|directory| fs::leftovers_in(directory, ".")).collect();
        leftovers.sort();
        leftovers
    }

    /// Counts what is about to be written. Sizes are claims, so that their sum was not enough to look at.
    fn count(&self, bytes: usize) -> Result<()> {
        let Some(limit) = self.options.max_size else { return Ok(()) };
        let bytes = u64::try_from(bytes).unwrap_or(u64::MAX);
        let before = self.written.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > limit {
            return Err(Error::Unsupported(format!(
                "the archive unpacks to more than the {limit} bytes that --max-size allows"
            )));
        }
        Ok(())
    }

    fn write(
        &self,
        writer: &mut TargetWriter<'_>,
        position: usize,
        content: &mut dyn BufRead,
    ) -> Outcome {
        if self.failed.load(Ordering::Relaxed) {
            return Outcome::Skipped;
        }
        match self.try_write(writer, position, content) {
            Ok(outcome) => outcome,
            Err(error) => {
                self.failed.store(true, Ordering::Relaxed);
                Outcome::Failed(Box::new(error))
            }
        }
    }

    fn try_write(
        &self,
        writer: &mut TargetWriter<'_>,
        position: usize,
        content: &mut dyn BufRead,
    ) -> Result<Outcome> {
        let number = self.plan.files.get(position).copied();
        let member = number.and_then(|number| self.plan.members.get(number));
        let (Some(number), Some(member)) = (number, member) else { return Ok(Outcome::Skipped) };
        let known = self.plan.known.as_ref();
        let expected = known.and_then(|known| Some((known, known.entry(number)?)));
        let mut hasher = expected.map(|(_, entry)| Hasher::new(entry.digest.algorithm()));
        let pending = writer.begin(&member.name, self.options.force)?;
        let mut at = 0_u64;
        loop {
            let block = match content.fill_buf() {
                Ok([]) => break,
                Ok(block) => block,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    let finding = manifests::unreadable(&member.name, error)?;
                    return Ok(Outcome::Finding(Box::new(finding)));
                }
            };
            self.count(block.len())?;
            if let Some(hasher) = &mut hasher {
                hasher.update(block);
            }
            pending.file().write_all_at(block, at)?;
            let count = block.len();
            at = at.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
            content.consume(count);
        }
        if let (Some((known, entry)), Some(hasher)) = (expected, hasher) {
            let digest = hasher.finish();
            if digest != entry.digest {
                let finding = known.mismatch(&member.name, entry, &digest);
                return Ok(Outcome::Finding(Box::new(finding)));
            }
        }
        pending.persist()?;
        Ok(Outcome::Written { bytes: at, verified: expected.is_some() })
    }
}
