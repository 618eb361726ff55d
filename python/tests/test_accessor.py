"""The accessor `ra_pack` of xarray's objects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import damaged

xr = pytest.importorskip("xarray")

import ra_pack.xarray  # noqa: E402


def dataset() -> Any:
    return xr.Dataset({"t": ("time", np.arange(3.0)), "n": ("time", np.array([1, 2, 3], "i2"))}, {"time": [0, 6, 12]})


def test_to_pack_has_the_options_of_write(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    ds = dataset()
    report = ds.ra_pack.to_pack(path, attrs={"title": "A run"}, encoding={"t": {"dtype": "f4"}}, compression="deflate")
    assert isinstance(report, ra_pack.CreateReport)
    found = xr.open_dataset(path, engine="ra-pack", decode_cf=False)
    assert found.attrs == {"title": "A run"} and found.t.dtype == np.dtype("f4")
    with pytest.raises(ra_pack.AlreadyExists):
        ds.ra_pack.to_pack(path)
    ds.t.ra_pack.to_pack(path, mode="a", group="run1")
    xr.DataTree.from_dict({"/run2": ds}).ra_pack.to_pack(path, mode="a")
    assert {"run1/t", "run2/n", "n"} <= set(ra_pack.open(path))


def test_verify_verifies_the_pack_that_was_opened(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    dataset().ra_pack.to_pack(path, group="g")
    other = damaged(path, np.arange(3.0).tobytes())
    for one, is_valid in [(path, True), (other, False)]:
        with xr.open_dataset(one, engine="ra-pack", group="g") as ds:
            opened = [ds, ds.t, ds.t.isel(time=0), ds[["n"]]]
            assert [each.ra_pack.verify().valid for each in opened] == [is_valid] * 4
        with xr.open_datatree(one, engine="ra-pack") as tree:
            assert tree.ra_pack.verify().valid == tree["g"].ra_pack.verify().valid == is_valid
        with xr.open_dataset(one, engine="ra-pack", group="g", chunks={}) as ds:
            assert ds.t.ra_pack.verify().valid == is_valid


def test_verify_of_an_object_that_is_not_from_a_pack_is_an_error(tmp_path: Path) -> None:
    ds = dataset()
    for one in [ds, ds.t, xr.DataTree(ds)]:
        with pytest.raises(ValueError, match=r"has no `encoding\[\"source\"\]`"):
            one.ra_pack.verify()
    pytest.importorskip("scipy")
    ds.to_netcdf(tmp_path / "a.nc", engine="scipy")
    with xr.open_dataset(tmp_path / "a.nc", engine="scipy") as found:
        with pytest.raises(ra_pack.NotAPack, match="a.nc"):
            found.ra_pack.verify()


IMPORTS = {
    "xarray first": "import xarray as xr, ra_pack",
    "xarray last, and a file was opened": "import ra_pack, xarray as xr; xr.open_dataset(path, engine='ra-pack')",
    "by name": "import ra_pack.xarray, xarray as xr",
}


@pytest.mark.parametrize("imports", IMPORTS.values(), ids=IMPORTS)
def test_the_accessor_exists_after_the_imports(tmp_path: Path, imports: str) -> None:
    dataset().ra_pack.to_pack(tmp_path / "a.zip")
    program = f"path = 'a.zip'\n{imports}\nfor kind in (xr.Dataset, xr.DataArray, xr.DataTree): kind.ra_pack.to_pack"
    subprocess.run([sys.executable, "-W", "error", "-c", program], check=True, cwd=tmp_path)


def test_the_module_imports_neither_xarray_nor_pandas() -> None:
    program = "from ra_pack import *; import sys; assert not {'xarray', 'pandas', 'zarr'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
