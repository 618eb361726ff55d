//! Reads a tar block by block. Returns the entries, records problems, and checks every byte.

use std::io::{self, BufRead, Read};

use super::header::{TarHeader, is_extension};
use super::pax::Extensions;
use super::{BLOCK, Fault, TarEntry, TarFault, is_zero, padding_after};
use crate::allowance::Allowance;
use crate::finding::{Code, Finding};
use crate::ra::read_full;

/// [`BLOCK`] as an offset.
const BLOCK_BYTES: u64 = 512;

/// Maximum payload of a PAX header or GNU long name, which is kept in memory. It is far more than the longest name of
/// any file system, and other readers have the same limit.
const MAX_EXTENSION_BYTES: u64 = 1 << 20;

/// Counted for each extended header in addition to its payload: the time for its block.
const EXTENSION_BLOCK: u64 = 256;

/// Maximum number of warnings kept. A tar can have one for every entry.
const MAX_WARNINGS: usize = 100;

/// Reads a tar from its first byte to its last.
///
/// Between two calls of [`next_entry`](Self::next_entry), the data of the entry can be read from the reader. Unread
/// data is skipped.
pub(crate) struct TarReader<S> {
    source: S,
    /// Length of the complete tar in bytes, if known in advance.
    total: Option<u64>,
    position: u64,
    state: WalkState,
    current: Current,
    faults: Vec<Finding>,
    /// For all extended headers together: a few kilobytes can decompress to a billion records.
    extensions: Allowance,
    /// A header that was found after damage.
    ahead: Option<[u8; BLOCK]>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum WalkState {
    /// The next block is a header or the end mark.
    Walking,
    /// The end mark or the end of the source was read.
    Ended,
    /// The offset of the next header is unknown.
    Lost,
}

/// The entry, or the extended header without a name, at the current position.
#[derive(Debug, Default)]
struct Current {
    name: Option<String>,
    data_offset: u64,
    size: u64,
    left: u64,
}

impl<S: Skip> TarReader<S> {
    /// Starts reading `source`. If `total` is known, as for a plain file, a size beyond it is detected before its data
    /// is read. `extensions` limits the extended headers.
    pub(crate) fn new(source: S, total: Option<u64>, extensions: Allowance) -> Self {
        Self {
            source,
            total,
            position: 0,
            state: WalkState::Walking,
            current: Current::default(),
            faults: Vec::new(),
            extensions,
            ahead: None,
        }
    }

    /// Shows the data of a member that is cut off, up to the end of the source.
    #[cfg(feature = "full")]
    pub(crate) fn lenient(self) -> Self {
        Self { total: None, ..self }
    }

    /// Looks for a header after damage or an end mark, and returns whether there is one. Its entry is the next one.
    ///
    /// # Errors
    ///
    /// The same as for [`next_entry`](Self::next_entry).
    #[cfg(feature = "full")]
    pub(crate) fn resume(&mut self) -> io::Result<bool> {
        self.faults.truncate(MAX_WARNINGS);
        self.position += self.source.skip(padding_after(self.position))?;
        let mut block = [0; BLOCK];
        while read_full(&mut self.source, &mut block)? == BLOCK {
            if !is_zero(&block) && TarHeader::decode(&block).is_ok() {
                self.ahead = Some(block);
                self.state = WalkState::Walking;
                return Ok(true);
            }
            self.position += BLOCK_BYTES;
        }
        Ok(false)
    }

    /// Returns the next entry, or `None` at the end or after a fatal error, which is then in [`faults`](Self::faults).
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the source cannot be read, or if its compressed stream is damaged.
    pub(crate) fn next_entry(&mut self) -> io::Result<Option<TarEntry>> {
        if self.state != WalkState::Walking {
            return Ok(None);
        }
        self.advance().or_else(|stop| {
            self.state = WalkState::Lost;
            let TarFault(fault) = stop.downcast()?;
            self.faults.push(fault);
            Ok(None)
        })
    }

    /// Returns the number of bytes read or skipped.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Returns the problems found so far, in the order of the file.
    pub(crate) fn faults(&self) -> &[Finding] {
        &self.faults
    }

