// Keys from a few numbers: how they lie, how many, in what dimension, from what seed; and those that were moved by hand.
import { normal } from "../../common/attention.js";

export const KINDS = [["circle", "circle"], ["sphere", "sphere"], ["cloud", "cloud"]];
const rounded = (x) => Number(x.toFixed(3));

/** The keys that the values of a state describe. */
export function keysOf({ kind, n, d, seed, moved }) {
  const keys = [...unmoved(kind, n, d, seed)];
  for (const [index, row] of Object.entries(moved)) if (index < n && row.length === d) keys[index] = row;
  return keys;
}

let last = { name: "", keys: [] };

/** The keys before any hand touched them; while one is dragged they are asked for again and again. */
function unmoved(kind, n, d, seed) {
  const name = `${kind} ${n} ${d} ${seed}`;
  if (last.name !== name) last = { name, keys: drawn(kind, n, d, seed) };
  return last.keys;
}

function drawn(kind, n, d, seed) {
  const draw = normal(seed);
  const keys = [];
  for (let i = 0; i < n; i++) {
    let key;
    if (kind === "circle") {
      const angle = (2 * Math.PI * i) / n + 0.35;
      key = [Math.cos(angle), Math.sin(angle), ...new Array(d - 2).fill(0)];
    } else {
      key = Array.from({ length: d }, draw);
      const size = Math.hypot(...key) || 1;
      key = key.map((x) => (kind === "sphere" ? x / size : x * 0.55));
    }
    keys.push(key.map(rounded));
  }
  return keys;
}
