"""Runs the commands of a page in an empty directory, and compares what they print with what the page shows."""

import difflib
import pathlib
import re
import subprocess
import sys
import tempfile

text = pathlib.Path(sys.argv[1]).read_text()
commands = differing = 0
with tempfile.TemporaryDirectory() as directory:
    for language, block in re.findall(r"^```(\w+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        if language == "python":
            name = re.match(r"# (\w+\.py)\n", block)
            pathlib.Path(directory, name[1]).write_text(block)
        elif language == "console":
            for command, shown in re.findall(r"^\$ (.*\n)((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
                run = subprocess.run(
                    ["bash", "-c", command], cwd=directory, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
                )
                commands += 1
                if run.stdout != shown:
                    differing += 1
                    lines = difflib.unified_diff(
                        shown.splitlines(), run.stdout.splitlines(), "shown", "printed", lineterm=""
                    )
                    print(f"$ {command}" + "\n".join(lines), file=sys.stderr)
assert commands, "the page has no commands"
print(f"{commands} commands, {differing} print something else than the page")
sys.exit(differing != 0)