    /// Reads the rest of the tar and of the source, where a decompressor checks its trailer. Returns all problems.
    ///
    /// # Errors
    ///
    /// The same as for [`next_entry`](Self::next_entry).
    pub(crate) fn finish(mut self) -> io::Result<Vec<Finding>> {
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
            let stop = |fault| stop(at(offset, fault));
            let Some(block) = self.read_block()? else {
                extensions.must_be_empty("the end").map_err(stop)?;
                self.faults.push(end_mark(offset, "none"));
                self.state = WalkState::Ended;
                return Ok(None);
            };
            if is_zero(&block) {
                extensions.must_be_empty("the end mark").map_err(stop)?;
                self.read_end_mark(offset)?;
                return Ok(None);
            }
            let mut header = TarHeader::decode(&block).map_err(stop)?;
            if let Some(odd) = header.odd.take() {
                self.warn(at(offset, (Code::BadTarHeader, odd)));
            }
            if is_extension(header.typeflag) {
                let payload = self.read_extension(offset, header.size)?;
                let odd = extensions.add(header.typeflag, offset, payload).map_err(stop)?;
                if let Some(odd) = odd {
                    self.warn(at(offset, (Code::BadExtendedHeader, odd)));
                }
            } else {
                return self.enter(header, offset, extensions).map(Some);
            }
        }
    }

    /// Skips the rest of the current entry and checks its padding.
    fn leave_entry(&mut self) -> io::Result<()> {
        let Current { name, data_offset, size, left } = std::mem::take(&mut self.current);
        let within = |offset, fault| Finding { member: name, ..at(offset, fault) };
        let skipped = self.source.skip(left)?;
        self.position += skipped;
        if skipped < left {
            let found = size - (left - skipped);
            return Err(stop(within(data_offset, cut_off(size, found))));
        }
        let offset = self.position;
        let expected = padding_after(size);
        let mut block = [0; BLOCK];
        let padding = block.split_at_mut(usize::try_from(expected).expect("less than a block")).0;
        let length = read_full(&mut self.source, padding)?;
        let found = length as u64;
        self.position += found;
        if found < expected {
            let message = format!(
                "expected {expected} zeros after the data, found the end of the file after {found} bytes"
            );
            return Err(stop(within(offset, (Code::NotAnArchive, message))));
        }
        if !is_zero(padding) {
            let message = "expected zeros between the data and the next header, found other bytes";
            self.warn(within(offset, (Code::DirtyPadding, message.into())));
        }
        Ok(())
    }

    /// Records a warning, up to a limit. Errors end the walk, so the limit never hides one.
    fn warn(&mut self, finding: Finding) {
        if self.faults.len() < MAX_WARNINGS {
            self.faults.push(finding.warning());
        }
    }

    /// Reads the next block. Returns `None` at the end of the source.
    fn read_block(&mut self) -> io::Result<Option<[u8; BLOCK]>> {
        let offset = self.position;
        if let Some(block) = self.ahead.take() {
            self.position += BLOCK_BYTES;
            return Ok(Some(block));
        }
        let mut block = [0; BLOCK];
        match read_full(&mut self.source, &mut block)? {
            0 => Ok(None),
            BLOCK => {
                self.position += BLOCK_BYTES;
                Ok(Some(block))
            }
            found => {
                let message = format!(
                    "expected a block of 512 bytes, found {found} before the end of the file"
                );
                Err(stop(at(offset, (Code::NotAnArchive, message))))
            }
        }
    }

    /// Handles the end mark. Its first block, at `offset`, has been read.
    fn read_end_mark(&mut self, offset: u64) -> io::Result<()> {
        let second = self.position;
        match self.read_block()? {
            None => self.faults.push(end_mark(offset, "one")),
            Some(block) if is_zero(&block) => {}
            Some(block) => return Err(stop(at(second, what_follows(&block)))),
        }
        self.state = WalkState::Ended;
        Ok(())
    }

