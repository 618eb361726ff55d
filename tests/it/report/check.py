"""Checks a page of `ra-pack report` in a browser.

    check.py PAGE EXPECTED

EXPECTED is JSON: `cards`, the number of arrays; `hits`, the number that each search finds; `texts` that the page
contains; `links`, fragments with the name of the array that each selects.
"""

import json
import pathlib
import sys

from browser import ESCAPE, Browser

VISIBLE = "return [...document.querySelectorAll('.c')].filter((card) => card.offsetParent !== null).length"
OUTPUT = "return document.querySelector('.tools output').textContent"


def expect(found, wanted, what):
    if found != wanted:
        raise SystemExit(f"{what}: {found!r}, not {wanted!r}")


def is_clean(browser, page, what):
    """Checks that the console has no messages, and that the page requested no other file."""
    expect(browser.log("browser"), [], f"console, {what}")
    asked = {address for address in browser.requests() if not address.startswith("data:image/png;")}
    own = {pathlib.Path(page).resolve().as_uri()}
    expect({address.split("#")[0] for address in asked} - own - {"about:blank"}, set(), f"requests, {what}")


def search(browser, cards, hits):
    if not cards:
        return
    for text, count in hits.items():
        browser.run("document.activeElement.blur(); window.scrollTo(0, 0)")
        browser.keys("/")
        focused = browser.run("return document.activeElement.type")
        expect(focused, "search", "the focus after a slash")
        browser.keys(text)
        expect(browser.run(VISIBLE), count, f"arrays found by {text!r}")
        output = browser.run(OUTPUT)
        if not output.startswith(f"{count:,} of {cards:,} array"):
            raise SystemExit(f"search for {text!r}: {output!r}")
        browser.keys(ESCAPE)
        expect(browser.run(VISIBLE), cards, "arrays after Escape")
        expect(browser.run("return document.querySelector('input').value"), "", "the text after Escape")


def order(browser, cards):
    if not cards:
        return
    names = "return [...document.querySelectorAll('.c')].map((card) => card.id)"
    choose = (
        "const select = document.querySelector('select'); select.value = arguments[0];"
        "select.dispatchEvent(new Event('change'))"
    )
    by_name = browser.run(names)
    browser.run(choose, "size")
    sizes = browser.run("return [...document.querySelectorAll('.c')].map((card) => +card.dataset.b)")
    expect(sizes, sorted(sizes, reverse=True), "the order by size")
    browser.run(choose, "type")
    types = browser.run("return [...document.querySelectorAll('.c .k')].map((kind) => kind.firstChild.textContent)")
    expect(types, sorted(types), "the order by type")
    browser.run(choose, "name")
    expect(browser.run(names), by_name, "the order by name, after others")


def widths(browser, what):
    for width, dark in [(360, False), (360, True), (768, False), (1280, True)]:
        browser.screen(width, 760, dark)
        wide = browser.run(
            "return [...document.querySelectorAll('body *')].filter((part) => part.getBoundingClientRect().right >"
            " document.documentElement.clientWidth + 1 && !part.matches('.skip, .z > svg, .z > svg *')).map((part) => part.outerHTML.slice(0, 200))"
            ".concat(document.documentElement.scrollWidth > document.documentElement.clientWidth ? ['the page'] : [])"
        )
        expect(wide, [], f"wider than {width}, {what}")


