"""Writes the test vectors of the specification again: python3 tests/vectors/make.py [--check]

With `--check`, it writes nothing, and fails if a file differs. It needs only the standard library of Python 3.9.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
import arrays
import descriptions
import other_packs  # adds to the list of `packs`
import packs

HERE = pathlib.Path(__file__).parent


def vectors():
    """Yields the path and the content of each file."""
    for kind, module, ending in [("arrays", arrays, ".ra"), ("descriptions", descriptions, ".yaml"), ("packs", packs, "")]:
        listed = []
        for name, content, errors, warnings, said in module.ALL:
            file = f"{kind}/{name}{ending}"
            verdict = {"file": file, "valid": not errors, "errors": errors, "warnings": warnings}
            listed.append(json.dumps({**verdict, **said}, ensure_ascii=False))
            if isinstance(content, dict):
                yield from ((f"{file}/{member}", text) for member, text in content.items())
            else:
                yield file, content
        yield f"{kind}.json", ("[\n" + ",\n".join(listed) + "\n]\n").encode()
    yield from ((f"packs/{name}", content) for name, content in packs.BESIDE.items())


def main():
    made = dict(vectors())
    found = {file.relative_to(HERE).as_posix() for kind in ("arrays", "descriptions", "packs")
             for file in (HERE / kind).rglob("*") if file.is_file()}
    others = found - made.keys()
    if sys.argv[1:] == ["--check"]:
        wrong = [file for file, content in made.items()
                 if not (HERE / file).exists() or (HERE / file).read_bytes() != content]
        if wrong or others:
            sys.exit(f"these files differ: {sorted([*wrong, *others])}")
        return
    for file in others:
        (HERE / file).unlink()
    for file, content in made.items():
        (HERE / file).parent.mkdir(parents=True, exist_ok=True)
        (HERE / file).write_bytes(content)


main()
