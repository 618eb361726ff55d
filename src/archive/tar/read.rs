//! The walk over a tar, block by block: gives the entries, notes what is wrong, and leaves no byte
//! unaccounted for.

use std::io::{self, BufRead, Read};

use super::super::data::read_buffered;
use super::header::{TarHeader, is_extension};
use super::pax::Extensions;
use super::{BLOCK, TarEntry, TarFault, TarFaultKind, is_zero, padding_after};
use crate::ra::read_full;

/// [`BLOCK`] as an offset.
const BLOCK_BYTES: u64 = 512;

/// Longest payload of a PAX header or GNU long name, which is held in memory: far more than the
/// longest name of any file system, and what other readers allow too.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// How many warnings are kept: few show them, and a tar can have one for every entry.
const MAX_WARNINGS: usize = 100;

/// Reads a tar from its first byte to its last.
///
/// Between two calls of [`next_entry`](Self::next_entry) the data of the entry can be read from the
/// reader itself; what is left of it is passed over.
pub(crate) struct TarReader<S> {
    source: S,
    /// Length of the whole tar, when it is known in advance.
    total: Option<u64>,
    position: u64,
    state: WalkState,
    current: Current,
    faults: Vec<TarFault>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkState {
    /// The next block is a header or the end mark.
    Walking,
    /// The end mark has been read, or the end of the source.
    Ended,
    /// Where the next header would be cannot be known.
    Lost,
}

/// The entry, or the extended header without a name, whose data the source stands in.
#[derive(Debug, Default)]
struct Current {
    name: Option<String>,
    data_offset: u64,
    size: u64,
    left: u64,
}

impl From<TarFault> for io::Error {
    fn from(fault: TarFault) -> Self {
        Self::new(io::ErrorKind::UnexpectedEof, fault)
    }
}

impl<S: Skip> TarReader<S> {
    /// Begins at the start of `source`. Where `total` is given, as it is for a plain file, a size that
    /// reaches beyond it is noticed before any data is read.
    pub(crate) fn new(source: S, total: Option<u64>) -> Self {
        Self {
            source,
            total,
            position: 0,
            state: WalkState::Walking,
            current: Current::default(),
            faults: Vec::new(),
        }
    }

    /// The next entry, or `None` at the end and wherever the walk cannot go on;
    /// [`faults`](Self::faults) then says why.
    ///
    /// # Errors
    ///
    /// When the source cannot be read, or, being compressed, is damaged itself.
    pub(crate) fn next_entry(&mut self) -> io::Result<Option<TarEntry>> {
        if self.state != WalkState::Walking {
            return Ok(None);
        }
        self.advance().or_else(|stop| {
            self.state = WalkState::Lost;
            self.faults.push(stop.downcast()?);
            Ok(None)
        })
    }

    /// Bytes that were read or passed over.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// What has been found wrong so far, in the order of the file.
    pub(crate) fn faults(&self) -> &[TarFault] {
        &self.faults
    }

    /// Walks over what is left, reads the source to its true end, which is where a decompressor checks
    /// its trailer, and returns everything found wrong.
    ///
    /// # Errors
    ///
    /// As [`next_entry`](Self::next_entry).
    pub(crate) fn finish(mut self) -> io::Result<Vec<TarFault>> {
        while self.next_entry()?.is_some() {}
        if self.state == WalkState::Ended {
            self.check_after_end()?;
        }
        self.source.skip(u64::MAX)?;
        Ok(self.faults)
    }

