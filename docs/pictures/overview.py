"""Draws docs/overview.png: a terminal with `list` and `verify`, next to the report of the sample experiment.

usage: python3 docs/pictures/overview.py [RA_PACK]

RA_PACK is the program to run, by default `ra-pack` on the PATH. The script needs Linux and Chromium. It runs the real
commands in a pseudo-terminal and takes a screenshot of their output and of the page that `report` writes.
"""

import fcntl
import html
import os
import pathlib
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios

ROOT = pathlib.Path(__file__).resolve().parents[2]
WIDTH, HEIGHT = 1600, 920
ROWS, COLUMNS = 50, 74
# The fourth command changes one byte, so that the last reports an error.
COMMANDS = [
    "ra-pack create mooring -o mooring.zip",
    "ra-pack list mooring.zip thermistors --arrays",
    "ra-pack verify mooring.zip",
    "printf X | dd of=mooring.zip bs=1 seek=30000 conv=notrunc status=none",
    "ra-pack verify mooring.zip",
]

PAGE = """<!doctype html>
<meta charset="utf-8">
<style>
  * { box-sizing: border-box; margin: 0; }
  body { width: %(width)dpx; height: %(height)dpx; padding: 26px; background: #dfe4ea; display: flex; gap: 24px; }
  .window { border-radius: 10px; overflow: clip; box-shadow: 0 6px 22px #0005; display: flex;
            flex-direction: column; }
  .bar { height: 34px; flex: none; display: flex; align-items: center; gap: 8px; padding: 0 14px;
         font: 15px "DejaVu Sans", sans-serif; }
  .bar i { width: 12px; height: 12px; border-radius: 50%%; background: #8a929c; }
  .bar span { margin: auto; transform: translateX(-26px); }
  .terminal { width: 816px; background: #16191d; color: #d7dbe0; }
  .terminal .bar { background: #2a2f36; color: #aab2bc; }
  pre { padding: 16px 18px; font: 17.4px/1.36 "DejaVu Sans Mono", monospace; white-space: pre-wrap;
        word-break: break-all; }
  .browser { flex: 1; background: #fbfaf8; }
  .browser .bar { background: #c9d0d8; color: #39424c; }
  .prompt { color: #7ee787; }
  iframe { border: 0; width: 708px; flex: none; }
  .cut { height: 9px; flex: none; background: #c9d0d8; }
</style>
<div class="window terminal"><div class="bar"><i></i><i></i><i></i><span>mooring</span></div><pre>%(terminal)s</pre></div>
<div class="window browser"><div class="bar"><i></i><i></i><i></i><span>mooring.html</span></div>
<iframe src="mooring.html" style="height: 496px" scrolling="no"></iframe><div class="cut"></div>
<iframe src="mooring.html#thermistors/temperature" style="flex: 1" scrolling="no"></iframe></div>
"""


def run(command, directory, path):
    """Returns the output of a command in a terminal of COLUMNS."""
    child, terminal = pty.fork()
    if child == 0:
        os.chdir(directory)
        os.environ.update(PATH=path, TERM="xterm-256color", LC_ALL="C.UTF-8")
        os.read(0, 1)  # waits until the terminal has its size
        os.execvp("sh", ["sh", "-c", command])
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("4H", ROWS, COLUMNS, 0, 0))
    os.write(terminal, b"\n")
    output = b""
    while True:
        try:
            part = os.read(terminal, 1 << 16)
        except OSError:  # the command has ended
            break
        if not part:
            break
        output += part
    os.waitpid(child, 0)
    return output.decode().replace("\r\n", "\n").strip("\n")


def coloured(text):
    """Returns terminal output as HTML; the styles are those that ra-pack uses."""
    styles = {"1": "font-weight: bold", "2": "color: #8b939d", "31": "color: #ff7b72", "32": "color: #7ee787",
              "33": "color: #e3b341", "34": "color: #79c0ff", "36": "color: #76d9e6",
              "91": "color: #ff7b72", "92": "color: #7ee787", "94": "color: #79c0ff", "96": "color: #76d9e6"}
    parts, opened = [], 0
    for part in re.split(r"(\x1b\[[0-9;]*m)", text):
        code = re.fullmatch(r"\x1b\[([0-9;]*)m", part)
        if not code:
            parts.append(html.escape(part))
        elif code[1] in ("", "0"):
            parts.append("</span>" * opened)
            opened = 0
        else:
            style = "; ".join(styles[number] for number in code[1].split(";"))
            parts.append(f'<span style="{style}">')
            opened += 1
    return "".join(parts) + "</span>" * opened


def main():
    program = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "ra-pack")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or not chromium:
        sys.exit("needs ra-pack and Chromium")
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)
        os.symlink(program, directory / "ra-pack")

        def quiet(*arguments):
            subprocess.run([program, *arguments, "--quiet"], cwd=directory, check=True, stdout=subprocess.DEVNULL)

        path = f"{scratch}:{os.environ['PATH']}"
        # Without its README the report begins with the title and the result of `verify`.
        shutil.copytree(ROOT / "examples/experiment", directory / "mooring")
        (directory / "mooring/README.md").unlink()
        quiet("describe", "mooring", "--set", "title=A mooring in the Sildefjord", "--set", "license=CC-BY-4.0")
        shown = []
        for command in COMMANDS:
            output = coloured(run(command, directory, path))
            shown.append(f'<span class="prompt">$</span> <b>{html.escape(command)}</b>\n{output}'.strip())
            if command == COMMANDS[0]:
                quiet("report", "mooring.zip", "-o", "mooring.html")
        page = {"width": WIDTH, "height": HEIGHT, "terminal": "\n".join(shown)}
        (directory / "overview.html").write_text(PAGE % page)
        subprocess.run(
            [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
             "--no-first-run", f"--user-data-dir={scratch}/profile", "--hide-scrollbars",
             f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={directory}/overview.png",
             f"file://{directory}/overview.html"],
            check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
        picture = ROOT / "docs/overview.png"
        shutil.move(directory / "overview.png", picture)
    print(f"wrote {picture} ({picture.stat().st_size // 1024} KiB)")


main()
