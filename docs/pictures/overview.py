"""Draws the picture in README, light and dark: a directory, its pack, and the array that `verify` reports as damaged.

usage: python3 docs/pictures/overview.py [RA_PACK]

RA_PACK is the program to run, by default `ra-pack` on the PATH. The script needs Chromium. It packs the sample
experiment, changes one byte of an array, and draws the answers of the program: the names, the plot and the verdict.
"""

import html
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
# README shows the picture at half of this width, so letters of 26 pixels have the size of its text.
WIDTH, HEIGHT = 1600, 560
ARRAY = "thermistors/temperature"
THEMES = {
    "overview.png": {"page": "#ffffff", "card": "#f3f5f8", "line": "#c3cad3", "ink": "#1f2328", "soft": "#57606a",
                     "good": "#1a7f37", "bad": "#cf222e"},
    "overview-dark.png": {"page": "#0d1117", "card": "#161b22", "line": "#3d444d", "ink": "#e6edf3", "soft": "#9198a1",
                          "good": "#3fb950", "bad": "#ff7b72"},
}

PAGE = """<!doctype html>
<meta charset="utf-8">
<style>
  * { box-sizing: border-box; margin: 0; }
  body { width: %(width)dpx; height: %(height)dpx; padding: 20px; display: flex; gap: 18px; align-items: stretch;
         background: %(page)s; color: %(ink)s; font: 28px/1.45 "DejaVu Sans", sans-serif; }
  section { background: %(card)s; border: 2px solid %(line)s; border-radius: 16px; padding: 24px 28px; overflow: clip;
            display: flex; flex-direction: column; }
  .bad { border: 4px solid %(bad)s; flex: 1; }
  h1 { font-size: 32px; margin-bottom: 12px; }
  pre, code { font: 26px/1.55 "DejaVu Sans Mono", monospace; }
  .bad h1 { font-size: 56px; }
  .bad { justify-content: space-between; }
  .soft { color: %(soft)s; }
  .good { color: %(good)s; }
  .bad h1, .bad b { color: %(bad)s; }
  .arrow { align-self: center; font-size: 56px; color: %(soft)s; }
  svg { width: 100%%; flex: 1; margin: 8px 0 14px; border-radius: 8px; }
</style>
<section><h1>mooring/</h1><pre>%(files)s</pre></section>
<div class="arrow">→</div>
<section style="width: 420px"><h1>mooring.zip</h1><p class="soft">zip + SHA-256</p>%(plot)s
<p class="good">✓ %(valid)s</p></section>
<div class="arrow">→</div>
<section class="bad"><p class="soft">If one byte changes:</p><pre>ra-pack verify mooring.zip</pre>
<h1>%(verdict)s</h1><p>damaged array:<br><b>%(damaged)s</b></p><p class="good">✓ %(intact)s</p></section>
"""


def main():
    program = shutil.which(sys.argv[1] if len(sys.argv) > 1 else "ra-pack")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if not program or not chromium:
        sys.exit("needs ra-pack and Chromium")
    program = pathlib.Path(program).resolve()
    with tempfile.TemporaryDirectory() as scratch:
        directory = pathlib.Path(scratch)

        def run(*arguments, status=0):
            ran = subprocess.run([program, *arguments], cwd=directory, capture_output=True, text=True)
            assert ran.returncode == status, ran.stderr
            return ran.stdout

        shutil.copytree(ROOT / "examples/experiment", directory / "mooring")
        run("create", "mooring", "-o", "mooring.zip")
        before = json.loads(run("verify", "mooring.zip", "--json"))
        assert before["verdict"] == "valid", before
        run("plot", "mooring.zip", ARRAY, "-o", "plot.svg")
        image = re.search(r'href="(data:image/png;base64,[^"]*)"', (directory / "plot.svg").read_text())[1]
        archive = bytearray((directory / "mooring.zip").read_bytes())
        offset = json.loads(run("info", "mooring.zip", ARRAY, "--json"))["archive_data_offset"]
        archive[offset + 1000] ^= 1
        (directory / "mooring.zip").write_bytes(archive)
        after = json.loads(run("verify", "mooring.zip", "--json", status=1))
        damaged = {finding["member"] for finding in after["findings"]}
        assert damaged == {f"{ARRAY}.ra"}, damaged

        files = ["thermistors/", "  <b>temperature.ra</b>", "  temperature.yaml", "  depth.ra", "  depth.yaml",
                 "time.ra", "time.yaml", '<span class="soft">…</span>']
        names = [re.sub("<.*?>", "", name).strip() for name in files[:-1]]
        assert all(list((directory / "mooring").rglob(name.rstrip("/"))) for name in names), names
        arrays = before["arrays"]
        page = {
            "width": WIDTH, "height": HEIGHT, "files": "\n".join(files),
            "plot": f'<svg viewBox="0 0 10 5" preserveAspectRatio="none"><image href="{image}" width="10" height="10" '
                    'preserveAspectRatio="none" style="image-rendering: pixelated"/></svg>',
            "valid": f"{arrays} arrays valid", "verdict": after["verdict"].replace("_", " ").upper(),
            "damaged": html.escape(ARRAY).replace("/", "/<wbr>"),
            "intact": f"{arrays - 1} of {arrays} arrays intact",
        }
        for name, theme in THEMES.items():
            (directory / "overview.html").write_text(PAGE % (page | theme))
            picture = ROOT / "docs" / name
            subprocess.run(
                [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
                 "--no-first-run", f"--user-data-dir={scratch}/profile", "--hide-scrollbars",
                 f"--window-size={WIDTH},{HEIGHT}", f"--screenshot={picture}", f"file://{directory}/overview.html"],
                check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=120)
            print(f"wrote {picture} ({picture.stat().st_size // 1024} KiB)")


main()
