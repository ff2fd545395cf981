// Drafts: what was written for each exercise, with the last verdict on it. They stay in this browser until they are downloaded.
const FOLDER = location.pathname.replace(/[^/]*$/, ""); // another homework on the same server has drafts of its own
const PREFIX = `headwright-draft ${FOLDER} `;
const LAST = `headwright-last ${FOLDER}`;
const FORMAL = /[=<>≤≥≠≪≫≈∝→∈_^/+*\\]/; // what a formula has, and a sentence has not
const FEWEST_WORDS = 3; // of a sentence
const MARKS = /\$|\\\(|\\\[|\\begin|```/; // of formulas in a text
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;

/** One answer: its text, the text it replaced, and the verdict on `checked`, with the number of its false formulas. */
const EMPTY = { text: "", earlier: null, checked: null, word: null, wrong: 0 };

export class Drafts {
  constructor() {
    this.isKept = true; // whether this browser stores anything
    this.memory = new Map();
    this.listeners = [];
    addEventListener("storage", (event) => { if (!event.key || event.key.startsWith(PREFIX)) this.#tell(); }); // another tab
  }

  listen(changed) { this.listeners.push(changed); }
  #tell() { for (const listener of this.listeners) listener(); }

  #read(id) {
    let stored = this.memory.get(id) ?? null;
    try { stored = JSON.parse(localStorage.getItem(PREFIX + id) ?? "null") ?? stored; } catch { /* storage is disabled, or holds something else */ }
    return stored && typeof stored.text === "string" ? { ...EMPTY, ...stored } : null;
  }

  #write(id, draft) {
    this.memory.set(id, draft);
    try {
      if (draft) localStorage.setItem(PREFIX + id, JSON.stringify(draft)); else localStorage.removeItem(PREFIX + id);
      localStorage.setItem(LAST, id);
    } catch { this.isKept = false; }
    this.#tell();
  }

  /** The draft of an exercise; null where there is none. */
  text(id) { return this.#read(id)?.text || null; }

  /** The text that the draft of an exercise replaced, or null. */
  earlier(id) { return this.#read(id)?.earlier ?? null; }

  /** The exercise that was worked on last, or null. */
  last() { try { return localStorage.getItem(LAST); } catch { return null; } }

  /** Keep a text as the draft; `replaces`: it does not go on from the draft that was there, which is kept too. */
  save(id, text, replaces = false) {
    const before = this.#read(id) ?? EMPTY;
    if (!text && !before.earlier && !before.text) return;
    this.#write(id, { ...before, text, earlier: replaces && before.text ? before.text : before.earlier });
  }

  /** The draft and the text that it replaced change places. */
  exchange(id) {
    const { text, earlier } = this.#read(id) ?? EMPTY;
    if (earlier) this.#write(id, { ...EMPTY, text: earlier, earlier: text || null });
  }

  /** A verdict on a text, if this is still the draft. */
  judged(id, text, word, wrong) {
    const draft = this.#read(id);
    if (draft?.text === text) this.#write(id, { ...draft, checked: text, word, wrong });
  }

  /** The state of an exercise: [word, sentence]. */
  state(id) {
    const draft = this.#read(id);
    if (!draft?.text) return ["none", "not begun"];
    if (draft.checked !== draft.text) return ["draft", "not checked yet"];
    return [draft.word, draft.wrong ? `${draft.word}, ${draft.wrong === 1 ? "a formula is" : `${draft.wrong} formulas are`} false` : draft.word];
  }
}

/** Whether a text without marks is a sentence, and no formula: as Python decides it. */
const inWords = (text) => !FORMAL.test(text) && (text.match(/[A-Za-z]{2,}/g) ?? []).length >= FEWEST_WORDS;

/** A text as a section of a sheet holds it: bare formulas between dollar signs, and headings below that of the exercise. */
function asSection(text) {
  if (!MARKS.test(text) && inWords(text)) return text.trim().replace(/^( {0,3})#{1,2}(?=\s)/gm, "$1###");
  if (!MARKS.test(text)) return text.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => `$$${line}$$`).join("\n\n");
  let isCode = false;
  return text.split("\n").map((line, i, lines) => {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    if (isCode) return line;
    if (/^ {0,3}(=+|-+)\s*$/.test(line) && lines[i - 1]?.trim()) return ""; // a heading with a line below it
    return line.replace(/^( {0,3})#{1,2}(?=\s)/, "$1###");
  }).join("\n").trim();
}

/** All drafts as one sheet, with the headings that `headwright check` and Gradescope read. */
export function sheetOf(title, exercises, drafts) {
  const parts = exercises.filter(({ id }) => drafts.text(id)).map(({ id }) => `## ${id}\n\n${asSection(drafts.text(id))}\n`);
  return `<!-- ${title.replace(/[<>]|--+/g, "")} -->\n\n${parts.join("\n")}`;
}

/** The exercise that a heading names: by its id or its title. */
function named(heading, exercises) {
  const words = heading.trim().toLowerCase();
  return exercises.find(({ id, title }) => id === words.replaceAll("_", "-") || title.toLowerCase() === words)?.id;
}

/** The answers in a sheet, by exercise: [[id, text], ...]. What stands above the first heading is left out. */
export function answersIn(sheet, exercises) {
  const answers = [];
  let isCode = false;
  for (const line of sheet.replace(/\r\n?/g, "\n").split("\n")) {
    if (/^\s*(```|~~~)/.test(line)) isCode = !isCode;
    const heading = isCode ? null : HEADING.exec(line);
    const id = heading && named(heading[2], exercises);
    if (id) answers.push([id, []]); else answers.at(-1)?.[1].push(line);
  }
  return answers.map(([id, lines]) => [id, lines.join("\n").trim()]).filter(([, text]) => text);
}

/** A name for the file: that of the page, in letters that any system takes. */
export const fileName = (title) => `${title.normalize("NFKD").toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "").slice(0, 60) || "homework"}-answers.md`;
