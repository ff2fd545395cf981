// Order in this tab: JavaScript computes the layer as words are dragged, and Python proves the theorem behind it.
import { h } from "./common/dom.js";
import { typeset } from "./common/formula.js";
import { post } from "./common/transport.js";
import { open } from "./common/view.js";
import { compareOrders } from "./layer.js";
import { DERIVATION } from "./theorem.js";
import { build, fields, presets, steps, validate } from "./views/order/view.js";

const EXERCISE = "permutation";
const ROUNDING_STEPS = 2; // at the end of the tour: the lab has them

/** The theorem with its derivation, judged by Python in this tab. */
async function prove(place) {
  if (!DERIVATION) return;
  const { exercises: [exercise] } = await post("exercises", { exercise: EXERCISE }).catch(() => ({ exercises: [] }));
  if (!exercise?.solutions?.length) return;
  place.hidden = false;
  const head = h("p", { class: "headline busy" }, "Not proved yet: Python is loading.");
  place.replaceChildren(h("h2", {}, "For all matrices of all sizes"), head);
  try {
    const { answers: [answer] } = await post("check", { text: DERIVATION, exercise: EXERCISE, hints: "full" });
    head.className = "headline";
    head.replaceChildren(h("b", { class: `badge ${answer.verdict}` }, answer.verdict), " ", ...typeset(answer.shown.asked[0].formula));
    place.classList.add(answer.verdict);
    place.append(h("p", { class: "note" }, "Each step of this derivation was proved in this tab, for a layer without positions and without a mask:"),
      ...answer.shown.formulas.map((formula) => h("p", { class: "formula" }, ...typeset(formula.formula))),
      h("p", {}, h("a", { href: `index.html#exercise=${EXERCISE}&answer=${encodeURIComponent(DERIVATION)}` }, "Open it under Check")));
  } catch (error) {
    head.className = "headline";
    head.textContent = `Not proved: ${error.message}`;
  }
}

const theorem = h("section", { class: "panel verdict", id: "theorem", hidden: true, "aria-label": "The theorem" });
open({
  name: "order", fields, presets, validate, steps: steps.slice(0, -ROUNDING_STEPS),
  build: (main, state) => build(main, state, { hasRounding: false, theorem, by: async (_, given) => compareOrders(given) }),
});
prove(theorem);
