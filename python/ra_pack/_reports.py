"""Reports of operations, and findings."""

from dataclasses import dataclass, field
from typing import Any, Literal

#: The state of a target in an audit. Only `good` needs no attention.
State = Literal[
    "bad", "missing", "unreadable", "disagreeing", "not_verified", "incomplete", "never", "stale", "good"
]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """An error or a warning about a pack.

    Attributes
    ----------
    code : str
        The kind of the finding, such as `wrong-digest`. ``ra-pack explain CODE`` explains it.
    severity : {'error', 'warning'}
        The pack is not valid if there is an error.
    message : str
        The problem in one sentence.
    member : str or None
        The file, if the finding concerns one.
    array : str or None
        The array, if the finding concerns one.
    line, column : int or None
        The place in a text, from 1.
    offset : int or None
        The offset of a byte, from 0.
    expected, found : str or None
        The expected value, and the value that was found.
    hint : str or None
        The suggested next step.
    """

    code: str
    severity: Literal["error", "warning"]
    message: str
    member: str | None = None
    array: str | None = None
    line: int | None = None
    column: int | None = None
    offset: int | None = None
    expected: str | None = None
    found: str | None = None
    hint: str | None = None
    text: str = field(default="", repr=False, compare=False)

    def __str__(self) -> str:
        return self.text or self.message


@dataclass(frozen=True, kw_only=True)
class CreateReport:
    """The archive that was created.

    Attributes
    ----------
    target : str
        The path, as given.
    container : str
        The container: `zip`, `tar`, …
    layout : str
        The layout: `plain` or `bagit`.
    files, arrays : int
        The number of files, and of arrays among them.
    metadata : dict
        The number of arrays without units or names.
    bytes, archive_bytes : int
        The size of all files, and of the archive.
    archive_sha256 : str or None
        The digest of the archive, if requested.
    external_manifest : str or None
        The path of the manifest next to the archive.
    signature : str or None
        The path of the signature of that manifest.
    described : list of str
        Descriptions that were made from headers.
    leftovers : list of str
        Files that an interrupted run left next to the archive.
    findings : list of Finding
        Warnings.
    """

    target: str
    container: str
    layout: str
    files: int
    arrays: int
    metadata: dict[str, int]
    bytes: int
    archive_bytes: int
    described: list[str]
    leftovers: list[str]
    findings: list[Finding]
    archive_sha256: str | None = None
    external_manifest: str | None = None
    signature: str | None = None


@dataclass(frozen=True, kw_only=True)
class VerifyReport:
    """The problems of a pack, and counts of its files.

    Attributes
    ----------
    target : str
        The path, as given.
    verdict : str
        The outcome: `valid`, `contents_not_read`, `not_valid` or `not_verified`.
    exit_status : int
        The exit status of ``ra-pack verify`` for this pack alone.
    started : str
        The time when the verification began, in UTC.
    seconds : float
        The duration.
    version : str
        The version of ra-pack.
    host : str or None
        The name of the machine, if it is known.
    shard : str or None
        The shard of the contents that were read; None if all were.
    shard_block_size : int or None
        The number of bytes per block if large files were divided between shards.
    archive_bytes : int or None
        The size of the archive file in bytes; None for a directory.
    modified : str or None
        The modification time of the archive file; None for a directory.
    e_tag : str or None
        The entity tag of an archive at a URL.
    manifest_digest : str or None
        The SHA-256 of the manifest.
    container : str or None
        The container: `zip`, `tar`, `directory`, …; None for an array file.
    layout : str
        The layout: `plain` or `bagit`.
    bag : dict or None
        The checks of a bag.
    ro_crate : str or None
        The metadata file of an RO-Crate.
    contents_read : bool
        Whether every byte was checked against a manifest, or against block digests that it confirms.
    files, arrays, bytes : int
        The number of files, the number of arrays among them, and their size.
    manifests : list of str
        The manifests that were used.
    signatures : list of dict
        The signatures and time-stamps of these: `name`, `state` (`not_checked`, `good` or `bad`), `by` and `time`.
    parity : list of str
        Files next to the archive from which PAR2 can repair it.
    store : dict or None
        The comparison with an object in a store: `url`, `outcome`, `checksum` and `value`.
    blocks : dict or None
        The number and size of the files that were compared by the digests of their blocks.
    intact : dict or None
        The number of files that are intact, if contents were read.
    metadata : dict or None
        The number of arrays without units or names.
    findings : list of Finding
        Errors and warnings.
    """

    target: str
    verdict: Literal["valid", "contents_not_read", "not_valid", "not_verified"]
    exit_status: int
    started: str
    seconds: float
    version: str
    layout: str
    contents_read: bool
    files: int
    arrays: int
    bytes: int
    manifests: list[str]
    signatures: list[dict[str, Any]]
    findings: list[Finding]
    host: str | None = None
    shard: str | None = None
    shard_block_size: int | None = None
    archive_bytes: int | None = None
    modified: str | None = None
    e_tag: str | None = None
    manifest_digest: str | None = None
    container: str | None = None
    bag: dict[str, Any] | None = None
    ro_crate: str | None = None
    parity: list[str] = field(default_factory=list)
    store: dict[str, str] | None = None
    blocks: dict[str, int] | None = None
    intact: dict[str, int] | None = None
    metadata: dict[str, int] | None = None

    @property
    def valid(self) -> bool:
        """Whether there is no error. Warnings do not count."""
        return not _has_error(self.findings)

    def __bool__(self) -> bool:
        return self.valid

    def __str__(self) -> str:
        words = {
            "valid": "valid",
            "contents_not_read": "no errors found, contents not read",
            "not_valid": "NOT VALID",
            "not_verified": "not verified",
        }
        checked = f", checked against {', '.join(self.manifests)}" if self.manifests and self.contents_read else ""
        counts = f"{self.arrays:,} arrays, {self.files:,} files, {self.bytes:,} bytes{checked}"
        return "\n".join([*map(str, self.findings), f"{self.target}: {words[self.verdict]} ({counts})"])


