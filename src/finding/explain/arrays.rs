//! Arrays.

use super::{Explanation, sketch};

pub(super) const BAD_HEADER: Explanation = sketch(
    "RawArray",
    "The first 48 bytes of an array say magic, flags, eltype, elbyte, size and ndims, then \
     come the dims. Here they contradict each other, or the length of the file.",
    "elbyte 4, dims [10], size 20\n",
    "elbyte 4, dims [10], size 40\n",
);

pub(super) const BAD_DATA: Explanation = sketch(
    "RawArray",
    "The header says that the data is encoded, and it cannot be decoded, or not to as many \
     elements as the dims say.",
    "flags 2 (compressed), followed by plain data\n",
    "flags 0, followed by plain data\n",
);

pub(super) const TRAILING_METADATA: Explanation = sketch(
    "RawArray",
    "RawArray allows bytes after the data, but most of its programs drop them when they \
     write, and some refuse to read the file. Keep them in a file beside it.",
    "header, 40 bytes of data, 100 bytes of text\n",
    "header, 40 bytes of data; the text in a.txt\n",
);

pub(super) const UNUSUAL_ENCODING: Explanation = sketch(
    "RawArray",
    "Big-endian and compressed arrays are within the format, but most of its programs read \
     them as if they were not, and show wrong numbers.",
    "flags 1 (big-endian)\n",
    "flags 0\n",
);

pub(super) const NO_ARRAYS: Explanation = sketch(
    "ra-pack",
    "The source has no RawArray file, so that the pack describes and checks no array: all it has are plain \
     files. `ra-pack convert` makes arrays of .npy, .npz and ds-format; other formats have to be written as \
     one of these first.",
    "data/a.npy\n",
    "data/a.ra\ndata/a.yaml\n",
);
