"use strict";
// The list of arrays: a tree of groups, or the arrays that a search finds. Only the rows in view are elements.

/** Rows that are asked for at once. */
const PART = 200;
/** Groups are open at first if the pack has at most this many arrays. */
const FEW = 60;
/** With more arrays than this, reading all descriptions for the search takes a while. Hits by name are shown at once. */
const MANY = 2000;

/** Rows of an answer of the core, fetched part by part when they are seen. */
class Rows {
  constructor(fetch, changed) {
    Object.assign(this, { fetch, changed, total: null, rows: new Map(), asked: new Set() });
  }

  async part(nth) {
    if (this.asked.has(nth)) return;
    this.asked.add(nth);
    const answer = await this.fetch(nth * PART, PART);
    this.total = answer.matched ?? answer.total;
    answer.rows.forEach((row, at) => this.rows.set(nth * PART + at, row));
    this.changed();
  }

  get(index) {
    if (!this.rows.has(index)) this.part(Math.floor(index / PART)).catch(sayError);
    return this.rows.get(index);
  }
}

/** A group whose rows are shown, with the open groups among them. */
class Group {
  constructor(path, level, list) {
    Object.assign(this, { path, level, open: new Map() });
    this.rows = new Rows((from, number) => list.core.call("groups", { group: path, from, count: number }), () => {
      for (const [index, row] of this.rows.rows) {
        const isNew = row.kind === "group" && !this.open.has(index) && !list.closed.has(row.path);
        if (isNew && (list.isSmall || `${list.wanted ?? ""}/`.startsWith(`${row.path}/`))) list.expand(this, index, row);
      }
      list.draw();
    });
  }

  get height() {
    let height = this.rows.total ?? 0;
    for (const group of this.open.values()) height += group.height;
    return height;
  }

  /** Finds the row at a height: its group, its index there and, if it has been fetched, the row. */
  at(height) {
    let rest = height;
    for (const [index, group] of [...this.open].sort(([one], [other]) => one - other)) {
      if (rest <= index) break;
      if (rest <= index + group.height) return group.at(rest - index - 1);
      rest -= group.height;
    }
    return { group: this, index: rest, row: this.rows.get(rest) };
  }
}

