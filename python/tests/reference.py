"""`docs/python-api.md`, made from the docstrings and signatures of the module."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ra_pack
import ra_pack._xarray
import ra_pack._zarr
import ra_pack.xarray
from ra_pack import _ra_pack

TOP = """\
# Reference of the Python module

This page has every class, function, parameter and exception of `ra_pack`, from its docstrings. The
[Python module](python.md) explains them by task. The tests write this page, and run its examples.
"""

#: Headings, and the public names below them.
SECTIONS = {
    "Packs and arrays": ["open", "Pack", "Group", "Array", "Tree", "Plot"],
    "Writing packs": ["write", "PackWriter", "ArrayStream", "create"],
    "Operations": ["verify", "validate", "content_digest", "extract", "diff", "convert", "describe", "refs", "audit", "audit_report"],
    "xarray": [ra_pack._xarray.RaPackBackend, ra_pack.xarray.Accessor],
    "Zarr and VirtualiZarr": ["zarr_store", ra_pack._zarr.PackStore, "RaPackParser"],
    "Reports": [
        "Finding",
        *("CreateReport", "VerifyReport", "ValidateReport", "ExtractReport", "PackDiff", "ArrayDiff", "ConvertReport", "DescribeReport"),
        *("AuditReport", "AuditedTarget", "LogLine"),
    ],
}
#: Classes whose methods another library calls.
CALLED_BY_OTHERS = (ra_pack._xarray.RaPackBackend, ra_pack._zarr.PackStore)
#: Classes that callers construct.
CONSTRUCTED = (ra_pack.PackWriter, ra_pack.RaPackParser)

#: Names of types that have no meaning outside of the module.
ALIASES = {
    "Path": "str | os.PathLike[str]",
    "_Path": "str | os.PathLike[str]",
    "_Attrs": "dict[str, Any]",
    "_FileObject": "BinaryIO",
    "_OpenFile": "fsspec.core.OpenFile",
    "_Outline": "dict[str, Any]",
    "_ArrayOrGroup": "Array | Group",
    "Layout": "Literal['plain', 'bagit']",
    "Names": "Sequence[str] | Literal['bart']",
}
STUBS = {
    node.name: node
    for node in ast.parse(Path(_ra_pack.__file__).with_name("_ra_pack.pyi").read_text()).body
    if isinstance(node, ast.ClassDef | ast.FunctionDef)
}


def page() -> str:
    """Returns the page."""
    parts = [TOP]
    for heading, names in SECTIONS.items():
        parts.append(f"## {heading}")
        for name in names:
            parts += _item(getattr(ra_pack, name) if isinstance(name, str) else name)
    parts += ["## Exceptions", *_parts(inspect.getdoc(ra_pack.Error))]
    rows = [f"| `{one.__name__}` | {' '.join(_text(one).split())} | {_bases(one)} |" for one in exceptions()]
    parts.append("\n".join(["| exception | meaning | also a |", "|---|---|---|", *rows]))
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def exceptions() -> list[type[ra_pack.Error]]:
    """Returns the public subclasses of `Error`."""
    found = [getattr(ra_pack, name) for name in ra_pack.__all__]
    return [one for one in found if inspect.isclass(one) and issubclass(one, ra_pack.Error) and one is not ra_pack.Error]


def undocumented() -> list[str]:
    """Returns the parameters that their docstring does not have, and those that only the docstring has."""
    wrong = []
    for name in [name for names in SECTIONS.values() for name in names]:
        item = getattr(ra_pack, name) if isinstance(name, str) else name
        for title, function, text in [(item.__name__, item, inspect.getdoc(item)), *_methods(item)]:
            given = {one for one, _ in _arguments(title, function)} - {"*"}
            said = {one.strip() for names, _, _ in _items(_sections(text or "").get("Parameters", "")) for one in names.split(",")}
            wrong += [f"{title}: {one}" for one in given ^ said] if item not in CALLED_BY_OTHERS else []
    return wrong


def _item(item: Any) -> Iterator[str]:
    """Returns the paragraphs about a class or a function."""
    yield f"### {item.__name__}"
    if _function(item.__name__, item):
        yield _signature(item.__name__, item)
    yield from _parts(inspect.getdoc(item))
    lines = []
    for name, value in _members(item):
        if inspect.isdatadescriptor(value) and (text := _text(value)):
            lines.append(_bullet(f"`{name}` (`{_type(_function(f'{item.__name__}.{name}', value).returns)}`): {text}"))
    if lines:
        yield "**Properties**"
        yield "\n".join(lines)
    for title, function, text in _methods(item):
        yield f"#### {title}"
        yield _signature(title, function)
        yield from _parts(text or "")


def _methods(item: Any) -> Iterator[tuple[str, Any, str | None]]:
    """Returns the names, functions and docstrings of public methods."""
    for name, value in _members(item) if item not in CALLED_BY_OTHERS else ():
        if inspect.isroutine(value) or isinstance(value, classmethod):
            yield f"{item.__name__}.{name}", getattr(item, name), inspect.getdoc(getattr(item, name))


def _members(item: Any) -> list[tuple[str, Any]]:
    """Returns the public members of a class in the order of its code."""
    found = [(name, value) for name, value in vars(item).items() if not name.startswith("_")] if inspect.isclass(item) else []
    if item.__name__ in STUBS:
        order = [getattr(one, "name", None) for one in STUBS[item.__name__].body]
        found.sort(key=lambda member: order.index(member[0]))
    return found


def _function(title: str, item: Any) -> ast.FunctionDef | None:
    """Returns the code of a function, or of the constructor of a class that callers construct."""
    owner, _, name = title.rpartition(".")
    if inspect.isclass(item):
        if item not in CONSTRUCTED:
            return None
        item = item.__init__
    if inspect.isfunction(item := getattr(item, "__func__", getattr(item, "fget", item))):
        return ast.parse(textwrap.dedent(inspect.getsource(item))).body[0]
    among = STUBS[owner].body if owner else STUBS.values()
    return next(one for one in among if getattr(one, "name", None) == name)


def _arguments(title: str, item: Any) -> list[tuple[str, str]]:
    """Returns the names of parameters, and each with its type and default. A star is before those with keywords."""
    if (function := _function(title, item)) is None:
        return []
    given = function.args
    first = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(first) - len(given.defaults)) + given.defaults
    found = list(zip(first, defaults, strict=True))
    star = [(None, None)] if given.kwonlyargs else []
    found += star + list(zip(given.kwonlyargs, given.kw_defaults, strict=True))
    shown = [
        (one.arg, f"{one.arg}: {_type(one.annotation)}" + (f" = {_type(default)}" if default else ""))
        if one else ("*", "*")
        for one, default in found
        if one is None or one.arg not in ("self", "cls")
    ]
    return shown + ([(f"**{given.kwarg.arg}", f"**{given.kwarg.arg}")] if given.kwarg else [])


def _signature(title: str, item: Any) -> str:
    """Returns the signature with types, on several lines if it is long."""
    arguments = [shown for _, shown in _arguments(title, item)]
    function = _function(title, item)
    returns = "" if inspect.isclass(item) else f" -> {_type(function.returns)}"
    line = f"{title}({', '.join(arguments)}){returns}"
    if len(line) > 100:
        line = f"{title}(\n" + "".join(f"    {one},\n" for one in arguments) + f"){returns}"
    return f"```python\n{line}\n```"


def _type(annotation: ast.expr) -> str:
    """Returns a type or a default as text."""
    text = ast.unparse(annotation).replace("'", '"')
    text = text.strip('"') if isinstance(annotation, ast.Constant) and text[1:2].isupper() else text
    return re.sub(r"\b(?<!\.)\w+\b", lambda name: ALIASES.get(name[0], name[0]), text)


def _text(item: Any) -> str:
    return _markdown(inspect.getdoc(item) or "").strip()


def _bases(kind: type) -> str:
    others = [one.__name__ for one in kind.__bases__ if one is not ra_pack.Error]
    return ", ".join(f"`{one}`" for one in others)


def _markdown(text: str) -> str:
    """Replaces the roles and quotes of reStructuredText."""
    text = re.sub(r":\w+:`(?:ra_pack\.)?([^`]+)`", r"`\1`", text)
    return re.sub(r"``([^`]+)``", r"`\1`", text)


def _sections(text: str) -> dict[str, str]:
    """Returns the parts of a docstring by their headings; the first has none."""
    parts = re.split(r"^(\w+)\n-{3,}\n", text, flags=re.MULTILINE)
    return dict(zip(["", *parts[1::2]], parts[0::2], strict=True))


def _items(text: str) -> Iterator[tuple[str, str, str]]:
    """Returns names, types and texts of a list of parameters."""
    for head, body in re.findall(r"^(\S.*(?:\n\S.*)*)((?:\n(?:[ ].*)?)*)", text.strip("\n"), re.MULTILINE):
        name, _, kind = head.replace("\n", " ").partition(" : ")
        yield name, kind, " ".join(body.split())


def _parts(text: str) -> list[str]:
    parts = []
    for heading, body in _sections(text).items():
        if heading == "Examples":
            parts.append("**Examples**")
            for part in re.sub(r"  # doctest: .*", "", body.strip()).split("\n\n"):
                parts.append(f"```python\n{part}\n```" if part.startswith(">>>") else part)
        elif heading:
            lines = []
            for name, kind, said in _items(body):
                names = ", ".join(f"`{one.strip()}`" for one in name.split(","))
                lines.append(_bullet(_markdown(names + (f" ({kind})" if kind else "") + (f": {said}" if said else ""))))
            parts += [f"**{heading}**", "\n".join(lines)]
        elif body.strip():
            parts.append(_markdown(body).strip())
    return parts


def _bullet(text: str) -> str:
    return textwrap.fill(" ".join(text.split()), 120, initial_indent="- ", subsequent_indent="  ", break_long_words=False,
                         break_on_hyphens=False)
