// The indexes that the command may use: dropped ones, and those that lie beside the page.

import { putFile, removeFile } from "./command.js";

export const FOLDER = "/symbols";
const MAX_REQUESTS = 200;
const given = new Map(); // name: path, of dropped files
const asked = new Set(); // what was looked for beside the page, found or not

const WORDS = [
  0x4753594d, 0x4d595347, 0x4253594d, 0x47535953, // GSYM and BSYM
  0x7f454c46, 0xfeedface, 0xfeedfacf, 0xcefaedfe, 0xcffaedfe, 0xcafebabe, 0xcafebabf, 0x0061736d, // ELF, Mach-O, universal, WebAssembly
];
const WINDOWS_PROGRAM = 0x4d5a;
const TEXTS = ["!<arch>\n", "Microsoft C/C++ MSF 7.00", "MODULE "]; // archive, PDB, Breakpad

/** An index, a program or a file of debug information, by its first bytes. */
export function isSymbolFile(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (bytes.length < 8) return false;
  const start = String.fromCharCode(...bytes.subarray(0, 32));
  return WORDS.includes(view.getUint32(0)) || view.getUint16(0) === WINDOWS_PROGRAM || TEXTS.some((text) => start.startsWith(text));
}

export function addSymbols(name, bytes) {
  const path = `/given/${name}`;
  given.set(name, path);
  putFile(path, bytes);
}

export function removeSymbols(name) {
  removeFile(given.get(name));
  given.delete(name);
}

export const symbolNames = () => [...given.keys()];
export const symbolPath = (name) => given.get(name);
export const searchOptions = () => [...[...given.values()].flatMap((path) => ["--index", path]), "--symbols", FOLDER, "--no-search"];

async function fetchBeside(url, path) {
  if (asked.has(url) || asked.size >= MAX_REQUESTS) return false;
  asked.add(url);
  const response = await fetch(new URL(url, document.baseURI)).catch(() => undefined);
  if (!response?.ok) return false;
  const bytes = new Uint8Array(await response.arrayBuffer());
  if (!isSymbolFile(bytes)) return false;
  putFile(path, bytes);
  return true;
}

const baseName = (path) => path.split(/[\\/]/).pop();

/** Looks for the indexes of these modules, and of the build ids that the log names. True: one was found. */
export async function findBeside(modules, log) {
  const ids = new Set([...log.matchAll(/build[ _-]?id\W{0,4}([0-9a-f]{16,64})\b/gi)].map((match) => match[1].toLowerCase()));
  let found = false;
  for (const id of ids) {
    const path = `${FOLDER}/${id.slice(0, 2)}/${id.slice(2)}.gsym`;
    found = (await fetchBeside(`.build-id/${id.slice(0, 2)}/${id.slice(2)}.gsym`, path)) || (await fetchBeside(`buildid/${id}/gsym`, path)) || found;
  }
  for (const name of new Set(modules.map(baseName))) {
    if (!name || name.startsWith("[")) continue;
    found = (await fetchBeside(`${encodeURIComponent(name)}.gsym`, `${FOLDER}/${name}.gsym`)) || found;
  }
  return found;
}
