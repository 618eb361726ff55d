//! Bags.

use super::{Explanation, sketch};

pub(super) const BAD_BAG: Explanation = sketch(
    "BagIt 1.0 (RFC 8493)",
    "`bagit.txt` gives the version and the encoding of tag files, on two lines; without them \
     the bag cannot be read.",
    "BagIt-Version 1.0\n",
    "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
);

pub(super) const BAD_TAG_FILE: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.2, §2.3)",
    "Tag files are text in the declared encoding without a byte order mark, and metadata is `Label: \
     value` with one blank after the colon; a line that continues another begins with a blank. What \
     is written otherwise, other readers refuse or misread.",
    "Contact-Name A. Scientist\n",
    "Contact-Name: A. Scientist\n",
);

pub(super) const UNKNOWN_TAG_ENCODING: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.1.1)",
    "`bagit.txt` names an encoding for the manifests that is not read here, so nothing that they \
     list can be checked. The payload itself is not affected; writing the tag files anew in UTF-8 \
     repairs it.",
    "Tag-File-Character-Encoding: KOI8-R\n",
    "Tag-File-Character-Encoding: UTF-8\n",
);

pub(super) const PAYLOAD_OXUM: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.2.2)",
    "`Payload-Oxum` is the number of bytes of all payload and, after a dot, the number of files, \
     once in a bag. When the payload is of another size, files were lost, added or cut off since.",
    "Payload-Oxum: 1000 bytes\n",
    "Payload-Oxum: 1000.3\n",
);

pub(super) const NOT_FETCHED: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.2.3, §3)",
    "`fetch.txt` says from where this file is to be got, and it is not there yet: the bag is \
     incomplete. ra-pack fetches nothing; get the file, put it in its place, and verify again.",
    "fetch.txt: https://example.org/a.ra 100 data/a.ra  (no data/a.ra)\n",
    "data/a.ra  (fetched)\n",
);

pub(super) const BAD_FETCH_LIST: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.2.3)",
    "A line is an absolute URL, a length in bytes or `-`, and the path of a file below `data/` that \
     every manifest lists. Any other line could put a file where none belongs, or one that nobody \
     can check.",
    "https://example.org/a.ra 100 ../a.ra\n",
    "https://example.org/a.ra 100 data/a.ra\n",
);

pub(super) const WRONG_MANIFEST_ENTRY: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.1.3, §2.2.1)",
    "Payload manifests list files below `data/` and nothing else; tag manifests list every payload \
     manifest, other tag files, but neither payload nor tag manifests. A list that mixes them \
     leaves open what was vouched for.",
    "manifest-sha256.txt: <digest>  bagit.txt\n",
    "tagmanifest-sha256.txt: <digest>  bagit.txt\n",
);

pub(super) const UNLISTED_TAG_FILE: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.2.1)",
    "A bag may hold other files beside its payload, and a tag manifest should list them. Of one that \
     none lists nobody can say whether it is what it was. The rules allow a bag to be without any tag \
     manifest; then this is said once for all of these files.",
    "notes.txt  (in no tagmanifest-sha256.txt)\n",
    "tagmanifest-sha256.txt: <digest>  notes.txt\n",
);

pub(super) const BESIDE_BAG: Explanation = sketch(
    "BagIt 0.97 §4",
    "An archive holds one directory with one bag in it. What lies beside, or in a second bag, is in \
     no manifest of this one; pack it by itself.",
    "exp/bagit.txt, other/bagit.txt\n",
    "exp/bagit.txt\n",
);

pub(super) const BAG_AT_ROOT: Explanation = sketch(
    "BagIt 0.97 §4",
    "When the bag has no directory of its own, unpacking the archive strews its files over the \
     current one. Everything in it can be checked all the same.",
    "bagit.txt, data/a.ra\n",
    "exp/bagit.txt, exp/data/a.ra\n",
);

pub(super) const LEGACY_MANIFEST_LINE: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §6.1.3)",
    "The line is as `md5sum` and its siblings write it: a `*` or `./` before the name, a comment, \
     or a tag before the digest. It was read, but strict readers of bags refuse it.",
    "<digest> *data/a.ra\n",
    "<digest>  data/a.ra\n",
);

pub(super) const NORMALIZED_NAME: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §6.1.1.3)",
    "The same letters can be written in more than one way, such as an accented one as one character \
     or as two, and some file systems change one into the other. The file was taken for the listed \
     one; other readers may not find it.",
    "listed: data/e\\u{301}.ra, there: data/\\u{e9}.ra\n",
    "listed and there: data/\\u{e9}.ra\n",
);

pub(super) const ODD_PERCENT: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.1.3)",
    "Only `%0A`, `%0D` and `%25` stand for other characters; any other `%` was taken as it is. A \
     writer that knows the rule would have written `%25`, so what was meant is not certain.",
    "<digest>  data/100%.ra\n",
    "<digest>  data/100%25.ra\n",
);

pub(super) const UNKNOWN_DIGEST: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.4)",
    "The name of a manifest says what its digests were made by. Here they can be made by md5, sha1, \
     sha224, sha256, sha384 and sha512; what another manifest lists was not checked, so the bag cannot be called \
     valid.",
    "manifest-blake2b.txt\n",
    "manifest-sha512.txt\n",
);

pub(super) const UNFIT_FOR_BAG: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §2.1.3, §6.1.1.3)",
    "Line ends and `%` in names have to be encoded in a bag, which most readers do not undo; names \
     that differ only by normalisation may be one file elsewhere. Rename the file, or use the plain \
     layout.",
    "100%.ra\n",
    "100 percent.ra\n",
);

pub(super) const PARTLY_LISTED: Explanation = sketch(
    "BagIt 1.0 (RFC 8493 §3)",
    "Every manifest of a bag lists all of the payload. A file that only some of them list was added \
     by a program that did not know the others.",
    "manifest-sha256.txt: a.ra, b.ra; manifest-sha512.txt: a.ra\n",
    "manifest-sha256.txt: a.ra, b.ra; manifest-sha512.txt: a.ra, b.ra\n",
);
