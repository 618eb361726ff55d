"""Checks the viewer in a browser.

    scenarios.py SCENARIO VIEWER DIRECTORY

VIEWER is the page, DIRECTORY has the packs, and expected.json: what the command says about them.
"""

import ast
import hashlib
import json
import pathlib
import struct
import subprocess
import sys
import time
import urllib.parse
import zipfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "report"))
from browser import ELEMENT, ESCAPE, Browser  # noqa: E402
from check import expect  # noqa: E402
from server import serve  # noqa: E402

ENTER, TAB, UP, DOWN, LEFT, RIGHT, HOME, END = "\ue007", "\ue004", "\ue013", "\ue015", "\ue012", "\ue014", "\ue011", "\ue010"
H1 = "return document.querySelector('h1')?.textContent"
MESSAGE = "const it = document.querySelector('#message'); return it.hidden ? '' : it.textContent"
VERDICT = "return document.querySelector('#verdict').textContent"
TABLE = "return [...document.querySelectorAll('.table tr')].map((row) => [...row.children].map((cell) => cell.textContent))"
PLOT = "const it = document.querySelector('.plot img'); return it && !it.hidden && it.complete && it.naturalWidth > 0 ? it.alt : ''"


class Page(Browser):
    """The viewer in a browser."""

    def wait(self, script, wanted=None, what="", limit=20, of=None):
        """Waits until a script returns what is wanted: a value, or true."""
        until = time.monotonic() + limit
        while True:
            found = self.run(script)
            found = of(found) if of else found
            if (found == wanted) if wanted is not None else found:
                return found
            if time.monotonic() > until:
                told = self.run("return document.body.innerText.slice(0, 1500)")
                raise SystemExit(f"{what or script}: {found!r}, not {wanted!r}; the page says:\n{told}")
            time.sleep(0.03)

    def go(self, address):
        self.post("/url", {"url": address})

    def choose(self, path):
        """Chooses a file as a person does in the dialog."""
        self.run("document.querySelector('#file').hidden = false")
        found = self.run("return document.querySelector('#file')")
        self.post(f"/element/{found[ELEMENT]}/value", {"text": str(path)})
        self.run("document.querySelector('#file').hidden = true")

    def hash(self, fragment):
        self.run("location.hash = arguments[0]", fragment)

    def click(self, selector):
        self.run("document.querySelector(arguments[0]).click()", selector)

    def fill(self, selector, text):
        self.run(
            "const it = document.querySelector(arguments[0]); it.focus(); it.value = arguments[1];"
            "it.dispatchEvent(new Event('input')); it.dispatchEvent(new Event('change'))",
            selector,
            text,
        )

    def opened(self, arrays):
        noun = "array" if arrays == 1 else "arrays"
        self.wait("return document.querySelector('#found').textContent", f"{arrays:,} {noun}", "the pack is open")

    def quiet(self, messages=()):
        """Checks the messages in the console: only failed requests that are named may be there."""
        told = [entry["message"] for entry in self.log("browser")]
        left = [line for line in told if not any(part in line for part in messages)]
        expect(left, [], "console")


def contrast_and_widths(page, what):
    """Checks that texts have the contrast of WCAG 2, level AA, and that nothing is wider than the screen."""
    from check import accessible, contrast

    accessible(page, are_links_anchors=False)
    for dark in (False, True):
        contrast(page, dark)
    for width, dark in [(400, False), (1600, True)]:
        page.screen(width, 900, dark)
        time.sleep(0.3)
        wide = page.run("return document.documentElement.scrollWidth - document.documentElement.clientWidth")
        expect(wide, 0, f"the page is wider than {width}, {what}")
    page.screen(1280, 900)


def same(text):
    """Returns a number with the digits that a table shows, and other texts as they are."""
    try:
        return float(f"{complex(text.replace('i', 'j')).real:.5g}")
    except ValueError:
        return text


