//! Datatypes.

use super::{Explanation, NDL, OURS, explanation};

pub(super) const UNKNOWN_DATATYPE: Explanation = explanation(
    NDL,
    "The words are `string`, `int8` to `int64`, `uint8` to `uint64`, `float32`, `float64` and \
     `objref`; the forms are `opaque`, `enum`, `regref`, `compound`, `vlen` and `array`. What \
     C, numpy or Julia call the types is not known here, though the hint translates it.",
    "\
ndarrays:
  z:
    shape: []
    type: double
",
    "\
ndarrays:
  z:
    shape: []
    type: float64
",
);

pub(super) const DATATYPE_FORM: Explanation = explanation(
    NDL,
    "A datatype is one word, or a mapping with one key that is the form. The words `opaque`, \
     `enum`, `regref`, `compound`, `vlen` and `array` alone leave the half of it unsaid.",
    "\
ndarrays:
  z:
    shape: []
    type: opaque
",
    "\
ndarrays:
  z:
    shape: []
    type: {opaque: {size: 16}}
",
);

pub(super) const OPAQUE_SIZE: Explanation = explanation(
    OURS,
    "The elements of an opaque datatype have at least one byte. Elements of no size cannot be \
     counted in a file.",
    "\
ndarrays:
  z:
    shape: []
    type: {opaque: {size: 0}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {opaque: {size: 16}}
",
);

pub(super) const ENUM_MEMBERS: Explanation = explanation(
    NDL,
    "An enum gives an integer to each of its names, and has at least one.",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {members: {good: yes}}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {members: {good: 1}}}
",
);

pub(super) const ENUM_TWICE: Explanation = explanation(
    OURS,
    "Two names for one number could not be told apart in the file.",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {members: {good: 1, fine: 1}}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {members: {good: 1, fine: 2}}}
",
);

pub(super) const ENUM_RANGE: Explanation = explanation(
    NDL,
    "Every number of an enum must fit its base. Without a base, the smallest integer type that \
     holds all numbers is meant, unsigned when none is negative.",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {base: uint8, members: {missing: -1}}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {base: int8, members: {missing: -1}}}
",
);

pub(super) const ENUM_BASE: Explanation = explanation(
    NDL,
    "The base of an enum is one of `int8` to `int64` and `uint8` to `uint64`.",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {base: float32, members: {good: 1}}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {enum: {base: uint8, members: {good: 1}}}
",
);

pub(super) const SELECTION: Explanation = explanation(
    NDL,
    "A region reference selects a `block`, by two opposite corners, or single elements \
     (`element`).",
    "\
ndarrays:
  z:
    shape: []
    type: {regref: {selection: corner}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {regref: {selection: block}}
",
);

pub(super) const COMPOUND_MEMBER: Explanation = explanation(
    NDL,
    "The members of a compound are a list, because their order is the order of the bytes; each \
     is a mapping of one name to its datatype. A mapping with two names has no order.",
    "\
ndarrays:
  z:
    shape: []
    type: {compound: {x: float32, y: float32}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {compound: [{x: float32}, {y: float32}]}
",
);

pub(super) const COMPOUND_TWICE: Explanation = explanation(
    OURS,
    "A member of a compound is known by its name, so each has its own.",
    "\
ndarrays:
  z:
    shape: []
    type: {compound: [{x: float32}, {x: float32}]}
",
    "\
ndarrays:
  z:
    shape: []
    type: {compound: [{x: float32}, {y: float32}]}
",
);

pub(super) const DATATYPE_SIZE: Explanation = explanation(
    OURS,
    "The size of an element in bytes is below 2^64; no file could hold more, and a reader that \
     multiplied it out would overflow.",
    "\
ndarrays:
  z:
    shape: []
    type: {array: {base: int64, shape: [2305843009213693952]}}
",
    "\
ndarrays:
  z:
    shape: []
    type: {array: {base: int64, shape: [3]}}
",
);

pub(super) const EXTENSION: Explanation = explanation(
    OURS,
    "`float16`, `bfloat16`, `float128`, `complex64`, `complex128`, `int128`, `uint128` and \
     `storage.order` are extensions of ra-pack. They are accepted, since RawArray has such \
     elements; strict checking refuses them, for documents that other tools must read. The \
     language has no word for `storage.order`: `ra-pack convert --order column a.ra b.ra` writes \
     the array so that nothing has to be said. Without `--strict` it may stay as it is.",
    "\
ndarrays:
  z:
    shape: []
    type: complex64
",
    "\
ndarrays:
  z:
    shape: []
    type: {compound: [{r: float32}, {i: float32}]}
",
);
