// The log with names in place, and each frame with its reason and its merged functions.

import { element } from "./dom.js";

/** Lines that differ from the log's own are marked. */
export function showNamed(pre, log, named) {
  const own = new Set(log.split("\n"));
  pre.replaceChildren(...named.replace(/\n$/, "").split("\n").map((line) => element("span", own.has(line) ? {} : { class: "filled" }, line + "\n")));
  pre.hidden = false;
}

const place = (frame) => (frame.file ? `${frame.file}${frame.line ? `:${frame.line}` : ""}` : "");

function evidenceText(merged) {
  const { by, evidence } = merged;
  if (by === "ambiguous") return "nothing in the stack decides";
  const site = evidence ? `the call site of frame ${evidence.frame}${evidence.pattern ? `, pattern ${evidence.pattern}` : ""}` : "";
  return `decided by ${by === "outer" ? "an outer frame: " : ""}${site || by}`;
}

function mergedRow(merged) {
  const names = merged.candidates.flatMap((name, i) => [i ? ", " : "", element(name === merged.chosen ? "strong" : "span", {}, name)]);
  return element("tr", { class: "merged" }, element("td"), element("td", { colspan: 3 }, "one of ", ...names, `: ${evidenceText(merged)}`));
}

function frameRows(frame, number) {
  const shown = frame.frames?.length ? frame.frames : [{}];
  const rows = shown.map((one, i) => element("tr", {},
    element("td", {}, i ? "" : String(number)),
    element("td", {}, one.function ?? frame.symbol ?? frame.address ?? frame.pc ?? "?", one.inlined ? element("span", { class: "soft" }, " inlined") : ""),
    element("td", {}, place(one)),
    element("td", { class: "reason" }, i || !frame.reason ? "" : `${frame.reason}${frame.module ? ` (${frame.module})` : ""}`)));
  return frame.merged ? [...rows, mergedRow(frame.merged)] : rows;
}

function stackTable(stack) {
  const head = element("tr", {}, ...["", "function", "place", "missing"].map((title) => element("th", {}, title)));
  return element("table", { class: "frames" }, head, ...stack.frames.flatMap(frameRows));
}

const SHOWN = 50;

export function showStacks(box, stacks) {
  const tables = stacks.slice(0, SHOWN).map(stackTable);
  if (stacks.length > SHOWN) tables.push(element("p", { class: "soft" }, `${stacks.length - SHOWN} more stacks are in the log and in the flame graph`));
  box.replaceChildren(...tables);
}
