// A guided tour: one sentence after the other, each beside what it is about.
import { h } from "./dom.js";
import { button } from "./controls.js";

/** Show the steps, [[selector, sentence], ...]; arrow keys and Escape work. */
export function tour(steps) {
  document.querySelector(".guide")?.remove();
  let at = 0;
  const words = h("p", { "aria-live": "polite" });
  const count = h("span", { class: "quiet" });
  const next = button("Next", () => go(1), { class: "primary" });
  const box = h("div", { class: "guide", role: "dialog", "aria-label": "Guided tour" }, words,
    h("div", { class: "steps" }, count, button("Back", () => go(-1)), next, button("End", () => end())));
  const unmark = () => { for (const marked of document.querySelectorAll(".marked")) marked.classList.remove("marked"); };
  function end() { unmark(); box.remove(); removeEventListener("keydown", keys, true); }
  function go(step) {
    if (at + step >= steps.length) { end(); return; }
    at = Math.max(0, at + step);
    const [selector, sentence] = steps[at];
    unmark();
    words.textContent = sentence;
    count.textContent = `${at + 1} of ${steps.length}`;
    next.textContent = at === steps.length - 1 ? "Done" : "Next";
    const target = document.querySelector(selector);
    if (!target) return;
    target.classList.add("marked");
    target.scrollIntoView({ block: "nearest", behavior: matchMedia("(prefers-reduced-motion: reduce)").matches ? "auto" : "smooth" });
  }
  function keys(event) {
    if (event.key === "Escape") end();
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
