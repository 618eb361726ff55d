//! The content of a file of a pack, and the elements of an array, as streams in bounded memory that are checked at
//! their end.

use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use super::array::PackedArray;
use super::manifest::Vouching;
use super::{FoundMember, Pack};
use crate::archive::MemberReader;
use crate::digest::Hasher;
use crate::error::{Error, Result};
use crate::ra::{Decoder, Element, Encoding, Header, ReadError};

/// Reads a file of a pack and hashes what is read, until it is compared with the manifest.
pub(super) struct CheckedReader {
    pack: Pack,
    found: Arc<FoundMember>,
    inner: MemberReader,
    /// What the manifest lists, where it is asked.
    listing: Option<(Vouching, Hasher)>,
}

impl CheckedReader {
    pub(super) fn new(pack: &Pack, found: &Arc<FoundMember>, verify: bool) -> Result<Self> {
        pack.begin(&found.name, &found.member, None);
        let inner = pack.state.archive.read(&found.member)?;
        let vouching = verify.then(|| pack.vouching(&found.member)).transpose()?;
        let hashed = |vouching: Vouching| {
            let hasher = Hasher::new(vouching.algorithm);
            (vouching, hasher)
        };
        let (pack, found) = (pack.clone(), Arc::clone(found));
        Ok(Self { pack, found, inner, listing: vouching.map(hashed) })
    }

    /// Reads the rest, at whose end the container checks its sum, and compares all of it with the manifest. Answers
    /// whether that lists it.
    pub(super) fn finish(&mut self) -> Result<bool> {
        let rest = io::copy(self, &mut io::sink());
        rest.map_err(|error| self.pack.unreadable(&self.found.name, error))?;
        match self.listing.take() {
            Some((vouching, hasher)) => {
                self.pack.check_digest(&self.found.member, vouching, &hasher.finish())
            }
            None => Ok(false),
        }
    }
}

impl Read for CheckedReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(out)?;
        if let Some((_, hasher)) = &mut self.listing {
            hasher.update(out.split_at(count).0);
        }
        Ok(count)
    }
}

impl fmt::Debug for CheckedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CheckedReader").field(&self.found.name).finish()
    }
}

/// How far a stream is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Reading,
    Failed,
    Ended { is_listed: bool },
}

impl State {
    /// Whether the end was reached, and if so whether the manifest lists what was read.
    fn is_listed(self, name: &str) -> Result<Option<bool>> {
        match self {
            Self::Reading => Ok(None),
            Self::Ended { is_listed } => Ok(Some(is_listed)),
            Self::Failed => Err(Error::io("read", name)(io::Error::other("reading failed before"))),
        }
    }
}

/// The content of one file of a pack, as [`Pack::reader`] gives it.
///
/// With the last bytes the content is compared with the manifest and with what the container says: where they differ,
/// the read that would give them is an error instead. Content of which not all was read is not checked.
#[derive(Debug)]
pub struct FileReader {
    reader: CheckedReader,
    left: u64,
    state: State,
}

