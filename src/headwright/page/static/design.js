// Design in this tab: JavaScript proposes the shortest query as keys are dragged, and the exact checker proves it.
import { length } from "./common/attention.js";
import { shortestQuery } from "./shortest.js";
import { choice, number } from "./common/state.js";
import { post } from "./common/transport.js";
import { open } from "./common/view.js";
import { build, fields, validate } from "./views/design/view.js";
import { leastOf, scaleOf } from "./views/design/question.js";

const MOST_KEYS = 60; // that the proof takes less than half a second for

const presets = [
  ["Copy one key", {}],
  ["Average two neighbours", { targets: [1, 2] }],
  ["Average two distant keys: impossible", { targets: [1, 4] }],
  ["Target inside the other keys: impossible", { n: 7, moved: { 6: [0.12, 0.08] }, targets: [6] }],
  ["60 keys", { kind: "circle", n: 60, targets: [8] }],
  ["On a sphere", { kind: "sphere", n: 24, d: 3, seed: 2, targets: [3], yaw: 30, pitch: 20 }],
  ["16 dimensions", { kind: "sphere", n: 40, d: 16, seed: 5, targets: [0, 7] }],
];

const steps = [
  [".planes figure:first-child", "These are the keys. A head computes the score of each key with its query; the softmax of the scores is the pattern. The orange key is the target: the head should attend to it."],
  [".planes figure:last-child", "Every point here is a query. The queries in the green region meet the target. Here the region is unbounded: longer queries in the same direction attend more sharply."],
  ["#verdict", "The dashed circle touches the region at its shortest query. The exact checker proved in this tab that this query meets the target, and that no shorter query does."],
  ["#mine", "Drag the round handle to try your own query. The dotted line leads to the nearest query that meets the target."],
  ["#pattern", "The pattern of the query. The line across a bar is the required weight."],
  ["#verdict", "A target that no query meets: a key inside the convex hull of the others. It is a convex combination of them, so its score is the same combination of their scores. The coefficients are the proof.", "Target inside the other keys: impossible"],
  [".presets", "More examples. The address contains the whole state: copy the link to share what you see. Ctrl+Z undoes.", "Copy one key"],
];

/** What JavaScript finds for the state shown, with what the checker needs to prove it. */
function found(state, keys) {
  const scale = scaleOf(state.values);
  return Number.isFinite(scale) ? shortestQuery(keys, leastOf(state.values), scale) : null;
}

/** The same as an answer that the view can draw. */
function proposal(state, { keys }) {
  const best = found(state, keys);
  const query = best?.query ?? null;
  return {
    verdict: "proposed", isMissing: Boolean(best?.impossible), queries: query ? [query] : [], norm: query ? length(query) : null,
    norm_lower_bound: null, best_eps: null, best_eps_interval: null, probability: null, mixing: null, checkers: [], certificate: null, words: "",
  };
}

/** Python proves the proposal; without one, it is not asked. */
async function prove(state, call, given, signal, onProgress) {
  const best = found(state, given.keys);
  if (!best) return { ...proposal(state, given), verdict: "undecided" };
  return post(call, { ...given, proposal: best }, signal, onProgress);
}

const fieldsHere = { // one head, and keys that are certain: the lab has more
  ...fields,
  n: number(9, { least: 2, most: MOST_KEYS, whole: true }),
  heads: number(1, { least: 1, most: 1, whole: true }),
  noise: choice("none", ["none"]),
};

open({
  name: "design", fields: fieldsHere, presets, validate, steps,
  build: (main, state) => build(main, state, {
    mostKeys: MOST_KEYS,
    propose: (given) => proposal(state, given),
    by: (...asked) => prove(state, ...asked),
  }),
});
