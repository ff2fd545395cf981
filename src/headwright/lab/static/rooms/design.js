// Design: drag the keys, wish by clicking them; every query that grants the wish, the shortest one, and the proof.
import { down, h, listed, put, s, shown, speak, up } from "../common/dom.js";
import { choice, list, number, rows, text } from "../common/state.js";
import { button, choose, forgive, group, line, refusals, refuse, slider } from "../common/controls.js";
import { Asker } from "../common/ask.js";
import { Plane, draggable } from "../common/plane.js";
import { dot, hull, length, minus, misses, mix, nearest, outline, plus, scores, softmax, times } from "../common/attention.js";
import { download } from "../common/take.js";
import { open } from "../common/room.js";
import { KINDS, keysOf } from "./keys.js";

const fields = {
  kind: choice("circle", KINDS.map(([name]) => name)),
  n: number(9, { least: 2, most: 200, whole: true }),
  d: number(2, { least: 2, most: 16, whole: true }),
  seed: number(1, { least: 0, most: 1e6, whole: true }),
  moved: rows({}),
  targets: list([1], { longest: 64, whole: true }),
  mode: choice("evenly", ["evenly", "least"]),
  least: rows({}),
  eps: number(0.1, { least: 1e-6, most: 100 }),
  scale: text("1", { longest: 40 }),
  heads: number(1, { least: 1, most: 4, whole: true }),
  noise: choice("none", ["none", "ball", "stretch", "gauss"]),
  amount: number(0.1, { least: 0.001, most: 0.9 }),
  query: list([], { longest: 16 }),
};

const presets = [
  ["Copy one key", {}],
  ["Average two neighbours", { targets: [1, 2] }],
  ["Average two that lie apart: impossible", { targets: [1, 4] }],
  ["Inside the others: impossible", { n: 7, moved: { 6: [0.12, 0.08] }, targets: [6] }],
  ["A crowd", { kind: "circle", n: 60, targets: [8] }],
  ["Sixteen dimensions", { kind: "sphere", n: 40, d: 16, seed: 5, targets: [0, 7] }],
  ["Keys that may move", { noise: "ball", amount: 0.12 }],
  ["Two heads for two keys", { targets: [1, 5], heads: 2 }],
];

