"""Draws docs/viewer.png: the viewer with an array of the sample experiment, after the verification.

usage: python3 docs/pictures/viewer.py [RA_PACK]

RA_PACK is the program to run, by default `ra-pack` on the PATH. The script needs Chromium with its driver, and the page
that `bash viewer/build` makes.
"""

import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/it/viewer"))
from scenarios import PLOT, VERDICT, Page  # noqa: E402

program = sys.argv[1] if len(sys.argv) > 1 else "ra-pack"
with tempfile.TemporaryDirectory() as home, Page() as page:
    pack = pathlib.Path(home, "mooring.zip")
    create = [program, "create", "-q", ROOT / "examples/experiment", "-o", pack]
    subprocess.run([*create, "--attribute", "title=Six days in the Sildefjord"], check=True)
    page.screen(1440, 900)
    page.open(ROOT / "target/viewer/viewer.html")
    page.choose(pack)
    page.opened(10)
    page.click("#verdict")
    page.wait(VERDICT, "✓ Valid")
    page.hash("#thermistors/temperature")
    page.wait(PLOT)
    page.wait("return document.querySelectorAll('.numbers dt').length > 0", True)
    page.picture(ROOT / "docs/viewer.png")
