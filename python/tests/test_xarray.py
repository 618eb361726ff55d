"""The xarray engine: datasets and trees of packs that are written by hand."""

from __future__ import annotations

import os
import pickle
import random
import shutil
import subprocess
import sys
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT, damaged, write_directory

xr = pytest.importorskip("xarray")


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    path = tmp_path / "exp.zip"
    ra_pack.create(EXPERIMENT, path)
    return path


def packed(tmp_path: Path, arrays: dict[str, Any], descriptions: dict[str, str] | None = None) -> Path:
    source = write_directory(tmp_path / "source", arrays, descriptions or {})
    ra_pack.create(source, tmp_path / "pack.zip", describe=True)
    return tmp_path / "pack.zip"


def open_dataset(path: Path, **options: Any) -> Any:
    return xr.open_dataset(path, engine="ra-pack", **options)


def coordinate(name: str, length: int, kind: str = "float64", more: str = "") -> str:
    return f"dimcoords:\n  {name}:\n    size: {length}\n    type: {kind}\n{more}"


def described(name: str, shape: str, kind: str = "float64", more: str = "") -> str:
    return f"ndarrays:\n  {name}:\n    shape: [{shape}]\n    type: {kind}\n{more}"


def test_a_group_is_a_dataset_with_named_dimensions_and_indexed_coordinates(experiment: Path) -> None:
    ds = open_dataset(experiment, group="thermistors", decode_times=False)
    assert ds.temperature.dims == ("depth", "time")
    assert set(ds.indexes) == {"depth", "time"}
    pack = ra_pack.open(experiment)
    for name in ["counts", "quality", "depth"]:
        raw = open_dataset(experiment, group="thermistors", decode_cf=False)[name]
        assert np.array_equal(raw.values, pack[f"thermistors/{name}"].read()), name
    assert np.array_equal(ds.time.values, pack["time"].read())
    assert ds.temperature.sel(depth=3.0).dims == ("time",)


@pytest.mark.parametrize("ending", [".tar", ".tar.gz", ".tar.zst", ""])
def test_tars_and_directories_are_opened_as_zips_are(experiment: Path, tmp_path: Path, ending: str) -> None:
    other = EXPERIMENT if not ending else tmp_path / f"exp{ending}"
    if ending:
        ra_pack.create(EXPERIMENT, other)
    xr.testing.assert_identical(
        open_dataset(other, group="currents").load(), open_dataset(experiment, group="currents").load()
    )


def test_opening_reads_no_elements(experiment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from ra_pack import _xarray

    reads: list[str] = []
    read = _xarray.PackArray._read

    def counted(self: Any, key: Any) -> Any:
        reads.append(self.member)
        return read(self, key)

    monkeypatch.setattr(_xarray.PackArray, "_read", counted)
    ds = open_dataset(experiment, group="thermistors")
    # Only the indexes are read: xarray needs them to select by value.
    assert not [name for name in reads if not name.startswith(("time", "thermistors/depth"))]
    ds.temperature[0, :3].load()
    assert any(name.startswith("thermistors/temperature") for name in reads)
    assert not any(name.startswith("thermistors/counts") for name in reads)


def test_missing_values_scales_and_times_are_decoded_by_xarray(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        {"time": np.array([0.0, 1.5]), "counts": np.array([[1, 2], [-999, 4]], "i2")},
        {
            "time": coordinate("time", 2, more="    attributes: {units: hours since 2024-06-03}\n"),
            "counts": described(
                "counts",
                "time, 2",
                "int16",
                "    attributes: {scale_factor: 0.5, add_offset: 10.0}\n    storage: {fillvalue: -999}\n",
            ),
        },
    )
    ds = open_dataset(path)
    assert np.array_equal(ds.counts.values, [[10.5, 11.0], [np.nan, 12.0]], equal_nan=True)
    assert ds.counts.encoding["_FillValue"] == -999
    assert ds.counts.encoding["dtype"] == np.dtype("i2")
    assert ds.time.values[1] == np.datetime64("2024-06-03T01:30")
    raw = open_dataset(path, mask_and_scale=False, decode_times=False)
    assert raw.counts.dtype == np.dtype("i2")
    assert raw.counts.attrs["_FillValue"] == -999
    assert raw.time.attrs["units"] == "hours since 2024-06-03"
    assert "counts" not in open_dataset(path, drop_variables=["counts"])
    assert "counts" not in open_dataset(path, drop_variables="counts")


def test_coordinates_whose_values_are_in_descriptions_are_found(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        {"model/salt": np.arange(3.0), "model/heat": np.arange(2.0)},
        {
            "model/salt": coordinate(
                "depth", 3, "float32", "    value: [5.0, 20.0, 80.0]\n    attributes: {units: m}\n"
            )
            + described("salt", "depth"),
            "model/heat": described("heat", "run"),
            "manifest": "/:\n  attributes: {title: A test}\n"
            "  dimcoords:\n    run: {size: 2, type: int16, value: [3, 4]}\n",
        },
    )
    ds = open_dataset(path, group="model")
    assert ds.depth.values.tolist() == [5.0, 20.0, 80.0]
    assert ds.depth.dtype == np.float32
    assert ds.depth.attrs == {"units": "m"}
    assert ds.salt.sel(depth=20.0).item() == 1.0
    assert ds.run.values.tolist() == [3, 4]
    tree = xr.open_datatree(path, engine="ra-pack")
    assert tree.attrs["title"] == "A test"
    assert tree["/"].to_dataset().run.values.tolist() == [3, 4]
    assert tree["model/heat"].sel(run=4).item() == 1.0


def test_a_coordinate_that_is_only_a_length_is_a_dimension_without_coordinate(tmp_path: Path) -> None:
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path) as writer:
        writer.add("a", np.zeros((2, 3)), dims=["x", "y"])
    ds = open_dataset(path)
    assert ds.a.dims == ("x", "y")
    assert list(ds.variables) == ["a"]


