//! The second look: contents become files.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ExtractOptions;
use super::plan::Plan;
use crate::archive::{Contents, Revisit, Shown};
use crate::digest::{Algorithm, Digest, at_once};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, PendingFile, Target, TargetWriter};
use crate::ops::copy::{Fault, copy, copy_all_hashed, copy_hashed};
use crate::ops::known::Known;
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
        contents.revisit_by(&self.plan.members, &self.plan.files, jobs, &self)
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

    fn write(&self, writer: &mut TargetWriter<'_>, shown: Shown<'_>) -> Result<Outcome> {
        match self.begin(writer, shown.position)? {
            Some(file) => file.fill(shown),
            None => Ok(Outcome::Skipped),
        }
    }

    fn write_several(
        &self,
        writer: &mut TargetWriter<'_>,
        shown: Vec<Shown<'_>>,
    ) -> Vec<Result<Outcome>> {
        let begun: Vec<_> = shown.iter().map(|shown| self.begin(writer, shown.position)).collect();
        if !begun.iter().all(|begun| matches!(begun, Ok(Some(_)))) {
            return begun.into_iter().map(|begun| begun.map(|_| Outcome::Skipped)).collect();
        }
        let mut files: Vec<_> = begun.into_iter().flatten().flatten().collect();
        if files.iter().any(|file| file.algorithm().is_none()) {
            return files.into_iter().zip(shown).map(|(file, shown)| file.fill(shown)).collect();
        }
        let contents = files.iter_mut().zip(shown).filter_map(|(file, shown)| {
            let algorithm = file.algorithm()?;
            Some((shown.content, algorithm, move |block: &[u8]| file.take(block)))
        });
        let digests = copy_all_hashed(contents);
        files.into_iter().zip(digests).map(|(file, digest)| file.finish(digest.map(Some))).collect()
    }

    /// Begins the file at this position.
    fn begin(&self, writer: &mut TargetWriter<'_>, position: usize) -> Result<Option<NewFile<'_>>> {
        let number = self.plan.files.get(position).copied();
        let member = number.and_then(|number| self.plan.members.get(number));
        let (Some(number), Some(member)) = (number, member) else { return Ok(None) };
        let known = self.plan.known.as_ref();
        let expected = known.and_then(|known| Some((known, known.digest(number)?)));
        let pending = writer.begin(&member.name, self.options.force)?;
        Ok(Some(NewFile { extraction: self, name: &member.name, expected, pending, at: 0 }))
    }

    fn outcome(&self, written: Result<Outcome>) -> Outcome {
        written.unwrap_or_else(|error| {
            self.failed.store(true, Ordering::Relaxed);
            Outcome::Failed(Box::new(error))
        })
    }
}

impl<'e> Revisit for &'e Extraction<'_> {
    type State = TargetWriter<'e>;
    type Seen = Outcome;

    fn state(&self) -> TargetWriter<'e> {
        self.target.writer()
    }

    fn one(&self, writer: &mut TargetWriter<'e>, shown: Shown<'_>) -> Outcome {
        if self.failed.load(Ordering::Relaxed) {
            return Outcome::Skipped;
        }
        self.outcome(self.write(writer, shown))
    }

    fn at_once(&self) -> &'static [usize] {
        self.plan.known.as_ref().map_or(&[], |known| at_once(&[known.algorithm()]))
    }

    fn several(&self, writer: &mut TargetWriter<'e>, shown: Vec<Shown<'_>>) -> Vec<Outcome> {
        if self.failed.load(Ordering::Relaxed) {
            return shown.iter().map(|_| Outcome::Skipped).collect();
        }
        let written = self.write_several(writer, shown);
        written.into_iter().map(|written| self.outcome(written)).collect()
    }
}

/// A file that is written.
struct NewFile<'a> {
    extraction: &'a Extraction<'a>,
    name: &'a str,
    /// Its digest, and what tells it, where anything does.
    expected: Option<(&'a Known, Digest)>,
    pending: PendingFile,
    at: u64,
}

impl NewFile<'_> {
    /// What its digest is to be made by.
    fn algorithm(&self) -> Option<Algorithm> {
        self.expected.map(|(_, expected)| expected.algorithm())
    }

    /// Writes all of its content.
    fn fill(mut self, Shown { content, hashing, .. }: Shown<'_>) -> Result<Outcome> {
        let digest = match self.algorithm() {
            None => copy(content, |block| self.take(block)).map(|()| None),
            Some(algorithm) => {
                let sink = |block: &[u8]| self.take(block);
                copy_hashed(content, algorithm, hashing, sink).map(Some)
            }
        };
        self.finish(digest)
    }

    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.extraction.count(block.len())?;
        self.extraction.options.progress.at(self.name);
        self.pending.file().write_all_at(block, self.at)?;
        self.at = self.at.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
        Ok(())
    }

    /// Gives it its name when it is what it should be.
    fn finish(self, digest: Result<Option<Digest>, Fault>) -> Result<Outcome> {
        let fault = match digest {
            Ok(digest) => self.expected.zip(digest).and_then(|((known, expected), digest)| {
                let differs = digest != expected;
                differs.then(|| known.mismatch(self.name, &expected, &digest))
            }),
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => Some(manifests::unreadable(self.name, error)?),
        };
        if let Some(finding) = fault {
            return Ok(Outcome::Finding(Box::new(finding)));
        }
        self.pending.persist()?;
        self.extraction.options.progress.done(1);
        Ok(Outcome::Written { bytes: self.at, verified: self.expected.is_some() })
    }
}
