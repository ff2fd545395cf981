// The figures of the story. Each is drawn at once in the state that makes its point, and has one control; the first
// one moves there when the page opens.
import { length, misses, normal, outline, softmax, times } from "./common/attention.js";
import { axes, curve, heat } from "./common/chart.js";
import { h, put, s, shown, speak } from "./common/dom.js";
import { Plane } from "./common/plane.js";
import { shortestQuery } from "./shortest.js";
import { State } from "./common/state.js";
import { plainTools } from "./common/view.js";
import { fields } from "./views/design/values.js";

const KEYS = 8; // of the first figure
const WANTED = 1 / 2.1; // of each of two targets, with a tolerance of 1/10
const MOST_KEYS = 200;
const DRAWS = 4000;
const BINS = 20;
const RING = 6; // keys around the one that is pulled
const LONGEST_DRAWN = 60; // a longer query does not fit the frame
const OPENING = 2400; // milliseconds that the first figure moves for when the page opens

/** A slider with its value; `changed(value)` is called at once, and after each change. */
function slider(label, { least, most, step, value, says = (x) => shown(x, 2) }, changed) {
  const output = h("output", {});
  const input = h("input", { type: "range", min: least, max: most, step, value, "aria-label": label });
  const tell = () => { output.textContent = says(Number(input.value)); put(input, { "aria-valuetext": output.textContent }); changed(Number(input.value)); };
  input.addEventListener("input", tell);
  input.addEventListener("change", () => speak(output.textContent));
  return { control: h("div", { class: "control" }, h("label", {}, label), input, output), input, tell };
}

/** Move a slider once from its least value to where it stands. Whoever touches it stops that. */
function sweep({ input, tell }, says) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) return;
  const [least, last] = [Number(input.min), Number(input.value)];
  let began = null;
  let isMoving = true;
  const stop = () => { isMoving = false; says.removeAttribute("aria-busy"); };
  for (const touch of ["pointerdown", "keydown", "input"]) input.addEventListener(touch, stop, { once: true });
  const step = (now) => {
    if (!isMoving) return;
    began ??= now;
    const part = Math.min(1, (now - began) / OPENING);
    input.value = least + (last - least) * (1 - (1 - part) ** 3); // quick at first, then slower
    tell();
    if (part === 1) stop();
    else requestAnimationFrame(step);
  };
  put(says, { "aria-busy": "true" }); // a screen reader speaks the last sentence alone
  requestAnimationFrame(step);
}

/** A figure with a caption, a control and a sentence that follows it. */
function figure(name, title, svg, control, says) {
  document.querySelector(`[data-figure=${name}]`).append(h("figure", {}, h("figcaption", {}, h("b", {}, title)), control.control, svg, says));
  control.tell();
}

const sentence = () => h("p", { class: "says note", role: "status" });
const picture = () => s("svg", { role: "img" });

/** Weights as bars; targets are orange, and `wanted` is a line. */
function bars(svg, weights, { targets = [0], wanted = null, names, words }) {
  const { x, y } = axes(svg, { height: 190, from: 0, to: weights.length, top: 1, ticks: 1, label: () => "", up: "weight" });
  const wide = x(1) - x(0);
  weights.forEach((weight, i) => {
    svg.append(s("rect", { class: targets.includes(i) ? "bar-target" : "bar-key", x: x(i) + wide * 0.12, y: y(weight), width: wide * 0.76, height: Math.max(0.6, y(0) - y(weight)) }),
      s("text", { class: "tick", x: x(i + 0.5), y: y(0) + 15, "text-anchor": "middle" }, names[i]));
  });
  if (wanted !== null) svg.append(s("line", { class: "wanted-line", x1: x(0), x2: x(weights.length), y1: y(wanted), y2: y(wanted) }));
  put(svg, { "aria-label": words });
}

function drawCopy() {
  const [svg, says] = [picture(), sentence()];
  const names = Array.from({ length: KEYS }, (_, i) => `key ${i + 1}`);
  const control = slider("λ, the length of the query", { least: 0, most: 10, step: 0.1, value: 4 }, (size) => {
    const weights = softmax(names.map((_, i) => (i === 0 ? size : 0)));
    bars(svg, weights, { names, words: `Weight of key 1: ${shown(weights[0])}` });
    says.textContent = `Key 1 gets ${shown(weights[0])} of the weight, each of the ${KEYS - 1} others ${shown(weights[1], 4)}.`;
  });
  figure("copy", "Weights of eight orthonormal keys", svg, control, says);
  sweep(control, says);
}

/** The weight of each of two targets among n orthonormal keys, where both have this score. */
const weightOfTwo = (score, n) => Math.exp(score) / (2 * Math.exp(score) + n - 2);