def test_dimensions_without_names_have_the_name_of_their_array(tmp_path: Path) -> None:
    path = packed(tmp_path, {"a": np.zeros((2, 3)), "run/a": np.zeros((4, 3)), "run/b": np.zeros((5, 2))})
    assert open_dataset(path).a.dims == ("a_dim_0", "a_dim_1")
    # The group above has another `a_dim_0`, and a tree has one length for each name.
    assert open_dataset(path, group="run").a.dims == ("run_a_dim_0", "a_dim_1")
    tree = xr.open_datatree(path, engine="ra-pack")
    assert tree["run/a"].shape == (4, 3)
    assert tree["run/b"].dims == ("b_dim_0", "b_dim_1")


def test_a_coordinate_of_another_group_comes_with_the_array_that_uses_it(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        {"one/time": np.array([1.0, 2.0]), "two/time": np.array([1.0, 2.0, 3.0]), "two/a": np.arange(6).reshape(2, 3)},
        {
            "one/time": coordinate("time", 2),
            "two/time": coordinate("time", 3),
            "two/a": described("a", "/one/time, time", "int64"),
        },
    )
    for ds in [
        open_dataset(path, group="two"),
        xr.open_groups(path, engine="ra-pack")["/two"],
        xr.open_datatree(path, engine="ra-pack")["two"].to_dataset(),
    ]:
        assert ds.a.dims == ("one_time", "time")
        assert ds.one_time.values.tolist() == [1.0, 2.0]
        assert ds.time.values.tolist() == [1.0, 2.0, 3.0]


def test_groups_form_a_tree_with_inherited_coordinates(experiment: Path) -> None:
    tree = xr.open_datatree(experiment, engine="ra-pack")
    assert set(tree.groups) == {"/", "/currents", "/thermistors"}
    assert "time" not in tree["thermistors"].to_dataset(inherit=False).coords
    assert tree["thermistors/temperature"].sel(depth=1.0).dims == ("time",)
    assert "time" in tree["currents/velocity"].indexes
    groups = xr.open_groups(experiment, engine="ra-pack")
    assert "time" in groups["/thermistors"].coords
    below = xr.open_datatree(experiment, engine="ra-pack", group="currents")
    assert below.groups == ("/",)
    assert "time" in below.coords


def test_groups_that_form_no_tree_are_named(tmp_path: Path) -> None:
    path = packed(
        tmp_path,
        {"time": np.arange(2.0), "a": np.zeros(2), "run/time": np.arange(3.0), "run/a": np.zeros(3)},
        {
            "time": coordinate("time", 2),
            "a": described("a", "time"),
            "run/time": coordinate("time", 3),
            "run/a": described("a", "time"),
        },
    )
    with pytest.raises(ValueError, match="open_groups"):
        xr.open_datatree(path, engine="ra-pack")
    assert xr.open_groups(path, engine="ra-pack")["/run"].sizes == {"time": 3}


