// Check: an exercise, an answer, how it was read, and the verdict; hints a step at a time; and whole documents.
import { h, put, s, shown, speak } from "../common/dom.js";
import { choice, number, text } from "../common/state.js";
import { button, complain, forgive, group, refusals, refuse, slider } from "../common/controls.js";
import { Asker, post } from "../common/ask.js";
import { axes, rounded } from "../common/chart.js";
import { lettered, typeset } from "../common/formula.js";
import { download, here, literal, quoted } from "../common/take.js";
import { open } from "../common/room.js";
import { counterView } from "./check/counter.js";

const fields = {
  exercise: text("averaging-two", { longest: 60 }),
  answer: text("q = \\frac{1}{\\sqrt 2}(k_a + k_b)", { longest: 8000 }),
  hints: choice("direction", ["none", "direction", "full"]),
  n: number(10, { least: 2, most: 40, whole: true }),
  m: number(2, { least: 1, most: 39, whole: true }),
  eps: number(0.1, { least: 0.0001, most: 0.9999 }),
  large: number(10, { least: 0.1, most: 1000 }),
  length: number(0.5, { least: 0, most: 3 }),
};
const presets = [
  ["The right direction, too short", {}],
  ["Long enough", { answer: "Any $\\lambda$ that is large enough: $q = \\lambda (k_a + k_b)$. If $n = 2$ then even $\\alpha_a = \\frac12$.", hints: "full" }],
  ["Right, with something false besides", { answer: "Take $q = \\lambda (k_a + k_b)$ with a large $\\lambda$.\nThen $\\alpha_a = \\alpha_b = \\frac12$.", n: 20 }],
  ["One key too few", { exercise: "averaging-three", answer: "Let $q = \\lambda (k_a + k_b)$ for a large $\\lambda$." }],
  ["A logarithm that is not enough", { exercise: "averaging-two-bounded", answer: "q = \\ln(n)(k_1 + k_2)" }],
  ["One rank too many", { exercise: "low-rank", answer: "B = \\sum_{i=1}^{k} \\sigma_i u_i v_i^\\top" }],
  ["It restates the question", { exercise: "permutation", answer: "Z_p = P Z" }],
  ["It cannot be read", { answer: "q = \\lambda (k_a + k_b" }],
];
const WORDS = {
  proved: "true for all parameters in range, by proof", holds: "no counterexample among the instances tried; this is no proof",
  "no answer": "not what was asked", refuted: "false, with a counterexample that was evaluated rigorously",
  unreadable: "not a formula that could be read for this exercise", undecided: "no verdict was reached: this says nothing about the answer",
};
const STEPS = { none: "the verdict alone", direction: "which statement fails, and where", full: "everything" };
const kind = (word) => word.replace(" ", "-");
const badge = (word, said = word) => h("b", { class: `badge ${kind(word)}` }, said);
/** A reason that points into a formula keeps its lines. */
const because = (reason) => (reason.includes("\n") ? h("pre", { class: "pointing" }, reason) : h("span", {}, ...lettered(reason)));

