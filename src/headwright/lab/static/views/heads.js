// Heads: from rules to weights: the pattern, queries and keys in a plane, and its size.
import { down, h, listed, s, shown, speak, up } from "../common/dom.js";
import { choice, number, text } from "../common/state.js";
import { button, choose, controls, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { reach } from "../common/connection.js";
import { Asker } from "../common/request.js";
import { post } from "../common/transport.js";
import { lettered } from "../common/formula.js";
import { Plane } from "../common/plane.js";
import { download, here, literal } from "../common/export.js";
import { open } from "../common/view.js";

const TASKS = [["induction", "Induction"], ["previous", "Previous token"], ["first", "First token"], ["lookup", "Look up a fact"], ["majority", "Majority vote"], ["route", "Route to given outputs"]];
const FORMATS = [["torch", "torch"], ["onnx", "ONNX"], ["huggingface", "Hugging Face"], ["arrays", "arrays"]];
const fields = {
  task: choice("induction", TASKS.map(([name]) => name)),
  rules: text("", { longest: 20000 }), // empty: those of the task
  minimise: choice("size", ["size", "rank"]),
  dtype: choice("float64", ["float64", "float32", "bfloat16"]),
  sequence: number(0, { least: 0, most: 7, whole: true }),
};
const presets = [
  ...TASKS.map(([task, said]) => [said, { task }]),
  ["Impossible: a token between others", { task: "route", rules: 'directions = { a = 1.0, b = 1.0 }\ntokens = ["a", "b", "0.5 a + 0.5 b"]\n\n[[rule]] # the third token lies between the others: impossible\ntoken = 0\ncopy = 2\n' }],
];

function build(main, state) {
  let answer = null;
  const texts = {}; // rules of the tasks, once loaded
  const rulesOf = (values) => values.rules || texts[values.task] || "";

  const editor = h("textarea", { id: "field-rules", rows: 18, maxlength: 20000, spellcheck: "false", class: "editor" });
  editor.addEventListener("input", () => state.set({ rules: editor.value === texts[state.values.task] ? "" : editor.value }, { settle: false }));
  editor.addEventListener("change", () => state.settle());
  const verdict = h("section", { class: "panel verdict", id: "verdict", "aria-label": "Verdict" });
  const pattern = s("svg", { role: "img" });
  const patternFigure = h("figure", { id: "pattern" }, h("figcaption", {}, h("b", {}, "Pattern"), h("span", {}, "")), pattern);
  const plane = new Plane("Queries and keys", h("span", {}, ""));
  plane.figure.id = "geometry";
  const legend = h("div", { class: "legend" }, h("span", {}, h("i", {}), "keys"), h("span", {}, h("i", { class: "of-shortest" }), "queries of tokens with a rule"));
  plane.figure.append(legend);
  const sizes = h("section", { class: "panel", id: "sizes", "aria-label": "Sizes" });
  const said = h("p", { class: "note", id: "taken", role: "status" });
  const away = h("section", { class: "panel", id: "away", "aria-label": "Export the weights" }, h("h2", {}, "Export the weights"),
    h("div", { class: "row-of" }, ...FORMATS.map(([name, label]) => button(label, () => take(name, label)))), said);
  main.append(h("div", { class: "layout wide" }, controls(
    group("Rules", h("div", { class: "control" }, h("label", { for: "field-rules" }, "what tokens should attend to or output (TOML)"), editor, h("p", { class: "error", id: "error-rules", role: "alert", hidden: true }))),
    group("Options", choose(state, "minimise", "minimise", [["size", "norm"], ["rank", "dimension"]]), choose(state, "dtype", "number type", [["float64", "f64"], ["float32", "f32"], ["bfloat16", "bf16"]]), slider(state, "sequence", "sequence shown", { least: 0, most: 7, step: 1 }))),
  h("div", { class: "stage" }, refusals(), verdict, h("div", { class: "planes" }, patternFigure, plane.figure), sizes, away)));

  const busy = (yes) => { for (const box of [verdict, patternFigure, plane.figure, sizes]) box.classList.toggle("stale", yes); };
  const asker = new Asker("heads", { state, what: "Building the heads",
    wait: 350, waiting: busy,
    answered(found) { answer = found; forgive(state); drawAll(); speak(`${found.verdict}: ${found.words}`); },
    failed(sentence, where) { answer = null; drawAll(); refuse(state, sentence, where); },
  });
  const question = (values) => ({ rules: rulesOf(values), minimise: values.minimise, dtype: values.dtype });

  async function take(format, label) {
    said.textContent = `Writing for ${label} …`;
    try {
      const found = await post("export", { ...question(state.values), format });
      const bytes = Uint8Array.from(atob(found.zip), (letter) => letter.charCodeAt(0));
      download(`headwright-${format}.zip`, new Blob([bytes], { type: "application/zip" }));
      said.textContent = `${label}: ${found.files.join(", ")}. See README.md for how to run it.`;
    } catch (error) { said.textContent = `${label}: ${error.message}`; }
  }

  async function fetched(task) {
    if (texts[task] !== undefined) return;
    const reply = await reach(`/static/rules/${task}.toml`);
    if (!reply.ok) { refuse(state, `The rules of ${task} could not be loaded (status ${reply.status}).`, "rules"); return; }
    texts[task] = reply.text;
    if (state.values.task === task) draw(state.values, ["task"]);
  }

  function draw(values, names) {
    if (texts[values.task] === undefined && !values.rules) { busy(true); fetched(values.task); return; }
    if (document.activeElement !== editor) editor.value = rulesOf(values);
    if (["task", "rules", "minimise", "dtype"].some((name) => names.includes(name))) { said.textContent = ""; asker.ask(question(values)); } else drawAll();
  }

  function drawAll() {
    const designed = answer?.verdict === "designed";
    for (const box of [patternFigure, plane.figure, sizes, away, legend]) box.hidden = !designed;
    plane.caption.querySelector("b").textContent = answer?.reason ? "Why it is impossible" : "Queries and keys";
    verdict.hidden = !answer;
    verdict.className = `panel verdict ${answer?.verdict ?? ""}`;
    if (!answer) return;
    const word = { designed: ["proved", "Designed."], impossible: ["refuted", "Impossible."] }[answer.verdict] ?? ["", "Undecided."];
    const why = answer.reason;
    if (why) { drawReason(why, word); return; }
    verdict.replaceChildren(h("p", { class: "headline" }, h("b", { class: `badge ${word[0]}` }, word[1]), designed ? ` ${answer.heads.length > 1 ? `${answer.heads.length} heads` : "A head"} of dimension ${answer.head_dim}${proven()} ${answer.heads.length > 1 ? "satisfy" : "satisfies"} all rules${answer.outputs.length ? `; every output has an error of at most ${up(answer.error, 2)}` : ""}.` : ` ${answer.words}`));
    if (!designed) return;
    verdict.append(h("details", {}, h("summary", {}, "What was proved"), h("p", { class: "note" }, answer.words), ...answer.assignment.map((line) => h("p", { class: "note" }, line))));
    if (answer.note) verdict.append(h("p", { class: "note" }, answer.note));
    const last = Math.max(...answer.shown.map((one) => one.sequence));
    for (const input of main.querySelectorAll("#field-sequence, #field-sequence-slider")) input.max = last;
    const found = answer.shown.find((other) => other.sequence === Math.min(state.values.sequence, last) && other.head === 0);
    const twice = new Set(found.labels).size < found.labels.length; // then places tell them apart
    const one = { ...found, labels: found.labels.map((label, i) => (twice ? `${i}: ${label}` : label)) };
    drawPattern(one);
    drawPlane(one);
    drawSizes();
  }
  /** Why a rule is impossible, in words and as a picture: tokens whose mean is also a mean of other tokens. */
  function drawReason({ token, labels, targets, of, points }, word) {
    const named = (i) => `token ${i} (${labels[i]})`;
    const parts = Object.entries(of).filter(([, share]) => share >= 0.01).sort((one, two) => two[1] - one[1]).map(([i, share]) => `${shown(share, 2)} of ${named(i)}`);
    const goals = Object.keys(targets);
    const because = goals.length === 1
      ? `As a vector, ${named(goals[0])} is a convex combination of other tokens: ${listed(parts)}. Its score is the same combination of their scores, so for every head one of them scores at least as high.`
      : `A point between ${listed(goals.map(named))} is also a convex combination of tokens: ${listed(parts)}. So a weighted mean of the targets' scores equals the same combination of all scores, for every head.`;
    verdict.replaceChildren(h("p", { class: "headline" }, h("b", { class: `badge ${word[0]}` }, word[1]), ` No head lets ${named(token)} attend to ${listed(goals.map(named))} as much as the rule asks.`),
      h("p", {}, because), h("details", {}, h("summary", {}, "What was proved"), h("p", { class: "note" }, answer.words)));
    plane.figure.hidden = false;
    plane.fit(1.3 * Math.max(1e-9, ...points.map(([x, y]) => Math.hypot(x, y))));
    const middle = [0, 1].map((k) => Object.entries(targets).reduce((sum, [i, share]) => sum + share * points[i][k], 0));
    const [mx, my] = plane.at(middle);
    plane.under.replaceChildren();
    plane.over.replaceChildren();
    for (const [i, share] of Object.entries(of)) {
      if (share < 0.002) continue;
      const [x, y] = plane.at(points[i]);
      plane.under.append(s("line", { class: "pull", x1: mx, y1: my, x2: x, y2: y, "stroke-width": (1 + 6 * share).toFixed(1) }),
        s("text", { class: "label", x: (mx * 0.45 + x * 0.55).toFixed(1), y: (my * 0.45 + y * 0.55 - 8).toFixed(1), "text-anchor": "middle" }, shown(share, 2)));
    }
    points.forEach((point, i) => {
      const [x, y] = plane.at(point);
      plane.over.append(s("circle", { class: targets[i] ? "bar-target" : "bar-key", cx: x, cy: y, r: targets[i] ? 8 : 6 }), s("text", { class: "label strong", x, y: y + 24, "text-anchor": "middle" }, labels[i]));
    });
    plane.caption.querySelector("span").textContent = " the tokens as vectors, in the plane in which they differ most; orange: the target; lines: the coefficients of the combination (floating-point)";
    plane.say(because);
  }
  const proven = () => (answer.head_dim === answer.head_dim_lower_bound && answer.head_dim > 1 ? " (proved: the smallest possible)" : "");

  function drawPattern(one) {
    const T = one.labels.length;
    const long = Math.max(...one.labels.map((label) => label.length));
    const left = Math.min(150, 14 + 7.4 * long);
    const side = Math.min(78, (440 - left) / T);
    const ruled = new Set(answer.patterns.filter((rule) => rule.sequence === one.sequence).map((rule) => rule.token));
    pattern.replaceChildren();
    pattern.setAttribute("viewBox", `0 0 440 ${side * T + 30}`);
    one.labels.forEach((label, i) => {
      pattern.append(s("text", { class: ruled.has(i) ? "label strong" : "tick", x: left - 8, y: (i + 0.5) * side + 5, "text-anchor": "end" }, label));
      one.pattern[i].forEach((weight, j) => {
        pattern.append(s("rect", { class: "field", x: left + j * side, y: i * side + 1, width: side - 2, height: side - 2, rx: 3 }), s("rect", { class: ruled.has(i) ? "cell high" : "cell low", "fill-opacity": weight.toFixed(3), x: left + j * side, y: i * side + 1, width: side - 2, height: side - 2, rx: 3 }, s("title", {}, `${label} to ${one.labels[j]}: ${shown(weight, 4)}`)));
        if (side > 36 && weight >= 0.005) pattern.append(s("text", { class: weight > 0.6 ? "on" : "off", x: left + (j + 0.5) * side - 1, y: (i + 0.5) * side + 5, "text-anchor": "middle" }, weight.toFixed(2)));
      });
    });
    pattern.append(s("text", { class: "tick", x: left + (side * T) / 2, y: side * T + 20, "text-anchor": "middle" }, "keys, in the same order"));
    pattern.setAttribute("aria-label", `Pattern of sequence ${one.sequence}: ${one.labels.map((label, i) => `${label} attends most to ${one.labels[one.pattern[i].indexOf(Math.max(...one.pattern[i]))]}`).join("; ")}`);
    patternFigure.querySelector("span").textContent = `${answer.heads.length > 1 ? ` head 0 of ${answer.heads.length},` : ""} sequence ${one.sequence}: one row for each query; bold and orange: tokens with a rule (floating-point)`;
  }

  function drawPlane(one) {
    const ruled = new Set(answer.patterns.filter((rule) => rule.sequence === one.sequence).map((rule) => rule.token));
    const longest = (rows) => Math.max(1e-9, ...rows.map(([x, y]) => Math.hypot(x, y)));
    plane.fit(1.25 * Math.max(longest(one.keys), longest(one.queries.filter((_, i) => ruled.has(i)))));
    plane.under.replaceChildren();
    plane.over.replaceChildren();
    const taken = [];
    /** Labels beside points, drawn under the marks; points that coincide share one label. */
    const name = (at, label, strong) => {
      const wide = 7.2 * label.length + 4;
      const end = at[0] + 9 + wide > 436;
      const left = end ? Math.max(0, at[0] - 9 - wide) : at[0] + 9;
      const tries = Array.from({ length: 24 }, (_, k) => at[1] + (k % 2 ? 20 + 15 * ((k - 1) / 2) : -9 - 15 * (k / 2))).filter((y) => y > 10 && y < 432);
      const y = tries.find((one) => !taken.some(([x, to, up]) => left < to && x < left + wide && Math.abs(up - one) < 15)) ?? at[1] - 9;
      taken.push([left, left + wide, y]);
      plane.under.append(s("text", { class: strong ? "label strong" : "label", x: left, y }, label));
    };
    const gathered = (rows, wanted) => {
      const places = [];
      rows.forEach((row, i) => {
        if (!wanted(i)) return;
        const at = plane.at(row);
        const there = places.find((other) => Math.hypot(other.at[0] - at[0], other.at[1] - at[1]) < 3);
        if (there) there.names.push(one.labels[i]); else places.push({ at, names: [one.labels[i]] });
      });
      return places;
    };
    const said = (names) => { const all = [...new Set(names)]; return all.length > 2 ? `${all.slice(0, 2).join(", ")} and ${all.length - 2} more` : all.join(", "); };
    const [ox, oy] = plane.at([0, 0]);
    const [queries, keys] = [gathered(one.queries, (i) => ruled.has(i)), gathered(one.keys, () => true)];
    for (const { at } of [...queries, ...keys]) taken.push([at[0] - 7, at[0] + 7, at[1] + 4]); // labels avoid marks and lines
    for (const { at } of queries) for (let k = 1; k < 20; k++) { const x = ox + ((at[0] - ox) * k) / 20; taken.push([x - 4, x + 4, oy + ((at[1] - oy) * k) / 20 + 4]); }
    for (const { at, names } of queries) {
      plane.over.append(s("line", { class: "shortest", x1: ox, y1: oy, x2: at[0], y2: at[1] }), s("circle", { class: "tip", cx: at[0], cy: at[1], r: 5 }));
      name(at, `query of ${said(names)}`, true);
    }
    for (const { at, names } of keys) { plane.over.append(s("circle", { class: "bar-key", cx: at[0], cy: at[1], r: 6 })); name(at, said(names), false); }
    const part = one.share === 1 ? "the head has at most two dimensions" : `projected to the plane with the largest share of the variance (${shown(100 * one.share, 0)}%)`;
    plane.caption.querySelector("span").textContent = ` a score is the inner product of a query and a key; ${part} (floating-point)`;
    plane.say(`Keys of ${one.labels.join(", ")}, and queries of ${[...ruled].map((i) => one.labels[i]).join(", ")}.`);
  }

  function drawSizes() {
    const { minimised } = answer;
    const rows = [[minimised === "size" ? "Headwright, smallest norm" : "Headwright, smallest dimension", answer.error, answer.frobenius, answer.head_dim]];
    const bound = answer.lower_bound ? `Proved: every head with these attention weights has a ${minimised === "size" ? "Frobenius" : "nuclear"} norm of W_K^T W_Q of at least ${down(answer.lower_bound)}.` : "";
    sizes.replaceChildren(h("h2", {}, "Size of the head"), h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Sizes" }, h("table", {}, h("thead", {}, h("tr", {}, ...["", "largest error (at most)", "norm of W_K^T W_Q (at most)", "head dimension"].map((name) => (name ? h("th", { scope: "col" }, ...lettered(name)) : h("td", {}))))),
      h("tbody", {}, ...rows.map(([name, error, norm, dim]) => h("tr", {}, h("th", { scope: "row" }, name), h("td", {}, error === null || !answer.outputs.length ? "–" : up(error, 2)), h("td", {}, up(norm, 4)), h("td", {}, String(dim))))))),
      h("p", { class: "note" }, ...lettered(bound), ` All errors and norms in the table are proved bounds.`));
  }

  return {
    draw,
    command: () => `${here("rules.toml", rulesOf(state.values))}headwright heads rules.toml --minimise ${state.values.minimise} --dtype ${state.values.dtype} --export weights --out certificate.json\n`,
    python: () => `from headwright.head_design import build, parse_rules\nfrom headwright.head_design.export import export\n\nrules = parse_rules(${literal(rulesOf(state.values))})\nfound = build(rules, minimise="${state.values.minimise}", dtype="${state.values.dtype}")\nprint(found.word, found.words)\nif found.word == "designed":\n    print(found.head_dim, found.frobenius)\n    export(found, "weights")\n`,
    json: () => answer,
    pictures: () => [["pattern", pattern], ["geometry", plane.svg]],
    certificate: () => answer?.certificate ?? null,
  };
}

open({
  name: "heads", fields, presets, build,
  steps: [
    ["#field-rules", "Rules say what a token should attend to or output. Tokens are sums of named directions. Edit the rules, and the head is designed again."],
    ["#verdict", "The search that found the weights need not be trusted: the checker proved this statement for exactly the weights that you can export."],
    ["#geometry", "Each token has a key and a query. A score is their inner product."],
    ["#sizes", "The size of the head. No head that attends as much has a norm below the lower bound."],
    ["#away", "Export exactly these weights for torch, ONNX or Hugging Face."],
    ["#verdict", "Some rules are impossible: a token between two others never gets the highest score. This is proved as well.", "Impossible: a token between others"],
  ],
});
