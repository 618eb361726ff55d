//! Digests and the algorithms of manifests.

mod blocks;
mod each_block;
mod lanes;
mod sha256;

use std::fmt;
#[cfg(feature = "full")]
use std::io::{self, Read};
use std::str::FromStr;

use serde::{Serialize, Serializer};
use sha2::Digest as _;

pub(crate) use self::blocks::{Blocks, Hashing, Lane, hash_side_by_side};
pub(crate) use self::each_block::BlockDigest;
use self::each_block::BlockHasher;
use self::sha256::Sha256;

/// Maximum for all jobs together. Each stream has a buffer and an open file; systems allow at least 256 of them.
const MAX_STREAMS: usize = 96;

/// Returns the numbers of streams that this processor hashes faster at once than one after the other, largest first.
pub(crate) fn at_once(algorithms: &[Algorithm]) -> &'static [usize] {
    match algorithms {
        [Algorithm::Sha256] => lanes::at_once(),
        _ => &[],
    }
}

/// Returns how many of `count` streams each of `jobs` should hash at once, given the useful numbers in `at_once`.
pub(crate) fn width(at_once: &[usize], count: usize, jobs: usize) -> usize {
    let each = count.min(MAX_STREAMS) / jobs.max(1);
    let widths = at_once.iter().map(|most| each.min(*most));
    widths.into_iter().find(|width| *width == 2 || *width >= lanes::WORTH_LANES).unwrap_or(1)
}

/// A digest algorithm of manifests (RFC 8493 §2.4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[non_exhaustive]
pub enum Algorithm {
    /// MD5: read only, with a warning if there is no stronger digest.
    Md5,
    /// SHA-1: read only, with a warning if there is no stronger digest.
    Sha1,
    /// SHA-224: read only.
    Sha224,
    /// SHA-256: the default.
    Sha256,
    /// SHA-384: read only.
    Sha384,
    /// SHA-512: read, and written on request.
    Sha512,
}

impl Algorithm {
    /// Every algorithm, weakest first.
    pub const ALL: [Self; 6] =
        [Self::Md5, Self::Sha1, Self::Sha224, Self::Sha256, Self::Sha384, Self::Sha512];

    /// Returns the name, and the length of a digest in bytes.
    const fn facts(self) -> (&'static str, usize) {
        match self {
            Self::Md5 => ("md5", 16),
            Self::Sha1 => ("sha1", 20),
            Self::Sha224 => ("sha224", 28),
            Self::Sha256 => ("sha256", 32),
            Self::Sha384 => ("sha384", 48),
            Self::Sha512 => ("sha512", 64),
        }
    }

    /// Returns the name in `manifest-<name>.txt`.
    pub fn name(self) -> &'static str {
        self.facts().0
    }

    /// Returns the algorithm of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|algorithm| algorithm.name() == name)
    }

    /// Returns the length of a digest in bytes.
    pub fn digest_len(self) -> usize {
        self.facts().1
    }

    /// Returns whether an attacker can make collisions, so that a match does not exclude forgery.
    pub fn is_weak(self) -> bool {
        matches!(self, Self::Md5 | Self::Sha1)
    }

    /// Returns whether ra-pack writes manifests with this algorithm. It reads all of them.
    pub fn is_written(self) -> bool {
        matches!(self, Self::Sha256 | Self::Sha512)
    }
}

/// A digest and its algorithm. Displays as lower-case hexadecimal.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest {
    algorithm: Algorithm,
    /// The digest, padded with zeros to the maximum length.
    bytes: [u8; MAX_LEN],
}

/// Length of the longest digest in bytes.
const MAX_LEN: usize = 64;

impl Digest {
    /// Computes the SHA-256 of `bytes`.
    pub fn sha256(bytes: &[u8]) -> Self {
        let mut message = Sha256::new();
        message.update(bytes);
        Self::new(Algorithm::Sha256, &message.finish())
    }

    fn new(algorithm: Algorithm, digest: &[u8]) -> Self {
        assert_eq!(digest.len(), algorithm.digest_len(), "a digest of {}", algorithm.name());
        let mut bytes = [0; MAX_LEN];
        bytes.split_at_mut(digest.len()).0.copy_from_slice(digest);
        Self { algorithm, bytes }
    }

    /// Returns the digest of a block.
    pub(crate) fn of_block(block: &BlockDigest) -> Self {
        Self::new(Algorithm::Sha256, block)
    }

