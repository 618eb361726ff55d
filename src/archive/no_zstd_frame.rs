//! A replacement for the Zstandard decoder without the crate zstd.

use std::convert::Infallible;
use std::io::{self, BufRead, Read};

/// A decoder that cannot be constructed.
pub(super) struct ZstdDecoder<R>(R, Infallible);

/// Always fails.
pub(super) fn decoder<R: BufRead>(_: R, _: u32) -> io::Result<ZstdDecoder<R>> {
    let reason = "decoding Zstandard needs the feature `full` of the crate ra-pack";
    Err(io::Error::other(crate::error::Error::unsupported(reason.to_owned())))
}

impl<R> ZstdDecoder<R> {
    pub(super) fn single_frame(self) -> Self {
        match self.1 {}
    }

    pub(super) fn get_ref(&self) -> &R {
        match self.1 {}
    }

    pub(super) fn into_inner(self) -> R {
        match self.1 {}
    }
}

impl<R> Read for ZstdDecoder<R> {
    fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
        match self.1 {}
    }
}

/// Returns whether a decoder rejected a frame because of its window.
pub(super) fn is_wide_window(_: &io::Error) -> bool {
    false
}
