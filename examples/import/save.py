"""Saves arrays with their descriptions, for `ra-pack convert`."""

import json
import pathlib

import numpy as np


def scalar(value):
    """Returns a number or text as YAML, or None for anything else."""
    if np.ndim(value) == 0 and hasattr(value, "item"):
        value = value.item()
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, (int, float)):
        return {"nan": ".nan", "inf": ".inf", "-inf": "-.inf"}.get(repr(value), repr(value + 0))
    return None


def attributes(attrs, indent):
    """Returns attributes as lines of YAML: numbers, text, and lists of either."""
    lines = []
    for name, value in attrs.items():
        text = scalar(value)
        if text is None and np.ndim(value) == 1 and len(value):
            items = [scalar(item) for item in value]
            dtype = np.asarray(value).dtype
            kind = dtype.name if dtype.kind in "iuf" else "string"
            text = f"{{shape: [{len(items)}], type: {kind}, value: [{', '.join(map(str, items))}]}}"
        if text is not None:
            lines.append(f"{indent}  {json.dumps(name)}: {text}\n")
    return f"{indent}attributes:\n{''.join(lines)}" if lines else ""


def save(directory, name, array, dims=(), attrs={}):
    """Writes NAME.npy and NAME.yaml. `dims` are names of other arrays, or None for a dimension without a name."""
    array = np.asarray(array)
    if array.dtype.kind in "OUT":  # text
        array = np.char.encode(array.astype(str), "utf-8")
    path = pathlib.Path(directory, f"{name}.npy")
    path.parent.mkdir(parents=True, exist_ok=True)
    np.save(path, array)
    kind = array.dtype.name
    if array.dtype.kind == "b":
        kind = "{enum: {base: uint8, members: {'false': 0, 'true': 1}}}"
    elif array.dtype.kind == "S":
        kind = f"{{opaque: {{size: {array.itemsize}, tag: text}}}}"
    key = path.stem
    if tuple(dims) == (key,) and len(array):  # a coordinate
        text = f"dimcoords:\n  {key}:\n    size: {len(array)}\n"
    else:
        names = [*dims, *[None] * (array.ndim - len(dims))]
        shape = [name or length for name, length in zip(names, array.shape)]
        text = f"ndarrays:\n  {key}:\n    shape: [{', '.join(map(str, shape))}]\n"
    text += f"    type: {kind}\n{attributes(attrs, '    ')}"
    path.with_suffix(".yaml").write_text(text)


def save_attributes(directory, attrs):
    """Writes the attributes of the pack, such as its title, to manifest.yaml."""
    if text := attributes(attrs, ""):
        pathlib.Path(directory, "manifest.yaml").write_text(text)
