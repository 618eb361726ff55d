//! The second look: contents become files.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::ExtractOptions;
use super::plan::Plan;
use crate::archive::Contents;
use crate::digest::Hashing;
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, Target, TargetWriter};
use crate::ops::copy::{Fault, LARGE, copy, copy_hashed};
use crate::ops::manifests;
use crate::parallel;

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
    /// The positions of files that are hashed beside the copying.
    beside: Vec<usize>,
}

/// Most files that are hashed beside the copying: the blocks of each take memory.
const MOST_BESIDE: usize = 16;

impl<'a> Extraction<'a> {
    pub(super) fn new(target: &Path, options: &'a ExtractOptions, plan: &'a Plan) -> Result<Self> {
        let target = Target::open(target)?;
        let (written, failed) = (AtomicU64::new(0), AtomicBool::new(false));
        Ok(Self { target, options, plan, written, failed, beside: Vec::new() })
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
    pub(super) fn write_all(&mut self, contents: &Contents, jobs: usize) -> Result<Vec<Outcome>> {
        self.beside = self.outlasting(contents, jobs);
        let this = &*self;
        let Plan { members, files, .. } = this.plan;
        contents.revisit(
            members,
            files,
            jobs,
            &|| this.target.writer(),
            &|writer, position, content| this.write(writer, position, content),
        )
    }

    /// The positions of large files during which other jobs have nothing else to do for as long.
    fn outlasting(&self, contents: &Contents, jobs: usize) -> Vec<usize> {
        let Plan { members, files, .. } = self.plan;
        let sizes = files.iter().map(|number| members.get(*number).map_or(0, |member| member.size));
        let (mut large, mut rest) = (Vec::new(), 0_u64);
        for (position, size) in sizes.enumerate() {
            if size >= LARGE {
                large.push((position, size));
            } else {
                rest = rest.saturating_add(size);
            }
        }
        // Where one job shows all contents, none of the others ever has anything to do.
        if contents.is_stream() && jobs > 1 {
            return large.into_iter().map(|(position, _)| position).collect();
        }
        // In the order in which they are shown.
        large.sort_by_key(|(_, size)| std::cmp::Reverse(*size));
        let sizes: Vec<u64> = large.iter().map(|(_, size)| *size).collect();
        let outlast = parallel::outlasting(jobs, &sizes, rest).into_iter().zip(large);
        let outlast = outlast.filter(|(outlasts, _)| *outlasts).map(|(_, (position, _))| position);
        let mut positions: Vec<usize> = outlast.take(MOST_BESIDE).collect();
        positions.sort_unstable();
        positions
    }

    fn hashing(&self, position: usize) -> Hashing {
        match self.beside.binary_search(&position) {
            Ok(_) => Hashing::Beside,
            Err(_) => Hashing::Here,
        }
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
        let pending = writer.begin(&member.name, self.options.force)?;
        let mut at = 0_u64;
        let sink = |block: &[u8]| {
            self.count(block.len())?;
            self.options.progress.at(&member.name);
            pending.file().write_all_at(block, at)?;
            at = at.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
            Ok(())
        };
        let copied = match expected {
            None => copy(content, sink).map(|()| None),
            Some((known, entry)) => {
                let algorithm = entry.digest.algorithm();
                let digest = copy_hashed(content, algorithm, self.hashing(position), sink);
                digest.map(|digest| {
                    let differs = digest != entry.digest;
                    differs.then(|| known.mismatch(&member.name, entry, &digest))
                })
            }
        };
        let fault = match copied {
            Ok(mismatch) => mismatch,
            Err(Fault::Sink(error)) => return Err(error),
            Err(Fault::Source(error)) => Some(manifests::unreadable(&member.name, error)?),
        };
        if let Some(finding) = fault {
            return Ok(Outcome::Finding(Box::new(finding)));
        }
        pending.persist()?;
        self.options.progress.done(1);
        Ok(Outcome::Written { bytes: at, verified: expected.is_some() })
    }
}
