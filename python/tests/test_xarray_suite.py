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
    assert [name for name in FAILING if not hasattr(TestPacks, name)] == []
