"use strict";
// One array: its selection, plot, values, statistics and what its description says.

/** Arrays up to this size have statistics at once: of a file, and over a network. */
const STATISTICS_AT_ONCE = { file: 16 << 20, url: 1 << 20 };
/** Selections up to this size are plotted at once. */
const PLOT_AT_ONCE = { file: 64 << 20, url: 8 << 20 };
const TABLE_ROWS = 100;
const TABLE_COLUMNS = 20;

const isIndex = (box) => /^\s*-?\d+\s*$/.test(box);

/** Says whether what is shown was compared with a digest. */
const BADGES = {
  blocks: ["good", "✓ verified", "The blocks of these numbers agree with their digests in the manifest"],
  whole: ["good", "✓ verified", "The content agrees with its digest in the manifest"],
  no: ["open", "not verified yet", "“Verify” compares the pack with its manifest"],
  bad: ["bad", "✗ not valid", "The pack has findings about this array"],
};

const badge = (state) => {
  const [kind, text, title] = BADGES[state];
  return el("span", { class: `badge ${kind}`, title }, text);
};

/** Returns an SVG as a PNG. */
async function pixels(svg, width, height) {
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
  await image.decode();
  const canvas = Object.assign(el("canvas"), { width, height });
  canvas.getContext("2d").drawImage(image, 0, 0, width, height);
  URL.revokeObjectURL(image.src);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

class ArrayView {
  /** `app` has the core, the findings and the address; `asked` is what the address says about this array. */
  constructor(app, facts, asked) {
    Object.assign(this, { app, facts });
    this.plots = new Latest();
    this.tables = new Latest();
    this.from = [0, 0];
    const axes = facts.axes ?? [];
    this.boxes = facts.default ?? facts.shape.map(() => ":");
    if (asked.slice != null) this.boxes = this.split(asked.slice);
    this.x = asked.x ?? axes[0] ?? null;
    this.y = asked.y === undefined ? (axes[1] ?? null) : asked.y;
    this.part = asked.part ?? "abs";
    this.isRaw = asked.isRaw ?? false;
    this.begin = JSON.stringify([facts.default, axes[0] ?? null, axes[1] ?? null]);
    this.element = this.build();
  }

  split(text) {
    const boxes = text.trim() === "" ? [] : text.split(",").map((box) => box.trim());
    return this.facts.shape.map((_, at) => boxes[at] || ":");
  }

  get slice() {
    return this.boxes.join(",");
  }

  get asked() {
    const { slice, part, isRaw } = this;
    return { path: this.facts.path, slice, x: this.x, y: this.y, part: this.facts.complex ? part : undefined, decode: !isRaw };
  }

  /** Returns what of the address differs from how the array is shown at first. */
  get address() {
    const parts = [];
    const [boxes, x, y] = JSON.parse(this.begin);
    if (JSON.stringify(this.boxes) !== JSON.stringify(boxes)) parts.push(`slice=${encodeURI(this.slice)}`);
    if (this.x !== x) parts.push(`x=${this.x}`);
    if (this.y !== y) parts.push(`y=${this.y ?? "-"}`);
    if (this.part !== "abs") parts.push(`part=${this.part}`);
    if (this.isRaw) parts.push("stored");
    return parts.join("&");
  }

  build() {
    const { facts } = this;
    const groups = cut(facts.shown).split("/").slice(0, -1).join(" / ");
    const heading = el("div", { class: "head" },
      (groups || facts.title) && el("p", { class: "crumbs" }, groups && `${groups} / `, el("b", null, cut(facts.name))),
      el("h1", null, cut(facts.title || facts.name), facts.units && el("span", { class: "n" }, ` [${cut(facts.units)}]`)),
      el("p", { class: "kinds" },
        el("b", null, facts.type), el("span", null, this.shapeText()), el("span", { class: "n" }, bytes(facts.bytes)),
        (this.state = el("span"))),
      (this.warnings = el("div")));
    const left = [facts.shape.length > 0 && this.selection(), facts.plot && this.plot(), this.values()];
    const right = [this.statistics(), this.attributes(), this.coordinates(), this.code(), this.description()];
    return el("article", { "aria-label": cut(facts.shown) }, heading,
      el("div", { class: "columns" }, el("div", null, left), el("div", null, right)));
  }

  shapeText() {
    const { dims, shape } = this.facts;
    if (shape.length === 0) return "one value";
    return dims.map(({ name, size }) => (name ? `${name} ${size.toLocaleString("en")}` : size.toLocaleString("en"))).join(" × ");
  }

  section(title, tools, ...content) {
    const heading = el("h2", null, title);
    return el("section", { "aria-label": title }, el("div", { class: "bar" }, heading, tools), content);
  }

  dimName(at) {
    return cut(this.facts.dims[at].name, 100) || `dimension ${at}`;
  }

  selection() {
    this.rows = this.facts.shape.map((size, at) => {
      const name = this.dimName(at);
      const box = el("input", {
        value: this.boxes[at], "aria-label": `Selection of ${name}`, spellcheck: "false", autocomplete: "off",
        change: () => this.set(at, box.value),
        focus: () => box.select(),
      });
      const slider = el("input", {
        type: "range", min: 0, max: Math.max(0, size - 1), "aria-label": `Index of ${name}`,
        input: () => this.set(at, slider.value),
      });
      const { coordinate } = this.facts.dims[at];
      const link = coordinate && coordinate !== this.facts.path;
      const label = link ? el("a", { href: this.app.link(coordinate) }, name) : name;
      const row = el("div", { class: "dim" }, el("span", null, label, el("span", { class: "n" }, ` (${size.toLocaleString("en")})`)), box, slider);
      return { row, box, slider };
    });
    const reset = button("Reset", () => {
      this.boxes = JSON.parse(this.begin)[0] ?? this.boxes;
      [, this.x, this.y] = JSON.parse(this.begin);
      this.changed();
    }, { class: "quiet", title: "Show what was shown at first" });
    const axes = this.facts.plot && this.facts.shape.length > 1 && this.axes();
    return this.section("Selection", [el("span", { class: "n hint" }, "an index, or a range as in NumPy"), reset],
      el("div", { class: "dims" }, this.rows.map(({ row }) => row)), axes);
  }

  axes() {
    const dims = this.facts.dims.map((_, at) => el("option", { value: at }, this.dimName(at)));
    const select = (label, first, change) => {
      const options = [first && el("option", { value: "" }, first), dims.map((dim) => dim.cloneNode(true))];
      const control = el("select", { "aria-label": `${label}: dimension`, change: () => change(control.value === "" ? null : Number(control.value)) }, options);
      return [el("label", null, label, " ", control), control];
    };
    const [across, x] = select("Across", null, (dim) => this.setAxes(dim, dim === this.y ? this.x : this.y));
    const [down, y] = select("Down", "nothing (a line)", (dim) => this.setAxes(dim === this.x ? (this.y ?? this.other(dim)) : this.x, dim));
    this.selects = { x, y };
    return el("p", { class: "tools" }, across, down);
  }

  other(dim) {
    return this.facts.shape.findIndex((_, at) => at !== dim);
  }

  /** Chooses the dimensions of the plot: these are shown whole, and all others have an index. */
  setAxes(x, y) {
    const had = [this.x, this.y];
    Object.assign(this, { x, y });
    this.facts.shape.forEach((_, at) => {
      const isAxis = at === x || at === y;
      if (isAxis && isIndex(this.boxes[at])) this.boxes[at] = ":";
      if (!isAxis && !isIndex(this.boxes[at]) && (had.includes(at) || this.boxes[at] === ":")) this.boxes[at] = "0";
    });
    this.changed();
  }

  set(at, text) {
    const box = text.trim() || ":";
    if (box === this.boxes[at]) return;
    const wasIndex = isIndex(this.boxes[at]);
    this.boxes[at] = box;
    // An axis with an index has no extent: the plot has one dimension less, or another one.
    const free = this.facts.shape.map((_, dim) => dim).filter((dim) => !isIndex(this.boxes[dim]));
    if (isIndex(box) && !wasIndex) {
      if (this.y === at) this.y = free.find((dim) => dim !== this.x) ?? null;
      if (this.x === at) [this.x, this.y] = [this.y ?? free[0] ?? null, free.find((dim) => dim !== (this.y ?? free[0])) ?? null];
    } else if (!isIndex(box) && wasIndex) {
      if (this.x === null) this.x = at;
      else if (this.y === null && free.length === 2) this.y = at;
    }
    this.changed();
  }

  /** Draws what depends on the selection. */
  changed(isFirst) {
    this.rows?.forEach(({ box, slider }, at) => {
      const text = this.boxes[at];
      const size = this.facts.shape[at];
      if (document.activeElement !== box || isFirst) box.value = text;
      slider.hidden = !isIndex(text) || size < 2;
      if (isIndex(text)) slider.value = Number(text) < 0 ? Number(text) + size : Number(text);
    });
    if (this.selects) {
      this.selects.x.value = this.x ?? "";
      this.selects.y.value = this.y ?? "";
    }
    this.from = [0, 0];
    if (!isFirst) this.app.remember();
    this.draw();
  }

  draw() {
    this.showState();
    if (this.picture) this.plots.run(() => this.drawPlot());
    this.tables.run(() => this.drawTable());
    if (this.numbers) this.drawStatistics(false);
  }

  /** Shows what is known about the content: from block digests, or from a verification of the pack. */
  showState(verified) {
    const known = [verified, this.verified, this.facts.verified];
    this.verified = known.find((state) => state && state !== "no") ?? "no";
    const state = this.app.stateOf(this.facts.path) ?? this.verified;
    this.state.replaceChildren(badge(state));
    this.warnings.replaceChildren(
      ...this.facts.warnings.map((warning) => el("p", { class: "warning" }, warning)),
      ...this.app.findingsOf(this.facts.path).map(findingElement));
  }

  failure({ message }) {
    return el("p", { class: "failure" }, cut(message, 1000));
  }

  plot() {
    this.picture = el("img", { alt: "" });
    this.trouble = el("div", { hidden: true });
    const parts = this.facts.complex && el("label", null, "Part ", el("select", {
      "aria-label": "Part of complex numbers",
      change: (event) => {
        this.part = event.target.value;
        this.app.remember();
        this.plots.run(() => this.drawPlot());
      },
    }, [["abs", "magnitude"], ["angle", "phase"]].map(([value, text]) => el("option", { value, selected: value === this.part }, text))));
    const saved = ["png", "svg"].map((format) => button(format.toUpperCase(), () => this.savePlot(format), { class: "quiet" }));
    this.frame = el("div", { class: "plot" }, this.picture, this.trouble);
    let width = 0;
    new ResizeObserver(() => {
      const now = this.frame.clientWidth;
      if (now === width || now === 0) return;
      const isFirst = width === 0;
      width = now;
      this.frame.style.height = `${this.size.height}px`;
      clearTimeout(this.timer);
      if (!isFirst) this.timer = setTimeout(() => this.plots.run(() => this.drawPlot()), 150);
    }).observe(this.frame);
    return this.section("Plot", [parts, el("span", { class: "set" }, el("span", { class: "n" }, "Save as"), saved)], this.frame);
  }

  get size() {
    const width = Math.max(280, this.frame.clientWidth || 800);
    return { width, height: Math.round(Math.max(300, Math.min(width * 0.6, 520))) };
  }

  async drawPlot(isAsked = false) {
    const most = isAsked ? undefined : this.atOnce(PLOT_AT_ONCE);
    try {
      const answer = await this.app.core.call("plot", { ...this.asked, ...this.size, theme: this.app.theme(), most });
      if (answer.reads) {
        const draw = button("Draw", () => this.plots.run(() => this.drawPlot(true)));
        this.showTrouble(el("p", null, draw, el("span", { class: "n" }, ` reads ${bytes(answer.reads)}`)));
        return;
      }
      const address = URL.createObjectURL(new Blob([answer.svg], { type: "image/svg+xml" }));
      this.picture.src = address;
      this.picture.alt = answer.description;
      await this.picture.decode().catch(() => {});
      URL.revokeObjectURL(address);
      if (answer.verified) this.showState(answer.verified);
      this.trouble.hidden = true;
      this.picture.hidden = false;
    } catch (error) {
      if (!error.isStopped) this.showTrouble(this.failure(error));
    }
  }

  /** Shows something in place of the plot. */
  showTrouble(content) {
    this.trouble.replaceChildren(content);
    this.trouble.hidden = false;
    this.picture.hidden = true;
  }

  atOnce(limits) {
    return limits[this.app.source.url ? "url" : "file"];
  }

  async savePlot(format) {
    try {
      const [width, height] = [800, 500];
      const { svg } = await this.app.core.call("plot", { ...this.asked, width, height, theme: "light" });
      const name = `${this.facts.name}.${format}`;
      if (format === "svg") save([svg], name, "image/svg+xml");
      else save([await pixels(svg, 2 * width, 2 * height)], name, "image/png");
    } catch (error) {
      sayError(error);
    }
  }

  values() {
    this.table = el("div", { class: "table", tabindex: "0", role: "region", "aria-label": "Values" });
    this.pages = el("p", { class: "tools" });
    const stored = el("label", null, el("input", {
      type: "checkbox", checked: this.isRaw, "aria-label": "Show values as stored",
      change: (event) => {
        this.isRaw = event.target.checked;
        this.app.remember();
        this.draw();
      },
    }), " as stored");
    const which = this.facts.shape.length > 0 && el("select", { "aria-label": "What to download" },
      el("option", { value: "slice" }, "selection"), el("option", { value: "all" }, "whole array"));
    const saved = ["npy", "csv", "ra"].map((format) =>
      button(`.${format}`, () => this.download(format, which && which.value === "slice"), { class: "quiet" }));
    return this.section("Values", [stored, el("span", { class: "set" }, el("span", { class: "n" }, "Download"), which, saved)], this.pages, this.table);
  }

  async drawTable() {
    try {
      const { path, slice, decode } = this.asked;
      const asked = { path, slice, decode, from: this.from, count: [TABLE_ROWS, TABLE_COLUMNS] };
      const answer = await this.app.core.call("table", asked);
      this.showTable(answer);
      this.showState(answer.verified);
    } catch (error) {
      if (error.isStopped) return;
      this.pages.replaceChildren();
      this.table.replaceChildren(this.failure(error));
    }
  }

  showTable({ columns, rows, total, row_dim: down, column_dim: across }) {
    const cell = (text) => el("td", null, cut(text));
    const corner = [down, across].filter(Boolean).join(" \\ ");
    const head = columns && el("thead", null, el("tr", null,
      el("th", { scope: "col" }, corner || el("span", { class: "skip" }, "index")),
      columns.map((text) => el("th", { scope: "col" }, cut(text)))));
    const body = rows.map(({ header, cells }) => el("tr", null, header && el("th", { scope: "row" }, cut(header)), cells.map(cell)));
    this.table.replaceChildren(el("table", null, head, el("tbody", null, body)));
    this.table.scrollTo(0, 0);
    const [from, shown] = [this.from, [rows.length, rows[0]?.cells.length ?? 0]];
    const steps = [[down || "row", TABLE_ROWS], [across || "column", TABLE_COLUMNS]].map(([name, step], at) => {
      if (total[at] <= step) return null;
      const go = (to) => () => {
        this.from = from.with(at, Math.max(0, to));
        this.tables.run(() => this.drawTable());
      };
      const end = from[at] + shown[at];
      return el("span", { class: "step" },
        button("‹", go(from[at] - step), { class: "quiet", "aria-label": `Earlier, ${name}`, disabled: from[at] === 0 }),
        ` ${name} ${from[at].toLocaleString("en")}–${(end - 1).toLocaleString("en")} of ${total[at].toLocaleString("en")} `,
        button("›", go(end), { class: "quiet", "aria-label": `Later, ${name}`, disabled: end >= total[at] }));
    });
    this.pages.replaceChildren(...steps.filter(Boolean));
  }

  async download(format, isPart) {
    try {
      const parts = [];
      const args = { path: this.facts.path, slice: isPart ? this.slice : null, format, decode: !this.isRaw };
      let answer = { next: 0 };
      do {
        answer = await this.app.aside.call("export", { ...args, from: answer.next });
        parts.push(new Blob([answer.bytes]));
      } while (!answer.done);
      save(parts, answer.name, "application/octet-stream");
    } catch (error) {
      sayError(error);
    }
  }

  statistics() {
    this.numbers = el("div", { class: "numbers", "aria-live": "polite" });
    return this.section("Statistics", el("span", { class: "n" }, this.facts.shape.length > 0 ? "of the selection" : ""), this.numbers);
  }

  async drawStatistics(isAsked) {
    this.app.aside.stop();
    const compute = () => this.drawStatistics(true);
    if (!isAsked && this.facts.bytes > this.atOnce(STATISTICS_AT_ONCE)) {
      this.numbers.replaceChildren(button("Compute", compute), el("span", { class: "n" }, ` reads up to ${bytes(this.facts.bytes)}`));
      return;
    }
    const bar = el("progress", { "aria-label": "Statistics", hidden: true });
    const stop = button("Stop", () => this.app.aside.stop(), { class: "quiet", hidden: true });
    if (isAsked) this.numbers.replaceChildren(bar, stop);
    const { path, slice, decode } = this.asked;
    try {
      const answer = await this.app.aside.call("statistics", { path, slice, decode }, ({ done, total }) => {
        Object.assign(bar, { max: total, value: done, hidden: false });
        stop.hidden = false;
      });
      this.numbers.replaceChildren(pairs(answer.rows) || el("span", { class: "n" }, "no numbers"));
      if (answer.verified) this.showState(answer.verified);
    } catch (error) {
      if (slice !== this.slice) return;
      this.numbers.replaceChildren(error.isStopped ? button("Compute", compute) : this.failure(error));
    }
  }

  attributes() {
    const { attributes } = this.facts;
    const more = [["stored as", this.facts.stored_type], ["missing", this.facts.missing], ["byte order", this.facts.byte_order]];
    return this.section("Attributes", null,
      pairs(attributes), pairs(more.filter(([, value]) => value), { class: "pairs n" }));
  }

  coordinates() {
    const known = this.facts.dims.filter(({ coordinate }) => coordinate && coordinate !== this.facts.path);
    return known.length > 0 && this.section("Coordinates", null, pairs(known.map(({ name, coordinate, shown, units }) =>
      [name, el("span", null, el("a", { href: this.app.link(coordinate) }, cut(plain(shown))), units && ` [${cut(units)}]`)])));
  }

  code() {
    const { python } = this.facts;
    return python && this.section("Python", button("Copy", () => copyText(python, "The code"), { class: "quiet" }),
      el("pre", { tabindex: "0" }, python));
  }

  description() {
    const { text } = this.facts;
    return text.length > 0 && this.section("Description", null,
      el("details", null, el("summary", null, "In the Ndarray Data Language"), el("pre", { tabindex: "0" }, long(text.join("\n"), 20_000))));
  }
}
