// The command in a worker, so that the page stays responsive. Messages: {put: path, bytes}, {remove: path}, or
// {id, args, stdin, read}, which is answered by {id, code, stdout, stderr, text}, where text is
// that of the file `read`, or by {id, failed}.

import { MemoryFiles, runProgram } from "./wasi_host.js";

const files = new MemoryFiles();
files.put("/symbols/.folder", new Uint8Array(0)); // the folder is there, however few files
const compiled = fetch(new URL("./command.wasm", import.meta.url)).then(async (response) => {
  if (!response.ok) throw new Error(`command.wasm: HTTP status ${response.status}`);
  return WebAssembly.compile(await response.arrayBuffer());
});

async function run({ id, args, stdin, read }) {
  try {
    const result = await runProgram(await compiled, files, args, stdin), written = files.files.get(read);
    files.remove(read);
    postMessage({ id, ...result, text: written && new TextDecoder().decode(written) });
  } catch (error) {
    postMessage({ id, failed: error.message });
  }
}

onmessage = ({ data }) => {
  if (data.put) files.put(data.put, data.bytes);
  else if (data.remove) files.remove(data.remove);
  else run(data);
};
