"""Compares the Python module with NumPy, h5py and zarr, and prints tables for benches/README.md.

usage: compare.py [--rounds N] [--work DIRECTORY] [--only WORKLOAD]...

In each round, every contestant runs once, in an order that changes. Each reads in a new process, which has imported the
library before the clock starts. Tables show medians, with the minimum and maximum. Every result is compared with the
data. A contestant whose library is not installed is left out.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import json
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

#: The number and the shape of the arrays of float32: W2, W1, and one array of 512 MiB of W5.
WORKLOADS = {
    "10,000 arrays of 400 bytes": (10_000, (10, 10)),
    "100,000 arrays of 40 bytes": (100_000, (10,)),
    "one array of 512 MiB": (1, (512, 512, 512)),
}
#: Tasks that take many seconds, and the rounds that they get.
SLOW = {("zarr", "write"): 1, ("zarr", "all"): 1, ("zarr through refs", "one"): 3}


def arrays(workload: str) -> dict[str, np.ndarray[Any, Any]]:
    """Returns the arrays of a workload by name."""
    count, shape = WORKLOADS[workload]
    if count == 1:
        return {"cube": np.random.default_rng(1).random(shape, dtype="f4")}
    return {f"g{nth // 1000:03}/a{nth:06}": np.full(shape, nth, "f4") for nth in range(count)}


# Writing: each function writes a file from a dict of arrays.


def write_ra_pack(path: str, data: dict[str, Any]) -> None:
    import ra_pack

    with ra_pack.PackWriter(path) as writer:
        for name, array in data.items():
            writer.add(name, array)


def write_npz(path: str, data: dict[str, Any]) -> None:
    with open(path, "wb") as file:
        np.savez(file, **data)


def write_h5py(path: str, data: dict[str, Any]) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, array in data.items():
            file[name] = array


def write_zarr(path: str, data: dict[str, Any]) -> None:
    import zarr

    with zarr.storage.ZipStore(path, mode="w") as store:
        root = zarr.create_group(store)
        for name, array in data.items():
            chunks = array.shape if array.nbytes < 1 << 24 else (8, *array.shape[1:])
            root.create_array(name, data=array, chunks=chunks, compressors=None)


WRITERS: dict[str, tuple[str, Callable[[str, dict[str, Any]], None]]] = {
    "ra_pack": (".zip", write_ra_pack),
    "numpy": (".npz", write_npz),
    "h5py": (".h5", write_h5py),
    "zarr": (".zarr.zip", write_zarr),
}

# Reading: each returns a mapping from names to objects that an index reads. The name of the contestant, the file that
# it reads, and how.


def open_ra_pack(path: str) -> Any:
    import ra_pack

    return ra_pack.open(path)


def open_npz(path: str) -> Any:
    return np.load(path)


def open_h5py(path: str) -> Any:
    import h5py

    return h5py.File(path)


def open_zarr(path: str) -> Any:
    import zarr

    return zarr.open_group(zarr.storage.ZipStore(path, mode="r"), mode="r")


def open_refs(path: str) -> Any:
    import fsspec
    import zarr

    file_system = fsspec.filesystem("reference", fo=path, asynchronous=True, remote_options={"asynchronous": True})
    store = zarr.storage.FsspecStore(file_system, read_only=True)
    return zarr.open_group(store, mode="r", zarr_format=2)


OPENERS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "ra_pack": (".zip", open_ra_pack),
    "numpy": (".npz", open_npz),
    "h5py": (".h5", open_h5py),
    "zarr": (".zarr.zip", open_zarr),
    "zarr through refs": (".json", open_refs),
}


def whole(opened: Any, name: str) -> Any:
    array = opened[name]
    return array.read() if hasattr(array, "read") else array[()]


def unverified(opened: Any, name: str) -> Any:
    return opened[name].read(verify=False)


#: The tasks of a new process, from the path to the elements.
TASKS: dict[str, Callable[[Any, list[str]], Any]] = {
    "one": lambda opened, names: whole(opened, names[len(names) // 2]),
    "all": lambda opened, names: [whole(opened, name) for name in names],
    "all unverified": lambda opened, names: [unverified(opened, name) for name in names],
    "whole": lambda opened, names: whole(opened, names[0]),
    "whole unverified": lambda opened, names: unverified(opened, names[0]),
}
#: Tasks that take microseconds, with the repetitions in one process. The array is open.
WARM: dict[str, tuple[int, Callable[[Any], Any]]] = {
    "slice": (200, lambda array: array[256, 1:3, :]),
    "rows": (50, lambda array: array[::64, 0, :]),
    "view": (2000, lambda array: array.view()),
}


def child(opener: str, task: str, path: str, names_path: str) -> None:
    """Runs a task and prints its seconds, and the last element and the shape of what was read last."""
    names = json.loads(Path(names_path).read_text())
    open_file = OPENERS[opener][1]
    importlib.import_module({"zarr through refs": "fsspec.implementations.reference"}.get(opener, opener))
    if opener.startswith("zarr"):
        importlib.import_module("zarr.storage")
    if task in WARM:
        repetitions, read = WARM[task]
        array = open_file(path)[names[0]]
        result = read(array)
        start = time.perf_counter()
        for _ in range(repetitions):
            result = read(array)
        seconds = (time.perf_counter() - start) / repetitions
    else:
        start = time.perf_counter()
        result = TASKS[task](open_file(path), names)
        seconds = time.perf_counter() - start
    last = np.asarray(result[-1] if isinstance(result, list) else result)
    print(json.dumps([seconds, float(last.ravel()[-1]), list(last.shape)]))


class Table:
    """Times of contestants by task."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.times: dict[str, dict[str, list[float]]] = {}

    def add(self, contestant: str, task: str, seconds: float) -> None:
        self.times.setdefault(contestant, {}).setdefault(task, []).append(seconds)

    def __str__(self) -> str:
        found = {task for times in self.times.values() for task in times}
        tasks = [task for task in ["write", *LABELS.values()] if task in found]
        lines = [f"| {self.title} | {' | '.join(tasks)} |", f"|---|{'--:|' * len(tasks)}"]
        order = ["ra_pack", "ra_pack, unverified", *OPENERS]
        for contestant, times in sorted(self.times.items(), key=lambda row: order.index(row[0])):
            cells = [shown(times[task]) if task in times else "–" for task in tasks]
            row = ["NumPy" if contestant == "numpy" else contestant, *cells]
            if contestant.startswith("ra_pack"):
                row = [cell if cell == "–" else f"**{cell}**" for cell in row]
            lines.append(f"| {' | '.join(row)} |")
        return "\n".join(lines)


