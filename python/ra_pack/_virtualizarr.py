"""``RaPackParser``: packs as virtual datasets of VirtualiZarr."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from obspec_utils.registry import ObjectStoreRegistry
from virtualizarr.manifests import ManifestStore
from virtualizarr.parsers.kerchunk.translator import manifestgroup_from_kerchunk_refs

from ._convert import refs
from ._errors import Unsupported
from ._groups import with_parents
from ._ra_pack import open as open_pack

__all__ = ["RaPackParser"]


class RaPackParser:
    """A parser of VirtualiZarr (2.5 or newer) for packs, which makes virtual datasets for Icechunk and kerchunk.

    Parameters
    ----------
    group : str, optional
        The group to open, such as ``"run1"``; the root by default. It has the coordinates of the groups above that its
        arrays use.
    skip : bool
        Leave out arrays that Zarr cannot express, and structures. By default they are errors.
    skip_variables : iterable of str, optional
        Names of arrays to leave out.
    """

    def __init__(
        self, group: str | None = None, *, skip: bool = False, skip_variables: Iterable[str] | None = None
    ) -> None:
        self.group = (group or "").strip("/")
        self.skip = skip
        self.skip_variables = [] if skip_variables is None else list(skip_variables)

    def __call__(self, url: str, registry: ObjectStoreRegistry[Any]) -> ManifestStore:
        """Return the store of the group of a pack.

        Parameters
        ----------
        url : str
            The URL of the pack, such as ``file:///data/run.zip`` or ``s3://bucket/run.zip``.
        registry : obspec_utils.registry.ObjectStoreRegistry
            The object stores that read the chunks later. This module reads the metadata of the pack itself.

        Returns
        -------
        virtualizarr.manifests.ManifestStore
        """
        with open_pack(url) as pack:
            found = refs(pack.path if url.startswith("file:") else url, url, skip=self.skip)["refs"]
        chosen: Any = {"version": 1, "refs": self._of_group(found)}
        group = manifestgroup_from_kerchunk_refs(chosen, skip_variables=self.skip_variables)
        return ManifestStore(group=group, registry=registry)

    def _of_group(self, found: dict[str, Any]) -> dict[str, Any]:
        """Returns the references of the arrays of the group, and of the coordinates above that they use."""
        start = f"{self.group}/" if self.group else ""
        if f"{start}.zgroup" not in found:
            raise KeyError(f"the pack has no group `{self.group}`")
        arrays = _arrays(found, start)
        used = {dim for one in arrays.values() for dim in json.loads(one[".zattrs"])["_ARRAY_DIMENSIONS"]}
        for above in [*(f"{path}/" for path in with_parents(self.group)[1:]), ""]:
            for name, one in _arrays(found, above).items():
                # Another array of the name hides a coordinate.
                if name in used and json.loads(one[".zattrs"])["_ARRAY_DIMENSIONS"] == [name]:
                    arrays.setdefault(name, one)
        chosen = {key: found[f"{start}{key}"] for key in (".zgroup", ".zattrs")}
        for name, keys in arrays.items():
            metadata = json.loads(keys[".zarray"])
            if not isinstance(metadata["dtype"], str):
                if not self.skip and name not in self.skip_variables:
                    raise Unsupported(f"`{start}{name}` is a structure, which VirtualiZarr does not read; use `skip=`")
                continue
            if not metadata["shape"]:
                keys["c"] = keys.pop("0")  # the name in Zarr 3 of the chunk of a scalar
            chosen |= {f"{name}/{key}": one for key, one in keys.items()}
        return chosen


def _arrays(found: dict[str, Any], start: str) -> dict[str, dict[str, Any]]:
    """Returns the references of the arrays of one group by their names."""
    arrays: dict[str, dict[str, Any]] = {}
    for key, one in found.items():
        name, _, rest = key.removeprefix(start).partition("/")
        if key.startswith(start) and rest and f"{start}{name}/.zarray" in found:
            arrays.setdefault(name, {})[rest] = one
    return arrays