function drawFixed() {
  const [svg, says] = [picture(), sentence()];
  const control = slider("length of the query along each key", { least: 0.1, most: 6, step: 0.05, value: Number(Math.SQRT1_2.toFixed(2)) }, (size) => {
    const points = Array.from({ length: MOST_KEYS - 1 }, (_, i) => [i + 2, weightOfTwo(size, i + 2)]);
    const last = points.findLast(([, weight]) => weight >= WANTED)[0];
    const { x, y } = curve(svg, points, { across: "number of keys n", up: "weight of key a", ticks: 6, label: (n) => String(Math.round(n)), words: `The weight falls below what is wanted after n = ${last}` });
    svg.append(s("line", { class: "wanted-line", x1: x(2), x2: x(MOST_KEYS), y1: y(WANTED), y2: y(WANTED) }));
    says.textContent = last === MOST_KEYS ? `Enough up to ${MOST_KEYS} keys; further on it fails, too.` : `Wanted: at least 1/(2 + 1/10) = ${shown(WANTED)}, the dashed line. It is reached up to n = ${last}, and missed from n = ${last + 1} on.`;
  });
  figure("fixed", "The weight of key a as keys are added", svg, control, says);
}

function drawGrow() {
  const [svg, says] = [picture(), sentence()];
  const control = slider("ε, the tolerance", { least: -4, most: -0.1, step: 0.1, value: -1, says: (power) => shown(10 ** power, 4) }, (power) => {
    const eps = 10 ** power;
    const wanted = 1 / (2 + eps);
    const points = Array.from({ length: MOST_KEYS - 1 }, (_, i) => [i + 2, weightOfTwo(Math.log((i + 2) / eps), i + 2)]);
    const { x, y } = curve(svg, points, { across: "number of keys n", up: "weight of key a", ticks: 6, label: (n) => String(Math.round(n)), words: `The weight stays above ${shown(wanted)} for every n` });
    svg.append(s("line", { class: "wanted-line", x1: x(2), x2: x(MOST_KEYS), y1: y(wanted), y2: y(wanted) }));
    says.textContent = `With λ = ln(n/ε) the weight stays above 1/(2 + ε) = ${shown(wanted, 4)}. For n = ${MOST_KEYS} that is λ = ${shown(Math.log(MOST_KEYS / eps), 2)}, for a million keys ${shown(Math.log(1e6 / eps), 2)}.`;
  });
  figure("grow", "The same with a length that grows with n", svg, control, says);
}

/** Keys on a ring, and one that lies so far from the middle, in a direction between two of them. */
function ringKeys(distance) {
  const ring = Array.from({ length: RING }, (_, i) => { const angle = (2 * Math.PI * i) / RING; return [Number(Math.cos(angle).toFixed(3)), Number(Math.sin(angle).toFixed(3))]; });
  const angle = Math.PI / RING;
  return [...ring, [Number((distance * Math.cos(angle)).toFixed(3)), Number((distance * Math.sin(angle)).toFixed(3))]];
}

function drawHull() {
  const plane = new Plane("", h("span", {}));
  const says = sentence();
  const [region, ray, dots] = [s("path", { class: "region" }), s("line", { class: "shortest" }), s("g", {})];
  plane.under.append(region, ray);
  plane.over.append(dots);
  plane.fit(1.6);
  const control = slider("distance of the orange key from the middle", { least: 0.5, most: 1.5, step: 0.01, value: 1.2 }, (distance) => {
    const keys = ringKeys(distance);
    const targets = [[RING, 1 / 1.1]];
    const found = shortestQuery(keys, targets);
    dots.replaceChildren(...keys.map((key, i) => { const [cx, cy] = plane.at(key); return s("circle", { cx, cy, r: i === RING ? 8 : 6, style: `fill: var(--${i === RING ? "target" : "key"})` }); }));
    // Queries are drawn in the same frame, so long ones are scaled to fit.
    const scale = plane.reach / LONGEST_DRAWN;
    const f = misses(keys, targets);
    const outlined = outline((x, y) => f(x / scale, y / scale), [Math.cos(Math.PI / RING), Math.sin(Math.PI / RING)], plane.reach);
    put(region, { d: outlined ? plane.path(outlined) : "" });
    const query = found?.query ?? null;
    const [x1, y1] = plane.at([0, 0]);
    const [x2, y2] = plane.at(query ? times(query, scale) : [0, 0]);
    put(ray, { x1, y1, x2, y2, visibility: query && length(query) < LONGEST_DRAWN ? "visible" : "hidden" });
    says.textContent = query ? `The shortest query has length ${shown(length(query), 1)}. Green: all queries that do (drawn at 1/${shown(1 / scale, 0)} of their size).` : "No query does: the orange key lies inside the hull of the others.";
    put(plane.svg, { "aria-label": says.textContent });
  });
  plane.caption.remove();
  figure("hull", "Six keys on a ring, and one that is pulled inwards", plane.svg, control, says);
}

