"""The xarray engine ``ra-pack``: groups of a pack as datasets, and the pack as a tree."""

from __future__ import annotations

import asyncio
import gc
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePath, PurePosixPath
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import xarray as xr
from xarray.backends import AbstractDataStore, BackendArray, BackendEntrypoint, CachingFileManager
from xarray.backends.store import StoreBackendEntrypoint
from xarray.core import indexing

from . import Array, Error, NotFound, Pack, open as open_pack, xarray as _accessor  # which registers it
from ._groups import UNLIMITED, UNNAMED, Group, Groups, Source, is_below
from ._index import outer

__all__ = ["RaPackBackend"]

#: Files at the top of a pack. A program that looks for an engine tells a pack from another zip by them.
MANIFESTS = ("manifest-sha256.txt", "manifest-sha512.txt")


class Unverified:
    """An array of a pack whose selections are not compared with the manifest."""

    def __init__(self, array: Array) -> None:
        self.array = array
        self.shape = array.shape

    def __getitem__(self, key: tuple[Any, ...]) -> Any:
        return self.array._unchecked(key)


class PackArray(BackendArray):
    """One array of a pack, read when xarray asks for its elements.

    It keeps the path and not the data, so it can be pickled and sent to other processes.
    """

    def __init__(self, manager: CachingFileManager[Pack], source: Source, verify: bool | None) -> None:
        self.manager = manager
        self.member = source.member
        self.shape = source.shape
        self.dtype = source.dtype
        self.verify = verify

    def __getitem__(self, key: indexing.ExplicitIndexer) -> np.ndarray[Any, Any]:
        if isinstance(key, indexing.VectorizedIndexer):
            support = indexing.IndexingSupport.OUTER
            return np.asarray(indexing.explicit_indexing_adapter(key, self.shape, support, self._read))
        # xarray's adapter refuses an empty slice with a negative step.
        return self._read(key.tuple)

    async def async_getitem(self, key: indexing.ExplicitIndexer) -> np.ndarray[Any, Any]:
        # Reading waits for the disk without the lock of the interpreter.
        return await asyncio.to_thread(self.__getitem__, key)

    def compare(self) -> None:
        """Compares the whole array with the manifest, unless the user declined."""
        if self.verify is not False:
            self.manager.acquire()[self.member].verify()

    def _read(self, key: tuple[Any, ...]) -> np.ndarray[Any, Any]:
        """Reads integers, slices, and index arrays that select along one axis each."""
        array: Any = self.manager.acquire()[self.member]
        if self.verify:
            # The manifest has a digest of the whole array only.
            array = array.read()
        elif self.verify is False:
            array = Unverified(array)
        return outer(array, key)


#: Objects that refer to much else and to no data of a user.
_OPAQUE = (type, ModuleType, np.ndarray, str, bytes, int, float, np.generic, CachingFileManager)


def sources(data: Any) -> Iterator[PackArray]:
    """Finds the arrays of packs to which lazy data refers, such as a Dask graph."""
    seen: set[int] = set()
    left = [data]
    while left:
        one = left.pop()
        # Data on a cluster refers to the whole client.
        if id(one) in seen or isinstance(one, _OPAQUE) or type(one).__module__.startswith("distributed."):
            continue
        seen.add(id(one))
        if isinstance(one, PackArray):
            yield one
        elif isinstance(one, FunctionType):
            left += [one.__closure__, one.__defaults__, one.__kwdefaults__]
        else:
            left += gc.get_referents(one)


def _with_arrays(attrs: Mapping[str, Any]) -> dict[str, Any]:
    """Returns attributes whose lists of numbers are arrays, as in NetCDF. A description has one form for both."""
    kinds = (int, float)
    return {
        name: np.array(value) if isinstance(value, list) and value and isinstance(value[0], kinds) else value
        for name, value in attrs.items()
    }


