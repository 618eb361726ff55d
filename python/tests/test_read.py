"""Reading of arrays."""

import multiprocessing
import pickle
import struct
import threading

import numpy as np
import pytest

import ra_pack
import rawarray
from files import EXPERIMENT

NUMBERS = ["i1", "u1", "<i2", ">i2", "<u4", ">u4", "<i8", ">u8", "<f2", "<f4", ">f4", "<f8", ">f8", "<c8", ">c16"]
CONTAINERS = ["zip", "tar", "tar.gz", "tar.zst", "deflate", "zstd", "bagit", "directory"]


def sample(dtype, shape=(3, 4, 5)):
    numbers = np.random.default_rng(7).integers(0, 100, shape)
    return np.asarray(numbers + 1j * numbers if np.dtype(dtype).kind == "c" else numbers).astype(dtype)


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    directory = tmp_path_factory.mktemp("source")
    for dtype in NUMBERS:
        for order in "CF":
            rawarray.write(directory, f"{order}/{name_of(dtype)}", sample(dtype), order)
    return directory


def name_of(dtype):
    return dtype.replace(">", "big").replace("<", "")


@pytest.fixture(scope="module", params=CONTAINERS)
def packed(request, source, tmp_path_factory):
    if request.param == "directory":
        return source
    target = tmp_path_factory.mktemp("packed")
    kinds = {"deflate": {"compression": "deflate"}, "zstd": {"compression": "zstd:1"}, "bagit": {"layout": "bagit"}}
    options = kinds.get(request.param, {})
    path = target / f"pack.{'zip' if options else request.param}"
    ra_pack.create(source, path, **options)
    return path


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", NUMBERS)
def test_every_type_in_every_order_and_container_is_read(packed, dtype, order):
    array = ra_pack.open(packed)[f"{order}/{name_of(dtype)}"]
    expected = sample(dtype)
    found = array.read()
    np.testing.assert_array_equal(found, expected, strict=True)
    assert (array.shape, array.dtype, array.order) == (expected.shape, np.dtype(dtype), order)
    assert (array.ndim, array.size, array.nbytes) == (3, expected.size, expected.nbytes)
    assert found.flags.owndata and found.flags.writeable
    assert found.flags.f_contiguous == (order == "F") and found.flags.c_contiguous == (order == "C")
    np.testing.assert_array_equal(array[1:, ..., ::2], expected[1:, ..., ::2], strict=True)
    np.testing.assert_array_equal(array[2, ::-1, 0], expected[2, ::-1, 0], strict=True)


TIMES = ["D", "h", "m", "s", "ms", "us", "ns"]


@pytest.mark.parametrize("kind", "mM")
@pytest.mark.parametrize("unit", TIMES)
def test_times_that_were_written_are_read(tmp_path, kind, unit):
    rng = np.random.default_rng(5)
    times = rng.integers(-1000, 10**9 if unit in TIMES[3:] else 10**5, 50).astype(f"{kind}8[{unit}]")
    times[7] = "NaT"
    ra_pack.write(tmp_path / "t.zip", {"t": times})
    array = ra_pack.open(tmp_path / "t.zip")["t"]
    np.testing.assert_array_equal(array.read(decode=True), times)
    assert array.read(decode=True).dtype == times.dtype
    assert array.decode(array[3]) == times[3] and np.isnat(array.decode(array[7]))


@pytest.mark.parametrize("text", [np.array(["Malmö", "", "日本"]), np.array("one"), np.array([["a"], ["bcd"]])])
def test_text_that_was_written_is_read(tmp_path, text):
    ra_pack.write(tmp_path / "t.zip", {"t": text})
    with ra_pack.PackWriter(tmp_path / "u.zip") as writer:
        writer.add("t", text)
    for name in ("t.zip", "u.zip"):
        read = ra_pack.open(tmp_path / name)["t"].read(decode=True)
        np.testing.assert_array_equal(read, text)
        assert np.asarray(read).dtype.kind == "U"


WORDS = ["days", "hours", "minutes", "seconds", "milliseconds", "microseconds", "us", "Days", "hr", "day"]


