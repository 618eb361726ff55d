//! Names of members.

use super::{Explanation, sketch};

pub(super) const INVALID_NAME: Explanation = sketch(
    "ra-pack",
    "A member's name is a relative path of UTF-8 with `/` between its parts, without empty, \
     `.` or `..` parts. Anything else could be written outside of the target or under another \
     name.",
    "../run1/a.ra\n/run1/a.ra\n",
    "run1/a.ra\n",
);

pub(super) const DUPLICATE_NAME: Explanation = sketch(
    "ra-pack",
    "Two members of one name: which one is unpacked depends on the program, so one of them \
     can be hidden behind the other.",
    "run1/a.ra  (twice in one zip)\n",
    "run1/a.ra\nrun1/b.ra\n",
);

pub(super) const FILE_AND_DIRECTORY: Explanation = sketch(
    "ra-pack",
    "A name cannot be a file and a directory at once; unpacking would lose one of them.",
    "run1\nrun1/a.ra\n",
    "run1.txt\nrun1/a.ra\n",
);

pub(super) const LINK: Explanation = sketch(
    "ra-pack",
    "A link stores a path, not data: unpacked elsewhere it leads nowhere, or out of the \
     target. `create --dereference` packs what the links lead to.",
    "run1/latest.ra -> /data/a.ra\n",
    "ra-pack create exp -o exp.zip --dereference\n",
);

pub(super) const SPECIAL_FILE: Explanation = sketch(
    "ra-pack",
    "Devices, pipes and sockets have no content that could be kept. In a zip the attributes of a member \
     may say, too, that it is a directory without a slash behind its name, or the label of a volume: some \
     programs obey that, whatever system the archive says it is from, and others make a file of it.",
    "run1/queue  (a named pipe)\n",
    "ra-pack create exp -o exp.zip --exclude run1/queue\n",
);

pub(super) const CASE_TWINS: Explanation = sketch(
    "ra-pack",
    "On systems that ignore case the two names are one, and the \
     second file unpacked replaces the first, or lands in the first one's directory. Names are \
     compared by Unicode's simple mapping to lower case.",
    "run1/A.ra\nrun1/a.ra\n",
    "run1/a1.ra\nrun1/a2.ra\n",
);

pub(super) const LEGACY_NAME_ENCODING: Explanation = sketch(
    "the zip specification (APPNOTE)",
    "The name is in code page 437, which programs guess differently, or Info-ZIP's `unzip` takes it for \
     that, since the member is said to be from DOS or Windows. A name in UTF-8, marked as such, of a member \
     from Unix is the same everywhere.",
    "gr\\x94\\xe1e.ra  (flag bit 11 not set)\n",
    "größe.ra  (UTF-8, flag bit 11 set)\n",
);

pub(super) const CONTROL_IN_NAME: Explanation = sketch(
    "ra-pack",
    "A terminal obeys such characters, and a line end breaks lists of names. They are shown \
     escaped.",
    "run1/a\\u{1b}[2J.ra\n",
    "run1/a.ra\n",
);

pub(super) const UNPORTABLE_NAME: Explanation = sketch(
    "Windows, file systems",
    "Some system cannot write a file of this name: Windows keeps names such as `aux` and `con.txt` \
     for devices, forbids some characters and a dot or blank at the end, many of its programs \
     allow 260 characters for a whole path, and most file systems 255 bytes for one part of it. \
     Info-ZIP's `unzip` leaves out control characters, and a semicolon and digits at the end; two files \
     of a zip that it gives one name are an error. \
     The pack is sound, but cannot be unpacked everywhere. `create --portable` refuses such names.",
    "run1/aux.txt\n",
    "run1/auxiliary.txt\n",
);

pub(super) const NORMALIZATION_TWINS: Explanation = sketch(
    "Unicode Standard Annex #15",
    "Unicode can write `é` as one character or as `e` and an accent. The two names look the same; \
     some systems, macOS among them, take them for one, so that the second file unpacked replaces \
     the first. Names are compared in composed form (NFC), by Unicode's simple mapping to lower \
     case.",
    "run1/\\u{e9}.ra\nrun1/e\\u{301}.ra\n",
    "run1/e1.ra\nrun1/e2.ra\n",
);

pub(super) const DECOMPOSED_NAME: Explanation = sketch(
    "Unicode Standard Annex #15",
    "The name holds a letter and its accent as two characters, as older systems of macOS write \
     them. It is sound, but another string than the same name typed on Windows or Linux, which is \
     then not found. One warning stands for all such names of a pack.",
    "run1/gro\\u{308}sse.ra\n",
    "run1/gr\\u{f6}sse.ra\n",
);
