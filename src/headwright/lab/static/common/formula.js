// Formulas and short texts that the server typeset: built anew, element by element, from what is known to be harmless.
const MATHML = "http://www.w3.org/1998/Math/MathML";
const MATH = new Set(["math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msup", "msub", "msubsup", "mfrac", "msqrt", "mroot", "mover", "munder",
  "munderover", "mtable", "mtr", "mtd", "mstyle", "mpadded", "mphantom", "menclose", "mmultiscripts", "mprescripts", "none"]);
const TEXT = new Set(["p", "code", "em", "strong", "ul", "ol", "li", "div", "span", "sub", "sup"]);
const KEPT = ["display", "stretchy", "fence", "form", "separator", "mathvariant", "accent", "accentunder", "displaystyle", "movablelimits", "largeop", "width"];

/** Nodes to put into a page. Anything but formulas and plain text elements comes out as its text. */
export function typeset(markup) {
  return [...new DOMParser().parseFromString(markup, "text/html").body.childNodes].map(built);
}

function built(node) {
  if (node.nodeType !== Node.ELEMENT_NODE) return document.createTextNode(node.textContent ?? "");
  const name = node.localName;
  if (!MATH.has(name) && !TEXT.has(name)) return document.createTextNode(node.textContent ?? "");
  const made = MATH.has(name) ? document.createElementNS(MATHML, name) : document.createElement(name);
  if (MATH.has(name)) for (const attribute of KEPT) if (node.hasAttribute(attribute)) made.setAttribute(attribute, node.getAttribute(attribute));
  if (name === "div") made.className = "formula";
  made.append(...[...node.childNodes].map(built));
  return made;
}

const GREEK = { alpha: "α", beta: "β", gamma: "γ", delta: "δ", epsilon: "ε", lambda: "λ", mu: "μ", sigma: "σ", tau: "τ", theta: "θ", Phi: "Φ", pi: "π", infinity: "∞" };
const LETTERS = new RegExp(`(?<![A-Za-z])(${Object.keys(GREEK).join("|")})(?![A-Za-z])`, "g");

const SIGNS = { approx: "≈", ge: "≥", geq: "≥", le: "≤", leq: "≤", ne: "≠", neq: "≠", gg: "≫", ll: "≪", to: "→", infty: "∞", cdot: "·", in: "∈", top: "T" };

/** What a sentence quotes of an answer, without its marks. */
const quoted = (text) => text.replace(/\$\$?([^$\n]+)\$\$?/g, (_, formula) => formula.replace(/\\([A-Za-z]+)/g, (_, name) => SIGNS[name] ?? name));

/** Plain spelling for the eye: alpha_a as a letter with its index below, >= as one sign. */
export function lettered(text) {
  const said = quoted(text).replace(LETTERS, (name) => GREEK[name]).replaceAll(">=", "≥").replaceAll("<=", "≤");
  const parts = said.split(/(?<=[\p{L}|])(_)(\{[^{}]*\}|[A-Za-z0-9]+)|(?<=[\p{L}\p{N}|)}])(\^)(\{[^{}]*\}|\([^()]*\)|[\p{L}\p{N}]+)/u);
  const nodes = [];
  for (let i = 0; i < parts.length; i += 5) { // words, then what stands below or above them
    nodes.push(document.createTextNode(parts[i]));
    const mark = parts[i + 1] ?? parts[i + 3];
    if (mark === undefined) continue;
    const small = document.createElement(mark === "_" ? "sub" : "sup");
    small.textContent = (parts[i + 2] ?? parts[i + 4]).replace(/^[{(]|[)}]$/g, "");
    nodes.push(small);
  }
  return nodes;
}
