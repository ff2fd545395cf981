// Conform: a kernel with a seeded mistake, and error / bound over the rows and columns of its output.
import { h, put, s, shown, speak, up } from "../common/dom.js";
import { choice, number } from "../common/state.js";
import { choose, controls, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { Asker } from "../common/request.js";
import { axes } from "../common/chart.js";
import { literal, quoted } from "../common/export.js";
import { open } from "../common/view.js";

const MISTAKES = [["none", "none: a right kernel"], ["window", "window of one key too many"], ["corner", "the other causal corner"], ["future", "one later key seen"], ["scale", "scale too large"], ["fp8-keys", "keys rounded to fp8"], ["fp8-values", "values rounded to fp8"], ["lost-key", "one key left out"], ["zeros", "zeros"]];
const KINDS = [["gaussian", "Gaussian"], ["outliers", "a few large columns"], ["sinks", "a first key with a large score"], ["equal scores", "equal scores"], ["extreme scores", "extreme scores"], ["nearly equal", "nearly equal keys"]];
const TYPES = [["bfloat16", "bf16"], ["float16", "fp16"], ["float32", "fp32"]];
const fields = {
  mistake: choice("window", MISTAKES.map(([name]) => name)),
  window: number(32, { least: 0, most: 512, whole: true }), // 0: none
  percent: number(1, { least: 0, most: 100 }),
  rows: number(128, { least: 1, most: 512, whole: true }),
  keys: number(128, { least: 1, most: 512, whole: true }),
  dim: number(32, { least: 1, most: 128, whole: true }),
  dtype: choice("bfloat16", TYPES.map(([name]) => name)),
  kind: choice("gaussian", KINDS.map(([name]) => name)),
  contract: choice("fused", ["fused", "any"]),
  seed: number(0, { least: 0, most: 1e6, whole: true }),
};
const presets = [
  ["Window off by one", {}],
  ["Right kernel", { mistake: "none" }],
  ["Other causal corner", { mistake: "corner", window: 0, rows: 96, keys: 128 }],
  ["Keys in fp8", { mistake: "fp8-keys", window: 0 }],
  ["Scale 0.1% too large", { mistake: "scale", percent: 0.1, window: 0 }],
  ["Scale 0.1%, in float32", { mistake: "scale", percent: 0.1, window: 0, dtype: "float32" }],
  ["Window of 256 keys", { rows: 512, keys: 512, window: 256 }],
];
const BADGES = { within: ["verified", "proved", "Within"], outside: ["impossible", "refuted", "Outside"], undecided: ["undecided", "undecided", "Undecided"] };
const LEAST = 1e-4; // smaller ratios are drawn as this one
const SIDE = 440; // of the map, in units of its picture

function build(main, state) {
  let answer = null;
  const verdict = h("section", { class: "panel verdict", id: "verdict", "aria-label": "Verdict" });
  const map = s("svg");
  const mapWords = h("span", {});
  const rows = s("svg");
  const rowWords = h("span", {});
  const list = (name, label, options) => {
    const select = h("select", { id: `field-${name}` }, ...options.map(([value, words]) => h("option", { value }, words)));
    select.addEventListener("change", () => state.set({ [name]: select.value }));
    const show = () => { select.value = state.values[name]; };
    state.listen(show);
    show();
    return h("div", { class: "control" }, h("label", { for: `field-${name}` }, label), select, h("p", { class: "error", id: `error-${name}`, role: "alert", hidden: true }));
  };
  const window_ = slider(state, "window", "window (0: none)", { least: 0, most: 512, step: 1 });
  const percent = slider(state, "percent", "scale too large by, in %", { least: 0.01, most: 100, log: true });
  main.append(h("div", { class: "layout" },
    controls(
      group("Kernel", list("mistake", "mistake", MISTAKES), percent, choose(state, "dtype", "number type", TYPES)),
      group("What is asked for", h("p", { class: "note" }, "Causal attention; the last row stands at the last key."), window_, choose(state, "contract", "contract", [["fused", "fused"], ["any", "any that holds"]])),
      group("Inputs", slider(state, "rows", "rows", { least: 1, most: 512, step: 1 }), slider(state, "keys", "keys", { least: 1, most: 512, step: 1 }), slider(state, "dim", "columns", { least: 1, most: 128, step: 1 }), list("kind", "kind", KINDS), slider(state, "seed", "random seed", { least: 0, most: 999, step: 1 }))),
    h("div", { class: "stage" }, refusals(), verdict,
      h("div", { class: "planes" },
        h("figure", { id: "map" }, h("figcaption", {}, h("b", {}, "Error / bound over rows and columns"), mapWords), map,
          h("p", { class: "legend" }, h("span", {}, h("i", { class: "of-within" }), "within the bound"), h("span", {}, h("i", { class: "of-outside" }), "outside"), h("span", {}, h("i", { class: "of-worst" }), "the worst element"))),
        h("figure", { id: "rows" }, h("figcaption", {}, h("b", {}, "The largest of each row"), rowWords), rows)))));

  const asked = ({ contract, window: keys, ...values }) => ({ ...values, window: keys || null, contract: contract === "any" ? null : contract });
  const asker = new Asker("conform", { state, what: "Comparing with float64",
    wait: 120,
    waiting(yes) { for (const one of [verdict, map, rows]) one.classList.toggle("stale", yes); },
    answered(given) { answer = given; forgive(state); drawAll(); },
    failed: (sentence, where) => refuse(state, sentence, where),
  });

  function draw(values) {
    percent.hidden = values.mistake !== "scale";
    asker.ask(asked(values));
  }

  const times = (ratio) => (ratio === null ? "∞" : up(ratio, 3));
  function drawAll() {
    drawVerdict();
    drawMap();
    drawRows();
  }

  function drawVerdict() {
    const [panel, badge, word] = BADGES[answer.verdict];
    put(verdict, { class: `panel verdict ${panel}` });
    const headline = { within: `: at most ${times(answer.ratio)} of what rounding explains.`, outside: `: ${times(answer.ratio)} times what rounding explains.`, undecided: ": nothing is proved about some elements." };
    const passes = Object.entries(answer.tolerances).map(([tolerance, close]) => `${tolerance}: ${close ? "passes" : "fails"}`);
    const { worst } = answer;
    verdict.replaceChildren(
      h("p", { class: "headline" }, h("b", { class: `badge ${badge}` }, word), headline[answer.verdict]),
      h("p", {}, answer.explanation),
      h("dl", { class: "numbers" },
        h("dt", {}, "worst element"), h("dd", {}, `head ${worst.head}, row ${worst.row}, column ${worst.column}: ${shown(worst.value, 5)}, exact ${shown(worst.exact, 5)}`),
        h("dt", {}, "error, bound"), h("dd", {}, `${shown(worst.error, 5)}, ${worst.bound === null ? "–" : up(worst.bound)}`),
        h("dt", {}, "contracts"), h("dd", {}, answer.contracts.map(({ contract, verdict: said, ratio }) => `${contract}: ${said} (${times(ratio)})`).join("; ")),
        h("dt", {}, "allclose"), h("dd", {}, `${passes.join("; ")} (atol = rtol, beside the right kernel)`)),
      h("p", { class: "note" }, "The bound is proved for every order of summation and every tiling; the reference is float64."));
    speak(verdict.querySelector(".headline").textContent);
  }

  const canvas = document.createElement("canvas");
  const dark = () => (document.documentElement.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  /** From 0 to 1: the ratio itself up to 1; above, a full shade from 100 on. */
  const shade = (ratio) => (ratio === null ? 1 : ratio <= 1 ? ratio : Math.min(1, 0.4 + 0.3 * Math.log10(ratio)));
  function drawMap() {
    const { ratios, rows: groups, columns } = answer.map;
    const [count, wide] = [groups.at(-1)[1], columns.at(-1)[1]];
    Object.assign(canvas, { width: columns.length, height: groups.length });
    const context = canvas.getContext("2d");
    const pixels = context.createImageData(columns.length, groups.length);
    const [zero, within, outside] = dark() ? [[29, 32, 35], [86, 180, 233], [255, 157, 77]] : [[255, 255, 255], [0, 114, 178], [196, 60, 0]];
    let k = 0;
    for (const ratio of ratios.flat()) {
      const full = ratio === null || ratio > 1 ? outside : within;
      for (let c = 0; c < 3; c++) pixels.data[k++] = zero[c] + shade(ratio) * (full[c] - zero[c]);
      pixels.data[k++] = 255;
    }
    context.putImageData(pixels, 0, 0);
    const [left, above, right, below] = [44, 24, SIDE - 10, SIDE - 34];
    const x = (column) => left + (column / wide) * (right - left);
    const y = (row) => above + (row / count) * (below - above);
    const over = ratios.flat().filter((ratio) => ratio === null || ratio > 1).length;
    const { worst } = answer;
    put(map, { viewBox: `0 0 ${SIDE} ${SIDE}`, role: "img", "aria-label": `Error divided by bound, head ${worst.head}: ${over} of ${ratios.flat().length} cells are outside, the worst at row ${worst.row}, column ${worst.column}: ${times(answer.ratio)}` });
    map.replaceChildren(
      s("image", { href: canvas.toDataURL(), x: left, y: above, width: right - left, height: below - above, class: "crisp", preserveAspectRatio: "none" }),
      s("rect", { class: "field", x: left, y: above, width: right - left, height: below - above }),
      ...[0, 1, 2, 3, 4].flatMap((part) => [
        s("text", { class: "tick", x: left - 6, y: y((count * part) / 4) + 4, "text-anchor": "end" }, String(Math.round((count * part) / 4))),
        s("text", { class: "tick", x: x((wide * part) / 4), y: below + 15, "text-anchor": "middle" }, String(Math.round((wide * part) / 4)))]),
      s("text", { class: "tick", x: (left + right) / 2, y: SIDE - 4, "text-anchor": "middle" }, "column"), s("text", { class: "tick", x: 4, y: 13 }, "row"),
      s("circle", { class: "worst", cx: x(worst.column + 0.5), cy: y(worst.row + 0.5), r: 7 }));
    mapWords.textContent = `head ${worst.head}; each cell is the worst of its elements. ${over} of ${ratios.flat().length} cells are outside`;
  }

  function drawRows() {
    const values = answer.by_row;
    const power = (ratio) => (ratio === null ? top : Math.max(Math.log10(LEAST), Math.min(top, Math.log10(Math.max(ratio, LEAST)))));
    const top = Math.max(0, ...values.map((ratio) => (ratio === null ? 4 : Math.log10(Math.max(ratio, LEAST))))) > 4 ? 8 : 4;
    const { x, y } = axes(rows, { width: SIDE, height: SIDE, from: 0, to: values.length, top, bottom: -4, across: "row", up: "log₁₀ (error / bound)", ticks: 4 });
    const dots = values.map((ratio, row) => s("circle", { class: ratio === null || ratio > 1 ? "dot-outside" : "dot-within", cx: x(row + 0.5).toFixed(1), cy: y(power(ratio)).toFixed(1), r: values.length > 200 ? 1.6 : 2.4 }));
    rows.append(s("line", { class: "limit", x1: x(0), x2: x(values.length), y1: y(0), y2: y(0) }), ...dots);
    const over = values.filter((ratio) => ratio === null || ratio > 1).length;
    const first = values.findIndex((ratio) => ratio === null || ratio > 1);
    put(rows, { role: "img", "aria-label": `${over} of ${values.length} rows have an element outside the bound${over ? `, the first is row ${first}` : ""}` });
    rowWords.textContent = over ? `${over} of ${values.length} rows are outside, the first is row ${first}; the line is the bound` : "no row is outside; the line is the bound";
  }

  new MutationObserver(() => answer && drawMap()).observe(document.documentElement, { attributes: true, attributeFilter: ["data-theme"] });

  const settings = ({ rows: count, keys, dim, dtype, kind, seed, mistake, percent: by }) => Object.entries({ rows: count, keys, dim, dtype, kind, seed, ...(mistake === "scale" ? { percent: by } : {}) });
  return {
    draw,
    command() {
      const { mistake, window: keys, contract } = state.values;
      const given = settings(state.values).map(([name, value]) => `${name}=${value}`).join(",");
      return `headwright conform ${quoted(`builtin:${mistake},${given}`)} --causal${keys ? ` --window ${keys}` : ""}${contract === "any" ? "" : ` --contract ${contract}`}\n`;
    },
    python() {
      const { mistake, window: keys, contract } = state.values;
      const given = settings(state.values).map(([name, value]) => `${name}=${typeof value === "string" ? literal(value) : value}`).join(", ");
      return `import headwright as hw\nfrom headwright.conformance.demonstration import Demonstration, demonstrate\n\nkernel = Demonstration(${literal(mistake)}, window=${keys || "None"}, ${given})\nq, k, v, out = demonstrate(kernel)\nprint(hw.conform(out, q, k, v, contract=${contract === "any" ? "None" : literal(contract)}, **kernel.described()))\n`;
    },
    json: () => ({ asked: asked(state.values), conform: answer }),
    pictures: () => [["map", map], ["rows", rows]],
  };
}

open({
  name: "conform", fields, presets, build,
  steps: [
    ["#verdict", "A kernel whose window has one key too many. The error is compared with a proved bound on what rounding can do, element by element; then mistakes are tried that would explain it.", "Window off by one"],
    ["#map", "Where the errors are. All rows that the window reaches are outside; before, everything is right."],
    ["#verdict", "A scale that is 0.1% too large hides behind the rounding of bfloat16.", "Scale 0.1% too large"],
    ["#verdict", "In float32 it does not.", "Scale 0.1%, in float32"],
    ["#rows", "With another causal corner, the rows see fewer keys than they should.", "Other causal corner"],
  ],
});
