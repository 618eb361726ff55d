"""Writing of packs."""

import gc
import os
import pathlib
import signal
import subprocess
import sys
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
    assert found.outline()["groups"][0]["variables"][0]["type"] == "bfloat16"


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
    assert pack["when"].attrs == {"units": "seconds since 1970-01-01", "calendar": "proleptic_gregorian"}
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
    assert report.target == str(tmp_path / name) and len(report.archive_sha256) == 64
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


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "int4", "uint4", "float4_e2m1fn"])
def test_types_of_other_modules_are_refused(tmp_path, name):
    types = pytest.importorskip("ml_dtypes")
    dtype = np.dtype(getattr(types, name))
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        with pytest.raises(ra_pack.Unsupported, match="times of type"):
            writer.add("x", np.zeros(2, [("t", "M8[25us]")]))
        for kind in [dtype, np.dtype([("a", "i4"), ("b", dtype)]), np.dtype([("a", [("b", dtype, (2,))])])]:
            with pytest.raises(ra_pack.Unsupported, match=f"`x`: .*{name}"):
                writer.add("x", np.zeros(2, kind))
            with pytest.raises(ra_pack.Unsupported, match=f"`x`: .*{name}"):
                writer.add_blocks("x", (2,), kind, [np.zeros(2, kind)])
    assert list(ra_pack.open(tmp_path / "pack.zip")) == []


@pytest.mark.parametrize(
    ("dtype", "block"),
    [
        ("i1", [300, -200]), ("u4", [1, -1]), ("i8", np.array([1, 2**63], "u8")), ("u8", np.array([-1, 1], "i8")),
        ("i4", [1.0, 2.5]), ("i4", [1.0, 2.0]), ("f8", [1j, 2]), ("S2", [b"abc", b"a"]), ("U1", ["ab", "c"]),
        ("M8[s]", np.array([1, 1500], "M8[ms]")), ("?", [0, 2]),
    ],
    ids=str,
)  # fmt: skip
def test_blocks_that_do_not_fit_the_type_are_refused(tmp_path, dtype, block):
    with pytest.raises(ra_pack.Mismatch, match="`x`.* elements of type"):
        with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
            writer.add_blocks("x", (2,), dtype, [block])
    assert list(tmp_path.iterdir()) == []


def test_blocks_that_fit_the_type_are_converted(tmp_path):
    cases = {
        "a": ("i1", [-128, 127]), "b": ("u8", [0, 2**63]), "c": ("f4", [0.1, 1e10]), "d": ("f8", [1, 2]),
        "e": ("S3", [b"a", b"abc"]), "f": ("c8", [1.5, 2j]), "g": ("i8", np.array([1, 2], "u8")),
    }  # fmt: skip
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for name, (dtype, block) in cases.items():
            writer.add_blocks(name, (2,), dtype, [block[:1], block[1:]])
    pack = ra_pack.open(tmp_path / "pack.zip")
    for name, (dtype, block) in cases.items():
        np.testing.assert_array_equal(pack[name].read(), np.array(block).astype(dtype), strict=True)


def test_an_exception_of_the_program_ends_its_array_only(tmp_path):
    def blocks():
        yield [1, 2]
        raise RuntimeError("no more data")

    writer = ra_pack.PackWriter(tmp_path / "pack.zip")
    writer.add("a", [1])
    with pytest.raises(RuntimeError, match="no more data"):
        writer.add_blocks("x", (4,), "i4", blocks())
    with pytest.raises(ra_pack.Mismatch, match="expected 4 rows"):
        writer.add_blocks("y", (4,), "i4", [[1, 2]])
    with pytest.raises(ra_pack.Refused):
        writer.add_blocks("a", (2,), "i4", [[1, 2]])
    writer.add("b", [1])
    writer.abort()
    assert list(tmp_path.iterdir()) == []


def test_blocks_of_any_length_are_joined(tmp_path):
    lengths = [1, 0, 300 << 10, (1 << 20) - 7, 1 << 20, 5 << 20, 33 << 20, 3]
    values = np.random.default_rng(1).integers(0, 256, sum(lengths), "u1")
    blocks = np.split(values, np.cumsum(lengths)[:-1])
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add_blocks("x", values.shape, "u1", blocks)
    np.testing.assert_array_equal(ra_pack.open(tmp_path / "pack.zip")["x"].read(), values)


