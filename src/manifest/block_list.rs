//! Lists of block digests: the SHA-256 of each block of large files.
//!
//! The first line gives the number of bytes in a block. Each other line is a digest, the number of the block from 0, and
//! the path, separated by two spaces. Lines are sorted by the bytes of the path and then by the number. Only this form is
//! read: a list is always written by a program.

use std::ops::{Range, RangeInclusive};

use super::line::{ManifestFault, NameEncoding, parse_line};
use super::lines;
use crate::digest::{Algorithm, BlockDigest, Digest};
use crate::path::{MemberPath, escape};

/// The beginning of the first line of a list.
pub(crate) const BLOCK_HEAD: &str = "# block-size ";

/// The SHA-256 of each block of large files, as `blocks-sha256.txt` lists them.
///
/// Block *i* of a file begins at byte *i* times the block size. All blocks have this size, except that the last may be
/// shorter.
///
/// ```
/// use ra_pack::manifest::{BlockList, NameEncoding};
///
/// let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
/// let text = format!("# block-size 8388608\n{digest}  0  long.ra\n{digest}  1  long.ra\n");
/// let list = BlockList::parse(NameEncoding::Gnu, text.as_bytes()).unwrap().unwrap();
/// assert_eq!(list.block_size(), 8 << 20);
/// assert_eq!(list.count("long.ra"), 2);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BlockList {
    block_size: u64,
    /// The files, sorted by path, with the numbers of their digests.
    files: Vec<(MemberPath, Range<usize>)>,
    /// The digests of the blocks of all files, concatenated.
    digests: Vec<BlockDigest>,
}

impl BlockList {
    /// The numbers of bytes that a block may have. Smaller blocks would make lists larger than a hundredth of the data.
    /// Larger ones would need too much memory, because a block is read as a whole to prove a part of it.
    pub const BLOCK_SIZES: RangeInclusive<u64> = 4096..=1 << 26;

    /// The usual number of bytes in a block: 8 MiB.
    pub const BLOCK_SIZE: u64 = 8 << 20;

    /// Parses a list. Returns `None` if the text is not a list: its first line is not that of one.
    ///
    /// # Errors
    ///
    /// The first problem. A list with a problem is not used, because it may lack any block.
    pub fn parse(names: NameEncoding, text: &[u8]) -> Option<Result<Self, ManifestFault>> {
        Self::is_begun_by(text).then(|| Self::parse_lines(names, text))
    }

    /// Returns whether this is the beginning of a list.
    pub(crate) fn is_begun_by(text: &[u8]) -> bool {
        text.starts_with(BLOCK_HEAD.as_bytes())
    }

    fn parse_lines(names: NameEncoding, text: &[u8]) -> Result<Self, ManifestFault> {
        let fault = |line, message| ManifestFault { line, message, is_warning: false };
        let mut numbered = (1..).zip(lines(text));
        let head = numbered.next().and_then(|(_, line)| line.strip_prefix(BLOCK_HEAD.as_bytes()));
        let block_size =
            head.and_then(parse_number).filter(|size| Self::BLOCK_SIZES.contains(size));
        let block_size = block_size.ok_or_else(|| {
            let (least, most) = (Self::BLOCK_SIZES.start(), Self::BLOCK_SIZES.end());
            fault(1, format!("expected `{BLOCK_HEAD}` and a number from {least} to {most}"))
        })?;
        let mut list = Self { block_size, files: Vec::new(), digests: Vec::new() };
        for (number, line) in numbered {
            list.add_line(names, line).map_err(|message| fault(number, message))?;
        }
        list.files.shrink_to_fit();
        list.digests.shrink_to_fit();
        Ok(list)
    }

    fn add_line(&mut self, names: NameEncoding, line: &[u8]) -> Result<(), String> {
        let (path, index, digest) = split(names, line)?;
        let next = self.digests.len();
        let last = self.files.last_mut().filter(|(last, _)| last.as_str() == path);
        let expected = last.as_ref().map_or(0, |(_, numbers)| numbers.len() as u64);
        if index != expected {
            let path = escape(&path);
            return Err(format!("expected block {expected} of `{path}`, found block {index}"));
        }
        if let Some((_, numbers)) = last {
            numbers.end = next + 1;
        } else {
            if let Some((last, _)) = self.files.last().filter(|(last, _)| last.as_str() > &*path) {
                return Err(format!("`{}` must be listed before `{last}`", escape(&path)));
            }
            let path = MemberPath::new(path).map_err(|invalid| invalid.to_string())?;
            self.files.push((path, next..next + 1));
        }
        self.digests.push(digest);
        Ok(())
    }

    /// Returns the number of bytes in a block.
    pub fn block_size(&self) -> u64 {
        self.block_size
    }

    /// Returns the number of blocks that are listed for a file; 0 if it is not listed.
    pub fn count(&self, path: &str) -> u64 {
        self.blocks(path).map_or(0, <[_]>::len) as u64
    }

    /// Returns the digest of one block of a file.
    pub fn digest(&self, path: &str, block: u64) -> Option<Digest> {
        let digest = self.blocks(path)?.get(usize::try_from(block).ok()?)?;
        Some(Digest::of_block(digest))
    }

    /// Returns the paths of all files, sorted.
    pub fn paths(&self) -> impl ExactSizeIterator<Item = &MemberPath> {
        self.files.iter().map(|(path, _)| path)
    }

    /// Returns the digests of the blocks of a file, in their order.
    pub(crate) fn blocks(&self, path: &str) -> Option<&[BlockDigest]> {
        let at = self.files.binary_search_by(|(listed, _)| listed.as_str().cmp(path)).ok()?;
        self.digests.get(self.files.get(at)?.1.clone())
    }

