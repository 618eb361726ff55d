"use strict";
// Elements, texts and small controls. Data become text nodes and attribute values, never markup.

const $ = (id) => document.getElementById(id);

/** Returns the name of an array as people write it. The core completes it. */
const plain = (path) => path.replace(/(?<!\.ra)\.ra$/, "");

/** Makes an element. A function is the listener of an event, `true` an attribute without a value. */
function el(name, attributes, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes ?? {})) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value === true) element.setAttribute(key, "");
    else if (value !== false && value != null) element.setAttribute(key, value);
  }
  element.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return element;
}

const button = (text, click, attributes) => el("button", { type: "button", click, ...attributes }, text);

/** Returns the beginning of a text. A hostile pack may have texts of megabytes. */
const cut = (text, most = 300) => (text?.length > most ? `${text.slice(0, most)}…` : text);

/** Returns a text of any length: the beginning, and the rest when it is asked for. */
function long(text, most = 2000) {
  if (typeof text !== "string" || text.length <= most) return text;
  const shown = el("span", null, cut(text, most));
  const more = button(`Show all (${bytes(text.length)})`, () => {
    shown.textContent = text;
    more.remove();
  }, { class: "quiet" });
  return [shown, " ", more];
}

/** Makes a list of names and values, or nothing if there are none. */
const pairs = (entries, attributes) =>
  entries.length > 0 && el("dl", { class: "pairs", ...attributes },
    entries.map(([key, value]) => el("div", null, el("dt", null, cut(key)), el("dd", null, long(value)))));

const count = (number, noun) => `${number.toLocaleString("en")} ${noun}${number === 1 ? "" : "s"}`;

/** Returns a number of bytes as the command writes it. */
function bytes(number) {
  if (number < 1024) return `${number} B`;
  const units = ["KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = -1;
  do {
    number /= 1024;
    unit += 1;
  } while (number >= 1023.5 && unit + 1 < units.length);
  return `${number < 9.95 ? number.toFixed(1) : number.toFixed(0)} ${units[unit]}`;
}

const seconds = (time) => (time < 90 ? `${Math.ceil(time)} s` : `${Math.ceil(time / 60)} min`);

/** Elements that the core's renderer of Markdown makes. */
const MARKDOWN = new Set(("P H3 H4 BLOCKQUOTE PRE UL OL LI EM STRONG DEL TABLE TBODY TR TH TD CODE BR HR A").split(" "));

/** Copies the elements of Markdown, and the text of all others. The parsed document runs and loads nothing. */
function markdown(html) {
  const copy = (from, to) => {
    for (const node of from.childNodes) {
      if (node.nodeType === Node.TEXT_NODE) {
        to.append(node.textContent);
      } else if (MARKDOWN.has(node.nodeName)) {
        const made = el(node.localName);
        const address = node.getAttribute("href") ?? "";
        if (/^https?:/.test(address)) {
          Object.assign(made, { href: address, target: "_blank", rel: "noreferrer noopener" });
        }
        if (node.hasAttribute("start")) made.setAttribute("start", node.getAttribute("start"));
        to.append(made);
        copy(node, made);
      } else {
        copy(node, to);
      }
    }
    return to;
  };
  const parsed = new DOMParser().parseFromString(html, "text/html");
  return copy(parsed.body, el("div", { class: "md", tabindex: "0", role: "region", "aria-label": "Text of the README" }));
}

/** Says a line to screen readers and shows it for a moment or, if it is an error, until the next one. */
function say(text, isError) {
  const message = $("message");
  message.textContent = cut(text, 1000);
  message.className = isError ? "bad" : "";
  message.hidden = !text;
  clearTimeout(say.timer);
  if (text && !isError) say.timer = setTimeout(() => (message.hidden = true), 4000);
}

const sayError = (error) => {
  if (error?.isStopped) return;
  say(error.message ?? String(error), true);
};

async function copyText(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // A page of a file may have no right to the clipboard.
    const area = el("textarea", { class: "skip" });
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  say(`${what} is copied`);
}

function fromBase64(text) {
  const characters = atob(text.trim());
  const found = new Uint8Array(characters.length);
  for (let at = 0; at < found.length; at += 1) found[at] = characters.charCodeAt(at);
  return found;
}

/** Offers bytes as a file. */
function save(parts, name, type) {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 60_000);
}

/** Runs one task at a time. Only the last of the tasks that wait is run. */
class Latest {
  async run(task) {
    this.next = task;
    if (this.isRunning) return;
    this.isRunning = true;
    try {
      while (this.next) {
        const now = this.next;
        this.next = null;
        await now();
      }
    } finally {
      this.isRunning = false;
    }
  }
}
