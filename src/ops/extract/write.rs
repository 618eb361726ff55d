//! The second look: contents become files.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::{ExtractOptions, Plan};
use crate::archive::{Contents, Copying, Fault, OpenContents, Revisit, Shown, Sink, copy};
use crate::digest::{
    Algorithm, Digest, Digests, Hashers, Hashing, Lane, LaneOf, SideBySide, at_once,
    hash_side_by_side,
};
use crate::error::{Error, Result};
use crate::finding::{Code, Finding};
use crate::fs::{self, PendingFile, Target, TargetWriter};
use crate::ops::manifests;
use crate::ops::scan::ListedDigests;

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
        let listed = self.plan.listed.as_ref().filter(|_| self.options.patterns.is_empty());
        listed.map_or_else(Vec::new, |listed| listed.missing().collect())
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

    /// Begins the file at this position, unless there is something in the way, or another failed before.
    fn begin(
        &self,
        writer: &mut TargetWriter<'_>,
        position: usize,
    ) -> Result<NewFile<'_>, Outcome> {
        if self.failed.load(Ordering::Relaxed) {
            return Err(Outcome::Skipped);
        }
        match self.try_begin(writer, position) {
            Ok(file) => file.ok_or(Outcome::Skipped),
            Err(error) => Err(self.outcome(Err(error))),
        }
    }

    fn try_begin(
        &self,
        writer: &mut TargetWriter<'_>,
        position: usize,
    ) -> Result<Option<NewFile<'_>>> {
        let number = self.plan.files.get(position).copied();
        let member = number.and_then(|number| self.plan.members.get(number));
        let (Some(number), Some(member)) = (number, member) else { return Ok(None) };
        let listed = self.plan.listed.as_ref();
        let expected = listed.and_then(|listed| Some((listed, listed.digests.get(number)?)));
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
        match self.begin(writer, shown.position) {
            Ok(file) => self.outcome(file.fill(shown.content, shown.hashing)),
            Err(outcome) => outcome,
        }
    }

    fn at_once(&self) -> &'static [usize] {
        let listed = self.plan.listed.as_ref();
        listed.map_or(&[], |listed| at_once(&[listed.digests.algorithm()]))
    }

    fn several(
        &self,
        writer: &mut TargetWriter<'e>,
        width: usize,
        contents: &mut OpenContents<'_>,
    ) -> Result<Vec<(usize, Outcome)>> {
        let mut several = Several { extraction: self, writer, contents, outcomes: Vec::new() };
        hash_side_by_side(&mut several, width, None)?;
        Ok(several.outcomes)
    }
}

/// Files that one job writes side by side.
struct Several<'s, 'e, 'c> {
    extraction: &'e Extraction<'e>,
    writer: &'s mut TargetWriter<'e>,
    contents: &'s mut OpenContents<'c>,
    outcomes: Vec<(usize, Outcome)>,
}

impl<'e> SideBySide for Several<'_, 'e, '_> {
    /// The position, and what the digest is made by.
    type Label = (usize, Algorithm);
    type Content = Copying<Box<dyn BufRead>, NewFile<'e>>;
    type Error = Error;

    fn next(&mut self) -> Result<Option<LaneOf<Self>>> {
        for opened in &mut *self.contents {
            let (position, mut content) = opened?;
            let outcome = match self.extraction.begin(self.writer, position) {
                Ok(file) => match file.algorithm() {
                    Some(algorithm) => {
                        let hashers = Hashers::new(&[algorithm]);
                        let label = (position, algorithm);
                        let content = Copying { content, sink: file };
                        return Ok(Some(Lane { label, content, hashers }));
                    }
                    None => self.extraction.outcome(file.fill(&mut content, Hashing::Here)),
                },
                Err(outcome) => outcome,
            };
            self.outcomes.push((position, outcome));
        }
        Ok(None)
    }

    fn done(
        &mut self,
        (position, algorithm): (usize, Algorithm),
        Copying { sink: file, .. }: Self::Content,
        digests: Result<Digests, Fault>,
    ) -> Result<()> {
        let digest = digests.map(|digests| Some(digests.made_by(algorithm)));
        self.outcomes.push((position, self.extraction.outcome(file.finish(digest))));
        Ok(())
    }
}

/// A file that is written.
struct NewFile<'a> {
    extraction: &'a Extraction<'a>,
    name: &'a str,
    /// The listed digest and the manifest that lists it.
    expected: Option<(&'a ListedDigests, Digest)>,
    pending: PendingFile,
    at: u64,
}

impl NewFile<'_> {
    /// What its digest is to be made by.
    fn algorithm(&self) -> Option<Algorithm> {
        self.expected.map(|(_, expected)| expected.algorithm())
    }

    /// Writes all of its content.
    fn fill(mut self, content: &mut dyn BufRead, hashing: Hashing) -> Result<Outcome> {
        let algorithm = self.algorithm();
        let sink = |block: &[u8]| self.take(block);
        let digests = copy(content, algorithm.as_slice(), hashing, sink);
        self.finish(digests.map(|digests| algorithm.map(|by| digests.made_by(by))))
    }

    /// Gives it its name when it is what it should be.
    fn finish(self, digest: Result<Option<Digest>, Fault>) -> Result<Outcome> {
        let fault = match digest {
            Ok(digest) => self.expected.zip(digest).and_then(|((listed, expected), digest)| {
                let differs = digest != expected;
                differs.then(|| manifests::mismatch(self.name, &listed.name, &expected, &digest))
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

impl Sink for NewFile<'_> {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self.extraction.count(block.len())?;
        self.extraction.options.progress.at(self.name);
        self.pending.file().write_all_at(block, self.at)?;
        self.at = self.at.saturating_add(u64::try_from(block.len()).unwrap_or(u64::MAX));
        Ok(())
    }
}