def shows(page, viewer, directory, wanted):
    """Opens the sample from a file, and each of its arrays by its link."""
    page.open(viewer)
    page.requests()
    page.wait(H1, "Open a pack")
    contrast_and_widths(page, "no pack is open")
    page.choose(directory / "mooring.zip")
    page.opened(len(wanted["arrays"]))
    page.wait(H1, "mooring.zip")
    body = page.run("return document.body.textContent")
    for text in wanted["texts"]:
        if text not in body:
            raise SystemExit(f"{text!r} is not in the page")
    contrast_and_widths(page, "the pack")
    for array in wanted["arrays"]:
        page.hash("#" + urllib.parse.quote(array["path"]))
        page.wait("return document.querySelector('article')?.getAttribute('aria-label')", array["path"])
        kinds = page.run("return document.querySelector('.kinds b').textContent")
        expect(kinds.split(" of ")[-1], array["type"].split(" of ")[-1], f"the type of {array['path']}")
        heading = page.run(H1)
        expect(heading.startswith(array["title"]), True, f"{heading!r} begins with {array['title']!r}")
        rows = page.wait(TABLE, of=lambda rows: rows if len(rows) > 0 else None)
        cells = {same(cell) for row in rows for cell in row}
        for value in array["values"]:
            expect(same(value) in cells, True, f"{value} in the values of {array['path']}: {rows[:3]}")
        if array["plot"]:
            page.wait(PLOT, what=f"the plot of {array['path']}")
        page.wait("return document.querySelectorAll('.numbers dt').length > 0", True, f"statistics of {array['path']}")
        # A part of an array is not compared with the digest of the whole.
        state = "not verified yet" if array["path"] == "currents/velocity" else "✓ verified"
        expect(page.run("return document.querySelector('.kinds .badge').textContent"), state, f"the state of {array['path']}")
    page.hash("#thermistors/temperature")
    page.wait(PLOT)
    contrast_and_widths(page, "an array")
    page.quiet()
    asked = {address.split(":")[0] for address in page.requests()}
    expect(asked - {"file", "blob"}, set(), "requests")


def selects(page, viewer, directory, wanted):
    """Searches, selects parts by boxes, sliders and axes, and shares the address."""
    page.open(viewer)
    page.choose(directory / "mooring.zip")
    page.opened(10)
    for text, number in wanted["hits"].items():
        page.run("document.activeElement.blur()")
        page.keys("/" + text)
        page.wait("return document.querySelector('#found').textContent", f"{number} of 10 arrays", f"search for {text!r}")
        page.keys(ESCAPE)
        page.wait("return document.querySelector('#found').textContent", "10 arrays", "after Escape")
    page.hash("#currents/velocity")
    page.wait(PLOT)
    boxes = "return [...document.querySelectorAll('.dim input:not([type])')].map((box) => box.value)"
    expect(page.run(boxes), ["0", ":", ":"], "the first selection")
    first = page.run("return document.querySelector('.plot img').src")
    page.fill(".dim input[type=range]", "1")
    page.wait("return document.querySelector('.plot img').src", of=lambda now: now != first, what="another plot")
    expect(page.run(boxes), ["1", ":", ":"], "the selection after the slider")
    expect(page.run("return location.hash"), "#currents/velocity?slice=1,:,:", "the address")
    # Another dimension across: the one that was there has an index.
    page.run("const it = document.querySelector('.dims + .tools select'); it.value = '0'; it.dispatchEvent(new Event('change'))")
    page.wait(boxes, [":", ":", "0"], "after the choice of an axis")
    page.wait(PLOT)
    page.fill(".dim:nth-child(2) input", "2:4")
    rows = page.wait(TABLE, of=lambda rows: rows if len(rows) == 3 else None)
    expect(len(rows[1]), 3, "columns of [:, 2:4, 0], with the header") if len(rows[1]) == 3 else None
    page.fill(".dim:nth-child(2) input", "nonsense")
    page.wait("return document.querySelector('.table').textContent", of=lambda text: "nonsense" in text, what="a message about the slice")
    page.fill(".dim:nth-child(2) input", "1")
    page.wait(PLOT)
    # The address shows the same in a new page.
    page.hash("#thermistors/temperature?slice=2:5,::4&x=0&y=1")
    table = page.wait(TABLE, of=lambda rows: rows if len(rows) == 4 else None)
    link = page.run("return location.hash")
    server = serve(directory)
    page.go(f"{server.root}/viewer.html?url=mooring.zip{link}")
    page.opened(10)
    expect(page.wait(TABLE, of=lambda rows: rows if rows else None), table, "the values of a link")
    expect(page.run("return location.hash"), link, "the address after opening a link")
    expect(page.run("return document.querySelector('.dims + .tools select').value"), "0", "the dimension across")
    # Values as stored, and parts of complex numbers.
    page.hash("#time")
    page.wait(TABLE, of=lambda rows: any("2024-06-03" in cell for row in rows for cell in row))
    page.click(".bar input[type=checkbox]")
    page.wait(TABLE, of=lambda rows: not any("2024-06-03" in row[-1] for row in rows[1:]))
    page.hash("#currents/spectrum?part=angle")
    page.wait(PLOT, of=lambda text: "phase" in text)
    page.hash("#nothing/of/this")
    page.wait(H1, "This array cannot be shown")
    page.wait("return document.querySelector('.failure').textContent", of=lambda text: "nothing/of/this" in text)
    page.quiet()


