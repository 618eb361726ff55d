"""Makes target/site with MkDocs, and checks it. `packaging/site/build` runs it.

The pages keep their places in the repository, so that their links work in the repository and in the site. Files that
they link to are copied. The navigation is docs/README.md: its sections, and the titles of its pages.
"""

import html.parser
import logging
import pathlib
import re
import shutil
import subprocess
import sys
import urllib.parse

import mkdocs.commands.build
import mkdocs.config
import mkdocs.structure.nav

ROOT = pathlib.Path(__file__).resolve().parents[2]
SOURCE, SITE = ROOT / "target/site-source", ROOT / "target/site"
PROJECT = ["CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "benches/README.md", "tests/vectors/README.md"]
RUST = "rust/ra_pack/index.html"
LINK = re.compile(r'(?:\]\(|(?:src|srcset|href)=")([^)"#]+)')


def tracked(path):
    """Returns the files of the repository at a path, or below it."""
    listed = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", path],
                            cwd=ROOT, check=True, capture_output=True, text=True).stdout
    return list(filter(None, listed.split("\0")))


def stage():
    """Copies the pages, and the files that they link to."""
    shutil.rmtree(SOURCE, ignore_errors=True)
    waiting = ["README.md", "packaging/site/iframe-worker.js", *PROJECT, *tracked("docs")]
    while waiting:
        name = waiting.pop()
        copy = SOURCE / name
        if copy.exists():
            continue
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(ROOT / name, copy)
        if not name.endswith(".md"):
            continue
        prose = re.sub(r"^```.*?^```$", "", copy.read_text(), flags=re.DOTALL | re.MULTILINE)
        for link in LINK.findall(prose):
            if not urllib.parse.urlsplit(link).scheme:
                target = (ROOT / name).parent.joinpath(link).resolve().relative_to(ROOT)
                waiting += tracked(target)


def navigation():
    """Returns the sections of docs/README.md with their pages, and the pages about the project."""
    sections, pages = [{"Overview": "README.md"}], None
    for line in (SOURCE / "docs/README.md").read_text().splitlines():
        if line.startswith("## "):
            pages = ["docs/README.md"] if len(sections) == 1 else []
            sections.append({line[3:]: pages})
        elif pages is not None:
            links = re.findall(r"\[([^]]+)\]\(([^)]+)\)", line)
            pages += [{title.replace("`", ""): f"docs/{link}"} for title, link in links]
    titles = {name: re.search(r"^# (.*)", (SOURCE / name).read_text(), re.MULTILINE)[1] for name in PROJECT}
    return [*sections, {"Project": [{title: name} for name, title in titles.items()]}]


def on_nav(nav, config, files):
    """Adds the reference of the Rust library, which is not a page of MkDocs."""
    reference = next(item for item in nav.items if item.title == "Reference")
    link = mkdocs.structure.nav.Link("Reference of the Rust library", RUST)
    link.parent = reference
    reference.children.append(link)
    return nav


class References(html.parser.HTMLParser):
    """Collects the links, the targets of links and the loaded files of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loaded, self.anchors = [], [], {"", "__skip"}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        values = dict(attributes)
        self.anchors.update(filter(None, [values.get("id"), values.get("name")]))
        if tag == "a":
            self.links.append(values.get("href"))
        elif tag == "link":
            if values.get("rel") not in ("canonical", "next", "prev"):
                self.loaded.append(values.get("href"))
        else:
            self.loaded += [values.get("src"), values.get("srcset")]


def problems():
    """Yields each link without a target, and each file that a page would load from another host."""
    pages = {path: References(path.read_text()) for path in SITE.rglob("*.html")}
    for path, page in pages.items():
        for link in filter(None, page.loaded):
            if urllib.parse.urlsplit(link).netloc:
                yield f"{path}: loads {link}"
        if path.is_relative_to(SITE / "rust"):  # rustdoc checks its links
            continue
        for link in filter(None, page.links + page.loaded):
            parts = urllib.parse.urlsplit(link)
            if parts.scheme or parts.netloc or path.name == "404.html":
                continue
            target = path.parent.joinpath(urllib.parse.unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{path}: no file for {link}"
            elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
                yield f"{path}: no heading for {link}"
    for path in SITE.rglob("*.css"):
        for link in re.findall(r"url\(['\"]?((?:https?:)?//[^)]+)", path.read_text()):
            yield f"{path}: loads {link}"


def main():
    logging.basicConfig(format="%(levelname)s: %(message)s", level=logging.WARNING)
    stage()
    config = mkdocs.config.load_config(str(ROOT / "packaging/site/mkdocs.yml"), docs_dir=str(SOURCE),
                                       site_dir=str(SITE), nav=navigation(), strict=True)
    config.plugins.events["nav"].append(on_nav)
    config.plugins.run_event("startup", command="build", dirty=False)
    mkdocs.commands.build.build(config)
    shutil.copytree(ROOT / "target/doc", SITE / "rust")
    found = list(problems())
    print(*found, sep="\n", end="\n" if found else "")
    print(f"{len(list(SITE.rglob('*.html')))} pages")
    sys.exit(1 if found else 0)


main()