class GroupStore(AbstractDataStore):
    """The variables and attributes of one group, before xarray decodes them."""

    def __init__(self, manager: CachingFileManager[Pack], group: Group, verify: bool | None, target: Any) -> None:
        self.manager = manager
        self.group = group
        self.verify = verify
        #: The path, which is part of each encoding, as in other engines; None for a file object.
        self.source = str(target) if isinstance(target, (str, PurePath)) else None
        if self.source and self.source.startswith("file:"):
            self.source = os.path.abspath(manager.acquire().path)

    def get_attrs(self) -> dict[str, Any]:
        return {name: value for name, value in _with_arrays(self.group.attrs).items() if name != UNLIMITED}

    def get_encoding(self) -> dict[str, Any]:
        encoding: dict[str, Any] = {"source": self.source}
        if (unlimited := self.group.attrs.get(UNLIMITED)) is not None:
            encoding["unlimited_dims"] = set(np.atleast_1d(unlimited).tolist())
        return encoding

    def get_variables(self) -> dict[str | None, xr.Variable]:
        found = self.group.variables.items()
        return {None if name == UNNAMED else name: self._variable(source) for name, source in found}

    def _variable(self, source: Source) -> xr.Variable:
        # xarray writes text with this dtype to any format, in the width that it then has.
        dtype = np.dtype("S1") if source.dtype.kind == "S" else source.dtype
        encoding: dict[str, Any] = {"dtype": dtype, "source": self.source}
        attrs = _with_arrays(source.attrs)
        if source.values is not None:
            return xr.Variable(source.dims, source.values, attrs, encoding)
        chunks = source.shape if self.verify else source.chunks
        # An array of one chunk can be divided in any way, unless all of it is to be verified.
        if self.verify or chunks != source.shape:
            # A dimension of length 0 has no chunks.
            encoding["preferred_chunks"] = {dim: max(1, chunk) for dim, chunk in zip(source.dims, chunks)}
        data = indexing.LazilyIndexedArray(PackArray(self.manager, source, self.verify))
        return xr.Variable(source.dims, data, attrs, encoding)

    def close(self) -> None:
        self.manager.close()


