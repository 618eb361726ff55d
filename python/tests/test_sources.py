"""Packs in file objects, in files of fsspec, and at URLs of files."""

from __future__ import annotations

import gzip
import io
import os
import pickle
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT, damaged


@pytest.fixture(scope="module")
def experiment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sources") / "an exp.zip"
    ra_pack.create(EXPERIMENT, path)
    return path


class Slow(io.BytesIO):
    """A file that returns few bytes at once, and no memory that can be written."""

    def read(self, size: int | None = -1, /) -> bytes:
        return super().read(min(size, 1000) if size and size > 0 else size)

    def readinto(self, buffer: Any, /) -> int:
        raise AssertionError


def of_memory(path: Path) -> Any:
    fsspec = pytest.importorskip("fsspec")
    with fsspec.open("memory://exp.zip", "wb") as file:
        file.write(path.read_bytes())
    return fsspec.open("memory://exp.zip")


def of_gzip(path: Path) -> Any:
    other = path.with_suffix(".zip.gz")
    other.write_bytes(gzip.compress(path.read_bytes()))
    return pytest.importorskip("fsspec").open(other, compression="gzip")


def of_obstore(path: Path) -> Any:
    obstore = pytest.importorskip("obstore")
    store = obstore.store.MemoryStore()
    obstore.put(store, "run/exp.zip", path.read_bytes())
    return obstore.open_reader(store, "run/exp.zip")


SOURCES: dict[str, Callable[[Path], Any]] = {
    "BytesIO": lambda path: io.BytesIO(path.read_bytes()),
    "file": lambda path: path.open("rb"),
    "unbuffered": lambda path: path.open("rb", buffering=0),
    "slow": lambda path: Slow(path.read_bytes()),
    "URL": lambda path: path.as_uri(),
    "OpenFile": lambda path: pytest.importorskip("fsspec").open(path),
    "opened": lambda path: pytest.importorskip("fsspec").open(path).open(),
    "memory": of_memory,
    "opened memory": lambda path: of_memory(path).open(),
    "compressed": of_gzip,
    "obstore": of_obstore,
}


@pytest.fixture(params=SOURCES.values(), ids=SOURCES)
def source(request: Any, experiment: Path) -> Any:
    source = request.param(experiment)
    yield source
    if hasattr(source, "close"):
        source.close()


def test_a_source_gives_what_the_file_gives(source: Any, experiment: Path) -> None:
    expected = ra_pack.open(experiment)
    with ra_pack.open(source) as pack:
        assert list(pack) == list(expected) and pack.attrs == expected.attrs
        for name, array in pack.items():
            assert np.array_equal(array.read(), expected[name].read(), equal_nan=True), name
            assert array.attrs.keys() == expected[name].attrs.keys()
        assert np.array_equal(pack["time"][3:50:7], expected["time"][3:50:7])
        assert pack.read_file("time.yaml") == expected.read_file("time.yaml")
        report = pack.verify()
        assert report.valid and not report.findings
        assert repr(pack).startswith("<ra_pack.Pack")


def test_the_engine_opens_a_source(source: Any, experiment: Path) -> None:
    xr = pytest.importorskip("xarray")
    with xr.open_datatree(source, engine="ra-pack") as found, xr.open_datatree(experiment, engine="ra-pack") as expected:
        xr.testing.assert_identical(found, expected)
    with xr.open_dataset(source, engine="ra-pack", group="thermistors", chunks={}) as found:
        assert found.temperature.mean().compute().item() == pytest.approx(11.81, abs=0.01)
        ra_pack.write(experiment.with_name("again.tar"), found, mode="w")


