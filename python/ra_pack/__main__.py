"""The command `ra-pack`."""

import sys
from importlib.metadata import files

from ._ra_pack import run


def _viewer() -> str | None:
    """Return the path of the viewer, which wheels install with the data of all packages."""
    found = (file for file in files("ra-pack") or [] if file.name == "viewer.html")
    return next((str(file.locate()) for file in found), None)


def main() -> int:
    """Run the command with the arguments of this process, and return its exit status."""
    return run(["ra-pack", *sys.argv[1:]], _viewer() if "--viewer" in sys.argv else None)


if __name__ == "__main__":
    sys.exit(main())
