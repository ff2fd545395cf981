// The state of a view: named values, kept in the address, with undo and redo. Values equal to the initial ones are left out of the address.

const fail = (sentence) => { throw new Error(sentence); };

/** Kinds of values: the initial value, and how a value is written to and read from an address. */
export const number = (initial, { least = -1e9, most = 1e9, whole = false } = {}) => ({
  initial,
  write: String,
  read(text) {
    const value = Number(text);
    if (text.trim() === "" || !Number.isFinite(value)) fail(`${text} is not a number`);
    if (value < least || value > most) fail(`${text}: expected ${least} to ${most}`);
    return whole ? Math.round(value) : value;
  },
});
export const text = (initial, { longest = 200 } = {}) => ({
  initial,
  write: (value) => value,
  read: (value) => (value.length > longest ? fail(`expected at most ${longest} characters`) : value),
});
export const choice = (initial, options) => ({
  initial,
  write: (value) => value,
  read: (value) => (options.includes(value) ? value : fail(`${value}: expected ${options.join(", ")}`)),
});
export const flag = (initial) => ({ initial, write: (value) => (value ? "1" : "0"), read: (value) => value === "1" });
export const list = (initial, { longest = 4096, whole = false, least = -1e9, most = 1e9 } = {}) => ({
  initial,
  write: (values) => values.join(","),
  read(given) {
    const values = given === "" ? [] : given.split(",").map(Number);
    if (values.length > longest) fail(`expected at most ${longest} numbers`);
    if (!values.every(whole ? Number.isInteger : Number.isFinite)) fail(`${given.slice(0, 60)}: expected numbers`);
    if (!values.every((value) => value >= least && value <= most)) fail(`expected numbers from ${least} to ${most}`);
    return values;
  },
});
/** Rows by index, such as 3:0.1,0.2;5:1,0. */
export const rows = (initial, { most = 2000 } = {}) => ({
  initial,
  write: (value) => Object.entries(value).map(([index, row]) => `${index}:${row.join(",")}`).join(";"),
  read(given) {
    const found = {};
    for (const part of given === "" ? [] : given.split(";")) {
      const [index, row] = part.split(":");
      const values = (row ?? "").split(",").map(Number);
      if (!/^\d{1,4}$/.test(index) || Number(index) >= most || !values.every(Number.isFinite)) fail(`${part}: expected a row`);
      found[Number(index)] = values;
    }
    return found;
  },
});

const same = (kind, a, b) => kind.write(a) === kind.write(b);
const KEPT = 200;
const PAUSE = 400; // milliseconds after which the address contains what is typed or dragged, so that a reload loses nothing

/**
 * Values by name; listeners get (values, names) after every change; `complaints` has [field, sentence] for what an address has wrong.
 * `root` contains the view's elements; `keep(address)` stores the address; `arrive()` reads one that is new; `validate(values)` finds values that do not fit each other.
 */
export class State {
  constructor(fields, hash = "", { root = document, keep = () => {}, validate = () => [], arrive = () => {} } = {}) {
    Object.assign(this, { fields, root, keep, validate, arrive });
    this.values = {};
    this.complaints = [];
    this.listeners = [];
    this.past = [];
    this.future = [];
    this.view = {};
    this.#read(hash);
    this.settled = this.written();
  }

  /** Read an address; undo restores the state before. Returns whether it differs from the state. */
  visit(hash) {
    if (hash.replace(/^#/, "") === this.address()) return false;
    this.past.push(this.settled);
    this.#read(hash);
    this.settled = this.written();
    this.#tell();
    return true;
  }

  #read(hash) {
    const given = new URLSearchParams(hash.replace(/^#/, ""));
    this.complaints = [];
    for (const [name, kind] of Object.entries(this.fields)) {
      this.values[name] = structuredClone(kind.initial);
      if (!given.has(name)) continue;
      try { this.values[name] = kind.read(given.get(name)); } catch (error) { this.complaints.push([name, error.message]); }
    }
    if (given.size) this.complaints.push(...this.validate(this.values));
    this.view = {};
    for (const name of ["view", "hide"]) if (given.has(name)) this.view[name] = given.get(name);
  }

  /** The values that differ from the initial ones, as an address. */
  written() {
    const parts = [];
    for (const [name, kind] of Object.entries(this.fields)) {
      if (!same(kind, this.values[name], kind.initial)) {
        parts.push(`${name}=${encodeURIComponent(kind.write(this.values[name])).replace(/%2C/g, ",").replace(/%3A/g, ":").replace(/%3B/g, ";").replace(/%2F/g, "/")}`);
      }
    }
    return parts.join("&");
  }

  address(view = this.view) {
    const parts = Object.entries(view).map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
    return [this.written(), ...parts].filter(Boolean).join("&");
  }

  listen(changed) { this.listeners.push(changed); }

  /** Change values. `settle: false`, as during a drag, makes no step of undo. */
  set(changes, { settle = true } = {}) {
    this.arrive(); // at a link that was followed before this change
    const names = Object.keys(changes).filter((name) => !same(this.fields[name], this.values[name], changes[name]));
    Object.assign(this.values, changes);
    if (names.length) this.#tell(names);
    clearTimeout(this.keeping);
    if (settle) this.settle();
    else this.keeping = setTimeout(() => this.keep(this.address()), PAUSE);
  }

  settle() {
    const now = this.written();
    if (now === this.settled) return;
    this.past.push(this.settled);
    if (this.past.length > KEPT) this.past.shift();
    this.future = [];
    this.settled = now;
    this.keep(this.address());
    this.#tell([]);
  }

  #go(from, to) {
    if (!from.length) return;
    to.push(this.settled);
    const view = this.view;
    this.#read(from.pop());
    this.view = view;
    this.settled = this.written();
    this.keep(this.address());
    this.#tell(Object.keys(this.fields));
  }

  /** What is shown now is the beginning: nothing to undo. */
  restart() {
    this.past = [];
    this.future = [];
    this.#tell([]);
  }

  undo() { this.#go(this.past, this.future); }
  redo() { this.#go(this.future, this.past); }

  /** Change the presentation: projector, or without controls. */
  look(view) { this.view = view; this.keep(this.address()); }

  #tell(names = Object.keys(this.fields)) { for (const listener of this.listeners) listener(this.values, names); }
}

/** Draw now, and at most once a frame after changes. */
export function framed(state, draw) {
  let due = false;
  let names = new Set();
  state.listen((_, changed) => {
    for (const name of changed) names.add(name);
    if (due) return;
    due = true;
    requestAnimationFrame(() => { due = false; const now = [...names]; names = new Set(); draw(state.values, now); });
  });
  draw(state.values, Object.keys(state.fields));
}
