//! Zstandard decoding with the crate zstd.

use std::io::{self, BufRead};

/// A decoder of frames.
pub(super) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

/// Creates a decoder that rejects windows above 2^`window_log_max` bytes, which bounds its memory.
pub(super) fn decoder<R: BufRead>(input: R, window_log_max: u32) -> io::Result<ZstdDecoder<R>> {
    let mut decoder = ZstdDecoder::with_buffer(input)?;
    decoder.window_log_max(window_log_max)?;
    Ok(decoder)
}

/// Returns whether a decoder rejected a frame because of its window, before allocating it.
pub(super) fn is_wide_window(error: &io::Error) -> bool {
    /// `ZSTD_error_frameParameter_windowTooLarge`, as returned by zstd.
    const WINDOW_TOO_LARGE: usize = 0_usize.wrapping_sub(16);
    error.to_string() == zstd::zstd_safe::get_error_name(WINDOW_TOO_LARGE)
}
