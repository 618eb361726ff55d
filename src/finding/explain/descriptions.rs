//! Descriptions.

use super::{Explanation, sketch};

pub(super) const UNDESCRIBED: Explanation = sketch(
    "ra-pack",
    "Every array has a description, or in ten years nobody knows what it is: `X.yaml` beside \
     `X.ra`, or an entry in the directory's own `manifest.yaml`.",
    "a.ra\n",
    "a.ra\na.yaml  (ra-pack describe --write .)\n",
);

pub(super) const DESCRIBED_TWICE: Explanation = sketch(
    "ra-pack",
    "What is said twice is the same both times: by `X.yaml` beside `X.ra` and by `manifest.yaml`, and by \
     two documents that define one coordinate. With `X.yaml` and `X.yml` beside one array nobody knows \
     which holds.",
    "a.yaml: units: K; manifest.yaml: units: degree_Celsius\n",
    "a.yaml: units: K; manifest.yaml: units: K\n",
);

pub(super) const NO_ARRAY_DESCRIBED: Explanation = sketch(
    "ra-pack",
    "A document beside an array describes one ndarray (or one dimcoord, when it has no \
     ndarrays), or among several one of the array's name.",
    "a.yaml: ndarrays x and y\n",
    "a.yaml: ndarrays a and y\n",
);

pub(super) const SHAPE_MISMATCH: Explanation = sketch(
    "NDL 0.6.1 and RawArray",
    "The shape is the dims of the header, entry by entry, first index fastest; with `storage: \
     {order: row}` it is the dims reversed. When only the reverse fits, that is said and \
     nothing is guessed.",
    "dims [149, 10], shape: [10, 149]\n",
    "dims [149, 10], shape: [10, 149], storage: {order: row}\n",
);

pub(super) const TYPE_MISMATCH: Explanation = sketch(
    "NDL 0.6.1 and RawArray",
    "The datatype must be one that describes the elements of the header, eltype and elbyte.",
    "eltype 3, elbyte 4; type: float64\n",
    "eltype 3, elbyte 4; type: float32\n",
);

pub(super) const STORAGE_MISMATCH: Explanation = sketch(
    "NDL 0.6.1 and RawArray",
    "`storage` says how the file holds the array, so `endian`, `filter` and `shape` must be \
     what the header says.",
    "flags 0; storage: {endian: big}\n",
    "flags 0; storage: {endian: little}\n",
);

pub(super) const UNKNOWN_COORDINATE: Explanation = sketch(
    "ra-pack",
    "An extent names a coordinate. A bare name is looked for in the same directory and in \
     those above, a name with a leading `/` from the top of the pack, as a dimcoord or as a \
     1-D array.",
    "run1/a.yaml: shape: [tme]; time.ra\n",
    "run1/a.yaml: shape: [time]; time.ra\n",
);

pub(super) const COORDINATE_LENGTH: Explanation = sketch(
    "ra-pack",
    "Everybody who uses a coordinate agrees on its length: an array has one element for each \
     of its entries.",
    "time.ra: dims [149]; a.ra along time: dims [150]\n",
    "time.ra: dims [149]; a.ra along time: dims [149]\n",
);

pub(super) const LOOSE_DESCRIPTION: Explanation = sketch(
    "NDL 0.6.1 and RawArray",
    "The description can be understood, but another reader may understand it otherwise: a \
     scalar stored as one element, a type that fits only by its size, a key that means \
     nothing for RawArray.",
    "dims [1], shape: []\n",
    "dims [1], shape: [1]\n",
);

pub(super) const MISSING_ARRAY: Explanation = sketch(
    "ra-pack",
    "The directory's own `manifest.yaml`, or a document beside another array, describes an array without \
     a value, and its file is not there.",
    "manifest.yaml: /run1, ndarray a; no run1/a.ra\n",
    "manifest.yaml: /run1, ndarray a; run1/a.ra\n",
);

pub(super) const BAD_PACK_DOCUMENT: Explanation = sketch(
    "ra-pack",
    "A file called `manifest.yaml` at the top, or `X.yaml` beside `X.ra`, is a description. \
     One that is something else needs another name.",
    "manifest.yaml: files: [a, b]\n",
    "files.yaml: files: [a, b]\n",
);

pub(super) const PARTIAL_DOCUMENT: Explanation = sketch(
    "ra-pack",
    "The `manifest.yaml` of a pack describes every array, so that one small file tells what is there. It \
     is an error when ra-pack made it, because then it held them all.",
    "a.ra, b.ra; manifest.yaml: ndarray a\n",
    "a.ra, b.ra; manifest.yaml: ndarrays a and b\n",
);

pub(super) const VALUE_MISMATCH: Explanation = sketch(
    "ra-pack",
    "A reader may take the elements of an array from the `value` of its description, so they are those of \
     the `.ra`: integers exactly, floats when read as the type of the elements.",
    "depth.ra: 3, 4, 6; value: [3, 4, 5]\n",
    "depth.ra: 3, 4, 6; value: [3, 4, 6]\n",
);
