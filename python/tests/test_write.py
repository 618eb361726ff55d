"""`write`: datasets, trees and dicts of arrays as packs."""

from __future__ import annotations

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack


def is_valid(path: Path) -> bool:
    report = ra_pack.verify(path)
    return report.valid and not report.findings


# Dicts of arrays need no xarray.


def test_a_dict_of_arrays_becomes_arrays_in_groups(tmp_path: Path) -> None:
    path = tmp_path / "run.zip"
    arrays = {
        "depth": np.array([5.0, 20.0], "f4"),
        "run1/counts": np.arange(6).reshape(2, 3),
        "run1/valid": np.array([True, False]),
        "run1/fortran": np.asfortranarray(np.arange(6.0).reshape(2, 3)),
        "scalar": 7.5,
        "big": np.array([1, 2], ">i2"),
        "empty": np.zeros((0, 3)),
        "list": [1, 2, 3],
    }
    report = ra_pack.write(path, arrays, attrs={"title": "A run"})
    assert report.arrays == len(arrays)
    assert is_valid(path)
    pack = ra_pack.open(path)
    assert pack.attrs["title"] == "A run"
    assert set(pack) == set(arrays)
    for name, array in arrays.items():
        read = pack[name].read()
        assert read.dtype == np.asarray(array).dtype.newbyteorder("="), name
        assert np.array_equal(read, array), name
    assert pack["run1/fortran"].read().flags.f_contiguous
    assert pack["run1/counts"].read().flags.c_contiguous


def test_times_and_text_are_stored_with_the_attributes_that_explain_them(tmp_path: Path) -> None:
    path = tmp_path / "run.zip"
    times = np.array(["2024-06-03T00:00", "NaT"], "M8[m]")
    ra_pack.write(
        path,
        {
            "time": times,
            "years": np.array(["2024"], "M8[Y]"),
            "lag": np.array([1, 2], "m8[ms]"),
            "name": np.array(["a", "Tromsø", ""]),
            "one": np.array(["x", "y"]),
            "bytes": np.array([b"ab", b"c"], object),
        },
    )
    pack = ra_pack.open(path)
    assert pack["time"].attrs["units"] == "minutes since 1970-01-01"
    assert pack["time"].read()[0] == (54 * 365 + 13 + 154 + 1) * 24 * 60 - 24 * 60
    assert pack["lag"].attrs == {"units": "milliseconds"}
    assert pack["name"].attrs == {"_Encoding": "utf-8"}
    assert [one.decode() for one in pack["name"].read().tolist()] == ["a", "Tromsø", ""]
    assert pack["bytes"].read().tolist() == [b"ab", b"c"]
    xr = pytest.importorskip("xarray")
    ds = xr.open_dataset(path, engine="ra-pack", decode_timedelta=True)
    assert np.array_equal(ds.time.values, times, equal_nan=True)
    assert ds.years.values.tolist() == np.array(["2024-01-01"], "M8[s]").astype(ds.years.dtype).tolist()
    assert (ds.lag.values == np.array([1, 2], "m8[ms]")).all()
    assert ds.name.values.tolist() == ["a", "Tromsø", ""]
    assert ds.one.values.tolist() == ["x", "y"]


TIMES = ["M8[as]", "M8[fs]", "M8[ps]", "m8[ps]", "M8[25us]", "m8[25us]", "m8[W]", "M8[Y]", "M8[M]", "M8[7D]", "m8[3h]"]


@pytest.mark.parametrize("dtype", TIMES)
@pytest.mark.parametrize("how", ["write", "add", "add_blocks"])
def test_times_of_any_unit_are_exact_or_refused(tmp_path: Path, dtype: str, how: str) -> None:
    def write(path: Path, times: Any) -> None:
        if how == "write":
            ra_pack.write(path, {"t": times})
            return
        with ra_pack.PackWriter(path) as writer:
            if how == "add":
                writer.add("t", times)
            else:
                writer.add_blocks("t", times.shape, times.dtype, [times[:1], times[1:]])

    xr = pytest.importorskip("xarray")
    whole = np.array([1000_000_000, -2000_000_000, "NaT"] if "s]" in dtype else [1, -5, "NaT"], dtype)
    write(tmp_path / "whole.zip", whole)
    with xr.open_dataset(tmp_path / "whole.zip", engine="ra-pack", decode_timedelta=True) as found:
        assert found.t.dtype.kind == whole.dtype.kind
        assert np.isnat(found.t.values).tolist() == [False, False, True]
        assert (found.t.values[:2].astype(whole.dtype) == whole[:2]).all()
    if dtype.endswith(("as]", "fs]", "ps]")):
        with pytest.raises(ValueError, match="`t` has elements of type .* cannot store"):
            write(tmp_path / "other.zip", np.array([1, 2], dtype))


