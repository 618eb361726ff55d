//! Streams of files and of elements in bounded memory, checked at their end.

use std::convert::Infallible;
use std::io::{self, BufReader, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::{fmt, iter};

use super::array::PackedArray;
use super::manifest::ExpectedDigest;
use super::state::{FoundMember, Pack};
use super::{check_limit, is_worth_a_thread};
use crate::archive::MemberReader;
use crate::digest::Hasher;
use crate::error::{Error, Result};
use crate::pipeline;
use crate::ra::{Decoder, Element, Encoding, Header, ReadError};

/// Bytes that are read and then hashed.
const HASHED_AT_ONCE: usize = 1 << 20;

/// A reader of a file that hashes what it reads and compares the digest with the manifest.
pub(super) struct CheckedReader {
    pack: Pack,
    found: Arc<FoundMember>,
    inner: MemberReader,
    /// The listed digest and the hasher, if the manifest is used.
    listing: Option<(ExpectedDigest, Hasher)>,
}

impl CheckedReader {
    pub(super) fn new(pack: &Pack, found: &Arc<FoundMember>, verify: bool) -> Result<Self> {
        pack.begin(&found.name, &found.member, None);
        if verify {
            pack.fetch_with_line(&found.member.name)?;
        }
        let inner = pack.state.archive.read(&found.member)?;
        let expected = verify.then(|| pack.expected_digest(&found.member)).transpose()?;
        let hashed = |expected: ExpectedDigest| {
            let hasher = Hasher::new(expected.algorithm);
            (expected, hasher)
        };
        let (pack, found) = (pack.clone(), Arc::clone(found));
        Ok(Self { pack, found, inner, listing: expected.map(hashed) })
    }

    /// Reads the rest, which checks the checksum of the container, and compares the digest with the manifest. Returns
    /// whether the manifest lists the file.
    pub(super) fn finish(&mut self) -> Result<bool> {
        let rest = io::copy(self, &mut io::sink());
        rest.map_err(|error| self.pack.unreadable(&self.found.name, error))?;
        match self.listing.take() {
            Some((expected, hasher)) => {
                self.pack.check_digest(&self.found.member, expected, &hasher.finish())
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

    fn read_exact(&mut self, out: &mut [u8]) -> io::Result<()> {
        let inner = &mut self.inner;
        let Some((_, hasher)) = &mut self.listing else { return inner.read_exact(out) };
        if !is_worth_a_thread(out.len() as u64) {
            return out.chunks_mut(HASHED_AT_ONCE).try_for_each(|piece| {
                inner.read_exact(piece)?;
                hasher.update(piece);
                Ok(())
            });
        }
        let (hasher, mut pieces, mut read) =
            (Mutex::new(hasher), out.chunks_mut(HASHED_AT_ONCE), Ok(()));
        let pieces = iter::from_fn(|| {
            let piece = pieces.next()?;
            read = inner.read_exact(piece);
            read.is_ok().then_some(&*piece)
        });
        let update = |(): &mut (), piece: &[u8]| {
            hasher.lock().unwrap_or_else(PoisonError::into_inner).update(piece);
            Ok::<_, Infallible>(())
        };
        // One worker hashes the pieces in order.
        let Ok(()) = pipeline::ordered(1, pieces, || (), update, |()| Ok(()));
        read
    }
}

impl fmt::Debug for CheckedReader {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CheckedReader").field(&self.found.name).finish()
    }
}

/// The state of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum StreamState {
    Reading,
    Failed,
    Ended { is_listed: bool },
}

impl StreamState {
    /// Returns whether the manifest lists the content; `None` before the end.
    fn is_listed(self, name: &str) -> Result<Option<bool>> {
        match self {
            Self::Reading => Ok(None),
            Self::Ended { is_listed } => Ok(Some(is_listed)),
            Self::Failed => {
                Err(Error::io("read", name)(io::Error::other("an earlier read failed")))
            }
        }
    }
}

/// A reader of one file of a pack, returned by [`Pack::reader`].
///
/// The last read checks the content against the manifest and the container, and returns an error if they differ.
/// Content that is not read to its end is not checked.
#[derive(Debug)]
pub struct FileReader {
    reader: CheckedReader,
    left: u64,
    state: StreamState,
}

impl Pack {
    /// Returns a reader of one member that is checked against the manifest at its end.
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
    /// [`Error::NoSuchMember`] if there is no such member, and [`Error::Damaged`] if the manifest is not valid. Errors
    /// of the reader are those of [`Pack::read`].
    pub fn reader(&self, name: &str) -> Result<FileReader> {
        Ok(FileReader::new(CheckedReader::new(self, &self.find(name)?, true)?))
    }
}

impl FileReader {
    fn new(reader: CheckedReader) -> Self {
        Self { left: reader.found.member.size, reader, state: StreamState::Reading }
    }

    /// Returns whether all of the content was read and a manifest confirms it.
    pub fn is_verified(&self) -> bool {
        self.state == StreamState::Ended { is_listed: true }
    }

    /// Reads the rest and checks the content. Returns whether a manifest confirms it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the content differs from the manifest or the container, and [`Error::Io`] if it cannot be
    /// read.
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
            self.state = StreamState::Ended { is_listed: reader.finish()? };
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
            self.state = StreamState::Failed;
        }
        Ok(read?)
    }
}

