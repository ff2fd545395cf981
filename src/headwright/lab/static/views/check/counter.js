// A counterexample as a picture: both sides of the statement that fails, as bars, as matrices, or as coefficients of the tokens' directions.
import { h, s, shown } from "../../common/dom.js";
import { lettered, typeset } from "../../common/formula.js";

const LARGEST = 6; // rows and columns of a matrix that is drawn
const MOST_BARS = 12;

/** A number as counterexamples write it, such as 3, "0.4011" or "-1/2"; otherwise NaN. */
function number(given) {
  if (typeof given === "number") return given;
  const parts = /^([-−]?\d+(?:\.\d+)?(?:e[-+]?\d+)?)(?:\/(\d+))?$/.exec(String(given));
  return parts ? Number(parts[1].replace("−", "-")) / Number(parts[2] ?? 1) : NaN;
}

/** Rows of numbers, or null. */
function matrix(given) {
  if (!Array.isArray(given) || !given.length || !given.every((row) => Array.isArray(row) && row.length === given[0].length && row.length)) return null;
  const rows = given.map((row) => row.map(number));
  return rows.flat().every(Number.isFinite) && rows.length <= LARGEST && rows[0].length <= LARGEST ? rows : null;
}

/** The coefficients in a sum such as "1/2 u_a + u_b" or "(1/2) (2 u_a + u_c)"; otherwise null. */
export function along(words) {
  const whole = /^(?:\(([^()]+)\) )?(?:\(([^()]+)\)|([^()]+))$/.exec(words.trim());
  if (!whole) return null;
  const factor = whole[1] === undefined ? 1 : number(whole[1]);
  const sum = (whole[2] ?? whole[3]).trim();
  if (!Number.isFinite(factor)) return null;
  if (sum === "0") return {};
  const terms = [...sum.matchAll(/(^|\s*[-+−]\s*)(?:(\d+(?:\.\d+)?(?:\/\d+)?) )?(u_\w+)/g)];
  if (!terms.length || terms.map(([text]) => text).join("") !== sum) return null;
  const found = {};
  for (const [, sign, times = "1", name] of terms) found[name] = (found[name] ?? 0) + (/[-−]/.test(sign) ? -1 : 1) * factor * number(times);
  return found;
}

/** A name with its index below. */
const lowered = (name) => { const [letter, index] = name.split("_"); return index && !name.includes(" ") ? [letter, s("tspan", { dy: 3, "font-size": 9 }, index)] : [name]; };

/** Bars in groups: [[label, [[class, value], ...]], ...]. `wanted`: {value, labels} of the groups that should reach a value, which is dashed. */
function bars(groups, words, wanted = null) {
  const [wide, left, right, tall] = [440, 104, 52, 22];
  const values = [...groups.flatMap(([, some]) => some.map(([, value]) => value)), ...(wanted ? [wanted.value] : [])];
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const x = (value) => left + ((value - low) / (high - low || 1)) * (wide - left - right);
  /** The number of a bar stands behind it, or inside where the dashed line would cross it. */
  const numberPlace = (end, label) => {
    const line = wanted?.labels.includes(label) ? x(wanted.value) : -1;
    const isCrossed = line >= end && line < end + 52 && end - left > 60;
    return isCrossed ? { class: "tick inside", x: end - 6, "text-anchor": "end" } : { class: "tick", x: end + 6 };
  };
  const parts = [];
  let y = 6;
  for (const [label, some] of groups) {
    const top = y;
    parts.push(s("text", { class: "tick", x: left - 8, y: y + (some.length * tall) / 2 + 4, "text-anchor": "end" }, ...lowered(label)));
    for (const [name, value] of some) {
      parts.push(s("rect", { class: name, x: Math.min(x(0), x(value)), y: y + 3, width: Math.max(1, Math.abs(x(value) - x(0))), height: tall - 6, rx: 2 }),
        s("text", { ...numberPlace(Math.max(x(value), x(0)), label), y: y + tall / 2 + 4 }, shown(value, 4)));
      y += tall;
    }
    if (wanted?.labels.includes(label)) parts.push(s("line", { class: "wanted-line", x1: x(wanted.value), x2: x(wanted.value), y1: top, y2: y }));
    y += 8;
  }
  return s("svg", { viewBox: `0 0 ${wide} ${y}`, role: "img", "aria-label": words }, s("line", { class: "axis", x1: x(0), x2: x(0), y1: 0, y2: y }), ...parts);
}

/** A small matrix with its numbers in it. */
function grid(name, rows, most) {
  const [side, top] = [46, 20];
  const [across, tall] = [rows[0].length * side + 2, rows.length * side + top + 2];
  const wide = Math.max(across, 8 * name.length + 4);
  const cells = rows.flatMap((row, i) => row.flatMap((value, j) => {
    const part = Math.min(1, Math.abs(value) / most);
    return [s("rect", { class: value < 0 ? "cell low" : "cell high", "fill-opacity": (0.7 * part).toFixed(3), x: 1 + j * side, y: top + i * side, width: side - 1, height: side - 1 }),
      s("text", { x: 1 + (j + 0.5) * side, y: top + (i + 0.5) * side + 4, "text-anchor": "middle" }, shown(value, 2))];
  }));
  return s("svg", { viewBox: `0 0 ${wide} ${tall}`, width: wide, height: tall, role: "img", "aria-label": `${name} = ${rows.map((row) => row.map((value) => shown(value)).join(", ")).join("; ")}` },
    s("text", { class: "label", x: 1, y: 13 }, name), s("rect", { class: "field", x: 0.5, y: top - 0.5, width: across - 1.5, height: tall - top - 1 }), ...cells);
}

