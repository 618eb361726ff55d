//! The container.

use super::{Explanation, sketch};

pub(super) const NOT_AN_ARCHIVE: Explanation = sketch(
    "the zip and tar formats",
    "The end record of a zip, or the first header of a tar, is missing or is not what the \
     extension says. Most often the file was cut off on its way.",
    "exp.zip, of which the last half is missing\n",
    "exp.zip, copied again and as long as the original\n",
);

pub(super) const STRAY_BYTES: Explanation = sketch(
    "the zip and tar formats",
    "Every byte of an archive belongs to a member or to the archive's own records. Others are \
     invisible to most programs: a place for what nobody has checked.",
    "exp.zip with a program prepended\n",
    "exp.zip that begins with its first member\n",
);

pub(super) const TRAILING_BYTES: Explanation = sketch(
    "the zip and tar formats",
    "The archive is whole, and something stands behind its end: a line end that a transfer added, \
     another file, or what somebody wants to carry along unseen. Nobody checks it.",
    "exp.zip, then a line end\n",
    "exp.zip that ends with its end record\n",
);

pub(super) const TWO_FORMATS: Explanation = sketch(
    "the zip and tar formats",
    "A zip is known by its end and a tar by its beginning, so that one file can be both, with different members. \
     Programs that take it for the one unpack other files than programs that take it for the other.",
    "exp.tar that ends with the end record of a zip\n",
    "exp.tar that ends with its end mark\n",
);

pub(super) const HIDDEN_MEMBER: Explanation = sketch(
    "the zip and tar formats",
    "A member that most programs do not show: one without a record in the directory of a zip, or \
     another archive behind the end mark of a tar. Programs that read from the front, or go on \
     behind the mark, unpack it.",
    "a.ra and evil.ra, and a directory that lists a.ra\n",
    "a.ra, and a directory that lists a.ra\n",
);

pub(super) const DIRTY_PADDING: Explanation = sketch(
    "POSIX ustar; the extra field 0xd935 of a zip",
    "Padding fills up to a boundary and is written as zeros. Other bytes there are remains of \
     memory, damage, or something hidden; no manifest covers them.",
    "12 bytes of data, then 500 bytes of something\n",
    "12 bytes of data, then 500 zeros\n",
);

pub(super) const BAD_DIRECTORY: Explanation = sketch(
    "the zip specification (APPNOTE)",
    "Counts, sizes or offsets of the archive's directory cannot all be true.",
    "a directory that claims 3 members and lists 2\n",
    "a directory that lists what it claims\n",
);

pub(super) const HEADERS_DISAGREE: Explanation = sketch(
    "the zip specification (APPNOTE)",
    "A zip says name, size and method of a member twice, in its directory and before its \
     data. Programs that read one or the other would unpack different files.",
    "directory: a.ra, 64 bytes; header: b.ra, 64 bytes\n",
    "directory: a.ra, 64 bytes; header: a.ra, 64 bytes\n",
);

pub(super) const OVERLAP: Explanation = sketch(
    "the zip specification (APPNOTE)",
    "Two members that share bytes: no honest program writes that, and hostile archives expand \
     without bound by it.",
    "a.ra at bytes 0 to 200, b.ra at bytes 100 to 300\n",
    "a.ra at bytes 0 to 200, b.ra at bytes 200 to 400\n",
);

pub(super) const BAD_CHECKSUM: Explanation = sketch(
    "the zip and tar formats",
    "The checksum in the container (CRC-32 in a zip, the header sum in a tar) does not fit \
     the bytes: they changed after they were written.",
    "a member of which one bit flipped on the disk\n",
    "the member, restored from a copy\n",
);

pub(super) const BAD_MEMBER_DATA: Explanation = sketch(
    "the zip and tar formats",
    "The compressed data cannot be decoded, or yields more or fewer bytes than the archive \
     declares.",
    "a member that declares 64 bytes and decodes to 60\n",
    "the member, restored from a copy\n",
);

pub(super) const UNSUPPORTED: Explanation = sketch(
    "ra-pack",
    "Some features of zip and tar are not read, because few programs agree about them: masked \
     headers and patches in a zip, sparse files in a tar.",
    "tar --sparse -cf exp.tar exp\n",
    "tar -cf exp.tar exp\n",
);

pub(super) const MISSING_END_MARK: Explanation = sketch(
    "POSIX pax and ustar",
    "A tar ends with two blocks of zeros. Without them it may have been cut off exactly \
     between two members.",
    "cat header data > exp.tar\n",
    "tar -cf exp.tar exp\n",
);

pub(super) const DIRECTORY_WITH_DATA: Explanation = sketch(
    "the zip and tar formats",
    "A directory has no bytes of its own; programs drop what stands there, so nobody sees it.",
    "run1/  (12 bytes)\n",
    "run1/  (0 bytes)\n",
);

pub(super) const ODD_CONTAINER: Explanation = sketch(
    "the zip and tar formats",
    "Something about the container is uncommon but \
     loses nothing: a comment that no manifest covers, an attribute that no file has, a file that \
     an interrupted run left. It is named because another program may mind.",
    "a zip with a comment\n",
    "a zip as ra-pack writes it\n",
);
