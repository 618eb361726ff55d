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
    loop {
        let mut common = usize::MAX;
        let mut active: Vec<_> = contents
            .iter_mut()
            .zip(&mut *hashers)
            .zip(&mut results)
            .filter_map(|((content, hashers), result)| {
                if result.is_some() {
                    return None;
                }
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
        if active.is_empty() {
            // Each has come to its end, or failed.
            return results.into_iter().flatten().collect();
        }
        Hashers::update_all(active.iter_mut().map(|(content, hashers, _)| {
            (&mut **hashers, content.ready().get(..common).unwrap_or_default())
        }));
        for (content, _, result) in active {
            *result = content.pass_on(common).err().map(Err);
        }
    }
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
            algorithms in proptest::sample::subsequence(Algorithm::ALL.to_vec(), 1..=4),
        ) {
            let alone: Vec<_> = sources
                .clone()
                .into_iter()
                .map(|mut source| {
                    let result = hash(&mut source, &mut Hashers::new(&algorithms));
                    (result, source.passed)
                })
                .collect();
            let mut hashers: Vec<_> = sources.iter().map(|_| Hashers::new(&algorithms)).collect();
            let results = hash_all(&mut sources, &mut hashers);
            prop_assert_eq!(results.len(), sources.len());
            let all = results.into_iter().zip(sources).zip(hashers).zip(alone);
            for (((result, source), hashers), (alone, passed)) in all {
                prop_assert_eq!(result, alone);
                // Where one stops depends on the blocks that the others come in.
                if result.is_ok() {
                    prop_assert!(source.passed == passed);
                    prop_assert_eq!(hashers.finish(), Digests::of(&algorithms, &passed));
                } else {
                    prop_assert!(passed.starts_with(&source.passed) || source.passed.starts_with(&passed));
                }
            }
        }
    }
}