const NOISES = [["none", "none"], ["ball", "ball"], ["stretch", "stretch"], ["gauss", "Gaussian"]];
function build(main, state) {
  let keys = [];
  let answer = null; // of the server, for the question below
  let answered = "";
  let asked = "";
  let seconds = 0;
  let basis = null; // the plane that is shown, where there are more than two dimensions
  let region = null;
  let chosen = 0;

  const keyPlane = new Plane("Keys", h("span", {}, "Drag a key; click it to wish for it. Discs show how much of the pattern a key gets."));
  const queryPlane = new Plane("Queries", h("span", {}, ""));
  const legend = (...items) => h("div", { class: "legend" }, ...items.map(([kind, said]) => h("span", {}, h("i", { class: kind }), said)));
  keyPlane.figure.append(legend(["of-target", "wished for"], ["", "other keys"], ["of-output", "output (values are the keys)"], ["of-shortest", "direction of the query"]));
  queryPlane.figure.append(legend(["of-grant", "queries that grant the wish"], ["of-shortest", "the shortest"], ["of-yours", "yours: drag it"]));
  const verdict = h("section", { class: "panel verdict", "aria-label": "Verdict", id: "verdict" });
  const mine = h("section", { class: "panel", "aria-label": "Your query", id: "mine" });
  const bars = s("svg", { viewBox: "0 0 440 170", role: "img", "aria-label": "Pattern" });
  const barWords = h("figcaption", {}, h("b", {}, "Pattern"), h("span", {}, ""));
  const pattern = h("figure", { id: "pattern" }, barWords, bars);
  const place = h("div", { class: "pair", id: "place" });
  const wishes = h("div", { id: "wishes" });
  const amountLabel = { ball: "radius", stretch: "stretched by up to", gauss: "variance" };
  const amount = slider(state, "amount", "amount", { least: 0.001, most: 0.9, log: true });
  const controls = h("div", { class: "controls" },
    group("Wish", wishes, choose(state, "mode", "weights", [["evenly", "evenly"], ["least", "at least"]]),
      slider(state, "eps", "eps: what is left to the others", { least: 1e-6, most: 100, log: true })),
    group("Keys", choose(state, "kind", "they lie on a", KINDS),
      slider(state, "n", "how many (n)", { least: 2, most: 200, step: 1 }), slider(state, "d", "dimensions (d)", { least: 2, most: 16, step: 1 }),
      slider(state, "seed", "seed", { least: 0, most: 999, step: 1 }), h("div", { class: "control" }, h("span", { class: "label" }, "the chosen key"), place)),
    group("Head", line(state, "scale", "scale of the scores", { note: "exact, such as 1 or 1/8" }), slider(state, "heads", "heads", { least: 1, most: 4, step: 1 }),
      choose(state, "noise", "keys may be off by a", NOISES), amount));
  main.append(h("div", { class: "room" }, controls,
    h("div", { class: "stage" }, h("div", { class: "planes" }, keyPlane.figure, queryPlane.figure), refusals(),
      h("div", { class: "below" }, h("div", { class: "stage" }, verdict, mine), pattern))));

  // What is asked

  const wish = (values) => {
    const targets = values.targets.filter((target) => target < values.n);
    if (values.mode === "evenly") return targets.map((target) => [target, 1 / (targets.length + values.eps)]);
    return targets.map((target) => [target, values.least[target]?.[0] ?? Number((0.9 / targets.length).toFixed(3))]);
  };
  const scaleOf = (values) => { const [top, bottom = "1"] = values.scale.split("/"); return Number(top) / Number(bottom); };
  const uncertain = ({ noise, amount: by }) => ({ none: null, ball: { ball: by }, stretch: { scale: { between: [Number((1 - by).toFixed(6)), Number((1 + by).toFixed(6))] } }, gauss: { isotropic: by } })[noise];
  function question(values) {
    const targets = values.targets.filter((target) => target < values.n);
    const body = { keys, scale: values.scale || "1", heads: values.heads };
    if (values.mode === "least") body.at_least = Object.fromEntries(wish(values).map(([target, weight]) => [String(target), String(weight)]));
    else { body.eps = String(values.eps); if (targets.length === 1) [body.copy] = targets; else body.average = targets; }
    const world = uncertain(values);
    if (world) body.world = [{ key: "*", ...world }];
    return body;
  }
  const asker = new Asker("design", {
    waiting(yes) { verdict.classList.toggle("stale", yes && answered !== asked); verdict.querySelector(".headline")?.classList.toggle("busy", yes); },
    answered(found, took) { answer = found; answered = asked; seconds = took; forgive(); chooseBasis(); draw(state.values, []); speak(verdict.querySelector(".headline")?.textContent ?? ""); },
    failed(sentence, where) { answer = null; answered = asked; refuse(sentence, where); draw(state.values, []); },
  });

  // The plane that is shown: the keys' own where d = 2, else the one of the query and of what competes with it most

  function chooseBasis() {
    const { d } = state.values;
    if (d === 2) { basis = [[1, 0], [0, 1]]; return; }
    const first = current() ?? keys[state.values.targets[0] ?? 0] ?? keys[0];
    const e1 = times(first, 1 / (length(first) || 1));
    let best = null;
    for (const key of keys) {
      const rest = minus(key, times(e1, dot(key, e1)));
      if (!best || length(rest) > length(best)) best = rest;
    }
    basis = [e1, times(best, 1 / (length(best) || 1))];
  }
  const seen = (vector) => [dot(vector, basis[0]), dot(vector, basis[1])];
  const unseen = ([x, y]) => plus(times(basis[0], x), times(basis[1], y));
  /** The shortest query as it was last verified, if that was about as many dimensions. */
  function current() { return answer?.queries?.length && answer.queries[0].length === state.values.d ? answer.queries[0] : null; }

  // Hands

  const nodes = [];
  function nodeFor(index) {
    if (nodes[index]) return nodes[index];
    const node = { halo: s("circle", { class: "halo" }), ring: s("circle", { class: "ring", r: 13 }), dot: s("circle", { class: "dot" }), label: s("text", { class: "label", "text-anchor": "middle" }) };
    node.group = s("g", { class: "key", role: "button", "aria-label": `Key ${index}` }, node.halo, node.ring, node.dot, node.label);
    draggable(keyPlane, node.group, {
      grabbed() { chosen = index; showChosen(); },
      moved(point, by) {
        const from = keys[index];
        const here = seen(from);
        const to = by ? plus(here, by) : point;
        move(index, plus(from, unseen(minus(to, here))), false);
      },
      ended: () => state.settle(),
      clicked() { toggle(index); },
      also(event) {
        const step = { PageDown: 1, PageUp: -1, "]": 1, "[": -1 }[event.key];
        if (!step) return false;
        chosen = (index + step + state.values.n) % state.values.n;
        showChosen();
        nodes[chosen].group.focus();
        return true;
      },
    });
    nodes[index] = node;
    return node;
  }
  function move(index, place, settle) {
    state.set({ moved: { ...state.values.moved, [index]: place.map((x) => Number(Math.max(-9, Math.min(9, x)).toFixed(3))) } }, { settle });
  }
  function toggle(index) {
    const { targets } = state.values;
    const next = targets.includes(index) ? targets.filter((target) => target !== index) : [...targets, index].sort((a, b) => a - b);
    state.set({ targets: next });
  }
  const grip = s("g", { class: "handle", role: "button", tabindex: 0, "aria-label": "Your query" }, s("circle", { class: "ring", r: 14 }), s("circle", { class: "grip", r: 8 }));
  draggable(queryPlane, grip, {
    moved(point, by) { const to = by ? plus(seen(shownQuery() ?? new Array(state.values.d).fill(0)), by) : point; state.set({ query: unseen(to).map((x) => Number(x.toFixed(4))) }, { settle: false }); },
    ended: () => state.settle(),
  });
  const own = () => (state.values.query.length === state.values.d ? state.values.query : null);
  const shownQuery = () => own() ?? current();

  // Pictures

  function draw(values, names) {
    keys = keysOf(values);
    if (!basis || basis[0].length !== values.d) { answer = null; chooseBasis(); }
    if (chosen >= values.n) chosen = 0;
    const body = question(values);
    asked = JSON.stringify(body);
    if (names.length && asked !== answered) {
      const targets = values.targets.filter((target) => target < values.n);
      if (targets.length) asker.ask(body); else { asker.cancel(); answer = null; answered = asked; }
    } else if (asked === answered) asker.cancel();
    const fresh = answered === asked;
    verdict.classList.toggle("stale", !fresh);
    const least = wish(values);
    drawKeys(values, least, fresh);
    drawQueries(values, least, fresh);
    drawBars(values, least);
    drawWish(values, least);
    drawMine(values, least);
    if (fresh) drawVerdict(values);
    else if (!verdict.childElementCount) verdict.append(h("p", { class: "headline busy" }, "Asking the checker"));
    for (const label of amount.querySelectorAll("label")) label.textContent = amountLabel[values.noise] ?? "amount";
    amount.hidden = values.noise === "none";
  }

  function pull(query) { return softmax(scores(keys, query, scaleOf(state.values) || 1)); }
  function meanPattern() {
    const mineOwn = own();
    if (mineOwn) return pull(mineOwn);
    const queries = answer?.queries?.length && answer.queries[0].length === state.values.d ? answer.queries : null;
    if (!queries) return new Array(keys.length).fill(1 / keys.length);
    const all = queries.map(pull);
    return all[0].map((_, i) => all.reduce((sum, one) => sum + one[i], 0) / all.length);
  }

  const hullPath = s("path", { class: "hull" });
  const pulls = s("g", {});
  const rays = s("g", {});
  const outputMark = s("path", { class: "output", role: "img", "aria-label": "output" });
  const keyLayer = s("g", {});
  keyPlane.under.append(hullPath, rays, pulls);
  keyPlane.over.append(keyLayer, outputMark);

  function drawKeys(values, least, fresh) {
    const points = keys.map(seen);
    const wide = Math.max(1.3, ...points.map((p) => Math.max(Math.abs(p[0]), Math.abs(p[1])) * 1.12));
    if (wide > keyPlane.reach || wide < keyPlane.reach * 0.7) keyPlane.fit(Math.ceil(wide * 20) / 20);
    const weights = meanPattern();
    const wished = new Map(least);
    const small = values.n > 30;
    if (keyLayer.childElementCount !== keys.length) keyLayer.replaceChildren(...keys.map((_, i) => nodeFor(i).group)); // else hands and focus stay
    keys.forEach((key, i) => {
      const node = nodes[i];
      const [x, y] = keyPlane.at(points[i]);
      put(node.group, {
        class: `key${wished.has(i) ? " target" : ""}${i === chosen ? " chosen" : ""}`, transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})`, tabindex: i === chosen ? 0 : -1,
        "aria-pressed": String(wished.has(i)),
      });
      if (fresh) put(node.group, { "aria-label": `Key ${i}, weight ${shown(weights[i])}${wished.has(i) ? ", wished for" : ""}. Arrow keys move it, Enter wishes for it, Page Down goes to the next.` });
      put(node.halo, { r: (4 + 34 * Math.sqrt(weights[i])).toFixed(1) });
      put(node.dot, { r: wished.has(i) ? (small ? 6 : 7.5) : small ? 3.5 : 5.5 });
      const [px, py] = points[i];
      const size = Math.hypot(px, py) || 1;
      put(node.label, { x: ((px / size) * 20).toFixed(1), y: ((-py / size) * 20 + 4).toFixed(1) });
      node.label.textContent = !small || wished.has(i) || weights[i] > 0.05 || i === chosen ? String(i) : "";
    });
    const query = shownQuery();
    rays.replaceChildren();
    const queries = own() ? [own()] : answer?.queries?.length && answer.queries[0].length === values.d ? answer.queries : [];
    for (const one of queries) {
      const [ux, uy] = seen(one);
      const size = Math.hypot(ux, uy);
      if (size > 0) { const [x, y] = keyPlane.at([(ux / size) * 9 * keyPlane.reach, (uy / size) * 9 * keyPlane.reach]); rays.append(s("line", { class: "ray", x1: keyPlane.at([0, 0])[0], y1: keyPlane.at([0, 0])[1], x2: x, y2: y })); }
    }
    const none = answer?.verdict === "impossible" && fresh;
    put(hullPath, { d: none && values.d === 2 ? keyPlane.path(hull(points).map((i) => points[i])) : "" });
    pulls.replaceChildren();
    if (none && answer.mixing) {
      const { targets, of } = answer.mixing;
      const middle = Object.entries(targets).reduce((sum, [key, share]) => plus(sum, times(points[key], share)), [0, 0]);
      const [x, y] = keyPlane.at(middle);
      for (const [key, share] of Object.entries(of)) {
        if (share < 0.002) continue;
        const [kx, ky] = keyPlane.at(points[key]);
        pulls.append(s("line", { class: "pull", x1: x, y1: y, x2: kx, y2: ky, "stroke-width": (1 + 9 * share).toFixed(1) }));
        if (values.n <= 40) pulls.append(s("text", { class: "label", x: (x * 0.4 + kx * 0.6).toFixed(1), y: (y * 0.4 + ky * 0.6).toFixed(1), "text-anchor": "middle" }, shown(share, 2)));
      }
      if (Object.keys(targets).length > 1) pulls.append(s("circle", { class: "middle", cx: x, cy: y, r: 5 }));
    }
    const out = query && keyPlane.at(seen(mix(weights, keys)));
    put(outputMark, { d: out ? `M${out[0]} ${out[1] - 7}l7 7l-7 7l-7 -7z` : "", visibility: out ? "visible" : "hidden" });
    const top = weights.map((w, i) => [w, i]).sort((a, b) => b[0] - a[0]).slice(0, 3);
    keyPlane.say(`${values.n} keys in ${values.d} dimensions. ${query ? `Most weight: ${listed(top.map(([w, i]) => `key ${i} with ${shown(w)}`))}.` : ""}${none ? " No query grants the wish." : ""}`);
    keyPlane.caption.lastElementChild.textContent = values.d === 2 ? "Drag a key; click it to wish for it. A disc is as large as the key's part of the pattern."
      : `A view of ${values.d} dimensions: to the right is the query's direction, so further right is a higher score. Drag, or click to wish.`;
  }

  const regionPath = s("path", { class: "region" });
  const circle = s("circle", { class: "least" });
  const arrows = s("g", {});
  const note = s("text", { class: "ghost", x: 220, y: 40, "text-anchor": "middle" });
  const missing = s("line", { class: "missing" });
  const mineLine = s("line", { class: "yours" });
  queryPlane.under.append(regionPath, circle, missing);
  queryPlane.over.append(arrows, mineLine, grip, note);

  function drawQueries(values, least, fresh) {
    const query = current();
    const mineOwn = own();
    const reach = Math.max(2, ...(answer?.queries ?? []).map((q) => length(q) * 1.75), mineOwn ? length(mineOwn) * 1.1 : 0);
    if (fresh || reach > queryPlane.reach) queryPlane.fit(Number((Math.ceil(reach * 4) / 4).toPrecision(3)));
    const factor = scaleOf(values);
    const drawn = values.heads === 1 && values.noise !== "gauss" && least.length > 0 && Number.isFinite(factor);
    const f = drawn && misses(keys.map((key) => times(seen(key), factor)), least, {
      scale: factor, ball: values.noise === "ball" ? values.amount : 0, low: values.noise === "stretch" ? 1 - values.amount : 1, high: values.noise === "stretch" ? 1 + values.amount : 1,
    });
    const axis = query ? times(seen(query), 1 / (length(seen(query)) || 1)) : [1, 0];
    region = f ? outline(f, length(axis) > 0.5 ? axis : [1, 0], queryPlane.reach, fresh ? 72 : 32) : null;
    put(regionPath, { d: region ? queryPlane.path(region) : "" });
    const [cx, cy] = queryPlane.at([0, 0]);
    const close = region && !fresh ? nearest(region, [0, 0]) : null; // while a key is dragged: an estimate
    const radius = close ? Math.hypot(...close) : answer?.norm ?? 0;
    put(circle, { cx, cy, r: queryPlane.size(radius).toFixed(1), visibility: radius > 0 && (fresh || close) ? "visible" : "hidden" });
    arrows.replaceChildren();
    (fresh ? answer?.queries ?? [] : close ? [unseen(close)] : []).forEach((one, head) => {
      const [x, y] = queryPlane.at(seen(one));
      const angle = (Math.atan2(y - cy, x - cx) * 180) / Math.PI;
      arrows.append(s("line", { class: "shortest", x1: cx, y1: cy, x2: x, y2: y }), s("path", { class: "tip", d: "M2 0L-11 -6L-11 6Z", transform: `translate(${x} ${y}) rotate(${angle})` }));
      if (values.heads > 1) arrows.append(s("text", { class: "label", x: x + 8, y: y - 6 }, `head ${head}`));
    });
    const hand = mineOwn ?? query;
    const [hx, hy] = queryPlane.at(hand ? seen(hand) : [queryPlane.reach * 0.35, queryPlane.reach * 0.2]);
    put(grip, { class: `handle${mineOwn ? "" : " resting"}`, transform: `translate(${hx.toFixed(1)} ${hy.toFixed(1)})`, visibility: hand || least.length ? "visible" : "hidden", "aria-label": `Your query${mineOwn ? ` at ${seen(mineOwn).map((x) => shown(x)).join(", ")}` : ""}. Arrow keys move it.` });
    put(mineLine, { x1: cx, y1: cy, x2: hx, y2: hy, visibility: mineOwn ? "visible" : "hidden" });
    const target = mineOwn && region && f(...seen(mineOwn)) > 0 ? nearest(region, seen(mineOwn)) : null;
    if (target) { const [tx, ty] = queryPlane.at(target); put(missing, { x1: hx, y1: hy, x2: tx, y2: ty }); }
    put(missing, { visibility: target ? "visible" : "hidden" });
    const none = fresh && answer?.verdict === "impossible";
    note.textContent = none ? "No query grants this wish: proved." : !least.length ? "Click a key to wish for it." : "";
    queryPlane.caption.lastElementChild.textContent = none ? "There is nothing to draw here: every query fails."
      : values.heads > 1 ? "One query for each head; the mean of their patterns grants the wish."
        : values.noise === "gauss" ? "Keys are random: the region is not drawn, the query grants the wish with a proven probability."
          : `All queries that grant the wish${region?.some((point) => Math.max(...point.map(Math.abs)) > queryPlane.reach) ? "; they go on beyond the frame" : ""}.${values.d > 2 ? " A slice through the shortest query." : ""} The dashed circle has the shortest length.`;
    queryPlane.say(none ? "No query grants the wish." : query && fresh ? `The shortest query has length ${up(answer.norm)}.` : "");
  }

  function drawBars(values, least) {
    const weights = meanPattern();
    const wished = new Map(least);
    const [x0, y0, width, height] = [34, 146, 400, 128];
    const step = width / weights.length;
    bars.replaceChildren();
    for (const level of [0, 0.5, 1]) bars.append(s("line", { class: level ? "grid" : "axis", x1: x0, x2: x0 + width, y1: y0 - height * level, y2: y0 - height * level }), s("text", { class: "tick", x: x0 - 5, y: y0 - height * level + 4, "text-anchor": "end" }, String(level)));
    weights.forEach((weight, i) => {
      const x = x0 + i * step;
      bars.append(s("rect", { class: wished.has(i) ? "bar-target" : "bar-key", x: x + step * 0.12, y: y0 - height * weight, width: Math.max(0.8, step * 0.76), height: Math.max(0.6, height * weight), rx: step > 12 ? 2 : 0 }));
      if (wished.has(i)) bars.append(s("line", { class: "wanted", x1: x, x2: x + step, y1: y0 - height * wished.get(i), y2: y0 - height * wished.get(i) }));
      if (values.n <= 30 || wished.has(i)) bars.append(s("text", { class: wished.has(i) ? "label" : "tick", x: x + step / 2, y: y0 + 15, "text-anchor": "middle" }, String(i)));
    });
    const said = own() ? "of your query" : current() ? (values.heads > 1 ? "of the queries found, on average" : "of the shortest query") : "without a query: even";
    barWords.lastElementChild.textContent = `${said}, in floating point. A line across a bar is what is wished for.`;
    put(bars, { "aria-label": `Pattern ${said}: ${listed(weights.map((w, i) => [w, i]).sort((a, b) => b[0] - a[0]).slice(0, 5).map(([w, i]) => `key ${i} ${shown(w)}`))}` });
  }

  function drawWish(values, least) {
    if (wishes.contains(document.activeElement) && document.activeElement.matches("input")) return;
    wishes.replaceChildren(...least.map(([target, weight]) => {
      const row = h("div", { class: "control row" }, h("label", { for: `least-${target}` }, `key ${target} gets at least`));
      if (values.mode === "least") {
        const input = h("input", { type: "number", id: `least-${target}`, min: 0.001, max: 0.999, step: 0.01, value: weight });
        input.addEventListener("input", () => { const given = Number(input.value); if (given > 0 && given < 1) state.set({ least: { ...state.values.least, [target]: [given] } }, { settle: false }); });
        input.addEventListener("change", () => state.settle());
        row.append(input);
      } else row.append(h("output", { id: `least-${target}` }, shown(weight, 4)));
      return row;
    }));
    if (!least.length) wishes.append(h("p", { class: "note" }, "Click a key, or press the button below."));
    wishes.append(button(values.targets.includes(chosen) ? `Do not wish for key ${chosen}` : `Wish for key ${chosen} too`, () => toggle(chosen)));
  }

  function showChosen() {
    const { d } = state.values;
    const index = h("input", { type: "number", min: 0, max: state.values.n - 1, step: 1, value: chosen, "aria-label": "Number of the chosen key", onchange: () => { const to = Number(index.value); if (Number.isInteger(to) && to >= 0 && to < state.values.n) { chosen = to; draw(state.values, []); showChosen(); } } });
    const inputs = Array.from({ length: d }, (_, axis) => {
      const input = h("input", { type: "number", step: 0.05, value: keys[chosen]?.[axis] ?? 0, "aria-label": `Key ${chosen}, coordinate ${axis}` });
      input.addEventListener("change", () => { if (input.value === "" || !Number.isFinite(Number(input.value))) return; const to = [...keys[chosen]]; to[axis] = Number(input.value); move(chosen, to, true); });
      return input;
    });
    place.replaceChildren(index, ...inputs);
    put(place, { class: "coordinates" });
  }

  function drawMine(values, least) {
    const query = own();
    if (!place.contains(document.activeElement)) showChosen();
    if (mine.contains(document.activeElement) && document.activeElement.matches("input")) { mineWords(values, least, query); return; }
    const inputs = query?.map((x, axis) => {
      const input = h("input", { type: "number", step: 0.1, value: x, "aria-label": `Your query, coordinate ${axis}` });
      input.addEventListener("change", () => { if (input.value === "" || !Number.isFinite(Number(input.value))) return; const to = [...own()]; to[axis] = Number(input.value); state.set({ query: to }); });
      return input;
    });
    mine.replaceChildren(h("h2", {}, "Your query"), h("p", { id: "mine-words" }), ...(query ? [h("div", { class: "coordinates" }, ...inputs), button("Back to the shortest", () => state.set({ query: [] }))]
      : [button("Take hold of it", () => state.set({ query: (current() ?? unseen([queryPlane.reach * 0.35, queryPlane.reach * 0.2])).map((x) => Number((x * 0.7).toFixed(4))) }))]));
    mineWords(values, least, query);
  }
  function mineWords(values, least, query) {
    const words = mine.querySelector("#mine-words");
    if (!query) { words.textContent = "Drag the round handle in the right-hand picture: see how far another query is from granting the wish, and what stops it."; return; }
    const weights = pull(query);
    const short = least.filter(([target, weight]) => weights[target] < weight).sort((a, b) => weights[a[0]] / a[1] - weights[b[0]] / b[1]);
    const certain = values.noise === "none";
    if (!short.length) { words.textContent = `Length ${shown(length(query))}. It grants the wish${certain ? "" : " for the keys as they are drawn"} (floating-point)${answer?.norm ? `, and is ${shown((length(query) / answer.norm - 1) * 100, 1)}% longer than need be` : ""}.`; return; }
    const [target, weight] = short[0];
    const rivals = weights.map((w, i) => [w, i]).filter(([, i]) => i !== target).sort((a, b) => b[0] - a[0]);
    const to = region && values.d === 2 ? nearest(region, query) : null;
    words.textContent = `Length ${shown(length(query))}. Key ${target} gets ${shown(weights[target])}, and should get at least ${shown(weight)}: key ${rivals[0][1]} takes ${shown(rivals[0][0])}.`
      + (to ? ` The nearest query that grants the wish is ${shown(Math.hypot(to[0] - query[0], to[1] - query[1]))} away (floating-point).` : "");
  }

  function drawVerdict(values) {
    put(verdict, { class: `panel verdict ${answer?.verdict ?? ""}` });
    if (!answer) { verdict.replaceChildren(h("p", { class: "headline" }, values.targets.some((target) => target < values.n) ? "No verdict: see what is said beside the controls." : "No wish yet: click a key.")); return; }
    const targets = wish(values).map(([target]) => `key ${target}`);
    const badge = { designed: ["proved", "Proved."], impossible: ["refuted", "Proved impossible."], longer: ["undecided", "Proved out of reach."], undecided: ["undecided", "Undecided."] }[answer.verdict];
    const plural = answer.queries.length > 1;
    const world = { none: "", ball: ", wherever the keys are within their balls", stretch: ", however the keys are stretched", gauss: " with probability 0.95" }[values.noise];
    const head = {
      designed: () => (answer.norm === 0 ? "No query at all is needed." : answer.norm_lower_bound ? `${plural ? `${answer.queries.length} queries` : "A query"} of length ${plural ? "at most " : ""}${up(answer.norm)} ${plural ? "do" : "does"} it${world}, and ${plural ? `no ${answer.queries.length} queries all` : "none"} shorter than ${down(answer.norm_lower_bound)} ${plural ? "do" : "does"}.` : `A query of length ${up(answer.norm)} does it${world}; nothing is proved about shorter ones.`),
      impossible: () => `No query whatever gives ${listed(targets)} that much${world}.`,
      longer: () => `Only queries longer than ${down(answer.norm_lower_bound ?? 0)} could do it.`,
      undecided: () => "Neither a query nor a proof that there is none was found.",
    }[answer.verdict]();
    const parts = [h("p", { class: "headline" }, h("b", { class: `badge ${badge[0]}` }, badge[1]), ` ${head}`)];
    if (answer.mixing) {
      const made = Object.entries(answer.mixing.of).sort((a, b) => b[1] - a[1]);
      const said = made.slice(0, 5).map(([key, share]) => `${shown(share, 2)} of key ${key}`);
      if (made.length > 5) said.push(`a little of ${made.length - 5} more`);
      const of = Object.keys(answer.mixing.targets);
      parts.push(h("p", {}, of.length === 1
        ? `Key ${of[0]} lies among the others: it is ${listed(said)}. Its score is the same mixture of theirs, so one of them always scores at least as high.`
        : `A point between ${listed(of.map((key) => `key ${key}`))} is also ${listed(said)}. So the mean score of the targets is the same mixture of all scores, for every query: they cannot both stand out.`));
    }
    if (answer.best_eps !== null && values.mode === "evenly") parts.push(h("p", {}, `What can be had is eps = ${up(answer.best_eps, 4)}, and nothing below ${down(answer.best_eps_interval[0], 4)}: proved too. `, button("Wish for that", () => state.set({ eps: Number((answer.best_eps * 1.02).toPrecision(3)) }))));
    if (answer.probability) parts.push(h("p", {}, `Granted with probability at least ${answer.probability.proven_at_least}: proved. Sampled: ${shown(answer.probability.probability, 4)} (95% interval ${answer.probability.interval.map((x) => shown(x, 4)).join(" to ")}, ${answer.probability.samples} draws).`));
    parts.push(h("p", { class: "note" }, answer.certificate ? `Verified ${seconds < 10 ? `in ${seconds.toFixed(2)} s ` : ""}by the trusted checker, the one that “headwright verify” uses.` : "No certificate."));
    if (answer.certificate) parts.push(h("p", {}, button("Download the certificate", () => download("certificate.json", answer.certificate))));
    parts.push(h("details", {}, h("summary", { class: "note" }, "What exactly was proved"), h("p", { class: "words" }, answer.words)));
    verdict.replaceChildren(...parts);
  }

  // To take away

  const matrix = () => keys.map((key) => `    [${key.join(", ")}],`).join("\n");
  function python() {
    const { values } = state;
    const targets = values.targets.filter((target) => target < values.n);
    const said = values.mode === "least" ? `at_least({${wish(values).map(([target, weight]) => `${target}: "${weight}"`).join(", ")}})` : targets.length === 1 ? `copy(${targets[0]}, eps="${values.eps}")` : `average([${targets}], eps="${values.eps}")`;
    const world = { ball: `World(others=Noise(spread=Ball(${values.amount})))`, stretch: `World(others=Noise(scale=Between(${uncertain({ noise: "stretch", amount: values.amount }).scale.between.join(", ")})))`, gauss: `World(others=Noise(spread=Isotropic(${values.amount})))` }[values.noise];
    return `import numpy as np\nfrom headwright.design import at_least, average, copy, design\n${world ? "from headwright.noise import Ball, Between, Isotropic, Noise, World\n" : ""}\nkeys = np.array([\n${matrix()}\n])\nfound = design(keys, ${said}, scale="${values.scale}", heads=${values.heads}${world ? `, world=${world}` : ""})\nprint(found.verdict, found.words)\nprint(found.queries)\n`;
  }
  function command() {
    const { values } = state;
    const targets = values.targets.filter((target) => target < values.n);
    const said = values.mode === "least" ? `--at-least ${wish(values).map(([target, weight]) => `${target}=${weight}`).join(",")}` : targets.length === 1 ? `--copy ${targets[0]} --eps ${values.eps}` : `--average ${targets} --eps ${values.eps}`;
    const law = { ball: `ball = ${values.amount}`, stretch: `scale = { between = [${uncertain({ noise: "stretch", amount: values.amount }).scale.between.join(", ")}] }`, gauss: `isotropic = ${values.amount}` }[values.noise];
    const world = law ? `cat > world.toml <<'END'\n[[noise]]\nkey = "*"\n${law}\nEND\n` : "";
    return `cat > keys.csv <<'END'\n${keys.map((key) => key.join(",")).join("\n")}\nEND\n${world}headwright design --keys keys.csv ${said}${values.scale === "1" ? "" : ` --scale ${values.scale}`}${values.heads > 1 ? ` --heads ${values.heads}` : ""}${law ? " --world world.toml" : ""} --out certificate.json\nheadwright verify certificate.json\n`;
  }
  return {
    draw, python, command,
    json: () => ({ asked: question(state.values), answer }),
    pictures: () => [["keys", keyPlane.svg], ["queries", queryPlane.svg], ["pattern", bars]],
    certificate: () => answer?.certificate,
  };
}

open({
  name: "design", fields, presets, build,
  steps: [
    [".planes figure:first-child", "These are the keys. A head scores each of them against its query; the softmax of the scores is its pattern. The orange key is wished for: the head should attend to it."],
    [".planes figure:last-child", "Every point here is a query. The green ones give the wished-for key what it should get. Here they go on without end: along such a direction, longer queries attend more sharply."],
    ["#verdict", "One of them is shortest: the dashed circle just touches the region. That it is enough, and that none shorter is, was proved on the server a moment ago."],
    ["#mine", "Drag the round handle to try a query of your own. The dotted line leads to the nearest query that would do."],
    ["#pattern", "What the head attends to. The line across a bar is what was wished for."],
    [".presets", "Now see a wish that no query grants: choose “Inside the others”. The mixing weights are the proof."],
  ],
});
