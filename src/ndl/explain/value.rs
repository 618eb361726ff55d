//! Shapes and values.

use super::{Explanation, NDL, OURS, explanation};

pub(super) const EXTENT: Explanation = explanation(
    NDL,
    "An extent is an integer of at least 0, `null` for a dimension that can grow, or the name \
     of a dimcoord. The extents of chunks and of array datatypes are at least 1.",
    "\
ndarrays:
  z:
    shape: [-1, 10]
    type: int8
",
    "\
ndarrays:
  z:
    shape: [null, 10]
    type: int8
",
);

pub(super) const EXTENT_KIND: Explanation = explanation(
    NDL,
    "The shapes of attributes, of array datatypes and under `storage` are integers: they say \
     what is there, so they can neither grow nor refer to a coordinate.",
    "\
attributes:
  range: {shape: [null], type: int8, value: [1]}
",
    "\
attributes:
  range: {shape: [1], type: int8, value: [1]}
",
);

pub(super) const COORD_PATH: Explanation = explanation(
    OURS,
    "A dimcoord is named by its bare name, or by its path from the root, which begins with `/`. \
     A path relative to the group could be read in two ways.",
    "\
/run1:
  dimcoords:
    t: {size: 4, type: int8}
/:
  ndarrays:
    z: {shape: [run1/t], type: int8}
",
    "\
/run1:
  dimcoords:
    t: {size: 4, type: int8}
/:
  ndarrays:
    z: {shape: [/run1/t], type: int8}
",
);

pub(super) const UNRESOLVED_COORD: Explanation = explanation(
    OURS,
    "A bare name is looked for in the group of the ndarray and then in each group above it; a \
     path is looked for from the root. In a pack a 1-D array is the coordinate of its name, \
     too. A name that is nowhere leaves the extent unknown.",
    "\
ndarrays:
  z: {shape: [time], type: int8}
",
    "\
dimcoords:
  time: {size: 4, type: float64}
ndarrays:
  z: {shape: [time], type: int8}
",
);

pub(super) const COORD_SIZE: Explanation = explanation(
    NDL,
    "The size of a dimcoord is an integer of at least 1, or `null` when it can grow.",
    "\
dimcoords:
  t: {size: 0, type: float64}
",
    "\
dimcoords:
  t: {size: null, type: float64}
",
);

pub(super) const SHAPE_SIZE: Explanation = explanation(
    OURS,
    "The extents of a shape multiply to less than 2^64 elements; a reader that multiplied out \
     more would overflow.",
    "\
ndarrays:
  z:
    shape: [4294967296, 4294967296]
    type: int8
",
    "\
ndarrays:
  z:
    shape: [4096, 4096]
    type: int8
",
);

pub(super) const VALUE_SHAPE: Explanation = explanation(
    NDL,
    "A value is a list in a list for each dimension, the outermost for the first extent; an \
     extent of `null` is taken from the value. Where `storage.shape` (or `storage.size`) says \
     what the file holds, the value follows that.",
    "\
ndarrays:
  z:
    shape: [2, 3]
    type: int8
    value: [[1, 2, 3], [4, 5]]
",
    "\
ndarrays:
  z:
    shape: [2, 3]
    type: int8
    value: [[1, 2, 3], [4, 5, 6]]
",
);

pub(super) const VALUE_TYPE: Explanation = explanation(
    NDL,
    "Each element of a value must be of the datatype. Integers are written without a point, \
     texts with quotes when they look like a number, NaN and infinity as `.nan` and `.inf`, \
     references as paths.",
    "\
ndarrays:
  z:
    shape: [3]
    type: float32
    value: [1.5, NaN, 2.5]
",
    "\
ndarrays:
  z:
    shape: [3]
    type: float32
    value: [1.5, .nan, 2.5]
",
);

pub(super) const VALUE_RANGE: Explanation = explanation(
    NDL,
    "A number must lie within the range of its datatype.",
    "\
ndarrays:
  z:
    shape: [2]
    type: uint8
    value: [255, 256]
",
    "\
ndarrays:
  z:
    shape: [2]
    type: uint16
    value: [255, 256]
",
);

pub(super) const ENUM_VALUE: Explanation = explanation(
    OURS,
    "An element of an enum is given by the name of a member or by its number.",
    "\
ndarrays:
  z:
    shape: [2]
    type: {enum: {members: {good: 1, bad: 4}}}
    value: [good, worse]
",
    "\
ndarrays:
  z:
    shape: [2]
    type: {enum: {members: {good: 1, bad: 4}}}
    value: [good, bad]
",
);

pub(super) const UNRESOLVED_TARGET: Explanation = explanation(
    NDL,
    "The value of an `objref` is the path of a group, dimcoord or ndarray that exists.",
    "\
/run1:
  attributes:
    mask: {shape: [], type: objref, value: /run1/flags}
",
    "\
/run1:
  ndarrays:
    flags: {shape: [4], type: uint8}
  attributes:
    mask: {shape: [], type: objref, value: /run1/flags}
",
);

pub(super) const REGION_BOUNDS: Explanation = explanation(
    OURS,
    "The corners of a region are indices of its target, one for each dimension, from 0 to less \
     than the extent.",
    "\
ndarrays:
  z: {shape: [4], type: int8}
  part:
    shape: []
    type: {regref: {selection: block}}
    value: {target: /z, start: [2], opposite: [4]}
",
    "\
ndarrays:
  z: {shape: [4], type: int8}
  part:
    shape: []
    type: {regref: {selection: block}}
    value: {target: /z, start: [2], opposite: [3]}
",
);
