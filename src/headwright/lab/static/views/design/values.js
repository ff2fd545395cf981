// The state of the Design view: its values, and what each may be.
import { choice, list, number, rows, text } from "../../common/state.js";
import { KINDS } from "./keys.js";

export const NOISES = [["none", "none"], ["ball", "ball"], ["stretch", "stretch"], ["gauss", "Gaussian"]];

export const fields = {
  kind: choice("circle", KINDS.map(([name]) => name)),
  n: number(9, { least: 2, most: 200, whole: true }),
  d: number(2, { least: 2, most: 16, whole: true }),
  seed: number(1, { least: 0, most: 1e6, whole: true }),
  moved: rows({}),
  chosen: number(0, { least: 0, most: 199, whole: true }), // the key that the arrow keys and number fields are about
  targets: list([1], { longest: 64, whole: true, least: 0 }),
  mode: choice("evenly", ["evenly", "least"]),
  least: rows({}),
  eps: number(0.1, { least: 1e-6, most: 100 }),
  scale: text("1", { longest: 40 }),
  heads: number(1, { least: 1, most: 4, whole: true }),
  noise: choice("none", ["none", "ball", "stretch", "gauss"]),
  amount: number(0.1, { least: 0.001, most: 0.9 }),
  query: list([], { longest: 16 }),
  yaw: number(0, { least: -180, most: 180 }),
  pitch: number(0, { least: -180, most: 180 }),
};