@pytest.mark.filterwarnings("ignore:Can't decode floating point datetimes")
@pytest.mark.parametrize("word", WORDS)
@pytest.mark.parametrize("dtype", ["i2", "i8", "f4", "f8", "u4"])
@pytest.mark.parametrize("since", ["2024-06-03", "1999-12-31T23:30:00", "1700-01-01T06:00:00", "1970-01-01 00:00:00 +02:00"])
def test_dates_are_those_of_xarray(tmp_path, word, dtype, since):
    xr = pytest.importorskip("xarray")
    numbers = (np.random.default_rng(len(since)).random(20) * 1000 - (0 if dtype == "u4" else 300)).astype(dtype)
    attrs = {"units": f"{word} since {since}"}
    with ra_pack.PackWriter(tmp_path / "t.zip") as writer:
        writer.add("t", numbers, attrs=attrs | {"_FillValue": numbers[5]})
        writer.add("packed", numbers, attrs=attrs | {"scale_factor": 0.5, "add_offset": -8.0})
    pack = ra_pack.open(tmp_path / "t.zip")
    found = pack["t"].read(decode=True)
    # xarray does not know these words.
    known = {"hr": "hours", "us": "microseconds"}.get(word, word)
    attrs["units"] = f"{known} since {since}"
    coder = xr.coders.CFDatetimeCoder(time_unit="us")
    expected = coder.decode(xr.Variable("x", numbers, attrs)).values
    expected[numbers == numbers[5]] = "NaT"
    assert (np.isnat(found) == np.isnat(expected)).all()
    kept = ~np.isnat(expected)
    # Float32 seconds have few digits, which each library rounds at another step.
    assert np.abs((found - expected)[kept]).max() <= np.timedelta64(1, "us")
    expected = coder.decode(xr.Variable("x", numbers * 0.5 - 8.0, attrs)).values
    assert np.abs(pack["packed"].read(decode=True) - expected).max() <= np.timedelta64(1, "us")


def test_times_that_numpy_does_not_have_are_refused(tmp_path):
    with ra_pack.PackWriter(tmp_path / "t.zip") as writer:
        units = "days since 2000-01-01"
        writer.add("noleap", [1, 2], attrs={"units": units, "calendar": "noleap"})
        writer.add("julian", [-10**6, 2], attrs={"units": units})
        writer.add("far", [1e300, 2], attrs={"units": units, "calendar": "proleptic_gregorian"})
        writer.add("metres", [1.5], attrs={"units": "m"})
        writer.add("short", [1], attrs={"units": "s"})
    pack = ra_pack.open(tmp_path / "t.zip")
    for name in ("noleap", "julian", "far"):
        with pytest.raises(ra_pack.Unsupported, match=name):
            pack[name].read(decode=True)
    assert pack["metres"].read(decode=True)[0] == 1.5
    assert pack["short"].read(decode=True)[0] == 1


def test_bytes_that_are_not_text_are_refused(tmp_path):
    with ra_pack.PackWriter(tmp_path / "t.zip") as writer:
        writer.add("t", np.array([b"\xff\xfe"]))
    with pytest.raises(ra_pack.Mismatch, match="`t` has bytes that are not text"):
        ra_pack.open(tmp_path / "t.zip")["t"].read(decode=True)


@pytest.mark.parametrize("order", "CF")
@pytest.mark.parametrize("dtype", NUMBERS)
def test_views_have_the_elements_without_reading_them(source, tmp_path, dtype, order):
    path = tmp_path / "pack.zip"
    ra_pack.create(source, path)
    pack = ra_pack.open(path)
    view = pack[f"{order}/{name_of(dtype)}"].view()
    np.testing.assert_array_equal(view, sample(dtype), strict=True)
    assert not view.flags.writeable and not view.flags.owndata
    pack.close()
    np.testing.assert_array_equal(view, sample(dtype), strict=True)
    with pytest.raises(ValueError):
        view.flags.writeable = True


