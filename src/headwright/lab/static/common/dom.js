// Elements from names, attributes and children. Text is never parsed as markup.
const SVG = "http://www.w3.org/2000/svg";

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value" && "value" in element) element.value = value;
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: h("p", {class: "quiet"}, "text", other). */
export const h = (tag, attributes, ...children) => fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const s = (tag, attributes, ...children) => fill(document.createElementNS(SVG, tag), attributes, children);

/** Change attributes of an element; attributes that have the value already are not touched, which is faster. */
export function put(element, attributes) {
  for (const name in attributes) {
    const value = attributes[name];
    if (value === null || value === false || value === undefined) element.removeAttribute(name);
    else {
      const text = value === true ? "" : String(value);
      if (element.getAttribute(name) !== text) element.setAttribute(name, text);
    }
  }
  return element;
}

/** Change the text of an element, if it is another. */
export function tell(element, text) { if (element.textContent !== text) element.textContent = text; }

/** Exactly `count` children in a place: existing ones stay, `make(index)` makes missing ones. */
export function several(place, count, make) {
  while (place.childElementCount > count) place.lastElementChild.remove();
  while (place.childElementCount < count) place.append(make(place.childElementCount));
  return place.children;
}

/** A number for display, with `digits` decimals and a real minus sign. */
export function shown(number, digits = 3) {
  if (number === null || number === undefined || Number.isNaN(number)) return "–";
  if (!Number.isFinite(number)) return number > 0 ? "∞" : "−∞";
  const size = Math.abs(number);
  let text;
  if (size !== 0 && (size < 10 ** -digits || size >= 1e6)) text = number.toExponential(Math.max(1, digits - 1));
  else text = String(Number(number.toFixed(size >= 100 ? 1 : digits)));
  return text.replace("-", "−");
}

/** Announce a text to screen readers; only the last one within 400 ms is announced. */
let speaking = 0;
export function speak(text) {
  clearTimeout(speaking);
  speaking = setTimeout(() => {
    const place = document.getElementById("spoken") ?? document.body.appendChild(h("div", { id: "spoken", "aria-live": "polite" }));
    Object.assign(place.style, { position: "absolute", width: "1px", height: "1px", overflow: "hidden", clipPath: "inset(50%)" }); // in a notebook, too
    place.textContent = text;
  }, 400);
}

/** A list in words: "key 0, key 1 and key 4". */
export function listed(words, and = "and") {
  return words.length < 2 ? (words[0] ?? "") : `${words.slice(0, -1).join(", ")} ${and} ${words.at(-1)}`;
}

function towards(x, digits, round) {
  if (!Number.isFinite(x) || x === 0) return shown(x);
  const unit = 10 ** (Math.floor(Math.log10(Math.abs(x))) - digits + 1);
  const wrong = round === Math.ceil ? (y) => y < x : (y) => y > x;
  let text = (round(x / unit) * unit).toPrecision(digits);
  if (wrong(Number(text))) text = (Number(text) + (round === Math.ceil ? unit : -unit)).toPrecision(digits);
  const found = Number(text);
  return (Math.abs(found) < 1e-4 ? found.toExponential() : String(found)).replace("+", "").replaceAll("-", "−");
}

/** A proven upper bound for display: rounded up. */
export const up = (x, digits = 4) => towards(x, digits, Math.ceil);

/** A proven lower bound for display: rounded down. */
export const down = (x, digits = 4) => towards(x, digits, Math.floor);

const CHECKERS = { exact: "exact checker", float: "floating-point checker", proved: "checker with a machine-checked proof", "every text": "checker of every text" };

/** The names of the checkers that verified a certificate. */
export const checkedBy = (names) => names.map((name) => CHECKERS[name]).join(" and the ");
