// What the pictures of the Design view share: the keys, the last answer and whether it is up to date, and the plane that is drawn.
import { dot, length, minus, plus, scores, softmax, times } from "../../common/attention.js";
import { keysOf } from "./keys.js";
import { leastOf, scaleOf } from "./question.js";

const unit = (vector) => times(vector, 1 / (length(vector) || 1));

export class Scene {
  constructor(state) {
    this.state = state;
    this.keys = [];
    this.answer = null; // of the server
    this.seconds = 0; // the time it took
    this.fresh = false; // the answer is about the keys and targets shown
    this.frame = null; // three directions, the query's first: the axes of a picture of more than two dimensions
    this.region = null; // the outline of the queries that meet the targets
  }

  get values() { return this.state.values; }

  /** The selected key. */
  get chosen() { return this.values.chosen < this.values.n ? this.values.chosen : 0; }

  /** Update from the state. */
  refresh() {
    this.keys = keysOf(this.values);
    this.least = leastOf(this.values);
    if (!this.frame || this.frame[0].length !== this.values.d) { this.answer = null; this.look(); }
    this.weights = this.#pattern();
  }

  /** Choose the directions anew: the query's, then those in which keys are furthest from what is seen already. */
  look() {
    const { d } = this.values;
    if (d === 2) { this.frame = [[1, 0], [0, 1]]; return; }
    this.frame = [unit(this.current() ?? this.keys[this.values.targets[0] ?? 0] ?? this.keys[0])];
    while (this.frame.length < 3) {
      const rests = [...this.keys, ...unitVectors(d)].map((key) => this.frame.reduce((rest, axis) => minus(rest, times(axis, dot(key, axis))), key));
      const far = rests.slice(0, this.keys.length).reduce((best, rest) => (length(rest) > length(best) ? rest : best));
      this.frame.push(unit(length(far) > 1e-6 ? far : rests.slice(this.keys.length).reduce((best, rest) => (length(rest) > length(best) ? rest : best))));
    }
  }

  /** Right, up and towards the eye, for the picture of keys: the frame, turned by hand. */
  axes() {
    if (this.values.d === 2) return this.frame;
    const [yaw, pitch] = [this.values.yaw, this.values.pitch].map((degrees) => (degrees * Math.PI) / 180);
    const [a, b, c] = this.frame;
    const right = plus(times(a, Math.cos(yaw)), times(c, -Math.sin(yaw)));
    const back = plus(times(a, Math.sin(yaw)), times(c, Math.cos(yaw)));
    return [right, plus(times(b, Math.cos(pitch)), times(back, -Math.sin(pitch))), plus(times(b, Math.sin(pitch)), times(back, Math.cos(pitch)))];
  }

  /** A query's place in the slice that is drawn, and the query at a place. */
  seen(query) { return [dot(query, this.frame[0]), dot(query, this.frame[1])]; }
  unseen([x, y]) { return plus(times(this.frame[0], x), times(this.frame[1], y)); }

  /** The queries as they were last verified, if they were about as many dimensions. */
  found() { return this.answer?.queries?.length && this.answer.queries[0].length === this.values.d ? this.answer.queries : []; }
  current() { return this.found()[0] ?? null; }
  own() { return this.values.query.length === this.values.d ? this.values.query : null; }
  shown() { return this.own() ?? this.current(); }

  pull(query) { return softmax(scores(this.keys, query, scaleOf(this.values) || 1)); }

  /** The pattern of your query, else the mean pattern of the queries found, else uniform. */
  #pattern() {
    const queries = this.own() ? [this.own()] : this.found();
    if (!queries.length) return new Array(this.keys.length).fill(1 / this.keys.length);
    const all = queries.map((query) => this.pull(query));
    return all[0].map((_, i) => all.reduce((sum, one) => sum + one[i], 0) / all.length);
  }

  /** The keys with the most weight, [[weight, key], ...]. */
  top(count) {
    const best = [];
    this.weights.forEach((weight, i) => {
      if (best.length < count || weight > best.at(-1)[0]) { best.push([weight, i]); best.sort((a, b) => b[0] - a[0]); if (best.length > count) best.pop(); }
    });
    return best;
  }
}

const unitVectors = (d) => Array.from({ length: d }, (_, i) => Array.from({ length: d }, (__, j) => Number(i === j)));
