"""Makes the tables of `validate --convention` from the files of others.

    tables.py names > src/pack/standard_names.txt.gz       the table of standard names in compliance-checker
    tables.py dimensions > src/pack/dimensions.txt         the dimensions of the units in udunits.txt, of UDUNITS

Run it with the interpreter of `.ci/python-deposit.txt`. Each table says the version of its source.
"""

import gzip
import pathlib
import re
import sys
from xml.etree import ElementTree

import cf_units
import compliance_checker

PACK = pathlib.Path(__file__).parents[3] / "src" / "pack"


def names():
    table = pathlib.Path(compliance_checker.__file__).parent / "data" / "cf-standard-name-table.xml"
    root = ElementTree.parse(table).getroot()
    version, date = root.findtext("version_number"), root.findtext("last_modified")[:10]
    entries = {one.get("id"): one.findtext("canonical_units") or "" for one in root.iter("entry")}
    for alias in root.iter("alias"):
        entries.setdefault(alias.get("id"), entries[alias.findtext("entry_id").strip()])
    yield f"# CF standard name table, version {version} of {date}: names and older names, each with its canonical units."
    yield from (f"{name} {units.strip()}" for name, units in sorted(entries.items()))


def dimension(unit):
    """Returns the exponents of the base units."""
    powers = {}
    for word in re.split(r"[ .()]", cf_units.Unit(unit).definition.split(" @")[0]):
        if factor := re.fullmatch(r"([a-zA-Z]+)(-?\d+)?", word):
            powers[factor[1]] = factor[2] or "1"
    return " ".join(powers.get(base, "0") for base in ("m", "kg", "s", "A", "K", "mol", "cd"))


def dimensions():
    units, words, heading = (PACK / "udunits.txt").read_text().splitlines(), {}, ""
    for line in units:
        if line.endswith(":"):
            heading = line
        elif heading not in ("prefix names:", "prefix symbols:", "units of time:"):
            for word in line.split():
                try:
                    words.setdefault(dimension(word), []).append(word)
                except ValueError:  # Other versions of UDUNITS know it.
                    pass
    yield "# The units of udunits.txt by dimension: exponents of m, kg, s, A, K, mol and cd, as in UDUNITS 2.2.28."
    for product, of_product in sorted(words.items()):
        yield f"{product}: {' '.join(of_product)}"


if __name__ == "__main__":
    lines = {"names": names, "dimensions": dimensions}[sys.argv[1]]()
    text = "".join(f"{line}\n" for line in lines).encode()
    sys.stdout.buffer.write(gzip.compress(text, 9, mtime=0) if sys.argv[1] == "names" else text)
