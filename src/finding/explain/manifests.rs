//! Manifests.

use super::{Explanation, sketch};

pub(super) const NO_MANIFEST: Explanation = sketch(
    "ra-pack",
    "Without a list of digests nothing can be proved: the archive may be whole, or may have \
     lost files. Give one with `--manifest`, or pack the source again.",
    "exp.zip: a.ra, a.yaml\n",
    "exp.zip: a.ra, a.yaml, manifest-sha256.txt\n",
);

pub(super) const BAD_MANIFEST_LINE: Explanation = sketch(
    "the format of sha256sum",
    "A line is 64 hexadecimal digits, two characters, and a path. What stands otherwise \
     there, or twice, lists nothing that could be checked.",
    "abc123 run1/a.ra\n",
    "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  run1/a.ra\n",
);

pub(super) const DIGEST_MISMATCH: Explanation = sketch(
    "the format of sha256sum",
    "The bytes are not those that the manifest was made of: the file was damaged or changed \
     since. Restore it from a copy; if the change is wanted, pack again.",
    "echo more >> run1/notes.txt  (after packing)\n",
    "ra-pack create exp -o exp.zip --force  (packed anew)\n",
);

pub(super) const MISSING_MEMBER: Explanation = sketch(
    "the format of sha256sum",
    "The manifest lists a file that is gone: it was deleted, renamed, or never unpacked.",
    "manifest: a.ra, b.ra; archive: a.ra\n",
    "manifest: a.ra, b.ra; archive: a.ra, b.ra\n",
);

pub(super) const UNLISTED_MEMBER: Explanation = sketch(
    "the format of sha256sum",
    "A file that no line of the manifest covers was added after packing, and nobody can say \
     whether it is what it was.",
    "manifest: a.ra; archive: a.ra, b.ra\n",
    "manifest: a.ra, b.ra; archive: a.ra, b.ra\n",
);

pub(super) const MANIFESTS_DISAGREE: Explanation = sketch(
    "ra-pack",
    "The manifest inside and the one kept outside are copies of one list. When they differ, \
     one of them was changed: somebody replaced the archive, or the copy belongs to another \
     one.",
    "exp.zip of today, exp.zip.manifest-sha256.txt of last year\n",
    "ra-pack verify exp.zip --manifest the-copy-made-with-it.txt\n",
);

pub(super) const WEAK_DIGEST: Explanation = sketch(
    "ra-pack",
    "MD5 and SHA-1 find accidents, but a forger can make two files of one digest. A manifest \
     by SHA-256 or SHA-512 proves more.",
    "manifest-md5.txt\n",
    "manifest-sha256.txt\n",
);

pub(super) const ARCHIVE_DIGEST_MISMATCH: Explanation = sketch(
    "the format of sha256sum",
    "The archive file as a whole is not the one that its `.sha256` file was made of.",
    "exp.zip changed, exp.zip.sha256 not\n",
    "ra-pack create exp -o exp.zip --archive-digest\n",
);

pub(super) const EMPTY_MANIFEST: Explanation = sketch(
    "the format of sha256sum",
    "A manifest without lines proves nothing, though every line of it is right.",
    "manifest-sha256.txt  (0 bytes)\n",
    "manifest-sha256.txt  (one line for each file)\n",
);
