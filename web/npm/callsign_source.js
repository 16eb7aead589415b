// Where the bytes of an index come from: a buffer, a Blob, or a URL that is read by Range requests.

const MAX_SIZE = 2 ** 32 - 2 ** 26; // the addresses of WebAssembly, less what the code needs itself

export class CallsignError extends Error {
  constructor(message, options) {
    super(message, options);
    this.name = "CallsignError";
  }
}

function checkSize(name, size) {
  if (size > MAX_SIZE) throw new CallsignError(`${name}: ${size} bytes, the limit is ${MAX_SIZE}`);
}

/** All bytes are there. */
export function bufferSource(bytes) {
  checkSize("the buffer", bytes.byteLength);
  return { name: "the buffer", size: bytes.byteLength, bytes };
}

export function blobSource(blob) {
  const name = blob.name ? `file ${blob.name}` : "the Blob";
  checkSize(name, blob.size);
  return {
    name, size: blob.size,
    async read(start, end) {
      const bytes = new Uint8Array(await blob.slice(start, end).arrayBuffer());
      if (bytes.length !== end - start) throw new CallsignError(`${name}: ${bytes.length} bytes at ${start}, need ${end - start}`);
      return bytes;
    },
  };
}

// "bytes 0-65535/57000000"
function contentRange(response) {
  const match = /^bytes (\d+)-(\d+)\/(\d+)$/.exec(response.headers.get("content-range") ?? "");
  return match && { start: Number(match[1]), end: Number(match[2]) + 1, size: Number(match[3]) };
}

class UrlSource {
  constructor(url, options) {
    this.url = this.name = url;
    this.options = options;
    this.requests = 0;
    this.bytesRead = 0;
  }

  fail(message, cause) {
    return new CallsignError(`${this.url}: ${message}`, cause && { cause });
  }

  // The response with its body, both within the time limit.
  async request(start, end) {
    const { timeoutMs = 30000, signal, headers, credentials } = this.options;
    const stop = new AbortController();
    const timer = setTimeout(() => stop.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
    const abort = () => stop.abort(signal.reason);
    if (signal?.aborted) abort();
    signal?.addEventListener("abort", abort);
    this.requests++;
    try {
      const response = await fetch(this.url, {
        headers: { ...headers, Range: `bytes=${start}-${end - 1}` }, signal: stop.signal, cache: "no-store",
        ...(credentials && { credentials }),
      });
      if (response.status !== 206 && response.status !== 200) throw this.fail(`HTTP status ${response.status}`);
      const size = Number(response.headers.get("content-length") ?? 0);
      if (response.status === 200) checkSize(this.url, size);
      const bytes = new Uint8Array(await this.body(response, response.status === 206 ? end - start : MAX_SIZE));
      this.bytesRead += bytes.length;
      return { response, bytes };
    } catch (error) {
      if (error instanceof CallsignError) throw error;
      throw this.fail(stop.signal.aborted ? String(stop.signal.reason?.message ?? stop.signal.reason) : error.cause?.message ?? error.message, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  // No more than `limit` bytes of the body are kept.
  async body(response, limit) {
    const parts = [];
    let size = 0;
    if (!response.body) return new Uint8Array(0);
    const reader = response.body.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      size += value.length;
      if (size > limit) {
        await reader.cancel();
        throw this.fail(`the answer has more than ${limit} bytes`);
      }
      parts.push(value);
    }
    const bytes = new Uint8Array(size);
    let at = 0;
    for (const part of parts) {
      bytes.set(part, at);
      at += part.length;
    }
    return bytes;
  }

  // The first bytes, and with them the size.
  async begin(size) {
    const { response, bytes } = await this.request(0, size);
    this.etag = response.headers.get("etag");
    if (response.status === 200) return bufferSource(this.whole(response, bytes));
    const range = contentRange(response);
    if (!range) throw this.fail("the answer has no Content-Range (across origins the server has to expose it)");
    if (range.start !== 0 || range.end !== Math.min(size, range.size)) throw this.fail(`sent bytes ${range.start}-${range.end}, need 0-${size}`);
    checkSize(this.url, range.size);
    this.size = range.size;
    this.check(0, range.end, bytes);
    this.first = bytes;
    return this;
  }

  // A server without ranges sends the whole file. A page that says "not found" with status 200 is none.
  whole(response, bytes) {
    if (/^text\/html/i.test(response.headers.get("content-type") ?? "")) throw this.fail("is an HTML page, not an index");
    if (this.options.ranges === "only") throw this.fail("the server does not support Range requests");
    const want = response.headers.get("content-encoding") ? null : response.headers.get("content-length");
    if (want !== null && Number(want) !== bytes.length) throw this.fail(`${bytes.length} bytes, need ${want}`);
    return bytes;
  }

  check(start, end, bytes) {
    if (bytes.length !== end - start) throw this.fail(`${bytes.length} bytes at ${start}, need ${end - start}`);
  }

  async read(start, end) {
    if (this.first && end <= this.first.length) return this.first.subarray(start, end);
    const { response, bytes } = await this.request(start, end);
    const range = contentRange(response);
    if (response.status !== 206 || !range) throw this.fail("the server stopped answering Range requests");
    if (response.headers.get("etag") !== this.etag || range.size !== this.size) throw this.fail("the file changed while it was read");
    if (range.start !== start || range.end !== end) throw this.fail(`sent bytes ${range.start}-${range.end}, need ${start}-${end}`);
    this.check(start, end, bytes);
    return bytes;
  }
}

export async function urlSource(url, blockSize, options) {
  return new UrlSource(url, options).begin(blockSize);
}
