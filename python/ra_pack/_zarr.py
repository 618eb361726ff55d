"""``zarr_store``: a pack as a store of zarr."""

from __future__ import annotations

import asyncio
import builtins
import json
import os
from collections.abc import AsyncIterator, Iterable
from typing import Any

import numpy as np
from zarr.abc.store import ByteRequest, OffsetByteRequest, RangeByteRequest, Store
from zarr.core.buffer import Buffer, BufferPrototype, default_buffer_prototype

from ._convert import refs
from ._ra_pack import Pack, open as open_pack

__all__ = ["PackStore", "zarr_store"]


def zarr_store(pack: str | os.PathLike[str] | Pack, *, skip: bool = False) -> PackStore:
    """Present a pack as a read-only store of zarr (3.0 or newer).

    The store has the format Zarr 2, and the keys of :func:`ra_pack.refs`. A chunk is read when zarr asks for it. It is
    compared with the manifest as :class:`ra_pack.Array` does: if it is the whole array, or if the pack lists digests of
    blocks.

    Parameters
    ----------
    pack : str, os.PathLike or Pack
        The path or URL of a pack, or an open pack at a path or URL.
    skip : bool
        Leave out arrays that Zarr cannot express. By default they are errors.

    Returns
    -------
    PackStore
        A `zarr.abc.store.Store`, for `zarr.open_group` and the engine `zarr` of xarray.

    Raises
    ------
    Unsupported
        If Zarr cannot express an array and `skip` is false.

    Examples
    --------
    >>> import numpy as np, ra_pack, tempfile, os, zarr
    >>> path = os.path.join(tempfile.mkdtemp(), "run.zip")
    >>> report = ra_pack.write(path, {"run1/depth": np.array([5.0, 20.0])})
    >>> zarr.open_group(ra_pack.zarr_store(path), mode="r")["run1/depth"][:]
    array([ 5., 20.])
    """
    opened = pack if isinstance(pack, Pack) else open_pack(pack)
    return PackStore(opened, skip=skip)


class PackStore(Store):
    """A pack as a store of zarr. `ra_pack.zarr_store` makes one."""

    supports_writes = False
    supports_deletes = False
    supports_listing = True

    def __init__(self, pack: Pack, *, skip: bool = False) -> None:
        super().__init__(read_only=True)
        self.pack = pack
        # The absolute path, or the URL with its secrets, as in a pickled pack.
        opening: Any = pack.__reduce__()
        self._target = opening[1][0]
        found = refs(self._target, skip=skip)["refs"]
        self._metadata = {key: one.encode() for key, one in found.items() if isinstance(one, str)}
        #: All keys, in their order.
        self._keys = dict.fromkeys(found)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PackStore) and (other._target, other._metadata) == (self._target, self._metadata)

    def __repr__(self) -> str:
        return f"PackStore({str(self.pack.path)!r})"

    async def get(
        self, key: str, prototype: BufferPrototype | None = None, byte_range: ByteRequest | None = None
    ) -> Buffer | None:
        if key not in self._keys:
            return None
        content = self._metadata.get(key)
        if content is None:
            # Reading waits for the disk without the lock of the interpreter.
            content = await asyncio.to_thread(self._chunk, key)
        buffer = (prototype or default_buffer_prototype()).buffer
        return buffer.from_bytes(content[_slice(byte_range)])

    async def get_partial_values(
        self, prototype: BufferPrototype, key_ranges: Iterable[tuple[str, ByteRequest | None]]
    ) -> builtins.list[Buffer | None]:
        return list(await asyncio.gather(*(self.get(key, prototype, part) for key, part in key_ranges)))

    async def exists(self, key: str) -> bool:
        return key in self._keys

    async def set(self, key: str, value: Buffer) -> None:
        self._check_writable()

    async def delete(self, key: str) -> None:
        self._check_writable()

    async def list(self) -> AsyncIterator[str]:
        for key in self._keys:
            yield key

    async def list_prefix(self, prefix: str) -> AsyncIterator[str]:
        for key in self._keys:
            if key.startswith(prefix):
                yield key

    async def list_dir(self, prefix: str) -> AsyncIterator[str]:
        above = f"{prefix.rstrip('/')}/" if prefix else ""
        names = {key[len(above) :].partition("/")[0] for key in self._keys if key.startswith(above)}
        for name in sorted(names):
            yield name

    def _chunk(self, key: str) -> bytes:
        """Reads the elements of a chunk."""
        name, _, numbers = key.rpartition("/")
        array, metadata = self.pack[name], json.loads(self._metadata[f"{name}/.zarray"])
        part = tuple(
            slice(int(number) * length, (int(number) + 1) * length)
            for number, length in zip(numbers.split("."), metadata["chunks"])
        )
        # The last index of an array in Zarr is the fastest.
        is_reversed = array.order == "F"
        elements = np.asarray(array[part[::-1] if is_reversed else part])
        elements = elements.T if is_reversed else elements
        dtype = metadata["dtype"]
        chunk = np.zeros(metadata["chunks"], dtype if isinstance(dtype, str) else [(name, kind) for name, kind in dtype])
        chunk[tuple(map(slice, elements.shape))] = elements
        return chunk.tobytes()


def _slice(request: ByteRequest | None) -> slice:
    if request is None:
        return slice(None)
    if isinstance(request, RangeByteRequest):
        return slice(request.start, request.end)
    if isinstance(request, OffsetByteRequest):
        return slice(request.offset, None)
    return slice(-request.suffix, None) if request.suffix else slice(0)
