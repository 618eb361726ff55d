"use strict";
// The page: opens sources, shows the pack or one array as the address says, and handles keys and drops.

class App {
  constructor() {
    this.list = new List((path) => this.go(path));
    $("choose").addEventListener("click", () => this.chooseFile());
    $("file").addEventListener("change", (event) => {
      const [file] = event.target.files;
      event.target.value = "";
      if (file) this.take(file);
    });
    $("verdict").addEventListener("click", () => {
      if (this.verification.isNew) this.verification.run();
      else this.showVerification();
    });
    $("stop").addEventListener("click", () => this.core.stop());
    $("message").addEventListener("click", () => say(""));
    $("home").addEventListener("click", () => (location.hash = ""));
    $("skip").addEventListener("click", () => $("main").focus());
    $("menu").addEventListener("click", () => this.menu());
    addEventListener("hashchange", () => this.show());
    addEventListener("keydown", (event) => this.key(event));
    this.drops();
    this.themes();
    parts().module.catch(sayError);
    this.start();
  }

  start() {
    const packed = $("pack");
    const address = new URLSearchParams(location.search).get("url");
    if (packed) {
      const found = fromBase64(packed.textContent);
      const name = packed.dataset.name;
      packed.remove();
      this.open({ file: new Blob([found]), name });
    } else if (address) {
      this.openUrl(address);
    } else {
      this.welcome();
    }
  }

  openUrl(address) {
    const url = URL.canParse(address, location.href) && new URL(address, location.href);
    if (!url || !/^https?:$/.test(url.protocol)) {
      this.welcome();
      say(`\`${address}\` is not an address that begins with https:// or http://`, true);
      return;
    }
    const name = decodeURIComponent(url.pathname.split("/").pop() || url.host);
    this.open({ url: url.href, name });
  }

  /** Takes a chosen or dropped file: a manifest of the open pack, or another pack or array. */
  async take(file) {
    const isText = file.size < 256 << 20 && /(manifest.*|sha256|sha256sums?)(\.txt)?$/i.test(file.name) && !/\.(zip|ra|npy|tar.*)$/i.test(file.name);
    if (this.pack && isText) {
      const manifest = { name: file.name, text: await file.text() };
      if (this.verification.isRunning) this.verification.stop();
      this.showVerification();
      this.verification.run(manifest);
      return;
    }
    // The address of another pack would be wrong after a reload. For files, browsers let pages change only the fragment.
    history.replaceState(null, "", location.protocol === "file:" ? "#" : location.pathname);
    this.open({ file, name: file.name });
  }

  async open(source) {
    this.close();
    this.source = source;
    this.core = new Core(source);
    this.aside = new Core(source);
    this.core.onbusy = (isBusy) => this.busy(isBusy);
    const { core } = this;
    $("main").replaceChildren(el("p", { class: "n" }, `Opening ${source.name}…`));
    try {
      const pack = await core.call("open");
      if (this.core !== core) return;
      this.pack = pack;
      document.body.classList.add("open");
      $("name").textContent = pack.name;
      $("facts").textContent = [pack.container, bytes(pack.size)].join(" · ");
      for (const id of ["side", "menu", "verdict"]) $(id).hidden = false;
      this.verification = new Verification(this);
      await Promise.all([this.list.open(core, source, pack.counts.arrays), this.show()]);
    } catch (error) {
      if (error.isStopped) return;
      this.welcome();
      say(error.message, true);
    }
  }

  close() {
    this.core?.stop();
    this.aside?.stop();
    this.list.close();
    if (this.verification?.isRunning) this.verification.stop();
    Object.assign(this, { pack: null, view: null, verification: null });
    document.body.classList.remove("open");
    for (const id of ["side", "menu", "verdict"]) $(id).hidden = true;
    $("name").textContent = "ra-pack viewer";
    $("facts").textContent = "";
    say("");
  }

