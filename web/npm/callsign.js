// Looks up addresses in GSYM and BSYM indexes with Callsign's lookup library, compiled to WebAssembly.

import { blobSource, bufferSource, CallsignError, urlSource } from "./callsign_source.js";

export { CallsignError };

const PAGE = 4096; // of missing bytes, see missing_bytes.h
const BLOCK = 65536;
const FLAG_MERGED = 1, FLAG_DEMANGLE = 2;
const ENOSYS = 52;

const text = new TextDecoder();
let compiled;

async function wasmBytes() {
  const url = new URL("./callsign.wasm", import.meta.url);
  if (url.protocol !== "file:") {
    const response = await fetch(url);
    if (!response.ok) throw new CallsignError(`${url}: HTTP status ${response.status}`);
    return response.arrayBuffer();
  }
  const { readFile } = await import("node:fs/promises");
  return readFile(url);
}

function moduleOnce() {
  compiled ??= wasmBytes().then(WebAssembly.compile);
  compiled.catch(() => { compiled = undefined; });
  return compiled;
}

// Thrown through the C code when it is about to read bytes that have not arrived.
class Missing {
  constructor(start, size) {
    this.start = start;
    this.end = start + size;
  }
}

async function instantiate() {
  const module = await moduleOnce();
  const imports = { callsign: { missing(start, size) { throw new Missing(start >>> 0, size >>> 0); } } };
  // Nothing of the operating system is called; libc only names it.
  for (const { module: from, name } of WebAssembly.Module.imports(module)) if (from !== "callsign") (imports[from] ??= {})[name] = () => ENOSYS;
  const { exports } = await WebAssembly.instantiate(module, imports);
  exports._initialize?.();
  return exports;
}

// Joins what is missing into as few ranges as possible. Ranges that lie closer than a block are one request.
function blockRanges(missing, size) {
  const ranges = missing.map(({ start, end }) => [start - (start % BLOCK), Math.min(size, Math.ceil(end / BLOCK) * BLOCK)]);
  ranges.sort((a, b) => a[0] - b[0]);
  const joined = [];
  for (const [start, end] of ranges) {
    const last = joined[joined.length - 1];
    if (last && start <= last[1] + BLOCK) last[1] = Math.max(last[1], end);
    else joined.push([start, end]);
  }
  return joined;
}

/** The lookup library over one file. */
class Reader {
  static async create(source) {
    const reader = new Reader();
    reader.source = source;
    reader.exports = await instantiate();
    reader.blocks = new Set();
    reader.base = reader.exports.csn_wasm_reserve(source.size, source.bytes ? 0 : 1) >>> 0;
    if (!reader.base) throw new CallsignError(`${source.name}: no memory for ${source.size} bytes`);
    if (source.bytes) {
      reader.store(0, source.bytes);
      delete source.bytes;
    } else if (source.first) {
      reader.take(0, source.first);
    }
    return reader;
  }

  store(at, bytes) {
    new Uint8Array(this.exports.memory.buffer, this.base + at, bytes.length).set(bytes);
  }

  take(at, bytes) {
    this.store(at, bytes);
    this.exports.csn_wasm_arrived(at, bytes.length);
  }

  // The result of `call`, or the Missing that left it.
  attempt(call) {
    const stack = this.exports.__stack_pointer.value;
    try {
      return { value: call() };
    } catch (error) {
      this.exports.__stack_pointer.value = stack;
      if (error instanceof Missing) return { missing: error };
      throw new CallsignError(`${this.source.name}: ${error.message}`, { cause: error });
    }
  }

  // What has arrived already is not fetched again.
  async fetch(missing) {
    const reads = blockRanges(missing, this.source.size).map(async ([start, end]) => this.take(start, await this.source.read(start, end)));
    await Promise.all(reads);
  }

  text() {
    const { memory, csn_wasm_text, csn_wasm_text_size } = this.exports;
    return text.decode(new Uint8Array(memory.buffer, csn_wasm_text() >>> 0, csn_wasm_text_size()));
  }

  open() {
    return this.attempt(() => {
      if (this.exports.csn_wasm_open() < 0) throw new Error(this.text());
    });
  }

  lookup(addr, options) {
    const flags = (options?.merged ? FLAG_MERGED : 0) | (options?.demangle ? FLAG_DEMANGLE : 0);
    return this.attempt(() => {
      this.exports.csn_wasm_lookup(addr, flags);
      return JSON.parse(this.text());
    });
  }
}

function checkAddress(addr) {
  if (typeof addr === "number" && Number.isSafeInteger(addr)) addr = BigInt(addr);
  if (typeof addr !== "bigint" || addr < 0n || addr >= 1n << 64n) throw new TypeError(`${String(addr)} is not an address: need a bigint from 0 to 2^64 - 1`);
  return addr;
}

class Index {
  #reader;

  constructor(reader) {
    this.#reader = reader;
    reader.exports.csn_wasm_info();
    this.info = Object.freeze(JSON.parse(reader.text()));
  }

  get reader() {
    if (!this.#reader) throw new CallsignError("the index is closed");
    return this.#reader;
  }

  close() {
    this.#reader = undefined;
  }

  [Symbol.dispose ?? Symbol.for("dispose")]() {
    this.close();
  }
}

class MemoryIndex extends Index {
  lookup(addr, options) {
    return this.reader.lookup(checkAddress(addr), options).value;
  }

  lookupAll(addrs, options) {
    return Array.from(addrs, (addr) => this.lookup(addr, options));
  }
}

class SparseIndex extends Index {
  get requests() { return this.reader.source.requests ?? 0; }
  get bytesRead() { return this.reader.source.bytesRead ?? 0; }

  async lookup(addr, options) {
    return (await this.lookupAll([addr], options))[0];
  }

  // Each round answers what it can, then fetches what all others miss next. A round brings at least one block.
  async lookupAll(addrs, options) {
    const list = Array.from(addrs, checkAddress), answers = new Array(list.length);
    let open = list.map((_, i) => i);
    while (open.length) {
      const missing = [], left = [];
      for (const i of open) {
        const result = this.reader.lookup(list[i], options);
        if (result.missing) {
          missing.push(result.missing);
          left.push(i);
        } else {
          answers[i] = result.value;
        }
      }
      if (missing.length) await this.reader.fetch(missing);
      open = left;
    }
    return answers;
  }
}

function sourceOf(input, options) {
  if (input instanceof ArrayBuffer || (typeof SharedArrayBuffer !== "undefined" && input instanceof SharedArrayBuffer))
    return bufferSource(new Uint8Array(input));
  if (ArrayBuffer.isView(input)) return bufferSource(new Uint8Array(input.buffer, input.byteOffset, input.byteLength));
  if (typeof Blob !== "undefined" && input instanceof Blob) return blobSource(input);
  if (typeof input === "string" || input instanceof URL) return urlSource(String(input), BLOCK, options);
  throw new TypeError("need an ArrayBuffer, a Blob or the URL of an index");
}

/** Opens an index. See callsign.d.ts. */
export async function open(input, options = {}) {
  const source = await sourceOf(input, options);
  const inMemory = Boolean(source.bytes);
  const reader = await Reader.create(source);
  for (let result; (result = reader.open()).missing;) await reader.fetch([result.missing]);
  return inMemory && !(typeof input === "string" || input instanceof URL) ? new MemoryIndex(reader) : new SparseIndex(reader);
}
