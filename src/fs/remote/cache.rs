//! The blocks of an object that were read, and those that are being read.
//!
//! A read of bytes that are not cached requests at least [`NEAR`] bytes. If the caller has announced that it reads a
//! whole range, the range is requested in large parts, several at once, ahead of the reader.

use std::collections::{BTreeMap, VecDeque};
use std::io;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::object::{Fault, Object, change};
use super::runtime::spawn;
use crate::error::Error;
use crate::fs::Version;
use crate::fs::source::Source;
use crate::progress::Progress;

/// Minimum number of bytes per request: the headers and the content of a small member.
const NEAR: u64 = 64 * 1024;
/// Maximum number of bytes per request of a range that is read from its beginning to its end. Longer ranges are requested
/// in parts.
const PART: u64 = 8 * 1024 * 1024;
/// Maximum number of bytes per request of a range that is needed as a whole, such as a directory.
const LONGEST: u64 = 16 * 1024 * 1024;
/// Maximum number of bytes in memory: cached, and being received.
const KEPT: u64 = 32 * 1024 * 1024;
/// Number of parts that are requested ahead of a reader.
const AHEAD: u64 = 1;
/// Maximum number of threads that read at distant places. Each place takes memory.
const READERS: usize = 2;
/// Maximum number of requests at once.
const AT_ONCE: usize = 8;
/// Number of announced ranges that are remembered.
const ANNOUNCED: usize = 64;
/// Interval of checks for cancellation.
const CHECK: Duration = Duration::from_millis(50);

/// An object with its cached blocks.
pub(crate) struct CachedObject {
    object: Object,
    cache: Arc<Cache>,
}

#[derive(Default)]
struct Cache {
    state: Mutex<CacheState>,
    changed: Condvar,
}

#[derive(Default)]
struct CacheState {
    /// Blocks by their offsets. They do not overlap.
    blocks: BTreeMap<u64, Block>,
    /// Total length of the blocks.
    size: u64,
    /// Number of blocks that are being received.
    pending: usize,
    /// Counts reads, to know which block was read last.
    clock: u64,
    announced: VecDeque<Range<u64>>,
    /// End of the object, if it is announced as a whole.
    whole: Option<u64>,
}

struct Block {
    end: u64,
    /// None while it is being received.
    bytes: Option<Arc<Vec<u8>>>,
    used: u64,
    /// Whether its last byte was read.
    is_read: bool,
    fault: Option<Fault>,
}

impl CachedObject {
    /// Caches an object whose last bytes were read.
    pub(super) fn new(object: Object, tail: Vec<u8>) -> Self {
        let cache = Arc::<Cache>::default();
        let start = object.len().saturating_sub(tail.len() as u64);
        if !tail.is_empty() {
            cache.lock().insert(start, object.len());
            cache.finish(start, Ok(tail));
        }
        Self { object, cache }
    }

    /// Requests the parts after `offset` that are announced and will be needed soon.
    fn request_ahead(&self, state: &mut CacheState, offset: u64) -> io::Result<()> {
        let Some(end) = state.announced_end(offset) else { return Ok(()) };
        let until = end.min(offset.saturating_add(AHEAD * PART));
        let mut at = offset;
        while at < until {
            at = match state.find(at) {
                Some((_, block)) => block.end,
                None => {
                    // Small last parts are requested together with those before them.
                    let next = end.min(at.saturating_add(PART));
                    let is_due = next - at >= PART || next >= end || at < offset + PART;
                    let has_room = state.pending < AT_ONCE && state.make_room(next - at, false);
                    if !is_due || !has_room {
                        break;
                    }
                    self.request(state, at..next)?
                }
            };
        }
        Ok(())
    }

    /// Requests a range up to the next block that is not small. Returns its end.
    fn request(&self, state: &mut CacheState, range: Range<u64>) -> io::Result<u64> {
        let end = state.free_until(range.start, range.end.min(self.object.len()));
        state.make_room(end - range.start, true);
        state.insert(range.start, end);
        let (object, cache) = (self.object.clone(), Arc::clone(&self.cache));
        let start = range.start;
        let spawned = spawn(async move {
            let bytes = object.fetch(start..end).await;
            cache.finish(start, bytes);
        });
        if spawned.is_err() {
            state.remove(start);
            state.pending = state.pending.saturating_sub(1);
        }
        spawned.map(|()| end)
    }
}

