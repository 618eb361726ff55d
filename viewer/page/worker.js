"use strict";
// Runs the core. Sources are read by ranges and synchronously, because the core reads when it needs bytes.

const BLOCK = 256 * 1024;
const KEPT_BLOCKS = 128;

/** A file or bytes of the page. */
function ofBlob(blob) {
  const reader = new FileReaderSync();
  return {
    size: blob.size,
    read: (offset, length) => new Uint8Array(reader.readAsArrayBuffer(blob.slice(offset, offset + length))),
  };
}

/** An object at a URL: blocks are requested once, neighbours together, and all must be of one version. */
function ofUrl(url) {
  const blocks = new Map();
  let size, version;

  const request = (from, to) => {
    const asked = new XMLHttpRequest();
    asked.open("GET", url, false);
    asked.responseType = "arraybuffer";
    asked.setRequestHeader("Range", `bytes=${from}-${to - 1}`);
    try {
      asked.send();
    } catch {
      throw new Error(
        `${url} cannot be read: the server is not reachable, or it does not let other pages read its files. ` +
          "Its owner has to set `Access-Control-Allow-Origin: *`, `Access-Control-Allow-Headers: Range` and " +
          "`Access-Control-Expose-Headers: Content-Range, ETag`",
      );
    }
    if (asked.status === 200) {
      throw new Error(
        `${url} cannot be read in parts: the server ignores \`Range\` and sends the whole file. ` +
          "Its owner has to allow range requests (`Accept-Ranges: bytes`); or download the file and drop it here",
      );
    }
    if (asked.status !== 206) throw new Error(`${url} cannot be read: the server answers ${asked.status} ${asked.statusText}`);
    const range = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(asked.getResponseHeader("Content-Range") ?? "");
    if (!range) {
      throw new Error(
        `${url} cannot be read: the page cannot see the size of the file. The owner of the server has to set ` +
          "`Access-Control-Expose-Headers: Content-Range, ETag`",
      );
    }
    const now = `${range[3]} ${asked.getResponseHeader("ETag") ?? asked.getResponseHeader("Last-Modified") ?? ""}`;
    version ??= now;
    if (now !== version) throw new Error(`${url} changed while it was read; open it again`);
    size = Number(range[3]);
    const found = new Uint8Array(asked.response);
    if (Number(range[1]) !== from || found.length !== Math.min(to, size) - from) {
      throw new Error(`${url} cannot be read: the server sent another range than requested`);
    }
    return found;
  };

  const keep = (from, found) => {
    for (let at = 0; at < found.length; at += BLOCK) {
      blocks.set((from + at) / BLOCK, found.slice(at, at + BLOCK));
    }
    for (const key of blocks.keys()) {
      if (blocks.size <= KEPT_BLOCKS) break;
      blocks.delete(key);
    }
  };

  const read = (offset, length) => {
    const end = Math.min(offset + length, size);
    const [first, last] = [Math.floor(offset / BLOCK), Math.ceil(end / BLOCK)];
    const out = new Uint8Array(Math.max(0, end - offset));
    const fill = (from, found) => {
      const [start, stop] = [Math.max(from, offset), Math.min(from + found.length, end)];
      if (start < stop) out.set(found.subarray(start - from, stop - from), start - offset);
    };
    for (let block = first; block < last; block += 1) {
      const known = blocks.get(block);
      if (known) {
        fill(block * BLOCK, known);
        continue;
      }
      let after = block + 1;
      while (after < last && !blocks.has(after)) after += 1;
      const from = block * BLOCK;
      const found = request(from, Math.min(after * BLOCK, size));
      fill(from, found);
      keep(from, found);
      block = after - 1;
    }
    return out;
  };

  // The first request also learns the size.
  keep(0, request(0, BLOCK));
  return { get size() { return size; }, read };
}

let viewer, failure;

const plain = (error) => {
  if (typeof error === "string") return JSON.parse(error);
  return { message: error.message ?? String(error) };
};

function start({ module, source }) {
  wasm_bindgen.initSync({ module });
  const name = source.name;
  const opened = source.url ? ofUrl(source.url) : ofBlob(source.file);
  viewer = new wasm_bindgen.Viewer(opened, name);
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
