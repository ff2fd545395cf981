// The Noise view: one key of random length; one head, two heads and a robust design compared.
import { down, h, put, s, shown, speak, up } from "../../common/dom.js";
import { number } from "../../common/state.js";
import { controls, forgive, group, refusals, refuse, slider } from "../../common/controls.js";
import { Asker } from "../../common/request.js";
import { axes, rounded } from "../../common/chart.js";
import { here } from "../../common/export.js";
import { post } from "../../common/transport.js";

export const fields = {
  length: number(7, { least: 0.1, most: 1000 }),
  n: number(10, { least: 3, most: 100, whole: true }),
  variance: number(0.5, { least: 0.0001, most: 4 }),
  spread: number(0, { least: 0, most: 1 }),
  tolerance: number(0.05, { least: 0.001, most: 0.4 }),
  samples: number(20000, { least: 100, most: 200000, whole: true }),
  seed: number(0, { least: 0, most: 1e6, whole: true }),
};
export const presets = [
  ["Textbook example", {}],
  ["Longer queries", { length: 60 }],
  ["Little noise", { variance: 0.001 }],
  ["80 keys", { n: 80, length: 7 }],
  ["All keys random", { spread: 0.02 }],
];
const DEVIATIONS = 4; // the robust design covers all lengths within this many standard deviations

/** The standard normal distribution function, to 1e-7: for a curve. */
function below(x) {
  const t = 1 / (1 + 0.2316419 * Math.abs(x));
  const tail = (Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI)) * t * (0.31938153 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))));
  return x > 0 ? 1 - tail : tail;
}

/** The probability that both targets are near 1/2 when key 0 is multiplied by g ~ N(1, variance); floating-point, for a curve. */
function chance(heads, length, n, variance, tolerance) {
  const deviation = Math.sqrt(variance);
  const steps = 240;
  const near = (g) => {
    let a = 0;
    let b = 0;
    for (const [ta, tb] of heads) {
      const [sa, sb] = [ta * length * g, tb * length];
      const top = Math.max(sa, sb, 0);
      const total = Math.exp(sa - top) + Math.exp(sb - top) + (n - 2) * Math.exp(-top);
      a += Math.exp(sa - top) / total / heads.length;
      b += Math.exp(sb - top) / total / heads.length;
    }
    return Math.abs(a - 0.5) <= tolerance && Math.abs(b - 0.5) <= tolerance;
  };
  const edge = (inside, outside) => { let [x, y] = [inside, outside]; for (let k = 0; k < 40; k++) { const half = (x + y) / 2; if (near(half)) x = half; else y = half; } return x; };
  let total = 0;
  let before = false;
  let from = 0;
  const at = (k) => 1 + deviation * (-7 + (14 * k) / steps);
  const mass = (x, y) => below((y - 1) / deviation) - below((x - 1) / deviation);
  // The middle of the one head's window lies at g = 1 or so, and may be narrower than a step.
  const grid = [...Array.from({ length: steps + 1 }, (_, k) => at(k)), 1].sort((x, y) => x - y);
  grid.forEach((g, k) => {
    const now = near(g);
    if (now && !before) from = k ? edge(g, grid[k - 1]) : g;
    if (!now && before) total += mass(from, edge(grid[k - 1], g));
    if (now && k === grid.length - 1) total += mass(from, g);
    before = now;
  });
  return total;
}

const DESIGNS = [
  ["one", "One head", "q = λ (k₀ + k₁)", "One query for both keys. If key 0 is longer than expected it gets nearly all weight; if shorter, nearly none."],
  ["two", "Two heads", "q₁ = λ k₀,  q₂ = λ k₁", "One query for each key; the output is their mean. It fails only if key 0 has almost no length, or the opposite direction."],
  ["robust", "One head, robust design", null, ""],
];

/**
 * `by` answers requests: the server, or JavaScript and Python in this tab, with at most so many keys and samples.
 * With `early`, a function of a call and what is given, its answer is shown at once as not proved yet.
 */
