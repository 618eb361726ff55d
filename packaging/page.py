"""Runs the commands of pages, each page in a new directory with the examples, and compares what they print with what the
page shows.

usage: page.py EXAMPLES [--after PROGRAM] PAGE...    the program writes the files that the pages begin with
"""

import difflib
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

#: Durations and the days of verifications, which differ from run to run.
TIMES = re.compile(r", [\d.]+ s\)|(?<=last good )\d{4}-\d\d-\d\d")


def differences(text: str, directory: pathlib.Path) -> tuple[int, int]:
    """Returns the number of commands of a page, and how many print something else."""
    commands = differing = 0
    at = str(directory)
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        # Scripts have their name in the second line.
        name = re.match(r"(?:#!.*\n)?# (\S+\.(?:py|sh|yaml))\n", block)
        if language == "console":
            for command, shown in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                command = f"exec 2>&1\n{command}pwd >'{directory}.cwd'"
                run = subprocess.run(["sh", "-c", command], cwd=at, stdout=subprocess.PIPE, text=True)
                at = pathlib.Path(f"{directory}.cwd").read_text().strip()
                commands += 1
                shown, printed = (TIMES.sub("", part.rstrip()).splitlines() for part in (shown, run.stdout))
                if printed != shown:
                    differing += 1
                    print(command, *difflib.unified_diff(shown, printed, "shown", "printed"), sep="\n", file=sys.stderr)
        elif name:
            path = directory / name[1]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block)
    return commands, differing


def main() -> bool:
    """Returns whether all pages print what they show."""
    examples, *pages = sys.argv[1:]
    program = None
    if pages[0] == "--after":
        program, *pages = [str(pathlib.Path(path).resolve()) for path in pages[1:]]
    good = True
    for page in pages:
        with tempfile.TemporaryDirectory() as home:
            directory = pathlib.Path(home, "home")
            shutil.copytree(examples, directory / "examples")
            if program:
                subprocess.run([sys.executable, program], cwd=directory, check=True)
            commands, differing = differences(pathlib.Path(page).read_text(), directory)
        assert commands, f"{page} has no commands"
        print(f"{page}: {commands} commands, {differing} print something else than the page")
        good = good and not differing
    return good


sys.exit(not main())
