"""RawArray files and descriptions, written without the module under test."""

import pathlib
import struct

import numpy as np

KINDS = {"i": 1, "u": 2, "f": 3, "c": 4, "b": 2, "V": 0}


def bytes_of(array, order="F", flags=0, kind=None):
    """Return the bytes of an `.ra` file. `C` lists the dimensions in reverse, and moves no element."""
    dims = array.shape if order == "F" else array.shape[::-1]
    if array.dtype.byteorder == ">":
        flags |= 1
    kind = KINDS[array.dtype.kind] if kind is None else kind
    header = struct.pack("<8s5Q", b"rawarray", flags, kind, array.itemsize, array.nbytes, len(dims))
    return header + struct.pack(f"<{len(dims)}Q", *dims) + array.tobytes(order=order)


def write(directory, name, array, order="F", dtype=None, dims=None, extra="", **header):
    """Write an array and its description into a directory."""
    path = pathlib.Path(directory, f"{name}.ra")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(bytes_of(array, order, **header))
    storage = []
    if order == "C" and array.ndim > 1:
        storage.append("order: row")
    if array.dtype.byteorder == ">":
        storage.append("endian: big")
    shape = ", ".join(map(str, array.shape if dims is None else dims))
    lines = [
        "ndarrays:",
        f"  {path.stem}:",
        f"    shape: [{shape}]",
        f"    type: {dtype or np.dtype(array.dtype).name}",
    ]
    if storage:
        lines.append(f"    storage: {{{', '.join(storage)}}}")
    path.with_suffix(".yaml").write_text("\n".join(lines) + "\n" + extra)
