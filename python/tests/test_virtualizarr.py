"""Packs as virtual datasets of VirtualiZarr."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT

virtualizarr = pytest.importorskip("virtualizarr", minversion="2.5")
obstore = pytest.importorskip("obstore")
registry = pytest.importorskip("obspec_utils.registry")
xr = pytest.importorskip("xarray")

# zarr warns of text, whose type may change in Zarr 3.
pytestmark = pytest.mark.filterwarnings("ignore:The data type .* does not have a Zarr V3 specification")


def opened(path: Path, group: str | None = None, **options: Any) -> Any:
    """Open a group through the chunks that the parser refers to."""
    stores = registry.ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    store = ra_pack.RaPackParser(group, **options)(path.as_uri(), stores)
    return xr.open_zarr(store, consolidated=False, zarr_format=3, chunks=None)


def same(found: Any, expected: Any) -> bool:
    values = found.transpose(*expected.dims).values
    kind = "datetime" if expected.dtype.kind == "M" else "number"
    return np.array_equal(values, expected.values, equal_nan=kind == "number" and expected.dtype.kind in "fc")


def test_groups_have_their_values_fills_and_inherited_coordinates(tmp_path: Path) -> None:
    path = tmp_path / "exp.zip"
    ra_pack.create(EXPERIMENT, path)
    for group in [None, "thermistors", "/currents/"]:
        found = opened(path, group)
        expected = xr.open_dataset(path, engine="ra-pack", group=group)
        assert set(found.variables) == set(expected.variables)
        for name in set(expected.variables) - {"velocity"}:
            assert same(found[name], expected[name]), name
            assert found[name].attrs["long_name"] == expected[name].attrs["long_name"]
    assert opened(path, "thermistors").temperature.mean().item() == pytest.approx(11.81, abs=0.01)
    assert found.attrs == expected.attrs


def test_virtual_datasets_can_be_opened(tmp_path: Path) -> None:
    path = tmp_path / "exp.tar"
    ra_pack.create(EXPERIMENT, path)
    stores = registry.ObjectStoreRegistry({"file://": obstore.store.LocalStore()})
    found = virtualizarr.open_virtual_dataset(path.as_uri(), stores, ra_pack.RaPackParser("thermistors"))
    assert set(found.coords) == {"time", "depth"} and found.sizes == {"time": 149, "depth": 10}
    assert type(found.temperature.data).__name__ == "ManifestArray"


def test_types_are_read_or_refused_by_name(tmp_path: Path) -> None:
    arrays: dict[str, Any] = {
        "scalar": np.float64(3),
        "text": np.array([b"a", b"bc"]),
        "large": np.arange(3_000_000, dtype="i8"),
        "record": np.array([(1, 2.0)], [("n", "i4"), ("x", "f8")]),
    }
    path = tmp_path / "a.zip"
    ra_pack.write(path, {f"run1/sub/{name}": one for name, one in arrays.items()})
    with pytest.raises(ra_pack.Unsupported, match="`run1/sub/record` is a structure"):
        opened(path, "run1/sub")
    for options in [{"skip": True}, {"skip_variables": ["record"]}]:
        found = opened(path, "run1/sub", **options)
        assert set(found.variables) == {"scalar", "text", "large"}
        for name, one in found.variables.items():
            assert np.array_equal(one.values, arrays[name]), name
    with pytest.raises(KeyError, match="no group `run2`"):
        opened(path, "run2")


def test_an_array_hides_a_coordinate_of_the_same_name_above(tmp_path: Path) -> None:
    ra_pack.write(tmp_path / "a.zip", xr.Dataset(coords={"x": [1.0, 2.0]}))
    ra_pack.write(tmp_path / "a.zip", xr.Dataset({"v": ("x", [3, 4])}), mode="a", group="a")
    ra_pack.write(tmp_path / "a.zip", xr.Dataset(coords={"x": [5.0, 6.0]}), mode="a", group="b")
    assert opened(tmp_path / "a.zip", "a").x.values.tolist() == [1.0, 2.0]
    assert opened(tmp_path / "a.zip", "b").x.values.tolist() == [5.0, 6.0]


def test_the_program_of_the_page_serves_a_pack(tmp_path: Path) -> None:
    pytest.importorskip("icechunk")
    ra_pack.create(EXPERIMENT, tmp_path / "mooring.zip")
    page = (Path(__file__).parents[2] / "docs" / "zarr.md").read_text()
    program = page.partition("# serve_cube.py\n")[2].partition("```")[0]
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with xr.open_dataset(tmp_path / "mooring.zip", engine="ra-pack", group="thermistors") as data:
        # Icechunk may print a warning before.
        assert float(done.stdout.splitlines()[-1]) == pytest.approx(data.temperature.sel(depth=10).mean().item())
