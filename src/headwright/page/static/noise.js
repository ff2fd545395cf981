// Noise in this tab: JavaScript draws, and Python proves the probability and the robust design.
import { dot, length, normal } from "./common/attention.js";
import { number } from "./common/state.js";
import { post } from "./common/transport.js";
import { open } from "./common/view.js";
import { build, fields, presets, steps } from "./views/noise/view.js";

const MOST_KEYS = 60; // for which the proofs take less than a second
const MOST_SAMPLES = 20_000;
const SHOWN = 1500; // draws in the pictures
const LONGER = 1 + 1e-12; // than what just meets the targets: rounding leaves them met

/** The mean pattern of the heads in one draw, at the targets; `noise(head)` is what is added to a key's score. */
function meanWeights(scores, factor, targets, noise) {
  const weights = targets.map(() => 0);
  scores.forEach((row, head) => {
    const drawn = row.map((score, key) => (key ? score : factor * score) + noise(head));
    const top = Math.max(...drawn);
    const total = drawn.reduce((sum, score) => sum + Math.exp(score - top), 0);
    targets.forEach((target, k) => { weights[k] += Math.exp(drawn[target] - top) / total / scores.length; });
  });
  return weights;
}

/** So many draws of the weights of the targets: key 0 has a random length, and every key an isotropic spread. */
function drawn({ keys, queries, uncertainty, targets, samples, seed }) {
  const chance = normal(seed);
  const [mean, variance] = uncertainty[0].scale.normal;
  const spread = Math.sqrt(uncertainty[0].isotropic ?? 0);
  const scores = queries.map((query) => keys.map((key) => dot(key, query)));
  // The queries of two heads are orthogonal here, so what the spread adds to their scores is independent.
  const deviations = queries.map((query) => spread * length(query));
  const noise = (head) => (spread ? deviations[head] * chance() : 0);
  return Array.from({ length: samples }, () => meanWeights(scores, mean + Math.sqrt(variance) * chance(), targets, noise));
}

/** The draws, and in how many of them every target is near the average. */
function sampled(given) {
  const cloud = drawn(given);
  const average = 1 / given.targets.length;
  const isNear = (weights) => weights.every((weight) => Math.abs(weight - average) <= Number(given.tolerance));
  return { near: cloud.filter(isNear).length, cloud: cloud.slice(0, SHOWN) };
}

async function simulate(given, signal, onProgress) {
  const { near, cloud } = sampled(given);
  return { ...await post("simulate", { ...given, near }, signal, onProgress), cloud };
}

/** A query that key 0's length does not change: orthogonal to both targets, and against all other keys. */
function robustQuery({ keys, at_least: least }) {
  const weight = Math.max(...Object.values(least).map(Number));
  const others = keys.length - Object.keys(least).length;
  // 1 / (2 + others * exp(-z)) = weight
  const z = Math.max(0, Math.log(others / (1 / weight - Object.keys(least).length)) * LONGER);
  return keys.map((_, key) => (key in least ? 0 : -z));
}

/** What is shown before there is a proof. */
function early(call, given) {
  if (call === "design") { const query = robustQuery(given); return { queries: [query], norm: length(query), words: "", certificate: null }; }
  const { near, cloud } = sampled(given);
  return { near_average: { probability: near / given.samples, interval: null, exact_enclosure: null, why_not_exact: null }, samples: given.samples, cloud };
}

const design = (given, ...more) => post("design", { ...given, proposal: { query: robustQuery(given), multipliers: Object.keys(given.at_least).map(() => 1) } }, ...more);

open({
  name: "noise", steps,
  presets: presets.map(([title, values]) => (values.n > MOST_KEYS ? [`${MOST_KEYS} keys`, { ...values, n: MOST_KEYS }] : [title, values])),
  fields: {
    ...fields,
    n: number(10, { least: 3, most: MOST_KEYS, whole: true }),
    samples: number(5000, { least: 100, most: MOST_SAMPLES, whole: true }),
  },
  build: (main, state) => build(main, state, {
    mostKeys: MOST_KEYS, mostSamples: MOST_SAMPLES, robustFormula: "q = −z (k₂ + … + kₙ₋₁)",
    early,
    by: (call, ...asked) => (call === "simulate" ? simulate(...asked) : design(...asked)),
  }),
});
