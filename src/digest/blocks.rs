//! Contents that pass by in blocks, hashed on the way: one, or two by one core at once.

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

/// Hashes two contents side by side, which takes less time than one after the other where
/// [`is_faster_in_twos`](super::is_faster_in_twos). What is wrong with one does not keep the other from being
/// hashed.
pub(crate) fn hash_both<B: Blocks>(
    contents: [&mut B; 2],
    hashers: [&mut Hashers; 2],
) -> [Result<(), B::Error>; 2] {
    let [one, other] = contents;
    let [of_one, of_other] = hashers;
    loop {
        let states = match (one.wait(), other.wait()) {
            (Ok(count), Ok(others)) if count.min(others) > 0 => {
                let count = count.min(others);
                let bytes = [one.ready(), other.ready()];
                let bytes = bytes.map(|bytes| bytes.get(..count).unwrap_or_default());
                Hashers::update_both([&mut *of_one, &mut *of_other], bytes);
                let states = (one.pass_on(count), other.pass_on(count));
                if let (Ok(()), Ok(())) = states {
                    continue;
                }
                states
            }
            (count, others) => (count.map(drop), others.map(drop)),
        };
        // One of them is at its end, or fails.
        return [
            states.0.and_then(|()| hash(one, of_one)),
            states.1.and_then(|()| hash(other, of_other)),
        ];
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
        fn two_side_by_side_are_what_each_is_alone(
            sources in [source(), source()],
            algorithms in proptest::sample::subsequence(Algorithm::ALL.to_vec(), 1..=4),
        ) {
            let alone = sources.clone().map(|mut source| {
                let result = hash(&mut source, &mut Hashers::new(&algorithms));
                (result, source.passed)
            });
            let mut hashers = [Hashers::new(&algorithms), Hashers::new(&algorithms)];
            let mut sources = sources;
            let results = hash_both(sources.each_mut(), hashers.each_mut());
            let both = results.into_iter().zip(sources).zip(hashers.map(Hashers::finish)).zip(alone);
            for (((result, source), digests), (alone, passed)) in both {
                prop_assert_eq!(result, alone);
                // Where one stops depends on the blocks that the other comes in.
                if result.is_ok() {
                    prop_assert!(source.passed == passed);
                    prop_assert_eq!(digests, Digests::of(&algorithms, &passed));
                } else {
                    prop_assert!(passed.starts_with(&source.passed) || source.passed.starts_with(&passed));
                }
            }
        }
    }
}
