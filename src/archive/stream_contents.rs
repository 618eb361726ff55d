//! Random access to the contents of a compressed tar, which can only be decoded in order.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::data::MemberReader;
use super::tar::TarEntries;

/// Maximum size of a file that is cached completely. Nearly all descriptions and manifests, and many arrays, are
/// smaller.
const WHOLE: u64 = 8 << 20;

/// Number of bytes cached from the beginning of larger files: more than any header.
const START: u64 = 64 << 10;

/// Maximum size of the cache in bytes. It keeps the contents read last, because `create` writes the manifest last and
/// it is requested first.
const KEPT: usize = 16 << 20;

/// Memory for a cache entry in addition to its bytes.
const ENTRY: usize = 128;

/// The position in a compressed tar, and a cache of contents already passed. Requests in approximately the order of the
/// tar decode it once.
pub(super) struct StreamContents(Arc<Mutex<Passed>>);

impl fmt::Debug for StreamContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamContents")
    }
}

struct Passed {
    reader: Option<TarEntries>,
    /// The cached beginnings, by the offset of their contents in the tar.
    starts: HashMap<u64, Arc<[u8]>>,
    /// These offsets in the order of reading.
    order: VecDeque<u64>,
    /// Size of the cached beginnings in bytes.
    kept: usize,
    decoded: u64,
    /// Starts reading the tar.
    begin: Box<dyn Fn() -> TarEntries + Send>,
}

impl StreamContents {
    /// Creates a cache for the tar that `begin` opens. Reads nothing yet.
    pub(super) fn new(begin: impl Fn() -> TarEntries + Send + 'static) -> Self {
        let (starts, order, begin) = (HashMap::new(), VecDeque::new(), Box::new(begin));
        let passed = Passed { reader: None, starts, order, kept: 0, decoded: 0, begin };
        Self(Arc::new(Mutex::new(passed)))
    }

    /// Caches the beginning of the file of `size` bytes at offset `data`.
    pub(super) fn keep(&self, data: u64, size: u64, content: &mut impl Read) -> io::Result<()> {
        lock(&self.0).keep(data, size, content).map(drop)
    }

    /// Returns the content of `size` bytes at offset `data`, or `None` if no content begins there.
    pub(super) fn read(&self, data: u64, size: u64) -> io::Result<Option<MemberReader>> {
        let mut passed = lock(&self.0);
        let start = match passed.starts.get(&data) {
            Some(start) => Some(Arc::clone(start)),
            None => passed.pass_to(data)?,
        };
        let Some(start) = start else { return Ok(None) };
        let length = start.len() as u64;
        if length == size {
            return Ok(Some(Box::new(Cursor::new(start))));
        }
        let from = data + length;
        let rest = Rest { passed: Arc::clone(&self.0), data, from, is_begun: false, reader: None };
        Ok(Some(Box::new(Cursor::new(start).chain(BufReader::new(rest)))))
    }

    /// Counts bytes that another reader has decoded.
    pub(super) fn note_decoded(&self, bytes: u64) {
        let mut passed = lock(&self.0);
        passed.decoded = passed.decoded.saturating_add(bytes);
    }

    /// Returns the number of decoded bytes of the tar.
    pub(super) fn decoded(&self) -> u64 {
        lock(&self.0).decoded
    }
}

impl Passed {
    fn keep(&mut self, data: u64, size: u64, content: &mut impl Read) -> io::Result<Arc<[u8]>> {
        let length = if size > WHOLE { START } else { size };
        // The size is not verified, so allocate only a little.
        let mut start = Vec::with_capacity(usize::try_from(length.min(START)).unwrap_or(0));
        content.take(length).read_to_end(&mut start)?;
        let start: Arc<[u8]> = start.into();
        if self.starts.insert(data, Arc::clone(&start)).is_none() {
            self.order.push_back(data);
            self.kept += start.len() + ENTRY;
        }
        while self.kept > KEPT
            && let Some(oldest) = self.order.pop_front().and_then(|data| self.starts.remove(&data))
        {
            self.kept -= oldest.len() + ENTRY;
        }
        Ok(start)
    }

    /// Reads on to the content at offset `data`, from the beginning of the tar if it has passed.
    fn pass_to(&mut self, data: u64) -> io::Result<Option<Arc<[u8]>>> {
        let reader = self.reader.take().filter(|reader| reader.position() < data);
        let mut reader = reader.unwrap_or_else(&self.begin);
        let from = reader.position();
        let found = loop {
            let Some(entry) = reader.next_entry()? else { break None };
            let start = self.keep(entry.data_offset, entry.size, &mut reader)?;
            if entry.data_offset >= data {
                break (entry.data_offset == data).then_some(start);
            }
        };
        self.note_decoded(from, &reader);
        self.reader = Some(reader);
        Ok(found)
    }

    fn note_decoded(&mut self, from: u64, reader: &TarEntries) {
        self.decoded = self.decoded.saturating_add(reader.position().saturating_sub(from));
    }
}

/// The content after its cached beginning. Dropping it returns the decoder, because the next request usually follows.
struct Rest {
    passed: Arc<Mutex<Passed>>,
    data: u64,
    from: u64,
    is_begun: bool,
    /// None before the first request and after an error.
    reader: Option<TarEntries>,
}

impl Read for Rest {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if !self.is_begun {
            self.is_begun = true;
            let mut passed = lock(&self.passed);
            if passed.reader.as_ref().is_none_or(|reader| reader.position() != self.from) {
                passed.pass_to(self.data)?;
            }
            self.reader = passed.reader.take();
        }
        let result = self.reader.as_mut().ok_or(io::ErrorKind::UnexpectedEof)?.read(out);
        if result.is_err() {
            self.reader = None;
        }
        result
    }
}

impl Drop for Rest {
    fn drop(&mut self) {
        if let Some(reader) = self.reader.take() {
            let mut passed = lock(&self.passed);
            passed.note_decoded(self.from, &reader);
            passed.reader = Some(reader);
        }
    }
}

fn lock(passed: &Mutex<Passed>) -> MutexGuard<'_, Passed> {
    passed.lock().unwrap_or_else(PoisonError::into_inner)
}
