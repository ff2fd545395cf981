// The room's views, put together: pictures, fields and the verdict around one scene, and the question to whoever proves.
import { h, speak } from "../../common/dom.js";
import { choice, list, number, rows, text } from "../../common/state.js";
import { button, choose, forgive, group, line, refusals, refuse, slider } from "../../common/controls.js";
import { Asker, post } from "../../common/ask.js";
import { KINDS } from "./keys.js";
import { Scene } from "./scene.js";
import { command, python, questionOf } from "./question.js";
import { keyView } from "./keyview.js";
import { queryView } from "./queryview.js";
import { patternView } from "./patternview.js";
import { verdictPanel } from "./verdict.js";
import { chosenFields, queryPanel, wishFields } from "./fields.js";

const FURTHEST = 9; // coordinates stay within
const NOISES = [["none", "none"], ["ball", "ball"], ["stretch", "stretch"], ["gauss", "Gaussian"]];
const AMOUNTS = { ball: "radius", stretch: "stretched by up to", gauss: "variance" };

export const fields = {
  kind: choice("circle", KINDS.map(([name]) => name)),
  n: number(9, { least: 2, most: 200, whole: true }),
  d: number(2, { least: 2, most: 16, whole: true }),
  seed: number(1, { least: 0, most: 1e6, whole: true }),
  moved: rows({}),
  targets: list([1], { longest: 64, whole: true, least: 0 }),
  mode: choice("evenly", ["evenly", "least"]),
  least: rows({}),
  eps: number(0.1, { least: 1e-6, most: 100 }),
  scale: text("1", { longest: 40 }),
  heads: number(1, { least: 1, most: 4, whole: true }),
  noise: choice("none", ["none", "ball", "stretch", "gauss"]),
  amount: number(0.1, { least: 0.001, most: 0.9 }),
  query: list([], { longest: 16 }),
  yaw: number(0, { least: -180, most: 180 }),
  pitch: number(0, { least: -180, most: 180 }),
};

const legend = (...items) => h("div", { class: "legend" }, ...items.map(([kind, said]) => h("span", {}, h("i", { class: kind }), said)));
const within = (degrees) => Math.round(((((degrees + 180) % 360) + 360) % 360) - 180);

/** `by` answers questions (the server, or a notebook's kernel); where keys are `given`, how many there are is not to be chosen. */
export function build(main, state, { by = post, given = false, heard = () => {} } = {}) {
  const scene = new Scene(state);
  let asked = "";
  let answered = "";
  let told = {}; // what the verdict's panel says
  const hands = {
    move(index, place) { state.set({ moved: { ...state.values.moved, [index]: place.map((x) => Number(Math.max(-FURTHEST, Math.min(FURTHEST, x)).toFixed(3))) } }, { settle: false }); },
    toggle(index) {
      const { targets } = state.values;
      state.set({ targets: targets.includes(index) ? targets.filter((target) => target !== index) : [...targets, index].sort((a, b) => a - b) });
    },
    choose(index) { if (index !== scene.chosen) { scene.chosen = index; draw(state.values, []); } },
    turn(yaw, pitch) { state.set({ yaw: within(yaw), pitch: within(pitch) }, { settle: false }); },
    settle: () => state.settle(),
  };
  const keys = keyView(scene, hands, legend);
  const queries = queryView(scene, legend);
  const pattern = patternView(scene);
  const verdict = verdictPanel(scene);
  const wishes = wishFields(scene, hands);
  const chosen = chosenFields(scene, hands);
  const mine = queryPanel(scene, queries.plane);
  const amount = slider(state, "amount", "amount", { least: 0.001, most: 0.9, log: true });
  const view = group("View", slider(state, "yaw", "turned to the side", { least: -180, most: 180, step: 1 }), slider(state, "pitch", "turned up", { least: -180, most: 180, step: 1 }),
    button("Look along the query", () => state.set({ yaw: 0, pitch: 0 })));
  const many = given ? [] : [choose(state, "kind", "they lie on a", KINDS),
    slider(state, "n", "how many (n)", { least: 2, most: 200, step: 1 }), slider(state, "d", "dimensions (d)", { least: 2, most: 16, step: 1 }),
    slider(state, "seed", "seed", { least: 0, most: 999, step: 1 })];
  const controls = h("div", { class: "controls" },
    group("Wish", wishes.place, choose(state, "mode", "weights", [["evenly", "evenly"], ["least", "at least"]]),
      slider(state, "eps", "eps: what is left to the others", { least: 1e-6, most: 100, log: true })),
    group("Keys", ...many, h("div", { class: "control" }, h("span", { class: "label" }, "the chosen key, and where it lies"), chosen.place)), view,
    group("Head", line(state, "scale", "scale of the scores", { note: "exact, such as 1 or 1/8" }), slider(state, "heads", "heads", { least: 1, most: 4, step: 1 }),
      choose(state, "noise", "keys may be off by a", NOISES), amount));
  main.append(h("div", { class: "room" }, controls,
    h("div", { class: "stage" }, h("div", { class: "planes" }, keys.figure, queries.figure), refusals(),
      h("div", { class: "below" }, h("div", { class: "stage" }, verdict.panel, mine.panel), pattern.figure))));

  function settle(answer, took) {
    Object.assign(scene, { answer, seconds: took });
    answered = asked;
    if (answer) { forgive(state); scene.look(); }
    draw(state.values, []);
  }
  const asker = new Asker("design", { state, what: "Designing",
    by,
    waiting(yes) { verdict.panel.classList.toggle("stale", yes && answered !== asked); verdict.panel.querySelector(".headline")?.classList.toggle("busy", yes); },
    answered(found, took) { settle(found, took); heard(found); speak(verdict.panel.querySelector(".headline")?.textContent ?? ""); },
    failed(sentence, where) { settle(null, 0); refuse(state, sentence, where); },
  });

  function draw(values, names) {
    scene.refresh();
    const body = questionOf(values, scene.keys);
    asked = JSON.stringify(body);
    if (names.length && asked !== answered) {
      if (scene.least.length) asker.ask(body); else { asker.cancel(); scene.answer = null; answered = asked; }
    } else if (asked === answered) asker.cancel();
    scene.fresh = answered === asked;
    verdict.panel.classList.toggle("stale", !scene.fresh);
    for (const part of [keys, queries, pattern, wishes, chosen, mine]) part.draw();
    if (scene.fresh && (told.answer !== scene.answer || told.asked !== asked)) { told = { asked, answer: scene.answer }; verdict.draw(); }
    else if (!verdict.panel.childElementCount) verdict.panel.append(h("p", { class: "headline busy" }, "Asking the checker"));
    for (const label of amount.querySelectorAll("label")) label.textContent = AMOUNTS[values.noise] ?? "amount";
    amount.hidden = values.noise === "none";
    view.hidden = values.d === 2;
  }

  return {
    draw,
    python: () => python(state.values, scene.keys),
    command: () => command(state.values, scene.keys),
    json: () => ({ asked: questionOf(state.values, scene.keys), answer: scene.answer }),
    pictures: () => [["keys", keys.svg], ["queries", queries.svg], ["pattern", pattern.svg]],
    certificate: () => scene.answer?.certificate,
  };
}
