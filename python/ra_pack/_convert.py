"""`convert` and `refs`."""

import json
import os
import warnings
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from . import _ra_pack
from ._operations import Path, _texts
from ._reports import ConvertReport


def convert(
    source: Path | Iterable[Path],
    destination: Path,
    *,
    from_: str | None = None,
    to: str | None = None,
    member: str | None = None,
    order: Literal["column", "row"] | None = None,
    keep_endian: bool = False,
    drop_metadata: bool = False,
    keep_metadata: Path | None = None,
    reinterpret: Literal["bfloat16", "void"] | None = None,
    masks: bool = False,
    compression: str | None = None,
    dimcoords: bool = False,
    arrays_only: bool = False,
    exclude: Sequence[str] = (),
    dereference: bool = False,
    images: bool = False,
    raw: bool = False,
    force: bool = False,
    jobs: int | None = None,
) -> ConvertReport:
    """Convert arrays between RawArray, NumPy, NetCDF, HDF5, images and text.

    Parameters
    ----------
    source : str or os.PathLike, or an iterable of them
        The file, directory or archive; or several.
    destination : str or os.PathLike
        The file, directory or archive to write. Its extension determines the format.
    from_, to : str, optional
        The formats, if the names do not give them: `ra`, `npy`, `npz`, `ds`, `png`, `nc`, `h5`, `directory`, `zip`,
        `tar`, `tar.gz` or `tar.zst`. `nc` and `h5` can only be read, and `raw`, `csv` and `json` only be written.
    member : str, optional
        The only array to convert, such as `run1/temperature`.
    order : {'column', 'row'}, optional
        The order of the elements in the output. By default arrays that become RawArray are column-major, and others keep
        their order.
    keep_endian : bool
        Keep big-endian numbers.
    drop_metadata : bool
        Drop the bytes after the elements of a RawArray. By default another RawArray keeps them.
    keep_metadata : str or os.PathLike, optional
        The file for the bytes after the elements of a single RawArray.
    reinterpret : {'bfloat16', 'void'}, optional
        Read elements `V2` of NumPy as bfloat16, or write types that NumPy does not have as `Vn`.
    masks : bool
        Convert the masks of a `.ds` to arrays, and missing values back to masks.
    compression : str, optional
        The compression of an `.npz` or an archive, such as `deflate` or `zstd:9`. Members are stored by default.
    dimcoords : bool
        Turn one-dimensional arrays without a description whose name is that of a coordinate into coordinates.
    arrays_only : bool
        Leave out the files of a directory that contain no arrays. By default they are copied.
    exclude : sequence of str
        Patterns of files to leave out.
    dereference : bool
        Follow symbolic links. By default links are errors.
    images : bool
        Convert also the pictures of a directory. By default they are copied.
    raw : bool
        Write the stored numbers as text, without scale and offset, dates, names and missing values.
    force : bool
        Replace existing files.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    ConvertReport
        The arrays, and what is lost. It is true if everything was converted.

    Raises
    ------
    InvalidOption
        If an option does not fit the formats.
    Damaged
        If the source is not valid in its format.
    AlreadyExists
        If the destination exists and `force` is false.
    """
    options: dict[str, Any] = {
        name: value for name, value in locals().items() if name not in ("source", "destination")
    }
    options["exclude"] = _texts(exclude)
    sources = [source] if isinstance(source, str | os.PathLike) else list(source)
    return _ra_pack.convert(sources, destination, options)


def refs(path: Path, url: str | None = None, *, skip: bool = False, jobs: int | None = None) -> dict[str, Any]:
    """Return references that present a pack as a Zarr store, for fsspec, kerchunk and VirtualiZarr.

    They are what ``ra-pack refs`` writes, in version 1 of the format of kerchunk. No data is read or copied. A warning
    names each array and attribute that the references cannot express.

    Parameters
    ----------
    path : str or os.PathLike
        The zip, tar, directory or array.
    url : str, optional
        The address at which readers find the pack; its absolute path by default.
    skip : bool
        Leave out arrays that Zarr readers cannot read, such as compressed ones. By default they are errors.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    dict
        ``version``, and ``refs``: the keys of the store with their contents or their places in the pack.

    Raises
    ------
    Unsupported
        If Zarr readers cannot read an array and `skip` is false, or for a compressed tar.
    """
    text, lost = _ra_pack.refs(path, url, skip, jobs)
    for one in lost:
        warnings.warn(one, stacklevel=2)
    found: dict[str, Any] = json.loads(text)
    return found
