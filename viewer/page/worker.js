"use strict";
// Runs the core. Sources are read by ranges and synchronously, because the core reads when it needs bytes.

/** Bytes of a block. */
const BLOCK = 256 * 1024;
/** Blocks that are kept in memory. */
const KEPT = 128;
/** Blocks that one request reads ahead of a reader that goes through a file in order. */
const AHEAD = 16;

/** Keeps blocks that were read, and reads ahead. `request(from, to)` returns the bytes of a range, at most to the end. */
class Blocks {
  constructor(request) {
    this.request = request;
    this.blocks = new Map();
    this.ahead = 1;
    this.next = 0;
  }

  /** Returns the number of the block after those that one request reads, all of them unknown. */
  end(first, last) {
    this.ahead = first === this.next ? Math.min(AHEAD, this.ahead * 4) : 1;
    let end = first + 1;
    const most = Math.max(Math.min(last, first + AHEAD), first + this.ahead);
    while (end < most && end * BLOCK < this.size && !this.blocks.has(end)) end += 1;
    this.next = end;
    return end;
  }

  keep(first, found) {
    for (let at = 0; at < found.length; at += BLOCK) this.blocks.set(first + at / BLOCK, found.subarray(at, at + BLOCK));
    for (const key of this.blocks.keys()) {
      if (this.blocks.size <= KEPT) break;
      this.blocks.delete(key);
    }
  }

  read(offset, length) {
    const end = Math.min(offset + length, this.size);
    const out = new Uint8Array(Math.max(0, end - offset));
    const last = Math.ceil(end / BLOCK);
    for (let at = offset; at < end; ) {
      const block = Math.floor(at / BLOCK);
      if (!this.blocks.has(block)) {
        const after = this.end(block, last);
        this.keep(block, this.request(block * BLOCK, Math.min(after * BLOCK, this.size)));
      }
      const known = this.blocks.get(block);
      const part = known.subarray(at - block * BLOCK, Math.min(known.length, end - block * BLOCK));
      out.set(part, at - offset);
      at += part.length;
    }
    return out;
  }
}

/** A file, or bytes of the page. */
class FileSource extends Blocks {
  constructor(file) {
    const reader = new FileReaderSync();
    super((from, to) => new Uint8Array(reader.readAsArrayBuffer(file.slice(from, to))));
    this.size = file.size;
  }
}

/** An object at a URL. All its blocks must be of one version. */
class UrlSource extends Blocks {
  constructor(url) {
    super((from, to) => this.range(from, to));
    this.url = url;
    // The first request also learns the size.
    this.keep(0, this.range(0, BLOCK));
  }

  fail(reason) {
    throw new Error(`${this.url} cannot be read: ${reason}`);
  }

  range(from, to) {
    const asked = new XMLHttpRequest();
    asked.open("GET", this.url, false);
    asked.responseType = "arraybuffer";
    asked.setRequestHeader("Range", `bytes=${from}-${to - 1}`);
    try {
      asked.send();
    } catch {
      this.fail("the server does not answer, or does not let other pages read its files. Its owner has to set " +
        "`Access-Control-Allow-Origin: *`, `Access-Control-Allow-Headers: Range` and " +
        "`Access-Control-Expose-Headers: Content-Range, ETag`");
    }
    const isChanged = "it changed while it was read; open it again";
    if (asked.status === 200 && this.version) this.fail(isChanged);
    if (asked.status === 200) {
      this.fail("the server sends the whole file instead of a part. Its owner has to allow range requests " +
        "(`Accept-Ranges: bytes`). You can also download the file and drop it here");
    }
    if (asked.status !== 206) this.fail(`the server answers ${asked.status} ${asked.statusText}`);
    const header = (name) => asked.getResponseHeader(name) ?? "";
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(header("Content-Range"));
    if (!range) {
      this.fail("the page cannot see the size of the file. The owner of the server has to set " +
        "`Access-Control-Expose-Headers: Content-Range, ETag`");
    }
    const version = `${range[3]} ${header("ETag") || header("Last-Modified")}`;
    this.version ??= version;
    if (version !== this.version) this.fail(isChanged);
    this.size = Number(range[3]);
    const found = new Uint8Array(asked.response);
    if (Number(range[1]) !== from || found.length !== Math.min(to, this.size) - from) {
      this.fail("the server sent another range than requested");
    }
    return found;
  }
}

let viewer, failure;

const plain = (error) => {
  if (typeof error === "string") return JSON.parse(error);
  return { message: error.message ?? String(error) };
};

function start({ module, source }) {
  wasm_bindgen.initSync({ module });
  const opened = source.url ? new UrlSource(source.url) : new FileSource(source.file);
  viewer = new wasm_bindgen.Viewer(opened, source.name);
}

onmessage = ({ data }) => {
  if (data.module) {
    try {
      start(data);
    } catch (error) {
      failure = plain(error);
    }
    return;
  }
  const { id, call, args } = data;
  if (failure) {
    postMessage({ id, error: failure });
    return;
  }
  try {
    const progress = (text) => postMessage({ id, progress: JSON.parse(text) });
    const answer = viewer.call(call, JSON.stringify(args), progress);
    if (typeof answer === "string") {
      postMessage({ id, ok: JSON.parse(answer) });
    } else {
      const [text, found] = answer;
      postMessage({ id, ok: { ...JSON.parse(text), bytes: found } }, [found.buffer]);
    }
  } catch (error) {
    postMessage({ id, error: plain(error) });
    // After a trap, the memory of the core is not to be trusted.
    if (error instanceof WebAssembly.RuntimeError) failure = plain(error);
  }
};
