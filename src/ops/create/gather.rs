//! One pass over the source in which every file is looked at, and small ones are written as they pass:
//! opening a small file takes longer than reading it, and what is checked is then what is packed.
//!
//! Large files get their places only, where members are stored as they are. Their bytes are copied once everything
//! is known to be right. Where members are compressed, everything from the run with the first large file on is only
//! looked at.

use std::ops::Range;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::members::{Members, check_name, is_aside};
use crate::archive::{
    Buffers, MemberKind, NewMember, Placed, RunMember, Runs, StoredMembers, WriteInOrder,
};
use crate::error::{Error, Result};
use crate::fs::{Below, Stamp};
use crate::ops::survey::{
    BLOCK, Names, SourceEntry, State, Survey, header_of, read_beginning, read_whole,
};
use crate::pack::{Content, Interner};
use crate::pipeline;
use crate::progress::Progress;
use crate::ra::Header;

/// Bytes of small files that one job holds.
const ROOM: usize = 1024 * 1024;

/// What is written as it passes.
#[derive(Clone, Copy)]
struct Limits {
    /// Files that one job takes at a time.
    step: usize,
    /// The longest of them.
    small: u64,
}

impl Limits {
    /// For what gets its place when there is no room for it.
    const STORED: Self = Self { step: 64, small: 64 * 1024 };
    /// There is room for each.
    const COMPRESSED: Self = Self { step: 32, small: 32 * 1024 };
}

const _: () = assert!(32 * 32 * 1024 <= ROOM);

/// Looks at everything in `names` and writes what is small.
pub(super) fn gather(
    source: &Path,
    names: Names,
    runs: &Runs<'_>,
    members: Members<'_>,
    follow: bool,
    jobs: usize,
) -> Result<Survey> {
    let Names { mut entries, findings } = names;
    let job = || Job::new(source, follow, &members.options.progress);
    let looked = match runs {
        Runs::Stored(stored) => write_at_places(&mut entries, stored, members, job, jobs)?,
        Runs::Packed(packed) => write_in_order(&mut entries, &**packed, members, job, jobs)?,
        Runs::Streamed(streamed) => write_in_order(&mut entries, streamed, members, job, jobs)?,
    };
    Ok(Survey::collect(entries, looked, findings))
}

/// Writes stored members, each job its own.
fn write_at_places<'j>(
    entries: &mut [SourceEntry],
    stored: &StoredMembers<'_>,
    members: Members<'_>,
    job: impl Fn() -> Job<'j> + Sync,
    jobs: usize,
) -> Result<Vec<Vec<Content>>> {
    let Limits { step, small } = Limits::STORED;
    pipeline::share(jobs, entries.chunks_mut(step).enumerate(), job, |job, (number, entries)| {
        stored.in_turn(number, || {
            let looked = job.look(entries, small)?;
            let run = looked.run(members, &job.room)?;
            let placed = stored.write_run(number, &run, &mut job.buffers)?;
            drop(run);
            looked.mark(Some(placed))
        })
    })
}

/// Packs members by all jobs and writes them here, up to the first run in which one is not small.
fn write_in_order<'j, W: WriteInOrder>(
    entries: &mut [SourceEntry],
    writer: &W,
    members: Members<'_>,
    job: impl Fn() -> Job<'j> + Sync,
    jobs: usize,
) -> Result<Vec<Vec<Content>>> {
    let Limits { step, small } = Limits::COMPRESSED;
    let runs = entries.chunks_mut(step).enumerate();
    let mut contents = Vec::with_capacity(runs.len());
    // The first run that cannot be written, as far as is known: what lies behind it need not be prepared.
    let end = AtomicUsize::new(usize::MAX);
    let is_behind = |number| end.load(Ordering::Relaxed) < number;
    let prepare = |job: &mut Job<'_>, (number, run): (usize, _)| {
        // What is not going to be written now need not be read whole.
        let looked = job.look(run, if is_behind(number) { 0 } else { small })?;
        if is_behind(number) {
            return Ok::<_, Error>((looked, Ok(None)));
        }
        let run = looked.run(members, &job.room);
        let prepared = run.and_then(|run| writer.prepare(&run, &mut job.buffers));
        if matches!(prepared, Ok(None)) {
            end.fetch_min(number, Ordering::Relaxed);
        }
        Ok((looked, prepared))
    };
    let mut buffers = Buffers::default();
    let mut is_over = false;
    let take = |(looked, prepared): (Looked<'_>, Result<Option<W::Run>>)| {
        // What was prepared behind that run is packed again later, and what went wrong with it may go well then.
        let prepared = if is_over { None } else { prepared? };
        is_over = prepared.is_none();
        let write = |run| {
            let members = looked.members(members).map(|(member, _)| member);
            writer.write_prepared(members, run, &mut buffers)
        };
        let placed = prepared.map(write).transpose()?;
        contents.push(looked.mark(placed)?);
        Ok(())
    };
    pipeline::ordered(pipeline::workers(jobs), runs, job, prepare, take)?;
    Ok(contents)
}

