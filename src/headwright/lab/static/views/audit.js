// Audit: the heads of a model as a map, one head, one of its rows, and bounds over all texts of a length.
import { down, h, put, s, shown, speak, up } from "../common/dom.js";
import { number, text } from "../common/state.js";
import { button, complain, controls, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { Asker } from "../common/request.js";
import { download, literal, quoted } from "../common/export.js";
import { open } from "../common/view.js";

const BUILT_IN = "builtin:induction";
const MOST_BYTES = 64 * 2 ** 20;
const KEPT = "headwright-audit";

/** The measures of a report that have a map. */
const mapped = (report) => report.measures.filter((measure) => measure.map);
/** Those that are shown as bars: means between 0 and 1. */
const barred = (report) => mapped(report).filter((measure) => measure.kind === "mean" && measure.full_colour === 1);
const value = (head, measure) => head[measure.name]?.value ?? null;
/** The unit of a measure, unless its title says it. */
const unit = (measure) => (measure.unit && !measure.title.toLowerCase().includes(measure.unit) ? measure.unit : "");
/** A number as its measure shows it. */
function written(measure, number) {
  const decimals = Number.isInteger(measure.decimals) ? measure.decimals : 2;
  return measure.percent ? `${(100 * number).toFixed(decimals)}%` : number.toFixed(decimals);
}

const fields = {
  measure: text("induction_away", { longest: 60 }),
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
  if (typeof report !== "object" || report === null || !Array.isArray(report.heads) || typeof report.model?.name !== "string") {
    return "this is not an audit: expected the output of “headwright audit MODEL --json”";
  }
  const readable = (head) => Number.isInteger(head?.layer) && Number.isInteger(head?.head) && Array.isArray(head.roles);
  if (!report.heads.length || !report.heads.every(readable)) return "this audit has no readable heads";
  const named = (measure) => typeof measure?.name === "string" && typeof measure.title === "string";
  if (!Array.isArray(report.measures) || !report.measures.every(named)) {
    return "this audit does not say what it measured: make it again with “headwright audit MODEL --json”";
  }
  for (const head of report.heads) {
    for (const measure of report.measures) {
      const number = value(head, measure);
      if (number !== null && !Number.isFinite(number)) return ODD;
    }
  }
  return mapped(report).length ? null : ODD;
}

function build(main, state) {
  let report = null; // the audit shown
  let own = null; // of the built-in model
  let requested = false; // whether this was asked for
  let explained = null; // a row
  let bounds = null; // over all texts
  const fromFile = () => report !== null && report !== own;

  // Panels.
  const title = h("p", { class: "headline" });
  const sentences = h("ul", { class: "summary" });
  const overview = h("section", { class: "panel", id: "report", "aria-label": "The report" }, title, sentences);
  const map = s("svg", { class: "map", role: "group", "aria-label": "Heads of the model" });
  const mapWords = h("span", {});
  const mapFigure = h("figure", { id: "map" }, h("figcaption", {}, h("b", {}, "Layers and heads"), mapWords), map);
  const headPanel = h("section", { class: "panel", id: "head", "aria-label": "One head" });
  const rowPanel = h("section", { class: "panel", id: "row", "aria-label": "A row of this head" });
  const textsPanel = h("section", { class: "panel", id: "texts", "aria-label": "All texts" });

  // Controls.
  const complaint = (name) => h("p", { class: "error", id: `error-${name}`, role: "alert", hidden: true });
  const measureSelect = h("select", { id: "field-measure" });
  measureSelect.addEventListener("change", () => state.set({ measure: measureSelect.value }));
  const headGroup = group("Head",
    h("div", { class: "control" }, h("label", { for: "field-measure" }, "colour by"), measureSelect, complaint("measure")),
    slider(state, "layer", "layer", { least: 0, most: 127, step: 1 }),
    slider(state, "head", "head", { least: 0, most: 127, step: 1 }));
  const textInput = h("textarea", { id: "field-text", rows: 3, maxlength: 400, spellcheck: "false" });
  textInput.addEventListener("input", () => state.set({ text: textInput.value }, { settle: false }));
  textInput.addEventListener("change", () => state.settle());
  const textGroup = group("Text",
    h("div", { class: "control" }, h("label", { for: "field-text" }, "at least 16 letters, digits or . , ! ? : -"), textInput, complaint("text")),
    slider(state, "row", "row", { least: 2, most: 95, step: 1 }));
  const lengthNote = "Bounds for the first layer hold for all texts of this length.";
  const lengthGroup = group("All texts", slider(state, "length", "number of tokens", { least: 2, most: 48, step: 1, note: lengthNote }));
  const file = h("input", { type: "file", id: "field-report", accept: ".json,application/json", class: "unseen" });
  file.addEventListener("change", () => {
    if (file.files[0]) openFile(file.files[0]);
    file.value = "";
  });
  const back = button("Back to the built-in model", () => { forget(); show(own); }, { hidden: true });
  const fileGroup = group("Another model",
    h("p", { class: "control" }, file, h("label", { class: "button", for: "field-report" }, "Open an audit (.json)"), complaint("report")),
    back,
    h("p", { class: "note" }, "Make one with ", h("code", {}, "headwright audit MODEL --json > audit.json"), ". The file stays in this browser; links do not contain it."));
  main.append(h("div", { class: "layout" },
    controls(headGroup, textGroup, lengthGroup, fileGroup),
    h("div", { class: "stage" }, refusals(), overview, h("div", { class: "planes" }, mapFigure, headPanel), rowPanel, textsPanel)));

  // What is asked of the server.
  const busy = (...boxes) => (yes) => { for (const box of boxes) box.classList.toggle("stale", yes); };
  const failed = (sentence, where) => refuse(state, sentence, where);
  const auditor = new Asker("audit", {
    state, failed, what: "Auditing", wait: 0, waiting: busy(overview, mapFigure, headPanel),
    answered(answer) {
      own = answer;
      forgive(state);
      if (!fromFile()) show(own);
    },
  });
  const explainer = new Asker("explain", {
    state, what: "Computing the row", wait: 200, waiting: busy(rowPanel),
    answered(answer) {
      explained = answer;
      forgive(state);
      drawRow();
    },
    failed(sentence, where) {
      explained = null;
      rowPanel.replaceChildren(h("h2", {}, "Row"), h("p", { class: "note" }, "See the error message."));
      refuse(state, sentence, where);
    },
  });
  const prover = new Asker("every_text", {
    state, failed, what: "Computing bounds for all texts", wait: 200, waiting: busy(textsPanel),
    answered(answer) {
      bounds = answer.every_text;
      forgive(state);
      drawTexts();
    },
  });

  // Audits from files.
  async function openFile(chosen) {
    const error = document.getElementById("error-report");
    const say = (sentence) => { error.textContent = sentence; error.hidden = !sentence; };
    if (chosen.size > MOST_BYTES) {
      say("this file is larger than 64 MiB");
      return;
    }
    let content = null;
    let reason = "this is not JSON: expected the output of “headwright audit MODEL --json”";
    try {
      content = JSON.parse(await chosen.text());
      reason = wrong(content);
    } catch { /* the reason stands above */ }
    if (!reason && !showWhole(content)) reason = ODD;
    say(reason ?? "");
    if (reason) return;
    try { sessionStorage.setItem(KEPT, JSON.stringify(content)); } catch { /* too large to be kept over a reload */ }
  }
  /** Show an audit that came from outside; where that fails, go back to our own. */
  function showWhole(content) {
    try {
      show(content);
      return true;
    } catch {
      forget();
      show(own);
      return false;
    }
  }
  function forget() { try { sessionStorage.removeItem(KEPT); } catch { /* nothing is kept then */ } }

  const chosenHead = () => report?.heads.find((head) => head.layer === state.values.layer && head.head === state.values.head);
  const chosenName = () => `${state.values.layer}.${state.values.head}`;
  const largest = (name) => Math.max(...report.heads.map((head) => head[name]));

  function show(content) {
    report = content;
    if (!report) return;
    back.hidden = !fromFile();
    textGroup.hidden = fromFile();
    lengthGroup.hidden = fromFile();
    // A file may have other heads than the model before.
    if (!chosenHead() && fromFile()) state.set({ layer: report.heads[0].layer, head: report.heads[0].head });
    for (const name of ["layer", "head"]) {
      for (const input of main.querySelectorAll(`#field-${name}, #field-${name}-slider`)) input.max = largest(name);
    }
    measureSelect.replaceChildren(...mapped(report).map((measure) => h("option", { value: measure.name }, measure.title)));
    checkHead();
    drawReport();
    drawMap();
    drawHead();
    drawRow();
    drawTexts();
    speak(`${report.model.name}: ${report.heads.length} heads`);
  }
  /** Whether the selected head exists; if not, an error beside the control says which do. */
  function checkHead() {
    const missing = `${report.model.name} has no head ${chosenName()}: layers are 0 to ${largest("layer")}, heads 0 to ${largest("head")}`;
    complain(state, "head", chosenHead() ? null : missing);
    return Boolean(chosenHead());
  }

  /** On which random tokens a measure was taken; nothing for measures that are not about such. */
  function repeats(measure) {
    const on = report.measured_on?.induction?.[measure.repeated];
    return Number.isInteger(on?.period) && Number.isInteger(on?.context) ? ` (period ${on.period}, contexts of ${on.context} tokens)` : "";
  }
  /** The measure that the map shows: the one in the address, or the first where the report has no such. */
  function shownMeasure() {
    const name = state.values.measure;
    const found = mapped(report).find((measure) => measure.name === name);
    complain(state, "measure", found ? null : `${report.model.name} has no measure ${name} with a map`);
    return found ?? mapped(report)[0];
  }

  function drawReport() {
    const { model, measured_on: on, summary } = report;
    const context = Number.isInteger(on?.context) ? `, contexts of up to ${on.context} tokens` : "";
    const warning = fromFile() ? "; from a file; its numbers are not verified here" : "";
    title.replaceChildren(h("b", { class: "badge" }, model.name), ` ${report.heads.length} heads; ${on?.rows ?? "?"} rows each${context}${warning}.`);
    const lines = (summary ?? []).map((line) => h("li", {}, String(line)));
    sentences.replaceChildren(...lines.slice(0, 3));
    overview.querySelector("details")?.remove();
    if (lines.length > 3) {
      const rest = h("ul", { class: "summary" }, ...lines.slice(3));
      overview.append(h("details", {}, h("summary", {}, `${lines.length - 3} more findings`), rest));
    }
  }

  function drawMap() {
    const measure = shownMeasure();
    measureSelect.value = measure.name;
    const sorted = (name) => [...new Set(report.heads.map((head) => head[name]))].sort((a, b) => a - b);
    const layers = sorted("layer");
    const numbers = sorted("head");
    const side = Math.max(13, Math.min(170, 400 / Math.max(numbers.length, layers.length)));
    const left = side >= 40 ? 60 : 34;
    const top = 18;
    put(map, { viewBox: `0 0 ${Math.max(440, left + side * numbers.length + 4)} ${26 + side * layers.length}` });
    map.classList.toggle("small", side < 24);
    const values = report.heads.map((head) => value(head, measure));
    const fullColour = measure.full_colour ?? Math.max(1e-12, ...values.map((x) => x ?? 0));
    const focused = map.contains(document.activeElement);

    // The numbers of heads above and of layers beside; of small cells every fourth.
    const ticks = [];
    numbers.forEach((number, j) => {
      if (side < 24 && number % 4 !== 0) return;
      ticks.push(s("text", { class: "tick", x: left + (j + 0.5) * side, y: 12, "text-anchor": "middle" }, side >= 40 ? `head ${number}` : String(number)));
    });
    layers.forEach((layer, i) => {
      if (side < 18 && layer % 4 !== 0) return;
      ticks.push(s("text", { class: "tick", x: left - 6, y: top + 4 + (i + 0.5) * side, "text-anchor": "end" }, side >= 40 ? `layer ${layer}` : String(layer)));
    });
    map.replaceChildren(...ticks);

    report.heads.forEach((head, index) => {
      const x = left + numbers.indexOf(head.head) * side;
      const y = top + layers.indexOf(head.layer) * side;
      const cell = mapCell(head, measure, values[index], fullColour, { x, y, side });
      cell.addEventListener("click", () => state.set({ layer: head.layer, head: head.head }));
      cell.addEventListener("keydown", (event) => {
        const [dx, dy] = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key] ?? [0, 0];
        if (!dx && !dy) return;
        event.preventDefault();
        const to = { layer: layers[layers.indexOf(head.layer) + dy], head: numbers[numbers.indexOf(head.head) + dx] };
        if (report.heads.some((other) => other.layer === to.layer && other.head === to.head)) state.set(to);
      });
      map.append(cell);
    });
    if (focused) map.querySelector(".chosen")?.focus();
    const caption = measure.map.replace("*", ", away from the first token");
    const missing = values.includes(null) ? "; grey: not measured" : "";
    mapWords.textContent = `One row for each layer; click a head. Colour: ${caption}${repeats(measure)}${missing}`;
  }

  /** A cell of the map: a square as opaque as its number is large. */
  function mapCell(head, measure, number, fullColour, { x, y, side }) {
    const chosen = head === chosenHead();
    const share = number === null ? 0 : Math.max(0, Math.min(1, number / fullColour));
    const words = number === null ? "not measured" : written(measure, number);
    const roles = head.roles.map((role) => `, ${role.name}`).join("");
    const square = { x: x + 1, y: y + 1, width: side - 2, height: side - 2, rx: Math.min(5, side / 6) };
    return s("g", {
      class: chosen ? "head chosen" : "head", role: "button", tabindex: chosen ? 0 : -1, "aria-pressed": String(chosen),
      "aria-label": `head ${head.layer}.${head.head}, ${measure.title} ${words}${roles}`,
    },
    s("rect", { class: "back", ...square }),
    s("rect", { class: number === null ? "cell none" : "cell low", "fill-opacity": number === null ? 1 : share.toFixed(3), ...square }),
    side >= 40 && s("text", { class: share > 0.55 ? "on" : "off", x: x + side / 2, y: y + side / 2 + 5, "text-anchor": "middle" }, number === null ? "–" : words),
    chosen && s("rect", { class: "frame", ...square }),
    s("title", {}, `${head.layer}.${head.head}: ${number === null ? words : shown(number, 4)}`));
  }

  function drawHead() {
    const head = chosenHead();
    const heading = h("h2", {}, `Head ${chosenName()}`);
    if (!head) {
      headPanel.replaceChildren(heading, h("p", {}, "There is no such head."));
      return;
    }
    const measures = barred(report);
    const bars = s("svg", { viewBox: `0 0 440 ${measures.length * 26 + 24}`, role: "img", "aria-label": `Measures of head ${chosenName()}` });
    measures.forEach((measure, i) => bars.append(...bar(measure, head[measure.name], 4 + i * 26)));
    headPanel.replaceChildren(heading, h("ul", { class: "summary" }, ...roleItems(head)), bars,
      h("p", { class: "note" }, `Means over rows. ${report.measured_on?.intervals ?? ""} Intervals are black lines. All but “First token” exclude the first token.`),
      h("p", { class: "facts" }, otherNumbers(head)));
  }

  /** The roles of a head, with what they mean. */
  function roleItems(head) {
    if (!head.roles.length) return [h("li", {}, "No known role.")];
    return head.roles.map((role) => {
      const on = Number.isInteger(role.context) ? ` (period ${role.period}, contexts of ${role.context} tokens)` : "";
      const doubt = role.sure === false ? " (uncertain: the confidence interval reaches below 1/2)" : "";
      const meaning = (report.roles ?? []).find((kind) => kind.name === role.name)?.meaning;
      return h("li", {}, h("b", {}, role.name), on, doubt, meaning ? `: ${meaning}` : "");
    });
  }

  /** The bar of a mean at a height y, with its interval. */
  function bar(measure, mean, y) {
    const x = (weight) => 120 + 256 * Math.max(0, Math.min(1, weight));
    const parts = [
      s("text", { class: "tick", x: 112, y: y + 15, "text-anchor": "end" }, measure.title),
      s("rect", { class: "track", x: 120, y: y + 3, width: 256, height: 16, rx: 3 }),
    ];
    if (!mean) return [...parts, s("text", { class: "tick", x: 126, y: y + 15 }, "not measured")];
    const known = Number.isFinite(mean.low) && Number.isFinite(mean.high);
    const interval = known ? `between ${down(mean.low)} and ${up(mean.high)}` : mean.interval ?? "no interval";
    const selected = measure.name === state.values.measure;
    parts.push(s("rect", { class: selected ? "bar-target" : "bar-key", x: 120, y: y + 3, width: x(mean.value) - 120, height: 16, rx: 3 }));
    if (known) parts.push(s("line", { class: "wanted", x1: x(mean.low), x2: x(mean.high), y1: y + 11, y2: y + 11 }));
    parts.push(s("text", { class: "tick", x: 382, y: y + 15 }, shown(mean.value)));
    parts.push(s("title", {}, `${measure.title}${repeats(measure)}: ${shown(mean.value, 4)}, ${interval}`));
    return parts;
  }

  /** The measures that have no bar, in a line; what a file calls proven is not verified here. */
  function otherNumbers(head) {
    const bars = barred(report);
    const numbers = [];
    for (const measure of report.measures) {
      const number = value(head, measure);
      if (!measure.heading || number === null || bars.includes(measure)) continue;
      numbers.push(`${measure.title}: ${written(measure, number)} ${unit(measure)}`.trim());
    }
    const proved = fromFile() ? " Ranks are proved, according to the file." : " Ranks are proved.";
    return numbers.length ? `${numbers.join(" · ")}.${proved}` : "";
  }

  /** Tokens coloured by weight; each selects its row, if `choose` does. */
  function strip(tokens, weights, at, choose) {
    const faces = tokens.map((token, i) => {
      const face = tokenFace(token, i, weights[i] ?? 0, at, Boolean(choose));
      if (!choose) return face;
      if (i >= 2) face.addEventListener("click", () => choose(i));
      face.addEventListener("keydown", (event) => {
        const to = { ArrowLeft: state.values.row - 1, ArrowRight: state.values.row + 1, Home: 2, End: tokens.length - 1 }[event.key];
        if (to === undefined) return;
        event.preventDefault();
        choose(Math.max(2, Math.min(tokens.length - 1, to)));
      });
      return face;
    });
    return h("div", { class: "strip", role: "group", "aria-label": "Tokens; select a row" }, ...faces);
  }
  function tokenFace(token, i, weight, at, selects) {
    const when = i === at ? "token at" : i > at ? "token later" : "token";
    const pressing = selects ? {
      type: "button", "aria-pressed": String(i === at), disabled: i < 2, tabindex: i === at ? 0 : -1,
      "aria-label": `row ${i}, token ${token}, weight ${shown(weight)}`,
    } : {};
    const face = h(selects ? "button" : "span", { class: when, title: `${i}: ${shown(weight, 4)}`, ...pressing }, token);
    face.classList.toggle("heavy", weight > 0.45 && i <= at);
    face.style.setProperty("--weight", Math.round(100 * Math.min(1, weight)));
    return face;
  }

  function drawRow() {
    if (!report) return;
    if (!chosenHead()) {
      rowPanel.replaceChildren(h("h2", {}, "Row"), h("p", {}, "There is no such head."));
      return;
    }
    if (fromFile()) {
      drawExamples();
      return;
    }
    if (!explained || !explained.rows.length) return;
    const row = explained.rows[0];
    const weights = explained.pattern[explained.positions.indexOf(row.position)] ?? [];
    const focused = rowPanel.querySelector(".strip")?.contains(document.activeElement);
    rowPanel.replaceChildren(
      h("h2", {}, `Row ${row.position} of head ${explained.layer}.${explained.head}: attention of “${row.token}”`),
      strip(explained.tokens, weights, row.position, (i) => state.set({ row: i })),
      h("p", { class: "note" }, "Colour: weight (floating-point). Framed: the selected row. Click a token to select its row, or use the arrow keys."),
      h("p", {}, highestWeight(row)),
      shortestQuery(row));
    if (focused) rowPanel.querySelector(".token.at")?.focus({ preventScroll: true });
  }
  /** Which key has the highest weight, and what stands before it. */
  function highestWeight(row) {
    const best = row.best[0];
    if (!best) return "All weights are negligible.";
    const distance = row.position - best.position;
    const back = distance === 0 ? "the token itself" : `${distance} back`;
    const { tokens } = explained;
    const repeated = best.position > 0 && distance > 0 && tokens[best.position - 1] === tokens[row.position];
    const followed = repeated ? `, after the previous “${tokens[row.position]}”` : "";
    return `Highest weight: “${best.token}” at position ${best.position} (${shown(best.weight)}), ${back}${followed}.`;
  }

  /** The shortest query with the same effect, compared with the head's own. */
  function shortestQuery(row) {
    const short = row.shortest;
    if (!short) return h("p", {}, "");
    const heading = h("h3", {}, "Shortest query with the same effect");
    if (short.verdict !== "designed") return h("div", { class: "same" }, heading, h("p", {}, `${short.verdict}: ${short.words}`));
    const times = short.own / short.length;
    const longer = times > 1.05 ? `, ${shown(times, 1)} times as long` : "";
    const sentence = ` A query of length ${up(short.length)} gives key ${row.best[0].position} the same weight up to 1e−6; no query shorter than ${down(short.bound)} does. The head's own query has length ${shown(short.own)}${longer}.`;
    const save = () => download("certificate.json", short.certificate);
    return h("div", { class: "same", id: "same" }, heading,
      h("p", {}, h("b", { class: "badge proved" }, "Verified."), sentence),
      h("details", {}, h("summary", { class: "note" }, "What exactly was proved"), h("p", { class: "words" }, short.words)),
      short.certificate && h("div", { class: "row-of" }, button("Download certificate", save)));
  }

  /** The rows of this head that a file has. */
  function drawExamples() {
    const examples = (report.examples ?? []).filter((example) => example.layer === state.values.layer && example.head === state.values.head && Array.isArray(example.rows));
    const parts = [];
    for (const example of examples) {
      parts.push(h("p", {}, `Example of “${example.title}”, on ${example.document}:`));
      for (const row of example.rows) {
        const best = row.best ?? [];
        const keys = strip(best.map((key) => `${key.token} (${key.position})`), best.map((key) => key.weight), Infinity, null);
        parts.push(h("div", {}, h("p", { class: "note" }, `Row ${row.position}: … ${(row.before ?? []).join(" ")} ▸ ${row.token}`), keys));
      }
    }
    if (!parts.length) parts.push(h("p", {}, "The file contains no rows of this head."));
    const command = `headwright audit ${quoted(report.model.name)} --explain ${chosenName()}`;
    rowPanel.replaceChildren(h("h2", {}, `Rows of head ${chosenName()}`), ...parts,
      h("p", { class: "note" }, "For more rows and the shortest query: ", h("code", {}, command)));
  }

  function drawTexts() {
    if (!report) return;
    if (!chosenHead()) {
      textsPanel.replaceChildren(h("h2", {}, "All texts"), h("p", {}, "There is no such head."));
      return;
    }
    const all = fromFile() ? report.every_text ?? [] : bounds;
    if (!all) return;
    const number = state.values.layer === 0 ? state.values.head : (all[0]?.head ?? 0);
    const heading = h("h2", {}, `Head 0.${number} on all texts${all.length ? ` of ${all[0].length} tokens` : ""}`);
    const weights = all.filter((weight) => weight.head === number);
    if (!weights.length) {
      const why = report.no_every_text ? `: ${report.no_every_text}` : ".";
      textsPanel.replaceChildren(heading, h("p", {}, fromFile() ? `The file has no bounds for this head${why}` : "No bounds for this head."));
      return;
    }
    const deeper = state.values.layer === 0 ? "" : h("p", { class: "note" },
      `Bounds are computed for the first layer only; the input of head ${chosenName()} depends on the layers before it.`);
    const strongest = weights.reduce((a, b) => (b.least.bound > a.least.bound ? b : a));
    const badge = h("b", { class: fromFile() ? "badge" : "badge proved" }, fromFile() ? "From the file." : "Proved.");
    textsPanel.replaceChildren(heading, deeper,
      h("p", { class: "headline" }, badge, ` ${strongestBound(strongest)}`),
      boundsTable(weights),
      h("h3", {}, `The text with the smallest weight on the ${strongest.key} token`),
      strip(strongest.least.text, [], strongest.least.text.length - 1, null),
      h("p", { class: "note" }, boundsNote(weights[0])));
  }
  /** Whether a row may have any token, or only some. */
  const someQueries = (weight) => weight.queries < (weight.choices ?? 0);
  function strongestBound(weight) {
    if (weight.always_half === weight.queries) {
      const which = someQueries(weight) ? ` that ends in one of ${weight.queries} tokens` : "";
      return `On every text${which}, the ${weight.key} token gets weight 1/2 or more.`;
    }
    if (weight.always_half) return `For ${weight.always_half} of ${weight.queries} last tokens, the ${weight.key} token gets weight 1/2 or more on every text.`;
    return "There is no last token for which one key gets weight 1/2 on every text.";
  }
  function boundsTable(weights) {
    const cell = (extreme, round) => h("td", {}, h("b", {}, round(extreme.bound, 4)), h("span", { class: "note" }, ` run: ${shown(extreme.run)}`));
    const headings = ["token", "weight at least", "weight at most", "always ≥ 1/2", "never ≥ 1/2"];
    const lines = weights.map((weight) => h("tr", {}, h("th", { scope: "row" }, weight.key), cell(weight.least, down), cell(weight.most, up),
      h("td", {}, `${weight.always_half} of ${weight.queries}`), h("td", {}, `${weight.never_half} of ${weight.queries}`)));
    return h("div", { class: "scroll", role: "region", tabindex: 0, "aria-label": "Bounds" },
      h("table", {}, h("thead", {}, h("tr", {}, ...headings.map((name) => h("th", { scope: "col" }, name)))), h("tbody", {}, ...lines)));
  }
  function boundsNote(weight) {
    const by = fromFile() ? "proved, according to the file," : "proved";
    const which = someQueries(weight) ? ` that end in one of ${weight.queries} tokens of the text audited` : "";
    const command = `headwright every-text ${BUILT_IN} --length ${state.values.length} --out floor.json`;
    const certificate = fromFile() ? "" : `They are computed by the audit; “${command}” writes a certificate for the independent checker. `;
    return `Bounds are ${by} for the attention of the last token, over all texts${which}. ${certificate}Run: the model's weight on the worst text (floating-point). Always, never: the number of last tokens for which every text, or no text, gives the token weight 1/2 or more.`;
  }

  function draw(values, names) {
    if (document.activeElement !== textInput) textInput.value = values.text;
    if (!own && !requested) {
      requested = true;
      auditor.ask({});
    }
    if (!fromFile() && ["layer", "head", "text", "row"].some((name) => names.includes(name))) {
      if (report && !checkHead()) {
        explainer.cancel();
        explained = null;
        drawRow();
      } else if (values.layer < 2 && values.head < 2) {
        explainer.ask({ head: chosenName(), text: values.text, row: values.row });
      }
    }
    if (names.includes("length")) prover.ask({ length: values.length });
    if (!report) return;
    drawMap();
    drawHead();
    drawTexts();
    if (fromFile()) drawRow();
  }
  // What was open before a reload.
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEPT) ?? "null");
    if (kept && !wrong(kept)) queueMicrotask(() => showWhole(kept));
  } catch { forget(); }

  // What can be copied and taken away.
  function command() {
    if (fromFile()) return `headwright audit --json -- ${quoted(report.model.name)}\n`;
    const { text: words, length } = state.values;
    return `headwright audit ${BUILT_IN}\nheadwright every-text ${BUILT_IN} --length ${length}\nprintf %s ${quoted(words)} | headwright audit ${BUILT_IN} --explain ${chosenName()} --text -\n`;
  }
  function python() {
    const model = literal(fromFile() ? report.model.name : BUILT_IN);
    const tokens = fromFile() ? "" : ", tokens=4000";
    return `from headwright import audit, load_model\n\nmodel = load_model(${model})\nresult = audit(model${tokens})\nprint(*result.to_dict()["summary"], sep="\\n")\n`;
  }
  return {
    draw, command, python,
    json: () => report,
    pictures: () => [["heads", map]],
    certificate: () => (fromFile() ? null : explained?.rows[0]?.shortest?.certificate ?? null),
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
