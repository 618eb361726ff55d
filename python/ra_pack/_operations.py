"""`create` and `verify`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from . import _ra_pack
from ._reports import CreateReport, VerifyReport

Path = str | os.PathLike[str]
Layout = Literal["plain", "bagit"]


def create(
    source: Path,
    path: Path,
    *,
    attrs: Mapping[str, Any] | None = None,
    layout: Layout = "plain",
    container: str | None = None,
    compression: str | None = None,
    digests: Sequence[str] = (),
    describe: bool = False,
    exclude: Sequence[str] = (),
    dereference: bool = False,
    preserve_mtime: bool = False,
    force: bool = False,
    strict: bool = False,
    portable: bool = False,
    jobs: int | None = None,
    external_manifest: bool = True,
    archive_digest: bool = False,
    timestamp: int | None = None,
) -> CreateReport:
    """Pack a directory into an archive.

    Parameters
    ----------
    source : str or os.PathLike
        The directory. It is not changed.
    path : str or os.PathLike
        The archive. Its extension determines the container: `.zip`, `.tar`, `.tar.gz` or `.tar.zst`.
    attrs : dict, optional
        Attributes of the pack, such as its title.
    layout : {'plain', 'bagit'}
        The layout of the pack.
    container : str, optional
        The container, if the extension does not give it: `zip`, `tar`, `tar.gz` or `tar.zst`.
    compression : str, optional
        The compression of zip members, such as `deflate` or `zstd:9`. They are stored by default.
    digests : sequence of str
        The algorithms of the manifests, including `sha256`; SHA-256 alone by default.
    describe : bool
        Add descriptions, made from the headers, for arrays that have none.
    exclude : sequence of str
        Patterns of files to leave out.
    dereference : bool
        Pack the targets of symbolic links. By default links are errors.
    preserve_mtime : bool
        Store the modification times of the files.
    force : bool
        Replace an existing archive.
    strict : bool
        Treat warnings and extension words in descriptions as errors.
    portable : bool
        Treat names that cannot be used on every system as errors.
    jobs : int, optional
        The number of threads; one per core by default.
    external_manifest : bool
        Write the manifest also next to the archive.
    archive_digest : bool
        Write the digest of the archive to a file next to it.
    timestamp : int, optional
        The time of every member, in seconds since 1970 UTC.

    Returns
    -------
    CreateReport

    Raises
    ------
    Refused
        If the directory has errors. The findings list all of them.
    AlreadyExists
        If the archive exists and `force` is false.
    """
    options = {name: value for name, value in locals().items() if name not in ("source", "path")}
    return _ra_pack.create(source, path, options)


def verify(
    path: Path,
    *,
    fast: bool = False,
    only_manifests: bool = False,
    strict: bool = False,
    jobs: int | None = None,
    manifest: Path | None = None,
) -> VerifyReport:
    """Check a pack: container, manifests, digests, headers and descriptions.

    Parameters
    ----------
    path : str or os.PathLike
        The archive or directory.
    fast : bool
        Read only headers and descriptions. Damaged data is then not found.
    only_manifests : bool
        Check only the container, names and digests.
    strict : bool
        Treat warnings and extension words in descriptions as errors.
    jobs : int, optional
        The number of threads; one per core by default.
    manifest : str or os.PathLike, optional
        A manifest that is not next to the archive.

    Returns
    -------
    VerifyReport
        All problems. It is true if the pack is valid.

    Raises
    ------
    NotAPack
        If the file is of another kind.
    OSError
        If the pack cannot be read.
    """
    return _ra_pack.verify(path, fast, only_manifests, strict, jobs, manifest)
