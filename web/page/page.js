// The page: input, tabs, and what happens with what is dropped.

import { callsign } from "./command.js";
import { $, element } from "./dom.js";
import { FlameGraph, treeOfCounts, treeOfFolded, treeOfStacks } from "./flame_graph.js";
import { lookUp, showDifference, showTreemap } from "./index_view.js";
import { addSymbols, findBeside, isSymbolFile, removeSymbols, searchOptions, symbolNames, symbolPath } from "./symbols.js";
import { showNamed, showStacks } from "./stacks_view.js";

const encoder = new TextEncoder();
const tabs = [...document.querySelectorAll("[role=tab]")];
const flame = new FlameGraph($("flame"), $("flame-note"));

function report(text) {
  $("status").textContent = text;
}

// Failures of whatever the user started are shown, not lost.
const guarded = (action) => (...args) => Promise.resolve(action(...args)).catch((error) => report(error.message));

function choose(tab) {
  for (const other of tabs) {
    const chosen = other === tab;
    other.setAttribute("aria-selected", String(chosen));
    other.tabIndex = chosen ? 0 : -1;
    $(other.getAttribute("aria-controls")).hidden = !chosen;
  }
}

function moveTab(event) {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
  if (!step) return;
  const next = tabs[(tabs.indexOf(event.target) + step + tabs.length) % tabs.length];
  choose(next);
  next.focus();
}

function showIndexes() {
  $("indexes").replaceChildren(...symbolNames().map((name) => element("span", { class: "index" }, name,
    element("button", { "aria-label": `remove ${name}`, onclick: () => { removeSymbols(name); showIndexes(); } }, "×"))));
  for (const id of ["index-choice", "diff-a", "diff-b"]) {
    const before = $(id).value;
    $(id).replaceChildren(...symbolNames().map((name) => element("option", {}, name)));
    if (symbolNames().includes(before)) $(id).value = before;
  }
  if (symbolNames().length > 1 && $("diff-a").value === $("diff-b").value) $("diff-b").selectedIndex = 1;
}

// ---- stacks ----

async function answerStacks(log) {
  const input = encoder.encode(log), options = [...($("demangle").checked ? ["--demangle"] : []), ...searchOptions()];
  const [named, answered] = [await callsign(["stack", "--in-place", ...options], input), await callsign(["stack", "--json", ...options], input)];
  const stacks = answered.stdout.split("\n").filter(Boolean).map((line) => JSON.parse(line)).filter((stack) => stack.frames);
  return { named, stacks, summary: answered.stderr.trim().split("\n").pop() };
}

const modulesWithout = (stacks) => stacks.flatMap((stack) => stack.frames).filter((frame) => frame.module && !frame.frames?.length).map((frame) => frame.module);

async function showLog() {
  const log = $("log").value;
  if (!log.trim()) return;
  report("working ...");
  let answer = await answerStacks(log);
  if (await findBeside(modulesWithout(answer.stacks), log)) answer = await answerStacks(log);
  showNamed($("named"), log, answer.named.stdout);
  showStacks($("stacks"), answer.stacks);
  const folded = treeOfFolded(answer.named.stdout);
  if (folded) flame.show(folded);
  else if (answer.stacks.length) flame.show(treeOfStacks(answer.stacks));
  if (folded) choose($("tab-flame"));
  report(answer.stacks.length || !folded ? answer.summary.replace(/^callsign: /, "") : `${folded.count} samples`);
}

// ---- profiles ----

// The browser has gzip; the module does not.
async function inflated(bytes) {
  if (bytes[0] !== 0x1f || bytes[1] !== 0x8b) return bytes;
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer());
}

// Binary, JSON with the profiler's "meta", or the text of a heap, a lock or a count of gperftools, tcmalloc, jemalloc or Go: not a log.
const isProfile = (bytes) => bytes.subarray(0, 4096).some((byte) => byte < 9) ||
  /^\s*(\{\s*"meta"|heap profile:|heap_v2\/|--- (contention|mutex)|\S+ profile: total \d)/.test(new TextDecoder().decode(bytes.subarray(0, 256)));

async function showProfile({ name, bytes }) {
  report("working ...");
  const out = "/out.folded";
  const { text, stderr, code } = await callsign(["profile", "-", "--to", "folded", "-o", out, ...searchOptions()], bytes, out);
  const tree = text && treeOfCounts(text);
  if (code !== 0 || !tree) throw new Error(stderr.trim().replace(/^callsign: standard input: /, `${name}: `) || `${name}: the profile has no stacks`);
  flame.show(tree);
  choose($("tab-flame"));
  report(stderr.trim());
}

// ---- an index, or two ----

async function showIndex() {
  const path = symbolPath($("index-choice").value);
  if (path) await showTreemap($("treemap"), path);
}

async function showAddress() {
  const path = symbolPath($("index-choice").value);
  if (!path) return report("drop an index first");
  $("answer").textContent = await lookUp(path, $("address").value.trim(), $("demangle").checked);
  $("answer").hidden = false;
}

async function compare() {
  const [before, after] = [symbolPath($("diff-a").value), symbolPath($("diff-b").value)];
  if (!before || !after) return report("drop two indexes first");
  await showDifference($("difference"), before, after);
}

// ---- files ----

async function take(files) {
  let log, profile;
  for (const file of files) {
    const bytes = await inflated(new Uint8Array(await file.arrayBuffer()));
    if (isSymbolFile(bytes)) addSymbols(file.name, bytes);
    else if (isProfile(bytes)) profile = { name: file.name, bytes };
    else log = new TextDecoder().decode(bytes);
  }
  showIndexes();
  if (log !== undefined) {
    $("log").value = log;
    choose($("tab-stack"));
  }
  if (profile) await showProfile(profile);
  else if ($("log").value.trim()) await showLog();
  else report(`${symbolNames().length} files with symbols`);
}

tabs.forEach((tab) => {
  tab.onclick = () => {
    choose(tab);
    if (tab.id === "tab-index") guarded(showIndex)();
  };
  tab.onkeydown = moveTab;
});
$("run").onclick = guarded(showLog);
$("lookup").onclick = guarded(showAddress);
$("address").onkeydown = (event) => event.key === "Enter" && guarded(showAddress)();
$("index-choice").onchange = guarded(showIndex);
$("compare").onclick = guarded(compare);
$("files").onchange = guarded(async () => take([...$("files").files]));
document.onkeydown = (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) guarded(showLog)();
};
document.ondragover = (event) => {
  event.preventDefault();
  document.body.classList.add("dragging");
};
document.ondragleave = () => document.body.classList.remove("dragging");
document.ondrop = guarded(async (event) => {
  event.preventDefault();
  document.body.classList.remove("dragging");
  await take([...event.dataTransfer.files]);
});
$("log").onpaste = () => setTimeout(guarded(showLog));
document.documentElement.dataset.ready = "true";
