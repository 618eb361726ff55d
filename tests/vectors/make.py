"""Writes the test vectors of the specification again: python3 tests/vectors/make.py [--check]

With `--check`, it writes nothing, and fails if a file differs. It needs only the standard library of Python 3.9.
"""

import json
import pathlib
import sys

sys.dont_write_bytecode = True
import arrays
import descriptions
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
            yield file, content
        yield f"{kind}.json", ("[\n" + ",\n".join(listed) + "\n]\n").encode()


def main():
    made = dict(vectors())
    found = {file.relative_to(HERE).as_posix() for kind in ("arrays", "descriptions", "packs")
             for file in (HERE / kind).glob("*")}
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
        (HERE / file).parent.mkdir(exist_ok=True)
        (HERE / file).write_bytes(content)


main()
