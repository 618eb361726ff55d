"""The groups of a pack as datasets have them: variables with the names of their dimensions."""

from __future__ import annotations

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ._ra_pack import Pack, _Array, _Group

#: The attribute with the names of dimensions that a description cannot name: NDL has no dimensions of length 0, and none
#: with the name of an array that is not their coordinate.
DIMENSIONS = "_ARRAY_DIMENSIONS"

#: The attribute of a group with the dimensions that NetCDF should have as unlimited ones.
UNLIMITED = "_UNLIMITED_DIMS"

#: xarray's name for the variable without a name in a file.
UNNAMED = "__values__"

#: The outline of a group that contains only groups.
EMPTY: _Group = {"path": "", "attrs": {}, "dimensions": [], "coordinates": [], "variables": []}


@dataclass(frozen=True)
class Source:
    """An array of a pack, or a coordinate whose values are in a description."""

    #: Name of the array in the pack; empty if `values` are given.
    member: str
    dims: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    attrs: dict[str, Any]
    chunks: tuple[int, ...]
    values: np.ndarray[Any, Any] | None = None


@dataclass(frozen=True)
class Borrowed:
    """A coordinate of another group."""

    #: Path of the group that defines it.
    home: str
    #: Its name there.
    name: str
    source: Source


@dataclass(frozen=True)
class Group:
    """A group: its own variables, and the coordinates of other groups that these use."""

    path: str
    attrs: dict[str, Any]
    variables: dict[str, Source]
    #: Coordinates of other groups, by the names of their dimensions in this group.
    borrowed: dict[str, Borrowed]

    def with_all_coordinates(self) -> Group:
        """Returns the group with all coordinates that its variables use."""
        return self._with(self.borrowed)

    def with_foreign_coordinates(self, top: str) -> Group:
        """Returns the group with the coordinates that it does not inherit from a group between `top` and itself."""
        return self._with(
            {
                name: one
                for name, one in self.borrowed.items()
                if one.name != name or not is_below(self.path, one.home) or not is_below(one.home, top)
            }
        )

    def _with(self, borrowed: dict[str, Borrowed]) -> Group:
        sources = {name: one.source for name, one in borrowed.items()}
        return replace(self, variables={**sources, **self.variables})


def is_below(path: str, ancestor: str) -> bool:
    """Returns whether a group is `ancestor` or below it."""
    return PurePosixPath(path).is_relative_to(ancestor)