def test_a_group_that_does_not_exist_is_refused_with_the_groups_of_the_pack(experiment: Path) -> None:
    with pytest.raises(ra_pack.NotFound, match="/thermistors"):
        open_dataset(experiment, group="thermistor")
    with pytest.raises(ra_pack.NotFound, match="/currents"):
        xr.open_datatree(experiment, engine="ra-pack", group="none")
    with pytest.raises(TypeError, match="expected a path, a URL or a file object, found int"):
        open_dataset(3)  # type: ignore[arg-type]


TYPES = [
    np.array([True, False, True]),
    np.array([1 + 2j, 3, -4j], "c8"),
    np.array([(1, 2.5), (3, 4.5), (5, 6.5)], [("n", "<i4"), ("x", "<f8")]),
    np.array([1, 2, 3], ">f4"),
    np.array([b"a", b"bc", b""], "S2"),
    np.array([b"a", b"b", b""], "S1"),
    np.array([1.5, np.nan, np.inf], "f2"),
    np.array([1, 2, 2**64 - 1], "u8"),
]


@pytest.mark.parametrize("array", TYPES, ids=lambda array: str(array.dtype))
def test_each_type_of_numpy_is_read(tmp_path: Path, array: Any) -> None:
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path) as writer:
        writer.add("a", array)
        writer.add("b", np.stack([array, array[::-1]]))
    ds = open_dataset(path)
    kind = array.dtype.newbyteorder("=")
    assert ds.a.dtype == kind
    equal_nan = array.dtype.kind == "f"
    assert np.array_equal(ds.a.values, array, equal_nan=equal_nan)
    assert np.array_equal(ds.b.values[1], array[::-1], equal_nan=equal_nan)
    assert np.array_equal(ds.b[:, 1:].values[0], array[1:], equal_nan=equal_nan)


def random_index(rng: random.Random, length: int) -> Any:
    kind = rng.randrange(4)
    if kind == 0:
        return rng.randrange(-length, length)
    if kind == 1:
        # xarray itself reads other elements if a slice with a negative step starts outside.
        limit = lambda: rng.choice([None, rng.randrange(-length, length)])  # noqa: E731
        return slice(limit(), limit(), rng.choice([None, 1, 2, 3, -1, -2]))
    if kind == 2:
        return np.array([rng.randrange(-length, length) for _ in range(rng.randrange(5))], dtype=int)
    return slice(None)


@pytest.mark.parametrize("row", [False, True])
def test_any_index_gives_the_elements_that_numpy_gives(tmp_path: Path, row: bool) -> None:
    array = np.arange(7 * 40 * 3).reshape(7, 40, 3)
    more = "    storage: {order: row}\n" if row else ""
    path = packed(tmp_path, {"a": array}, {"a": described("a", "7, 40, 3", "int64", more)})
    dims = ("a_dim_0", "a_dim_1", "a_dim_2")
    expected = xr.DataArray(array, dims=dims)
    rng = random.Random(1)
    lazy = open_dataset(path, cache=False).a
    for _ in range(300):
        key = {dim: random_index(rng, length) for dim, length in zip(dims, array.shape)}
        found = lazy.isel(key)
        assert np.array_equal(found.values, expected.isel(key).values), key
    # Pointwise indexes, and an index of an index.
    points = xr.DataArray([3, 0, 5], dims="point")
    key = {"a_dim_0": points, "a_dim_1": points * 3}
    assert np.array_equal(open_dataset(path).a.isel(key), expected.isel(key))
    twice = open_dataset(path).a[1:, [30, 2]][:, :, ::-1]
    assert np.array_equal(twice, expected[1:, [30, 2]][:, :, ::-1])


def test_an_index_array_reads_its_runs_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = packed(tmp_path, {"a": np.arange(2000).reshape(1000, 2)})
    from ra_pack import _xarray

    parts: list[tuple[int, ...]] = []
    outer = _xarray.outer

    class Spy:
        def __init__(self, array: Any) -> None:
            self.array, self.shape = array, array.shape

        def __getitem__(self, key: Any) -> Any:
            parts.append(self.array[key].shape)
            return self.array[key]

    monkeypatch.setattr(_xarray, "outer", lambda array, key: outer(Spy(array), key))
    wanted = [900, 3, 4, 4, 5]
    assert np.array_equal(open_dataset(path).a[wanted].values, np.arange(2000).reshape(1000, 2)[wanted])
    assert parts == [(3, 2), (1, 2)]