    /// Returns the algorithm.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the bytes of the digest.
    pub fn as_bytes(&self) -> &[u8] {
        self.bytes.split_at(self.algorithm.digest_len()).0
    }

    /// Parses hexadecimal digits of either case. Returns `None` if the length does not match the algorithm.
    pub fn from_hex(algorithm: Algorithm, hex: &[u8]) -> Option<Self> {
        let (pairs, rest) = hex.as_chunks::<2>();
        if pairs.len() != algorithm.digest_len() || !rest.is_empty() {
            return None;
        }
        let mut bytes = [0; MAX_LEN];
        for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
            *byte = (nibble(*high)? << 4) | nibble(*low)?;
        }
        Some(Self { algorithm, bytes })
    }

    /// Appends the digest to `text` in lower-case hexadecimal.
    pub fn push_hex(&self, text: &mut Vec<u8>) {
        let pairs = self.bytes.map(|byte| [hex_digit(byte >> 4), hex_digit(byte & 15)]);
        text.extend_from_slice(pairs.split_at(self.algorithm.digest_len()).0.as_flattened());
    }
}

fn hex_digit(nibble: u8) -> u8 {
    nibble + if nibble < 10 { b'0' } else { b'a' - 10 }
}

fn nibble(digit: u8) -> Option<u8> {
    u8::try_from(char::from(digit).to_digit(16)?).ok()
}

/// Serializes as lower-case hexadecimal.
impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.as_bytes().iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{self}", self.algorithm().name())
    }
}

impl FromStr for Algorithm {
    type Err = UnknownAlgorithm;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::from_name(name).ok_or_else(|| UnknownAlgorithm(name.to_owned()))
    }
}

/// The error for the name of an unknown algorithm.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("unknown digest algorithm `{}`; expected md5, sha1, sha224, sha256, sha384 or sha512", .0.escape_debug())]
pub struct UnknownAlgorithm(pub String);

/// Returns the SHA-256 of all bytes of a reader. It uses only the crate sha2, as an independent reference.
#[cfg(feature = "full")]
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

/// An incremental digest.
#[derive(Clone)]
pub struct Hasher(HashState);

#[derive(Clone)]
enum HashState {
    Md5(md5::Md5),
    Sha1(sha1::Sha1),
    Sha224(sha2::Sha224),
    Sha256(Sha256),
    Sha384(sha2::Sha384),
    Sha512(sha2::Sha512),
}

impl Hasher {
    /// Creates a hasher for `algorithm`.
    pub fn new(algorithm: Algorithm) -> Self {
        Self(match algorithm {
            Algorithm::Md5 => HashState::Md5(md5::Md5::new()),
            Algorithm::Sha1 => HashState::Sha1(sha1::Sha1::new()),
            Algorithm::Sha224 => HashState::Sha224(sha2::Sha224::new()),
            Algorithm::Sha256 => HashState::Sha256(Sha256::new()),
            Algorithm::Sha384 => HashState::Sha384(sha2::Sha384::new()),
            Algorithm::Sha512 => HashState::Sha512(sha2::Sha512::new()),
        })
    }

    /// Adds `bytes`.
    pub fn update(&mut self, bytes: &[u8]) {
        match &mut self.0 {
            HashState::Md5(state) => state.update(bytes),
            HashState::Sha1(state) => state.update(bytes),
            HashState::Sha224(state) => state.update(bytes),
            HashState::Sha256(state) => state.update(bytes),
            HashState::Sha384(state) => state.update(bytes),
            HashState::Sha512(state) => state.update(bytes),
        }
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Digest {
        match self.0 {
            HashState::Md5(state) => Digest::new(Algorithm::Md5, &state.finalize()),
            HashState::Sha1(state) => Digest::new(Algorithm::Sha1, &state.finalize()),
            HashState::Sha224(state) => Digest::new(Algorithm::Sha224, &state.finalize()),
            HashState::Sha256(state) => Digest::new(Algorithm::Sha256, &state.finish()),
            HashState::Sha384(state) => Digest::new(Algorithm::Sha384, &state.finalize()),
            HashState::Sha512(state) => Digest::new(Algorithm::Sha512, &state.finalize()),
        }
    }
}

impl fmt::Debug for Hasher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Hasher")
    }
}