@pytest.mark.parametrize("dtype", ["m8", "m8[M]", "m8[Y]"])
def test_times_without_a_fixed_length_are_refused(tmp_path: Path, dtype: str) -> None:
    with pytest.raises(ValueError, match="`t` has times of type .* no fixed length"):
        ra_pack.write(tmp_path / "out.zip", {"t": np.array([1, 2], dtype)})


def test_labels_of_arrays_in_a_dict_are_not_lost(tmp_path: Path) -> None:
    xr, pd = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    array = xr.DataArray([1, 2], dims="x", name="a")
    source = tmp_path / "source.zip"
    ra_pack.write(source, {"a": [1, 2]})
    for value in [array, array.variable, pd.DataFrame({"c": [1]}), pd.Series([1]), ra_pack.open(source)["a"]]:
        with pytest.raises(TypeError, match="`g/a` is of type .* would be lost"):
            ra_pack.write(tmp_path / "out.zip", {"g/a": value})
        with ra_pack.PackWriter(tmp_path / "other.zip", force=True) as writer:
            with pytest.raises(ValueError, match="`a` is of type .* would be lost"):
                writer.add("a", value)
            shape = np.shape(value)
            writer.add("a", value, dims=["x", "y"][: len(shape)])
    with pytest.raises(TypeError, match="would be lost"):
        ra_pack.write(tmp_path / "out.zip", ra_pack.open(source))
    ra_pack.write(tmp_path / "out.zip", {"a": np.asarray(array), "list": [1], "index": range(3)})