def test_chunks_follow_the_order_of_the_file(tmp_path: Path) -> None:
    pytest.importorskip("dask")
    array = np.zeros((64, 256, 256), "f8")
    path = packed(
        tmp_path,
        {"column": array, "row": array},
        {"row": described("row", "64, 256, 256", more="    storage: {order: row}\n")},
    )
    ds = open_dataset(path, chunks={})
    for name, whole in [("column", (0, 1)), ("row", (1, 2))]:
        chunks = ds[name].chunks
        assert all(len(chunks[axis]) == 1 for axis in whole), (name, chunks)
        size = max(np.prod([max(one) for one in chunks]) * 8, 0)
        assert 2 << 20 <= size <= 8 << 20, (name, chunks)
        assert ds[name].encoding["preferred_chunks"][ds[name].dims[1 if name == "row" else 0]] > 1


def test_a_dataset_can_be_pickled_and_used_in_threads_and_forks(experiment: Path) -> None:
    ds = open_dataset(experiment, group="thermistors")
    expected = ds.temperature.load().values
    fresh = open_dataset(experiment, group="thermistors")
    again = pickle.loads(pickle.dumps(fresh))
    assert np.array_equal(again.temperature.values, expected, equal_nan=True)
    rows = range(len(expected))
    lazy = open_dataset(experiment, group="thermistors", cache=False)
    with ThreadPoolExecutor(8) as pool:
        read = list(pool.map(lambda row: lazy.temperature[row].values, rows))
    assert np.array_equal(np.stack(read), expected, equal_nan=True)
    child = os.fork()
    if child == 0:
        same = np.array_equal(lazy.temperature.values, expected, equal_nan=True)
        os._exit(0 if same else 1)
    assert os.waitpid(child, 0)[1] == 0


CLUSTER = """
import sys
import numpy as np, xarray as xr
from distributed import Client, LocalCluster

if __name__ == "__main__":
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster:
        with Client(cluster):
            ds = xr.open_dataset(sys.argv[1], engine="ra-pack", chunks={"a_dim_0": 100})
            print(int(ds.a.sum().compute()), len(ds.a.chunks[0]))
"""


