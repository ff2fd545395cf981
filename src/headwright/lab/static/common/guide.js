// A guided tour: a sequence of sentences, each with the part of the page that it is about.
import { h } from "./dom.js";
import { button } from "./controls.js";

/** Show the steps, [[selector, sentence, preset], ...]; arrow keys and Escape work. A step with a preset offers to apply it. */
export function tour(steps) {
  document.querySelector(".guide")?.remove();
  let at = 0;
  const before = document.activeElement;
  const words = h("p", { "aria-live": "polite" });
  const count = h("span", { class: "quiet" });
  const show = button("Show me", () => chip()?.click());
  const chip = () => [...document.querySelectorAll(".presets button")].find((one) => one.textContent === steps[at][2]);
  const next = button("Next", () => go(1), { class: "primary" });
  const box = h("div", { class: "guide", role: "dialog", "aria-label": "Guided tour" }, words,
    h("div", { class: "steps" }, count, show, button("Back", () => go(-1)), next, button("End", () => end())));
  const unmark = () => { for (const marked of document.querySelectorAll(".marked")) marked.classList.remove("marked"); };
  function end() { unmark(); box.remove(); removeEventListener("keydown", keys, true); before?.focus?.(); }
  function go(step) {
    if (at + step >= steps.length) { end(); return; }
    at = Math.max(0, at + step);
    const [selector, sentence] = steps[at];
    unmark();
    words.textContent = sentence;
    show.hidden = !chip();
    count.textContent = `${at + 1} of ${steps.length}`;
    next.textContent = at === steps.length - 1 ? "Done" : "Next";
    const target = document.querySelector(selector);
    if (!target) return;
    target.classList.add("marked");
    target.scrollIntoView({ block: innerWidth < 700 ? "start" : "nearest", // where the guide does not cover it
      behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
  function keys(event) {
    const elsewhere = document.activeElement !== document.body && !box.contains(document.activeElement); // a slider, a key: its own arrows
    if (event.key === "Escape") end();
    else if (elsewhere) return;
    else if (event.key === "ArrowRight") go(1);
    else if (event.key === "ArrowLeft") go(-1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
  addEventListener("keydown", keys, true);
  document.body.append(box);
  go(0);
  next.focus();
}