/// What one job works with.
struct Job<'j> {
    below: Below,
    progress: &'j Progress,
    /// The beginning of a file that is not held.
    block: Vec<u8>,
    /// The files of one run.
    room: Vec<u8>,
    buffers: Buffers,
    interner: Interner,
}

/// A file that was looked at, and where its bytes lie in the room of the job, if they are there.
struct Seen {
    stamp: Stamp,
    place: Option<Range<usize>>,
}

/// A run of entries that were looked at.
struct Looked<'e> {
    entries: &'e mut [SourceEntry],
    /// `None` for an entry that is not looked at.
    seen: Vec<Option<Seen>>,
    contents: Vec<Content>,
}

impl<'j> Job<'j> {
    fn new(source: &Path, follow: bool, progress: &'j Progress) -> Self {
        Self {
            below: Below::new(source, follow),
            progress,
            block: vec![0; BLOCK],
            room: vec![0; ROOM],
            buffers: Buffers::default(),
            interner: Interner::default(),
        }
    }

    /// Looks at a run of entries, and reads files up to the length `small` into the room.
    fn look<'e>(&mut self, entries: &'e mut [SourceEntry], small: u64) -> Result<Looked<'e>> {
        let Self { below, progress, block, room, interner, .. } = self;
        let mut filled = 0;
        let mut seen = Vec::with_capacity(entries.len());
        let mut contents = Vec::with_capacity(entries.len());
        for SourceEntry { path, state, .. } in &*entries {
            if !matches!(state, State::Unseen) {
                seen.push(None);
                contents.push(Content::Other);
                continue;
            }
            progress.at(path.as_str());
            let mut file = below.open(path)?.watched(progress);
            let stamp = file.stamp()?;
            let is_held = stamp.len() <= small && !is_aside(path.as_str());
            let end = usize::try_from(stamp.len()).ok().and_then(|len| len.checked_add(filled));
            let end = end.filter(|end| is_held && *end <= room.len());
            let place = end.map(|end| filled..end);
            let what = match &place {
                Some(place) => {
                    let content = room.get_mut(place.clone());
                    filled = place.end;
                    read_whole(&mut file, path, &stamp, content, interner)?.0
                }
                None => read_beginning(&mut file, path, &stamp, block, interner)?,
            };
            seen.push(Some(Seen { stamp, place }));
            contents.push(what);
        }
        progress.done(entries.len());
        Ok(Looked { entries, seen, contents })
    }
}

