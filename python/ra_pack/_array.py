"""Parts of `Array` that need no speed."""

from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np

from ._errors import Mismatch
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


@dataclass(frozen=True)
class Plot:
    """A picture of an array, which notebooks show.

    Attributes
    ----------
    svg : str
        The picture as SVG.
    """

    svg: str = field(repr=False)

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
