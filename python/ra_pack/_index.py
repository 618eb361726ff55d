"""Indices with arrays, which select single rows: NumPy's, and those along each axis of its own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

#: An index array is read as separate runs if these have less than this part of its range.
SPARSE = 0.5

_Index = np.ndarray[Any, np.dtype[np.intp]]
#: Reads integers and slices, one for each axis.
_Read = Callable[[tuple[Any, ...]], Any]


def select(array: Any, key: Any, read: _Read) -> Any:
    """Returns what NumPy's indexing gives for this key."""
    parts, shown = _parts(key, array.shape)
    # An integer among arrays is one of them for NumPy, so its axis stays until the end.
    wanted = [slice(part, part + 1) if isinstance(part, int) else part for part in parts]
    block, inner = read_rows(read, wanted)

    def within(part: Any) -> Any:
        if not isinstance(part, _Axis):
            return part
        return inner.get(part, 0 if isinstance(parts[part], int) else slice(None))

    return block[tuple(map(within, shown))]


def read_rows(read: _Read, parts: Sequence[Any]) -> tuple[np.ndarray[Any, Any], dict[int, _Index]]:
    """Reads the part of an array that integers, slices and index arrays need, one for each axis, and returns it with the
    index arrays within it.

    The rows along one axis are read as runs if they are few, and a range along each other one.
    """
    wanted, inner = list(parts), {}
    arrays = {axis: part for axis, part in enumerate(parts) if isinstance(part, np.ndarray)}
    for axis, index in arrays.items():
        wanted[axis], inner[axis] = _range(index)
    spans = {axis: wanted[axis].stop - wanted[axis].start for axis in arrays}
    if not arrays:
        return np.asarray(read(tuple(wanted))), inner
    axis = max(arrays, key=lambda axis: spans[axis] / max(1, arrays[axis].size))
    rows, inverse = np.unique(inner[axis], return_inverse=True)
    if len(rows) >= SPARSE * spans[axis]:
        return np.asarray(read(tuple(wanted))), inner
    start = wanted[axis].start
    parts = []
    for run in np.split(rows + start, np.flatnonzero(np.diff(rows) > 1) + 1):
        wanted[axis] = slice(int(run[0]), int(run[-1]) + 1)
        parts.append(np.asarray(read(tuple(wanted))))
    inner[axis] = inverse.reshape(inner[axis].shape)
    return np.concatenate(parts, axis=place(wanted, axis)), inner


def place(key: Sequence[Any], axis: int) -> int:
    """Returns the axis of the result: an integer before the axis removes a dimension."""
    return axis - sum(isinstance(index, (int, np.integer)) for index in key[:axis])


def outer(array: Any, key: Sequence[Any]) -> np.ndarray[Any, Any]:
    """Returns the elements that integers, slices, and index arrays select along one axis each."""
    parts = [
        _within(index, array.shape[axis], axis) if isinstance(index, np.ndarray) else index
        for axis, index in enumerate(key)
    ]
    block, inner = read_rows(array.__getitem__, parts)
    for axis, index in inner.items():
        block = np.take(block, index, axis=place(key, axis))
    return block


class OuterIndexer:
    """Selects along each axis of its own, as xarray and zarr do: ``array.oindex[[0, 2], :, [1, 3]]``."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> np.ndarray[Any, Any]:
        parts, _ = _parts(key, self.array.shape)
        if any(isinstance(part, np.ndarray) and part.ndim > 1 for part in parts):
            raise IndexError("an index of `oindex` has one dimension; `vindex` takes others")
        return outer(self.array, parts)


class VectorIndexer:
    """Selects points: the dimensions of the index arrays come first, as in xarray and zarr."""

    def __init__(self, array: Any) -> None:
        self.array = array

    def __getitem__(self, key: Any) -> Any:
        parts, _ = _parts(key, self.array.shape)
        parts = [part if isinstance(part, slice) else np.asarray(part) for part in parts]
        block, inner = read_rows(self.array.__getitem__, parts)
        return np.moveaxis(block, list(inner), range(len(inner)))[tuple(inner.values())]


class _Axis(int):
    """The number of an axis, which takes the place of the index of this axis in a key."""


def _parts(key: Any, shape: Sequence[int]) -> tuple[list[Any], list[Any]]:
    """Returns an integer, a slice or an index array for each axis, and the key with an `_Axis` for each of them.

    The rest of the key is `None` and booleans without dimensions. Integers and arrays are not negative.
    """
    given = [_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    if sum(part is ... for part in given) > 1:
        raise IndexError("an index can only have a single ellipsis ('...')")
    used = sum(_axes(part) for part in given)
    if used > len(shape):
        raise IndexError(
            f"too many indices for array: array is {len(shape)}-dimensional, but {used} were indexed"
        )
    parts: list[Any] = []
    shown: list[Any] = []

    for part in given:
        if part is ...:
            parts += [slice(None)] * (len(shape) - used)
            # NumPy separates the arrays around it also without an axis between them.
            shown.append(part)
        elif not _axes(part):
            shown.append(part)
        elif isinstance(part, np.ndarray) and part.dtype == bool:
            for axis, length in enumerate(part.shape, len(parts)):
                if length != shape[axis]:
                    raise IndexError(
                        f"boolean index did not match indexed array along axis {axis}; "
                        f"size of axis is {shape[axis]} but size of corresponding boolean axis is {length}"
                    )
            shown += [_Axis(len(parts) + nth) for nth in range(part.ndim)]
            parts += part.nonzero()
        else:
            shown.append(_Axis(len(parts)))
            parts.append(part)
    for axis in range(len(parts), len(shape)):
        shown.append(_Axis(axis))
        parts.append(slice(None))
    for axis, part in enumerate(parts):
        if isinstance(part, int):
            parts[axis] = int(_within(np.asarray(part, object), shape[axis], axis))
        elif isinstance(part, np.ndarray):
            parts[axis] = _within(part, shape[axis], axis)
    return parts, shown


def _part(part: Any) -> Any:
    """Returns a part of a key: None, an ellipsis, a slice, an integer, or an array of integers or booleans."""
    if part is None or part is ... or isinstance(part, (slice, bool, np.bool_)):
        return part
    if not isinstance(part, np.ndarray) and hasattr(type(part), "__index__"):
        return part.__index__()
    index = np.asarray(part)
    if index.dtype == bool or index.dtype.kind in "iu":
        return index
    if not isinstance(part, np.ndarray) and not index.size:
        return index.astype(np.intp)
    raise IndexError(
        "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid "
        "indices"
    )


def _axes(part: Any) -> int:
    """Returns the number of axes that a part selects from."""
    if part is None or part is ... or isinstance(part, (bool, np.bool_)):
        return 0
    return part.ndim if isinstance(part, np.ndarray) and part.dtype == bool else 1


def _within(index: np.ndarray[Any, Any], length: int, axis: int) -> _Index:
    """Returns an index array without negative numbers. Numbers out of range are an error."""
    if len(out := index[(index < -length) | (index >= length)].reshape(-1)):
        raise IndexError(f"index {out[0]} is out of bounds for axis {axis} with size {length}")
    return np.where(index < 0, index + length, index).astype(np.intp)


def _range(index: _Index) -> tuple[slice, _Index]:
    """Returns the range of an index array, and the index array within this range."""
    if not index.size:
        return slice(0, 0), index
    return slice(int(index.min()), int(index.max()) + 1), index - index.min()
