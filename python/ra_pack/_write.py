"""``write``: an xarray object or a dict of arrays as a pack."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from ._groups import DIMENSIONS, UNLIMITED, UNNAMED
from ._reports import CreateReport
from ._writer import PackWriter, WriterOptions, cf_times, exactly, labels

if TYPE_CHECKING:
    import xarray as xr
    from dask.delayed import Delayed
    from typing_extensions import Unpack

__all__ = ["write"]

#: Units of the CF conventions for the units of NumPy's times.
UNITS = {
    "D": "days",
    "h": "hours",
    "m": "minutes",
    "s": "seconds",
    "ms": "milliseconds",
    "us": "microseconds",
    "ns": "nanoseconds",
}
#: An integer that no time of NumPy has: NumPy stores NaT as this number.
NAT = np.iinfo(np.int64).min


class WriteOptions(WriterOptions, total=False):
    """Options of `write`."""

    attrs: Mapping[str, Any] | None
    mode: Literal["x", "w", "a"] | None
    group: str | None
    encoding: Mapping[str, Mapping[str, Any]] | None
    unlimited_dims: str | Iterable[str] | None


@overload
def write(
    path: str | os.PathLike[str],
    obj: xr.Dataset | xr.DataArray | xr.DataTree | Mapping[str, Any],
    *,
    compute: Literal[True] = True,
    **options: Unpack[WriteOptions],
) -> CreateReport: ...
@overload
def write(
    path: str | os.PathLike[str],
    obj: xr.Dataset | xr.DataArray | xr.DataTree | Mapping[str, Any],
    *,
    compute: Literal[False],
    **options: Unpack[WriteOptions],
) -> Delayed: ...
def write(
    path: str | os.PathLike[str],
    obj: xr.Dataset | xr.DataArray | xr.DataTree | Mapping[str, Any],
    *,
    attrs: Mapping[str, Any] | None = None,
    mode: Literal["x", "w", "a"] | None = None,
    group: str | None = None,
    encoding: Mapping[str, Mapping[str, Any]] | None = None,
    unlimited_dims: str | Iterable[str] | None = None,
    compute: bool = True,
    **options: Unpack[WriterOptions],
) -> CreateReport | Delayed:
    """Write an xarray object or a dict of arrays as a pack.

    Variables and coordinates become arrays with descriptions: dimensions, attributes, fill values. xarray's encodings
    are applied as they are for NetCDF: scale factors, fill values, units of times. Groups of a tree become
    directories. Variables are computed and written one after the other. With a `distributed.Client`, its workers write the
    chunks of Dask arrays to the archive, if all of them can write to it.

    Parameters
    ----------
    path : str or path-like
        The archive, a file or the URL of an object such as ``s3://bucket/run.zip``: ``.zip``, ``.tar``, ``.tar.gz`` or
        ``.tar.zst``.
    obj : Dataset, DataArray, DataTree or mapping
        A mapping has names such as ``"run1/temperature"`` as keys, and arrays as values. An open ``.npz`` file is one.
    attrs : mapping, optional
        Attributes of the pack, in addition to those of `obj`.
    mode : {'x', 'w', 'a'}, optional
        The action if the archive exists: an error (``x``, the default), replacing it (``w``), or adding arrays to it,
        which replace those of the same name (``a``).
    group : str, optional
        The group to write to, such as ``"run1"``; the root by default.
    encoding : mapping, optional
        The encoding of variables of a dataset, as `Dataset.to_netcdf` takes it: ``{"t": {"dtype": "int16",
        "scale_factor": 0.1}}``. For a tree, such mappings by the paths of groups.
    unlimited_dims : str or iterable of str, optional
        Dimensions that NetCDF should have as unlimited ones. The engine returns them as an encoding.
    compute : bool
        If false, nothing is written before the returned `dask.delayed.Delayed` is computed.
    **options
        Options of `PackWriter`, such as ``force=True``.

    Returns
    -------
    CreateReport
        The report of `PackWriter.finish`; a `Delayed` of it if `compute` is false.

    Raises
    ------
    TypeError
        If a variable or an attribute has a type that packs do not have, such as ``object``.
    ra_pack.Error
        If the archive cannot be written. No file is left then.

    Examples
    --------
    >>> import numpy as np, ra_pack, tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "run.zip")
    >>> report = ra_pack.write(path, {"run1/depth": np.array([5.0, 20.0])}, attrs={"title": "A run"})
    >>> ra_pack.open(path)["run1/depth"].read()
    array([ 5., 20.])
    """
    if not compute:
        from dask.delayed import delayed

        given = {"attrs": attrs, "mode": mode, "group": group, "encoding": encoding, "unlimited_dims": unlimited_dims}
        # Dask would load a dataset among the arguments of a delayed function.
        later: Delayed = delayed(partial(write, path, obj, **given, **options))()
        return later
    _compare_sources(obj)
    dims = [unlimited_dims] if isinstance(unlimited_dims, str) else unlimited_dims
    attributes, groups = _groups(obj, (group or "").strip("/"), encoding or {}, dims)
    attributes = {**attributes, **(attrs or {})}
    if mode in ("w", "a"):
        options = {"force": True, "update": mode == "a" and os.path.exists(path), **options}
    elif mode not in (None, "x"):
        raise ValueError(f"expected the mode 'x', 'w' or 'a', found {mode!r}")
    with PackWriter(path, attrs=_attributes("the pack", attributes), **options) as writer:
        for one in groups:
            one.write(writer)
        return writer.finish()


def _compare_sources(obj: Any) -> None:
    """Compares the packs from which lazy data comes with their manifests. Parts of arrays are read without a check, and
    the new pack would confirm what was read."""
    engine = sys.modules.get("ra_pack._xarray")
    if engine is None:
        return
    seen = set()
    for source in engine.sources(obj):
        # File objects may have the same name.
        if (key := (id(source.manager.acquire()), source.member)) not in seen:
            seen.add(key)
            source.compare()


def _groups(
    obj: Any, top: str, encoding: Mapping[str, Any], unlimited: Iterable[str] | None
) -> tuple[dict[str, Any], list[_Group]]:
    """Returns the attributes of the pack, and the groups of an object below the group `top`."""
    # The module of an object of xarray is imported already.
    xarray = sys.modules.get("xarray")
    if xarray is not None and isinstance(obj, xarray.DataArray):
        if obj.name is None:
            raise ValueError("the DataArray has no name; give it one with `.rename(NAME)`")
        obj = obj.to_dataset(name=obj.name)
    if xarray is not None and isinstance(obj, xarray.Dataset):
        groups: list[_Group] = [_DatasetGroup(top, obj, set(), encoding, unlimited)]
    elif xarray is not None and isinstance(obj, xarray.DataTree):
        groups = []
        taken: dict[str, set[str]] = {}
        for path, node in obj.subtree_with_keys:
            path = "" if path == "." else path
            # A part of a tree takes its coordinates along.
            dataset = node.to_dataset(inherit=not path)
            above = taken.get(path.rpartition("/")[0], set())
            of_group = encoding.get(f"/{path}", encoding.get(path, {}))
            below = f"{top}/{path}".strip("/")
            group = _DatasetGroup(below, dataset, above, of_group, unlimited)
            group.is_leaf = not node.children
            taken[path] = group.taken
            groups.append(group)
    elif isinstance(obj, Mapping):
        if encoding:
            raise TypeError("arrays without names of dimensions have no `encoding`; write an xarray.Dataset")
        groups = [_MappingGroup(obj, top)]
    else:
        raise TypeError(f"expected a Dataset, DataTree or dict of arrays, found {type(obj).__name__}")
    return {} if top else groups[0].attrs, groups


class _Group:
    """The arrays of one group."""

    path: str
    attrs: dict[str, Any]
    #: Whether there are no groups below it.
    is_leaf = False

    def arrays(self) -> Iterator[_NewArray]:
        raise NotImplementedError

    def write(self, writer: PackWriter) -> None:
        count = 0
        for count, array in enumerate(self.arrays(), 1):
            array.write(writer)
        if self.path and (self.attrs or not count and self.is_leaf):
            writer.group(self.path, attrs=_attributes(f"group `{self.path}`", self.attrs))


class _MappingGroup(_Group):
    """The arrays of a mapping, whose names may have groups."""

    def __init__(self, mapping: Mapping[str, Any], path: str) -> None:
        self.mapping = mapping
        self.path = path
        self.attrs = {}

    def arrays(self) -> Iterator[_NewArray]:
        for name in self.mapping:
            if not isinstance(name, str):
                raise TypeError(f"expected a string as the name of an array, found {name!r}")
            value = self.mapping[name]
            if found := labels(value):
                raise TypeError(
                    f"`{name}` is of type {type(value).__name__}, whose {' and '.join(found)} would be lost; write an "
                    "xarray.Dataset, or give the elements alone with `numpy.asarray`"
                )
            array, attrs = _encode_array(name, value)
            yield _NewArray(f"{self.path}/{name}".lstrip("/"), array, None, attrs)


class _DatasetGroup(_Group):
    """The variables of a dataset, encoded one after the other."""

    def __init__(
        self,
        path: str,
        dataset: xr.Dataset,
        taken: set[str],
        encoding: Mapping[str, Any],
        unlimited: Iterable[str] | None,
    ) -> None:
        from xarray.conventions import encode_dataset_coordinates

        self.path = path.strip("/")
        variables, attrs = encode_dataset_coordinates(dataset)
        self.variables: dict[Any, xr.Variable] = dict(variables)
        for name, wanted in encoding.items():
            if name not in self.variables:
                raise KeyError(f"`encoding` names `{name}`, which is not a variable of the dataset")
            variable = self.variables[name].copy(deep=False)
            variable.encoding = _valid_encoding(name, wanted)
            self.variables[name] = variable
        #: The variables whose encoding is complete.
        self.encoded = set(encoding)
        self.attrs = dict(attrs)
        if unlimited := _unlimited(dataset, unlimited):
            self.attrs[UNLIMITED] = unlimited
        #: Names of this group and those above that no dimension can have in a description: another array has them.
        self.taken = taken | {str(name) for name, one in self.variables.items() if one.dims != (name,)}
        #: The variables whose bounds another variable has.
        self.owners: dict[Any, Any] = {}
        for name, variable in self.variables.items():
            if bounds := variable.attrs.get("bounds", variable.encoding.get("bounds")):
                self.owners[bounds] = name

    def arrays(self) -> Iterator[_NewArray]:
        for name in self.variables:
            if name is not None and not isinstance(name, str):
                raise TypeError(f"the name of a variable must be either a string or None, found {name!r}")
            if name is not None and (not name or "/" in name or name.endswith(".ra")):
                raise ValueError(
                    f"the name of a variable is {name!r}: the string must be length 1 or longer, without `/`, and without `.ra`"
                )
            yield self._array(name)

    def _array(self, name: str | None) -> _NewArray:
        where = f"{self.path}/{UNNAMED if name is None else name}".lstrip("/")
        self.variables[name] = _of_numpy(where, self.variables[name])
        variable = self._encoded(name)
        dims = [_dimension(where, dim) for dim in variable.dims]
        if variable.chunks and variable.dtype == object:
            from xarray import SerializationWarning

            message = f"`{where}` is a dask array with dtype=object, which is computed at once to find its type"
            warnings.warn(message, SerializationWarning, stacklevel=2)
        data = variable.data if variable.chunks else variable.values
        array, attrs = _encode_array(where, data, variable.encoding.get("_Encoding", "utf-8"))
        attrs = {**variable.attrs, **attrs}
        if 0 in variable.shape or not self.taken.isdisjoint(dims):
            attrs[DIMENSIONS] = dims
            return _NewArray(where, array, None, attrs)
        return _NewArray(where, array, dims, attrs)

    def _encoded(self, name: str | None) -> xr.Variable:
        """Returns a variable as the CF conventions store it."""
        from xarray.conventions import cf_encoder

        variable = self.variables[name]
        if variable.dtype == bool and variable.encoding.get("dtype", bool) == bool:
            # xarray would store it as integers.
            return variable
        stored = np.dtype(variable.encoding.get("dtype", variable.dtype))
        if stored.kind in "fc" and "_FillValue" not in variable.attrs and name not in self.encoded:
            # xarray would declare NaN as the fill value of a variable that has none.
            variable.encoding.setdefault("_FillValue", None)
        if variable.dtype.kind in "OSTU" and stored.kind in "SU":
            # The width of the text may have changed.
            variable.encoding.pop("dtype", None)
        together = {name: _uncached(variable)}
        if name in self.owners:
            # xarray gives the bounds of a coordinate the units of that coordinate, of which one element is enough.
            owner = self.owners[name]
            one = self.variables[owner]
            together[owner] = one[(slice(0, 1),) * one.ndim]
        encoded: dict[Any, xr.Variable] = cf_encoder(together, {})[0]
        return encoded[name]


#: Keys of an encoding that say how the CF conventions store a variable.
_ENCODING = {
    "_Encoding", "_FillValue", "_Unsigned", "add_offset", "bounds", "calendar", "char_dim_name", "coordinates", "dtype",
    "grid_mapping", "missing_value", "scale_factor", "units",
}  # fmt: skip


def _valid_encoding(name: str, encoding: Any) -> dict[str, Any]:
    """Returns a copy of the encoding that is given for a variable."""
    if not isinstance(encoding, Mapping):
        raise ValueError(f"`encoding` of `{name}` must be castable to a dict, found {encoding!r}")
    if others := sorted(set(encoding) - _ENCODING):
        raise ValueError(
            f"unexpected encoding of `{name}`: {', '.join(map(str, others))}; `compression` of `write` compresses all arrays"
        )
    return dict(encoding)


def _unlimited(dataset: xr.Dataset, given: Iterable[str] | None) -> list[str]:
    """Returns the names of unlimited dimensions, which are an option or an encoding of the dataset."""
    stated = dataset.encoding.get("unlimited_dims", ()) if given is None else given
    names = {stated} if isinstance(stated, str) else set(stated)
    if others := sorted(names - set(dataset.sizes)):
        place = "dataset.encoding" if given is None else "unlimited_dims-kwarg"
        message = f"Unlimited dimension(s) {others!r} declared in {place!r}, but the dataset has no such dimension"
        if given is not None:
            raise ValueError(message)
        warnings.warn(message, UserWarning, stacklevel=2)
    return sorted(names & set(dataset.sizes))


def _of_numpy(where: str, variable: xr.Variable) -> xr.Variable:
    """Returns a variable of a type of pandas as one of a type of NumPy, with a fill value for missing elements."""
    dtype: Any = variable.dtype
    if isinstance(dtype, np.dtype):
        return variable
    stored: Any = getattr(dtype, "numpy_dtype", None)
    is_masked = isinstance(stored, np.dtype) and stored.kind in "biuf"
    if not is_masked and not hasattr(dtype, "categories"):
        raise TypeError(f"`{where}` is of pandas' type {dtype}, which NumPy does not have; convert it")
    array, encoding = variable.data, dict(variable.encoding)
    if not is_masked:
        return variable.copy(data=np.asarray(array))
    missing = array.isna()
    if not missing.any():
        return variable.copy(data=array.to_numpy(stored))
    if stored.kind == "f" or not _ENCODING.isdisjoint(encoding):
        return variable.copy(data=array.to_numpy("f4" if stored == "f4" else "f8", na_value=np.nan))
    integer = np.dtype("i1") if stored.kind == "b" else stored
    limits = np.iinfo(integer)
    fill = integer.type(limits.max if integer.kind == "u" else limits.min)
    values = array.to_numpy(integer, na_value=fill)
    if (values[~missing] == fill).any():
        raise ValueError(f"`{where}` has missing elements and the number {fill}; give a `_FillValue` in the encoding")
    of_numpy = variable.copy(data=values)
    of_numpy.encoding["_FillValue"] = fill
    return of_numpy


def _uncached(variable: xr.Variable) -> xr.Variable:
    """Returns a copy of a variable, so that elements which are read from a file do not stay in memory."""
    return variable.copy(deep=not getattr(variable, "_in_memory", True))


def _dimension(where: str, name: Any) -> str:
    if not isinstance(name, str) or "/" in name or not name:
        raise ValueError(f"`{where}`: expected a name without `/` for a dimension, found {name!r}")
    return name


@dataclass(frozen=True)
class _NewArray:
    """An array with its description, as `PackWriter.add` takes it."""

    name: str
    array: Any
    dims: list[str] | None
    attrs: dict[str, Any]

    def write(self, writer: PackWriter) -> None:
        attrs = dict(self.attrs)
        dtype = self.array.dtype
        fill_value = _fill_value(dtype, attrs)
        if fill_value is not None:
            del attrs["_FillValue"]
        attrs = _attributes(f"`{self.name}`", attrs)
        writer.add(self.name, self.array, self.dims, attrs, fill_value=fill_value)


def _fill_value(dtype: np.dtype[Any], attrs: Mapping[str, Any]) -> Any:
    """Returns the fill value as an element; None if there is none, or if it is only an attribute, as that of a scaled
    variable may be, and that of text in UTF-8."""
    given = attrs.get("_FillValue")
    if given is None or np.ndim(given) or dtype.kind not in "biufcS" or "_Encoding" in attrs:
        return None
    if dtype.kind == "S":
        return given if isinstance(given, bytes) else str(given).encode()
    try:
        stored = dtype.type(given)
    except (OverflowError, TypeError, ValueError):
        return None
    return stored if stored == given or given != given else None


def _encode_array(where: str, data: Any, encoding: str = "utf-8") -> tuple[Any, dict[str, Any]]:
    """Returns an array of a type that packs have, and the attributes that explain it."""
    is_masked = isinstance(data, np.ma.MaskedArray)  # the writer refuses it
    if is_masked or getattr(data, "chunks", None) and data.dtype.kind in "biufcSV":
        return data, {}
    array = np.asarray(data)
    if array.dtype.kind in "OTU":
        return _encode_text(where, array, encoding)
    if array.dtype.kind in "mM":
        return _encode_times(where, array)
    return array, {}


def _encode_text(
    where: str, array: np.ndarray[Any, Any], encoding: str
) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Encodes text in a fixed width. Missing elements become empty text, or NaN, as in other formats of xarray."""
    elements = array.ravel().tolist()
    is_missing = np.array([_is_missing(element) for element in elements], bool)
    present = [element for element, missing in zip(elements, is_missing) if not missing]
    if present and all(isinstance(element, bytes) for element in present):
        filled = [b"" if missing else element for element, missing in zip(elements, is_missing)]
        return np.array(filled, np.bytes_).reshape(array.shape), {}
    if array.dtype == object and (numbers := _numbers(present)) is not None and elements:
        return _spread(where, numbers, is_missing).reshape(array.shape), {}
    kinds = {type(element) for element in present}
    if str in kinds and kinds == {str, bytes}:
        raise NotImplementedError(f"`{where}` has text and bytes; if the fill value is the only one of bytes, give it as text")
    for kind in kinds:
        if not issubclass(kind, str):
            raise TypeError(
                f"`{where}` has elements of type {kind.__name__}; expected text or numbers: convert it with `.astype()`"
            )
    encoded = [b"" if missing else element.encode(encoding) for element, missing in zip(elements, is_missing)]
    if any(element.endswith(b"\0") for element in encoded):
        raise ValueError(f"`{where}` has text that ends with a null character, which text of a fixed width cannot have")
    # NumPy has no text of width 0, and xarray joins an axis of text of width 1.
    width = max([2, *map(len, encoded)])
    return np.array(encoded, f"S{width}").reshape(array.shape), {"_Encoding": encoding}


