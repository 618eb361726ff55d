//! Digests of many files, by number, in no more room than their bytes take.

use super::{Algorithm, Digest};

/// For each of many files a digest by one algorithm, or none.
#[derive(Debug)]
pub(crate) struct DigestTable {
    algorithm: Algorithm,
    /// Those of all files, one behind the other.
    bytes: Vec<u8>,
    is_there: Vec<bool>,
}

impl DigestTable {
    /// For so many files, none of which has a digest yet.
    pub(crate) fn new(algorithm: Algorithm, files: usize) -> Self {
        let bytes = vec![0; files.saturating_mul(algorithm.digest_len())];
        Self { algorithm, bytes, is_there: vec![false; files] }
    }

    pub(crate) fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    pub(crate) fn get(&self, file: usize) -> Option<Digest> {
        let is_there = self.is_there.get(file).copied().unwrap_or(false);
        let bytes = is_there.then(|| self.bytes.get(self.place(file)))??;
        Digest::from_bytes(self.algorithm, bytes)
    }

    /// Sets the digest of a file; one by another algorithm has no place here.
    pub(crate) fn set(&mut self, file: usize, digest: &Digest) {
        let place = self.place(file);
        if digest.algorithm() == self.algorithm
            && let Some(is_there) = self.is_there.get_mut(file)
            && let Some(bytes) = self.bytes.get_mut(place)
        {
            bytes.copy_from_slice(digest.as_bytes());
            *is_there = true;
        }
    }

    fn place(&self, file: usize) -> std::ops::Range<usize> {
        let len = self.algorithm.digest_len();
        let start = file.saturating_mul(len);
        start..start.saturating_add(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_gives_what_was_set() {
        for algorithm in Algorithm::ALL {
            let mut table = DigestTable::new(algorithm, 3);
            let digest = |fill: u8| {
                Digest::from_bytes(algorithm, &vec![fill; algorithm.digest_len()]).unwrap()
            };
            table.set(2, &digest(7));
            table.set(0, &digest(1));
            table.set(0, &digest(2));
            table.set(3, &digest(3));
            let other = Algorithm::ALL.into_iter().find(|other| *other != algorithm).unwrap();
            table.set(1, &Digest::from_bytes(other, &vec![1; other.digest_len()]).unwrap());
            let all: Vec<_> = (0..5).map(|file| table.get(file)).collect();
            assert_eq!(all, [Some(digest(2)), None, Some(digest(7)), None, None]);
        }
    }
}
