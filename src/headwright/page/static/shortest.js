// The shortest query that meets attention targets, in floating point, for at most some hundred keys of a few dimensions.
// Nobody has to trust it: what it proposes is proved, or refused, by the exact checker.
//
// With scores x_i = <k_i, q> times the scale, target a gets at least p_a where
//   g_a(q) = ln sum_i exp(x_i) - x_a + ln p_a <= 0,
// and each g_a is convex. So the shortest query is the solution of: minimise |q|^2 / 2 subject to g_a(q) <= 0.
import { dot, length, minus, plus, times } from "./common/attention.js";

const MARGIN = 1e-13; // how far inside its bound each target is asked to be, so that rounding leaves it met
const WIDTHS = [1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 1e-8]; // of the smoothed largest miss: a tolerance of 1e-6 needs narrow ones
const FURTHEST = 1e4; // a query that is longer is not looked for
const STEPS = 80; // of Newton's method
const ROUNDS = 60; // of new multipliers
const CLOSE = 1e-10; // of a miss
const HEAVIEST = 1e14; // weight of a penalty: beyond it rounding decides
const SINGULAR = 1e-14; // a pivot below it, in a row whose largest number is 1, is rounding
const POLISHES = 12; // steps that give the last digits
const PRECISION = 1e-13;

/** The solution of a linear system by elimination with pivots; unknowns that nothing determines are 0. */
function solve(matrix, right) {
  const size = right.length;
  const table = matrix.map((row, i) => {
    const largest = Math.max(...row.map(Math.abs)) || 1;
    return [...row, right[i]].map((x) => x / largest);
  });
  const rowOf = new Array(size).fill(-1);
  let used = 0;
  for (let column = 0; column < size; column++) {
    let pivot = used;
    for (let i = used; i < size; i++) if (Math.abs(table[i][column]) > Math.abs(table[pivot][column])) pivot = i;
    if (used === size || !(Math.abs(table[pivot][column]) > SINGULAR)) continue;
    [table[used], table[pivot]] = [table[pivot], table[used]];
    for (let i = 0; i < size; i++) {
      const factor = table[i][column] / table[used][column];
      if (i !== used && factor) for (let k = column; k <= size; k++) table[i][k] -= factor * table[used][k];
    }
    rowOf[column] = used++;
  }
  return rowOf.map((row, column) => (row < 0 ? 0 : table[row][size] / table[row][column]));
}

/** Add factor * v v^T to a matrix. */
function addSquare(matrix, v, factor) {
  for (let i = 0; i < v.length; i++) for (let j = 0; j < v.length; j++) matrix[i][j] += factor * v[i] * v[j];
}

const zeros = (d) => Array.from({ length: d }, () => new Array(d).fill(0));

/** The scores at a query and the pattern, with the mean key and the keys' covariance under it. */
function attend(keys, query) {
  const scores = keys.map((key) => dot(key, query));
  const top = Math.max(...scores);
  const powers = scores.map((score) => Math.exp(score - top));
  const total = powers.reduce((sum, power) => sum + power, 0);
  const pattern = powers.map((power) => power / total);
  const mean = keys.reduce((sum, key, i) => plus(sum, times(key, pattern[i])), new Array(query.length).fill(0));
  const covariance = zeros(query.length);
  keys.forEach((key, i) => addSquare(covariance, minus(key, mean), pattern[i]));
  return { top, scores, pattern, mean, covariance };
}

/** How far a target is from being met: g_a, from the differences of scores, which keep their digits where g_a is tiny. */
function missOf([target, weight], { scores, top }) {
  const rivals = scores.reduce((sum, score, i) => (i === target ? sum : sum + Math.exp(score - top)), 0);
  const ratio = rivals * Math.exp(top - scores[target]);
  return (ratio < Infinity ? Math.log1p(ratio) : top - scores[target] + Math.log(rivals)) + Math.log(weight);
}
const misses = (targets, at) => targets.map((target) => missOf(target, at));

/** The gradient of g_a: the mean key less the target's, as a sum of differences. */
const slopeOf = (keys, [target], pattern) => keys.reduce((sum, key, i) => (i === target ? sum : plus(sum, times(minus(key, keys[target]), pattern[i]))), new Array(keys[0].length).fill(0));

/**
 * Newton's method with backtracking for a convex function: `at(query)` gives {value, gradient, hessian}.
 * Stops early where `enough(query, value)` says so.
 */
function newton(at, start, enough = () => false) {
  let query = start;
  let here = at(query);
  for (let step = 0; step < STEPS; step++) {
    if (enough(query, here.value)) break;
    const direction = times(solve(here.hessian, here.gradient), -1);
    const slope = dot(here.gradient, direction);
    if (!(slope < -PRECISION * PRECISION)) break;
    let size = 1;
    let next = at(plus(query, direction));
    while (!(next.value <= here.value + 1e-4 * size * slope) && size > 1e-12) { size /= 2; next = at(plus(query, times(direction, size))); }
    if (!(next.value < here.value)) break;
    query = plus(query, times(direction, size));
    here = next;
  }
  return query;
}

/**
 * The largest miss over all targets, smoothed: width * ln sum_a exp(g_a / width). At its least point the multipliers of the
 * targets and the pattern have the same mean key, and what the multipliers make of the misses is a lower bound of the largest.
 */