@dataclass(frozen=True, kw_only=True)
class ValidateReport:
    """The problems of descriptions and metadata. It is true if there is no error.

    Attributes
    ----------
    target : str
        The path, as given.
    container : str or None
        The container: `zip`, `tar`, `directory`, …; None for an array or a description.
    profile : str or None
        The URI of the BagIt profile that the bag was checked against.
    documents, arrays : int
        The number of descriptions that were read, and of arrays that they were checked against.
    findings : list of Finding
        Errors and warnings.
    """

    target: str
    documents: int
    arrays: int
    findings: list[Finding]
    container: str | None = None
    profile: str | None = None

    def __bool__(self) -> bool:
        return not _has_error(self.findings)


@dataclass(frozen=True, kw_only=True)
class ExtractReport:
    """The files that were unpacked. It is true if there is no error.

    Attributes
    ----------
    target : str
        The path of the archive, as given.
    output : str
        The directory that the archive was unpacked to.
    files, bytes : int
        The number of files written, and their size.
    verified : int
        The number of these files that match a manifest.
    leftovers : list of str
        Files that an interrupted run left in the directories that were written to.
    findings : list of Finding
        Errors and warnings. A file with an error was not written, unless the error is that no manifest lists it.
    """

    target: str
    output: str
    files: int
    bytes: int
    verified: int
    leftovers: list[str]
    findings: list[Finding]

    def __bool__(self) -> bool:
        return not _has_error(self.findings)


@dataclass(frozen=True, kw_only=True)
class ArrayDiff:
    """The differences of two arrays. It is true if they are equal.

    Attributes
    ----------
    a, b : str
        The paths, as given.
    type : str
        The element type of the first array.
    shape : list of int
        The shape of the first array.
    header : list of dict
        The differences of the headers: ``field``, ``a`` and ``b``.
    elements : dict or None
        The differences of the elements: ``count``, ``differing``, ``nan``, ``first``, ``furthest`` and ``distance``. None
        if types or shapes differ.
    """

    a: str
    b: str
    type: str
    shape: list[int]
    header: list[dict[str, str]]
    elements: dict[str, Any] | None = None
    text: str = field(default="", repr=False, compare=False)

    @property
    def equal(self) -> bool:
        """Whether nothing differs by more than the tolerance."""
        return not self.header and self.elements is not None and self.elements["differing"] == 0

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class PackDiff:
    """The differences of two packs. It is true if their contents are equal.

    Attributes
    ----------
    a, b : dict
        The packs: ``target``, ``container``, ``layout`` and ``findings``, which are errors that were found during the
        comparison.
    counts : dict
        The number of members by kind of difference.
    members : list of dict
        The members that are not identical byte for byte, each with its ``name``, ``change`` and differences.
    """

    a: dict[str, Any]
    b: dict[str, Any]
    counts: dict[str, int]
    members: list[dict[str, Any]]
    text: str = field(default="", repr=False, compare=False)

    @property
    def equal(self) -> bool:
        """Whether all members could be read, and none differs by more than the tolerance."""
        differing = ("added", "removed", "renamed", "changed", "unread")
        return not any(self.counts[kind] for kind in differing) and not _has_error(
            [*self.a["findings"], *self.b["findings"]]
        )

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, kw_only=True)
class ConvertReport:
    """The arrays and files that were converted. It is true if all were.

    Attributes
    ----------
    target, output : str
        The paths of the source, or of the first of several, and of the destination, as given.
    from_, to : str
        Their formats; `directory` for several sources.
    arrays : list of dict
        The arrays that were converted. ``from`` and ``to`` are their names in the source and in the destination, and
        ``losses`` says what the format of the destination cannot express.
    copied : list of str
        The names of files that were copied.
    failed : list of dict
        The files and arrays that could not be converted: ``name``, ``reason`` and ``findings``.
    losses : list of str
        Other contents that are lost.
    bytes : int
        The number of bytes written.
    leftovers : list of str
        Files that an interrupted run left next to the destination.
    """

    target: str
    from_: str
    output: str
    to: str
    arrays: list[dict[str, Any]]
    losses: list[str]
    bytes: int
    leftovers: list[str]
    copied: list[str] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not self.failed


