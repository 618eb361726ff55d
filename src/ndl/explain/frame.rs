//! The frame of a document, and attributes.

use super::{Explanation, NDL, OURS, explanation};

pub(super) const UNKNOWN_KEY: Explanation = explanation(
    NDL,
    "NDL fixes its keys: `attributes`, `dimcoords` and `ndarrays` in a group, `shape`, `type`, \
     `value`, `attributes` and `storage` in an ndarray, and so on. A key that it does not know \
     is most often a slip of the pen, and silently ignored it would be a lie. Facts of your own \
     go under `attributes`.",
    "\
ndarrays:
  z:
    shape: [4]
    type: int8
    units: m
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int8
    attributes:
      units: m
",
);

pub(super) const MISSING_KEY: Explanation = explanation(
    NDL,
    "An ndarray has `shape` and `type`, a dimcoord `size` and `type`, the long form of an \
     attribute `shape`, `type` and `value`, and each datatype form the keys that make it whole.",
    "\
ndarrays:
  z:
    type: int8
",
    "\
ndarrays:
  z:
    shape: [4]
    type: int8
",
);

pub(super) const WRONG_KIND: Explanation = explanation(
    NDL,
    "Something is written where something of another kind must stand: a number for a list, a \
     text for a mapping, nothing at all.",
    "\
ndarrays:
  z:
    shape: 10
    type: int8
",
    "\
ndarrays:
  z:
    shape: [10]
    type: int8
",
);

pub(super) const MIXED_FORMS: Explanation = explanation(
    OURS,
    "A document is either flat (`attributes`, `dimcoords`, `ndarrays` at the top, which are the \
     root group's) or grouped (every key at the top is a path). Both at once would say two \
     things about the root group.",
    "\
attributes: {title: both}
/run1: {}
",
    "\
/: {attributes: {title: both}}
/run1: {}
",
);

pub(super) const GROUP_PATH: Explanation = explanation(
    OURS,
    "The path of a group begins with `/` and has no `/` at its end, no empty part, and no `.` \
     or `..`: each group has one path only.",
    "\
/run1/: {}
",
    "\
/run1: {}
",
);

pub(super) const NAME: Explanation = explanation(
    OURS,
    "The name of a dimcoord or ndarray is the last part of its path, so it is not empty, not \
     `.` or `..`, and has no `/`. Blanks and dots are allowed. Attributes and members of enums \
     and compounds may be called anything but nothing.",
    "\
ndarrays:
  run1/z: {shape: [4], type: int8}
",
    "\
/run1:
  ndarrays:
    z: {shape: [4], type: int8}
",
);

pub(super) const NAME_TWICE: Explanation = explanation(
    OURS,
    "A path means one thing. A dimcoord and an ndarray of one name in one group would both be \
     `/name`.",
    "\
dimcoords:
  t: {size: 4, type: int8}
ndarrays:
  t: {shape: [4], type: int8}
",
    "\
dimcoords:
  t: {size: 4, type: int8}
ndarrays:
  z: {shape: [t], type: int8}
",
);

pub(super) const SHORT_LIST: Explanation = explanation(
    NDL,
    "The short form of an attribute is a scalar. A list needs the long form, because nothing \
     else says what its elements are.",
    "\
attributes:
  range: [0, 40]
",
    "\
attributes:
  range: {shape: [2], type: int16, value: [0, 40]}
",
);

pub(super) const SHORT_NOT_SCALAR: Explanation = explanation(
    NDL,
    "The short form takes its datatype from the value: integers are `int64`, floats `float64`, \
     texts `string`. NDL has no datatype for booleans and none for null.",
    "\
attributes:
  calibrated: true
",
    "\
attributes:
  calibrated: \"true\"
",
);
