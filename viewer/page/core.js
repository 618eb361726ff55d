"use strict";
// The core in workers: each has the module and the same source, and answers calls in their order.

/** Compiles the module of the core. */
async function compiled() {
  const stream = new Blob([fromBase64($("core").textContent)]).stream().pipeThrough(new DecompressionStream("deflate-raw"));
  $("core").remove();
  return WebAssembly.compileStreaming(new Response(stream, { headers: { "Content-Type": "application/wasm" } }));
}

let made;

/** Returns the module and the script of the workers, which are made once. */
function parts() {
  if (!made) {
    const script = new Blob([$("worker").textContent], { type: "text/javascript" });
    made = { module: compiled(), script: URL.createObjectURL(script) };
  }
  return made;
}

/** A stopped call. It is not an error for people. */
const stopped = () => Object.assign(new Error("stopped"), { isStopped: true });

/** A worker with one open source. `stop` ends what it does; the next call starts another worker. */
class Core {
  constructor(source) {
    this.source = source;
    this.calls = new Map();
    this.last = 0;
  }

  async start() {
    const { module, script } = parts();
    const worker = new Worker(script);
    worker.onmessage = ({ data }) => this.answer(data);
    worker.onerror = (event) => this.fail(event.message);
    worker.postMessage({ module: await module, source: this.source });
    return worker;
  }

  answer({ id, ok, error, progress }) {
    const call = this.calls.get(id);
    if (!call) return;
    if (progress) {
      call.progress?.(progress);
      return;
    }
    this.calls.delete(id);
    this.busy();
    if (error) call.reject(new Error(error.message));
    else call.resolve(ok);
  }

  /** The core ended by itself, for example because a pack needs more memory than there is. */
  fail(message) {
    const calls = [...this.calls.values()];
    this.stop();
    for (const call of calls) call.reject(new Error(`the reader ended: ${message}`));
  }

  stop() {
    this.worker?.then((worker) => worker.terminate());
    this.worker = null;
    const calls = [...this.calls.values()];
    this.calls.clear();
    this.busy();
    for (const call of calls) call.reject(stopped());
  }

  busy() {
    this.onbusy?.(this.calls.size > 0);
  }

  async call(name, args = {}, progress) {
    this.worker ??= this.start();
    const worker = await this.worker;
    this.last += 1;
    const id = this.last;
    return new Promise((resolve, reject) => {
      this.calls.set(id, { resolve, reject, progress });
      this.busy();
      worker.postMessage({ id, call: name, args });
    });
  }
}
