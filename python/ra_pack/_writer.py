"""`PackWriter`: a pack from arrays in memory."""

import os
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from types import TracebackType
from typing import TYPE_CHECKING, Any, Literal, TypedDict

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from . import _dask, _ra_pack
from ._errors import Mismatch, Unsupported
from ._operations import Layout, Path
from ._reports import CreateReport

if TYPE_CHECKING:
    from typing_extensions import Self


class WriterOptions(TypedDict, total=False):
    """Options of `PackWriter`."""

    force: bool
    update: bool
    layout: Layout
    container: str | None
    compression: str | None
    digests: Sequence[str]
    strict: bool
    portable: bool
    jobs: int | None
    external_manifest: bool
    archive_digest: bool
    block_digests: int | None
    timestamp: int | None
    journal: bool | int


class _Finished:
    """A context manager that finishes what was written, and aborts it after an exception."""

    def finish(self) -> object:
        raise NotImplementedError

    def abort(self) -> None:
        raise NotImplementedError

    def __enter__(self) -> "Self":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.finish()
        else:
            self.abort()


class PackWriter(_Finished):
    """A writer of packs, from arrays and files in any order.

    The archive appears under its name when :meth:`finish` has written and synced it. Until then, small arrays are in
    memory, and other content is in a hidden file or directory next to the archive. Use the writer as a context manager:
    leaving it calls :meth:`finish`, or deletes everything if there was an exception.

    Parameters
    ----------
    path : str or os.PathLike
        The archive, a file or the URL of an object such as `s3://bucket/run.zip`. Its extension determines the
        container: `.zip`, `.tar`, `.tar.gz` or `.tar.zst`.
    attrs : dict, optional
        Attributes of the pack, such as its title.
    force : bool
        Replace an existing archive. With `update`, replace its members.
    update : bool
        Begin with the content of the archive, which is replaced at the end.
    layout, container, compression, digests, strict, portable, jobs, external_manifest, archive_digest,
    block_digests, timestamp
        As for :func:`ra_pack.create`.
    journal : bool or int
        Keep what was synced if the process is killed. :meth:`sync` syncs what was added. A number does this also each time
        when that number of files was added; an array is two files: itself and its description. The command
        `ra-pack salvage` makes a pack of what is left.

    Raises
    ------
    AlreadyExists
        If the archive exists, and `force` and `update` are false.

    Examples
    --------
    >>> import numpy as np, ra_pack, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "mooring.zip")
    >>> with ra_pack.PackWriter(path) as writer:
    ...     writer.add("temperature", np.zeros((3, 4)), dims=["time", "depth"], attrs={"units": "K"})
    >>> ra_pack.open(path)["temperature"].attrs
    {'units': 'K'}
    """

    def __init__(
        self,
        path: Path,
        attrs: Mapping[str, Any] | None = None,
        *,
        force: bool = False,
        update: bool = False,
        layout: Layout = "plain",
        container: str | None = None,
        compression: str | None = None,
        digests: Sequence[str] = (),
        strict: bool = False,
        portable: bool = False,
        jobs: int | None = None,
        external_manifest: bool = True,
        archive_digest: bool = False,
        block_digests: int | None = None,
        timestamp: int | None = None,
        journal: bool | int = False,
    ) -> None:
        options = {name: value for name, value in locals().items() if name not in ("self", "path", "update")}
        self._path = os.fspath(path)
        self._report: CreateReport | None = None
        self._writer = _ra_pack.Writer(path, update, options)

    def add(
        self,
        name: str,
        array: ArrayLike,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        *,
        order: Literal["C", "F"] | None = None,
        fill_value: Any = None,
    ) -> None:
        """Add an array with its description.

        Times become integers with the attribute `units`. Integers with the attributes `flag_values` and `flag_meanings`
        become an enum. Other threads must not change the array during the call.

        Parameters
        ----------
        name : str
            The name in the pack, such as `run1/temperature`.
        array : array_like
            The elements. A Dask array is computed in parts, each of which is written before the next ones. With a
            `distributed.Client`, its workers write their chunks to the archive, if all of them can write to it.
        dims : sequence of str, optional
            The name of each dimension. A 1-D array with the name of its dimension is a coordinate.
        attrs : dict, optional
            Numbers, texts, and lists of them. Scalars and arrays of NumPy are converted.
        order : {'C', 'F'}, optional
            The order of the elements in the file. By default it is that of the array in memory, or `C` if the array is
            not contiguous or is one of Dask.
        fill_value : scalar, optional
            The element that means "nothing was written".

        Raises
        ------
        Refused
            If the name is in use.
        Mismatch
            If the number of dims is wrong, or the array has a mask or labels that would be lost.
        Unsupported
            If a description cannot express the dtype or an attribute.
        """
        _check_name(name)
        if _dask.is_lazy(array):
            self._add_lazy(name, array, dims, attrs, fill_value, order == "F")
            return
        values = _plain(name, array, dims is not None)
        if values.dtype.kind in "mM":
            values = exactly(name, values, cf_times(name, values.dtype))
        dtype = values.dtype
        if dtype.byteorder != "|" and (not dtype.isnative or not _LITTLE) or dtype.fields is not None:
            values = values.astype(dtype.newbyteorder("<"), order="K", copy=False)
            dtype = values.dtype
        flags = values.flags
        is_column = order == "F" or order is None and flags.f_contiguous and not flags.c_contiguous
        if not (flags.f_contiguous if is_column else flags.c_contiguous):
            values = np.asarray(values, order="F" if is_column else "C")
        self._writer.add(
            name,
            values,
            values.nbytes,
            *_header(name, dtype, is_column, values.shape),
            _names(name, dims),
            attrs,
            _fill_value(name, fill_value),
        )

    def add_blocks(
        self,
        name: str,
        shape: Sequence[int | None],
        dtype: DTypeLike,
        blocks: Iterable[ArrayLike],
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        *,
        fill_value: Any = None,
    ) -> None:
        """Add an array that is larger than memory, in blocks.

        The order of the elements in the file is `C`.

        Parameters
        ----------
        name : str
            The name in the pack, such as `run1/temperature`.
        shape : sequence of int
            The length of each dimension, at least one. If the first one is None, it is that of all blocks.
        dtype : dtype_like
            The type of the elements.
        blocks : iterable of array_like
            The parts of the array along its first dimension, in order. Floats are rounded to `dtype`; integers, text
            and times must fit it.
        dims, attrs, fill_value
            As for :meth:`add`.

        Raises
        ------
        Mismatch
            If the blocks do not have this shape.

        Examples
        --------
        >>> import numpy as np, ra_pack, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "long.zip")
        >>> with ra_pack.PackWriter(path) as writer:
        ...     writer.add_blocks("a", (4, 2), "f4", (np.full((1, 2), nth) for nth in range(4)))
        >>> ra_pack.open(path)["a"][:, 0]
        array([0., 1., 2., 3.], dtype=float32)
        """
        with self.array_stream(name, shape, dtype, dims, attrs, fill_value=fill_value) as stream:
            for block in blocks:
                stream.append(block)

    def array_stream(
        self,
        name: str,
        shape: Sequence[int | None],
        dtype: DTypeLike,
        dims: Sequence[str] | None = None,
        attrs: Mapping[str, Any] | None = None,
        *,
        fill_value: Any = None,
    ) -> "ArrayStream":
        """Begin an array to which blocks are appended. The writer can add other content when the array is finished.

        The order of the elements in the file is `C`.

        Parameters
        ----------
        name : str
            The name in the pack, such as `run1/frames`.
        shape : sequence of int
            The length of each dimension, at least one. If the first one is None, the array grows until it is finished, and
            is then read once for its digests.
        dtype : dtype_like
            The type of the elements.
        dims, attrs, fill_value
            As for :meth:`add`.

        Returns
        -------
        ArrayStream
            A context manager: leaving it finishes the array, or removes it if there was an exception.

        Examples
        --------
        >>> import numpy as np, ra_pack, tempfile, pathlib
        >>> path = pathlib.Path(tempfile.mkdtemp(), "camera.zip")
        >>> with ra_pack.PackWriter(path) as writer:
        ...     with writer.array_stream("frames", (None, 2, 3), "u1", dims=["time", "y", "x"]) as frames:
        ...         for nth in range(5):
        ...             frames.append(np.full((2, 3), nth))
        >>> ra_pack.open(path)["frames"].shape
        (5, 2, 3)
        """
        return self._stream(name, shape, np.dtype(dtype), dims, attrs, fill_value, False)

    def _stream(
        self,
        name: str,
        shape: Sequence[int | None],
        dtype: "np.dtype[Any]",
        dims: Sequence[str] | None,
        attrs: Mapping[str, Any] | None,
        fill_value: Any,
        is_column: bool,
    ) -> "ArrayStream":
        """Begin an array whose blocks come along its slowest dimension."""
        _check_name(name)
        if not len(shape):
            raise Mismatch(f"`{name}` has no dimensions; use `add`")
        grows = shape[0] is None
        whole = tuple(int(1 if grows and nth == 0 else length) for nth, length in enumerate(shape))  # type: ignore[arg-type]
        kind = dtype.newbyteorder("<")
        if kind.kind in "mM":
            kind = cf_times(name, kind)
        writer = self._writer.begin_blocks(
            name,
            *_header(name, kind, is_column, whole),
            grows,
            _names(name, dims),
            attrs,
            _fill_value(name, fill_value),
        )
        whole = whole[::-1] if is_column else whole
        return ArrayStream(name, writer, kind, None if grows else whole[0], whole[1:])

    def _add_lazy(
        self,
        name: str,
        array: Any,
        dims: Sequence[str] | None,
        attrs: Mapping[str, Any] | None,
        fill_value: Any,
        is_column: bool,
    ) -> None:
        """Add a Dask array."""
        with self._stream(name, array.shape, array.dtype, dims, attrs, fill_value, is_column) as stream:
            array = array.T if is_column else array
            if not stream._is_stored(array):
                for block in _dask.blocks(array):
                    stream.append(block)

    def add_file(self, name: str, content: bytes | Path) -> None:
        """Add a file.

        Parameters
        ----------
        name : str
            The name in the pack, such as `notes.txt`.
        content : bytes, str or os.PathLike
            The content, or the path of a file to copy.
        """
        if isinstance(content, bytes | bytearray | memoryview):
            self._writer.add_bytes(name, bytes(content))
        else:
            self._writer.add_path(name, content)

    def group(self, name: str, attrs: Mapping[str, Any] | None = None) -> None:
        """Set attributes of a group, which is a directory of the pack. Without attributes, the group may be empty.

        Parameters
        ----------
        name : str
            The name in the pack, such as `run1`; empty for the pack itself.
        attrs : dict, optional
            Attributes as for :meth:`add`.
        """
        self._writer.group(name, attrs or {})

    def remove(self, name: str) -> None:
        """Remove an array with its description, or another file, from the archive that is updated.

        Parameters
        ----------
        name : str
            The name in the pack, such as `run1/temperature` or `notes.txt`.
        """
        self._writer.remove(name)

    def sync(self) -> None:
        """Sync everything that was added to disk, and list it in the journal. Without a journal, do nothing."""
        self._writer.sync()

    def finish(self) -> CreateReport:
        """Write the archive and its manifests.

        Returns
        -------
        CreateReport

        Raises
        ------
        Refused
            If the content has errors. The findings list all of them.
        """
        if self._report is None:
            self._report = self._writer.finish()
        return self._report

    def abort(self) -> None:
        """Delete everything that was added, and write no archive."""
        self._writer.abort()

    def __repr__(self) -> str:
        return f"<ra_pack.PackWriter `{self._path}`>"


