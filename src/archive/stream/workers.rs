//! Threads that compress blocks side by side and give them back in order.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use flate2::Compression;

use super::gzip::{Block, Compressed, Compressor};

/// Blocks under way for each thread, which bounds the memory: one in work, one waiting on either side.
const BLOCKS_PER_THREAD: usize = 3;

/// Where blocks are compressed.
pub(super) enum Workers {
    /// In the calling thread; one block at most waits to be taken.
    Here {
        compressor: Box<Compressor>,
        done: Option<Compressed>,
    },
    Threads(Pool),
}

/// Threads that take blocks from one queue; the results are taken in the order of the blocks.
pub(super) struct Pool {
    queue: Option<Sender<Job>>,
    results: VecDeque<Receiver<io::Result<Compressed>>>,
    limit: usize,
    threads: Vec<JoinHandle<()>>,
}

type Job = (Block, SyncSender<io::Result<Compressed>>);

impl Workers {
    /// `jobs` threads, or none but the calling one where one is enough.
    pub(super) fn new(level: Compression, jobs: usize) -> Self {
        let here = || Self::Here { compressor: Box::new(Compressor::new(level)), done: None };
        if jobs <= 1 {
            return here();
        }
        let (queue, blocks) = channel::<Job>();
        let blocks = Arc::new(Mutex::new(blocks));
        let limit = jobs.saturating_mul(BLOCKS_PER_THREAD);
        // Whole before the first thread starts, so that dropping it ends those that did.
        let mut pool =
            Pool { queue: Some(queue), results: VecDeque::new(), limit, threads: Vec::new() };
        for _ in 0..jobs {
            let blocks = Arc::clone(&blocks);
            let work = move || {
                // A thread that gets no block needs none.
                let mut compressor = None;
                loop {
                    let job = blocks.lock().unwrap_or_else(PoisonError::into_inner).recv();
                    let Ok((block, result)) = job else { return };
                    // Nobody waits for it any more once the encoder is gone.
                    let compressor = compressor.get_or_insert_with(|| Compressor::new(level));
                    let _ = result.send(compressor.compress(block));
                }
            };
            match thread::Builder::new().name("gzip".to_owned()).spawn(work) {
                Ok(thread) => pool.threads.push(thread),
                // A system that has no more threads to give slows the work down, and does not stop it.
                Err(_) => break,
            }
        }
        if pool.threads.is_empty() { here() } else { Self::Threads(pool) }
    }

    /// Hands a block over. [`take`](Self::take) must have returned `None` before.
    pub(super) fn submit(&mut self, block: Block) -> io::Result<()> {
        match self {
            Self::Here { compressor, done } => {
                *done = Some(compressor.compress(block)?);
                Ok(())
            }
            Self::Threads(pool) => {
                let (sender, receiver) = sync_channel(1);
                pool.results.push_back(receiver);
                match &pool.queue {
                    Some(queue) => queue.send((block, sender)).map_err(|_| stopped()),
                    None => Err(stopped()),
                }
            }
        }
    }

    /// The next block in order if it is finished, waiting for it only if too many are under way.
    pub(super) fn take(&mut self) -> io::Result<Option<Compressed>> {
        match self {
            Self::Here { done, .. } => Ok(done.take()),
            Self::Threads(pool) if pool.results.len() >= pool.limit => pool.wait(),
            Self::Threads(pool) => match pool.results.front().map(Receiver::try_recv) {
                None | Some(Err(TryRecvError::Empty)) => Ok(None),
                Some(Err(TryRecvError::Disconnected)) => Err(stopped()),
                Some(Ok(compressed)) => {
                    pool.results.pop_front();
                    compressed.map(Some)
                }
            },
        }
    }

    /// The next block in order, or `None` when all have been taken.
    pub(super) fn wait(&mut self) -> io::Result<Option<Compressed>> {
        match self {
            Self::Here { done, .. } => Ok(done.take()),
            Self::Threads(pool) => pool.wait(),
        }
    }
}

impl Pool {
    fn wait(&mut self) -> io::Result<Option<Compressed>> {
        match self.results.pop_front() {
            Some(result) => result.recv().map_err(|_| stopped())?.map(Some),
            None => Ok(None),
        }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.queue = None;
        for thread in self.threads.drain(..) {
            // A panic shows as a block that never comes.
            let _ = thread.join();
        }
    }
}

fn stopped() -> io::Error {
    io::Error::other("a compressing thread has stopped")
}
