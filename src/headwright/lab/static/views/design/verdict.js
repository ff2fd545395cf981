// The verdict in words: what was proved, or why nothing was, and the best possible tolerance.
import { checkedBy, down, h, listed, put, shown, up } from "../../common/dom.js";
import { button } from "../../common/controls.js";
import { download } from "../../common/export.js";

const BADGES = { designed: ["proved", "Proved."], impossible: ["refuted", "Proved impossible."], longer: ["undecided", "Proved: longer than the limit."], undecided: ["undecided", "Undecided."], proposed: ["undecided", "Not proved yet."] };
const UNCERTAINTIES = { none: "", ball: " for all keys within their balls", stretch: " for all lengths of the keys in the range", gauss: " with probability 0.95" };

/** What was found in floating point, before the checker has seen it. */
function proposal({ norm, isMissing }) {
  if (isMissing) return "No query seems to give the targets the required weights.";
  return norm === null ? "No query was found." : `A query of length ${shown(norm)} seems to meet the targets, and no shorter one.`;
}

function headline({ values, answer, least }) {
  const uncertainty = UNCERTAINTIES[values.noise];
  const count = answer.queries.length;
  const many = count > 1;
  if (answer.verdict === "proposed") return proposal(answer);
  if (answer.verdict === "impossible") return `No query gives ${listed(least.map(([target]) => `key ${target}`))} the required weight${least.length > 1 ? "s" : ""}${uncertainty}.`;
  if (answer.verdict === "longer") return `Every query that meets the targets is longer than ${down(answer.norm_lower_bound ?? 0)}.`;
  if (answer.verdict !== "designed") return "Neither a query nor a proof that none exists was found.";
  if (answer.norm === 0) return "The zero query meets the targets.";
  if (!answer.norm_lower_bound) return `A query of length ${up(answer.norm)} meets the targets${uncertainty}; nothing is proved about shorter ones.`;
  return `${many ? `${count} queries of length at most` : "A query of length"} ${up(answer.norm)} ${many ? "meet" : "meets"} the targets${uncertainty}; ${many ? `no ${count} queries all` : "no query"} shorter than ${down(answer.norm_lower_bound)} ${many ? "do" : "does"}.`;
}

function mixture({ targets, of }) {
  const made = Object.entries(of).sort((a, b) => b[1] - a[1]);
  const said = made.slice(0, made.length > 6 ? 5 : 6).map(([key, share]) => `${shown(share, 2)} of key ${key}`);
  if (made.length > 6) said.push(`smaller parts of ${made.length - 5} others`);
  const targetKeys = Object.keys(targets);
  return targetKeys.length === 1
    ? `Key ${targetKeys[0]} is a convex combination of other keys: ${listed(said)}. Its score is the same combination of their scores, so for every query one of them scores at least as high.`
    : `A point between ${listed(targetKeys.map((key) => `key ${key}`))} is also a convex combination of keys: ${listed(said)}. So a weighted mean of the targets' scores equals the same combination of all scores, for every query.`;
}

/** A panel; `draw()` shows the last answer. */
export function verdictPanel(scene) {
  const panel = h("section", { class: "panel verdict", "aria-label": "Verdict", id: "verdict" });

  function draw() {
    const { values, answer, seconds } = scene;
    put(panel, { class: `panel verdict ${answer?.verdict ?? ""}` });
    if (!answer) { panel.replaceChildren(h("p", { class: "headline" }, scene.least.length ? "No verdict: see the error message." : "No target: click a key.")); return; }
    const [kind, word] = BADGES[answer.verdict];
    const parts = [h("p", { class: "headline" }, h("b", { class: `badge ${kind}` }, word), ` ${headline(scene)}`)];
    if (answer.mixing) parts.push(h("p", {}, mixture(answer.mixing)));
    if (answer.best_eps !== null && values.mode === "evenly") parts.push(h("p", {}, `The best possible tolerance is eps = ${up(answer.best_eps, 4)}; below ${down(answer.best_eps_interval[0], 4)} it is impossible (proved). `, button("Use this tolerance", () => scene.state.set({ eps: Number((answer.best_eps * 1.02).toPrecision(3)) }))));
    if (answer.probability) parts.push(h("p", {}, `Probability at least ${answer.probability.proven_at_least} (proved). Sampled: ${shown(answer.probability.probability, 4)} (95% interval ${down(answer.probability.interval[0])} to ${up(answer.probability.interval[1])}, ${answer.probability.samples} draws).`));
    if (answer.verdict === "proposed") { panel.replaceChildren(...parts, h("p", { class: "note" }, "Computed in floating point. The proof follows.")); return; }
    parts.push(h("p", { class: "note" }, answer.certificate ? `Certificate verified by the ${checkedBy(answer.checkers)}${seconds < 10 ? ` (${seconds.toFixed(2)} s in all)` : ""}.` : "No certificate."));
    if (answer.certificate) parts.push(h("p", {}, button("Download certificate", () => download("certificate.json", answer.certificate))));
    parts.push(h("details", {}, h("summary", { class: "note" }, "What exactly was proved"), h("p", { class: "words" }, answer.words)));
    panel.replaceChildren(...parts);
  }

  return { panel, draw };
}
