// Small charts as SVG: a map of numbers as colours, a curve, bars. Each says what it shows in words, too.
import { put, s, shown } from "./dom.js";

/** A colour for a number between -1 and 1: blue below, orange above, paper at 0; the class decides the hue. */
function cell(value, most) {
  if (value === null || Number.isNaN(value)) return { class: "cell none" };
  const part = Math.max(-1, Math.min(1, value / most));
  return { class: part < 0 ? "cell low" : "cell high", "fill-opacity": Math.abs(part).toFixed(3) };
}

/**
 * A matrix as colours. `names` label the rows; `most` is the number with the full colour; `marked` rows are framed.
 * Returns the height of the picture.
 */
export function heat(svg, matrix, { names = [], most = null, title = "", side = 20, left = 0, wide = 220, marked = [], tall = null } = {}) {
  const columns = matrix[0]?.length ?? 1;
  const width = (wide - left) / columns;
  const height = tall ?? side;
  const full = most ?? Math.max(1e-12, ...matrix.flat().map((x) => Math.abs(x ?? 0)));
  const total = height * matrix.length + 2;
  put(svg, { viewBox: `0 0 ${wide} ${total}`, role: "img", "aria-label": `${title}: ${matrix.length} rows of ${columns} numbers, the largest ${shown(Math.max(...matrix.flat().map((x) => Math.abs(x ?? 0))))}` });
  svg.replaceChildren();
  const gaps = width > 9 && height > 9;
  if (gaps) svg.append(s("rect", { class: "field", x: left, y: 0.5, width: wide - left - 1, height: height * matrix.length }));
  matrix.forEach((row, i) => {
    if (names[i] !== undefined) svg.append(s("text", { class: "tick", x: left - 6, y: (i + 0.5) * height + 5, "text-anchor": "end" }, names[i]));
    row.forEach((value, j) => {
      const rect = s("rect", { ...cell(value, full), x: (left + j * width).toFixed(2), y: (1 + i * height).toFixed(2), width: Math.max(0.5, width - (width > 9 ? 1 : 0)).toFixed(2), height: Math.max(0.5, height - (height > 9 ? 1 : 0)).toFixed(2) });
      if (matrix.length * columns <= 600) rect.append(s("title", {}, `${names[i] ?? `row ${i}`}, ${j}: ${shown(value, 4)}`));
      svg.append(rect);
    });
    if (marked.includes(i)) svg.append(s("rect", { class: "frame", x: left, y: 1 + i * height, width: wide - left - 1, height: height - 1 }));
  });
  return total;
}

/** A round number that is no less, for the top of an axis. */
export const rounded = (most) => { const power = 10 ** Math.floor(Math.log10(most)); return [1, 2, 2.5, 5, 10].map((m) => m * power).find((x) => x >= most); };

/** Axes from numbers to the picture: returns x(value), y(value). `at`: where the ticks across are, unless `ticks` even ones. */
export function axes(svg, { width = 440, height = 200, from, to, top, bottom = 0, across = "", up = "", ticks = 5, at = null, label = (value) => shown(value, 2) }) {
  put(svg, { viewBox: `0 0 ${width} ${height}` });
  svg.replaceChildren();
  const [left, right, above, below] = [44, width - 18, 24, height - 34];
  const x = (value) => left + ((value - from) / (to - from)) * (right - left);
  const y = (value) => below - ((value - bottom) / (top - bottom)) * (below - above);
  for (let k = 0; k <= 4; k++) {
    const value = bottom + ((top - bottom) * k) / 4;
    svg.append(s("line", { class: k ? "grid" : "axis", x1: left, x2: right, y1: y(value), y2: y(value) }), s("text", { class: "tick", x: left - 6, y: y(value) + 4, "text-anchor": "end" }, shown(value)));
  }
  const places = at ?? Array.from({ length: ticks + 1 }, (_, k) => from + ((to - from) * k) / ticks);
  for (const value of places) {
    svg.append(s("text", { class: "tick", x: x(value), y: below + 15, "text-anchor": "middle" }, label(value)));
  }
  svg.append(s("text", { class: "tick", x: (left + right) / 2, y: height - 4, "text-anchor": "middle" }, across), s("text", { class: "tick", x: 4, y: 11 }, up));
  return { x, y };
}

/** A curve through points [[x, y], ...]. */
export function curve(svg, points, { across, up, words, ...more }) {
  const known = points.filter(([, value]) => value !== null);
  const top = rounded(Math.max(1e-12, ...known.map(([, value]) => value)) * 1.02);
  const { x, y } = axes(svg, { from: points[0][0], to: points.at(-1)[0], top, across, up, ...more });
  svg.append(s("path", { class: "curve", d: known.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") }));
  put(svg, { role: "img", "aria-label": words });
  return { x, y };
}
