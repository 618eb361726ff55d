"""`create`, `verify`, `validate`, `extract` and `diff`."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal, overload

from . import _ra_pack
from ._errors import InvalidOption, NotFound
from ._reports import ArrayDiff, CreateReport, ExtractReport, PackDiff, ValidateReport, VerifyReport

Path = str | os.PathLike[str]
Layout = Literal["plain", "bagit"]


def create(
    source: Path,
    path: Path,
    *,
    attrs: Mapping[str, Any] | None = None,
    layout: Layout = "plain",
    bag_info: Mapping[str, str | Sequence[str]] | None = None,
    profile: Path | None = None,
    ro_crate: bool = False,
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
    block_digests: int | None = None,
    timestamp: int | None = None,
) -> CreateReport:
    """Pack a directory into an archive.

    Parameters
    ----------
    source : str or os.PathLike
        The directory. It is not changed.
    path : str or os.PathLike
        The archive, a file or the URL of an object such as `s3://bucket/run.zip`. Its extension determines the
        container: `.zip`, `.tar`, `.tar.gz` or `.tar.zst`.
    attrs : dict, optional
        Attributes of the pack, such as its title.
    layout : {'plain', 'bagit'}
        The layout of the pack.
    bag_info : dict, optional
        Labels and values for the `bag-info.txt` of a bag. A list of values repeats the label.
    profile : str or os.PathLike, optional
        The file of a BagIt profile. A bag that breaks its rules is refused.
    ro_crate : bool
        Write `ro-crate-metadata.json`, the metadata of an RO-Crate. The pack needs the attributes `title`, `summary`,
        `license` and `date_issued`.
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
    block_digests : int, optional
        The number of bytes of a block, such as `8 << 20`. The pack then lists the digest of each block of larger files,
        which proves slices that are read. By default there is no list.
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
    labels = [(label, [value] if isinstance(value, str) else value) for label, value in (bag_info or {}).items()]
    options["bag_info"] = [(label, value) for label, values in labels for value in values]
    return _ra_pack.create(source, path, options)


