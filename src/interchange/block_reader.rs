//! A reader of blocks.

use std::io::{self, Read};

use super::Block;

/// A reader for the blocks that a function produces, like [`Block::read`].
pub(crate) struct BlockReader<F>(Block, F);

impl<F: FnMut(&mut Vec<u8>) -> io::Result<()>> BlockReader<F> {
    pub(crate) fn new(fill: F) -> Self {
        Self(Block::default(), fill)
    }
}

impl<F: FnMut(&mut Vec<u8>) -> io::Result<()>> Read for BlockReader<F> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        self.0.read(out, &mut self.1)
    }
}