class ArrayStream(_Finished):
    """An array to which blocks are appended, from :meth:`PackWriter.array_stream`.

    Use it as a context manager, or call :meth:`finish` at the end. Until then, the writer cannot add other content.
    """

    def __init__(
        self, name: str, writer: _ra_pack.BlockWriter, dtype: "np.dtype[Any]", most: int | None, others: tuple[int, ...]
    ) -> None:
        self._name = name
        self._writer: _ra_pack.BlockWriter | None = writer
        self._finish = writer.finish
        self._dtype = dtype
        self._most = most
        self._rows = 0
        self._others = others

    @property
    def shape(self) -> tuple[int, ...]:
        """The length of each dimension of what was appended so far."""
        return (self._rows, *self._others)

    def append(self, block: ArrayLike) -> None:
        """Append a part of the array along its first dimension, or one row of it, such as an image.

        Parameters
        ----------
        block : array_like
            The elements. Floats are rounded to the dtype of the array; integers, text and times must fit it.

        Raises
        ------
        Mismatch
            If the block does not fit the shape or the dtype. The array can still be used.
        """
        if self._writer is None:
            raise ValueError(f"the array `{self._name}` is finished")
        values = _converted(self._name, self._dtype, block)
        if values.shape == self._others:
            values = values[np.newaxis]
        rows = self._rows + (len(values) if values.ndim else 0)
        if not values.ndim or values.shape[1:] != self._others or self._most is not None and rows > self._most:
            expected = (self._most, *self._others)
            raise Mismatch(f"`{self._name}`: the blocks do not fit the shape {expected}, found {np.shape(block)}")
        self._writer.write(values, values.nbytes)
        self._rows = rows

    def _is_stored(self, array: Any) -> bool:
        """Let the workers of a cluster write a Dask array. Return whether they did."""
        convert = partial(_converted, self._name, self._dtype)
        if self._writer is None or not _dask.store(array, self._name, self._dtype, convert, self._writer.place):
            return False
        self._finish, self._rows = self._writer.finish_placed, len(array)
        return True

    def finish(self) -> None:
        """Complete the array.

        Raises
        ------
        Mismatch
            If rows are missing, or a dimension has another length than in the pack.
        """
        if self._writer is None:
            return
        if self._most not in (None, self._rows):
            self.abort()
            raise Mismatch(f"`{self._name}`: expected {self._most} rows in all blocks, found {self._rows}")
        self._writer = None
        self._finish()

    def abort(self) -> None:
        """End without the array. The pack cannot be finished before an array of this name is added or removed."""
        if self._writer is not None:
            self._writer.abort()
            self._writer = None

    def __repr__(self) -> str:
        return f"<ra_pack.ArrayStream `{self._name}` {self.shape}>"


