// The verdict in words: what was proved, or why nothing was, and what can be had instead.
import { checkedBy, down, h, listed, put, shown, up } from "../../common/dom.js";
import { button } from "../../common/controls.js";
import { download } from "../../common/take.js";

const BADGES = { designed: ["proved", "Proved."], impossible: ["refuted", "Proved impossible."], longer: ["undecided", "Proved out of reach."], undecided: ["undecided", "Undecided."] };
const WORLDS = { none: "", ball: ", wherever the keys are within their balls", stretch: ", however the keys are stretched", gauss: " with probability 0.95" };

function headline({ values, answer, least }) {
  const world = WORLDS[values.noise];
  const count = answer.queries.length;
  const many = count > 1;
  if (answer.verdict === "impossible") return `No query whatever gives ${listed(least.map(([target]) => `key ${target}`))} that much${world}.`;
  if (answer.verdict === "longer") return `Only queries longer than ${down(answer.norm_lower_bound ?? 0)} could do it.`;
  if (answer.verdict !== "designed") return "Neither a query nor a proof that there is none was found.";
  if (answer.norm === 0) return "No query at all is needed.";
  if (!answer.norm_lower_bound) return `A query of length ${up(answer.norm)} does it${world}; nothing is proved about shorter ones.`;
  return `${many ? `${count} queries` : "A query"} of length ${many ? "at most " : ""}${up(answer.norm)} ${many ? "do" : "does"} it${world}, and ${many ? `no ${count} queries all` : "none"} shorter than ${down(answer.norm_lower_bound)} ${many ? "do" : "does"}.`;
}

function mixture({ targets, of }) {
  const made = Object.entries(of).sort((a, b) => b[1] - a[1]);
  const said = made.slice(0, 5).map(([key, share]) => `${shown(share, 2)} of key ${key}`);
  if (made.length > 5) said.push(`a little of ${made.length - 5} more`);
  const wished = Object.keys(targets);
  return wished.length === 1
    ? `Key ${wished[0]} lies among the others: it is ${listed(said)}. Its score is the same mixture of theirs, so one of them always scores at least as high.`
    : `A point between ${listed(wished.map((key) => `key ${key}`))} is also ${listed(said)}. So the mean score of the targets is the same mixture of all scores, for every query: they cannot both stand out.`;
}

/** A panel; `draw()` says what the last answer says. */
export function verdictPanel(scene) {
  const panel = h("section", { class: "panel verdict", "aria-label": "Verdict", id: "verdict" });

  function draw() {
    const { values, answer, seconds } = scene;
    put(panel, { class: `panel verdict ${answer?.verdict ?? ""}` });
    if (!answer) { panel.replaceChildren(h("p", { class: "headline" }, scene.least.length ? "No verdict: see what is said beside the controls." : "No wish yet: click a key.")); return; }
    const [kind, word] = BADGES[answer.verdict];
    const parts = [h("p", { class: "headline" }, h("b", { class: `badge ${kind}` }, word), ` ${headline(scene)}`)];
    if (answer.mixing) parts.push(h("p", {}, mixture(answer.mixing)));
    if (answer.best_eps !== null && values.mode === "evenly") parts.push(h("p", {}, `What can be had is eps = ${up(answer.best_eps, 4)}, and nothing below ${down(answer.best_eps_interval[0], 4)}: proved too. `, button("Wish for that", () => scene.state.set({ eps: Number((answer.best_eps * 1.02).toPrecision(3)) }))));
    if (answer.probability) parts.push(h("p", {}, `Granted with probability at least ${answer.probability.proven_at_least}: proved. Sampled: ${shown(answer.probability.probability, 4)} (95% interval ${answer.probability.interval.map((x) => shown(x, 4)).join(" to ")}, ${answer.probability.samples} draws).`));
    parts.push(h("p", { class: "note" }, answer.certificate ? `Verified ${seconds < 10 ? `in ${seconds.toFixed(2)} s ` : ""}by the ${checkedBy(answer.checkers)}, as “headwright verify” does.` : "No certificate."));
    if (answer.certificate) parts.push(h("p", {}, button("Download the certificate", () => download("certificate.json", answer.certificate))));
    parts.push(h("details", {}, h("summary", { class: "note" }, "What exactly was proved"), h("p", { class: "words" }, answer.words)));
    panel.replaceChildren(...parts);
  }

  return { panel, draw };
}