def test_views_of_arrays_that_are_not_stored_are_refused(source, tmp_path):
    path = tmp_path / "pack.zip"
    ra_pack.create(source, path, compression="deflate")
    with pytest.raises(ra_pack.Unsupported, match="compressed"):
        ra_pack.open(path)["C/f4"].view()
    with pytest.raises(ra_pack.Unsupported, match="directory"):
        ra_pack.open(source)["C/f4"].view()


def test_elements_that_are_not_numbers_are_read(tmp_path):
    truth = np.array([True, False, True])
    rawarray.write(tmp_path, "truth", truth, dtype="{enum: {base: uint8, members: {false: 0, true: 1}}}")
    rawarray.write(tmp_path, "julia", truth, dtype="uint8", kind=5)
    rows = np.array([(1, 2.5, b"ab"), (3, 4.5, b"c")], [("n", "<i4"), ("x", "<f8"), ("t", "S2")])
    compound = "{compound: [{n: int32}, {x: float64}, {t: {opaque: {size: 2, tag: text}}}]}"
    rawarray.write(tmp_path, "rows", rows, dtype=compound)
    pack = ra_pack.open(tmp_path)
    for name, expected in [("truth", truth), ("julia", truth), ("rows", rows)]:
        np.testing.assert_array_equal(pack[name].read(verify=False), expected, strict=True)
    assert pack["rows"][1]["x"] == 4.5
    assert pack["truth"][0] is np.True_


def test_bfloat16_is_read_with_ml_dtypes(tmp_path, monkeypatch):
    types = pytest.importorskip("ml_dtypes")
    expected = np.array([1.5, -2, 3], types.bfloat16)
    rawarray.write(tmp_path, "x", expected, dtype="bfloat16", kind=5)
    found = ra_pack.open(tmp_path)["x"]
    assert found.dtype == types.bfloat16
    assert found.read(verify=False).tolist() == [1.5, -2, 3]
    monkeypatch.setitem(__import__("sys").modules, "ml_dtypes", None)
    with pytest.raises(ra_pack.Unsupported, match="ml_dtypes"):
        ra_pack.open(tmp_path)["x"].dtype


def test_types_without_a_dtype_are_refused(tmp_path):
    rawarray.write(tmp_path, "wide", np.zeros(2, "V16"), dtype="int128", kind=1)
    with pytest.raises(ra_pack.Unsupported, match="int128"):
        ra_pack.open(tmp_path)["wide"].read(verify=False)


def test_encoded_elements_are_decoded(tmp_path):
    # A block of LZ4: a token for six literals, then the literals.
    block = bytes([0x60, 1, 2, 3, 4, 5, 6])
    header = struct.pack("<8s7Q", b"rawarray", 2, 2, 1, len(block), 2, 2, 3)
    (tmp_path / "x.ra").write_bytes(header + block)
    found = ra_pack.open(tmp_path)["x"]
    expected = np.array([[1, 3, 5], [2, 4, 6]], "u1")
    np.testing.assert_array_equal(found.read(), expected, strict=True)
    np.testing.assert_array_equal(found[::-1, 1:], expected[::-1, 1:], strict=True)