_LITTLE = np.little_endian


#: Units of NumPy's times for which the CF conventions have a word.
CF_UNITS = ("D", "h", "m", "s", "ms", "us", "ns")

#: Attributes of classes whose arrays have names, units or coordinates next to the elements.
_LABELS = ("dims", "dimensions", "attrs", "columns", "index", "unit", "units")


def labels(array: object) -> list[str]:
    """Return the names of what an array has next to its elements. A method of this name, as of a list, is another."""
    kind = type(array)
    return [name for name in _LABELS if hasattr(kind, name) and not callable(getattr(kind, name))]


def cf_times(name: str, dtype: "np.dtype[Any]") -> "np.dtype[Any]":
    """Return the dtype of times in the unit of the CF conventions that can store them."""
    unit, step = np.datetime_data(dtype)
    if unit in CF_UNITS:
        return dtype if step == 1 else np.dtype(f"{dtype.kind}8[{unit}]")
    if unit == "generic" or dtype.kind == "m" and unit in "YM":
        raise Mismatch(f"`{name}` has times of type {dtype}, which have no fixed length; convert them with `.astype()`")
    return np.dtype(f"{dtype.kind}8[{'D' if unit in 'YMW' else 'ns'}]")


def exactly(name: str, values: NDArray[Any], dtype: "np.dtype[Any]") -> NDArray[Any]:
    """Return contiguous values of another type. Floats are rounded; integers, text and times must be the same."""
    if not np.can_cast(values.dtype, dtype, "safe"):
        kinds = values.dtype.kind + dtype.kind
        if not (np.can_cast(values.dtype, dtype, "same_kind") or set(kinds) <= set("iu") or dtype.kind == "V"):
            raise Mismatch(f"`{name}`: expected elements of type {dtype}, found {values.dtype}; convert them")
        if dtype.kind in "iuSUmM":
            try:
                cast = values.astype(dtype, order="C")
                back = cast.astype(values.dtype)
                is_same = (back == values) & ((cast < 0) == (values < 0) if dtype.kind in "iu" else True)
                if dtype.kind in "mM":
                    is_same = (back == values) & (np.isnat(cast) == np.isnat(values)) | np.isnat(values)
            except OverflowError:
                is_same = np.False_
            if not np.all(is_same):
                raise Mismatch(f"`{name}` has elements of type {values.dtype} that {dtype} cannot store; convert them")
            return cast
    return values.astype(dtype, order="C", copy=False)


