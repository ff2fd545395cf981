// The Design view: pictures, fields and the verdict, and the request to the server (or to a notebook's kernel).
import { h, listed, speak } from "../../common/dom.js";
import { button, choose, controls, forgive, group, line, refusals, refuse, slider } from "../../common/controls.js";
import { Asker } from "../../common/request.js";
import { post } from "../../common/transport.js";
import { KINDS } from "./keys.js";
import { fields, NOISES } from "./values.js";
import { Scene } from "./scene.js";
import { command, python, questionOf } from "./question.js";
import { keyView } from "./keyview.js";
import { queryView } from "./queryview.js";
import { patternView } from "./patternview.js";
import { verdictPanel } from "./verdict.js";
import { chosenFields, queryPanel, targetsFields } from "./fields.js";

export { fields };

const FURTHEST = 9; // coordinates stay within
const AMOUNTS = { ball: "radius", stretch: "relative change of length, at most", gauss: "variance" };

/** A legend; `show({kind: drawn, ...})` hides what the picture does not contain. */
function legend(...items) {
  const parts = items.map(([kind, label]) => [kind, h("span", {}, h("i", { class: kind }), label)]);
  return {
    place: h("div", { class: "legend" }, ...parts.map(([, part]) => part)),
    show(drawn) { for (const [kind, part] of parts) part.hidden = kind in drawn && !drawn[kind]; },
  };
}
const within = (degrees) => Math.round(((((degrees + 180) % 360) + 360) % 360) - 180);

/** What a link asks for that does not exist. */
export function validate({ n, d, targets, chosen, moved, query }) {
  const missing = (keys) => `there is no key ${listed(keys)}: the keys are 0 to ${n - 1}`;
  const [gone, strayed] = [targets.filter((key) => key >= n), Object.keys(moved).filter((key) => key >= n)];
  return [
    ...(gone.length ? [["targets", missing(gone)]] : []),
    ...(chosen >= n ? [["chosen", missing([chosen])]] : []),
    ...(strayed.length ? [["moved", missing(strayed)]] : []),
    ...(query.length && query.length !== d ? [["query", `${query.length} numbers: expected ${d}`]] : []),
  ];
}

/**
 * `by` answers requests (the server, or Python in this tab); where keys are `given`, their number cannot be changed.
 * With `propose`, a function of the request, its answer is shown at once as not proved yet; then there is one head, of certain keys.
 */
export function build(main, state, { by = post, given = false, heard = () => {}, propose = null, mostKeys = 200 } = {}) {
  const scene = new Scene(state);
  let asked = "";
  let answered = "";
  let sent = ""; // the request under way
  let proposed = ""; // the request that a proposal is shown for
  let told = {}; // what the verdict panel shows
  const hands = {
    move(index, place) { state.set({ moved: { ...state.values.moved, [index]: place.map((x) => Number(Math.max(-FURTHEST, Math.min(FURTHEST, x)).toFixed(3))) } }, { settle: false }); },
    target(index, add) {
      const { targets } = state.values;
      const others = targets.filter((target) => target !== index);
      state.set({ chosen: index, targets: !add ? [index] : others.length < targets.length ? others : [...targets, index].sort((a, b) => a - b) });
    },
    choose(index) { state.set({ chosen: index }, { settle: false }); },
    turn(yaw, pitch) { state.set({ yaw: within(yaw), pitch: within(pitch) }, { settle: false }); },
    settle: () => state.settle(),
  };
  const keys = keyView(scene, hands, legend);
  const queries = queryView(scene, legend);
  const pattern = patternView(scene);
  const verdict = verdictPanel(scene);
  const targets = targetsFields(scene, hands);
  const chosen = chosenFields(scene, hands);
  const mine = queryPanel(scene, queries.plane);
  const amount = slider(state, "amount", "amount", { least: 0.001, most: 0.9, log: true });
  const view = group("View direction", slider(state, "yaw", "horizontal angle (degrees)", { least: -180, most: 180, step: 1 }), slider(state, "pitch", "vertical angle (degrees)", { least: -180, most: 180, step: 1 }),
    button("Reset", () => state.set({ yaw: 0, pitch: 0 })));
  const many = given ? [] : [choose(state, "kind", "arrangement", KINDS),
    slider(state, "n", "number of keys (n)", { least: 2, most: mostKeys, step: 1 }), slider(state, "d", "dimensions (d)", { least: 2, most: 16, step: 1 }),
    slider(state, "seed", "random seed", { least: 0, most: 999, step: 1 })];
  main.append(h("div", { class: "layout" }, controls(
    group("Targets", targets.place, choose(state, "mode", "required weights", [["evenly", "equal"], ["least", "one by one"]]),
      slider(state, "eps", "tolerance (eps)", { least: 1e-6, most: 100, log: true, note: "Each target gets at least 1/(targets + eps)." })),
    group("Keys", ...many, h("div", { class: "control" }, h("span", { class: "label" }, "selected key and its coordinates"), chosen.place)), view,
    group("Head", line(state, "scale", "scale of the scores", { note: "exact, such as 1 or 1/8" }), ...(propose ? [] : [slider(state, "heads", "number of heads", { least: 1, most: 4, step: 1 }),
      choose(state, "noise", "uncertainty of the keys", NOISES), amount]))),
    h("div", { class: "stage" }, refusals(), h("div", { class: "planes" }, keys.figure, queries.figure),
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
      if (!scene.least.length) { asker.cancel(); scene.answer = null; answered = asked; }
      else if (asked !== sent) { sent = asked; asker.ask(body); } // a change of the view alone does not restart it
    } else if (asked === answered) asker.cancel();
    if (asked === answered) sent = "";
    if (propose && asked !== answered && asked !== proposed && scene.least.length) {
      proposed = asked;
      scene.answer = propose(body);
      scene.refresh(); // the pattern of the proposal
    }
    scene.fresh = asked === answered || asked === proposed;
    verdict.panel.classList.toggle("stale", !scene.fresh);
    for (const part of [keys, queries, pattern, targets, chosen, mine]) part.draw();
    if (scene.fresh && (told.answer !== scene.answer || told.asked !== asked)) { told = { asked, answer: scene.answer }; verdict.draw(); }
    else if (!verdict.panel.childElementCount) verdict.panel.append(h("p", { class: "headline busy" }, "Designing"));
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
