// A flame graph of stacks: width is the number of samples. Click or Enter zooms in, Escape goes back; arrows move.

import { element } from "./dom.js";

const ROW = 18, MIN_WIDTH = 0.05; // pixels; per cent

const node = (name) => ({ name, count: 0, children: new Map() });

function add(root, names, count) {
  root.count += count;
  let at = root;
  for (const name of names) {
    if (!at.children.has(name)) at.children.set(name, node(name));
    at = at.children.get(name);
    at.count += count;
  }
}

/** Of lines "outer;inner 12"; a stack may have one function. undefined: these are none, or no line has a ";". */
export function treeOfFolded(text) {
  return text.includes(";") ? treeOfCounts(text) : undefined;
}

/** The same where it is known that the lines are stacks. */
export function treeOfCounts(text) {
  const lines = text.split("\n").filter((line) => line.trim()), root = node("all");
  for (const line of lines) {
    const match = /^(.+) (\d+(?:\.\d+)?)$/.exec(line);
    if (!match) return undefined;
    add(root, match[1].split(";"), Number(match[2]));
  }
  return lines.length ? root : undefined;
}

/** Of answers of `callsign stack --json`. */
export function treeOfStacks(stacks) {
  const root = node("all");
  for (const stack of stacks) {
    const names = stack.frames.flatMap((frame) => (frame.frames?.length ? frame.frames.map((one) => one.function ?? "?")
      : [frame.symbol ?? `${frame.module?.split("/").pop() ?? "?"}+${frame.address ?? frame.pc ?? ""}`]));
    add(root, names.reverse(), 1);
  }
  return root;
}

function colour(name) {
  let hash = 0;
  for (const c of name) hash = (hash * 31 + c.codePointAt(0)) % 997;
  return `hsl(${20 + (hash % 40)} 80% ${62 + (hash % 13)}%)`;
}

export class FlameGraph {
  constructor(box, note) {
    this.box = box;
    this.note = note;
    box.onkeydown = (event) => this.key(event);
  }

  show(root) {
    this.path = [root];
    this.draw();
  }

  zoom(target) {
    this.path.push(target);
    this.draw();
  }

  back() {
    if (this.path.length > 1) this.path.pop();
    this.draw();
  }

  draw() {
    const root = this.path[0], focus = this.path[this.path.length - 1];
    const boxes = [];
    let deepest = 0;
    const place = (at, left, depth) => {
      const width = (100 * at.count) / focus.count;
      if (width < MIN_WIDTH) return;
      deepest = Math.max(deepest, depth);
      const share = ((100 * at.count) / root.count).toFixed(1);
      const title = `${at.name}: ${at.count} samples, ${share} %`;
      boxes.push(element("button", {
        class: "flame", role: "treeitem", title, "aria-label": title, tabindex: boxes.length ? -1 : 0,
        style: `left:${left}%;width:${width}%;top:${depth * ROW}px;background:${colour(at.name)}`, onclick: () => this.zoom(at),
      }, at.name));
      let from = left;
      for (const child of [...at.children.values()].sort((a, b) => (a.name < b.name ? -1 : 1))) {
        place(child, from, depth + 1);
        from += (100 * child.count) / focus.count;
      }
    };
    place(focus, 0, 0);
    this.box.style.height = `${(deepest + 1) * ROW}px`;
    this.box.replaceChildren(...boxes);
    this.note.textContent = `${root.count} samples${focus === root ? "" : `, ${focus.count} of them in ${focus.name}; Escape goes back`}`;
    if (this.path.length > 1) boxes[0].focus();
  }

  key(event) {
    const boxes = [...this.box.children], at = boxes.indexOf(document.activeElement);
    if (event.key === "Escape") this.back();
    else if (event.key === "ArrowRight" || event.key === "ArrowDown") boxes[Math.min(at + 1, boxes.length - 1)]?.focus();
    else if (event.key === "ArrowLeft" || event.key === "ArrowUp") boxes[Math.max(at - 1, 0)]?.focus();
    else return;
    event.preventDefault();
  }
}
