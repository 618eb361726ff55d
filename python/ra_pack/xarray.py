"""The accessor ``ra_pack`` of xarray's objects: ``ds.ra_pack.to_pack("run.zip")``.

xarray's objects have it if xarray was imported before ``ra_pack``, and after xarray opened any file, because it then
loads all engines. Otherwise, ``import ra_pack.xarray`` adds it.

Examples
--------
>>> import xarray as xr, ra_pack.xarray, tempfile, os
>>> path = os.path.join(tempfile.mkdtemp(), "run.zip")
>>> report = xr.Dataset({"depth": ("station", [5.0, 20.0])}).ra_pack.to_pack(path)
>>> xr.open_dataset(path, engine="ra-pack").ra_pack.verify().valid
True
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import xarray as xr

from ._operations import verify
from ._reports import CreateReport, VerifyReport
from ._write import write

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._write import WriteOptions

__all__ = ["Accessor"]


class Accessor:
    """Packs of a `Dataset`, a `DataArray` or a `DataTree`."""

    def __init__(self, obj: xr.Dataset | xr.DataArray | xr.DataTree) -> None:
        self._obj = obj

    def to_pack(self, path: str | os.PathLike[str], **options: Unpack[WriteOptions]) -> CreateReport:
        """Write the object as a pack.

        Parameters
        ----------
        path : str or path-like
            The archive: ``.zip``, ``.tar``, ``.tar.gz`` or ``.tar.zst``.
        **options
            Those of :func:`ra_pack.write`.

        Returns
        -------
        CreateReport
        """
        return write(path, self._obj, **options)

    def verify(self) -> VerifyReport:
        """Verify the pack that the object was opened from.

        Returns
        -------
        VerifyReport
            All problems. It is true if the pack is valid.

        Raises
        ------
        ValueError
            If the object was not opened from a file, such as the result of a computation.
        """
        opened = self._obj.root if isinstance(self._obj, xr.DataTree) else self._obj
        source = opened.encoding.get("source")
        if source is None:
            raise ValueError(
                f'this {type(opened).__name__} has no `encoding["source"]`, so it was not opened from a pack; '
                "`ra_pack.verify(path)` verifies a pack"
            )
        return verify(source)


_REGISTRATIONS: list[Callable[[str], Callable[[type], Any]]] = [
    xr.register_dataset_accessor,
    xr.register_dataarray_accessor,
    xr.register_datatree_accessor,
]
for _register in _REGISTRATIONS:
    _register("ra_pack")(Accessor)
