// Design: choose target keys; see all queries that meet the targets, the shortest one, and what is proved about it.
import { open } from "../common/view.js";
import { build, fields, validate } from "./design/view.js";

const presets = [
  ["Copy one key", {}],
  ["Average two neighbours", { targets: [1, 2] }],
  ["Average two distant keys: impossible", { targets: [1, 4] }],
  ["Target inside the other keys: impossible", { n: 7, moved: { 6: [0.12, 0.08] }, targets: [6] }],
  ["60 keys", { kind: "circle", n: 60, targets: [8] }],
  ["On a sphere", { kind: "sphere", n: 24, d: 3, seed: 2, targets: [3], yaw: 30, pitch: 20 }],
  ["16 dimensions", { kind: "sphere", n: 40, d: 16, seed: 5, targets: [0, 7] }],
  ["Uncertain keys", { noise: "ball", amount: 0.05 }],
  ["Two heads, two targets", { targets: [1, 5], heads: 2 }],
];

open({
  name: "design", fields, presets, build, validate,
  steps: [
    [".planes figure:first-child", "These are the keys. A head computes the score of each key with its query; the softmax of the scores is the pattern. The orange key is the target: the head should attend to it."],
    [".planes figure:last-child", "Every point here is a query. The queries in the green region meet the target. Here the region is unbounded: longer queries in the same direction attend more sharply."],
    ["#verdict", "The dashed circle touches the region at its shortest query. The server proved that this query meets the target, and that no shorter query does."],
    ["#mine", "Drag the round handle to try your own query. The dotted line leads to the nearest query that meets the target."],
    ["#pattern", "The pattern of the query. The line across a bar is the required weight."],
    ["#verdict", "A target that no query meets: a key inside the convex hull of the others. It is a convex combination of them, so its score is the same combination of their scores. The coefficients are the proof.", "Target inside the other keys: impossible"],
    [".controls .group:last-child", "Keys need not be known exactly. If each key may lie anywhere in a small ball, the query gets longer, and the proof covers all positions.", "Uncertain keys"],
    [".presets", "More examples. The address contains the whole state: copy the link to share what you see. Ctrl+Z undoes.", "Copy one key"],
  ],
});
