"""The command `ra-pack`."""

import sys

from ._ra_pack import run


def main() -> int:
    """Run the command with the arguments of this process, and return its exit status."""
    return run(["ra-pack", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
