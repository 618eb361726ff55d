meta:
  id: rawarray
  title: RawArray
  file-extension: ra
  license: MIT OR Apache-2.0
  endian: le
doc: |
  One n-dimensional array: a header of 64-bit fields, then the elements.
  Specification: docs/spec/rawarray.md in the source code of ra-pack.
seq:
  - id: magic
    contents: rawarray
  - id: flags
    type: u8
    valid:
      max: 7
  - id: eltype
    type: u8
    enum: kind
    valid:
      max: kind::bfloat
  - id: elbyte
    type: u8
    valid:
      min: 1
  - id: size
    type: u8
  - id: ndims
    type: u8
    valid:
      max: 64
  - id: dims
    type: u8
    repeat: expr
    repeat-expr: ndims
    doc: The length of each dimension. The first index is the fastest.
  - id: data
    size: size
    if: (flags & 2) == 0
  - id: rest
    size-eos: true
    doc: Bytes without a defined meaning, or encoded data.
enums:
  kind:
    0: user_defined
    1: signed
    2: unsigned
    3: float
    4: complex
    5: bfloat
instances:
  is_big_endian:
    value: (flags & 1) != 0
  is_encoded:
    value: (flags & 2) != 0