def test_verify_of_the_accessor_knows_files_only(experiment: Path) -> None:
    xr = pytest.importorskip("xarray")
    assert xr.open_dataset(experiment.as_uri(), engine="ra-pack").ra_pack.verify().valid
    for source in [io.BytesIO(experiment.read_bytes()), of_memory(experiment)]:
        with pytest.raises(ValueError, match="not opened from a pack"):
            xr.open_dataset(source, engine="ra-pack").ra_pack.verify()


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst"])
def test_a_tar_may_be_in_a_file_object(tmp_path: Path, ending: str) -> None:
    ra_pack.create(EXPERIMENT, tmp_path / f"exp{ending}")
    pack = ra_pack.open(io.BytesIO((tmp_path / f"exp{ending}").read_bytes()))
    assert pack["time"].read().shape == (149,) and pack.verify().valid


def test_threads_share_a_file_object(experiment: Path) -> None:
    expected = {name: array.read() for name, array in ra_pack.open(experiment).items()}
    with experiment.open("rb") as file, ThreadPoolExecutor(8) as threads:
        pack = ra_pack.open(file)
        names = list(expected) * 40
        for name, found in zip(names, threads.map(lambda name: pack[name].read(), names)):
            assert np.array_equal(found, expected[name], equal_nan=True)


def test_a_pack_in_a_file_object_is_pickled_with_it(experiment: Path) -> None:
    pack = ra_pack.open(io.BytesIO(experiment.read_bytes()))
    other, array = pickle.loads(pickle.dumps((pack, pack["time"])))
    assert np.array_equal(other["time"].read(), pack["time"].read())
    assert np.array_equal(array.read(), pack["time"].read())
    with experiment.open("rb") as file, pytest.raises(TypeError, match="pickle"):
        pickle.dumps(ra_pack.open(file))


def test_damage_in_a_file_object_is_found(experiment: Path) -> None:
    time = ra_pack.open(experiment)["time"].read()
    pack = ra_pack.open(io.BytesIO(damaged(experiment, time.tobytes()).read_bytes()))
    with pytest.raises(ra_pack.Damaged):
        pack["time"].read()
    assert not pack.verify().valid


def test_other_objects_are_refused(experiment: Path, tmp_path: Path) -> None:
    for target in [3, None, b"exp.zip", np.zeros(3)]:
        with pytest.raises(TypeError, match="expected a path, a URL or a file object"):
            ra_pack.open(target)  # type: ignore[arg-type]
    with experiment.open(encoding="latin-1") as file, pytest.raises(TypeError, match="the mode `rb`"):
        ra_pack.open(file)  # type: ignore[arg-type]
    with pytest.raises(ra_pack.NotAPack, match="BytesIO"):
        ra_pack.open(io.BytesIO(b"no pack"))
    with pytest.raises(ValueError, match="file:///data"):
        ra_pack.open("file:exp.zip")
    with pytest.raises(ra_pack.Unsupported, match="a view needs a file"):
        ra_pack.open(io.BytesIO(experiment.read_bytes()))["time"].view()


class Broken(io.BytesIO):
    error: BaseException | None = None

    def read(self, size: int | None = -1, /) -> bytes:
        if self.error is not None:
            raise self.error
        return super().read(size)


def test_the_exception_of_a_file_object_is_the_cause(experiment: Path) -> None:
    file = Broken(experiment.read_bytes())
    pack = ra_pack.open(file)
    file.error = RuntimeError("the server is away")
    with pytest.raises(ra_pack.IoError, match="the server is away") as caught:
        pack["time"].read()
    assert caught.value.__cause__ is file.error
    file.error = KeyboardInterrupt()
    with pytest.raises(KeyboardInterrupt):
        pack["time"].read()
    file.error = None
    assert pack["time"].read().shape == (149,)
    file.close()
    with pytest.raises(ra_pack.IoError, match="closed file"):
        pack["time"].read()


def test_a_program_may_end_while_a_thread_reads_a_file_object(experiment: Path) -> None:
    program = f"""
import io, pathlib, threading, time, ra_pack
pack = ra_pack.open(io.BytesIO(pathlib.Path({os.fspath(experiment)!r}).read_bytes()))
def read():
    while True:
        pack["time"].read()
for _ in range(4):
    threading.Thread(target=read, daemon=True).start()
time.sleep(0.2)
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