def numbers(npy):
    """Returns the shape of an array of float32, and its bytes with the last index fastest."""
    length = struct.unpack("<H", npy[8:10])[0]
    header = ast.literal_eval(npy[10 : 10 + length].decode())
    (rows, columns), data = header["shape"], npy[10 + length :]
    cells = [data[at : at + 4] for at in range(0, len(data), 4)]
    if header["fortran_order"]:
        cells = [cells[column * rows + row] for row in range(rows) for column in range(columns)]
    return header["descr"], (rows, columns), cells


def downloads(page, viewer, directory, wanted):
    """Saves arrays and plots, opens single files, drops a file, and changes the colours."""
    home = directory / "downloads"
    page.tool("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(home))

    def saved(text, name):
        page.run("[...document.querySelectorAll('.set button')].find((it) => it.textContent === arguments[0]).click()", text)
        until = time.monotonic() + 20
        while not (home / name).exists():
            if time.monotonic() > until:
                raise SystemExit(f"{name} is not saved: {list(home.iterdir()) if home.exists() else None}")
            time.sleep(0.05)
        return (home / name).read_bytes()

    page.open(viewer)
    page.choose(directory / "mooring.zip")
    page.opened(10)
    page.hash("#thermistors/temperature")
    page.wait(PLOT)
    expect(saved("PNG", "temperature.png")[:8], b"\x89PNG\r\n\x1a\n", "a plot as PNG")
    expect(b"<svg" in saved("SVG", "temperature.svg")[:200], True, "a plot as SVG")
    page.run("document.querySelector('[aria-label=\"What to download\"]').value = 'all'")
    for ending, read in (("npy", numbers), ("csv", bytes), ("ra", bytes)):
        content = (directory / f"wanted.{ending}").read_bytes()
        found = read(saved(f".{ending}", f"temperature.{ending}"))
        expect(found == read(content), True, f"the array as {ending} equals that of the command")
    code = page.run("return [...document.querySelectorAll('main pre')].find((it) => it.textContent.includes('import numpy')).textContent")
    ran = subprocess.run([wanted["python"], "-c", f"{code}\nprint(x.shape, x[3, 5])"], cwd=directory, capture_output=True, text=True)
    expect(ran.stdout.strip(), "(10, 149) 15.7375", f"what the Python code prints:\n{code}\n{ran.stderr}")
    # Single files.
    values = "return [...document.querySelectorAll('.table td')].map((cell) => cell.textContent)"
    long = "x" + "ö" * 60
    for name, shown in (("depth.ra", "depth"), ("depth.npy", "depth"), (f"{long}.npy", "x" + "ö" * 44)):
        page.choose(directory / name)
        page.wait("return document.querySelector('#name').textContent", name)
        page.wait("return document.querySelector('article')?.getAttribute('aria-label')", shown)
        page.wait(values, of=lambda cells: cells[:1] == ["1."] and len(cells) == 10, what=f"the values of {name}")
    # The page asks before it reads a large array for a plot, and shows its values at once.
    count = 9 << 27
    with open(directory / "huge.ra", "wb") as file:
        file.write(struct.pack("<8s6Q", b"rawarray", 0, 3, 8, 8 * count, 1, count))
        file.seek(8 * count - 8, 1)
        file.write(struct.pack("<d", 7.5))
    page.choose(directory / "huge.ra")
    page.wait("return document.querySelector('.plot')?.textContent", "Draw reads 9.0 GiB")
    page.hash(f"#huge?slice={count - 1}:")
    page.wait(values, ["7.5"], what="the last value of an array of 9 GiB")
    page.wait(PLOT)
    # A drop, as the browser reports it.
    page.run(
        "const data = new DataTransfer(); data.items.add(new File(['no pack'], 'dropped.zip'));"
        "for (const type of ['dragenter', 'drop']) dispatchEvent(new DragEvent(type, { dataTransfer: data, cancelable: true }))"
    )
    page.wait(MESSAGE, of=lambda text: "dropped.zip" in text, what="a message about the dropped file")
    expect(page.run("return document.querySelector('#drop').hidden"), True, "the hint after the drop")
    for theme in ("light", "dark", "auto"):
        page.click("#theme")
        expect(page.run("return document.documentElement.dataset.theme"), theme, "the colours")
    page.quiet()


def finding_texts(page):
    return page.run(
        "return [...document.querySelectorAll('#verification .finding')].map((it) => [it.querySelector('code').textContent,"
        "it.querySelector('p').textContent, it.querySelector('details .text')?.textContent ?? '', it.textContent])"
    )


def verifies(page, viewer, directory, wanted):
    """Verifies packs: the verdict and findings are those of the command."""
    for name, command in wanted["packs"].items():
        page.open(viewer)
        page.choose(directory / name)
        page.wait("return !document.querySelector('#verdict').hidden", True)
        expect(page.run(VERDICT), "Verify", "before the verification")
        page.click("#verdict")
        verdict = page.wait(VERDICT, of=lambda text: text if "alid" in text or "onfirmed" in text else None, limit=60, what=name)
        expect("✓" in verdict, command["verdict"] == "valid", f"{name}: {verdict}")
        found = finding_texts(page)
        codes = [finding["code"] for finding in command["findings"]]
        expect([code for code, *_ in found], codes, f"codes of {name}")
        for (_, text, explanation, whole), finding in zip(found, command["findings"]):
            for value in ("expected", "found"):
                shown = f"{value} {finding.get(value, '')}"[:1000]
                expect(value not in finding or shown in whole, True, f"{shown!r} is in {whole!r}")
            expect(finding["message"] in text, True, f"{finding['message']!r} is in {text!r}")
            expect(len(explanation) > 40, True, f"the explanation of {finding['code']}")
        if name == "damaged.zip":
            contrast_and_widths(page, "findings")
            page.hash("#thermistors/temperature")
            page.wait("return document.querySelector('.kinds .badge')?.textContent", "✗ not valid")
            page.hash("#thermistors/depth")
            page.wait("return document.querySelector('article')?.getAttribute('aria-label')", "thermistors/depth")
        if name == "mooring.zip":
            page.hash("#thermistors/temperature")
            page.wait("return document.querySelector('.kinds .badge')?.textContent", "✓ verified")
    # A manifest that was stored apart from the pack.
    page.open(viewer)
    page.choose(directory / "mooring.zip")
    page.opened(10)
    page.choose(directory / "mooring.zip.manifest-sha256.txt")
    page.wait(VERDICT, "✓ Valid", "with the manifest of the pack")
    page.choose(directory / "other.manifest-sha256.txt")
    page.wait(VERDICT, of=lambda text: "Not valid" in text, what="with another manifest")
    # Stopping.
    page.choose(directory / "large.zip")
    page.opened(wanted["large"])
    page.click("#verdict")
    page.wait("return Boolean(document.querySelector('#verification progress'))", True)
    page.run("[...document.querySelectorAll('#verification button')].find((it) => it.textContent === 'Stop').click()")
    page.wait(VERDICT, "Verify", "after the stop")
    page.quiet()


def servers(page, viewer, directory, wanted):
    """Opens a pack at a URL, from servers of several kinds."""
    good = serve(directory)
    page.go(f"{good.root}/viewer.html?url=mooring.zip")
    page.opened(10)
    asked = [(path, part) for path, part in good.asked if path.startswith("/mooring.zip")]
    expect(all(part for _, part in asked), True, "only parts are requested")
    other = serve(directory)
    page.go(f"{good.root}/viewer.html?url={other.root}/mooring.zip#time")
    page.opened(10)
    page.wait(PLOT)
    # Large packs are read in parts.
    before = len(good.asked)
    page.go(f"{good.root}/viewer.html?url=large.zip")
    page.opened(wanted["large"])
    read = sum(part[1] - part[0] + 1 for path, part in good.asked[before:] if path.startswith("/large.zip"))
    expect(read < wanted["large_size"] / 4, True, f"{read} of {wanted['large_size']} bytes are read to open a pack")
    for options, texts in [
        ({"ranges": False}, ["sends the whole file", "Accept-Ranges"]),
        ({"cors": False}, ["Access-Control-Allow-Origin", "Its owner has to"]),
        ({"exposed": False}, ["Access-Control-Expose-Headers"]),
    ]:
        server = serve(directory, **options)
        page.go(f"{good.root}/viewer.html?url={server.root}/mooring.zip")
        told = page.wait(MESSAGE, what=f"a message for {options}")
        for text in texts:
            expect(text in told, True, f"{text!r} in {told!r}")
    changing = serve(directory, changing=True)
    page.go(f"{good.root}/viewer.html?url={changing.root}/large.zip")
    page.wait(MESSAGE, of=lambda text: "changed while it was read" in text)
    page.go(f"{good.root}/viewer.html?url=missing.zip")
    page.wait(MESSAGE, of=lambda text: "404" in text)
    page.go(f"{good.root}/viewer.html?url=javascript:alert(1)")
    page.wait(MESSAGE, of=lambda text: "is not an address" in text)
    page.quiet(["404", "CORS", "ERR_FAILED", "unsafe header"])


def keyboard(page, viewer, directory, wanted):
    """Uses only keys: search, the tree, an array, its selection, and the verification."""
    page.open(viewer)
    page.choose(directory / "mooring.zip")
    page.opened(10)
    focus = "const it = document.activeElement; return it.id || it.getAttribute('aria-label') || it.textContent"
    page.keys("/")
    expect(page.run(focus), "search", "the focus after a slash")
    page.keys("velocity")
    page.wait("return document.querySelector('#found').textContent", "2 of 10 arrays")
    page.keys(DOWN + DOWN + ENTER)
    page.wait("return document.querySelector('article')?.getAttribute('aria-label')", "currents/velocity")
    page.keys(ESCAPE)
    page.wait("return document.querySelector('#found').textContent", "10 arrays")
    expect(page.run(focus), "tree", "the focus after Escape")
    active = "return document.getElementById(document.querySelector('#tree').getAttribute('aria-activedescendant'))?.title"
    page.keys(HOME)
    first = page.wait(active, "currents")
    expect(page.run("return document.querySelector('[role=treeitem]').getAttribute('aria-expanded')"), "true", "open at first")
    page.keys(LEFT)
    page.wait("return document.querySelector('[role=treeitem]').getAttribute('aria-expanded')", "false")
    page.keys(RIGHT + RIGHT)
    page.wait(active, of=lambda now: now.startswith("currents/"))
    page.keys(LEFT)
    page.wait(active, first)
    page.keys(END)
    page.wait(active, "time")
    page.keys(ENTER)
    page.wait("return document.querySelector('article')?.getAttribute('aria-label')", "time")
    page.wait(PLOT)
    # The selection is after the tree.
    for _ in range(12):
        page.keys(TAB)
        if page.run(focus).startswith("Selection of"):
            break
    page.keys("3:5" + ENTER)
    page.wait(TABLE, of=lambda rows: len([row for row in rows if row]) in (2, 3))
    page.run("document.activeElement.blur(); document.querySelector('#verdict').focus()")
    page.keys(ENTER)
    page.wait(VERDICT, "✓ Valid")
    page.keys(ENTER)
    page.wait("return document.activeElement.closest('#verification') !== null", True, "the focus in the verification")
    page.quiet()


WATCH = """
window.longest = 0;
let last = performance.now();
const look = () => {
  const now = performance.now();
  window.longest = Math.max(window.longest, now - last);
  last = now;
  setTimeout(look, 20);
};
look();
"""


def hostile(page, viewer, directory, wanted):
    """Opens hostile packs and everything in them: no script runs, and nothing freezes the page."""
    for name in wanted["packs"]:
        page.open(viewer)
        page.run(WATCH)
        page.choose(directory / name)
        page.wait("return document.body.classList.contains('open') || !document.querySelector('#message').hidden", True, name)
        if not page.run("return document.body.classList.contains('open')"):
            continue
        rows = page.run("return app.core.call('list', { from: 0, count: 20 }).then(({ rows }) => rows)")
        for path, shown in ((row["path"], row["shown"]) for row in rows):
            page.run("location.hash = app.link(arguments[0])", path)
            label = "return document.querySelector('article > .failure') ? null : document.querySelector('article')?.getAttribute('aria-label') ?? ''"
            label = page.wait(label, of=lambda label: label is None or label == shown, what=f"{name}: {path!r}")
            values = "return !document.querySelector('.table') || document.querySelector('.table').textContent !== ''"
            page.wait(values, True, f"values of {path!r} in {name}", limit=30)
        page.click("#verdict")
        page.wait(VERDICT, of=lambda text: "alid" in text or "onfirmed" in text or "Not verified" in text, limit=60, what=name)
        markup = page.run("return document.querySelectorAll('main :is(script, iframe, object, style), main img:not(.plot img)').length")
        expect(markup, 0, f"elements from the pack {name}")
        expect(page.run("return document.title.includes('hit')"), False, f"a script of {name} ran")
        longest = page.run("return window.longest")
        expect(longest < 1000, True, f"{name} froze the page for {longest:.0f} ms")
        page.quiet()


VERIFY = """
const [path, name] = arguments;
const file = new File([await (await fetch(path)).blob()], name);
const core = new Core({ file, name });
try {
  const { verdict, findings, errors, warnings } = await core.call("verify");
  return { verdict, errors, warnings, findings: findings.map(({ code, severity, message }) => [code, severity, message]) };
} catch (error) {
  return { error: error.message };
} finally {
  core.stop();
}
"""


def agrees(page, viewer, directory, wanted):
    """Verifies each file as the command does: with the same verdict, and the same findings in the same words.

    If the file cannot be opened, the page says so in the words of the first finding.
    """
    page.go(f"{serve(directory).root}/viewer.html")
    different = []
    for path, command in wanted.items():
        found = page.run(VERIFY, path, path.split("/")[-1])
        if "error" in found:
            words = [f"error[{code}]: {message}" for code, _, message in command["findings"][:1]]
            agrees = command["verdict"] != "valid" and all(text in found["error"] for text in words)
        else:
            agrees = found == command
        if not agrees:
            different.append(f"{path}:\n  viewer:  {found}\n  command: {command}")
    if different:
        raise SystemExit("\n".join([f"{len(different)} of {len(wanted)} differ:", *different]))
    page.quiet()


def write_many(path, number):
    """Writes a pack of very many arrays in groups of 1000."""
    array = b"rawarray" + struct.pack("<6Q", 0, 3, 4, 8, 1, 2) + bytes(8)
    lines = []
    with zipfile.ZipFile(path, "w") as pack:

        def add(name, content):
            pack.writestr(zipfile.ZipInfo(name), content)
            lines.append(f"{hashlib.sha256(content).hexdigest()}  {name}\n")

        for nth in range(number):
            name = f"run{nth // 1000:03}/speed{nth:06}"
            add(name + ".ra", array)
            add(name + ".yaml", f"ndarrays:\n  speed{nth:06}: {{shape: [2], type: float32}}\n".encode())
        pack.writestr(zipfile.ZipInfo("manifest-sha256.txt"), "".join(lines))


def many(page, viewer, directory, wanted):
    """Opens a pack of very many arrays, searches it, and verifies it."""
    write_many(directory / "many.zip", wanted["many"])
    server = serve(directory)
    for name, limit, number in [("mooring.zip", 1.0, 10), ("many.zip", 2.0, wanted["many"])]:
        page.go("about:blank")
        began = time.monotonic()
        page.go(f"{server.root}/viewer.html?url={name}")
        page.opened(number)
        page.wait("return document.querySelectorAll('[role=treeitem]').length > 0", True)
        took = time.monotonic() - began
        print(f"{name}: the first view after {took:.2f} s", file=sys.stderr)
        expect(took < limit * wanted["patience"], True, f"the first view of {name} took {took:.2f} s")
    times = []
    for text in wanted["hits"]:
        page.run("document.activeElement.blur()")
        page.keys("/")
        began = time.monotonic()
        page.keys(text)
        said = f"{wanted['hits'][text]:,} of {wanted['many']:,} arrays"
        page.wait("return document.querySelector('#found').textContent", said, f"search for {text!r}")
        times.append(time.monotonic() - began)
        page.keys(ESCAPE)
        page.wait("return document.querySelector('#found').textContent", f"{wanted['many']:,} arrays")
    print(f"searches took {', '.join(f'{took:.2f}' for took in times)} s", file=sys.stderr)
    expect(max(times) < wanted["patience"], True, f"searches took {times}")
    active = "return document.getElementById(document.querySelector('#tree').getAttribute('aria-activedescendant'))?.title"
    page.run("document.querySelector('#tree').focus()")
    page.keys(END)
    page.wait(active, wanted["last_group"])
    page.keys(RIGHT)
    page.wait("return document.querySelectorAll('[aria-level=\"2\"]').length > 0", True)
    page.keys(END)
    page.wait(active, wanted["last"])
    expect(page.run("return document.querySelectorAll('[role=treeitem]').length") < 100, True, "elements of the list")
    page.keys(ENTER)
    page.wait("return document.querySelector('article')?.getAttribute('aria-label')", wanted["last"])
    page.wait(TABLE, of=lambda rows: rows)
    page.click("#verdict")
    page.wait(VERDICT, of=lambda text: "Valid" in text, limit=200, what="the verification of many arrays")
    page.quiet()


def inside(page, viewer, directory, wanted):
    """Opens a page with a pack inside: nothing is requested."""
    page.requests()
    page.open(directory / "inside.html")
    page.opened(10)
    page.hash("#thermistors/temperature")
    page.wait(PLOT)
    page.click("#verdict")
    page.wait(VERDICT, "✓ Valid")
    page.quiet()
    expect({address.split(":")[0] for address in page.requests()} - {"file", "blob"}, set(), "requests")


if __name__ == "__main__":
    scenario, viewer, directory = sys.argv[1], *map(pathlib.Path, sys.argv[2:])
    with Page() as page:
        globals()[scenario](page, viewer, directory, json.loads((directory / "expected.json").read_text()))
