//! What only a zip can have wrong.

use super::{Explanation, sketch};

const APPNOTE: &str = "the zip specification (APPNOTE)";

pub(super) const PREPENDED_BYTES: Explanation = sketch(
    APPNOTE,
    "Something stands before the first member, as in an archive that unpacks itself. A zip is \
     found by its end, so most programs never look there, and no manifest covers it.",
    "a program, then exp.zip\n",
    "exp.zip that begins with its first member\n",
);

pub(super) const ZIP64_MISMATCH: Explanation = sketch(
    APPNOTE,
    "Numbers beyond 32 bits stand in records of their own. Where such a record says something \
     else than the ordinary one, is not where its locator points, or lacks a number, programs \
     with and without zip64 read different archives.",
    "end record: 4 members; zip64 end record: 3 members\n",
    "end record: 4 members; zip64 end record: 4 members\n",
);

pub(super) const BAD_DESCRIPTOR: Explanation = sketch(
    APPNOTE,
    "A flag announces that checksum and sizes follow the data, and what follows does not repeat \
     those of the directory. A program that reads from the front would unpack something else.",
    "directory: 64 bytes; record behind the data: 65 bytes\n",
    "directory: 64 bytes; record behind the data: 64 bytes\n",
);

pub(super) const ENCRYPTED: Explanation = sketch(
    "ra-pack",
    "Encrypted members are not read: what is in them cannot be proved without the key.",
    "zip -e exp.zip a.ra\n",
    "zip exp.zip a.ra\n",
);

pub(super) const UNKNOWN_METHOD: Explanation = sketch(
    "ra-pack",
    "Of the many compression methods that a zip may use, stored, deflate and Zstandard are read. \
     The member is not damaged; it has to be packed anew.",
    "7z a -mm=LZMA exp.zip a.ra\n",
    "7z a -mm=Deflate exp.zip a.ra\n",
);

pub(super) const SPLIT_ARCHIVE: Explanation = sketch(
    APPNOTE,
    "The records speak of other disks: the file is one part of an archive that was split, and \
     members may lie in the others.",
    "zip -s 100m exp.zip a.ra\n",
    "zip -s 0 exp.zip --out whole.zip\n",
);

pub(super) const SECOND_END_RECORD: Explanation = sketch(
    APPNOTE,
    "A zip is read from its end record. With two that both could be it, one program shows one \
     archive and another program another.",
    "an end record whose comment holds an end record\n",
    "one end record, with which the file ends\n",
);

pub(super) const BAD_EXTRA_FIELD: Explanation = sketch(
    APPNOTE,
    "The fields between name and data must fill their space exactly, each with its length, and \
     none may be there twice: programs differ in which of two they believe.",
    "0x0001, 99 bytes long, in a space of 20 bytes\n",
    "0x0001, 16 bytes long, in a space of 20 bytes\n",
);

pub(super) const SIGNATURE_IN_COMMENT: Explanation = sketch(
    APPNOTE,
    "A member's comment holds the two letters with which every record begins. A program that \
     searches for records may take it for one.",
    "a comment that begins with PK\n",
    "no comment\n",
);

pub(super) const LESSER_FIELDS_DIFFER: Explanation = sketch(
    APPNOTE,
    "Both headers of a member give its time and the version that a reader must know. They differ, \
     which changes nothing about the content; one of them was damaged or edited.",
    "directory: 2024-06-03; header: 2024-06-04\n",
    "directory: 2024-06-03; header: 2024-06-03\n",
);

pub(super) const UNKNOWN_EXTRA_FIELD: Explanation = sketch(
    APPNOTE,
    "An extra field whose number is not among those that are known. It may be what a rare program \
     needs, or bytes that nobody checks; no manifest covers it.",
    "an extra field 0x9999\n",
    "an extra field 0x5455, which holds times\n",
);