impl Pack {
    /// The content of one member as a stream, which is checked against the manifest at its end.
    ///
    /// ```
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// use std::io::{BufRead, BufReader};
    ///
    /// # let directory = tempfile::tempdir()?;
    /// # let zip = directory.path().join("mooring.zip");
    /// # ra_pack::create("examples/experiment", &zip, &Default::default())?;
    /// let mut reader = BufReader::new(ra_pack::Pack::open(&zip)?.reader("time.yaml")?);
    /// let mut first = String::new();
    /// reader.read_line(&mut first)?;
    /// assert!(reader.into_inner().finish()?); // reads the rest; a manifest confirms all of it
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::NoSuchMember`], and when the manifest is damaged. The reader fails as [`Pack::read`] does.
    pub fn reader(&self, name: &str) -> Result<FileReader> {
        Ok(FileReader::new(CheckedReader::new(self, &self.find(name)?, true)?))
    }
}

impl FileReader {
    fn new(reader: CheckedReader) -> Self {
        Self { left: reader.found.member.size, reader, state: State::Reading }
    }

    /// Whether all of it was read and a manifest confirms it.
    pub fn is_verified(&self) -> bool {
        self.state == State::Ended { is_listed: true }
    }

    /// Reads what is left and checks it. Gives whether a manifest confirms the content.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when the content is not what the manifest or the container says, and when it cannot be read.
    pub fn finish(mut self) -> Result<bool> {
        match self.state.is_listed(&self.reader.found.name)? {
            Some(is_listed) => Ok(is_listed),
            None => self.reader.finish(),
        }
    }

    fn next(&mut self, out: &mut [u8]) -> Result<usize> {
        let Self { reader, left, .. } = self;
        let count = if *left == 0 { Ok(0) } else { reader.read(out) };
        let count = count.map_err(|error| reader.pack.unreadable(&reader.found.name, error))?;
        *left = left.saturating_sub(count as u64);
        if *left == 0 || count == 0 {
            self.state = State::Ended { is_listed: reader.finish()? };
        }
        Ok(count)
    }
}

impl Read for FileReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() || self.state.is_listed(&self.reader.found.name)?.is_some() {
            return Ok(0);
        }
        let read = self.next(out);
        if read.is_err() {
            self.state = State::Failed;
        }
        Ok(read?)
    }
}

/// Some elements of an array that are neighbours in its file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Block<T> {
    /// The number of elements of the array before it.
    pub start: u64,
    /// The elements.
    pub elements: Vec<T>,
}

/// The elements of an array, block by block, as [`PackedArray::blocks`] gives them.
///
/// With the last block the whole file is compared with the manifest and with what the container says: where they
/// differ, an error comes in its place. Nothing comes after an error. Blocks that came before may be damaged then, and an
/// array of which not all blocks were taken is not checked.
#[derive(Debug)]
pub struct Blocks<T> {
    array: PackedArray,
    data: Decoder<BufReader<CheckedReader>>,
    /// Elements of a block, of the array, and of those before the next block.
    most: u64,
    elements: u64,
    start: u64,
    state: State,
    element: std::marker::PhantomData<fn() -> T>,
}

impl<T: Element> Blocks<T> {
    /// The elements of an array with this header, so many at a time.
    pub(super) fn new(
        array: PackedArray,
        header: Header,
        encoding: Encoding,
        most: usize,
    ) -> Result<Self> {
        let mut reader = array.checked_reader()?;
        array.must_begin_with(&header, &mut reader)?;
        let (elements, most) = (header.elements(), (most as u64).max(1));
        let data = Decoder::new(BufReader::new(reader), header, encoding);
        let element = std::marker::PhantomData;
        Ok(Self { array, data, most, elements, start: 0, state: State::Reading, element })
    }

    /// Whether all blocks were taken and a manifest confirms the array.
    pub fn is_verified(&self) -> bool {
        self.state == State::Ended { is_listed: true }
    }

    /// Reads what is left and checks it. Gives whether a manifest confirms the array.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] when the file is not what the manifest or the container says, and when it cannot be read.
    pub fn finish(mut self) -> Result<bool> {
        match self.state.is_listed(self.array.name())? {
            Some(is_listed) => Ok(is_listed),
            None => self.end(),
        }
    }

    fn end(&mut self) -> Result<bool> {
        let is_listed = self.data.section_mut().get_mut().finish()?;
        self.array.must_be_listed(is_listed)?;
        Ok(is_listed)
    }

    fn read(&mut self) -> Result<Option<Block<T>>> {
        let (start, count) = (self.start, self.most.min(self.elements - self.start));
        let count = usize::try_from(count).expect("a block was found to fit into memory");
        let mut elements: Vec<T> = bytemuck::allocation::zeroed_vec(count);
        let bytes = bytemuck::cast_slice_mut(&mut elements);
        let filled = self.data.read_exact(bytes).map_err(ReadError::from);
        let filled = filled.and_then(|()| Ok(self.data.swap_to_native(bytes)?));
        filled.map_err(|error| self.array.unreadable(error))?;
        self.start += count as u64;
        if self.start == self.elements {
            self.state = State::Ended { is_listed: self.end()? };
        }
        Ok((count > 0).then_some(Block { start, elements }))
    }
}

impl<T: Element> Iterator for Blocks<T> {
    type Item = Result<Block<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state != State::Reading {
            return None;
        }
        let block = self.read();
        if block.is_err() {
            self.state = State::Failed;
        }
        block.transpose()
    }
}
