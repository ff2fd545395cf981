// What all views share: state in the address, presets, undo and redo, links to share, export of code and pictures,
// presentation mode, light and dark, a guided tour, keyboard shortcuts, and certificates dropped on the page.
import { h, put, s } from "./dom.js";
import { State, framed } from "./state.js";
import { button, complain, typing, undoing } from "./controls.js";
import { copy, download, pixels, standalone, toast } from "./export.js";
import { checkFile, dropped } from "./dropzone.js";
import { tour } from "./guide.js";

const LONGEST_LINKED = 100_000; // characters of a certificate in a link

/**
 * Open a view.
 *   fields    the state (see state.js)
 *   presets   [[title, {field: value, ...}], ...]: other fields get their initial values
 *   validate  (values) => [[field, sentence], ...]: what a link asks for that does not exist
 *   build     (main, state) => {draw(values, names), python(), command(), json(), pictures(), certificate(), dropped(file)}; all but draw may be missing
 *   steps     [[selector, sentence], ...]: the guided tour
 *   hasNumberKeys   whether the keys 1 to 9 choose presets; not where a preset replaces what somebody wrote
 */
export function open({ name, fields, presets = [], build, steps = [], validate = () => [], hasNumberKeys = true }) {
  let seen = location.hash;
  const keep = (address) => { history.replaceState(null, "", address ? `#${address}` : location.pathname); seen = location.hash; };
  /** Follow a link within the page. On a busy machine its event comes late, so it is followed before anything else changes. */
  const arrive = () => {
    if (location.hash === seen) return;
    seen = location.hash;
    if (document.getElementById(seen.slice(1))) { keep(state.address()); return; } // a link to a part of the page
    if (!state.visit(seen)) return;
    clearComplaints(state); // before the new state is drawn: what is typed from now on may have complaints of its own
    requestAnimationFrame(() => complaints(state));
  };
  const state = new State(fields, location.hash, { keep, validate, arrive });
  addEventListener("hashchange", arrive);
  const main = document.getElementById("main");
  const parts = build(main, state);
  const tools = document.getElementById("tools");
  (document.getElementById("presets") ?? document.getElementById("intro")).append(presetRow(state, fields, presets, hasNumberKeys));
  tools.append(...undoing(state, window), shareMenu(state), takeMenu(name, parts), ...looks(state));
  if (steps.length) tools.append(button("Tour", () => tour(steps), { title: "A guided tour of this view" }));
  keyboard(hasNumberKeys);
  dropped(document.body, main, parts.dropped);
  framed(state, parts.draw);
  complaints(state); // after drawing, which hides controls that do not apply
  document.documentElement.dataset.ready = "yes";
  return state;
}

/** Remove what was said of the values of the address before. */
function clearComplaints(state) {
  for (const name of [...Object.keys(state.fields), "link"]) complain(state, name, null);
}

/** Invalid values in a link: shown beside their control if it is visible, and otherwise above the results. */
function complaints(state) {
  const elsewhere = [];
  for (const [field, sentence] of state.complaints) {
    complain(state, field, sentence);
    if (!state.root.getElementById(`error-${field}`)?.checkVisibility()) elsewhere.push(`${field}: ${sentence}`);
  }
  if (elsewhere.length) complain(state, "link", `This link has invalid values, which were ignored. ${elsewhere.join("; ")}.`);
}

function presetRow(state, fields, presets, hasNumberKeys) {
  const start = (changes) => ({ ...Object.fromEntries(Object.entries(fields).map(([field, kind]) => [field, structuredClone(kind.initial)])), ...changes });
  return h("div", { class: "presets", role: "group", "aria-label": "Presets" },
    ...presets.map(([title, changes], i) => button(title, () => state.set(start(structuredClone(changes))), { class: "chip", ...(hasNumberKeys && i < 9 ? { title: `On the keyboard: ${i + 1}` } : {}) })));
}