  welcome() {
    this.close();
    document.title = "ra-pack viewer";
    const address = el("input", { type: "url", id: "address", placeholder: "https://…/experiment.zip", "aria-label": "Address of a pack" });
    $("main").replaceChildren(el("div", { class: "welcome" },
      el("h1", null, "Open a pack"),
      el("p", null, "Drop a pack (.zip, .tar, .tar.gz, .tar.zst) or one array (.ra, .npy) here, or"),
      el("p", null, button("Choose a file…", () => this.chooseFile(), { class: "main" })),
      el("form", {
        submit: (event) => {
          event.preventDefault();
          location.search = `?url=${encodeURIComponent(address.value)}`;
        },
      }, address, el("button", { class: "quiet" }, "Open the address"))));
  }

  chooseFile() {
    $("file").click();
  }

  busy(isBusy) {
    clearTimeout(this.timer);
    if (isBusy) this.timer = setTimeout(() => ($("busy").hidden = false), 700);
    else $("busy").hidden = true;
  }

  /** Returns the address of an array in this page. */
  link(path) {
    return `#${plain(path).split("/").map(encodeURIComponent).join("/")}`;
  }

  go(path) {
    const link = this.link(path);
    if (location.hash === link) this.closeMenu();
    else location.hash = link;
  }

  /** Writes what is shown to the address, without another entry in the history. */
  remember() {
    const { view } = this;
    if (!view) return;
    const rest = view.address;
    history.replaceState(null, "", this.link(view.facts.path) + (rest && `?${rest}`));
  }

  asked() {
    const [path, rest = ""] = location.hash.slice(1).split("?");
    const parts = new URLSearchParams(rest.replaceAll("+", "%2B"));
    const axis = (name) => (parts.has(name) ? (parts.get(name) === "-" ? null : Number(parts.get(name))) : undefined);
    return {
      path: path.split("/").map(decodeURIComponent).join("/"),
      slice: parts.get("slice"), x: axis("x"), y: axis("y"), part: parts.get("part") ?? undefined, isRaw: parts.has("stored"),
    };
  }

  /** Shows what the address says. */
  async show() {
    if (!this.pack) return;
    let asked = { path: "" };
    try {
      asked = this.asked();
    } catch {
      say(`\`${location.hash}\` is not an address of an array`, true);
    }
    this.closeMenu();
    const only = this.pack.only;
    const path = asked.path || only;
    this.list.show(path);
    if (!path) {
      this.overview();
      return;
    }
    try {
      const facts = await this.core.call("array", { path });
      if (!this.pack || (this.asked().path || only) !== path) return;
      this.view = new ArrayView(this, facts, asked);
      document.title = `${cut(facts.name)} · ${this.pack.name}`;
      this.put(this.view.element);
      this.view.changed(true);
    } catch (error) {
      if (error.isStopped) return;
      this.view = null;
      this.put(el("article", null, el("h1", null, "This array cannot be shown"), el("p", { class: "failure bad" }, cut(error.message, 1000))));
    }
  }

  /** Replaces the content. Focus follows only if it was in the content. */
  put(...content) {
    const main = $("main");
    const hadFocus = main.contains(document.activeElement);
    main.replaceChildren(...content);
    scrollTo(0, 0);
    if (hadFocus) main.focus({ preventScroll: true });
  }

  overview() {
    const { pack } = this;
    this.view = null;
    document.title = pack.title ? `${cut(pack.title)} · ${pack.name}` : pack.name;
    const { counts } = pack;
    const facts = [["Arrays", counts.arrays], ["Groups", counts.groups], ["Files", counts.members]]
      .map(([key, value]) => [key, value.toLocaleString("en")])
      .concat([["Size", bytes(counts.bytes)], ["Container", pack.container], ["Manifest", pack.manifests.join(", ") || "none"]]);
    const attributes = pack.attributes.filter(([key]) => key !== "title");
    const { readme } = pack;
    this.put(el("article", { class: "about" },
      el("h1", null, cut(pack.title || pack.name)),
      pairs(attributes),
      pairs(facts, { class: "pairs facts" }),
      this.verification.panel,
      readme && el("section", { "aria-label": readme.name },
        el("h2", null, readme.name),
        readme.html ? markdown(readme.html) : el("pre", { class: "md", tabindex: "0" }, readme.text))));
  }