export function build(main, state, { by = post, mostKeys = 100, mostSamples = 200_000, robustFormula = "shortest query for all lengths", early = null } = {}) {
  let robust = null; // the design of the server
  let designed = "";
  const panels = {};
  const answers = {};
  const grid = h("div", { class: "three" }, ...DESIGNS.map(([name, title, formula, story]) => {
    const parts = { triangle: s("svg"), bars: s("svg"), head: h("p", { class: "headline" }), known: h("p", { class: "note" }), story: h("p", { class: "note story" }, story) };
    const box = h("section", { class: `panel noise ${name}`, id: name, "aria-label": title }, h("h2", {}, title), h("p", { class: "formula" }, formula ?? robustFormula), parts.head, parts.known, parts.triangle, parts.bars, parts.story);
    panels[name] = { ...parts, box, title };
    return box;
  }));
  const curveSvg = s("svg");
  const curveWords = h("span", {}, "");
  main.append(h("div", { class: "layout" }, controls(
    group("Queries", slider(state, "length", "length λ", { least: 0.1, most: 1000, log: true })),
    group("Keys", slider(state, "n", "number of keys (n), orthonormal", { least: 3, most: mostKeys, step: 1 }), slider(state, "variance", "variance of key 0's length", { least: 0.0001, most: 4, log: true }),
      slider(state, "spread", "variance of all keys, in every direction", { least: 0, most: 0.2, step: 0.001 })),
    group("Success and sampling", slider(state, "tolerance", "success: weights within this of 1/2", { least: 0.001, most: 0.4, step: 0.001 }), slider(state, "samples", "samples", { least: 100, most: mostSamples, log: true }), slider(state, "seed", "random seed", { least: 0, most: 999, step: 1 }))),
  h("div", { class: "stage" }, refusals(), h("section", { class: "panel", id: "story" }), grid,
    h("figure", { id: "curve" }, h("figcaption", {}, h("b", {}, "Probability of success against the length of the queries"), curveWords), curveSvg))));

  const eye = (n) => Array.from({ length: n }, (_, i) => Array.from({ length: n }, (__, j) => (i === j ? 1 : 0)));
  const uncertainty = (values) => [{ key: 0, scale: { normal: [1, values.variance] }, ...(values.spread ? { isotropic: values.spread } : {}) }, ...(values.spread ? [{ key: "*", isotropic: values.spread }] : [])];
  const reach = (values) => { const by = DEVIATIONS * Math.sqrt(values.variance); return [Number((1 - by).toPrecision(6)), Number((1 + by).toPrecision(6))]; };
  const queries = (name, values) => {
    const keys = eye(values.n);
    if (name === "one") return [keys[0].map((x, j) => values.length * (x + keys[1][j]))];
    if (name === "two") return [keys[0].map((x) => values.length * x), keys[1].map((x) => values.length * x)];
    return robust?.queries.length ? robust.queries : null;
  };
  const body = (name, values) => ({ keys: eye(values.n), queries: queries(name, values), uncertainty: uncertainty(values), targets: [0, 1], tolerance: String(values.tolerance), samples: values.samples, seed: values.seed });
  const least = (values) => String(Number((0.5 - values.tolerance).toFixed(6)));
  const targets = (values) => ({ keys: eye(values.n), at_least: { 0: least(values), 1: least(values) }, uncertainty: [{ key: 0, scale: { between: reach(values) } }] });

  const askers = Object.fromEntries(DESIGNS.map(([name]) => [name, new Asker("simulate", { state: early ? null : state, by, what: "Sampling",
    wait: 200,
    waiting: (yes) => panels[name].box.classList.toggle("stale", yes && !early),
    answered(answer) { answers[name] = answer; forgive(state); drawPanel(name, state.values); drawStory(state.values); drawCurve(state.values); },
    failed: (sentence, where) => refuse(state, sentence, where),
  })]));
  const designer = new Asker("design", { state: early ? null : state, by, what: "Designing",
    wait: 200,
    waiting: (yes) => panels.robust.box.classList.toggle("stale", yes && !early),
    answered(answer) { robust = answer; const ask = queries("robust", state.values); if (ask) askers.robust.ask(body("robust", state.values)); else drawPanel("robust", state.values); },
    failed: (sentence, where) => refuse(state, sentence, where),
  });

  function draw(values, names) {
    if (names.length) {
      askers.one.ask(body("one", values));
      askers.two.ask(body("two", values));
      if (early) drawEarly(values);
      const wanted = JSON.stringify(targets(values));
      if (wanted !== designed) { designed = wanted; askers.robust.cancel(); designer.ask(targets(values)); }
      else if (robust && queries("robust", values)) askers.robust.ask(body("robust", values));
    }
    drawCurve(values);
  }

  /** What can be said before there is a proof. */
  function drawEarly(values) {
    robust = { verdict: "proposed", ...early("design", targets(values)) };
    for (const [name] of DESIGNS) {
      answers[name] = early("simulate", body(name, values));
      drawPanel(name, values);
    }
    drawStory(values);
  }

  const near = (answer) => answer.near_average;
  const proven = ({ exact_enclosure: both }) => both && both[0] !== null ? both : null;
  function drawPanel(name, values) {
    const answer = answers[name];
    const { head, known, story, triangle, bars, title } = panels[name];
    if (name === "robust" && robust && !["designed", "proposed"].includes(robust.verdict)) { head.replaceChildren(h("b", { class: "badge undecided" }, robust.verdict), ` ${robust.words}`); return; }
    if (!answer) return;
    const found = near(answer);
    const exact = proven(found);
    head.replaceChildren(h("b", { class: "big" }, rate(found)), ` success`);
    known.replaceChildren(exact ? h("span", {}, h("b", {}, "Proved:"), ` between ${down(exact[0])} and ${up(exact[1])}. `) : found.why_not_exact ? `Not proved: ${found.why_not_exact}. ` : "Not proved yet. ",
      `Sampled: ${shown(found.probability, 4)} (${found.interval ? `95% interval ${down(found.interval[0])} to ${up(found.interval[1])}, ` : ""}${answer.samples} samples).`);
    if (name === "robust") story.replaceChildren();
    if (name === "robust" && robust.verdict === "designed") {
      const [low, high] = reach(values);
      const [query] = robust.queries;
      const aside = Math.abs(query[0]) + Math.abs(query[1]) < 1e-6 * robust.norm;
      story.replaceChildren(h("b", { class: "proved" }, "Proved: "), `for every factor from ${up(low, 6)} to ${down(high, 6)} on key 0, both weights are within ${values.tolerance} of 1/2. ${aside ? "The query is orthogonal to both targets and gives the other keys negative scores. " : ""}It has length ${up(robust.norm)}${robust.norm_lower_bound ? `; no single query shorter than ${down(robust.norm_lower_bound)} does this` : ""}.`);
    }
    drawTriangle(triangle, answer.cloud.slice(0, 700), values.tolerance, title);
    drawBars(bars, answer.cloud, title);
  }
  /** The probability for a headline; ≈ marks a sampled one. */
  const rate = (found) => {
    const exact = proven(found);
    const x = exact ? exact[0] : found.probability;
    const percent = exact ? (Math.floor(1000 * x) / 10).toFixed(1) : (100 * x).toFixed(1); // a proven one is rounded down
    return `${exact ? "" : "≈ "}${x > 0.9995 && (exact || x < 1) ? "over 99.9" : percent}%`;
  };

  function drawTriangle(svg, cloud, tolerance, title) {
    const [left, right, bottom, top] = [26, 274, 172, 22];
    const at = ([a, b]) => { const rest = 1 - a - b; return [a * left + b * right + rest * ((left + right) / 2), bottom - rest * (bottom - top)]; };
    const path = (points) => points.map((point, i) => `${i ? "L" : "M"}${at(point).map((x) => x.toFixed(1)).join(" ")}`).join("") + "Z";
    put(svg, { viewBox: "0 0 300 198", role: "img", "aria-label": `${title}: outputs in ${cloud.length} samples, between the values of key 0, key 1 and the other keys; the mean weight of key 0 is ${shown(cloud.reduce((sum, [a]) => sum + a, 0) / cloud.length)}` });
    const t = tolerance;
    svg.replaceChildren(s("path", { class: "edge", d: path([[1, 0], [0, 1], [0, 0]]) }), s("path", { class: "region", d: path([[0.5, 0.5], [0.5 + t, 0.5 - t], [0.5 - t, 0.5 - t], [0.5 - t, 0.5 + t]]) }),
      ...cloud.map((point) => { const [x, y] = at(point); return s("circle", { class: "draw", cx: x.toFixed(1), cy: y.toFixed(1), r: 3 }); }),
      s("text", { class: "label", x: left - 6, y: bottom + 19 }, "v₀"), s("text", { class: "label", x: right + 6, y: bottom + 19, "text-anchor": "end" }, "v₁"), s("text", { class: "tick", x: (left + right) / 2, y: top - 8, "text-anchor": "middle" }, "other values"),
      s("text", { class: "tick", x: (left + right) / 2, y: bottom + 19, "text-anchor": "middle" }, "average"));
  }

  function drawBars(svg, cloud, title) {
    const bins = new Array(25).fill(0);
    for (const [a] of cloud) bins[Math.min(24, Math.floor(a * 25))] += 1;
    const most = Math.max(...bins) / cloud.length;
    const { x, y } = axes(svg, { width: 300, height: 128, from: 0, to: 1, top: Math.min(1, rounded(most)), across: `weight of key 0 in ${cloud.length} samples`, up: "", ticks: 4 });
    bins.forEach((count, i) => svg.append(s("rect", { class: "bar-key", x: x(i / 25) + 0.5, y: y(count / cloud.length), width: Math.max(1, x(1 / 25) - x(0) - 1), height: Math.max(0, y(0) - y(count / cloud.length)) })));
    put(svg, { role: "img", "aria-label": `${title}: histogram of the weight of key 0; ${shown(bins[0] / cloud.length)} of the samples below 0.04, ${shown(bins[24] / cloud.length)} above 0.96` });
  }

  function drawCurve(values) {
    const lengths = Array.from({ length: 161 }, (_, k) => 10 ** (-1 + (4 * k) / 160));
    const { x, y } = axes(curveSvg, { width: matchMedia("(max-width: 44rem)").matches ? 440 : 900, height: 250, from: -1, to: 3, top: 1, across: "log₁₀ of the length λ", up: "probability", ticks: 4 });
    const plateau = below(1 / Math.sqrt(values.variance));
    curveSvg.append(s("line", { class: "limit", x1: x(-1), x2: x(3), y1: y(plateau), y2: y(plateau) }), s("text", { class: "tick", x: x(-1) + 6, y: y(plateau) + (plateau > 0.9 ? 15 : -6) }, `limit for two heads: ${shown(plateau)}`));
    for (const [name, heads, said] of [["one", [[1, 1]], "one head"], ["two", [[1, 0], [0, 1]], "two heads"]]) {
      const points = lengths.map((length) => [Math.log10(length), chance(heads, length, values.n, values.variance, values.tolerance)]);
      curveSvg.append(s("path", { class: `curve of-${name}`, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") }));
      const [ex, ey] = points[144];
      curveSvg.append(s("text", { class: `label`, x: x(ex), y: y(ey) - 9, "text-anchor": "middle" }, said));
      const exact = answers[name] && proven(near(answers[name]));
      const now = exact ? (exact[0] + exact[1]) / 2 : answers[name]?.near_average.probability;
      if (now !== undefined) curveSvg.append(s("circle", { class: `dot-${name}`, cx: x(Math.log10(values.length)), cy: y(now), r: 6 }));
    }
    if (robust?.norm && answers.robust) { const now = near(answers.robust).probability; curveSvg.append(s("path", { class: "output", d: `M${x(Math.log10(Math.min(1000, robust.norm)))} ${y(now) - 8}l8 8l-8 8l-8 -8z` })); }
    curveWords.textContent = `Curves: floating-point, without the variance of the other keys. Discs: the panels above. Diamond: the robust design. Dashed line: the probability that key 0 keeps its direction, an upper limit for two heads at small tolerances.`;
    put(curveSvg, { role: "img", "aria-label": `At length ${shown(values.length)}: one head ${shown(chance([[1, 1]], values.length, values.n, values.variance, values.tolerance))}, two heads ${shown(chance([[1, 0], [0, 1]], values.length, values.n, values.variance, values.tolerance))}` });
  }

  function drawStory(values) {
    const all = ["one", "two", "robust"].map((name) => answers[name] && rate(near(answers[name])));
    if (all.some((x) => !x)) return;
    main.querySelector("#story").replaceChildren(h("p", { class: "headline" }, "Textbooks recommend two heads because one head is sensitive to noise. ", h("b", {}, `Here one head succeeds with probability ${all[0]} and two heads with ${all[1]}. `),
      "Two heads fail whenever key 0 has the opposite direction, however long the queries are. The sensitivity comes from the query, not from using one head: ",
      values.spread ? h("span", {}, "a robust design needs only one. ", h("b", {}, `It was designed for noise in key 0 only; with noise in all keys it succeeds with probability ${all[2]}.`), " The proof covers only the noise that was modelled.") : h("b", {}, `a robust design with one head succeeds with probability ${all[2]}.`)));
    speak(`One head ${all[0]}, two heads ${all[1]}, robust design ${all[2]}`);
  }

  return {
    draw,
    json: () => ({ asked: Object.fromEntries(DESIGNS.map(([name]) => [name, body(name, state.values)])), answers, robust }),
    certificate: () => robust?.certificate,
    pictures: () => [...DESIGNS.flatMap(([name]) => [[`${name}-outputs`, panels[name].triangle], [`${name}-weights`, panels[name].bars]]), ["probability", curveSvg]],
    python() {
      const { values } = state;
      const [low, high] = reach(values);
      const spread = values.spread ? `, spread=Isotropic(${values.spread})` : "";
      const others = values.spread ? `, others=Noise(spread=Isotropic(${values.spread}))` : "";
      return `import numpy as np\nfrom headwright import at_least, design\nfrom headwright import simulate\nfrom headwright.uncertainty import Between, Isotropic, Noise, Normal, Uncertainty\n\nkeys = np.eye(${values.n})\nuncertainty = Uncertainty({0: Noise(scale=Normal(1.0, ${values.variance})${spread})}${others})\nrobust = design(keys, at_least({0: "${least(values)}", 1: "${least(values)}"}), uncertainty=Uncertainty({0: Noise(scale=Between(${low}, ${high}))}))\nprint(robust.words)\nfor queries in (${values.length} * (keys[:1] + keys[1:2]), ${values.length} * keys[:2], robust.queries):\n    found = simulate(keys, queries, uncertainty, [0, 1], tolerance=${values.tolerance}, samples=${values.samples}, seed=${values.seed})\n    print(found.near_average, found.near_average_interval, found.exact and found.exact.near_average)\n`;
    },
    command() {
      const { values } = state;
      const csv = (rows) => rows.map((one) => one.join(",")).join("\n");
      const spread = values.spread ? `isotropic = ${values.spread}\n` : "";
      const files = [["keys.csv", csv(eye(values.n))], ["both.csv", csv(queries("one", values))], ...queries("two", values).map((one, i) => [`query${i}.csv`, csv([one])]),
        ["uncertainty.toml", `[[noise]]\nkey = 0\nscale = { normal = [1.0, ${values.variance}] }\n${spread}${values.spread ? `[[noise]]\nkey = "*"\n${spread}` : ""}`],
        ["lengths.toml", `[[noise]]\nkey = 0\nscale = { between = [${reach(values).join(", ")}] }`]];
      const drawn = `--targets 0,1 --tolerance ${values.tolerance} --samples ${values.samples} --seed ${values.seed}`;
      return `${files.map(([name, content]) => here(name, content)).join("")}headwright simulate --keys keys.csv --uncertainty uncertainty.toml --query both.csv ${drawn}\nheadwright simulate --keys keys.csv --uncertainty uncertainty.toml --query query0.csv --query query1.csv ${drawn}\nheadwright design --keys keys.csv --at-least 0=${least(values)},1=${least(values)} --uncertainty lengths.toml\n`;
    },
  };
}

/** Of the guided tour. */
export const steps = [
  ["#one", "Ten orthonormal keys; keys 0 and 1 should be averaged. The length of key 0 is random. One query for both keys rarely averages them: it copies one, or mixes them unevenly."],
  ["#two", "With one head for each key the mean is right whenever both heads find their key. The probability is much higher, and it is proved."],
  ["#curve", "Longer queries do not help one head. Two heads reach the dashed line at most: with the remaining probability key 0 has the opposite direction.", "Longer queries"],
  ["#robust", "One head suffices with another query. This one is proved for every length of key 0 within four standard deviations: it gives the other keys negative scores.", "Textbook example"],
  ["#story", "The proof covers only the noise that was modelled. With noise in all keys, the design for noise in key 0 does not always succeed.", "All keys random"],
];
