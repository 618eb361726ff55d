//! Digests of many files, and a second implementation to compare with.

use std::io::{self, Read};

use sha2::Digest as _;

use super::sha256::Sha256;
use super::{Algorithm, Digest, Digests, Wanted};

/// Returns the SHA-256 of all bytes of a reader. It uses only the crate sha2, as an independent reference.
pub(crate) fn sha256_alone(content: &mut dyn Read) -> io::Result<Digest> {
    let mut hasher = sha2::Sha256::new();
    let mut block = vec![0; 64 * 1024];
    loop {
        match content.read(&mut block) {
            Ok(0) => return Ok(Digest::new(Algorithm::Sha256, &hasher.finalize())),
            Ok(count) => hasher.update(block.split_at(count).0),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

impl Digests {
    /// Computes the digests of several byte strings at once, which is faster if [`at_once`] says so.
    pub(crate) fn of_each<'a>(wanted: impl Into<Wanted<'a>>, contents: &[&[u8]]) -> Vec<Self> {
        let wanted = wanted.into();
        let longest = contents.iter().map(|bytes| bytes.len() as u64).max().unwrap_or(0);
        let has_blocks = wanted.block_size.is_some_and(|size| longest > size);
        let digests: Vec<_> = match wanted.algorithms {
            [Algorithm::Sha256] if !has_blocks => {
                Sha256::of_each(contents).into_iter().map(Self::Sha256).collect()
            }
            _ => contents.iter().map(|bytes| Self::of(wanted, bytes)).collect(),
        };
        assert_eq!(digests.len(), contents.len(), "one digest for each byte string");
        digests
    }
}

/// A table of at most one digest with one algorithm for each of many files, stored compactly.
#[derive(Debug)]
pub(crate) struct DigestTable {
    algorithm: Algorithm,
    /// The digests of all files, concatenated.
    bytes: Vec<u8>,
    is_there: Vec<bool>,
}

impl DigestTable {
    /// Creates a table for `files` files without digests.
    pub(crate) fn new(algorithm: Algorithm, files: usize) -> Self {
        let bytes = vec![0; files * algorithm.digest_len()];
        Self { algorithm, bytes, is_there: vec![false; files] }
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) fn get(&self, file: usize) -> Option<Digest> {
        let bytes = self.bytes.chunks(self.algorithm.digest_len()).nth(file)?;
        self.is_there.get(file)?.then(|| Digest::new(self.algorithm, bytes))
    }

    /// Sets the digest of a file. Digests with other algorithms are ignored.
    pub(crate) fn set(&mut self, file: usize, digest: &Digest) {
        if digest.algorithm == self.algorithm
            && let Some(is_there) = self.is_there.get_mut(file)
            && let Some(bytes) = self.bytes.chunks_mut(self.algorithm.digest_len()).nth(file)
        {
            bytes.copy_from_slice(digest.as_bytes());
            *is_there = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_returns_the_digests_that_were_set() {
        for algorithm in Algorithm::ALL {
            let mut table = DigestTable::new(algorithm, 3);
            let digest = |fill: u8| Digest::new(algorithm, &vec![fill; algorithm.digest_len()]);
            table.set(2, &digest(7));
            table.set(0, &digest(1));
            table.set(0, &digest(2));
            table.set(3, &digest(3));
            let other = Algorithm::ALL.into_iter().find(|other| *other != algorithm).unwrap();
            table.set(1, &Digest::new(other, &vec![1; other.digest_len()]));
            let all: Vec<_> = (0..5).map(|file| table.get(file)).collect();
            assert_eq!(all, [Some(digest(2)), None, Some(digest(7)), None, None]);
        }
    }
}
