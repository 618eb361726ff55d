"""The blocks of `docs/python.md` are one program, whose output the page shows. So are those of `PYTHON.md`, which is the
page of the module in package indexes. `docs/python-api.md` is made from docstrings.

`RA_PACK_WRITE_DOCS=1` writes the output and the reference on the pages.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ra_pack
from files import EXPERIMENT

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def check(page: Path, now: str) -> None:
    """Compare a page with its text as it should be, or write it."""
    if "RA_PACK_WRITE_DOCS" in os.environ:
        page.write_text(now)
    assert now == page.read_text(), "`RA_PACK_WRITE_DOCS=1 pytest python/tests/test_pages.py` writes the page"


@pytest.mark.parametrize("name", ["docs/python.md", "python/PYTHON.md"])
def test_every_block_of_the_page_prints_what_the_page_shows(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("distributed")
    shutil.copytree(EXPERIMENT, tmp_path / "examples" / "experiment")
    monkeypatch.chdir(tmp_path)
    page = ROOT / name
    text = page.read_text()
    scope: dict[str, object] = {}
    printed = ""
    parts, end, kinds = [], 0, []
    for block in BLOCK.finditer(text):
        kind, code = block.groups()
        kinds.append(kind)
        parts.append(text[end : block.start()])
        end = block.end()
        if kind == "python":
            assert not printed, f"the page does not show this output:\n{printed}"
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(code, str(page), "exec"), scope)
            printed = re.sub(r"[ \t]+$", "", out.getvalue(), flags=re.MULTILINE)
        elif kind == "text":
            code, printed = printed, ""
        parts.append(f"```{kind}\n{code}```\n")
    assert not printed
    if name == "docs/python.md":
        assert kinds.count("python") > 8
    assert {"python", "text"} <= set(kinds) <= {"python", "text", "sh"}
    check(page, "".join([*parts, text[end:]]))


def lines_of_other_libraries() -> list[tuple[str, str, str]]:
    """Returns the library and the two columns of each row of the table."""
    section = (ROOT / "docs" / "python.md").read_text().split("\n## Coming from ")[1].split("\n## ")[0]
    found, library = [], ""
    for name, there, here in re.findall(r"^\| (\w*) ?\| `(.*?)` \| `(.*?)` \|$", section, re.MULTILINE):
        library = name or library
        found.append((library, there, here))
    assert len(found) == section.count("\n| ") - 1
    return found


@pytest.mark.filterwarnings("ignore:Consolidated metadata is currently")
def test_the_lines_of_other_libraries_and_of_this_one_give_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    h5py, zarr, xr = (pytest.importorskip(name) for name in ("h5py", "zarr", "xarray"))
    monkeypatch.chdir(tmp_path)
    x, t = np.arange(3.0), np.arange(12.0).reshape(3, 4)
    ds = xr.Dataset({"t": (("x", "y"), t, {"units": "K"}), "x": ("x", x)})
    for place in (None, "run1"):
        ra_pack.write("in.zip", ds, group=place, mode="a")
        ds.to_zarr("in.zarr", group=place, mode="a")
    np.savez("in.npz", x=x, t=t)
    with h5py.File("in.h5", "w") as file:
        for group in (file, file.create_group("run1")):
            group["x"], group["t"] = x, t
            group["t"].attrs["units"] = "K"
            group["t"].dims[0].label = "x"
    scope = {"h5py": h5py, "zarr": zarr, "xr": xr, "np": np, "ra_pack": ra_pack}
    scope |= {"x": x, "t": t, "ds": ds, "out": np.zeros((3, 4))}
    compared = 0
    for _, *sides in lines_of_other_libraries():
        values: list[Any] = []
        for code in sides:
            try:
                compiled = compile(code, "docs/python.md", "eval")
            except SyntaxError:
                exec(code, scope)
            else:
                values.append(eval(compiled, scope))
        kinds = [type(value) for value in values]
        if len(values) < 2 or type(None) in kinds or np.ndarray not in kinds and kinds[0] != kinds[1]:
            continue
        if kinds[0] is xr.Dataset:
            xr.testing.assert_identical(*values)
        else:
            np.testing.assert_equal(values[1], values[0], " and ".join(sides))
        compared += 1
    assert compared >= 16
    for name, value in scope.items():
        if name in ("f", "out5", "npz", "pack"):
            value.close()


def test_the_reference_has_every_public_name_and_parameter() -> None:
    for library in ("xarray", "zarr", "virtualizarr"):
        pytest.importorskip(library)
    import reference

    page = reference.page()
    public = {name for name in ra_pack.__all__ if name != "__version__"} | {"zarr_store", "RaPackParser"}
    named = set(re.findall(r"^### (\w+)$", page, re.MULTILINE)) | {one.__name__ for one in reference.exceptions()}
    assert named == public - {"Error"} | {"Accessor", "PackStore", "RaPackBackend"}
    assert not reference.undocumented()
    check(ROOT / "docs" / "python-api.md", page)