def test_the_processes_of_a_dask_cluster_open_the_pack_themselves(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    path = packed(tmp_path, {"a": np.arange(2000).reshape(1000, 2)})
    script = tmp_path / "cluster.py"
    script.write_text(CLUSTER)
    ran = subprocess.run([sys.executable, script, path], capture_output=True, text=True, timeout=120)
    assert ran.stdout.split() == [str(sum(range(2000))), "10"], ran.stderr


def test_verify_compares_a_variable_with_the_manifest_when_it_is_read(experiment: Path) -> None:
    needle = np.ascontiguousarray(ra_pack.open(experiment)["thermistors/temperature"].read()).tobytes("F")
    path = damaged(experiment, needle)
    ds = open_dataset(path, group="thermistors", verify=True)
    with pytest.raises(ra_pack.Damaged):
        ds.temperature.load()
    with pytest.raises(ra_pack.Damaged):
        ds.temperature[0, :2].load()
    assert ds.quality.load().size
    # By default, only a part comes as it is.
    ds = open_dataset(path, group="thermistors")
    assert ds.temperature[0, :2].load().size == 2
    for whole in [ds.temperature.load, ds.load, lambda: ds.temperature[:, ::-1].values]:
        with pytest.raises(ra_pack.Damaged):
            whole()
    unchecked = open_dataset(path, group="thermistors", verify=False).load()
    assert unchecked.temperature.shape == (10, 149)
    assert unchecked.temperature[:, [5, 2]].shape == (10, 2)
    intact = open_dataset(experiment, group="thermistors", verify=True)
    expected = open_dataset(experiment, group="thermistors")
    xr.testing.assert_identical(intact.load(), expected.load())
    assert np.array_equal(
        open_dataset(experiment, group="thermistors", verify=True).counts[3:7, [1, 4]], expected.counts[3:7, [1, 4]]
    )


def test_xarray_chooses_the_engine_for_packs_and_not_for_other_files(experiment: Path, tmp_path: Path) -> None:
    assert "sea_floor_depth" in xr.open_dataset(experiment)
    engine = xr.backends.list_engines()["ra-pack"]
    extracted = tmp_path / "extracted"
    shutil.unpack_archive(experiment, extracted)
    tar = tmp_path / "exp.tar"
    ra_pack.create(EXPERIMENT, tar)
    other = tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as file:
        file.writestr("data/a.txt", "text")
    broken = tmp_path / "broken.zip"
    broken.write_bytes(b"PK\3\4 and no more")
    is_file = tmp_path / "a.nc"
    is_file.write_bytes(b"CDF\1")
    assert engine.guess_can_open(experiment)
    assert engine.guess_can_open(str(tar))
    assert engine.guess_can_open(extracted)
    for path in [other, broken, is_file, tmp_path, tmp_path / "none.zip", "https://example.org/a.zip", b"CDF\1", 7]:
        assert not engine.guess_can_open(path), path


def test_closing_a_dataset_closes_its_file(experiment: Path) -> None:
    def open_files() -> list[str]:
        links = [f"/proc/self/fd/{name}" for name in os.listdir("/proc/self/fd")]
        return [os.readlink(link) for link in links if os.path.lexists(link)]

    with open_dataset(experiment, group="currents") as ds:
        ds.velocity.load()
        assert str(experiment) in open_files()
    assert str(experiment) not in open_files()
    tree = xr.open_datatree(experiment, engine="ra-pack")
    assert str(experiment) in open_files()
    tree.close()
    assert str(experiment) not in open_files()


@pytest.mark.parametrize(
    "lazy",
    [
        lambda ds: ds,
        lambda ds: ds.isel(time=slice(10)),
        lambda ds: ds.isel(time=[0, 7, 3]),
        lambda ds: ds.chunk({"time": 50}).mean("time"),
        lambda ds: ds.chunk({"time": 50}).map_blocks(lambda block: 2 * block),
        lambda ds: ds[["temperature"]].drop_vars("time").chunk(time=7).isel(time=[1]),
    ],
    ids=["whole", "slice", "rows", "mean", "blocks", "row of a chunk"],
)
@pytest.mark.parametrize("chunks", [None, {}, {"time": 149}], ids=str)
def test_damaged_data_never_becomes_a_valid_pack(experiment: Path, tmp_path: Path, lazy: Any, chunks: Any) -> None:
    if chunks is not None:
        pytest.importorskip("dask")
    temperature = ra_pack.open(experiment)["thermistors/temperature"].read().tobytes("F")
    path = damaged(experiment, temperature)
    with open_dataset(path, group="thermistors", chunks=chunks) as ds:
        with pytest.raises(ra_pack.Damaged):
            ra_pack.write(tmp_path / "new.zip", lazy(ds))
    with xr.open_datatree(path, engine="ra-pack", chunks=chunks) as tree:
        with pytest.raises(ra_pack.Damaged):
            ra_pack.write(tmp_path / "new.zip", tree)
    assert not (tmp_path / "new.zip").exists()
    with open_dataset(experiment, group="thermistors", chunks=chunks) as ds:
        ra_pack.write(tmp_path / "new.zip", lazy(ds))
    # The user declined the check.
    with open_dataset(path, group="thermistors", chunks=chunks, verify=False) as ds:
        ra_pack.write(tmp_path / "unchecked.zip", lazy(ds))


def test_attributes_of_a_root_without_arrays_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "tree.zip"
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(attrs={"title": "X"}),
            "/sweep": xr.Dataset({"a": ("x", [1])}),
            "/notes": xr.Dataset(attrs={"by": "Y"}),
        }
    )
    ra_pack.write(path, tree)
    assert open_dataset(path).attrs == {"title": "X"}
    with xr.open_datatree(path, engine="ra-pack") as found:
        xr.testing.assert_identical(found, tree)
    tree["/notes/none"] = xr.DataTree()
    tree["/none"] = xr.DataTree()
    later = ra_pack.write(path, tree, force=True, compute=False)
    with xr.open_datatree(path, engine="ra-pack") as found:
        assert "none" not in found
    assert later.compute().arrays == 1
    with xr.open_datatree(path, engine="ra-pack") as found:
        xr.testing.assert_identical(found, tree)
    ra_pack.write(tmp_path / "alone.zip", xr.Dataset(attrs={"title": "X"}))
    assert open_dataset(tmp_path / "alone.zip").attrs == {"title": "X"}


