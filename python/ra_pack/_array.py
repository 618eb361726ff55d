"""Parts of `Array` that need no speed."""

import os
from typing import Any, NoReturn

import numpy as np

from . import _ra_pack
from ._errors import InvalidOption, Mismatch, Unsupported
from ._ra_pack import Array, open


class ReadOnly(dict[str, Any]):
    """A dict that refuses changes, because they would not change the pack. `dict` and `copy` return one that does not."""

    def _refuse(self, *_: object, **__: object) -> NoReturn:
        raise TypeError("attributes and coordinates of a pack are read-only; change a copy, as by `dict(...)`")

    __setitem__ = __delitem__ = __ior__ = clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[type, tuple[dict[str, Any]]]:
        return dict, (dict(self),)


def open_array(path: Any, name: str) -> Array:
    """Open an array of a pack, which is a path or a file object, for `pickle`."""
    return open(path)[name]


class Plot:
    """A picture of an array, which notebooks show.

    Attributes
    ----------
    svg : str
        The picture as SVG.
    """

    def __init__(self, drawing: _ra_pack.Drawing) -> None:
        self._drawing = drawing

    @property
    def svg(self) -> str:
        return self._drawing.svg()

    def png(self) -> bytes:
        """Return the picture as a PNG file, with as many pixels per unit as the `scale` of the plot.

        Returns
        -------
        bytes
        """
        return self._drawing.png()

    def save(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the picture to a new file, which appears in one step.

        Parameters
        ----------
        path : str or os.PathLike
            The file; its extension is ``.png`` or ``.svg``.
        force : bool
            Replace an existing file.

        Raises
        ------
        InvalidOption
            If the extension is another one.
        FileExistsError
            If the file exists and `force` is false.
        """
        extension = os.path.splitext(path)[1].lower()
        if extension not in (".png", ".svg"):
            raise InvalidOption(f"`path=`: expected the extension .png or .svg, found `{os.fspath(path)}`")
        _ra_pack.write_file(path, self.png() if extension == ".png" else self.svg.encode(), force)

    def _repr_svg_(self) -> str:
        return self.svg


def has_order(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], order: str) -> bool:
    """Return whether an array to fill has this order. An array that cannot be filled is an error."""
    if type(out) is not np.ndarray:
        raise TypeError(f"expected an array of NumPy itself in `out`, found {type(out).__name__}")
    if out.shape != shape or out.dtype != dtype:
        found = f"found shape {out.shape} and dtype {out.dtype}"
        raise Mismatch(f"`out`: expected shape {shape} and dtype {dtype}, {found}")
    if not (out.flags.writeable and out.flags.forc):
        raise Mismatch("`out`: expected a contiguous array that may be changed")
    return out.flags.f_contiguous if order == "F" else out.flags.c_contiguous


#: Nanoseconds of the units of NumPy's times.
_NANOSECONDS = {
    604_800 * 10**9: "W",
    86_400 * 10**9: "D",
    3_600 * 10**9: "h",
    60 * 10**9: "m",
    10**9: "s",
    10**6: "ms",
    10**3: "us",
    1: "ns",
}
#: The first day of the Gregorian calendar, as a time of NumPy.
_GREGORIAN = np.datetime64("1582-10-15")


def decode(
    name: str, attrs: dict[str, Any], fill_value: Any, times: tuple[str, int, bool | None] | None, values: Any
) -> Any:
    """Return text for bytes, and times for numbers with units of time. `times` are these units: the date of the number 0,
    the nanoseconds of 1, and whether the calendar is Julian before 1582; None for other calendars than NumPy's."""
    values = np.asanyarray(values)
    if values.dtype.kind == "S":
        try:
            return np.char.decode(values, str(attrs.get("_Encoding", "utf-8")))[()]
        except (LookupError, UnicodeDecodeError) as error:
            raise Mismatch(f"`{name}` has bytes that are not text: {error}") from None
    duration = _duration(attrs.get("units"), values.dtype)
    if values.dtype.kind not in "iuf" or (times is None and duration is None):
        return values[()]
    known = np.isfinite(values)
    # NumPy stores NaT as the smallest integer.
    for sentinel in (fill_value, attrs.get("_FillValue"), attrs.get("missing_value"), np.iinfo(np.int64).min):
        if sentinel is not None:
            known &= ~np.isin(values, sentinel)
    scale, offset = (attrs.get(word) for word in ("scale_factor", "add_offset"))
    if isinstance(scale, int | float | np.number):
        values = values * float(scale)
    if isinstance(offset, int | float | np.number):
        values = values + float(offset)
    if times is None:
        return _steps(name, values, known, duration, np.datetime64(0, "s"))[()]
    epoch, nanoseconds, is_mixed = times
    unit, origin = _NANOSECONDS.get(nanoseconds), np.datetime64(epoch)
    refusal = f"`{name}` has times of the calendar {attrs.get('calendar', 'standard')!r} that NumPy does not have"
    refusal += "; open it with xarray and cftime"
    if unit is None or is_mixed is None or (is_mixed and origin < _GREGORIAN):
        raise Unsupported(refusal)
    dates = _coarse(origin, unit) + _steps(name, values, known, unit, origin)
    # A comparison of nanoseconds with the year 1582 would overflow.
    if is_mixed and (dates.astype("M8[s]") < _GREGORIAN).any():
        raise Unsupported(refusal)
    return dates[()]


def _duration(units: Any, dtype: "np.dtype[Any]") -> str | None:
    """Return the unit of numbers that `write` makes of `timedelta64`."""
    from ._write import UNITS

    return next((unit for unit, word in UNITS.items() if word == units and dtype == np.int64), None)


def _coarse(origin: Any, unit: str) -> Any:
    """Return the same time in this unit if it is a whole number of them."""
    coarse = origin.astype(f"M8[{'D' if unit == 'W' else unit}]")
    return coarse if coarse == origin else origin


def _steps(name: str, values: Any, known: Any, unit: Any, origin: Any) -> Any:
    """Return numbers of a unit as times that can be added to `origin`, and `NaT` for those that are not known. Floats are
    rounded to nanoseconds, or microseconds if they are too far from 1970 for nanoseconds."""
    second, kept = np.timedelta64(1, "s"), np.where(known, values, 0)
    farthest = float(np.abs(kept.astype(np.float64)).max(initial=0))
    seconds = farthest * float(np.timedelta64(1, unit) / second) + abs(float((origin - np.datetime64(0, "s")) / second))
    is_whole = values.dtype.kind in "iu"
    steps_in: Any = unit if is_whole else "ns" if seconds < 2**62 / 1e9 else "us"
    finest: Any = np.datetime_data((_coarse(origin, unit) + np.timedelta64(1, steps_in)).dtype)[0]
    if seconds >= 2.0**62 * float(np.timedelta64(1, finest) / second):
        raise Unsupported(f"`{name}` has times that NumPy cannot store; open it with xarray and cftime")
    if not is_whole:
        kept = np.round(kept.astype(np.float64) * (np.timedelta64(1, unit) / np.timedelta64(1, steps_in)))
    return np.where(known, kept.astype(np.int64).astype(f"m8[{steps_in}]"), np.timedelta64("NaT", steps_in))


def dlpack(array: Array, **options: Any) -> Any:
    """Return the elements for `from_dlpack` of another library."""
    if options.get("copy") is False:
        raise BufferError("reading an array of a pack makes a copy; `view()` does not")
    return array.read().__dlpack__(**options)


def shown(array: Array) -> str:
    """Return the text of an array, in the style of xarray."""
    dims = ", ".join(f"{name}: {length}" for name, length in zip(array.dims, array.shape))
    lines = [f"<ra_pack.Array {array.name!r} ({dims})> {array.dtype}, {_size(array.nbytes)}"]
    coords = array.coords
    if coords:
        lines.append("Coordinates:")
        width = max(map(len, coords))
        for name, values in coords.items():
            lines.append(f"  * {name:<{width}}  {values.dtype} {values.shape}")
    if array.attrs:
        lines.append("Attributes:")
        width = max(map(len, array.attrs))
        for name, value in array.attrs.items():
            text = " ".join(str(value).split())
            lines.append(f"    {name + ':':<{width + 1}}  {text if len(text) <= 80 else text[:79] + '…'}")
    return "\n".join(lines)


def _size(count: int) -> str:
    size, unit = float(count), "B"
    for unit in ["B", "kB", "MB", "GB", "TB", "PB"]:
        if size < 1000 or unit == "PB":
            break
        size /= 1000
    return f"{size:.0f}{unit}" if size >= 100 or unit == "B" else f"{size:.3g}{unit}"