class List {
  constructor(chosen) {
    this.chosen = chosen;
    this.tree = $("tree");
    this.space = $("rows");
    this.tree.addEventListener("scroll", () => this.draw());
    this.tree.addEventListener("keydown", (event) => this.key(event));
    this.tree.addEventListener("click", (event) => {
      const row = event.target.closest("[role=treeitem]");
      if (row) this.choose(Number(row.dataset.at));
    });
    $("search").addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.search($("search").value.trim()), 80);
    });
    $("search").addEventListener("keydown", (event) => {
      if (event.key === "ArrowDown" || event.key === "Enter") {
        event.preventDefault();
        this.tree.focus();
        this.move(0);
        if (event.key === "Enter") this.choose(0);
      }
    });
    new ResizeObserver(() => this.draw()).observe(this.tree);
  }

  /** Shows the arrays of a pack. */
  open(core, source, arrays) {
    this.close();
    Object.assign(this, { core, source, arrays, isSmall: arrays <= FEW, focused: 0, found: null, findings: new Map() });
    this.closed = new Set();
    // Reads the descriptions of the rows in view, so that the first worker is free for the array that is shown.
    this.finder = new Core(source);
    $("search").value = "";
    this.root = new Group("", 1, this);
    this.tree.scrollTop = 0;
    this.say();
    return this.root.rows.part(0);
  }

  close() {
    this.finder?.stop();
    Object.assign(this, { finder: null, found: null, root: null });
  }

  async search(text) {
    this.tree.scrollTop = 0;
    this.focused = 0;
    if (!text) {
      this.found = null;
      this.draw();
      this.say();
      return;
    }
    const rows = (core, deep) => {
      const found = new Rows((from, number) => core.call("list", { search: text, deep, from, count: number }), () => {
        if (this.found !== found) return;
        this.draw();
        this.say();
      });
      return found;
    };
    const isMany = this.arrays > MANY;
    const quick = rows(this.core, false);
    const deep = rows(this.finder, true);
    this.found = isMany ? quick : deep;
    const first = this.found;
    try {
      await first.part(0);
      if (!isMany) return;
      // The words may also be in titles, units and dimensions.
      await deep.part(0);
      if (this.found !== first) return;
      this.found = deep;
      this.draw();
      this.say();
    } catch (error) {
      sayError(error);
    }
  }

  say() {
    const all = count(this.arrays, "array");
    $("found").textContent = this.found ? `${(this.found.total ?? 0).toLocaleString("en")} of ${all}` : all;
  }

  get length() {
    return this.found ? (this.found.total ?? 0) : this.root.height;
  }

  at(height) {
    if (!this.found) return this.root.at(height);
    return { index: height, row: this.found.get(height), group: { level: 1, rows: this.found } };
  }

  expand(group, index, row) {
    const opened = new Group(row.path, group.level + 1, this);
    group.open.set(index, opened);
    opened.rows.part(0).catch(sayError);
  }

  toggle({ group, index, row }) {
    if (group.open.delete(index)) {
      this.closed.add(row.path);
    } else {
      this.closed.delete(row.path);
      this.expand(group, index, row);
    }
    this.draw();
  }

  choose(height) {
    if (height >= this.length) return;
    const place = this.at(height);
    if (!place.row) return;
    this.focused = height;
    if (place.row.kind === "group") this.toggle(place);
    else this.chosen(place.row.path);
    this.draw();
  }

  /** Marks the array that the page shows, and opens its groups. */
  show(path) {
    this.wanted = path && plain(path);
    if (this.root && !this.found) this.root.rows.changed();
    this.draw();
  }

  rowHeight() {
    return this.found ? 44 : matchMedia("(pointer: coarse)").matches ? 40 : 28;
  }

  move(to) {
    this.focused = Math.max(0, Math.min(this.length - 1, to));
    const high = this.rowHeight();
    const { scrollTop, clientHeight } = this.tree;
    const top = this.focused * high;
    if (top < scrollTop) this.tree.scrollTop = top;
    else if (top + high > scrollTop + clientHeight) this.tree.scrollTop = top + high - clientHeight;
    this.draw();
  }

  key(event) {
    const page = Math.max(1, Math.floor(this.tree.clientHeight / this.rowHeight()) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    const place = this.length > 0 ? this.at(this.focused) : null;
    const isGroup = place?.row?.kind === "group";
    const isOpen = isGroup && place.group.open.has(place.index);
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key in steps) {
      if (event.key === "ArrowUp" && this.focused === 0) $("search").focus();
      this.move(this.focused + steps[event.key]);
    } else if (event.key === "Enter" || event.key === " ") {
      this.choose(this.focused);
    } else if (event.key === "ArrowRight" && isGroup) {
      if (isOpen) this.move(this.focused + 1);
      else this.toggle(place);
    } else if (event.key === "ArrowLeft" && isOpen) {
      this.toggle(place);
    } else if (event.key === "ArrowLeft" && place && !this.found) {
      for (let at = this.focused - 1; at >= 0; at -= 1) {
        if (this.at(at).group.level < place.group.level) {
          this.move(at);
          break;
        }
      }
    } else {
      return;
    }
    event.preventDefault();
  }

  /** Makes the elements of the rows in view. */
  draw() {
    if (!this.root || this.isDrawn) return;
    this.isDrawn = true;
    requestAnimationFrame(() => {
      this.isDrawn = false;
      if (!this.root) return;
      const high = this.rowHeight();
      const { length } = this;
      const first = Math.max(0, Math.floor(this.tree.scrollTop / high) - 4);
      const last = Math.min(length, Math.ceil((this.tree.scrollTop + this.tree.clientHeight) / high) + 4);
      this.space.style.height = `${length * high}px`;
      this.tree.classList.toggle("flat", Boolean(this.found));
      const rows = [];
      for (let at = first; at < last; at += 1) rows.push(this.element(at, high));
      this.space.replaceChildren(...rows);
      this.describe(first, last).catch(sayError);
      const focused = $(`row-${this.focused}`);
      if (focused) this.tree.setAttribute("aria-activedescendant", focused.id);
      else this.tree.removeAttribute("aria-activedescendant");
    });
  }

  /** Asks for shapes and titles of the rows in view, and draws them. */
  async describe(first, last) {
    if (this.isDescribing) return;
    const rows = [];
    for (let at = first; at < last; at += 1) {
      const { row } = this.at(at);
      if (row?.kind === "array" && !row.isAsked) rows.push(Object.assign(row, { isAsked: true }));
    }
    if (rows.length === 0) return;
    this.isDescribing = true;
    const { finder } = this;
    try {
      const answer = await finder.call("rows", { paths: rows.map(({ path }) => path) });
      rows.forEach((row, nth) => Object.assign(row, answer.rows[nth]));
    } finally {
      this.isDescribing = false;
    }
    this.draw();
  }

  element(at, high) {
    const { group, index, row } = this.at(at);
    const isGroup = row?.kind === "group";
    const isChosen = Boolean(row) && !isGroup && plain(row.path) === this.wanted;
    const severity = row && this.findings.get(plain(row.path));
    const element = el("div", {
      id: `row-${at}`,
      role: "treeitem",
      class: [at === this.focused && "focused", isChosen && "chosen"].filter(Boolean).join(" "),
      "data-at": at,
      "aria-level": group.level,
      "aria-setsize": group.rows.total,
      "aria-posinset": index + 1,
      "aria-expanded": isGroup ? String(group.open.has(index)) : null,
      "aria-selected": isGroup ? null : String(isChosen),
      title: row && cut(row.shown),
    });
    element.style.top = `${at * high}px`;
    element.style.height = `${high}px`;
    element.style.paddingLeft = `${0.75 + 1.1 * (group.level - 1)}rem`;
    const mark = severity && el("b", { class: severity }, severity === "bad" ? "✗" : "!", el("span", { class: "skip" }, " has findings "));
    if (!row) {
      element.append("…");
    } else if (isGroup) {
      element.append(el("span", { class: "group" }, cut(row.name)), el("span", { class: "n" }, row.arrays.toLocaleString("en")));
    } else if (this.found) {
      const title = row.title || row.type || "…";
      element.append(el("span", { class: "two" }, el("span", null, cut(row.shown), mark), el("span", { class: "n" }, cut(title))));
      element.append(el("span", { class: "n" }, row.shape));
    } else {
      element.append(el("span", null, cut(row.name), mark), el("span", { class: "n" }, row.shape));
    }
    return element;
  }
}
