// Design: drag the keys, wish by clicking them; every query that grants the wish, the shortest one, and the proof.
import { open } from "../common/room.js";
import { build, fields } from "./design/view.js";

const presets = [
  ["Copy one key", {}],
  ["Average two neighbours", { targets: [1, 2] }],
  ["Average two that lie apart: impossible", { targets: [1, 4] }],
  ["Inside the others: impossible", { n: 7, moved: { 6: [0.12, 0.08] }, targets: [6] }],
  ["A crowd", { kind: "circle", n: 60, targets: [8] }],
  ["On a sphere", { kind: "sphere", n: 24, d: 3, seed: 2, targets: [3], yaw: 30, pitch: 20 }],
  ["Sixteen dimensions", { kind: "sphere", n: 40, d: 16, seed: 5, targets: [0, 7] }],
  ["Keys that may move", { noise: "ball", amount: 0.12 }],
  ["Two heads for two keys", { targets: [1, 5], heads: 2 }],
];

open({
  name: "design", fields, presets, build,
  steps: [
    [".planes figure:first-child", "These are the keys. A head scores each of them against its query; the softmax of the scores is its pattern. The orange key is wished for: the head should attend to it."],
    [".planes figure:last-child", "Every point here is a query. The green ones give the wished-for key what it should get. Here they go on without end: along such a direction, longer queries attend more sharply."],
    ["#verdict", "One of them is shortest: the dashed circle just touches the region. That it is enough, and that none shorter is, was proved on the server a moment ago."],
    ["#mine", "Drag the round handle to try a query of your own. The dotted line leads to the nearest query that would do."],
    ["#pattern", "What the head attends to. The line across a bar is what was wished for."],
    ["#verdict", "Now a wish that no query grants: a key inside the others. It is a mixture of them, so its score is the same mixture of theirs; the weights of the mixture are the proof.", "Inside the others: impossible"],
    [".controls .group:last-child", "Keys need not be known exactly. Let each of them lie anywhere in a small ball: the query gets longer, and what is proved holds for all of them.", "Keys that may move"],
    [".presets", "More wishes are here, and everything you do is in the address: copy the link, and others see what you see. Ctrl+Z undoes.", "Copy one key"],
  ],
});
