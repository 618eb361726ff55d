// Prints one array of a zip, or of a .ra file: node read_array.js exp.zip run1/temperature.ra
// The first line has eltype, elbyte and dims. Each further line has one element; the first index is the fastest.
// Written from docs/spec/rawarray.md and pack.md. `readMember` and `readArray` also run in a browser.
"use strict";

/** Returns the bytes of a stored member of a zip with 32-bit offsets. */
function readMember(bytes, wanted) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const end = bytes.byteLength - 22;
  if (end < 0 || view.getUint32(end, true) !== 0x06054b50) throw new Error("not a zip, or a zip with a comment");
  let at = view.getUint32(end + 16, true);
  for (let left = view.getUint16(end + 10, true); left > 0; left--) {
    const [name, extra, comment] = [28, 30, 32].map((offset) => view.getUint16(at + offset, true));
    if (new TextDecoder().decode(bytes.subarray(at + 46, at + 46 + name)) === wanted) {
      const [method, packed, local] = [view.getUint16(at + 10, true), view.getUint32(at + 20, true), view.getUint32(at + 42, true)];
      if (method !== 0) throw new Error("the member is compressed");
      const start = local + 30 + view.getUint16(local + 26, true) + view.getUint16(local + 28, true);
      return bytes.subarray(start, start + packed);
    }
    at += 46 + name + extra + comment;
  }
  throw new Error("the zip has no such member");
}

/** Returns the number of a 16-bit float: sign, 5 bits of exponent, 10 of fraction. */
function half(bits) {
  const [sign, exponent, fraction] = [bits >> 15 ? -1 : 1, (bits >> 10) & 31, (bits & 1023) / 1024];
  if (exponent === 31) return fraction ? NaN : sign * Infinity;
  return sign * (fraction + (exponent ? 1 : 0)) * 2 ** (Math.max(exponent, 1) - 15);
}

/** Returns eltype, elbyte, dims and the numbers of a .ra file. A complex number is two numbers. */
function readArray(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const field = (at) => Number(view.getBigUint64(at, true));
  const magic = new TextDecoder().decode(bytes.subarray(0, 8));
  if (magic !== "rawarray") throw new Error("not an array");
  const [flags, eltype, elbyte, size, ndims] = [8, 16, 24, 32, 40].map(field);
  if (flags !== 0 || ndims > 64) throw new Error("big-endian or encoded data, or too many dimensions");
  const dims = Array.from({ length: ndims }, (_, n) => field(48 + 8 * n));
  const elements = dims.reduce((product, length) => product * length, 1);
  if (size !== elbyte * elements) throw new Error("the size is wrong");
  const part = eltype === 4 ? elbyte / 2 : elbyte;
  const get = {
    "1,1": "getInt8", "1,2": "getInt16", "1,4": "getInt32", "1,8": "getBigInt64",
    "2,1": "getUint8", "2,2": "getUint16", "2,4": "getUint32", "2,8": "getBigUint64",
    "3,2": "getUint16", "3,4": "getFloat32", "3,8": "getFloat64",
  }[`${eltype === 4 ? 3 : eltype},${part}`];
  if (!get) throw new Error("the element type is not supported");
  const numbers = Array.from({ length: size / part }, (_, n) => view[get](48 + 8 * ndims + n * part, true));
  return { eltype, elbyte, dims, numbers: eltype > 2 && part === 2 ? numbers.map(half) : numbers };
}

const [file, member] = process.argv.slice(2);
const content = new Uint8Array(require("fs").readFileSync(file));
const { eltype, elbyte, dims, numbers } = readArray(member ? readMember(content, member) : content);
console.log([eltype, elbyte, ...dims].join(" "));
for (let n = 0; n < numbers.length; n += eltype === 4 ? 2 : 1) {
  console.log(numbers.slice(n, n + (eltype === 4 ? 2 : 1)).join(" "));
}