#: Writes blocks until the program raises, and prints the threads that are left and the KiB of memory that it took. The
#: system counts a thread for a moment after it was joined.
FAILING_BLOCKS = """
import pathlib, sys, time
import numpy as np, ra_pack

def status(key):
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(key))

def blocks():
    global most
    for _ in range(300):
        most = max(most, status("VmRSS"))
        yield block
    raise RuntimeError("no more data")

block, most = np.ones(1 << 20, "u1"), 0
threads, before = status("Threads"), status("VmRSS")
writer = ra_pack.PackWriter(sys.argv[1])
try:
    writer.add_blocks("x", (301 << 20,), "u1", blocks())
except RuntimeError as error:
    assert str(error) == "no more data"
    end = time.monotonic() + 10
    while status("Threads") > threads and time.monotonic() < end:
        time.sleep(0.01)
    print(status("Threads") - threads, most - before)
writer.abort()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="counts threads and memory in /proc")
def test_blocks_wait_in_bounded_memory_and_leave_no_thread(tmp_path):
    # In a process of its own, because the threads and the memory of other tests count too.
    command = [sys.executable, "-c", FAILING_BLOCKS, tmp_path / "pack.zip"]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    threads, memory = map(int, done.stdout.split())
    assert threads == 0
    # 16 MiB wait, and some are written.
    assert memory < 64 << 10, f"{memory} KiB"
    assert list(tmp_path.iterdir()) == []


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_values_nested_without_end_are_refused(tmp_path):
    endless = []
    endless.append(endless)
    inside = np.empty(1, object)
    inside[0] = [inside]
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for value in [endless, inside, nested(100), nested(200_000)]:
            calls = [
                lambda: writer.add("a", [1], attrs={"k": value}),
                lambda: writer.add("a", [1], fill_value=value),
                lambda: writer.group("g", {"k": value}),
                lambda: ra_pack.PackWriter(tmp_path / "other.zip", attrs={"k": value}),
                lambda: ra_pack.write(tmp_path / "other.zip", {"a": [1]}, attrs={"k": value}),
            ]
            for call in calls:
                with pytest.raises((ValueError, RecursionError, TypeError)):
                    call()


def test_subclasses_cannot_give_the_address_of_other_memory(tmp_path):
    class Elsewhere(np.ndarray):
        @property
        def __array_interface__(self):
            return {"data": (8, False), "shape": self.shape, "typestr": "<f8", "version": 3}

        nbytes = 8 << 20

    array = np.arange(3.0).view(Elsewhere)
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add("a", array)
        writer.add_blocks("b", (3,), "f8", [array])
        with pytest.raises(TypeError, match="subclass"):
            writer._writer.add("c", array, 24, b"", False, None, None, None)
    pack = ra_pack.open(tmp_path / "pack.zip")
    assert pack["a"].read().tolist() == pack["b"].read().tolist() == [0.0, 1.0, 2.0]


def test_lists_of_numbers_of_numpy_keep_their_value_and_type(tmp_path):
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        writer.add("x", [1], attrs={"a": [np.float32(0.1), np.float32(2)], "b": [np.int8(1)], "c": [np.float32(0.1), 2.0]})
    attrs = ra_pack.open(tmp_path / "pack.zip")["x"].attrs
    np.testing.assert_array_equal(attrs["a"], np.array([0.1, 2], "f4"), strict=True)
    np.testing.assert_array_equal(attrs["b"], np.array([1], "i1"), strict=True)
    assert attrs["c"] == [float(np.float32(0.1)), 2.0]


def test_flags_become_an_enum_only_if_it_has_the_same_meaning(tmp_path):
    values = np.array([0, 1, 1], "u1")
    flags = {"flag_values": np.array([0, 1], "u1"), "flag_meanings": "bad good"}
    cases = {
        "enum": flags,
        "masks": flags | {"flag_masks": np.array([1, 1], "u1")},
        "count": flags | {"flag_meanings": "bad good other"},
        "twice": flags | {"flag_meanings": "bad bad"},
        "blanks": flags | {"flag_meanings": "bad  good"},
        "large": flags | {"flag_values": [0, 300]},
    }
    fills = {"inside": (1, flags), "outside": (9, flags)}
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for name, attrs in cases.items():
            writer.add(name, values, attrs=attrs)
        for name, (fill, attrs) in fills.items():
            writer.add(name, values, attrs=attrs, fill_value=fill)
            cases[name] = attrs
        writer.add_blocks("blocks", (3,), "u1", [values], attrs=flags)
        writer.add("coordinate", values, dims=["coordinate"], attrs=flags)
    pack = ra_pack.open(tmp_path / "pack.zip")
    for name, attrs in (cases | {"blocks": flags, "coordinate": flags}).items():
        found = pack[name]
        assert found.dtype == "u1" and found.read().tolist() == [0, 1, 1]
        assert {key: np.asarray(value).tolist() for key, value in found.attrs.items()} == {
            key: np.asarray(value).tolist() for key, value in attrs.items()
        }
        text = pack.read_file(f"{name}.yaml").decode()
        assert ("enum" in text) == (name in ["enum", "blocks", "inside"]), text
    assert ra_pack.verify(tmp_path / "pack.zip").valid


@pytest.mark.parametrize("container", ["zip", "tar", "tar.gz"])
def test_an_array_that_grows_has_the_bytes_of_one_written_at_once(tmp_path, container):
    archives = [tmp_path / f"{name}.{container}" for name in ("grown", "blocks", "whole")]
    shapes = {"short": (3, 4), "long": (300, 50), "images": (6, 40, 30), "line": (20_000,), "none": (0, 4), "time": (9,)}
    arrays = {name: sample("<f4", shape) for name, shape in shapes.items()}
    for archive in archives:
        with ra_pack.PackWriter(archive) as writer:
            for name, array in arrays.items():
                dims = [name] if name == "time" else [f"{name}{nth}" for nth in range(array.ndim)]
                given = {"dims": dims, "attrs": {"units": "K"}, "fill_value": 5.0}
                grows = (None, *array.shape[1:])
                if archive == archives[0]:
                    with writer.array_stream(name, grows, "f4", **given) as stream:
                        for row in array[:2]:
                            stream.append(row)
                        stream.append(array[2:])
                        assert stream.shape == array.shape
                elif archive == archives[1]:
                    writer.add_blocks(name, grows, "f4", iter([array[:7], array[7:]]), **given)
                else:
                    writer.add_blocks(name, array.shape, "f4", [array], **given)
    assert len({archive.read_bytes() for archive in archives}) == 1
    assert ra_pack.verify(archives[0]).valid
    with ra_pack.open(archives[0]) as pack:
        for name, array in arrays.items():
            np.testing.assert_array_equal(pack[name].read(), array)


def test_an_array_that_grows_is_checked_when_it_ends(tmp_path):
    with ra_pack.PackWriter(tmp_path / "a.zip") as writer:
        writer.add("time", np.arange(3), dims=["time"])
        with pytest.raises(ra_pack.Mismatch, match=r"expected length 3 for the dimension `time`, .* found 2"):
            with writer.array_stream("x", (None, 2), "f4", dims=["time", "y"]) as stream:
                stream.append(np.zeros((2, 2)))
        with writer.array_stream("x", (None, 2), "f4", dims=["time", "y"]) as stream:
            stream.append(np.zeros((2, 2)))
            with pytest.raises(ra_pack.Mismatch, match=r"`x`: the blocks do not fit the shape \(None, 2\), found \(3,\)"):
                stream.append(np.zeros(3))
            with pytest.raises(ValueError, match="an array that grows is not finished"):
                writer.add("y", np.zeros(2))
            stream.append([1, 2])
            assert repr(stream) == "<ra_pack.ArrayStream `x` (3, 2)>"
        with pytest.raises(ValueError, match="the array `x` is finished"):
            stream.append([1, 2])
        with pytest.raises(ra_pack.Mismatch, match="cannot grow"):
            writer.array_stream("y", (None, 0), "f4").finish()
        with pytest.raises(RuntimeError, match="no more data"), writer.array_stream("y", (None, 2), "f4") as stream:
            stream.append([1, 2])
            raise RuntimeError("no more data")
        writer.remove("y")
    assert ra_pack.open(tmp_path / "a.zip")["x"].read().tolist() == [[0, 0], [0, 0], [1, 2]]
    assert ra_pack.verify(tmp_path / "a.zip").valid


LOGGER = """
import os, signal, sys
import numpy as np
import ra_pack

