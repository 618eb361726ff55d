//! The members of an archive, as their container declares them.

use std::fmt;
use std::io::BufRead;
use std::sync::Arc;

use serde::{Serialize, Serializer};

#[cfg(feature = "full")]
use crate::error::Result;
use crate::finding::{Code, Finding};
use crate::fs::MemberKind;
use crate::path::InvalidPath;

/// The compression method of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename_all = "kebab-case"))]
#[non_exhaustive]
pub enum Method {
    /// Not compressed.
    Stored,
    /// Compressed individually with deflate.
    Deflate,
    /// Compressed individually with Zstandard.
    Zstd,
    /// Compressed together with other members, as in a compressed tar.
    Solid,
    /// An unsupported method of the zip format, by its number.
    #[cfg_attr(test, schemars(untagged, with = "String", extend("pattern" = "^method [0-9]+$")))]
    Other(u16),
}

impl Method {
    /// Returns whether the member is compressed individually, so that it has a packed size of its own.
    pub fn is_compressed(self) -> bool {
        !matches!(self, Self::Stored | Self::Solid)
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Stored => "stored",
            Self::Deflate => "deflate",
            Self::Zstd => "zstd",
            Self::Solid => "solid",
            Self::Other(number) => return write!(f, "method {number}"),
        })
    }
}

/// Serializes as displayed.
impl Serialize for Method {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A member as declared by its container. Its numbers are not verified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Member {
    /// The name as found, without the slash at the end of a directory's name. It is shared with other users of the
    /// member.
    pub(crate) name: Arc<str>,
    pub(crate) kind: MemberKind,
    /// Length of the content in bytes.
    pub(crate) size: u64,
    /// Length in the archive in bytes.
    pub(crate) packed_size: u64,
    pub(crate) method: Method,
    pub(crate) location: Location,
}

impl Member {
    /// Returns the name and kind.
    pub(crate) fn named(&self) -> (&str, MemberKind) {
        (&self.name, self.kind)
    }

    /// Returns the offset of the member's bytes, for sorting in the order of the archive. Members without an offset
    /// come last.
    pub(crate) fn start(&self) -> u64 {
        match self.location {
            Location::At { data } | Location::Packed { data, .. } | Location::Stream { data } => {
                data
            }
            Location::Named | Location::Listed => u64::MAX,
        }
    }

    /// Returns the offset of the content in the archive file, if it is stored there.
    pub(crate) fn data_offset(&self) -> Option<u64> {
        match self.location {
            Location::Packed { data, .. } if self.method == Method::Stored => Some(data),
            Location::At { data } => Some(data),
            _ => None,
        }
    }
}

/// The location of a member's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Location {
    /// The file of that name in the directory.
    Named,
    /// The bytes of the archive from the offset `data`.
    At { data: u64 },
    /// The packed bytes of a zip member with verified headers.
    Packed { data: u64, crc: u32 },
    /// Known only after looking up the member by name.
    Listed,
    /// At the offset `data` of the decoded archive, which must be read from its beginning.
    Stream { data: u64 },
}

/// The result of a scan of an archive.
#[derive(Debug)]
pub(crate) struct Scan<K> {
    /// The values kept for each member.
    pub(crate) members: Vec<K>,
    /// The problems of the container itself.
    pub(crate) findings: Vec<Finding>,
}

/// Visits one member, with its content if it is a readable file, and returns what to keep of it. Keep little: the
/// results of all members are in memory together.
pub(crate) type Visit<'a, K> = dyn Fn(&Member, Option<&mut dyn BufRead>) -> K + Sync + 'a;

/// The result of visiting a member of a damaged archive.
#[cfg(feature = "full")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    /// It did not read the content.
    Unread,
    Unconfirmed,
    Confirmed,
}

/// A visitor of files in a damaged archive. The content ends with an error where it cannot be read.
#[cfg(feature = "full")]
pub(crate) type Take<'t> = dyn FnMut(&Member, &mut dyn BufRead) -> Result<Judged> + 't;

/// Creates the finding for an invalid name.
pub(in crate::archive) fn invalid_name(invalid: InvalidPath) -> Finding {
    Finding::new(Code::InvalidName, format!("the name {}", invalid.kind))
        .in_member(invalid.path)
        .hint("make the archive again with relative names; the member was not checked")
}

/// Creates the finding for two members of one name.
pub(in crate::archive) fn twice(name: &str) -> Finding {
    Finding::new(Code::DuplicateName, "two members have this name")
        .in_member(name)
        .hint("make the archive again; programs differ in which member they unpack")
}

/// Creates the finding for a member that is both a file and a directory.
pub(in crate::archive) fn file_and_directory(name: &str) -> Finding {
    Finding::new(
        Code::FileAndDirectory,
        "the member is a file, but another member uses it as a directory",
    )
    .in_member(name)
    .expected("a directory", "a file")
    .hint("make the archive again; only one of the two can be unpacked")
}
