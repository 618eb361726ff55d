"""Packs as stores of zarr."""

from __future__ import annotations

import asyncio
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT, damaged, write_directory

zarr = pytest.importorskip("zarr", minversion="3.0")
xr = pytest.importorskip("xarray")


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    ra_pack.create(EXPERIMENT, tmp_path / "exp.zip")
    return tmp_path / "exp.zip"


def test_the_arrays_of_a_store_are_those_of_the_pack(experiment: Path) -> None:
    pack = ra_pack.open(experiment)
    root = zarr.open_group(ra_pack.zarr_store(pack), mode="r")
    assert sorted(root.group_keys()) == ["currents", "thermistors"]
    for name, array in pack.items():
        found = root[name][...]
        assert np.array_equal(found.T if array.order == "F" else found, array.read(), equal_nan=True), name
        assert found.dtype == array.dtype and root[name].attrs["long_name"] == array.attrs["long_name"]


ARRAYS: dict[str, Any] = {
    "long": np.arange(5_000_011, dtype="i2").reshape(1, -1).T,
    "column": np.asfortranarray(np.arange(2_000_000.0).reshape(100, -1)),
    "deep": np.arange(2 * 3 * 700_001, dtype="u1").reshape(2, 3, -1),
    "big": np.arange(3, dtype=">i4"),
    "complex": np.array([1 + 2j, np.nan]),
    "flags": np.array([True, False]),
    "text": np.array([b"a", b"bcd"]),
    "record": np.array([(1, 2.0)], [("n", "i4"), ("x", "f8")]),
    "scalar": np.float32(7),
}


@pytest.mark.parametrize("container", [".zip", ".tar", ""])
def test_every_type_and_chunk_is_read(tmp_path: Path, container: str) -> None:
    path = tmp_path / f"a{container}"
    if container:
        ra_pack.write(path, ARRAYS)
    else:
        # Big-endian, too.
        write_directory(path, {name: one for name, one in ARRAYS.items() if name not in ("text", "record")}, {})
    store = ra_pack.zarr_store(path, skip=True)
    root = zarr.open_group(store, mode="r")
    assert len(set(root.array_keys())) >= 7
    for name, array in ra_pack.open(path).items():
        found = root[name][...]
        assert np.array_equal(found.T if array.order == "F" else found, array.read(), equal_nan=name == "complex"), name
    # Chunks of a file of a directory divide its length, which is a prime number here.
    assert not container or root["long"].nchunks > 1 and root["deep"].nchunks > 1
    with pytest.raises(ValueError, match="read.only"):
        zarr.create_array(store, name="new", shape=(2,), dtype="i4")


def test_xarray_opens_a_store_as_it_opens_the_pack(experiment: Path) -> None:
    store = ra_pack.zarr_store(experiment)
    for group in ["thermistors", "currents"]:
        with xr.open_dataset(experiment, engine="ra-pack", group=group) as expected:
            with xr.open_zarr(store, group=group) as found:
                for name in set(expected.data_vars) - {"velocity"}:
                    values = found[name].transpose(*expected[name].dims).values
                    assert np.array_equal(values, expected[name].values, equal_nan=True), name
    with xr.open_datatree(store, engine="zarr") as tree:
        assert tree["thermistors/temperature"].sel(time="2024-06-04", depth=10).mean().item() == pytest.approx(15.976936)


def test_a_damaged_chunk_is_an_error(experiment: Path) -> None:
    time = ra_pack.open(experiment)["time"].read()
    root = zarr.open_group(ra_pack.zarr_store(damaged(experiment, time.tobytes())), mode="r")
    assert root["thermistors/depth"][0] == 1.0
    with pytest.raises(ra_pack.Damaged):
        root["time"][:3]


def test_a_store_lists_keys_and_gives_ranges(experiment: Path) -> None:
    from zarr.abc.store import OffsetByteRequest, RangeByteRequest, SuffixByteRequest

    store = ra_pack.zarr_store(experiment)
    assert pickle.loads(pickle.dumps(store)) == store and "exp.zip" in repr(store)
    time = ra_pack.open(experiment)["time"].read().tobytes()

    async def steps() -> None:
        assert [key async for key in store.list_dir("thermistors")][:3] == [".zattrs", ".zgroup", "counts"]
        assert "time" in [key async for key in store.list_dir("")]
        assert {key async for key in store.list_prefix("time/")} == {"time/.zarray", "time/.zattrs", "time/0"}
        assert await store.exists("time/0") and not await store.exists("time/1") and await store.get("time/1") is None
        requests = [RangeByteRequest(8, 24), OffsetByteRequest(100), SuffixByteRequest(9), SuffixByteRequest(0), None]
        for request, expected in zip(requests, [time[8:24], time[100:], time[-9:], b"", time]):
            found = await store.get("time/0", byte_range=request)
            assert found is not None and found.to_bytes() == expected
        with pytest.raises(ValueError, match="read.only"):
            await store.delete("time/0")

    asyncio.run(steps())


def test_arrays_that_zarr_cannot_express_are_named(tmp_path: Path) -> None:
    ra_pack.write(tmp_path / "a.zip", {"a": np.zeros(1000)}, compression="deflate")
    with pytest.raises(ra_pack.Error, match="deflate"):
        ra_pack.zarr_store(tmp_path / "a.zip")