def _check_name(name: str) -> None:
    if name.removesuffix(".ra") == "manifest":
        raise Mismatch("`manifest` is the name of a file of the pack; choose another name for the array")


def _names(name: str, dims: Sequence[str] | None) -> list[str] | None:
    if isinstance(dims, str):
        raise Mismatch(f"`{name}`: expected a list of names as dims, found the text {dims!r}")
    return None if dims is None else list(dims)


def _fill_value(name: str, value: Any) -> Any:
    """Return a fill value as a description has it."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            raise Mismatch(f"`{name}`: the fill value {value!r} is not text in UTF-8") from None
    is_complex = isinstance(value, complex | np.complexfloating)
    return [float(value.real), float(value.imag)] if is_complex else value


def _plain(name: str, array: ArrayLike, is_labelled: bool) -> NDArray[Any]:
    """Return the elements as an array of NumPy itself. A mask is an error, and labels, because both would be lost."""
    if not is_labelled and (found := labels(array)):
        raise Mismatch(
            f"`{name}` is of type {type(array).__name__}, whose {' and '.join(found)} would be lost; "
            "give `dims` and `attrs`, or the elements alone with `numpy.asarray`"
        )
    values = np.asanyarray(array)
    if isinstance(values, np.ma.MaskedArray):
        raise Mismatch(f"`{name}` is a masked array; use `filled()` and `fill_value`")
    return np.asarray(values)


def _converted(name: str, dtype: "np.dtype[Any]", block: ArrayLike) -> NDArray[Any]:
    """Return a block of an array as elements of its type."""
    return exactly(name, _plain(name, block, True), dtype)


def _check_type(name: str, dtype: "np.dtype[Any]") -> None:
    """Refuse types that other modules define: their text for files is that of bytes without a meaning."""
    for part in [one[0] for one in (dtype.fields or {}).values()] or [dtype.base]:
        if part.fields is not None:
            _check_type(name, part)
        elif part.base.type.__module__ not in ("numpy", "builtins"):
            raise Unsupported(f"`{name}`: packs have no elements of type {part.base}; convert them with `.astype()`")
        elif part.kind in "mM" and cf_times(name, part.base) != part.base:
            raise Unsupported(f"`{name}`: packs have no times of type {part.base}; convert them with `.astype()`")


def _header(
    name: str, dtype: "np.dtype[Any]", is_column: bool, shape: tuple[int, ...]
) -> tuple[bytes, bool]:
    """Return the header of an `.npy` file with such an array, which the library converts to its own, and whether the
    elements are bfloat16."""
    is_bfloat16 = dtype.kind == "V" and dtype.name == "bfloat16"  # the name takes long to compute
    if not is_bfloat16:
        _check_type(name, dtype)
    descr = dtype.str if dtype.fields is None else np.lib.format.dtype_to_descr(dtype)
    text = f"{{'descr': {descr!r}, 'fortran_order': {is_column}, 'shape': {shape!r}, }}\n".encode()
    return b"\x93NUMPY\x03\x00" + len(text).to_bytes(4, "little") + text, is_bfloat16
