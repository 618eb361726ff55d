"""`audit` and `audit_report`."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from . import _ra_pack
from ._errors import InvalidOption
from ._reports import AuditReport

if TYPE_CHECKING:
    from distributed import Client

    from ._ra_pack import _Planned, _Run

Path = str | os.PathLike[str]

#: Bytes of a task with several targets. Hashing them takes 0.05 s to 0.3 s, and the task 0.003 s.
SMALLEST_BATCH = 64 << 20
LARGEST_BATCH = 256 << 20

#: The work for a target of 0 bytes, in bytes: opening it takes as long as hashing this many.
EACH = 512 << 10

#: Tasks for each thread of the cluster, so that all threads end at about the same time.
TASKS_PER_THREAD = 8

Batch = tuple[list[str], str | None]

#: Options of all tasks: strict, jobs, the time after which no target is begun, and the directory of relative targets.
_Task = tuple[bool, int, float | None, str]


def audit(
    targets: Iterable[Path],
    client: Client | None = None,
    *,
    log: Path | None = None,
    history: Iterable[Path] = (),
    max_age: str | timedelta | None = None,
    budget: str | timedelta | None = None,
    shard_size: int | None = None,
    strict: bool = False,
    jobs: int | None = None,
    retries: int = 3,
) -> AuditReport:
    """Verify many packs, in this process or on a Dask cluster, and return the state of each.

    The result of each pack is a line of `log`, as ``ra-pack verify --log`` writes it. The report has what
    ``ra-pack audit`` says about the log.

    Parameters
    ----------
    targets : iterable of str or os.PathLike
        The archives and directories. The log knows each by this path, so use the same ones in every run.
    client : distributed.Client, optional
        The cluster. Its workers open the packs, so they must see them under the same paths; relative ones begin at the
        directory of this process. Small packs are verified in
        batches of 64 to 256 MiB, a large one in a task of its own. This process appends the results of a task to the log
        as the task ends. By default the packs are verified in this process.
    log : str or os.PathLike, optional
        The log, which is created if needed. By default no log is kept.
    history : iterable of str or os.PathLike
        Logs of other runs, for `max_age`, `budget` and the report.
    max_age : str or timedelta, optional
        Skip archives that were verified without errors more recently, such as ``"90d"``, and whose size and modification
        time are the same. Packs whose last verification without errors is longer ago are stale in the report.
    budget : str or timedelta, optional
        Stop after this time (``"2h"``), size (``"5T"``) or part of all bytes (``"10%"``). Packs that were verified
        longest ago, or never, are first. A pack that was begun is completed.
    shard_size : int, optional
        Divide larger packs into shards of about this many bytes, each in a task of its own, as
        ``ra-pack verify --shard`` does. Only for a cluster. By default packs are not divided.
    strict : bool
        Treat warnings and extension words in descriptions as errors.
    jobs : int, optional
        The number of threads of this process, or of each task. By default one per core, but one for a task.
    retries : int
        The number of times that the cluster repeats a task that raised an exception. It repeats a task whose worker
        ended as often as its own configuration says.

    Returns
    -------
    AuditReport
        The state of each target. It is true if all are good.

    Raises
    ------
    OSError
        If a log cannot be read or written. The lines before are complete.
    WrongTarget
        If a log is another kind of file.
    InvalidOption
        If `max_age` is given without a log.

    Examples
    --------
    >>> import ra_pack, tempfile, pathlib
    >>> store = pathlib.Path(tempfile.mkdtemp())
    >>> _ = ra_pack.write(store / "a.zip", {"depth": [5.0, 20.0]})
    >>> report = ra_pack.audit([store / "a.zip", store / "b.zip"], log=store / "audit.jsonl")
    >>> report.counts
    {'missing': 1, 'good': 1}
    >>> [pathlib.Path(pack.target).name for pack in report.targets if pack.state != "good"]
    ['b.zip']

    On a cluster of this machine:

    >>> from distributed import Client  # doctest: +SKIP
    >>> with Client(n_workers=2) as client:  # doctest: +SKIP
    ...     report = ra_pack.audit(store.glob("*.zip"), client, log=store / "audit.jsonl", max_age="90d")
    """
    if client is None and shard_size is not None:
        raise InvalidOption("`shard_size` needs a `client`: one process verifies a pack with all its threads")
    paths = list(dict.fromkeys(_paths(targets)))
    logs = _paths(history)
    if max_age is not None and log is None and not logs:
        raise InvalidOption("`max_age` needs the results of earlier runs; give their log with `log` or `history`")
    with tempfile.TemporaryDirectory() as scratch:
        log = os.path.join(scratch, "log") if log is None else os.fspath(log)
        out = _ra_pack.AuditLog(log)
        logs.append(log)
        plan = _ra_pack.plan(paths, logs, max_age, budget, shard_size)
        if client is None:
            options = _options(None, strict, jobs, plan["seconds"], None)
            out.verify([target for target, _, _ in plan["parts"]], options)
        else:
            end = None if plan["seconds"] is None else time.time() + plan["seconds"]
            _on_cluster(client, plan["parts"], out, (strict, jobs or 1, end, os.getcwd()), retries)
        return _ra_pack.audit_report(logs, paths, max_age)


def audit_report(
    logs: Iterable[Path],
    targets: Iterable[Path] | None = None,
    *,
    max_age: str | timedelta | None = None,
) -> AuditReport:
    """Return the state of each pack according to logs, as ``ra-pack audit`` does. No pack is read.

    Parameters
    ----------
    logs : iterable of str or os.PathLike
        Logs of `audit` and of ``ra-pack verify --log``, in any order.
    targets : iterable of str or os.PathLike, optional
        The packs that must have been verified. By default those in the logs.
    max_age : str or timedelta, optional
        Packs whose last verification without errors is longer ago are stale.

    Returns
    -------
    AuditReport
        The state of each target. It is true if all are good.

    Raises
    ------
    OSError
        If a log cannot be read.
    """
    wanted = None if targets is None else _paths(targets)
    return _ra_pack.audit_report(_paths(logs), wanted, max_age)


def _paths(paths: Iterable[Path]) -> list[str]:
    """Return paths as text. A path alone is an error: its letters would be paths."""
    if isinstance(paths, str | bytes | os.PathLike):
        raise TypeError(f"expected a list of paths, found the path {os.fspath(paths)!r}")
    return [os.fspath(path) for path in paths]


def _options(
    shard: str | None, strict: bool, jobs: int | None, seconds: float | None, directory: str | None
) -> _Run:
    return {"shard": shard, "strict": strict, "jobs": jobs, "seconds": seconds, "directory": directory}


def _verify_batch(batch: Batch, options: _Task) -> list[str]:
    """Return the lines about the targets of a task. A worker calls this."""
    targets, shard = batch
    strict, jobs, end, directory = options
    seconds = None if end is None else end - time.time()
    return _ra_pack.verify_lines(targets, _options(shard, strict, jobs, seconds, directory))


def _on_cluster(
    client: Any, parts: list[_Planned], log: _ra_pack.AuditLog, options: _Task, retries: int
) -> None:
    """Verify on a cluster, and append the results to the log as they come."""
    import distributed

    if client.asynchronous:
        raise InvalidOption("expected a client that waits for results, found an asynchronous one")
    as_completed: Any = distributed.as_completed  # it has no types

    def run(batches: list[Batch]) -> list[Batch]:
        """Run tasks. Return those without a result, because their workers were killed several times."""
        # Pure tasks of equal arguments would be one task, and an earlier result would be used.
        made = client.map(_verify_batch, batches, options=options, retries=retries, pure=False, key="ra_pack.audit")
        waiting: dict[Any, Batch] = dict(zip(made, batches, strict=True))
        del made  # the workers forget the results that were appended
        without = []
        try:
            for future in as_completed(waiting):
                batch = waiting.pop(future)
                try:
                    log.append(future.result())
                except distributed.KilledWorker:
                    without.append(batch)
        finally:
            client.cancel(list(waiting))
        return without

    threads = sum(client.nthreads().values())
    for targets, shard in run(list(_batches(parts, threads))):
        # One of the targets may have ended the workers, or one of another task on the same worker.
        for target in targets:
            if run([([target], shard)]):
                reason = "every worker that verified it was killed"
                log.append([_ra_pack.line_without_result(target, reason)])


def _batches(parts: list[_Planned], threads: int) -> Iterator[Batch]:
    """Combine small targets to tasks. A shard, and a target that is larger than a task, is a task."""
    most = sum(EACH + size for _, _, size in parts) // (TASKS_PER_THREAD * max(threads, 1))
    most = min(max(most, SMALLEST_BATCH), LARGEST_BATCH)
    batch: list[str] = []
    filled = 0
    for target, shard, size in parts:
        work = EACH + size
        if shard is not None or work >= most:
            yield [target], shard
            continue
        if batch and filled + work > most:
            yield batch, None
            batch, filled = [], 0
        batch.append(target)
        filled += work
    if batch:
        yield batch, None
