//! Compressed streams: bytes to gzip or zstd and back, whatever they mean.

mod decoder;
mod encoder;
#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use crate::file_kind::FileKind;

pub(crate) use self::decoder::{
    Oddity, StreamDecoder, StreamFault, ZSTD_MEMBER_WINDOW_LOG_MAX, is_wide_window,
};
pub(crate) use self::encoder::{Encoder, Engine};

/// How a stream is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StreamCompression {
    None,
    Gzip,
    Zstd,
}

impl StreamCompression {
    /// The compression of a file of that kind.
    pub(crate) fn of(kind: FileKind) -> Self {
        match kind {
            FileKind::Gzip => Self::Gzip,
            FileKind::Zstd => Self::Zstd,
            _ => Self::None,
        }
    }

    /// The name of the format, for messages.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "plain",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
        }
    }

    /// The levels it can be asked for.
    ///
    /// Those of zstd above 19 are left out: they need gigabytes for every job.
    pub(crate) fn levels(self) -> RangeInclusive<i32> {
        match self {
            Self::None => 0..=0,
            Self::Gzip => 1..=9,
            Self::Zstd => 1..=19,
        }
    }

    /// The level where none is asked for: what the tools of the formats take too.
    pub(crate) fn default_level(self) -> i32 {
        match self {
            Self::None => 0,
            Self::Gzip => 6,
            Self::Zstd => 3,
        }
    }

    /// Whether a member or frame can begin with this byte.
    fn begins_with(self, byte: u8) -> bool {
        match self {
            Self::None => true,
            Self::Gzip => byte == 0x1f,
            Self::Zstd => matches!(byte, 0x28 | 0x50..=0x5f),
        }
    }
}
