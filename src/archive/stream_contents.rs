//! The contents of a compressed tar, which pass by in its order, for someone who asks for them in another.

use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::io::{self, BufReader, Cursor, Read};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::data::MemberReader;
use super::tarball::TarEntries;

/// The longest content that is kept whole: nearly all descriptions and manifests, and many arrays.
const WHOLE: u64 = 8 << 20;

/// Bytes that are kept of longer ones from their beginning: more than headers have.
const START: u64 = 64 << 10;

/// Bytes that are kept of all contents together. The last that passed are kept: `create` writes the manifest last, and
/// it is asked for first.
const KEPT: usize = 16 << 20;

/// Memory for a kept content besides its bytes.
const ENTRY: usize = 128;

/// Where a compressed tar was read last, and what passed by. Whoever asks in about the order of the tar has it
/// decoded once.
pub(super) struct StreamContents(Arc<Mutex<Passed>>);

impl fmt::Debug for StreamContents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StreamContents")
    }
}

struct Passed {
    reader: Option<TarEntries>,
    /// The starts of contents by where these begin in the tar.
    starts: HashMap<u64, Arc<[u8]>>,
    /// Where these begin, in the order in which they passed.
    order: VecDeque<u64>,
    /// Bytes that these take.
    kept: usize,
    decoded: u64,
    /// Begins to read the tar.
    begin: Box<dyn Fn() -> TarEntries + Send>,
}

impl StreamContents {
    /// Those of a tar that is read by what `begin` gives; nothing is read yet.
    pub(super) fn new(begin: impl Fn() -> TarEntries + Send + 'static) -> Self {
        let (starts, order, begin) = (HashMap::new(), VecDeque::new(), Box::new(begin));
        let passed = Passed { reader: None, starts, order, kept: 0, decoded: 0, begin };
        Self(Arc::new(Mutex::new(passed)))
    }

    /// Keeps the start of a content of `size` bytes that begins at `data`, for whoever passes by.
    pub(super) fn keep(&self, data: u64, size: u64, content: &mut impl Read) -> io::Result<()> {
        lock(&self.0).keep(data, size, content).map(drop)
    }

    /// The content of `size` bytes that begins at `data`; `None` when nothing begins there.
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

    /// Bytes of the tar that were decoded to reach contents.
    pub(super) fn decoded(&self) -> u64 {
        lock(&self.0).decoded
    }
}

impl Passed {
    fn keep(&mut self, data: u64, size: u64, content: &mut impl Read) -> io::Result<Arc<[u8]>> {
        let length = if size > WHOLE { START } else { size };
        // A size is a claim, by which little is taken at once.
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

    /// Reads on to the start of the content that begins at `data`, from the beginning if it has passed.
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

/// The rest of a content behind its start, for whoever reads so far. The reader is given back, since what is asked
/// for next mostly follows.
struct Rest {
    passed: Arc<Mutex<Passed>>,
    data: u64,
    from: u64,
    is_begun: bool,
    /// None before the beginning and after an error.
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