def contrast(browser, dark):
    """Checks that all visible text has the contrast of WCAG 2, level AA."""
    browser.screen(1280, 900, dark)
    poor = browser.run(
        """
        const parse = (colour) => colour.match(/[\\d.]+/g).map(Number);
        const light = (colour) => {
          const [red, green, blue] = colour.slice(0, 3).map((part) => {
            const share = part / 255;
            return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
          });
          return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        };
        const background = (part) => {
          for (; part; part = part.parentElement) {
            const colour = parse(getComputedStyle(part).backgroundColor);
            if (colour.length < 4 || colour[3] > 0) return colour;
          }
          return [255, 255, 255];
        };
        const poor = new Set();
        const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
        while (walker.nextNode()) {
          const part = walker.currentNode.parentElement;
          if (!walker.currentNode.textContent.trim() || part.matches("script, noscript, style, .skip, option")) continue;
          const [one, other] = [parse(getComputedStyle(part).color), background(part)].map(light);
          const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
          if (ratio < 4.5) poor.add(part.outerHTML.slice(0, 80) + " " + ratio.toFixed(2));
        }
        return [...poor];
        """
    )
    expect(poor, [], f"texts with little contrast, dark is {dark}")


def accessible(browser, are_links_anchors=True):
    """Checks names of images and controls, levels of headings, unique identifiers, and targets of links."""
    found = browser.run(
        """
        const faults = [];
        const named = (part) => part.getAttribute("alt") || part.getAttribute("aria-label") || part.getAttribute("aria-labelledby");
        for (const part of document.querySelectorAll("img, svg, input, select, nav, section[id]"))
          if (!named(part)) faults.push("without a name: " + part.outerHTML.slice(0, 120));
        let last = 0;
        for (const part of document.querySelectorAll("h1, h2, h3, h4")) {
          const level = Number(part.localName[1]);
          if (level > last + 1) faults.push("a skipped level: " + part.textContent);
          last = level;
        }
        const ids = [...document.querySelectorAll("[id]")].map((part) => part.id);
        if (new Set(ids).size !== ids.length) faults.push("duplicate identifiers");
        for (const one of ["main", "header", "footer", "h1"])
          if (document.querySelectorAll(one).length !== 1) faults.push("not one " + one);
        if (document.documentElement.lang !== "en") faults.push("no language");
        for (const link of arguments[0] ? document.querySelectorAll('a[href^="#"]') : [])
          if (!document.getElementById(link.getAttribute("href").slice(1))) faults.push("a link without a target: " + link.outerHTML);
        return faults;
        """,
        are_links_anchors,
    )
    expect(found, [], "accessibility")


def main(page, wanted):
    cards = wanted["cards"]
    with Browser() as browser:
        browser.open(page)
        is_clean(browser, page, "opening")
        expect(browser.run(VISIBLE), cards, "arrays")
        expect(browser.run("return document.scripts.length"), 1, "scripts")
        body = browser.run("return document.body.textContent")
        for text in wanted.get("texts", []):
            if text not in body:
                raise SystemExit(f"{text!r} is not in the page")
        accessible(browser)
        for dark in (False, True):
            contrast(browser, dark)
        browser.run("document.querySelectorAll('details').forEach((part) => (part.open = true))")
        widths(browser, "all open")
        browser.screen(1280, 900)
        search(browser, cards, wanted.get("hits", {}))
        order(browser, cards)
        for fragment, name in wanted.get("links", {}).items():
            browser.open(page, "#" + fragment)
            target = "const found = document.querySelector(':target'); return [found?.querySelector('h4').textContent, found?.checkVisibility()]"
            expect(browser.run(target), [name, True], f"the target of #{fragment}")
        expect(browser.paper()[:5], b"%PDF-", "the printed page")
        expect(browser.run("return document.title.endsWith('ra-pack report')"), True, "the title")
        is_clean(browser, page, "the whole run")

    # Without scripts, the page shows everything except the search.
    with Browser() as browser:
        browser.tool("Emulation.setScriptExecutionDisabled", value=True)
        browser.open(page)
        expect(browser.run(VISIBLE), cards, "arrays without scripts")
        expect(browser.run("return document.querySelectorAll('.t').length"), cards, "details without scripts")
        offered = browser.run("return [...document.querySelectorAll('.tools form')].filter((form) => !form.hidden).length")
        expect(offered, 0, "search forms without scripts")
        is_clean(browser, page, "without scripts")


if __name__ == "__main__":
    main(sys.argv[1], json.loads(sys.argv[2]))
