//! Copies and hashes data from a reader to a sink.

use std::cell::RefCell;
use std::convert::Infallible;
use std::io::{self, BufRead};
use std::iter;
use std::sync::{Mutex, PoisonError};

use crate::digest::{Blocks, Digests, Hashers, Hashing, Wanted};
use crate::error::{Error, Result};
use crate::pipeline;
use crate::ra::read_full;

/// Bytes per block when another thread hashes.
pub(super) const COPY_BLOCK: usize = 256 * 1024;

/// The error of a copy.
#[derive(Debug)]
pub(crate) enum Fault {
    /// The source cannot be read, or is damaged.
    Source(io::Error),
    /// The sink failed.
    Sink(Error),
}

/// Copies all of `content` to `sink` and returns the digests of the bytes that `sink` received.
pub(crate) fn copy<'a>(
    content: &mut dyn BufRead,
    wanted: impl Into<Wanted<'a>>,
    hashing: Hashing,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Digests, Fault> {
    let mut hashers = Hashers::new(wanted);
    if hashing == Hashing::Here {
        let mut copying = Copying { content, sink };
        while copying.wait()? {
            hashers.update(copying.ready());
            copying.pass_on()?;
        }
        return Ok(hashers.finish());
    }
    let hashers = Mutex::new(hashers);
    let mut failed = None;
    // The system clears the memory of new blocks, which takes as long as reading them.
    let spare = RefCell::new(Vec::new());
    let blocks = iter::from_fn(|| {
        let mut block = spare.borrow_mut().pop().unwrap_or_else(|| vec![0; COPY_BLOCK]);
        let passed = read_full(content, &mut block).map_err(Fault::Source).and_then(|count| {
            sink(block.split_at(count).0).map_err(Fault::Sink)?;
            Ok(count)
        });
        match passed {
            Ok(count) => (count > 0).then_some((block, count)),
            Err(fault) => {
                failed = Some(fault);
                None
            }
        }
    });
    let update = |(): &mut (), (block, count): (Vec<u8>, usize)| {
        let mut hashers = hashers.lock().unwrap_or_else(PoisonError::into_inner);
        hashers.update(block.split_at(count).0);
        Ok::<_, Infallible>(block)
    };
    let keep = |block| {
        spare.borrow_mut().push(block);
        Ok(())
    };
    // One worker hashes the blocks in order.
    let Ok(()) = pipeline::ordered(1, blocks, || (), update, keep);
    match failed {
        Some(fault) => Err(fault),
        None => Ok(hashers.into_inner().unwrap_or_else(PoisonError::into_inner).finish()),
    }
}

/// Waits for bytes. Returns `false` at the end.
pub(crate) fn wait_for(content: &mut dyn BufRead) -> io::Result<bool> {
    loop {
        match content.fill_buf() {
            Ok(block) => return Ok(!block.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A copy in progress.
pub(crate) struct Copying<C, S> {
    pub(crate) content: C,
    pub(crate) sink: S,
}

/// A receiver of blocks.
pub(crate) trait Sink {
    /// Receives the next block.
    fn take(&mut self, block: &[u8]) -> Result<()>;
}

impl<F: FnMut(&[u8]) -> Result<()>> Sink for F {
    fn take(&mut self, block: &[u8]) -> Result<()> {
        self(block)
    }
}

impl<C: BufRead, S: Sink> Blocks for Copying<C, S> {
    type Error = Fault;

    fn wait(&mut self) -> Result<bool, Fault> {
        wait_for(&mut self.content).map_err(Fault::Source)
    }

    fn ready(&mut self) -> &[u8] {
        // The bytes are buffered, so this does not read.
        self.content.fill_buf().unwrap_or_default()
    }

    fn pass_on(&mut self) -> Result<(), Fault> {
        let block = self.content.fill_buf().map_err(Fault::Source)?;
        let count = block.len();
        self.sink.take(block).map_err(Fault::Sink)?;
        self.content.consume(count);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;
    use crate::digest::{Algorithm, Digest};

    /// Yields a few bytes at a time, and an error at the end.
    struct Trickle {
        content: io::Cursor<Vec<u8>>,
        step: usize,
        fails: bool,
    }

    impl Read for Trickle {
        fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
            let most = out.len().min(self.step);
            match self.content.read(&mut out[..most])? {
                0 if self.fails => Err(io::ErrorKind::InvalidData.into()),
                count => Ok(count),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        #[test]
        fn both_ways_copy_the_bytes_and_give_their_digest(
            length in 0_usize..3 * COPY_BLOCK,
            step in 1_usize..2 * COPY_BLOCK,
            buffer in 1_usize..2 * COPY_BLOCK,
            fails in any::<bool>(),
            room in proptest::option::of(0_usize..3 * COPY_BLOCK),
        ) {
            let whole: Vec<u8> = (0..=250).cycle().take(length).collect();
            for hashing in [Hashing::Here, Hashing::Beside] {
                let content = io::Cursor::new(whole.clone());
                let mut content = BufReader::with_capacity(buffer, Trickle { content, step, fails });
                let mut taken = Vec::new();
                let digest = copy(&mut content, &[Algorithm::Sha256], hashing, |block| {
                    taken.extend_from_slice(block);
                    match room {
                        Some(room) if taken.len() > room => Err(Error::Interrupted),
                        _ => Ok(()),
                    }
                });
                prop_assert!(whole.starts_with(&taken));
                match digest {
                    Ok(digest) => {
                        prop_assert!(!fails);
                        prop_assert_eq!(&taken, &whole);
                        prop_assert_eq!(digest.made_by(Algorithm::Sha256), Digest::sha256(&whole));
                    }
                    Err(Fault::Source(_)) => prop_assert!(fails),
                    Err(Fault::Sink(error)) => {
                        prop_assert!(matches!(error, Error::Interrupted));
                        prop_assert!(room.is_some_and(|room| room < length));
                    }
                }
            }
        }
    }
}
