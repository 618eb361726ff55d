//! The SHA-256 of each block of a stream, computed together with the digest of the whole stream.

use super::sha256::Sha256;

/// The SHA-256 of one block.
pub(crate) type BlockDigest = [u8; 32];

/// Computes the digest of each block of a stream.
#[derive(Debug)]
pub(super) struct BlockHasher {
    size: u64,
    /// The block in progress, and the number of bytes that it still takes.
    current: Sha256,
    room: u64,
    done: Vec<BlockDigest>,
}

impl BlockHasher {
    pub(super) fn new(size: u64) -> Self {
        assert!(size > 0, "a block has bytes");
        Self { size, current: Sha256::new(), room: size, done: Vec::new() }
    }

    /// Adds all of `bytes` except those that the last of their blocks takes. Returns the message of that block and
    /// these bytes, so that they can be added together with other messages.
    pub(super) fn begin<'c>(&'c mut self, mut bytes: &'c [u8]) -> (&'c mut Sha256, &'c [u8]) {
        while bytes.len() as u64 > self.room {
            let room = usize::try_from(self.room).expect("less than the number of bytes");
            let (end, rest) = bytes.split_at(room);
            self.current.update(end);
            self.next_block();
            bytes = rest;
        }
        self.room -= bytes.len() as u64;
        (&mut self.current, bytes)
    }

    fn next_block(&mut self) {
        let block = std::mem::replace(&mut self.current, Sha256::new());
        self.done.push(block.finish());
        self.room = self.size;
    }

    /// Returns the digests, or none if the stream is not longer than one block.
    pub(super) fn finish(mut self) -> Vec<BlockDigest> {
        if self.done.is_empty() {
            return Vec::new();
        }
        // A block is complete only when a byte of the next one comes, so the last one has at least one byte.
        self.next_block();
        self.done
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Algorithm, Digest, Digests, Hashers, Wanted};

    proptest! {
        #[test]
        fn each_block_gets_the_digest_of_its_bytes(
            len in 0_usize..2000,
            size in 1_u64..700,
            steps in proptest::collection::vec(1_usize..300, 1..20),
        ) {
            let whole: Vec<u8> = (0..=250).cycle().take(len).collect();
            for algorithms in [&[Algorithm::Sha256][..], &[Algorithm::Sha256, Algorithm::Sha512]] {
                let wanted = Wanted { algorithms, block_size: Some(size) };
                let mut hashers = Hashers::new(wanted);
                let mut other = Hashers::new(&[Algorithm::Sha256]);
                let (mut left, mut steps) = (&whole[..], steps.iter().cycle());
                while !left.is_empty() {
                    let (now, rest) = left.split_at(left.len().min(*steps.next().unwrap()));
                    if rest.len() % 2 == 0 {
                        hashers.update(now);
                        other.update(now);
                    } else {
                        let both = [(&mut hashers, now), (&mut other, now)];
                        Hashers::update_all(both.into_iter());
                    }
                    left = rest;
                }
                let digests = hashers.finish();
                prop_assert_eq!(&digests, &Digests::of(wanted, &whole));
                for algorithm in algorithms {
                    let alone = Digests::of(algorithms, &whole).made_by(*algorithm);
                    prop_assert_eq!(digests.made_by(*algorithm), alone);
                }
                prop_assert_eq!(other.finish().made_by(Algorithm::Sha256), Digest::sha256(&whole));
                let expected: Vec<_> = whole.chunks(usize::try_from(size).unwrap()).collect();
                let expected = if expected.len() > 1 { expected } else { Vec::new() };
                let expected: Vec<_> = expected.into_iter().map(Digest::sha256).collect();
                let found = digests.blocks().iter().map(Digest::of_block);
                prop_assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