    /// Returns the number of blocks that must be listed for a file with this length in bytes: none if it is not longer
    /// than one block.
    pub(crate) fn expected(&self, len: u64) -> u64 {
        if len > self.block_size { len.div_ceil(self.block_size) } else { 0 }
    }
}

/// Splits a line into the path, the number of the block and the digest.
fn split(names: NameEncoding, line: &[u8]) -> Result<(String, u64, BlockDigest), String> {
    // Without its second column, the line is one of a manifest.
    let digits = Algorithm::Sha256.digest_len() * 2 + usize::from(line.first() == Some(&b'\\'));
    let wrong = || "expected `<digest>  <block>  <path>`".to_owned();
    let (digest, rest) = line.split_at_checked(digits).ok_or_else(wrong)?;
    let rest = rest.strip_prefix(b"  ").ok_or_else(wrong)?;
    let (index, name) =
        rest.split_at_checked(memchr::memchr(b' ', rest).ok_or_else(wrong)?).ok_or_else(wrong)?;
    let index = parse_number(index).ok_or_else(wrong)?;
    let name = name.strip_prefix(b"  ").ok_or_else(wrong)?;
    let entry = parse_line(Algorithm::Sha256, names, &[digest, b"  ", name].concat())?;
    let (path, digest) = entry.ok_or_else(wrong)?;
    let digest = digest.as_bytes().try_into().map_err(|_| wrong())?;
    Ok((path.as_str().to_owned(), index, digest))
}

/// Parses a number as it is written: without a sign or leading zeros.
fn parse_number(digits: &[u8]) -> Option<u64> {
    let number: u64 = std::str::from_utf8(digits).ok()?.parse().ok()?;
    (number.to_string().as_bytes() == digits).then_some(number)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::write::create::{push_block_head, push_block_line};

    const ONE: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    fn parse(text: &str) -> Option<Result<BlockList, ManifestFault>> {
        BlockList::parse(NameEncoding::Gnu, text.as_bytes())
    }

    #[test]
    fn a_text_with_another_first_line_is_not_a_list() {
        for text in ["", "notes\n", "# block", &format!("{ONE}  0  a\n")] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_list_that_is_not_in_its_form_is_refused_at_the_line() {
        let cases = [
            ("# block-size \n".to_owned(), 1),
            ("# block-size 4095\n".to_owned(), 1),
            ("# block-size 04096\n".to_owned(), 1),
            ("# block-size +4096\n".to_owned(), 1),
            ("# block-size 67108865\n".to_owned(), 1),
            (format!("# block-size 4096\n{ONE}  1  a\n"), 2),
            (format!("# block-size 4096\n{ONE}  0  a\n{ONE}  0  a\n"), 3),
            (format!("# block-size 4096\n{ONE}  0  a\n{ONE}  2  a\n"), 3),
            (format!("# block-size 4096\n{ONE}  0  b\n{ONE}  0  a\n"), 3),
            (format!("# block-size 4096\n{ONE}  0  a\n{ONE}  0  b\n{ONE}  1  a\n"), 4),
            (format!("# block-size 4096\n{ONE}  0  ../a\n"), 2),
            (format!("# block-size 4096\n{ONE}  00  a\n"), 2),
            (format!("# block-size 4096\n{ONE}  18446744073709551616  a\n"), 2),
            (format!("# block-size 4096\n{ONE} 0 a\n"), 2),
            (format!("# block-size 4096\n{ONE}  0  \n"), 2),
            (format!("# block-size 4096\n{ONE}  a\n"), 2),
            (format!("# block-size 4096\n\n{ONE}  0  a\n"), 2),
            (format!("# block-size 4096\n{}  0  a\n", "é".repeat(32)), 2),
        ];
        for (text, line) in cases {
            assert_eq!(parse(&text).unwrap().unwrap_err().line, line, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_written_list_is_read_back(
            files in proptest::collection::btree_map(
                "[a-c~*#%$ \\\\.()\\n\\r0-9é]{1,6}",
                proptest::collection::vec(any::<[u8; 32]>(), 1..5),
                0..5,
            ),
            block_size in BlockList::BLOCK_SIZES,
            names in prop_oneof![Just(NameEncoding::Gnu), Just(NameEncoding::Percent)],
        ) {
            let files: Vec<_> =
                files.into_iter().filter(|(name, _)| MemberPath::new(name.as_str()).is_ok()).collect();
            // A bag's names have no spaces at their beginning.
            prop_assume!(names == NameEncoding::Gnu || files.iter().all(|(name, _)| !name.starts_with(' ')));
            let mut text = Vec::new();
            push_block_head(&mut text, block_size);
            for (name, blocks) in &files {
                for (index, digest) in blocks.iter().enumerate() {
                    push_block_line(&mut text, names, name, index, digest);
                }
            }
            let list = BlockList::parse(names, &text).unwrap().unwrap();
            prop_assert_eq!(list.block_size(), block_size);
            let paths: Vec<_> = list.paths().map(MemberPath::as_str).collect();
            prop_assert_eq!(paths, files.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
            for (name, blocks) in &files {
                prop_assert_eq!(list.blocks(name), Some(&blocks[..]));
            }
        }

        #[test]
        fn any_text_is_refused_or_read(text in "# block-size 4096\\n([0-9a-f]{64}  [0-3]  [ab]\\n|[ -~]{0,90}\\n){0,6}") {
            if let Some(Ok(list)) = parse(&text) {
                let listed: u64 = list.paths().map(|path| list.count(path.as_str())).sum();
                prop_assert_eq!(listed, text.lines().count() as u64 - 1);
            }
        }
    }
}