def shown(times: list[float]) -> str:
    """Returns the median with the minimum and the maximum."""
    unit, name = next(
        (unit, name) for unit, name in [(1, "s"), (1e-3, "ms"), (1e-6, "µs")] if statistics.median(times) >= unit
        or unit == 1e-6
    )
    number = lambda seconds: f"{seconds / unit:.3g}" if seconds / unit < 1000 else f"{seconds / unit:.0f}"  # noqa: E731
    return f"{number(statistics.median(times))} {name} ({number(min(times))}–{number(max(times))})"


class Bench:
    """The files of a workload, and the times of all contestants."""

    def __init__(self, work: Path, workload: str, rounds: int) -> None:
        self.work = work
        self.rounds = rounds
        self.data = arrays(workload)
        self.table = Table(workload)
        self.order = random.Random(1)
        self.names = work / "names.json"
        self.names.write_text(json.dumps(list(self.data)))

    def turns(self, task: str, contestants: list[str]) -> list[tuple[int, str, str]]:
        """Returns the rounds of a task."""
        many = len(self.data) > 1
        rounds = {name: SLOW.get((name, task), self.rounds) if many else self.rounds for name in contestants}
        return [(nth, task, name) for name in contestants for nth in range(rounds[name])]

    def run(self, turns: list[tuple[int, str, str]], step: Callable[[str, str], None]) -> None:
        """Runs the turns round by round, each round in another order."""
        self.order.shuffle(turns)
        for _, task, name in sorted(turns, key=lambda turn: turn[0]):
            step(task, name)

    def write(self, contestants: list[str]) -> None:
        """Measures writing, and leaves the files that are read."""
        self.run(self.turns("write", contestants), self._write)
        if program := shutil.which("ra-pack"):
            refs = [program, "refs", str(self.work / "data.zip"), "-o", str(self.work / "data.json")]
            made = subprocess.run(refs, capture_output=True, text=True)
            if made.returncode:
                print(f"without `refs`: {made.stderr.strip()}", file=sys.stderr)

    def _write(self, task: str, name: str) -> None:
        ending, write = WRITERS[name]
        path = self.work / f"data{ending}"
        for left in self.work.glob(f"{path.name}*"):
            left.unlink()
        with contextlib.suppress(ModuleNotFoundError):
            start = time.perf_counter()
            write(str(path), self.data)
            self.table.add(name, task, time.perf_counter() - start)

    def read(self, tasks: dict[str, list[str]]) -> None:
        """Measures reading from the files that exist."""
        exists = [name for name, (ending, _) in OPENERS.items() if (self.work / f"data{ending}").exists()]
        turns = []
        for task, contestants in tasks.items():
            turns += self.turns(task, [name for name in contestants if name in exists])
        self.run(turns, self._read)

    def _read(self, task: str, name: str) -> None:
        path = self.work / f"data{OPENERS[name][0]}"
        command = [sys.executable, __file__, "--child", name, task, str(path), str(self.names)]
        ran = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
        seconds, value, shape = json.loads(ran.stdout)
        expected = self._expected(task)
        assert value == float(expected.flat[-1]) and tuple(shape) == expected.shape, (task, name, value, shape)
        is_unverified = task.endswith("unverified")
        label = f"{name}, unverified" if is_unverified else name
        self.table.add(label, LABELS[task.removesuffix(" unverified")], seconds)

    def _expected(self, task: str) -> np.ndarray[Any, Any]:
        names = list(self.data)
        if task == "one":
            return self.data[names[len(names) // 2]]
        last = self.data[names[-1]]
        if task == "slice":
            return last[256, 1:3, :]
        return last[::64, 0, :] if task == "rows" else last


LABELS = {
    "one": "open and one array",
    "all": "open and all arrays",
    "whole": "open and read",
    "slice": "4 KiB slice of an open array",
    "rows": "every 64th row of an open array",
    "view": "`view` of an open array",
}


def measure(work: Path, rounds: int, only: list[str]) -> None:
    """Prints a table for each workload."""
    everyone = list(OPENERS)
    for workload, (count, _) in WORKLOADS.items():
        if only and not any(word in workload for word in only):
            continue
        for left in work.iterdir():
            left.unlink()
        bench = Bench(work, workload, rounds)
        if count == 1:
            lazy = [name for name in everyone if name != "numpy"]
            bench.write(list(WRITERS))
            bench.read({"whole": everyone, "whole unverified": ["ra_pack"], "slice": lazy, "rows": lazy, "view": ["ra_pack"]})
        elif count <= 10_000:
            bench.write(list(WRITERS))
            bench.read({"one": everyone, "all": everyone[:4], "all unverified": ["ra_pack"]})
        else:
            # zarr needs minutes.
            bench.write([name for name in WRITERS if name != "zarr"])
            bench.read({"one": everyone})
        print(bench.table, "\n", flush=True)


def main() -> None:
    """Runs the program, or one task in a new process."""
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        return
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--work", type=Path, help="directory for the files; a temporary one by default")
    parser.add_argument("--only", action="append", default=[], metavar="WORKLOAD", help="a part of its name")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=args.work) as work:
        measure(Path(work), args.rounds, args.only)


if __name__ == "__main__":
    main()
