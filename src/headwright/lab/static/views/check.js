// Check: an exercise and an answer; the verdict on each part, the status of every formula, and the sentences that a person has to read; whole documents too.
import { h, put, s, shown, speak } from "../common/dom.js";
import { choice, text } from "../common/state.js";
import { button, complain, controls, forgive, group, refusals, refuse } from "../common/controls.js";
import { Asker } from "../common/request.js";
import { post } from "../common/transport.js";
import { axes, rounded } from "../common/chart.js";
import { lettered, typeset } from "../common/formula.js";
import { download, here, literal, quoted } from "../common/export.js";
import { open } from "../common/view.js";
import { counterView } from "./check/counter.js";
import { Drafts } from "./check/drafts.js";
import { homework } from "./check/homework.js";
import { presets, start, steps } from "./check/examples.js";

const LONGEST = 40_000; // characters of an answer, which the address holds
const LARGEST = 200_000; // characters of a document
const LARGEST_NOTEBOOK = 16_000_000; // bytes, with its outputs
const MOST_LISTED = 12; // exercises that are shown without being asked for
const DOCUMENT = /\.(md|markdown|tex|txt|ipynb)$/i;
const NARROW = "(max-width: 44rem)"; // as in lab.css
const fields = {
  exercise: text(start.exercise, { longest: 60 }),
  answer: text(start.answer, { longest: LONGEST }),
  hints: choice(start.hints, ["none", "direction", "full"]),
};
const WORDS = {
  proved: "true for all parameters in range, by proof", missing: "no formula has the required name or form",
  refuted: "false, with a rigorously evaluated counterexample", undecided: "no verdict was reached: a person has to decide",
};
const most = ["none", "direction", "full"].indexOf(document.documentElement.dataset.hints ?? "full"); // the most that an assignment shows
const STEPS = Object.fromEntries([["none", "verdict only"], ["direction", "verdict and where it fails"], ["full", "everything"]].slice(0, most + 1));
const badge = (word) => h("b", { class: `badge ${word}` }, word);
/** How a formula was read, in plain spelling. */
const readBack = (plain) => (plain ? h("div", { class: "note" }, "read as ", h("code", {}, plain)) : "");
/** A reason, typeset by Python; one with several lines, such as one that points into a formula, keeps them. */
const because = (reason, shown) => (reason.includes("\n") ? h("pre", { class: "pointing" }, reason) : h("span", {}, ...(shown ? typeset(shown) : lettered(reason))));
/** A notebook without its outputs, which may be large; null where it is none. */
function withoutOutputs(text) {
  try { return JSON.stringify({ cells: JSON.parse(text).cells.filter((cell) => cell.cell_type === "markdown").map(({ source }) => ({ cell_type: "markdown", source })) }); } catch { return null; }
}

/** A sheet with the verdict under the heading of each answer; as a comment, which is not checked again. */
function annotated(text, answers, latex) {
  const said = new Map(answers.map((one) => [one.line, `${one.verdict}: ${one.reason.replace(/\s+/g, " ").replaceAll("--", "- -")}`]));
  return text.split("\n").flatMap((line, i) => (said.has(i + 1) ? [line, latex ? `% headwright: ${said.get(i + 1)}` : `<!-- headwright: ${said.get(i + 1)} -->`] : [line])).join("\n");
}