class Groups(Mapping[str, Group]):
    """The groups of a pack by path, each after its parent. The arrays of a group are looked up when it is requested.

    A dimension has the name of its coordinate without a path, and ``ARRAY_dim_N`` if it has no name. The path goes
    before a name that the group or a group above uses for something else.
    """

    def __init__(self, pack: Pack) -> None:
        self.pack = pack
        #: Paths here and in the outline have no `/` at the beginning: ``run1/time``, ``""``.
        found = pack.outline()
        root: _Group = {**EMPTY, "path": "", "attrs": found["attrs"]}
        self.outline = {group["path"]: group for group in [root, *found["groups"]]}
        self.outline.update({path: {**EMPTY, "path": path} for path in found["empty"]})
        #: Lengths of the dimensions of each group, with those of the groups above.
        self.lengths: dict[str, ChainMap[str, int]] = {}
        #: The coordinate that a name means in each group.
        self.visible: dict[str, ChainMap[str, str]] = {}
        #: The coordinates that names in shapes mean, by group.
        self.targets: dict[str, dict[str, str | None]] = {}
        #: The outline of each coordinate.
        self.coordinates: dict[str, _Array] = {}
        #: Names of the dimensions of each variable, by group.
        self.dims: dict[str, list[tuple[str, ...]]] = {}
        paths = sorted({above for path in self.outline for above in with_parents(path)} | {""})
        # The coordinates of all groups are known before a variable refers to them.
        for path in paths:
            self._define(path)
        for path in paths:
            self.dims[path] = [self._dimensions(path, one) for one in self._outline(path)["variables"]]

    def __iter__(self) -> Iterator[str]:
        return (f"/{path}" for path in self.dims)

    def __len__(self) -> int:
        return len(self.dims)

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and path.startswith("/") and path[1:] in self.dims

    def __getitem__(self, path: str) -> Group:
        path = path[1:]
        outline = self._outline(path)
        variables: dict[str, Source] = {}
        borrowed: dict[str, Borrowed] = {}
        for one in outline["coordinates"]:
            if source := self._source(one, (one["name"],)):
                variables[one["name"]] = source
        for one, dims in zip(outline["variables"], self.dims[path]):
            for name, dim, length in zip(one["dims"], dims, one["shape"]):
                target = self._target(path, name)
                if _named(one) and self.lengths[path].get(dim) == length:
                    target = self.visible[path].get(dim)
                if target and dim not in borrowed and (found := self._borrowed(path, target, dim)):
                    borrowed[dim] = found
            if source := self._source(one, dims):
                variables[one["name"]] = source
        return Group(f"/{path}", outline["attrs"], variables, borrowed)

    def _outline(self, path: str) -> _Group:
        """Returns the outline of a group, which is empty if the group contains only groups."""
        return self.outline.get(path, {**EMPTY, "path": path})

    def _define(self, path: str) -> None:
        above = _parent(path)
        self.lengths[path] = self.lengths[above].new_child() if path else ChainMap({})
        self.visible[path] = self.visible[above].new_child() if path else ChainMap({})
        self.targets[path] = {one["name"]: one["coordinate"] for one in self._outline(path)["dimensions"]}
        for coordinate in self._outline(path)["coordinates"]:
            name = coordinate["name"]
            self.coordinates[_join(path, name)] = coordinate
            self.visible[path][name] = _join(path, name)
            if len(coordinate["shape"]) == 1:
                self.lengths[path][name] = coordinate["shape"][0]

    def _target(self, path: str, name: str | None) -> str | None:
        """Returns the coordinate that a name in a shape means."""
        return self.targets[path].get(name) if name else None

    def _dimensions(self, path: str, one: _Array) -> tuple[str, ...]:
        """Returns the names of the dimensions of a variable."""
        return _named(one) or tuple(
            self._dimension(path, one["name"], nth, name, length, self._target(path, name))
            for nth, (name, length) in enumerate(zip(one["dims"], one["shape"]))
        )

    def _dimension(
        self, path: str, array: str, nth: int, name: str | None, length: int, target: str | None
    ) -> str:
        """Returns the name of a dimension in a group and notes its length."""
        if name is None:
            short, long = f"{array}_dim_{nth}", _flat(_join(path, f"{array}_dim_{nth}"))
        else:
            short, long = name.rsplit("/", 1)[-1], _flat(target or name)
        lengths = self.lengths[path]
        is_other = target is not None and self.visible[path].get(short, target) != target
        chosen = long if is_other or lengths.get(short, length) != length else short
        lengths.setdefault(chosen, length)
        return chosen

    def _borrowed(self, path: str, target: str, dim: str) -> Borrowed | None:
        home, _, name = target.rpartition("/")
        if home == path and name == dim:
            return None
        source = self._source(self.coordinates[target], (dim,)) if target in self.coordinates else None
        return Borrowed(f"/{home}", name, source) if source else None

    def _source(self, one: _Array, dims: tuple[str, ...]) -> Source | None:
        """Returns an array, or the values of a description; None for a coordinate that is only a length."""
        attrs = dict(one["attrs"])
        if one["array"] is None:
            values = one["values"]
            return values if values is None else Source("", dims, values.shape, values.dtype, attrs, (), values)
        # An array without a dtype is opened for the exception that says why.
        dtype = self.pack[one["array"]].dtype if one["dtype"] is None else one["dtype"]
        if one["fill_value"] is not None:
            attrs.setdefault("_FillValue", one["fill_value"])
        if _named(one):
            del attrs[DIMENSIONS]
        return Source(one["array"], dims, one["shape"], dtype, attrs, one["chunks"])


def _named(one: _Array) -> tuple[str, ...]:
    """Returns the names of dimensions in an attribute; none if the description names one."""
    names = one["attrs"].get(DIMENSIONS)
    if not isinstance(names, list) or len(names) != len(one["shape"]) or any(one["dims"]):
        return ()
    return tuple(map(str, names))


def _parent(path: str) -> str:
    return path.rpartition("/")[0]


def with_parents(path: str) -> list[str]:
    return [path, *with_parents(_parent(path))] if path else [path]


def _join(group: str, name: str) -> str:
    return f"{group}/{name}" if group else name


def _flat(path: str) -> str:
    """Returns a path as one word."""
    return path.strip("/").replace("/", "_")
