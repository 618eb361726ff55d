"""Groups of a pack, and how packs look in a terminal and in a notebook."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from html import escape
from typing import TYPE_CHECKING, Any

from ._array import ReadOnly
from ._groups import EMPTY, with_parents
from ._ra_pack import Array, Pack

if TYPE_CHECKING:
    from ._ra_pack import _Array, _ArrayOrGroup, _Group

#: The style of a tree in a notebook.
_STYLE = (
    "<style>.ra-pack details{margin-left:1em}.ra-pack summary{cursor:pointer}.ra-pack td,.ra-pack th"
    "{text-align:left!important;padding:0 1em 0 0}</style>"
)


class Group(Mapping[str, Array]):
    """A group of a pack: a mapping from names within the group to arrays and groups.

    `pack["run1"]` returns it. Iteration yields the arrays of the group and of the groups below.
    """

    __slots__ = ("_name", "_pack")

    def __init__(self, pack: Pack, name: str) -> None:
        self._pack = pack
        self._name = name

    @property
    def pack(self) -> Pack:
        """The pack."""
        return self._pack

    @property
    def name(self) -> str:
        """The name in the pack, such as `run1`."""
        return self._name

    @property
    def attrs(self) -> Mapping[str, Any]:
        """The attributes of the group, as a read-only dict."""
        return ReadOnly(self.pack.group_attrs(self.name))

    @property
    def groups(self) -> list[str]:
        """The names of the groups below, within this group."""
        return [one.removeprefix(f"{self.name}/") for one in self.pack.groups if one.startswith(f"{self.name}/")]

    def __getitem__(self, key: str) -> _ArrayOrGroup:
        return self.pack[f"{self.name}/{key}"]

    def __contains__(self, key: object) -> bool:
        return f"{self.name}/{key}" in self.pack

    def __iter__(self) -> Iterator[str]:
        return (one.removeprefix(f"{self.name}/") for one in self.pack if one.startswith(f"{self.name}/"))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def tree(self) -> Tree:
        """Returns the groups and arrays as text, which notebooks show as a tree to open and close."""
        return Tree(self.pack, self.name)

    def __repr__(self) -> str:
        return f"<ra_pack.Group {self.name!r} of {str(self.pack.path)!r}: {len(self)} arrays>"

    def _repr_html_(self) -> str:
        return self.tree()._repr_html_()

    def _ipython_key_completions_(self) -> list[str]:
        return [*self, *self.groups]


class Tree:
    """The groups and arrays of a pack, from headers and descriptions.

    `print` shows it as text, and notebooks as a tree to open and close.
    """

    def __init__(self, pack: Pack, group: str = "") -> None:
        found = pack.outline(group) if group else pack.outline()
        self.title = group or str(pack.path)
        self.attrs = pack.group_attrs(group)
        self.groups: dict[str, _Group] = {}
        for one in found["groups"]:
            path = one["path"].removeprefix(group).strip("/")
            # A group that contains only groups has no outline.
            for above in with_parents(path):
                self.groups.setdefault(above, {**EMPTY, "path": above})
            self.groups[path] = one

    def _children(self, path: str) -> tuple[list[_Array], list[str]]:
        group = self.groups.get(path)
        arrays = [*group["coordinates"], *group["variables"]] if group else []
        below = [one for one in sorted(self.groups) if one and one.rpartition("/")[0] == path]
        return [one for one in arrays if one["array"] or one["values"] is not None], below

    def __str__(self) -> str:
        return "\n".join([self.title, *self._lines("")])

    __repr__ = __str__

    def _lines(self, path: str) -> Iterator[str]:
        arrays, groups = self._children(path)
        shown: list[_Array | str] = [*arrays, *groups]
        for nth, one in enumerate(shown, 1):
            start, rest = ("└── ", "    ") if nth == len(shown) else ("├── ", "│   ")
            if isinstance(one, str):
                yield start + one.rpartition("/")[2]
                yield from (rest + line for line in self._lines(one))
            else:
                name, dims, dtype, units = _facts(one)
                yield f"{start}{name} {dims} {dtype}{f' [{units}]' if units else ''}".replace("\n", " ")

    def _repr_html_(self) -> str:
        return f"{_STYLE}<div class='ra-pack'>{self._html('', self.title, self.attrs)}</div>"

    def _html(self, path: str, title: str, attrs: Mapping[str, Any]) -> str:
        arrays, groups = self._children(path)
        rows = ""
        for one in arrays:
            facts = (*_facts(one), str(one["attrs"].get("long_name", "")))
            rows += f"<tr>{''.join(f'<td>{escape(fact)}</td>' for fact in facts)}</tr>"
        stated = "".join(f"<tr><th>{escape(name)}</th><td>{escape(str(one))}</td></tr>" for name, one in attrs.items())
        below = "".join(
            self._html(path, path.rpartition("/")[2], self.groups[path]["attrs"]) for path in groups
        )
        tables = "".join(f"<table>{table}</table>" for table in (stated, rows) if table)
        return f"<details open><summary>{escape(title)}</summary>{tables}{below}</details>"


def _facts(one: _Array) -> tuple[str, str, str, str]:
    """Returns name, dimensions, type and units of an array."""
    dims = ", ".join(
        f"{name}: {length}" if name else str(length) for name, length in zip(one["dims"], one["shape"])
    )
    dtype = one["dtype"] if one["dtype"] is not None else one["element"]
    return one["name"], f"({dims})", str(dtype), str(one["attrs"].get("units", ""))
