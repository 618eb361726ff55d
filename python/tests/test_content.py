"""Content digests are those of the specification, wherever an array comes from."""

from __future__ import annotations

import hashlib
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from ra_pack import _content

KINDS = {"i": 1, "u": 2, "b": 2, "f": 3, "c": 4}


def digest(array: Any) -> str:
    """Return the digest of an array of numbers as `docs/spec/rawarray.md` computes it."""
    a, kind = np.asarray(array), KINDS.get(array.dtype.kind, 0)
    fields = (0, kind, a.itemsize, a.nbytes, a.ndim, *reversed(a.shape))
    header = b"rawarray" + struct.pack(f"<{len(fields)}Q", *fields)
    return hashlib.sha256(header + a.astype(a.dtype.newbyteorder("<")).tobytes()).hexdigest()


numbers = np.random.default_rng(1)
ARRAYS = {
    "bool": np.array([[True, False, True], [False, True, True]]),
    "bytes": np.array([b"ab", b"cde"]),
    "complex": np.array([1 + 2j, -0.5j], "c8"),
    "cube": numbers.standard_normal((2, 3, 4)),
    "empty": np.zeros((0, 3), "i4"),
    "half": np.array([0.5, np.inf], "f2"),
    "long": numbers.integers(0, 9, (2**13, 5, 7)),
    "pair": np.array([(1, 0.5), (2, np.nan)], [("a", "i2"), ("b", "f8")]),
    "scalar": np.array(2.5, "f4"),
    "wide": numbers.integers(0, 2**63, (1, 5), "u8"),
}


@pytest.fixture(autouse=True)
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_content, "HASHED_AT_ONCE", 1 << 16)


@pytest.mark.parametrize("name", ARRAYS)
def test_an_array_of_numpy_has_the_digest_of_the_specification(name: str) -> None:
    array = ARRAYS[name]
    expected = digest(array)
    assert ra_pack.content_digest(array) == expected
    assert ra_pack.content_digest(np.asarray(array, order="F")) == expected
    assert ra_pack.content_digest(array.astype(array.dtype.newbyteorder(">"))) == expected
    if array.ndim:
        assert ra_pack.content_digest(np.repeat(array, 2, axis=-1)[..., ::2]) == expected


def test_an_array_of_a_pack_has_the_digest_of_its_source(tmp_path: Path) -> None:
    for order in "CF":
        path = tmp_path / f"{order}.zip"
        arrays = {name: np.asarray(array, order=order) for name, array in ARRAYS.items()}
        ra_pack.write(path, arrays)
        pack = ra_pack.open(path)
        for name, array in ARRAYS.items():
            assert pack[name].content_digest() == ra_pack.content_digest(pack[name]) == digest(array), name
            assert pack[name].verified is None or pack[name].verified


def test_a_damaged_array_has_no_digest(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    ra_pack.write(path, {"a": np.arange(8, dtype="u1") + 77})
    content = path.read_bytes()
    path.write_bytes(content.replace(bytes(range(77, 85)), bytes(range(76, 84))))
    with pytest.raises(ra_pack.Damaged):
        ra_pack.open(path)["a"].content_digest()


def test_variables_of_other_libraries_have_the_same_digest(tmp_path: Path) -> None:
    xr, h5py, zarr = map(pytest.importorskip, ["xarray", "h5py", "zarr"])
    dask = pytest.importorskip("dask.array")
    for array in [ARRAYS["cube"], ARRAYS["long"], ARRAYS["empty"], ARRAYS["scalar"]]:
        dims = ["x", "y", "z"][: array.ndim]
        with h5py.File(tmp_path / "a.h5", "w") as file:
            stored = zarr.create_array(zarr.storage.MemoryStore(), data=array, chunks=(2,) * array.ndim or "auto")
            sources = [xr.DataArray(array, dims=dims), xr.Variable(dims, array), dask.from_array(array, chunks=2000)]
            sources += [file.create_dataset("a", data=array), stored]
            for source in sources:
                assert ra_pack.content_digest(source) == digest(array), type(source)
        ra_pack.write(tmp_path / "x.zip", xr.Dataset({"a": (dims, array)}), force=True)
        with xr.open_dataset(tmp_path / "x.zip", engine="ra-pack") as data:
            assert ra_pack.content_digest(data["a"]) == ra_pack.content_digest(data["a"].variable) == digest(array)


def test_other_types_have_a_digest_or_are_refused() -> None:
    times = np.array(["2024-06-03", "2024-06-04"], "M8[s]")
    assert ra_pack.content_digest(times) == digest(times.view("i8"))
    assert ra_pack.content_digest([1, 2]) == digest(np.array([1, 2]))
    ml_dtypes = pytest.importorskip("ml_dtypes")
    half = hashlib.sha256(b"rawarray" + struct.pack("<6Q2H", 0, 5, 2, 4, 1, 2, 0x3F80, 0xC000)).hexdigest()
    assert ra_pack.content_digest(np.array([1, -2], ml_dtypes.bfloat16)) == half
    for refused in [np.array(["a", None], object), np.zeros(2, np.longdouble)]:
        with pytest.raises(ra_pack.Unsupported, match="no content digest"):
            ra_pack.content_digest(refused)
