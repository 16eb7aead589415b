/** One frame of an answer. Fields without a value are left out. */
export interface Frame {
  function?: string;
  /** Bytes from the start of the function, or of the inlined block. */
  offset: number;
  file?: string;
  line?: number;
  inlined: boolean;
  /** The address lies between the end of this function and the next one. */
  uncertain?: boolean;
}

/** The object that `callsign lookup --json` prints for an address. */
export interface Answer {
  /** Hexadecimal, such as "0x1139". */
  address: string;
  /** Innermost first; empty when nothing covers the address. */
  frames: Frame[];
  /** Why something is missing. */
  reason?: string;
  /** Why the record could not be read. */
  error?: string;
  /** With `merged`: every function folded into this address, the one shown first. */
  candidates?: string[];
  /** Of an image of many binaries: the one that the address is in. */
  binary?: string;
  /** Of the index of an archive: the object file that the address is in. */
  member?: string;
}

export interface LookupOptions {
  /** Adds `candidates`. */
  merged?: boolean;
  /** Shows demangled names instead of the stored ones. */
  demangle?: boolean;
}

export interface Info {
  format: "gsym" | "gsym-v2" | "gsym-section" | "bsym" | "unknown";
  fileSize: number;
  baseAddress: string;
  functionCount: number;
  fileCount: number;
  /** Build id or UUID in hexadecimal; empty: none. */
  buildId: string;
}

interface BaseIndex {
  readonly info: Readonly<Info>;
  /** Releases the memory. Every later call throws. */
  close(): void;
}

/** An index that is wholly in memory. */
export interface MemoryIndex extends BaseIndex {
  lookup(address: bigint | number, options?: LookupOptions): Answer;
  lookupAll(addresses: Iterable<bigint | number>, options?: LookupOptions): Answer[];
}

/** An index that is read in blocks of 64 KiB when they are needed; they stay in memory until close(). */
export interface SparseIndex extends BaseIndex {
  /** Requests sent and bytes received so far; 0 for a Blob. */
  readonly requests: number;
  readonly bytesRead: number;
  lookup(address: bigint | number, options?: LookupOptions): Promise<Answer>;
  /** Reads blocks that several addresses need once, and neighbouring blocks by one request. */
  lookupAll(addresses: Iterable<bigint | number>, options?: LookupOptions): Promise<Answer[]>;
}

export interface OpenOptions {
  /** Of one request to a URL. Default: 30000. */
  timeoutMs?: number;
  signal?: AbortSignal;
  /** More headers of each request. */
  headers?: Record<string, string>;
  credentials?: "omit" | "same-origin" | "include";
  /** A server without Range requests sends the whole file, which is then kept in memory. "only" makes that an error. */
  ranges?: "only";
}

/** Thrown for an input that cannot be read, with the name of the file or URL in its message. */
export class CallsignError extends Error {}

/** Opens an index, or an object file that carries one. */
export function open(input: ArrayBuffer | ArrayBufferView, options?: OpenOptions): Promise<MemoryIndex>;
/** Reads a Blob (such as a File) or a URL in blocks. A changed ETag between two requests fails the call. */
export function open(input: Blob | string | URL, options?: OpenOptions): Promise<SparseIndex>;
