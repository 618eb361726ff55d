//! Decoding a stream in a thread of its own, a few blocks ahead of whoever reads it.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread;

/// Bytes of one block.
const BLOCK: usize = 256 * 1024;
/// Blocks that are decoded ahead.
const AHEAD: usize = 4;

/// A reader whose source is read by another thread.
#[derive(Debug)]
pub(super) struct ReadAhead {
    blocks: Receiver<io::Result<Vec<u8>>>,
    block: Vec<u8>,
    position: usize,
}

impl ReadAhead {
    /// Starts reading `source`. The thread ends with the source, or when this is dropped.
    pub(super) fn new(mut source: impl Read + Send + 'static) -> Self {
        let (send, blocks) = sync_channel(AHEAD);
        thread::spawn(move || {
            loop {
                let mut block = Vec::with_capacity(BLOCK);
                let limit = u64::try_from(BLOCK).unwrap_or(u64::MAX);
                let result = source.by_ref().take(limit).read_to_end(&mut block);
                let ended = !matches!(result, Ok(count) if count > 0);
                let failed = result.is_err();
                // What was decoded before an error is still worth reading.
                if !block.is_empty() && send.send(Ok(block)).is_err() {
                    return;
                }
                if let Err(error) = result {
                    let _ = send.send(Err(error));
                }
                if ended || failed {
                    return;
                }
            }
        });
        Self { blocks, block: Vec::new(), position: 0 }
    }
}

impl Read for ReadAhead {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        while self.position >= self.block.len() {
            match self.blocks.recv() {
                Ok(block) => {
                    self.block = block?;
                    self.position = 0;
                }
                Err(_) => return Ok(0),
            }
        }
        let mut ready = self.block.get(self.position..).unwrap_or_default();
        let count = ready.read(out)?;
        self.position = self.position.saturating_add(count);
        Ok(count)
    }
}
