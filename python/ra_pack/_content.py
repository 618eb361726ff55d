"""``content_digest``: what identifies the elements of an array in any format."""

import hashlib
import math
import struct
from typing import Any

import numpy as np

from ._errors import Unsupported
from ._ra_pack import Array

#: Bytes that are hashed at once.
HASHED_AT_ONCE = 16 << 20
#: The numbers of the kinds of elements in a RawArray file. Text, bytes and structures are user-defined elements.
KINDS = {"i": 1, "M": 1, "m": 1, "u": 2, "b": 2, "f": 3, "c": 4, "S": 0, "U": 0, "V": 0}


def content_digest(array: Any) -> str:
    """Return the content digest of an array: the same type, shape and elements have the same digest in any format.

    It is the SHA-256 of the array as a RawArray file with little-endian elements in C order, as the specification says.
    The command ``ra-pack manifest --content`` prints it for the arrays of packs and of files in other formats.

    Parameters
    ----------
    array : Array or array_like
        An array of a pack, NumPy, xarray, dask, h5py or zarr. It is read in parts along its first dimension. The
        elements of an xarray variable are the decoded ones; for the stored ones, open the file with
        ``decode_cf=False``. Times count in the unit of their dtype.

    Returns
    -------
    str
        64 hexadecimal digits.

    Raises
    ------
    Unsupported
        If the elements are Python objects, or floats of more than 8 bytes.

    Examples
    --------
    >>> import numpy as np, ra_pack
    >>> a = np.arange(6, dtype="i2").reshape(2, 3)
    >>> ra_pack.content_digest(a)[:16]
    '64cecf38192b7217'
    >>> ra_pack.content_digest(np.asfortranarray(a.astype(">i2"))) == ra_pack.content_digest(a)
    True
    """
    if isinstance(array, Array):
        return array.content_digest()
    values = array if hasattr(array, "dtype") and hasattr(array, "shape") else np.asarray(array)
    dtype, shape = np.dtype(values.dtype), tuple(map(int, values.shape))
    kind = 5 if dtype.kind == "V" and dtype.name == "bfloat16" else KINDS.get(dtype.kind)
    is_long = dtype.kind == "f" and dtype.itemsize > 8 or dtype.kind == "c" and dtype.itemsize > 16
    if kind is None or is_long or dtype.hasobject:
        raise Unsupported(f"elements of type {dtype} have no content digest; convert them")
    length = math.prod(shape) * dtype.itemsize
    fields = (0, kind, dtype.itemsize, length, len(shape), *reversed(shape))
    digest, little = hashlib.sha256(b"rawarray" + struct.pack(f"<{len(fields)}Q", *fields)), dtype.newbyteorder("<")
    if not shape:
        digest.update(np.asarray(values).astype(little).tobytes())
        return digest.hexdigest()
    rows = max(1, HASHED_AT_ONCE // max(1, length // max(1, shape[0])))
    if chunks := getattr(values, "chunks", None):
        # Each chunk is computed or decoded once.
        chunk = max(1, max(chunks[0]) if isinstance(chunks[0], tuple) else int(chunks[0]))
        rows = max(chunk, rows - rows % chunk)
    for start in range(0, shape[0], rows):
        part = np.asarray(values[start : start + rows])
        digest.update(part.astype(little, copy=False).tobytes("C"))
    return digest.hexdigest()