impl Source for CachedObject {
    fn len(&self) -> io::Result<u64> {
        Ok(self.object.len())
    }

    fn version(&self) -> io::Result<Version> {
        Ok(self.object.version())
    }

    fn read_at(&self, out: &mut [u8], offset: u64, progress: &Progress) -> io::Result<usize> {
        if out.is_empty() || offset >= self.object.len() {
            return Ok(0);
        }
        let mut state = self.cache.lock();
        loop {
            match state.find(offset) {
                Some((start, Block { bytes: Some(bytes), .. })) => {
                    let (bytes, from) = (Arc::clone(bytes), place(offset - start));
                    let rest = bytes.get(from..).unwrap_or_default();
                    let count = rest.len().min(out.len());
                    state.touch(start, offset + count as u64);
                    self.request_ahead(&mut state, offset)?;
                    drop(state);
                    out.split_at_mut(count).0.copy_from_slice(rest.split_at(count).0);
                    return Ok(count);
                }
                Some((start, Block { fault: Some(_), .. })) => {
                    let fault = state.remove(start).and_then(|block| block.fault);
                    return Err(fault.map_or_else(|| io::ErrorKind::Other.into(), io::Error::from));
                }
                Some(_) => state = self.cache.pause(state, progress)?,
                None if state.pending >= AT_ONCE => state = self.cache.pause(state, progress)?,
                None => {
                    let least =
                        NEAR.max(out.len() as u64).max(state.twice_before(offset)).min(PART);
                    let end = match state.announced_end(offset) {
                        Some(end) => end.min(offset + PART),
                        None => offset.saturating_add(least),
                    };
                    self.request(&mut state, offset..end)?;
                }
            }
        }
    }

    fn costly_seek(&self) -> bool {
        true
    }

    fn most_readers(&self) -> usize {
        READERS
    }

    fn announce(&self, range: Range<u64>) {
        let mut state = self.cache.lock();
        if range == (0..self.object.len()) {
            state.whole = Some(range.end);
            return;
        }
        // If all is read, short ranges are requested together with their neighbours.
        let is_short = state.whole.is_some() && range.end.saturating_sub(range.start) < PART;
        if range.is_empty() || is_short || state.announced.contains(&range) {
            return;
        }
        if state.announced.len() >= ANNOUNCED {
            state.announced.pop_front();
        }
        state.announced.push_back(range);
    }

    fn is_announced(&self, range: Range<u64>) -> bool {
        let state = self.cache.lock();
        state.announced.contains(&range) || (state.whole == Some(range.end) && range.start == 0)
    }

    fn is_read_whole(&self) -> bool {
        self.is_announced(0..self.object.len())
    }

    fn is_at_hand(&self, range: Range<u64>) -> bool {
        let state = self.cache.lock();
        let (mut at, until) = (range.start, range.end.min(self.object.len()));
        while at < until {
            match state.find(at) {
                Some((_, Block { end, bytes: Some(_), .. })) => at = *end,
                _ => return false,
            }
        }
        true
    }

    fn change(&self, error: &io::Error) -> Option<String> {
        change(error)
    }

    fn fetch(&self, ranges: &[Range<u64>], gap: u64, progress: &Progress) -> io::Result<()> {
        let mut merged: Vec<Range<u64>> = Vec::new();
        for range in ranges {
            let end = range.end.min(self.object.len());
            match merged.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(gap) => {
                    last.end = last.end.max(end);
                }
                _ => merged.push(range.start..end),
            }
        }
        for range in &merged {
            let mut at = range.start;
            while at < range.end {
                let mut state = self.cache.lock();
                while state.pending >= AT_ONCE {
                    state = self.cache.pause(state, progress)?;
                }
                at = match state.find(at) {
                    Some((_, block)) => block.end,
                    None => {
                        self.request(&mut state, at..range.end.min(at.saturating_add(LONGEST)))?
                    }
                };
            }
        }
        for range in &merged {
            let mut at = range.start;
            let mut state = self.cache.lock();
            // A block that was dropped is requested again by the read that needs it.
            while let Some((start, block)) = state.find(at).filter(|_| at < range.end) {
                if let Some(fault) = block.fault.clone() {
                    state.remove(start);
                    return Err(fault.into());
                }
                if block.bytes.is_none() {
                    state = self.cache.pause(state, progress)?;
                } else {
                    at = block.end;
                }
            }
        }
        Ok(())
    }
}

