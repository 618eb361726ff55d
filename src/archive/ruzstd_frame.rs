//! Zstandard decoding with the crate ruzstd, where the library in C cannot be built.

use std::fmt;
use std::io::{self, BufRead, Read};

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// A decoder of frames.
pub(super) struct ZstdDecoder<R> {
    input: R,
    frame: Box<FrameDecoder>,
    place: Place,
    is_single: bool,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Place {
    Start,
    Inside,
    Between,
    End,
}

/// Creates a decoder that rejects windows above 2^`window_log_max` bytes, which bounds its memory.
#[expect(clippy::unnecessary_wraps, reason = "the decoder in C can fail")]
pub(super) fn decoder<R: BufRead>(input: R, window_log_max: u32) -> io::Result<ZstdDecoder<R>> {
    let mut frame = FrameDecoder::new();
    frame.set_max_window_size(1 << window_log_max);
    Ok(ZstdDecoder { input, frame: Box::new(frame), place: Place::Start, is_single: false })
}

impl<R> ZstdDecoder<R> {
    pub(super) fn single_frame(self) -> Self {
        Self { is_single: true, ..self }
    }

    pub(super) fn get_ref(&self) -> &R {
        &self.input
    }

    pub(super) fn into_inner(self) -> R {
        self.input
    }
}

impl<R: BufRead> ZstdDecoder<R> {
    /// Runs a step of the decoder. An error of the input is returned as it is.
    fn step<T>(
        &mut self,
        step: impl FnOnce(&mut FrameDecoder, &mut Tapped<'_, R>) -> Result<T, FrameDecoderError>,
    ) -> Result<Result<T, FrameDecoderError>, io::Error> {
        let mut input = Tapped { inner: &mut self.input, failed: None };
        let result = step(&mut self.frame, &mut input);
        match (result, input.failed) {
            (Err(_), Some(failed)) => Err(failed),
            (result, _) => Ok(result),
        }
    }

    /// Begins a frame. Returns whether it has content.
    fn begin(&mut self) -> io::Result<bool> {
        match self.step(|frame, input| frame.reset(input))? {
            Ok(()) => Ok(true),
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = u64::from(length);
                let skipped = io::copy(&mut (&mut self.input).take(length), &mut io::sink())?;
                if skipped < length { Err(io::ErrorKind::UnexpectedEof.into()) } else { Ok(false) }
            }
            Err(FrameDecoderError::WindowSizeTooBig { .. }) => Err(io::Error::other(WideWindow)),
            Err(error) => Err(io::Error::other(error.to_string())),
        }
    }
}

impl<R: BufRead> Read for ZstdDecoder<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.place {
                Place::End => return Ok(0),
                Place::Between if self.is_single || self.input.fill_buf()?.is_empty() => {
                    self.place = Place::End;
                }
                Place::Start | Place::Between => {
                    self.place = if self.begin()? { Place::Inside } else { Place::Between };
                }
                Place::Inside => {
                    while self.frame.can_collect() == 0 && !self.frame.is_finished() {
                        let one = BlockDecodingStrategy::UptoBlocks(1);
                        self.step(|frame, input| frame.decode_blocks(input, one))?
                            .map_err(|error| io::Error::other(error.to_string()))?;
                    }
                    let count = self.frame.read(buffer)?;
                    if count > 0 || buffer.is_empty() {
                        return Ok(count);
                    }
                    let stated = self.frame.get_checksum_from_data();
                    if stated.is_some() && stated != self.frame.get_calculated_checksum() {
                        return Err(io::Error::other("the checksum of the frame is wrong"));
                    }
                    self.place = Place::Between;
                }
            }
        }
    }
}

/// An input that keeps its error, which the decoder would turn into text.
struct Tapped<'r, R> {
    inner: &'r mut R,
    failed: Option<io::Error>,
}

impl<R: Read> Read for Tapped<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let failed = match self.inner.read(buffer) {
            Ok(0) if !buffer.is_empty() => io::ErrorKind::UnexpectedEof.into(),
            Err(error) if error.kind() != io::ErrorKind::Interrupted => error,
            read => return read,
        };
        let kind = failed.kind();
        self.failed = Some(failed);
        Err(kind.into())
    }
}

/// The error of a frame whose window is too wide.
#[derive(Debug)]
struct WideWindow;

impl fmt::Display for WideWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the window of the frame is too wide")
    }
}

impl std::error::Error for WideWindow {}

/// Returns whether a decoder rejected a frame because of its window, before allocating it.
pub(super) fn is_wide_window(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<WideWindow>)
}