def test_names_dims_coordinates_and_attributes_are_those_of_the_descriptions(tmp_path):
    extra = (
        "    attributes: {units: K, count: 3, range: {shape: [2], type: float64, value: [0.5, 9.5]}}\n"
        "dimcoords: {time: {size: 2, type: int32, value: [10, 20]}}\n"
    )
    rawarray.write(tmp_path, "run1/t", sample("<f4", (2, 3)), "C", dims=["time", "depth"], extra=extra)
    (tmp_path / "run1/depth.ra").write_bytes(rawarray.bytes_of(np.array([1.0, 2.0, 4.0])))
    (tmp_path / "run1/depth.yaml").write_text("dimcoords:\n  depth: {size: 3, type: float64, attributes: {units: m}}\n")
    (tmp_path / "manifest.yaml").write_text(
        "/:\n  attributes: {title: Mooring}\n/run1:\n  attributes: {vessel: Polar}\n"
    )
    pack = ra_pack.open(tmp_path)
    assert pack.attrs == {"title": "Mooring"}
    assert (pack.groups, pack.group_attrs("run1"), pack.group_attrs("/run1/")) == (["run1"], *[{"vessel": "Polar"}] * 2)
    array = pack["run1/t.ra"]
    assert (array.name, array.dims) == ("run1/t", ("time", "depth"))
    assert array.attrs == {"units": "K", "count": 3, "range": [0.5, 9.5]}
    assert set(array.coords) == {"depth", "time"}
    np.testing.assert_array_equal(array.coords["time"], np.array([10, 20], "i4"), strict=True)
    assert array.coords["depth"].name == "run1/depth" and array.coords["depth"].attrs == {"units": "m"}
    text = repr(array)
    assert "'run1/t' (time: 2, depth: 3)> float32, 24B" in text and "units:" in text and "depth" in text
    outline = pack.outline("run1")
    (group,) = outline["groups"]
    assert outline["attrs"] == {"title": "Mooring"} and group["attrs"] == {"vessel": "Polar"}
    assert [one["name"] for one in group["coordinates"]] == ["depth", "time"]
    assert group["coordinates"][1]["values"].tolist() == [10, 20]
    (variable,) = group["variables"]
    assert (variable["array"], variable["shape"], variable["order"]) == ("run1/t", (2, 3), "C")


