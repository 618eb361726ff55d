"""The blocks of `docs/python.md` are one program, whose output the page shows.

`RA_PACK_WRITE_DOCS=1` writes the output on the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shutil
from pathlib import Path

import pytest

from files import EXPERIMENT

PAGE = Path(__file__).parents[2] / "docs" / "python.md"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)


def test_every_block_of_the_page_prints_what_the_page_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xarray")
    pytest.importorskip("distributed")
    shutil.copytree(EXPERIMENT, tmp_path / "examples" / "experiment")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
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
                exec(compile(code, str(PAGE), "exec"), scope)
            printed = re.sub(r"[ \t]+$", "", out.getvalue(), flags=re.MULTILINE)
        elif kind == "text":
            code, printed = printed, ""
        parts.append(f"```{kind}\n{code}```\n")
    assert not printed
    assert kinds.count("python") > 8
    assert set(kinds) == {"python", "text", "sh"}
    now = "".join([*parts, text[end:]])
    if "RA_PACK_WRITE_DOCS" in os.environ:
        PAGE.write_text(now)
    assert now == PAGE.read_text(), "`RA_PACK_WRITE_DOCS=1 pytest python/tests/test_pages.py` writes the page"
