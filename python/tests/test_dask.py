"""Dask arrays whose chunks the workers of a cluster write to the archive."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from ra_pack import _dask

distributed = pytest.importorskip("distributed")
dask = pytest.importorskip("dask")
da = pytest.importorskip("dask.array")


@contextlib.contextmanager
def cluster(workers: int = 2) -> Any:
    settings = {"distributed.scheduler.allowed-failures": 1, "distributed.comm.timeouts.connect": 60}
    with (
        dask.config.set(settings),
        distributed.LocalCluster(
            n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as local,
        distributed.Client(local) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def client() -> Any:
    with cluster() as client:
        yield client


@pytest.fixture
def places(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, bool]]:
    """The arrays that are added, and whether workers write them."""
    found = []
    store = _dask.store

    def watched(array: Any, name: str, *args: Any) -> bool:
        found.append((name, store(array, name, *args)))
        return found[-1][1]

    monkeypatch.setattr(_dask, "store", watched)
    return found


def sample(dtype: str, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    kind = np.dtype(dtype)
    return np.random.default_rng(3).integers(0, 100, shape).astype(kind if kind.kind != "M" else "i8").astype(kind)


ARRAYS = {
    "rows": (sample("<f8", (40, 300)), (7, 300)),
    "columns": (sample("<i4", (300, 40)), (300, 11)),
    "blocks": (sample("<u2", (30, 40, 50)), (8, 9, 17)),
    "middle": (sample("u1", (6, 90, 80)), (4, 40, 80)),
    "line": (sample("<f4", (30_000,)), (4_001,)),
    "big-endian": (sample(">f4", (100, 200)), (30, 70)),
    "times": (sample("M8[D]", (90, 70)), (31, 33)),
    "records": (np.zeros((90, 70), [("a", "<i2"), ("b", ">f8")]), (31, 33)),
    "short": (sample("u1", (6, 9)), (4, 4)),
}


@pytest.mark.parametrize("order", [None, "F"])
@pytest.mark.parametrize("container", ["zip", "tar"])
def test_the_bytes_are_those_that_one_process_writes(
    tmp_path: Path, client: Any, places: Any, container: str, order: Any
) -> None:
    ARRAYS["records"][0]["a"] = sample("i2", (90, 70))
    archives = [tmp_path / f"{name}.{container}" for name in ("workers", "caller")]
    for archive, scheduler in zip(archives, [client, "threads"]):
        with dask.config.set(scheduler=scheduler), ra_pack.PackWriter(archive, digests=["sha256", "sha512"]) as writer:
            for name, (values, chunks) in ARRAYS.items():
                writer.add(name, da.from_array(values, chunks=chunks), attrs={"long_name": name}, order=order)
    expected = [(name, name != "short") for name in ARRAYS]
    assert places == [*expected, *((name, False) for name in ARRAYS)]
    assert archives[0].read_bytes() == archives[1].read_bytes()
    assert ra_pack.verify(archives[0]).valid
    with ra_pack.open(archives[0]) as pack:
        for name, (values, _) in ARRAYS.items():
            assert values.ndim == 1 or pack[name].order == (order or "C")
            found = pack[name].read(decode=True) if name == "times" else pack[name].read()
            np.testing.assert_array_equal(found, values, name)


def test_datasets_are_written_by_workers(tmp_path: Path, client: Any, places: Any) -> None:
    xr = pytest.importorskip("xarray")
    lazy = da.arange(60_000, chunks=7_000, dtype="f4").reshape(200, 300)
    ds = xr.Dataset({"a": (("t", "x"), lazy), "b": (("t", "x"), lazy + 1)}, {"t": np.arange(200)})
    ds.a.encoding = {"dtype": "i4", "scale_factor": 0.5, "_FillValue": -1}
    ra_pack.write(tmp_path / "out.zip", ds)
    assert sorted(places) == [("a", True), ("b", True)]
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "out.zip", engine="ra-pack").load(), ds.load())
    # A delayed write runs in a worker, which is a client too.
    ra_pack.write(tmp_path / "later.zip", ds.chunk(t=60), compute=False).compute()
    assert ra_pack.verify(tmp_path / "later.zip").valid


@pytest.mark.parametrize("options", [{"compression": "deflate"}, {"container": "tar.zst"}])
def test_chunks_of_a_compressed_archive_come_to_the_caller(
    tmp_path: Path, client: Any, places: Any, options: Any
) -> None:
    values = sample("<f8", (40, 300))
    with ra_pack.PackWriter(tmp_path / "a.zip", **options) as writer:
        writer.add("x", da.from_array(values, chunks=(7, 40)))
    assert places == [("x", False)]
    assert (ra_pack.open(tmp_path / "a.zip")["x"].read() == values).all()


class Hides:
    """A change to a worker: it sees no files in a directory of the name `hidden`."""

    def __init__(self, address: str) -> None:
        self.address = address

    def setup(self, worker: Any) -> None:
        if worker.address == self.address:
            import builtins
            import os

            real = os.open

            def hidden(path: Any, *args: Any, **options: Any) -> int:
                if "hidden" in str(path):
                    raise FileNotFoundError(2, "No such file or directory", path)
                return real(path, *args, **options)

            assert builtins.open
            os.open = hidden

    def teardown(self, worker: Any) -> None:
        pass


def test_chunks_come_to_the_caller_if_a_worker_does_not_see_the_file(
    tmp_path: Path, client: Any, places: Any
) -> None:
    values = sample("<f8", (40, 300))
    plugin = type("Plugin", (Hides, distributed.WorkerPlugin), {})(min(client.scheduler_info()["workers"]))
    client.register_plugin(plugin, name="hides")
    for directory in ("hidden", "seen"):
        (tmp_path / directory).mkdir()
        with ra_pack.PackWriter(tmp_path / directory / "a.zip") as writer:
            writer.add("x", da.from_array(values, chunks=(7, 40)))
        assert (ra_pack.open(tmp_path / directory / "a.zip")["x"].read() == values).all()
        assert ra_pack.verify(tmp_path / directory / "a.zip").valid
    assert places == [("x", False), ("x", True)]


def fails_at(block: Any, block_id: Any = None) -> Any:
    if block_id == (3, 1):
        raise RuntimeError("no more data")
    time.sleep(0.01)
    return block


def test_a_chunk_that_fails_leaves_nothing(tmp_path: Path, client: Any) -> None:
    lazy = da.zeros((400, 300), chunks=(40, 100)).map_blocks(fails_at, dtype="f8")
    with pytest.raises(RuntimeError, match="no more data"):
        ra_pack.write(tmp_path / "out.zip", {"a": np.arange(9), "x": lazy})
    with pytest.raises(ra_pack.Mismatch, match="`x` is a masked array"):
        ra_pack.write(tmp_path / "out.zip", {"x": da.ma.masked_equal(da.zeros((400, 300), chunks=100), 1)})
    assert list(tmp_path.iterdir()) == []


def test_a_writer_goes_on_in_another_file_after_workers_failed(tmp_path: Path, client: Any) -> None:
    """Late workers write to the old file, whose place another array would have."""
    values = sample("<f8", (400, 300))
    with ra_pack.PackWriter(tmp_path / "a.zip") as writer:
        writer.add("first", values)
        [before] = filter(Path.is_file, tmp_path.iterdir())
        late = before.open("r+b")
        with pytest.raises(RuntimeError, match="no more data"):
            writer.add("x", da.zeros((400, 300), chunks=(40, 100)).map_blocks(fails_at, dtype="f8"))
        writer.add("x", da.from_array(values, chunks=(90, 110)))
        [after] = filter(Path.is_file, tmp_path.iterdir())
        assert before != after
        with late:
            late.write(bytes(range(256)) * 10_000)
        report = writer.finish()
    assert report and ra_pack.verify(tmp_path / "a.zip").valid
    for name in ("first", "x"):
        assert (ra_pack.open(tmp_path / "a.zip")[name].read() == values).all()


def kills(block: Any, marks: str, times: int, block_id: Any = None) -> Any:
    """End the worker that computes this chunk, this many times."""
    if block_id == (2, 1):
        for nth in range(times):
            with contextlib.suppress(FileExistsError):
                Path(marks, str(nth)).touch(exist_ok=False)
                os.kill(os.getpid(), signal.SIGKILL)
    return block


@pytest.mark.parametrize("times", [1, 5])
def test_a_killed_worker_is_replaced_until_too_many_are(
    tmp_path: Path, places: Any, times: int
) -> None:
    marks, out = tmp_path / "marks", tmp_path / "out"
    marks.mkdir()
    out.mkdir()
    values = sample("<f8", (400, 300))
    lazy = da.from_array(values, chunks=(90, 110)).map_blocks(kills, str(marks), times, dtype="f8")
    with cluster():
        if times == 1:
            ra_pack.write(out / "a.zip", {"x": lazy})
            assert places == [("x", True)]
            assert ra_pack.verify(out / "a.zip").valid
            assert (ra_pack.open(out / "a.zip")["x"].read() == values).all()
        else:
            with pytest.raises(distributed.KilledWorker):
                ra_pack.write(out / "a.zip", {"x": lazy})
            assert list(out.iterdir()) == []
    assert len(list(marks.iterdir())) == min(times, 2)


def test_a_late_chunk_finds_no_file_of_its_name(tmp_path: Path) -> None:
    place = _dask.Place("x", str(tmp_path / ".a.zip.tmp"), 64, (4, 4), np.dtype("u1"), np.asarray)
    with pytest.raises(FileNotFoundError, match="a worker cannot write a chunk of `x`"):
        place[0:2, 0:4] = np.zeros((2, 4), "u1")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("machine", [None, "another"])
def test_only_chunks_of_other_computers_are_synced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, machine: Any) -> None:
    (tmp_path / "file").write_bytes(bytes(20))
    place = _dask.Place("x", str(tmp_path / "file"), 4, (4, 4), np.dtype("u1"), np.asarray)
    synced: list[int] = []
    monkeypatch.setattr(os, "fsync", synced.append)
    monkeypatch.setattr(_dask, "_machine", lambda: machine or place.machine)
    place[1:3, 1:3] = np.ones((2, 2), "u1")
    assert (tmp_path / "file").read_bytes() == bytes([0, 0, 0, 0] + [0] * 5 + [1, 1, 0, 0, 1, 1] + [0] * 5)
    assert len(synced) == (machine is not None)
