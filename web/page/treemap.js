// A treemap: areas are bytes. Rectangles are laid out in rows whose aspect is nearest to a square.

const SVG = "http://www.w3.org/2000/svg";

function worst(row, side) {
  const sum = row.reduce((total, item) => total + item.area, 0), thickness = sum / side;
  return Math.max(...row.map((item) => Math.max(thickness / (item.area / thickness), item.area / thickness / thickness)));
}

/** Items with `bytes` get x, y, width and height. */
export function layOut(items, width, height) {
  const total = items.reduce((sum, item) => sum + item.bytes, 0), left = [];
  for (const item of [...items].sort((a, b) => b.bytes - a.bytes)) if (item.bytes > 0) left.push({ ...item, area: (item.bytes / total) * width * height });
  const placed = [];
  let x = 0, y = 0;
  while (left.length) {
    const side = Math.min(width, height), row = [left.shift()];
    while (left.length && worst([...row, left[0]], side) <= worst(row, side)) row.push(left.shift());
    const thickness = row.reduce((sum, item) => sum + item.area, 0) / side;
    let along = 0;
    for (const item of row) {
      const size = item.area / thickness;
      placed.push(width >= height ? { ...item, x, y: y + along, width: thickness, height: size } : { ...item, x: x + along, y, width: size, height: thickness });
      along += size;
    }
    if (width >= height) x += thickness, width -= thickness;
    else y += thickness, height -= thickness;
  }
  return placed;
}

function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}

export function treemap(items, label) {
  const width = 1000, height = 360;
  const svg = shape("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label });
  layOut(items, width, height).forEach((item, i) => {
    const group = shape("g", {});
    const rect = shape("rect", { x: item.x, y: item.y, width: item.width, height: item.height, fill: `hsl(${(i * 47) % 360} 55% 70%)`, stroke: "#fff" });
    rect.append(shape("title", {}, `${item.name}: ${item.bytes} bytes`));
    group.append(rect);
    if (item.width > 60 && item.height > 16)
      group.append(shape("text", { x: item.x + 4, y: item.y + 13 }, item.name.slice(-Math.floor(item.width / 7))));
    svg.append(group);
  });
  return svg;
}
