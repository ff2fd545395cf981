// The picture of keys: drag to move, click to choose the target, Shift-click to add one; in three or more dimensions the picture can be rotated.
import { h, listed, put, s, several, shown, tell } from "../../common/dom.js";
import { Plane, draggable } from "../../common/plane.js";
import { dot, hull, minus, mix, plus, times } from "../../common/attention.js";

const NEAR = "Click a key to make it the target; Shift-click adds or removes a target. Drag a key to move it. The area of a disc is the key's weight.";
const TURNS = 60; // degrees for half the picture's width

/** `hands` changes the state: move(index, place), target(index, add), choose(index), turn(yaw, pitch), settle(). */
export function keyView(scene, hands, legend) {
  const plane = new Plane("Keys", h("span", {}, NEAR));
  const labels = legend(["of-target", "target"], ["", "other keys"], ["of-output", "output (values are the keys)"], ["of-shortest", "direction of the query"], ["of-ball", "where each key may be"], ["of-hull", "convex hull"], ["of-pull", "coefficients of the combination"]);
  plane.figure.append(labels.place);
  const ground = s("rect", { class: "ground", x: 0, y: 0, width: 440, height: 440, role: "button" });
  const hullPath = s("path", { class: "hull" });
  const edge = s("circle", { class: "edge" });
  const equator = [s("path", { class: "equator behind" }), s("path", { class: "equator" })];
  const pulls = s("g", {});
  const rays = s("g", {});
  const outputMark = s("path", { class: "output", role: "img", "aria-label": "output" });
  const keyLayer = s("g", {});
  plane.under.append(ground, edge, ...equator, hullPath, rays, pulls);
  plane.over.append(keyLayer, outputMark);
  let axes = null;
  const seen = (vector) => [dot(vector, axes[0]), dot(vector, axes[1])];

  // Hands

  const nodes = [];
  function nodeFor(index) {
    if (nodes[index]) return nodes[index];
    const node = { halo: s("circle", { class: "halo" }), ball: s("circle", { class: "ball" }), ring: s("circle", { class: "ring", r: 13 }), dot: s("circle", { class: "dot" }), label: s("text", { class: "label", "text-anchor": "middle" }) };
    node.group = s("g", { class: "key", role: "button", "aria-label": `Key ${index}` }, node.halo, node.ball, node.ring, node.dot, node.label);
    draggable(plane, node.group, {
      grabbed: () => hands.choose(index),
      moved(point, by) {
        const from = scene.keys[index];
        const here = seen(from);
        const [x, y] = minus(by ? plus(here, by) : point, here);
        hands.move(index, plus(from, plus(times(axes[0], x), times(axes[1], y))));
      },
      ended: hands.settle,
      clicked(add) { hands.target(index, add); },
      also(event) {
        const step = { PageDown: 1, PageUp: -1, "]": 1, "[": -1 }[event.key];
        if (!step) return false;
        hands.choose((index + step + scene.values.n) % scene.values.n);
        nodes[scene.chosen].group.focus();
        return true;
      },
    });
    nodes[index] = node;
    return node;
  }
  let from = null;
  draggable(plane, ground, {
    grabbed() { from = null; },
    moved(point, by) {
      if (scene.values.d === 2) return;
      const per = TURNS / plane.reach;
      if (by) { hands.turn(scene.values.yaw + Math.sign(by[0]) * 5, scene.values.pitch - Math.sign(by[1]) * 5); return; }
      from ??= { point, yaw: scene.values.yaw, pitch: scene.values.pitch };
      hands.turn(from.yaw + (point[0] - from.point[0]) * per, from.pitch - (point[1] - from.point[1]) * per);
    },
    ended: hands.settle,
  });

  // Drawing

  function drawSphere(values) {
    const round = values.d > 2 && values.kind === "sphere";
    const [x, y] = plane.at([0, 0]);
    put(edge, { cx: x, cy: y, r: plane.size(1).toFixed(1), visibility: round ? "visible" : "hidden" });
    const points = Array.from({ length: 73 }, (_, k) => plus(times(scene.frame[0], Math.cos((k * Math.PI) / 36)), times(scene.frame.at(-1), Math.sin((k * Math.PI) / 36))));
    for (const [path, front] of [[equator[0], false], [equator[1], true]]) {
      let pen = "M";
      let d = "";
      if (round) for (const point of points) {
        if ((dot(point, axes[2]) >= 0) !== front) { pen = "M"; continue; }
        d += pen + plane.at(seen(point)).map((c) => c.toFixed(1)).join(" ");
        pen = "L";
      }
      put(path, { d });
    }
    put(ground, { tabindex: values.d > 2 ? 0 : null, class: values.d > 2 ? "ground turns" : "ground",
      "aria-label": values.d > 2 ? `View direction: ${shown(values.yaw, 0)} and ${shown(values.pitch, 0)} degrees. Arrow keys rotate it.` : null, role: values.d > 2 ? "button" : "presentation" });
  }

  function drawKey(i, point, targetKeys, small) {
    const { values, weights, chosen, fresh } = scene;
    const node = nodes[i];
    const [x, y] = plane.at(point);
    const behind = values.d > 2 && dot(scene.keys[i], axes[2]) < -1e-9;
    put(node.group, {
      class: `key${targetKeys ? " target" : ""}${i === chosen ? " chosen" : ""}${behind ? " behind" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`,
      tabindex: i === chosen ? 0 : -1, "aria-pressed": String(targetKeys),
    });
    if (fresh) put(node.group, { "aria-label": `Key ${i}, weight ${shown(weights[i])}${targetKeys ? ", target" : ""}. Arrow keys move it, Enter makes it the target, Shift+Enter adds or removes it, Page Down selects the next key.` });
    put(node.halo, { r: (4 + 34 * Math.sqrt(weights[i])).toFixed(1) });
    const isInBall = values.noise === "ball";
    put(node.ball, { r: isInBall ? plane.size(values.amount).toFixed(1) : 0, visibility: isInBall ? "inherit" : "hidden" });
    put(node.dot, { r: targetKeys ? (small ? 6 : 7.5) : small ? 3.5 : 5.5 });
    const label = !small || targetKeys || weights[i] > 0.05 || i === chosen ? String(i) : "";
    tell(node.label, label);
    if (!label) return;
    const size = Math.hypot(...point) || 1;
    put(node.label, { x: ((point[0] / size) * 20).toFixed(1), y: ((-point[1] / size) * 20 + 4).toFixed(1) });
  }

  function drawRays(values) {
    const queries = scene.own() ? [scene.own()] : scene.found();
    const [x1, y1] = plane.at([0, 0]);
    const lines = several(rays, queries.length, () => s("line", { class: "ray" }));
    queries.forEach((query, i) => {
      const [ux, uy] = seen(query);
      const size = Math.hypot(ux, uy);
      const far = 9 * plane.reach / (size || 1);
      const [x2, y2] = plane.at([ux * far, uy * far]).map((c) => c.toFixed(1));
      put(lines[i], { x1, y1, x2, y2, visibility: size > 1e-9 * (values.d + 1) ? "visible" : "hidden" });
    });
  }

  /** Why no query meets the targets: a target as a convex combination of other keys. */
  function drawMixing(points, none) {
    put(hullPath, { d: none && scene.values.d === 2 ? plane.path(hull(points).map((i) => points[i])) : "" });
    pulls.replaceChildren();
    if (!none || !scene.answer.mixing) return;
    const { targets, of } = scene.answer.mixing;
    const middle = Object.entries(targets).reduce((sum, [key, share]) => plus(sum, times(points[key], share)), [0, 0]);
    const [x, y] = plane.at(middle);
    for (const [key, share] of Object.entries(of)) {
      if (share < 0.002) continue;
      const [kx, ky] = plane.at(points[key]);
      pulls.append(s("line", { class: "pull", x1: x, y1: y, x2: kx, y2: ky, "stroke-width": (1 + 9 * share).toFixed(1) }));
      if (points.length <= 40) pulls.append(s("text", { class: "label", x: (x * 0.4 + kx * 0.6).toFixed(1), y: (y * 0.4 + ky * 0.6).toFixed(1), "text-anchor": "middle" }, shown(share, 2)));
    }
    if (Object.keys(targets).length > 1) pulls.append(s("circle", { class: "middle", cx: x, cy: y, r: 5 }));
  }

  function draw() {
    const { values, keys, weights, fresh } = scene;
    axes = scene.axes();
    const points = keys.map(seen);
    let wide = 1.3;
    for (const [x, y] of points) wide = Math.max(wide, Math.abs(x) * 1.12, Math.abs(y) * 1.12);
    if (wide > plane.reach || wide < plane.reach * 0.7) plane.fit(Math.ceil(wide * 20) / 20);
    drawSphere(values);
    const targetKeys = new Set(scene.least.map(([target]) => target));
    if (keyLayer.childElementCount !== keys.length) keyLayer.replaceChildren(...keys.map((_, i) => nodeFor(i).group)); // else hands and focus stay
    for (let i = 0; i < keys.length; i++) drawKey(i, points[i], targetKeys.has(i), keys.length > 30);
    drawRays(values);
    const none = fresh && scene.answer?.verdict === "impossible";
    drawMixing(points, none);
    const query = scene.shown();
    const out = query && plane.at(seen(mix(weights, keys))).map((c) => Number(c.toFixed(1)));
    put(outputMark, { d: out ? `M${out[0]} ${out[1] - 7}l7 7l-7 7l-7 -7z` : "", visibility: out ? "visible" : "hidden" });
    plane.say(`${values.n} keys in ${values.d} dimensions. ${query ? `Most weight: ${listed(scene.top(3).map(([w, i]) => `key ${i} with ${shown(w)}`))}.` : ""}${none ? " No query meets the targets." : ""}`);
    const turned = values.yaw || values.pitch;
    tell(plane.caption.lastElementChild, values.d === 2 ? NEAR
      : `${values.d} dimensions, projected ${turned ? "along the chosen direction; pale keys are behind" : "so that the query points to the right: keys further right have higher scores"}. Drag the background to rotate.`);
    labels.show({ "of-target": targetKeys.size, "of-output": out, "of-shortest": scene.own() || scene.found().length, "of-ball": values.noise === "ball", "of-hull": hullPath.getAttribute("d"), "of-pull": pulls.childElementCount });
  }

  return { figure: plane.figure, svg: plane.svg, draw };
}