    fn advance(&mut self) -> io::Result<Option<TarEntry>> {
        self.leave_entry()?;
        let mut extensions = Extensions::default();
        loop {
            let offset = self.position;
            let Some(block) = self.read_block()? else {
                extensions.must_be_empty("the end").map_err(|kind| at(offset, kind))?;
                self.faults.push(at(offset, TarFaultKind::NoEndMark));
                self.state = WalkState::Ended;
                return Ok(None);
            };
            if is_zero(&block) {
                extensions.must_be_empty("the end mark").map_err(|kind| at(offset, kind))?;
                self.read_end_mark(offset)?;
                return Ok(None);
            }
            let mut header = TarHeader::decode(&block).map_err(|kind| at(offset, kind))?;
            if let Some(kind) = header.odd.take() {
                self.warn(at(offset, kind));
            }
            if is_extension(header.typeflag) {
                let payload = self.read_extension(offset, header.size)?;
                let odd = extensions
                    .add(header.typeflag, offset, payload)
                    .map_err(|kind| at(offset, kind))?;
                if let Some(odd) = odd {
                    self.warn(at(offset, TarFaultKind::LesserRecord(odd)));
                }
            } else {
                return self.enter(header, offset, extensions).map(Some);
            }
        }
    }

    /// Passes over what is left of the current entry and checks its padding.
    fn leave_entry(&mut self) -> io::Result<()> {
        let Current { name, data_offset, size, left } = std::mem::take(&mut self.current);
        let within = |offset, kind| TarFault { offset, member: name, kind };
        let skipped = self.source.skip(left)?;
        self.position += skipped;
        if skipped < left {
            let found = size - (left - skipped);
            return Err(
                within(data_offset, TarFaultKind::DataCutOff { expected: size, found }).into()
            );
        }
        let offset = self.position;
        let expected = padding_after(size);
        let mut block = [0; BLOCK];
        let padding = block.split_at_mut(usize::try_from(expected).expect("less than a block")).0;
        let length = read_full(&mut self.source, padding)?;
        let found = length as u64;
        self.position += found;
        if found < expected {
            return Err(within(offset, TarFaultKind::PaddingCutOff { expected, found }).into());
        }
        if !is_zero(padding) {
            self.warn(within(offset, TarFaultKind::Padding));
        }
        Ok(())
    }

    /// Notes a warning. Nothing else is noted before the walk ends, so that this bounds the faults without hiding one.
    fn warn(&mut self, warning: TarFault) {
        if self.faults.len() < MAX_WARNINGS {
            self.faults.push(warning);
        }
    }

    /// The next block, or `None` at the end of the source.
    fn read_block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let offset = self.position;
        let mut block = [0; BLOCK];
        match read_full(&mut self.source, &mut block)? {
            0 => Ok(None),
            BLOCK => {
                self.position += BLOCK_BYTES;
                Ok(Some(block))
            }
            found => Err(at(offset, TarFaultKind::BlockCutOff { found }).into()),
        }
    }

    /// The first block of zeros, at `offset`, has been read.
    fn read_end_mark(&mut self, offset: u64) -> io::Result<()> {
        let second = self.position;
        match self.read_block()? {
            None => self.faults.push(at(offset, TarFaultKind::LoneZeroBlock)),
            Some(block) if is_zero(&block) => {}
            Some(block) => return Err(at(second, what_follows(&block)).into()),
        }
        self.state = WalkState::Ended;
        Ok(())
    }

    /// Reads the payload of the extended header at `offset`.
    fn read_extension(&mut self, offset: u64, size: u64) -> io::Result<Vec<u8>> {
        if size > MAX_EXTENSION_BYTES {
            let limit = MAX_EXTENSION_BYTES;
            return Err(at(offset, TarFaultKind::ExtensionTooLong { size, limit }).into());
        }
        let data_offset = self.position;
        let mut payload = Vec::new();
        let length = (&mut self.source).take(size).read_to_end(&mut payload)?;
        let length = length as u64;
        self.position += length;
        let left = size - length;
        self.current = Current { name: None, data_offset, size, left };
        self.leave_entry()?;
        Ok(payload)
    }

    /// Makes the entry that `header` begins the current one.
    fn enter(
        &mut self,
        header: TarHeader,
        offset: u64,
        extensions: Extensions,
    ) -> io::Result<TarEntry> {
        let entry = extensions
            .resolve(header, offset, self.position)
            .map_err(|(member, kind)| TarFault { member, ..at(offset, kind) })?;
        let name = Some(String::from_utf8_lossy(&entry.name).into_owned());
        let available = self.total.map_or(u64::MAX, |total| total.saturating_sub(self.position));
        if entry.size > available {
            let kind = TarFaultKind::DataCutOff { expected: entry.size, found: available };
            return Err(TarFault { offset: self.position, member: name, kind }.into());
        }
        let (data_offset, size) = (entry.data_offset, entry.size);
        self.current = Current { name, data_offset, size, left: size };
        Ok(entry)
    }

