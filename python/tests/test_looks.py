"""Groups, trees, pages of notebooks, and conversions of single values."""

import html.parser
import pickle
from pathlib import Path

import numpy as np
import pytest

import ra_pack


@pytest.fixture(scope="module")
def pack(tmp_path_factory):
    path = tmp_path_factory.mktemp("looks") / "pack.zip"
    with ra_pack.PackWriter(path, attrs={"title": "<b>Mooring</b>"}) as writer:
        writer.add("depth", np.array([5.0, 20.0]), dims=["depth"], attrs={"units": "m"})
        writer.add("run1/t", np.ones((3, 2), "f4"), dims=["time", "depth"], attrs={"units": "K", "long_name": "a & b"})
        writer.add("run1/deep/inner/x", np.array(7, "i2"))
        writer.group("run1", {"operator": "A"})
    return ra_pack.open(path)


def test_groups_are_mappings(pack):
    group = pack["run1"]
    assert isinstance(group, ra_pack.Group) and "run1" in pack and "run1/deep" in pack and "run2" not in pack
    assert list(group) == ["deep/inner/x", "t"] and len(group) == 2
    assert group.groups == ["deep", "deep/inner"] and group.attrs == {"operator": "A"}
    assert group["t"].name == "run1/t" and group["deep"]["inner"]["x"].name == "run1/deep/inner/x"
    assert "t" in group and "deep" in group and "depth" not in group
    assert pack["run1/"].name == "run1"
    with pytest.raises(ra_pack.NotFound, match="run1/nothing"):
        group["nothing"]
    assert list(pack) == ["depth", "run1/deep/inner/x", "run1/t"], "a pack has only arrays"
    assert set(pack._ipython_key_completions_()) == {*pack, "run1", "run1/deep", "run1/deep/inner"}
    assert group._ipython_key_completions_() == [*group, *group.groups]
    assert "run1" in repr(group)


def test_trees_show_groups_arrays_and_units(pack):
    assert str(pack.tree()).splitlines()[1:] == [
        "├── depth (depth: 2) float64 [m]",
        "└── run1",
        "    ├── t (time: 3, depth: 2) float32 [K]",
        "    └── deep",
        "        └── inner",
        "            └── x () int16",
    ]
    assert repr(pack["run1/deep"].tree()).splitlines() == ["run1/deep", "└── inner", "    └── x () int16"]


class Outline(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.open, self.texts = [], []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_notebooks_show_escaped_html(pack):
    for shown in [pack, pack["run1"], pack.tree()]:
        outline = Outline()
        outline.feed(shown._repr_html_())
        assert not outline.open and "a & b" in outline.texts and "<b>" not in shown._repr_html_()
    assert "<b>Mooring</b>" in outline.texts


def test_a_pack_verifies_itself(pack, tmp_path):
    report = pack.verify()
    assert str(report).endswith(f"valid (3 arrays, {report.files} files, {report.bytes:,} bytes, checked against manifest-sha256.txt)")
    assert pack.verify(fast=True).verdict == "contents_not_read"
    content = bytearray(Path(pack.path).read_bytes())
    at = content.index(np.ones((3, 2), "f4").tobytes())
    content[at] ^= 1
    damaged = tmp_path / "damaged.zip"
    damaged.write_bytes(content)
    lines = str(ra_pack.open(damaged).verify()).splitlines()
    assert "run1/t.ra" in lines[0] and "NOT VALID" in lines[-1]


def test_single_values_become_numbers(pack):
    assert float(pack["run1/deep/inner/x"]) == 7.0 and int(pack["run1/deep/inner/x"]) == 7
    with pytest.raises(TypeError):
        float(pack["depth"])
    np.testing.assert_array_equal(pack["depth"].astype("i4"), np.array([5, 20], "i4"), strict=True)
    assert pickle.loads(pickle.dumps(pack))["run1"].attrs == {"operator": "A"}


def test_xarray_knows_both_names_of_the_engine(pack):
    xr = pytest.importorskip("xarray")
    for engine in ["ra-pack", "ra_pack"]:
        with xr.open_dataset(pack.path, engine=engine) as found:
            assert list(found.coords) == ["depth"]