/** How often a weight falls into each of the bins between 0 and 1. */
function histogram(svg, weights, words) {
  const counts = new Array(BINS).fill(0);
  for (const weight of weights) counts[Math.min(BINS - 1, Math.floor(weight * BINS))] += 1 / weights.length;
  const { x, y } = axes(svg, { height: 190, from: 0, to: 1, top: 1, ticks: 4, across: "weight of key a", up: "part of the draws" });
  counts.forEach((count, i) => svg.append(s("rect", { class: "bar-key", x: x(i / BINS) + 1, y: y(count), width: x(1 / BINS) - x(0) - 2, height: y(0) - y(count) })));
  put(svg, { "aria-label": words });
}

const near = (weights) => weights.filter((weight) => Math.abs(weight - 0.5) < 0.05).length / weights.length;

/** Draws of the weight of key a among ten keys; `weightOf(g, size)` for a random length g. */
function drawNoisy(name, title, size, weightOf) {
  const [svg, says] = [picture(), sentence()];
  const draw = normal(7);
  const lengths = Array.from({ length: DRAWS }, () => 1 + 0.3 * draw());
  const control = slider("λ, the length of the query", { least: 0, most: 40, step: 0.5, value: size }, (at) => {
    const weights = lengths.map((g) => weightOf(g, at));
    const mean = weights.reduce((sum, weight) => sum + weight, 0) / weights.length;
    histogram(svg, weights, `Within 0.05 of one half: ${shown(100 * near(weights), 0)} percent of the draws`);
    says.textContent = `Of ${DRAWS} draws with s = 0.3, ${shown(100 * near(weights), 1)}% are within 0.05 of one half. Their mean is ${shown(mean)}.`;
  });
  figure(name, title, svg, control, says);
}

const others = (count) => new Array(count).fill(0);
const oneHead = (g, size) => softmax([g * size, size, ...others(8)])[0];
const twoHeads = (g, size) => (softmax([g * size, 0, ...others(8)])[0] + softmax([0, size, ...others(8)])[0]) / 2;

function drawOrder() {
  const [svg, says] = [picture(), sentence()];
  const waves = [["wave", 1], ["wave slow", 0.3], ["wave slower", 0.09]];
  const control = slider("position t", { least: 0, most: 40, step: 1, value: 7 }, (t) => {
    const { x, y } = axes(svg, { height: 190, from: 0, to: 40, top: 1, bottom: -1, ticks: 8, across: "position", label: (value) => String(Math.round(value)) });
    for (const [name, frequency] of waves) svg.append(s("path", { class: name, d: Array.from({ length: 401 }, (_, i) => `${i ? "L" : "M"}${x(i / 10).toFixed(1)} ${y(Math.sin((frequency * i) / 10)).toFixed(1)}`).join("") }));
    svg.append(s("line", { class: "position", x1: x(t), x2: x(t), y1: y(-1), y2: y(1) }));
    says.textContent = `Position ${t} is (${waves.map(([, frequency]) => shown(Math.sin(frequency * t), 2)).join(", ")}), and its cosines.`;
    put(svg, { "aria-label": says.textContent });
  });
  figure("order", "Three waves of a position embedding", svg, control, says);
}

async function drawTrained() {
  const { tokens, pattern } = await (await fetch("story.json")).json();
  const [svg, says] = [picture(), sentence()];
  const control = slider("row", { least: 1, most: tokens.length - 1, step: 1, value: tokens.length - 1, says: (row) => `“${tokens[row]}”` }, (row) => {
    heat(svg, pattern, { most: 1, title: "Weights", side: 15, left: 40, wide: 440, names: tokens, marked: [row] });
    const best = pattern[row].reduce((most, weight, i) => (weight > pattern[row][most] ? i : most), 0);
    says.textContent = `“${tokens[row]}” at position ${row} gives ${shown(pattern[row][best])} of its weight to “${tokens[best]}” at position ${best}.`;
  });
  figure("trained", "The weights of head 0 in layer 0 on one text: rows attend to columns", svg, control, says);
}

/** The links to proofs: an answer in the Check view, or keys in the Design view. */
function link() {
  for (const place of document.querySelectorAll("[data-exercise]")) place.href = `index.html#exercise=${place.dataset.exercise}&answer=${encodeURIComponent(place.dataset.text)}`;
  for (const place of document.querySelectorAll("[data-design]")) {
    const keys = ringKeys(place.dataset.design === "inside" ? 0.7 : 1.2);
    const state = new State(fields);
    state.set({ n: keys.length, moved: Object.fromEntries(keys.map((key, i) => [i, key])), targets: [RING], chosen: RING });
    place.href = `design.html#${state.written()}`;
  }
}

drawCopy();
drawFixed();
drawGrow();
drawHull();
drawNoisy("noise", "One query for both keys", 20, oneHead);
drawNoisy("heads", "A head for each key", 20, twoHeads);
drawOrder();
link();
plainTools();
await drawTrained();
document.documentElement.dataset.ready = "yes";