function build(main, state) {
  const drafts = new Drafts();
  let known = null; // all exercises, once they are loaded
  let about = null; // the exercise shown
  let found = null; // the answer to `asked`
  let asked = "";

  const select = h("select", { id: "field-exercise" }, h("option", { value: state.values.exercise }, state.values.exercise));
  /** The blank answer of an exercise, such as $$q = $$. */
  const template = (id) => (known?.find((one) => one.id === id)?.sheet ?? "").split("\n\n").slice(1).join("\n\n").trim();
  const bareText = (text) => text.replace(/[$\s]/g, "");
  /** Whether nothing was filled in yet. */
  const blank = ({ answer, exercise }) => ["", bareText(template(exercise))].includes(bareText(answer));
  /** Another exercise: its draft or its template, and no hints. */
  const choose = (exercise) => state.set({ exercise, hints: "none", ...(exercise ? { answer: drafts.text(exercise) ?? template(exercise) } : {}) });
  select.addEventListener("change", () => choose(select.value));
  const list = homework(drafts, (id) => { choose(id); select.scrollIntoView({ block: "nearest" }); });
  const area = h("textarea", { id: "field-answer", rows: 4, maxlength: LONGEST, spellcheck: "false", autocomplete: "off" });
  area.addEventListener("input", () => {
    const before = { ...state.values };
    state.set({ answer: area.value }, { settle: false });
    const { exercise } = state.values; // a link may have arrived meanwhile
    if (!exercise) return;
    const isMine = exercise === before.exercise && (drafts.text(exercise) ?? before.answer) === before.answer;
    drafts.save(exercise, blank(state.values) ? "" : area.value, !isMine);
  });
  area.addEventListener("change", () => state.settle());
  const statement = h("div", { class: "statement" });
  const goals = h("div", { class: "requirements" });
  const solutions = h("div", {});
  const isNarrow = matchMedia(NARROW).matches; // there the answer stands right below the statement
  const cut = h("p", { class: "error", id: "error-cut", role: "alert", hidden: true }, `The text ends here, after ${LONGEST} characters. Check a longer one as a document.`);
  const other = h("p", { class: "note", id: "draft", role: "status", hidden: true });
  const onwards = button("Next exercise", () => choose(list.next(state.values.exercise)), { id: "next" });
  const verdict = h("section", { class: "panel verdict", id: "verdict", "aria-label": "Verdict" }, h("p", { class: "headline busy" }, "Loading the exercises"));
  const reading = h("section", { class: "panel", id: "read", hidden: true });
  const lines = s("svg");
  const words = h("p", { class: "note" });
  const picture = h("section", { id: "picture", "aria-label": "Values of the answer" },
    h("figure", {}, h("figcaption", {}, h("b", {}, "Values of the answer")), lines, words));
  const counter = counterView();
  const file = h("input", { class: "unseen", type: "file", id: "document", accept: ".md,.tex,.txt,.ipynb,text/plain,text/markdown" });
  const papers = h("section", { class: "panel", id: "document-verdicts", hidden: true, "aria-label": "The document" });

  const setExercises = group("Exercises", ...list.elements);
  main.append(h("div", { class: "layout answering" },
    h("div", { class: "stage" },
      h("div", { class: "below" },
        h("section", { class: "panel", id: "exercise", "aria-label": "The exercise" },
          h("div", { class: "control" }, h("label", { for: "field-exercise" }, "Exercise"), select, h("p", { class: "error", id: "error-exercise", role: "alert", hidden: true })), statement, isNarrow ? "" : goals),
        h("section", { class: "panel", id: "answer" },
          h("div", { class: "control" }, h("label", { for: "field-answer" }, "Answer: text with formulas between $ signs, or formulas only, one a line"), area, h("p", { class: "error", id: "error-answer", role: "alert", hidden: true })),
          cut, h("p", { class: "error", id: "error-text", role: "alert", hidden: true }), other,
          h("div", { class: "row-of" }, onwards, document.getElementById("tools") ? "" : h("div", { class: "tools", id: "tools" })),
          isNarrow ? goals : "", solutions, h("div", { id: "presets" }))),
      refusals(), verdict, counter.figure, picture, reading, papers),
    controls(setExercises,
      group("Hints", h("div", { class: "control" }, h("p", { class: "note" }, "How much is shown about a wrong answer."), ...hintButtons())),
      group("Check a document", h("p", { class: "note" }, "A file with several answers (.md, .tex, .txt, .ipynb). It stays on this machine."),
        h("div", {}, h("p", {}, h("label", { class: "button", for: "document" }, "Choose a file"), file), h("p", { class: "error", id: "error-document", role: "alert", hidden: true })))),
  ));

  function hintButtons() {
    const all = Object.entries(STEPS).map(([step, said]) => [step, button(said, () => state.set({ hints: step }), { class: "step" })]);
    const show = () => { for (const [step, one] of all) put(one, { "aria-pressed": String(state.values.hints === step) }); };
    state.listen(show);
    show();
    return all.map(([, one]) => one);
  }

  post("exercises", {}).then((answer) => {
    known = answer.exercises;
    setExercises.open = setExercises.open && known.length <= MOST_LISTED;
    list.set(answer);
    select.replaceChildren(h("option", { value: "" }, "(find it from the answer)"), ...known.map((one) => h("option", { value: one.id }, one.title)));
    const link = new URLSearchParams(location.hash.slice(1));
    const last = drafts.last();
    if (!link.has("exercise") && !link.has("answer") && drafts.text(last) && known.some(({ id }) => id === last)) choose(last); // where it was left
    else if (!state.values.answer || (link.has("exercise") && !link.has("answer"))) state.set({ answer: drafts.text(state.values.exercise) ?? template(state.values.exercise) });
    state.restart(); // the template or the draft is where the page begins
    if (!blank(state.values)) verdict.replaceChildren(h("p", { class: "headline busy" }, "Checking"));
    draw(state.values, ["exercise", "answer"]);
  }, (error) => { known = []; drawFailed(error.message); });

  const reader = new Asker("exercises", { state, what: "Loading the exercise",
    wait: 0,
    answered(answer) { about = answer.exercises[0]; complain(state, "exercise", null); drawExercise(); },
    failed(sentence) { about = null; drawExercise(); complain(state, "exercise", sentence); },
  });
  const checker = new Asker("check", { state, what: "Checking",
    wait: 450,
    waiting(yes) { verdict.classList.toggle("stale", yes); reading.classList.toggle("stale", yes); },
    answered(answer) { forgive(state); found = answer; keepVerdict(); drawVerdict(state.values); drawPicture(); speak(`${found.answers[0]?.verdict ?? "no verdict"}: ${found.answers[0]?.reason ?? ""}`); },
    failed(sentence, where) {
      found = null;
      if (where && where !== "text") return refuse(state, sentence, where);
      if (where === "text") {
        complain(state, "text", sentence, "server");
        put(verdict, { class: "panel verdict" });
        verdict.replaceChildren(h("p", { class: "headline" }, "No verdict."), button("Check all answers in this text", () => whole("Pasted text", state.values.answer, false), { class: "primary" }));
      } else drawFailed(sentence);
      reading.hidden = true;
    },
  });
  /** The verdict on a draft is kept with it. */
  function keepVerdict() {
    const [one] = found.answers;
    const { exercise, text } = JSON.parse(asked);
    if (!one || !exercise || one.exercise !== exercise) return;
    drafts.judged(exercise, text, one.verdict, one.formulas.filter((formula) => formula.status === "false" && formula.counts).length);
  }

  /** What is kept besides the text that is shown: the student's own draft, where this came from a link or an example. */
  function drawDraft({ exercise, answer }) {
    const own = exercise ? drafts.text(exercise) : null;
    const isOther = own !== null && own !== answer;
    const earlier = exercise && !isOther ? drafts.earlier(exercise) : null;
    other.hidden = !isOther && !earlier;
    other.replaceChildren(...(isOther ? ["Your own draft of this exercise is another text, and is kept. ", button("Show my draft", () => choose(exercise), { class: "quiet" })]
      : earlier ? ["This replaced an earlier draft of yours. ", button("Bring it back", () => { drafts.exchange(exercise); choose(exercise); }, { class: "quiet" })] : []));
  }
  drafts.listen(() => { drawDraft(state.values); onwards.hidden = !list.next(state.values.exercise); });

  const question = (values) => ({ text: values.answer, exercise: values.exercise || null, hints: values.hints });
  function draw(values, names) {
    if (area.value !== values.answer) area.value = values.answer;
    put(area, { rows: Math.min(14, Math.max(4, values.answer.split("\n").length + 1)) });
    if (known?.length) select.value = values.exercise;
    cut.hidden = values.answer.length < LONGEST; // says what is in the box, whatever the verdict on it is
    drawDraft(values);
    if (names.includes("exercise")) list.show(values.exercise);
    onwards.hidden = !list.next(values.exercise);
    const has = (...some) => some.some((name) => names.includes(name));
    if (has("exercise")) { if (values.exercise) reader.ask({ exercise: values.exercise }); else { about = null; drawExercise(); } }
    if (has("exercise", "answer", "hints") && known) { // until then it is not known what a blank answer is
      if (blank(values)) { checker.cancel(); found = null; asked = ""; drawVerdict(values); } else if (JSON.stringify(question(values)) !== asked) { asked = JSON.stringify(question(values)); checker.ask(question(values)); }
    }
    drawPicture();
  }

  function drawExercise() {
    statement.replaceChildren(...(about ? [h("h2", {}, about.title), ...typeset(about.shown.statement)] : [h("h2", {}, "No exercise chosen"), h("p", {}, "Paste an answer with its question or heading. The exercise is found from its definitions and words, and the reason is shown.")]));
    goals.replaceChildren(...(about?.shown.goals.length ? [h("p", { class: "note" }, "Requirements"), h("ul", { class: "goals" }, ...about.shown.goals.map((one) => h("li", {}, ...typeset(one))))] : []));
    solutions.replaceChildren(...(about?.solutions ?? []).map((formulas) => h("details", { class: "solution" }, h("summary", {}, "A solution"), ...formulas.map((one) => h("p", {}, ...typeset(one))))));
  }

  /** No answer came from the server, which says nothing about the answer that was written. */
  function drawFailed(sentence) {
    put(verdict, { class: "panel verdict" });
    verdict.replaceChildren(h("p", { class: "headline" }, "No verdict."), h("p", { class: "error" }, sentence));
  }

  function drawVerdict(values) {
    const one = found?.answers[0];
    reading.hidden = !one?.formulas.length && !one?.to_read.length;
    if (!one) {
      put(verdict, { class: "panel verdict" });
      const notes = (found?.notes ?? []).map((note) => h("p", {}, note.sentence));
      const problems = (found?.problems ?? []).map((note) => h("p", { class: "error" }, note.sentence));
      verdict.replaceChildren(h("p", { class: "headline" }, found ? "No answer was found in the text." : "Write an answer. It is checked as you type."), ...problems, ...notes);
      return;
    }
    put(verdict, { class: `panel verdict ${one.verdict}` });
    const facts = [["valid from", one.threshold, one.shown.threshold], [values.hints === "full" ? "suggestion" : "hint", one.suggestion, one.shown.suggestion]].filter(([, said]) => said && !one.reason.includes(said));
    const next = [["direction", one.verdict === "undecided" ? "Show the reason" : "Show where it fails"], ["full", "Show everything"]].slice(0, most)[Object.keys(STEPS).indexOf(values.hints)];
    const parts = one.asked.map((part, i) => h("p", { class: "headline" }, badge(part.verdict), " ", ...(part.line ? [...typeset(one.shown.asked[i].formula), h("span", { class: "note" }, ` line ${part.line}`)] : [part.part]), part.optional ? h("span", { class: "note" }, " (optional)") : "", ": ", because(part.reason, one.shown.asked[i].reason)));
    verdict.replaceChildren(
      ...(parts.length ? parts : [h("p", { class: "headline" }, badge(one.verdict), ": ", because(one.reason, one.shown.reason))]),
      h("p", { class: "note" }, `${one.verdict}: ${WORDS[one.verdict]}.`),
      one.chosen ? h("p", { class: "note" }, `Exercise ${one.exercise}: ${one.chosen}.`) : "",
      facts.length ? h("dl", { class: "numbers" }, ...facts.flatMap(([name, , shownAs]) => [h("dt", {}, name), h("dd", {}, ...typeset(shownAs))])) : "",
      h("div", { class: "row-of" }, next && (one.verdict !== "proved" || next[0] === "full") ? button(next[1], () => state.set({ hints: next[0] }), { class: "primary", id: "more-hints" }) : ""));
    const table = (label, heads, rows) => h("div", { class: "scroll tables", tabindex: 0, role: "region", "aria-label": label }, h("table", {}, h("thead", {}, h("tr", {}, ...heads.map((head) => h("th", { scope: "col" }, head)))), h("tbody", {}, ...rows)));
    const hasReasons = one.formulas.some((formula, i) => formula.reason || one.shown.formulas[i]?.counterexample);
    const formulas = one.formulas.slice(0, one.shown.formulas.length).map((formula, i) => h("tr", {}, h("td", {}, String(formula.line)), h("td", {}, badge(formula.status), formula.status === "false" && !formula.counts ? h("span", { class: "note" }, " as written") : ""), h("td", {}, ...typeset(one.shown.formulas[i].formula), readBack(one.shown.formulas[i].read)), hasReasons && h("td", { class: "why" }, formula.reason ? because(formula.reason, one.shown.formulas[i].reason) : because(one.shown.formulas[i].counterexample && `fails for ${one.shown.formulas[i].counterexample}`), one.shown.formulas[i].by)));
    reading.replaceChildren(
      ...(formulas.length ? [h("h2", {}, `Formulas: ${one.shown.counted}`), table("Formulas", ["line", "status", "formula", ...(hasReasons ? ["reason"] : [])], formulas)] : []),
      ...(one.to_read.length ? [h("h2", { class: "second" }, "To read"), h("p", { class: "note" }, "Sentences are not checked."), h("ul", { id: "to-read" }, ...one.shown.to_read.map((said, i) => h("li", {}, h("span", { class: "note" }, `line ${one.to_read[i].line} `), ...typeset(said))))] : []));
  }

  /** Ticks at whole numbers for a parameter that has no other values; null for any other. */
  function wholeTicks(values) {
    if (!values.every(Number.isInteger)) return null;
    const [from, to] = [values[0], values.at(-1)];
    const even = [0, 1, 2, 3, 4].map((k) => Math.round(from * (to / from) ** (k / 4)));
    return [...new Set([from, ...even, to])].map(Math.log10);
  }

  /** The answer's values against a parameter, and the counterexample, where hints include them. */
  function drawPicture() {
    const one = found?.answers[0];
    const curve = one?.curve;
    picture.hidden = !curve;
    const failing = one?.asked.findIndex((part) => part.verdict === "refuted" && part.counterexample) ?? -1;
    counter.draw(failing >= 0 && (!curve || one.asked[failing].counterexample.weights) ? one.asked[failing].counterexample : null, one?.shown.asked[failing]?.formula ?? "", true);
    if (!curve) return;
    const all = [...Object.values(curve.series).flat(), ...Object.values(curve.levels)].filter((value) => value !== null);
    const [from, to] = [Math.min(...curve.values), Math.max(...curve.values)];
    const { x, y } = axes(lines, { height: 250, from: Math.log10(from), to: Math.log10(to), top: rounded(Math.max(...all.map(Math.abs))), across: curve.parameter, label: (power) => shown(10 ** power, 2), ticks: 4, at: wholeTicks(curve.values) });
    const path = (values) => values.map((value, i) => (value === null ? "" : `${i && values[i - 1] !== null ? "L" : "M"}${x(Math.log10(curve.values[i])).toFixed(1)} ${y(value).toFixed(1)}`)).join("");
    for (const level of Object.values(curve.levels)) lines.append(s("line", { class: "wanted-line", x1: x(Math.log10(from)), x2: x(Math.log10(to)), y1: y(level), y2: y(level) }));
    for (const values of Object.values(curve.series)) lines.append(s("path", { class: "curve of-yours", d: path(values) }));
    words.replaceChildren(...lettered(`${Object.keys(curve.series).join(", ")} (line) and ${Object.keys(curve.levels).join(", ") || "nothing"} (dashed), against ${curve.parameter}. ${curve.words}`));
    put(lines, { role: "img", "aria-label": words.textContent });
  }

  let working = null;
  file.addEventListener("change", async () => {
    const chosen = file.files[0];
    file.value = "";
    if (chosen) sheet(chosen);
  });
  /** What is wrong with a file is said beside the button that chooses one. */
  function refuseFile(sentence) {
    papers.hidden = true;
    complain(state, "document", sentence);
    document.getElementById("error-document").scrollIntoView({ block: "center" });
  }

  async function sheet(one) {
    complain(state, "document", null);
    const isNotebook = /\.ipynb$/i.test(one.name);
    const most = isNotebook ? LARGEST_NOTEBOOK : LARGEST;
    if (!DOCUMENT.test(one.name)) return refuseFile(`${one.name} is not a supported file: expected text, Markdown, LaTeX or a notebook (.md, .markdown, .tex, .txt, .ipynb)`);
    if (one.size > most) return refuseFile(`${one.name} has ${one.size} bytes: expected at most ${most}; the command line has no limit`);
    const content = await one.text();
    if (!content.trim()) return refuseFile(`${one.name} is empty`);
    const text = isNotebook ? withoutOutputs(content) : content;
    if (text === null) return refuseFile(`${one.name} is no Jupyter notebook`);
    return whole(one.name, text, /\.tex$/i.test(one.name), isNotebook);
  }

  /** All answers of a text. */
  async function whole(name, given, latex, notebook = false) {
    working?.abort();
    working = new AbortController();
    papers.hidden = false;
    const far = h("p", { role: "status" }, "");
    papers.replaceChildren(h("h2", {}, name), h("p", { class: "busy" }, "Each answer is checked within a time limit of its own."), far, button("Cancel", () => working.abort()));
    try {
      const answer = await post("document", { text: given, exercise: null, hints: state.values.hints, latex, notebook, report: true }, working.signal, ({ state: how, done }) => { if (how !== "unknown") far.textContent = how === "waiting" ? "Waiting for a free worker." : how === "disconnected" ? "Waiting for the connection." : done === null ? "" : `${Math.floor(100 * done)}% of the answers are checked.`; });
      drawPapers(name, answer, notebook ? null : () => annotated(given, answer.answers, latex));
    } catch (error) {
      if (error.name === "AbortError") papers.replaceChildren(h("h2", {}, name), h("p", { class: "note" }, "Cancelled."));
      else refuseFile(`${name}: ${error.message}`);
    }
  }

  function drawPapers(name, answer, sheetWithVerdicts) {
    const count = Object.entries(answer.counts).filter(([, many]) => many).map(([word, many]) => `${many} ${word}`).join(", ");
    const { report, ...rest } = answer;
    papers.replaceChildren(h("h2", {}, name), h("p", { class: "headline" }, count || "No answers were found."),
      !answer.answers.length ? "" : h("div", { class: "scroll tables", tabindex: 0, role: "region", "aria-label": "All answers" }, h("table", {}, h("thead", {}, h("tr", {}, ...["line", "exercise", "verdict", "formulas", "to read", "why"].map((head) => h("th", { scope: "col" }, head)))),
        h("tbody", {}, ...answer.answers.map((one) => h("tr", {}, h("td", {}, String(one.line)), h("td", {}, button(one.exercise, () => { state.set({ exercise: one.exercise, answer: one.text }); scrollTo({ top: 0 }); }, { class: "quiet", title: "Show it above" })), h("td", {}, badge(one.verdict)), h("td", {}, one.shown.counted), h("td", {}, String(one.to_read.length || "")), h("td", { class: "why" }, because(one.reason, one.shown.reason))))))),
      ...[...answer.problems, ...answer.notes].map((note) => h("p", { class: "note" }, note.line ? `line ${note.line}: ` : "", ...lettered(note.sentence))),
      h("div", { class: "row-of" }, sheetWithVerdicts && button("Download with verdicts", () => download(name.replace(/(\.\w+)?$/, (end) => `-checked${end || ".md"}`), sheetWithVerdicts(), "text/plain")), button("Download the report", () => download("headwright-report.html", report, "text/html"), { class: "primary" }), button("Download JSON", () => download("headwright-document.json", JSON.stringify(rest, null, 2)))));
    speak(`${name}: ${count || "no answers were found"}`);
    papers.scrollIntoView({ block: "nearest" });
  }

  const bare = (values) => !/\$|\\\(|\\\[|\\begin|```/.test(values.answer);
  const eachLine = (values) => values.answer.split("\n").map((line) => line.trim()).filter(Boolean);
  return {
    draw,
    dropped: (one) => (/\.json$/i.test(one.name) ? null : sheet(one)),
    command() {
      const { values } = state;
      const which = values.exercise ? ` --exercise ${quoted(values.exercise)}` : "";
      return bare(values) && values.exercise ? `headwright check${which} --hints ${values.hints} ${eachLine(values).map((one) => `--formula ${quoted(one)}`).join(" ")}\n`
        : `${here("answer.md", values.answer)}headwright check${which} --hints ${values.hints} answer.md\n`;
    },
    python() {
      const { values } = state;
      if (bare(values) && values.exercise) return `from headwright.grading import check\n\nverdict = check(${[values.exercise, ...eachLine(values)].map(literal).join(", ")})\nprint(verdict.word, verdict.reason)\n`;
      return `from headwright.grading.exercise import load_exercises\nfrom headwright.grading.running import run\nfrom headwright.grading.sheets.document import parse_document\n\ntext = ${literal(values.answer)}\nsheet = parse_document(text, "the answer", load_exercises()${values.exercise ? `, ${literal(values.exercise)}` : ""})\nfor checked in run(sheet.answers):\n    print(checked.answer.exercise_id, checked.verdict.word, checked.verdict.reason)\n`;
    },
    json: () => ({ asked: question(state.values), check: found }),
    pictures: () => (picture.hidden ? [...(counter.figure.hidden ? [] : counter.figure.querySelectorAll("svg"))].map((svg, i) => [`counterexample-${i + 1}`, svg]) : [["curve", lines]]),
  };
}

open({
  name: "check", fields, presets, build, hasNumberKeys: false,
  steps: [
    ["#exercise", "The exercise. Choose another one from the list, or none, and paste an answer with its heading."],
    ["#answer", "The answer: formulas only, or text with formulas. It is checked as you type."],
    ["#verdict", "The verdict on each part. Proved: true for all parameters. Refuted: false, with numbers for which it fails. Hints are shown step by step."],
    ...steps,
    ["#read", "Every formula with its status, and the sentences that a person has to read: they are not checked."],
  ],
});
