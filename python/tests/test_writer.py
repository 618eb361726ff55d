"""Writing of packs."""

import gc
import os
import pathlib
import zipfile

import numpy as np
import pytest

import ra_pack

DTYPES = [
    "?", "i1", "<i2", ">i4", "u8", "<f2", ">f4", "<f8", "<c8", ">c16", "S3", "<U2", "V5",
    [("a", "<i4"), ("b", ">f8")], [("p", "u1"), ("q", [("x", "<f4"), ("y", "<f4")])], [("v", "<i2", (3,))],
]  # fmt: skip


def sample(dtype, shape=(2, 3, 4)):
    dtype = np.dtype(dtype)
    bytes_ = np.random.default_rng(5).integers(65, 91, (*shape, dtype.itemsize), np.uint8)
    if dtype.kind == "b":
        return (bytes_[..., 0] % 2).astype(bool)
    if dtype.kind == "U":
        return np.full(shape, "hé", dtype)
    return bytes_.view(dtype)[..., 0]


@pytest.mark.parametrize("layout", ["C", "F", "sliced", "transposed", "row", "column"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_arrays_of_any_type_and_memory_layout_are_written(tmp_path, dtype, layout):
    full = sample(dtype)
    array = {
        "F": np.asfortranarray(full),
        "sliced": full[::-1, ::2],
        "transposed": full.transpose(1, 0, 2),
    }.get(layout, full)
    order = {"row": "C", "column": "F"}.get(layout)
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add("group/x", array, order=order)
    found = ra_pack.open(tmp_path / "pack.zip")["group/x"]
    values = found.read()
    assert values.shape == array.shape and found.order == (order or ("F" if layout == "F" else "C"))
    assert values.dtype == array.dtype.newbyteorder("<")
    assert repr(values.tolist()) == repr(array.tolist())
    assert ra_pack.verify(tmp_path / "pack.zip").valid


def test_bfloat16_is_written(tmp_path):
    types = pytest.importorskip("ml_dtypes")
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add("x", np.array([[1.5, 2.0]], types.bfloat16))
    found = ra_pack.open(tmp_path / "pack.zip")
    assert found["x"].dtype == types.bfloat16 and found["x"].read().tolist() == [[1.5, 2.0]]
    assert found.outline()["groups"][0]["variables"][0]["element"] == "bfloat16"


def test_descriptions_have_dims_attributes_fill_values_and_groups(tmp_path):
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path, attrs={"title": "Mooring", "levels": [1, 2]}) as writer:
        writer.add("time", np.arange(3.0), dims=["time"])
        attrs = {"units": "K", "n": np.int16(3), "r": np.array([0.5, 1.5]), "f": np.float64(2), "s": np.str_("a")}
        writer.add("run/t", np.zeros((3, 2), "f4"), ("time", "depth"), attrs, fill_value=np.float32(-999))
        writer.add("when", np.array(["2020-01-01", "NaT"], "M8[s]"))
        writer.group("run", {"vessel": "Polar"})
        writer.group("", {"more": 1})
        writer.add_file("notes.txt", b"calibrated")
        writer.add_file("copy.txt", _file(tmp_path, b"copied"))
    pack = ra_pack.open(path)
    assert pack.attrs == {"title": "Mooring", "levels": [1, 2], "more": 1}
    assert pack.group_attrs("run") == {"vessel": "Polar"}
    found = pack["run/t"]
    assert found.dims == ("time", "depth") and list(found.coords) == ["time"]
    assert found.attrs == {"units": "K", "n": 3, "r": [0.5, 1.5], "f": 2.0, "s": "a"}
    assert found.fill_value == np.float32(-999) and type(found.fill_value) is np.float32
    assert pack["when"].attrs == {"units": "seconds since 1970-01-01"}
    assert pack["when"].read().tolist() == [1577836800, pack["when"].fill_value]
    assert (pack.read_file("notes.txt"), pack.read_file("copy.txt")) == (b"calibrated", b"copied")
    assert ra_pack.verify(path).valid
    with zipfile.ZipFile(path) as archive:  # any program reads it
        assert "run/t.yaml" in archive.namelist() and archive.testzip() is None


def _file(directory, content):
    path = pathlib.Path(directory, "file")
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("name", ["pack.zip", "pack.tar", "pack.tar.gz", "pack.tar.zst"])
def test_options_select_the_container_and_more(tmp_path, name):
    writer = ra_pack.PackWriter(tmp_path / name, layout="bagit", digests=["sha256", "sha512"], archive_digest=True)
    writer.add("x", np.arange(10))
    report = writer.finish()
    assert writer.finish() is report
    assert (report.layout, report.arrays, report.findings) == ("bagit", 1, [])
    assert report.archive == str(tmp_path / name) and len(report.archive_sha256) == 64
    assert pathlib.Path(report.external_manifest).exists() and (tmp_path / f"{name}.sha256").exists()
    assert ra_pack.open(tmp_path / name)["x"].read().tolist() == list(range(10))


@pytest.mark.parametrize(
    "options",
    [{"compression": "lzma"}, {"compression": "deflate:1"}, {"layout": "odd"}, {"digests": ["crc"]}, {"container": "rar"}],
    ids=str,
)
def test_invalid_options_are_refused(tmp_path, options):
    with pytest.raises(ra_pack.Unsupported):
        ra_pack.PackWriter(tmp_path / "pack.zip", **options)
    assert list(tmp_path.iterdir()) == []


def test_an_archive_is_replaced_only_by_force_and_updated(tmp_path):
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path) as writer:
        writer.add("x", np.arange(3))
        writer.add("y", np.arange(3))
    with pytest.raises(FileExistsError) as raised:
        ra_pack.PackWriter(path)
    assert isinstance(raised.value, ra_pack.AlreadyExists) and raised.value.filename == str(path)
    with ra_pack.PackWriter(path, update=True) as writer:
        writer.add("z", np.arange(4))
        writer.remove("y")
        with pytest.raises(ra_pack.NotFound):
            writer.remove("none")
    assert list(ra_pack.open(path)) == ["x", "z"]
    with ra_pack.PackWriter(path, force=True) as writer:
        writer.add("other", np.arange(4))
    assert list(ra_pack.open(path)) == ["other"]


