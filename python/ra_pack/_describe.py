"""`describe`."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from . import _ra_pack
from ._errors import InvalidOption
from ._operations import Path
from ._reports import DescribeReport

#: Names of dimensions, or `bart` for those of BART.
Names = Sequence[str] | Literal["bart"]


@overload
def describe(path: Path, *, template: bool = ..., dimcoords: bool = ..., jobs: int | None = ...) -> str: ...
@overload
def describe(
    path: Path, *, write: Literal[True], dimcoords: bool = ..., dry_run: bool = ..., jobs: int | None = ...
) -> DescribeReport: ...
@overload
def describe(
    path: Path, *, update: Literal[True], dry_run: bool = ..., jobs: int | None = ...
) -> DescribeReport: ...
@overload
def describe(
    path: Path,
    *,
    set: Mapping[str, Any],
    dims: Mapping[str, Names] | Names = ...,
    apply: Path | None = ...,
    dimcoords: bool = ...,
    dry_run: bool = ...,
    jobs: int | None = ...,
) -> DescribeReport: ...
@overload
def describe(
    path: Path,
    *,
    dims: Mapping[str, Names] | Names,
    apply: Path | None = ...,
    dimcoords: bool = ...,
    dry_run: bool = ...,
    jobs: int | None = ...,
) -> DescribeReport: ...
@overload
def describe(
    path: Path, *, apply: Path, dimcoords: bool = ..., dry_run: bool = ..., jobs: int | None = ...
) -> DescribeReport: ...
def describe(
    path: Path,
    *,
    set: Mapping[str, Any] | None = None,
    dims: Mapping[str, Names] | Names | None = None,
    apply: Path | None = None,
    write: bool = False,
    update: bool = False,
    template: bool = False,
    dimcoords: bool = False,
    dry_run: bool = False,
    jobs: int | None = None,
) -> str | DescribeReport:
    """Return the descriptions of arrays, or change them.

    Without `set`, `dims`, `apply`, `write` and `update`, the function returns a text and changes no file. Archives are
    written again as a whole.

    Parameters
    ----------
    path : str or os.PathLike
        The array, directory or archive.
    set : mapping, optional
        Attributes to set: ``{"temperature.units": "K"}`` for an array, and ``{"title": "Mooring 7"}`` for the pack. None
        removes an attribute.
    dims : mapping, optional
        Names of dimensions: ``{"temperature": ["depth", "time"]}``. For a single array the names alone. `bart` instead of
        the names means those of BART; alone, for all arrays of complex64.
    apply : str or os.PathLike, optional
        A table that was filled in, as CSV. Empty cells change nothing.
    write : bool
        Write a description next to every array that has none.
    update : bool
        Update the descriptions of an array or a directory to the headers of the arrays.
    template : bool
        Return a table of all arrays with their dimensions, units and names, to fill in, as CSV.
    dimcoords : bool
        Turn one-dimensional arrays without a description whose name is that of a coordinate into coordinates.
    dry_run : bool
        Change no file. The report says what would be changed.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    str or DescribeReport
        The description in YAML, the table, or what was changed. The report is true if there is no error.

    Raises
    ------
    NotFound
        If an array does not exist.
    Mismatch
        If names do not fit the shape of an array.
    Refused
        If a description cannot be edited safely, or the archive is not valid.
    InvalidOption
        If parameters contradict each other.
    """
    edits = set is not None or dims is not None or apply is not None
    words = [word for word, given in (("write", write), ("update", update), ("template", template)) if given]
    if len(words) + edits > 1:
        shown = [f"`{word}`" for word in words] + ["edits"] * edits
        raise InvalidOption(f"{' and '.join(shown)} contradict each other")
    action = "edit" if edits else words[0] if words else "return"
    named = dims if isinstance(dims, Mapping) else {} if dims is None else {"": dims}
    changes = {"apply": apply, "set": list((set or {}).items()), "dims": list(map(_names, named.items()))}
    return _ra_pack.describe(path, action, changes, dimcoords, dry_run, jobs)


def _names(item: tuple[str, Names]) -> tuple[str, list[str] | None]:
    """Return an array and the names of its dimensions; None instead of those of BART."""
    array, names = item
    if isinstance(names, str):
        if names != "bart":
            raise InvalidOption(f"expected a list of names in `dims`, or `bart`, found `{names}`")
        return array, None
    return array, list(names)