writer = ra_pack.PackWriter(sys.argv[1], journal={journal})
for nth in range(7):
    writer.add(f"run/{{nth}}", np.full((nth + 1, 3), nth), dims=["time", "x"] if nth == 3 else None)
    if nth == 3 and {journal} is True:
        writer.sync()
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGKILL")
@pytest.mark.parametrize(("journal", "kept"), [("True", 4), ("4", 6), ("2", 7), ("False", 0)])
def test_what_was_synced_is_salvaged_after_a_kill(tmp_path, journal, kept):
    archive = tmp_path / "a.zip"
    command = [sys.executable, "-c", LOGGER.format(journal=journal), archive]
    assert subprocess.run(command).returncode == -signal.SIGKILL
    assert not archive.exists()
    unfinished = archive.with_name("a.zip.unfinished")
    assert unfinished.exists() == (journal != "False")
    if not kept:
        return
    with pytest.raises(ra_pack.WrongTarget, match="ra-pack salvage"):
        ra_pack.PackWriter(archive, journal=True).add("x", np.zeros(3))
    subprocess.run([sys.executable, "-m", "ra_pack", "salvage", unfinished, "-o", archive], capture_output=True)
    assert ra_pack.verify(archive).valid
    pack = ra_pack.open(archive)
    assert sorted(pack) == [f"run/{nth}" for nth in range(kept)]
    for nth in range(kept):
        assert pack[f"run/{nth}"].read().tolist() == np.full((nth + 1, 3), nth).tolist()


def test_a_finished_archive_has_no_journal(tmp_path):
    with ra_pack.PackWriter(tmp_path / "a.zip", journal=1) as writer:
        writer.add("x", np.zeros(3))
        writer.sync()
    assert ra_pack.verify(tmp_path / "a.zip").valid
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.zip", "a.zip.manifest-sha256.txt"]
    with pytest.raises(ra_pack.InvalidOption, match="journal"):
        ra_pack.PackWriter(tmp_path / "b.zip", journal=True, compression="deflate")
