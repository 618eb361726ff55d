"""Packs of scientific arrays: read, write and verify them.

A pack is a zip, a tar or a directory with arrays, their descriptions and a manifest of their SHA-256 digests.

Examples
--------
>>> import numpy as np, ra_pack, tempfile, pathlib
>>> path = pathlib.Path(tempfile.mkdtemp(), "mooring.zip")
>>> with ra_pack.PackWriter(path, attrs={"title": "Mooring 7"}) as writer:
...     writer.add("depth", np.array([5.0, 20.0]), dims=["depth"], attrs={"units": "m"})
...     writer.add("run1/temperature", np.ones((3, 2), "f4"), dims=["time", "depth"])
>>> pack = ra_pack.open(path)
>>> pack.attrs
{'title': 'Mooring 7'}
>>> list(pack)
['depth', 'run1/temperature']
>>> temperature = pack["run1/temperature"]
>>> temperature.dims, temperature.shape
(('time', 'depth'), (3, 2))
>>> temperature[-1]
array([1., 1.], dtype=float32)
>>> temperature.coords["depth"].attrs
{'units': 'm'}
>>> ra_pack.verify(path).valid
True
"""

import sys as _sys
from collections.abc import Mapping as _Mapping
from typing import TYPE_CHECKING, Any as _Any

from ._array import Plot
from ._audit import audit, audit_report
from ._content import content_digest
from ._convert import convert, refs
from ._describe import describe
from ._errors import (
    AlreadyExists,
    Changed,
    Damaged,
    Error,
    Interrupted,
    InvalidOption,
    IoError,
    Mismatch,
    NoPermission,
    NoSuchFile,
    NotAnArray,
    NotAPack,
    NotFound,
    Refused,
    TooLarge,
    Unsupported,
    WrongTarget,
)
from ._operations import create, diff, extract, validate, verify
from ._pack import Group, Tree
from ._ra_pack import Array, Pack, __version__, open
from ._reports import (
    ArrayDiff,
    AuditedTarget,
    AuditReport,
    ConvertReport,
    CreateReport,
    DescribeReport,
    ExtractReport,
    Finding,
    LogLine,
    PackDiff,
    ValidateReport,
    VerifyReport,
)
from ._writer import ArrayStream, PackWriter

if TYPE_CHECKING:
    from ._write import write
    from ._virtualizarr import RaPackParser as RaPackParser
    from ._zarr import zarr_store as zarr_store

_Mapping.register(Pack)

__all__ = [
    "AlreadyExists",
    "Array",
    "ArrayDiff",
    "ArrayStream",
    "AuditReport",
    "AuditedTarget",
    "Changed",
    "ConvertReport",
    "CreateReport",
    "Damaged",
    "DescribeReport",
    "Error",
    "ExtractReport",
    "Finding",
    "Group",
    "Interrupted",
    "InvalidOption",
    "IoError",
    "LogLine",
    "Mismatch",
    "NoPermission",
    "NoSuchFile",
    "NotAPack",
    "NotAnArray",
    "NotFound",
    "Pack",
    "PackDiff",
    "PackWriter",
    "Plot",
    "Refused",
    "TooLarge",
    "Tree",
    "Unsupported",
    "ValidateReport",
    "VerifyReport",
    "WrongTarget",
    "__version__",
    "audit",
    "audit_report",
    "content_digest",
    "convert",
    "create",
    "describe",
    "diff",
    "extract",
    "open",
    "refs",
    "validate",
    "verify",
    "write",
]


def __getattr__(name: str) -> _Any:
    # These need xarray, zarr or VirtualiZarr, whose import takes longer than most uses of this module.
    if name == "write":
        from ._write import write

        return write
    if name in ("zarr_store", "RaPackParser"):
        from importlib import import_module

        return getattr(import_module("._zarr" if name == "zarr_store" else "._virtualizarr", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


if "xarray" in _sys.modules:
    # xarray has no other way to know the accessor before it loads its engines.
    from . import xarray as xarray
