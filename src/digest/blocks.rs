//! Contents that pass by in blocks, hashed on the way: one, or several by one core at once.

use super::Hashers;

/// A content that comes in blocks, and goes on to whoever wants it once it has been hashed.
pub(crate) trait Blocks {
    /// Why it does not come, or does not go on.
    type Error;

    /// Waits for bytes that can be hashed, and says how many there are: none at the end.
    fn wait(&mut self) -> Result<usize, Self::Error>;

    /// Those bytes.
    fn ready(&mut self) -> &[u8];

    /// Sends the first `count` of them on.
    fn pass_on(&mut self, count: usize) -> Result<(), Self::Error>;
}

/// Hashes all of a content.
pub(crate) fn hash<B: Blocks>(content: &mut B, hashers: &mut Hashers) -> Result<(), B::Error> {
    loop {
        let count = content.wait()?;
        if count == 0 {
            return Ok(());
        }
        hashers.update(content.ready().get(..count).unwrap_or_default());
        content.pass_on(count)?;
    }
}

/// Hashes contents side by side, which takes less time than one after the other where
/// [`at_once`](super::at_once) says so. What is wrong with one does not keep the others from being hashed.
pub(crate) fn hash_all<B: Blocks>(
    contents: &mut [B],
    hashers: &mut [Hashers],
) -> Vec<Result<(), B::Error>> {
    let mut results: Vec<_> = contents.iter().map(|_| None).collect();
    while hash_next(contents, hashers, &mut results) {}
    results.into_iter().flatten().collect()
}

/// The same until one of them fails.
pub(crate) fn try_hash_all<B: Blocks>(
    contents: &mut [B],
    hashers: &mut [Hashers],
) -> Result<(), B::Error> {
    let mut results: Vec<_> = contents.iter().map(|_| None).collect();
    while hash_next(contents, hashers, &mut results)
        && !results.iter().any(|result| matches!(result, Some(Err(_))))
    {}
    results.into_iter().flatten().collect()
}

/// Hashes as many bytes of each content as are there of all that have no result yet; says whether there were any.
/// A content has its result when it has come to its end, or failed.
fn hash_next<B: Blocks>(
    contents: &mut [B],
    hashers: &mut [Hashers],
    results: &mut [Option<Result<(), B::Error>>],
) -> bool {
    let mut common = usize::MAX;
    let all = contents.iter_mut().zip(hashers).zip(results);
    let mut ready: Vec<_> = all
        .filter(|(_, result)| result.is_none())
        .filter_map(|((content, hashers), result)| {
            *result = match content.wait() {
                Ok(0) => Some(Ok(())),
                Ok(count) => {
                    common = common.min(count);
                    return Some((content, hashers, result));
                }
                Err(error) => Some(Err(error)),
            };
            None
        })
        .collect();
    Hashers::update_all(ready.iter_mut().map(|(content, hashers, _)| {
        (&mut **hashers, content.ready().get(..common).unwrap_or_default())
    }));
    let is_any = !ready.is_empty();
    for (content, _, result) in ready {
        *result = content.pass_on(common).err().map(Err);
    }
    is_any
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;
    use crate::digest::{Algorithm, Digests};

    /// Blocks of these lengths, of which one may fail to come, or to go on.
    #[derive(Debug, Clone)]
    struct Source {
        blocks: Vec<Vec<u8>>,
        at: usize,
        passed: Vec<u8>,
        fails_to_come: Option<usize>,
        room: usize,
    }

    impl Blocks for Source {
        type Error = &'static str;

        fn wait(&mut self) -> Result<usize, &'static str> {
            while self.blocks.get(self.at).is_some_and(Vec::is_empty) {
                self.at += 1;
            }
            // It fails once: whoever asks again would never know.
            match self.fails_to_come.take_if(|at| *at <= self.at) {
                Some(_) => Err("does not come"),
                None => Ok(self.blocks.get(self.at).map_or(0, Vec::len)),
            }
        }

        fn ready(&mut self) -> &[u8] {
            &self.blocks[self.at]
        }

        fn pass_on(&mut self, count: usize) -> Result<(), &'static str> {
            let passed = self.blocks[self.at].drain(..count);
            self.passed.extend(passed);
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
        })
    }

    proptest! {
        #[test]
        fn side_by_side_they_are_what_each_is_alone(
            mut sources in vec(source(), 0..20),
            several in proptest::sample::subsequence(Algorithm::ALL.to_vec(), 1..=4),
            // One has other digests than the others.
            other in 0_usize..40,
        ) {
            let algorithms = |number| if number == other { &*several } else { &[Algorithm::Sha256] };
            let alone: Vec<_> = sources
                .clone()
                .into_iter()
                .map(|mut source| {
                    let result = hash(&mut source, &mut Hashers::new(&[Algorithm::Sha256]));
                    (result, source.passed)
                })
                .collect();
            let count = sources.len();
            let new = || (0..count).map(|number| Hashers::new(algorithms(number))).collect::<Vec<_>>();
            let mut stopping = sources.clone();
            let stopped = try_hash_all(&mut stopping, &mut new());
            prop_assert_eq!(stopped.is_ok(), alone.iter().all(|(result, _)| result.is_ok()));
            let mut hashers = new();
            let results = hash_all(&mut sources, &mut hashers);
            prop_assert_eq!(results.len(), sources.len());
            let all = results.into_iter().zip(sources).zip(hashers).zip(alone);
            for (number, (((result, source), hashers), (alone, passed))) in all.enumerate() {
                prop_assert_eq!(result, alone);
                // Where one stops depends on the blocks that the others come in.
                if result.is_ok() {
                    prop_assert!(source.passed == passed);
                    prop_assert_eq!(hashers.finish(), Digests::of(algorithms(number), &passed));
                } else {
                    prop_assert!(passed.starts_with(&source.passed) || source.passed.starts_with(&passed));
                }
            }
        }
    }
}
