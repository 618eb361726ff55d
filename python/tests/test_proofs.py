"""Arrays that are filled, shared by DLPack, and asked whether digests proved them; attributes that do not change."""

import copy
import json
import pickle

import numpy as np
import pytest

import ra_pack
import rawarray
from files import EXPERIMENT, damaged

X = np.arange(24, dtype="f4").reshape(2, 3, 4)


@pytest.fixture
def pack(tmp_path):
    path = tmp_path / "pack.zip"
    with ra_pack.PackWriter(path, attrs={"title": "T"}) as writer:
        writer.add("c", X, dims=["depth", "b", "t"], attrs={"units": "K"}, order="C")
        writer.add("f", X, order="F")
        writer.add("depth", np.array([5.0, 20.0]), dims=["depth"])
        writer.add("one", np.array(7, "i2"))
        writer.add("none", np.zeros((0, 3)))
        writer.group("run", {"operator": "A"})
    return ra_pack.open(path)


@pytest.mark.parametrize("name", ["c", "f"])
@pytest.mark.parametrize("order", ["C", "F"])
def test_read_fills_an_array_in_any_order(pack, name, order):
    out = np.full(X.shape, -1, "f4", order)
    assert pack[name].read(out=out) is out
    np.testing.assert_array_equal(out, X)
    assert out.flags[f"{order}_CONTIGUOUS"]
    out[:] = -1
    assert pack[name].read(out=out, verify=False) is out
    np.testing.assert_array_equal(out, X)


def test_read_fills_scalars_empty_arrays_and_parts_of_arrays(pack):
    out = np.zeros((), "i2")
    assert pack["one"].read(out=out) is out and out == 7
    assert pack["none"].read(out=np.zeros((0, 3))).shape == (0, 3)
    all = np.zeros((5, *X.shape), "f4")
    for nth in range(5):
        part = all[nth]
        pack["c"].read(out=part)
    np.testing.assert_array_equal(all, np.stack([X] * 5))


def test_read_refuses_arrays_that_it_cannot_fill(pack, tmp_path):
    readonly = np.zeros(X.shape, "f4")
    readonly.flags.writeable = False
    for out in [np.zeros(X.shape), np.zeros(24, "f4"), np.zeros(X.shape, ">f4"), np.zeros((4, 3, 4), "f4")[::2], readonly]:
        with pytest.raises(ra_pack.Mismatch, match="`out`: expected"):
            pack["c"].read(out=out)
        assert not out.any()
    for out in [X.tolist(), np.ma.zeros(X.shape, "f4"), bytearray(96)]:
        with pytest.raises(TypeError, match="`out`"):
            pack["c"].read(out=out)
    path = damaged(tmp_path / "pack.zip", X.tobytes())
    with pytest.raises(ra_pack.Damaged):
        ra_pack.open(path)["c"].read(out=np.zeros(X.shape, "f4"))


def test_dlpack_shares_a_new_array(pack):
    for name in ["c", "f"]:
        found = np.from_dlpack(pack[name])
        np.testing.assert_array_equal(found, X, strict=True)
    assert pack["c"].__dlpack_device__() == np.zeros(1).__dlpack_device__()
    with pytest.raises(BufferError, match="view"):
        pack["c"].__dlpack__(copy=False)


def test_an_array_says_whether_digests_proved_it(pack):
    for read, proved in [
        (lambda x: x.shape, None),
        (lambda x: x.attrs, None),
        (lambda x: x.read(), True),
        (lambda x: x[:], True),
        (lambda x: np.asarray(x), True),
        (lambda x: np.from_dlpack(x), True),
        (lambda x: x.verify(), True),
        (lambda x: x.statistics(), True),
        (lambda x: x.astype("f8"), True),
        (lambda x: x[0], False),
        (lambda x: x[[0, 1], 0], False),
        (lambda x: x.oindex[[0], :], False),
        (lambda x: x.read(verify=False), False),
        (lambda x: x.view(), False),
        (lambda x: (x.read(), x[0], x.read()), False),
        (lambda x: pickle.loads(pickle.dumps(x)).read(), None),
    ]:
        array = pack["c"]
        assert array.verified is None
        read(array)
        assert array.verified is proved
    with pytest.raises(AttributeError):
        array.verified = True