class RaPackBackend(BackendEntrypoint):
    """The engine ``ra-pack`` of xarray, which opens archives and directories of RawArray files that have a manifest.

    `open_dataset`, `open_datatree` and `open_groups` of xarray take these parameters in addition to their own.

    Parameters
    ----------
    group : str, optional
        The group to open, such as ``"run1"``; the root by default.
    verify : bool, optional
        By default, a variable is compared with the manifest if all of it is read at once. If true, parts are also
        compared: a part of a variable is then taken from the whole variable, which is read and checked each time, and
        each variable is one chunk. If false, nothing is compared.
    """

    description = "Open packs of RawArray files: zip, tar or directory"
    supports_groups = True

    def guess_can_open(self, filename_or_obj: Any) -> bool:
        """Returns whether a path is a pack: a directory, zip or tar that has a manifest at its top."""
        if not isinstance(filename_or_obj, (str, os.PathLike)):
            return False
        path = os.fspath(filename_or_obj)
        if not isinstance(path, str) or "://" in path:
            return False
        if not os.path.isdir(path) and not path.lower().endswith((".zip", ".tar")):
            return False
        return _has_manifest(path)

    def open_dataset(
        self,
        filename_or_obj: Any,
        *,
        mask_and_scale: Any = True,
        decode_times: Any = True,
        concat_characters: Any = True,
        decode_coords: Any = True,
        drop_variables: str | Iterable[str] | None = None,
        use_cftime: Any = None,
        decode_timedelta: Any = None,
        group: str | None = None,
        verify: bool | None = None,
    ) -> xr.Dataset:
        """Opens one group as a dataset, with the coordinates that its variables use."""
        manager = _manager(filename_or_obj)
        path = _group_path(group)
        groups = Groups(manager.acquire())
        if path not in groups:
            manager.close()
            raise NotFound(_no_group(filename_or_obj, path, groups))
        store = GroupStore(manager, groups[path].with_all_coordinates(), verify, filename_or_obj)
        return _decode(
            store,
            mask_and_scale=mask_and_scale,
            decode_times=decode_times,
            concat_characters=concat_characters,
            decode_coords=decode_coords,
            drop_variables=drop_variables,
            use_cftime=use_cftime,
            decode_timedelta=decode_timedelta,
        )

    def open_groups_as_dict(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        verify: bool | None = None,
        **decoders: Any,
    ) -> dict[str, xr.Dataset]:
        """Opens each group as a dataset, with the coordinates that its variables use."""
        return self._groups(filename_or_obj, group, verify, inherit=False, decoders=decoders)

    def open_datatree(
        self,
        filename_or_obj: Any,
        *,
        group: str | None = None,
        verify: bool | None = None,
        **decoders: Any,
    ) -> xr.DataTree:
        """Opens a pack as a tree, whose nodes inherit the coordinates of the nodes above."""
        groups = self._groups(filename_or_obj, group, verify, inherit=True, decoders=decoders)
        try:
            tree = xr.DataTree.from_dict(groups)
        except ValueError as error:
            for dataset in groups.values():
                dataset.close()
            hint = "`xarray.open_groups` opens groups that do not form a tree"
            raise ValueError(f"{filename_or_obj}: {error}; {hint}") from error
        for path, dataset in groups.items():
            tree[path].set_close(dataset.close)
        return tree

    def _groups(
        self, target: Any, group: str | None, verify: bool | None, inherit: bool, decoders: Mapping[str, Any]
    ) -> dict[str, xr.Dataset]:
        manager = _manager(target)
        top = _group_path(group)
        groups = Groups(manager.acquire())
        if top not in groups:
            manager.close()
            raise NotFound(_no_group(target, top, groups))
        datasets = {}
        for path in groups:
            if not is_below(path, top):
                continue
            found = groups[path]
            found = found.with_foreign_coordinates(top) if inherit else found.with_all_coordinates()
            relative = "/" + str(PurePosixPath(path).relative_to(top))
            store = GroupStore(manager, found, verify, target)
            datasets["/" if relative == "/." else relative] = _decode(store, **decoders)
        return datasets


def _manager(target: Any) -> CachingFileManager[Pack]:
    """Returns a manager that opens the pack when it is needed, again in each process."""
    return CachingFileManager(_open, target, mode="r")


def _open(target: Any, mode: str) -> Pack:
    """Opens a pack. `CachingFileManager` does not omit the mode after it was pickled."""
    return open_pack(target)


def _decode(store: GroupStore, *, concat_characters: Any = True, **decoders: Any) -> xr.Dataset:
    """Decodes the variables of a group as xarray decodes those of NetCDF."""
    if concat_characters is True:
        # An array of text of width 1 is complete. xarray would join its last dimension.
        single = [name for name, one in store.group.variables.items() if one.dtype == "S1"]
        concat_characters = dict.fromkeys(single, False) if single else True
    return StoreBackendEntrypoint().open_dataset(
        store, concat_characters=concat_characters, **decoders
    )


def _group_path(group: str | None) -> str:
    return "/" + (group or "").strip("/")


def _no_group(target: Any, path: str, groups: Mapping[str, Group]) -> str:
    known = ", ".join(f"`{one}`" for one in list(groups)[:10])
    return f"{target} has no group `{path}`; its groups are {known}"


def _has_manifest(path: str) -> bool:
    if os.path.isdir(path):
        return any(os.path.isfile(os.path.join(path, name)) for name in MANIFESTS)
    try:
        with open_pack(path) as pack:
            return any(_has_file(pack, name) for name in MANIFESTS)
    except Error:
        return False


def _has_file(pack: Any, name: str) -> bool:
    try:
        pack.read_file(name)
    except NotFound:
        return False
    return True