def test_names_that_cannot_be_read_back_are_refused(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    for name, reason in [("a.ra", "without `.ra`"), ("manifest", "a file of the pack")]:
        with pytest.raises(ValueError, match=reason):
            ra_pack.write(tmp_path / "out.zip", xr.Dataset({name: ("x", [1])}))


def test_an_npz_file_is_written_array_by_array(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", x=np.arange(3), y=np.eye(2))
    with np.load(tmp_path / "a.npz") as arrays:
        ra_pack.write(tmp_path / "a.zip", arrays)
    assert np.array_equal(ra_pack.open(tmp_path / "a.zip")["y"].read(), np.eye(2))


@pytest.mark.parametrize(
    ("arrays", "options", "named"),
    [
        ({"good": np.arange(3), "run/bad": np.array([1, "a", None], object)}, {}, "run/bad"),
        ({"bad": np.array([{}])}, {}, "bad"),
        ({"text": np.array(["a\0"], object)}, {}, "text"),
        ({"masked": np.ma.masked_array([1, 2], [True, False])}, {}, "masked"),
        ({"a": np.arange(3)}, {"attrs": {"flag": True}}, "flag"),
        ({"a": np.arange(3)}, {"attrs": {"none": None}}, "none"),
        ({"a": np.arange(3), 7: np.arange(3)}, {}, "7"),
        ({"a": np.arange(3), "../b": np.arange(3)}, {}, "b"),
        ([1, 2], {}, "list"),
    ],
)
def test_a_write_that_fails_names_the_array_and_leaves_nothing(
    tmp_path: Path, arrays: Any, options: Any, named: str
) -> None:
    with pytest.raises((TypeError, ValueError, ra_pack.Error), match=named):
        ra_pack.write(tmp_path / "out.zip", arrays, **options)
    assert list(tmp_path.iterdir()) == []


def test_an_existing_archive_is_replaced_only_by_force(tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    ra_pack.write(path, {"a": np.zeros(1)})
    before = path.read_bytes()
    with pytest.raises(FileExistsError):
        ra_pack.write(path, {"a": np.ones(1)})
    assert path.read_bytes() == before
    ra_pack.write(path, {"a": np.ones(1)}, force=True)
    assert ra_pack.open(path)["a"].read().tolist() == [1.0]


# Objects of xarray.

xr = pytest.importorskip("xarray")


def again(path: Path, **options: Any) -> Any:
    return xr.open_dataset(path, engine="ra-pack", **options)


def test_a_dataset_comes_back_with_coordinates_attributes_and_types(tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    ds = xr.Dataset(
        {
            "temperature": (("time", "station"), np.arange(6.0).reshape(2, 3), {"units": "K", "range": [0, 40]}),
            "valid": (("time",), [True, False]),
            "counts": (("station", "pair"), np.arange(6, dtype="i2").reshape(3, 2)),
            "code": (("station",), np.array([b"a", b"b", b"c"])),
            "spectrum": (("pair",), np.array([1 + 2j, 3j])),
            "step": ((), np.timedelta64(90 * 10**9, "ns")),
        },
        coords={
            "time": np.array(["2024-06-03", "2024-06-04"], "M8[ns]"),
            "station": ["north", "south", "é"],
            "lat": ("station", [60.0, 61.0, 62.0], {"units": "degrees_north"}),
            "run": 17,
            "grid": (("time", "pair"), np.eye(2)),
        },
        attrs={"title": "A test", "version": 3, "limits": np.array([1.5, 2.5], "f4"), "names": ["a", "b"]},
    )
    ra_pack.write(path, ds)
    assert is_valid(path)
    back = again(path, decode_timedelta=True)
    xr.testing.assert_identical(back.load(), ds)
    for name, variable in ds.variables.items():
        if variable.dtype.kind not in "UT":
            assert back[name].dtype == variable.dtype, name
    assert set(back.coords) == set(ds.coords)
    # The attributes keep their types.
    assert back.attrs["limits"].dtype == np.float32
    assert ra_pack.open(path)["lat"].dims == ("station",)


def test_encodings_are_applied_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    ds = xr.Dataset(
        {
            "scaled": ("time", [1.0, np.nan, 3.0]),
            "float": ("time", np.array([1.0, np.nan, 3.0], "f4")),
            "plain": ("time", [1.0, np.nan, 3.0]),
        },
        coords={"time": np.array(["2024-06-03T00", "2024-06-03T06", "2024-06-03T12"], "M8[ns]")},
    )
    ds.scaled.encoding = {
        "dtype": np.dtype("i2"),
        "scale_factor": np.float32(0.5),
        "add_offset": np.float32(1.0),
        "_FillValue": np.int16(-1),
    }
    ds.float.encoding = {"_FillValue": np.float32(-999.0)}
    ds.time.encoding = {"units": "hours since 2024-06-01", "calendar": "standard", "dtype": np.dtype("i4")}
    ra_pack.write(path, ds)
    pack = ra_pack.open(path)
    assert pack["scaled"].read().tolist() == [0, -1, 4]
    assert pack["scaled"].fill_value == -1
    assert pack["float"].read().tolist() == [1.0, -999.0, 3.0]
    assert pack["time"].read().tolist() == [48, 54, 60]
    assert pack["plain"].fill_value is None
    back = again(path)
    xr.testing.assert_equal(back.load(), ds)
    assert back.scaled.dtype == np.float32
    for name in ["scaled", "float", "time"]:
        for key, value in ds[name].encoding.items():
            assert back[name].encoding[key] == value, (name, key)
    assert "_FillValue" not in back.plain.encoding


def test_modes_groups_and_encodings_are_those_of_xarray(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    path = tmp_path / "run.zip"
    ds = xr.Dataset({"a": ("x", [1.5, 2.5])}, {"x": [10, 20]}, {"title": "T"})
    ra_pack.write(path, ds, mode="x")
    for mode in [None, "x"]:
        with pytest.raises(ra_pack.AlreadyExists):
            ra_pack.write(path, ds, mode=mode)
    ra_pack.write(path, ds, mode="a", group="run1", encoding={"a": {"dtype": "i2", "scale_factor": 0.5, "_FillValue": -9}})
    ra_pack.write(path, {"b": np.arange(3)}, mode="a", group="run1/deep")
    assert is_valid(path)
    pack = ra_pack.open(path)
    assert set(pack) == {"a", "x", "run1/a", "run1/x", "run1/deep/b"}
    assert pack.attrs["title"] == pack["run1"].attrs["title"] == "T"
    assert pack["run1/a"].read().tolist() == [3, 5] and pack["a"].dtype == "f8"
    xr.testing.assert_identical(xr.open_dataset(path, engine="ra-pack", group="run1"), ds)
    assert ds.a.encoding == {}
    ra_pack.write(path, ds, mode="w", unlimited_dims="x")
    assert list(ra_pack.open(path)) == ["a", "x"]
    again = xr.open_dataset(path, engine="ra-pack")
    assert again.encoding["unlimited_dims"] == {"x"} and again.attrs == {"title": "T"}
    tree = xr.DataTree.from_dict({"/": ds, "/run1/deep": ds.rename(a="c")})
    encodings = {"/run1/deep": {"c": {"dtype": "f4"}}, "/": {"a": {"dtype": "f4"}}}
    ra_pack.write(path, tree, mode="w", group="top", encoding=encodings)
    assert {name: one.dtype for name, one in ra_pack.open(path).items() if one.name[-1] in "ac"} == {
        "top/a": "f4",
        "top/run1/deep/c": "f4",
    }
    before = path.read_bytes()
    for options, error, words in [
        ({"mode": "r"}, ValueError, "'x', 'w' or 'a'"),
        ({"mode": "w", "encoding": {"a": {"zlib": True}}}, ValueError, "zlib; `compression`"),
        ({"mode": "w", "encoding": {"none": {}}}, KeyError, "none"),
        ({"mode": "w", "unlimited_dims": ["y"]}, ValueError, "y"),
    ]:
        with pytest.raises(error, match=words):
            ra_pack.write(path, ds, **options)
    with pytest.raises(TypeError, match="encoding"):
        ra_pack.write(path, {"a": [1]}, mode="w", encoding={"a": {}})
    assert path.read_bytes() == before


def test_bounds_have_the_units_of_their_coordinate(tmp_path: Path) -> None:
    ds = xr.Dataset(
        {"time_bounds": (("time", "edge"), np.array([["2024-06-03", "2024-06-04"]], "M8[ns]"))},
        coords={"time": ("time", np.array(["2024-06-03T12"], "M8[ns]"), {"bounds": "time_bounds"})},
    )
    ds.time.encoding = {"units": "hours since 2024-06-03", "calendar": "standard"}
    ra_pack.write(tmp_path / "out.zip", ds)
    pack = ra_pack.open(tmp_path / "out.zip")
    assert pack["time_bounds"].read().tolist() == [[0, 24]]
    assert "units" not in pack["time_bounds"].attrs
    xr.testing.assert_equal(again(tmp_path / "out.zip").load(), ds)


def test_dimensions_of_length_0_keep_their_names(tmp_path: Path) -> None:
    ds = xr.Dataset({"a": (("time", "x"), np.zeros((0, 3))), "b": ("time", np.zeros(0))})
    ra_pack.write(tmp_path / "out.zip", ds)
    xr.testing.assert_identical(again(tmp_path / "out.zip").load(), ds)


def test_a_tree_becomes_groups_that_share_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "out.zip"
    time = {"time": [0.5, 1.5]}
    tree = xr.DataTree.from_dict(
        {
            "/": xr.Dataset(coords=time, attrs={"title": "A tree"}),
            "/run1": xr.Dataset({"a": ("time", [1, 2])}, attrs={"operator": "N. N."}),
            "/run1/deep": xr.Dataset({"b": (("time", "x"), np.eye(2))}, coords={"x": [10, 20]}),
            "/empty": xr.Dataset(attrs={"comment": "no arrays"}),
        }
    )
    ra_pack.write(path, tree)
    assert is_valid(path)
    assert sorted(ra_pack.open(path)) == ["run1/a", "run1/deep/b", "run1/deep/x", "time"]
    back = xr.open_datatree(path, engine="ra-pack")
    xr.testing.assert_identical(back.load(), tree)


def test_a_data_array_is_a_dataset_of_one_variable(tmp_path: Path) -> None:
    array = xr.DataArray([1.0, 2.0], dims="x", coords={"x": [3, 4]}, name="a")
    ra_pack.write(tmp_path / "out.zip", array)
    xr.testing.assert_identical(again(tmp_path / "out.zip").a.load(), array)
    with pytest.raises(ValueError, match="rename"):
        ra_pack.write(tmp_path / "other.zip", array.rename(None))


@pytest.mark.parametrize(
    ("dataset", "named"),
    [
        (xr.Dataset({"good": ("x", [1]), "bad": ("x", np.array([{}], object))}), "bad"),
        (xr.Dataset({"a/b": ("x", [1])}), "a/b"),
        (xr.Dataset({"a": (("x/y",), [1])}), "x/y"),
        (xr.Dataset({"a": ("x", [1], {"flag": True})}), "flag"),
        (xr.Dataset({7: ("x", [1])}), "7"),
        (xr.Dataset({"a": ("x", [1, 2])}, coords={"x": [0, 1], "y": ("x", [3, 4])}).set_index(i=["x", "y"]), "i"),
    ],
)
def test_a_dataset_that_cannot_be_written_leaves_nothing(tmp_path: Path, dataset: Any, named: str) -> None:
    with pytest.raises((TypeError, ValueError, NotImplementedError), match=named):
        ra_pack.write(tmp_path / "out.zip", dataset)
    assert list(tmp_path.iterdir()) == []


def test_a_task_that_fails_leaves_nothing(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")

    def fail(block: Any) -> Any:
        raise RuntimeError("no more data")

    lazy = da.zeros((4, 4), chunks=2).map_blocks(fail, dtype=float, meta=np.zeros((0, 0)))
    with pytest.raises(RuntimeError, match="no more data"):
        ra_pack.write(tmp_path / "out.zip", xr.Dataset({"a": ("x", [1]), "b": (("y", "z"), lazy)}))
    assert list(tmp_path.iterdir()) == []


def test_dask_arrays_are_written_block_by_block(tmp_path: Path) -> None:
    da = pytest.importorskip("dask.array")
    dask = pytest.importorskip("dask")
    lazy = da.arange(16 << 20, chunks=1 << 19, dtype="i4").reshape(32, 512, 1024)
    ds = xr.Dataset({"a": (("t", "y", "x"), lazy)})
    with dask.config.set(scheduler="synchronous"):
        tracemalloc.start()
        ra_pack.write(tmp_path / "out.zip", ds)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    # The array has 64 MiB.
    assert peak < 24 << 20, peak
    array = ra_pack.open(tmp_path / "out.zip")["a"]
    assert array.shape == (32, 512, 1024)
    assert array[31, 511, -2:].tolist() == [(16 << 20) - 2, (16 << 20) - 1]


def test_variables_of_a_file_do_not_stay_in_memory(tmp_path: Path) -> None:
    source = tmp_path / "source.zip"
    # Each of them has 1 MiB.
    ra_pack.write(source, {f"a{nth}": np.zeros(1 << 17) for nth in range(8)})
    ra_pack.write(tmp_path / "first.zip", again(source))
    with again(source) as ds:
        tracemalloc.start()
        ra_pack.write(tmp_path / "out.zip", ds)
        now, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert now < 1 << 20, now
    assert peak < 5 << 20, peak


def test_dask_arrays_keep_their_type(tmp_path: Path) -> None:
    da, xr = pytest.importorskip("dask.array"), pytest.importorskip("xarray")
    types = pytest.importorskip("ml_dtypes")
    values = np.array([1.5, 2.0, 3.0], types.bfloat16)
    ds = xr.Dataset({"b": ("x", da.from_array(values, chunks=2)), "c": ("x", da.arange(3, dtype="u2", chunks=2))})
    ra_pack.write(tmp_path / "out.zip", ds)
    pack = ra_pack.open(tmp_path / "out.zip")
    assert pack["b"].dtype == types.bfloat16 and pack["b"].read().tolist() == [1.5, 2.0, 3.0]
    assert pack["c"].dtype == np.uint16
    lazy = da.from_array(np.zeros(3, types.float8_e4m3fn), chunks=2)
    with pytest.raises(ra_pack.Unsupported, match="`b`: packs have no elements of type float8_e4m3fn"):
        ra_pack.write(tmp_path / "other.zip", xr.Dataset({"b": ("x", lazy)}))


def test_missing_text_is_stored_as_xarray_stores_it(tmp_path: Path) -> None:
    xr, pd = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    text = np.array([["a", None], [np.nan, "Ålesund"]], object)
    raw = np.array([b"ab", b"c", None], object)
    ds = xr.Dataset(
        {
            "empty": (("x", "y"), text),
            "filled": (("x", "y"), text, {}, {"_FillValue": "none"}),
            "bytes": ("b", raw),
            "bytes_filled": ("b", raw, {}, {"_FillValue": b"--"}),
            "numbers": ("b", np.array([1, None, 3], object)),
            "string": ("b", pd.array(["a", None, "b"], dtype="string")),
            "nothing": ("b", np.array([None] * 3, object)),
        }
    )
    ra_pack.write(tmp_path / "a.zip", ds)
    assert not ra_pack.verify(tmp_path / "a.zip").findings
    assert ra_pack.open(tmp_path / "a.zip")["bytes"].dtype == np.dtype("S2")
    found = xr.open_dataset(tmp_path / "a.zip", engine="ra-pack").load()
    assert found.empty.values.tolist() == [["a", ""], ["", "Ålesund"]]
    xr.testing.assert_equal(found.filled, ds.filled.fillna(np.nan))
    assert found["bytes"].values.tolist() == [b"ab", b"c", b""]
    assert pd.isnull(found.bytes_filled.values).tolist() == [False, False, True]
    assert np.array_equal(found.numbers.values, [1, np.nan, 3], equal_nan=True)
    assert found.string.values.tolist() == ["a", "", "b"]
    assert np.isnan(found.nothing.values).all()
    found.ra_pack.to_pack(tmp_path / "b.zip")
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "b.zip", engine="ra-pack"), found)
    with pytest.raises(NotImplementedError, match="`empty` has text and bytes"):
        ra_pack.write(tmp_path / "c.zip", ds[["empty"]], encoding={"empty": {"_FillValue": b"X"}})
    with pytest.raises(ValueError, match="`n` has missing elements and integers"):
        ra_pack.write(tmp_path / "c.zip", {"n": np.array([2**60 + 1, None], object)})


def test_types_of_pandas_become_those_of_numpy(tmp_path: Path) -> None:
    xr, pd = pytest.importorskip("xarray"), pytest.importorskip("pandas")
    ds = xr.Dataset(
        {
            "integer": ("x", pd.array([2**60 + 1, None, 3], dtype="Int64")),
            "small": ("x", pd.array([1, None, 255 - 1], dtype="UInt8")),
            "full": ("x", pd.array([1, 2, 3], dtype="Int16")),
            "float": ("x", pd.array([1.5, None, 2], dtype="Float32")),
            "truth": ("x", pd.array([True, None, False], dtype="boolean")),
            "all_true": ("x", pd.array([True] * 3, dtype="boolean")),
            "kind": ("x", pd.Categorical(["lo", "hi", "lo"])),
            "level": ("x", pd.Categorical([3, 4, 3])),
            "scaled": ("x", pd.array([1, None, 3], dtype="Int32"), {}, {"dtype": "i2", "_FillValue": np.int16(-9)}),
        },
        {"x": pd.CategoricalIndex(["a", "b", "c"])},
    )
    ra_pack.write(tmp_path / "a.zip", ds)
    raw = ra_pack.open(tmp_path / "a.zip")
    assert raw["integer"].read().tolist() == [2**60 + 1, -(2**63), 3]
    assert raw["small"].read().tolist() == [1, 255, 254]
    assert raw["scaled"].read().tolist() == [1, -9, 3]
    found = xr.open_dataset(tmp_path / "a.zip", engine="ra-pack").load()
    expected = {"small": [1, None, 254], "float": [1.5, None, 2], "truth": [1, None, 0], "scaled": [1, None, 3]}
    for name, values in expected.items():
        assert np.array_equal(found[name], np.array(values, float), equal_nan=True), name
    assert found.full.dtype == np.dtype("i2") and found.all_true.dtype == bool and found.float.dtype == np.dtype("f4")
    assert found.kind.values.tolist() == ["lo", "hi", "lo"] and found.level.values.tolist() == [3, 4, 3]
    assert found.x.values.tolist() == ["a", "b", "c"]
    for values, error in [
        (pd.date_range("2024", periods=2, tz="UTC"), TypeError),
        (pd.period_range("2024", periods=2), TypeError),
        (pd.array([None, -(2**63)], dtype="Int64"), ValueError),
    ]:
        with pytest.raises(error, match="`run1/v` "):
            ra_pack.write(tmp_path / "b.zip", xr.Dataset({"v": ("x", values)}), group="run1")


def test_a_variable_without_a_name_comes_back(tmp_path: Path) -> None:
    xr = pytest.importorskip("xarray")
    ds = xr.Dataset({None: ("x", [1, 2])})
    ra_pack.write(tmp_path / "a.zip", ds)
    xr.testing.assert_identical(xr.open_dataset(tmp_path / "a.zip", engine="ra-pack"), ds)