    /// Everything after the end mark must be zeros.
    fn check_after_end(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; 128 * BLOCK];
        loop {
            let found = read_full(&mut self.source, &mut chunk)?;
            for block in chunk.split_at(found).0.chunks(BLOCK) {
                if !is_zero(block) {
                    let kind = block.try_into().map_or(TarFaultKind::AfterEnd, what_follows);
                    let offset = self.position;
                    self.faults.push(at(offset, kind));
                    return Ok(());
                }
                self.position += block.len() as u64;
            }
            if found < chunk.len() {
                return Ok(());
            }
        }
    }
}

/// The data of the current entry.
///
/// Data that is cut off is an error that holds the [`TarFault`], which is also noted.
impl<S: Skip> BufRead for TarReader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.current.left == 0 {
            return Ok(&[]);
        }
        if self.source.fill_buf()?.is_empty() {
            let Current { name, data_offset, size, left } = std::mem::take(&mut self.current);
            let kind = TarFaultKind::DataCutOff { expected: size, found: size - left };
            let fault = TarFault { offset: data_offset, member: name, kind };
            self.state = WalkState::Lost;
            self.faults.push(fault.clone());
            return Err(fault.into());
        }
        // They are in a buffer, and to ask for them again reads nothing.
        let ready = self.source.fill_buf()?;
        let most =
            usize::try_from(self.current.left).map_or(ready.len(), |left| left.min(ready.len()));
        Ok(ready.split_at(most).0)
    }

    fn consume(&mut self, amount: usize) {
        self.source.consume(amount);
        self.position += amount as u64;
        self.current.left -= amount as u64;
    }
}

impl<S: Skip> Read for TarReader<S> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

fn what_follows(block: &[u8; BLOCK]) -> TarFaultKind {
    match TarHeader::decode(block) {
        Ok(_) => TarFaultKind::SecondArchive,
        Err(_) => TarFaultKind::AfterEnd,
    }
}

fn at(offset: u64, kind: TarFaultKind) -> TarFault {
    TarFault { offset, member: None, kind }
}

/// A source that can be read from its start to its end and passed over in between.
pub(crate) trait Skip: BufRead {
    /// Passes over `count` bytes and returns how many there were: fewer only at the end.
    ///
    /// # Errors
    ///
    /// When the source cannot be read.
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        let mut left = count;
        while left > 0 {
            let ready = match self.fill_buf() {
                Ok([]) => break,
                Ok(ready) => ready.len(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let skipped = usize::try_from(left).map_or(ready, |left| left.min(ready));
            self.consume(skipped);
            left -= skipped as u64;
        }
        Ok(count - left)
    }
}

impl<S: Skip + ?Sized> Skip for Box<S> {
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        (**self).skip(count)
    }
}

/// A stream that comes in blocks, such as that of a decompressor.
pub(crate) struct Streaming<I> {
    blocks: I,
    block: Vec<u8>,
    /// Bytes of the block that were consumed.
    at: usize,
}

impl<I: Iterator<Item = io::Result<Vec<u8>>>> Streaming<I> {
    pub(crate) fn new(blocks: I) -> Self {
        Self { blocks, block: Vec::new(), at: 0 }
    }
}

impl<I: Iterator<Item = io::Result<Vec<u8>>>> BufRead for Streaming<I> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        while self.at == self.block.len()
            && let Some(block) = self.blocks.next()
        {
            self.block = block?;
            self.at = 0;
        }
        Ok(self.block.split_at(self.at).1)
    }

    fn consume(&mut self, amount: usize) {
        self.at += amount;
    }
}

impl<I: Iterator<Item = io::Result<Vec<u8>>>> Read for Streaming<I> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        read_buffered(self, out)
    }
}

impl<I: Iterator<Item = io::Result<Vec<u8>>>> Skip for Streaming<I> {}
