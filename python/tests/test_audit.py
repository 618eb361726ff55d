"""`audit` in this process and on a cluster of several processes: a line for every target, also if processes are killed."""

from __future__ import annotations

import collections
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
import time
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest

import ra_pack
from ra_pack import _audit

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")

COMMAND = [sys.executable, "-m", "ra_pack"]

#: Seconds until a test fails that waits for something.
LIMIT = 60

#: Bytes of a pack that takes several milliseconds.
SLOW = 4 << 20


class EndsWorkers:
    """A change to each worker: one that verifies a target named `killer.zip` is killed."""

    def setup(self, worker):
        from ra_pack import _ra_pack

        verify_lines = _ra_pack.verify_lines

        def killed(targets, options):
            if any(target.endswith("killer.zip") for target in targets):
                os.kill(os.getpid(), signal.SIGKILL)
            return verify_lines(targets, options)

        _ra_pack.verify_lines = killed


@contextlib.contextmanager
def cluster(workers=2):
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": LIMIT}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client():
    with cluster() as client:
        client.register_plugin(type("Plugin", (EndsWorkers, distributed.WorkerPlugin), {})())
        yield client


@pytest.fixture(params=["process", "cluster"])
def where(request):
    """No client, and one."""
    return request.getfixturevalue("client") if request.param == "cluster" else None


def write(path, number=0, size=100):
    ra_pack.write(path, {"x": np.full(size, number, "u1")})
    return str(path)


def store(directory, count, size=100):
    """Write packs with different contents, or many names of a large one."""
    if size == 100:
        return [write(directory / f"p{number:03}.zip", number) for number in range(count)]
    first = write(directory / "large.zip", size=size)
    paths = [str(directory / f"p{number:03}.zip") for number in range(count)]
    for path in paths:
        os.symlink(first, path)
    return paths


