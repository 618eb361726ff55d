//! Zstandard frames, decoded by the crate zstd.

use std::io::{self, BufRead};

/// Decodes frames.
pub(super) type ZstdDecoder<R> = zstd::stream::read::Decoder<'static, R>;

/// A decoder of frames whose windows have at most so many bits, which bounds the memory that it takes.
pub(super) fn decoder<R: BufRead>(input: R, window_log_max: u32) -> io::Result<ZstdDecoder<R>> {
    let mut decoder = ZstdDecoder::with_buffer(input)?;
    decoder.window_log_max(window_log_max)?;
    Ok(decoder)
}

/// Whether a zstd decoder refuses a frame for the window that it needs, for which it takes no memory.
pub(super) fn is_wide_window(error: &io::Error) -> bool {
    /// `ZSTD_error_frameParameter_windowTooLarge`, as the functions of zstd return it.
    const WINDOW_TOO_LARGE: usize = 0_usize.wrapping_sub(16);
    error.to_string() == zstd::zstd_safe::get_error_name(WINDOW_TOO_LARGE)
}
