// Audit: the heads of a model as a map, one head, one of its rows, and bounds over all texts of a length.
import { down, h, put, s, shown, speak, up } from "../common/dom.js";
import { choice, number, text } from "../common/state.js";
import { button, complain, controls, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { Asker } from "../common/request.js";
import { download, literal, quoted } from "../common/export.js";
import { open } from "../common/view.js";

const BUILT_IN = "builtin:induction";
const MOST_BYTES = 64 * 2 ** 20;
const KEPT = "headwright-audit";
const ball = (head) => { const held = head.ball_away?.quantiles?.["0.5"]; return held ?? null; };
const mean = (name) => (head) => head[name]?.value ?? null;
// name, title, what it means, value of a head, largest (null: the largest of the model)
const MEASURES = [
  ["previous_away", "previous token", "mean weight of the previous token, first token excluded", mean("previous_away"), 1],
  ["induction_away", "induction", "on repeated random tokens: mean weight of the token after the previous occurrence", mean("induction_away"), 1],
  ["induction_long_away", "long induction", "the same on random tokens that fill the longest context", mean("induction_long_away"), 1],
  ["sink", "first token", "mean weight of the first token", mean("sink"), 1],
  ["self_away", "own token", "mean weight of the row's own token, first token excluded", mean("self_away"), 1],
  ["duplicate_away", "equal tokens", "mean weight of earlier equal tokens, first token excluded", mean("duplicate_away"), 1],
  ["copying_away", "copies one key", "fraction of rows that give one key 10/11 or more, first token excluded", mean("copying_away"), 1],
  ["averaging_away", "averages", "fraction of rows with equal weights on 3 keys or more, first token excluded", mean("averaging_away"), 1],
  ["ball", "key tolerance", "the relative distance that all keys may move before the strongest key of a row may change; median over rows", ball, null],
  ["int4", "keys in 4 bits", "total variation of the pattern when keys are rounded to int4 per token", (head) => head.rounding?.["int4 a token"]?.tv?.value ?? null, null],
  ["qk", "rank of QK", "the smallest rank that keeps 90% of QK (proved)", (head) => head.rank?.qk?.rank ?? null, null],
];
const BARS = ["previous_away", "induction_away", "induction_long_away", "sink", "self_away", "duplicate_away", "copying_away", "averaging_away"];

const fields = {
  measure: choice("induction_away", MEASURES.map(([name]) => name)),
  layer: number(1, { least: 0, most: 999, whole: true }),
  head: number(0, { least: 0, most: 999, whole: true }),
  text: text("the cat sat on the mat. the cat sat on the mat.", { longest: 400 }),
  row: number(29, { least: 2, most: 95, whole: true }),
  length: number(16, { least: 2, most: 48, whole: true }),
};
const presets = [
  ["Induction head", {}],
  ["Previous-token head", { measure: "previous_away", layer: 0, head: 0 }],
  ["First-token head (attention sink)", { measure: "sink", layer: 0, head: 1, length: 48 }],
  ["Repeated random letters", { text: "qxzjvkwpbgqxzjvkwpbg", row: 15 }],
];

const ODD = "parts of this file are not in the format of “headwright audit MODEL --json”";

/** The error in an audit file, or null. */
function wrong(report) {
  if (typeof report !== "object" || report === null || !Array.isArray(report.heads) || typeof report.model?.name !== "string") return "this is not an audit: expected the output of “headwright audit MODEL --json”";
  if (!report.heads.length || !report.heads.every((one) => Number.isInteger(one?.layer) && Number.isInteger(one?.head) && Array.isArray(one.roles))) return "this audit has no readable heads";
  if (!report.heads.every((one) => MEASURES.every(([, , , value]) => value(one) === null || Number.isFinite(value(one))))) return ODD;
  return null;
}

function build(main, state) {
  let report = null; // the audit shown
  let own = null; // of the built-in model
  let auditing = false; // it was requested
  let told = null; // a row
  let everywhere = null;
  const foreign = () => report !== null && report !== own;

  const title = h("p", { class: "headline" });
  const sentences = h("ul", { class: "summary" });
  const map = s("svg", { class: "map", role: "group", "aria-label": "Heads of the model" });
  const mapWords = h("span", {});
  const mapFigure = h("figure", { id: "map" }, h("figcaption", {}, h("b", {}, "Layers and heads"), mapWords), map);
  const about = h("section", { class: "panel", id: "head", "aria-label": "One head" });
  const row = h("section", { class: "panel", id: "row", "aria-label": "A row of this head" });
  const texts = h("section", { class: "panel", id: "texts", "aria-label": "All texts" });
  const overview = h("section", { class: "panel", id: "report", "aria-label": "The report" }, title, sentences);

  const file = h("input", { type: "file", id: "field-report", accept: ".json,application/json", class: "unseen" });
  file.addEventListener("change", () => { if (file.files[0]) opened(file.files[0]); file.value = ""; });
  const back = button("Back to the built-in model", () => { forget(); show(own); }, { hidden: true });
  const measure = h("select", { id: "field-measure" }, ...MEASURES.map(([name, said]) => h("option", { value: name }, said)));
  measure.addEventListener("change", () => state.set({ measure: measure.value }));
  const reading = h("textarea", { id: "field-text", rows: 3, maxlength: 400, spellcheck: "false" });
  reading.addEventListener("input", () => state.set({ text: reading.value }, { settle: false }));
  reading.addEventListener("change", () => state.settle());
  const complaint = (name) => h("p", { class: "error", id: `error-${name}`, role: "alert", hidden: true });
  const local = group("All texts", slider(state, "length", "number of tokens", { least: 2, most: 48, step: 1, note: "Bounds for the first layer hold for all texts of this length." }));
  const run = group("Text", h("div", { class: "control" }, h("label", { for: "field-text" }, "at least 16 letters, digits or . , ! ? : -"), reading, complaint("text")),
    slider(state, "row", "row", { least: 2, most: 95, step: 1 }));
  main.append(h("div", { class: "layout" }, controls(
    group("Head", h("div", { class: "control" }, h("label", { for: "field-measure" }, "colour by"), measure), slider(state, "layer", "layer", { least: 0, most: 127, step: 1 }), slider(state, "head", "head", { least: 0, most: 127, step: 1 })),
    run, local,
    group("Another model", h("p", { class: "control" }, file, h("label", { class: "button", for: "field-report" }, "Open an audit (.json)"), complaint("report")), back,
      h("p", { class: "note" }, "Make one with ", h("code", {}, "headwright audit MODEL --json > audit.json"), ". The file stays in this browser; links do not contain it."))),
  h("div", { class: "stage" }, refusals(), overview, h("div", { class: "planes" }, mapFigure, about), row, texts)));

  const busy = (...boxes) => (yes) => { for (const box of boxes) box.classList.toggle("stale", yes); };
  const auditor = new Asker("audit", { state, what: "Auditing", wait: 0, waiting: busy(overview, mapFigure, about), answered(found) { own = found; forgive(state); if (!foreign()) show(own); }, failed: (sentence, where) => refuse(state, sentence, where) });
  const explainer = new Asker("explain", { state, what: "Computing the row", wait: 200, waiting: busy(row), answered(found) { told = found; forgive(state); drawRow(); }, failed(sentence, where) { told = null; row.replaceChildren(h("h2", {}, "Row"), h("p", { class: "note" }, "See the error message.")); refuse(state, sentence, where); } });
  const prover = new Asker("every_text", { state, what: "Computing bounds for all texts", wait: 200, waiting: busy(texts), answered(found) { everywhere = found.every_text; forgive(state); drawTexts(); }, failed: (sentence, where) => refuse(state, sentence, where) });

  async function opened(chosen) {
    const place = document.getElementById("error-report");
    const complain = (sentence) => { place.textContent = sentence; place.hidden = !sentence; };
    if (chosen.size > MOST_BYTES) return complain("this file is larger than 64 MiB");
    let found;
    let reason;
    try { found = JSON.parse(await chosen.text()); reason = wrong(found); } catch { reason = "this is not JSON: expected the output of “headwright audit MODEL --json”"; }
    complain(reason ?? "");
    if (reason) return undefined;
    if (!shownWhole(found)) return complain(ODD);
    try { sessionStorage.setItem(KEPT, JSON.stringify(found)); } catch { /* too large to be kept over a reload */ }
    return undefined;
  }
  /** Show a report that came from outside; where that fails, go back to our own. */
  function shownWhole(found) {
    try { show(found); return true; } catch { forget(); show(own); return false; }
  }
  function forget() { try { sessionStorage.removeItem(KEPT); } catch { /* nothing is kept then */ } }

  const chosen = () => report?.heads.find((one) => one.layer === state.values.layer && one.head === state.values.head);
  function show(found) {
    report = found;
    if (!found) return;
    back.hidden = !foreign();
    run.hidden = foreign();
    local.hidden = foreign();
    if (!chosen() && foreign()) state.set({ layer: found.heads[0].layer, head: found.heads[0].head }); // the file has other heads than the model before
    for (const name of ["layer", "head"]) for (const input of main.querySelectorAll(`#field-${name}, #field-${name}-slider`)) input.max = Math.max(...found.heads.map((one) => one[name]));
    checkHead();
    drawAll();
    speak(`${found.model.name}: ${found.heads.length} heads`);
  }
  /** Whether the selected head exists; if not, an error beside the control says which do. */
  function checkHead() {
    const { layer, head } = state.values;
    const [layers, heads] = ["layer", "head"].map((name) => Math.max(...report.heads.map((one) => one[name])));
    complain(state, "head", chosen() ? null : `${report.model.name} has no head ${layer}.${head}: layers are 0 to ${layers}, heads 0 to ${heads}`);
    return Boolean(chosen());
  }
  function drawAll() { drawReport(); drawMap(); drawHead(); drawRow(); drawTexts(); }

  /** On which random tokens a measure was taken; nothing for measures that are not about such. */
  function repeats(name) {
    const on = report.measured_on?.induction?.[name.replace(/_away$/, "")];
    return Number.isInteger(on?.period) && Number.isInteger(on?.context) ? ` (period ${on.period}, contexts of ${on.context} tokens)` : "";
  }

  function drawReport() {
    const { model, measured_on: on, summary } = report;
    const context = Number.isInteger(on?.context) ? `, contexts of up to ${on.context} tokens` : "";
    title.replaceChildren(h("b", { class: "badge" }, model.name), ` ${report.heads.length} heads; ${on?.rows ?? "?"} rows each${context}${foreign() ? "; from a file; its numbers are not verified here" : ""}.`);
    const lines = (summary ?? []).map((line) => h("li", {}, String(line)));
    sentences.replaceChildren(...lines.slice(0, 3));
    overview.querySelector("details")?.remove();
    if (lines.length > 3) overview.append(h("details", {}, h("summary", {}, `${lines.length - 3} more findings`), h("ul", { class: "summary" }, ...lines.slice(3))));
  }

  function drawMap() {
    const [, said, meaning, value, largest] = MEASURES.find(([name]) => name === state.values.measure);
    const rows = [...new Set(report.heads.map((one) => one.layer))].sort((a, b) => a - b);
    const columns = [...new Set(report.heads.map((one) => one.head))].sort((a, b) => a - b);
    const side = Math.max(13, Math.min(170, 400 / Math.max(columns.length, rows.length)));
    const left = side >= 40 ? 60 : 34;
    put(map, { viewBox: `0 0 ${Math.max(440, left + side * columns.length + 4)} ${26 + side * rows.length}` });
    map.classList.toggle("small", side < 24);
    const values = report.heads.map(value);
    const most = largest ?? Math.max(1e-12, ...values.map((x) => x ?? 0));
    const focused = map.contains(document.activeElement);
    map.replaceChildren(...columns.filter((_, j) => side >= 24 || j % 4 === 0).map((j) => s("text", { class: "tick", x: left + (columns.indexOf(j) + 0.5) * side, y: 12, "text-anchor": "middle" }, side >= 40 ? `head ${j}` : String(j))),
      ...rows.filter((_, i) => side >= 18 || i % 4 === 0).map((i) => s("text", { class: "tick", x: left - 6, y: 22 + (rows.indexOf(i) + 0.5) * side, "text-anchor": "end" }, side >= 40 ? `layer ${i}` : String(i))));
    report.heads.forEach((one, index) => {
      const [x, y] = [left + columns.indexOf(one.head) * side, 18 + rows.indexOf(one.layer) * side];
      const mine = one === chosen();
      const number = values[index];
      const roles = one.roles.map((role) => role.name).join(", ");
      const cell = s("g", { class: mine ? "head chosen" : "head", role: "button", tabindex: mine ? 0 : -1, "aria-pressed": String(mine), "aria-label": `head ${one.layer}.${one.head}, ${said} ${number === null ? "not measured" : shown(number)}${roles ? `, ${roles}` : ""}` },
        s("rect", { class: "back", x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: Math.min(5, side / 6) }),
        s("rect", { class: number === null ? "cell none" : "cell low", "fill-opacity": number === null ? 1 : Math.max(0, Math.min(1, number / most)).toFixed(3), x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: Math.min(5, side / 6) }),
        side >= 40 && s("text", { class: number / most > 0.55 ? "on" : "off", x: x + side / 2, y: y + side / 2 + 5, "text-anchor": "middle" }, number === null ? "–" : Number.isInteger(number) ? String(number) : number.toFixed(2)),
        mine && s("rect", { class: "frame", x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: Math.min(5, side / 6) }),
        s("title", {}, `${one.layer}.${one.head}: ${number === null ? "not measured" : shown(number, 4)}`));
      cell.addEventListener("click", () => state.set({ layer: one.layer, head: one.head }));
      cell.addEventListener("keydown", (event) => {
        const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
        if (!dx && !dy) return;
        event.preventDefault();
        const to = { layer: rows[rows.indexOf(one.layer) + dy], head: columns[columns.indexOf(one.head) + dx] };
        if (report.heads.some((other) => other.layer === to.layer && other.head === to.head)) state.set(to);
      });
      map.append(cell);
    });
    if (focused) map.querySelector(".chosen")?.focus();
    mapWords.textContent = `One row for each layer; click a head. Colour: ${meaning}${repeats(state.values.measure)}${values.includes(null) ? "; grey: not measured" : ""}`;
  }

  function drawHead() {
    const one = chosen();
    if (!one) { about.replaceChildren(h("h2", {}, `Head ${state.values.layer}.${state.values.head}`), h("p", {}, "There is no such head.")); return; }
    const roles = one.roles.length ? one.roles.map((role) => h("li", {}, h("b", {}, role.name), Number.isInteger(role.context) ? ` (period ${role.period}, contexts of ${role.context} tokens)` : "", role.sure === false ? " (uncertain: the confidence interval reaches below 1/2)" : "", report.meanings?.[`role ${role.name}`] ? `: ${report.meanings[`role ${role.name}`]}` : "")) : [h("li", {}, "No known role.")];
    const bars = s("svg", { viewBox: `0 0 440 ${BARS.length * 26 + 24}`, role: "img", "aria-label": `Measures of head ${one.layer}.${one.head}` });
    const x = (value) => 120 + 256 * Math.max(0, Math.min(1, value));
    BARS.forEach((name, i) => {
      const held = one[name];
      const y = 4 + i * 26;
      bars.append(s("text", { class: "tick", x: 112, y: y + 15, "text-anchor": "end" }, MEASURES.find(([other]) => other === name)[1]), s("rect", { class: "track", x: 120, y: y + 3, width: 256, height: 16, rx: 3 }));
      if (!held) { bars.append(s("text", { class: "tick", x: 126, y: y + 15 }, "not measured")); return; }
      bars.append(s("rect", { class: name === state.values.measure ? "bar-target" : "bar-key", x: 120, y: y + 3, width: x(held.value) - 120, height: 16, rx: 3 }));
      if (Number.isFinite(held.low) && Number.isFinite(held.high)) bars.append(s("line", { class: "wanted", x1: x(held.low), x2: x(held.high), y1: y + 11, y2: y + 11 }));
      bars.append(s("text", { class: "tick", x: 382, y: y + 15 }, shown(held.value)), s("title", {}, ""));
      const interval = Number.isFinite(held.low) && Number.isFinite(held.high) ? `between ${down(held.low)} and ${up(held.high)}` : held.interval ?? "no interval";
      bars.lastChild.textContent = `${name}${repeats(name)}: ${shown(held.value, 4)}, ${interval}`;
    });
    const space = ball(one);
    const int4 = one.rounding?.["int4 a token"];
    about.replaceChildren(h("h2", {}, `Head ${one.layer}.${one.head}`), h("ul", { class: "summary" }, ...roles), bars,
      h("p", { class: "note" }, `Means over rows. ${report.measured_on?.intervals ?? ""} Intervals are black lines. All but “first token” exclude the first token.`),
      h("p", { class: "facts" }, space !== null && space !== undefined ? `Half of the rows keep their strongest key as long as no key moves by more than ${shown(100 * space, 2)}% of the mean key length. ` : "",
        int4 ? `Rounding keys to 4 bits changes the pattern by ${shown(int4.tv.value)} (total variation). ` : "", one.rank?.qk ? `Rank that keeps 90%: ${one.rank.qk.rank} of ${one.rank.qk.of} in QK, ${one.rank.ov?.rank ?? "?"} in OV (${foreign() ? "proved, according to the file" : "proved"}).` : ""));
  }

  /** Tokens coloured by weight; each selects its row. */
  function strip(tokens, weights, at, choose) {
    return h("div", { class: "strip", role: "group", "aria-label": "Tokens; select a row" }, ...tokens.map((token, i) => {
      const weight = weights[i] ?? 0;
      const face = h(choose ? "button" : "span", { type: choose ? "button" : null, class: i === at ? "token at" : i > at ? "token later" : "token", "aria-pressed": choose ? String(i === at) : null, disabled: choose && i < 2, tabindex: choose ? (i === at ? 0 : -1) : null, title: `${i}: ${shown(weight, 4)}`, "aria-label": choose ? `row ${i}, token ${token}, weight ${shown(weight)}` : null }, token);
      face.classList.toggle("heavy", weight > 0.45 && i <= at);
      face.style.setProperty("--weight", Math.round(100 * Math.min(1, weight)));
      if (choose && i >= 2) face.addEventListener("click", () => choose(i));
      if (choose) face.addEventListener("keydown", (event) => {
        const to = { ArrowLeft: state.values.row - 1, ArrowRight: state.values.row + 1, Home: 2, End: tokens.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(Math.max(2, Math.min(tokens.length - 1, to)));
      });
      return face;
    }));
  }

  function drawRow() {
    if (!report) return;
    if (!chosen()) { row.replaceChildren(h("h2", {}, "Row"), h("p", {}, "There is no such head.")); return; }
    if (foreign()) { drawExamples(); return; }
    if (!told || !told.rows.length) return;
    const one = told.rows[0];
    const weights = told.pattern[told.positions.indexOf(one.position)] ?? [];
    const best = one.best[0];
    const focused = row.querySelector(".strip")?.contains(document.activeElement);
    row.replaceChildren(h("h2", {}, `Row ${one.position} of head ${told.layer}.${told.head}: attention of “${one.token}”`),
      strip(told.tokens, weights, one.position, (i) => state.set({ row: i })),
      h("p", { class: "note" }, "Colour: weight (floating-point). Framed: the selected row. Click a token to select its row, or use the arrow keys."),
      h("p", {}, best ? `Highest weight: “${best.token}” at position ${best.position} (${shown(best.weight)}), ${one.position - best.position === 0 ? "the token itself" : `${one.position - best.position} back`}${followed(told.tokens, one.position, best.position)}.` : "All weights are negligible."),
      designed(one));
    if (focused) row.querySelector(".token.at")?.focus({ preventScroll: true });
  }
  const followed = (tokens, at, where) => (where > 0 && where < at && tokens[where - 1] === tokens[at] ? `, after the previous “${tokens[at]}”` : "");

  /** The shortest query with the same effect, compared with the head's own. */
  function designed(one) {
    const short = one.shortest;
    if (!short) return h("p", {}, "");
    if (short.verdict !== "designed") return h("div", { class: "same" }, h("h3", {}, "Shortest query with the same effect"), h("p", {}, `${short.verdict}: ${short.words}`));
    const times = short.own / short.length;
    return h("div", { class: "same", id: "same" }, h("h3", {}, "Shortest query with the same effect"),
      h("p", {}, h("b", { class: "badge proved" }, "Verified."), ` A query of length ${up(short.length)} gives key ${one.best[0].position} the same weight up to 1e−6; no query shorter than ${down(short.bound)} does. The head's own query has length ${shown(short.own)}${times > 1.05 ? `, ${shown(times, 1)} times as long` : ""}.`),
      h("details", {}, h("summary", { class: "note" }, "What exactly was proved"), h("p", { class: "words" }, short.words)),
      short.certificate && h("div", { class: "row-of" }, button("Download certificate", () => download("certificate.json", short.certificate))));
  }

  function drawExamples() {
    const mine = (report.examples ?? []).filter((one) => one.layer === state.values.layer && one.head === state.values.head && Array.isArray(one.rows));
    const command = `headwright audit ${quoted(report.model.name)} --explain ${state.values.layer}.${state.values.head}`;
    row.replaceChildren(h("h2", {}, `Rows of head ${state.values.layer}.${state.values.head}`),
      ...(mine.length ? mine.flatMap((example) => [h("p", {}, `Example of “${example.title}”, on ${example.document}:`), ...example.rows.map((one) => h("div", {}, h("p", { class: "note" }, `Row ${one.position}: … ${(one.before ?? []).join(" ")} ▸ ${one.token}`), strip((one.best ?? []).map((key) => `${key.token} (${key.position})`), (one.best ?? []).map((key) => key.weight), Infinity, null)))]) : [h("p", {}, "The file contains no rows of this head.")]),
      h("p", { class: "note" }, "For more rows and the shortest query: ", h("code", {}, command)));
  }

  function drawTexts() {
    if (!report) return;
    if (!chosen()) { texts.replaceChildren(h("h2", {}, "All texts"), h("p", {}, "There is no such head.")); return; }
    const all = foreign() ? report.every_text ?? [] : everywhere;
    const which = state.values.layer === 0 ? state.values.head : (all?.[0]?.head ?? 0);
    const heading = h("h2", {}, `Head 0.${which} on all texts${all?.length ? ` of ${all[0].length} tokens` : ""}`);
    if (!all) return;
    const deeper = state.values.layer !== 0;
    const mine = all.filter((one) => one.head === which);
    if (!mine.length) { texts.replaceChildren(heading, h("p", {}, foreign() ? `The file has no bounds for this head${report.no_every_text ? `: ${report.no_every_text}` : "."}` : "No bounds for this head.")); return; }
    const by = foreign() ? "proved, according to the file," : "proved";
    const part = (name, one, round) => h("td", {}, h("b", {}, round(one.bound, 4)), h("span", { class: "note" }, ` run: ${shown(one.run)}`));
    const strongest = mine.reduce((a, b) => (b.least.bound > a.least.bound ? b : a));
    const verdict = strongest.always_half === strongest.queries ? `On every text${strongest.queries < (strongest.choices ?? 0) ? ` that ends in one of ${strongest.queries} tokens` : ""}, the ${strongest.place} token gets weight 1/2 or more.` : strongest.always_half ? `For ${strongest.always_half} of ${strongest.queries} last tokens, the ${strongest.place} token gets weight 1/2 or more on every text.` : `There is no last token for which one place gets weight 1/2 on every text.`;
    texts.replaceChildren(heading, deeper ? h("p", { class: "note" }, `Bounds are computed for the first layer only; the input of head ${state.values.layer}.${state.values.head} depends on the layers before it.`) : "", h("p", { class: "headline" }, h("b", { class: `badge ${foreign() ? "" : "proved"}` }, foreign() ? "From the file." : "Proved."), ` ${verdict}`),
      h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Bounds" }, h("table", {}, h("thead", {}, h("tr", {}, ...["token", "weight at least", "weight at most", "always ≥ 1/2", "never ≥ 1/2"].map((name) => h("th", { scope: "col" }, name)))),
        h("tbody", {}, ...mine.map((one) => h("tr", {}, h("th", { scope: "row" }, one.place), part("least", one.least, down), part("most", one.most, up), h("td", {}, `${one.always_half} of ${one.queries}`), h("td", {}, `${one.never_half} of ${one.queries}`)))))),
      h("h3", {}, `The text with the smallest weight on the ${strongest.place} token`), strip(strongest.least.text, [], strongest.least.text.length - 1, null),
      h("p", { class: "note" }, `Bounds are ${by} for the attention of the last token, over all texts${mine[0].queries < (mine[0].choices ?? 0) ? ` that end in one of ${mine[0].queries} tokens of the text audited` : ""}. ${foreign() ? "" : `They are computed by the audit; “headwright every-text ${BUILT_IN} --length ${state.values.length} --out floor.json” writes a certificate for the independent checker. `}Run: the model's weight on the worst text (floating-point). Always, never: the number of last tokens for which every text, or no text, gives the token weight 1/2 or more.`));
  }

  const question = (values) => ({ head: `${values.layer}.${values.head}`, text: values.text, row: values.row });
  function draw(values, names) {
    measure.value = values.measure;
    if (document.activeElement !== reading) reading.value = values.text;
    if (!own && !auditing) { auditing = true; auditor.ask({}); }
    if (!foreign() && ["layer", "head", "text", "row"].some((name) => names.includes(name))) {
      if (report && !checkHead()) { explainer.cancel(); told = null; drawRow(); }
      else if (values.layer < 2 && values.head < 2) explainer.ask(question(values));
    }
    if (names.includes("length")) prover.ask({ length: values.length });
    if (!report) return;
    drawMap();
    drawHead();
    drawTexts();
    if (foreign()) drawRow();
  }
  try { const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null"); if (kept && !wrong(kept)) queueMicrotask(() => shownWhole(kept)); } catch { forget(); }

  return {
    draw,
    command: () => (foreign() ? `headwright audit --json -- ${quoted(report.model.name)}\n` : `headwright audit ${BUILT_IN}\nheadwright every-text ${BUILT_IN} --length ${state.values.length}\nprintf %s ${quoted(state.values.text)} | headwright audit ${BUILT_IN} --explain ${state.values.layer}.${state.values.head} --text -\n`),
    python: () => `from headwright import audit, load_model\nfrom headwright.models.report.data import data\n\nmodel = load_model(${literal(foreign() ? report.model.name : BUILT_IN)})\nfound = data(audit(model${foreign() ? "" : ", tokens=4000"}))\nprint(*found["summary"], sep="\\n")\n`,
    json: () => report,
    pictures: () => [["heads", map]],
    certificate: () => (foreign() ? null : told?.rows[0]?.shortest?.certificate ?? null),
  };
}

open({
  name: "audit", fields, presets, build,
  steps: [
    ["#map", "A small model with two layers of two heads, trained to continue repeated sequences. Each square is a head; the colour shows one measure."],
    ["#head", "This head attends to the token after the previous occurrence of the current token: an induction head. Bars are means over thousands of rows, with confidence intervals."],
    ["#head", "It uses the output of this head of the first layer, which attends to the previous token.", "Previous-token head"],
    ["#row", "One row: the attention of one letter. Click another letter. Below: the shortest query with the same effect, with a proof that none is shorter."],
    ["#texts", "Means describe a head on some texts. For the first layer, these bounds are proved for all texts of a length. The worst text is shown.", "First-token head (attention sink)"],
  ],
});