def test_parts_are_proved_by_blocks_and_by_whole_files(tmp_path):
    with ra_pack.PackWriter(tmp_path / "packed.zip", compression="deflate") as writer:
        writer.add("zeros", np.zeros(5000))
    ra_pack.extract(tmp_path / "packed.zip", tmp_path / "source")
    ra_pack.create(tmp_path / "source", tmp_path / "blocks.zip", block_digests=4096)
    ra_pack.write(tmp_path / "written.zip", {"zeros": np.zeros(5000)}, block_digests=4096)
    with pytest.raises(ra_pack.InvalidOption, match="expected blocks of 4096 to"):
        ra_pack.write(tmp_path / "new.zip", {"zeros": np.zeros(5000)}, block_digests=1)
    rawarray.write(tmp_path / "bare", "zeros", np.zeros(5000))
    for name, whole, part in [("packed.zip", True, True), ("blocks.zip", True, True), ("written.zip", True, True), ("bare", False, False)]:
        pack = ra_pack.open(tmp_path / name)
        array, other = pack["zeros"], pack["zeros"]
        array.read(), other[3:7]
        assert (array.verified, other.verified) == (whole, part), name


def test_a_damaged_array_is_not_verified(pack, tmp_path):
    array = ra_pack.open(damaged(tmp_path / "pack.zip", X.tobytes()))["c"]
    with pytest.raises(ra_pack.Damaged):
        array.read()
    assert array.verified is None


def test_attributes_and_coordinates_refuse_changes(pack):
    array = pack["c"]
    for found, key in [(pack.attrs, "title"), (array.attrs, "units"), (array.coords, "depth"), (pack["run"].attrs, "operator")]:
        for change in [
            lambda it: it.__setitem__(key, 1),
            lambda it: it.__delitem__(key),
            lambda it: it.update(a=1),
            lambda it: it.pop(key),
            lambda it: it.popitem(),
            lambda it: it.setdefault("a", 1),
            lambda it: it.clear(),
            lambda it: it.__ior__({"a": 1}),
        ]:
            with pytest.raises(TypeError, match="read-only"):
                change(found)
        assert list(found) == [key] and {**found, "a": 1}.keys() == {key, "a"}
    # They are otherwise those that programs expect.
    assert json.dumps(array.attrs) == '{"units": "K"}' and repr(array.attrs) == "{'units': 'K'}"
    for changed in [array.attrs.copy(), dict(array.attrs), copy.deepcopy(array.attrs), pickle.loads(pickle.dumps(array.attrs))]:
        changed["more"] = 1
    assert array.attrs == {"units": "K"} == pack["c"].attrs


def test_packs_groups_and_arrays_refuse_assignment(pack):
    for found, names in [
        (pack, ["attrs", "path", "groups", "more"]),
        (pack["run"], ["attrs", "name", "pack", "more"]),
        (pack["c"], ["attrs", "shape", "dims", "dtype", "coords", "fill_value", "more"]),
    ]:
        for name in names:
            with pytest.raises(AttributeError):
                setattr(found, name, 1)


def test_attributes_of_the_sample_go_into_another_pack(tmp_path):
    pack = ra_pack.open(EXPERIMENT)
    with ra_pack.PackWriter(tmp_path / "again.zip", attrs=pack.attrs) as writer:
        t = pack["thermistors/temperature"]
        writer.add("t", t.read(), attrs=t.attrs)
    again = ra_pack.open(tmp_path / "again.zip")
    assert again.attrs == pack.attrs and again["t"].attrs == t.attrs
