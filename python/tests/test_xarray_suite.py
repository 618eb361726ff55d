"""The tests of xarray for backends that store datasets, with `ra_pack.write` and the engine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from typing import Any

import pytest

import ra_pack

xr = pytest.importorskip("xarray")
backends = pytest.importorskip("xarray.tests.test_backends")
# The import of xarray's tests sets this for all tests of this run.
xr.set_options(warn_for_unclosed_files=False)

#: Tests that are known to fail, with the reason.
FAILING = {
    "test_append_with_invalid_dim_raises": "an update that replaces all arrays of a dimension may change its length",
    "test_netcdf_encoding": "a pack has one compression for all arrays, and arrays do not have it as an encoding",
    "test_no_redundant_dimensions": "netCDF4 is to read the file",
    "test_compute_false": "a pack appears when it is complete",
}


@pytest.fixture(params=["s", "ms", "us", "ns"])
def time_unit(request: Any) -> Any:
    return request.param


@pytest.fixture(params=[False, True], ids=["numpy", "dask"])
def use_dask(request: Any) -> Any:
    if request.param:
        pytest.importorskip("dask")
    return request.param


class TestPacks(backends.CFEncodedBase):  # type: ignore[misc]
    engine = "ra-pack"

    @contextlib.contextmanager
    def create_store(self) -> Iterator[Any]:
        pytest.skip("a pack is written at once")
        yield

    def save(self, dataset: Any, path: str, **options: Any) -> None:
        # The tests name their files `.nc`.
        ra_pack.write(path, dataset, container="zip", **options)

    def test_load_async(self) -> None:
        asyncio.run(super().test_load_async())


@pytest.fixture(autouse=True)
def known(request: pytest.FixtureRequest) -> None:
    reason = FAILING.get(request.node.originalname)
    if reason is not None:
        request.node.add_marker(pytest.mark.xfail(reason=reason, strict=True))


def test_the_failing_tests_are_tests_of_xarray() -> None:
    assert [name for name in FAILING if not (hasattr(TestPacks, name) or hasattr(TestTrees, name))] == []


trees = pytest.importorskip("xarray.tests.test_backends_datatree")
fixtures = pytest.importorskip("xarray.tests.conftest")
create_test_datatree, simple_datatree = fixtures.create_test_datatree, fixtures.simple_datatree


class TestTrees(trees.NetCDFIOBase):  # type: ignore[misc]
    engine = "ra-pack"

    @pytest.fixture(autouse=True)
    def written(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def to_netcdf(tree: Any, path: Any = None, engine: str | None = None, **options: Any) -> Any:
            if path is None:
                pytest.skip("a pack is written to a path")
            return ra_pack.write(path, tree, container="zip", **options)

        monkeypatch.setattr(xr.DataTree, "to_netcdf", to_netcdf)