def _is_missing(element: Any) -> bool:
    """Returns whether an element is None, NaN or pandas' NA."""
    is_nan = isinstance(element, (float, np.floating)) and element != element
    return element is None or is_nan or type(element).__name__ == "NAType"


def _numbers(elements: list[Any]) -> np.ndarray[Any, Any] | None:
    """Returns numbers of one kind as an array of numbers; None for other elements."""
    kinds = [(bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating)]
    for kind in kinds:
        if all(isinstance(one, kind) and (kind[0] is bool or not isinstance(one, bool)) for one in elements):
            numbers = np.array(elements) if elements else np.zeros(0)
            return numbers if numbers.dtype.kind in "biufc" else None
    return None


def _spread(where: str, numbers: np.ndarray[Any, Any], is_missing: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Returns numbers with NaN between them where elements are missing."""
    if not is_missing.any():
        return numbers
    spread = np.full(is_missing.shape, np.nan, numbers.dtype if numbers.dtype.kind in "fc" else "f8")
    spread[~is_missing] = numbers
    if not np.array_equal(spread[~is_missing].astype(numbers.dtype), numbers):
        raise ValueError(f"`{where}` has missing elements and integers that floats cannot store; use pandas' `Int64`")
    return spread


def _encode_times(where: str, array: np.ndarray[Any, Any]) -> tuple[np.ndarray[Any, Any], dict[str, Any]]:
    """Encodes times as integers with the units of the CF conventions."""
    times = exactly(where, array, cf_times(where, array.dtype))
    unit, kind = np.datetime_data(times.dtype)[0], times.dtype.kind
    numbers = times.astype(np.int64)
    attrs: dict[str, Any] = {"units": UNITS[unit]}
    if kind == "M":
        attrs = {"units": f"{UNITS[unit]} since 1970-01-01", "calendar": "proleptic_gregorian"}
    if (numbers == NAT).any():
        attrs["_FillValue"] = NAT
    return numbers, attrs


def _attributes(where: str, attrs: Mapping[Any, Any]) -> dict[str, Any]:
    """Checks that attributes are text, numbers or lists."""
    checked: dict[str, Any] = {}
    for name, value in attrs.items():
        if not isinstance(name, str):
            raise TypeError(f"{where}: expected a string as the name of an attribute, found {name!r}")
        try:
            kept = value.decode() if isinstance(value, bytes) else value
            kind = np.asarray(kept).dtype.kind
        except ValueError as error:
            raise TypeError(f"{where}: the attribute `{name}`: {error}") from None
        if kind not in "iufU" or np.ndim(kept) > 1:
            raise TypeError(
                f"{where}: the attribute `{name}` is {value!r}; expected text, a number, or a list of either"
            )
        checked[name] = kept
    return checked