  showVerification() {
    if (!this.pack) return;
    if (this.view) {
      history.pushState(null, "", "#");
      this.list.show(null);
      this.overview();
    }
    this.verification.panel.scrollIntoView({ block: "nearest" });
    this.verification.panel.querySelector("button")?.focus();
  }

  /** After a verification: marks the arrays with findings. */
  verified(report) {
    this.list.findings = new Map();
    for (const { array, severity } of report?.findings ?? []) {
      const kind = severity === "error" ? "bad" : "warn";
      if (array && this.list.findings.get(plain(array)) !== "bad") this.list.findings.set(plain(array), kind);
    }
    this.list.draw();
    this.view?.showState();
  }

  findingsOf(path) {
    const { report } = this.verification;
    return (report?.findings ?? []).filter((finding) => finding.array && plain(finding.array) === plain(path));
  }

  /** Returns the state of the content of an array after a verification. */
  stateOf(path) {
    const { report } = this.verification;
    if (!report) return null;
    if (this.findingsOf(path).some(({ severity }) => severity === "error")) return "bad";
    return report.confirmed ? "whole" : null;
  }

  menu() {
    const isOpen = document.body.classList.toggle("menu");
    $("menu").setAttribute("aria-expanded", String(isOpen));
    if (isOpen) $("search").focus();
    this.list.draw();
  }

  closeMenu() {
    document.body.classList.remove("menu");
    $("menu").setAttribute("aria-expanded", "false");
  }

  key(event) {
    const isText = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.nodeName) && event.target.type !== "range";
    if (event.key === "/" && !isText && this.pack && !event.ctrlKey && !event.metaKey) {
      event.preventDefault();
      if ($("menu").checkVisibility() && !document.body.classList.contains("menu")) this.menu();
      $("search").focus();
      $("search").select();
    } else if (event.key === "Escape") {
      if (document.activeElement === $("search") && $("search").value) {
        $("search").value = "";
        this.list.search("");
      } else if (this.list.found) {
        $("search").value = "";
        this.list.search("");
        $("tree").focus();
      } else if (document.body.classList.contains("menu")) {
        this.closeMenu();
        $("menu").focus();
      } else {
        document.activeElement.blur();
        say("");
      }
    }
  }

  drops() {
    let depth = 0;
    const isFile = (event) => event.dataTransfer.types.includes("Files");
    const over = (by) => (event) => {
      if (!isFile(event)) return;
      event.preventDefault();
      depth += by;
      $("drop").hidden = depth <= 0;
    };
    addEventListener("dragenter", over(1));
    addEventListener("dragover", over(0));
    addEventListener("dragleave", over(-1));
    addEventListener("drop", (event) => {
      over(-depth)(event);
      const [file] = event.dataTransfer.files;
      if (file) this.take(file);
    });
  }

  themes() {
    const names = { auto: "as the system", light: "light", dark: "dark" };
    const marks = { auto: "◐", light: "☀", dark: "☾" };
    const kept = (theme) => {
      try {
        if (theme) localStorage.setItem("ra-pack-theme", theme);
        return localStorage.getItem("ra-pack-theme");
      } catch {
        // Settings of the browser may forbid to keep anything.
        return theme;
      }
    };
    const set = (theme) => {
      this.chosen = theme;
      document.documentElement.dataset.theme = theme;
      $("theme").textContent = marks[theme];
      $("theme").setAttribute("aria-label", `Colours: ${names[theme]}`);
      $("theme").title = `Colours: ${names[theme]}`;
      this.view?.draw();
    };
    const all = Object.keys(names);
    const first = kept();
    set(all.includes(first) ? first : "auto");
    $("theme").addEventListener("click", () => {
      const next = all[(all.indexOf(this.chosen) + 1) % all.length];
      kept(next);
      set(next);
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.view?.draw());
  }

  theme() {
    if (this.chosen !== "auto") return this.chosen;
    return matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  }
}

window.app = new App();