def verify(
    path: Path,
    *,
    fast: bool = False,
    only_manifests: bool = False,
    strict: bool = False,
    jobs: int | None = None,
    manifest: Path | None = None,
    signers: Path | None = None,
    minisign_key: Path | None = None,
    time_ca: Path | None = None,
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
    signers : str or os.PathLike, optional
        A list of allowed signers of OpenSSH, one of whom must have signed the manifest.
    minisign_key : str or os.PathLike, optional
        A public key of minisign, or its file, that must have signed the manifest.
    time_ca : str or os.PathLike, optional
        Certificates of authorities, one of which must have time-stamped the manifest.

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
    files = (manifest, signers, minisign_key, time_ca)
    return _ra_pack.verify(path, fast, only_manifests, strict, jobs, files)


def validate(
    path: Path,
    *,
    strict: bool = False,
    metadata: bool = False,
    profile: Path | None = None,
    repositories: Sequence[str] = (),
    conventions: Sequence[str] = (),
    jobs: int | None = None,
) -> ValidateReport:
    """Check descriptions against each other and against their arrays. Digests are not computed.

    Parameters
    ----------
    path : str or os.PathLike
        The archive, directory, array or description.
    strict : bool
        Treat warnings and extension words in descriptions as errors.
    metadata : bool
        Also check for known units, names, a title and other metadata.
    profile : str or os.PathLike, optional
        The file of a BagIt profile, whose rules a bag is checked against. It is never fetched.
    repositories : sequence of str
        Repositories whose rules for uploads are checked: `b2share`, `dataverse`, `dryad`, `figshare`, `zenodo`.
    conventions : sequence of str
        Conventions whose rules are checked: `cf`, `acdd`. They include what `metadata` checks.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    ValidateReport
        All problems. It is true if there is no error.

    Raises
    ------
    Refused
        If the profile has errors.
    OSError
        If the pack or the profile cannot be read.
    """
    options = {name: value for name, value in locals().items() if name != "path"}
    options["repositories"], options["conventions"] = _texts(repositories), _texts(conventions)
    return _ra_pack.validate(path, options)


def extract(
    path: Path,
    directory: Path | None = None,
    *,
    patterns: Sequence[str] = (),
    force: bool = False,
    max_size: int | None = None,
    jobs: int | None = None,
) -> ExtractReport:
    """Unpack a pack, and check each file against the manifest before it appears under its name.

    Parameters
    ----------
    path : str or os.PathLike
        The archive or directory.
    directory : str or os.PathLike, optional
        The directory to unpack into, which is created if needed. By default a directory that is named after the archive.
    patterns : sequence of str
        Patterns of members to unpack, such as `run1/*`. The name of an array also means its description. By default
        all members.
    force : bool
        Replace existing files.
    max_size : int, optional
        The largest number of bytes to write.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    ExtractReport
        The number of files, and all problems. It is true if there is no error. Files with an error are not written.

    Raises
    ------
    AlreadyExists
        If a file exists and `force` is false.
    NotFound
        If no member matches the patterns.
    TooLarge
        If the archive is larger than `max_size`.
    """
    patterns = _texts(patterns)
    report = _ra_pack.extract(path, directory, patterns, force, max_size, jobs)
    if not report.files and report and patterns:
        raise NotFound(f"no member of `{os.fspath(path)}` matches {_listed(patterns)}")
    return report


@overload
def diff(
    a: Path, b: Path, *, member: str, tolerance: float = ..., relative: float = ..., jobs: int | None = ...
) -> ArrayDiff: ...
@overload
def diff(
    a: Path,
    b: Path,
    *,
    member: None = None,
    patterns: Sequence[str] = ...,
    tolerance: float = ...,
    relative: float = ...,
    read_all: bool = ...,
    generated: bool = ...,
    jobs: int | None = ...,
) -> PackDiff | ArrayDiff: ...
def diff(
    a: Path,
    b: Path,
    *,
    member: str | None = None,
    patterns: Sequence[str] = (),
    tolerance: float = 0.0,
    relative: float = 0.0,
    read_all: bool = False,
    generated: bool = False,
    jobs: int | None = None,
) -> PackDiff | ArrayDiff:
    """Compare two packs, or two arrays element by element.

    Parameters
    ----------
    a, b : str or os.PathLike
        Two archives or directories, or two array files.
    member : str, optional
        Compare this array of both packs, or of one pack with an array file.
    patterns : sequence of str
        Patterns of members of packs to compare. By default all members.
    tolerance : float
        The largest distance between elements that count as equal.
    relative : float
        The largest distance between elements that count as equal, as a part of the magnitude in `b`.
    read_all : bool
        Read and check every file of packs. By default equal digests in both manifests are trusted.
    generated : bool
        Compare also manifests and tag files. They do not make packs differ.
    jobs : int, optional
        The number of threads; one per core by default.

    Returns
    -------
    PackDiff or ArrayDiff
        The differences. It is true if the contents are equal.

    Raises
    ------
    NotFound
        If the packs have no such array, or no member matches the patterns.
    NotAPack, NotAnArray
        If a file is of another kind.
    OSError
        If a file cannot be read.
    """
    for name, distance in (("tolerance", tolerance), ("relative", relative)):
        if not distance >= 0:
            raise InvalidOption(f"`{name}` must be at least 0, found {distance}")
    options = {
        "patterns": _texts(patterns),
        "tolerance": tolerance,
        "relative": relative,
        "read_all": read_all,
        "generated": generated,
        "jobs": jobs,
    }
    report = _ra_pack.diff(a, b, member, options)
    if isinstance(report, ArrayDiff):
        if patterns or read_all or generated:
            raise InvalidOption("`patterns`, `read_all` and `generated` are for two packs, not for two arrays")
    elif patterns and not any(report.counts.values()):
        raise NotFound(f"no member of `{os.fspath(a)}` or `{os.fspath(b)}` matches {_listed(patterns)}")
    return report


def _listed(patterns: Sequence[str]) -> str:
    return " or ".join(f"`{pattern}`" for pattern in patterns)


def _texts(texts: Sequence[str]) -> list[str]:
    """Return texts as a list. A text alone is an error: its letters would be texts."""
    if isinstance(texts, str):
        raise TypeError(f"expected a list of texts, found the text {texts!r}")
    return list(texts)