    /// Reads the payload of the extended header at `offset`.
    fn read_extension(&mut self, offset: u64, size: u64) -> io::Result<Vec<u8>> {
        if size > MAX_EXTENSION_BYTES {
            let message = format!(
                "expected an extended header of at most {MAX_EXTENSION_BYTES} bytes, found {size}"
            );
            return Err(stop(at(offset, (Code::BadExtendedHeader, message))));
        }
        if !self.extensions.take(size + EXTENSION_BLOCK) {
            let message = format!(
                "expected extended headers of at most {} bytes in an archive of this size, found more",
                self.extensions.limit()
            );
            return Err(stop(at(offset, (Code::BadExtendedHeader, message))));
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

    /// Makes the entry of `header` the current one.
    fn enter(
        &mut self,
        header: TarHeader,
        offset: u64,
        extensions: Extensions,
    ) -> io::Result<TarEntry> {
        let entry = extensions
            .resolve(header, offset, self.position)
            .map_err(|(member, fault)| stop(Finding { member, ..at(offset, fault) }))?;
        let name = Some(String::from_utf8_lossy(&entry.name).into_owned());
        let available = self.total.map_or(u64::MAX, |total| total.saturating_sub(self.position));
        if entry.size > available {
            let fault = at(self.position, cut_off(entry.size, available));
            return Err(stop(Finding { member: name, ..fault }));
        }
        let (data_offset, size) = (entry.data_offset, entry.size);
        self.current = Current { name, data_offset, size, left: size };
        Ok(entry)
    }

    /// Checks that only zeros follow the end mark.
    fn check_after_end(&mut self) -> io::Result<()> {
        let mut chunk = vec![0; 128 * BLOCK];
        loop {
            let found = read_full(&mut self.source, &mut chunk)?;
            for block in chunk.split_at(found).0.chunks(BLOCK) {
                if !is_zero(block) {
                    self.faults.push(at(self.position, what_follows(block)));
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
/// Truncated data is an error that contains the [`TarFault`], which is also recorded.
impl<S: Skip> BufRead for TarReader<S> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.current.left == 0 {
            return Ok(&[]);
        }
        if self.source.fill_buf()?.is_empty() {
            let Current { name, data_offset, size, left } = std::mem::take(&mut self.current);
            let fault = at(data_offset, cut_off(size, size - left));
            let fault = Finding { member: name, ..fault };
            self.state = WalkState::Lost;
            self.faults.push(fault.clone());
            return Err(stop(fault));
        }
        // The bytes are buffered, so this does not read.
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

/// Returns the problem with `block`, which follows the end mark and is not all zeros.
fn what_follows(block: &[u8]) -> Fault {
    let header = block.try_into().ok().and_then(|block| TarHeader::decode(block).ok());
    let (code, found) = match header {
        Some(_) => (Code::HiddenMember, "another archive, which other readers may show"),
        None => (Code::TrailingBytes, "other bytes"),
    };
    (code, format!("expected only zeros after the end mark, found {found}"))
}

/// Creates the fault for truncated data of a member.
fn cut_off(expected: u64, found: u64) -> Fault {
    let message =
        format!("expected {expected} bytes of data, found {found} before the end of the file");
    (Code::NotAnArchive, message)
}

/// Creates the warning for an incomplete end mark at `offset`.
fn end_mark(offset: u64, found: &str) -> Finding {
    let message = format!("expected two blocks of zeros at the end, found {found}");
    at(offset, (Code::MissingEndMark, message)).warning()
}

fn at(offset: u64, (code, message): Fault) -> Finding {
    Finding::new(code, message).at_byte(offset)
}

/// Creates the error that ends reading.
fn stop(fault: Finding) -> io::Error {
    io::Error::new(io::ErrorKind::UnexpectedEof, TarFault(fault))
}

/// A source that can be read and skipped from beginning to end.
pub(crate) trait Skip: BufRead {
    /// Skips `count` bytes and returns the number of bytes skipped. It is smaller only at the end.
    ///
    /// # Errors
    ///
    /// [`io::Error`] if the source cannot be read.
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

/// Implements [`Read::read`] with [`BufRead`].
pub(in crate::archive) fn read_buffered(
    reader: &mut impl BufRead,
    out: &mut [u8],
) -> io::Result<usize> {
    let count = reader.fill_buf()?.read(out)?;
    reader.consume(count);
    Ok(count)
}

/// A reader of a plain or compressed tar.
pub(in crate::archive) type TarEntries = TarReader<Box<dyn Skip + Send>>;

impl<S: Skip + ?Sized> Skip for Box<S> {
    fn skip(&mut self, count: u64) -> io::Result<u64> {
        (**self).skip(count)
    }
}

/// A stream of blocks, such as the output of a decompressor.
pub(crate) struct Streaming<I> {
    blocks: I,
    block: Vec<u8>,
    /// Number of bytes of the block that were consumed.
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
