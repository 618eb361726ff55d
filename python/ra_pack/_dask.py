"""Dask arrays: chunks that come to this process, or that the workers of a cluster write to their place in the archive."""

from __future__ import annotations

import itertools
import math
import os
import platform
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ._errors import Mismatch

#: Bytes of a Dask array that are computed at once, if its chunks are smaller.
COMPUTED_AT_ONCE = 16 << 20


def is_lazy(array: object) -> bool:
    """Return whether an array is one of Dask whose chunks can be written one after the other."""
    # The module of an array of Dask is imported already.
    module = sys.modules.get("dask.array")
    if module is None or not isinstance(array, module.Array):
        return False
    return bool(array.ndim) and array.dtype.kind in "biufcmMSUV" and not math.isnan(sum(array.shape))


def blocks(array: Any) -> Iterator[np.ndarray[Any, Any]]:
    """Compute a Dask array in the parts that its chunks have along the first dimension, several at once."""
    from dask.base import compute

    whole_rows = array.rechunk(dict.fromkeys(range(1, array.ndim), -1), method="tasks")
    # The graph is optimized once. Slices of the array would be optimized with the whole graph for each computation.
    delayed = whole_rows.to_delayed().ravel()
    row = array.nbytes // max(1, len(array))
    parts: list[Any] = []
    size = 0
    for part, length in zip(delayed, array.chunks[0]):
        parts.append(part)
        size += length * row
        if size >= COMPUTED_AT_ONCE:
            yield from map(np.asanyarray, compute(*parts))  # type: ignore[no-untyped-call]
            parts, size = [], 0
    yield from map(np.asanyarray, compute(*parts))  # type: ignore[no-untyped-call]


def client_of(array: Any) -> Any:
    """Return the client of a cluster that computes an array; None if this process does."""
    from dask.base import get_scheduler

    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    client = getattr(get_scheduler(collections=[array]), "__self__", None)  # type: ignore[no-untyped-call]
    return client if isinstance(client, distributed.Client) else None


def store(
    array: Any,
    name: str,
    dtype: np.dtype[Any],
    convert: Callable[[Any], np.ndarray[Any, Any]],
    place: Callable[[], tuple[str | os.PathLike[str], int] | None],
) -> bool:
    """Write a Dask array to the place that `place` returns, if a cluster computes it whose workers all see the file.
    Return whether it is written."""
    if (client := client_of(array)) is None or (found := place()) is None:
        return False
    target = Place(name, os.path.abspath(found[0]), found[1], array.shape, dtype, convert)
    if not target.is_seen_by(client):
        return False
    from dask.array import store

    store(array, target, lock=False)  # type: ignore[arg-type]
    return True


@dataclass(frozen=True)
class Place:
    """The place of an array in a file, to which the workers of a cluster write its chunks, in row-major order."""

    name: str
    path: str
    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    #: Returns the elements of a chunk as this dtype.
    convert: Callable[[Any], np.ndarray[Any, Any]]
    #: The computer of the calling process.
    machine: str = field(default_factory=lambda: _machine())

    def is_seen_by(self, client: Any) -> bool:
        """Return whether each worker can write to the file. Without workers, nobody knows."""
        with open(self.path, "rb") as file:
            file.seek(self.offset - 1)
            before = file.read(1)
        answers = client.run(self.accepts, before, on_error="return").values()
        return bool(answers) and all(answer is True for answer in answers)

    def accepts(self, before: bytes) -> bool:
        """Write the byte before the array, which stays the same. The name of the file is random: if it is there, it is the
        same file."""
        try:
            self._write([(-1, before)])
        except OSError:
            return False
        return True

    def __setitem__(self, index: tuple[slice, ...], chunk: Any) -> None:
        """Write a chunk. If Dask repeats this, the bytes are the same."""
        values = self.convert(chunk)
        lengths = tuple(one.stop - one.start for one in index)
        if values.shape != lengths:
            raise Mismatch(f"`{self.name}`: expected a chunk of shape {lengths}, found {values.shape}")
        if not values.size:
            return
        # The dimensions from `whole` on are contiguous in the file.
        whole = len(lengths)
        while whole > 1 and lengths[whole - 1] == self.shape[whole - 1]:
            whole -= 1
        strides = [math.prod(self.shape[nth + 1 :]) * self.dtype.itemsize for nth in range(len(lengths))]
        rows = values.reshape(*lengths[: whole - 1], -1).view("u1")
        starts = itertools.product(*(range(one.start, one.stop) for one in index[: whole - 1]))
        first = index[whole - 1].start * strides[whole - 1]
        offsets = (first + sum(map(int.__mul__, at, strides)) for at in starts)
        try:
            self._write(zip(offsets, rows.reshape(-1, rows.shape[-1])))
        except OSError as error:
            reason = f"a worker cannot write a chunk of `{self.name}`: {error.strerror}"
            raise OSError(error.errno, reason, self.path) from None

    def _write(self, parts: Iterable[tuple[int, Any]]) -> None:
        """Write bytes at their offsets in the array; on another computer than that of the calling process, also sync them."""
        # Mapped memory is written in pages, which chunks of other computers share. NFS reads and extends pages of files
        # that can be read. A late worker must not make a file of this name.
        with open(os.open(self.path, os.O_WRONLY | getattr(os, "O_BINARY", 0)), "wb", 0) as file:
            for offset, part in parts:
                file.seek(self.offset + offset)
                while len(part):
                    part = part[file.write(part) :]
            if _machine() != self.machine:
                # The calling process syncs only what its own system has in memory.
                os.fsync(file.fileno())


def _machine() -> str:
    """Return a text that is the same for all processes of one running system."""
    try:
        with open("/proc/sys/kernel/random/boot_id") as file:
            return file.read()
    except OSError:
        return platform.node()