/// The digests to compute of a stream.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wanted<'a> {
    /// The algorithms for the whole stream.
    pub(crate) algorithms: &'a [Algorithm],
    /// Bytes per block, if a stream longer than one block also gets a digest of each block.
    pub(crate) block_size: Option<u64>,
}

impl<'a> From<&'a [Algorithm]> for Wanted<'a> {
    fn from(algorithms: &'a [Algorithm]) -> Self {
        Self { algorithms, block_size: None }
    }
}

impl<'a, const N: usize> From<&'a [Algorithm; N]> for Wanted<'a> {
    fn from(algorithms: &'a [Algorithm; N]) -> Self {
        Self::from(&algorithms[..])
    }
}

impl<'a> From<&'a Vec<Algorithm>> for Wanted<'a> {
    fn from(algorithms: &'a Vec<Algorithm>) -> Self {
        Self::from(&algorithms[..])
    }
}

/// Incremental digests with several algorithms, and of blocks if they are wanted.
#[derive(Debug)]
pub(crate) struct Hashers {
    whole: Vec<Hasher>,
    blocks: Option<BlockHasher>,
}

impl Hashers {
    /// Creates a hasher for each of the wanted digests.
    pub(crate) fn new<'a>(wanted: impl Into<Wanted<'a>>) -> Self {
        let Wanted { algorithms, block_size } = wanted.into();
        let whole = algorithms.iter().copied().map(Hasher::new).collect();
        Self { whole, blocks: block_size.map(BlockHasher::new) }
    }

    pub(crate) fn update(&mut self, bytes: &[u8]) {
        if self.blocks.is_some() {
            return Self::update_all(std::iter::once((self, bytes)));
        }
        self.whole.iter_mut().for_each(|hasher| hasher.update(bytes));
    }

    /// Adds bytes to several streams at once, which is faster if [`at_once`] says so.
    pub(crate) fn update_all<'c>(contents: impl Iterator<Item = (&'c mut Self, &'c [u8])>) {
        let by_sha_256 = contents.flat_map(|(Self { whole, blocks }, bytes)| {
            let whole = whole.iter_mut().filter_map(move |hasher| match hasher {
                Hasher(HashState::Sha256(state)) => Some((state, bytes)),
                other => {
                    other.update(bytes);
                    None
                }
            });
            whole.chain(blocks.as_mut().map(|blocks| blocks.begin(bytes)))
        });
        Sha256::update_all(by_sha_256);
    }

    pub(crate) fn finish(self) -> Digests {
        let digests: Digests = self.whole.into_iter().map(Hasher::finish).collect();
        digests.with_blocks(self.blocks.map(BlockHasher::finish).unwrap_or_default())
    }
}

/// The digests of one file, with one or several algorithms. Most files have only SHA-256.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Digests {
    Sha256([u8; 32]),
    Several(Box<[Digest]>),
    /// Also the SHA-256 of each block, of a file longer than one block.
    WithBlocks(Box<(Digests, Box<[BlockDigest]>)>),
}

impl Default for Digests {
    /// No digests.
    fn default() -> Self {
        Self::Several(Box::default())
    }
}

impl FromIterator<Digest> for Digests {
    fn from_iter<I: IntoIterator<Item = Digest>>(digests: I) -> Self {
        let digests: Vec<_> = digests.into_iter().collect();
        match *digests {
            [Digest { algorithm: Algorithm::Sha256, bytes }] => {
                Self::Sha256(*bytes.first_chunk().expect("a digest is shorter than the longest"))
            }
            _ => Self::Several(digests.into()),
        }
    }
}

