// A square part of the plane as a picture: a grid, layers to draw on, and elements that can be dragged.
import { h, put, s } from "./dom.js";

const SIZE = 440;
const LEFT = 26;
const steps = (reach) => { const raw = reach / 2.5; const power = 10 ** Math.floor(Math.log10(raw)); return [1, 2, 5, 10].map((m) => m * power).find((step) => step >= raw); };
let made = 0;

export class Plane {
  /** A figure with a title; `say(text)` gives its description in words. */
  constructor(title, explain) {
    const clip = `clip-${made += 1}`;
    this.svg = s("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, role: "group", "aria-label": title });
    this.described = h("p", { class: "unseen", id: `${clip}-words` });
    put(this.svg, { "aria-describedby": `${clip}-words` });
    this.svg.append(s("clipPath", { id: clip }, s("rect", { x: 0, y: 0, width: SIZE, height: SIZE, rx: 6 })));
    this.back = s("g", {});
    this.under = s("g", { "clip-path": `url(#${clip})` });
    this.over = s("g", { "clip-path": `url(#${clip})` });
    this.svg.append(this.back, this.under, this.over);
    this.caption = h("figcaption", {}, h("b", {}, title), explain);
    this.figure = h("figure", {}, this.caption, this.svg, this.described);
    this.reach = 0;
    this.fit(1.3);
  }

  /** Show the square from -reach to reach. */
  fit(reach) {
    if (Math.abs(reach - this.reach) < 1e-9 * reach) return;
    this.reach = reach;
    const step = steps(reach);
    this.back.replaceChildren();
    for (let value = -Math.floor(reach / step) * step; value <= reach; value += step) {
      const [x, y] = this.at([value, value]);
      const zero = Math.abs(value) < step / 2;
      this.back.append(s("line", { class: zero ? "axis" : "grid", x1: x, x2: x, y1: 0, y2: SIZE }), s("line", { class: zero ? "axis" : "grid", x1: 0, x2: SIZE, y1: y, y2: y }));
      if (zero) continue;
      const text = String(Number(value.toPrecision(6))).replace("-", "−");
      if (x > LEFT && x < SIZE - LEFT) this.back.append(s("text", { class: "tick", x, y: SIZE - 5, "text-anchor": "middle" }, text));
      if (y > 12 && y < SIZE - 18) this.back.append(s("text", { class: "tick", x: 4, y: y + 4 }, text));
    }
  }

  say(text) { this.described.textContent = text; }

  /** Where a point of the plane is in the picture. */
  at([x, y]) { const half = SIZE / 2; return [half + (x / this.reach) * half, half - (y / this.reach) * half]; }

  /** The point of the plane under a pointer, in a picture that is at `box` of the page. */
  under_pointer(event, box) {
    const half = SIZE / 2;
    const side = Math.min(box.width, box.height); // a square in the middle of its box, whatever that is like
    const x = ((event.clientX - box.left - (box.width - side) / 2) / side) * SIZE;
    const y = ((event.clientY - box.top - (box.height - side) / 2) / side) * SIZE;
    return [((x - half) / half) * this.reach, ((half - y) / half) * this.reach];
  }

  /** A path through points. */
  path(points) { return points.map((point, i) => `${i ? "L" : "M"}${this.at(point).map((x) => x.toFixed(1)).join(" ")}`).join("") + "Z"; }

  /** A length of the plane in the picture. */
  size(distance) { return (distance / this.reach) * (SIZE / 2); }
}

/**
 * Let an element be dragged, clicked, and moved by arrow keys.
 *   moved(point, by)   a new place, or a step by [dx, dy] from the keyboard; ended() at the end of a drag;
 *   clicked(add)       a click, Enter or Space without a move; `add` with Shift, Ctrl or Meta
 */
export function draggable(plane, element, { moved, ended = () => {}, clicked = () => {}, grabbed = () => {}, also = () => false }) {
  let from = null;
  let far = false;
  let box = null; // measured once a drag: to ask for it while things move would have the page laid out again each time
  element.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    event.preventDefault();
    element.setPointerCapture(event.pointerId);
    element.focus({ preventScroll: true });
    from = [event.clientX, event.clientY];
    far = false;
    box = null;
    grabbed();
  });
  element.addEventListener("pointermove", (event) => {
    if (!from) return;
    if (!far && Math.hypot(event.clientX - from[0], event.clientY - from[1]) < 4) return;
    far = true;
    box ??= plane.svg.getBoundingClientRect();
    moved(plane.under_pointer(event, box), null);
  });
  const adds = (event) => event.shiftKey || event.ctrlKey || event.metaKey;
  const end = (event) => { if (!from) return; from = null; if (far) ended(); else clicked(adds(event)); };
  element.addEventListener("pointerup", end);
  element.addEventListener("pointercancel", () => { from = null; ended(); });
  element.addEventListener("keydown", (event) => {
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
    if (way) {
      const step = plane.reach * (event.shiftKey ? 0.1 : 0.02);
      moved(null, [way[0] * step, way[1] * step]);
      ended();
    } else if (event.key === "Enter" || event.key === " ") clicked(adds(event));
    else if (!also(event)) return;
    event.preventDefault();
  });
}
