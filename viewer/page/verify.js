"use strict";
// The verification of the whole pack, by workers of its own, so that the page stays usable.

const VERDICTS = {
  valid: ["good", "✓", "Valid"],
  not_valid: ["bad", "✗", "Not valid"],
  not_verified: ["warn", "!", "Not confirmed"],
};

/** A finding as the command prints it, with its explanation. */
function findingElement({ code, severity, path, place, message, expected, found, hint, explanation, link }) {
  const value = (name, text) => text && el("p", { class: "n" }, `${name} `, el("code", null, cut(text, 1000)));
  return el("div", { class: `finding ${severity === "error" ? "bad" : "warn"}` },
    el("p", null, el("code", null, code), " ", el("b", null, severity), " ", cut(message, 1000)),
    path && el("p", { class: "n" }, "in ", link ? el("a", { href: link }, cut(path)) : el("code", null, cut(path)), place && ` ${place}`),
    value("expected", expected),
    value("found", found),
    hint && el("p", { class: "n" }, `next: ${cut(hint, 1000)}`),
    explanation && el("details", null, el("summary", null, `Explanation of ${code}`), el("div", { class: "text" }, explanation)));
}

class Verification {
  constructor(app) {
    this.app = app;
    this.workers = [];
    this.panel = el("section", { id: "verification", "aria-label": "Verification" });
    this.show();
  }

  get isNew() {
    return !this.isRunning && !this.report && !this.failure;
  }

  get isRunning() {
    return this.workers.length > 0;
  }

  /** Verifies the pack, and compares it with a manifest that is kept apart from it if there is one. */
  async run(manifest) {
    if (this.isRunning) return;
    const number = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, 8));
    const workers = Array.from({ length: number }, () => new Core(this.app.source));
    Object.assign(this, { workers, began: performance.now(), report: null, failure: null, manifest });
    const shares = workers.map(() => ({ done: 0, total: 0 }));
    this.show();
    const progress = (nth) => (now) => {
      shares[nth] = now;
      const sum = (key) => shares.reduce((all, share) => all + (share[key] ?? 0), 0);
      this.tick({ done: sum("done"), total: sum("total"), phase: now.phase });
    };
    try {
      const digests = number > 1
        ? await Promise.all(workers.map((worker, nth) => worker.call("hash", { nth, of: number }, progress(nth))))
        : [];
      this.report = await workers[0].call("verify", { digests, manifest: manifest?.text }, progress(0));
      this.report.findings.forEach((finding) => (finding.link = finding.array && this.app.link(finding.array)));
      this.report.seconds = (performance.now() - this.began) / 1000;
    } catch (error) {
      this.failure = error;
    }
    if (this.workers !== workers) return;
    this.stop();
  }

  stop() {
    const { workers } = this;
    this.workers = [];
    for (const worker of workers) worker.stop();
    this.show();
    this.app.verified(this.report);
  }

  tick({ done, total, phase }) {
    if (!this.bar) return;
    const time = (performance.now() - this.began) / 1000;
    if (total > 0) Object.assign(this.bar, { max: total, value: done });
    const speed = done / Math.max(time, 0.001);
    const rest = total > done && time > 1 ? `, ${seconds((total - done) / speed)} left` : "";
    this.told.textContent = `${phase ? `${phase}: ` : ""}${bytes(done)} of ${bytes(total)}, ${bytes(Math.round(speed))}/s${rest}`;
    const percent = total > 0 ? Math.floor((100 * done) / total) : 0;
    this.chip("open", `Verifying ${percent} %`);
  }

  chip(kind, text, label = `Verification: ${text}`) {
    const chip = $("verdict");
    chip.className = `chip ${kind}`;
    chip.setAttribute("aria-label", label);
    if (chip.textContent !== text) chip.textContent = text;
  }

  verdict() {
    const { errors, warnings, verdict } = this.report;
    const [kind, mark, name] = VERDICTS[verdict];
    const numbers = [errors > 0 && count(errors, "error"), warnings > 0 && count(warnings, "warning")].filter(Boolean).join(", ");
    return { kind, text: `${mark} ${name}${numbers && `: ${numbers}`}` };
  }

  show() {
    this.bar = null;
    const again = (text) => button(text, () => this.run(this.manifest), { class: "main" });
    const compare = button("Compare with a manifest…", () => this.app.chooseFile(), {
      class: "quiet", title: "A manifest that was stored apart from the pack shows any change; you can also drop it here",
    });
    let content;
    if (this.isRunning) {
      this.bar = el("progress", { "aria-label": "Verification" });
      this.told = el("p", { class: "n" });
      content = ["open", el("p", { class: "mark" }, el("b", null, "Verifying…")), this.bar, this.told, button("Stop", () => this.stop())];
      this.chip("open", "Verifying…");
    } else if (this.failure) {
      content = ["bad", el("p", { class: "mark" }, el("b", null, "✗ The verification ended")), el("p", null, this.failure.message), again("Try again")];
      this.chip("bad", "✗ Not verified");
    } else if (this.report) {
      content = this.result(again, compare);
    } else {
      content = ["open",
        el("p", { class: "mark" }, el("b", null, "Not verified yet")),
        el("p", null, "The page can read every byte and compare it with the manifest, on this computer."),
        el("p", { class: "tools" }, again("Verify"), compare)];
      this.chip("main", "Verify", "Not verified yet. Verify the pack");
    }
    const [kind, ...children] = content;
    this.panel.className = `verdict ${kind}`;
    this.panel.replaceChildren(...children.filter(Boolean));
  }

  result(again, compare) {
    const { report } = this;
    const { kind, text } = this.verdict();
    this.chip(kind, text.split(":")[0], `Verification: ${text}`);
    $("told").textContent = text;
    const speed = report.bytes / Math.max(report.seconds, 0.001);
    const isLong = report.seconds > 1;
    const told = `${bytes(report.bytes)} in ${report.seconds.toFixed(1)} s${isLong ? `, ${bytes(Math.round(speed))}/s` : ""}`;
    const shown = report.findings.slice(0, 200);
    const left = report.number - shown.length;
    return [kind,
      el("p", { class: "mark" }, el("b", null, text)),
      [report.extent, ...report.remarks].map((line) => el("p", null, line)),
      el("p", { class: "n" }, told, this.manifest && `, compared with ${this.manifest.name}`),
      shown.map(findingElement),
      left > 0 && el("p", { class: "n" }, `and ${count(left, "more finding")}`),
      el("p", { class: "tools" }, again("Verify again"), compare)].flat();
  }
}