@dataclass(frozen=True, kw_only=True)
class DescribeReport:
    """The descriptions that were changed. It is true if there is no error.

    Attributes
    ----------
    target : str
        The path, as given.
    written : list of str
        Descriptions that were written for arrays without one.
    changes : list of dict
        Changes of descriptions: ``document``, ``line``, ``key``, and, if there are any, ``array``, ``from`` and ``to``.
    unchanged : int
        The number of descriptions that needed no change.
    described : int
        The number of arrays that had a description before, with `write`.
    leftovers : list of str
        Files that an interrupted run left next to the arrays.
    findings : list of Finding
        Problems, such as descriptions that could not be updated.
    """

    target: str
    written: list[str]
    findings: list[Finding]
    changes: list[dict[str, Any]] = field(default_factory=list)
    unchanged: int = 0
    described: int = 0
    leftovers: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        return not _has_error(self.findings)


def _has_error(findings: list[Finding]) -> bool:
    return any(finding.severity == "error" for finding in findings)


@dataclass(frozen=True, kw_only=True)
class AuditedTarget:
    """The state of one target according to logs.

    Attributes
    ----------
    target : str
        The path, as given.
    state : str
        The state: `bad`, `missing`, `unreadable`, `disagreeing`, `not_verified`, `incomplete`, `never`, `stale` or
        `good`. ``docs/auditing.md`` explains them.
    last_good : str or None
        The time of the last complete verification without errors, in UTC.
    age : int or None
        The number of seconds since then.
    last : str or None
        The time of the last verification.
    signed_by : list of str
        The signers of its manifest, according to the last complete verification without errors.
    existed_at : str or None
        The time at which its manifest existed, according to a time-stamp.
    reason : str or None
        Why the target needs attention; None if it does not.
    store : dict or None
        The words of a store about its copy, as in `VerifyReport`.
    """

    target: str
    state: State
    last_good: str | None
    age: int | None
    last: str | None
    signed_by: list[str]
    existed_at: str | None
    reason: str | None
    store: dict[str, str] | None = None


@dataclass(frozen=True, kw_only=True)
class LogLine:
    """A line of a log that cannot be read or trusted.

    Attributes
    ----------
    log : str
        The path of the log.
    line : int
        The number of the line, from 1.
    reason : str
        Why it cannot.
    """

    log: str
    line: int
    reason: str


@dataclass(frozen=True, kw_only=True)
class AuditReport:
    """The state of each target according to logs. It is true if all are good.

    Attributes
    ----------
    time : str
        The time of the report, in UTC.
    max_age : int or None
        The largest age that was allowed, in seconds.
    lines, corrupt_lines : int
        The number of lines that were read, and of those that cannot be read.
    corrupt : list of LogLine
        The first of the lines that cannot be read.
    future_lines : int
        The number of lines whose time is in the future, so that the clock was wrong.
    future : list of LogLine
        The first of these lines.
    by_blocks : int
        The number of targets whose last verification without errors compared blocks of large files, and not the digests
        of the whole files.
    counts : dict
        The number of targets of each state.
    codes : dict
        The number of targets that have each error, by its code.
    targets : list of AuditedTarget
        Every target, sorted by name.
    """

    time: str
    max_age: int | None
    lines: int
    corrupt_lines: int
    corrupt: list[LogLine]
    future_lines: int
    future: list[LogLine]
    by_blocks: int
    counts: dict[State, int]
    codes: dict[str, int]
    targets: list[AuditedTarget]

    @classmethod
    def of(cls, fields: dict[str, Any]) -> "AuditReport":
        """Return the report with these fields.

        Parameters
        ----------
        fields : dict
            The object that ``ra-pack audit --json`` prints.
        """
        corrupt, future = ([LogLine(**line) for line in fields.pop(key)] for key in ("corrupt", "future"))
        targets = [AuditedTarget(**target) for target in fields.pop("targets")]
        return cls(corrupt=corrupt, future=future, targets=targets, **fields)

    @property
    def needs_attention(self) -> bool:
        """Whether a target is not good, there is none, or a line cannot be read."""
        return not self.targets or self.corrupt_lines > 0 or any(target.state != "good" for target in self.targets)

    def __bool__(self) -> bool:
        return not self.needs_attention
