// The exercises that are set, each with the state of its draft; the drafts as one file, and back.
import { h, put, speak } from "../../common/dom.js";
import { button } from "../../common/controls.js";
import { download } from "../../common/export.js";
import { answersIn, fileName, sheetOf } from "./drafts.js";

const SIGNS = { proved: "✓", refuted: "✗", undecided: "…", missing: "○", draft: "✎", none: "·" };
const LARGEST = 1_000_000; // characters of a sheet that is opened

/** `choose(id)` shows an exercise with its draft. */
export function homework(drafts, choose) {
  const done = h("p", { class: "headline", id: "progress" });
  const about = h("p", { class: "note", id: "deadline", hidden: true });
  const list = h("ol", { class: "set" });
  const trouble = h("p", { class: "error", id: "error-sheet", role: "alert", hidden: true });
  const opened = h("p", { class: "note", id: "opened", role: "status" });
  const file = h("input", { class: "unseen", type: "file", id: "sheet", accept: ".md,.markdown,.txt,text/plain,text/markdown" });
  const save = button("Download my answers", () => download(fileName(document.title), sheetOf(document.title, exercises, drafts), "text/markdown"), { class: "primary", id: "download-answers" });
  const kept = h("p", { class: "note", id: "kept" });
  let exercises = [];
  let shown = "";

  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    const text = chosen && chosen.size <= LARGEST ? await chosen.text() : "";
    file.value = "";
    if (chosen) restore(chosen.name, text);
  });

  /** The answers of a sheet become the drafts; those that they replace are kept beside them. */
  function restore(name, text) {
    const answers = answersIn(text, exercises);
    trouble.hidden = answers.length > 0;
    trouble.textContent = answers.length ? "" : `${name} has no answer to open: expected a heading with an exercise's id above each, such as ## ${exercises[0]?.id ?? "copying"}. To check other documents, choose the file under 'Check a document'.`;
    if (!answers.length) return;
    for (const [id, answer] of answers) if (drafts.text(id) !== answer) drafts.save(id, answer, true);
    opened.textContent = `${name}: ${answers.length === 1 ? "1 answer was" : `${answers.length} answers were`} opened. Each is checked when you choose its exercise.`;
    speak(opened.textContent);
    choose(answers.some(([id]) => id === shown) ? shown : answers[0][0]);
  }

  function draw() {
    const states = exercises.map(({ id }) => drafts.state(id));
    const proved = states.filter(([word]) => word === "proved").length;
    done.textContent = `${proved} of ${exercises.length} proved`;
    list.replaceChildren(...exercises.map(({ id, title, points }, i) => {
      const [word, sentence] = states[i];
      return h("li", {}, h("button", { type: "button", class: "exercise", "aria-current": id === shown ? "true" : null, onclick: () => choose(id) },
        h("span", { class: `sign badge ${word}`, "aria-hidden": "true" }, SIGNS[word] ?? "·"), h("span", {}, title, h("span", { class: "note" }, points ? `${points === 1 ? "1 point" : `${points} points`}, ${sentence}` : sentence))));
    }));
    put(save, { disabled: !states.some(([word]) => word !== "none") });
    kept.textContent = drafts.isKept ? "Drafts are kept in this browser. Nothing has left this tab: hand in the file that you download."
      : "This browser keeps no drafts: download your answers before you close this tab. Nothing has left this tab.";
  }
  drafts.listen(draw);

  return {
    elements: [done, about, list, h("p", { class: "row-of" }, save), h("p", {}, h("label", { class: "button", for: "sheet" }, "Open answers"), file), trouble, opened, kept],
    /** The exercises of the page, with its deadline and help. */
    set(page) {
      exercises = page.exercises;
      about.textContent = [page.deadline ? `Due: ${page.deadline}.` : "", page.help].filter(Boolean).join(" ");
      about.hidden = !about.textContent;
      draw();
    },
    show(id) { shown = id; draw(); },
    /** The exercise after this one that is not proved; null where all are. */
    next(id) {
      const at = exercises.findIndex((one) => one.id === id);
      const after = [...exercises.slice(at + 1), ...exercises.slice(0, Math.max(at, 0))];
      return after.find((one) => drafts.state(one.id)[0] !== "proved")?.id ?? null;
    },
    progress: () => done.textContent,
  };
}
