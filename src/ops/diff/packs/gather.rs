//! One pass over files of a pack, in which everything is done with each that has to be done: a compressed
//! stream is decoded for every pass anew.

use std::io::{self, BufRead};
use std::sync::{Arc, Mutex, PoisonError};

use super::super::blob::{self, Blob};
use crate::allowance::Allowance;
use crate::archive::{self, Member};
use crate::digest::{Digest, DigestTable, Hasher};
use crate::error::Result;
use crate::fs::File;
use crate::pack::{Alike, Content, Inspector, Placement};
use crate::progress::Progress;

/// What is to be done with a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Task {
    /// Look at the header or the description that it is.
    Glance,
    /// Read it to its end.
    Read {
        /// Make its digest.
        digest: bool,
        /// Put it where it can be reached.
        keep: bool,
    },
}

/// What a pass found, aside from the digests. Files are given by their numbers.
#[derive(Default)]
pub(super) struct Gathered {
    pub(super) glanced: Vec<(usize, Content)>,
    /// Those that could not be read to their ends.
    pub(super) unreadable: Vec<(usize, io::Error)>,
    /// Those that have another digest than was known of them: that one, and theirs.
    pub(super) mismatched: Vec<(usize, Digest, Digest)>,
    pub(super) kept: Option<Kept>,
}

/// Files of a stream, put where each can be reached.
pub(super) struct Kept {
    scratch: Arc<File>,
    end: u64,
    /// Where each begins, and its length.
    places: Vec<(usize, u64, u64)>,
}

/// What a pass leads to in one file. It is kept for each of them: digests have places of their own.
enum Seen {
    Content(Box<Content>),
    Read,
    Unreadable(io::Error),
}

/// The pass, over files in rising order.
pub(super) fn gather(
    contents: &archive::Contents,
    (members, placement): (&[Member], &Placement),
    tasks: &[(usize, Task)],
    digests: &mut DigestTable,
    allowance: &Allowance,
    jobs: usize,
    progress: &Progress,
) -> Result<Gathered> {
    let files: Vec<usize> = tasks.iter().map(|(file, _)| *file).collect();
    let algorithm = digests.algorithm();
    let keeps = tasks.iter().any(|(_, task)| matches!(task, Task::Read { keep: true, .. }));
    let mut gathered = Gathered::default();
    if keeps {
        gathered.kept = Some(Kept::new()?);
    }
    let notes = Mutex::new((digests, &mut gathered));
    let note = || notes.lock().unwrap_or_else(PoisonError::into_inner);
    let look = |alike: &mut Alike, at: usize, content: &mut dyn BufRead| {
        let Some((file, task)) = tasks.get(at).copied() else { return Seen::Read };
        if let Some(member) = members.get(file) {
            progress.begin(placement.shown(&member.name), member.size);
        }
        progress.done(1);
        let Task::Read { digest, keep } = task else {
            let Some(member) = members.get(file) else { return Seen::Read };
            let name = placement.shown(&member.name);
            let mut inspector = Inspector::within(name, allowance);
            // One that cannot be read is told of by its name.
            let _ = inspector.read(content);
            return Seen::Content(Box::new(inspector.finish_among(name, member.size, alike)));
        };
        let hasher = digest.then(|| Hasher::new(algorithm));
        let sink = if keep { note().1.kept.as_ref().map(Kept::end) } else { None };
        let (found, len) = match read(content, hasher, sink.as_ref()) {
            Ok(read) => read,
            Err(error) => return Seen::Unreadable(error),
        };
        let (digests, gathered) = &mut *note();
        if let Some(found) = found {
            let known = digests.get(file).filter(|known| *known != found);
            gathered.mismatched.extend(known.map(|known| (file, known, found)));
            digests.set(file, &found);
        }
        if let Some(kept) = gathered.kept.as_mut().filter(|_| keep) {
            kept.push(file, len);
        }
        Seen::Read
    };
    let seen = contents.revisit(members, &files, jobs, Alike::default, look)?;
    for (file, seen) in files.into_iter().zip(seen) {
        match seen {
            Seen::Content(content) => gathered.glanced.push((file, *content)),
            Seen::Unreadable(error) => gathered.unreadable.push((file, error)),
            Seen::Read => {}
        }
    }
    gathered.mismatched.sort_unstable_by_key(|(file, ..)| *file);
    Ok(gathered)
}

impl Kept {
    fn new() -> Result<Self> {
        Ok(Self { scratch: Arc::new(blob::scratch()?), end: 0, places: Vec::new() })
    }

    /// Where the next one goes.
    fn end(&self) -> (Arc<File>, u64) {
        (Arc::clone(&self.scratch), self.end)
    }

    /// Notes what was put there. Those of a stream come one after the other, in rising order.
    fn push(&mut self, file: usize, len: u64) {
        self.places.push((file, self.end, len));
        self.end = self.end.saturating_add(len);
    }

    /// The bytes of a file, if it was kept.
    pub(super) fn blob(&self, file: usize) -> Option<Blob> {
        let at = self.places.binary_search_by_key(&file, |(file, ..)| *file).ok()?;
        let (_, start, len) = *self.places.get(at)?;
        Some(Blob::File { file: Arc::clone(&self.scratch), start, len })
    }
}

/// Reads to the end, and gives the digest and the length of what it was.
fn read(
    content: &mut dyn BufRead,
    mut hasher: Option<Hasher>,
    sink: Option<&(Arc<File>, u64)>,
) -> io::Result<(Option<Digest>, u64)> {
    let mut len = 0_u64;
    loop {
        let block = match content.fill_buf() {
            Ok([]) => return Ok((hasher.map(Hasher::finish), len)),
            Ok(block) => block,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        if let Some(hasher) = &mut hasher {
            hasher.update(block);
        }
        if let Some((file, start)) = sink {
            file.write_all_at(block, start.saturating_add(len))?;
        }
        let count = block.len();
        len = len.saturating_add(u64::try_from(count).unwrap_or(u64::MAX));
        content.consume(count);
    }
}
