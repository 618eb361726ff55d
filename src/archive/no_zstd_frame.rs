//! What is in the place of the decoder of Zstandard where the crate zstd is not built in.

use std::convert::Infallible;
use std::io::{self, BufRead, Read};

/// A decoder that nobody can make.
pub(super) struct ZstdDecoder<R>(R, Infallible);

/// Refuses to decode.
pub(super) fn decoder<R: BufRead>(_: R, _: u32) -> io::Result<ZstdDecoder<R>> {
    let reason = "what is compressed with zstd needs the feature `zstd` of the crate ra-pack";
    Err(io::Error::other(crate::error::Error::Unsupported(reason.to_owned())))
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

/// Whether a decoder refuses a frame for its window.
pub(super) fn is_wide_window(_: &io::Error) -> bool {
    false
}