/** What the weights should satisfy, in numbers. */
const sides = (left, right) => ([number(left), number(right)].every(Number.isFinite) ? `Left side ${left}, right side ${right}.` : "");

/** The value that weights should reach: those that are the left side of the statement that fails. */
function wantedWeight(groups, left, right) {
  const labels = groups.filter(([, [[, value]]]) => Math.abs(value - left) <= 1e-3 * Math.max(Math.abs(left), 1e-3)).map(([label]) => label);
  return labels.length && right >= 0 && right <= 1 ? { value: right, labels } : null;
}

/** The picture of a counterexample: elements, or null if there is only text. */
function drawn(counterexample, wanted) {
  const { left, right, names = {}, words, weights, n } = counterexample;
  if (weights && Object.values(weights).every(Number.isFinite)) {
    const all = Object.entries(weights).slice(0, MOST_BARS).map(([name, value]) => [name.replace(/^alpha_/, "α_"), [["bar-mine", value]]]);
    const goal = wantedWeight(all, number(left), number(right));
    const dashed = goal ? ` Dashed: the wanted value, ${shown(goal.value, 4)}.` : "";
    return [bars(all, `Weights: ${all.map(([name, [[, value]]]) => `${name} = ${shown(value, 4)}`).join(", ")}.${dashed}`, goal),
      h("p", { class: "note" }, ...lettered(`The weights with your answer${n ? ` at n = ${n}` : ""}.${dashed || ` ${sides(left, right)}`}`))];
  }
  const limits = /^(\w+) tends to (.+), not to (.+)$/.exec(words ?? "");
  if (limits) {
    const [is, said] = [along(limits[2]), along(limits[3])];
    if (!is || !said) return null;
    const all = [...new Set([...Object.keys(is), ...Object.keys(said)])].sort();
    const [hue, other] = wanted ? [["bar-mine", "of-yours"], ["bar-right", "of-right"]] : [["bar-right", "of-right"], ["bar-mine", "of-yours"]];
    return [bars(all.map((name) => [name, [[hue[0], is[name] ?? 0], [other[0], said[name] ?? 0]]]), words),
      h("p", { class: "legend" }, h("span", {}, h("i", { class: hue[1] }), ...lettered(`limit of ${limits[1]}${wanted ? " with your answer" : ""}`)), h("span", {}, h("i", { class: other[1] }), wanted ? "required" : "claimed"))];
  }
  const both = [number(left), number(right)];
  const given = Object.entries(names).map(([name, value]) => [name, matrix(value)]).filter(([, rows]) => rows);
  const most = (several) => Math.max(1e-12, ...several.flatMap(([, rows]) => rows.flat().map(Math.abs)));
  const shownGiven = given.length ? [h("p", { class: "note" }, "given"), h("div", { class: "grids" }, ...given.map(([name, rows]) => grid(name, rows, most(given))))] : [];
  if (both.every(Number.isFinite)) return [...shownGiven, bars([["left side", [["bar-key", both[0]]]], ["right side", [["bar-key", both[1]]]]], `Left side ${shown(both[0], 4)}, right side ${shown(both[1], 4)}`)];
  const [a, b] = [matrix(left), matrix(right)];
  if (!a || !b || a.length !== b.length || a[0].length !== b[0].length) return null;
  const gap = a.map((row, i) => row.map((value, j) => value - b[i][j]));
  const three = [["left side", a], ["right side", b], ["difference", gap]];
  return [...shownGiven, h("p", { class: "note" }, "both sides"), h("div", { class: "grids" }, ...three.map(([name, rows]) => grid(name, rows, most(three))))];
}

/** A figure; `draw(counterexample, statement, wanted)` returns whether there is a picture. `wanted`: the statement is a requirement, else a claim of the answer. */
export function counterView() {
  const statement = h("span", {});
  const place = h("div", {});
  const figure = h("figure", { id: "counterexample", hidden: true }, h("figcaption", {}, h("b", {}, "The counterexample"), statement), place,
    h("p", { class: "note" }, "Numbers are rounded for display; the verdict comes from a rigorous evaluation."));
  return {
    figure,
    draw(counterexample, typesetStatement, wanted) {
      const parts = counterexample ? drawn(counterexample, wanted) : null;
      figure.hidden = !parts;
      if (!parts) return false;
      statement.replaceChildren(...(typesetStatement ? ["fails: ", ...typeset(typesetStatement)] : []));
      place.replaceChildren(...parts);
      return true;
    },
  };
}
