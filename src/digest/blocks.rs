//! Hashing of data that arrives in blocks: several streams at once on one core.

use std::sync::{Mutex, PoisonError};

use super::{Digests, Hashers};

/// The thread that hashes a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// The thread that reads the data. Other jobs use the other cores.
    Here,
    /// A thread of its own. No other work takes as long.
    Beside,
}

/// A stream of blocks that are hashed and then passed on.
pub(crate) trait Blocks {
    /// The error of reading or passing on.
    type Error;

    /// Waits for bytes to hash. Returns `false` at the end.
    fn wait(&mut self) -> Result<bool, Self::Error>;

    /// Returns the bytes that are ready.
    fn ready(&mut self) -> &[u8];

    /// Passes these bytes on.
    fn pass_on(&mut self) -> Result<(), Self::Error>;
}

/// Returns the ready bytes. Panics if there are none, because the digest would be of fewer bytes than the stream.
fn ready<B: Blocks>(content: &mut B) -> &[u8] {
    let bytes = content.ready();
    assert!(!bytes.is_empty(), "bytes must be ready after waiting");
    bytes
}

/// A stream and its hashers.
pub(crate) struct Lane<L, C> {
    pub(crate) label: L,
    pub(crate) content: C,
    pub(crate) hashers: Hashers,
}