impl PackedArray {
    /// Reads the file of the array without keeping it, and checks it. Returns whether a manifest confirms it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the file differs from the manifest or the container, or the manifest does not list it, and
    /// [`Error::Io`] if it cannot be read.
    pub fn verify(&self) -> Result<bool> {
        let is_listed = self.checked_reader()?.finish()?;
        self.must_be_listed(is_listed)?;
        Ok(is_listed)
    }
}

/// Consecutive elements of an array, in the order of its file.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Block<T> {
    /// Number of elements of the array before the block.
    pub start: u64,
    /// The elements of the block.
    pub elements: Vec<T>,
}

/// An iterator over the elements of an array in blocks, returned by [`PackedArray::blocks`].
///
/// The last block is returned after the whole file is checked against the manifest and the container. If they differ,
/// the iterator returns an error instead and then ends; the earlier blocks may be damaged. If not all blocks are taken,
/// the array is not checked.
#[derive(Debug)]
pub struct Blocks<T> {
    array: PackedArray,
    data: Decoder<BufReader<CheckedReader>>,
    /// Number of elements in a block, in the array, and before the next block.
    most: u64,
    elements: u64,
    start: u64,
    state: StreamState,
    element: std::marker::PhantomData<fn() -> T>,
}

impl PackedArray {
    /// Reads the array in blocks of `elements` elements (the last may be shorter), in the order of the file as
    /// [`read_into`](Self::read_into) does. Memory does not grow with the size of the array, even if it is compressed.
    ///
    /// The slowest index is the last one. In shape order, it is the first one if the order of the array is `row` or
    /// `row-unreversed`. If `elements` is a multiple of the product of all other lengths, each block is a range of the
    /// slowest index.
    ///
    /// ```
    /// # fn main() -> ra_pack::Result<()> {
    /// use ra_pack::Pack;
    ///
    /// let array = Pack::open("examples/experiment")?.array("thermistors/temperature.ra")?;
    /// let mut blocks = array.blocks::<f32>(1000)?;
    /// let mut warmest = f32::MIN;
    /// for block in &mut blocks {
    ///     let warm = block?.elements.into_iter().filter(|value| value.is_finite());
    ///     warmest = warm.fold(warmest, f32::max);
    /// }
    /// assert!(warmest > 10.0);
    /// assert!(!blocks.is_verified()); // the sample has no manifest
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    ///
    /// [`Error::Array`] if the elements are not of type `T`; [`Error::Damaged`] or [`Error::Io`] if the member cannot
    /// be read; [`Error::TooLarge`] if a block needs more memory than a read or an archive of this size may take.
    pub fn blocks<T: Element>(&self, elements: usize) -> Result<Blocks<T>> {
        self.check_structure::<T>()?;
        let header = self.header()?;
        header.check_type::<T>().map_err(|error| self.undecodable(error))?;
        let most = header.elements().min(elements as u64);
        let bytes = most.saturating_mul(header.element().elbyte());
        self.pack.check_room(self.name(), bytes)?;
        check_limit(self.name(), bytes, self.memory_limit()?)?;
        let encoding = self.encoding(header)?.unwrap_or(Encoding::Raw);
        Blocks::new(self.clone(), header.clone(), encoding, elements)
    }
}

impl<T: Element> Blocks<T> {
    /// Makes blocks of `most` elements of an array with this header.
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
        Ok(Self { array, data, most, elements, start: 0, state: StreamState::Reading, element })
    }

    /// Returns whether all blocks were taken and a manifest confirms the array.
    pub fn is_verified(&self) -> bool {
        self.state == StreamState::Ended { is_listed: true }
    }

    /// Reads the rest and checks the array. Returns whether a manifest confirms it.
    ///
    /// # Errors
    ///
    /// [`Error::Damaged`] if the file differs from the manifest or the container, and [`Error::Io`] if it cannot be
    /// read.
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
        let count = usize::try_from(count).expect("a block fits into memory");
        let mut elements: Vec<T> = bytemuck::allocation::zeroed_vec(count);
        let bytes = bytemuck::cast_slice_mut(&mut elements);
        let filled = self.data.read_exact(bytes).map_err(ReadError::from);
        let filled = filled.and_then(|()| Ok(self.data.swap_to_native(bytes)?));
        filled.map_err(|error| self.array.unreadable(error))?;
        self.start += count as u64;
        if self.start == self.elements {
            self.state = StreamState::Ended { is_listed: self.end()? };
        }
        Ok((count > 0).then_some(Block { start, elements }))
    }
}

impl<T: Element> Iterator for Blocks<T> {
    type Item = Result<Block<T>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.state != StreamState::Reading {
            return None;
        }
        let block = self.read();
        if block.is_err() {
            self.state = StreamState::Failed;
        }
        block.transpose()
    }
}