def test_labels_of_an_enum_are_flags_and_become_an_enum_again(experiment: Path, tmp_path: Path) -> None:
    with xr.open_datatree(experiment, engine="ra-pack") as tree:
        flags = tree["thermistors/quality"].attrs
        assert flags["flag_meanings"] == "unknown good probably_good potentially_correctable bad missing"
        assert flags["flag_values"].tolist() == [0, 1, 2, 3, 4, 9] and flags["flag_values"].dtype == np.uint8
        ra_pack.write(tmp_path / "again.zip", tree)
    command = [sys.executable, "-m", "ra_pack", "info", "--json", tmp_path / "again.zip", "thermistors/quality.ra"]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert '"enum"' in told and "flag_values" not in told, told
    with xr.open_datatree(tmp_path / "again.zip", engine="ra-pack") as again:
        assert again["thermistors/quality"].attrs.keys() == flags.keys()


def test_a_dimension_may_have_the_name_of_another_array(tmp_path: Path) -> None:
    path = tmp_path / "pack.zip"
    ds = xr.Dataset(
        {
            "x": (("x", "y"), np.arange(6.0).reshape(2, 3)),
            "a": ("x", [1, 2]),
            "z": ("y", [4.0, 5.0, 6.0]),
            "b": ("z", [7, 8, 9]),
            "c": (("z", "y"), np.ones((3, 3))),
        },
        {"y": [10, 20, 30]},
    )
    tree = xr.DataTree.from_dict({"/": ds, "/g": xr.Dataset({"d": (("x", "y"), np.ones((2, 3)))})})
    ra_pack.write(path, tree)
    assert ra_pack.verify(path).valid
    with open_dataset(path) as found:
        xr.testing.assert_identical(found, ds)
    with xr.open_datatree(path, engine="ra-pack") as found:
        xr.testing.assert_identical(found, tree)
    with open_dataset(path, group="g") as found:
        assert found.d.dims == ("x", "y") and found.y.values.tolist() == [10, 20, 30]


def test_an_attribute_with_names_of_dimensions_is_kept_where_a_description_names_them(tmp_path: Path) -> None:
    ds = xr.Dataset({"a": ("x", [1, 2], {"_ARRAY_DIMENSIONS": ["other"]})})
    ra_pack.write(tmp_path / "pack.zip", ds)
    xr.testing.assert_identical(open_dataset(tmp_path / "pack.zip"), ds)


@pytest.mark.parametrize("fill", [np.bytes_(b"-"), np.True_, np.complex64(1 + 2j), np.float32(-999.25), np.int8(-1)])
def test_fill_values_of_every_type_are_kept(tmp_path: Path, fill: Any) -> None:
    other = fill.dtype.type(b"a" if fill.dtype.kind == "S" else 0)
    ds = xr.Dataset({"a": ("x", np.array([other, fill]), {"_FillValue": fill})})
    ra_pack.write(tmp_path / "pack.zip", ds)
    with open_dataset(tmp_path / "pack.zip", decode_cf=False) as found:
        xr.testing.assert_identical(found, ds)
        assert found.a.attrs["_FillValue"].dtype == fill.dtype


@pytest.mark.parametrize("name", ["store.zarr", "text.zip", "empty", "empty.tar"])
def test_what_is_not_a_pack_is_not_opened_as_an_empty_one(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    if name.endswith(".zip"):
        with zipfile.ZipFile(path, "w") as file:
            file.writestr("a.txt", "text")
    elif name.endswith(".tar"):
        path.write_bytes(bytes(10240))
    else:
        path.mkdir()
        if name == "store.zarr":
            (path / ".zgroup").write_text('{"zarr_format": 2}')
    for call in [ra_pack.open, open_dataset]:
        with pytest.raises(ra_pack.NotAPack, match=name):
            call(path)


def test_arrays_in_attributes_keep_their_types(tmp_path: Path) -> None:
    values = [np.array([1.5, 2.0]), np.array([5]), np.array([1, 2], "i2"), np.array([0.1], "f4"), np.array([2**63], "u8")]
    attrs = {f"a{nth}": value for nth, value in enumerate(values)}
    ds = xr.Dataset({"v": ("x", [1], {**attrs, "names": ["a", "b"]})}, attrs=attrs)
    ra_pack.write(tmp_path / "a.zip", ds)
    found = open_dataset(tmp_path / "a.zip")
    for one in [found.attrs, found.v.attrs]:
        for name, value in attrs.items():
            assert one[name].dtype == value.dtype and np.array_equal(one[name], value), name
    assert found.v.attrs["names"] == ["a", "b"]
    xr.testing.assert_identical(found, ds)