/// Hashes up to `width` streams at once, which is faster than one after the other if [`at_once`](super::at_once) says
/// so.
///
/// It requests a stream whenever one fits; the request may also return a finished result. `done` makes the result of a
/// stream that ended or failed. A failure does not stop the others.
///
/// If all jobs pass their data to one `place`, which accepts one job at a time, each job locks it once for a block of
/// every stream. The other jobs hash during that time.
pub(crate) fn hash_side_by_side<L, C: Blocks, T, E>(
    width: usize,
    place: Option<&Mutex<()>>,
    mut contents: impl Iterator<Item = Result<Result<Lane<L, C>, T>, E>>,
    mut done: impl FnMut(L, C, Result<Digests, C::Error>) -> Result<T, E>,
) -> Result<Vec<T>, E> {
    let mut lanes: Vec<Lane<L, C>> = Vec::with_capacity(width);
    let mut results = Vec::new();
    loop {
        let mut number = 0_usize;
        while number < width {
            while number >= lanes.len()
                && let Some(next) = contents.next()
            {
                match next? {
                    Ok(lane) => lanes.push(lane),
                    Err(result) => results.push(result),
                }
            }
            let Some(lane) = lanes.get_mut(number) else { break };
            let ended = match lane.content.wait() {
                Ok(true) => {
                    number += 1;
                    continue;
                }
                ended => ended,
            };
            let Lane { label, content, hashers } = lanes.swap_remove(number);
            results.push(done(label, content, ended.map(|_| hashers.finish()))?);
        }
        if lanes.is_empty() {
            return Ok(results);
        }
        let blocks = lanes.iter_mut().map(|lane| (&mut lane.hashers, ready(&mut lane.content)));
        Hashers::update_all(blocks);
        let taking = place.map(|place| place.lock().unwrap_or_else(PoisonError::into_inner));
        let passed: Vec<_> = lanes.iter_mut().map(|lane| lane.content.pass_on()).collect();
        drop(taking);
        // From the last to the first, so that removing one does not move the others.
        for (number, passed) in passed.into_iter().enumerate().rev() {
            if let Err(error) = passed {
                let Lane { label, content, .. } = lanes.swap_remove(number);
                results.push(done(label, content, Err(error))?);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::digest::{Algorithm, Digests};

    /// A stream with blocks of these lengths that may fail when reading or when passing on.
    #[derive(Debug, Clone)]
    struct Source {
        blocks: Vec<Vec<u8>>,
        at: usize,
        passed: Vec<u8>,
        fails_to_come: Option<usize>,
        room: usize,
        lanes: Option<Rc<Lanes>>,
    }

    impl Blocks for Source {
        type Error = &'static str;

        fn wait(&mut self) -> Result<bool, &'static str> {
            while self.blocks.get(self.at).is_some_and(Vec::is_empty) {
                self.at += 1;
            }
            // It fails only once, so a second call would hide the failure.
            match self.fails_to_come.take_if(|at| *at <= self.at) {
                Some(_) => Err("does not come"),
                None => Ok(self.at < self.blocks.len()),
            }
        }

        fn ready(&mut self) -> &[u8] {
            &self.blocks[self.at]
        }

        fn pass_on(&mut self) -> Result<(), &'static str> {
            if let Some(lanes) = &self.lanes {
                // No other job has the lock, and no lane is empty while streams are left.
                assert!(lanes.place.try_lock().is_err());
                assert!(lanes.under_way.get() == lanes.width || lanes.left.get() == 0);
            }
            self.passed.append(&mut self.blocks[self.at]);
            if self.passed.len() > self.room { Err("no room") } else { Ok(()) }
        }
    }

    fn source() -> impl Strategy<Value = Source> {
        let blocks = vec(vec(any::<u8>(), 0..300), 0..9);
        let fails_to_come = proptest::option::weighted(0.2, 0_usize..9);
        let room = prop_oneof![4 => Just(usize::MAX), 1 => 0_usize..2000];
        (blocks, fails_to_come, room).prop_map(|(blocks, fails_to_come, room)| Source {
            blocks,
            at: 0,
            passed: Vec::new(),
            fails_to_come,
            room,
            lanes: None,
        })
    }

    /// The lanes that hash the streams.
    #[derive(Debug)]
    struct Lanes {
        place: Mutex<()>,
        width: usize,
        under_way: Cell<usize>,
        left: Cell<usize>,
    }

    proptest! {
        #[test]
        fn hashing_several_gives_the_digests_of_each(
            sources in vec(source(), 0..40),
            width in 1_usize..20,
            several in proptest::sample::subsequence(Algorithm::ALL.to_vec(), 1..=4),
            // One stream uses other algorithms.
            other in 0_usize..40,
            stops in prop_oneof![Just(usize::MAX), 0_usize..3],
            kept_back in proptest::option::weighted(0.2, 0_usize..40),
        ) {
            let algorithms = |number| if number == other { &*several } else { &[Algorithm::Sha256] };
            let alone: Vec<_> = sources
                .clone()
                .into_iter()
                .map(|mut source| {
                    let mut hashers = Hashers::new(&[Algorithm::Sha256]);
                    let mut pass = || {
                        while source.wait()? {
                            hashers.update(source.ready());
                            source.pass_on()?;
                        }
                        Ok(())
                    };
                    let result: Result<(), _> = pass();
                    (result, source.passed)
                })
                .collect();
            let count = sources.len();
            let failing = alone.iter().filter(|(result, _)| result.is_err()).count();
            let lanes = Rc::new(Lanes {
                place: Mutex::new(()),
                width,
                under_way: Cell::new(0),
                left: Cell::new(count),
            });
            // Starts with the last stream, and stops after more than `stops` failures.
            let mut left: Vec<_> = sources.into_iter().enumerate().collect();
            let contents = std::iter::from_fn(|| {
                if kept_back == Some(left.len()) {
                    return Some(Err("kept back"));
                }
                let (label, mut content) = left.pop()?;
                lanes.left.update(|left| left - 1);
                if content.blocks.is_empty() && content.fails_to_come.is_none() {
                    let digests = Ok(Digests::of(algorithms(label), b""));
                    return Some(Ok(Err((label, content, digests))));
                }
                lanes.under_way.update(|count| count + 1);
                assert!(lanes.under_way.get() <= lanes.width);
                content.lanes = Some(Rc::clone(&lanes));
                let hashers = Hashers::new(algorithms(label));
                Some(Ok(Ok(Lane { label, content, hashers })))
            });
            let mut stops_left = stops;
            let done = |label, source, digests: Result<Digests, _>| {
                lanes.under_way.update(|count| count - 1);
                if let Err(error) = digests {
                    stops_left = stops_left.checked_sub(1).ok_or(error)?;
                }
                Ok((label, source, digests))
            };
            let result = hash_side_by_side(width, Some(&lanes.place), contents, done);
            let all_come = kept_back.is_none_or(|number| number > count);
            prop_assert_eq!(result.is_ok(), failing <= stops && all_come);
            if let Ok(done) = &result {
                prop_assert_eq!(done.len(), count);
            }
            let mut seen = vec![false; count];
            for (number, source, digests) in result.unwrap_or_default() {
                let (result, passed) = &alone[number];
                prop_assert!(!std::mem::replace(&mut seen[number], true));
                prop_assert!(source.passed == *passed);
                match digests {
                    Ok(digests) => {
                        prop_assert_eq!(result, &Ok(()));
                        prop_assert_eq!(digests, Digests::of(algorithms(number), passed));
                    }
                    Err(error) => prop_assert_eq!(result, &Err(error)),
                }
            }
        }
    }
}
