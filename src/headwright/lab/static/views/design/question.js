// The request for the API, and the same as Python and as a command line.
import { here, literal, quoted } from "../../common/export.js";

/** The targets that exist. */
export const targetsOf = ({ targets, n }) => targets.filter((target) => target < n);

/** The required weights: [[target, least weight], ...], in floating point, for pictures. */
export function leastOf(values) {
  const targets = targetsOf(values);
  if (values.mode === "evenly") return targets.map((target) => [target, 1 / (targets.length + values.eps)]);
  return targets.map((target) => [target, values.least[target]?.[0] ?? Number((0.9 / targets.length).toFixed(3))]);
}

/** The scale as a number; NaN if it is not one. */
export function scaleOf({ scale }) { const [top, bottom = "1"] = scale.split("/"); return Number(top) / Number(bottom); }

const between = (by) => [Number((1 - by).toFixed(6)), Number((1 + by).toFixed(6))];
const uncertaintyOf = ({ noise, amount }) => ({ none: null, ball: { ball: amount }, stretch: { scale: { between: between(amount) } }, gauss: { isotropic: amount } })[noise];

/** The body of the request. */
export function questionOf(values, keys) {
  const targets = targetsOf(values);
  const body = { keys, scale: values.scale || "1", heads: values.heads };
  if (values.mode === "least") body.at_least = Object.fromEntries(leastOf(values).map(([target, weight]) => [String(target), String(weight)]));
  else { body.eps = String(values.eps); if (targets.length === 1) [body.copy] = targets; else body.average = targets; }
  const uncertainty = uncertaintyOf(values);
  if (uncertainty) body.uncertainty = [{ key: "*", ...uncertainty }];
  return body;
}

export function python(values, keys) {
  const targets = targetsOf(values);
  const said = values.mode === "least" ? `at_least({${leastOf(values).map(([target, weight]) => `${target}: "${weight}"`).join(", ")}})` : targets.length === 1 ? `copy(${targets[0]}, eps="${values.eps}")` : `average([${targets}], eps="${values.eps}")`;
  const uncertainty = { ball: `Uncertainty(others=Noise(spread=Ball(${values.amount})))`, stretch: `Uncertainty(others=Noise(scale=Between(${between(values.amount).join(", ")})))`, gauss: `Uncertainty(others=Noise(spread=Isotropic(${values.amount})))` }[values.noise];
  const rows = keys.map((key) => `    [${key.join(", ")}],`).join("\n");
  return `import numpy as np\nfrom headwright import at_least, average, copy, design\n${uncertainty ? "from headwright.uncertainty import Ball, Between, Isotropic, Noise, Uncertainty\n" : ""}\nkeys = np.array([\n${rows}\n])\nfound = design(keys, ${said}, scale=${literal(values.scale || "1")}, heads=${values.heads}${uncertainty ? `, uncertainty=${uncertainty}` : ""})\nprint(found.word, found.words)\nprint(found.queries)\n`;
}

export function command(values, keys) {
  const targets = targetsOf(values);
  const said = values.mode === "least" ? `--at-least ${leastOf(values).map(([target, weight]) => `${target}=${weight}`).join(",")}` : targets.length === 1 ? `--copy ${targets[0]} --eps ${values.eps}` : `--average ${targets} --eps ${values.eps}`;
  const law = { ball: `ball = ${values.amount}`, stretch: `scale = { between = [${between(values.amount).join(", ")}] }`, gauss: `isotropic = ${values.amount}` }[values.noise];
  const uncertainty = law ? here("uncertainty.toml", `[[noise]]\nkey = "*"\n${law}`) : "";
  return `${here("keys.csv", keys.map((key) => key.join(",")).join("\n"))}${uncertainty}headwright design --keys keys.csv ${said}${["", "1"].includes(values.scale) ? "" : ` --scale ${quoted(values.scale)}`}${values.heads > 1 ? ` --heads ${values.heads}` : ""}${law ? " --uncertainty uncertainty.toml" : ""} --out certificate.json\nheadwright verify certificate.json\n`;
}