function smoothedMiss(keys, targets, width) {
  return (query) => {
    const at = attend(keys, query);
    const missed = misses(targets, at);
    const top = Math.max(...missed);
    const powers = missed.map((miss) => Math.exp((miss - top) / width));
    const total = powers.reduce((sum, power) => sum + power, 0);
    const multipliers = powers.map((power) => power / total);
    const middle = targets.reduce((sum, [target], a) => plus(sum, times(keys[target], multipliers[a])), new Array(query.length).fill(0));
    const hessian = at.covariance;
    targets.forEach(([target], a) => addSquare(hessian, minus(keys[target], middle), multipliers[a] / width));
    return { value: top + width * Math.log(total), gradient: minus(at.mean, middle), hessian, multipliers, missed, pattern: at.pattern };
  };
}

/** The multipliers that turn the targets' misses into a penalty: |q|^2 / 2 + sum_a max(0, m_a + weight g_a)^2 / (2 weight). */
function penalised(keys, targets, multipliers, weight) {
  return (query) => {
    const at = attend(keys, query);
    const pulls = misses(targets, at).map((miss, a) => Math.max(0, multipliers[a] + weight * (miss + MARGIN)));
    const total = pulls.reduce((sum, pull) => sum + pull, 0);
    const hessian = at.covariance.map((row, i) => row.map((x, j) => total * x + (i === j ? 1 : 0)));
    let gradient = [...query];
    let value = dot(query, query) / 2;
    targets.forEach((target, a) => {
      if (!pulls[a]) return;
      const slope = slopeOf(keys, target, at.pattern);
      gradient = plus(gradient, times(slope, pulls[a]));
      addSquare(hessian, slope, weight);
      value += (pulls[a] * pulls[a]) / (2 * weight);
    });
    return { value, gradient, hessian, pulls };
  };
}

/**
 * keys: rows; targets: [[key, least weight], ...]; scale: a factor of the scores.
 * {query, multipliers}: the shortest query, and how much each target matters for that;
 * {impossible: true, multipliers, pattern}: why no query meets them; null where neither was found.
 */
export function shortestQuery(keys, targets, scale = 1) {
  const scaled = keys.map((key) => times(key, scale));
  const zero = new Array(keys[0].length).fill(0);
  if (Math.max(...misses(targets, attend(scaled, zero))) <= 0) return { query: zero, multipliers: targets.map(() => 0) };
  let start = zero;
  let isMet = false;
  for (const width of WIDTHS) {
    const missed = smoothedMiss(scaled, targets, width);
    start = newton(missed, start, (query, value) => value < -MARGIN || length(query) > FURTHEST);
    const here = missed(start);
    if (here.value < -MARGIN) { isMet = true; break; }
    if (length(start) > FURTHEST) return null;
    const least = here.missed.reduce((sum, miss, a) => sum + miss * here.multipliers[a], 0);
    if (least > 1e-9 && length(here.gradient) < 1e-6) return { impossible: true, multipliers: here.multipliers, pattern: here.pattern };
  }
  return isMet ? shortestFrom(scaled, targets, start) : null;
}

/** The shortest query, by the method of multipliers, from a query that meets the targets. */
function shortestFrom(keys, targets, start) {
  let query = start;
  let multipliers = targets.map(() => 0);
  let weight = 1 + dot(start, start);
  let before = Infinity;
  for (let round = 0; round < ROUNDS; round++) {
    const at = penalised(keys, targets, multipliers, weight);
    query = newton(at, query);
    multipliers = at(query).pulls;
    const missed = misses(targets, attend(keys, query)).map((miss) => miss + MARGIN);
    const off = Math.max(...missed.map((miss, a) => (multipliers[a] > 0 ? Math.abs(miss) : Math.max(0, miss))));
    if (off < CLOSE || weight > HEAVIEST) break; // the last digits come from Newton's method
    if (off > before / 4) weight *= 5;
    before = off;
  }
  return polished(keys, targets, query, multipliers);
}

/**
 * Newton's method on the conditions of the optimum: q + sum_a m_a (mean - k_a) = 0, and g_a = 0 for the targets that
 * matter. It gives the multipliers their last digits, which the lower bound needs.
 */
function polished(keys, targets, query, multipliers) {
  const active = targets.map((_, a) => a).filter((a) => multipliers[a] > 0);
  const d = query.length;
  let best = { query, multipliers };
  let least = Infinity;
  for (let step = 0; step < POLISHES; step++) {
    const at = attend(keys, best.query);
    const missed = misses(targets, at);
    const slopes = active.map((a) => slopeOf(keys, targets[a], at.pattern));
    const total = active.reduce((sum, a) => sum + best.multipliers[a], 0);
    const pull = slopes.reduce((sum, slope, i) => plus(sum, times(slope, best.multipliers[active[i]])), best.query);
    const right = [...pull, ...active.map((a) => missed[a] + MARGIN)].map((x) => -x);
    const matrix = [
      ...at.covariance.map((row, i) => [...row.map((x, j) => total * x + (i === j ? 1 : 0)), ...slopes.map((slope) => total * slope[i])]),
      ...slopes.map((slope) => [...slope, ...active.map(() => 0)]),
    ];
    const change = solve(matrix, right);
    const size = length(change.slice(0, d));
    if (!(size < least)) break;
    least = size;
    const next = [...best.multipliers];
    active.forEach((a, i) => { next[a] += total * change[d + i]; }); // in units of their sum: numbers of one size
    if (active.some((a) => !(next[a] > 0))) break;
    best = { query: plus(best.query, change.slice(0, d)), multipliers: next };
  }
  return best;
}
