// Rank: low-rank approximation of a matrix, with a certified error.
import { h, put, s, shown, speak, up } from "../common/dom.js";
import { choice, number, text } from "../common/state.js";
import { button, choose, complain, controls, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { Asker } from "../common/request.js";
import { axes, rounded } from "../common/chart.js";
import { normal } from "../common/attention.js";
import { lettered } from "../common/formula.js";
import { here } from "../common/export.js";
import { open } from "../common/view.js";

const SOURCES = [["letters", "picture"], ["smooth", "smooth matrix"], ["noisy", "rank 3 plus noise"], ["random", "random matrix"], ["equal", "equal singular values"], ["head", "head of the built-in model"], ["yours", "your image"]];
const HEADS = [["00", "0.0"], ["01", "0.1"], ["10", "1.0"], ["11", "1.1"]];
const SIDE = 64; // of a user's image, so that it fits in a link
const fields = {
  source: choice("letters", SOURCES.map(([name]) => name)),
  by: choice("rank", ["rank", "tolerance"]),
  rank: number(6, { least: 1, most: 128, whole: true }),
  tolerance: number(1, { least: 0.0001, most: 1000 }),
  size: number(48, { least: 4, most: 96, whole: true }),
  noise: number(0.2, { least: 0, most: 2 }),
  seed: number(1, { least: 0, most: 1e6, whole: true }),
  head: choice("01", HEADS.map(([name]) => name)),
  circuit: choice("qk", ["qk", "ov"]),
  image: text("", { longest: 7000 }), // width, a colon, and a byte for each grey value in base64
};
const presets = [
  ["Picture", {}],
  ["Smooth matrix", { source: "smooth", rank: 3 }],
  ["Rank 3 plus noise", { source: "noisy", rank: 3 }],
  ["Random matrix", { source: "random", rank: 12 }],
  ["Equal singular values", { source: "equal", rank: 15, size: 16 }],
  ["QK of a trained head", { source: "head", rank: 1 }],
  ["Error at most 1", { by: "tolerance", tolerance: 1 }],
  ["OV of a trained head", { source: "head", head: "11", circuit: "ov", rank: 8 }],
];

/** The generated matrices. */
const MADE = {
  letters: ({ size }) => rows(size, (i, j) => {
    const [u, v] = [(j + 0.5) / size, (i + 0.5) / size];
    const ring = Math.hypot(u - 0.33, v - 0.42);
    const bar = u > 0.6 && u < 0.7 && v > 0.15 && v < 0.85;
    const roof = v > 0.15 && v < 0.25 && u > 0.6 && u < 0.9;
    return Math.abs(ring - 0.2) < 0.05 || bar || roof || (Math.abs(u - v) < 0.03 && v > 0.6) ? 1 : 0.15 * u;
  }),
  smooth: ({ size }) => rows(size, (i, j) => 1 / (1 + 4 * ((i - j) / size) ** 2)),
  noisy: ({ size, seed, noise }) => {
    const draw = normal(seed);
    const [a, b] = [0, 1].map(() => Array.from({ length: size }, () => [draw(), draw(), draw()]));
    return rows(size, (i, j) => a[i][0] * b[j][0] + a[i][1] * b[j][1] + a[i][2] * b[j][2] + noise * draw());
  },
  random: ({ size, seed }) => { const draw = normal(seed); return rows(size, () => draw()); },
  equal: ({ size }) => rows(size, (i, j) => Math.sqrt(2 / size) * Math.cos((Math.PI * (i + 0.5) * j) / size) * (j ? 1 : Math.SQRT1_2)),
};
const rows = (size, entry) => Array.from({ length: size }, (_, i) => Array.from({ length: size }, (_, j) => entry(i, j)));

/** An image as text: its width, and a byte a grey value. */
function written(width, greys) { return `${width}:${btoa(String.fromCharCode(...greys))}`; }
function readImage(given) {
  const [width, data] = given.split(":");
  try {
    const bytes = [...atob(data ?? "")].map((c) => c.charCodeAt(0) / 255);
    const wide = Number(width);
    if (!(wide >= 1 && wide <= SIDE) || !bytes.length || bytes.length % wide || bytes.length / wide > SIDE) return null;
    return Array.from({ length: bytes.length / wide }, (_, i) => bytes.slice(i * wide, (i + 1) * wide));
  } catch { return null; }
}

function build(main, state) {
  let parts = null; // matrix, singular values and vectors
  let cut = null; // the certified approximation
  let cutTo = null; // its tolerance
  let of = ""; // the request that `parts` answers

  const maps = Object.fromEntries(["A", "B", "gap"].map((name) => [name, s("svg")]));
  const caption = Object.fromEntries(["A", "B", "gap"].map((name) => [name, h("span", {})]));
  const spectrum = s("svg");
  const kept = s("svg");
  const verdict = h("section", { class: "panel verdict", id: "verdict", "aria-label": "Certified error" });
  const file = h("input", { class: "unseen", type: "file", id: "image", accept: "image/*" });
  const rank = slider(state, "rank", "rank", { least: 1, most: 64, step: 1 });
  const tolerance = slider(state, "tolerance", "largest error (spectral norm)", { least: 0.0001, most: 1000, log: true });
  const steps = h("div", { class: "row-of" }, button("− 1", () => step(-1), { "aria-label": "One rank less" }), button("+ 1", () => step(1), { "aria-label": "One rank more" }));
  const [size, noise, seed] = [slider(state, "size", "rows and columns", { least: 4, most: 96, step: 1 }), slider(state, "noise", "noise", { least: 0, most: 2, step: 0.05 }), slider(state, "seed", "random seed", { least: 0, most: 999, step: 1 })];
  const heads = [choose(state, "head", "layer.head of the built-in model", HEADS), choose(state, "circuit", "matrix", [["qk", "QK (scores)"], ["ov", "OV (output)"]]), h("p", { class: "note" }, "One row and one column for each token. QK: the score of the row’s query with the column’s key, without positions. OV: what attending to the row’s token adds to the column’s logit.")];
  const yours = h("div", {}, h("p", { class: "note" }, `Converted to grey and at most ${SIDE} pixels wide. It stays on this machine; links contain it.`), h("p", {}, h("label", { class: "button", for: "image" }, "Choose an image"), file), h("p", { class: "error", id: "error-image", role: "alert", hidden: true }));
  const select = h("select", { id: "field-source" }, ...SOURCES.map(([name, said]) => h("option", { value: name }, said)));
  select.addEventListener("change", () => state.set({ source: select.value }));
  const figure = (name, title) => h("figure", {}, h("figcaption", {}, h("b", {}, title), caption[name]), maps[name]);
  main.append(h("div", { class: "layout" },
    controls(group("Approximation", choose(state, "by", "choose by", [["rank", "rank"], ["tolerance", "error"]]), rank, steps, tolerance),
      group("Matrix", h("div", { class: "control" }, h("label", { for: "field-source" }, "source"), select, h("p", { class: "error", id: "error-source", role: "alert", hidden: true }), h("p", { class: "error", id: "error-matrix", role: "alert", hidden: true })), size, noise, seed, ...heads, yours)),
    h("div", { class: "stage" }, refusals(),
      h("div", { class: "three matrices" }, figure("A", "A"), figure("B", "B ≈ A"), figure("gap", "A − B")),
      verdict,
      h("div", { class: "planes" },
        h("figure", { id: "spectrum" }, h("figcaption", {}, h("b", {}, "Singular values"), h("span", {}, ...lettered("σ_k is the error of the best approximation of rank k − 1 (floating-point)"))), spectrum, h("p", { class: "legend" }, h("span", {}, h("i", { class: "of-right" }), ...lettered("σ_k")), h("span", {}, h("i", { class: "of-bound" }), ...lettered("|A|_F / √k, an upper bound")))),
        h("figure", { id: "energy" }, h("figcaption", {}, h("b", {}, "Energy kept"), h("span", {}, ...lettered("fraction of |A|_F² in the first singular values (floating-point)"))), kept)))));
  const full = () => parts?.singular_values.length ?? 64;
  const step = (by) => state.set({ rank: Math.min(full(), Math.max(1, state.values.rank + by)) });

  const source = (values) => {
    if (values.source === "head") return { head: { layer: Number(values.head[0]), head: Number(values.head[1]), circuit: values.circuit } };
    if (values.source === "yours") { const image = readImage(values.image); return image && { matrix: image }; }
    return { matrix: MADE[values.source](values) };
  };
  const factorer = new Asker("factors", { state, what: "Decomposing the matrix",
    wait: 60,
    waiting(yes) { for (const one of Object.values(maps)) one.classList.toggle("stale", yes); },
    answered(answer) { parts = answer; forgive(state); drawAll(state.values); certify(); },
    failed: (sentence, where) => refuse(state, sentence, where),
  });
  const certifier = new Asker("lowrank", { state, what: "Certifying",
    wait: 180,
    waiting(yes) { verdict.classList.toggle("stale", yes); },
    answered(answer) { cut = answer; cutTo = state.values.by === "tolerance" ? state.values.tolerance : null; forgive(state); drawAll(state.values); },
    failed: (sentence, where) => refuse(state, sentence, where),
  });
  /** The rank: as chosen, or the smallest certified one for the tolerance; until then, from the singular values. */
  function kept_() {
    const { by, rank: chosen, tolerance: most_ } = state.values;
    if (by === "rank") return Math.min(chosen, full());
    return cut && cutTo === most_ ? cut.rank : parts.singular_values.filter((value) => value > most_).length;
  }
  const wanted = () => (state.values.by === "rank" ? { rank: kept_() } : { tolerance: state.values.tolerance });
  const rowsOf = () => `[${(parts?.matrix ?? []).map((row) => JSON.stringify(row)).join(",\n")}]`;
  const certify = () => { const asked = source(state.values); if (asked && parts) certifier.ask({ ...asked, ...wanted() }); };

  function draw(values, names) {
    select.value = values.source;
    size.hidden = !(values.source in MADE);
    noise.hidden = values.source !== "noisy";
    seed.hidden = !["noisy", "random"].includes(values.source);
    for (const one of heads) one.hidden = values.source !== "head";
    yours.hidden = values.source !== "yours";
    const asked = source(values);
    const now = JSON.stringify(asked);
    complain(state, "image", values.source === "yours" && !asked ? (values.image ? "the image cannot be read: choose another" : "choose an image") : null);
    if (asked && now !== of) { of = now; cut = null; certifier.cancel(); factorer.ask(asked); } else if (parts) { drawAll(values); if (["rank", "by", "tolerance"].some((name) => names.includes(name))) certify(); }
    rank.hidden = values.by !== "rank";
    steps.hidden = values.by !== "rank";
    tolerance.hidden = values.by !== "tolerance";
  }

  /** The approximation in floating point: the first terms of the decomposition. */
  function product(keep) {
    const { left, right, singular_values: values } = parts;
    return left.map((row) => {
      const out = new Float64Array(right[0].length);
      for (let r = 0; r < keep; r++) { const weight = row[r] * values[r]; const line = right[r]; for (let j = 0; j < out.length; j++) out[j] += weight * line[j]; }
      return out;
    });
  }

  const canvas = document.createElement("canvas");
  function paint(svg, matrix, most, title) {
    const [n, d] = [matrix.length, matrix[0].length];
    Object.assign(canvas, { width: d, height: n });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(d, n);
    const dark = (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
    const [zero, high, low] = dark ? [[29, 32, 35], [255, 157, 77], [86, 180, 233]] : [[255, 255, 255], [196, 90, 0], [0, 114, 178]];
    let k = 0;
    for (const row of matrix) for (const x of row) {
      const part = Math.min(1, Math.abs(x) / most);
      const to = x < 0 ? low : high;
      for (let c = 0; c < 3; c++) pixels.data[k++] = zero[c] + part * (to[c] - zero[c]);
      pixels.data[k++] = 255;
    }
    context.putImageData(pixels, 0, 0);
    put(svg, { viewBox: `0 0 ${d} ${n}`, role: "img", "aria-label": title });
    svg.replaceChildren(s("image", { href: canvas.toDataURL(), width: d, height: n, class: "crisp", preserveAspectRatio: "none" }));
  }

  function drawAll(values) {
    const keep = kept_();
    const A = parts.matrix;
    const B = product(keep);
    const gap = A.map((row, i) => row.map((x, j) => x - B[i][j]));
    const most = (given) => given.reduce((top, row) => row.reduce((a, x) => Math.max(a, Math.abs(x)), top), 0);
    const top = most(A) || 1;
    const [n, d] = [A.length, A[0].length];
    paint(maps.A, A, top, `A, ${n} by ${d}`);
    paint(maps.B, B, top, `The approximation of rank ${keep}`);
    paint(maps.gap, gap, top, `The difference, at most ${shown(most(gap))} in an entry`);
    caption.A.textContent = `${n} × ${d}: ${n * d} numbers, at most ${shown(top)} in absolute value`;
    caption.B.textContent = `rank ${keep}: ${keep * (n + d)} numbers in its two factors`;
    caption.gap.textContent = `the error: at most ${shown(most(gap))} in an entry`;
    drawSpectrum(keep);
    drawVerdict();
  }

  function drawSpectrum(keep) {
    const values = parts.singular_values;
    const norm = Math.hypot(...values);
    const last = values.length;
    const top = rounded(norm || 1);
    const { x, y } = axes(spectrum, { height: 250, from: 0, to: 4 * Math.ceil(last / 4), top, across: "k", up: "spectral norm", ticks: 4 });
    const path = (points, name) => s("path", { class: `curve ${name}`, d: points.map(([a, b], i) => `${i ? "L" : "M"}${x(a).toFixed(1)} ${y(b).toFixed(1)}`).join("") });
    spectrum.append(path(values.map((_, i) => [i + 1, norm / Math.sqrt(i + 1)]), "of-bound"), path(values.map((value, i) => [i + 1, value]), "of-right"));
    if (keep < last) spectrum.append(s("line", { class: "limit", x1: x(keep + 1), x2: x(keep + 1), y1: y(0), y2: y(top) }), s("circle", { class: "dot-bound", cx: x(keep + 1), cy: y(norm / Math.sqrt(keep + 1)), r: 4.5 }), s("circle", { class: "dot-right", cx: x(keep + 1), cy: y(values[keep]), r: 4.5 }));
    put(spectrum, { role: "img", "aria-label": keep < last ? `Rank ${keep}: the smallest error is ${shown(values[keep])}; the upper bound is ${shown(norm / Math.sqrt(keep + 1))}` : "Full rank: no error" });
    let sum = 0;
    const shares = [[0, 0], ...values.map((value, i) => { sum += value * value; return [i + 1, norm ? sum / (norm * norm) : 1]; })];
    const on = axes(kept, { height: 250, from: 0, to: 4 * Math.ceil(last / 4), top: 1, across: "rank", up: "fraction", ticks: 4 });
    kept.append(s("path", { class: "curve of-right", d: shares.map(([a, b], i) => `${i ? "L" : "M"}${on.x(a).toFixed(1)} ${on.y(b).toFixed(1)}`).join("") }), s("line", { class: "limit", x1: on.x(keep), x2: on.x(keep), y1: on.y(0), y2: on.y(1) }), s("circle", { class: "dot-right", cx: on.x(keep), cy: on.y(shares[keep][1]), r: 4.5 }));
    put(kept, { role: "img", "aria-label": `Rank ${keep} keeps ${shown(100 * shares[keep][1], 2)}% of the energy` });
  }

  function drawVerdict() {
    const keep = kept_();
    if (!cut || cut.rank !== keep) { if (!cut) verdict.replaceChildren(h("p", { class: "headline" }, "Certifying the error.")); return; }
    put(verdict, { class: "panel verdict verified" });
    const [error, bound] = [cut.error_upper_bound, cut.guarantee];
    verdict.replaceChildren(
      h("p", { class: "headline" }, badge("Proved"), ...lettered(error === 0 ? `: rank ${keep} represents A exactly.` : `: the approximation of rank ${keep} has an error of at most ${up(error)} in spectral norm.`)),
      h("dl", { class: "numbers" },
        h("dt", {}, "proved error"), h("dd", {}, `|A − B|₂ ≤ ${up(error)}`),
        h("dt", {}, "smallest possible"), h("dd", {}, `σ${sub(keep + 1)} = ${shown(cut.next_singular_value)} (floating-point)`),
        h("dt", {}, "bound for any A"), h("dd", {}, ...lettered(`|A|_F / √${keep + 1} ≤ ${up(bound)}${error > 0 ? `, ${shown(bound / error, 2)} times the proved error` : ""}`)),
        h("dt", {}, "energy kept"), h("dd", {}, ...lettered(`${shown(100 * cut.energy, 3)}% of |A|_F² (floating-point), where |A|_F ≤ ${up(cut.frobenius)}`))),
      h("p", { class: "note" }, ...lettered("The bound for any A: the first k singular values are at least σ_k, so k σ_k² ≤ |A|_F². The proof does not rely on the decomposition: an inaccurate one gives a larger bound, not a wrong one. It is about the B that “headwright lowrank” returns; the picture is computed in the browser.")));
    speak(verdict.querySelector(".headline").textContent);
  }
  const sub = (given) => [...String(given)].map((digit) => "₀₁₂₃₄₅₆₇₈₉"[digit]).join("");
  const badge = (said) => h("b", { class: "badge proved" }, said);

  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    file.value = "";
    if (!chosen) return;
    try {
      const bitmap = await createImageBitmap(chosen);
      const scale = Math.min(1, SIDE / Math.max(bitmap.width, bitmap.height));
      const [wide, tall] = [bitmap.width, bitmap.height].map((x) => Math.max(1, Math.round(x * scale)));
      const small = Object.assign(document.createElement("canvas"), { width: wide, height: tall });
      const context = small.getContext("2d");
      context.fillStyle = "white";
      context.fillRect(0, 0, wide, tall);
      context.drawImage(bitmap, 0, 0, wide, tall);
      const { data } = context.getImageData(0, 0, wide, tall);
      const greys = Array.from({ length: wide * tall }, (_, i) => Math.round(0.299 * data[4 * i] + 0.587 * data[4 * i + 1] + 0.114 * data[4 * i + 2]));
      state.set({ source: "yours", image: written(wide, greys), rank: Math.min(state.values.rank, wide, tall) });
    } catch { complain(state, "image", `${chosen.name} cannot be read as an image: choose another`); }
  });
  new MutationObserver(() => parts && drawAll(state.values)).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  return {
    draw,
    command: () => `${here("matrix.json", rowsOf())}headwright lowrank matrix.json --${Object.entries(wanted())[0].join(" ")}\n`,
    python: () => `import numpy as np\nfrom headwright.lowrank import truncate\n\nA = np.array(${rowsOf()})\nresult = truncate(A, ${Object.entries(wanted())[0].join("=")})\nprint(result.error_upper_bound, result.guarantee, result.energy)\n`,
    json: () => ({ asked: parts ? wanted() : null, matrix: parts?.matrix ?? null, lowrank: cut }),
    pictures: () => [...Object.entries(maps), ["spectrum", spectrum], ["energy", kept]],
  };
}

open({
  name: "rank", fields, presets, build,
  steps: [
    [".matrices", "A matrix, its best approximation of small rank, and the difference, on the same colour scale. Change the rank with the slider."],
    ["#verdict", "The error is proved, without relying on the decomposition. For any matrix it is at most |A|_F / √k."],
    ["#spectrum", "The singular values and the upper bound. If they fall quickly, a small rank suffices. If all are equal, the last one attains the bound.", "Equal singular values"],
    ["#energy", "The fraction of the squared norm that is kept. For a picture, a small rank keeps most of it.", "Picture"],
    [".matrices", "The same for a head of a trained model: the scores of all pairs of tokens, without positions.", "QK of a trained head"],
  ],
});
