// Number fields for the targets, the selected key and your query. A field with the focus is not overwritten.
import { h, put, shown, tell } from "../../common/dom.js";
import { button } from "../../common/controls.js";
import { length, nearest } from "../../common/attention.js";

const finite = (input) => (input.value !== "" && Number.isFinite(Number(input.value)) ? Number(input.value) : null);

/** A row of number fields for the coordinates of a vector; made anew only when there are others. */
function coordinates(place, vector, { label, changed }) {
  const made = [...place.querySelectorAll("input[data-axis]")];
  if (made.length === vector.length) {
    made.forEach((input, axis) => { put(input, { "aria-label": label(axis) }); if (!input.matches(":focus") && Number(input.value) !== vector[axis]) input.value = vector[axis]; });
    return;
  }
  for (const input of made) input.remove();
  place.append(...vector.map((x, axis) => {
    const input = h("input", { type: "number", step: 0.05, value: x, "aria-label": label(axis), "data-axis": axis });
    input.addEventListener("change", () => { const to = finite(input); if (to !== null) changed(axis, to); });
    return input;
  }));
}

/** The required weight of each target, and a button that adds or removes the selected key. */
export function targetsFields(scene, hands) {
  const place = h("div", { id: "targets" });
  let drawn = "";
  function draw() {
    const { values, least, chosen } = scene;
    const now = JSON.stringify([least, values.mode, chosen, values.targets.includes(chosen)]);
    if (now === drawn || place.querySelector("input:focus")) return;
    drawn = now;
    place.replaceChildren(...least.map(([target, weight]) => {
      const row = h("div", { class: "control row" }, h("label", { for: `least-${target}` }, `key ${target}: weight at least`));
      if (values.mode === "least") {
        const input = h("input", { type: "number", id: `least-${target}`, min: 0.001, max: 0.999, step: 0.01, value: weight });
        input.addEventListener("input", () => { const given = Number(input.value); if (given > 0 && given < 1) scene.state.set({ least: { ...scene.values.least, [target]: [given] } }, { settle: false }); });
        input.addEventListener("change", () => scene.state.settle());
        row.append(input);
      } else row.append(h("output", { id: `least-${target}` }, shown(weight, 4)));
      return row;
    }));
    if (!least.length) place.append(h("p", { class: "note" }, "Click a key, or use the button below."));
    place.append(button(values.targets.includes(chosen) ? `Remove target ${chosen}` : `Add target ${chosen}`, () => hands.target(chosen, true)));
  }
  return { place, draw };
}

/** The number of the selected key, and its coordinates. */
export function chosenFields(scene, hands) {
  const index = h("input", { type: "number", min: 0, step: 1, "aria-label": "Number of the selected key" });
  const place = h("div", { class: "coordinates", id: "place" }, index);
  index.addEventListener("change", () => { const to = Number(index.value); if (Number.isInteger(to) && to >= 0 && to < scene.values.n) hands.choose(to); });
  function draw() {
    put(index, { max: scene.values.n - 1 });
    if (!index.matches(":focus")) index.value = scene.chosen;
    coordinates(place, scene.keys[scene.chosen], {
      label: (axis) => `Key ${scene.chosen}, coordinate ${axis}`,
      changed(axis, to) { hands.move(scene.chosen, scene.keys[scene.chosen].map((x, i) => (i === axis ? to : x))); hands.settle(); },
    });
  }
  return { place, draw };
}

/** Your query: its coordinates, its distance to the region, and which target it misses. */
export function queryPanel(scene, plane) {
  const { state } = scene;
  const words = h("p", { id: "mine-words" });
  const numbers = h("div", { class: "coordinates" });
  const rest = button("Back to the shortest query", () => state.set({ query: [] }));
  const take = button("Edit a query", () => state.set({ query: (scene.current() ?? scene.unseen([plane.reach * 0.35, plane.reach * 0.2])).map((x) => Number((x * 0.7).toFixed(4))) }));
  const panel = h("section", { class: "panel", "aria-label": "Your query", id: "mine" }, h("h2", {}, "Your query"), words, numbers, rest, take);

  function said(query) {
    const { values, least, answer } = scene;
    if (!least.length) return "Choose a target first.";
    if (!query) return "Drag the round handle in the picture of queries to see whether another query meets the targets.";
    const weights = scene.pull(query);
    const short = least.filter(([target, weight]) => weights[target] < weight).sort((a, b) => weights[a[0]] / a[1] - weights[b[0]] / b[1]);
    if (!short.length) return `Length ${shown(length(query))}. It meets the targets${values.noise === "none" ? "" : " for the keys as drawn"} (floating-point)${answer?.norm ? `, and is ${shown((length(query) / answer.norm - 1) * 100, 1)}% longer than the shortest` : ""}.`;
    const [target, weight] = short[0];
    const [rival, most] = weights.reduce((best, w, i) => (i !== target && w > best[1] ? [i, w] : best), [-1, -1]);
    const to = scene.region && values.d === 2 ? nearest(scene.region, query) : null;
    return `Length ${shown(length(query))}. Key ${target} gets weight ${shown(weights[target])}, at least ${shown(weight)} is required; key ${rival} gets ${shown(most)}.`
      + (to ? ` The nearest query that meets the targets is at distance ${shown(Math.hypot(to[0] - query[0], to[1] - query[1]))} (floating-point).` : "");
  }

  function draw() {
    const query = scene.own();
    put(rest, { hidden: !query });
    put(take, { hidden: Boolean(query) || !scene.least.length });
    put(numbers, { hidden: !query });
    coordinates(numbers, query ?? [], {
      label: (axis) => `Your query, coordinate ${axis}`,
      changed(axis, to) { state.set({ query: scene.own().map((x, i) => (i === axis ? to : x)) }); },
    });
    tell(words, said(query));
  }
  return { panel, draw };
}
