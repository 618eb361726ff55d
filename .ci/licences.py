"""Fails if deny.toml does not allow the licence of a package in Cargo.lock.

Reads the output of `cargo metadata --format-version 1 --all-features` from standard input.
"""

import json
import re
import sys
import tomllib


def is_allowed(expression, allowed):
    """Evaluates an SPDX expression. AND binds tighter than OR, and older crates write `/` for OR."""
    words = re.findall(r"[()]|[^\s()/]+|/", expression)
    at = 0

    def peek():
        return words[at] if at < len(words) else None

    def take():
        nonlocal at
        at += 1
        return words[at - 1]

    def either():
        value = both()
        while peek() in ("OR", "/"):
            take()
            right = both()
            value = value or right
        return value

    def both():
        value = one()
        while peek() == "AND":
            take()
            right = one()
            value = value and right
        return value

    def one():
        if peek() is None:
            raise ValueError("ends in the middle")
        word = take()
        if word == "(":
            value = either()
            if peek() != ")":
                raise ValueError("expected `)`")
            take()
            return value
        if peek() == "WITH":
            take()
            word = f"{word} WITH {take()}"
        return word in allowed

    value = either()
    if peek() is not None:
        raise ValueError(f"unexpected `{peek()}`")
    return value


def check_the_check():
    for expression, expected in {
        "MIT": True,
        "GPL-3.0-only": False,
        "GPL-3.0-only OR MIT": True,
        "MIT AND GPL-3.0-only": False,
        "(MIT OR Apache-2.0) AND Zlib": True,
        "MIT OR Apache-2.0 AND GPL-3.0-only": True,
        "Unlicense/MIT": True,
        "Apache-2.0 WITH LLVM-exception": False,
    }.items():
        found = is_allowed(expression, {"MIT", "Apache-2.0", "Zlib"})
        assert found == expected, f"{expression}: {found}"


def main():
    check_the_check()
    with open("deny.toml", "rb") as file:
        allowed = set(tomllib.load(file)["licenses"]["allow"])
    packages = json.load(sys.stdin)["packages"]
    refused = []
    for package in packages:
        name = f"{package['name']} {package['version']}"
        licence = package["license"]
        try:
            if not licence or not is_allowed(licence, allowed):
                refused.append(f"{name}: {licence or 'no licence'}")
        except ValueError as error:
            refused.append(f"{name}: `{licence}`: {error}")
    if len(packages) < 2 or refused:
        sys.exit("not allowed by deny.toml:\n  " + "\n  ".join(refused or ["no packages at all"]))
    print(f"{len(packages)} packages, each with an allowed licence")


main()
