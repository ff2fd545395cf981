// The pattern as bars, with the required weights as lines.
import { h, listed, put, s, several, shown, tell } from "../../common/dom.js";

const [LEFT, FOOT, WIDTH, HEIGHT] = [34, 146, 400, 128];

export function patternView(scene) {
  const svg = s("svg", { viewBox: "0 0 440 170", role: "img", "aria-label": "Pattern" });
  const caption = h("figcaption", {}, h("b", {}, "Pattern"), h("span", {}, ""));
  const layers = { bars: s("g", {}), wanted: s("g", {}), labels: s("g", {}) };
  for (const level of [0, 0.5, 1]) {
    const y = FOOT - HEIGHT * level;
    svg.append(s("line", { class: level ? "grid" : "axis", x1: LEFT, x2: LEFT + WIDTH, y1: y, y2: y }), s("text", { class: "tick", x: LEFT - 5, y: y + 4, "text-anchor": "end" }, String(level)));
  }
  svg.append(...Object.values(layers));

  function draw() {
    const { values, weights, least } = scene;
    const targetKeys = new Map(least);
    const step = WIDTH / weights.length;
    const bars = several(layers.bars, weights.length, () => s("rect", {}));
    weights.forEach((weight, i) => {
      const tall = Math.max(0.6, HEIGHT * weight);
      put(bars[i], { class: targetKeys.has(i) ? "bar-target" : "bar-key", x: (LEFT + (i + 0.12) * step).toFixed(1), y: (FOOT - HEIGHT * weight).toFixed(1), width: Math.max(0.8, step * 0.76).toFixed(1), height: tall.toFixed(1), rx: step > 12 ? 2 : 0 });
    });
    const lines = several(layers.wanted, least.length, () => s("line", { class: "wanted" }));
    least.forEach(([target, weight], k) => put(lines[k], { x1: LEFT + target * step, x2: LEFT + (target + 1) * step, y1: FOOT - HEIGHT * weight, y2: FOOT - HEIGHT * weight }));
    const named = weights.length <= 30 ? weights.map((_, i) => i) : least.map(([target]) => target);
    const labels = several(layers.labels, named.length, () => s("text", { y: FOOT + 15, "text-anchor": "middle" }));
    named.forEach((key, k) => { put(labels[k], { class: targetKeys.has(key) ? "label" : "tick", x: (LEFT + (key + 0.5) * step).toFixed(1) }); tell(labels[k], String(key)); });
    const of = scene.own() ? "of your query" : scene.current() ? (values.heads > 1 ? "of the queries found, averaged over heads" : "of the shortest query") : "for the zero query, since there is no other";
    tell(caption.lastElementChild, `${of}, floating-point.${least.length ? " Lines: required weights." : ""}`);
    put(svg, { "aria-label": `Pattern ${of}: ${listed(scene.top(5).map(([w, i]) => `key ${i} ${shown(w)}`))}` });
  }

  return { figure: h("figure", { id: "pattern" }, caption, svg), svg, draw };
}
