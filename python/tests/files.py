"""The sample data, and directories of arrays that are written without the module under test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from rawarray import bytes_of

EXPERIMENT = Path(__file__).parents[2] / "examples" / "experiment"


def write_directory(root: Path, arrays: dict[str, Any], descriptions: dict[str, str]) -> Path:
    """Write arrays, and descriptions of some of them, as a directory that `create` can pack."""
    for name, array in arrays.items():
        order = "C" if "order: row" in descriptions.get(name, "") else "F"
        path = root / f"{name}.ra"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(bytes_of(np.asarray(array), order))
    for name, text in descriptions.items():
        (root / f"{name}.yaml").write_text(text)
    return root


def damaged(path: Path, needle: bytes) -> Path:
    """Write a copy of a pack in which one bit of the first byte of `needle` is another."""
    content = bytearray(path.read_bytes())
    content[content.index(needle)] ^= 1
    other = path.with_name(f"damaged{path.suffix}")
    other.write_bytes(content)
    return other
