"use strict";
// Search, order and keys. The page is complete and readable without scripts.
(() => {
  const form = document.querySelector(".tools form");
  if (!form) return;
  const arrays = document.querySelector(".arrays");
  const input = form.querySelector("input");
  const order = form.querySelector("select");
  const told = document.querySelector(".tools output");
  const cards = [...arrays.querySelectorAll(".c")];
  const rows = [...document.querySelectorAll(".files tbody tr")];
  const groups = [...arrays.querySelectorAll(".group")];
  const count = (number, noun) => number.toLocaleString("en") + " " + noun + (number === 1 ? "" : "s");
  form.hidden = false;

  // Details are in <noscript> for browsers without scripts. With scripts, they are created when opened.
  const fill = (details) => {
    const content = details.querySelector("noscript");
    if (content) content.outerHTML = content.textContent;
  };
  const few = cards.length <= 500;
  const idle = window.requestIdleCallback || ((work) => setTimeout(work, 200));
  const detailsOf = (card) => card.lastElementChild.lastElementChild;
  // If there are few, all are created, so that the browser's own search finds their text.
  if (few) cards.forEach((card) => fill(detailsOf(card)));
  else arrays.addEventListener("toggle", (event) => event.target.parentElement.matches(".b") && fill(event.target), true);

  // The search covers name, title with units, type, shape and attributes of each card.
  let words;
  const text = (node) => (node ? node.textContent : "");
  const characters = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'" };
  const attributes = (details) => {
    const content = details.querySelector("noscript");
    if (!content) return text(details.querySelector(".a"));
    const markup = content.textContent;
    const table = markup.slice(markup.indexOf("<tbody>"), markup.indexOf("</table>"));
    return table.replace(/<[^>]*>/g, " ").replace(/&(amp|lt|gt|quot|#39);/g, (_, name) => characters[name]);
  };
  const read = () => {
    if (words) return;
    words = cards.map((card) => {
      const body = card.lastElementChild;
      let all = "";
      for (const part of body.children) {
        if (part.matches("h4,.l,.k,.e")) all += part.textContent + "\n";
        else if (part.localName === "details") all += attributes(part);
      }
      return all.toLowerCase();
    });
    rows.forEach((row) => words.push(text(row.firstElementChild).toLowerCase()));
  };

  const list = document.createElement("section");
  let by;
  // Cards are grouped in parts, which are laid out when they become visible.
  const partOf = cards.map((card) => card.parentElement);
  const parts = [...new Set(partOf)];
  const nthOf = new Map(cards.map((card, nth) => [card, nth]));
  const hits = new Uint8Array(cards.length).fill(1);
  const place = (part, number) => {
    if (part.hidden !== (number === 0)) part.hidden = number === 0;
    part.style.setProperty("--n", number);
  };
  const update = (part) => {
    for (const card of part.children) {
      const hidden = !hits[nthOf.get(card)];
      if (card.hidden !== hidden) card.hidden = hidden;
    }
  };
  // Visible cards are updated at once, the others when the browser is idle.
  let waiting = [];
  const atOnce = 120;
  const later = () => {
    const end = performance.now() + 8;
    while (waiting.length && performance.now() < end) update(waiting.pop());
    if (waiting.length) idle(later);
  };
  const show = () => {
    const live = [];
    let above = 0;
    for (const part of by ? list.children : parts) {
      let number = 0;
      for (const card of part.children) number += hits[nthOf.get(card)];
      place(part, number);
      if (!number) continue;
      if (above < atOnce) update(part);
      else live.push(part);
      above += number;
    }
    const idling = waiting.length > 0;
    waiting = live.reverse();
    if (waiting.length && !idling) idle(later);
    if (by) return;
    for (const group of groups) {
      const none = !group.querySelector(".u:not([hidden])");
      if (group.hidden !== none) group.hidden = none;
    }
  };
  const search = () => {
    const wanted = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    if (wanted.length) read();
    const matches = (nth) => wanted.every((word) => words[nth].includes(word));
    let found = 0;
    let files = 0;
    cards.forEach((_, nth) => (found += hits[nth] = Number(matches(nth))));
    rows.forEach((row, nth) => {
      row.hidden = !matches(cards.length + nth);
      files += Number(!row.hidden);
    });
    show();
    const bar = input.closest(".tools");
    if (wanted.length && arrays.getBoundingClientRect().top < 0) bar.scrollIntoView();
    told.value = wanted.length
      ? found.toLocaleString("en") + " of " + count(cards.length, "array") + (files ? ", " + count(files, "other file") : "")
      : count(cards.length, "array");
  };
  input.addEventListener("input", search);
  form.addEventListener("submit", (event) => event.preventDefault());
  idle(read);

  // Sorted by name, arrays are in their groups; otherwise in a single list.
  const compare = {
    size: (one, other) => other.dataset.b - one.dataset.b,
    type: (one, other) => {
      const [left, right] = [one, other].map((card) => text(card.querySelector(".k b")));
      return left < right ? -1 : left > right ? 1 : 0;
    },
  };
  const sort = () => {
    by = compare[order.value];
    arrays.classList.toggle("flat", Boolean(by));
    if (by) {
      const sorted = cards.map((card, nth) => [card, nth]);
      sorted.sort((one, other) => by(one[0], other[0]) || one[1] - other[1]);
      list.replaceChildren();
      while (sorted.length) {
        const part = document.createElement("div");
        part.className = "u";
        part.append(...sorted.splice(0, 50).map(([card]) => card));
        list.append(part);
      }
      arrays.prepend(list);
    } else {
      const own = new Map(parts.map((part) => [part, []]));
      cards.forEach((card, nth) => own.get(partOf[nth]).push(card));
      own.forEach((some, part) => part.append(...some));
      list.remove();
      list.replaceChildren();
    }
    show();
  };
  order.addEventListener("change", sort);

  // A link shows its array even if the array is folded or filtered out.
  const follow = () => {
    const id = location.hash.slice(1);
    const target = id && (document.getElementById(id) || document.getElementById("/" + id));
    if (!target) return;
    if (target.closest("[hidden]")) {
      input.value = "";
      search();
    }
    for (let above = target.parentElement; above; above = above.parentElement) {
      if (above.localName === "details") above.open = true;
    }
    target.scrollIntoView();
  };
  window.addEventListener("hashchange", follow);
  follow();

  document.addEventListener("keydown", (event) => {
    const typing = /^(input|select|textarea)$/.test(event.target.localName);
    if (event.key === "/" && !typing && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      input.focus();
      input.select();
    } else if (event.key === "Escape" && (input.value || document.activeElement === input)) {
      input.value = "";
      search();
      input.blur();
    }
  });

  // Opens everything for printing.
  let closed = [];
  window.addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    cards.forEach((card) => fill(detailsOf(card)));
    closed.forEach((part) => (part.open = true));
  });
  window.addEventListener("afterprint", () => closed.forEach((part) => (part.open = false)));

  // On a narrow screen, the tree is folded so that the arrays are visible.
  if (matchMedia("(max-width: 60rem)").matches) document.querySelector(".tree > details").open = false;
})();
