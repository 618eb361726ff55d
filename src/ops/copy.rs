//! The content of a member, hashed as it is handed on.

use std::io::{self, BufRead};

use crate::digest::{Algorithm, Blocks, Digest, Digests, Hashers, Hashing, beside, hash};
use crate::error::{Error, Result};

/// Bytes of one block that another thread hashes.
const BLOCK: usize = 256 * 1024;

/// Why a content was not copied.
#[derive(Debug)]
pub(super) enum Fault {
    /// It cannot be read, or is damaged.
    Source(io::Error),
    /// Whoever took it could not.
    Sink(Error),
}

/// Reads all of `content`, gives its bytes to `sink` in their order, and gives the digest by `algorithm` of the
/// very bytes that `sink` took.
pub(super) fn copy_hashed(
    content: &mut dyn BufRead,
    algorithm: Algorithm,
    hashing: Hashing,
    sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Digest, Fault> {
    let digests = match hashing {
        Hashing::Here => copy_here(content, &[algorithm], sink),
        Hashing::Beside => copy_beside(content, &[algorithm], sink),
    }?;
    Ok(only(&digests, algorithm))
}

/// The digest that was made by `algorithm`.
pub(super) fn only(digests: &Digests, algorithm: Algorithm) -> Digest {
    match digests.by(algorithm) {
        Some(digest) => digest,
        None => unreachable!("a digest is made by each algorithm"),
    }
}

/// The same without a digest.
pub(super) fn copy(
    content: &mut dyn BufRead,
    sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<(), Fault> {
    copy_here(content, &[], sink).map(drop)
}

fn copy_here(
    content: &mut dyn BufRead,
    algorithms: &[Algorithm],
    sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Digests, Fault> {
    let mut hashers = Hashers::new(algorithms);
    hash(&mut Copying { content, sink }, &mut hashers)?;
    Ok(hashers.finish())
}

/// Waits for bytes that can be taken, and says whether there are any: at the end there are none.
pub(super) fn wait_for(content: &mut dyn BufRead) -> io::Result<bool> {
    loop {
        match content.fill_buf() {
            Ok(block) => return Ok(!block.is_empty()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// A content on its way to a sink.
pub(super) struct Copying<C, S> {
    pub(super) content: C,
    pub(super) sink: S,
}

/// What takes a content block by block.
pub(super) trait Sink {
    /// Takes the next block.
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
        // They are in a buffer, and to ask for them again reads nothing.
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

fn copy_beside(
    content: &mut dyn BufRead,
    algorithms: &[Algorithm],
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<Digests, Fault> {
    let ((), digests) = beside(algorithms, |passing| {
        loop {
            let mut buffer = passing.buffer();
            buffer.resize(BLOCK, 0);
            let count = fill(content, &mut buffer).map_err(Fault::Source)?;
            if count == 0 {
                return Ok(());
            }
            sink(buffer.split_at(count).0).map_err(Fault::Sink)?;
            passing.pass_on(buffer, count);
        }
    })?;
    Ok(digests)
}

/// Reads until `buffer` is full or the content ends.
fn fill(content: &mut dyn BufRead, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0_usize;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match content.read(rest) {
            Ok(0) => break,
            Ok(count) => filled = filled.saturating_add(count),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Read};

    use proptest::prelude::*;

    use super::*;

    /// Gives a few bytes at a time, and an error at the end.
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
        fn both_ways_give_the_bytes_and_their_digest(
            length in 0_usize..3 * BLOCK,
            step in 1_usize..2 * BLOCK,
            buffer in 1_usize..2 * BLOCK,
            fails in any::<bool>(),
            room in proptest::option::of(0_usize..3 * BLOCK),
        ) {
            let whole: Vec<u8> = (0..=250).cycle().take(length).collect();
            for hashing in [Hashing::Here, Hashing::Beside] {
                let content = io::Cursor::new(whole.clone());
                let mut content = BufReader::with_capacity(buffer, Trickle { content, step, fails });
                let mut taken = Vec::new();
                let digest = copy_hashed(&mut content, Algorithm::Sha256, hashing, |block| {
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
                        prop_assert_eq!(digest, Digest::sha256(&whole));
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