impl Cache {
    fn lock(&self) -> MutexGuard<'_, CacheState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a change, and checks for cancellation.
    fn pause<'c>(
        &self,
        state: MutexGuard<'c, CacheState>,
        progress: &Progress,
    ) -> io::Result<MutexGuard<'c, CacheState>> {
        progress.check().map_err(Error::from)?;
        let waited = self.changed.wait_timeout(state, CHECK);
        Ok(waited.unwrap_or_else(PoisonError::into_inner).0)
    }

    /// Stores the bytes of a pending block, or its fault.
    fn finish(&self, start: u64, bytes: Result<Vec<u8>, Fault>) {
        let mut state = self.lock();
        state.pending = state.pending.saturating_sub(1);
        if let Some(block) = state.blocks.get_mut(&start) {
            match bytes {
                Ok(bytes) => block.bytes = Some(Arc::new(bytes)),
                Err(fault) => block.fault = Some(fault),
            }
        }
        drop(state);
        self.changed.notify_all();
    }
}

impl CacheState {
    /// Returns the block with the byte at `offset`, and its beginning.
    fn find(&self, offset: u64) -> Option<(u64, &Block)> {
        let (start, block) = self.blocks.range(..=offset).next_back()?;
        (offset < block.end).then_some((*start, block))
    }

    /// Returns twice the length of the block that ends at `offset`: a reader that goes on reads larger blocks.
    fn twice_before(&self, offset: u64) -> u64 {
        let before = self.blocks.range(..offset).next_back();
        before.filter(|(_, block)| block.end == offset).map_or(0, |(start, _)| 2 * (offset - start))
    }

    /// Returns the end of the part of a range that can be requested at once. Small blocks in it, such as headers, are
    /// dropped: receiving them again costs less than dividing the request.
    fn free_until(&mut self, from: u64, to: u64) -> u64 {
        while let Some((start, block)) = self.blocks.range(from..to).next() {
            let start = *start;
            if block.bytes.is_none() || block.end - start > NEAR {
                return start;
            }
            self.remove(start);
        }
        to
    }

    fn insert(&mut self, start: u64, end: u64) {
        self.clock += 1;
        let block = Block { end, bytes: None, used: self.clock, is_read: false, fault: None };
        self.blocks.insert(start, block);
        self.size += end - start;
        self.pending += 1;
    }

    fn remove(&mut self, start: u64) -> Option<Block> {
        let block = self.blocks.remove(&start)?;
        self.size -= block.end - start;
        Some(block)
    }

    fn touch(&mut self, start: u64, until: u64) {
        self.clock += 1;
        if let Some(block) = self.blocks.get_mut(&start) {
            block.used = self.clock;
            block.is_read |= until >= block.end;
        }
    }

    /// Returns the end of the announced range around `offset` that ends first. A reader of a large member does not read
    /// ahead into the next one, which another thread may have read.
    fn announced_end(&self, offset: u64) -> Option<u64> {
        let around = self.announced.iter().filter(|range| range.contains(&offset));
        around.map(|range| range.end).chain(self.whole).filter(|end| offset < *end).min()
    }

    /// Drops blocks until `more` bytes fit: first those read to their end, then those read longest ago. Only a read
    /// that waits for its bytes may drop a block that is not read to its end. Returns whether there is room.
    fn make_room(&mut self, more: u64, is_waiting: bool) -> bool {
        while self.size.saturating_add(more) > KEPT {
            let complete = self.blocks.iter().filter(|(_, block)| block.bytes.is_some());
            let oldest = complete.min_by_key(|(_, block)| (!block.is_read, block.used));
            match oldest.map(|(start, block)| (*start, block.is_read)) {
                Some((start, is_read)) if is_read || is_waiting => self.remove(start),
                _ => return false,
            };
        }
        true
    }
}

/// Returns an offset in a block, which is in memory.
fn place(offset: u64) -> usize {
    usize::try_from(offset).unwrap_or(usize::MAX)
}
