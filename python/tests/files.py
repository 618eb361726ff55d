"""Test data: files of packs that are written by hand."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import numpy as np

EXPERIMENT = Path(__file__).parents[2] / "examples" / "experiment"
#: The eltype of the header for each kind of NumPy.
ELTYPES = {"V": 0, "S": 0, "i": 1, "u": 2, "b": 2, "f": 3, "c": 4}


def write_ra(path: Path, array: Any, *, row: bool = False) -> None:
    """Writes an array as RawArray: with the first index fastest, or the last index for `row`."""
    array = np.asarray(array)
    dims = array.shape[::-1] if row else array.shape
    is_big = array.dtype.newbyteorder("=") != array.dtype and array.dtype.isnative is False
    head = struct.pack(
        f"<8s5Q{len(dims)}Q",
        b"rawarray",
        int(is_big),
        ELTYPES[array.dtype.kind],
        array.dtype.itemsize,
        array.nbytes,
        len(dims),
        *dims,
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(head + array.tobytes("C" if row else "F"))


def write_directory(root: Path, arrays: dict[str, Any], descriptions: dict[str, str]) -> Path:
    """Writes arrays and descriptions as a directory that `create` can pack."""
    for name, array in arrays.items():
        text = descriptions.get(name, "")
        write_ra(root / f"{name}.ra", array, row="order: row" in text)
    for name, text in descriptions.items():
        path = root / f"{name}.yaml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return root
