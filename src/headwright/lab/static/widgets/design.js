// The Design view in a notebook: Python's kernel computes designs, and reads back what is set here.
import theme from "../theme.css" with { type: "css" };
import sheet from "../lab.css" with { type: "css" };
import { h } from "../common/dom.js";
import { State, framed } from "../common/state.js";
import { undoing } from "../common/controls.js";
import { build, fields } from "../views/design/view.js";
import { keysOf } from "../views/design/keys.js";
import { questionOf } from "../views/design/question.js";

/** Requests to the kernel instead of the server; each has an id, so that answers find their request. */
function kernel(model) {
  const waiting = new Map();
  let last = 0;
  const hear = (said) => {
    const told = waiting.get(said.id);
    if (said.done !== undefined) { told?.heard({ state: "working", done: said.done }); return; }
    waiting.delete(said.id);
    told?.done(said);
  };
  model.on("msg:custom", hear);
  const ask = async (call, body, signal, heard) => {
    const id = `${Date.now()}-${last += 1}`;
    model.send({ id, call, body });
    const said = await new Promise((done, failed) => {
      waiting.set(id, { done, heard });
      signal.addEventListener("abort", () => { waiting.delete(id); failed(new DOMException("cancelled", "AbortError")); });
    });
    if (said.answer) return said.answer;
    throw Object.assign(new Error(said.error), { where: said.where });
  };
  return { ask, close: () => model.off("msg:custom", hear) };
}

const dark = () => document.body.dataset.jpThemeLight === "false" || document.body.classList.contains("vscode-dark");

function render({ model, el }) {
  const host = el.appendChild(document.createElement("div"));
  host.dataset.lmSuppressShortcuts = "true"; // key presses in here are not the notebook's commands
  host.dataset.theme = dark() ? "dark" : "light";
  const root = host.attachShadow({ mode: "open" });
  root.adoptedStyleSheets = [theme, sheet];
  host.addEventListener("keydown", (event) => event.stopPropagation());
  const { ask, close } = kernel(model);
  const keep = (address) => {
    const { values } = state;
    model.set({ address, asked: questionOf(values, keysOf(values)), held: values.query });
    model.save_changes();
  };
  const state = new State(fields, model.get("address"), { root, keep });
  const follow = () => state.visit(model.get("address"));
  model.on("change:address", follow);
  root.append(h("div", { class: "row-of undoing" }, ...undoing(state, root)));
  framed(state, build(root, state, { by: ask, given: true }).draw);
  return () => { close(); model.off("change:address", follow); };
}

export default { render };
