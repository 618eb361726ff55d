//! Storage.

use super::{Explanation, NDL, OURS, explanation};

pub(super) const STORAGE_RANK: Explanation = explanation(
    NDL,
    "`storage.shape` and `storage.chunk` have one extent for each dimension.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      chunk: [2, 2]
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      chunk: [2]
",
);

pub(super) const STORAGE_BOUND: Explanation = explanation(
    NDL,
    "What the file holds (`storage.shape`, `storage.size`) is at most what is declared. A chunk \
     larger than an array that cannot grow is a warning.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      shape: [5]
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      shape: [3]
",
);

pub(super) const STORAGE_PLACE: Explanation = explanation(
    NDL,
    "`storage.shape` is for ndarrays, `storage.size` for dimcoords, `storage.order` for \
     ndarrays. Elsewhere they say nothing: a warning.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      size: 4
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      shape: [4]
",
);

pub(super) const STORAGE_KEY: Explanation = explanation(
    NDL,
    "The keys of `storage` are `shape`, `size`, `chunk`, `filter`, `endian`, `charset` and \
     `fillvalue`, and our `order`. Others are kept and a warning, because storage is where \
     formats put what is theirs.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      endianness: little
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      endian: little
",
);

pub(super) const ENDIAN: Explanation = explanation(
    NDL,
    "The byte order is `little` or `big`, in these words. It must be the one that the flags of \
     the array's header say; without the key the header alone decides.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      endian: LE
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      endian: little
",
);

pub(super) const ORDER: Explanation = explanation(
    OURS,
    "`storage.order` says how the shape stands to the dims of a RawArray header: `column` \
     (equal, first index fastest; the default), `row` (reversed, last index fastest), `row- \
     unreversed` (equal although the last index is the fastest).",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      order: C
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
",
);

pub(super) const FILL_VALUE: Explanation = explanation(
    OURS,
    "The fill value is an element of the array, so it must fit the datatype.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      fillvalue: 40000
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      fillvalue: -32768
",
);

pub(super) const FILTER: Explanation = explanation(
    OURS,
    "`storage.filter` is a list, in the order of application; each filter is a name or a \
     mapping with parameters.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      filter: lz4
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int16
    storage:
      filter: [lz4]
",
);
