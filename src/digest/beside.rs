//! Digests made by a thread of their own, beside whoever reads and writes the bytes.

use std::panic::resume_unwind;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use super::{Algorithm, Digests, Hashers};

/// Blocks on their way to the thread: enough that neither side waits for long.
const UNDERWAY: usize = 4;

/// Who hashes a large content.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hashing {
    /// Whoever reads it: other jobs have work of their own.
    Here,
    /// A thread of its own: nothing else is left to do that takes as long.
    Beside,
}

/// Takes blocks on to whoever hashes them, and gives their buffers back.
#[derive(Debug)]
pub(crate) struct Passing {
    hasher: Hasher,
    free: Receiver<Vec<u8>>,
    give_back: SyncSender<Vec<u8>>,
}

#[derive(Debug)]
enum Hasher {
    Beside(SyncSender<(Vec<u8>, usize)>),
    /// Where the system has no more threads to give.
    Here(Hashers),
}

impl Passing {
    /// A buffer to read into: one that was hashed already, or an empty one.
    pub(crate) fn buffer(&self) -> Vec<u8> {
        self.free.try_recv().unwrap_or_default()
    }

    /// Has the first `count` bytes of a buffer hashed, behind all that was passed on before. Waits when
    /// too many are underway.
    pub(crate) fn pass_on(&mut self, buffer: Vec<u8>, count: usize) {
        match &mut self.hasher {
            // The other side is gone only when it panicked, which joining it reports.
            Hasher::Beside(blocks) => drop(blocks.send((buffer, count))),
            Hasher::Here(hashers) => hash(hashers, buffer, count, &self.give_back),
        }
    }
}

fn hash(hashers: &mut Hashers, buffer: Vec<u8>, count: usize, give_back: &SyncSender<Vec<u8>>) {
    hashers.update(buffer.split_at(count).0);
    // A full queue of free buffers needs no more.
    let _ = give_back.try_send(buffer);
}

/// Runs `work`, which passes blocks on, and gives what it gave and the digests of all blocks in their
/// order. No more than a few blocks are in memory at any time.
pub(crate) fn beside<T, E>(
    algorithms: &[Algorithm],
    work: impl FnOnce(&mut Passing) -> Result<T, E>,
) -> Result<(T, Digests), E> {
    let (to_hash, blocks) = sync_channel::<(Vec<u8>, usize)>(UNDERWAY);
    let (give_back, free) = sync_channel(UNDERWAY.saturating_mul(2));
    let hasher = || Hashers::new(algorithms);
    thread::scope(|scope| {
        let return_to = give_back.clone();
        let hash_all = move || {
            let mut hashers = hasher();
            for (buffer, count) in blocks {
                hash(&mut hashers, buffer, count, &return_to);
            }
            hashers.finish()
        };
        let thread = thread::Builder::new().spawn_scoped(scope, hash_all).ok();
        let hasher = match thread {
            Some(_) => Hasher::Beside(to_hash),
            None => Hasher::Here(hasher()),
        };
        let mut passing = Passing { hasher, free, give_back };
        let done = work(&mut passing)?;
        let here = match passing.hasher {
            Hasher::Beside(blocks) => {
                // Without its sender the thread comes to its end.
                drop(blocks);
                Digests::default()
            }
            Hasher::Here(hashers) => hashers.finish(),
        };
        let digests = match thread {
            Some(thread) => thread.join().unwrap_or_else(|panic| resume_unwind(panic)),
            None => here,
        };
        Ok((done, digests))
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn blocks_have_the_digests_of_all_their_bytes(
            blocks in proptest::collection::vec((0_usize..300, 0_usize..300), 0..40),
            is_alone in any::<bool>(),
        ) {
            let mut whole = Vec::new();
            let algorithms = if is_alone { &[Algorithm::Sha256][..] } else { &Algorithm::ALL };
            let (count, digests) = beside(algorithms, |passing| {
                for (number, (length, unused)) in blocks.iter().enumerate() {
                    let mut buffer = passing.buffer();
                    buffer.clear();
                    buffer.resize(*length, u8::try_from(number).unwrap());
                    whole.extend_from_slice(&buffer);
                    buffer.resize(length + unused, 0xff);
                    passing.pass_on(buffer, *length);
                }
                Ok::<_, ()>(blocks.len())
            }).unwrap();
            prop_assert_eq!(count, blocks.len());
            prop_assert_eq!(digests, Digests::of(algorithms, &whole));
        }
    }

    #[test]
    fn what_the_work_says_comes_out() {
        let result = beside::<(), _>(&[Algorithm::Sha256], |passing| {
            passing.pass_on(vec![1, 2, 3], 3);
            Err("no more room")
        });
        assert_eq!(result, Err("no more room"));
    }

    #[test]
    fn few_buffers_are_in_use() {
        let mut made = 0;
        let passed = beside(&[Algorithm::Sha256], |passing| {
            for _ in 0..1000 {
                let mut buffer = passing.buffer();
                made += usize::from(buffer.is_empty());
                buffer.resize(4096, 0);
                passing.pass_on(buffer, 4096);
            }
            Ok::<_, ()>(())
        });
        assert!(passed.is_ok());
        // Those underway, one that is hashed, and one that is read into.
        assert!(made <= UNDERWAY + 2, "{made}");
    }
}