impl Digests {
    /// Computes the digests of `bytes`.
    pub(crate) fn of<'a>(wanted: impl Into<Wanted<'a>>, bytes: &[u8]) -> Self {
        let mut hashers = Hashers::new(wanted);
        hashers.update(bytes);
        hashers.finish()
    }

    /// Computes the digests of several byte strings at once, which is faster if [`at_once`] says so.
    #[cfg(feature = "full")]
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

    /// Adds the digests of blocks, if there are any.
    pub(crate) fn with_blocks(self, blocks: Vec<BlockDigest>) -> Self {
        if blocks.is_empty() { self } else { Self::WithBlocks(Box::new((self, blocks.into()))) }
    }

    /// Returns the SHA-256 of each block. Empty if they were not wanted, or if the file is not longer than one block.
    pub(crate) fn blocks(&self) -> &[BlockDigest] {
        match self {
            Self::Sha256(_) | Self::Several(_) => &[],
            Self::WithBlocks(both) => &both.1,
        }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Digest> {
        let whole = match self {
            Self::WithBlocks(both) => &both.0,
            whole => whole,
        };
        let (one, several) = match whole {
            Self::Sha256(bytes) => (Some(Digest::new(Algorithm::Sha256, bytes)), &[][..]),
            Self::Several(digests) => (None, &**digests),
            Self::WithBlocks(_) => (None, &[][..]),
        };
        one.into_iter().chain(several.iter().copied())
    }

    /// Returns the digest with `algorithm`, which must be among those requested.
    pub(crate) fn made_by(&self, algorithm: Algorithm) -> Digest {
        self.by(algorithm).expect("the algorithm was requested")
    }

    /// Returns the digest with `algorithm`, if there is one.
    pub(crate) fn by(&self, algorithm: Algorithm) -> Option<Digest> {
        self.iter().find(|digest| digest.algorithm() == algorithm)
    }

    /// Returns these digests and the others.
    pub(crate) fn and(&self, others: &Self) -> Self {
        self.iter().chain(others.iter()).collect()
    }
}

/// A table of at most one digest with one algorithm for each of many files, stored compactly.
#[cfg(feature = "full")]
#[derive(Debug)]
pub(crate) struct DigestTable {
    algorithm: Algorithm,
    /// The digests of all files, concatenated.
    bytes: Vec<u8>,
    is_there: Vec<bool>,
}

#[cfg(feature = "full")]
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

    /// Sets the digest of a file.
    ///
    /// # Panics
    ///
    /// Panics if the digest has another algorithm, or if the table has no such file.
    pub(crate) fn set(&mut self, file: usize, digest: &Digest) {
        assert_eq!(digest.algorithm, self.algorithm, "the table has digests of one algorithm");
        let bytes = self.bytes.chunks_mut(self.algorithm.digest_len()).nth(file);
        bytes.expect("the table has a place for each file").copy_from_slice(digest.as_bytes());
        *self.is_there.get_mut(file).expect("the table has a place for each file") = true;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_of_no_bytes_match_the_published_ones() {
        let expected = [
            (Algorithm::Md5, "d41d8cd98f00b204e9800998ecf8427e"),
            (Algorithm::Sha1, "da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (Algorithm::Sha224, "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f"),
            (
                Algorithm::Sha384,
                "38b060a751ac96384cd9327eb1b1e36a21fdb71114be07434c0cc7bf63f6e1da\
                 274edebfe76f65fbd51ad2f14898b95b",
            ),
            (Algorithm::Sha256, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (
                Algorithm::Sha512,
                "cf83e1357eefb8bdf1542850d66d8007d620e4050b5715dc83f4a921d36ce9ce\
                 47d0d13c5d85f2b0ff8318d2877eec2f63b931bd47417a81a538327af927da3e",
            ),
        ];
        for (algorithm, hex) in expected {
            let digest = Hasher::new(algorithm).finish();
            assert_eq!(digest.to_string(), hex);
            assert_eq!(Digest::from_hex(algorithm, hex.to_uppercase().as_bytes()), Some(digest));
            assert_eq!(digest.as_bytes().len(), algorithm.digest_len());
            let mut text = Vec::new();
            digest.push_hex(&mut text);
            assert_eq!(text, hex.as_bytes());
        }
    }

    #[test]
    fn a_digest_of_another_length_is_none() {
        assert_eq!(Digest::from_hex(Algorithm::Sha256, b"00"), None);
        assert_eq!(Digest::from_hex(Algorithm::Md5, &[b'g'; 32]), None);
    }

    #[test]
    fn a_table_returns_the_digests_that_were_set() {
        for algorithm in Algorithm::ALL {
            let mut table = DigestTable::new(algorithm, 3);
            let digest = |fill: u8| Digest::new(algorithm, &vec![fill; algorithm.digest_len()]);
            table.set(2, &digest(7));
            table.set(0, &digest(1));
            table.set(0, &digest(2));
            let all: Vec<_> = (0..5).map(|file| table.get(file)).collect();
            assert_eq!(all, [Some(digest(2)), None, Some(digest(7)), None, None]);
        }
    }
}
