// One layer of self-attention and feed-forward in floating point, for what moves under the hand.
//
//   Q = X W_Q,  K = X W_K,  V = X W_V,  H = softmax(Q K^T / sqrt(d)) V,  Z = relu(H W_1 + 1 b_1) W_2 + 1 b_2
import { dot, mix, normal, plus, softmax } from "./common/attention.js";

const EPSILON = 2 ** -52;
const BASE = 10_000; // of the frequencies of positions

const matrix = (rows, columns, chance) => Array.from({ length: rows }, () => Array.from({ length: columns }, () => chance() / Math.sqrt(rows)));
const product = (X, W) => X.map((row) => mix(row, W));

/** The angle of a position in a pair of coordinates. */
const angle = (position, pair, dim) => position / BASE ** ((2 * pair) / dim);

/** A row with its position written into it: added as sines and cosines, or turned by the same angles. */
const withSinusoids = (row, position) => row.map((x, j) => x + (j % 2 ? Math.cos : Math.sin)(angle(position, Math.floor(j / 2), row.length)));
function turned(row, position) {
  const out = [...row];
  for (let pair = 0; pair < row.length / 2; pair++) {
    const [x, y, by] = [row[2 * pair], row[2 * pair + 1], angle(position, pair, row.length)];
    out[2 * pair] = x * Math.cos(by) - y * Math.sin(by);
    out[2 * pair + 1] = x * Math.sin(by) + y * Math.cos(by);
  }
  return out;
}
const ALIBI_SLOPE = 2 ** -8; // of one head

function randomLayer(dim, seed) {
  const chance = normal(seed);
  const hidden = 4 * dim;
  const [W_Q, W_K, W_V] = [matrix(dim, dim, chance), matrix(dim, dim, chance), matrix(dim, dim, chance)];
  const [W_1, W_2] = [matrix(dim, hidden, chance), matrix(hidden, dim, chance)];
  const [b_1, b_2] = [Array.from({ length: hidden }, chance), Array.from({ length: dim }, chance)];
  return { W_Q, W_K, W_V, W_1, W_2, b_1, b_2 };
}

/** Z(X); `scheme`: sinusoidal, rotary, alibi, or null for a layer without positions. */
function apply({ W_Q, W_K, W_V, W_1, W_2, b_1, b_2 }, tokens, { scheme, causal }) {
  const X = scheme === "sinusoidal" ? tokens.map(withSinusoids) : tokens;
  let [Q, K] = [product(X, W_Q), product(X, W_K)];
  if (scheme === "rotary") [Q, K] = [Q.map(turned), K.map(turned)];
  const V = product(X, W_V);
  const H = Q.map((query, i) => {
    const last = causal ? i : K.length - 1;
    const scores = K.slice(0, last + 1).map((key, j) => dot(query, key) / Math.sqrt(query.length) - (scheme === "alibi" ? ALIBI_SLOPE * Math.abs(i - j) : 0));
    return mix(softmax(scores), V.slice(0, last + 1));
  });
  const inner = product(H, W_1).map((row) => plus(row, b_1).map((x) => Math.max(0, x)));
  return product(inner, W_2).map((row) => plus(row, b_2));
}

const permuted = (rows, order) => order.map((i) => rows[i]);
const largest = (rows) => Math.max(...rows.flat().map(Math.abs));

/** The answer of the lab's call `order`: a layer on tokens and on their permutation, without positions and with. */
export function compareOrders({ tokens, order, dim, scheme, causal, seed }) {
  const chance = normal(seed + 1);
  const rows = Object.fromEntries([...new Set(tokens)].sort().map((word) => [`word ${word}`, Array.from({ length: dim }, chance)]));
  const X = tokens.map((word) => rows[`word ${word}`]);
  const PX = permuted(X, order);
  const layer = randomLayer(dim, seed);
  const compared = (how) => {
    const ZPX = apply(layer, PX, how);
    const PZX = permuted(apply(layer, X, how), order);
    const absolute = largest(ZPX.map((row, i) => row.map((x, j) => x - PZX[i][j])));
    return { ZPX, PZX, absolute, relative: absolute / largest(PZX), epsilon: EPSILON };
  };
  return { X, PX, without: compared({ scheme: null, causal }), with: compared({ scheme, causal }) };
}
