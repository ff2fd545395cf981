// Where the Check view begins, and its examples. A page for students who must not see answers has a file of this name of its own.
export const start = { exercise: "averaging-two", answer: "q = \\frac{1}{\\sqrt 2}(k_a + k_b)", hints: "direction" };
export const presets = [
  ["Right direction, too short", {}],
  ["Correct", { answer: "Any $\\lambda$ that is large enough: $q = \\lambda (k_a + k_b)$. If $n = 2$ then even $\\alpha_a = \\frac12$.", hints: "full" }],
  ["Correct, with a false formula", { answer: "Take $q = \\lambda (k_a + k_b)$ with a large $\\lambda$.\nThen $\\alpha_a = \\alpha_b = \\frac12$." }],
  ["A missing key", { exercise: "averaging-three", answer: "Let $q = \\lambda (k_a + k_b)$ for a large $\\lambda$." }],
  ["Not large enough", { exercise: "averaging-two-bounded", answer: "q = \\ln(n)(k_1 + k_2)" }],
  ["Rank too large", { exercise: "low-rank", answer: "B = \\sum_{i=1}^{k} \\sigma_i u_i v_i^\\top" }],
  ["Restates the question", { exercise: "permutation", answer: "Z_p = P Z" }],
  ["Sentences to read", { answer: "Take $q = \\lambda (k_a + k_b)$, where $\\lambda$ is as large as a house.\nA naive idea would be $q = k_a$.", hints: "full" }],
  ["Syntax error", { answer: "q = \\lambda (k_a + k_b" }],
];
/** Of the guided tour. */
export const steps = [
  ["#verdict", "This answer has the right direction and is too short.", "Right direction, too short"],
  ["#verdict", "The same direction with a large enough factor is correct. The smallest sufficient factor is shown as well.", "Correct"],
];
