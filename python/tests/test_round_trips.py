"""Data of other formats comes back from a pack as it was."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack

xr = pytest.importorskip("xarray")

#: Encodings that describe the file and not the values.
OF_THE_FILE = {
    "source",
    "original_shape",
    "chunksizes",
    "contiguous",
    "preferred_chunks",
    "zlib",
    "szip",
    "zstd",
    "bzip2",
    "blosc",
    "shuffle",
    "complevel",
    "fletcher32",
    "endian",
    "unlimited_dims",
    "_Encoding",
}


def assert_same_encodings(found: Any, expected: Any) -> None:
    for name, variable in expected.variables.items():
        wanted = {key: value for key, value in variable.encoding.items() if key not in OF_THE_FILE}
        got = {key: value for key, value in found[name].encoding.items() if key not in OF_THE_FILE}
        if "coordinates" not in wanted:  # xarray writes coordinates without dimensions to each variable
            got.pop("coordinates", None)
        if np.dtype(wanted["dtype"]).kind in "OU":  # text of any length is stored with a fixed width
            del wanted["dtype"], got["dtype"]
        np.testing.assert_equal(got, wanted, err_msg=name)
        for key in ["scale_factor", "add_offset", "_FillValue"]:
            assert np.asarray(got.get(key)).dtype == np.asarray(wanted.get(key)).dtype, (name, key)


def write_netcdf(path: Path) -> None:
    netcdf = pytest.importorskip("netCDF4")
    with netcdf.Dataset(path, "w") as data:
        data.setncatts({"title": "A week", "Conventions": "CF-1.11", "levels": np.array([1, 2], "i4")})
        for name, length in [("time", None), ("lat", 3), ("lon", 4), ("edge", 2), ("station", 2)]:
            data.createDimension(name, length)
        time = data.createVariable("time", "f8", ("time",))
        time.setncatts({"units": "days since 2024-06-03", "calendar": "standard", "bounds": "time_bounds"})
        time[:] = np.arange(7) + 0.5
        bounds = data.createVariable("time_bounds", "f8", ("time", "edge"))
        bounds[:] = np.stack([np.arange(7), np.arange(7) + 1], axis=1)
        lat = data.createVariable("lat", "f4", ("lat",))
        lat.setncatts({"units": "degrees_north", "axis": "Y"})
        lat[:] = [60, 60.5, 61]
        lon = data.createVariable("lon", "f4", ("lon",))
        lon.units = "degrees_east"
        lon[:] = [5, 5.5, 6, 6.5]
        sst = data.createVariable("sst", "i2", ("time", "lat", "lon"), fill_value=-999)
        sst.setncatts({"long_name": "sea surface temperature", "units": "degree_Celsius"})
        sst.setncatts({"scale_factor": np.float32(0.01), "add_offset": np.float32(10)})
        sst.setncatts({"valid_range": np.array([-200, 4000], "i2"), "coordinates": "height"})
        sst.set_auto_maskandscale(False)
        values = np.arange(84).reshape(7, 3, 4)
        values[2, 1] = -999
        sst[:] = values
        height = data.createVariable("height", "f8", ())
        height.units = "m"
        height[...] = 2.0
        name = data.createVariable("station_name", str, ("station",))
        name[:] = np.array(["Bergen", "Tromsø"], object)
        wind = data.createVariable("wind", "f4", ("time", "station"), fill_value=np.float32(1e20))
        wind[:] = np.ma.masked_equal(np.arange(14).reshape(7, 2), 3)
        group = data.createGroup("model")
        group.run = "17"
        heat = group.createVariable("heat", "f8", ("time", "lat"))
        heat.units = "W m-2"
        heat[:] = np.arange(21).reshape(7, 3)
        deep = group.createGroup("deep")
        deep.createDimension("depth", 2)
        deep.createVariable("depth", "i4", ("depth",))[:] = [100, 200]
        salt = deep.createVariable("salt", "f4", ("depth", "lon"))
        salt[:] = np.arange(8).reshape(2, 4)


def test_a_netcdf_file_comes_back_with_its_encodings(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as expected:
        ra_pack.write(tmp_path / "a.zip", expected)
        report = ra_pack.verify(tmp_path / "a.zip")
        assert report.valid and not report.findings
        with xr.open_dataset(tmp_path / "a.zip", engine="ra-pack") as found:
            xr.testing.assert_identical(found, expected)
            assert_same_encodings(found, expected)
            for name, variable in expected.variables.items():
                assert found[name].dtype == variable.dtype or variable.dtype.kind in "OTU", name
    # The raw values are those of the file.
    with xr.open_dataset(tmp_path / "a.nc", decode_cf=False) as raw:
        assert np.array_equal(ra_pack.open(tmp_path / "a.zip")["sst"].read(), raw.sst.values)


@pytest.mark.parametrize("engine", ["netcdf4", "scipy"])
def test_a_pack_with_text_can_be_written_as_netcdf(tmp_path: Path, engine: Any) -> None:
    ds = xr.Dataset({"name": ("station", ["Bø", "Ålesund"]), "code": ("station", np.array([b"a", b"bc"]))})
    ra_pack.write(tmp_path / "a.zip", ds)
    with xr.open_dataset(tmp_path / "a.zip", engine="ra-pack") as found:
        longer = found.assign(name=found.name.copy(data=np.array(["Bøøøøøøøø", "Å"], object)))
        longer.to_netcdf(tmp_path / "a.nc", engine=engine)
        with xr.open_dataset(tmp_path / "a.nc", engine=engine) as back:
            assert back.name.values.tolist() == ["Bøøøøøøøø", "Å"]
            assert back.code.values.tolist() == [b"a", b"bc"]


def test_a_netcdf_file_that_is_not_decoded_comes_back(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc", decode_cf=False) as expected:
        ra_pack.write(tmp_path / "a.zip", expected)
        with xr.open_dataset(tmp_path / "a.zip", engine="ra-pack") as found:
            with xr.open_dataset(tmp_path / "a.nc") as decoded:
                xr.testing.assert_identical(found, decoded)


def test_a_second_round_writes_the_same_archive(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "a.nc")
    with xr.open_dataset(tmp_path / "a.nc") as ds:
        ra_pack.write(tmp_path / "a.zip", ds)
    with xr.open_dataset(tmp_path / "a.zip", engine="ra-pack") as ds:
        ra_pack.write(tmp_path / "b.zip", ds)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_groups_of_a_netcdf_file_come_back_as_a_tree(tmp_path: Path) -> None:
    write_netcdf(tmp_path / "a.nc")
    with xr.open_datatree(tmp_path / "a.nc", engine="netcdf4") as expected:
        ra_pack.write(tmp_path / "a.zip", expected)
        with xr.open_datatree(tmp_path / "a.zip", engine="ra-pack") as found:
            xr.testing.assert_identical(found, expected)
            assert found["model/heat"].sel(lat=60.5).shape == (7,)


def test_an_npz_file_comes_back(tmp_path: Path) -> None:
    arrays = {
        "x": np.arange(12.0).reshape(3, 4),
        "fortran": np.asfortranarray(np.arange(6, dtype="i2").reshape(2, 3)),
        "flags": np.array([True, False]),
        "z": np.array([1 + 2j]),
        "record": np.array([(1, 2.0)], [("n", "i4"), ("x", "f8")]),
        "scalar": np.float32(7),
        "big": np.arange(3, dtype=">u4"),
    }
    np.savez(tmp_path / "a.npz", **arrays)
    with np.load(tmp_path / "a.npz") as source:
        ra_pack.write(tmp_path / "a.zip", source)
    pack = ra_pack.open(tmp_path / "a.zip")
    np.savez(tmp_path / "b.npz", **{name: array.read() for name, array in pack.items()})
    with np.load(tmp_path / "b.npz") as found:
        assert set(found) == set(arrays)
        for name, array in arrays.items():
            assert found[name].dtype == np.asarray(array).dtype.newbyteorder("="), name
            assert np.array_equal(found[name], array), name


def test_a_stack_of_images_comes_back(tmp_path: Path) -> None:
    image = pytest.importorskip("PIL.Image")
    rng = np.random.default_rng(1)
    frames = rng.integers(0, 256, (5, 24, 32, 3), dtype=np.uint8)
    for nth, frame in enumerate(frames):
        image.fromarray(frame).save(tmp_path / f"{nth}.png")
    stack = np.stack([np.asarray(image.open(tmp_path / f"{nth}.png")) for nth in range(5)])
    ds = xr.Dataset(
        {"frames": (("time", "y", "x", "channel"), stack)},
        coords={"time": np.arange(5) * 0.04, "channel": ["red", "green", "blue"]},
    )
    ra_pack.write(tmp_path / "stack.zip", ds)
    found = xr.open_dataset(tmp_path / "stack.zip", engine="ra-pack")
    for nth in range(5):
        image.fromarray(found.frames.isel(time=nth).values).save(tmp_path / "again.png")
        assert np.array_equal(np.asarray(image.open(tmp_path / "again.png")), frames[nth])
    assert found.frames.sel(channel="green").shape == (5, 24, 32)
