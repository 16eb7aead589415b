// One index: an address, and where its bytes are. Two indexes: what differs.

import { callsign } from "./command.js";
import { element } from "./dom.js";
import { treemap } from "./treemap.js";

const json = ({ code, stdout, stderr }) => {
  if (code > 1 || !stdout) throw new Error(stderr.trim() || `the command ended with ${code}`);
  return JSON.parse(stdout);
};

export async function showTreemap(box, path) {
  const stats = json(await callsign(["stats", "--json", path]));
  const files = stats.files.map(({ file, bytes }) => ({ name: file || "(no file)", bytes }));
  box.replaceChildren(
    element("h2", {}, `${stats.file_size} bytes, ${stats.functions} functions`),
    treemap(stats.parts, "parts of the file"),
    element("h2", {}, "Functions by source file"),
    treemap(files, "functions by source file"));
}

export async function lookUp(path, address, demangle) {
  const { stdout, stderr, code } = await callsign(["lookup", ...(demangle ? ["--demangle"] : []), "--merged", path, address]);
  return code === 2 ? stderr : stdout;
}

function nameList(title, names) {
  const list = element("ul", {}, ...names.map((name) => element("li", {}, name)));
  return element("details", { open: names.length <= 50 }, element("summary", {}, `${title}: ${names.length}`), list);
}

const nameOf = (item) => (typeof item === "string" ? item : item.name ?? item.function ?? JSON.stringify(item));

export async function showDifference(box, before, after) {
  const difference = json(await callsign(["diff", "--json", before, after]));
  const { added, removed, changed } = difference.functions;
  box.replaceChildren(
    element("p", {}, difference.same ? "The indexes mean the same." : "The indexes differ."),
    nameList("added", added.map(nameOf)), nameList("removed", removed.map(nameOf)), nameList("changed", changed.map(nameOf)));
}
