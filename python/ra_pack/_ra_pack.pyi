import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from types import EllipsisType
from typing import Any, Literal, SupportsIndex, TypedDict, TypeVar, overload

import numpy as np
from numpy.typing import DTypeLike, NDArray

from ._reports import AuditReport, CreateReport, VerifyReport

__version__: str

_Path = str | os.PathLike[str]
_Part = SupportsIndex | slice | EllipsisType | None
_Attrs = dict[str, Any]
#: A target, the shard of its contents or None, and the number of bytes to read.
_Planned = tuple[str, str | None, int]
_T = TypeVar("_T")

class _Dimension(TypedDict):
    name: str
    length: int | None
    coordinate: str | None

class _Array(TypedDict):
    name: str
    array: str | None
    shape: tuple[int, ...]
    dims: tuple[str | None, ...]
    attrs: _Attrs
    order: Literal["C", "F"]
    element: str | None
    dtype: np.dtype[Any] | None
    chunks: tuple[int, ...]
    fill_value: Any
    values: NDArray[Any] | None

class _Group(TypedDict):
    path: str
    attrs: _Attrs
    dimensions: list[_Dimension]
    coordinates: list[_Array]
    variables: list[_Array]

class _Outline(TypedDict):
    attrs: _Attrs
    groups: list[_Group]

class _Plan(TypedDict):
    parts: list[_Planned]
    recent: int
    beyond: int
    seconds: float | None

class _Run(TypedDict):
    shard: str | None
    strict: bool
    jobs: int | None
    seconds: float | None

class Array:
    @property
    def name(self) -> str: ...
    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dims(self) -> tuple[str, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def attrs(self) -> _Attrs: ...
    @property
    def coords(self) -> dict[str, Array | NDArray[Any]]: ...
    @property
    def order(self) -> Literal["C", "F"]: ...
    @property
    def ndim(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def fill_value(self) -> Any: ...
    @property
    def chunks(self) -> tuple[int, ...]: ...
    def read(self, *, verify: bool = True) -> NDArray[Any]: ...
    def view(self) -> NDArray[Any]: ...
    def __getitem__(self, key: _Part | tuple[_Part, ...]) -> Any: ...
    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Any]: ...

class Pack(Mapping[str, Array]):
    @property
    def path(self) -> str: ...
    @property
    def attrs(self) -> _Attrs: ...
    @property
    def groups(self) -> list[str]: ...
    def group_attrs(self, name: str) -> _Attrs: ...
    def outline(self, group: str | None = None) -> _Outline: ...
    def read_file(self, name: str) -> bytes: ...
    def close(self) -> None: ...
    @overload
    def get(self, key: str, default: None = None, /) -> Array | None: ...
    @overload
    def get(self, key: str, default: _T, /) -> Array | _T: ...
    def keys(self) -> list[str]: ...  # type: ignore[override]
    def values(self) -> list[Array]: ...  # type: ignore[override]
    def items(self) -> list[tuple[str, Array]]: ...  # type: ignore[override]
    def __getitem__(self, key: str, /) -> Array: ...
    def __contains__(self, key: object, /) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[str]: ...
    def __enter__(self) -> Pack: ...
    def __exit__(self, *_exception: object) -> None: ...

class Writer:
    def __init__(self, path: _Path, update: bool, options: Mapping[str, Any]) -> None: ...
    def group(self, name: str, attrs: Mapping[str, Any]) -> None: ...
    def add(
        self,
        name: str,
        array: NDArray[Any],
        bytes: int,
        header: bytes,
        bfloat16: bool,
        dims: list[str] | None,
        attrs: Mapping[str, Any] | None,
        fill_value: Any,
    ) -> None: ...
    def add_blocks(
        self,
        name: str,
        blocks: Iterable[NDArray[Any]],
        header: bytes,
        dims: list[str] | None,
        attrs: Mapping[str, Any] | None,
        fill_value: Any,
    ) -> None: ...
    def add_bytes(self, name: str, content: bytes) -> None: ...
    def add_path(self, name: str, path: _Path) -> None: ...
    def remove(self, name: str) -> None: ...
    def finish(self) -> CreateReport: ...
    def abort(self) -> None: ...

class AuditLog:
    def __init__(self, path: _Path) -> None: ...
    def append(self, lines: list[str]) -> None: ...
    def verify(self, targets: list[str], options: _Run) -> int: ...

def open(path: _Path) -> Pack: ...
def create(
    source: _Path, path: _Path, shared: Mapping[str, Any], directory: Mapping[str, Any]
) -> CreateReport: ...
def verify(
    path: _Path,
    fast: bool,
    only_manifests: bool,
    strict: bool,
    jobs: int | None,
    manifest: _Path | None,
) -> VerifyReport: ...
def verify_lines(targets: list[str], options: _Run) -> list[str]: ...
def line_without_result(target: str, reason: str) -> str: ...
def plan(
    targets: list[str],
    logs: list[str],
    max_age: str | timedelta | None,
    budget: str | timedelta | None,
    divide: int | None,
) -> _Plan: ...
def audit_report(
    logs: list[str], targets: list[str] | None, max_age: str | timedelta | None
) -> AuditReport: ...
def run(words: Sequence[str]) -> int: ...