def test_arrays_whose_descriptions_differ_only_in_the_name_are_apart(tmp_path):
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for nth in range(600):
            writer.add(f"g/a{nth}", np.full(3, nth, "u2"), attrs={"units": "m" if nth % 3 else "K", "run": nth // 2})
    pack = ra_pack.open(tmp_path / "pack.zip")
    for nth in [*range(600), 0, 1, 599]:
        array = pack[f"g/a{nth}"]
        assert array.attrs == {"units": "m" if nth % 3 else "K", "run": nth // 2}
        with pytest.raises(TypeError):
            array.attrs["units"] = "changed"
        np.testing.assert_array_equal(array.read(), np.full(3, nth, "u2"), strict=True)


def test_a_long_array_is_checked_while_it_is_read(tmp_path):
    values = np.arange(3 << 20, dtype="f4").reshape(3, -1)
    ra_pack.write(tmp_path / "pack.zip", {"a": values, "b": values[:2]})
    np.testing.assert_array_equal(ra_pack.open(tmp_path / "pack.zip")["a"].read(), values, strict=True)
    content = (tmp_path / "pack.zip").read_bytes()
    for place, code in [(20, "ARC006"), (values.nbytes - 1, "ARC006")]:
        damaged = bytearray(content)
        damaged[content.index(values.tobytes()) + place] ^= 1
        (tmp_path / "damaged.zip").write_bytes(damaged)
        with pytest.raises(ra_pack.Damaged) as error:
            ra_pack.open(tmp_path / "damaged.zip")["a"].read()
        assert [finding.code for finding in error.value.findings] == [code]
        assert ra_pack.open(tmp_path / "damaged.zip")["b"].read().shape == (2, 1 << 20)


def test_coordinates_in_the_description_of_the_pack_are_those_of_the_nearest_group(tmp_path):
    source = tmp_path / "source"
    rawarray.write(source, "run1/heat", sample("<f4", (2, 3)), dims=["run", "depth"])
    rawarray.write(source, "heat", sample("<f4", (2, 4)), dims=["run", "span"])
    depth = "    depth: {size: 3, type: float32, value: [1.5, 2.5, 4.5], attributes: {units: m}}\n"
    (source / "manifest.yaml").write_text(
        "/:\n  dimcoords:\n    run: {size: 2, type: int16, value: [3, 4]}\n    span: {size: 4, type: int8}\n"
        "/run1:\n  dimcoords:\n    run: {size: 2, type: int16, value: [7, 8]}\n" + depth
    )
    ra_pack.create(source, tmp_path / "pack.zip")
    with ra_pack.PackWriter(tmp_path / "rewritten.zip") as writer:  # the description that this program writes
        writer.add("time", np.arange(2.0), dims=["time"])
        writer.add("a", np.zeros((2, 3)), dims=["time", "x"])
    for path in [source, tmp_path / "pack.zip"]:
        pack = ra_pack.open(path)
        coords = pack["run1/heat"].coords
        assert list(coords) == ["run", "depth"]
        np.testing.assert_array_equal(coords["run"], np.array([7, 8], "i2"), strict=True)
        np.testing.assert_array_equal(coords["depth"], np.array([1.5, 2.5, 4.5], "f4"), strict=True)
        # This description gives a length, and no values.
        assert list(pack["heat"].coords) == ["run"] and pack["heat"].dims == ("run", "span")
        np.testing.assert_array_equal(pack["heat"].coords["run"], np.array([3, 4], "i2"), strict=True)
    array = ra_pack.open(tmp_path / "rewritten.zip")["a"]
    assert array.dims == ("time", "x") and array.coords["time"].name == "time" and len(array.coords) == 1


def test_a_pack_is_a_mapping(source):
    pack = ra_pack.open(source)
    names = [f"{order}/{name_of(dtype)}" for order in "CF" for dtype in NUMBERS]
    assert sorted(pack) == sorted(names) == sorted(pack.keys()) and len(pack) == len(names)
    assert "C/f4" in pack and "C/f4.ra" in pack and "f4" not in pack and 3 not in pack and "C" in pack
    assert [array.name for array in pack.values()] == list(pack)
    assert [name for name, array in pack.items() if array.name == name] == list(pack)
    assert pack.get("C/f4").name == "C/f4" and pack.get("none") is None and pack.get("none", 3) == 3
    with pytest.raises(KeyError, match="did you mean `C/f4`"):
        pack["C/f44"]
    with ra_pack.open(source) as closed:
        array = closed["C/f4"]
    for use in [closed.keys, closed.outline, array.read, lambda: closed["C/f4"]]:
        with pytest.raises(ValueError, match="closed"):
            use()


def test_files_are_read_and_checked(tmp_path):
    (tmp_path / "source").mkdir()
    (tmp_path / "source/notes.txt").write_bytes(b"calibrated")
    path = tmp_path / "pack.zip"
    ra_pack.create(tmp_path / "source", path)
    assert ra_pack.open(path).read_file("notes.txt") == b"calibrated"
    with pytest.raises(ra_pack.NotFound):
        ra_pack.open(path).read_file("note.txt")
    path.write_bytes(path.read_bytes().replace(b"calibrated", b"Calibrated"))
    with pytest.raises(ra_pack.Damaged) as raised:
        ra_pack.open(path).read_file("notes.txt")
    assert raised.value.findings[0].member == "notes.txt"


def test_damage_is_found_unless_the_check_is_off(tmp_path):
    array = sample("<f8")
    rawarray.write(tmp_path / "source", "x", array)
    path = tmp_path / "pack.tar"
    ra_pack.create(tmp_path / "source", path)
    content = path.read_bytes()
    at = content.index(array.tobytes("F"))
    path.write_bytes(content[:at] + bytes([content[at] ^ 1]) + content[at + 1 :])
    found = ra_pack.open(path)["x"]
    whole = [lambda: found[:], lambda: found[...], lambda: found[None, ::-1], lambda: found[:, 0 : array.shape[1]]]
    for read in [found.read, found.verify, lambda: np.asarray(found), lambda: list(found), *whole]:
        with pytest.raises(ra_pack.Damaged) as raised:
            read()
        assert raised.value.findings and raised.value.findings[0].severity == "error"
    assert found.read(verify=False).shape == array.shape
    assert found[0].shape == array.shape[1:]


def test_arrays_convert_as_numpy_requires(source):
    path = source.parent / "convert.zip"
    ra_pack.create(source, path, force=True)
    array = ra_pack.open(path)["C/f4"]
    assert np.asarray(array).dtype == "f4" and np.asarray(array, "f8").dtype == "f8"
    np.testing.assert_array_equal(np.add(array, 1), sample("f4") + 1)
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0":
        with pytest.raises(ValueError, match="copy"):
            np.asarray(array, copy=False)
    assert len(array) == 3 and [row.shape for row in array] == [(4, 5)] * 3


def test_packs_and_arrays_are_pickled_by_path(packed, monkeypatch, tmp_path):
    pack = ra_pack.open(packed)
    monkeypatch.chdir(tmp_path)
    other = pickle.loads(pickle.dumps(pack))
    assert list(other) == list(pack)
    array = pickle.loads(pickle.dumps(pack["F/f8"]))
    np.testing.assert_array_equal(array.read(verify=False), sample("f8"))


def test_threads_share_a_pack(packed):
    pack, failures = ra_pack.open(packed), []

    def work(dtype):
        try:
            for order in "CF" * 3:
                found = pack[f"{order}/{name_of(dtype)}"].read(verify=False)
                np.testing.assert_array_equal(found, sample(dtype), strict=True)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=[dtype]) for dtype in NUMBERS]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def in_child(array, queue):
    queue.put(array.read(verify=False).sum())


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_pack_is_used_after_a_fork(packed):
    array = ra_pack.open(packed)["C/i8"]
    array.read(verify=False)
    context = multiprocessing.get_context("fork")
    queue = context.SimpleQueue()
    children = [context.Process(target=in_child, args=[array, queue]) for _ in range(3)]
    for child in children:
        child.start()
    sums = [queue.get() for _ in children]
    for child in children:
        child.join()
        assert child.exitcode == 0
    assert sums == [sample("i8").sum()] * 3
    assert array.read(verify=False).sum() == sums[0]


def test_chunks_are_adjacent_and_of_about_4_mib(tmp_path):
    shape = (300, 200, 100)
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for order in "CF":
            writer.add(order, np.zeros(shape, "f4"), order=order)
        writer.add("none", np.zeros((0, 5)))
        writer.add("one", np.float32(3))
    pack = ra_pack.open(tmp_path / "pack.zip")
    assert pack["C"].chunks == (52, 200, 100)
    assert pack["F"].chunks == (300, 200, 17)
    assert pack["none"].chunks == (0, 5)
    assert pack["one"].chunks == () and pack["one"][()] == 3 and pack["one"].shape == ()


def test_empty_arrays_and_texts_are_read(tmp_path):
    values = {"none": np.zeros((0, 5), "f4"), "text": np.array(b"hello"), "blank": np.array(b"")}
    with ra_pack.PackWriter(tmp_path / "pack.zip") as writer:
        for name, value in values.items():
            writer.add(name, value)
    pack = ra_pack.open(tmp_path / "pack.zip")
    for name, value in values.items():
        np.testing.assert_array_equal(pack[name].read(), value, strict=True)
        np.testing.assert_array_equal(pack[name][...], value, strict=True)
        np.testing.assert_array_equal(pack[name].view(), value, strict=True)
    assert pack["none"][:, 1:3].shape == (0, 2)


def test_arrays_of_a_directory_without_a_manifest_are_read_but_not_confirmed(tmp_path):
    source = tmp_path / "source"
    rawarray.write(source, "x", sample("<f8"))
    found = ra_pack.open(source)["x"]
    np.testing.assert_array_equal(found[:], sample("<f8"))
    assert not found.verify()
    ra_pack.create(source, tmp_path / "pack.zip", describe=True)
    assert ra_pack.open(tmp_path / "pack.zip")["x"].verify()


def test_the_names_of_an_enum_are_attributes(tmp_path):
    ra_pack.create(EXPERIMENT, tmp_path / "exp.zip")
    pack = ra_pack.open(tmp_path / "exp.zip")
    attrs = pack["thermistors/quality"].attrs
    np.testing.assert_array_equal(attrs["flag_values"], np.array([0, 1, 2, 3, 4, 9], "u1"), strict=True)
    assert attrs["flag_meanings"] == "unknown good probably_good potentially_correctable bad missing"
    [outline] = pack.outline("thermistors")["groups"]
    [quality] = [one for one in outline["variables"] if one["name"] == "quality"]
    assert quality["attrs"].keys() == attrs.keys()