@pytest.mark.parametrize("end", ["exception", "dropped", "abort"])
def test_a_writer_that_does_not_finish_leaves_nothing(tmp_path, end):
    path = tmp_path / "pack.zip"
    writer = ra_pack.PackWriter(path)
    writer.add("x", np.zeros(1000))
    if end == "exception":
        with pytest.raises(ZeroDivisionError), writer:
            1 / 0
    elif end == "abort":
        writer.abort()
    if end != "dropped":
        with pytest.raises(ValueError, match="ended"):
            writer.add("y", np.zeros(3))
    del writer
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_a_writer_survives_the_end_of_a_forked_child(tmp_path):
    writer = ra_pack.PackWriter(tmp_path / "pack.zip")
    writer.add("x", np.arange(3))
    child = os.fork()
    if child == 0:
        try:
            writer.add("y", np.arange(3))
        except ValueError:
            del writer
            gc.collect()
            os._exit(0)
        os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    writer.finish()
    assert list(ra_pack.open(tmp_path / "pack.zip")) == ["x"]


def test_what_cannot_be_written_is_refused_and_the_writer_remains_usable(tmp_path):
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add("x", np.zeros(3))
        for error, name, array, options in [
            (ra_pack.Unsupported, "o", np.array([{}, 1]), {}),
            (ra_pack.Unsupported, "l", np.zeros(2, "g"), {}),
            (ra_pack.Mismatch, "m", np.ma.masked_array([1, 2], [True, False]), {}),
            (ra_pack.Mismatch, "d", np.zeros((2, 3)), {"dims": ["a"]}),
            (ra_pack.Unsupported, "a", np.zeros(2), {"attrs": {"k": object()}}),
            (ra_pack.Unsupported, "a", np.zeros(2), {"attrs": {"k": {"b": 1}}}),
            (ra_pack.Unsupported, "a", np.zeros(2), {"attrs": {"k": 2**70}}),
            (ra_pack.Refused, "x", np.zeros(2), {}),
            (ra_pack.Mismatch, "../x", np.zeros(2), {}),
            (ra_pack.Error, "manifest-sha256.txt", b"", {}),
        ]:
            with pytest.raises(error):
                writer.add_file(name, array) if isinstance(array, bytes) else writer.add(name, array, **options)
        with pytest.raises(FileNotFoundError):
            writer.add_file("f", tmp_path / "none")
    assert list(ra_pack.open(tmp_path / "pack.zip")) == ["x"]
