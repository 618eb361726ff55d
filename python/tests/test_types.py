"""Signatures, documentation and type hints."""

import ast
import doctest
import importlib
import inspect
import pathlib
import re
import subprocess
import sys
import textwrap

import pytest

import ra_pack
from ra_pack import _ra_pack

STUBS = pathlib.Path(_ra_pack.__file__).with_name("_ra_pack.pyi")


def parameters(function):
    """Return the names and kinds of the parameters of a function in the stubs, without those of instances."""
    given = function.args
    names = [(one.arg, "positional") for one in given.posonlyargs + given.args]
    names += [(given.vararg.arg, "rest")] if given.vararg else []
    names += [(one.arg, "keyword") for one in given.kwonlyargs]
    return [name for name in names if name[0] != "self"]


def of_signature(signature):
    kinds = {"KEYWORD_ONLY": "keyword", "VAR_POSITIONAL": "rest"}
    found = [(one.name, kinds.get(one.kind.name, "positional")) for one in signature.parameters.values()]
    return [name for name in found if name[0] != "self"]


def test_the_stubs_have_the_members_and_signatures_of_the_module():
    tree = ast.parse(STUBS.read_text())
    declared = {node.name: node for node in tree.body if isinstance(node, ast.ClassDef | ast.FunctionDef)}
    public = {name for name in vars(_ra_pack) if not name.startswith("_")}
    assert {name for name in declared if not name.startswith("_")} == public
    for name in public:
        item, stub = getattr(_ra_pack, name), declared[name]
        if isinstance(stub, ast.FunctionDef):
            assert of_signature(inspect.signature(item)) == parameters(stub), name
            continue
        members = {node.name: node for node in stub.body if isinstance(node, ast.FunctionDef)}
        own = {member for member in vars(item) if not member.startswith("_")}
        assert {member for member in members if not member.startswith("_")} == own, name
        for member in own:
            is_property = any(getattr(one, "id", "") == "property" for one in members[member].decorator_list)
            value = inspect.getattr_static(item, member)
            assert is_property == inspect.isdatadescriptor(value), member
            if not is_property:
                signature = inspect.signature(getattr(item, member))
                assert of_signature(signature) == parameters(members[member]), member


def test_everything_public_is_documented():
    for name in ra_pack.__all__:
        if name in ("__version__", "write"):
            continue
        item = getattr(ra_pack, name)
        assert inspect.getdoc(item), name
        if inspect.isclass(item) and not issubclass(item, Exception):
            for member, value in vars(item).items():
                assert member.startswith("_") or inspect.getdoc(value) or not callable(value), f"{name}.{member}"


@pytest.mark.parametrize("name", ["ra_pack", "ra_pack._audit", "ra_pack._writer", "ra_pack.xarray", "ra_pack._zarr"])
def test_the_examples_of_the_documentation_run(name):
    for library in {"ra_pack.xarray": ["xarray"], "ra_pack._zarr": ["zarr"]}.get(name, []):
        pytest.importorskip(library)
    result = doctest.testmod(importlib.import_module(name))
    assert result.attempted > 3 and result.failed == 0


EXAMPLE = """
from typing import Any

import numpy as np
import ra_pack
from numpy.typing import NDArray

with ra_pack.PackWriter("out.zip", attrs={"title": "Mooring"}) as writer:
    writer.add("run1/t", np.zeros((3, 4)), dims=["time", "depth"], attrs={"units": "K"}, order="C")
    writer.add_file("notes.txt", b"notes")
with ra_pack.open("out.zip") as pack:
    t: ra_pack.Array = pack["run1/t"]
    first: NDArray[Any] = t[0:10, ..., ::2]
    rows: list[NDArray[Any]] = [t[:], t[...], t[[0, 2]], t[0, None], t[t.read() > 0], t.oindex[[0], :]]
    element = float(t[0, 1])
    run: ra_pack.Group = pack["run1"]
    below: list[str] = pack["run1"].groups + [name for name in run]
    also: ra_pack.Array = pack["run1"]["t"]
    deeper: NDArray[Any] = run["deep"]["er"][1:]
    shape: tuple[int, ...] = t.shape
    total = float(t.read(verify=False).sum()) + float(np.asarray(t).sum()) + float(t.view()[0, 0])
    names: list[str] = [name for name in pack]
    found: ra_pack.Array | None = pack.get("none")
    groups: list[str] = [group["path"] for group in pack.outline()["groups"]]
report = ra_pack.verify("out.zip")
audited: ra_pack.AuditReport = ra_pack.audit(["out.zip"], log="audit.jsonl", max_age="90d")
bad: list[str] = [pack.target for pack in audited.targets if pack.state == "bad"]
codes: list[str] = [finding.code for finding in report.findings if finding.line is not None]
try:
    ra_pack.create("source", "new.zip", layout="bagit", jobs=2)
except ra_pack.Refused as error:
    messages = [finding.message for finding in error.findings]
except ra_pack.Error:
    pass
"""

WRONG = """
import numpy as np
import ra_pack
pack = ra_pack.open("a")
ra_pack.open(3)
pack["x"].raed()
pack["run1"].gruops
pack[0]
pack["x"][1.5]
pack["x"][0:1].forec
text: str = pack["x"][:]
pack["x"].read(verfy=True)
pack.get("x").read()
ra_pack.PackWriter("a", layout="odd")
ra_pack.PackWriter("a", forec=True)
ra_pack.create("a", "b", forec=True)
ra_pack.write("a", {}, forec=True)
ra_pack.write("a", {}, compression=3)
ra_pack.write("a", {}, mode="q")
ra_pack.verify("a").vaild
ra_pack.diff("a", "b", member="x").members
ra_pack.describe("a", template=True).changes
"""


# Each line of the wrong program after the first three is an error.
@pytest.mark.parametrize(("program", "errors"), [(EXAMPLE, 0), (WRONG, WRONG.count("\n") - 4)], ids=["right", "wrong"])
def test_a_strict_type_checker_knows_the_module(tmp_path, program, errors):
    pytest.importorskip("mypy")
    (tmp_path / "program.py").write_text(textwrap.dedent(program))
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", tmp_path / "cache", "program.py"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    lines = set(re.findall(r"^program.py:(\d+): error:", done.stdout, re.MULTILINE))
    assert len(lines) == errors, done.stdout + done.stderr
    assert done.returncode == (1 if errors else 0)