impl Looked<'_> {
    /// The members of the archive among them.
    fn members<'r>(
        &'r self,
        members: Members<'r>,
    ) -> impl Iterator<Item = (NewMember<'r>, Option<&'r Seen>)> {
        let looked = self.entries.iter().zip(&self.seen).zip(&self.contents);
        looked.filter(|((entry, _), _)| is_member(entry)).map(move |((entry, seen), what)| {
            let header_len = header_of(what).map(Header::header_len);
            let seen = seen.as_ref();
            (members.member(&entry.path, seen.map(|seen| &seen.stamp), header_len), seen)
        })
    }

    /// The same with their contents, as far as these lie in `room`.
    fn run<'r>(&'r self, members: Members<'r>, room: &'r [u8]) -> Result<Vec<RunMember<'r>>> {
        let run = self.members(members).map(|(member, seen)| {
            check_name(&member)?;
            let content = match seen {
                Some(Seen { place, .. }) => place.clone().and_then(|place| room.get(place)),
                None => Some(&b""[..]),
            };
            Ok(RunMember { member, content })
        });
        run.collect()
    }

    /// Says in the entries how far they are, and gives what they are. There is a place for each member, unless the
    /// run was not written.
    fn mark(self, placed: Option<Vec<Placed>>) -> Result<Vec<Content>> {
        let mut placed = placed.map(Vec::into_iter);
        for (entry, seen) in self.entries.iter_mut().zip(self.seen) {
            let place = match placed.as_mut().filter(|_| is_member(entry)) {
                Some(placed) => Some(placed.next().ok_or(Error::Interrupted)?),
                None => None,
            };
            entry.state = match (seen, place) {
                (Some(Seen { stamp, place: None }), Some(placed)) => {
                    State::Reserved(stamp, placed.record.at)
                }
                (Some(Seen { stamp, .. }), Some(placed)) => {
                    State::Written(MemberKind::File, stamp.len(), stamp.modified(), placed)
                }
                (Some(Seen { stamp, .. }), None) => State::Seen(stamp),
                (None, Some(placed)) => State::Written(MemberKind::Directory, 0, 0, placed),
                (None, None) => continue,
            };
        }
        Ok(self.contents)
    }
}

fn is_member(SourceEntry { path, state, .. }: &SourceEntry) -> bool {
    match state {
        State::Unseen => !is_aside(path.as_str()),
        State::Directory => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::archive::Container;
    use crate::ops::create::CreateOptions;
    use crate::pack::Placement;
    use crate::path::MemberPath;

    /// Has the first run turn out not to be writable once three behind it are prepared.
    #[derive(Default)]
    struct Late {
        prepared: AtomicUsize,
        written: AtomicUsize,
    }

    impl WriteInOrder for Late {
        type Run = ();

        fn prepare(&self, run: &[RunMember<'_>], _: &mut Buffers) -> Result<Option<()>> {
            if run.first().is_none_or(|first| first.member.path != "000") {
                self.prepared.fetch_add(1, Ordering::SeqCst);
                return Ok(Some(()));
            }
            for _ in 0..10_000 {
                if self.prepared.load(Ordering::SeqCst) == 3 {
                    return Ok(None);
                }
                std::thread::sleep(Duration::from_millis(1));
            }
            panic!("nobody goes on while a run is being prepared");
        }

        fn write_prepared<'m>(
            &self,
            _: impl Iterator<Item = NewMember<'m>>,
            (): (),
            _: &mut Buffers,
        ) -> Result<Vec<Placed>> {
            self.written.fetch_add(1, Ordering::SeqCst);
            Ok(Vec::new())
        }
    }

    #[test]
    fn what_was_prepared_behind_a_run_that_is_not_written_is_not_written() {
        let source = tempfile::tempdir().unwrap();
        let step = Limits::COMPRESSED.step;
        let names = (0..step * 6).map(|number| format!("{number:03}"));
        let entry = |name: String| {
            std::fs::write(source.path().join(&name), &name).unwrap();
            let path = MemberPath::new(name).unwrap();
            SourceEntry { path, header_len: None, state: State::Unseen }
        };
        let mut entries: Vec<_> = names.map(entry).collect();
        let (placement, options) = (Placement::plain(), CreateOptions::default());
        let container = Container::Zip;
        let members = Members { placement: &placement, options: &options, container };
        let job = || Job::new(source.path(), false, &options.progress);
        let writer = Late::default();
        let contents = write_in_order(&mut entries, &writer, members, job, 2).unwrap();
        assert_eq!(writer.written.into_inner(), 0);
        assert_eq!(contents.iter().map(Vec::len).collect::<Vec<_>>(), [step; 6]);
        assert!(entries.iter().all(|entry| matches!(entry.state, State::Seen(_))));
    }
}