/** A menu that opens under a button. */
function menu(label, title, ...items) {
  const box = h("details", { class: "menu" }, h("summary", { title }, label), h("div", { class: "items" }, ...items));
  const close = () => { box.open = false; };
  box.addEventListener("keydown", (event) => { if (event.key === "Escape") { close(); box.querySelector("summary").focus(); } });
  document.addEventListener("pointerdown", (event) => { if (!box.contains(event.target)) close(); });
  for (const item of items) item.addEventListener("click", close);
  return box;
}

function shareMenu(state) {
  const link = (view = {}) => `${location.origin}${location.pathname}#${state.address(view)}`;
  return menu("Share", "Links to what is shown",
    button("Copy the link", () => copy(link(), "Link")),
    button("Copy a link without controls", () => copy(link({ hide: "controls" }), "Link without controls")),
    button("Copy a link for presentation", () => copy(link({ view: "projector" }), "Link for presentation")));
}

function takeMenu(name, parts) {
  const items = [];
  const add = (label, pressed) => items.push(button(label, pressed));
  if (parts.python) add("Copy as Python", () => copy(parts.python(), "Python"));
  if (parts.command) add("Copy as command line", () => copy(parts.command(), "Command line"));
  if (parts.json) add("Download JSON", () => download(`headwright-${name}.json`, JSON.stringify(parts.json(), null, 2)));
  if (parts.pictures) {
    add("Download SVG", () => { for (const [title, svg] of parts.pictures()) download(`headwright-${title}.svg`, standalone(svg), "image/svg+xml"); });
    add("Download PNG", async () => { for (const [title, svg] of parts.pictures()) download(`headwright-${title}.png`, await pixels(svg)); });
  }
  const certified = (label, use) => add(label, () => { const text = parts.certificate(); if (text) use(text); else toast("There is no certificate"); });
  if (parts.certificate) {
    certified("Download the certificate", (text) => download("certificate.json", text));
    certified("Verify the certificate", (text) => {
      const page = document.documentElement.dataset.verify; // of a page for people without the lab; else the lab verifies
      if (page && text.length <= LONGEST_LINKED) window.open(`${page}#certificate=${encodeURIComponent(text)}`, "_blank", "noopener");
      else { checkFile(new File([text], "certificate.json"), document.getElementById("main")); scrollTo({ top: 0 }); }
    });
  }
  return menu("Export", "Code, numbers and pictures", ...items);
}

const screen = () => s("svg", { viewBox: "0 0 18 14", width: 18, height: 14, "aria-hidden": "true" }, s("path", { d: "M1 1h16v9H1zM9 10v3M5 13h8", fill: "none", stroke: "currentColor", "stroke-width": 1.5 }));

function looks(state) {
  const root = document.documentElement;
  const dark = () => (root.dataset.theme ?? (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light")) === "dark";
  const theme = button("◐", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("headwright-theme", root.dataset.theme); } catch { /* storage is disabled: kept for this page only */ }
  }, { title: "Light or dark", "aria-label": "Light or dark" });
  const projector = button(screen(), () => {
    const on = root.dataset.view !== "projector";
    if (on) root.dataset.view = "projector"; else delete root.dataset.view;
    put(projector, { "aria-pressed": String(on) });
    const { view, ...rest } = state?.view ?? {};
    state?.look(on ? { ...rest, view: "projector" } : rest);
    dispatchEvent(new Event("resize"));
  }, { title: "Presentation mode: large, without controls (P)", "aria-label": "Presentation mode", "aria-pressed": String(root.dataset.view === "projector"), id: "projector" });
  return [theme, projector];
}

/** The tools of pages without state: light or dark. */
export function plainTools() { document.getElementById("tools").append(looks(null)[0]); }

function keyboard(hasNumberKeys) {
  addEventListener("keydown", (event) => {
    if (typing(event) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key.toLowerCase() === "p") document.getElementById("projector").click();
    else if (hasNumberKeys && /^[1-9]$/.test(event.key)) document.querySelectorAll(".presets button")[Number(event.key) - 1]?.click();
  });
}
