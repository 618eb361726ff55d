//! What only a tar, or the stream that it is compressed as, can have wrong.

use super::{Explanation, sketch};

pub(super) const TRAILING_COMPRESSED: Explanation = sketch(
    "gzip (RFC 1952), Zstandard (RFC 8878), deflate (RFC 1951)",
    "The compressed data says itself where it ends, and bytes follow that belong to nothing. \
     Decompressors pass over them in silence.",
    "exp.tar.gz, then a line end\n",
    "exp.tar.gz that ends with its trailer\n",
);

pub(super) const DAMAGED_STREAM: Explanation = sketch(
    "gzip (RFC 1952), Zstandard (RFC 8878)",
    "The stream that the tar is compressed as cannot be decoded, or its trailer does not fit what \
     was decoded. Whatever follows that place is lost; what precedes it may be whole.",
    "exp.tar.gz of which one bit flipped on the disk\n",
    "exp.tar.gz, restored from a copy\n",
);

pub(super) const BAD_TAR_HEADER: Explanation = sketch(
    "POSIX ustar",
    "A header whose checksum is right and whose fields are not: a magic of no known tar, a size that is no number, \
     or bytes behind the NUL that ends a name and in places that its form does not use. Programs guess, or give \
     them a meaning, each in its own way. A time or an owner that some programs cannot read is a warning.",
    "a size of 0000000009z\n",
    "a size of 00000000012\n",
);

pub(super) const BAD_EXTENDED_HEADER: Explanation = sketch(
    "POSIX pax, GNU tar",
    "The headers that give the next entry a long name, a large size or a fine time must be records \
     of exact length, each there once, and be followed by their entry. Otherwise programs see \
     different entries. A record of an unknown kind is a warning: some program may obey it.",
    "99 path=a.ra\n",
    "13 path=a.ra\n",
);
