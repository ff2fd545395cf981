// The Order view: a layer on a sentence and on a permutation of it, without and with positions; and positions after rounding.
import { h, listed, s, shown, speak } from "../../common/dom.js";
import { choice, flag, list, number, text } from "../../common/state.js";
import { button, choose, complain, controls, forgive, group, refusals, refuse, slider, tick } from "../../common/controls.js";
import { Asker } from "../../common/request.js";
import { curve, heat } from "../../common/chart.js";
import { uniform } from "../../common/attention.js";
import { post } from "../../common/transport.js";

const SCHEMES = [["sinusoidal", "sinusoids"], ["rotary", "rotary"], ["alibi", "ALiBi"]];
const TYPES = [["exact", "exact"], ["float32", "f32"], ["float16", "f16"], ["bfloat16", "bf16"]];
export const fields = {
  sentence: text("the dog bit the man", { longest: 200 }),
  order: list([3, 4, 2, 0, 1], { longest: 16, whole: true }),
  scheme: choice("sinusoidal", SCHEMES.map(([name]) => name)),
  causal: flag(false),
  dim: number(8, { least: 2, most: 32, whole: true }),
  seed: number(1, { least: 0, most: 1e6, whole: true }),
  length: number(512, { least: 2, most: 65536, whole: true }),
  width: number(64, { least: 2, most: 256, whole: true }),
  rows: choice("exact", TYPES.map(([name]) => name)),
  index: choice("bfloat16", TYPES.map(([name]) => name)),
  angle: choice("exact", TYPES.map(([name]) => name)),
};
export const presets = [
  ["Permuted sentence", {}],
  ["Original order", { order: [0, 1, 2, 3, 4] }],
  ["Causal mask", { causal: true }],
  ["Equal words", { sentence: "buffalo buffalo buffalo buffalo", order: [2, 0, 3, 1] }],
];
export const roundingPresets = [
  ["Index in bfloat16", { length: 512, index: "bfloat16" }],
  ["Angles in bfloat16", { length: 1024, index: "exact", angle: "bfloat16" }],
  ["Rows in bfloat16", { length: 4096, index: "exact", rows: "bfloat16" }],
  ["Two dimensions, rows in float16", { length: 1024, width: 2, index: "exact", rows: "float16" }],
];

const wordsOf = (values) => values.sentence.trim().split(/\s+/).filter(Boolean).slice(0, 16).map((word) => word.slice(0, 24));
const permutes = (order, n) => order.length === n && [...order].sort((a, b) => a - b).every((x, i) => x === i);

/** What a link asks for that does not exist. */
export function validate(values) {
  const n = wordsOf(values).length;
  return permutes(values.order, n) ? [] : [["order", `expected each of 0 to ${n - 1} once, since the sentence has ${n} words`]];
}