def damage(path):
    content = bytearray(Path(path).read_bytes())
    content[len(content) // 3] ^= 1
    Path(path).write_bytes(content)
    return path


def lines(log):
    return [json.loads(line) for line in Path(log).read_text().splitlines()]


def names(log):
    return collections.Counter(line["target"] for line in lines(log))


def states(report):
    return {target.target: target.state for target in report.targets}


def until(is_done):
    end = time.monotonic() + LIMIT
    while not is_done():
        assert time.monotonic() < end
        time.sleep(0.002)


def in_time(log, count):
    """Wait until the log has this many lines."""
    until(lambda: Path(log).exists() and Path(log).read_bytes().count(b"\n") >= count)


def test_the_lines_are_those_of_the_command(tmp_path, where):
    targets = [*store(tmp_path, 3), str(tmp_path / "none.zip"), str(tmp_path / "image.png"), str(tmp_path / "dir")]
    damage(targets[1])
    (tmp_path / "image.png").write_bytes(b"\x89PNG\r\n\x1a\nxxxx")
    subprocess.run([*COMMAND, "extract", targets[0], "-q", "-C", targets[-1]], check=True)
    report = ra_pack.audit(targets, where, log=tmp_path / "log")
    expected = ["good", "bad", "good", "missing", "unreadable", "good"]
    assert states(report) == dict(zip(targets, expected, strict=True))
    assert report.counts == {"bad": 1, "missing": 1, "unreadable": 1, "good": 3}
    assert not report and report.needs_attention and report.lines == 6 and report.codes
    done = subprocess.run([*COMMAND, "verify", *targets, "--log", tmp_path / "log2"], capture_output=True)
    assert done.returncode == 2

    def by_target(log):
        found = {line["target"]: line for line in lines(log)}
        for line in found.values():
            assert line.pop("started") and line.pop("seconds") >= 0 and line["host"]
        return found

    assert by_target(tmp_path / "log") == by_target(tmp_path / "log2")
    # Both logs have the same summary, also by the command.
    other = ra_pack.audit_report([tmp_path / "log2"])
    assert (states(other), other.codes) == (states(report), report.codes)
    done = subprocess.run([*COMMAND, "audit", "--json", tmp_path / "log"], capture_output=True, text=True)
    assert done.returncode == 1
    assert json.loads(done.stdout)["counts"] == report.counts


def test_recent_results_are_not_repeated(tmp_path, where):
    targets, log = store(tmp_path, 4), tmp_path / "log"
    assert ra_pack.audit(targets[:2], where, log=log)
    damage(targets[0])
    # A target that is given twice is verified once.
    report = ra_pack.audit([*map(Path, targets), *targets], where, log=log, max_age="90d")
    assert states(report)[targets[0]] == "bad"
    assert names(log) == {targets[0]: 2, targets[1]: 1, targets[2]: 1, targets[3]: 1}
    # Results of other logs count as well.
    report = ra_pack.audit(targets, where, history=[log], max_age=timedelta(days=90))
    assert report.counts == {"bad": 1, "good": 3} and report.max_age == 90 * 86400
    assert ra_pack.audit_report([log], [*targets, "new.zip"]).counts == {"bad": 1, "never": 1, "good": 3}
    time.sleep(1.1)
    assert ra_pack.audit_report([log], max_age="1s").counts == {"bad": 1, "stale": 3}


def test_a_budget_ends_a_run_with_the_oldest_first(tmp_path, where):
    targets, log = store(tmp_path, 4), tmp_path / "log"
    report = ra_pack.audit(targets, where, log=log, budget="0s")
    assert report.counts == {"never": 4} and report.lines == 0
    ra_pack.audit(targets[1:], where, log=log, budget=timedelta(hours=1))
    ra_pack.audit(targets, where, log=log, budget="30%")
    ra_pack.audit([*targets], where, log=log, budget="1K")
    assert [line["target"] for line in lines(log)].index(targets[0]) == 3
    assert len(lines(log)) == 5


def test_small_targets_share_a_task_and_a_large_one_has_its_own():
    mebibyte = 1 << 20
    parts = [("small", None, 1)] * 1000 + [("large", None, 300 * mebibyte), ("shard", "1/2", 1), ("last", None, 1)]
    batches = list(_audit._batches(parts, 2))
    assert [len(targets) for targets, _ in batches if targets[0] == "small"] == [127] * 7 + [112]
    assert (["large"], None) in batches and (["shard"], "1/2") in batches
    assert sum((targets for targets, _ in batches), []).count("small") == 1000
    assert list(_audit._batches([], 2)) == []


def test_a_killed_worker_costs_a_repetition(tmp_path, client, monkeypatch):
    monkeypatch.setattr(_audit, "SMALLEST_BATCH", 3 * SLOW)
    targets, log = store(tmp_path, 100, SLOW), tmp_path / "log"
    (tmp_path / "p050.zip").unlink()
    damage(write(tmp_path / "p050.zip", size=SLOW))
    before = client.run(os.getpid)
    found = []

    def kill():
        in_time(log, random.randrange(1, 50))
        os.kill(min(before.values()), signal.SIGKILL)
        found.append(len(Path(log).read_bytes().splitlines()))

    thread = threading.Thread(target=kill)
    thread.start()
    report = ra_pack.audit([*targets, str(tmp_path / "none.zip")], client, log=log)
    thread.join()
    assert found[0] < 95, "the worker was killed on the way"
    assert report.counts == {"bad": 1, "missing": 1, "good": 99}
    assert set(names(log).values()) == {1} and len(names(log)) == 101
    assert report.corrupt_lines == 0
    until(lambda: len(client.run(os.getpid)) == 2)


def test_a_target_that_ends_every_worker_has_a_line(tmp_path, client):
    killer, log = write(tmp_path / "killer.zip"), tmp_path / "log"
    report = ra_pack.audit([*store(tmp_path, 5), killer], client, log=log)
    assert report.counts == {"unreadable": 1, "good": 5} and states(report)[killer] == "unreadable"
    assert "killed" in report.targets[0].reason
    assert set(names(log).values()) == {1}


def test_an_error_of_a_task_is_raised(tmp_path, client):
    with pytest.raises(TypeError):
        ra_pack.audit(store(tmp_path, 2), client, log=tmp_path / "log", jobs="two", retries=0)
    assert lines(tmp_path / "log") == []


def test_a_large_pack_is_divided(tmp_path, client):
    source, log = tmp_path / "source", tmp_path / "log"
    source.mkdir()
    np.arange(1 << 20, dtype="<u4").tofile(source / "large.bin")
    for name in ("a.zip", "a.tar.gz"):
        command = ["create", source, "-o", tmp_path / name, "-q", "--block-digests=1M"]
        subprocess.run([*COMMAND, *command], check=True)
    targets = [str(tmp_path / "a.zip"), str(tmp_path / "a.tar.gz")]
    size = os.path.getsize(targets[0])
    report = ra_pack.audit(targets, client, log=log, shard_size=size // 3 + 1)
    assert report.counts == {"good": 2}
    shards = sorted((line["shard"], line["blocks"]["files"]) for line in lines(log) if line["target"] == targets[0])
    assert [shard for shard, _ in shards] == ["1/3", "2/3", "3/3"]
    assert [line["shard"] for line in lines(log) if line["target"] == targets[1]] == [None]
    again = ra_pack.audit(targets, client, log=log, shard_size=size // 3 + 1, max_age="1d")
    assert again.lines == report.lines and again.counts == {"good": 2}
    # A verification of the whole pack counts for its shards.
    assert ra_pack.audit(targets, log=tmp_path / "whole")
    ra_pack.audit(targets, client, log=tmp_path / "whole", shard_size=size // 3 + 1, max_age="1d")
    assert len(lines(tmp_path / "whole")) == 2
    # One that finds damage makes all shards due.
    stamp = os.stat(targets[0])
    damage(targets[0])
    os.utime(targets[0], ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    assert ra_pack.audit(targets[:1], log=log).counts == {"bad": 1}
    assert ra_pack.audit(targets[:1], client, log=log, shard_size=size // 3 + 1, max_age="1d").counts == {"bad": 1}
    assert len(lines(log)) == 4 + 1 + 3


def test_lines_that_cannot_be_read_are_reported_and_skipped(tmp_path, where):
    targets, log = store(tmp_path, 3), tmp_path / "log"
    ra_pack.audit(targets[:1], where, log=log)
    whole = log.read_text()
    log.write_text(f"{whole}[1]\n{whole[:50]}")
    report = ra_pack.audit(targets, where, log=log, max_age="1d")
    assert report.counts == {"good": 3} and (report.lines, report.corrupt_lines) == (3, 2)
    assert [(line.log, line.line) for line in report.corrupt] == [(str(log), 2), (str(log), 3)]
    (tmp_path / "notes").write_text("no log")
    with pytest.raises(ra_pack.Unsupported, match="not a log"):
        ra_pack.audit(targets, where, log=tmp_path / "notes")
    with pytest.raises(ra_pack.Unsupported, match="not a log"):
        ra_pack.audit(targets, where, log=targets[0])


def test_arguments_are_checked_before_the_run(tmp_path):
    for options in [{"max_age": "90 d"}, {"budget": "5"}]:
        with pytest.raises(ra_pack.Mismatch, match="expected"):
            ra_pack.audit(["a.zip"], log=tmp_path / "log", **options)
    for options in [{"max_age": "90d"}, {"shard_size": 1}]:
        with pytest.raises(ra_pack.Unsupported):
            ra_pack.audit(["a.zip"], **options)
    with pytest.raises(FileNotFoundError):
        ra_pack.audit_report([tmp_path / "none"])
    with pytest.raises(ra_pack.Unsupported, match="line"):
        ra_pack._ra_pack.AuditLog(tmp_path / "log").append(["{}"])
    assert ra_pack.audit([]).needs_attention


PROGRAM = """
import os, pathlib, sys, threading, time, signal
import ra_pack
from ra_pack import _audit
directory, log, number, least = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[5])
targets = sorted(map(str, directory.glob("p*.zip")))
_audit.SMALLEST_BATCH = _audit.LARGEST_BATCH = 10_000_000

def stop():
    while not os.path.exists(log) or open(log, "rb").read().count(b"\\n") < least:
        time.sleep(0.002)
    os.kill(os.getpid(), number)

def main(client):
    threading.Thread(target=stop, daemon=True).start()
    try:
        ra_pack.audit(targets, client, log=log, jobs=1)
    except KeyboardInterrupt:
        print("interrupted")

if __name__ == "__main__":
    if sys.argv[4] == "cluster":
        from distributed import Client, LocalCluster
        with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as local, Client(local) as client:
            main(client)
    else:
        main(None)
"""


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "ctrl-c"])
@pytest.mark.parametrize("kind", ["process", "cluster"])
def test_the_next_run_continues_one_that_was_ended(tmp_path, kind, number):
    targets, log = store(tmp_path, 100, SLOW), tmp_path / "log"
    (tmp_path / "program.py").write_text(textwrap.dedent(PROGRAM))
    least = random.randrange(1, 50)
    command = [sys.executable, tmp_path / "program.py", tmp_path, log, str(int(number)), kind, str(least)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    expected = (-signal.SIGKILL, "") if number == signal.SIGKILL else (0, "interrupted\n")
    assert (done.returncode, done.stdout) == expected, done.stderr
    before = ra_pack.audit_report([log])
    assert set(before.counts) == {"good"} and least <= before.lines < 100
    assert set(names(log).values()) == {1}
    report = ra_pack.audit(targets, log=log, max_age="1d")
    assert report.counts == {"good": 100} and report.corrupt_lines == 0
    assert set(names(log).values()) == {1}


@pytest.mark.parametrize("kind", ["process", "cluster"])
def test_a_log_on_a_full_disk_ends_the_run(tmp_path, kind):
    resource = pytest.importorskip("resource")
    store(tmp_path, 40, SLOW)
    log = tmp_path / "log"
    # The limit is that of this process; the workers began before.
    limit = f"__import__('resource').setrlimit({resource.RLIMIT_FSIZE}, (15_000, -1))"
    program = PROGRAM.replace("threading.Thread(target=stop, daemon=True).start()", limit)
    program = program.replace("KeyboardInterrupt", "OSError as error").replace('"interrupted"', "error")
    (tmp_path / "program.py").write_text(program)
    command = [sys.executable, tmp_path / "program.py", tmp_path, log, "0", kind, "0"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT)
    assert done.returncode == 0 and done.stdout.startswith(f"cannot write `{log}`: "), done.stderr
    report = ra_pack.audit_report([log])
    assert set(report.counts) == {"good"} and 10 < report.lines < 40 and report.corrupt_lines == 0


def test_a_path_alone_is_not_a_list_of_paths(tmp_path):
    path, log = write(tmp_path / "ok.zip"), tmp_path / "log"
    for one in [path, Path(path), path.encode()]:
        for call in [
            lambda: ra_pack.audit(one, log=log),
            lambda: ra_pack.audit([path], log=log, history=one),
            lambda: ra_pack.audit_report(one),
            lambda: ra_pack.audit_report([log], one),
        ]:
            with pytest.raises(TypeError, match="expected a list of paths, found the path .*ok.zip"):
                call()
    assert not log.exists()


def test_relative_paths_begin_at_the_directory_of_the_caller(tmp_path, where, monkeypatch):
    (tmp_path / "store").mkdir()
    write(tmp_path / "store" / "a.zip")
    damage(write(tmp_path / "b.zip"))
    write(tmp_path / "c.zip")
    monkeypatch.chdir(tmp_path)
    if where is not None:
        where.run(os.chdir, "/")
    targets = [os.path.join("store", "a.zip"), "b.zip", str(tmp_path / "c.zip")]
    report = ra_pack.audit(targets, where, log="log")
    assert {pack.target: pack.state for pack in report.targets} == dict(zip(targets, ["good", "bad", "good"]))
    assert set(names("log")) == set(targets)
