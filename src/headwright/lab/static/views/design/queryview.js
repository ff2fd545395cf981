// The picture of queries: the region that meets the targets, the shortest query, and yours.
import { h, put, s, shown, tell, up } from "../../common/dom.js";
import { Plane, draggable } from "../../common/plane.js";
import { length, misses, nearest, outline, plus, times } from "../../common/attention.js";
import { scaleOf } from "./question.js";

const FINE = { slices: 72, halvings: 18 };
const QUICK = { slices: 28, halvings: 11 }; // while something is dragged: to half a pixel

export function queryView(scene, legend) {
  const { state } = scene;
  const plane = new Plane("Queries", h("span", {}, ""));
  const labels = legend(["of-meet", "queries that meet the targets"], ["of-shortest", "shortest query"], ["of-least", "its length"], ["of-yours", "your query: drag it"]);
  plane.figure.append(labels.place);
  const grip = s("g", { class: "handle", role: "button", tabindex: 0, "aria-label": "Your query" }, s("circle", { class: "ring", r: 14 }), s("circle", { class: "grip", r: 8 }));
  draggable(plane, grip, {
    moved(point, by) {
      const to = by ? plus(scene.seen(scene.shown() ?? new Array(scene.values.d).fill(0)), by) : point;
      state.set({ query: scene.unseen(to).map((x) => Number(x.toFixed(4))) }, { settle: false });
    },
    ended: () => state.settle(),
  });
  const regionPath = s("path", { class: "region" });
  const circle = s("circle", { class: "least" });
  const arrows = s("g", {});
  const note = s("text", { class: "ghost", x: 220, y: 40, "text-anchor": "middle" });
  const missing = s("line", { class: "missing" });
  const mineLine = s("line", { class: "yours" });
  plane.under.append(regionPath, circle, missing);
  plane.over.append(arrows, mineLine, grip, note);

  /** The function that is at most 0 for queries of the slice that meet the targets, where it can be drawn. */
  function fault(values) {
    const factor = scaleOf(values);
    if (values.heads > 1 || values.noise === "gauss" || !scene.least.length || !Number.isFinite(factor)) return null;
    const stretch = values.noise === "stretch" ? values.amount : 0;
    return misses(scene.keys.map((key) => times(scene.seen(key), factor)), scene.least, {
      scale: factor, ball: values.noise === "ball" ? values.amount : 0, low: 1 - stretch, high: 1 + stretch,
    });
  }

  function draw() {
    const { values, answer, fresh } = scene;
    const query = scene.current();
    const mine = scene.own();
    const reach = Math.max(2, ...(answer?.queries ?? []).map((q) => length(q) * 1.75), mine ? length(mine) * 1.1 : 0);
    if (fresh || reach > plane.reach) plane.fit(Number((Math.ceil(reach * 4) / 4).toPrecision(3)));
    const f = fault(values);
    const along = query ? scene.seen(query) : [1, 0];
    const axis = length(along) > 1e-9 ? times(along, 1 / length(along)) : [1, 0];
    const region = f ? outline(f, axis, plane.reach, fresh ? FINE : QUICK) : null;
    scene.region = region;
    put(regionPath, { d: region ? plane.path(region) : "" });
    const [cx, cy] = plane.at([0, 0]);
    const close = region && !fresh ? nearest(region, [0, 0]) : null; // while a key is dragged: an estimate
    const radius = close ? Math.hypot(...close) : answer?.norm ?? 0;
    put(circle, { cx, cy, r: plane.size(radius).toFixed(1), visibility: radius > 0 && (fresh || close) ? "visible" : "hidden" });
    arrows.replaceChildren();
    (fresh ? answer?.queries ?? [] : close ? [scene.unseen(close)] : []).forEach((one, head) => {
      const [x, y] = plane.at(scene.seen(one));
      const angle = (Math.atan2(y - cy, x - cx) * 180) / Math.PI;
      arrows.append(s("line", { class: "shortest", x1: cx, y1: cy, x2: x, y2: y }), s("path", { class: "tip", d: "M2 0L-11 -6L-11 6Z", transform: `translate(${x} ${y}) rotate(${angle})` }));
      if (values.heads > 1) arrows.append(s("text", { class: "label", x: x + 8, y: y - 6 }, `head ${head}`));
    });
    const hand = mine ?? query;
    const [hx, hy] = plane.at(hand ? scene.seen(hand) : [plane.reach * 0.35, plane.reach * 0.2]);
    put(grip, { class: `handle${mine ? "" : " resting"}`, transform: `translate(${hx.toFixed(1)} ${hy.toFixed(1)})`, visibility: hand || scene.least.length ? "visible" : "hidden", "aria-label": `Your query${mine ? ` at ${scene.seen(mine).map((x) => shown(x)).join(", ")}` : ""}. Arrow keys move it.` });
    put(mineLine, { x1: cx, y1: cy, x2: hx, y2: hy, visibility: mine ? "visible" : "hidden" });
    const target = mine && region && f(...scene.seen(mine)) > 0 ? nearest(region, scene.seen(mine)) : null;
    if (target) { const [tx, ty] = plane.at(target); put(missing, { x1: hx, y1: hy, x2: tx, y2: ty }); }
    put(missing, { visibility: target ? "visible" : "hidden" });
    const none = fresh && answer?.verdict === "impossible";
    labels.show({ "of-meet": region, "of-shortest": arrows.childElementCount, "of-least": circle.getAttribute("visibility") === "visible", "of-yours": grip.getAttribute("visibility") === "visible" });
    tell(note, none ? "No query meets the targets: proved." : !scene.least.length ? "No target: click a key." : "");
    tell(plane.caption.lastElementChild, none ? "The region is empty: no query meets the targets."
      : values.heads > 1 ? "One query for each head; the mean of their patterns meets the targets."
        : values.noise === "gauss" ? "The keys are random, and the region is not drawn. The query meets the targets with a proven probability."
          : region ? `All queries that meet the targets${region.some((point) => Math.max(...point.map(Math.abs)) > plane.reach) ? "; the region continues outside the frame" : ""}.${values.d > 2 ? " A plane through the shortest query is drawn." : ""}`
            : "No region to draw.");
    plane.say(none ? "No query meets the targets." : query && fresh ? `The shortest query has length ${up(answer.norm)}.` : "");
  }

  return { figure: plane.figure, svg: plane.svg, plane, draw };
}