function build(main, state) {
  let known = [];
  let about = null; // the exercise that is shown
  let found = null; // the verdict, of `asked`
  let asked = "";
  let pair = null; // the answer beside a right one
  let why = ""; // there is none

  const select = h("select", { id: "field-exercise" }, h("option", { value: state.values.exercise }, state.values.exercise));
  select.addEventListener("change", () => { // another question, no hints yet
    const sheet = known.find((one) => one.id === select.value)?.sheet ?? "";
    state.set({ exercise: select.value, hints: "none", ...(select.value ? { answer: sheet.split("\n\n").slice(1).join("\n\n").trim() } : {}) });
  });
  const area = h("textarea", { id: "field-answer", rows: 4, maxlength: 8000, spellcheck: "false", autocomplete: "off" });
  area.addEventListener("input", () => state.set({ answer: area.value }, { settle: false }));
  area.addEventListener("change", () => state.settle());
  const statement = h("div", { class: "statement" });
  const goals = h("div", {});
  const verdict = h("section", { class: "panel verdict", id: "verdict", "aria-label": "Verdict" });
  const reading = h("section", { class: "panel", id: "read" });
  const bars = s("svg");
  const lines = s("svg");
  const words = h("p", { class: "note" });
  const goal = h("span", {});
  const picture = h("section", { id: "picture", "aria-label": "The answer beside a right one" },
    h("div", { class: "planes" },
      h("figure", {}, h("figcaption", {}, h("b", {}, "The pattern"), h("span", {}, "of your answer, and of a right one")), bars, h("p", { class: "legend" }, h("span", {}, h("i", { class: "of-yours" }), "yours"), h("span", {}, h("i", { class: "of-right" }), "a right answer"), h("span", {}, h("i", { class: "of-wanted" }), "what is wanted"))),
      h("figure", {}, h("figcaption", {}, h("b", {}, "As the number of keys grows"), goal), lines, words)));
  const counter = counterView();
  const undrawn = h("p", { class: "note", id: "undrawn" });
  const mine = slider(state, "n", "keys, n", { least: 2, most: 40, step: 1 });
  const eps = slider(state, "eps", "tolerance, ε", { least: 0.001, most: 0.9, log: true });
  const some = slider(state, "m", "of them meant, m", { least: 1, most: 39, step: 1 });
  const large = slider(state, "large", "own names, such as λ", { least: 0.1, most: 1000, log: true, note: "the picture takes this number for each name that is said to be large" });
  const length = slider(state, "length", "the uncertain key's length", { least: 0, most: 3, step: 0.05 });
  const numbers = put(group("The picture", mine, eps, some, length, large, h("p", { class: "error", id: "error-text", role: "alert", hidden: true })), { id: "numbers" });
  const file = h("input", { class: "unseen", type: "file", id: "document", accept: ".md,.tex,.txt,text/plain,text/markdown" });
  const papers = h("section", { class: "panel", id: "document-verdicts", hidden: true, "aria-label": "The document" });

  main.append(h("div", { class: "room" },
    h("div", { class: "controls lead" },
      group("Exercise", h("div", { class: "control" }, h("label", { for: "field-exercise" }, "What is answered"), select, h("p", { class: "error", id: "error-exercise", role: "alert", hidden: true }))),
      group("Hints", h("div", { class: "control" }, h("p", { class: "note" }, "How much is told about an answer. Step by step: nothing here shows a solution first."), ...hintButtons())),
      numbers,
      group("A whole document", h("p", { class: "note" }, "A homework as it is (.md, .tex, .txt): each answer is found and checked. The file stays on this machine."), h("p", {}, h("label", { class: "button", for: "document" }, "Choose a document"), file))),
    h("div", { class: "stage" },
      h("div", { class: "below" },
        h("section", { class: "panel", id: "exercise", "aria-label": "The exercise" }, statement, goals),
        h("section", { class: "panel", id: "answer" }, h("div", { class: "control" }, h("label", { for: "field-answer" }, "An answer: words with formulas between $ signs, or formulas alone, one a line"), area, h("p", { class: "error", id: "error-answer", role: "alert", hidden: true })), h("div", { id: "written" }))),
      refusals(), verdict, picture, counter.figure, undrawn, reading, papers)));

  function hintButtons() {
    const all = Object.entries(STEPS).map(([step, said]) => [step, button(said, () => state.set({ hints: step }), { class: "step" })]);
    const show = () => { for (const [step, one] of all) put(one, { "aria-pressed": String(state.values.hints === step) }); };
    state.listen(show);
    show();
    return all.map(([, one]) => one);
  }

  post("exercises", {}).then((answer) => {
    known = answer.exercises;
    select.replaceChildren(h("option", { value: "" }, "whichever fits"), ...known.map((one) => h("option", { value: one.id }, one.title)));
    select.value = state.values.exercise;
  }, (error) => complain(state, "exercise", error.message));

  const reader = new Asker("exercises", { state, what: "Looking it up",
    wait: 0,
    answered(answer) { about = answer.exercises[0]; complain(state, "exercise", null); drawExercise(); },
    failed(sentence) { about = null; drawExercise(); complain(state, "exercise", sentence); },
  });
  const checker = new Asker("check", { state, what: "Checking",
    wait: 450,
    waiting(yes) { verdict.classList.toggle("stale", yes); reading.classList.toggle("stale", yes); },
    answered(answer) { forgive(state); found = answer; drawVerdict(state.values); drawPicture(); speak(`${found.answers[0]?.verdict ?? "not judged"}: ${found.answers[0]?.reason ?? ""}`); },
    failed(sentence, where) {
      found = null;
      if (where && where !== "text") return refuse(state, sentence, where);
      if (where === "text") {
        complain(state, "answer", sentence, "server");
        put(verdict, { class: "panel verdict" });
        verdict.replaceChildren(h("p", { class: "headline" }, "Not judged."), button("Check all answers in it", () => whole("What was pasted", state.values.answer, false), { class: "primary" }));
      } else drawStopped(sentence);
      reading.hidden = true;
    },
  });
  const comparer = new Asker("compare", { state, what: "Drawing",
    wait: 120,
    waiting(yes) { picture.classList.toggle("stale", yes); },
    answered(answer) { pair = answer.picture; why = answer.why ?? ""; drawPicture(); },
    failed(sentence, where) { pair = null; why = ""; drawPicture(); if (["n", "m", "epsilon", "large", "length"].includes(where)) complain(state, where === "epsilon" ? "eps" : where, sentence, "server"); },
  });

  const question = (values) => ({ text: values.answer, exercise: values.exercise || null, hints: values.hints });
  function draw(values, names) {
    if (document.activeElement !== area && area.value !== values.answer) area.value = values.answer;
    put(area, { rows: Math.min(14, Math.max(4, values.answer.split("\n").length + 1)) });
    if (known.length) select.value = values.exercise;
    const has = (...some) => some.some((name) => names.includes(name));
    if (has("exercise")) { if (values.exercise) reader.ask({ exercise: values.exercise }); else { about = null; drawExercise(); } }
    const empty = !values.answer.replace(/[$\s]/g, "") || /^[A-Za-z_{}\d\\]+\s*=\s*$/.test(values.answer.replaceAll("$", "").trim());
    if (has("exercise", "answer", "hints")) {
      complain(state, "answer", null);
      if (empty) { checker.cancel(); found = null; asked = ""; drawVerdict(values); } else if (JSON.stringify(question(values)) !== asked) { asked = JSON.stringify(question(values)); checker.ask(question(values)); }
    }
    if (has("exercise", "answer", "n", "m", "eps", "large", "length")) {
      if (values.exercise && !empty) { forgive(state); comparer.ask({ text: values.answer, exercise: values.exercise, n: values.n, m: Math.min(values.m, values.n - 1), epsilon: String(Number(values.eps.toPrecision(6))), large: String(Number(values.large.toPrecision(6))), length: String(values.length) }); } else { comparer.cancel(); pair = null; why = ""; drawPicture(); }
    } else drawPicture();
  }

  function drawExercise() {
    statement.replaceChildren(...(about ? [h("h2", {}, about.title), ...typeset(about.shown.statement)] : [h("h2", {}, "Whichever fits"), h("p", {}, "Paste an answer with its question, or with a heading: the exercise is found by what it defines and speaks of, and the reason is told.")]));
    goals.replaceChildren(...(about?.shown.goals.length ? [h("p", { class: "note" }, "What is checked"), h("ul", { class: "goals" }, ...about.shown.goals.map((one) => h("li", {}, ...typeset(one))))] : []));
  }

  function drawStopped(sentence) {
    put(verdict, { class: "panel verdict undecided" });
    verdict.replaceChildren(h("p", { class: "headline" }, badge("undecided"), `: ${sentence}`), h("p", { class: "note" }, WORDS.undecided));
  }

  function drawVerdict(values) {
    const written = main.querySelector("#written");
    const one = found?.answers[0];
    reading.hidden = !one?.shown.read.length;
    written.replaceChildren(...(one ? one.shown.formulas.flatMap(typeset) : []));
    if (!one) {
      put(verdict, { class: "panel verdict" });
      const notes = (found?.notes ?? []).map((note) => h("p", {}, note.sentence));
      const complaints = (found?.complaints ?? []).map((note) => h("p", { class: "error" }, note.sentence));
      verdict.replaceChildren(h("p", { class: "headline" }, found ? "Nothing was judged." : "Write an answer: the verdict comes as you type."), ...complaints, ...notes);
      return;
    }
    put(verdict, { class: `panel verdict ${kind(one.verdict)}` });
    const facts = [["counterexample", one.shown.counterexample], ["works from", one.threshold], [values.hints === "full" ? "suggestion" : "hint", one.suggestion]].filter(([, said]) => said && !one.reason.includes(said));
    const next = { none: ["direction", one.verdict === "undecided" ? "Why is there none?" : "A hint: where does it fail?"], direction: ["full", "Tell me everything"] }[values.hints];
    const wrong = !["proved", "holds"].includes(one.verdict);
    verdict.replaceChildren(
      h("p", { class: "headline" }, badge(one.verdict, one.shown.word), ": ", because(one.reason)),
      h("p", { class: "note" }, `${one.verdict}: ${WORDS[one.verdict]}.`),
      one.chosen ? h("p", { class: "note" }, `Taken for ${one.exercise}: ${one.chosen}.`) : "",
      facts.length ? h("dl", { class: "numbers" }, ...facts.flatMap(([name, said]) => [h("dt", {}, name), h("dd", {}, ...lettered(said))])) : "",
      h("div", { class: "row-of" },
        next && (wrong || next[0] === "full") && !(one.verdict === "unreadable" && next[0] === "full") ? button(next[1], () => state.set({ hints: next[0] }), { class: "primary", id: "more-hints" }) : "",
        at(one.counterexample) && values.hints !== "none" ? button("Go to the counterexample", () => state.set(at(one.counterexample)), { id: "go" }) : ""));
    const parts = one.parts.map((part, i) => h("tr", {}, h("td", {}, badge(part.verdict)), h("td", {}, part.role), h("td", {}, ...typeset(one.shown.parts[i]?.statement ?? "")), h("td", { class: "why" }, part.reason === one.reason ? "as said above" : because(part.reason), one.shown.parts[i]?.by ?? "", part.replayed ? h("span", { class: "note" }, ` second look: ${part.replayed === 1 ? "an instance agrees" : `${part.replayed} instances agree`}`) : "")));
    const table = (label, heads, rows) => h("div", { class: "scroll tables", tabindex: 0, role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows)));
    reading.replaceChildren(
      h("h2", {}, "How it was read"),
      table("How it was read", ["line", "as", "what", ""], one.shown.read.map((read) => h("tr", {}, h("td", {}, String(read.line)), h("td", {}, read.role), h("td", {}, ...typeset(read.statement), ...(read.under.length ? [", for ", ...read.under.flatMap((node, i) => [i ? " and " : "", ...typeset(node)])] : [])), h("td", {}, read.verdict ? badge(read.verdict) : "", ...lettered(read.why))))),
      ...(parts.length ? [h("h2", { class: "second" }, "Part by part"), table("Part by part", ["verdict", "role", "statement", "why"], parts)] : []));
  }

  /** The values of a counterexample that the sliders have. */
  function at(counterexample) {
    const value = (given) => { const [over, under = 1] = String(given).split("/").map(Number); return over / under; };
    const to = {};
    for (const [name, field] of [["n", "n"], ["epsilon", "eps"], ["m", "m"]]) if (counterexample?.[name] !== undefined && Number.isFinite(value(counterexample[name]))) to[field] = value(counterexample[name]);
    const own = (pair?.yours.names ?? []).map((name) => value(counterexample?.[name])).find((given) => given >= 0.1 && given <= 1000);
    if (own !== undefined) to.large = own;
    return to.n >= 2 && to.n <= 40 && (to.eps === undefined || (to.eps >= 0.0001 && to.eps < 1)) ? to : null;
  }

  function drawPicture() {
    const one = found?.answers[0];
    const there = Boolean(pair && one && (one.verdict === "proved" || (one.verdict === "refuted" && state.values.hints !== "none" && !one.counterexample?.shapes)));
    picture.hidden = !there;
    numbers.hidden = !there;
    const failing = one?.parts.findIndex((part) => part.verdict === "refuted" && JSON.stringify(part.counterexample) === JSON.stringify(one.counterexample)) ?? -1;
    const seen = counter.draw(!there && one?.verdict === "refuted" ? one.counterexample : null, one?.shown.parts[failing]?.statement ?? "", one?.parts[failing]?.role === "goal");
    undrawn.hidden = there || seen || !why || !["proved", "refuted", "holds"].includes(one?.verdict);
    undrawn.textContent = `There is no picture here: ${why}.`;
    if (!there) return;
    length.hidden = !pair.lengths.length;
    some.hidden = !pair.parameters.includes("m");
    eps.hidden = !pair.parameters.includes("epsilon");
    large.hidden = !pair.yours.names.length && !pair.right.names.length;
    const { n } = state.values;
    const here = pair.numbers.indexOf(Math.round(n));
    drawBars(here);
    goal.replaceChildren({ "=": "what is claimed, and what is so: ", "": "the weight " }[pair.sign] ?? "both sides of ", ...typeset(pair.goal));
    const all = [...pair.wanted, ...pair.right.left, ...pair.yours.left].filter((value) => value !== null);
    const { x, y } = axes(lines, { height: 250, from: 0, to: 40, top: rounded(Math.min(1000, Math.max(1, ...all.map(Math.abs)))), across: "n", up: pair.sign === "=" ? "value" : "weight", ticks: 4 });
    const path = (values, name) => s("path", { class: `curve ${name}`, d: values.map((value, i) => (value === null ? "" : `${i && values[i - 1] !== null ? "L" : "M"}${x(pair.numbers[i]).toFixed(1)} ${y(value).toFixed(1)}`)).join("") });
    lines.append(s("line", { class: "limit", x1: x(n), x2: x(n), y1: y(0), y2: 18 }), path(pair.wanted, "of-wanted"), path(pair.right.left, "of-right"), path(pair.yours.left, "of-yours"));
    for (const [values, name] of [[pair.right.left, "dot-right"], [pair.yours.left, "dot-yours"]]) if (here >= 0 && values[here] !== null) lines.append(s("circle", { class: name, cx: x(n), cy: y(values[here]), r: 4.5 }));
    words.textContent = `With n = ${n}${pair.parameters.includes("epsilon") ? ` and ε = ${shown(state.values.eps, 4)}` : ""}${pair.lengths.length ? `, and the uncertain key ${shown(state.values.length)} times as long` : ""}${owned()}: ${compared(here)}${pair.noisy ? "; the keys are at their means" : ""}. Floating-point: the verdict is not read off the picture.`;
    put(lines, { role: "img", "aria-label": words.textContent });
  }

  const owned = () => { const own = [...new Set([...pair.yours.names, ...pair.right.names])]; return own.length ? `, and ${own.map(plain).join(", ")} = ${shown(state.values.large)}` : ""; };
  /** What stands at the slider's n, in words. */
  function compared(here) {
    const [mineAt, rightAt, wanted] = [pair.yours.left[here], pair.right.left[here], pair.wanted[here]];
    if (pair.sign === "=") return `the formula says ${shown(mineAt, 4)}, and it is ${shown(rightAt, 4)}`;
    if (!pair.sign) return `yours ${shown(mineAt, 4)}, a right answer ${shown(rightAt, 4)}`;
    const meets = mineAt === null || wanted === null ? "has no value" : (pair.sign === ">=" ? mineAt >= wanted : mineAt <= wanted) ? "meets it" : "misses it";
    return `yours ${shown(mineAt, 4)}, a right answer ${shown(rightAt, 4)}, wanted ${shown(wanted, 4)}: yours ${meets} here`;
  }

  const plain = (name) => ({ lambda: "λ", beta: "β", tau: "τ", gamma: "γ" })[name] ?? name;
  function drawBars(here) {
    const [a, b] = [pair.yours.pattern, pair.right.pattern];
    const [wide, top, foot, left] = [440, 16, 216, 44];
    const step = (wide - left - 6) / a.length;
    put(bars, { viewBox: `0 0 ${wide} 250`, role: "img", "aria-label": `Weights of ${a.length} keys: yours ${a.slice(0, 6).map((w) => shown(w, 2)).join(", ")}; a right answer ${b.slice(0, 6).map((w) => shown(w, 2)).join(", ")}` });
    bars.replaceChildren();
    const y = (weight) => foot - weight * (foot - top);
    for (let k = 0; k <= 4; k++) bars.append(s("line", { class: k ? "grid" : "axis", x1: left, x2: wide - 6, y1: y(k / 4), y2: y(k / 4) }), s("text", { class: "tick", x: left - 5, y: y(k / 4) + 4, "text-anchor": "end" }, shown(k / 4, 2)));
    a.forEach((weight, i) => {
      const x = left + i * step;
      bars.append(s("rect", { class: "bar-mine", x: x + step * 0.12, width: step * 0.36, y: y(weight ?? 0), height: foot - y(weight ?? 0) }), s("rect", { class: "bar-right", x: x + step * 0.5, width: step * 0.36, y: y(b[i] ?? 0), height: foot - y(b[i] ?? 0) }));
      if (a.length <= 20 || i % 5 === 0) bars.append(s("text", { class: "tick", x: x + step / 2, y: foot + 15, "text-anchor": "middle" }, pair.keys[i] ?? String(i + 1)));
    });
    if (pair.wanted[here] !== null && pair.sign) bars.append(s("line", { class: "wanted-line", x1: left, x2: wide - 6, y1: y(pair.wanted[here]), y2: y(pair.wanted[here]) }));
    bars.append(s("text", { class: "tick", x: wide / 2, y: 247, "text-anchor": "middle" }, "key"));
  }

  let working = null;
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    file.value = "";
    if (chosen) whole(chosen.name, chosen.size > 200_000 ? "" : await chosen.text(), chosen.name.endsWith(".tex"), chosen.size, /\.(md|markdown|tex|txt)$/i.test(chosen.name));
  });

  /** All answers of a text. */
  async function whole(name, given, latex, size = given.length, text = true) {
    working?.abort();
    working = new AbortController();
    papers.hidden = false;
    const far = h("p", { role: "status" }, "");
    papers.replaceChildren(h("h2", {}, name), h("p", { class: "busy" }, "Each answer is checked in a process of its own."), far, button("Cancel", () => working.abort()));
    try {
      if (size > 200_000) throw new Error(`${name} has ${size} bytes: expected at most 200000 here; the command line takes more`);
      if (!text) throw new Error(`${name} is not read: expected text, Markdown or LaTeX (.md, .markdown, .tex, .txt)`);
      if (!given.trim()) throw new Error(`${name} is empty`);
      const answer = await post("document", { text: given, exercise: null, hints: state.values.hints, latex, report: true }, working.signal, ({ state: how, done }) => { if (how !== "unknown") far.textContent = how === "waiting" ? "It waits for a free worker." : done === null ? "" : `${Math.floor(100 * done)}% of the answers are judged.`; });
      drawPapers(name, answer);
    } catch (error) {
      papers.replaceChildren(h("h2", {}, name), h("p", { class: "error", role: "alert" }, error.name === "AbortError" ? "Cancelled." : error.message));
    }
  }

  function drawPapers(name, answer) {
    const count = Object.entries(answer.counts).filter(([, many]) => many).map(([word, many]) => `${many} ${word}`).join(", ");
    const { report, ...rest } = answer;
    papers.replaceChildren(h("h2", {}, name), h("p", { class: "headline" }, count || "Nothing was judged."),
      !answer.answers.length ? "" : h("div", { class: "scroll tables", tabindex: 0, role: "region", "aria-label": "All answers" }, h("table", {}, h("thead", {}, h("tr", {}, ...["line", "exercise", "verdict", "why"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...answer.answers.map((one) => h("tr", {}, h("td", {}, String(one.line)), h("td", {}, button(one.exercise, () => { state.set({ exercise: one.exercise, answer: one.answer.split("\n").map((line) => `$${line}$`).join("\n").slice(0, 8000) }); scrollTo({ top: 0 }); }, { class: "quiet", title: "Look at its formulas above" })), h("td", {}, badge(one.verdict, one.shown.word)), h("td", { class: "why" }, because(one.reason))))))),
      ...[...answer.complaints, ...answer.notes].map((note) => h("p", { class: "note" }, note.line ? `line ${note.line}: ` : "", ...lettered(note.sentence))),
      h("div", { class: "row-of" }, button("Download the report", () => download("headwright-report.html", report, "text/html"), { class: "primary" }), button("Download JSON", () => download("headwright-document.json", JSON.stringify(rest, null, 2)))));
    speak(`${name}: ${count || "nothing was judged"}`);
    papers.scrollIntoView({ block: "nearest" });
  }

  const bare = (values) => !/\$|\\\(|\\\[|\\begin|```/.test(values.answer);
  const eachLine = (values) => values.answer.split("\n").map((line) => line.trim()).filter(Boolean);
  return {
    draw,
    command() {
      const { values } = state;
      const which = values.exercise ? ` --exercise ${quoted(values.exercise)}` : "";
      return bare(values) && values.exercise ? `headwright check${which} --hints ${values.hints} ${eachLine(values).map((one) => `--formula ${quoted(one)}`).join(" ")}\n`
        : `${here("answer.md", values.answer)}headwright check${which} --hints ${values.hints} --how answer.md\n`;
    },
    python() {
      const { values } = state;
      if (bare(values) && values.exercise) return `from headwright.check import check\n\nverdict = check(${[values.exercise, ...eachLine(values)].map(literal).join(", ")})\nprint(verdict.word, verdict.reason)\n`;
      return `from headwright.check.exercise import load_exercises\nfrom headwright.check.running.run import run\nfrom headwright.check.sheets.document import parse_document\n\ntext = ${literal(values.answer)}\nsheet = parse_document(text, "the answer", load_exercises()${values.exercise ? `, ${literal(values.exercise)}` : ""})\nfor checked in run(sheet.answers):\n    print(checked.answer.exercise_id, checked.verdict.word, checked.verdict.reason)\n`;
    },
    json: () => ({ asked: question(state.values), check: found, compare: pair }),
    pictures: () => (picture.hidden ? [...(counter.figure.hidden ? [] : counter.figure.querySelectorAll("svg"))].map((svg, i) => [`counterexample-${i + 1}`, svg]) : [["pattern", bars], ["against-n", lines]]),
  };
}

open({
  name: "check", fields, presets, build,
  steps: [
    ["#exercise", "An exercise, typeset. Choose another one on the left, or leave it open and paste a whole answer."],
    ["#answer", "The answer: formulas alone, or words with formulas. It is checked as you type."],
    ["#verdict", "Proved means for all parameters. Refuted comes with numbers at which it fails. Hints come one step at a time.", "The right direction, too short"],
    ["#picture", "The answer beside a right one. Move n and ε, and see both move."],
    ["#verdict", "The same direction with a large enough factor is right, and from which factor on is said, too.", "Long enough"],
    ["#read", "How each statement was read, and what became of it: what is wrong here is seen before one argues about the verdict."],
  ],
});