/** `by` answers requests: the server, or JavaScript in this tab, which does not round positions; `theorem` is an element with the proof. */
export function build(main, state, { by = post, hasRounding = true, theorem = null } = {}) {
  let found = null;
  let places = null;
  const words = wordsOf;
  /** The order in the state, if it is a permutation of the tokens; else the original order. */
  const orderOf = (values) => {
    const n = words(values).length;
    return permutes(values.order, n) ? values.order : Array.from({ length: n }, (_, i) => i);
  };

  const tokens = h("ol", { class: "tokens", "aria-label": "The tokens in their new order" });
  const sentence = h("input", { type: "text", id: "field-sentence", maxlength: 200, autocomplete: "off" });
  sentence.addEventListener("input", () => { state.set({ sentence: sentence.value }, { settle: false }); });
  sentence.addEventListener("change", () => state.settle());
  const shuffle = () => {
    const order = [...orderOf(state.values)];
    const draw = uniform(Date.now() % 1e6);
    for (let i = order.length - 1; i > 0; i--) { const j = Math.floor(draw() * (i + 1)); [order[i], order[j]] = [order[j], order[i]]; }
    state.set({ order });
  };
  const pictures = { X: s("svg"), PX: s("svg") };
  const about = {};
  const panel = (name, title) => {
    const parts = { ZPX: s("svg"), PZX: s("svg"), gap: s("svg"), scale: h("p", { class: "note" }) };
    const head = h("p", { class: "headline" });
    const box = h("section", { class: "panel compare", id: name, "aria-label": title }, h("h2", {}, title), head, h("div", { class: "four" },
      h("div", {}, h("b", {}, "Z(P X)"), h("p", { class: "note" }, "permute, then apply the layer"), parts.ZPX),
      h("div", {}, h("b", {}, "P Z(X)"), h("p", { class: "note" }, "apply the layer, then permute"), parts.PZX),
      h("div", {}, h("b", {}, "Difference"), parts.scale, parts.gap)));
    about[name] = { ...parts, head, box };
    return box;
  };
  const table = s("svg");
  const distance = s("svg");
  const verdict = h("p", { class: "headline" });
  const how = h("p", { class: "note" });
  const settings = controls(
    group("Layer", slider(state, "dim", "dimensions", { least: 2, most: 32, step: 2 }), slider(state, "seed", "random seed", { least: 0, most: 999, step: 1 }), tick(state, "causal", "causal mask"),
      choose(state, "scheme", "positions", SCHEMES)),
    hasRounding && group("Positions after rounding", slider(state, "length", "number of positions", { least: 2, most: 65536, step: 1, log: true }), slider(state, "width", "dimensions", { least: 2, most: 256, step: 2 }),
      choose(state, "index", "index", TYPES), choose(state, "angle", "angles", TYPES), choose(state, "rows", "rows", TYPES)));
  main.append(h("div", { class: "layout" }, settings, h("div", { class: "stage" },
    h("section", { class: "panel", id: "sentence" }, h("div", { class: "control" }, h("label", { for: "field-sentence" }, "Sentence (equal words are equal tokens)"), sentence, h("p", { class: "error", id: "error-sentence", role: "alert", hidden: true })),
      h("p", { class: "note" }, "Drag the tokens into another order, or move one with the arrow keys. Small numbers: original positions."), tokens,
      h("div", { class: "row-of" }, button("Shuffle", shuffle, { class: "primary" }), button("Original order", () => state.set({ order: orderOf(state.values).map((_, i) => i) }))),
      h("div", { class: "four" }, h("div", {}, h("b", {}, "X"), h("p", { class: "note" }, "one row for each token"), pictures.X), h("div", {}, h("b", {}, "P X"), h("p", { class: "note" }, "the same rows, permuted"), pictures.PX))),
    refusals(), panel("without", "Without positions"), theorem, panel("with", "With positions"),
    h("section", { class: "panel", id: "places", hidden: !hasRounding }, h("h2", {}, "Positions after rounding"), verdict, how,
      h("div", { class: "planes" }, h("figure", {}, h("figcaption", {}, h("b", {}, "Rows"), h("span", {}, "")), table), h("figure", {}, h("figcaption", {}, h("b", {}, "Distance"), h("span", {}, "between rows 0 and t, against t (floating-point)")), distance))))));

  const busy = (box) => (yes) => box.classList.toggle("stale", yes);
  const asker = new Asker("order", { state, by, what: "Computing the layer",
    waiting(yes) { busy(about.without.box)(yes); busy(about.with.box)(yes); },
    answered(answer) { found = answer; forgive(state); drawLayer(state.values); speak(about.with.head.textContent); },
    failed: (sentence, where) => refuse(state, sentence, where),
  });
  const placer = new Asker("positions", { state, by, what: "Comparing the positions",
    wait: 250,
    waiting: busy(main.querySelector("#places")),
    answered(answer) { places = answer; forgive(state); drawPlaces(state.values); },
    failed(sentence, where) { refuse(state, sentence, { dtype: "rows", index_dtype: "index", angle_dtype: "angle", dim: "width" }[where] ?? where); },
  });
  const LAYER = ["sentence", "order", "scheme", "causal", "dim", "seed"];
  const PLACES = ["scheme", "length", "width", "rows", "index", "angle"];
  const question = (values) => ({ tokens: words(values), order: orderOf(values), dim: 2 * Math.round(values.dim / 2), scheme: values.scheme, causal: values.causal, seed: values.seed });
  const asking = (values) => ({ scheme: values.scheme, length: values.length, dim: 2 * Math.round(values.width / 2), dtype: values.rows, index_dtype: values.index, angle_dtype: values.angle });

  function draw(values, names) {
    if (document.activeElement !== sentence) sentence.value = values.sentence;
    drawTokens(values);
    const enough = words(values).length >= 2;
    complain(state, "sentence", enough ? null : "expected at least two words");
    if (enough && LAYER.some((name) => names.includes(name))) asker.ask(question(values));
    if (hasRounding && PLACES.some((name) => names.includes(name))) placer.ask(asking(values));
  }

  function move(from, to) {
    const order = [...orderOf(state.values)];
    if (to < 0 || to >= order.length) return;
    order.splice(to, 0, ...order.splice(from, 1));
    state.set({ order });
  }

  let held = null;
  function drawTokens(values) {
    const all = words(values);
    const order = orderOf(values);
    const focused = [...tokens.querySelectorAll("button")].indexOf(document.activeElement);
    tokens.replaceChildren(...order.map((from, place) => {
      const face = h("button", { type: "button", "aria-label": `${all[from]}, position ${place}, originally ${from}. Left and right arrows move it.` }, all[from], " ", h("sub", {}, String(from)));
      face.addEventListener("keydown", (event) => {
        const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        if (!step) return;
        event.preventDefault();
        move(place, place + step);
        requestAnimationFrame(() => requestAnimationFrame(() => tokens.querySelectorAll("button")[Math.min(order.length - 1, Math.max(0, place + step))]?.focus()));
      });
      face.addEventListener("pointerdown", () => { held = place; });
      return h("li", { class: from === place ? null : "moved" }, face);
    }));
    if (focused >= 0) tokens.querySelectorAll("button")[focused]?.focus();
  }
  addEventListener("pointerup", (event) => {
    if (held === null) return;
    const from = held;
    held = null;
    const boxes = [...tokens.children].map((item) => item.getBoundingClientRect());
    let best = from;
    let least = Infinity;
    boxes.forEach((box, i) => { const apart = Math.hypot(event.clientX - (box.x + box.width / 2), 2 * (event.clientY - (box.y + box.height / 2))); if (apart < least) { least = apart; best = i; } });
    if (best !== from) move(from, best);
  });

  function drawLayer(values) {
    const all = words(values);
    const order = orderOf(values);
    if (!found || found.X.length !== all.length) return;
    const shuffled = order.map((i) => all[i]);
    const left = 12 + 8 * Math.max(...all.map((word) => word.length));
    const wide = Math.max(220, left + 140);
    heat(pictures.X, found.X, { names: all, title: "X", left, wide });
    heat(pictures.PX, found.PX, { names: shuffled, title: "P X", left, wide });
    for (const name of ["without", "with"]) {
      const { ZPX, PZX, relative, epsilon } = found[name];
      const gap = ZPX.map((row, i) => row.map((x, j) => x - PZX[i][j]));
      const most = Math.max(1e-12, ...[...ZPX, ...PZX].flat().map(Math.abs));
      heat(about[name].ZPX, ZPX, { names: shuffled, title: "Z(P X)", left, wide, most });
      heat(about[name].PZX, PZX, { names: shuffled, title: "P Z(X)", left, wide, most });
      const alike = relative < 1000 * epsilon;
      heat(about[name].gap, gap, { names: shuffled, title: "Difference", left, wide, most: alike ? most : null });
      about[name].scale.textContent = alike ? "same colour scale: zero up to rounding" : "on its own colour scale";
      about[name].box.classList.toggle("differs", !alike);
      const percent = shown(100 * relative, relative < 0.001 ? 5 : 1);
      const size = `by up to ${percent}% of the largest entry`;
      const moved = order.some((from, to) => from !== to);
      const rest = name === "without" ? (values.causal ? "With a causal mask a token attends only to earlier ones, so the order matters." : "Without positions a layer commutes with permutations; this is a theorem, shown here in numbers.")
        : values.scheme === "alibi" ? "ALiBi depends on the distance between tokens, which the permutation changes." : "The same word at another position has another row.";
      about[name].head.replaceChildren(h("b", { class: `badge ${alike ? "proved" : "refuted"}` }, alike ? "Equal" : "Different"),
        !moved ? " because the order is the original one. Shuffle the tokens." : alike ? ` up to rounding (${shown(relative)} of the largest entry, floating-point). ${rest}` : `, ${size} (floating-point). ${rest}`);
    }
  }

  function drawPlaces(values) {
    if (!places) return;
    const { rows, start, first_pair: pair, collisions, closest_pair: closest } = places;
    const twins = pair ? pair.map((t) => t - start) : [];
    heat(table, rows, { title: "Rows of positions", left: 66, wide: 440, tall: 400 / rows.length, names: rows.map((_, i) => (i === twins[1] ? `${pair[1]}=${pair[0]}` : i % 8 === 0 && !twins.some((t) => Math.abs(t - i) < 4) ? String(start + i) : undefined)), marked: twins });
    table.parentElement.querySelector("span").textContent = `positions ${start} to ${start + rows.length - 1}${pair ? "; framed: the first two that are equal" : ""}`;
    curve(distance, places.distances.map((value, i) => [i + 1, value]), { across: "t", up: "distance", height: 300, words: `Distance between rows 0 and t against t, from ${shown(places.distances[0])} at t = 1` });
    const types = listed([["index", values.index], ["angles", values.angle], ["rows", values.rows]].filter(([, type]) => type !== "exact").map(([what, type]) => `${what} in ${type}`));
    verdict.replaceChildren(h("b", { class: `badge ${collisions ? "refuted" : "proved"}` }, collisions ? `${collisions} of ${values.length} positions are equal to an earlier one` : `All ${values.length} positions are distinct`),
      `${types ? `, with ${types}` : ""}. ${pair ? `The first pair: ${pair[0]} and ${pair[1]}.` : `The closest two, ${closest[0]} and ${closest[1]}, are ${shown(places.min_distance, 4)} apart.`}`);
    how.textContent = `Method: ${places.how_collisions}. Distance: ${places.how_distance}.`;
  }

  const flags = (values) => `--scheme ${values.scheme} --length ${values.length} --dim ${2 * Math.round(values.width / 2)} --dtype ${values.rows} --index-dtype ${values.index} --angle-dtype ${values.angle}`;
  return {
    draw,
    command: hasRounding ? () => `headwright positions ${flags(state.values)}\n` : null,
    python() {
      const { values } = state;
      const scheme = { sinusoidal: `Sinusoidal(${question(values).dim})`, rotary: `Rotary(${question(values).dim})`, alibi: "Alibi(1)" }[values.scheme];
      const wide = 2 * Math.round(values.width / 2);
      const placed = { sinusoidal: `Sinusoidal(${wide})`, rotary: `Rotary(${wide})`, alibi: `Alibi(${wide})` }[values.scheme];
      const layer = `import numpy as np\nfrom headwright.layer import equivariance_defect, random_layer\nfrom headwright.positions import Alibi, Precision, Rotary, Sinusoidal, report\n\nwords = ${JSON.stringify(words(values))}\norder = ${JSON.stringify(orderOf(values))}\nrng = np.random.default_rng([${values.seed}, 1])\nrows = {word: rng.normal(size=${question(values).dim}) for word in sorted(set(words))}\nX = np.stack([rows[word] for word in words])\nfor positions in (None, ${scheme}):\n    layer = random_layer(${question(values).dim}, positions=positions, causal=${values.causal ? "True" : "False"}, seed=${values.seed})\n    print(equivariance_defect(layer, X, np.array(order)))\n`;
      const rounding = `\nfound = report(${placed}, ${values.length}, Precision(index="${values.index}", angle="${values.angle}", rows="${values.rows}"))\nprint(found.collisions, found.first_pair, found.how_collisions)\n`;
      return hasRounding ? layer + rounding : layer;
    },
    json: () => ({ asked: { order: question(state.values), positions: asking(state.values) }, order: found, positions: places }),
    pictures: () => [["X", pictures.X], ["PX", pictures.PX], ...["without", "with"].flatMap((name) => ["ZPX", "PZX", "gap"].map((part) => [`${name}-${part}`, about[name][part]])), ...(hasRounding ? [["positions", table], ["distances", distance]] : [])],
  };
}

/** Of the guided tour; the last two are about rounding. */
export const steps = [
  ["#sentence", "A sentence and a permutation of it. Each word is a row of numbers; permuting the words permutes the rows."],
  ["#without", "A layer (self-attention and feed-forward) without positions: permuting before or after it gives the same result. It cannot tell who bit whom."],
  ["#with", "With positions the results differ: the output depends on where a token stands."],
  ["#without", "A causal mask makes the order matter as well, even without positions.", "Causal mask"],
  ["#places", "Positions are rounded numbers. In bfloat16 the index 257 is rounded to 256, so two tokens get the same position."],
  ["#places", "It depends on what is rounded. Rounding the rows instead of the index keeps all positions distinct; this is proved, not sampled.", "Rows in bfloat16"],
];
