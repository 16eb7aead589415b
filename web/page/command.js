// The page's side of the worker.

const worker = new Worker(new URL("./command_worker.js", import.meta.url), { type: "module" });
const waiting = new Map();
let number = 0;

worker.onmessage = ({ data }) => {
  const { resolve, reject } = waiting.get(data.id);
  waiting.delete(data.id);
  if (data.failed) reject(new Error(data.failed));
  else resolve(data);
};

export function putFile(path, bytes) {
  worker.postMessage({ put: path, bytes });
}

export function removeFile(path) {
  worker.postMessage({ remove: path });
}

/** Runs `callsign` with these arguments over the files that were put. `read`: a file that it writes, whose text is wanted. */
export function callsign(args, stdin, read) {
  return new Promise((resolve, reject) => {
    waiting.set(++number, { resolve, reject });
    worker.postMessage({ id: number, args, stdin, read });
  });
}
