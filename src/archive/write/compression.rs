//! Compression of new members.

use std::io;

use crate::archive::stream::{Deflater, Engine, SMALL_ZSTD_JOB, StreamCompression};
use crate::archive::{Container, Method};
use crate::error::{Error, Result};

/// The compression of zip members or of a compressed tar.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Compression {
    /// Store zip members without compression; compress a tar at the default level of its format.
    #[default]
    Stored,
    /// Deflate with a level from 2 to 9.
    Deflate {
        /// The level; 6 if `None`.
        level: Option<u32>,
    },
    /// Zstandard with a level from 1 to 19.
    Zstd {
        /// The level; 3 if `None`.
        level: Option<i32>,
    },
}

impl Compression {
    /// Returns the method of members with this compression.
    pub(super) fn method(self) -> Method {
        match self {
            Self::Stored => Method::Stored,
            Self::Deflate { .. } => Method::Deflate,
            Self::Zstd { .. } => Method::Zstd,
        }
    }

    pub(super) fn level(self) -> Option<i32> {
        match self {
            Self::Stored => None,
            Self::Deflate { level } => level.map(u32::cast_signed),
            Self::Zstd { level } => level,
        }
    }

    /// Returns whether one Zstandard compressor needs tens of megabytes.
    pub(super) fn is_strong(self) -> bool {
        matches!(self, Self::Zstd { level: Some(10..) })
    }

    /// Returns the number of large members to compress at once, each by one thread. It limits the memory of compressors
    /// and packed data to some tens of megabytes.
    pub(super) fn most_large(self) -> usize {
        match self {
            Self::Stored | Self::Deflate { .. } => 6,
            Self::Zstd { .. } if self.is_strong() => 2,
            Self::Zstd { .. } => 3,
        }
    }

    /// Checks that the compression has this level and the container supports the compression, before anything is
    /// packed.
    pub(crate) fn check(self, container: Container) -> Result<()> {
        let level = match self {
            Self::Zstd { level } => StreamCompression::Zstd.checked_level(level).map(|_| ()),
            Self::Deflate { level: Some(found) } if !(2..=9).contains(&found) => Err(
                io::Error::other(format!("expected a deflate level from 2 to 9, found {found}")),
            ),
            Self::Stored | Self::Deflate { .. } => Ok(()),
        };
        level.map_err(|error| Error::options(format!("cannot compress: {error}")))?;
        match (container, self) {
            (Container::Zip, _)
            | (_, Self::Stored)
            | (Container::TarGz, Self::Deflate { .. })
            | (Container::TarZst, Self::Zstd { .. }) => Ok(()),
            _ => Err(Error::options(format!(
                "a {container} cannot be compressed in this way; to compress a tar, \
                 end the name of the archive in .tar.gz (deflate) or .tar.zst (zstd)"
            ))),
        }
    }

    /// Creates a compressor of large members, on the calling thread or on up to `threads` additional ones. The output
    /// depends on whether there is one thread or several, but not on how many.
    pub(super) fn engine(self, threads: Option<usize>) -> io::Result<Engine> {
        match self {
            Self::Stored => Ok(Engine::None),
            Self::Deflate { level } => {
                let level = level.unwrap_or(DEFLATE_LEVEL);
                Ok(Engine::Deflate(Deflater::new(level, threads.unwrap_or(1))))
            }
            Self::Zstd { level } => {
                let most = if self.is_strong() { 2 } else { 4 };
                Engine::zstd(level, threads.map(|threads| (threads.min(most), SMALL_ZSTD_JOB)))
            }
        }
    }
}

pub(super) const DEFLATE_LEVEL: u32 = 6;
pub(super) const ZSTD_LEVEL: i32 = 3;
