// Controls bound to the state. Every slider has a number field; errors are shown beside their control.
import { h, put } from "./dom.js";

const NARROW = "(max-width: 62rem)"; // as in lab.css: there the controls stand above the results

/** Several controls under a heading that folds them. */
export function group(title, ...children) {
  return h("details", { class: "group", open: true }, h("summary", {}, title), h("div", { role: "group", "aria-label": title }, ...children));
}

/** All groups of a view. On a narrow screen only the first is open at the start, so that the results are not far below. */
export function controls(...groups) {
  const shown = groups.filter(Boolean);
  if (matchMedia(NARROW).matches) for (const one of shown.slice(1)) one.open = false;
  return h("div", { class: "controls" }, ...shown);
}

/** Where an error about this field is shown. */
const complaint = (name) => h("p", { class: "error", id: `error-${name}`, role: "alert", hidden: true });

/** Show an error beside its control; null removes it. False if there is no place for it. `by`: page or server. */
export function complain(state, name, sentence, by = "page") {
  const place = state.root.getElementById(`error-${name}`);
  if (!place) return false;
  place.dataset.by = by;
  place.textContent = sentence ?? "";
  place.hidden = !sentence;
  const folded = place.closest("details.group");
  if (sentence && folded) folded.open = true;
  for (const field of place.parentElement.querySelectorAll("input, select, textarea")) {
    put(field, { "aria-invalid": Boolean(sentence), "aria-describedby": sentence ? place.id : null });
  }
  return true;
}

/** Remove all errors that came from the server. */
export function forgive(state) {
  for (const place of state.root.querySelectorAll("p.error[data-by=server]")) complain(state, place.id.slice(6), null);
}

/** Show an error from the server: beside the field it names, else at `error-general`. */
export function refuse(state, sentence, where) {
  forgive(state);
  if (!where || !complain(state, where, sentence, "server")) complain(state, "general", sentence, "server");
}

/** Places for invalid links, for errors that are about no field, and for the progress of slow requests. */
export const refusals = () => [h("p", { class: "error", id: "error-link", role: "alert", hidden: true }), h("p", { class: "error", id: "error-general", role: "alert", hidden: true }), h("div", { id: "working" })];

/** A slider with a number field. `log`: a logarithmic scale. */
export function slider(state, name, label, { least, most, step = "any", log = false, note = "", unit = "" }) {
  const to = log ? Math.log10 : (x) => x;
  const from = log ? (x) => Number((10 ** x).toPrecision(3)) : (x) => x;
  const id = `field-${name}`;
  const range = h("input", { type: "range", id: `${id}-slider`, min: to(least), max: to(most), step: log ? 0.01 : step, "aria-label": label });
  const field = h("input", { type: "number", id, min: least, max: most, step: log ? "any" : step });
  const take = (value, settle) => {
    if (!Number.isFinite(value) || value < least || value > most) {
      complain(state, name, `${label}: expected ${least} to ${most}`);
      return;
    }
    complain(state, name, null);
    state.set({ [name]: value }, { settle });
  };
  range.addEventListener("input", () => take(from(Number(range.value)), false));
  range.addEventListener("change", () => state.settle());
  field.addEventListener("input", () => field.value !== "" && take(Number(field.value), false));
  field.addEventListener("change", () => take(Number(field.value), true));
  const show = () => {
    const value = state.values[name];
    range.value = to(value);
    put(range, { "aria-valuetext": `${value}${unit}` });
    if (!field.matches(":focus")) field.value = value;
  };
  state.listen(show);
  show();
  return h("div", { class: "control" }, h("label", { for: id }, label), h("div", { class: "pair" }, range, field),
    note && h("p", { class: "note" }, note), complaint(name));
}

/** A number field alone. */
export function field(state, name, label, { step = "any", note = "" } = {}) {
  const id = `field-${name}`;
  const input = h("input", { type: "number", id, step });
  input.addEventListener("input", () => input.value !== "" && Number.isFinite(Number(input.value)) && state.set({ [name]: Number(input.value) }, { settle: false }));
  input.addEventListener("change", () => state.settle());
  const show = () => { if (!input.matches(":focus")) input.value = state.values[name]; };
  state.listen(show);
  show();
  return h("div", { class: "control row" }, h("label", { for: id }, label), input, note && h("p", { class: "note" }, note), complaint(name));
}

/** A text field for an exact number, such as 0.01 or 1/8. */
export function line(state, name, label, { note = "" } = {}) {
  const id = `field-${name}`;
  const input = h("input", { type: "text", id, inputmode: "decimal", autocomplete: "off", spellcheck: "false" });
  input.addEventListener("input", () => state.set({ [name]: input.value.trim() }, { settle: false }));
  input.addEventListener("change", () => state.settle());
  const show = () => { if (!input.matches(":focus")) input.value = state.values[name]; };
  state.listen(show);
  show();
  return h("div", { class: "control row" }, h("label", { for: id }, label), input, note && h("p", { class: "note" }, note), complaint(name));
}

/** One of several options, as a row of buttons. */
export function choose(state, name, label, options) {
  const buttons = options.map(([value, said]) => {
    const input = h("input", { type: "radio", name: `field-${name}`, value, id: `field-${name}-${value}` });
    input.addEventListener("change", () => input.checked && state.set({ [name]: value }));
    return [value, input, h("label", { for: input.id }, said)];
  });
  const show = () => { for (const [value, input] of buttons) input.checked = state.values[name] === value; };
  state.listen(show);
  show();
  return h("div", { class: "control" }, h("div", { class: "choose", role: "radiogroup", "aria-label": label },
    h("span", { class: "label" }, label), h("div", { class: "segments" }, ...buttons.flatMap(([, input, said]) => [input, said]))), complaint(name));
}

/** Yes or no. */
export function tick(state, name, label) {
  const input = h("input", { type: "checkbox", id: `field-${name}` });
  input.addEventListener("change", () => state.set({ [name]: input.checked }));
  const show = () => { input.checked = state.values[name]; };
  state.listen(show);
  show();
  return h("div", { class: "control tick" }, input, h("label", { for: input.id }, label), complaint(name));
}

/** A button. */
export const button = (label, pressed, attributes = {}) => h("button", { type: "button", onclick: pressed, ...attributes }, label);

/** Whether a key press goes to a text field. */
export const typing = (event) => Boolean(event.target.matches?.("input:not([type=range]):not([type=radio]):not([type=checkbox]), textarea, select"));

/** Buttons that undo and redo; so do the usual keys, pressed anywhere in `place` but in a field. */
export function undoing(state, place) {
  const undo = button("↶", () => state.undo(), { title: "Undo (Ctrl+Z)", "aria-label": "Undo" });
  const redo = button("↷", () => state.redo(), { title: "Redo (Ctrl+Shift+Z)", "aria-label": "Redo" });
  const count = () => { undo.disabled = !state.past.length; redo.disabled = !state.future.length; };
  state.listen(count);
  count();
  place.addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!(event.ctrlKey || event.metaKey) || event.altKey || (key !== "z" && key !== "y") || typing(event)) return;
    event.preventDefault();
    if (key === "y" || event.shiftKey) state.redo(); else state.undo();
  });
  return [undo, redo];
}
