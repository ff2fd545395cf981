// Attention in floating point, for what moves under the hand. What is proved is proved on the server.

export const dot = (a, b) => { let sum = 0; for (let i = 0; i < a.length; i++) sum += a[i] * b[i]; return sum; };
export const length = (a) => Math.hypot(...a);
export const times = (a, factor) => a.map((x) => x * factor);
export const plus = (a, b) => a.map((x, i) => x + b[i]);
export const minus = (a, b) => a.map((x, i) => x - b[i]);

/** scale <k_i, q> for every key. */
export const scores = (keys, query, scale = 1) => keys.map((key) => scale * dot(key, query));

/** The pattern: softmax of the scores. */
export function softmax(given) {
  const top = Math.max(...given);
  const powers = given.map((x) => Math.exp(x - top));
  const total = powers.reduce((a, b) => a + b, 0);
  return powers.map((x) => x / total);
}

/** The mean of the values under a pattern. */
export function mix(pattern, values) {
  const out = new Array(values[0].length).fill(0);
  values.forEach((value, i) => { for (let j = 0; j < out.length; j++) out[j] += pattern[i] * value[j]; });
  return out;
}

/** Chance from a seed, the same everywhere: numbers in [0, 1). */
export function uniform(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

/** Standard normal numbers from a seed. */
export function normal(seed) {
  const draw = uniform(seed);
  return () => Math.sqrt(-2 * Math.log(1 - draw())) * Math.cos(2 * Math.PI * draw());
}

/**
 * How far a query of a plane is from meeting a target: at most 0 where it does, and convex.
 * keys: pairs [x, y], already times the scale; least: [[target, weight], ...];
 * slack: {ball} (every key may move so far) or {low, high} (every key may be multiplied by a number between), or {}.
 */
export function misses(keys, least, { ball = 0, low = 1, high = 1, scale = 1 } = {}) {
  const n = keys.length;
  const xs = Float64Array.from(keys, (key) => key[0]);
  const ys = Float64Array.from(keys, (key) => key[1]);
  const other = new Uint8Array(n).fill(1);
  for (const [target] of least) other[target] = 0;
  const tops = new Float64Array(n);
  return (x, y) => {
    let most = -Infinity;
    for (let i = 0; i < n; i++) {
      const score = xs[i] * x + ys[i] * y;
      tops[i] = score > 0 ? high * score : low * score;
      if (tops[i] > most) most = tops[i];
    }
    let others = 0;
    for (let i = 0; i < n; i++) if (other[i] && tops[i] > most - 40) others += Math.exp(tops[i] - most); // the rest is lost in rounding
    const apart = 2 * ball * Math.abs(scale) * Math.hypot(x, y);
    let worst = -Infinity;
    for (const [target, weight] of least) {
      const score = xs[target] * x + ys[target] * y;
      const own = score > 0 ? low * score : high * score;
      let rivals = others;
      for (const [rival] of least) if (rival !== target) rivals += Math.exp(tops[rival] - most);
      const exponent = most - own + apart + Math.log(rivals);
      const value = (exponent > 30 ? exponent : Math.log1p(Math.exp(exponent))) + Math.log(weight);
      if (value > worst) worst = value;
    }
    return worst;
  };
}

const GOLDEN = (Math.sqrt(5) - 1) / 2;

/**
 * The outline of {q in the plane: f(q) <= 0} inside a square of half-width `reach`, for a convex f: slices along an axis,
 * each with its least value found first, so that thin regions are found too. A list of points, or null where none was found.
 * Edges are found to one part in 2^`halvings`.
 */
export function outline(f, axis, reach, { slices = 72, halvings = 18 } = {}) {
  const [ux, uy] = axis;
  const far = reach * 1.5;
  const at = (t, y) => f(t * ux - y * uy, t * uy + y * ux);
  let start = 0;
  const slice = (t) => {
    const middle = inside(t);
    if (middle === null) return null;
    start = middle;
    const edge = (side) => {
      let good = middle;
      let bad = side * far;
      if (at(t, bad) <= 0) return bad;
      for (let k = 0; k < halvings; k++) { const half = (good + bad) / 2; if (at(t, half) <= 0) good = half; else bad = half; }
      return good;
    };
    return [t, edge(-1), edge(1)];
  };
  /** Some y with f <= 0, or null: golden section, since f is convex, and no further than the first that will do. */
  const inside = (t) => {
    if (at(t, start) <= 0) return start;
    let [low, high] = [-far, far];
    let [a, b] = [high - GOLDEN * (high - low), low + GOLDEN * (high - low)];
    let [fa, fb] = [at(t, a), at(t, b)];
    for (let k = 0; k < 28; k++) {
      if (fa <= 0) return a;
      if (fb <= 0) return b;
      if (fa < fb) { high = b; b = a; fb = fa; a = high - GOLDEN * (high - low); fa = at(t, a); }
      else { low = a; a = b; fa = fb; b = low + GOLDEN * (high - low); fb = at(t, b); }
    }
    return null;
  };
  const found = [];
  let before = null;
  for (let k = 0; k <= slices; k++) {
    const t = -far + (2 * far * k) / slices;
    const here = slice(t);
    const previous = -far + (2 * far * (k - 1)) / slices;
    if (k > 0 && Boolean(here) !== Boolean(before)) { // the tip, between two slices
      let [good, bad] = here ? [t, previous] : [previous, t];
      const tips = [];
      for (let j = 0; j < halvings - 4; j++) {
        const half = (good + bad) / 2;
        const cut = slice(half);
        if (cut) { good = half; tips.push(cut); } else bad = half;
      }
      found.push(...(here ? tips.reverse() : tips));
    }
    if (here) found.push(here);
    if (before && !here) break; // convex: nothing comes after
    before = here;
  }
  if (!found.length) return null;
  const place = (t, y) => [t * ux - y * uy, t * uy + y * ux];
  return [...found.map(([t, low]) => place(t, low)), ...found.reverse().map(([t, , high]) => place(t, high))];
}

/** The point of a closed outline that is nearest to a place. */
export function nearest(points, [x, y]) {
  let best = null;
  let least = Infinity;
  points.forEach(([ax, ay], i) => {
    const [bx, by] = points[(i + 1) % points.length];
    const dx = bx - ax;
    const dy = by - ay;
    const along = dx || dy ? Math.min(1, Math.max(0, ((x - ax) * dx + (y - ay) * dy) / (dx * dx + dy * dy))) : 0;
    const px = ax + along * dx;
    const py = ay + along * dy;
    const apart = Math.hypot(px - x, py - y);
    if (apart < least) { least = apart; best = [px, py]; }
  });
  return best;
}

/** The convex hull of points, as indices in order. */
export function hull(points) {
  const order = points.map((_, i) => i).sort((a, b) => points[a][0] - points[b][0] || points[a][1] - points[b][1]);
  const turn = (o, a, b) => (points[a][0] - points[o][0]) * (points[b][1] - points[o][1]) - (points[a][1] - points[o][1]) * (points[b][0] - points[o][0]);
  const half = (list) => {
    const chain = [];
    for (const i of list) {
      while (chain.length > 1 && turn(chain.at(-2), chain.at(-1), i) <= 0) chain.pop();
      chain.push(i);
    }
    chain.pop();
    return chain;
  };
  return points.length < 3 ? order : [...half(order), ...half(order.reverse())];
}
