"""Joins the page, its style and scripts, and the core into one file."""

import base64
import hashlib
import pathlib
import re
import sys
import zlib

made = pathlib.Path(sys.argv[1])
page = pathlib.Path(__file__).parent / "page"
manifest = (pathlib.Path(__file__).parent.parent / "Cargo.toml").read_text()


def read(name):
    return (page / name).read_text()


def digest(text):
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


packer = zlib.compressobj(9, zlib.DEFLATED, -15)
core = packer.compress((made / "core_bg.wasm").read_bytes()) + packer.flush()
names = sorted(path.name for path in page.glob("*.js") if path.name not in ("worker.js", "main.js"))
script = "\n".join(read(name) for name in [*names, "main.js"])
worker = (made / "core.js").read_text() + read("worker.js")
# The text of a worker is in an element that ends with this mark.
assert "</script" not in (script + worker).lower()
style = read("style.css")
policy = (
    f"default-src 'none'; script-src '{digest(script)}' 'wasm-unsafe-eval' blob:; worker-src blob:; "
    f"style-src '{digest(style)}'; img-src blob: data:; connect-src *; base-uri 'none'; form-action 'self'"
)
parts = {
    "policy": policy,
    "version": re.search(r'^version = "(.*)"$', manifest, re.M)[1],
    "style": style,
    "worker": worker,
    "core": base64.b64encode(core).decode(),
    "script": script,
}
text = re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], read("viewer.html"))
(made / "viewer.html").write_text(text)
print(f"target/viewer/viewer.html: {len(text.encode()):,} bytes, {len(zlib.compress(text.encode(), 9)):,} compressed")
